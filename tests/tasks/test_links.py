"""Links of tasks in TODO.md and state.json: the forms that projects write, read and written in both files."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from remit.ledger.home import Home
from remit.model import Artifact
from remit.tasks.drift import check_drift
from remit.tasks.repair import plan_repair
from remit.tasks.state import parse_state
from remit.tasks.store import TaskStore
from remit.tasks.task import Linked
from remit.tasks.todo import parse_todo
from remit.tasks.todo_edits import add_link, read_samples

if TYPE_CHECKING:
    from pathlib import Path

HEAD = "# TODO\n\n### 7. Export button\n- **Status**: [PLANNED]\n"
REPORT, SECOND = "specs/7_export/reports/research-001.md", "specs/7_export/reports/research-002.md"
PLAN, SUMMARY = (
    "specs/7_export/plans/implementation-001.md",
    "specs/7_export/summaries/implementation-summary-20260102.md",
)


def read(body: str) -> list[tuple[str, str]]:
    return [(each.kind, each.path) for each in parse_todo(HEAD + body).tasks[0].links]


@pytest.mark.parametrize(
    ("body", "links"),
    [
        (f"- **Plan**: [implementation-001.md]({PLAN})", [("plan", PLAN)]),
        (f"- **Plan**: [{PLAN}] (revised 2026-01-02)", [("plan", PLAN)]),
        (f"- **Plan**: `{PLAN}`", [("plan", PLAN)]),
        (f"**Plan**: {PLAN}  ", [("plan", PLAN)]),
        (f"- **Research**: [a]({REPORT}), [b]({SECOND}) (newer)", [("research", REPORT), ("research", SECOND)]),
        (
            f"- **Research**:\n  - [a]({REPORT}) - cause\n  - [b]({SECOND})",
            [("research", REPORT), ("research", SECOND)],
        ),
        (
            f"- **Research Artifacts**:\n  - Main Report: [{REPORT}]\n  - Summary: [7_x/summaries/research-summary.md]",
            [("research", REPORT), ("summary", "7_x/summaries/research-summary.md")],
        ),
        (f"- **Artifacts**:\n  - [Plan]({PLAN}) - 4 phases\n  - src/a.py", [("plan", PLAN)]),
        (f"- **Implementation Summary**: [{SUMMARY}]", [("summary", SUMMARY)]),
        (
            "- **Research Report**: [r](7_export/reports/research-001.md)",
            [("research", "7_export/reports/research-001.md")],
        ),
        (f"- **Previous Plan**: [{PLAN}]", []),
        ("- **Summary**: It changes README.md and [x] nothing else.", []),
        ("- **Plan**: None\n- **Planned**: 2026-01-02", []),
        (f"```\n- **Plan**: [{PLAN}]\n```", []),
        ("- **Research**: [site](https://example.org/a.md)", []),
    ],
)
def test_links_are_read_in_the_forms_that_projects_write(body: str, links: list[tuple[str, str]]) -> None:
    """D8."""
    assert read(body) == links


@pytest.mark.parametrize(
    ("before", "link", "after"),
    [
        ("", Linked("plan", PLAN), f"- **Plan**: [implementation-001.md]({PLAN})"),
        ("- **Plan**: [specs/7_export/plans/implementation-000.md] (v1)", Linked("plan", PLAN), f"- **Plan**: [{PLAN}] (v1)"),
        ("- **Plan**: None", Linked("plan", PLAN), f"- **Plan**: [implementation-001.md]({PLAN})"),
        ("- **Plan**:", Linked("plan", PLAN), f"- **Plan**: [implementation-001.md]({PLAN})"),
        (
            "- **Summary**: What it is about.",
            Linked("summary", SUMMARY),
            f"- **Summary**: What it is about.\n- **Implementation Summary**: [{SUMMARY.rpartition('/')[2]}]({SUMMARY})",
        ),
        (f"- **Research**: [a]({REPORT})", Linked("research", SECOND),
         f"- **Research**: [a]({REPORT}), [research-002.md]({SECOND})"),
        (f"- **Research Artifacts**:\n  - Main Report: [{REPORT}]", Linked("research", SECOND),
         f"- **Research Artifacts**:\n  - Main Report: [{REPORT}]\n  - Main Report: [{SECOND}]"),
    ],
)  # fmt: skip
def test_a_link_keeps_the_form_that_the_task_has(before: str, link: Linked, after: str) -> None:
    """D8."""
    text = f"{HEAD}{before}".rstrip("\n") + "\n\nText.\n"
    assert add_link(text, 7, link, read_samples(text)) == f"{HEAD}{after}\n\nText.\n"
    crlf = text.replace("\n", "\r\n")
    assert add_link(crlf, 7, link, read_samples(crlf)) == f"{HEAD}{after}\n\nText.\n".replace("\n", "\r\n")


@pytest.mark.parametrize(
    ("other", "link", "after"),
    [
        ("- **Plan**: [specs/6_a/plans/implementation-001.md]", Linked("plan", PLAN), f"- **Plan**: [{PLAN}]"),
        ("- **Research Report**: [r](6_a/reports/research-001.md)", Linked("research", REPORT),
         "- **Research Report**: [research-001.md](7_export/reports/research-001.md)"),
        ("- **Research Artifacts**:\n  - Main Report: [specs/6_a/reports/research-001.md]", Linked("research", REPORT),
         f"- **Research Artifacts**:\n  - Main Report: [{REPORT}]"),
    ],
)  # fmt: skip
def test_the_first_link_of_a_task_takes_the_form_of_other_tasks(other: str, link: Linked, after: str) -> None:
    """D8."""
    text = f"{HEAD}\n### 6. Older\n- **Status**: [RESEARCHED]\n{other}\n"
    assert f"- **Status**: [PLANNED]\n{after}\n\n### 6." in add_link(text, 7, link, read_samples(text))


def make_store(folder: Path, todo: str, **fields: object) -> TaskStore:
    (folder / "specs").mkdir()
    task = {"project_number": 7, "project_name": "export_button", "status": "planned", **fields}
    state = {"next_project_number": 8, "active_projects": [task], "completed_projects": []}
    (folder / "specs/state.json").write_text(json.dumps(state, indent=2))
    (folder / "specs/TODO.md").write_text(todo)
    return TaskStore(Home(str(folder)), "specs")


@pytest.mark.conforms("002-28")
def test_what_work_has_made_is_linked_in_both_files_once(tmp_path: Path) -> None:
    """D8."""
    store = make_store(tmp_path, HEAD)
    made = (Artifact("research", REPORT, "Found.", word="report"), Artifact("plan", PLAN), Artifact("code", "src/a.py"))
    for _ in range(2):
        store.conclude(7, lambda _: None, artifacts=made, counts={"phase_count": 3})
    task = json.loads((tmp_path / "specs/state.json").read_text())["active_projects"][0]
    assert (task["plan_path"], task["phase_count"]) == (PLAN, 3)
    assert task["artifacts"] == [
        {"path": REPORT, "type": "report", "summary": "Found."},
        {"path": PLAN, "type": "plan"},
        {"path": "src/a.py", "type": "code"},
    ]
    assert (tmp_path / "specs/TODO.md").read_text() == (
        f"{HEAD}- **Research**: [research-001.md]({REPORT})\n- **Plan**: [implementation-001.md]({PLAN})\n"
    )
    assert store.check() == []


def test_a_list_of_mere_paths_stays_one(tmp_path: Path) -> None:
    """D8."""
    store = make_store(tmp_path, HEAD, artifacts=[REPORT])
    store.conclude(7, lambda _: None, artifacts=(Artifact("research", SECOND),))
    assert store.get(7).fields["artifacts"] == [REPORT, SECOND]


@pytest.mark.conforms("001-59")
@pytest.mark.parametrize("path", [PLAN, PLAN.removeprefix("specs/")])
def test_a_plan_is_found_by_its_link_in_todo_md(tmp_path: Path, path: str) -> None:
    """D8: state.json names none, and the file lies where no plan is looked for."""
    store = make_store(tmp_path, f"{HEAD}- **Plan**: [{path}]\n".replace("plans/", "drafts/"))
    plan = tmp_path / PLAN.replace("plans/", "drafts/")
    plan.parent.mkdir(parents=True)
    plan.write_text("## Implementation Phases\n\n### Phase 1: Only [NOT STARTED]\n")
    found = store.load_plan(7)
    assert found is not None
    assert (found.path, found.resume.number if found.resume else None) == (PLAN.replace("plans/", "drafts/"), "1")


def test_links_that_differ_are_told_and_repaired() -> None:
    """D8: each file gets what the other has; of two plans state.json's is kept unless TODO.md is preferred."""
    newer = PLAN.replace("001", "002")
    task = {"project_number": 7, "project_name": "export_button", "status": "planned", "plan_path": newer,
            "artifacts": [{"path": SUMMARY, "type": "summary"}]}  # fmt: skip
    state = json.dumps({"next_project_number": 8, "active_projects": [task], "completed_projects": []}, indent=2)
    todo = f"{HEAD}- **Research**: [r]({REPORT})\n- **Plan**: [p]({PLAN})\n"
    told = [each.message for each in check_drift(parse_state(state), parse_todo(todo)).in_todo]
    assert [each.split(" (line")[0] for each in told] == [
        f"the plan of task 7 is '{PLAN}' here and '{newer}' in state.json",
        f"the report '{REPORT}' of task 7 is linked here but not in state.json",
        f"the summary '{SUMMARY}' of task 7 is in state.json but isn't linked here",
    ]
    for prefer, plan in (("newest", newer), ("state", newer), ("todo", PLAN)):
        done = plan_repair(state, todo, prefer=prefer)  # type: ignore[arg-type] # one of three words
        links = {each.kind: each.path for each in parse_state(done.state).tasks[0].links}
        assert links == {"summary": SUMMARY, "research": REPORT, "plan": plan}
        assert {each.kind: each.path for each in parse_todo(done.todo).tasks[0].links} == links
        assert not check_drift(parse_state(done.state), parse_todo(done.todo)).in_todo
        assert plan_repair(done.state, done.todo, prefer=prefer).done == ()  # type: ignore[arg-type]


def test_a_report_that_is_superseded_need_not_be_linked_in_both() -> None:
    task = {"project_number": 7, "project_name": "export_button", "status": "planned",
            "artifacts": [{"path": each, "type": "research"} for each in (REPORT, SECOND)]}  # fmt: skip
    state = json.dumps({"next_project_number": 8, "active_projects": [task], "completed_projects": []})
    todo = f"{HEAD}- **Research**: [research-002.md](7_export/reports/research-002.md) (supersedes research-001.md)\n"
    assert not check_drift(parse_state(state), parse_todo(todo)).in_todo
