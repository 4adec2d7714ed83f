"""Delegation (002): sessions, depth, paths, timeouts, the return, the five stages and their errors."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

import pytest

from tests.support.conformance_agents import DONE, prepare
from tests.support.conformance_project import ISSUED, codes, errors, judge
from tests.support.return_samples import DROP, fault, standard, stopped

if TYPE_CHECKING:
    from tests.support.conformance_project import Program, Project

conforms = pytest.mark.conforms
SESSION = re.compile(r"sess_\d{10}_[a-z0-9]{6}")


def find_session(program: Program) -> str:
    """The id that an agent was given."""
    return str(SESSION.findall(program.prompts[-1])[0])


# --- sessions, depth, paths -------------------------------------------------------------------------------------------


@conforms("002-01", "002-03", "002-21")
def test_each_run_has_an_id_that_is_passed_returned_and_kept(project: Project) -> None:
    given = set()
    for _ in range(2):
        program = project.program(DONE)
        result = project.run(program)
        session = find_session(program)
        assert session in json.dumps(result)
        shown = project.json("show", session)["run"]
        assert (shown["session_id"], shown["depth"]) == (session, 1)
        assert shown["path"][0] == "orchestrator"
        given.add(session)
    assert len(given) == 2


@conforms("002-02")
def test_the_standards_own_example_is_an_id() -> None:
    verdict = judge(standard({"/metadata/session_id": "sess_20251226_abc123"}))
    assert verdict.accepted
    assert not [each for each in verdict.diagnostics if "session" in each.message]


@conforms("001-52", "001-53", "002-04", "002-06", "002-39")
def test_a_chain_of_three_runs_and_a_fourth_or_a_cycle_does_not(project: Project) -> None:
    """R2.3 R2.5: each level gets its own depth and path from the ledger; the refusals say which rule it was."""
    names = ["lead", "researcher", "searcher", "helper"]
    for name in names:
        targets = ", ".join(names)
        project.add_agent(name, "utility", f"delegation: {{max_depth: 3, can_delegate_to: [{targets}]}}\n")
    helper = project.program("answer()\n")
    searcher = call(project, {"helper": helper})
    researcher = call(project, {"lead": helper, "researcher": helper, "searcher": searcher})
    lead = call(project, {"researcher": researcher})
    assert project.run(lead, agent="lead")["status"] == "completed"
    for depth, program in enumerate((lead, researcher, searcher), 1):
        shown = project.json("show", find_session(program))["run"]
        assert (shown["depth"], shown["path"]) == (depth, ["orchestrator", *names[:depth]])
        assert shown["deadline_ms"] > shown["created_ms"]
    assert helper.prompts == []
    refused = [json.loads(err)["error"]["code"] for _, code, _, err in researcher.calls + searcher.calls if code == 2]
    assert refused == ["CYCLE_DETECTED", "CYCLE_DETECTED", "MAX_DEPTH_EXCEEDED"]


@conforms("002-36")
def test_an_error_goes_up_the_chain_and_into_the_log(project: Project) -> None:
    """R2.17: the caller gets it in the result, and errors.json has it with its session, path and depth."""
    for name in ("lead", "builder"):
        project.add_agent(name, "utility", "delegation: {max_depth: 3, can_delegate_to: [builder]}\n")
    error = {"type": "build_error", "message": "3 type errors.", "code": "BUILD_ERROR", "recoverable": True,
             "recommendation": "Fix them."}  # fmt: skip
    builder = project.program(f"answer(status='failed', errors=[{error!r}])\n")
    lead = call(project, {"builder": builder})
    project.run(lead, agent="lead")
    ((_, code, out, _),) = lead.calls
    assert (code, json.loads(out)["errors"][0]["code"]) == (1, "BUILD_ERROR")
    (group,) = (each for each in project.json("errors", "list")["items"] if each["code"] == "BUILD_ERROR")
    (logged,) = group["records"]
    assert logged["session_id"] == find_session(builder)
    assert (logged["delegation_path"], logged["failed_at_depth"]) == (["orchestrator", "lead", "builder"], 2)


def call(project: Project, programs: dict[str, Program]) -> Program:
    """An agent that calls others, one after the other."""
    calls = [f"remit('run', {name!r}, 'x', '--command', {each.command!r}, '--json')" for name, each in programs.items()]
    return project.program("\n".join([*calls, "answer()", ""]))


# --- timeouts ---------------------------------------------------------------------------------------------------------


@conforms("002-07")
@pytest.mark.parametrize(
    ("kind", "seconds"),
    [("research", 3600), ("planning", 1800), ("implementation", 7200), ("utility", 300), ("review", 3600)],
)
def test_each_kind_of_work_has_its_timeout(project: Project, kind: str, seconds: int) -> None:
    project.add_agent("worker", kind)
    program = project.program(DONE)
    project.run(program, agent="worker")
    shown = project.json("show", find_session(program))["run"]
    assert (shown["deadline_ms"] - shown["created_ms"]) / 1000 == pytest.approx(seconds, abs=60)


@conforms("002-08")
@pytest.mark.parametrize("given", ["0", "-1", "never", "inf"])
def test_no_run_is_without_a_timeout(project: Project, given: str) -> None:
    program = project.program(DONE)
    ended = project("run", "x", "--command", program.command, "--timeout", given)
    assert (ended.code, program.prompts) == (2, [])


@conforms("002-09", "002-11", "002-12", "002-23", "002-35")
def test_a_timeout_gives_back_what_is_on_disk(project: Project) -> None:
    """R2.7: `partial` with `TIMEOUT`, recoverable, with the files, and the task still in progress."""
    prepare(project)
    late = project.program("write(artifact, 'half')\ntime.sleep(60)\n")
    result = project.work("research", "1", late, "--timeout", "1")
    assert result["status"] == "partial"
    (error,) = result["errors"]
    assert (error["code"], error["recoverable"]) == ("TIMEOUT", True)
    assert "remit" in error["recommendation"]
    assert [each["path"] for each in result["artifacts"]] == ["specs/1_cache_the_uploads/reports/research-001.md"]
    assert project.get_task()["status"] == "researching"


# --- the return -------------------------------------------------------------------------------------------------------


@conforms("002-14")
def test_another_case_of_a_status_word_is_repaired_and_recorded(subtests: pytest.Subtests) -> None:
    """R2.9."""
    for word in ("Completed", "COMPLETED"):
        with subtests.test(word=word):
            verdict = judge(standard({"/status": word}))
            assert not verdict.accepted or verdict.repairs
            assert judge(standard()).repairs == ()


@conforms("002-15")
def test_a_summary_is_plain_text() -> None:
    assert not judge(standard({"/summary": " "})).accepted
    plain = codes(judge(standard()))
    for summary in (
        "Wrote the plan 🎉. It has 3 phases.",
        "Wrote **the plan**. It has 3 phases.",
        "# Plan\nDone. Yes.",
    ):
        assert codes(judge(standard({"/summary": summary}))) - plain, summary


@conforms("002-16")
def test_artifacts_are_relative_exist_and_fit_their_type(project: Project) -> None:
    project.put("specs/7_cache/plans/implementation-001.md", "# Plan\n")
    assert judge(standard(), root=project.root).accepted
    assert not judge(standard({"/artifacts/0/path": "/tmp/plan.md"}), root=project.root).accepted  # noqa: S108
    assert not judge(standard({"/artifacts/0/path": "specs/none.md"}), root=project.root).accepted
    assert errors(judge(standard({"/artifacts/0/type": "poem"}), root=project.root)) == ["/artifacts/0/type"]


@conforms("002-19")
def test_an_errors_code_is_kept_or_derived_from_its_type() -> None:
    for given, expected in (("BUILD_ERROR", "BUILD_ERROR"), ("OWN_CODE", "OWN_CODE"), (DROP, "TIMEOUT")):
        change = {} if given is DROP else {"/code": given}
        returned = judge(stopped(changes={"/errors": [fault(change)]})).returned
        assert returned is not None
        assert returned.errors[0].code == expected


@conforms("002-25")
def test_each_rule_of_stage_4_refuses_what_breaks_it(subtests: pytest.Subtests) -> None:
    messages: list[str | dict[str, Any]] = [
        "All done.",
        "[1, 2]",
        standard({"/metadata/session_id": "sess_1763200000_zzzzzz"}),
        standard({"/summary": DROP}),
        standard({"/status": "done"}),
        standard({"/artifacts/0/path": "../plan.md"}),
        stopped("failed", {"/errors": []}),
    ]
    for message in messages:
        with subtests.test(message=message):
            assert judge(standard(), session_id=ISSUED).accepted
            assert not judge(message, session_id=ISSUED).accepted


@conforms("002-26")
def test_a_return_that_fails_validation_is_kept_for_debugging(project: Project) -> None:
    project.add_agent("researcher")
    program = project.program("print('I looked at everything and it is fine.')\n")
    result = project.run(program, agent="researcher")
    assert result["status"] == "failed"
    assert "Fix researcher subagent return format" in json.dumps(result)
    shown = project("show", find_session(program), "--full").text
    assert "I looked at everything and it is fine." in shown
    assert any(each["code"] == "VALIDATION_FAILED" for each in project.json("errors", "list")["items"])


@conforms("002-27")
@pytest.mark.parametrize(
    ("status", "after"),
    [("completed", "researched"), ("partial", "researching"), ("failed", "researching"), ("blocked", "blocked")],
)
def test_each_status_has_its_effect_on_the_task(project: Project, status: str, after: str) -> None:
    prepare(project)
    paths = "" if status in ("failed", "blocked") else "write(artifact, session), "
    result = project.work("research", "1", project.program(f"answer({paths}status={status!r})\n"))
    assert result["status"] == status
    assert project.get_task()["status"] == after
    if status == "blocked":
        assert "The key is missing." in (project.root / "specs/TODO.md").read_text()


@conforms("002-31")
def test_a_subagent_can_check_its_return_before_it_sends_it(project: Project) -> None:
    body = """
import contextlib, io
def check(**changes):
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        answer(*paths, **changes)
    write("../draft.md", printed.getvalue())
    return remit("check", "../draft.md", "--session", session).returncode

paths = [write("report.md", session)]
write("../codes.json", json.dumps([check(status="done"), check()]))
os.remove("../draft.md")
answer(*paths)
"""
    (project.root / "work").mkdir()
    assert project.run(project.program(body))["status"] == "completed"
    assert json.loads((project.root.parent / "codes.json").read_text()) == [1, 0]


@conforms("002-37")
@pytest.mark.parametrize("recoverable", [True, False])
def test_the_user_gets_the_recommendation_or_is_asked_for(project: Project, *, recoverable: bool) -> None:
    """R2.18."""
    error = {"type": "execution", "message": "The key is missing.", "recoverable": recoverable,
             "recommendation": "Set the key."}  # fmt: skip
    ended = project("run", "x", "--command", project.program(f"answer(status='failed', errors=[{error!r}])\n").command)
    assert ended.code == 1
    assert ("Set the key." if recoverable else "The key is missing.") in ended.text
