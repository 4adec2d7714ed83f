"""Test tools: scripted agents and models, and the real harnesses."""

from __future__ import annotations

from remit.testing.agent import Act, ScriptedAgent
from remit.testing.clis import find_cli
from remit.testing.model import ModelRequest, ScriptedModel
from remit.testing.script import SESSION_ID, ScriptedCall, ScriptedTurn, call, drop, fail, hang, say

__all__ = [
    "SESSION_ID",
    "Act",
    "ModelRequest",
    "ScriptedAgent",
    "ScriptedCall",
    "ScriptedModel",
    "ScriptedTurn",
    "call",
    "drop",
    "fail",
    "find_cli",
    "hang",
    "say",
]
