"""Results as text: short, with every part that is there, and nothing of an agent's that steers a terminal."""

from __future__ import annotations

import pytest
from inline_snapshot import snapshot

from remit.cli.result_output import get_result_code, render_result, render_result_line
from remit.model import AgentError, Diagnostic
from remit.result import MIN_TOKENS, CheckResult, FailedStep, Result, ResultArtifact, ResultUsage
from remit.runs.checks.diagnostics import check_failed, check_flaky, check_not_run, protected_changed
from remit.runs.results.fit_budget import fit_result
from remit.sentences import format_duration
from remit.terminal import Paint
from remit.views.json_builders import build_result

PLAIN, COLOURED = Paint(on=False), Paint(on=True)
DONE = Result("sess_1_abc", "writer", "completed", "It is written.", "accepted", "exited")
WHOLE = Result(
    "sess_1_abc", "writer", "partial", "Half of it is written.", "invalid", "timeout",
    artifacts=(
        ResultArtifact("a.md", "report", grade="attributed"),
        ResultArtifact("b.md", "report", grade="unchanged", reason="it did not change"),
    ),
    unclaimed=("c.md",),
    unclaimed_count=7,
    diagnostics=(Diagnostic("RET011", "warning", "a field is missing", "Give it."),
              Diagnostic("RET012", "error", "its time was up", "")),
    errors=(AgentError("timeout", "its time was up", "TIMEOUT", recoverable=True, recommendation="Wait."),),
    next_steps=("Resume it.",),
    usage=ResultUsage(12_345, 0.5, 3, 75.4),
    attempts=2,
    failed_steps=(FailedStep("git", "nothing to commit to", "GIT_COMMIT_FAILED", "Commit it."),),
    notes=("worktree: to merge the work: git merge x",),
    left_out=("summary 10/400 characters",),
)  # fmt: skip


def test_every_part_has_its_line() -> None:
    assert render_result(WHOLE, paint=PLAIN).splitlines() == snapshot(
        [
            "✗ writer: partial · timeout · 2 attempts · 1 min 15 s · 12,345 tokens · $0.50",
            "  Half of it is written.",
            "  ✓ a.md  report, attributed",
            "  · b.md  report, unchanged (it did not change)",
            "  not named: 7 files changed: c.md, 6 more",
            "  error[TIMEOUT]: its time was up",
            "  warning[RET011]: a field is missing",
            "  error[GIT_COMMIT_FAILED]: finish step git: nothing to commit to",
            "  hint: Commit it.",
            "  note: worktree: to merge the work: git merge x",
            "  next: Wait.",
            "  next: Resume it.",
            "  see: remit show sess_1_abc --full",
        ]
    )


def test_whoever_reads_it_hears_the_first_advice_or_that_a_person_is_needed() -> None:
    """R2.18."""
    slow, broken = WHOLE.errors[0], AgentError("build_error", "the build fails", "BUILD_ERROR", False, "Mend it.")  # noqa: FBT003 - a fault

    def list_steps(result: Result) -> list[str]:
        lines = render_result(result, paint=PLAIN).splitlines()
        return [line.removeprefix("  next: ") for line in lines if line.startswith("  next: ")]

    assert list_steps(WHOLE._replace(next_steps=("Wait.",))) == ["Wait."]
    both = WHOLE._replace(errors=(slow, broken), next_steps=("Mend it.",))
    assert list_steps(both) == ["Needs your decision.", "Mend it."]
    assert "needs_user" not in build_result(fit_result(WHOLE))["remit"]
    long = broken._replace(message="the build fails " * 100)
    cut = fit_result(both._replace(errors=(slow, *[long] * 9)), MIN_TOKENS)
    assert build_result(cut)["remit"]["needs_user"] is True
    assert list_steps(cut._replace(errors=cut.errors[:1]))[0] == "Needs your decision."
    without = both._replace(errors=(broken,), next_steps=())
    assert list_steps(without) == ["Needs your decision.", "Mend it."]  # what steps there were gave way


def test_each_check_has_its_line_and_nothing_says_it_again() -> None:
    failed = CheckResult(
        "lint", "failed", "exit code 1", "ruff check", 2_000, before="passed", output="a.py:1\n\x1b[2Jb"
    )
    missing = CheckResult("types", "not run", "a program isn't installed (exit code 127)")
    error = AgentError("check_failed", "acceptance checks failed: lint: exit code 1", "CHECK_FAILED", True, "Fix it.")  # noqa: FBT003 - a fault
    checked = DONE._replace(
        status="partial",
        checks=(
            CheckResult("tests", "passed", duration_ms=12_300, tests=212, skipped=2),
            CheckResult("slow", "passed", duration_ms=61_000, is_cached=True, tests=1),
            CheckResult("net", "passed", duration_ms=400, is_flaky=True),
            failed,
            missing,
            CheckResult("docs", "not run", "no file that docs/** matches has changed", is_needed=False),
        ),
        diagnostics=(
            check_failed("lint", "exit code 1", before="passed"),
            check_not_run("types", missing.reason),
            check_flaky("net"),
            protected_changed("lint", ["ruff.toml"]),
        ),
        errors=(error,),
        next_steps=("Fix it.",),
    )
    expected = snapshot(
        [
            "✗ writer: partial",
            "  It is written.",
            "  ✓ tests passed in 12 s, 212 tests, 2 skipped",
            "  ✓ slow passed earlier on the same tree, in 1 min 1 s, 1 test",
            "  ✓ net passed in 0.4 s; flaky: it failed first",
            "  ✗ lint failed in 2.0 s: exit code 1; it passed before the run",
            "      a.py:1",
            "      <U+001B>[2Jb",
            "  ! types not run: a program isn't installed (exit code 127)",
            "  · docs not needed: no file that docs/** matches has changed",
            "  error[CHECK_FAILED]: acceptance checks failed: lint: exit code 1",
            "  warning[CHK005]: the run changed what decides the check 'lint': ruff.toml",
            "  next: Fix it.",
            "  see: remit show sess_1_abc --full",
        ]
    )
    assert render_result(checked, paint=PLAIN).splitlines() == expected
    assert render_result(fit_result(checked, 2_000), paint=PLAIN).splitlines()[5:8] == expected[5:8]


def test_of_a_long_output_the_last_lines_are_shown() -> None:
    output = "\n".join(f"line {number}" for number in range(30))
    checked = DONE._replace(checks=(CheckResult("tests", "failed", "exit code 1", output=output),))
    lines = [line.strip() for line in render_result(checked, paint=PLAIN).splitlines() if "line" in line]
    assert lines == [f"line {number}" for number in range(20, 30)]


def test_a_plain_success_is_three_lines() -> None:
    assert render_result(DONE, paint=PLAIN).splitlines() == snapshot(
        [
            "✓ writer: completed",
            "  It is written.",
            "  see: remit show sess_1_abc --full",
        ]
    )


def test_colour_only_where_it_is_wanted() -> None:
    assert "\x1b" in render_result(WHOLE, paint=COLOURED)
    assert "\x1b" not in render_result(WHOLE, paint=PLAIN)


def test_what_an_agent_wrote_does_not_steer_the_terminal() -> None:
    evil = "\x1b]0;x\x07\u202e"
    fault = AgentError(evil, evil, evil, recoverable=False, recommendation=evil)
    finding = Diagnostic("RET011", "error", f"two{evil}", "")
    artifact = ResultArtifact(evil, evil, evil, "missing", evil)
    told = Result(
        "s", evil, "failed", evil, evil, evil, (artifact,), (evil,), 1, (finding,), (fault,), (evil,),
        failed_steps=(FailedStep(evil, evil),), notes=(evil,), left_out=(evil,),
    )  # fmt: skip
    text = render_result(told, paint=PLAIN)
    assert "<U+001B>" in text
    assert not set("\x1b\x07\u202e") & set(text)
    assert not set("\x1b\x07\u202e") & set(render_result_line(told, paint=PLAIN))


@pytest.mark.parametrize(
    ("status", "stop_reason", "code"),
    [
        ("completed", "exited", 0),
        ("partial", "timeout", 1),
        ("failed", "crashed", 1),
        ("blocked", "exited", 1),
        ("failed", "cancelled", 1),
        ("failed", "rejected", 2),
    ],
)
def test_exit_codes(status: str, stop_reason: str, code: int) -> None:
    assert get_result_code(DONE._replace(status=status, stop_reason=stop_reason)) == code


def test_json_tells_of_the_request_only_where_there_is_something() -> None:
    finding = Diagnostic("INP003", "warning", "the agent knows no input 'x'", "")
    assert "diagnostics" not in build_result(DONE)["remit"]
    assert build_result(DONE, [finding])["remit"]["diagnostics"][0]["code"] == "INP003"
    assert "show" in build_result(DONE)["remit"]
    assert "show" not in build_result(DONE._replace(session_id=""))["remit"]


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0.04, "0.0 s"), (9.94, "9.9 s"), (59.4, "59 s"), (60, "1 min"), (200, "3 min 20 s"), (3600, "1 h"),
     (7500, "2 h 5 min")],
)  # fmt: skip
def test_durations(seconds: float, text: str) -> None:
    assert format_duration(seconds) == text


def test_data_that_a_schema_describes_is_shown_without_secrets() -> None:
    data = {"verdict": "good", "key": "AWS_SECRET_ACCESS_KEY=wJalrXUtnFEMIK7MDENGbPxRfiCYEXAMPLEKEY", "n": [*range(99)]}
    result = Result(
        "sess_1",
        "reviewer",
        "completed",
        "Reviewed it.",
        "accepted",
        "exited",
        has_schema=True,
        returned={"data": data},
    )
    text = render_result(result, paint=Paint(on=False))
    assert '    "verdict": "good",' in text
    assert "wJalrXUtnFEMI" not in text
    assert "more lines: add --json" in text
    assert "data" not in render_result(result._replace(has_schema=False), paint=Paint(on=False))
