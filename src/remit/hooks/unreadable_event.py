"""Unread: an event of a harness that cannot be read, because it is too large or no JSON.

Owns whether something hangs on it. What an agent is about to do is refused where nobody can look at it. A person's own
session is not held up: that an event is a person's is certain where no agent is named in it from end to end.
"""

from __future__ import annotations

from remit.harnesses import claude, codex
from remit.hooks.events import DELEGATING

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Mapping
    from typing import Any

_LOOKED_BYTES = 1024 * 1024
_PIECE_BYTES = 1024 * 1024
_MAX_BYTES = 1024 * 1024 * 1024
_AGENT_ID, _AGENT = f'"{claude.AGENT_ID}"'.encode(), f'"{claude.AGENT_TYPE}"'.encode()
"""Within a text of JSON a quote has a backslash before it, so that these stand for keys, or for a whole text."""


def is_observed_only(data: bytes, observed: Collection[str]) -> bool:
    """Whether it is surely an event on which nothing hangs: it names one of those that are observed, and no tool."""
    named = _list_named(data, f'"{claude.EVENT_KEY}"')
    return len(named) == 1 and named <= {f'"{kind}"' for kind in observed} and b'"tool_' not in data


def find_doubt(data: bytes, rest: Any, environ: Mapping[str, str]) -> str:  # noqa: ANN401 - a stream of bytes
    """Why a large event is not surely one of a person's own session that starts no agent; empty where it is.

    `rest`: the stream that has what follows the data.
    """
    if environ.get("REMIT_TICKET"):
        return "the session is an agent's"
    tools = _list_named(data, f'"{claude.TOOL_KEY}"')
    found = _find_keys(data, rest)
    if found is None:
        return f"it has more than {_MAX_BYTES:,} bytes"
    if _AGENT_ID in found or (_AGENT in found and not claude.is_terminal(environ)):
        return "it may be an agent's"
    return "" if tools and not any(map(_may_delegate, tools)) else "it may start an agent"


def _may_delegate(tool: str) -> bool:
    """Whether a tool, as it is written, may start an agent."""
    name = tool.strip('"')
    return tool != f'"{name}"' or name in DELEGATING or name.endswith(codex.SPAWN)


def _list_named(data: bytes, key: str) -> set[str]:
    """What stands behind a key, as it is written, near the beginning."""
    parts = data[:_LOOKED_BYTES].decode("utf-8", "replace").split(key)
    return {part.lstrip(" :").partition(",")[0].partition("}")[0].strip() for part in parts[1:]}


def _find_keys(data: bytes, rest: Any) -> set[bytes] | None:  # noqa: ANN401 - a stream of bytes
    """Which of the keys that tell of an agent are there; None where it does not end."""
    found, total = set(), 0
    while data and total < _MAX_BYTES:
        found |= {key for key in (_AGENT_ID, _AGENT) if key in data}
        total += len(data)
        piece = rest.read(_PIECE_BYTES)
        data = data[-len(_AGENT) :] + piece if piece else b""
    return None if data else found
