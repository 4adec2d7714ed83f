"""A glance: the same numbers with and without an index, and no more read than was allowed."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING

import pytest

from remit.errors import InputError
from remit.workspace.home import Home
from remit.workspace.manifest.glance import glance

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

DONE = {"status": "complete", "actionable": False, "needs_followup": []}
OPEN = {"status": "blocked", "needs_followup": ["BLOCKED:no access"]}


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Home]:
    found = Home(str(tmp_path))
    yield found
    found.close()


@pytest.fixture
def file(tmp_path: Path) -> Path:
    lines = [json.dumps(DONE | {"id": "a"}), "", json.dumps(DONE | OPEN | {"id": "b"}), "nonsense", "[]", '{"id":']
    (tmp_path / "M.jsonl").write_text("\n".join(lines))
    return tmp_path / "M.jsonl"


def test_it_says_the_same_with_and_without_a_ledger(home: Home, file: Path) -> None:
    without = glance(home, str(file), max_bytes=10_000)
    assert not home.is_made
    assert home.ledger.file
    assert glance(home, str(file), max_bytes=10_000) == without == (2, 1, 3, 0, True)


def test_what_is_appended_is_seen(home: Home, file: Path) -> None:
    assert home.ledger.file
    glance(home, str(file), max_bytes=10_000)
    with file.open("a") as stream:
        stream.write(f"\n{json.dumps(DONE | {'id': 'c'})}\n")
    assert glance(home, str(file), max_bytes=10_000) == (3, 1, 3, 0, True)


@pytest.mark.parametrize("with_ledger", [True, False])
def test_no_more_is_read_than_was_allowed(home: Home, tmp_path: Path, with_ledger: bool) -> None:  # noqa: FBT001 - a table
    line = json.dumps(DONE | {"id": "a"}) + "\n"
    (tmp_path / "M.jsonl").write_text(line * 1000)
    assert not with_ledger or home.ledger.file
    assert glance(home, str(tmp_path / "M.jsonl"), max_bytes=10 * len(line)) == (10, 0, 0, 1, False)


def test_a_long_one_is_counted_by_its_lines(home: Home, file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("remit.workspace.manifest.glance.MAX_COUNTED", 3)
    assert home.ledger.file
    assert glance(home, str(file), max_bytes=10_000) == (3, 1, 3, 0, True), "a blank line counts there"


@pytest.mark.parametrize("with_ledger", [True, False])
def test_ids_that_are_doubled_are_counted(home: Home, tmp_path: Path, with_ledger: bool) -> None:  # noqa: FBT001 - a table
    """As git leaves them when both sides have added an entry on one topic and day; the last is not even ended."""
    ids = ["a", "b", "a", "c", "b", "a"]
    (tmp_path / "M.jsonl").write_text("\n".join(json.dumps(DONE | {"id": each}) for each in ids))
    assert not with_ledger or home.ledger.file
    assert glance(home, str(tmp_path / "M.jsonl"), max_bytes=10_000) == (6, 0, 0, 2, True)


@pytest.mark.parametrize("with_ledger", [True, False])
def test_a_pipe_is_not_opened(home: Home, tmp_path: Path, with_ledger: bool) -> None:  # noqa: FBT001 - a table
    assert not with_ledger or home.ledger.file
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(InputError, match="is not a file"):
        glance(home, str(tmp_path / "pipe"), max_bytes=100)
