"""List the acceptance checks of a workspace, and run them on its current tree."""

from __future__ import annotations

import asyncio
import os
from contextlib import suppress
from typing import TYPE_CHECKING

from remit.attempts.folders import NO_AGENT, remove_session
from remit.errors import RemitError, UsageError
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
    from remit.runs.workspace_trust import check_trust  # noqa: PLC0415 - reads the user's list of trusted workspaces

    if not settings.checks:
        raise UsageError("the workspace has no checks", hint=_HINT)
    checks = choose_checks(names or settings.checks, settings.checks, may_be_commands=False)
    check_trust(home.root, settings)
    session_id = f"{NO_AGENT}{os.urandom(6).hex()}"
    ended = asyncio.Event()
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
