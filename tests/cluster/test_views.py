"""What is seen of work that other machines do: `ps`, `ps --tree`, `show`, `logs`, `cancel`, `doctor`, and the API."""

from __future__ import annotations

import asyncio
import json
import os
import re
import signal
import socket
import sys
import time
from typing import TYPE_CHECKING, Any

import pytest
from inline_snapshot import snapshot

from remit.cluster.database import leases, output, session_rows, submissions
from remit.cluster.database.schema import set_meta_once
from remit.cluster.database.store import Database
from remit.cluster.database.submissions import Posted
from remit.cluster.database.workers import RegisteredWorker, register, set_draining
from remit.ledger.events import add_event, read_clock_ms
from remit.ledger.home import Home
from remit.ledger.runs import REMOTE_OWNER, Run, add_run, advance, load_run
from remit.runs.request import Request
from remit.views import workers as shown
from remit.views.run_details import load_run_details
from remit.views.run_list import list_runs
from remit.views.run_tree import load_tree
from tests.support.cluster_callers import KEY, Caller
from tests.support.cluster_rows import NOTHING_USED, publish
from tests.support.commands import Inside, Remit
from tests.support.waiting import wait_until
from tests.support.worker_machines import machines, make_environ

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable
    from pathlib import Path

OWN, CHILD = "sess_1700000001_aaaaaa", "sess_1700000002_bbbbbb"
HOSTILE = "\x1b[2Jw\u202ex"


class Stage:
    """A workspace whose work is done elsewhere, and nobody in it who follows."""

    def __init__(self, folder: Path, url: str, remit: Inside) -> None:
        self.folder = folder
        self.url = url
        self.remit = remit

    def play(self, scene: Callable[[Database], Awaitable[Any]], *, opened: bool = True) -> Any:  # noqa: ANN401 - its answer
        """Run a scene with the cluster's database."""

        async def whole() -> Any:  # noqa: ANN401 - the same
            db = Database(self.url)
            if opened:
                await db.open()
            try:
                return await scene(db)
            finally:
                await db.close()

        return asyncio.run(whole())

    def send(self, name: str = OWN, *, parent: str | None = None, state: str = "running", lease_s: float = 30) -> None:
        """Have a session in the cluster; one without a parent is in the ledger, too."""
        root = parent or name
        path = ("orchestrator", "planner", "coder") if parent else ("orchestrator", "planner")
        if parent is None:
            home = Home(str(self.folder))
            details = {"remote": True, "timeout_s": 60, "work": "Do it."}
            add_run(home.ledger, Run(name, path[-1], 1, path, owner="1-gone", details=details))
            home.close()
        posted = Posted(name, root, parent, path[-1], len(path) - 1, path, "command", {"timeout_s": 60}, b"order")

        async def scene(db: Database) -> None:
            await submissions.post(db, posted)
            if state != "posted":
                assert await leases.acquire(db, name, "alpha", lease_s=lease_s, timeout_s=60)

        self.play(scene)

    def meet(self, name: str = "alpha", **given: Any) -> None:  # noqa: ANN401 - columns
        """Let a worker be there."""
        worker = RegisteredWorker(name, f"host-of-{name}", 7, "1.0", 1, 4, (), 15.0)._replace(**given)
        self.play(lambda db: register(db, worker))

    def ask(self, *words: str) -> Any:  # noqa: ANN401 - any JSON value
        """What a command says as JSON."""
        ended = self.remit(*words, "--json")
        assert ended.code == 0, ended.err
        return json.loads(ended.out)


@pytest.fixture
def here(tmp_path: Path, capsysbinary: pytest.CaptureFixture[bytes], monkeypatch: pytest.MonkeyPatch) -> Inside:
    """Remit in this process, on a machine of its own, without a backend yet."""
    folder = tmp_path / "workspace"
    (folder / ".git").mkdir(parents=True)
    for name, value in make_environ(tmp_path, "", KEY).items():
        monkeypatch.setenv(name, value)
    for name in ("REMIT_TICKET", "REMIT_SESSION_ID", "REMIT_ROOT", "REMIT_BACKEND"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.chdir(folder)
    monkeypatch.setattr(shown, "_kept", {})
    monkeypatch.setattr(shown, "_silent", {})
    return Inside(folder, capsysbinary)


@pytest.fixture
def stage(here: Inside, url: str, monkeypatch: pytest.MonkeyPatch) -> Stage:
    """The same with a database."""
    monkeypatch.setenv("REMIT_BACKEND", url)
    monkeypatch.setenv("COLUMNS", "200")  # or a line that is long today is cut
    return Stage(here.folder, url, here)


# Without other machines


def test_without_an_engine_nothing_is_asked_and_the_list_stays_a_list(here: Inside) -> None:
    assert json.loads(here("ps", "--json").out)["items"] == []
    assert json.loads(here("worker", "list", "--json").out) == {"backend": "local"}
    assert here("worker", "list").text == snapshot("all runs are on this machine: no backend is set\n")
    assert shown.load_cluster(Home(str(here.folder))) == {"backend": "local"}
    assert not (here.folder / ".remit").exists()


def test_an_engine_that_comes_with_the_files_is_not_asked_before_it_is_trusted(here: Inside) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(0.2)
        here.write("remit.toml", f'backend = "postgresql://u@127.0.0.1:{server.getsockname()[1]}/x"\n')
        told = here("ps")
        assert told.code == 0
        assert "remit config trust" in told.text
        assert "remit config trust" in here("worker", "list").complaint
        with pytest.raises(TimeoutError):
            server.accept()


# At work elsewhere


def test_what_nobody_here_follows_is_asked_of_the_database(stage: Stage) -> None:
    stage.meet()
    stage.send()
    stage.send(CHILD, parent=OWN)

    async def scene(db: Database) -> None:
        used: Any = NOTHING_USED | {"tokens": 1234}
        assert await leases.report_progress(db, OWN, 1, live={"activity": "reading on", "attempt": 1}, **used)

    stage.play(scene)
    told = stage.remit("ps")
    lines = told.text.splitlines()
    assert told.code == 0
    assert lines[0].split()[-2:] == ["SUPERVISOR", "WORKER"]
    own = next(line for line in lines if line.startswith(OWN))
    assert {"waiting", "1,234", "none", "alpha"} <= {*own.split()}, own
    assert (
        f"no process here follows it, and it continues at alpha; to get its result, run: remit wait {OWN}" in told.text
    )
    child = next(line for line in lines if line.startswith(CHILD))
    assert "its caller" in child, "the ledger knows it now, and nobody here drives it"
    assert any(line.split()[:4] == ["alpha", "host-of-alpha", "2/4", "active"] for line in lines), told.text
    assert lines[-1].startswith("1 worker at postgresql://postgres@127.0.0.1:")
    assert "secret" not in told.text

    found = stage.ask("ps")["items"]
    own_told = next(each for each in found if each["session_id"] == OWN)
    assert own_told["machine"]["state"] == "running"
    assert own_told["state"] == "waiting", "its agent waits for the nested run"
    assert (own_told["worker"], own_told["activity"], own_told["supervised"]) == ("alpha", "reading on", False)
    assert 0 < own_told["machine"]["lease_left_s"] <= 30
    cluster = stage.ask("worker", "list")
    assert [each["worker_id"] for each in cluster["workers"]] == ["alpha"]
    assert cluster["lag_s"] is None

    tree = stage.remit("ps", "--tree").text
    assert tree.splitlines()[0].count("at alpha") == 1
    assert tree.splitlines()[1].startswith("  "), "the one that the worker's agent handed on stands below"
    home = Home(str(stage.folder))
    row = load_run(home.ledger, OWN)
    assert row is not None
    assert row.state == "admitted", "to look at it is not to drive it"
    child_row = load_run(home.ledger, CHILD)
    home.close()
    assert child_row is not None
    assert child_row.owner == REMOTE_OWNER


def test_what_waits_says_for_how_long_and_that_no_worker_is_there(stage: Stage) -> None:
    stage.send(state="posted")
    told = stage.remit("ps").text
    assert f"{OWN}  planner  queued" in told
    assert "queued 0:0" in told
    assert "no worker is there: start one with remit worker start" in told
    assert "the oldest waits for 0:0" in told
    cluster = stage.ask("worker", "list")
    assert [(each["waiting"], each["running"]) for each in cluster["queues"]] == [(1, 0)]
    assert cluster["lag_s"] >= 0
    assert not cluster["has_active_worker"]
    stage.meet()
    stage.play(lambda db: set_draining(db, None))
    assert "all workers are draining" in stage.remit("worker", "list").text


def test_what_the_database_does_not_know_of_yet_waits_too(stage: Stage) -> None:
    stage.meet()
    assert "1 worker at " in stage.remit("ps").text
    assert stage.remit("ps").text.endswith("; nothing waits\n")
    home = Home(str(stage.folder))
    details = {"remote": True, "timeout_s": 60, "work": "Do it."}
    add_run(home.ledger, Run(OWN, "planner", 1, ("orchestrator", "planner"), details=details))
    home.close()
    told = stage.remit("ps").text
    assert "queued 0:0" in told
    assert "nothing waits" not in told


@pytest.mark.slow
def test_who_runs_it_without_a_terminal_hears_that_no_worker_is_there(stage: Stage) -> None:
    with Remit(stage.folder).start("run", "Write it.", "--command", "true") as process:
        assert process.stderr
        begun, held = (process.stderr.readline().decode() for _ in range(2))
        process.send_signal(signal.SIGTERM)
        assert process.wait(timeout=60) == 1
    assert " is queued for a worker; follow it with: " in begun
    assert held.endswith(" is queued; no worker is there: start one with `remit worker start`\n")


def test_a_lease_that_has_run_out_is_told(stage: Stage) -> None:
    stage.meet(lease_s=0.01)
    stage.send(lease_s=0.01)
    time.sleep(0.3)  # what is left is rounded to a tenth of a second
    told = stage.remit("ps").text
    assert re.search(r"alpha, lease \d+ s over", told)
    assert "its worker alpha is silent" in told
    assert "silent" in told
    assert re.search(r"lease     \d+ s over", stage.remit("show", OWN).text)


def test_what_has_ended_elsewhere_waits_to_be_taken_in(stage: Stage) -> None:
    stage.send()
    assert stage.play(lambda db: publish(db, OWN, 1))
    told = stage.remit("ps").text
    assert f"{OWN}  planner  ended" in told
    assert f"no process here follows it, and it has ended; to get its result, run: remit wait {OWN}" in told


def test_show_names_worker_fence_and_how_long_it_waited(stage: Stage) -> None:
    stage.meet()
    stage.send()
    home = Home(str(stage.folder))
    with home.ledger.transaction() as db:
        details = {"branch": f"remit/{OWN}", "files": 3}
        add_event(db, "imported", details, session_id=OWN)
    home.close()
    told = stage.remit("show").text
    assert "worker    alpha, on host-of-alpha, fence 1\n" in told
    assert "waited    0" in told
    assert f"imported  3 files, by branch remit/{OWN}\n" in told
    found = stage.ask("show")
    assert found["run"]["machine"]["fence"] == 1
    assert found["imported"] == details


def test_what_was_told_here_is_enough_where_it_is_over(stage: Stage) -> None:
    stage.send()
    home = Home(str(stage.folder))
    with home.ledger.transaction() as db:
        add_event(db, "acquired", {"worker": HOSTILE, "host": "h", "fence": 2}, session_id=OWN)
        advance(db, OWN, "finished", ended_ms=read_clock_ms(), status="completed")
    home.close()
    (found,) = stage.ask("ps", "--all")["items"]
    assert found["worker"] == HOSTILE
    assert (found["state"], found["status"]) == ("finished", "completed")
    assert "\x1b" not in stage.remit("ps", "--all").text


# A database that does not answer


def test_where_the_database_is_away_the_ledger_is_shown_and_one_line_says_so(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    stage.send()
    monkeypatch.setenv("REMIT_BACKEND", "postgresql://u:hidden@127.0.0.1:1/x")
    told = stage.remit("ps")
    assert told.code == 0
    assert OWN in told.text
    (line,) = [line for line in told.text.splitlines() if "does not answer" in line]
    assert "postgresql://u@127.0.0.1:1/x" in line
    assert "hidden" not in told.text
    tree = stage.remit("ps", "--tree")
    assert tree.err.count(b"\n") == 1
    assert b"does not answer" in tree.err
    doctor = stage.remit("doctor", "--json")
    (row,) = [each for each in json.loads(doctor.out)["checks"] if each["name"] == "database"]
    assert row["state"] == "problem"
    logs = stage.remit("logs", OWN)
    assert logs.code == 0
    assert b"does not answer" in logs.err


@pytest.mark.slow
def test_a_database_that_hangs_is_waited_for_only_a_moment(here: Inside, monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        monkeypatch.setenv("REMIT_BACKEND", f"postgresql://u@127.0.0.1:{port}/x")
        begun = time.monotonic()
        told = here("worker", "list")
        assert 1.5 < time.monotonic() - begun < 10
        assert told.code == 2, "a check of health fails then"
        assert f"postgresql://u@127.0.0.1:{port}/x does not answer within 2 s" in told.complaint
        home = Home(str(here.folder))
        first = shown.load_cluster(home)
        begun = time.monotonic()
        assert shown.load_cluster(home) == first, "a page that asks again is not kept waiting"
        assert time.monotonic() - begun < 1
        assert "does not answer" in (first["trouble"] or "")


# Logs


def test_logs_are_fetched_where_nobody_follows(stage: Stage) -> None:
    stage.send()
    stage.send(CHILD, parent=OWN)

    async def scene(db: Database) -> None:
        for name in (OWN, CHILD):
            await output.add_output(db, name, 1, "out", 0, f"first of {name}\nsecond".encode())
            await output.add_output(db, name, 1, "err", 0, b"a complaint\n")

    stage.play(scene)
    assert stage.remit("logs", OWN).text == f"first of {OWN}\n", "the second line is not whole"
    assert stage.remit("logs", OWN, "--err").text == "a complaint\n"
    stage.remit("ps")
    assert stage.remit("logs", CHILD, "--raw").text == f"first of {CHILD}\nsecond"

    async def end(db: Database) -> None:
        await output.add_output(db, OWN, 1, "out", len(f"first of {OWN}\nsecond"), b" and last\n")
        await output.add_output(db, OWN, 2, "out", 0, b"again\n")
        assert await publish(db, OWN, 1)

    stage.play(end)
    assert stage.remit("logs", "-f", OWN).text == f"first of {OWN}\nsecond and last\nattempt 2\nagain\n"


# Ending


@pytest.mark.slow
def test_what_no_worker_has_taken_ends_at_once_from_another_process(
    tmp_path: Path, url: str, capsysbinary: pytest.CaptureFixture[bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    caller = Caller(tmp_path, url)

    async def start(ws: Any) -> str:  # noqa: ANN401 - a workspace
        prepared = await ws.start(Request(None, "Do it.", command="true"))
        session: str = prepared.row.session_id
        while await session_rows.load_row(ws.backend.client.db, session) is None:  # noqa: ASYNC110 - the database tells nobody
            await asyncio.sleep(0.02)
        return session

    session = caller.play(start)
    for name, value in caller.environ.items():
        monkeypatch.setenv(name, value)
    monkeypatch.chdir(caller.root)
    begun = time.monotonic()
    told = Inside(caller.root, capsysbinary)("cancel", session, "--reason", "not needed")
    took_s = time.monotonic() - begun
    assert told.code == 0, told
    assert took_s < 8, "nobody waits for a worker that is not there"
    row = caller.ask(lambda db: session_rows.load_row(db, session))
    assert (row.state, row.stop_reason, row.cancel_reason) == ("done", "cancelled", "not needed")
    home = Home(str(caller.root))
    own = load_run(home.ledger, session)
    home.close()
    assert own is not None
    assert (own.state, own.stop_reason) == ("finished", "cancelled")


@pytest.mark.slow
@pytest.mark.thorough
def test_what_runs_elsewhere_is_seen_and_ended_with_and_without_whoever_follows(tmp_path: Path, url: str) -> None:
    caller = Caller(tmp_path / "caller", url)
    remit = Remit(caller.root)
    remit.env |= {name: caller.environ[name] for name in make_environ(tmp_path / "caller", url, KEY)}
    with machines(tmp_path / "machines", url, 1, key=KEY):
        for is_followed in (True, False):
            command = "sh -c 'echo hello; sleep 300'"
            session = remit("run", "Do it.", "--command", command, "--detach").text.strip()

            def look() -> Any:  # noqa: ANN401 - any JSON value
                return json.loads(remit("ps", "--json").out)["items"][0]

            wait_until(lambda: look()["activity"] == "hello", "it has begun")
            standing = look()
            assert standing["machine"]["state"] == "running"
            assert standing["worker"].startswith("m1")
            if not is_followed:
                os.kill(standing["supervisor_pid"], signal.SIGKILL)
                wait_until(lambda: not look()["supervised"], "nobody follows it")
                assert "no process here follows it" in remit("ps").text
            assert remit("logs", session).text == "hello\n"
            ended = remit("cancel", session, "--reason", "enough", "--json")
            assert json.loads(ended.out)["errors"][0]["code"] == "CANCELLED", ended
            assert json.loads(remit("ps", "--json").out)["items"] == []


# Health


def read_doctor(stage: Stage) -> dict[str, list[tuple[str, str]]]:
    found: dict[str, list[tuple[str, str]]] = {}
    for each in json.loads(stage.remit("doctor", "--json").out)["checks"]:
        found.setdefault(each["name"], []).append((each["state"], each["message"]))
    return found


def test_the_doctor_looks_and_makes_no_tables(stage: Stage) -> None:
    told = read_doctor(stage)
    assert told["database"][0][0] == "ok"
    assert "no tables yet" in told["database"][0][1]
    assert told["cluster key"][0][0] == told["clock"][0][0] == "ok"
    assert told["workers"] == [("warning", "there are no workers, so new runs wait")]
    assert told["queues"] == [("ok", "empty")]

    async def scene(db: Database) -> bool:
        async with db.separate_transaction() as work:
            return bool((await work.execute("SELECT to_regnamespace('remit') IS NOT NULL"))[0][0])

    assert stage.play(scene, opened=False) is False


def test_the_doctor_tells_what_is_wrong_with_the_cluster(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    stage.meet()
    stage.meet("beta", version="2.0")
    stage.meet("gamma", lease_s=0.01)
    stage.send(lease_s=0.01)
    stage.send(CHILD, parent=OWN, state="posted")

    async def scene(db: Database) -> None:
        await set_meta_once(db, "key", "another")
        await db.execute("UPDATE remit.sessions SET posted_at = posted_at - interval '2 minutes'")

    stage.play(scene)
    real = time.time
    monkeypatch.setattr("remit.cluster.database.overview.time.time", lambda: real() + 30)
    told = read_doctor(stage)
    assert told["cluster key"][0][0] == "problem"
    assert [state for state, _ in told["clock"]] == ["warning"]
    assert "30 s ahead of" in told["clock"][0][1]
    words = [message for _, message in told["workers"]]
    assert re.match(r"no heartbeat from gamma on host-of-gamma for \d+ s", words[0])
    assert words[1] == "workers have different versions of Remit: 1.0, 2.0"
    assert f"the lease of planner ({OWN}) at alpha expired " in told["leases"][0][1]
    assert told["queues"][0][0] == "warning"
    assert "1 wait, the oldest for 12" in told["queues"][0][1]


def test_a_limit_that_other_machines_do_not_hold_is_told(stage: Stage) -> None:
    assert "limits" not in read_doctor(stage)
    file = stage.folder / "remit.toml"
    before = file.read_text() if file.exists() else ""
    file.write_text(f"{before}\n[limits]\nper_tree = 3\n")
    told = "[limits] per_tree is not enforced on machines that share a database"
    assert read_doctor(stage)["limits"] == [("warning", told)]


def test_an_extra_that_is_missing_is_named(here: Inside, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REMIT_BACKEND", "postgresql://u@127.0.0.1:1/x")
    monkeypatch.setitem(sys.modules, "psycopg", None)
    assert "[postgres]" in here("ps").text
    (row,) = [each for each in json.loads(here("doctor", "--json").out)["checks"] if each["name"] == "database"]
    assert row["state"] == "problem"
    assert "[postgres]" in row["hint"]


# The API


def test_the_api_has_workers_queues_and_leases(stage: Stage) -> None:
    stage.meet(agents=("planner",))
    stage.send()
    stage.send("sess_1700000003_cccccc", state="posted")
    home = Home(str(stage.folder))
    told = shown.load_cluster(home)
    assert told["backend"] == shown.name_backend(home) == "postgresql"
    assert [(each["worker_id"], each["agents"], each["live"]) for each in told["workers"]] == [
        ("alpha", ["planner"], True)
    ]
    assert [(each["session_id"], each["worker"], each["fence"]) for each in told["leases"]] == [(OWN, "alpha", 1)]
    assert told["has_active_worker"]
    assert told["lag_s"] is not None
    runs = {each["session_id"]: each for each in list_runs(home)["items"]}
    assert runs[OWN]["worker"] == "alpha"
    assert runs["sess_1700000003_cccccc"]["state"] == "queued"
    machine = load_tree(home, OWN)["items"][0]["machine"]
    assert machine is not None
    assert machine["worker"] == "alpha"
    assert load_run_details(home, OWN)["run"]["worker"] == "alpha"
    home.close()
