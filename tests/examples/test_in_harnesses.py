"""Each example project inside the harness that it was written for: the real program, and a scripted model."""

from __future__ import annotations

import json
import shutil
import subprocess
from contextlib import contextmanager
from typing import TYPE_CHECKING

import pytest

from remit import check
from remit.testing import SESSION_ID, ScriptedModel, call, say
from tests.support.cleo_manifest import FINDINGS
from tests.support.harness_hooks import converse, install, list_results, list_runs, run_remit
from tests.support.harness_workspace import give, make_stage
from tests.support.hyper_plugin import AGENT, DOCUMENT, NOTE, VALUE
from tests.support.opencode_project import REPORT, SPECS
from tests.support.paths import EXAMPLES
from tests.support.return_samples import line, marked

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from remit.testing import ScriptedTurn
    from remit.testing.clis import CliName
    from tests.support.harness_workspace import Stage

pytestmark = pytest.mark.slow
ENTRY = {
    "id": "paint-shelves-2026-01-15", "file": "2026-01-15_paint-shelves.md", "title": "Which paints share a shelf",
    "date": "2026-01-15", "status": "complete", "topics": ["paint"],
    "key_findings": ["Give solvents their own shelf.", "Keep water-based paints together.", "Label both shelves."],
    "actionable": True, "needs_followup": [], "linked_tasks": ["", "T1234"],
}  # fmt: skip
SENTENCE = "Research complete. See MANIFEST.jsonl for summary."
MOVE = {"operation": "update_status", "task_number": 13, "new_status": "researching"}
OUTPUTS = ".cleo/agent-outputs"
SCRIPTS: dict[str, list[ScriptedTurn]] = {
    "hyper": [
        call("task", agent=AGENT, prompt="[[play analyze root=${root}]] How do sessions expire?"),
        say("The analysis is there."),
    ],
    "analyze": [call("write", path=f"${{root}}-outside/{DOCUMENT}", content=NOTE), say(marked(VALUE))],
    "cleo": [
        call("task", agent="cleo-subagent", prompt="[[play find root=${root}]] Which paints?\n\ntask_id: T1234\n"),
        say("The findings are there."),
    ],
    "find": [
        call("write", path=f"${{root}}/{OUTPUTS}/{ENTRY['file']}", content=FINDINGS),
        call("bash", command=f"echo '{line(ENTRY)}' >> {OUTPUTS}/MANIFEST.jsonl"),
        say(SENTENCE),
    ],
    "kitchen": [
        call("task", agent="status-sync-manager", prompt=json.dumps(MOVE)),
        call("task", agent="researcher", prompt="[[play research root=${root}]] Research it.\n\ntask_number: 13\n"
             "research_topic: rounding\n"),
        say("The report is there."),
    ],
    "research": [
        call("write", path=f"${{root}}/{REPORT}", content="# Rounding\n\nScales show steps of 5 g.\n"),
        give(path=REPORT).grab(id=SESSION_ID, agent=r"You are ([\w-]+), session"),
    ],
}  # fmt: skip


@contextmanager
def play(cli: CliName, name: str, folder: Path, patch: pytest.MonkeyPatch) -> Iterator[Stage]:
    """An example project in a harness, as a user has it after `remit hooks install` and nothing else."""
    with ScriptedModel(SCRIPTS) as model:
        stage = make_stage(cli, folder, model, patch)
        (stage.root / "remit.toml").unlink()
        shutil.copytree(EXAMPLES / name, stage.root, dirs_exist_ok=True, ignore=shutil.ignore_patterns(".remit"))
        for words in (("add", "--all"), ("commit", "-qm", "begin")):
            subprocess.run(["git", *words], cwd=stage.root, check=True)
        install(stage)
        yield stage
        assert stage.list_living() == []
        changed = subprocess.run(
            ["git", "diff", "--name-only", "HEAD"], cwd=stage.root, check=True, capture_output=True, text=True
        ).stdout.split()
        assert all(path.startswith((f"{SPECS}/", ".cleo/", ".git", ".opencode/")) for path in changed), changed


def test_claude_code_plays_an_agent_of_the_plugin(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """D2 D3 D4: the caller's model gets JSON of the output contract, of a document outside the project."""
    outside = tmp_path / "root-outside"
    with play("claude", "hyper-plugin", tmp_path, monkeypatch) as stage:
        environ = stage.environ | {"HYPER_WORKSPACE_ROOT": str(outside)}
        session = converse(stage, "hyper", "--plugin-dir", "plugins/hyper", environ=environ)
        assert session.exit_code == 0, session.errors
        (row,) = list_runs(stage)
        assert (row.agent, row.status, row.verdict) == (AGENT, "completed", "accepted")
        (text,) = list_results(stage, "hyper", 1)
        assert check(text, format="hyper").accepted, text
        assert row.session_id in (outside / DOCUMENT).read_text()


@pytest.mark.thorough
def test_claude_code_plays_the_cleo_subagent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """D3 D4: the caller's model gets the sentence, and the line is in the manifest once."""
    with play("claude", "cleo-project", tmp_path, monkeypatch) as stage:
        (stage.programs / "cleo").symlink_to(stage.root / "bin" / "cleo")
        run_remit(stage, "config", "trust", "--yes")
        session = converse(stage, "cleo")
        assert session.exit_code == 0, session.errors
        (row,) = list_runs(stage)
        assert (row.agent, row.status, row.verdict) == ("cleo-subagent", "completed", "repaired")  # D5
        assert SENTENCE in list_results(stage, "cleo", 1)[0]
        lines = (stage.root / OUTPUTS / "MANIFEST.jsonl").read_text().splitlines()
        assert [json.loads(each)["id"] for each in lines] == ["paint-density-2026-01-12", ENTRY["id"]]


@pytest.mark.thorough
def test_opencode_plays_the_researcher(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """D1 D4: opencode offers its subagents no tool for calls; the session calls the utility agent, and Remit finishes."""
    with play("opencode", "opencode-project", tmp_path, monkeypatch) as stage:
        run_remit(stage, "task", "sync", "--repair")
        session = converse(stage, "kitchen")
        assert session.exit_code == 0, session.errors
        rows = {row.agent: row for row in list_runs(stage)}
        assert rows["status-sync-manager"].status == "completed"
        assert (rows["researcher"].status, rows["researcher"].verdict) == ("completed", "accepted")
        (text,) = list_results(stage, "kitchen", 2)
        assert check(text, session_id=rows["researcher"].session_id).accepted, text
        state = json.loads((stage.root / SPECS / "state.json").read_text())
        assert [each["status"] for each in state["active_projects"]][1] == "researched"
