"""Every rule: what it is called, what it says of itself, and a good and a bad message that prove it."""

import re
from inspect import cleandoc

import pytest

from remit import convert
from remit.app import explain_all
from remit.contract.convert import TOLD
from remit.contract.rules import RULES, judge_outcome
from remit.model import ArtifactFacts, Expectation, FileState, Finding
from tests.contract.rule_samples import CONVERSIONS, SAMPLES, Message, Passage
from tests.contract.samples import DROP, ISSUED, cut_out, entry, fenced, line, sentence, standard

BY_CODE = pytest.mark.parametrize("code", sorted(SAMPLES))


def test_every_code_has_a_good_and_a_bad_sample() -> None:
    """C16: a rule that nobody ever saw at work is not a rule."""
    assert sorted(SAMPLES) == sorted(RULES)
    assert sorted(CONVERSIONS) == sorted(TOLD)


@BY_CODE
def test_a_good_message_is_accepted_without_the_finding(code: str) -> None:
    verdict = SAMPLES[code].good.judge()
    assert verdict.accepted, verdict.findings
    assert code not in [finding.code for finding in verdict.findings]


@BY_CODE
def test_a_bad_message_has_the_finding_and_no_other(code: str) -> None:
    """C16: what is wrong comes back as a value, told apart from everything else that can be wrong."""
    sample = SAMPLES[code]
    verdict = sample.bad.judge()
    codes = {finding.code for finding in verdict.findings}
    assert codes - set(sample.besides) == {code}
    assert verdict.outcome == sample.outcome
    assert verdict.accepted is (sample.outcome == "accepted")
    assert (verdict.returned is None) is not verdict.accepted


@BY_CODE
def test_a_finding_says_how_grave_it_is_what_to_do_and_where_it_comes_from(code: str) -> None:
    finding = _find(code, SAMPLES[code].bad)
    assert finding.severity == SAMPLES[code].severity
    assert finding.requirement == RULES[code].requirement
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
    assert [(finding.code, finding.severity) for finding in verdict.findings] == [
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
    assert [(finding.severity, finding.pointer) for finding in verdict.findings] == [("warning", pointer)]
    assert verdict.returned is not None
    for name in ("agent", "depth", "path"):
        if getattr(known, name) is not None:
            assert getattr(verdict.returned, name) == getattr(known, name)


@pytest.mark.parametrize("key", ["agent_type", "delegation_depth", "delegation_path"])
def test_a_missing_lineage_is_a_warning_only_where_the_caller_knows_it(key: str) -> None:
    """R0.7: a bare check refuses what is missing; the ledger's values stand in for it."""
    payload = standard()
    del payload["metadata"][key]
    bare = Message(fenced(payload)).judge()
    known = Message(fenced(payload), expectation=Expectation(ISSUED, "planner", None, 1, ("o", "planner"))).judge()
    assert bare.outcome == "invalid"
    assert known.accepted
    assert [(finding.code, finding.severity) for finding in known.findings if finding.code == "RET020"] == [
        ("RET020", "warning")
    ]
    assert known.returned is not None
    assert (known.returned.agent, known.returned.depth, known.returned.path) == ("planner", 1, ("o", "planner"))


def test_the_form_of_a_session_id_is_told_where_the_id_stands() -> None:
    """C2 C1: both places are read."""
    message = Message(fenced(standard({"/metadata/session_id": DROP, "/session_id": "my-session"})))
    finding = _find("RET042", message)
    assert finding.pointer == "/session_id"
    assert finding.place is not None
    assert cut_out(message.text, finding.place) == '"my-session"'


@pytest.mark.parametrize("state", ["missing", "empty", "unreadable"])
@pytest.mark.parametrize(
    ("word", "outcome"), [("complete", "invalid"), ("partial", "accepted"), ("blocked", "accepted")]
)
def test_a_findings_file_that_is_missing_fails_completed_work_only(state: FileState, word: str, outcome: str) -> None:
    """C11 R4.12 R4.13: an error for completed, a warning otherwise."""
    payload = entry({"/status": word, "/needs_followup": ["BLOCKED:no access"]})
    facts = {payload["file"]: ArtifactFacts(payload["file"], state, 0)}
    verdict = Message(sentence(word), manifest_tail=line(payload), evidence=facts).judge()
    assert verdict.outcome == outcome
    severities = {finding.severity for finding in verdict.findings if finding.code in ("RET051", "RET054", "RET089")}
    assert severities == {"error" if word == "complete" else "warning"}
    assert "RET089" in [finding.code for finding in verdict.findings]


def test_warnings_alone_refuse_nothing() -> None:
    assert judge_outcome([_find("RET032", SAMPLES["RET032"].bad)]) == "accepted"


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


@pytest.mark.parametrize("code", sorted({*RULES, *TOLD}))
def test_a_code_is_well_formed_and_documented(code: str) -> None:
    """`remit explain` prints this: what, why, a bad and a good example."""
    [told] = [each for each in explain_all() if each.code == code]
    assert re.fullmatch(r"(?:RET|CNV)\d{3}", code)
    assert all(re.fullmatch(r"[RC]\d+(?:\.\d+)?", name) for name in told.requirement.split())
    assert told.requirement
    first, *parts = told.documentation.split("\n\n")
    assert re.fullmatch(r"[A-Z][^\n]*\.", first)
    assert [part.partition(":")[0] for part in parts] == ["Why", "Bad", "Good"]
    assert all(part.partition(":")[2].strip() for part in parts)
    assert told.documentation == cleandoc(told.documentation)


def test_names_are_unique_and_speak_for_themselves() -> None:
    names = [rule.name for rule in RULES.values()]
    assert len(set(names)) == len(names)
    assert all(re.fullmatch(r"[a-z]+(?:-[a-z]+)*", name) for name in names)


def test_a_code_cannot_be_given_twice() -> None:
    from remit.contract.rules.register import rule  # noqa: PLC0415 - the decorator itself is on trial

    before = dict(RULES)
    with pytest.raises(ValueError, match="RET001"):
        rule("RET001", "R0.1")(RULES["RET002"].check)
    assert before == RULES


def _find(code: str, message: Message) -> Finding:
    found = [finding for finding in message.judge().findings if finding.code == code]
    assert len(found) == 1, found
    return found[0]


def _convert(passage: Passage) -> tuple[Finding, ...]:
    return convert(passage.text, to=passage.to, **passage.known).findings  # type: ignore[arg-type]
