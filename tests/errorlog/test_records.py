"""Records: read from any tool's entry, written as S8 has it, and told to people."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from remit.errorlog.records import (
    MAX_MESSAGE_CHARS,
    ErrorRecord,
    clean,
    derive_code,
    format_time,
    make_records,
    parse_time,
    prepare,
    read_record,
    shape_record,
    summarize_for_user,
)
from remit.model import AgentError
from tests.support.error_samples import NOW, NOW_MS, TIMEOUT, make_entry

LOST = AgentError(
    "timeout", "The planner did not answer.", "TIMEOUT", recoverable=True, recommendation="Run /plan 17 again."
)
BROKEN = AgentError(
    "build_error", "The build fails.", "BUILD_ERROR", recoverable=False, recommendation="Look at the log."
)


# R2.18


def test_if_all_can_be_recovered_the_user_hears_the_first_recommendation() -> None:
    """R2.18."""
    other = LOST._replace(recommendation="Wait.")
    assert summarize_for_user([LOST, other]) == "Run /plan 17 again."
    assert summarize_for_user([LOST._replace(recommendation=""), other]) == "Wait."
    assert summarize_for_user([LOST._replace(recommendation=" ")]) == "The planner did not answer. You can retry it."


def test_if_one_cannot_the_user_hears_the_first_message_and_that_a_person_is_needed() -> None:
    """R2.18."""
    assert summarize_for_user([LOST, BROKEN]) == "The planner did not answer. Needs your decision."
    assert summarize_for_user([BROKEN]) == "The build fails. Needs your decision."


def test_without_faults_there_is_nothing_to_hear() -> None:
    assert not summarize_for_user([])


def test_what_a_user_hears_holds_no_secret() -> None:
    secret = "hunter2" * 2
    assert secret not in summarize_for_user([LOST._replace(recommendation=f"use password={secret}")])


# R2.17, S8


def test_a_fault_becomes_a_record_in_the_shape_of_the_standard() -> None:
    """R2.17, S8: the code, where it happened, and what to do."""
    (made,) = make_records(
        [LOST],
        session_id="sess_1_a",
        command="/plan",
        task_number=17,
        phase=2,
        path=("orchestrator", "planner"),
        depth=1,
    )
    shape = shape_record(prepare(made, now_ms=NOW_MS))
    number = shape.pop("id")
    assert number.startswith("err_1786349061_")
    assert shape == {
        "timestamp": NOW,
        "type": "timeout",
        "severity": "medium",
        "message": "The planner did not answer.",
        "code": "TIMEOUT",
        "context": {"session_id": "sess_1_a", "command": "/plan", "task_number": 17, "phase": 2},
        "trajectory": {"delegation_path": ["orchestrator", "planner"], "failed_at_depth": 1},
        "recovery": {"suggested_action": "Run /plan 17 again.", "auto_recoverable": True},
        "fix_status": "unfixed",
    }
    assert make_records([BROKEN], session_id="s")[0].severity == "high"


def test_what_is_written_is_read_again() -> None:
    kept = prepare(TIMEOUT, now_ms=NOW_MS)
    assert read_record(json.loads(json.dumps(shape_record(kept)))) == kept._replace(word="unfixed")


@given(
    st.builds(ErrorRecord, st.text(), st.text(), st.text(), session_id=st.text(), phase=st.none() | st.integers(0, 9))
)
def test_whatever_an_agent_says_is_kept_as_json_and_prepared_once(record: ErrorRecord) -> None:
    kept = prepare(record, now_ms=NOW_MS)
    json.dumps(shape_record(kept), ensure_ascii=False).encode()
    assert prepare(kept, now_ms=NOW_MS + 5000) == kept
    assert read_record(shape_record(kept)).identity == kept.identity


def test_the_id_tells_what_was_said_and_when() -> None:
    one = prepare(TIMEOUT, now_ms=NOW_MS)
    assert prepare(TIMEOUT, now_ms=NOW_MS).id == one.id
    assert prepare(TIMEOUT._replace(phase=3), now_ms=NOW_MS).id != one.id
    assert prepare(TIMEOUT, now_ms=NOW_MS + 1000).id != one.id


def test_secrets_and_floods_do_not_get_into_a_record() -> None:
    secret = "hunter2" * 2
    flood = prepare(TIMEOUT._replace(message="x" * 5_000_000, path=("a",) * 99), now_ms=NOW_MS)
    assert len(flood.message) <= MAX_MESSAGE_CHARS
    assert flood.message.endswith("(of 5000000 characters)")
    assert len(flood.path) == 20
    told = {
        "message": f"password={secret}",
        "suggested_action": f"PASSWORD: {secret}",
        "command": f"x --token {secret}",
    }
    kept = prepare(TIMEOUT._replace(**told), now_ms=NOW_MS)  # type: ignore[arg-type]
    assert secret not in str(kept)


def test_half_a_character_is_replaced() -> None:
    assert clean("a\ud800b", 10) == "a?b"


# Other tools


@pytest.mark.parametrize(
    ("word", "status"),
    [
        ("unfixed", "open"), ("not_addressed", "open"), ("", "open"), ("who knows", "open"), ("open", "open"),
        ("investigating", "investigating"), ("In Progress", "investigating"),
        ("fixed", "fixed"), ("resolved", "fixed"), ("FIXED", "fixed"), ("fix_attempted", "fixed"),
        ("ignored", "ignored"), ("wont-fix", "ignored"), ("won't fix", "ignored"),
    ],
)  # fmt: skip
def test_every_tool_has_its_own_words_for_what_became_of_an_error(word: str, status: str) -> None:
    record = read_record(make_entry(1, fix_status=word))
    assert (record.fix_status, record.word) == (status, word)
    assert record.is_open == (status in {"open", "investigating"})


def test_an_entry_of_another_tool_is_read() -> None:
    record = read_record(
        {
            "timestamp": "t",
            "type": "delegation_hang",
            "context": {"task": 191},
            "error": "it hung",
            "resolved_at": "then",
        }
    )
    assert (record.message, record.task_number, record.code, record.closed) == (
        "it hung",
        191,
        "DELEGATION_HANG",
        "then",
    )


KEYS = st.sampled_from(["id", "message", "context", "trajectory", "recovery", "fix_status", "code", "timestamp"])
INNER_KEYS = st.sampled_from(["session_id", "task", "delegation_path", "failed_at_depth", "phase"])
VALUES = st.recursive(
    st.none() | st.booleans() | st.floats() | st.integers() | st.text(max_size=9),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(INNER_KEYS, inner, max_size=3),
)


@given(st.dictionaries(KEYS, VALUES))
def test_an_entry_of_any_kind_is_read(value: dict[str, object]) -> None:
    record = read_record(value)
    assert isinstance(record.message, str)
    assert record.fix_status in {"open", "investigating", "fixed", "ignored"}
    hash(record)


@pytest.mark.parametrize(
    ("kind", "code"),
    [("timeout", "TIMEOUT"), ("git_commit_failure", "GIT_COMMIT_FAILED"), ("validation_failed", "VALIDATION_FAILED"),
     ("tool_unavailable", "TOOL_UNAVAILABLE"), ("hook defect", "HOOK_DEFECT"), ("", "UNKNOWN_ERROR")],
)  # fmt: skip
def test_a_code_that_nobody_gave_comes_from_the_type(kind: str, code: str) -> None:
    """R2.16."""
    assert derive_code(kind) == code


@pytest.mark.parametrize(
    ("text", "moment"),
    [(NOW, NOW_MS), ("2026-08-10T10:04:21.492+02:00", NOW_MS), ("2026-08-10T08:04:21.492", NOW_MS),
     ("1786349061", NOW_MS - 492), ("1786349061492", NOW_MS), ("2026-08-10", 1_786_320_000_000),
     ("yesterday", None), ("", None), ("2026-13-45", None), ("9" * 39, float("9" * 39))],
)  # fmt: skip
def test_a_time_is_read_in_every_form(text: str, moment: float | None) -> None:
    assert parse_time(text) == moment


def test_a_time_is_written_to_the_millisecond() -> None:
    assert format_time(NOW_MS) == NOW
