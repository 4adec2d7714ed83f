"""A target: one reader of foreign text, what it is tried with, and what must hold whatever it is given.

Owns the form of a target and how one case is judged. Needs nothing but the package, so that the tests, the count and
the fuzzer that watches every branch try the same laws.
"""

from __future__ import annotations

import importlib
import signal
import time
from contextlib import nullcontext
from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    import random
    from collections.abc import Callable, Iterable, Iterator
    from contextlib import AbstractContextManager
    from types import FrameType

TARGETS: Final = ("extractor", "formats", "frontmatter", "tags", "manifest", "bash_policy", "hook", "http_api")
MAX_SECONDS: Final = 0.25
"""What one case may take, in processor time: a busy machine breaks no law."""
HANGS_AFTER: Final = 10
ASCII: Final = range(0x80)
SIZES: Final = (0, 1, 2, 8, 40, 400)


class Target(NamedTuple):
    """What `fuzz/NAME.py` says of itself."""

    name: str
    packages: tuple[str, ...]
    """What is watched, branch by branch."""
    words: tuple[str, ...]
    """What its texts are made of."""
    seeds: Callable[[], Iterable[bytes]]
    open: Callable[[], AbstractContextManager[Callable[[bytes], None]]]
    """Make what a case needs; the function takes the bytes of one, and raises where a law breaks."""
    max_bytes: int = 4096
    slower: int = 6
    """How many times slower the package is while every branch is watched."""
    asks: int = 1
    """How often one case asks for what has to be quick."""


class SlowError(Exception):
    """A case that took too long."""


def load_target(name: str) -> Target:
    """A target by its name."""
    target: Target = importlib.import_module(f"fuzz.{name}").TARGET
    return target


def expand(data: bytes, words: tuple[str, ...]) -> str:
    """ASCII as it is, every other byte as one of the words: so that chance moves whole pieces about."""
    return "".join(chr(byte) if byte in ASCII else words[byte % len(words)] for byte in data)


def spell(data: bytes, words: tuple[str, ...], *, expanded: bool) -> str:
    """The bytes as text, in one of the two ways."""
    return expand(data, words) if expanded else data.decode("utf-8", "surrogateescape")


def need_nothing(check: Callable[[bytes], None]) -> Callable[[], AbstractContextManager[Callable[[bytes], None]]]:
    """How a target is opened that needs nothing but the package."""
    return lambda: nullcontext(check)


def try_case(check: Callable[[bytes], None], data: bytes, *, max_seconds: float = MAX_SECONDS) -> None:
    """Try one case. One that was slow is tried again: what is imported or collected once is no fault of the case."""
    for is_last in (False, True):
        signal.setitimer(signal.ITIMER_PROF, HANGS_AFTER)
        began = time.process_time()
        try:
            check(data)
        finally:
            signal.setitimer(signal.ITIMER_PROF, 0)
        seconds = time.process_time() - began
        if seconds < max_seconds:
            return
        if is_last:
            raise SlowError(f"it took {seconds:.3f} s")


def end_hangs() -> None:
    """Have a case that does not end raise an error."""

    def stop(_signal: int, _frame: FrameType | None) -> None:
        raise SlowError(f"it took more than {HANGS_AFTER} s")

    signal.signal(signal.SIGPROF, stop)


def draw_case(target: Target, seeds: list[bytes], words: list[bytes], rng: random.Random) -> bytes:
    """A seed with a few things left out, put in, doubled or moved, or a heap of words and odd bytes."""
    if rng.random() < 1 / 8:
        heap = [rng.choice(words) if rng.random() < 3 / 4 else rng.randbytes(3) for _ in range(rng.randint(1, 30))]
        return (rng.randbytes(4) + b"".join(heap))[: target.max_bytes]
    data = rng.choice(seeds)
    for _ in range(rng.randint(1, 4)):
        data = _change(data, seeds, words, rng)
    return data[: target.max_bytes]


def _change(data: bytes, seeds: list[bytes], words: list[bytes], rng: random.Random) -> bytes:
    """The bytes with one piece of them replaced, put elsewhere, or cut off."""
    at = rng.randint(0, len(data))
    until = min(len(data), at + rng.choice(SIZES))
    match rng.randrange(9):
        case 0 | 1:
            piece = rng.choice(words)
        case 2:
            piece = b""
        case 3:
            piece = data[at:until] * rng.choice((2, 2, 3, 50))
        case 4:
            piece = rng.randbytes(until - at or 1)
        case 5:  # the first bytes say how the others are taken
            at = rng.randint(0, min(len(data), 4))
            until, piece = at + 1, rng.randbytes(1)
        case 6:
            piece, at = data[at:until], rng.randint(0, len(data))
            until = at
        case 7:
            other = rng.choice(seeds)
            until, piece = len(data), other[rng.randint(0, len(other)) :]
        case _:
            until, piece = len(data), b""
    return data[:at] + piece + data[until:]


def list_words(target: Target) -> list[bytes]:
    """Its words as bytes."""
    return sorted({word.encode("utf-8", "surrogatepass") for word in target.words})


def take_every(step: int, items: Iterable[bytes]) -> Iterator[bytes]:
    """One of so many."""
    for number, item in enumerate(items):
        if number % step == 0:
            yield item
