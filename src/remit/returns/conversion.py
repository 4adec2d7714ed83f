"""Conversion: a return of one format, written in another, with every loss named.

Owns what happens to what the other format has no word for. Nothing is dropped, changed or made up in silence: each is
a diagnostic (CNV…), whose documentation is the docstring of the function that makes it.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any, NamedTuple

from remit.model import DATA, NOTHING, Artifact, Diagnostic
from remit.returns.formats import HYPER, MANIFEST, STANDARD
from remit.returns.formats.hyper import END_MARKER, START_MARKER
from remit.returns.formats.manifest import is_task_id, write_reason
from remit.returns.placeholders import is_placeholder

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from remit.model import AgentError, Return, Severity
    from remit.returns.formats import Format


def lost(pointer: str, what: str) -> Diagnostic:
    """The target format has no field for a value, which was left out.

    Why: formats have different fields. The caller should know what is missing from the converted return.

    Bad: relying on the session id after converting to `hyper`, which has none.

    Good: keeping the original with the converted return.
    """
    return Diagnostic(
        "CNV001",
        "warning",
        f"{what} has no place in the target format",
        "Keep the original beside it.",
        pointer,
    )


def changed(pointer: str, message: str) -> Diagnostic:
    """A value was converted to the closest value of the target format, or derived from others.

    Why: `blocked` becomes `error` in `hyper`, a list becomes a text, a summary is built from captions.

    Bad: treating a derived value as the agent's own.

    Good: checking the field before relying on it.
    """
    return Diagnostic("CNV002", "warning", message, "Check that the meaning is still right.", pointer)


def unknown_field(pointer: str, option: str) -> Diagnostic:
    """The target format requires a value that the source doesn't have.

    Why: Remit doesn't invent a session id, a depth, a duration or a date.

    Bad: converting `hyper` to `standard` without a session id.

    Good: `remit return convert --to standard --session sess_1763200000_k3x9qz --depth 1 --path
    orchestrator,planner`
    """
    name = pointer.rpartition("/")[2]
    return Diagnostic("CNV003", "error", f"{name} is required and not known", f"Give it with {option}.", pointer)


DIAGNOSTICS: dict[str, tuple[Callable[..., Diagnostic], Severity]] = {
    "CNV001": (lost, "warning"),
    "CNV002": (changed, "warning"),
    "CNV003": (unknown_field, "error"),
}


class KnownMetadata(NamedTuple):
    """What the caller knows and the source may not say."""

    session_id: str | None = None
    agent: str | None = None
    depth: int | None = None
    path: tuple[str, ...] | None = None
    today: str | None = None
    duration_ms: float | None = None
    findings_file: str | None = None
    task_id: str = ""


_GAPS = ("session_id", "agent", "depth", "path", "duration_ms")


def convert_return(returned: Return, target: Format, known: KnownMetadata) -> tuple[dict[str, Any], list[Diagnostic]]:
    """The return as an object of the target format, and everything that did not come through as it was."""
    # What the source says of itself is kept; the caller only fills gaps.
    gaps = [name for name in _GAPS if getattr(returned, name) is None]
    returned = returned._replace(**{name: getattr(known, name) for name in gaps})
    if returned.format == target.name:
        return target.write(returned), []
    diagnostics: list[Diagnostic] = []
    returned = _add_missing_text(returned)
    writer = {"standard": _to_standard, "hyper": _to_hyper, "manifest": _to_manifest}[target.name]
    payload = target.write(writer(returned, known, diagnostics))
    diagnostics += _find_unknown(payload, target)
    return payload, diagnostics


def _add_missing_text(returned: Return) -> Return:
    """A return of `hyper` may say nothing but that it is complete; other formats want a sentence."""
    if returned.summary.strip():
        return returned
    return returned._replace(summary=f"The agent {returned.agent} reports {returned.word}. It does not say more.")


def render_message(payload: dict[str, Any], target: Format) -> str:
    """The object as the format sends it: marked, on one line, or plain."""
    if target is MANIFEST:
        return json.dumps(payload, ensure_ascii=False, separators=(",", ":"))
    text = json.dumps(payload, ensure_ascii=False, indent=2)
    return f"{START_MARKER}\n```json\n{text}\n```\n{END_MARKER}" if target is HYPER else text


_OPTIONS = {"session_id": "--session", "agent_type": "--agent", "agent_name": "--agent", "delegation_depth": "--depth",
            "delegation_path": "--path", "execution_time_ms": "--duration", "date": "--date", "id": "--date",
            "file": "--findings-file"}  # fmt: skip


def _find_unknown(payload: dict[str, Any], target: Format) -> Iterator[Diagnostic]:
    for problem in target.shape.problems(payload, ""):
        option = _OPTIONS.get(problem.pointer.rpartition("/")[2])
        if option and problem.kind in ("missing", "expected"):
            yield unknown_field(problem.pointer, option)
    if target is STANDARD and "session_id" not in payload["metadata"]:
        yield unknown_field("/metadata/session_id", "--session")


# --- to standard: it keeps keys that it does not know, so nothing is lost ---------------------------------------------

_STANDARD_KINDS = {"document": "documentation", "code": "implementation", "data": "documentation"}


def _to_standard(returned: Return, _known: KnownMetadata, diagnostics: list[Diagnostic]) -> Return:
    artifacts = []
    for index, artifact in enumerate(returned.artifacts):
        word = _STANDARD_KINDS.get(artifact.kind, artifact.kind)
        if word != artifact.kind:
            diagnostics.append(changed(f"/artifacts/{index}/type", f"the type {artifact.kind} became {word}"))
        points = {"key_points": list(artifact.key_points)} if artifact.key_points is not None else {}
        artifacts.append(artifact._replace(word=word, key_points=None, extra={**artifact.extra, **points}))
    returned = _drop_clashing(returned, diagnostics)
    diagnostics.append(changed("/summary", "the summary was put together from what the return says of its files"))
    if len(returned.next_steps) > 1:
        diagnostics.append(changed("/next_steps", "the list of next steps became one text"))
    errors = []
    for index, agent_error in enumerate(returned.errors):
        if agent_error.derived:
            names = ", ".join(sorted(agent_error.derived))
            diagnostics.append(changed(f"/errors/{index}", f"the error's {names} were derived"))
        details = {} if agent_error.details is None else {"details": agent_error.details}
        errors.append(agent_error._replace(derived=frozenset(), extra={**agent_error.extra, **details}))
    steps = (
        tuple(step.rstrip(" .") + "." for step in returned.next_steps)
        if len(returned.next_steps) > 1
        else returned.next_steps
    )
    return returned._replace(
        artifacts=tuple(artifacts), errors=tuple(errors), word=returned.status, next_steps=steps, form=NOTHING
    )


def _drop_clashing(returned: Return, diagnostics: list[Diagnostic]) -> Return:
    """Unknown keys are carried along, unless the target means something by them."""
    extra = {key: value for key, value in returned.extra.items() if key not in STANDARD.shape.known}
    metadata = {key: value for key, value in returned.metadata.items() if key not in _IN_METADATA}
    diagnostics += [lost(f"/{key}", key) for key in returned.extra if key not in extra]
    diagnostics += [lost(f"/meta/{key}", key) for key in returned.metadata if key not in metadata]
    return returned._replace(extra=extra, metadata=metadata)


_IN_METADATA = frozenset({"session_id", "duration_seconds", "agent_type", "delegation_depth", "delegation_path"})


# --- to hyper --------------------------------------------------------------------------------------------------------

_HYPER_WORDS = {"completed": "complete", "partial": "partial", "failed": "error", "blocked": "error"}
_HYPER_KINDS = {"implementation": "code", "code": "code", "data": "data"}


def _to_hyper(returned: Return, _known: KnownMetadata, diagnostics: list[Diagnostic]) -> Return:
    for pointer, value in (("/session_id", returned.session_id), ("/delegation_depth", returned.depth),
                           ("/delegation_path", returned.path)):  # fmt: skip
        if value is not None:
            diagnostics.append(lost(pointer, pointer[1:]))
    if returned.format == "standard":
        diagnostics.append(lost("/summary", "the summary"))
    data = {key: value for key, value in returned.extra.items() if key == DATA}
    diagnostics += [lost(f"/{key}", key) for key in (*returned.metadata, *returned.extra) if key not in data]
    if returned.status == "blocked":
        diagnostics.append(changed("/meta/status", "blocked became error"))
    errors = _keep_first_error(returned.errors, diagnostics)
    steps = tuple(step for step in returned.next_steps if step.strip())
    if not steps and returned.status != "completed":
        steps = tuple(agent_error.recommendation for agent_error in returned.errors)
        diagnostics.append(changed("/next_steps", "the next steps were taken from the errors' recommendations"))
    artifacts = tuple(_to_hyper_artifact(index, item, diagnostics) for index, item in enumerate(returned.artifacts))
    return returned._replace(artifacts=artifacts, errors=errors, next_steps=steps, word=_HYPER_WORDS[returned.status],
                             metadata=NOTHING, extra=data, form=NOTHING)  # fmt: skip


def _keep_first_error(errors: tuple[AgentError, ...], diagnostics: list[Diagnostic]) -> tuple[AgentError, ...]:
    if not errors:
        return ()
    diagnostics.append(lost("/errors/0", "the error's type, recoverable and recommendation"))
    diagnostics += [lost(f"/errors/0/{key}", key) for key in errors[0].extra]
    if "message" in errors[0].derived:
        diagnostics.append(changed("/error/message", "the error's message was derived"))
    if "code" in errors[0].derived:
        diagnostics.append(changed("/error/code", "the error's code was derived from its type"))
    diagnostics += [
        lost(f"/errors/{index}", f"the error {agent_error.code}") for index, agent_error in enumerate(errors) if index
    ]
    return (errors[0]._replace(derived=frozenset(), extra=NOTHING),)


def name_hyper_type(kind: str) -> str:
    """The word of `hyper` for a kind of file."""
    return _HYPER_KINDS.get(kind, "document")


def _to_hyper_artifact(index: int, artifact: Artifact, diagnostics: list[Diagnostic]) -> Artifact:
    word = name_hyper_type(artifact.kind)
    if word != artifact.kind:
        diagnostics.append(
            changed(f"/artifacts/{index}/type", f"the type {artifact.word or artifact.kind} became {word}")
        )
    extra = dict(artifact.extra)
    kept = extra.pop("key_points", None)
    points = artifact.key_points
    if points is None and isinstance(kept, list) and all(isinstance(point, str) for point in kept):
        points = tuple(kept)
    if points is None:
        points = (artifact.summary,) if artifact.summary else ()
        diagnostics.append(
            changed(f"/artifacts/{index}/key_points", "the key points were taken from the artifact's summary")
        )
    summary = artifact.summary
    if summary is None:
        summary = artifact.path.rpartition("/")[2]
        diagnostics.append(changed(f"/artifacts/{index}/summary", "the artifact's summary is its file name"))
    diagnostics += [lost(f"/artifacts/{index}/{key}", key) for key in extra]
    return artifact._replace(word=word, summary=summary, key_points=points, extra=NOTHING)


# --- to manifest -----------------------------------------------------------------------------------------------------

_MANIFEST_WORDS = {"completed": "complete", "partial": "partial", "failed": "blocked", "blocked": "blocked"}
_IN_ENTRY: tuple[str, ...] = ("id", "title", "date", "topics", "actionable", "linked_tasks")
_SENTENCE = re.compile(r"(?<=[.!?])\s+")
_NOT_SLUG = re.compile(r"[^a-z0-9]+")


def _to_manifest(returned: Return, known: KnownMetadata, diagnostics: list[Diagnostic]) -> Return:
    if not returned.artifacts and known.findings_file is not None:
        returned = returned._replace(artifacts=(Artifact("research", known.findings_file),))
    named = (("session_id", returned.session_id), ("agent", returned.agent), ("delegation_depth", returned.depth),
             ("delegation_path", returned.path), ("duration", returned.duration_ms))  # fmt: skip
    diagnostics += [lost(f"/{name}", name) for name, value in named if value is not None]
    diagnostics += [lost(f"/{key}", key) for key in returned.extra]
    diagnostics += [
        lost(f"/artifacts/{index}", artifact.path) for index, artifact in enumerate(returned.artifacts) if index
    ]
    if returned.status == "failed":
        diagnostics.append(changed("/status", "failed became blocked"))
    metadata = dict(returned.metadata)
    own = {key: metadata.pop(key) for key in _IN_ENTRY if key in metadata}
    diagnostics += [lost(f"/metadata/{key}", key) for key in metadata]
    entry = {**_derive_entry(returned, known, diagnostics), **own}
    # A completed return can only report errors of steps after the work: they don't explain an open entry.
    steps = tuple(
        write_reason(agent_error.message) for agent_error in returned.errors if returned.status != "completed"
    )
    diagnostics += [
        lost(
            f"/errors/{index}",
            "the error" if returned.status == "completed" else "the error's type, code, recoverable and recommendation",
        )
        for index in range(len(returned.errors))
    ]
    for index, step in enumerate(returned.next_steps):
        if is_task_id(step):
            steps += (step,)
        else:
            diagnostics.append(lost(f"/next_steps/{index}", "a next step that isn't a task"))
    artifacts = tuple(_to_findings(item, returned, diagnostics) for item in returned.artifacts[:1])
    return returned._replace(
        artifacts=artifacts,
        next_steps=steps,
        word=_MANIFEST_WORDS[returned.status],
        metadata=entry,
        extra=NOTHING,
        form={"needs_followup": "given"},
    )


def _derive_entry(returned: Return, known: KnownMetadata, diagnostics: list[Diagnostic]) -> dict[str, Any]:
    title = (
        next((item.summary for item in returned.artifacts if item.summary), None)
        or _split_sentences(returned.summary)[0]
    )
    stem = returned.artifacts[0].path.rpartition("/")[2].rpartition(".")[0] if returned.artifacts else title
    entry: dict[str, Any] = {
        "title": title, "topics": [], "actionable": bool(returned.next_steps),
        "linked_tasks": [known.task_id] if known.task_id else [],
    }  # fmt: skip
    if known.today is not None:
        slug = _NOT_SLUG.sub("-", stem.lower().removeprefix(known.today)).strip("-")[:60] or "entry"
        entry |= {"id": f"{slug}-{known.today}", "date": known.today}
    made = "title" if known.today is None else "id, title"  # there is no id without a date
    diagnostics.append(changed("/title", f"{made}, topics and actionable were derived"))
    return entry


def _split_sentences(text: str) -> tuple[str, ...]:
    """Return the sentences of a text, or the whole text if one sentence would count as a placeholder ("...")."""
    parts = tuple(part for part in _SENTENCE.split(text) if part)
    return (text,) if any(is_placeholder(part, "title") for part in parts) else parts


def _to_findings(artifact: Artifact, returned: Return, diagnostics: list[Diagnostic]) -> Artifact:
    points = artifact.key_points
    if points is None:
        points = _split_sentences(returned.summary)
        diagnostics.append(changed("/key_findings", "the key findings are the sentences of the summary"))
    named = ("type",) if artifact.word else ()  # the caller gives a file, and no word for it
    diagnostics += [lost(f"/artifacts/0/{key}", key) for key in (*named, *artifact.extra)]
    return artifact._replace(key_points=points, extra=NOTHING)
