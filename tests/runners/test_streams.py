"""Streams: pieces of any size, lines of any length, garbage of any kind; and where programs are found."""

from __future__ import annotations

import json
import random
import tracemalloc
from itertools import product
from typing import TYPE_CHECKING, Any

import pytest

from remit.errors import RunnerError
from remit.runners.claude import ClaudeRunner
from remit.runners.codex import CodexRunner
from remit.runners.gemini import GeminiRunner
from remit.runners.opencode import OpencodeRunner
from remit.runners.protocol import AttemptOrder
from remit.runners.streams import MAX_LINE_BYTES, MAX_TOOLS, LineBuffer, find_program, read_errors, show

if TYPE_CHECKING:
    from pathlib import Path

    from remit.runners.protocol import Runner

RUNNERS: list[Runner] = [ClaudeRunner(), CodexRunner(), OpencodeRunner(), GeminiRunner()]
ORDER = AttemptOrder("sess_1_abcdef", "", "go", "/w", "/w/1")

GARBAGE = [
    b"", b"\n\n\n", b"null\n", b"[]\n", b"{", b"{}\n", b"\xff\xfe\n", b"[" * 200_000 + b"\n", b'{"type": 1}\n',
    b'{"type": "result"}\n',
    b'{"type": "result", "modelUsage": {"m": []}, "usage": 3, "permission_denials": [1, {}]}\n',
    b'{"type": "assistant", "message": "x"}\n',
    b'{"type": "assistant", "message": {"content": [1, {"type": "tool_use"}]}}\n',
    b'{"type": "user", "message": {"content": [{"type": "tool_result", "tool_use_id": {}}]}}\n',
    b'{"type": "item.completed"}\n', b'{"type": "item.completed", "item": {"type": "file_change", "changes": [{}]}}\n',
    b'{"type": "item.started", "item": {"type": "command_execution", "command": 5}}\n',
    b'{"type": "turn.failed"}\n', b'{"type": "turn.completed", "usage": "x"}\n',
    b'{"type": "error", "message": "{}"}\n',
    b'{"type": "tool_use", "part": {"state": {"input": [], "metadata": {"exit": true}}}}\n',
    b'{"type": "step_finish", "part": {"tokens": {"input": -1, "cache": []}, "cost": NaN}}\n',
    b'{"type": "result", "status": "success", "stats": []}\n', b'{"type": "message", "role": "assistant"}\n',
    b'{"type": "tool_result", "tool_id": 3}\n',
    b'{"type": "error", "error": "x"}\n', b'{"type": "text", "part": {"text": 1}}\n',
    b'{"type": "step_finish", "part": {"cost": 1e999, "tokens": {"input": 1e999}}}\n',
]  # fmt: skip


@pytest.mark.parametrize("seed", range(20))
def test_lines_come_whole_whatever_the_pieces(seed: int) -> None:
    chance = random.Random(seed)  # noqa: S311 - no secret
    lines = [bytes(chance.choices(b"abc", k=chance.randrange(1, 30))) for _ in range(50)]
    data, reader = b"\n".join(lines), LineBuffer()
    found: list[bytes] = []
    while data:
        size = chance.randrange(1, 40)
        found += reader.feed(data[:size])
        data = data[size:]
    assert [*found, *reader.end()] == lines
    assert [*reader.end()] == []


def test_a_line_that_is_too_long_is_skipped_and_not_kept() -> None:
    reader = LineBuffer()
    tracemalloc.start()
    try:
        piece = b"x" * 1_000_000
        for _ in range(64):
            assert [*reader.feed(piece)] == []
        assert tracemalloc.get_traced_memory()[1] < MAX_LINE_BYTES + 3_000_000
    finally:
        tracemalloc.stop()
    assert [*reader.feed(b"\nshort\n")] == [b"short"]
    assert reader.skipped == 1


def test_a_line_of_very_many_values_costs_little() -> None:
    """16 MB of it took half a gigabyte."""
    listener = ClaudeRunner().listen(ORDER)
    tracemalloc.start()
    try:
        listener.feed(b'{"type": [' + b"[[]]," * 200_000)
        for _ in range(15):
            listener.feed(b"[[]]," * 200_000)
        listener.feed(b"1]}\n")
        listener.feed(b"[" + b"[]," * 100_000 + b"1]\n")  # and no object at all
        assert tracemalloc.get_traced_memory()[1] < 2 * MAX_LINE_BYTES
    finally:
        tracemalloc.stop()
    notes = listener.report().notes
    assert notes == (
        "1 lines of more than 2,097,152 bytes were skipped",
        "1 lines of the stream aren't JSON objects",
    )


def test_garbage_is_no_answer_and_no_error_of_ours(subtests: pytest.Subtests) -> None:
    for runner, exit_code, garbage in product(RUNNERS, [0, 1, None], [*GARBAGE, b"".join(GARBAGE)]):
        with subtests.test(runner=runner, exit_code=exit_code, garbage=garbage):
            listener = runner.listen(ORDER)
            for at in range(0, len(garbage), 4096):
                listener.feed(garbage[at : at + 4096])
                listener.report()
            heard = listener.finish(errors=b"\xff\x1b[31mbad\x1b[0m", exit_code=exit_code)
            assert heard.text is None
            assert heard.cause
            assert heard.trouble
            assert heard.trouble.isprintable()
            assert heard.usage.cost_usd is None or heard.usage.cost_usd >= 0


@pytest.mark.parametrize("runner", RUNNERS, ids=lambda runner: runner.name)
def test_what_was_skipped_is_said(runner: Runner) -> None:
    listener = runner.listen(ORDER)
    for _ in range(3):
        listener.feed(b"x" * 1024 * 1024)
    listener.feed(b"\nno json\n")
    notes = listener.finish(errors=b"", exit_code=0).notes
    assert any("1 lines of more than 2,097,152 bytes" in note for note in notes)
    assert any("1 lines of the stream aren't JSON objects" in note for note in notes)


def test_of_very_many_tools_the_first_ones_are_kept_and_all_counted() -> None:
    listener = ClaudeRunner().listen(ORDER)
    for number in range(MAX_TOOLS + 5):
        use = {"type": "tool_use", "id": f"t{number}", "name": "Read", "input": {"file_path": "a"}}
        listener.feed(json.dumps({"type": "assistant", "message": {"content": [use]}}).encode() + b"\n")
    heard = listener.report()
    assert len(heard.tools or ()) == MAX_TOOLS
    assert heard.notes == (f"{MAX_TOOLS + 5:,} tools were used; the first {MAX_TOOLS:,} are listed",)


@pytest.mark.parametrize("word", ["--evil", "a b", "../x", "", "x" * 200, "a\n"])
def test_what_cannot_be_a_session_is_not_taken_for_one(word: str) -> None:
    for runner in RUNNERS:
        listener = runner.listen(ORDER)
        for kind, key in (
            ("x", "session_id"),
            ("x", "sessionID"),
            ("thread.started", "thread_id"),
            ("init", "session_id"),
        ):
            listener.feed(json.dumps({"type": kind, key: word}).encode() + b"\n")
        assert listener.report().harness_id is None


def test_what_is_shown_is_one_printable_line() -> None:
    assert show("\x1b[31mred\x1b[0m\r\n\tand\x07 more\u202e") == "red and more"
    assert show("a" * 1000, 10) == "aaaaaaaaa…"
    errors = read_errors(b"first\n" + b"x\n" * 1_000_000 + b"\x1b[91mlast\x1b[0m\n\n")
    assert (errors[0], errors[-1]) == ("first", "last")
    assert len(errors) < 100_000


# Where programs are found


def find(order: AttemptOrder) -> str:
    return find_program(order, "claude", "a-package")


def test_a_program_is_taken_from_the_path_or_from_the_settings(tmp_path: Path) -> None:
    program = tmp_path / "bin" / "claude"
    program.parent.mkdir()
    program.touch(mode=0o755)
    path = {"PATH": f"/nowhere:{program.parent}"}
    assert find(ORDER._replace(environ=path)) == str(program)
    assert find(ORDER._replace(settings={"program": str(program)})) == str(program)
    assert find(ORDER._replace(settings={"program": "bin/claude"}, root=str(tmp_path))) == str(program)


@pytest.mark.parametrize("settings", [{}, {"program": "/nowhere/claude"}, {"program": "bin"}, {"program": "/bin\0x"}])
def test_without_a_program_the_error_says_what_to_do(tmp_path: Path, settings: dict[str, Any]) -> None:
    (tmp_path / "claude").mkdir()  # a folder of that name is no program, and neither is a file that cannot be run
    (tmp_path / "bin").touch()
    order = ORDER._replace(environ={"PATH": f"{tmp_path}:.:"}, settings=settings, root=str(tmp_path))
    with pytest.raises(RunnerError, match="there is no program") as caught:
        find(order)
    assert "npm install -g a-package" in caught.value.hint
    assert "[runners.claude]" in caught.value.hint


@pytest.mark.parametrize("runner", RUNNERS, ids=lambda runner: runner.name)
def test_what_the_workspace_has_set_goes_along(runner: Runner, tmp_path: Path) -> None:
    program = tmp_path / "program"
    program.touch(mode=0o755)
    settings = {"program": str(program), "args": ["--more", "x"], "env": {"A": "b"}, "model": "m"}
    order = ORDER._replace(settings=settings)
    for launch in (runner.start(order), runner.resume(order, "an-id", "go on")):
        assert launch.argv[0] == str(program)
        assert launch.environ["A"] == "b"
        assert "--more" in launch.argv
        assert "--model=m" in launch.argv
        assert max(map(len, launch.argv)) < 100_000
    assert runner.start(order._replace(model="own")).argv.count("--model=own") == 1
    assert any("an-id" in word for word in runner.resume(order, "an-id", "go on").argv)
    with pytest.raises(RunnerError, match="without a prompt"):
        runner.start(order._replace(prompt=" \n"))


@pytest.mark.parametrize("runner", RUNNERS, ids=lambda runner: runner.name)
def test_nothing_is_left_to_a_harness_that_it_does_not_hold(runner: Runner, tmp_path: Path) -> None:
    """Their schemas of an answer are not enforced and their hooks skipped without a word: what counts is checked here.

    No permission is bypassed either, which one of them would refuse to a root user.
    """
    program = tmp_path / "program"
    program.touch(mode=0o755)
    launch = runner.start(ORDER._replace(settings={"program": str(program)}, tools=("read", "write", "bash")))
    assert not [word for word in launch.argv if "schema" in word or "hook" in word or "dangerous" in word]
    assert "bypassPermissions" not in str(launch)
