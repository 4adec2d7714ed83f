"""`remit check`: check final messages, and show the verdicts in each output format."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from remit.cli import options
from remit.cli.input import STDIN, choose_sources, name_source
from remit.cli.output import get_paint, print_json, print_lines, report_error
from remit.errors import InputError
from remit.model import ACCEPTABLE
from remit.views.render import (
    ACCEPTED,
    COULD_NOT_RUN,
    NOT_ACCEPTED,
    render_headline,
    render_line,
    render_repairs,
    render_summary,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from remit.model import Verdict, VerdictName
    from remit.terminal import Paint


@click.command(cls=options.Command)
@click.argument("files", nargs=-1, metavar="[FILE…|-]")
@options.session
@options.format
@options.agent
@click.option(
    "--root",
    type=options.parse_path,
    metavar="DIR",
    help="Project folder in which reported files are looked up.",
)
@options.manifest
@click.option(
    "--schema",
    type=options.parse_path,
    metavar="FILE",
    help="JSON Schema that the return's data has to fit.",
)
@click.option("-q", "--quiet", is_flag=True, help="Show only returns that aren't accepted.")
@options.output_format("full", "concise", "json", "github")
def check(files: tuple[str, ...], *, quiet: bool, output_format: str, **asked: Any) -> int:  # noqa: ANN401 - options
    """Check the final messages of agents: find the return in each FILE and verify it.

    Without FILE, or with -, the message is read from standard input. Exit code 0: all accepted, 1: at least one not
    accepted, 2: at least one could not be read.
    """
    from remit.runs import check_message

    if asked["schema"] is not None:
        from remit.storage.schema_files import load_schema

        asked["schema"] = load_schema(str(asked["schema"]))
    show = VERDICT_OUTPUTS[output_format](quiet=quiet)
    complaints: set[str] = set()
    verdicts: list[VerdictName | None] = []
    for source in choose_sources(files, command="check"):
        try:
            message = check_message.load_message(source)
            verdict = check_message.check(message, **asked)
        except InputError as error:
            if str(error) not in complaints:  # report a missing manifest once, not for each message
                report_error(error, as_json=output_format == "json")
            complaints.add(str(error))
            verdicts.append(None)
            continue
        verdicts.append(verdict.name)
        show.add(verdict, name_source(source), message)
    show.close(verdicts)
    return _decide_exit(verdicts)


def _decide_exit(verdicts: Sequence[VerdictName | None]) -> int:
    """Return the exit code: 2 if a message couldn't be read, else 1 if one isn't accepted."""
    if None in verdicts:
        return COULD_NOT_RUN
    return ACCEPTED if all(verdict in ACCEPTABLE for verdict in verdicts) else NOT_ACCEPTED


class FullVerdicts:
    """For people: one line per message, and each diagnostic with an excerpt."""

    def __init__(self, *, quiet: bool) -> None:
        self.quiet = quiet
        self.paint: Paint = get_paint()

    def add(self, verdict: Verdict, filename: str, message: bytes) -> None:
        """Print the verdict of a message."""
        if self.quiet and verdict.accepted:
            return
        print_lines("\n".join([render_headline(verdict, filename, paint=self.paint), *render_repairs(verdict)]))
        if verdict.diagnostics:
            from remit.views.excerpt import render_diagnostics

            print_lines(f"\n{render_diagnostics(verdict.diagnostics, filename, message, paint=self.paint)}\n")

    def close(self, verdicts: Sequence[VerdictName | None]) -> None:
        """Print a summary if there was more than one message."""
        if len(verdicts) > 1 and not self.quiet:
            print_lines(render_summary(verdicts))


class ConciseVerdicts(FullVerdicts):
    """For editors and logs: one line per diagnostic, then one for the message."""

    def add(self, verdict: Verdict, filename: str, message: bytes) -> None:
        """Print the verdict of a message."""
        del message
        if not (self.quiet and verdict.accepted):
            lines = [render_line(diagnostic, filename) for diagnostic in verdict.diagnostics]
            print_lines("\n".join([*lines, render_headline(verdict, filename, paint=self.paint)]))


class JsonVerdicts:
    """For programs: one JSON object at the end."""

    def __init__(self, *, quiet: bool) -> None:
        del quiet  # programs filter the output themselves
        self.results: list[object] = []

    def add(self, verdict: Verdict, filename: str, message: bytes) -> None:
        """Collect the verdict of a message."""
        from remit.views.json_builders import build_checked_message

        del message
        self.results.append(build_checked_message(verdict, filename))

    def close(self, verdicts: Sequence[VerdictName | None]) -> None:
        """Print all verdicts."""
        from remit.views.json_builders import build_list

        print_json({"accepted": _decide_exit(verdicts) == ACCEPTED, **build_list(self.results)})


class GithubVerdicts:
    """For GitHub Actions: one annotation per diagnostic, on the lines of the message's file."""

    def __init__(self, *, quiet: bool) -> None:
        self.quiet = quiet

    def add(self, verdict: Verdict, filename: str, message: bytes) -> None:
        """Print the diagnostics of a message."""
        from remit.views.render import render_github

        del message
        file = None if filename == STDIN else filename
        for diagnostic in () if self.quiet and verdict.accepted else verdict.diagnostics:
            print_lines(render_github(diagnostic, file))

    def close(self, verdicts: Sequence[VerdictName | None]) -> None:
        """Print nothing: annotations need no summary."""


VERDICT_OUTPUTS: dict[str, type[FullVerdicts | JsonVerdicts | GithubVerdicts]] = {
    "full": FullVerdicts,
    "concise": ConciseVerdicts,
    "json": JsonVerdicts,
    "github": GithubVerdicts,
}
