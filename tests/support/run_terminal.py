"""`remit run` on a terminal."""

from __future__ import annotations

import os
import pty
import select
import subprocess
import time
from typing import TYPE_CHECKING, Any

from tests.support.terminals import START
from tests.support.waiting import wait_until

if TYPE_CHECKING:
    from tests.support.commands import Remit


PATIENCE_S = 20.0


class Terminal:
    """A real terminal with a command on it; what stood on it is kept."""

    def __init__(self, remit: Remit, *args: str, env: dict[str, str] | None = None) -> None:
        self.ours, theirs = pty.openpty()
        streams: dict[str, Any] = {"stdin": theirs, "stderr": theirs, "stdout": subprocess.PIPE}
        given = {"TERM": "xterm", **(env or {})}
        self.process = remit.start(*args, prelude=("-c", START), start_new_session=True, env=given, **streams)
        os.close(theirs)
        self.screen = ""

    def read(self, seconds: float = 0.05) -> bool:
        """Take in what stands there; False at its end."""
        if select.select([self.ours], [], [], seconds)[0]:
            try:
                self.screen += os.read(self.ours, 65536).decode("utf-8", "replace")
            except OSError:  # nobody has the other end any more
                return False
        return True

    def wait_for(self, text: str) -> None:
        """Wait until a text has stood there."""
        wait_until(lambda: self.read() and text in self.screen, f"{text!r} in {self.screen!r}")

    def press(self, key: bytes) -> None:
        """Press a key."""
        os.write(self.ours, key)

    def end(self) -> tuple[int, str]:
        """Wait for its end; the exit code, and standard output."""
        last = time.monotonic() + PATIENCE_S
        while self.read() and time.monotonic() < last:
            pass
        out, _ = self.process.communicate(timeout=PATIENCE_S)
        os.close(self.ours)
        return self.process.returncode, out.decode()
