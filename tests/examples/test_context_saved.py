"""The context saved: what `docs/context.md` says is what comes out, and nothing is lost on the way."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from bench import context
from tests.support.paths import ROOT

if TYPE_CHECKING:
    from pathlib import Path

CHANCE = 16
"""Session ids and hashes are new in every run: so many tokens more or less, for each result."""
ROW = re.compile(r"^\| ([^|]+) \| ([\d,]+) \| ([\d,]+) \| ([\d,]+|—) \|", re.MULTILINE)


def read_table() -> dict[str, tuple[int, int, int | None]]:
    """The table: what was said, what the supervisor gave, and the referee."""
    text = (ROOT / "docs" / "context.md").read_text("utf-8")
    return {
        what: (read_number(said) or 0, read_number(given) or 0, read_number(other))
        for what, said, given, other in ROW.findall(text)
    }


def read_number(word: str) -> int | None:
    return None if word == "—" else int(word.replace(",", ""))


def test_the_page_has_every_answer() -> None:
    table = read_table()
    assert [*table][: len(context.KINDS)] == [*context.KINDS.values()]
    assert len(table) == len(context.KINDS) + 2
    assert all(said < given for said, given, _ in (table[context.KINDS["short"]], [*table.values()][-1]))


@pytest.mark.slow
@pytest.mark.thorough("review")
@pytest.mark.parametrize("kind", ["review", "many"])
def test_what_is_left_out_is_behind_the_pointer(kind: str, tmp_path: Path) -> None:
    root = context.make_root(tmp_path, "workspace")
    sample = context.supervisor(root, kind)
    check_figures({sample.what: read_table()[sample.what]}, [sample])
    found = context.reach(root, sample.passed[0])
    assert found.lost == ()
    assert found.inside + found.behind == {"review": 2, "many": 32 + 3 + 8}[kind]
    assert (found.behind > 0) is (kind == "many")


@pytest.mark.slow
@pytest.mark.thorough
def test_the_figures_of_the_page_come_out_again(tmp_path: Path) -> None:
    samples, found, largest = context.measure(tmp_path)
    assert found.lost == ()
    assert largest <= 400
    told = {sample.what for sample in samples}
    assert told == read_table().keys()
    check_figures(read_table(), samples)


def check_figures(table: dict[str, tuple[int, int, int | None]], samples: list[context.Sample]) -> None:
    for sample in samples:
        said, given, other = table[sample.what]
        expected = given if sample.door == "supervisor" else other
        assert expected is not None
        several = CHANCE * len(sample.passed)
        assert abs(sample.given - expected) <= several, sample.what
        assert sample.door == "referee" or abs(sample.said - said) <= several, sample.what
