"""The hook program never fails open, whatever is wrong with the machine, the workspace or the event.

Each fault is made for real, and each test sees that it is there. What is guarded is then refused in so many words, an
answer that was not checked is marked as that, and a person's own session goes on.
"""

import json
import os
import re
import resource
import shutil
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest

from remit.hooks.events import HookEvent
from remit.hooks.fallback import find_doubt
from remit.hooks.main import find_seconds
from tests.support.hook_session import PROGRAM, Child, Ended, Stage, check_shape, make_workspace
from tests.support.paths import SOURCE
from tests.support.sample_sizes import choose


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return make_workspace(tmp_path / "project")


@pytest.fixture
def stage(root: Path) -> Stage:
    return Stage(root)


@pytest.fixture
def child(stage: Stage) -> Child:
    """An agent at work, entered while all was well."""
    child = stage.call("planner")
    child.start()
    return child


def list_events(child: Child) -> dict[str, dict[str, Any]]:
    """An event of each kind that decides something."""
    stage = child.stage
    call = {"tool_name": "Bash", "tool_input": {"command": "rm -r x"}, "tool_use_id": "t"}
    given = {"subagent_type": "writer", "prompt": "Go."}
    agent = {"tool_name": "Agent", "tool_input": given, "tool_use_id": "toolu_9"}
    response = {"status": "completed", "agentId": child.agent_id, "content": [{"type": "text", "text": "Done."}]}
    return {
        "tool": child.event("PreToolUse", **call),
        "agent": stage.event("PreToolUse", **agent),
        "nested": child.event("PreToolUse", **agent),
        "stop": child.event("SubagentStop", last_assistant_message="Done.", stop_hook_active=False),
        "handing over": child.make_call("PostToolUse", tool_response=response),
    }


def list_own(stage: Stage) -> dict[str, dict[str, Any]]:
    """Events of a person's own session, and of one who talks to an agent in a terminal."""
    call = {"tool_name": "Write", "tool_input": {"file_path": "x", "content": "x"}, "tool_use_id": "t"}
    mine = {
        "tool": stage.event("PreToolUse", **call),
        "tool used": stage.event("PostToolUse", **call, tool_response={}),
        "tool failed": stage.event("PostToolUseFailure", **call, error="x"),
        "stop": stage.event("Stop", last_assistant_message="Hi.", stop_hook_active=False),
        "broken stop": stage.event("StopFailure", error="x", last_assistant_message="API Error"),
        "prompt": stage.event("UserPromptSubmit", prompt="Hi."),
        "begin": stage.event("SessionStart", source="startup"),
        "end": stage.event("SessionEnd", reason="other"),
    }
    talking = {f"{name} of an agent": {**event, "agent_type": "planner"} for name, event in mine.items()}
    return {**mine, **talking}


def is_refused(answer: dict[str, Any]) -> bool:
    return bool(answer["hookSpecificOutput"]["permissionDecision"] == "deny")


def check_refused(child: Child, send: Callable[[dict[str, Any]], dict[str, Any]], why: str = "") -> None:
    """Everything that is guarded is refused with a reason, and nothing is handed over as if it were checked."""
    for name, event in list_events(child).items():
        answer = send(event)
        check_shape(answer, event["hook_event_name"])
        if name == "stop":
            assert answer["decision"] == "block", (name, answer)
        elif name == "handing over":
            output = answer["hookSpecificOutput"]["updatedToolOutput"]
            assert output["agentId"] == child.agent_id
            assert "couldn't check this answer" in output["content"][0]["text"]
        else:
            assert is_refused(answer), (name, answer)
        assert why in json.dumps(answer), (name, answer)


def check_left_alone(stage: Stage, send: Callable[..., dict[str, Any]]) -> None:
    """A person is told at most, and nothing that they do is refused."""
    for name, event in [*list_own(stage).items()][:: choose(5, 1)]:
        answer = send(event, {"CLAUDE_CODE_ENTRYPOINT": "cli"})
        check_shape(answer, event["hook_event_name"])
        assert "decision" not in answer, (name, answer)
        assert "permissionDecision" not in answer.get("hookSpecificOutput", {}), (name, answer)


# --- the ledger ------------------------------------------------------------------------------------------------------


def find_ledger(root: Path) -> Path:
    return root / ".remit" / "ledger.db"


@contextmanager
def locked(root: Path, how: str = "BEGIN EXCLUSIVE") -> Iterator[None]:
    """Another process holds the ledger, and does not let go."""
    mode = "EXCLUSIVE" if "EXCLUSIVE" in how else "NORMAL"
    code = (
        "import sqlite3, sys, time\n"
        f"db = sqlite3.connect({str(find_ledger(root))!r}, isolation_level=None)\n"
        f"db.execute('PRAGMA locking_mode = {mode}')\n"
        f"db.execute({how!r})\n"
        "db.execute('CREATE TABLE held (x)')\n"
        "print('held', flush=True)\n"
        "time.sleep(300)\n"
    )
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "held\n"
        try:
            yield
            assert holder.poll() is None  # it was held all the time
        finally:
            holder.kill()


HURRIED = """
import sys
sys.path.insert(0, {source!r})
from remit.hooks import main
main._SECONDS = dict.fromkeys(main._SECONDS, {seconds})
main._SLOW_SECONDS = {seconds}
main._LEEWAY_SECONDS = 0.5
{more}
main.main(["claude"])
"""


def hurry(stage: Stage, event: dict[str, Any], more: str = "", seconds: float = 1.0) -> tuple[Ended, float]:
    """The program with less patience, and with a fault in it."""
    began = time.monotonic()
    code = HURRIED.format(source=str(SOURCE), seconds=seconds, more=more)
    done = subprocess.run(
        [sys.executable, "-c", code], input=json.dumps(event).encode(), capture_output=True, check=False, env=stage.env,
        timeout=60,
    )  # fmt: skip
    return Ended(done.returncode, done.stdout.decode(), done.stderr.decode()), time.monotonic() - began


def send_hurried(stage: Stage, more: str = "") -> Callable[..., dict[str, Any]]:
    def send(event: dict[str, Any], env: dict[str, str] | None = None) -> dict[str, Any]:
        before, stage.env = stage.env, {**stage.env, **(env or {})}
        ended, _ = hurry(stage, event, more)
        stage.env = before
        assert ended.code == 0, ended
        answer: dict[str, Any] = json.loads(ended.out) if ended.out else {}
        return answer

    return send


@pytest.mark.slow
def test_a_ledger_that_is_held_for_longer_than_the_harness_waits(child: Child, root: Path) -> None:
    """SQLite waits for a lock by itself, and hears no signal meanwhile."""
    with locked(root):
        check_refused(child, send_hurried(child.stage))
        ended, seconds = hurry(child.stage, list_events(child)["agent"])
        assert "it took too long" in ended.out
        assert seconds < 10
    assert child.row.state == "running"


@pytest.mark.slow
@pytest.mark.thorough
def test_a_ledger_that_another_writes_to_for_longer_than_the_harness_waits(child: Child, root: Path) -> None:
    """It can be read meanwhile, so only what has to be written down is refused."""
    send = send_hurried(child.stage)
    events = list_events(child)
    assert send(events["tool"]) == {}
    with locked(root, "BEGIN IMMEDIATE"):
        assert is_refused(send(events["agent"]))
        assert is_refused(send(events["nested"]))
        assert send(events["stop"])["decision"] == "block"
        assert "couldn't check" in json.dumps(send(events["handing over"]))
    assert child.row.state == "running"


@pytest.mark.slow
@pytest.mark.thorough
def test_a_person_does_not_feel_that_the_ledger_is_held(stage: Stage, child: Child, root: Path) -> None:
    assert child.row.state == "running"
    with locked(root):
        check_left_alone(stage, send_hurried(stage))


def damage(root: Path) -> None:
    file = find_ledger(root)
    file.write_bytes(b"This is no ledger. " * 1000)
    for name in ("-wal", "-shm"):
        file.with_name(file.name + name).unlink(missing_ok=True)


def tear(root: Path) -> None:
    file = find_ledger(root)
    sqlite3.connect(file).execute("PRAGMA wal_checkpoint(TRUNCATE)")
    data = file.read_bytes()
    file.write_bytes(data[:4096] + b"\xff" * (len(data) - 4096))


def age(root: Path) -> None:
    with sqlite3.connect(find_ledger(root)) as db:
        db.execute("PRAGMA user_version = 99")


def break_settings(root: Path) -> None:
    (root / "remit.toml").write_text("this is not TOML\n")


@pytest.mark.slow
@pytest.mark.thorough("damage")
@pytest.mark.parametrize("break_it", [damage, tear, age])
def test_a_ledger_that_cannot_be_used(child: Child, root: Path, break_it: Callable[[Path], None]) -> None:
    break_it(root)
    check_refused(child, child.stage.send)
    check_left_alone(child.stage, child.stage.send)


@pytest.mark.slow
def test_a_ledger_from_a_newer_remit_says_so(child: Child, root: Path) -> None:
    age(root)
    assert "update Remit" in json.dumps(child.stage.send(list_events(child)["agent"]))


@pytest.mark.slow
def test_a_ledger_that_is_gone_is_made_anew_and_nobody_gains(child: Child, root: Path) -> None:
    """Whoever was at work is a stranger now: it starts nobody below it for free, and nothing of it is accepted."""
    shutil.rmtree(root / ".remit")
    answer = child.stage.send(list_events(child)["handing over"])
    assert answer == {} or "couldn't check" in json.dumps(answer)
    events = list_events(child)
    assert child.stage.send(events["stop"])["decision"] == "block"
    assert all(row.status != "completed" for row in child.stage.rows())


@pytest.mark.slow
@pytest.mark.skipif(os.geteuid() == 0 and not shutil.which("unshare"), reason="root writes everywhere")
def test_a_folder_that_cannot_be_written_to(child: Child, root: Path) -> None:
    """For root, too: the folder is mounted read-only in a namespace of its own."""
    script = f'mount --bind -o ro {root}/.remit {root}/.remit && mount -o remount,bind,ro {root}/.remit && exec "$@"'
    probe = subprocess.run(
        ["unshare", "-rm", "sh", "-c", script, "x", "touch", f"{root}/.remit/x"], capture_output=True, check=False
    )
    if b"Read-only file system" not in probe.stderr:
        pytest.skip(f"no namespace for mounts here: {probe.stderr.decode()}")

    def send(event: dict[str, Any], env: dict[str, str] | None = None) -> dict[str, Any]:
        done = subprocess.run(
            ["unshare", "-rm", "sh", "-c", script, "x", *PROGRAM], input=json.dumps(event).encode(),
            capture_output=True, check=False, env={**child.stage.env, **(env or {})}, timeout=60,
        )  # fmt: skip
        assert done.returncode == 0, done
        answer: dict[str, Any] = json.loads(done.stdout) if done.stdout else {}
        return answer

    check_refused(child, send)
    check_left_alone(child.stage, send)


@pytest.mark.slow
def test_a_disk_that_is_full(child: Child) -> None:
    """No file may grow: what has to be written down cannot be."""

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))

    def send(event: dict[str, Any], env: dict[str, str] | None = None) -> dict[str, Any]:
        return child.stage.send(event, env, preexec_fn=limit)

    events = list_events(child)
    assert is_refused(send(events["agent"]))
    assert is_refused(send(events["nested"]))
    assert send(events["stop"])["decision"] == "block"
    assert "couldn't check" in json.dumps(send(events["handing over"]))
    check_left_alone(child.stage, send)


@pytest.mark.slow
def test_settings_that_cannot_be_read(child: Child, root: Path) -> None:
    break_settings(root)
    events = list_events(child)
    for name in ("agent", "nested"):
        answer = child.stage.send(events[name])
        assert is_refused(answer)
        assert "remit.toml" in json.dumps(answer)
    check_left_alone(child.stage, child.stage.send)


def call_agent(stage: Stage, name: str) -> dict[str, Any]:
    given = {"subagent_type": name, "prompt": "Go."}
    return stage.send(stage.event("PreToolUse", tool_name="Agent", tool_input=given, tool_use_id="toolu_8"))


@pytest.mark.parametrize("was_read", [True, False])
def test_an_agent_without_a_file_is_let_alone_where_settings_cannot_be_read(root: Path, *, was_read: bool) -> None:
    stage = Stage(root, quick=True)
    if was_read:
        assert call_agent(stage, "Explore") == {}
    break_settings(root)
    assert "isn't checked" in call_agent(stage, "Explore")["systemMessage"]
    assert is_refused(call_agent(stage, "planner"))
    assert is_refused(call_agent(stage, "Plan-ner"))


def test_one_that_was_set_to_be_held_is_refused_where_settings_cannot_be_read(root: Path) -> None:
    stage = Stage(root, quick=True)
    (root / "remit.toml").write_text('[hooks]\nalso_enforce = ["Explore"]\n')
    assert call_agent(stage, "Explore") != {}
    break_settings(root)
    assert is_refused(call_agent(stage, "Explore"))
    assert "systemMessage" in call_agent(stage, "general-purpose")


@pytest.mark.slow
def test_an_agent_without_a_file_is_let_alone_where_the_ledger_is_held(stage: Stage, child: Child, root: Path) -> None:
    given = {"subagent_type": "Explore", "prompt": "Go."}
    event = stage.event("PreToolUse", tool_name="Agent", tool_input=given, tool_use_id="toolu_8")
    assert child.row.state == "running"
    with locked(root):
        assert "isn't checked" in send_hurried(stage)(event)["systemMessage"]


# --- the program itself ----------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.thorough("home", "who")
@pytest.mark.parametrize("module", ["remit.policy", "remit.ledger.home", "remit.hooks.session_lookup", "_sqlite3"])
def test_a_module_that_is_missing(child: Child, module: str) -> None:
    hide = f"sys.modules[{module!r}] = None"
    events = list_events(child)
    if module == "remit.policy":
        events = {"tool": events["tool"]}
    elif module != "_sqlite3":
        events.pop("tool") if module == "remit.ledger.home" else None
    for name, event in events.items():
        ended, _ = hurry(child.stage, event, hide)
        assert ended.code == 0, ended
        told = json.loads(ended.out)
        check_shape(told, event["hook_event_name"])
        assert told.get("decision") == "block" or "deny" in ended.out or "couldn't check" in ended.out, (name, ended)
    check_left_alone(child.stage, send_hurried(child.stage, hide))


@pytest.mark.slow
def test_the_parser_of_commands_is_missing(child: Child) -> None:
    ended, _ = hurry(child.stage, list_events(child)["tool"], "sys.modules['tree_sitter'] = None")
    assert "permissionDecision" not in ended.out or "allow" not in ended.out
    restricted = "sys.modules['tree_sitter'] = None\nsys.modules['tree_sitter_bash'] = None"
    stage = child.stage
    stage.change("UPDATE hook_runs SET layers = ?", json.dumps([{"deny": {"bash": ["rm"]}}]))
    ended, _ = hurry(stage, list_events(child)["tool"], restricted)
    assert ended.code == 0
    assert json.loads(ended.out)["hookSpecificOutput"]["permissionDecision"] in ("deny", "ask")


BUG = """
import builtins
class Bug(Exception): pass
def blow(*a, **k):
    sys.stderr.write("BUG\\n")
    raise {kind}("a bug")
main.{name} = blow
"""


@pytest.mark.slow
@pytest.mark.thorough("KeyError", "RecursionError", "AssertionError")
@pytest.mark.parametrize("kind", ["RuntimeError", "KeyError", "MemoryError", "RecursionError", "AssertionError"])
def test_a_bug_anywhere(child: Child, kind: str) -> None:
    for name, event in list_events(child).items():
        ended, _ = hurry(child.stage, event, BUG.format(kind=kind, name="decide"))
        assert ended.err == "BUG\n"  # it did happen
        assert ended.code == 0
        told = json.loads(ended.out)
        check_shape(told, event["hook_event_name"])
        assert told.get("decision") == "block" or "deny" in ended.out or "couldn't check" in ended.out, (name, ended)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["fail", "respond"])
def test_a_bug_where_bugs_are_met(child: Child, name: str) -> None:
    """Then the registered command line refuses, since the program ends with an error and a word about it."""
    more = BUG.format(kind="RuntimeError", name="decide") + BUG.format(kind="RuntimeError", name=name)
    ended, _ = hurry(child.stage, list_events(child)["agent"], more)
    assert ended.code == 1
    assert ended.out == ""
    assert "Remit: no decision: a bug" in ended.err
    assert "Traceback" not in ended.err


@pytest.mark.slow
@pytest.mark.thorough("time.sleep")
@pytest.mark.parametrize(
    "hang", ["time.sleep(60)", "exec('while True: pass')", "import subprocess; subprocess.run(['sleep','60'])"]
)
def test_it_hangs(child: Child, hang: str) -> None:
    said = "sys.stderr.write('HUNG\\n'); sys.stderr.flush()"
    more = f"import time\ndef hang(*a):\n    {said}\n    {hang}\nmain.decide = hang"
    for name, event in list_events(child).items():
        ended, seconds = hurry(child.stage, event, more, 0.3)
        assert ended.err == "HUNG\n"
        assert seconds < 15
        assert "it took too long" in ended.out, (name, ended)
        check_shape(json.loads(ended.out), event["hook_event_name"])


@pytest.mark.slow
def test_it_hangs_where_no_signal_is_heard(child: Child) -> None:
    more = "import _signal\n_signal.signal = lambda *a: None\n_signal.setitimer = lambda *a: None\n"
    more += "import time\ndef hang(*a):\n    time.sleep(60)\nmain.decide = hang"
    ended, seconds = hurry(child.stage, list_events(child)["agent"], more, 0.3)
    assert is_refused(json.loads(ended.out))
    assert ended.code == 0
    assert seconds < 15


# --- what it is given ------------------------------------------------------------------------------------------------

GARBAGE = {
    "nothing": b"",
    "words": b"hello",
    "half": b'{"hook_event_name": "PreToolUse", "tool_na',
    "list": b"[]",
    "null": b"null",
    "number": b"7",
    "nul": b"\0\0\0",
    "deep": b"[" * 200_000,
    "deep objects": b'{"a":' * 200_000,
    "no text": b"\xff\xfe\xfd",
    "two": b"{}{}",
    "nan": b'{"a": NaN}',
    "long number": b'{"a": ' + b"9" * 10_000 + b"}",
}


@pytest.mark.parametrize("data", [pytest.param(data, id=name) for name, data in GARBAGE.items()])
def test_garbage_is_refused_in_so_many_words(stage: Stage, data: bytes) -> None:
    ended = stage.run(data)
    assert (ended.code, ended.out) == (2, "")
    assert ended.err.startswith("Remit: can't read the hook's event: ")
    assert ended.err.count("\n") == 1


@pytest.mark.parametrize("harness", ["claude", "codex"])
def test_it_answers_before_its_harness_gives_up(harness: str) -> None:
    registered = json.loads((SOURCE / "remit" / "harness_files" / harness / "hooks.json").read_text())["hooks"]
    for kind, ((group),) in registered.items():
        for tool in ("Agent", "Bash"):
            soon, late = find_seconds(HookEvent({"hook_event_name": kind, "tool_name": tool}, harness))
            assert 0 < soon < late < group["hooks"][0]["timeout"], (kind, tool)


@pytest.mark.parametrize("kind", ["Stop", "SessionStart", "SubagentStart"])
def test_half_an_event_on_which_nothing_hangs_stops_nobody(stage: Stage, kind: str) -> None:
    ended = stage.run(f'{{"hook_event_name":"{kind}",'.encode())
    assert (ended.code, ended.out) == (0, "")
    assert "can't read" in ended.err


@pytest.mark.parametrize(
    "data",
    [b'{"hook_event_name":"SubagentStop",', b'{"hook_event_name":"Stop", "hook_event_name":"PreToolUse",',
     b'{"tool_input":{"hook_event_name":"Stop",'],
)  # fmt: skip
def test_half_an_event_that_may_be_guarded_is_refused(stage: Stage, data: bytes) -> None:
    assert stage.run(data).code == 2


@pytest.mark.slow
def test_more_than_anybody_sends_is_refused(stage: Stage) -> None:
    ended = stage.run(b'{"a": "' + b"x" * (33 * 1024 * 1024) + b'"}')
    assert ended.code == 2
    assert "at most" in ended.err


HUGE = {"tool_name": "Write", "tool_input": {"file_path": "/x", "content": 'so "agent_id" is \\"agent_id\\" ' * 300}}


@pytest.fixture
def small(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> Stage:
    """A session whose events are too large from some thousand bytes on; they are answered in this process."""
    monkeypatch.setattr("remit.hooks.main.MAX_BYTES", 4096)
    return Stage(stage.root, quick=True)


def give(stage: Stage, kind: str, env: dict[str, str] | None = None, **more: Any) -> Ended:  # noqa: ANN401 - any JSON value
    return stage.run(json.dumps(stage.event(kind, **{**HUGE, **more})).encode(), env)


@pytest.mark.parametrize("kind", ["PreToolUse", "PostToolUse", "PostToolUseFailure"])
def test_a_persons_own_tool_is_not_held_up_by_its_size(small: Stage, kind: str) -> None:
    ended = give(small, kind)
    assert (ended.code, ended.out) == (0, "")
    assert "the user's own session" in ended.err
    assert give(small, kind, {"CLAUDE_CODE_ENTRYPOINT": "cli"}, agent_type="writer").code == 0


@pytest.mark.parametrize(
    "more",
    [{"agent_id": "a1", "agent_type": "writer"}, {"agent_type": "writer"}, {"tool_name": "Agent"}, {"tool_name": None},
     {"tool_name": "Bash", "tool_input": {"a": "x" * 8000, "agent_id": "x"}}, {"env": {"REMIT_TICKET": "x"}}],
)  # fmt: skip
def test_an_agents_is_and_so_is_what_may_be_one(small: Stage, more: dict[str, Any]) -> None:
    ended = give(small, "PreToolUse", **more)
    assert ended.code == 2
    assert any(why in ended.err for why in ("it may be from an agent", "it may start an agent", "belongs to an agent"))


def test_a_name_that_lies_across_two_pieces_is_seen(small: Stage) -> None:

    start = json.dumps(small.event("PreToolUse", **HUGE)).encode()[:-1]
    for length in range(5000, 5016):
        rest = b" " * length + b', "agent_id": "a1"}'
        assert find_doubt(start + rest[:5008], BytesIO(rest[5008:]), {}) == "it may be from an agent"


def test_nothing_on_standard_input_at_all(stage: Stage) -> None:
    done = subprocess.run(["sh", "-c", 'exec "$@" <&-', "x", *PROGRAM], capture_output=True, check=False, env=stage.env)
    assert done.returncode in (1, 2)
    assert done.stderr.startswith(b"Remit: ")


@pytest.mark.parametrize("how", [">&-", ">/dev/full"])
def test_an_answer_that_nobody_can_read_is_a_refusal(child: Child, how: str) -> None:
    """Codex heeds an exit code only together with words on standard error."""
    event = list_events(child)["nested"]
    event["tool_input"]["subagent_type"] = "planner"  # a circle
    done = subprocess.run(
        ["sh", "-c", f'exec "$@" {how}', "x", *PROGRAM], input=json.dumps(event).encode(), capture_output=True,
        check=False, env=child.stage.env,
    )  # fmt: skip
    assert done.returncode == 2
    assert b"couldn't be written" in done.stderr


def test_a_pipe_that_is_closed_is_a_refusal(child: Child) -> None:
    event = list_events(child)["nested"]
    event["tool_input"]["subagent_type"] = "planner"
    reader, writer = os.pipe()
    os.close(reader)
    done = subprocess.run(
        PROGRAM, input=json.dumps(event).encode(), stdout=writer, stderr=subprocess.PIPE, check=False,
        env=child.stage.env,
    )  # fmt: skip
    os.close(writer)
    assert done.returncode == 2
    assert b"couldn't be written" in done.stderr


@pytest.mark.parametrize(
    "change",
    [
        {"tool_input": None}, {"tool_input": []}, {"tool_input": "x"}, {"tool_input": {}},
        {"tool_input": {"subagent_type": 7, "prompt": 7}}, {"tool_input": {"subagent_type": "writer"}},
        {"tool_input": {"subagent_type": "x" * 100_000, "prompt": "Go."}},
        {"tool_input": {"subagent_type": "a\0b", "prompt": "Go."}},
        {"tool_input": {"subagent_type": "a\ud800b", "prompt": "Go."}},
        {"session_id": None}, {"session_id": "a\0b"}, {"session_id": "\ud800"}, {"session_id": 7},
        {"agent_id": "a\0b", "agent_type": "planner"}, {"agent_id": "\ud800", "agent_type": "planner"},
        {"agent_id": "../../x", "agent_type": "planner"}, {"agent_id": "x" * 100_000, "agent_type": "y" * 100_000},
        {"tool_use_id": None}, {"tool_use_id": "\ud800"}, {"cwd": None}, {"cwd": "/nowhere"}, {"cwd": "a\0b"},
        {"transcript_path": "/dev/zero"}, {"transcript_path": "a\0b"}, {"transcript_path": None},
    ],
    ids=lambda change: json.dumps(change)[:60],
)  # fmt: skip
def test_whatever_stands_in_a_call_there_is_an_answer(stage: Stage, change: dict[str, Any]) -> None:
    """Either it is refused, or the agent is entered."""
    stage.quick = True
    child = stage.call("planner")
    before = len(stage.rows())
    answer = stage.send({**list_events(child)["agent"], **change})
    entered = len(stage.rows()) - before
    assert bool(entered) != is_refused(answer) if answer.get("hookSpecificOutput") else entered == 1


def test_half_a_character_in_a_name_keeps_nothing_from_being_looked_at(child: Child) -> None:
    """JSON can spell it, and neither a file nor SQLite can hold it."""
    child.stage.quick = True
    for name, event in list_events(child).items():
        for changed in ({"agent_type": "pl\ud83dner"}, {"agent_type": "pl\ud83dner", "agent_id": "a\udc00"}):
            said = json.dumps(child.stage.send({**event, **changed}))
            assert not re.search("could not (be )?(check|decided)|isn't checked", said), (name, changed, said)


@pytest.mark.parametrize("depth", [400, 900])
def test_an_answer_of_a_tool_that_is_nested_deeply_is_given_back(child: Child, depth: int) -> None:
    event = list_events(child)["handing over"]
    nested: Any = 1
    for _ in range(depth):
        nested = [nested]
    event["tool_response"]["more"] = nested
    data = json.dumps(event).encode()
    ended = child.stage.run(data)
    assert ended.code == 0, ended
    assert "couldn't check" in ended.out or json.loads(ended.out)["hookSpecificOutput"]["updatedToolOutput"]


# --- where it has no business ----------------------------------------------------------------------------------------


def test_elsewhere_it_says_nothing(tmp_path: Path, stage: Stage, child: Child) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    for event in (*list_events(child).values(), *list_own(stage).values()):
        assert stage.send({**event, "cwd": str(elsewhere)}, {"CLAUDE_PROJECT_DIR": str(elsewhere)}) == {}


@pytest.mark.parametrize("kind", ["Notification", "PreCompact", "", "NewThing"])
def test_events_that_it_does_not_know_are_none_of_its_business(child: Child, kind: str) -> None:
    assert child.stage.send(child.event(kind)) == {}


def test_a_person_is_left_alone(stage: Stage) -> None:
    check_left_alone(stage, stage.send)
    assert stage.rows() == []


def test_the_command_line_does_the_same(stage: Stage, root: Path) -> None:
    env = {**stage.env, "PYTHONPATH": str(SOURCE)}
    event = stage.event(
        "PreToolUse", tool_name="Agent", tool_use_id="t", tool_input={"subagent_type": "planner", "prompt": "Go."}
    )
    done = subprocess.run(
        [sys.executable, "-m", "remit", "hook", "claude"], input=json.dumps(event).encode(), capture_output=True,
        check=True,
        env=env, cwd=root,
    )  # fmt: skip
    assert b"<remit-delegation>" in done.stdout


@pytest.mark.parametrize("words", [[], ["gemini"], ["claude", "codex"]])
def test_an_event_whose_harness_is_not_named_is_refused(stage: Stage, words: list[str]) -> None:
    event = stage.event("PreToolUse", tool_name="Bash", tool_use_id="t", tool_input={"command": "true"})
    done = subprocess.run(
        [*PROGRAM[:-1], *words], input=json.dumps(event).encode(), capture_output=True, check=False, env=stage.env
    )
    assert (done.returncode, done.stdout) == (2, b"")
    assert b"doesn't name a harness" in done.stderr


def test_the_end_of_codex_s_session_is_answered_within_its_limit() -> None:
    """Codex ends a hook of SessionEnd after 3 s; its payload has nothing that tells it from Claude Code's."""
    assert find_seconds(HookEvent({"hook_event_name": "SessionEnd"}, "codex"))[1] < 3
    assert find_seconds(HookEvent({"hook_event_name": "SessionEnd"}, "claude"))[1] > 3
