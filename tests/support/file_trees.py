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
    """All files with their content and all links with their targets, except those of git and Remit."""
    found = {}
    for here, folders, names in os.walk(folder):
        folders[:] = [name for name in folders if name not in (".git", ".remit")]
        for file in (Path(here, name) for name in (*names, *folders)):
            if file.is_symlink() or file.is_file():
                data = os.fsencode(file.readlink()) if file.is_symlink() else file.read_bytes()
                found[str(file.relative_to(folder))] = data
    return found
