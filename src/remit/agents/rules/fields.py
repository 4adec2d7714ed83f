"""Rules on the fields that say who a standard agent is: its name, version, description, mode and type."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from remit.agents import edits
from remit.agents.profiles import KINDS
from remit.agents.rules.keys import TABLE_KEYS, is_absent
from remit.agents.rules.register import Case, Report, rule
from remit.agents.rules.tables import show
from remit.lazy import lazy
from remit.prose import count_sentences
from remit.spelling import SURE, find_meant, squeeze

if TYPE_CHECKING:
    from collections.abc import Iterator

    from remit.agents.rules.register import Applicability

MAX_SENTENCES = 2
MAX_DESCRIPTION = 500
MAX_NAME = 64

_NAME = lazy(r"[a-z0-9]{1,64}(?:-[a-z0-9]{1,64}){0,20}\Z")


def _is_name(text: str) -> bool:
    return len(text) <= MAX_NAME and _NAME.match(text) is not None


@rule("AGT027", "R1.1", fix="unsafe")
def name_differs(case: Case) -> Iterator[Report]:
    """The agent's name is not its file's name.

    Why: some look for an agent by its name, others by its file, and only one of them finds it.

    Bad: `name: planer` in `planner.md`

    Good: `name: planner` in `planner.md`

    Fix (unsafe): gives the agent its file's name. Whoever calls it by the other name must be told.
    """
    document, name = case.document, case.get("name")
    if not isinstance(name, str) or not name.strip() or name.strip() == document.stem:
        return
    changes = edits.rewrite_text(document, "/name", document.stem) if _is_name(document.stem) else ()
    yield Report(f"the name {show(name)} is not the file's name, {show(document.stem)}",
                 "Rename the file or the agent.", document.span_of("/name"), "/name", edits=changes,
                 fix_message=f"Write {document.stem}.")  # fmt: skip


@rule("AGT028", "R1.1", severity="warning")
def name_form(case: Case) -> Iterator[Report]:
    """The agent's name is not made of small letters, digits and hyphens, or is longer than 64 characters.

    Why: a name becomes a file's name, a tool's argument and a part of a path, and not every harness takes more than
    these.

    Bad: `name: Plan_Writer`

    Good: `name: plan-writer`
    """
    document, name = case.document, case.get("name")
    if not isinstance(name, str) or not name.strip() or _is_name(name.strip()):
        return
    if name.strip() == document.stem or not _is_name(document.stem):  # else AGT027 says how it should be called
        yield Report(f"{show(name)} is no good name for an agent",
                     "Use small letters, digits and hyphens, and call the file the same.", document.span_of("/name"),
                     "/name")  # fmt: skip


_TEXTS = ("name", "version", "description", "mode", "agent_type", "owner", "model")


@rule("AGT029", "R1.1")
def field_type(case: Case) -> Iterator[Report]:
    """A field holds a list or a table where a text is expected, or the lifecycle is no table.

    Why: the field is then read as if it were not there.

    Bad: `agent_type: [planning, review]`

    Good: `agent_type: planning`
    """
    document = case.document
    for key in _TEXTS:
        value = case.get(key)
        if isinstance(value, list | dict):
            yield Report(f"{key} is {show(value)}, a text is expected", "Write one text.",
                         document.span_of(f"/{key}"), f"/{key}")  # fmt: skip
    lifecycle = document.get_section("lifecycle")
    if not is_absent(lifecycle) and not isinstance(lifecycle, dict):
        yield Report(f"lifecycle is {show(lifecycle)}, a table is expected",
                     f"Write its keys below it: {', '.join(TABLE_KEYS['lifecycle'])}.",
                     document.span_of("/lifecycle"), "/lifecycle")  # fmt: skip


_SEMVER = lazy(
    r"(?:0|[1-9]\d{0,9})\.(?:0|[1-9]\d{0,9})\.(?:0|[1-9]\d{0,9})(?:-[0-9A-Za-z.-]{1,80})?(?:\+[0-9A-Za-z.-]{1,80})?\Z",
    re.ASCII,
)
_LOOSE_VERSION = lazy(
    r"[vV=]{0,2}\s{0,2}(?P<major>\d{1,9})(?:\.(?P<minor>\d{1,9}))?(?:\.(?P<patch>\d{1,9}))?(?P<rest>[-+][0-9A-Za-z.-]{1,80})?\Z",
    re.ASCII,
)


@rule("AGT030", "R1.1", fix="safe")
def version_form(case: Case) -> Iterator[Report]:
    """The version is not a semantic version: three numbers, and what may follow them.

    Why: whoever compares versions, or asks for "at least 1.2", needs all three.

    Bad: `version: "1.0"`, `version: v1.2.3`

    Good: `version: "1.0.0"`

    Fix (safe): adds the numbers that are not there as 0, and removes a leading v.
    """
    document, version = case.document, case.get("version")
    if not isinstance(version, str) or not version.strip() or _SEMVER.match(version.strip()):
        return
    if document.frontmatter is not None and "/version" in document.frontmatter.plain:
        return  # a date, which AGT042 tells
    meant = _complete_version(version.strip())
    yield Report(f"the version {show(version)} is not of the form 1.2.3",
                 f'Write "{meant}".' if meant else "Write three numbers with dots between them.",
                 document.span_of("/version"), "/version",
                 edits=edits.rewrite_text(document, "/version", meant) if meant else ())  # fmt: skip


def _complete_version(text: str) -> str | None:
    found = _LOOSE_VERSION.match(text)
    if found is None:
        return None
    numbers = ".".join(str(int(found[part] or 0)) for part in ("major", "minor", "patch"))
    meant = numbers + (found["rest"] or "")
    return meant if _SEMVER.match(meant) else None


@rule("AGT031", "R1.1", severity="warning")
def description_long(case: Case) -> Iterator[Report]:
    """The description has more than two sentences, or more than 500 characters.

    Why: whoever chooses an agent reads all descriptions, every time: a model pays for them with its context.

    Bad: a description that retells the workflow

    Good: one sentence for what it does, one for when to use it
    """
    description = case.get("description")
    if not isinstance(description, str):
        return
    text = description.strip()
    count = count_sentences(text)
    if count <= MAX_SENTENCES and len(text) <= MAX_DESCRIPTION:
        return
    told = f"{len(text)} characters" if len(text) > MAX_DESCRIPTION else f"{count} sentences"
    yield Report(f"the description has {told}",
                 f"Say what it does and when to use it, in two sentences and {MAX_DESCRIPTION} characters.",
                 case.document.key_span("/description"), "/description")  # fmt: skip


@rule("AGT032", "R1.1", fix="unsafe")
def mode_wrong(case: Case) -> Iterator[Report]:
    """The mode is not `subagent`.

    Why: a standard agent is called by a command or another agent and returns to it. A primary agent is talked to, and
    returns nothing that could be checked.

    Bad: `mode: primary`

    Good: `mode: subagent`

    Fix (unsafe): writes `subagent`; that is safe where it was only spelled otherwise, as in `Sub-Agent`.
    """
    document, mode = case.document, case.get("mode")
    if not isinstance(mode, str) or not mode.strip() or mode.strip() == "subagent":
        return
    applicability: Applicability = "safe" if squeeze(mode.strip()) == "subagent" else "unsafe"
    yield Report(f"the mode is {show(mode)}, not subagent", "Write mode: subagent.", document.span_of("/mode"),
                 "/mode", edits=edits.rewrite_text(document, "/mode", "subagent"),
                 applicability=applicability)  # fmt: skip


_OTHER_KINDS = {
    "planner": "planning", "architect": "planning", "execution": "implementation", "executor": "implementation",
    "builder": "implementation", "implementer": "implementation", "coding": "implementation",
    "coder": "implementation", "researcher": "research", "analysis": "research", "reviewer": "review",
    "validation": "review", "verification": "review", "maintenance": "utility", "service": "utility",
    "helper": "utility", "tool": "utility",
}  # fmt: skip


@rule("AGT033", "R1.1", fix="unsafe")
def kind_unknown(case: Case) -> Iterator[Report]:
    """The agent's type is none of planning, implementation, research, review and utility.

    Why: the type decides how long the agent may take and what a successful run leaves behind.

    Bad: `agent_type: execution`

    Good: `agent_type: implementation`

    Fix (unsafe): writes the type that was probably meant, where one is close.
    """
    document, kind = case.document, case.get("agent_type")
    if not isinstance(kind, str) or not kind.strip() or kind.strip() in KINDS:
        return
    meant = _OTHER_KINDS.get(kind.strip().lower()) or find_meant(kind.strip(), KINDS, least=SURE)
    yield Report(f"the standard knows no agent_type {show(kind)}",
                 f"Did you mean {meant}?" if meant else f"Known are: {', '.join(KINDS)}.",
                 document.span_of("/agent_type"), "/agent_type",
                 edits=edits.rewrite_text(document, "/agent_type", meant) if meant else (),
                 fix_message=f"Write {meant}." if meant else "")  # fmt: skip
