"""Tables of the workers and queues of other machines, for `remit ps` and `remit worker list`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from remit.cli.commands.ps import align_columns
from remit.cli.live import render_clock
from remit.cluster.workers_status import NO_WORKER
from remit.terminal import cut, escape, quote
from remit.views.render import count

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from remit.cluster.database.workers import QueueRow, WorkerRow
    from remit.cluster.workers_status import ClusterStatus
    from remit.terminal import Paint

_MOST = 50
_NAME_COLUMNS = 32
_WORKERS = ("WORKER", "HOST", "RUNNING", "STATE", "BEAT", "AGENTS")
_QUEUES = ("QUEUE", "WAITING", "RUNNING", "OLDEST")
_STYLES = {"active": "good", "draining": "warning", "silent": "error"}


def render_cluster(
    cluster: ClusterStatus, *, paint: Paint, is_first: bool = False, is_waited: bool = False
) -> Iterator[str]:  # fmt: skip
    """Render workers and queues as two short tables, with warnings and a summary.

    `is_waited`: a run of this workspace is queued that the database may not have yet.
    """
    if not is_first:
        yield ""
    if cluster.overview is None:
        yield render_cluster_error(cluster, paint=paint)
        return
    workers = [each for each in cluster.overview.workers if each.state != "gone"]
    if workers:
        yield from _render_table(_WORKERS, [_render_worker(each) for each in workers], paint, state=3)
    if not cluster.has_active_worker:
        is_draining = any(each.is_live for each in workers)
        text = "all workers are draining; start another one: remit worker start" if is_draining else NO_WORKER
        yield f"{paint('warning', '!')} {text}"
    if cluster.overview.queues:
        yield ""
        yield from _render_table(_QUEUES, [_render_queue(each) for each in cluster.overview.queues], paint)
    yield f"\n{_sum_up(cluster, workers, is_waited=is_waited)}"


def render_cluster_error(cluster: ClusterStatus, *, paint: Paint) -> str:
    """Render on one line why the state of other machines is unknown."""
    text = str(cluster.error) if cluster.error is not None else "the state of other machines is unknown"
    return f"{paint('warning', '!')} {quote(text)}"


def _render_table(
    headings: Sequence[str], rows: Sequence[Sequence[str]], paint: Paint, *, state: int | None = None
) -> Iterator[str]:  # fmt: skip
    lines = align_columns([headings, *rows[:_MOST]])
    yield paint("strong", "  ".join(next(lines)).rstrip())
    for cells in lines:
        if state is not None:
            cells[state] = paint(_STYLES.get(cells[state].strip(), "note"), cells[state])
        yield "  ".join(cells).rstrip()
    if len(rows) > _MOST:
        yield f"… and {len(rows) - _MOST} more: remit worker list --json has them"


def _render_worker(worker: WorkerRow) -> list[str]:
    return [
        cut(escape(worker.worker_id), _NAME_COLUMNS),
        cut(escape(worker.host), _NAME_COLUMNS),
        f"{worker.running}/{worker.concurrency}",
        escape(worker.state) if worker.is_live else "silent",
        f"{render_clock(worker.beat_ago_s)} ago",
        cut(escape(", ".join(worker.agents)) or "all", 2 * _NAME_COLUMNS),
    ]


def _render_queue(queue: QueueRow) -> list[str]:
    oldest = "" if queue.oldest_s is None else render_clock(queue.oldest_s)
    return [cut(escape(queue.queue), _NAME_COLUMNS) or "not in one", str(queue.waiting), str(queue.running), oldest]


def _sum_up(cluster: ClusterStatus, workers: Sequence[WorkerRow], *, is_waited: bool) -> str:
    live = sum(each.is_live for each in workers)
    lag = "" if is_waited else "; nothing waits"
    if cluster.lag_s is not None:
        lag = f"; the oldest waits for {render_clock(cluster.lag_s)}"
    return f"{count(live, 'worker')} at {escape(cluster.database)}{lag}"
