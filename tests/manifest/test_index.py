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
from tests.support.manifest_workspace import ManifestWorkspace, replace, rewrite_in_place


def find_line(place: ManifestWorkspace, entry_id: str) -> int | None:
    """The line that an id is found on."""
    entry = place.find(entry_id)
    return None if entry is None else entry.line


def test_an_entry_is_found_by_its_id_and_read_from_the_file(place: ManifestWorkspace) -> None:
    """R4.15."""
    place.put("a", "b", title="Ä title")
    entry = place.find("b")
    assert entry is not None
    assert (entry.line, entry.fields["title"]) == (2, "Ä title")
    assert place.find("c") is None


def test_entries_are_found_inside_of_a_transaction_too(place: ManifestWorkspace) -> None:
    """A settlement looks for an entry while it records what it does."""
    place.put("a")
    with place.home.ledger.transaction():
        assert place.list_ids() == ["a"]
        place.put("b")
        assert find_line(place, "b") == 2
    assert place.list_ids() == ["a", "b"]


def test_what_others_append_is_found_at_once(place: ManifestWorkspace) -> None:
    place.put("a")
    assert find_line(place, "a") == 1
    for number in range(2, 6):
        place.put(f"b{number}")
        assert find_line(place, f"b{number}") == number
    assert place.other().index.catch_up().lines == 5


def test_a_last_line_counts_once_it_is_an_entry_ended_or_not(place: ManifestWorkspace) -> None:
    line = make_line(id="b")
    place.put("a")
    place.write(line[:40])
    assert place.list_ids() == ["a"]
    assert [each.line for each in find_bad_lines(place.index)] == [2]
    place.write(line[40:-1])
    assert (place.list_ids(), find_line(place, "b")) == (["a", "b"], 2)
    known = place.index.catch_up()
    assert (known.lines, known.offset) == (2, place.file.stat().st_size)
    place.write("\r\n", make_line(id="c"))
    assert place.list_ids() == ["a", "b", "c"]
    assert find_line(place, "c") == 3
    assert place.index.catch_up().number == known.number
    assert find_bad_lines(place.index) == ()


def test_blanks_may_follow_a_last_entry(place: ManifestWorkspace) -> None:
    place.put("a")
    place.write(make_line(id="b")[:-1])
    assert place.list_ids() == ["a", "b"]
    place.write(" \r\n", make_line(id="c"))
    assert place.list_ids() == ["a", "b", "c"]
    assert find_bad_lines(place.index) == ()


@pytest.mark.parametrize("rest", ["x\n", '{"id":"c"}\n', '{"id":"c"}', "\x0c\n", " " * 5000 + "x\n"])
def test_an_entry_that_was_written_on_behind_is_none_any_more(place: ManifestWorkspace, rest: str) -> None:
    place.put("a")
    place.write(make_line(id="b")[:-1])
    assert place.list_ids() == ["a", "b"]
    place.write(rest)
    assert place.list_ids() == ["a"]
    assert find_line(place, "b") is None
    assert [each.line for each in find_bad_lines(place.index)] == [2]


def test_a_single_entry_behind_a_mark_of_the_encoding_need_not_be_ended(place: ManifestWorkspace) -> None:
    place.write(b"\xef\xbb\xbf", make_line(id="a")[:-1])
    assert find_line(place, "a") == 1


def test_a_remaining_blank_is_nothing_to_tell(place: ManifestWorkspace) -> None:
    place.put("a")
    place.write("  ")
    assert (place.list_ids(), find_bad_lines(place.index)) == (["a"], ())
    place.write(make_line(id="b"))
    assert find_line(place, "b") == 2


def test_a_torn_line_that_was_ended_is_a_bad_line_and_hides_nothing(place: ManifestWorkspace) -> None:
    place.put("a")
    place.write('{"id": "torn')
    assert place.list_ids() == ["a"]
    place.write("\n", make_line(id="b"))
    assert place.list_ids() == ["a", "b"]
    assert [line for line, _ in find_bad_lines(place.index)] == [2]


def test_of_two_entries_with_one_id_the_first_keeps_it(place: ManifestWorkspace) -> None:
    """The first in the file, also where the second has the older date."""
    place.put("x", title="first", date="2026-01-19")
    place.put("x", title="second", date="2020-01-01")
    entry = place.find("x")
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
def test_a_file_that_changed_underneath_is_indexed_anew(
    place: ManifestWorkspace, after: tuple[str, ...], change: object
) -> None:
    place.put("a", "b", "c")
    assert place.list_ids() == ["a", "b", "c"]
    change(place.file, "".join(make_line(id=each) for each in after).encode())  # type: ignore[operator]
    assert place.list_ids() == list(after)
    for number, entry_id in enumerate(after, 1):
        assert find_line(place, entry_id) == number
    assert (find_line(place, "b") is None) == ("b" not in after)


def test_a_replaced_file_that_only_grew_keeps_its_index(place: ManifestWorkspace) -> None:
    """What `git pull` leaves: another file that begins as the old one did."""
    place.put("a", "b")
    number = place.index.catch_up().number
    replace(place.file, place.file.read_bytes() + make_line(id="c").encode())
    assert place.index.catch_up().number == number
    assert place.list_ids() == ["a", "b", "c"]


def test_a_file_is_indexed_in_blocks_and_lines_longer_than_a_block_are_passed(
    place: ManifestWorkspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_BLOCK_BYTES", 700)
    place.put("a")
    place.write('{"id": "long", "title": "' + "x" * MAX_LINE_BYTES + '"}\n')
    place.put(*(f"b{number}" for number in range(20)))
    place.write("y" * 3000)
    assert place.list_ids() == ["a", *(f"b{number}" for number in range(20))]
    assert [line for line, _ in find_bad_lines(place.index)] == [2, 23]
    assert find_bad_lines(place.index)[0] == (2, TOO_LONG)
    place.write("\n", make_line(id="c"))
    assert find_line(place, "c") == 24
    assert [line for line, _ in find_bad_lines(place.index)] == [2, 23]
    assert (
        place.index.catch_up().checksum
        == ManifestIndex(Home(str(place.file.parent)), str(place.file)).catch_up().checksum
    )
    before = place.index.catch_up()
    place.file.touch()
    assert place.index.catch_up().number == before.number


def test_a_step_that_stops_in_the_middle_is_taken_up_by_the_next(
    place: ManifestWorkspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_BLOCK_BYTES", 700)
    place.put(*(f"e{number}" for number in range(10)))
    with place.home.ledger.transaction() as db:
        known, at_end = place.index._advance(db)  # noqa: SLF001 - one step, as a process that then dies takes it
    assert not at_end
    assert 0 < known.lines < 10
    other = place.other()
    assert other.list_ids() == [f"e{number}" for number in range(10)]
    assert find_line(place, "e9") == 10
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


def test_a_workspace_that_was_moved_keeps_its_index(place: ManifestWorkspace, tmp_path: Path) -> None:
    place.put("a", "b")
    number = place.index.catch_up().number
    place.close()
    there = tmp_path.with_name(f"{tmp_path.name}-moved")
    shutil.copytree(tmp_path, there)
    moved = ManifestWorkspace(there)
    assert moved.list_ids() == ["a", "b"]
    assert moved.index.catch_up().number == number
    moved.close()


def test_an_inode_that_sqlite_cannot_count_is_cut(place: ManifestWorkspace) -> None:
    place.put("a")
    parts = list(place.file.stat())
    parts[1], parts[2] = (1 << 64) - 1, (1 << 63) + 5
    stamp = module.take_stamp(os.stat_result(parts))
    assert stamp[:2] == (5, (1 << 63) - 1)


def test_rebuilding_tells_what_there_is(place: ManifestWorkspace) -> None:
    place.put("a", "b")
    place.write("bad\n\n")
    place.write('{"id": "torn')
    assert place.index.rebuild() == (4, 2, 1)
    assert place.index.rebuild() == (4, 2, 1)
    assert count_rows(place) == (4, 2)


def count_rows(place: ManifestWorkspace) -> tuple[int, int]:
    """How many lines the index has, and how many texts."""
    db = place.home.ledger.db
    (lines,) = db.execute("SELECT count(*) FROM manifest_lines").fetchone()
    (texts,) = db.execute("SELECT count(*) FROM manifest_words WHERE manifest_words MATCH 'sessions'").fetchone()
    return lines, texts


def test_a_manifest_that_is_rewritten_again_and_again_leaves_nothing_behind(place: ManifestWorkspace) -> None:
    """Beside another one, which is read again when it is asked for."""
    large = place.file.with_name("large.jsonl")
    large.write_text("".join(make_line(id=f"e{n}") for n in range(20)))
    other = ManifestIndex(place.home, str(large))
    place.put("x")
    numbers = set()
    for number in range(10):
        replace(place.file, (make_line(id=f"x{number}") + "bad\n").encode())
        assert place.list_ids() == [f"x{number}"]
        assert find_entry(other, "e7") is not None
        assert place.list_ids() == [f"x{number}"]
        assert count_rows(place) == (22, 21)
        numbers.add(place.index.catch_up().number)
    assert len(numbers) == 10, "a number was used twice"


def test_a_walk_stops_if_the_manifest_was_rewritten_meanwhile(
    place: ManifestWorkspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(search, "_BATCH", 2)
    place.put("a", "b", "c")
    walk = walk_entries(place.index, EntryQuery())
    assert next(walk).id == "c"
    place.put("d")
    assert next(walk).id == "b"
    place.file.write_text(make_line(id="e"))
    with pytest.raises(BusyError, match="changed the manifest"):
        next(walk)


@pytest.mark.parametrize("is_settled", [True, False])
def test_an_edit_that_the_clock_does_not_show_is_noticed_once_more(
    place: ManifestWorkspace, monkeypatch: pytest.MonkeyPatch, *, is_settled: bool
) -> None:
    """Within one tick of the clock, the file looks as before: so what was changed just now is compared."""
    monkeypatch.setattr(module, "_SETTLED_NS", 0 if is_settled else 10**15)
    place.put("a", "b")
    known = place.index.catch_up()
    assert (known.changed_ns == place.file.stat().st_ctime_ns) == is_settled
    rewrite_in_place(place.file, place.file.read_bytes().replace(b'"id":"b"', b'"id":"c"'))
    if is_settled:  # as if the clock had stood still
        with place.home.ledger.transaction() as db:
            db.execute("UPDATE manifests SET changed_ns = ?", (place.file.stat().st_ctime_ns,))
    assert place.list_ids() == (["a", "b"] if is_settled else ["a", "c"])


def test_a_file_that_stands_still_is_not_read_again(place: ManifestWorkspace, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_SETTLED_NS", 0)
    place.put("a")
    place.index.catch_up()
    monkeypatch.setattr(place.index, "_advance", lambda _: pytest.fail("the file was read"))
    assert find_line(place, "a") == 1


def test_an_index_that_others_empty_all_the_time_is_reported(
    place: ManifestWorkspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    place.put("a")
    reached = place.index.catch_up()
    monkeypatch.setattr(place.index, "catch_up", lambda: reached._replace(number=reached.number + 1))
    with pytest.raises(StorageError, match="keeps changing"):
        place.list_ids()


def test_a_ledger_without_the_index_is_no_loss(place: ManifestWorkspace) -> None:
    place.put("a")
    place.index.catch_up()
    place.close()
    shutil.rmtree(place.file.parent / ".remit")
    assert place.other().list_ids() == ["a"]


@pytest.mark.parametrize(
    ("make", "reason"),
    [
        (lambda _: None, "can't be read: no such file"),
        (os.mkfifo, "isn't a file"),
        (os.mkdir, "isn't a file"),
        (lambda file: file.symlink_to("/dev/zero"), "isn't a file"),
    ],
)
def test_what_is_no_file_is_refused_by_what_it_is(place: ManifestWorkspace, make: object, reason: str) -> None:
    make(place.file)  # type: ignore[operator]
    with pytest.raises(InputError, match=reason) as caught:
        place.find("a")
    assert caught.value.hint
