"""The record of what was found: each fault names a test that is there."""

from __future__ import annotations

import re

import pytest

from tests.support.paths import ROOT

NAMED = re.compile(r"^\|.*\| `(tests/[\w/]+\.py)::(\w+)` \|$", re.MULTILINE)
ROWS = NAMED.findall((ROOT / "docs" / "found.md").read_text(encoding="utf-8"))


def test_every_fault_names_its_test_and_there_are_enough() -> None:
    text = (ROOT / "docs" / "found.md").read_text(encoding="utf-8")
    heads = ("| found", "| danger", "|---")
    rows = [line for line in text.splitlines() if line.startswith("|") and not line.startswith(heads)]
    assert len(rows) == len(ROWS) >= 60


@pytest.mark.parametrize(("file", "name"), ROWS)
def test_the_test_is_there(file: str, name: str) -> None:
    assert re.search(rf"^(async )?def {name}\(", (ROOT / file).read_text(encoding="utf-8"), re.MULTILINE)
