"""One plain validator for everybody's output, written by hand and independent of Remit.

It knows the two formats' required keys, words, types, session and paths, and the blanks of a form; no more. A peer
that reads the right object is never failed by it.
"""

from __future__ import annotations

import math
import re
from typing import Final

_STATUSES: Final = frozenset({"completed", "partial", "failed", "blocked"})
_HYPER_STATUSES: Final = frozenset({"complete", "partial", "error"})
_HYPER_KINDS: Final = frozenset({"document", "code", "data"})
_SUMMARY_LIMIT: Final = 500
_BLANK: Final = re.compile(r"\.{3}|…|<[^<>]*>|\{\{.*\}\}.*|\w+(?:\|\w+)+(?:\|\.\.\.)?")
_OUTSIDE: Final = re.compile(r"[/\\~]|[A-Za-z]:|\w+://")


def is_valid(payload: object, session_id: str | None) -> bool:
    """Whether `payload` is a return of either format that may be accepted for this session."""
    if not isinstance(payload, dict) or not _is_finite(payload):
        return False
    return _is_hyper(payload) if "meta" in payload else _is_standard(payload, session_id)


def _is_standard(payload: dict[str, object], session_id: str | None) -> bool:
    status, summary, metadata = payload.get("status"), payload.get("summary"), payload.get("metadata")
    if not (isinstance(status, str) and status in _STATUSES):
        return False
    if not _is_text(summary) or len(str(summary)) > _SUMMARY_LIMIT or not isinstance(metadata, dict):
        return False
    return (
        _are_artifacts(payload.get("artifacts"), kinds=None)
        and _is_metadata(metadata)
        and _is_session(payload, metadata, session_id)
        and _are_errors(payload.get("errors", []), required=status != "completed")
    )


def _is_metadata(metadata: dict[str, object]) -> bool:
    depth, path = metadata.get("delegation_depth"), metadata.get("delegation_path")
    return (
        _is_text(metadata.get("agent_type"))
        and isinstance(depth, int)
        and not isinstance(depth, bool)
        and isinstance(path, list)
        and all(isinstance(name, str) for name in path)
    )


def _is_session(payload: dict[str, object], metadata: dict[str, object], session_id: str | None) -> bool:
    named = [holder["session_id"] for holder in (payload, metadata) if "session_id" in holder]
    if not named or not all(_is_text(name) for name in named):
        return False
    return len(set(map(str, named))) == 1 and session_id in {None, named[0]}


def _are_errors(errors: object, *, required: bool) -> bool:
    if not isinstance(errors, list) or bool(errors) is not required:
        return False
    return all(
        isinstance(error, dict)
        and all(isinstance(error.get(key), str) for key in ("type", "message", "recommendation"))
        and isinstance(error.get("recoverable"), bool)
        for error in errors
    )


def _is_hyper(payload: dict[str, object]) -> bool:
    meta, steps = payload["meta"], payload.get("next_steps")
    if not isinstance(meta, dict) or not _is_text(meta.get("agent_name")):
        return False
    status, spent = meta.get("status"), meta.get("execution_time_ms")
    if not (isinstance(status, str) and status in _HYPER_STATUSES):
        return False
    if not isinstance(spent, int | float) or isinstance(spent, bool):
        return False
    if not isinstance(steps, list) or not all(isinstance(step, str) for step in steps):
        return False
    error = payload.get("error")
    told = isinstance(error, dict) and isinstance(error.get("code"), str) and isinstance(error.get("message"), str)
    return _are_artifacts(payload.get("artifacts"), kinds=_HYPER_KINDS) and (status != "error" or told)


def _are_artifacts(artifacts: object, *, kinds: frozenset[str] | None) -> bool:
    return isinstance(artifacts, list) and all(_is_artifact(artifact, kinds) for artifact in artifacts)


def _is_artifact(artifact: object, kinds: frozenset[str] | None) -> bool:
    if not isinstance(artifact, dict):
        return False
    kind, path = artifact.get("type"), artifact.get("path")
    if not isinstance(kind, str) or (kinds is not None and kind not in kinds):
        return False
    if not isinstance(path, str) or not _is_text(path) or _OUTSIDE.match(path):
        return False
    return ".." not in re.split(r"[/\\]", path)


def _is_text(value: object) -> bool:
    return isinstance(value, str) and bool(value.strip()) and not _BLANK.fullmatch(value.strip())


def _is_finite(payload: object) -> bool:
    pending = [payload]
    while pending:
        value = pending.pop()
        if isinstance(value, float) and not math.isfinite(value):
            return False
        if isinstance(value, dict):
            pending.extend(value.values())
        elif isinstance(value, list):
            pending.extend(value)
    return True
