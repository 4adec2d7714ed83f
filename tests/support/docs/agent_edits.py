"""Changes to an agent's file, made where whoever reads an example would make them.

Owns where a key, a row of permissions or a section of a good file is. A name that the file does not have is put in the
place of the one that it resembles, as somebody who misspells it would; else it is added.
"""

from __future__ import annotations

import re
from difflib import get_close_matches
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from tests.support.docs.rule_examples import Move

_KEY = re.compile(r"^( *)(- )?([\w-]+):", re.MULTILINE)
_OPENED = re.compile(r"<([\w+]+)((?: [^<>]*)?)>")
_CLOSED = re.compile(r"</[\w+]+>\Z")
_LIKE = 0.75


def place(move: Move, text: str) -> str | None:
    """The file with a change in it; None where nobody could tell where to make it."""
    if "…" in move.text:
        return None
    form = next((form for form in _FORMS if re.match(form, move.text)), None)
    if move.under.startswith("<") and form in (_FIELD, None):
        return _drop_named(move, text)
    return None if form is None else _FORMS[form](move, text)


def _place_end(move: Move, text: str) -> str:
    return text.replace(move.text, "", 1)


def _place_heading(move: Move, text: str) -> str:
    return text.replace(f"{move.text}\n", "", 1) if move.verb == "drop" else f"{text}\n{move.text}\n"


def _place_pair(move: Move, text: str) -> str:
    return re.sub(rf"{re.escape(move.text.partition(':')[0])}: [^,\n]*", move.text, text, count=1)


def _place_field(move: Move, text: str) -> str:
    if not text.startswith("---\n"):
        return _place_toml(move, text)
    head, mark, body = text[4:].partition("\n---\n")
    changed = _place_key(move, f"{head}\n").removesuffix("\n")
    return f"---\n{changed}{mark}{body}"


def _place_blank(move: Move, text: str) -> str:
    return text.replace(move.text, "") if move.verb == "drop" else f"{text}\n{move.text}\n"


class Spot(NamedTuple):
    """Where something stands, from and to; of a key also what is before it on its line."""

    start: int
    end: int
    dash: str = ""
    indent: str = ""


# YAML


def _place_key(move: Move, head: str) -> str:
    key, colon, value = move.text.partition(":")
    found = _find_keys(key, head, move.under)
    if move.verb == "add":
        return f"{head}{move.text}\n"
    if move.verb == "drop":  # what is not there is left out already
        return head[: found[0].start] + head[found[0].end :] if found else head
    if not colon:  # only named: it is there
        return head
    found = found or _find_keys(_name_alike(key.replace("-", "_"), head), head, move.under)
    if not found:
        return _add_key(move, head)
    is_row = value.strip().startswith("[")
    spot = next((each for each in found if bool(each.dash) is is_row), found[0])
    return f"{head[: spot.start]}{spot.indent}{spot.dash}{move.text}\n{head[spot.end :]}"


def _find_keys(key: str, head: str, under: str = "") -> list[Spot]:
    """Where a key stands with all that belongs to it."""
    first, last = 0, len(head)
    if under:
        first, last, _, _ = _find_keys(under, head)[0]
        first = head.index("\n", first) + 1
    found = []
    for match in _KEY.finditer(head, first, last):
        if match[3] == key:
            deeper = re.compile(rf"(?:{match[1]} .*\n)*").match(head, head.index("\n", match.end()) + 1)
            found.append(Spot(match.start(), deeper.end() if deeper else match.end(), match[2] or "", match[1]))
    return found


def _name_alike(key: str, head: str) -> str:
    return next(iter(get_close_matches(key, [match[3] for match in _KEY.finditer(head)], 1, _LIKE)), "")


def _add_key(move: Move, head: str) -> str:
    if not move.under:
        return f"{head}{move.text}\n"
    first = head.index("\n", _find_keys(move.under, head)[0].start) + 1
    return f"{head[:first]}  {move.text}\n{head[first:]}"


# TOML


def _place_toml(move: Move, text: str) -> str:
    if move.text.startswith("["):
        return f"{text}\n{move.text}\n"
    key = move.text.partition(" =")[0]
    rest = re.sub(rf'^{key} = (?:"""[\s\S]*?"""|.*)\n', "", text, flags=re.MULTILINE)
    return rest if move.verb == "drop" else f"{move.text}\n{rest}"


# Sections


def _place_section(move: Move, text: str) -> str | None:
    opened = _OPENED.match(move.text)
    if opened is None:
        return None
    around = _find_section(move.under, text) if move.under else Spot(0, len(text))
    if around is None:
        return None
    inner = text[around.start : around.end]
    changed = _change_section(move, opened, inner)
    return text[: around.start] + changed + text[around.end :]


def _change_section(move: Move, opened: re.Match[str], text: str) -> str:
    tags = [match[1] for match in _OPENED.finditer(text)]
    alike = next(iter(get_close_matches(opened[1], tags, 1, _LIKE)), "")
    spot = _find_section(move.text, text) or _find_section(f"<{alike}>", text)
    if move.verb == "drop":
        return text if spot is None else text[: spot.start] + text[spot.end :]
    if spot is None:  # at the end of what it stands in
        end = closed.start() if move.under and (closed := _CLOSED.search(text)) else len(text)
        return f"{text[:end]}\n{move.text}\n{text[end:]}"
    if move.verb == "add":
        return f"{text[: spot.end]}\n{move.text}{text[spot.end :]}"
    if _CLOSED.search(move.text):
        return text[: spot.start] + move.text + text[spot.end :]
    old = _OPENED.match(text, spot.start)
    assert old is not None
    inner = text[old.end() : spot.end].removesuffix(f"</{old[1]}>")
    return f"{text[: spot.start]}{opened[0]}{inner}</{opened[1]}>{text[spot.end :]}"


def _drop_named(move: Move, text: str) -> str | None:
    """The section without what is called so in it, by its tag or by its name."""
    around = _find_section(move.under, text)
    if around is None:
        return None
    inner = text[around.start : around.end]
    left = re.sub(rf'<(\w+) name="{move.text}"[\s\S]*?</\1>', "", inner)
    return None if left == inner else text[: around.start] + left + text[around.end :]


def _find_section(snippet: str, text: str) -> Spot | None:
    """Where the section is that a snippet begins like: of its tag, and of its first attribute where one has that."""
    opened = _OPENED.match(snippet)
    if opened is None:
        return None
    alike = [match for match in _OPENED.finditer(text) if match[1] == opened[1]]
    named = re.match(r' \w+="[^"]*"', opened[2])
    same = [match for match in alike if named and match[2].startswith(named[0])] or alike
    closed = f"</{opened[1]}>"
    if not same or closed not in text[same[0].end() :]:
        return None
    return Spot(same[0].start(), text.index(closed, same[0].end()) + len(closed))


_FIELD = r"[\w-]+:( |$)|[\w-]+$"
_FORMS = {
    r"</": _place_end,
    r"<": _place_section,
    r"#": _place_heading,
    r'"\w+":': _place_pair,
    r"[\w-]+ =|\[[\w.]+\]$": _place_toml,
    _FIELD: _place_field,
    r"[^{]*\{": _place_blank,
}
"""What an example looks like, and who knows its place; the first that fits."""
