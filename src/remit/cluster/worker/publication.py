"""Publishes the result of a session: the agent's answers, the judged result, and the changed files.

If a file could not be sent, the result names the file and is at most `partial`.
"""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any, NamedTuple

from remit.cluster.database import leases
from remit.cluster.downgrade import downgrade_to_partial, name_files
from remit.cluster.orders import Packed, RemoteResult, render_result
from remit.cluster.retry import retry_forever
from remit.cluster.sealing import seal
from remit.cluster.transfer import send_changes
from remit.errors import RemitError
from remit.ledger.events import read_clock_ms
from remit.ledger.runs import list_attempts, load_run
from remit.ledger.texts import list_texts, load_text
from remit.model import NOTHING
from remit.runs.judging.conclusion import RunEvidence, conclude
from remit.runs.results.full_result import load_report, make_report, render_report

if TYPE_CHECKING:
    from collections.abc import Mapping

    from remit.cluster.orders import RunOrder
    from remit.cluster.worker.worker_context import WorkerContext
    from remit.ledger.home import Home
    from remit.ledger.runs import Run
    from remit.result import Result
    from remit.runs.judging.attempt import Attempt
    from remit.runs.judging.conclusion import Conclusion

_MOST_TEXT_BYTES = 16 * 1024 * 1024
"""Limit for all answers together; longer ones stay in the output."""
_SENT_TEXTS = ("answer-", "trace")
_NO_EVIDENCE = RunEvidence()


class Publication(NamedTuple):
    """A result to publish."""

    report: Result
    conclusion: Conclusion
    attempts: tuple[Mapping[str, Any], ...] = ()
    texts: Mapping[str, str] = NOTHING
    packed: Packed = Packed()


def make_publication(row: Run, ended: Attempt, evidence: RunEvidence = _NO_EVIDENCE) -> Publication:
    """Return the result of a session whose agent has returned nothing."""
    conclusion = conclude(row, [ended], evidence)
    return Publication(make_report(row, conclusion, ended_ms=read_clock_ms()), conclusion)


async def collect_results(
    context: WorkerContext, order: RunOrder, home: Home, *, fence: int, sent_commit: str
) -> Publication:
    """Return the result after the agent has ended. `sent_commit`: the commit of the last checkpoint."""
    report, conclusion = load_report(home, order.session_id)
    also = [*(artifact.path for artifact in conclusion.artifacts), *_find_manifest(home, order.session_id)]
    result = Publication(
        report, conclusion, tuple(each._asdict() for each in list_attempts(home.ledger, order.session_id)),
        _load_texts(home, order.session_id),
    )  # fmt: skip
    megabytes = context.settings.parcel_megabytes
    try:
        sent = await retry_forever(
            lambda: send_changes(
                context.bulk_db, home.root, order, fence, megabytes=megabytes, also=also, sent_commit=sent_commit
            )
        )
    except RemitError as error:
        return _downgrade(result, f"the agent's changes could not be sent: {error.message}")
    result = result._replace(packed=sent.packed)
    if sent.unsent:
        return _downgrade(result, f"{name_files(sent.unsent)} could not be sent")
    return result


async def publish(context: WorkerContext, session_id: str, fence: int, result: Publication, *, began_ms: int) -> bool:
    """Publish a result; return False if another worker has the session."""
    report, conclusion, usage = result.report, result.conclusion, result.report.usage
    report_values = json.loads(render_report(report, conclusion).decode("utf-8", "surrogatepass"))
    outcome = RemoteResult(
        session_id, fence, context.worker_id, report_values, result.attempts, result.texts, result.packed,
        began_ms, read_clock_ms(),
    )  # fmt: skip
    body = seal(context.key, "outcome", render_result(outcome))
    return await retry_forever(
        lambda: leases.publish(
            context.bulk_db, session_id, fence, outcome=body, status=conclusion.status,
            stop_reason=conclusion.stop_reason, tokens=usage.tokens, cost_usd=usage.cost_usd, turns=usage.turns,
        )
    )  # fmt: skip


def _find_manifest(home: Home, session_id: str) -> list[str]:
    row = load_run(home.ledger, session_id)
    manifest = "" if row is None else str(row.details.get("manifest", ""))
    return [os.path.relpath(manifest, home.root)] if manifest else []


def _load_texts(home: Home, session_id: str) -> dict[str, str]:
    """Return the agent's answers and trace, unchanged."""
    found: dict[str, str] = {}
    size = 0
    for kind in list_texts(home, session_id):
        if kind.startswith(_SENT_TEXTS):
            data = load_text(home, session_id, kind) or b""
            size += len(data)
            if size <= _MOST_TEXT_BYTES:
                found[kind] = data.decode("utf-8", "surrogatepass")
    return found


def _downgrade(result: Publication, message: str) -> Publication:
    advice = "Have the agent write fewer files, or set a git remote under [cluster], then start the run again"
    report, conclusion = downgrade_to_partial(result.report, result.conclusion, message, advice)
    return result._replace(report=report, conclusion=conclusion)
