"""Inside: nothing is written outside the workspace, whatever is exchanged on the way."""

from __future__ import annotations

import os
import shutil
import threading
import time
from contextlib import suppress
from typing import TYPE_CHECKING

import pytest

from remit.errors import RemitError
from remit.ledger.home import Home
from remit.ledger.journal import FileChange, finish_interrupted, write_together
from remit.storage.safe_path import find_inside, name_below, open_folder, replace_inside
from remit.tasks.store import TaskStore

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


def make(folder: Path) -> tuple[Path, Path]:
    root, outside = folder / "root", folder / "outside"
    (root / "specs").mkdir(parents=True)
    outside.mkdir()
    return root, outside


@pytest.mark.parametrize(
    ("root", "path", "name"),
    [
        ("/w", "/w/a/b", "a/b"),
        ("/w/", "/w/a", "a"),
        ("/", "/a", "a"),
        ("/w", "/w", ""),
        ("/w", "/w/", ""),
        ("/", "/", ""),
        ("/w", "/wide/a", None),
        ("/w/in", "/w", None),
        ("/w", "w/a", None),
    ],
)
def test_a_path_is_called_by_what_follows_the_root(root: str, path: str, name: str | None) -> None:
    assert name_below(root, path) == name


@pytest.mark.parametrize("path", ["../a", "/etc/passwd", "out/a", ".git/config", "a/.remit/x", "a\0b", ".", "loop/a"])
def test_what_leads_elsewhere_has_no_place(tmp_path: Path, path: str) -> None:
    root, outside = make(tmp_path)
    (root / "out").symlink_to(outside)
    (root / "loop").symlink_to(root / "loop")
    found = find_inside(str(root), path)
    assert found is None or not os.path.lexists(root / found)
    if found is None:
        with pytest.raises(OSError, match="outside the workspace"):
            replace_inside(str(root), path, b"x", before=None)
    assert list(outside.iterdir()) == []


def test_a_link_inside_is_followed_to_where_it_ends(tmp_path: Path) -> None:
    root, _ = make(tmp_path)
    (root / "tasks").symlink_to("specs")
    assert find_inside(str(root), "tasks/new/a.md") == "specs/new/a.md"
    replace_inside(str(root), "tasks/new/a.md", b"x", before=None)
    assert (root / "specs" / "new" / "a.md").read_bytes() == b"x"


def test_no_step_is_made_through_a_link(tmp_path: Path) -> None:
    root, outside = make(tmp_path)
    (root / "out").symlink_to(outside)
    with pytest.raises(OSError, match=r"Not a directory|Too many levels"):
        open_folder(str(root), "out")


def exchange(folder: Path, outside: Path, stop: threading.Event, count: list[int]) -> None:
    """Put a link in a folder's place and take it away again, over and over."""
    aside, link = folder.with_name("aside"), folder.with_name("link")
    while not stop.is_set():
        try:
            link.symlink_to(outside)
            folder.rename(aside)
            link.rename(folder)
            folder.unlink()
            aside.rename(folder)
            count[0] += 1
        except OSError:  # the folder was made anew meanwhile
            link.unlink(missing_ok=True)
            if folder.is_symlink():
                folder.unlink()
            if aside.exists():
                shutil.rmtree(folder, ignore_errors=True)
                with suppress(OSError):
                    aside.rename(folder)


def load(root: Path, name: str) -> bytes | None:
    """A file of the folder that is exchanged, as whoever replaces it has read it."""
    with suppress(OSError):
        return (root / "specs" / name).read_bytes()
    return None


def race(root: Path, outside: Path, act: Callable[[], object], *, rounds: int, exchanges: int, successes: int) -> None:
    """Do something while its folder is exchanged, until it worked and was disturbed often enough."""
    stop, count, done, end = threading.Event(), [0], 0, time.monotonic() + 60
    thread = threading.Thread(target=exchange, args=(root / "specs", outside, stop, count))
    thread.start()
    try:
        while (rounds > 0 or done < successes or count[0] < exchanges) and time.monotonic() < end:
            rounds -= 1
            with suppress(OSError, RemitError):
                act()
                done += 1
    finally:
        stop.set()
        thread.join()
    assert count[0] >= exchanges
    assert done >= successes


@pytest.mark.slow
def test_a_folder_that_becomes_a_link_meanwhile_leads_nowhere(tmp_path: Path) -> None:
    root, outside = make(tmp_path)

    def act() -> None:
        replace_inside(str(root), "specs/a.md", b"x", before=load(root, "a.md"))

    race(root, outside, act, rounds=400, exchanges=100, successes=2)
    assert list(outside.iterdir()) == []


@pytest.mark.slow
def test_a_change_of_several_files_cannot_be_led_out(tmp_path: Path) -> None:
    root, outside = make(tmp_path)
    home = Home(str(root))
    assert home.ledger is not None

    def act() -> None:
        finish_interrupted(home)
        changes = [FileChange(f"specs/{name}", load(root, name), os.urandom(8)) for name in ("a", "b")]
        write_together(home, changes, kind="test")

    race(root, outside, act, rounds=250, exchanges=50, successes=2)
    assert list(outside.iterdir()) == []


@pytest.mark.slow
def test_tasks_cannot_be_led_out(tmp_path: Path) -> None:
    root, outside = make(tmp_path)
    store = TaskStore(Home(str(root)), "specs")
    store.add("One")
    (outside / "state.json").write_text('{"active_projects": []}')
    (outside / "TODO.md").write_text("# TODO\n")
    before = {file.name: file.read_bytes() for file in outside.iterdir()}
    race(root, outside, lambda: store.add("More"), rounds=60, exchanges=20, successes=0)
    assert {file.name: file.read_bytes() for file in outside.iterdir()} == before
