"""The stage: where the examples of the pages are played, with real files, processes and commits.

Owns how a line of a story is run and what of its output is smoothed: what differs from run to run, and nothing else.
A command is run in this process where that is the same, and as a process where it reads its input or does not end.
"""

from __future__ import annotations

import io
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from socket import gethostname
from typing import TYPE_CHECKING, NamedTuple, Self

from remit.cli import run
from tools.reference.source import ROOT

if TYPE_CHECKING:
    from collections.abc import Iterator

FILES = Path(__file__).parent / "stage_files"
PROGRAMS = ("bash", "cat", "dirname", "env", "git", "head", "mkdir", "sed", "sh", "sleep")
"""All that is on the path of a story: what else a machine has does not show."""
ENDLESS = ("remit serve", "remit worker start")
PATIENCE_S = 120
MOST_LINES = 30
MOST_SIGNS = 400
_AS_ON_EVERY_MACHINE = {"LANG": "C.UTF-8", "TZ": "UTC", "NO_COLOR": "1", "COLUMNS": "120", "GIT_CONFIG_NOSYSTEM": "1"}


class Played(NamedTuple):
    """An example as it went."""

    line: str
    about: str
    shown: str
    code: int


def play(story: str, folder: Path, source: Path, more: dict[str, str] | None = None) -> list[Played]:
    """Play a story in a copy of a folder; its examples."""
    home = folder / "home"
    home.mkdir(parents=True)
    project = folder / "project"
    shutil.copytree(source, project)
    with _at_home(home, project, more or {}), _Background() as background:
        subprocess.run(["git", "init", "-q"], check=True)  # noqa: S607 - the story's path leads to one git
        smooth = Smoothing(story, folder)
        about, examples = "", []
        for line in re.findall(r"^.(?:\\\n|.)+", story, re.MULTILINE):
            sign, text = line[0], line[2:]
            if sign == "#":
                about = text
                continue
            code, told = background.start(text) if text.startswith(ENDLESS) else _run(text)
            if "this is a bug" in told or (sign == "$" and code not in (0, 1)):
                raise RuntimeError(f"{line} could not run: exit code {code}\n{told}")
            if sign == "$":
                examples.append(Played(text, about, smooth(told), code))
            elif (sign == "!") != (code != 0):
                raise RuntimeError(f"{line} went otherwise than the story has it: exit code {code}\n{told}")
    return examples


@contextmanager
def _at_home(home: Path, project: Path, more: dict[str, str]) -> Iterator[None]:
    """An environment that is the same everywhere, until the story is over."""
    programs = home / "bin"
    programs.mkdir()
    for name in PROGRAMS:
        found = shutil.which(name)
        if found is None:
            raise RuntimeError(f"the examples need the program {name}")
        (programs / name).symlink_to(found)
    (programs / "remit").symlink_to(Path(sys.executable).parent / "remit")
    (home / ".gitconfig").write_text(
        "[user]\n\tname = You\n\temail = you@example.org\n[init]\n\tdefaultBranch = main\n"
    )
    kept = {
        name: value for name, value in os.environ.items() if name.startswith(("PYTHON", "GIT_TEMPLATE", "COVERAGE"))
    }
    before, here = dict(os.environ), Path.cwd()
    os.environ.clear()
    os.environ.update(kept | _AS_ON_EVERY_MACHINE | {"HOME": str(home), "PATH": str(programs)} | more)
    os.chdir(project)
    try:
        yield
    finally:
        os.chdir(here)
        os.environ.clear()
        os.environ.update(before)


def _run(line: str) -> tuple[int, str]:
    """Run a line: a command of Remit's in this process, unless it is given something to read."""
    words = shlex.split(line.replace("\\\n", " "))
    if words[0] != "remit" or "<" in words:
        command = ["bash", "-c", line]
        ended = subprocess.run(  # noqa: S603 - a line of ours
            command, capture_output=True, encoding="utf-8", check=False, timeout=PATIENCE_S
        )
        return ended.returncode, ended.stdout + ended.stderr
    streams = sys.stdin, sys.stdout, sys.stderr
    out, err = io.BytesIO(), io.BytesIO()
    sys.stdin = io.TextIOWrapper(io.BytesIO(), encoding="utf-8")
    sys.stdout = io.TextIOWrapper(out, encoding="utf-8", write_through=True)
    sys.stderr = io.TextIOWrapper(err, encoding="utf-8", write_through=True)
    try:
        code = run(words[1:])
        return code, (out.getvalue() + err.getvalue()).decode("utf-8")
    finally:
        sys.stdin, sys.stdout, sys.stderr = streams


class _Background:
    """Commands that do not end by themselves: shown is what they say first, and they end with the story."""

    def __init__(self) -> None:
        self.started: list[subprocess.Popen[str]] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for process in self.started:
            process.send_signal(signal.SIGINT)
        for process in self.started:
            process.communicate(timeout=PATIENCE_S)

    def start(self, line: str) -> tuple[int, str]:
        """Start it and wait until it says that it is ready."""
        process = subprocess.Popen(  # noqa: S603 - a line of ours
            shlex.split(line), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, encoding="utf-8"
        )
        self.started.append(process)
        assert process.stdout is not None  # noqa: S101 - it was asked for
        told = process.stdout.readline()
        while line.startswith("remit worker start") and "ready" not in told and process.poll() is None:
            told += process.stdout.readline()
        return 0, told


class Smoothing:
    """What differs from run to run, made the same: sessions, times, sizes, places, hashes."""

    def __init__(self, story: str, folder: Path) -> None:
        self.places = {str(folder / "project"): "~/project", str(folder / "home"): "~", str(ROOT): "~/remit"}
        self.sessions: dict[str, str] = {name: name for name in re.findall(_SESSION, story)}
        today = datetime.now(UTC).date()
        self.days = today, today + timedelta(days=1)  # a story may be played at midnight

    def __call__(self, text: str) -> str:
        """The text as it is shown: smoothed, and cut where it is long."""
        for place, name in self.places.items():
            text = text.replace(place, name)
        text = re.sub(_SESSION, self._rename, text)
        for day in self.days:
            text = text.replace(day.isoformat(), "2026-01-19").replace(f"{day:%Y%m%d}", "20260119")
        for pattern, other in _DIFFERENT:
            text = re.sub(pattern, other, text)
        lines = [line.rstrip() if len(line) <= MOST_SIGNS else f"{line[:MOST_SIGNS]}…" for line in text.splitlines()]
        return "\n".join(lines if len(lines) <= MOST_LINES else [*lines[:MOST_LINES], "…"])

    def _rename(self, match: re.Match[str]) -> str:
        number = len(self.sessions)
        return self.sessions.setdefault(
            match[0], f"sess_17632{number:05d}_k3x9q{'abcdefghijklmnopqrstuvwxyz'[number % 26]}"
        )


_SESSION = r"sess_\d{9,}_[a-z0-9]{6}"
_DIFFERENT = (
    (r"(?<!\d)\d\d:\d\d:\d\d(\.\d+)?", "10:00:00"),
    (r"\b\d+\.\d+ s\b|\b\d\d? s\b|\b\d+ ms\b|\b\d min(?= ago)", "0.3 s"),
    (r"\btimeout = \d+(?= under)", "timeout = 60"),
    (r"\b0:\d\d\b", "0:01"),
    (r"\b59:\d\d\b", "59:58"),
    (r"\bprocess \d+", "process 4711"),
    (r"\berr_\d+_[0-9a-f]{6}", "err_1763200010_94bd9f"),
    (r"postgresql://\S+?/t[0-9a-f]{32}", "postgresql://remit@db.internal/remit"),
    (r"\bbee-[0-9a-f]{8}", "bee-653a69b9"),
    (rf"\b{re.escape(gethostname())}\b(?=  +\d+/\d+ )", "vm"),
    (r"127\.0\.0\.1:\d+", "127.0.0.1:8765"),
    (r"token=[\w-]+", "token=S7W5viiXE7sp"),
    (r"(?m)^(✓ python +).*$", r"\g<1>3.13.5"),
    (r"(?m)^[✓!] (sqlite +).*(\n +=.*)?$", r"✓ \g<1>3.51.3"),
    (r"(?m)^([✓!] disk +).*$", r"\g<1>ext4, 50.4 GB free"),
    (r"(?m)^(✓ git +)[\d.]+", r"\g<1>2.51.0"),
    (r"(?m)^(✓ \d+ checks: )\d+ warnings", r"\g<1>6 warnings"),
    (r"(ledger +(?:whole, )?)[\d.]+ [KM]B", r"\g<1>0.3 MB"),
)
"""What the clock, the machine or chance decide, and what is shown in its place."""
