"""What a confined agent may ask of Remit: its supervisor carries it out, and nothing else."""

from __future__ import annotations

import asyncio
import json
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import pytest

import remit
from remit.cli.group import root as program
from remit.commands import COMMANDS
from remit.confine import find_level
from remit.ledger.home import Home
from remit.runs.request import Request
from remit.runs.supervisor.allowed_calls import ALLOWED
from remit.runs.workspace import Workspace
from remit.runs.workspace_trust import get_executing
from remit.storage.settings import load_settings
from remit.storage.trust import trust
from tests.support.git_command import git

if TYPE_CHECKING:
    from collections.abc import Iterator

    from remit.result import Result

pytestmark = pytest.mark.skipif(not find_level().has_files, reason="the kernel confines nothing here")
REMIT = f"env PYTHONPATH={Path(remit.__file__).parents[1]} {sys.executable} -m remit"
AGENT = """---
name: {name}
description: "{name} writes."
agent_type: utility
version: 1.0.0
delegation:
  max_depth: 3
  can_delegate_to: [{targets}]
{rules}---
Write it.
"""
RULES = """permissions:
  allow:
    - write: ["docs/**"]
    - read: ["**/*"]
  deny:
    - write: ["docs/frozen/**"]
"""
RETURNS = """
import json, os
metadata = {"session_id": os.environ["REMIT_SESSION_ID"], "agent_type": NAME, "delegation_depth": DEPTH,
            "delegation_path": ["orchestrator", *PATH], "duration_seconds": 1}
value = {"status": "completed", "summary": "The notes are written.", "artifacts": [], "metadata": metadata,
         "errors": []}
text = json.dumps(value)
"""
CHILD = """
for name in ("docs/child.md", "src.py", "docs/frozen/x", "other/x", "agents/child.md", ".mcp.json", ".git/hooks/x"):
    try:
        with open(name, "w") as file:
            file.write("x")
    except OSError:
        continue
    with open("docs/written", "a") as file:
        file.write(name + " ")
print(text)
"""


@pytest.fixture
def root(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    for name in ("REMIT_TICKET", "REMIT_SESSION_ID", "REMIT_ROOT", "REMIT_SOCKET"):
        monkeypatch.delenv(name, raising=False)
    folder = Path(tempfile.mkdtemp(prefix="remit-calls-", dir="/var/tmp"))  # a confined agent has a /tmp of its own
    monkeypatch.setenv("XDG_CONFIG_HOME", f"{folder}/config")
    root = folder / "root"
    for name in ("docs/frozen", "other", "agents", "specs"):
        (root / name).mkdir(parents=True)
    git(root, "init", "-q", "-b", "main")
    (root / "src.py").write_text("old")
    (root / "agents" / "parent.md").write_text(AGENT.format(name="parent", targets="child", rules=RULES))
    (root / "agents" / "child.md").write_text(AGENT.format(name="child", targets="", rules=""))
    facts = 'NAME, DEPTH, PATH = "child", 2, ("parent", "child")\n'
    (root / "child.py").write_text(facts + RETURNS + CHILD)
    facts = 'NAME, DEPTH, PATH = "parent", 1, ("parent",)\n'
    (root / "parent.py").write_text(facts + RETURNS + "print(text)\n")
    (root / "remit.toml").write_text(f'[runners.own]\ncommand = "{sys.executable} child.py"\n')
    trust(str(root), get_executing(load_settings(str(root)), root=str(root)).digest)
    yield root
    shutil.rmtree(folder)


def run(root: Path, script: str, **more: Any) -> Result:  # noqa: ANN401 - fields of a request
    """Have a confined agent run a script; what it prints is in `docs/told`."""

    async def delegate() -> Result:
        async with Workspace.open(root) as ws:
            return await ws.run(make_request(script, **more))

    return asyncio.run(delegate())


def make_request(script: str, **more: Any) -> Request:  # noqa: ANN401 - as above
    command = f"sh -c {shlex.quote(f'({script}) > docs/told 2>&1; python3 parent.py')}"
    return Request("parent", "Write it.", command=command, confine=True, reasks=0, timeout_s=90, **more)


def read(root: Path, name: str = "told") -> str:
    return (root / "docs" / name).read_text()


CALL = f'{REMIT} run child "Write the notes." --runner own --json'


def test_a_nested_run_has_the_permissions_of_its_caller_and_its_place_in_the_tree(root: Path) -> None:
    result = run(root, f"{CALL} > docs/result.json; echo ended $?")
    assert read(root) == "ended 0\n"
    assert (result.status, result.verdict) == ("completed", "accepted"), [result.summary, result.diagnostics]
    nested = json.loads(read(root, "result.json"))
    assert nested["status"] == "completed", nested
    assert read(root, "written") == "docs/child.md "
    assert (root / "src.py").read_text() == "old"
    with Home(str(root)).ledger.reading() as db:
        query = "SELECT agent, depth, path, parent_id, session_id, json_extract(details, '$.confine') FROM runs"
        parent, child = sorted(db.execute(query).fetchall(), key=lambda row: row[1])
    assert parent[:2] == ("parent", 1)
    assert child[:2] == ("child", 2)
    assert json.loads(child[2]) == ["orchestrator", "parent", "child"]
    assert child[3] == parent[4]
    assert parent[5] == child[5] == 1


def test_a_return_a_task_and_a_finding_are_handed_in(root: Path) -> None:
    finding = "--finding One. --finding Two. --finding Three."
    script = f"""
        {REMIT} task new "Write the guide" && {REMIT} task set-status 1 RESEARCHING && {REMIT} task list
        printf '# Notes\\n' > docs/notes.md
        {REMIT} findings add --title Notes --topic guide {finding} --file docs/notes.md
        python3 parent.py > docs/return.json && {REMIT} return submit docs/return.json
        python3 parent.py | {REMIT} return submit
    """
    result = run(root, script)
    told = read(root)
    assert told.count("✓ submitted: accepted") == 2, told
    assert "RESEARCHING" in told
    assert (result.status, result.verdict) == ("completed", "accepted"), result
    assert "Write the guide" in (root / "specs" / "TODO.md").read_text(), told
    entries = [file for file in root.rglob("MANIFEST.jsonl") if "Notes" in file.read_text()]
    assert len(entries) == 1, told


def test_work_of_a_worktree_is_not_done_in_the_checkout_that_it_came_from(root: Path) -> None:
    git(root, "add", ".")
    git(root, "commit", "-q", "-m", "begin")
    script = f"{CALL}; echo ended $?; {CALL} --worktree > docs/nested; echo ended $?; cat docs/told docs/nested >> $REMIT_RETURN_FILE"
    result = run(root, script, worktree=True)
    returned = "\n".join(path.read_text() for path in root.glob(".remit/sessions/*/1/return/*"))
    assert "can't start a run in the checkout that the worktree belongs to" in returned, result
    assert '"delegation_depth":2' in returned, returned
    assert not (root / "docs" / "child.md").exists()


TICKET = 'REMIT_TICKET="remit1_$(printf %043d 0)"'
REFUSED = {
    "a forged ticket": (f"{TICKET} {CALL}", "REMIT_TICKET of this call isn't that of sess_"),
    "no ticket": (f"REMIT_TICKET= {CALL}", "REMIT_TICKET of this call isn't that of sess_"),
    "a program": (f'{REMIT} run child Do --command "touch other/ran"', "has no --command for a confined agent"),
    "a function": (f"{REMIT} run child Do --runner python", "can't use the runner 'python'"),
    "a function, told otherwise": (f"{REMIT} run child Do --runner=python", "can't use the runner 'python'"),
    "prompts from a file": (f"{REMIT} run child --each src.py", "has no --each for a confined agent"),
    "another's work": (f"{REMIT} run child Do --detach", "has no --detach for a confined agent"),
    "a file of findings": (
        f"{REMIT} findings add --title x --finding a --write-file --file other/x.md", "has no --write-file"
    ),
    "an agent it may not call": (f"{REMIT} run parent Do --runner own", "parent → parent is a cycle"),
    "an agent that isn't there": (f"{REMIT} run nobody Do --runner own", "nobody"),
}  # fmt: skip


def test_what_is_not_for_a_confined_agent_is_refused(root: Path) -> None:
    """Each in its turn, because a run takes its time."""
    run(root, "; ".join(f"({script}); echo ended $?" for script, _ in REFUSED.values()))
    told = read(root)
    parts = told.split("ended ")
    for (name, (_, expected)), part, after in zip(REFUSED.items(), parts, parts[1:], strict=False):
        assert expected in part, (name, part)
        assert after.startswith("2\n"), (name, part, after)
    assert not (root / "other" / "ran").exists()
    assert not list((root / "other").iterdir())


RAW = """
import array, json, os, socket, struct
def call(size, body, files=(0, 1, 2)):
    connection = socket.socket(socket.AF_UNIX)
    connection.connect(os.environ["REMIT_SOCKET"])
    rights = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", files))] if files else []
    connection.sendmsg([struct.pack("!Q", size)], rights)
    try:
        connection.sendall(body)
        connection.shutdown(socket.SHUT_WR)
    except OSError:
        pass
    print(json.loads(connection.recv(4096))["error"])
call(1 << 40, b"")
call(4, b"")
call(4, b"null")
call(2, b"{}", ())
body = json.dumps({"words": ["config", "trust", "--yes"], "ticket": os.environ["REMIT_TICKET"]}).encode()
call(len(body), body)
"""


def test_what_is_no_request_is_refused(root: Path) -> None:
    (root / "raw.py").write_text(RAW)
    run(root, "python3 raw.py")
    assert read(root).splitlines() == [
        "the request has 1,099,511,627,776 bytes; the limit is 4,194,304",
        "the request is cut off",
        "the request isn't a command line with a ticket",
        "the request has no standard input, output and error",
        "'remit config trust' isn't available to a confined agent",
    ]


def test_a_ticket_of_another_agent_is_refused_and_so_is_its_socket(root: Path) -> None:
    """Two confined agents: the second one calls on the socket of the first one, with its own ticket and with its."""
    first = "env | grep ^REMIT_ > docs/first; while [ ! -e docs/second ]; do sleep 0.05; done"
    second = f"""
        while [ ! -s docs/first ]; do sleep 0.05; done
        own=$REMIT_TICKET; session=$REMIT_SESSION_ID; socket=$REMIT_SOCKET; export $(cat docs/first)
        {CALL}; echo ended $?
        REMIT_TICKET=$own {CALL}; echo ended $?
        REMIT_SOCKET=$socket {CALL}; echo ended $?
    """

    async def delegate() -> None:
        async with Workspace.open(root) as ws:
            one, other = make_request(first), make_request(second)
            other = other._replace(command=str(other.command).replace("docs/told", "docs/second.told"))
            other = other._replace(command=str(other.command).replace("python3 parent.py", "touch docs/second"))
            await asyncio.gather(ws.run(one), ws.run(other))

    asyncio.run(delegate())
    parts = read(root, "second.told").split("ended ")
    assert "the calling process doesn't belong to sess_" in parts[0], parts
    assert "REMIT_TICKET of this call isn't that of sess_" in parts[1], parts
    assert "REMIT_TICKET of this call isn't that of sess_" in parts[2], parts
    assert [part[:1] for part in parts[1:]] == ["2", "2", "2"]
    assert not (root / "docs" / "child.md").exists()


def test_the_commands_and_options_are_those_of_the_command_line() -> None:
    """No option takes a value that is taken for a word, and every option is known."""
    for command, options in ALLOWED.items():
        at: click.Command = program
        for word in command:
            assert isinstance(at, click.Group)
            found = at.get_command(click.Context(at), word)
            assert found is not None
            at = found
        known: dict[str, bool] = {}
        for param in at.params:
            if isinstance(param, click.Option):
                known |= dict.fromkeys((*param.opts, *param.secondary_opts), not param.is_flag)
        assert options.items() <= known.items(), command
    assert {entry.name for entry in COMMANDS if entry.is_forwarded} == {" ".join(words) for words in ALLOWED}


@pytest.mark.slow
def test_a_supervisor_that_takes_over_carries_calls_out(root: Path) -> None:
    """Without one, a call ends with a sentence."""
    script = f"""
        touch docs/begun; while [ ! -e docs/killed ]; do sleep 0.05; done
        {CALL}; echo ended $?; touch docs/failed
        while [ ! -e docs/over ]; do sleep 0.05; done
        {CALL} > docs/result.json; echo ended $?
    """
    command = f"sh -c {shlex.quote(f'({script}) > docs/told 2>&1; python3 parent.py')}"
    words = [*shlex.split(REMIT), "run", "parent", "Write it.", "--command", command, "--confine", "--timeout", "90"]
    with subprocess.Popen(words, cwd=root, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as supervisor:
        wait_for(root / "docs" / "begun")
        supervisor.kill()
    (root / "docs" / "killed").touch()
    wait_for(root / "docs" / "failed")
    assert "the supervisor of this run can't be reached" in read(root)
    assert read(root).endswith("ended 2\n") or read(root).endswith("ended 1\n"), read(root)
    with Home(str(root)).ledger.reading() as db:
        [(session_id,)] = db.execute("SELECT session_id FROM runs").fetchall()
    waiting = subprocess.Popen([*shlex.split(REMIT), "wait", session_id, "--json"], cwd=root, stdout=subprocess.PIPE)
    (root / "docs" / "over").touch()
    out = waiting.communicate(timeout=90)[0]
    assert json.loads(out)["status"] == "completed", out
    assert read(root).endswith("ended 0\n"), read(root)
    assert json.loads(read(root, "result.json"))["status"] == "completed"


@pytest.mark.slow
def test_a_call_that_nobody_waits_for_is_ended(root: Path) -> None:
    (root / "child.py").write_text("import time\nopen('docs/child.md', 'w')\ntime.sleep(60)\n")
    run(root, f"{CALL} & while [ ! -e docs/child.md ]; do sleep 0.05; done; kill -9 $!; sleep 3")
    with Home(str(root)).ledger.reading() as db:
        rows = db.execute("SELECT stop_reason, ended_ms FROM runs ORDER BY depth").fetchall()
    assert [stop_reason for stop_reason, _ in rows] == ["exited", "cancelled"]
    assert rows[1][1] <= rows[0][1] - 1000


def wait_for(path: Path) -> None:
    last = time.monotonic() + 60
    while not path.exists():
        assert time.monotonic() < last, path
        time.sleep(0.05)
