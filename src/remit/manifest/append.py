"""Append a checked entry with a unique id to a manifest, in one write.

This is the only way in which Remit changes a manifest. All checks run under the manifest's lock and read only the
file; readers update the index.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, NamedTuple

from remit.errors import UsageError
from remit.ledger.home import MANIFEST
from remit.manifest.entries import make_slug, name_findings_file, render_entry, shape_entry
from remit.manifest.ids import find_free_id
from remit.model import ArtifactFacts
from remit.returns.manifest_lines import check_line
from remit.storage.files import append_line, storage_error

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from remit.ledger.home import Home
    from remit.model import Diagnostic, Status

_NO_TITLE = "entry"
"""The title of an entry without one, until the rules report it."""


class AppendResult(NamedTuple):
    """The result of adding an entry."""

    fields: Mapping[str, Any]
    """The entry as it was written, or would have been."""
    diagnostics: tuple[Diagnostic, ...]
    offset: int | None
    """The offset of its line in the file; None if an error prevented it."""

    @property
    def accepted(self) -> bool:
        """True if the entry was written."""
        return self.offset is not None


class ManifestAppender:
    """Adds entries to one manifest."""

    def __init__(
        self,
        home: Home,
        file: str,
        *,
        inspect: Callable[[str], ArtifactFacts | None],
        words: Mapping[str, Status],
        folder: str = "",
    ) -> None:
        """`look` returns the facts of a findings file, `words` are the workspace's own statuses.

        `folder` is the path of the findings files if they aren't next to the manifest, and ends with a slash.
        """
        self._home = home
        self._file = os.path.abspath(file)
        self._inspect = inspect
        self._words = words
        self._folder = folder

    def add(
        self,
        given: Mapping[str, Any],
        *,
        day: str,
        slug: str | None = None,
        prepare: Callable[[Mapping[str, Any]], Iterable[Diagnostic]] = lambda _: (),
        makes_file: bool = False,
    ) -> AppendResult:
        """Add an entry, unless it breaks a rule; then nothing is written.

        Missing fields are derived: the date from `day`, the id from `slug` or the title, the file from the id.
        `prepare` gets the entry before its line is written, to check or create the findings file (with `makes_file` it
        doesn't have to exist before). An error from `prepare` also prevents the entry.
        """
        fields = shape_entry({"date": day, **given})
        wanted = _choose_id(fields, slug)
        with self._home.lock(MANIFEST):
            entry_id = find_free_id(self._file, wanted)
            file = fields.get("file") or f"{self._folder}{name_findings_file(entry_id, str(fields['date']))}"
            fields = {"id": entry_id, "file": file} | fields | {"id": entry_id, "file": file}
            line = render_entry(fields)
            diagnostics = check_line(line, inspect=_expect_file if makes_file else self._inspect, words=self._words)
            if not _has_error(diagnostics):
                diagnostics += prepare(fields)
            offset = None if _has_error(diagnostics) else self._append(line)
            return AppendResult(fields, tuple(diagnostics), offset)

    def _append(self, line: bytes) -> int:
        try:
            os.makedirs(os.path.dirname(self._file), exist_ok=True)
            return append_line(self._file, line)
        except OSError as error:
            raise storage_error(self._file, error) from error


def _has_error(diagnostics: Iterable[Diagnostic]) -> bool:
    return any(each.severity == "error" for each in diagnostics)


def _expect_file(path: str) -> ArtifactFacts:
    """Return the facts of a findings file that will be created before its entry."""
    return ArtifactFacts(path, "file", 1)


def _choose_id(fields: Mapping[str, Any], slug: str | None) -> str:
    """Return the id of an entry: the given one, else topic and day (R4.7)."""
    given, day = fields.get("id"), fields.get("date")
    if isinstance(given, str) and given.strip():
        return given
    title = fields.get("title")
    if slug is None:
        slug = _read_slug(fields.get("file"), day) or make_slug(title if isinstance(title, str) else _NO_TITLE)
    if not slug:
        raise UsageError("can't make an id from the title: it has no letter from a to z", hint="give an id with --slug")
    return f"{slug}-{day}"


def _read_slug(file: object, day: object) -> str:
    """Return the topic in the name of the findings file; "" if it has none."""
    name = os.path.basename(file) if isinstance(file, str) else ""
    slug = name.removeprefix(f"{day}_").removesuffix(".md")
    return slug if slug != name and slug == make_slug(slug) else ""
