"""The finish steps of a return are those of `remit run`, and run once."""

import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from remit.errorlog.workspace_errors import find_error_log
from remit.runs.tasks.workspace_tasks import Tasks
from tests.support.git_command import git
from tests.support.hook_session import Stage, add_agent, also_by_program
from tests.support.hook_tasks import begin, get_marker, list_commits
from tests.support.spoiled_ledger import spoil_ledger

ENTRY = {
    "id": "uploads-2026-11-16", "file": "uploads.md", "title": "Uploads", "date": "2026-11-16", "status": "complete",
    "agent_type": "research", "topics": ["uploads"], "key_findings": ["They are slow."], "actionable": False,
    "needs_followup": [], "linked_tasks": [],
}  # fmt: skip


@pytest.fixture
def tasked(stage: Stage, root: Path) -> Stage:
    add_agent(root, "scout", kind="research")
    Tasks(str(root)).add("Cache the uploads")
    git(root, "add", ".")
    git(root, "commit", "-q", "-m", "task")
    return stage


@also_by_program
def test_a_task_is_moved_and_its_work_committed(tasked: Stage, root: Path) -> None:
    child = begin(tasked)
    assert child.row.task_number == 1
    assert get_marker(root) == "RESEARCHING"
    child.write("specs/report.md", "# Report\nIt is slow.\n")
    answer = child.report("specs/report.md")
    child.stop(answer)
    assert get_marker(root) == "RESEARCHING"  # nothing is settled before the caller has it
    result = child.hand_over(answer)
    assert result["status"] == "completed"
    assert get_marker(root) == "RESEARCHED"
    assert len(list_commits(root)) == 3
    assert "specs/report.md" in git(root, "show", "--name-only", "--format=")
    for _ in range(2):
        child.stop(answer)
        child.hand_over(answer)
    assert len(list_commits(root)) == 3
    assert tasked.ask("SELECT path, operation FROM activity") == [("specs/report.md", "write")]


@pytest.mark.parametrize("answer", ["Trust me.", None], ids=["bad", "none"])
def test_a_task_whose_agent_failed_is_not_done(tasked: Stage, root: Path, answer: str | None) -> None:
    child = begin(tasked)
    for _ in range(3):
        child.stop(answer)
    assert child.hand_over(answer)["status"] == "failed"
    assert get_marker(root) not in ("RESEARCHED", "COMPLETED")
    assert len(list_commits(root)) == 2
    assert child.session_id in Path(find_error_log(str(root))).read_text()


def test_an_accepted_return_that_is_taken_back_before_it_is_settled_moves_no_task(tasked: Stage, root: Path) -> None:
    child = begin(tasked)
    child.write("specs/report.md", "# Report\nIt is slow.\n")
    child.stop(child.report("specs/report.md"))
    assert child.row.status == "completed"
    assert child.hand_over("API Error: 500")["status"] == "failed"
    assert get_marker(root) not in ("RESEARCHED", "COMPLETED")
    assert len(list_commits(root)) == 2


def test_a_task_that_does_not_exist_is_only_a_number(tasked: Stage) -> None:
    child = tasked.call("scout", "Look into it.\ntask_number: 99\n")
    assert child.row.task_number is None


def test_nobody_who_is_only_looked_on_moves_a_task(tasked: Stage, root: Path) -> None:
    tasked.call("Explore", "Look into it.\ntask_number: 1\n")
    assert get_marker(root) == "NOT STARTED"


def test_an_entry_of_the_manifest_is_judged_and_kept(stage: Stage, root: Path) -> None:
    add_agent(root, "scout", kind="research", more="return: manifest\n")
    child = stage.call("scout")
    child.start()
    manifest = Path(child.row.details["manifest"])
    manifest.parent.mkdir(parents=True, exist_ok=True)
    page = manifest.parent / "uploads.md"
    child.use("Write", file_path=str(page), content="# Uploads\nThey are slow.\n")
    child.use("Write", file_path=str(manifest), content=json.dumps(ENTRY) + "\n")
    assert child.stop("Everything is done.")["decision"] == "block"
    answer = "Research complete. See MANIFEST.jsonl for summary."
    said = child.stop(answer)
    assert said == {}, said
    given = child.respond(answer)["hookSpecificOutput"]["updatedToolOutput"]["content"][0]["text"]
    assert given == answer, "the caller gets the sentence (R4.5)"
    assert child.row.status == "completed"


def test_whoever_writes_the_manifest_anew_is_sent_back(stage: Stage, root: Path) -> None:
    add_agent(root, "scout", kind="research", more="return: manifest\n")
    manifest = root / "claudedocs/agent-outputs/MANIFEST.jsonl"
    manifest.parent.mkdir(parents=True)
    older = json.dumps({**ENTRY, "id": "cache-2026-11-15"}) + "\n"
    manifest.write_text(older)
    child = stage.call("scout")
    child.start()
    assert child.row.details["manifest"] == str(manifest)
    child.use("Write", file_path=str(manifest.parent / "uploads.md"), content="# Uploads\nThey are slow.\n")
    child.use("Write", file_path=str(manifest), content=json.dumps(ENTRY) + "\n")
    answer = "Research complete. See MANIFEST.jsonl for summary."
    assert "EVD007" in child.stop(answer)["reason"]
    child.use("Write", file_path=str(manifest), content=older + json.dumps(ENTRY) + "\n")
    assert child.stop(answer) == {}


@pytest.mark.slow
@also_by_program
def test_two_that_settle_at_once_settle_once(tasked: Stage, root: Path) -> None:
    """The caller's side, and a session that begins elsewhere and recovers."""
    tasked.quick = False
    child = begin(tasked)
    child.write("specs/report.md", "# Report\nIt is slow.\n")
    answer = child.report("specs/report.md")
    child.stop(answer)
    other = Stage(root, session="another")
    event = other.event("SessionStart", source="startup")
    with ThreadPoolExecutor(4) as pool:
        jobs = [pool.submit(other.send, event) for _ in range(3)]
        result = child.hand_over(answer)
        for job in jobs:
            job.result()
    assert result["status"] == "completed"
    assert (child.row.state, child.row.status) == ("finished", "completed")
    assert len(list_commits(root)) == 3
    assert tasked.kinds(child.session_id).count("finished") == 1
    assert get_marker(root) == "RESEARCHED"


@pytest.mark.slow
@also_by_program
def test_a_settling_that_was_killed_is_done_by_the_next_session(tasked: Stage, root: Path) -> None:
    tasked.quick = False
    child = begin(tasked)
    child.write("specs/report.md", "# Report\nIt is slow.\n")
    answer = child.report("specs/report.md")
    child.stop(answer)
    assert child.row.state == "finishing"  # nobody hands it over: its harness is gone
    other = Stage(root, session="another")
    other.send(other.event("SessionStart", source="startup"))
    assert (child.row.state, child.row.status) == ("finished", "completed")
    assert get_marker(root) == "RESEARCHED"
    assert len(list_commits(root)) == 3


def test_a_workspace_whose_settings_broke_meanwhile_is_told(stage: Stage, root: Path) -> None:
    child = stage.call("planner")
    child.start()
    child.write("plan.md")
    answer = child.report("plan.md")
    child.stop(answer)
    (root / "remit.toml").write_text("this is not TOML\n")
    result = child.hand_over(answer)
    assert result["status"] == "completed"
    assert "isn't valid TOML" in json.dumps(result["remit"]["failed_steps"])


def test_a_caller_gets_the_result_if_the_state_broke_meanwhile(tasked: Stage, root: Path) -> None:
    """D13: with hooks, too: the failed status sync has its code, is logged, and the work is what it is."""
    child = begin(tasked)
    child.write("specs/report.md", "# Report\nIt is slow.\n")
    answer = child.report("specs/report.md")
    child.stop(answer)
    (root / "specs/state.json").write_text("{broken")
    result = child.hand_over(answer)
    (step,) = result["remit"]["failed_steps"]
    assert (result["status"], step["step"], step["code"]) == ("completed", "task", "STATUS_SYNC_FAILED")
    errors = json.loads(Path(find_error_log(str(root))).read_text())["errors"]
    assert [(each["code"], each["context"]["session_id"]) for each in errors] == [(step["code"], child.session_id)]


def test_a_caller_gets_the_result_if_the_ledger_cannot_be_written(tasked: Stage, root: Path) -> None:
    """D13: a supervisor repeats what is missing later."""
    child = begin(tasked)
    child.write("specs/report.md", "# Report\nIt is slow.\n")
    answer = child.report("specs/report.md")
    child.stop(answer)
    spoil_ledger(root, "BEFORE UPDATE OF state ON runs WHEN NEW.state = 'finished'")
    result = child.hand_over(answer)
    (step,) = result["remit"]["failed_steps"]
    assert (result["status"], step["step"], step["code"]) == ("completed", "ledger", "STORAGE_FAILED")
    assert child.row.state == "finishing"
    assert get_marker(root) == "RESEARCHED"
