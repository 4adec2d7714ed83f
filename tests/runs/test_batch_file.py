"""A file of prompts: read whole or not at all, with the numbers of the lines that are wrong."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from remit.errors import RemitError, UsageError
from remit.runs.batch_file import MAX_LINES, BatchLine, parse_each


def test_texts_and_objects() -> None:
    data = b"""\xef\xbb\xbf"Write it."

{"prompt": "Test it.", "inputs": {"count": 3, "deep": true, "name": "x"}, "timeout": 90, "return_format": "hyper", "task": 4}
"Zw\xc3\xb6lf"\r
"""
    assert parse_each(data, "p") == [
        BatchLine(1, "Write it.", {}),
        BatchLine(3, "Test it.", {"count": "3", "deep": "true", "name": "x"}, 90.0, "hyper", 4),
        BatchLine(4, "Zwölf", {}),
    ]


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        ("prompt", "line 2: it isn't valid JSON"),
        ("12", "line 2: it is neither a text nor an object"),
        ('""', "line 2: it has no prompt"),
        ('{"inputs": {}}', "line 2: it has no prompt"),
        ('{"prompt": ["a"]}', "line 2: it has no prompt"),
        ('{"promt": "a"}', "line 2: unknown key 'promt'; did you mean 'prompt'?"),
        ('{"prompt": "a", "command": "rm -rf /"}', "line 2: unknown key 'command'"),
        ('{"prompt": "a", "prompt": "b"}', "line 2: a key is duplicate"),
        ('{"prompt": "a", "timeout": NaN}', "line 2: NaN isn't valid JSON"),
        ('{"prompt": "a", "timeout": 0}', "line 2: its timeout isn't a positive number of seconds"),
        ('{"prompt": "a", "timeout": true}', "line 2: its timeout isn't a positive number of seconds"),
        ('{"prompt": "a", "inputs": ["x"]}', "line 2: its inputs aren't an object"),
        ('{"prompt": "a", "inputs": {"x": null}}', "line 2: the input 'x' is neither a text nor a number"),
        ('{"prompt": "a", "return_format": 3}', "line 2: its return_format isn't a text"),
        ('{"prompt": "a", "task": [4]}', "line 2: its task is neither a number nor the id of an outside system"),
        ("[" * 100_000, "line 2: it isn't valid JSON"),
        ("9" * 5000, "line 2: it isn't valid JSON"),
    ],
)
def test_a_line_that_is_wrong_is_named(line: str, sentence: str) -> None:
    with pytest.raises(UsageError) as told:
        parse_each(f'"fine"\n{line}\n"fine"'.encode(), "p.jsonl")
    assert sentence in told.value.message


def test_of_many_bad_lines_some_are_told_and_the_rest_counted() -> None:
    with pytest.raises(UsageError) as told:
        parse_each(b"bad\n" * 12, "p")
    assert told.value.message.count("it isn't valid JSON") == 5
    assert told.value.message.endswith("; 7 more")


def test_what_is_not_utf8_is_told() -> None:
    with pytest.raises(UsageError, match="line 1: it isn't valid UTF-8"):
        parse_each(b'"\xff"', "p")


def test_a_file_without_a_prompt_or_with_too_many() -> None:
    with pytest.raises(UsageError, match="has no prompt in it"):
        parse_each(b"\n \n", "p")
    with pytest.raises(UsageError, match="has more than 10,000 prompts"):
        parse_each(b'"a"\n' * (MAX_LINES + 1), "p")


@given(st.binary(max_size=200))
def test_whatever_is_in_it_nothing_else_is_raised(data: bytes) -> None:
    try:
        lines = parse_each(data, "p")
    except RemitError:
        return
    assert lines
