"""The cache of lint diagnostics, by the content of a file.

The cache is one JSON file below `.remit/cache`. Anyone may have written to the disk, so every entry is checked, and an
invalid one is ignored. A cache is valid for one version of the rules only.
"""

from __future__ import annotations

import os
import stat
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from remit.agent_files.discovery import load_agent_file
from remit.errors import InputError
from remit.light_namedtuple import NamedTuple
from remit.model import Diagnostic, Fix, TextEdit, TextSpan

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from remit.agent_files.discovery import AgentFile
    from remit.agents.lint import CheckedFile

MAX_CACHE_BYTES = 64 * 1024 * 1024


class FileCheck(NamedTuple):
    """The diagnostics of one file, and the state of all files that they depend on."""

    checked: CheckedFile
    digest: str | None
    """The hash of its content; None if it can't be read."""
    wanted: Mapping[str, tuple[str, ...]]
    """The context files that it names, with the possible paths of each."""
    sizes: Mapping[str, int | None]


class LintCache:
    """Entries by path: the hash of the content, the context files with their sizes, and the diagnostics."""

    def __init__(self, file: str | None, root: str) -> None:
        self.file = file
        self.root = root
        self.stamp = _stamp_rules() if file else ""
        self.entries: dict[str, Any] = {}
        self.fresh: dict[str, Any] = {}
        if file is not None:
            self.entries = _load(file, self.stamp)

    def get(self, source: AgentFile) -> CheckedFile | None:
        """Return the cached result for a file; None if the file or one of its context files has changed."""
        entry = self.entries.get(source.path)
        if entry is None:
            return None
        content = load_agent_file(source.file)
        if isinstance(content, str):
            return None
        try:
            digest, wanted, sizes, value = entry
            if digest != hash_content(content) or sizes != measure_files(wanted, self.root):
                return None
            return _read(source.path, value)
        except (TypeError, ValueError, KeyError, AttributeError):
            return None

    def put(self, source: AgentFile, check: FileCheck) -> None:
        """Add a result."""
        if self.file is not None and check.digest is not None:
            wanted = {path: list(places) for path, places in check.wanted.items()}
            self.fresh[source.path] = [check.digest, wanted, dict(check.sizes), _shape(check.checked)]

    def close(self) -> None:
        """Write the cache if it has changed. A failure is ignored: the files are checked again next time."""
        if self.file is None or not self.fresh or not self._is_own():
            return
        from remit.storage.files import make_private_folder, write_bytes  # noqa: PLC0415 - only if it changed

        # Existing files that weren't checked this time keep their entries.
        others = {path: entry for path, entry in self.entries.items() if path not in self.fresh and self._exists(path)}
        try:
            make_private_folder(os.path.dirname(self.file))
            write_bytes(self.file, _render(self.stamp, {**others, **self.fresh}), durable=False)
        except OSError:
            return

    def _is_own(self) -> bool:
        """Whether the cache is inside the workspace: a repository may contain a link to another file."""
        inside = os.path.relpath(self.file or "", self.root)
        return os.path.realpath(self.file or "") == os.path.join(os.path.realpath(self.root), inside)

    def _exists(self, path: str) -> bool:
        return os.path.lexists(os.path.join(self.root, path))


def _stamp_rules() -> str:
    """Return the version of the rules, from the sizes and times of their files: a changed rule empties the cache."""
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
            ):  # the rules, and the names that they use
                waiting.append(entry.path)
    return hash_content("|".join(sorted(facts)).encode())


def _load(file: str, stamp: str) -> dict[str, Any]:
    import jiter  # noqa: PLC0415 - only if there is a cache

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
    """Return the cache as bytes, without entries whose file names aren't Unicode."""
    import json  # noqa: PLC0415 - only if something changed

    rows = []
    for path, entry in entries.items():
        row = json.dumps({path: entry}, ensure_ascii=False, separators=(",", ":"))[1:-1]
        with suppress(UnicodeEncodeError):
            rows.append(row.encode())
    return b'{"stamp":"%b","entries":{%b}}' % (stamp.encode(), b",".join(rows))


def hash_content(content: bytes) -> str:
    """Return the hash of a content."""
    try:
        from _blake2 import blake2b  # noqa: PLC0415 - hashlib also loads OpenSSL: 3 ms at start-up
    except ImportError:
        from hashlib import blake2b  # noqa: PLC0415

    return blake2b(content, digest_size=16).hexdigest()


def measure_files(wanted: Mapping[str, Iterable[str]], root: str) -> dict[str, int | None]:
    """Return the size of each context file at the first of its possible paths; -1 for a folder, None if missing.

    For the schema of `data`, -2 says that the file isn't a JSON Schema.
    """
    sizes = {path: _measure_file(candidates, root) for path, candidates in wanted.items()}
    schema = next((path for path in wanted if path.startswith(":")), None)
    if schema is not None and (sizes[schema] or 0) > 0 and not _is_schema(wanted[schema], root):
        sizes[schema] = -2
    return sizes


def _is_schema(candidates: Iterable[str], root: str) -> bool:
    from remit.storage.schema_files import load_schema_below  # noqa: PLC0415 - only for an agent with a schema

    try:
        load_schema_below(root, next(iter(candidates)))
    except InputError:
        return False
    return True


def _measure_file(candidates: Iterable[str], root: str) -> int | None:
    size = None
    for candidate in candidates:
        try:
            found = os.stat(os.path.join(root, candidate))
        except (OSError, ValueError):
            continue
        if stat.S_ISREG(found.st_mode):
            return found.st_size
        if stat.S_ISDIR(found.st_mode):
            size = -1
    return size


# --- entries as JSON --------------------------------------------------------------------------------------------------


def _shape(checked: CheckedFile) -> list[Any]:
    definition = None if checked.definition is None else checked.definition._asdict()
    return [checked.diagnostics, definition, checked.ignores]


def _read(path: str, value: list[Any]) -> CheckedFile:
    """Return the result in an entry. An invalid entry raises any error that a wrong shape causes."""
    from remit.agents.definition import Definition, Target  # noqa: PLC0415 - with the first entry
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
    return CheckedFile(path, tuple([_read_diagnostic(row) for row in rows]), definition, tuple(silenced))


_PROFILES = frozenset({"standard", "claude", "opencode", "codex", "command"})
_SEVERITIES = frozenset({"error", "warning", "note"})


def _read_diagnostic(row: list[Any]) -> Diagnostic:
    code, severity, message, hint, pointer, place, fix = row
    _expect_text(code, message, hint, pointer)
    _expect(severity in _SEVERITIES)
    where, cure = None if place is None else _read_place(place), None if fix is None else _read_fix(*fix)
    return Diagnostic(code, severity, message, hint, pointer, where, cure)


def _read_fix(applicability: Any, message: str, edits: list[Any]) -> Fix:  # noqa: ANN401 - any JSON value
    _expect(applicability in ("safe", "unsafe"))
    _expect_text(message)
    return Fix(applicability, message, tuple([_read_edit(*edit) for edit in edits]))


def _read_edit(start: int, end: int, text: str, place: Any) -> TextEdit:  # noqa: ANN401 - any JSON value
    return TextEdit(*_read_span((start, end)), _read_text(text), _read_place(place))


def _read_place(value: Any) -> TextSpan:  # noqa: ANN401 - any JSON value
    line, column, end_line, end_column = value
    _expect(type(line) is type(column) is type(end_line) is type(end_column) is int and min(value) > 0)
    return TextSpan(line, column, end_line, end_column)


def _read_span(value: Any) -> tuple[int, int]:  # noqa: ANN401 - any JSON value
    start, end = value
    _expect(type(start) is type(end) is int)
    return start, end


def _read_text(value: Any) -> str:  # noqa: ANN401 - any JSON value
    _expect_text(value)
    return str(value)


def _read_texts(values: Any) -> tuple[str, ...]:  # noqa: ANN401 - any JSON value
    _expect(type(values) is list)
    _expect_text(*values)
    return tuple(values)


def _expect_text(*values: Any) -> None:  # noqa: ANN401 - any JSON value
    for value in values:
        _expect(type(value) is str)


def _expect(is_valid: bool) -> None:  # noqa: FBT001 - a check has one argument
    if not is_valid:
        raise ValueError("invalid cache entry")
