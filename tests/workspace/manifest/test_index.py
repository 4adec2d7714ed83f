"""The index follows the file, notices when it is another one, and never answers from what is gone."""

import os
import shutil
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from jiter import from_json

from remit.contract.manifest_lines import MAX_LINE_BYTES
from remit.errors import InputError, StorageError
from remit.model import Finding
from remit.workspace.home import Home
from remit.workspace.ledger.schema import MANIFEST_INDEXES
from remit.workspace.manifest import append
from remit.workspace.manifest import index as module
from remit.workspace.manifest.counts import find_bad_lines
from remit.workspace.manifest.index import Index
from remit.workspace.manifest.rows import LINE_MASK, TOO_LONG
from remit.workspace.manifest.search import Query, walk_entries
from tests.amounts import choose
from tests.workspace.manifest.conftest import Desk, replace, rewrite_in_place
from tests.workspace.manifests import make_entry, make_line


def list_ids(desk: Desk) -> list[str]:
    """Every id that can be found, in the order of the file."""
    entries = sorted(walk_entries(desk.index, Query()), key=lambda entry: entry.line)
    return [entry.id for entry in entries]


def find_line(desk: Desk, entry_id: str) -> int | None:
    """The line that an id is found on."""
    entry = desk.index.find(entry_id)
    return None if entry is None else entry.line


def test_an_entry_is_found_by_its_id_and_read_from_the_file(desk: Desk) -> None:
    """R4.15."""
    desk.put("a", "b", title="Ä title")
    entry = desk.index.find("b")
    assert entry is not None
    assert (entry.line, entry.fields["title"]) == (2, "Ä title")
    assert desk.index.find("c") is None


def test_entries_are_found_inside_of_a_transaction_too(desk: Desk) -> None:
    """A settlement looks for an entry while it records what it does."""
    desk.put("a")
    with desk.home.ledger.transaction():
        assert list_ids(desk) == ["a"]
        desk.put("b")
        assert find_line(desk, "b") == 2
    assert list_ids(desk) == ["a", "b"]


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
    assert list_ids(desk) == ["a"]
    assert [each.line for each in find_bad_lines(desk.index)] == [2]
    desk.write(line[40:-1])
    assert (list_ids(desk), find_line(desk, "b")) == (["a", "b"], 2)
    known = desk.index.catch_up()
    assert (known.lines, known.offset) == (2, desk.file.stat().st_size)
    desk.write(" \r\n", make_line(id="c"))
    assert list_ids(desk) == ["a", "b", "c"]
    assert find_line(desk, "c") == 3
    assert desk.index.catch_up().number == known.number
    assert find_bad_lines(desk.index) == ()


@pytest.mark.parametrize("rest", ["x\n", '{"id":"c"}\n', '{"id":"c"}', "\x0c\n", " " * 5000 + "x\n"])
def test_an_entry_that_was_written_on_behind_is_none_any_more(desk: Desk, rest: str) -> None:
    desk.put("a")
    desk.write(make_line(id="b")[:-1])
    assert list_ids(desk) == ["a", "b"]
    desk.write(rest)
    assert list_ids(desk) == ["a"]
    assert find_line(desk, "b") is None
    assert [each.line for each in find_bad_lines(desk.index)] == [2]


def test_a_single_entry_behind_a_mark_of_the_encoding_need_not_be_ended(desk: Desk) -> None:
    desk.write(b"\xef\xbb\xbf", make_line(id="a")[:-1])
    assert find_line(desk, "a") == 1


def test_a_remaining_blank_is_nothing_to_tell(desk: Desk) -> None:
    desk.put("a")
    desk.write("  ")
    assert (list_ids(desk), find_bad_lines(desk.index)) == (["a"], ())
    desk.write(make_line(id="b"))
    assert find_line(desk, "b") == 2


def test_a_torn_line_that_was_ended_is_a_bad_line_and_hides_nothing(desk: Desk) -> None:
    desk.put("a")
    desk.write('{"id": "torn')
    assert list_ids(desk) == ["a"]
    desk.write("\n", make_line(id="b"))
    assert list_ids(desk) == ["a", "b"]
    assert [line for line, _ in find_bad_lines(desk.index)] == [2]


def test_of_two_entries_with_one_id_the_first_keeps_it(desk: Desk) -> None:
    """The first in the file, also where the second has the older date."""
    desk.put("x", title="first", date="2026-01-19")
    desk.put("x", title="second", date="2020-01-01")
    entry = desk.index.find("x")
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
    assert list_ids(desk) == ["a", "b", "c"]
    change(desk.file, "".join(make_line(id=each) for each in after).encode())  # type: ignore[operator]
    assert list_ids(desk) == list(after)
    for number, entry_id in enumerate(after, 1):
        assert find_line(desk, entry_id) == number
    assert (find_line(desk, "b") is None) == ("b" not in after)


def test_a_replaced_file_that_only_grew_keeps_its_index(desk: Desk) -> None:
    """What `git pull` leaves: another file that begins as the old one did."""
    desk.put("a", "b")
    number = desk.index.catch_up().number
    replace(desk.file, desk.file.read_bytes() + make_line(id="c").encode())
    assert desk.index.catch_up().number == number
    assert list_ids(desk) == ["a", "b", "c"]


def watch_checksums(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Every file counts as large; from where on it was compared."""
    compared: list[int] = []
    take = module._take_checksum  # noqa: SLF001 - how much is read is the point

    def watch(handle: int, start: int, end: int, value: int = 0) -> int:
        compared.append(start)
        return take(handle, start, end, value)

    monkeypatch.setattr(module, "SMALL_BYTES", 10)
    monkeypatch.setattr(module, "_LAST_BYTES", 20)
    monkeypatch.setattr(module, "_take_checksum", watch)
    monkeypatch.setattr(append, "_WHOLE_BYTES", 0)
    return compared


def test_a_large_file_that_remit_added_to_is_compared_at_its_end_only(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also if several did so, each of which found it as the one before had left it."""
    compared = watch_checksums(monkeypatch)
    desk.put("a", "b")
    assert list_ids(desk) == ["a", "b"]
    other = desk.other()
    for number, appender in enumerate((desk.appender, other.appender, desk.appender, other.appender)):
        appender.add(make_entry(id=f"c{number}"), day="2026-01-19")
    compared.clear()
    assert list_ids(desk) == ["a", "b", "c0", "c1", "c2", "c3"]
    assert compared
    assert 0 not in compared
    assert [entry.id for entry in walk_entries(desk.index, Query(task="99"))] == []
    data = desk.file.read_bytes()
    assert data.endswith(b'"T11"]}\n')
    rewrite_in_place(desk.file, data[: -len(b'11"]}\n')] + b'99"]}\n')
    with desk.home.ledger.transaction() as db:  # a clock that stood still
        db.execute("UPDATE manifests SET changed_ns = ?, size_bytes = ?", stamp_of(desk.file))
    desk.appender.add(make_entry(id="d"), day="2026-01-19")
    assert [entry.id for entry in walk_entries(desk.index, Query(task="99"))] == ["c3"]
    other.close()


def stamp_of(file: Path) -> tuple[int, int]:
    """When a file was changed, and its size."""
    found = file.stat()
    return found.st_ctime_ns, found.st_size


@pytest.mark.parametrize("how", ["edit", "edit and add", "add and edit"])
def test_a_large_file_that_others_touched_is_compared_as_a_whole(
    desk: Desk, monkeypatch: pytest.MonkeyPatch, how: str
) -> None:
    """A line in its middle is another, of the same length, and the file has grown, too."""
    compared = watch_checksums(monkeypatch)
    desk.put("a", "b", "c")
    assert list_ids(desk) == ["a", "b", "c"]
    if how == "add and edit":
        desk.appender.add(make_entry(id="d"), day="2026-01-19")
    rewrite_in_place(desk.file, desk.file.read_bytes().replace(b'"id":"b"', b'"id":"B"'))
    if how == "edit and add":
        desk.appender.add(make_entry(id="d"), day="2026-01-19")
    desk.put("e")
    assert list_ids(desk) == ["a", "B", "c", *(["d"] if "add" in how else []), "e"]
    assert 0 in compared


def test_a_file_that_others_touched_while_an_entry_was_judged_is_compared_as_a_whole(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    watch_checksums(monkeypatch)
    desk.put("a", "b", "c")
    assert list_ids(desk) == ["a", "b", "c"]

    def edit(_: object) -> tuple[Finding, ...]:
        rewrite_in_place(desk.file, desk.file.read_bytes().replace(b'"id":"b"', b'"id":"B"'))
        return ()

    assert desk.appender.add(make_entry(id="d"), day="2026-01-19", prepare=edit).accepted
    assert [find_line(desk, each) for each in "aBcdb"] == [1, 2, 3, 4, None]


def test_a_file_that_is_read_in_blocks_is_not_compared_after_each(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    compared = watch_checksums(monkeypatch)
    monkeypatch.setattr(module, "_BLOCK_BYTES", 700)
    desk.put(*(f"e{number}" for number in range(10)))
    assert desk.index.catch_up().lines == 10
    assert len(compared) > 5
    assert 0 not in compared


def test_a_ledger_that_cannot_take_note_costs_a_comparison_and_nothing_else(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(append, "_WHOLE_BYTES", 0)
    desk.put("a", "b")
    desk.index.catch_up()
    refused: list[str] = []

    def refuse(**_: bool) -> None:
        refused.append("")
        raise StorageError("no", hint="none")

    with monkeypatch.context() as patch:
        patch.setattr(desk.home.ledger, "transaction", refuse)
        assert desk.appender.add(make_entry(id="c"), day="2026-01-19").accepted
    assert refused
    compared = watch_checksums(monkeypatch)
    assert list_ids(desk) == ["a", "b", "c"]
    assert 0 in compared


def test_an_entry_that_is_not_where_the_index_says_is_noticed(desk: Desk) -> None:
    """Changed within one tick of the clock, the file looks as before: what is read must still be what was asked for."""
    desk.put("a", "b")
    desk.index.catch_up()
    data = b"".join(reversed(desk.file.read_bytes().splitlines(keepends=True)))
    rewrite_in_place(desk.file, data)
    found = desk.file.stat()
    with desk.home.ledger.transaction() as db:
        db.execute("UPDATE manifests SET changed_ns = ?", (found.st_ctime_ns,))
    known = desk.index.recall()
    assert known is not None
    assert known.is_fresh(found)
    assert find_line(desk, "a") == 2


def test_a_file_is_indexed_in_blocks_and_lines_longer_than_a_block_are_passed(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_BLOCK_BYTES", 700)
    desk.put("a")
    desk.write('{"id": "long", "title": "' + "x" * 5000 + '"}\n')
    desk.put(*(f"b{number}" for number in range(20)))
    desk.write("y" * 3000)
    assert list_ids(desk) == ["a", *(f"b{number}" for number in range(20))]
    assert [line for line, _ in find_bad_lines(desk.index)] == [2, 23]
    assert find_bad_lines(desk.index)[0] == (2, TOO_LONG)
    desk.write("\n", make_line(id="c"))
    assert find_line(desk, "c") == 24
    assert [line for line, _ in find_bad_lines(desk.index)] == [2, 23]
    assert desk.index.catch_up().checksum == Index(Home(str(desk.file.parent)), str(desk.file)).catch_up().checksum
    before = desk.index.catch_up()
    desk.file.touch()
    assert desk.index.catch_up().number == before.number


def test_a_line_over_a_megabyte_is_passed_over(desk: Desk) -> None:
    desk.put("a")
    desk.write(b'{"id": "' + b"x" * (5 * MAX_LINE_BYTES) + b'"}\n')
    desk.put("b")
    assert list_ids(desk) == ["a", "b"]


def test_a_step_that_stops_in_the_middle_is_taken_up_by_the_next(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_BLOCK_BYTES", 700)
    desk.put(*(f"e{number}" for number in range(10)))
    with desk.home.ledger.transaction() as db:
        known, at_end = desk.index._advance(db)  # noqa: SLF001 - one step, as a process that then dies takes it
    assert not at_end
    assert 0 < known.lines < 10
    other = desk.other()
    assert list_ids(other) == [f"e{number}" for number in range(10)]
    assert find_line(desk, "e9") == 10
    other.close()


def list_indexes(desk: Desk) -> int:
    """How many of the indexes there are."""
    rows = desk.home.ledger.db.execute("SELECT name FROM sqlite_master WHERE type = 'index'").fetchall()
    return len(MANIFEST_INDEXES.keys() & {name for (name,) in rows})


def test_a_large_file_is_read_without_indexes_and_has_them_at_its_end(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also when whoever began it dies: the next one finishes."""
    monkeypatch.setattr(module, "_BLOCK_BYTES", 700)
    monkeypatch.setattr(module, "_LARGE_BYTES", 1000)
    desk.put(*(f"e{number}" for number in range(10)))
    with desk.home.ledger.transaction() as db:
        desk.index._advance(db)  # noqa: SLF001 - one step, as a process that then dies takes it
    assert list_indexes(desk) == 0
    other = desk.other()
    assert find_line(other, "e9") == 10
    assert list_indexes(desk) == len(MANIFEST_INDEXES)
    assert list_ids(desk) == [f"e{number}" for number in range(10)]
    desk.put("f")
    assert find_line(desk, "f") == 11
    other.close()


def test_a_large_file_beside_another_manifest_takes_no_index_away(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_LARGE_BYTES", 1000)
    small = desk.file.with_name("small.jsonl")
    small.write_text(make_line(id="s"))
    assert Index(desk.home, str(small)).find("s") is not None
    desk.put(*(f"e{number}" for number in range(10)))
    with desk.home.ledger.transaction() as db:
        desk.index._advance(db)  # noqa: SLF001 - one step
    assert list_indexes(desk) == len(MANIFEST_INDEXES)
    assert find_line(desk, "e9") == 10


def test_several_manifests_share_the_tables_and_nothing_else(tmp_path: Path) -> None:
    home = Home(str(tmp_path))
    first, second = (tmp_path / name for name in ("a.jsonl", "b.jsonl"))
    first.write_text("".join(make_line(id=f"e{n}", topics=["t"]) for n in range(5)))
    second.write_text(make_line(id="e1", title="second") + "bad\n")
    indexes = [Index(home, str(file)) for file in (first, second)]
    lists = [[entry.id for entry in walk_entries(each, Query(topic="t", words=("sessions",)))] for each in indexes]
    assert lists == [["e4", "e3", "e2", "e1", "e0"], []]
    entry = indexes[1].find("e1")
    assert entry is not None
    assert entry.fields["title"] == "second"
    second.write_text(make_line(id="e2"))
    assert (indexes[1].find("e1"), indexes[0].find("e1") is not None) == (None, True)


def count_rows(desk: Desk) -> dict[str, int]:
    """How many rows each table has."""
    tables = ("manifests", "manifest_entries", "manifest_topics", "manifest_bad_lines")
    return {name: desk.home.ledger.db.execute(f"SELECT count(*) FROM {name}").fetchone()[0] for name in tables}  # noqa: S608


def test_what_was_forgotten_does_not_pile_up(desk: Desk) -> None:
    """A manifest that is rewritten again and again, beside another that is not."""
    large = desk.file.with_name("large.jsonl")
    large.write_text("".join(make_line(id=f"e{n}") for n in range(20)))
    other = Index(desk.home, str(large))
    seen = []
    for number in range(30):
        replace(desk.file, (make_line(id=f"x{number}") + "bad\n").encode()) if number else desk.write(
            make_line(), "bad\n"
        )
        assert list_ids(desk) == [f"x{number}" if number else "auth-2026-01-19"]
        assert other.find("e7") is not None
        seen.append(count_rows(desk)["manifest_entries"])
    assert max(seen) <= 2 * 21
    assert len(seen) > len(set(seen))  # it was all made anew at least once
    words = desk.home.ledger.db.execute("SELECT count(*) FROM manifest_words WHERE manifest_words MATCH 'sessions'")
    assert words.fetchone()[0] <= 2 * 21


def test_a_workspace_that_was_moved_keeps_its_index(desk: Desk, tmp_path: Path) -> None:
    desk.put("a", "b")
    number = desk.index.catch_up().number
    desk.close()
    there = tmp_path.with_name(f"{tmp_path.name}-moved")
    shutil.copytree(tmp_path, there)
    moved = Desk(there)
    assert list_ids(moved) == ["a", "b"]
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
    assert desk.index.rebuild() == (4, 2, 1)
    assert desk.index.rebuild() == (4, 2, 1)
    assert count_rows(desk)["manifest_entries"] == 2


def test_a_ledger_without_the_index_is_no_loss(desk: Desk) -> None:
    desk.put("a")
    desk.index.catch_up()
    desk.close()
    shutil.rmtree(desk.file.parent / ".remit")
    assert list_ids(desk.other()) == ["a"]


@pytest.mark.parametrize(
    ("make", "reason"),
    [
        (lambda _: None, "cannot be read: no such file"),
        (os.mkfifo, "is not a file"),
        (os.mkdir, "is not a file"),
        (lambda file: file.symlink_to("/dev/zero"), "is not a file"),
    ],
)
def test_what_is_no_file_is_refused_by_what_it_is(desk: Desk, make: object, reason: str) -> None:
    make(desk.file)  # type: ignore[operator]
    with pytest.raises(InputError, match=reason) as caught:
        desk.index.find("a")
    assert caught.value.hint


def test_a_file_that_never_stands_still_is_told(desk: Desk) -> None:
    desk.put("a")
    tries = 0

    def change(_: object, __: object) -> None:
        nonlocal tries
        tries += 1
        raise module.ChangedError

    with pytest.raises(StorageError, match="changes all the time"):
        desk.index.consult(change)
    assert tries > 1


_LINES = st.one_of(
    st.sampled_from([b"", b"{}", b"[]", b'{"id":"a"}', b'{"id":"a","id":"b"}', b"\xff", b'{"id"', b"  ", b"\r"]),
    st.builds(
        lambda entry_id, day, topics: make_line(id=entry_id, date=day, topics=topics).encode()[:-1],
        st.text(max_size=5),
        st.sampled_from(["2026-01-01", "2025-05-05", "x", ""]),
        st.lists(st.text(max_size=3), max_size=3),
    ),
    st.binary(max_size=30).map(lambda data: data.replace(b"\n", b"")),
)


@pytest.mark.slow
@settings(max_examples=choose(20, 60), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(parts=st.lists(st.tuples(st.lists(_LINES, max_size=6), st.booleans()), min_size=1, max_size=5))
@pytest.mark.thorough
def test_however_a_file_grows_the_index_is_that_of_the_whole(
    tmp_path_factory: pytest.TempPathFactory, parts: list[tuple[list[bytes], bool]]
) -> None:
    """Grown in parts and looked at after each, or read at once: the same entries and the same bad lines."""
    grown, whole = Desk(tmp_path_factory.mktemp("grown")), Desk(tmp_path_factory.mktemp("whole"))
    data = b""
    for lines, ended in parts:
        part = b"\n".join(lines) + (b"\n" if ended else b"")
        grown.write(part)
        data += part
        grown.index.catch_up()
    whole.write(data)
    rows = []
    for each in (grown, whole):
        each.index.catch_up()
        rows.append(each.home.ledger.db.execute("SELECT * FROM manifest_entries ORDER BY number").fetchall())
    assert rows[0] == rows[1]
    assert find_bad_lines(grown.index) == find_bad_lines(whole.index)
    assert sorted(row[0] & LINE_MASK for row in rows[0]) == read_plainly(data)
    for each in (grown, whole):
        each.close()


def read_plainly(data: bytes) -> list[int]:
    """The lines that are entries, by a plain scan."""
    found = []
    for number, line in enumerate(data.split(b"\n"), 1):
        try:
            entry = from_json(line, allow_inf_nan=False, catch_duplicate_keys=True)
        except ValueError:
            continue
        if isinstance(entry, dict):
            found.append(number)
    return found
