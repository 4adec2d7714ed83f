"""Rules on single YAML values that parsers read differently from what the author meant.

`no`, `1:30` and `0755` have other meanings in YAML 1.1 than in YAML 1.2, and each harness has its own parser. The rules
report values that at least one of the parsers misreads.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from remit.agents import edits
from remit.agents.profiles import KEYS
from remit.agents.rules.register import AgentFileContext, AgentViolation, agent_rule
from remit.lazy_regex import lazy
from remit.light_namedtuple import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

    from remit.agents.document import AgentDocument
    from remit.agents.profiles import Profile

_MARKDOWN: tuple[Profile, ...] = ("standard", "claude", "opencode", "command")

_TEXTS = frozenset({
    "/name", "/version", "/description", "/mode", "/agent_type", "/owner", "/model", "/color", "/prompt", "/variant",
    "/permissionMode", "/isolation", "/initialPrompt", "/memory", "/agent", "/argument-hint", "/language", "/category",
    "/author", "/updated_by", "/command_type", "/context_loading/strategy", "/context_loading/index",
    "/lifecycle/command", "/lifecycle/return_format",
})  # fmt: skip
_LISTS_OF_TEXTS = frozenset({
    "/context_loading/required", "/context_loading/optional", "/delegation/can_delegate_to", "/skills", "/tools",
    "/allowed-tools", "/disallowedTools", "/tags",
})  # fmt: skip
_TRUTHS = frozenset({"/hidden", "/disable", "/background", "/subtask", "/disable-model-invocation"})
_NUMBERS = frozenset({
    "/temperature", "/max_tokens", "/timeout", "/top_p", "/steps", "/maxSteps", "/maxTurns", "/lifecycle/stage",
    "/context_loading/max_context_size", "/delegation/max_depth", "/delegation/timeout_default",
    "/delegation/timeout_max",
})  # fmt: skip

Expected = Literal["text", "truth", "number", "anything"]


def _expect(pointer: str) -> Expected:
    """The expected type of a frontmatter's value."""
    if pointer in _TEXTS:
        return "text"
    if pointer in _NUMBERS:
        return "number"
    parent, _, last = pointer.rpartition("/")
    if pointer in _TRUTHS or (parent == "/tools" and not last.isdigit()):
        return "truth"
    if parent in _LISTS_OF_TEXTS and last.isdigit():
        return "text"
    return "anything"


class _Word(NamedTuple):
    """An unquoted value that isn't read as a string."""

    pointer: str
    kind: str
    source: str
    expected: Expected

    @property
    def name(self) -> str:
        """The field's name in messages."""
        return self.pointer[1:].replace("/", ".")[:80]


def _find_words(document: AgentDocument, *kinds: str) -> Iterator[_Word]:
    found = document.frontmatter
    for pointer, kind in found.plain.items() if found else ():
        # another rule checks the patterns of permissions, which are all strings
        if kind in kinds and found and pointer not in found.shared and not pointer.startswith("/permissions/"):
            start, end = found.spans[pointer]
            yield _Word(pointer, kind, document.text[start:end], _expect(pointer))


def _get_value(document: AgentDocument, pointer: str) -> object:
    value: object = document.values
    for part in pointer.split("/")[1:]:
        key = part.replace("~1", "/").replace("~0", "~")
        if isinstance(value, dict):
            value = value.get(key)
        elif isinstance(value, list) and key.isdigit() and int(key) < len(value):
            value = value[int(key)]
        else:
            return None
    return value


def _quote_word(document: AgentDocument, word: _Word) -> tuple[edits.Change, ...]:
    return edits.replace_value(document, word.pointer, edits.quote(word.source))


def _is_rejected(document: AgentDocument, pointer: str) -> bool:
    """Whether the harness rejects a value of the wrong type: opencode doesn't start, Claude Code drops the agent."""
    if document.place == "opencode":
        return pointer in ("/description", "/mode", "/model", "/color", "/variant", "/disable", "/hidden")
    return document.profile == "claude" and pointer in ("/name", "/description")


@agent_rule("AGT039", profiles=_MARKDOWN, severity="warning", fix="unsafe")
def value_cut_by_comment(case: AgentFileContext) -> Iterator[AgentViolation]:
    """A `#` turns the rest of a value into a comment.

    Why: YAML drops everything after a `#` that follows a space. The field is empty or cut short, without a message.

    Bad: `color: #ff8800`, `description: Closes issue #12 and its tests`

    Good: `color: "#ff8800"`, `description: "Closes issue #12 and its tests"`

    Fix (unsafe): quotes the whole value; the fix is safe for a color.
    """
    document = case.document
    for pointer in ("/color", "/description", "/argument-hint"):
        span = _find_plain(document, pointer)
        if span is None:
            continue
        start, end = span
        is_color = pointer == "/color"
        swallowed = (_COLOR if is_color else _SWALLOWED).match(document.text, end)
        if swallowed is None or (is_color and start < end):
            continue
        start = start if start < end else swallowed.start("text")
        whole = document.text[start : swallowed.end()]
        yield AgentViolation(f"YAML reads {swallowed['text'][:40]} as a comment, not as part of {pointer[1:]}",
                             "Quote the whole value.", swallowed.span("text"), pointer,
                             edits=((start, swallowed.end(), edits.quote(whole)),),
                             applicability="safe" if is_color else None)  # fmt: skip


_SWALLOWED = lazy(r"[ \t]{1,40}(?P<text>#[^\s#][^\r\n]{0,2000}(?<![ \t]))")
_COLOR = lazy(r"[ \t]{1,40}(?P<text>#[0-9A-Fa-f]{3,8})(?=\s|\Z)")


def _find_plain(document: AgentDocument, pointer: str) -> tuple[int, int] | None:
    """Return the span of an unquoted one-line value, including a part that is read as a comment."""
    found = document.frontmatter
    if found is None or pointer not in found.keys or pointer in found.shared:
        return None
    start, end = found.spans[pointer]
    source = document.text[start:end]
    if not source:
        start = end = document.text.find(":", found.keys[pointer][1]) + 1
    return None if source.startswith(_NOT_PLAIN) or "\n" in source else (start, end)


_NOT_PLAIN = ("'", '"', "|", ">", "&", "!", "[", "{")


@agent_rule("AGT040", profiles=_MARKDOWN, severity="warning", fix="safe")
def unquoted_number(case: AgentFileContext) -> Iterator[AgentViolation]:
    """An unquoted number is used as a string.

    Why: a number loses its trailing zero: the version 1.10 becomes 1.1. Parsers that expect a string fail. It is an
    error if a digit is lost, if the standard requires a string, or if the harness rejects the file: opencode
    doesn't start, and Claude Code drops the agent.

    Bad: `version: 1.10`

    Good: `version: "1.10.0"`

    Fix (safe): quotes the value.
    """
    document = case.document
    for word in _find_words(document, "int", "float"):
        if word.expected != "text" or ":" in word.source:
            continue
        read = str(_get_value(document, word.pointer))
        if read == word.source and word.pointer.split("/")[1] not in KEYS[document.profile]:
            continue  # the value is unambiguous, and no string is expected
        is_error = read != word.source or (document.profile == "standard" and word.pointer == "/version")
        is_error = is_error or _is_rejected(document, word.pointer)
        reading = f"is read as {read[:40]}" if read != word.source else "is a number"
        yield AgentViolation(f"{word.source[:40]} {reading}, but {word.name} is a string", "Quote it.",
                             document.span_of(word.pointer), word.pointer, "error" if is_error else None,
                             _quote_word(document, word))  # fmt: skip


@agent_rule("AGT041", profiles=_MARKDOWN, severity="warning", fix="safe")
def sexagesimal_number(case: AgentFileContext) -> Iterator[AgentViolation]:
    """An unquoted value such as `1:30` is a base-60 number in YAML 1.1.

    Why: YAML 1.1 reads `1:30` as the number 90, YAML 1.2 as a string.

    Bad: `timeout: 1:30`

    Good: `timeout: 90`, or quotes if a string is meant

    Fix (safe): quotes the value if the field is a string. Unsafe fixes write the number if the field is a number,
    and quote any other value.
    """
    document = case.document
    for word in _find_words(document, "int", "float"):
        if ":" not in word.source:
            continue
        read = str(_get_value(document, word.pointer))
        is_number = word.expected == "number"
        yield AgentViolation(f"{word.source[:40]} is read as the number {read[:40]}",
                             f"Write {read[:40]} if that is the intended value." if is_number else "Quote it.",
                             document.span_of(word.pointer), word.pointer,
                             edits=edits.replace_value(document, word.pointer, read) if is_number
                             else _quote_word(document, word),
                             applicability="safe" if word.expected == "text" else "unsafe")  # fmt: skip


@agent_rule("AGT042", profiles=_MARKDOWN, severity="warning", fix="safe")
def unquoted_date(case: AgentFileContext) -> Iterator[AgentViolation]:
    """An unquoted date is used as a string.

    Why: many parsers turn it into a date with a time and a time zone, or fail.

    Bad: `version: 2025-12-29`

    Good: `version: "2025.12.29"`

    Fix (safe): quotes the value.
    """
    document = case.document
    for word in _find_words(document, "timestamp"):
        if word.expected == "text":
            yield AgentViolation(f"{word.source[:40]} is read as a date, but {word.name} is a string",
                                 "Quote it.", document.span_of(word.pointer), word.pointer,
                                 "error" if _is_rejected(document, word.pointer) else None,
                                 _quote_word(document, word))  # fmt: skip


@agent_rule("AGT043", profiles=_MARKDOWN, severity="warning", fix="safe")
def unquoted_boolean(case: AgentFileContext) -> Iterator[AgentViolation]:
    """An unquoted word such as no, yes, on, off or true is used as a string.

    Why: YAML 1.1 reads yes and on as true, no and off as false, and the string is lost.

    Bad: `language: no`

    Good: `language: "no"`

    Fix (safe): quotes the value.
    """
    document = case.document
    for word in _find_words(document, "bool"):
        if word.expected == "text":
            read = "true" if _get_value(document, word.pointer) else "false"
            reading = "isn't a string" if read == word.source else f"is read as {read}"
            yield AgentViolation(f"{word.source} {reading}, but {word.name} is a string", "Quote it.",
                                 document.span_of(word.pointer), word.pointer,
                                 "error" if _is_rejected(document, word.pointer) else None,
                                 _quote_word(document, word))  # fmt: skip


_WORDS = {
    "true": "true", "yes": "true", "on": "true", "y": "true", "1": "true",
    "false": "false", "no": "false", "off": "false", "n": "false", "0": "false",
}  # fmt: skip


@agent_rule("AGT044", profiles=_MARKDOWN, severity="warning", fix="safe")
def boolean_spelling(case: AgentFileContext) -> Iterator[AgentViolation]:
    """A boolean is written as a string, a number, or as yes, no, on or off.

    Why: `"false"` is a string, and some programs treat any non-empty string as true. `yes` is true in YAML 1.1 and
    a string in YAML 1.2. A tool could be on that should be off. In a file that opencode reads, `disable` and
    `hidden` are errors: opencode doesn't start.

    Bad: `hidden: "false"`, `hidden: no`

    Good: `hidden: false`

    Fix (safe): writes true or false.
    """
    document = case.document
    for pointer in _list_truths(document):
        start, end = document.span_of(pointer)
        source = document.text[start:end]
        meant = _WORDS.get(source.strip("\"'").lower())
        is_reported = pointer.startswith("/tools/") and not isinstance(_get_value(document, pointer), bool)
        if document.profile == "standard" and is_reported:  # AGT052 reports it
            continue
        if meant is not None and source.lower() != meant:
            name = pointer[1:].replace("/", ".")[:80]
            yield AgentViolation(
                f"{name} is {source[:12]}, which not every program reads as {meant}",
                f"Write {meant}.",
                (start, end),
                pointer,
                "error" if _is_rejected(document, pointer) else None,
                edits.replace_value(document, pointer, meant),
            )


def _list_truths(document: AgentDocument) -> Iterator[str]:
    """Return the pointers to values that should be boolean."""
    found = document.frontmatter
    if found is None:
        return
    for key in _TRUTHS:
        if key in found.spans and key not in found.shared:
            yield key
    tools = document.get("tools")
    for name in tools if isinstance(tools, dict) else ():
        pointer = f"/tools/{name.replace('~', '~0').replace('/', '~1')}"
        if pointer in found.spans and pointer not in found.shared:
            yield pointer


_ODD_NUMBER = lazy(r"[-+]?(?:(?P<octal>0[0-7]{1,400})|0b[01_]{1,400}|\d[\d._]{0,400}_[\d._]{0,400})\Z")


@agent_rule("AGT045", profiles=_MARKDOWN, severity="warning", fix="safe")
def number_spelling(case: AgentFileContext) -> Iterator[AgentViolation]:
    """A number begins with 0 or contains underscores.

    Why: YAML 1.1 reads `0755` as 493 and `4_000` as 4000. YAML 1.2 reads them as 755 and as a string.

    Bad: `timeout: 0600`, `max_tokens: 4_000`

    Good: `timeout: 600`, `max_tokens: 4000`, or quotes if a string is meant

    Fix (safe): writes `4_000` as 4000. Unsafe fixes remove leading zeros if the field is a number, and quote any
    other value.
    """
    document = case.document
    for word in _find_words(document, "int", "float"):
        found = _ODD_NUMBER.match(word.source) if word.expected != "text" and ":" not in word.source else None
        if found is None:
            continue
        read = str(_get_value(document, word.pointer))
        if not found["octal"]:
            text = read
        elif word.expected == "number":
            text = word.source.lstrip("+").replace(found["octal"], found["octal"].lstrip("0") or "0")
        else:
            text = edits.quote(word.source)
        yield AgentViolation(f"{word.source[:40]} is read as {read[:40]} by some programs and differently by others",
                             f"Write {text[:40]}.",
                             document.span_of(word.pointer), word.pointer,
                             edits=edits.replace_value(document, word.pointer, text),
                             applicability="unsafe" if found["octal"] else None)  # fmt: skip
