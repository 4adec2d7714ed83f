"""The index follows the file, notices when it is another one, and never answers from what is gone."""

import os
import shutil
from pathlib import Path

import pytest

from remit.errors import BusyError, InputError, StorageError
from remit.ledger.home import Home
from remit.manifest import index as module
from remit.manifest import search
from remit.manifest.counts import find_bad_lines
from remit.manifest.index import ManifestIndex
from remit.manifest.search import EntryQuery, find_entry, walk_entries
from remit.returns.manifest_lines import MAX_LINE_BYTES
from tests.support.manifest_entries import TOO_LONG, make_line
from tests.support.manifest_workspace import Desk, replace, rewrite_in_place


def find_line(desk: Desk, entry_id: str) -> int | None:
    """The line that an id is found on."""
    entry = desk.find(entry_id)
    return None if entry is None else entry.line


def test_an_entry_is_found_by_its_id_and_read_from_the_file(desk: Desk) -> None:
    """R4.15."""
    desk.put("a", "b", title="Ä title")
    entry = desk.find("b")
    assert entry is not None
    assert (entry.line, entry.fields["title"]) == (2, "Ä title")
    assert desk.find("c") is None


def test_entries_are_found_inside_of_a_transaction_too(desk: Desk) -> None:
    """A settlement looks for an entry while it records what it does."""
    desk.put("a")
    with desk.home.ledger.transaction():
        assert desk.list_ids() == ["a"]
        desk.put("b")
        assert find_line(desk, "b") == 2
    assert desk.list_ids() == ["a", "b"]


def test_what_others_append_is_found_at_once(desk: Desk) -> None:
    desk.put("a")
    assert find_line(desk, "a") == 1
    for number in range(2, 6):
        desk.put(f"b{number}")
        assert find_line(desk, f"b{number}") == number
    assert desk.other().index.catch_up().lines == 5


def test_a_last_line_counts_once_it_is_an_entry_ended_or_not(desk: Desk) -> None:
    line = make_line(id="b")
    desk.put("a")
    desk.write(line[:40])
    assert desk.list_ids() == ["a"]
    assert [each.line for each in find_bad_lines(desk.index)] == [2]
    desk.write(line[40:-1])
    assert (desk.list_ids(), find_line(desk, "b")) == (["a", "b"], 2)
    known = desk.index.catch_up()
    assert (known.lines, known.offset) == (2, desk.file.stat().st_size)
    desk.write("\r\n", make_line(id="c"))
    assert desk.list_ids() == ["a", "b", "c"]
    assert find_line(desk, "c") == 3
    assert desk.index.catch_up().number == known.number
    assert find_bad_lines(desk.index) == ()


def test_blanks_may_follow_a_last_entry(desk: Desk) -> None:
    desk.put("a")
    desk.write(make_line(id="b")[:-1])
    assert desk.list_ids() == ["a", "b"]
    desk.write(" \r\n", make_line(id="c"))
    assert desk.list_ids() == ["a", "b", "c"]
    assert find_bad_lines(desk.index) == ()


@pytest.mark.parametrize("rest", ["x\n", '{"id":"c"}\n', '{"id":"c"}', "\x0c\n", " " * 5000 + "x\n"])
def test_an_entry_that_was_written_on_behind_is_none_any_more(desk: Desk, rest: str) -> None:
    desk.put("a")
    desk.write(make_line(id="b")[:-1])
    assert desk.list_ids() == ["a", "b"]
    desk.write(rest)
    assert desk.list_ids() == ["a"]
    assert find_line(desk, "b") is None
    assert [each.line for each in find_bad_lines(desk.index)] == [2]


def test_a_single_entry_behind_a_mark_of_the_encoding_need_not_be_ended(desk: Desk) -> None:
    desk.write(b"\xef\xbb\xbf", make_line(id="a")[:-1])
    assert find_line(desk, "a") == 1


def test_a_remaining_blank_is_nothing_to_tell(desk: Desk) -> None:
    desk.put("a")
    desk.write("  ")
    assert (desk.list_ids(), find_bad_lines(desk.index)) == (["a"], ())
    desk.write(make_line(id="b"))
    assert find_line(desk, "b") == 2


def test_a_torn_line_that_was_ended_is_a_bad_line_and_hides_nothing(desk: Desk) -> None:
    desk.put("a")
    desk.write('{"id": "torn')
    assert desk.list_ids() == ["a"]
    desk.write("\n", make_line(id="b"))
    assert desk.list_ids() == ["a", "b"]
    assert [line for line, _ in find_bad_lines(desk.index)] == [2]


def test_of_two_entries_with_one_id_the_first_keeps_it(desk: Desk) -> None:
    """The first in the file, also where the second has the older date."""
    desk.put("x", title="first", date="2026-01-19")
    desk.put("x", title="second", date="2020-01-01")
    entry = desk.find("x")
    assert entry is not None
    assert (entry.line, entry.fields["title"]) == (1, "first")


@pytest.mark.parametrize("change", [rewrite_in_place, replace])
@pytest.mark.parametrize(
    "after",
    [
        ("a", "c"),  # a line is gone
        ("a", "B", "c"),  # a line is another, of the same length
        ("B", "a", "c", "d"),  # order
        ("a", "b", "c", "d"),  # nothing but an addition
        ("b",),
        (),
        ("a", "inserted", "b", "c", "d", "e"),
    ],
)
def test_a_file_that_changed_underneath_is_indexed_anew(desk: Desk, after: tuple[str, ...], change: object) -> None:
    desk.put("a", "b", "c")
    assert desk.list_ids() == ["a", "b", "c"]
    change(desk.file, "".join(make_line(id=each) for each in after).encode())  # type: ignore[operator]
    assert desk.list_ids() == list(after)
    for number, entry_id in enumerate(after, 1):
        assert find_line(desk, entry_id) == number
    assert (find_line(desk, "b") is None) == ("b" not in after)


def test_a_replaced_file_that_only_grew_keeps_its_index(desk: Desk) -> None:
    """What `git pull` leaves: another file that begins as the old one did."""
    desk.put("a", "b")
    number = desk.index.catch_up().number
    replace(desk.file, desk.file.read_bytes() + make_line(id="c").encode())
    assert desk.index.catch_up().number == number
    assert desk.list_ids() == ["a", "b", "c"]


def test_a_file_is_indexed_in_blocks_and_lines_longer_than_a_block_are_passed(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_BLOCK_BYTES", 700)
    desk.put("a")
    desk.write('{"id": "long", "title": "' + "x" * MAX_LINE_BYTES + '"}\n')
    desk.put(*(f"b{number}" for number in range(20)))
    desk.write("y" * 3000)
    assert desk.list_ids() == ["a", *(f"b{number}" for number in range(20))]
    assert [line for line, _ in find_bad_lines(desk.index)] == [2, 23]
    assert find_bad_lines(desk.index)[0] == (2, TOO_LONG)
    desk.write("\n", make_line(id="c"))
    assert find_line(desk, "c") == 24
    assert [line for line, _ in find_bad_lines(desk.index)] == [2, 23]
    assert (
        desk.index.catch_up().checksum == ManifestIndex(Home(str(desk.file.parent)), str(desk.file)).catch_up().checksum
    )
    before = desk.index.catch_up()
    desk.file.touch()
    assert desk.index.catch_up().number == before.number


def test_a_step_that_stops_in_the_middle_is_taken_up_by_the_next(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_BLOCK_BYTES", 700)
    desk.put(*(f"e{number}" for number in range(10)))
    with desk.home.ledger.transaction() as db:
        known, at_end = desk.index._advance(db)  # noqa: SLF001 - one step, as a process that then dies takes it
    assert not at_end
    assert 0 < known.lines < 10
    other = desk.other()
    assert other.list_ids() == [f"e{number}" for number in range(10)]
    assert find_line(desk, "e9") == 10
    other.close()


def test_several_manifests_share_the_tables_and_nothing_else(tmp_path: Path) -> None:
    home = Home(str(tmp_path))
    first, second = (tmp_path / name for name in ("a.jsonl", "b.jsonl"))
    first.write_text("".join(make_line(id=f"e{n}", topics=["t"]) for n in range(5)))
    second.write_text(make_line(id="e1", title="second") + "bad\n")
    indexes = [ManifestIndex(home, str(file)) for file in (first, second)]
    lists = [[entry.id for entry in walk_entries(each, EntryQuery(topic="t", words=("sessions",)))] for each in indexes]
    assert lists == [["e4", "e3", "e2", "e1", "e0"], []]
    entry = find_entry(indexes[1], "e1")
    assert entry is not None
    assert entry.fields["title"] == "second"
    second.write_text(make_line(id="e2"))
    assert (find_entry(indexes[1], "e1"), find_entry(indexes[0], "e1") is not None) == (None, True)


def test_a_workspace_that_was_moved_keeps_its_index(desk: Desk, tmp_path: Path) -> None:
    desk.put("a", "b")
    number = desk.index.catch_up().number
    desk.close()
    there = tmp_path.with_name(f"{tmp_path.name}-moved")
    shutil.copytree(tmp_path, there)
    moved = Desk(there)
    assert moved.list_ids() == ["a", "b"]
    assert moved.index.catch_up().number == number
    moved.close()


def test_an_inode_that_sqlite_cannot_count_is_cut(desk: Desk) -> None:
    desk.put("a")
    parts = list(desk.file.stat())
    parts[1], parts[2] = (1 << 64) - 1, (1 << 63) + 5
    stamp = module.take_stamp(os.stat_result(parts))
    assert stamp[:2] == (5, (1 << 63) - 1)


def test_rebuilding_tells_what_there_is(desk: Desk) -> None:
    desk.put("a", "b")
    desk.write("bad\n\n")
    desk.write('{"id": "torn')
    assert desk.index.rebuild() == (4, 2, 1)
    assert desk.index.rebuild() == (4, 2, 1)
    assert count_rows(desk) == (4, 2)


def count_rows(desk: Desk) -> tuple[int, int]:
    """How many lines the index has, and how many texts."""
    db = desk.home.ledger.db
    (lines,) = db.execute("SELECT count(*) FROM manifest_lines").fetchone()
    (texts,) = db.execute("SELECT count(*) FROM manifest_words WHERE manifest_words MATCH 'sessions'").fetchone()
    return lines, texts


def test_a_manifest_that_is_rewritten_again_and_again_leaves_nothing_behind(desk: Desk) -> None:
    """Beside another one, which is read again when it is asked for."""
    large = desk.file.with_name("large.jsonl")
    large.write_text("".join(make_line(id=f"e{n}") for n in range(20)))
    other = ManifestIndex(desk.home, str(large))
    desk.put("x")
    numbers = set()
    for number in range(10):
        replace(desk.file, (make_line(id=f"x{number}") + "bad\n").encode())
        assert desk.list_ids() == [f"x{number}"]
        assert find_entry(other, "e7") is not None
        assert desk.list_ids() == [f"x{number}"]
        assert count_rows(desk) == (22, 21)
        numbers.add(desk.index.catch_up().number)
    assert len(numbers) == 10, "a number was used twice"


def test_a_walk_stops_if_the_manifest_was_rewritten_meanwhile(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(search, "_BATCH", 2)
    desk.put("a", "b", "c")
    walk = walk_entries(desk.index, EntryQuery())
    assert next(walk).id == "c"
    desk.put("d")
    assert next(walk).id == "b"
    desk.file.write_text(make_line(id="e"))
    with pytest.raises(BusyError, match="changed the manifest"):
        next(walk)


@pytest.mark.parametrize("is_settled", [True, False])
def test_an_edit_that_the_clock_does_not_show_is_noticed_once_more(
    desk: Desk, monkeypatch: pytest.MonkeyPatch, *, is_settled: bool
) -> None:
    """Within one tick of the clock, the file looks as before: so what was changed just now is compared."""
    monkeypatch.setattr(module, "_SETTLED_NS", 0 if is_settled else 10**15)
    desk.put("a", "b")
    known = desk.index.catch_up()
    assert (known.changed_ns == desk.file.stat().st_ctime_ns) == is_settled
    rewrite_in_place(desk.file, desk.file.read_bytes().replace(b'"id":"b"', b'"id":"c"'))
    if is_settled:  # as if the clock had stood still
        with desk.home.ledger.transaction() as db:
            db.execute("UPDATE manifests SET changed_ns = ?", (desk.file.stat().st_ctime_ns,))
    assert desk.list_ids() == (["a", "b"] if is_settled else ["a", "c"])


def test_a_file_that_stands_still_is_not_read_again(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_SETTLED_NS", 0)
    desk.put("a")
    desk.index.catch_up()
    monkeypatch.setattr(desk.index, "_advance", lambda _: pytest.fail("the file was read"))
    assert find_line(desk, "a") == 1


def test_an_index_that_others_empty_all_the_time_is_reported(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    desk.put("a")
    reached = desk.index.catch_up()
    monkeypatch.setattr(desk.index, "catch_up", lambda: reached._replace(number=reached.number + 1))
    with pytest.raises(StorageError, match="keeps changing"):
        desk.list_ids()


def test_a_ledger_without_the_index_is_no_loss(desk: Desk) -> None:
    desk.put("a")
    desk.index.catch_up()
    desk.close()
    shutil.rmtree(desk.file.parent / ".remit")
    assert desk.other().list_ids() == ["a"]


@pytest.mark.parametrize(
    ("make", "reason"),
    [
        (lambda _: None, "can't be read: no such file"),
        (os.mkfifo, "isn't a file"),
        (os.mkdir, "isn't a file"),
        (lambda file: file.symlink_to("/dev/zero"), "isn't a file"),
    ],
)
def test_what_is_no_file_is_refused_by_what_it_is(desk: Desk, make: object, reason: str) -> None:
    make(desk.file)  # type: ignore[operator]
    with pytest.raises(InputError, match=reason) as caught:
        desk.find("a")
    assert caught.value.hint
