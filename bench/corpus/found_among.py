"""Messages in which the return stands among others like it: snippets, drafts, thoughts, quotations, tool calls."""

from __future__ import annotations

import copy
import json
from typing import TYPE_CHECKING, Final

from . import prose
from .containers import anywhere, fence, in_middle, indented, quoted
from .draw import HYPER, STANDARD, Builder, Draft, Draw, Sample
from .writing import compact, one_line, pretty

if TYPE_CHECKING:
    from collections.abc import Iterator

    from .case import Payload

STANDARD_TEMPLATE: Final = """{
  "status": "completed|partial|failed|blocked",
  "summary": "2-5 sentences, under 100 tokens",
  "artifacts": [
    {"type": "plan|report|summary|implementation|documentation", "path": "relative/path.md", "summary": "..."}
  ],
  "metadata": {
    "session_id": "<session_id>",
    "agent_type": "planner|researcher|...",
    "delegation_depth": 1,
    "delegation_path": ["orchestrator", "..."]
  },
  "errors": [ ... ],
  "next_steps": "..."
}"""
HYPER_TEMPLATE: Final = """{
  "meta": { "agent_name": "string", "status": "complete|partial|error", "execution_time_ms": number },
  "artifacts": [ ... ],
  "next_steps": ["string", "..."]
}"""
_LOOKALIKES: Final = (
    ("health", fence('{"status": "ok"}')),
    ("job-api", fence('{"id": 17, "status": "completed", "progress": 100}')),
    ("api-error", fence('{"status": "failed", "error": {"code": 502, "message": "bad gateway"}}')),
    ("run-list", fence('[{"run": 4, "status": "completed"}, {"run": 5, "status": "failed"}]')),
    ("test-report", fence('{"status": "partial", "summary": {"passed": 51, "failed": 1}, "artifacts": ["junit.xml"]}')),
    (
        "ci-run",
        fence('{"status": "completed", "conclusion": "success", "artifacts": [], "metadata": {"sha": "9f1c2e"}}'),
    ),
    ("meta-only", fence('{"meta": {"charset": "utf-8", "status": "complete"}, "title": "On call"}')),
    ("json-lines", fence('{"level":"info","status":"started"}\n{"level":"info","status":"completed"}', info="")),
    (
        "schema",
        fence(
            '{"type": "object", "required": ["status", "summary", "artifacts", "metadata"], "properties": '
            '{"status": {"enum": ["completed", "partial", "failed", "blocked"]}}}'
        ),
    ),
    (
        "interface",
        fence(
            "interface Return {\n  status: 'completed' | 'partial' | 'failed' | 'blocked';\n"
            "  summary: string;\n  metadata: { session_id: string };\n}",
            info="ts",
        ),
    ),
    ("shell", "`for f in *.json; do jq '{status, summary}' \"$f\"; done`"),
    ("graphql", fence("query { task(id: 7) { status summary artifacts { path } } }", info="graphql")),
    ("diff", fence('-  "status": "partial",\n+  "status": "completed",\n   "artifacts": [', info="diff")),
    ("format-string", 'The log line is `f"{status}: {summary!r} {{raw}}"` now, and `${status}` in the shell part.'),
    ("unbalanced", 'A lone `{` or `"` in the input used to crash the lexer, and so did `}}`. Both are covered now.'),
    ("latex", "The set is \\{ x : \\text{status}(x) = 1 \\}, see equation (3)."),
)


def snippets(draw: Draw) -> Iterator[Draft]:
    """Unrelated blocks before and after."""
    for sample in draw.samples(6):
        block = fence(pretty(sample.payload))
        text = f"{prose.report(sample.job, draw.rng)}\n\n{prose.snippet(sample.job)}\n\nReturn:\n\n{block}"
        yield sample.found("code-before", text)
        text = f"{block}\n\nAppendix, the configuration I used:\n\n{fence(sample.job.config)}\n"
        yield sample.found("config-after", text)
    for sample in draw.samples(3):
        text = f"{sample.job.config}\n\n{one_line(sample.payload)}\n\n{sample.job.code}"
        yield sample.found("all-bare", text)


def lookalikes(draw: Draw) -> Iterator[Draft]:
    """Blocks with the same keys that are no returns."""
    for name, block in _LOOKALIKES:
        sample = draw.sample()
        own = fence(pretty(sample.payload))
        yield sample.found(f"{name}-before", f"{sample.job.prose[0]}\n\n{block}\n\n{prose.lead(draw.rng)}\n\n{own}")
        sample = draw.sample()
        own = draw.rng.choice((fence(pretty(sample.payload)), pretty(sample.payload)))
        yield sample.found(f"{name}-after", f"{prose.before(sample.job, draw.rng)}{own}\n\nFor reference:\n\n{block}\n")


def template_first(draw: Draw) -> Iterator[Draft]:
    """The format is repeated, then filled in."""
    for return_format, template in ((STANDARD, STANDARD_TEMPLATE),) * 5 + ((HYPER, HYPER_TEMPLATE),) * 3:
        sample = draw.sample(return_format)
        form = draw.rng.choice((fence(template), template, quoted(template)))
        text = f"The required format is:\n\n{form}\n\nMy return:\n\n{fence(pretty(sample.payload))}"
        yield sample.found("template-first", text)


def _earlier(draw: Draw, sample: Sample) -> Payload:
    """A return of the same session that says something else."""
    status = {STANDARD: ("partial", "completed"), HYPER: ("partial", "complete")}[sample.return_format]
    now = sample.payload.get("status") or sample.payload["meta"]["status"]
    other = draw.sample(sample.return_format, status=status[0] if now != status[0] else status[1], job=sample.job)
    payload = copy.deepcopy(other.payload)
    if "metadata" in payload:
        payload["metadata"]["session_id"] = sample.session_id
    return payload


_DRAFT_LABELS: Final = (
    ("Draft return:", "Final return:"),
    ("DRAFT (do not use):", "FINAL:"),
    ("First draft of the return, before the last test run:", "Final version of the return:"),
    ("### Draft", "### Final"),
    ("Preliminary return (superseded):", "Final return, replaces the one above:"),
)


def drafts(draw: Draw) -> Iterator[Draft]:
    """A labelled draft, then the final return."""
    for first, last in _DRAFT_LABELS:
        for sample in draw.samples(2):
            draft = _earlier(draw, sample)
            text = (
                f"{sample.job.prose[0]}\n\n{first}\n\n{fence(pretty(draft))}\n\nAll checks are through now.\n\n"
                f"{last}\n\n{fence(pretty(sample.payload))}"
            )
            yield sample.found("labelled", text, may_refuse=True)


def twice(draw: Draw) -> Iterator[Draft]:
    """The same return more than once."""
    for sample in draw.samples(3):
        body = pretty(sample.payload)
        yield sample.found("fences", f"{fence(body)}\n\n{prose.report(sample.job, draw.rng)}\n\n{fence(body)}")
        yield sample.found("compact-then-pretty", f"{compact(sample.payload)}\n\nReadable:\n\n{fence(body)}")
        yield sample.found("fence-then-bare", f"{fence(body)}\n\nAnd once more for the parser:\n\n{body}")
        turned = dict(reversed(sample.payload.items()))
        yield sample.found("other-order", f"{fence(body)}\n\n{fence(pretty(turned))}")


_THOUGHTS: Final = (
    ("think", "<think>\n", "\n</think>"),
    ("thinking", "<thinking>\n", "\n</thinking>"),
    ("lone-close", "", "\n</think>"),
    ("lone-thinking-close", "", "\n</thinking>"),
    ("one-line", "<think>", "</think>"),
)


def thinking(draw: Draw) -> Iterator[Draft]:
    """A contradicting draft inside the thoughts, the answer outside."""
    for name, opening, closing in _THOUGHTS:
        for sample in draw.samples(4):
            draft = _earlier(draw, sample)
            body = draw.rng.choice((fence(pretty(draft)), compact(draft)))
            thought = f"{opening}Let me draft the return first.\n\n{body}\n\nHmm, no, the tests ran since.{closing}"
            after = draw.rng.choice((fence(pretty(sample.payload)), pretty(sample.payload)))
            yield sample.found(name, f"{thought}\n\n{prose.opening(sample.job, draw.rng)}\n\n{after}")
    for sample in draw.samples(3):
        thought = '<think>I need {"status": ...}, the "summary" and so on. What\'s the path? {a, b</think>'
        yield sample.found("fragments", f"{thought}\n{fence(pretty(sample.payload))}")
        thought = f"<think>{sample.job.prose[1]}</think>\n<think>Now the return.</think>"
        yield sample.found("two-thoughts", f"{thought}\n{pretty(sample.payload)}")
        same = fence(pretty(sample.payload))
        yield sample.found("same-inside", f"<think>\n{same}\n</think>\n\n{same}")
        yield sample.found("thought-after", f"{same}\n\n<think>Did I forget anything? No.</think>")


def thinking_mentioned(draw: Draw) -> Iterator[Draft]:
    """The tags are only talked about."""
    for sample in draw.samples(2):
        block = fence(pretty(sample.payload))
        yield sample.found("in-code-span", f"The filter now drops `<think>` blocks that never end.\n\n{block}")
        yield sample.found("in-code", f"```python\nOPEN = '<think>'\n```\n\n{block}")
        yield sample.found("close-after", f"{block}\n\nP.S. the parser now knows `</think>` as well.")
    for sample in draw.samples(2, STANDARD, status="completed"):
        told = "The reader now removes <think> and </think> before it looks for JSON. Two tests were added."
        named = sample.having(sample.payload | {"summary": told})
        yield named.found("in-summary", in_middle(named, draw.rng, fence(pretty(named.payload))))
        told = "Text after a lone </thinking> tag is kept now. Text before it is dropped."
        named = sample.having(sample.payload | {"summary": told})
        yield named.found("close-in-summary", in_middle(named, draw.rng, pretty(named.payload)))


def other_thoughts(draw: Draw) -> Iterator[Draft]:
    """Thoughts in the notations of other models, with a draft of another session's id or none inside."""
    for sample in draw.samples(2):
        body = fence(pretty(sample.payload))
        thought = "I should return completed, with the plan as the only artifact."
        yield sample.found(
            "harmony", f"<|channel|>analysis<|message|>{thought}<|end|><|channel|>final<|message|>{body}"
        )
        yield sample.found("reasoning", f"<reasoning>{thought} {{status: maybe}}</reasoning>\n\n{body}")
        yield sample.found("scratchpad", f"<scratchpad>\n{thought}\n{{\n</scratchpad>\n{body}")
        yield sample.found("bracket", f"[THINK]{thought}[/THINK]{body}")


_QUOTATIONS: Final = (
    ("fence", "The planner before me returned this:", fence),
    ("blockquote", "For context, the return of the research step:", lambda text: quoted(fence(text))),
    ("list", "- Return of the helper I called:", lambda text: indented(fence(text), "  ")),
    ("bare", "Helper's answer was:", lambda text: text),
    ("log", "From the log of the last run:", lambda text: "2026-02-01 11:02:44 return=" + " ".join(text.split())),
)


def other_sessions(draw: Draw) -> Iterator[Draft]:
    """A return of another session is quoted beside the own one."""
    for name, lead, wrap in _QUOTATIONS:
        for _ in range(2):
            sample, other = draw.sample(STANDARD), draw.sample(STANDARD)
            foreign, own = wrap(pretty(other.payload)), fence(pretty(sample.payload))
            yield sample.found(
                f"{name}-first", f"{sample.job.prose[0]}\n\n{lead}\n\n{foreign}\n\nMy own return:\n\n{own}"
            )
            yield sample.found(f"{name}-last", f"{own}\n\n{lead}\n\n{foreign}\n")
    for _ in range(2):
        sample, other, third = (draw.sample(STANDARD) for _ in range(3))
        team = "\n\n".join(fence(pretty(one.payload)) for one in (other, sample, third))
        yield sample.found("own-among-three", f"Returns of the whole team, mine is one of them:\n\n{team}")
        nested = fence(pretty({"collected": [other.payload, third.payload]}))
        yield sample.found("collected", f"{nested}\n\n{fence(pretty(sample.payload))}")


def _tool_calls(inner: str) -> tuple[tuple[str, str], ...]:
    return (
        ("write", one_line({"name": "Write", "input": {"file_path": "specs/return.json", "content": inner}})),
        ("bash", one_line({"tool": "bash", "args": {"command": f"cat > .return-meta.json <<'EOF'\n{inner}\nEOF"}})),
        ("tool-use", pretty({"type": "tool_use", "id": "toolu_01", "name": "Write", "input": {"content": inner}})),
        ("fixture", pretty({"test": "accepts a return", "given": inner, "expect": "accepted"})),
        ("openai", one_line({"function": {"name": "write_file", "arguments": json.dumps({"content": inner})}})),
    )


def in_strings(draw: Draw) -> Iterator[Draft]:
    """A return stands inside a string of another JSON, the own one beside it."""
    for index in range(5):
        for return_format in (STANDARD, draw.rng.choice((STANDARD, HYPER))):
            sample = draw.sample(return_format)
            draft = _earlier(draw, sample)
            name, call = _tool_calls(pretty(draft))[index]
            own = fence(pretty(sample.payload))
            yield sample.found(f"{name}-before", f"Last call:\n\n{fence(call)}\n\n{prose.lead(draw.rng)}\n\n{own}")
            yield sample.found(f"{name}-after", f"{own}\n\nThe call that wrote the fixture:\n\n{fence(call)}")


def corrected(draw: Draw) -> Iterator[Draft]:
    """A first attempt breaks the format, the second one keeps it."""
    for sample in draw.samples(3, STANDARD, status="completed"):
        wrong = sample.payload | {"status": "Completed"}
        text = f"{fence(pretty(wrong))}\n\nThe status must be lower case, corrected:\n\n{fence(pretty(sample.payload))}"
        yield sample.found("case", text)
        short = {key: value for key, value in sample.payload.items() if key != "metadata"}
        text = f"{fence(pretty(short))}\n\nI forgot the metadata. Complete return:\n\n{fence(pretty(sample.payload))}"
        yield sample.found("forgotten", text)
        early = compact(sample.payload | {"status": "in_progress", "artifacts": []})
        yield sample.found("progress", f"{early}\n{compact(sample.payload)}\n")
    for sample in draw.samples(2):
        body = pretty(sample.payload)
        cut = body[: len(body) // 3]
        yield sample.found("cut-then-whole", f"```json\n{cut}\n```\n\nThat was cut off, again:\n\n{fence(body)}")
        text = f"Return: {{ ... }} (filled in below)\n\n{anywhere(sample, draw.rng, fence(body))}"
        yield sample.found("dots-then-whole", text)


CATEGORIES: Final[dict[str, Builder]] = {
    "snippets": snippets,
    "lookalikes": lookalikes,
    "template-first": template_first,
    "drafts": drafts,
    "twice": twice,
    "thinking": thinking,
    "thinking-mentioned": thinking_mentioned,
    "other-thoughts": other_thoughts,
    "other-sessions": other_sessions,
    "in-strings": in_strings,
    "corrected": corrected,
}
