"""Commands of subagents, told to the hooks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tests.support.hook_session import Child, Stage

if TYPE_CHECKING:
    from pathlib import Path


def begin(child: Child | Stage, call: str, tool: str = "Bash") -> None:
    given = {"tool_name": tool, "tool_input": {"command": "make"}, "tool_use_id": call}
    stage = child.stage if isinstance(child, Child) else child
    assert stage.send(child.event("PreToolUse", **given)) == {}


def end(child: Child | Stage, call: str, tool: str = "Bash") -> str:
    given = {"tool_name": tool, "tool_input": {"command": "make"}, "tool_use_id": call}
    stage = child.stage if isinstance(child, Child) else child
    answer: dict[str, Any] = stage.send(child.event("PostToolUse", **given, tool_response={"stdout": ""}))
    return str(answer.get("hookSpecificOutput", {}).get("additionalContext", ""))


def list_quarantine(root: Path) -> list[str]:
    folder = root / ".remit" / "quarantine"
    return sorted(each.name.split("-", 2)[2] for each in folder.iterdir()) if folder.exists() else []
