"""Judgement: what an agent says, held against what is on disk."""

import json
import os
import time
from pathlib import Path
from typing import Any

import pytest

from remit.evidence.take_tree import take_tree
from remit.ledger.home import Home
from remit.manifest.manifest_file import read_prefix
from remit.model import Expectation
from remit.runners import ToolUse
from remit.runs.judging.attempt import EarlierClaims
from remit.runs.judging.concurrent_writers import ConcurrentRun, SharedTree
from remit.runs.judging.judge import AttemptVerdict, compare_trees, judge_answer
from remit.runs.judging.judging_context import JudgingContext

SESSION = "sess_1794805361_qbq98k"
WROTE = ToolUse("Write", "write", "report.md")
AGO_MS = 60
"""So much later a run begins, as if what the fixture wrote were older than the clock of files can hide."""


def make_answer(*paths: str, status: str = "completed", **more: object) -> str:
    artifacts = [{"type": "report", "path": path, "summary": "What was found."} for path in paths]
    errors = [] if status == "completed" else [
        {"type": "timeout", "message": "Late.", "recoverable": True, "recommendation": "Go on."}
    ]  # fmt: skip
    identity = {"session_id": SESSION, "agent_type": "researcher", "delegation_depth": 1, "duration_seconds": 1}
    identity |= {"delegation_path": ["orchestrator", "researcher"]}
    value = {"status": status, "summary": "Looked at it. Wrote it down.", "artifacts": artifacts}
    return json.dumps({**value, "metadata": identity, "errors": errors, **more})


def judge(text: str, scene: JudgingContext, *, format: str = "standard") -> AttemptVerdict:
    expectation = Expectation(SESSION, "researcher", "research", 1, ("orchestrator", "researcher"))
    return judge_answer(text, scene, format=format, expectation=expectation, words={})


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "old.md").write_text("# Old\n")
    return tmp_path


def look(root: Path, **more: Any) -> JudgingContext:  # noqa: ANN401 - fields of Scene
    return JudgingContext(str(root), take_tree(Home(str(root)), str(root)), **more)


def beside(root: Path, **more: Any) -> SharedTree:  # noqa: ANN401 - fields of Other
    """Another agent that started with this one and still runs; nothing was written for a while before."""
    began_ms = time.time_ns() // 1_000_000 + AGO_MS
    return SharedTree(str(root), began_ms, (ConcurrentRun("sess_1794805361_other1", began_ms, **more),))


def test_a_file_that_was_made_meanwhile_bears_the_claim_out(root: Path) -> None:
    """R0.12."""
    scene = look(root)
    (root / "report.md").write_text("# New\n")
    judgement = judge(make_answer("report.md"), scene)
    assert judgement.name == "accepted"
    assert judgement.grades["report.md"].grade == "changed"


def test_with_a_tool_ledger_it_is_attributed(root: Path) -> None:
    scene = look(root, tools=(WROTE,))
    (root / "report.md").write_text("# New\n")
    assert judge(make_answer("report.md"), scene).grades["report.md"].grade == "attributed"


def test_what_a_tool_wrote_is_not_what_its_path_leads_to_afterwards(root: Path) -> None:
    """A link in the place of what was written would pass off any file as the agent's."""
    old = root / "old.md"
    scene = look(root, tools=(WROTE,))
    (root / "report.md").write_text("# New\n")
    (root / "report.md").unlink()
    (root / "report.md").symlink_to("old.md")
    os.utime(old)
    for path in ("old.md", "report.md"):
        judgement = judge(make_answer(path), scene)
        assert (judgement.name, judgement.grades[path].by_session) == ("fabricated", False)


def test_a_file_that_was_there_before_is_nobodys_work(root: Path) -> None:
    judgement = judge(make_answer("old.md"), look(root))
    assert (judgement.name, judgement.accepted) == ("fabricated", False)
    assert judgement.diagnostics[0].code == "EVD001"
    assert judgement.claimed is not None


def test_a_change_of_the_same_length_is_seen(root: Path) -> None:
    scene = look(root)
    (root / "old.md").write_text("# New\n")
    assert judge(make_answer("old.md"), scene).accepted


def test_a_file_that_is_not_there_is_made_up(root: Path) -> None:
    judgement = judge(make_answer("report.md"), look(root))
    assert judgement.name == "fabricated"
    assert not judgement.accepted


MISSED = EarlierClaims(("report.md", "plan.md"), frozenset({"report.md", "plan.md", "done.md"}))


@pytest.mark.parametrize("claims", [("done.md",), ("done.md", "other.md")], ids=["less", "one for two"])
@pytest.mark.parametrize("left", ["", "empty", "folder"])
def test_a_claim_that_is_only_withdrawn_makes_nothing_completed(
    root: Path, claims: tuple[str, ...], left: str
) -> None:  # fmt: skip
    """R0.12: what was found to be made up did not come to be by not being named any more."""
    scene = look(root, earlier=MISSED)
    for path in claims:
        (root / path).write_text("# New\n")
    if left == "empty":
        (root / "report.md").touch()
    elif left == "folder":
        (root / "report.md").mkdir()
    assert judge(make_answer(*claims), scene._replace(earlier=EarlierClaims())).accepted
    judgement = judge(make_answer(*claims), scene)
    assert (judgement.name, judgement.accepted) == ("fabricated", False)
    assert judgement.diagnostics[0].code == "EVD006"
    assert "'report.md' and 1 more was claimed before" in judgement.diagnostics[0].message
    assert judge(make_answer(*claims, status="partial"), scene).accepted


@pytest.mark.parametrize("written", [("report.md", "plan.md"), ("docs/report.md", "docs/plan-1.md")])
def test_whoever_writes_the_file_or_names_the_one_that_is_meant_is_believed(
    root: Path, written: tuple[str, ...]
) -> None:  # fmt: skip
    scene = look(root, earlier=MISSED)
    (root / "docs").mkdir()
    for path in written:
        (root / path).write_text("# New\n")
    judgement = judge(make_answer(*written), scene)
    assert (judgement.name, judgement.diagnostics) == ("accepted", ())


def test_an_old_file_takes_no_place(root: Path) -> None:
    """Without a snapshot from before, Remit cannot decide that it is old."""
    scene = look(root, earlier=EarlierClaims(("report.md",), frozenset({"report.md"})))
    assert {"EVD001", "EVD006"} <= {finding.code for finding in judge(make_answer("old.md"), scene).diagnostics}
    assert judge(make_answer("old.md"), scene._replace(before=None)).name == "unproven"


@pytest.mark.parametrize("tools", [(), (WROTE._replace(failed=True),)], ids=["none", "denied"])
def test_whoever_used_no_tool_made_no_file(root: Path, tools: tuple[ToolUse, ...]) -> None:
    scene = look(root, tools=tools)
    (root / "report.md").write_text("# By somebody else\n")
    judgement = judge(make_answer("report.md"), scene)
    assert judgement.name == "fabricated"
    assert "EVD002" in {finding.code for finding in judgement.diagnostics}


def test_a_command_that_failed_may_have_written_before(root: Path) -> None:
    failed = ToolUse("Bash", "run", failed=True)
    scene = look(root, tools=(failed._replace(ran=True),))
    (root / "report.md").write_text("# New\n")
    assert judge(make_answer("report.md"), scene).accepted
    assert not judge(make_answer("report.md"), scene._replace(tools=(failed,))).accepted  # perhaps it was denied


def test_without_a_record_of_the_tree_before_a_claim_is_unproven(root: Path) -> None:
    scene = look(root)._replace(before=None, is_lost=True)
    judgement = judge(make_answer("old.md"), scene)
    assert (judgement.name, judgement.unproven) == ("unproven", ("old.md",))
    assert "EVD005" in {finding.code for finding in judgement.diagnostics}


def test_an_unproven_return_is_partial_final_and_not_accepted(root: Path) -> None:
    scene = look(root, shared_tree=beside(root))
    (root / "report.md").write_text("# New\n")
    judgement = judge(make_answer("report.md"), scene)
    assert (judgement.name, judgement.accepted, judgement.is_final) == ("unproven", False, True)
    assert judgement.returned is not None
    assert judgement.claimed is not None
    assert (judgement.returned.status, judgement.claimed.status) == ("partial", "completed")
    assert {finding.severity for finding in judgement.diagnostics} == {"warning"}


def test_a_return_without_artifacts_is_never_unproven(root: Path) -> None:
    for scene in (look(root, shared_tree=beside(root)), look(root)._replace(before=None, is_lost=True)):
        judgement = judge_answer(
            make_answer(), scene, format="standard", expectation=Expectation(SESSION, "researcher"), words={}
        )  # fmt: skip
        assert judgement.name == "accepted"


def test_a_contradicted_claim_beside_an_unproven_one_is_fabricated(root: Path) -> None:
    scene = look(root, shared_tree=beside(root))
    (root / "report.md").write_text("# New\n")
    judgement = judge(make_answer("report.md", "old.md"), scene)
    assert (judgement.name, judgement.returned) == ("fabricated", None)
    assert {"EVD001", "EVD003"} <= {finding.code for finding in judgement.diagnostics}


def test_a_tool_record_attributes_a_file_in_a_shared_folder(root: Path) -> None:
    scene = look(root, shared_tree=beside(root), tools=(WROTE,))
    (root / "report.md").write_text("# New\n")
    assert judge(make_answer("report.md"), scene).name == "accepted"


def test_a_sibling_s_file_is_fabricated_only_if_all_own_writes_are_known(root: Path) -> None:
    """A shell command may have changed the same file, so only a record without one contradicts the claim."""
    (root / "own.md").write_text("# Mine\n")
    scene = look(root, shared_tree=beside(root, written=frozenset({"report.md"})))
    (root / "report.md").write_text("# By the sibling\n")
    own = ToolUse("Write", "write", "own.md")
    for tools, verdict in (
        (None, "unproven"),
        ((ToolUse("Bash", "run"),), "unproven"),
        ((own, ToolUse("Bash", "run")), "unproven"),
        ((own,), "fabricated"),
    ):
        assert judge(make_answer("report.md"), scene._replace(tools=tools)).name == verdict


def test_an_agent_that_remit_saw_late_is_not_called_false(root: Path) -> None:
    """Its file may be older than the snapshot and still its own work."""
    scene = look(root, is_late=True)
    assert judge(make_answer("old.md"), scene).name == "unproven"
    (root / "report.md").write_text("# New\n")
    assert judge(make_answer("report.md"), scene).name == "accepted"
    assert judge(make_answer("nowhere.md"), scene).name == "fabricated"


def test_an_edit_of_the_same_size_to_an_ignored_file_is_unproven(root: Path) -> None:
    (root / ".gitignore").write_text("conf.py\n")
    (root / "conf.py").write_text("RETRIES = 1\n")
    scene = look(root)
    (root / "conf.py").write_text("RETRIES = 2\n")
    judgement = judge(make_answer("conf.py"), scene)
    assert (judgement.name, judgement.diagnostics[0].code) == ("unproven", "EVD008")
    wrote = scene._replace(tools=(ToolUse("Write", "write", "conf.py"),))
    assert judge(make_answer("conf.py"), wrote).name == "accepted"


def test_a_tree_that_cannot_be_read_after_the_run_is_a_doubt(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    scene = look(root)
    (root / "report.md").write_text("# New\n")
    monkeypatch.setenv("PATH", str(root))
    judgement = judge(make_answer("report.md"), scene)
    assert (judgement.name, judgement.diagnostics[0].code) == ("unproven", "EVD008")
    assert "it isn't in PATH" in judgement.diagnostics[0].message


def test_a_tree_that_could_not_be_read_before_the_run_says_why(root: Path) -> None:
    scene = JudgingContext(str(root), None, is_lost=True, lost="the tree couldn't be read: git timed out after 60 s")
    (root / "report.md").write_text("# New\n")
    judgement = judge(make_answer("report.md"), scene)
    assert (judgement.name, judgement.diagnostics[0].code) == ("unproven", "EVD005")
    assert judgement.diagnostics[0].message.endswith(": the tree couldn't be read: git timed out after 60 s")


def test_unknown_is_not_none(root: Path) -> None:
    """A harness that does not tell which tools were used is held against nobody."""
    scene = look(root, tools=None)
    (root / "report.md").write_text("# New\n")
    assert judge(make_answer("report.md"), scene).accepted


def test_of_a_part_nothing_is_proved_and_it_is_only_told(root: Path) -> None:
    """C11."""
    judgement = judge(make_answer("old.md", status="partial"), look(root))
    assert judgement.accepted
    assert [finding.severity for finding in judgement.diagnostics if finding.code == "EVD001"] == ["warning"]


def test_in_a_shared_folder_a_change_without_a_tool_record_is_unproven(root: Path) -> None:
    scene = look(root, shared_tree=beside(root))
    (root / "report.md").write_text("# New\n")
    judgement = judge(make_answer("report.md"), scene)
    assert (judgement.name, judgement.unproven) == ("unproven", ("report.md",))
    assert [finding.code for finding in judgement.doubts] == ["EVD003"]
    partial = judge(make_answer("report.md", status="partial"), scene)
    assert (partial.name, [finding.code for finding in partial.diagnostics]) == ("accepted", ["EVD003"])


def test_what_changed_and_was_not_claimed_is_listed(root: Path) -> None:
    scene = look(root)
    (root / "report.md").write_text("# New\n")
    (root / "side.txt").write_text("x")
    judgement = judge(make_answer("report.md"), scene)
    comparison, unclaimed = compare_trees(scene, judgement.grades)
    assert comparison is not None
    assert [change.path for change in unclaimed] == ["side.txt"]


# --- the manifest ----------------------------------------------------------------------------------------------------

SENTENCE = "Research complete. See MANIFEST.jsonl for summary."


def make_line(topic: str, **more: object) -> str:
    entry = {
        "id": f"{topic}-2026-11-16", "file": f"{topic}.md", "title": topic, "date": "2026-11-16",
        "status": "complete", "topics": [topic], "key_findings": ["One is so.", "Two is so.", "Three is so."],
        "actionable": True, "needs_followup": [], "linked_tasks": [],
    }  # fmt: skip
    return json.dumps({**entry, **more}) + "\n"


def make_findings(root: Path, topic: str) -> None:
    sections = "## Summary\n\nIt is so. It is not otherwise.\n\n## Findings\n\n### One\n\nYes.\n\n"
    sections += "## Recommendations\n\n- Do it.\n\n## Sources\n\n- here\n\n## Linked Tasks\n\n- none\n"
    (root / f"{topic}.md").write_text(f"# {topic}\n\n{sections}")


def look_manifest(root: Path, **more: Any) -> JudgingContext:  # noqa: ANN401 - fields of Scene
    manifest = root / "MANIFEST.jsonl"
    manifest.write_text(make_line("old-topic"))
    make_findings(root, "old-topic")
    beginning = read_prefix(str(manifest))
    known = {"manifest_bytes": beginning.size_bytes, "manifest_sha256": beginning.sha256}
    return look(root, manifest=str(manifest), **known, **more)


def append(root: Path, line: str) -> None:
    with (root / "MANIFEST.jsonl").open("a") as file:
        file.write(line)


def test_only_a_line_that_was_appended_meanwhile_is_its_own(root: Path) -> None:
    judgement = judge(SENTENCE, look_manifest(root), format="manifest")
    assert (judgement.name, judgement.accepted) == ("missing", False)


def test_the_appended_line_is_the_return(root: Path) -> None:
    scene = look_manifest(root)
    make_findings(root, "cache")
    append(root, make_line("cache"))
    judgement = judge(SENTENCE, scene, format="manifest")
    assert judgement.accepted, judgement.diagnostics
    assert judgement.grades["cache.md"].grade == "changed"


@pytest.mark.parametrize("way", ["blank", "shorter", "one letter"])
def test_whoever_writes_the_manifest_anew_has_not_completed(root: Path, way: str) -> None:
    """R4.7: of the entries that were there before nobody would miss one until it is looked for."""
    scene, manifest = look_manifest(root), root / "MANIFEST.jsonl"
    old, entry = manifest.read_text(), make_line("cache")
    make_findings(root, "cache")
    kept = {"blank": "\n" * len(old), "shorter": "", "one letter": old.replace("One", "Ten")}
    manifest.write_text(kept[way] + entry)
    judgement = judge(SENTENCE, scene, format="manifest")
    assert (judgement.name, judgement.accepted) == ("fabricated", False)
    assert [finding.code for finding in judgement.diagnostics if finding.severity == "error"] == ["EVD007"]
    manifest.write_text(old + entry)  # put back as it was, in a file that was written anew
    assert judge(SENTENCE, scene, format="manifest").accepted


def test_that_the_manifest_was_written_anew_is_told_whatever_else_there_is_to_say(root: Path) -> None:
    scene = look_manifest(root)
    make_findings(root, "cache")
    (root / "MANIFEST.jsonl").write_text(make_line("cache", status="partial", needs_followup=["BLOCKED:time"]))
    judgement = judge("Research partial. See MANIFEST.jsonl for details.", scene, format="manifest")
    assert judgement.accepted
    assert ("EVD007", "warning") in {(finding.code, finding.severity) for finding in judgement.diagnostics}
    (root / "MANIFEST.jsonl").unlink()
    judgement = judge(SENTENCE, scene, format="manifest")
    assert judgement.name == "missing"
    assert {"EVD007", "RET081"} <= {finding.code for finding in judgement.diagnostics}


@pytest.mark.parametrize("first", ["complete", "blocked"])
@pytest.mark.parametrize("same", ["id", "file", "path"])
def test_two_entries_of_one_work_that_contradict_each_other_are_ambiguous(root: Path, first: str, same: str) -> None:
    """R4.5: in either order, and whichever the sentence agrees with."""
    scene = look_manifest(root)
    make_findings(root, "cache")
    names: dict[str, dict[str, object]] = {
        "id": {"file": "old-topic.md"}, "file": {"id": "c2-2026-11-16"},
        "path": {"id": "c2-2026-11-16", "output_file": "./cache.md", "file": None},
    }  # fmt: skip
    blocked = make_line("cache", status="blocked", needs_followup=["BLOCKED:no key"], **names[same])
    for line in (make_line("cache"), blocked) if first == "complete" else (blocked, make_line("cache")):
        append(root, line)
    judgement = judge(SENTENCE, scene, format="manifest")
    assert (judgement.name, judgement.accepted) == ("ambiguous", False)
    assert "RET083" in {finding.code for finding in judgement.diagnostics}


def test_whoever_says_less_after_more_is_believed_and_told(root: Path) -> None:
    scene = look_manifest(root)
    make_findings(root, "cache")
    append(root, make_line("cache"))
    append(root, make_line("cache", id="cache-2026-11-16-2", status="blocked", needs_followup=["BLOCKED:no key"]))
    judgement = judge("Research blocked. See MANIFEST.jsonl for blocker details.", scene, format="manifest")
    assert judgement.accepted
    assert ("RET083", "warning") in {(finding.code, finding.severity) for finding in judgement.diagnostics}


def test_entries_on_other_files_contradict_nobody(root: Path) -> None:
    scene = look_manifest(root)
    for topic in ("side", "cache"):
        make_findings(root, topic)
    append(root, make_line("side", status="blocked", needs_followup=["BLOCKED:no key"]))
    append(root, make_line("cache"))
    assert judge(SENTENCE, scene, format="manifest").accepted


@pytest.mark.parametrize("status", ["complete", "partial"])
def test_an_id_that_an_older_entry_has_is_sent_back(root: Path, status: str) -> None:
    """R4.9: of two entries with one id one is never found again; `remit findings validate` says so, too."""
    scene = look_manifest(root)
    make_findings(root, "cache")
    sentence = SENTENCE if status == "complete" else "Research partial. See MANIFEST.jsonl for details."
    changes: dict[str, object] = {"status": status, "needs_followup": ["BLOCKED:time"] * (status == "partial")}
    append(root, make_line("cache", **changes, id="old-topic-2026-11-16"))
    judgement = judge(sentence, scene, format="manifest")
    assert (judgement.name, judgement.accepted) == ("invalid", False)
    assert judgement.diagnostics[0].code == "MAN004"
    assert "is already used in line 1" in judgement.diagnostics[0].message
    assert "old-topic-2026-11-16-2" in judgement.diagnostics[0].hint
    manifest = root / "MANIFEST.jsonl"
    manifest.write_text(make_line("old-topic") + make_line("cache", **changes, id="old-topic-2026-11-16-2"))
    assert judge(sentence, scene, format="manifest").accepted


def test_of_lines_by_several_the_one_of_its_topic_or_task_is_its_own(root: Path) -> None:
    scene = look_manifest(root, shared_tree=beside(root), topic="cache")
    for topic in ("cache", "other"):
        make_findings(root, topic)
        append(root, make_line(topic))
    assert "cache.md" in judge(SENTENCE, scene, format="manifest").grades
    scene = scene._replace(topic="", task_number=7)
    assert not judge(SENTENCE, scene, format="manifest").accepted
    make_findings(root, "third")
    append(root, make_line("third", linked_tasks=["7"]))
    append(root, make_line("fourth"))
    assert "third.md" in judge(SENTENCE, scene, format="manifest").grades


def test_a_manifest_full_of_rubbish_is_no_return(root: Path) -> None:
    scene = look_manifest(root, topic="cache")
    append(root, "[" * 5000 + "\nnull\n3\n")
    assert not judge(SENTENCE, scene, format="manifest").accepted


def test_an_artifact_is_named_from_the_root_and_the_manifest_is_no_stray(root: Path) -> None:
    """R0.6: the entry names its file from the manifest's folder; whoever is handed it on knows the root only."""
    folder = root / "out"
    folder.mkdir()
    scene = look_manifest(folder)._replace(root=str(root), before=take_tree(Home(str(root)), str(root)))
    make_findings(folder, "cache")
    append(folder, make_line("cache"))
    (root / "stray.txt").write_text("x")
    judgement = judge(SENTENCE, scene, format="manifest")
    assert judgement.returned is not None
    assert [artifact.path for artifact in judgement.returned.artifacts] == ["out/cache.md"]
    assert judgement.grades["out/cache.md"].grade == "changed"
    assert [change.path for change in compare_trees(scene, judgement.grades)[1]] == ["stray.txt"]
    assert "out/MANIFEST.jsonl" in {change.path for change in compare_trees(scene, {})[1]}


def test_a_manifest_that_is_no_file_has_no_entry(root: Path) -> None:
    scene = look_manifest(root)
    (root / "MANIFEST.jsonl").unlink()
    (root / "MANIFEST.jsonl").mkdir()
    judgement = judge(SENTENCE, scene, format="manifest")
    assert (judgement.name, judgement.accepted) == ("missing", False)


def test_a_second_name_for_an_old_file_is_no_work(root: Path) -> None:
    scene = look(root)
    (root / "new.md").hardlink_to(root / "old.md")
    judgement = judge(make_answer("new.md"), scene)
    assert judgement.name == "unproven"
    assert "second name" in judgement.diagnostics[0].message


@pytest.mark.parametrize("link", ["file", "folder"])
def test_a_manifest_that_is_a_link_out_of_the_workspace_is_not_read(
    root: Path, tmp_path_factory: pytest.TempPathFactory, link: str
) -> None:
    outside = tmp_path_factory.mktemp("outside")
    scene = look_manifest(root)
    scene = scene._replace(manifest=str(root / "out" / "MANIFEST.jsonl")) if link == "folder" else scene
    manifest = Path(scene.manifest)
    if link == "file":
        moved = outside / "M"
        moved.write_bytes(manifest.read_bytes())
        manifest.unlink()
        manifest.symlink_to(moved)
    else:
        (outside / "MANIFEST.jsonl").write_text("")
        manifest.parent.symlink_to(outside)
    make_findings(manifest.parent, "cache")
    with manifest.open("a") as file:
        file.write(make_line("cache"))
    assert "cache" in manifest.read_text()
    judgement = judge(SENTENCE, scene, format="manifest")
    assert not judgement.is_final
    assert "EVD012" in {finding.code for finding in judgement.diagnostics}
    assert "leads out of the workspace through a link" in " ".join(each.message for each in judgement.diagnostics)
