"""Limits on the texts in answers, with secrets redacted.

Files may be of any size and contain secrets, and each character costs the client a part of its context.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from remit.storage.secrets import redact
from remit.views.json_builders import build_diagnostic
from remit.views.render import SEVERITIES

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from remit.model import Diagnostic

MAX_CHARS = 4_000
"""The limit of one text."""
MAX_TOTAL_CHARS = 60_000
"""The limit of all texts of an answer."""
_MAX_ITEMS, _MAX_NAMES, _MAX_DEPTH, _MAX_NAME_CHARS = 200, 100, 8, 100
MAX_DIAGNOSTICS = 100
_MARGIN = 500
"""The characters after the cut that redaction sees, so that a secret at the cut is recognized."""


class Bounds:
    """The remaining characters of one answer."""

    def __init__(self, total: int = MAX_TOTAL_CHARS) -> None:
        self.left = total

    def fit(self, value: Any, depth: int = 0) -> Any:  # noqa: ANN401 - any JSON value
        """The same value without secrets, within the limits; cut texts end in `…`."""
        if isinstance(value, str):
            return self.text(value)
        if not isinstance(value, list | tuple | dict):
            return value
        if depth >= _MAX_DEPTH:
            return "…"
        if isinstance(value, dict):
            return self._fit_names(value, depth)
        kept: list[Any] = [self.fit(each, depth + 1) for each in value[:_MAX_ITEMS] if self.left > 0]
        return [*kept, "…"] if len(kept) < len(value) and all(isinstance(each, str) for each in kept) else kept

    def fit_each(self, values: Sequence[Any]) -> list[Any]:
        """The same values, each within an equal share of the limit."""
        share = self.left // max(1, len(values))
        return [Bounds(share).fit(value) for value in values]

    def _fit_names(self, value: Mapping[Any, Any], depth: int) -> dict[str, Any]:
        kept = {}
        for name, each in list(value.items())[:_MAX_NAMES]:
            kept[redact(str(name))[:_MAX_NAME_CHARS]] = self.fit(each, depth + 1)
        return kept

    def text(self, text: str, most: int = MAX_CHARS) -> str:
        """A text within the limits."""
        room = max(0, min(most, self.left))
        cleaned = redact(text[: room + _MARGIN])
        kept = cleaned if len(cleaned) <= room and len(text) <= room + _MARGIN else f"{cleaned[:room]}…"
        self.left -= len(kept)
        return kept


def fit_diagnostics(found: Sequence[tuple[Diagnostic, str]]) -> dict[str, Any]:
    """Diagnostics with their files; of many, the most severe, and how many more there are."""
    shown = list(found)
    if len(shown) > MAX_DIAGNOSTICS:
        shown = sorted(shown, key=lambda each: SEVERITIES.index(each[0].severity))[:MAX_DIAGNOSTICS]
    kept = Bounds().fit([build_diagnostic(diagnostic, filename) for diagnostic, filename in shown])
    more = len(found) - len(kept)
    return {"diagnostics": kept} | ({"more_diagnostics": more} if more else {})
