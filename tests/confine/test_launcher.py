"""The launcher: a confined command runs as it would bare, and no failure runs it without its limits."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from remit.confine.launcher import END, HEADER
from remit.confine.profile import Profile
from tests.support.confined_users import FAIL, LAUNCHER, PATH, USER

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.support.confined_users import Caller

GIT = "export HOME=$PWD GIT_AUTHOR_NAME=n GIT_AUTHOR_EMAIL=a@b.invalid GIT_COMMITTER_NAME=n GIT_COMMITTER_EMAIL=a@b.invalid"
ORDINARY = (
    "git init -q . && echo 1 > f && git add f && git commit -qm 1",
    "git checkout -qb other && echo 2 > f && git commit -qam 2 && git checkout -q - && git merge -q other",
    "git stash list && git tag v1 && git branch -d other && git gc -q && git fsck",
    "git worktree add -q wt && git worktree remove wt",
    "git rebase -q HEAD~1 && git log --oneline | head -1 && git diff HEAD~1 | cat && git clean -fdq -e locked -e out",
    "printf 'all: t.o\\nt.o: t.c\\n\\tcc -c t.c\\n' > Makefile && echo 'int x;' > t.c && make -s",
    "echo 'int main(){return 0;}' > m.c && cc m.c -o m && ./m",
    "mkdir -p p && echo 'x = 1' > p/a.py && python3 -m compileall -q p && python3 -c 'import p.a'",
    "python3 -c 'import multiprocessing as m; print(m.Pool(2).map(str, [1]))'",
    'python3 -c \'import sqlite3; sqlite3.connect("x.db").execute("create table t(x)")\'',
    "python3 -c 'import tempfile; tempfile.TemporaryFile(dir=\".\")'",
    "tar czf x.tgz p && tar xzf x.tgz && cp -r p p2 && mv p2 p3 && rm -rf p3",
    "sed -i s/1/2/ p/a.py && perl -pi -e s/2/3/ p/a.py && grep -q 3 p/a.py && find . -name '*.o' -delete",
    "mkfifo pipe && (echo hi > pipe &) && cat pipe && ln -s p link && ln p/a.py hard && touch -d 2001-01-01 hard",
    "ps > list && test -s list && cat /proc/self/status > /dev/null && head -c4 /dev/urandom > random",
    "script -qec 'echo hi; tty' /dev/null",
    "echo x > /dev/shm/x && cat < /dev/zero | head -c1 > /dev/null && echo x > /dev/stdout",
    "nohup sleep 0.01 > /dev/null 2>&1 & wait; (trap 'exit 0' TERM; kill $BASHPID)",
    "mktemp -p . && install -m 755 f g && chmod 600 f && truncate -s 3 f && dd if=f of=g status=none",
    "bash -ic true < /dev/null; test $? = 0",
    "python3 -c 'import socket; s = socket.socketpair(); u = socket.socket(socket.AF_UNIX); u.bind(\"s\")'",
)


@pytest.fixture
def work(caller: Caller) -> Path:
    return caller.make_folder("work")


def start(caller: Caller, profile: Profile | bytes, *command: str) -> subprocess.CompletedProcess[str]:
    words = caller.make_words(profile, command)
    return subprocess.run(words, capture_output=True, text=True, check=False, env={"PATH": PATH}, timeout=60)


# As it would bare


def test_ordinary_commands_work(caller: Caller, work: Path) -> None:
    scripts = caller.make_folder("scripts")
    for number, script in enumerate(ORDINARY):
        (scripts / f"{number:02}").write_text(script)
    (work / "locked").touch()
    loop = f"for each in {scripts}/*; do bash -e $each > out 2>&1 || {{ echo FAILED; cat $each out; }}; done"
    ran = caller.run(Profile(write=(str(work),), protect=(f"{work}/locked",)), f"{GIT}; {loop}", cwd=work)
    assert (ran.stdout, ran.stderr) == ("", "")


@pytest.mark.slow
def test_an_environment_can_be_made(caller: Caller, work: Path) -> None:
    script = "python3 -m venv --without-pip env && env/bin/python -c 'import sys; assert sys.prefix.endswith(\"env\")'"
    ran = caller.run(Profile(write=(str(work),)), script, cwd=work)
    assert ran.returncode == 0, ran


@pytest.mark.parametrize(
    ("script", "status"), [("exit 0", 0), ("exit 5", 5), ("kill -9 $$", -9), ("kill -TERM $$", -15)]
)
def test_the_status_is_the_commands(caller: Caller, script: str, status: int) -> None:
    words = caller.make_words(Profile(), ["bash", "-c", script])
    assert subprocess.run(words, check=False).returncode == status


def test_a_command_that_cant_be_executed(caller: Caller, work: Path) -> None:
    (work / "text").write_text("x")
    ran = start(caller, Profile(), "no-such-program")
    assert (ran.returncode, ran.stderr) == (127, "remit: the command was not run: 'no-such-program' isn't found\n")
    ran = start(caller, Profile(), str(work / "text"))
    assert (ran.returncode, "can't be executed: Permission denied" in ran.stderr) == (126, True)


def test_process_folder_environment_and_streams_stay(caller: Caller, work: Path) -> None:
    look = 'echo $$; pwd; env | sort; id -u; cat; read line <&5; echo "$line"; echo error >&2; echo "$@"'
    script = f'cd {work}; echo $$; exec 5<<< five; exec env -i A=1 "B=x\ny" PATH={PATH} "$@"'
    words = caller.make_words(Profile(write=(str(work),)), ["bash", "-c", look, "bash", "a b", "", "*"])
    prefix, words = words[: len(caller.prefix)], words[len(caller.prefix) :]
    bare = ["bash", "-c", look, "bash", "a b", "", "*"]
    said = []
    for each in (words, bare):
        command = [*prefix, "bash", "-c", script, "bash", *each]
        ran = subprocess.run(command, input="typed\n", capture_output=True, text=True, check=True)
        lines = ran.stdout.splitlines()
        assert lines[0] == lines[1], "the process is another one"
        said.append((lines[2:], ran.stderr))
    assert said[0] == said[1]
    assert "typed" in said[0][0]


def test_signals_of_the_interpreter_are_undone(caller: Caller) -> None:
    script = "grep -E 'Sig(Blk|Ign|Cgt)' /proc/self/status"
    bare, confined = caller.run_bare(script), caller.run(Profile(), script)
    assert bare.stdout == confined.stdout
    assert caller.run(Profile(), "yes | head -1").stderr == ""


def test_background_processes_stay_confined_and_alive(caller: Caller, work: Path) -> None:
    (work / "locked").touch()
    script = f"(sleep 0.3; echo x > {work}/locked; echo x > {work}/done) > /dev/null 2>&1 &"
    began = time.monotonic()
    ran = caller.run(Profile(write=(str(work),), protect=(f"{work}/locked",)), script)
    assert ran.returncode == 0
    while not (work / "done").exists():
        assert time.monotonic() < began + 60
        time.sleep(0.02)
    assert (work / "locked").read_text() == ""


def test_no_capability_is_left(caller: Caller) -> None:
    ran = caller.run(Profile(), "grep -E 'Cap|NoNewPrivs|Seccomp:' /proc/self/status; id -u; id -g")
    found = dict(line.split(":\t") for line in ran.stdout.splitlines() if ":" in line)
    assert {found[name] for name in ("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb")} == {"0" * 16}
    assert (found["NoNewPrivs"], found["Seccomp"]) == ("1", "2")
    assert ran.stdout.split()[-2:] == caller.run_bare("id -u; id -g").stdout.split()


def test_a_profile_can_be_inherited(caller: Caller, work: Path) -> None:
    words = caller.make_words(Profile(write=(str(work),)), ["bash", "-c", f"touch {work}/x; ls /proc/self/fd | wc -l"])
    place = caller.folder / "profile"
    words = [f"fd:{7}" if word == str(place) else word for word in words]
    prefix, words = words[: len(caller.prefix)], words[len(caller.prefix) :]
    script = f'exec 7< {place}; exec "$@"'
    ran = subprocess.run([*prefix, "bash", "-c", script, "bash", *words], capture_output=True, text=True, check=False)
    assert (work / "x").exists()
    assert ran.stdout.strip() == "4", "0, 1, 2 and the listing: the profile's descriptor is closed"


# What the profile says


def test_only_writable_paths_can_be_written(caller: Caller, work: Path) -> None:
    other = caller.make_folder("other")
    (other / "file").touch()
    caller.own(other)
    profile = Profile(write=(str(work), f"{other}/file"))
    script = (
        f"cd {work}; echo x > new && echo x > {other}/file && ! echo x > {other}/new && ! touch ~ && ! touch /tmp/x-$$"
    )
    ran = caller.run(profile, script, env={"PATH": PATH, "HOME": str(caller.folder)})
    assert ran.returncode == 0, ran
    assert (other / "file").read_text() == "x\n"


def test_everything_can_be_writable_but_protected_paths(caller: Caller, work: Path) -> None:
    (work / "conf").mkdir()
    (work / "conf" / "locked").touch()
    caller.own(work)
    script = "echo x > new; echo x > conf/locked; mv conf c2; mv ../work ../w2; ls; cat conf/locked"
    ran = caller.run(Profile(write=("/",), protect=(f"{work}/conf/locked",)), script, cwd=work)
    assert ran.stdout.split() == ["conf", "new"], ran


def test_hidden_paths_look_empty(caller: Caller, work: Path) -> None:
    (work / "secret").mkdir()
    (work / "secret" / "key").write_text("key")
    (work / "token").write_text("token")
    caller.own(work)
    hide = (f"{work}/secret", f"{work}/secret/key", f"{work}/token", f"{work}/missing")
    script = "ls -A secret; cat token; echo x > secret/new; echo x > token; chmod 777 token secret; rm -rf secret token; mv secret s"
    ran = caller.run(Profile(write=(str(work),), hide=hide), script, cwd=work)
    assert ran.stdout == ""
    assert ((work / "secret" / "key").read_text(), (work / "token").read_text()) == ("key", "token")
    assert (work / "token").stat().st_mode & 0o777 == 0o644


def test_changes_in_a_private_folder_end_with_the_command(caller: Caller, work: Path) -> None:
    """A writable folder inside a private one stays what it is."""
    (work / "inner" / "deep").mkdir(parents=True)
    (work / "old").write_text("old\n")
    (work / "gone").mkdir()
    caller.own(work)
    profile = Profile(write=(f"{work}/inner/deep",), private=(str(work),))
    ran = caller.run(
        profile,
        f"cd {work}; ls; cat old; echo x > new && echo x > old && echo x > inner/deep/kept && cat new old; "
        "rmdir gone && mkdir gone && echo x > gone/new; echo x > ../out",
        cwd=caller.folder,
    )
    assert ran.stdout == "gone\ninner\nold\nold\nx\nx\n", ran
    assert sorted(path.name for path in work.rglob("*")) == ["deep", "gone", "inner", "kept", "old"]
    assert (work / "old").read_text() == "old\n"
    assert not (work.parent / "out").exists()


def test_a_path_is_replaced_and_one_in_a_protected_folder_is_reopened(caller: Caller, work: Path) -> None:
    for name in ("conf/open", "other"):
        (work / name).mkdir(parents=True)
    (work / "shown").write_text("shown\n")
    (work / "conf" / "file").write_text("old\n")
    caller.own(work)
    profile = Profile(
        write=(str(work),), protect=(f"{work}/conf",), reopen=(f"{work}/conf/open",), private=(f"{work}/other",),
        replace=((f"{work}/shown", f"{work}/conf/file"), (f"{work}/shown", f"{work}/other/a/file")),
    )  # fmt: skip
    script = (
        "cat conf/file other/a/file; for f in conf/file conf/new other/a/file; do echo x > $f && echo $f; done 2>/dev/null; "
        "echo x > conf/open/new; mv conf/open conf/o; mv conf c; true"
    )
    ran = caller.run(profile, script, cwd=work)
    assert ran.stdout == "shown\nshown\n", ran
    assert [(work / name).read_text() for name in ("conf/file", "shown", "conf/open/new")] == [
        "old\n",
        "shown\n",
        "x\n",
    ]
    assert not [*(work / "other").iterdir()]


def test_memory_files_are_private(caller: Caller) -> None:
    name = f"remit-test-{os.getpid()}"
    ran = caller.run(Profile(), f"echo x > /dev/shm/{name} && cat /dev/shm/{name}; ls /dev/shm")
    assert ran.stdout.split() == ["x", name]
    assert not Path(f"/dev/shm/{name}").exists()  # noqa: S108 - that of the machine


def test_a_profile_inside_a_profile_adds_limits(caller: Caller, work: Path) -> None:
    (work / "a").mkdir()
    (work / "b").mkdir()
    caller.own(work)
    other = caller.make_folder("other")
    inner = caller.folder / "inner"
    inner.write_bytes(Profile(write=(f"{work}/a", str(other))).render())
    command = f"{caller.python} -I -S {caller.folder}/launcher.py {inner} -- bash -c"
    remount = f'unshare -Urm sh -c "mount -o remount,rw,bind / /; echo x > {work}/b/x"'
    lines = f"echo x > {work}/a/x; echo x > {work}/b/x; echo x > {other}/x; {remount}; kill -0 {os.getpid()}; echo ran"
    ran = caller.run(Profile(write=(str(work),)), f"{command} '{lines}'")
    assert ran.stdout == "ran\n", ran
    assert f"({os.getpid()}) - Operation not permitted" in ran.stderr
    assert [path.exists() for path in (work / "a" / "x", work / "b" / "x", other / "x")] == [True, False, False]


def test_a_missing_protected_path_is_skipped(caller: Caller, work: Path) -> None:
    profile = Profile(write=(str(work),), protect=(f"{work}/no", f"{work}/no/such/file", f"{work}/file/below"))
    (work / "file").touch()
    assert caller.run(profile, f"touch {work}/ok").returncode == 0


def test_many_paths(caller: Caller, work: Path) -> None:
    for number in range(300):
        (work / f"d{number}" / "e").mkdir(parents=True)
        (work / f"d{number}" / "e" / "f").touch()
    caller.own(work)
    profile = Profile(write=(str(work),), protect=tuple(f"{work}/d{number}/e/f" for number in range(300)))
    ran = caller.run(profile, "for f in */e/f; do echo x > $f; done 2>/dev/null; rm -rf *; cat */e/f", cwd=work)
    assert ran.stdout == ""
    assert len(list(work.glob("*/e/f"))) == 300


# Network


@pytest.fixture
def ports() -> Iterator[tuple[int, int]]:
    """Two ports that listen, of which a profile allows the first."""
    with socket.create_server(("127.0.0.1", 0)) as one, socket.create_server(("127.0.0.1", 0)) as two:
        yield one.getsockname()[1], two.getsockname()[1]


CONNECT = """
import socket, sys
allowed, other = map(int, sys.argv[1:])
def attempt(name, work):
    try:
        work()
    except OSError as error:
        print(name, error.strerror)
    else:
        print(name, "ok")
def fast_open():
    s = socket.socket()
    s.sendto(b"x", 0x20000000, ("127.0.0.1", other))
def fast_open_message():
    s = socket.socket()
    s.sendmsg([b"x"], [], 0x20000000, ("127.0.0.1", other))
attempt("allowed", lambda: socket.create_connection(("127.0.0.1", allowed)))
attempt("other", lambda: socket.create_connection(("127.0.0.1", other)))
attempt("mptcp", lambda: socket.socket(socket.AF_INET, socket.SOCK_STREAM, 262).connect(("127.0.0.1", other)))
attempt("fast open", fast_open)
attempt("fast open message", fast_open_message)
attempt("udp", lambda: socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b"x", ("127.0.0.1", 9)))
attempt("udp6", lambda: socket.socket(socket.AF_INET6, socket.SOCK_DGRAM))
attempt("vsock", lambda: socket.socket(40, socket.SOCK_STREAM))
attempt("netlink", lambda: socket.socket(16, socket.SOCK_RAW, 0))
attempt("unix", lambda: socket.socket(socket.AF_UNIX))
attempt("pair", lambda: socket.socketpair())
"""
DENIED = "Operation not permitted"


def connect(caller: Caller, profile: Profile, ports: tuple[int, int]) -> dict[str, str]:
    ran = start(caller, profile, caller.python, "-I", "-c", CONNECT, *map(str, ports))
    found = {}
    for line in ran.stdout.splitlines():
        name = next(each for each in sorted(NAMES, key=len, reverse=True) if line.startswith(f"{each} "))
        found[name] = line.removeprefix(f"{name} ")
    assert found.keys() == NAMES, ran
    return found


NAMES = {
    "allowed",
    "other",
    "mptcp",
    "fast open",
    "fast open message",
    "udp",
    "udp6",
    "vsock",
    "netlink",
    "unix",
    "pair",
}


def test_no_network(caller: Caller, ports: tuple[int, int]) -> None:
    found = connect(caller, Profile(network="none"), ports)
    assert (found.pop("unix"), found.pop("pair")) == ("ok", "ok")
    assert {*found.values()} == {DENIED}


def test_ports(caller: Caller, ports: tuple[int, int]) -> None:
    bare = connect(caller, Profile(network="all"), ports)
    assert (bare["allowed"], bare["other"], bare["udp"]) == ("ok", "ok", "ok")
    found = connect(caller, Profile(network="ports", ports=ports[:1]), ports)
    assert {name for name, said in found.items() if said == "ok"} == {
        name for name in ("allowed", "udp", "udp6", "netlink", "unix", "pair") if bare[name] == "ok"
    }
    assert (found["other"], found["mptcp"], found["vsock"]) == ("Permission denied", DENIED, DENIED)
    assert found["fast open"] == found["fast open message"] == "Operation not supported"


def test_io_uring_is_closed_with_the_network(caller: Caller) -> None:
    look = (
        "import ctypes; c = ctypes.CDLL(None, use_errno=True); c.syscall(425, 1, bytes(120)); print(ctypes.get_errno())"
    )
    for network in ("none", "ports"):
        assert start(caller, Profile(network=network), caller.python, "-c", look).stdout == "38\n"


def test_abstract_sockets_stay_inside(caller: Caller) -> None:
    name = f"remit-test-{os.getpid()}"
    look = f"import socket; socket.socket(socket.AF_UNIX).connect(chr(0) + {name!r})"
    with socket.socket(socket.AF_UNIX) as served:
        served.bind(f"\0{name}")
        served.listen()
        assert "PermissionError" in start(caller, Profile(), caller.python, "-c", look).stderr
        assert start(caller, Profile(keeps_inside=False), caller.python, "-c", look).returncode == 0


# What can't be done isn't done


def refuse(ran: subprocess.CompletedProcess[str]) -> str:
    """Return the reason why a command wasn't run."""
    assert (ran.returncode, ran.stdout) == (125, ""), ran
    [line] = ran.stderr.splitlines()
    assert line.startswith("remit: the command was not run: ")
    return line.removeprefix("remit: the command was not run: ")


def test_paths_that_mounts_cant_enforce(caller: Caller, work: Path) -> None:
    (work / "real").mkdir()
    (work / "real" / "file").touch()
    (work / "link").symlink_to("real")
    (work / "dangling").symlink_to("nothing")
    root = str(work)
    link = "is a symbolic link, and a link can't be protected"
    for profile, reason in (
        (Profile(write=(root,), protect=(f"{root}/link",)), f"'{root}/link' {link}"),
        (Profile(write=(root,), protect=(f"{root}/dangling",)), f"'{root}/dangling' {link}"),
        (Profile(write=(root,), protect=(f"{root}/link/file",)), f"'{root}/link' {link}"),
        (Profile(write=(root,), hide=(f"{root}/link/file",)), f"'{root}/link' {link}"),
        (Profile(write=(f"{root}/link",)), f"'{root}/link' {link}"),
        (Profile(write=(f"{root}/missing",)), f"the writable path '{root}/missing' doesn't exist"),
        (Profile(private=(f"{root}/missing",)), f"the path '{root}/missing' doesn't exist"),
        (Profile(private=(f"{root}/link",)), f"'{root}/link' {link}"),
        (Profile(replace=((f"{root}/missing", root),)), f"the path '{root}/missing' doesn't exist"),
        (
            Profile(replace=((root, f"{root}/missing"),)),
            f"'{root}/missing' can't be mounted: No such file or directory",
        ),
        (Profile(reopen=(f"{root}/missing",)), f"the path '{root}/missing' doesn't exist"),
    ):
        assert refuse(start(caller, profile, "echo", "ran")) == reason


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"", "the profile is truncated"),
        (b"\0".join([HEADER, b"network=all", b"scope=all"]), "the profile is truncated"),
        (b"\0".join([HEADER, b"network=all", b"scope=all", END]), "the profile is truncated"),
        (b"\0".join([b"remit-profile=2", b"network=all", b"scope=all", END, b""]), "the profile is truncated"),
        (b"\0".join([HEADER, b"network=all", END, b""]), "the profile doesn't say which network"),
        (b"\0".join([HEADER, b"network=some", b"scope=all", END, b""]), "the profile doesn't say which network"),
        (b"\0".join([HEADER, b"source=/a", b"network=all", b"scope=all", END, b""]), "a source without a target"),
        (b"\0".join([HEADER, b"network=all", b"network=none", b"scope=all", END, b""]), "an unknown field"),
        (b"\0".join([HEADER, b"nonsense=1", b"network=all", b"scope=all", END, b""]), "an unknown field"),
        (b"\0".join([HEADER, b"port=99999", b"network=all", b"scope=all", END, b""]), "an unknown field"),
        (b"\0".join([HEADER, b"write=relative", b"network=all", b"scope=all", END, b""]), "isn't absolute and normal"),
        (b"\0".join([HEADER, b"write=/a/../b", b"network=all", b"scope=all", END, b""]), "isn't absolute and normal"),
        (b"\0".join([HEADER, b"write=/tmp", b"protect=/", b"network=all", b"scope=all", END, b""]), "is inside '/'"),
        (b"\0".join([HEADER, b"protect=/" + b"x" * (1 << 20), b"network=all", END, b""]), "the profile is too long"),
    ],
)  # fmt: skip
@pytest.mark.thorough("unprivileged")
def test_a_profile_that_isnt_valid(caller: Caller, data: bytes, reason: str) -> None:
    assert reason in refuse(start(caller, data, "echo", "ran"))


def test_a_profile_that_isnt_there(caller: Caller) -> None:
    words = caller.make_words(Profile(), ["echo", "ran"])
    (caller.folder / "profile").unlink()
    ran = subprocess.run(words, capture_output=True, text=True, check=False)
    assert refuse(ran).startswith("the profile can't be read")
    ran = subprocess.run(words[:-3], capture_output=True, text=True, check=False)
    assert refuse(ran).startswith("usage:")


@pytest.mark.skipif(os.uname().machine != "x86_64", reason="the numbers of system calls are those of x86-64")
@pytest.mark.parametrize(
    ("failure", "reason"),
    [
        pytest.param((272, 28, -1, 0), "no user and mount namespace: No space left on device", id="unshare ENOSPC"),
        pytest.param((272, 1, -1, 0), "no user and mount namespace: Operation not permitted", id="unshare EPERM"),
        pytest.param((442, 38, -1, 0), "made read-only: Function not implemented", id="mount_setattr"),
        pytest.param((428, 38, -1, 0), "can't be mounted: Function not implemented", id="open_tree"),
        pytest.param((429, 1, -1, 0), "can't be mounted: Operation not permitted", id="move_mount"),
        pytest.param((165, 1, -1, 0), "can't be mounted: Operation not permitted", id="mount"),
        pytest.param((444, 38, -1, 0), "Landlock version 6, and the kernel has none", id="landlock_create_ruleset"),
        pytest.param((445, 22, -1, 0), "Landlock can't be set up: Invalid argument", id="landlock_add_rule"),
        pytest.param((446, 7, -1, 0), "Landlock can't be set up: Argument list too long", id="landlock_restrict_self"),
        pytest.param((126, 1, -1, 0), "the capabilities can't be dropped", id="capset"),
        pytest.param((157, 1, 0, 24), "the capabilities can't be dropped", id="prctl bounding"),
        pytest.param((157, 22, 0, 38), "the capabilities can't be dropped", id="prctl no_new_privs"),
        pytest.param((157, 22, 0, 22), "seccomp can't be set up: Invalid argument", id="prctl seccomp"),
        pytest.param((80, 13, -1, 0), "the working directory can't be entered", id="chdir"),
    ],
)
@pytest.mark.thorough("unprivileged")
def test_a_step_that_fails(caller: Caller, work: Path, failure: tuple[int, int, int, int], reason: str) -> None:
    """`failure`: the number of a system call, the error, and which of its arguments has which value, if not -1."""
    profile = Profile(write=(str(work),), hide=(str(work / "x"),), network="ports", ports=(443,))
    (work / "x").mkdir()
    words = caller.make_words(profile, ["/bin/echo", "ran"])
    prefix, words = words[: len(caller.prefix)], words[len(caller.prefix) :]
    numbers = [str(each) for each in failure]
    command = [*prefix, caller.python, "-I", "-c", FAIL, *numbers, *words]
    ran = subprocess.run(command, capture_output=True, text=True, check=False, cwd=work)
    assert reason in refuse(ran)


def test_other_terminals_cant_be_reached(caller: Caller) -> None:
    """Writing to a terminal shows what it likes there, and reading from it takes what the user types."""
    inner, outer = os.openpty()
    try:
        name = os.ttyname(outer)
        os.chown(name, USER if caller.prefix else os.geteuid(), -1)
        os.set_blocking(inner, False)
        script = f"echo spoofed > {name}"
        assert caller.run(Profile(), script).returncode != 0
        with pytest.raises(BlockingIOError):
            os.read(inner, 100)
        caller.run_bare(script)
        assert os.read(inner, 100) == b"spoofed\r\n"
    finally:
        os.close(inner)
        os.close(outer)


def test_no_namespaces_left(caller: Caller) -> None:
    """The kernel's own limit, in a user namespace of its own."""
    script = 'echo 0 > /proc/sys/user/max_user_namespaces && echo 0 > /proc/sys/user/max_mnt_namespaces && exec "$@"'
    words = caller.make_words(Profile(), ["echo", "ran"])
    prefix, words = words[: len(caller.prefix)], words[len(caller.prefix) :]
    command = [*prefix, "unshare", "-Ur", "bash", "-c", script, "bash", *words]
    ran = subprocess.run(command, capture_output=True, text=True, check=False)
    if "bash: line" in ran.stderr:
        pytest.skip(ran.stderr.strip())
    assert refuse(ran).endswith("No space left on device")


def test_an_interrupt_before_the_command_runs_nothing(caller: Caller) -> None:
    words = caller.make_words(Profile(), ["echo", "ran"])
    (caller.folder / "profile").unlink()
    os.mkfifo(caller.folder / "profile")
    caller.own(caller.folder)
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        time.sleep(0.3)
        process.terminate()
        said = process.communicate(timeout=30)
    assert (process.returncode, said) == (-15, (b"", b""))


def test_the_launcher_loads_little() -> None:
    look = "import sys; sys.path.append(sys.argv[1]); before = {*sys.modules}; import launcher; print(*{*sys.modules} - before)"
    folder = str(LAUNCHER.parent)
    ran = subprocess.run([sys.executable, "-I", "-S", "-c", look, folder], capture_output=True, text=True, check=True)
    assert {*ran.stdout.split()} <= {"launcher", "__future__"}
