"""`remit ps` and `remit tree`: who is at work, and who handed work to whom."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from remit.doors.cli import options
from remit.doors.cli.output import get_paint, say, say_json
from remit.doors.render import ACCEPTED, count
from remit.doors.terminal import count_columns, escape, measure

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from remit.app.delegating.views import Standing
    from remit.doors.terminal import Paint

_MOST_SHOWN = 100
_HEADINGS = ("SESSION", "AGENT", "STATE", "AGE", "LEFT", "HEARD", "TOKENS", "COST", "DRIVER")
_AGENT_COLUMNS = 24
_STYLES = {"completed": "good", "running": "good", "failed": "error", "abandoned": "error", "partial": "warning",
           "blocked": "warning"}  # fmt: skip


@click.command(cls=options.Command, short_help="Show which agents are at work.")
@click.option("--all", "everything", is_flag=True, help="Those too that are over.")
@options.output_format("full", "json")
def ps(*, everything: bool, output_format: str) -> int:
    """Show the delegations that are open: how long they run, how much time is left, when something was last heard.

    Nothing is changed: where nobody drives one any more, it is said how that is put right. Exit code 0: shown, 2: could
    not run.
    """
    from remit.app.delegating.views import list_work, open_home

    home = open_home()
    try:
        found = list_work(home, everything=everything)
    finally:
        home.close()
    if output_format == "json":
        say_json([shape_standing(each) for each in found])
    elif not found:
        say("nothing was delegated yet" if everything else "nothing is at work; remit ps --all shows what was")
    else:
        _show(found)
    return ACCEPTED


def _show(found: Sequence[Standing]) -> None:
    """A table, the columns as wide as what is in them; warnings below their row."""
    paint = get_paint()
    rows = [list(_render_cells(each)) for each in found[:_MOST_SHOWN]]
    widths = [max(map(_measure, column)) for column in zip(_HEADINGS, *rows, strict=True)]
    say(paint("strong", "  ".join(map(_pad, _HEADINGS, widths)).rstrip()))
    for each, cells in zip(found, rows, strict=False):
        padded = [*map(_pad, cells, widths)]
        padded[2] = paint(_STYLES.get(each.word, "note"), padded[2])
        say("  ".join(padded).rstrip())
        for warning in list_warnings(each):
            say(f"  {paint('warning', '!')} {warning}")
    if len(found) > _MOST_SHOWN:
        say(f"… and {len(found) - _MOST_SHOWN} more: remit ps --all --json has them")


def _measure(text: str) -> int:
    return sum(measure(text))


def _pad(text: str, width: int) -> str:
    return text + " " * (width - _measure(text))


def _render_cells(each: Standing) -> Iterator[str]:
    from remit.doors.cli.live import render_clock
    from remit.doors.cli.status import cut

    row, seen = each.row, each.seen
    begun_ms = row.started_ms or row.created_ms
    until_ms = row.ended_ms or each.now_ms
    yield escape(row.session_id)
    yield cut(escape(row.agent), _AGENT_COLUMNS)
    yield escape(each.word)
    yield render_clock((until_ms - begun_ms) / 1000)
    is_running = each.is_open and row.started_ms is not None and row.ended_ms is None and row.deadline_ms is not None
    yield render_clock(((row.deadline_ms or 0) - each.now_ms) / 1000) if is_running else ""
    yield f"{render_clock((each.now_ms - seen.heard_ms) / 1000)} ago" if each.is_open and seen.heard_ms else ""
    yield "" if seen.tokens is None else f"{seen.tokens:,}"
    yield "" if seen.cost_usd is None else f"${seen.cost_usd:.2f}"
    yield name_driver(each)


def name_driver(each: Standing) -> str:
    """Who drives a delegation."""
    if not each.is_open:
        return ""
    if not each.is_driven:
        return "nobody"
    if each.harness:
        return escape(each.harness)
    return f"process {each.driver_pid}" if each.driver_pid is not None else "a process"


def list_warnings(each: Standing) -> list[str]:
    """What is worth a look about a delegation that is open, each with what to do."""
    from remit.doors.cli.live import render_clock

    session = escape(each.row.session_id)
    told = []
    if each.is_lost:
        told.append(f"its harness has told nothing of its end, which is long due: remit wait {session} settles it")
    elif each.is_abandoned:
        agent = "its agent is alive" if each.is_alive else "its agent has ended" if each.row.started_ms else "it waits"
        told.append(f"nobody drives it, and {agent}: remit wait {session} takes it over")
    if each.seen.idle_s:
        told.append(f"nothing was heard for {render_clock(each.seen.idle_s)}: remit logs -f {session}")
    return told


def shape_standing(each: Standing) -> dict[str, Any]:
    """A delegation as it stands, as JSON."""
    row, seen = each.row, each.seen
    left_ms = None if row.deadline_ms is None or not each.is_open else max(0, row.deadline_ms - each.now_ms)
    return {
        "session_id": row.session_id,
        "agent": row.agent,
        "state": row.state,
        "standing": each.word,
        "status": row.status,
        "outcome": row.outcome,
        "ending": row.ending,
        "depth": row.depth,
        "path": [*row.path],
        "parent_id": row.parent_id,
        "root_id": row.root_id,
        "task_number": row.task_number,
        "runner": row.runner,
        "work": each.work,
        "created_ms": row.created_ms,
        "started_ms": row.started_ms,
        "deadline_ms": row.deadline_ms,
        "ended_ms": row.ended_ms,
        "left_ms": left_ms,
        "heard_ms": seen.heard_ms,
        "said": seen.said,
        "idle_s": seen.idle_s,
        "tokens": seen.tokens,
        "cost_usd": seen.cost_usd,
        "turns": row.turns,
        "driven": each.is_driven,
        "driver_pid": each.driver_pid,
        "harness": each.harness or None,
        "alive": each.is_alive,
        "waits_for": [*each.waits_for],
    }


@click.command(cls=options.Command, short_help="Show who handed work to whom.")
@click.argument("session", metavar="[ID]", required=False)
@options.output_format("full", "json")
def tree(session: str | None, *, output_format: str) -> int:
    """Show a delegation and all below it; without an ID, every tree in which something is open, else the last one.

    An ID can be cut short at either end. Exit code 0: shown, 2: could not run.
    """
    from remit.app.delegating.views import find_session, list_roots, list_tree, open_home

    home = open_home()
    try:
        roots = list_roots(home) if session is None else [find_session(home, session)]
        trees = [list_tree(home, root) for root in roots]
    finally:
        home.close()
    if output_format == "json":
        say_json([[shape_standing(each) | {"level": each.seen.level} for each in found] for found in trees])
        return ACCEPTED
    for found in trees:
        for each in found:
            say(_render_branch(each, paint=get_paint()))
    if not trees:
        say("nothing was delegated yet")
    else:
        total = [each for found in trees for each in found]
        say(f"\n{count(len(total), 'delegation')}, {sum(each.is_open for each in total)} open")
    return ACCEPTED


def _render_branch(each: Standing, *, paint: Paint) -> str:
    """`  ✓ researcher  completed  0:12  sess_…`."""
    from remit.doors.cli.live import render_state
    from remit.doors.cli.status import cut

    indent = "  " * each.seen.level
    style = _STYLES.get(each.word, "note")
    mark = ("✓" if each.row.status == "completed" else "✗") if each.row.ended_ms is not None else "·"
    state = render_state(each.seen)
    told = f"  {escape(each.word)}" if each.word in ("abandoned", "waiting") else ""
    for_whom = f" for {escape(', '.join(each.waits_for))}" if each.word == "waiting" else ""
    text = f"{escape(each.row.agent)}  {escape(each.row.session_id)}{told}{for_whom}  {state}"
    return f"{indent}{paint(style, mark)} {cut(text, max(40, count_columns() - len(indent) - 2))}"
