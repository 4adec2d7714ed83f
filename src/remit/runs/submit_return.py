"""Check or submit an agent's own return before its final message (R2.15).

Owns that it is the verdict that will be: whoever shows a ticket is judged as the session of that ticket, by the same
engine, with the tree as it was when the work began. Only which tools were used is not known here.
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
    findings: tuple[Diagnostic, ...]
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
        raise UsageError("there is nothing to check: the message is empty", hint="give the final message, whole")
    if TICKET in ws.environ:
        return _check_session(ws, message, _find_row(ws, claimed))
    from pathlib import Path  # noqa: PLC0415 - only for this

    from remit.runs.check_message import check  # noqa: PLC0415

    verdict = check(message, format=claimed.format, session_id=claimed.session_id, agent=claimed.agent,
                    root=Path(ws.root))  # fmt: skip
    status = None if verdict.returned is None else verdict.returned.status
    return OwnVerdict(verdict.accepted, verdict.name, verdict.findings, claimed.session_id, verdict.format, status,
                      verdict.repairs)  # fmt: skip


def submit_own(ws: Workspace, message: str) -> tuple[OwnVerdict, bool]:
    """Judge a return, and store it for the running attempt if it is usable; the verdict, and whether it was stored.

    The ticket says which run it belongs to. A subagent of a harness has none; there the harness's process says it, and
    among several subagents at once the session id in the return.
    """
    if not message.strip():
        raise UsageError("there is nothing to hand in: the message is empty", hint="give the return as a JSON object")
    if TICKET in ws.environ:
        caller = find_caller(ws.home, ws.environ, now_ms=read_clock_ms())
        session_id = None if caller is None else caller.session_id
    else:
        session_id = find_within(ws.home, said=message) if ws.home.is_made else None
    row = None if session_id is None else load_run(ws.home.ledger, session_id)
    if row is None:
        hint = "remit check FILE checks any other message"
        raise UsageError("only an agent inside a run can hand a return in: this process belongs to none", hint=hint)
    if row.state != "running":
        raise UsageError(f"the run {session_id} has ended, so it takes no return", hint=f"remit show {session_id}")
    config = read_run_config(row.details)
    if config.format == MANIFEST.name:
        raise UsageError("an agent of the format manifest returns by its manifest", hint="append the entry, then reply")
    verdict = _check_session(ws, message, row)
    is_kept = verdict.accepted or verdict.name == "unproven"
    if is_kept:
        # The hooks count an attempt when it ends, a run when it begins.
        number = count_attempts(ws.home.ledger, row.session_id) + config.is_harness_run
        store_texts(ws.home, row.session_id, {f"submitted-{number}": message.encode("utf-8", "surrogatepass")})
    return verdict, is_kept


def _find_row(ws: Workspace, claimed: ClaimedIdentity) -> Run:
    """The run that the ticket belongs to."""
    caller = find_caller(ws.home, ws.environ, now_ms=read_clock_ms())
    row = None if caller is None else load_run(ws.home.ledger, caller.session_id)
    if row is None:
        raise UsageError("nobody knows the session of this ticket", hint="an agent is known by the ticket it was given")
    if claimed.session_id not in (None, row.session_id):
        told = f"'{claimed.session_id}' is another session: this agent's is {row.session_id}"
        raise UsageError(told, hint="leave session_id out: it is known")
    return row


def _check_session(ws: Workspace, message: str, row: Run) -> OwnVerdict:
    config = read_run_config(row.details)
    kept = (load_text(ws.home, row.session_id, BEFORE) or b"").decode("utf-8", "replace")
    before = read_before(kept) if config.evidence else Before()
    context = load_context(ws.home, row, before, until=0)  # only the final return answers for earlier claims
    expectation = Expectation(
        row.session_id, row.agent if config.is_named else None, config.kind or None, row.depth, row.path
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
