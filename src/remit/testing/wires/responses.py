"""OpenAI's Responses: `POST /v1/responses`. Codex speaks it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Literal

from remit.testing.script import Conversation
from remit.testing.tools import read_offer
from remit.testing.wires import Event, collect_texts, join_text, read_list

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from remit.testing.script import Reply
    from remit.testing.tools import Offer
    from remit.testing.wires import Numbers

NAME = "responses"

_GIVEN_BY_MODEL = {"function_call", "custom_tool_call", "local_shell_call", "reasoning"}


def matches(path: str) -> bool:
    """Whether a request to this path speaks so."""
    return path.endswith("/responses")


def read(path: str, body: Mapping[str, Any]) -> Conversation:  # noqa: ARG001 - other wires need the path
    """What a request says."""
    given = body.get("input")
    items = [{"role": "user", "content": given}] if isinstance(given, str) else read_list(given)
    return Conversation(
        said=tuple(_read_turns(items)),
        everything=tuple(collect_texts([body.get("instructions"), items])),
        tools={tool.name: tool for tool in _read_tools(body)},
        model=str(body.get("model")),
        streams=bool(body.get("stream")),
    )


def _read_turns(items: list[dict[str, Any]]) -> Iterator[tuple[Literal["user", "assistant"], str]]:
    """What was said. Whatever the model gave in a row is one turn of it."""
    in_turn = False
    for item in items:
        kind, role = item.get("type", "message"), item.get("role")
        by_model = kind in _GIVEN_BY_MODEL or (kind == "message" and role == "assistant")
        if by_model and not in_turn:
            yield "assistant", join_text(item.get("content"))
        elif kind == "message" and role == "user":
            yield "user", join_text(item.get("content"))
        in_turn = by_model


def _read_tools(body: Mapping[str, Any]) -> Iterator[Offer]:
    for tool in read_list(body.get("tools")):
        if tool.get("type") == "namespace":
            for inner in read_list(tool.get("tools")):
                yield read_offer(str(inner.get("name")), inner.get("parameters"), str(tool.get("name")))
        elif isinstance(tool.get("name"), str):
            yield read_offer(tool["name"], tool.get("parameters"))


def render(conversation: Conversation, reply: Reply, numbers: Numbers) -> dict[str, Any]:
    """The answer in one piece."""
    usage = {
        "input_tokens": numbers.input_tokens,
        "input_tokens_details": {"cached_tokens": 0},
        "output_tokens": numbers.output_tokens,
        "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": numbers.input_tokens + numbers.output_tokens,
    }
    return {
        "id": f"resp_{numbers.id}",
        "object": "response",
        "created_at": numbers.created_s,
        "model": conversation.model,
        "status": "completed",
        "output": [*_render_items(reply, numbers)],
        "usage": usage,
        "error": None,
        "incomplete_details": None,
        "instructions": None,
        "metadata": {},
        "parallel_tool_calls": True,
        "temperature": 1.0,
        "tool_choice": "auto",
        "tools": [],
        "top_p": 1.0,
    }


def _render_items(reply: Reply, numbers: Numbers) -> Iterator[dict[str, Any]]:
    if reply.text:
        part = {"type": "output_text", "text": reply.text, "annotations": []}
        yield {
            "type": "message",
            "id": f"msg_{numbers.id}",
            "role": "assistant",
            "status": "completed",
            "content": [part],
        }
    for ready in reply.calls:
        yield {
            "type": "function_call",
            "id": f"fc_{ready.id}",
            "call_id": f"call_{ready.id}",
            "name": ready.name,
            "arguments": json.dumps(ready.args),
            "status": "completed",
        } | ({"namespace": ready.namespace} if ready.namespace else {})


def render_events(conversation: Conversation, reply: Reply, numbers: Numbers) -> Iterator[Event]:
    """The answer as a stream."""
    for number, (kind, data) in enumerate(_render_steps(render(conversation, reply, numbers))):
        yield Event({"type": kind, "sequence_number": number} | data, kind)


def _render_steps(whole: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    yield "response.created", {"response": whole | {"status": "in_progress", "output": [], "usage": None}}
    for index, item in enumerate(whole["output"]):
        is_message = item["type"] == "message"
        empty: dict[str, Any] = {"content": []} if is_message else {"arguments": ""}
        at = {"output_index": index}
        yield "response.output_item.added", at | {"item": item | {"status": "in_progress"} | empty}
        at |= {"item_id": item["id"]}
        yield from _render_text(item, at) if is_message else _render_arguments(item, at)
        yield "response.output_item.done", {"output_index": index, "item": item}
    yield "response.completed", {"response": whole}


def _render_text(item: dict[str, Any], at: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    part, place = item["content"][0], at | {"content_index": 0}
    yield "response.content_part.added", place | {"part": part | {"text": ""}}
    yield "response.output_text.delta", place | {"delta": part["text"]}
    yield "response.output_text.done", place | {"text": part["text"]}
    yield "response.content_part.done", place | {"part": part}


def _render_arguments(item: dict[str, Any], at: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    yield "response.function_call_arguments.delta", at | {"delta": item["arguments"]}
    yield "response.function_call_arguments.done", at | {"arguments": item["arguments"]}
