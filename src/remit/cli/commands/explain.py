"""`remit explain`: the documentation of diagnostic codes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from remit.cli import options
from remit.cli.commands import completion
from remit.cli.output import get_paint, print_json, print_lines
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
        raise UsageError("can't combine --all with CODE", hint="leave one of them out")
    if codes:
        _print_codes([explanations.find_codes(code) for code in codes], output_format)
        return ACCEPTED
    known, paint = explanations.explain_all(), get_paint()
    if output_format == "json":
        from remit.views.json_builders import build_explanation, build_list

        print_json(build_list(build_explanation(each) for each in known))
    else:
        print_lines("\n\n\n".join(_render(each, paint) for each in known) if every else _list(known, paint))
    return ACCEPTED


def _print_codes(found: list[CodeList], output_format: str) -> None:
    """Print the documentation of each code, or one line per code for the beginning of codes."""
    paint = get_paint()
    if output_format == "json":
        from remit.views.json_builders import build_explanation, build_list

        built = [build_explanation(each) for codes in found for each in codes.explanations]
        print_json(built[0] if len(found) == 1 and not found[0].about else build_list(built))
        return
    parts = [
        f"{about}\n\n{_list(explanations, paint)}" if about else _render(explanations[0], paint)
        for about, explanations in found
    ]
    print_lines("\n\n\n".join(parts))


def _list(explanations: list[Explanation], paint: Paint) -> str:
    """Render one line per code."""
    width = max(len(each.name) for each in explanations)
    return "\n".join(
        f"{paint('strong', each.code)}  {each.name:<{width}}  {_first_line(each)}" for each in explanations
    )


def _render(explanation: Explanation, paint: Paint) -> str:
    """Render a code with its documentation. The labels of paragraphs are bold."""
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
