"""`remit ps`: the runs of a workspace, as a table or as trees."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from remit.cli import options
from remit.cli.commands import completion
from remit.cli.output import get_paint, print_json, print_lines, warn_about_settings
from remit.errors import UsageError
from remit.terminal import count_columns, cut, escape, find_width, fold, measure, quote
from remit.views.render import ACCEPTED, count

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from remit.cluster.workers_status import ClusterStatus
    from remit.terminal import Paint
    from remit.views.run_snapshots import RunSnapshot

_MOST_SHOWN = 100
_HEADINGS = ("SESSION", "AGENT", "STATE", "TOOK", "LEFT", "OUTPUT", "TOKENS", "COST", "SUPERVISOR")
_STATE = 2
_AGENT_COLUMNS = 24
_STYLES = {"completed": "good", "running": "good", "failed": "error", "abandoned": "error", "partial": "warning",
           "blocked": "warning", "ended": "warning"}  # fmt: skip


@click.command(cls=options.Command)
@click.argument("session", metavar="[ID]", required=False, shell_complete=completion.complete_sessions)
@click.option("--all", "-a", "everything", is_flag=True, help="Include finished runs.")
@click.option("--tree", "as_tree", is_flag=True, help="Show nested runs below their callers; with ID, of one run.")
@options.output_format("full", "json")
def ps(session: str | None, *, everything: bool, as_tree: bool, output_format: str) -> int:
    """List the open runs: duration, time left, and when Remit last received output.

    If other machines run agents, their workers and queues are listed below. --tree shows every tree that has an open
    run, else the last one; ID, which can be cut short at either end, chooses one. Read-only: if a run has lost its
    process, the command that recovers it is printed.

    Exit code 0: shown, 2: could not run.
    """
    from remit.cluster.workers_status import load_status
    from remit.runs.agent_lookup import load_settings_or_usual
    from remit.views.json_builders import build_list, build_runs
    from remit.views.run_snapshots import list_snapshots, open_home

    if as_tree:
        if everything:
            raise UsageError("can't combine --tree with --all", hint="leave one of them out")
        return _show_trees(session, output_format)
    if session is not None:
        raise UsageError("ID needs --tree", hint=f"run 'remit ps --tree {session}' or 'remit show {session}'")
    home = open_home()
    try:
        _, trouble = load_settings_or_usual(home.root)
        warn_about_settings(trouble)
        cluster = load_status(home)
        found = list_snapshots(home, everything=everything, cluster=cluster)
        runs = build_runs(home, found) if output_format == "json" else []
    finally:
        home.close()
    if output_format == "json":
        print_json(build_list(runs))
    else:
        _show_all(found, cluster, everything=everything)
    return ACCEPTED


def _show_all(found: Sequence[RunSnapshot], cluster: ClusterStatus | None, *, everything: bool) -> None:
    if found:
        _show(found)
    else:
        text = "no runs yet" if everything else "no open runs; to include finished runs, use: remit ps --all"
        print_lines("\n".join(fold(text, find_width())))
    if cluster is not None:
        from remit.cli.workers_output import render_cluster

        is_waited = any(each.is_open and each.place is not None and each.row.state == "admitted" for each in found)
        for line in render_cluster(cluster, paint=get_paint(), is_first=False, is_waited=is_waited):
            print_lines(line)


def _show(found: Sequence[RunSnapshot]) -> None:
    """Print a table with each run's warnings below its row."""
    paint = get_paint()
    is_here = all(each.place is None for each in found)
    headings = _HEADINGS if is_here else (*_HEADINGS, "WORKER")
    rows = [[*_render_cells(each), *(() if is_here else (name_place(each),))] for each in found[:_MOST_SHOWN]]
    width = find_width()
    lines = align_columns(_drop_empty([headings, *rows], width))
    print_lines(paint("strong", "  ".join(next(lines)).rstrip()))
    for each, cells in zip(found, lines, strict=False):
        cells[_STATE] = paint(_STYLES.get(each.word, "note"), cells[_STATE])
        print_lines("  ".join(cells).rstrip())
        if each.seen.check is not None:
            print_lines(f"  {paint('note', '·')} {quote(each.seen.check.describe(each.now_ms))}")
        for warning in list_warnings(each):
            first, *more = fold(warning, None if width is None else width - 4)
            print_lines("\n    ".join((f"  {paint('warning', '!')} {first}", *more)))
    if len(found) > _MOST_SHOWN:
        print_lines(f"… and {len(found) - _MOST_SHOWN} more: remit ps --all --json has them")


def _drop_empty(rows: list[Sequence[str]], width: int | None) -> list[Sequence[str]]:
    """Return the rows without empty columns if the table is wider than the screen."""
    if width is None or len("  ".join(next(align_columns(rows)))) <= width:
        return rows
    kept = [index for index in range(len(rows[0])) if index <= _STATE or any(row[index] for row in rows[1:])]
    return [[row[index] for index in kept] for row in rows]


def align_columns(rows: Sequence[Sequence[str]]) -> Iterator[list[str]]:
    """Yield the rows of a table with each cell padded to the width of its column."""
    widths = [max(map(_measure, column)) for column in zip(*rows, strict=True)]
    for cells in rows:
        yield [text + " " * (width - _measure(text)) for text, width in zip(cells, widths, strict=True)]


def _measure(text: str) -> int:
    return sum(measure(text))


def _render_cells(each: RunSnapshot) -> Iterator[str]:
    from remit.cli.live import render_clock

    row, seen = each.row, each.seen
    begun_ms = row.started_ms or row.created_ms
    until_ms = row.ended_ms or each.now_ms
    yield escape(row.session_id)
    yield cut(escape(row.agent), _AGENT_COLUMNS)
    yield escape(each.word)
    yield render_clock((until_ms - begun_ms) / 1000)
    is_running = each.is_open and row.started_ms is not None and row.ended_ms is None and row.deadline_ms is not None
    yield render_clock(((row.deadline_ms or 0) - each.now_ms) / 1000) if is_running else ""
    yield f"{render_clock((each.now_ms - seen.activity_ms) / 1000)} ago" if each.is_open and seen.activity_ms else ""
    yield "" if seen.tokens is None else f"{seen.tokens:,}"
    yield "" if seen.cost_usd is None else f"${seen.cost_usd:.2f}"
    yield name_supervisor(each)


def name_supervisor(each: RunSnapshot) -> str:
    """Return which process supervises a run."""
    if not each.is_open:
        return ""
    if not each.is_supervised:
        return "none"
    if each.harness:
        return escape(each.harness)
    if each.place is not None and each.driver_pid is None:
        return "its caller"
    return f"process {each.driver_pid}" if each.driver_pid is not None else "a process"


def name_place(each: RunSnapshot) -> str:
    """Return the worker that has a run, or how long the run has been queued; empty for a run on this machine."""
    from remit.cli.live import render_clock

    place = each.place
    if place is None:
        return ""
    if each.is_open and each.row.state == "admitted":
        waited_s = (each.now_ms - each.row.created_ms) / 1000 if place.waited_s is None else place.waited_s
        return f"queued {render_clock(waited_s)}"
    if place.is_late:
        return f"{escape(place.worker)}, lease {-(place.lease_left_s or 0):.0f} s over"
    return escape(place.worker)


def list_warnings(each: RunSnapshot) -> list[str]:
    """Return the warnings about an open run, each with the command that helps."""
    from remit.cli.live import render_clock

    session = escape(each.row.session_id)
    warnings = []
    if each.is_lost:
        warnings.append(
            f"its harness never reported its end, and its time is over; to close it, run: remit wait {session}"
        )
    elif each.is_abandoned:
        agent = (
            "its agent is alive" if each.is_alive else "its agent has ended" if each.row.started_ms else "it is queued"
        )
        warnings.append(f"no process supervises it, and {agent}; to take over, run: remit wait {session}")
    elif each.is_unfollowed:
        warnings.append(
            f"no process here follows it{_describe_elsewhere(each)}; to get its result, run: remit wait {session}"
        )
    if each.place is not None and each.place.is_late:
        warnings.append(f"its worker {escape(each.place.worker)} is silent; another worker resumes or ends it")
    if each.seen.idle_s:
        warnings.append(f"no output for {render_clock(each.seen.idle_s)}; to follow it, run: remit logs -f {session}")
    return warnings


def _describe_elsewhere(each: RunSnapshot) -> str:
    """Return the state of a run on another machine, as the end of a sentence."""
    if each.word == "ended":
        return ", and it has ended"
    worker = f" at {escape(each.seen.worker)}" if each.seen.worker else ""
    return ", and it waits for a worker" if each.row.state == "admitted" else f", and it continues{worker}"


def _show_trees(session: str | None, output_format: str) -> int:
    """Print a run and its nested runs, or every tree with an open run."""
    from remit.cluster.workers_status import load_status
    from remit.runs.agent_lookup import load_settings_or_usual
    from remit.views.json_builders import build_list, build_tree_runs
    from remit.views.run_snapshots import find_session, open_home
    from remit.views.run_tree import list_roots, list_subtree

    home = open_home()
    try:
        warn_about_settings(load_settings_or_usual(home.root)[1])
        chosen = None if session is None else find_session(home, session)
        cluster = load_status(home, chosen)
        roots = list_roots(home) if chosen is None else [chosen]
        trees = [list_subtree(home, root, cluster=cluster) for root in roots]
        runs = [build_tree_runs(home, found) for found in trees] if output_format == "json" else []
    finally:
        home.close()
    if output_format == "json":
        print_json(build_list(run for tree in runs for run in tree))
        return ACCEPTED
    for found in trees:
        for each in found:
            print_lines(_render_branch(each, paint=get_paint()))
    if not trees:
        print_lines("no runs yet")
    else:
        total = [each for found in trees for each in found]
        print_lines(f"\n{count(len(total), 'run')}, {sum(each.is_open for each in total)} open")
    report_cluster_error(cluster)
    return ACCEPTED


def report_cluster_error(cluster: ClusterStatus | None) -> None:
    """Report that the shared database can't be reached, so that the output is only the ledger's state."""
    if cluster is not None and cluster.error is not None:
        from remit.cli.workers_output import render_cluster_error

        print_lines(render_cluster_error(cluster, paint=get_paint(stderr=True)), stderr=True)


def _render_branch(each: RunSnapshot, *, paint: Paint) -> str:
    """`  ✓ researcher  completed  0:12  sess_…`."""
    from remit.cli.live import render_state

    indent = "  " * each.seen.level
    style = _STYLES.get(each.word, "note")
    mark = ("✓" if each.row.status == "completed" else "✗") if each.row.ended_ms is not None else "·"
    state = render_state(each.seen)
    message = f"  {escape(each.word)}" if each.word in ("abandoned", "ended", "waiting") else ""
    for_whom = f" for {escape(', '.join(each.waits_for))}" if each.word == "waiting" else ""
    text = f"{escape(each.row.agent)}  {escape(each.row.session_id)}{message}{for_whom}  {state}"
    return f"{indent}{paint(style, mark)} {cut(text, max(40, count_columns() - len(indent) - 2))}"
