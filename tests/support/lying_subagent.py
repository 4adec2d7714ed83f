"""A subagent of a harness that lies."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tests.support.hook_session import Stage


def lie(stage: Stage) -> str:
    """A subagent in the background that claims a file it never made, as often as it is asked; its session."""
    child = stage.call("writer", run_in_background=True)
    child.start()
    for _ in range(4):
        if not child.stop(child.report("never.md")):
            break
    assert child.row.status == "failed"
    return child.session_id
