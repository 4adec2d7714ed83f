"""Sentences are counted as a reader would, in prose and in lists."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from remit.sentences import as_clause, count_sentences, count_statements, has_word


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("", 0),
        (" \n", 0),
        ("Done", 1),
        ("Done.", 1),
        ("Wrote it. Checked it!", 2),
        ("See plans/implementation-001.md for v1.2.", 1),
        ("Reads files, e.g. plans. Writes others.", 2),
        ('He said "go." Then left.', 2),
        ("The answer is no. We should fix it.", 2),
        ("See no. 5 and No. 12 of the list. No. 3 is done.", 2),
        ("No.", 1),
    ],
)
def test_sentences_of_prose(text: str, count: int) -> None:
    assert count_sentences(text) == count
    assert count_statements(text) == count


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("1. Read the task\n2. Write the plan\n3. Return", 3),
        ("- Read the task.\n- Write the plan.", 2),
        ("Do this:\n* read\n* write", 2),
        ("Do this:\r\n  1) read\r\n  2) write\r\n", 2),
    ],
)
def test_an_item_of_a_list_is_a_sentence(text: str, count: int) -> None:
    assert count_statements(text) == count


def test_a_long_text_is_counted_in_its_first_part() -> None:
    assert count_sentences("Yes. " * 100_000) == 800


def test_a_name_in_capitals_stays_so_within_a_sentence() -> None:
    assert as_clause("Give it a marker.") == "give it a marker"
    assert as_clause("COMPLETED is the end of a task.") == "COMPLETED is the end of a task"


@given(st.text(alphabet="agit_ .G", max_size=30), st.sampled_from(["git", "a", "it"]))
def test_a_word_is_found_as_a_pattern_would_find_it(text: str, word: str) -> None:
    assert has_word(text, word) is (re.search(rf"\b{word}\b", text) is not None)
