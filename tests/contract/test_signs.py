"""What the words next to a block say about it: above, on top of and below it."""

import re

import pytest

from remit.contract import phrases
from remit.contract.phrases import INTRODUCING, OVERRULED
from remit.contract.signs import introduces_own, read_aftermath, read_comment, read_head, read_label


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("This is what I should not return:", "withdrawn"),
        ("Never send", "withdrawn"),
        ("Instead of", "withdrawn"),
        ("It would be wrong to return:", "withdrawn"),
        ("If everything had worked, I would return:", "supposed"),
        ("Once you approve, I will send this:", "supposed"),
        ("I plan to finish with:", "supposed"),
        ("Suppose I answered", "supposed"),
        ("The previous agent returned", "quoted"),
        ("In the previous session the planner returned:", "quoted"),
        ("Here is the researcher's return:", "quoted"),
        ("I found this in .return-meta.json:", "quoted"),
        ("You asked me to reply with:", "quoted"),
        ("$ cat .return-meta.json", "quoted"),
        ("User: return this", "quoted"),
        ("For example, an agent might answer with this", "supposed"),
        ("Below is the return format from the standard, unmodified:", "quoted"),
        ("A typical return:", "example"),
        ("Here is a draft for your review:", "draft"),
        ("Thinking", "thinking"),
        ("What the caller hopes to see:", "unclear"),
        ("Simulated return:", "unclear"),
        ("The following JSON is only a template.", "withdrawn"),
        ("What follows is not my answer.", "withdrawn"),
        ("So sollte ich nicht antworten:", "withdrawn"),
    ],
)
def test_an_introduction_sets_a_block_aside(line: str, expected: str) -> None:
    """R0.1: denied, supposed, somebody else's, an example, a draft: not the answer."""
    assert read_label(f"I looked into it.\n\n{line}\n\n```json\n") == expected


@pytest.mark.parametrize(
    "line",
    [
        "Here is my return:",
        "I'll now return the result:",
        "Here's my final answer, as an example of how well it went:",
        "Following the template you gave me:",
        "Per the return format standard, here is my return:",
        "I did not touch the database layer.",
        "The reviewer said the API was unclear, so I renamed two functions.",
        "The plan would take about 9 hours.",
        "- wrote an example config",
        "Der Plan ist fertig. Hier ist meine Rückgabe:",
        "Listo. Este es el resultado final:",
        "I checked my return against the template before sending it.",
        "To the orchestrator:",
        "## Return",
    ],
)
def test_an_honest_introduction_says_nothing_against_it(line: str) -> None:
    assert read_label(f"{line}\n\n```json\n") is None


@pytest.mark.parametrize(
    ("after", "expected"),
    [
        ("Correction: the above is wrong, the tests failed.", "withdrawn"),
        ("Please ignore the JSON above.", "withdrawn"),
        ("Wait, I made a mistake.", "withdrawn"),
        ("The above is just an example.", "withdrawn"),
        ("(This is only a draft.)", "draft"),
        ("That was the previous agent's return, not mine.", "quoted"),
        ("is what they sent.", "withdrawn"),
        ("Should I send this?", "withdrawn"),
        ("Unfortunately the tests failed afterwards.", "doubted"),
        ("I am still running the tests.", "doubted"),
        ("Status: failed", "doubted"),
    ],
)
def test_words_below_take_a_block_back(after: str, expected: str) -> None:
    """R0.1: what is taken back was not returned."""
    assert read_aftermath(f"\n```\n\n{after}") == expected


@pytest.mark.parametrize(
    "after",
    [
        "",
        "Let me know if you want me to go on.",
        "You can ignore the deprecation warnings in the log.",
        "The plan itself is a draft until you approve it.",
        "Once approved, /implement 118 can start.",
        "Note: I didn't push anything.",
        "Filtration stays finite and needs none of that.",
        "This is ready for review.",
        'Update:\n\n{"status": "failed"}',
    ],
)
def test_other_words_below_mean_nothing(after: str) -> None:
    assert read_aftermath(f"\n```\n\n{after}") is None


def test_a_sentence_that_leads_to_the_next_block_speaks_of_that_one() -> None:
    assert read_aftermath("\n```\n\nThis is only a draft:\n\n```json\n") is None
    assert read_aftermath("\n```\n\nThe above is only a draft, this is right:\n\n```json\n") == "draft"


@pytest.mark.parametrize(("comment", "expected"), [("// draft", "draft"), ("# example", "example"), ("// run 3", None)])
def test_a_comment_on_top_is_a_label_too(comment: str, expected: str | None) -> None:
    assert read_label(f"Done.\n\n```json\n{comment}\n") == expected
    assert read_comment(comment) == expected


def test_a_line_of_its_own_is_stronger_than_a_heading() -> None:
    assert read_head("# Example\n\nSome words.") == "example"
    assert read_head("# Example\n\nHere is my return:") is None
    assert introduces_own("### Return\n")
    assert not introduces_own("I changed this:\n")


def test_every_sign_can_be_reached_and_compiles() -> None:
    """A sign runs only where one of its words stands, so it has to have some."""
    for sign in INTRODUCING:
        assert sign.words
        assert sign.aside in OVERRULED
        assert not re.compile(sign.pattern).search("")
    for name in ("OWN", "FINAL", "STATEMENT", "TAKEN_BACK", "GOES_ON", "BUT", "FAILURE", "VERBLESS"):
        re.compile(getattr(phrases, name))
