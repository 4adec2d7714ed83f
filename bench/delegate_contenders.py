"""One contender of `bench/delegate_functions.py`: so many functions that do nothing, durably, as fast as it can.

Run as `python -m bench.delegate_contenders NAME COUNT FOLDER`; the last words that it prints are how many it did in
a second, and the milliseconds of CPU that its process needed for each. What it needs to start, and a few to warm up,
are not counted.
"""

from __future__ import annotations

import asyncio
import os
import re
import sqlite3
import sys
import time

from bench.delegate_parts import RETURN

_WARM = 5


class Clock:
    """Both clocks from now on: that on the wall, and that of this process."""

    def __init__(self) -> None:
        self.wall, self.busy = time.perf_counter(), time.process_time()

    def tell(self, count: int) -> tuple[float, float]:
        """How many a second, and the milliseconds of CPU for each."""
        return count / (time.perf_counter() - self.wall), (time.process_time() - self.busy) / count * 1e3


def run_remit(count: int, folder: str) -> tuple[float, float]:
    """Remit: a row before, judged, a row after."""
    from remit.runs.workspace import Workspace  # noqa: PLC0415 - a contender loads only itself

    os.mkdir(f"{folder}/.git")  # noqa: PTH102 - a folder that looks like a workspace

    async def work(prompt: str) -> str:
        found = re.search(r"sess_\w+", prompt)
        assert found is not None
        return f"```json\n{RETURN % found[0]}\n```"

    async def run() -> tuple[float, float]:
        async with Workspace.open(folder) as ws:

            async def delegate() -> None:
                result = await ws.delegate("noop", "Do nothing.", function=work, evidence=False, finishes=False)
                assert result.status == "completed", result

            await asyncio.gather(*(delegate() for _ in range(_WARM)))
            clock = Clock()
            await asyncio.gather(*(delegate() for _ in range(count)))
            return clock.tell(count)

    return asyncio.run(run())


def run_dbos(count: int, folder: str, *, has_step: bool = True) -> tuple[float, float]:
    """DBOS: a workflow whose one step is the function, so that its answer is kept before it is gone on with."""
    from dbos import DBOS  # noqa: PLC0415 - as above

    file = f"{folder}/dbos.sqlite"
    sqlite3.connect(file).execute("PRAGMA journal_mode = WAL")  # stays with the file; full sync is SQLite's own default
    DBOS(config={"name": "bench", "system_database_url": f"sqlite:///{file}", "log_level": "ERROR"})

    @DBOS.workflow()
    async def work(number: int) -> str:
        return await step(number) if has_step else RETURN % number

    @DBOS.step()
    async def step(number: int) -> str:
        return RETURN % number

    DBOS.launch()

    async def start(number: int) -> None:
        handle = await DBOS.start_workflow_async(work, number)
        assert await handle.get_result()

    async def run() -> tuple[float, float]:
        await asyncio.gather(*(start(number) for number in range(_WARM)))
        clock = Clock()
        await asyncio.gather(*(start(number) for number in range(count)))
        return clock.tell(count)

    rate = asyncio.run(run())
    DBOS.destroy()
    return rate


def run_dbos_bare(count: int, folder: str) -> tuple[float, float]:
    """DBOS: a workflow without any step, the least that it can keep."""
    return run_dbos(count, folder, has_step=False)


def run_langgraph(count: int, folder: str) -> tuple[float, float]:
    """LangGraph: a graph of one node, with a checkpoint at each end of it on disk before it goes on."""
    from typing import TypedDict  # noqa: PLC0415 - as above

    from langgraph.checkpoint.sqlite import SqliteSaver  # noqa: PLC0415 - as above
    from langgraph.graph import END, START, StateGraph  # noqa: PLC0415 - as above

    class State(TypedDict):
        answer: str

    def work(_: State) -> State:
        return {"answer": RETURN}

    builder = StateGraph(State)
    builder.add_node("work", work)
    builder.add_edge(START, "work")
    builder.add_edge("work", END)
    with SqliteSaver.from_conn_string(f"{folder}/langgraph.sqlite") as saver:
        saver.conn.execute("PRAGMA synchronous = FULL")
        graph = builder.compile(checkpointer=saver)

        def run_all(first: int, many: int) -> None:
            configs = [{"configurable": {"thread_id": str(first + number)}} for number in range(many)]
            for answer in graph.batch([{"answer": ""}] * many, config=configs, durability="sync"):
                assert answer["answer"]

        run_all(0, _WARM)
        clock = Clock()
        run_all(_WARM, count)
        return clock.tell(count)


def run_huey(count: int, folder: str) -> tuple[float, float]:
    """Huey: a queue of tasks on SQLite with two workers of this process, each answer kept until it is fetched."""
    from huey import SqliteHuey  # noqa: PLC0415 - as above

    huey = SqliteHuey("bench", filename=f"{folder}/huey.sqlite", fsync=True)

    @huey.task()  # type: ignore[untyped-decorator] # as below
    def work(number: int) -> str:
        return RETURN % number

    # Shorter delays than its own, which would be most of the time.
    consumer = huey.create_consumer(workers=2, periodic=False, initial_delay=0.01, max_delay=0.01)
    consumer.start()

    def run_all(many: int) -> None:
        for result in [work(number) for number in range(many)]:
            assert result.get(blocking=True, backoff=1, max_delay=0.01)

    run_all(_WARM)
    clock = Clock()
    run_all(count)
    told = clock.tell(count)
    consumer.stop(graceful=True)
    return told


def run_prefect(count: int, _: str) -> tuple[float, float]:
    """Prefect: a flow on its own server, which it starts by itself."""
    from prefect import flow  # noqa: PLC0415 - as above

    @flow(log_prints=False)  # type: ignore[untyped-decorator] # installed for `make bench` only
    async def work() -> str:
        return RETURN

    async def run() -> tuple[float, float]:
        await work()
        clock = Clock()
        assert all(await asyncio.gather(*(work() for _ in range(count))))
        return clock.tell(count)

    return asyncio.run(run())


def run_queue(count: int, folder: str) -> tuple[float, float]:
    """A bare queue: what no durable delegation can do without, one after the other."""
    db = sqlite3.connect(f"{folder}/queue.sqlite", isolation_level=None)
    db.execute("PRAGMA journal_mode = WAL")
    db.execute("PRAGMA synchronous = FULL")
    db.execute("CREATE TABLE queue (number INTEGER PRIMARY KEY, state TEXT, answer TEXT)")
    clock = Clock()
    for number in range(count):
        db.execute("INSERT INTO queue VALUES (?, 'admitted', NULL)", (number,))
        db.execute("UPDATE queue SET state = 'running' WHERE number = ?", (number,))
        db.execute("UPDATE queue SET state = 'finished', answer = ? WHERE number = ?", (RETURN, number))
    return clock.tell(count)


CONTENDERS = {"remit": run_remit, "dbos": run_dbos, "dbos-bare": run_dbos_bare, "langgraph": run_langgraph,
              "huey": run_huey, "prefect": run_prefect, "queue": run_queue}  # fmt: skip

if __name__ == "__main__":
    print(*CONTENDERS[sys.argv[1]](int(sys.argv[2]), sys.argv[3]))
