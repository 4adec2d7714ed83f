"""`remit explain`: the documentation of codes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from remit.cli import options
from remit.cli.commands import completion
from remit.cli.output import get_paint, say, say_json
from remit.errors import UsageError
from remit.views.render import ACCEPTED

if TYPE_CHECKING:
    from remit.terminal import Paint
    from remit.views.explanations import CodeList, Explanation


@click.command(cls=options.Command)
@click.argument("codes", nargs=-1, metavar="[CODE…]", shell_complete=completion.complete_codes)
@click.option("--all", "every", is_flag=True, help="Print the documentation of all codes.")
@options.output_format("full", "json")
def explain(codes: tuple[str, ...], *, every: bool, output_format: str) -> int:
    """Explain CODE: what it means, why it matters, and how to fix it. Without CODE, list all codes.

    CODE may also be that of an error, such as BUSY. For the beginning of a code, such as RET, list the codes.

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
        from remit.views.json_objects import build_explanation, build_list

        say_json(build_list(build_explanation(each) for each in known))
    else:
        say("\n\n\n".join(_render(each, paint) for each in known) if every else _list(known, paint))
    return ACCEPTED


def _tell(found: list[CodeList], output_format: str) -> None:
    """What was asked for: a code with its documentation, many with a line each."""
    paint = get_paint()
    if output_format == "json":
        from remit.views.json_objects import build_explanation, build_list

        built = [build_explanation(each) for codes in found for each in codes.explanations]
        say_json(built[0] if len(found) == 1 and not found[0].about else build_list(built))
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
