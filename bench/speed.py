"""How long a reader takes for one message, as CPU time and as a multiple of the floor.

All readers are measured in turn, round after round, in one process: what disturbs one round disturbs everybody in it,
and the ratio of a round stays meaningful on a busy machine.
"""

from __future__ import annotations

import copy
import gc
import statistics
import time
from dataclasses import dataclass
from itertools import cycle, islice
from typing import TYPE_CHECKING, Final

from bench.corpus.containers import fence
from bench.corpus.draw import STANDARD, Draw
from bench.corpus.jobs import OAUTH
from bench.corpus.prose import plain_filler
from bench.corpus.writing import SINGLE, comments, pretty, trailing_commas
from bench.peers import FLOOR, Peer, Reader

if TYPE_CHECKING:
    from collections.abc import Iterable

KINDS: Final = ("2 KB clean", "20 KB clean", "2 KB broken")
_FLOOR_KIND: Final = {"2 KB broken": "2 KB clean"}
_VARIANTS: Final = 16
_SLICE_SECONDS: Final = 0.02

Message = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Timing:
    """Microseconds per message and multiples of the floor, over all rounds."""

    micros: float
    ratio: float
    low: float
    high: float


def make_messages() -> dict[str, list[Message]]:
    """The three kinds, each in several variants that differ in session and figures, so that no cache can help."""
    draw = Draw("speed")
    made: dict[str, list[Message]] = {kind: [] for kind in KINDS}
    for _ in range(_VARIANTS):
        sample = draw.sample(STANDARD, status="completed", job=OAUTH)
        payload = copy.deepcopy(sample.payload)
        payload["artifacts"] = payload["artifacts"][:1]
        payload.setdefault("next_steps", OAUTH.steps[0])
        clean = fence(pretty(payload))
        broken = fence(comments(trailing_commas(SINGLE.write(payload)), draw.rng, mark="//", share=0))
        texts = (_fill(draw, clean, 2_048), _fill(draw, clean, 20_480), _fill(draw, broken, 2_048))
        for kind, text in zip(KINDS, texts, strict=True):
            made[kind].append((text, sample.session_id))
    return made


def _fill(draw: Draw, block: str, size: int) -> str:
    """Prose up to `size` characters, then the block."""
    return f"{plain_filler(OAUTH, draw.rng, size - len(block) - 2)}\n\n{block}"


def measure(readers: dict[Peer, Reader], *, rounds: int) -> dict[Peer, dict[str, Timing]]:
    """The timing of every reader on every kind; the floor must be among the readers."""
    messages = make_messages()
    seconds: dict[tuple[Peer, str], list[float]] = {(peer, kind): [] for peer in readers for kind in KINDS}
    repeats = {(peer, kind): _repeats(readers[peer], messages[kind]) for peer, kind in seconds}
    for turn in range(rounds):
        for (peer, kind), taken in seconds.items():
            # One call that takes a second says enough after three rounds.
            if repeats[peer, kind] > 1 or turn < 3:
                taken.append(_per_call(readers[peer], messages[kind], repeats[peer, kind]))
    floors = {kind: seconds[FLOOR, _FLOOR_KIND.get(kind, kind)] for kind in KINDS}
    return {peer: {kind: _timing(seconds[peer, kind], floors[kind]) for kind in KINDS} for peer in readers}


def _timing(taken: Iterable[float], floor: list[float]) -> Timing:
    own = list(taken)
    ratios = sorted(one / other for one, other in zip(own, floor, strict=False))
    return Timing(statistics.median(own) * 1e6, statistics.median(ratios), ratios[0], ratios[-1])


def _repeats(read: Reader, messages: list[Message]) -> int:
    """How many calls fill a slice of time; this is the warm-up too, the first call pays for late imports."""
    _per_call(read, messages, 1)
    if _per_call(read, messages, 1) > _SLICE_SECONDS:
        return 1
    _per_call(read, messages, _VARIANTS)
    return max(1, int(_SLICE_SECONDS / max(_per_call(read, messages, _VARIANTS), 1e-7)))


def _per_call(read: Reader, messages: list[Message], repeats: int) -> float:
    """CPU seconds per call, failures included: a reader that gives up has done its work too."""
    gc.collect()
    gc.disable()
    try:
        failures = 0
        start = time.process_time()
        for text, session_id in islice(cycle(messages), repeats):
            # Costs nothing where nothing is raised; `suppress` would cost a tenth of the floor.
            try:
                read(text, session_id)
            except Exception:
                failures += 1
        return (time.process_time() - start) / repeats
    finally:
        gc.enable()
