"""Anthropic's Messages: `POST /v1/messages`. Claude Code speaks it."""

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

NAME = "anthropic"


def matches(path: str) -> bool:
    """Return whether a request to this path speaks so."""
    return path.endswith("/messages")


def read(path: str, body: Mapping[str, Any]) -> Conversation:  # noqa: ARG001 - other protocols need the path
    """Parse a request."""
    messages = read_list(body.get("messages"))
    turns = [(message.get("role"), join_text(message.get("content"))) for message in messages]
    tools = [read_offer(str(tool.get("name")), tool.get("input_schema")) for tool in read_list(body.get("tools"))]
    return Conversation(
        messages=tuple((role, text) for role, text in turns if role in {"user", "assistant"}),
        everything=tuple(collect_texts([body.get("system"), messages])),
        tools={tool.name: tool for tool in tools},
        model=str(body.get("model")),
        streams=bool(body.get("stream")),
    )


def render(conversation: Conversation, reply: Reply, numbers: Numbers) -> dict[str, Any]:
    """Render the reply as one response."""
    content: list[dict[str, Any]] = [{"type": "text", "text": reply.text}] if reply.text else []
    content += [
        {"type": "tool_use", "id": f"toolu_{call.id}", "name": call.name, "input": call.args} for call in reply.calls
    ]
    usage = {
        "input_tokens": numbers.input_tokens,
        "output_tokens": numbers.output_tokens,
        "cache_creation_input_tokens": 0,
        "cache_read_input_tokens": 0,
    }
    return {
        "id": f"msg_{numbers.id}",
        "type": "message",
        "role": "assistant",
        "model": conversation.model,
        "content": content,
        "stop_reason": "tool_use" if reply.calls else "end_turn",
        "stop_sequence": None,
        "usage": usage,
    }


def render_events(conversation: Conversation, reply: Reply, numbers: Numbers) -> Iterator[StreamEvent]:
    """Render the reply as a stream of events."""
    whole = render(conversation, reply, numbers)
    begun = whole | {"content": [], "stop_reason": None, "usage": whole["usage"] | {"output_tokens": 1}}
    yield _event("message_start", message=begun)
    for index, block in enumerate(whole["content"]):
        empty: dict[str, Any] = {"text": ""}
        delta = {"type": "text_delta", "text": block.get("text")}
        if block["type"] == "tool_use":
            empty, delta = {"input": {}}, {"type": "input_json_delta", "partial_json": json.dumps(block["input"])}
        yield _event("content_block_start", index=index, content_block=block | empty)
        yield _event("content_block_delta", index=index, delta=delta)
        yield _event("content_block_stop", index=index)
    stop = {"stop_reason": whole["stop_reason"], "stop_sequence": None}
    yield _event("message_delta", delta=stop, usage={"output_tokens": numbers.output_tokens})
    yield _event("message_stop")


def _event(name: str, **data: object) -> StreamEvent:
    return StreamEvent({"type": name, **data}, name)
