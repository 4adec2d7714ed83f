"""The shell that a harness starts for commands: it takes tickets, and becomes the real shell, free or confined."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

from remit.confine import Profile, find_level
from remit.hooks import command_tickets as tickets
from remit.hooks.command_shell import choose_shell, find_outdated, install_shells, render_shell
from remit.ledger.home import Home
from remit.maintenance import gc

SESSION = "0b6a5f3e-5e6b-4c59-9f5e-0c3a4c3f2b11"
WITHOUT = "it has no ticket"


class Place:
    """A workspace with the shell installed, and a way to run commands as Claude Code does."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.root = str(folder)
        self.environ = {"PATH": os.environ["PATH"], "HOME": os.environ["HOME"], "SHELL": "/bin/bash"}
        install_shells(Home(self.root), self.environ)

    def run(
        self, command: str, ticket: str = "", *, session: str = SESSION, **environ: str
    ) -> subprocess.CompletedProcess[str]:
        """Run a command in the form that Claude Code gives it to its shell."""
        signed = tickets.sign(command, ticket) if ticket else command
        quoted = "'" + signed.replace("'", "'\"'\"'") + "'"
        words = [f"{self.root}/.remit/confine/bash", "-c", f"eval {quoted} < /dev/null"]
        own = self.environ | {"CLAUDE_CODE_SESSION_ID": session} | environ
        own = {name: value for name, value in own.items() if value}
        return subprocess.run(words, cwd=self.folder, env=own, capture_output=True, text=True, check=False, timeout=60)

    def confine(self, *write: str) -> str:
        """Return a ticket for a command that may write to some folders only."""
        folders = tuple(f"{self.root}/{each}" for each in write)
        tickets.make_folders(folders)
        profile = Profile(write=folders, hide=(f"{self.root}/.remit/confine/tickets",), keeps_inside=False)
        tickets.keep_profile(self.root, "profile", profile.render())
        return tickets.give_ticket(self.root, "profile")


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path.resolve())


@pytest.fixture
def level() -> None:
    if not find_level().has_files:
        pytest.skip("this machine's kernel confines nothing")


def test_a_free_command_is_the_shell_itself(place: Place) -> None:
    command = 'echo "out $0 $#"; echo err >&2; (exit 7)'
    bare = subprocess.run(["/bin/bash", "-c", f"eval '{command}'"], capture_output=True, text=True, check=False)
    ran = place.run(command, tickets.give_ticket(place.root))
    assert (ran.returncode, ran.stdout, ran.stderr) == (
        7,
        bare.stdout.replace("/bin/bash", ran.stdout.split()[1]),
        "err\n",
    )
    assert place.run("echo $SHELL", tickets.give_ticket(place.root)).stdout == "/bin/bash\n"


def test_a_ticket_is_taken_once(place: Place) -> None:
    ticket = tickets.give_ticket(place.root)
    tickets.open_session(place.root, SESSION, SESSION)
    assert place.run("echo ran", ticket).stdout == "ran\n"
    again = place.run("echo ran", ticket)
    assert (again.returncode, again.stdout, WITHOUT in again.stderr) == (126, "", True)
    assert tickets.remove_ticket(place.root, ticket)
    gone = place.run("echo ran", ticket)
    assert (gone.returncode, gone.stdout) == (126, "")


def test_of_many_shells_one_has_the_ticket(place: Place) -> None:
    ticket = tickets.give_ticket(place.root)
    tickets.open_session(place.root, SESSION, SESSION)
    words = [f"{place.root}/.remit/confine/bash", "-c", f"eval '{tickets.SIGN}{ticket}\necho ran'"]
    environ = place.environ | {"CLAUDE_CODE_SESSION_ID": SESSION}
    started = [subprocess.Popen(words, env=environ, stdout=subprocess.PIPE, stderr=subprocess.PIPE) for _ in range(12)]
    said = [process.communicate(timeout=60)[0] for process in started]
    assert sorted(said)[-2:] == [b"", b"ran\n"]


def test_without_a_ticket_nothing_runs_while_an_agent_is_at_work(place: Place) -> None:
    assert place.run("echo ran").stdout == "ran\n"
    tickets.open_session(place.root, SESSION, SESSION)
    refused = place.run("touch made")
    assert (refused.returncode, WITHOUT in refused.stderr, refused.stderr.count("\n")) == (126, True, 1)
    assert not (place.folder / "made").exists()
    assert place.run("echo ran", session="another-session").stdout == "ran\n"
    assert place.run("echo ran", session="").returncode == 126  # which session it is isn't known
    tickets.close_session(place.root, SESSION)
    assert place.run("echo ran").stdout == place.run("echo ran", session="").stdout == "ran\n"


def test_a_session_is_known_by_both_of_its_names(place: Place) -> None:
    tickets.open_session(place.root, SESSION, "as-its-shells-call-it")
    assert place.run("echo ran").returncode == place.run("echo ran", session="as-its-shells-call-it").returncode == 126
    tickets.close_session(place.root, SESSION)
    assert place.run("echo ran").returncode == place.run("echo ran", session="as-its-shells-call-it").returncode == 0


@pytest.mark.parametrize("forged", ["0" * 32, "0" * 31, "../../etc/passwd", "A" * 32, "", "0" * 33])
def test_a_made_up_ticket_is_none(place: Place, forged: str) -> None:
    tickets.open_session(place.root, SESSION, SESSION)
    assert place.run(f"# remit:{forged}\necho ran").returncode == 126
    assert place.run("echo ran", REMIT_COMMAND_TICKET=forged).returncode == 126


@pytest.mark.usefixtures("level")
def test_a_confined_command_writes_only_where_its_profile_says(place: Place) -> None:
    (place.folder / "script").write_text("echo no > outside; echo yes > src/inside")
    ran = place.run("sh script; echo $?; exit 5", place.confine("src"))
    assert (ran.returncode, ran.stdout) == (5, "0\n")
    assert "Read-only" in ran.stderr
    assert not (place.folder / "outside").exists()
    assert (place.folder / "src/inside").read_text() == "yes\n"


@pytest.mark.usefixtures("level")
def test_a_confined_command_gains_nothing_by_tickets(place: Place) -> None:
    """The first ticket counts, and a command that is confined sees no others."""
    free = tickets.give_ticket(place.root)
    shell = f"{place.root}/.remit/confine/bash"
    script = (
        f"# remit:{free}\nls {place.root}/.remit/confine/tickets; "
        f"{shell} -c \"eval '# remit:{free}\ntouch outside'\"; "
        f"REMIT_COMMAND_TICKET={free} {shell} -c 'touch outside'"
    )
    ran = place.run(script, place.confine("src"))
    assert (ran.stdout, ran.stderr.count("Read-only")) == ("", 1)
    assert "its ticket was taken before" in ran.stderr  # a ticket by itself says that its command is to be limited
    assert not (place.folder / "outside").exists()
    assert not tickets.was_taken(place.root, free)


def test_the_same_command_may_start_the_shell_again(place: Place) -> None:
    """The harness's own sandbox starts it once more, with the same text."""
    ticket = tickets.give_ticket(place.root)
    tickets.open_session(place.root, SESSION, SESSION)
    inner = f"{place.root}/.remit/confine/bash -c \"eval '# remit:{ticket}\necho inner'\""
    assert place.run(inner, ticket).stdout == "inner\n"
    assert place.run(inner).returncode == 126


def test_without_remit_the_users_shell_works(place: Place) -> None:
    """The file is all that a free command needs; a confined one isn't run without its launcher."""
    file = place.folder / ".remit/confine/bash"
    assert sys.executable in file.read_text()
    file.write_text(file.read_text().replace(sys.executable, "/gone/python"))
    assert place.run("echo ran").stdout == "ran\n"
    assert place.run("echo ran", tickets.give_ticket(place.root)).stdout == "ran\n"
    ran = place.run("echo ran", place.confine("src"))
    assert (ran.returncode, ran.stdout, "Remit's launcher is gone" in ran.stderr) == (126, "", True)
    shutil.rmtree(place.folder / ".remit/confine/tickets")
    assert place.run("echo ran").stdout == "ran\n"


def test_uninstalled_it_lets_everything_run(place: Place) -> None:
    tickets.open_session(place.root, SESSION, "other-name")
    tickets.keep_rules(place.root, "{}")
    tickets.stop(place.root)
    assert (place.run("echo ran").stdout, tickets.has_rules(place.root)) == ("ran\n", False)


def test_old_tickets_are_swept(place: Place) -> None:
    old, new = tickets.give_ticket(place.root), tickets.give_ticket(place.root)
    before = time.time() - tickets.MAX_AGE_S - 60
    os.utime(f"{place.root}/{tickets.FOLDER}/tickets/{old}", (before, before))
    tickets.sweep(place.root)
    assert [each.name for each in (place.folder / tickets.FOLDER / "tickets").iterdir()] == [new]


def test_gc_removes_old_tickets(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REMIT_ROOT", place.root)
    old, new = (f"{place.root}/{tickets.FOLDER}/tickets/{tickets.give_ticket(place.root)}" for _ in range(2))
    before = time.time() - tickets.MAX_AGE_S - 60
    os.utime(old, (before, before))
    gc.clear_up()
    assert [Path(each).exists() for each in (old, new)] == [False, True]


def test_a_profile_is_made_again_when_its_places_change(place: Place) -> None:
    place.confine("src")
    assert tickets.has_profile(place.root, "profile")
    (place.folder / "src").rmdir()
    assert not tickets.has_profile(place.root, "profile")
    data = Profile(write=(place.root,)).render()
    tickets.keep_profile(place.root, "profile", data, (f"{place.root}/later.md",))
    assert tickets.has_profile(place.root, "profile")
    (place.folder / "later.md").touch()
    assert not tickets.has_profile(place.root, "profile")


def test_a_signed_command_is_split(place: Place) -> None:
    ticket = tickets.give_ticket(place.root)
    assert tickets.split(tickets.sign("ls\npwd", ticket)) == (ticket, "ls\npwd")
    assert tickets.split("# remit:none\nls") == ("", "# remit:none\nls")
    assert tickets.split(f"# remit:{ticket}") == ("", f"# remit:{ticket}")


def test_the_shell_is_the_one_that_the_harness_would_take(tmp_path: Path) -> None:
    for kind in ("bash", "zsh"):
        (tmp_path / kind).write_text("#!/bin/sh\n")
        (tmp_path / kind).chmod(0o755)
    environ = {"PATH": str(tmp_path)}
    chosen = [choose_shell("/w", environ | {"SHELL": shell}) for shell in ("/bin/bash", f"{tmp_path}/zsh", "/bin/fish")]
    assert [each.rpartition("/")[2] for each in chosen] == ["bash", "zsh", "zsh"]
    assert f"real={tmp_path}/zsh" in render_shell("/w", "zsh", environ)


def test_an_outdated_shell_is_found(place: Place) -> None:
    assert find_outdated(place.root, place.environ) == ""
    file = place.folder / ".remit/confine/bash"
    file.write_text(file.read_text() + "\n")
    assert find_outdated(place.root, place.environ) == str(file)
