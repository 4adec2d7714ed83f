"""Remit's manifest against what it is made of: SQLite, a write, a loop over the lines, and `jq`.

Run as `python bench/all.py workspace_manifest`. Makes manifests of three sizes and measures, in turn: an entry by its
id against a raw read by primary key; a search for words; an index made anew against a bare loop that decodes the lines
and inserts them into the same tables; an entry appended against a bare write and fsync; and the same entry looked for
by `jq` and by a plain scan. The machine is shared, so ratios count.
"""

from __future__ import annotations

import json
import os
import random
import shutil
import sqlite3
import statistics
import subprocess
import sys
import tempfile
from datetime import date, timedelta
from itertools import accumulate
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from jiter import from_json

from bench.clock import clock
from bench.rows import choose, finish, make_row
from remit.contract.manifest_lines import check_line
from remit.model import ArtifactFacts
from remit.workspace.home import Home
from remit.workspace.ledger.schema import TABLES
from remit.workspace.manifest.append import Appender
from remit.workspace.manifest.index import Index
from remit.workspace.manifest.rows import LINE_BITS, MANIFEST_SHIFT
from remit.workspace.manifest.search import Query, find_entries

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from bench.rows import Row

_AREA: Final = "manifest"
_LINES: Final = choose(100_000, 1_000_000)
_ID_GOAL: Final = 3.0
_GROWTH_GOAL: Final = 2.0
_WORDS_GOAL_MS: Final = 50.0
_REBUILD_GOAL: Final = 1.5
_APPEND_GOAL: Final = 1.5
_LOOKUPS: Final = 2000
_BATCH: Final = 10_000
_LARGE_LINES: Final = 10_000


_ROUNDS: Final = 7


# --- what is measured on ----------------------------------------------------------------------------------------------


class Words:
    """A language: few words that are everywhere, many that are rare."""

    def __init__(self) -> None:
        self.draw = random.Random(3)  # noqa: S311 - a fixed choice, not a secret
        letters = "abcdefghijklmnopqrstuvwxyz"
        self.all = ["".join(self.draw.choices(letters, k=self.draw.randint(3, 10))) for _ in range(20_000)]
        self._weights = list(accumulate(1 / (rank + 1) for rank in range(len(self.all))))

    def say(self, count: int) -> str:
        """A sentence."""
        return f"{' '.join(self.draw.choices(self.all, cum_weights=self._weights, k=count)).capitalize()}."


def write_manifest(file: Path, count: int) -> Words:
    """A manifest of some hundred bytes a line, over a thousand days; the same every time."""
    words = Words()
    with file.open("w", encoding="utf-8") as out:
        for number in range(count):
            out.write(json.dumps(_make_entry(words, number, count), separators=(",", ":")) + "\n")
    return words


def _make_entry(words: Words, number: int, count: int) -> dict[str, Any]:
    day = (date(2023, 1, 1) + timedelta(days=number * 1000 // count)).isoformat()
    slug = f"{words.draw.choice(words.all)}-{words.draw.choice(words.all)}-{number}"
    status = words.draw.choices(("complete", "partial", "blocked"), (8, 1, 1))[0]
    return {
        "id": f"{slug}-{day}",
        "file": f"{day}_{slug}.md",
        "title": words.say(5),
        "date": day,
        "status": status,
        "topics": words.draw.choices(words.all[:500], k=3),
        "key_findings": [words.say(10) for _ in range(4)],
        "actionable": words.draw.random() < 0.5,
        "needs_followup": [] if status == "complete" else [f"BLOCKED:{words.say(5)}"],
        "linked_tasks": [f"T{words.draw.randint(1, 5000)}"],
    }


def read_entries(file: Path) -> Iterator[tuple[bytes, dict[str, Any]]]:
    """Every line and its entry."""
    with file.open("rb") as lines:
        for line in lines:
            yield line, from_json(line)


def sample_ids(file: Path, count: int) -> list[str]:
    """Some ids from everywhere in the file, in no order."""
    step = max(1, count // _LOOKUPS)
    ids = [entry["id"] for number, (_, entry) in enumerate(read_entries(file)) if number % step == 0]
    random.Random(5).shuffle(ids)  # noqa: S311 - a fixed choice, not a secret
    return ids


def take_ms(action: Callable[[], object]) -> float:
    """The milliseconds of one call."""
    return clock(action)[0]


# --- by id ------------------------------------------------------------------------------------------------------------


class Lookups(NamedTuple):
    """The microseconds of an entry by its id, and of the raw read of a line: the median of many, for each round."""

    own: list[float]
    raw: list[float]


def measure_ids(root: Path, count: int) -> Lookups:
    """An entry by its id, whole and decoded, against the raw read of a line."""
    file = root / f"m{count}.jsonl"
    write_manifest(file, count)
    index = Index(Home(str(root)), str(file))
    index.catch_up()
    raw = sqlite3.connect(root / f"raw{count}.db", isolation_level=None)
    raw.execute("PRAGMA journal_mode = WAL")
    raw.execute("CREATE TABLE lines (id TEXT PRIMARY KEY, line TEXT NOT NULL) STRICT, WITHOUT ROWID")
    raw.execute("BEGIN")
    raw.executemany("INSERT INTO lines VALUES (?, ?)", ((e["id"], line.decode()) for line, e in read_entries(file)))
    raw.execute("COMMIT")
    ids = sample_ids(file, count)
    rounds = []
    for _ in range(2 + _ROUNDS):  # the first two warm both caches
        own, other = [], []
        for entry_id in ids:
            other.append(take_ms(lambda: raw.execute("SELECT line FROM lines WHERE id = ?", (entry_id,)).fetchone()))  # noqa: B023 - called at once
            own.append(take_ms(lambda: index.find(entry_id)))  # noqa: B023
        rounds.append((statistics.median(own) * 1e3, statistics.median(other) * 1e3))
    found = index.find(ids[0])
    assert found is not None
    assert found.id == ids[0]
    raw.close()
    (root / f"raw{count}.db").unlink()
    return Lookups(*map(list, zip(*rounds[2:], strict=True)))


def tell_ids(root: Path, lookups: dict[int, Lookups]) -> list[Row]:
    """Every size beside the raw read, the largest also beside those who have no index, and how it grew."""
    floor = "a raw read by primary key"
    rows = [
        make_row(_AREA, f"an entry by its id, of {count:,}", "µs", each.own, floors={floor: each.raw},
                 goals={floor: _ID_GOAL}, peers=measure_scans(root, count) if count == max(lookups) else {})
        for count, each in lookups.items()
    ]  # fmt: skip
    least, most = lookups[min(lookups)], lookups[max(lookups)]
    grown = [late / early for late, early in zip(most.own, least.own, strict=True)]
    raw = [late / early for late, early in zip(most.raw, least.raw, strict=True)]
    what = f"the same, {max(lookups):,} against {min(lookups):,}"
    return [*rows, make_row(_AREA, what, "times", grown, floors={floor: raw}, goals={floor: _GROWTH_GOAL})]


# --- words, rebuilding, scans -----------------------------------------------------------------------------------------


def measure_words(index: Index, words: Words) -> list[Row]:
    """Searches in the largest manifest, in each round for other words: nobody asks the same again and again."""
    taken: dict[str, list[float]] = {}
    starts = [word[:4] for word in words.all if len(word) > 5]
    for number in range(_ROUNDS):
        common, second, rare = words.all[number], words.all[number + _ROUNDS], words.all[15_000 + number]
        questions = {
            "one of the most common words": (common,),
            "two common words": (common, second),
            "a rare word and a common one": (rare, common),
            "a phrase": (f'"{common} {second}"',),
            "the beginning of a common word": (starts[number],),
        }
        for name, asked in questions.items():
            query = Query(words=asked)
            taken.setdefault(name, []).append(take_ms(lambda: find_entries(index, query)))  # noqa: B023 - called at once
        assert find_entries(index, Query(words=(common,))).has_more
    return [make_row(_AREA, f"a search for {name}", "ms", times, goal=_WORDS_GOAL_MS) for name, times in taken.items()]


def insert_bare(file: Path, database: Path) -> None:
    """Decode every line and insert it into the same tables, with nothing checked and nothing remembered."""
    db = sqlite3.connect(database, isolation_level=None)
    db.execute("PRAGMA journal_mode = WAL")
    db.execute("PRAGMA synchronous = NORMAL")
    for statement in TABLES:
        db.execute(statement)
    offset, days = 0, dict[str, int]()
    batch = Batch([], [], [], [])
    db.execute("BEGIN")
    for number, (line, entry) in enumerate(read_entries(file), 1):
        day = days.setdefault(entry["date"], len(days) + 1)
        key = 1 << MANIFEST_SHIFT | day << LINE_BITS | number
        pending = bool(entry["needs_followup"])
        place = (offset, len(line) - 1)
        batch.entries.append((key, entry["id"], entry["status"], entry["actionable"], pending, *place))
        batch.topics.extend([(topic, key) for topic in entry["topics"]])
        batch.tasks.extend([(task, key) for task in entry["linked_tasks"]])
        texts = (" ".join(entry["topics"]), "\n".join(entry["key_findings"]))
        batch.words.append((key, entry["id"], entry["title"], *texts))
        offset += len(line)
        if number % _BATCH == 0:
            batch.insert(db)
    batch.insert(db)
    db.execute("COMMIT")
    db.close()


class Batch(NamedTuple):
    """Rows that are inserted together."""

    entries: list[tuple[Any, ...]]
    topics: list[tuple[str, int]]
    tasks: list[tuple[str, int]]
    words: list[tuple[Any, ...]]

    def insert(self, db: sqlite3.Connection) -> None:
        """Insert them, and begin again."""
        db.executemany("INSERT INTO manifest_entries VALUES (?, ?, ?, ?, ?, ?, ?)", self.entries)
        db.executemany("INSERT OR IGNORE INTO manifest_topics VALUES (?, ?)", self.topics)
        db.executemany("INSERT OR IGNORE INTO manifest_tasks VALUES (?, ?)", self.tasks)
        words = "INSERT INTO manifest_words (rowid, id, title, topics, key_findings) VALUES (?, ?, ?, ?, ?)"
        db.executemany(words, self.words)
        for rows in self:
            rows.clear()


def measure_rebuild(home: Path, file: Path, what: str, *, rounds: int, is_promised: bool = True) -> Row:
    """An index of a workspace made anew, with everything that it checks, against the bare loop into empty tables."""
    database = file.with_suffix(".db")
    index = Index(Home(str(home)), str(file))
    own, floors = [], []

    def loop() -> float:
        took = take_ms(lambda: insert_bare(file, database))
        for rest in database.parent.glob(f"{database.name}*"):
            rest.unlink()
        return took

    for _ in range(rounds):
        before = loop()
        own.append(take_ms(index.rebuild))
        floors.append((before + loop()) / 2)  # the loop before and after: what else the machine does changes
    floor = "a bare loop into the same tables, empty"
    goals = {floor: _REBUILD_GOAL} if is_promised else {}
    return make_row(_AREA, what, "ms", own, floors={floor: floors}, goals=goals)


def measure_rebuilds(root: Path) -> Iterator[Row]:
    """A manifest that is alone in its workspace, the largest, and a small one beside that."""
    alone = root / "alone"
    alone.mkdir()
    few = _LINES // 10
    small, large = root / f"m{few}.jsonl", root / f"m{_LINES}.jsonl"
    shutil.copy(small, alone)
    yield measure_rebuild(alone, alone / small.name, f"the index of {few:,} made anew", rounds=3)
    yield measure_rebuild(root, large, f"the index of {_LINES:,} made anew", rounds=1)
    what = f"the index of {few:,} made anew, beside one of {_LINES:,}"
    yield measure_rebuild(root, small, what, rounds=1, is_promised=False)


def measure_comparison(index: Index, file: Path, count: int) -> Row:
    """What it takes once to find that a file which another program has touched is still what was indexed."""
    number = index.catch_up().number
    times = []
    for _ in range(3):
        os.utime(file)
        times.append(take_ms(index.catch_up))
    assert index.catch_up().number == number
    return make_row(_AREA, f"a file of {count:,} that was touched, compared", "ms", times)


def measure_scans(root: Path, count: int) -> dict[str, list[float]]:
    """The same question without an index."""
    file = root / f"m{count}.jsonl"
    entry_id = sample_ids(file, count)[0]

    def scan() -> None:
        with file.open("rb") as lines:
            assert any(json.loads(line)["id"] == entry_id for line in lines)

    taken = {"a plain scan in Python": [take_ms(scan) * 1e3]}
    jq = shutil.which("jq")
    if jq is not None:
        command = [jq, "-c", f'select(.id == "{entry_id}")', str(file)]
        taken["jq"] = [take_ms(lambda: subprocess.run(command, check=True, capture_output=True)) * 1e3]  # noqa: S603 - ours
    return taken


# --- appending --------------------------------------------------------------------------------------------------------


def measure_append(root: Path, rounds: int = choose(200, 600)) -> list[Row]:
    """An entry appended against a bare write and fsync of the same line; both sides call `fsync`.

    To store it takes the lock, an id that is free, one write and fsync; before that the contract's rules are run over
    it. These look at its text, which no write does, and are told by themselves as well. Once in a manifest that one
    appender has begun; once in one that is large, where the index is asked for each id and told of each entry; and once
    with everything opened anew for each entry, as a command does.
    """
    entry = _make_entry(Words(), 1, 1)
    line = json.dumps(entry, separators=(",", ":")).encode()
    small, large = (_Bench(root / name, lines) for name, lines in (("small", 0), ("large", _LARGE_LINES)))
    handle = os.open(root / "bare.jsonl", os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    times: dict[str, list[float]] = {"bare": [], "small": [], "rules": [], "large": [], "anew": []}

    def write() -> None:
        os.write(handle, line + b"\n")
        os.fsync(handle)

    for number in range(rounds):
        given = {**entry, "id": f"topic-{number}-{entry['date']}"}
        other = {**entry, "id": f"other-{number}-{entry['date']}"}
        times["bare"].append(take_ms(write))
        times["small"].append(take_ms(lambda: small.add(given)))  # noqa: B023 - called at once
        times["rules"].append(take_ms(lambda: check_line(line, look=_find_file, words={})))
        times["large"].append(take_ms(lambda: large.add(given)))  # noqa: B023
        times["anew"].append(take_ms(lambda: _Bench(large.folder).add(other).close()))  # noqa: B023
    os.close(handle)
    assert small.index.catch_up().lines == rounds
    assert large.index.catch_up().lines == _LARGE_LINES + 2 * rounds
    bare, whole, rules, behind, anew = (_find_medians(each) for each in times.values())
    stored = [each - less for each, less in zip(whole, rules, strict=True)]
    floor, taken = "write + fsync", {"an entry appended, without the rules": stored, "an entry appended": whole}
    taken[f"an entry appended to {_LARGE_LINES:,}"] = behind
    goals = {floor: _APPEND_GOAL}
    rows = [make_row(_AREA, what, "ms", own, floors={floor: bare}, goals=goals) for what, own in taken.items()]
    return [
        *rows,
        make_row(
            _AREA, f"an entry appended to {_LARGE_LINES:,}, with all opened anew", "ms", anew, floors={floor: bare}
        ),
    ]


def _find_medians(times: Sequence[float]) -> list[float]:
    """The median of each twenty: one write alone says little."""
    return [statistics.median(times[at : at + 20]) for at in range(0, len(times), 20)]


class _Bench:
    """A workspace with a manifest of so many lines, and somebody who adds to it."""

    def __init__(self, folder: Path, lines: int | None = None) -> None:
        self.folder = folder
        if lines is not None:
            folder.mkdir()
        if lines:
            write_manifest(folder / "MANIFEST.jsonl", lines)
        self.home = Home(str(folder))
        self.index = Index(self.home, str(folder / "MANIFEST.jsonl"))
        if lines:
            self.index.catch_up()
        self._appender = Appender(self.index, look=_find_file, words={})

    def add(self, given: dict[str, Any]) -> _Bench:
        """Add an entry, which must be acceptable."""
        assert self._appender.add(given, day="2026-01-19").accepted
        return self

    def close(self) -> None:
        """Close everything."""
        self.index.close()
        self.home.close()


def _find_file(path: str) -> ArtifactFacts:
    return ArtifactFacts(path, "file", 1)


# --- all of it --------------------------------------------------------------------------------------------------------


def measure() -> Iterator[Row]:
    """Everything, for manifests of up to so many lines."""
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder).resolve()
        yield from measure_append(root)
        yield from tell_ids(root, {count: measure_ids(root, count) for count in (1000, _LINES // 10, _LINES)})
        file = root / f"m{_LINES}.jsonl"
        index = Index(Home(str(root)), str(file))
        yield from measure_words(index, Words())
        yield measure_comparison(index, file, _LINES)
        yield from measure_rebuilds(root)


if __name__ == "__main__":
    sys.exit(finish(measure()))
