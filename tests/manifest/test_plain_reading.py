"""However a manifest came to be what it is, the index answers as somebody does who reads all of it."""

import json
import re
from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from remit.manifest.counts import count_entries, count_quickly, find_bad_lines, find_duplicates
from remit.manifest.entries import is_pending, name_task, read_day, read_texts
from remit.manifest.search import EntryQuery, find_entries, find_line, walk_entries
from remit.returns.formats.manifest import read_aliases
from tests.support.manifest_workspace import ManifestWorkspace, replace, rewrite_in_place
from tests.support.sample_sizes import choose

WORDS = ("alpha", "beta", "gamma", "rate", "limit")
IDS = ("a", "b", "own-2", "Ä/1", " ", 7)


def entries() -> st.SearchStrategy[bytes]:
    """Lines with an entry, some of it of the wrong kind."""
    texts = st.lists(st.sampled_from(WORDS), max_size=4)
    fields: dict[str, st.SearchStrategy[Any]] = {
        "id": st.sampled_from(IDS),
        "title": texts.map(" ".join),
        "date": st.sampled_from(("2026-01-19", "2026-01-20T10:00", "1999-12-31", "soon", "", 5)),
        "status": st.sampled_from(("complete", "Blocked ", "superseded", 3)),
        "topics": st.one_of(texts, st.sampled_from((" Rate ", None, [3, "limit\nrate"]))),
        "key_findings": texts.map(lambda words: [" ".join(words)]),
        "actionable": st.sampled_from((True, False, "yes")),
        "needs_followup": st.sampled_from(([], ["T12"], "T3")),
        "task_id": st.sampled_from(("T12", ["12", 7], "epic/x")),
    }
    found = st.fixed_dictionaries({}, optional=fields)
    return st.builds(
        lambda entry, plain, end: json.dumps(entry, ensure_ascii=plain).encode() + end,
        found, st.booleans(), st.sampled_from((b"", b" ", b"\r")),
    )  # fmt: skip


ODD = (
    b"", b"  ", b"\r", b"nonsense", b"[1]", b'{"id":"a","id":"b"}', b'{"id": NaN}', b"\xff", b"<<<<<<< HEAD",
    b'{"id":"\\ud800"}', b'{"id":"a"}{"id":"b"}', b"\xef\xbb\xbf{}", b'{"id":"' + b"x" * (1 << 20) + b'"}',
)  # fmt: skip
LINES = st.one_of(entries(), entries(), st.sampled_from(ODD))


def change(data: bytes, how: str, lines: list[bytes], at: int) -> bytes:
    """What a program makes of a manifest."""
    part = b"".join(line + b"\n" for line in lines)
    at %= len(data) + 1
    return {
        "append": data + part,
        "append, torn": data + part[: len(part) - at % 9],
        "append, not ended": data + part[:-1],
        "edit": data[:at] + b'"' + data[at + 1 :],
        "insert": data[:at] + part + data[at:],
        "truncate": data[:at],
        "replace": part,
        "mark": b"\xef\xbb\xbf" + data,
    }[how]


HOW = ("append", "append, torn", "append, not ended", "edit", "insert", "truncate", "replace", "mark")


def parse(text: bytes) -> dict[str, Any] | None:
    """An entry as Python's own parser reads it."""

    def make(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        if len(dict(pairs)) < len(pairs):
            raise ValueError(pairs)
        return dict(pairs)

    def refuse(text: str) -> None:
        raise ValueError(text)

    try:
        entry = json.loads(text.decode(), object_pairs_hook=make, parse_constant=refuse)
        json.dumps(entry, ensure_ascii=False).encode()
    except (ValueError, RecursionError):
        return None
    return read_aliases(entry)[0] if isinstance(entry, dict) and len(text) <= 1 << 20 else None


class Plain:
    """A manifest that was read as a whole."""

    def __init__(self, data: bytes) -> None:
        *self.ended, self.last = data.removeprefix(b"\xef\xbb\xbf").split(b"\n")
        lines = list(enumerate((*self.ended, self.last), 1))
        self.found = [(line, fields) for line, text in lines if (fields := parse(text)) is not None]
        self.found.sort(key=lambda item: (read_day(item[1].get("date")), item[0]), reverse=True)
        self.bad = [line for line, text in lines if parse(text) is None and text.strip()]

    def find(self, fits: Callable[[dict[str, Any]], bool] = lambda _: True) -> list[tuple[int, dict[str, Any]]]:
        """The entries that fit, the newest first."""
        return [(line, fields) for line, fields in self.found if fits(fields)]


def has_word(word: str) -> Callable[[dict[str, Any]], bool]:
    """Whether an entry has a word where words are looked for."""

    def has(fields: dict[str, Any]) -> bool:
        texts = [each for name in ("id", "title", "topics", "key_findings") for each in read_texts(fields.get(name))]
        return word in re.findall(r"\w+", " ".join(texts).lower())

    return has


QUESTIONS: tuple[tuple[EntryQuery, Callable[[dict[str, Any]], bool]], ...] = (
    (EntryQuery(), lambda _: True),
    (
        EntryQuery(topic="RATE"),
        lambda each: "rate" in [text.strip().lower() for text in read_texts(each.get("topics"))],
    ),
    (EntryQuery(task="12"), lambda each: "12" in map(name_task, read_texts(each.get("linked_tasks")))),
    (EntryQuery(status="blocked"), lambda each: each.get("status") == "Blocked "),
    (EntryQuery(since="2026-01-19"), lambda each: read_day(each.get("date")) >= "2026-01-19"),
    (EntryQuery(until="2026-01-19"), lambda each: "" < read_day(each.get("date")) <= "2026-01-19"),
    (EntryQuery(actionable=False), lambda each: each.get("actionable") is not True),
    (EntryQuery(pending=True), is_pending),
    (EntryQuery(words=("alpha",)), has_word("alpha")),
    (EntryQuery(words=("gamma",), pending=True), lambda each: has_word("gamma")(each) and is_pending(each)),
    (EntryQuery(words=("nowhere",)), lambda _: False),
)


def compare(place: ManifestWorkspace, plain: Plain) -> None:
    """Ask everything, and look whether a plain reading says the same."""
    for query, fits in QUESTIONS:
        wanted = plain.find(fits)
        page = find_entries(place.index, query, limit=3, skip=1)
        assert [(entry.line, entry.fields) for entry in walk_entries(place.index, query)] == wanted, query
        assert [entry.line for entry in page.entries] == [line for line, _ in wanted[1:4]], query
        assert page.has_more == (len(wanted) > 4), query
    by_id: dict[object, list[int]] = {}
    for line, fields in sorted(plain.find(), key=lambda item: item[0]):
        found = find_line(place.index, line)
        assert found is not None
        assert (found.line, found.fields) == (line, fields)
        entry_id = fields.get("id")
        if isinstance(entry_id, str) and entry_id.strip():
            by_id.setdefault(entry_id, []).append(line)
    for entry_id in ("a", "b", "own-2", "Ä/1", "none"):
        found = place.find(entry_id)
        assert (found and found.line) == by_id.get(entry_id, [None])[0]
        assert list(find_duplicates(place.index, entry_id)) == by_id.get(entry_id, [])
    assert [line for line, _ in find_bad_lines(place.index, limit=1000)] == plain.bad
    counted, is_torn = count_entries(place.index), len(plain.ended) + 1 in plain.bad
    days = sorted(day for _, fields in plain.found if (day := read_day(fields.get("date"))))
    doubled = [(each, len(lines)) for each, lines in by_id.items() if len(lines) > 1]
    assert counted.entries == len(plain.found)
    assert (counted.bad_lines + counted.is_torn, counted.is_torn) == (len(plain.bad), is_torn)
    assert (counted.first_day, counted.last_day) == ((days[0], days[-1]) if days else (None, None))
    assert list(counted.doubled_ids) == doubled
    topics = Counter(
        topic
        for _, fields in plain.found
        for topic in {text.strip().lower().replace("\n", " ") for text in read_texts(fields.get("topics"))}
    )
    assert dict(counted.topics) == dict(topics)
    pending = sum(is_pending(fields) for _, fields in plain.found)
    quickly = count_quickly(place.home, str(place.file), max_bytes=1 << 30)
    assert quickly == (len(plain.found), pending, len(plain.bad), len(doubled), True)


@pytest.mark.slow
@settings(max_examples=choose(25, 300), deadline=None, suppress_health_check=list(HealthCheck))
@given(
    steps=st.lists(
        st.tuples(
            st.sampled_from(HOW), st.lists(LINES, max_size=6), st.integers(0, 1 << 16), st.booleans(), st.booleans()
        ),
        min_size=1,
        max_size=5,
    )
)
def test_the_index_answers_as_a_plain_reading_does(
    tmp_path_factory: pytest.TempPathFactory, steps: list[tuple[str, list[bytes], int, bool, bool]]
) -> None:
    """After each change by another program, however it is made, by a reader that was there before and by a new one."""
    place = ManifestWorkspace(tmp_path_factory.mktemp("place"))
    place.file.touch()
    data = b""
    for how, lines, at, is_replaced, is_new in steps:
        data = change(data, how, lines, at)
        (replace if is_replaced else rewrite_in_place)(place.file, data)
        if is_new:
            place.close()
            place = place.other()
        compare(place, Plain(data))
    place.close()
