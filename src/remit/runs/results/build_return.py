"""Build the return for the caller of a run, in the agent's format or in another.

Owns what Remit fills in. The identity comes from the ledger; the agent's own fields and unknown keys stay. Whatever the
status and however the run ended, the object is a valid return of its format.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from remit.model import Artifact, Return
from remit.returns.conversion import KnownMetadata, convert_return, name_hyper_type
from remit.returns.formats import HYPER, MANIFEST, STANDARD, get_format
from remit.returns.formats.manifest import write_reason
from remit.returns.placeholders import is_placeholder

if TYPE_CHECKING:
    from remit.model import AgentError
    from remit.result import Result
    from remit.returns.formats import Format

_MAX_SUMMARY = 500
_NOT_ADMITTED = "not-admitted"
"""Stands for the session id of a run that was not admitted: the standards require one."""


def write_return(result: Result) -> Result:
    """The result with its return as an object of the format that was asked for. Default: the agent's own."""
    own, target = get_format(result.format), get_format(result.result_format or result.format)
    returned = _make_return(result, own, target)
    if target is MANIFEST and "id" not in result.metadata:  # the agent has no entry: one is derived of what there is
        named = tuple(agent_error._replace(message=_name_code(agent_error)) for agent_error in returned.errors)
        returned = returned._replace(format="standard", errors=named)
    day = _find_day(result.session_id)
    known = KnownMetadata(today=day, findings_file=f"{day}_{_make_slug(result.agent)}.md", task_id=result.task_id)
    payload, _ = convert_return(returned, target, known)
    return result._replace(returned=payload)


def _make_return(result: Result, own: Format, target: Format) -> Return:
    words = {status: word for word, status in own.statuses.items()}
    agent = result.agent or "agent"
    errors = tuple(
        agent_error._replace(
            message=agent_error.message if _is_filled(agent_error.message, "message") else agent_error.code,
            recommendation=agent_error.recommendation
            if _is_filled(agent_error.recommendation, "recommendation")
            else "",
        )
        for agent_error in result.errors
    )
    steps = tuple(step for step in result.next_steps if _is_filled(step, "next_steps"))
    if result.status == "partial" and not steps:
        steps = tuple(agent_error.recommendation for agent_error in errors if agent_error.recommendation) or (
            result.show,
        )
    if own is MANIFEST:
        steps = _list_follow_ups(result, steps)
    elif len(steps) > 1 and target is STANDARD:
        steps = tuple(f"{step.rstrip(' .')}." for step in steps)
    return Return(
        status=result.status,  # type: ignore[arg-type]
        summary=_clip(result.summary) or f"The run of {agent} ended: {result.status}.",
        artifacts=tuple(_list_artifacts(result, own, target)),
        errors=tuple(
            agent_error._replace(
                recommendation=agent_error.recommendation or f"See {result.show}",
                derived=agent_error.derived - {"code"}
                if own is STANDARD
                else agent_error.derived,  # 002 reads the code
            )
            for agent_error in errors
        ),
        next_steps=steps,
        agent=agent.rpartition(":")[2] if target is HYPER else agent,  # a plugin's agent returns its file's name (R3.8)
        session_id=result.session_id or _NOT_ADMITTED,
        depth=result.depth,
        path=result.path or (agent,),
        duration_ms=round((result.usage.seconds or 0) * 1000),
        format=own.name,
        word=words.get(result.status) or words.get("failed") or words["blocked"],  # type: ignore[call-overload]
        metadata=result.metadata,
        extra=result.extra,
        form={"needs_followup": "given"} if own is MANIFEST else {},
    )


def _list_artifacts(result: Result, own: Format, target: Format) -> list[Artifact]:
    """The files of the return. If the work failed, only those that are there."""
    artifacts = []
    for each in result.artifacts:
        if each.grade == "missing" and result.status == "failed":
            continue
        kind, points = each.type, each.key_points
        if own is HYPER:
            kind, points = name_hyper_type(each.type), points or ((each.summary,) if each.summary else ())
        is_named = each.named and (own is target or each.path.startswith("/"))  # no format has absolute paths
        path = each.named if is_named else each.path
        artifacts.append(Artifact(kind, path, each.summary or None, points, kind, each.extra))
    return artifacts


def _list_follow_ups(result: Result, steps: tuple[str, ...]) -> tuple[str, ...]:
    """What a manifest entry says is left: Remit's own errors as reasons, and what the agent wrote (C21)."""
    own = [agent_error for agent_error in result.errors if not agent_error.derived]
    advice = {agent_error.recommendation for agent_error in own}
    reasons = [write_reason(_name_code(agent_error)) for agent_error in own]
    return (*reasons, *(step for step in steps if step not in advice))


def _name_code(agent_error: AgentError) -> str:
    """An error as a reason in a manifest entry, which has no field for its code."""
    return agent_error.message if agent_error.derived else f"{agent_error.code}: {agent_error.message}"


def _is_filled(text: str, key: str) -> bool:
    """Whether a text has content: a return with an empty text or a placeholder would be rejected."""
    return bool(text.strip()) and not is_placeholder(text, key)


def _clip(text: str) -> str:
    return text if len(text) <= _MAX_SUMMARY else f"{text[: _MAX_SUMMARY - 1].rstrip()}…"


def _find_day(session_id: str) -> str:
    """The day on which a run was admitted, by the time in its id; else today."""
    part = session_id.split("_")[1:2]
    seconds = int(part[0]) if part and part[0].isascii() and part[0].isdigit() and len(part[0]) == 10 else None  # noqa: PLR2004 - a time of this century
    return time.strftime("%Y-%m-%d", time.localtime(seconds))


def _make_slug(text: str) -> str:
    return (
        "-".join("".join(char if char.isascii() and char.isalnum() else " " for char in text.lower()).split()) or "run"
    )
