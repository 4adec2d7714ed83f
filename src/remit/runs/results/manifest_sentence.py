"""The sentence that a result has in the `manifest` format.

Owns the reply that callers of that format were written for (R4.5). A hook loads this module, so the sentences are here
and not in the format itself; a test compares the two.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from remit.model import ACCEPTABLE

if TYPE_CHECKING:
    from remit.result import Result

_SENTENCES = {
    "completed": "Research complete. See MANIFEST.jsonl for summary.",
    "partial": "Research partial. See MANIFEST.jsonl for details.",
}
_BLOCKED = "Research blocked. See MANIFEST.jsonl for blocker details."


def render_sentence(result: Result) -> str:
    """The sentence of a `manifest` result, and a line of Remit's if Remit changed it; empty for other formats."""
    if (result.result_format or result.format) != "manifest":
        return ""
    sentence = _SENTENCES.get(result.status, _BLOCKED)
    if result.verdict in ACCEPTABLE and result.stop_reason == "exited":
        return sentence
    why = next((f" {fault.code}: {fault.message}." for fault in result.errors), "")
    return f"{sentence}\nRemit: {result.status}, {result.verdict}.{why} {result.show} shows all of it."
