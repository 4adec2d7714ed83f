"""Messages with an object of the right shape whose content breaks a rule; nothing may bend it into a valid one."""

from __future__ import annotations

import copy
import json
from typing import TYPE_CHECKING, Any, Final

from . import writing
from .containers import anywhere, at_end, fence, marked
from .draw import HYPER, STANDARD, Builder, Draft, Draw, Sample
from .writing import SINGLE, compact, one_line, pretty

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from .case import Payload

_WORDS: Final = (
    "success",
    "done",
    "complete",
    "ok",
    "in_progress",
    "researched",
    "planned",
    "implemented",
    "error",
    "finished",
    " completed",
    "completed.",
    "",
    "cancelled",
    "\u0441\u043empleted",
)
_HYPER_WORDS: Final = ("completed", "failed", "blocked", "success", "done", "")
_PATHS: Final = (
    "../secrets.md",
    "/etc/passwd",
    "~/notes.md",
    "C:\\Users\\me\\plan.md",
    "a/../../b.md",
    "file:///etc/hosts",
    "..",
    "..\\up.md",
    "\\\\server\\share\\x.md",
    "/home/dev/project/specs/plan.md",
    "specs/../../../x.md",
    "",
)


def _set(payload: Payload, where: str, value: object) -> Payload:
    """A copy with the member at a dotted path (`artifacts.0.path`) replaced."""
    changed = copy.deepcopy(payload)
    *steps, last = where.split(".")
    holder: Any = changed
    for step in steps:
        holder = holder[int(step)] if isinstance(holder, list) else holder[step]
    holder[int(last) if isinstance(holder, list) else last] = value
    return changed


def _without(payload: Payload, where: str) -> Payload:
    changed = copy.deepcopy(payload)
    *steps, last = where.split(".")
    holder: Any = changed
    for step in steps:
        holder = holder[int(step)] if isinstance(holder, list) else holder[step]
    del holder[last]
    return changed


def _wrong(draw: Draw, sample: Sample, variant: str, payload: Payload) -> Draft:
    """The payload in a usual place, sometimes with a damage that a repair would mend."""
    body = draw.rng.choice((pretty, pretty, compact, one_line, SINGLE.write))(payload)
    block = draw.rng.choice((fence(body), fence(body), body, marked(body)))
    return sample.refused(variant, anywhere(sample, draw.rng, block))


def status_words(draw: Draw) -> Iterator[Draft]:
    """Words outside the format's list."""
    for word in _WORDS:
        sample = draw.sample(STANDARD, status="completed")
        yield _wrong(draw, sample, "standard", sample.payload | {"status": word})
    for word in _HYPER_WORDS:
        sample = draw.sample(HYPER, status="complete")
        yield _wrong(draw, sample, "hyper", _set(sample.payload, "meta.status", word))


def missing(draw: Draw) -> Iterator[Draft]:
    """A required member is not there."""
    for where in (
        "status",
        "summary",
        "artifacts",
        "metadata",
        "metadata.session_id",
        "artifacts.0.path",
        "artifacts.0.type",
    ):
        for sample in draw.samples(2, STANDARD, status="completed"):
            yield _wrong(draw, sample, where, _without(sample.payload, where))
    for where in ("errors.0.message", "errors.0.type"):
        sample = draw.sample(STANDARD, status="partial")
        yield _wrong(draw, sample, where, _without(sample.payload, where))
    for where in (
        "meta",
        "meta.status",
        "meta.agent_name",
        "artifacts",
        "next_steps",
        "artifacts.0.path",
        "artifacts.0.summary",
    ):
        for sample in draw.samples(2, HYPER, status="complete"):
            yield _wrong(draw, sample, where, _without(sample.payload, where))


def _renamed(payload: Payload, where: str, name: str) -> Payload:
    *steps, last = where.split(".")
    changed = copy.deepcopy(payload)
    holder: Any = changed
    for step in steps:
        holder = holder[step]
    holder[name] = holder.pop(last)
    return changed


def other_names(draw: Draw) -> Iterator[Draft]:
    """Required members under names that are not theirs."""
    for where, name in (
        ("status", "Status"),
        ("summary", "Summary"),
        ("artifacts", "Artifacts"),
        ("metadata", "meta_data"),
        ("metadata.session_id", "sessionId"),
        ("status", "state"),
        ("summary", "sumary"),
    ):
        sample = draw.sample(STANDARD, status="completed")
        yield _wrong(draw, sample, name, _renamed(sample.payload, where, name))
    for where, name in (
        ("meta", "Meta"),
        ("meta.agent_name", "agentName"),
        ("next_steps", "nextSteps"),
        ("meta.status", "state"),
    ):
        sample = draw.sample(HYPER, status="complete")
        yield _wrong(draw, sample, name, _renamed(sample.payload, where, name))


def in_texts(draw: Draw) -> Iterator[Draft]:
    """Objects and lists that are written as strings."""
    for key in ("metadata", "artifacts"):
        for sample in draw.samples(2, STANDARD, status="completed"):
            yield _wrong(draw, sample, key, sample.payload | {key: one_line(sample.payload[key])})
    for key in ("meta", "artifacts"):
        sample = draw.sample(HYPER, status="complete")
        yield _wrong(draw, sample, f"hyper-{key}", sample.payload | {key: one_line(sample.payload[key])})


_STANDARD_TYPES: Final[tuple[tuple[str, object], ...]] = (
    ("status", ["completed"]),
    ("status", True),
    ("status", None),
    ("status", 1),
    ("summary", ["Done.", "Really."]),
    ("summary", None),
    ("summary", {"text": "Done."}),
    ("artifacts", {"path": "a.md"}),
    ("artifacts", "a.md"),
    ("artifacts", None),
    ("artifacts", ["specs/a.md"]),
    ("metadata", []),
    ("metadata", "none"),
    ("metadata.delegation_depth", "1"),
    ("metadata.delegation_depth", True),
    ("metadata.delegation_path", "orchestrator"),
    ("metadata.delegation_path", [1, 2]),
    ("metadata.agent_type", 7),
    ("metadata.session_id", 1735460684),
    ("metadata.session_id", None),
    ("artifacts.0.path", ["a.md"]),
    ("artifacts.0.path", None),
    ("artifacts.0.type", 3),
)


def wrong_types(draw: Draw) -> Iterator[Draft]:
    """A member of another type; nothing is coerced."""
    for where, value in _STANDARD_TYPES:
        sample = draw.sample(STANDARD, status="completed")
        yield _wrong(draw, sample, where, _set(sample.payload, where, value))
    faults: tuple[tuple[str, object], ...] = (
        ("errors.0.recoverable", "true"),
        ("errors.0.recoverable", 1),
        ("errors", "timeout"),
        ("errors", ["timeout"]),
        ("errors", {"type": "timeout"}),
        ("errors.0.message", 5),
    )
    for where, value in faults:
        sample = draw.sample(STANDARD, status="failed")
        yield _wrong(draw, sample, where, _set(sample.payload, where, value))
    hyper: tuple[tuple[str, object], ...] = (
        ("meta", "complete"),
        ("meta", []),
        ("meta.status", ["complete"]),
        ("meta.execution_time_ms", "12 s"),
        ("artifacts", {}),
        ("next_steps", {"first": "Go on"}),
        ("artifacts.0.path", 4),
        ("artifacts.0.type", "binary"),
        ("meta.agent_name", None),
    )
    for where, value in hyper:
        sample = draw.sample(HYPER, status="complete")
        yield _wrong(draw, sample, where, _set(sample.payload, where, value))


def paths(draw: Draw) -> Iterator[Draft]:
    """Paths that lead outside."""
    for path in _PATHS:
        sample = draw.sample(STANDARD, status="completed")
        yield _wrong(draw, sample, "standard", _set(sample.payload, "artifacts.0.path", path))
        if draw.rng.random() < 0.6:
            sample = draw.sample(HYPER, status="complete")
            yield _wrong(draw, sample, "hyper", _set(sample.payload, "artifacts.0.path", path))
    for sample in draw.samples(3, STANDARD, status="completed"):
        more = copy.deepcopy(sample.payload)
        more["artifacts"].append(dict(more["artifacts"][0], path="../../outside.md"))
        yield _wrong(draw, sample, "second", more)


def errors_and_status(draw: Draw) -> Iterator[Draft]:
    """Errors that do not fit the status."""
    for _ in range(4):
        sample, other = draw.sample(STANDARD, status="completed"), draw.sample(STANDARD, status="failed")
        yield _wrong(draw, sample, "completed-with-errors", sample.payload | {"errors": other.payload["errors"]})
    for status in ("failed", "partial", "blocked"):
        for sample in draw.samples(2, STANDARD, status=status):
            yield _wrong(draw, sample, f"{status}-no-errors", _without(sample.payload, "errors"))
            yield _wrong(draw, sample, f"{status}-empty-errors", sample.payload | {"errors": []})
    for sample in draw.samples(3, HYPER, status="error"):
        yield _wrong(draw, sample, "hyper-no-error", _without(sample.payload, "error"))


def summaries(draw: Draw) -> Iterator[Draft]:
    """Summaries without words, or with too many."""
    long = "The parser was split in two and every caller moved to the new entry point. " * 8
    for name, text in (
        ("empty", ""),
        ("spaces", "   "),
        ("newline", "\n"),
        ("600", long[:600]),
        ("501", long[:500] + "x"),
        ("5000", long * 9),
    ):
        for sample in draw.samples(2, STANDARD, status="completed"):
            yield _wrong(draw, sample, name, sample.payload | {"summary": text})


def _doubled(payload: Payload, key: str, value: object) -> str:
    """The pretty text with one more member under a key that is there already."""
    lines = pretty(payload).split("\n")
    spot = next(number for number, line in enumerate(lines) if line.strip().startswith(f'"{key}":'))
    pad = " " * (len(lines[spot]) - len(lines[spot].lstrip()))
    lines.insert(spot, f'{pad}"{key}": {json.dumps(value)},')
    return "\n".join(lines)


def duplicates(draw: Draw) -> Iterator[Draft]:
    """One key twice, with two values."""
    pairs: tuple[tuple[str, object], ...] = (
        ("status", "failed"),
        ("status", "partial"),
        ("summary", "Something else was done. Really."),
        ("artifacts", []),
        ("session_id", "sess_1769000000_zzzzzz"),
        ("delegation_depth", 3),
        ("path", "other/file.md"),
        ("agent_type", "someone-else"),
        ("metadata", {}),
    )
    for key, value in pairs:
        for sample in draw.samples(2, STANDARD, status="completed"):
            body = _doubled(sample.payload, key, value)
            yield sample.refused(key, at_end(sample, draw.rng, fence(body)))
    for sample in draw.samples(3, HYPER, status="complete"):
        yield sample.refused(
            "hyper-status", at_end(sample, draw.rng, marked(_doubled(sample.payload, "status", "error")))
        )
        yield sample.refused("hyper-path", at_end(sample, draw.rng, fence(_doubled(sample.payload, "path", "b/c.md"))))
    for sample in draw.samples(3, STANDARD, status="completed"):
        last = pretty(sample.payload).removesuffix("\n}") + ',\n  "status": "failed"\n}'
        yield sample.refused("status-at-end", at_end(sample, draw.rng, fence(last)))
        damaged = writing.trailing_commas(_doubled(sample.payload, "status", "failed"))
        yield sample.refused("damaged", at_end(sample, draw.rng, fence(damaged)))
        bare = SINGLE.write(sample.payload).replace(
            "'status': 'completed'", "'status': 'failed', 'status': 'completed'"
        )
        yield sample.refused("single-quoted", at_end(sample, draw.rng, fence(bare)))


def not_finite(draw: Draw) -> Iterator[Draft]:
    """Numbers that are none."""
    for word in ("NaN", "Infinity", "-Infinity", "1e999"):
        for sample in draw.samples(2, STANDARD, status="completed"):
            text = pretty(_set(sample.payload, "metadata.duration_seconds", "@@")).replace('"@@"', word)
            yield sample.refused("duration", at_end(sample, draw.rng, fence(text)))
        sample = draw.sample(HYPER, status="complete")
        text = pretty(_set(sample.payload, "meta.execution_time_ms", "@@")).replace('"@@"', word)
        yield sample.refused("hyper", at_end(sample, draw.rng, marked(text)))
        sample = draw.sample(STANDARD, status="completed")
        text = writing.trailing_commas(pretty(_set(sample.payload, "metadata.score", "@@")).replace('"@@"', word))
        yield sample.refused("damaged", at_end(sample, draw.rng, fence(text)))


_WRAPS: Final[tuple[tuple[str, Callable[[str], str]], ...]] = (
    ("result-line", lambda text: compact({"type": "result", "is_error": False, "result": text})),
    ("chat", lambda text: compact({"choices": [{"message": {"role": "assistant", "content": text}}]})),
    ("string", json.dumps),
    ("content", lambda text: compact([{"type": "text", "text": text}])),
)


def wrapped(draw: Draw) -> Iterator[Draft]:
    """Sound envelopes with nothing acceptable inside."""
    for name, wrap in _WRAPS:
        sample = draw.sample(STANDARD, status="completed")
        yield sample.refused(f"{name}-prose", wrap(f"{sample.job.prose[0]} Status: completed."))
        yield sample.refused(f"{name}-word", wrap(fence(pretty(sample.payload | {"status": "success"}))))
        yield sample.refused(f"{name}-session", wrap(pretty(_set(sample.payload, "metadata.session_id", "sess_1_a"))))
        yield sample.refused(f"{name}-cut", wrap(pretty(sample.payload)[:150]))
        opposite = draw.sample(STANDARD, status="failed", job=sample.job)
        other = _set(opposite.payload, "metadata.session_id", sample.session_id)
        yield sample.refused(f"{name}-two", wrap(f"{fence(pretty(sample.payload))}\n\n{fence(pretty(other))}"))
    sample = draw.sample()
    yield sample.refused("error-line", compact({"type": "result", "subtype": "error_max_turns", "is_error": True}))
    yield sample.refused("api-error", compact({"type": "error", "error": {"type": "overloaded_error", "message": "x"}}))


CATEGORIES: Final[dict[str, Builder]] = {
    "no-status-words": status_words,
    "no-missing": missing,
    "no-other-names": other_names,
    "no-in-texts": in_texts,
    "no-wrong-types": wrong_types,
    "no-paths": paths,
    "no-errors-and-status": errors_and_status,
    "no-summaries": summaries,
    "no-duplicates": duplicates,
    "no-not-finite": not_finite,
    "no-wrapped": wrapped,
}
