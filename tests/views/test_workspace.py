"""Work: tasks, findings and errors, as a page shows them."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from remit.errorlog.workspace_errors import load_errors
from remit.errors import RemitError, UsageError
from remit.runs.tasks.workspace_tasks import Tasks
from remit.storage.settings import find_workspace, load_settings
from remit.views import agents, findings, status, tasks
from remit.views.json_builders import build_error_groups
from tests.support.ledger_rows import Kept, answer, insert, name, opened, run

if TYPE_CHECKING:
    from pathlib import Path

SECRET = "ghp_" + "a1B2" * 9


def add_tasks(*titles: str) -> None:
    tasks = Tasks()
    for title in titles:
        tasks.add(title)
    tasks.home.close()


# --- tasks -----------------------------------------------------------------------------------------------------------


def test_a_workspace_without_tasks_has_an_empty_board(root: Path) -> None:
    board = tasks.load_board()
    assert (board["items"], board["folder"], board["drift"]) == ([], None, [])
    assert "NOT STARTED" in board["markers"]
    assert not (root / "specs").exists()


def test_the_board_has_every_task_with_its_delegations(root: Path) -> None:
    add_tasks("Greet people", f"Use {SECRET}")
    tasks.move_task(1, "in progress")
    tasks.move_task(1, "blocked", reason="The key is missing.")
    with opened(root) as home:
        insert(home, Kept(0, task_number=1), Kept(1, task_number=1, state="running"), Kept(2))
    board = tasks.load_board()
    first, second = board["items"]
    assert (first["number"], first["title"], first["marker"], first["reason"]) == (
        1,
        "Greet people",
        "BLOCKED",
        "The key is missing.",
    )
    assert first["runs"] == {"open": 1, "total": 2}
    assert second["runs"] == {"open": 0, "total": 0}
    assert second["title"] == "Use [redacted github]"
    assert board["drift"] == []


def test_drift_is_shown_with_its_file(root: Path) -> None:
    add_tasks("Greet people")
    state = root / "specs" / "state.json"
    state.write_text(state.read_text().replace("not_started", "completed").replace("not started", "completed"))
    drift = tasks.load_board()["drift"]
    assert drift
    assert {each["filename"] for each in drift} <= {"specs/state.json", "specs/TODO.md"}
    assert all(each["code"] and each["message"] for each in drift)


def test_a_task_is_shown_with_its_sessions_and_moves(root: Path) -> None:
    add_tasks("Greet people")
    with opened(root) as home:
        insert(home, Kept(0, task_number=1), Kept(1))
    task = tasks.load_task(1)
    assert [each["session_id"] for each in task["latest_runs"]] == [name(0)]
    assert "IN PROGRESS" in task["moves"]
    assert "Greet people" in task["section"]
    with pytest.raises(UsageError, match="no task 9"):
        tasks.load_task(9)


def test_a_move_that_may_not_be_is_refused(root: Path) -> None:
    add_tasks("Greet people")
    with pytest.raises(UsageError, match="isn't a marker"):
        tasks.move_task(1, "sideways")
    with pytest.raises(RemitError):
        tasks.move_task(1, "blocked")  # without a reason
    assert tasks.load_task(1)["marker"] == "NOT STARTED"
    moved = tasks.move_task(1, "in_progress")
    assert (moved["before"], moved["after"]) == ("NOT STARTED", "IN PROGRESS")
    assert root.joinpath("specs/TODO.md").read_text().count("IN PROGRESS")


# --- the manifest ----------------------------------------------------------------------------------------------------


def write_manifest(root: Path, count: int) -> None:
    """A manifest as it is on disk."""
    folder = root / ".cleo" / "agent-outputs"
    folder.mkdir(parents=True)
    lines = [
        {
            "id": f"finding-{number}-2026-11-16",
            "file": f"finding-{number}.md",
            "title": f"Finding {number} of the {'walrus' if number == 4 else 'cache'}",
            "date": "2026-11-16",
            "status": "complete",
            "topics": ["cache", f"topic{number % 3}"],
            "key_findings": [f"It is {number}.", f"The key is {SECRET}."],
            "actionable": True,
            "needs_followup": ["8"] if number == 3 else [],
            "linked_tasks": ["7"] if number == 2 else [],
        }
        for number in range(count)
    ]
    (folder / "MANIFEST.jsonl").write_text("".join(f"{json.dumps(line)}\n" for line in lines))


def test_a_workspace_without_a_manifest_has_no_entries(root: Path) -> None:
    assert findings.find_entries()["items"] == []
    assert not (root / ".remit").exists()


def test_entries_are_found_by_the_page(root: Path) -> None:
    write_manifest(root, 25)
    found: list[str] = []
    cursor = ""
    while True:
        page = findings.find_entries(limit=10, cursor=cursor)
        assert page["total"] == 25
        found += [item["id"] for item in page["items"]]
        if page["next_cursor"] is None:
            break
        cursor = page["next_cursor"]
    assert sorted(found) == sorted(f"finding-{number}-2026-11-16" for number in range(25))
    assert page["topics"][0] == {"topic": "cache", "count": 25}
    assert page["manifest"] == ".cleo/agent-outputs/MANIFEST.jsonl"
    assert SECRET not in str(page)


def test_entries_are_narrowed_and_searched(root: Path) -> None:
    write_manifest(root, 6)

    def find(**asked: object) -> list[str]:
        page = findings.find_entries(**asked)  # type: ignore[arg-type]
        assert page["total"] is None
        return [item["id"].split("-")[1] for item in page["items"]]

    assert find(q="walrus") == ["4"]
    assert find(q='walrus" OR "cache') == []
    assert find(task="7") == ["2"]
    assert find(pending=True) == ["3"]
    assert find(topic="topic1") == ["4", "1"]
    assert find(status="partial") == []
    assert findings.find_entries(q="  *-- ")["total"] == 6  # nothing that could be looked for


@pytest.mark.parametrize("cursor", ["x", "0", "01", "-1", "1e3", "99999999"])
def test_a_page_that_is_none_is_refused(root: Path, cursor: str) -> None:
    write_manifest(root, 1)
    with pytest.raises(UsageError, match="cursor"):
        findings.find_entries(cursor=cursor)


def test_one_entry_is_shown_with_all_that_belongs_to_it(root: Path) -> None:
    write_manifest(root, 3)
    entry = findings.load_entry("finding-2-2026-11-16")
    assert (entry["title"], entry["linked_tasks"], entry["findings_file"]) == ("Finding 2 of the cache", ["7"], None)
    with pytest.raises(UsageError, match="no entry"):
        findings.load_entry("finding-9")


# --- errors ----------------------------------------------------------------------------------------------------------


def test_errors_come_by_their_causes(root: Path) -> None:
    assert build_error_groups(load_errors(), find_workspace())["items"] == []
    for number in range(2):
        run(root, answer(f"nowhere{number}.md"), reasks=0)
    found = build_error_groups(load_errors(only_open=True), find_workspace())
    group, missing = sorted(found["items"], key=lambda each: each["code"])
    assert (group["code"], group["count"], group["open"]) == ("FABRICATED", 2, True)
    assert (missing["code"], missing["count"]) == ("FILE_NOT_FOUND", 2)
    assert len(group["sessions"]) == len(group["records"]) == 2
    assert group["last_ms"] == group["records"][0]["at_ms"]
    assert (group["last_ms"] or 0) > 1_700_000_000_000
    assert found["file"] == "specs/errors.json"


# --- agents ----------------------------------------------------------------------------------------------------------


def write_agents(root: Path) -> None:
    folder = root / ".claude" / "agents"
    folder.mkdir(parents=True)
    (folder / "good.md").write_text(f"---\nname: good\ndescription: Reads with {SECRET}.\n---\n\nRead.\n")
    (folder / "bad.md").write_text("---\nname: Bad Name\ntols: Read\n---\n\nRead.\n")


def test_agent_files_come_with_their_findings_and_the_graph(root: Path) -> None:
    write_agents(root)
    found = agents.load_agents()
    files = {each["path"]: each for each in found["items"]}
    assert {*files} == {".claude/agents/good.md", ".claude/agents/bad.md"}
    assert files[".claude/agents/good.md"]["name"] == "good"
    assert files[".claude/agents/bad.md"]["diagnostics"]
    assert found["counts"]["files"] == 2
    assert found["counts"]["error"] + found["counts"]["warning"] > 0
    assert "good" in [agent["name"] for agent in found["graph"]["agents"]]
    assert SECRET not in str(found)


def test_who_can_run_an_agent_is_told(
    root: Path, monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory
) -> None:
    elsewhere = tmp_path_factory.mktemp("programs")
    for folder, program in ((elsewhere, "codex"), (root, "claude")):
        (folder / program).write_text("#!/bin/sh\n")
        (folder / program).chmod(0o755)
    monkeypatch.setenv("PATH", f"{root}:{elsewhere}")
    (root / "remit.toml").write_text('[runners.mine]\ncommand = "cat"\n')
    assert agents.list_runners() == ["codex", "mine"]  # a program of the repository is none
    (root / "remit.toml").write_text("[broken")
    assert agents.list_runners() == ["codex"]


def test_to_look_makes_no_baseline(root: Path) -> None:
    write_agents(root)
    (root / "remit.toml").write_text('[lint]\nbaseline = "known.json"\n')
    assert agents.load_agents()["items"]
    assert agents.lint_files()["items"]
    assert not (root / "known.json").exists()


def test_only_files_of_the_workspace_are_linted(root: Path) -> None:
    write_agents(root)
    found = agents.lint_files([".claude/agents/bad.md"])
    assert {each["filename"] for each in found["items"]} == {".claude/agents/bad.md"}
    (root.parent / "outside.md").write_text("---\nname: x\n---\n")
    (root / "leads-out").symlink_to(root.parent)
    for path in ("../outside.md", "/etc/passwd", str(root.parent / "outside.md"), "leads-out/outside.md", "a\0b"):
        with pytest.raises(UsageError, match="not in the workspace"):
            agents.lint_files([path])
    with pytest.raises(UsageError, match="too many"):
        agents.lint_files(["a"] * 101)


# --- at a glance -----------------------------------------------------------------------------------------------------


def test_a_glance_says_where_we_are_and_how_much_there_is(root: Path) -> None:
    (root / ".git" / "HEAD").write_text("ref: refs/heads/topic\n")
    with opened(root) as home:
        empty = status.load_workspace_status(home)
        assert (empty["root"], empty["event"]) == (root.name, 0)
        assert empty["runs"] == {"open": 0, "finished": 0, "total": 0}
        insert(home, Kept(0), Kept(1, state="running"), Kept(2))
        told = status.load_workspace_status(home)
    assert told["branch"] == "topic"
    assert told["runs"] == {"open": 1, "finished": 2, "total": 3}


def test_a_glance_needs_no_settings_that_can_be_read(root: Path) -> None:
    (root / "remit.toml").write_text("[broken")
    with pytest.raises(RemitError):
        load_settings(str(root))
    with opened(root) as home:
        assert status.load_workspace_status(home)["root"] == root.name
