"""Rules of the tree that no linter knows: names, what an import costs, what is committed.

Which package may import which is in `pyproject.toml`, for import-linter.
"""

import ast
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from textwrap import dedent

import pytest

from tests.support.paths import ROOT, SOURCE

PACKAGE = SOURCE / "remit"
PAGE = ROOT / "docs" / "architecture.md"
VAGUE_NAMES = {"common", "helper", "helpers", "manager", "util", "utils"}


def list_modules() -> Iterator[tuple[str, Path]]:
    """The dotted name and file of every module of the package."""
    for file in sorted(PACKAGE.rglob("*.py")):
        yield ".".join(file.relative_to(PACKAGE.parent).with_suffix("").parts).removesuffix(".__init__"), file


def make_package(root: Path, files: dict[str, str]) -> Path:
    """A package named remit below root, with the given files and an empty __init__ in every folder."""
    package = root / "remit"
    for name, text in files.items():
        file = package / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(dedent(text), encoding="utf-8")
    for folder in [package, *(path for path in package.rglob("*") if path.is_dir())]:
        (folder / "__init__.py").touch()
    return package


# Which package imports which


def test_packages_import_downward_only() -> None:
    """The contracts in `pyproject.toml`."""
    done = subprocess.run(
        [str(Path(sys.executable).with_name("lint-imports")), "--no-cache"],
        cwd=ROOT, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout
    assert "Contracts: 3 kept, 0 broken" in done.stdout


# The page about the tree

NAMED = re.compile(r"`([a-z_0-9]+(?:/[a-z_0-9]+)*\.py)(?::([A-Za-z_]\w*(?:\.\w+)?))?`")
FOLDER = re.compile(r"`([a-z_]+(?:/[a-z_]+)*)/`")


def find_missing(page: str) -> list[str]:
    """The folders, files, functions and classes that a page names that are not there."""
    missing = [name for name in FOLDER.findall(page) if not (PACKAGE / name).is_dir()]
    for name, inner in sorted(set(NAMED.findall(page))):
        file = PACKAGE / name
        if not file.is_file():
            missing.append(name)
        elif inner and not has_name(file.read_text("utf-8"), *inner.split(".")):
            missing.append(f"{name}:{inner}")
    return missing


def has_name(text: str, name: str, inner: str = "") -> bool:
    """Whether a module defines a name, and what has that name another one."""
    start = r"^{}(?:class |def |async def )?{}\b"
    found = re.search(start.format("", name), text, re.MULTILINE)
    if found is None or not inner:
        return found is not None
    below = text[found.end() :].partition("\n")[2]
    body = re.split(r"^\S", below, maxsplit=1, flags=re.MULTILINE)[0]
    return re.search(start.format("    ", inner), body, re.MULTILINE) is not None


def test_the_page_names_only_what_is_there() -> None:
    page = PAGE.read_text("utf-8")
    assert len(NAMED.findall(page)) > 20
    assert not find_missing(page)


def test_a_page_that_is_out_of_date_is_caught() -> None:
    text = "`model.py:Diagnostic.code` `model.py:Fnding` `model.py:Diagnostic.coda` `modell.py` `agents/` `agent/` `model.py`"
    assert find_missing(text) == ["agent", "model.py:Diagnostic.coda", "model.py:Fnding", "modell.py"]


# Who writes

PURE = {"agents", "config", "harnesses", "mcp", "policy", "returns", "runners", "server", "telemetry"}
"""Packages that open, change or start nothing themselves."""
STORAGE = {"shutil", "sqlite3", "subprocess", "tempfile"}
CHANGES = {
    "ftruncate",
    "link",
    "makedirs",
    "mkdir",
    "open",
    "remove",
    "rename",
    "replace",
    "rmdir",
    "symlink",
    "truncate",
    "unlink",
}
PATH_CHANGES = {"touch", "write_bytes", "write_text"}


def find_writes(name: str, tree: ast.AST) -> Iterator[str]:
    """Where a module opens, changes or removes a file by itself, or reaches for a database or a program."""
    for node in ast.walk(tree):
        imported: list[str] = []
        if isinstance(node, ast.Import):
            imported = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            imported = [node.module or ""]
        for module in imported:
            if module.partition(".")[0] in STORAGE:
                yield f"{name}:{node.lineno} imports {module}"  # type: ignore[attr-defined] # both kinds have it
        function = node.func if isinstance(node, ast.Call) else None
        if isinstance(function, ast.Name) and function.id == "open":
            yield f"{name}:{function.lineno} opens a file"
        if isinstance(function, ast.Attribute):
            owner = function.value.id if isinstance(function.value, ast.Name) else ""
            if (owner == "os" and function.attr in CHANGES) or (function.attr in PATH_CHANGES and owner != "files"):
                yield f"{name}:{function.lineno} calls {function.attr}"


def may_write(text: str) -> bool:
    """Whether a closer look can find anything: a word of those that it looks for stands there."""
    words = ("open(", *(f"os.{name}" for name in CHANGES), *(f".{name}" for name in PATH_CHANGES), *STORAGE)
    return any(word in text for word in words)


def test_pure_packages_touch_no_files_databases_or_programs() -> None:
    found = [
        where
        for name, file in list_modules()
        if name.partition(".")[2].partition(".")[0] in PURE
        if may_write(text := file.read_text("utf-8"))
        for where in find_writes(name, ast.parse(text))
    ]
    assert not found


def test_a_write_elsewhere_is_caught() -> None:
    text = "import os, sqlite3\nopen('a')\nos.replace('a', 'b')\npath.write_text('x')\n'a'.replace('b', 'c')\n"
    assert all(map(may_write, text.splitlines()[:4]))
    found = [where.partition(" ")[2] for where in find_writes("m", ast.parse(text))]
    assert sorted(found) == ["calls replace", "calls write_text", "imports sqlite3", "opens a file"]


# Where a harness's names are

HARNESS_NAMES = (
    "PreToolUse", "PostToolUse", "PostToolUseFailure", "SubagentStart", "SubagentStop", "StopFailure",
    "UserPromptSubmit", "SessionStart", "SessionEnd", "ConfigChange", "hook_event_name", "tool_input",
    "tool_response", "last_assistant_message", "stop_hook_active", "transcript_path", "agent_transcript_path",
    "hookSpecificOutput", "hookEventName", "permissionDecision", "updatedInput", "updatedToolOutput",
    "additionalContext", "systemMessage", "disableAllHooks", "allowManagedHooksOnly", "enabledPlugins",
    "trusted_hash", "hooks/list", "CLAUDE_CONFIG_DIR", "CLAUDE_PROJECT_DIR", "CLAUDE_CODE_ENTRYPOINT",
    "CLAUDE_CODE_MAX_RETRIES", "DISABLE_AUTOUPDATER", "CODEX_HOME", "OPENCODE_CONFIG_DIR",
    "OPENCODE_CONFIG_CONTENT", "OPENCODE_PRINT_LOGS", "GEMINI_API_KEY", "ANTHROPIC_BASE_URL", ".claude", ".codex",
    ".opencode", ".gemini", "opencode.json", "config.toml", "managed-settings.json", "@anthropic-ai",
    "@openai/codex", "@google/gemini-cli", "opencode-ai", "stream-json", "--permission-mode",
    "--dangerously-skip-permissions", "--allowedTools", "--append-system-prompt-file", "--max-budget-usd",
    "--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox", "danger-full-access", "--approval-mode",
    "modelUsage", "num_turns", "total_cost_usd", "permission_denials", "background_tasks_changed", "api_retry",
    "parent_tool_use_id", "thread.started", "turn.completed", "turn.failed", "item.completed", "sessionID",
    "callID", "step_start", "step_finish", "spawn_agent", "wait_agent", "followup_task", "subagent_type",
    "run_in_background", "task_name", "developer_instructions", "file_path", "notebook_path", "filePath",
    "old_string", "oldString", "patchText", "SubagentHandback", "StructuredOutput", "MultiEdit", "NotebookEdit",
    "WebFetch", "WebSearch", "run_shell_command", "search_file_content", "acceptEdits", "bypassPermissions",
)  # fmt: skip
"""Names of harnesses that a new release may change, and that mean nothing else."""
OTHERS_NAMES = {
    ("returns/unwrap.py", "tool_input"): "a key that any program may wrap a message in",
    ("returns/unwrap.py", "file_path"): "the same",
    ("hooks/events.py", "tool_input"): "an attribute of Event",
}


def list_harness_names(text: str) -> list[str]:
    """The names of harnesses in the code's texts; what stands in docstrings is for readers."""
    if not re.search(_HARNESS_NAME, text):
        return []
    nodes = [*ast.walk(ast.parse(text))]
    docs = {id(node.value) for node in nodes if isinstance(node, ast.Expr)}
    texts = [str(node.value) for node in nodes if isinstance(node, ast.Constant) and id(node) not in docs]
    return [*dict.fromkeys(re.findall(_HARNESS_NAME, "\n".join(texts)))]


_HARNESS_NAME = rf"(?<![\w.-])(?:{'|'.join(map(re.escape, sorted(HARNESS_NAMES, key=len, reverse=True)))})(?![\w-])"


def test_only_the_modules_of_harnesses_have_their_names() -> None:
    """So that a new release of a harness is a change of one module."""
    files = {file.relative_to(PACKAGE).as_posix(): file for _, file in list_modules()}
    found = {
        (name, each)
        for name, file in files.items()
        if not name.startswith("harnesses/")
        for each in list_harness_names(file.read_text("utf-8"))
    }
    assert found == OTHERS_NAMES.keys()


def test_every_name_that_is_looked_for_is_one_of_a_harness() -> None:
    modules = "\n".join(file.read_text("utf-8") for file in (PACKAGE / "harnesses").glob("*.py"))
    known = {*re.findall(_HARNESS_NAME, modules)}
    assert known == {*HARNESS_NAMES}


def test_a_harness_name_elsewhere_is_caught() -> None:
    text = '"""On SubagentStop."""\nKIND = "SubagentStop"\nPLACE = f"{root}/.claude/agents"\nOTHER = "x.claude"\n'
    assert list_harness_names(text) == ["SubagentStop", ".claude"]


# What modules are called and say


def test_every_module_says_what_it_owns() -> None:
    mute = [name for name, file in list_modules() if not re.match(r'r?"""[^"\s]', file.read_text("utf-8"))]
    assert not mute, f"these modules have no docstring: {mute}"


def test_no_module_has_a_vague_name() -> None:
    vague = [name for name, _ in list_modules() if VAGUE_NAMES & set(name.split("."))]
    assert not vague, f"name these after what they own: {vague}"


SHARED_CLASS_NAMES: set[str] = set()
"""Class names that several modules define. None should be added."""


def find_shared_classes(files: dict[str, str]) -> dict[str, list[str]]:
    """Return the class names that several modules define at their top level, with those modules."""
    found: dict[str, list[str]] = {}
    for name, text in files.items():
        for node in ast.parse(text).body:
            if isinstance(node, ast.ClassDef):
                found.setdefault(node.name, []).append(name)
    return {name: modules for name, modules in found.items() if len(modules) > 1}


def test_a_class_name_means_one_thing() -> None:
    shared = find_shared_classes({name: file.read_text("utf-8") for name, file in list_modules()})
    assert shared.keys() <= SHARED_CLASS_NAMES, shared


def test_a_shared_class_name_is_caught() -> None:
    files = {
        "a": "class Row:\n    class Inner: ...\n",
        "b": "class Row: ...\nclass Inner: ...\n",
        "c": "class Other: ...\n",
    }
    assert find_shared_classes(files) == {"Row": ["a", "b"]}


# What an import costs

# Runs in an interpreter without site-packages: a third-party import fails there, whoever asks for it.
PROBE = """
import os, sys
folder, = sys.argv[1:]
effects = []
WRITES = {"os.link", "os.mkdir", "os.remove", "os.rename", "os.rmdir", "os.symlink", "os.truncate",
          "socket.connect", "sqlite3.connect", "subprocess.Popen"}
def watch(event, args):
    if event in WRITES or (event == "open" and args[2] & (os.O_WRONLY | os.O_RDWR | os.O_CREAT)):
        effects.append(f"{event} {args[0]}")
sys.path.insert(0, folder)
sys.addaudithook(watch)
before = set(sys.modules)
import remit
print(*sorted(set(sys.modules) - before), sep=" ")
print(*effects, sep="; ")
"""
TOO_HEAVY = {"click", "dataclasses", "enum", "jiter", "json"}


def import_in_fresh_interpreter(folder: Path) -> tuple[set[str], str]:
    """The modules that `import remit` loads from a folder, and what it does to the machine meanwhile."""
    command = [sys.executable, "-I", "-S", "-B", "-c", PROBE, str(folder)]
    output = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    loaded, effects = output.split("\n")[:2]
    return set(loaded.split()), effects


def test_importing_the_package_is_light_and_leaves_no_trace() -> None:
    loaded, effects = import_in_fresh_interpreter(PACKAGE.parent)
    assert "remit" in loaded
    assert not loaded & TOO_HEAVY
    assert {name.partition(".")[0] for name in loaded} <= {"remit", *sys.stdlib_module_names}
    assert not effects


def test_a_heavy_import_that_writes_is_caught(tmp_path: Path) -> None:
    trace = tmp_path / "trace.txt"
    make_package(tmp_path, {"__init__.py": f"import json\nopen({str(trace)!r}, 'w').close()\n"})
    loaded, effects = import_in_fresh_interpreter(tmp_path)
    assert "json" in loaded & TOO_HEAVY
    assert effects == f"open {trace}"


# What is committed

# Spelled in pieces, so that this file does not name what it looks for.
PACKAGE_HOSTS = [f"{name}.org" for name in ("pypi", "pythonhosted", "anaconda")]
INDEX_OPTIONS = [f"{name}-{what}" for name, what in (("index", "url"), ("find", "links"), ("trusted", "host"))]
# Folders that many machines have: a path below them says nothing about this one.
SHARED_FOLDERS = ["/", "/home", "/mnt", "/opt", "/root", "/srv", "/usr", "/usr/local", "/usr/src", "/Users"]


def committed_files() -> list[Path]:
    """The files git tracks, or would track on the next `git add`."""
    if not shutil.which("git") or not (ROOT / ".git").exists():
        pytest.skip("not a git checkout")
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    listing = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    if listing.returncode:
        pytest.skip(f"git does not answer: {listing.stderr.strip()}")
    return [file for name in listing.stdout.split("\0") if name and (file := ROOT / name).is_file()]


def find_strays(text: str, *, folders: list[Path]) -> list[str]:
    """The package hosts and the paths below the given folders that a text names."""
    hosts = [host for host in PACKAGE_HOSTS if host in text]
    paths = [name for name in map(str, folders) if re.search(rf"(?<![\w.*$}}/-]){re.escape(name)}/", text)]
    return hosts + paths


def test_no_committed_file_names_a_package_host_or_a_path_of_this_machine() -> None:
    own = {ROOT, ROOT.parent, Path.home(), Path(sys.prefix)}
    shared = {Path(folder) for folder in (*SHARED_FOLDERS, tempfile.gettempdir())}
    folders = sorted(own - shared)
    strays = {
        str(file.relative_to(ROOT)): found
        for file in committed_files()
        if (found := find_strays(file.read_text("utf-8", errors="replace"), folders=folders))
    }
    assert not strays


def test_no_requirement_file_or_recipe_chooses_where_packages_come_from() -> None:
    recipes = ["Makefile", "pyproject.toml", ".ci/run"]
    files = [*(ROOT / "requirements").iterdir(), *(ROOT / name for name in recipes)]
    assert len(files) > 4
    for file in files:
        text = file.read_text("utf-8").replace("--no-emit-index-url", "")
        assert "://" not in text, file.name
        assert not [option for option in INDEX_OPTIONS if option in text], file.name


def test_a_stray_host_or_path_is_caught() -> None:
    text = f"from {PACKAGE_HOSTS[0]} into /builds/ada/remit/.venv, not into ./builds/ada/x or /builds/adam/"
    folders = [Path("/builds/ada"), Path("/builds/bob")]
    assert find_strays(text, folders=folders) == [PACKAGE_HOSTS[0], "/builds/ada"]
