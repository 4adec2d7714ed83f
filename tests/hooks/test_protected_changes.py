"""Protected names that appear while a command runs are moved away, and protected files that it changes restored."""

from __future__ import annotations

import subprocess
import sys
import time
from typing import TYPE_CHECKING

import pytest

from remit.confine.level import find_level, probe_level
from remit.hooks import command_tickets as tickets
from tests.support.hook_commands import begin, end, list_quarantine
from tests.support.hook_session import Stage, add_agent, make_workspace
from tests.support.paths import ROOT

if TYPE_CHECKING:
    from pathlib import Path

    from tests.support.hook_session import Child

SETTINGS = "# the user's\n"


def run(child: Child, script: str, call: str = "toolu_x") -> str:
    """The agent runs a command; what its model is told then."""
    begin(child, call)
    change(child.stage.root, script)
    return end(child, call)


def change(root: Path, script: str) -> None:
    subprocess.run(["bash", "-c", script], cwd=root, check=True)


def prepare(root: Path) -> None:
    (root / "remit.toml").write_text(SETTINGS)
    hook = root / ".git" / "hooks" / "pre-commit"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text("#!/bin/sh\n")
    hook.chmod(0o755)


def test_what_a_command_changed_or_removed_is_restored_and_told(child: Child, root: Path) -> None:
    prepare(root)
    assert run(child, "echo x > specs/r.md") == ""
    told = run(
        child, "echo evil >> remit.toml; rm .git/hooks/pre-commit; git config core.fsmonitor x; echo y > specs/r.md"
    )
    assert f"'remit.toml' was changed while a command of '{child.agent}' ran. Remit restored it" in told
    assert "'.git/hooks/pre-commit' was removed" in told
    assert "'.git/config' was changed" in told
    assert (root / "remit.toml").read_text() == SETTINGS
    assert (root / ".git/hooks/pre-commit").stat().st_mode & 0o777 == 0o755
    assert "fsmonitor" not in (root / ".git/config").read_text()
    assert list_quarantine(root) == [".git-config", "remit.toml"]
    kept = next(each for each in (root / ".remit/quarantine").iterdir() if each.name.endswith("remit.toml"))
    assert kept.read_text() == f"{SETTINGS}evil\n"
    assert run(child, "true") == ""
    child.stop(child.report("specs/r.md"))
    result = child.hand_over(child.report("specs/r.md"))
    assert [each["code"] for each in result["remit"]["diagnostics"]] == ["EVD013"] * 3, result


def test_a_link_or_a_folder_in_a_files_place_is_replaced(child: Child, root: Path) -> None:
    prepare(root)
    told = run(child, "mv remit.toml old && ln -s old remit.toml")
    assert "a symbolic link" in told
    assert (root / "remit.toml").read_text() == SETTINGS
    assert not (root / "remit.toml").is_symlink()
    assert "isn't a file now" in run(child, "rm remit.toml && mkdir remit.toml")
    assert (root / "remit.toml").read_text() == SETTINGS


def test_a_file_in_the_place_of_a_folder_is_moved_away(child: Child, root: Path) -> None:
    prepare(root)
    told = run(child, "rm -rf .git; echo x > .git")
    assert "'.git/hooks/pre-commit' isn't a file now" in told
    assert "'.git/config' was removed" in told
    assert told.count("Remit restored it") >= 2
    assert (root / ".git/hooks/pre-commit").stat().st_mode & 0o777 == 0o755
    assert (root / ".git/config").read_text().startswith("[core]")


def test_the_same_bytes_are_no_change(child: Child, root: Path) -> None:
    prepare(root)
    assert run(child, "cp remit.toml x; mv x remit.toml; touch .git/config") == ""
    assert "other permissions" in run(child, "chmod 666 remit.toml")
    assert (root / "remit.toml").stat().st_mode & 0o777 == 0o644


def test_what_the_user_may_have_changed_is_reported_and_stays(child: Child, root: Path) -> None:
    prepare(root)
    begin(child.stage, "toolu_user")
    told = run(child, "echo other > remit.toml")
    assert "Remit left it as it is, because the user's own session is using a tool" in told
    assert (root / "remit.toml").read_text() == "other\n"
    end(child.stage, "toolu_user")


def test_what_the_user_edits_between_two_commands_is_the_new_state(child: Child, root: Path) -> None:
    prepare(root)
    assert run(child, "true") == ""
    (root / "remit.toml").write_text("# edited\n")
    assert run(child, "true") == ""
    assert "restored" in run(child, "echo evil > remit.toml")
    assert (root / "remit.toml").read_text() == "# edited\n"


def test_of_two_commands_at_once_the_older_record_holds(child: Child, stage: Stage, root: Path) -> None:
    prepare(root)
    other = stage.call("planner")
    other.start()
    begin(child, "toolu_a")
    change(root, "echo evil > remit.toml")
    begin(other, "toolu_b")  # it begins with what the first one has changed
    assert "restored" in end(child, "toolu_a")
    assert end(other, "toolu_b") == ""
    assert (root / "remit.toml").read_text() == SETTINGS


def test_a_command_whose_end_no_hook_reported_is_compared_at_the_return(child: Child, root: Path) -> None:
    (root / "remit.toml").write_text(SETTINGS)
    begin(child, "toolu_lost")
    change(root, "echo evil > remit.toml; echo x > specs/r.md")
    child.stop(child.report("specs/r.md"))
    assert (root / "remit.toml").read_text() == SETTINGS
    result = child.hand_over(child.report("specs/r.md"))
    found = [(each["code"], each["message"]) for each in result["remit"]["diagnostics"]]
    assert [code for code, _ in found] == ["EVD013"], found
    assert "Remit restored it" in found[0][1]
    assert child.stage.ask("SELECT count(*) FROM notes WHERE name > 'kept  ' AND name < 'kept ~'") == [(0,)]


def test_kept_bytes_that_are_gone_are_told(child: Child, root: Path) -> None:
    prepare(root)
    told = run(child, "rm -r .remit/kept; echo evil > remit.toml")
    assert "Remit could not restore it (the copy is gone)" in told
    assert list_quarantine(root) == []
    assert (root / "remit.toml").read_text() == "evil\n"


def test_with_a_judge_at_exec_code_is_not_asked_about(root: Path, quick: bool) -> None:  # noqa: FBT001 - a fixture
    """The kernel limits the command by its ticket, and nothing has to be kept."""
    if not find_level().has_judge:
        pytest.skip("this machine can't judge programs when they start")
    add_agent(root, "careful", more=RULES)
    shell = root / ".remit" / "confine" / "bash"
    stage = Stage(root, quick=quick)
    child = stage.call("careful")
    child.start()
    shell.parent.mkdir(exist_ok=True)
    shell.write_text("#!/bin/sh\n")
    shell.chmod(0o755)
    words = {"python3 -c 'print(1)'": (None, "ask"), "$x y": ("ask", "ask"), "curl x": ("deny", "deny")}
    for command, answers in words.items():
        given = {"tool_name": "Bash", "tool_input": {"command": command}, "tool_use_id": command}
        for env, word in zip(({"CLAUDE_CODE_SHELL": str(shell)}, {}), answers, strict=True):
            said = stage.send(child.event("PreToolUse", **given), env).get("hookSpecificOutput", {})
            assert said.get("permissionDecision") == word, (command, env, said)
            assert ("updatedInput" in said) == (bool(env) and word != "deny"), (command, env, said)
        if answers[0] is None:
            kept = stage.ask("SELECT count(*) FROM notes WHERE name LIKE 'kept sess%'")
            assert kept == [(1,)], "only the command that nothing limits has a record"


# --- names that are new ----------------------------------------------------------------------------------------------


def make_names(child: Child, *made: str, call: str = "toolu_x") -> str:
    """The agent runs a command that makes files; what its model is told then."""
    begin(child, call)
    for name in made:
        make(child.stage.root, name)
    return end(child, call)


def make(root: Path, name: str) -> None:
    (root / name).parent.mkdir(parents=True, exist_ok=True)
    (root / name).write_text("evil\n")


def test_what_appears_during_a_command_is_moved_and_told(child: Child, root: Path) -> None:
    assert make_names(child) == ""
    told = make_names(child, ".mcp.json", ".claude/hooks/x.sh", "specs/r.md")
    assert "the protected name '.mcp.json' is new; it appeared while a command of 'planner' ran" in told
    assert "Remit moved it to '.remit/quarantine/" in told
    assert list_quarantine(root) == [".claude-hooks", ".mcp.json"]
    assert not (root / ".mcp.json").exists()
    assert make_names(child) == ""
    child.stop(child.report("specs/r.md"))
    result = child.hand_over(child.report("specs/r.md"))
    assert result["status"] == "completed", result
    found = [each for each in result["remit"]["diagnostics"] if each["code"] == "EVD013"]
    assert len(found) == 2, result


def test_what_the_user_may_have_made_is_reported_and_stays(child: Child, root: Path) -> None:
    begin(child.stage, "toolu_user")  # it began before, and ends later
    told = make_names(child, ".mcp.json")
    assert "Remit left it there, because the user's own session is using a tool: check it" in told
    end(child.stage, "toolu_user")
    begin(child, "toolu_y")
    begin(child.stage, "toolu_user2", "Write")
    make(root, ".codex/config.toml")
    end(child.stage, "toolu_user2", "Write")
    assert "Remit left it there" in end(child, "toolu_y")
    assert "Remit moved it to" in make_names(child, ".gemini/settings.json")  # the user's session was silent
    assert "Claude Code writes it when the user answers" in make_names(child, ".claude/settings.local.json")
    assert list_quarantine(root) == [".gemini-settings.json"]
    assert (root / ".mcp.json").exists()


def test_what_the_user_makes_while_no_agent_is_at_work_is_nobodys_business(child: Child, root: Path) -> None:
    make(root, ".mcp.json")
    assert make_names(child) == ""
    assert (root / ".mcp.json").exists()


def test_a_command_whose_end_no_hook_reported_is_checked_at_the_return(child: Child, root: Path) -> None:
    begin(child, "toolu_lost")
    make(root, ".mcp.json")
    make(root, "specs/r.md")
    child.stop(child.report("specs/r.md"))
    assert list_quarantine(root) == [".mcp.json"]
    result = child.hand_over(child.report("specs/r.md"))
    assert [each["code"] for each in result["remit"]["diagnostics"]] == ["EVD013"], result


def test_what_appears_between_two_commands_is_reported_at_the_return(child: Child, root: Path) -> None:
    assert make_names(child, "specs/r.md") == ""
    make(root, ".mcp.json")  # a process in the background, or the user
    child.stop(child.report("specs/r.md"))
    result = child.hand_over(child.report("specs/r.md"))
    [found] = result["remit"]["diagnostics"]
    assert "it appeared between two commands" in found["message"], result
    assert (root / ".mcp.json").exists()


def test_a_claim_of_what_was_moved_is_not_accepted(child: Child, root: Path) -> None:
    begin(child, "toolu_lost")
    make(root, ".mcp.json")
    child.stop(child.report(".mcp.json"))
    assert not (root / ".mcp.json").exists()
    result = child.hand_over(child.report(".mcp.json"))
    assert result["status"] != "completed", result


def give_ticket(child: Child, call: str, **limits: str) -> Path:
    """The command of a call gets a ticket with limits; the file that says that its shell has taken the ticket."""
    root = child.stage.root
    tickets.keep_profile(str(root), "limits", "\0".join(f"{name}={path}" for name, path in limits.items()).encode())
    ticket = tickets.give_ticket(str(root), "limits")
    child.stage.change("UPDATE notes SET value = ? WHERE name LIKE ?", ticket, f"command % {call}")
    taken = root / tickets.FOLDER / "tickets" / f"{ticket}{tickets.TAKEN}"
    taken.touch()
    return taken


def test_what_the_kernel_kept_the_command_from_is_somebody_elses(child: Child, root: Path) -> None:
    begin(child, "toolu_x")
    give_ticket(child, "toolu_x", write=f"{root}/.claude")
    make(root, ".mcp.json")
    make(root, ".claude/hooks/x.sh")
    assert "'.claude/hooks' is new" in end(child, "toolu_x")
    assert list_quarantine(root) == [".claude-hooks"]


def test_what_was_there_before_the_command_began_is_reported(child: Child, root: Path) -> None:
    """Its hook runs, the user is asked, and meanwhile a file appears; then the command begins."""
    begin(child, "toolu_x")
    make(root, ".mcp.json")
    time.sleep(0.1)  # a busy machine updates the clock of its file system late
    give_ticket(child, "toolu_x", write=str(root))
    assert "Remit left it there, because it was there before the command began" in end(child, "toolu_x")
    assert list_quarantine(root) == []


# --- a machine that confines nothing ---------------------------------------------------------------------------------

LIMIT = 'echo 0 > /proc/sys/user/max_user_namespaces && echo 0 > /proc/sys/user/max_mnt_namespaces && exec "$@"'
RULES = "permissions:\n  deny:\n    bash: [curl]\n"


def test_a_machine_whose_kernel_confines_nothing_restores_and_asks(tmp_path: Path) -> None:
    """In a user namespace whose limits forbid any other, as on a hardened machine."""
    play = "import sys, pathlib; from tests.hooks.test_protected_changes import play; play(pathlib.Path(sys.argv[1]))"
    words = ["unshare", "-Ur", "bash", "-c", LIMIT, "bash", sys.executable, "-c", play, str(tmp_path)]
    ran = subprocess.run(words, capture_output=True, text=True, check=False, cwd=ROOT)
    if "max_user_namespaces" in ran.stderr:
        pytest.skip(ran.stderr.strip())
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout == "none\n"


def play(folder: Path) -> None:
    """What happens there, in a process of its own."""
    level = probe_level()
    assert not level.has_files, level
    root = make_workspace(folder / "project")
    add_agent(root, "careful", more=RULES)
    stage = Stage(root, quick=True)
    child = stage.call("careful")
    child.start()
    test_what_a_command_changed_or_removed_is_restored_and_told(child, root)
    other = stage.call("careful")
    other.start()
    for command, word in (("python3 -c 'print(1)'", "ask"), ("$x y", "ask"), ("curl x", "deny"), ("ls", None)):
        given = {"tool_name": "Bash", "tool_input": {"command": command}, "tool_use_id": command}
        answer = stage.send(other.event("PreToolUse", **given))
        assert answer.get("hookSpecificOutput", {}).get("permissionDecision") == word, (command, answer)
    add_agent(root, "writer", more='permissions:\n  deny:\n    write: ["src/**"]\n')
    other = stage.call("writer")
    other.start()
    for command, word in (("python3 -c 'print(1)'", "ask"), ("$x y", "ask"), ("git status && ls", None)):
        given = {"tool_name": "Bash", "tool_input": {"command": command}, "tool_use_id": f"w {command}"}
        answer = stage.send(other.event("PreToolUse", **given))
        assert answer.get("hookSpecificOutput", {}).get("permissionDecision") == word, (command, answer)
    sys.stdout.write(f"{level.name}\n")
