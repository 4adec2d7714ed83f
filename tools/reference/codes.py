"""The page of codes and words: how errors are told at each door, and every word that an answer can have.

A word of the code that nobody has told the meaning of, or that is told and is not there, stops the making of the page.
"""

from __future__ import annotations

from typing import get_args

from remit import errors
from remit.errorlog.records import FixStatus
from remit.evidence.artifact_grades import Grade
from remit.ledger.runs import STATES
from remit.model import ERROR_CODES, STATUSES, FileState, Severity, Transport, VerdictName
from remit.tasks.task import MARKERS, NEED_REASON, list_moves
from remit.views import render
from remit.views.explanations import AGENT_ERRORS, CRASHES, PROBLEMS, REFUSALS, describe_exception, list_errors
from remit.views.json_builders import build_error
from tools.reference.markdown import code, join, table
from tools.reference.source import find_comment, match, search
from tools.reference.words import (
    DELEGATION_STATES,
    ENDINGS,
    ERROR_STATES,
    EXITS,
    FILE_STATES,
    GRADES,
    OUTCOMES,
    RPC,
    SEVERITIES,
    STATUS_WORDS,
    TRANSPORTS,
)


def render_codes() -> dict[str, str]:
    """The page, by its path."""
    parts = ["# Codes and words", _render_about(), *_render_errors(), *_render_refusals(), *_render_protocols()]
    for title, about, told, names in (
        ("Outcomes", "What became of a final message. The codes of its findings are [elsewhere](rules/README.md).",
         OUTCOMES, get_args(VerdictName)),
        ("Statuses", "What an agent says of its work. Dialects spell them otherwise; these are Remit's own.",
         STATUS_WORDS, STATUSES),
        ("Endings", "How an agent's work ended, whatever it said.", ENDINGS, _list_endings()),
        ("Grades of evidence", "How far what is on disk bears a claim out. Each stands on the one before it.",
         GRADES, get_args(Grade)),
        ("States of a delegation", "", DELEGATION_STATES, STATES),
        ("Severities", "", SEVERITIES, get_args(Severity)),
        ("Transports", "Where a return was found.", TRANSPORTS, get_args(Transport)),
        ("States of a claimed file", "", FILE_STATES, get_args(FileState)),
        ("States of a logged error", "", ERROR_STATES, get_args(FixStatus)),
    ):  # fmt: skip
        rows = [(code(word), text) for word, text in match(told, names, title).items()]
        parts += [f"## {title}", about, table(("word", "meaning"), rows)]
    return {"codes.md": join(*parts, *_render_markers())}


_ABOUT = """
What Remit answers in words that programs can rely on. An error that stops a command is one sentence with what to do
next; with `--json` it is `{{"error": {{{}}}}}` on standard
error.
"""


_FAULTS = """
An error that an agent reports has a type and a code. Where the agent gives no code, the type stands for one; the list
is open.
"""
_ABOUT_RPC = """
`remit mcp` answers a tool that could not do its work with an error that a model can read: `isError`, and the error
above as its text. An error of the protocol is for what the harness did wrong.
"""


def _render_about() -> str:
    return _ABOUT.format(", ".join(f'"{name}": …' for name in build_error(errors.RemitError(""))))


def _list_endings() -> list[str]:
    return find_comment("Conclusion", "stop_reason").rstrip(".").replace(" or ", ", ").split(", ")


def _render_errors() -> list[str]:
    exits = [(code(getattr(render, name)), text) for name, text in EXITS.items()]
    return [
        "## Exit codes",
        table(("exit", "meaning"), exits),
        "Each command's page says what they mean there.",
        "## Errors",
        "An operation that could not go on. `again`: the same may work a little later; in JSON it is `recoverable`.",
        table(("code", "in Python", "exit", "HTTP", "again", "meaning"), map(_make_row, list_errors())),
    ]


def _make_row(each: type[errors.RemitError]) -> tuple[str, ...]:
    again = "yes" if each.recoverable else ""
    numbers = render.get_exit_code(each("")), render.get_http_status(each(""))
    return code(each.code), code(each.__name__), *map(code, numbers), again, describe_exception(each)


def _render_refusals() -> list[str]:
    given = search(r'RefusedError\((?:(?!RefusedError|\n\n)[\s\S])*?\bcode="([A-Z_]+)"')
    told = match(REFUSALS, sorted({*given, errors.RefusedError.code, errors.StateError.code}), "refusals")
    rows = [
        (code(name), code(render.get_http_status(errors.RefusedError("", code=name))), text)
        for name, text in told.items()
    ]
    kinds = match(AGENT_ERRORS, ERROR_CODES, "types of agent errors")
    return ["### Refusals", "A `RefusedError` says by its code why a delegation is not admitted. Its exit code is 2.",
            table(("code", "HTTP", "meaning"), rows), "### Inside a return", _FAULTS,
            table(("type", "code", "meaning"), ((code(name), code(ERROR_CODES[name]), text) for name, text in
                                                kinds.items())),
            "An error of the type `execution` has a code of its own if Remit knows why the agent crashed:",
            table(("code", "meaning"), ((code(name), text) for name, text in CRASHES.items()))]  # fmt: skip


def _render_protocols() -> list[str]:
    found = search(r'ProblemError\(\s*(\d{3}),\s*"([A-Z_]+)"') | search(r'__init__\((404), "(NOT_FOUND)"')
    told = match(PROBLEMS, sorted({name for _, name in found}), "codes of HTTP")
    statuses = {name: ", ".join(code(each) for each, other in sorted(found) if other == name) for name in told}
    return [
        "### HTTP",
        "What only the HTTP API answers, besides the errors above; [the API](../api.md) has the rest.",
        table(("code", "HTTP", "meaning"), ((code(name), statuses[name], text) for name, text in told.items())),
        "### JSON-RPC",
        _ABOUT_RPC,
        table(("number", "meaning"), _list_numbers()),
    ]


def _list_numbers() -> list[tuple[str, str]]:
    [three] = search(r"^PARSE_ERROR, INVALID_REQUEST, INTERNAL_ERROR = (.*)$")
    [one] = search(r"^NOT_FOUND = (-\d+)$")
    names = ("PARSE_ERROR", "INVALID_REQUEST", "INTERNAL_ERROR", "NOT_FOUND", "INVALID_PARAMS")
    return [(code(number), RPC[name]) for name, number in zip(names, (*three.split(", "), one, "-32602"), strict=True)]


def _render_markers() -> list[str]:
    rows = [
        (code(f"[{marker}]"), ", ".join(list_moves(marker)) or "nothing", "yes" if marker in NEED_REASON else "")
        for marker in MARKERS
    ]
    about = "Case, spaces, `_` and `-` do not matter. A move that is not in the table is refused."
    return ["## Markers of tasks", about, table(("marker", "may become", "needs a reason"), rows)]
