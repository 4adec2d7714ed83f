"""The example blocks of the five standards, as test data: only the blocks, with where they stand and what they are."""

from __future__ import annotations

import json
from functools import cache
from typing import NamedTuple

from tests.support.paths import DATA

_FILE = DATA / "standards" / "examples.jsonl"


class Example(NamedTuple):
    """A block of a standard."""

    standard: str
    """The number of the standard, `000` to `004`."""
    line: int
    title: str
    """The heading that it stands under."""
    kind: str
    text: str

    @property
    def name(self) -> str:
        """How a test names it."""
        return f"{self.standard}:{self.line} {self.title}"


@cache
def load_examples() -> tuple[Example, ...]:
    """Every block, in the order of the standards."""
    return tuple(Example(**json.loads(line)) for line in _FILE.read_text().splitlines())


def list_examples(kind: str) -> list[Example]:
    """The blocks of one kind; there is at least one."""
    found = [example for example in load_examples() if example.kind == kind]
    assert found, f"no example is a {kind}"
    return found


def get_example(standard: str, line: int) -> Example:
    """The block that begins at a line."""
    [found] = [example for example in load_examples() if (example.standard, example.line) == (standard, line)]
    return found
