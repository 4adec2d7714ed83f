"""The runner `command`: of a long output the end is read, and the rest is searched for another return."""

import pytest

from remit.runners.command import MAX_BYTES, CommandListener

FAILED = b'{"status": "failed", "summary": "x"}\n'
NOISE = b"noise, exit status 0\n" * 50_000


def hear(*pieces: bytes) -> str:
    listener = CommandListener()
    for piece in pieces:
        listener.feed(piece)
    return listener.finish(errors=b"", exit_code=0).cause


@pytest.mark.parametrize(
    "first", [FAILED, b"{'Status' : 'blocked'}", b'{\\"status\\": \\"partial\\"}', "“status”: “error”".encode()]
)
@pytest.mark.parametrize("count", [9, 30])
def test_a_return_in_what_is_cut_off_is_noticed(first: bytes, count: int) -> None:
    assert hear(first, *[NOISE] * count, b"end") == "cut"
    assert hear(NOISE, first, b"end") == ""
    assert hear(*[NOISE] * count, b"end") == ""


def test_a_return_across_the_cut_is_noticed() -> None:
    for at in range(0, len(FAILED), 5):
        assert hear(FAILED, b"x" * (MAX_BYTES - at)) == "cut"
        assert hear(FAILED, b"x" * (MAX_BYTES - at), b"y" * 2 * MAX_BYTES) == "cut"
