"""Fallback: the decision about an event if Remit can't read the event, or can't use the settings or the ledger.

Problems of Remit don't stop the user's own session. But a call that Remit can't check is refused if it may come from an
agent, or may start an agent that the workspace enforces.
"""

from __future__ import annotations

import os

from remit.harnesses import claude, codex
from remit.hooks.events import DELEGATING, GUARDING
from remit.light_json import parse_json

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping
    from typing import Any

    from remit.hooks.events import HookEvent

_LOOKED_BYTES = 1024 * 1024
_PIECE_BYTES = 1024 * 1024
_MAX_BYTES = 1024 * 1024 * 1024
_AGENT_ID, _AGENT = f'"{claude.AGENT_ID}"'.encode(), f'"{claude.AGENT_TYPE}"'.encode()
"""Within a text of JSON a quote has a backslash before it, so that these stand for keys, or for a whole text."""


def answer_unreadable(
    data: bytes,
    rest: Any,  # noqa: ANN401 - a stream of bytes
    trouble: str,
    environ: Mapping[str, str],
    *,
    max_bytes: int,
) -> tuple[int, str, str]:
    """Return exit code and texts: a refusal, unless no decision depends on the event, or it is the user's own.

    `rest`: the stream that has what follows the data, if it is longer than `max_bytes`.
    """
    from remit.hooks.event_handlers import HANDLERS

    problem = f"Remit: can't read the hook's event: {trouble}"
    if is_observed_only(data, [kind for kind in HANDLERS if kind not in GUARDING]):
        return 0, "", f"{problem}. No decision depends on it."
    doubt = find_doubt(data, rest, environ) if len(data) > max_bytes else ""
    if len(data) > max_bytes and not doubt:
        return 0, "", f"{problem}. It is from the user's own session, which continues."
    return 2, "", f"{problem}{doubt and f', and {doubt}'}. So the call is refused."


def is_observed_only(data: bytes, observed: Collection[str]) -> bool:
    """Return whether it is surely an event that is only observed: it names one of those, and no tool."""
    named = _list_named(data, f'"{claude.EVENT_KEY}"')
    return len(named) == 1 and named <= {f'"{kind}"' for kind in observed} and b'"tool_' not in data


def find_doubt(data: bytes, rest: Any, environ: Mapping[str, str]) -> str:  # noqa: ANN401 - a stream of bytes
    """Return why a large event may not be from the user's own session, or may start an agent; empty if neither.

    `rest`: the stream that has what follows the data.
    """
    if environ.get("REMIT_TICKET"):
        return "the session belongs to an agent"
    tools = _list_named(data, f'"{claude.TOOL_KEY}"')
    found = _find_keys(data, rest)
    if found is None:
        return f"it has more than {_MAX_BYTES:,} bytes"
    if _AGENT_ID in found or (_AGENT in found and not claude.is_terminal(environ)):
        return "it may be from an agent"
    return "" if tools and not any(map(_may_delegate, tools)) else "it may start an agent"


def _may_delegate(tool: str) -> bool:
    """Return whether a tool, as it is written, may start an agent."""
    name = tool.strip('"')
    return tool != f'"{name}"' or name in DELEGATING or name.endswith(codex.SPAWN)


def _list_named(data: bytes, key: str) -> set[str]:
    """Return the values of a key near the beginning, as they are written."""
    parts = data[:_LOOKED_BYTES].decode("utf-8", "replace").split(key)
    return {part.lstrip(" :").partition(",")[0].partition("}")[0].strip() for part in parts[1:]}


def _find_keys(data: bytes, rest: Any) -> set[bytes] | None:  # noqa: ANN401 - a stream of bytes
    """Return the keys of an agent that the data contains; None if it doesn't end."""
    found, total = set(), 0
    while data and total < _MAX_BYTES:
        found |= {key for key in (_AGENT_ID, _AGENT) if key in data}
        total += len(data)
        piece = rest.read(_PIECE_BYTES)
        data = data[-len(_AGENT) :] + piece if piece else b""
    return None if data else found


# --- calls without settings or ledger ---------------------------------------------------------------------------------


def may_be_enforced(root: str, event: HookEvent, *, is_late: bool) -> bool:
    """Return whether a call names an agent with a file in the workspace, or one that the last known settings enforce.

    `is_late`: there is no time to ask the ledger what was set.
    """
    if not event.target:  # the harness's own, unless all are enforced
        return not is_late and _is_set(root, "")
    if not event.target.isprintable():  # it isn't known which agent a harness would take it for
        return True
    from remit.hooks.roster import fold_name

    wanted = fold_name(event.target)
    return any(fold_name(name) == wanted for name in _list_names(root)) or (not is_late and _is_set(root, wanted))


def _list_names(root: str) -> Iterator[str]:
    """Return the file names of agents, and the names in their files."""
    from remit.agent_files.discovery import find_agent_files
    from remit.storage.transcripts import load_beginning

    for source in find_agent_files((), root=root):
        yield os.path.basename(source.file).rpartition(".")[0]
        for line in load_beginning(source.file).splitlines():
            if line.startswith("name"):
                yield line.removeprefix("name").strip(" \t:=\"'")


def _is_set(root: str, wanted: str) -> bool:
    """Return whether the settings that could last be read enforce an agent."""
    from remit.hooks.roster import fold_name
    from remit.ledger.hook_runs import open_quickly

    db = open_quickly(f"{root}/.remit/ledger.db")
    row = None if db is None else db.execute("SELECT value FROM notes WHERE name = 'roster'").fetchone()
    if row is None:
        return False
    kept = parse_json(row[0].partition("\n")[2])
    if kept["hooks"]["enforce"] == "all":
        return True
    names = (*kept["hooks"]["also_enforce"], *(name for agents in kept["agents"].values() for name in agents))
    return any(fold_name(name) == wanted for name in names)
