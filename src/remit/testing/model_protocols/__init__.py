"""Model protocols: the HTTP APIs of model servers, one module per API.

A protocol parses a request into a `Conversation` and renders a `Reply` as one response or as a stream of events. A
scripted reply that hangs or is dropped does so after the first event.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from remit.testing.script import Conversation, Reply


class Numbers(NamedTuple):
    """The id, token counts and time of an answer."""

    id: str
    input_tokens: int
    output_tokens: int
    created_s: int


class StreamEvent(NamedTuple):
    """One event of a stream: its data, and its name if the protocol has names."""

    data: Mapping[str, Any] | str
    name: str | None = None


class ModelProtocol(Protocol):
    """The functions of a module in this package."""

    NAME: str

    def matches(self, path: str) -> bool:
        """Return whether a path belongs to this protocol."""
        ...

    def read(self, path: str, body: Mapping[str, Any]) -> Conversation:
        """Parse a request."""
        ...

    def render(self, conversation: Conversation, reply: Reply, numbers: Numbers) -> dict[str, Any]:
        """Render the reply as one response."""
        ...

    def render_events(self, conversation: Conversation, reply: Reply, numbers: Numbers) -> Iterator[StreamEvent]:
        """Render the reply as a stream of events."""
        ...


def collect_texts(value: object) -> Iterator[str]:
    """Yield all texts in a JSON value, in order."""
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
    """Return the plain text of a message: a string, or its text parts without tool results."""
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else []
    kinds = ("text", "input_text", "output_text", None)
    texts = [part.get("text") for part in parts if isinstance(part, dict) and part.get("type") in kinds]
    return "\n".join(text for text in texts if isinstance(text, str))


def read_list(value: object) -> list[dict[str, Any]]:
    """Return the objects in a list; an empty list for any other value, so that a bad request doesn't raise."""
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []
