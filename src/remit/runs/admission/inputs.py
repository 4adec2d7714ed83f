"""The inputs of a run and the tokens in its instructions: the caller's values, Remit's values, and their checks.

The docstring of a function that makes a diagnostic (INP…) is its page. An error refuses the run before its agent
starts. Depth, path and session come from the ledger, and no caller may give them.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from remit.agents.inputs import Parameter, normalize_input_name
from remit.lazy_regex import lazy
from remit.manifest.tokens import find_tokens
from remit.model import NOTHING, Diagnostic
from remit.positions import escape_key
from remit.returns.formats import MANIFEST
from remit.runs.instructions import fill_tokens
from remit.spelling import did_you_mean
from remit.storage.context_files import DIAGNOSTICS as CONTEXT_DIAGNOSTICS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from remit.agents.inputs import Inputs
    from remit.config import Settings
    from remit.model import Severity
    from remit.runs.instructions import InstructionFacts
    from remit.runs.request import Request


FILLED = ("session_id", "delegation_depth", "delegation_path", "timeout")
"""The inputs that Remit fills in for every run."""
FROM_PROMPT = (
    "research_topic", "topic", "question", "query", "research_focus", "review_scope", "revision_reason",
    "revision_context",
)  # fmt: skip
"""The names that agents use for the prompt of a task command."""
MAX_BYTES = 100_000
"""Maximum size of a value. A larger value belongs in a file."""
MAX_GIVEN = 200
_SHOWN = 80
_LISTED = 40
_INTEGER = lazy(r"[+-]?[0-9]{1,30}\Z")
_NUMBER = lazy(r"[+-]?(?:[0-9]{1,30}(?:\.[0-9]{0,30})?|\.[0-9]{1,30})(?:[eE][+-]?[0-9]{1,3})?\Z")
_MAX_DEPTH = 64


def input_missing(name: str, text: str = "") -> Diagnostic:
    """A required input is missing.

    Why: the agent would guess it, or fail after it has cost time and money. Remit fills in some inputs: session_id,
    delegation_depth, delegation_path and timeout; values of the task, such as its number, language, description and
    plan_path; and the prompt of a task command, such as the reason for a revision.

    Bad: `remit run planner "plan it"` for an agent that requires `audience`

    Good: `remit run planner "plan it" --input audience=beginners`
    """
    about = f" ({text})" if text else ""
    hint = f"Give {show(name)[1:-1]}=VALUE among the inputs (on the command line: --input)."
    if name == "task_number":  # the number of an existing task
        hint = "Give task_number (on the command line --task N; remit task new makes one), or run a task command: "
        hint += "remit task research N, plan N, implement N or review N."
    return Diagnostic("INP001", "error", f"the input {show(name)} is missing{about}", hint, _point(name))


def input_forbidden(name: str, meant: str) -> Diagnostic:
    """The agent's file forbids an input.

    Why: a forbidden input, such as a whole conversation, fills the agent's context and influences it. Other spellings
    of the name are refused, too.

    Bad: `--input conversation_history="…"` for an agent that forbids it

    Good: only the fact that the agent needs, as an input of its own.
    """
    also = "" if name == meant else f", which is {show(meant)}"
    return Diagnostic("INP002", "error", f"the input {show(name)} is forbidden{also}",
                      "Leave it out; give only the inputs that the agent's file lists.", _point(name))  # fmt: skip


def input_unknown(name: str, known: Sequence[str]) -> Diagnostic:
    """The agent's file has no such input.

    Why: the name is probably misspelled, and the intended input is missing. Remit passes the value to the agent.

    Bad: `--input task_nummber=12`

    Good: `--input task_number=12`
    """
    guess = did_you_mean(name[:_SHOWN], tuple(show(each)[1:-1] for each in known[:_LISTED]))
    hint = (
        f"{guess[0].upper()}{guess[1:].rstrip('?')}{'?' if guess.endswith('?') else '.'}" if known else "Leave it out."
    )
    return Diagnostic("INP003", "warning", f"the agent has no input {show(name)}", hint, _point(name))


def input_unfit(name: str, value: str, wanted: str) -> Diagnostic:
    """The value of an input doesn't have the input's type.

    Why: the agent would read another value than you meant. Write a list or an object as JSON.

    Bad: `--input task_number=twelve`, `--input paths=a,b`

    Good: `--input task_number=12`, `--input 'paths=["a", "b"]'`
    """
    form = {"boolean": "true or false", "array": 'a list in JSON, such as ["a", "b"]',
            "object": 'an object in JSON, such as {"a": 1}'}.get(wanted, _article(wanted))  # fmt: skip
    return Diagnostic("INP004", "error", f"the input {show(name)} is {show(value)}, not {_article(wanted)}",
                      f"Write {form}.", _point(name))  # fmt: skip


def input_owned(name: str) -> Diagnostic:
    """An input has a value that only Remit may set, or that contradicts the task.

    Why: session, depth and path identify the run and its place in the call chain. A caller that could choose them could
    avoid every limit.

    Bad: `--input delegation_depth=0`, or `--input task_number=13` while working on task 12

    Good: leave them out; Remit fills them in. Set the time limit with `--timeout`.
    """
    hint = "Set the time limit with --timeout." if name == "timeout" else "Leave it out: Remit fills it in."
    return Diagnostic("INP005", "error", f"the caller can't set the input {show(name)}", hint,
                      _point(name))  # fmt: skip


def input_too_large(name: str, size_bytes: int) -> Diagnostic:
    """An input is too large for a message.

    Why: it would fill the agent's context, which the agent needs for its work.

    Bad: `--input log="$(cat build.log)"` with a log of 5 MB

    Good: `--input log=build.log`, and the agent reads what it needs.
    """
    message = f"the input {show(name)} has {size_bytes:,} bytes, the maximum is {MAX_BYTES:,}"
    return Diagnostic("INP006", "error", message, "Write it to a file and give the path.", _point(name))


def inputs_too_many(count: int) -> Diagnostic:
    """There are too many inputs.

    Why: hundreds of values belong in a file.

    Bad: 500 times `--input`

    Good: `--input settings=settings.json`
    """
    message = f"there are {count:,} inputs, the maximum is {MAX_GIVEN}"
    return Diagnostic("INP007", "error", message, "Write them to a file and give its path.")


DIAGNOSTICS: dict[str, tuple[Callable[..., Diagnostic], Severity]] = {
    "INP001": (input_missing, "error"),
    "INP002": (input_forbidden, "error"),
    "INP003": (input_unknown, "warning"),
    "INP004": (input_unfit, "error"),
    "INP005": (input_owned, "error"),
    "INP006": (input_too_large, "error"),
    "INP007": (inputs_too_many, "error"),
    **CONTEXT_DIAGNOSTICS,
}


def check_inputs(
    inputs: Inputs, given: Mapping[str, str], *, answers: Mapping[str, str] = NOTHING
) -> tuple[Diagnostic, ...]:
    """Return diagnostics on the caller's inputs, errors first. With an error, the agent must not start.

    `answers` are values from the task or the prompt, by the name of the input.
    """
    task = _choose_answers(inputs, answers)
    diagnostics = [
        each for name, value in list(given.items())[:MAX_GIVEN] for each in _check_one(inputs, name, value, task)
    ]
    if len(given) > MAX_GIVEN:
        diagnostics.append(inputs_too_many(len(given)))
    known = {*given, *FILLED, *task}
    diagnostics += [
        input_missing(each.name, show(each.text) if each.text else "")
        for each in inputs.parameters
        if not each.optional and each.name not in known
    ]
    return tuple(sorted(diagnostics, key=lambda each: each.severity != "error"))


def fill_inputs(
    inputs: Inputs,
    given: Mapping[str, str],
    *,
    session_id: str,
    depth: int,
    path: Sequence[str],
    timeout_s: float,
    answers: Mapping[str, str] = NOTHING,
) -> dict[str, str]:
    """Return the inputs of the agent: the caller's, and those of Remit's values that the agent's file names."""
    filled = {
        "session_id": session_id,
        "delegation_depth": str(depth),
        "delegation_path": json.dumps(list(path), ensure_ascii=False),
        "timeout": f"{timeout_s:g}" if timeout_s < 1e6 else str(int(timeout_s)),  # noqa: PLR2004 - from here, %g rounds
    }
    named = {each.name for each in inputs.parameters}
    known = {name: value for name, value in _choose_answers(inputs, answers).items() if name in named}
    own = {name: value for name, value in filled.items() if name in named}
    return {**known, **given, **own}


def _choose_answers(inputs: Inputs, answers: Mapping[str, str]) -> dict[str, str]:
    """Return the answers that fit the type of their input and aren't too large. For a list, each line is an item."""
    types = {each.name: each for each in inputs.parameters}
    chosen = {}
    for name, answer in answers.items():
        parameter = types.get(name, Parameter(name))
        value = answer
        if parameter.type == "array" and not isinstance(_parse(answer), list):
            value = json.dumps([line.strip() for line in answer.splitlines() if line.strip()], ensure_ascii=False)
        fits = answer.strip() and len(value.encode("utf-8", "surrogatepass")) <= MAX_BYTES
        if fits and not any(_check_type(parameter, value)):
            chosen[name] = value
    return chosen


def _check_one(inputs: Inputs, name: str, value: str, task: Mapping[str, str]) -> Iterator[Diagnostic]:
    forbidden = {normalize_input_name(each): each for each in inputs.forbidden}
    parameters = {each.name: each for each in inputs.parameters}
    size_bytes = len(value.encode("utf-8", "surrogatepass"))
    if normalize_input_name(name) in forbidden:
        yield input_forbidden(name, forbidden[normalize_input_name(name)])
    elif name in FILLED or (name == "task_number" and task.get(name, value.strip()) != value.strip()):
        yield input_owned(name)
    elif size_bytes > MAX_BYTES:
        yield input_too_large(name, size_bytes)
    elif name in parameters:
        yield from _check_type(parameters[name], value)
    elif parameters and not (name in task and name in ("task_number", "language")):
        yield input_unknown(name, [each for each in parameters if each not in FILLED])


def _check_type(parameter: Parameter, value: str) -> Iterator[Diagnostic]:
    text = value.strip()
    fits = {
        "integer": lambda: _INTEGER.match(text) is not None,
        "number": lambda: _NUMBER.match(text) is not None,
        "boolean": lambda: text.lower() in ("true", "false"),
        "array": lambda: isinstance(_parse(text), list),
        "object": lambda: isinstance(_parse(text), dict),
    }.get(parameter.type)
    if (fits is not None and not fits()) or (not text and not parameter.optional):
        yield input_unfit(parameter.name, value, parameter.type or "value")


def _parse(text: str) -> Any:  # noqa: ANN401 - any JSON value
    """Return a value from JSON; None if it is invalid or deeply nested, or has a duplicate key or a NaN."""
    depth = deepest = 0
    for char in text:  # counts brackets in strings, too: it only has to limit the parser's depth
        depth += (char in "[{") - (char in "]}")
        deepest = max(deepest, depth)
    if deepest > _MAX_DEPTH:
        return None
    try:
        return json.loads(text, object_pairs_hook=_join_once, parse_constant=_refuse, parse_int=str, parse_float=str)
    except (ValueError, RecursionError):
        return None


def _join_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    joined = dict(pairs)
    if len(joined) != len(pairs):
        raise ValueError("duplicate key")
    return joined


def _refuse(word: str) -> None:
    raise ValueError(f"{word} isn't valid JSON")


def show(text: str) -> str:
    """Return a name or value of the caller for a message, short and on one line."""
    shown = "".join(char if char.isprintable() else "?" for char in text[: _SHOWN + 1])
    return f"'{shown[:_SHOWN]}…'" if len(shown) > _SHOWN else f"'{shown}'"


def _point(name: str) -> str:
    return f"/inputs/{escape_key(name[:_SHOWN])}"


def _article(wanted: str) -> str:
    return f"{'an' if wanted[0] in 'aeiou' else 'a'} {wanted}"


# --- tokens of the manifest protocol (R4.11, C15) ---------------------------------------------------------------------

_NAME = lazy(r"[A-Za-z][A-Za-z0-9_]{0,60}\Z")
_NOT_GIVEN = frozenset({"SESSION_ID", "OUTPUT_DIR", "MANIFEST_PATH"})
"""Tokens whose values a caller can't set: Remit wouldn't find an entry that is written elsewhere."""
_TASK = "TASK_ID"
_UNKNOWN_INPUT = "INP003"


def list_token_values(request: Request, root: str, settings: Settings) -> dict[str, str]:
    """Return the values of tokens: the caller's inputs, and the commands of an outside task system (C24)."""
    commands = {}
    if request.outside:
        from remit.runs.tasks.outside_tasks import list_outside  # noqa: PLC0415 - only with an outside task system

        found = list_outside(root, settings).items()
        commands = {f"TASK_{name.upper()}_CMD": command.partition(" {id}")[0] for name, command in found}
    inputs = {name.upper(): value for name, value in request.inputs.items() if _NAME.match(name)}
    kept = _NOT_GIVEN if request.task is None else {*_NOT_GIVEN, _TASK}
    return commands | {name: value for name, value in inputs.items() if name not in kept}


def check_tokens(facts: InstructionFacts, body: str, diagnostics: Sequence[Diagnostic]) -> tuple[Diagnostic, ...]:
    """Return the diagnostics of a request with an error for each token that has no value.

    An input whose name is a token isn't an unknown input.
    """
    unfilled = {**fill_tokens(facts.prompt, facts).diagnostics, **fill_tokens(body, facts).diagnostics}
    used = {f"/inputs/{name}".upper() for text in (facts.prompt, body) for name in find_tokens(text)}
    kept = [each for each in diagnostics if each.code != _UNKNOWN_INPUT or (each.pointer or "").upper() not in used]
    errors = []
    for name, error in unfilled.items():
        fix = "Name the task with --task N" if name == _TASK else f"Give {name}=VALUE among the inputs (--input)"
        hint = f"{error.hint} {fix}." if error.hint.endswith("?") else f"{fix}, or remove it."
        errors.append(error._replace(hint=hint))
    return (*errors, *kept)


def list_blanks(body: str, facts: InstructionFacts) -> dict[str, str]:
    """Return the tokens in an agent file that its harness reads itself, and the value of each."""
    if facts.format != MANIFEST.name:
        return {}
    return {name: fill_tokens(f"{{{{{name}}}}}", facts).text for name in find_tokens(body)}
