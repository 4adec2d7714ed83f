"""Suggestions: the commands that are useful next in a folder, and words for the completion of a shell."""

from __future__ import annotations

import os
from contextlib import suppress
from typing import TYPE_CHECKING, NamedTuple

from remit.errors import InputError, RemitError
from remit.storage.settings import find_workspace, load_settings

if TYPE_CHECKING:
    from collections.abc import Iterator

    from remit.ledger.home import Home

_MAX_FILES = 50_000
"""The search for agent files ends after this many files: in a home folder it would take seconds."""
_MAX_OFFERED = 50


class NextStep(NamedTuple):
    """A command that is useful here, and what it does."""

    command: str
    purpose: str


def suggest_steps() -> list[NextStep]:
    """Return commands for this folder, the most useful first."""
    root = find_workspace()
    return [*_suggest_status(root), *_suggest_agents(root), *_suggest_harness(root)]


def _suggest_status(root: str) -> Iterator[NextStep]:
    from remit.ledger.home import Home

    home = Home(root)
    try:
        load_settings(root)
        running = _count_running(home)
    except RemitError as error:
        yield NextStep("remit doctor", f"check what is wrong here: {error.message}")
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

    return len(list_runs(home.ledger, only_open=True, limit=_MAX_OFFERED))


def _suggest_agents(root: str) -> Iterator[NextStep]:
    from remit.agent_files.discovery import TooManyFilesError, search_agent_files

    exclude: tuple[str, ...] = ()
    with suppress(RemitError):  # `_suggest_status` has reported the error
        exclude = load_settings(root).lint.exclude
    try:
        found = len(search_agent_files((), root=root, exclude=exclude, max_files=_MAX_FILES).sources)
    except TooManyFilesError:
        yield NextStep("remit lint", "find and check the agent files here, which takes a while")
        return
    except InputError as error:
        yield NextStep("remit doctor", f"check what is wrong here: {error.message}")
        return
    if found:
        named = "the agent file" if found == 1 else f"the {found} agent files"
        yield NextStep("remit lint", f"check {named} of this project, and which agent may call which")
    else:
        yield NextStep("remit agent new research researcher", "write a first agent file")


def _suggest_harness(root: str) -> Iterator[NextStep]:
    from remit.hooks.install import HARNESSES
    from remit.runs.agent_lookup import list_harnesses

    installed = list_harnesses(root)
    if installed:
        yield NextStep(f'remit run "Fix the typo" --runner {installed[0]}', "run an agent and check its return")
    else:
        yield NextStep('remit run "Fix the typo" --command PROGRAM', "run any program as an agent and check its return")
    yield from (
        NextStep(f"remit hooks install {name}", "also check the subagents that the harness starts itself")
        for name in [name for name in installed if name in HARNESSES][:1]
    )
    yield NextStep("remit check MESSAGE.md", "check the final message of an agent")


# --- completion -------------------------------------------------------------------------------------------------------


def offer_agents() -> list[str]:
    """Return the agents of this workspace."""
    from remit.runs.agent_lookup import list_agents

    with suppress(RemitError):
        return [agent.name for agent in list_agents(find_workspace())]
    return []


def offer_sessions() -> list[tuple[str, str]]:
    """Return the newest runs, each with its agent and status."""
    from remit.ledger.home import Home
    from remit.ledger.runs import list_runs

    with suppress(RemitError):
        home = Home(find_workspace())
        if os.path.lexists(home.ledger_file):
            rows = list_runs(home.ledger, limit=_MAX_OFFERED)
            return [(row.session_id, f"{row.agent}, {row.status or row.state}") for row in rows]
    return []


def offer_tasks() -> list[tuple[str, str]]:
    """Return the open tasks, each with its title."""
    from remit.runs.tasks.workspace_tasks import Tasks

    with suppress(RemitError):
        tasks = Tasks()
        if tasks.is_begun:
            return [(str(each.number), each.title) for each in tasks.list_tasks() if not each.closed]
    return []
