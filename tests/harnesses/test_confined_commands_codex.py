"""Codex runs the shell commands of its subagents within their permissions: the real program, and a scripted model."""

from __future__ import annotations

import shlex
import sys
from typing import TYPE_CHECKING

import pytest

from remit.hooks.command_tickets import FOLDER
from remit.hooks.install import render_command
from remit.testing import call, say
from remit.testing.model_protocols import collect_texts
from tests.support.codex_subagents import CHILD, WAIT, ask
from tests.support.harness_confined import LIMITED, check_kernel, find_tickets, list_made, write_scripts
from tests.support.harness_hooks import TRUSTING, compile_agents, converse, hand, list_runs, run_remit, set_up

if TYPE_CHECKING:
    from pathlib import Path

    from remit.testing import ScriptedTurn
    from tests.support.harness_workspace import Stage

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("kernel")]

CURRENT = "gpt-6.1-sol"
"""A model that gets multi-agent v2, and calls tools by JavaScript."""
SANDBOXED = ("-c", "sandbox_workspace_write.exclude_slash_tmp=true")
"""In every folder that it lets be written, Codex's sandbox makes `.git`, `.codex` and `.agents`: not in everybody's."""
RUNNING = r'session(?: ID |_id\\?":)(\d+)'
"""What Codex says of a program that goes on."""


@pytest.fixture(name="kernel", scope="module")
def need_kernel() -> None:
    check_kernel()


def ask_v2(script: str, agent: str) -> ScriptedTurn:
    """A call of a subagent that plays a script, in multi-agent v2."""
    return call("spawn_agent", agent_type=agent, task_name=script, message=f"[[play {script}]] Write the report.")


def play(*calls: ScriptedTurn) -> list[ScriptedTurn]:
    """A script that uses tools, and ends without a return."""
    return [*calls, say("That is all.")]


def run(command: str, **more: object) -> ScriptedTurn:
    """A call of the shell."""
    return call("bash", command=command, **more)


def say_all(stage: Stage, script: str) -> str:
    """Whatever a script's model was told."""
    asked = [one for one in stage.model.requests if one.tools and one.script == script]
    return "\n".join(collect_texts([asked[-1].body["input"]]))


@pytest.mark.parametrize("sandbox", ["danger-full-access", pytest.param("workspace-write", marks=pytest.mark.thorough)])
@pytest.mark.parametrize("version", ["v1", pytest.param("v2", marks=pytest.mark.thorough)])
def test_two_agents_at_once_and_a_free_session(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, version: str, sandbox: str
) -> None:
    begun = "while [ ! -e docs/main-docs ]; do sleep 0.05; done"
    after = "ls src docs; cd src; pwd; nosuch; exit 3"
    spawn = ask_v2 if version == "v2" else ask
    wait = "while [ ! -e docs/{0} ] || [ ! -e src/{0} ]; do sleep 0.05; done; sh both.sh main"
    scripts = {
        "main": [
            spawn("one", "writer"),
            spawn("two", "tester"),
            run(wait.format("begun"), yield_time_ms=30_000),
            run(wait.format("tried"), yield_time_ms=30_000),
            *[call("wait_agent", targets=["${child}"], timeout_ms=10_000).grab(child=CHILD)] * 2,
            say("All is done."),
        ],
        "one": [
            run(f"echo 1 > docs/begun; {begun}; sh both.sh one; {after}"),
            run("python3 evil.py; echo 3 > docs/tried"),
            hand("docs/tried"),
        ],
        "two": [
            run(f"echo 2 > src/begun; {begun}; sh both.sh two"),
            run("sh evil.sh; echo 4 > src/tried"),
            hand("src/tried"),
        ],
    }
    model = CURRENT if version == "v2" else "scripted"
    with set_up("codex", scripts, tmp_path, monkeypatch, codex_model=model) as stage:
        compile_agents(stage, LIMITED, writer="docs", tester="src")
        write_scripts(stage)
        settings = (stage.root / "remit.toml").read_text()
        session = converse(stage, "main", TRUSTING, f"--sandbox={sandbox}", *SANDBOXED)
        assert session.exit_code == 0
        assert list_made(stage, "docs") == {"begun", "tried", "one-docs", "main-docs"}
        assert list_made(stage, "src") == {"begun", "tried", "two-src", "main-src"}
        assert (stage.root / "remit.toml").read_text() == settings
        assert list_made(stage, ".codex") == {"agents", "hooks.json"}
        told = say_all(stage, "one")
        assert "src/one-src: Read-only file system" in told
        assert f"{stage.root}/src\n" in told.replace("\\n", "\n")
        assert "line 1: nosuch: command not found" in told  # the line of the ticket isn't counted
        assert "exited with code 3" in told or '"exit_code":3' in told
        assert "[Errno 30]" in told
        assert "Read-only file system" in say_all(stage, "two")
        assert [row.status for row in list_runs(stage)] == ["completed", "completed"]
        assert find_tickets(stage) == []
        assert list_made(stage, f"{FOLDER}/broken") == set()
        assert list_made(stage, f"{FOLDER}/open") == set()


def test_what_is_typed_reaches_a_confined_program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    typed = run("sh typing.sh", tty=True, yield_time_ms=500)
    text = "sh both.sh one; kill -STOP 1; sh evil.sh; echo typed-$((20 + 3))\n"
    scripts = {
        "main": [ask("one", "writer"), WAIT, say("Done.")],
        "one": play(typed, call("write_stdin", session_id="${id}", chars=text, yield_time_ms=2000).grab(id=RUNNING)),
    }
    with set_up("codex", scripts, tmp_path, monkeypatch) as stage:
        compile_agents(stage, LIMITED, writer="docs")
        write_scripts(stage)
        (stage.root / "typing.sh").write_text("exec bash\n")
        settings = (stage.root / "remit.toml").read_text()
        converse(stage, "main", TRUSTING)
        assert "typed-23" in say_all(stage, "one")
        assert list_made(stage, "docs") == {"one-docs"}
        assert list_made(stage, "src") == set()
        assert (stage.root / "remit.toml").read_text() == settings


def test_the_users_rules_apply_to_the_commands_of_agents(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    commands = ("touch docs/a", "sh both.sh one; touch docs/b", "mkdir docs/c")
    scripts = {"main": [ask("one", "writer"), WAIT, say("Done.")], "one": play(*map(run, commands))}
    with set_up("codex", scripts, tmp_path, monkeypatch) as stage:
        compile_agents(stage, LIMITED, writer="docs")
        write_scripts(stage)
        rules = (
            'prefix_rule(pattern=["touch"], decision="forbidden")\nprefix_rule(pattern=["mkdir"], decision="prompt")\n'
        )
        stage.write_agent(".codex/rules/default.rules", rules)
        converse(stage, "main", TRUSTING)
        assert list_made(stage, "docs") == set()
        told = say_all(stage, "one")
        assert told.count("policy forbids commands starting with `touch`") == 2
        assert "approval required by policy" in told
        assert find_tickets(stage) != []  # the hook gave one to each, and no shell took it


def test_another_shell_runs_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shell = call("exec_command", cmd="echo x > docs/x; echo ran", shell="/bin/sh")  # noqa: S604 - of a tool
    scripts = {"main": [ask("one", "writer"), WAIT, say("Done.")], "one": play(shell)}
    with set_up("codex", scripts, tmp_path, monkeypatch) as stage:
        compile_agents(stage, LIMITED, writer="docs")
        write_scripts(stage)
        converse(stage, "main", TRUSTING)
        assert list_made(stage, "docs") == set()
        assert "a shell other than bash or zsh" in say_all(stage, "one")


STOPPING = """import json, os, signal, subprocess, sys
data = sys.stdin.buffer.read()
event = json.loads(data)
if event.get("agent_id") and (event["hook_event_name"], event.get("tool_name")) == ("PreToolUse", "Bash"):
    open({mark!r}, "w").close()
    os.kill(os.getpid(), signal.{signal})
done = subprocess.run({words!r}, input=data, stdout=subprocess.PIPE)
sys.stdout.buffer.write(done.stdout)
sys.exit(done.returncode)
"""
"""A hook that is hit by a signal before it decides about a command of an agent."""


@pytest.mark.parametrize("hit", ["SIGSTOP", pytest.param("SIGKILL", marks=pytest.mark.thorough)])
def test_a_hook_that_stops_runs_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, hit: str) -> None:
    scripts = {
        "main": [ask("one", "writer"), WAIT, *play(run("sh both.sh main"))],
        "one": play(run("sh both.sh one; echo ran")),
    }
    with set_up("codex", scripts, tmp_path, monkeypatch) as stage:
        compile_agents(stage, LIMITED, writer="docs")
        write_scripts(stage)
        hooks = stage.root / ".codex" / "hooks.json"
        command = shlex.join(render_command("codex", shared=False))
        mark = tmp_path / "hit"
        text = STOPPING.format(words=shlex.split(command), mark=str(mark), signal=hit)
        (tmp_path / "stopping.py").write_text(text)
        own = f"{sys.executable} {tmp_path}/stopping.py"
        hooks.write_text(hooks.read_text().replace(command, own).replace("KILL 55", "KILL 3"))
        converse(stage, "main", TRUSTING)
        assert mark.exists()
        assert list_made(stage, "docs") == {"main-docs"}
        assert "Killed" in say_all(stage, "one")


IGNORING = """import json, subprocess, sys
data = sys.stdin.buffer.read()
done = subprocess.run({words!r}, input=data, stdout=subprocess.PIPE)
answer = json.loads(done.stdout or b"{{}}")
if "Bash" in str(json.loads(data).get("tool_name")) and answer.get("hookSpecificOutput", {{}}).pop("updatedInput", None):
    open({mark!r}, "a").write("x")
    answer["hookSpecificOutput"].pop("permissionDecision")
print(json.dumps(answer))
sys.exit(done.returncode)
"""
"""A hook whose rewrite is lost, as with a Codex that ignores it."""


def test_agents_get_no_shell_if_codex_ignores_the_ticket(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    scripts = {
        "main": [ask("one", "writer"), WAIT, ask("two", "writer"), WAIT, *play(run("sh both.sh main"))],
        "one": play(run("sh both.sh one"), run("sh both.sh again")),
        "two": play(run("sh both.sh other")),
    }
    with set_up("codex", scripts, tmp_path, monkeypatch) as stage:
        compile_agents(stage, LIMITED, writer="docs")
        write_scripts(stage)
        hooks = stage.root / ".codex" / "hooks.json"
        command = shlex.join(render_command("codex", shared=False))
        text = IGNORING.format(words=shlex.split(command), mark=str(tmp_path / "lost"))
        (tmp_path / "ignoring.py").write_text(text)
        hooks.write_text(hooks.read_text().replace(command, f"{sys.executable} {tmp_path}/ignoring.py"))
        converse(stage, "main", TRUSTING)
        assert (tmp_path / "lost").read_text() == "x"
        assert list_made(stage, "src") == {"one-src", "main-src"}  # the first one ran, and all others were refused
        for script in ("one", "two"):
            assert "no shell took the ticket" in say_all(stage, script)


def test_uninstalling_leaves_codex_as_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    scripts = {
        "main": [ask("one", "writer"), WAIT, *play(run("sh both.sh main"))],
        "one": play(run("sh both.sh one")),
    }
    with set_up("codex", scripts, tmp_path, monkeypatch) as stage:
        compile_agents(stage, LIMITED, writer="docs")
        write_scripts(stage)
        converse(stage, "main", TRUSTING)
        assert list_made(stage, "src") == {"main-src"}
        run_remit(stage, "hooks", "uninstall", "codex")
        assert list_made(stage, ".codex") == {"agents"}
        assert not (stage.root / FOLDER / "rules").exists()
        converse(stage, "main", TRUSTING)
        assert list_made(stage, "src") == {"main-src", "one-src"}


@pytest.mark.parametrize("sandbox", ["danger-full-access", pytest.param("workspace-write", marks=pytest.mark.thorough)])
def test_a_denied_program_does_not_start(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, sandbox: str) -> None:
    scripts = {"main": [ask("one"), WAIT, say("Done.")], "one": play(run("sh script.sh; cat made"))}
    with set_up("codex", scripts, tmp_path, monkeypatch) as stage:
        compile_agents(stage, scribe="nobody")
        (stage.root / "script.sh").write_text("echo went > made\ntouch reached\n")
        converse(stage, "main", TRUSTING, f"--sandbox={sandbox}", *SANDBOXED)
        assert "went" in say_all(stage, "one")
        assert not (stage.root / "reached").exists()
