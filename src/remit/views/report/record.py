"""The record of a run with all its nested runs, as one value for a file.

The tree lists every run. As many runs as the size limit permits are included in full, failed runs first. The report
says what is shortened or left out. Of command lines it has only those of
acceptance checks, and it has no paths of the machine and no processes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from remit.errors import RemitError
from remit.ledger.events import read_clock_ms
from remit.storage.secrets import redact_all
from remit.views.run_details import load_answer_page, load_run_details
from remit.views.run_snapshots import find_session
from remit.views.run_tree import load_tree

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from remit.ledger.home import Home

SCHEMA = "remit-report"
SCHEMA_VERSION = 1
"""Goes up when a name changes its meaning or goes away; names that are added leave it as it is."""
MOST_ROWS = 1_000
MOST_FULL = 200
ROOM = 3_000_000
"""The size limit of all runs in full, about the bytes of the largest file."""
_CONFIG = (
    "timeout_s", "kind", "format", "budget", "may_call", "model", "tools", "artifact_path", "phase", "commit",
    "runner", "resume_of", "retry_of",
)  # fmt: skip
_ROW = (
    "session_id", "agent", "state", "status", "verdict", "stop_reason", "depth", "path", "parent_id",
    "task_number", "runner", "work", "created_ms", "started_ms", "deadline_ms", "ended_ms", "activity", "tokens",
    "cost_usd", "turns", "waits_for", "level",
)  # fmt: skip
_MARKUP = "&<>\"'`"
_HEAVY_MARKUP, _HEAVY_CHAR = 5, 14


class RecordSizes(NamedTuple):
    """The size limits of one run."""

    text: int
    """Characters of a message, a path, a summary."""
    long: int
    """Characters of a prompt or an answer."""
    items: int
    """Findings, files, steps: of each kind so many."""


_SIZES = (RecordSizes(text=2_000, long=8_000, items=100), RecordSizes(text=300, long=1_000, items=10))


class _TextCutter:
    """Cuts what is too long, and remembers that it did."""

    def __init__(self, sizes: RecordSizes) -> None:
        self.sizes = sizes
        self.texts = self.items = 0

    def cut(self, value: Any) -> Any:  # noqa: ANN401 - JSON
        """The same value, each text and each list of it no longer than it may be."""
        if isinstance(value, str) and len(value) > self.sizes.text:
            self.texts += 1
            return f"{value[: self.sizes.text]} … ({len(value)} characters)"
        if isinstance(value, list):
            self.items += max(0, len(value) - self.sizes.items)
            return [self.cut(each) for each in value[: self.sizes.items]]
        if isinstance(value, dict):
            return {self.cut(name): self.cut(each) for name, each in value.items()}
        return value

    def cut_names(self, values: dict[str, Any]) -> dict[str, Any]:
        """Values whose names are not ours, no more of them than there may be."""
        self.items += max(0, len(values) - self.sizes.items)
        shown: dict[str, Any] = self.cut(dict([*values.items()][: self.sizes.items]))
        return shown

    def cut_long(self, text: str, characters: int) -> dict[str, Any]:
        """A prompt or an answer: its beginning, and how long it is in all."""
        return {"text": text[: self.sizes.long], "characters": characters, "cut": characters > self.sizes.long}

    def describe(self) -> list[str]:
        """What was cut, as clauses."""
        texts = f"{self.texts} {'text was' if self.texts == 1 else 'texts were'} cut"
        items = f"{self.items} {'item is' if self.items == 1 else 'items are'} not shown"
        return [notes for number, notes in ((self.texts, texts), (self.items, items)) if number]


def load_run_report(home: Home, word: str | None = None) -> dict[str, Any]:
    """The tree that a run is in, and the runs of the tree in full."""
    tree = load_tree(home, find_session(home, word))
    rows = [_cut_row(item) for item in tree["items"][:MOST_ROWS]]
    nodes = _load_nodes(home, rows)
    return {
        "schema": SCHEMA,
        "schema_version": SCHEMA_VERSION,
        "made_ms": read_clock_ms(),
        "event": tree["event"],
        "project": redact_all(home.root.rstrip("/").rpartition("/")[2]),
        "root_id": tree["root_id"],
        "open": any(item["state"] != "finished" for item in tree["items"]),
        "totals": _count(tree["items"]),
        "tree": rows,
        "nodes": nodes,
        "left_out": _describe_left_out(len(tree["items"]), len(rows), nodes, is_cut=tree["truncated"]),
    }


def _cut_row(item: Mapping[str, Any]) -> dict[str, Any]:
    shown: dict[str, Any] = _TextCutter(_SIZES[1]).cut(redact_all({name: item[name] for name in _ROW}))
    return shown


def name_state(run: Mapping[str, Any]) -> str:
    """The status of a finished run, its stop reason if it has none; the state of any other run."""
    return str(run["state"] if run["state"] != "finished" else run["status"] or run["stop_reason"] or "finished")


def _count(items: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """The tree in numbers; null if unknown."""
    tokens = [item["tokens"] for item in items if item["tokens"] is not None]
    costs = [item["cost_usd"] for item in items if item["cost_usd"] is not None]
    begun = [item["started_ms"] for item in items if item["started_ms"] is not None]
    ended = [item["ended_ms"] for item in items if item["ended_ms"] is not None]
    words = [name_state(item) for item in items]
    return {
        "runs": len(items),
        "states": {word: words.count(word) for word in dict.fromkeys(words)},
        "tokens": sum(tokens) if tokens else None,
        "cost_usd": sum(costs) if costs else None,
        "started_ms": min(begun, default=None),
        "ended_ms": max(ended, default=None) if all(item["state"] == "finished" for item in items) else None,
    }


def _describe_left_out(known: int, shown: int, nodes: Sequence[dict[str, Any]], *, is_cut: bool) -> list[str]:
    notes = []
    if shown < known or is_cut:
        notes.append(f"The tree has {'more than ' if is_cut else ''}{known} runs; this report lists {shown}.")
    if len(nodes) < shown:
        notes.append(f"{len(nodes)} of {shown} runs are shown in full; remit show ID shows the others.")
    cut = sum(bool(node["left_out"]) for node in nodes)
    if cut:
        notes.append(f"{cut} of them {'is' if cut == 1 else 'are'} shortened; remit show ID --full shows everything.")
    return notes


# --- one run ---------------------------------------------------------------------------------------------------------


def _load_nodes(home: Home, rows: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """As many as there is room for, in the order of the tree; the large ones are cut shorter before any is left out."""
    chosen = sorted(range(len(rows)), key=lambda at: _rank(rows[at], at))[:MOST_FULL]
    made = {at: node for at in chosen if (node := _load_node(home, rows[at]["session_id"], _SIZES[0])) is not None}
    weights = {at: weigh(node) for at, node in made.items()}
    if sum(weights.values()) > ROOM:
        share = ROOM // len(made)
        for at in [at for at, weight in weights.items() if weight > share]:
            made[at] = _load_node(home, rows[at]["session_id"], _SIZES[1]) or made[at]
            weights[at] = weigh(made[at])
    room, shown = ROOM, []
    for at in made:
        if weights[at] <= room:
            room -= weights[at]
            shown.append(at)
    return [made[at] for at in sorted(shown)]


def _load_node(home: Home, session_id: str, sizes: RecordSizes) -> dict[str, Any] | None:
    try:
        return _cut_details(home, load_run_details(home, session_id, result_format="standard"), sizes)
    except RemitError:  # it was forgotten just now
        return None


def _rank(row: dict[str, Any], at: int) -> tuple[bool, bool, int]:
    """The first of the run, then what did not go well, then the others."""
    return at > 0, row["status"] == "completed" and row["verdict"] != "fabricated", at


def _cut_details(home: Home, node: Mapping[str, Any], sizes: RecordSizes) -> dict[str, Any]:
    cutter = _TextCutter(sizes)
    run, asked, result = node["run"], node["asked"], node["result"]
    words = asked["words"] or asked["prompt"]
    shortened = {
        "session_id": run["session_id"],
        "run": cutter.cut(redact_all({name: run[name] for name in _ROW if name != "level"})),
        "config": cutter.cut({name: node["config"].get(name) for name in _CONFIG}),
        "asked": {
            **cutter.cut_long(words, len(words) if asked["words"] else asked["characters"]),
            "message_characters": asked["characters"],
            "context": cutter.cut(asked["context"]),
            "inputs": cutter.cut_names(asked["inputs"]),
        },
        "attempts": [_cut_attempt(home, run["session_id"], each, cutter)
                     for each in node["attempts"][-sizes.items :]],
        "checks": cutter.cut(node["checks"]),
        "result": result and cutter.cut(result),
        "steps": cutter.cut(node["steps"]),
        "unclaimed": cutter.cut(node["unclaimed"]),
    }  # fmt: skip
    cutter.items += max(0, len(node["attempts"]) - sizes.items)
    longs = [shortened["asked"], *(each["answer"] for each in shortened["attempts"] if each["answer"])]
    cutter.texts += sum(each["cut"] for each in longs)
    return shortened | {"left_out": cutter.describe()}


def _cut_attempt(home: Home, session_id: str, attempt: dict[str, Any], cutter: _TextCutter) -> dict[str, Any]:
    answer = None
    if attempt["answer"] is not None:
        page = load_answer_page(home, session_id, attempt["number"])
        answer = cutter.cut_long(page["text"], page["characters"])
    shortened: dict[str, Any] = cutter.cut({name: value for name, value in attempt.items() if name != "answer"})
    return shortened | {"answer": answer}


def weigh(value: Any) -> int:  # noqa: ANN401 - JSON
    """Estimate how many bytes a value takes in a report, with escaped markup and invisible characters."""
    weight, waiting = 0, [value]
    while waiting:
        each = waiting.pop()
        if isinstance(each, str):
            weight += len(each.encode("utf-8", "replace")) + sum(map(each.count, _MARKUP)) * _HEAVY_MARKUP
            if not each.replace("\n", "").isprintable():
                weight += _HEAVY_CHAR * sum(not char.isprintable() for char in each)
        elif isinstance(each, list):
            waiting += each
        elif isinstance(each, dict):
            waiting += [*each.keys(), *each.values()]
        weight += _HEAVY_CHAR  # its own marks
    return weight


def write_report(file: str, text: str) -> None:
    """Write a report to a file, whole or not at all."""
    from remit.storage.files import write_text

    write_text(file, text)
