"""Linting agent files: each hostile file gets its diagnostic, and several processes report the same as one."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from remit.agent_files.discovery import AgentFile, find_agent_files, load_agent_file
from remit.agent_files.lint import LintRequest, check_file, check_files, count_jobs, lint
from remit.agent_files.lint_cache import measure_files
from tests.support.agent_samples import CLAUDE, STANDARD
from tests.support.paths import SOURCE
from tests.support.sample_sizes import choose


def put(root: Path, name: str, text: str | bytes = CLAUDE) -> Path:
    file = root / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(text if isinstance(text, bytes) else text.encode())
    return file


def find(root: Path, *paths: Path | str, exclude: tuple[str, ...] = ()) -> list[str]:
    return [each.path for each in find_agent_files([str(path) for path in paths], root=str(root), exclude=exclude)]


def check(root: Path, *, cache: bool = False, jobs: int = 1) -> dict[str, list[str]]:
    """The codes that are found in each file."""
    sources = find_agent_files((), root=str(root))
    file = f"{root}/.remit/cache/lint.json" if cache else None
    checked = check_files(sources, root=str(root), cache=file, jobs=jobs)
    return {each.path: [finding.code for finding in each.diagnostics] for each in checked}


# Context files


def test_the_first_place_of_a_context_file_counts(tmp_path: Path) -> None:
    put(tmp_path, "docs/a.md", "12345")
    put(tmp_path, "a.md", "1")
    os.mkfifo(tmp_path / "pipe.md")
    wanted = {"a.md": ("docs/a.md", "a.md"), "b.md": ("b.md",), "pipe.md": ("pipe.md",), "n": ("n" * 300, "a\0b")}
    assert measure_files(wanted, str(tmp_path)) == {"a.md": 5, "b.md": None, "pipe.md": None, "n": None}


def test_a_context_file_that_is_there_is_not_missed(tmp_path: Path) -> None:
    file = put(tmp_path, ".opencode/agent/planner.md", STANDARD)
    source = AgentFile(".opencode/agent/planner.md", str(file))
    judged = check_file(source, file.read_bytes(), str(tmp_path))
    assert judged.sizes["docs/context/index.md"] is None
    before = [finding.code for finding in judged.checked.diagnostics]
    for name in ("index", "return-format", "plans"):
        put(tmp_path, f"docs/context/{name}.md", "text")
    judged = check_file(source, file.read_bytes(), str(tmp_path))
    assert judged.sizes["docs/context/index.md"] == 4
    assert len(judged.checked.diagnostics) < len(before)


# Hostile files: a finding each, ≤ 2 s, ≤ 200 MB, never a hang

# Judges the files that it finds; prints their codes, the CPU time since the start, and the most memory it ever had.
PROBE = """
import resource, sys, time
from remit.agent_files.discovery import find_agent_files
from remit.agent_files.lint import check_files
root, = sys.argv[1:]
for each in check_files(find_agent_files((), root=root), root=root, cache=f"{root}/.remit/cache/lint.json", jobs=1):
    print(each.path, *sorted({finding.code for finding in each.diagnostics}))
try:
    with open("/proc/self/status") as file:
        peak = next(int(line.split()[1]) for line in file if line.startswith("VmHWM"))
except OSError:
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
print(time.process_time(), peak)
"""


def probe(root: Path) -> tuple[dict[str, list[str]], float, float]:
    """The codes of each file, seconds and megabytes."""
    env = {**os.environ, "PYTHONPATH": str(SOURCE)}
    command = [sys.executable, "-c", PROBE, str(root)]
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=env, timeout=120)
    *rows, last = done.stdout.splitlines()
    seconds, kilobytes = last.split()
    return {row.split()[0]: row.split()[1:] for row in rows}, float(seconds), int(kilobytes) / 1024


def make_sparse(file: Path) -> None:
    with file.open("wb") as stream:
        stream.truncate(100 * 1024 * 1024)


def make_alias_bomb() -> str:
    lines = ["---", "a0: &a0 [x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 12)]
    return "\n".join([*lines, "---", "", "# Bomb", ""])


HOSTILE: dict[str, tuple[str | bytes, str]] = {
    "nul.md": (b"---\nname: a\0b\n---\n", "AGT001"),
    "utf16.md": ("---\nname: a\n---\n".encode("utf-16"), "AGT001"),
    "latin.md": (b"---\nname: a\ndescription: caf\xe9\n---\n", "AGT001"),
    "aliases.md": (make_alias_bomb(), "AGT006"),
    "itself.md": ("---\nname: &a [*a]\n---\n", ""),
    "brackets.md": (f"---\nname: {'[' * 100_000}\n---\n", "AGT006"),
    "braces.md": (f"---\nname: {'{' * 60_000}\n---\n", "AGT006"),
    "nested.md": ("---\n" + "".join(f"{' ' * depth}a:\n" for depth in range(500)) + "---\n", "AGT006"),
    "dashes.md": (f"---\nname: {'- ' * 60_000}x\n---\n", ""),
    "million.md": ("---\nname: a\n---\n" + "<a>" * 1_000_000, "AGT001"),
    "tags.md": ("---\nname: a\n---\n" + "<a>\n" * 250_000, "AGT012"),
    "steps.md": ("---\nname: a\nversion: 1\nagent_type: x\n---\n" + "<step_1>\n" * 100_000, "AGT012"),
    "closing.md": ("---\nname: a\n---\n" + "</role>\n" * 120_000, "AGT012"),
    "headings.md": ("---\nname: a\n---\n" + "# a\n" * 250_000, ""),
    "ticks.md": ("---\nname: a\n---\n" + "`" * 1_000_000, ""),
    "fences.md": ("---\nname: a\n---\n" + "```\n" * 250_000, ""),
    "comments.md": ("---\nname: a\n---\n" + "<!--" * 250_000, ""),
    "ignores.md": ("---\nname: a\n---\n" + "<!-- remit: ignore -->\n" * 40_000, ""),
    "keys.md": ("---\n" + "".join(f"key{n}: v\n" for n in range(10_000)) + "---\n", ""),
    "twice.md": ("---\n" + "name: v\n" * 12_000 + "---\n", "AGT005"),
    "fence-only.md": ("---\n" * 250_000, ""),
    "unclosed.md": ("---\nname: a\n" + "x: y\n" * 200_000, "AGT006"),
    "long-line.md": ("---\nname: a\n---\n" + "x " * 500_000, ""),
    "quotes.md": (f"---\nname: a\n---\n<a {'b=' * 200_000}>", ""),
    "digits.md": (f"---\nname: a\ntimeout: {'9' * 100_000}\nversion: 1\nagent_type: planning\n---\n", ""),
    "empty.md": ("", "AGT002"),
}


def batched(names: tuple[str, ...], size: int) -> list[tuple[str, ...]]:
    return [names[at : at + size] for at in range(0, len(names), size)]


def write_hostile(folder: Path, name: str) -> None:
    file = folder / name
    match name:
        case "pipe.md":
            os.mkfifo(file)
        case "loop.md":
            file.symlink_to("other.md")
            (folder / "other.md").symlink_to("loop.md")
        case "dangling.md":
            file.symlink_to("/nonexistent/a.md")
        case "device.md":
            file.symlink_to("/dev/zero")
        case "folder.md":
            file.mkdir()
        case "to-folder.md":
            file.symlink_to("..")
        case "sparse.md":
            make_sparse(file)
        case "closed.md":
            file.write_text(CLAUDE)
            file.chmod(0)
        case _:
            text = HOSTILE[name][0]
            file.write_bytes(text if isinstance(text, bytes) else text.encode())


SPECIAL = ["pipe.md", "loop.md", "dangling.md", "device.md", "folder.md", "to-folder.md", "sparse.md", "closed.md"]


READABLE = {"closed.md"} if os.geteuid() == 0 else set()
"""What is no trouble for root."""
NAMES = tuple(name for name in (*SPECIAL, *HOSTILE) if name not in READABLE)


@pytest.mark.slow
@pytest.mark.parametrize("names", batched(NAMES, choose(len(NAMES), 1)), ids="{0[0]}".format)
def test_a_hostile_file_gets_its_finding_in_little_time_and_memory(tmp_path: Path, names: tuple[str, ...]) -> None:
    """All of them in one run on every day, and each in one of its own with `make test-all`."""
    places = (".claude/agents", ".opencode/agent")
    for place in places:
        (tmp_path / place).mkdir(parents=True)
        for name in names:
            write_hostile(tmp_path / place, name)
    codes, seconds, megabytes = probe(tmp_path)
    for name in names:
        wanted = HOSTILE[name][1] if name in HOSTILE else "AGT001"
        for place in places:
            found = codes[f"{place}/{name}"]
            assert found, "a hostile file is never a clean one"
            assert not wanted or wanted in found
    assert seconds < 2 + len(names) / 4
    assert megabytes < 200


@pytest.mark.slow
@pytest.mark.thorough
def test_many_large_files_are_not_all_kept_in_memory(tmp_path: Path) -> None:
    for number in range(220):
        put(tmp_path, f".claude/agents/{number}.md", CLAUDE + " " * 1_000_000)
    codes, _, megabytes = probe(tmp_path)
    assert len(codes) == 220
    assert megabytes < 200


# Many processes


def make_many(root: Path, total: int = 60) -> None:
    for number in range(total):
        put(root, f".claude/agents/a{number}.md", CLAUDE.replace("code-reviewer", f"a{number % 50}"))
    put(root, ".claude/agents/broken.md", "---\nname: [\n---\n")
    os.mkfifo(root / ".claude/agents/pipe.md")


def test_several_processes_say_the_same_as_one(tmp_path: Path) -> None:
    make_many(tmp_path)
    sources = find_agent_files((), root=str(tmp_path))
    alone = check_files(sources, root=str(tmp_path), cache=None, jobs=1)
    shared = check_files(sources, root=str(tmp_path), cache=None, jobs=2)
    assert shared == alone
    assert len(alone) == 62


# Shares files out between processes that do not judge them; what they do instead is told by the first argument.
POOL = """
import os, signal, sys, time
from remit.errors import RemitError
from remit.agent_files import discovery, lint
task, root = sys.argv[1:]
def work(job):
    print("working", flush=True)
    if task == "die":
        os.kill(os.getpid(), signal.SIGKILL)
    time.sleep(0.05)
born = []
def begin_late():
    if task == "late" and born:
        time.sleep(1)
os.register_at_fork(after_in_parent=lambda: born.append(1), after_in_child=begin_late)
lint._check_source = work
sources = discovery.find_agent_files((), root=root)
try:
    lint.check_files(sources, root=root, cache=None, jobs=2)
except RemitError as error:
    sys.exit(str(error))
except KeyboardInterrupt:
    sys.exit(130)
"""


def start_pool(root: Path, task: str) -> subprocess.Popen[bytes]:
    make_many(root)
    env = {**os.environ, "PYTHONPATH": str(SOURCE)}
    command = [sys.executable, "-c", POOL, task, str(root)]
    pipe = subprocess.PIPE
    return subprocess.Popen(command, env=env, stdout=pipe, stderr=pipe, start_new_session=True)


def test_a_process_that_dies_is_told_and_not_waited_for(tmp_path: Path) -> None:
    with start_pool(tmp_path, "die") as process:
        _, err = process.communicate(timeout=20)
    assert process.returncode == 1
    assert err == b"a process that checked agent files was killed; run it again\n"


@pytest.mark.slow
@pytest.mark.parametrize("task", ["sleep", "late"])
def test_an_interrupt_ends_all_processes_without_a_word(tmp_path: Path, task: str) -> None:
    """Also one that has not begun yet when the first is already at work."""
    with start_pool(tmp_path, task) as process:
        assert process.stdout is not None
        process.stdout.readline()
        os.killpg(process.pid, signal.SIGINT)
        _, err = process.communicate(timeout=20)
    assert (process.returncode, err) == (130, b"")


def test_there_is_room_for_at_least_one_process(monkeypatch: pytest.MonkeyPatch) -> None:
    assert count_jobs() >= 1
    monkeypatch.delattr(os, "sched_getaffinity", raising=False)
    assert count_jobs() >= 1


def test_a_file_that_is_gone_when_it_is_read_is_a_finding(tmp_path: Path) -> None:
    assert load_agent_file(str(tmp_path / "gone.md")) == "it can't be opened (no such file or directory)"
    source = AgentFile("gone.md", str(tmp_path / "gone.md"))
    [checked] = check_files([source], root=str(tmp_path), cache=None, jobs=1)
    assert [finding.code for finding in checked.diagnostics] == ["AGT001"]


def test_judging_ten_files_takes_no_second(tmp_path: Path) -> None:
    for number in range(10):
        put(tmp_path, f".opencode/agent/a{number}.md", STANDARD)
    before = time.process_time()
    check(tmp_path)
    assert time.process_time() - before < 1


@pytest.mark.parametrize(
    ("value", "written", "told"),
    [
        ("schemas/plan.json", '{"type": "object"}', None),
        ("schemas/plan.json", '{"type": "nope"}', "'schemas/plan.json' isn't a JSON Schema that Remit can check"),
        ("schemas/plan.json", None, "the schema 'schemas/plan.json' isn't a file below the workspace's root"),
        ("../plan.json", None, "the schema '../plan.json' isn't a file below the workspace's root"),
        ("schemas", None, "the schema 'schemas' isn't a file below the workspace's root"),
        ('{"type": "object"}', None, None),
        ('{"type": 3}', None, "data_schema: the schema of 'data' isn't a JSON Schema: 3 is not valid under any of the"),
    ],
)
def test_a_schema_of_data_is_checked_and_the_cache_notices_its_change(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, value: str, written: str | None, told: str | None
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / ".git").mkdir()
    (tmp_path / "schemas").mkdir()
    if written is not None:
        (tmp_path / "schemas/plan.json").write_text(written)
    file = tmp_path / ".opencode/agent/planner.md"
    file.parent.mkdir(parents=True)
    file.write_text(STANDARD.replace("agent_type: planning\n", f"agent_type: planning\ndata_schema: {value}\n"))

    def find() -> list[str]:
        linted = lint(LintRequest(select=("AGT161",)))
        return [each.message for found in linted.diagnostics.values() for each in found]

    found = find()
    assert [each[: len(told)] for each in found] == ([told] if told else []) if told else found == []
    if written is not None:
        (tmp_path / "schemas/plan.json").write_text("[]" if told is None else "{}")
        assert bool(find()) is (told is None)
