"""D13: what fails after the work has its code, is logged with its context, and costs nobody the result."""

from __future__ import annotations

import asyncio
import json
import sqlite3
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from remit.errorlog.workspace_errors import find_error_log
from remit.runs.request import Request
from remit.runs.tasks.task_runs import TaskRequest, prepare_task_run, start_task_run
from remit.runs.tasks.workspace_tasks import Tasks
from remit.runs.workspace import Workspace
from remit.testing import ScriptedAgent
from tests.support.spoiled_ledger import spoil_ledger
from tests.support.task_runs import FOLDER, PLAN, make_worker

if TYPE_CHECKING:
    from collections.abc import Callable

    from remit.result import Result

REPAIR = "Repair the task files with remit task sync --repair"


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository with one task, all of it committed."""
    for name in ("REMIT_TICKET", "REMIT_SESSION_ID", "REMIT_ROOT"):
        monkeypatch.delenv(name, raising=False)
    folder = tmp_path / "project"
    folder.mkdir()
    git(folder, "init", "-q", "-b", "main")
    git(folder, "config", "user.name", "T")
    git(folder, "config", "user.email", "t@localhost")
    tasks = Tasks(str(folder))
    tasks.add("Cache the uploads")
    tasks.home.close()
    git(folder, "add", "-A")
    git(folder, "commit", "-q", "-m", "begin")
    return folder


def git(folder: Path, *args: str) -> str:
    return subprocess.run(["git", *args], cwd=folder, check=True, capture_output=True, text=True).stdout


def load_errors(root: Path) -> list[dict[str, Any]]:
    file = Path(find_error_log(str(root)))
    return list(json.loads(file.read_text("utf-8"))["errors"]) if file.is_file() else []


def work(root: Path, command: str, act: Callable[[], object] = lambda: None) -> Result:
    """Have an agent of this process work on task 1 that breaks something meanwhile."""

    async def main() -> Result:
        async with Workspace.open(root, environ={}) as ws:

            def agent(prompt: str) -> dict[str, Any]:
                act()
                return make_worker(str(root))(prompt)

            return (await ws.work(command, 1, function=agent))[-1].result

    return asyncio.run(main())


def run(root: Path, command: str) -> Result:
    async def main() -> Result:
        async with Workspace.open(root) as ws:
            return await ws.run(Request(None, "Do it.", command=command))

    return asyncio.run(main())


@pytest.mark.conforms("002-29", "002-33")
def test_a_state_that_breaks_during_the_work_is_reported_and_the_result_is_there(root: Path) -> None:
    """D13, S9: the task could not be moved; the work is done, committed and reported as what it is."""
    result = work(root, "research", lambda: (root / "specs/state.json").write_text("{broken", "utf-8"))
    (step,) = result.failed_steps
    assert (result.status, step.step, step.code) == ("completed", "task", "STATUS_SYNC_FAILED")
    assert "state.json isn't valid JSON" in step.message
    assert step.recommendation == f"{REPAIR}, then run: remit task set-status 1 researched"
    assert "reports/research-001.md" in git(root, "show", "--name-only", "--format=")
    (error,) = load_errors(root)
    assert (error["code"], error["type"], error["message"]) == ("STATUS_SYNC_FAILED", "status_sync", step.message)
    context = {"session_id": result.session_id, "command": "research", "task_number": 1, "phase": None}
    assert (error["context"], error["recovery"]["suggested_action"]) == (context, step.recommendation)


def test_the_advice_of_a_failed_status_sync_works(root: Path) -> None:
    """D13: `remit task sync --repair` and the move that the result names bring the task to where it belongs."""
    work(root, "research", lambda: (root / "specs/state.json").write_text("{broken", "utf-8"))
    tasks = Tasks(str(root))
    try:
        tasks.sync("newest")
        tasks.move(1, "researched")
        assert tasks.show(1).facts.marker == "RESEARCHED"
    finally:
        tasks.home.close()


@pytest.mark.parametrize(
    "spoil",
    [
        lambda file: file.write_text('{"active_projects": 5}', "utf-8"),
        lambda file: file.write_text("[[]]", "utf-8"),
        lambda file: (file.unlink(), file.mkdir()),
        lambda file: (file.unlink(), file.symlink_to("/dev/full")),
        lambda file: file.write_bytes(b"\xff\xfe\0" * 99),
    ],
    ids=["types", "list", "folder", "device", "bytes"],
)
@pytest.mark.parametrize("command", ["research", "implement"])
def test_no_state_costs_the_result(root: Path, command: str, spoil: Callable[[Path], object]) -> None:
    """D13: whatever state.json becomes while the agent works, there is a result, and no false `completed`."""
    result = work(root, command, lambda: spoil(root / "specs/state.json"))
    assert [each.code for each in result.failed_steps] == ["STATUS_SYNC_FAILED"]
    assert result.status == ("completed" if command == "research" else "partial")
    if command == "implement":  # D4: nobody knows what is left of the task, and a lowered status has an error
        assert [each.code for each in result.errors] == ["STATUS_SYNC_FAILED"]
        assert result.errors[0].recommendation.endswith(", then continue: remit task implement 1")


def test_work_that_stops_between_two_phases_has_a_result(root: Path) -> None:
    """D13: the next phase can't begin; what the first one did is reported, as partial and with the reason."""
    plan = root / FOLDER / "implementation-001.md"
    plan.parent.mkdir(parents=True)
    plan.write_text(PLAN.format("NOT STARTED"), "utf-8")

    result = work(root, "implement", lambda: spoil_ledger(root, "BEFORE INSERT ON runs"))
    (error,) = result.errors
    assert (result.status, error.code) == ("partial", "STORAGE_FAILED")
    assert "the plan isn't done: phase 2 is NOT STARTED" in error.message
    assert "; the next phase can't begin: " in error.message
    assert error.recommendation == "Continue with: remit task implement 1"


def test_phases_that_are_left_are_an_error_of_the_lowered_status(root: Path) -> None:
    """D4: a status that Remit lowered carries an error."""
    plan = root / FOLDER / "implementation-001.md"
    plan.parent.mkdir(parents=True)
    plan.write_text(PLAN.format("BLOCKED"), "utf-8")
    result = work(root, "implement")
    (error,) = result.errors
    assert (result.status, error.code) == ("partial", "VALIDATION_FAILED")
    assert "phase 2" in error.message


@pytest.mark.conforms("002-33")
def test_a_commit_that_fails_is_reported_and_logged(root: Path) -> None:
    """D13, S6: a git failure is reported with its code and how to repeat it, and never fails the work."""
    result = work(root, "research", lambda: (root / ".git/index.lock").write_text("", "utf-8"))
    (step,) = result.failed_steps
    assert (result.status, step.step, step.code) == ("completed", "git", "GIT_COMMIT_FAILED")
    assert "index.lock" in step.message
    assert step.recommendation.endswith("Then commit the files.")
    (error,) = load_errors(root)
    assert (error["code"], error["context"]["command"]) == ("GIT_COMMIT_FAILED", "research")


def test_an_error_log_that_cannot_be_written_is_reported(root: Path) -> None:
    """D13: errors.json is a folder; the result has both errors all the same."""
    log = Path(find_error_log(str(root)))

    def spoil() -> None:
        log.mkdir(parents=True)
        (root / ".git/index.lock").write_text("", "utf-8")

    result = work(root, "research", spoil)
    assert result.status == "completed"
    assert [each.step for each in result.failed_steps] == ["git", "errors"]
    assert log.is_dir()


@pytest.mark.parametrize("state", ["finishing", "finished"])
def test_a_ledger_that_cannot_be_written_at_the_end_costs_nobody_the_result(root: Path, state: str) -> None:
    """D13: the result is there, says what failed, and whoever waits for the run again repeats it."""

    async def main() -> None:
        async with Workspace.open(root, environ={}) as ws:
            ready = prepare_task_run(ws, TaskRequest("research", 1, fields={"command": command}))
            session = start_task_run(ws, ready).row.session_id
            spoil_ledger(root, f"BEFORE UPDATE OF state ON runs WHEN NEW.state = '{state}'")
            await ws.backend.submit(session)
            result = await ws.wait(session)
            (step,) = result.failed_steps
            assert (result.status, step.step) == ("completed", "ledger")
            assert "integer overflow" in step.message
            assert step.recommendation == f"repeat the finish steps: remit wait {session}"
            with sqlite3.connect(root / ".remit/ledger.db") as db:
                db.execute("DROP TRIGGER broken")
            again = await ws.wait(session)
            assert (again.status, again.failed_steps) == ("completed", ())
            tasks = Tasks(str(root))
            assert tasks.show(1).facts.marker == "RESEARCHED"
            tasks.home.close()

    path = "specs/1_cache_the_uploads/reports/research-001.md"
    command = ScriptedAgent(root.parent / "agents").obeys({path: "# Report\n\nSlow, ${session}.\n"}).command
    asyncio.run(main())


def test_a_defect_in_the_finish_steps_costs_nobody_the_result(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """D13, R2.12: the result is there, and the log has the trace of the defect."""
    fired = []

    def fail(*_: object) -> None:
        fired.append(1)
        raise KeyError("next_project_number")

    monkeypatch.setattr("remit.runs.finish.finish_run.check_artifacts", fail)
    result = work(root, "research")
    assert fired
    assert [(each.step, each.code) for each in result.failed_steps] == [("finish", "UNKNOWN_ERROR")]
    assert result.status == "completed"
    assert load_errors(root)[0]["details"].endswith("KeyError: 'next_project_number'")


# --- before and during the work --------------------------------------------------------------------------------------


def test_a_task_that_cannot_be_moved_at_the_start_is_a_failed_status_sync(root: Path) -> None:
    """D13: the state breaks between the request and the start; nothing runs, and it is no refusal."""
    agent = ScriptedAgent(root.parent / "agents").obeys()

    async def main() -> Result:
        async with Workspace.open(root, environ={}) as ws:
            prepared = start_task_run(
                ws, prepare_task_run(ws, TaskRequest("research", 1, fields={"command": agent.command}))
            )
            (root / "specs/state.json").write_text("{broken", "utf-8")
            await ws.backend.submit(prepared.row.session_id)
            return await ws.wait(prepared.row.session_id)

    result = asyncio.run(main())
    assert agent.acts == ()
    assert (result.status, result.stop_reason) == ("failed", "rejected")
    assert [(each.code, each.recoverable) for each in result.errors] == [("STATUS_SYNC_FAILED", True)]
    assert "STATUS_SYNC_FAILED" in [each["code"] for each in load_errors(root)]


def test_work_on_a_task_that_another_run_has_is_refused_and_no_failed_status_sync(root: Path) -> None:
    """D13: the codes tell a refusal of Remit's from files that can't be written."""

    async def main() -> Result:
        async with Workspace.open(root, environ={}) as ws:
            wish = TaskRequest("research", 1, fields={"command": "true"})
            second = prepare_task_run(ws, wish)
            start_task_run(ws, prepare_task_run(ws, wish))
            session_id = ws.prepare(second.request).row.session_id
            await ws.backend.submit(session_id)
            return await ws.wait(session_id)

    result = asyncio.run(main())
    assert (result.status, result.stop_reason) == ("failed", "rejected")
    assert [(each.code, each.recoverable) for each in result.errors] == [("REFUSED", False)]
    assert "works on task 1 already" in result.errors[0].message


@pytest.mark.conforms("002-33")
@pytest.mark.parametrize(
    ("command", "stop_reason", "told"),
    [
        ("no-such-program", "rejected", "'no-such-program' cannot be started: no such file or directory"),
        ("./README.md", "rejected", "'./README.md' cannot be started: permission denied"),
        ("sh -c no-such-program", "crashed", "exit code 127"),
        ("sh -c ./README.md", "crashed", "exit code 126"),
    ],
)
def test_a_program_that_is_not_there_is_an_unavailable_tool(
    root: Path, command: str, stop_reason: str, told: str
) -> None:
    """D13: TOOL_UNAVAILABLE, in the result and in the log, and a user is needed (R2.18)."""
    (root / "README.md").write_text("# Not a program\n", "utf-8")
    result = run(root, command)
    (error,) = result.errors
    assert (result.status, result.stop_reason) == ("failed", stop_reason)
    assert (error.type, error.code, error.recoverable) == ("tool_unavailable", "TOOL_UNAVAILABLE", False)
    assert told in error.message
    assert [each["code"] for each in load_errors(root)] == ["TOOL_UNAVAILABLE"]


def test_a_harness_that_is_not_installed_is_an_unavailable_tool(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """D13: a missing harness program was REFUSED."""
    monkeypatch.setenv("PATH", "/nowhere")

    async def main() -> Result:
        async with Workspace.open(root) as ws:
            return await ws.run(Request(None, "Do it.", runner="claude"))

    result = asyncio.run(main())
    assert (result.stop_reason, [each.code for each in result.errors]) == ("rejected", ["TOOL_UNAVAILABLE"])
    assert "npm install" in result.errors[0].recommendation


@pytest.mark.conforms("002-33")
@pytest.mark.parametrize(
    ("status", "codes"),
    [("completed", ["FABRICATED", "FILE_NOT_FOUND"]), ("partial", ["BUILD_ERROR", "FILE_NOT_FOUND"])],
)
def test_a_claimed_file_that_is_missing_is_not_found(root: Path, status: str, codes: list[str]) -> None:
    """D13: callers that know the codes of 002 get FILE_NOT_FOUND; an agent's build_error is BUILD_ERROR."""
    errors = [{"type": "build_error", "message": "No.", "recoverable": True, "recommendation": "Fix it."}]
    returned = {
        "status": status, "summary": "It is written. It says what there is.",
        "artifacts": [{"type": "report", "path": "docs/no.md", "summary": "All of it."}],
        "errors": errors if status == "partial" else [],
    }  # fmt: skip
    metadata = '"metadata": {"session_id": "%s", "agent_type": "command", "delegation_depth": 1}'
    text = f"{json.dumps(returned)[:-1]}, {metadata}}}"
    program = root.parent / "agent.sh"
    program.write_text(f"#!/bin/sh\nprintf '{text}' \"$REMIT_SESSION_ID\"\n", "utf-8")
    program.chmod(0o755)
    result = run(root, str(program))
    assert [each.code for each in result.errors] == codes
    assert "docs/no.md" in result.errors[-1].message
    assert [each["code"] for each in load_errors(root)] == codes


def test_a_required_context_file_that_is_missing_is_logged(root: Path) -> None:
    """D13: the work begins without it and is judged by itself; the log has FILE_NOT_FOUND with its context."""
    file = root / ".claude/agents/reader.md"
    file.parent.mkdir(parents=True)
    head = "name: reader\nversion: 1.0.0\ndescription: Reads.\nmode: subagent\nagent_type: utility\n"
    file.write_text(f'---\n{head}context_loading:\n  required: ["core/format.md"]\n---\n# Reader\n', "utf-8")
    agent = ScriptedAgent(root.parent / "agents").obeys()

    async def main() -> Result:
        async with Workspace.open(root) as ws:
            return await ws.run(Request("reader", "Do it.", command=agent.command))

    result = asyncio.run(main())
    assert (result.status, result.errors) == ("completed", ())
    (error,) = load_errors(root)
    assert (error["code"], error["context"]["session_id"]) == ("FILE_NOT_FOUND", result.session_id)
    assert "core/format.md" in error["message"]


# --- a crash ---------------------------------------------------------------------------------------------------------


@pytest.mark.conforms("002-24")
def test_the_log_keeps_the_last_lines_of_the_trace_of_a_crash(root: Path) -> None:
    """D17, R2.12, 002 stage 3: an exception is logged with its stack trace, without secrets."""
    program = root.parent / "agent.py"
    program.write_text('import sys\nfor n in range(99): print("line", n, file=sys.stderr)\n'
                       'raise ValueError("the key is sk-ant-api03-" + "a" * 93)\n', "utf-8")  # fmt: skip
    result = run(root, f"python3 {program}")
    assert (result.status, result.stop_reason) == ("failed", "crashed")
    (error,) = load_errors(root)
    lines = error["details"].splitlines()
    assert len(lines) <= 20
    assert "Traceback (most recent call last):" in lines
    assert lines[-1].startswith("ValueError: the key is")
    assert "a" * 93 not in json.dumps(error)


def test_the_log_keeps_the_trace_of_a_function(root: Path) -> None:
    """D17, R2.12: an agent that is a function has its exception's trace in the log, too."""

    def fail() -> None:
        raise ValueError("no cache")

    result = work(root, "research", fail)
    assert (result.status, result.stop_reason) == ("failed", "crashed")
    assert load_errors(root)[0]["details"].endswith("ValueError: no cache")
    assert f"remit logs {result.session_id}" in result.errors[0].recommendation
