"""Codex's agent files: TOML → the same values, with their places, as a frontmatter has.

Owns the reading of TOML. The parser gives no places, so they are looked for by key at the start of a line: agent files
are flat.
"""

from __future__ import annotations

import re
import tomllib

from remit.agents.frontmatter import Frontmatter, Problem

_KEY = re.compile(r"^[ \t]{0,20}(?P<key>[A-Za-z_][\w-]{0,60})[ \t]*=[ \t]*(?P<value>[^\n]*)", re.MULTILINE)
_AT = re.compile(r"\(at line (?P<line>\d{1,7}), column (?P<column>\d{1,7})\)")


def parse_toml(text: str) -> Frontmatter:
    """Read a TOML file; where it is broken, every plain line by itself."""
    found = Frontmatter(0, len(text))
    _find_places(found, text)
    try:
        found.values = tomllib.loads(text.replace("\r\n", "\n").encode("utf-8", "replace").decode())
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        found.whole = False
        found.problems.append(_explain(str(error), text))
        found.values = {key[1:]: text[slice(*span)].strip("\"' ") for key, span in found.spans.items()}
    return found


def _find_places(found: Frontmatter, text: str) -> None:
    table = re.search(r"^[ \t]*\[", text, re.MULTILINE)
    multi_line = False
    for line in _KEY.finditer(text, 0, table.start() if table else len(text)):
        pointer = f"/{line['key']}"
        if pointer not in found.keys and not multi_line:
            found.keys[pointer] = line.span("key")
            found.spans[pointer] = (line.start("value"), line.start("value") + len(line["value"].rstrip()))
            if line["value"].startswith(('"""', "'''")) and line["value"].count(line["value"][:3]) == 1:
                end = text.find(line["value"][:3], line.start("value") + 3)
                found.spans[pointer] = (line.start("value"), end + 3 if end >= 0 else len(text))


def _explain(message: str, text: str) -> Problem:
    at, place = 0, _AT.search(message)
    if place is not None:
        lines = text.split("\n", int(place["line"]))[: int(place["line"]) - 1]
        at = min(sum(len(line) + 1 for line in lines) + int(place["column"]) - 1, max(0, len(text) - 1))
    reason = _AT.sub("", message).strip()
    return Problem("syntax", reason[:1].lower() + reason[1:], at, at + 1)
