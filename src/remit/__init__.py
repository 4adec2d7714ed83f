"""Remit runs AI subagents, or checks the ones a harness runs, and returns only what it could verify.

Public names are imported on first use, so `import remit` loads nothing else.
"""

from __future__ import annotations

TYPE_CHECKING = False  # typing itself would cost 6 ms
if TYPE_CHECKING:
    from remit.errors import RefusedError, RemitError, RunnerError
    from remit.model import AgentError, Artifact, Diagnostic, JsonRepair, Return, Verdict
    from remit.result import Result
    from remit.runs.admission.limits import Budget
    from remit.runs.check_message import check, convert, instructions, schema
    from remit.runs.request import Request
    from remit.runs.workspace import Workspace
    from remit.views.explanations import explain

__version__ = "0.1.0"

_HOMES = {
    "remit.runs.check_message": ("check", "convert", "instructions", "schema"),
    "remit.views.explanations": ("explain",),
    "remit.runs.request": ("Request",),
    "remit.runs.workspace": ("Workspace",),
    "remit.result": ("Result",),
    "remit.runs.admission.limits": ("Budget",),
    "remit.errors": ("RefusedError", "RemitError", "RunnerError"),
    "remit.model": ("AgentError", "Artifact", "Diagnostic", "JsonRepair", "Return", "Verdict"),
}

__all__ = [
    "AgentError",
    "Artifact",
    "Budget",
    "Diagnostic",
    "JsonRepair",
    "RefusedError",
    "RemitError",
    "Request",
    "Result",
    "Return",
    "RunnerError",
    "Verdict",
    "Workspace",
    "__version__",
    "check",
    "convert",
    "explain",
    "instructions",
    "schema",
]


def __getattr__(name: str) -> object:
    from importlib import import_module  # noqa: PLC0415 - only once a name is used

    for home, names in _HOMES.items():
        if name in names:
            value: object = getattr(import_module(home), name)
            globals()[name] = value
            return value
    raise AttributeError(f"module 'remit' has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
