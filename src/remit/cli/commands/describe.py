"""`remit instructions`, `remit schema` and `remit explain`: what Remit knows, printed.

Owns the layout of what is looked up rather than checked.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from remit.cli import options
from remit.cli.commands import completion
from remit.cli.output import get_paint, hand_over, say, say_json
from remit.errors import UsageError
from remit.manifest.field_values import parse_slug
from remit.views.render import ACCEPTED

if TYPE_CHECKING:
    from remit.terminal import Paint
    from remit.views.explanations import Codes, Explanation


@click.command(cls=options.Command, short_help="Print what to tell an agent, so that its return is accepted.")
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
@click.option("--topic", type=parse_slug, metavar="SLUG", help="The topic of a manifest entry, as in its file name.")
@options.day
@click.option("--task", "task_id", metavar="ID", help="The task that a manifest entry belongs to.")
@click.option("--output-dir", metavar="DIR", help="Where the manifest and its findings files are.")
@options.output_format("full", "json")
def instructions(*, output_format: str, format: str, **known: Any) -> int:  # noqa: ANN401 - as the app has it
    """Print the text to put into an agent's prompt: exactly what to return, filled with what is known.

    Exit code 0: printed, 2: could not run.
    """
    from remit.runs import check_message

    text = check_message.instructions(format, **known)
    if output_format == "json":
        say_json({"format": format, "text": text})
    else:
        hand_over(text.rstrip("\n"))
    return ACCEPTED


@click.command(cls=options.Command, short_help="Print the JSON Schema of a return.")
@click.argument("name", required=False, shell_complete=options.offer("standard", "hyper", "manifest", "agent-file"))
@options.output_format("full", "json")
def schema(name: str | None, *, output_format: str) -> int:
    """Print the JSON Schema NAME; without NAME, list the names.

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


@click.command(cls=options.Command, short_help="Print the documentation of a finding's code.")
@click.argument("codes", nargs=-1, metavar="[CODE…]", shell_complete=completion.complete_codes)
@click.option("--all", "every", is_flag=True, help="Print the documentation of every code.")
@options.output_format("full", "json")
def explain(codes: tuple[str, ...], *, every: bool, output_format: str) -> int:
    """Print what a finding's CODE means, why it matters, and what to write instead; without CODE, list the codes.

    CODE may also be that of an error, such as BUSY. For the beginning of a code, such as RET, the codes are listed.

    Exit code 0: printed, 2: could not run.
    """
    from remit.views import explanations

    if every and codes:
        raise UsageError("--all and CODE do not go together", hint="leave one of them out")
    if codes:
        _tell([explanations.find_codes(code) for code in codes], output_format)
        return ACCEPTED
    known, paint = explanations.explain_all(), get_paint()
    if output_format == "json":
        say_json([_shape(each) for each in known])
    else:
        say("\n\n\n".join(_render(each, paint) for each in known) if every else _list(known, paint))
    return ACCEPTED


def _tell(found: list[Codes], output_format: str) -> None:
    """What was asked for: a code with its documentation, many with a line each."""
    paint = get_paint()
    if output_format == "json":
        shapes = [_shape(each) for codes in found for each in codes.explanations]
        say_json(shapes[0] if len(found) == 1 and not found[0].about else shapes)
        return
    parts = [
        f"{about}\n\n{_list(explanations, paint)}" if about else _render(explanations[0], paint)
        for about, explanations in found
    ]
    say("\n\n\n".join(parts))


def _list(explanations: list[Explanation], paint: Paint) -> str:
    """A line for each code."""
    width = max(len(each.name) for each in explanations)
    return "\n".join(
        f"{paint('strong', each.code)}  {each.name:<{width}}  {_first_line(each)}" for each in explanations
    )


def _shape(explanation: Explanation) -> dict[str, Any]:
    return {
        "code": explanation.code,
        "name": explanation.name,
        "severity": explanation.severity,
        "verdict": explanation.verdict,
        "fix": explanation.fix,
        "documentation": explanation.documentation,
    }


def _render(explanation: Explanation, paint: Paint) -> str:
    """A code with its documentation; the words that open a paragraph stand out."""
    facts = (
        explanation.name,
        paint(explanation.severity, explanation.severity),
        explanation.verdict,
        f"{explanation.fix} fix" if explanation.fix else None,
    )
    head = f"{paint('strong', explanation.code)} · {' · '.join(fact for fact in facts if fact)}"
    paragraphs = explanation.documentation.split("\n\n")
    for number, paragraph in enumerate(paragraphs):
        word, colon, rest = paragraph.partition(":")
        if colon and word.isalpha():
            paragraphs[number] = f"{paint('strong', word + colon)}{rest}"
    return "\n\n".join([head, *paragraphs])


def _first_line(explanation: Explanation) -> str:
    return explanation.documentation.partition("\n")[0]
