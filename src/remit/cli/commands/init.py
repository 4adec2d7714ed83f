"""`remit init`: set up a workspace."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from remit.cli import options
from remit.cli.output import get_paint, print_json, print_lines, report_error
from remit.terminal import escape, quote
from remit.views.render import ACCEPTED, NOT_ACCEPTED, count

if TYPE_CHECKING:
    from remit.maintenance.init import InitPlan, PlannedFile, ProjectSurvey
    from remit.schemas import InitObject, PlannedFileObject, ProjectSurveyObject

_MAX_FOLDERS = 4


@click.command(cls=options.Command)
@click.option("--yes", is_flag=True, help="Write without asking.")
@click.option("--dry-run", is_flag=True, help="Show what would be written, and write nothing.")
@options.output_format("full", "json")
def init(*, yes: bool, dry_run: bool, output_format: str) -> int:
    """Set up a workspace: survey it, show the files to be written, and write them after a confirmation.

    Without a terminal it never waits: without --yes it only shows what it would write. It never overwrites a file. To
    have a harness call Remit, use `remit hooks install`.

    Exit code 0: everything is there, 1: something is missing and was not written, 2: could not run.
    """
    return _set_up(yes=yes and not dry_run, may_ask=not dry_run, output_format=output_format)


def _set_up(*, yes: bool, may_ask: bool, output_format: str) -> int:
    """Plan the setup, show it, and write it after a confirmation."""
    from remit.cli.input import ask, can_ask
    from remit.maintenance import init

    setup = init.plan_setup()
    if output_format == "json":
        if yes:
            init.write_setup(setup)
        print_json(_build_init(setup, written=yes))
        return ACCEPTED if (yes or not setup.writes) and not setup.undone else _report_undone(setup, as_json=True)
    _show(setup, at_length=not yes)
    if not setup.writes:
        return _end(setup, "nothing to do: everything exists", "nothing was written, and something is missing")
    if not yes and not (may_ask and can_ask() and ask("\nWrite this?", default=True)):
        print_lines("" if may_ask and can_ask() else "\nNothing was written; to write it, run: remit init --yes")
        return _report_undone(setup)
    init.write_setup(setup)
    print_lines("")
    return _end(
        setup,
        "written; next: remit doctor, remit lint, and your tests as [checks.tests] in remit.toml",
        "only a part was written",
    )


def _end(setup: InitPlan, success: str, problem: str) -> int:
    """Print whether everything exists now, and return the exit code."""
    if not setup.undone:
        print_lines(f"{get_paint()('good', '✓')} {success}")
        return ACCEPTED
    print_lines(f"{get_paint()('error', '✗')} {problem}")
    return _report_undone(setup)


def _report_undone(setup: InitPlan, *, as_json: bool = False) -> int:
    for error in setup.undone:
        report_error(error, as_json=as_json)
    return NOT_ACCEPTED


def _build_init(setup: InitPlan, *, written: bool) -> InitObject:
    survey = setup.found
    found: ProjectSurveyObject = {
        "branch": survey.branch,
        "agents": [{"folder": folder, "count": total} for folder, total in survey.agents.items()],
        "tasks": survey.tasks,
        "manifest": survey.manifest,
        "has_manifest": survey.has_manifest,
        "settings": survey.settings,
        "has_cleo": survey.has_cleo,
        "spec_root": survey.spec_root,
    }
    writes: list[PlannedFileObject] = [
        {
            "path": each.path,
            "action": "create" if each.before is None else "change",
            "added": _find_added(each),
        }
        for each in setup.writes
    ]
    return {
        "root": setup.root,
        "found": found,
        "writes": writes,
        "notes": list(setup.notes),
        "undone": [str(error) for error in setup.undone],
        "written": written and bool(writes),
    }


def _find_added(each: PlannedFile) -> str:
    """Return the added text. Remit only appends to existing files."""
    return each.after[len(each.before or b"") :].decode("utf-8", "replace").removeprefix("\r").removeprefix("\n")


def _show(setup: InitPlan, *, at_length: bool) -> None:
    paint = get_paint()
    print_lines(f"{paint('strong', 'Workspace')} {escape(setup.root)}")
    for name, what in _describe(setup.found):
        print_lines(f"  {name:<9} {escape(what)}")
    for note in setup.notes:
        print_lines(f"  {paint('note', 'note')}      {quote(note)}")
    if setup.writes:
        print_lines(f"\n{paint('strong', 'To be written')}")
    for each in setup.writes:
        action = "create" if each.before is None else "change"
        print_lines(f"  {action}  {escape(each.path)}")
        for line in _find_added(each).splitlines() if at_length else ():
            print_lines(f"    {paint('good', f'+ {escape(line)}'.rstrip())}")


def _describe(found: ProjectSurvey) -> list[tuple[str, str]]:
    folders = [f"{total} in {folder}" for folder, total in found.agents.items()]
    more = len(folders) - _MAX_FOLDERS
    shown = folders[:_MAX_FOLDERS] + [f"{count(more, 'more folder')}"] * (more > 0)
    tasks = found.tasks or (
        "managed by cleo's own commands" if found.has_cleo else "none yet; to create one, run: remit task new"
    )
    return [
        ("git", f"on {found.branch}" if found.branch is not None else "no repository"),
        ("agents", ", ".join(shown) or "none yet; to create one, run: remit agent new"),
        ("tasks", tasks),
        ("manifest", found.manifest if found.has_manifest else f"none yet; the first entry creates {found.manifest}"),
        ("settings", found.settings or "none yet"),
    ]
