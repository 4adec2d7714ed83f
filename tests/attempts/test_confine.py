"""A confined agent: it works in its folder, and changes nothing there that decides about agents or runs outside."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from remit import shim
from remit.attempts.confine import BLANK_NS, Confinement, ReadOnlyPath, confine
from remit.confine import command, find_level
from remit.errors import RunnerError
from remit.policy.protected_paths import GIT_PLACES, PROTECTED, list_places
from tests.support.confined_users import LAUNCHER, find_python

if TYPE_CHECKING:
    from collections.abc import Iterator

LEVEL = find_level()
pytestmark = pytest.mark.skipif(not LEVEL.has_files, reason="the kernel confines nothing here")

USERS = [0, 1000] if os.getuid() == 0 else [os.getuid()]
GIT = ["git", "-c", "user.name=A", "-c", "user.email=a@example.org", "-c", "init.defaultBranch=main"]


class Site:
    """A workspace in a home folder, both of one user, and a harness that keeps its state in that home."""

    def __init__(self, base: Path, user: int) -> None:
        self.base, self.user = base, user
        self.home, self.root = base / "home", base / "home" / "project"
        self.attempt = self.root / ".remit" / "attempt"
        self.attempt.mkdir(parents=True)
        (self.home / ".claude" / "projects").mkdir(parents=True)
        (self.home / ".claude" / "shell-snapshots").mkdir()
        (self.home / ".claude" / "session-env").mkdir()
        (self.home / ".claude" / "shell-snapshots" / "other.sh").write_text("# of another session\n")
        shutil.copy(LAUNCHER, base)
        self.python = find_python(user)
        self.outside("git init -q . && git commit -q --allow-empty -m first")

    def own(self) -> None:
        """Give everything to the user."""
        for path in [self.base, *self.base.rglob("*")]:
            os.chown(path, self.user, self.user, follow_symlinks=False)

    def outside(self, script: str) -> str:
        """Run a script as the one who runs the tests, and who trusts the workspace."""
        environ = os.environ | {"HOME": str(self.home), "GIT_CONFIG_GLOBAL": os.devnull}
        for name, value in (("NAME", "A"), ("EMAIL", "a@example.org")):
            environ |= {f"GIT_AUTHOR_{name}": value, f"GIT_COMMITTER_{name}": value}
        words = ["sh", "-ec", script]
        return subprocess.run(words, cwd=self.root, env=environ, capture_output=True, text=True, check=True).stdout

    def plan(self, harness: str = "claude") -> Confinement:
        """What a run of a harness is confined by."""
        places, private = list_places(str(self.root), str(self.home), harness, {})
        git = tuple(ReadOnlyPath(*each) for each in GIT_PLACES)
        return Confinement(
            str(self.root),
            (f"{self.home}/.claude",),
            tuple(ReadOnlyPath(*each) for each in places),
            git,
            tuple(private),
        )

    def run(self, script: str, *, meanwhile: str = "") -> str:
        """Run a script confined as the user, with the blanks that a shim makes; what it printed."""
        self.own()
        out = self.base / "printed"
        pid = os.fork()
        if pid == 0:
            try:
                self.run_here(script, out, meanwhile)
            finally:
                os._exit(1)
        assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0, out.exists() and out.read_text()
        return out.read_text()

    def run_here(self, script: str, out: Path, meanwhile: str = "") -> None:
        """The same in this process, which ends with it."""
        if self.user != os.getuid():
            os.setgroups([])
            os.setgid(self.user)
            os.setuid(self.user)
        # Another user may not be able to run this interpreter, or to read this checkout.
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("remit.confine.find_level", lambda: LEVEL)
            patch.setattr(command, "_FOLDER", str(self.base))
            patch.setattr(sys, "executable", self.python)
            confined = confine(self.plan(), str(self.attempt), argv=("sh", "-c", script))
        for name, data in confined.files.items():
            (self.attempt / name).write_bytes(data)
        fields = b"cwd=/\0contain=auto\0deadline_ms=0\0out_cap=0\0err_cap=0\0mark=\0blank_ns=%d\0" % BLANK_NS
        for each in confined.blanks:
            fields += b"blank=%s\0blank_text=%s\0" % (
                os.fsencode(each.path), b"/" if each.is_folder else each.blank.encode(),
            )  # fmt: skip
        run = shim.AgentProcess(shim.Order(fields), -1, -1)
        shim._create_placeholders(run)  # noqa: SLF001 - as the shim does
        environ = {"PATH": os.environ["PATH"], "HOME": str(self.home), "GIT_CONFIG_GLOBAL": os.devnull}
        with out.open("wb") as file:
            subprocess.run(confined.argv, cwd=self.root, env=environ, stdout=file, stderr=file, check=False)
        if meanwhile:
            subprocess.run(["sh", "-c", meanwhile], cwd=self.root, check=False)
        shim._remove_placeholders(run)  # noqa: SLF001 - as the shim does
        os._exit(0)

    def list_files(self) -> dict[str, str]:
        """Every file and folder of the home and what is in it, without what git writes at work."""
        found = {}
        for path in sorted(self.home.rglob("*")):
            name = str(path.relative_to(self.home))
            if "/.git/objects/" not in name and "/.remit/" not in name:
                found[name] = path.read_text(errors="replace") if path.is_file() else "/"
        return found


@pytest.fixture(params=USERS, ids=[f"uid{user}" for user in USERS])
def site(request: pytest.FixtureRequest) -> Iterator[Site]:
    base = Path(tempfile.mkdtemp(prefix="remit-confined-", dir="/var/tmp"))  # not /tmp: that is empty inside
    try:
        base.chmod(0o755)
        yield Site(base, request.param)
    finally:
        shutil.rmtree(base)


PLANTED = [
    ".git/hooks/post-checkout",
    ".git/config",
    ".git/config.worktree",
    ".git/commondir",
    ".git/info/attributes",
    ".git/modules/lib/hooks/post-checkout",
    ".git/modules/lib/config",
    "lib/.git/hooks/pre-push",
    "lib/.git/config",
    ".git/worktrees/w/config.worktree",
    ".git/worktrees/w/commondir",
    "remit.toml",
    "agents/x.md",
    ".claude/agents/x.md",
    ".claude/settings.json",
    ".claude/settings.local.json",
    ".claude/hooks/x.sh",
    ".mcp.json",
    "opencode.json",
    ".opencode/plugin/x.js",
    ".codex/config.toml",
    ".gemini/settings.json",
    ".remit/ledger.db",
    ".remit/new",
    "~/.claude/settings.json",
    "~/.claude/hooks/x.sh",
    "~/.claude/shell-snapshots/other.sh",
    "~/.claude/session-env/x.sh",
    "~/.claude/plugins/x",
    "~/.bashrc",
    "~/.claude.json",
]
WAYS = {
    "write": 'mkdir -p "$(dirname "$f")"; echo evil > "$f"',
    "rename": 'echo evil > here; mkdir -p "$(dirname "$f")"; mv -f here "$f"',
    "link": 'echo evil > here; mkdir -p "$(dirname "$f")"; ln -f here "$f"; ln -sf "$PWD/here" "$f"',
    "folder": (
        'd=$(dirname "$f"); mv "$d" "$d.away"; mkdir -p "$d"; echo evil > "$f"; '
        'rm -rf "$d"; mkdir -p "$d"; echo evil > "$f"'
    ),
    "mode": 'chmod 777 "$f"; touch "$f"; truncate -s 0 "$f"; rm -f "$f"; echo evil > "$f"',
}


@pytest.mark.thorough("uid0-old", "uid1000-new")
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("is_there", [False, True], ids=["new", "old"])
def test_no_planted_file_is_there_afterwards(site: Site, way: str, is_there: bool) -> None:  # noqa: FBT001 - a parameter
    site.outside("git init -q lib; mkdir -p .git/modules/lib .git/worktrees/w; echo x > .git/modules/lib/HEAD; "
                 "echo x > .git/worktrees/w/HEAD; echo '[core]' > .git/modules/lib/config")  # fmt: skip
    files = [each.replace("~", str(site.home)) for each in PLANTED]
    if is_there:
        for name in files:
            file = site.root / name
            file.parent.mkdir(parents=True, exist_ok=True)
            if not file.exists():
                file.write_text(".\n" if name.endswith("commondir") else "")
    site.own()
    before = site.list_files()
    printed = site.run(f"for f in {' '.join(files)}; do {WAYS[way]}; done; echo done; cat here 2>/dev/null || true")
    assert "done" in printed
    assert "Read-only file system" in printed
    after = site.list_files()
    after.pop("project/here", None)
    if way == "folder":  # it may remove what is not protected, such as git's index
        kept = {f"project/{each}".replace("project/~/", "") for each in PLANTED}
        assert {name: text for name, text in after.items() if name in kept} == {
            name: text for name, text in before.items() if name in kept
        }
        assert "evil\n" not in after.values()
    else:
        assert after == before


HOOK = "echo evil > .git/hooks/pre-commit"
# The same value: if it can be written, nothing changes but the result of the test.
SYSCTL = "f=/proc/sys/kernel/core_pattern; cat $f > /tmp/v; cat /tmp/v > $f && echo escaped-sysctl"


@pytest.mark.thorough("uid0")
@pytest.mark.parametrize(
    "attack",
    [
        "mount -o remount,rw,bind / && echo evil > ../../../escaped-$$",
        f'mount -o remount,rw,bind "$PWD/.git/hooks"; {HOOK}',
        f"umount -l .git/hooks; umount .git; {HOOK}",
        f"unshare -Urm sh -c 'umount -l .git/hooks; mount -o remount,rw,bind .git/hooks; {HOOK}'",
        f"unshare -Um sh -c 'umount -l .git/hooks; mount -o remount,rw,bind .git/hooks; {HOOK}'",
        "unshare -Urm sh -c 'mount --bind / /mnt; echo evil > /mnt$PWD/.git/hooks/pre-commit'",
        f"nsenter -t 1 -m sh -c '{HOOK}'",
        'echo evil > "/proc/1/root$PWD/.git/hooks/pre-commit"',
        SYSCTL,
        f"unshare -Upfm --mount-proc sh -c '{SYSCTL}'",
    ],
)
def test_no_mount_is_undone(site: Site, attack: str) -> None:
    site.own()
    before = site.list_files()
    printed = site.run(f"({attack}); grep CapEff /proc/self/status")
    assert "CapEff:\t0000000000000000" in printed
    assert site.list_files() == before
    assert not [*site.base.parent.glob("escaped-*")]
    assert "escaped-sysctl" not in printed


def test_planted_code_does_not_run_outside(site: Site) -> None:
    site.run(
        "git config core.fsmonitor 'touch ../pwned #'; cd .git/hooks; "
        "printf '#!/bin/sh\\ntouch ../pwned\\n' > post-commit; chmod +x post-commit; cd ../..; "
        "git init -q evil; git -C evil config core.fsmonitor 'touch ../pwned #'; "
        "echo ../evil/.git > .git/commondir; true"
    )
    site.outside("git -c safe.directory='*' status; git -c safe.directory='*' commit -q --allow-empty -m second")
    assert not (site.home / "pwned").exists()


@pytest.mark.thorough("uid1000")
@pytest.mark.parametrize("exclude", ["there", "missing", "no folder"])
def test_an_ordinary_agent_works(site: Site, exclude: str) -> None:
    """Git ignores blanks, so that an agent that adds all files commits none of them."""
    (site.root / ".git" / "info").mkdir(exist_ok=True)
    (site.root / ".git" / "info" / "exclude").write_text("*.log\n")
    if exclude != "there":
        (site.root / ".git" / "info" / "exclude").unlink()
    if exclude == "no folder":
        shutil.rmtree(site.root / ".git" / "info")
    (site.root / ".remit" / ".gitignore").write_text("*\n")
    site.outside(
        "echo one > a.txt; git add a.txt; git commit -qm a; mkdir .claude; echo '{}' > .claude/settings.json; git gc -q"
    )
    printed = site.run(
        "set -e; echo two > a.txt; mkdir -p src tests; echo 'def f(): return 1' > src/f.py; "
        "printf 'from f import f\\nassert f() == 1\\n' > tests/t.py; PYTHONPATH=src python3 -BS tests/t.py; "
        "echo note > .claude/notes.md; "
        f"{' '.join(GIT)} add -A; {' '.join(GIT)} commit -qm work; git checkout -qb other; git stash list; "
        "git status --short; "
        "git log --oneline --name-only -1; echo x > ~/.claude/projects/transcript; echo tmp > /tmp/x$$; cat /tmp/x$$; "
        "echo evil > ~/.claude/shell-snapshots/other.sh; echo all-done"
    )
    assert printed.endswith("all-done\n"), printed
    assert (site.home / ".claude" / "shell-snapshots" / "other.sh").read_text() != "evil\n"
    changed = site.outside("git -c safe.directory='*' show --name-only --format= HEAD")
    assert changed.split() == [".claude/notes.md", ".claude/settings.json", "a.txt", "src/f.py", "tests/t.py"]
    assert (site.home / ".claude" / "projects" / "transcript").read_text() == "x\n"


@pytest.mark.thorough("uid0")
def test_blanks_are_there_only_while_an_agent_runs(site: Site) -> None:
    site.own()
    before = site.list_files()
    printed = site.run("ls -A; cat .mcp.json opencode.json; stat -c %Y .codex")
    assert {"remit.toml", ".mcp.json", "opencode.json", ".codex", ".claude", "agents"} <= set(printed.split())
    assert "mcpServers" in printed
    assert printed.endswith(f"{BLANK_NS // 10**9}\n")
    assert site.list_files() == before


@pytest.mark.thorough("uid0")
def test_a_blank_that_somebody_has_changed_stays(site: Site) -> None:
    site.run("true", meanwhile="echo '[limits]' > remit.toml; echo x > .codex/config.toml")
    assert (site.root / "remit.toml").read_text() == "[limits]\n"
    assert (site.root / ".codex" / "config.toml").read_text() == "x\n"
    assert not (site.root / ".mcp.json").exists()


@pytest.mark.thorough("uid0")
def test_the_last_of_two_agents_removes_the_blanks(site: Site) -> None:
    site.own()
    first = os.fork()
    if first == 0:
        try:
            site.run_here("sleep 1; echo evil > remit.toml; echo first-done", site.base / "first")
        finally:
            os._exit(1)
    last = time.monotonic() + 20
    while not (site.root / "remit.toml").exists():
        assert time.monotonic() < last
        time.sleep(0.01)
    site.run("echo short")  # it ends, and its blanks stay for the other
    assert (site.root / "remit.toml").exists()
    assert os.waitstatus_to_exitcode(os.waitpid(first, 0)[1]) == 0
    printed = (site.base / "first").read_text()
    assert "Read-only file system" in printed
    assert "first-done" in printed
    assert not (site.root / "remit.toml").exists()


@pytest.mark.thorough("uid0")
def test_a_blank_that_was_left_is_removed_by_the_next_agent(site: Site) -> None:
    """As after a kill of the shim, or a loss of power."""
    left = site.root / ".mcp.json"
    left.write_text('{"mcpServers": {}}\n')
    os.utime(left, ns=(BLANK_NS, BLANK_NS))
    site.run("echo x > .mcp.json")
    assert not left.exists()


def test_a_link_in_a_protected_place_is_refused(site: Site) -> None:
    target = site.root / "elsewhere.toml"
    target.write_text("")
    (site.root / "remit.toml").symlink_to(target)
    with pytest.raises(RunnerError, match=r"remit\.toml' is a symbolic link"):
        confine(site.plan(), str(site.attempt), argv=("true",))


def test_a_second_name_of_a_protected_file_is_protected(site: Site) -> None:
    """Also of a file in a protected folder, and only those names: other hard links are content."""
    (site.root / ".claude" / "agents").mkdir(parents=True)
    (site.root / "src").mkdir()
    for name, twin in (("remit.toml", "twin.toml"), (".claude/agents/x.md", "src/x.md"), ("src/a", "src/b")):
        (site.root / name).write_text("old\n")
        (site.root / twin).hardlink_to(site.root / name)
    (site.home / ".claude" / "projects" / "hook").hardlink_to(site.root / ".git" / "config")
    names = f"twin.toml src/x.md src/b {site.home}/.claude/projects/hook"
    said = site.run(f"for name in {names}; do echo evil > $name; done; mv src/x.md y; mv src z; echo new > src/n; true")
    assert "Read-only file system" in said
    for name in ("remit.toml", ".claude/agents/x.md"):
        assert (site.root / name).read_text() == "old\n"
    assert "evil" not in (site.root / ".git" / "config").read_text()
    assert (site.root / "src" / "a").read_text() == "evil\n"
    assert (site.root / "src" / "n").exists()


def test_remit_in_an_environment_of_the_workspace_is_read_only(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    """Hooks run with that environment, outside of the confinement."""
    (site.root / ".venv" / "bin").mkdir(parents=True)
    (site.root / ".venv" / "bin" / "python").symlink_to("/bin/true")
    (site.root / "other" / "bin").mkdir(parents=True)
    monkeypatch.setattr(sys, "prefix", str(site.root / ".venv"))
    said = site.run("for e in .venv other; do ln -sfn /bin/false $e/bin/python; echo evil > $e/x.pth; done; mv .venv v")
    assert said.count("Read-only file system") == 2
    assert [path.name for path in (site.root / ".venv").iterdir()] == ["bin"]
    assert (site.root / ".venv" / "bin" / "python").readlink() == Path("/bin/true")
    assert (site.root / "other" / "bin" / "python").is_symlink(), "another environment is content like any other"
    assert (site.root / "other" / "x.pth").exists()


def test_a_machine_that_cant_confine_starts_no_agent(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    none = LEVEL._replace(has_files=False, reasons=("the kernel gives no user and mount namespace",))
    monkeypatch.setattr("remit.confine.find_level", lambda: none)
    with pytest.raises(RunnerError, match="can't be confined here: the kernel gives no user and mount namespace"):
        confine(site.plan(), str(site.attempt), argv=("true",))


def test_a_confined_place_is_protected_by_the_policy_too(tmp_path: Path) -> None:
    from remit.policy import PathContext, ToolCall, judge  # noqa: PLC0415 - only here

    root, home = str(tmp_path / "project"), str(tmp_path)
    ground = PathContext(root, root, home, os.path.normpath, PROTECTED)
    for harness in ("claude", "codex", "opencode", "gemini"):
        places, _ = list_places(root, home, harness, {})
        for place in (*places, *(each._replace(path=f"{root}/.git/{each.path}") for each in GIT_PLACES)):
            path = f"{place.path}/x.md" if place.is_folder else place.path
            assert judge(ToolCall("write", (path,)), [], ground).answer == "deny", path
