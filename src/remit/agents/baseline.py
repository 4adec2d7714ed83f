"""Baseline: the file of known diagnostics, which lint doesn't report. After it is created, entries are only removed.

A diagnostic is identified by its file, its code and the text of its line, so that it stays known if its line moves.
"""

from __future__ import annotations

import json
from hashlib import blake2b
from typing import TYPE_CHECKING, Any

from remit.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from remit.model import Diagnostic

    Baseline = Mapping[str, Mapping[str, int]]
    """The number of diagnostics with each fingerprint, by file."""

_FORM = 1


def fingerprint(diagnostic: Diagnostic, lines: list[str]) -> str:
    """Return the fingerprint of a diagnostic: its code and a hash of its line."""
    number = diagnostic.place.line if diagnostic.place else 0
    line = lines[number - 1].strip() if 0 < number <= len(lines) else ""
    digest = blake2b(f"{line}\0{diagnostic.pointer}".encode("utf-8", "surrogatepass"), digest_size=6).hexdigest()
    return f"{diagnostic.code}:{digest}"


def parse_baseline(text: str, name: str) -> Baseline:
    """Parse a baseline. Raises a `ConfigError` if it is invalid."""
    try:
        table: Any = json.loads(text)
        files = table["files"]
        good = table["remit_baseline"] == _FORM and isinstance(files, dict)
        good = good and all(type(count) is int and count > 0 for each in files.values() for count in each.values())
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        good = False
    if not good:
        raise ConfigError(
            f"{name} isn't a baseline", hint="remove it, and run the command once with --baseline to create it again"
        )
    return dict(files)


def render_baseline(baseline: Baseline) -> str:
    """Render a baseline as its file: sorted, one line per fingerprint, so that it is easy to merge and review."""
    files = {path: dict(sorted(baseline[path].items())) for path in sorted(baseline) if baseline[path]}
    return json.dumps({"remit_baseline": _FORM, "files": files}, indent=1, ensure_ascii=False) + "\n"


def make_baseline(found: Mapping[str, tuple[Diagnostic, ...]], load_lines: Callable[[str], list[str]]) -> Baseline:
    """Make a baseline of all current diagnostics."""
    baseline: dict[str, dict[str, int]] = {}
    for path, diagnostics in found.items():
        counts: dict[str, int] = {}
        lines = load_lines(path) if diagnostics else []
        for diagnostic in diagnostics:
            name = fingerprint(diagnostic, lines)
            counts[name] = counts.get(name, 0) + 1
        if counts:
            baseline[path] = counts
    return baseline


def subtract(
    found: Mapping[str, tuple[Diagnostic, ...]],
    baseline: Baseline,
    load_lines: Callable[[str], list[str]],
    *,
    is_asked: Callable[[str, str], bool] | None = None,
) -> tuple[dict[str, tuple[Diagnostic, ...]], Baseline]:
    """Return the diagnostics that aren't in the baseline, and the baseline without fixed diagnostics.

    Keeps the entries of files that weren't checked, and of codes that weren't selected.
    """
    new: dict[str, tuple[Diagnostic, ...]] = {}
    rest: dict[str, Mapping[str, int]] = {path: counts for path, counts in baseline.items() if path not in found}
    for path, diagnostics in found.items():
        left = dict(baseline.get(path, {}))
        unasked = [name for name in left if is_asked is not None and not is_asked(path, name.partition(":")[0])]
        used = {name: left[name] for name in unasked}
        lines = load_lines(path) if left and diagnostics else []
        fresh = []
        for diagnostic in diagnostics:
            name = fingerprint(diagnostic, lines)
            if left.get(name, 0) > 0:
                left[name] -= 1
                used[name] = used.get(name, 0) + 1
            else:
                fresh.append(diagnostic)
        new[path] = tuple(fresh)
        if used:
            rest[path] = used
    return new, rest


def count_known(baseline: Baseline) -> int:
    """Return the number of diagnostics in a baseline."""
    return sum(sum(counts.values()) for counts in baseline.values())
