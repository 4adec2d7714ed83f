"""The return that a caller gets is valid in its format, however the run ended."""

from __future__ import annotations

import json
from itertools import product
from typing import TYPE_CHECKING, Any, Literal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

import remit
from remit.evidence.tree import Comparison, TreeChange
from remit.ledger.runs import Run
from remit.model import AgentError, Artifact, Return, Verdict
from remit.result import Result, ResultArtifact, ResultUsage
from remit.returns.formats import FORMATS
from remit.returns.formats.manifest import SENTENCES
from remit.runs.judging.attempt import Attempt
from remit.runs.judging.conclusion import RunEvidence, conclude
from remit.runs.judging.judge import AttemptVerdict
from remit.runs.results.build_return import write_return
from remit.runs.results.fit_budget import fit_result
from remit.runs.results.full_result import make_report, read_report, render_report, render_sentence
from remit.schemas import ResultObject
from remit.validation import build_schema

if TYPE_CHECKING:
    from remit.model import FormatName, Status

SESSION = "sess_1735460684_a1b2c3"
STATUSES: tuple[Status, ...] = ("completed", "partial", "failed", "blocked")
STOP_REASONS = ("exited", "timeout", "cancelled", "crashed", "rejected", "orphaned", "budget")
NAMES: tuple[FormatName, ...] = ("standard", "hyper", "manifest")
FAULT = AgentError(
    "timeout", "its time was up", "TIMEOUT", recoverable=True, recommendation="Run it again with more time."
)


def validate_return(returned: dict[str, Any], session_id: str) -> list[str]:
    """What an orchestrator that follows the delegation standard checks; the reasons why it would refuse a return."""
    missing = [name for name in ("status", "summary", "artifacts", "metadata") if name not in returned]
    if missing:
        return missing
    problems = [] if returned["status"] in STATUSES else ["status"]
    problems += [] if returned["metadata"].get("session_id") == session_id else ["session id"]
    return problems + ([] if 0 < len(returned["summary"]) <= 500 else ["summary"])


def find_errors(shaped: dict[str, Any], name: str) -> list[str]:
    """Why `remit check` would refuse a result."""
    text = json.dumps(shaped, ensure_ascii=False)
    known: dict[str, Any] = {"session_id": SESSION} if name == "standard" else {}
    verdict = remit.check(text, format=name, agent="researcher", **known)
    assert verdict.accepted is not any(each.severity == "error" for each in verdict.diagnostics)
    return [each.message for each in verdict.diagnostics if each.severity == "error"]


def make_result(status: str, stop_reason: str, name: str, to: str = "", **parts: Any) -> Result:  # noqa: ANN401 - fields
    kind = {"hyper": "document"}.get(name, "research")
    result = Result(
        SESSION, "researcher", status, "Half of it is done. The rest is not.", "accepted", stop_reason,
        (ResultArtifact("reports/cache.md", kind, "What it costs.", "changed"),),
        errors=() if status == "completed" else (FAULT,), path=("orchestrator", "researcher"), format=name,
        result_format=to, usage=ResultUsage(seconds=12.5),
    )  # fmt: skip
    return write_return(result._replace(**parts))


@pytest.mark.conforms("000-01", "003-16")
@pytest.mark.parametrize("name", NAMES)
def test_every_result_is_a_valid_return(name: FormatName) -> None:
    """D4: every stop reason, status and format, with and without files, is accepted by `remit check`; 002 agrees."""
    schema = build_schema(ResultObject)
    Draft202012Validator.check_schema(schema)  # once: it takes a hundred times as long as a result
    validator = Draft202012Validator(schema)
    for stop_reason, status, to, artifacts in product(STOP_REASONS, STATUSES, ("", *NAMES), (True, False)):
        result = make_result(status, stop_reason, name, to, **({} if artifacts else {"artifacts": ()}))
        shaped = fit_result(result).to_dict()
        assert find_errors(shaped, to or name) == [], (stop_reason, status, to, shaped)
        validator.validate(shaped)
        assert (shaped["remit"]["status"], shaped["remit"]["stop_reason"]) == (status, stop_reason)
        if (to or name) == "standard":
            assert validate_return(shaped, SESSION) == []


ROW = Run(SESSION, "researcher", 1, ("orchestrator", "researcher"), state="running")


@pytest.mark.parametrize("name", NAMES)
def test_every_conclusion_is_a_valid_return(name: FormatName) -> None:
    """D4: the same with what Remit concludes itself: no answer, an answer that is refused, one that is accepted."""
    row = ROW._replace(details={"format": name})
    for stop_reason, status in product(STOP_REASONS, (None, "refused", *STATUSES)):
        judgement = make_judgement(status, name)
        conclusion = conclude(row, [Attempt(stop_reason, verdict=judgement, number=1)])
        result = make_report(row, conclusion, ended_ms=0)
        kept = json.loads(render_report(result, conclusion))
        assert read_report(kept)[0] == result._replace(fitted={}), "it is kept whole"
        shaped = fit_result(result).to_dict()
        assert find_errors(shaped, name) == [], (stop_reason, status, shaped)
        if name == "standard":
            assert validate_return(shaped, SESSION) == []
        if shaped["remit"]["status"] != "completed":
            assert result.errors
            assert {"standard": "errors", "hyper": "error", "manifest": "needs_followup"}[name] in shaped or (
                name == "hyper" and conclusion.status == status
            )


def make_judgement(status: str | None, name: FormatName) -> AttemptVerdict | None:
    if status is None:
        return None
    if status == "refused" or (status, name) in (("blocked", "hyper"), ("failed", "manifest")):
        return AttemptVerdict("invalid", verdict=Verdict("invalid", format=name))
    payload = make_result(status, "exited", name).returned
    returned = FORMATS[name].read(dict(payload))
    return AttemptVerdict("accepted", returned=returned, claimed=returned, verdict=Verdict("accepted", format=name))


@pytest.mark.parametrize("to", ["", *NAMES])
@pytest.mark.parametrize(
    ("name", "config", "path", "named"),
    [
        ("hyper", {"workspace_root": "/home/u/.hyper/w"}, "/home/u/.hyper/w/projects/a.md", "projects/a.md"),
        ("manifest", {"manifest": "/project/.cleo/agent-outputs/MANIFEST.jsonl"}, ".cleo/agent-outputs/a.md", "a.md"),
    ],
)
def test_a_file_that_was_left_is_named_as_its_format_names_it(
    name: FormatName, config: dict[str, str], path: str, named: str, to: FormatName | Literal[""]
) -> None:
    """D2 D4: an agent that was stopped named no file, and no return has an absolute path."""
    row = ROW._replace(details={"format": name, "result_format": to, "root": "/project", **config})
    change = TreeChange(path, "created", 9, blob="ab" * 20)
    conclusion = conclude(row, [Attempt("timeout")], RunEvidence(Comparison(created=(change,))))
    result = make_report(row, conclusion, ended_ms=0)
    shaped = result.to_dict()
    assert find_errors(shaped, to or name) == []
    found = shaped["file"] if (to or name) == "manifest" else shaped["artifacts"][0]["path"]
    assert found == (named if to in ("", name) or path.startswith("/") else path)
    assert result.artifacts[0].path == path


def test_an_error_that_the_agent_gave_no_code_has_one() -> None:
    """D13: 002's callers read `code`; Remit maps 001's names."""
    fault = AgentError(
        "build_error",
        "It doesn't compile.",
        "BUILD_ERROR",
        recoverable=True,
        recommendation="Fix it.",
        derived=frozenset({"code"}),
    )
    shaped = make_result("failed", "exited", "standard", errors=(fault,)).to_dict()
    assert shaped["errors"][0]["code"] == "BUILD_ERROR"


def test_the_judged_format_gives_the_advice() -> None:
    """D12: an agent without a declared format used hyper, was judged by it and refused."""
    judgement = AttemptVerdict("invalid", verdict=Verdict("invalid", format="hyper"))
    conclusion = conclude(ROW, [Attempt("exited", verdict=judgement)])
    assert conclusion.format == "hyper"
    assert "remit return prompt --format hyper" in conclusion.next_steps[0]


@pytest.mark.conforms("000-15")
def test_the_agents_fields_and_unknown_keys_stay() -> None:
    """D4: Remit fills in the metadata from the ledger; phase_count, unknown keys and key points come back."""
    returned = Return(
        "completed", "Done. It works.", (Artifact("plan", "a.md", "A plan.", word="plan", extra={"pages": 3}),),
        agent="other", session_id="sess_other", depth=7, path=("me",), duration_ms=1,
        metadata={"phase_count": 3, "estimated_hours": 8, "color": "red"}, extra={"mood": "fine"}, word="completed",
    )  # fmt: skip
    shaped = report(returned)
    assert shaped["metadata"] == {
        "session_id": SESSION, "duration_seconds": 2, "agent_type": "researcher", "delegation_depth": 1,
        "delegation_path": ["orchestrator", "researcher"], "phase_count": 3, "estimated_hours": 8, "color": "red",
    }  # fmt: skip
    assert shaped["artifacts"] == [{"type": "plan", "path": "a.md", "summary": "A plan.", "pages": 3}]
    assert shaped["mood"] == "fine"
    points = ("One.", "Two.", "Three.")
    artifact = Artifact("document", "a.md", "A report.", points, "document", {"pages": 3}, named="research/a.md")
    shaped = report(Return("completed", "", (artifact,), agent="researcher", format="hyper", metadata={"model": "m"},
                           extra={"mood": "fine"}, word="complete"))  # fmt: skip
    assert shaped["meta"] == {"agent_name": "researcher", "status": "complete", "execution_time_ms": 2000, "model": "m"}
    assert shaped["artifacts"] == [
        {"type": "document", "path": "research/a.md", "summary": "A report.", "key_points": [*points], "pages": 3}
    ]
    assert (shaped["next_steps"], shaped["mood"]) == ([], "fine")


def report(returned: Return) -> dict[str, Any]:
    judgement = AttemptVerdict("accepted", returned=returned, claimed=returned,
                               verdict=Verdict("accepted", format=returned.format, returned=returned))  # fmt: skip
    conclusion = conclude(ROW, [Attempt("exited", verdict=judgement)])
    return make_report(ROW._replace(started_ms=1_000), conclusion, ended_ms=3_000).to_dict()


@pytest.mark.parametrize("name", NAMES)
def test_a_status_that_remit_lowered_carries_an_error(name: FormatName) -> None:
    """D4: an unproven `completed` is `partial` with UNPROVEN, in the words of its format."""
    claimed = FORMATS[name].read(dict(make_result("completed", "exited", name).returned))
    judgement = AttemptVerdict(
        "unproven",
        returned=claimed._replace(status="partial"),
        claimed=claimed,
        unproven=("reports/cache.md",),
        verdict=Verdict("accepted", format=name, returned=claimed),
    )
    conclusion = conclude(ROW, [Attempt("exited", verdict=judgement)])
    assert conclusion.lowered
    shaped = make_report(ROW, conclusion, ended_ms=0).to_dict()
    assert find_errors(shaped, name) == []
    assert shaped["remit"]["status"] == "partial"
    told = {"standard": shaped.get("errors"), "hyper": shaped.get("error"), "manifest": shaped.get("needs_followup")}
    assert "UNPROVEN" in json.dumps(told[name])


@pytest.mark.parametrize("name", NAMES)
def test_advice_follows_the_format(name: FormatName) -> None:
    """D12: an agent whose return was refused is shown the instructions of its own format."""
    judgement = AttemptVerdict("missing", verdict=Verdict("missing"))
    conclusion = conclude(ROW._replace(details={"format": name}), [Attempt("exited", verdict=judgement)])
    assert conclusion.errors[0].recommendation == "Fix researcher subagent return format"
    assert f"remit return prompt --format {name}" in conclusion.next_steps[0]


def test_the_text_of_a_manifest_result_is_its_sentence() -> None:
    """D4 R4.5: the caller reads the sentence; a rejected return is the blocked one and a line of Remit's."""
    words = {"completed": "complete", "partial": "partial", "blocked": "blocked"}
    for status, word in words.items():
        assert render_sentence(make_result(status, "exited", "manifest")) == SENTENCES[word]
    rejected = render_sentence(make_result("failed", "exited", "manifest", verdict="invalid"))
    first, second = rejected.split("\n")
    assert first == SENTENCES["blocked"]
    assert second.startswith("Remit: failed, invalid. TIMEOUT: its time was up.")
    assert render_sentence(make_result("completed", "exited", "standard")) == ""
    assert render_sentence(make_result("completed", "exited", "standard", "manifest")) == SENTENCES["complete"]


@pytest.mark.parametrize("status", ["partial", "failed", "blocked"])
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("blank", ["<0>", "...", "{{WHY}}", " "])
def test_texts_that_say_nothing_are_replaced(name: FormatName, status: Status, blank: str) -> None:
    fault = FAULT._replace(message=blank, recommendation=blank)
    result = make_result(status, "exited", name, next_steps=(blank,), errors=(fault,))
    shaped = fit_result(result).to_dict()
    assert find_errors(shaped, name) == []
    assert blank == " " or blank not in json.dumps(shaped)


TEXTS = st.text(min_size=1, max_size=300).filter(str.strip)


@settings(max_examples=60, deadline=None)
@given(st.sampled_from(NAMES), st.sampled_from(STATUSES), st.tuples(TEXTS, TEXTS, TEXTS), st.integers(320, 900))
def test_whatever_went_wrong_the_result_is_valid(
    name: FormatName, status: Status, texts: tuple[str, str, str], max_tokens: int
) -> None:
    summary, message, advice = texts
    fault = FAULT._replace(message=message, recommendation=advice)
    result = make_result(status, "exited", name, summary=f"It ended. {summary}", next_steps=(f"Do {advice}",),
                         errors=() if status == "completed" else (fault,))  # fmt: skip
    shaped = fit_result(result, max_tokens).to_dict()
    assert find_errors(shaped, name) == []
