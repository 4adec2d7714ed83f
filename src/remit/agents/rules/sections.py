"""Rules on the standard's sections: the table of required sections, parts, attributes and names.

Rules that compare sections with each other, with the frontmatter or with the steps are functions in other modules.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from remit.agents.default_sections import (
    ARTIFACTS,
    STRUCTURE,
    USUAL_ERRORS,
    USUAL_FORBIDDEN,
    USUAL_INPUTS,
    VALIDATION,
    render_artifact,
    render_error,
    render_parameter,
)
from remit.agents.inputs import TYPE_WORDS, TYPES, find_forbidden, find_parameters
from remit.agents.outline import (
    ARTIFACT_PARTS,
    CHECKPOINT_ALIASES,
    CONTEXT_PARTS,
    DELEGATE_PARTS,
    STEP_PARTS,
    find_part,
    unfold,
)
from remit.agents.rules.error_handling import find_error_types, list_usual_errors, read_error_names
from remit.agents.rules.outputs import ARTIFACT_TYPES, find_artifacts, find_spec_root
from remit.agents.rules.register import add_rule
from remit.agents.rules.section_table import (
    AttributeChoice,
    AttributeNeeded,
    OtherName,
    PartsNeeded,
    Repeated,
    SectionNeeded,
    SentenceRange,
    UsualNames,
    find_kind,
    is_empty,
    make_check,
    shorten,
)
from remit.light_namedtuple import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

    from remit.agents.document import AgentDocument
    from remit.agents.rules.register import Applicability
    from remit.agents.rules.section_table import Named, Shape
    from remit.agents.tags import Tag
    from remit.model import Severity


class SectionRule(NamedTuple):
    """A row of the table. Its page is `agents/pages/CODE.md`."""

    code: str
    name: str
    shapes: tuple[Shape, ...]
    severity: Severity = "error"
    fix: Applicability | None = None


# --- tags that the rows check ----------------------------------------------------------------------------------------

CORE_INPUTS = ("task_number", "session_id", "delegation_depth", "delegation_path")
"""Inputs that identify a run. Language and timeout are optional."""


def _find_context(document: AgentDocument) -> Iterator[Named]:
    context = document.outline.get("context")
    if context is not None:
        yield context, ""


def _find_inputs(document: AgentDocument) -> Iterator[Named]:
    for tag in find_parameters(document):
        yield tag, (tag.get("name") or "").strip()


def _find_named_inputs(document: AgentDocument) -> Iterator[Named]:
    return ((tag, name) for tag, name in _find_inputs(document) if name)


def _find_steps(document: AgentDocument) -> Iterator[Named]:
    return ((step.tag, "") for step in document.outline.steps)


def _find_runs(document: AgentDocument) -> Iterator[Named]:
    section = document.outline.get("delegation_patterns")
    for tag in unfold(section) if section else ():
        if tag.name == "delegate_to":
            yield tag, shorten((tag.get("name") or "").strip()) or "an unnamed agent"


def _find_artifacts(document: AgentDocument) -> Iterator[Named]:
    return ((tag, shorten(tag.get("type") or "")) for tag in find_artifacts(document))


def _find_return_format(document: AgentDocument) -> Iterator[Named]:
    section = document.outline.get("return_format")
    if section is not None and section.closed and not is_empty(document, section):
        yield section, ""


def _find_unnamed_errors(document: AgentDocument) -> Iterator[Named]:
    return ((each.tag, "") for each in find_error_types(document) if not each.name)


def _list_sections(document: AgentDocument) -> Iterator[Named]:
    return ((tag, name) for name, tags in document.outline.sections.items() for tag in tags)


def _find_command_flows(document: AgentDocument) -> Iterator[Named]:
    flows = document.outline.sections.get("process_flow", ())
    return ((tag, "process_flow") for tag in flows if tag.name == "workflow_execution")


def _find_return_aliases(document: AgentDocument) -> Iterator[Named]:
    section = document.outline.get("return_format")
    if section is None or any(slip.tag is section for slip in document.outline.slips):
        return
    if section.name != "return_format":
        yield section, "return_format"
    inner = find_part(section, "format")
    if inner is not None and find_part(section, "structure") is None:
        yield inner, "structure"


def _find_checkpoint_aliases(document: AgentDocument) -> Iterator[Named]:
    for step in document.outline.steps:
        other = find_part(step.tag, "output") or find_part(step.tag, "validation")
        if other is not None and find_part(step.tag, "checkpoint") is None:
            yield other, "checkpoint"


# --- texts that the fixes write --------------------------------------------------------------------------------------


def _describe_context(document: AgentDocument, context: Tag, missing: list[str]) -> str:
    known = {"lifecycle_integration": "Owns postflight and return. The command validates the return and relays it."}
    command = document.get("lifecycle", "command")
    if isinstance(command, str) and command.startswith("/"):
        known["integration"] = f"Called by the command {shorten(command)}."
    absent = [part for part in missing if part in known and find_part(context, part) is None]
    return "\n".join(f"<{part}>{known[part]}</{part}>" for part in absent)


def _describe_role(document: AgentDocument) -> str:
    description = document.get("description")
    return " ".join(description.split())[:400] if isinstance(description, str) else ""


def _list_usual_inputs(document: AgentDocument) -> list[str]:
    """Return the usual inputs of an agent. A utility may serve no task."""
    if find_kind(document) == "utility":
        return ["session_id", "delegation_depth", "delegation_path"]
    return list(USUAL_INPUTS)


def _list_usual_forbidden(document: AgentDocument) -> list[str]:
    required = {name for _, name in _find_inputs(document)}
    return [name for name in USUAL_FORBIDDEN if name not in required]


def _render_forbidden(name: str) -> str:
    return f"<forbidden>{name}</forbidden>"


# --- the table -------------------------------------------------------------------------------------------------------

TABLE = (
    SectionRule(
        "AGT104",
        "section-repeated",
        (
            Repeated(
                _list_sections,
                "<{label}> is there twice",
                "Merge the two sections.",
                lambda document, first, tag: document.text_of(tag).split() == document.text_of(first).split(),
            ),
        ),
        "warning",
        "unsafe",
    ),
    SectionRule(
        "AGT106",
        "context-incomplete",
        (
            SectionNeeded("context", f"Write <context> with {', '.join(CONTEXT_PARTS)}.", may_be_empty=True),
            PartsNeeded(
                _find_context,
                CONTEXT_PARTS,
                "<context> lacks {missing}",
                "Write a sentence or two for each.",
                filled=True,
                severity=lambda _: "warning",
                default=_describe_context,
            ),
        ),
        fix="unsafe",
    ),
    SectionRule(
        "AGT107",
        "role-missing",
        (SectionNeeded("role", "Describe in one or two sentences who the agent is.", _describe_role),),
        fix="unsafe",
    ),
    SectionRule(
        "AGT108",
        "task-missing",
        (
            SectionNeeded(
                "task", "Describe in three to five sentences what the agent does, from its inputs to its return."
            ),
        ),
    ),
    SectionRule(
        "AGT109",
        "role-or-task-length",
        (
            SentenceRange("role", 1, 2, "Describe who the agent is; the rest belongs in <task>."),
            SentenceRange(
                "task",
                3,
                5,
                "Describe what the agent does, from its inputs to its return; details belong in the steps.",
                most_items=8,
            ),
        ),
        "warning",
    ),
    SectionRule(
        "AGT110",
        "inputs-missing",
        (
            SectionNeeded(
                "inputs_required",
                "List the inputs that the agent needs, with their types.",
                lambda document: "\n".join(map(render_parameter, _list_usual_inputs(document))),
                "parameter",
                'Write each input as <parameter name="…" type="…">.',
            ),
        ),
        fix="unsafe",
    ),
    SectionRule(
        "AGT111",
        "common-input-missing",
        (
            UsualNames(
                "inputs_required",
                _list_usual_inputs,
                lambda document: {name for _, name in _find_inputs(document)},
                "the common input{s} {names} {are} missing",
                "Add the inputs that the agent gets or can use.",
                render_parameter,
                lambda missing: None if {*missing} & {*CORE_INPUTS} else "note",
            ),
        ),
        "warning",
        "unsafe",
    ),
    SectionRule(
        "AGT112",
        "parameter-incomplete",
        (
            AttributeNeeded(_find_inputs, "name", "an input has no name", 'Write <parameter name="…" type="…">.'),
            AttributeNeeded(
                _find_named_inputs,
                "type",
                "the input {label} has no type",
                f"Add type, one of {', '.join(TYPES)}.",
                default=lambda name: USUAL_INPUTS[name][0] if name in USUAL_INPUTS else "",
            ),
        ),
        fix="safe",
    ),
    SectionRule(
        "AGT113",
        "parameter-type-unknown",
        (
            AttributeChoice(
                _find_inputs,
                "type",
                TYPES,
                "{value} isn't a type of an input",
                TYPE_WORDS,
                ("any", "null", "none"),
                is_first_word=True,
            ),
        ),
        "warning",
        "safe",
    ),
    SectionRule(
        "AGT114",
        "parameter-repeated",
        (
            Repeated(
                _find_inputs,
                "the input {label} is listed twice",
                "Keep one of the two.",
                lambda _, first, tag: (
                    (first.get("type"), first.get("optional")) == (tag.get("type"), tag.get("optional"))
                ),
            ),
        ),
        fix="unsafe",
    ),
    SectionRule(
        "AGT115",
        "forbidden-inputs-missing",
        (
            SectionNeeded(
                "inputs_forbidden",
                "List the inputs that the agent must not get.",
                lambda _: "\n".join(map(_render_forbidden, USUAL_FORBIDDEN)),
                "forbidden",
                "Write each as <forbidden>name</forbidden>.",
            ),
        ),
        "warning",
        "unsafe",
    ),
    SectionRule(
        "AGT116",
        "common-forbidden-input-missing",
        (
            UsualNames(
                "inputs_forbidden",
                _list_usual_forbidden,
                lambda document: {name for name, _ in find_forbidden(document)},
                "{names} {are} usually forbidden, too",
                "Forbid the inputs that the agent doesn't need.",
                _render_forbidden,
            ),
        ),
        "note",
        "unsafe",
    ),
    SectionRule(
        "AGT119",
        "delegate-to-incomplete",
        (
            AttributeNeeded(
                _find_runs, "name", "<delegate_to> has no agent name", 'Write <delegate_to name="…">.', "error"
            ),
            PartsNeeded(_find_runs, DELEGATE_PARTS, "the call to {label} lacks {missing}"),
        ),
        "warning",
    ),
    SectionRule(
        "AGT120",
        "artifacts-missing",
        (
            SectionNeeded(
                "artifact_creation",
                "Describe the path, the content and the validation of the {artifact}.",
                lambda document: render_artifact(find_kind(document), find_spec_root(document)),
                "artifact",
                'Write each file as <artifact type="…">.',
                "<{name}> is missing, which agents of type {kind} need",
                when=lambda document: find_kind(document) in ARTIFACTS,
            ),
        ),
        "warning",
        "unsafe",
    ),
    SectionRule(
        "AGT121",
        "artifact-incomplete",
        (
            PartsNeeded(
                _find_artifacts,
                ("@type", *ARTIFACT_PARTS),
                "the artifact {label} lacks {missing}",
                "Describe its type, path, content and validation.",
                default=lambda _, __, missing: (
                    "<validation>The file is there and not empty.</validation>" if missing == ["validation"] else ""
                ),
            ),
        ),
        "warning",
        "unsafe",
    ),
    SectionRule(
        "AGT122",
        "artifact-type-unknown",
        (AttributeChoice(_find_artifacts, "type", ARTIFACT_TYPES, "{value} isn't a type of an artifact"),),
        "warning",
        "safe",
    ),
    SectionRule(
        "AGT124",
        "return-format-missing",
        (
            SectionNeeded(
                "return_format",
                "Describe the return with <structure> and <validation>.",
                lambda _: f"{STRUCTURE}\n{VALIDATION}",
            ),
        ),
        fix="unsafe",
    ),
    SectionRule(
        "AGT125", "return-format-alias", (OtherName(_find_return_aliases, "Use the standard's name."),), "note", "safe"
    ),
    SectionRule(
        "AGT129",
        "return-validation-missing",
        (
            PartsNeeded(
                _find_return_format,
                ("validation",),
                "<{tag}> doesn't describe how to validate the return",
                other_names={"validation": ("validation_rules",)},
                default=lambda *_: VALIDATION,
            ),
        ),
        "note",
        "unsafe",
    ),
    SectionRule(
        "AGT130",
        "quality-missing",
        (SectionNeeded("quality_standards", "List the requirements for the work, one per tag."),),
        "warning",
    ),
    SectionRule(
        "AGT131",
        "error-handling-missing",
        (
            SectionNeeded(
                "error_handling",
                "Describe for each error type how to detect and handle it.",
                lambda _: render_error("timeout"),
            ),
        ),
        fix="unsafe",
    ),
    SectionRule(
        "AGT133",
        "common-error-missing",
        (
            UsualNames(
                "error_handling",
                list_usual_errors,
                read_error_names,
                "the error handling doesn't cover {names}",
                "Describe detection, handling, recovery and logging for each.",
                render_error,
            ),
        ),
        "note",
        "unsafe",
    ),
    SectionRule(
        "AGT135",
        "error-type-unnamed",
        (
            AttributeNeeded(
                _find_unnamed_errors,
                "name",
                "an error type has no name",
                f"Add a name, such as {', '.join(USUAL_ERRORS)}.",
            ),
        ),
    ),
    SectionRule(
        "AGT141",
        "workflow-in-subagent",
        (
            OtherName(
                _find_command_flows,
                "Rename it, and make sure that the steps are the agent's own.",
                "<{tag}> belongs in commands; an agent has a <{name}>",
            ),
        ),
        fix="unsafe",
    ),
    SectionRule(
        "AGT142",
        "step-incomplete",
        (
            PartsNeeded(
                _find_steps,
                STEP_PARTS,
                "<{tag}> has no {missing}",
                other_names={"checkpoint": CHECKPOINT_ALIASES, "process": ("implementation", "return_format")},
                severity=lambda missing: "warning" if missing == ["checkpoint"] else None,
            ),
        ),
    ),
    SectionRule(
        "AGT143",
        "checkpoint-alias",
        (OtherName(_find_checkpoint_aliases, "Rename it to <checkpoint>.", more=" (in {count} steps)"),),
        "note",
        "safe",
    ),
)

for row in TABLE:
    add_rule(row.code, row.name, make_check(row.shapes), severity=row.severity, fix=row.fix)
