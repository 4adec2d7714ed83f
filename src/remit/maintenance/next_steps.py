"""The commands that are useful next in this folder, and words for the completion of a shell."""

from __future__ import annotations

import os
from contextlib import suppress
from typing import TYPE_CHECKING, NamedTuple

from remit.errors import InputError, RemitError
from remit.storage.settings import find_workspace, load_settings

if TYPE_CHECKING:
    from collections.abc import Iterator

    from remit.ledger.home import Home

_SEARCHED = 50_000
"""Agents are looked for as `remit lint` does; in a home folder that would take seconds, and nobody waits for that."""
_OFFERED = 50


class NextStep(NamedTuple):
    """A command that is worth running here, and what comes of it."""

    command: str
    purpose: str


def suggest_steps() -> list[NextStep]:
    """What to do next in this folder, the most useful first."""
    root = find_workspace()
    return [*_suggest_looking(root), *_suggest_agents(root), *_suggest_harness(root)]


def _suggest_looking(root: str) -> Iterator[NextStep]:
    from remit.ledger.home import Home

    home = Home(root)
    try:
        load_settings(root)
        running = _count_running(home)
    except RemitError as error:
        yield NextStep("remit doctor", f"find out what is wrong here: {error.message}")
        return
    finally:
        home.close()
    if running:
        yield NextStep("remit ps", "show the running agent" if running == 1 else f"show the {running} running agents")
    if home.is_made:
        yield NextStep("remit status", "show the state of this workspace")


def _count_running(home: Home) -> int:
    if not os.path.lexists(home.ledger_file):
        return 0
    from remit.ledger.runs import list_runs

    return len(list_runs(home.ledger, only_open=True, limit=_OFFERED))


def _suggest_agents(root: str) -> Iterator[NextStep]:
    from remit.agent_files.discovery import TooManyFilesError, search_agent_files

    exclude: tuple[str, ...] = ()
    with suppress(RemitError):  # what is wrong with the settings is told already
        exclude = load_settings(root).lint.exclude
    try:
        found = len(search_agent_files((), root=root, exclude=exclude, max_files=_SEARCHED).sources)
    except TooManyFilesError:
        yield NextStep("remit lint", "find and check the agent files here, which takes a while")
        return
    except InputError as error:
        yield NextStep("remit doctor", f"find out what is wrong here: {error.message}")
        return
    if found:
        named = "the agent file" if found == 1 else f"the {found} agent files"
        yield NextStep("remit lint", f"check {named} of this project, and which agent may call which")
    else:
        yield NextStep("remit agent new research researcher", "write a first agent file")


def _suggest_harness(root: str) -> Iterator[NextStep]:
    from remit.hooks.install import HARNESSES
    from remit.runs.agent_lookup import list_harnesses

    there = list_harnesses(root)
    if there:
        yield NextStep(f'remit run "Fix the typo" --runner {there[0]}', "run an agent and check its return")
    else:
        yield NextStep('remit run "Fix the typo" --command PROGRAM', "run any program as an agent and check its return")
    yield from (
        NextStep(f"remit hooks install {name}", "also check the subagents that it starts itself")
        for name in [name for name in there if name in HARNESSES][:1]
    )
    yield NextStep("remit check MESSAGE.md", "check the final message of an agent")


# --- what a shell can offer ------------------------------------------------------------------------------------------


def offer_agents() -> list[str]:
    """The agents of this workspace."""
    from remit.runs.agent_lookup import list_agents

    with suppress(RemitError):
        return [agent.name for agent in list_agents(find_workspace())]
    return []


def offer_sessions() -> list[tuple[str, str]]:
    """The newest delegations, each with its agent and how it stands."""
    from remit.ledger.home import Home
    from remit.ledger.runs import list_runs

    with suppress(RemitError):
        home = Home(find_workspace())
        if os.path.lexists(home.ledger_file):
            rows = list_runs(home.ledger, limit=_OFFERED)
            return [(row.session_id, f"{row.agent}, {row.status or row.state}") for row in rows]
    return []


def offer_tasks() -> list[tuple[str, str]]:
    """The tasks that are open, each with its title."""
    from remit.runs.tasks.workspace_tasks import Tasks

    with suppress(RemitError):
        tasks = Tasks()
        if tasks.is_begun:
            return [(str(each.number), each.title) for each in tasks.list_tasks() if not each.closed]
    return []
