"""OpenAI's Responses: `POST /v1/responses`. Codex speaks it.

Models that Codex knows by name get more than others: tools come in an item of the input (`additional_tools`), a custom
tool `exec` runs JavaScript that calls most of them (code mode), and what agents send each other is encrypted by the
server. Here "encrypted" means sealed: a text that was changed since is refused, as OpenAI does.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import re
from typing import TYPE_CHECKING, Any, Literal

from remit.harnesses import codex
from remit.testing.model_protocols import StreamEvent, collect_texts, join_text, read_list
from remit.testing.script import Conversation
from remit.testing.tools import Offer, read_offer

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from remit.testing.model_protocols import Numbers
    from remit.testing.script import Reply

NAME = "responses"

_GIVEN_BY_MODEL = {"function_call", "custom_tool_call", "local_shell_call", "reasoning"}
_CODE = "exec"
"""The custom tool that runs JavaScript."""
_NESTED = re.compile(r"declare const tools: \{ (\w+)\((input: string|args: \{[^}]*\})\): Promise")
_KEY = re.compile(r"^  (\w+)\??:", re.MULTILINE)
_SEAL, _SECRET = "gAAAAA", b"scripted"


def matches(path: str) -> bool:
    """Return whether a request to this path speaks so."""
    return path.endswith("/responses")


def read(path: str, body: Mapping[str, Any]) -> Conversation:  # noqa: ARG001 - other protocols need the path
    """Parse a request."""
    given = body.get("input")
    items = [{"role": "user", "content": given}] if isinstance(given, str) else read_list(given)
    offered = [*read_list(body.get("tools"))]
    for item in items:
        offered += read_list(item.get("tools")) if item.get("type") == "additional_tools" else []
    try:
        messages, refusal = tuple(_read_turns(items)), ""
    except _BrokenSealError as error:
        messages, refusal = (), str(error)
    return Conversation(
        messages=messages,
        everything=tuple(collect_texts([body.get("instructions"), items])),
        tools={tool.name: tool for tool in _read_tools(offered)},
        model=str(body.get("model")),
        streams=bool(body.get("stream")),
        refusal=refusal,
    )


class _BrokenSealError(ValueError):
    """An encrypted text is from another server, or was changed."""


def seal(text: str) -> str:
    """Encrypt a text so that only the server can read it (here: encode and sign it)."""
    data = text.encode()
    return _SEAL + base64.urlsafe_b64encode(_sign(data) + data).decode()


def open_seal(sealed: str) -> str:
    """Decrypt a text. Raises if a byte was changed."""
    try:
        data = base64.b64decode(sealed.removeprefix(_SEAL), altchars=b"-_", validate=True)
    except ValueError:
        data = b""
    if not sealed.startswith(_SEAL) or not hmac.compare_digest(data[:16], _sign(data[16:])):
        raise _BrokenSealError(
            f"The encrypted content {sealed[:4]}... could not be verified. "
            "Reason: Encrypted content could not be decrypted or parsed."
        )
    return data[16:].decode()


def _sign(data: bytes) -> bytes:
    return hmac.digest(_SECRET, data, hashlib.sha256)[:16]


def _read_turns(items: list[dict[str, Any]]) -> Iterator[tuple[Literal["user", "assistant"], str]]:
    """Yield the messages of a conversation. Successive items of the model are one turn."""
    in_turn = False
    for item in items:
        kind, role = item.get("type", "message"), item.get("role")
        by_model = kind in _GIVEN_BY_MODEL or (kind == "message" and role == "assistant")
        if by_model and not in_turn:
            yield "assistant", join_text(item.get("content"))
        elif kind == "message" and role == "user":
            yield "user", join_text(item.get("content"))
        elif kind == codex.MESSAGE_ITEM:
            yield "user", "\n".join(_open_parts(item))
        in_turn = by_model


def _open_parts(item: Mapping[str, Any]) -> Iterator[str]:
    """Yield the text of a message between agents, which may be encrypted."""
    for part in read_list(item.get("content")):
        if part.get("type") == "encrypted_content":
            yield open_seal(str(part.get("encrypted_content")))
        else:
            yield str(part.get("text", ""))


def _read_tools(tools: list[dict[str, Any]]) -> Iterator[Offer]:
    for tool in tools:
        if tool.get("type") == "namespace":
            for inner in read_list(tool.get("tools")):
                yield from _read_tool(inner, str(tool.get("name")))
        elif isinstance(tool.get("name"), str):
            yield from _read_tool(tool, None)


def _read_tool(tool: Mapping[str, Any], namespace: str | None) -> Iterator[Offer]:
    """Yield a tool, and the tools that its description declares for code in it."""
    yield read_offer(str(tool.get("name")), tool.get("parameters"), namespace)
    if (tool.get("type"), tool.get("name")) == ("custom", _CODE):
        for name, given in _NESTED.findall(str(tool.get("description"))):
            if given.startswith("args"):
                yield Offer(name, {key: {} for key in _KEY.findall(given)}, namespace, "object")
            else:
                yield Offer(name, {"input": {}}, namespace, "text")


def render(conversation: Conversation, reply: Reply, numbers: Numbers) -> dict[str, Any]:
    """Render the reply as one response."""
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
        call = {"call_id": f"call_{ready.id}", "status": "completed"}
        if ready.offer.namespace:
            call["namespace"] = ready.offer.namespace
        if ready.offer.nested:
            given = ready.args["input"] if ready.offer.nested == "text" else ready.args
            code = f"text(await tools.{ready.name}({json.dumps(given)}))"
            yield {"type": "custom_tool_call", "id": f"ctc_{ready.id}", "name": _CODE, "input": code} | call
            continue
        args = {key: seal(value) if key in ready.offer.encrypted else value for key, value in ready.args.items()}
        call |= {"id": f"fc_{ready.id}", "name": ready.name, "arguments": json.dumps(args)}
        yield {"type": "function_call"} | call


def render_events(conversation: Conversation, reply: Reply, numbers: Numbers) -> Iterator[StreamEvent]:
    """Render the reply as a stream of events."""
    for number, (kind, data) in enumerate(_render_steps(render(conversation, reply, numbers))):
        yield StreamEvent({"type": kind, "sequence_number": number} | data, kind)


def _render_steps(whole: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    yield "response.created", {"response": whole | {"status": "in_progress", "output": [], "usage": None}}
    for index, item in enumerate(whole["output"]):
        is_message = item["type"] == "message"
        key = "content" if is_message else "input" if "input" in item else "arguments"
        at = {"output_index": index}
        yield "response.output_item.added", at | {"item": item | {"status": "in_progress", key: type(item[key])()}}
        at |= {"item_id": item["id"]}
        yield from _render_text(item, at) if is_message else _render_given(item, key, at)
        yield "response.output_item.done", {"output_index": index, "item": item}
    yield "response.completed", {"response": whole}


def _render_text(item: dict[str, Any], at: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    part, place = item["content"][0], at | {"content_index": 0}
    yield "response.content_part.added", place | {"part": part | {"text": ""}}
    yield "response.output_text.delta", place | {"delta": part["text"]}
    yield "response.output_text.done", place | {"text": part["text"]}
    yield "response.content_part.done", place | {"part": part}


def _render_given(item: dict[str, Any], key: str, at: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """What a tool is given: arguments of a function, or the text of a custom tool."""
    kind = "custom_tool_call_input" if key == "input" else "function_call_arguments"
    yield f"response.{kind}.delta", at | {"delta": item[key]}
    yield f"response.{kind}.done", at | {key: item[key]}
