"""A pseudo-terminal for harnesses: it answers what programs ask a terminal, and types what a user would."""

from __future__ import annotations

import fcntl
import os
import pty
import select
import signal
import struct
import subprocess
import termios
import time
from typing import TYPE_CHECKING

from tests.support.harness_workspace import WAIT_S

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Self

    from tests.support.harness_workspace import Stage

ROWS, COLUMNS = 50, 160
ANSWERS = {
    b"\x1b[6n": b"\x1b[1;1R",  # where the cursor is
    b"\x1b[c": b"\x1b[?1;2c",  # what it can do
    b"\x1b[?u": b"\x1b[?0u",  # which keys it reports
    b"\x1b]10;?": b"\x1b]10;rgb:ffff/ffff/ffff\x1b\\",  # the color of text, and of what is behind it
    b"\x1b]11;?": b"\x1b]11;rgb:0000/0000/0000\x1b\\",
    b"\x1b[14t": b"\x1b[4;800;1280t",  # its size in pixels
}
"""What a terminal answers when a program asks."""


class Terminal:
    """A program in a terminal of its own; it is killed when the block ends."""

    def __init__(self, stage: Stage, words: Sequence[str], environ: dict[str, str] | None = None) -> None:
        self.shown = b""
        self._mine, theirs = pty.openpty()
        fcntl.ioctl(self._mine, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))
        own = (environ or stage.environ) | {"IS_SANDBOX": "1", "TERM": "xterm-256color"}
        self._process = subprocess.Popen(
            words, cwd=stage.root, env=own, stdin=theirs, stdout=theirs, stderr=theirs, start_new_session=True
        )
        os.close(theirs)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._process.poll() is None:
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        os.close(self._mine)

    def wait(self, is_done: Callable[[], object], *, seconds: float = WAIT_S) -> None:
        """Play the terminal until something is so. Raises `TimeoutError` with what was shown when it is not."""
        until = time.monotonic() + seconds
        while not is_done():
            if time.monotonic() > until or self._process.poll() is not None:
                raise TimeoutError(self.shown.decode(errors="replace")[-4000:])
            if select.select([self._mine], [], [], 0.1)[0]:
                self._read()

    def type(self, text: str) -> None:
        """Type a line, and send it a moment later: at once, some programs take it for a paste."""
        os.write(self._mine, text.encode())
        begun = time.monotonic()
        self.wait(lambda: time.monotonic() > begun + 1)
        os.write(self._mine, b"\r")

    def _read(self) -> None:
        try:
            piece = os.read(self._mine, 65536)
        except OSError:  # it has ended
            return
        self.shown += piece
        for question, answer in ANSWERS.items():
            for _ in range(piece.count(question)):
                os.write(self._mine, answer)
