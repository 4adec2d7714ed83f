"""Fallback: whether a call may start an enforced agent, if the settings or the ledger can't be used.

Problems of Remit don't stop the user's own session, unless it calls an agent that the workspace enforces.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from remit.agent_files.discovery import find_agent_files
from remit.hooks.compiled_agents import fold_name
from remit.light_json import parse_json
from remit.storage.transcripts import load_beginning

if TYPE_CHECKING:
    from collections.abc import Iterator

    from remit.hooks.events import HookEvent


def may_be_enforced(root: str, event: HookEvent, *, is_late: bool) -> bool:
    """Whether a call names an agent with a file in the workspace, or one that the last known settings enforce.

    `is_late`: there is no time to ask the ledger what was set.
    """
    if not event.target:  # the harness's own, unless all are enforced
        return not is_late and _is_set(root, "")
    if not event.target.isprintable():  # it isn't known which agent a harness would take it for
        return True
    wanted = fold_name(event.target)
    return any(fold_name(name) == wanted for name in _list_names(root)) or (not is_late and _is_set(root, wanted))


def _list_names(root: str) -> Iterator[str]:
    """The file names of agents, and the names in their files."""
    for source in find_agent_files((), root=root):
        yield os.path.basename(source.file).rpartition(".")[0]
        for line in load_beginning(source.file).splitlines():
            if line.startswith("name"):
                yield line.removeprefix("name").strip(" \t:=\"'")


def _is_set(root: str, wanted: str) -> bool:
    """Whether the settings that could last be read enforce an agent."""
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
