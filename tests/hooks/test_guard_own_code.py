"""Remit's own code: agents may use its commands and tools, but not its modules or its ledger."""

import os
from pathlib import Path

import pytest

from remit.hooks import tool_guard
from remit.hooks.events import HookEvent
from remit.hooks.tool_guard import judge_event
from remit.ledger.hook_runs import HookRun
from remit.policy import Decision, Permissions
from remit.storage.protected_files import make_path_context


def ask(root: Path, command: str) -> Decision:
    """What is said of a command of an agent whose file denies nothing."""
    given = {"command": command}
    event = HookEvent(
        {"hook_event_name": "PreToolUse", "cwd": str(root), "tool_name": "Bash", "tool_input": given}, "claude"
    )
    own = HookRun("sess_1_a", "claude", "s", "scribe")
    return judge_event(event, own, [Permissions()], make_path_context(str(root), str(root), str(root), os.environ))


@pytest.mark.parametrize(
    "command",
    [
        "python3 -c 'import remit'", "python3 -c 'from remit.ledger import Ledger'",
        "python3 -c 'import json, remit.runs as a'", "python3 <<'E'\nimport remit\nremit.Workspace()\nE",
        "python3 - <<< 'from remit import Workspace'", "uv run python -c 'import remit'",
        "timeout 9 python3 -c 'import remit'", "python3 -c '__import__(\"remit\")'",
        "python3 -c 'import runpy; runpy.run_module(\"remit.cli\")'",
        "python3 -m remit.cli run x", "python3 -mremit.cli run x", "python3 -m cProfile -m remit.cli",
        "python3 /x/site-packages/remit/hooks/entry.py", "python3 -m runpy remit.cli", "python3 -m remit run x",
        "python3 -m remit config trust", "bash -c 'python3 -c \"import remit\"'", "remit run a b", "cd x && remit resume s",
        "r'em'it run a", "nohup env A=1 remit config trust --yes &", "echo a | xargs remit run b", "claude -p hi",
        "timeout 99 codex exec 'do it'", "opencode run x", "bash -c 'remit cancel s'",
    ],
)  # fmt: skip
def test_no_plain_call_of_remit_or_a_harness_is_made_without_a_ticket(tmp_path: Path, command: str) -> None:
    decision = ask(tmp_path, command)
    assert decision.answer == "deny"
    assert "can't identify the agent" in decision.reason


@pytest.mark.parametrize(
    "command",
    [
        "python3 -m remit check x.json", "python3 -m remit status", "remit findings add x", "remit task sync --check",
        "python3 -c 'import json; print(json.load(open(\"remit.json\")))'", "pip show remit", "grep -rn remit src",
        "python3 -c 'import importlib; importlib.import_module(\"app.views\")'", "cat src/remit.py",
        "python3 -c 'print(\"remit\")'", "claude --version", "ls .claude", "git commit -m 'Run remit run'",
    ],
)  # fmt: skip
def test_what_only_names_it_is_let_alone(tmp_path: Path, command: str) -> None:
    assert ask(tmp_path, command).answer == "allow"


@pytest.mark.parametrize(
    "script",
    ["echo x > remit.toml", "tee '.mcp.json' < a", "cd x && rm -rf .claude/agents/a.md", "cat .remit/server.json"],
)
def test_a_command_for_a_server_is_asked_about_if_it_names_a_protected_file(tmp_path: Path, script: str) -> None:
    """The kernel limits what a harness's shell starts, and no server."""
    given = {"command": script}
    payload = {"hook_event_name": "PreToolUse", "cwd": str(tmp_path), "tool_name": "mcp__shell__run"}
    event = HookEvent({**payload, "tool_input": given}, "claude")
    own = HookRun("sess_1_a", "claude", "s", "scribe")
    ground = make_path_context(str(tmp_path), str(tmp_path), str(tmp_path), os.environ)
    assert judge_event(event, own, [Permissions()], ground).answer == "ask"
    given["command"] = "ls src > out.txt"
    assert judge_event(event, own, [Permissions()], ground).answer == "allow"


def test_every_package_is_known_as_own_code() -> None:
    package = Path(tool_guard.__file__).parents[1]
    folders = {each.name for each in package.iterdir() if each.is_dir() and not each.name.startswith("__")}
    assert {*folders, "__main__"} == tool_guard._PACKAGES  # noqa: SLF001 - a package that is added has to be added there
