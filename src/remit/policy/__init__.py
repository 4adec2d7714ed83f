"""Decisions on tool calls, without side effects.

`judge` gets a call, the permissions of the agent and all its ancestors, and the path context. The strictest answer
wins: deny, then ask, then allow.
"""

from __future__ import annotations

TYPE_CHECKING = False  # typing itself would cost 6 ms
if TYPE_CHECKING:
    from remit.policy.decision import Decision, PathContext, Permissions, ToolCall
    from remit.policy.judge_call import judge
    from remit.policy.protected_paths import PROTECTED

__all__ = ["PROTECTED", "Decision", "PathContext", "Permissions", "ToolCall", "judge"]

_HOMES = {
    "judge": "remit.policy.judge_call",
    "PROTECTED": "remit.policy.protected_paths",
    **dict.fromkeys(("ToolCall", "Decision", "PathContext", "Permissions"), "remit.policy.decision"),
}


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module 'remit.policy' has no attribute {name!r}")
    from importlib import import_module  # noqa: PLC0415 - only once a name is used

    value: object = getattr(import_module(_HOMES[name]), name)
    globals()[name] = value
    return value
