"""Second voices: members and scraps that tell another end than the return does."""

import time

import pytest

from remit import check
from remit.contract import check as check_values
from remit.contract.quick import accept_quickly
from remit.contract.voices import MAX_SCRAPS, VOICES, find_denials, find_scraps
from remit.model import Expectation, Status
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
    ("key", "values"),
    [
        ("success", ["false", " No ", 0, 0.0, "0", "failed"]),
        ("ok", ["False", 0]),
        ("completed", [False, "false", "partial"]),
        ("is_error", ["true", "YES", 1]),
        ("isError", [True]),
        ("failed", ["yes", 1, 3, "3"]),
        ("blocked", [True, "true"]),
        ("outcome", ["failure", "aborted", "timeout", " failed", "Timed out"]),
        ("result", ["failed", "Error"]),
        ("state", ["error", "failed "]),
        ("exit_code", [1, -9, "1"]),
        ("exitCode", [2]),
        ("returncode", [1]),
        ("return_code", [1]),
    ],
)
@pytest.mark.parametrize("holder", ["", "/metadata"])
def test_a_member_denies_the_status_in_any_spelling(key: str, values: list[object], holder: str) -> None:
    """R0.3: `"success": "false"` says what `"success": false` says."""
    for value in values:
        message = fenced(standard({f"{holder}/{key}": value}))
        assert check(message, session_id=ISSUED).outcome == "ambiguous", value
    assert check(marked(hyper({"/" + key: values[0]}))).outcome == "ambiguous"


@pytest.mark.parametrize(
    "changes", [{"/metadata/status": "failed "}, {"/metadata/error": True}, {"/metadata/error": 1}]
)
def test_the_metadata_deny_it_in_any_spelling_too(changes: Changes) -> None:
    assert check(fenced(standard(changes)), session_id=ISSUED).outcome == "ambiguous"


def test_the_quick_path_stops_at_every_voice() -> None:
    for key in VOICES - {"status", "errors"}:
        assert accept_quickly(fenced(standard({f"/{key}": "x"})), None, None, None) is None


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
    "changes",
    [
        {"/success": True},
        {"/success": "yes"},
        {"/ok": 1},
        {"/metadata/errors": []},
        {"/metadata/error": "none"},
        {"/metadata/error": "false"},
        {"/metadata/error": 0},
        {"/metadata/status": "done"},
        {"/failed": 0},
        {"/failed": "0"},
        {"/completed": 0},
        {"/completed": 3},
        {"/blocked": []},
        {"/tests": {"passed": 14, "failed": 3}},
        {"/artifacts/0/exit_code": 1},
        {"/exit_code": 0},
        {"/returncode": "0"},
        {"/result": "The failed build is repaired."},
        {"/result": {"status": "failed"}},
        {"/result": 3},
        {"/state": "ready"},
        {"/outcome": "success"},
    ],
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
    '{"st\\u0061tus": "failed"}',
    '{"status": "f\\u0061iled"}',
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


@pytest.mark.parametrize(
    "before", ["status: completed\n", '{"status": "completed"}\n', '{"id": 4, "status": "failed"}\n']
)
def test_what_is_said_last_is_heard_after_any_number_of_others(before: str) -> None:
    for count in (MAX_SCRAPS, 3 * MAX_SCRAPS):
        verdict = check(f'{fenced(standard())}\n{before * count}{{"status": "failed"}}\n', session_id=ISSUED)
        assert verdict.outcome == "ambiguous"


def test_a_scrap_is_not_told_by_what_a_text_in_it_says() -> None:
    assert check(f'{fenced(standard())}\n{{"status": "completed", "note": "it was status: failed"}}\n').accepted


def test_the_search_for_scraps_ends() -> None:
    assert len(list(find_scraps('{"status": "failed"}\n' * 1_000, 0))) == 2 * MAX_SCRAPS


OWN: dict[str, Status] = {"kaputt": "failed", "planned": "completed", "Stuck": "blocked"}
KNOWN = Expectation(ISSUED)


@pytest.mark.parametrize("word", ["kaputt", "KAPUTT ", "stuck"])
def test_the_words_of_the_workspace_deny_a_status_too(word: str) -> None:
    """C3: whoever has a word for failed has it everywhere."""
    for changes in ({"/outcome": word}, {"/metadata/status": word}, {"/status": "planned", "/state": word}):
        text = fenced(standard(changes))
        assert check_values(text, expectation=KNOWN, words=OWN).outcome == "ambiguous"
    assert check_values(fenced(standard({"/outcome": word})), expectation=KNOWN).accepted


@pytest.mark.parametrize("done", ["completed", "planned"])
@pytest.mark.parametrize(
    "scrap", ['{"status": "kaputt"}', '{"st\\u0061tus": "Kaputt"}', '{"status": "stuck", "note": "x"']
)
def test_a_scrap_in_the_words_of_the_workspace_casts_doubt(done: str, scrap: str) -> None:
    text = f"{fenced(standard({'/status': done}))}\n{scrap}\n"
    assert check_values(text, expectation=KNOWN, words=OWN).outcome == "ambiguous"


def test_the_words_of_the_workspace_that_agree_are_left_alone() -> None:
    for changes in ({"/outcome": "planned"}, {"/status": "planned", "/metadata/status": "planned"}):
        assert check_values(fenced(standard(changes)), expectation=KNOWN, words=OWN).accepted
    text = f'{fenced(standard())}\n{{"status": "planned"}}\n'
    assert check_values(text, expectation=KNOWN, words=OWN).accepted


def test_nobody_makes_a_word_of_the_dialects_mean_something_else() -> None:
    words: dict[str, Status] = {"Failed": "completed", "": "failed"}
    text = f'{fenced(standard())}\n{{"status": "Failed"}}\n'
    assert check_values(text, expectation=KNOWN, words=words).outcome == "ambiguous"
    assert check_values(f"{fenced(standard())}\nstatus: \n", expectation=KNOWN, words=words).accepted
