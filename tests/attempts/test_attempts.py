"""Sessions: what has become of an attempt, who is alive, who is inside, and what is not a result."""

from __future__ import annotations

import asyncio
import gc
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from remit.attempts.confine import Confinement, ReadOnlyPath
from remit.attempts.folders import (
    AttemptFolder,
    find_control,
    find_folder,
    is_alive,
    list_living,
    make_attempt,
    read_small,
    remove_session,
    send_control,
)
from remit.attempts.output import feed_output, read_out
from remit.attempts.process_owner import find_enclosing
from remit.attempts.results import Contained, ShimResult, find_state, load_boot_id, load_result, wait_result
from remit.attempts.start import ShimOrder, Started, start_shim
from remit.confine import find_level
from remit.errors import BusyError, RunnerError, StateError, StorageError, UsageError
from remit.ledger.home import Home
from tests.support.file_limit import few_files
from tests.support.paths import ROOT

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="looks at processes by /proc")


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(str(tmp_path))


def begin(
    home: Home, *argv: str, session: str = "sess_1_aaaaaa", contain: Contained = "namespace"
) -> tuple[AttemptFolder, Started]:
    attempt = make_attempt(home, session, 1)
    environ = {"PATH": os.environ["PATH"]}
    order = ShimOrder(argv, home.root, int((time.time() + 30) * 1000), environ, contain=contain)
    return attempt, start_shim(home, attempt, order)


def finish(attempt: AttemptFolder, started: Started | None) -> ShimResult | None:
    return asyncio.run(wait_result(attempt.folder, started=started))


def run(home: Home, *argv: str, session: str = "sess_1_aaaaaa") -> tuple[AttemptFolder, ShimResult]:
    attempt, started = begin(home, *argv, session=session)
    result = finish(attempt, started)
    assert result is not None
    return attempt, result


def cancel(attempt: AttemptFolder, started: Started | None) -> None:
    assert send_control(attempt.folder, "cancel")
    result = finish(attempt, started)
    assert result is not None
    assert result.stop_reason == "cancelled"


# What has become of it


def test_a_result_that_cannot_be_read_is_not_taken_for_none(home: Home) -> None:
    """An attempt without a result is lost, and its work with it."""
    attempt, result = run(home, "true")
    with few_files(0):
        with pytest.raises(OSError, match="Too many open files"):
            os.open(os.devnull, os.O_RDONLY)
        with pytest.raises(BusyError, match=r"result\.json' can't be read: too many open files"):
            find_state(attempt.folder)
    assert load_result(attempt.folder) == result
    file = Path(attempt.folder, "result.json")
    file.unlink()
    assert load_result(attempt.folder) is None
    with pytest.raises(StorageError, match="can't be read: input/output error"):
        read_small("/proc/self/mem")  # a regular file whose first byte can't be read


def test_an_attempt_is_none_then_alive_then_finished(home: Home) -> None:
    attempt = make_attempt(home, "sess_1_aaaaaa", 1)
    assert find_state(attempt.folder) == "none"
    assert not send_control(attempt.folder, "cancel")
    _, started = begin(home, "sleep", "60")
    assert find_state(attempt.folder) == "alive"
    assert list_living(home) == [attempt]
    cancel(attempt, started)
    assert find_state(attempt.folder) == "finished"
    assert list_living(home) == []
    assert not list(Path(home.folder, "living").iterdir())
    assert not send_control(attempt.folder, "cancel")


def test_an_attempt_is_alive_from_the_moment_it_is_started(home: Home) -> None:
    """The lock goes from hand to hand: there is no moment in which nobody holds it."""
    for number in range(8):
        attempt, started = begin(home, "true", session=f"sess_{number}_aaaaaa")
        assert find_state(attempt.folder) in {"alive", "finished"}
        assert finish(attempt, started) is not None


def test_an_attempt_whose_shim_was_killed_is_lost(home: Home) -> None:
    attempt, started = begin(home, "sleep", "60")
    while not Path(attempt.folder, "pids.json").exists():
        time.sleep(0.01)
    os.kill(started.pid, signal.SIGKILL)
    assert finish(attempt, started) is None
    assert find_state(attempt.folder) == "lost"
    assert Path(home.folder, "living", "sess_1_aaaaaa.1").exists()
    assert list_living(home) == []
    assert not Path(home.folder, "living", "sess_1_aaaaaa.1").exists()


def test_an_attempt_from_before_the_machine_stopped_counts_as_started(home: Home) -> None:
    attempt = make_attempt(home, "sess_1_aaaaaa", 1)
    assert load_boot_id()
    assert find_state(attempt.folder, boot_id=load_boot_id()) == "none"
    assert find_state(attempt.folder, boot_id="another") == "lost"


def test_nothing_is_started_twice(home: Home) -> None:
    attempt, started = begin(home, "sh", "-c", "echo ran >> runs; sleep 60")
    with pytest.raises(BusyError):
        begin(home, "sh", "-c", "echo ran >> runs")
    while not Path(home.root, "runs").exists() or not Path(home.root, "runs").stat().st_size:
        time.sleep(0.01)
    cancel(attempt, started)
    with pytest.raises(StateError):
        begin(home, "sh", "-c", "echo ran >> runs")
    assert Path(home.root, "runs").read_text() == "ran\n"


def test_who_did_not_start_it_can_wait_for_it_as_well(home: Home) -> None:
    attempt, started = begin(home, "sh", "-c", "sleep 0.2; exit 5")
    result = finish(attempt, None)
    assert result is not None
    assert result.exit_code == 5
    assert finish(attempt, started) == result


@pytest.mark.slow
def test_an_agent_outlives_who_started_it(home: Home) -> None:
    starter = f"""
import os, sys, time
sys.path.insert(0, {str(ROOT)!r})
from remit.ledger.home import Home
from tests.attempts.test_attempts import begin
begin(Home({home.root!r}), "sh", "-c", "sleep 0.3; echo still here")
os.kill(os.getpid(), 9)
"""
    done = subprocess.run([sys.executable, "-c", starter], capture_output=True, text=True, check=False)
    assert done.returncode == -signal.SIGKILL, done.stderr
    attempt = AttemptFolder("sess_1_aaaaaa", 1, find_folder(home, "sess_1_aaaaaa", 1))
    assert is_alive(attempt.folder)
    result = finish(attempt, None)
    assert result is not None
    assert (result.stop_reason, result.exit_code) == ("exited", 0)
    assert read_out(attempt.folder, 0, 100) == b"still here\n"


def test_many_are_waited_for_at_once(home: Home) -> None:
    async def all_of_them() -> list[ShimResult | None]:
        begun = [begin(home, "sh", "-c", f"exit {number}", session=f"sess_{number}_aaaaaa") for number in range(20)]
        return await asyncio.gather(*(wait_result(attempt.folder, started=started) for attempt, started in begun))

    results = asyncio.run(all_of_them())
    assert [result and result.exit_code for result in results] == list(range(20))


# What is no result


def test_a_result_that_is_not_whole_is_none(home: Home) -> None:
    attempt, result = run(home, "sh", "-c", "exit 1")
    file = Path(attempt.folder, "result.json")
    true = file.read_text()
    assert load_result(attempt.folder) == result
    torn = [true[:size] for size in range(len(true) - 1)]  # only the last character, a line break, isn't needed
    for false in (
        *torn,
        "\0" * len(true),
        true + true,
        "[]",
        '{"stop_reason":"exited"}',
        '{"more":1,' + true[1:],
        "[" * 4000,
    ):
        file.write_text(false)
        assert load_result(attempt.folder) is None
    assert find_state(attempt.folder) == "lost"
    file.write_text(true)
    assert load_result(attempt.folder) == result


@pytest.mark.parametrize("kind", ["fifo", "folder", "link"])
def test_a_result_that_is_no_file_does_no_harm(home: Home, kind: str) -> None:
    attempt, _ = run(home, "true")
    file = Path(attempt.folder, "result.json")
    true = Path(home.root, "true.json")
    file.rename(true)
    if kind == "fifo":
        os.mkfifo(file)
    elif kind == "folder":
        file.mkdir()
    else:
        file.symlink_to(true)
    assert load_result(attempt.folder) is None


@pytest.mark.parametrize("name", ["out", "out.tail"])
def test_an_output_of_which_a_part_is_missing_is_not_whole(home: Home, name: str) -> None:
    attempt = make_attempt(home, "sess_1_aaaaaa", 1)
    deadline_ms = int((time.time() + 30) * 1000)
    order = ShimOrder(("echo", "I could not do it"), home.root, deadline_ms, {"PATH": os.environ["PATH"]}, out_cap=7)
    result = finish(attempt, start_shim(home, attempt, order))
    assert result is not None
    heard: list[bytes] = []
    assert feed_output(attempt.folder, result, heard.append)
    assert heard == [b"I could", b" not do it\n"]
    file = Path(attempt.folder, name)
    true = file.read_bytes()
    for false in (true[:-1], b""):
        file.write_bytes(false)
        assert not feed_output(attempt.folder, result, heard.append)
    file.unlink()
    assert not feed_output(attempt.folder, result, heard.append)
    file.write_bytes(true)
    assert feed_output(attempt.folder, result, heard.append)


def test_an_output_is_heard_as_far_as_its_shim_has_kept_it(home: Home) -> None:
    attempt, result = run(home, "echo", "done")
    with Path(attempt.folder, "out").open("ab") as file:
        file.write(b"and more\n")
    heard: list[bytes] = []
    assert feed_output(attempt.folder, result, heard.append)
    assert heard == [b"done\n"]


def test_the_output_of_an_agent_that_never_ran_is_nothing(home: Home) -> None:
    attempt = make_attempt(home, "sess_1_aaaaaa", 1)
    order = ShimOrder(("echo", "done"), home.root, 1, {"PATH": os.environ["PATH"]})
    result = finish(attempt, start_shim(home, attempt, order))
    assert result is not None
    assert result.stop_reason == "timeout"
    heard: list[bytes] = []
    assert feed_output(attempt.folder, result, heard.append)
    assert not heard


# Who is inside

INSIDE = f"""
import sys
sys.path.insert(0, {str(ROOT)!r})
from remit.ledger.home import Home
from remit.attempts.process_owner import find_enclosing
print(find_enclosing(Home(sys.argv[1])), flush=True)
"""


@pytest.mark.parametrize("contain", ["namespace", "subreaper"])
def test_whoever_is_inside_an_agent_is_found_out(home: Home, contain: Contained) -> None:
    """Itself, a daemon of its without any parent, and one that hides in a namespace of its own."""
    assert find_enclosing(home) is None
    Path(home.root, "ask.py").write_text(INSIDE)
    ask = f"env -i {sys.executable} ask.py {home.root}"
    daemon = f"(setsid {ask} > daemon &); while ! [ -s daemon ]; do sleep 0.01; done"
    hidden = f"unshare --pid --fork --mount-proc {ask} 2>&1"
    attempt, started = begin(home, "sh", "-c", f"{ask}; {daemon}; {hidden}; sleep 30", contain=contain)
    last = time.monotonic() + 10
    while read_out(attempt.folder, 0, 1000).count(b"\n") < 2 and time.monotonic() < last:
        time.sleep(0.02)
    assert find_enclosing(home) is None  # a person beside it
    cancel(attempt, started)
    itself, in_hiding = read_out(attempt.folder, 0, 1000).decode().splitlines()
    assert itself == "sess_1_aaaaaa"
    assert Path(home.root, "daemon").read_text() == "sess_1_aaaaaa\n"
    assert in_hiding == "sess_1_aaaaaa" or in_hiding.startswith("unshare:")


@pytest.mark.parametrize("contain", ["namespace", "subreaper"])
def test_whoever_is_inside_an_agent_is_so_in_every_workspace(home: Home, tmp_path: Path, contain: Contained) -> None:
    """An agent that makes a workspace of its own to delegate from is no person there."""
    Path(home.root, "ask.py").write_text(INSIDE)
    other = tmp_path / "another"
    ask = f"mkdir {other} && env -i {sys.executable} ask.py {other}"
    attempt, started = begin(home, "sh", "-c", ask, contain=contain)
    result = finish(attempt, started)
    assert result is not None
    assert result.exit_code == 0
    assert read_out(attempt.folder, 0, 1000).decode() == "sess_1_aaaaaa\n"
    assert find_enclosing(Home(str(other))) is None  # a person there


@pytest.mark.slow
def test_an_agent_that_does_not_say_who_it_is_counts_as_enclosing(home: Home) -> None:
    attempt, started = begin(home, "sleep", "60")
    while not (file := Path(attempt.folder, "pids.json")).exists():
        time.sleep(0.01)
    assert find_enclosing(home) is None
    for broken in ("[1]", '{"contained":"group","shim":"x"}'):
        file.write_text(broken)
        assert find_enclosing(home) == "sess_1_aaaaaa"
    cancel(attempt, started)
    assert find_enclosing(home) is None


# Names, files, cages


@pytest.mark.parametrize("name", ["", "..", "a/b", "a.b", "a\0b", "\u00e4", "x" * 129])
def test_an_id_that_is_a_path_is_refused(home: Home, name: str) -> None:
    with pytest.raises(UsageError):
        make_attempt(home, name, 1)
    assert not home.is_made


@pytest.mark.parametrize("name", ["order", "result.json", "../x", "a/b", ".hidden"])
def test_a_runner_s_file_takes_no_name_of_ours(home: Home, name: str) -> None:
    attempt = make_attempt(home, "sess_1_aaaaaa", 1)
    order = ShimOrder(("true",), home.root, 0, {}, files={name: b""})
    with pytest.raises(UsageError):
        start_shim(home, attempt, order)
    assert find_state(attempt.folder) == "none"


def test_a_runner_s_files_are_there_before_the_agent(home: Home) -> None:
    attempt = make_attempt(home, "sess_1_aaaaaa", 1)
    environ = {"PATH": os.environ["PATH"]}
    deadline_ms = int((time.time() + 30) * 1000)
    order = ShimOrder(("cat", f"{attempt.folder}/note"), home.root, deadline_ms, environ, files={"note": b"hello"})
    finish(attempt, start_shim(home, attempt, order))
    assert read_out(attempt.folder, 0, 100) == b"hello"
    assert read_out(attempt.folder, 3, 100) == b"lo"


@pytest.mark.parametrize(("argv", "environ"), [((), {}), (("a\0b",), {}), (("true",), {"A": "x" * (1 << 24)})])
def test_what_cannot_be_started_leaves_nothing_behind(
    home: Home, argv: tuple[str, ...], environ: dict[str, str]
) -> None:
    attempt = make_attempt(home, "sess_1_aaaaaa", 1)
    gc.collect()  # what earlier tests have left open, or it is closed in the middle
    before = {each.name for each in Path("/proc/self/fd").iterdir()}
    with pytest.raises(RunnerError):
        start_shim(home, attempt, ShimOrder(argv, home.root, 0, environ))
    assert find_state(attempt.folder) == "none"
    assert list_living(home) == []
    assert {each.name for each in Path("/proc/self/fd").iterdir()} <= before


def test_a_folder_that_an_earlier_attempt_has_prepared_is_not_used(home: Home) -> None:
    """A file in the place of the pipe would keep the shim busy."""
    pipe = Path(find_control(find_folder(home, "sess_1_aaaaaa", 2)))
    pipe.parent.mkdir(parents=True)
    pipe.write_text("stop now\n")
    with pytest.raises(StorageError, match="isn't a pipe"):
        make_attempt(home, "sess_1_aaaaaa", 2)


def test_a_session_is_removed_when_nothing_of_it_is_alive(home: Home) -> None:
    assert not remove_session(home, "sess_1_aaaaaa")
    attempt, started = begin(home, "sleep", "60")
    with pytest.raises(BusyError):
        remove_session(home, "sess_1_aaaaaa")
    cancel(attempt, started)
    assert remove_session(home, "sess_1_aaaaaa")
    assert not Path(attempt.folder).parent.exists()
    assert not Path(find_control(attempt.folder)).exists()


@pytest.mark.skipif(not find_level().has_files, reason="the kernel confines nothing here")
def test_a_confined_agent_writes_only_where_it_may(home: Home, tmp_path_factory: pytest.TempPathFactory) -> None:
    elsewhere, extra = tmp_path_factory.mktemp("elsewhere"), tmp_path_factory.mktemp("extra")
    attempt = make_attempt(home, "sess_1_aaaaaa", 1)
    places = [home.root, str(extra), attempt.folder, home.folder, str(elsewhere), "/etc"]
    words = "; ".join(f"touch {place}/confined 2>/dev/null && echo {number}" for number, place in enumerate(places))
    fixed = ReadOnlyPath(home.folder, is_folder=True), ReadOnlyPath(f"{home.root}/remit.toml")
    confinement = Confinement(home.root, (str(extra), f"{extra}/missing.json"), fixed)
    environ = {"PATH": os.environ["PATH"]}
    order = ShimOrder(("sh", "-c", words), home.root, int((time.time() + 30) * 1000), environ, confinement=confinement)
    result = finish(attempt, start_shim(home, attempt, order))
    assert result is not None
    assert result.stop_reason == "exited", read_out(attempt.folder, 0, 1000, stream="err")
    kept = [Path(place, "confined").exists() for place in places]
    assert kept == [True, True, False, False, False, False]  # a write to /tmp ends with the agent
    assert not Path(home.root, "remit.toml").exists()


@pytest.mark.skipif(not find_level().has_files, reason="the kernel confines nothing here")
def test_a_confined_agent_sends_no_words_to_shims(home: Home) -> None:
    """The kernel lets a pipe on a read-only mount be written: neither its own nor that of another run is there."""
    other, other_started = begin(home, "sleep", "60", session="sess_2_aaaaaa")
    attempt = make_attempt(home, "sess_1_aaaaaa", 1)
    pipes = [find_control(each.folder) for each in (attempt, other)]
    assert all(Path(pipe).is_fifo() for pipe in pipes)
    words = f"ls -A {Path(pipes[0]).parent}; for p in $(find {home.folder} -type p) {' '.join(pipes)}; do echo cancel > $p; done"
    confinement = Confinement(home.root, (), (ReadOnlyPath(home.folder, is_folder=True),))
    order = ShimOrder(("sh", "-c", f"{words}; sleep 0.5; echo over"), home.root, int((time.time() + 30) * 1000),
                      {"PATH": os.environ["PATH"]}, confinement=confinement)  # fmt: skip
    result = finish(attempt, start_shim(home, attempt, order))
    assert (result is not None and result.stop_reason, read_out(attempt.folder, 0, 1000)) == ("exited", b"over\n")
    assert is_alive(other.folder)
    cancel(other, other_started)
