"""`remit checks` as a user meets it: good and bad settings, hostile output, Ctrl-C, two at once."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from typing import TYPE_CHECKING

import pytest
from inline_snapshot import snapshot

from tests.support.commands import load
from tests.support.run_terminal import Terminal
from tests.support.waiting import wait_until

if TYPE_CHECKING:
    from tests.support.commands import Remit


@pytest.fixture(autouse=True)
def _workspace(remit: Remit, tmp_path_factory: pytest.TempPathFactory) -> None:
    """A folder without git, and one that keeps the user's trust."""
    remit.env["XDG_CONFIG_HOME"] = str(tmp_path_factory.mktemp("config"))
    for name in ("REMIT_TICKET", "REMIT_SESSION_ID", "REMIT_ROOT"):
        remit.env.pop(name, None)


def trust(remit: Remit, *checks: tuple[str, str], more: str = "") -> None:
    """Write checks into the settings, and trust them."""
    tables = "".join(f"[checks.{name}]\nrun = {json.dumps(command)}\n{more}" for name, command in checks)
    remit.write("remit.toml", tables)
    assert remit("config", "trust", "--yes").code == 0


def list_processes() -> str:
    return subprocess.run(["ps", "-eo", "args"], capture_output=True, text=True, check=True).stdout


def test_each_check_has_a_line_and_the_exit_code_says_whether_all_passed(remit: Remit) -> None:
    trust(remit, ("tests", "echo wrong; exit 1"), ("lint", "true"), ("types", "no-such-program-anywhere"))
    ended = remit("checks")
    assert (ended.code, ended.err) == (1, b"")
    lines = ended.text.splitlines()
    assert lines[0].startswith("✗ tests failed in ")
    assert lines[0].endswith(": exit code 1")
    assert lines[1] == "    wrong"
    assert lines[2].startswith("✓ lint  passed in ")
    assert lines[3] == "! types not run: a program isn't installed (exit code 127)"
    assert remit("checks", "lint").code == 0
    assert [each["answer"] for each in load(remit("checks", "--json"))["items"]] == ["failed", "passed", "not run"]
    assert remit("checks", "--list").text.splitlines()[1] == "lint   true"


def test_what_can_not_be_run_is_one_sentence_and_a_hint(remit: Remit) -> None:
    assert remit("checks").complaint == snapshot(
        'the workspace has no checks; add one to remit.toml: [checks.tests] with run = "pytest -q"'
    )
    assert "[checks.tests]" in remit("checks", "--list").text
    remit.write("remit.toml", '[checks.tests]\nrun = "true"\n')
    ended = remit("checks")
    assert ended.code == 2
    assert "you have not trusted them; read them, then run remit config trust" in ended.complaint
    trust(remit, ("tests", "true"))
    for args in (("checks", "testz"), ("checks", "--list", "testz")):
        assert remit(*args).complaint == snapshot("the check 'testz' isn't in remit.toml; did you mean 'tests'?")
    assert remit("checks", "rm -rf x").complaint == snapshot(
        "the check 'rm -rf x' isn't in remit.toml; available: tests"
    )
    for text, said in (
        ('[checks.tests]\nrun = ""\n', "[checks.tests] has no command"),
        ("[checks.tests]\n", "[checks.tests] has no command"),
        ('[checks.tests]\nrun = "true"\ncwd = "../x"\n', "is not a path below the workspace's root"),
        ('[checks.tests]\nrun = "true"\ntimout = 3\n', "timout"),
        ('[checks."a b"]\nrun = "true"\n', "can't be the name of a check"),
        ("[checks.tests", "isn't valid TOML"),
        ("checks = 3\n", "checks"),
    ):
        remit.write("remit.toml", text)
        ended = remit("checks")
        assert (ended.code, said in ended.complaint) == (2, True), ended


def test_hostile_output_is_shown_and_steers_nothing(remit: Remit) -> None:
    trust(
        remit,
        ("escapes", "printf '\\033]0;evil\\007\\033[2J\\302\\205x\\377\\376 caf\\351 \\342\\200\\256\\n'; exit 1"),
        ("flood", "yes 'a long line of output' | head -c 100000000; exit 1"),
        ("nothing", "exit 1"),
    )
    ended = remit("checks")
    assert ended.code == 1
    assert not set("\x1b\x07\x85\u202e") & set(ended.text)
    assert "<U+001B>]0;evil<U+0007>" in ended.text
    assert len(ended.out) < 10_000
    assert not [*(remit.folder / ".remit" / "sessions").iterdir()], "no output is left"


def test_a_linked_worktree_is_checked_itself_and_so_is_the_root_from_a_folder_below(remit: Remit) -> None:
    root, other = remit.folder / "main", remit.folder / "other"
    root.mkdir()
    commands = (
        "init -q .",
        "-c user.name=a -c user.email=a@b commit -q --allow-empty -m one",
        "worktree add -q ../other",
    )
    for command in commands:
        subprocess.run(["git", *command.split()], cwd=root, check=True)
    (root / "remit.toml").write_text('[checks.tests]\nrun = "test -e only-here"\n')
    (other / "sub").mkdir()
    (other / "only-here").touch()
    assert remit("config", "trust", "--yes", cwd=other).code == 0
    assert remit("checks", cwd=root).code == 1
    for place in (other, other / "sub"):
        ended = remit("checks", cwd=place)
        assert ended.code == 0, ended


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_the_check_with_all_its_processes(remit: Remit, number: signal.Signals) -> None:
    marker = f"sleep 98{os.getpid()}{number.value}"
    trust(remit, ("slow", f"(setsid {marker} &); touch began; {marker}"), ("after", "touch after"))
    process = remit.start("checks")
    wait_until((remit.folder / "began").exists, "the check runs")
    process.send_signal(number)
    out, err = process.communicate(timeout=20)
    assert process.returncode == 130, err
    assert out.decode().splitlines() == ["! slow  not run: it was cancelled", "! after not run: it was cancelled"]
    assert marker not in list_processes()
    assert not (remit.folder / "after").exists()
    assert not [*(remit.folder / ".remit" / "sessions").iterdir()]


def test_a_terminal_shows_what_runs_and_for_how_long(remit: Remit) -> None:
    trust(remit, ("slow", "until test -e go; do sleep 0.05; done"))
    terminal = Terminal(remit, "checks")
    terminal.wait_for("running check slow (1 s)")
    (remit.folder / "go").touch()
    code, out = terminal.end()
    assert code == 0
    assert out.startswith("✓ slow passed in ")


def test_two_at_once_wait_for_each_other(remit: Remit) -> None:
    trust(remit, ("slow", "test ! -e busy || exit 7; touch busy began; sleep 1; rm busy"))
    first = remit.start("checks")
    wait_until((remit.folder / "began").exists, "the first one runs")
    terminal = Terminal(remit, "checks")
    terminal.wait_for("another process runs checks in this tree; waiting")
    begun = time.monotonic()
    code, out = terminal.end()
    first.communicate(timeout=20)
    assert (first.returncode, code) == (0, 0), out
    assert time.monotonic() - begun < 15


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can mount")
def test_a_workspace_that_can_not_be_written_is_one_sentence(remit: Remit) -> None:
    trust(remit, ("tests", "true"))
    folder = remit.folder / ".remit"
    folder.mkdir(exist_ok=True)
    mounts = (
        f"mount --bind {folder} {folder} && mount -o remount,ro,bind {folder} && exec {sys.executable} -m remit checks"
    )
    made = subprocess.run(["unshare", "-m", "true"], capture_output=True, check=False)
    if made.returncode:
        pytest.skip("no mount namespaces here")
    ended = remit(prelude=("-c", f"import os; os.execvp('unshare', ['unshare', '-m', 'sh', '-c', {mounts!r}])"))
    assert ended.code == 2
    assert "read-only file system; check the disk" in ended.complaint
