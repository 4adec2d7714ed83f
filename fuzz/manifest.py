"""The manifest reader as a target: any lines; each is judged, and the index and the check agree on what an entry is."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Final

from fuzz.formats import SAMPLES
from fuzz.target import Target, need_nothing, spell
from remit.manifest.entries import ManifestEntry, explain_bad_line, list_columns, list_words, read_entry
from remit.model import ArtifactFacts
from remit.returns.manifest_lines import check_line, check_lines

if TYPE_CHECKING:
    from collections.abc import Iterator

ENTRY: Final = json.dumps(SAMPLES[-1][1])
STATES: Final = ("file", "missing", "empty", "outside")
WORDS: Final = (
    ENTRY, "\n", "\r\n", "{", "}", "[", "]", ",", ":", '"', "\\", '"id": "a-2026-01-19"', '"id": ""', '"id": 7',
    ', "status": "complete"', ', "status": "superseded"', ', "date": "2026-13-45"', ', "date": "9999-12-31"',
    ', "file": "../a.md"', ', "file": "/etc/passwd"', ', "key_findings": ["A."]', ', "topics": "x"', ', "tags": ["a"]',
    ', "linked_tasks": [1, "T2", null]', ', "needs_followup": ["x"]', ', "actionable": "yes"', '"summary": "s"',
    "<<<<<<< HEAD", "=======", ">>>>>>> b", "NaN", "1e999", "null", "true", "-0", "9" * 400, "[" * 90, '{"a":' * 90,
    "\ufeff", "\x00", "\udcff", "\u2028", "\\ud83d", "é", " ", "\t", '  "a": 1,', "  }", "// c", "'",
)  # fmt: skip


def check_laws(data: bytes, state: str) -> None:
    """Every finding has its line; a line by itself is judged as before; an entry has its columns."""

    def look(path: str) -> ArtifactFacts:
        return ArtifactFacts(path, state, 1)  # type: ignore[arg-type]

    *whole, rest = data.split(b"\n")
    lines = [(line, True) for line in whole] + ([(rest, False)] if rest else [])
    for told in check_lines(lines, inspect=look, words={}):
        place = told.diagnostic.place
        if place is not None:
            assert told.first_line <= place.line <= place.end_line <= told.first_line + told.text.count("\n")
        assert told.diagnostic.message
    for line, _ in lines:
        fields = read_entry(line)
        if fields is None:
            assert not line.strip() or explain_bad_line(line)
            continue
        entry = ManifestEntry(1, fields)
        assert isinstance(entry.id, str)
        assert all(isinstance(each, str) for each in entry.get_list("topics"))
        columns = list_columns(fields)
        assert len(columns.topics.split("\n")) == len(entry.get_list("topics")) + 2 or not columns.topics
        assert all(text.encode() or not text for text in list_words(fields))
    for line, _ in lines[:3]:
        for finding in check_line(line, inspect=look, words={}):
            assert finding.place is None


def check_case(data: bytes) -> None:
    """Take the bytes apart, and try the laws."""
    if not data:
        return
    way, rest = data[0], data[1:]
    if way & 8:
        rest = spell(rest, WORDS, expanded=True).encode("utf-8", "surrogateescape")
    check_laws(rest, STATES[way & 3])


def list_seeds() -> Iterator[bytes]:
    """One entry, two of them, one that is spread over lines, one that is torn; and each word by itself."""
    entry = ENTRY.encode()
    spread = json.dumps(SAMPLES[-1][1], indent=2).encode()
    for way in range(4):
        for text in (entry, entry + b"\n", entry + b"\n" + entry.replace(b"auth", b"db") + b"\n", spread, entry[:99]):
            yield bytes([way]) + text
    for number in range(0x80, 0x100):
        yield bytes([8, number, number ^ 0x55, number])


TARGET = Target("manifest", ("remit.returns",), WORDS, list_seeds, need_nothing(check_case), max_bytes=8192)
