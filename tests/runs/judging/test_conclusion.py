"""Endings: each is told apart, what is on disk is saved, and nothing becomes completed that was not."""

import re
from itertools import product
from typing import Any, get_args

import pytest
from inline_snapshot import snapshot

from remit.evidence.artifact_grades import ArtifactGrade
from remit.evidence.tree import Comparison, TreeChange
from remit.ledger.runs import Run
from remit.model import Artifact, ArtifactFacts, Diagnostic, Return, VerdictName
from remit.result import CheckResult
from remit.runners import RunOutput, Usage
from remit.runners.protocol import Cause
from remit.runs.checks.accept import CheckedTree
from remit.runs.checks.diagnostics import protected_changed
from remit.runs.judging.attempt import HANDBACK, Attempt
from remit.runs.judging.conclusion import MAX_SALVAGED, Conclusion, RunEvidence, add_usage, conclude
from remit.runs.judging.judge import AttemptVerdict, author_unknown

DONE = Return("completed", "Wrote it. It is there.", (Artifact("report", "report.md"),), agent="researcher")
PART = DONE._replace(status="partial", next_steps=("Write the rest.",))
ERROR = Diagnostic("RET001", "error", "there is no return", "Send one.")


def make_changes(*paths: str) -> Comparison:
    return Comparison(created=tuple(TreeChange(path, "created", 3, "0" * 64) for path in paths))


def judge(returned: Return | None = None, verdict: str = "accepted", **more: Any) -> AttemptVerdict:  # noqa: ANN401 - its fields
    given: Any = verdict
    return AttemptVerdict(given, returned=returned, claimed=returned, **more)


def end(
    stop_reason: str = "exited", *, handed_back: bool = False, can_resume: bool = False, in_process: bool = False,
    **more: Any,  # noqa: ANN401 - fields of Attempt and RunEvidence
) -> Conclusion:  # fmt: skip
    details = {"settings": {"in_process": True}} if in_process else {}
    run = Run("sess_1", "researcher", 1, ("orchestrator", "researcher"), details=details)
    evidence = RunEvidence(**{name: more.pop(name) for name in RunEvidence._fields if name in more})
    attempts = [Attempt(HANDBACK)] if handed_back else []
    return conclude(run, [*attempts, Attempt(stop_reason, number=1, **more)], evidence, can_resume=can_resume)


def make_unproven(**more: Any) -> AttemptVerdict:  # noqa: ANN401 - fields of AttemptVerdict
    doubt = author_unknown(["report.md"])
    given: dict[str, Any] = {"claimed": DONE, "diagnostics": (doubt,), "doubts": (doubt,), "unproven": ("report.md",)}
    return AttemptVerdict("unproven", returned=DONE._replace(status="partial"), **(given | more))


def test_an_unproven_return_is_partial_with_what_could_not_be_verified() -> None:
    told = end(verdict=make_unproven(), exit_code=0)
    assert (told.stop_reason, told.verdict, told.status) == ("exited", "unproven", "partial")
    assert (told.summary, told.artifacts) == (DONE.summary, DONE.artifacts)
    assert (told.unsure, told.made, told.entry) == (("report.md",), (), None)  # neither linked nor committed
    (fault,) = told.errors
    assert (fault.type, fault.code, fault.recoverable) == ("unproven", "UNPROVEN", True)
    assert "'report.md' changed while another run was active" in fault.message
    assert told.next_steps == (fault.recommendation,)


@pytest.mark.parametrize("failed", [{"exit_code": 1}, {"output": RunOutput("text", cause="crash")}])
def test_an_unproven_completed_of_a_program_that_failed_is_refused(failed: dict[str, Any]) -> None:
    told = end(verdict=make_unproven(), **failed)
    assert (told.status, told.verdict) == ("failed", "ambiguous")


def test_an_unproven_completed_that_was_handed_back_is_no_timeout() -> None:
    assert end(verdict=make_unproven(), exit_code=0, handed_back=True).stop_reason == "exited"


def test_an_unproven_completed_that_was_cut_short_is_summarized_by_remit() -> None:
    told = end("timeout", verdict=make_unproven())
    assert (told.status, told.verdict, told.errors[0].code) == ("partial", "unproven", "TIMEOUT")
    assert told.summary != DONE.summary


def test_a_return_that_holds_is_passed_on_as_it_is() -> None:
    told = end(verdict=judge(DONE), exit_code=0)
    assert (told.stop_reason, told.verdict, told.status) == ("exited", "accepted", "completed")
    assert told.summary == DONE.summary
    assert told.artifacts == DONE.artifacts
    assert not told.errors


@pytest.mark.parametrize(
    ("stop_reason", "code"),
    [("timeout", "TIMEOUT"), ("budget", "BUDGET_EXCEEDED"), ("orphaned", "ORPHANED")],
)
def test_what_was_cut_short_is_a_part_with_what_is_on_disk(stop_reason: str, code: str) -> None:
    """R2.7."""
    told = end(stop_reason, comparison=make_changes("notes.md", "src/a.py"))
    assert (told.stop_reason, told.status) == (stop_reason, "partial")
    assert told.errors[0].code == code
    assert told.errors[0].recoverable
    assert [(each.path, each.kind) for each in told.artifacts] == [
        ("notes.md", "documentation"),
        ("src/a.py", "implementation"),
    ]


@pytest.mark.parametrize(
    ("stop_reason", "resumed", "retried"),
    [
        (
            "timeout",
            "Resume it with more time (--timeout): remit resume sess_1",
            "Retry it with more time (--timeout): remit retry sess_1",
        ),
        (
            "budget",
            "Resume it with a larger budget: remit resume sess_1",
            "Retry it with a larger budget: remit retry sess_1",
        ),
        ("cancelled", "Resume it: remit resume sess_1", "Retry it: remit retry sess_1"),
        (
            "orphaned",
            "Check what the run has changed, then resume it: remit resume sess_1",
            "Check what the run has changed, then retry it: remit retry sess_1",
        ),
    ],
)
def test_only_what_can_be_resumed_is_offered_to_be(stop_reason: str, resumed: str, retried: str) -> None:
    """R0.14."""
    left = make_changes("notes.md")
    told = end(stop_reason, comparison=left, can_resume=True)
    assert (told.errors[0].recommendation, told.next_steps) == (resumed, (resumed,))
    assert end(stop_reason, comparison=left).errors[0].recommendation == retried
    assert "its program" in end(stop_reason, comparison=left, in_process=True).errors[0].recommendation


def test_what_failed_is_offered_to_be_begun_anew_only() -> None:
    """R0.14."""
    assert end("cancelled", can_resume=True).next_steps == ("Retry it: remit retry sess_1",)


def test_a_model_that_did_not_answer_until_the_end_is_named() -> None:
    told = end("timeout", output=RunOutput(cause="api", trouble="its model's server did not answer: busy"))
    assert told.errors[0].message == snapshot("its time was up: its model's server did not answer: busy")
    told = end("timeout", output=RunOutput(cause="no_answer", trouble="it was ended before its final message"))
    assert told.errors[0].message == "its time was up"


def test_a_timeout_that_left_nothing_is_a_part_still_and_a_cancelled_one_is_not() -> None:
    """C11, R0.14."""
    assert end("timeout").status == "partial"
    assert end("cancelled").status == "failed"
    assert end("cancelled").errors[0].code == "CANCELLED"
    assert end("cancelled", comparison=make_changes("a.md")).status == "partial"


def test_an_agent_that_said_completed_and_then_hung_is_a_part() -> None:
    told = end("timeout", verdict=judge(DONE), comparison=make_changes("report.md"))
    assert told.status == "partial"
    assert told.errors[0].code == "TIMEOUT"
    assert [each.path for each in told.artifacts] == ["report.md"]


def test_where_others_worked_too_only_its_own_files_are_saved() -> None:
    changes = make_changes("mine.md", "theirs.md")
    assert end("timeout", comparison=changes, is_shared=True).artifacts == ()
    told = end("timeout", comparison=changes, is_shared=True, written=frozenset({"mine.md"}))
    assert [each.path for each in told.artifacts] == ["mine.md"]


def test_of_very_many_files_some_are_saved() -> None:
    told = end("timeout", comparison=make_changes(*(f"f{number}.py" for number in range(500))))
    assert len(told.artifacts) == MAX_SALVAGED


def test_what_was_handed_back_says_that_the_time_was_up() -> None:
    told = end(verdict=judge(PART), exit_code=0, handed_back=True)
    assert (told.stop_reason, told.status) == ("timeout", "partial")
    assert told.errors[0].code == "TIMEOUT"
    assert told.summary == PART.summary
    assert end(verdict=judge(DONE), exit_code=0, handed_back=True).status == "completed"


def test_completed_with_an_exit_code_is_not_believed() -> None:
    told = end(verdict=judge(DONE), exit_code=3)
    assert (told.stop_reason, told.status, told.verdict) == ("crashed", "failed", "ambiguous")
    assert "exit code 3" in told.errors[0].message


def test_completed_at_the_end_of_more_than_was_read_is_not_believed() -> None:
    """A return that was cut off may have said failed; what is not completed is believed."""
    cut = RunOutput("x", cause="cut", trouble="it printed more than is read")
    told = end(verdict=judge(DONE), output=cut, exit_code=0)
    assert (told.stop_reason, told.status, told.verdict) == ("exited", "failed", "ambiguous")
    assert "more than is read" in told.errors[0].message
    assert end(verdict=judge(PART), output=cut, exit_code=0).status == "partial"


def test_an_agent_that_a_signal_ended_has_crashed_whatever_it_printed() -> None:
    killed = RunOutput("hello", cause="crash", trouble="the program was ended by SIGKILL")
    for judgement in (judge(DONE), judge(None, "invalid", diagnostics=(ERROR,)), judge(None, "missing")):
        told = end("crashed", verdict=judgement, output=killed, exit_code=137)
        assert (told.stop_reason, told.status, told.errors[0].code) == ("crashed", "failed", "AGENT_KILLED")
        assert "SIGKILL" in told.errors[0].message
        assert told.diagnostics == judgement.diagnostics
    told = end("crashed", verdict=judge(PART), output=killed, exit_code=137)
    assert (told.stop_reason, told.status, told.summary) == ("exited", "partial", PART.summary)


def test_an_exit_code_is_told_beside_what_is_wrong_with_the_words() -> None:
    words = RunOutput("hello", trouble="the program ended with exit code 3: no key")
    told = end(verdict=judge(None, "missing", diagnostics=(ERROR,)), output=words, exit_code=3)
    assert (told.stop_reason, told.errors[0].code, told.diagnostics) == ("crashed", "AGENT_FAILED", (ERROR,))
    assert told.errors[0].message == snapshot("the program ended with exit code 3: no key")
    told = end(verdict=judge(None, "invalid", diagnostics=(ERROR,)), output=words, exit_code=3)
    assert (told.stop_reason, told.verdict, told.errors[0].code) == ("exited", "invalid", "VALIDATION_FAILED")
    assert told.errors[0].message == snapshot("there is no return; and the program ended with exit code 3: no key")


def test_a_bad_return_is_failed_with_what_is_wrong_and_whose_format_to_fix() -> None:
    """R0.13, R2.13."""
    told = end(verdict=judge(None, "invalid", diagnostics=(ERROR,)), output=RunOutput("done!"), exit_code=0)
    assert (told.stop_reason, told.verdict, told.status) == ("exited", "invalid", "failed")
    assert told.errors[0].code == "VALIDATION_FAILED"
    assert told.errors[0].recommendation == "Fix researcher subagent return format"
    [how] = told.next_steps  # whoever has never seen that format is told where it is
    assert "remit return prompt --format standard" in how
    assert "remit check" in how
    assert told.diagnostics == (ERROR,)


def test_a_claim_that_is_not_borne_out_is_fabricated() -> None:
    claimed = AttemptVerdict("fabricated", (ERROR,), None, DONE)
    told = end(verdict=claimed, output=RunOutput("{}"), exit_code=0)
    assert (told.verdict, told.status) == ("fabricated", "failed")
    assert told.errors[0].code == "FABRICATED"
    assert told.artifacts == DONE.artifacts


@pytest.mark.parametrize(
    ("cause", "stop_reason", "code"),
    [
        ("crash", "crashed", "AGENT_FAILED"),
        ("api", "crashed", "MODEL_API_FAILED"),
        ("no_answer", "crashed", "NO_ANSWER"),
        ("refused", "rejected", "REFUSED"),
        ("turns", "budget", "BUDGET_EXCEEDED"),
        ("budget", "budget", "BUDGET_EXCEEDED"),
    ],
)
def test_an_agent_that_could_not_answer_says_why(cause: Cause, stop_reason: str, code: str) -> None:
    told = end(output=RunOutput(cause=cause, trouble="the server said 529"), exit_code=1)
    assert (told.stop_reason, told.errors[0].code) == (stop_reason, code)
    assert "529" in told.errors[0].message


def test_only_an_accepted_return_that_ended_well_is_ever_completed() -> None:
    endings = ("exited", "timeout", "cancelled", "budget", "orphaned", "rejected")
    verdicts = get_args(VerdictName)
    causes: tuple[Any, ...] = ("", "crash", "api", "turns", "budget", "refused", "no_answer")
    tried = 0
    for stop_reason, verdict, cause, code in product(endings, verdicts, causes, (0, 1, 137, None)):
        accepted = verdict in ("accepted", "repaired")
        judgement = judge(DONE if accepted else None, verdict)
        if verdict == "unproven":
            judgement = make_unproven()
        told = end(stop_reason, verdict=judgement, output=RunOutput("text", cause=cause), exit_code=code)
        tried += 1
        if told.status == "completed":
            assert stop_reason == "exited"
            assert accepted
            assert not cause
            assert code in (0, None)
        else:
            assert told.errors
    assert tried == 6 * 9 * 7 * 4


def list_lowered() -> dict[str, Conclusion]:
    """A conclusion for each way in which Remit makes a result partial."""
    left, good = make_changes("notes.md"), judge(DONE)
    failed = CheckResult("tests", "failed", "exit code 1", "pytest -q", before="passed")
    typed, missing = (
        CheckResult("make test", "failed", "exit code 2", "make test"),
        CheckResult("lint", "not run", "why"),
    )
    weakened = CheckedTree(diagnostics=(protected_changed("tests", ["pytest.ini"]),), is_weakened=True)
    places: dict[str, dict[str, Any]] = {"": {}, "resumable ": {"can_resume": True}, "function ": {"in_process": True}}
    found = {}
    for place, how in places.items():
        for stop_reason in ("timeout", "cancelled", "budget", "orphaned"):
            found[f"{place}{stop_reason}"] = end(stop_reason, comparison=left, **how)
        found[f"{place}handed back"] = end(handed_back=True, verdict=judge(PART), exit_code=0, **how)
        found[f"{place}turns"] = end(output=RunOutput(cause="turns", trouble="no turns left"), comparison=left, **how)
        found[f"{place}unproven"] = end(verdict=make_unproven(), exit_code=0, **how)
        found[f"{place}unproven work"] = end(verdict=make_unproven(unproven=()), exit_code=0, **how)
        for name, checked in (
            ("failed", CheckedTree((failed,))), ("typed", CheckedTree((typed,))), ("both", CheckedTree((failed, typed))),
            ("not run", CheckedTree((missing,))), ("weakened", weakened),
        ):  # fmt: skip
            found[f"{place}check {name}"] = end(verdict=good, exit_code=0, checks=checked, **how)
    return found


def test_whatever_remit_lowers_to_partial_names_the_next_command() -> None:
    """The first next step names a command, and so does the recommendation of the first error."""
    lowered = list_lowered()
    assert {each.status for each in lowered.values()} == {"partial"}
    command = re.compile(r"remit (?:show|resume|retry) sess_1|remit checks|make test")
    without = {
        name for name, each in lowered.items()
        if not command.search(each.next_steps[0]) or each.next_steps[0] != each.errors[0].recommendation
        if not (name.endswith("handed back") and command.search(each.errors[0].recommendation))
    }  # fmt: skip
    assert without == set()
    assert "run remit checks" in lowered["check both"].next_steps[0]
    assert lowered["check typed"].next_steps[0].startswith("Fix it, then run make test; or run the agent again: remit")
    assert "remit retry" not in "".join(lowered["function check failed"].next_steps)
    codes = {each.errors[0].code for each in lowered.values()}
    assert codes == {"TIMEOUT", "CANCELLED", "BUDGET_EXCEEDED", "ORPHANED", "UNPROVEN", "CHECK_FAILED", "CHECK_NOT_RUN",
                     "CHECK_WEAKENED"}  # fmt: skip


def test_usage_adds_up_and_what_nobody_tells_stays_unknown() -> None:
    assert add_usage(Usage(1, 2, None, None), Usage(3, None, 4, None)) == Usage(4, 2, 4, None)


def test_of_what_is_saved_it_is_told_whose_it_is() -> None:
    told = end("timeout", comparison=make_changes("a.md", "b.md", "c.md"), written={"a.md"}, nested=frozenset({"b.md"}))
    reasons = {path: grade.reason for path, grade in told.grades.items()}
    assert reasons == {"a.md": "", "b.md": "an agent below it made it", "c.md": "who changed it is not known"}
    assert told.unsure == ("b.md", "c.md")


def test_only_what_is_proved_of_an_accepted_return_is_made() -> None:
    paths = ("a.md", "b.md", "c.md")
    returned = DONE._replace(artifacts=tuple(Artifact("report", path) for path in paths))
    grades = {
        "a.md": ArtifactGrade(
            ArtifactFacts("a.md", "file"), "changed", "", "1" * 64, places=("a.md", "real/a.md"), blob="1" * 40
        ),
        "b.md": ArtifactGrade(
            ArtifactFacts("b.md", "file"), "unchanged", "", "2" * 64, places=("b.md",), blob="2" * 40
        ),
        "c.md": ArtifactGrade(ArtifactFacts("c.md", "file"), "attributed", "too large", None, places=("c.md",)),
    }
    told = end(verdict=judge(returned, grades=grades), exit_code=0)
    assert told.made == (("a.md", "1" * 40), ("real/a.md", "1" * 40))
    doubted = end(verdict=judge(None, "fabricated", grades=grades), exit_code=0)
    assert not doubted.made
