"""Acceptance checks of the user's own session, if `[hooks] main = "checks"`.

If the session stops after files changed in it, the checks of the workspace run. A failed one goes back to the model, at
most as often as `blocks` says; then, or if the checks can't run, the session ends with a message to the user.
"""

from __future__ import annotations

import asyncio
import json
import os
import time
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from remit.attempts.folders import NO_AGENT, remove_session
from remit.errors import RemitError
from remit.evidence.take_tree import take_tree
from remit.evidence.tree import WorkTree, parse_tree
from remit.hooks import replies
from remit.hooks.acceptance_checks import choose_checks, drop_session_variables, find_seconds
from remit.hooks.main import extend
from remit.hooks.roster import load_roster
from remit.ledger.events import read_clock_ms
from remit.ledger.home import Home
from remit.ledger.runs import list_runs
from remit.runs.admission.run_config import read_run_config
from remit.runs.checks.accept import CheckedTree, CheckRound, scan_for_checks
from remit.runs.checks.definition import make_check_environment, read_check
from remit.runs.checks.execute import CheckPlace
from remit.runs.checks.weakened import list_changed
from remit.runs.instructions import render_failed_checks
from remit.runs.judging.other_runs import find_active_writer
from remit.storage.files import load_bytes, write_text

if TYPE_CHECKING:
    from collections.abc import Mapping

    from remit.hooks.events import HookEvent
    from remit.hooks.roster import Roster

FOLDER = "user-checks"
"""Below `.remit`. It exists only if some session has checks, so that the end of any other session loads nothing."""
_MAX_AGE_S = 30 * 86_400.0
_MAX_BYTES = 16 * 1024 * 1024
_MOST_RUNS = 1000


# --- the beginning of a session --------------------------------------------------------------------------------------


def begin_checks(event: HookEvent, home: Home, roster: Roster, environ: Mapping[str, str]) -> None:
    """Fix the checks of a session, and record the tree before it. A session that continues keeps what it has."""
    file = _find_file(home.root, event.session)
    if not file or os.path.exists(file):
        return
    _sweep(home.root)
    state = {**_fix_checks(home.root, roster, environ), "blocks": 0, "tree": ""}
    if not state["checks"]:
        return
    with suppress(RemitError):  # without the tree before, every tree counts as changed
        state["tree"] = take_tree(home, home.root).as_json()
    home.make_folder(FOLDER)
    write_text(file, json.dumps(state))


def _fix_checks(root: str, roster: Roster, environ: Mapping[str, str]) -> dict[str, Any]:
    chosen = choose_checks(tuple(roster.checks), roster.checks, root, environ, origin="[hooks]")
    return {"checks": chosen["checks"], "refusal": chosen["check_refusal"], "limit": roster.hooks["blocks"]}


def end_checks(root: str, session: str) -> None:
    """Remove what is recorded for a session, and the folder if it was the last one."""
    file = _find_file(root, session)
    with suppress(OSError):
        os.unlink(file)
    with suppress(OSError):
        os.rmdir(f"{root}/.remit/{FOLDER}")


def _sweep(root: str) -> None:
    """Remove the records of sessions whose end was not reported."""
    with suppress(OSError):
        for entry in [*os.scandir(f"{root}/.remit/{FOLDER}")]:
            if time.time() - entry.stat(follow_symlinks=False).st_mtime > _MAX_AGE_S:
                os.unlink(entry.path)


def _find_file(root: str, session: str) -> str:
    plain = session.replace("-", "").replace("_", "")
    return f"{root}/.remit/{FOLDER}/{session}.json" if plain.isascii() and plain.isalnum() else ""


# --- its end ---------------------------------------------------------------------------------------------------------


def check_session(event: HookEvent, root: str, environ: Mapping[str, str]) -> replies.Answer:
    """Run the checks of a session that stops; send a failed one back, or let the session stop with a message."""
    file = _find_file(root, event.session)
    if not file or not os.path.exists(file):
        return {}
    try:
        state = json.loads(load_bytes(file, max_bytes=_MAX_BYTES))
        checked = _run_checks(event, Home(root), state, environ)
        count = state["blocks"] if event.stop_active else 0
        is_blocked = checked.is_correctable and count < state["limit"]
        write_text(file, json.dumps({**state, "blocks": count + is_blocked}))
    except (RemitError, ValueError, KeyError, TypeError) as error:
        why = error.message if isinstance(error, RemitError) else f"the record of the session can't be read: {error}"
        return replies.warn(f"the acceptance checks were not run: {why}")
    if is_blocked:
        return replies.block(render_failed_checks(checked, format=""))
    failed = [f"the check '{each.name}' failed ({each.reason})" for each in checked.failed]
    failed += [f"the check '{each.name}' was not run: {each.reason}" for each in checked.not_run]
    return replies.warn(f"{'; '.join(failed)}. To run the checks yourself: remit checks") if failed else {}


def _run_checks(event: HookEvent, home: Home, state: dict[str, Any], environ: Mapping[str, str]) -> CheckedTree:
    if state["refusal"]:  # the user may have trusted the commands since
        state |= _fix_checks(home.root, load_roster(home), environ)
    before: WorkTree | None = parse_tree(state["tree"]) if state["tree"] else None
    after, comparison = scan_for_checks(home, home.root, before, None)
    if list_changed(comparison) == frozenset():
        return CheckedTree()
    seconds = find_seconds(event)
    extend(event, seconds)
    session_id = f"{NO_AGENT}{os.urandom(6).hex()}"
    place = CheckPlace(
        home, session_id, home.root, make_check_environment(drop_session_variables(environ)), is_cancelled=bool,
        contain="subreaper",
    )  # fmt: skip
    round_ = CheckRound(
        place, attempt=1, after=after, before=before, comparison=comparison, find_writer=lambda: _find_writer(home),
        limit_ms=read_clock_ms() + round(seconds * 1000), refusal=state["refusal"],
    )  # fmt: skip
    try:
        return asyncio.run(round_.run([read_check(each) for each in state["checks"]]))
    finally:
        with suppress(RemitError):  # remit gc removes what is left
            remove_session(home, session_id)


def _find_writer(home: Home) -> str:
    """Return an agent that is working in the workspace's root; empty if there is none."""
    rows = list_runs(home.ledger, only_open=True, limit=_MOST_RUNS)
    there = (row for row in rows if row.started_ms is not None and row.ended_ms is None)
    return find_active_writer(home, (row.session_id for row in there if read_run_config(row.details).root == home.root))
