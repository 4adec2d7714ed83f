"""The page of all benchmarks, rendered from the figures and from nothing else."""

from __future__ import annotations

import textwrap
from typing import Any, Final

from bench.reasons import find_reason
from bench.rows import Row, from_json, render_figure, render_limit, render_ratio

AREAS: Final = {
    "contract": (
        "Reading final messages: Remit finds, repairs and validates a return; peers only read, and what they "
        "read goes through one plain validator that is not Remit's. Processor's time."
    ),
    "lint": (
        "Agent files of about 250 lines, half in the standard's form and half in Claude Code's own; whole processes."
    ),
    "hook": (
        "A harness starts the hook on every tool call and waits for it: the whole process, event in, answer "
        "out, in a project of 300 files."
    ),
    "confine": (
        "A shell command of a confined agent, in a workspace with twenty protected places: the processor's time of "
        "`bash -c true` under the launcher, minus that of the same call bare in the same round. bubblewrap makes the "
        "same mounts; it limits no signals and no abstract sockets."
    ),
    "run": (
        "An agent that does nothing (`sh` prints a valid return): with its durable row, its shim in a "
        "namespace, its output kept, its result stored, and a verdict."
    ),
    "functions": (
        "Some hundred functions that do nothing, handed over at once, with the row before and the result after "
        "on disk: SQLite, write-ahead log, full sync (Prefect sets a weaker one by itself, and keeps that "
        "advantage). Only Remit judges what came back. The queue is one that adds a row, takes it and crosses "
        "it out, each in a durable transaction and one after the other; Remit writes together what comes at one "
        "moment."
    ),
    "crowd": (
        "Sleeping agents, each under its shim, held by one supervisor. Those that are ended ignore every polite "
        "signal and have a child in a session of its own."
    ),
    "evidence": "What it costs to know what an agent really did: the tree before and after.",
    "manifest": "Entries of some hundred bytes, over a thousand days.",
    "tasks": "TODO.md and state.json changed together or not at all.",
    "mcp": "From the start of the process to each answer.",
    "dashboard": (
        "`remit serve` over a ledger of 10,000 delegations, asked over one connection, and seen in a browser "
        "without a screen."
    ),
    "cluster": (
        "A real PostgreSQL with its usual sync to disk, and real workers, each a process with a folder of its "
        "own. Plain DBOS has the same server, polls and places: one step of a workflow clones the commit, "
        "starts the program and keeps what it printed. The time is from the first delegation that is asked for "
        "to the last that is back."
    ),
    "context": "What of an agent's work reaches its caller, in tokens of a real tokenizer.",
}
"""The areas in their order, and what to know of each."""

_HEAD: Final = """\
<!-- Made by `make bench` from docs/benchmarks.json; do not edit. -->

# Benchmarks

All that Remit promises about speed and accuracy, measured. [How things were made fast](speed.md) is told elsewhere.

{summary}

## The machine

{machine}

## How it is measured

- Each script runs by itself, one after the other, in the environment that it needs; peers are installed from a locked
  file into one of their own.
- What is compared is measured in turn, round after round. A figure is the **median of the rounds**, with the lowest and
  the highest in brackets. The ratio is Remit's figure divided by the other's of the **same round**, since a busy
  machine slows both; then its median, lowest and highest. A row of one round is a count, a size or a share.
- A **floor** is no competitor but the least that anybody has to do: a Python that starts and does nothing, the syncs of
  a write. Nobody can be below it for long.
- Peers do less or more than Remit: each area says what.

## Not ahead, or a goal missed

{behind}

## Figures
"""
_REPEAT: Final = """\
## How to repeat it

`make bench` measures all of it and writes this page; this took {minutes} minutes. `make bench BENCH=--quick` is a quick
look: fewer rounds, smaller amounts, and nothing is written. `.venv/bin/python bench/all.py hook delegate` measures some
of it into this page: all scripts whose names begin so. *Source* is git's name for what was in `src/`: `git rev-parse
--short HEAD:src` tells it of a checkout. *Quick form* has fewer rounds and smaller amounts.

| script | began (UTC) | source | took | load before, after |
|---|---|---|---|---|
{runs}
"""


def render_page(told: dict[str, Any]) -> str:
    """The page that belongs to the figures."""
    rows = [from_json(row) for run in told["runs"].values() for row in run["rows"]]
    names = [*AREAS, *sorted({row.area for row in rows} - AREAS.keys())]
    areas = {name: found for name in names if (found := [row for row in rows if row.area == name])}
    machine = _render_machine(told["machine"]) if "machine" in told else "Nothing is known of it."
    parts = [_HEAD.format(summary=_summarize(areas), machine=machine, behind=_render_behind(told, areas))]
    parts += [
        f"### {area.capitalize()}\n\n{_wrap(AREAS.get(area, ''))}\n\n{_render_table(found)}\n"
        for area, found in areas.items()
    ]
    minutes = round(sum(run["seconds"] for run in told["runs"].values()) / 60)
    runs = "\n".join(_render_run(name, run) for name, run in told["runs"].items())
    return "\n".join([*parts, _REPEAT.format(minutes=minutes, runs=runs)])


def _wrap(text: str, *, indent: str = "") -> str:
    return textwrap.fill(text, 120, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False)


def _summarize(areas: dict[str, list[Row]]) -> str:
    """How many goals of each area are reached, and how often a peer is ahead."""
    lines = ["| area | rows | goals | reached | peers measured | ahead of Remit |", f"|{'---|' * 6}"]
    total = [0] * 5
    for area, rows in areas.items():
        goals = [row.reaches(goal) for row in rows for goal in row.goals]
        peers = [other for row in rows for other in row.others if other.figure and not other.is_floor]
        counts = [len(rows), len(goals), sum(goals), len(peers), sum(len(row.list_ahead()) for row in rows)]
        total = [one + other for one, other in zip(total, counts, strict=True)]
        lines.append(f"| [{area}](#{area}) | {' | '.join(map(str, counts))} |")
    return "\n".join([*lines, f"| all | {' | '.join(map(str, total))} |"])


def _render_machine(machine: dict[str, Any]) -> str:
    versions = [*machine["programs"].items(), *machine["packages"].items()]
    facts = (
        f"{machine['cores']} cores ({machine['processor']}), {machine['memory_gb']} GB, {machine['system']}, "
        f"Linux {machine['kernel']}, Python {machine['python']}, SQLite {machine['sqlite']}."
    )
    told = f"Versions: {', '.join(f'{name} {version}' for name, version in versions)}."
    return f"{_wrap(facts)}\n\n{_wrap(told)}"


def _render_run(name: str, run: dict[str, Any]) -> str:
    form = ", quick form" if run["quick"] else ""
    return (
        f"| {name}{form} | {run['began']} | {run['source']} | {run['seconds']} s | {run['load'][0]}, {run['load'][1]} |"
    )


# --- the table of an area --------------------------------------------------------------------------------------------


def _render_table(rows: list[Row]) -> str:
    lines = ["| what | who | measured | rounds | Remit is so many times that | goal |", f"|{'---|' * 6}"]
    for row in rows:
        lines += _render_row(row)
    return "\n".join(lines)


def _render_row(row: Row) -> list[str]:
    what = f"**{row.what}**{f'. {row.note}' if row.note else ''}"
    rounds = "" if row.remit is None else row.remit.rounds
    lines = [f"| {what} | Remit | {render_figure(row.remit, row.unit)} | {rounds} | | {_render_goal(row, '')} |"]
    for other in row.others:
        name = f"{other.name}{', floor' * other.is_floor}"
        measured = "cannot do it" if other.figure is None else render_figure(other.figure, row.unit)
        rounds = "" if other.figure is None else other.figure.rounds
        ratio = "" if other.ratio is None else render_ratio(other.ratio)
        lines.append(f"| | {name} | {measured} | {rounds} | {ratio} | {_render_goal(row, other.name)} |")
    return lines


def _render_goal(row: Row, than: str) -> str:
    return ", ".join(
        f"{render_limit(row, goal)} {'✓' if row.reaches(goal) else '**missed**'}"
        for goal in row.goals
        if goal.than == than
    )


# --- where Remit is not ahead ----------------------------------------------------------------------------------------


def _render_behind(told: dict[str, Any], areas: dict[str, list[Row]]) -> str:
    """What failed; then, by area and reason, goals that are missed and peers that are ahead."""
    lines = [f"- **{name}** failed, and rows of it are missing. {run['failure']}"
             for name, run in told["runs"].items() if run["failure"]]  # fmt: skip
    for area, rows in areas.items():
        grouped: dict[str, list[str]] = {}
        for row in rows:
            for than, found in _list_behind(row):
                grouped.setdefault(find_reason(area, row.what, than), []).append(found)
        for reason, behind in grouped.items():
            lines += [f"- **{area}**: {reason}", *(f"  - {each}" for each in behind)]
    return "\n".join(_wrap(line, indent=line[: line.index("-")] + "  ") for line in lines) or "Nowhere in this run."


def _list_behind(row: Row) -> list[tuple[str, str]]:
    """Whom Remit is behind in a row, and what to say of it; nobody where a goal of its own is missed."""
    ratios = {other.name: render_ratio(other.ratio) for other in row.others}
    found = []
    for goal in row.goals:
        if not row.reaches(goal):
            told = (
                f"{ratios.get(goal.than, '—')} times {goal.than}" if goal.than else render_figure(row.remit, row.unit)
            )
            found.append((goal.than, f"{row.what}: **{told}**, where the goal is {render_limit(row, goal)}"))
    missed = {goal.than for goal in row.goals if not row.reaches(goal)}
    ahead = [name for name in row.list_ahead() if name not in missed]
    return found + [(name, f"{row.what}: {ratios[name]} times {name}") for name in ahead]
