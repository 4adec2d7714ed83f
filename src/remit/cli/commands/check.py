"""`remit check`: judge final messages.

Owns the order in which messages are read and their verdicts shown, in each of the output formats.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from remit.cli import options
from remit.cli.input import STDIN, choose_sources, name_source
from remit.cli.output import complain, get_paint, say, say_json
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
@click.option("-q", "--quiet", is_flag=True, help="Show only returns that aren't accepted.")
@options.output_format("full", "concise", "json", "github")
def check(files: tuple[str, ...], *, quiet: bool, output_format: str, **asked: Any) -> int:  # noqa: ANN401 - options
    """Check the final messages of agents: find the return in each FILE and verify it.

    Without FILE, or with -, the message is read from standard input. Exit code 0: all accepted, 1: at least one not
    accepted, 2: at least one could not be read.
    """
    from remit.runs import check_message

    show = VERDICT_OUTPUTS[output_format](quiet=quiet)
    complaints: set[str] = set()
    verdicts: list[VerdictName | None] = []
    for source in choose_sources(files, command="check"):
        try:
            message = check_message.load_message(source)
            verdict = check_message.check(message, **asked)
        except InputError as error:
            if str(error) not in complaints:  # one manifest that is not there is told once, not for each message
                complain(error, as_json=output_format == "json")
            complaints.add(str(error))
            verdicts.append(None)
            continue
        verdicts.append(verdict.name)
        show.add(verdict, name_source(source), message)
    show.close(verdicts)
    return _decide_exit(verdicts)


def _decide_exit(verdicts: Sequence[VerdictName | None]) -> int:
    """One message that could not be read outweighs one that is not accepted."""
    if None in verdicts:
        return COULD_NOT_RUN
    return ACCEPTED if all(verdict in ACCEPTABLE for verdict in verdicts) else NOT_ACCEPTED


class FullVerdicts:
    """For people: a line for each message, and each finding with the line that it is about."""

    def __init__(self, *, quiet: bool) -> None:
        self.quiet = quiet
        self.paint: Paint = get_paint()

    def add(self, verdict: Verdict, filename: str, message: bytes) -> None:
        """Show what became of one message."""
        if self.quiet and verdict.accepted:
            return
        say("\n".join([render_headline(verdict, filename, paint=self.paint), *render_repairs(verdict)]))
        if verdict.findings:
            from remit.views.excerpt import render_findings

            say(f"\n{render_findings(verdict.findings, filename, message, paint=self.paint)}\n")

    def close(self, verdicts: Sequence[VerdictName | None]) -> None:
        """Sum up, where there was more than one message."""
        if len(verdicts) > 1 and not self.quiet:
            say(render_summary(verdicts))


class ConciseVerdicts(FullVerdicts):
    """For editors and logs: a line for each finding, then one for the message."""

    def add(self, verdict: Verdict, filename: str, message: bytes) -> None:
        """Show what became of one message."""
        del message
        if not (self.quiet and verdict.accepted):
            lines = [render_line(finding, filename) for finding in verdict.findings]
            say("\n".join([*lines, render_headline(verdict, filename, paint=self.paint)]))


class JsonVerdicts:
    """For programs: one object at the end."""

    def __init__(self, *, quiet: bool) -> None:
        del quiet  # a program picks for itself
        self.results: list[object] = []

    def add(self, verdict: Verdict, filename: str, message: bytes) -> None:
        """Keep what became of one message."""
        from remit.views.json_objects import build_checked_message

        del message
        self.results.append(build_checked_message(verdict, filename))

    def close(self, verdicts: Sequence[VerdictName | None]) -> None:
        """Show all of it."""
        from remit.views.json_objects import build_list

        say_json({"accepted": _decide_exit(verdicts) == ACCEPTED, **build_list(self.results)})


class GithubVerdicts:
    """For GitHub Actions: an annotation for each finding, on the lines of the message's file."""

    def __init__(self, *, quiet: bool) -> None:
        self.quiet = quiet

    def add(self, verdict: Verdict, filename: str, message: bytes) -> None:
        """Show the findings of one message."""
        from remit.views.render import render_github

        del message
        file = None if filename == STDIN else filename
        for finding in () if self.quiet and verdict.accepted else verdict.findings:
            say(render_github(finding, file))

    def close(self, verdicts: Sequence[VerdictName | None]) -> None:
        """An annotation stands for itself."""


VERDICT_OUTPUTS: dict[str, type[FullVerdicts | JsonVerdicts | GithubVerdicts]] = {
    "full": FullVerdicts,
    "concise": ConciseVerdicts,
    "json": JsonVerdicts,
    "github": GithubVerdicts,
}
