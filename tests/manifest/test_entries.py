"""Entries: written in the standard's form, and read whatever form they have."""

import json

import pytest

from remit.manifest.entries import (
    FIELDS,
    ManifestEntry,
    add_number,
    is_pending,
    make_slug,
    name_findings_file,
    name_task,
    read_day,
    read_texts,
    render_entry,
    shape_entry,
    split_id,
)
from remit.returns.formats.manifest import SHAPE
from tests.support.manifest_entries import ENTRY


def test_fields_are_those_of_the_contract() -> None:
    """R4.7."""
    assert set(FIELDS) == set(SHAPE.known)


def test_an_entry_is_written_in_the_order_of_the_standard_on_one_line() -> None:
    """R4.7."""
    shuffled = dict(reversed(ENTRY.items())) | {"zeal": 1, "title": "Two\nlines"}
    line = render_entry(shape_entry(shuffled))
    assert b"\n" not in line
    assert list(json.loads(line)) == [*FIELDS, "zeal"]


def test_empty_items_are_dropped_and_lists_are_made() -> None:
    """C15."""
    shaped = shape_entry({**ENTRY, "linked_tasks": ["", "  ", None, "T1 "], "topics": "auth"})
    assert (shaped["linked_tasks"], shaped["topics"]) == (["T1"], ["auth"])
    assert shape_entry({"title": "x"}) == {
        "title": "x", "topics": [], "key_findings": [], "needs_followup": [], "linked_tasks": []
    }  # fmt: skip


def test_reasons_are_marked_and_tasks_are_not() -> None:
    """C21."""
    given = ["T12", "no access", "BLOCKED:broken", "13"]
    wanted = ["T12", "BLOCKED:no access", "BLOCKED:broken", "13"]
    assert shape_entry({"needs_followup": given})["needs_followup"] == wanted


def test_other_names_become_the_standards() -> None:
    """C14."""
    shaped = shape_entry({"taskId": "T7", "output_file": "a.md", "timestamp": "2026-04-16T07:06:39Z"})
    assert (shaped["linked_tasks"], shaped["file"], shaped["date"]) == (["T7"], "a.md", "2026-04-16")
    assert not {"taskId", "output_file", "timestamp"} & shaped.keys()


def test_a_value_of_the_wrong_kind_stays_for_the_rules_to_tell() -> None:
    assert shape_entry({"topics": 3, "needs_followup": [4]})["topics"] == 3


def test_half_a_character_does_not_stop_the_line() -> None:
    assert render_entry({"title": "\ud800x"}) == b'{"title":"?x"}'


@pytest.mark.parametrize("text", ["12", "#12", "T12", "t-12", "T012", "task-12", "Task 12", " task_12 ", "task #12"])
def test_spellings_of_one_task_are_one(text: str) -> None:
    """R4.9."""
    assert name_task(text) == "12"


@pytest.mark.parametrize("text", ["epic-3", "12.1", "t", "#", "1234567890", "²", "٣"])
def test_anything_else_is_itself(text: str) -> None:
    assert name_task(text.upper()) == text


def test_days_are_numbered_and_come_back() -> None:
    assert [read_day(each) for each in ("2026-01-19", "1800-01-01", "9999-12-31")] == [
        "2026-01-19",
        "1800-01-01",
        "9999-12-31",
    ]
    assert read_day("2026-01-19T10:00:00Z") == "2026-01-19"
    assert [read_day(each) for each in ("19.1.2026", "", None, 3, "2026-02-30")] == [""] * 5


@pytest.mark.parametrize(
    ("title", "slug"),
    [
        ("Upload limits", "upload-limits"),
        ("  Café: was nun?  ", "cafe-was-nun"),
        ("認証", ""),
        ("a" * 100, "a" * 60),
        ("word " * 30, "-".join(["word"] * 12)),
    ],
)
def test_a_title_becomes_a_slug(title: str, slug: str) -> None:
    assert make_slug(title) == slug


def test_a_second_entry_of_a_day_gets_a_number_and_so_does_its_file() -> None:
    """R4.9."""
    assert split_id("auth-2026-01-19-3") == ("auth-2026-01-19", 3)
    assert split_id("auth-2026-01-19") == ("auth-2026-01-19", 1)
    assert split_id("T031-index") == ("T031-index", 1)
    assert add_number("auth-2026-01-19", 2) == "auth-2026-01-19-2"
    assert name_findings_file("auth-2026-01-19", "2026-01-19") == "2026-01-19_auth.md"
    assert name_findings_file("auth-2026-01-19-2", "2026-01-19") == "2026-01-19_auth-2.md"


@pytest.mark.parametrize(
    ("fields", "pending"),
    [
        ({"status": "complete"}, False),
        ({"status": "complete", "actionable": True}, False),
        ({"status": "complete", "needs_followup": ["T1"]}, True),
        ({"status": "complete", "needs_followup": ["", " "]}, False),
        ({"status": "partial"}, True),
        ({"status": "Blocked "}, True),
        ({"status": "superseded", "needs_followup": ["T1"]}, False),
        ({"status": 3}, False),
        ({}, False),
    ],
)
def test_what_is_pending(fields: dict[str, object], *, pending: bool) -> None:
    """R4.12, R4.13."""
    assert is_pending(fields) is pending


def test_texts_are_read_from_whatever_is_there() -> None:
    assert read_texts(["a", 3, "", None, ["b"], True, " "]) == ["a", "3"]
    assert read_texts("one") == ["one"]
    assert [read_texts(each) for each in (" ", None, {"a": 1}, 3)] == [[]] * 4
    assert ManifestEntry(1, {"title": 3, "topics": "a"}).get_text("title") == ""
    assert ManifestEntry(1, {"title": 3, "topics": "a"}).get_list("topics") == ["a"]
