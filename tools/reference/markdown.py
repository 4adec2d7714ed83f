"""Markdown: the few forms that the pages of the reference are made of."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

MADE = "<!-- Made by `make docs` from the code. Change the code, not this page. -->"
WIDTH = 120


def join(*parts: str) -> str:
    """A page of paragraphs, with the remark where it comes from."""
    return "\n\n".join([_wrap(part.strip("\n")) for part in (MADE, *parts) if part.strip()]) + "\n"


def _wrap(part: str) -> str:
    """A paragraph in lines that an editor shows whole; what has a form of its own stays as it is."""
    if part.startswith(("#", "|", "```", "- ", "<")) or "\n\n" in part or "\n- " in part:
        return part
    lines = [""]
    for word in re.findall(r"(?:\[[^\]]*\]+\([^)]*\)|\S)+", part):  # a link stays in one piece
        if len(lines[-1]) + 1 + len(word) > WIDTH:
            lines.append("")
        lines[-1] += f" {word}" if lines[-1] else word
    return "\n".join(lines)


def code(text: object) -> str:
    """A text as it is typed; with backticks in it, between more of them."""
    plain = str(text)
    if "`" not in plain:
        return f"`{plain}`"
    return f"`` {plain} ``"


def fence(text: str, language: str = "") -> str:
    """A block of text as it stands, between more backticks than it has."""
    marks = "```"
    while marks in text:
        marks += "`"
    body = text.strip("\n")
    return f"{marks}{language}\n{body}\n{marks}"


def table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table; a bar in a cell would begin another cell, and so would a line an other row."""
    lines = [list(heads), ["---"] * len(heads), *([_fit(cell) for cell in row] for row in rows)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _fit(cell: str) -> str:
    return " ".join(cell.split()).replace("|", "\\|")


def name_anchor(heading: str) -> str:
    """What a heading is called as the target of a link: small letters, hyphens for spaces, no other signs."""
    kept = "".join(sign for sign in heading.strip().lower() if sign.isalnum() or sign in " -_")
    return kept.replace(" ", "-")
