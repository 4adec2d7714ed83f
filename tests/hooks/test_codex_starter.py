"""The first line of a command in Codex: it starts the rest in the shell that takes the ticket."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from remit.confine import Profile, find_level, make_command
from remit.hooks import command_tickets as tickets
from remit.hooks.command_shell import install_shells
from remit.ledger.home import Home

COMMAND = "echo $0 $#; echo x > open/x; echo x > closed; nosuch; exit 5"


@pytest.fixture
def root(tmp_path: Path) -> str:
    """A workspace, in a folder with a name that has to be quoted, and one folder that may be written."""
    folder = tmp_path.resolve() / "it's here"
    (folder / "open").mkdir(parents=True)
    install_shells(Home(str(folder)), os.environ)
    return str(folder)


def give(root: str) -> str:
    """A ticket for a command that may write to one folder."""
    if not find_level().has_files:
        pytest.skip("the kernel confines nothing here")
    profile = Profile(write=(f"{root}/open",), keeps_inside=False)
    tickets.keep_profile(root, "profile", profile.render())
    return tickets.give_ticket(root, "profile")


def run(root: str, *words: str) -> subprocess.CompletedProcess[str]:
    """Run a command there."""
    environ = {"PATH": os.environ["PATH"], "HOME": root}
    return subprocess.run(words, cwd=root, env=environ, capture_output=True, text=True, check=False, timeout=60)


@pytest.mark.parametrize("shell", ["bash", "zsh"])
def test_the_rest_runs_within_the_limits_of_the_ticket(root: str, shell: str) -> None:
    if shutil.which(shell) is None:
        pytest.skip(f"there is no {shell}")
    ticket = give(root)
    ran = run(root, shell, "-c", tickets.start(COMMAND, ticket, root))
    assert ran.returncode == 5, ran
    assert ran.stdout.endswith(f"/{shell} 0\n")
    assert "read-only file system" in ran.stderr.lower()
    assert "1: " in ran.stderr  # the command's own lines are counted
    assert Path(root, "open", "x").exists()
    assert not Path(root, "closed").exists()
    again = run(root, shell, "-c", tickets.start("echo again", ticket, root))
    assert (again.returncode, again.stdout) == (126, "")
    assert "its ticket was taken before" in again.stderr


def test_in_a_sandbox_that_lets_nothing_be_written_the_limits_are_added(root: str) -> None:
    ticket = give(root)
    Path(root, "sandbox").write_bytes(Profile(keeps_inside=False).render())
    ran = run(root, *make_command(f"{root}/sandbox", ["bash", "-c", tickets.start(COMMAND, ticket, root)]))
    assert ran.returncode == 5, ran
    assert not Path(root, "open", "x").exists()
    assert not tickets.was_taken(root, ticket)
    assert tickets.is_given(root, ticket)


def test_nothing_runs_in_another_shell_or_without_the_file(root: str) -> None:
    command = tickets.start(COMMAND, tickets.give_ticket(root), root)
    other = run(root, "sh", "-c", command)
    assert (other.returncode, other.stdout) == (126, "") or Path("/bin/sh").resolve().name == "bash"
    Path(root, tickets.FOLDER, "bash").unlink()
    assert run(root, "bash", "-c", command).returncode == 126
    Path(root, tickets.FOLDER, "codex").unlink()
    assert run(root, "bash", "-c", command).returncode == 126
    assert [*Path(root, "open").iterdir()] == []
    assert not Path(root, "closed").exists()


def test_the_ticket_of_a_command_is_found(root: str) -> None:
    ticket = tickets.give_ticket(root)
    assert tickets.find_start(tickets.start("ls\npwd", ticket, root)) == ticket
    assert tickets.find_start("ls\npwd") == ""
    assert tickets.find_start(f"echo {ticket} || exit 126\nls") == ""
    assert tickets.is_given(root, ticket)
    tickets.remove_ticket(root, ticket)
    assert not tickets.is_given(root, ticket)
    assert not tickets.is_given(root, "../rules")
