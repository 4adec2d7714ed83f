"""The cache of linting: the same answer warm as cold, and never one that does not fit."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from remit.agent_files import discovery, lint, lint_cache
from remit.agent_files.discovery import find_agent_files
from remit.agent_files.lint import check_files
from remit.agents.lint import CheckedFile
from tests.support.agent_graphs import WORKSPACES, write_opencode
from tests.support.agent_samples import CLAUDE, CODEX, STANDARD
from tests.support.paths import SOURCE

PLANNER = ".opencode/agent/planner.md"


class Workspace:
    """A folder with agent files and a cache; counts how many files are judged anew."""

    def __init__(self, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.root = root
        self.judged: list[str] = []
        self.cache = root / ".remit/cache/lint.json"
        original = lint.check_file

        def check_file(source: discovery.AgentFile, content: bytes | str, root: str) -> lint_cache.FileCheck:
            self.judged.append(source.path)
            return original(source, content, root)

        monkeypatch.setattr(lint, "check_file", check_file)

    def put(self, name: str, text: str | bytes) -> Path:
        """Write a file."""
        file = self.root / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(text if isinstance(text, bytes) else text.encode())
        return file

    def check(self, *, cached: bool = True) -> dict[str, CheckedFile]:
        """What is found in each file; which were judged anew is kept."""
        self.judged.clear()
        sources = find_agent_files((), root=str(self.root))
        cache = str(self.cache) if cached else None
        return {each.path: each for each in check_files(sources, root=str(self.root), cache=cache, jobs=1)}

    def load(self) -> dict[str, Any]:
        """The cache's table."""
        table: dict[str, Any] = json.loads(self.cache.read_bytes())
        return table


@pytest.fixture
def workspace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Workspace:
    made = Workspace(tmp_path, monkeypatch)
    made.put(".claude/agents/code-reviewer.md", CLAUDE)
    made.put(PLANNER, STANDARD)
    made.put(".codex/agents/c.toml", CODEX)
    made.put(".opencode/command/go.md", "Ask @planner to plan. <!-- remit: ignore[AGT999] -->\n")
    made.put(".claude/agents/broken.md", "---\nname: [\ndescription: when: it fails\n---\n<role>\n")
    for name, text in (WORKSPACES["GRF003"].bad | WORKSPACES["GRF005"].bad).items():
        made.put(name, text)
    for name, text in write_opencode("o", '{task: {"*": deny, planner: allow}}').items():
        made.put(name, text)
    return made


def test_warm_is_the_same_as_cold_and_nothing_is_judged_twice(workspace: Workspace) -> None:
    cold = workspace.check()
    assert sorted(workspace.judged) == sorted(cold)
    warm = workspace.check()
    assert workspace.judged == []
    assert warm == cold
    assert warm == workspace.check(cached=False)


def test_only_what_changed_is_judged_anew(workspace: Workspace) -> None:
    workspace.check()
    workspace.put(PLANNER, STANDARD.replace("timeout: 1800", "timeout: -5"))
    changed = workspace.check()
    assert workspace.judged == [PLANNER]
    assert changed == workspace.check(cached=False)
    workspace.check()
    assert workspace.judged == []


def test_a_context_file_that_comes_or_goes_or_grows_counts_as_a_change(workspace: Workspace) -> None:
    without = workspace.check()[PLANNER]
    file = workspace.put("docs/context/index.md", "text")
    with_it = workspace.check()[PLANNER]
    assert workspace.judged == [PLANNER]
    assert with_it != without
    file.write_text("longer text")
    workspace.check()
    assert workspace.judged == [PLANNER]
    file.unlink()
    assert workspace.check()[PLANNER] == without
    assert workspace.judged == [PLANNER]


def test_a_file_that_cannot_be_read_is_looked_at_every_time(workspace: Workspace) -> None:
    os.mkfifo(workspace.root / ".claude/agents/pipe.md")
    workspace.check()
    assert workspace.check()[".claude/agents/pipe.md"].diagnostics[0].code == "AGT001"
    assert workspace.judged == [".claude/agents/pipe.md"]


def test_a_file_that_became_unreadable_is_not_answered_from_the_cache(workspace: Workspace) -> None:
    workspace.check()
    file = workspace.root / PLANNER
    file.unlink()
    os.mkfifo(file)
    assert workspace.check()[PLANNER].diagnostics[0].code == "AGT001"


def test_files_that_were_not_asked_for_keep_their_entries_and_removed_ones_lose_them(workspace: Workspace) -> None:
    workspace.check()
    (workspace.root / ".claude/agents/broken.md").unlink()
    file = workspace.put(PLANNER, STANDARD + "\nMore.\n")
    sources = find_agent_files([str(file)], root=str(workspace.root))
    check_files(sources, root=str(workspace.root), cache=str(workspace.cache), jobs=1)
    entries = workspace.load()["entries"]
    assert ".claude/agents/code-reviewer.md" in entries
    assert ".claude/agents/broken.md" not in entries


def test_a_changed_rule_finds_no_old_answers(workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    workspace.check()
    monkeypatch.setattr(lint_cache, "_stamp_rules", lambda: "of another version")
    everything = workspace.check()
    assert sorted(workspace.judged) == sorted(everything)


def test_the_stamp_is_that_of_the_files_of_the_rules(tmp_path: Path) -> None:
    """A copy of the package with one rule touched has another stamp."""
    package = tmp_path / "remit"
    for name in ("__init__.py", "model.py", "errors.py", "light_namedtuple.py"):
        (package / name).parent.mkdir(exist_ok=True)
        (package / name).write_bytes((SOURCE / "remit" / name).read_bytes())
    for folder in ("agents/rules", "agents/rules/nested", "harnesses", "agent_files", "storage"):
        (package / folder).mkdir(parents=True)
        (package / folder / "__init__.py").touch()
    for name in ("agent_files/discovery.py", "agent_files/lint_cache.py", "storage/files.py"):
        (package / name).write_bytes((SOURCE / "remit" / name).read_bytes())
    for name in ("claude.py", "codex.py", "gemini.py", "opencode.py"):
        (package / "harnesses" / name).write_bytes((SOURCE / "remit/harnesses" / name).read_bytes())
    rule = package / "agents/rules/one.py"
    rule.write_text("A = 1\n")

    def stamp() -> str:
        program = "from remit.agent_files.lint_cache import _stamp_rules; print(_stamp_rules())"
        env = {**os.environ, "PYTHONPATH": str(tmp_path)}
        command = [sys.executable, "-c", program]
        return subprocess.run(command, capture_output=True, text=True, check=True, env=env).stdout

    first = stamp()
    assert stamp() == first
    rule.write_text("A = 22\n")
    second = stamp()
    assert second != first
    (package / "agents/rules/nested/two.py").write_text("A = 1\n")
    third = stamp()
    assert third != second
    (package / "harnesses/new.py").write_text("A = 1\n")
    assert stamp() != third


# What others left there


@pytest.mark.parametrize(
    "data",
    [b"", b"nonsense", b"[]", b"null", b"{}", b'{"stamp": 3}', b"\xff\xfe", b"[" * 200_000, b'{"a":' * 200_000,
     b'{"stamp":"x","entries":{}}'],
    ids=range(10),
)  # fmt: skip
def test_a_cache_that_is_none_is_made_anew(workspace: Workspace, data: bytes) -> None:
    cold = workspace.check()
    workspace.cache.write_bytes(data)
    assert workspace.check() == cold
    assert sorted(workspace.judged) == sorted(cold)
    workspace.check()
    assert workspace.judged == []


def replace_values(value: Any, junk: object) -> list[Any]:  # noqa: ANN401 - any JSON value
    """Copies of a value, each with one of its parts replaced, and one with each part left out."""
    copies: list[Any] = [junk]
    if isinstance(value, list):
        for index, inner in enumerate(value[:12]):
            copies += [[*value[:index], copy, *value[index + 1 :]] for copy in replace_values(inner, junk)]
            copies.append([*value[:index], *value[index + 1 :]])
        copies.append([*value, junk])
    elif isinstance(value, dict):
        for key, inner in value.items():
            copies += [{**value, key: copy} for copy in replace_values(inner, junk)]
            copies.append({name: other for name, other in value.items() if name != key})
        copies.append({**value, "more": junk})
    return copies


JUNK: tuple[Any, ...] = (None, 7, -1, True, "text", [], {}, [None], {"a": 1}, [[1, 2, 3, 4]], 1e308)


@pytest.mark.parametrize("path", [PLANNER, ".opencode/command/go.md", "agents/a.md", ".claude/agents/broken.md"])
@pytest.mark.thorough
def test_an_entry_of_another_shape_never_ends_the_run(workspace: Workspace, path: str) -> None:
    """Whatever part of an entry is something else: it is judged anew, or what is used has the right types."""
    from remit.agents.lint import CodeSelection, lint  # noqa: PLC0415 - what uses the entries

    cold = workspace.check()
    entry = workspace.load()["entries"][path]
    sources = {each.path: each for each in find_agent_files((), root=str(workspace.root))}
    cache = lint_cache.LintCache(str(workspace.cache), str(workspace.root))
    for copy in (copy for junk in JUNK for copy in replace_values(entry, junk)):
        cache.entries[path] = copy
        checked = cache.get(sources[path])
        if checked is not None and checked != cold[path]:
            assert_types(checked)
            lint([*(other for other in cold.values() if other.path != path), checked], CodeSelection())


def assert_types(checked: CheckedFile) -> None:
    for finding in checked.diagnostics:
        texts = (finding.code, finding.message, finding.hint, finding.pointer)
        assert all(isinstance(text, str) for text in texts)
        assert finding.severity in ("error", "warning", "note")
        assert finding.place is None or all(type(number) is int for number in finding.place)


def test_a_cache_that_is_too_large_is_not_read(workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    cold = workspace.check()
    monkeypatch.setattr(lint_cache, "MAX_CACHE_BYTES", 10)
    assert workspace.check() == cold
    assert sorted(workspace.judged) == sorted(cold)


def test_a_pipe_in_the_place_of_the_cache_is_not_waited_for(workspace: Workspace) -> None:
    workspace.cache.parent.mkdir(parents=True)
    os.mkfifo(workspace.cache)
    assert workspace.check() == workspace.check(cached=False)


@pytest.mark.parametrize("link", [".remit", ".remit/cache", ".remit/cache/lint.json"])
def test_a_link_that_leads_out_of_the_workspace_is_not_written_through(
    workspace: Workspace, link: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """A workspace from somebody else may bring a link to a file of the user's own."""
    outside = tmp_path_factory.mktemp("home")
    target = outside / "precious.txt" if link.endswith(".json") else outside
    if target != outside:
        target.write_text("precious")
    (workspace.root / link).parent.mkdir(parents=True, exist_ok=True)
    (workspace.root / link).symlink_to(target)
    before = sorted(outside.rglob("*"))
    workspace.check()
    assert sorted(outside.rglob("*")) == before
    assert target == outside or target.read_text() == "precious"


def test_a_name_that_is_no_unicode_does_not_spoil_the_cache(workspace: Workspace) -> None:
    workspace.put(".claude/agents/\udcff.md", CLAUDE)
    cold = workspace.check()
    assert workspace.check() == cold
    assert workspace.judged == [".claude/agents/\udcff.md"]


def test_a_file_that_is_no_unicode_does_not_spoil_the_cache(workspace: Workspace) -> None:
    workspace.put(".claude/agents/latin.md", b"---\nname: a\ndescription: caf\xe9: b\n---\n<r\xe9le>\n")
    cold = workspace.check()
    assert workspace.check() == cold
    assert len(workspace.judged) <= 1


# Writing


def test_a_root_in_a_workspace_that_is_moved_is_still_its_own(workspace: Workspace) -> None:
    link = workspace.root.parent / f"{workspace.root.name}-link"
    link.symlink_to(workspace.root)
    sources = find_agent_files((), root=str(link))
    check_files(sources, root=str(link), cache=f"{link}/.remit/cache/lint.json", jobs=1)
    assert workspace.cache.is_file()


def test_git_is_told_to_leave_the_cache_alone(workspace: Workspace) -> None:
    subprocess.run(["git", "init", "-q", "."], cwd=workspace.root, check=True)
    workspace.check()
    command = ["git", "status", "--porcelain", "--untracked-files=all"]
    status = subprocess.run(command, cwd=workspace.root, check=True, capture_output=True, text=True).stdout
    assert ".remit" not in status
    assert PLANNER in status


def test_without_files_nothing_is_written(tmp_path: Path) -> None:
    assert check_files([], root=str(tmp_path), cache=f"{tmp_path}/.remit/cache/lint.json", jobs=1) == []
    assert not (tmp_path / ".remit").exists()


def test_a_place_where_nothing_can_be_written_is_no_matter(workspace: Workspace) -> None:
    (workspace.root / ".remit").write_text("a file where a folder should be")
    assert workspace.check() == workspace.check(cached=False)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_folder_that_is_read_only_is_no_matter(workspace: Workspace) -> None:
    workspace.root.chmod(0o500)
    try:
        assert workspace.check() == workspace.check(cached=False)
    finally:
        workspace.root.chmod(0o700)


@pytest.mark.slow
def test_two_processes_at_once_leave_a_whole_cache(workspace: Workspace) -> None:
    for number in range(30):
        workspace.put(f".claude/agents/a{number}.md", CLAUDE.replace("code-reviewer", f"a{number}"))
    program = """
import sys
from remit.agent_files.discovery import find_agent_files
from remit.agent_files.lint import check_files
root, path = sys.argv[1:]
for _ in range(5):
    open(path, "a").write("more\\n")
    check_files(find_agent_files((), root=root), root=root, cache=f"{root}/.remit/cache/lint.json", jobs=1)
"""
    env = {**os.environ, "PYTHONPATH": str(SOURCE)}
    files = [str(workspace.root / f".claude/agents/a{number}.md") for number in (0, 1)]
    commands = [[sys.executable, "-c", program, str(workspace.root), file] for file in files]
    processes = [subprocess.Popen(command, env=env) for command in commands]
    assert [process.wait(timeout=60) for process in processes] == [0, 0]
    assert set(workspace.load()) == {"stamp", "entries"}
    assert workspace.check() == workspace.check(cached=False)
    assert [file.name for file in workspace.cache.parent.iterdir()] == ["lint.json"]
