"""Rules on the form of the object: required keys, types, words. What they report, the format's shape found."""

from __future__ import annotations

from typing import TYPE_CHECKING

from remit.returns.rules.register import ReturnContext, ReturnViolation, return_rule
from remit.spelling import SURE, find_similar

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from remit.returns.shapes import ProblemKind


def _problems(case: ReturnContext, kind: ProblemKind, *, ending: str = "") -> Iterator[ReturnViolation]:
    for problem in case.problems:
        if problem.kind == kind and problem.pointer.endswith(ending):
            yield ReturnViolation(problem.message, problem.hint, problem.pointer)


@return_rule("RET020")
def missing_field(case: ReturnContext) -> Iterator[ReturnViolation]:
    """A required field is missing.

    Why: callers rely on required fields.

    Bad: no `"artifacts"`

    Good: `"artifacts": []`, if there are none
    """
    yield from _problems(case, "missing")
    if case.has_format("standard") and case.get("session_id") is None and case.get("metadata", "session_id") is None:
        yield ReturnViolation("session_id is missing", "Add the issued session_id to metadata.", "/metadata/session_id")


@return_rule("RET021")
def wrong_type(case: ReturnContext) -> Iterator[ReturnViolation]:
    """A field has the wrong type.

    Why: Remit converts nothing: `"1"` isn't 1, and `"true"` isn't true.

    Bad: `"delegation_depth": "1"`

    Good: `"delegation_depth": 1`
    """
    yield from _problems(case, "type")


@return_rule("RET022")
def unknown_status(case: ReturnContext) -> Iterator[ReturnViolation]:
    """The status isn't a status of the format.

    Why: the list is closed. Some programs read `success` and `done` as `completed`, others as an error. Remit
    repairs another case (`Completed`). A workspace can map its own words in `remit.toml`.

    Bad: `"status": "success"`

    Good: `"status": "completed"`
    """
    yield from _problems(case, "word", ending="/status")


@return_rule("RET023")
def unknown_artifact_type(case: ReturnContext) -> Iterator[ReturnViolation]:
    """An artifact's type isn't a type of the format.

    Why: the type decides what happens to the file next, such as linking a plan or indexing a report.

    Bad: `"type": "file"`

    Good: `"type": "report"`
    """
    yield from _problems(case, "word", ending="/type")


@return_rule("RET024")
def empty_text(case: ReturnContext) -> Iterator[ReturnViolation]:
    """A required text is empty.

    Why: agents that did nothing often return an empty summary.

    Bad: `"summary": ""`

    Good: `"summary": "Found no test that covers the parser. Nothing was changed."`
    """
    yield from _problems(case, "blank")


@return_rule("RET025", severity="warning")
def misspelled_key(case: ReturnContext) -> Iterator[ReturnViolation]:
    """A key is misspelled: a similar key is missing.

    Why: Remit keeps unknown keys, so the value of a misspelled key is lost without a message.

    Bad: `"artefacts": []` and no `"artifacts"`

    Good: `"artifacts": []`
    """
    if case.return_format is None or case.payload is None:
        return
    yield from _misspelt(case.payload, case.return_format.shape.known, "")
    for key in ("metadata", "meta"):
        shape = case.return_format.shape.required.get(key)
        value = case.get(key)
        if shape is not None and isinstance(value, dict):
            yield from _misspelt(value, getattr(shape, "known", {}), f"/{key}")


_MAX_COMPARED = 100


def _misspelt(value: Mapping[str, object], known: Mapping[str, object], pointer: str) -> Iterator[ReturnViolation]:
    absent = [key for key in known if key not in value]
    unknown = [key for key in list(value)[:_MAX_COMPARED] if key not in known]
    for key in unknown if absent else ():
        if meant := find_similar(key, absent, least=SURE):
            yield ReturnViolation(f"{key} isn't a key of this format", f"Did you mean {meant}?", f"{pointer}/{key}")


@return_rule("RET026")
def number_out_of_range(case: ReturnContext) -> Iterator[ReturnViolation]:
    """A number is negative or not finite.

    Why: durations, depths and counts start at 0.

    Bad: `"delegation_depth": -1`

    Good: `"delegation_depth": 1`
    """
    yield from _problems(case, "range")


@return_rule("RET027", severity="warning")
def recommended_field_missing(case: ReturnContext) -> Iterator[ReturnViolation]:
    """A recommended field is missing: one standard requires it, another doesn't.

    Why: durations help to set limits, and a file's summary saves the caller from opening it. In a run, Remit knows
    the agent, the depth and the path, and uses its own values.

    Bad: an artifact without `summary`, metadata without `agent_type`.

    Good: `{"type": "plan", "path": "specs/7_x/plans/implementation-001.md", "summary": "Plan in 3 phases"}`
    """
    yield from _problems(case, "expected")


@return_rule("RET028", verdict="ambiguous")
def mixed_formats(case: ReturnContext) -> Iterator[ReturnViolation]:
    """The object mixes two formats, and their statuses differ.

    Why: the result would depend on which format is read first.

    Bad: `{"status": "completed", "meta": {"status": "partial", …}, …}`

    Good: one format, one status.
    """
    other = {"complete": "completed", "partial": "partial", "error": "failed"}.get(case.text_at("meta", "status"))
    if case.has_format("standard") and other is not None and case.status is not None and other != case.status:
        yield ReturnViolation(
            f"status is {case.word}, but meta.status is {case.get('meta', 'status')}", "Use one format.", "/status"
        )
