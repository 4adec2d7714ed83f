"""The example workspace, and the same as projects of Claude Code and opencode: clean, in step, and really used."""

from __future__ import annotations

import asyncio
import importlib.util
import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from remit.agent_files.lint import LintRequest, lint
from remit.runs.tasks.workspace_tasks import check_sync
from remit.runs.workspace import Workspace
from remit.runs.workspace_findings import validate_findings_files, validate_manifest
from remit.testing import ScriptedModel, call, say
from tests.support.harness_hooks import converse, find_results, get_report, hand, list_runs
from tests.support.harness_workspace import give, make_stage
from tests.support.paths import ROOT

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import ModuleType

    from remit.agent_files.lint import LintReport
    from remit.result import Result
    from remit.testing.clis import CliName
    from tests.support.harness_workspace import Stage

EXAMPLES = ROOT / "examples"
PROJECTS = {"standard": "workspace", "claude": "claude-code", "opencode": "opencode"}
CALLS = {
    "coordinator": ("researcher", "planner", "implementer", "reviewer"),
    "implementer": ("checker",),
    "reviewer": ("checker",),
}
KINDS = {
    "coordinator": "utility", "researcher": "research", "planner": "planning", "implementer": "implementation",
    "reviewer": "review", "checker": "utility",
}  # fmt: skip
PLAN = "specs/1_read_meters_that_write_a_decimal_comma/plans/implementation-001.md"
PHASES = "# Plan\n\n- **Status**: [NOT STARTED]\n\n## Implementation Phases\n\n### Phase 1: Read commas [NOT STARTED]\n"


def copy(name: str, folder: Path) -> Path:
    """A project of the examples, without what a run may have left in it."""
    ignored = shutil.ignore_patterns(".remit", "__pycache__")
    return Path(shutil.copytree(EXAMPLES / name, folder / name, ignore=ignored))


def load_program() -> ModuleType:
    spec = importlib.util.spec_from_file_location("harnesses", EXAMPLES / "harnesses.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def list_codes(linted: LintReport) -> set[str]:
    return {finding.code for findings in linted.diagnostics.values() for finding in findings}


@pytest.mark.parametrize("profile", PROJECTS)
def test_a_project_lints_clean_by_its_profile(profile: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """R1.1 to R1.33: no note but what the kernel enforces differently, and the calls are those that the files name."""
    root = copy(PROJECTS[profile], tmp_path)
    monkeypatch.chdir(tmp_path)
    assert list_codes(lint(LintRequest((PROJECTS[profile],)))) <= {"AGT160"}
    monkeypatch.chdir(root)
    if profile != "standard":
        shutil.rmtree(root / "agents")  # else the graph is drawn from those
    linted = lint()
    assert list_codes(linted) <= {"AGT160"}
    assert {agent.profile for agent in linted.graph.agents.values()} == {profile}
    assert linted.graph.agents.keys() == KINDS.keys()
    assert {name: calls for name, calls in linted.graph.edges.items() if calls} == CALLS
    assert (linted.graph.cycles, linted.graph.unknown) == ([], [])
    if profile == "standard":
        assert {name: agent.kind for name, agent in linted.graph.agents.items()} == KINDS


def test_a_fault_in_the_workspace_would_be_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = copy("workspace", tmp_path)
    file = root / "agents" / "checker.md"
    file.write_text(file.read_text().replace("step_0_preflight", "stage_1_preflight"))
    monkeypatch.chdir(root)
    assert any(lint().diagnostics.values())


def test_the_files_of_the_workspace_are_in_step(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """S1 R4.7: tasks, manifest and findings file; every artifact that a task names is there."""
    root = copy("workspace", tmp_path)
    monkeypatch.chdir(root)
    checked = check_sync()
    assert checked is not None
    assert (checked.tasks, [found for found in checked.diagnostics.values() if found]) == (2, [])
    manifest = str(root / "claudedocs" / "agent-outputs" / "MANIFEST.jsonl")
    assert [*validate_manifest(manifest)] == []
    assert [page.diagnostics for page in validate_findings_files(manifest) if page.diagnostics] == []
    state = json.loads((root / "specs" / "state.json").read_text())
    named = [each["path"] for task in state["active_projects"] for each in task.get("artifacts", [])]
    assert [path for path in named if not (root / path).is_file()] == []
    assert len(named) == 1


def test_the_program_of_the_workspace_does_what_its_readme_shows() -> None:
    root = EXAMPLES / "workspace"
    words = [sys.executable, "-B", "wattlog.py", "readings.csv"]
    shown = subprocess.run(words, cwd=root, capture_output=True, text=True, check=True).stdout
    assert f"$ python3 wattlog.py readings.csv\n{shown}```" in (root / "README.md").read_text()
    checks = [sys.executable, "-B", "-m", "doctest", "-v", "checks.md"]
    told = subprocess.run(checks, cwd=root, capture_output=True, text=True, check=True).stdout
    assert "5 passed and 0 failed" in told or "5 passed." in told


@pytest.mark.parametrize("harness", ["claude", "opencode"])
def test_making_a_project_anew_gives_the_same_files(harness: str, tmp_path: Path) -> None:
    """R1: the agents of the harnesses are compiled from the workspace's, and the hooks are those of this version."""
    program = load_program()
    made = tmp_path / "made"
    program.make_project(harness, made)
    kept = EXAMPLES / program.PROJECTS[harness]
    assert program.list_files(made) == program.list_files(kept), "run `python examples/harnesses.py`"


# --- with the real programs -------------------------------------------------------------------------------------------

SCRIPTS = {
    "main": [
        call("task", agent="planner", prompt="[[play plan root=${root}]] Plan it.\n\n- task_number: 1\n"),
        say("All is done."),
    ],
    "plan": [call("write", path=f"${{root}}/{PLAN}", content=PHASES), hand(PLAN, "plan")],
    "supervisor": [
        call("write", path=f"${{root}}/{PLAN}", content=PHASES),
        give(artifacts=[{"type": "plan", "path": PLAN, "summary": "One phase"}]),
    ],
}


@pytest.fixture(name="stage", params=["claude", "opencode"])
def make(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Stage]:
    cli: CliName = request.param
    with ScriptedModel(SCRIPTS) as model:
        stage = make_stage(cli, tmp_path, model, monkeypatch)
        shutil.copytree(EXAMPLES / PROJECTS[cli], stage.root, dirs_exist_ok=True)
        for folder in (stage.root / ".opencode", stage.home / ".config" / "opencode"):
            (folder / "node_modules").mkdir(parents=True)  # else opencode waits for what it cannot fetch
            fetched = {"packages": {"": {"dependencies": {"@opencode-ai/plugin": "*"}}}}
            (folder / "package-lock.json").write_text(json.dumps(fetched))
        for words in (("add", "--all"), ("commit", "-qm", "wattlog")):
            subprocess.run(["git", *words], cwd=stage.root, check=True)
        yield stage
        assert stage.list_living() == []


def load_marker(stage: Stage) -> str:
    state = json.loads((stage.root / "specs" / "state.json").read_text())
    return str(state["active_projects"][0]["status"])


@pytest.mark.slow
@pytest.mark.thorough
def test_a_session_of_the_harness_has_the_planner_plan(stage: Stage) -> None:
    """The harness starts the agent and calls Remit by the hooks that the project has."""
    session = converse(stage, "main")
    assert session.exit_code == 0, session.errors
    (row,) = list_runs(stage)
    assert (row.agent, row.runner, row.status, row.verdict) == ("planner", stage.cli, "completed", "accepted")
    (result,) = find_results(stage, "main", 1)
    assert [each["path"] for each in result["artifacts"]] == [PLAN]
    assert [each.grade for each in get_report(stage, row).artifacts] == ["attributed"]
    assert load_marker(stage) == "planned"


@pytest.mark.slow
@pytest.mark.thorough
def test_remit_plan_has_the_harness_play_the_planner(stage: Stage) -> None:
    """Remit starts the harness, which `remit.toml` names, with the agent that the route names."""

    async def plan() -> list[Result]:
        async with Workspace.open(stage.root, environ=stage.environ) as ws:
            return [part.result for part in await ws.work("plan", 1, stage.mark("supervisor"))]

    (result,) = asyncio.run(plan())
    assert (result.status, result.verdict, result.agent) == ("completed", "accepted", "planner")
    assert [(each.path, each.grade) for each in result.artifacts] == [(PLAN, "attributed")]
    assert load_marker(stage) == "planned"
    log = subprocess.run(["git", "log", "--format=%s"], cwd=stage.root, capture_output=True, text=True, check=True)
    assert log.stdout.startswith("task 1: ")
