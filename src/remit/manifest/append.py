"""Appending: one more entry, checked, with an id that no other has, in one write.

Owns the only way in which a manifest changes. Everything that has to be true of the new line is made sure of under the
manifest's lock, by the file alone: readers bring the index up to date.
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
"""What an entry is called until the rules have told that it has no title."""


class Added(NamedTuple):
    """What became of an entry that was to be added."""

    fields: Mapping[str, Any]
    """The entry as it was written, or would have been."""
    findings: tuple[Diagnostic, ...]
    offset: int | None
    """Where in the file its line begins; None where an error kept it out."""

    @property
    def accepted(self) -> bool:
        """Whether it was written."""
        return self.offset is not None


class Appender:
    """Adds entries to one manifest."""

    def __init__(
        self,
        home: Home,
        file: str,
        *,
        look: Callable[[str], ArtifactFacts | None],
        words: Mapping[str, Status],
        folder: str = "",
    ) -> None:
        """`look` tells of a findings file, `words` are the workspace's own statuses.

        `folder` leads to the findings files where they are not beside the manifest, and ends with a slash.
        """
        self._home = home
        self._file = os.path.abspath(file)
        self._look = look
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
    ) -> Added:
        """Add an entry, unless the contract's rules have an error against it; then nothing is written.

        What it does not say is made: the date from `day`, the id from `slug` or the title, the file from the id.
        `prepare` is given the entry before its line is written, to look at the findings file or to make it: then the
        file need not be there before. An error that it tells keeps the entry out as well.
        """
        fields = shape_entry({"date": day, **given})
        wanted = _choose_id(fields, slug)
        with self._home.lock(MANIFEST):
            entry_id = find_free_id(self._file, wanted)
            file = fields.get("file") or f"{self._folder}{name_findings_file(entry_id, str(fields['date']))}"
            fields = {"id": entry_id, "file": file} | fields | {"id": entry_id, "file": file}
            line = render_entry(fields)
            findings = check_line(line, look=_expect_file if makes_file else self._look, words=self._words)
            if not _has_error(findings):
                findings += prepare(fields)
            offset = None if _has_error(findings) else self._append(line)
            return Added(fields, tuple(findings), offset)

    def _append(self, line: bytes) -> int:
        try:
            os.makedirs(os.path.dirname(self._file), exist_ok=True)
            return append_line(self._file, line)
        except OSError as error:
            raise storage_error(self._file, error) from error


def _has_error(findings: Iterable[Diagnostic]) -> bool:
    return any(finding.severity == "error" for finding in findings)


def _expect_file(path: str) -> ArtifactFacts:
    """A findings file that will be there before its entry is."""
    return ArtifactFacts(path, "file", 1)


def _choose_id(fields: Mapping[str, Any], slug: str | None) -> str:
    """The id of an entry: what it has, else made of the topic and the day (R4.7)."""
    given, day = fields.get("id"), fields.get("date")
    if isinstance(given, str) and given.strip():
        return given
    title = fields.get("title")
    if slug is None:
        slug = _read_slug(fields.get("file"), day) or make_slug(title if isinstance(title, str) else _NO_TITLE)
    if not slug:
        raise UsageError("the title gives no id: there is no letter from a to z in it", hint="give a slug")
    return f"{slug}-{day}"


def _read_slug(file: object, day: object) -> str:
    """The topic as the findings file's name has it."""
    name = os.path.basename(file) if isinstance(file, str) else ""
    slug = name.removeprefix(f"{day}_").removesuffix(".md")
    return slug if slug != name and slug == make_slug(slug) else ""
