"""A shell as a reader has it: `remit` is on the path, and what one command sets the next one sees.

Owns the process, its environment and its end. The home is the scene's own, so that nothing of the person who runs the
tests is read or changed.
"""

from __future__ import annotations

import os
import selectors
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import IO, TYPE_CHECKING, NamedTuple, Self, cast

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import TracebackType

PATIENCE_S = 120
_MARK = "--- the command has ended with"
_GIT = "[user]\n\tname = Reader\n\temail = reader@example.org\n[init]\n\tdefaultBranch = main\n"


class Said(NamedTuple):
    """What a command printed, on both streams, and its exit code."""

    text: str
    code: int


class Shell:
    """A bash that runs one command after the other in a folder."""

    def __init__(self, folder: Path, home: Path, more: dict[str, str] | None = None) -> None:
        home.mkdir(parents=True, exist_ok=True)
        (home / ".gitconfig").write_text(_GIT)
        self._scripts = home / "typed"
        self._scripts.mkdir()
        environ = _make_environ(home) | (more or {})
        self._bash = subprocess.Popen(
            ["bash", "--noprofile", "--norc"], cwd=folder, env=environ, start_new_session=True,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        )  # fmt: skip
        self._count = 0
        self._heard = self._scripts

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """End it with all that was left in the background."""
        with suppress(ProcessLookupError):
            os.killpg(self._bash.pid, signal.SIGKILL)
        self._bash.wait()
        for pipe in (self._bash.stdin, self._bash.stdout):
            cast("IO[bytes]", pipe).close()

    def run(self, command: str) -> Said:
        """Run a command as if it were typed; one that goes to the background is heard with `listen`."""
        self._count += 1
        script = self._scripts / str(self._count)
        self._heard = script.with_suffix(".out")
        self._heard.touch()
        typed = f"{command.removesuffix('&')} >{self._heard} 2>&1 &\n" if command.endswith("&") else command
        script.write_text(typed)
        pipe = cast("IO[bytes]", self._bash.stdin)
        pipe.write(f". {script} </dev/null\nprintf '\\n%s %d\\n' '{_MARK}' $?\n".encode())
        pipe.flush()
        text, _, code = self._read(command).rpartition(f"\n{_MARK} ")
        return Said(text, int(code))

    def listen(self, is_enough: Callable[[str], bool]) -> Said:
        """What the last command says in the background, once that is enough, or nobody has patience any more."""
        ends_at = time.monotonic() + PATIENCE_S
        while not is_enough(text := self._heard.read_text("utf-8")) and time.monotonic() < ends_at:
            time.sleep(0.05)
        return Said(text, 0)

    def _read(self, command: str) -> str:
        pipe = cast("IO[bytes]", self._bash.stdout)
        heard, ends_at = b"", time.monotonic() + PATIENCE_S
        with selectors.DefaultSelector() as selector:
            selector.register(pipe, selectors.EVENT_READ)
            while f"\n{_MARK} ".encode() not in heard or not heard.endswith(b"\n"):
                if not selector.select(max(ends_at - time.monotonic(), 0)):
                    raise TimeoutError(f"{command!r} does not end; so far: {heard.decode()}")
                piece = os.read(pipe.fileno(), 65536)
                if not piece:
                    raise EOFError(f"{command!r} ended the shell: {heard.decode()}")
                heard += piece
        return heard.decode("utf-8", "replace")


def _make_environ(home: Path) -> dict[str, str]:
    own = ("REMIT_", "XDG_", "OTEL_", "CLAUDE", "ANTHROPIC_", "OPENAI_", "PYTEST_", "COV")
    left_out = ("CI", "COLUMNS", "FORCE_COLOR", "NO_COLOR", "PYTHONPATH")  # a reader sits at a desk, not in CI
    kept = {name: value for name, value in os.environ.items() if not name.startswith(own) and name not in left_out}
    path = os.pathsep.join((str(Path(sys.executable).parent), kept.get("PATH", os.defpath)))
    return kept | {"HOME": str(home), "PATH": path, "LANG": "C.UTF-8", "TERM": "dumb"}
