"""Trees to look at."""

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

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


def list_files(folder: Path) -> dict[str, bytes]:
    """Every file but Remit's own and git's, with its content."""
    found = (file for file in folder.rglob("*") if file.is_file() and not {".git", ".remit"} & set(file.parts))
    return {file.relative_to(folder).as_posix(): file.read_bytes() for file in found}
