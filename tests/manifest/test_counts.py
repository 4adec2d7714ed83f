"""Counting: a manifest in numbers."""

import json
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from remit.errors import InputError
from remit.ledger.home import Home
from remit.manifest.counts import BadLine, count_entries, count_quickly, find_bad_lines, find_duplicates
from tests.support.manifest_entries import make_line
from tests.support.manifest_workspace import ManifestWorkspace


def test_a_manifest_in_numbers(place: ManifestWorkspace) -> None:
    place.put("a", "b", topics=["x", "y"], date="2026-01-02", needs_followup=[])
    place.put("a", topics=["y"], status="partial", date="2025-01-02", actionable=False)
    place.write("bad\n", "\n", make_line(without=("id", "date", "topics")), make_line()[:40])
    counted = count_entries(place.index)
    assert counted == (
        6, 4, 2, 3, 1, (("a", 2),), 1, "2025-01-02", "2026-01-02",
        (("complete", 3), ("partial", 1)), (("y", 3), ("x", 2)), True,
    )  # fmt: skip


def test_an_entry_that_is_not_ended_is_counted(place: ManifestWorkspace) -> None:
    place.write(make_line(id="a"), make_line(id="b")[:-1])
    counted = count_entries(place.index)
    assert (counted.lines, counted.entries, counted.bad_lines, counted.is_torn) == (2, 2, 0, False)


def test_a_line_that_is_cut_off_is_the_last_of_the_bad_ones(place: ManifestWorkspace) -> None:
    place.write("bad\n", make_line(), '{"id": "torn')
    first, last = find_bad_lines(place.index)
    assert (first.line, last.line) == (1, 3)
    assert last.reason.endswith(", and no line feed ends it")
    assert find_bad_lines(place.index, limit=1) == (first,)


def test_a_manifest_without_entries(place: ManifestWorkspace) -> None:
    place.write("")
    counted = count_entries(place.index)
    assert (counted.entries, counted.first_day, counted.last_day, counted.is_torn) == (0, None, None, False)


def test_bad_lines_come_in_order_and_with_a_limit(place: ManifestWorkspace) -> None:
    place.write("bad\n", make_line(), "[]\n", "3\n")
    assert [each.line for each in find_bad_lines(place.index)] == [1, 3, 4]
    assert find_bad_lines(place.index, limit=2)[1] == BadLine(3, "the line is a list, not an object")


def test_entries_that_share_an_id_are_named_by_line(place: ManifestWorkspace) -> None:
    """The first keeps the id, and the others are told."""
    place.put("a", date="2026-01-02")
    place.put("b", "a", date="2025-01-02")
    assert find_duplicates(place.index, "a") == (1, 3)
    assert find_duplicates(place.index, "b") == (2,)


# The few numbers: the same with and without an index, and no more read than was allowed

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
    without = count_quickly(home, str(file), max_bytes=10_000)
    assert not home.is_made
    assert home.ledger.file
    assert count_quickly(home, str(file), max_bytes=10_000) == without == (2, 1, 3, 0, True)


def test_what_is_appended_is_seen(home: Home, file: Path) -> None:
    assert home.ledger.file
    count_quickly(home, str(file), max_bytes=10_000)
    with file.open("a") as stream:
        stream.write(f"\n{json.dumps(DONE | {'id': 'c'})}\n")
    assert count_quickly(home, str(file), max_bytes=10_000) == (3, 1, 3, 0, True)


@pytest.mark.parametrize("with_ledger", [True, False])
def test_no_more_is_read_than_was_allowed(home: Home, tmp_path: Path, with_ledger: bool) -> None:  # noqa: FBT001 - a table
    line = json.dumps(DONE | {"id": "a"}) + "\n"
    (tmp_path / "M.jsonl").write_text(line * 1000)
    assert not with_ledger or home.ledger.file
    assert count_quickly(home, str(tmp_path / "M.jsonl"), max_bytes=10 * len(line)) == (10, 0, 0, 1, False)


@pytest.mark.parametrize("with_ledger", [True, False])
def test_ids_that_are_doubled_are_counted(home: Home, tmp_path: Path, with_ledger: bool) -> None:  # noqa: FBT001 - a table
    """As git leaves them when both sides have added an entry on one topic and day; the last is not even ended."""
    ids = ["a", "b", "a", "c", "b", "a"]
    (tmp_path / "M.jsonl").write_text("\n".join(json.dumps(DONE | {"id": each}) for each in ids))
    assert not with_ledger or home.ledger.file
    assert count_quickly(home, str(tmp_path / "M.jsonl"), max_bytes=10_000) == (6, 0, 0, 2, True)


@pytest.mark.parametrize("with_ledger", [True, False])
def test_a_pipe_is_not_opened(home: Home, tmp_path: Path, with_ledger: bool) -> None:  # noqa: FBT001 - a table
    assert not with_ledger or home.ledger.file
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(InputError, match="isn't a file"):
        count_quickly(home, str(tmp_path / "pipe"), max_bytes=100)
