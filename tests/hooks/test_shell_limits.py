"""What a hook decides about the limits of an agent's shell command."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest

from remit.confine import find_level, make_command
from remit.hooks import command_tickets as tickets
from remit.hooks.command_shell import install_shells
from remit.hooks.events import HookEvent
from remit.hooks.shell_limits import confine_command, free_command, make_command_profile
from remit.ledger.home import Home
from remit.policy import Permissions

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

SRC = Permissions(None, {"write": ["src/**"]}, {})
RULES = {"mode": "auto", "write": [], "network": "all", "judge": False, "reason": ""}


class Place:
    """A workspace whose commands get tickets, and the decisions about commands in it."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.root = folder, str(folder)
        self.environ = {"PATH": os.environ["PATH"], "HOME": str(folder.parent), "SHELL": "/bin/bash"}
        install_shells(Home(self.root), self.environ)
        self.environ["CLAUDE_CODE_SHELL"] = f"{self.root}/.remit/confine/bash"
        self.keep()

    def keep(self, **more: object) -> None:
        """Change the rules."""
        tickets.keep_rules(self.root, json.dumps(RULES | more))

    def decide(self, layers: list[Permissions], tool: str = "Bash", **environ: str) -> tuple[str, str]:
        """Return the reason of a refusal and what the ticket says; both empty if the command stays as it is."""
        given: Mapping[str, Any] = {"command": "ls"} if tool == "Bash" else {"code": "ls"}
        payload = {"hook_event_name": "PreToolUse", "session_id": "s", "tool_name": tool, "tool_input": given}
        event = HookEvent({**payload, "agent_id": "" if "REMIT_TICKET" in environ else "a"}, "claude")
        answer, ticket = confine_command(event, None, layers, self.root, self.environ | environ)
        specific = answer.get("hookSpecificOutput", {})
        assert bool(ticket) == ("updatedInput" in specific)
        if not ticket:
            return specific.get("permissionDecisionReason", ""), ""
        assert "permissionDecision" not in specific  # the user's own rules decide
        assert tickets.split(specific["updatedInput"]["command"]) == (ticket, "ls")
        return "", (self.folder / tickets.FOLDER / "tickets" / ticket).read_text().split()[0]


@pytest.fixture
def place(tmp_path: Path) -> Place:
    if not find_level().has_files:
        pytest.skip("this machine's kernel confines nothing")
    root = tmp_path.resolve() / "root"
    root.mkdir()
    return Place(root)


def test_rules_decide_which_agents_are_limited(place: Place) -> None:
    assert place.decide([SRC]) == ("", "confined")
    assert place.decide([Permissions(["bash"])]) == place.decide([]) == ("", "free")
    assert place.decide([SRC], REMIT_TICKET="of a run, which is limited as a whole") == ("", "free")
    place.keep(mode="require")
    assert place.decide([]) == ("", "confined")
    tickets.keep_rules(place.root, "")
    assert place.decide([SRC]) == ("", "")


def test_without_the_shell_the_mode_decides(place: Place) -> None:
    for shell in ("", "/bin/bash", f"{place.root}/.remit/confine/gone"):
        place.keep()
        assert place.decide([SRC], CLAUDE_CODE_SHELL=shell) == ("", "")
        place.keep(mode="require")
        assert "this session doesn't use Remit's shell" in place.decide([SRC], CLAUDE_CODE_SHELL=shell)[0]


def test_where_the_machine_cannot_an_agent_gets_no_command(place: Place) -> None:
    place.keep(mode="require", reason="the kernel gives no user and mount namespace")
    reason, _ = place.decide([])
    assert "this machine can't: the kernel gives no user and mount namespace; use the harness's tools" in reason


def test_code_that_starts_no_shell_is_refused_to_limited_agents(place: Place) -> None:
    assert "the kernel can't limit what REPL runs; use Bash" in place.decide([SRC], "REPL")[0]


def test_a_broken_session_stays_without_commands(place: Place) -> None:
    tickets.break_session(place.root, "s", "no shell took the ticket")
    assert "no shell took the ticket" in place.decide([SRC])[0]
    assert place.decide([]) == ("", "free")
    tickets.mend_session(place.root, "s")
    assert place.decide([SRC]) == ("", "confined")


def test_a_second_name_of_a_protected_file_is_protected(place: Place) -> None:
    (place.folder / "remit.toml").touch()
    os.link(place.folder / "remit.toml", place.folder / "second")
    wide = Permissions(None, {}, {"write": ["x/**"]})
    profile, _, _ = make_command_profile([wide], place.root, place.environ, RULES)
    assert f"{place.root}/second" in profile.protect


def test_the_users_commands_get_tickets_only_where_others_need_them(place: Place) -> None:
    payload = {"hook_event_name": "PreToolUse", "session_id": "s", "tool_name": "Bash", "tool_input": {"command": "ls"}}
    event = HookEvent(payload, "claude")
    assert "updatedInput" in free_command(event, place.root, place.environ)["hookSpecificOutput"]
    assert free_command(event, place.root, place.environ | {"CLAUDE_CODE_SHELL": "/bin/bash"}) == {}
    tickets.keep_rules(place.root, "")
    assert free_command(event, place.root, place.environ) == {}


def test_a_profile_has_what_all_layers_allow_and_what_builds_need(place: Place) -> None:
    (place.folder / "build").mkdir()
    (place.folder / "real").mkdir()
    (place.folder / ".claude").mkdir()
    (place.folder / ".claude/skills").symlink_to("../real")
    wide = Permissions(None, {"write": ["**/*"]}, {"write": ["src/secret/**"]})
    profile, later, sentences = make_command_profile(
        [SRC, wide], place.root, place.environ, RULES | {"write": ["build"]}
    )
    inside = [path for path in profile.write if path.startswith(f"{place.root}/")]
    assert inside == [f"{place.root}/build", f"{place.root}/src"]
    assert f"{place.root}/src/secret" in profile.protect
    assert {f"{place.root}/.remit/{each}" for each in ("confine/tickets", "control")} <= {*profile.hide}
    assert (later, (place.folder / "src").is_dir()) == ((), True)
    assert any("src/secret" in each for each in sentences)
    profile, _, _ = make_command_profile([wide], place.root, place.environ, RULES)
    assert place.root in profile.write
    assert {f"{place.root}/{each}" for each in ("remit.toml", ".remit", "real", ".mcp.json")} <= {*profile.protect}


def test_a_variable_for_temporary_files_opens_neither_the_workspace_nor_the_home(place: Place, tmp_path: Path) -> None:
    (tmp_path / "own").mkdir()
    for folder, is_open in (place.folder, False), (place.folder.parent, False), (tmp_path / "own", True):
        environ = place.environ | {"TMPDIR": str(folder)}
        profile, _, _ = make_command_profile([SRC], place.root, environ, RULES)
        assert (str(folder.resolve()) in profile.write) == is_open


def test_a_rule_cannot_open_a_protected_folder(place: Place) -> None:
    """The agent gets its commands without it."""
    (place.folder / ".claude/agents").mkdir(parents=True)
    rules = Permissions(None, {"write": [".claude/agents/**", "src/**"]}, {})
    profile, _, _ = make_command_profile([rules], place.root, place.environ, RULES)
    assert profile.check() == []
    assert [path for path in profile.write if path.startswith(f"{place.root}/")] == [f"{place.root}/src"]


def test_the_users_tmux_is_hidden(place: Place, tmp_path: Path) -> None:
    """Its server starts programs for whoever connects, outside of the confinement."""
    folder = tmp_path.resolve() / f"tmux-{os.geteuid()}"
    folder.mkdir()
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(f"{folder}/s")
        server.listen()
        environ = place.environ | {"TMUX_TMPDIR": str(tmp_path)}
        profile, _, _ = make_command_profile([SRC], place.root, environ, RULES)
        assert str(folder) in profile.hide
        (tmp_path / "profile").write_bytes(profile.render())
        script = f"import socket; socket.socket(socket.AF_UNIX).connect('{folder}/s')"
        words = make_command(str(tmp_path / "profile"), [sys.executable, "-c", script])
        ran = subprocess.run(words, capture_output=True, text=True, check=False)
        assert "FileNotFoundError" in ran.stderr
        subprocess.run([sys.executable, "-c", script], check=True)


def test_a_file_of_a_rule_is_opened_once_it_exists(place: Place) -> None:
    notes = Permissions(None, {"write": ["notes.md"]}, {})
    profile, later, sentences = make_command_profile([notes], place.root, place.environ, RULES)
    assert (later, f"{place.root}/notes.md" in profile.write) == ((f"{place.root}/notes.md",), False)
    assert any("a command can't create it" in each for each in sentences)
    (place.folder / "notes.md").touch()
    profile, later, _ = make_command_profile([notes], place.root, place.environ, RULES)
    assert (later, f"{place.root}/notes.md" in profile.write) == ((), True)
