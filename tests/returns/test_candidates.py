"""The scan: which objects of a message try to be a return, and what the message says around them."""

import pytest

from remit.returns.candidates import MAX_CANDIDATES, MessageScan, ReturnCandidate, scan_message
from remit.returns.formats import HYPER, STANDARD
from remit.returns.tolerant_json import MAX_DEPTH
from tests.support.return_samples import ISSUED, OTHER, fenced, hyper, line, marked, pretty, standard, stopped

BOTH = (STANDARD, HYPER)


def scan(text: str, session_id: str | None = None) -> MessageScan:
    return scan_message(text, BOTH, session_id)


def find(text: str, session_id: str | None = None) -> list[ReturnCandidate]:
    return scan(text, session_id).candidates


@pytest.mark.parametrize(
    "text",
    [
        pretty(standard()),
        line(standard()),
        fenced(standard()),
        f"~~~\n{pretty(standard())}\n~~~",
        f"The return is {line(standard())} and that is all.",
        f"\ufeff{pretty(standard())}",
    ],
    ids=["bare", "one line", "fenced", "tildes", "in a sentence", "byte order mark"],
)
def test_a_return_is_found_wherever_it_stands(text: str) -> None:
    """C10: the whole message, or a block in it."""
    [found] = find(text)
    assert found.parsed.value == standard()
    assert found.return_format is STANDARD
    assert text[found.parsed.start] == "{"
    assert text[found.parsed.end - 1] == "}"


def test_the_dialect_is_told_by_the_keys() -> None:
    """C10: standard and hyper are told apart without being asked."""
    assert [found.return_format for found in find(marked(hyper()) + fenced(standard()))] == [HYPER, STANDARD]
    assert not scan_message(pretty(hyper()), (STANDARD,), None).candidates


@pytest.mark.parametrize(
    "text",
    [
        "I fixed it. The status is completed.",
        'The config is {"status": "ok"} now.',
        '{"a": {"b": 1}}',
        "{",
        "status {",
        '{"summary": "x", "artifacts": [], "metadata": {}}',
    ],
)
def test_other_objects_are_no_candidates(text: str) -> None:
    result = scan(text)
    assert not result.candidates
    assert result.unreadable is None


def test_a_return_inside_a_text_of_another_object_is_data() -> None:
    """R0.1: a file that was written, a log that was quoted: not an answer."""
    assert not find(line({"tool": "write", "content": pretty(standard())}))
    assert not find(line({"log": [{"output": line(standard())}]}))


@pytest.mark.parametrize("name", ["return", "result", "agent_output", "data"])
def test_a_small_wrapper_is_opened(name: str) -> None:
    [found] = find(pretty({name: standard(), "attempt": 2}))
    assert found.parsed.value == standard()
    assert found.wrapping == ("envelope",)


@pytest.mark.parametrize(
    "wrapper",
    [
        {"result": standard(), "steps": [1]},
        {"result": standard(), "answer": standard()},
        {"result": standard(), "is_error": True},
        {"result": standard(), "success": False},
        {"result": standard(), "success": "false"},
        {"result": standard(), "exit_code": 1},
        {"status_report": standard()},
    ],
)
def test_a_wrapper_that_says_more_or_failed_is_not_opened(wrapper: dict[str, object]) -> None:
    """R0.1: an object inside another is data, unless the other is plainly its envelope."""
    assert not find(pretty(wrapper))


def test_what_cannot_be_read_is_remembered_with_its_place() -> None:
    text = 'Done: {"status": completed and more}'
    result = scan(text)
    assert not result.candidates
    assert result.unreadable is not None
    reason, start, end = result.unreadable
    assert reason == "expected a value"
    assert text[start:end] == '{"status": '


def test_an_object_inside_an_unreadable_one_is_still_found() -> None:
    [found] = find(f'{{"answer": see {" " * 60}{line(standard())}}}')
    assert found.parsed.value == standard()
    assert not found.glued


def test_a_return_inside_one_that_cannot_be_read_is_a_part_of_it() -> None:
    [found] = find(f'{{"status": {line(standard())}, oops}}')
    assert found.glued


@pytest.mark.parametrize(
    ("text", "hidden"),
    [
        (f"<thinking>\n{pretty(standard())}\n</thinking>\nDone.", "thinking"),
        (f"He said\n> {line(standard())}\n", "quoted"),
        (fenced(standard(), "A draft:\n"), None),
        (fenced(standard(), "<think>\nhm\n</think>\n"), None),
        (fenced(standard({"/summary": "Documented <think> and </think>. Done."})), None),
    ],
)
def test_a_thought_and_a_quotation_are_hidden(text: str, hidden: str | None) -> None:
    """R0.1: structure decides, and no word does."""
    [found] = find(text)
    assert found.hidden == hidden


def test_a_candidate_knows_whether_it_is_marked_or_alone() -> None:
    """R3.7: the markers name the block that counts."""
    [block] = find(marked(hyper()))
    [bare] = find(f"  {pretty(standard())}\n")
    [after] = find("<!-- AGENT_OUTPUT_START -->\nSome words first.\n" + fenced(hyper()))
    assert (block.marked, block.alone) == (True, False)
    assert (bare.marked, bare.alone) == (False, True)
    assert not after.marked


def test_nearly_all_that_the_dialect_asks_for_is_strong() -> None:
    [found] = find(pretty(standard()))
    [lacking] = find(pretty({key: value for key, value in standard().items() if key != "metadata"}))
    [poor] = find(pretty({"status": "completed", "summary": "Done."}))
    assert (found.is_strong, lacking.is_strong, poor.is_strong) == (True, True, False)


def test_a_crowd_of_small_objects_is_passed_over() -> None:
    crowd = "\n".join(line({"status": "ok", "row": number}) for number in range(30_000))
    [found] = find(f"{crowd}\n{fenced(standard())}")
    assert found.parsed.value == standard()


def test_of_a_crowd_of_returns_only_those_of_the_issued_session_are_read() -> None:
    """C1: the issued id is what tells an agent's own return from the others."""
    others = [line(standard({"/metadata/session_id": OTHER, "/summary": f"Version {n}. Done."})) for n in range(500)]
    text = "\n".join([*others, line(standard())])
    assert [c.parsed.value for c in find(text, ISSUED) if ISSUED in line(c.parsed.value)] == [standard()]
    assert len(find(text, ISSUED)) < 50


def test_more_candidates_than_anybody_could_mean_are_too_many() -> None:
    texts = [line(standard({"/summary": f"Version {number}. Done."})) for number in range(MAX_CANDIDATES + 40)]
    assert scan("\n".join(texts)).overflow is not None


def test_a_repeated_return_is_read_once_the_crowd_grows() -> None:
    result = scan("\n".join([line(standard())] * 5_000))
    assert result.overflow is None
    assert {line(found.parsed.value) for found in result.candidates} == {line(standard())}


def test_a_fence_ends_what_was_left_open_before_it() -> None:
    text = f'Log: {{"open": [1, 2\n```\n\n{fenced(stopped("failed"), "")}'
    assert [found.parsed.value for found in find(text)] == [stopped("failed")]


def test_nesting_beyond_the_cap_is_told_as_that() -> None:
    result = scan('{"status": ' + "[" * (MAX_DEPTH + 1))
    assert result.capped
    assert not result.candidates
