"""`remit return convert`: a return in another format.

Owns what goes where: the converted return to standard output, and nothing else; what was lost to standard error.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from remit.cli import options
from remit.cli.message_input import choose_sources, name_source
from remit.cli.output import get_paint, hand_over, say, say_json
from remit.manifest.field_values import parse_day
from remit.views.json_objects import build_diagnostic
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
def convert(file: str | None, *, output_format: str, **known: Any) -> int:  # noqa: ANN401 - as the app has it
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
        _say_conversion(conversion, name_source(source))
    elif conversion.verdict.accepted:
        hand_over(escape_json(conversion.text))
        _tell_losses(conversion, known["to"])
    else:
        _tell_refusal(conversion, name_source(source), message)
    return ACCEPTED if conversion.accepted else NOT_ACCEPTED


def _say_conversion(conversion: Conversion, filename: str) -> None:
    findings = [build_diagnostic(finding, filename) for finding in conversion.findings]
    say_json(
        {
            "text": conversion.text,
            "payload": conversion.payload,
            "accepted": conversion.accepted,
            "findings": findings,
        }
    )


def _tell_losses(conversion: Conversion, to: str) -> None:
    """What did not come through as it was; nothing, if all did."""
    paint = get_paint(stderr=True)
    lines = render_losses(conversion.findings, paint=paint)
    if not conversion.accepted:
        lines.append(f"{paint('error', '✗')} the result is not a valid return in {to}")
    if lines:
        say("\n".join(lines), stderr=True)


def _tell_refusal(conversion: Conversion, filename: str, message: bytes) -> None:
    """Why there is nothing to convert."""
    from remit.views.excerpt import render_findings

    paint = get_paint(stderr=True)
    headline = render_headline(conversion.verdict, filename, paint=paint)
    findings = render_findings(conversion.verdict.findings, filename, message, paint=paint)
    say(f"{headline}\n\n{findings}\n\nNothing was converted: the source is not accepted.", stderr=True)
