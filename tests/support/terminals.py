"""A terminal with somebody at it: Remit is started on a real one, and its question is answered."""

from __future__ import annotations

import os
import pty
import select
import time
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from tests.support.commands import Remit

TIMEOUT_SECONDS = 30.0
QUESTIONS = ("[Y/n] ", "[y/N] ")

START = """
import fcntl, termios
fcntl.ioctl(0, termios.TIOCSCTTY, 0)  # in a session of its own: a key that interrupts reaches nobody else
from remit.cli import main
main()
"""


class Talk(NamedTuple):
    """How a talk ended: the exit code, all that stood on the terminal, and how often something was asked."""

    code: int
    screen: str
    questions: int


def talk(remit: Remit, *args: str, answer: bytes) -> Talk:
    """Run a command on a terminal, and type an answer to its first question."""
    ours, theirs = pty.openpty()
    streams = {"stdin": theirs, "stdout": theirs, "stderr": theirs}
    process = remit.start(*args, prelude=("-c", START), start_new_session=True, env={"NO_COLOR": "1"}, **streams)
    os.close(theirs)
    screen, answered, deadline = b"", False, time.monotonic() + TIMEOUT_SECONDS
    try:
        while piece := _read(ours, deadline):
            screen += piece
            if not answered and screen.decode("utf-8", "replace").endswith(QUESTIONS):
                os.write(ours, answer)
                answered = True
        code = process.wait(TIMEOUT_SECONDS)
    finally:
        process.kill()
        process.wait()
        os.close(ours)
    text = screen.decode("utf-8").replace("\r\n", "\n")
    return Talk(code, text, sum(text.count(question) for question in QUESTIONS))


def _read(terminal: int, deadline: float) -> bytes:
    ready, _, _ = select.select([terminal], [], [], max(0.0, deadline - time.monotonic()))
    assert ready, "it waits for something"
    try:
        return os.read(terminal, 65536)
    except OSError:  # nobody has the other end any more
        return b""
