"""The kit for tests: models that say what a script tells them to, and the real harnesses that talk to them."""

from __future__ import annotations

from remit.testing.clis import find_cli
from remit.testing.model import Request, ScriptedModel
from remit.testing.script import SESSION_ID, Call, Turn, call, drop, fail, hang, say

__all__ = [
    "SESSION_ID",
    "Call",
    "Request",
    "ScriptedModel",
    "Turn",
    "call",
    "drop",
    "fail",
    "find_cli",
    "hang",
    "say",
]
