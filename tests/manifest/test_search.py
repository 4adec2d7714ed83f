"""Searching: by everything that an entry has, the newest first, and words are never a language."""

from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from remit.errors import UsageError
from remit.ledger.home import Home
from remit.manifest import search as module
from remit.manifest.index import ManifestIndex
from remit.manifest.search import (
    EntryQuery,
    find_entries,
    find_entries_of_task,
    find_line,
    find_own_entry,
    list_ids,
    walk_entries,
    write_match,
)
from tests.support.manifest_entries import make_line
from tests.support.manifest_workspace import ManifestWorkspace
from tests.support.sample_sizes import choose


@pytest.fixture
def full(place: ManifestWorkspace) -> ManifestWorkspace:
    """A manifest in no order, with something for every question."""
    place.put("old", date="2025-05-01", topics=["Storage", "costs"], title="Upload limits", linked_tasks=["T7"])
    place.put(
        "new", date="2026-03-01", topics=["auth"], status="blocked", needs_followup=["BLOCKED:x"], linked_tasks=[7]
    )
    place.put(
        "mid", date="2026-01-15", topics=["auth", "costs"], actionable=False, needs_followup=[], linked_tasks=["8"]
    )
    place.put("mid-2", date="2026-01-15", topics=["auth"], status="superseded", key_findings=["Müller caps uploads."])
    place.put("dateless", date="soon", topics=["costs"], needs_followup=[], linked_tasks=[])
    return place


def ask(place: ManifestWorkspace, **query: object) -> list[str]:
    """The ids of all that fit."""
    found = find_entries(place.index, EntryQuery(**query), limit=100)  # type: ignore[arg-type]
    assert not found.has_more
    walked = [entry.id for entry in walk_entries(place.index, EntryQuery(**query))]  # type: ignore[arg-type]
    assert [entry.id for entry in found.entries] == walked
    return walked


@pytest.mark.parametrize(
    ("query", "ids"),
    [
        ({}, ["new", "mid-2", "mid", "old", "dateless"]),
        ({"topic": "COSTS "}, ["mid", "old", "dateless"]),
        ({"topic": "cost"}, []),
        ({"task": "task-7"}, ["new", "old"]),
        ({"task": "T11"}, ["mid-2"]),
        ({"task": "1"}, []),
        ({"status": "Blocked"}, ["new"]),
        ({"since": "2026-01-15"}, ["new", "mid-2", "mid"]),
        ({"until": "2026-01-15"}, ["mid-2", "mid", "old"]),
        ({"since": "2026-01-15", "until": "2026-01-15"}, ["mid-2", "mid"]),
        ({"until": "9999-12-31"}, ["new", "mid-2", "mid", "old"]),
        ({"actionable": False}, ["mid"]),
        ({"pending": True}, ["new", "old"]),
        ({"words": ("upload",)}, ["mid-2", "old"]),
        ({"words": ("UPLOADS", "caps")}, ["mid-2"]),
        ({"words": ("caps uploads",)}, ["mid-2"]),
        ({"words": ('"uploads caps"',)}, []),
        ({"words": ('"caps uploads"',)}, ["mid-2"]),
        ({"words": ("muller",)}, ["mid-2"]),
        ({"words": ("Mu\u0308ller",)}, ["mid-2"]),
        ({"words": ("mid-2",)}, ["mid-2"]),
        ({"words": ("upl",)}, []),
        ({"words": ("uploading",)}, ["mid-2", "old"]),
        ({"words": ("uplo",)}, ["mid-2", "old"]),
        ({"words": ("uplo",), "until": "2025-12-31"}, ["old"]),
        ({"words": ("mull",)}, ["mid-2"]),
        ({"words": ("sessions",), "topic": "auth", "task": "8"}, ["mid"]),
        ({"words": ("sessions",), "since": "2026-01-01", "status": "blocked"}, ["new"]),
        ({"topic": "costs", "task": "7", "actionable": True, "pending": True}, ["old"]),
    ],
)
def test_entries_are_found_the_newest_first(full: ManifestWorkspace, query: dict[str, object], ids: list[str]) -> None:
    assert ask(full, **query) == ids


def test_pages_follow_each_other_without_gaps(full: ManifestWorkspace) -> None:
    pages = [find_entries(full.index, EntryQuery(), limit=2, skip=skip) for skip in (0, 2, 4, 6)]
    assert [entry.id for page in pages for entry in page.entries] == ["new", "mid-2", "mid", "old", "dateless"]
    assert [page.has_more for page in pages] == [True, True, False, False]


def test_walking_goes_on_over_batches(place: ManifestWorkspace, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_BATCH", 3)
    place.put(*(f"e{number}" for number in range(10)))
    assert [entry.id for entry in walk_entries(place.index, EntryQuery(words=("sessions",)))] == [
        f"e{n}" for n in range(9, -1, -1)
    ]


def test_a_task_has_the_entries_that_name_it_and_those_it_names(full: ManifestWorkspace) -> None:
    """R4.9: a link is visible from both ends."""
    found = find_entries_of_task(full.index, "7", linked=("mid", "old", "gone"))
    assert [entry.id for entry in found] == ["new", "mid", "old"]


def test_an_entry_is_found_by_its_line(full: ManifestWorkspace) -> None:
    full.write("bad\n", make_line(without=("id",)))
    entry = find_line(full.index, 7)
    assert entry is not None
    assert (entry.line, entry.id) == (7, "")
    assert [find_line(full.index, line) for line in (6, 8, 0)] == [None, None, None]


def test_ids_that_begin_alike_are_listed(full: ManifestWorkspace) -> None:
    assert sorted(list_ids(full.index, "mid")) == ["mid", "mid-2"]
    assert list_ids(full.index, "zz") == []


HOSTILE = [
    "*", '"', "NEAR(", "a AND", "OR", "NOT x", "title:x", "^a", "{a b}: c", "(", "a*", "-a", "+", "'; DROP TABLE", "\0",
    "a\0b", "\ud800", "\u202e", "😀", "x" * 100_000, "%s", "?", "𞤀",
]  # fmt: skip


@pytest.mark.parametrize("text", HOSTILE)
def test_words_are_data(full: ManifestWorkspace, text: str) -> None:
    if any(char.isalnum() for char in text):
        find_entries(full.index, EntryQuery(words=(text,)))
    else:
        with pytest.raises(UsageError, match="no word"):
            find_entries(full.index, EntryQuery(words=(text,)))
    assert ask(full, words=("upload",)) == ["mid-2", "old"]


@settings(max_examples=choose(60, 300), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(words=st.lists(st.text(max_size=20), max_size=4), is_prefix=st.booleans())
def test_no_words_are_an_error_of_sql(full: ManifestWorkspace, words: list[str], *, is_prefix: bool) -> None:
    try:
        match = write_match(words, is_prefix=is_prefix)
    except UsageError:
        return
    full.home.ledger.db.execute("SELECT rowid FROM manifest_words WHERE manifest_words MATCH ?", (match,)).fetchall()


def test_what_is_no_word_or_too_many_is_told() -> None:
    with pytest.raises(UsageError, match="no word"):
        write_match(["!", " "])
    with pytest.raises(UsageError, match="too many"):
        write_match(["a b"] * 40)


def test_only_a_long_enough_last_word_is_a_beginning() -> None:
    assert write_match(["rate", "limi"], is_prefix=True) == '"rate" "limi"*'
    assert write_match(["rate", "limi"]) == '"rate" "limi"'
    assert write_match(["rate", "lim"], is_prefix=True) == '"rate" "lim"'
    assert write_match(['"rate limits"'], is_prefix=True) == '"rate limits"'
    assert write_match(['a"b']) == '"a" "b"'


def test_a_word_that_is_there_is_no_beginning(place: ManifestWorkspace, monkeypatch: pytest.MonkeyPatch) -> None:
    """On every page and in every batch: what fits as it is does not change its meaning when it runs out."""
    monkeypatch.setattr(module, "_BATCH", 2)
    place.put("a", "b", title="Cart")
    place.put("c", "d", title="Carthage")
    assert ask(place, words=("cart",)) == ["b", "a"]
    assert find_entries(place.index, EntryQuery(words=("cart",)), limit=2, skip=2).entries == ()
    assert ask(place, words=("carth",)) == ["d", "c"]


@pytest.mark.parametrize(
    ("query", "index"),
    [
        (EntryQuery(), "by_day"),
        (EntryQuery(words=("a",)), "by_day"),
        (EntryQuery(since="2026-01-01"), "by_day"),
        ("new", "by_id"),
    ],
)
def test_no_question_reads_all_entries_to_sort_them(
    full: ManifestWorkspace, monkeypatch: pytest.MonkeyPatch, query: EntryQuery | str, index: str
) -> None:
    asked: list[str] = []
    full.home.ledger.db.set_trace_callback(asked.append)
    if isinstance(query, str):
        full.find(query)
    else:
        monkeypatch.setattr(module, "write_match", lambda *_, **__: '"sessions"')
        find_entries(full.index, query)
    full.home.ledger.db.set_trace_callback(None)
    statement = next(each for each in asked if each.startswith("SELECT line, entry"))
    plan = full.home.ledger.db.execute(f"EXPLAIN QUERY PLAN {statement}").fetchall()
    steps = "; ".join(row[3] for row in plan)
    assert f"USING INDEX manifest_lines_{index}" in steps
    assert "TEMP B-TREE" not in steps


@pytest.mark.parametrize(
    ("named", "asked"),
    [
        ("out/a.md", "out/a.md"),
        ("a.md", "out/a.md"),
        ("out/a.md", "./a.md"),
        ("./out/./a.md", "a.md"),
        ("out/x/../a.md", "a.md"),
    ],
)
@pytest.mark.parametrize("is_there", [True, False])
@pytest.mark.parametrize("ended", ["\n", ""])
def test_an_entry_for_the_same_work_is_found_however_it_names_its_file(
    tmp_path: Path, named: str, asked: str, ended: str, *, is_there: bool
) -> None:
    """C19: with another number, under other names of the fields, and also on a last line that is not ended."""
    (tmp_path / "out").mkdir()
    if is_there:
        (tmp_path / "out/a.md").touch()
    other = make_line(id="x-2026-01-19", file="out/b.md")
    own = make_line(without=("file",), id="x-2026-01-19-3", output_file=named)[:-1]
    (tmp_path / "out/MANIFEST.jsonl").write_text(other + own + ended)
    index = ManifestIndex(Home(str(tmp_path)), str(tmp_path / "out/MANIFEST.jsonl"))
    for entry_id in ("x-2026-01-19", "x-2026-01-19-3", "x-2026-01-19-2"):
        found = find_own_entry(index, {"id": entry_id, "file": asked})
        assert found is not None
        assert (found.line, found.id) == (2, "x-2026-01-19-3")


@pytest.mark.parametrize(
    "entry",
    [
        {"id": "x-2026-01-19", "file": "c.md"},
        {"id": "x-2026-01-1", "file": "a.md"},
        {"id": "x", "file": "a.md"},
        {"id": "", "file": "a.md"},
        {"file": "a.md"},
        {"id": "x-2026-01-19"},
        {"id": "x-2026-01-19", "file": "a\0.md"},
        {"id": 7, "file": ["a.md"]},
    ],
)
def test_an_entry_for_other_work_is_not_taken_for_it(place: ManifestWorkspace, entry: dict[str, Any]) -> None:
    assert find_own_entry(place.index, entry) is None
    place.put("x-2026-01-19", "x-2026-01-19-b", "x-2026-01-19.2", file="a.md")
    assert find_own_entry(place.index, entry) is None


def test_of_two_files_that_are_called_alike_the_one_that_is_there_is_meant(tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "a.md").touch()
    (tmp_path / "out/MANIFEST.jsonl").write_text(make_line(id="x", file="a.md"))
    index = ManifestIndex(Home(str(tmp_path)), str(tmp_path / "out/MANIFEST.jsonl"))
    assert find_own_entry(index, {"id": "x", "file": "./a.md"}) is not None
    assert find_own_entry(index, {"id": "x", "file": "out/a.md"}) is None
