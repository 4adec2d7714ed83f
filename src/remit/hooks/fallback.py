"""Unsure: whom a call may be about where settings or ledger can't be used.

Owns that guess. A person's own session is not held up by what is wrong with Remit: only an agent that the workspace
holds to a contract needs it.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from remit.agent_files.discovery import find_agent_files
from remit.hooks.roster import fold_name
from remit.light_json import parse_json
from remit.storage.transcripts import load_beginning

if TYPE_CHECKING:
    from collections.abc import Iterator

    from remit.hooks.events import HookEvent


def may_be_enforced(root: str, event: HookEvent, *, is_late: bool) -> bool:
    """Whether a call asks for an agent with a file in the workspace, or one that was set to be held before.

    `is_late`: there is no time to ask the ledger what was set.
    """
    if not event.target:  # the harness's own, unless all are held
        return not is_late and _is_set(root, "")
    if not event.target.isprintable():  # no name, so nobody knows whom a harness would take it for
        return True
    wanted = fold_name(event.target)
    return any(fold_name(name) == wanted for name in _list_names(root)) or (not is_late and _is_set(root, wanted))


def _list_names(root: str) -> Iterator[str]:
    """What the files of agents are called, and what they call themselves."""
    for source in find_agent_files((), root=root):
        yield os.path.basename(source.file).rpartition(".")[0]
        for line in load_beginning(source.file).splitlines():
            if line.startswith("name"):
                yield line.removeprefix("name").strip(" \t:=\"'")


def _is_set(root: str, wanted: str) -> bool:
    """Whether the settings, as they were when they could last be read, hold an agent."""
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
