"""What property tests draw: returns that are right, the same with something wrong, and damaged text."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

from hypothesis import strategies as st

from remit.model import STATUSES
from remit.returns.formats.hyper import KINDS as HYPER_KINDS
from remit.returns.formats.standard import KINDS as STANDARD_KINDS
from remit.returns.placeholders import STOCK
from remit.returns.shapes import find_escape
from tests.support.return_samples import ISSUED, Payload

if TYPE_CHECKING:
    from collections.abc import Callable

_WORDS: Final = (
    "Wrote the plan.", "It works!", "Größe geprüft.", "3 of 4 \N{WHITE HEAVY CHECK MARK}", "a\\b", 'the "b"', "{x}",
    "line\nbreak", "tab\t.", "```", "</think>", "...", "\u2028", "Path: C:\\x", "// no comment",
)  # fmt: skip

phrases = st.lists(st.sampled_from(_WORDS), min_size=1, max_size=5).map(lambda words: "Text " + " ".join(words))
"""Texts that say something, with everything in them that makes readers stumble."""
texts = phrases | st.text(min_size=1, max_size=30).map(lambda text: f"x{text}")
names = st.from_regex(r"[a-z][a-z0-9-]{0,12}", fullmatch=True).filter(lambda name: name not in STOCK)
paths = (
    st.lists(names, min_size=1, max_size=4)
    .map(lambda parts: "/".join(parts) + ".md")
    .filter(lambda path: find_escape(path) is None and path not in STOCK)
)
durations = st.integers(0, 10**6) | st.floats(0, 1e6) | st.sampled_from([0.1 + 0.2, 1e-9, 5e-324, 1e300, -0.0, 10**18])
json_values: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**20), 10**20) | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=12) | phrases,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)  # fmt: skip
json_objects = st.dictionaries(st.text(max_size=8) | names, json_values, max_size=6)


def extras(*known: str) -> st.SearchStrategy[Payload]:
    """Keys that no format knows."""
    keys = st.text(min_size=1, max_size=10).filter(lambda key: key not in known)
    return st.dictionaries(keys, json_values, max_size=2)


_SHAPE_KEYS: Final = (
    "status", "summary", "artifacts", "metadata", "errors", "next_steps", "session_id", "type", "path", "key_points",
    "message", "recoverable", "recommendation", "code", "details", "agent_type", "delegation_depth", "delegation_path",
    "duration_seconds", "phase_count", "estimated_hours", "findings_count", "meta", "agent_name", "execution_time_ms",
    "error", "id", "file", "title", "date", "topics", "key_findings", "actionable", "needs_followup", "linked_tasks",
)  # fmt: skip
unknown = extras(*_SHAPE_KEYS)


def optional(key: str, value: st.SearchStrategy[Any]) -> st.SearchStrategy[Payload]:
    """A key that may be there, be null, or be left out: the last two say the same."""
    return st.just({}) | st.fixed_dictionaries({key: st.none() | value})


@st.composite
def faults(draw: st.DrawFn) -> Payload:
    """An error of the `standard` format."""
    kinds = st.sampled_from(["timeout", "validation", "execution", "permission", "weather"])
    fault = {"type": draw(kinds), "message": draw(texts), "recoverable": draw(st.booleans()),
             "recommendation": draw(texts)}  # fmt: skip
    return fault | draw(optional("code", st.sampled_from(["TIMEOUT", "E_7", "own words"]))) | draw(unknown)


@st.composite
def standards(draw: st.DrawFn) -> Payload:
    """A right return of the `standard` format, bound to the issued session at either place."""
    status = draw(st.sampled_from(STATUSES))
    metadata: Payload = {
        "agent_type": draw(names),
        "delegation_depth": draw(st.integers(0, 4)),
        "delegation_path": draw(st.lists(names, max_size=3)),
    }
    place = draw(st.sampled_from(["metadata", "top", "both"]))
    if place != "top":
        metadata["session_id"] = ISSUED
    metadata |= draw(optional("duration_seconds", durations))
    metadata |= draw(optional("phase_count", st.sampled_from([3, "three", [1, 2]])))
    payload: Payload = {
        "status": status,
        "summary": draw(texts.filter(lambda text: len(text.encode("utf-8", "replace")) <= 100)),
        "artifacts": [draw(_artifacts(tuple(STANDARD_KINDS))) for _ in range(draw(st.integers(0, 2)))],
        "metadata": metadata | draw(unknown),
    }
    if status != "completed":
        payload["errors"] = draw(st.lists(faults(), min_size=1, max_size=2))
    else:
        payload |= draw(optional("errors", st.just([])))
    payload |= draw(optional("next_steps", st.just("") | texts | st.lists(texts, max_size=2)))
    if place != "metadata":
        payload["session_id"] = ISSUED
    return _shuffle(draw, payload | draw(unknown))


@st.composite
def _artifacts(draw: st.DrawFn, kinds: tuple[str, ...]) -> Payload:
    item: Payload = {"type": draw(st.sampled_from(kinds)), "path": draw(paths)}
    return item | draw(optional("summary", texts)) | draw(unknown)


@st.composite
def hypers(draw: st.DrawFn) -> Payload:
    """A right return of the `hyper` format."""
    status = draw(st.sampled_from(["complete", "partial", "error"]))
    meta = {"agent_name": draw(names), "status": status, "execution_time_ms": draw(durations)} | draw(unknown)
    artifacts = [
        draw(_artifacts(HYPER_KINDS)) | {"summary": draw(texts), "key_points": draw(st.lists(texts, max_size=3))}
        for _ in range(draw(st.integers(0, 2)))
    ]
    payload: Payload = {
        "meta": meta,
        "artifacts": artifacts,
        "next_steps": draw(st.lists(texts, min_size=status == "partial", max_size=2)),
    }
    if status == "error":
        error = {"code": "E_7", "message": draw(texts)}
        payload["error"] = error | draw(optional("details", texts)) | draw(unknown)
    elif draw(st.booleans()):
        payload["error"] = None
    return _shuffle(draw, payload | draw(unknown))


@st.composite
def entries(draw: st.DrawFn) -> Payload:
    """A right entry of the manifest."""
    status = draw(st.sampled_from(["complete", "partial", "blocked"]))
    payload: Payload = {
        "id": draw(names),
        "file": draw(paths),
        "title": draw(texts),
        "date": "2026-01-05",
        "status": status,
        "key_findings": draw(st.lists(texts, max_size=3)),
        "actionable": draw(st.booleans()),
    }
    if status != "complete":
        payload["needs_followup"] = draw(st.lists(texts | st.just("T7"), min_size=1, max_size=2))
    else:
        payload |= draw(optional("needs_followup", st.lists(texts | st.just("T7"), max_size=2)))
    for key in ("topics", "linked_tasks"):
        payload |= draw(optional(key, st.lists(texts, max_size=2)))
    return _shuffle(draw, payload | draw(unknown))


def _shuffle(draw: st.DrawFn, payload: Payload) -> Payload:
    return {key: payload[key] for key in draw(st.permutations(list(payload)))}


_ODD_VALUES: Final[list[Any]] = [
    None, True, -1, 0.5, "", " ", "...", "<blank>", "a|b", "TBD ", "tbd", "../a", "/a", "completed", "complete",
    "error", "C:x", [], {}, [1], [""], ISSUED, "path/to/file.md", "\x7f", 1e300, 10**400,
]  # fmt: skip


@st.composite
def mutants(draw: st.DrawFn, right: st.SearchStrategy[Payload]) -> Payload:
    """A right object in which up to two values were replaced or left out, anywhere."""
    payload = draw(right)
    for _ in range(draw(st.integers(1, 2))):
        places: list[tuple[Any, Any]] = []
        pending: list[Any] = [payload]
        while pending:
            value = pending.pop()
            keys = list(value) if isinstance(value, dict) else range(len(value))
            places += [(value, key) for key in keys]
            pending += [value[key] for key in keys if isinstance(value[key], dict | list)]
        if places:
            parent, key = draw(st.sampled_from(places))
            if draw(st.booleans()):
                parent[key] = draw(st.sampled_from(_ODD_VALUES) | texts)
            else:
                del parent[key]
    return payload


renderings: st.SearchStrategy[Callable[[Any], str]] = st.sampled_from([
    json.dumps,
    lambda value: json.dumps(value, indent=2),
    lambda value: json.dumps(value, ensure_ascii=False),
    lambda value: json.dumps(value, ensure_ascii=False, indent="\t"),
    lambda value: json.dumps(value, separators=(",", ":"), ensure_ascii=False),
])  # fmt: skip


@st.composite
def damaged(draw: st.DrawFn, text: str) -> str:
    """The text with a few characters left out, put in or exchanged."""
    bits = st.sampled_from([*"\"'{}[],:\\/#*`~<>.…+ \n\t0aT“”‘", "//", "/*", "```", '\\"', "null", "NaN", "..."])
    for _ in range(draw(st.integers(1, 3))):
        at = draw(st.integers(0, max(0, len(text) - 1)))
        until = at + draw(st.integers(0, 2))
        text = text[:at] + draw(bits | st.just("")) + text[until:]
    return text


fragments = st.lists(
    st.sampled_from([
        '{"status": "completed"', '"summary": "x"', '"artifacts": []', '"metadata": {', '"session_id": "s"', "}", "]",
        "{", "[", ",", ":", "```json\n", "\n```\n", "~~~", "<think>", "</think>", "<!-- AGENT_OUTPUT_START -->",
        "<!-- AGENT_OUTPUT_END -->", '{"meta": {"status": "complete"', '"next_steps": []', "NaN", "...", "// c\n",
        "/*", "*/", "'", "“", "”", "\\", '\\"', "&quot;", "> ", "Draft:\n", "\x00", "\ud83d", "\udc80", "\ufeff",
        "true", "tr", "-", "1e999", "7" * 5000, "status", '"status":', "meta", '{"result": "', "return-meta.json",
        "|", "+", "Research complete. See MANIFEST.jsonl for summary.", "\u2028", "\u00a0", "null", "None", "#", "/",
        "\n\n",
    ]) | st.text(max_size=5),
    max_size=25,
).map("".join)  # fmt: skip
"""Heaps of what returns are made of."""
