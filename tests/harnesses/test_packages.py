"""The packages that travel: what they say of themselves, and that the harness that they are for takes them."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import tomllib
from typing import TYPE_CHECKING, Any

import pytest

from remit.hooks.install import load_hooks, render_command
from remit.hooks.settings_files import split_command
from remit.testing import ScriptedModel, call, find_cli, say
from tests.support.paths import ROOT, SOURCE

if TYPE_CHECKING:
    from pathlib import Path

FILES = SOURCE / "remit" / "harness_files"
GUARDING = {"PreToolUse", "SubagentStop"}
"""In all harnesses; Claude Code has one more."""
ON_TOOLS = {"PreToolUse", "PostToolUse", "PostToolUseFailure"}
LIFECYCLE = ("research", "plan", "implement", "revise", "review")


def load(path: str) -> dict[str, Any]:
    content: dict[str, Any] = json.loads((ROOT / path).read_text())
    return content


def test_the_plugin_is_the_version_that_the_package_is() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    plugin = load(".claude-plugin/plugin.json")
    assert (plugin["name"], plugin["version"], plugin["license"]) == ("remit", project["version"], project["license"])
    (entry,) = load(".claude-plugin/marketplace.json")["plugins"]
    assert {key: entry[key] for key in ("name", "description", "license")} == {
        key: plugin[key] for key in ("name", "description", "license")
    }
    assert (ROOT / plugin["hooks"]).is_file()
    assert plugin["mcpServers"] == {"remit": {"command": "remit", "args": ["mcp"]}}


LIMIT = "$(command -v timeout >/dev/null && echo timeout -s KILL 55) "
"""What kills a hook that is stopped, before Codex goes on without it."""


@pytest.mark.parametrize("harness", ["claude", "codex"])
def test_events_that_guard_block_when_their_hook_is_killed(harness: str) -> None:
    content = load(f"src/remit/harness_files/{harness}/hooks.json")
    assert content.keys() == {"description", "hooks"}  # Codex refuses a file with any other key
    for event, groups in content["hooks"].items():
        ((group,),) = (groups,)
        (hook,) = group["hooks"]
        is_limited = (harness, event) == ("codex", "PreToolUse")
        assert hook["command"].partition(" || ")[0] == (LIMIT if is_limited else "") + f"remit hook {harness}"
        assert hook["command"].endswith(" || exit 2") == (event in {*GUARDING, "ConfigChange"}), event
        assert hook["timeout"] >= (3 if (harness, event) == ("codex", "SessionEnd") else 20)  # Codex gives it no more
        assert group.get("matcher") == ("*" if event in ON_TOOLS else None), event
    assert GUARDING | {"PostToolUse", "SubagentStart", "Stop", "SessionStart"} <= content["hooks"].keys()


PERSONS = '{"session_id":"x","hook_event_name":"PreToolUse","tool_input":{"content":"{\\"agent_id\\":1}"}}'
AGENTS = '{"session_id":"x","agent_id":"a1","agent_type":"scribe","hook_event_name":"PreToolUse"}'
WHOLE = '{"session_id":"x", "agent_type": "scribe", "hook_event_name": "PreToolUse"}'
STOP = '{"agent_id":"a1","hook_event_name":"SubagentStop","stop_hook_active":%s}'


def run_line(shell: str, harness: str, event: str, given: str, folder: Path, *, program: str = "", **more: str) -> int:
    """The exit code of a registered command line, where `remit` is such a program, or none; it says why on stderr."""
    (hook,) = load(f"src/remit/harness_files/{harness}/hooks.json")["hooks"][event][0]["hooks"]
    path = folder / "bin"
    path.mkdir(exist_ok=True)
    if program:
        (path / "remit").write_text(f"#!/bin/sh\n{program}\n")
        (path / "remit").chmod(0o755)
    environ = {"PATH": f"{path}:/usr/bin:/bin", **more}
    assert program or shutil.which("remit", path=environ["PATH"]) is None
    done = subprocess.run([shell, "-c", hook["command"]], input=given, text=True, capture_output=True, check=False,
                          env=environ)  # fmt: skip
    assert done.stderr.strip() or done.returncode == 0
    return done.returncode


@pytest.mark.parametrize("shell", ["/bin/sh", "/bin/bash"])
def test_a_hook_of_codex_that_is_stopped_is_refused(tmp_path: Path, shell: str) -> None:
    (hook,) = load("src/remit/harness_files/codex/hooks.json")["hooks"]["PreToolUse"][0]["hooks"]
    assert int(LIMIT.rsplit(maxsplit=1)[-1].rstrip(")")) < hook["timeout"]
    program = tmp_path / "remit"
    program.write_text("#!/bin/sh\n: > stopped\nkill -STOP $$\n")
    program.chmod(0o755)
    line = hook["command"].replace("KILL 55", "KILL 1")
    words = [shell, "-c", line]
    environ = {"PATH": f"{tmp_path}:/usr/bin:/bin"}
    done = subprocess.run(words, cwd=tmp_path, env=environ, input=PERSONS, text=True, capture_output=True, check=False)
    assert (tmp_path / "stopped").exists()
    assert done.returncode == 2
    program.write_text("#!/bin/sh\nread line; exit 0\n")
    done = subprocess.run(words, env={"PATH": str(tmp_path)}, input=PERSONS, text=True, check=False)
    assert done.returncode == 0  # there is no `timeout`


@pytest.mark.parametrize("harness", ["claude", "codex"])
def test_without_remit_in_its_python_agents_are_refused_and_persons_are_not(harness: str) -> None:
    """After `pip uninstall`: Python is there, and ends with 2 without the file, which would refuse everything."""
    hooks = load_hooks(harness, shared=False)
    assert {hook.event for hook in hooks} >= {"PreToolUse", "UserPromptSubmit", "Stop"}
    for hook in hooks:
        assert split_command(hook.command) == render_command(harness, shared=False)
        line = hook.command.replace("/remit/hooks/entry.py", "/gone/remit/hooks/entry.py")
        for given, is_refused in (PERSONS, False), (AGENTS, hook.event == "PreToolUse"):
            if hook.event in ("SubagentStop", "ConfigChange"):  # no call of a person's
                continue
            done = subprocess.run(["/bin/sh", "-c", line], input=given, text=True, capture_output=True, check=False)
            assert (done.returncode == 2) == is_refused, (hook.event, given)


@pytest.mark.parametrize("harness", ["claude", "codex"])
@pytest.mark.parametrize("shell", ["/bin/sh", "/bin/bash"])
def test_without_the_program_agents_are_refused_and_persons_are_not(tmp_path: Path, harness: str, shell: str) -> None:
    assert run_line(shell, harness, "PreToolUse", PERSONS, tmp_path) == 1  # which both show, and go on
    assert run_line(shell, harness, "PreToolUse", AGENTS, tmp_path) == 2
    assert run_line(shell, harness, "PreToolUse", WHOLE, tmp_path) == 2
    assert run_line(shell, harness, "PreToolUse", PERSONS, tmp_path, REMIT_TICKET="x") == 2
    assert run_line(shell, harness, "SubagentStop", STOP % "false", tmp_path) == 2
    assert run_line(shell, harness, "SubagentStop", STOP % "true", tmp_path) == 1  # Codex would ask for ever


def test_without_the_program_settings_stay_as_they_are(tmp_path: Path) -> None:
    assert run_line("/bin/sh", "claude", "ConfigChange", "{}", tmp_path) == 2


@pytest.mark.parametrize("harness", ["claude", "codex"])
@pytest.mark.parametrize("event", sorted(GUARDING))
def test_a_program_that_is_there_and_fails_refuses_everybody(tmp_path: Path, harness: str, event: str) -> None:
    for program in ("kill -9 $$", "exit 1", "exit 2", "kill -11 $$"):
        assert run_line("/bin/sh", harness, event, PERSONS, tmp_path, program=f"echo x >&2; {program}") == 2, program
    assert run_line("/bin/sh", harness, event, AGENTS, tmp_path, program="cat") == 0


def test_what_only_one_harness_has_is_registered_there_alone() -> None:
    claude, codex = (load(f"src/remit/harness_files/{name}/hooks.json")["hooks"].keys() for name in ("claude", "codex"))
    assert claude - codex == {"PostToolUseFailure", "StopFailure", "ConfigChange"}
    assert codex - claude == set()


def test_the_plugin_for_opencode_fetches_nothing() -> None:
    text = (FILES / "opencode" / "remit.js").read_text()
    assert re.findall(r'(?:from|import\(|require\()\s*"([^"]+)"', text) == [
        "node:child_process",
        "node:fs",
        "node:path",
        "node:url",
    ]
    assert text.count('const COMMAND = ["remit", "hook", "opencode"]') == 1  # the place that is filled in


@pytest.mark.parametrize("name", LIFECYCLE)
def test_each_step_of_a_task_has_its_command(name: str) -> None:
    text = (ROOT / "commands" / f"{name}.md").read_text()
    head, body = text.removeprefix("---\n").split("\n---\n")
    assert re.findall(r"^([\w-]+):", head, re.MULTILINE) == ["description", "argument-hint", "allowed-tools"]
    assert f"`remit task {name} NUMBER" in body
    assert set(re.findall(r"/remit:(\w+)", body)) <= {*LIFECYCLE}


def test_commands_and_the_skill_name_commands_that_there_are() -> None:
    from remit.commands import GROUPS, get_command  # noqa: PLC0415 - the command line is not needed by the others

    texts = [path.read_text() for path in (*ROOT.glob("commands/*.md"), *ROOT.glob("skills/*/SKILL.md"))]
    groups = "|".join(group.name for group in GROUPS)
    named = {name for text in texts for name in re.findall(rf"`remit ((?:{groups}) [a-z]+|[a-z]+)", text)}
    assert {"run", "wait", "show", *(f"task {name}" for name in LIFECYCLE)} <= named
    assert not [name for name in named if get_command(name) is None]


@pytest.mark.slow
def test_claude_code_finds_nothing_wrong_with_the_plugin(tmp_path: Path) -> None:
    program = find_cli("claude")
    if program is None:
        pytest.skip("claude is not installed: run `make agents`")
    with ScriptedModel({"none": [say("")]}) as model:
        environ = model.environ("claude", tmp_path)
    for manifest in ("marketplace.json", "plugin.json"):
        words = (program, "plugin", "validate", "--strict", str(ROOT / ".claude-plugin" / manifest))
        ran = subprocess.run(words, env=environ, capture_output=True, text=True, check=False)
        assert ran.returncode == 0, ran.stdout + ran.stderr
        assert "Validation passed" in ran.stdout


@pytest.mark.slow
@pytest.mark.thorough
def test_claude_code_loads_all_of_the_plugin(tmp_path: Path) -> None:
    program = find_cli("claude")
    if program is None:
        pytest.skip("claude is not installed: run `make agents`")
    home, log, programs, root = (tmp_path / name for name in ("home", "log", "bin", "root"))
    for folder in (home, programs, root):
        folder.mkdir()
    (programs / "remit").write_text(f'#!/bin/sh\n{{ echo "$@"; cat; }} >> {log}\n')
    (programs / "remit").chmod(0o755)
    with ScriptedModel({"work": [call("bash", command="exit 3"), say("Done.")]}) as model:
        environ = model.environ("claude", home)
        environ["PATH"] = f"{programs}:{environ['PATH']}"
        words = (
            program,
            "-p",
            model.mark("work"),
            "--permission-mode=acceptEdits",
            "--allowedTools=Bash",
            "--plugin-dir",
            str(ROOT),
        )
        subprocess.run(words, env=environ, cwd=root, stdin=subprocess.DEVNULL, check=True, capture_output=True)
        told = json.dumps(model.requests[0].body)
    assert "remit:delegate-with-remit" in told
    assert [name for name in LIFECYCLE if f"remit:{name}" not in told] == []
    events = re.findall(r'"hook_event_name":"(\w+)"', log.read_text())
    assert {"SessionStart", "PreToolUse", "PostToolUseFailure", "Stop", "SessionEnd"} <= {*events}
    assert "\nmcp\n" in f"\n{log.read_text()}"  # the server is started, too
