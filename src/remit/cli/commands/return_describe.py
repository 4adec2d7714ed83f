"""`remit return prompt` and `remit return schema`: how an agent has to return."""

from __future__ import annotations

from typing import Any

import click

from remit.cli import options
from remit.cli.output import hand_over, say, say_json
from remit.manifest.field_values import parse_slug
from remit.views.render import ACCEPTED


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
def prompt(*, output_format: str, format: str, **known: Any) -> int:  # noqa: ANN401 - as the app has it
    """Print the prompt text that asks an agent for a return, filled with the given values.

    Exit code 0: printed, 2: could not run.
    """
    from remit.runs import check_message

    text = check_message.instructions(format, **known)
    if output_format == "json":
        say_json({"format": format, "text": text})
    else:
        hand_over(text.rstrip("\n"))
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
        say_json(check_message.schema(name), pretty=True)
    elif output_format == "json":
        say_json(list(check_message.SCHEMAS))
    else:
        say("\n".join(check_message.SCHEMAS))
    return ACCEPTED
