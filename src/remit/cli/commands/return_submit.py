"""`remit return submit`: an agent hands its return in."""

from __future__ import annotations

import click

from remit.cli import options
from remit.cli.message_input import choose_sources, name_source
from remit.cli.output import get_paint, say, say_json
from remit.views.json_objects import build_checked_return
from remit.views.render import ACCEPTED, NOT_ACCEPTED


@click.command(cls=options.Command)
@click.argument("file", required=False, metavar="[FILE|-]")
@options.output_format("concise", "json")
def submit(file: str | None, *, output_format: str) -> int:
    """Check the return in FILE, or on standard input, and submit it as the return of this run.

    Only an agent inside a run can do this. Remit identifies the agent by its ticket, and a subagent of a harness by the
    harness's process; if several subagents run there, by the session ID in the return. A later return replaces an
    earlier one of the same attempt. Exit code 0: submitted, 1: not accepted, and nothing was submitted, 2: it could not
    be read.
    """
    from remit.runs import check_message
    from remit.runs.submit_return import submit_own
    from remit.runs.workspace import Workspace

    [source] = choose_sources((file,) if file else (), command="return submit")
    message = check_message.load_message(source).decode("utf-8", "replace")
    ws = Workspace.open(lenient=True)
    try:
        verdict, is_kept = submit_own(ws, message)
    finally:
        ws.home.close()
    if output_format == "json":
        say_json({"submitted": is_kept, **build_checked_return(verdict, name_source(source))})
        return ACCEPTED if is_kept else NOT_ACCEPTED
    for finding in verdict.findings:
        say(f"{name_source(source)}: {finding.code} {finding.severity} {finding.message}. {finding.hint}")
    paint = get_paint()
    done = f"{paint('good', '✓')} handed in" if is_kept else f"{paint('error', '✗')} not handed in"
    say(f"{done}: {verdict.name}" + (f" · {verdict.status}" if verdict.status else ""))
    return ACCEPTED if is_kept else NOT_ACCEPTED
