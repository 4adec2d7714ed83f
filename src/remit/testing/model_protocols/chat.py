"""OpenAI's chat completions: `POST /v1/chat/completions`. opencode speaks it, and most other programs."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from remit.testing.model_protocols import StreamEvent, collect_texts, join_text, read_list
from remit.testing.script import Conversation
from remit.testing.tools import read_offer

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from remit.testing.model_protocols import Numbers
    from remit.testing.script import Reply

NAME = "chat"


def matches(path: str) -> bool:
    """Return whether a request to this path speaks so."""
    return path.endswith("/chat/completions")


def read(path: str, body: Mapping[str, Any]) -> Conversation:  # noqa: ARG001 - other protocols need the path
    """Parse a request."""
    messages = read_list(body.get("messages"))
    turns = [(message.get("role"), join_text(message.get("content"))) for message in messages]
    functions = [tool["function"] for tool in read_list(body.get("tools")) if isinstance(tool.get("function"), dict)]
    tools = [read_offer(str(function.get("name")), function.get("parameters")) for function in functions]
    return Conversation(
        messages=tuple((role, text) for role, text in turns if role in {"user", "assistant"}),
        everything=tuple(collect_texts(messages)),
        tools={tool.name: tool for tool in tools},
        model=str(body.get("model")),
        streams=bool(body.get("stream")),
    )


def render(conversation: Conversation, reply: Reply, numbers: Numbers) -> dict[str, Any]:
    """Render the reply as one response."""
    message: dict[str, Any] = {"role": "assistant", "content": reply.text or None}
    if reply.calls:
        message["tool_calls"] = _render_calls(reply)
    choice = {"index": 0, "message": message, "finish_reason": _finish(reply)}
    head = _render_head(conversation, numbers, "chat.completion")
    return head | {"choices": [choice], "usage": _render_usage(numbers)}


def render_events(conversation: Conversation, reply: Reply, numbers: Numbers) -> Iterator[StreamEvent]:
    """Render the reply as a stream of events."""
    head = _render_head(conversation, numbers, "chat.completion.chunk")

    def chunk(delta: dict[str, Any], finish: str | None = None) -> StreamEvent:
        return StreamEvent(head | {"choices": [{"index": 0, "delta": delta, "finish_reason": finish}]})

    yield chunk({"role": "assistant", "content": ""})
    if reply.text:
        yield chunk({"content": reply.text})
    for index, ready in enumerate(_render_calls(reply)):
        yield chunk({"tool_calls": [{"index": index} | ready]})
    yield chunk({}, _finish(reply))
    yield StreamEvent(head | {"choices": [], "usage": _render_usage(numbers)})
    yield StreamEvent("[DONE]")


def _render_head(conversation: Conversation, numbers: Numbers, kind: str) -> dict[str, Any]:
    return {
        "id": f"chatcmpl-{numbers.id}",
        "object": kind,
        "created": numbers.created_s,
        "model": conversation.model,
    }


def _render_calls(reply: Reply) -> list[dict[str, Any]]:
    return [
        {
            "id": f"call_{ready.id}",
            "type": "function",
            "function": {"name": ready.name, "arguments": json.dumps(ready.args)},
        }
        for ready in reply.calls
    ]


def _finish(reply: Reply) -> str:
    return "tool_calls" if reply.calls else "stop"


def _render_usage(numbers: Numbers) -> dict[str, int]:
    total = numbers.input_tokens + numbers.output_tokens
    return {
        "prompt_tokens": numbers.input_tokens,
        "completion_tokens": numbers.output_tokens,
        "total_tokens": total,
    }
