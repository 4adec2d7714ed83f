"""Delegations to a function of the same process, many at once, beside others that run functions durably.

Run as `python bench/all.py delegate_functions`. Each runs the same number of functions that do nothing, all handed over
at once, with its row before and its result after on disk: SQLite with a write-ahead log and full sync. Prefect sets a
weaker sync for itself, and keeps that advantage; Remit alone judges what the function returned. Every contender has a
process of its own in each round, which tells how many it did in a second, without its start, and how much of the CPU it
needed: on a busy machine that says more. Beside them a bare queue in SQLite: a row is added, taken and crossed out,
each in a durable transaction of its own, one after the other, and nothing else.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

from bench.rows import choose, finish, make_row

AREA, ROUNDS = "functions", choose(2, 5)
CONTENDERS = {"remit": 500, "dbos": 300, "dbos-bare": 300, "langgraph": 200, "huey": 500, "prefect": 20, "queue": 500}
"""How many functions each runs in a round: enough for two seconds and more."""
NAMES = {
    "dbos": "DBOS, a workflow of one step",
    "dbos-bare": "DBOS, a workflow without a step",
    "langgraph": "LangGraph with SqliteSaver, a graph of one node",
    "huey": "Huey on SQLite, two workers",
    "prefect": "Prefect, a flow",
}
QUEUE = "a bare queue in SQLite"
GOALS = {"dbos": 2.0, "dbos-bare": 1.0, "langgraph": 1.0, "prefect": 1.0}
_PREFECT = {"PREFECT_SERVER_EPHEMERAL_STARTUP_TIMEOUT_SECONDS": "100", "PREFECT_SERVER_ANALYTICS_ENABLED": "false"}
"""A busy machine starts its server slowly, and nobody is to be told of this."""


class Told(NamedTuple):
    """What a contender did in a round."""

    rate: float
    busy_ms: float


def run(name: str) -> Told | None:
    """How many functions one of them does in a second, and the milliseconds of CPU for each; None when it fails."""
    with tempfile.TemporaryDirectory(dir=Path.cwd(), ignore_cleanup_errors=True) as folder:
        command = [sys.executable, "-m", "bench.delegate_contenders", name, str(CONTENDERS[name]), folder]
        environment = os.environ | {"PREFECT_HOME": f"{folder}/prefect", **_PREFECT}
        done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)  # noqa: S603 - ours
    if done.returncode:
        print(f"{name} could not be measured: {done.stderr[-3000:]}", file=sys.stderr)
        return None
    return Told(*map(float, done.stdout.split()[-2:]))


def measure() -> dict[str, list[Told]]:
    """All of them, round after round; whoever fails once is left out."""
    told: dict[str, list[Told]] = {name: [] for name in CONTENDERS}
    failed = set()
    for _ in range(ROUNDS):
        for name in [each for each in CONTENDERS if each not in failed]:
            found = run(name)
            if found is None:
                failed.add(name)
                told[name].clear()
            else:
                told[name].append(found)
    return told


def main() -> int:
    """Print what was measured; 1 when a goal is missed."""
    told = measure()
    rates = {name: [each.rate for each in rounds] for name, rounds in told.items()}
    busy = {name: [each.busy_ms for each in rounds] for name, rounds in told.items()}
    return finish([
        make_row(AREA, "functions that do nothing, durably", "/s", rates["remit"],
                 peers={what: rates[name] for name, what in NAMES.items()}, floors={QUEUE: rates["queue"]},
                 goals={NAMES[name]: goal for name, goal in GOALS.items()}, is_more_better=True),
        make_row(AREA, "processor for each of them", "ms", busy["remit"],
                 peers={what: busy[name] for name, what in NAMES.items()}, floors={QUEUE: busy["queue"]},
                 note="Prefect's is that of the flow's process, without its server."),
    ])  # fmt: skip


if __name__ == "__main__":
    sys.exit(main())
