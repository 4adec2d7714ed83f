"""Settling: only what is missing is done, wherever it was cut short before."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from functools import partial
from typing import TYPE_CHECKING, Any

import pytest
from inline_snapshot import snapshot

from remit.ledger.events import list_acts, load_events
from remit.ledger.home import Home
from remit.ledger.hook_runs import add_act
from remit.model import AgentError, Artifact, ArtifactFacts
from remit.runs.finish.finish_steps import FinishInput, FinishStores, run_finish_steps
from remit.tasks.store import TaskStore
from tests.support.kill_points import run_and_die
from tests.support.sample_sizes import STRIDE, choose

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

OUT = "claudedocs/agent-outputs"
ENTRY = {
    "id": "auth-2026-01-19",
    "file": "2026-01-19_auth.md",
    "title": "How users sign in",
    "date": "2026-01-19",
    "status": "complete",
    "topics": ["auth"],
    "key_findings": ["Use one session store.", "Rotate the keys each month.", "Drop the old login page."],
    "actionable": True,
    "needs_followup": [],
    "linked_tasks": ["1"],
}
FAULT = AgentError("execution", "one test is flaky", "UNKNOWN_ERROR", recoverable=True, recommendation="Run it again.")


def git(folder: Path, *args: str) -> str:
    command = ["git", "-c", "user.name=a", "-c", "user.email=a@b", *args]
    return subprocess.run(command, cwd=folder, check=True, capture_output=True, text=True).stdout


def make(folder: Path) -> Home:
    """A workspace in which a task is being researched, and the agent has written its findings."""
    folder.mkdir(parents=True, exist_ok=True)
    git(folder, "init", "-q")
    git(folder, "config", "user.name", "A")
    git(folder, "config", "user.email", "a@example.invalid")
    home = Home(str(folder))
    store = TaskStore(home, "specs")
    store.add("Sign in")
    store.move(1, "RESEARCHING")
    (folder / OUT).mkdir(parents=True)
    (folder / OUT / "MANIFEST.jsonl").write_text("")
    (folder / OUT / "2026-01-19_auth.md").write_text("---\ntitle: Auth\n---\n\n# Auth\n")
    (folder / "other.txt").write_text("not ours\n")
    with home.ledger.transaction() as db:
        add_act(db, session_id="s1", path=f"{OUT}/2026-01-19_auth.md", operation="write")
    return home


def places(home: Home) -> FinishStores:
    def look(path: str) -> ArtifactFacts:
        return ArtifactFacts(path, "file", 10)

    manifest = f"{home.root}/{OUT}/MANIFEST.jsonl"
    return FinishStores(TaskStore(home, "specs"), manifest, f"{home.root}/specs/errors.json", look)


def describe(**changes: Any) -> FinishInput:  # noqa: ANN401 - fields of a settlement
    finish_steps = FinishInput(
        "s1",
        "completed",
        kind="research",
        task_number=1,
        summary="Found out how users sign in.",
        artifacts=(Artifact("research", f"{OUT}/2026-01-19_auth.md", "How users sign in"),),
        errors=(FAULT,),
        entry=ENTRY,
    )
    return finish_steps._replace(**changes)


def settle_here(folder: Path, **changes: Any) -> None:  # noqa: ANN401 - fields of a settlement
    home = Home(str(folder))
    run_finish_steps(home, describe(**changes), places(home))


def check_settled(folder: Path, commits: Sequence[str] = ("task 1: Found out how users sign in.",)) -> None:
    """Everything is there and committed, and once."""
    check_written(folder)
    assert git(folder, "log", "--format=%s").splitlines() == [*commits]
    assert git(folder, "status", "--porcelain").splitlines() == ["?? other.txt"]


def check_written(folder: Path) -> None:
    """Everything is there, and once."""
    lines = (folder / OUT / "MANIFEST.jsonl").read_text().splitlines()
    assert [json.loads(line)["id"] for line in lines if line] == ["auth-2026-01-19"]
    task = json.loads((folder / "specs" / "state.json").read_text())["active_projects"][0]
    assert task["status"] == "researched"
    assert task["linkedResearch"] == ["auth-2026-01-19"]
    assert [each["path"] for each in task["artifacts"]] == [f"{OUT}/2026-01-19_auth.md"]
    assert "[RESEARCHED]" in (folder / "specs" / "TODO.md").read_text()
    errors = json.loads((folder / "specs" / "errors.json").read_text())["errors"]
    assert [each["message"] for each in errors] == ["one test is flaky"]
    text = (folder / OUT / "2026-01-19_auth.md").read_text()
    assert text.count("session: s1") == 1
    assert text.endswith("---\n\n# Auth\n")


def test_a_delegation_is_settled_and_a_second_time_changes_nothing(tmp_path: Path) -> None:
    home = make(tmp_path)
    steps = run_finish_steps(home, describe(), places(home))
    assert {step.name: step.state for step in steps} == dict.fromkeys(
        ("manifest", "task", "errors", "activity", "git"), "done"
    )
    check_settled(tmp_path)
    again = run_finish_steps(home, describe(), places(home))
    assert {step.name: step.state for step in again} == {
        "manifest": "there",
        "task": "there",
        "errors": "there",
        "activity": "nothing",
        "git": "there",
    }
    check_settled(tmp_path)
    assert list_acts(home.ledger, "s1", only_unreported=True) == []
    assert [event.kind for event in load_events(home.ledger, session_id="s1")] == ["finish_steps", "finish_steps"]


def test_what_the_agent_did_itself_is_not_done_again(tmp_path: Path) -> None:
    """The agent moved the task, wrote its line, linked it and committed, as its file told it to."""
    home = make(tmp_path)
    (tmp_path / OUT / "MANIFEST.jsonl").write_text(json.dumps(ENTRY) + "\n")
    TaskStore(home, "specs").move(1, "RESEARCHED")
    TaskStore(home, "specs").link(1, "auth-2026-01-19")
    git(tmp_path, "add", OUT, "specs")
    git(tmp_path, "commit", "-qm", "task 1: Found out how users sign in.")
    finish_steps = describe(artifacts=(), errors=(), session_id="s2")
    steps = run_finish_steps(home, finish_steps, places(home))
    assert [step.state for step in steps] == ["there", "there", "nothing", "nothing", "there"]
    assert len((tmp_path / OUT / "MANIFEST.jsonl").read_text().splitlines()) == 1
    assert len(git(tmp_path, "log", "--format=%s").splitlines()) == 1


def test_who_has_committed_gets_no_second_commit_for_what_only_remit_writes_down(tmp_path: Path) -> None:
    """C19: the link of an artifact and the log of errors are never the agent's work."""
    home = make(tmp_path)
    (tmp_path / OUT / "MANIFEST.jsonl").write_text(json.dumps(ENTRY) + "\n")
    TaskStore(home, "specs").move(1, "RESEARCHED")
    git(tmp_path, "add", OUT, "specs")
    git(tmp_path, "commit", "-qm", "task 1: By the agent.")
    steps = {step.name: step for step in run_finish_steps(home, describe(owner="agent"), places(home))}
    assert {name: step.state for name, step in steps.items() if step.state == "done"} == dict.fromkeys(
        ("task", "errors", "activity", "pending"), "done"
    )
    assert not any(step.owed for step in steps.values())
    assert "specs/state.json" in steps["pending"].message
    assert git(tmp_path, "log", "--format=%s").splitlines() == snapshot(["task 1: By the agent."])


@pytest.mark.parametrize(
    ("committed", "linked", "written"), [(False, True, True), (True, False, True), (True, True, False)]
)
def test_counts_reach_the_state_of_a_task_that_the_agent_moved(
    tmp_path: Path, *, committed: bool, linked: bool, written: bool
) -> None:
    """D4: only a state.json that the agent committed, with nothing else to add, stays as it is."""
    home, finish_steps = make(tmp_path), describe(owner="agent", entry=None, counts={"findings_count": 3})
    store = TaskStore(home, "specs")
    store.conclude(1, lambda _: "RESEARCHED", artifacts=finish_steps.artifacts if linked else ())
    if committed:
        git(tmp_path, "add", OUT, "specs")
        git(tmp_path, "commit", "-qm", "task 1: By the agent.")
    run_finish_steps(home, finish_steps, places(home))
    task = json.loads((tmp_path / "specs" / "state.json").read_text())["active_projects"][0]
    assert task.get("findings_count") == (3 if written else None)
    assert len(git(tmp_path, "log", "--format=%s").splitlines()) == 1


def test_what_the_agent_owed_is_done_and_named(tmp_path: Path) -> None:
    """C19: it committed its file, and left task and manifest alone."""
    home = make(tmp_path)
    git(tmp_path, "add", OUT, "specs")
    git(tmp_path, "commit", "-qm", "task 1: By the agent.")
    steps = run_finish_steps(home, describe(owner="agent"), places(home))
    assert [step.name for step in steps if step.owed] == ["manifest", "task", "git"]
    assert len(git(tmp_path, "log", "--format=%s").splitlines()) == 2


def test_another_entry_with_the_same_id_gets_the_next_number(tmp_path: Path) -> None:
    home = make(tmp_path)
    other = {**ENTRY, "file": "2026-01-19_other.md"}
    (tmp_path / OUT / "MANIFEST.jsonl").write_text(json.dumps(other) + "\n")
    for _ in range(2):
        run_finish_steps(home, describe(), places(home))
    lines = (tmp_path / OUT / "MANIFEST.jsonl").read_text().splitlines()
    assert [json.loads(line)["id"] for line in lines] == ["auth-2026-01-19", "auth-2026-01-19-2"]


def test_a_step_that_fails_is_told_and_keeps_nothing_else_back(tmp_path: Path) -> None:
    home = make(tmp_path)
    state = tmp_path / "specs" / "state.json"
    broken = state.read_text()[:-30]
    state.write_text(broken)
    shutil.rmtree(tmp_path / ".git")
    steps = {step.name: step for step in run_finish_steps(home, describe(), places(home))}
    assert steps["task"].state == "failed"
    assert "truncated" in steps["task"].message
    assert steps["manifest"].state == steps["errors"].state == "done"
    assert [finding.code for finding in steps["git"].diagnostics] == ["GIT002"]
    assert state.read_text() == broken


def test_a_broken_error_log_is_mended_and_what_it_was_is_named(tmp_path: Path) -> None:
    home = make(tmp_path)
    log = tmp_path / "specs" / "errors.json"
    log.write_text('{"errors": [{"id": "e1", "message": "first"},')
    steps = {step.name: step for step in run_finish_steps(home, describe(), places(home))}
    found, kept = steps["errors"].message.split(" was broken: what it was is kept in ")
    assert (steps["errors"].state, found) == ("done", "specs/errors.json")
    assert (tmp_path / kept).read_text() == '{"errors": [{"id": "e1", "message": "first"},'
    assert [each["message"] for each in json.loads(log.read_text())["errors"]] == ["first", "one test is flaky"]


def test_an_entry_that_is_not_acceptable_is_not_written(tmp_path: Path) -> None:
    home = make(tmp_path)
    steps = run_finish_steps(home, describe(entry={**ENTRY, "status": "great"}), places(home))
    assert steps[0].state == "failed"
    assert steps[0].diagnostics
    assert (tmp_path / OUT / "MANIFEST.jsonl").read_text() == ""


@pytest.mark.parametrize(
    ("status", "kind", "before", "after"),
    [
        ("partial", "implementation", "IMPLEMENTING", "PARTIAL"),
        ("timeout", "research", "RESEARCHING", "RESEARCHING"),
        ("blocked", "research", "RESEARCHING", "BLOCKED"),
        ("completed", "review", "RESEARCHING", "RESEARCHING"),
        ("completed", "implementation", "IMPLEMENTING", "COMPLETED"),
    ],
)
def test_the_task_goes_where_the_return_takes_it(
    tmp_path: Path, status: str, kind: str, before: str, after: str
) -> None:
    home = make(tmp_path)
    store = TaskStore(home, "specs")
    if before != "RESEARCHING":
        store.move(1, "RESEARCHED")
        store.move(1, before)
    run_finish_steps(home, describe(status=status, kind=kind, entry=None, errors=(), reason="no key"), places(home))
    assert store.get(1).marker == after


@pytest.mark.slow
def test_wherever_it_is_killed_the_next_one_does_the_rest(tmp_path: Path) -> None:
    fired = 0
    make(tmp_path / "as it was").close()
    for step in range(1, 400, choose(8, 1)):
        folder = tmp_path / str(step)
        shutil.copytree(tmp_path / "as it was", folder)
        killed = run_and_die(partial(settle_here, folder), at=step)
        fired += killed
        settle_here(folder)
        check_settled(folder)
        shutil.rmtree(folder)
        if not killed:
            break
    assert fired > 20 // choose(8, 1)


def commit_as_agent(folder: Path, *, owes: bool) -> None:
    """The agent has committed its file; and its line and its task, unless it owes them."""
    home = Home(str(folder))
    if not owes:
        (folder / OUT / "MANIFEST.jsonl").write_text(json.dumps(ENTRY) + "\n")
        TaskStore(home, "specs").move(1, "RESEARCHED")
    home.close()
    git(folder, "add", OUT, "specs")
    git(folder, "commit", "-qm", "task 1: By the agent.")


@pytest.mark.slow
@pytest.mark.thorough
@pytest.mark.parametrize("owes", [False, True], ids=["all done", "owes"])
def test_wherever_it_is_killed_an_agent_that_commits_gets_no_commit_too_many(tmp_path: Path, *, owes: bool) -> None:
    """C19: what Remit wrote down before it was killed is not taken for work that the agent has not committed."""
    fired, committed = 0, ["task 1: By the agent."]
    make(tmp_path / "as it was").close()
    commit_as_agent(tmp_path / "as it was", owes=owes)
    for step in range(1, 400, 3 * STRIDE):
        folder = tmp_path / str(step)
        shutil.copytree(tmp_path / "as it was", folder)
        killed = run_and_die(partial(settle_here, folder, owner="agent"), at=step)
        fired += killed
        settle_here(folder, owner="agent")
        if owes:
            check_settled(folder, ["task 1: Found out how users sign in.", *committed])
        else:
            check_written(folder)
            assert git(folder, "log", "--format=%s").splitlines() == committed, step
        shutil.rmtree(folder)
        if not killed:
            break
    assert fired > 20 // STRIDE


def test_a_blocked_task_always_has_a_reason(tmp_path: Path) -> None:
    home = make(tmp_path)
    run_finish_steps(home, describe(status="blocked", summary="", errors=(), entry=None), places(home))
    assert TaskStore(home, "specs").get(1).fields["blocked_reason"] == "the agent gave no reason"


def test_activity_that_could_not_be_written_is_tried_again(tmp_path: Path) -> None:
    home = make(tmp_path)
    notes = tmp_path / "notes.md"
    notes.mkdir()
    with home.ledger.transaction() as db:
        add_act(db, session_id="s1", path="notes.md", operation="edit")
    steps = {step.name: step for step in run_finish_steps(home, describe(), places(home))}
    assert steps["activity"].state == "failed"
    assert [act.path for act in list_acts(home.ledger, "s1", only_unreported=True)] == ["notes.md"]
    notes.rmdir()
    notes.write_text("---\ntitle: Notes\n---\nText.\n")
    steps = {step.name: step for step in run_finish_steps(home, describe(), places(home))}
    assert steps["activity"].state == "done"
    assert "operation: edit" in notes.read_text()


def test_without_a_repository_there_is_nothing_to_commit(tmp_path: Path) -> None:
    home = make(tmp_path)
    shutil.rmtree(tmp_path / ".git")
    assert run_finish_steps(home, describe(), places(home))[-1].state == "nothing"


@pytest.mark.parametrize(
    ("line", "entry"),
    [
        (json.dumps(ENTRY), ENTRY),
        (json.dumps({**ENTRY, "file": f"{OUT}/2026-01-19_auth.md"}) + "\n", ENTRY),
        (json.dumps(ENTRY) + "\n", {**{k: v for k, v in ENTRY.items() if k != "file"}, "output_file": ENTRY["file"]}),
    ],
    ids=["no line feed", "the file from the root", "another name for the file"],
)
def test_a_line_of_the_agents_own_is_found_however_it_is_written(
    tmp_path: Path, line: str, entry: dict[str, Any]
) -> None:
    home = make(tmp_path)
    (tmp_path / OUT / "MANIFEST.jsonl").write_text(line)
    assert run_finish_steps(home, describe(entry=entry), places(home))[0].state == "there"
    assert (tmp_path / OUT / "MANIFEST.jsonl").read_text() == line


def test_an_entry_without_an_id_is_not_written_again_and_again(tmp_path: Path) -> None:
    home = make(tmp_path)
    entry = {key: value for key, value in ENTRY.items() if key != "id"}
    assert run_finish_steps(home, describe(entry=entry), places(home))[0].state == "failed"


@pytest.mark.slow
def test_two_that_settle_at_once_write_one_line(tmp_path: Path) -> None:
    make(tmp_path).close()
    children = []
    for _ in range(4):
        child = os.fork()
        if child == 0:
            try:
                settle_here(tmp_path)
                os._exit(0)
            finally:
                os._exit(1)
        children.append(child)
    assert [os.waitpid(child, 0)[1] for child in children] == [0] * 4
    check_settled(tmp_path)


def test_no_file_is_left_open(tmp_path: Path) -> None:
    home = make(tmp_path)
    run_finish_steps(home, describe(), places(home))
    before = len(os.listdir("/proc/self/fd"))  # noqa: PTH208 - numbers, not files
    for _ in range(5):
        run_finish_steps(home, describe(), places(home))
    assert len(os.listdir("/proc/self/fd")) <= before, "fewer where what other tests left was collected"  # noqa: PTH208


@pytest.mark.conforms("004-19")
def test_exploratory_work_links_no_task(tmp_path: Path) -> None:
    """R4.9: an entry that says that it belongs to no task is kept, and no task is linked to it."""
    home = make(tmp_path)
    settle_here(tmp_path, entry={**ENTRY, "linked_tasks": [""]})
    assert "auth-2026-01-19" in (tmp_path / OUT / "MANIFEST.jsonl").read_text()
    assert TaskStore(home, "specs").get(1).links == ()
    settle_here(tmp_path)
    assert TaskStore(home, "specs").get(1).links == ("auth-2026-01-19",)
