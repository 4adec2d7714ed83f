"""Where an object stands in a message: fences, prose, markers, lists, tags.

Owns placement; it takes the text of an object as it is, right or broken.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from . import prose

if TYPE_CHECKING:
    import random

    from .draw import Sample

START: Final = "<!-- AGENT_OUTPUT_START -->"
END: Final = "<!-- AGENT_OUTPUT_END -->"


def fence(body: str, *, mark: str = "```", info: str = "json") -> str:
    """A fenced block."""
    return f"{mark}{info}\n{body}\n{mark}"


def at_end(sample: Sample, rng: random.Random, block: str) -> str:
    """Prose, then the block."""
    return prose.before(sample.job, rng) + block


def in_middle(sample: Sample, rng: random.Random, block: str) -> str:
    """Prose, the block, some last words."""
    return f"{prose.before(sample.job, rng)}{block}\n\n{prose.closing(sample.job, rng)}\n"


def at_start(sample: Sample, rng: random.Random, block: str) -> str:
    """The block first, the report after it."""
    return f"{block}\n\n{prose.report(sample.job, rng)}\n\n{prose.closing(sample.job, rng)}"


def anywhere(sample: Sample, rng: random.Random, block: str) -> str:
    """One of the three usual places, the end most often."""
    place = rng.choice((at_end, at_end, in_middle, in_middle, at_start))
    return place(sample, rng, block)


def marked(body: str, *, info: str = "json") -> str:
    """A fence between the two marker comments."""
    return f"{START}\n{fence(body, info=info)}\n{END}"


def indented(text: str, pad: str) -> str:
    """Every line moved to the right."""
    return "\n".join(pad + line for line in text.split("\n"))


def quoted(text: str) -> str:
    """A Markdown quotation."""
    return "\n".join(f"> {line}".rstrip() for line in text.split("\n"))
