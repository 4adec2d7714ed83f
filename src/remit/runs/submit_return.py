"""Check or submit an agent's own return before its final message (R2.15).

The verdict is the one that the final message would get: the ticket identifies the session, and the same judge compares
the working tree with the tree before the run. Only the tools that the agent used are unknown here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from remit.errors import UsageError
from remit.evidence.tree import BEFORE, Before, read_before
from remit.ledger.events import read_clock_ms
from remit.ledger.runs import count_attempts, load_run
from remit.ledger.texts import load_text, store_texts
from remit.model import Expectation
from remit.returns.formats import MANIFEST
from remit.runs.admission.run_config import read_run_config
from remit.runs.admission.tickets import TICKET, find_caller, find_within
from remit.runs.judging.judge import judge_answer
from remit.runs.judging.judging_context import load_context

if TYPE_CHECKING:
    from collections.abc import Mapping

    from remit.evidence.artifact_grades import ArtifactGrade
    from remit.ledger.runs import Run
    from remit.model import Diagnostic, JsonRepair
    from remit.runs.workspace import Workspace


class OwnVerdict(NamedTuple):
    """The verdict on a message as if it were sent now."""

    accepted: bool
    name: str
    diagnostics: tuple[Diagnostic, ...]
    session_id: str | None = None
    format: str | None = None
    status: str | None = None
    repairs: tuple[JsonRepair, ...] = ()
    grades: Mapping[str, ArtifactGrade] = {}


class ClaimedIdentity(NamedTuple):
    """The identity that a caller without a ticket claims."""

    format: str | None = None
    session_id: str | None = None
    agent: str | None = None


def check_own(ws: Workspace, message: str, claimed: ClaimedIdentity) -> OwnVerdict:
    """Judge a final message for the session of the ticket, or for a claimed identity."""
    if not message.strip():
        raise UsageError("there is nothing to check: the message is empty", hint="pass the whole final message")
    if TICKET in ws.environ:
        return _check_session(ws, message, _find_row(ws, claimed))
    from pathlib import Path  # noqa: PLC0415 - only for this

    from remit.runs.check_message import check  # noqa: PLC0415

    verdict = check(message, format=claimed.format, session_id=claimed.session_id, agent=claimed.agent,
                    root=Path(ws.root))  # fmt: skip
    status = None if verdict.returned is None else verdict.returned.status
    return OwnVerdict(verdict.accepted, verdict.name, verdict.diagnostics, claimed.session_id, verdict.format, status,
                      verdict.repairs)  # fmt: skip


def submit_own(ws: Workspace, message: str) -> tuple[OwnVerdict, bool]:
    """Judge a return and store it for the running attempt if it is usable; return the verdict and whether it is stored.

    The ticket identifies the run. A subagent of a harness has no ticket: the process of its harness identifies it, and
    among several running subagents, the session id in the return.
    """
    if not message.strip():
        raise UsageError("there is nothing to submit: the message is empty", hint="pass the return as a JSON object")
    if TICKET in ws.environ:
        caller = find_caller(ws.home, ws.environ, now_ms=read_clock_ms())
        session_id = None if caller is None else caller.session_id
    else:
        session_id = find_within(ws.home, message=message) if ws.home.is_made else None
    row = None if session_id is None else load_run(ws.home.ledger, session_id)
    if row is None:
        hint = "check any other message: remit check FILE"
        raise UsageError("only an agent inside a run can submit a return; this process isn't part of a run", hint=hint)
    if row.state != "running":
        raise UsageError(f"the run {session_id} has ended and accepts no return", hint=f"remit show {session_id}")
    config = read_run_config(row.details)
    if config.format == MANIFEST.name:
        raise UsageError("an agent of the format manifest returns by its manifest", hint="append the entry, then reply")
    verdict = _check_session(ws, message, row, by_ticket=True)
    is_kept = verdict.accepted or verdict.name == "unproven"
    if is_kept:
        # The hooks count an attempt when it ends, a run when it begins.
        number = count_attempts(ws.home.ledger, row.session_id) + config.is_harness_run
        store_texts(ws.home, row.session_id, {f"submitted-{number}": message.encode("utf-8", "surrogatepass")})
    return verdict, is_kept


def _find_row(ws: Workspace, claimed: ClaimedIdentity) -> Run:
    """Return the run that the ticket belongs to."""
    caller = find_caller(ws.home, ws.environ, now_ms=read_clock_ms())
    row = None if caller is None else load_run(ws.home.ledger, caller.session_id)
    if row is None:
        raise UsageError("this ticket belongs to no session", hint="pass the ticket that Remit gave to the agent")
    if claimed.session_id not in (None, row.session_id):
        message = f"'{claimed.session_id}' is another session; this agent's session is {row.session_id}"
        raise UsageError(message, hint="omit session_id; Remit knows it")
    return row


def _check_session(ws: Workspace, message: str, row: Run, *, by_ticket: bool = False) -> OwnVerdict:
    """Judge a message as a return of a run. `by_ticket`: it is handed in, so it needs no session id."""
    config = read_run_config(row.details)
    stored = (load_text(ws.home, row.session_id, BEFORE) or b"").decode("utf-8", "replace")
    before = read_before(stored) if config.evidence else Before()
    context = load_context(ws.home, row, before, until=0)  # only the final return answers for earlier claims
    expectation = Expectation(
        row.session_id, row.agent if config.is_named else None, config.kind or None, row.depth, row.path,
        by_ticket=by_ticket,
    )  # fmt: skip
    words: Any = config.words
    judged = judge_answer(
        message, context, format=config.format, any_format=config.any_format, expectation=expectation, words=words
    )  # fmt: skip
    returned = judged.returned
    return OwnVerdict(
        judged.accepted, judged.name, judged.diagnostics, row.session_id, judged.format or config.format,
        None if returned is None else returned.status, () if judged.verdict is None else judged.verdict.repairs,
        judged.grades,
    )  # fmt: skip
