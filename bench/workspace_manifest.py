"""Remit's manifest against what it is made of: SQLite, a write, a loop over the lines, and `jq`.

Run as `python bench/all.py workspace_manifest`. Makes a manifest as large as the largest known one, and one of 100,000
lines, and measures, in turn: an entry by its id against a raw read by primary key; searches; an index made anew against
a bare loop that decodes the lines and inserts them into the same table; an entry appended against a bare write and
fsync; and the same entry looked for by `jq` and by a plain scan. The machine is shared, so ratios count.
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
import time
from datetime import date, timedelta
from itertools import accumulate
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from jiter import from_json

from bench.clock import clock
from bench.rows import choose, finish, make_row
from remit.ledger.home import Home
from remit.ledger.schema import TABLES
from remit.manifest.append import ManifestAppender
from remit.manifest.index import ManifestIndex
from remit.manifest.search import EntryQuery, find_entries, find_entry
from remit.model import ArtifactFacts
from remit.returns.manifest_lines import check_line

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from bench.rows import Row

_AREA: Final = "manifest"
_FEW: Final = 326
_MANY: Final = 100_000
_ID_GOAL_MS: Final = 5.0
_SEARCH_GOAL_MS: Final = 100.0
_REBUILD_GOAL: Final = 1.5
_APPEND_GOAL: Final = 1.5
_LOOKUPS: Final = choose(500, 2000)
_BATCH: Final = 10_000
_ROUNDS: Final = 7
_SETTLED_S: Final = 2.1
"""A file that was changed less than this ago is compared at each question."""


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


def measure_ids(index: ManifestIndex, count: int) -> Row:
    """An entry by its id, whole and decoded, against the raw read of a line; of a large one also without an index."""
    file, database = Path(index.file), Path(index.file).with_suffix(".raw.db")
    raw = sqlite3.connect(database, isolation_level=None)
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
            own.append(take_ms(lambda: find_entry(index, entry_id)))  # noqa: B023
        rounds.append((statistics.median(own), statistics.median(other)))
    found = find_entry(index, ids[0])
    assert found is not None
    assert found.id == ids[0]
    raw.close()
    database.unlink()
    own, other = map(list, zip(*rounds[2:], strict=True))
    return make_row(
        _AREA, f"an entry by its id, of {count:,}", "ms", own, floors={"a raw read by primary key": other},
        goal=_ID_GOAL_MS, peers=measure_scans(file, ids[0]) if count == _MANY else {},
    )  # fmt: skip


# --- words, rebuilding, scans -----------------------------------------------------------------------------------------


def measure_searches(index: ManifestIndex, words: Words) -> Iterator[Row]:
    """Searches in the largest manifest, in each round for something else: nobody asks the same again and again."""
    taken: dict[str, list[float]] = {}
    starts = [word[:4] for word in words.all if len(word) > 5]
    for number in range(_ROUNDS):
        common, second, rare = words.all[number], words.all[number + _ROUNDS], words.all[15_000 + number]
        questions = {
            "one of the most common words": EntryQuery((common,)),
            "two common words": EntryQuery((common, second)),
            "a rare word and a common one": EntryQuery((rare, common)),
            "a phrase": EntryQuery((f'"{common} {second}"',)),
            "the beginning of a common word": EntryQuery((starts[number],)),
            "a word that is not there": EntryQuery((f"none{number}none",)),
            "a topic": EntryQuery(topic=common),
            "a topic that is not there": EntryQuery(topic=f"none{number}"),
            "a task": EntryQuery(task=str(number + 1)),
        }
        for name, query in questions.items():
            taken.setdefault(name, []).append(take_ms(lambda: find_entries(index, query)))  # noqa: B023 - called at once
        assert find_entries(index, EntryQuery((common,))).has_more
    for name, times in taken.items():
        goal = None if "topic" in name or "task" in name else _SEARCH_GOAL_MS
        yield make_row(_AREA, f"a search for {name}, of {_MANY:,}", "ms", times, goal=goal)


def insert_bare(file: Path, database: Path) -> None:
    """Decode every line and insert it into the same table, with nothing checked and nothing remembered."""
    db = sqlite3.connect(database, isolation_level=None)
    db.execute("PRAGMA journal_mode = WAL")
    db.execute("PRAGMA synchronous = NORMAL")
    for statement in TABLES:
        db.execute(statement)
    lines: list[tuple[Any, ...]] = []
    words: list[tuple[Any, ...]] = []

    def insert() -> None:
        columns = "number, manifest, line, day, id, status, actionable, pending, topics, tasks, entry"
        db.executemany(f"INSERT INTO manifest_lines ({columns}) VALUES (?, 1, ?, ?, ?, ?, ?, ?, ?, ?, ?)", lines)  # noqa: S608 - a constant
        columns = "rowid, id, title, topics, key_findings"
        db.executemany(f"INSERT INTO manifest_words ({columns}) VALUES (?, ?, ?, ?, ?)", words)  # noqa: S608
        lines.clear()
        words.clear()

    db.execute("BEGIN")
    for number, (line, entry) in enumerate(read_entries(file), 1):
        topics, tasks = (f"\n{chr(10).join(entry[name])}\n" for name in ("topics", "linked_tasks"))
        facts = (entry["status"], entry["actionable"], bool(entry["needs_followup"]), topics, tasks)
        lines.append((number, number, entry["date"], entry["id"], *facts, line))
        words.append((number, entry["id"], entry["title"], topics, "\n".join(entry["key_findings"])))
        if number % _BATCH == 0:
            insert()
    insert()
    db.execute("COMMIT")
    db.close()


def measure_rebuild(index: ManifestIndex, count: int, *, rounds: int) -> Row:
    """An index made anew, with everything that it checks, against the bare loop into empty tables."""
    database = Path(index.file).with_suffix(".db")
    own, floors = [], []

    def loop() -> float:
        took = take_ms(lambda: insert_bare(Path(index.file), database))
        for rest in database.parent.glob(f"{database.name}*"):
            rest.unlink()
        return took

    for _ in range(rounds):
        before = loop()
        own.append(take_ms(index.rebuild))
        floors.append((before + loop()) / 2)  # the loop before and after: what else the machine does changes
    floor = "a bare loop into the same table, empty"
    return make_row(
        _AREA, f"the index of {count:,} made anew", "ms", own, floors={floor: floors}, goals={floor: _REBUILD_GOAL}
    )


def measure_comparison(index: ManifestIndex, count: int) -> Row:
    """What it takes to find that a file which another program has touched is still what was read."""
    number = index.catch_up().number
    times = []
    for _ in range(_ROUNDS):
        os.utime(index.file)
        times.append(take_ms(index.catch_up))
    assert index.catch_up().number == number
    return make_row(_AREA, f"a file of {count:,} that was touched, compared", "ms", times)


def measure_scans(file: Path, entry_id: str) -> dict[str, list[float]]:
    """The same question without an index."""

    def scan() -> None:
        with file.open("rb") as lines:
            assert any(json.loads(line)["id"] == entry_id for line in lines)

    taken = {"a plain scan in Python": [take_ms(scan)]}
    jq = shutil.which("jq")
    if jq is not None:
        command = [jq, "-c", f'select(.id == "{entry_id}")', str(file)]
        taken["jq"] = [take_ms(lambda: subprocess.run(command, check=True, capture_output=True))]  # noqa: S603 - ours
    return taken


# --- appending --------------------------------------------------------------------------------------------------------


def measure_append(root: Path, rounds: int = choose(200, 600)) -> Iterator[Row]:
    """An entry appended against a bare write and fsync of the same line; both sides call `fsync`.

    To store it takes the lock, a look whether its id is free, one write and fsync; before that the contract's rules are
    run over it. These look at its text, which no write does, and are told by themselves as well.
    """
    entry = _make_entry(Words(), 1, 1)
    line = json.dumps(entry, separators=(",", ":")).encode()
    handle = os.open(root / "bare.jsonl", os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    floor = "write + fsync"

    def write() -> None:
        os.write(handle, line + b"\n")
        os.fsync(handle)

    for lines in (_FEW, _MANY):
        (root / str(lines)).mkdir()
        file = root / str(lines) / "MANIFEST.jsonl"
        write_manifest(file, lines)
        home = Home(str(file.parent))
        appender = ManifestAppender(home, str(file), inspect=_find_file, words={})
        times: dict[str, list[float]] = {"bare": [], "whole": [], "rules": [], "read": []}
        for number in range(rounds if lines == _FEW else rounds // 5):
            given = {**entry, "id": f"topic-{number}-{entry['date']}"}
            times["bare"].append(take_ms(write))
            times["whole"].append(take_ms(lambda: appender.add(given, day="2026-01-19")))  # noqa: B023 - called at once
            times["rules"].append(take_ms(lambda: check_line(line, inspect=_find_file, words={})))
        index = ManifestIndex(home, str(file))
        index.catch_up()
        for number in range(_ROUNDS):
            appender.add({**entry, "id": f"read-{number}-{entry['date']}"}, day="2026-01-19")
            times["read"].append(take_ms(lambda: find_entry(index, f"read-{number}-{entry['date']}")))  # noqa: B023
        assert index.catch_up().lines == lines + len(times["bare"]) + _ROUNDS
        home.close()
        bare, whole, rules = (_find_medians(times[name]) for name in ("bare", "whole", "rules"))
        stored = [each - less for each, less in zip(whole, rules, strict=True)]
        goals = {floor: _APPEND_GOAL} if lines == _FEW else {}
        what = f"an entry appended to {lines:,}"
        yield make_row(_AREA, what, "ms", whole, floors={floor: bare}, goals=goals)
        yield make_row(_AREA, f"{what}, without the rules", "ms", stored, floors={floor: bare}, goals=goals)
        yield make_row(_AREA, f"an entry just appended to {lines:,} by its id", "ms", times["read"])
    os.close(handle)


def _find_medians(times: Sequence[float]) -> list[float]:
    """The median of each twenty: one write alone says little."""
    return [statistics.median(times[at : at + 20]) for at in range(0, len(times), 20)]


def _find_file(path: str) -> ArtifactFacts:
    return ArtifactFacts(path, "file", 1)


# --- all of it --------------------------------------------------------------------------------------------------------


def measure() -> Iterator[Row]:
    """Everything, for a manifest of either size, each alone in its workspace."""
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder).resolve()
        yield from measure_append(root)
        for lines in (_FEW, _MANY):
            place = root / f"{lines}-alone"
            place.mkdir()
            words = write_manifest(place / "MANIFEST.jsonl", lines)
            home = Home(str(place))
            index = ManifestIndex(home, str(place / "MANIFEST.jsonl"))
            time.sleep(_SETTLED_S)
            yield measure_rebuild(index, lines, rounds=choose(1, 3) if lines == _MANY else _ROUNDS)
            yield measure_ids(index, lines)
            if lines == _MANY:
                yield from measure_searches(index, words)
                yield measure_comparison(index, lines)
            home.close()


if __name__ == "__main__":
    sys.exit(finish(measure()))
