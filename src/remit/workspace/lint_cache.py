"""The cache of what linting found, by the content of a file.

Owns one table under `.remit/cache`, of plain values. It is data from a disk that others write to, so it is read as
such: an entry that does not fit exactly is not used. It is for this version of the rules only.
"""

from __future__ import annotations

import os
from hashlib import blake2b
from typing import TYPE_CHECKING, Any

from remit.model import Edit, Finding, Fix, Place

if TYPE_CHECKING:
    from collections.abc import Mapping

    from remit.agents.lint import Checked
    from remit.workspace.agent_files import Source

MAX_CACHE_BYTES = 64 * 1024 * 1024


class LintCache:
    """Entries by path: the content's hash, the context files and their sizes, and what was found."""

    def __init__(self, file: str | None, root: str) -> None:
        self.file = file
        self.root = root
        self.stamp = _stamp_rules() if file else ""
        self.entries: dict[str, Any] = {}
        self.fresh: dict[str, Any] = {}
        self.changed = False
        if file is not None:
            self.entries = _load(file, self.stamp)

    def get(self, source: Source, content: bytes | str) -> Checked | None:
        """What was found in this content, if its context files still are what they were."""
        entry = self.entries.get(source.path)
        if entry is None or isinstance(content, str):
            return None
        try:
            digest, wanted, sizes, value = entry
            if digest != _hash(content) or sizes != self._measure(wanted):
                return None
            checked = _read(source.path, value)
        except (TypeError, ValueError, KeyError, AttributeError):
            return None
        self.fresh[source.path] = entry
        return checked

    def put(
        self, source: Source, content: bytes | str, checked: Checked, wanted: Mapping[str, tuple[str, ...]]
    ) -> None:
        """Keep what was found."""
        if self.file is None or isinstance(content, str):
            return
        self.changed = True
        places = {path: list(candidates) for path, candidates in wanted.items()}
        self.fresh[source.path] = [_hash(content), places, self._measure(places), _shape(checked)]

    def close(self) -> None:
        """Write the table, where it changed. What cannot be written is worked out again next time."""
        if self.file is None or not self.changed:
            return
        import json  # noqa: PLC0415 - only when something changed

        from remit.workspace.files import make_private_folder, write_bytes  # noqa: PLC0415

        # Files that were not asked for this time keep their entries, while they are there.
        others = {
            path: entry for path, entry in self.entries.items() if path not in self.fresh and self._is_there(path)
        }
        text = json.dumps({"stamp": self.stamp, "entries": {**others, **self.fresh}}, separators=(",", ":"))
        try:
            make_private_folder(os.path.dirname(self.file))
            write_bytes(self.file, text.encode("utf-8", "surrogatepass"))
        except OSError:
            return

    def _is_there(self, path: str) -> bool:
        return os.path.lexists(os.path.join(self.root, path))

    def _measure(self, wanted: Mapping[str, Any]) -> dict[str, int | None]:
        from remit.workspace.agent_files import measure  # noqa: PLC0415 - it is what uses this

        return {path: measure(path, places, self.root) for path, places in wanted.items()}


def _hash(content: bytes) -> str:
    return blake2b(content, digest_size=16).hexdigest()


def _stamp_rules() -> str:
    """Which rules these are: the sizes and times of their files, so that a changed rule finds no old answers."""
    package = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    facts = []
    for folder in (package, f"{package}/agents", f"{package}/agents/rules"):
        for entry in sorted(os.scandir(folder), key=lambda each: each.name):
            if entry.name.endswith(".py"):
                found = entry.stat()
                facts.append(f"{entry.name}:{found.st_size}:{found.st_mtime_ns}")
    return _hash("|".join(facts).encode())


def _load(file: str, stamp: str) -> dict[str, Any]:
    import jiter  # noqa: PLC0415 - only where there is a cache

    try:
        if os.stat(file).st_size > MAX_CACHE_BYTES:
            return {}
        with open(file, "rb") as stream:
            table = jiter.from_json(stream.read(), cache_mode="all")
    except (OSError, ValueError):
        return {}
    fits = isinstance(table, dict) and table.get("stamp") == stamp and isinstance(table.get("entries"), dict)
    return table["entries"] if fits else {}


# --- values ↔ plain lists --------------------------------------------------------------------------------------------


def _shape(checked: Checked) -> list[Any]:
    definition = None
    if checked.definition is not None:
        names = checked.definition.__dataclass_fields__
        definition = {name: getattr(checked.definition, name) for name in names}
    return [list(checked.findings), definition, list(checked.ignores)]


def _read(path: str, value: list[Any]) -> Checked:
    from remit.agents.definition import Definition, Target  # noqa: PLC0415 - together with the first entry
    from remit.agents.ignores import Ignore  # noqa: PLC0415
    from remit.agents.lint import Checked  # noqa: PLC0415

    rows, fields, ignores = value
    definition = None
    if fields is not None:
        targets = tuple(Target(name, tuple(span), Place(*place)) for name, span, place in fields["targets"])
        definition = Definition(**{
            **fields,
            "targets": targets,
            "calls": tuple(fields["calls"]),
            "tools": None if fields["tools"] is None else tuple(fields["tools"]),
            "places": {key: Place(*place) for key, place in fields["places"].items()},
        })  # fmt: skip
    silenced = tuple(
        Ignore(tuple(codes), line, whole, Place(*place), tuple(cut)) for codes, line, whole, place, cut in ignores
    )
    return Checked(path, tuple(_read_finding(row) for row in rows), definition, silenced)


def _read_finding(row: list[Any]) -> Finding:
    code, severity, message, hint, requirement, pointer, place, fix = row
    where, cure = Place(*place) if place else None, _read_fix(fix) if fix else None
    return Finding(code, severity, message, hint, requirement, pointer, where, cure)


def _read_fix(fix: list[Any]) -> Fix:
    applicability, message, edits = fix
    return Fix(
        applicability, message, tuple(Edit(start, end, text, Place(*place)) for start, end, text, place in edits)
    )
