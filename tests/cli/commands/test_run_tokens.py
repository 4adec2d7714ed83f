"""Tokens of the manifest protocol: what an agent is told has none left, or it is not started."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import pytest

from remit.ledger.home import Home
from remit.ledger.texts import load_text
from tests.support.commands import put
from tests.support.program_runs import list_rows

if TYPE_CHECKING:
    from tests.support.commands import Inside, Remit

RECORDING = """---
name: recorder
description: "Keeps a record."
agent_type: research
version: 1.0.0
return: manifest
---
<inputs_required>
  <parameter name="depth" type="string" optional="true">How deep</parameter>
</inputs_required>
Write {{OUTPUT_DIR}}/{{DATE}}_{{TOPIC_SLUG}}.md for task {{TASK_ID}}, in {{COLOUR}}.
"""


@pytest.fixture
def remit(inside: Inside) -> Inside:
    """Nothing here is about how a process begins or ends."""
    return inside


def test_tokens_of_the_agents_own_file_are_filled_or_it_is_not_started(remit: Remit) -> None:
    """R4.11, C15."""
    put(remit, ".opencode/agent/subagents/recorder.md", RECORDING)
    remit("task", "new", "Cache the uploads")
    ended = remit("run", "recorder", "Look.", "--command", "cat", "--input", "TOPIC_SLUG=uploads")
    assert ended.code == 2
    assert ended.complaint == (
        "recorder was not started: no value for the required token TASK_ID; unknown token COLOUR; "
        "name the task with --task N, or remove it"
    )
    assert list_rows(remit.folder) == []
    given = ("--input", "topic_slug=uploads", "--input", "COLOUR=red", "--task", "1")
    ended = remit("run", "recorder", "Look into {{TOPIC_SLUG}}.", "--command", "cat", *given)
    assert b"INP003" not in ended.err
    home = Home(str(remit.folder))
    session_id = list_rows(remit.folder)[0].session_id
    kept = {kind: (load_text(home, session_id, kind) or b"").decode() for kind in ("instructions", "prompt")}
    home.close()
    day = time.strftime("%Y-%m-%d")
    assert f"Write claudedocs/agent-outputs/{day}_uploads.md for task 1, in red." in kept["instructions"]
    assert "Look into uploads." in kept["prompt"]
    assert "{{" not in "".join(kept.values())
