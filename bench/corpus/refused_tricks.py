"""Messages that invite a reader to accept what was never said: repairs, merges and look-alikes gone too far."""

from __future__ import annotations

import copy
import json
from typing import TYPE_CHECKING, Final

from . import prose
from .containers import at_end, fence, marked, quoted
from .draw import HYPER, STANDARD, Builder, Draft, Draw, Sample
from .writing import SINGLE, compact, one_line, pretty

if TYPE_CHECKING:
    from collections.abc import Iterator

    from .case import Payload


def _opposite(draw: Draw, sample: Sample) -> Payload:
    """A failed return of the same session."""
    other = copy.deepcopy(draw.sample(STANDARD, status="failed", job=sample.job).payload)
    other["metadata"]["session_id"] = sample.session_id
    return other


def cut_and_followed(draw: Draw) -> Iterator[Draft]:
    """Cut inside a required field, with text behind it that seems to close it."""
    for sample in draw.samples(3, STANDARD, status="completed"):
        body = pretty(sample.payload)
        for stop_reason in ('"summary": "', '"artifacts": [', '"agent_type": "'):
            cut = body[: body.index(stop_reason) + len(stop_reason) + 4]
            config = fence(sample.job.config)
            yield sample.refused("config", f"```json\n{cut}\n```\n\nConfiguration:\n\n{config}")
            yield sample.refused("prose", f'{cut}\n\nSorry, I ran out of room. "{sample.job.title}" is done.}}')
            yield sample.refused("closers", f'{cut}"}}]}}}}')


def closed_early(draw: Draw) -> Iterator[Draft]:
    """A brace too many, and behind it the members that would change the judgement."""
    for sample in draw.samples(3, STANDARD, status="completed"):
        members = {key: sample.payload[key] for key in ("status", "summary", "artifacts", "metadata")}
        errors = one_line(_opposite(draw, sample)["errors"])
        for name, rest in (("errors", f'"errors": {errors}'), ("status", '"status": "failed"')):
            yield sample.refused(name, at_end(sample, draw.rng, fence(f"{pretty(members)},\n  {rest}\n}}")))
            yield sample.refused(f"{name}-bare", f"{compact(members)}, {rest}}}")


def elided(draw: Draw) -> Iterator[Draft]:
    """Real members and dots in between."""
    for sample in draw.samples(2, STANDARD, status="completed"):
        load = sample.payload
        head = f'"status": "completed", "summary": {json.dumps(load["summary"])}'
        tail = f'"metadata": {one_line(load["metadata"])}'
        for name, body in (
            ("artifacts", f'{{{head}, "artifacts": [...], {tail}}}'),
            ("artifact", f'{{{head}, "artifacts": [{{...}}], {tail}}}'),
            ("metadata", f'{{{head}, "artifacts": [], "metadata": {{...}}}}'),
            ("middle", f'{{"status": "completed", ... {tail}}}'),
            ("same-as-above", f'{{{head}, "artifacts": <same as above>, {tail}}}'),
            ("omitted", f'{{{head}, "artifacts": [ /* omitted */ ], "metadata": /* see above */ }}'),
        ):
            yield sample.refused(name, at_end(sample, draw.rng, fence(body)))


def merge_conflicts(draw: Draw) -> Iterator[Draft]:
    """Two versions of the truth, side by side in one text."""
    for sample in draw.samples(2, STANDARD, status="completed"):
        body, other = pretty(sample.payload), pretty(_opposite(draw, sample))
        text = f"<<<<<<< HEAD\n{body}\n=======\n{other}\n>>>>>>> task"
        yield sample.refused("objects", fence(text))
        lines = '<<<<<<< HEAD\n  "status": "completed",\n=======\n  "status": "failed",\n>>>>>>> task'
        yield sample.refused("lines", fence(body.replace('  "status": "completed",', lines, 1)))
        diff = body.replace('  "status": "completed",', '-  "status": "failed",\n+  "status": "completed",', 1)
        yield sample.refused("diff", at_end(sample, draw.rng, fence(diff, info="diff")))
        yield sample.refused("glued", at_end(sample, draw.rng, compact(sample.payload)[:-1] + "," + other))
        yield sample.refused("glued-bad-first", fence(other.removesuffix("\n}") + ",\n" + body))


def taken_back(draw: Draw) -> Iterator[Draft]:
    """A sound return, and behind it the start of another that says the opposite."""
    for sample in draw.samples(3, STANDARD, status="completed"):
        later = _opposite(draw, sample)
        own, cut = fence(pretty(sample.payload)), pretty(later)[:140]
        yield sample.refused("cut", f"{own}\n\nThe last test run came in just now:\n\n```json\n{cut}")
        del later["errors"][0]["recommendation"]
        yield sample.refused("incomplete", f"{own}\n\nThe last test run came in just now:\n\n{fence(pretty(later))}")


def hidden_duplicates(draw: Draw) -> Iterator[Draft]:
    """One key twice in two spellings."""
    for sample in draw.samples(2, STANDARD, status="completed"):
        body = pretty(sample.payload)
        for name, line in (
            ("escaped", '"st\\u0061tus": "failed",'),
            ("single", "'status': 'failed',"),
            ("bare", "status: 'failed',"),
            ("smart", "“status”: “failed”,"),
        ):
            yield sample.refused(name, at_end(sample, draw.rng, fence("{\n  " + line + body[1:])))
        twice = body.replace('"agent_type":', '"agent_type": "someone-else",\n    "agent_type":', 1)
        yield sample.refused("metadata", at_end(sample, draw.rng, fence(twice.replace("\n}", ",\n}", 1))))


def python_numbers(draw: Draw) -> Iterator[Draft]:
    """Numbers that Python prints and JSON does not have."""
    for value in (float("nan"), float("inf"), float("-inf")):
        sample = draw.sample(STANDARD, status="completed")
        payload = copy.deepcopy(sample.payload)
        payload["metadata"]["duration_seconds"] = value
        yield sample.refused("repr", at_end(sample, draw.rng, repr(payload)))
        hyper = draw.sample(HYPER, status="complete")
        payload = copy.deepcopy(hyper.payload)
        payload["meta"]["execution_time_ms"] = value
        yield hyper.refused("repr-hyper", at_end(hyper, draw.rng, fence(repr(payload), info="python")))


def near_words(draw: Draw) -> Iterator[Draft]:
    """Status words with something about them."""
    for word in (
        "completed // not really",
        "completed (partially)",
        "completed, partial",
        "completed!",
        "not completed",
        "completed\u200b",
        "\uff43ompleted",
        "completed\n",
        "'completed'",
        "completed|",
        "Status: completed",
    ):
        sample = draw.sample(STANDARD, status="completed")
        yield sample.refused("standard", at_end(sample, draw.rng, fence(pretty(sample.payload | {"status": word}))))
    for word in ("complete?", "incomplete", "complete|partial", " complete"):
        sample = draw.sample(HYPER, status="complete")
        payload = copy.deepcopy(sample.payload)
        payload["meta"]["status"] = word
        yield sample.refused("hyper", at_end(sample, draw.rng, marked(pretty(payload))))


def session_elsewhere(draw: Draw) -> Iterator[Draft]:
    """The right session id is in the message, but not where it counts."""
    for sample in draw.samples(3, STANDARD):
        other = draw.sample(STANDARD)
        text = f"Session: {sample.session_id}\n\n{fence(pretty(other.payload))}\n\n(session {sample.session_id})"
        yield sample.refused("in-prose", text)
        moved = copy.deepcopy(sample.payload)
        del moved["metadata"]["session_id"]
        moved["context"] = {"session_id": sample.session_id}
        yield sample.refused("elsewhere", at_end(sample, draw.rng, fence(pretty(moved))))
        noted = copy.deepcopy(other.payload)
        noted["metadata"]["parent_session_id"] = sample.session_id
        yield sample.refused("parent", at_end(sample, draw.rng, SINGLE.write(noted)))
        hidden = copy.deepcopy(sample.payload)
        hidden["metadata"]["session_id"] = f"{sample.session_id}\u200b"
        yield sample.refused("zero-width", at_end(sample, draw.rng, fence(pretty(hidden))))


def deep_quotes(draw: Draw) -> Iterator[Draft]:
    """Quotations of quotations, and quotations with a lead."""
    for sample in draw.samples(2):
        block = fence(pretty(sample.payload))
        yield sample.refused("twice", f"The thread so far:\n\n{quoted(quoted(block))}\n\nI'll look at it tomorrow.")
        lead = prose.opening(sample.job, draw.rng)
        yield sample.refused("with-words", f"{lead}\n\n{quoted(f'They wrote: {one_line(sample.payload)}')}\n\nNoted.")
        yield sample.refused("tight", quoted(block).replace("> ", ">"))


def held_inside(draw: Draw) -> Iterator[Draft]:
    """A return that is refused holds another one that would pass."""
    for sample in draw.samples(2, STANDARD, status="completed"):
        outer = _opposite(draw, sample)
        del outer["errors"]
        yield sample.refused("draft", at_end(sample, draw.rng, fence(pretty(outer | {"draft": sample.payload}))))
        both = [sample.payload, _opposite(draw, sample)]
        yield sample.refused("attempts", at_end(sample, draw.rng, fence(pretty({"attempts": both}))))


def more_paths(draw: Draw) -> Iterator[Draft]:
    """Paths that leave the root in less usual ways."""
    for path in (
        "./../x.md",
        "a\\..\\..\\b.md",
        "C:plan.md",
        "//server/share/x.md",
        "~root/x.md",
        "/",
        "specs/a.md\x00.txt",
        "https://example.org/a.md",
        "a/b/../../../c.md",
        "../",
        "c:/Users/x.md",
        "\\x.md",
    ):
        sample = draw.sample(STANDARD, status="completed")
        payload = copy.deepcopy(sample.payload)
        payload["artifacts"][0]["path"] = path
        body = draw.rng.choice((pretty, SINGLE.write))(payload)
        yield sample.refused("outside", at_end(sample, draw.rng, fence(body)))


CATEGORIES: Final[dict[str, Builder]] = {
    "no-cut-and-followed": cut_and_followed,
    "no-closed-early": closed_early,
    "no-elided": elided,
    "no-merge-conflicts": merge_conflicts,
    "no-taken-back": taken_back,
    "no-hidden-duplicates": hidden_duplicates,
    "no-python-numbers": python_numbers,
    "no-near-words": near_words,
    "no-session-elsewhere": session_elsewhere,
    "no-deep-quotes": deep_quotes,
    "no-held-inside": held_inside,
    "no-more-paths": more_paths,
}
