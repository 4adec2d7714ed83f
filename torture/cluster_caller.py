"""A caller of the cluster as a process of its own: it hands on what its plan says, and waits for all of it.

Run as `python torture/cluster_caller.py FOLDER`. It is killed and started again by those who torture: what is admitted
already is taken up, what is missing is admitted, and what came of each is written down as it is known.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
from pathlib import Path
from typing import Any

from remit.errors import ClusterError
from remit.runs.admission.limits import Budget
from remit.runs.request import Request
from remit.runs.workspace import Workspace

PLAN, ADMITTED, DIAGNOSTICS = "plan.json", "admitted", "told.jsonl"
_AGAIN_S = 0.2


async def work(folder: Path) -> None:
    """Hand on what is missing, and stay until all is settled."""
    plan: list[dict[str, Any]] = json.loads((folder / PLAN).read_text("utf-8"))
    async with Workspace(str(folder / "workspace")) as ws:
        there = [row for row in ws.list(only_open=False) if row.parent_id is None]
        for number in range(len(there), len(plan)):
            wanted = dict(plan[number])
            budget = Budget(**wanted.pop("budget", {}))
            pause_s = wanted.pop("pause_s", 0)
            prepared = await ws.start(Request(**wanted, budget=budget))
            _add(folder / ADMITTED, f"{prepared.row.session_id}\n")
            await asyncio.sleep(pause_s)
        rows = [row for row in ws.list(only_open=False) if row.parent_id is None]
        await asyncio.gather(*(_attend(ws, row.session_id, folder / DIAGNOSTICS) for row in rows))


async def _attend(ws: Workspace, session_id: str, told: Path) -> None:
    while True:
        try:
            result = await ws.wait(session_id)
        except ClusterError as error:  # the database is away for longer than anybody waits: asked again
            if not error.recoverable:
                raise
            await asyncio.sleep(_AGAIN_S)
            continue
        break
    line = {
        "session_id": session_id, "status": result.status, "stop_reason": result.stop_reason, "verdict": result.verdict,
        "errors": [[fault.code, fault.message] for fault in result.errors],
        "artifacts": [artifact.path for artifact in result.artifacts], "attempts": result.attempts,
    }  # fmt: skip
    _add(told, json.dumps(line) + "\n")


def _add(place: Path, line: str) -> None:
    handle = os.open(place, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    os.write(handle, line.encode())
    os.close(handle)


if __name__ == "__main__":
    asyncio.run(work(Path(sys.argv[1])))
