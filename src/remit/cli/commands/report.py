"""`remit report`: a whole run as one file, to keep or to hand on."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from remit.cli import options
from remit.cli.commands import completion
from remit.cli.output import get_paint, hand_over, name_file, say
from remit.errors import UsageError
from remit.terminal import escape
from remit.views.render import ACCEPTED, render_json

if TYPE_CHECKING:
    from collections.abc import Mapping

_ENDS = {".html": "html", ".htm": "html", ".md": "md", ".markdown": "md", ".json": "json"}


@click.command(cls=options.Command, short_help="Write a whole run as one file.")
@click.argument("run", metavar="[ID]", required=False, shell_complete=completion.complete_sessions)
@click.option("--html", "forms", flag_value="html", multiple=True, help="A page that needs nothing else; no script.")
@click.option("--md", "forms", flag_value="md", multiple=True, help="Markdown.")
@click.option("--json", "forms", flag_value="json", multiple=True, help="JSON, with the version of its schema.")
@click.option("-o", "--output", metavar="FILE", help="Where to; standard output when left out.")
def report(run: str | None, *, forms: tuple[str, ...], output: str | None) -> int:
    """Write the run that ID is in: its tree and timeline, what was asked, each attempt, claimed against done.

    ID can be cut short at either end; without one, or with -, it is the last one. The form is that of FILE's ending, or
    Markdown, when no option says it. What agents wrote is in it as text only; secrets are taken out, and what is very
    long is cut and said to be. A run that is not over is shown as it stands. Exit code 0: written, 2: could not run.
    """
    from remit.views.run_details import open_home
    from remit.views.run_record import load_run_report, write_report

    form = _choose(forms, output)
    home = open_home()
    try:
        told = load_run_report(home, run)
    finally:
        home.close()
    text = render(told, form)
    if output is None:
        hand_over(text.removesuffix("\n"))
    else:
        write_report(output, text)
        say(f"{get_paint()('good', '✓')} {escape(name_file(output))} written")
    return ACCEPTED


def _choose(forms: tuple[str, ...], output: str | None) -> str:
    if len({*forms}) > 1:
        raise UsageError(f"a report has one form, not {len({*forms})}", hint="give one of --html, --md and --json")
    if forms:
        return forms[0]
    ends = [form for end, form in _ENDS.items() if output is not None and output.lower().endswith(end)]
    return ends[0] if ends else "md"


def render(told: Mapping[str, Any], form: str) -> str:
    """A report in one of its forms."""
    if form == "json":
        from remit import __version__

        return f"{render_json({'remit_version': __version__, **told}, indent=2)}\n"
    if form == "html":
        from remit.views.report.html import render_html

        return render_html(told)
    from remit.views.report.markdown import render_markdown

    return render_markdown(told)
