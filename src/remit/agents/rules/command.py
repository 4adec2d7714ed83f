"""Rules on command files: the stages of a workflow that calls an agent, its timeout, and fields."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from remit.agents.profiles import COMMAND_KEYS
from remit.agents.rules.field_table import (
    FieldCheck,
    FieldProblem,
    FieldSpec,
    FieldTable,
    RuleRow,
    add_table,
    find_title,
    is_whole,
)
from remit.agents.rules.register import AgentFileContext, AgentViolation, agent_rule
from remit.lazy_regex import lazy
from remit.light_namedtuple import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

    from remit.agents.document import AgentDocument
    from remit.agents.frontmatter import Span
    from remit.agents.profiles import Profile
    from remit.agents.tags import Tag

_COMMAND: tuple[Profile, ...] = ("command",)
_STAGES = ("prepare", "invoke", "receive", "validate", "process")
"""The stages of a command that calls an agent."""
_FIRST_WORDS = {
    **dict.fromkeys(("prepare", "preflight", "parse", "load", "setup"), "prepare"),
    **dict.fromkeys(("invoke", "delegate", "call", "spawn", "dispatch", "execute", "run"), "invoke"),
    **dict.fromkeys(("receive", "await", "wait", "collect"), "receive"),
    **dict.fromkeys(("validate", "verify"), "validate"),
    **dict.fromkeys(("process", "postflight", "relay", "report", "present", "return"), "process"),
}
"""The stage of a name, by the first of its words that is in this table."""
_STAGE = lazy(r"(?:stage|step|phase)(?:_|\Z)", re.IGNORECASE)
_HEADING = lazy(r"(?:stage|step|phase)\s{0,3}\d{1,3}\b[^A-Za-z]{0,9}(?P<name>.{0,200})", re.IGNORECASE)
_TIMEOUT = lazy(r"time[-_ ]?out|time[-_ ]limit", re.IGNORECASE)
_WORD = lazy(r"[A-Z]?[a-z]{1,40}|[A-Z]{1,40}(?![a-z])")


class _Workflow(NamedTuple):
    span: Span
    """The span of the tag's name, or of the first stage if there is no such tag."""
    stages: list[str]
    """The names of the stages."""


def _find_workflow(document: AgentDocument) -> _Workflow | None:
    """Return the workflow of a command, or None for an agent or a command that calls no agent.

    Stages are tags or headings in `<workflow_execution>`. Without that tag, they are `<stage>` tags and headings that
    begin with "Stage 1", if two of them are stages of a call: other commands have stages, too.
    """
    if document.get("mode") == "subagent":
        return None
    workflow = document.body.find("workflow_execution")
    inside = workflow or document.body.root
    word = "" if workflow else "stage"
    found = [(tag.name_span, _name_stage(document, tag)) for tag in inside.children
             if _STAGE.match(tag.name) and tag.name.lower().startswith(word)]  # fmt: skip
    for _, title, span in document.body.headings if not found else ():
        heading = _HEADING.match(title) if title.lower().startswith(word) else None
        if heading is not None and inside.start <= span[0] < inside.end:
            found.append((span, heading["name"]))
    stages = [name for _, name in found[:100]]
    if workflow is not None:
        return _Workflow(workflow.name_span, stages)
    return _Workflow(found[0][0], stages) if len(set(map(_classify, stages)) - {None}) > 1 else None


def _name_stage(document: AgentDocument, tag: Tag) -> str:
    """Return the name of a stage: its attribute, its tag without the number, its title, or its action's first word."""
    title, action = tag.find("name", "title"), tag.find("action")
    suffix = tag.name.partition("_")[2].lstrip("0123456789_")
    named = tag.get("name") or suffix or (document.text_of(title)[:200] if title else "")
    return named or (document.text_of(action)[:200].partition(" ")[0] if action else "")


def _classify(name: str) -> str | None:
    """Return the stage of a call that a name means, or None."""
    words = (_FIRST_WORDS.get(word.lower()) for word in _WORD.findall(name))
    return next((stage for stage in words if stage), None)


@agent_rule("AGT500", profiles=_COMMAND, severity="warning")
def command_stage_missing(case: AgentFileContext) -> Iterator[AgentViolation]:
    """A command's workflow lacks one of the five stages: prepare, invoke, receive, validate, process.

    Why: agents skip what a workflow doesn't name. A command without a receive stage takes the end of the call for
    success; one without a validate stage takes prose for a result. Each stage counts once, by the first word of its
    `name`, its tag or its heading; preflight, delegate, await, verify and relay are accepted, too. Sentences in a
    stage don't count. Files without `<workflow_execution>` are checked only if their stages are those of a
    delegation.

    Bad: `<stage_1 name="Invoke">` and `<stage_2 name="Report">`

    Good: `<stage_1 name="Prepare">`, `<stage_2 name="Invoke">`, `<stage_3 name="Receive">`, `<stage_4
    name="Validate">`, `<stage_5 name="Process">`
    """
    workflow = _find_workflow(case.document)
    if workflow is None or not workflow.stages:
        return
    named = set(map(_classify, workflow.stages))
    missing = [stage for stage in _STAGES if stage not in named]
    if missing:
        yield AgentViolation(f"the workflow has no stage for: {', '.join(missing)}",
                             "Name a stage for each: prepare, invoke, receive, validate, process.",
                             workflow.span)  # fmt: skip


@agent_rule("AGT501", profiles=_COMMAND, severity="warning")
def command_workflow_empty(case: AgentFileContext) -> Iterator[AgentViolation]:
    """A command's `<workflow_execution>` has no stages.

    Why: agents skip parts of a workflow in prose more easily than stages.

    Bad: `<workflow_execution>Call the planner.</workflow_execution>`

    Good: `<workflow_execution>` with a `<stage_1 name="Prepare">` and so on
    """
    workflow = _find_workflow(case.document)
    if workflow is not None and not workflow.stages:
        yield AgentViolation(
            "the workflow has no stages", "Write prepare, invoke, receive, validate, process as stages.", workflow.span
        )


@agent_rule("AGT504", profiles=_COMMAND, severity="warning")
def command_timeout_missing(case: AgentFileContext) -> Iterator[AgentViolation]:
    """A command delegates, and neither its frontmatter nor its body sets a timeout.

    Why: a command that waits for an agent without a timeout waits forever if the agent hangs.

    Bad: a workflow that invokes an agent, and the word timeout nowhere in the file

    Good: `"timeout": 3600` in the delegation context, or `timeout: 3600` in the frontmatter
    """
    document = case.document
    workflow = _find_workflow(document)
    if workflow is not None and workflow.stages and _TIMEOUT.search(document.text) is None:
        yield AgentViolation("the command sets no timeout for the agent that it invokes",
                             "Pass a timeout to the agent, such as 3600 seconds for research.",
                             workflow.span)  # fmt: skip


# --- fields ----------------------------------------------------------------------------------------------------------

_NO_AGENT = FieldProblem("AGT503", "agent is {value}, expected the name of an agent", "Write the name of one agent.",
                         fix_message="Write {meant}.", at_value=True)  # fmt: skip
TABLE = FieldTable(
    "command",
    fields=(
        FieldSpec("description", "text", default=find_title, missing=FieldProblem(
            "AGT502", "description is {state}", "Describe the command in a few words.",
            when=lambda document: is_whole(document) and bool(document.values),
        )),
        FieldSpec("agent", checks=(
            FieldCheck(_NO_AGENT, lambda _, name: not isinstance(name, str) or name.startswith("@"),
                       lambda _, name: name[1:].strip() if isinstance(name, str) else ""),
        )),
    ),
    keys=COMMAND_KEYS,
)  # fmt: skip

add_table(TABLE, (
    RuleRow("AGT502", "command-description-missing", "note", "unsafe"),
    RuleRow("AGT503", "command-agent-invalid", "warning", "safe"),
))  # fmt: skip
