"""Every rule: what it is called, what it says of itself, and a good and a bad message that prove it."""

import re
from inspect import cleandoc
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from remit import convert
from remit.model import ArtifactFacts, Diagnostic, Expectation, FileState
from remit.returns.conversion import DIAGNOSTICS
from remit.returns.formats import HYPER, STANDARD, render_schema
from remit.returns.rules import RETURN_RULES, name_verdict
from remit.views.explanations import explain_all
from tests.support.return_rule_samples import CONVERSIONS, SAMPLES, Message, Passage
from tests.support.return_samples import DROP, ISSUED, cut_out, entry, fenced, hyper, line, marked, sentence, standard

PATH = ("orchestrator", "plan", "planner")
BY_CODE = pytest.mark.parametrize("code", sorted(SAMPLES))


def test_every_code_has_a_good_and_a_bad_sample() -> None:
    """C16: a rule that nobody ever saw at work is not a rule."""
    assert sorted(SAMPLES) == sorted(RETURN_RULES)
    assert sorted(CONVERSIONS) == sorted(DIAGNOSTICS)


@BY_CODE
def test_a_good_message_is_accepted_without_the_finding(code: str) -> None:
    verdict = SAMPLES[code].good.judge()
    assert verdict.accepted, verdict.diagnostics
    assert code not in [finding.code for finding in verdict.diagnostics]


@BY_CODE
def test_a_bad_message_has_the_finding_and_no_other(code: str) -> None:
    """C16: what is wrong comes back as a value, told apart from everything else that can be wrong."""
    sample = SAMPLES[code]
    verdict = sample.bad.judge()
    codes = {finding.code for finding in verdict.diagnostics}
    assert codes - set(sample.besides) == {code}
    assert verdict.name == sample.verdict
    assert verdict.accepted is (sample.verdict == "accepted")
    assert (verdict.returned is None) is not verdict.accepted


@BY_CODE
def test_a_finding_says_how_grave_it_is_what_to_do_and_where_it_comes_from(code: str) -> None:
    finding = _find(code, SAMPLES[code].bad)
    assert finding.severity == SAMPLES[code].severity
    assert finding.message[0].islower() or not finding.message[0].isalpha()
    assert not finding.message.endswith(".")
    assert re.fullmatch(r"[A-Z].*[.?…]", finding.hint)


@BY_CODE
def test_a_finding_points_at_the_right_characters(code: str) -> None:
    sample = SAMPLES[code]
    finding = _find(code, sample.bad)
    assert finding.pointer == sample.pointer
    shown = None if finding.place is None else cut_out(sample.bad.text, finding.place)
    assert shown == sample.shown


def test_every_finding_is_collected_errors_first_then_in_the_order_of_the_text() -> None:
    """C16: a first mistake does not hide the others."""
    text = fenced(standard({"/status": "done", "/summary": "Done.", "/metadata/delegation_depth": -1, "/artifacts": 3}))
    verdict = Message(text).judge()
    assert [(finding.code, finding.severity) for finding in verdict.diagnostics] == [
        ("RET022", "error"),
        ("RET021", "error"),
        ("RET026", "error"),
        ("RET032", "warning"),
    ]


@pytest.mark.parametrize(
    ("changes", "known", "pointer"),
    [
        ({"/metadata/agent_type": "reviewer"}, Expectation(ISSUED, "planner"), "/metadata/agent_type"),
        ({"/metadata/delegation_depth": 2}, Expectation(ISSUED, depth=1), "/metadata/delegation_depth"),
        ({"/metadata/delegation_path": ["x"]}, Expectation(ISSUED, path=("o", "p")), "/metadata/delegation_path"),
    ],
)
def test_where_the_caller_knows_the_lineage_a_difference_is_a_warning(
    changes: dict[str, object], known: Expectation, pointer: str
) -> None:
    """R0.7: the caller's values win."""
    verdict = Message(fenced(standard(changes)), expectation=known).judge()
    assert verdict.accepted
    assert [(finding.severity, finding.pointer) for finding in verdict.diagnostics] == [("warning", pointer)]
    assert verdict.returned is not None
    for name in ("agent", "depth", "path"):
        if getattr(known, name) is not None:
            assert getattr(verdict.returned, name) == getattr(known, name)


@pytest.mark.parametrize("key", ["agent_type", "delegation_depth", "delegation_path"])
def test_a_missing_lineage_is_a_warning(key: str) -> None:
    """R0.7 D7: also in a bare check; in a run the ledger's values stand in for it."""
    payload = standard()
    del payload["metadata"][key]
    bare = Message(fenced(payload)).judge()
    known = Message(fenced(payload), expectation=Expectation(ISSUED, "planner", None, 1, PATH)).judge()
    told = [("RET027", "warning", f"/metadata/{key}")]
    for verdict in (bare, known):
        assert verdict.name == "accepted"
        assert [(finding.code, finding.severity, finding.pointer) for finding in verdict.diagnostics] == told
    assert known.returned is not None
    assert (known.returned.agent, known.returned.depth, known.returned.path) == ("planner", 1, PATH)


def test_the_form_of_a_session_id_is_told_where_the_id_stands() -> None:
    """C2 C1: both places are read."""
    message = Message(fenced(standard({"/metadata/session_id": DROP, "/session_id": "my-session"})))
    finding = _find("RET042", message)
    assert finding.pointer == "/session_id"
    assert finding.place is not None
    assert cut_out(message.text, finding.place) == '"my-session"'


@pytest.mark.parametrize("state", ["missing", "empty", "unreadable"])
@pytest.mark.parametrize(("word", "name"), [("complete", "invalid"), ("partial", "accepted"), ("blocked", "accepted")])
def test_a_findings_file_that_is_missing_fails_completed_work_only(state: FileState, word: str, name: str) -> None:
    """C11 R4.12 R4.13: an error for completed, a warning otherwise."""
    payload = entry({"/status": word, "/needs_followup": ["BLOCKED:no access"]})
    facts = {payload["file"]: ArtifactFacts(payload["file"], state, 0)}
    verdict = Message(sentence(word), manifest_tail=line(payload), evidence=facts).judge()
    assert verdict.name == name
    severities = {finding.severity for finding in verdict.diagnostics if finding.code in ("RET051", "RET054", "RET089")}
    assert severities == {"error" if word == "complete" else "warning"}
    assert "RET089" in [finding.code for finding in verdict.diagnostics]


def test_warnings_alone_refuse_nothing() -> None:
    assert name_verdict([_find("RET032", SAMPLES["RET032"].bad)]) == "accepted"


# What conversions tell


@pytest.mark.parametrize("code", sorted(CONVERSIONS))
def test_a_conversion_tells_its_finding_only_where_it_is_due(code: str) -> None:
    """C3 C5 C6: every loss is named, and nothing that is none."""
    good, bad, pointer, severity = CONVERSIONS[code]
    assert code not in [finding.code for finding in _convert(good)]
    told = [finding for finding in _convert(bad) if finding.code == code]
    assert pointer in [finding.pointer for finding in told]
    assert {finding.severity for finding in told} == {severity}


# What the register says


@pytest.mark.parametrize("code", sorted({*RETURN_RULES, *DIAGNOSTICS}))
def test_a_code_is_well_formed_and_documented(code: str) -> None:
    """`remit explain` prints this: what, why, a bad and a good example."""
    [told] = [each for each in explain_all() if each.code == code]
    assert re.fullmatch(r"(?:RET|CNV)\d{3}", code)
    first, *parts = told.documentation.split("\n\n")
    assert re.fullmatch(r"[A-Z][^\n]*\.", first)
    assert [part.partition(":")[0] for part in parts] == ["Why", "Bad", "Good"]
    assert all(part.partition(":")[2].strip() for part in parts)
    assert told.documentation == cleandoc(told.documentation)


def test_names_are_unique_and_speak_for_themselves() -> None:
    names = [each.name for each in RETURN_RULES.values()]
    assert len(set(names)) == len(names)
    assert all(re.fullmatch(r"[a-z]+(?:-[a-z]+)*", name) for name in names)


def test_a_code_cannot_be_given_twice() -> None:
    from remit.returns.rules.register import return_rule  # noqa: PLC0415 - the decorator itself is on trial

    before = dict(RETURN_RULES)
    with pytest.raises(ValueError, match="RET001"):
        return_rule("RET001")(RETURN_RULES["RET002"].check)
    assert before == RETURN_RULES


def _find(code: str, message: Message) -> Diagnostic:
    found = [finding for finding in message.judge().diagnostics if finding.code == code]
    assert len(found) == 1, found
    return found[0]


def _convert(passage: Passage) -> tuple[Diagnostic, ...]:
    return convert(passage.text, to=passage.to, **passage.known).diagnostics  # type: ignore[arg-type]


# Errors of a completed return

GIT = {"type": "git_commit_failed", "message": "The hook refused it", "recoverable": True, "recommendation": "Commit."}


@pytest.mark.parametrize(
    ("error", "severity"),
    [
        (GIT, "warning"),
        (GIT | {"recoverable": False}, "warning"),
        (GIT | {"type": "git_failure"}, "warning"),
        (GIT | {"type": "status_sync"}, "warning"),
        (GIT | {"type": "execution", "code": "STATUS_SYNC_FAILED"}, "warning"),
        (GIT | {"code": None}, "warning"),
        (GIT | {"type": "git", "code": "BUILD_ERROR"}, "error"),
        (GIT | {"type": "build_error"}, "error"),
        (GIT | {"type": "timeout"}, "error"),
        (GIT | {"type": "delegation_failure"}, "error"),
        (GIT | {"type": "gremlins", "message": "git commit failed, the work is done"}, "error"),
    ],
)
def test_only_an_error_of_a_step_after_the_work_leaves_it_completed(error: dict[str, object], severity: str) -> None:
    """D6: by code, or by type if there is no code; never by words. The files stay."""
    payload = standard({"/errors": [error]})
    verdict = Message(fenced(payload)).judge()
    assert [(each.code, each.severity, each.pointer) for each in verdict.diagnostics] == [
        ("RET061", severity, "/errors/0")
    ]
    assert verdict.accepted is (severity == "warning")
    assert Draft202012Validator(render_schema(STANDARD)).is_valid(payload) is verdict.accepted
    if verdict.returned is not None:
        assert verdict.returned.status == "completed"
        assert [artifact.path for artifact in verdict.returned.artifacts] == [standard()["artifacts"][0]["path"]]
        assert verdict.returned.errors[0].code in ("GIT_COMMIT_FAILED", "STATUS_SYNC_FAILED")


@pytest.mark.parametrize(("code", "severity"), [("GIT_COMMIT_FAILED", "warning"), ("BUILD_ERROR", "error")])
def test_a_complete_hyper_return_may_report_a_failed_commit(code: str, severity: str) -> None:
    """D6: `hyper` has codes only."""
    payload = hyper({"/error": {"code": code, "message": "The hook refused it"}})
    verdict = Message(marked(payload)).judge()
    assert [(each.code, each.severity, each.pointer) for each in verdict.diagnostics] == [
        ("RET061", severity, "/error")
    ]
    assert Draft202012Validator(render_schema(HYPER)).is_valid(payload) is verdict.accepted is (severity == "warning")


def test_a_completed_return_with_a_failed_commit_is_converted() -> None:
    """D6: a failed commit doesn't make a complete manifest entry a blocked one."""
    text = fenced(standard({"/errors": [GIT]}))
    for target in ("hyper", "manifest"):
        result = convert(text, to=target, today="2026-01-05")
        assert result.accepted, result.diagnostics
        assert "/errors/0" in {finding.pointer for finding in result.diagnostics if finding.code == "CNV001"}
        status = result.payload["meta"]["status"] if target == "hyper" else result.payload["status"]
        assert status == "complete"


@pytest.mark.conforms("001-44")
@pytest.mark.parametrize(
    ("kind", "code"),
    [
        ("timeout", "TIMEOUT"),
        ("validation_failure", "VALIDATION_FAILED"),
        ("file_operation_failure", "FILE_NOT_FOUND"),
        ("delegation_failure", "DELEGATION_FAILED"),
        ("git_failure", "GIT_COMMIT_FAILED"),
        ("git_commit_failed", "GIT_COMMIT_FAILED"),
        ("max_depth_exceeded", "MAX_DEPTH_EXCEEDED"),
        ("build_error", "BUILD_ERROR"),
        ("gremlins", "UNKNOWN_ERROR"),
    ],
)
def test_an_error_type_stands_for_a_code(kind: str, code: str) -> None:
    """D13 R2.16: the names of 001, and codes in small letters."""
    payload = standard({"/status": "partial", "/errors": [GIT | {"type": kind}]})
    returned = Message(fenced(payload)).judge().returned
    assert returned is not None
    assert returned.errors[0].code == code


# Required fields


@pytest.mark.conforms("000-21")
@pytest.mark.parametrize("field", ["status", "summary", "artifacts", "metadata"])
@pytest.mark.parametrize("return_format", [None, "standard"])
def test_a_missing_field_is_named_in_standard(field: str, return_format: str | None) -> None:
    """R0.2: also the status, without which an object hardly looks like a return."""
    verdict = Message(fenced(standard({f"/{field}": DROP})), return_format).judge()
    assert verdict.name == "invalid"
    assert ("RET020", f"{field} is missing") in {(each.code, each.message) for each in verdict.diagnostics}


@pytest.mark.parametrize("field", ["meta", "artifacts", "next_steps", "meta/status", "artifacts/0/summary"])
@pytest.mark.parametrize("return_format", [None, "hyper"])
def test_a_missing_field_is_named_in_hyper(field: str, return_format: str | None) -> None:
    """R3.1 R3.2: also `meta`."""
    verdict = Message(marked(hyper({f"/{field}": DROP})), return_format).judge()
    assert verdict.name == "invalid"
    assert [(each.code, each.pointer) for each in verdict.diagnostics] == [("RET020", f"/{field}")]


@pytest.mark.parametrize("field", ["id", "file", "title", "date", "status", "key_findings", "actionable"])
def test_a_missing_field_is_named_in_a_manifest_entry(field: str) -> None:
    """R4.7."""
    verdict = Message(sentence(), manifest_tail=line(entry({f"/{field}": DROP}))).judge()
    assert verdict.name == "invalid"
    assert ("RET020", f"/{field}") in {(each.code, each.pointer) for each in verdict.diagnostics}


# Empty items


@pytest.mark.parametrize(
    ("message", "pointer"),
    [
        (Message(fenced(standard({"/metadata/delegation_path": ["orchestrator", "", "planner"]}))), "/metadata/delegation_path"),
        (Message(fenced(standard({"/next_steps": ["", "Run it"]}))), "/next_steps"),
        (Message(marked(hyper({"/next_steps": ["Run it", " "]}))), "/next_steps"),
        (Message(marked(hyper({"/artifacts/0/key_points/0": ""}))), "/artifacts/0/key_points"),
        (Message(sentence(), manifest_tail=line(entry({"/linked_tasks": ["", "T1"]}))), "/linked_tasks"),
        (Message(sentence(), manifest_tail=line(entry({"/topics": [""]}))), "/topics"),
    ],
)  # fmt: skip
def test_empty_items_of_lists_are_dropped(message: Message, pointer: str) -> None:
    """D5 C15: on reading, and recorded as a repair."""
    verdict = message.judge()
    assert verdict.name == "repaired"
    assert [repair.kind for repair in verdict.repairs] == ["empty_items"]
    value: Any = verdict.payload
    for key in pointer[1:].split("/"):
        value = value[int(key)] if isinstance(value, list) else value[key]
    assert all(item.strip() for item in value)


def test_what_stands_behind_an_empty_item_is_still_pointed_at() -> None:
    """D5: the place of a diagnostic is that of the value in the message."""
    message = Message(fenced(standard({"/metadata/delegation_path": ["", "orchestrator", 7]})))
    finding = _find("RET021", message)
    assert finding.pointer == "/metadata/delegation_path/1"
    assert finding.place is not None
    assert cut_out(message.text, finding.place) == "7"


def test_partial_work_whose_only_reason_is_empty_has_no_reason() -> None:
    """D5: an empty item says nothing."""
    changes = {"/status": "blocked", "/needs_followup": [""]}
    verdict = Message(sentence("blocked"), manifest_tail=line(entry(changes))).judge()
    assert [finding.code for finding in verdict.diagnostics] == ["RET088"]
