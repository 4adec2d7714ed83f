"""`remit status`: the state of a workspace on one screen."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from remit.cli import options
from remit.cli.output import get_paint, print_json, print_lines
from remit.lazy_regex import lazy
from remit.terminal import count_columns, cut, escape, fold, measure, quote
from remit.views.render import ACCEPTED, NOT_ACCEPTED, count

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from remit.schemas import ManifestOverviewObject, OverviewObject, OverviewTaskObject, TaskOverviewObject
    from remit.tasks.store import StoredTask
    from remit.views.run_snapshots import RunSnapshot
    from remit.views.status import ManifestOverview, Overview, TaskOverview

_MAX_TASKS = 5
_MAX_COUNT_LINES = 2
_MAX_RUNNING = 3
_MAX_COLUMNS = 120
_NARROW = 60
_GAP = lazy(r" {3,}")
_NAME = 11
"""The width of the column of names."""
_AGES = ((86_400_000, "d"), (3_600_000, "h"), (60_000, "min"), (1_000, "s"))
_STYLES = {"accepted": "good", "repaired": "good"}


@click.command(cls=options.Command)
@options.output_format("full", "json")
def status(*, output_format: str) -> int:
    """Show current tasks, runs, findings, errors and the size of the ledger on one screen.

    Exit code 0: shown, 1: a part could not be read, 2: could not run.
    """
    from remit.views import status

    overview = status.load_overview()
    if output_format == "json":
        print_json(_build_overview(overview))
    else:
        room = min(count_columns(), _MAX_COLUMNS) - _NAME
        paint = get_paint()
        for name, text, style in _render(overview, room):
            for place, shown in enumerate(_fit(name, quote(text), room)):  # the text may come from agents
                first = "" if place else name
                print_lines(f"{paint('strong', f'{first:<{_NAME}}')}{paint(style, shown) if style else shown}".rstrip())
    return NOT_ACCEPTED if overview.unreadable else ACCEPTED


def _fit(name: str, text: str, room: int) -> list[str]:
    """Fit a text: table rows on one line; sentences on several lines, because they end with what to do."""
    if name != "workspace" and text[:1] not in (" ", ">"):
        return fold(text, room)
    if room < _NARROW and text[:1] in (" ", ">"):  # shorten the gaps between columns before the cells
        lead, rest = text[:2], text[2:]
        text = lead + _GAP.sub("  ", rest.strip(" "))
    return [cut(text, room)]


def _render(overview: Overview, room: int) -> Iterator[tuple[str, str, str]]:
    """Yield the lines: name, text, and style of the text."""
    branch = f"on {overview.branch} in " if overview.branch is not None else ""
    yield "workspace", f"{branch}{overview.root}", ""
    unreadable = dict(overview.unreadable)
    if "tasks" in unreadable:
        yield "tasks", unreadable["tasks"], "error"
    else:
        yield from _render_tasks(overview, room)
    yield from _render_runs(overview, unreadable, room)
    yield from _render_rest(overview, unreadable)


def _render_tasks(overview: Overview, room: int) -> Iterator[tuple[str, str, str]]:
    tasks = overview.tasks
    if tasks is None:
        outside = "managed by an outside system; its commands are in the settings"
        yield "tasks", outside if overview.outside else "none yet; to create one, run: remit task new TITLE", ""
        return
    total = sum(number for _, number in tasks.counts)
    lines = _fill(
        [f"{number} {marker.lower()}" for marker, number in tasks.counts], f"{total} in {tasks.folder}: ", room
    )
    yield "tasks", lines[0] if total else f"none in {tasks.folder}", ""
    for line in lines[1:_MAX_COUNT_LINES]:
        yield "", line, ""
    yield from _render_working(tasks)
    if tasks.differences:
        yield "drift", f"{count(tasks.differences, 'difference')}; see: remit task sync --check", "error"
    else:
        yield "drift", "none: state.json and TODO.md agree", ""


def _fill(words: list[str], before: str, room: int) -> list[str]:
    """Join words with commas, and wrap them into lines of at most `room` columns."""
    lines = [before]
    for place, word in enumerate(words):
        piece = word if place == len(words) - 1 else f"{word}, "
        if len(lines[-1]) + len(piece.rstrip()) > room:
            lines.append("")
        lines[-1] += piece
    return [line.rstrip() for line in lines]


def _render_working(tasks: TaskOverview) -> Iterator[tuple[str, str, str]]:
    """Yield the tasks in progress and the blocked tasks, the current one first."""
    shown = sorted(
        (*tasks.working, *tasks.blocked), key=lambda each: (each.number != tasks.focus, each.marker == "BLOCKED")
    )
    for each in shown[:_MAX_TASKS]:
        mark = ">" if each.number == tasks.focus else " "
        style = "warning" if each.marker == "BLOCKED" else ""
        yield "", f"{mark} {each.number:>4}  {each.marker or '':<12}  {each.title}", style
    if len(shown) > _MAX_TASKS:
        yield "", f"  and {len(shown) - _MAX_TASKS} more; see: remit task list", ""


def _render_runs(overview: Overview, unreadable: dict[str, str], room: int) -> Iterator[tuple[str, str, str]]:
    if "runs" in unreadable:
        yield "runs", unreadable["runs"], "error"
        return
    running, finished = overview.running, overview.finished
    if not running and not finished:
        yield "runs", "none yet", ""
        return
    yield "runs", f"{len(running)} open" if running else "none open", ""
    for each in running[:_MAX_RUNNING]:
        text, style = _render_running(each)
        yield "", f"  {_name_run(each.row.agent, each.row.task_number, room)}  {text}", style
    if len(running) > _MAX_RUNNING:
        yield "", f"  and {len(running) - _MAX_RUNNING} more; see: remit ps", ""
    for place, done in enumerate(finished):
        age = _show_age(overview.now_ms - (done.ended_ms or done.created_ms))
        how = done.stop_reason if done.stop_reason not in (None, "exited") else done.verdict
        words = " ".join(word for word in (done.status, how) if word) or "finished"
        style = _STYLES.get(done.verdict or "", "warning")
        name = "finished" if place == 0 else ""
        yield name, f"  {_name_run(done.agent, done.task_number, room)}  {words}, {age} ago", style


def _render_running(each: RunSnapshot) -> tuple[str, str]:
    """Return the state and usage of a run, and the style that marks a problem."""
    row, seen = each.row, each.seen
    facts = [f"{each.word} {_show_age(each.now_ms - (row.started_ms or row.created_ms))}"]
    if each.is_abandoned or each.is_unfollowed:  # the usage would leave no room for the command that helps
        return f"{facts[0]}; see remit ps", "error"
    if seen.tokens is not None:
        facts.append(f"{seen.tokens:,} tokens")
    if seen.cost_usd is not None:
        facts.append(f"${seen.cost_usd:.2f}")
    if seen.idle_s:
        return ", ".join((*facts, f"silent for {_show_age(seen.idle_s * 1000)}")), "warning"
    return ", ".join(facts), ""


def _name_run(agent: str, task: int | None, room: int) -> str:
    width = 24 if room >= _NARROW else 12
    shown = cut(escape(agent), width)
    return f"{shown}{' ' * (width - sum(measure(shown)))}  {f'task {task}' if task is not None else '':<9}"


def _show_age(age_ms: int) -> str:
    unit_ms, unit = next((each for each in _AGES if age_ms >= each[0]), _AGES[-1])
    return f"{max(0, age_ms) // unit_ms} {unit}"


def _render_rest(overview: Overview, unreadable: dict[str, str]) -> Iterator[tuple[str, str, str]]:
    manifest = overview.manifest
    if "manifest" in unreadable:
        yield "manifest", unreadable["manifest"], "error"
    elif manifest is None:
        yield "manifest", "none yet; to create it, run: remit findings add --title TEXT --finding TEXT --write-file", ""
    else:
        seen = manifest.seen
        entries = f"{seen.entries:,} {'entry' if seen.entries == 1 else 'entries'}"
        bad = f", {count(seen.bad_lines, 'bad line')}" if seen.bad_lines else ""
        part = "" if seen.is_whole else " at its beginning; index it with: remit findings reindex"
        doubled = f", {count(seen.doubled_ids, 'doubled id')}" if seen.doubled_ids else ""
        pending = f", {seen.pending:,} pending{bad}{doubled}" if seen.is_whole else ""
        yield "manifest", f"{entries}{pending}{part}", "warning" if bad or doubled else ""
    if "errors" in unreadable:
        yield "errors", unreadable["errors"], "error"
    elif overview.open_errors:
        causes = count(overview.open_causes, "cause")
        yield "errors", f"{overview.open_errors} open, {causes}; see: remit errors list", "warning"
    else:
        yield "errors", "none open", ""
    if "ledger" in unreadable:
        yield "ledger", unreadable["ledger"], "error"
    elif overview.ledger_bytes is None:
        yield "ledger", "none yet; the first run creates it", ""
    else:
        yield "ledger", f"{overview.ledger_bytes / 1024 / 1024:.1f} MB", ""


def _build_overview(overview: Overview) -> OverviewObject:
    from contextlib import closing

    from remit.views.json_builders import build_runs
    from remit.views.run_snapshots import load_snapshots, open_home

    tasks, manifest = overview.tasks, overview.manifest
    with closing(open_home()) as home:
        running = build_runs(home, overview.running)
        finished = build_runs(home, load_snapshots(home, overview.finished)) if overview.finished else []
    return {
        "root": overview.root,
        "branch": overview.branch,
        "tasks": None if tasks is None else _build_tasks(tasks),
        "outside": list(overview.outside),
        "runs": {"open": running, "finished": finished},
        "manifest": None if manifest is None else _build_manifest(manifest),
        "errors": {"open": overview.open_errors, "causes": overview.open_causes},
        "ledger_bytes": overview.ledger_bytes,
        "unreadable": [{"part": name, "message": sentence} for name, sentence in overview.unreadable],
    }


def _build_manifest(manifest: ManifestOverview) -> ManifestOverviewObject:
    counts = manifest.seen
    return {
        "path": manifest.path,
        "entries": counts.entries,
        "pending": counts.pending,
        "bad_lines": counts.bad_lines,
        "doubled_ids": counts.doubled_ids,
        "is_whole": counts.is_whole,
    }


def _build_tasks(tasks: TaskOverview) -> TaskOverviewObject:
    def build(found: Sequence[StoredTask]) -> list[OverviewTaskObject]:
        return [{"number": each.number, "title": each.title, "status": each.marker} for each in found]

    return {
        "folder": tasks.folder,
        "counts": dict(tasks.counts),
        "working": build(tasks.working),
        "blocked": build(tasks.blocked),
        "focus": tasks.focus,
        "differences": tasks.differences,
    }
