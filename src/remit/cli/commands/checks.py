"""`remit checks`: run the acceptance checks of the workspace on its current tree."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import click

from remit.cli import options
from remit.cli.live import Screen
from remit.cli.output import get_paint, print_json, print_lines
from remit.cli.result_output import render_check
from remit.terminal import cut, escape
from remit.views.render import ACCEPTED, INTERRUPTED, NOT_ACCEPTED

if TYPE_CHECKING:
    from collections.abc import Coroutine, Mapping, Sequence

    from remit.runs.checks.accept import CheckedTree
    from remit.runs.checks.definition import AcceptanceCheck

_DRAW_INTERVAL_S = 0.25


@click.command(cls=options.Command)
@click.argument("names", metavar="[NAME]...", nargs=-1)
@click.option("--list", "only_list", is_flag=True, help="List the checks, and run none.")
@options.output_format("full", "json")
def checks(names: tuple[str, ...], *, only_list: bool, output_format: str) -> int:
    """Run the acceptance checks in remit.toml on the current tree, or only those with these NAMEs.

    A check is a command that has to pass before Remit believes that an agent's work is complete: [checks.tests] with
    run = "pytest -q". A check that passes here isn't repeated for a run that leaves the same tree.

    Ctrl-C ends the check that is running. Exit code 0: all passed, 1: a check failed or was not run, 2: could not run.
    """
    import os

    from remit.cli.interrupts import Interrupts
    from remit.ledger.home import Home
    from remit.runs.checks.definition import choose_checks
    from remit.runs.checks.workspace_checks import check_workspace, find_checkout, list_checks
    from remit.storage.settings import find_workspace, load_settings

    root = find_workspace()
    settings = load_settings(root)
    if only_list:
        known = choose_checks(names, settings.checks, may_be_commands=False) if names else list_checks(settings)
        _show_list(known, output_format)
        return ACCEPTED
    import asyncio

    from remit.views.json_builders import build_check, build_list

    display = CheckDisplay() if output_format != "json" and Screen.is_available() else None
    report = display.take if display else lambda _: None

    async def check() -> tuple[CheckedTree, bool]:
        is_cancelled = asyncio.Event()
        with Interrupts(asyncio.get_running_loop()) as interrupts:
            interrupts.set_handlers(first=is_cancelled.set, again=is_cancelled.set)
            checking = check_workspace(
                Home(root), settings, names, root=find_checkout(root), environ=os.environ, report=report,
                is_cancelled=is_cancelled.is_set,
            )  # fmt: skip
            return await (display.follow(checking) if display else checking), is_cancelled.is_set()

    found, is_interrupted = asyncio.run(check())
    code = INTERRUPTED if is_interrupted else ACCEPTED if found.is_passed else NOT_ACCEPTED
    paint = get_paint()
    if output_format == "json":
        print_json(build_list(build_check(each) for each in found.results))
        return code
    width = max(len(each.name) for each in found.results)
    for result in found.results:
        for line in render_check(result, paint, width=width):
            print_lines(line)
    return code


class CheckDisplay:
    """Shows on a terminal which check is running, and for how long."""

    def __init__(self) -> None:
        self._screen = Screen()
        self._now = "reading the working tree"
        self._since_s = time.monotonic()

    def take(self, event: Mapping[str, object]) -> None:
        """Take an event of the checks."""
        if event["state"] == "started":
            self._now = f"running check {escape(str(event['check']))}"
        elif event["state"] == "waiting":
            self._now = "another process runs checks in this tree; waiting"
        self._since_s = time.monotonic()

    async def follow(self, checking: Coroutine[Any, Any, CheckedTree]) -> CheckedTree:
        """Draw the progress until the checks have ended."""
        import asyncio

        task = asyncio.ensure_future(checking)
        try:
            while not (await asyncio.wait({task}, timeout=_DRAW_INTERVAL_S))[0]:
                line = f"{self._now} ({time.monotonic() - self._since_s:.0f} s)"
                self._screen.draw([cut(line, self._screen.get_size()[0] - 1)])
        finally:
            self._screen.draw([])
            if not task.done():
                task.cancel()
                await asyncio.wait({task})
        return task.result()


def _show_list(known: Sequence[AcceptanceCheck], output_format: str) -> None:
    if output_format == "json":
        from remit.views.json_builders import build_check_definition, build_list

        print_json(build_list(build_check_definition(each) for each in known))
        return
    if not known:
        print_lines('no checks; add one to remit.toml:\n\n[checks.tests]\nrun = "pytest -q"')
    width = max((len(each.name) for each in known), default=0)
    for check in known:
        only = f"  (if {', '.join(map(escape, check.when))} changed)" if check.when else ""
        print_lines(f"{escape(check.name):<{width}}  {escape(check.run)}{only}")
