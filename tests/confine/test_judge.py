"""The judge of programs: what rules deny isn't started, however it is spelled, and everything else runs as it would."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from remit.confine import find_level, make_command
from remit.confine.launcher import can_judge
from remit.confine.level import probe_level
from remit.confine.profile import Profile
from remit.hooks.shell_limits import make_command_profile
from remit.policy import Permissions
from remit.policy.program_rules import ProgramRules
from tests.support.confined_users import PATH
from tests.support.ordinary_commands import list_ordinary
from tests.support.paths import SOURCE
from tests.support.sample_sizes import choose
from torture.denied_programs import load_spellings, try_all, try_ordinary
from torture.sandbox import find_trouble
from torture.stage import spread

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from tests.support.confined_users import Caller

pytestmark = pytest.mark.skipif(not can_judge(), reason="programs aren't judged on this kind of machine")
SAMPLE, ORDINARY = choose(16, 2400), choose(12, 1000)
PACKAGE = SOURCE / "remit"
Lists = tuple[tuple[str, ...], ...]
PUSH = "git push origin main"
DENIED = """remit: '{}' is denied to this agent by its rule deny bash "{}"\n"""


@pytest.fixture(scope="module")
def package() -> Iterator[Path]:
    """A copy of what the judge loads, which every user can read."""
    folder = Path(tempfile.mkdtemp(prefix="remit-judge-")).resolve()
    folder.chmod(0o755)
    shutil.copytree(PACKAGE, folder / "remit", ignore=shutil.ignore_patterns("__pycache__", "web", "harness_files"))
    yield folder
    shutil.rmtree(folder)


class Judged:
    """A user's command under rules."""

    def __init__(self, caller: Caller, package: Path) -> None:
        self.caller, self.launcher = caller, str(package / "remit" / "confine" / "launcher.py")
        self.work = caller.make_folder("work")
        (self.work / "stubs").mkdir()
        for name in ("git", "npm", "rm", "pip3"):
            stub = self.work / "stubs" / name
            stub.write_text(f'#!/bin/sh\necho started {name} "$@"\n')
            stub.chmod(0o755)
        caller.own(self.work)
        self.env = {"PATH": f"{self.work}/stubs:{PATH}", "HOME": str(self.work)}

    def make_words(self, command: Sequence[str], *deny: str, name: str = "rules", allow: Lists = ()) -> list[str]:
        """Return the words that run a command under rules."""
        profile = Profile(write=(str(self.work),), deny=deny, allow=allow)
        place = self.caller.folder / name
        place.write_bytes(profile.render())
        return [*self.caller.prefix, self.caller.python, "-I", "-S", self.launcher, str(place), "--", *command]

    def run(self, script: str, *deny: str, allow: Lists = ()) -> subprocess.CompletedProcess[str]:
        """Run a script under rules that deny, or `allow` some."""
        return subprocess.run(
            self.make_words(["bash", "-c", script], *deny, allow=allow),
            cwd=self.work,
            env=self.env,
            capture_output=True,
            text=True,
            check=False,
            stdin=subprocess.DEVNULL,
            timeout=120,
        )


@pytest.fixture
def judged(caller: Caller, package: Path) -> Judged:
    return Judged(caller, package)


# What is denied


def test_a_denied_program_isnt_started(judged: Judged) -> None:
    ran = judged.run(f"git status; {PUSH}; echo $?; env git push -f; git commit -m push; npm install", "git push")
    assert ran.stdout == "started git status\n126\nstarted git commit -m push\nstarted npm install\n"
    assert DENIED.format(PUSH, "git push") in ran.stderr
    assert DENIED.format("git push -f", "git push") in ran.stderr
    assert ran.stderr.count("remit:") == 2, "env tries the folders of PATH, and the sentence is said once"


SPELLINGS = (
    "stubs/git push",
    "cd stubs; ../stubs/./git push",
    "ln -s stubs/git x; ./x push",
    "ln -s $PWD/stubs d; ln -s d/git y; exec 9<y; /dev/fd/9 push",
    "cp stubs/git y; ./y push",
    "/proc/self/cwd/stubs/git push",
    "/proc/self/root$PWD/stubs/git push",
    "/proc/self/../self/cwd/stubs/git push",
    "exec 9<stubs/git; /dev/fd/9 push",
    "exec 9<stubs/git; /proc/thread-self/fd/9 push",
    "sh stubs/git push",
    "bash -e stubs/git push",
    "(exec -a git-push /bin/echo started)",
    "(exec -a git /bin/echo started push)",
    "printf '#!%s/stubs/git push\\n' $PWD > s; chmod +x s; ./s",
    "printf '#!/usr/bin/env git\\n' > push; chmod +x push; ./push",
    "printf 'all:\\n\\t@git push\\n' > Makefile; make",
    'perl -e \'system("git", "push")\'',
    'python3 -c \'import os; os.execv("stubs/git", ["x", "push"])\'',
    'python3 -c \'import os; os.execve(os.open("stubs/git", 0), ["x", "push"], {})\'',
    'python3 -c \'import os; f = os.memfd_create("x"); os.write(f, open("stubs/git", "rb").read()); os.execve(f, ["x", "push"], os.environ)\'',
    'python3 -c \'import threading, os; threading.Thread(target=os.execvp, args=("git", ["git", "push"])).start()\'',
    "git -c a=b -C . push",
    "find . -maxdepth 0 -exec git push ';'",
    "echo push | xargs git",
    "unshare -Ur git push",
    "unshare -Urpf git push",
    "unshare -Urpf --mount-proc /proc/self/cwd/stubs/git push",
    "unshare -Ur chroot / stubs/git push || git push",
)


def test_files_are_found_as_the_process_finds_them(judged: Judged) -> None:
    script = "".join(f"( {each}\n) < /dev/null; rm -rf x y d s push Makefile\n" for each in SPELLINGS)
    bare = subprocess.run(
        [*judged.caller.prefix, "bash", "-c", script.replace("rm -rf", "/bin/rm -rf")],
        cwd=judged.work, env=judged.env, capture_output=True, text=True, check=False, timeout=120,
    )  # fmt: skip
    assert bare.stdout.count("started") >= len(SPELLINGS) - 4, "some need what a machine may not have"
    ran = judged.run(script.replace("rm -rf", "/bin/rm -rf"), "git push")
    assert "started" not in ran.stdout
    assert ran.stderr.count(' is denied to this agent by its rule deny bash "git push"') >= len(SPELLINGS) - 4


def test_loaders_and_modules_are_looked_through(judged: Judged) -> None:
    loader = next(iter([*Path("/lib64").glob("ld-linux*"), *Path("/lib").glob("ld-musl*")]), None)
    assert loader is not None
    script = f"{loader} /bin/date +%Y; {loader} --library-path /lib /bin/date; {loader} /bin/echo ran; python3 -m date x; python3 -Bm date; python3 -um date"
    ran = judged.run(script, "date")
    assert ran.stdout == "ran\n"
    assert ran.stderr.count("is denied to this agent") == 5


def test_a_program_with_several_names_is_known_by_the_one_that_is_used(judged: Judged) -> None:
    """Denying one applet of a file that is many programs leaves the others."""
    folder = judged.caller.make_folder("fixed")
    shutil.copy("/bin/true", folder / "many")
    for name in ("one", "two"):
        (folder / name).symlink_to("many")
    judged.caller.own(folder)
    judged.env["PATH"] = f"{folder}:{PATH}"
    script = "two && echo two; many && echo many; one; echo $?; cp $(command -v many) x; ./x; echo $?"
    ran = judged.run(script, "one")
    assert ran.stdout == "two\nmany\n126\n126\n", "a copy under another name may be the denied one"


def test_patterns_of_several_commands_arent_judged(judged: Judged) -> None:
    ran = judged.run("git fetch | cat; npm x > out; cat out", "git * | sh", "npm * > x", "git push; rm", " ")
    assert ran.stdout == "started git fetch\nstarted npm x\n"


def test_every_program_can_be_denied_but_the_command_itself(judged: Judged) -> None:
    ran = judged.run("echo builtin; /bin/echo program; git status", "*")
    assert ran.stdout == "builtin\n"
    assert ran.stderr.count("is denied") == 2


def test_many_and_long_words(judged: Judged) -> None:
    words = " ".join(f"f{number}" for number in range(20_000))
    script = f"/bin/echo {words} | wc -w; rm {words} -rf; git -c a={'x' * 100_000} push; git {'-p ' * 9000} push"
    (judged.work / "script").write_text(script)
    ran = judged.run(". ./script", "rm -r", "git push")
    assert ran.stdout == "20000\n"
    assert ran.stderr.count("is denied") == 3


# What lists allow


def test_an_allow_list_applies_to_what_shells_start(judged: Judged) -> None:
    script = "git status; npm x; env npm y; sh -c 'npm z'; xargs npm < /dev/null; ./git status; bash -c 'git status'"
    ran = judged.run(script, allow=(("git *", "cat"),))
    assert ran.stdout == "started git status\n" * 2
    assert ran.stderr.count('is not on this agent\'s list allow bash ("git *", "cat")') == 4


def test_what_an_allowed_program_starts_isnt_on_the_list(judged: Judged) -> None:
    (judged.work / "Makefile").write_text("all:\n\t@npm x\n\t@sh -c 'npm y'\n\t@(sleep 0.1; npm w) & wait\n")
    judged.caller.own(judged.work)
    ran = judged.run("make all; npm z; python3 -c 1", allow=(("make *",),))
    assert ran.stdout == "started npm x\nstarted npm y\nstarted npm w\n"
    assert ran.stderr.count("is not on this agent's list") == 2


def test_every_list_has_to_allow_and_no_rule_may_deny(judged: Judged) -> None:
    ran = judged.run("git status; git log; git push; npm x", "git log", allow=(("git *", "npm *"), ("git *",)))
    assert ran.stdout == "started git status\nstarted git push\n"
    assert judged.run("git status", allow=((),)).stdout == ""


def test_a_shell_of_the_commands_own_is_not_a_shell(judged: Judged) -> None:
    ran = judged.run("cp /bin/echo bash; ./bash started; cp /bin/echo cat; ./cat started", allow=(("cp *", "cat *"),))
    assert ran.stdout == ""


# As it would run without rules


@pytest.mark.parametrize(
    ("script", "status"), [("exit 5", 5), ("kill -9 $$", -9), ("/bin/sh -c 'kill -TERM $PPID'; sleep 9", -15)]
)
def test_the_status_is_the_commands(judged: Judged, script: str, status: int) -> None:
    words = judged.make_words(["bash", "-c", script], "git push")
    assert subprocess.run(words, check=False, env=judged.env).returncode == status


def test_the_command_has_no_other_child_and_no_descriptor_more(judged: Judged) -> None:
    script = "echo $$; ls /proc/self/fd | wc -l; ps -o comm= --ppid $$ | wc -l; echo $PPID"
    with subprocess.Popen(
        judged.make_words(["bash", "-c", script], "git push"), stdout=subprocess.PIPE, env=judged.env, text=True
    ) as process:
        said = process.communicate(timeout=60)[0].split()
    assert said == [str(process.pid), "4", "2", str(os.getpid())], "0, 1, 2 and the listing; ps and wc"


def test_output_ends_with_the_command(judged: Judged) -> None:
    """The judge has none of the command's descriptors, and lives as long as a process in the background."""
    began = time.monotonic()
    ran = judged.run("(sleep 60; git push > late 2>&1) > /dev/null 2>&1 < /dev/null & echo $!", "git push")
    assert time.monotonic() - began < 40
    judge = find_judge(judged)
    background = int(ran.stdout)

    def find_sleep() -> list[int]:
        return [
            number for number, words, parent in list_processes() if (words, parent) == (["sleep", "60"], background)
        ]

    wait_for(find_sleep)
    os.kill(find_sleep()[0], signal.SIGTERM)
    wait_for(lambda: not Path(f"/proc/{judge}").exists())
    assert "is denied" in (judged.work / "late").read_text()


def test_the_sentence_reaches_any_kind_of_standard_error(judged: Judged) -> None:
    words = judged.make_words(["bash", "-c", "echo one >&2; git push; echo two >&2"], "git push")
    out = judged.work / "out"
    with out.open("wb") as file:
        subprocess.run(words, stderr=file, env=judged.env, check=False)
    lines = out.read_text().splitlines()
    assert (lines[0], lines[1], lines[-1]) == ("one", DENIED.format("git push", "git push").rstrip(), "two")
    ours, theirs = socket.socketpair()
    with ours, theirs:
        subprocess.run(words, stderr=theirs.fileno(), env=judged.env, check=False)
        assert ours.recv(1 << 16).decode().splitlines() == lines
    closed = judged.run("git push 2>&-; git status", "git push")
    assert closed.stdout == "started git status\n"


def test_a_standard_error_that_is_full_stops_nothing(judged: Judged) -> None:
    script = "python3 -c 'import os, sys; os.set_blocking(2, False)\ntry:\n  while True: os.write(2, bytes(4096))\nexcept BlockingIOError: os.set_blocking(2, True)'; git push; git status"
    reading, writing = os.pipe()
    try:
        words = judged.make_words(["bash", "-c", script], "git push")
        with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=writing, env=judged.env, text=True) as process:
            assert process.stdout is not None
            time.sleep(1)
            os.read(reading, 1 << 20)  # what bash itself says waits for this
            assert process.stdout.read() == "started git status\n"
    finally:
        os.close(reading)
        os.close(writing)


# If it can't be judged


def list_processes() -> Iterator[tuple[int, list[str], int]]:
    """Yield the id, the words and the parent of every process."""
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                words = (entry / "cmdline").read_bytes().decode(errors="replace").split("\0")[:-1]
                yield int(entry.name), words, int((entry / "stat").read_text().rpartition(")")[2].split()[1])
            except (OSError, IndexError):
                continue


def find_judge(judged: Judged) -> int:
    """Return the process that judges: the one that still has the launcher's words."""
    return next(number for number, words, _ in list_processes() if str(judged.caller.folder / "rules") in words)


def wait_for(done: object) -> None:
    assert callable(done)
    last = time.monotonic() + 60
    while not done():
        assert time.monotonic() < last
        time.sleep(0.02)


def test_without_the_judge_no_program_is_started(judged: Judged) -> None:
    script = "read x; /bin/echo started; echo $?; echo builtin"
    words = judged.make_words(["bash", "-c", script], "git push")
    with subprocess.Popen(
        words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=judged.env
    ) as process:
        wait_for(lambda: Path(f"/proc/{process.pid}/comm").read_text() == "bash\n")
        judge = find_judge(judged)
        os.kill(judge, signal.SIGKILL)
        wait_for(lambda: not Path(f"/proc/{judge}").exists())
        out, error = process.communicate("go\n", timeout=60)
    assert (out, "Function not implemented" in error) == ("126\nbuiltin\n", True)


def test_the_command_cant_reach_the_judge(judged: Judged) -> None:
    script = f"""
for each in /proc/[0-9]*; do
    if tr '\\0' '\\n' < $each/cmdline 2>/dev/null | grep -qx {judged.caller.folder}/rules; then
        echo found; kill -9 ${{each#/proc/}}; kill -STOP ${{each#/proc/}}
        dd if=$each/mem of=/dev/null count=1; cat $each/fd/*
    fi
done; git push; git status"""
    ran = judged.run(script, "git push")
    assert ran.stdout.splitlines() == ["found", "started git status"], ran
    assert ran.stderr.count("Operation not permitted") == 2
    assert ran.stderr.count("Permission denied") >= 3


# Runs a command under a filter that lets one system call fail, as a kernel without it would.
FAIL = """
import ctypes, os, struct, sys
number, error = map(int, sys.argv[1:3])
code = [(0x20, 0, 0, 0), (0x15, 0, 1, number), (6, 0, 0, 0x50000 | error), (6, 0, 0, 0x7FFF0000)]
program = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *each) for each in code))
c = ctypes.CDLL(None)
assert c.prctl(38, 1, 0, 0, 0) == 0
assert c.prctl(22, 2, struct.pack("HxxxxxxQ", len(code), ctypes.addressof(program))) == 0
os.execv(sys.argv[3], sys.argv[3:])
"""
# Runs a command under a filter with a listener, as another program that judges would.
OTHER_JUDGE = FAIL.replace("assert c.prctl(22, 2,", "os.set_inheritable(c.syscall(317, 1, 8,").replace(
    ") == 0\nos.execv", "), True)\nos.execv"
)


@pytest.mark.parametrize(
    ("program", "failure", "reason"),
    [
        pytest.param(FAIL, (317, 22), "programs can't be judged: Invalid argument", id="seccomp"),
        pytest.param(FAIL, (434, 38), "programs can't be judged: no handle of a process: Function", id="pidfd_open"),
        pytest.param(FAIL, (438, 1), "its questions can't be taken over: Operation not permitted", id="pidfd_getfd"),
        pytest.param(OTHER_JUDGE, (9999, 1), "another program than Remit decides", id="another judge"),
    ],
)
def test_a_judge_that_cant_be_asked(judged: Judged, program: str, failure: tuple[int, int], reason: str) -> None:
    words = judged.make_words(["/bin/echo", "ran"], "git push")
    prefix, words = words[: len(judged.caller.prefix)], words[len(judged.caller.prefix) :]
    command = [*prefix, judged.caller.python, "-I", "-c", program, *map(str, failure), *words]
    ran = subprocess.run(command, capture_output=True, text=True, check=False, cwd=judged.work)
    assert (ran.returncode, ran.stdout) == (125, "")
    assert ran.stderr.startswith("remit: the command was not run: ")
    assert reason in ran.stderr


def test_rules_that_cant_be_loaded(judged: Judged, package: Path) -> None:
    broken = judged.caller.make_folder("broken")
    shutil.copytree(package / "remit" / "confine", broken / "remit" / "confine")
    words = [word.replace(str(package), str(broken)) for word in judged.make_words(["/bin/echo", "ran"], "git push")]
    ran = subprocess.run(words, capture_output=True, text=True, check=False)
    assert (ran.returncode, ran.stdout) == (125, "")
    assert "programs can't be judged: ModuleNotFoundError" in ran.stderr


CODE_32 = r"""
#include <stdio.h>
#include <unistd.h>
int main(void) {
    char *words[] = {"/bin/echo", "started", 0};
    long old, x32 = syscall(0x40000000 | 520, words[0], words, 0);
    __asm__ volatile("int $0x80" : "=a"(old) : "a"(11), "b"(words[0]), "c"(words), "d"(0) : "memory");
    printf("%ld %ld\n", x32, old);
}
"""


def test_calls_of_other_word_sizes_are_refused(judged: Judged) -> None:
    if not shutil.which("cc"):
        pytest.skip("there is no compiler")
    (judged.work / "x.c").write_text(CODE_32)
    judged.caller.own(judged.work)
    built = judged.run("cc -static -o x x.c 2>&1 || cc -o x x.c 2>&1; ./x", "git push")
    assert built.stdout.split() == ["-1", "-38"], built


# Rules inside rules


def test_rules_inside_rules_apply_together(judged: Judged) -> None:
    if judged.caller.name == "own" and os.geteuid() == 0:
        pytest.skip("the kernel gives a confined root no further namespace")
    inner = judged.make_words(["bash", "-c", "git push; npm x; git status; unshare -Ur npm y"], "npm", name="inner")
    inner = inner[len(judged.caller.prefix) :]
    allowing = judged.make_words(["sh", "-c", "git push; npm x; rm z"], name="third", allow=(("npm *",),))
    allowing = allowing[len(judged.caller.prefix) :]
    ran = judged.run(f"{' '.join(map(repr, inner))}; npm z; git push; {' '.join(map(repr, allowing))}", "git push")
    assert ran.stdout == "started git status\nstarted npm z\nstarted npm x\n", ran
    assert ran.stderr.count('by its rule deny bash "git push"') == 3
    assert ran.stderr.count('by its rule deny bash "npm"') == 2
    assert ran.stderr.count('list allow bash ("npm *")') == 1


def test_rules_cant_be_added_to_the_outer_command(judged: Judged) -> None:
    ran = judged.run("(exec /remit/rules deny=npm) 2>/dev/null; npm x", "git push")
    assert ran.stdout == "started npm x\n"


# From permissions


@pytest.mark.skipif(not find_level().has_judge, reason="programs aren't judged here")
@pytest.mark.parametrize("judges", [True, False])
def test_permissions_of_all_layers_apply_to_a_command(tmp_path: Path, *, judges: bool) -> None:
    layers = (
        Permissions(deny={"bash": ("git push", "cut * | sh")}, allow={"bash": ("git *", "ls *", "uname *")}),
        Permissions(deny={"bash": ("uname -s",)}, allow={"bash": ("*",)}),
    )
    rules = {"mode": "auto", "write": [], "network": "all", "reason": "", "judge": judges}
    root = str(tmp_path / "work")
    Path(root).mkdir()
    profile, _, sentences = make_command_profile(layers, root, {"HOME": str(tmp_path), "PATH": PATH}, rules)
    place = tmp_path / "profile"
    place.write_bytes(profile.render())
    script = "git --version; git push; uname -s; uname -m; ls -d /; cat /dev/null; echo builtin"
    ran = subprocess.run(
        make_command(str(place), ["bash", "-c", script]), capture_output=True, text=True, check=False, cwd=root
    )
    said = [line.partition(" is ")[2] for line in ran.stderr.splitlines() if line.startswith("remit: ")]
    assert (
        said
        == [
            'denied to this agent by its rule deny bash "git push"',
            'denied to this agent by its rule deny bash "uname -s"',
            'not on this agent\'s list allow bash ("git *", "ls *", "uname *")',
        ][: 3 if judges else 0]
    )
    assert ran.stdout.endswith("builtin\n")
    assert ("Linux" in ran.stdout) is not judges
    assert any("programs aren't judged when they start" in each for each in sentences) is not judges
    assert any('deny bash "cut * | sh"' in each for each in sentences)


# Levels, spellings and ordinary work


def test_the_level_says_whether_programs_are_judged() -> None:
    level = probe_level()
    if not level.has_files:
        pytest.skip("; ".join(level.reasons))
    assert level.has_judge, level.reasons
    assert any("words of a program" in each for each in level.list_open())
    assert any("that rules deny can be started" in each for each in level._replace(has_judge=False).list_open())


def test_a_rule_concerns_no_more_programs_than_it_has_to() -> None:
    rules = ProgramRules(("git push", "/usr/bin/rm -rf", "curl:*", "curl * | sh"), ())
    assert rules.programs == ["git", "rm", "curl"]
    assert [
        name for name in ("git", "git-push", "unlink", "RM", "curl", "bash", "ls", "gitk", "sh") if rules.concern(name)
    ] == [
        "git",
        "git-push",
        "unlink",
        "RM",
        "curl",
    ]
    assert rules.find_denied(["git"], ["git", "p", "origin"]) == "", "git starts itself for an alias"
    assert rules.find_denied(["git-upload-pack"], ["git-upload-pack", "../origin"]) == "", "git fetch starts it"
    assert rules.find_denied(["git-push"], ["git-push", "origin"]) == "git push"
    assert rules.find_denied(["git"], ["git", "send-pack", "../origin", "HEAD"]) == "git push"
    assert rules.find_denied(["git"], ["git", "-c", "alias.p=push", "push"]) == "git push"
    assert ProgramRules(("git*",), ()).concern("anything")


@pytest.mark.skipif(bool(find_trouble()), reason="boxes can't be made")
@pytest.mark.slow
def test_spellings_of_denied_programs_are_stopped(tmp_path: Path) -> None:
    spellings = load_spellings()
    assert len({each.script for each in spellings}) >= 1000
    assert len({each.kind for each in spellings}) >= 40
    assert len([each for each in spellings if each.limit]) < 10
    told = try_all(spread(spellings, SAMPLE), tmp_path, 2)
    assert [each.spelling.name for each in told if not each.bare] == []
    assert [each.spelling.name for each in told if each.judged and not each.spelling.limit] == []


@pytest.mark.skipif(bool(find_trouble()), reason="boxes can't be made")
@pytest.mark.slow
def test_ordinary_work_is_left_alone(tmp_path: Path) -> None:
    assert try_ordinary(spread(list_ordinary(), ORDINARY), tmp_path, 2) == []
