"""`remit gc`: remove old records and leftovers of crashes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from remit.cli import options
from remit.cli.output import get_paint, print_json, print_lines
from remit.terminal import escape, quote
from remit.views.render import ACCEPTED, NOT_ACCEPTED, count

if TYPE_CHECKING:
    from remit.maintenance.gc import GcResult
    from remit.schemas import GcObject

_MAX_SHOWN = 20
_MAX_CHANGES = 3
_UNITS = ((1024**3, "GB"), (1024**2, "MB"), (1024, "kB"))


@click.command(cls=options.Command)
@click.option("--dry-run", is_flag=True, help="Show what would be removed, and remove nothing.")
@options.output_format("full", "json")
def gc(*, dry_run: bool, output_format: str) -> int:
    """Remove finished runs by [retention] in the settings, and files that crashes left behind.

    A worktree is removed once its run is completed and all of its work is on a branch; other worktrees are listed.
    Tasks, findings, the error log and open runs are never removed.

    Exit code 0: done, 1: something could not be removed, 2: could not run.
    """
    from remit.maintenance import gc

    cleared = gc.clear_up(dry_run=dry_run)
    if output_format == "json":
        print_json(_build_gc(cleared, dry_run=dry_run))
    else:
        _show(cleared, dry_run=dry_run)
    return NOT_ACCEPTED if cleared.failures else ACCEPTED


def _build_gc(cleared: GcResult, *, dry_run: bool) -> GcObject:
    return {
        "root": cleared.root,
        "runs": cleared.runs,
        "events": cleared.events,
        "spills": cleared.spills,
        "recovered": [*cleared.recovered],
        "half_written": [*cleared.half_written],
        "worktrees": [*cleared.worktrees],
        "scratch": [*cleared.scratch],
        "folders": cleared.folders,
        "supervisors": cleared.supervisors,
        "trees": cleared.trees,
        "freed_bytes": cleared.freed_bytes,
        "failures": [*cleared.failures],
        "kept": {name: [*changes] for name, changes in cleared.kept},
        "dry_run": dry_run,
    }


def _show(cleared: GcResult, *, dry_run: bool) -> None:
    paint = get_paint()
    for failure in cleared.failures:
        print_lines(f"{paint('error', '✗')} {quote(failure)}")
    for name, changes in cleared.kept[:_MAX_SHOWN]:
        more = f" and {len(changes) - _MAX_CHANGES} more" if len(changes) > _MAX_CHANGES else ""
        shown = f"{', '.join(escape(each) for each in changes[:_MAX_CHANGES])}{more}"
        worktree = f".remit/worktrees/{escape(name)}"
        print_lines(f"{paint('warning', '!')} {worktree} was kept, because no branch has its changes: {shown}")
    if cleared.is_empty:
        print_lines(f"{paint('good', '✓')} nothing to remove")
        return
    verb = "would be removed" if dry_run else "removed"
    print_lines(f"{paint('good', '✓')} {verb}: {', '.join(_describe(cleared))}{_show_freed(cleared.freed_bytes)}")
    worktrees = [f".remit/worktrees/{name}" for name in cleared.worktrees]
    names = [*cleared.half_written, *cleared.recovered, *worktrees, *cleared.scratch]
    for name in names[:_MAX_SHOWN]:
        print_lines(f"  {escape(name)}")
    if len(names) > _MAX_SHOWN:
        print_lines(f"  and {len(names) - _MAX_SHOWN} more")


def _describe(cleared: GcResult) -> list[str]:
    totals = [
        (cleared.runs, "run"),
        (cleared.events, "event"),
        (cleared.spills, "spill"),
        (len(cleared.worktrees), "worktree"),
        (len(cleared.recovered), "recovered original"),
        (len(cleared.half_written), "half-written file"),
        (len(cleared.scratch), "scratch folder"),
        (cleared.folders, "session folder"),
        (cleared.supervisors, "supervisor record"),
        (cleared.trees, "recorded tree"),
    ]
    return [count(total, noun) for total, noun in totals if total]


def _show_freed(size: int) -> str:
    if not size:
        return ""
    factor, unit = next((each for each in _UNITS if size >= each[0]), (1, "B"))
    return f" ({size / factor:.1f} {unit})" if factor > 1 else f" ({size} {unit})"
