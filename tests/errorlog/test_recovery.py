"""A broken errors.json: whatever is whole is saved, nothing of it is invented, and nothing raises."""

import json
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from remit.errorlog.document import parse_document
from remit.errorlog.recovery import recover
from tests.support.error_samples import FOREIGN, NOW, make_entry, make_log

LOG = make_log(5)
ENTRIES = json.loads(LOG)["errors"]


def save(text: str) -> list[str]:
    """The ids of what is saved, in a file that is none too bad."""
    saved = recover(text, NOW)
    document = parse_document(saved)
    assert not document.broken
    return [item.value.get("id", "") for item in document.items]


def test_of_a_file_that_was_cut_off_every_whole_entry_is_saved() -> None:
    ids = [entry["id"] for entry in ENTRIES]
    ends = [LOG.index("}", LOG.index(f'"{entry["id"]}"')) + 1 for entry in ENTRIES]
    for cut in range(len(LOG) - 2):
        whole = sum(end <= cut for end in ends)
        assert save(LOG[:cut]) == ids[:whole]


def test_entries_are_saved_with_all_they_say_and_so_is_the_rest() -> None:
    cut = FOREIGN[: FOREIGN.index("  ],")]
    wanted = json.loads(FOREIGN)
    del wanted["aggregations"]
    assert json.loads(recover(cut, NOW)) == wanted


def test_of_a_key_that_an_entry_gives_twice_the_last_counts_as_in_any_json() -> None:
    text = LOG.replace('"id": "err_2"', '"id": "err_7", "id": "err_2"')[:-4]
    assert save(text) == [entry["id"] for entry in ENTRIES]
    mended = LOG.replace('"id": "err_2"', '"id": "err_7", "id": "err_2",')[:-4]
    assert save(mended) == ["err_0", "err_1", "err_3", "err_4"], "but not if nobody can say which is the last"


def test_a_stray_quote_does_not_make_one_text_of_several_entries() -> None:
    line = json.dumps(json.loads(LOG))[:-20]
    text = line.replace('"timestamp": "2026-01-02', '"timestamp": \'"2026-01-02')
    assert text != line
    assert save(text) == ["err_0", "err_2", "err_3"]


def test_of_two_objects_one_after_the_other_all_are_saved_and_of_one_id_the_later() -> None:
    later = LOG.replace("unfixed", "fixed", 1).replace('"err_4"', '"err_9"')
    text = recover(LOG + later, NOW)
    entries = json.loads(text)["errors"]
    assert [entry["id"] for entry in entries] == ["err_0", "err_1", "err_2", "err_3", "err_4", "err_9"]
    assert entries[0]["fix_status"] == "fixed"


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('"err_2",', '"err_2"'),
        ('"err_2",', '"err_2",,'),
        ('"id": "err_2"', "'id': 'err_2'"),
        ('"id": "err_2"', '"id": "err_2" // the worst'),
        ("    },\n", "    }\n"),
        ("    }\n  ]\n", "    },\n  ]\n"),
        ('"errors": [', '"errors": [['),
        ("\n}\n", "\n}]\n"),
        ("{\n", "{\n  errors: none,\n"),
    ],
)
def test_a_slip_of_the_pen_costs_no_entry(old: str, new: str) -> None:
    text = LOG.replace(old, new, 1)
    assert parse_document(text).broken
    assert save(text) == [entry["id"] for entry in ENTRIES]


def test_an_entry_that_cannot_be_read_costs_only_itself() -> None:
    text = LOG.replace('"err_2",', '"err_2", "x": NaN1 nonsense "y" {', 1)
    saved = save(text)
    assert {"err_0", "err_1", "err_3", "err_4"} <= set(saved)


def test_both_sides_of_a_merge_are_saved() -> None:
    """Also where the sides share the end of an entry."""
    ours, theirs = (json.dumps(make_entry(number), indent=2) for number in (10, 11))
    head, tail = LOG[: LOG.rindex("\n  ]")], LOG[LOG.rindex("\n  ]") :]
    apart = f"{head},\n<<<<<<< HEAD\n{ours}\n=======\n{theirs}\n>>>>>>> other{tail}"
    assert save(apart) == [*(entry["id"] for entry in ENTRIES), "err_10", "err_11"]
    shared = '  "fix_status": "unfixed"\n}'
    ours, theirs = ours.removesuffix(shared), theirs.removesuffix(shared)
    marks = f"<<<<<<< HEAD\n{ours}||||||| base\n=======\n{theirs}>>>>>>> other\n"
    assert save(f"{head},\n{marks}{shared}{tail}") == [*(entry["id"] for entry in ENTRIES), "err_10", "err_11"]


def test_a_merge_keeps_what_stands_around_the_list() -> None:
    text = FOREIGN.replace('"1.0.0"', '"1.0.0",\n<<<<<<< HEAD\n  "a": 1\n=======\n  "a": 2\n>>>>>>> other\n')
    saved = json.loads(recover(text, NOW))
    assert (saved["a"], saved["_comment"], saved["aggregations"]) == (1, "kept by hand, too", {"by_type": {}})
    assert len(saved["errors"]) == 1


@pytest.mark.parametrize(
    ("text", "ids"),
    [
        (
            '{"a": 1, "errors": {"x": {"id": "p", "message": "m"}, "y": {"id": "q", "message": "m"}}, "b": 2}',
            ["p", "q"],
        ),
        (
            '{"a": 1, "errors": [{"id": "p", "message": "m"}], "b": 2, "errors": [{"id": "q", "message": "m"}]}',
            ["p", "q"],
        ),
        ('{"a": 1, "errors": "none yet", "b": 2}', []),
        ('{"errors": 3, "a": 1, "b": 2}', []),
        ('{"errors": [{"id": "p"}], "a": 1, "errors": [{"id": "q"}], "b": 2}', ["p", "q"]),
    ],
)
def test_a_list_that_is_none_becomes_one_and_the_rest_stays(text: str, ids: list[str]) -> None:
    assert parse_document(text).broken
    saved = json.loads(recover(text, NOW))
    assert [entry["id"] for entry in saved.pop("errors")] == ids
    assert saved == {"a": 1, "b": 2}


def test_an_error_inside_an_error_is_not_saved_twice() -> None:
    entry = make_entry(1, cause=make_entry(2))
    assert save(json.dumps({"errors": [entry]})[:-1]) == ["err_1"]


@pytest.mark.parametrize("text", ["", "\0" * 50, "\ufeff", "[[[[", "}}}}", '"', "nothing", '{"errors": [', "17"])
def test_of_nothing_nothing_is_saved(text: str) -> None:
    assert save(text) == []


@given(st.data())
def test_whatever_happens_to_a_file_it_is_saved_without_a_word_and_without_inventing(data: st.DataObject) -> None:
    text = data.draw(st.sampled_from([LOG, FOREIGN, json.dumps(json.loads(LOG))]))
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(0, len(text)))
        until = at + data.draw(st.integers(0, 30))
        text = (
            text[:at]
            + data.draw(st.sampled_from(["", '"', "{", "}", "]", ",", "\\", "\n", "\ud800", "<<<<<<< a\n"]))
            + text[until:]
        )
    document = parse_document(text)
    if document.broken:
        document = parse_document(recover(text, NOW))
    assert not document.broken
    for item in document.items:
        assert not isinstance(item.value, dict) or str(item.value.get("id", "")) in text


@pytest.mark.parametrize(
    "piece",
    ['{"message":', "[", "{", '{"message": "x"', '{"message": "x",}', '"', '{"a":[', '\\"', '{"message": "x"}', '{"":',
     "<<<<<<< a\n>>>>>>> b\n"],
)  # fmt: skip
@pytest.mark.thorough
def test_a_hostile_file_takes_time_that_grows_with_its_length(piece: str) -> None:
    text = piece * (1_000_000 // len(piece))
    start = time.process_time()
    recover(text, NOW)
    assert time.process_time() - start < 3
