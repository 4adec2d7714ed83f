"""Edits: changes single values, keys, items and tags of an agent file, and applies the fixes of diagnostics.

Comments, quotes and spacing around the place stay as they are. Each function returns changes as (start, end, new text)
in offsets of the file, or no changes if the place can't be edited by itself.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right, insort_right
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from remit.lazy_regex import lazy
from remit.light_namedtuple import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from remit.agents.document import AgentDocument
    from remit.agents.frontmatter import Frontmatter
    from remit.agents.tags import Tag
    from remit.model import Diagnostic, TextEdit


Change = tuple[int, int, str]

_PLAIN_TEXT = lazy(r"(?!\.(?:\d|inf\Z|nan\Z))[a-z_/.][\w ./+()@-]{0,200}\Z", re.IGNORECASE)
_UNSEEN = lazy("[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]")
"""Characters that YAML rejects or reads as line breaks, and that JSON doesn't escape."""
_WORDS_OF_YAML = frozenset({"true", "false", "yes", "no", "on", "off", "null", "y", "n", "~"})


def render_scalar(value: Any) -> str:  # noqa: ANN401 - any plain value
    """Render a scalar as YAML. Strings are quoted unless they are unambiguous."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return repr(value)
    text = str(value)
    if _PLAIN_TEXT.match(text) and text.lower() not in _WORDS_OF_YAML and text.strip() == text:
        return text
    return quote(text)


def quote(text: str) -> str:
    """Render a string in double quotes, valid in YAML and JSON."""
    import json  # noqa: PLC0415 - only a fix needs it

    return _UNSEEN.sub(lambda char: f"\\u{ord(char[0]):04x}", json.dumps(text, ensure_ascii=False))


def _find_editable(document: AgentDocument, pointer: str) -> Frontmatter | None:
    found = document.frontmatter
    return found if found is not None and pointer in found.spans and pointer not in found.shared else None


def replace_value(document: AgentDocument, pointer: str, yaml_text: str) -> tuple[Change, ...]:
    """Replace a value."""
    found = _find_editable(document, pointer)
    if found is None:
        return ()
    start, end = found.spans[pointer]
    if start == end and pointer in found.keys:  # `key:` without a value
        colon = document.text.find(":", found.keys[pointer][1]) + 1
        return ((colon, colon, f" {yaml_text}"),)
    value = document.text[start:end]
    if value.startswith(("&", "!")):  # it has aliases, or it isn't only its text
        return ()
    if pointer in found.keys and "\n" not in yaml_text and _is_block(document, found, pointer):
        colon = document.text.find(":", found.keys[pointer][1]) + 1
        return (colon, colon, f" {yaml_text}"), (_end_of_line(document.text, colon), end, "")
    return ((start, end, yaml_text),)


def _is_block(document: AgentDocument, found: Frontmatter, pointer: str) -> bool:
    """Whether a value is a block list or table, which can't be replaced by an inline value."""
    start, _ = found.spans[pointer]
    if pointer in found.flow or "\n" not in document.text[found.keys[pointer][1] : start]:
        return False
    return any(name.startswith(f"{pointer}/") for name in found.spans)


def rewrite_text(document: AgentDocument, pointer: str, text: str) -> tuple[Change, ...]:
    """Replace a string and keep its quotes."""
    start, end = document.span_of(pointer)
    style = document.text[start : min(start + 1, end)]
    rendered = f"'{text}'" if style == "'" and "'" not in text else quote(text) if style == '"' else render_scalar(text)
    return replace_value(document, pointer, rendered)


def put_value(document: AgentDocument, parent: str, key: str, yaml_text: str) -> tuple[Change, ...]:
    """Set a key of a table ("" is the top level), which may be missing."""
    pointer = f"{parent}/{key}"
    if document.frontmatter is not None and pointer in document.frontmatter.keys:
        return replace_value(document, pointer, yaml_text)
    return add_key(document, parent, key, yaml_text)


def rename_key(document: AgentDocument, pointer: str, name: str) -> tuple[Change, ...]:
    """Rename a key."""
    found = document.frontmatter
    return ((*found.keys[pointer], name),) if found is not None and pointer in found.keys else ()


def add_key(document: AgentDocument, parent: str, key: str, yaml_text: str) -> tuple[Change, ...]:
    """Add a key at the end of a table ("" is the top level). A value of several lines is indented by two.

    Returns no changes for a table that is empty or written with brackets.
    """
    found = document.frontmatter
    if found is None or not found.whole:
        return ()
    newline = "\r\n" if "\r\n" in document.text[: found.end] else "\n"
    if parent == "":
        head = document.text[found.start : found.end]
        if head.lstrip().startswith("{"):
            return ()
        first = next(iter(found.keys.values()), (found.start, 0))[0]
        indent = " " * (first - (document.text.rfind("\n", 0, first) + 1))
        at = found.start + len(head.rstrip())
        lead = newline if head.strip() else ""
        tail = "" if head.strip() else newline
        return ((at, at, f"{lead}{_render_pair(key, yaml_text, indent, newline)}{tail}"),)
    children = [name for name in found.keys if name.rpartition("/")[0] == parent]
    if not children or parent in found.flow or parent in found.shared or _find_editable(document, parent) is None:
        return ()
    column = found.keys[children[0]][0] - (document.text.rfind("\n", 0, found.keys[children[0]][0]) + 1)
    at = max(_end_of_line(document.text, found.spans[name][1]) for name in children)
    return ((at, at, f"{newline}{_render_pair(key, yaml_text, ' ' * column, newline)}"),)


def _render_pair(key: str, yaml_text: str, indent: str, newline: str) -> str:
    lines = yaml_text.split("\n")
    if len(lines) == 1:
        return f"{indent}{key}: {yaml_text}" if yaml_text else f"{indent}{key}:"
    return newline.join([f"{indent}{key}:", *(f"{indent}  {line}" for line in lines)])


def _end_of_line(text: str, at: int) -> int:
    """Return the end of a line before its line break."""
    end = text.find("\n", at)
    end = len(text) if end < 0 else end
    return end - 1 if text[end - 1 : end] == "\r" else end


def remove_key(document: AgentDocument, pointer: str) -> tuple[Change, ...]:
    """Remove a key with its value: its lines, or its part between commas in brackets."""
    found = _find_editable(document, pointer)
    if found is None or pointer not in found.keys:
        return ()
    start, end = found.keys[pointer][0], max(found.spans[pointer][1], found.keys[pointer][1])
    if pointer.rpartition("/")[0] in found.flow:
        return (_cut_between_commas(document.text, start, end),)
    return (_cut_lines(document.text, start, end),)


def remove_item(document: AgentDocument, pointer: str) -> tuple[Change, ...]:
    """Remove one item of a list."""
    found = _find_editable(document, pointer)
    if found is None:
        return ()
    start, end = found.spans[pointer]
    parent = pointer.rpartition("/")[0]
    siblings = [name for name in found.spans if name.rpartition("/")[0] == parent]
    if parent in found.flow:
        return (_cut_between_commas(document.text, start, end),)
    if len(siblings) == 1:  # an empty block list would be null
        return ((*found.spans[parent], "[]"),) if document.text.rfind("\n", 0, start) < found.spans[parent][0] else ()
    dash = document.text.rfind("-", 0, start)
    return (_cut_lines(document.text, dash, end),) if dash >= 0 else ()


def add_item(document: AgentDocument, parent: str, yaml_text: str) -> tuple[Change, ...]:
    """Add an item at the end of a list."""
    found = _find_editable(document, parent)
    value: Any = document.values
    for part in parent.split("/")[1:]:
        value = value.get(part) if isinstance(value, dict) else value[int(part)] if isinstance(value, list) else None
    if found is None or not isinstance(value, list):
        return ()
    if parent in found.flow:
        start, end = found.spans[parent]
        if not value:  # replace the bracket, so that two additions don't overlap
            return ((start, start + 1, f"[{yaml_text}"),)
        last = f"{parent}/{len(value) - 1}"
        at = found.spans[last][1]  # a comment or a comma may follow
        return ((at, at, f", {yaml_text}"),) if last not in found.shared and start < at < end else ()
    first = found.spans[f"{parent}/0"][0]
    line_start = document.text.rfind("\n", 0, first) + 1
    indent = document.text[line_start : document.text.find("-", line_start)]
    at = _end_of_line(document.text, found.spans[parent][1])
    newline = "\r\n" if document.text[at : at + 1] == "\r" else "\n"
    return ((at, at, f"{newline}{indent}- {yaml_text}"),)


def _cut_lines(text: str, start: int, end: int) -> Change:
    """Extend a span to whole lines if they contain nothing else."""
    line_start = text.rfind("\n", 0, start) + 1
    line_end = text.find("\n", end)
    line_end = len(text) if line_end < 0 else line_end + 1
    return (line_start, line_end, "") if not text[line_start:start].strip() else (start, end, "")


def _cut_between_commas(text: str, start: int, end: int) -> Change:
    after = end
    while text[after : after + 1] in (" ", "\t"):
        after += 1
    if text[after : after + 1] == ",":
        after += 1
        while text[after : after + 1] in (" ", "\t"):
            after += 1
        return start, after, ""
    before = start
    while text[before - 1 : before] in (" ", "\t", "\n", "\r"):
        before -= 1
    return (before - 1, end, "") if text[before - 1 : before] == "," else (start, end, "")


def rename_tag(tag: Tag, name: str) -> tuple[Change, ...]:
    """Rename a tag in its opening and closing tag."""
    closing = tag.closing_name_span
    opening: Change = (*tag.name_span, name)
    return (opening, (*closing, name)) if closing is not None and tag.end > tag.inner_end else (opening,)


def add_child(document: AgentDocument, tag: Tag, lines: str) -> tuple[Change, ...]:
    """Add lines at the end of a tag's content, indented by two relative to the tag."""
    if not tag.closed:
        return ()
    indent, newline = indent_of(document.text, tag.start), find_newline(document)
    at = len(document.text[: tag.inner_end].rstrip())
    at = max(at, tag.inner_start)
    text = "".join(f"{newline}{indent}  {line}".rstrip(" ") for line in lines.split("\n"))
    if tag.end == tag.inner_end:  # `<name/>` needs an opening and a closing tag first
        return ((tag.end - 2, tag.end, f">{text}{newline}{indent}</{tag.name}>"),)
    tail = "" if "\n" in document.text[at : tag.inner_end] else f"{newline}{indent}"
    return ((at, at, f"{text}{tail}"),)


def add_before(document: AgentDocument, tag: Tag, lines: str) -> tuple[Change, ...]:
    """Add lines above a tag that begins its line, with the same indentation."""
    indent, newline = indent_of(document.text, tag.start), find_newline(document)
    first, *rest = lines.split("\n")
    text = first + "".join(f"{newline}{indent}{line}" if line else newline for line in rest)
    return ((tag.start, tag.start, f"{text}{newline}{indent}"),)


def add_section(document: AgentDocument, lines: str, *, name: str = "") -> tuple[Change, ...]:
    """Add a section to the body at its place in the standard's order, or at the end."""
    newline = find_newline(document)
    block = lines.replace("\n", newline)
    place = document.outline.find_place(name) if name else None
    if place is None:
        at = len(document.text.rstrip())
        return ((at, at, f"{newline * 2}{block}"),)
    at, before = place
    return ((at, at, f"{block}{newline * 2}" if before else f"{newline * 2}{block}"),)


def find_newline(document: AgentDocument) -> str:
    """Return the line break that a file uses."""
    first = document.text.find("\n")
    return "\r\n" if first > 0 and document.text[first - 1] == "\r" else "\n"


def indent_of(text: str, at: int) -> str:
    """Return the indentation of the line at an offset."""
    line = text[text.rfind("\n", 0, at) + 1 : at]
    return line[: len(line) - len(line.lstrip())]


MAX_ROUNDS = 12
"""Maximum rounds of fixes in one text, because a fix can cause a diagnostic with another fix."""


class FixedText(NamedTuple):
    """A fixed text, and the diagnostics whose fixes were applied."""

    text: str
    applied: tuple[Diagnostic, ...]


def apply_fixes(diagnostics: Iterable[Diagnostic], text: str, *, unsafe: bool) -> FixedText:
    """Apply all fixes that don't overlap an earlier fix: all edits of a fix, or none."""
    taken: list[TextEdit] = []
    applied: list[Diagnostic] = []
    for diagnostic in diagnostics:
        fix = diagnostic.fix
        if fix is None or (fix.applicability == "unsafe" and not unsafe):
            continue
        if not _is_valid_fix(fix.edits, text) or any(_overlaps(edit, taken) for edit in fix.edits):
            continue
        for edit in fix.edits:
            insort_right(taken, edit, key=_span)
        applied.append(diagnostic)
    pieces, at = [], 0
    for edit in sorted(taken, key=_order):
        pieces += [text[at : edit.start], edit.content]
        at = edit.end
    return FixedText("".join([*pieces, text[at:]]), tuple(applied))


def _span(edit: TextEdit) -> tuple[int, int]:
    return edit.start, edit.end


def _order(edit: TextEdit) -> tuple[int, int, int, bool]:
    """Return the sort key: by place; of lines added at one place, deeper lines first and items before keys."""
    line = edit.content.lstrip("\r\n")
    indent = len(line) - len(line.lstrip(" ")) if line != edit.content else 0
    return edit.start, edit.end, -indent, not line.lstrip(" ").startswith("- ")


def _is_valid_fix(edits: Sequence[TextEdit], text: str) -> bool:
    """Whether the edits of one fix are within the text and don't overlap."""
    ordered = sorted(map(_span, edits))
    inside = bool(ordered) and ordered[0][0] >= 0 and all(start <= end <= len(text) for start, end in ordered)
    return inside and all(one[1] <= other[0] for one, other in pairwise(ordered))


def _overlaps(edit: TextEdit, taken: Sequence[TextEdit]) -> bool:
    """Whether an edit overlaps or adjoins one of the taken edits, which are sorted.

    Two insertions at the same place are both kept, in their order.
    """
    low, high = bisect_left(taken, _span(edit), key=_span), bisect_right(taken, _span(edit), key=_span)
    if low < high and edit.start != edit.end:
        return True
    return (low > 0 and taken[low - 1].end >= edit.start) or (high < len(taken) and taken[high].start <= edit.end)
