"""Rows: a bad line is told with its number, and hides nothing else."""

import pytest

from remit.contract.manifest_lines import MAX_LINE_BYTES
from remit.workspace.manifest.rows import LINE_MASK, MAX_ITEMS, TOO_LONG, explain_bad_line, read_block
from tests.workspace.manifests import make_line


def read(*lines: str | bytes) -> tuple[list[tuple[int, str | None]], list[tuple[int, str]]]:
    """The line and id of each entry, and the bad lines."""
    data = b"".join(line if isinstance(line, bytes) else line.encode() for line in lines)
    rows = read_block(data, manifest=1, line=0, offset=0)
    for _, _, _, _, _, offset, length in rows.entries:
        assert data[offset : offset + length].lstrip().startswith(b"{")
        assert data[offset + length :].lstrip(b" \t\r").startswith(b"\n")
    assert rows.lines == data.count(b"\n")
    return [(row[0] & LINE_MASK, row[1]) for row in rows.entries], [(line, why) for _, line, why in rows.bad_lines]


BAD: dict[str, tuple[bytes, str]] = {
    "nonsense": (b"nonsense\n", "the line is not JSON: "),
    "cut off": (b'{"id": "a\n', "the line is not JSON: "),
    "a list": (b"[1, 2]\n", "the line holds a list, not an object"),
    "a text": (b'"x"\n', "the line holds a text, not an object"),
    "Latin-1": (b'{"id": "\xe9"}\n', "the line is not UTF-8"),
    "a key twice": (b'{"status": "blocked", "status": "complete"}\n', "a key is given twice at column "),
    "NaN": (b'{"id": NaN}\n', "the line is not JSON: "),
    "two entries": (b'{"id": "a"}{"id": "b"}\n', "the line is not JSON: "),
    "too deep": (b'{"a":' * 5000 + b"\n", "the line is not JSON: "),
    "a merge mark": (b"<<<<<<< HEAD\n", "the mark of an unfinished merge"),
    "half a character": (b'{"id": "\\ud800"}\n', "the line is not JSON: "),
    "too long": (b'{"id": "' + b"x" * MAX_LINE_BYTES + b'"}\n', TOO_LONG),
}


@pytest.mark.parametrize("name", BAD)
def test_a_bad_line_is_told_and_hides_nothing_else(name: str) -> None:
    line, reason = BAD[name]
    entries, bad = read(make_line(id="a"), line, "\n", make_line(id="b"))
    assert entries == [(1, "a"), (4, "b")]
    assert [number for number, _ in bad] == [2]
    assert bad[0][1].startswith(reason)
    assert len(bad[0][1]) < 300


def test_blank_lines_carriage_returns_and_a_byte_order_mark_are_nothing_bad() -> None:
    entries, bad = read(b"\xef\xbb\xbf", make_line(id="a").replace("\n", "\r\n"), " \r\n", "\t\n", make_line(id="b"))
    assert (entries, bad) == ([(1, "a"), (4, "b")], [])


def test_entries_without_a_usable_id_are_kept_without_one() -> None:
    entries, bad = read(make_line(without=("id",)), make_line(id=" "), make_line(id=3), "{}\n")
    assert (entries, bad) == ([(1, None), (2, None), (3, None), (4, None)], [])


def test_numbers_go_by_day_then_line_whatever_order_the_file_has() -> None:
    days = ("2026-01-03", "2026-01-01", "nonsense", "2026-01-02", "2026-01-03")
    data = "".join(make_line(id=f"e{n}", date=day) for n, day in enumerate(days)).encode()
    rows = read_block(data, manifest=1, line=0, offset=0)
    assert [row[1] for row in sorted(rows.entries)] == ["e2", "e1", "e3", "e0", "e4"]
    assert [row[1] for row in rows.words] == ["e2", "e1", "e3", "e0", "e4"]


def test_what_is_looked_up_is_read_tolerantly() -> None:
    """C14."""
    line = make_line(topics=[" Auth ", "auth", 3], taskId="T012", without=("linked_tasks",), summary="all told")
    rows = read_block(line.encode(), manifest=1, line=0, offset=0)
    assert [topic for topic, _ in rows.topics] == ["auth", "auth", "3"]
    assert [task for task, _ in rows.tasks] == ["12"]
    assert rows.words[0][4].endswith("\nall told")


def test_an_entry_of_nothing_but_topics_does_not_flood_the_index() -> None:
    line = make_line(topics=[f"t{n}" for n in range(5000)])
    assert len(read_block(line.encode(), manifest=1, line=0, offset=0).topics) == MAX_ITEMS


def test_the_reason_names_no_more_than_the_place_of_a_doubled_key() -> None:
    """Keys are foreign text, and may be a megabyte."""
    assert explain_bad_line(b'{"' + b"k" * 9000 + b'":1,"' + b"k" * 9000 + b'":2}').startswith(
        "a key is given twice at"
    )
