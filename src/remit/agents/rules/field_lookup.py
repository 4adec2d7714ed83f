"""Tables of the frontmatter: what several rules ask of them. No rules here."""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING

from remit.lazy_regex import lazy

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import TypeGuard

    from remit.agents.document import AgentDocument

MAX_NUMBER = 1e15
"""Beyond that nothing in an agent's file is counted, and arithmetic fails."""
TRUTHS = frozenset({"true", "false", "yes", "no", "on", "off", "y", "n", "1", "0"})
"""Spellings of true and false; those that are not read have a rule of their own."""


def is_absent(value: object) -> bool:
    """Whether a field has no value: the key isn't there, or nothing but space is."""
    return value is None or (isinstance(value, str) and not value.strip())


def is_whole(document: AgentDocument) -> bool:
    """Whether the frontmatter has no syntax error."""
    return document.frontmatter is not None and document.frontmatter.whole


def find_title(document: AgentDocument) -> str:
    """The file's title as YAML; empty if it has none."""
    from remit.agents.edits import quote  # noqa: PLC0415 - only for a fix

    title = next((text for level, text, _ in document.body.headings if level == 1 and text), "")
    return quote(title) if title else ""


def is_number(value: object) -> TypeGuard[int | float]:
    """Whether a value is a number that somebody can have meant, and no truth value."""
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < MAX_NUMBER


def has_type_diagnostic(document: AgentDocument, pointer: str) -> bool:
    """Whether another rule speaks of it: a number, a date or a truth value where a text is expected."""
    found = document.frontmatter
    return found is not None and found.plain.get(pointer, "null") != "null"


def show(value: object, most: int = 60) -> str:
    """A value of a file in a message: short, on one line."""
    if isinstance(value, dict | list):
        return "a table" if isinstance(value, dict) else "a list"
    if value is None or isinstance(value, bool):
        return "nothing" if value is None else str(value).lower()
    text = " ".join(str(value)[:400].split())
    text = f"{text[:most]}…" if len(text) > most else text
    return f"'{text}'" if isinstance(value, str) else text


def guess(word: str, known: Sequence[str]) -> tuple[str, str]:
    """What was probably meant, else nothing; and the sentence that says so, or that lists what is known."""
    from remit.spelling import did_you_mean  # noqa: PLC0415 - only once something is wrong

    told = did_you_mean(word[:80], tuple(known))
    meant = told.split("'")[1] if told.startswith("did") else ""
    return meant, f"{told[0].upper()}{told[1:]}{'' if meant else '.'}"


_WHOLE = lazy(
    r"(?P<number>\d{1,3}(?:[ ,_]\d{3}){1,3}|\d{1,12})\s{0,2}(?P<thousand>[kK])?\s{0,2}(?:tokens)?\Z", re.ASCII
)


def read_whole(value: object) -> tuple[int, bool]:
    """A whole number that is written as something else, 0 if it is none; and whether it can mean nothing else."""
    if isinstance(value, float) and 0 < value < math.inf and value.is_integer():
        return int(value), True
    found = _WHOLE.match(value.strip()) if isinstance(value, str) else None
    if found is None:
        return 0, False
    number = int(re.sub(r"\D", "", found["number"]))
    return (number * 1000, False) if found["thousand"] else (number, True)


def list_names(names: Sequence[str], most: int = 6) -> str:
    """Names in a message: the first few, and how many more."""
    shown = ", ".join(name[:40] for name in names[:most])
    return shown if len(names) <= most else f"{shown} and {len(names) - most} more"
