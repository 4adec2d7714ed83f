"""A result: within its token budget, honest about what was shortened, and without secrets."""

from __future__ import annotations

import json
import string
import sys
import time
from functools import cache, lru_cache
from typing import TYPE_CHECKING

import jsonschema
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from remit.errors import UsageError
from remit.evidence.artifact_grades import ArtifactGrade
from remit.model import AgentError, Artifact, ArtifactFacts, Diagnostic
from remit.result import DEFAULT_TOKENS, MIN_TOKENS, FailedStep, Result, ResultArtifact, ResultUsage
from remit.returns import token_count
from remit.returns.token_count import count_tokens
from remit.runs.results.build_return import write_return
from remit.runs.results.fit_budget import fit_result, render_text
from remit.runs.results.full_result import gather_artifacts
from remit.runs.results.token_estimate import bound_tokens
from remit.schemas import ResultObject
from remit.validation import build_schema
from remit.views.render import render_json
from tests.support.sample_sizes import choose

if TYPE_CHECKING:
    from typing import Any

SESSION = "sess_1735460684_a1b2c3"
SUMMARY = "Every row is fetched on its own. One query with a join takes 40 ms instead of 12 s. The report has a plan."
TIMEOUT = AgentError("timeout", "its time was up", "TIMEOUT", recoverable=True, recommendation="Resume it.")
WARNING = Diagnostic("RET031", "warning", "the summary has 6 sentences", "Write fewer.")
WRONG = Diagnostic("RET011", "error", "the session id is not the issued one", "Copy it.")
NOTE = Diagnostic("GIT002", "note", "there isn't a git checkout", "Run git init.")
KEY = "AKIA" + string.ascii_uppercase[:16]


def make_artifacts(count: int) -> tuple[ResultArtifact, ...]:
    return tuple(
        ResultArtifact(f"specs/012_export/reports/research-{at:03d}.md", "report", f"Part {at} of the measurements, one for each of the queries.",
                       "changed", "", "3f" * 32, 1_200 + at)
        for at in range(1, count + 1)
    )  # fmt: skip


def make(**parts: Any) -> Result:  # noqa: ANN401 - fields
    made = Result(SESSION, "researcher", "completed", SUMMARY, "accepted", "exited", make_artifacts(1),
                  path=("orchestrator", "researcher"))  # fmt: skip
    return write_return(made._replace(**parts))


@lru_cache(maxsize=1)  # it takes longer to make than to fit
def make_hostile(piece: str) -> Result:
    """Ten million characters and a thousand of everything, but few files."""
    text = piece * (10_000_000 // len(piece))
    part = text[:100_000]
    fault = AgentError(part, part, part, recoverable=False, recommendation=part)
    result = Result(
        SESSION, "scribe", "failed", text, "invalid", "exited",
        (ResultArtifact("a.md", "report", part, "unknown", part, "a" * 64, 10**30, extra={"all": text}),),
        (part,) * 1_000, 10**6, (WRONG._replace(message=part, hint=part),) * 10_000, (fault,) * 1_000, (part,) * 1_000,
        ResultUsage(10**400, float("nan"), 3, float("inf")), 3, 3, ("orchestrator", "scribe"),
        (FailedStep("git", part),) * 5, (part,) * 100, "b" * 64, metadata={"log": text, "phase_count": 3},
        extra={"rows": [[part] * 10] * 10, "mood": "fine"},
    )  # fmt: skip
    return write_return(result._replace(usage=ResultUsage()))._replace(usage=result.usage)


@pytest.fixture(params=["counted", "estimated"])
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """With the tokenizer that is installed, and as where none is."""
    if request.param == "estimated":
        monkeypatch.setitem(sys.modules, "splintr", None)
        load = token_count._load_tokenizer.__wrapped__  # noqa: SLF001 - it was looked for already
        monkeypatch.setattr(token_count, "_load_tokenizer", cache(load))
    has_one = count_tokens("a") is not None
    if request.param == "counted" and not has_one:
        pytest.skip("the extra [tokens] is not installed")
    assert has_one is (request.param == "counted")
    return str(request.param)


def check_fit(whole: Result, max_tokens: int, way: str) -> dict[str, Any]:
    fitted = fit_result(whole, max_tokens)
    shaped = fitted.to_dict()
    text = render_text(shaped)
    count = bound_tokens(text) if fitted.estimated else count_tokens(text)
    assert count is not None
    assert fitted.tokens is not None
    assert count <= fitted.tokens
    is_larger = any(each.startswith("larger than") for each in fitted.left_out)
    assert (fitted.tokens > max_tokens) is is_larger
    assert fitted.estimated or way == "counted"
    assert shaped["remit"].get("left_out", []) == [*fitted.left_out]
    assert (shaped["status"], shaped["metadata"]["session_id"]) == (whole.status, SESSION)
    own = [(each["type"], each["path"]) for each in whole.returned["artifacts"]]
    assert [(each["type"], each["path"]) for each in shaped["artifacts"]] == own
    assert len(shaped.get("errors", ())) >= min(1, len(whole.errors))
    assert render_json(shaped) == text  # what an interface prints is what was counted
    return shaped


# --- the shape --------------------------------------------------------------------------------------------------------


def test_everything_that_is_known_is_in_the_json_and_in_its_schema() -> None:
    result = make(
        unclaimed=("a.log",), unclaimed_count=7, diagnostics=(WARNING,), errors=(TIMEOUT,), next_steps=("Plan it.",),
        usage=ResultUsage(1200, 0.05, 3, 12.5), attempts=2, notes=("Another model.",), status="partial",
        failed_steps=(FailedStep("git", "nothing was committed"),), answer="ab" * 32, needs_user=True,
        left_out=("notes",), tokens=300, estimated=True,
    )  # fmt: skip
    added = json.loads(json.dumps(result.to_dict()))["remit"]
    assert added == {
        "status": "partial", "verdict": "accepted", "stop_reason": "exited", "session_id": SESSION,
        "grades": [{"path": "specs/012_export/reports/research-001.md", "grade": "changed", "sha256": "3f" * 32,
                    "size_bytes": 1201}],
        "diagnostics": [{"code": "RET031", "severity": "warning", "message": "the summary has 6 sentences"}],
        "verified_by": [{"kind": "evidence", "name": "tree", "answer": "passed", "files": 1}],
        "unclaimed": {"count": 7, "paths": ["a.log"]},
        "failed_steps": [{"step": "git", "message": "nothing was committed"}],
        "notes": ["Another model."], "usage": {"tokens": 1200, "cost_usd": 0.05, "turns": 3, "seconds": 12.5},
        "attempts": 2, "answer": "ab" * 32, "needs_user": True, "show": f"remit show {SESSION} --full",
        "left_out": ["notes"], "tokens": 300, "estimated": True,
    }  # fmt: skip
    schema = build_schema(ResultObject)
    jsonschema.validate(result.to_dict(), schema)
    assert set(schema["properties"]["remit"]["properties"]) == set(added), "the schema names what no result has"
    bare = write_return(Result(SESSION, "a", "failed", "", "missing", "crashed")).to_dict()
    assert list(bare["remit"]) == ["status", "verdict", "stop_reason", "session_id", "grades", "show"]


def test_artifacts_are_gathered_with_their_grades() -> None:
    grade = ArtifactGrade(ArtifactFacts("a.md", "file", 7), "unchanged", "it was there before", "ff")
    gathered = gather_artifacts([Artifact("plan", "a.md", "A plan."), Artifact("plan", "b.md")], {"a.md": grade})
    assert gathered == (
        ResultArtifact("a.md", "plan", "A plan.", "unchanged", "it was there before", "ff", 7),
        ResultArtifact("b.md", "plan"),
    )


# --- the budget -------------------------------------------------------------------------------------------------------


def test_what_fits_stays_whole(way: str) -> None:
    whole = make(next_steps=("Plan the change.",), diagnostics=(WARNING,), usage=ResultUsage(1200, 0.05, 3, 12.5))
    shaped = check_fit(whole, 600, way)
    assert {key: value for key, value in shaped.items() if key != "remit"} == whole.returned
    assert "left_out" not in shaped["remit"]


def test_a_usual_return_keeps_its_summary_and_files(way: str) -> None:
    whole = make(
        artifacts=make_artifacts(3), diagnostics=(WARNING, NOTE), next_steps=("Plan the change.",),
        unclaimed=("a.log",), unclaimed_count=40, usage=ResultUsage(123_456, 0.4321, 14, 312.4567), answer="ab" * 32,
    )  # fmt: skip
    shaped = check_fit(whole, DEFAULT_TOKENS, way)
    assert len(shaped["artifacts"]) == 3
    assert shaped["summary"] == SUMMARY or way == "estimated"
    assert shaped["remit"]["left_out"]


def test_what_fits_by_the_bound_needs_no_tokenizer(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(text: str) -> int:
        raise AssertionError(text)

    fitted = fit_result(make(), DEFAULT_TOKENS)
    monkeypatch.setattr(token_count, "count_tokens", fail)
    assert fit_result(make(), DEFAULT_TOKENS) == fitted
    assert fitted.estimated
    with pytest.raises(AssertionError):  # and what does not fit by it asks for one
        fit_result(make(artifacts=make_artifacts(8)), DEFAULT_TOKENS)


def test_free_text_is_shortened_in_its_order() -> None:
    """D4: unclaimed files, diagnostics, notes, key points, artifact summaries, errors, and the summary last."""
    points = tuple(f"Point {at} of what was found in it." for at in range(5))
    whole = make(
        status="partial",
        artifacts=tuple(each._replace(extra={"key_points": [*points]}) for each in make_artifacts(3)),
        diagnostics=(WARNING, WRONG, NOTE) * 2, next_steps=("Plan the change.", "Measure it."),
        unclaimed=tuple(f"logs/{at}.log" for at in range(9)), unclaimed_count=9, notes=("A note.",) * 3,
        errors=(TIMEOUT._replace(message="Its time was up, and nobody knows how far it was. " * 3),) * 2,
    )  # fmt: skip
    labels: list[str] = []
    for limit in range(1_600, MIN_TOKENS - 1, -40):
        shaped = fit_result(whole, limit).to_dict()
        cut = shaped["remit"].get("left_out", [])
        labels += [label for label in cut if label not in labels and not label.startswith("larger")]
        assert shaped["errors"][0]["message"]
    order = ["unclaimed files", "diagnostics", "hashes", "notes", "key points", "artifact summaries", "errors",
             "error messages", "summary"]  # fmt: skip
    assert [label for label in labels if label in order] == [label for label in order if label in labels]
    assert {"unclaimed files", "notes", "key points", "artifact summaries", "summary"} <= {*labels}


def test_key_points_of_the_return_are_shortened_to_three() -> None:
    """D4: an agent's own `key_points` are free text, wherever it writes them."""
    points = [f"{at}: {'what was found in it ' * 12}" for at in range(40)]
    shaped = fit_result(make(extra={"key_points": points})).to_dict()
    assert shaped["remit"]["tokens"] <= 400
    assert [each[:2] for each in shaped["key_points"]] == ["0:", "1:", "2:"]
    assert "key points" in shaped["remit"]["left_out"]


def test_what_always_stays_may_be_larger_than_the_budget(way: str) -> None:
    """D4: the type and path of each artifact stay, and the result says that it is larger."""
    shaped = check_fit(make(artifacts=make_artifacts(200)), DEFAULT_TOKENS, way)
    assert len(shaped["artifacts"]) == 200
    assert shaped["remit"]["left_out"][-1].startswith("larger than 400 tokens")


PIECES = (
    "😀", "some long words here ", "\x1b[2J\x00", '"\\', "\ud800", "漢字", "a", "-", '{"', "\u202e\u200b", "\n", "' ",
)  # fmt: skip


@pytest.mark.parametrize("max_tokens", [MIN_TOKENS, DEFAULT_TOKENS])
@pytest.mark.parametrize("piece", PIECES[: choose(5, len(PIECES))])
@pytest.mark.thorough
def test_ten_megabytes_of_words_cost_little(piece: str, max_tokens: int, way: str) -> None:
    whole = make_hostile(piece)
    fit_result(make(), max_tokens)  # patterns and the tokenizer are loaded once
    started = time.process_time()
    shaped = check_fit(whole, max_tokens, way)
    assert time.process_time() - started < 1.0
    assert "usage" not in shaped["remit"] or "tokens" not in shaped["remit"]["usage"]
    assert shaped["metadata"]["phase_count"] == 3
    assert len(render_text(shaped)) < 4_000
    assert all(char.isprintable() for char in render_text(shaped))


def test_what_was_cut_says_so(way: str) -> None:
    shaped = check_fit(make(summary="Many words. " * 400), DEFAULT_TOKENS, way)
    assert shaped["summary"].endswith("…")


def test_a_failed_finish_step_stays_visible(way: str) -> None:
    """The old systems reported completed although the status never moved."""
    whole = make(
        artifacts=make_artifacts(3), diagnostics=(WARNING,) * 20, notes=("A note.",) * 5,
        failed_steps=(FailedStep("task", "task 12 is not where it was"), FailedStep("git", "nothing was committed")),
    )  # fmt: skip
    assert check_fit(whole, DEFAULT_TOKENS, way)["remit"]["failed_steps"][0]["step"] == "task"


def test_errors_come_before_warnings(way: str) -> None:
    shaped = check_fit(make(diagnostics=(NOTE,) * 30 + (WARNING,) * 30 + (WRONG,), artifacts=()), DEFAULT_TOKENS, way)
    assert shaped["remit"]["diagnostics"][0]["code"] == "RET011"


def test_secrets_are_redacted(way: str) -> None:
    fault = TIMEOUT._replace(message=f"refused for {KEY}", recommendation=f"use {KEY}")
    whole = make(
        status="partial", summary=f"The key is {KEY}.", errors=(fault,), next_steps=(f"Take {KEY}",),
        artifacts=(ResultArtifact("a.md", "plan", f"With {KEY}", extra={"from": f"{KEY}"}),), notes=(f"{KEY}",),
        diagnostics=(WRONG._replace(message=f"it has {KEY}"),), failed_steps=(FailedStep("git", f"with {KEY}"),),
        metadata={"key": KEY}, extra={"keys": [{"own": KEY}]},
    )  # fmt: skip
    text = render_text(check_fit(whole, 2_000, way))
    assert KEY not in text
    assert text.count("[redacted aws]") == 11
    assert KEY not in str(fit_result(whole, 2_000).errors)


@pytest.mark.parametrize("at", range(480, 501, 5))
def test_no_part_of_a_secret_is_left_where_a_text_is_cut(at: int) -> None:
    whole = make(status="failed", errors=(TIMEOUT._replace(message="." * at + f" {KEY} " + "." * 10_000),))
    fitted = fit_result(whole, 2_000)
    assert "AKIA" not in fitted.errors[0].message
    assert "AKIA" not in render_text(fitted.to_dict())


def test_a_budget_that_is_too_small_is_refused() -> None:
    with pytest.raises(UsageError, match="doesn't fit") as caught:
        fit_result(make(), MIN_TOKENS - 1)
    assert str(MIN_TOKENS) in caught.value.hint


TEXTS = st.text(max_size=300) | st.sampled_from(
    ["word " * 200, "漢" * 300, "😀" * 200, "\x00" * 300, '"\\' * 200, "é'" * 99]
)
NUMBERS, FRACTIONS = st.none() | st.integers(), st.none() | st.floats(allow_nan=False, allow_infinity=False)
FAULTS = st.builds(AgentError, TEXTS, TEXTS, TEXTS, st.booleans(), TEXTS)
FINDINGS = st.builds(Diagnostic, st.just("RET001"), st.sampled_from(["error", "warning", "note"]), TEXTS, TEXTS, TEXTS)
GRADES = st.sampled_from(["", "missing", "unchanged", "unknown", "changed", "attributed"])
ARTIFACTS = st.builds(
    ResultArtifact, st.just("a.md"), TEXTS, TEXTS, GRADES, TEXTS, st.sampled_from(["", "ab" * 32]),
    st.none() | st.integers(),
)  # fmt: skip
RESULTS = st.builds(
    Result, st.just(SESSION), TEXTS, st.sampled_from(["completed", "partial", "failed", "blocked"]), TEXTS,
    st.just("accepted"), st.just("exited"), st.lists(ARTIFACTS, max_size=5).map(tuple),
    st.lists(TEXTS, max_size=5).map(tuple), st.integers(0, 10**9), st.lists(FINDINGS, max_size=5).map(tuple),
    st.lists(FAULTS, max_size=5).map(tuple), st.lists(TEXTS, max_size=5).map(tuple),
    st.builds(ResultUsage, NUMBERS, FRACTIONS, NUMBERS, st.none() | st.floats(0, 10**9)), st.integers(1, 99),
    st.integers(1, 3), st.lists(TEXTS, max_size=4).map(tuple),
    st.lists(st.builds(FailedStep, st.just("git"), TEXTS), max_size=5).map(tuple),
    st.lists(TEXTS, max_size=3).map(tuple), st.just("ab" * 32),
)  # fmt: skip


@pytest.mark.slow
@settings(max_examples=choose(20, 60))
@given(RESULTS, st.integers(MIN_TOKENS, 1_500))
def test_any_result_fits_or_says_that_it_is_larger(whole: Result, max_tokens: int) -> None:
    fitted = fit_result(write_return(whole), max_tokens)
    text = render_text(fitted.to_dict())
    assert fitted.tokens is not None
    assert (bound_tokens(text) if fitted.estimated else count_tokens(text) or 0) <= fitted.tokens
    assert fitted.tokens <= max_tokens or fitted.left_out[-1].startswith("larger than")
    assert text.isprintable()
    jsonschema.validate(json.loads(text), build_schema(ResultObject))
