"""Rules on tokens of the manifest protocol, such as `{{TASK_ID}}`.

A file with a token that no other template language has is checked completely. In other files, only blanks that are
certainly misspelled tokens are reported. Code is skipped if its braces can mean something else.
"""

from __future__ import annotations

from bisect import bisect_right
from typing import TYPE_CHECKING

from remit.agents.rules.register import AgentFileContext, AgentViolation, agent_rule
from remit.lazy_regex import lazy
from remit.light_namedtuple import NamedTuple
from remit.spelling import SURE, find_similar, normalize_name

if TYPE_CHECKING:
    from collections.abc import Iterator

    from remit.agents.document import AgentDocument
    from remit.agents.profiles import Profile

_MARKDOWN: tuple[Profile, ...] = ("standard", "claude", "opencode", "command")
REQUIRED_TOKENS = ("TASK_ID", "DATE", "TOPIC_SLUG")
TOKENS = (
    *REQUIRED_TOKENS, "EPIC_ID", "SESSION_ID", "OUTPUT_DIR", "MANIFEST_PATH", "TITLE", "NEXT_TASK_IDS", "RESEARCH_ID",
    "TASK_SHOW_CMD", "TASK_FOCUS_CMD", "TASK_COMPLETE_CMD", "TASK_LINK_CMD",
)  # fmt: skip
"""Tokens that are replaced when an agent of the protocol starts."""
_COMMON = frozenset({"DATE", "TITLE", "SESSION_ID"})
"""Names that other templates use, too, so that they don't show that a file uses the protocol."""
_OWN = frozenset(TOKENS) - _COMMON

_BLANK = lazy(
    r"(?P<open>\{{1,3})(?P<lead>[ \t]{0,4})(?P<name>[A-Za-z][A-Za-z0-9_]{1,40})(?P<tail>[ \t]{0,4})(?P<close>\}{0,3})"
)
_CODE_WITHOUT_BRACES = frozenset(
    {"", "json", "jsonl", "md", "markdown", "text", "txt", "yaml", "yml", "bash", "sh", "shell", "console"}
)
"""Languages of code fences in which a word in single braces is a blank and not code."""


class Blank(NamedTuple):
    """A word in braces."""

    name: str
    start: int
    end: int
    opened: int
    closed: int
    spaced: bool

    @property
    def whole(self) -> bool:
        """Whether it has the form of the protocol's tokens."""
        return self.opened == self.closed == 2 and not self.spaced  # noqa: PLR2004 - two braces


def _list_blanks(document: AgentDocument) -> list[Blank]:
    """Return all words in braces of a file that uses the protocol; in other files, only certain tokens."""
    text = document.text
    if "{{" not in text:
        return []
    blanks = []
    for found in _BLANK.finditer(text):
        if text[found.start() - 1 : found.start()] in ("$", "%", "#", "\\"):
            continue  # a variable of a shell or of another template language
        spaced = bool(found["lead"] or (found["tail"] and found["close"]))
        end = found.end() if found["close"] else found.end("name")
        blanks.append(Blank(found["name"], found.start(), end, len(found["open"]), len(found["close"]), spaced))
    used = {blank.name for blank in blanks if blank.whole}
    return blanks if used & _OWN else _find_misspelled(blanks)


def _find_misspelled(blanks: list[Blank]) -> list[Blank]:
    """Return blanks that are similar to tokens, in a file without any correct token."""
    meant = [blank for blank in blanks if blank.opened == 2 and blank.name.isupper() and _find_own(blank.name)]  # noqa: PLR2004 - two braces
    others = {blank.name for blank in blanks if blank.spaced and blank.opened == 2} - _OWN  # noqa: PLR2004
    return [blank for blank in meant if not (blank.spaced and others)]  # other template languages write spaces


def _find_own(name: str) -> str | None:
    """Return the token that differs only in underscores, swapped letters, or one letter of a long name."""
    letters = sorted(normalize_name(name))
    for token in _OWN if name not in _OWN else (name,):
        if letters == sorted(normalize_name(token)):
            return token
    meant = find_similar(name, _OWN, least=_ALIKE) if len(name) > _SHORT else None
    return meant if name != f"{meant}S" else None


_SHORT, _ALIKE = 8, 0.9
"""Minimum length of a word for comparison: shorter words are similar to too many others."""


@agent_rule("AGT090", severity="warning", profiles=_MARKDOWN, fix="unsafe")
def token_unknown(case: AgentFileContext) -> Iterator[AgentViolation]:
    """A token isn't part of the manifest protocol.

    Why: Remit doesn't replace it, so the agent reads the braces. A name that resembles a known token is an error.
    Any other name is a warning, because another program may replace it. Available: TASK_ID, DATE, TOPIC_SLUG,
    EPIC_ID, SESSION_ID, OUTPUT_DIR, MANIFEST_PATH, TITLE, NEXT_TASK_IDS, RESEARCH_ID, TASK_SHOW_CMD,
    TASK_FOCUS_CMD, TASK_COMPLETE_CMD and TASK_LINK_CMD.

    Bad: `{{TASKID}}`

    Good: `{{TASK_ID}}`

    Fix (unsafe): writes the token that was probably meant.
    """
    unknown: dict[str, list[Blank]] = {}
    for blank in _list_blanks(case.document):
        if blank.whole and blank.name.isupper() and blank.name not in TOKENS:
            unknown.setdefault(blank.name, []).append(blank)
    for name, blanks in unknown.items():
        meant = find_similar(name, TOKENS, least=SURE)
        span = (blanks[0].start, blanks[0].end)
        yield AgentViolation(
            f"{{{{{name}}}}} isn't a token of the manifest protocol",
            f"Did you mean {{{{{meant}}}}}?" if meant else "Remove it, or make sure that another program replaces it.",
            span,
            severity="error" if meant else None,
            fix_message=f"Write {{{{{meant}}}}}",
            edits=tuple((each.start, each.end, f"{{{{{meant}}}}}") for each in blanks) if meant else (),
        )


@agent_rule("AGT091", severity="error", profiles=_MARKDOWN, fix="safe")
def token_format(case: AgentFileContext) -> Iterator[AgentViolation]:
    """A token isn't written as a name directly between two pairs of braces.

    Why: Remit replaces exact matches only. Any other spelling stays as it is.

    Bad: `{TASK_ID}`, `{{ TASK_ID }}`, `{{TASK_ID}`

    Good: `{{TASK_ID}}`

    Fix (safe): writes the token with two braces. Names that have other meanings, such as DATE, and lowercase names
    are corrected with unsafe fixes only.
    """
    document = case.document
    for blank in _list_blanks(document):
        token = blank.name.upper()
        if blank.whole and blank.name == token:
            continue
        if token not in TOKENS or not _is_token(document, blank):
            continue
        right = f"{{{{{token}}}}}"
        sure = blank.name == token and (token not in _COMMON or blank.opened + blank.closed > 2)  # noqa: PLR2004 - `{DATE}`
        yield AgentViolation(
            f"{show_blank(document, blank)} isn't replaced: the token is written {right}",
            f"Write {right}.",
            (blank.start, blank.end),
            severity=None if sure else "warning",
            edits=((blank.start, blank.end, right),),
            applicability="safe" if sure else "unsafe",
        )


def show_blank(document: AgentDocument, blank: Blank) -> str:
    """Render a blank as it is written."""
    return document.text[blank.start : blank.end]


def _is_token(document: AgentDocument, blank: Blank) -> bool:
    """Whether a malformed blank is certainly a token."""
    if not blank.closed or max(blank.opened, blank.closed) > 2:  # noqa: PLR2004 - two braces
        return False
    if blank.opened == blank.closed == 1:
        if blank.spaced or not blank.name.isupper():
            return False
        return not _is_program(document, blank.start)
    return True


def _is_program(document: AgentDocument, at: int) -> bool:
    """Whether braces are code: in a code fence of a programming language, or in a format string."""
    fences = document.body.fences
    index = bisect_right([start for start, _ in fences], at) - 1
    if index >= 0 and fences[index][0] <= at < fences[index][1]:
        line = document.text[fences[index][0] : fences[index][0] + 80].split("\n", 1)[0]
        if line.strip().lstrip("-*+> ").strip("`~ \t").partition(" ")[0].lower() not in _CODE_WITHOUT_BRACES:
            return True
    line_start = document.text.rfind("\n", 0, at) + 1
    before = document.text[max(line_start, at - 200) : at]
    return 'f"' in before or "f'" in before or before.endswith("`${")


@agent_rule("AGT092", profiles=_MARKDOWN, fix="unsafe")
def token_unclosed(case: AgentFileContext) -> Iterator[AgentViolation]:
    """A token isn't closed.

    Why: Remit doesn't replace it, and the text that follows may be read as part of it.

    Bad: `cleo show {{TASK_ID`

    Good: `cleo show {{TASK_ID}}`

    Fix (unsafe): closes the token after its name.
    """
    document = case.document
    for blank in _list_blanks(document):
        if blank.closed or blank.opened != 2 or blank.name not in TOKENS:  # noqa: PLR2004 - two braces
            continue
        line_end = document.text.find("\n", blank.end)
        rest = document.text[blank.end : line_end if line_end >= 0 else None][:200]
        if "}}" not in rest.partition("{{")[0]:
            right = f"{{{{{blank.name}}}}}"
            yield AgentViolation(
                f"the token {{{{{blank.name} isn't closed",
                f"Write {right}.",
                (blank.start, blank.end),
                edits=((blank.start, blank.end, right),),
            )


@agent_rule("AGT093", severity="note", profiles=_MARKDOWN)
def token_unused(case: AgentFileContext) -> Iterator[AgentViolation]:
    """The file appends to the manifest without a token that the protocol requires.

    Why: the agent invents what it isn't given: its task, today's date, or the topic in the file name.

    Bad: `Append one line to {{MANIFEST_PATH}}.` and no `{{DATE}}`

    Good: `Write to {{OUTPUT_DIR}}/{{DATE}}_{{TOPIC_SLUG}}.md`, and `{{TASK_ID}}` for the task
    """
    document = case.document
    blanks = _list_blanks(document)
    manifest = next((each for each in blanks if each.name == "MANIFEST_PATH"), None)
    if manifest is None and not (blanks and "MANIFEST.jsonl" in document.text):
        return
    named = {blank.name.upper() for blank in blanks}
    missing = [f"{{{{{name}}}}}" for name in REQUIRED_TOKENS if name not in named]
    if missing:
        at = (manifest or blanks[0])[1:3]
        yield AgentViolation(
            f"the file appends to the manifest and never uses {', '.join(missing)}",
            "Use them for the task, the date and the topic.",
            at,
        )
