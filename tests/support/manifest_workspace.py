"""A workspace with a manifest that tests write to by hand."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from remit.ledger.home import Home
from remit.manifest.append import ManifestAppender
from remit.manifest.index import ManifestIndex
from remit.manifest.search import EntryQuery, find_entry, walk_entries
from remit.model import ArtifactFacts
from remit.storage.files import write_bytes
from tests.support.manifest_entries import make_line

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from remit.manifest.entries import ManifestEntry


class ManifestWorkspace:
    """A manifest that tests write to by hand, and its index."""

    def __init__(self, root: Path) -> None:
        self.home = Home(str(root))
        self.file = root / "MANIFEST.jsonl"
        self.index = ManifestIndex(self.home, str(self.file))
        self.appender = self.make_appender()

    def make_appender(self, inspect: Callable[[str], ArtifactFacts | None] | None = None) -> ManifestAppender:
        """An appender; every findings file is there, unless `look` says otherwise."""
        inspect = inspect or (lambda path: ArtifactFacts(path, "file", 1))
        return ManifestAppender(self.home, str(self.file), inspect=inspect, words={})

    def write(self, *lines: str | bytes) -> None:
        """Append lines as other programs do."""
        with self.file.open("ab") as file:
            for line in lines:
                file.write(line if isinstance(line, bytes) else line.encode())

    def put(self, *entry_ids: str, **fields: Any) -> None:  # noqa: ANN401 - any JSON value
        """Append good entries."""
        self.write(*(make_line(id=entry_id, **fields) for entry_id in entry_ids))

    def find(self, entry_id: str) -> ManifestEntry | None:
        """The entry that has an id."""
        return find_entry(self.index, entry_id)

    def list_ids(self) -> list[str]:
        """Every id that can be found, in the order of the file."""
        entries = sorted(walk_entries(self.index, EntryQuery()), key=lambda entry: entry.line)
        return [entry.id for entry in entries]

    def other(self) -> ManifestWorkspace:
        """The same manifest, as another process would have it."""
        return ManifestWorkspace(self.file.parent)

    def close(self) -> None:
        """Close everything."""
        self.home.close()


def rewrite_in_place(file: Path, data: bytes) -> None:
    """The same file with other bytes in it, as some editors do."""
    before = file.stat().st_ino
    with file.open("r+b") as handle:
        handle.write(data)
        handle.truncate()
    assert file.stat().st_ino == before


def replace(file: Path, data: bytes) -> None:
    """Another file of that name, as git and most editors do."""
    before = file.stat().st_ino
    write_bytes(str(file), data)
    assert file.stat().st_ino != before
