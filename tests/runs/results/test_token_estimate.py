"""The bound on tokens: never below what a tokenizer counts, and of use for prose."""

from __future__ import annotations

import random
import string
import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from remit.runs.results import token_estimate
from remit.runs.results.token_estimate import bound_tokens
from tests.support.paths import ROOT

splintr: Any = pytest.importorskip("splintr", reason="the extra [tokens] is not installed")
TOKENIZERS = [splintr.Tokenizer.from_pretrained(name) for name in ("cl100k_base", "o200k_base")]
WORDS, PAIRS, MARKS = token_estimate._WORDS.split(), token_estimate._PAIRS.split(), token_estimate._MARKS  # noqa: SLF001 - proven here
ALPHABETS = (
    string.ascii_lowercase, string.ascii_letters, string.printable, "ab' \n\t\"{}:,._-/", "qxzjv ", "0123456789abcdef",
    "é漢😀aB1'\u0301 -", " \n\r\tA'", "\x00\x01\x0b\x7f\x85\xa0 a'(", '{}[]":, ab',
)  # fmt: skip


def count(text: str) -> int:
    return max(len(tokenizer.encode(text)) for tokenizer in TOKENIZERS)


def test_every_known_word_is_one_token_and_two_at_most_with_a_mark_or_a_capital() -> None:
    assert len(WORDS) > 600
    assert [word for word in WORDS if count(word) > 1 or count(f" {word}") > 1] == []
    forms = [f"{prefix}{word}" for word in WORDS for prefix in '_/.-"(`']
    forms += [f"{space}{word.capitalize()}" for word in WORDS for space in ("", " ")]
    assert [form for form in forms if count(form) > 2] == []


def test_marks_pairs_and_digits_are_as_the_bound_takes_them() -> None:
    assert [mark for mark in MARKS if count(mark) > 1] == []
    letters = string.ascii_lowercase
    assert sorted(first + second for first in letters for second in letters if count(first + second) > 1) == PAIRS
    assert [letter for letter in string.ascii_letters if count(f" {letter}") > 1] == []
    assert [number for number in range(1000) if count(str(number)) > 1 or count(f"{number:03d}") > 1] == []


@pytest.mark.thorough
def test_random_texts_have_no_more_tokens_than_the_bound() -> None:
    draw = random.Random(5)  # noqa: S311 - no secret
    for _ in range(20_000):
        alphabet = draw.choice(ALPHABETS)
        text = "".join(draw.choice(alphabet) for _ in range(draw.randint(1, 30)))
        assert count(text) <= bound_tokens(text), text


@pytest.mark.slow
@pytest.mark.thorough
def test_random_sentences_have_no_more_tokens_than_the_bound() -> None:
    draw = random.Random(6)  # noqa: S311 - no secret
    joints = [" ", " ", " ", "  ", "_", "'", "'s ", "-", '": "', "\n", ".", "(", "/", "1", "é", "…", "—", "\t", "{\n"]
    for _ in range(20_000):
        words = (draw.choice((str.lower, str.capitalize, str.upper))(draw.choice(WORDS)) for _ in range(6))
        text = "".join(f"{word}{draw.choice(joints)}" for word in words)
        assert count(text) <= bound_tokens(text), text


@given(st.text(max_size=60))
def test_any_text_has_no_more_tokens_than_the_bound(text: str) -> None:
    assert count(text) <= bound_tokens(text)


def test_prose_is_not_counted_by_its_bytes() -> None:
    text = " ".join(ROOT.joinpath("README.md").read_text("utf-8").split())
    assert bound_tokens(text) < 2 * count(text)
    assert bound_tokens(text) < len(text) / 2


@pytest.mark.parametrize("piece", ["a", "😀", "'", "a'", " ", "{", "1", "\n"])
@pytest.mark.thorough
def test_the_time_is_linear(piece: str) -> None:
    def measure(count: int) -> float:
        started = time.process_time()
        assert bound_tokens(piece * count) > 0
        return time.process_time() - started

    measure(1_000)
    assert measure(200_000) < 25 * measure(20_000) + 0.1


def test_nobody_counts_on_when_there_are_enough() -> None:
    text = "漢" * 100 + " " + "x1" * 10**6
    assert 10 < bound_tokens(text, enough=10) < 400
    assert bound_tokens("one two", enough=10) == bound_tokens("one two")
