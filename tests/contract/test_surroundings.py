"""What a message says around a block: labels, tags, quotations, code."""

import pytest

from remit.contract.surroundings import MAX_TAGS, find_aside, find_stretches, is_marked, read_label
from tests.contract.samples import line, standard

BLOCK = line(standard())


def aside(before: str, after: str = "") -> str | None:
    text = f"{before}{BLOCK}{after}"
    span = (len(before), len(before) + len(BLOCK))
    return find_aside(text, *span, find_stretches(text, [span]))


@pytest.mark.parametrize(
    ("before", "expected"),
    [
        ("Draft:\n", "draft"),
        ("## Preliminary result\n\n", "draft"),
        ("**Not the final return**\n```json\n", "draft"),
        ("_Draft_\n", "draft"),
        ("My return (WIP):\n", "draft"),
        ("Example:\n~~~json\n", "example"),
        ("The expected format is as follows:\n", "example"),
        ("Quoting the template:\n", "example"),
        ("The return should look like this:\n", "example"),
        ("The previous return:\n", "earlier"),
        ("The reviewer subagent returned:\n```\n", "quoted"),
        ("Thinking:\n", "thinking"),
        ("# Example\n\nSome words about it.\n\n", "example"),
    ],
)
def test_a_label_sets_a_block_aside(before: str, expected: str) -> None:
    """R0.1: what the message itself calls a draft is not its return."""
    assert read_label(before) == expected


@pytest.mark.parametrize(
    "before",
    [
        "",
        "\n\n",
        "Here is my return:\n",
        "Final return, after the earlier draft:\n",
        "I wrote a draft of the plan.\n",
        "Draft:\n\nThe work is done.\n",
        "The draftsman's return:\n",
        "I left the sample data alone. Here is my return:\n",
        "# Final\n\n",
        f"{'word ' * 40} draft:\n",
    ],
)
def test_other_lines_say_nothing_about_it(before: str) -> None:
    assert read_label(before) is None


@pytest.mark.parametrize("space", [" ", "\t", "\r", "\u00a0", "\n\n\n"])
def test_white_space_between_label_and_block_changes_nothing(space: str) -> None:
    assert read_label(f"Draft:{space}\n```json\n") == "draft"


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        ("<thinking>\nI could send\n", "\n</thinking>\nDone.", "thinking"),
        ("<think>\n", "", "thinking"),
        ("I wonder.\n", "\n</think>\nDone.", "thinking"),
        ("[think]", "[/think]\nDone.", "thinking"),
        ("<|channel|>analysis\n", "<|end|>\n", "thinking"),
        ("<example>\n", "\n</example>\n", "quoted"),
        ("<tool_result>\n", "\n</tool_result>\n", "quoted"),
        ("He said\n> ", "\n", "quoted"),
        ("> ```json\n", "\n> ```\n", "quoted"),
        ("<!--\n", "\n-->\n", "quoted"),
        ("```bash\necho '", "'\n```\n", "example"),
        ("```diff\n+", "\n```\n", "example"),
        ("```python\nEXPECTED = ", "\n```\n", "example"),
        ("\n````markdown\n```json\n", "\n```\n````\n", "example"),
        ("Example:\n<!-- AGENT_OUTPUT_START -->\n```json\n", "\n```\n<!-- AGENT_OUTPUT_END -->\n", "example"),
    ],
)
def test_tags_quotations_and_code_set_a_block_aside(before: str, after: str, expected: str) -> None:
    """R0.1: what a model considered, quoted or wrote into a file is not what it answers."""
    assert aside(before, after) == expected


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("<think>\nhm\n</think>\n", ""),
        ("I close the tag with `</think>` and go on.\n", ""),
        ("The <think> tag was documented.\n", ""),
        ("The tag </think> is documented now.\n", ""),
        ("```json\n", "\n```\n"),
        ("```\n", "\n```\n"),
        ("<!-- AGENT_OUTPUT_START -->\n", "\n<!-- AGENT_OUTPUT_END -->\n"),
        ("<user>\nPlan it.\n</user>\n", ""),
    ],
)
def test_the_same_signs_elsewhere_mean_nothing(before: str, after: str) -> None:
    assert aside(before, after) is None


def test_a_tag_inside_a_text_of_the_block_is_no_tag() -> None:
    text = line(standard({"/summary": "Documented <think> and </think>. Done."}))
    assert find_stretches(text, [(0, len(text))]) == []


def test_the_start_marker_stands_right_above_its_block() -> None:
    """R3.7: words in between, and it is not marked."""
    assert is_marked("<!-- AGENT_OUTPUT_START -->\n```json\n")
    assert is_marked("<!--AGENT_OUTPUT_START-->")
    assert not is_marked("<!-- AGENT_OUTPUT_START -->\nSome words.\n```json\n")
    assert not is_marked("<!-- AGENT_OUTPUT_END -->\n")


@pytest.mark.slow
def test_more_tags_than_anybody_writes_are_all_thinking() -> None:
    text = "<think></think>" * (MAX_TAGS // 2 + 2)
    assert [(stretch.start, stretch.end) for stretch in find_stretches(text, [])] == [(0, len(text))]
