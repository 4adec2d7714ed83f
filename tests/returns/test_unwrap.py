"""Envelopes: a return that a program wrapped on its way is taken out, one that is mere data is not."""

import html
import json

import pytest

from remit import check
from remit.returns.formats import STANDARD
from remit.returns.unwrap import MAX_LEVELS, unwrap
from tests.support.return_samples import ISSUED, fenced, line, pretty, standard, stopped

MESSAGE = fenced(standard())
CHAT = {"choices": [{"index": 0, "message": {"role": "assistant", "content": MESSAGE}}]}
STREAM = [
    {"type": "system", "session_id": "x"},
    {"type": "assistant", "message": {"role": "assistant", "content": [{"type": "text", "text": "Working on it."}]}},
    {"type": "result", "is_error": False, "result": MESSAGE},
]

WRAPPED = {
    "json_string": json.dumps(MESSAGE),
    "envelope": line({"type": "result", "is_error": False, "result": MESSAGE, "num_turns": 3}),
    "html": html.escape(pretty(standard())),
    "escaped": pretty(standard()).replace('"', '\\"'),
}


@pytest.mark.parametrize("kind", WRAPPED)
def test_a_wrapped_return_is_taken_out_and_that_is_told(kind: str) -> None:
    """C10: one envelope, however it was handed on; the verdict says that it was opened."""
    verdict = check(WRAPPED[kind])
    assert verdict.name == "repaired"
    assert verdict.payload == standard()
    assert [repair.kind for repair in verdict.repairs] == [kind]
    assert [repair.place for repair in verdict.repairs] == [None]


@pytest.mark.parametrize(
    "text",
    [
        line(CHAT),
        pretty(CHAT),
        f"```json\n{pretty(CHAT)}\n```",
        "\n".join(line(each) for each in STREAM),
        "\n".join(["12:01 started", "12:07 finished", line(STREAM[-1])]),
        line([{"role": "user", "content": "Plan it."}, {"role": "assistant", "content": MESSAGE}]),
        line({"result": {"structured_output": standard()}, "cost": 3}),
        json.dumps(json.dumps(MESSAGE)),
        json.dumps(MESSAGE)[1:-1],
        f"The answer, as it came:\n```json\n{json.dumps(pretty(standard()))}\n```\n",
    ],
    ids=[
        "chat",
        "chat over lines",
        "chat in a fence",
        "stream",
        "log",
        "list",
        "nested",
        "twice",
        "unquoted",
        "in a fence",
    ],
)
def test_the_ways_of_programs_are_known(text: str) -> None:
    """C10: a command line's result, a chat completion, lines of events, a JSON text."""
    verdict = check(text)
    assert verdict.name == "repaired"
    assert verdict.payload == standard()


@pytest.mark.parametrize(
    "text",
    [
        line({"role": "user", "content": MESSAGE}),
        line({"type": "tool_result", "content": MESSAGE}),
        line({"tool_name": "write", "content": MESSAGE}),
        line({"file_path": "a.json", "text": pretty(standard())}),
        line({"notes": MESSAGE}),
        line({"type": "thinking", "text": MESSAGE}),
        "\n".join([line(STREAM[-1]), "That is what the other one said."]),
    ],
    ids=["user", "tool result", "tool", "file", "other key", "thinking", "prose after it"],
)
def test_what_an_agent_did_is_not_what_it_said(text: str) -> None:
    """R0.1: a return that went through a tool or came from somebody else is not the agent's answer."""
    verdict = check(text)
    assert not verdict.accepted
    assert verdict.name == "missing"


DUMPS = {
    "texts": json.dumps(["The agent crashed", MESSAGE]),
    "text and code": json.dumps([MESSAGE, 1]),
    "object": line({"returncode": 1, "stdout": MESSAGE}),
}


@pytest.mark.parametrize("dump", DUMPS.values(), ids=DUMPS)
@pytest.mark.parametrize("session_id", [None, ISSUED])
def test_a_return_in_the_print_of_a_failure_is_not_taken(dump: str, session_id: str | None) -> None:
    """R0.1: what a program that failed had printed is no answer, however its failure is written down."""
    for text in (dump, json.dumps(dump)):
        assert check(text, session_id=session_id).name == "missing"


@pytest.mark.parametrize(
    "text",
    [
        f"result = {line(standard())}",
        json.dumps([MESSAGE]),
        json.dumps([standard()]),
        f"Return of the work on ValueError(x) and exit_code=0: {line(standard())}",
    ],
)
def test_what_only_looks_like_such_a_print_is_taken(text: str) -> None:
    assert check(text, session_id=ISSUED).payload == standard()


def test_of_lines_only_the_last_that_carries_an_answer_counts() -> None:
    lines = [{"result": fenced(stopped("failed"))}, {"result": MESSAGE}, {"type": "end"}]
    assert check("\n".join(line(each) for each in lines)).payload == standard()


def test_two_answers_in_one_envelope_that_contradict_each_other_are_ambiguous() -> None:
    verdict = check(line([{"type": "text", "text": MESSAGE}, {"type": "text", "text": fenced(stopped("failed"))}]))
    assert verdict.name == "ambiguous"


def test_a_plain_object_beside_escaped_text_is_not_unescaped() -> None:
    assert not check(f'{{"name": "x"}}\n{html.escape(line(standard()))}').accepted


def test_unwrapping_stops_after_a_few_levels() -> None:
    text = MESSAGE
    for level in range(1, MAX_LEVELS + 2):
        text = json.dumps(text)
        assert check(text).accepted is (level <= MAX_LEVELS)


def test_a_wrapped_return_is_judged_like_any_other() -> None:
    verdict = check(line({"result": fenced(standard({"/status": "success"}))}))
    assert verdict.name == "invalid"
    assert [(finding.code, finding.place) for finding in verdict.diagnostics] == [("RET022", None)]


@pytest.mark.parametrize("text", ["", '"', '"open', "[", "{}", "[[[[[[[[1]]]]]]]]", '{"result": 3}', "&quot;"])
def test_what_holds_no_answer_gives_none(text: str) -> None:
    assert not [inner for _, inner in unwrap(text, STANDARD.is_like) if "status" in inner]
