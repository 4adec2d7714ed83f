"""Rules on the process flow: missing steps and parts, names, numbers and order."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import TYPE_CHECKING

from remit.agents import edits
from remit.agents.default_sections import render_step
from remit.agents.outline import STEP_PARTS, find_part
from remit.agents.rules.register import AgentFileContext, AgentViolation, agent_rule
from remit.agents.rules.section_table import find_kind, find_top, is_empty, shorten
from remit.lazy_regex import lazy

if TYPE_CHECKING:
    from collections.abc import Iterator

    from remit.agents.document import AgentDocument
    from remit.agents.outline import ProcessStep, Role

MIN_STEPS = 3
MIN_WORDS = 8
"""A shorter process is a heading and not a description."""

_HEADING = lazy(r"(?:step|stage|phase)\s{0,3}\d", re.IGNORECASE)


def _find_headings(document: AgentDocument) -> list[tuple[int, int]]:
    """The headings that name steps."""
    return [span for _, title, span in document.body.headings if _HEADING.match(title)]


@agent_rule("AGT140", fix="unsafe")
def process_flow_missing(case: AgentFileContext) -> Iterator[AgentViolation]:
    """The process flow is missing or empty.

    Why: without steps, the agent invents its own.

    Bad: no `<process_flow>`

    Good: `<process_flow>` with `<step_0_preflight>`, `<step_1>` …

    Fix (unsafe): puts existing steps into a `<process_flow>`.
    """
    document, outline = case.document, case.document.outline
    flow = outline.get("process_flow")
    if flow is None and outline.lacks("process_flow"):
        if outline.steps:
            yield AgentViolation("the steps are outside of <process_flow>", "Put <process_flow> around them.",
                                 outline.steps[0].tag.name_span, edits=_wrap(document, outline.steps))  # fmt: skip
        elif len(_find_headings(document)) < 2:  # noqa: PLR2004 - one heading is no list of steps
            yield AgentViolation(
                "<process_flow> is missing",
                "Write the steps, from step_0_preflight to the return.",
                find_top(document),
            )
    elif flow is not None and is_empty(document, flow):
        yield AgentViolation(f"<{flow.name}> is empty", "Write the steps, from step_0_preflight to the return.",
                             flow.name_span)  # fmt: skip


def _wrap(document: AgentDocument, steps: list[ProcessStep]) -> tuple[edits.Change, ...]:
    first, last = steps[0].tag, steps[-1].tag
    newline = edits.find_newline(document)
    if not last.closed or first.parent is not last.parent:
        return ()
    return (
        (first.start, first.start, f"<process_flow>{newline}"),
        (last.end, last.end, f"{newline}</process_flow>"),
    )


# --- names and numbers -----------------------------------------------------------------------------------------------


def _render_name(number: int, step: ProcessStep) -> str:
    """Return the standard's name of a step."""
    suffix = "" if step.suffix.isdigit() else step.suffix
    if step.role is not None and not (step.named and suffix):
        suffix = step.role
    return f"step_{number}_{suffix}" if suffix else f"step_{number}"


def _rename(step: ProcessStep, number: int) -> tuple[edits.Change, ...]:
    name = _render_name(number, step)
    return edits.rename_tag(step.tag, name) if name != step.tag.name else ()


@agent_rule("AGT144", fix="safe")
def stage_name(case: AgentFileContext) -> Iterator[AgentViolation]:
    """Steps are named stages.

    Why: agents skipped a preflight named `stage_1_preflight` and started to work on tasks without updating their
    status. Agents don't skip a `step_0_preflight`.

    Bad: `<stage_1_preflight>`

    Good: `<step_0_preflight>`

    Fix (safe): renames stages to steps; if the preflight is stage 1, the numbers start at 0.
    """
    for group in case.document.outline.groups:
        stages = [step for step in group if step.word in ("stage", "phase")]
        if not stages:
            continue
        changes = tuple(change for step, number in _count_stages(group) for change in _rename(step, number))
        first = next((step for step in stages if step.role == "preflight"), stages[0])
        number = next((number for step, number in _count_stages(group) if step is first), 0)
        more = f", and so are {len(stages) - 1} more" if len(stages) > 1 else ""
        yield AgentViolation(f"<{first.tag.name}> is a stage, not a step{more}",
                             f"Rename it to <{_render_name(number, first)}>: agents skip stages.", first.tag.name_span,
                             edits=changes)  # fmt: skip


def _count_stages(group: list[ProcessStep]) -> list[tuple[ProcessStep, int]]:
    """Return the step number of each stage: its own, or one less if the first stage is a preflight."""
    stages = [step for step in group if step.word in ("stage", "phase")]
    whole = [step.number for step in group] == list(range(1, len(group) + 1)) and stages == group
    if whole and group[0].role == "preflight":
        return [(step, number) for number, step in enumerate(group)]
    counted = []
    for step in stages:
        if step.role == "preflight" and step is group[0]:
            counted.append((step, 0))
        elif step.number is not None:
            counted.append((step, step.number))
    return counted


def _is_owned_by_remit(document: AgentDocument) -> bool:
    """Whether Remit updates the status and commits (C19)."""
    return bool(document.get("owner") == "remit")


def _report_missing_step(case: AgentFileContext, role: Role) -> Iterator[AgentViolation]:
    """Report a flow without a step of a role, unless a step has the role but another name."""
    document, outline = case.document, case.document.outline
    flow = outline.get("process_flow")
    if flow is None or not outline.steps or any(step.role == role for step in outline.steps):
        return
    kind = find_kind(document)
    number = {"preflight": "0", "postflight": "N", "return": "N+1"}[role]
    last = max((step.number or 0 for step in outline.steps), default=0)
    what = {
        "preflight": "validates the inputs and moves the status before the work begins",
        "postflight": "moves the status and commits when the work is done",
        "return": "formats and validates the return",
    }[role]
    yield AgentViolation(f"the process flow has no {role} step", f"Add <step_{number}_{role}>, which {what}.",
                         flow.name_span, severity="warning" if kind == "utility" and role != "return" else None,
                         edits=_add_step(document, role, kind, last))  # fmt: skip


def _add_step(document: AgentDocument, role: Role, kind: str, last: int) -> tuple[edits.Change, ...]:
    """Insert a step before the first one, before the return, or at the end."""
    groups = document.outline.groups
    flow = document.outline.get("process_flow")
    if flow is None or len(groups) != 1 or groups[0][0].tag.parent is not flow:
        return ()
    steps = groups[0]
    if role == "preflight":
        return edits.add_before(document, steps[0].tag, render_step(role, 0, kind) + "\n")
    returning = next((step for step in steps if step.role == "return"), None)
    if role == "postflight" and returning is not None:
        return edits.add_before(document, returning.tag, render_step(role, last, kind) + "\n")
    return edits.add_child(document, flow, "\n" + render_step(role, last + 1, kind))


@agent_rule("AGT145", fix="unsafe")
def preflight_missing(case: AgentFileContext) -> Iterator[AgentViolation]:
    """The process flow has no preflight.

    Why: without a preflight, the agent doesn't check its inputs, and the task's status doesn't show that work has
    started. For a utility this is a warning. A file with `owner: remit` leaves the status to Remit and needs no
    preflight.

    Bad: no `<step_0_preflight>`

    Good: a flow that begins with `<step_0_preflight>`

    Fix (unsafe): adds a generic preflight.
    """
    if not _is_owned_by_remit(case.document):
        yield from _report_missing_step(case, "preflight")


@agent_rule("AGT146", fix="unsafe")
def postflight_missing(case: AgentFileContext) -> Iterator[AgentViolation]:
    """The process flow has no postflight.

    Why: if work is done and its status doesn't change, the work is done again. For a utility this is a warning. A
    file with `owner: remit` leaves status and commit to Remit and needs no postflight.

    Bad: no `<step_3_postflight>`

    Good: `<step_3_postflight>`, then `<step_4_return>`

    Fix (unsafe): adds a generic postflight.
    """
    if not _is_owned_by_remit(case.document):
        yield from _report_missing_step(case, "postflight")


@agent_rule("AGT147", fix="unsafe")
def return_step_missing(case: AgentFileContext) -> Iterator[AgentViolation]:
    """The process flow has no return step.

    Why: an agent without the instruction to format and validate its return ends with prose.

    Bad: no `<step_4_return>`

    Good: `<step_3_postflight>`, then `<step_4_return>`

    Fix (unsafe): adds a generic return step.
    """
    yield from _report_missing_step(case, "return")


@agent_rule("AGT148", fix="unsafe")
def preflight_not_first(case: AgentFileContext) -> Iterator[AgentViolation]:
    """The preflight isn't the first step, or its number isn't 0.

    Why: 0 says that the step precedes the work. With any other number, agents postpone it.

    Bad: `<step_1_preflight>`

    Good: `<step_0_preflight>` before all other steps

    Fix (unsafe): numbers the steps from 0, if the preflight is the first.
    """
    for group in case.document.outline.groups:
        for index, step in enumerate(group):
            if step.role != "preflight" or step.word in ("stage", "phase"):
                continue
            if index:
                yield AgentViolation(f"<{step.tag.name}> comes after {index} other step{'s' * (index > 1)}",
                                     "Put the preflight before all other steps.", step.tag.name_span)  # fmt: skip
            elif step.number:
                yield AgentViolation(
                    f"<{step.tag.name}> doesn't have the number 0",
                    "Rename it to <step_0_preflight>.",
                    step.tag.name_span,
                    edits=_renumber(group),
                )
            break


def _renumber(group: list[ProcessStep]) -> tuple[edits.Change, ...]:
    """Number the steps in the order of the text: from 0 with a preflight, else from the first number."""
    start = 0 if group[0].role == "preflight" else min(1, group[0].number if group[0].number is not None else 1)
    return tuple(change for number, step in enumerate(group, start) for change in _rename(step, number))


@agent_rule("AGT149", severity="warning", fix="unsafe")
def step_numbers(case: AgentFileContext) -> Iterator[AgentViolation]:
    """The steps aren't numbered consecutively.

    Why: a gap looks like a missing step, and two steps with one number look like two versions of it.

    Bad: two `<step_1>`, or `<step_4>` after `<step_2>`

    Good: each number once, from `<step_0_preflight>` on

    Fix (unsafe): renumbers the steps; text that refers to a step by its number stays as it is.
    """
    for group in case.document.outline.groups:
        if any(step.word in ("stage", "phase") for step in group) or (group[0].role == "preflight" and group[0].number):
            continue  # other fixes come first: they make steps of stages, or number the preflight 0
        numbered = [step for step in group if step.number is not None]
        for before, step in pairwise(numbered):
            if step.number == (before.number or 0) + 1 and not step.suffix.isdigit():
                continue
            if step.suffix.isdigit():
                what = f"<{step.tag.name}> has two numbers"
            elif step.number == before.number:
                what = f"<{step.tag.name}> has the same number as <{before.tag.name}>"
            else:
                what = f"<{step.tag.name}> follows <{before.tag.name}>"
            yield AgentViolation(what, "Number the steps consecutively.", step.tag.name_span,
                                 edits=_renumber(group))  # fmt: skip
            break


@agent_rule("AGT150", severity="note", fix="safe")
def step_number_letter(case: AgentFileContext) -> Iterator[AgentViolation]:
    """A step's number is a letter, as in a template.

    Why: Remit understands N and N+1; a number is clearer to the agent.

    Bad: `<step_N_postflight>`, `<step_N+1_return>`

    Good: `<step_3_postflight>`, `<step_4_return>`

    Fix (safe): writes the numbers.
    """
    for group in case.document.outline.groups:
        letters = [step for step in group if step.letter]
        if not letters:
            continue
        changes: list[edits.Change] = []
        number = -1
        for step in group:
            number = step.number if step.number is not None else number + 1
            changes += _rename(step, number) if step.letter else ()
        yield AgentViolation(f"<{letters[0].tag.name}> has a letter instead of a number", "Write the number.",
                             letters[0].tag.name_span, edits=tuple(changes))  # fmt: skip


@agent_rule("AGT151", severity="warning", fix="unsafe")
def step_name(case: AgentFileContext) -> Iterator[AgentViolation]:
    """A step's name doesn't follow the standard.

    Why: names give the order of the steps, and programs look for `step_1`, not `<step>` or `<step1>`.

    Bad: `<step name="Read">`, `<step1>`, `<preflight>Check.</preflight>` in `<process_flow>`

    Good: `<step_1>`, `<step_0_preflight>`

    Fix (unsafe): names the steps by their order.
    """
    for group in case.document.outline.groups:
        if any(step.word in ("stage", "phase") for step in group):
            continue
        wrong = [
            step for step in group if not step.tag.name.startswith("step_") or (step.number is None and not step.letter)
        ]
        slipped = {id(slip.tag) for slip in case.document.outline.slips}
        wrong = [step for step in wrong if id(step.tag) not in slipped]
        if wrong:
            more = f", nor are {len(wrong) - 1} more" if len(wrong) > 1 else ""
            yield AgentViolation(f"<{wrong[0].tag.name}> isn't a step name{more}",
                                 "Write step_ and its number, and add preflight, postflight and return.",
                                 wrong[0].tag.name_span, edits=_renumber(group))  # fmt: skip


@agent_rule("AGT152", severity="warning", fix="safe")
def step_role_unnamed(case: AgentFileContext) -> Iterator[AgentViolation]:
    """The name of a preflight, postflight or return step lacks that word.

    Why: the name reminds the agent of the step's purpose.

    Bad: `<step_4><action>Return: format the result</action></step_4>`

    Good: `<step_4_return><action>Return: format the result</action></step_4_return>`

    Fix (safe): adds the word to the name.
    """
    for group in case.document.outline.groups:
        for step in group:
            if step.role is None or step.named or step.word != "step" or step.number is None:
                continue
            name = _render_name(step.number, step)
            yield AgentViolation(
                f"<{step.tag.name}> is the {step.role} step, but its name lacks that word",
                f"Rename it to <{name}>.",
                step.tag.name_span,
                edits=_rename(step, step.number),
            )


# --- what the steps say ----------------------------------------------------------------------------------------------


@agent_rule("AGT156", severity="warning")
def minimal_flow(case: AgentFileContext) -> Iterator[AgentViolation]:
    """The process flow has hardly any instructions.

    Why: the agent invents what its steps leave out, differently in each run.

    Bad: one step whose process is `Do the thing, return the result.`

    Good: steps that say what to read, how to decide, what to write, and how to check it.
    """
    document = case.document
    flow, steps = document.outline.get("process_flow"), document.outline.steps
    if flow is None or not steps:
        return
    if len(steps) < MIN_STEPS:
        yield AgentViolation(
            f"the process flow has only {len(steps)} step{'s' * (len(steps) > 1)}",
            "Write one step each for reading, deciding, doing and checking.",
            flow.name_span,
        )
        return
    for step in steps:
        process = find_part(step.tag, "process")
        if process is None or find_part(step.tag, "implementation") is not None:
            continue
        words = len(document.text[process.inner_start : min(process.inner_end, process.inner_start + 2000)].split())
        if 0 < words < MIN_WORDS and not document.text_of(process).startswith(("{", "...")):
            yield AgentViolation(f"the process of <{step.tag.name}> has only {words} word{'s' * (words > 1)}",
                                 "Describe in numbered lines how to do the step.", process.name_span)  # fmt: skip


@agent_rule("AGT157")
def process_empty(case: AgentFileContext) -> Iterator[AgentViolation]:
    """The action, process or checkpoint of a step is empty.

    Why: an agent skips an empty step, or invents its content.

    Bad: `<process></process>`

    Good: `<process>1. Read the task's entry. 2. List open questions.</process>`
    """
    document = case.document
    for step in document.outline.steps:
        for part in STEP_PARTS:
            tag = find_part(step.tag, part)
            if tag is not None and is_empty(document, tag):
                yield AgentViolation(
                    f"<{part}> of <{step.tag.name}> is empty", "Write it, or remove the step.", tag.name_span
                )


@agent_rule("AGT158")
def steps_in_headings(case: AgentFileContext) -> Iterator[AgentViolation]:
    """The steps are headings instead of tags.

    Why: a heading doesn't show where its step ends, and nothing separates its action from its checkpoint.

    Bad: `### Stage 1: Preflight` and `### Stage 2: Plan` and no `<process_flow>`

    Good: `<step_0_preflight>` … `</step_0_preflight>` inside `<process_flow>`
    """
    document, outline = case.document, case.document.outline
    headings = _find_headings(document)
    if outline.steps or outline.is_bare or "process_flow" in outline.hidden or len(headings) < 2:  # noqa: PLR2004
        return
    title = shorten(document.text[slice(*headings[0])].lstrip("# "))
    yield AgentViolation(f"the steps are headings, from '{title}' on", "Write them as tags inside <process_flow>.",
                         headings[0])  # fmt: skip
