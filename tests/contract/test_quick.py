"""The quick path: what it takes at once, and that it takes nothing which a closer look would not."""

import json

import pytest

from remit.contract.choose import read_carefully
from remit.contract.dialects import HYPER, STANDARD
from remit.contract.placeholders import find_placeholders
from remit.contract.quick import MAX_MESSAGE_CHARS, accept_quickly, is_clean
from remit.contract.repair import MAX_DEPTH, MAX_DIGITS, MAX_VALUES
from remit.contract.rules import Case, run_rules
from remit.model import Expectation
from tests.contract.samples import (
    DROP,
    ISSUED,
    OTHER,
    Changes,
    fenced,
    hyper,
    line,
    marked,
    pretty,
    standard,
    stopped,
)


def is_quick(text: str, session_id: str | None = None, agent: str | None = None, wanted: str | None = None) -> bool:
    return accept_quickly(text, wanted, session_id, agent) is not None


@pytest.mark.parametrize(
    "text",
    [
        pretty(standard()),
        f"{line(standard())}\n",
        fenced(standard()),
        fenced(stopped("failed")),
        fenced(standard(), "Read {this} and <b>that</b>.\n\n"),
        fenced(standard(), "Here is my return:\n"),
        fenced(standard(), "") + "That is all.\n",
        marked(hyper()),
        fenced(hyper()),
    ],
    ids=["bare", "one line", "fenced", "failed", "signs above", "label", "words below", "marked", "hyper fenced"],
)
def test_a_clean_message_is_taken_at_once(text: str) -> None:
    verdict = accept_quickly(text, None, None, None)
    assert verdict is not None
    assert verdict.outcome == "accepted"
    assert verdict.returned is not None
    assert not [finding for finding in verdict.findings if finding.severity == "error"]


def test_the_transport_is_told() -> None:
    """C10: the whole message, or a block in it."""
    bare, block = (
        accept_quickly(pretty(standard()), None, None, None),
        accept_quickly(marked(hyper()), None, None, None),
    )
    assert bare is not None
    assert block is not None
    assert (bare.transport, bare.dialect) == ("message", "standard")
    assert (block.transport, block.dialect) == ("block", "hyper")


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[1]",
        fenced("[1, 2]"),
        fenced("{'a': 1}"),
        fenced(standard(), f"{line(stopped('failed'))}\n\n"),
        fenced(stopped("failed")) + fenced(standard()),
        fenced(standard()) + pretty(stopped("failed")),
        fenced(standard(), "<think>\n"),
        fenced(standard(), "Draft:\n"),
        fenced(standard(), "text before the fence "),
        fenced(standard(), "<b>" * 100),
        fenced(standard()) + "</think>",
        pretty(standard()).replace('"status":', '"status": "failed", "status":'),
        pretty(standard()).replace("312", "NaN"),
        pretty(standard({"/summary": "\ud83d"})),
        " " * MAX_MESSAGE_CHARS + pretty(standard()),
    ],
)
def test_whatever_is_not_plain_is_looked_at_closely(text: str) -> None:
    assert not is_quick(text)


def test_what_the_caller_knows_is_compared() -> None:
    """R0.11: a wrong session id is never quick."""
    assert is_quick(fenced(standard()), ISSUED, "planner", "standard")
    assert not is_quick(fenced(standard()), OTHER)
    assert is_quick(fenced(standard()), None, "reviewer")  # a warning, where the session id may bind
    assert not is_quick(fenced(standard()), wanted="hyper")
    assert is_quick(marked(hyper()), OTHER, "analyst")
    assert not is_quick(marked(hyper()), None, "planner")


# The proof: a closer look would change nothing


@pytest.mark.parametrize(
    "changes",
    [
        {"/summary": "TODO"},
        {"/summary": "TODO "},
        {"/summary": "placeholder\n"},
        {"/artifacts/0/summary": "TBD"},
        {"/artifacts/0/path": "path/to/file.md"},
        {"/artifacts/0/path": "path/to/file.md "},
        {"/metadata/session_id": "session_id "},
        {"/metadata/agent_type": "agent_name "},
        {"/metadata/phase_count": "<number>"},
        {"/metadata/agent_type": "planner | reviewer"},
        {"/metadata/delegation_depth": True},
        {"/metadata/delegation_depth": 10**400},
        {"/metadata/duration_seconds": 10**400},
        {"/metadata/duration_seconds": float("inf")},
        {"/status": "failed", "/errors": [{**stopped()["errors"][0], "type": "timeout|validation"}]},
        {"/session_id": OTHER},
        {"/errors": [{}]},
        {"/artifacts/0/path": "a\u202eb.md"},
        {"/artifacts/0/path": "C:notes.md"},
    ],
)
def test_what_counts_as_clean_has_no_error_and_no_blank(changes: Changes) -> None:
    """R0.2: the compiled check says yes only where every rule does."""
    payload = standard(changes)
    if is_clean(payload, STANDARD, None, None):
        assert list(find_placeholders(payload, STANDARD.shape)) == []
    findings = run_rules(Case("", STANDARD, payload), places=False)
    assert not (is_clean(payload, STANDARD, None, None) and any(each.severity == "error" for each in findings))


@pytest.mark.parametrize(
    "changes",
    [
        {"/meta/agent_name": "agent_name "},
        {"/meta/status": "partial", "/next_steps": []},
        {"/artifacts/0/summary": "placeholder"},
        {"/meta/execution_time_ms": 10**400},
        {"/error": {"code": "E", "message": "m"}},
        {"/meta/status": "partial", "/error": {"code": "E", "message": "m"}},
    ],
)
def test_the_same_holds_for_hyper(changes: Changes) -> None:
    payload = hyper(changes)
    if is_clean(payload, HYPER, None, None):
        assert list(find_placeholders(payload, HYPER.shape)) == []
    findings = run_rules(Case("", HYPER, payload), places=False)
    assert not (is_clean(payload, HYPER, None, None) and any(each.severity == "error" for each in findings))


FAILED = line(stopped("failed"))


@pytest.mark.parametrize(
    "text",
    [
        fenced(standard(), f"{FAILED}\n\n".replace('"status":', '"status"\n:')),
        fenced(standard(), f"{FAILED}\n\n".replace('"status":', '"status" /* so far */ :')),
        fenced(standard(), f"{FAILED}\n\n".replace('"status":', '"status"\u00a0:')),
        fenced(standard(), f"{FAILED}\n\n".replace('"status":', "‚status‘:")),
        fenced(standard(), "Draft:\t\n"),
        fenced(standard(), "Draft:\r\n\r\n"),
        fenced(standard(), "\u00a0# Draft\n"),
        fenced(standard(), "See ```Draft:\n"),
        marked(hyper()) + "</think>\nNow the report.\n",
        marked(hyper(), "I think I will send\n") + "</thinking>\n",
        fenced(standard({"/deep": json.loads("[" * MAX_DEPTH + "]" * MAX_DEPTH)})),
        fenced(standard({"/rows": [1] * (MAX_VALUES - 100)})),
        fenced(standard({"/rows": [1] * (MAX_VALUES + 100)})),
        fenced(standard({"/number": int("7" * MAX_DIGITS)})),
    ],
    ids=[
        "line break before the colon",
        "comment before the colon",
        "odd space before the colon",
        "low quotes",
        "label and tab",
        "label and return",
        "label after an odd space",
        "label after a stray fence",
        "thinking ends below",
        "thinking ends below the markers",
        "deep",
        "many values",
        "too many values",
        "many digits",
    ],
)
def test_what_is_quick_is_taken_by_the_careful_way_too(text: str) -> None:
    """R0.1: the quick path never takes what a closer look refuses."""
    quick = accept_quickly(text, None, None, None)
    careful = read_carefully(text, None, Expectation(), {})
    assert quick is None or (not careful.troubles and careful.payload == quick.payload)


def test_a_return_without_an_artifact_or_with_top_session_is_left_to_the_rules() -> None:
    """C2 C11: both are allowed, and both have something to be said about them."""
    assert is_clean(standard({"/artifacts": []}), STANDARD, None, None)
    assert not is_clean(standard({"/session_id": ISSUED, "/metadata/session_id": DROP}), STANDARD, None, None)
