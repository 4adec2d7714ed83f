"""Protected names that appear while a command of an enforced agent runs."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from remit.hooks import command_tickets as tickets
from tests.support.hook_commands import begin, end, list_quarantine

if TYPE_CHECKING:
    from pathlib import Path

    from tests.support.hook_session import Child


def run(child: Child, *made: str, call: str = "toolu_x") -> str:
    """The agent runs a command that makes files; what its model is told then."""
    begin(child, call)
    for name in made:
        make(child.stage.root, name)
    return end(child, call)


def make(root: Path, name: str) -> None:
    (root / name).parent.mkdir(parents=True, exist_ok=True)
    (root / name).write_text("evil\n")


def test_what_appears_during_a_command_is_moved_and_told(child: Child, root: Path) -> None:
    assert run(child) == ""
    told = run(child, ".mcp.json", ".claude/hooks/x.sh", "specs/r.md")
    assert "the protected name '.mcp.json' is new; it appeared while a command of 'planner' ran" in told
    assert "Remit moved it to '.remit/quarantine/" in told
    assert list_quarantine(root) == [".claude-hooks", ".mcp.json"]
    assert not (root / ".mcp.json").exists()
    assert run(child) == ""
    child.stop(child.report("specs/r.md"))
    result = child.hand_over(child.report("specs/r.md"))
    assert result["status"] == "completed", result
    found = [each for each in result["remit"]["diagnostics"] if each["code"] == "EVD013"]
    assert len(found) == 2, result


def test_what_the_user_may_have_made_is_reported_and_stays(child: Child, root: Path) -> None:
    begin(child.stage, "toolu_user")  # it began before, and ends later
    told = run(child, ".mcp.json")
    assert "Remit left it there, because the user's own session is using a tool: check it" in told
    end(child.stage, "toolu_user")
    begin(child, "toolu_y")
    begin(child.stage, "toolu_user2", "Write")
    make(root, ".codex/config.toml")
    end(child.stage, "toolu_user2", "Write")
    assert "Remit left it there" in end(child, "toolu_y")
    assert "Remit moved it to" in run(child, ".gemini/settings.json")  # the user's session was silent
    assert "Claude Code writes it when the user answers" in run(child, ".claude/settings.local.json")
    assert list_quarantine(root) == [".gemini-settings.json"]
    assert (root / ".mcp.json").exists()


def test_what_the_user_makes_while_no_agent_is_at_work_is_nobodys_business(child: Child, root: Path) -> None:
    make(root, ".mcp.json")
    assert run(child) == ""
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
    assert run(child, "specs/r.md") == ""
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
    time.sleep(0.02)
    give_ticket(child, "toolu_x", write=str(root))
    assert "Remit left it there, because it was there before the command began" in end(child, "toolu_x")
    assert list_quarantine(root) == []
