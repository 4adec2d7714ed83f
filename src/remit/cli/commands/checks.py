"""`remit checks`: run the acceptance checks of the workspace on its current tree."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

from remit.cli import options
from remit.cli.output import get_paint, print_json, print_lines
from remit.terminal import escape, quote
from remit.views.render import ACCEPTED, NOT_ACCEPTED

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from remit.result import CheckResult
    from remit.runs.checks.definition import AcceptanceCheck

_MARKS = {"passed": ("✓", "good"), "failed": ("✗", "error"), "not run": ("!", "warning")}


@click.command(cls=options.Command)
@click.argument("names", metavar="[NAME]...", nargs=-1)
@click.option("--list", "only_list", is_flag=True, help="List the checks, and run none.")
@options.output_format("full", "json")
def checks(names: tuple[str, ...], *, only_list: bool, output_format: str) -> int:
    """Run the acceptance checks in remit.toml on the current tree, or only those with these NAMEs.

    A check is a command that has to pass before Remit believes that an agent's work is complete: [checks.tests] with
    run = "pytest -q". A check that passes here isn't repeated for a run that leaves the same tree.

    Exit code 0: all passed, 1: a check failed or was not run, 2: could not run.
    """
    import os

    from remit.ledger.home import Home
    from remit.runs.checks.definition import choose_checks
    from remit.runs.checks.workspace_checks import check_workspace, list_checks
    from remit.storage.settings import find_workspace, load_settings

    root = find_workspace()
    settings = load_settings(root)
    if only_list:
        known = choose_checks(names, settings.checks, may_be_commands=False) if names else list_checks(settings)
        _show_list(known, output_format)
        return ACCEPTED
    import asyncio

    from remit.views.json_objects import build_check

    paint = get_paint()
    shows_progress = output_format != "json" and sys.stderr is not None and sys.stderr.isatty()

    def report(event: Mapping[str, object]) -> None:
        if shows_progress and event["state"] == "started":
            print_lines(f"running {escape(str(event['check']))} ...", stderr=True)

    found = asyncio.run(check_workspace(Home(root), settings, names, environ=os.environ, report=report))
    if output_format == "json":
        print_json({"items": [build_check(each) for each in found.results]})
        return ACCEPTED if found.is_passed else NOT_ACCEPTED
    width = max(len(each.name) for each in found.results)
    for result in found.results:
        mark, style = _MARKS[result.answer]
        print_lines(f"{paint(style, mark)} {escape(result.name):<{width}}  {_describe(result)}")
        if result.answer != "passed":
            for line in result.output.splitlines():
                print_lines(f"    {quote(line)}")
    return ACCEPTED if found.is_passed else NOT_ACCEPTED


def _describe(result: CheckResult) -> str:
    seconds = f"{result.duration_ms / 1000:.1f} s"
    if result.answer == "passed":
        counted = f", {result.tests:,} tests" if result.tests is not None else ""
        flaky = "; flaky: it failed first" if result.is_flaky else ""
        return f"passed in {seconds}{counted}{flaky}"
    if result.answer == "failed":
        return f"failed in {seconds}: {escape(result.reason)}"
    return f"not run: {escape(result.reason)}"


def _show_list(known: Sequence[AcceptanceCheck], output_format: str) -> None:
    if output_format == "json":
        from remit.views.json_objects import build_check_definition

        print_json({"items": [build_check_definition(each) for each in known]})
        return
    if not known:
        print_lines('no checks; add one to remit.toml:\n\n[checks.tests]\nrun = "pytest -q"')
    width = max((len(each.name) for each in known), default=0)
    for check in known:
        only = f"  (if {', '.join(map(escape, check.when))} changed)" if check.when else ""
        print_lines(f"{escape(check.name):<{width}}  {escape(check.run)}{only}")
