"""`remit return submit`, `prompt`, `schema` and `convert`: submit, describe and convert returns."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from remit.cli import options
from remit.cli.input import choose_sources, name_source
from remit.cli.output import get_paint, print_json, print_lines, print_verbatim
from remit.manifest import parse_day, parse_slug
from remit.views.json_builders import build_checked_return, build_diagnostic, build_list
from remit.views.render import ACCEPTED, NOT_ACCEPTED, escape_json, render_headline, render_losses

if TYPE_CHECKING:
    from remit.runs.check_message import Conversion


@click.command(cls=options.Command)
@click.argument("file", required=False, metavar="[FILE|-]")
@click.option(
    "--to",
    required=True,
    metavar="FORMAT",
    help="Target format: standard, hyper or manifest.",
    shell_complete=options.offer_formats,
)
@options.format
@options.session
@options.agent
@options.depth
@options.path
@click.option(
    "--duration",
    "duration_seconds",
    type=options.parse_seconds,
    metavar="SECONDS",
    help="Duration in seconds, such as 90 or 4.8.",
)
@click.option("--date", "today", type=parse_day, metavar="YYYY-MM-DD", help="Day of a manifest entry.")
@click.option("--findings-file", metavar="PATH", help="Findings file of a manifest entry, if the source names none.")
@options.manifest
@options.output_format("full", "json")
def convert(file: str | None, *, output_format: str, **known: Any) -> int:  # noqa: ANN401 - options
    """Convert the return in FILE, or on standard input, to another format.

    The result goes to standard output; losses and missing values go to standard error. Options supply values that the
    source lacks, and don't override values that it has. Exit code 0: the result is a valid return, 1: it is not, or the
    source was not accepted, 2: could not run.
    """
    from remit.runs import check_message

    (source,) = choose_sources(() if file is None else (file,), command="return convert")
    message = check_message.load_message(source)
    conversion = check_message.convert(message, **known)
    if output_format == "json":
        _print_conversion(conversion, name_source(source))
    elif conversion.verdict.accepted:
        print_verbatim(escape_json(conversion.text))
        _report_losses(conversion, known["to"])
    else:
        _report_refusal(conversion, name_source(source), message)
    return ACCEPTED if conversion.accepted else NOT_ACCEPTED


def _print_conversion(conversion: Conversion, filename: str) -> None:
    findings = [build_diagnostic(finding, filename) for finding in conversion.diagnostics]
    print_json(
        {
            "text": conversion.text,
            "payload": conversion.payload,
            "accepted": conversion.accepted,
            "diagnostics": findings,
        }
    )


def _report_losses(conversion: Conversion, to: str) -> None:
    """Print on standard error the values that changed or were lost."""
    paint = get_paint(stderr=True)
    lines = render_losses(conversion.diagnostics, paint=paint)
    if not conversion.accepted:
        lines.append(f"{paint('error', '✗')} the result is not a valid return in {to}")
    if lines:
        print_lines("\n".join(lines), stderr=True)


def _report_refusal(conversion: Conversion, filename: str, message: bytes) -> None:
    """Print on standard error why the source isn't accepted."""
    from remit.views.excerpt import render_diagnostics

    paint = get_paint(stderr=True)
    headline = render_headline(conversion.verdict, filename, paint=paint)
    findings = render_diagnostics(conversion.verdict.diagnostics, filename, message, paint=paint)
    print_lines(f"{headline}\n\n{findings}\n\nNothing was converted, because the source isn't accepted.", stderr=True)


@click.command(cls=options.Command)
@click.option(
    "--format",
    required=True,
    metavar="FORMAT",
    help="standard, hyper or manifest.",
    shell_complete=options.offer_formats,
)
@options.session
@options.agent
@options.depth
@options.path
@click.option("--topic", type=parse_slug, metavar="SLUG", help="Topic of a manifest entry, as in its file name.")
@options.day
@click.option("--task", "task_id", metavar="ID", help="Task that a manifest entry belongs to.")
@click.option("--output-dir", metavar="DIR", help="Folder of the manifest and its findings files.")
@options.output_format("full", "json")
def prompt(*, output_format: str, format: str, **known: Any) -> int:  # noqa: ANN401 - options
    """Print the prompt text that asks an agent for a return, filled with the given values.

    Exit code 0: printed, 2: could not run.
    """
    from remit.runs import check_message

    text = check_message.instructions(format, **known)
    if output_format == "json":
        print_json({"format": format, "text": text})
    else:
        print_verbatim(text.rstrip("\n"))
    return ACCEPTED


@click.command(cls=options.Command)
@click.argument("name", required=False, shell_complete=options.offer("standard", "hyper", "manifest", "agent-file"))
@options.output_format("full", "json")
def schema(name: str | None, *, output_format: str) -> int:
    """Print the JSON Schema NAME. Without NAME, list the names.

    Exit code 0: printed, 2: could not run.
    """
    from remit.runs import check_message

    if name is not None:
        print_json(check_message.schema(name), pretty=True)
    elif output_format == "json":
        print_json(build_list(check_message.SCHEMAS))
    else:
        print_lines("\n".join(check_message.SCHEMAS))
    return ACCEPTED


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
        print_json({"submitted": is_kept, **build_checked_return(verdict, name_source(source))})
        return ACCEPTED if is_kept else NOT_ACCEPTED
    for finding in verdict.diagnostics:
        print_lines(f"{name_source(source)}: {finding.code} {finding.severity} {finding.message}. {finding.hint}")
    paint = get_paint()
    done = f"{paint('good', '✓')} submitted" if is_kept else f"{paint('error', '✗')} not submitted"
    print_lines(f"{done}: {verdict.name}" + (f" · {verdict.status}" if verdict.status else ""))
    return ACCEPTED if is_kept else NOT_ACCEPTED
