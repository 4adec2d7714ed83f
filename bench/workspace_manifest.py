"""Remit's manifest against what it is made of: SQLite, a write, a loop over the lines, and `jq`.

Run as `PYTHONPATH=src python bench/workspace_manifest.py`; `--lines` makes it shorter. Makes manifests of three sizes
and measures, in turn: an entry by its id against a raw read by primary key; a search for words; an index made anew
against a bare loop that decodes the lines and inserts them into the same tables; an entry appended against a bare write
and fsync; and the same entry looked for by `jq` and by a plain scan. Prints a table and one line per goal; ends with 1
when a goal is missed. The machine is shared, so ratios count, and times are medians.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import resource
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
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from jiter import from_json

from remit.contract.manifest_lines import check_line
from remit.model import ArtifactFacts
from remit.workspace.home import Home
from remit.workspace.ledger.migrations import MIGRATIONS
from remit.workspace.manifest.append import Appender
from remit.workspace.manifest.index import Index
from remit.workspace.manifest.rows import LINE_BITS, MANIFEST_SHIFT
from remit.workspace.manifest.search import Query, find_entries

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_LINES: Final = 1_000_000
_ID_GOAL: Final = 3.0
_GROWTH_GOAL: Final = 2.0
_WORDS_GOAL_MS: Final = 50.0
_REBUILD_GOAL: Final = 1.5
_APPEND_GOAL: Final = 1.5
_LOOKUPS: Final = 2000
_BATCH: Final = 10_000
_LARGE_LINES: Final = 10_000


class Row(NamedTuple):
    """One thing that was measured, and how it compares."""

    name: str
    milliseconds: float
    beside: str
    ratio: float | None
    goal: float | None
    """Of the ratio; of the milliseconds where there is no ratio."""

    @property
    def is_kept(self) -> bool:
        """Whether it is as good as it shall be."""
        return self.goal is None or (self.milliseconds if self.ratio is None else self.ratio) <= self.goal


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
    start = time.perf_counter()
    action()
    return (time.perf_counter() - start) * 1000


# --- by id ------------------------------------------------------------------------------------------------------------


def measure_ids(root: Path, count: int) -> tuple[Row, float, float]:
    """An entry by its id, whole and decoded, against the raw read of a line; and both in milliseconds."""
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
    own: list[float] = []
    other: list[float] = []
    for _ in range(3):  # the first rounds warm both caches
        own, other = [], []
        for entry_id in ids:
            other.append(take_ms(lambda: raw.execute("SELECT line FROM lines WHERE id = ?", (entry_id,)).fetchone()))  # noqa: B023 - called at once
            own.append(take_ms(lambda: index.find(entry_id)))  # noqa: B023
    found = index.find(ids[0])
    assert found is not None
    assert found.id == ids[0]
    raw.close()
    (root / f"raw{count}.db").unlink()
    median, base = statistics.median(own), statistics.median(other)
    return Row(f"by id, {count:,} lines", median, "raw primary-key read", median / base, _ID_GOAL), median, base


# --- words, rebuilding, scans -----------------------------------------------------------------------------------------


def measure_words(index: Index, words: Words) -> list[Row]:
    """Searches in the largest manifest, each the median of several."""
    common, second, rare = words.all[0], words.all[1], words.all[15_000]
    questions = {
        "the most common word": (common,),
        "two common words": (common, second),
        "a rare word and a common one": (rare, common),
        "a phrase": (f'"{common} {second}"',),
        "the beginning of a common word": (next(word for word in words.all if len(word) > 5)[:4],),
    }
    rows = []
    for name, asked in questions.items():
        times = [take_ms(lambda: find_entries(index, Query(words=asked))) for _ in range(7)]  # noqa: B023 - called at once
        rows.append(Row(f"words: {name}", statistics.median(times), "", None, _WORDS_GOAL_MS))
    assert find_entries(index, Query(words=(common,))).has_more
    return rows


def insert_bare(file: Path, database: Path) -> None:
    """Decode every line and insert it into the same tables, with nothing checked and nothing remembered."""
    db = sqlite3.connect(database, isolation_level=None)
    db.execute("PRAGMA journal_mode = WAL")
    db.execute("PRAGMA synchronous = NORMAL")
    for migration in MIGRATIONS:
        for statement in migration.statements:
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


def measure_rebuild(index: Index, file: Path, count: int) -> Row:
    """The index made anew, with everything that it checks, against the bare loop."""
    database = file.with_suffix(".db")
    ratios, own = [], []

    def loop() -> float:
        took = take_ms(lambda: insert_bare(file, database))
        for rest in database.parent.glob(f"{database.name}*"):
            rest.unlink()
        return took

    for _ in range(1 if count > 200_000 else 3):
        before = loop()
        own.append(take_ms(index.rebuild))
        ratios.append(2 * own[-1] / (before + loop()))  # the loop before and after: what else the machine does changes
    return Row(
        f"rebuild, {count:,} lines", statistics.median(own), "bare loop", statistics.median(ratios), _REBUILD_GOAL
    )


def measure_comparison(index: Index, file: Path, count: int) -> Row:
    """What it takes once to find that a file which another program has touched is still what was indexed."""
    number = index.catch_up().number
    times = []
    for _ in range(3):
        os.utime(file)
        times.append(take_ms(index.catch_up))
    assert index.catch_up().number == number
    return Row(f"compared, {count:,} lines", statistics.median(times), "", None, None)


def measure_scans(file: Path, entry_id: str, own_ms: float) -> list[Row]:
    """The same question without an index."""

    def scan() -> None:
        with file.open("rb") as lines:
            assert any(json.loads(line)["id"] == entry_id for line in lines)

    rows = [Row("by id, plain scan in Python", took := take_ms(scan), "by id", took / own_ms, None)]
    jq = shutil.which("jq")
    if jq is not None:
        command = [jq, "-c", f'select(.id == "{entry_id}")', str(file)]
        took = take_ms(lambda: subprocess.run(command, check=True, capture_output=True))  # noqa: S603 - ours
        rows.append(Row("by id, jq", took, "by id", took / own_ms, None))
    return rows


# --- appending --------------------------------------------------------------------------------------------------------


def measure_append(root: Path, rounds: int = 600) -> list[Row]:
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
    bare, whole, rules, behind, anew = (statistics.median(each) for each in times.values())
    beside = "write + fsync"
    return [
        Row("bare write + fsync", bare, "", None, None),
        Row("append, without the rules", whole - rules, beside, (whole - rules) / bare, _APPEND_GOAL),
        Row("append, with them", whole, beside, whole / bare, _APPEND_GOAL),
        Row(f"append to {_LARGE_LINES:,} lines", behind, beside, behind / bare, _APPEND_GOAL),
        Row("append, all opened anew", anew, beside, anew / bare, None),
    ]


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


def measure(lines: int = _LINES) -> list[Row]:
    """Everything, for manifests of up to so many lines."""
    rows: list[Row] = []
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder).resolve()
        rows += measure_append(root)
        smallest = last = (0.0, 0.0)
        sizes = sorted({1000, max(1000, lines // 10), lines})
        for count in sizes:
            row, *last = measure_ids(root, count)  # type: ignore[assignment] # two numbers
            rows.append(row)
            smallest = (last[0], last[1]) if count == sizes[0] else smallest
        growth = (last[0] / smallest[0]) / (last[1] / smallest[1])
        rows.append(
            Row(f"by id, {sizes[-1]:,} against {sizes[0]:,} lines", last[0], "growth of raw", growth, _GROWTH_GOAL)
        )
        file = root / f"m{lines}.jsonl"
        index = Index(Home(str(root)), str(file))
        rows += measure_scans(file, sample_ids(file, lines)[0], last[0])
        rows += measure_words(index, Words())
        rows.append(measure_comparison(index, file, lines))
        rows.append(measure_rebuild(index, file, lines))
    return rows


def main() -> int:
    """The command line."""
    parser = argparse.ArgumentParser(description="Measure Remit's manifest.")
    parser.add_argument("--lines", type=int, default=_LINES, help="how many lines the largest manifest has")
    options = parser.parse_args()
    rows = measure(options.lines)
    print("\n| what | ms | beside | ratio | goal |\n|---|---|---|---|---|")
    for row in rows:
        ratio, goal = (f"{value:.2f}" if value is not None else "" for value in (row.ratio, row.goal))
        print(f"| {row.name} | {row.milliseconds:,.3f} | {row.beside} | {ratio} | {goal} |")
    print(f"\nmost memory: {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f} MB\n")
    for row in rows:
        if row.goal is not None:
            unit = " ms" if row.ratio is None else "x"
            value = row.milliseconds if row.ratio is None else row.ratio
            print(f"{'kept  ' if row.is_kept else 'MISSED'}  {row.name}: {value:.2f}{unit}, goal {row.goal:g}{unit}")
    return 0 if all(row.is_kept for row in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
