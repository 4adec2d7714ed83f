"""Wires: how each kind of model server is spoken to, one module per kind.

A wire reads a request into a `Conversation` and renders a `Reply` whole, or as the events of a stream. The first event
of a stream is the one after which a scripted answer hangs or is dropped.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from remit.testing.script import Conversation, Reply


class Numbers(NamedTuple):
    """What an answer is stamped with."""

    id: str
    input_tokens: int
    output_tokens: int
    created_s: int


class StreamEvent(NamedTuple):
    """One event of a stream: its data, and its name where the wire has names."""

    data: Mapping[str, Any] | str
    name: str | None = None


class ModelProtocol(Protocol):
    """What a module here gives."""

    NAME: str

    def matches(self, path: str) -> bool:
        """Return whether a request to this path speaks so."""
        ...

    def read(self, path: str, body: Mapping[str, Any]) -> Conversation:
        """What a request says."""
        ...

    def render(self, conversation: Conversation, reply: Reply, numbers: Numbers) -> dict[str, Any]:
        """The answer in one piece."""
        ...

    def render_events(self, conversation: Conversation, reply: Reply, numbers: Numbers) -> Iterator[StreamEvent]:
        """The answer as a stream."""
        ...


def collect_texts(value: object) -> Iterator[str]:
    """Every text in a JSON value, in its order."""
    left = [value]
    while left:
        here = left.pop()
        if isinstance(here, str):
            yield here
        elif isinstance(here, dict):
            left.extend(reversed(here.values()))
        elif isinstance(here, list):
            left.extend(reversed(here))


def join_text(content: object) -> str:
    """The plain text of a message: a string, or its parts that are text and no tool's result."""
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else []
    kinds = ("text", "input_text", "output_text", None)
    texts = [part.get("text") for part in parts if isinstance(part, dict) and part.get("type") in kinds]
    return "\n".join(text for text in texts if isinstance(text, str))


def read_list(value: object) -> list[dict[str, Any]]:
    """The objects of a list; a wire never fails on a request that is none."""
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []
