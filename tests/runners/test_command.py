"""The runner `command`: it reads the end of a long output and searches the rest for another return."""

import pytest

from remit.runners.command import MAX_BYTES, CommandListener, CommandRunner
from remit.runners.protocol import AttemptOrder
from remit.runners.python import PythonRunner

FAILED = b'{"status": "failed", "summary": "x"}\n'
NOISE = b"noise, exit status 0\n" * 50_000


def hear(*pieces: bytes, own: tuple[str, ...] = ()) -> str:
    listener = CommandListener(own)
    for piece in pieces:
        listener.feed(piece)
    return listener.finish(errors=b"", exit_code=0).cause


@pytest.mark.parametrize(
    "first",
    [
        FAILED,
        b"{'Status' : 'blocked'}",
        b'{\\"status\\": \\"partial\\"}',
        "“status”: “error”".encode(),
    ],
)
@pytest.mark.parametrize("count", [9, 30])
@pytest.mark.thorough
def test_a_return_in_what_is_cut_off_is_noticed(first: bytes, count: int) -> None:
    assert hear(first, *[NOISE] * count, b"end") == "cut"
    assert hear(NOISE, first, b"end") == ""
    assert hear(*[NOISE] * count, b"end") == ""


def test_a_return_across_the_cut_is_noticed() -> None:
    for at in range(0, len(FAILED), 5):
        assert hear(FAILED, b"x" * (MAX_BYTES - at)) == "cut"
        assert hear(FAILED, b"x" * (MAX_BYTES - at), b"y" * 2 * MAX_BYTES) == "cut"


@pytest.mark.parametrize("word", ["kaputt", "zerstört", "not done"])
def test_a_status_in_the_words_of_the_workspace_is_noticed(word: str) -> None:
    first = f'{{"status": "{word}", "summary": "x"}}\n'.encode()
    assert hear(first, *[NOISE] * 9, b"end", own=(word,)) == "cut"
    assert hear(first, *[NOISE] * 9, b"end") == ""


@pytest.mark.parametrize("runner", [CommandRunner(), PythonRunner()])
def test_a_listener_knows_the_words_of_its_order(runner: CommandRunner | PythonRunner) -> None:
    order = AttemptOrder("s", "", "Do it.", "", "", status_words=("kaputt",))
    listener = runner.listen(order)
    listener.feed(b'{"status": "kaputt"}' + b"x" * 2 * MAX_BYTES)
    assert listener.finish(errors=b"", exit_code=0).cause == "cut"
