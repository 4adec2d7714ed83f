"""The tokens of the manifest protocol in the instructions, and which of them have a value (R4.11, C15)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from remit.lazy_regex import lazy
from remit.manifest.tokens import find_tokens
from remit.returns.formats import MANIFEST
from remit.runs.instructions import fill_tokens

if TYPE_CHECKING:
    from collections.abc import Sequence

    from remit.config import Settings
    from remit.model import Diagnostic
    from remit.runs.instructions import InstructionFacts
    from remit.runs.request import Request

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
    unfilled = {**fill_tokens(work.prompt, work).findings, **fill_tokens(body, work).findings}
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
