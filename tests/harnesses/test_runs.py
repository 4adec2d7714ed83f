"""Real harnesses through Remit: from the request to the result, under the shim, with a scripted model."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from remit.confine import find_level
from remit.runs.admission.limits import Budget
from remit.runs.resume_retry import make_resume
from remit.runs.supervisor import watcher
from remit.runs.workspace import Workspace
from remit.testing import ScriptedModel, call, fail, say
from tests.support.harness_hooks import install
from tests.support.harness_workspace import HARNESSES, WAIT_S, Stage, give, make_stage

if TYPE_CHECKING:
    from collections.abc import Iterator

    from remit.result import Result
    from remit.testing import ScriptedTurn
    from remit.testing.clis import CliName

pytestmark = pytest.mark.slow

BEGIN_S = {"claude": 12, "codex": 12, "opencode": 20}
"""How long each may take until it uses its first tools, on a busy machine."""
WITH_GEMINI = pytest.mark.parametrize("stage", [*HARNESSES, "gemini"], indirect=True)
ERROR = {"type": "timeout", "message": "too little time", "recoverable": True, "recommendation": "go on"}
STANDARD = """\
---
name: {name}
version: 1.0.0
description: "Does its part"
mode: subagent
agent_type: implementation
temperature: 0.2
tools:
  read: true
  write: true
  bash: true
delegation:
  max_depth: 3
  can_delegate_to: [{target}]
---

# {name}

These are the instructions of {name}.
"""


RULES = """\
permissions:
  allow:
    - write: ["*.md"]
  deny:
    - write: ["private/**"]
"""
LONG = "timeout 600 tail -f /dev/null"
"""A command that does not end. Claude Code refuses a bare `sleep`."""


def write(cli: CliName, name: str) -> ScriptedTurn:
    """A file written by the tool of which the harness tells the path."""
    if cli != "codex":
        return call("write", path=f"${{root}}/{name}", content="# Report\n")
    lines = ("apply_patch <<'END'", "*** Begin Patch", f"*** Add File: {name}", "+# Report", "*** End Patch", "END")
    return call("bash", command="\n".join(lines))


def run(command: str) -> ScriptedTurn:
    """A command that may take long."""
    return call("bash", command=command, timeout=100_000, yield_time_ms=30_000)


PLANT = (
    "for f in remit.toml .mcp.json .git/hooks/post-commit .claude/settings.json .codex/config.toml agents/x.md "
    "~/.claude/settings.json ~/.claude/hooks/x ~/.codex/config.toml ~/.codex/hooks.json "
    "~/.config/opencode/opencode.json; do echo evil > $f; done; git config core.fsmonitor evil; "
    "git add -A; git commit -qm work"
)


def make_scripts(cli: CliName) -> dict[str, list[ScriptedTurn]]:
    far = "setsid sh -c 'echo $$ > ${root}/far.pid; exec sleep 600' & setsid -f sleep 600; sleep 600"
    return {
        "work": [write(cli, "report.md"), say("It is all done."), give()],
        "native": [write(cli, "report.md"), give()],
        "lie": [call("bash", command="true"), give(path="never.md")],
        "stale": [call("bash", command="true"), give(path="README.md")],
        "hang": [write(cli, "half.md"), run(far)],
        "late": [write(cli, "half.md"), run(LONG), give("partial", "half.md", errors=[ERROR])],
        "server": [
            call("bash", command=LONG, run_in_background=True),
            write(cli, "report.md"),
            give(),
            say("The server was stopped."),
        ],
        "brief": [
            call("bash", command="timeout 3 tail -f /dev/null", run_in_background=True),
            write(cli, "report.md"),
            give(),
            say("The command has ended."),
        ],
        "stopped": [
            call("write", path="half.md", content="# Half\n"),
            say("It is all done."),
            give("partial", "half.md", errors=[ERROR]),
            give(path="half.md"),
        ],
        "loop": [write(cli, "half.md"), call("bash", command="sleep 0.6")],
        "refused": [fail(401, "wrong key", kind="authentication_error")],
        "broken": [fail(500, "out of order")],
        "slow": [run("touch ${root}/begun; sleep 4"), write(cli, "report.md"), give()],
        "shell": [run("echo '# Report' > report.md"), run("timeout 1 tail -f /dev/null; true"), give()],
        "beside": [write(cli, "beside.md"), give(path="beside.md")],
        "commit": [run("echo x > x.md; git add -A; git commit -qm work"), write(cli, "report.md"), give()],
        "plant": [run(PLANT), write(cli, "report.md"), say("It is all done."), give()],
    }


@pytest.fixture(name="stage", params=HARNESSES)
def make(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Stage]:
    with ScriptedModel(make_scripts(request.param)) as model:
        stage = make_stage(request.param, tmp_path, model, monkeypatch)
        stage.write_agent(".opencode/agent/scribe.md", STANDARD.format(name="scribe", target="nobody"))
        yield stage
        assert stage.list_living() == []


@pytest.fixture(name="confined", params=["claude", "codex", "opencode", "gemini"])
def make_confined(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[Stage]:
    """A stage outside of /tmp, where the changes of a confined agent end with it."""
    with (
        tempfile.TemporaryDirectory(prefix="remit-confined-", dir="/var/tmp") as folder,
        ScriptedModel(make_scripts(request.param)) as model,
    ):
        stage = make_stage(request.param, Path(folder), model, monkeypatch)
        stage.write_agent(".opencode/agent/scribe.md", STANDARD.format(name="scribe", target="nobody"))
        yield stage
        assert stage.list_living() == []


def tell(result: Result) -> tuple[str, str, str, int]:
    return result.status, result.stop_reason, result.verdict, result.attempts


def list_codes(result: Result) -> list[str]:
    return [error.code for error in result.errors]


@pytest.mark.thorough("opencode")
@pytest.mark.parametrize("stage", ["claude", "opencode"], indirect=True)
def test_the_model_gets_the_limits_of_the_agent_file(stage: Stage) -> None:
    """R1.1, issue bullet Codes: `max_tokens` and, in opencode, `temperature` reach the request to the model."""
    file = stage.root / ".opencode/agent/scribe.md"
    file.write_text(file.read_text().replace("temperature: 0.2\n", "temperature: 0.25\nmax_tokens: 3210\n"))
    assert stage.delegate("native").status == "completed"
    bodies = [one.body for one in stage.model.requests if one.tools]
    assert {body["max_tokens"] for body in bodies} == {3210}
    if stage.cli == "opencode":
        assert {body["temperature"] for body in bodies} == {0.25}


@pytest.mark.thorough("codex", "opencode", "gemini")
@pytest.mark.skipif(not find_level().has_files, reason="the kernel confines nothing here")
def test_a_confined_harness_works_and_plants_nothing(confined: Stage) -> None:
    """It runs, writes, commits and goes on in its session; what it would leave for others to run is refused."""
    before = {path for path in (*confined.root.rglob("*"), *confined.home.rglob("*")) if path.is_file()}
    result = confined.delegate("plant", confine=True)
    assert tell(result) == ("completed", "exited", "accepted", 2)
    assert (confined.root / "report.md").read_text() == "# Report\n"
    log = subprocess.run(["git", "log"], cwd=confined.root, capture_output=True, text=True, check=True).stdout
    assert "work" in log
    after = {path for path in (*confined.root.rglob("*"), *confined.home.rglob("*")) if path.is_file()}
    assert [path for path in after if path.stat().st_size < 1000 and path.read_bytes() == b"evil\n"] == []
    assert "evil" not in (confined.root / ".git" / "config").read_text()
    made = {str(path.relative_to(confined.root)) for path in after - before if path.is_relative_to(confined.root)}
    own = (".remit/", ".git/", ".opencode/.gitignore")  # opencode itself writes the last one at each start
    assert {name for name in made if not name.startswith(own)} == {"report.md"}


@pytest.mark.thorough("codex", "opencode")
@pytest.mark.parametrize("confined", ["claude", "codex", "opencode"], indirect=True)
@pytest.mark.skipif(not find_level().has_files, reason="the kernel confines nothing here")
def test_a_confined_harness_with_hooks_can_still_run_commands(confined: Stage) -> None:
    """The hooks run inside of the confinement, too, where they can't give tickets."""
    file = confined.root / ".opencode/agent/scribe.md"
    file.write_text(file.read_text().replace("delegation:\n", RULES + "delegation:\n"))
    install(confined)
    begin = {"hook_event_name": "SessionStart", "session_id": "s1", "cwd": str(confined.root), "source": "startup"}
    hook = [str(confined.programs / "remit"), "hook", confined.cli]
    subprocess.run(hook, input=json.dumps(begin).encode(), cwd=confined.root, env=confined.environ, check=True)
    result = confined.delegate("commit")
    assert tell(result) == ("completed", "exited", "accepted", 1), confined.asked("commit", 1)
    log = subprocess.run(["git", "log"], cwd=confined.root, capture_output=True, text=True, check=True).stdout
    assert "work" in log, confined.asked("commit", 1)


@pytest.mark.thorough("opencode", "gemini")
@WITH_GEMINI
def test_a_bad_return_is_sent_back_and_corrected(stage: Stage) -> None:
    result = stage.delegate("work")
    assert tell(result) == ("completed", "exited", "accepted", 2)
    assert [(artifact.path, artifact.grade) for artifact in result.artifacts] == [("report.md", "attributed")]
    assert result.failed_steps == ()
    (first,) = stage.asked("work", 0)
    assert "These are the instructions of scribe." in first
    assert result.session_id in first
    (third,) = stage.asked("work", 2)
    assert "Send only the whole return now" in third
    assert "It is all done." in third  # it is the same session that goes on
    sent = sum(len(stage.asked("work", step)[0]) for step in range(3)) // 4
    assert 0.5 * sent < (result.usage.tokens or 0) < 1.5 * sent


@pytest.mark.thorough
def test_an_agent_of_the_harness_itself_is_used_as_it_is(stage: Stage) -> None:
    text = "---\nname: native\ndescription: writes\nmode: subagent\n---\nThis is native.\n"
    if stage.cli == "codex":
        text = 'name = "native"\ndescription = "writes"\ndeveloper_instructions = "This is native."\n'
    folder = {"claude": ".claude/agents", "codex": ".codex/agents", "opencode": ".opencode/agent"}[stage.cli]
    stage.write_agent(f"{folder}/native.{'toml' if stage.cli == 'codex' else 'md'}", text)
    result = stage.delegate("native", "native")
    assert tell(result) == ("completed", "exited", "accepted", 1)
    (first,) = stage.asked("native", 0)
    assert "This is native." in first
    assert result.session_id in first
    order = stage.load_order(result.session_id)
    assert ("--agent=native" in order) == (stage.cli != "codex")


CLAIMS = [*((cli, "lie") for cli in HARNESSES), ("claude", "stale"), ("codex", "stale")]


@pytest.mark.thorough("opencode", "claude-stale")
@pytest.mark.parametrize(("stage", "script"), CLAIMS, indirect=["stage"])
def test_a_false_claim_is_caught(stage: Stage, script: str) -> None:
    result = stage.delegate(script, reasks=0)
    assert tell(result) == ("failed", "exited", "fabricated", 1)
    assert list_codes(result) == (["FABRICATED"] if script == "stale" else ["FABRICATED", "FILE_NOT_FOUND"])
    assert "exit code" not in result.errors[0].message  # its program ended as if all were well


def find_folder(stage: Stage, session_id: str, attempt: int) -> str:
    """Where an attempt ran."""
    fields = stage.load_order(session_id, attempt).split("\0")
    return next(field.removeprefix("cwd=") for field in fields if field.startswith("cwd="))


@pytest.mark.parametrize("stage", ["claude"], indirect=True)
@pytest.mark.thorough
def test_a_session_is_resumed_in_the_folder_that_it_began_in(stage: Stage) -> None:
    """Claude Code knows a session in its own folder only, also where that is a worktree (R0.14)."""
    first = stage.delegate("stopped", worktree=True, reasks=1, commits=False)
    assert tell(first) == ("partial", "exited", "accepted", 2)
    folder = find_folder(stage, first.session_id, 1)
    assert folder != str(stage.root)
    assert find_folder(stage, first.session_id, 2) == folder

    async def go_on() -> Result:
        async with Workspace.open(stage.root, environ=stage.environ) as ws:
            return await ws.run(make_resume(ws, first.session_id, "Finish it.", {"timeout_s": 100}))

    second = asyncio.run(go_on())
    assert tell(second) == ("completed", "exited", "accepted", 1)
    assert find_folder(stage, second.session_id, 1) == folder
    (last,) = stage.asked("stopped", 3)
    assert "It is all done." in last  # it is the same session, which was taken up twice


@pytest.mark.thorough("opencode", "codex")
def test_one_that_hangs_is_ended_at_its_deadline_with_all_that_it_started(stage: Stage) -> None:
    begun = time.monotonic()
    result = stage.delegate("hang", timeout_s=BEGIN_S[stage.cli])
    taken_s = time.monotonic() - begun
    assert stage.list_living() == []
    assert (stage.root / "far.pid").exists(), "the fault never happened"
    assert tell(result)[:2] == ("partial", "timeout")
    assert list_codes(result) == ["TIMEOUT"]
    assert [artifact.path for artifact in result.artifacts if artifact.path == "half.md"]
    assert BEGIN_S[stage.cli] <= taken_s < BEGIN_S[stage.cli] + 10


@pytest.mark.thorough
def test_one_whose_time_is_nearly_over_hands_back_what_it_has(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    """The window is wider than usual, so that no machine is too slow for what has to be done in it."""
    monkeypatch.setattr(watcher, "HANDBACK_SHARE", 0.8)
    monkeypatch.setattr(watcher, "HANDBACK_MAX_S", 200.0)
    result = stage.delegate("late", timeout_s=BEGIN_S[stage.cli] * 0.7 / 0.2)
    assert tell(result) == ("partial", "timeout", "accepted", 2)
    assert list_codes(result)[:2] == ["TIMEOUT", "TIMEOUT"]  # ours, and the one that it gave itself
    assert [(artifact.path, artifact.grade) for artifact in result.artifacts] == [("half.md", "attributed")]
    asked = [told for step in (2, 3) for told in stage.asked("late", step)]  # Claude Code asks once more as it is ended
    assert "Your time is nearly over" in asked[-1]


@pytest.mark.parametrize("stage", ["claude"], indirect=True)
def test_a_file_that_a_command_wrote_is_attributed_beside_another_agent(stage: Stage) -> None:
    """The result of a command names the files that changed while it ran; the other agent's records name others."""

    async def play() -> list[Result]:
        async with Workspace.open(stage.root, environ=stage.environ) as ws:
            prompts = (f"{stage.mark(script)} Do it." for script in ("shell", "beside"))
            return await asyncio.gather(
                *(ws.delegate("scribe", each, runner="claude", timeout_s=WAIT_S, reasks=0) for each in prompts)
            )

    shell, beside = asyncio.run(play())
    assert [tell(each) for each in (shell, beside)] == [("completed", "exited", "accepted", 1)] * 2
    assert [each.artifacts[0].grade for each in (shell, beside)] == ["attributed", "attributed"]


@pytest.mark.parametrize("stage", ["claude"], indirect=True)
@pytest.mark.thorough
def test_one_that_leaves_a_server_in_the_background_is_done_when_it_has_answered(stage: Stage) -> None:
    begun = time.monotonic()
    result = stage.delegate("server")
    assert tell(result) == ("completed", "exited", "accepted", 1)
    assert time.monotonic() - begun < WAIT_S / 2  # the harness would wait for ten minutes
    assert len(stage.asked("server", 2)) == 1
    assert stage.asked("server", 3) == []
    assert stage.list_living() == []


@pytest.mark.thorough
@pytest.mark.parametrize("stage", ["claude"], indirect=True)
def test_a_word_about_a_command_that_ended_later_replaces_no_return(stage: Stage) -> None:
    result = stage.delegate("brief")
    assert len(stage.asked("brief", 3)) == 1, "the fault never happened"
    assert tell(result) == ("completed", "exited", "accepted", 1)


BUDGETS = {
    "claude turns": ("claude", Budget(max_turns=3)),
    "claude usd": ("claude", Budget(max_usd=0.001)),
    "claude tokens": ("claude", Budget(max_tokens=5_000)),
    "codex turns": ("codex", Budget(max_turns=3)),
    "opencode tokens": ("opencode", Budget(max_tokens=5_000)),
}


@pytest.mark.thorough("claude turns", "claude usd", "opencode", "codex")
@pytest.mark.parametrize(("stage", "budget"), BUDGETS.values(), ids=BUDGETS, indirect=["stage"])
def test_a_budget_that_is_used_up_ends_it(stage: Stage, budget: Budget) -> None:
    result = stage.delegate("loop", budget=budget)
    assert tell(result)[:2] == ("partial", "budget")
    assert result.attempts == 1
    assert list_codes(result) == ["BUDGET_EXCEEDED"]
    assert len(stage.model.requests) < 10


@pytest.mark.thorough
def test_one_that_is_done_within_its_turns_is_done(stage: Stage) -> None:
    result = stage.delegate("native", budget=Budget(max_turns=2))
    assert tell(result) == ("completed", "exited", "accepted", 1)
    assert result.usage.turns == 2


@pytest.mark.thorough
def test_a_model_that_refuses_is_told_and_not_asked_for_long(stage: Stage) -> None:
    """As it is without any setting: by itself Claude Code goes on for minutes."""
    begun = time.monotonic()
    result = stage.delegate("refused", environ={"CLAUDE_CODE_MAX_RETRIES": None})
    assert time.monotonic() - begun < 60
    assert tell(result) == ("failed", "crashed", "missing", 1)
    (error,) = result.errors
    assert "got no answer from its model" in error.message
    assert "wrong key" in error.message or "401" in error.message


@pytest.mark.thorough
@pytest.mark.parametrize("stage", ["opencode"], indirect=True)
@pytest.mark.parametrize("is_there", [True, False], ids=["broken", "absent"])
def test_a_model_that_does_not_answer_until_the_deadline_is_told(stage: Stage, *, is_there: bool) -> None:
    """It tries again without end, where the server fails and where there is none."""
    config = stage.environ["OPENCODE_CONFIG_CONTENT"]
    nowhere = {"OPENCODE_CONFIG_CONTENT": config.replace(stage.model.url, "http://127.0.0.1:9")}
    assert nowhere["OPENCODE_CONFIG_CONTENT"] != config
    result = stage.delegate("broken", timeout_s=16, environ={} if is_there else nowhere)
    assert tell(result) == ("partial", "timeout", "missing", 1)
    assert "didn't answer" in result.errors[0].message
    assert ("out of order" in result.errors[0].message) == is_there
    assert bool(stage.model.requests) == is_there


@pytest.mark.thorough
def test_a_broker_that_is_killed_loses_nothing(stage: Stage) -> None:
    """The agent goes on; whoever opens the workspace next takes it up, and it has run once."""
    begin = (
        "import asyncio, sys\n"
        "from remit.runs.workspace import Workspace\n"
        "async def main():\n"
        "    async with Workspace.open(sys.argv[1]) as ws:\n"
        "        await ws.delegate('scribe', sys.argv[2], runner=sys.argv[3], timeout_s=100)\n"
        "asyncio.run(main())\n"
    )
    words = [sys.executable, "-c", begin, str(stage.root), stage.mark("slow"), stage.cli]
    supervisor = subprocess.Popen(words, env=stage.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}, cwd=stage.root)
    wait_for(stage.root / "begun")
    supervisor.send_signal(signal.SIGKILL)
    supervisor.wait()
    assert not (stage.root / "report.md").exists()
    result = stage.take_over()
    assert tell(result) == ("completed", "exited", "accepted", 1)
    assert [artifact.grade for artifact in result.artifacts] == ["attributed"]
    assert len(stage.asked("slow", 0)) == 1


def wait_for(file: Path) -> None:
    end = time.monotonic() + 60
    while not file.exists():
        assert time.monotonic() < end, f"{file.name} never came"
        time.sleep(0.05)


# Those that hand work on

NAMES = ("first", "second", "third", "fourth")
CHAINS: tuple[tuple[CliName, ...], ...] = (
    ("claude", "codex", "claude"),
    ("opencode", "codex", "claude"),
    ("claude", "codex", "opencode"),
)


def make_chain(clis: tuple[CliName, ...]) -> dict[str, list[ScriptedTurn]]:
    """Each tries without its ticket first, then with it; the third has nobody left whom it may call."""
    scripts: dict[str, list[ScriptedTurn]] = {"fourth": [say("This is never asked for.")]}
    for depth, (name, target) in enumerate(pairwise(NAMES), start=1):
        runner = clis[depth] if depth < len(clis) else clis[0]
        words = f"remit run {target} '[[play {target} root=${{root}}]] Do it.' --runner {runner} --json --no-commit"
        metadata = {
            "session_id": "${id}",
            "agent_type": name,
            "delegation_depth": depth,
            "delegation_path": ["orchestrator", *NAMES[:depth]],
            "duration_seconds": 1,
        }
        scripts[name] = [
            run(f"env -u REMIT_TICKET -u REMIT_SESSION_ID {words} > {name}.hidden 2>&1; echo $? >> {name}.hidden"),
            run(f"{words} > {name}.told 2>&1; echo $? >> {name}.told"),
            run(f"while ! tail -1 {name}.told | grep -qx '[0-9]*'; do sleep 0.1; done"),
            write(clis[depth - 1], f"{name}.md"),
            give(path=f"{name}.md", metadata=metadata),
        ]
    return scripts


def load_told(file: Path) -> tuple[dict[str, Any], int]:
    text, _, code = file.read_text().rstrip().rpartition("\n")
    told: dict[str, Any] = json.loads(text)
    return told, int(code)


@pytest.mark.thorough("opencode")
@pytest.mark.parametrize("clis", CHAINS, ids="-".join)
def test_work_is_handed_on_to_depth_three_and_no_further(
    clis: tuple[CliName, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with ScriptedModel(make_chain(clis)) as model:
        stage = make_stage(clis[0], tmp_path, model, monkeypatch, also=clis)
        for name, target in zip(NAMES, (*NAMES[1:], "first"), strict=True):
            stage.write_agent(f".opencode/agent/{name}.md", STANDARD.format(name=name, target=target))
        result = stage.delegate("first", "first", result_tokens=2000)
        assert stage.list_living() == []
    assert tell(result) == ("completed", "exited", "accepted", 1)
    for depth, name in enumerate(("first", "second"), start=2):
        told, code = load_told(stage.root / f"{name}.told")
        assert (told["status"], told["metadata"]["delegation_depth"], code) == ("completed", depth, 0)
        assert told["metadata"]["delegation_path"] == ["orchestrator", *NAMES[:depth]]
    told, code = load_told(stage.root / "third.told")
    assert (told["error"]["code"], code) == ("MAX_DEPTH_EXCEEDED", 2)
    for name in NAMES[:3]:
        told, code = load_told(stage.root / f"{name}.hidden")
        assert (told["error"]["code"], code) == ("REFUSED", 2)
        assert "has no ticket" in told["error"]["message"]
    assert stage.asked("fourth", 0) == []
    own = {f"{name}.{what}" for name in NAMES[:3] for what in ("told", "hidden")}
    assert {*result.unclaimed} - {".opencode/.gitignore"} == own  # the files of those below it were named by them


@pytest.mark.thorough
def test_from_the_sandbox_of_codex_nothing_is_handed_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody could reach a model from in there. It is told at once, and nothing waits for what cannot come."""
    with ScriptedModel(make_chain(("codex", "codex", "codex"))) as model:
        stage = make_stage("codex", tmp_path, model, monkeypatch)
        stage.configure("")
        for name in NAMES:
            stage.write_agent(f".opencode/agent/{name}.md", STANDARD.format(name=name, target="second"))
        result = stage.delegate("first", "first")
        assert stage.list_living() == []
    if not (stage.root / "first.told").exists():
        pytest.skip("Codex's sandbox does not work on this machine")
    told, code = load_told(stage.root / "first.told")
    assert (told["error"]["code"], code) == ("TOOL_UNAVAILABLE", 2)
    assert "danger-full-access" in told["error"]["hint"]
    assert result.status == "completed"
    assert stage.asked("second", 0) == []
