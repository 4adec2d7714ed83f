"""Acting: work is handed on, ended and begun again from a page; an agent is no person."""

from __future__ import annotations

import json
import os
import shlex
import socket
import subprocess
import sys
import time
from contextlib import nullcontext
from typing import TYPE_CHECKING

import pytest

from remit.attempts.process_owner import find_enclosing
from remit.errors import RefusedError, RemitError, UsageError
from remit.ledger.hook_runs import HOOKS_OWNER, HookRun, add_hook_run
from remit.ledger.runs import Run, list_runs, load_run
from remit.runs.workspace_trust import TrustRequest, get_executing, grant_trust
from remit.storage.peers import ConnectionEnd, Peers
from remit.storage.process_ancestry import find_mark
from remit.storage.settings import load_settings
from remit.views import run_actions
from remit.views.run_details import load_run_details
from remit.views.run_snapshots import find_session
from tests.support.ledger_rows import Kept, answer, insert, make_repository, name, opened, run

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from remit.ledger.home import Home

PERSON = run_actions.ConnectionPeer()
GO = {"prompt": "Go.", "runner": "script"}
CONNECT = """
import os, socket, sys
one = socket.create_connection(("127.0.0.1", int(os.environ["PORT"])))
one.sendall(b"x")
one.recv(1)
"""


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))  # where consent is kept
    root = tmp_path / "work"
    root.mkdir()
    monkeypatch.chdir(root)
    make_repository(root)
    (root / "remit.toml").write_text(f"[runners.script]\ncommand = {json.dumps(f'sh {root}/agent.sh')}\n")
    grant_trust(TrustRequest(str(root), get_executing(load_settings(str(root)), root=str(root))))
    return root


def wait_for(home: Home, session_id: str, is_so: Callable[[Run], bool]) -> Run:
    last = time.monotonic() + 60
    while time.monotonic() < last:
        row = load_run(home.ledger, session_id)
        if row is not None and is_so(row):
            return row
        time.sleep(0.05)
    raise AssertionError("it never came to that")


def delegate(home: Home, script: str, root: Path, **more: object) -> str:
    (root / "agent.sh").write_text(script)
    given = {"prompt": "Look at it.", "runner": "script", **more}
    return run_actions.delegate(home, given, asker=PERSON).session_id


# --- what is done ----------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_work_goes_on_by_itself_and_is_retried(root: Path) -> None:
    with opened(root) as home:
        session_id = delegate(home, f"echo x >> made.md\n{answer('made.md')}", root, timeout=60.0)
        row = wait_for(home, session_id, lambda row: row.state == "finished")
        assert (row.status, row.verdict) == ("completed", "accepted")
        again = run_actions.retry(home, session_id, timeout_s=50, asker=PERSON)
        later = wait_for(home, again.session_id, lambda row: row.state == "finished")
        assert later.details["retry_of"] == session_id
        assert later.details["timeout_s"] == 50
        with pytest.raises(RefusedError, match="is completed"):
            run_actions.resume(home, session_id, "Go on.", asker=PERSON)


def begin_to_wait(home: Home, root: Path) -> tuple[str, str]:
    """An agent that is at work until it is ended: its session, and its ticket as it has it."""
    session_id = delegate(home, 'echo "$REMIT_TICKET" > new; mv new "$REMIT_SESSION_ID"; sleep 60', root)
    wait_for(home, session_id, lambda _: (root / session_id).exists())
    return session_id, (root / session_id).read_text().strip()


@pytest.mark.slow
def test_what_is_at_work_is_cancelled_with_all_below_it(root: Path) -> None:
    with opened(root) as home:
        session_id, ticket = begin_to_wait(home, root)
        asker = run_actions.ConnectionPeer(ticket=ticket)
        below = run_actions.delegate(home, GO, asker=asker).session_id
        child = wait_for(home, below, lambda row: row.state == "running")
        assert (child.parent_id, child.depth) == (session_id, 2)
        done = run_actions.cancel(home, session_id, reason="no longer\nwanted", asker=PERSON)
        assert done == run_actions.CancelResult((session_id, below), "")
        for each in (session_id, below):
            row = wait_for(home, each, lambda row: row.state == "finished")
            assert row.stop_reason == "cancelled"
        assert run_actions.cancel(home, session_id, asker=PERSON) == run_actions.CancelResult(
            (), "it had already finished"
        )


@pytest.mark.slow
def test_an_agent_that_shows_its_ticket_ends_only_what_is_its_own(root: Path) -> None:
    with opened(root) as home:
        (first, ticket), (second, _) = (begin_to_wait(home, root) for _ in range(2))
        with pytest.raises(RefusedError, match="isn't a nested run of"):
            run_actions.cancel(home, second, asker=run_actions.ConnectionPeer(ticket=ticket))
        for each in (first, second):
            row = load_run(home.ledger, each)
            assert row is not None
            assert row.state == "running"
            run_actions.cancel(home, each, asker=PERSON)


def test_what_cannot_be_is_refused_and_nothing_is_begun(root: Path) -> None:
    with opened(root) as home:
        insert(home, Kept(0, state="running"))
        with pytest.raises(UsageError, match="prompt is empty"):
            run_actions.delegate(home, {**GO, "prompt": "  "}, asker=PERSON)
        with pytest.raises(RemitError):
            run_actions.delegate(home, {**GO, "runner": "nobody"}, asker=PERSON)
        for budget, sentence in (({"max_tokens": -1}, "max_tokens cannot be"), ({"max_usd": 0}, "max_usd cannot be")):
            with pytest.raises(UsageError, match=sentence):
                run_actions.delegate(home, {**GO, **budget}, asker=PERSON)
        with pytest.raises(RemitError, match="isn't finished"):
            run_actions.retry(home, name(0), asker=PERSON)
        assert [row.session_id for row in list_runs(home.ledger)] == [name(0)]


def test_work_on_a_task_says_how_it_is_begun_anew(root: Path) -> None:
    session_id = run(root, "echo no return", reasks=0).session_id
    with opened(root) as home:
        with home.ledger.transaction() as db:
            changed = "json_set(details, '$.command', 'research')"
            db.execute(f"UPDATE runs SET details = {changed}, task_number = 3")  # noqa: S608 - fixed
        can = load_run_details(home, session_id)["can"]
    assert can["retry"] is False
    assert can["why"]["retry"].startswith("It was a run of a task command")
    assert "remit task research 3" in can["why"]["retry"]


# --- who asks --------------------------------------------------------------------------------------------------------


class Door:
    """A server's end: somebody connects, and is judged."""

    def __init__(self) -> None:
        self.server = socket.create_server(("127.0.0.1", 0))
        self.server.settimeout(30)
        self.port = self.server.getsockname()[1]

    def judge(self, home: Home, ticket: str = "") -> str:
        """What is said to whoever has connected, and shows a ticket; empty where it is let in."""
        accepted, other = self.server.accept()
        with accepted:
            accepted.recv(1)
            asker = run_actions.ConnectionPeer(
                ConnectionEnd(*accepted.getsockname()), ConnectionEnd(*other), ticket, is_browser=True
            )
            try:
                if ticket:
                    run_actions.delegate(home, GO, asker=asker)
                else:
                    run_actions.check_user(home, asker)
            except RefusedError as error:
                return error.message
            return ""


@pytest.fixture
def door() -> Iterator[Door]:
    opened_door = Door()
    yield opened_door
    opened_door.server.close()


def connect(door: Door, **environ: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen([sys.executable, "-c", CONNECT], env={**os.environ, "PORT": str(door.port), **environ})


def test_a_person_is_let_in(root: Path, door: Door) -> None:
    with opened(root) as home:
        insert(home, Kept(0, state="running"))
        with connect(door) as client:
            assert door.judge(home) == ""
    assert client.returncode == 0


def test_who_carries_a_ticket_is_an_agent(root: Path, door: Door) -> None:
    with opened(root) as home, connect(door, REMIT_TICKET="remit1_x", REMIT_SESSION_ID="sess_1_aaaaaa"):
        assert "sess_1_aaaaaa without its ticket" in door.judge(home)


def test_who_shows_a_ticket_is_held_to_it(root: Path) -> None:
    with opened(root) as home:
        insert(home, Kept(0))
        asker = run_actions.ConnectionPeer(ticket="remit1_" + "x" * 43)
        with pytest.raises(RefusedError, match="doesn't have this ticket"):
            run_actions.delegate(home, GO, asker=asker)
        with pytest.raises(RefusedError, match="doesn't have this ticket"):
            run_actions.cancel(home, name(0), asker=asker)


@pytest.mark.slow
@pytest.mark.parametrize("hidden", ["", "env -u REMIT_TICKET -u REMIT_SESSION_ID", "setsid env -i"])
def test_who_runs_inside_an_agent_is_refused(root: Path, door: Door, hidden: str) -> None:
    program = shlex.join([sys.executable, "-c", CONNECT])
    script = f"{hidden} {'' if hidden.endswith('-i') else 'env'} PORT={door.port} {program}\n{answer()}"
    with opened(root) as home:
        session_id = delegate(home, script, root)
        assert session_id in door.judge(home)
        wait_for(home, session_id, lambda row: row.state == "finished")


@pytest.mark.slow
def test_who_shows_the_ticket_of_another_agent_is_refused(root: Path, door: Door) -> None:
    """It has found that ticket in a file, and asks a server with it."""
    with opened(root) as home:
        first, ticket = begin_to_wait(home, root)
        program = shlex.join([sys.executable, "-c", CONNECT])
        second = delegate(home, f"env PORT={door.port} {program}\n{answer()}", root)
        assert f"that of {first}, and this process belongs to {second}" in door.judge(home, ticket)
        for each in (first, second):
            run_actions.cancel(home, each, asker=PERSON)
            wait_for(home, each, lambda row: row.state == "finished")


def test_who_runs_inside_the_agent_of_a_harness_is_refused(root: Path, door: Door) -> None:
    """The harness does nothing but wait for it, so that whatever runs below the harness is the agent's."""
    with opened(root) as home:
        insert(home, Kept(0, state="running", owner=HOOKS_OWNER))
        with home.ledger.transaction() as db:
            own = HookRun(name(0), "claude", "4f6e", "builder", agent_id="a1", process=find_mark(os.getpid()))
            add_hook_run(db, own)
        with connect(door):
            assert name(0) in door.judge(home)


def test_who_does_not_wait_for_an_answer_is_refused(root: Path, door: Door) -> None:
    """An agent that sends and closes would not be seen by who looks afterwards."""
    with opened(root) as home:
        hasty = CONNECT.replace("one.recv(1)", "one.close()")
        subprocess.run([sys.executable, "-c", hasty], env={**os.environ, "PORT": str(door.port)}, check=True)
        assert "disconnected before" in door.judge(home)


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="who connects is found out by /proc")
def test_what_is_on_its_way_to_another_process_is_refused(root: Path, door: Door) -> None:
    with opened(root) as home, socket.create_connection(("127.0.0.1", door.port)) as sent:
        one, another = socket.socketpair()
        with one, another:
            sent.sendall(b"xx")
            socket.send_fds(one, [b"x"], [sent.fileno()])
            sent.close()
            assert "can't identify the process" in door.judge(home)


def test_who_was_gone_before_anybody_looked_is_refused(root: Path) -> None:
    with opened(root) as home, pytest.raises(RefusedError, match="disconnected before"):
        run_actions.check_user(home, run_actions.ConnectionPeer(ConnectionEnd("127.0.0.1", 1)))


@pytest.mark.parametrize(
    ("peers", "is_browser", "is_refused"),
    [
        (Peers(is_hidden=True), True, True),  # on its way from one process to another: nobody holds it
        (Peers(is_hidden=True, hiding=(1,)), True, False),  # an ssh tunnel, and a browser behind it
        (Peers(is_hidden=True, hiding=(1,)), False, True),
        (Peers(is_hidden=True, hiding=(1,), is_foreign=True), False, False),  # a proxy that runs as another user
        (Peers(is_hidden=True, is_foreign=True), False, True),
        (Peers(), False, False),
    ],
)
def test_who_hides_is_let_in_only_where_a_person_would(
    root: Path, monkeypatch: pytest.MonkeyPatch, peers: Peers, *, is_browser: bool, is_refused: bool
) -> None:
    monkeypatch.setattr(run_actions, "find_peers", lambda _own, _other: peers)
    asker = run_actions.ConnectionPeer(
        ConnectionEnd("127.0.0.1", 1), ConnectionEnd("127.0.0.1", 2), is_browser=is_browser
    )
    with opened(root) as home:
        insert(home, Kept(0))
        with pytest.raises(RefusedError, match="can't identify the") if is_refused else nullcontext():
            run_actions.check_user(home, asker)


@pytest.mark.slow
def test_an_agent_that_hides_is_refused_with_a_session_too(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It could write itself one."""
    with opened(root) as home:
        session_id = delegate(home, f"echo $$ > {root}/pid; while [ ! -e {root}/go ]; do sleep 0.05; done", root)
        while not (root / "pid").exists() or not (root / "pid").read_text().strip():
            time.sleep(0.02)
        inside = next(pid for pid in list_pids() if find_enclosing(home, pid) == session_id)
        monkeypatch.setattr(run_actions, "find_peers", lambda _own, _other: Peers(is_hidden=True, hiding=(1, inside)))
        with pytest.raises(RefusedError, match=session_id):
            run_actions.check_user(
                home,
                run_actions.ConnectionPeer(
                    ConnectionEnd("127.0.0.1", 1), ConnectionEnd("127.0.0.1", 2), is_browser=True
                ),
            )
        (root / "go").touch()
        wait_for(home, session_id, lambda row: row.state == "finished")


def list_pids() -> list[int]:
    return [int(each) for each in os.listdir("/proc") if each.isdecimal()]  # noqa: PTH208 - numbers, no files


def test_one_that_comes_from_elsewhere_is_a_person(root: Path) -> None:
    with opened(root) as home:
        run_actions.check_user(
            home, run_actions.ConnectionPeer(ConnectionEnd("127.0.0.1", 1), ConnectionEnd("203.0.113.9", 2))
        )
        run_actions.check_user(home, PERSON)
        assert not home.is_made
        insert(home, Kept(0))
        assert find_session(home, "-") == name(0)
