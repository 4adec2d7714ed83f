"""A throw-away place in which a script may start a denied program: a stub stands where it would be, and leaves a mark.

Built with bwrap: all folders of the system read-only, `/usr/bin` and `/usr/sbin` replaced by links with the stubs among
them, a home and a project of its own, no network, no other process. git is real; its remote is a folder of the home.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

BOX_HOME = "/home/agent"
BOX_PROJECT = f"{BOX_HOME}/project"
BOX_PATH = "/usr/bin:/usr/sbin:/bin:/sbin:/usr/local/bin"
"""The stubs are in the first two."""
PATIENCE_SECONDS = 20.0

STUB = r"""
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

int main(int argc, char **argv) {
    char line[65536];
    size_t used = 0;
    argv[0] = NAME;
    for (int n = 0; n < argc && used + strlen(argv[n]) + 2 < sizeof line; n++) {
        used += (size_t)(stpcpy(line + used, argv[n]) - (line + used));
        line[used++] = '\037';
    }
    line[used++] = '\036';
    int mark = open("/mark/ran", O_WRONLY | O_APPEND | O_CREAT, 0666);
    if (mark < 0 || write(mark, line, used) < 0) return 1;
    if (!strcmp(NAME, "chmod")) execv("/bare/chmod", argv);
    return 0;
}
"""
SCRIPT = """\
#!/bin/sh
{ printf '%s\\037' NAME "$@"; printf '\\036'; } >> /mark/ran
[ NAME != chmod ] || exec /bare/chmod "$@"
"""
MODULE = """\
import sys

with open("/mark/ran", "a") as mark:
    mark.write("\\037".join(["NAME", *sys.argv[1:], "\\036"]))
"""
IDENTITY = ("-c", "user.name=agent", "-c", "user.email=agent@example.org")


class Ran(NamedTuple):
    """What a script did in the box."""

    starts: tuple[tuple[str, ...], ...]
    """The stubs that were started, with their arguments."""
    pushed: bool
    """Whether git's remote has got anything."""
    said: str
    """The end of what it printed, for whoever looks why nothing was started."""


class Box:
    """What all runs share: stubs, links and the home that each run gets a copy of."""

    def __init__(self, folder: Path, stubs: Iterable[str], modules: Iterable[str]) -> None:
        self.folder = folder
        self.stubs = tuple(stubs)
        (folder / "stubs").mkdir()
        for name in self.stubs:
            write_stub(folder / "stubs" / name, name)
        for kind in ("bin", "sbin"):
            write_links(folder / kind, Path("/usr", kind), self.stubs, folder / "stubs")
        for name in modules:
            (folder / "python" / name).mkdir(parents=True)
            (folder / "python" / name / "__main__.py").write_text(MODULE.replace("NAME", name))
            (folder / "python" / name / "__init__.py").write_text("")
        write_home(folder / "home")
        self.more: tuple[str, ...] = ()
        """Options of bwrap for what else a box has."""

    def run(self, script: str, before: Sequence[str] = ()) -> Ran:
        """Run a script as a harness would, with `bash -c`, and look what it started. `before`: words that start it."""
        place = Path(tempfile.mkdtemp(dir=self.folder))
        try:
            shutil.copytree(self.folder / "home", place / "home", symlinks=True)
            (place / "mark").mkdir()
            done = self.start(place, [*before, "bash", "-c", script])
            mark = place / "mark" / "ran"
            records = mark.read_bytes().decode(errors="replace").split("\036") if mark.exists() else []
            starts = tuple(tuple(record.split("\037")[:-1]) for record in records if record)
            pushed = any(path.is_file() for path in (place / "home" / "remote.git" / "refs").rglob("*"))
            return Ran(starts, pushed, done[-4000:])
        finally:
            subprocess.run(["rm", "-rf", str(place)], check=True)

    def start(self, place: Path, command: list[str], seconds: float = PATIENCE_SECONDS) -> str:
        """The command, in the box; what it prints."""
        environ = {"PATH": BOX_PATH, "HOME": BOX_HOME, "LANG": "C.UTF-8", "TERM": "dumb", "PYTHONPATH": "/python"}
        call = [
            "bwrap",
            *self.mounts(),
            "--bind",
            str(place / "home"),
            BOX_HOME,
            "--bind",
            str(place / "mark"),
            "/mark",
        ]
        call += ["--unshare-all", "--cap-add", "ALL", "--die-with-parent", "--new-session", "--chdir", BOX_PROJECT]
        try:
            done = subprocess.run(
                [*call, "--", *command], env=environ, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT, timeout=seconds, check=False,
            )  # fmt: skip
        except subprocess.TimeoutExpired as late:
            return (late.output or b"").decode(errors="replace") + "\n(too late)"
        return done.stdout.decode(errors="replace")

    def mounts(self) -> list[str]:
        """The system, read-only, with stubs wherever a denied program is found."""
        call = ["--ro-bind", "/usr", "/usr", "--ro-bind", "/usr", "/real"]
        for top in ("bin", "sbin", "lib", "lib32", "lib64", "libx32"):
            link = Path("/", top)
            if link.is_symlink():
                call += ["--symlink", str(link.readlink()), str(link)]
            elif link.is_dir():
                call += ["--ro-bind", str(link), str(link)]
        call += ["--ro-bind", "/etc", "/etc", "--dev", "/dev", "--proc", "/proc"]
        call += ["--tmpfs", "/tmp", "--tmpfs", "/run"]  # noqa: S108 - the box's own
        call += ["--ro-bind", shutil.which("chmod", path=os.defpath) or "/bin/chmod", "/bare/chmod"]
        for name in self.stubs:
            for place in ("bin", "sbin", "local/bin", "local/sbin"):
                real = Path("/usr", place, name)
                if real.is_file() and not real.is_symlink():
                    call += ["--ro-bind", str(self.folder / "stubs" / name), f"/real/{place}/{name}"]
                    if "local" in place:
                        call += ["--ro-bind", str(self.folder / "stubs" / name), f"/usr/{place}/{name}"]
        for kind in ("bin", "sbin"):
            call += ["--ro-bind", str(self.folder / kind), f"/usr/{kind}"]
        return [*call, "--ro-bind", str(self.folder / "python"), "/python", *self.more]


def write_stub(path: Path, name: str) -> None:
    """A program that leaves a mark: a real one where there is a compiler, as a loader takes no script."""
    compiler = shutil.which("cc")
    if compiler is None:
        path.write_text(SCRIPT.replace("NAME", name))
    else:
        call = [compiler, "-O1", "-D_GNU_SOURCE", f'-DNAME="{name}"', "-xc", "-", "-o", str(path)]
        subprocess.run(call, input=STUB.encode(), check=True, capture_output=True)
    path.chmod(0o755)


def write_links(folder: Path, real: Path, stubs: Iterable[str], made: Path) -> None:
    """A folder like the real one, with the stubs in it."""
    folder.mkdir()
    for program in real.iterdir():
        (folder / program.name).symlink_to(Path("/real", real.name, program.name))
    for name in stubs:
        (folder / name).unlink(missing_ok=True)
        shutil.copy(made / name, folder / name)


def write_home(home: Path) -> None:
    """A project under git with a remote to push to, and some files."""
    project = home / "project"
    (project / "src").mkdir(parents=True)
    (project / "notes.txt").write_text("one\ntwo\n")
    (project / "src" / "main.py").write_text("print('main')\n")
    (project / "tools").mkdir()
    (project / "tools" / "with").write_text('#!/bin/sh\nexec "$@"\n')
    (project / "tools" / "with").chmod(0o755)
    (project / "package.json").write_text('{"name": "project", "version": "1.0.0"}\n')
    for name in ("build", "pkg"):
        (project / name).mkdir()
        (project / name / "file").write_text("here\n")
    environ = {"PATH": os.defpath, "HOME": str(home), "GIT_CONFIG_NOSYSTEM": "1"}
    git = ["git", "-c", "init.defaultBranch=main", "-c", "init.templateDir=", *IDENTITY]
    subprocess.run([*git, "init", "--bare", str(home / "remote.git")], check=True, env=environ, capture_output=True)
    for words in (["init"], ["add", "."], ["commit", "-m", "first"], ["remote", "add", "origin", "../remote.git"]):
        subprocess.run([*git, *words], check=True, cwd=project, env=environ, capture_output=True)
    with (project / ".git" / "config").open("a") as config:
        config.write("[user]\n\tname = agent\n\temail = agent@example.org\n[push]\n\tdefault = current\n")


def find_trouble() -> str:
    """Why no box can be made here, or nothing."""
    if shutil.which("bwrap") is None:
        return "bwrap is missing; it is a package of every distribution (bubblewrap)"
    call = ["bwrap", "--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc", "--unshare-all", "--cap-add", "ALL"]
    done = subprocess.run([*call, "true"], capture_output=True, text=True, check=False)
    return f"bwrap may not make namespaces here: {done.stderr.strip()}" if done.returncode else ""
