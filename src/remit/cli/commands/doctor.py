"""`remit doctor`: check the installation and the workspace for problems."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from remit.cli import options
from remit.cli.output import get_paint, print_json, print_lines
from remit.terminal import escape, find_width, fold, quote, shorten
from remit.views.render import ACCEPTED, NOT_ACCEPTED, count

if TYPE_CHECKING:
    from remit.maintenance.doctor import DoctorReport
    from remit.schemas import DoctorObject, HealthCheckObject

_MIN_ROOM = 20
_MARKS = {"ok": ("good", "✓"), "warning": ("warning", "!"), "problem": ("error", "✗")}


@click.command(cls=options.Command)
@options.output_format("full", "json")
def doctor(*, output_format: str) -> int:
    """Check the installation and workspace for problems, and print a command for each. Nothing is changed.

    It reports runs that hang, have lost their process or call each other in a cycle, agents whose limits don't fit the
    time that they take, and agents whose returns often fail. For each agent it shows the format of its return and where
    it is declared.

    A change of tasks that a crash interrupted is finished first, as by every command that reads tasks.

    Exit code 0: no problems, though there may be warnings; 1: problems; 2: could not run.
    """
    from remit.maintenance import doctor

    health = doctor.check_health()
    if output_format == "json":
        print_json(_build_doctor(health))
    else:
        _show(health)
    return ACCEPTED if health.is_well else NOT_ACCEPTED


def _build_doctor(health: DoctorReport) -> DoctorObject:
    checks: list[HealthCheckObject] = [
        {"name": check.name, "state": check.state, "message": check.message, "hint": check.hint}
        for check in health.checks
    ]
    return {"root": health.root, "well": health.is_well, "checks": checks}


def _show(health: DoctorReport) -> None:
    paint = get_paint()
    width = max(len(check.name) for check in health.checks)
    columns = find_width()
    room, margin = (None if columns is None else max(_MIN_ROOM, columns - width - 4)), f"\n{'':<{width + 4}}"
    for check in health.checks:
        style, mark = _MARKS[check.state]
        message = escape("; ".join(map(shorten, check.message.split("; "))))  # show all items of a list
        print_lines(f"{paint(style, mark)} {check.name:<{width}}  {margin.join(fold(message, room))}")
        if check.hint and check.state != "ok":
            shown = margin.join(fold(f"= help: {quote(check.hint)}", room)).removeprefix("= help")
            print_lines(f"  {'':<{width}}  {paint('frame', '=')} {paint('strong', 'help')}{shown}")
    states = [check.state for check in health.checks]
    totals = [count(states.count(state), state) for state in ("problem", "warning") if state in states]
    mark = paint("good", "✓") if health.is_well else paint("error", "✗")
    print_lines(f"\n{mark} {count(len(states), 'check')}: {', '.join(totals) or 'no problems'}")
