"""The line above a block: what it calls the block."""

import pytest

from remit.contract.labels import LABEL_CHARS, read_label


@pytest.mark.parametrize(
    ("before", "aside"),
    [
        ("Draft:\n", "draft"),
        ("## Preliminary result\n\n", "draft"),
        ("**Not the final return**\n```json\n", "draft"),
        ("Example of what I would send:\n~~~json\n", "example"),
        ("The expected format is as follows:\n", "example"),
        ("Quoting the template:\n", "example"),
        ("The previous agent's return:\n", "earlier"),
        ("The subagent returned:\n```\n", "earlier"),
        ("*Superseded*\n", "earlier"),
        ("_Draft_\n", "draft"),
    ],
)
def test_a_label_sets_a_block_aside(before: str, aside: str) -> None:
    """R0.1: what the message itself calls a draft is not its return."""
    assert read_label(before) == aside


@pytest.mark.parametrize(
    "before",
    [
        "",
        "\n\n",
        "Here is my return:\n",
        "Final return, after the earlier draft:\n",
        "The corrected example:\n",
        "I wrote a draft of the plan.\n",
        "Draft:\n\nThe work is done.\n",
        "The draftsman's return:\n",
        f"{'word ' * (LABEL_CHARS // 5)} draft:\n",
    ],
)
def test_other_lines_say_nothing_about_it(before: str) -> None:
    assert read_label(before) is None


@pytest.mark.parametrize("space", [" ", "\t", "\r", "\u00a0", "\n\n\n"])
def test_white_space_between_label_and_block_changes_nothing(space: str) -> None:
    assert read_label(f"Draft:{space}\n```json\n") == "draft"
