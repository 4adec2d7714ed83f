"""Where in a message a return doesn't count: inside thinking tags and on quoted lines."""

import pytest

from remit.returns.hidden_text import MAX_TAGS, find_thinking, is_quoted
from tests.support.return_samples import line, standard

BLOCK = line(standard())


def is_hidden(before: str, after: str = "") -> str | None:
    text = f"{before}{BLOCK}{after}"
    start, end = len(before), len(before) + len(BLOCK)
    if any(left <= start < right for left, right in find_thinking(text, [(start, end)])):
        return "thinking"
    return "quoted" if is_quoted(text, start) else None


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        ("<thinking>\nI could send\n", "\n</thinking>\nDone.", "thinking"),
        ("<think>\n", "", "thinking"),
        ("I wonder.\n", "\n</think>\nDone.", "thinking"),
        ("[think]", "[/think]\nDone.", "thinking"),
        ("◁think▷", "◁/think▷\nDone.", "thinking"),
        ("<|channel|>analysis\n", "<|end|>\n", "thinking"),
        ("He said\n> ", "\n", "quoted"),
        ("> ```json\n", "\n> ```\n", "quoted"),
        (f"> {'He said ' * 200}", "\n", "quoted"),
        ("1. > ", "\n", "quoted"),
        ("* > ", "\n", "quoted"),
    ],
)
def test_thinking_tags_and_quoted_lines_hide_a_block(before: str, after: str, expected: str) -> None:
    """R0.1: what a model considered or quoted isn't what it answers."""
    assert is_hidden(before, after) == expected


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("<think>\nhm\n</think>\n", ""),
        ("I close the tag with `</think>` and continue.\n", ""),
        ("The <think> tag was documented.\n", ""),
        ("The tag </think> is documented now.\n", ""),
        ("```json\n", "\n```\n"),
        ("The input:\n```\n<think>\nhm\n```\n", "\n"),
        ("```bash\necho '", "'\n```\n"),
        ("```diff\n+", "\n```\n"),
        ("\n````markdown\n```json\n", "\n```\n````\n"),
        ("<!-- AGENT_OUTPUT_START -->\n", "\n<!-- AGENT_OUTPUT_END -->\n"),
        ("<return_format>\n", "\n</return_format>\n"),
        ("<task-notification>\n", "\n</task-notification>\n"),
        ("<user>\nPlan it.\n</user>\n", ""),
    ],
)
def test_other_tags_fences_and_mentions_hide_nothing(before: str, after: str) -> None:
    assert is_hidden(before, after) is None


def test_a_tag_inside_a_text_of_the_block_is_not_a_tag() -> None:
    text = line(standard({"/summary": "Documented <think> and </think>. Done."}))
    assert find_thinking(text, [(0, len(text))]) == []


@pytest.mark.slow
def test_more_tags_than_anyone_writes_hide_the_whole_message() -> None:
    text = "<think></think>" * (MAX_TAGS // 2 + 2)
    assert find_thinking(text, []) == [(0, len(text))]
