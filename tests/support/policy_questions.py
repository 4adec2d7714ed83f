"""How tests and tortures ask the policy about a script."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from remit.policy import PROTECTED, PathContext, Permissions, ToolCall, judge

if TYPE_CHECKING:
    from remit.policy import Decision

PROJECT = "/home/agent/project"
GROUND = PathContext(root=PROJECT, cwd=PROJECT, home="/home/agent", resolve=os.path.normpath, protected=PROTECTED)


def ask(script: str, *, deny: tuple[str, ...] = (), allow: tuple[str, ...] = ()) -> Decision:
    """What the policy says of a bash call under one deny list, and an allow list where there is one."""
    own = Permissions(tools=None, allow={"bash": allow} if allow else {}, deny={"bash": deny} if deny else {})
    return judge(ToolCall("bash", command=script), [own], GROUND)
