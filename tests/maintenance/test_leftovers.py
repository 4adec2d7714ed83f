"""Leftovers: what nobody needs is found and removed, and nothing else ever is."""

from __future__ import annotations

import os
import subprocess
import tempfile
import time
from typing import TYPE_CHECKING

import pytest

from remit.git.commits import commit_paths
from remit.ledger.home import Home
from remit.ledger.journal import FileChange, write_together
from remit.ledger.texts import find_spill, load_spill, write_spill
from remit.maintenance.leftovers import (
    Leftover,
    clear,
    clear_scratch,
    clear_spills,
    find_half_written,
    find_recovered,
    find_scratch,
    find_stray_spills,
)
from tests.support.git_checkout import make_checkout
from tests.support.kill_points import run_and_die

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

DAY = 86_400


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Home]:
    found = Home(str(tmp_path))
    found.make_folder()
    yield found
    found.close()


@pytest.fixture
def gone() -> int:
    """The number of a process that has ended."""
    process = subprocess.Popen(["true"])
    process.wait()
    return process.pid


def make_old(*files: Path, days: float = 1.0) -> None:
    """Have been written a while ago. What the file system itself notes cannot be set back, so the limit is."""
    for file in files:
        then = time.time() - days * DAY
        os.utime(file, (then, then), follow_symlinks=False)


@pytest.fixture(autouse=True)
def quiet_for_a_moment(monkeypatch: pytest.MonkeyPatch) -> None:
    """The time of a change cannot be set back, so the wait is made short."""
    monkeypatch.setattr("remit.maintenance.leftovers.QUIET_SECONDS", 0.0)


def find(home: Home, *, folders: tuple[str, ...] = (), trees: tuple[str, ...] = ()) -> list[str]:
    time.sleep(0.02)
    below, deep = ([f"{home.root}/{each}" for each in places] for places in (folders, trees))
    found = find_half_written(home, folders=below, trees=deep, failures=[])
    return [name(home, each) for each in found]


def name(home: Home, each: Leftover) -> str:
    return each.file.removeprefix(f"{home.root}/")


def test_files_that_a_killed_process_was_writing_are_found(home: Home, tmp_path: Path, gone: int) -> None:
    for place in ("specs/deep", "other/deep", ".remit/cache", ".remit/worktrees/x"):
        (tmp_path / place).mkdir(parents=True)
        (tmp_path / place / f".remit-{gone}-0123abcd-a.json").write_text("half")
    (tmp_path / f".remit-{gone}-0123abcd-b.md").write_text("half")
    (tmp_path / f"other/.remit-{gone}-0123abcd-b.md").write_text("half")
    assert find(home, folders=(".", "other"), trees=("specs",)) == [
        f"./.remit-{gone}-0123abcd-b.md",
        f".remit/cache/.remit-{gone}-0123abcd-a.json",
        f"other/.remit-{gone}-0123abcd-b.md",
        f"specs/deep/.remit-{gone}-0123abcd-a.json",
    ]


def test_other_files_are_not(home: Home, tmp_path: Path, gone: int) -> None:
    folder = tmp_path / ".remit"
    alive = os.getpid()
    names = [f".remit-{alive}-0123abcd-a", f"remit-{gone}-0123abcd-a", f".remit-{gone}-0123ABCD-a",
             ".remit-0-0123abcd-a", f".remit-{gone}-0123abc-a", f".remit-x{gone}-0123abcd-a",
             f".remit-{gone}-0123abcd-{'a' * 41}", ".a.remit", f".a.{gone}.0123abcd", ".remit", "x.remit",
             ".remit-0123abcd", "ledger.db"]  # fmt: skip
    for each in names:
        (folder / each).write_text("x")
    (folder / f".remit-{gone}-0123abcd-folder").mkdir()
    os.mkfifo(folder / f".remit-{gone}-0123abcd-pipe")
    (folder / f".remit-{gone}-0123abcd-link").symlink_to(folder / "x.remit")
    (folder / "ledger.db").unlink()
    assert find(home) == []


def test_no_link_leads_out(home: Home, tmp_path: Path, gone: int) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / f".remit-{gone}-0123abcd-a").write_text("x")
    (tmp_path / "specs").symlink_to(outside)
    (tmp_path / ".remit/inner").symlink_to(outside)
    assert find(home, folders=("specs",), trees=("specs",)) == []


def test_what_was_touched_a_moment_ago_stays(
    home: Home, tmp_path: Path, gone: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("remit.maintenance.leftovers.QUIET_SECONDS", 3600.0)
    (tmp_path / f".remit/.remit-{gone}-0123abcd-a").write_text("x")
    make_old(tmp_path / f".remit/.remit-{gone}-0123abcd-a")
    assert find(home) == [], "its content is old, but it was renamed or linked just now"


def test_what_the_journal_will_put_in_place_is_kept_until_it_has(home: Home, tmp_path: Path) -> None:
    (tmp_path / "a").write_text("old")

    def change() -> None:
        write_together(Home(str(tmp_path)), [FileChange("a", b"old", b"new")], kind="test")

    waits = []
    for step in range(1, 60):
        if not run_and_die(change, at=step):
            break
        found = find(home)
        pending = [file.name for file in (tmp_path / ".remit/pending").glob("*")]
        waits.append((found, pending))
        (tmp_path / "a").write_text("old")
        for file in (tmp_path / ".remit").glob("ledger.db*"):
            file.unlink()
        for file in (tmp_path / ".remit/pending").glob("*"):
            file.unlink()
    assert any(pending and found for found, pending in waits), "killed before the ledger knew of it: nobody needs it"
    assert any(pending and not found for found, pending in waits), "killed after that: it is needed"


def test_originals_are_kept_for_their_days(home: Home, tmp_path: Path) -> None:
    folder = tmp_path / ".remit/recovered"
    assert find_recovered(home, days=90, failures=[]) == []
    folder.mkdir()
    for each in ("old", "young", "link"):
        (folder / each).write_text(each)
    (folder / "link").unlink()
    (folder / "link").symlink_to(folder / "old")
    (folder / "folder").mkdir()
    make_old(folder / "old", folder / "folder", folder / "link", days=91)
    make_old(folder / "young", days=89)
    assert [name(home, each) for each in find_recovered(home, days=90, failures=[])] == [".remit/recovered/old"]


def test_spills_that_no_row_names_are_found(home: Home, tmp_path: Path) -> None:
    assert find_stray_spills(home, []) == []
    kept = find_spill(home, write_spill(home, b"kept", session_id="s", kind="answer"))
    stray = find_spill(home, write_spill(home, b"stray", session_id="t", kind="answer"))
    with home.ledger.transaction() as db:
        db.execute("DELETE FROM spills WHERE session_id = 't'")
    (tmp_path / ".remit/spills/aa").mkdir()
    os.mkfifo(tmp_path / ".remit/spills/aa/aaaa")
    time.sleep(0.02)
    found = find_stray_spills(home, [])
    assert [each.file for each in found] == [stray]
    assert clear_spills(home, [*found, found[0]._replace(file=kept)], []) == found
    assert (os.path.exists(stray), os.path.exists(kept)) == (False, True)  # noqa: PTH110 - as the room names them


def test_a_spill_that_is_named_again_meanwhile_stays(home: Home) -> None:
    stray = find_spill(home, write_spill(home, b"stray", session_id="t", kind="answer"))
    with home.ledger.transaction() as db:
        db.execute("DELETE FROM spills")
    time.sleep(0.02)
    found = find_stray_spills(home, [])
    write_spill(home, b"stray", session_id="u", kind="answer")
    assert [each.file for each in found] == [stray]
    assert clear_spills(home, found, []) == []
    assert load_spill(home, os.path.basename(stray)) == b"stray"  # noqa: PTH119 - as the room names it


def test_what_is_cleared_is_gone_and_the_rest_is_told(home: Home, tmp_path: Path, gone: int) -> None:
    file = tmp_path / f".remit/.remit-{gone}-0123abcd-a"
    file.write_text("half")
    time.sleep(0.02)
    found = find_half_written(home, folders=(), trees=(), failures=[])
    folder = found[0]._replace(file=str(tmp_path / ".remit"))
    assert clear([*found, folder], []) == found
    assert not file.exists()
    assert found[0].size_bytes == 4


# Scratch folders of git


@pytest.fixture
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder for what is temporary, for this test alone."""
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    return folder


def make_scratch(folder: Path, mode: int = 0o700) -> Path:
    folder.mkdir()
    (folder / "objects").mkdir()
    (folder / "HEAD").write_text("ref: x\n")
    (folder / "objects/one").write_bytes(b"x" * 100)
    (folder / "index").symlink_to("/nowhere")
    folder.chmod(mode)
    return folder


@pytest.mark.thorough
def test_the_scratch_folder_of_a_commit_that_was_killed_goes_after_a_day(
    tmp_path: Path, temporary: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    checkout = make_checkout(tmp_path / "project")
    checkout.put("a.md", "two\n")
    step = 1
    while not list(temporary.iterdir()):
        assert run_and_die(lambda: commit_paths(str(checkout.root), ["a.md"], "x"), at=step)
        step += 1
    left = [str(folder) for folder in temporary.iterdir()]
    assert find_scratch([]) == []
    monkeypatch.setattr("remit.maintenance.leftovers.SCRATCH_SECONDS", 0.0)
    time.sleep(0.02)
    found = find_scratch([])
    assert [each.file for each in found] == left
    assert clear_scratch(found, []) == found
    assert list(temporary.iterdir()) == []


def test_what_is_no_scratch_folder_of_ours_stays(
    tmp_path: Path, temporary: Path, gone: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("remit.maintenance.leftovers.SCRATCH_SECONDS", 0.0)
    good = make_scratch(temporary / f"remit-git-{gone}-abcd_123")
    outside = make_scratch(tmp_path / "outside")
    (good / "out").symlink_to(outside)
    make_scratch(temporary / f"remit-git-{os.getpid()}-abcd_123")
    make_scratch(temporary / f"remit-git-{gone}-abcd_456", mode=0o755)
    make_scratch(temporary / f"remit-git-{gone}-abcd_1234")
    make_scratch(temporary / "remit-git-checkout")
    (temporary / f"remit-git-{gone}-abcd_789").write_text("a file")
    (temporary / f"remit-git-{gone}-abcd_000").symlink_to(outside)
    kept = sorted(path.name for path in temporary.iterdir() if path != good)
    time.sleep(0.02)
    assert clear_scratch(find_scratch([]), []) == [Leftover(str(good), 7 + 100 + len("/nowhere"))]
    assert sorted(path.name for path in temporary.iterdir()) == kept
    assert (outside / "objects/one").exists()


def test_without_a_folder_for_what_is_temporary_there_is_no_scratch(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "nowhere"))
    assert find_scratch([]) == []


def test_what_cannot_be_removed_is_told(home: Home) -> None:
    folder = Leftover(home.make_folder("kept"), 0)
    failures: list[str] = []
    assert clear([folder, Leftover(f"{home.root}/nothing", 0)], failures) == [Leftover(f"{home.root}/nothing", 0)]
    (told,) = failures
    assert told.startswith(f"'{folder.file}' can't be removed: ")
    assert told.endswith("; check the disk and the permissions, then try again")


def test_what_waits_is_kept_and_told_where_the_ledger_cannot_be_read(home: Home, tmp_path: Path) -> None:
    waiting = tmp_path / ".remit-0123456789ab"
    waiting.write_text("next")
    (tmp_path / ".remit/ledger.db").write_text("no database, but long enough to be looked at " * 20)
    time.sleep(0.02)
    failures: list[str] = []
    assert find_half_written(home, folders=(home.root,), trees=(), failures=failures) == []
    assert failures == [
        f"'{waiting}' may be needed, because the ledger can't be read: file is not a database; run remit doctor"
    ]
