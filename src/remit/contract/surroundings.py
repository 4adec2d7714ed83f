"""Surroundings: what a message says around a block that could be its return.

Owns the signs by which a message sets a block aside: thinking text, tags and quotations, code, and the line above that
calls it a draft, an example or somebody else's answer. None of this looks into the block itself.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Literal, NamedTuple, cast

if TYPE_CHECKING:
    from collections.abc import Iterator

Aside = Literal["thinking", "quoted", "draft", "example", "earlier"]

MAX_TAGS = 400_000
WINDOW_CHARS = 240
"""How far above a block its introduction is looked for."""

# --- labels ----------------------------------------------------------------------------------------------------------

_LABEL_CHARS = 160
_NOUN = r"(?:return|output|response|answer|result|reply|report|format|json|block|object|version|message|payload)s?"
_HEAD = r"^\W*(?:here(?:'s| is| are) )?(?:this is )?(?:an? |the |my |some |its |their )?(?:[\w-]+ )?"
_TAIL = rf"(?:\W*$|\W+(?:[\w-]+ ){{0,2}}{_NOUN}\b)"
_LABELS = re.compile(
    rf"(?P<draft>{_HEAD}(?:draft|preliminary|tentative|provisional|wip|unfinished|entwurf|borrador){_TAIL}"
    r"|\b(?:draft|wip|work in progress|not (?:yet )?(?:the |my )?final(?: yet)?)\)?\W*$|\bnot (?:the |my )?final "
    + _NOUN
    + r"\b"
    r"|\bdo not (?:treat|use|take|read)\b)"
    r"|(?P<thinking>^\W*(?:thinking|thoughts?|reasoning|scratchpad)\W*$)"
    rf"|(?P<example>{_HEAD}(?:examples?|sample|template|placeholder|skeleton|schema|beispiel|ejemplo|exemple|示例){_TAIL}"
    r"|\((?:an? )?(?:example|sample|template)\)\W*$|\b(?:for example|for instance|e\.g\.)\W*$|^\W*ejemplo\b"
    r"|^\W*(?:the )?(?:expected|required) (?:format|output|return|shape)\b|\bquot(?:e|ed|ing)\b"
    r"|\b(?:must|should|would|will|has to) (?:look like|have returned|return|be)\W*(?:this)?\W*$)"
    rf"|(?P<earlier>{_HEAD}(?:previous|earlier|prior|old|original|superseded|outdated)(?: [\w-]+)? {_NOUN}\b"
    r"|\bfrom (?:the )?(?:previous|earlier|last)\b|^\W*output of\b"
    r"|^\W*(?:the )?[\w`-]+(?: (?:sub)?agent)? (?:had )?(?:returned|replied|answered|reported|said)\W*$)"
)
_FINAL = re.compile(
    r"(?<!not )(?<!yet )(?<!the )(?<!my )\b(?:final|corrected|actual|revised)\b|\bthe final\b(?<!not the final)"
)
_FENCE_LINE = re.compile(r"(?:```|~~~)[^\n]{0,40}\s*\Z")
_HEADING = re.compile(r"^#{1,6}[ \t]+([^\n]{1,80})$", re.MULTILINE)


def read_label(before: str) -> Aside | None:
    """What the text above a block calls it: a draft, an example, somebody's earlier answer.

    Only the last sentence of the line right above counts, where it introduces something, and a heading close by.
    """
    fence = max(before.rfind("```"), before.rfind("~~~"))
    head = (before[:fence] if fence >= 0 and _FENCE_LINE.match(before, fence) else before).rstrip()
    line = head[head.rfind("\n") + 1 :].strip().lower()
    if line and len(line) <= _LABEL_CHARS and (line[-1] in ":*_)" or line[0] in "#*_"):
        label = _LABELS.search(line.rpartition(". ")[2].strip("*_# "))
        if label and not _FINAL.search(line):
            return cast("Aside", label.lastgroup)
    headings = _HEADING.findall(head)
    label = _LABELS.search(headings[-1].lower()) if headings else None
    return cast("Aside", label.lastgroup) if label and not _FINAL.search(headings[-1].lower()) else None


# --- tags ------------------------------------------------------------------------------------------------------------

_THINKING = (
    r"think|thinking|antthinking|thoughts?|thought_process|reasoning|reasoning_content|scratchpad|reflection|analysis"
    r"|inner_monologue"
)
_QUOTING = (
    r"examples?|template|tool_results?|function_results?|tool_response|tool_use|tool_call|function_calls?|invoke|parameter"
    r"|user|blockquote|quote"
)
_ANGLED = (
    rf"<(?:(?P<close>/?)(?:antml:)?(?:(?P<thinking>{_THINKING})|(?P<quoted>{_QUOTING})(?:\s[^<>]{{0,200}})?)>"
    r"|\|(?P<open2>begin_of_thought\|>|channel\|>(?:analysis|commentary))"
    r"|\|(?P<close2>end_of_thought\|>|channel\|>final|end\|>))"
)
_TAG = re.compile(_ANGLED, re.IGNORECASE)
_ANY_TAG = re.compile(rf"{_ANGLED}|\[(?P<close3>/?)think(?:ing)?\]|◁(?P<close4>/?)think▷", re.IGNORECASE)
"""Rare spellings are looked for only where they may be: a pattern that begins with one character is much quicker."""
_RARE = ("[think", "[THINK", "[Think", "[/think", "[/THINK", "[/Think", "◁")


class Stretch(NamedTuple):
    """A part of the message that is set aside."""

    start: int
    end: int
    aside: Aside


def find_stretches(text: str, spans: list[tuple[int, int]]) -> list[Stretch]:
    """Thinking and quoting tags, with what stands between them; tags inside an object's texts are not tags."""
    found: list[Stretch] = []
    opened: tuple[int, Aside] | None = None
    for count, (at, end, closes, aside, may_be_alone) in enumerate(_read_tags(text, spans)):
        if not closes:
            opened = opened or (at, aside)
        elif opened is not None:
            found.append(Stretch(opened[0], end, opened[1]))
            opened = None
        elif may_be_alone and _is_at_edge(text, at, end):
            # It closes what began before the text did, or a stretch that a tag within it seemed to end.
            found.append(Stretch(found[-1].start if found else 0, end, "thinking"))
        if count > MAX_TAGS:
            return [Stretch(0, len(text), "thinking")]
    if opened is not None and opened[1] == "thinking" and _starts_line(text, opened[0]):
        found.append(Stretch(opened[0], len(text), "thinking"))
    return found


def _read_tags(text: str, spans: list[tuple[int, int]]) -> Iterator[tuple[int, int, bool, Aside, bool]]:
    """Start, end, whether it closes, what it sets aside, and whether it closes what has no opening tag."""
    rare = any(sign in text for sign in _RARE)
    if not rare and "<" not in text:
        return
    index = 0
    for tag in (_ANY_TAG if rare else _TAG).finditer(text):
        at = tag.start()
        while index < len(spans) and spans[index][1] <= at:
            index += 1
        if (index < len(spans) and spans[index][0] <= at) or text[at - 1 : at] == "`":
            continue
        groups = tag.groupdict()
        slash = groups["close"] or groups.get("close3") or groups.get("close4")
        closes = bool(slash or groups["close2"])
        yield at, tag.end(), closes, "quoted" if groups["quoted"] else "thinking", bool(slash and not groups["quoted"])


def _is_at_edge(text: str, at: int, end: int) -> bool:
    """Whether a tag starts or ends its line: inside a sentence it is only spoken of."""
    return _starts_line(text, at) or not text[end : end + 16].split("\n", 1)[0].strip()


def _starts_line(text: str, at: int) -> bool:
    before = text[max(0, at - 16) : at]
    return ("\n" in before or at == len(before)) and not before[before.rfind("\n") + 1 :].strip()


# --- one block -------------------------------------------------------------------------------------------------------

_START_MARKER = re.compile(r"<!--\s*AGENT_OUTPUT_START\s*-->\s*(?:(?:```|~~~)[^\n]{0,40}\n)?\s*\Z")
_CODE_FENCE = re.compile(r"(?:```|~~~)[ \t]*(?P<language>[\w+-]*)[^\n]*\n[^`]*\Z")
_SHOWING_LANGUAGES = frozenset({"diff", "patch", "bash", "sh", "shell", "console"})
"""Code that shows what was done; an answer is not written in these."""
_FIXTURE = re.compile(
    r"(?:\b\w*(?:fixture|example|expected|sample|mock|template|default|test)\w*\s*(?::[^=\n]{0,40})?=|\breturn|\byield)\s*\Z",
    re.IGNORECASE,
)


def is_marked(before: str) -> bool:
    """Whether the output marker stands right above a block."""
    return "AGENT_OUTPUT_START" in before and _START_MARKER.search(before) is not None


def find_aside(text: str, start: int, end: int, stretches: list[Stretch]) -> Aside | None:
    """Why the message does not seem to mean the block at this place; None where nothing speaks against it."""
    for stretch in stretches:
        if stretch.start <= start < stretch.end:
            return stretch.aside
    before = text[max(0, start - WINDOW_CHARS) : start]
    if is_marked(before):
        return None
    lines = before.rsplit("\n", 2)
    line = lines[-1]
    fence_above = lines[-2] if len(lines) > 1 and not line.strip() else ""
    if line.lstrip()[:1] == ">" or (fence_above.lstrip()[:1] == ">" and "```" in fence_above):
        return "quoted"
    if before.rstrip().endswith("<!--") and text[end : end + 80].lstrip().startswith("-->"):
        return "quoted"
    fence = _CODE_FENCE.search(before)
    if fence and (fence["language"].lower() in _SHOWING_LANGUAGES or _FIXTURE.search(line)):
        return "example"
    return "example" if _is_in_markdown(text, start) else read_label(before)


def _is_in_markdown(text: str, start: int) -> bool:
    """Whether a longer fence around the block's own shows it as a piece of Markdown."""
    opening = text.rfind("\n````", 0, start)
    if opening < 0 or text.find("\n````", start) < 0 or text.count("\n````", 0, start) % 2 == 0:
        return False
    info = text[opening + 1 : text.find("\n", opening + 1)].strip("` \t").lower()
    return info.startswith(("md", "markdown"))
