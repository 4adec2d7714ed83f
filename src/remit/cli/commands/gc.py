"""`remit gc`: remove what was kept long enough, and what crashes have left."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from remit.cli import options
from remit.cli.output import get_paint, say, say_json
from remit.terminal import escape, quote
from remit.views.render import ACCEPTED, NOT_ACCEPTED, count

if TYPE_CHECKING:
    from remit.maintenance.gc import GcResult

_MAX_SHOWN = 20
_MAX_HELD = 3
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
        say_json(_shape(cleared, dry_run=dry_run))
    else:
        _show(cleared, dry_run=dry_run)
    return NOT_ACCEPTED if cleared.failures else ACCEPTED


def _shape(cleared: GcResult, *, dry_run: bool) -> dict[str, Any]:
    kept = {name: list(held) for name, held in cleared.kept}
    return {key: list(value) if isinstance(value, tuple) else value for key, value in cleared._asdict().items()} | {
        "kept": kept,
        "dry_run": dry_run,
    }


def _show(cleared: GcResult, *, dry_run: bool) -> None:
    paint = get_paint()
    for failure in cleared.failures:
        say(f"{paint('error', '✗')} {quote(failure)}")
    for name, held in cleared.kept[:_MAX_SHOWN]:
        more = f" and {len(held) - _MAX_HELD} more" if len(held) > _MAX_HELD else ""
        shown = f"{', '.join(escape(each) for each in held[:_MAX_HELD])}{more}"
        say(f"{paint('warning', '!')} .remit/worktrees/{escape(name)} stays, it holds what is on no branch: {shown}")
    if cleared.is_empty:
        say(f"{paint('good', '✓')} nothing to remove")
        return
    verb = "would be removed" if dry_run else "removed"
    say(f"{paint('good', '✓')} {verb}: {', '.join(_describe(cleared))}{_show_freed(cleared.freed_bytes)}")
    worktrees = [f".remit/worktrees/{name}" for name in cleared.worktrees]
    names = [*cleared.half_written, *cleared.recovered, *worktrees, *cleared.scratch]
    for name in names[:_MAX_SHOWN]:
        say(f"  {escape(name)}")
    if len(names) > _MAX_SHOWN:
        say(f"  and {len(names) - _MAX_SHOWN} more")


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
        (cleared.supervisors, "departed supervisor"),
        (cleared.trees, "recorded tree"),
    ]
    return [count(total, noun) for total, noun in totals if total]


def _show_freed(size: int) -> str:
    if not size:
        return ""
    factor, unit = next((each for each in _UNITS if size >= each[0]), (1, "B"))
    return f" ({size / factor:.1f} {unit})" if factor > 1 else f" ({size} {unit})"
