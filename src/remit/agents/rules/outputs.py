"""Rules on an agent's output: its artifacts and the format of its return."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from remit.agents import edits
from remit.agents.default_sections import ARTIFACTS, STRUCTURE
from remit.agents.outline import find_part
from remit.agents.rules.register import AgentFileContext, AgentViolation, agent_rule
from remit.agents.rules.section_table import find_kind, is_empty, shorten
from remit.harnesses import claude, opencode
from remit.lazy_regex import lazy
from remit.model import STATUSES
from remit.spelling import find_similar

if TYPE_CHECKING:
    from collections.abc import Iterator

    from remit.agents.document import AgentDocument
    from remit.agents.tags import Tag

ARTIFACT_TYPES = ("implementation", "plan", "research", "summary", "review", "report", "documentation")
"""The types of the standard, and two from the standards on returns (C5)."""
SPEC_ROOTS = (f"{opencode.FOLDER}/specs", f"{claude.FOLDER}/specs", "specs")
RETURN_FIELDS = ("status", "summary", "artifacts", "metadata", "session_id")

# --- artifacts -------------------------------------------------------------------------------------------------------


def find_spec_root(document: AgentDocument) -> str:
    """Return the folder of tasks that the file uses, or the default."""
    return next((root for root in SPEC_ROOTS[:2] if f"{root}/" in document.text), SPEC_ROOTS[2])


def find_artifacts(document: AgentDocument) -> list[Tag]:
    """Return the tags of the artifacts that the agent creates."""
    section = document.outline.get("artifact_creation")
    return [tag for tag in section.walk() if tag.name == "artifact"] if section else []


_PATH = lazy(r"[\w.$~/{}:<>*+-]{1,300}/[\w.$~/{}:<>*+-]{0,300}")
_SHAPES = {
    "plan": (lazy(r"/plans/implementation-[^/\s]{1,60}\.md\Z"), "plans/implementation-{version:03d}.md"),
    "research": (lazy(r"/reports/[\w{}-]{0,60}research-[^/\s]{1,60}\.md\Z"), "reports/research-{version:03d}.md"),
    "summary": (
        lazy(r"/summaries/[^/\s]{0,80}?summary(?P<date>-[^/\s]{1,60})?\.md\Z"),
        "summaries/{type}-summary-{YYYYMMDD}.md",
    ),
}
_TASK_FOLDER = lazy(r"/[^/]{1,120}/")


@agent_rule("AGT123", severity="warning", fix="unsafe")
def artifact_path(case: AgentFileContext) -> Iterator[AgentViolation]:
    """The path of a plan, report or summary isn't the standard's path.

    Why: status, resume and review look for plans, reports and summaries in the task's folder. A summary without a
    date is only a note: it is found, but the next one overwrites it. Code and documents can be anywhere.

    Bad: `<path>docs/plan.md</path>`

    Good: `<path>specs/{number}_{slug}/plans/implementation-{version:03d}.md</path>`

    Fix (unsafe): writes the standard's path.
    """
    document = case.document
    for tag in find_artifacts(document):
        kind = "research" if tag.get("type") == "report" else tag.get("type") or ""
        path = find_part(tag, "path")
        found = (
            _PATH.search(document.text, path.inner_start, min(path.inner_end, path.inner_start + 600)) if path else None
        )
        if kind not in _SHAPES or found is None:
            continue
        problem = _check_path(found[0].removeprefix("./"), kind)
        if problem:
            usual = f"{find_spec_root(document)}/{{number}}_{{slug}}/{_SHAPES[kind][1]}"
            usual = usual.replace("{type}", _name_summary(found[0], find_kind(document)))
            yield AgentViolation(
                f"{shorten(found[0])} {problem}",
                f"Write it to {usual}.",
                found.span(),
                severity="note" if "date" in problem else None,
                edits=((*found.span(), usual),),
            )


def _check_path(path: str, kind: str) -> str:
    """Return how a path differs from the standard's, or ""."""
    root = next((root for root in SPEC_ROOTS if path.startswith(f"{root}/")), None)
    if root is None:
        return "isn't in the tasks folder" if not path.startswith(("{", "$")) else ""
    folder = _TASK_FOLDER.match(path, len(root))
    shape = _SHAPES[kind][0].search(path, folder.end() - 1) if folder else None
    if shape is None:
        return f"isn't the standard's path of a {kind}{' report' if kind == 'research' else ''}"
    return "has no date in its name" if kind == "summary" and shape["date"] is None else ""


def _name_summary(path: str, kind: str) -> str:
    found = re.search(r"([a-z]{1,30})-summary", path)
    return found[1] if found else kind if kind in ARTIFACTS else "{type}"


# --- the return ------------------------------------------------------------------------------------------------------


def _find_structure(document: AgentDocument) -> Tag | None:
    section = document.outline.get("return_format")
    return find_part(section, "structure", "format") if section else None


@agent_rule("AGT126", fix="unsafe")
def structure_missing(case: AgentFileContext) -> Iterator[AgentViolation]:
    """The return format has no structure.

    Why: the agent fills in the structure; each model interprets a description of it differently.

    Bad: `<return_format>Return a JSON object.</return_format>`

    Good: `<return_format><structure>{"status": "completed", …}</structure></return_format>`

    Fix (unsafe): wraps an existing object in `<structure>`; otherwise, adds the standard's structure.
    """
    document = case.document
    section, structure = document.outline.get("return_format"), _find_structure(document)
    if section is None or is_empty(document, section) or not section.closed:
        return
    if structure is not None:
        if is_empty(document, structure):
            yield AgentViolation(f"<{structure.name}> is empty", "Write the JSON object that the agent returns.",
                                 structure.name_span)  # fmt: skip
        return
    if "structure" in document.outline.slipped(section):
        return
    inner = document.text_of(section)
    if '"status"' in inner or "status:" in inner:
        start = document.text.find(inner[:1], section.inner_start)
        lead = edits.find_newline(document) + edits.indent_of(document.text, section.start) + "  "
        changes = ((start, start, f"<structure>{lead}"), (start + len(inner),) * 2 + (f"{lead}</structure>",))
        yield AgentViolation("the structure of the return is outside of <structure>",
                             "Put <structure> and </structure> around it.", section.name_span, severity="warning",
                             edits=() if section.children else changes)  # fmt: skip
    else:
        yield AgentViolation(f"<{section.name}> has no <structure>", "Write the JSON object that the agent returns.",
                             section.name_span, edits=edits.add_child(document, section, STRUCTURE))  # fmt: skip


@agent_rule("AGT127")
def return_field_missing(case: AgentFileContext) -> Iterator[AgentViolation]:
    """The structure of the return lacks a required field.

    Why: a return without the field is refused, even if the work is good.

    Bad: `<structure>{"status": "completed", "summary": "It is done. It is short."}</structure>`

    Good: status, summary, artifacts, and metadata with session_id
    """
    document = case.document
    structure = _find_structure(document)
    if structure is None or not structure.closed:
        return
    inner = document.text_of(structure)[:20_000]
    if ":" not in inner:  # the structure is described elsewhere
        return
    missing = [name for name in RETURN_FIELDS if re.search(rf"\b{name}\b", inner) is None]
    if missing:
        yield AgentViolation(
            f"the structure of the return has no {', '.join(missing)}",
            "Add the required fields.",
            structure.name_span,
        )


_STATUS = lazy(r"^[ \t{*-]{0,40}[\"'`]?status[\"'`]?[ \t]{0,9}:[ \t]{0,9}(?P<words>[^\n]{1,300})", re.MULTILINE)
_STATUS_WORD = lazy(r"[A-Za-z_]{2,30}")
_REMARK = lazy(r"\{[^{}]{0,200}\}|<[^<>]{0,200}>|\([^()]{0,200}\)|(?:#|//)[^\n]{0,300}|\b(?:one|of|or|if)\b")
_OTHER_STATUSES = {
    "success": "completed", "succeeded": "completed", "successful": "completed", "ok": "completed",
    "done": "completed", "complete": "completed", "finished": "completed", "error": "failed", "failure": "failed",
    "fail": "failed", "errored": "failed", "incomplete": "partial", "in_progress": "partial", "waiting": "blocked",
}  # fmt: skip


@agent_rule("AGT128", fix="unsafe")
def return_status_word(case: AgentFileContext) -> Iterator[AgentViolation]:
    """The structure of the return has an unknown status.

    Why: a return's status is completed, partial, failed or blocked, in lower case; any other word is refused.

    Bad: `"status": "success|error"`

    Good: `"status": "completed|partial|failed|blocked"`

    Fix (unsafe): writes the matching status, if there is one.
    """
    document = case.document
    structure = _find_structure(document)
    found = _STATUS.search(document.text, structure.inner_start, structure.inner_end) if structure else None
    if found is None:
        return
    value = _first_value(found["words"])
    blanked = _REMARK.sub(lambda remark: " " * len(remark[0]), value)
    wrong = [word for word in _STATUS_WORD.finditer(blanked) if word[0] not in STATUSES]
    if not wrong:
        return
    said = ", ".join(dict.fromkeys(word[0] for word in wrong))
    changes = []
    for word in wrong:
        meant = _OTHER_STATUSES.get(word[0].lower()) or find_similar(word[0], STATUSES)
        start = found.start("words") + word.start()
        if meant and not re.search(rf"\b{meant}\b", blanked):
            changes.append((start, start + len(word[0]), meant))
    yield AgentViolation(f"{shorten(said)} {'are' if ',' in said else 'is'} not a valid status",
                         f"Use {', '.join(STATUSES)}.",
                         (found.start("words") + wrong[0].start(), found.start("words") + wrong[-1].end()),
                         edits=tuple(changes))  # fmt: skip


def _first_value(line: str) -> str:
    """Return the first value of a line of JSON or of a list of choices, without the keys after it."""
    line = line.rstrip().rstrip(",")
    if line[:1] in "\"'`":
        other_key = re.search(r"[\"'`][ \t]{0,9},[ \t]{0,9}[\"'`]\w{1,40}[\"'`][ \t]{0,9}:", line)
        return line[: other_key.start()] if other_key else line
    return line
