"""Policy: may this tool call happen. Pure: text in, a decision out.

`judge` is given a call, the permissions of the agent and of all its ancestors, and the ground it stands on. The
strictest answer wins: deny over ask over allow.
"""

from __future__ import annotations

from remit.policy.judging import judge
from remit.policy.protected import PROTECTED
from remit.policy.terms import Call, Decision, Ground, Permissions

__all__ = ["PROTECTED", "Call", "Decision", "Ground", "Permissions", "judge"]
