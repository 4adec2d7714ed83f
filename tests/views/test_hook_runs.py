"""What a page shows of agents that a harness has started itself."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from remit.git.head import find_commit
from remit.views.compliance import load_compliance
from remit.views.diffs import load_diff
from remit.views.logs import load_log
from remit.views.run_details import load_run_details
from remit.views.run_list import RunQuery, list_runs
from tests.support.hook_session import Child, Stage, make_workspace
from tests.support.ledger_rows import VARIABLES, opened

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def child(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Child:
    for variable in VARIABLES:
        monkeypatch.delenv(variable, raising=False)
    root = make_workspace(tmp_path / "project")
    monkeypatch.chdir(root)
    child = Stage(root, quick=True).call("planner")
    child.start()
    return child


def test_each_of_its_answers_is_kept_with_what_it_claims(child: Child) -> None:
    child.write("plan.md")
    assert child.stop(child.report("nothing.md"))["decision"] == "block"
    repaired = f"```json\n{child.report('plan.md')[:-1]},}}\n```"
    child.stop(repaired)
    child.hand_over(repaired)
    with opened(child.stage.root) as home:
        node = load_run_details(home, child.session_id)
        classes = load_compliance(home)["total"]
    first, second = node["attempts"]
    assert [(claim["path"], claim["grade"]) for claim in first["claims"]] == [("nothing.md", "missing")]
    assert any(finding["location"] and finding["hint"] for finding in first["diagnostics"])
    assert [(claim["path"], claim["grade"]) for claim in second["claims"]] == [("plan.md", "attributed")]
    assert [repair["kind"] for repair in second["repairs"]]
    assert (first["verdict"], second["verdict"]) == ("fabricated", "repaired")
    assert classes["false_claim"] == classes["total"] == 1  # that it was put right later does not undo it


def test_it_is_seen_at_work_and_can_only_be_told_to_end(child: Child) -> None:
    child.use("Read", file_path=str(child.stage.root / "old.md"))
    with opened(child.stage.root) as home:
        (row,) = list_runs(home, RunQuery(state="open"))["items"]
        node = load_run_details(home, child.session_id)
    assert (row["session_id"], row["state"], row["runner"]) == (child.session_id, "running", "claude")
    assert (node["run"]["activity"] or "").startswith("Read")
    assert node["can"]["cancel"] is True
    assert "claude" in node["can"]["why"]["note"]
    log = load_log(child.session_id)
    assert ("activity" in {line["kind"] for line in log["items"]}, log["finished"]) == (True, False)


def test_what_it_changed_is_shown_against_the_commit_that_it_began_on(child: Child) -> None:
    began = find_commit(str(child.stage.root))
    child.write("plan.md")
    child.stop(child.report("plan.md"))
    with opened(child.stage.root) as home:
        diff = load_diff(home, child.session_id, "plan.md")
    assert began
    assert (diff["base"], diff["state"]) == (began, "new")
