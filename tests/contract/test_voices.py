"""Second voices: members and scraps that tell another end than the return does."""

import time

import pytest

from remit import check
from remit.contract import check as check_values
from remit.contract.voices import MAX_SCRAPS, find_denials, find_scraps
from tests.contract.samples import ISSUED, Changes, entry, fenced, hyper, line, marked, sentence, standard, stopped


@pytest.mark.parametrize(
    ("changes", "pointer"),
    [
        ({"/success": False}, "/success"),
        ({"/is_error": True}, "/is_error"),
        ({"/metadata/errors": [{"message": "two tests fail"}]}, "/metadata/errors"),
        ({"/metadata/error": "timeout"}, "/metadata/error"),
        ({"/metadata/status": "failed"}, "/metadata/status"),
    ],
)
def test_a_member_that_denies_the_status_is_named(changes: Changes, pointer: str) -> None:
    """R0.3: completed in one place and failed in another is not completed."""
    assert list(find_denials(standard(changes), "metadata")) == [pointer]
    for session_id in (None, ISSUED):
        verdict = check(fenced(standard(changes)), session_id=session_id)
        assert verdict.outcome == "ambiguous"
        assert "RET007" in [finding.code for finding in verdict.findings]


@pytest.mark.parametrize(
    "changes",
    [
        {"/STATUS": "failed"},
        {"/status ": "failed"},
        {"/\u200bstatus": "failed"},
        {"/st\u0430tus": "failed"},
        {"/\uff33tatus": "blocked"},
        {"/Errors": [{"message": "two tests fail"}]},
        {"/metadata/ERROR": "timeout"},
        {"/Success": False},
        {"/Artifacts": []},
        {"/Summary": "Nothing was done."},
        {"/metadata/Session_Id": "sess_1_other0"},
    ],
)
def test_a_key_in_another_spelling_that_says_otherwise_is_named(changes: Changes) -> None:
    """R0.3: to whoever reads it, `STATUS` is the status."""
    for session_id in (None, ISSUED):
        for text in (fenced(standard(changes)), f"{fenced(standard(changes))}\nThat is all.\n"):
            verdict = check(text, session_id=session_id)
            assert verdict.outcome == "ambiguous"
            assert "RET007" in [finding.code for finding in verdict.findings]


@pytest.mark.parametrize(
    "changes", [{"/STATUS": "Completed"}, {"/Errors": []}, {"/Notes": "x"}, {"/statu\u0301": 1}, {"/metadata/Ok": True}]
)
def test_a_key_in_another_spelling_that_agrees_is_left_alone(changes: Changes) -> None:
    assert check(fenced(standard(changes))).payload == standard(changes)
    assert check(fenced(standard(changes))).accepted


def test_the_other_dialects_have_one_spelling_too() -> None:
    assert check(marked(hyper({"/meta/Status": "error"}))).outcome == "ambiguous"
    assert check(marked(hyper({"/Error": {"code": "X", "message": "y"}}))).outcome == "ambiguous"
    assert not check_values(sentence(), manifest_tail=line(entry({"/Status": "blocked"}))).accepted


def test_a_long_key_is_not_read_for_long() -> None:
    key = "s" + "\u0301\u0327" * 200_000
    start = time.process_time()
    assert check(fenced(standard({f"/{key}": 1}))).accepted
    assert time.process_time() - start < 2


@pytest.mark.parametrize(
    "changes", [{"/success": True}, {"/metadata/errors": []}, {"/metadata/error": "none"}, {"/metadata/status": "done"}]
)
def test_a_member_that_agrees_is_left_alone(changes: Changes) -> None:
    assert check(fenced(standard(changes))).payload == standard(changes)
    assert check(fenced(standard(changes))).accepted


def test_hyper_is_denied_in_its_own_words() -> None:
    assert not check(marked(hyper({"/errors": ["timeout"]}))).accepted
    assert not check(f'{marked(hyper())}\n{{"meta": {{"status": "error"}}}}').accepted


def test_a_return_that_tells_of_a_failure_is_not_denied_by_one() -> None:
    text = fenced(stopped("partial", {"/success": False}))
    assert check(text).accepted
    assert check(f"{fenced(stopped())}\nSorry, two tests still fail.\n").accepted


SCRAPS = [
    '{"status": "failed"}',
    '{"Status": "failed"}',
    "{'STATUS': 'FAILED'}",
    '{"status": "blocked", "reason": "x"}',
]


@pytest.mark.parametrize("scrap", SCRAPS)
@pytest.mark.parametrize("session_id", [None, ISSUED])
def test_a_scrap_with_another_status_casts_doubt(scrap: str, session_id: str | None) -> None:
    """R0.1: completed, then failed: nobody knows which is meant."""
    verdict = check(f"{fenced(standard())}\n{scrap}\n", session_id=session_id)
    assert (verdict.outcome, verdict.accepted) == ("ambiguous", False)


@pytest.mark.parametrize(
    "after",
    [
        '{"status": "completed"}',
        '{"status": "ok"}',
        '{"id": 4, "status": "failed"}',
        'For reference:\n\n```json\n{"status": "failed", "error": {"code": 502}}\n```',
        'For bad input the API responds with\n\n```json\n{"status": "error", "message": "bad row"}\n```',
    ],
)
def test_other_objects_with_a_status_are_no_voices(after: str) -> None:
    assert check(f"{fenced(standard())}\n{after}\n").accepted


def test_the_search_for_scraps_ends() -> None:
    assert len(list(find_scraps('{"status": "failed"}\n' * 1_000, 0))) == MAX_SCRAPS
