"""Work that is handed on through the server, with real agents: once, by people only, followed and ended."""

from __future__ import annotations

import json
import socket
import struct
import sys
import time
from typing import TYPE_CHECKING, NamedTuple

import pytest

from remit.confine import find_level
from remit.runs.tasks.workspace_tasks import Tasks
from remit.runs.workspace_trust import TrustRequest, get_executing, grant_trust
from remit.server import stream_routes
from remit.storage.settings import load_settings
from remit.testing.agent import ScriptedAgent
from tests.support.http_server import API, HOST, Served, Told, run_server
from tests.support.program_runs import list_rows
from tests.support.waiting import wait_until

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

pytestmark = pytest.mark.slow
SECRET = f"ghp_{'a1B2' * 9}"
INSIDE = """
import json, sys, urllib.request, urllib.error
def ask(path, body):
    headers = {"Authorization": "Bearer " + sys.argv[2], "Content-Type": "application/json"}
    try:
        request = urllib.request.Request(sys.argv[1] + path, data=json.dumps(body).encode(), headers=headers)
        return json.loads(urllib.request.urlopen(request).read())
    except urllib.error.HTTPError as error:
        return json.loads(error.read())
told = [ask("/runs", {"prompt": "More.", "runner": "obeys"}),
        ask("/tasks/1/move", {"marker": "IN PROGRESS"}), ask("/login-tokens", {})]
open(sys.argv[3], "w").write(json.dumps(told))
"""


class Place(NamedTuple):
    """A workspace with agents, and its server."""

    served: Served
    folder: Path


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    """A workspace with agents, and its server."""
    folder, root = tmp_path_factory.mktemp("agents"), tmp_path_factory.mktemp("root")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HOME", str(folder))
        patch.setenv("XDG_CONFIG_HOME", str(folder / "config"))
        with run_server(root) as served:
            told = [f"{folder / 'inside.py'}", f"http://{HOST}:{served.port}{API}", served.token]
            commands = {
                "obeys": ScriptedAgent(folder, "obeys").obeys({"report.md": "# Report\n"}).command,
                "waits": ScriptedAgent(folder, "waits")
                .says(f"line one {SECRET}\n")
                .waits_for(str(folder / "go"))
                .says("line two\n")
                .obeys()
                .command,
                "hangs": ScriptedAgent(folder, "hangs").hangs().command,
                "counts": ScriptedAgent(folder, "counts")
                .writes("report.md", "# 2\n")
                .returns("report.md", changes={"data": {"count": 2}})
                .command,
                "inside": f"{sys.executable} {' '.join(told)} {folder / 'told.json'}",
            }
            (folder / "inside.py").write_text(INSIDE)
            tables = (f"[runners.{name}]\ncommand = {json.dumps(command)}\n" for name, command in commands.items())
            (root / "remit.toml").write_text("".join(tables))
            grant_trust(TrustRequest(str(root), get_executing(load_settings(str(root)), root=str(root))))
            yield Place(served, folder)


def wait_for_end(served: Served, session_id: str) -> str:
    def get_state() -> str:
        state: str = served.get(f"/runs/{session_id}").value["run"]["state"]
        return state

    wait_until(lambda: get_state() == "finished", "its end")
    status: str = served.get(f"/runs/{session_id}").value["run"]["status"]
    return status


def test_work_is_handed_on_once_and_followed_to_its_end(place: Place) -> None:
    served = place.served
    body = {"prompt": f"Do it with {SECRET}.", "runner": "obeys", "max_turns": 5}
    with served.follow("/events?after=0") as followed:
        begun = served.post("/runs", body, Idempotency_Key="k1")
        assert begun.status == 201, begun.body
        session_id = begun.value["session_id"]
        assert begun.headers["location"] == f"{API}/runs/{session_id}"
        again = served.post("/runs", body, Idempotency_Key="k1")
        assert (again.status, again.value["session_id"]) == (201, session_id)
        assert served.post("/runs", body | {"prompt": "x"}, Idempotency_Key="k1").status == 422
        told: list[Told] = []
        while not told or told[-1].value.get("kind") != "finished":
            event = followed.take()
            assert event is not None
            told.append(event)
    assert len(list_rows(served.root)) == 1
    assert wait_for_end(served, session_id) == "completed"
    node = served.get(f"/runs/{session_id}")
    assert SECRET not in node.body.decode()
    assert [each["path"] for each in node.value["attempts"][0]["claims"]] == ["report.md"]
    diff = served.get(f"/runs/{session_id}/diff?path=report.md").value
    assert diff["path"] == "report.md"
    assert served.get(f"/runs/{session_id}/answers/1").value["pages"] == 1
    assert SECRET not in served.get(f"/runs/{session_id}/prompt").body.decode()
    retried = served.post(f"/runs/{session_id}/retry", {"timeout": 60})
    assert retried.status == 201
    assert wait_for_end(served, retried.value["session_id"]) in ("completed", "failed")


def test_a_request_has_a_schema_of_its_data(place: Place) -> None:
    served = place.served
    schema = {"type": "object", "properties": {"count": {"type": "integer"}}, "required": ["count"]}
    (served.root / "report.md").unlink(missing_ok=True)
    begun = served.post("/runs", {"prompt": "Count.", "runner": "counts", "schema": schema})
    assert begun.status == 201, begun.body
    session_id = begun.value["session_id"]
    assert wait_for_end(served, session_id) == "completed"
    assert served.get(f"/runs/{session_id}").value["result"]["data"] == {"count": 2}
    wrong = served.post("/runs", {"prompt": "Count.", "runner": "counts", "schema": {"type": "nope"}})
    assert 400 <= wrong.status < 500
    assert "isn't a JSON Schema" in wrong.body.decode()
    assert served.post("/runs", {"prompt": "Count.", "runner": "counts", "schema": "x.json"}).status == 400


@pytest.mark.skipif(not find_level().has_files, reason="the kernel confines nothing here")
def test_a_run_is_confined_if_it_is_asked_for(place: Place) -> None:
    (place.served.root / "report.md").unlink(missing_ok=True)  # else its work is done before it begins
    begun = place.served.post("/runs", {"prompt": "Do it.", "runner": "obeys", "confine": True})
    assert wait_for_end(place.served, begun.value["session_id"]) == "completed"
    assert place.served.get(f"/runs/{begun.value['session_id']}").value["config"]["confine"] is True
    (row,) = [row for row in list_rows(place.served.root) if row.session_id == begun.value["session_id"]]
    assert row.details["confine"] is True


REPORTER = """---
name: reporter
description: "Writes a report."
agent_type: utility
version: 1.0.0
---
<inputs_required>
  <parameter name="topic" type="string">What it is about</parameter>
</inputs_required>
"""


def test_what_a_request_lacks_is_told_so_that_it_can_be_given(place: Place) -> None:
    served, before = place.served, len(list_rows(place.served.root))
    file = served.root / ".opencode" / "agent" / "subagents" / "reporter.md"
    file.parent.mkdir(parents=True)
    file.write_text(REPORTER)
    asked = {"agent": "reporter", "prompt": "Write.", "runner": "obeys"}
    problem = served.post("/runs", asked).problem
    assert (problem["status"], problem["code"]) == (422, "VALIDATION_FAILED"), problem
    assert "the input 'topic' is missing" in problem["detail"]
    assert problem["hint"] == "set the field inputs", problem
    nothing = served.post("/runs", {"prompt": "Write.", "runner": "command"}).problem
    assert (nothing["status"], nothing["detail"]) == (422, "the runner 'command' has no command")
    assert len(list_rows(served.root)) == before
    begun = served.post("/runs", asked | {"inputs": {"topic": "seas"}})
    assert begun.status == 201, begun.body
    wait_for_end(served, begun.value["session_id"])


def test_what_an_agent_prints_is_followed_line_by_line(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    served = place.served
    session_id = served.post("/runs", {"prompt": "Wait.", "runner": "waits"}).value["session_id"]
    path = f"/runs/{session_id}/log"
    wait_until(lambda: served.get(path).value["items"], "the first line")
    with served.follow(f"{path}/stream") as one:
        hello, first = one.take(), one.take()
        assert hello is not None
        assert first is not None
        assert (hello.kind, first.kind, first.number) == ("hello", "line", 1)
        assert first.value["text"].startswith("line one [redacted")
        (place.folder / "go").touch()
        second = one.take()
        assert second is not None
        assert (second.number, second.value["text"]) == (2, "line two")
        rest = [second]
        while rest[-1].kind != "finished":
            event = one.take()
            assert event is not None
            rest.append(event)
        assert one.take() is None
    assert wait_for_end(served, session_id) == "completed"
    with served.follow(f"{path}/stream?after=1") as late:
        found = []
        while (event := late.take()) is not None:
            found.append(event)
    assert [each.kind for each in found] == ["hello", *["line"] * (len(found) - 2), "finished"]
    assert found[1] == second
    assert served.get(f"{path}?after=1&limit=1").value["items"] == [second.value]
    monkeypatch.setattr(stream_routes, "MOST_LINES", 1)  # who begins late is told the end of what was before
    with served.follow(f"{path}/stream") as end:
        hello, last = end.take(), end.take()
    assert hello is not None
    assert last is not None
    assert (hello.value["skipped"], last.number) == (hello.value["next"] - 1, hello.value["next"])


def test_a_delegation_is_ended(place: Place) -> None:
    served = place.served
    session_id = served.post("/runs", {"prompt": "Hang.", "runner": "hangs"}).value["session_id"]
    wait_until(lambda: served.get(f"/runs/{session_id}").value["run"]["alive"], "its agent")
    assert served.post(f"/runs/{session_id}/cancel", {"reason": "enough"}).value["cancelled"] == [session_id]
    wait_for_end(served, session_id)
    snapshot = served.get(f"/runs/{session_id}").value["run"]
    assert (snapshot["stop_reason"], snapshot["alive"]) == ("cancelled", False)
    again = served.post(f"/runs/{session_id}/cancel", {}).value
    assert (again["cancelled"], bool(again["note"])) == ([], True)


@pytest.mark.parametrize("is_reset", [False, True])
def test_who_does_not_wait_for_an_answer_begins_nothing(place: Place, *, is_reset: bool) -> None:
    """Nobody could tell whether it was an agent."""
    served = place.served
    before = len(list_rows(served.root))
    body = json.dumps({"prompt": "Go.", "runner": "obeys"})
    head = f"POST {API}/runs HTTP/1.1\r\nHost: {HOST}:{served.port}\r\nAuthorization: Bearer {served.token}\r\n"
    text = f"{head}Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n{body}"
    for _ in range(10):
        with socket.create_connection((HOST, served.port)) as hasty:
            if is_reset:
                hasty.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            hasty.sendall(text.encode())
    assert served.get("/status").status == 200
    time.sleep(0.5)
    assert len(list_rows(served.root)) == before


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="who connects is found out by /proc")
def test_an_agent_is_no_person(place: Place) -> None:
    """An agent can read the token: what it asks for with it is refused by where it comes from."""
    served = place.served
    tasks = Tasks()
    tasks.add("Greet people")
    tasks.home.close()
    session_id = served.post("/runs", {"prompt": "Ask.", "runner": "inside"}).value["session_id"]
    told = place.folder / "told.json"
    wait_until(lambda: told.exists() and told.read_bytes(), "what the agent was told")
    problems = json.loads(told.read_bytes())
    assert [(each["status"], each["error"]["code"]) for each in problems] == [(403, "REFUSED")] * 3, problems
    wait_for_end(served, session_id)
    assert not [row for row in list_rows(served.root) if row.details.get("work") == "More."]
    assert served.get("/tasks/1").value["marker"] == "NOT STARTED"
    assert served.post("/tasks/1/move", {"marker": "IN PROGRESS"}).value["after"] == "IN PROGRESS"  # a person may
