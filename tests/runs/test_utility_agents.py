"""D1: the three utility agents of the standard, answered by Remit if the project has no file of that name."""

from __future__ import annotations

import asyncio
import json
import sys
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import pytest

from remit.ledger.home import Home
from remit.ledger.runs import list_runs
from remit.runs.request import Request
from remit.runs.utility_agents import parse_inputs
from remit.runs.workspace import Workspace
from remit.tasks.store import TaskStore
from tests.support.git_command import git
from tests.support.hook_session import STANDARD, add_agent, make_workspace
from tests.support.task_runs import make_worker

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

TODO, STATE = "specs/TODO.md", "specs/state.json"
RESEARCHER = """---
name: researcher
description: "Researches a task and writes a report."
version: 1.0.0
mode: subagent
agent_type: research
delegation:
  can_delegate_to: {targets}
---
# Researcher

<process_flow>
  <step_0_preflight>
    <action>Preflight</action>
    <process>{preflight}</process>
  </step_0_preflight>
</process_flow>
"""


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository with one committed task."""
    for name in ("REMIT_TICKET", "REMIT_SESSION_ID", "REMIT_ROOT"):
        monkeypatch.delenv(name, raising=False)
    root = make_workspace(tmp_path / "project")
    workspace = Workspace(str(root), environ={})
    TaskStore(workspace.home, "specs").add("Cache the uploads")
    workspace.home.close()
    git(root, "add", "specs")
    git(root, "commit", "-q", "-m", "task 1: create")
    return root


def call(root: Path, agent: str, prompt: str | dict[str, Any] = "", **inputs: str) -> dict[str, Any]:
    """Have the user call an agent; the result as JSON."""

    async def main() -> dict[str, Any]:
        async with Workspace.open(root, environ={}) as ws:
            text = prompt if isinstance(prompt, str) else json.dumps(prompt)
            return (await ws.delegate(agent, text, inputs=inputs)).to_dict()

    return asyncio.run(main())


def get_status(root: Path) -> str:
    """The status of task 1, which both files agree on."""
    workspace = Workspace(str(root), environ={})
    store = TaskStore(workspace.home, "specs")
    assert store.check() == []
    workspace.home.close()
    return str(json.loads((root / STATE).read_text())["active_projects"][0]["status"])


def list_commits(root: Path) -> list[str]:
    return git(root, "log", "--format=%s").splitlines()


# --- inputs -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("prompt", "inputs"),
    [
        ('{"task_number": 5, "scope_files": ["a"]}', {"task_number": 5, "scope_files": ["a"]}),
        ('Update it:\n```json\n{"task_number": "5"}\n```\nThanks.', {"task_number": "5"}),
        ("task_number: 5\nnew_status: planned", {"task_number": "5", "new_status": "planned"}),
        ("- **task_number**: 5\n- message: task 5: add x", {"task_number": "5", "message": "task 5: add x"}),
        ('scope_files:\n  - a.py\n  - b.py\nmessage = "x"', {"scope_files": ["a.py", "b.py"], "message": "x"}),
        ('scope_files: ["a.py"]', {"scope_files": ["a.py"]}),
        ('message: x\ntask_context: {"number": 5}', {"message": "x", "task_context": {"number": 5}}),
        ('Update: {"task_number": 5}', {"task_number": 5}),
        ("message_template: task {number}: add", {"message_template": "task {number}: add"}),
        ("Please move task 5 to planned.", {}),
        ("{not json", {}),
        ('Use {x} please.\n{"task_number": 5}', {"task_number": 5}),
        ("{" * 50_000, {}),
        ("{}", {}),
        ("", {}),
    ],
)
def test_inputs_are_json_or_lines(prompt: str, inputs: dict[str, Any]) -> None:
    assert parse_inputs(prompt) == inputs


@pytest.mark.parametrize(
    ("agent", "prompt", "told"),
    [
        ("status-sync-manager", "Move task 1 to researching.", "missing inputs: task_number, new_status"),
        ("status-sync-manager", {"task_number": "one", "new_status": "planned"}, "'one' isn't the number of a task"),
        ("status-sync-manager", {"task_number": 1, "new_status": "finished"}, "'finished' isn't a status"),
        ("status-sync-manager", {"task_number": 9, "new_status": "planned"}, "task 9"),
        (
            "status-sync-manager",
            {"task_number": 1, "new_status": "completed"},
            "a task that is NOT STARTED can't become COMPLETED",
        ),
        ("status-sync-manager", {"task_number": 1, "new_status": "blocked"}, "'blocked' needs a reason"),
        ("status-sync-manager", {"operation": "create_task"}, "'create_task' isn't available; run `remit task new"),
        (
            "status-sync-manager",
            {"task_number": 1, "new_status": "researching", "validated_artifacts": ["specs/gone.md"]},
            "'specs/gone.md' is missing or empty",
        ),
        ("git-workflow-manager", "Commit my work.", "missing inputs: scope_files"),
        ("git-workflow-manager", {"scope_files": [TODO]}, "there is no message"),
        ("git-workflow-manager", {"scope_files": ["gone.md"], "message": "x"}, "'gone.md' doesn't exist"),
        ("git-workflow-manager", {"scope_files": ["../x"], "message": "x"}, "'../x'"),
        (
            "git-workflow-manager",
            {"scope_files": [TODO], "message_template": "task {number}: {description}", "task_context": {"number": 1}},
            "task_context has no description",
        ),
    ],
)
def test_calls_that_cannot_be_done_fail_and_change_nothing(
    root: Path, agent: str, prompt: str | dict[str, Any], told: str
) -> None:
    """D1: anything but the structured inputs is `failed`, and the error says what is needed (S3, S6)."""
    before = (root / STATE).read_text(), (root / TODO).read_text(), list_commits(root)
    result = call(root, agent, prompt)
    assert result["status"] == "failed"
    [error] = result["errors"]
    assert told in error["message"]
    assert error["recommendation"]
    assert ((root / STATE).read_text(), (root / TODO).read_text(), list_commits(root)) == before


# --- called by the user -----------------------------------------------------------------------------------------------


@pytest.mark.conforms("001-36")
def test_the_user_moves_commits_and_numbers(root: Path) -> None:
    """D1: by `--input`, JSON and lines; each return has what callers check, and nothing happens twice."""
    moved = call(root, "status-sync-manager", task_number="1", new_status="researching", session_id="x")
    assert (moved["status"], moved["files_updated"]) == ("completed", [TODO, STATE])
    assert get_status(root) == "researching"
    report = root / "specs/1_cache_the_uploads/reports/research-001.md"
    report.parent.mkdir(parents=True)
    report.write_text("# Report\n")
    path = str(report.relative_to(root))
    done = {"operation": "update_status", "task_number": 1, "new_status": "[RESEARCHED]", "validated_artifacts": [path]}
    assert "from [RESEARCHING] to [RESEARCHED]" in call(root, "status-sync-manager", done)["summary"]
    assert path in (root / STATE).read_text()
    before = (root / STATE).read_text()
    again = call(root, "status-sync-manager", done)
    assert (again["status"], again["files_updated"]) == ("completed", [TODO, STATE])
    assert again["summary"].startswith("Nothing was changed: task 1 is [RESEARCHED] already.")
    assert (root / STATE).read_text() == before

    (root / "unrelated.md").write_text("x")
    given = {
        "scope_files": [path, TODO, str(root / STATE)], "message_template": "task {number}: {description}",
        "task_context": {"task_number": 1, "description": "research the cache"},
    }  # fmt: skip
    first = call(root, "git-workflow-manager", given)
    assert first["commit_hash"] == first["commit_info"]["hash"] == git(root, "rev-parse", "HEAD").strip()
    assert sorted(first["commit_info"]["files_committed"]) == sorted([path, TODO, STATE])
    second = call(root, "git-workflow-manager", f"scope_files: {TODO}, {path}\nmessage: task 1: again")
    assert (second["status"], second["commit_hash"]) == ("completed", first["commit_hash"])
    assert list_commits(root) == ["task 1: research the cache", "task 1: create", "begin"]

    numbers = [call(root, "atomic-task-numberer", text)["task_number"] for text in ("", "Next number, please.")]
    assert numbers == [2, 3]
    assert get_status(root) == "researched"


def test_the_numbers_of_a_plan_reach_the_state_by_a_planners_own_names(root: Path) -> None:
    """D4: the planner of the standard sends `phases` and `total_effort_hours` in plan_metadata."""
    plan = {"phases": 4, "total_effort_hours": 6.5, "complexity": "medium", "research_integrated": True}
    inputs = {"operation": "update_status", "task_number": 1, "new_status": "planning", "plan_metadata": plan}
    result = call(root, "status-sync-manager", inputs)
    assert result["status"] == "completed"
    assert "Not used" not in result["summary"]
    task = json.loads((root / STATE).read_text())["active_projects"][0]
    assert (task["phase_count"], task["estimated_hours"]) == (4, 6.5)


def test_no_number_is_allocated_twice(root: Path) -> None:
    """C13: numbers are allocated under the lock, also to calls at the same time and beside new tasks."""

    def allocate(turn: int) -> int:
        home = Home(str(root))
        try:
            store = TaskStore(home, "specs")
            return store.allocate().number if turn % 2 else store.add(f"Task {turn}").number
        finally:
            home.close()

    with ThreadPoolExecutor(4) as pool:
        assert sorted(pool.map(allocate, range(8))) == [*range(2, 10)]
    assert get_status(root) == "not_started"


def test_each_call_is_a_run_in_the_ledger_without_a_process(root: Path) -> None:
    """D1: a call has a row with depth, path and result, and its failure is in errors.json."""
    call(root, "status-sync-manager", "no inputs")
    workspace = Workspace(str(root), environ={})
    [row] = list_runs(workspace.home.ledger)
    workspace.home.close()
    assert (row.agent, row.depth, row.path) == ("status-sync-manager", 1, ("orchestrator", "status-sync-manager"))
    assert (row.state, row.status, row.runner) == ("finished", "failed", "built-in")
    assert not (root / ".remit/sessions" / row.session_id).exists()
    assert "missing inputs: task_number" in (root / "specs/errors.json").read_text()


def test_an_own_file_wins(root: Path) -> None:
    """D1: a project's own file is an agent like any other."""
    workspace = Workspace(str(root), environ={})
    request = Request("status-sync-manager", "Do it.", runner="claude")
    assert workspace.prepare(request, owner="1-gone").row.runner == "built-in"
    add_agent(root, "status-sync-manager")
    assert workspace.prepare(request, owner="1-gone").row.runner == "claude"
    workspace.home.close()


def test_another_process_continues_a_call(root: Path) -> None:
    """A built-in agent that was admitted and not driven is answered by the next process."""
    workspace = Workspace(str(root), environ={})
    request = Request("status-sync-manager", "", inputs={"task_number": "1", "new_status": "planning"})
    session_id = workspace.prepare(request, owner="1-gone").row.session_id
    workspace.home.close()

    async def main() -> str:
        async with Workspace.open(root, environ={}) as ws:
            return (await ws.wait(session_id)).status

    assert (asyncio.run(main()), get_status(root)) == ("completed", "planning")


# --- called by agents -------------------------------------------------------------------------------------------------


def add_researcher(root: Path, targets: str = "[]", preflight: str = "Ask status-sync-manager.") -> None:
    file = root / STANDARD / "researcher.md"
    file.write_text(RESEARCHER.format(targets=targets, preflight=preflight))
    git(root, "add", ".")
    git(root, "commit", "-q", "-m", "add the researcher")


def research(root: Path, before: Callable[..., Any] | None, after: Callable[..., Any] | None) -> Any:  # noqa: ANN401
    """Run `remit task research 1` with an agent in this process; its result, and the prompt that it got."""
    prompts = []

    async def main() -> Any:  # noqa: ANN401 - the result, whatever its class is called
        async with Workspace.open(root, environ={}) as ws:

            async def agent(prompt: str) -> dict[str, Any]:
                prompts.append(prompt)
                if before is not None:
                    await before(ws)
                returned = await asyncio.to_thread(make_worker(str(root)), prompt)
                if after is not None:
                    await after(ws, returned["artifacts"][0]["path"])
                return returned

            return (await ws.work("research", 1, function=agent))[-1].result

    return asyncio.run(main()), prompts[0]


async def begin(ws: Workspace) -> None:
    """The preflight of 001: the status is RESEARCHING already, because Remit moved it."""
    inputs = {"operation": "update_status", "task_number": 1, "new_status": "researching"}
    result = await ws.delegate("status-sync-manager", json.dumps(inputs))
    assert (result.status, result.depth) == ("completed", 2)
    assert result.path[-2:] == ("researcher", "status-sync-manager")
    assert "already" in result.summary


async def finish(ws: Workspace, path: str) -> None:
    """The postflight of 001."""
    moved = {"task_number": 1, "new_status": "researched", "validated_artifacts": [{"type": "report", "path": path}]}
    assert (await ws.delegate("status-sync-manager", json.dumps(moved))).status == "completed"
    commit = {"scope_files": [path, TODO, STATE], "message": "task 1: research by the agent"}
    assert (await ws.delegate("git-workflow-manager", json.dumps(commit))).status == "completed"


@pytest.mark.conforms("001-32", "001-33", "001-49")
def test_an_agent_that_follows_001_to_the_letter_is_accepted(root: Path) -> None:
    """D1, C19: the agent does its preflight and postflight in a task command; Remit adds no move and no commit."""
    add_researcher(root, "[status-sync-manager, git-workflow-manager]")
    result, prompt = research(root, begin, finish)
    assert (result.status, result.verdict) == ("completed", "accepted")
    assert not [finding.code for finding in result.diagnostics if finding.code.startswith("SET")]
    assert get_status(root) == "researched"
    assert list_commits(root)[0] == "task 1: research by the agent"
    assert len(list_commits(root)) == 4
    assert "You may delegate to status-sync-manager, git-workflow-manager" in prompt
    assert "leave both to it" not in prompt


def test_remit_finishes_what_the_agent_leaves_out(root: Path) -> None:
    """D1, C19: the other order: Remit moves and commits, and the same calls afterwards change nothing."""
    add_researcher(root, "[status-sync-manager, git-workflow-manager]")
    result, _ = research(root, None, None)
    assert result.status == "completed"
    assert get_status(root) == "researched"
    commits = list_commits(root)
    path = result.artifacts[0].path
    assert "already" in call(root, "status-sync-manager", task_number="1", new_status="researched")["summary"]
    late = call(root, "git-workflow-manager", {"scope_files": [path, STATE, TODO], "message": "task 1: late"})
    assert (late["status"], late["commit_hash"]) == ("completed", git(root, "rev-parse", "HEAD").strip())
    assert list_commits(root) == commits


@pytest.mark.parametrize(
    ("targets", "preflight", "owner"),
    [
        ("[status-sync-manager]", "Begin.", "agent"),
        ("[]", "Ask status-sync-manager to move it.", "agent"),
        ("[]", "Begin.", "remit"),
        ("[atomic-task-numberer]", "Begin.", "remit"),
    ],
)
def test_the_owner_follows_the_file(root: Path, targets: str, preflight: str, owner: str) -> None:
    """C19: an agent whose list or steps name the agents for status and commits does both itself."""
    add_researcher(root, targets, preflight)
    _, prompt = research(root, None, None)
    assert ("Remit moves the task's status and commits your files: leave both to it." in prompt) == (owner == "remit")
    (root / "remit.toml").write_text(f'[agents.researcher]\nowner = "{"remit" if owner == "agent" else "agent"}"\n')
    workspace = Workspace(str(root), environ={})
    row = workspace.prepare(Request("researcher", "x", runner="claude"), owner="1-gone").row
    workspace.home.close()
    assert row.details.get("owner", "remit") != owner


@pytest.mark.conforms("002-40")
def test_the_last_of_three_levels_is_a_utility_agent(root: Path) -> None:
    """D1: 002's third pattern: task-executor, implementer, git-workflow-manager."""
    add_agent(root, "task-executor", "implementer")
    add_agent(root, "implementer", "git-workflow-manager")
    results = []

    async def main() -> None:
        async with Workspace.open(root, environ={}) as ws:

            async def implement(prompt: str) -> str:
                (root / "made.md").write_text("# Made\n")
                results.append(await ws.delegate("git-workflow-manager", "scope_files: made.md\nmessage: add made.md"))
                return prompt

            async def execute(prompt: str) -> str:
                await ws.delegate("implementer", "Implement it.", function=implement)
                return prompt

            await ws.delegate("task-executor", "Execute it.", function=execute)

    asyncio.run(main())
    [result] = results
    assert (result.status, result.depth) == ("completed", 3)
    assert result.path == ("orchestrator", "task-executor", "implementer", "git-workflow-manager")
    assert list_commits(root)[0] == "add made.md"


def test_instructions_name_only_agents_that_exist(root: Path) -> None:
    """D1: a target without a file is left out, a utility agent and a pattern stay."""
    add_researcher(root, "[web-research-specialist, planner, git-workflow-manager]", "Begin.")
    _, prompt = research(root, None, None)
    assert "You may delegate to planner, git-workflow-manager, 2 levels deep" in prompt


def test_an_agent_calls_one_as_a_program(root: Path, tmp_path: Path) -> None:
    """D1: with its ticket, by `remit run … --json`, as its instructions say; a commit is made in the agent's tree."""
    script = tmp_path / "agent.py"
    script.write_text(
        "import json, os, subprocess, sys\n"
        "open('made.md', 'w').write('# Made\\n')\n"
        "given = json.dumps({'scope_files': ['made.md'], 'message': 'add made.md'})\n"
        "told = subprocess.run([sys.executable, '-m', 'remit', 'run', 'git-workflow-manager', given, '--json'],\n"
        "                      capture_output=True, text=True)\n"
        "result = json.loads(told.stdout)\n"
        "print(json.dumps({'status': result['status'], 'summary': 'It is committed. ' + result['commit_hash'] + '.',\n"
        "    'artifacts': [{'type': 'documentation', 'path': 'made.md', 'summary': 'Made.'}],\n"
        "    'metadata': {'session_id': os.environ['REMIT_SESSION_ID'], 'agent_type': 'agent',\n"
        "                 'delegation_depth': 1, 'delegation_path': ['orchestrator', 'agent']}, 'errors': []}))\n"
    )

    async def main() -> Any:  # noqa: ANN401 - the result, whatever its class is called
        async with Workspace.open(root) as ws:
            return await ws.delegate(None, "Make it.", command=f"{sys.executable} {script}")

    result = asyncio.run(main())
    assert result.status == "completed", result
    subject, commit = git(root, "log", "-1", "--format=%s%n%H").splitlines()
    assert subject == "add made.md"
    assert commit in result.summary
    workspace = Workspace(str(root), environ={})
    rows = {row.agent: row for row in list_runs(workspace.home.ledger)}
    workspace.home.close()
    assert rows["git-workflow-manager"].parent_id == result.session_id
