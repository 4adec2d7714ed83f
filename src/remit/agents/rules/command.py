"""Rules on command files: a command that delegates prepares, invokes, receives, validates and processes."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from remit.agents import edits
from remit.agents.rules.register import Case, Report, rule
from remit.agents.rules.tables import show
from remit.lazy import lazy

if TYPE_CHECKING:
    from collections.abc import Iterator

    from remit.agents.document import Document
    from remit.agents.profiles import Profile
    from remit.agents.tags import Tag

_COMMAND: tuple[Profile, ...] = ("command",)
_STAGES = {
    "prepare": lazy(r"prepar|preflight|pars|load|input|rout", re.IGNORECASE),
    "invoke": lazy(r"invok|delegat|call|spawn|execut|dispatch", re.IGNORECASE),
    "receive": lazy(r"receiv|await|collect", re.IGNORECASE),
    "validate": lazy(r"validat|verif|check", re.IGNORECASE),
    "process": lazy(r"process|postflight|relay|present|report|return|summar|respon|output", re.IGNORECASE),
}
"""The stages of a delegation, and the words by which people call them."""
_STAGE = lazy(r"(?:stage|step|phase)(?:_|\Z)", re.IGNORECASE)


def _find_stages(document: Document) -> tuple[Tag | None, list[Tag]]:
    """The workflow of a command, and its stages; an agent may have a workflow too, which is no delegation."""
    workflow = document.body.find("workflow_execution") if document.get("mode") != "subagent" else None
    return workflow, [tag for tag in workflow.children if _STAGE.match(tag.name)] if workflow else []


def _call(document: Document, tag: Tag) -> str:
    """By which words a stage is called: its name, its attributes, and what it says it does."""
    action = tag.find("action", "name", "title")
    told = document.text_of(action)[:200] if action else ""
    return f"{tag.name} {tag.attributes[:200]} {told}"


@rule("AGT500", "R1.33", profiles=_COMMAND, severity="warning")
def command_stage_missing(case: Case) -> Iterator[Report]:
    """A command's workflow lacks one of the five stages: prepare, invoke, receive, validate, process.

    Why: what a workflow does not name is not done. A command that does not receive takes the end of the call for its
    success; one that does not validate takes prose for a result. A stage counts by the words of its tag, its `name` or
    its `<action>`; preflight, delegate, await, verify and relay are among them. Only files with a
    `<workflow_execution>` are looked at.

    Bad: `<stage_1 name="Invoke">` and `<stage_2 name="Report">`

    Good: `<stage_1 name="Prepare">`, `<stage_2 name="Invoke">`, `<stage_3 name="Receive">`,
    `<stage_4 name="Validate">`, `<stage_5 name="Process">`
    """
    workflow, stages = _find_stages(case.document)
    if workflow is None or not stages:
        return
    named = [_call(case.document, tag) for tag in stages[:100]]
    lost = [stage for stage, words in _STAGES.items() if not any(words.search(name) for name in named)]
    if lost:
        yield Report(f"the workflow names no stage that does this: {', '.join(lost)}",
                     "Name a stage for each: prepare, invoke, receive, validate, process.",
                     workflow.name_span)  # fmt: skip


@rule("AGT501", "R1.33", profiles=_COMMAND, severity="warning")
def command_workflow_empty(case: Case) -> Iterator[Report]:
    """A command's `<workflow_execution>` has no stages.

    Why: a workflow in plain sentences is easily skipped in parts; stages are not.

    Bad: `<workflow_execution>Call the planner.</workflow_execution>`

    Good: `<workflow_execution>` with a `<stage_1 name="Prepare">` and so on
    """
    workflow, stages = _find_stages(case.document)
    if workflow is not None and not stages:
        yield Report("the workflow has no stages", "Write prepare, invoke, receive, validate, process as stages.",
                     workflow.name_span)  # fmt: skip


@rule("AGT502", "R1.33", profiles=_COMMAND, severity="note", fix="unsafe")
def command_description_missing(case: Case) -> Iterator[Report]:
    """A command has a frontmatter without a description.

    Why: the description is what the list of commands shows.

    Bad: a frontmatter with `agent` and no `description`

    Good: `description: Plan a task`

    Fix (unsafe): takes the file's title.
    """
    document = case.document
    found = document.frontmatter
    value = case.get("description")
    if found is None or not found.whole or document.unclosed_frontmatter or not found.values:
        return
    if value is not None and not (isinstance(value, str) and not value.strip()):
        return
    title = next((text for level, text, _ in document.body.headings if level == 1 and text), "")
    yield Report("description is missing", "Say in a few words what the command does.",
                 document.key_span("/description"), "/description",
                 edits=edits.put_value(document, "", "description", edits.quote(title)) if title else ())  # fmt: skip


@rule("AGT503", "R1.33", profiles=_COMMAND, severity="warning", fix="safe")
def command_agent_form(case: Case) -> Iterator[Report]:
    """`agent` is not the name of one agent.

    Why: a command is run by one agent, which is found by its name; a harness that finds none runs another.

    Bad: `agent: "@planner"`, `agent: [planner, reviewer]`

    Good: `agent: planner`

    Fix (safe): takes the `@` away, which no name has.
    """
    document = case.document
    agent = case.get("agent")
    if agent is None or (isinstance(agent, str) and not agent.startswith("@")):
        return
    name = agent[1:].strip() if isinstance(agent, str) else ""
    yield Report(f"agent is {show(agent)}, which names no agent", "Write the name of one agent.",
                 document.span_of("/agent"), "/agent",
                 edits=edits.rewrite_text(document, "/agent", name) if name else (),
                 fix_message=f"Write {name[:60]}.")  # fmt: skip
