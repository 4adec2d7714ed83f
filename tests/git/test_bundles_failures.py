"""Parcels on machines that fail, at once with others, and by the thousand: nothing is lost, and nothing is half."""

import os
import threading
import time
from pathlib import Path

import pytest

from remit.errors import StorageError
from remit.git import apply_changes
from remit.git.apply_changes import apply_agent_changes, fetch
from remit.git.bundles import BaseTree, pack
from remit.git.clones import check_out, collect
from remit.git.tree_snapshot import snapshot_tree
from remit.storage import safe_path
from tests.support.file_trees import list_files
from tests.support.git_bundles import Trip, come_back, send
from tests.support.git_checkout import Checkout
from tests.support.sample_sizes import choose


@pytest.mark.slow
def test_bringing_in_that_is_ended_anywhere_is_finished_by_the_next(
    checkout: Checkout, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    trip = send(str(checkout.root), tmp_path / "worker")
    for name in ("a.md", "specs/TODO.md", "new/one.md", "two.md"):
        Checkout(trip.clone).put(name, f"{name} by the agent\n")
    (trip.clone / "b.md").unlink()
    made = collect(str(trip.clone), trip.base)
    fetch(trip.root, trip.base, made, bundle=pack(str(trip.clone), made.commit, without=trip.base.commit))
    real = safe_path.move_target
    for ended_after in range(4):
        moved: list[str] = []

        def move(
            waiting: safe_path.FileTarget, target: safe_path.FileTarget, moved: list[str] = moved, at: int = ended_after
        ) -> None:
            if len(moved) == at:
                raise KeyboardInterrupt
            moved.append(target.name)
            real(waiting, target)

        with monkeypatch.context() as patch:
            patch.setattr(apply_changes, "move_target", move)
            with pytest.raises(KeyboardInterrupt):
                apply_agent_changes(trip.root, trip.base, made)
        assert len(moved) == ended_after
        assert list((checkout.root / ".remit/pending").iterdir()) == []
        assert apply_agent_changes(trip.root, trip.base, made).conflicts == ()
        assert list_files(checkout.root) == list_files(trip.clone)
        checkout.git("checkout", "-q", "--", ".")
        checkout.git("clean", "-qfd")


def test_a_store_that_was_damaged_heals(checkout: Checkout) -> None:
    checkout.put("new.md", "new\n")
    root = str(checkout.root)
    base = snapshot_tree(root, with_history=False)
    store = checkout.root / ".remit/parcels.git"
    (store / "index").write_bytes(b"DIRC torn")
    assert snapshot_tree(root, with_history=False) == base
    objects = [file for file in store.glob("objects/??/*") if file.is_file()]
    assert objects
    for file in objects:
        file.chmod(0o600)
        file.write_bytes(b"")
    with pytest.raises(StorageError, match="git can't create a bundle"):
        pack(root, base.commit)
    assert snapshot_tree(root, with_history=False) == base
    assert pack(root, base.commit)


def test_what_was_borrowed_and_is_gone_is_read_again(checkout: Checkout, tmp_path: Path) -> None:
    """A user's repository gives up objects that nothing there refers to any more."""
    checkout.put("a.md", "staged once\n")
    checkout.git("add", "a.md")
    base = snapshot_tree(str(checkout.root), with_history=False)
    checkout.git("reset", "-q")
    checkout.git("gc", "-q", "--prune=now")
    with pytest.raises(StorageError, match="try again"):
        pack(str(checkout.root), base.commit)
    assert send(str(checkout.root), tmp_path / "worker").base == base


def test_collecting_goes_on_after_its_index_was_torn(trip: Trip) -> None:
    (trip.clone / "a.md").write_text("two\n")
    made = collect(str(trip.clone), trip.base)
    assert (trip.clone / ".remit/parcels.git/made").is_file()
    (trip.clone / ".remit/parcels.git/made").write_bytes(b"DIRC torn")
    (trip.clone / ".remit/parcels.git/made.lock").write_bytes(b"")
    assert collect(str(trip.clone), trip.base) == made


def test_many_at_once_get_the_same(checkout: Checkout, tmp_path: Path) -> None:
    """Callers in one workspace, and sessions on one worker."""
    found: list[tuple[BaseTree, str]] = []
    store = str(tmp_path / "store")

    def work(number: int) -> None:
        base = snapshot_tree(str(checkout.root), with_history=False)
        bundle = pack(str(checkout.root), base.commit)
        found.append((base, check_out(store, str(tmp_path / f"s{number}"), base, bundle=bundle)))

    threads = [threading.Thread(target=work, args=(number,)) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 6
    assert len({base for base, _ in found}) == 1
    assert all(list_files(Path(clone)) == list_files(checkout.root) for _, clone in found)


def test_what_nobody_needs_any_more_goes_after_two_weeks(trip: Trip, checkout: Checkout) -> None:
    checkout.put("a.md", "another base, which is used\n")
    (trip.clone / "a.md").write_text("made\n")
    come_back(trip)
    store = checkout.root / ".remit/parcels.git"
    base = snapshot_tree(trip.root, with_history=False)
    old = time.time() - 15 * 86_400
    left = store / "parcel-1-x"
    left.write_text("of a process that was killed")
    for file in (*store.rglob("refs/remit/*/*"), *store.rglob("objects/??/*"), *store.glob("objects/pack/*"), left):
        os.utime(file, (old, old))
    (store / "refs/remit/made/keep").write_text(f"{trip.base.commit}\n")
    assert snapshot_tree(trip.root, with_history=False) == base
    assert left.exists()  # it was tidied today
    os.utime(store / "tidied", (old, old))
    checkout.put("a.md", "and one more\n")
    assert snapshot_tree(trip.root, with_history=False) != base
    assert [file.name for file in (store / "refs/remit/made").iterdir()] == ["keep"]
    assert not left.exists()
    plain = Checkout(store)
    assert plain.git("cat-file", "-t", trip.base.commit) == "commit\n"
    assert "fatal" not in plain.git("fsck", "--connectivity-only")
    assert pack(trip.root, snapshot_tree(trip.root, with_history=False).commit)


@pytest.mark.slow
@pytest.mark.thorough
def test_very_many_files_come_there_and_back(tmp_path: Path) -> None:
    number = choose(300, 100_000)
    root, worker = tmp_path / "plain", tmp_path / "worker"
    for each in range(number):
        folder = root / f"{each % 97}"
        if each < 97:
            folder.mkdir(parents=True)
        (folder / f"{each}.txt").write_text(f"{each}\n")
    trip = send(str(root), worker)
    assert len(list_files(trip.clone)) == number
    for each in range(number):
        (trip.clone / f"{each % 97}/{each}.txt").write_text(f"{each} made\n")
    made, arrived = come_back(trip)
    assert (len(made.files), len(arrived.applied), arrived.conflicts) == (number, number, ())
    assert list_files(root) == list_files(trip.clone)
