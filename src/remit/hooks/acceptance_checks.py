"""Acceptance checks in hooks: which ones a subagent has, and their answers within the time that its harness waits.

A check that can't run, or can't end in time, is `not run`: it never blocks the harness, and never counts as passed.
"""

from __future__ import annotations

import asyncio
import os
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any

from remit.attempts.folders import FIRST_CHECK, find_folder
from remit.errors import RemitError
from remit.evidence.tree import BEFORE, read_before
from remit.hooks.check_time import CHECKING, find_default
from remit.hooks.main import extend
from remit.hooks.resume_subagent import list_resumed
from remit.hooks.shell_limits import find_launcher
from remit.ledger.events import add_event, load_last_event, read_clock_ms
from remit.ledger.hook_runs import extend_deadline, find_by_session
from remit.ledger.runs import count_attempts
from remit.ledger.texts import load_text
from remit.result import CheckResult
from remit.runs.admission.run_config import read_run_config
from remit.runs.checks.accept import CheckedTree, CheckRound, check_out_before, scan_for_checks
from remit.runs.checks.definition import (
    SALT_LETTERS,
    check_seal,
    make_check_environment,
    read_check,
    seal_environment,
)
from remit.runs.checks.diagnostics import check_not_run
from remit.runs.checks.execute import CheckPlace
from remit.runs.judging.other_runs import find_active_writer, find_shared_tree
from remit.spelling import did_you_mean

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from remit.hooks.events import HookEvent
    from remit.ledger.home import Home
    from remit.ledger.runs import Run
    from remit.runs.checks.definition import AcceptanceCheck
    from remit.runs.judging.judge import AttemptVerdict

_LATE = "the harness doesn't wait for checks at this event"


# --- which checks ----------------------------------------------------------------------------------------------------


def choose_checks(
    names: Sequence[str], known: Mapping[str, Mapping[str, Any]], root: str, environ: Mapping[str, str], *, origin: str
) -> dict[str, Any]:
    """Return the named checks, the seal of their environment, and why they may not run, as fields of a `RunConfig`.

    A harness starts its agent in any case, so an unknown check, or commands without the user's trust, are no error.
    """
    chosen = [known.get(name) or {"name": name, "run": ""} for name in dict.fromkeys(names)]
    unknown = next((name for name in names if name not in known), None)
    refusal = _find_distrust(root)
    if unknown is not None:
        hint = did_you_mean(unknown, tuple(known)) if known else "there is none"
        refusal = f"{origin} names the check {unknown!r}, which isn't in remit.toml ({hint})"
    seal = seal_environment(drop_session_variables(environ), os.urandom(SALT_LETTERS // 2).hex())
    return {"checks": tuple(chosen), "check_seal": seal, "check_refusal": refusal}


def _find_distrust(root: str) -> str:
    """Return why the commands in the settings may not run; empty if the user trusts them."""
    from remit.runs.workspace_trust import check_trust
    from remit.storage.settings import load_settings

    try:
        check_trust(root, load_settings(root))
    except RemitError:
        return "the user hasn't trusted the commands in remit.toml; to trust them: remit config trust"
    return ""


def drop_session_variables(environ: Mapping[str, str]) -> dict[str, str]:
    """Return an environment without the variables that Claude Code sets differently for each hook and each agent."""
    return {name: value for name, value in environ.items() if not name.startswith("CLAUDE_")}


# --- running them ----------------------------------------------------------------------------------------------------


def find_seconds(event: HookEvent | None) -> float:
    """Return how long the checks of an event may take in all."""
    if event is None or event.kind not in CHECKING["claude"]:
        return 0
    return find_default(event.harness, event.kind) if event.check_seconds is None else event.check_seconds


def check_work(
    home: Home, row: Run, event: HookEvent | None, verdict: AttemptVerdict, environ: Mapping[str, str]
) -> tuple[CheckedTree, AttemptVerdict]:  # fmt: skip
    """Run the checks of a run on the tree as its agent left it; return their answers and the verdict with that tree."""
    config = read_run_config(row.details)
    checks = [read_check(each) for each in config.checks]
    seconds = find_seconds(event)
    if event is None or not seconds:
        return refuse_checks(checks, _LATE), verdict
    kept = (load_text(home, row.session_id, BEFORE) or b"").decode("utf-8", "replace")
    # An agent that was seen late had changed files before, so any check may be about its work.
    before = read_before(kept).tree if config.evidence and not config.is_late else None
    extend(event, seconds)
    began_ms = read_clock_ms()
    limit_ms = began_ms + round(seconds * 1000)
    after, comparison = scan_for_checks(home, config.root, before, verdict.after)
    launcher, unconfined = find_launcher(event, find_by_session(home.ledger.db, row.session_id), home.root, environ)
    environ = drop_session_variables(environ)
    place = CheckPlace(
        home, row.session_id, config.root, make_check_environment(environ),
        lambda: load_last_event(home.ledger, row.session_id, "cancel") is not None, launcher=launcher,
    )  # fmt: skip
    round_ = CheckRound(
        place, attempt=_find_number(home, row.session_id), after=after, before=before, comparison=comparison,
        find_writer=partial(_find_writer, home, row),
        baseline=partial(check_out_before, home.root, row.session_id, config.commit, before),
        report=partial(_report, home, row.session_id), limit_ms=limit_ms,
        refusal=config.check_refusal or unconfined or check_seal(config.check_seal, environ),
    )  # fmt: skip
    try:
        checked = asyncio.run(round_.run(checks))
    except RemitError as error:
        checked = refuse_checks(checks, f"they can't be started: {error.message}")
    with home.ledger.transaction() as db:  # the time limit is for the agent's own work
        extend_deadline(db, row.session_id, read_clock_ms() - began_ms)
    # What the checks changed isn't the agent's, so the trees are compared as they were before.
    return checked, verdict._replace(after=after)


def refuse_checks(checks: Sequence[AcceptanceCheck], reason: str) -> CheckedTree:
    """Return the answers of checks of which none ran."""
    results = tuple(CheckResult(check.name, "not run", reason, check.run) for check in checks)
    return CheckedTree(results, tuple(check_not_run(each.name, reason) for each in results))


def _find_writer(home: Home, row: Run) -> str:
    """Return another agent that is working in the folder of a run; empty if there is none."""
    config = read_run_config(row.details)
    shared = find_shared_tree(home, row, config.root, since=list_resumed(home, config.resume_of))
    return find_active_writer(home, (each.session_id for each in shared.others if each.ended_ms is None))


def _find_number(home: Home, session_id: str) -> int:
    """Return a number for the executions of checks that no earlier ones of the session have: that of the attempt.

    It is a higher one if a hook that was killed has run checks: the agent may have changed the tree since.
    """
    folder = os.path.dirname(find_folder(home, session_id, 1))
    try:
        names = os.listdir(folder)
    except OSError:
        names = []
    last = max((int(name) // FIRST_CHECK for name in names if name.isdecimal()), default=0)
    return max(last, count_attempts(home.ledger, session_id)) + 1


def _report(home: Home, session_id: str, details: Mapping[str, object]) -> None:
    """Add an event for those who follow a run. If it can't be written, the checks continue without it."""
    with suppress(RemitError), home.ledger.transaction() as db:
        add_event(db, "check", details, session_id=session_id)
