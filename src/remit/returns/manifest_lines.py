"""Validate a manifest line by line: each entry by the rules on returns, and each line that isn't an entry.

The docstring of a function that makes a diagnostic on the file itself (MAN…) is its page. A manifest may have a million
lines, so only the ids stay in memory. An invalid line doesn't affect the others.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any, NamedTuple

from jiter import from_json

from remit.model import Diagnostic, TextSpan
from remit.positions import LineIndex, escape_key
from remit.returns.formats import MANIFEST
from remit.returns.formats.manifest import read_aliases
from remit.returns.parsed_message import ParsedMessage
from remit.returns.placeholders import find_blanks
from remit.returns.rules import RETURN_RULES, ParseIssue, run_return_rules
from remit.returns.shapes import drop_empty_items, find_escape, name_type
from remit.returns.tolerant_json import UnreadableError, parse_object

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from remit.model import ArtifactFacts, Severity, Status
    from remit.returns.rules import ParseIssueKind

MAX_LINE_BYTES = 1024 * 1024
_MAX_SPREAD_LINES = 500
_MAX_TRIES = 20
_MAX_ON_LINE = 50

# --- diagnostics on the file ------------------------------------------------------------------------------------------


def line_too_long(number: int) -> Diagnostic:
    """A line is longer than the limit for an entry (1 MiB); Remit didn't read it.

    Why: an entry has a few sentences and points to a file. A line of several megabytes is that file, or an
    accident.

    Bad: the whole report in `key_findings`.

    Good: the report in the findings file, three to seven sentences in the entry.
    """
    return Diagnostic(
        "MAN001",
        "error",
        f"the line has more than {MAX_LINE_BYTES:,} bytes and wasn't read",
        "Move the content to the findings file.",
        place=TextSpan(number, 1, number, 2),
    )


def truncated_last_line(place: TextSpan, reason: str) -> Diagnostic:
    """The last line is cut off: it isn't valid JSON, and has no newline.

    Why: its writer was interrupted. The next entry would be appended to the same line, and both would be lost.

    Bad: `{"id":"auth-2026-01-19","file":"2026-01-` at the end of the file.

    Good: an entry that is written at once, with its newline. Complete or remove a cut-off entry.
    """
    message = f"the last line is cut off: {reason}"
    return Diagnostic("MAN002", "error", message, "Complete the entry, or remove the line.", place=place)


def no_final_newline(place: TextSpan) -> Diagnostic:
    """The last entry has no newline at its end.

    Why: the next program appends its entry to the same line, and neither can be read.

    Bad: a file that ends with `}`

    Good: a file that ends with `}` and a newline.
    """
    return Diagnostic(
        "MAN003",
        "warning",
        "the last entry has no newline at its end",
        "Add a newline at the end of the file.",
        place=place,
    )


def duplicate_id(entry_id: str, first_line: int, free: str, place: TextSpan | None) -> Diagnostic:
    """Two entries have the same id.

    Why: tasks and searches refer to an entry by its id. One of the two is never found.

    Bad: two entries with `"id": "auth-2026-01-19"`

    Good: a second entry on a topic and day gets a number: `"id": "auth-2026-01-19-2"`
    """
    return Diagnostic(
        "MAN004",
        "error",
        f"the id {entry_id[:80]} is already used in line {first_line}",
        f"Rename this one to {free[:80]}, or remove it if it is a duplicate.",
        "/id",
        place,
    )


def alias_used(key: str, field: str, place: TextSpan | None) -> Diagnostic:
    """A field has an alias instead of its standard name. Remit reads it, and reports each alias once.

    Why: existing manifests have `task_id`, `output_file`, `timestamp` and others. Remit reads them, other programs
    may not.

    Bad: `"output_file": "2026-01-19_auth.md"`

    Good: `"file": "2026-01-19_auth.md"`
    """
    message = f"{key} is an alias of {field}"
    return Diagnostic("MAN005", "note", message, f"Write {field}.", f"/{escape_key(key)}", place)


def not_utf8(place: TextSpan) -> Diagnostic:
    """A line isn't valid UTF-8.

    Why: JSON is UTF-8. Programs decode other bytes differently, or not at all.

    Bad: an entry written in Latin-1.

    Good: the same entry in UTF-8.
    """
    return Diagnostic("MAN006", "error", "the line isn't valid UTF-8", "Save the file as UTF-8.", place=place)


DIAGNOSTICS: dict[str, tuple[Callable[..., Diagnostic], Severity]] = {
    "MAN001": (line_too_long, "error"),
    "MAN002": (truncated_last_line, "error"),
    "MAN003": (no_final_newline, "warning"),
    "MAN004": (duplicate_id, "error"),
    "MAN005": (alias_used, "note"),
    "MAN006": (not_utf8, "error"),
}


# --- reading ----------------------------------------------------------------------------------------------------------


class LineDiagnostic(NamedTuple):
    """A diagnostic and the lines of the manifest that it refers to."""

    diagnostic: Diagnostic
    text: str
    first_line: int


class ManifestPassage(NamedTuple):
    """A line of the manifest, or several lines of one entry."""

    text: str
    first_line: int

    def report(self, diagnostic: Diagnostic) -> LineDiagnostic:
        """Return a diagnostic on the passage."""
        return LineDiagnostic(diagnostic, self.text, self.first_line)

    def locate(self, start: int, end: int) -> TextSpan:
        """Return the position of a part of the passage in the manifest."""
        return self.move(LineIndex(self.text).locate(start, end))

    def move(self, place: TextSpan) -> TextSpan:
        """Return a position in the passage as one in the manifest."""
        above = self.first_line - 1
        return place._replace(line=place.line + above, end_line=place.end_line + above)


class _Bad(NamedTuple):
    """Why a text isn't an entry, with the position of the problem."""

    reason: str
    at: int
    hint: str = "Write the entry as one JSON object on one line."


_SAID_BY_RET089 = frozenset({"RET051", "RET052"})
_NOT_JSON = RETURN_RULES["RET082"]
_DECODER = json.JSONDecoder()
_SPACE = re.compile(r"\s*+")
_CONFLICT = re.compile(r"(?:<{7}|={7}|>{7}|\|{7})(?: |\Z)")
_FLAWS: Mapping[str, tuple[ParseIssueKind, str, str]] = {
    "conflict": ("conflict", "has two different values", "Write each key once."),
    "nonfinite": ("nonfinite", "isn't a finite number", "Write a number, or remove the key."),
}


def check_line(
    data: bytes, *, inspect: Callable[[str], ArtifactFacts | None], words: Mapping[str, Status]
) -> list[Diagnostic]:
    """Validate a line before it is written; its diagnostics have no place."""
    found = check_lines(((data, True),), inspect=inspect, words=words)
    return [each.diagnostic._replace(place=None) for each in found]


def _read_entry(data: bytes) -> dict[str, Any] | None:
    """Parse the entry on a line; None if the line isn't exactly one object."""
    if len(data) > MAX_LINE_BYTES:
        return None
    try:
        entry = from_json(data, allow_inf_nan=False, catch_duplicate_keys=True)
    except ValueError:
        return None
    return entry if type(entry) is dict else None


def check_lines(
    lines: Iterable[tuple[bytes, bool]], *, inspect: Callable[[str], ArtifactFacts | None], words: Mapping[str, Status]
) -> Iterator[LineDiagnostic]:
    """Validate a manifest. Each line comes without its newline and with whether it has one; `look` inspects a file."""
    check = _Check(inspect, words)
    for number, (data, ended) in enumerate(lines, 1):
        if not data and not check.spread:  # a file can have millions of empty lines
            continue
        entry = None if check.spread else _read_entry(data)
        if entry is not None:
            yield from check.judge(entry, data, number, ended=ended)
        else:
            yield from check.read_odd_line(data, number, ended=ended)
    yield from check.close()


class _Check:
    """The state between lines: the ids, and an entry that spans several lines."""

    def __init__(self, inspect: Callable[[str], ArtifactFacts | None], words: Mapping[str, Status]) -> None:
        self.inspect = inspect
        self.words = words
        self.ids: dict[str, int] = {}
        self.numbered: dict[str, int] = {}
        self.aliases: set[str] = set()
        self.spread: list[str] = []
        """The lines of an object that isn't closed on its first line."""
        self.spread_from = 0
        self.spread_size = 0
        self.tries = 0

    # -- lines that aren't exactly one object

    def read_odd_line(self, data: bytes, number: int, *, ended: bool) -> Iterator[LineDiagnostic]:
        """Check a line that isn't exactly one object, or that may continue an object."""
        if len(data) > MAX_LINE_BYTES:
            yield from self.close()
            yield LineDiagnostic(line_too_long(number), data[:200].decode("utf-8", "replace"), number)
            return
        text = data.decode("utf-8", "replace")
        passage = ManifestPassage(text, number)
        if self.spread and self._continues(text):
            yield from self._continue_entry(text)
            return
        yield from self.close()
        if not text.strip():
            return
        if "\ufffd" in text and (at := _find_undecodable(data)) is not None:
            yield passage.report(not_utf8(passage.locate(at, at + 1)))
        entries, bad = _read_objects(text)
        if bad is not None and not entries and ended and text.startswith("{") and bad.at >= len(text.rstrip()):
            self.spread, self.spread_from, self.spread_size, self.tries = [text], number, len(text), 0
            return
        for start, entry in entries:
            yield from self.check_entry(entry, passage, start)
        if bad is not None:
            yield passage.report(self._describe_bad_line(bad, passage, ended=ended))
        elif not ended:
            yield passage.report(no_final_newline(passage.locate(len(text), len(text))))

    def _describe_bad_line(self, bad: _Bad, passage: ManifestPassage, *, ended: bool) -> Diagnostic:
        end = len(passage.text.rstrip())
        place = passage.locate(min(bad.at, end - 1), min(bad.at, end - 1) + 1)
        if not ended and bad.at >= end:
            return truncated_last_line(place, bad.reason)
        return Diagnostic(_NOT_JSON.code, "error", bad.reason, bad.hint, place=place)

    def _continues(self, text: str) -> bool:
        """Whether a line may continue the open object."""
        room = len(self.spread) < _MAX_SPREAD_LINES and self.spread_size + len(text) <= MAX_LINE_BYTES
        return room and (not text or text[0] in ' \t\r"}]')

    def _continue_entry(self, text: str) -> Iterator[LineDiagnostic]:
        self.spread.append(text)
        self.spread_size += len(text)
        if not text.startswith("}") or self.tries >= _MAX_TRIES:
            return
        self.tries += 1
        passage = ManifestPassage("\n".join(self.spread), self.spread_from)
        entries, bad = _read_objects(passage.text)
        if bad is None and len(entries) == 1:
            count, self.spread = len(self.spread), []
            message = f"the entry spans {count} lines"
            place = passage.locate(0, len(passage.text.rstrip()))
            yield passage.report(
                Diagnostic(_NOT_JSON.code, "error", message, "Write the entry on one line.", place=place)
            )
            yield from self.check_entry(entries[0][1], passage, entries[0][0])

    def close(self) -> Iterator[LineDiagnostic]:
        """Report an object that was never closed, as one diagnostic."""
        if not self.spread:
            return
        passage = ManifestPassage("\n".join(self.spread), self.spread_from)
        _, bad = _read_objects(passage.text)
        count, self.spread = len(self.spread), []
        reason = bad.reason if bad is not None else "the object isn't closed"
        what = reason if count == 1 else f"{count} lines aren't an entry: {reason}"
        place = passage.locate(0, len(passage.text.rstrip()))
        yield passage.report(
            Diagnostic(_NOT_JSON.code, "error", what, "Write the entry as one JSON object on one line.", place=place)
        )  # fmt: skip

    # -- entries

    def judge(self, entry: dict[str, Any], data: bytes, number: int, *, ended: bool) -> Iterator[LineDiagnostic]:
        """Check a line that is one object."""
        passage = ManifestPassage(data.decode("utf-8", "replace"), number)
        yield from self.check_entry(entry, passage, passage.text.index("{"))
        if not ended:
            yield passage.report(no_final_newline(passage.locate(len(passage.text), len(passage.text))))

    def _find_facts(self, entry: Mapping[str, Any]) -> dict[str, ArtifactFacts]:
        file = entry.get("file")
        facts = self.inspect(file) if isinstance(file, str) and file and find_escape(file) is None else None
        return {} if facts is None else {facts.path: facts}

    def check_entry(self, entry: dict[str, Any], passage: ManifestPassage, start: int) -> Iterator[LineDiagnostic]:
        """Check an entry with all rules and yield the diagnostics with their place in the manifest."""
        read_as, taken = read_aliases(entry)
        spans, issues = _find_spans(passage.text, start)
        for field, key in taken.items():
            spans[f"/{field}"] = spans.get(f"/{key}", (start, start + 1))
        drop_empty_items(read_as, MANIFEST.shape, spans)
        issues += find_blanks(read_as, MANIFEST)
        facts = self._find_facts(read_as)
        parsed = ParsedMessage(passage.text, MANIFEST, read_as, tuple(issues), spans, words=self.words, evidence=facts)
        diagnostics = run_return_rules(parsed)
        forgotten = any(diagnostic.code == "RET089" for diagnostic in diagnostics)
        for diagnostic in diagnostics:
            if not (forgotten and diagnostic.code in _SAID_BY_RET089):  # a missing file is reported once
                place = diagnostic.place and passage.move(diagnostic.place)
                yield passage.report(diagnostic._replace(place=place))
        yield from self._check_id(read_as.get("id"), passage, spans)
        for field, key in taken.items():
            if key not in self.aliases:
                self.aliases.add(key)
                yield passage.report(alias_used(key, field, passage.locate(*spans[f"/{field}"])))

    def _check_id(
        self, entry_id: object, passage: ManifestPassage, spans: Mapping[str, tuple[int, int]]
    ) -> Iterator[LineDiagnostic]:
        if not isinstance(entry_id, str) or not entry_id.strip():
            return
        first = self.ids.get(entry_id)
        if first is None:
            self.ids[entry_id] = passage.first_line
            return
        number = self.numbered.get(entry_id, 1) + 1
        while f"{entry_id}-{number}" in self.ids:
            number += 1
        self.numbered[entry_id] = number
        place = passage.locate(*spans["/id"]) if "/id" in spans else None
        yield passage.report(duplicate_id(entry_id, first, f"{entry_id}-{number}", place))


def _find_undecodable(data: bytes) -> int | None:
    """The offset, in characters, of the first byte that is not UTF-8."""
    try:
        data.decode("utf-8")
    except UnicodeDecodeError as error:
        return len(data[: error.start].decode("utf-8"))
    return None


def _find_spans(text: str, start: int) -> tuple[dict[str, tuple[int, int]], list[ParseIssue]]:
    """Where each value stands, and what the strict parser would have tripped over."""
    try:
        parsed = parse_object(text, start)
    except UnreadableError:  # too deep or too much to follow
        return {"": (start, start + 1)}, []
    issues = []
    for flaw in parsed.flaws:
        if flaw.kind in _FLAWS:
            kind, message, hint = _FLAWS[flaw.kind]
            issues.append(ParseIssue(kind, f"{flaw.pointer[1:]} {message}", hint, flaw.start, flaw.end, flaw.pointer))
    return dict(parsed.spans), issues


def _read_objects(text: str) -> tuple[list[tuple[int, dict[str, Any]]], _Bad | None]:
    """The objects on a line with where they begin, and what is wrong with there not being just one."""
    found: list[tuple[int, dict[str, Any]]] = []
    at = _skip(text, 1 if text.startswith("\ufeff") else 0)
    if _CONFLICT.match(text.rstrip("\r")):
        return [], _Bad(
            "the line is a conflict marker of an unfinished merge",
            0,
            "Keep the entries of both sides and remove the conflict markers.",
        )
    while at < len(text):
        try:
            value, end = _DECODER.raw_decode(text, at)
        except (ValueError, RecursionError) as error:
            return found, _explain(error, text)
        if not isinstance(value, dict):
            return found, _Bad(f"the line is {name_type(value)}, expected an object", at)
        found.append((at, value))
        at = _skip(text, end)
        if len(found) > _MAX_ON_LINE:
            break
    if len(found) > 1:
        hint = "Put each entry on its own line."
        return found, _Bad(f"{len(found)} entries are on the same line", found[1][0], hint)
    return found, None


def _skip(text: str, at: int) -> int:
    return _SPACE.match(text, at).end()  # type: ignore[union-attr] # it matches nothing, too


def _explain(error: Exception, text: str) -> _Bad:
    at = getattr(error, "pos", 0)
    if isinstance(error, RecursionError):
        return _Bad("the object is nested too deeply", 0)
    if at >= len(text.rstrip()) or getattr(error, "msg", "").startswith("Unterminated string"):
        return _Bad("the object isn't closed", len(text))
    reason = getattr(error, "msg", str(error))
    return _Bad(f"the line isn't valid JSON: {reason[:1].lower()}{reason[1:]}", at)
