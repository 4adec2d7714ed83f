"""The return (000): each item by the messages that a caller and its subagent exchange."""

from __future__ import annotations

import json
from itertools import product
from typing import TYPE_CHECKING

import pytest

from tests.support.conformance_project import ISSUED, codes, errors, judge
from tests.support.return_samples import DROP, fault, fenced, pretty, standard, stopped

if TYPE_CHECKING:
    from tests.support.conformance_project import Project

conforms = pytest.mark.conforms


@conforms("000-03", "000-22")
def test_four_status_words_are_accepted_and_no_other(subtests: pytest.Subtests) -> None:
    for word in ("completed", "partial", "failed", "blocked"):
        with subtests.test(word=word):
            assert judge(stopped(word) if word != "completed" else standard()).accepted
            for other in (f"{word}!", "success", "complete", "", 1, None):
                refused = judge(standard({"/status": other}))
                assert not refused.accepted
                assert "/status" in errors(refused)


@conforms("000-04")
def test_what_can_follow_depends_on_the_status(project: Project) -> None:
    """R0.14: the command offers a resume of partial work and none of failed work; blocked work is tried again."""
    body = "answer(*([] if status == 'failed' else [write('report.md', session)]), status=status)\n"
    for status in ("partial", "blocked", "failed"):
        result = project.run(project.program(f"status = {status!r}\n{body}"))
        assert result["status"] == status
        refused = project("resume", "-").err.decode()
        assert ("can't be resumed" in refused) is (status == "failed"), refused
        assert project("retry", "-", "--json").code == 1


@conforms("000-05")
def test_the_summary_is_text(subtests: pytest.Subtests) -> None:
    for value in (DROP, 7, None, ["text"], ""):
        with subtests.test(value=value):
            refused = judge(standard({"/summary": value}))
            assert not refused.accepted
            assert any(place in ("/summary", "") for place in errors(refused))


@conforms("000-07")
def test_a_summary_has_2_to_5_sentences(subtests: pytest.Subtests) -> None:
    """R0.4: another number is a warning."""
    for count in (1, 2, 5, 6):
        with subtests.test(count=count):
            verdict = judge(standard({"/summary": " ".join(f"Part {each} is done." for each in range(count))}))
            assert verdict.accepted
            assert ("RET032" in codes(verdict)) is (count not in range(2, 6))


@conforms("000-08")
def test_a_caller_gets_a_small_result_of_a_long_answer(project: Project) -> None:
    body = """
steps = ["Look at file %d, which is long and has many words." % each for each in range(200)]
paths = [write("notes/%d.md" % each) for each in range(3)]
answer(*paths, next_steps=" ".join(steps))
"""
    result = project.run(project.program(body))
    assert result["status"] == "completed"
    assert len(json.dumps(result)) < 4000
    assert [each["path"] for each in result["artifacts"]] == ["notes/0.md", "notes/1.md", "notes/2.md"]


@conforms("000-09")
def test_artifacts_is_a_list(subtests: pytest.Subtests) -> None:
    for value in (DROP, {}, "report.md", None):
        with subtests.test(value=value):
            refused = judge(standard({"/artifacts": value}))
            assert not refused.accepted
            assert errors(refused)


@conforms("000-11")
def test_an_artifact_has_one_of_the_listed_types() -> None:
    for kind in ("plan", "report", "summary", "implementation", "documentation"):
        assert judge(standard({"/artifacts/0/type": kind})).accepted
    refused = judge(standard({"/artifacts/0/type": "poem"}))
    assert errors(refused) == ["/artifacts/0/type"]


@conforms("000-12")
def test_an_artifacts_path_stays_in_the_project(subtests: pytest.Subtests) -> None:
    for path in ("/etc/passwd", "../notes.md", "a/../../b.md", "~/x.md"):
        with subtests.test(path=path):
            assert errors(judge(standard({"/artifacts/0/path": path}))) == ["/artifacts/0/path"]
            assert judge(standard({"/artifacts/0/path": ".opencode/specs/1_x/plans/implementation-001.md"})).accepted


@conforms("000-14")
def test_metadata_names_session_agent_depth_and_path(subtests: pytest.Subtests) -> None:
    """R0.7: a missing one is named."""
    for key in ("session_id", "agent_type", "delegation_depth", "delegation_path"):
        with subtests.test(key=key):
            told = [each for each in judge(standard({f"/metadata/{key}": DROP})).diagnostics if key in each.message]
            assert told
            wrong = judge(standard({f"/metadata/{key}": {"not": "this"}}))
            assert errors(wrong) == [f"/metadata/{key}"]


@conforms("000-16")
def test_work_that_is_not_completed_says_why(subtests: pytest.Subtests) -> None:
    for status, value in product(("partial", "failed", "blocked"), (DROP, [], None)):
        with subtests.test(status=status, value=value):
            refused = judge(stopped(status, {"/errors": value}))
            assert not refused.accepted


@conforms("000-17")
def test_an_error_has_its_four_fields(subtests: pytest.Subtests) -> None:
    for key in ("type", "message", "recoverable", "recommendation"):
        with subtests.test(key=key):
            assert judge(stopped()).accepted
            assert not judge(stopped(changes={"/errors": [fault({f"/{key}": DROP})]})).accepted
            assert not judge(stopped(changes={"/errors": [fault({"/recoverable": "yes"})]})).accepted


@conforms("000-18")
def test_any_error_type_is_read() -> None:
    verdict = judge(stopped(changes={"/errors": [fault({"/type": "gremlins"})]}))
    assert verdict.accepted
    assert verdict.returned is not None
    assert verdict.returned.errors[0].type == "gremlins"


@conforms("000-19")
def test_next_steps_is_text_or_absent() -> None:
    assert judge(standard({"/next_steps": "Review the plan."})).accepted
    assert judge(standard()).accepted
    assert errors(judge(standard({"/next_steps": 5}))) == ["/next_steps"]


@conforms("000-20")
def test_a_return_is_one_json_object() -> None:
    """R0.1: bare, fenced or within prose; text, a list or half an object is none."""
    for message in (pretty(standard()), fenced(standard()), f"Done.\n\n{pretty(standard())}\n\nThat is all."):
        assert judge(message).accepted, message
    for message in ("All done!", "[]", "{}", pretty([standard()][0])[:90]):
        assert not judge(message).accepted, message


@conforms("000-23")
def test_the_session_id_is_the_issued_one(project: Project) -> None:
    assert judge(standard(), session_id=ISSUED).accepted
    assert not judge(standard(), session_id="sess_1763200000_zzzzzz").accepted
    invented = project.program("session = 'sess_1763200000_zzzzzz'\nanswer(write('report.md'))")
    assert project.run(invented)["status"] == "failed"


@conforms("000-24")
def test_the_files_of_a_completed_return_are_on_disk(project: Project) -> None:
    project.put("specs/7_cache/plans/implementation-001.md", "# Plan\n")
    assert judge(standard(), root=project.root).accepted
    assert "RET051" in codes(judge(standard({"/artifacts/0/path": "specs/no.md"}), root=project.root), "error")
    result = project.run(project.program("answer('report.md')"))
    assert result["status"] != "completed"


@conforms("000-25", "000-26")
def test_a_return_that_fails_validation_becomes_failed_and_is_logged(project: Project) -> None:
    project.add_agent("researcher")
    result = project.run(project.program("print('I did it all.')"), agent="researcher")
    assert result["status"] == "failed"
    assert any("return" in each["message"] for each in result["errors"])
    assert "return" in json.dumps(project.json("errors", "list"))
    assert all(note.partition(": ")[2] for note in result["remit"].get("notes", []))  # the log itself needs no note


@conforms("000-27")
def test_the_recommendation_is_to_fix_the_agents_return(project: Project) -> None:
    project.add_agent("researcher")
    result = project.run(project.program("print('I did it all.')"), agent="researcher")
    assert "Fix researcher subagent return format" in json.dumps(result)


@conforms("000-15")
def test_what_an_agent_counts_reaches_the_caller_and_the_task(project: Project) -> None:
    """D4 S1: the optional fields of the metadata come back, and state.json has them."""
    project.add_task()
    project.add_agent("researcher", "research")
    project.add_agent("planner", "planning")
    counted = "answer(write(artifact, session), metadata={})\n"
    found = project.work("research", "1", project.program(counted.format("{'findings_count': 4}")))
    assert found["metadata"]["findings_count"] == 4
    counts = {"phase_count": 3, "estimated_hours": 4.5}
    planned = project.work("plan", "1", project.program(counted.format(counts)))
    assert {name: planned["metadata"][name] for name in counts} == counts
    task = project.get_task()
    assert [task[name] for name in ("findings_count", *counts)] == [4, 3, 4.5]
