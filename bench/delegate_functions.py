"""Delegations to a function of the same process, many at once, beside others that run functions durably.

Run as a part of `bench/delegate.py`. Each runs the same number of functions that do nothing, all handed over at once,
with its row before and its result after on disk: SQLite with a write-ahead log and full sync. Prefect sets a weaker
sync for itself, and keeps that advantage; Remit alone judges what the function returned. Every contender has a process
of its own in each round, which tells how many it did in a second, without its start, and how much of the CPU it needed:
on a busy machine that says more. Beside them a bare queue in SQLite: a row is added, taken and crossed out, each in a
durable transaction of its own, one after the other, and nothing else.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from bench.delegate_parts import Row, print_rows

ROUNDS = 5
CONTENDERS = {"remit": 500, "dbos": 300, "dbos-bare": 300, "langgraph": 200, "prefect": 20, "queue": 500}
"""How many functions each runs in a round: enough for two seconds and more."""
NAMES = {
    "dbos": "DBOS, a workflow of one step",
    "dbos-bare": "DBOS, a workflow without a step",
    "langgraph": "LangGraph with SqliteSaver, a graph of one node",
    "prefect": "Prefect, a flow (without the CPU of its server)",
    "queue": "a bare queue in SQLite",
}
GOALS = {"dbos": 2.0, "dbos-bare": 1.0, "langgraph": 1.0, "prefect": 1.0}
_PREFECT = {"PREFECT_SERVER_EPHEMERAL_STARTUP_TIMEOUT_SECONDS": "100", "PREFECT_SERVER_ANALYTICS_ENABLED": "false"}
"""A busy machine starts its server slowly, and nobody is to be told of this."""


def run(name: str) -> tuple[float, float]:
    """How many functions one of them does in a second, and the milliseconds of CPU for each."""
    with tempfile.TemporaryDirectory(dir=Path.cwd(), ignore_cleanup_errors=True) as folder:
        command = [sys.executable, "-m", "bench.delegate_contenders", name, str(CONTENDERS[name]), folder]
        environment = os.environ | {"PREFECT_HOME": f"{folder}/prefect", **_PREFECT}
        done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)  # noqa: S603 - ours
    if done.returncode:
        print(done.stderr[-3000:], file=sys.stderr)
        raise SystemExit(f"{name} could not be measured")
    rate, busy = done.stdout.split()[-2:]
    return float(rate), float(busy)


def _make_row(what: str, told: list[tuple[float, float]]) -> Row:
    busy = statistics.median(each[1] for each in told)
    return Row(what, statistics.median(each[0] for each in told), "/s", remark=f"{busy:.2f} ms of CPU each")


def main() -> int:
    """Print what was measured; 1 when a goal is missed."""
    told: dict[str, list[tuple[float, float]]] = {name: [] for name in CONTENDERS}
    for _ in range(ROUNDS):
        for name in CONTENDERS:
            told[name].append(run(name))
    rows = [_make_row("Remit, a function of the same process", told["remit"])]
    for name, what in NAMES.items():
        ratios = [ours[0] / theirs[0] for ours, theirs in zip(told["remit"], told[name], strict=True)]
        spread = f"rounds from {min(ratios):.2f} to {max(ratios):.2f}"
        rows.append(_make_row(what, told[name]))
        rows.append(Row("  Remit does so many times as much", statistics.median(ratios), "x",
                        GOALS.get(name), is_least=True, remark=spread))  # fmt: skip
    return print_rows(rows)


if __name__ == "__main__":
    sys.exit(main())
