"""A protected file by another of its names: the hook refuses it, and so does `remit agent can`."""

import os
from pathlib import Path
from typing import Any

import pytest

from remit.hooks.explain_permission import explain_call
from tests.support.hook_session import Stage, add_agent


@pytest.mark.parametrize(("tool", "subject"), [("Write", "second"), ("Edit", "second")])
def test_what_may_says_of_a_second_name_is_what_the_hook_says(
    stage: Stage, root: Path, monkeypatch: pytest.MonkeyPatch, tool: str, subject: str
) -> None:
    add_agent(root, "careful")
    os.link(root / "remit.toml", root / "second")
    child = stage.call("careful")
    child.start()
    given: dict[str, Any] = {"file_path": str(root / subject), "content": "x"}
    told = child.use(tool, **given)["hookSpecificOutput"]
    monkeypatch.chdir(root)
    decision = explain_call("careful", tool, subject).decision
    assert decision.answer == told["permissionDecision"] == "deny"
    assert decision.rule == 'protected "remit.toml"'
