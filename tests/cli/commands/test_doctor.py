"""`remit doctor`: every row, in a workspace that is well and in ones that are not; nothing hangs and nothing runs."""

import errno
import json
import os
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from inline_snapshot import snapshot

from remit.confine import Level
from remit.ledger import Ledger
from remit.ledger.home import Home
from remit.maintenance.doctor import DoctorContext, HealthCheck, check_health
from remit.runs.tasks.workspace_tasks import Tasks
from remit.storage.machine import FreeSpace, Mount
from tests.support.agent_samples import CLAUDE, STANDARD
from tests.support.commands import Ended, Inside, put
from tests.support.git_command import git
from tests.support.initialized_workspace import MANIFEST
from tests.support.kill_points import run_and_die
from tests.support.locked_process import end, start_holder
from tests.support.task_files import STATE, TODO

NAMES = (
    "settings", "python", "sqlite", "disk", "namespaces", "confine", "workspace", "ledger", "locks", "git", "merging",
    "trust", "agents", "format", "tasks", "manifest", "errors", "harness",
)  # fmt: skip


def load(ended: Ended) -> dict[str, list[Any]]:
    """The rows by their name: state, message, hint."""
    rows: dict[str, list[Any]] = {}
    for check in json.loads(ended.out)["checks"]:
        rows.setdefault(check["name"], []).append((check["state"], check["message"], check["hint"]))
    return rows


def find(inside: Inside, name: str) -> tuple[str, str, str]:
    """The only row of a name."""
    (row,) = load(inside("doctor", "--json"))[name]
    state, message, hint = row
    return state, message, hint


@pytest.fixture
def programs(inside: Inside, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder that is all there is on the path, with git and what namespaces need."""
    folder = inside.folder.parent / f"{inside.folder.name}-bin"
    folder.mkdir()
    for name in ("git", "true"):
        found = subprocess.run(["which", name], capture_output=True, text=True, check=True).stdout.strip()
        (folder / name).symlink_to(found)
    monkeypatch.setenv("PATH", str(folder))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(folder / "config"))
    return folder


@pytest.fixture
def workspace(inside: Inside, programs: Path) -> Inside:
    """A workspace that is set up."""
    del programs
    git(inside.folder, "init", "-q", "-b", "main")
    assert inside("init", "--yes").code == 0
    return inside


def add_program(folder: Path, name: str, script: str) -> None:
    (folder / name).write_text(f"#!/bin/sh\n{script}\n")
    (folder / name).chmod(0o755)


# As a whole


def test_the_format_of_each_agent_is_reported_with_its_reason(workspace: Inside) -> None:
    """D3: one line for each agent with a file, of a plugin, or with a table; a setting counts before the plugin."""
    put(workspace, ".claude/agents/code-reviewer.md", CLAUDE)
    put(workspace, ".claude/agents/scout.md", "---\nname: scout\ndescription: x\nreturn: hyper\n---\nLook.\n")
    tables = '[agents."code-*"]\nformat = "manifest"\n[agents."hyper:p*"]\nformat = "standard"\n'
    put(workspace, "remit.toml", f'{tables}[agents."other:*"]\nformat = "hyper"\n[agents.slow]\ntimeout = 90\n')
    put(workspace, "plugins/hyper/.claude-plugin/plugin.json", '{"name": "hyper"}')
    put(workspace, "plugins/hyper/skills/craft/output-contracts.md", "# Contracts\n")
    put(workspace, "plugins/hyper/agents/testing/prober.md", "---\nname: prober\n---\nAppend to {{MANIFEST_PATH}}.\n")
    put(workspace, "plugins/hyper/agents/planner.md", "---\nname: planner\n---\nPlan.\n")
    assert [message for _, message, _ in load(workspace("doctor", "--json"))["format"]] == [
        'code-reviewer: manifest ([agents."code-*"] format in remit.toml)',
        "hyper:*: hyper (the plugin hyper has skills/craft/output-contracts.md)",
        'hyper:planner: standard ([agents."hyper:p*"] format in remit.toml)',
        "hyper:testing:prober: manifest (agents/testing/prober.md has {{MANIFEST_PATH}}, in the plugin hyper)",
        'other:*: hyper ([agents."other:*"] format in remit.toml)',
        "scout: hyper (return: in .claude/agents/scout.md)",
    ]


def test_a_workspace_that_is_set_up_has_no_problem(workspace: Inside) -> None:
    put(workspace, ".claude/agents/code-reviewer.md", CLAUDE)
    put(workspace, "specs/state.json", STATE)
    put(workspace, "specs/TODO.md", TODO)
    ended = workspace("doctor")
    assert (ended.code, ended.err) == (0, b"")
    rows = load(workspace("doctor", "--json"))
    assert set(rows) == set(NAMES)
    assert [name for name in rows if rows[name][0][0] == "problem"] == []
    assert rows["agents"] == [("ok", "1 in .claude/agents", "")]
    assert rows["format"] == [("ok", "code-reviewer: any, instructed as standard (nothing declares one)", "")]
    assert rows["tasks"][0][1].startswith("3 in ")
    assert rows["merging"] == [("ok", f"git keeps both sides of {MANIFEST}", "")]
    lines = ended.text.split("\n")
    assert lines[0] == snapshot("✓ settings    valid")
    assert all(line[14:22] == "= help: " for line in lines if line.startswith("  "))
    assert lines[-2].startswith("✓ 19 checks: ")


def test_agents_of_the_standard_are_one_row_for_each_harness_that_reads_them(workspace: Inside) -> None:
    """D11: lint reports nothing for each file; doctor says once what the harness makes of its keys."""
    put(workspace, ".opencode/agent/subagents/planner.md", STANDARD)
    put(workspace, ".opencode/agent/subagents/reviewer.md", STANDARD.replace('"planner"', '"reviewer"'))
    put(workspace, ".claude/agents/scout.md", STANDARD.replace('"planner"', '"scout"'))
    put(workspace, ".claude/agents/code-reviewer.md", CLAUDE)
    _, opencode, claude = load(workspace("doctor", "--json"))["agents"]
    assert opencode[:2] == snapshot(
        (
            "ok",
            "2 agents of the standard for opencode, which ignores the keys it doesn't know and sends them to the model provider; to avoid that, keep the files in agents/ and run remit agent build --to opencode",
        )
    )
    assert claude == snapshot(
        (
            "warning",
            "1 agent of the standard for Claude Code with a table of tools, from which Claude Code reads no tools",
            "keep the files in agents/, and run: remit agent build --to claude",
        )
    )
    put(workspace, ".claude/agents/scout.md", CLAUDE.replace("code-reviewer", "scout"))
    assert len(load(workspace("doctor", "--json"))["agents"]) == 2


def test_an_empty_folder_is_no_problem_and_stays_empty(inside: Inside, programs: Path) -> None:
    del programs
    ended = inside("doctor")
    assert ended.code == 0
    assert "is not set up\n" in ended.text
    assert "= help: run: remit init\n" in ended.text
    assert list(inside.folder.iterdir()) == []


def test_a_problem_is_1(workspace: Inside) -> None:
    workspace.write("remit.toml", "[retention]\ndays = 0\n")
    ended = workspace("doctor")
    assert ended.code == 1
    assert "✗ settings    " in ended.text
    assert "retention.days isn't a whole number from 1" in ended.text
    assert ended.text.split("\n")[-2].startswith("✗ ")


@pytest.mark.parametrize(
    ("text", "state", "message"),
    [
        ('[task.audit]\nlike = "nothing"\n', "problem", "[task.audit] is like 'nothing'"),
        ("[task.list]\n", "problem", "[task.list] is never used: 'remit task list' is another command"),
        ('[route.plan]\ndefault = "ghost"\n', "problem", "[route.plan] names the agent 'ghost' for default, which "),
        ("[route.paln]\n", "problem", "[route.paln] is for a command that doesn't exist"),
        ("[runners.mine]\n", "problem", "[runners.mine] has neither command nor entry"),
        ('[delegate]\nrunner = "clade"\n', "problem", "delegate.runner is 'clade', which is not a runner"),
        ("[agents.ghost]\ntimeout = 60\n", "warning", "[agents.ghost] is for an agent that no file defines"),
    ],
)
def test_settings_that_cannot_be_followed_are_told(workspace: Inside, text: str, state: str, message: str) -> None:
    workspace.write("remit.toml", text)
    found = find(workspace, "settings")
    assert (found[0], found[1][: len(message)]) == (state, message)
    assert found[2]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('[checks.types]\nrun = "no-such-program --strict"\n',
         "the check 'types' needs the program 'no-such-program', which isn't installed"),
        ('[checks.types]\nrun = "true"\ncwd = "backend"\n',
         "the check 'types' runs in the folder 'backend', which doesn't exist"),
        ('[checks.types]\nrun = "true"\n[task.implement]\nchecks = ["typs"]\n',
         "[task.implement] names the check 'typs', which doesn't exist"),
        ('[agents.scribe]\nchecks = ["types"]\n', "[agents.scribe] names the check 'types', which doesn't exist"),
    ],
)  # fmt: skip
def test_checks_that_can_not_run_are_a_problem(workspace: Inside, text: str, message: str) -> None:
    workspace.write("remit.toml", text)
    state, said, hint = find(workspace, "checks")
    assert (state, said) == ("problem", message)
    assert hint


def test_checks_that_can_run_are_well_and_must_be_trusted(workspace: Inside) -> None:
    text = "".join(
        f"[checks.{name}]\nrun = '{run}'\n"
        for name, run in {
            "a": "cd . && true",
            "b": "X=1 none",
            "c": "(none)",
            "d": "[ -e . ]",
            "e": "test -e .",
        }.items()
    )
    workspace.write("remit.toml", text)
    assert find(workspace, "checks") == ("ok", "a, b, c, d, e", "")
    assert find(workspace, "trust")[0] == "warning"
    workspace.write("remit.toml", "")
    assert "checks" not in load(workspace("doctor", "--json"))


def test_settings_that_can_be_followed_are_well(workspace: Inside) -> None:
    put(workspace, ".claude/agents/scribe.md", "---\nname: scribe\ndescription: Writes.\n---\nWrite it down.\n")
    name = "scribe"
    text = f'[task.audit]\nlike = "review"\n[route.audit]\ndefault = "{name}"\n[agents.{name}]\nrunner = "own"\n'
    workspace.write("remit.toml", f'{text}[task.plan]\nhelp = "Plan."\n[runners.own]\ncommand = "true"\n')
    assert find(workspace, "settings") == ("ok", "valid", "")


@pytest.mark.slow
@pytest.mark.usefixtures("workspace")
def test_a_look_that_fails_or_hangs_is_a_row_and_the_others_go_on(monkeypatch: pytest.MonkeyPatch) -> None:
    from remit.maintenance.doctor import machine  # noqa: PLC0415 - only here

    ended = threading.Event()

    def fail(patient: DoctorContext) -> Iterator[HealthCheck]:
        del patient
        raise ZeroDivisionError("by design")

    def hang(patient: DoctorContext) -> Iterator[HealthCheck]:
        del patient
        ended.wait(20)
        return iter(())

    def meet_a_bad_disk(patient: DoctorContext) -> Iterator[HealthCheck]:
        yield HealthCheck("third", "ok", patient.root)
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    looks = (("first", fail), ("second", hang), ("third", meet_a_bad_disk), *machine.CHECKS)
    monkeypatch.setattr(machine, "CHECKS", looks)
    began = time.monotonic()
    rows = {check.name: check for check in check_health(seconds=4).checks}
    ended.set()
    assert time.monotonic() - began < 18
    assert rows["first"].message == snapshot("can't be checked: ZeroDivisionError: by design")
    assert rows["second"].message == snapshot("no answer within 4 s")
    assert rows["third"].message == snapshot("can't be checked: input/output error")
    assert {rows[name].state for name in ("first", "second", "third")} == {"problem"}
    assert rows["agents"].state == "ok"


@pytest.mark.parametrize("command", ["doctor", "status"])
def test_every_ledger_is_closed_by_the_thread_that_opened_it(
    workspace: Inside, monkeypatch: pytest.MonkeyPatch, command: str
) -> None:
    """One that is closed by its end makes a checkpoint without the lock for it."""
    put(workspace, "specs/state.json", STATE)
    put(workspace, "specs/TODO.md", TODO)
    put(workspace, MANIFEST, '{"id":"a"}\n')
    assert workspace("task", "set-status", "12", "implementing").code == 0
    opened: list[tuple[int, int]] = []
    closed: list[tuple[int, int]] = []
    begin, close = Ledger.__init__, Ledger.close

    def note_begin(ledger: Ledger, *arguments: Any) -> None:  # noqa: ANN401 - handed on
        begin(ledger, *arguments)
        opened.append((id(ledger), threading.get_ident()))

    def note_close(ledger: Ledger) -> None:
        close(ledger)
        closed.append((id(ledger), threading.get_ident()))

    monkeypatch.setattr(Ledger, "__init__", note_begin)
    monkeypatch.setattr(Ledger, "close", note_close)
    workspace(command)
    assert opened
    assert closed == opened


@pytest.mark.slow
@pytest.mark.thorough
def test_a_change_that_a_crash_interrupted_is_told_and_finished(workspace: Inside) -> None:
    put(workspace, "specs/state.json", STATE)
    put(workspace, "specs/TODO.md", TODO)
    before = {path: path.read_bytes() for path in (workspace.folder / "specs").iterdir()}

    def move() -> None:
        Tasks(str(workspace.folder)).move(12, "implementing")

    for step in range(1, 100):
        assert run_and_die(move, at=step)
        if [path for path, data in before.items() if path.read_bytes() != data]:
            break
    assert len([path for path, data in before.items() if path.read_bytes() != data]) == 1, "one of the two"
    rows = load(workspace("doctor", "--json"))
    assert rows["unfinished"][0][:2] == ("warning", "1 change of tasks interrupted")
    assert rows["tasks"][0][1].endswith("state.json and TODO.md agree")
    assert [path for path, data in before.items() if path.read_bytes() == data] == []
    assert "unfinished" not in load(workspace("doctor", "--json"))


# The machine


def test_an_old_sqlite_is_a_warning_and_a_new_one_is_not(workspace: Inside, monkeypatch: pytest.MonkeyPatch) -> None:
    for version, state in (((3, 51, 2), "warning"), ((3, 51, 3), "ok"), ((3, 53, 0), "ok")):
        monkeypatch.setattr(sqlite3, "sqlite_version_info", version)
        found, message, _ = find(workspace, "sqlite")
        assert (found, message.partition(" ")[0].rstrip(",")) == (state, ".".join(map(str, version)))


DISKS = {
    "plenty": (Mount("/", "ext4"), 10**12, "ok", "ext4, 931.3 GB free"),
    "little": (Mount("/", "ext4"), 10**8, "warning", "only 95.4 MB free"),
    "hardly any": (Mount("/", "ext4"), 10**7, "problem", "only 9.5 MB free"),
    "network": (Mount("/", "nfs4"), 10**12, "warning", "is a network file system"),
    "memory": (Mount("/", "tmpfs"), 10**12, "warning", "is lost when the machine stops"),
    "container": (Mount("/", "overlay"), 10**12, "ok", "overlay, "),
    "unknown": (None, 10**12, "ok", "unknown file system, "),
}


@pytest.mark.parametrize("name", DISKS)
def test_the_disk(workspace: Inside, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    from remit.maintenance.doctor import machine  # noqa: PLC0415 - only here

    mount, free, state, words = DISKS[name]
    monkeypatch.setattr(machine, "find_mount", lambda _: mount)
    monkeypatch.setattr(machine, "measure_free_space", lambda _: FreeSpace(free, 10**6))
    rows = load(workspace("doctor", "--json"))["disk"]
    assert (rows[0][0], words in rows[0][1]) == (state, True)


def test_programs_that_shut_agents_in_are_tried_out(workspace: Inside, programs: Path) -> None:
    assert find(workspace, "namespaces")[1].startswith("unshare is not installed")
    add_program(programs, "unshare", 'test "$*" = "-Ur true"')
    assert find(workspace, "namespaces")[0] == "ok"


LEVELS = {
    "full": (
        Level("full", True, True, True, True, has_judge=True),  # noqa: FBT003 - flags
        "ok",
        "level full, which doesn't stop: a process that changes the words of a program",
    ),
    "files": (
        Level("files", True, False, False, True, ("the profile needs Landlock version 6",)),  # noqa: FBT003 - flags
        "warning",
        "level files, which doesn't stop: signals reach all processes of the same user",
    ),
    "none": (
        Level("none", False, False, False, False, ("the kernel gives no user and mount namespace",)),  # noqa: FBT003 - flags
        "warning",
        "level none, which doesn't stop: all files that the user can write can be written",
    ),
}


@pytest.mark.parametrize("name", LEVELS)
def test_the_level_of_confinement(workspace: Inside, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    level, state, words = LEVELS[name]
    monkeypatch.setattr("remit.maintenance.doctor.machine.find_level", lambda: level)
    found, settings = load(workspace("doctor", "--json"))["confine"]
    assert (found[0], found[1].startswith(words), bool(found[2])) == (state, True, state == "warning")
    assert all(reason in found[1] for reason in (*level.reasons, *level.list_open()))
    shown = " ".join(workspace("doctor").out.decode().split())
    assert all(reason in shown for reason in (*level.reasons, *level.list_open())), "nothing is left out for people"
    judge = "on" if level.has_judge else "not available on this machine"
    assert settings[:2] == (
        "ok",
        "mode auto: this machine can't confine agents, so agents whose file has permissions run unconfined, and their "
        "results say so" if name == "none" else
        f"mode auto: agents whose file has permissions are confined; network all; judge {judge}",
    )  # fmt: skip


@pytest.mark.parametrize(
    ("name", "settings", "told"),
    [
        ("full", 'mode = "off"\njudge = false', "mode off: only runs with --confine are confined; network all; judge off"),
        ("files", 'mode = "require"\nnetwork = "none"',
         "mode require: all agents are confined, and none runs unconfined; network none; judge not available on this machine"),
        ("files", 'network = "model"', "! network model: this machine can't limit it, so no confined agent runs"),
        ("none", 'mode = "require"', "! mode require: this machine can't confine agents, so no agent runs"),
        ("none", 'mode = "off"', "mode off: this machine can't confine agents, so remit run --confine is refused"),
    ],
)  # fmt: skip
def test_the_settings_of_confinement(
    workspace: Inside, monkeypatch: pytest.MonkeyPatch, name: str, settings: str, told: str
) -> None:
    monkeypatch.setattr("remit.maintenance.doctor.machine.find_level", lambda: LEVELS[name][0])
    put(workspace, "remit.toml", f"[confine]\n{settings}\n")
    state, said, hint = load(workspace("doctor", "--json"))["confine"][1]
    assert ("! " * (state == "problem") + said, bool(hint)) == (told, told.startswith("!"))


def test_what_the_kernel_makes_of_each_agents_permissions(workspace: Inside, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("remit.maintenance.doctor.machine.find_level", lambda: LEVELS["full"][0])
    head = "---\nname: {}\ndescription: Writes.\npermissions:\n  allow:\n    - write: [{}]\n---\nWrite.\n"
    put(workspace, "agents/exact.md", head.format("exact", '"docs/**"'))
    put(workspace, "agents/wide.md", head.format("wide", '"docs/*.md", "src/main.py"'))
    put(workspace, "agents/many.md", head.format("many", ", ".join(f'"a{number}/*.md"' for number in range(9))))
    rows = load(workspace("doctor", "--json"))["permissions"]
    assert {row[0] for row in rows} == {"ok"}
    many, wide = sorted(row[1] for row in rows)
    assert wide == (
        'wide, enforced differently by the kernel: allow write "docs/*.md": the kernel can\'t enforce patterns, so everything in '
        f"'{workspace.folder}/docs' can be written; allow write \"src/main.py\": the file is made empty before the agent "
        "starts; a program that replaces it fails"
    )
    assert many.startswith("many, ")
    assert many.endswith("; and 4 more")
    monkeypatch.setattr("remit.maintenance.doctor.machine._AGENT_SECONDS", -1.0)
    (row,) = load(workspace("doctor", "--json"))["permissions"]
    assert row[1] == "3 more agents with permissions weren't checked: their patterns match many files"


def test_harnesses_are_found_with_their_versions(workspace: Inside, programs: Path) -> None:
    assert find(workspace, "harness")[0] == "warning"
    add_program(programs, "claude", "echo '2.1.326 (Claude Code)'")
    add_program(programs, "codex", "echo 'WARNING: proceeding without help' >&2; echo codex-cli 0.169.0")
    add_program(programs, "gemini", "exit 3")
    rows = load(workspace("doctor", "--json"))["harness"]
    assert [row[0] for row in rows] == ["ok", "ok", "warning"]
    assert rows[0][1] == f"claude 2.1.326 at {programs}/claude"
    assert rows[1][1] == f"codex 0.169.0 at {programs}/codex"
    assert "exit code 3" in rows[2][1]


def test_a_release_that_was_never_tried_is_named(workspace: Inside, programs: Path) -> None:
    add_program(programs, "claude", "echo '2.1.999 (Claude Code)'")
    add_program(programs, "opencode", "echo a new format")
    add_program(programs, "gemini", "echo 9.0.0")
    rows = load(workspace("doctor", "--json"))["harness"]
    assert [row[0] for row in rows] == ["warning"] * 3
    assert rows[0][1] == f"claude 2.1.999 at {programs}/claude: not tried with this Remit (tried: 2.1.197, 2.1.326)"
    assert rows[0][2] == "run: remit hooks check claude"
    assert "opencode (version unknown)" in rows[1][1]
    assert rows[2][2] == 'run: remit run "Say hello" --runner gemini'


def test_a_release_of_opencode_that_does_not_load_the_plugin_is_named(workspace: Inside, programs: Path) -> None:
    add_program(programs, "opencode", "echo 2.2.0")
    ((state, message, hint),) = load(workspace("doctor", "--json"))["harness"]
    assert (state, bool(hint)) == ("warning", True)
    told = "opencode 2.2.0 does not load Remit's plugin: its subagents are not checked"
    assert message == f"{told} ({programs}/opencode)"


@pytest.mark.slow
def test_a_harness_that_hangs_does_not_hold_up_the_others(
    workspace: Inside, programs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from remit.maintenance.doctor import machine  # noqa: PLC0415 - only here

    monkeypatch.setattr(machine, "PROGRAM_SECONDS", 0.5)
    for name in ("claude", "opencode", "codex", "gemini"):
        add_program(programs, name, "while :; do :; done" if name == "claude" else "/bin/sleep 60")
    began = time.monotonic()
    rows = load(workspace("doctor", "--json"))["harness"]
    assert [("no answer" in row[1]) for row in rows] == [True] * 4
    assert time.monotonic() - began < 30


def test_nothing_of_the_workspace_is_run(workspace: Inside, monkeypatch: pytest.MonkeyPatch) -> None:
    put(workspace, "bin/claude", "")
    add_program(workspace.folder / "bin", "claude", f": >{workspace.folder}/ran; echo 1.0")
    for name in ("git", "unshare", "true"):
        add_program(workspace.folder / "bin", name, f": >{workspace.folder}/ran")
    assert subprocess.run([workspace.folder / "bin/claude"], check=True, capture_output=True).stdout == b"1.0\n"
    assert (workspace.folder / "ran").exists()
    (workspace.folder / "ran").unlink()
    monkeypatch.setenv("PATH", f"bin:./bin:{os.environ['PATH']}:{workspace.folder}/bin")
    rows = load(workspace("doctor", "--json"))
    assert rows["harness"][0][:2] == (
        "warning",
        f"claude at {workspace.folder}/bin/claude is inside the workspace, so Remit didn't ask for its version",
    )
    assert not (workspace.folder / "ran").exists()


# What the workspace keeps


def test_the_ledger(workspace: Inside) -> None:
    assert find(workspace, "ledger")[1].startswith("none yet")
    home = Home(str(workspace.folder))
    with home.ledger.transaction() as db:
        db.execute("INSERT INTO intents (kind, created_ms) VALUES ('move', 1)")
    home.close()
    rows = load(workspace("doctor", "--json"))
    assert rows["ledger"][0][:2] == ("ok", f"intact, {os.stat(home.ledger_file).st_size / 1024**2:.1f} MB")  # noqa: PTH116
    assert rows["unfinished"][0][:2] == ("warning", "1 change of tasks interrupted")
    for file in workspace.folder.glob(".remit/ledger.db*"):
        file.unlink()
    (workspace.folder / ".remit/ledger.db").write_bytes(b"nonsense" * 1000)
    state, message, hint = find(workspace, "ledger")
    assert (state, "can't be used: file is not a database" in message) == ("problem", True)
    assert hint.startswith("move it away")


def test_an_older_ledger_is_announced_then_kept_and_named(workspace: Inside) -> None:
    home = Home(str(workspace.folder))
    with home.ledger.transaction() as db:
        db.execute("PRAGMA user_version = 1")
    home.close()
    kept = f"{home.folder}/ledger.version-1.db"
    ended = workspace("doctor", "--json")
    assert load(ended)["ledger"][0][0] == "warning"
    told = f"the ledger of an older version was kept as '{kept}', and a new one was created"
    assert json.loads(ended.err) == {"note": told}
    ended = workspace("doctor", "--json")
    assert ended.err == b""
    assert [row[:2] for row in load(ended)["ledger"][1:]] == [("ok", f"an older one is kept as '{kept}'")]


def test_who_holds_a_lock_is_told(workspace: Inside) -> None:
    assert find(workspace, "locks") == ("ok", "none", "")
    process = start_holder(workspace.folder / ".remit/locks/tasks.lock")
    try:
        assert find(workspace, "locks")[1] == f"tasks.lock is locked by process {process.pid}"
    finally:
        end(process)
    assert find(workspace, "locks")[1] == "none"


def test_a_lock_that_a_dead_process_has_handed_on_is_told(workspace: Inside) -> None:
    """A lock is held as long as anybody has its file open: a child that inherited it, too."""
    lock = workspace.folder / ".remit/locks/tasks.lock"
    script = f"""
import fcntl, os, sys
handle = os.open({str(lock)!r}, os.O_RDWR | os.O_CREAT)
fcntl.flock(handle, fcntl.LOCK_EX)
os.pwrite(handle, b"%-10d" % os.getpid(), 0)
child = os.fork()
if child:
    print(os.getpid(), child, flush=True)
    os._exit(0)
os.close(1)
os.close(2)
import time
time.sleep(60)
"""
    started = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    parent, child = map(int, started.stdout.split())
    try:
        state, message, hint = find(workspace, "locks")
    finally:
        os.kill(child, signal.SIGKILL)
    assert (state, message) == ("warning", f"tasks.lock is locked by a child of process {parent}, which has ended")
    assert hint == f"find the child with: fuser {lock}"


def test_files_that_crashes_left_are_told(workspace: Inside, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("remit.maintenance.leftovers.QUIET_SECONDS", 0.0)
    process = subprocess.Popen(["true"])
    process.wait()
    put(workspace, f".remit/.remit-{process.pid}-0123abcd-x", "half")
    time.sleep(0.02)
    assert find(workspace, "leftovers") == ("warning", "1 file left by a killed process", "run: remit gc")


# The repository


def test_a_lock_that_git_left_is_a_problem_once_it_is_old(workspace: Inside) -> None:
    lock = workspace.folder / ".git/index.lock"
    lock.touch()
    assert "git lock" not in load(workspace("doctor", "--json"))
    then = time.time() - 3600
    os.utime(lock, (then, then))
    state, message, _ = find(workspace, "git lock")
    assert (state, "is 60 minutes old" in message) == ("problem", True)


def test_a_machine_without_git_is_a_warning(workspace: Inside, programs: Path) -> None:
    (programs / "git").unlink()
    state, message, hint = find(workspace, "git")
    assert (state, message) == ("warning", "can't start git: it isn't in PATH")
    assert hint == "install git, or commit later"


def test_how_the_manifest_is_merged(workspace: Inside) -> None:
    put(workspace, ".gitattributes", "*.jsonl merge=ours\n")
    state, message, _ = find(workspace, "merging")
    assert (state, f"git merges {MANIFEST} as 'ours'" in message) == ("warning", True)
    (workspace.folder / ".gitattributes").unlink()
    assert find(workspace, "merging")[2] == "run remit init, which adds merge=union to .gitattributes"
    (workspace.folder / "claudedocs").mkdir()
    os.mkfifo(workspace.folder / "claudedocs/.gitattributes")
    state, message, hint = find(workspace, "merging")
    assert (state, hint) == ("warning", "move it away")
    assert message.endswith(f"{MANIFEST}: '{workspace.folder}/claudedocs/.gitattributes' isn't a file")


# What people and agents wrote


def test_tasks_that_differ_are_a_problem(workspace: Inside) -> None:
    put(workspace, "specs/state.json", STATE)
    put(workspace, "specs/TODO.md", TODO.replace("[PLANNED]", "[COMPLETED]"))
    state, message, hint = find(workspace, "tasks")
    assert (state, message) == ("problem", "state.json and TODO.md do not agree: 1 difference")
    assert "remit task sync --check" in hint


@pytest.mark.parametrize("is_made", [True, False])
def test_lines_that_are_no_entries_are_a_problem(workspace: Inside, is_made: bool) -> None:  # noqa: FBT001 - a table
    if is_made:
        home = Home(str(workspace.folder))
        assert home.ledger.file
        home.close()
    put(workspace, MANIFEST, '{"id":"a"}\n')
    assert find(workspace, "manifest")[:2] == ("ok", f"1 entry in {MANIFEST}")
    put(workspace, MANIFEST, '{"id":"a"}\nnonsense\n[1]\n')
    assert find(workspace, "manifest")[:2] == ("problem", "2 lines aren't entries")
    assert (workspace.folder / ".remit/ledger.db").exists() is is_made


def test_a_manifest_that_is_too_long_is_looked_at_in_part(workspace: Inside, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("remit.maintenance.doctor.workspace_files._MANIFEST_BYTES", 1024 * 1024)
    put(workspace, MANIFEST, "".join(f'{{"id":"{number}"}}\n' for number in range(200_000)))
    state, message, _ = find(workspace, "manifest")
    assert (state, message.partition(" in ")[2]) == (
        "ok",
        f"{MANIFEST} in the first 1 MB, which were checked",
    )


def test_a_pipe_as_manifest_hangs_nobody(workspace: Inside) -> None:
    (workspace.folder / MANIFEST).parent.mkdir(parents=True)
    os.mkfifo(workspace.folder / MANIFEST)
    state, message, _ = find(workspace, "manifest")
    assert (state, "isn't a file" in message) == ("problem", True)


def test_open_errors_are_a_warning_and_a_broken_log_is_a_problem(workspace: Inside) -> None:
    entry = {"id": "err_1_a", "timestamp": "2026-01-19T00:00:00Z", "type": "timeout", "message": "it took too long"}
    put(workspace, "specs/errors.json", json.dumps({"errors": [entry]}))
    assert find(workspace, "errors") == ("warning", "1 open, with 1 cause", "list them with: remit errors list")
    put(workspace, "specs/errors.json", json.dumps({"errors": [entry]})[:-2])
    assert load(workspace("doctor", "--json"))["errors"][0][0] == "problem"


def test_settings_that_run_something_are_told_until_they_are_trusted(workspace: Inside) -> None:
    workspace.write("remit.toml", '[tasks]\nshow = "tool {id}"\n')
    state, message, hint = find(workspace, "trust")
    assert (state, "you have not trusted them" in message, "remit config trust" in hint) == ("warning", True, True)
    assert workspace("config", "trust", "--yes").code == 0
    assert find(workspace, "trust")[:2] == ("ok", "you have trusted the programs of the settings")
