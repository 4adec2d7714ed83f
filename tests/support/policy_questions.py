"""Asks the policy about shell commands and scripts."""

import os
from pathlib import Path

from remit.policy import PROTECTED, Decision, PathContext, Permissions, ToolCall, judge

DENIED = ("rm -rf", "sudo", "curl", "chmod +x", "git push", "dd")
PROJECT = "/home/agent/project"
GROUND = PathContext(root=PROJECT, cwd=PROJECT, home="/home/agent", resolve=os.path.normpath, protected=PROTECTED)
"""A workspace that isn't on disk."""


def make_ground(root: Path, *, cwd: Path | None = None, protected: tuple[str, ...] = PROTECTED) -> PathContext:
    """A workspace in a folder that is there, with a home folder in it."""
    home = root / "home"
    home.mkdir(exist_ok=True)
    return PathContext(str(root), str(cwd or root), str(home), os.path.realpath, protected)


def ask_about(
    command: str, ground: PathContext, *, deny: tuple[str, ...] = DENIED, **allow: tuple[str, ...]
) -> Decision:
    """What is said about a shell command, with some programs denied, or with lists of what is allowed."""
    return judge(ToolCall("bash", command=command), [Permissions(None, allow, {"bash": deny} if deny else {})], ground)


def ask(script: str, *, deny: tuple[str, ...] = (), allow: tuple[str, ...] = ()) -> Decision:
    """What the policy says of a bash call under one deny list, and an allow list where there is one."""
    own = Permissions(tools=None, allow={"bash": allow} if allow else {}, deny={"bash": deny} if deny else {})
    return judge(ToolCall("bash", command=script), [own], GROUND)
