"""Signs: what the words next to a block say about it.

Owns which words count: the sentence right above the block, a heading close by, a comment on top of it, and what comes
right below. A sentence *introduces* a block where it ends in a colon or leads up to something; one that ends in a full
stop has to speak of the block expressly ("This is only a draft."). What they say is looked up in `phrases`.

The quick path asks here too, so most sentences are let go after a few comparisons, and no pattern runs.
"""

from __future__ import annotations

import re
from functools import cache
from typing import cast

from remit.contract.phrases import (
    BUT,
    ENGLISH,
    FAILURE,
    FINAL,
    GOES_ON,
    HONEST,
    INTRODUCING,
    LEADS,
    OVERRULED,
    OWN,
    PLAIN,
    PRESENTING,
    STATED,
    STATEMENT,
    TAKEN_BACK,
    TRIGGERS,
    VERBLESS,
    Aside,
)
from remit.lazy import lazy

WINDOW_CHARS = 240
"""How far above a block its introduction is looked for."""
TAIL_CHARS = 1_000
"""How far below a block it may be taken back."""
_SENTENCE_CHARS = 200
_PARAGRAPH_CHARS = 400
_MAX_SENTENCES = 4
_LABEL_WORDS = 4
"""A line of so few words may be a label."""
_LABEL_ENDS = ":*_)"
_ENDS = ".!?。\uff01\uff1f"
_ITEM = lazy(r"(?:[-*+] |\d{1,3}[.)] |\||>)")
"""Items of a list and rows of a table tell of the work; they introduce a block only where they end in a colon."""
_FENCE_LINE = lazy(
    r"(?:```|~~~)[ \t]*[\w+-]*(?P<info>[^\n]{0,60})"
    r"(?:\n(?P<comment>(?:[ \t]*(?://|#|/\*|--|;)[^\n]{0,160}(?:\n|\Z)){0,4}))?\s*\Z"
)
_OPENERS = lazy(r"(?:<!--\s{0,9}AGENT_OUTPUT_START\s{0,9}-->|<(?!/)[\w!][^<>\n]{0,80}>|</summary>|[\[(*`]|\s){1,9}\Z")
_HEADING = lazy(r"^#{1,6}[ \t]+([^\n]{1,80})$", re.MULTILINE)
_MARKS = '*_#~/-; \t"'
_CLOSERS = lazy(r"(?:[\s`~*_\"'\]);,}]|<[\w!/][^<>\n]{0,80}>)*+")
_NEXT_BLOCK = lazy(r"\{|\n[ \t]{0,9}(?:```|~~~)")
_SENTENCES = lazy(r"(?<=[.!?])\s+")
_compile = cache(re.compile)


def read_label(before: str) -> Aside | None:
    """What the text above a block calls it: its fence, a comment on top of it, or the words before both."""
    fence = max(before.rfind("```"), before.rfind("~~~"))
    opening = _FENCE_LINE.match(before, fence) if fence >= 0 else None
    if opening is None:
        return read_head(before)
    for label in (opening["info"], *(opening["comment"] or "").split("\n")):
        if label.strip() and (aside := read_comment(label)):
            return aside
    return read_head(before[:fence])


def read_head(head: str) -> Aside | None:
    """What the words above a block or its fence call it: the sentence right above, or a heading close by."""
    head = head.rstrip()
    if head[-1:] in (">", "[", "(", "`", "*"):
        head = _OPENERS.sub("", head) or head
    line = head[head.rfind("\n") + 1 :]
    aside = _read_line(line) if line else None
    if aside is None and "#" in head and not introduces_own(head) and (headings := _HEADING.findall(head)):
        aside = read_comment(headings[-1], end="")
    return aside


def read_comment(label: str, end: str = ":") -> Aside | None:
    """What a comment or a heading calls the block under it."""
    sentence = f"{label.strip(_MARKS).lower()}{end}"
    return _read_sentence(sentence, _split_words(sentence))


def introduces_own(head: str) -> bool:
    """Whether the line above calls what follows the agent's own answer."""
    line = head.rstrip()
    line = line[line.rfind("\n") + 1 :]
    sentence = _last_sentence(line).strip(_MARKS).lower()
    return bool(PLAIN.match(sentence) or _compile(OWN).search(sentence) or _compile(FINAL).search(sentence))


def _read_line(line: str) -> Aside | None:
    if line[-1] in _ENDS:
        sentence = _last_sentence(line[:-1])
        return _read_statement(sentence.lower()) if points_down(sentence) else None
    sentence = _last_sentence(line)
    if line[-1] not in _LABEL_ENDS:
        if sentence.count(" ") >= _LABEL_WORDS and sentence[sentence.rfind(" ") + 1 :].lower() not in LEADS:
            return None
        if _ITEM.match(line):
            return None
    sentence = sentence.strip(_MARKS).lower()
    if PLAIN.match(sentence):
        return None
    words = _split_words(sentence)
    aside = _read_sentence(sentence, words) or _read_statement(sentence)
    if aside is None and sentence[-1:] == ":" and not _presents(sentence, words):
        return "unclear"
    return aside


def _presents(sentence: str, words: list[str]) -> bool:
    """Whether a line that ends in a colon may present an answer. Of other languages too little is known: they may."""
    if not sentence.isascii():
        return True
    if len(words) <= _LABEL_WORDS and any(word.endswith("ed") and word not in HONEST for word in words):
        return False
    return ENGLISH.isdisjoint(words) or not PRESENTING.isdisjoint(words)


def _last_sentence(line: str) -> str:
    at = line.rfind(". ")
    for end in ("! ", "? ", "。"):
        if end in line:
            at = max(at, line.rfind(end))
    return line[at + 1 :]


def _split_words(sentence: str) -> list[str]:
    """The words, without most punctuation. It is on the quick path: five times as quick as `translate` here."""
    sentence = sentence.replace(",", " ").replace(":", " ").replace(".", "").replace("(", " ").replace(")", " ")
    return (
        sentence.replace('"', " ")
        .replace("`", " ")
        .replace("*", " ")
        .replace("/", " ")
        .replace("[", " ")
        .replace("]", " ")
        .split()
    )


def _read_sentence(sentence: str, words: list[str]) -> Aside | None:
    """What a sentence that introduces a block calls it."""
    if len(sentence) > _SENTENCE_CHARS:
        return None
    plain = sentence.isascii()
    owned = "'" in sentence or "’" in sentence
    if plain and not owned and TRIGGERS.isdisjoint(words):
        return None
    known = {*words, "'s"} if owned else words
    for sign in INTRODUCING:
        if (
            (not plain or not sign.words.isdisjoint(known))
            and _compile(sign.pattern).search(sentence)
            and not any(_compile(other).search(sentence) for other in OVERRULED[sign.aside])
        ):
            return sign.aside
    return None


def points(line: str) -> bool:
    """Whether a line may speak of the block at all. It is on the quick path: plain comparisons, whatever the case."""
    return (
        "his" in line
        or "hose" in line
        or "hat" in line
        or "ollow" in line
        or "eturn" in line
        or "bove" in line
        or "elow" in line
        or "nswer" in line
        or "utput" in line
        or "json" in line
        or "JSON" in line
    )


def points_down(sentence: str) -> bool:
    """Whether a sentence may speak of what comes next. Quicker still: `low` stands for follow and below."""
    return (
        "his" in sentence
        or "low" in sentence
        or "eturn" in sentence
        or "nswer" in sentence
        or "utput" in sentence
        or "json" in sentence
        or "JSON" in sentence
    )


def _read_statement(sentence: str) -> Aside | None:
    """What a whole sentence says of the block that it stands next to."""
    if len(sentence) > _PARAGRAPH_CHARS:
        return None
    if "'" not in sentence and "’" not in sentence and STATED.isdisjoint(_split_words(sentence)):
        return None
    found = _compile(STATEMENT).search(sentence)
    if found is None:
        return None
    # Said so plainly, no session id makes up for it, as it does for a mere label.
    return "withdrawn" if found.lastgroup == "example" else cast("Aside", found.lastgroup)


def read_aftermath(after: str) -> Aside | None:
    """What the text below a block says of it: that it is taken back, was an example, or is not true."""
    closers = _CLOSERS.match(after)
    at = closers.end() if closers else 0
    rest = _NEXT_BLOCK.split(after[at:TAIL_CHARS], 1)[0].lower()
    if not rest:
        return None
    if "\n" not in after[:at] and _compile(BUT).match(after[:TAIL_CHARS].lower()):
        return "withdrawn"
    if _compile(TAKEN_BACK).search(rest) or _compile(GOES_ON).match(after, at) or _compile(VERBLESS).match(rest):
        return "withdrawn"
    for sentence in _SENTENCES.split(rest[: _find_paragraph_end(rest)])[:_MAX_SENTENCES]:
        # A sentence that ends in a colon speaks of what comes next, unless it says expressly that it does not.
        if points(sentence) and (not sentence.rstrip().endswith(":") or "above" in sentence):
            aside = _read_statement(sentence)
            if aside:
                return aside
    return "doubted" if _compile(FAILURE).search(rest) else None


def _find_paragraph_end(rest: str) -> int:
    end = rest.find("\n\n", 0, _PARAGRAPH_CHARS)
    return end if end >= 0 else _PARAGRAPH_CHARS
