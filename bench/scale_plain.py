"""Plain DBOS, as somebody would use it who has no Remit: one worker of `bench/scale_throughput.py`.

Run as `python -m bench.scale_plain URL NAME CONCURRENCY POLL STORE`. A workflow has one step: it clones the
commit from a store on this machine, starts the agent's program in the clone, waits for it, and keeps what it printed.
Nothing is held to a deadline, judged, compared or sent back.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import threading
from pathlib import Path

QUEUE = "plain"
WORKFLOW = "plain.work"
VERSION = "plain-1"


def main(url: str, name: str, concurrency: int, poll_s: float, store: str) -> None:
    """Work until told to end."""
    from dbos import DBOS  # noqa: PLC0415 - half a second

    DBOS(config={"name": "plain", "system_database_url": url, "executor_id": name, "application_version": VERSION,
                 "log_level": "CRITICAL", "sys_db_pool_size": 4, "use_listen_notify": False})  # fmt: skip

    @DBOS.step()
    def do(session_id: str, commit: str, command: str) -> str:
        folder = Path.cwd() / session_id
        subprocess.run(["git", "clone", "-q", "--shared", "--no-checkout", store, folder], check=True)  # noqa: S603,S607
        subprocess.run(["git", "checkout", "-q", "--detach", commit], cwd=folder, check=True)  # noqa: S603,S607
        environ = os.environ | {"REMIT_SESSION_ID": session_id}
        done = subprocess.run(command.split(), cwd=folder, env=environ, capture_output=True, text=True, check=True)  # noqa: S603
        shutil.rmtree(folder)
        return done.stdout

    @DBOS.workflow(name=WORKFLOW)
    def work(session_id: str, commit: str, command: str) -> str:
        told: str = do(session_id, commit, command)
        return told

    DBOS.listen_queues([QUEUE])
    DBOS.launch()
    DBOS.register_queue(
        QUEUE, global_concurrency=1000, worker_concurrency=concurrency, polling_interval_sec=poll_s,
        on_conflict="always_update",
    )  # fmt: skip
    ended = threading.Event()
    signal.signal(signal.SIGTERM, lambda *_: ended.set())
    print("ready", flush=True)
    ended.wait()
    DBOS.destroy(workflow_completion_timeout_sec=0)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]), float(sys.argv[4]), sys.argv[5])
