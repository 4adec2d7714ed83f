"""Shorten a result to its token budget.

Owns the order in which texts are shortened. An agent can write any amount; its caller pays for every token with room in
its own context. Status, `metadata` or `meta`, the type and path of each artifact and one error always stay. Secrets are
redacted, and no text steers a terminal. A hook loads this module, so it works on the JSON of the return alone.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from remit.errors import UsageError
from remit.lazy_regex import lazy
from remit.light_namedtuple import NamedTuple
from remit.model import DATA
from remit.result import (
    DEFAULT_TOKENS,
    HASH_DIGITS,
    KEY,
    MIN_TOKENS,
    PROVED,
    FailedStep,
    ResultUsage,
    describe_run,
)
from remit.runs.results.token_estimate import bound_tokens
from remit.storage.secrets import redact, redact_all

if TYPE_CHECKING:
    from remit.model import AgentError
    from remit.result import Result, ResultArtifact

_CHARS_PER_TOKEN = 12
"""An upper bound for Remit's texts: a text with more isn't counted."""
_MAX_MESSAGE, _MAX_NAME, _MAX_SUMMARY, _MAX_ITEMS = 400, 64, 500, 20
_MARGIN = 500
"""Beyond the cut, so that enough of a secret at the cut is there to recognize it."""
_NOT_WORD = lazy(r"[^A-Za-z0-9_.-]+")
_MAX_NUMBER = 10**15
_DECIMALS = (0, 4, 0, 1)
"""Of tokens, dollars, turns and seconds."""
_RANKS = {"error": 0, "warning": 1, "note": 2}
_KNOWN = frozenset((
    "status", "summary", "artifacts", "metadata", "errors", "next_steps", "type", "path", "key_points", "message",
    "code", "recoverable", "recommendation", "session_id", "agent_type", "delegation_depth", "delegation_path",
    "duration_seconds", "phase_count", "estimated_hours", "findings_count", "meta", "agent_name", "execution_time_ms",
    "error", "details", "id", "file", "title", "date", "topics", "key_findings", "actionable", "needs_followup",
    "linked_tasks",
))  # fmt: skip
"""The keys of the formats; an agent's other keys are dropped before its words are shortened."""
_NAMES = frozenset(("path", "file", "id", "session_id", "delegation_path"))
"""Names, not prose: they are neither redacted nor shortened."""
_OTHER = "other keys"
_NUMBER = 2
"""How many tokens more the number itself may take if it is larger than the budget."""


class _Shortening(NamedTuple):
    """One thing that is shortened: a list to so many items, a text to so many characters, or other parts as a whole."""

    label: str
    unit: str
    least: int
    places: tuple[str, ...] = ()


_STEPS = (
    _Shortening("unclaimed files", "items", 0, (f"{KEY}/unclaimed/paths",)),
    _Shortening("diagnostics", "items", 3, (f"{KEY}/diagnostics",)),
    _Shortening("checks that passed", "checks", 0),
    _Shortening("hashes", "chars", 0, (f"{KEY}/grades/*/sha256", f"{KEY}/answer")),
    _Shortening("notes", "items", 0, (f"{KEY}/notes",)),
    _Shortening("key points", "items", 3, ("artifacts/*/key_points", "key_points", "key_findings")),
    _Shortening(_OTHER, "keys", 0),
    _Shortening("grades of changed files", "grades", 0),
    _Shortening(
        "artifact summaries", "chars", 40,
        ("artifacts/*/summary", "artifacts/*/key_points/*", "key_points/*", "key_findings/*",
         f"{KEY}/grades/*/reason"),
    ),
    _Shortening("next steps", "items", 1, ("next_steps",)),
    _Shortening("errors", "items", 1, ("errors", "needs_followup", f"{KEY}/failed_steps", f"{KEY}/diagnostics")),
    _Shortening(
        "error messages", "chars", 60,
        ("errors/*/message", "errors/*/recommendation", "error/message", "error/details", "needs_followup/*",
         "next_steps", "next_steps/*", f"{KEY}/failed_steps/*/message", f"{KEY}/failed_steps/*/recommendation",
         f"{KEY}/diagnostics/*/message", f"{KEY}/verified_by/*/reason"),
    ),
    _Shortening("summary", "chars", 60, ("summary", "title")),
)  # fmt: skip
"""In this order, each down to its least before the next."""


def fit_result(result: Result, max_tokens: int = DEFAULT_TOKENS, *, keeps_data: bool = False) -> Result:
    """The result with clean texts, and its JSON within a number of tokens; `left_out` says what was shortened.

    If what always stays is larger than the budget, the JSON is larger, and `left_out` says that, too. Data that a
    schema describes is there whole or not at all. With `keeps_data`, it is there and doesn't count.
    """
    if max_tokens < MIN_TOKENS:
        raise UsageError(f"a result doesn't fit into {max_tokens} tokens", hint=f"use {MIN_TOKENS} or more")
    if not result.has_schema or DATA not in result.returned:
        return _fit(result, max_tokens, {}, [])[0]
    data = {DATA: redact_all(result.returned[DATA])}
    cut = [] if data[DATA] == result.returned[DATA] else [f"secrets in {DATA}"]
    rest = result._replace(returned={key: value for key, value in result.returned.items() if key != DATA})
    text = render_text(data)
    # Redacted data may break the schema, which an agent relies on.
    if not keeps_data and not cut and len(text) <= max_tokens * _CHARS_PER_TOKEN:
        fitted, fits = _fit(rest, max_tokens, data, cut)
        if fits:
            return fitted
    if not keeps_data:
        return _fit(rest, max_tokens, {}, [f"{DATA}; all of it: {result.show}"])[0]
    fitted, _ = _fit(rest, max_tokens, {}, cut)
    tokens = (fitted.tokens or 0) + bound_tokens(text)
    added = fitted.fitted[KEY] | {"tokens": tokens, "estimated": True}
    return fitted._replace(fitted={**fitted.fitted, **data, KEY: added}, tokens=tokens, estimated=True)


def _fit(result: Result, max_tokens: int, data: dict[str, Any], cut: list[str]) -> tuple[Result, bool]:
    """The result within a number of tokens, and whether it fits. `data` is never shortened."""
    cut = [*cut]
    clean = _clean_fields(result)
    returned = _drop_large({key: value for key, value in result.returned.items() if key != KEY}, max_tokens, cut)
    shaped = {key: _clean_json(value, key, cut) for key, value in returned.items()}
    shaped[KEY] = describe_run(clean._replace(left_out=(), tokens=None), digits=HASH_DIGITS)
    measured = _measure(shaped, cut, max_tokens, data)
    for step in _STEPS:
        if measured.fits:
            break
        least = _apply(shaped, step, step.least)
        if least == shaped:
            continue
        cut.append(step.label)
        measured = _measure(least, cut, max_tokens, data)
        if measured.fits:
            measured = _raise_again(shaped, step, measured, cut, max_tokens, data)
        shaped = least
    if not measured.fits:
        cut.append(f"larger than {max_tokens} tokens: the rest always stays")
        measured = _measure(shaped, cut, max_tokens, data)
    added = measured.shaped[KEY]
    fitted = clean._replace(
        fitted=measured.shaped, left_out=tuple(added.get("left_out", ())), tokens=added["tokens"],
        estimated=added["estimated"],
    )  # fmt: skip
    return fitted, measured.fits


class _Measured(NamedTuple):
    shaped: dict[str, Any]
    fits: bool


def _measure(shaped: dict[str, Any], cut: list[str], max_tokens: int, data: dict[str, Any]) -> _Measured:
    """The JSON with `data`, what was left out and its tokens, and whether these are few enough."""
    shaped = {**shaped, **data}
    added = shaped[KEY] | ({"left_out": [*dict.fromkeys(cut)]} if cut else {})
    bounded = shaped | {KEY: added | {"tokens": max_tokens, "estimated": True}}
    text = render_text(bounded)
    if len(text) <= max_tokens * _CHARS_PER_TOKEN:
        bound = bound_tokens(text, enough=max_tokens)
        if bound <= max_tokens:
            bounded[KEY]["tokens"] = bound
            return _Measured(bounded, fits=True)
    # What fits by the bound needs no tokenizer: to load one takes longer than all the rest of a hook.
    from remit.returns.token_count import count_tokens  # noqa: PLC0415

    counted = shaped | {KEY: added | {"tokens": max_tokens, "estimated": False}}
    count = count_tokens(render_text(counted)) if len(text) <= max_tokens * _CHARS_PER_TOKEN else None
    if count is None:
        bounded[KEY]["tokens"] = bound_tokens(text) + _NUMBER
        return _Measured(bounded, fits=False)
    counted[KEY]["tokens"] = count if count <= max_tokens else count + _NUMBER
    return _Measured(counted, fits=count <= max_tokens)


def _raise_again(  # noqa: PLR0917 - the search has this state
    shaped: dict[str, Any],
    step: _Shortening,
    found: _Measured,
    cut: list[str],
    max_tokens: int,
    data: dict[str, Any],
) -> _Measured:
    """The longest part of the last text that fits."""
    low, high = (
        step.least,
        {"chars": _MAX_SUMMARY, "items": _MAX_ITEMS, "grades": _MAX_ITEMS, "checks": _MAX_ITEMS}.get(step.unit, 0),
    )
    while high - low > 1:
        middle = (low + high) // 2
        measured = _measure(_apply(shaped, step, middle), cut, max_tokens, data)
        found, low, high = (measured, middle, high) if measured.fits else (found, low, middle)
    return found


def _apply(shaped: dict[str, Any], step: _Shortening, limit: int) -> dict[str, Any]:
    if step.unit == "keys":
        return {**_drop_unknown({key: value for key, value in shaped.items() if key != KEY}), KEY: shaped[KEY]}
    if step.unit == "checks":
        verified = shaped[KEY].get("verified_by", [])
        first = [each for each in verified if each.get("answer") != "passed"]
        kept = [*first, *(each for each in verified if each not in first)][: len(first) + limit]
        rest = {key: value for key, value in shaped[KEY].items() if key != "verified_by"}
        return {**shaped, KEY: rest | ({"verified_by": kept} if kept else {})}
    if step.unit == "grades":
        grades = shaped[KEY]["grades"]
        doubtful = [each for each in grades if each["grade"] not in PROVED]  # the first of all
        return {**shaped, KEY: {**shaped[KEY], "grades": grades[: len(doubtful) + limit]}}
    for place in step.places:
        shaped = _shorten(shaped, place.split("/"), step.unit, limit)
    return shaped


def _shorten(value: Any, place: list[str], unit: str, limit: int) -> Any:  # noqa: ANN401 - JSON
    """A value with less at one place; a key whose value is empty then is dropped."""
    if not place:
        if isinstance(value, str) and unit == "chars":
            return _clip(value, limit)
        return value[:limit] if isinstance(value, list) and unit == "items" else value
    head, rest = place[0], place[1:]
    if head == "*":
        return [_shorten(each, rest, unit, limit) for each in value] if isinstance(value, list) else value
    if not isinstance(value, dict) or not value.get(head):
        return value
    shortened = _shorten(value[head], rest, unit, limit)
    return {**value, head: shortened} if shortened else {key: kept for key, kept in value.items() if key != head}


def _drop_unknown(value: Any) -> Any:  # noqa: ANN401 - JSON
    """A part of the return without the agent's own keys, but for short values, which cost little."""
    if isinstance(value, list):
        return [_drop_unknown(each) for each in value]
    if not isinstance(value, dict):
        return value
    is_short = {key: len(kept) <= _MAX_NAME if isinstance(kept, str) else not isinstance(kept, dict | list)
                for key, kept in value.items()}  # fmt: skip
    return {key: _drop_unknown(kept) if key in _KNOWN else kept for key, kept in value.items()
            if key in _KNOWN or is_short[key]}  # fmt: skip


def render_text(shaped: dict[str, Any]) -> str:
    """The JSON of a result on one line: its tokens are counted on this text."""
    return json.dumps(shaped, ensure_ascii=False, separators=(",", ":"))


# --- clean texts ------------------------------------------------------------------------------------------------------


def _drop_large(value: Any, max_tokens: int, cut: list[str]) -> Any:  # noqa: ANN401 - JSON
    """A part of the return without those of the agent's own keys that could never fit."""
    if isinstance(value, list):
        return [_drop_large(each, max_tokens, cut) for each in value]
    if not isinstance(value, dict):
        return value
    kept = {}
    for key, inner in value.items():
        if key in _KNOWN:
            kept[key] = _drop_large(inner, max_tokens, cut)
        elif len(json.dumps(inner, ensure_ascii=False)) <= max_tokens * _CHARS_PER_TOKEN:
            kept[key] = inner
        else:
            cut.append(_OTHER)
    return kept


def _clean_json(value: Any, key: str, cut: list[str]) -> Any:  # noqa: ANN401 - JSON
    """A value whose texts are on one line, without secrets, and not longer than could ever fit."""
    if isinstance(value, str):
        if key in _NAMES:
            return _blank(value)
        limit = (_MAX_SUMMARY if key == "summary" else _MAX_MESSAGE) if key in _KNOWN else len(value)
        line = _clean_text(value, limit) or ("(no text)" if value else "")
        if len(line) < len(value) and line.endswith("…"):
            cut.append("long texts")
        return line
    if isinstance(value, list):
        kept = value if key not in _KNOWN or key in ("artifacts", *_NAMES) else value[:_MAX_ITEMS]
        if len(kept) < len(value):
            cut.append(key.replace("_", " "))
        return [_clean_json(each, key, cut) for each in kept]
    if isinstance(value, dict):
        return {_blank(name): _clean_json(inner, name, cut) for name, inner in value.items()}
    return _make_finite(value, 3) if isinstance(value, float) else value


def _clean_fields(whole: Result) -> Result:
    """The fields with texts of one line each, without secrets, and none of them longer than anyone reads."""
    ranked = sorted(whole.diagnostics, key=lambda diagnostic: _RANKS.get(diagnostic.severity, 0))
    return whole._replace(
        agent=_clean_text(whole.agent, _MAX_NAME),
        summary=_clean_text(whole.summary, _MAX_SUMMARY),
        artifacts=tuple(map(_clean_artifact, whole.artifacts)),
        unclaimed=tuple(_blank(each) for each in whole.unclaimed[:_MAX_ITEMS]),
        unclaimed_count=max(whole.unclaimed_count, len(whole.unclaimed)),
        diagnostics=tuple(
            each._replace(message=_clean_text(each.message), place=None, fix=None) for each in ranked[:_MAX_ITEMS]
        ),
        checks=tuple(
            each._replace(name=_clean_text(each.name, _MAX_NAME), reason=_clean_text(each.reason))
            for each in whole.checks
        ),
        errors=tuple(_clean_error(each) for each in whole.errors[:_MAX_ITEMS]),
        next_steps=tuple(_clean_text(each) for each in whole.next_steps[:_MAX_ITEMS]),
        usage=ResultUsage(*map(_make_finite, whole.usage, _DECIMALS)),
        attempts=max(1, whole.attempts),
        path=tuple(_clean_text(each, _MAX_NAME) for each in whole.path),
        failed_steps=tuple(
            FailedStep(each.step, *(_clean_text(text) for text in each[1:])) for each in whole.failed_steps[:_MAX_ITEMS]
        ),
        notes=tuple(_clean_text(each) for each in whole.notes[:_MAX_ITEMS]),
        needs_user=not all(each.recoverable for each in whole.errors),
    )


def _clean_text(text: str, limit: int = _MAX_MESSAGE) -> str:
    """A text on one line, without invisible characters and secrets."""
    return _clip(" ".join(_blank(redact(text[: limit + _MARGIN])).split()), limit)


def _clean_artifact(artifact: ResultArtifact) -> ResultArtifact:
    return artifact._replace(
        path=_blank(artifact.path),
        type=_NOT_WORD.sub("?", artifact.type[:_MAX_NAME]),
        summary=_clean_text(artifact.summary),
        reason=_clean_text(artifact.reason),
        size_bytes=_make_finite(artifact.size_bytes),
        key_points=None if artifact.key_points is None else tuple(map(_clean_text, artifact.key_points[:_MAX_ITEMS])),
    )


def _clean_error(agent_error: AgentError) -> AgentError:
    return agent_error._replace(
        type=_NOT_WORD.sub("?", agent_error.type[:_MAX_NAME]),
        code=_NOT_WORD.sub("?", agent_error.code[:_MAX_NAME]),
        message=_clean_text(agent_error.message),
        recommendation=_clean_text(agent_error.recommendation),
        details=None if agent_error.details is None else _clean_text(agent_error.details),
    )


def _blank(text: str) -> str:
    """A text with a space for everything that is invisible or steers a terminal."""
    if not text.isprintable():
        text = text.translate(_CONTROLS)  # much faster than a check of each character, and enough for most texts
    return text if text.isprintable() else "".join(char if char.isprintable() else " " for char in text)


_CONTROLS = dict.fromkeys((*range(0x20), *range(0x7F, 0xA1)), " ")


def _make_finite(number: Any, decimals: int = 0) -> Any:  # noqa: ANN401 - a whole number, or one with a fraction
    """A finite, readable number for JSON, otherwise None."""
    if number is None or isinstance(number, bool) or not -_MAX_NUMBER < number < _MAX_NUMBER:  # NaN is neither
        return None
    return round(number, decimals) if isinstance(number, float) else number


def _clip(text: str, limit: int) -> str:
    """The beginning of a text, with a mark if it was cut."""
    if len(text) <= limit:
        return text
    return f"{text[: limit - 1].rstrip()}…" if limit else ""
