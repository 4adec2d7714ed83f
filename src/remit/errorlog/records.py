"""One error of errors.json as a value: read from the keys of S8 and of other tools, and written with the keys of S8.

Text from agents is truncated, and secrets in it are redacted, before it becomes part of a record.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from hashlib import sha256
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from remit.model import ERROR_CODES
from remit.storage.secrets import redact

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from remit.model import AgentError

FixStatus = Literal["open", "investigating", "fixed", "ignored"]

MAX_MESSAGE_CHARS = 2000
MAX_ACTION_CHARS = 1000
MAX_WORD_CHARS = 200
MAX_PATH_AGENTS = 20
MAX_DETAIL_LINES = 20
_MAX_DIGITS = 15
_ROOM = 40
"""Space for the note about the truncated length."""
_MAX_READ_CHARS = 100_000
"""The rest of a longer text isn't processed at all."""

_WORDS: dict[FixStatus, tuple[str, ...]] = {
    "investigating": ("investigating", "in_progress", "planned", "fix_planned", "fixing"),
    "fixed": ("fixed", "fix_attempted", "fix_implemented", "resolved", "addressed", "closed", "done", "completed",
              "verified"),
    "ignored": ("ignored", "wontfix", "wont_fix", "won't_fix", "dismissed", "duplicate", "false_positive", "not_a_bug"),
}  # fmt: skip
_STATUS_OF = {word: status for status, words in _WORDS.items() for word in words}
WRITTEN: dict[FixStatus, str] = {
    "open": "unfixed",
    "investigating": "investigating",
    "fixed": "fixed",
    "ignored": "ignored",
}
"""The written word for each status, which other tools for errors.json know."""

CLOSED_KEYS: dict[FixStatus, str] = {"fixed": "fixed_date", "ignored": "ignored_date"}
_CLOSED_ALIASES = ("fixed_date", "ignored_date", "fixed_at", "resolved_at", "resolved_date", "fix_date", "closed_at")
NOTE_KEY = "fix_note"


class ErrorRecord(NamedTuple):
    """One error. `fix_status` is one of four, `word` is its spelling in the file; times are as the file gives them."""

    type: str
    message: str
    code: str
    id: str = ""
    time: str = ""
    severity: str = ""
    session_id: str = ""
    command: str = ""
    task_number: int | str | None = None
    phase: int | str | None = None
    path: tuple[str, ...] = ()
    depth: int | None = None
    suggested_action: str = ""
    auto_recoverable: bool = False
    fix_status: FixStatus = "open"
    word: str = ""
    closed: str = ""
    """The time when it was marked fixed or ignored."""
    note: str = ""
    details: str = ""
    """The last lines of a stack trace, of what a program that failed printed on standard error, or of a return."""

    @property
    def is_open(self) -> bool:
        """True if the error isn't fixed or ignored."""
        return self.fix_status in {"open", "investigating"}

    @property
    def identity(self) -> tuple[str, str, str, str] | None:
        """The identity of an occurrence, for deduplication; None without a session."""
        return (self.session_id, self.code, self.message, str(self.phase)) if self.session_id else None


# From an agent error to a record


def make_records(
    errors: Iterable[AgentError],
    *,
    session_id: str,
    command: str = "",
    task_number: int | str | None = None,
    phase: int | str | None = None,
    path: tuple[str, ...] = (),
    depth: int | None = None,
) -> tuple[ErrorRecord, ...]:
    """Return the errors of a return as records, with their context (R2.17)."""
    return tuple(
        ErrorRecord(
            error.type,
            error.message,
            error.code,
            severity="medium" if error.recoverable else "high",
            session_id=session_id,
            command=command,
            task_number=task_number,
            phase=phase,
            path=path,
            depth=depth,
            suggested_action=error.recommendation,
            auto_recoverable=error.recoverable,
            details=error.details or "",
        )
        for error in errors
    )


def summarize_for_user(errors: Iterable[AgentError]) -> str:
    """Return a sentence for the user about the errors of a return (R2.18); "" if there are none."""
    found = tuple(errors)
    if not found:
        return ""
    message = clean(found[0].message, MAX_MESSAGE_CHARS).rstrip(" .")
    advice = next((error.recommendation for error in found if error.recommendation.strip()), "")
    if all(error.recoverable for error in found):
        return clean(advice, MAX_ACTION_CHARS) or f"{message}. You can retry it."
    return f"{message}. Needs your decision."


def prepare(record: ErrorRecord, *, now_ms: int) -> ErrorRecord:
    """Return a record as it is stored: with an id and a time, without secrets, and truncated."""
    kept = record._replace(
        type=clean(record.type, MAX_WORD_CHARS) or "execution",
        message=clean(record.message, MAX_MESSAGE_CHARS),
        code=clean(record.code, MAX_WORD_CHARS) or derive_code(record.type),
        time=record.time or format_time(now_ms),
        severity=clean(record.severity, MAX_WORD_CHARS) or "medium",
        session_id=clean(record.session_id, MAX_WORD_CHARS),
        command=clean(record.command, MAX_WORD_CHARS),
        task_number=_clean_number(record.task_number),
        phase=_clean_number(record.phase),
        path=tuple(clean(agent, MAX_WORD_CHARS) for agent in record.path[:MAX_PATH_AGENTS]),
        suggested_action=clean(record.suggested_action, MAX_ACTION_CHARS),
        details=_clean_details(record.details),
    )
    return kept if kept.id else kept._replace(id=_make_id(kept, now_ms))


def _make_id(record: ErrorRecord, now_ms: int) -> str:
    """Return an id `err_{unix seconds}_{6 hex digits}`, a hash of the content, so an immediate retry gets the same."""
    identity = "\0".join((record.session_id, record.code, record.message, str(record.phase), record.time))
    return f"err_{now_ms // 1000}_{sha256(identity.encode('utf-8', 'replace')).hexdigest()[:6]}"


def _clean_details(text: str) -> str:
    """Return the last lines, truncated: the end of a stack trace has the error."""
    kept = clean(text[-_MAX_READ_CHARS:], _MAX_READ_CHARS).splitlines()[-MAX_DETAIL_LINES:]
    return "\n".join(kept)[-MAX_MESSAGE_CHARS:]


def _clean_number(value: int | str | None) -> int | str | None:
    return clean(value, MAX_WORD_CHARS) if isinstance(value, str) else value


def clean(text: str, limit: int) -> str:
    """Return text from outside without secrets. A truncated text ends with its original length."""
    kept = redact(text[:_MAX_READ_CHARS]).encode("utf-8", "replace").decode().strip()
    if len(kept) <= limit and len(text) <= _MAX_READ_CHARS:
        return kept
    return f"{kept[: limit - _ROOM].rstrip()} … (of {len(text)} characters)"


def derive_code(kind: str) -> str:
    """Return the code of an error that has only a type (R2.16)."""
    word = kind.lower().strip().replace(" ", "_")
    if word.endswith("_failure"):  # git_commit_failure
        word = f"{word.removesuffix('_failure')}_failed"
    return ERROR_CODES.get(word) or word.upper() or "UNKNOWN_ERROR"


# From JSON and to it


def read_record(value: Mapping[str, Any]) -> ErrorRecord:
    """Read an entry of errors.json by any tool; missing values and values of another type are empty."""
    context, trajectory, recovery = (_find_table(value, key) for key in ("context", "trajectory", "recovery"))
    kind = _find_text(value, "type", "category")
    word = _find_text(value, "fix_status", "status")
    path, depth = trajectory.get("delegation_path"), trajectory.get("failed_at_depth")
    return ErrorRecord(
        kind,
        _find_text(value, "message", "error", "description"),
        _find_text(value, "code", "error_code") or derive_code(kind),
        id=_find_text(value, "id"),
        time=_find_text(value, "timestamp", "last_seen", "first_seen", "date"),
        severity=_find_text(value, "severity"),
        session_id=_find_text(context, "session_id") or _find_text(value, "session_id"),
        command=_find_text(context, "command"),
        task_number=_find_number(context, "task_number", "task", "task_id") or _find_number(value, "task_number"),
        phase=_find_number(context, "phase"),
        path=tuple(each for each in path if isinstance(each, str)) if isinstance(path, list) else (),
        depth=depth if isinstance(depth, int) else None,
        suggested_action=_find_text(recovery, "suggested_action"),
        auto_recoverable=recovery.get("auto_recoverable") is True,
        fix_status=_STATUS_OF.get(word.lower().strip().replace(" ", "_").replace("-", "_"), "open"),
        word=word,
        closed=_find_text(value, *_CLOSED_ALIASES),
        note=_find_text(value, NOTE_KEY),
        details=_find_text(value, "details"),
    )


def _find_table(value: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    found = value.get(key)
    return found if isinstance(found, dict) else {}


def _find_text(value: Mapping[str, Any], *keys: str) -> str:
    """Return the value of the first key with a string or a number; "" if there is none."""
    for key in keys:
        found = value.get(key)
        if isinstance(found, str) and found:
            return found
        if isinstance(found, (int, float)) and not isinstance(found, bool):
            return str(found)
    return ""


def _find_number(value: Mapping[str, Any], *keys: str) -> int | str | None:
    text = _find_text(value, *keys)
    return int(text) if text.isascii() and text.isdigit() and len(text) <= _MAX_DIGITS else text or None


def shape_record(record: ErrorRecord) -> dict[str, Any]:
    """Return a record as JSON (S8)."""
    return {
        "id": record.id,
        "timestamp": record.time,
        "type": record.type,
        "severity": record.severity,
        "message": record.message,
        "code": record.code,
        "context": {
            "session_id": record.session_id or None,
            "command": record.command or None,
            "task_number": record.task_number,
            "phase": record.phase,
        },
        "trajectory": {"delegation_path": [*record.path], "failed_at_depth": record.depth},
        "recovery": {"suggested_action": record.suggested_action, "auto_recoverable": record.auto_recoverable},
        "fix_status": WRITTEN[record.fix_status],
    } | ({"details": record.details} if record.details else {})


# Times

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MAX_TIME_CHARS = 40
_MS_DIGITS = 12


def format_time(now_ms: int) -> str:
    """Return a time as ISO 8601 with milliseconds."""
    return (_EPOCH + timedelta(milliseconds=now_ms)).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def parse_time(text: str) -> float | None:
    """Return a time in ms since 1970 from ISO 8601, or from a number of seconds or ms; None if it is neither."""
    if text.isascii() and text.isdigit() and len(text) < _MAX_TIME_CHARS:
        return float(text) if len(text) > _MS_DIGITS else float(text) * 1000
    try:
        found = datetime.fromisoformat(text[:_MAX_TIME_CHARS])
        return (found if found.tzinfo else found.replace(tzinfo=UTC)).timestamp() * 1000
    except (ValueError, OverflowError):
        return None
