"""Trees to look at, and ways to exchange what is in them."""

import json
import mmap
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Self

NOBODY = 65534


def write_tree(root: Path, files: dict[str, str]) -> Path:
    """Make files with their folders."""
    for name, text in files.items():
        file = root / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    return root


@contextmanager
def open_tree() -> Iterator[Path]:
    """A folder that every user can reach; pytest's own is closed to others."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name).resolve()
        folder.chmod(0o755)
        yield folder


@contextmanager
def unprivileged() -> Iterator[None]:
    """Work as a user whom permissions bind, also where tests run as root."""
    if os.geteuid():
        yield
        return
    os.seteuid(NOBODY)
    try:
        yield
    finally:
        os.seteuid(0)


_SWAP = """
import json, mmap, os, sys
calls = [(getattr(os, name), args) for name, *args in json.loads(sys.argv[2])]
count = 0
with mmap.mmap(int(sys.argv[1]), 8) as shared:
    while os.getppid() != 1:
        for call, args in calls:
            call(*args)
            count += 1
        shared[:] = count.to_bytes(8, "big")
"""


class Swapper:
    """Exchanges things on disk over and over, in a process of its own, by a round of calls of `os`; counts them."""

    def __init__(self, *calls: tuple[str | Path, ...]) -> None:
        self._calls = json.dumps([[str(each) for each in call] for call in calls])

    @property
    def count(self) -> int:
        """How many calls were made until now."""
        assert self._process.poll() is None
        assert time.monotonic() < self._deadline
        return int.from_bytes(self._shared[:], "big")

    def __enter__(self) -> Self:
        with tempfile.TemporaryFile() as file:
            file.write(bytes(8))
            file.flush()
            self._shared = mmap.mmap(file.fileno(), 8)
            command = [sys.executable, "-I", "-c", _SWAP, str(file.fileno()), self._calls]
            self._process = subprocess.Popen(command, pass_fds=[file.fileno()])
        self._deadline = time.monotonic() + 60
        return self

    def __exit__(self, *_: object) -> None:
        self._process.kill()
        self._process.wait()
        self._shared.close()
