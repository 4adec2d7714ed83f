"""Gemini: `POST /v1beta/models/MODEL:generateContent` and `:streamGenerateContent`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from remit.testing.model_protocols import StreamEvent, collect_texts, join_text, read_list
from remit.testing.script import Conversation
from remit.testing.tools import read_offer

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from remit.testing.model_protocols import Numbers
    from remit.testing.script import Reply

NAME = "gemini"


def matches(path: str) -> bool:
    """Return whether a request to this path speaks so."""
    return path.endswith((":generateContent", ":streamGenerateContent"))


def read(path: str, body: Mapping[str, Any]) -> Conversation:
    """Parse a request."""
    contents = read_list(body.get("contents"))
    tools = [
        read_offer(str(one.get("name")), one.get("parametersJsonSchema") or one.get("parameters"))
        for tool in read_list(body.get("tools"))
        for one in read_list(tool.get("functionDeclarations"))
    ]
    return Conversation(
        messages=tuple(
            ("assistant" if content.get("role") == "model" else "user", join_text(content.get("parts")))
            for content in contents
        ),
        everything=tuple(collect_texts([body.get("systemInstruction"), contents])),
        tools={tool.name: tool for tool in tools},
        model=path.rpartition("/")[2].partition(":")[0],
        streams=path.endswith(":streamGenerateContent"),
    )


def render(conversation: Conversation, reply: Reply, numbers: Numbers) -> dict[str, Any]:
    """Render the reply as one response."""
    parts: list[dict[str, Any]] = [{"text": reply.text}] if reply.text else []
    parts += [{"functionCall": {"id": ready.id, "name": ready.name, "args": ready.args}} for ready in reply.calls]
    candidate = {"index": 0, "content": {"role": "model", "parts": parts}, "finishReason": "STOP"}
    usage = {
        "promptTokenCount": numbers.input_tokens,
        "candidatesTokenCount": numbers.output_tokens,
        "totalTokenCount": numbers.input_tokens + numbers.output_tokens,
    }
    return {
        "candidates": [candidate],
        "modelVersion": conversation.model,
        "responseId": numbers.id,
        "usageMetadata": usage,
    }


def render_events(conversation: Conversation, reply: Reply, numbers: Numbers) -> Iterator[StreamEvent]:
    """Render the reply as a stream: the text in the first event, everything else in the second."""
    whole = render(conversation, reply, numbers)
    parts = whole["candidates"][0]["content"]["parts"]
    begun = [part for part in parts if "text" in part]
    yield StreamEvent({"candidates": [{"index": 0, "content": {"role": "model", "parts": begun}}]})
    rest = whole["candidates"][0] | {"content": {"role": "model", "parts": parts[len(begun) :]}}
    yield StreamEvent(whole | {"candidates": [rest]})
