"""Messages in which the return is wrapped once more: in a string, a harness's envelope, HTML."""

from __future__ import annotations

import copy
import html
import json
from typing import TYPE_CHECKING, Any, Final

from . import writing
from .containers import at_end, fence, in_middle, marked
from .draw import HYPER, STANDARD, Builder, Draft, Draw, Sample
from .writing import SINGLE, compact, escaped, one_line, pretty

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_HARNESS_ID: Final = "5f0c1d1e-7f0b-4c37-9a53-0d3f6c0a7be2"


def json_strings(draw: Draw) -> Iterator[Draft]:
    """JSON inside a JSON string, once or twice."""
    for sample in draw.samples(4):
        yield sample.found("once", json.dumps(pretty(sample.payload)))
    for sample in draw.samples(3):
        yield sample.found("twice", json.dumps(json.dumps(compact(sample.payload))))
    for sample in draw.samples(3):
        yield sample.found("message-in-string", json.dumps(at_end(sample, draw.rng, fence(pretty(sample.payload)))))
    for sample in draw.samples(3):
        yield sample.found("fenced-string", at_end(sample, draw.rng, fence(json.dumps(compact(sample.payload)))))


def escaped_objects(draw: Draw) -> Iterator[Draft]:
    """Backslashes before every quote, but no outer quotes."""
    for sample in draw.samples(4):
        yield sample.found("one-line", escaped(one_line(sample.payload)))
    for sample in draw.samples(4):
        yield sample.found("with-newlines", escaped(pretty(sample.payload)))
    for sample in draw.samples(3):
        yield sample.found("fenced", at_end(sample, draw.rng, fence(escaped(compact(sample.payload)))))
    for sample in draw.samples(2):
        yield sample.found("whole-message", escaped(at_end(sample, draw.rng, fence(pretty(sample.payload)))))


def result_line(text: str) -> str:
    """The last line of a Claude Code run."""
    return compact(
        {
            "type": "result",
            "subtype": "success",
            "is_error": False,
            "duration_ms": 48_211,
            "num_turns": 14,
            "result": text,
            "session_id": _HARNESS_ID,
            "total_cost_usd": 0.4117,
            "usage": {"input_tokens": 18, "output_tokens": 1922},
        }
    )


def _stream(text: str) -> str:
    said = {"id": "msg_01", "role": "assistant", "content": [{"type": "text", "text": text}]}
    lines: tuple[Any, ...] = (
        {"type": "system", "subtype": "init", "session_id": _HARNESS_ID, "tools": ["Read", "Write", "Bash"]},
        {
            "type": "assistant",
            "message": {
                "role": "assistant",
                "content": [{"type": "tool_use", "id": "toolu_01", "name": "Bash", "input": {"command": "make test"}}],
            },
        },
        {
            "type": "user",
            "message": {
                "role": "user",
                "content": [{"type": "tool_result", "tool_use_id": "toolu_01", "content": "52 passed"}],
            },
        },
        {"type": "assistant", "message": said, "session_id": _HARNESS_ID},
    )
    return "\n".join([*map(compact, lines), result_line(text)]) + "\n"


def _chat(text: str) -> str:
    choice = {"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"}
    return pretty({"id": "chatcmpl-9", "object": "chat.completion", "model": "gpt-5", "choices": [choice]})


def _responses(text: str) -> str:
    said = {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": text}]}
    return pretty({"id": "resp_1", "object": "response", "status": "completed", "output": [said]})


def _message(text: str) -> str:
    return pretty(
        {
            "id": "msg_01",
            "type": "message",
            "role": "assistant",
            "stop_reason": "end_turn",
            "content": [{"type": "text", "text": text}],
        }
    )


def _gemini(text: str) -> str:
    return pretty({"response": text, "stats": {"models": {"gemini-3-pro": {"tokens": {"total": 9122}}}}})


def _candidates(text: str) -> str:
    return pretty({"candidates": [{"content": {"role": "model", "parts": [{"text": text}]}, "finishReason": "STOP"}]})


def _codex(text: str) -> str:
    return "\n".join(
        compact(line)
        for line in (
            {"type": "thread.started", "thread_id": _HARNESS_ID},
            {"type": "item.completed", "item": {"id": "item_0", "type": "reasoning", "text": "**Checking the plan**"}},
            {"type": "item.completed", "item": {"id": "item_1", "type": "agent_message", "text": text}},
            {"type": "turn.completed", "usage": {"input_tokens": 2104, "output_tokens": 318}},
        )
    )


def _opencode(text: str) -> str:
    return "\n".join(
        compact(line)
        for line in (
            {"type": "step_start", "sessionID": "ses_4f1", "part": {"type": "step-start"}},
            {"type": "text", "sessionID": "ses_4f1", "part": {"type": "text", "text": text}},
            {"type": "step_finish", "sessionID": "ses_4f1", "part": {"type": "step-finish", "reason": "stop"}},
        )
    )


_TEXT_ENVELOPES: Final[tuple[tuple[str, Callable[[str], str]], ...]] = (
    ("claude-result", result_line),
    ("claude-stream", _stream),
    ("chat-completion", _chat),
    ("responses", _responses),
    ("message", _message),
    ("content-list", lambda text: one_line([{"type": "text", "text": text}])),
    ("gemini", _gemini),
    ("candidates", _candidates),
    ("codex", _codex),
    ("opencode", _opencode),
    ("role-content", lambda text: one_line({"role": "assistant", "content": text})),
    ("output-text", lambda text: one_line({"output": text})),
    ("result-text", lambda text: one_line({"result": text, "exit_code": 0})),
)


def envelopes(draw: Draw) -> Iterator[Draft]:
    """The envelopes of the harnesses, around a whole message or a bare object."""
    for name, envelope in _TEXT_ENVELOPES:
        for sample in draw.samples(2):
            yield sample.found(name, envelope(at_end(sample, draw.rng, fence(pretty(sample.payload)))))
        sample = draw.sample()
        yield sample.found(f"{name}-bare", envelope(draw.rng.choice((pretty, compact))(sample.payload)))


_SERVER_ENVELOPES: Final[tuple[tuple[str, Callable[[str], Any]], ...]] = (
    ("mcp", lambda text: {"content": [{"type": "text", "text": text}], "isError": False}),
    ("mcp-rpc", lambda text: {"jsonrpc": "2.0", "id": 4, "result": {"content": [{"type": "text", "text": text}]}}),
    ("bedrock", lambda text: {"output": {"message": {"role": "assistant", "content": [{"text": text}]}}}),
    ("ollama", lambda text: {"model": "qwen3", "message": {"role": "assistant", "content": text}, "done": True}),
    ("ollama-generate", lambda text: {"model": "qwen3", "response": text, "done": True, "eval_count": 211}),
    ("langchain", lambda text: {"lc": 1, "type": "constructor", "kwargs": {"content": text, "type": "ai"}}),
    ("text", lambda text: {"text": text, "finish_reason": "COMPLETE"}),
    (
        "a2a",
        lambda text: {
            "id": "t1",
            "status": {"state": "completed"},
            "artifacts": [{"parts": [{"kind": "text", "text": text}]}],
        },
    ),
    ("event", lambda text: {"event": "agent.final", "payload": {"message": text}}),
)


def server_envelopes(draw: Draw) -> Iterator[Draft]:
    """What model servers and agent protocols put around a message."""
    for name, envelope in _SERVER_ENVELOPES:
        for style in (pretty, compact):
            sample = draw.sample()
            body = draw.rng.choice((fence(pretty(sample.payload)), compact(sample.payload)))
            yield sample.found(name, style(envelope(body)), may_refuse=name in {"langchain", "a2a", "event"})
    for sample in draw.samples(2):
        held = {"content": [{"type": "text", "text": "See structured content."}], "structuredContent": sample.payload}
        yield sample.found("mcp-structured", compact(held))


def reasoning_fields(draw: Draw) -> Iterator[Draft]:
    """Thoughts in fields of their own, with a contradicting draft; the answer beside them."""
    for _ in range(3):
        sample = draw.sample(STANDARD, status="completed")
        other = copy.deepcopy(draw.sample(STANDARD, status="failed", job=sample.job).payload)
        other["metadata"]["session_id"] = sample.session_id
        text, thought = fence(pretty(sample.payload)), f"Perhaps {compact(other)}? No, the tests are green."
        message = {"role": "assistant", "reasoning_content": thought, "content": text}
        yield sample.found("chat", pretty({"object": "chat.completion", "choices": [{"index": 0, "message": message}]}))
        blocks = [{"type": "thinking", "thinking": thought, "signature": "x"}, {"type": "text", "text": text}]
        yield sample.found("blocks", pretty({"type": "message", "role": "assistant", "content": blocks}))
        parts = [{"text": thought, "thought": True}, {"text": text}]
        yield sample.found("parts", compact({"candidates": [{"content": {"role": "model", "parts": parts}}]}))
        items = [
            {"type": "reasoning", "summary": [{"type": "summary_text", "text": thought}]},
            {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": text}]},
        ]
        yield sample.found("items", compact({"object": "response", "output": items}))


def object_envelopes(draw: Draw) -> Iterator[Draft]:
    """The return as a member of another object."""
    for key in ("return", "result", "response", "output", "final_answer", "data", "subagent_return", "content"):
        sample = draw.sample()
        yield sample.found(key, pretty({key: sample.payload}))
    for sample in draw.samples(3):
        block = fence(pretty({"return": sample.payload}))
        yield sample.found("fenced", at_end(sample, draw.rng, block))
        beside = {"type": "agent_finished", "agent": sample.job.agent, "return": sample.payload, "elapsed_ms": 1204}
        yield sample.found("beside-others", compact(beside))
        structured = {"type": "result", "is_error": False, "result": "", "structured_output": sample.payload}
        yield sample.found("structured-output", compact(structured))


def damaged_envelopes(draw: Draw) -> Iterator[Draft]:
    """A damaged return inside a sound envelope."""
    for name, envelope in _TEXT_ENVELOPES[:8]:
        for sample in draw.samples(2):
            body = draw.rng.choice(
                (
                    writing.trailing_commas(pretty(sample.payload)),
                    SINGLE.write(sample.payload),
                    writing.comments(pretty(sample.payload), draw.rng, mark="//"),
                )
            )
            yield sample.found(name, envelope(at_end(sample, draw.rng, fence(body))))
    for name, envelope in _TEXT_ENVELOPES[:4]:
        sample = draw.sample(HYPER)
        yield sample.found(f"{name}-marked", envelope(in_middle(sample, draw.rng, marked(pretty(sample.payload)))))
        sample = draw.sample(STANDARD)
        thought = f"<think>Almost. {{</think>\n{fence(pretty(sample.payload))}"
        yield sample.found(f"{name}-thought", envelope(thought))


def _html_wraps(sample: Sample) -> tuple[tuple[str, str], ...]:
    body, line = pretty(sample.payload), compact(sample.payload)
    numeric = html.escape(line, quote=False).replace('"', "&#34;")
    named = html.escape(body)
    return (
        ("whole", named),
        ("numeric", numeric),
        ("pre", f'<pre><code class="language-json">{named}</code></pre>'),
        ("paragraph", f"<p>Done.</p>\n<p>{html.escape(line)}</p>"),
        ("fenced", f"Return:\n\n```json\n{named}\n```"),
    )


def html_escaped(draw: Draw) -> Iterator[Draft]:
    """Quotes written as entities."""
    for index in range(5):
        for sample in draw.samples(2):
            name, text = _html_wraps(sample)[index]
            yield sample.found(name, text)
    for sample in draw.samples(2, STANDARD, status="completed"):
        told = sample.having(sample.payload | {"summary": "Lexer & parser now agree on a < b. Tests pass."})
        yield told.found("ampersand", html.escape(pretty(told.payload)))
    for sample in draw.samples(2, STANDARD, status="completed"):
        told = sample.having(sample.payload | {"summary": "Writes &quot; as an entity and &amp; too. Tests pass."})
        yield told.found("entities-stay", at_end(told, draw.rng, fence(pretty(told.payload))))


CATEGORIES: Final[dict[str, Builder]] = {
    "json-strings": json_strings,
    "escaped-objects": escaped_objects,
    "envelopes": envelopes,
    "server-envelopes": server_envelopes,
    "reasoning-fields": reasoning_fields,
    "object-envelopes": object_envelopes,
    "damaged-envelopes": damaged_envelopes,
    "html-escaped": html_escaped,
}
