"""D13: `remit run`, `--each`, `remit wait` and task commands print the result, whatever fails after the work."""

from __future__ import annotations

import json
import shlex
import sqlite3
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from remit.runs.tasks.workspace_tasks import Tasks
from remit.testing.agent import ScriptedAgent

if TYPE_CHECKING:
    from pathlib import Path

    from tests.support.commands import Inside

pytestmark = pytest.mark.usefixtures("repository")

STATE = "open('specs/state.json', 'w').write('{broken')"
LEDGER = (
    "import sqlite3; db = sqlite3.connect('.remit/ledger.db'); db.execute('CREATE TRIGGER broken BEFORE UPDATE OF "
    "state ON runs WHEN NEW.state = \\'finishing\\' BEGIN SELECT abs(-9223372036854775808); END'); db.commit()"
)


def make_command(folder: Path, spoil: str, report: str = "report.md") -> str:
    """An agent that breaks something and then does its work."""
    agent = ScriptedAgent(folder).obeys({report: "# Report\n\nMade in ${session}.\n"})
    program = folder / "spoil.py"
    command = shlex.split(agent.command)
    program.write_text(f"import os\n{spoil}\nos.execv({command[0]!r}, {command!r})\n", "utf-8")
    return shlex.join((sys.executable, "-I", "-S", str(program)))


def test_a_task_command_prints_the_result_if_the_state_broke(inside: Inside, tmp_path: Path) -> None:
    """D13: no result was printed, and the exit code was 2."""
    tasks = Tasks(str(tmp_path))
    tasks.add("Cache the uploads")
    tasks.home.close()
    for words in (
        ("init",),
        ("add", "."),
        ("-c", "user.name=A", "-c", "user.email=a@example.org", "commit", "-m", "One task."),
    ):
        subprocess.run(("git", *words), cwd=tmp_path, check=True, capture_output=True)
    report = "specs/1_cache_the_uploads/reports/research-001.md"
    command = make_command(tmp_path.parent / "agents", STATE, report)
    ended = inside("task", "research", "1", "--command", command)
    assert ended.code == 0, ended
    assert "error[STATUS_SYNC_FAILED]: finish step task: state.json isn't valid JSON" in ended.text
    assert (
        "  hint: Repair the task files with remit task sync --repair, then run: remit task set-status 1 researched\n"
        in ended.text
    )
    assert inside("task", "sync", "--repair").code == 0
    assert inside("task", "set-status", "1", "researched").code == 0


@pytest.mark.parametrize("each", [False, True], ids=["run", "each"])
def test_a_result_is_printed_if_the_ledger_cannot_be_written(inside: Inside, tmp_path: Path, *, each: bool) -> None:
    """D13: the run isn't over in the ledger, its result is printed, and `remit wait` repeats what is missing."""
    (tmp_path / "each.jsonl").write_text('"Write a report."\n', "utf-8")
    what = ("--each", "each.jsonl") if each else ("Write a report.",)
    ended = inside("run", *what, "--json", "--command", make_command(tmp_path.parent / "agents", LEDGER))
    assert ended.code == 0, ended
    result = json.loads(ended.out)
    (step,) = result["remit"]["failed_steps"]
    assert (result["status"], step["step"], step["code"]) == ("completed", "ledger", "STORAGE_FAILED")
    with sqlite3.connect(tmp_path / ".remit/ledger.db") as db:
        db.execute("DROP TRIGGER broken")
    assert step["recommendation"] == f"repeat the finish steps: remit wait {result['remit']['session_id']}"
    waited = json.loads(inside("wait", result["remit"]["session_id"], "--json").out)
    assert (waited["status"], waited["remit"].get("failed_steps")) == ("completed", None)
