"""The shim: an agent ends in time, nothing of it survives, and its end is told once."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from remit import shim
from remit.attempts.folders import is_alive, make_attempt, send_control
from remit.attempts.output import feed_output, load_tail, read_out
from remit.attempts.results import Contained, find_state
from remit.attempts.start import ShimOrder, start_shim
from remit.ledger.home import Home
from tests.support.paths import ROOT
from torture.trees import WAYS, Forest, find_marked, plant, start, wait_until

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="finds processes by /proc")
CONTAINED: list[Contained] = ["namespace", "subreaper"]


@pytest.fixture(scope="session")
def has_namespaces(tmp_path_factory: pytest.TempPathFactory) -> bool:
    forest = start(tmp_path_factory.mktemp("probe"), "exit 0")
    return forest.result().contained == "namespace"


@pytest.fixture(params=CONTAINED)
def contain(request: pytest.FixtureRequest, *, has_namespaces: bool) -> Contained:
    kind: Contained = request.param
    if kind == "namespace" and not has_namespaces:
        pytest.skip("no PID namespaces here")
    return kind


def read_pids(forest: Forest) -> dict[str, int]:
    file = Path(forest.attempt.folder, "pids.json")
    assert wait_until(file.exists)
    facts: dict[str, int] = json.loads(file.read_text("ascii"))
    return facts


def read_state(pid: int) -> str:
    return Path(f"/proc/{pid}/stat").read_text("ascii").rpartition(")")[2].split()[0]


def read(forest: Forest) -> str:
    return read_out(forest.attempt.folder, 0, 1 << 20).decode()


# Survivors


def check_none_is_left(forest: Forest, *, seconds: float) -> None:
    """Once the lock is free nobody is alive, but for what the kernel is just about to end."""
    assert not is_alive(forest.attempt.folder)
    assert wait_until(lambda: forest.count_living() == 0, seconds=seconds), find_marked(forest.marker)


@pytest.mark.parametrize("way", WAYS)
def test_what_an_agent_leaves_behind_ends_with_it(tmp_path: Path, contain: Contained, way: str) -> None:
    script, number = plant([way])
    forest = start(tmp_path, script, contain=contain)
    forest.wait_for(number)
    forest.let_go()
    result = forest.result()
    assert (result.stop_reason, result.exit_code, result.contained) == ("exited", 0, contain)
    assert forest.count_living() == 0
    assert result.survivors  # not how many: of a parent and a child that end together the parent may take one with it
    assert read(forest) == "done\n"


@pytest.mark.slow
def test_nothing_survives_a_deadline(tmp_path: Path, contain: Contained) -> None:
    script, number = plant(list(WAYS))
    forest = start(tmp_path, script, contain=contain, seconds=5.0)
    forest.wait_for(number)
    result = forest.result()
    assert result.stop_reason == "timeout"
    assert forest.count_living() == 0


def test_nothing_survives_a_cancel(tmp_path: Path, contain: Contained) -> None:
    script, number = plant(list(WAYS))
    forest = start(tmp_path, script, contain=contain)
    forest.wait_for(number)
    assert send_control(forest.attempt.folder, "cancel")
    result = forest.result()
    assert result.stop_reason == "cancelled"
    assert forest.count_living() == 0


def test_nothing_survives_the_shim(tmp_path: Path, contain: Contained) -> None:
    script, number = plant(list(WAYS))
    forest = start(tmp_path, script, contain=contain)
    forest.wait_for(number)
    os.kill(forest.started.pid, signal.SIGKILL)
    assert forest.wait() is None
    check_none_is_left(forest, seconds=3)
    assert find_state(forest.attempt.folder) == "lost"


def test_nothing_survives_the_keeper(tmp_path: Path, contain: Contained) -> None:
    script, number = plant(list(WAYS))
    forest = start(tmp_path, script, contain=contain)
    forest.wait_for(number)
    os.kill(read_pids(forest)["keeper"], signal.SIGKILL)
    assert forest.result().stop_reason == "crashed"
    assert forest.count_living() == 0


def test_a_keeper_that_was_stopped_ends_them_all_the_same(tmp_path: Path, contain: Contained) -> None:
    script, number = plant(["setsid", "deaf"])
    forest = start(tmp_path, script, contain=contain)
    forest.wait_for(number)
    os.kill(read_pids(forest)["keeper"], signal.SIGSTOP)
    os.kill(forest.started.pid, signal.SIGKILL)
    assert forest.wait() is None
    check_none_is_left(forest, seconds=3)


@pytest.mark.thorough("subreaper")
def test_a_shim_does_not_wait_without_a_limit_for_a_keeper_that_was_stopped(tmp_path: Path, contain: Contained) -> None:
    script, number = plant(["setsid", "deaf"])
    forest = start(tmp_path, script, contain=contain)
    forest.wait_for(number)
    keeper = read_pids(forest)["keeper"]
    os.kill(keeper, signal.SIGSTOP)
    assert wait_until(lambda: read_state(keeper) == "T")
    began = time.monotonic()
    assert send_control(forest.attempt.folder, "cancel")
    result = forest.result()
    assert time.monotonic() - began > shim.KEEPER_SECONDS, "the keeper was not stopped"
    assert (result.stop_reason, result.stuck) == ("cancelled", False)
    check_none_is_left(forest, seconds=3)


@pytest.fixture
def freezer() -> Iterator[Path]:
    """A cgroup whose processes can be frozen so that no signal ends them."""
    place = Path(f"/sys/fs/cgroup/freezer/remit-test-{os.getpid()}")
    try:
        place.mkdir()
        (place / "freezer.state").write_text("THAWED")
    except OSError:
        pytest.skip("no cgroup v1 freezer here, or no right to use it")
    yield place
    (place / "freezer.state").write_text("THAWED")
    assert wait_until(lambda: not (place / "cgroup.procs").read_text().strip())
    place.rmdir()


@pytest.mark.slow
@pytest.mark.parametrize("whole", [False, True])
@pytest.mark.thorough("subreaper", "False")
def test_a_frozen_process_does_not_hang_its_shim(
    tmp_path: Path, contain: Contained, freezer: Path, *, whole: bool
) -> None:
    """An agent that root runs freezes what it left; in the other case its keeper is frozen, too."""
    script, number = plant(["setsid"])
    forest = start(tmp_path, script, contain=contain)
    forest.wait_for(number)
    time.sleep(0.2)  # it becomes `sleep` after a moment
    frozen = [pid for pid in find_marked(forest.marker) if Path(f"/proc/{pid}/comm").read_text() == "sleep\n"]
    assert len(frozen) == 1
    frozen += [read_pids(forest)["keeper"]] * whole
    for pid in frozen:
        (freezer / "cgroup.procs").write_text(str(pid))
    (freezer / "freezer.state").write_text("FROZEN")
    assert wait_until(lambda: (freezer / "freezer.state").read_text() == "FROZEN\n")
    began = time.monotonic()
    assert send_control(forest.attempt.folder, "cancel")
    result = forest.result()
    assert shim.KEEPER_SECONDS < time.monotonic() - began < 40
    assert (result.stop_reason, result.stuck) == ("cancelled", True)
    assert set(frozen) <= {int(pid) for pid in (freezer / "cgroup.procs").read_text().split()}, "it was not frozen"
    assert find_state(forest.attempt.folder) == "finished"
    (freezer / "freezer.state").write_text("THAWED")
    assert wait_until(lambda: forest.count_living() == 0), "it survived the thaw"


def test_who_is_never_there_for_long_is_caught(tmp_path: Path, contain: Contained) -> None:
    """Each generation lives for a moment, in a session of its own, and is nobody's child but the keeper's."""
    script, number = plant(["setsid"], rabbit=True)
    forest = start(tmp_path, script, contain=contain)
    forest.wait_for(number + 1)
    forest.let_go()
    assert forest.result().stop_reason == "exited"
    time.sleep(0.1)
    assert forest.count_living() == 0


def test_a_group_ends_with_all_that_still_have_their_parents(tmp_path: Path) -> None:
    """What macOS allows: less, and the result says so."""
    script, number = plant(["plain", "setsid", "nohup"])
    forest = start(tmp_path, script, contain="group")
    forest.wait_for(number)
    assert send_control(forest.attempt.folder, "cancel")
    assert forest.result().contained == "group"
    assert forest.count_living() == 0


def test_processes_are_listed_as_ps_does() -> None:
    mine = next(each for each in shim.list_processes() if each[0] == os.getpid())
    assert mine == (os.getpid(), os.getppid(), os.getpgid(0))


@pytest.mark.skipif(not shutil.which("ps"), reason="needs ps")
def test_without_proc_a_group_ends_as_well() -> None:
    """As on macOS, where ps tells who is there. In a process of its own, as it ends all of its children."""
    probe = """
import os, subprocess, sys, time
from remit import shim
shim.list_processes = shim._run_ps
child = subprocess.Popen(["sh", "-c", "sleep 60 & setsid sleep 60 & wait"], start_new_session=True)
while len(shim.find_tree(os.getpid(), child.pid)) < 3:
    time.sleep(0.01)
mine = (os.getpid(), os.getppid(), os.getpgid(0))
is_there = mine in shim.list_processes()
print(is_there, shim.kill_tree(os.getpid(), child.pid), shim.find_tree(os.getpid(), child.pid), flush=True)
os._exit(0)
"""
    done = subprocess.run([sys.executable, "-c", probe], capture_output=True, text=True, check=False, timeout=30)
    assert done.stdout == "True 3 {}\n", done.stderr


# Time


@pytest.mark.slow
def test_a_deadline_is_met(tmp_path: Path, contain: Contained) -> None:
    script, _ = plant(["deaf"])
    for _ in range(10):  # 0.3 s is what is promised on a machine that has nothing else to do
        began = time.time()
        forest = start(tmp_path, script, contain=contain, seconds=1.0)
        result = forest.result()
        late_s = time.time() - began - 1
        assert result.stop_reason == "timeout"
        assert 0 <= result.ended_ms - int(began * 1000) - 1000 <= late_s * 1000 + 1
        if late_s < 0.5:
            break
    assert 0 <= late_s < 0.5


def test_an_agent_that_obeys_is_not_killed(tmp_path: Path) -> None:
    for _ in range(10):  # it has a tenth of a second, which is not always enough where many share the machine
        forest = start(tmp_path, "trap 'echo bye; exit 7' TERM; echo up; sleep 60 & wait")
        assert wait_until(lambda forest=forest: read(forest) == "up\n")  # type: ignore[misc] # mypy cannot tell
        assert send_control(forest.attempt.folder, "stop no budget")
        result = forest.result()
        assert (result.stop_reason, result.reason) == ("stopped", "no_budget")
        if result.exit_code is not None:
            break
    assert result.exit_code == 7
    assert read(forest) == "up\nbye\n"


def test_an_agent_whose_deadline_is_past_is_not_started(tmp_path: Path) -> None:
    forest = start(tmp_path, "touch ran", seconds=-1.0)
    result = forest.result()
    assert (result.stop_reason, result.exit_code) == ("timeout", None)
    assert not (tmp_path / "ran").exists()


def test_a_daemon_that_holds_the_output_is_not_waited_for(tmp_path: Path, contain: Contained) -> None:
    began = time.monotonic()
    forest = start(
        tmp_path, "setsid sh -c 'while :; do echo x; sleep 0.01; done' & sleep 0.1; echo done", contain=contain
    )
    result = forest.result()
    assert result.stop_reason == "exited"
    assert result.survivors
    assert "done\n" in read(forest)
    assert time.monotonic() - began < 20
    assert forest.count_living() == 0


def test_a_shim_that_is_told_to_end_ends_its_agent_first(tmp_path: Path) -> None:
    forest = start(tmp_path, "sleep 600")
    forest.wait_for(1)
    os.kill(forest.started.pid, signal.SIGTERM)
    result = forest.result()
    assert (result.stop_reason, result.reason) == ("stopped", "signal")
    assert forest.count_living() == 0


# How it ended


@pytest.mark.parametrize(
    ("script", "facts"),
    [
        pytest.param("exit 3", ("exited", 3, None), id="exit code"),
        pytest.param("kill -SEGV $$", ("crashed", None, signal.SIGSEGV), id="signal"),
        pytest.param("kill -TERM $$", ("crashed", None, signal.SIGTERM), id="as if we had ended it"),
    ],
)
def test_an_end_is_told(tmp_path: Path, script: str, facts: tuple[str, int | None, int | None]) -> None:
    result = start(tmp_path, script).result()
    assert (result.stop_reason, result.exit_code, result.signal) == facts


def test_a_program_that_is_not_there_is_told(tmp_path: Path) -> None:
    home = Home(str(tmp_path))
    attempt = make_attempt(home, "sess_1_aaaaaa", 1)
    deadline_ms = int((time.time() + 60) * 1000)
    order = ShimOrder(("no such program",), str(tmp_path), deadline_ms, {"PATH": "/bin"})
    forest = Forest(attempt, start_shim(home, attempt, order), "", "")
    result = forest.result()
    assert (result.stop_reason, result.exit_code, result.errno) == ("crashed", None, 2)


def test_a_shim_that_finds_its_work_begun_does_nothing(tmp_path: Path) -> None:
    (tmp_path / "runs").touch()
    forest = start(tmp_path, "echo ran >> runs")
    first = forest.result()
    os.mkfifo(tmp_path / "control")
    lock = os.open(forest.attempt.folder, os.O_RDONLY)
    control = os.open(tmp_path / "control", os.O_RDWR)
    command = [sys.executable, "-I", "-S", "-c", "import sys; sys.path.append(sys.argv[1]); import shim; shim.main()"]
    command += [str(Path(shim.__file__).parent), forest.attempt.folder, str(lock), str(control)]
    done = subprocess.run(command, pass_fds=(lock, control), stdin=subprocess.DEVNULL, check=False)
    os.close(lock)
    os.close(control)
    assert done.returncode == 0
    assert forest.result() == first
    assert (tmp_path / "runs").read_text() == "ran\n"


def test_an_agent_inherits_what_it_shall_and_nothing_else(tmp_path: Path, contain: Contained) -> None:
    home = Home(str(tmp_path))
    attempt = make_attempt(home, "sess_1_aaaaaa", 1)
    words = (
        "cat; ls /proc/self/fd | sort -n | tr '\\n' ' '; grep -E 'Sig(Blk|Ign)' /proc/self/status; umask; env | sort"
    )
    environ = {"PATH": os.environ["PATH"], "A": "1\n\u20ac"}
    deadline_ms = int((time.time() + 60) * 1000)
    order = ShimOrder(("sh", "-c", words), str(tmp_path), deadline_ms, environ, stdin=b"hello\n", contain=contain)
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        forest = Forest(attempt, start_shim(home, attempt, order), "", "")
    finally:
        signal.signal(signal.SIGHUP, before)
    assert forest.result().exit_code == 0
    mask = os.umask(0)
    os.umask(mask)
    text = read(forest)
    assert text.startswith("hello\n0 1 2 3 SigBlk:")  # the third is the folder that ls reads
    # 32 and 33 belong to the C library, which lets nobody change them, and make hands them on ignored.
    masks = [int(line.split()[-1], 16) & ~(0b11 << 31) for line in text.splitlines() if "Sig" in line]
    assert masks == [0, 0]
    assert f"\n{mask:04o}\n" in text
    names = {line.partition("=")[0] for line in text.splitlines() if "=" in line}
    assert names - {"_", "PWD", "SHLVL", "OLDPWD"} == {"A", "PATH"}


def test_a_flood_is_cut_and_its_end_is_kept(tmp_path: Path) -> None:
    home = Home(str(tmp_path))
    attempt = make_attempt(home, "sess_1_aaaaaa", 1)
    words = "head -c 9000000 /dev/zero | tr '\\0' x; echo the end; head -c 3000 /dev/zero >&2"
    deadline_ms = int((time.time() + 60) * 1000)
    environ = {"PATH": os.environ["PATH"]}
    order = ShimOrder(("sh", "-c", words), str(tmp_path), deadline_ms, environ, out_cap=5000, err_cap=3000)
    forest = Forest(attempt, start_shim(home, attempt, order), "", "")
    result = forest.result()
    assert (result.out_bytes, result.out_kept, result.out_cut) == (9_000_008, 5000, True)
    assert (result.err_bytes, result.err_kept, result.err_cut) == (3000, 3000, False)
    assert read(forest) == "x" * 5000
    tail = load_tail(attempt.folder, result)
    assert tail is not None
    assert tail.data.endswith(b"xxx" + b"the end\n")
    assert tail.skipped_bytes + len(tail.data) + 5000 == result.out_bytes
    assert load_tail(attempt.folder, result, stream="err") is None


@pytest.mark.slow
def test_what_never_falls_silent_is_not_listened_to_for_ever(tmp_path: Path) -> None:
    """Without a namespace a daemon may survive, and print as fast as anybody reads."""
    words = f"""
import os, sys, time
sys.path.append({str(Path(shim.__file__).parent)!r})
import shim
fields = b"cwd=/ contain=group deadline_ms=0 out_cap=100 err_cap=100 mark=/ ".replace(b" ", bytes(1))
run = shim.AgentProcess(shim.Order(fields), -1, os.pipe()[0])
run.contained, run.report, run.woken = "namespace", os.pipe()[0], os.pipe()[0]
run.sinks = [shim.Sink(os.open("/dev/zero", os.O_RDONLY), os.open("kept", os.O_WRONLY | os.O_CREAT), 100)]
run.keeper = os.posix_spawn("/bin/true", ["true"], {{}})
shim._finish(run)
print(run.sinks[0].is_open, run.sinks[0].total > 100)
"""
    done = subprocess.run([sys.executable, "-c", words], cwd=tmp_path, capture_output=True, timeout=10, check=True)
    assert done.stdout == b"True True\n"
    assert (tmp_path / "kept").read_bytes() == bytes(100)


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    place = tmp_path / "small"
    place.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", "size=256k", "tmpfs", str(place)]
    if os.geteuid() != 0 or subprocess.run(command, capture_output=True, check=False).returncode:
        pytest.skip("only who may mount can have a disk that is full")
    yield place
    subprocess.run(["umount", "--lazy", str(place)], check=True)


def test_a_result_waits_for_room_on_the_disk(small_disk: Path) -> None:
    forest = start(small_disk, "head -c 1000000 /dev/zero > filler 2>/dev/null; echo too much; exit 4")
    assert wait_until(lambda: (small_disk / "filler").exists() and forest.count_living() == 0)
    time.sleep(0.3)
    assert (small_disk / "filler").stat().st_size < 1_000_000  # the disk was full
    assert is_alive(forest.attempt.folder)
    assert find_state(forest.attempt.folder) == "alive"
    (small_disk / "filler").unlink()
    result = forest.result()
    assert (result.stop_reason, result.exit_code) == ("exited", 4)
    assert (result.out_bytes, result.out_kept, result.out_cut) == (9, 9, False)
    assert read(forest) == "too much\n"


def test_output_beyond_the_cap_waits_for_room_as_well(small_disk: Path) -> None:
    """Its end is in a file of its own, and the full disk may be met there first."""
    home = Home(str(small_disk))
    attempt = make_attempt(home, "sess_1_aaaaaa", 1)
    words = "head -c 1000000 /dev/zero > filler 2>/dev/null; head -c 30000 /dev/zero | tr '\\0' x; echo the end"
    order = ShimOrder(("sh", "-c", words), str(small_disk), int((time.time() + 60) * 1000),
                      {"PATH": os.environ["PATH"]}, out_cap=20_000)  # fmt: skip
    forest = Forest(attempt, start_shim(home, attempt, order), "", "")
    assert wait_until((small_disk / "filler").exists)
    time.sleep(1.0)
    assert (small_disk / "filler").stat().st_size < 1_000_000  # the disk was full
    assert is_alive(attempt.folder), "the shim gave up"
    assert read(forest) != "x" * 20_000
    (small_disk / "filler").unlink()
    result = forest.result()
    assert (result.out_bytes, result.out_kept) == (30_008, 20_000)
    heard: list[bytes] = []
    assert feed_output(attempt.folder, result, heard.append)
    assert b"".join(heard) == b"x" * 30_000 + b"the end\n"  # nothing is missing, and nothing is added


# Containment without being allowed to


@pytest.mark.skipif(not shutil.which("setpriv"), reason="setpriv takes privileges away")
def test_who_is_not_privileged_gets_a_namespace_by_way_of_a_user_namespace(tmp_path: Path) -> None:
    probe = f"""
import sys
sys.path.insert(0, {str(ROOT)!r})
from pathlib import Path
from torture.trees import plant, start
script, number = plant(["setsid", "deaf"])
forest = start(Path({str(tmp_path)!r}), "id -u; id -g; " + script)
forest.wait_for(number)
forest.let_go()
result = forest.result()
print(result.contained, result.exit_code, result.survivors, forest.count_living())
"""
    command = ["setpriv", "--bounding-set=-sys_admin", sys.executable, "-c", probe]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.stdout, done.stderr
    contained, code, survivors, left = done.stdout.split()
    if contained != "namespace":
        pytest.skip(f"no user namespaces here: {contained}")
    assert (code, left) == ("0", "0")
    assert int(survivors) > 0


# The torture's short form


@pytest.mark.slow
def test_trees_of_every_kind_end_in_every_way() -> None:
    command = [sys.executable, str(ROOT / "torture" / "survivors.py"), "--trees", "20", "--json"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    trees = json.loads(done.stdout)
    assert {(tree["left"], tree["grown"] > 0) for tree in trees} == {(0, True)}
    assert sum(tree["grown"] for tree in trees) > 200
    assert len({tree["end"] for tree in trees}) == 5
