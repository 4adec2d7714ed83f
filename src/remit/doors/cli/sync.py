"""`remit sync --check`: whether state.json and TODO.md say the same."""

from __future__ import annotations

import click

from remit.doors.cli import options
from remit.doors.cli.findings import SHOWS
from remit.doors.cli.output import name_file
from remit.doors.render import ACCEPTED, NOT_ACCEPTED, count
from remit.errors import UsageError


@click.command(cls=options.Command, short_help="Compare state.json with TODO.md.")
@click.option("--check", "checking", is_flag=True, help="Compare only; nothing is written.")
@options.output_format("full", "concise", "json", "github")
def sync(*, checking: bool, output_format: str) -> int:
    """Compare the tasks in state.json with those in TODO.md: numbers, statuses, and the next number.

    The two are looked for in .opencode/specs, .claude/specs and specs. Exit code 0: they agree, 1: they do not,
    2: could not run.
    """
    from remit import app
    from remit.doors.excerpt import Text

    if not checking:
        raise UsageError("remit sync can only compare so far", hint="say so with --check")
    show = SHOWS[output_format]()
    checked = app.check_sync()
    if checked is None:
        show.close("no tasks found in .opencode/specs, .claude/specs or specs: nothing to compare")
        return ACCEPTED
    for file, findings in checked.findings.items():
        text = Text(checked.texts[file])
        for finding in findings:
            show.add(finding, name_file(file), text)
    mark = show.paint("good", "✓") if checked.agrees else show.paint("error", "✗")
    verdict = "state.json and TODO.md agree" if checked.agrees else "state.json and TODO.md do not agree"
    told = f" · {show.count()}" if show.count() else ""
    show.close(f"{mark} {name_file(checked.folder)}: {count(checked.tasks, 'task')} · {verdict}{told}")
    return ACCEPTED if checked.agrees else NOT_ACCEPTED
