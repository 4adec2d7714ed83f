"""The vocabulary and the exceptions: values that do not change, errors that say what to do."""

import dataclasses

import pytest

from remit.errors import ConfigError, InputError, RemitError, UsageError
from remit.model import ERROR_CODES, NOTHING, STATUSES, AgentError, Artifact, Diagnostic, Expectation, Return, TextSpan
from remit.spelling import did_you_mean


@pytest.mark.parametrize(
    ("value", "name"),
    [
        (Artifact("plan", "a.md"), "path"),
        (AgentError("timeout", "m", "TIMEOUT", recoverable=True, recommendation="r"), "message"),
        (Return("completed", "Done. It works."), "status"),
        (Diagnostic("RET001", "error", "m", "h"), "code"),
        (TextSpan(1, 1, 1, 2), "line"),
        (Expectation(), "agent"),
    ],
)
def test_values_do_not_change(value: object, name: str) -> None:
    with pytest.raises((AttributeError, dataclasses.FrozenInstanceError)):
        setattr(value, name, "other")


def test_what_is_empty_by_default_cannot_be_filled_by_accident() -> None:
    with pytest.raises(TypeError):
        Return("completed", "Done.").extra["a"] = 1  # type: ignore[index]
    assert dict(NOTHING) == {}


def test_the_four_statuses_and_the_codes_are_these() -> None:
    """R0.3 R2.16: case-sensitive words, and a code for every family of errors."""
    assert STATUSES == ("completed", "partial", "failed", "blocked")
    assert {
        "TIMEOUT", "VALIDATION_FAILED", "TOOL_UNAVAILABLE", "BUILD_ERROR", "FILE_NOT_FOUND", "CYCLE_DETECTED",
        "MAX_DEPTH_EXCEEDED", "STATUS_SYNC_FAILED", "GIT_COMMIT_FAILED", "UNKNOWN_ERROR", "CANCELLED", "REFUSED",
        "BUDGET_EXCEEDED", "FABRICATED", "UNPROVEN", "ORPHANED", "CHECK_FAILED",
        "CHECK_NOT_RUN", "CHECK_WEAKENED", "DELEGATION_FAILED",
    } == set(ERROR_CODES.values())  # fmt: skip


@pytest.mark.parametrize(
    ("kind", "code"),
    [(UsageError, "USAGE"), (InputError, "INPUT_UNREADABLE"), (ConfigError, "CONFIG_INVALID")],
)
def test_an_error_carries_a_code_a_sentence_and_a_hint(kind: type[RemitError], code: str) -> None:
    error = kind("it is not there", hint="look again", name="x")
    assert isinstance(error, RemitError)
    assert (error.code, error.message, error.hint, error.data) == (code, "it is not there", "look again", {"name": "x"})
    assert str(error) == "it is not there; look again"
    assert str(kind("it is not there")) == "it is not there"


@pytest.mark.parametrize(
    ("word", "known", "told"),
    [
        ("hypr", ("standard", "hyper"), "did you mean 'hyper'?"),
        ("HYPER", ("standard", "hyper"), "did you mean 'hyper'?"),
        ("RET01", ("RET001", "CNV001"), "did you mean 'RET001'?"),
        ("ret041x", ("RET041", "CNV001"), "did you mean 'RET041'?"),
        ("zzz", ("standard", "hyper"), "available: standard, hyper"),
    ],
)
def test_a_close_word_is_named_else_the_whole_list(word: str, known: tuple[str, ...], told: str) -> None:
    assert did_you_mean(word, known) == told
