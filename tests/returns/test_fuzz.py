"""The fuzzer's laws, on a few thousand messages that are the same in every run."""

import random

import pytest

from fuzz.laws import Trial, check_laws, draw_trial, load_seeds
from tests.support.sample_sizes import choose

TRIALS = choose(8_000, 20_000)
PARTS = 4


@pytest.mark.parametrize("seed", load_seeds(), ids=lambda text: text[:20].replace("\n", " "))
def test_the_laws_hold_for_every_sample(seed: str) -> None:
    for return_format in (None, "standard", "hyper", "manifest"):
        check_laws(Trial(seed, return_format))
        check_laws(Trial(seed.encode(), return_format))


@pytest.mark.parametrize("part", [0, *(pytest.param(part, marks=pytest.mark.slow) for part in range(1, PARTS))])
@pytest.mark.thorough
def test_the_laws_hold_for_mutated_messages(part: int) -> None:
    """C16: never raises, never slow, and what is accepted is whole, bound, and accepted again."""
    rng = random.Random(part)  # noqa: S311 - the same messages in every run
    seeds = load_seeds()
    accepted = 0
    for number in range(TRIALS // PARTS):
        trial = draw_trial(seeds, rng)
        try:
            accepted += check_laws(trial).accepted
        except Exception as error:
            error.add_note(f"message {number} of part {part}: {trial!r}")
            raise
    assert accepted > TRIALS // PARTS // 50, "messages so broken that none is accepted prove little"


def test_a_broken_law_is_noticed() -> None:
    with pytest.raises(AssertionError, match="took"):
        check_laws(Trial("x"), max_seconds=0.0)
