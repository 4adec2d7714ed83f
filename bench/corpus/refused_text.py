"""Messages that carry no return that counts: none at all, a form not filled in, one cut off, one that is not theirs."""

from __future__ import annotations

import base64
import copy
import json
import urllib.parse
from typing import TYPE_CHECKING, Final

from . import prose
from .containers import END, START, at_end, fence, in_middle, marked, quoted
from .draw import HYPER, STANDARD, Builder, Draft, Draw, Sample
from .found_among import HYPER_TEMPLATE, STANDARD_TEMPLATE
from .writing import SINGLE, compact, one_line, pretty

if TYPE_CHECKING:
    from collections.abc import Iterator

    from .case import Payload

_CLAIMS: Final = (
    "Status: completed. Summary: the lexer was split. Artifacts: none.",
    "**Status:** completed\n**Summary:** All phases ran.\n**Artifacts:** src/lexer.rs",
    'The task\'s status is now "completed" and the metadata says so too.',
    "I have returned {status: completed} to the orchestrator as asked.",
    "status = completed, session_id = {session}, delegation_depth = 1",
    "The JSON return was written to specs/return.json (status completed, two artifacts).",
    "| field | value |\n|---|---|\n| status | completed |\n| summary | Done. |\n| session_id | {session} |",
    '"status": "completed"\n"summary": "Everything done."',
    "completed",
    "meta.status: complete, artifacts: [], next_steps: []",
)


def prose_only(draw: Draw) -> Iterator[Draft]:
    """Reports, some of which claim in words to be a return."""
    for sample in draw.samples(8):
        yield sample.refused("report", f"{prose.opening(sample.job, draw.rng)}\n\n{prose.report(sample.job, draw.rng)}")
    for sample in draw.samples(2):
        yield sample.refused("long", prose.filler(sample.job, draw.rng, 20_000))
    for claim in _CLAIMS:
        sample = draw.sample()
        text = f"{prose.report(sample.job, draw.rng)}\n\n{claim.replace('{session}', sample.session_id)}"
        yield sample.refused("claims", text)


def nothing(draw: Draw) -> Iterator[Draft]:
    """Empty messages, or nearly so."""
    for name, text in (
        ("empty", ""),
        ("spaces", "   \n\n\t "),
        ("bom", "\ufeff"),
        ("fence", "```json\n```"),
        ("dash", "-"),
        ("markers", f"{START}\n{END}"),
        ("object", "{}"),
        ("fenced-object", "```json\n{}\n```"),
        ("null", "null"),
        ("brace", "{"),
        ("quote", '"'),
        ("ticks", "```"),
        ("nul", "\x00"),
    ):
        yield draw.sample().refused(name, text)


_UNRELATED: Final = (
    ("array", "[1, 2, 3]"),
    ("strings", '["completed", "partial"]'),
    ("number", "42"),
    ("string", '"completed"'),
    ("ok", '{"status": "ok"}'),
    ("completed-only", '{"status": "completed"}'),
    ("status-summary", '{"status": "completed", "summary": "All done. Nothing is open."}'),
    ("package", '{"name": "web", "version": "1.2.0", "scripts": {"test": "vitest"}}'),
    ("runs", '[{"id": 1, "status": "completed"}, {"id": 2, "status": "failed"}]'),
    ("ci", '{"status": "completed", "conclusion": "success", "artifacts": [], "summary": "ok", "metadata": {}}'),
    ("meta", '{"meta": {"page": 1}, "artifacts": [], "next_steps": []}'),
    ("error-body", '{"error": {"type": "overloaded_error", "message": "Overloaded"}}'),
    (
        "schema",
        (
            '{"type": "object", "properties": {"status": {"enum": ["completed", "failed"]}, "summary": {"type": '
            '"string"}, "artifacts": {"type": "array"}, "metadata": {"type": "object"}}}'
        ),
    ),
    ("jsonrpc", '{"jsonrpc": "2.0", "id": 1, "result": {"status": {"state": "completed"}, "artifacts": []}}'),
)


def unrelated(draw: Draw) -> Iterator[Draft]:
    """JSON of other kinds."""
    for name, text in _UNRELATED:
        sample = draw.sample()
        yield sample.refused(name, text)
        yield sample.refused(f"{name}-fenced", in_middle(sample, draw.rng, fence(text)))
    for sample in draw.samples(3, STANDARD):
        yield sample.refused("metadata-alone", at_end(sample, draw.rng, fence(pretty(sample.payload["metadata"]))))
        yield sample.refused(
            "members-apart", "\n\n".join(fence(pretty({key: value})) for key, value in sample.payload.items())
        )


def _filled(sample: Sample, **changes: object) -> Payload:
    payload = copy.deepcopy(sample.payload)
    for key, value in changes.items():
        holder, _, name = key.rpartition("__")
        (payload[holder] if holder else payload)[name] = value
    return payload


def templates(draw: Draw) -> Iterator[Draft]:
    """Forms that were not filled in."""
    for sample in draw.samples(3, STANDARD):
        form = STANDARD_TEMPLATE.replace("<session_id>", sample.session_id)
        yield sample.refused("skeleton", form)
        yield sample.refused("skeleton-fenced", at_end(sample, draw.rng, fence(form)))
        loose = form.replace("[ ... ]", "[]").replace("...", "etc")
        yield sample.refused("skeleton-valid", at_end(sample, draw.rng, fence(loose)))
    for sample in draw.samples(3, HYPER):
        yield sample.refused("hyper-skeleton", at_end(sample, draw.rng, marked(HYPER_TEMPLATE)))
        dots = '{\n  "meta": { ... },\n  "artifacts": [ ... ],\n  "next_steps": [ ... ]\n}'
        yield sample.refused("hyper-dots", at_end(sample, draw.rng, marked(dots)))
        loose = HYPER_TEMPLATE.replace("[ ... ]", "[]").replace("number", "0")
        yield sample.refused("hyper-skeleton-valid", at_end(sample, draw.rng, fence(loose)))
    for name, form in (
        ("braces", "{ ... }"),
        ("fenced-braces", "```json\n{ ... }\n```"),
        ("ellipsis", "{…}"),
        ("status-dots", '{"status": "completed", ...}'),
        ("two-dots", '{ "status": "...", "summary": "...", "artifacts": [], "metadata": {...} }'),
    ):
        yield draw.sample().refused(name, f"The return will look like this:\n\n{form}\n")


def placeholders(draw: Draw) -> Iterator[Draft]:
    """Returns with the right session whose required texts are still blanks."""
    for blank in ("...", "…", "<summary>", "<summary of the work>", "{{SUMMARY}}"):
        sample = draw.sample(STANDARD, status="completed")
        yield sample.refused("summary", at_end(sample, draw.rng, fence(pretty(_filled(sample, summary=blank)))))
    for blank in ("<agent_type>", "{{AGENT}}", "planner|researcher|implementer"):
        sample = draw.sample(STANDARD, status="completed")
        yield sample.refused(
            "agent", at_end(sample, draw.rng, fence(pretty(_filled(sample, metadata__agent_type=blank))))
        )
    for blank in ("<path>", "{{OUTPUT_DIR}}/report.md", "..."):
        sample = draw.sample(STANDARD, status="completed")
        artifact = dict(sample.payload["artifacts"][0], path=blank)
        yield sample.refused("path", at_end(sample, draw.rng, fence(pretty(_filled(sample, artifacts=[artifact])))))
    for blank in ("<session_id>", "{{SESSION_ID}}", "sess_{timestamp}_{random}", "..."):
        sample = draw.sample(STANDARD, status="completed")
        yield sample.refused(
            "session", at_end(sample, draw.rng, fence(pretty(_filled(sample, metadata__session_id=blank))))
        )
    for blank in ("<agent name>", "{{AGENT_NAME}}", "..."):
        sample = draw.sample(HYPER, status="complete")
        yield sample.refused(
            "hyper-agent", at_end(sample, draw.rng, marked(pretty(_filled(sample, meta__agent_name=blank))))
        )
    for blank in ("completed|partial|failed|blocked", "completed | failed", "<status>", "{{STATUS}}", "..."):
        sample = draw.sample(STANDARD, status="completed")
        yield sample.refused("status", at_end(sample, draw.rng, fence(pretty(_filled(sample, status=blank)))))


def cut_off(draw: Draw) -> Iterator[Draft]:
    """The message ends before the required fields do."""
    for sample in draw.samples(9, STANDARD, status="completed"):
        body = pretty(sample.payload)
        last = body.index('"delegation_path"') + len('"delegation_path": [\n      "orch')
        for spot in sorted(draw.rng.sample(range(3, last), 5)):
            yield sample.refused("standard", f"{prose.opening(sample.job, draw.rng)}\n\n```json\n{body[:spot]}")
    for sample in draw.samples(4, HYPER, status="complete"):
        body = pretty(sample.payload)
        last = body.rindex("]")
        for spot in sorted(draw.rng.sample(range(3, last), 4)):
            yield sample.refused("hyper", f"{prose.opening(sample.job, draw.rng)}\n\n{START}\n```json\n{body[:spot]}")
    for sample in draw.samples(4, STANDARD, status="partial"):
        body = pretty(sample.payload)
        spot = draw.rng.randrange(body.index('"errors"') - 3, body.index('"recommendation"') + 30)
        yield sample.refused("errors", body[:spot])
    for sample in draw.samples(4, HYPER, status="error"):
        body = pretty(sample.payload)
        yield sample.refused(
            "hyper-error", body[: draw.rng.randrange(body.index('"error"') - 3, body.index('"message"') + 14)]
        )


def cut_at_joints(draw: Draw) -> Iterator[Draft]:
    """The same, at the places where a closing bracket would make it look whole."""
    for stop_reason in (
        '"summary": "',
        '"artifacts": [',
        '"metadata": {',
        '"session_id": "',
        '"agent_type": "',
        '"delegation_depth": ',
        '"delegation_path": [',
    ):
        sample = draw.sample(STANDARD, status="completed")
        body = pretty(sample.payload)
        spot = body.index(stop_reason) + len(stop_reason)
        yield sample.refused("after-opening", at_end(sample, draw.rng, f"```json\n{body[:spot]}"))
        yield sample.refused("fence-closed", at_end(sample, draw.rng, f"```json\n{body[:spot]}\n```"))
    for sample in draw.samples(3, STANDARD, status="completed"):
        body = pretty(sample.payload)
        word = body.index('"summary": "') + 32
        yield sample.refused("in-summary", body[:word])
        yield sample.refused("in-path", body[: body.index('"orchestrator"') + 9])
        path = body.index('"orchestrator",') + len('"orchestrator",')
        yield sample.refused("path-half", body[:path])
        inner = compact(sample.payload)
        yield sample.refused("in-envelope", '{"type":"result","result":' + json.dumps(inner)[: len(inner) // 2])


def cut_and_told(draw: Draw) -> Iterator[Draft]:
    """The harness says that it cut, or the object is spread over two blocks."""
    for sample in draw.samples(3, status=None):
        body = pretty(sample.payload)
        half = body[: len(body) // 3]
        yield sample.refused("note", at_end(sample, draw.rng, f"```json\n{half}\n[output truncated]"))
        yield sample.refused("dots", at_end(sample, draw.rng, fence(f"{half}... (truncated, 1204 more characters)")))
        yield sample.refused("two-blocks", f"Part 1/2:\n\n{fence(half)}\n\nPart 2/2:\n\n{fence(body[len(half) :])}")
        yield sample.refused("tail-only", at_end(sample, draw.rng, fence(body[len(half) :])))


def wrong_session(draw: Draw) -> Iterator[Draft]:
    """A return of another session, or nearly of this one."""
    for _ in range(4):
        sample, other = draw.sample(STANDARD), draw.sample(STANDARD)
        yield sample.refused("other", at_end(sample, draw.rng, fence(pretty(other.payload))))
        yield sample.refused("other-bare", compact(other.payload))
        near = _filled(sample, metadata__session_id=sample.session_id.upper())
        yield sample.refused("upper-case", at_end(sample, draw.rng, fence(pretty(near))))
        near = _filled(sample, metadata__session_id=sample.session_id[:-1])
        yield sample.refused("shorter", at_end(sample, draw.rng, fence(pretty(near))))
    for sample in draw.samples(3, STANDARD):
        both = _filled(sample, session_id="sess_1769000000_zzzzzz")
        yield sample.refused("top-differs", at_end(sample, draw.rng, fence(pretty(both))))
        inner = _filled(sample, session_id=sample.session_id, metadata__session_id="sess_1769000000_zzzzzz")
        yield sample.refused("inner-differs", at_end(sample, draw.rng, fence(pretty(inner))))


def _pair(draw: Draw, return_format: str) -> tuple[Sample, Payload]:
    """A return, and another of the same session that says the opposite."""
    good, bad = ("completed", "failed") if return_format == STANDARD else ("complete", "error")
    sample = draw.sample(return_format, status=good)
    other = copy.deepcopy(draw.sample(return_format, status=bad, job=sample.job).payload)
    if return_format == STANDARD:
        other["metadata"]["session_id"] = sample.session_id
    return sample, other


def contradicting(draw: Draw) -> Iterator[Draft]:
    """Two returns of one session that do not agree, and nothing that says which one counts."""
    for return_format in (STANDARD, STANDARD, STANDARD, HYPER, HYPER):
        sample, other = _pair(draw, return_format)
        one, two = fence(pretty(sample.payload)), fence(pretty(other))
        yield sample.refused("good-first", f"{prose.before(sample.job, draw.rng)}{one}\n\n{two}")
        yield sample.refused("bad-first", f"{prose.before(sample.job, draw.rng)}{two}\n\n{one}")
        yield sample.refused("bare", f"{compact(sample.payload)}\n{compact(other)}")
        yield sample.refused("list", one_line([sample.payload, other]))
    for return_format in (STANDARD, HYPER):
        sample, other = _pair(draw, return_format)
        yield sample.refused("marked-twice", f"{marked(pretty(sample.payload))}\n\n{marked(pretty(other))}")
        text = f"{fence(pretty(sample.payload))}\n\n{fence(SINGLE.write(other))}"
        yield sample.refused("one-damaged", text)
        three = (sample.payload, sample.payload, other)
        yield sample.refused("two-against-one", "\n\n".join(fence(pretty(one)) for one in three))
        moved = copy.deepcopy(sample.payload)
        moved["artifacts"] = [dict(moved["artifacts"][0], path="somewhere/else.md")]
        yield sample.refused("other-artifacts", f"{fence(pretty(sample.payload))}\n\n{fence(pretty(moved))}")


def only_thought(draw: Draw) -> Iterator[Draft]:
    """The return was thought, not said."""
    for opening, closing in (("<think>", "</think>"), ("<thinking>", "</thinking>"), ("", "</think>")):
        for sample in draw.samples(3):
            body = draw.rng.choice((fence(pretty(sample.payload)), compact(sample.payload)))
            thought = f"{opening}\nI would return this:\n\n{body}\n\nBut first one more check.\n{closing}"
            yield sample.refused("closed", f"{thought}\n\n{sample.job.prose[0]}")
            yield sample.refused("nothing-after", thought)


def only_quoted(draw: Draw) -> Iterator[Draft]:
    """The return is a quotation."""
    for sample in draw.samples(4):
        block = quoted(fence(pretty(sample.payload)))
        yield sample.refused("fence", f"You sent me this example:\n\n{block}\n\nShall I start?")
        yield sample.refused("bare", f"The ticket says:\n\n{quoted(pretty(sample.payload))}\n\nI'm on it.")


def only_in_string(draw: Draw) -> Iterator[Draft]:
    """The return is an argument of a tool call, not an answer."""
    for sample in draw.samples(3):
        inner = pretty(sample.payload)
        write = {"name": "Write", "input": {"file_path": "specs/return.json", "content": inner}}
        yield sample.refused("write", at_end(sample, draw.rng, fence(one_line(write))))
        yield sample.refused("write-bare", one_line(write))
        shell = {"tool": "bash", "args": {"command": f"cat > return.json <<'EOF'\n{inner}\nEOF"}}
        yield sample.refused("bash", at_end(sample, draw.rng, fence(pretty(shell))))
        use = {
            "type": "tool_use",
            "id": "toolu_01",
            "name": "Write",
            "input": {"file_path": "r.json", "content": inner},
        }
        yield sample.refused("tool-use", one_line(use))
        test = {"test": "accepts a return", "given": inner, "expect": "accepted"}
        yield sample.refused("fixture", at_end(sample, draw.rng, fence(pretty(test))))


def _yaml(payload: Payload, depth: int = 0) -> str:
    pad = "  " * depth
    lines = []
    for key, value in payload.items():
        if isinstance(value, dict):
            lines.append(f"{pad}{key}:\n{_yaml(value, depth + 1)}")
        elif isinstance(value, list):
            items = [f"{pad}  - {json.dumps(item)}" for item in value]
            lines.append(f"{pad}{key}:\n" + "\n".join(items) if items else f"{pad}{key}: []")
        else:
            lines.append(f"{pad}{key}: {value}")
    return "\n".join(lines)


def other_notations(draw: Draw) -> Iterator[Draft]:
    """What looks like a return and is no JSON."""
    for sample in draw.samples(3, STANDARD, status="completed"):
        load = sample.payload
        yield sample.refused("yaml", at_end(sample, draw.rng, fence(_yaml(load), info="yaml")))
        yield sample.refused("yaml-bare", _yaml(load))
        fields = ", ".join(f"{key}={value!r}" for key, value in load.items())
        yield sample.refused("repr", f"SubagentReturn({fields})")
        told = f"{{status is completed, summary {load['summary']}, session {sample.session_id}, no artifacts}}"
        yield sample.refused("prose-in-braces", at_end(sample, draw.rng, told))
        calls = "".join(f'<parameter name="{key}">{value}</parameter>' for key, value in load.items())
        yield sample.refused("invoke", f'<invoke name="submit_return">{calls}</invoke>')
        pythonic = repr(load).replace(repr(load["artifacts"][0]["path"]), "PosixPath('a.md')")
        yield sample.refused("python-objects", at_end(sample, draw.rng, pythonic))
        yield sample.refused("base64", base64.b64encode(pretty(load).encode()).decode())
        yield sample.refused("url-encoded", urllib.parse.quote(compact(load)))
        tags = "".join(f"<{key}>{value}</{key}>" for key, value in load.items())
        yield sample.refused("xml", f"<return>{tags}</return>")
        toml = (
            f'status = "completed"\nsummary = {json.dumps(load["summary"])}\nartifacts = []\n\n[metadata]\n'
            + "\n".join(f"{key} = {json.dumps(value)}" for key, value in load["metadata"].items())
        )
        yield sample.refused("toml", at_end(sample, draw.rng, fence(toml, info="toml")))
    told = "{the status: completed; the summary: all done; the artifacts: none; the session: mine}"
    yield draw.sample(STANDARD).refused("prose-with-colons", told)
    yield draw.sample(STANDARD).refused("object-at", "<SubagentReturn object at 0x7f3a2c1d9e50>")


CATEGORIES: Final[dict[str, Builder]] = {
    "no-prose-only": prose_only,
    "no-nothing": nothing,
    "no-unrelated": unrelated,
    "no-templates": templates,
    "no-placeholders": placeholders,
    "no-cut-off": cut_off,
    "no-cut-at-joints": cut_at_joints,
    "no-cut-and-told": cut_and_told,
    "no-wrong-session": wrong_session,
    "no-contradicting": contradicting,
    "no-only-thought": only_thought,
    "no-only-quoted": only_quoted,
    "no-only-in-string": only_in_string,
    "no-other-notations": other_notations,
}
