"""The context of judging a run: the tree before it, the tools that were used, and the runs beside it.

Owns the tree as it was before the work, the sessions that it goes on with, and what is known of its scene: which tools
were used, who else was there, what those below it made.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from remit.attempts.folders import find_folder, has_session
from remit.attempts.results import load_result
from remit.evidence.tree import BEFORE, Before, list_expected, read_before, take_before
from remit.ledger.events import read_clock_ms
from remit.ledger.runs import count_attempts, load_run
from remit.ledger.texts import load_text, store_texts
from remit.runs.admission.run_config import read_run_config
from remit.runs.judging.attempt_record import load_earlier
from remit.runs.judging.child_artifacts import NestedArtifacts, load_nested_artifacts
from remit.runs.judging.concurrent_writers import SharedTree
from remit.runs.judging.judge import JudgingContext
from remit.runs.supervisor.attempt import listen_to

if TYPE_CHECKING:
    from collections.abc import Iterator

    from remit.runners import RunOutput, ToolUse
    from remit.runs.supervisor.run_loop import RunLoop

_NOTICED_MS = 200


# --- before -----------------------------------------------------------------------------------------------------------


async def load_tree_before(loop: RunLoop) -> Before:
    """The tree before the run; for a run that another process began, or that is resumed, as it was then."""
    config = loop.config
    if not config.evidence:
        return Before()
    if kept := loop.load_text(BEFORE):
        return read_before(kept)
    resumed = (load_text(loop.home, config.resume_of, BEFORE) or b"").decode() if config.resume_of else ""
    if resumed:
        return _keep_before(loop, read_before(resumed))
    if count_attempts(loop.home.ledger, loop.row.session_id):
        return read_before("")
    began_ms = read_clock_ms()
    expected = list_expected(
        config.root, manifest=config.manifest, artifact_path=config.artifact_path, workspace_root=config.workspace_root
    )  # fmt: skip
    taken = await asyncio.to_thread(take_before, loop.home, config.root, expected=expected)
    if read_clock_ms() - began_ms > _NOTICED_MS:  # a large tree is not the agent's fault
        loop.row = loop.supervisor.restart_clock(loop.row)
    return _keep_before(loop, taken)


def _keep_before(loop: RunLoop, before: Before) -> Before:
    with loop.home.ledger.transaction(durable=True) as db:
        store_texts(loop.home, loop.row.session_id, {BEFORE: before.as_text().encode()}, db=db)
    return before


def list_earlier_tools(loop: RunLoop) -> Iterator[tuple[ToolUse, ...] | None]:
    """The tools that were used in what this goes on with; None where nobody can tell any more."""
    home, earlier, known = loop.home, loop.config.resume_of, {""}
    while earlier not in known:
        known.add(earlier)
        row = load_run(home.ledger, earlier)
        count = count_attempts(home.ledger, earlier)
        if row is None or not count or not has_session(home, earlier):
            yield None
            return
        for number in range(1, count + 1):
            folder = find_folder(home, earlier, number)
            yield listen_to(folder, loop.listen(number), load_result(folder)).tools
        earlier = read_run_config(row.details).resume_of


# --- afterwards -------------------------------------------------------------------------------------------------------


def make_context(loop: RunLoop, heard: RunOutput) -> JudgingContext:
    """What is known of the agent's work: the tools of all its attempts, unless one of them did not tell."""
    row, config, before = loop.row, loop.config, loop.before
    told = [*loop.earlier_tools, *(turn.heard.tools for turn in loop.attempts), heard.tools]
    tools = None if any(each is None for each in told) else tuple(use for each in told for use in each or ())
    is_asked = before is not None or bool(config.manifest)  # else nothing is told by what changed
    since = _list_resumed(loop)
    site = loop.supervisor.find_site(row, config.root, since=since) if is_asked else SharedTree(config.root)
    return JudgingContext(
        config.root, before, tools, site, config.manifest, config.manifest_bytes, config.topic, row.task_number,
        loop.supervisor.list_below(row.session_id), config.evidence and before is None,
        load_earlier(loop.home.ledger, row.session_id, until=len(loop.attempts)), config.manifest_sha256,
        lost=loop.lost, workspace_root=config.workspace_root,
    )  # fmt: skip


def find_nested_artifacts(loop: RunLoop) -> NestedArtifacts:
    """What was accepted of those below it. All that is in a worktree of its own becomes its commit, and is its."""
    if loop.before is None or loop.config.worktree:
        return NestedArtifacts()
    return load_nested_artifacts(loop.home, (loop.row.session_id, *_list_resumed(loop)), loop.config.root)


def _list_resumed(loop: RunLoop) -> dict[str, int]:
    """The delegations that this one goes on with, and when each began: the tree is compared with before them."""
    found: dict[str, int] = {}
    earlier = loop.config.resume_of
    while earlier and earlier not in found:
        row = load_run(loop.home.ledger, earlier)
        found[earlier] = 0 if row is None else row.started_ms or row.created_ms
        earlier = "" if row is None else read_run_config(row.details).resume_of
    return found
