"""Remit hands work to an AI subagent and brings back a return that can be trusted.

Public names are resolved when they are first used: `import remit` loads nothing else.
"""

from __future__ import annotations

TYPE_CHECKING = False  # typing itself would cost 6 ms
if TYPE_CHECKING:
    from remit.app import check, convert, explain, instructions, schema
    from remit.app.delegating.asking import Request
    from remit.app.delegating.workspace import Workspace
    from remit.delegate.admission.limits import Budget
    from remit.errors import RefusedError, RemitError, RunnerError
    from remit.model import Artifact, Fault, Finding, Repair, Return, Verdict
    from remit.schemas import Result

__version__ = "0.1.0"

_HOMES = {
    "remit.app": ("check", "convert", "explain", "instructions", "schema"),
    "remit.app.delegating.asking": ("Request",),
    "remit.app.delegating.workspace": ("Workspace",),
    "remit.schemas": ("Result",),
    "remit.delegate.admission.limits": ("Budget",),
    "remit.errors": ("RefusedError", "RemitError", "RunnerError"),
    "remit.model": ("Artifact", "Fault", "Finding", "Repair", "Return", "Verdict"),
}

__all__ = [
    "Artifact",
    "Budget",
    "Fault",
    "Finding",
    "RefusedError",
    "RemitError",
    "Repair",
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
