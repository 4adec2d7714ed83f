"""Surroundings: where in a message a block stands, and whether that sets it aside.

Owns thinking text, tags, quotations and code. What the words next to a block say of it is read by `signs`. None of
this looks into the block itself.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING

from jiter import from_json

from remit.contract.phrases import Aside, word_set
from remit.contract.signs import TAIL_CHARS, WINDOW_CHARS, introduces_own, read_aftermath, read_comment, read_label
from remit.lazy import lazy
from remit.quick_tuple import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = [
    "MAX_TAGS",
    "TAIL_CHARS",
    "WINDOW_CHARS",
    "Aside",
    "Stretch",
    "find_aside",
    "find_stretches",
    "is_marked",
    "read_label",
]

MAX_TAGS = 200_000

# --- tags ------------------------------------------------------------------------------------------------------------

_THINKING = word_set(
    "think thinking antthinking thought thoughts thought_process reasoning reasoning_content scratchpad reflection "
    "analysis "
    "inner_monologue"
)
_ANSWERING = word_set(
    "return returns returned output answer response result results json report reply final agent subagent structured "
    "data "
    "payload object message assistant completion handoff task my the remit verdict deliverable"
)
"""Words that make up the name of a tag around an answer; a tag named otherwise holds something that was quoted."""
_HTML = word_set(
    "a abbr article aside b body br center code dd details div dl dt em figure font footer h1 h2 h3 h4 h5 h6 head "
    "header hr "
    "html i img kbd li main mark nav ol p pre s samp section small span strong sub summary sup table tbody td tfoot "
    "th thead "
    "title tr tt u ul var"
)
_ANGLED = (
    r"<(?:(?P<close>/?)(?P<name>[A-Za-z][\w:.-]{0,40})(?:\s[^<>]{0,200})?>"
    r"|\|(?P<open2>begin_of_thought\|>|channel\|>(?:analysis|commentary))"
    r"|\|(?P<close2>end_of_thought\|>|channel\|>final|end\|>))"
)
_TAG = lazy(_ANGLED, re.IGNORECASE)
_ANY_TAG = lazy(rf"{_ANGLED}|\[(?P<close3>/?)think(?:ing)?\]|◁(?P<close4>/?)think▷", re.IGNORECASE)
"""Rare spellings are looked for only where they may be: a pattern that begins with one character is much quicker."""
_RARE = lazy(r"\[/?[tT][hH][iI][nN][kK]")
_THOUGHT = "think"


class Stretch(NamedTuple):
    """A part of the message that is set aside."""

    start: int
    end: int
    aside: Aside


class _Tag(NamedTuple):
    start: int
    end: int
    name: str
    """`_THOUGHT` for all the ways to spell thinking: one may be closed by another."""
    closes: bool
    may_be_alone: bool
    """Whether it may close what has no opening tag."""


def find_stretches(text: str, spans: list[tuple[int, int]]) -> list[Stretch]:
    """Thinking and quoting tags, with what stands between them; tags inside an object's texts are not tags."""
    found: list[Stretch] = [Stretch(0, len(text), "quoted")] if _is_mixed_list(text) else []
    opened: dict[str, list[int]] = {}
    for count, tag in enumerate(_read_tags(text, spans)):
        starts = opened.setdefault(tag.name, [])
        if not tag.closes:
            if tag.name != _THOUGHT or not starts:  # a thought that begins again is still the same thought
                starts.append(tag.start)
        elif starts:
            found.append(Stretch(starts.pop(), tag.end, "thinking" if tag.name == _THOUGHT else "quoted"))
        elif tag.may_be_alone and _is_at_edge(text, tag.start, tag.end):
            # It closes what began before the text did, or a stretch that a tag within it seemed to end.
            found.append(Stretch(_last_thought(found), tag.end, "thinking"))
        if count > MAX_TAGS:
            return [Stretch(0, len(text), "thinking")]
    unclosed = [start for start in opened.get(_THOUGHT, ()) if _starts_line(text, start)]
    return found + [Stretch(start, len(text), "thinking") for start in unclosed]


def _is_mixed_list(text: str) -> bool:
    """Whether the whole message is a list of several things that are not all objects: `["It crashed", {…}]`."""
    bare = text.strip()
    if not (bare[:1] == "[" and bare[-1:] == "]"):
        return False
    try:
        items = from_json(bare.encode("utf-8", "replace"), allow_inf_nan=False)
    except ValueError:
        return False
    return not all(isinstance(item, dict) for item in items)


def _last_thought(found: list[Stretch]) -> int:
    return next((stretch.start for stretch in reversed(found) if stretch.aside == "thinking"), 0)


def _read_tags(text: str, spans: list[tuple[int, int]]) -> Iterator[_Tag]:
    """Every tag that may set something aside."""
    rare = "◁" in text or _RARE.search(text) is not None
    if not rare and "<" not in text:
        return
    index = 0
    for tag in (_ANY_TAG if rare else _TAG).finditer(text):
        at = tag.start()
        while index < len(spans) and spans[index][1] <= at:
            index += 1
        if (index < len(spans) and spans[index][0] <= at) or text[at - 1 : at] == "`":
            continue
        spelt = tag["name"]
        name = _THOUGHT if spelt is None else _classify(spelt)
        if name is not None:
            slash = tag["close"] or (rare and (tag["close3"] or tag["close4"]))
            yield _Tag(at, tag.end(), name, bool(slash or tag["close2"]), bool(slash) and name == _THOUGHT)


@lru_cache(maxsize=256)
def _classify(name: str) -> str | None:
    """The name under which a tag is opened and closed; None for a tag that sets nothing aside."""
    name = name.lower().removeprefix("antml:")
    if name in _THINKING:
        return _THOUGHT
    if name in _HTML or _ANSWERING.issuperset(_NAME_WORDS.split(name)):
        return None
    return f"<{name}"


_NAME_WORDS = lazy(r"[_:.-]")


def _is_at_edge(text: str, at: int, end: int) -> bool:
    """Whether a tag starts or ends its line: inside a sentence it is only spoken of."""
    return _starts_line(text, at) or not text[end : end + 16].split("\n", 1)[0].strip()


def _starts_line(text: str, at: int) -> bool:
    before = text[max(0, at - 16) : at]
    return ("\n" in before or at == len(before)) and not before[before.rfind("\n") + 1 :].strip()


# --- one block -------------------------------------------------------------------------------------------------------

_START_MARKER = lazy(r"<!--\s*AGENT_OUTPUT_START\s*-->\s*(?:(?:```|~~~)[^\n]{0,40}\n)?\s*\Z")
_OPEN_TAG = lazy(r"<([A-Za-z][\w:.-]{0,40})(?:\s[^<>]{0,200})?>\s*(?:(?:```|~~~)[^\n]{0,40}\n\s*)?\Z")
_INNER_COMMENT = lazy(r"\{\s{0,40}(?://|#|/\*)([^\n]{1,160})")
_SHOWING = word_set("diff patch bash sh shell console zsh powershell")
"""Code that shows what was done; an answer is not written in these."""
_PROGRAMMING = word_set(
    "python py python3 js javascript mjs ts typescript tsx jsx go golang rust rs java kotlin swift c cpp c++ csharp "
    "cs ruby rb "
    "php lua r scala perl elixir dart sql groovy haskell julia"
)
_CODE_CHARS = 20_000
_INFO = lazy(r"(?:`{3,9}|~{3,9})[ \t]*(?P<language>[\w+-]*)[^\n]{0,200}\n")
_COMMENTS = lazy(r"^[ \t]*(?://|#|--)[^\n]*$", re.MULTILINE)
_FIXTURE = lazy(
    r"(?:\b\w*(?:fixture|example|expected|sample|mock|template|default|test)\w*\s*(?::[^=\n]{0,40})?=|\breturn"
    r"|\byield)\s*\Z",
    re.IGNORECASE,
)


_OUTPUT = lazy(
    r"\bstd(?:out|err)\s?=\s?[bru]{0,2}[\"'(]{0,4}\Z|\b(?:return_?|exit_?)code\s?=\s?-?[1-9][^\n]{0,400}\Z",
    re.IGNORECASE,
)
_FAILURE = lazy(r"\b\w{0,60}(?:Error|Exception|CompletedProcess)\(")


def is_marked(before: str) -> bool:
    """Whether the output marker stands right above a block."""
    return "AGENT_OUTPUT_START" in before and _START_MARKER.search(before) is not None


def find_aside(text: str, start: int, end: int, stretches: list[Stretch]) -> Aside | None:
    """Why the message does not seem to mean the block at this place; None where nothing speaks against it."""
    for stretch in stretches:
        if stretch.start <= start < stretch.end:
            return stretch.aside
    before = text[max(0, start - WINDOW_CHARS) : start]
    lines = before.rsplit("\n", 2)
    line = lines[-1]
    fence_above = lines[-2] if len(lines) > 1 and not line.strip() else ""
    if _is_in_dump(line):
        return "quoted"
    if line.lstrip()[:1] == ">" or (fence_above.lstrip()[:1] == ">" and "```" in fence_above):
        return "quoted"
    if before.rstrip().endswith("<!--") and text[end : end + 80].lstrip().startswith("-->"):
        return "quoted"
    tag = _OPEN_TAG.search(before)
    if tag and (name := _classify(tag[1])) and name != _THOUGHT:
        return "quoted"  # left open, right above the block
    if _is_code(text, start, end) or _is_in_markdown(text, start):
        return "example"
    comment = _INNER_COMMENT.match(text, start)
    said = read_comment(comment[1]) if comment else None
    return said or read_label(before) or read_aftermath(text[end : end + TAIL_CHARS])


def _is_in_dump(line: str) -> bool:
    """Whether a block stands in the print of a failure or of a program's end: `RuntimeError('{…`, `stdout={…`."""
    if "=" in line and _OUTPUT.search(line):
        return True
    if "(" not in line:
        return False
    opened = [found.end() for found in _FAILURE.finditer(line)]
    return bool(opened) and line.count("(", opened[-1]) >= line.count(")", opened[-1])


def _is_code(text: str, start: int, end: int) -> bool:
    """Whether the block is a value in a program that the message shows.

    An answer is sometimes written as code (`result = {…}`). It counts where the fence is the whole message, or the
    line above calls it the agent's own.
    """
    fence = max(
        text.rfind("```", max(0, start - _CODE_CHARS), start), text.rfind("~~~", max(0, start - _CODE_CHARS), start)
    )
    opening = _INFO.match(text, fence - 2 if text.startswith("``", fence - 2) else fence) if fence >= 0 else None
    if opening is None or opening.end() > start:
        return False
    language = opening["language"].lower()
    if language in _SHOWING:
        return True
    lead = _COMMENTS.sub("", text[max(opening.end(), start - WINDOW_CHARS) : start])
    if _FIXTURE.search(lead):
        return bool(language) or "=" in lead
    if language not in _PROGRAMMING or not _COMMENTS.sub("", text[opening.end() : start]).strip():
        return False
    alone = not text[: opening.start()].strip() and not text[end:].strip("`~; \t\r\n")
    return not alone and not introduces_own(text[max(0, opening.start() - WINDOW_CHARS) : opening.start()])


def _is_in_markdown(text: str, start: int) -> bool:
    """Whether a longer fence around the block's own shows it as a piece of Markdown."""
    opening = text.rfind("\n````", 0, start)
    if opening < 0 or text.find("\n````", start) < 0 or text.count("\n````", 0, start) % 2 == 0:
        return False
    info = text[opening + 1 : text.find("\n", opening + 1)].strip("` \t").lower()
    return info.startswith(("md", "markdown"))
