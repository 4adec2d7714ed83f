"""`remit gc`: what is old goes, what is open or young stays, and what people keep is never touched."""

import fcntl
import json
import os
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Any

import pytest
from inline_snapshot import snapshot

from remit.attempts.folders import make_attempt
from remit.git.worktrees import add_worktree
from remit.ledger.events import read_clock_ms
from remit.ledger.home import Home
from remit.ledger.runs import Run, add_run, advance, load_run
from remit.ledger.texts import write_spill
from remit.storage.supervisor_presence import Presence, is_present
from remit.testing.agent import ScriptedAgent
from tests.support.commands import Ended, Inside, put
from tests.support.file_trees import list_files
from tests.support.git_command import git
from tests.support.initialized_workspace import MANIFEST
from tests.support.task_files import STATE, TODO

DAY_MS = 86_400_000


def load(ended: Ended) -> Any:  # noqa: ANN401 - any JSON value
    return json.loads(ended.out)


def delegate(inside: Inside, name: str, *, days_ago: int, finished: bool = True) -> None:
    home = Home(str(inside.folder))
    created = read_clock_ms() - days_ago * DAY_MS
    add_run(home.ledger, Run(name, "planner", 1, ("orchestrator", "planner"), created_ms=created))
    if finished:
        with home.ledger.transaction() as db:
            advance(db, name, "finished", ended_ms=created + 1000)
    home.close()


def is_known(inside: Inside, name: str) -> bool:
    home = Home(str(inside.folder))
    try:
        return load_run(home.ledger, name) is not None
    finally:
        home.close()


@pytest.fixture(autouse=True)
def _temporary(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """What others have left on this machine is not looked at."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path_factory.mktemp("temporary")))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path_factory.mktemp("config")))


@pytest.fixture
def workspace(inside: Inside) -> Inside:
    """A repository with everything that people keep."""
    git(inside.folder, "init", "-q", "-b", "main")
    put(inside, "specs/state.json", STATE)
    put(inside, "specs/TODO.md", TODO)
    put(inside, "specs/errors.json", '{"errors": []}')
    put(inside, MANIFEST, "{}\n")
    git(inside.folder, "add", "-A")
    git(inside.folder, "commit", "-qm", "one")
    return inside


@pytest.fixture
def gone() -> int:
    """The number of a process that has ended."""
    process = subprocess.Popen(["true"])
    process.wait()
    return process.pid


def test_an_empty_folder_has_nothing_and_gets_nothing(inside: Inside) -> None:
    assert inside("gc").text == snapshot("✓ nothing to remove\n")
    assert load(inside("gc", "--json"))["runs"] == 0
    assert list(inside.folder.iterdir()) == []


def test_old_runs_go_and_everything_else_stays(workspace: Inside) -> None:
    delegate(workspace, "old", days_ago=91)
    delegate(workspace, "open", days_ago=91, finished=False)
    delegate(workspace, "young", days_ago=89)
    home = Home(str(workspace.folder))
    write_spill(home, b"x" * 100_000, session_id="old", kind="answer")
    home.close()
    before = list_files(workspace.folder)
    planned = load(workspace("gc", "--dry-run", "--json"))
    assert (planned["runs"], planned["spills"], planned["dry_run"]) == (1, 1, True)
    assert is_known(workspace, "old")
    ended = workspace("gc")
    assert ended.code == 0
    assert ended.text.startswith("✓ removed: 1 run, 2 events, 1 spill (")
    assert [is_known(workspace, name) for name in ("old", "open", "young")] == [False, True, True]
    assert list_files(workspace.folder) == before
    assert workspace("gc").text == snapshot("✓ nothing to remove\n")


def test_the_settings_say_how_long(workspace: Inside) -> None:
    delegate(workspace, "old", days_ago=5)
    assert load(workspace("gc", "--json"))["runs"] == 0
    workspace.write("remit.toml", "[retention]\ndays = 4\n")
    assert load(workspace("gc", "--json"))["runs"] == 1


def test_files_that_crashes_left_go(workspace: Inside, gone: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("remit.maintenance.leftovers.QUIET_SECONDS", 0.0)
    put(workspace, ".remit/recovered/state.json.abc", "broken")
    put(workspace, ".remit/recovered/young", "broken")
    then = time.time() - 91 * 86_400
    os.utime(workspace.folder / ".remit/recovered/state.json.abc", (then, then))
    mark = f".remit-{gone}-0123abcd"
    left = [f"specs/{mark}-state.json", f"{mark}-remit.toml", f"claudedocs/agent-outputs/{mark}-x"]
    for name in left:
        put(workspace, name, "half")
    kept = put(workspace, f"src/.remit-{gone}-0123abcd-mine", "not where Remit writes")
    time.sleep(0.02)
    planned = load(workspace("gc", "--dry-run", "--json"))
    assert (workspace.folder / left[0]).exists()
    done = load(workspace("gc", "--json"))
    assert sorted(planned["half_written"]) == sorted(done["half_written"]) == sorted(left)
    assert done["recovered"] == [".remit/recovered/state.json.abc"]
    assert done["freed_bytes"] == 4 * len(left) + 6
    assert not any((workspace.folder / name).exists() for name in left)
    assert (workspace.folder / ".remit/recovered/young").exists()
    assert (workspace.folder / kept).exists()


def test_scratch_folders_that_crashes_left_go(workspace: Inside, gone: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("remit.maintenance.leftovers.SCRATCH_SECONDS", 0.0)
    (workspace.folder / ".remit").mkdir()
    folder = Path(tempfile.gettempdir(), f"remit-git-{gone}-0123abcd")
    folder.mkdir(0o700)
    (folder / "HEAD").write_text("ref: x\n")
    time.sleep(0.02)
    planned = load(workspace("gc", "--dry-run", "--json"))
    assert (planned["scratch"], planned["freed_bytes"], folder.exists()) == ([str(folder)], 7, True)
    assert workspace("gc").text == f"✓ removed: 1 scratch folder (7 B)\n  {folder}\n"
    assert not folder.exists()


def test_what_a_crash_left_beside_the_list_of_trusted_workspaces_goes(
    workspace: Inside, gone: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("remit.maintenance.leftovers.QUIET_SECONDS", 0.0)
    (workspace.folder / ".remit").mkdir()
    folder = Path(os.environ["XDG_CONFIG_HOME"], "remit")
    folder.mkdir()
    for name in ("trust.json", f".remit-{gone}-0123abcd-trust.json"):
        (folder / name).write_text("{}")
    time.sleep(0.02)
    assert load(workspace("gc", "--json"))["half_written"] == [f"{folder}/.remit-{gone}-0123abcd-trust.json"]
    assert [file.name for file in folder.iterdir()] == ["trust.json"]


def test_what_cannot_be_searched_is_told_and_the_rest_goes(
    workspace: Inside, gone: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("remit.maintenance.leftovers.QUIET_SECONDS", 0.0)
    (workspace.folder / ".remit").mkdir()
    left = put(workspace, f".remit-{gone}-0123abcd-remit.toml", "half")
    monkeypatch.setenv("XDG_CONFIG_HOME", f"/{'x' * 300}")
    time.sleep(0.02)
    ended = workspace("gc")
    assert ended.code == 1
    assert "can't be searched: file name too long; check the disk" in ended.text
    assert "✓ removed: 1 half-written file" in ended.text
    assert not (workspace.folder / left).exists()


def test_worktrees_of_old_runs_go_and_those_with_young_ones_stay(workspace: Inside) -> None:
    for name, days_ago, finished in (("old", 91, True), ("open", 91, False), ("young", 1, True)):
        delegate(workspace, name, days_ago=days_ago, finished=finished)
        add_worktree(str(workspace.folder), name)
    add_worktree(str(workspace.folder), "unknown")
    assert load(workspace("gc", "--dry-run", "--json"))["worktrees"] == ["old"]
    assert (workspace.folder / ".remit/worktrees/old").exists()
    ended = workspace("gc")
    assert "1 worktree" in ended.text
    assert "  .remit/worktrees/old\n" in ended.text
    assert sorted(path.name for path in (workspace.folder / ".remit/worktrees").iterdir()) == [
        "open",
        "unknown",
        "young",
    ]
    listed = git(workspace.folder, "worktree", "list", "--porcelain")
    assert "/old\n" not in listed
    assert "/young\n" in listed


def test_what_cannot_be_removed_is_told(workspace: Inside, monkeypatch: pytest.MonkeyPatch) -> None:
    delegate(workspace, "old", days_ago=91)
    add_worktree(str(workspace.folder), "old")
    monkeypatch.setenv("PATH", "/nonexistent")
    ended = workspace("gc")
    assert ended.code == 1
    assert ended.text.startswith("✗ can't start git")
    assert (workspace.folder / ".remit/worktrees/old").exists()
    assert not is_known(workspace, "old"), "the rest is done all the same"


def test_settings_that_cannot_be_followed_stop_it(workspace: Inside) -> None:
    delegate(workspace, "old", days_ago=91)
    workspace.write("remit.toml", "[retention]\ndays = 0\n")
    ended = workspace("gc")
    assert (ended.code, "isn't a whole number from 1" in ended.complaint) == (2, True)
    assert is_known(workspace, "old")


def test_the_largest_setting_removes_nothing(workspace: Inside) -> None:
    delegate(workspace, "old", days_ago=91)
    workspace.write("remit.toml", "[retention]\ndays = 1000000\nmegabytes = 1000000\n")
    assert workspace("gc").code == 0
    assert is_known(workspace, "old")


# What agents and supervisors leave


def make_session(inside: Inside, name: str, *, hours_ago: float = 0.0) -> Path:
    """The folder of a session, as if an agent had printed something."""
    home = Home(str(inside.folder))
    folder = Path(make_attempt(home, name, 1).folder)
    home.close()
    (folder / "out").write_bytes(b"x" * 5000)
    when = time.time() - hours_ago * 3600
    os.utime(folder.parent, (when, when))
    return folder


def test_the_folder_of_a_forgotten_session_goes_with_it(workspace: Inside) -> None:
    for name, days in (("sess_old", 100), ("sess_young", 1)):
        delegate(workspace, name, days_ago=days)
    old, young = make_session(workspace, "sess_old"), make_session(workspace, "sess_young")
    planned = load(workspace("gc", "--dry-run", "--json"))
    assert old.exists()
    done = load(workspace("gc", "--json"))
    assert done["folders"] == planned["folders"] == 1
    assert done["freed_bytes"] == planned["freed_bytes"] > 5000
    assert not old.parent.exists()
    assert young.exists()


def test_what_is_alive_is_never_forgotten(workspace: Inside) -> None:
    delegate(workspace, "sess_old", days_ago=100)
    folder = make_session(workspace, "sess_old", hours_ago=48)
    stray = make_session(workspace, "sess_stray", hours_ago=48)
    living = workspace.folder / ".remit" / "living"
    living.mkdir()
    handles = []
    for each in (folder, stray):
        (living / f"{each.parent.name}.1").touch()
        handles.append(os.open(each, os.O_RDONLY))
        fcntl.flock(handles[-1], fcntl.LOCK_EX)
    try:
        assert load(workspace("gc", "--json"))["folders"] == 0
        assert is_known(workspace, "sess_old")
        assert folder.exists()
        assert stray.exists()
    finally:
        for handle in handles:
            os.close(handle)
    assert load(workspace("gc", "--json"))["folders"] == 2
    assert not is_known(workspace, "sess_old")


def test_a_folder_that_no_row_names_goes_after_a_day(workspace: Inside) -> None:
    delegate(workspace, "sess_young", days_ago=1)
    stray, fresh = make_session(workspace, "sess_a", hours_ago=48), make_session(workspace, "sess_b", hours_ago=2)
    young = make_session(workspace, "sess_young", hours_ago=48)
    ended = workspace("gc")
    assert "1 session folder" in ended.text
    assert not stray.parent.exists()
    assert fresh.exists()
    assert young.exists()


def test_large_output_counts_as_much_as_rows(workspace: Inside) -> None:
    put(workspace, "remit.toml", "[retention]\nmegabytes = 1\n")
    for name, days in (("sess_older", 3), ("sess_newer", 2)):
        delegate(workspace, name, days_ago=days)
        (make_session(workspace, name) / "out").write_bytes(b"x" * 800_000)
    assert load(workspace("gc", "--json"))["runs"] == 1
    assert not is_known(workspace, "sess_older")
    assert is_known(workspace, "sess_newer")


def test_brokers_that_were_killed_and_trees_of_folders_that_are_gone_go(workspace: Inside) -> None:
    delegate(workspace, "sess_young", days_ago=1)
    home = Home(str(workspace.folder))
    present = Presence(home)
    departed = Path(home.make_folder("supervisors")) / "1-abc.lock"
    departed.touch()
    place = Path(home.make_folder("evidence/0123456789abcdef"))
    (place / "folder").write_text(f"{workspace.folder}/gone")
    try:
        told = load(workspace("gc", "--json"))
        assert (told["supervisors"], told["trees"]) == (1, 0)
        assert not departed.exists()
        assert is_present(home, present.id)
    finally:
        present.end()
        home.close()
    os.utime(place, (time.time() - 2 * 86400,) * 2)
    assert load(workspace("gc", "--json"))["trees"] == 1
    assert not place.exists()


def test_where_brokers_cannot_be_counted_that_is_told_and_the_rest_goes(workspace: Inside) -> None:
    delegate(workspace, "sess_old", days_ago=400)
    put(workspace, ".remit/supervisors", "no folder")
    ended = workspace("gc")
    assert ended.code == 1
    assert ".remit/supervisors" in ended.text
    assert "this is a bug" not in ended.text
    assert "✓ removed: 1 run" in ended.text


def test_a_worktree_whose_work_is_on_a_branch_goes_at_once(workspace: Inside) -> None:
    for name in ("sess_done", "sess_part", "sess_bare", "sess_used"):
        delegate(workspace, name, days_ago=1, finished=False)
        add_worktree(str(workspace.folder), name)
        home = Home(str(workspace.folder))
        with home.ledger.transaction() as db:
            status = "partial" if name == "sess_part" else "completed"
            advance(db, name, "finished", ended_ms=read_clock_ms(), status=status)
        home.close()
        if name != "sess_bare":
            git(workspace.folder, "branch", f"remit/{name}")
    home = Home(str(workspace.folder))
    path = ("orchestrator", "planner")
    add_run(home.ledger, Run("sess_goes_on", "planner", 1, path, details={"worktree": "sess_used"}))
    home.close()
    assert load(workspace("gc", "--json"))["worktrees"] == ["sess_done"]
    left = sorted(each.name for each in (workspace.folder / ".remit" / "worktrees").iterdir())
    assert left == ["sess_bare", "sess_part", "sess_used"]


def isolate(inside: Inside, agent: ScriptedAgent, files: dict[str, str]) -> Path:
    """Have an agent make files in a worktree of its own; the worktree."""
    git(inside.folder, "config", "user.name", "x")
    git(inside.folder, "config", "user.email", "x@x")
    put(inside, ".gitignore", "ignored/\n.remit/\n")
    git(inside.folder, "add", ".gitignore")
    git(inside.folder, "commit", "-qm", "two")
    command = agent.obeys(files).command
    told = load(inside("run", "Write it.", "--command", command, "--worktree", "--json"))
    assert told["status"] == "completed"
    return Path(inside.folder, ".remit/worktrees", told["remit"]["session_id"])


def test_a_worktree_with_claimed_files_on_no_branch_stays_and_is_named(workspace: Inside, agent: ScriptedAgent) -> None:
    worktree = isolate(workspace, agent, {"ok.md": "Done.\n", "ignored/n.txt": "The real work.\n"})
    ended = workspace("gc")
    assert ended.code == 0
    shown = f"! .remit/worktrees/{worktree.name} was kept, because no branch has its changes: ignored/n.txt\n"
    assert ended.text.startswith(shown)
    told = load(workspace("gc", "--json"))
    assert (told["worktrees"], told["kept"]) == ([], {worktree.name: ["ignored/n.txt"]})
    assert (worktree / "ignored/n.txt").exists()
    (worktree / "ignored/n.txt").unlink()
    assert load(workspace("gc", "--json"))["worktrees"] == [worktree.name]


def test_what_is_on_its_branch_goes_and_what_was_changed_since_does_not(
    workspace: Inside, agent: ScriptedAgent
) -> None:
    worktree = isolate(workspace, agent, {"ok.md": "Done.\n"})
    (worktree / "ignored").mkdir()
    (worktree / "ignored/cache").write_text("nobody's work")
    for name in ("ok.md", "new.md"):
        (worktree / name).write_text("by hand")
    assert load(workspace("gc", "--json"))["kept"] == {worktree.name: ["new.md", "ok.md"]}
    git(worktree, "add", "new.md")  # to stage it is not to commit it
    assert load(workspace("gc", "--json"))["kept"] == {worktree.name: ["new.md", "ok.md"]}
    git(worktree, "commit", "-qam", "more")
    (held,) = load(workspace("gc", "--json"))["kept"][worktree.name]
    assert held.startswith("commit ")
    git(worktree, "branch", "mine")
    assert load(workspace("gc", "--json"))["worktrees"] == [worktree.name]


def test_a_worktree_is_as_old_as_the_last_who_worked_there(workspace: Inside) -> None:
    delegate(workspace, "sess_first", days_ago=91)
    add_worktree(str(workspace.folder), "sess_first")
    home = Home(str(workspace.folder))
    row = Run("sess_second", "planner", 1, ("orchestrator", "planner"), details={"worktree": "sess_first"})
    add_run(home.ledger, row)
    with home.ledger.transaction() as db:
        advance(db, "sess_second", "finished", ended_ms=read_clock_ms(), status="partial")
    home.close()
    assert load(workspace("gc", "--json"))["worktrees"] == []
