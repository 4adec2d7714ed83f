"""List the acceptance checks of a workspace, and run them on its current tree."""

from __future__ import annotations

import asyncio
import os
from contextlib import suppress
from typing import TYPE_CHECKING

from remit.attempts.folders import NO_AGENT, remove_session
from remit.errors import RefusedError, RemitError, UsageError
from remit.evidence.take_tree import take_tree
from remit.runs.checks.accept import CheckedTree, CheckRound
from remit.runs.checks.definition import SETTINGS_FILE, choose_checks, make_check, make_check_environment
from remit.runs.checks.execute import CheckPlace

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from remit.config import Settings
    from remit.ledger.home import Home
    from remit.runs.checks.definition import AcceptanceCheck

_HINT = f'add one to {SETTINGS_FILE}: [checks.tests] with run = "pytest -q"'


def list_checks(settings: Settings) -> tuple[AcceptanceCheck, ...]:
    """Return the checks of a workspace, in the order of its settings."""
    return tuple(make_check(name, each) for name, each in settings.checks.items())


def find_checkout(root: str) -> str:
    """Return the checkout that the current folder is in: a linked worktree of the workspace, or the workspace itself.

    REMIT_ROOT doesn't decide: it names the workspace for an agent that works in a worktree.
    """
    from remit.storage.checkouts import find_main_checkout  # noqa: PLC0415 - only to run checks

    folder = os.getcwd()
    while not os.path.lexists(f"{folder}/.git"):
        if folder == os.path.dirname(folder):
            return root
        folder = os.path.dirname(folder)
    return folder if os.path.isfile(f"{folder}/.git") and find_main_checkout(folder) == root else root


async def check_workspace(
    home: Home,
    settings: Settings,
    names: Sequence[str] = (),
    *,
    root: str = "",
    environ: Mapping[str, str],
    report: Callable[[Mapping[str, object]], object] = lambda _: None,
    is_cancelled: Callable[[], bool] = bool,
) -> CheckedTree:
    """Run checks of a workspace on its current tree; without names all of them. Their answers are kept.

    `root`: the tree, if it is that of a linked worktree. If this call or `is_cancelled` says so, the check that is
    running is ended with all its processes.

    Raises `UsageError` if there is none, and `ConfigError` if the user hasn't trusted the commands.
    """
    from remit.runs.admission.tickets import SOCKET  # noqa: PLC0415 - not for a list of checks
    from remit.runs.workspace_trust import check_trust  # noqa: PLC0415 - reads the user's list of trusted workspaces

    if not settings.checks:
        raise UsageError("the workspace has no checks", hint=_HINT)
    checks = choose_checks(names or settings.checks, settings.checks, may_be_commands=False)
    check_trust(home.root, settings)
    session_id = f"{NO_AGENT}{os.urandom(6).hex()}"
    ended = asyncio.Event()
    if SOCKET in environ:
        raise RefusedError("a confined agent can't run acceptance checks, which write files of Remit",
                           hint="run their commands instead; remit checks --list shows them")  # fmt: skip
    root = root or home.root
    place = CheckPlace(
        home, session_id, root, make_check_environment(environ),
        is_cancelled=lambda: ended.is_set() or is_cancelled(), contain="subreaper",
    )  # fmt: skip
    try:
        after = await asyncio.to_thread(take_tree, home, root)
        round_ = CheckRound(place, attempt=1, after=after, report=report, uses_cache=False)
        checking = asyncio.ensure_future(round_.run(checks))
        try:
            return await asyncio.shield(checking)
        except asyncio.CancelledError:
            ended.set()
            await asyncio.wait({checking})
            raise
    finally:
        with suppress(RemitError):  # remit gc removes what is left
            remove_session(home, session_id)
