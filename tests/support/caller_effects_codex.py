"""What subagents of Codex hand back, by what the caller asks."""

from __future__ import annotations

from typing import NamedTuple

V1, V2 = "scripted", "gpt-6.1-sol"
"""A model that Codex does not know gets multi-agent v1, this one v2 and code mode."""


class Row(NamedTuple):
    """A way in which a caller gets the answer of its agents."""

    model: str
    script: str
    caller: str = ""
    """Whose requests count: those of the script itself, or of one that it starts."""


LIARS = {
    "v1": Row(V1, "waits-liar"),
    "v1 caller that works on": Row(V1, "works-liar"),
    "v1 caller that ends": Row(V1, "ends-liar"),
    "v1 more input": Row(V1, "input-liar"),
    "v2": Row(V2, "waits-liar"),
    "v2 caller that works on": Row(V2, "works-liar"),
    "v2 caller that ends": Row(V2, "ends-liar"),
    "v2 follow-up": Row(V2, "again-liar"),
    "v2 nested": Row(V2, "nested", "lead"),
}
HONEST = {
    "v1": (Row(V1, "waits-honest"), ["report.md"]),
    "v1 more input": (Row(V1, "input-honest"), ["report.md", "more.md"]),
    "v2": (Row(V2, "waits-honest"), ["report.md"]),
    "v2 follow-up": (Row(V2, "again-honest"), ["report.md", "more.md"]),
}
