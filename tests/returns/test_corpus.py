"""The labelled corpus of the bench: nearly all read right, nothing accepted that may not be, nothing that hangs."""

import sys
import time
from collections import Counter

import pytest

from bench.messages import LARGE_NAMES, Case, Payload, cases, large_case
from remit import check
from tests.support.sample_sizes import choose

RIGHT_SHARE = 0.98
PATIENCE_SECONDS = 2.0 if sys.gettrace() is None else 30.0  # measuring coverage takes its time
"""Of the processor; the bench asks for half a second on a machine of its own."""


def read(case: Case) -> Payload | None:
    verdict = check(case.text, session_id=case.session_id)
    return verdict.payload if verdict.accepted else None


def test_the_corpus_is_large_and_varied() -> None:
    """R0: at least 300 messages, with and without a return."""
    kinds = Counter(case.expected is None for case in cases())
    assert len(cases()) >= 300
    assert min(kinds.values()) >= 90
    assert len({case.category for case in cases()}) >= 30
    assert len({case.name for case in cases()}) == len(cases())


def test_nothing_is_accepted_that_may_not_be() -> None:
    """R0: never a false completed."""
    assert [case.name for case in cases() if case.expected is None and read(case) is not None] == []


def test_nearly_every_return_is_read_right() -> None:
    """R0 R3 C10: at least 98 in a hundred, and never another than the one that is meant."""
    found = [case for case in cases() if case.expected is not None]
    wrong = [case.name for case in found if not case.is_right(read(case))]
    assert len(wrong) <= (1 - RIGHT_SHARE) * len(found), wrong


@pytest.mark.slow
@pytest.mark.thorough
def test_every_message_of_the_corpus_can_be_explained() -> None:
    """C16: whatever the verdict, its reasons can be asked for, and an accepted one has no error."""
    for case in cases():
        verdict = check(case.text, session_id=case.session_id)
        assert verdict.accepted is not any(finding.severity == "error" for finding in verdict.diagnostics), case.name
        assert verdict.accepted is (verdict.returned is not None), case.name


@pytest.mark.slow
@pytest.mark.parametrize("name", LARGE_NAMES[:: choose(2, 1)])
def test_a_large_or_hostile_message_is_read_right_and_in_time(name: str) -> None:
    """R0.1: linear in the text, no crash, no recursion error."""
    case = large_case(name)
    start = time.process_time()
    payload = read(case)
    assert time.process_time() - start < PATIENCE_SECONDS
    assert case.is_right(payload)
