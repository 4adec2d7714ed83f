"""How long a reader takes for one message, as CPU time.

All readers are measured in turn, round after round, in one process: what disturbs one round disturbs everybody in it,
and the ratio of a round stays meaningful on a busy machine.
"""

from __future__ import annotations

import copy
import gc
import time
from itertools import cycle, islice
from typing import TYPE_CHECKING, Final

from bench.corpus.containers import fence
from bench.corpus.draw import STANDARD, Draw
from bench.corpus.jobs import OAUTH
from bench.corpus.prose import plain_filler
from bench.corpus.writing import SINGLE, comments, pretty, trailing_commas

if TYPE_CHECKING:
    from bench.peers import Peer, Reader

KINDS: Final = ("2 KB clean", "20 KB clean", "2 KB broken")
FLOOR_KIND: Final = {"2 KB broken": "2 KB clean"}
"""What is broken costs the floor what it would cost clean: the floor cannot read it."""
_VARIANTS: Final = 16
_SLICE_SECONDS: Final = 0.02

Message = tuple[str, str]


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


def measure(readers: dict[Peer, Reader], *, rounds: int) -> dict[str, dict[Peer, list[float]]]:
    """The microseconds of every reader on every kind, round by round."""
    messages = make_messages()
    taken: dict[str, dict[Peer, list[float]]] = {kind: {peer: [] for peer in readers} for kind in KINDS}
    repeats = {(kind, peer): _repeats(readers[peer], messages[kind]) for kind in KINDS for peer in readers}
    for turn in range(rounds):
        for (kind, peer), calls in repeats.items():
            # One call that takes a second says enough after three rounds.
            if calls > 1 or turn < 3:
                taken[kind][peer].append(_per_call(readers[peer], messages[kind], calls) * 1e6)
    return taken


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
