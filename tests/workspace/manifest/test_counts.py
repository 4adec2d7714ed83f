"""Counting: a manifest in numbers."""

from remit.workspace.manifest.counts import BadLine, count_entries, find_bad_lines, find_doubles
from tests.workspace.manifest.conftest import Desk
from tests.workspace.manifests import make_line


def test_a_manifest_in_numbers(desk: Desk) -> None:
    desk.put("a", "b", topics=["x", "y"], date="2026-01-02", needs_followup=[])
    desk.put("a", topics=["y"], status="partial", date="2025-01-02", actionable=False)
    desk.write("bad\n", "\n", make_line(without=("id", "date", "topics")), make_line()[:40])
    counted = count_entries(desk.index)
    assert counted == (
        6, 4, 2, 3, 1, (("a", 2),), 1, "2025-01-02", "2026-01-02",
        (("complete", 3), ("partial", 1)), (("y", 3), ("x", 2)), True,
    )  # fmt: skip


def test_an_entry_that_is_not_ended_is_counted(desk: Desk) -> None:
    desk.write(make_line(id="a"), make_line(id="b")[:-1])
    counted = count_entries(desk.index)
    assert (counted.lines, counted.entries, counted.bad_lines, counted.is_torn) == (2, 2, 0, False)


def test_a_line_that_is_cut_off_is_the_last_of_the_bad_ones(desk: Desk) -> None:
    desk.write("bad\n", make_line(), '{"id": "torn')
    first, last = find_bad_lines(desk.index)
    assert (first.line, last.line) == (1, 3)
    assert last.reason.endswith(", and no line feed ends it")
    assert find_bad_lines(desk.index, limit=1) == (first,)


def test_a_manifest_without_entries(desk: Desk) -> None:
    desk.write("")
    counted = count_entries(desk.index)
    assert (counted.entries, counted.first_day, counted.last_day, counted.is_torn) == (0, None, None, False)


def test_bad_lines_come_in_order_and_with_a_limit(desk: Desk) -> None:
    desk.write("bad\n", make_line(), "[]\n", "3\n")
    assert [each.line for each in find_bad_lines(desk.index)] == [1, 3, 4]
    assert find_bad_lines(desk.index, limit=2)[1] == BadLine(3, "the line holds a list, not an object")


def test_entries_that_share_an_id_are_named_by_line(desk: Desk) -> None:
    """The first keeps the id, and the others are told."""
    desk.put("a", date="2026-01-02")
    desk.put("b", "a", date="2025-01-02")
    assert find_doubles(desk.index, "a") == (1, 3)
    assert find_doubles(desk.index, "b") == (2,)
