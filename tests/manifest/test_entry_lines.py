"""Lines: a bad line is told with its number, and hides nothing else."""

import pytest

from remit.manifest.counts import count_entries, find_bad_lines
from remit.manifest.entries import explain_bad_line, list_columns, list_words, name_topic, write_items
from remit.returns.manifest_lines import MAX_LINE_BYTES
from tests.support.manifest_entries import TOO_LONG, make_entry, make_line
from tests.support.manifest_workspace import ManifestWorkspace

BAD: dict[str, tuple[bytes, str]] = {
    "nonsense": (b"nonsense\n", "the line isn't valid JSON: "),
    "cut off": (b'{"id": "a\n', "the line isn't valid JSON: "),
    "a list": (b"[1, 2]\n", "the line is a list, not an object"),
    "a text": (b'"x"\n', "the line is a text, not an object"),
    "Latin-1": (b'{"id": "\xe9"}\n', "the line isn't UTF-8"),
    "a key twice": (b'{"status": "blocked", "status": "complete"}\n', "duplicate key at column "),
    "NaN": (b'{"id": NaN}\n', "the line isn't valid JSON: "),
    "two entries": (b'{"id": "a"}{"id": "b"}\n', "the line isn't valid JSON: "),
    "too deep": (b'{"a":' * 5000 + b"\n", "the line isn't valid JSON: "),
    "a merge mark": (b"<<<<<<< HEAD\n", "a conflict marker of an unfinished merge"),
    "half a character": (b'{"id": "\\ud800"}\n', "the line isn't valid JSON: "),
    "too long": (b'{"id": "' + b"x" * MAX_LINE_BYTES + b'"}\n', TOO_LONG),
}


@pytest.mark.parametrize("name", BAD)
def test_a_bad_line_is_told_and_hides_nothing_else(place: ManifestWorkspace, name: str) -> None:
    line, reason = BAD[name]
    place.write(make_line(id="a"), line, "\n", make_line(id="b"))
    entries = [(each.id, each.line) for each in (place.find("a"), place.find("b")) if each is not None]
    assert entries == [("a", 1), ("b", 4)]
    bad = find_bad_lines(place.index)
    assert [number for number, _ in bad] == [2]
    assert bad[0][1].startswith(reason)
    assert len(bad[0][1]) < 300


def test_blank_lines_carriage_returns_and_a_byte_order_mark_are_nothing_bad(place: ManifestWorkspace) -> None:
    place.write(b"\xef\xbb\xbf", make_line(id="a").replace("\n", "\r\n"), " \r\n", "\t\n", make_line(id="b"))
    assert (place.list_ids(), find_bad_lines(place.index)) == (["a", "b"], ())


def test_entries_without_a_usable_id_are_kept_without_one(place: ManifestWorkspace) -> None:
    place.write(make_line(without=("id",)), make_line(id=" "), make_line(id=3), "{}\n")
    assert [list_columns({"id": each}).id for each in (None, " ", 3, "a")] == [None, None, None, "a"]
    assert (count_entries(place.index).without_id, find_bad_lines(place.index)) == (4, ())


def test_what_is_looked_up_is_read_tolerantly(place: ManifestWorkspace) -> None:
    """C14."""
    place.write(
        make_line(id="a", topics=[" Auth ", "auth", 3], taskId="T012", without=("linked_tasks",), summary="told")
    )
    entry = place.find("a")
    assert entry is not None
    columns = list_columns(entry.fields)
    assert (columns.topics, columns.tasks) == ("\nauth\nauth\n3\n", "\n12\n")
    assert list_words(entry.fields)[3].endswith("\ntold")


def test_a_topic_cannot_pass_for_two() -> None:
    assert write_items([name_topic(" A\nb "), "c"]) == "\na b\nc\n"
    assert write_items([]) == ""


@pytest.mark.parametrize(
    ("date", "day"),
    [
        ("2026-01-19", "2026-01-19"),
        ("2026-01-19T10:00Z", "2026-01-19"),
        ("1969-07-20", "1969-07-20"),
        ("soon", ""),
        (5, ""),
    ],
)
def test_an_entry_has_the_day_that_its_date_begins_with(date: object, day: str) -> None:
    assert list_columns(make_entry(date=date)).day == day


def test_the_reason_names_no_more_than_the_place_of_a_doubled_key() -> None:
    """Keys are foreign text, and may be a megabyte."""
    assert explain_bad_line(b'{"' + b"k" * 9000 + b'":1,"' + b"k" * 9000 + b'":2}').startswith("duplicate key at")
