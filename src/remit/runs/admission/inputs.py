"""The inputs of a run: what the caller gave, what Remit adds, and whether the agent can start with them.

Owns the findings about inputs and context (INP…). The documentation of each is the docstring of the function that makes
it. An error refuses the delegation before anything is started. Depth, path and session are the ledger's: no caller may
give them.
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
"""What Remit itself knows of every delegation."""
FROM_PROMPT = (
    "research_topic", "topic", "question", "query", "research_focus", "review_scope", "revision_reason",
    "revision_context",
)  # fmt: skip
"""What the prompt of a task command answers, by the names that agents give to it."""
MAX_BYTES = 100_000
"""Of one value: an agent reads a larger one better from a file."""
MAX_GIVEN = 200
_SHOWN = 80
_LISTED = 40
_INTEGER = lazy(r"[+-]?[0-9]{1,30}\Z")
_NUMBER = lazy(r"[+-]?(?:[0-9]{1,30}(?:\.[0-9]{0,30})?|\.[0-9]{1,30})(?:[eE][+-]?[0-9]{1,3})?\Z")
_MAX_DEPTH = 64


def input_missing(name: str, text: str = "") -> Diagnostic:
    """An input that the agent requires was not given.

    Why: the agent would guess it, or fail after it has cost time and money. What Remit knows itself need not be given:
    session_id, delegation_depth, delegation_path, timeout; what the task answers, such as its number, language,
    description and plan_path; and what a task command was told, such as the reason of a revision.

    Bad: `remit run planner "plan it"` for an agent that requires `audience`

    Good: `remit run planner "plan it" --input audience=beginners`
    """
    about = f" ({text})" if text else ""
    hint = f"Give {show(name)[1:-1]}=VALUE among the inputs (on the command line: --input)."
    if name == "task_number":  # a task is made and named, not typed in as a value
        hint = "Give task_number (on the command line --task N; remit task new makes one), or have the task worked on "
        hint += "with remit task research N, plan N, implement N or review N."
    return Diagnostic("INP001", "error", f"the input {show(name)} is missing{about}", hint, _point(name))


def input_forbidden(name: str, meant: str) -> Diagnostic:
    """An input was given that the agent's file forbids.

    Why: what is forbidden, such as a whole conversation, fills the agent's context and steers it. Another spelling of
    the name is refused as well.

    Bad: `--input conversation_history="…"` for an agent that forbids it

    Good: the one fact out of it that the agent needs, as an input of its own.
    """
    also = "" if name == meant else f", which is {show(meant)}"
    return Diagnostic("INP002", "error", f"the input {show(name)} is forbidden{also}",
                      "Leave it out; give the agent what it asks for.", _point(name))  # fmt: skip


def input_unknown(name: str, known: Sequence[str]) -> Diagnostic:
    """An input was given that the agent's file does not name.

    Why: it was probably meant for another name, and what the agent looks for is then missing. It is passed on.

    Bad: `--input task_nummber=12`

    Good: `--input task_number=12`
    """
    guess = did_you_mean(name[:_SHOWN], tuple(show(each)[1:-1] for each in known[:_LISTED]))
    hint = (
        f"{guess[0].upper()}{guess[1:].rstrip('?')}{'?' if guess.endswith('?') else '.'}" if known else "Leave it out."
    )
    return Diagnostic("INP003", "warning", f"the agent knows no input {show(name)}", hint, _point(name))


def input_unfit(name: str, value: str, wanted: str) -> Diagnostic:
    """The value of an input does not fit its type.

    Why: the agent would read something else than was meant. A list or an object is written as JSON.

    Bad: `--input task_number=twelve`, `--input paths=a,b`

    Good: `--input task_number=12`, `--input 'paths=["a", "b"]'`
    """
    form = {"boolean": "true or false", "array": 'a list in JSON, such as ["a", "b"]',
            "object": 'an object in JSON, such as {"a": 1}'}.get(wanted, _article(wanted))  # fmt: skip
    return Diagnostic("INP004", "error", f"the input {show(name)} is {show(value)}, not {_article(wanted)}",
                      f"Write {form}.", _point(name))  # fmt: skip


def input_owned(name: str) -> Diagnostic:
    """An input was given that only Remit can know, or that contradicts the task.

    Why: session, depth and path say whose work this is and how deep it is nested. A caller that could choose them could
    hide from every limit.

    Bad: `--input delegation_depth=0`, or `--input task_number=13` while working on task 12

    Good: nothing; they are filled in. The time is set with `--timeout`.
    """
    hint = "Set the time with --timeout." if name == "timeout" else "Leave it out: Remit fills it in."
    return Diagnostic("INP005", "error", f"the input {show(name)} is not the caller's to give", hint,
                      _point(name))  # fmt: skip


def input_too_large(name: str, size_bytes: int) -> Diagnostic:
    """An input is too large to be put into a message.

    Why: it would push out of the agent's context what the agent needs to work.

    Bad: `--input log="$(cat build.log)"` with a log of 5 MB

    Good: `--input log=build.log`, and the agent reads what it needs.
    """
    message = f"the input {show(name)} has {size_bytes:,} bytes, at most {MAX_BYTES:,} are taken"
    return Diagnostic("INP006", "error", message, "Write it to a file and give the path.", _point(name))


def inputs_too_many(count: int) -> Diagnostic:
    """More inputs were given than anybody reads.

    Why: an agent that takes hundreds of values takes a file.

    Bad: 500 times `--input`

    Good: `--input settings=settings.json`
    """
    message = f"{count:,} inputs were given, at most {MAX_GIVEN} are taken"
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
    """What there is to say about what the caller gave, errors first. An error: the agent must not be started.

    `answers` are inputs that the task or the prompt answers, by name.
    """
    task = _choose_answers(inputs, answers)
    findings = [
        each for name, value in list(given.items())[:MAX_GIVEN] for each in _check_one(inputs, name, value, task)
    ]
    if len(given) > MAX_GIVEN:
        findings.append(inputs_too_many(len(given)))
    known = {*given, *FILLED, *task}
    findings += [
        input_missing(each.name, show(each.text) if each.text else "")
        for each in inputs.parameters
        if not each.optional and each.name not in known
    ]
    return tuple(sorted(findings, key=lambda finding: finding.severity != "error"))


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
    """Every input that the agent gets: what was given, and of what Remit knows whatever the file names."""
    filled = {
        "session_id": session_id,
        "delegation_depth": str(depth),
        "delegation_path": json.dumps(list(path), ensure_ascii=False),
        "timeout": f"{timeout_s:g}" if timeout_s < 1e6 else str(int(timeout_s)),  # noqa: PLR2004 - where %g begins to round
    }
    named = {each.name for each in inputs.parameters}
    known = {name: value for name, value in _choose_answers(inputs, answers).items() if name in named}
    own = {name: value for name, value in filled.items() if name in named}
    return {**known, **given, **own}


def _choose_answers(inputs: Inputs, answers: Mapping[str, str]) -> dict[str, str]:
    """The answers that can be used: each fits the type of its input, and none is too large. Lines become a list."""
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
    """A value in JSON; None where it is none, is nested deeply, says a key twice, or holds NaN."""
    depth = deepest = 0
    for char in text:  # brackets in strings count as well: this only has to keep the parser from going too deep
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
        raise ValueError("a key is given twice")
    return joined


def _refuse(word: str) -> None:
    raise ValueError(f"{word} is no JSON")


def show(text: str) -> str:
    """A name or a value of somebody else's, short and on one line."""
    shown = "".join(char if char.isprintable() else "?" for char in text[: _SHOWN + 1])
    return f"'{shown[:_SHOWN]}…'" if len(shown) > _SHOWN else f"'{shown}'"


def _point(name: str) -> str:
    return f"/inputs/{escape_key(name[:_SHOWN])}"


def _article(wanted: str) -> str:
    return f"{'an' if wanted[0] in 'aeiou' else 'a'} {wanted}"


_NAME = lazy(r"[A-Za-z][A-Za-z0-9_]{0,60}\Z")
_NOT_GIVEN = frozenset({"SESSION_ID", "OUTPUT_DIR", "MANIFEST_PATH"})
"""What Remit knows better: a line that is written elsewhere would not be found."""
_TASK = "TASK_ID"
_UNKNOWN_INPUT = "INP003"


def list_given(request: Request, root: str, settings: Settings) -> dict[str, str]:
    """The values that whoever asks gives as inputs, and the commands of an outside task system (C24)."""
    commands = _list_commands(root, settings) if request.outside else {}
    inputs = {name.upper(): value for name, value in request.inputs.items() if _NAME.match(name)}
    kept = _NOT_GIVEN if request.task is None else {*_NOT_GIVEN, _TASK}
    return commands | {name: value for name, value in inputs.items() if name not in kept}


def _list_commands(root: str, settings: Settings) -> dict[str, str]:
    from remit.runs.tasks.outside_tasks import list_outside  # noqa: PLC0415 - only where another keeps the tasks

    commands = list_outside(root, settings).items()
    return {f"TASK_{name.upper()}_CMD": command.partition(" {id}")[0] for name, command in commands}


def check_tokens(work: InstructionFacts, body: str, findings: Sequence[Diagnostic]) -> tuple[Diagnostic, ...]:
    """The findings of a request with those about tokens: one that nothing fills is an error, and says how it could be.

    An input that fills one is no stranger to the agent.
    """
    unfilled = {**fill_tokens(work.prompt, work).diagnostics, **fill_tokens(body, work).diagnostics}
    used = {f"/inputs/{name}".upper() for text in (work.prompt, body) for name in find_tokens(text)}
    known = [each for each in findings if each.code != _UNKNOWN_INPUT or (each.pointer or "").upper() not in used]
    return (*(found._replace(hint=_describe_fix(name, found)) for name, found in unfilled.items()), *known)


def _describe_fix(name: str, finding: Diagnostic) -> str:
    how = "Name the task with --task N" if name == _TASK else f"Give {name}=VALUE among the inputs (--input)"
    return f"{finding.hint} {how}." if finding.hint.endswith("?") else f"{how}, or take it out."


def list_blanks(body: str, work: InstructionFacts) -> dict[str, str]:
    """The tokens of a file that a harness reads itself, and what each stands for."""
    if work.format != MANIFEST.name:
        return {}
    return {name: fill_tokens(f"{{{{{name}}}}}", work).text for name in find_tokens(body)}
