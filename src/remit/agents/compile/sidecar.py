"""The sidecar of a compiled agent: `NAME.remit.json` beside its file, for what the harness's file has no place for.

Owns its shape. It is the same for every target: what the source says, as it says it, and which source that was. It is
for other programs: Remit itself reads the source.
"""

from __future__ import annotations

import hashlib
import json
import math
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from remit.agents.document import Document

FORM = 1
"""Which form of sidecar it is; another number when a reader of this one could not read it."""

_KEYS = {"agent_type": "kind"} | {
    key: key
    for key in (
        "version", "timeout", "temperature", "max_tokens", "tools", "permissions", "context_loading", "delegation",
        "lifecycle", "owner", "retry", "return",
    )
}  # fmt: skip
"""The frontmatter's keys that are kept, and what they are called here."""
_ELSEWHERE = frozenset({"name", "description", "mode", "model"})
"""The keys that the harness's own file has."""


def render_sidecar(document: Document, name: str, source: str) -> str:
    """The sidecar's text: the same bytes for the same source."""
    values = document.values
    kept = {word: values[key] for key, word in _KEYS.items() if key in values}
    other = {key: values[key] for key in values if key not in _KEYS and key not in _ELSEWHERE}
    content: dict[str, Any] = {"form": FORM, "name": name, "source": source, "source_sha256": hash_text(document.text)}
    content |= kept | ({"other": other} if other else {})
    return json.dumps(_make_plain(content), ensure_ascii=False, allow_nan=False, indent=2) + "\n"


def hash_text(text: str) -> str:
    """The SHA-256 of a text, whatever line breaks it was checked out with."""
    return hashlib.sha256(text.replace("\r\n", "\n").encode("utf-8", "surrogateescape")).hexdigest()


def find_kept_aside(document: Document) -> list[str]:
    """The keys that make no difference to the harness and are therefore only in the sidecar."""
    told_by_themselves = {
        "timeout",
        "temperature",
        "max_tokens",
        "tools",
        "permissions",
        "context_loading",
        "delegation",
    }
    return [key for key in document.values if key not in _ELSEWHERE and key not in told_by_themselves]


def _make_plain(value: Any) -> Any:  # noqa: ANN401 - any YAML value, any JSON value; its depth was capped by the reader
    if isinstance(value, dict):
        return {key: _make_plain(each) for key, each in value.items()}
    if isinstance(value, list):
        return [_make_plain(each) for each in value]
    return str(value) if isinstance(value, float) and not math.isfinite(value) else value
