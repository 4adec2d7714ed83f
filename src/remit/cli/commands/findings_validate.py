"""`remit findings validate`: judge every line of a manifest."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from remit.cli import options
from remit.cli.diagnostics_output import SHOWS
from remit.cli.output import complain, name_file
from remit.errors import InputError
from remit.terminal import escape
from remit.views.render import ACCEPTED, COULD_NOT_RUN, NOT_ACCEPTED, count

if TYPE_CHECKING:
    from remit.cli.diagnostics_output import Show
    from remit.runs.workspace_findings import Validated


@click.command(cls=options.Command)
@click.argument("files", nargs=-1, metavar="[FILE…]")
@click.option(
    "--files/--no-files", "with_pages", default=True, help="Whether findings files are checked, too. Default: yes."
)
@click.option(
    "--baseline",
    metavar="FILE",
    help="Ignore issues listed in FILE. Created on first use; later runs only remove entries.",
)
@options.output_format("full", "concise", "json", "github")
def validate(files: tuple[str, ...], *, with_pages: bool, baseline: str | None, output_format: str) -> int:
    """Check every line of each FILE, or of the workspace's manifest: JSON, fields, ID and findings file.

    Findings files are checked after the lines: title, sections, and blanks that were not filled in. With --baseline, an
    append-only manifest can be checked from now on: the first run records today's problems in FILE, and later runs
    report new ones. Exit code 0: no errors, 1: errors, 2: could not run.
    """
    from remit.manifest.places import find_manifest
    from remit.runs.workspace_findings import Validated

    show = SHOWS[output_format]()
    found = files or tuple(file for file in (find_manifest(here=True),) if file is not None)
    validated = None if baseline is None else Validated()
    unreadable = 0
    for file in found:
        try:
            if validated is None:
                _validate(file, show, with_pages=with_pages)
            else:
                validated.add(file, with_pages=with_pages)
        except InputError as error:
            complain(error, as_json=output_format == "json")
            unreadable += 1
    left_out = ""
    if baseline is not None and validated is not None and validated.rows:
        left_out = _subtract(validated, baseline, show)
    if not found:
        show.close("no manifest found; name a file")
    else:
        mark = show.paint("error", "✗") if show.failed or unreadable else show.paint("good", "✓")
        facts = [show.count(), f"{unreadable} could not be read" if unreadable else ""]
        told = ", ".join(fact for fact in facts if fact) or "nothing to say"
        show.close(f"{left_out}{mark} {count(len(found), 'manifest')}: {told}")
    return COULD_NOT_RUN if unreadable else NOT_ACCEPTED if show.failed else ACCEPTED


def _subtract(validated: Validated, baseline: str, show: Show) -> str:
    """Show what the baseline doesn't have, and say what it has."""
    from remit.views.excerpt import ExcerptSpan

    weighed = validated.subtract(baseline)
    for rows in validated.rows.values():
        for finding, file, text, first_line in rows:
            show.add(finding, name_file(file), ExcerptSpan(text, first_line))
    if weighed.made or weighed.shorter:
        what = "was made, with" if weighed.made else "now holds"
        return f"{escape(name_file(baseline))} {what} {count(weighed.held, 'finding')}.\n"
    return f"{count(weighed.known, 'finding')} left out: known from the baseline.\n" if weighed.known else ""


def _validate(file: str, show: Show, *, with_pages: bool) -> None:
    from remit.runs import workspace_findings
    from remit.runs.workspace_findings import validate_findings_files
    from remit.views.excerpt import ExcerptSpan

    name = name_file(file)
    for finding, text, first_line in workspace_findings.validate_manifest(file):
        show.add(finding, name, ExcerptSpan(text, first_line))
    for page in validate_findings_files(file) if with_pages else ():
        for finding in page.findings:
            show.add(finding, name_file(page.file), ExcerptSpan(page.text, 1))
