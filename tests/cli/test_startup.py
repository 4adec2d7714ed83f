"""Commands load no more than they need: people and agents wait for each of them.

What is loaded is what the real program tells of its imports. How long it takes is measured in `bench/`.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from remit.testing.agent import ScriptedAgent
    from tests.support.commands import Remit

RETURN = """\
{"status": "completed", "summary": "The report was written. It names the cause.", "artifacts": [], "errors": [],
 "metadata": {"session_id": "sess_1735460684_a1b2c3", "duration_seconds": 12, "agent_type": "researcher",
 "delegation_depth": 1, "delegation_path": ["orchestrator", "researcher"]}}
"""
SLOW = {
    "dbos",
    "jsonschema_rs",
    "psycopg",
    "remit.data_schema",
    "rich",
    "shutil",
    "splintr",
    "starlette",
    "tomllib",
    "yaml",
}
"""What neither of them needs."""


def load(remit: Remit, *words: str) -> tuple[set[str], str]:
    """Run a command; the modules that it loaded, and what it printed."""
    ended = remit(*words, prelude=("-X", "importtime", "-m", "remit"))
    assert ended.code == 0, ended
    loaded = set(re.findall(r"^import time: .*\| +(\S+)$", ended.err.decode(), re.MULTILINE))
    assert "remit.cli" in loaded, "the imports are told"
    return loaded, ended.text


def test_a_message_is_checked_without_workspace_and_processes(remit: Remit) -> None:
    loaded, told = load(remit, "check", remit.write("message.md", RETURN))
    assert "accepted" in told
    assert not loaded & (SLOW | {"asyncio", "dataclasses", "pathlib", "sqlite3", "subprocess"})
    others = ("remit.agents", "remit.runs.", "remit.runners", "remit.ledger")
    assert [name for name in loaded if name.startswith(others)] == ["remit.runs.check_message"]


@pytest.mark.usefixtures("repository")
def test_work_without_tasks_and_agent_files_loads_nothing_for_them(remit: Remit, agent: ScriptedAgent) -> None:
    loaded, told = load(remit, "run", "Write.", "--command", agent.obeys().command, "--json")
    assert json.loads(told)["status"] == "completed"
    assert "remit.runs.finish.finish_steps" in loaded
    assert not loaded & (SLOW | {"remit.agents.document", "remit.agents.compile"})
    assert not loaded & {"remit.manifest.append", "remit.tasks.store", "remit.errorlog.log"}
