"""Appending: one more entry, checked, with an id that nobody else has, in one write.

Owns the only way in which a manifest changes. Everything that has to be true of the new line is made sure of under the
manifest's lock. The index is not brought up to date for it, which is left to whoever reads; that an id is free is known
from the index and from the lines that came after it.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, NamedTuple

from jiter import from_json

from remit.contract.manifest_lines import check_line
from remit.errors import StorageError, UsageError
from remit.model import ArtifactFacts
from remit.workspace.files import tell_failure
from remit.workspace.manifest.entries import (
    add_number,
    make_slug,
    name_findings_file,
    render_entry,
    shape_entry,
    split_id,
)
from remit.workspace.manifest.index import SMALL_BYTES, take_stamp
from remit.workspace.manifest.rows import BOM, MANIFEST_SHIFT

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from remit.model import Finding, Status
    from remit.workspace.files import Grown
    from remit.workspace.manifest.index import Index, Known

_MAX_TAIL_BYTES = 256 * 1024
"""Lines behind the index that are looked through for their ids; beyond that, to index them is quicker."""
_MAX_TAIL_IDS = 50_000
_WHOLE_BYTES = 64 * 1024
"""A file up to here is read as a whole: that is quicker than to open the ledger and ask."""
_PATIENCE = 20
_NO_TITLE = "entry"
"""What an entry is called until the rules have told that it has no title."""
_TAKEN = f"""
    SELECT m.number, m.offset, e.number FROM manifests AS m LEFT JOIN manifest_entries AS e
    ON e.id = ?2 AND e.number >= m.number << {MANIFEST_SHIFT} AND e.number < (m.number + 1) << {MANIFEST_SHIFT}
    WHERE m.path = ?1 LIMIT 1
"""  # noqa: S608 - a constant


class Added(NamedTuple):
    """What became of an entry that was to be added."""

    fields: Mapping[str, Any]
    """The entry as it was written, or would have been."""
    findings: tuple[Finding, ...]
    offset: int | None
    """Where in the file its line begins; None where an error kept it out."""

    @property
    def accepted(self) -> bool:
        """Whether it was written."""
        return self.offset is not None


class _Tail(NamedTuple):
    """The lines behind what the index knew when they were first looked at: how far, and which ids are in them."""

    number: int
    """Of the manifest in the index; 0 where that was not asked, because all lines of the file are here."""
    since: int
    stamp: tuple[int, int, int, int]
    """What the file was when it was looked at."""
    until: int
    ids: set[str]


class _MovedError(Exception):
    """The index was made anew since it was looked at."""


class Appender:
    """Adds entries to one manifest, and keeps in mind what it has seen of it: the next one costs little more."""

    def __init__(
        self,
        index: Index,
        *,
        look: Callable[[str], ArtifactFacts | None],
        words: Mapping[str, Status],
        folder: str = "",
    ) -> None:
        """`look` tells of a findings file, `words` are the workspace's own statuses.

        `folder` leads to the findings files where they are not beside the manifest, and ends with a slash.
        """
        self.index = index
        self._look = look
        self._words = words
        self._folder = folder
        self._tail: _Tail | None = None
        self._is_alone = False
        """Whether nobody else has touched the file since we last added to it."""

    def add(
        self,
        given: Mapping[str, Any],
        *,
        day: str,
        slug: str | None = None,
        prepare: Callable[[Mapping[str, Any]], Iterable[Finding]] = lambda _: (),
        makes_file: bool = False,
    ) -> Added:
        """Add an entry, unless the contract's rules have an error against it; then nothing is written.

        What it does not say is made: the date from `day`, the id from `slug` or the title, the file from the id.
        `prepare` is given the entry before its line is written, to look at the findings file or to make it: then the
        file need not be there before. An error that it tells keeps the entry out as well.
        """
        fields = shape_entry({"date": day, **given})
        stem, number = split_id(_choose_stem(fields, slug))
        with self.index.lock:
            entry_id = self._find_free(stem, number)
            file = fields.get("file") or f"{self._folder}{name_findings_file(entry_id, str(fields['date']))}"
            fields = {"id": entry_id, "file": file} | fields | {"id": entry_id, "file": file}
            line = render_entry(fields)
            findings = check_line(line, look=_expect_file if makes_file else self._look, words=self._words)
            if not _has_error(findings):
                findings += prepare(fields)
            offset = None if _has_error(findings) else self._append(entry_id, line)
            return Added(fields, tuple(findings), offset)

    def _append(self, entry_id: str, line: bytes) -> int:
        growing = self.index.growing
        try:
            try:
                grown = growing.append(line)
            except FileNotFoundError:
                os.makedirs(os.path.dirname(growing.path), exist_ok=True)
                grown = growing.append(line)
        except OSError as error:
            raise tell_failure(growing.path, error) from error
        self._follow(entry_id, grown, grown.start + len(line) + 1)
        return grown.start

    def _follow(self, entry_id: str, grown: Grown, end: int) -> None:
        """Keep in mind that the file grew by a line of ours, up to `end`, and by nothing else.

        The others are told of it once there are others, or where it would take them long to find out.
        """
        before, after, tail = grown.before, grown.after, self._tail
        if after.st_size != end:
            return
        if end > _WHOLE_BYTES and (not self._is_alone or end > SMALL_BYTES) and not grown.is_new:
            self.index.follow(before, after)
        if tail is None and grown.is_new:
            self._tail = _Tail(0, 0, take_stamp(after), end, {entry_id})
        elif tail is not None and tail.stamp == take_stamp(before):
            tail.ids.add(entry_id)
            self._tail = _Tail(tail.number, tail.since, take_stamp(after), end, tail.ids)

    # -- ids

    def _find_free(self, stem: str, number: int) -> str:
        """The first id of a stem that is free."""
        for _ in range(_PATIENCE):
            try:
                self._look_at_tail()
                return add_number(stem, _find_first(lambda n: self._is_taken(add_number(stem, n)), number))
            except _MovedError:
                self._tail = None
        raise StorageError(f"'{self.index.file}' changes all the time", hint="end whatever rewrites it, and try again")

    def _is_taken(self, entry_id: str) -> bool:
        tail = self._tail
        if tail is None:
            return False
        if entry_id in tail.ids or tail.since == 0:
            return entry_id in tail.ids
        row = self.index.ask(_TAKEN, (self.index.key, entry_id))
        if row is None or row[0] != tail.number or row[1] < tail.since:
            raise _MovedError
        return row[2] is not None

    def _look_at_tail(self) -> None:
        """See to it that every id in the file is either in the index or in mind; nothing is where there is no file."""
        found, tail = self.index.look_if_there(), self._tail
        if found is None:
            self._tail = None
            return
        if tail is not None and self._is_followed(tail, found):
            pass
        elif found.st_size <= _WHOLE_BYTES:
            tail = self._read_on(_Tail(0, 0, take_stamp(found), 0, set()), found)
            again = self.index.look_if_there()
            if again is None or take_stamp(again) != tail.stamp:
                raise _MovedError
        else:
            known = self.index.recall()
            if known is None or not _is_near(known, found):
                known = self.index.catch_up()
                found = self.index.look()
                if not known.is_untouched(found):
                    raise _MovedError
            tail = _Tail(known.number, known.offset, take_stamp(found), known.offset, set())
        self._tail = tail if found.st_size == tail.until else self._read_on(tail, found)

    def _is_followed(self, tail: _Tail, found: os.stat_result) -> bool:
        """Whether what is in mind is of this file, not too far behind, and nobody but Remit has touched it since."""
        self._is_alone = tail.stamp == take_stamp(found)
        if len(tail.ids) >= _MAX_TAIL_IDS or not 0 <= found.st_size - tail.until <= _MAX_TAIL_BYTES:
            return False
        if self._is_alone or tail.number == 0:
            return self._is_alone
        known = self.index.recall()
        return known is not None and known.number == tail.number and known.is_untouched(found)

    def _read_on(self, tail: _Tail, found: os.stat_result) -> _Tail:
        """Take in the ids of what others have written, also of a line that nobody has ended: we are about to."""
        data = self.index.read_bytes(tail.until, found.st_size - tail.until)
        whole = data.rfind(b"\n") + 1
        for line in (data.removeprefix(BOM) if tail.until == 0 else data).split(b"\n"):
            try:
                entry = from_json(line, allow_inf_nan=False)
            except ValueError:
                continue
            entry_id = entry.get("id") if isinstance(entry, dict) else None
            if isinstance(entry_id, str):
                tail.ids.add(entry_id)
        return tail._replace(stamp=take_stamp(found), until=tail.until + whole)


def _find_first(is_taken: Callable[[int], bool], number: int) -> int:
    """The first number that is free: where the numbers have no gaps, and they have none, in few steps."""
    if not is_taken(number):
        return number
    low, step = number, 1
    while is_taken(low + step):
        low, step = low + step, step * 2
    high = low + step
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if is_taken(middle) else (low, middle)
    return high


def _is_near(known: Known, found: os.stat_result) -> bool:
    """Whether nobody but Remit has touched the file since it was indexed, and that was not long ago."""
    return known.is_untouched(found) and found.st_size - known.offset <= _MAX_TAIL_BYTES


def _has_error(findings: Iterable[Finding]) -> bool:
    return any(finding.severity == "error" for finding in findings)


def _expect_file(path: str) -> ArtifactFacts:
    """A findings file that will be there before its entry is."""
    return ArtifactFacts(path, "file", 1)


def _choose_stem(fields: Mapping[str, Any], slug: str | None) -> str:
    """The id of an entry, short of its number: what it has, else made of the topic and the day (R4.7)."""
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
