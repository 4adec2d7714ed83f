"""Causes: what is the same error again, what came back after a fix, and which one a user means."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from remit.errorlog.causes import MAX_CAUSE_CHARS, choose, find_cause, group_errors, normalize
from remit.errorlog.records import ErrorRecord, format_time
from remit.errors import UsageError

HOUR_MS = 3_600_000


def happen(
    hour: int, message: str = "it broke", *, status: str = "open", closed: int | None = None, **rest: object
) -> ErrorRecord:
    """An error that happened at an hour, and was closed at another."""
    record = ErrorRecord("execution", message, "UNKNOWN_ERROR", id=f"err_{hour}", time=format_time(hour * HOUR_MS))
    when = "" if closed is None else format_time(closed * HOUR_MS)
    return record._replace(fix_status=status, closed=when, **rest)  # type: ignore[arg-type]


# What differs from one time to the next


@pytest.mark.parametrize(
    ("message", "cause"),
    [
        ("dispatch for task 17 lost connection", "dispatch for task <n> lost connection"),
        ("src/remit/a.py:12:3: E501 too long", "<path>: e501 too long"),
        ("no such file: /home/ada/x/state.json.", "no such file: <path>."),
        ("cannot open notes.md or lib\\main.rs", "cannot open <path> or <path>"),
        ("module 'foo.bar' has no attribute \"baz\"", "module <name> has no attribute <name>"),
        ("it's the agent's fault, isn't it", "it's the agent's fault, isn't it"),
        ("session sess_1786342011_4592c8 ended at 2026-08-10T08:04:21Z", "session <id> ended at <time>"),
        ("commit 0172b639 is not 1b893533fe", "commit <id> is not <id>"),
        ("id 3fa85f64-5717-4562-b3fc-2c963f66afa6", "id <id>"),
        ("GET https://api.example/v1?x=1 failed after 3.5 s", "get <url> failed after <n> s"),
        ("exit code 137, signal 9, HTTP 503", "exit code 137, signal 9, http 503"),
        ("error TS2304 and/or os.path", "error ts2304 and/or os.path"),
        ("30,000 of 40,000 rows", "<n> of <n> rows"),
        ("two\n  lines\tof it", "two lines of it"),
        ("", ""),
    ],
)
def test_what_differs_is_taken_out(message: str, cause: str) -> None:
    assert normalize(message) == cause


@given(st.text(max_size=300))
def test_any_message_has_a_cause_of_bounded_length(message: str) -> None:
    assert len(normalize(message)) <= MAX_CAUSE_CHARS
    assert find_cause(happen(1, message)) == find_cause(happen(2, message))


@pytest.mark.parametrize("piece", ["a", "1", "'", '"', "a/", "/", ".", "a.py:", "0x", "-", "sess_", "\\", "“"])
def test_a_long_message_is_not_read_to_its_end(piece: str) -> None:
    start = time.process_time()
    normalize(piece * 1_000_000)
    assert time.process_time() - start < 0.5


def test_another_code_is_another_cause() -> None:
    one = happen(1)
    assert find_cause(one).key != find_cause(one._replace(code="TIMEOUT")).key
    assert find_cause(one).key == find_cause(one._replace(code="unknown_error")).key


# Groups


def test_errors_of_one_cause_are_one_group_and_the_newest_group_comes_first() -> None:
    found = group_errors([
        happen(5, "task 2 failed", task_number=2, session_id="b"),
        happen(9, "other"),
        happen(3, "task 1 failed", task_number=1, session_id="a"),
        happen(4, "task 1 failed", task_number=1, session_id="b"),
    ])  # fmt: skip
    assert [group.cause.text for group in found] == ["other", "task <n> failed"]
    group = found[1]
    assert [record.id for record in group.records] == ["err_3", "err_4", "err_5"]
    assert (group.first, group.last) == (format_time(3 * HOUR_MS), format_time(5 * HOUR_MS))
    assert (group.tasks, group.sessions, group.newest.id) == (("1", "2"), ("a", "b"), "err_5")
    assert (group.fix_status, group.recurred) == ("open", False)


def test_what_happens_after_a_fix_came_back() -> None:
    (group,) = group_errors([happen(1, status="fixed", closed=2), happen(3), happen(4)])
    assert (group.fix_status, group.recurred, group.recurrences) == ("open", True, 2)


def test_what_happened_before_the_fix_did_not_come_back() -> None:
    (group,) = group_errors([happen(1), happen(2, status="fixed", closed=5), happen(3)])
    assert (group.fix_status, group.recurred) == ("open", False)


def test_that_it_came_back_is_still_known_when_it_is_fixed_again() -> None:
    (group,) = group_errors([happen(1, status="fixed", closed=2), happen(3, status="fixed", closed=4)])
    assert (group.fix_status, group.recurrences) == ("fixed", 1)


def test_a_fix_that_nobody_dated_was_made_after_the_last_error_that_it_fixed() -> None:
    fixed = [happen(hour, status="fixed") for hour in (1, 2, 3)]
    assert group_errors(fixed)[0].recurrences == 0
    assert group_errors([*fixed, happen(4)])[0].recurrences == 1


def test_a_cause_that_is_ignored_stays_ignored_when_it_happens_again() -> None:
    ignored = happen(1, status="ignored", closed=2)
    assert group_errors([ignored, happen(3)])[0].fix_status == "ignored"
    assert group_errors([ignored, happen(1, task_number=7)])[0].fix_status == "open"
    assert group_errors([ignored])[0].fix_status == "ignored"


def test_a_cause_that_somebody_looks_into_is_open() -> None:
    group = group_errors([happen(1, status="investigating")])[0]
    assert (group.fix_status, group.is_open) == ("investigating", True)


# Which one a user means


LOG = [
    happen(1, "alpha")._replace(id="err_10_aa"),
    happen(2, "beta")._replace(id="err_10_ab"),
    happen(3, "beta")._replace(id=""),
]


def test_an_error_is_named_by_its_id_or_its_beginning() -> None:
    assert choose(LOG, "err_10_aa").records == (LOG[0],)
    assert choose(LOG, "err_10_ab").whole is False
    with pytest.raises(UsageError, match=r"2 ids start with it .err_10_aa, err_10_ab"):
        choose(LOG, "err_10")


def test_a_group_is_named_by_its_key_or_its_beginning() -> None:
    key = find_cause(LOG[1]).key
    for word in (key, key[:4]):
        chosen = choose(LOG, word)
        assert (chosen.whole, chosen.records) == (True, (LOG[1], LOG[2]))


def test_errors_that_share_an_id_are_meant_together() -> None:
    """A merge can leave them."""
    both = [LOG[0], LOG[1]._replace(id="err_10_aa")]
    assert choose(both, "err_10_aa").records == tuple(reversed(both))


@pytest.mark.parametrize("word", ["", "zz", "err_10_ax"])
def test_a_word_that_names_nothing_is_told_with_what_to_do(word: str) -> None:
    with pytest.raises(UsageError, match="there is no error") as caught:
        choose(LOG, word)
    assert caught.value.hint


def test_in_a_log_of_thousands_nobody_looks_for_what_was_meant() -> None:
    many = [happen(hour, f"cause {'x' * (hour % 100)}") for hour in range(3000)]
    start = time.process_time()
    with pytest.raises(UsageError, match="there is no error"):
        choose(many, "zz")
    assert time.process_time() - start < 1
