"""The ground that policy tests stand on: a root, a home folder, and rules as agents' files have them."""

import os
from pathlib import Path

from remit.policy import PROTECTED, Decision, PathContext, Permissions, ToolCall, judge

DENIED = ("rm -rf", "sudo", "curl", "chmod +x", "git push", "dd")


def make_ground(root: Path, *, cwd: Path | None = None, protected: tuple[str, ...] = PROTECTED) -> PathContext:
    """A ground below a folder that is there."""
    home = root / "home"
    home.mkdir(exist_ok=True)
    return PathContext(str(root), str(cwd or root), str(home), os.path.realpath, protected)


def ask_about(
    command: str, ground: PathContext, *, deny: tuple[str, ...] = DENIED, **allow: tuple[str, ...]
) -> Decision:
    """What is said about a shell command, with some programs denied, or with lists of what is allowed."""
    return judge(ToolCall("bash", command=command), [Permissions(None, allow, {"bash": deny} if deny else {})], ground)
