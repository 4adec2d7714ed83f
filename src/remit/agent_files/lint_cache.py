"""The cache of what linting found, by the content of a file.

Owns one table under `.remit/cache`, of plain values. It is data from a disk that others write to, so it is read as
such: an entry that does not fit exactly is not used. It is for this version of the rules only.
"""

from __future__ import annotations

import os
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from remit.agent_files.discovery import hash_content, load_agent_file, measure
from remit.errors import InputError
from remit.model import Diagnostic, Fix, TextEdit, TextSpan

if TYPE_CHECKING:
    from remit.agent_files.discovery import AgentFile, JudgedFile
    from remit.agents.lint import CheckedFile

MAX_CACHE_BYTES = 64 * 1024 * 1024


class LintCache:
    """Entries by path: the content's hash, the context files and their sizes, and what was found."""

    def __init__(self, file: str | None, root: str) -> None:
        self.file = file
        self.root = root
        self.stamp = _stamp_rules() if file else ""
        self.entries: dict[str, Any] = {}
        self.fresh: dict[str, Any] = {}
        if file is not None:
            self.entries = _load(file, self.stamp)

    def get(self, source: AgentFile) -> CheckedFile | None:
        """What was found in the file's content, if it and its context files still are what they were."""
        entry = self.entries.get(source.path)
        if entry is None:
            return None
        content = load_agent_file(source.file)
        if isinstance(content, str):
            return None
        try:
            digest, wanted, sizes, value = entry
            if digest != hash_content(content) or sizes != measure(wanted, self.root):
                return None
            return _read(source.path, value)
        except (TypeError, ValueError, KeyError, AttributeError):
            return None

    def put(self, source: AgentFile, judged: JudgedFile) -> None:
        """Keep what was found."""
        if self.file is not None and judged.digest is not None:
            wanted = {path: list(places) for path, places in judged.wanted.items()}
            self.fresh[source.path] = [judged.digest, wanted, dict(judged.sizes), _shape(judged.checked)]

    def close(self) -> None:
        """Write the table, where it changed. What can't be written is worked out again next time."""
        if self.file is None or not self.fresh or not self._is_own():
            return
        from remit.storage.files import make_private_folder, write_bytes  # noqa: PLC0415 - only when it changed

        # Files that were not asked for this time keep their entries, while they are there.
        others = {
            path: entry for path, entry in self.entries.items() if path not in self.fresh and self._is_there(path)
        }
        try:
            make_private_folder(os.path.dirname(self.file))
            write_bytes(self.file, _render(self.stamp, {**others, **self.fresh}), durable=False)
        except OSError:
            return

    def _is_own(self) -> bool:
        """Whether the table lies where it seems to: a workspace may bring a link that leads to somebody's file."""
        inside = os.path.relpath(self.file or "", self.root)
        return os.path.realpath(self.file or "") == os.path.join(os.path.realpath(self.root), inside)

    def _is_there(self, path: str) -> bool:
        return os.path.lexists(os.path.join(self.root, path))


def _stamp_rules() -> str:
    """Which rules these are: the sizes and times of their files, so that a changed rule finds no old answers."""
    package = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    facts = []
    waiting = [package]
    while waiting:
        folder = waiting.pop()
        for entry in os.scandir(folder):
            if entry.name.endswith(".py"):
                found = entry.stat()
                facts.append(f"{entry.path}:{found.st_size}:{found.st_mtime_ns}")
            elif entry.name in ("agents", "harnesses") or (
                folder != package and "." not in entry.name and entry.is_dir()
            ):  # the rules, and the names of harnesses that they know
                waiting.append(entry.path)
    return hash_content("|".join(sorted(facts)).encode())


def _load(file: str, stamp: str) -> dict[str, Any]:
    import jiter  # noqa: PLC0415 - only where there is a cache

    from remit.storage.files import load_bytes  # noqa: PLC0415

    try:
        data = load_bytes(file, max_bytes=MAX_CACHE_BYTES)
        table = jiter.from_json(data, cache_mode="all") if len(data) <= MAX_CACHE_BYTES else None
    except (InputError, ValueError):
        return {}
    if not isinstance(table, dict) or table.get("stamp") != stamp:
        return {}
    entries = table.get("entries")
    return entries if isinstance(entries, dict) else {}


def _render(stamp: str, entries: dict[str, Any]) -> bytes:
    """The table as its file has it, without entries that are no Unicode: a file's name may be any bytes."""
    import json  # noqa: PLC0415 - only when something changed

    rows = []
    for path, entry in entries.items():
        row = json.dumps({path: entry}, ensure_ascii=False, separators=(",", ":"))[1:-1]
        with suppress(UnicodeEncodeError):
            rows.append(row.encode())
    return b'{"stamp":"%b","entries":{%b}}' % (stamp.encode(), b",".join(rows))


# --- values ↔ plain lists --------------------------------------------------------------------------------------------


def _shape(checked: CheckedFile) -> list[Any]:
    definition = None if checked.definition is None else checked.definition._asdict()
    return [checked.findings, definition, checked.ignores]


def _read(path: str, value: list[Any]) -> CheckedFile:
    """What an entry says of a file; whatever does not fit raises one of the errors that a wrong shape raises."""
    from remit.agents.definition import Definition, Target  # noqa: PLC0415 - together with the first entry
    from remit.agents.document import Ignore  # noqa: PLC0415
    from remit.agents.lint import CheckedFile  # noqa: PLC0415

    rows, fields, ignores = value
    definition = None
    if fields is not None:
        _expect(fields["path"] == path and fields["profile"] in _PROFILES)
        _expect_text(fields["name"], fields["description"])
        _expect_text(*(fields[key] for key in ("kind", "mode", "command") if fields[key] is not None))
        _expect(all(fields[key] is None or type(fields[key]) in (int, float) for key in ("timeout_s", "max_depth")))
        definition = Definition(**{
            **fields,
            "targets": tuple(Target(_read_text(name), _read_span(span), _read_place(place))
                             for name, span, place in fields["targets"]),
            "calls": _read_texts(fields["calls"]),
            "tools": None if fields["tools"] is None else _read_texts(fields["tools"]),
            "allow": {tool: _read_texts(patterns) for tool, patterns in fields["allow"].items()},
            "deny": {tool: _read_texts(patterns) for tool, patterns in fields["deny"].items()},
            "places": {key: _read_place(place) for key, place in fields["places"].items()},
        })  # fmt: skip
        _expect(definition.profile == "command" or {"name", "timeout", "tools"} <= definition.places.keys())
    silenced = []
    for codes, line, whole, place, cut in ignores:
        _expect(type(line) is int and type(whole) is bool)
        silenced.append(Ignore(_read_texts(codes), line, whole, _read_place(place), _read_span(cut)))
    return CheckedFile(path, tuple([_read_finding(row) for row in rows]), definition, tuple(silenced))


_PROFILES = frozenset({"standard", "claude", "opencode", "codex", "command"})
_SEVERITIES = frozenset({"error", "warning", "note"})


def _read_finding(row: list[Any]) -> Diagnostic:
    code, severity, message, hint, pointer, place, fix = row
    _expect_text(code, message, hint, pointer)
    _expect(severity in _SEVERITIES)
    where, cure = None if place is None else _read_place(place), None if fix is None else _read_fix(*fix)
    return Diagnostic(code, severity, message, hint, pointer, where, cure)


def _read_fix(applicability: Any, message: str, edits: list[Any]) -> Fix:  # noqa: ANN401 - whatever was there
    _expect(applicability in ("safe", "unsafe"))
    _expect_text(message)
    return Fix(applicability, message, tuple([_read_edit(*edit) for edit in edits]))


def _read_edit(start: int, end: int, text: str, place: Any) -> TextEdit:  # noqa: ANN401 - whatever was there
    return TextEdit(*_read_span((start, end)), _read_text(text), _read_place(place))


def _read_place(value: Any) -> TextSpan:  # noqa: ANN401 - whatever was there
    line, column, end_line, end_column = value
    _expect(type(line) is type(column) is type(end_line) is type(end_column) is int and min(value) > 0)
    return TextSpan(line, column, end_line, end_column)


def _read_span(value: Any) -> tuple[int, int]:  # noqa: ANN401 - whatever was there
    start, end = value
    _expect(type(start) is type(end) is int)
    return start, end


def _read_text(value: Any) -> str:  # noqa: ANN401 - whatever was there
    _expect_text(value)
    return str(value)


def _read_texts(values: Any) -> tuple[str, ...]:  # noqa: ANN401 - whatever was there
    _expect(type(values) is list)
    _expect_text(*values)
    return tuple(values)


def _expect_text(*values: Any) -> None:  # noqa: ANN401 - whatever was there
    for value in values:
        _expect(type(value) is str)


def _expect(fits: bool) -> None:  # noqa: FBT001 - a check has one argument
    if not fits:
        raise ValueError("the entry does not fit")
