"""The envelope: within its tokens whatever an agent wrote, honest about what it left out, and without secrets."""

from __future__ import annotations

import json
import string
import sys
import time
from functools import cache, lru_cache
from hashlib import sha256
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from remit.contract import tokens
from remit.contract.tokens import count_tokens
from remit.delegate.reporting.envelope import (
    DEFAULT_TOKENS,
    MIN_TOKENS,
    Envelope,
    EnvelopeArtifact,
    Spending,
    Unsettled,
    gather_artifacts,
    render_envelope_json,
    render_text,
)
from remit.delegate.reporting.fitting import fit_envelope
from remit.delegate.reporting.token_bound import bound_tokens
from remit.doors.render import render_json
from remit.errors import UsageError
from remit.evidence.grades import ArtifactGrade
from remit.model import Artifact, ArtifactFacts, Fault, Finding
from tests.amounts import choose

if TYPE_CHECKING:
    from collections.abc import Callable

SESSION = "sess_1735460684_a1b2c3"
SUMMARY = "Every row is fetched on its own. One query with a join takes 40 ms instead of 12 s. The report has a plan."
TIMEOUT = Fault("timeout", "its time was up", "TIMEOUT", recoverable=True, recommendation="Resume it.")
WARNING = Finding("RET031", "warning", "the summary has 6 sentences", "Write fewer.", "R0.4")
WRONG = Finding("RET011", "error", "the session id is not the issued one", "Copy it.", "R0.11")
NOTE = Finding("GIT002", "note", "there is no git checkout", "Run git init.", "S6")


def make_artifacts(count: int) -> tuple[EnvelopeArtifact, ...]:
    return tuple(
        EnvelopeArtifact(f"specs/012_export/reports/research-{at:03d}.md", "report", f"Part {at} of the measurements.",
                         "changed", "", "3f" * 32, 1_200 + at)
        for at in range(1, count + 1)
    )  # fmt: skip


def make(**parts: object) -> Envelope:
    made = Envelope(SESSION, "researcher", "completed", SUMMARY, "accepted", "exited", make_artifacts(1))
    return made._replace(**parts)  # type: ignore[arg-type]


@lru_cache(maxsize=1)  # it takes longer to make than to fit
def make_hostile(piece: str) -> Envelope:
    """Ten million characters and ten thousand of everything."""
    text = piece * (10_000_000 // len(piece))
    part = text[:100_000]
    fault = Fault(part, part, part, recoverable=False, recommendation=part)
    artifacts = tuple(
        EnvelopeArtifact(f"{part[:500]}{at}", part[:99], part, "missing", part, "a" * 64, 10**30)
        for at in range(10_000)
    )
    return Envelope(
        SESSION, part, "failed", text, "invalid", "exited", artifacts, (part,) * 1_000, 10**6,
        (WRONG._replace(message=part, hint=part),) * 10_000, (fault,) * 1_000, (part,) * 1_000,
        Spending(10**400, float("nan"), 3, float("inf")), 3, 3, (part,) * 3, (Unsettled("git", part),) * 5,
        (part,) * 100, "b" * 64,
    )  # fmt: skip


@pytest.fixture(params=["counted", "estimated"])
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """With the tokenizer that is installed, and as where none is."""
    if request.param == "estimated":
        monkeypatch.setitem(sys.modules, "splintr", None)
        load = tokens._load_tokenizer.__wrapped__  # noqa: SLF001 - it was looked for already
        monkeypatch.setattr(tokens, "_load_tokenizer", cache(load))
    has_one = count_tokens("a") is not None
    if request.param == "counted" and not has_one:
        pytest.skip("the extra [tokens] is not installed")
    assert has_one is (request.param == "counted")
    return str(request.param)


def check_fit(whole: Envelope, max_tokens: int, way: str) -> Envelope:
    fitted = fit_envelope(whole, max_tokens)
    text = render_text(fitted)
    count = bound_tokens(text) if fitted.estimated else count_tokens(text)
    assert count is not None
    assert fitted.tokens is not None
    assert count <= fitted.tokens <= max_tokens
    assert fitted.estimated or way == "counted"
    assert (fitted.session_id, fitted.status, fitted.outcome) == (whole.session_id, whole.status, whole.outcome)
    assert len(fitted.errors) >= min(1, len(whole.errors))
    assert render_json(render_envelope_json(fitted)) == text  # what a door prints is what was counted
    return fitted


# --- the shape --------------------------------------------------------------------------------------------------------


def test_the_names_of_the_main_parts_are_always_there() -> None:
    bare = render_envelope_json(Envelope(SESSION, "a", "failed", "", "missing", "crashed"))
    assert list(bare) == [
        "session_id", "agent", "status", "summary", "outcome", "ending", "artifacts", "findings", "errors",
        "next_steps", "usage", "show", "left_out", "tokens", "estimated",
    ]  # fmt: skip
    assert bare["show"] == f"remit show {SESSION} --full"


def test_everything_that_is_known_is_in_the_json() -> None:
    envelope = make(
        unclaimed=("a.log",), unclaimed_count=7, findings=(WARNING,), errors=(TIMEOUT,), next_steps=("Plan it.",),
        usage=Spending(1200, 0.05, 3, 12.5), attempts=2, depth=2, path=("orchestrator", "a"), notes=("Another model.",),
        unsettled=(Unsettled("git", "nothing was committed"),), answer="ab" * 32,
    )  # fmt: skip
    shaped = json.loads(json.dumps(render_envelope_json(envelope)))
    assert shaped["artifacts"] == [
        {"path": "specs/012_export/reports/research-001.md", "kind": "report", "summary": "Part 1 of the measurements.",
         "grade": "changed", "sha256": "3f" * 6, "size_bytes": 1201}
    ]  # fmt: skip
    assert shaped["findings"] == [{"code": "RET031", "severity": "warning", "message": "the summary has 6 sentences"}]
    assert shaped["errors"] == [
        {"type": "timeout", "code": "TIMEOUT", "message": "its time was up", "recoverable": True,
         "recommendation": "Resume it."}
    ]  # fmt: skip
    assert shaped["usage"] == {"tokens": 1200, "cost_usd": 0.05, "turns": 3, "seconds": 12.5}
    assert shaped["unclaimed"] == {"count": 7, "paths": ["a.log"]}
    assert shaped["unsettled"] == [{"step": "git", "message": "nothing was committed"}]
    assert (shaped["attempts"], shaped["depth"], shaped["path"]) == (2, 2, ["orchestrator", "a"])
    assert (shaped["notes"], shaped["answer"]) == (["Another model."], "ab" * 6)
    whole = render_envelope_json(envelope, whole=True)
    assert (whole["artifacts"][0]["sha256"], whole["answer"]) == ("3f" * 32, "ab" * 32)


def test_artifacts_are_gathered_with_their_grades() -> None:
    grade = ArtifactGrade(ArtifactFacts("a.md", "file", 7), "unchanged", "it was there before", "ff")
    gathered = gather_artifacts([Artifact("plan", "a.md", "A plan."), Artifact("plan", "b.md")], {"a.md": grade})
    assert gathered == (
        EnvelopeArtifact("a.md", "plan", "A plan.", "unchanged", "it was there before", "ff", 7),
        EnvelopeArtifact("b.md", "plan"),
    )


# --- fitting ----------------------------------------------------------------------------------------------------------


def test_what_fits_stays_whole(way: str) -> None:
    whole = make(
        artifacts=(), next_steps=("Plan the change.",), findings=(WARNING,), usage=Spending(1200, 0.05, 3, 12.5)
    )
    fitted = check_fit(whole, DEFAULT_TOKENS, way)
    assert fitted.left_out == ()
    assert fitted == whole._replace(
        tokens=fitted.tokens, estimated=fitted.estimated, findings=(WARNING._replace(place=None, fix=None),)
    )


def test_a_usual_return_keeps_its_summary_and_where_its_files_are(way: str) -> None:
    whole = make(
        artifacts=make_artifacts(3), findings=(WARNING, NOTE), next_steps=("Plan the change.",), unclaimed=("a.log",),
        unclaimed_count=40, usage=Spending(123_456, 0.4321, 14, 312.4567), path=("orchestrator", "researcher"),
        answer="ab" * 32,
    )  # fmt: skip
    fitted = check_fit(whole, DEFAULT_TOKENS, way)
    assert fitted.summary == SUMMARY
    assert fitted.artifacts
    assert fitted.left_out


def test_what_fits_by_the_bound_needs_no_tokenizer(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(text: str) -> int:
        raise AssertionError(text)

    fitted = fit_envelope(make(), DEFAULT_TOKENS)
    monkeypatch.setattr(tokens, "count_tokens", fail)
    assert fit_envelope(make(), DEFAULT_TOKENS) == fitted
    assert fitted.estimated
    with pytest.raises(AssertionError):  # and what does not fit by it asks for one
        fit_envelope(make(artifacts=make_artifacts(8)), DEFAULT_TOKENS)


def test_things_give_way_in_their_order() -> None:
    """Unclaimed, warnings, artifacts beyond the first ones, the summary last; what is short may fill a gap again."""
    whole = make(
        artifacts=make_artifacts(9), findings=(WARNING, WRONG, NOTE), next_steps=("Plan the change.",) * 3,
        unclaimed=tuple(f"logs/{at}.log" for at in range(9)), unclaimed_count=9, errors=(TIMEOUT,), notes=("A note.",),
    )  # fmt: skip
    seen = [fit_envelope(whole, limit) for limit in range(1_600, MIN_TOKENS - 1, -50)]

    def first_short(name: str) -> int:
        short = [at for at, each in enumerate(seen) if len(getattr(each, name)) < len(getattr(whole, name))]
        return short[0] if short else len(seen)

    order = [first_short(name) for name in ("unclaimed", "findings", "artifacts", "summary", "errors")]
    assert order == sorted(order)
    assert order[0] > 0
    assert order[3] > order[2]
    assert all(WRONG.code in {finding.code for finding in each.findings} for each in seen[: order[2]])
    assert all(each.errors == (TIMEOUT,) for each in seen)


PIECES = (
    "😀", "some long words here ", "\x1b[2J\x00", '"\\', "\ud800", "漢字", "a", "-", '{"', "\u202e\u200b", "\n", "' ",
)  # fmt: skip


@pytest.mark.parametrize("max_tokens", [MIN_TOKENS, DEFAULT_TOKENS])
@pytest.mark.parametrize("piece", PIECES[: choose(5, len(PIECES))])
@pytest.mark.thorough
def test_ten_megabytes_and_ten_thousand_artifacts_fit(piece: str, max_tokens: int, way: str) -> None:
    whole = make_hostile(piece)
    fit_envelope(make(), max_tokens)  # patterns and the tokenizer are loaded once
    started = time.process_time()
    fitted = fit_envelope(whole, max_tokens)
    assert time.process_time() - started < 0.2
    assert fitted == check_fit(whole, max_tokens, way)
    told = " ".join(fitted.left_out)
    assert told == "all but this" or ("artifacts" in told and "/10000" in told and "summary" in told)
    assert fitted.usage.tokens is None
    assert all(char.isprintable() for char in render_text(fitted))


@pytest.mark.parametrize("piece", ["😀", "\U0002070e", '\\"', "ZQ"])
def test_the_least_budget_holds_the_longest_words_and_numbers(piece: str, way: str) -> None:
    text = piece * 300
    fault = Fault("Zq" * 12, text, "ZQ" * 12, recoverable=False, recommendation=text)
    whole = make_hostile(piece)._replace(
        outcome="degenerate", ending="cancelled", errors=(fault,) * 9, unclaimed_count=10**15, attempts=10**12,
        usage=Spending(10**14, 1.1, 10**14, 1.1),
    )  # fmt: skip
    fitted = check_fit(whole, MIN_TOKENS, way)
    assert fitted.errors[0].code == "ZQ" * 12
    assert fitted.errors[0].message


@pytest.mark.slow
@pytest.mark.parametrize("piece", PIECES[:3])
@pytest.mark.thorough
def test_ten_megabytes_fit_in_a_few_times_what_hashing_them_takes(piece: str, way: str) -> None:
    """The best of several runs, beside a floor in the same run: the machine may be busy."""
    del way
    whole, data = make_hostile(piece), bytes(10 << 20)

    def measure(work: Callable[[], object]) -> float:
        started = time.process_time()
        work()
        return time.process_time() - started

    floor = min(measure(lambda: sha256(data)) for _ in range(8))
    assert min(measure(lambda: fit_envelope(whole)) for _ in range(8)) < 25 * floor


def test_what_was_cut_says_so(way: str) -> None:
    fitted = check_fit(make(summary="Many words. " * 400, artifacts=make_artifacts(200)), DEFAULT_TOKENS, way)
    assert fitted.summary.endswith("…")
    assert any(each.startswith("summary ") and each.endswith("/4800 characters") for each in fitted.left_out)
    assert f"artifacts {len(fitted.artifacts)}/200" in fitted.left_out


def test_tasks_that_were_made_outlast_the_steps_they_were_made_of(way: str) -> None:
    """`remit review` tells which tasks it made in a note."""
    made = "follow-ups: " + ", ".join(f"task {number}: Add tests for the cache" for number in range(2, 6))
    steps = tuple(f"Add tests for part {at} of the cache, of which there are none yet." for at in range(20))
    found = check_fit(make(next_steps=steps, notes=(made,), findings=(WARNING,) * 3), DEFAULT_TOKENS, way)
    assert found.notes == (made,)
    assert len(found.next_steps) < len(steps)


def test_the_step_that_a_person_needs_outlasts_all_that_only_explains(way: str) -> None:
    """Without it somebody reads that a person is needed, and not what for."""
    install = "Install it (npm install -g @anthropic-ai/claude-code), or name it as program under [runners.claude]"
    refused = Fault("refused", "there is no program 'claude'", "REFUSED", recoverable=False, recommendation=install)
    whole = make(
        status="failed", summary="Many words. " * 40, artifacts=make_artifacts(3), errors=(refused,),
        findings=(WRONG,), next_steps=(install, "Try again."), path=("orchestrator", "planner"),
    )  # fmt: skip
    fitted = check_fit(whole, DEFAULT_TOKENS, way)
    assert fitted.next_steps[0] == install
    assert {"findings 0/1", "next steps 1/2"} & {*fitted.left_out}


def test_a_failed_settlement_stays_visible(way: str) -> None:
    """The old systems reported completed although the status never moved."""
    whole = make(
        summary="Many words. " * 40, artifacts=make_artifacts(30), findings=(WARNING,) * 20, notes=("A note.",) * 5,
        unsettled=(Unsettled("task", "task 12 is not where it was"), Unsettled("git", "nothing was committed")),
    )  # fmt: skip
    assert check_fit(whole, DEFAULT_TOKENS, way).unsettled[0] == whole.unsettled[0]


def test_errors_are_told_before_warnings(way: str) -> None:
    fitted = check_fit(make(findings=(NOTE,) * 30 + (WARNING,) * 30 + (WRONG,), artifacts=()), DEFAULT_TOKENS, way)
    assert fitted.findings[0].code == "RET011"
    assert f"findings {len(fitted.findings)}/61" in fitted.left_out


def test_secrets_are_taken_out(way: str) -> None:
    key = "AKIA" + string.ascii_uppercase[:16]
    fault = TIMEOUT._replace(message=f"refused for {key}", recommendation=f"use {key}")
    whole = make(
        summary=f"The key is {key}.", artifacts=(EnvelopeArtifact("a.md", "plan", f"With {key}"),), errors=(fault,),
        next_steps=(f"Take {key}",), findings=(WRONG._replace(message=f"it has {key}"),), notes=(f"{key}",),
        unsettled=(Unsettled("git", f"with {key}"),),
    )  # fmt: skip
    assert key not in render_text(check_fit(whole, 2_000, way))
    assert "[redacted aws]" in render_text(fit_envelope(whole, 2_000))


@pytest.mark.parametrize("at", range(4_780, 4_801, 5))
def test_no_part_of_a_secret_is_left_where_a_text_is_cut(at: int) -> None:
    key = "AKIA" + string.ascii_uppercase[:16]
    fitted = fit_envelope(make(summary="." * at + f" {key} " + "." * 10_000), 400)
    assert "AKIA" not in fitted.summary


def test_a_budget_that_is_too_small_is_refused() -> None:
    with pytest.raises(UsageError, match="does not fit") as caught:
        fit_envelope(make(), MIN_TOKENS - 1)
    assert str(MIN_TOKENS) in caught.value.hint


def test_fitting_twice_changes_nothing() -> None:
    once = fit_envelope(make(artifacts=make_artifacts(50), findings=(WARNING,) * 9), DEFAULT_TOKENS)
    again = fit_envelope(once, DEFAULT_TOKENS)
    assert again.artifacts == once.artifacts
    assert again.summary == once.summary


TEXTS = st.text(max_size=300) | st.sampled_from(
    ["word " * 200, "漢" * 300, "😀" * 200, "\x00" * 300, '"\\' * 200, "é'" * 99]
)
NUMBERS, FRACTIONS = st.none() | st.integers(), st.none() | st.floats()
FAULTS = st.builds(Fault, TEXTS, TEXTS, TEXTS, st.booleans(), TEXTS)
FINDINGS = st.builds(Finding, st.just("RET001"), st.sampled_from(["error", "warning", "note"]), TEXTS, TEXTS, TEXTS)
ARTIFACTS = st.builds(EnvelopeArtifact, TEXTS, TEXTS, TEXTS, TEXTS, TEXTS, TEXTS, st.none() | st.integers())
ENVELOPES = st.builds(
    Envelope, st.just(SESSION), TEXTS, st.sampled_from(["completed", "partial", "failed", "blocked"]), TEXTS,
    st.just("accepted"), st.just("exited"), st.lists(ARTIFACTS, max_size=5).map(tuple),
    st.lists(TEXTS, max_size=5).map(tuple), st.integers(0, 10**9), st.lists(FINDINGS, max_size=5).map(tuple),
    st.lists(FAULTS, max_size=5).map(tuple), st.lists(TEXTS, max_size=5).map(tuple),
    st.builds(Spending, NUMBERS, FRACTIONS, NUMBERS, FRACTIONS), st.integers(1, 99), st.integers(1, 3),
    st.lists(TEXTS, max_size=4).map(tuple),
    st.lists(st.builds(Unsettled, st.just("git"), TEXTS), max_size=5).map(tuple),
    st.lists(TEXTS, max_size=3).map(tuple), st.just("ab" * 32),
)  # fmt: skip


@pytest.mark.slow
@settings(max_examples=choose(20, 60))
@given(ENVELOPES, st.integers(MIN_TOKENS, 1_500))
def test_any_envelope_fits_and_tells_what_it_left_out(whole: Envelope, max_tokens: int) -> None:
    fitted = fit_envelope(whole, max_tokens)
    text = render_text(fitted)
    assert fitted.tokens is not None
    assert (bound_tokens(text) if fitted.estimated else count_tokens(text) or 0) <= fitted.tokens <= max_tokens
    assert json.loads(text)["session_id"] == SESSION
    assert text.isprintable()
    lost = [
        name for name in ("artifacts", "findings", "errors", "next_steps", "notes", "unsettled")
        if len(getattr(fitted, name)) < len(getattr(whole, name))
    ]  # fmt: skip
    assert not lost or fitted.left_out
    if fitted.left_out != ("all but this",):
        assert all(any(each.startswith(name.replace("_", " ")) for each in fitted.left_out) for name in lost)
