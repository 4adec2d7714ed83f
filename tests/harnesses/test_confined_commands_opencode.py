"""opencode runs the shell commands of its subagents within their permissions: the real program, a scripted model."""

from __future__ import annotations

import json
import shlex
import subprocess
import urllib.request
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from remit.hooks.command_tickets import FOLDER, keep_rules, open_session
from remit.testing import call, find_cli, say
from remit.testing.model_protocols import collect_texts
from tests.support.harness_confined import LIMITED, check_kernel, find_tickets, list_made, write_scripts
from tests.support.harness_hooks import ask, compile_agents, converse, run_remit, set_up
from tests.support.harness_workspace import WAIT_S

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from remit.testing import ScriptedTurn
    from tests.support.harness_workspace import Stage

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("kernel")]


@pytest.fixture(name="kernel", scope="module")
def need_kernel() -> None:
    check_kernel()


def play(*calls: ScriptedTurn) -> list[ScriptedTurn]:
    """A script that uses tools, and ends without a return."""
    return [*calls, say("That is all.")]


def run(command: str, **more: object) -> ScriptedTurn:
    """A call of the shell."""
    return call("bash", command=command, **more)


def say_all(stage: Stage, script: str) -> str:
    """Whatever a script's model was told."""
    asked = [one for one in stage.model.requests if one.tools and one.script == script]
    return "\n".join(collect_texts([asked[-1].body["messages"]]))


def test_two_agents_at_once_and_a_free_session(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    wait = "while [ ! -e {there} ]; do sleep 0.05; done; sh both.sh {me}; ls src docs; cd src; pwd; nosuch; exit 3"
    both = ask("one", "writer")
    scripts = {
        "main": [both._replace(calls=(*both.calls, *ask("two", "tester").calls)), *play(run("sh both.sh main; pwd"))],
        "one": play(
            run(f"touch docs/one; {wait.format(there='src/two', me='one')}"), run("python3 evil.py; echo went")
        ),
        "two": play(run(f"touch src/two; {wait.format(there='docs/one', me='two')}"), run("sh evil.sh")),
    }
    with set_up("opencode", scripts, tmp_path, monkeypatch) as stage:
        compile_agents(stage, LIMITED, writer="docs", tester="src")
        write_scripts(stage)
        settings = (stage.root / "remit.toml").read_text()
        session = converse(stage, "main")
        assert session.exit_code == 0
        assert list_made(stage, "docs") == {"one", "one-docs", "main-docs"}
        assert list_made(stage, "src") == {"two", "two-src", "main-src"}
        assert (stage.root / "remit.toml").read_text() == settings
        told = say_all(stage, "one")
        assert "src/one-src: Read-only file system" in told
        assert f"{stage.root}/src\n" in told.replace("\\n", "\n")
        assert "line 1: nosuch: command not found" in told
        assert "went" in told
        assert "Read-only file system" in say_all(stage, "two")
        assert find_tickets(stage) == []
        assert list_made(stage, f"{FOLDER}/broken") == set()
        assert list_made(stage, f"{FOLDER}/open") == set()


@pytest.mark.thorough
@pytest.mark.skipif(not Path("/usr/bin/zsh").exists(), reason="there is no zsh")
def test_the_users_rules_and_shell_stay(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    zsh = run("echo $ZSH_VERSION-$0 > docs/shell; touch docs/a; true")
    scripts = {
        "main": [run("echo $ZSH_VERSION-$0 > mine"), ask("one", "writer"), *play(run("touch b"))],
        "one": play(run("touch docs/a"), zsh, run("echo $ZSH_VERSION-$0 > docs/shell; sh both.sh one")),
    }
    with set_up("opencode", scripts, tmp_path, monkeypatch) as stage:
        compile_agents(stage, LIMITED, writer="docs")
        write_scripts(stage)
        rules = {"*": "allow", "touch *": "deny"}
        stage.write_agent("opencode.json", json.dumps({"shell": "/usr/bin/zsh", "permission": {"bash": rules}}))
        converse(stage, "main")
        assert list_made(stage, "docs") == {"shell", "one-docs"}
        own = (stage.root / "mine").read_text()
        assert own == (stage.root / "docs" / "shell").read_text()
        assert own.startswith("5")
        assert not (stage.root / "b").exists()
        assert json.loads((stage.root / "opencode.json").read_text())["shell"] == "/usr/bin/zsh"


def write_plugin(stage: Stage, body: str) -> None:
    """A plugin of the user's own, which opencode loads behind Remit's."""
    stage.write_agent(".opencode/plugin/zz.js", f"export const Own = async () => ({{ {body} }})\n")


def test_a_command_whose_ticket_is_lost_is_not_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    scripts = {
        "main": [ask("one", "writer"), *play(run("sh both.sh main"))],
        "one": play(run("sh both.sh one")),
    }
    with set_up("opencode", scripts, tmp_path, monkeypatch) as stage:
        compile_agents(stage, LIMITED, writer="docs")
        write_scripts(stage)
        mark = tmp_path / "lost"
        lose = f'require("fs").appendFileSync({json.dumps(str(mark))}, "x"); delete output.env.REMIT_COMMAND_TICKET'
        write_plugin(stage, f'"shell.env": async (_, output) => {{ {lose} }}')
        converse(stage, "main")
        assert mark.read_text() == "xx"
        assert "the command was not run: it has no ticket" in say_all(stage, "one")
        assert list_made(stage, "docs") == {"main-docs"}  # no agent is at work any more


def test_agents_get_no_shell_if_opencode_starts_another(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    scripts = {
        "main": [ask("one", "writer"), *play(run("sh both.sh main"))],
        "one": play(run("sh both.sh one"), run("sh both.sh again")),
    }
    with set_up("opencode", scripts, tmp_path, monkeypatch) as stage:
        compile_agents(stage, LIMITED, writer="docs")
        write_scripts(stage)
        write_plugin(stage, 'config: async (config) => { config.shell = "/bin/bash" }')
        converse(stage, "main")
        assert list_made(stage, "src") == {"one-src", "main-src"}  # the first one ran
        assert "no shell took the ticket" in say_all(stage, "one")


@pytest.mark.parametrize("hit", ["kill -9 $$", pytest.param("kill -STOP $$", marks=pytest.mark.thorough)])
def test_a_hook_that_stops_runs_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, hit: str) -> None:
    scripts = {
        "main": [ask("one", "writer"), *play(run("sh both.sh main"))],
        "one": play(run("sh both.sh one")),
    }
    with set_up("opencode", scripts, tmp_path, monkeypatch) as stage:
        compile_agents(stage, LIMITED, writer="docs")
        write_scripts(stage)
        plugin = stage.root / ".opencode" / "plugin" / "remit.js"
        (line,) = [line for line in plugin.read_text().split("\n") if line.startswith("const COMMAND = ")]
        words = json.loads(line.removeprefix("const COMMAND = ").partition(" //")[0])
        mark = tmp_path / "hit"
        hook = tmp_path / "hook"
        hook.write_text(
            f"#!/bin/bash\ndata=$(cat)\ncase $data in *'\"PreToolUse\"'*'\"agent_id\"'*both.sh*) : > {mark}; {hit};; esac\n"
            f'printf %s "$data" | {shlex.join(words)}\n'
        )
        hook.chmod(0o755)
        text = plugin.read_text().replace(line, f"const COMMAND = {json.dumps([str(hook)])}")
        plugin.write_text(text.replace("WAIT_MS = 60000", "WAIT_MS = 3000"))
        converse(stage, "main")
        assert mark.exists()
        assert list_made(stage, "docs") == {"main-docs"}
        assert "Remit couldn't check this call" in say_all(stage, "one")


def test_uninstalling_leaves_opencode_as_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    scripts = {
        "main": [ask("one", "writer"), *play(run("sh both.sh main"))],
        "one": play(run("sh both.sh one")),
    }
    with set_up("opencode", scripts, tmp_path, monkeypatch) as stage:
        compile_agents(stage, LIMITED, writer="docs")
        write_scripts(stage)
        converse(stage, "main")
        assert list_made(stage, "src") == {"main-src"}
        run_remit(stage, "hooks", "uninstall", "opencode")
        assert list_made(stage, ".opencode/plugin") == set()
        assert not (stage.root / FOLDER / "rules").exists()
        converse(stage, "main")
        assert list_made(stage, "src") == {"main-src", "one-src"}


@pytest.mark.thorough
def test_what_the_user_starts_is_free(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A line behind "!", while an agent is at work in the session."""
    with set_up("opencode", {"main": [say("Done.")]}, tmp_path, monkeypatch) as stage:
        compile_agents(stage, LIMITED, writer="docs")
        write_scripts(stage)
        with serve(stage) as ask_server:
            session = ask_server("/session", {})["id"]
            line = {"agent": "build", "command": "sh both.sh first"}
            ask_server(f"/session/{session}/shell", line)
            assert list_made(stage, f"{FOLDER}/open") == set()
            keep_rules(str(stage.root), json.dumps({"mode": "auto", "write": [], "network": "all", "reason": ""}))
            open_session(str(stage.root), session, "")
            ask_server(f"/session/{session}/shell", line | {"command": "sh both.sh second"})
            assert list_made(stage, "docs") == {"first-docs", "second-docs"}
            (stage.root / FOLDER / "bash").write_text("#!/bin/sh\nexit 3\n")  # the lines before were run by it
            ask_server(f"/session/{session}/shell", line | {"command": "sh both.sh third"})
            assert list_made(stage, "docs") == {"first-docs", "second-docs"}


@contextmanager
def serve(stage: Stage) -> Iterator[Callable[[str, dict[str, Any]], dict[str, Any]]]:
    """The server of opencode, and a way to ask it."""
    program = find_cli("opencode")
    assert program is not None
    with subprocess.Popen(
        (program, "serve", "--port", "0", "--hostname", "127.0.0.1"), cwd=stage.root, env=stage.environ,
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
    ) as server:  # fmt: skip
        assert server.stdout is not None
        url = next(line.split()[-1] for line in server.stdout if "http://127.0.0.1" in line)

        def ask_server(path: str, body: dict[str, Any]) -> dict[str, Any]:
            headers = {"Content-Type": "application/json"}
            request = urllib.request.Request(f"{url}{path}", json.dumps(body).encode(), headers)  # noqa: S310 - of this machine
            opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
            with opener.open(request, timeout=WAIT_S) as answer:
                given: dict[str, Any] = json.load(answer)
                return given

        try:
            yield ask_server
        finally:
            server.terminate()
