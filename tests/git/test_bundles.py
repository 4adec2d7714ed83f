"""Parcels: a tree goes to another machine, and what became of it comes back, byte for byte."""

import hashlib
import os
from pathlib import Path

import pytest

from remit.errors import StorageError
from remit.git.apply_changes import AppliedChanges, apply_agent_changes, fetch
from remit.git.branches import keep_branch
from remit.git.bundles import AgentChanges, BundledFile, pack
from remit.git.clones import check_out, collect, has_base, remove
from remit.git.tree_snapshot import snapshot_tree
from tests.support.file_trees import list_files
from tests.support.git_bundles import Trip, come_back, send
from tests.support.git_checkout import Checkout, make_checkout


def hash_of(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


# --- there -----------------------------------------------------------------------------------------------------------


def test_a_clone_has_the_tree_as_it_is_now(checkout: Checkout, tmp_path: Path) -> None:
    checkout.put("a.md", "changed\n")
    checkout.put("staged.md", "staged\n")
    checkout.git("add", "staged.md")
    checkout.put("new/deep file.md", b"\xff\x00\r\n")
    checkout.put("run.sh", "#!/bin/sh\n").chmod(0o755)
    checkout.put(".gitignore", "secret\nkept.log\n")
    checkout.put("secret", "x")
    checkout.put("kept.log", "tracked though ignored\n")
    checkout.git("add", "--force", "kept.log")
    (checkout.root / "b.md").unlink()
    (checkout.root / "link").symlink_to("a.md")
    before = checkout.git("status", "--porcelain"), checkout.git("for-each-ref"), checkout.git("ls-files", "-s")
    trip = send(str(checkout.root), tmp_path / "worker")
    wanted = list_files(checkout.root)
    assert wanted.pop("secret")
    assert list_files(trip.clone) == wanted
    assert (trip.clone / "link").is_symlink()
    assert os.access(trip.clone / "run.sh", os.X_OK)
    clone = Checkout(trip.clone)
    assert clone.git("status", "--porcelain") == ""
    assert clone.git("branch", "--show-current") == "work\n"
    assert (
        checkout.git("status", "--porcelain"),
        checkout.git("for-each-ref"),
        checkout.git("ls-files", "-s"),
    ) == before


def test_the_same_tree_gives_the_same_commit_and_another_one_does_not(checkout: Checkout) -> None:
    root = str(checkout.root)
    first = snapshot_tree(root, with_history=False)
    assert snapshot_tree(root, with_history=False) == first
    checkout.put("a.md", "two\n")
    second = snapshot_tree(root, with_history=False)
    assert second.commit != first.commit
    checkout.git("commit", "-qam", "two")
    assert snapshot_tree(root, with_history=False) == second
    checkout.put("a.md", "a.md one\n")
    assert snapshot_tree(root, with_history=False) == first


def test_a_base_with_a_history_stands_on_the_last_commit(checkout: Checkout) -> None:
    root, head = str(checkout.root), checkout.git("rev-parse", "HEAD").strip()
    assert snapshot_tree(root, with_history=True).commit == head
    checkout.put("a.md", "two\n")
    base = snapshot_tree(root, with_history=True)
    store = Checkout(checkout.root / ".remit/parcels.git")
    assert store.git("--git-dir=.", "log", "-1", "--format=%P", base.commit).strip() == head


def test_a_folder_without_git_is_sent_too(tmp_path: Path) -> None:
    plain = Checkout(tmp_path / "plain")
    plain.put("a.md", "one\n")
    plain.put("sub/b.md", "two\n")
    trip = send(str(plain.root), tmp_path / "worker")
    assert list_files(trip.clone) == {"a.md": b"one\n", "sub/b.md": b"two\n"}
    (trip.clone / "a.md").write_text("three\n")
    assert come_back(trip)[1] == AppliedChanges(("a.md",), ())
    assert (plain.root / "a.md").read_text() == "three\n"
    assert not (plain.root / ".git").exists()


def test_what_is_ignored_later_is_no_longer_sent(checkout: Checkout, tmp_path: Path) -> None:
    checkout.put("notes.txt", "x")
    snapshot_tree(str(checkout.root), with_history=False)
    checkout.put(".gitignore", "*.txt\n")
    trip = send(str(checkout.root), tmp_path / "worker")
    assert "notes.txt" not in list_files(trip.clone)
    checkout.git("add", "--force", "notes.txt")
    trip = send(str(checkout.root), tmp_path / "worker", "s2")
    assert "notes.txt" in list_files(trip.clone)


def test_a_workspace_below_the_top_is_found_in_its_place(checkout: Checkout, tmp_path: Path) -> None:
    trip = send(str(checkout.root / "specs"), tmp_path / "worker")
    assert trip.base.prefix == "specs/"
    assert trip.clone == tmp_path / "worker/s1/specs"
    assert (trip.clone / "../a.md").read_text() == "a.md one\n"
    (trip.clone / "TODO.md").write_text("two\n")
    (trip.clone / "../a.md").write_text("beyond the workspace\n")
    made, arrived = come_back(trip)
    assert made.files == (BundledFile("TODO.md", "100644", hash_of(b"two\n")),)
    assert arrived == AppliedChanges(("TODO.md",), ())
    assert (checkout.root / "specs/TODO.md").read_text() == "two\n"
    assert (checkout.root / "a.md").read_text() == "a.md one\n"


# --- and back --------------------------------------------------------------------------------------------------------


def test_what_was_changed_comes_back(trip: Trip, checkout: Checkout) -> None:
    (trip.clone / "a.md").write_bytes(b"by the agent\r\n")
    (trip.clone / "b.md").unlink()
    (trip.clone / "specs/TODO.md").unlink()
    (trip.clone / "new").mkdir()
    (trip.clone / "new/run.sh").write_text("#!/bin/sh\n")
    (trip.clone / "new/run.sh").chmod(0o755)
    (trip.clone / "new/link").symlink_to("run.sh")
    made, arrived = come_back(trip)
    assert made.files == (
        BundledFile("a.md", "100644", hash_of(b"by the agent\r\n")),
        BundledFile("b.md", "000000", ""),
        BundledFile("new/link", "120000", hash_of(b"run.sh")),
        BundledFile("new/run.sh", "100755", hash_of(b"#!/bin/sh\n")),
        BundledFile("specs/TODO.md", "000000", ""),
    )
    assert arrived == AppliedChanges(("a.md", "b.md", "new/link", "new/run.sh", "specs/TODO.md"), ())
    assert list_files(checkout.root) == list_files(trip.clone)
    assert os.access(checkout.root / "new/run.sh", os.X_OK)
    assert not (checkout.root / "specs").exists()


def test_nothing_changed_is_nothing_to_send(trip: Trip) -> None:
    made, arrived = come_back(trip)
    assert made == AgentChanges(trip.base.commit, trip.base.tree, ())
    assert pack(str(trip.clone), made.commit, without=trip.base.commit) == b""
    assert arrived == AppliedChanges((), ())


def test_what_an_agent_commits_itself_comes_back_all_the_same(trip: Trip, checkout: Checkout) -> None:
    clone = Checkout(trip.clone)
    clone.put("a.md", "committed\n")
    clone.git("-c", "user.name=x", "-c", "user.email=x@example.org", "commit", "-qam", "mine")
    assert come_back(trip)[1].applied == ("a.md",)
    assert (checkout.root / "a.md").read_text() == "committed\n"


def test_a_claimed_file_comes_along_though_it_is_ignored(trip: Trip, checkout: Checkout) -> None:
    clone = Checkout(trip.clone)
    clone.put(".gitignore", "*.log\n")
    clone.put("claimed.log", "x\n")
    clone.put("other.log", "x\n")
    _, arrived = come_back(
        trip, "claimed.log", "missing.log", "../outside", ".git/config", ".remit/ledger.db", "/etc/hosts"
    )
    assert arrived.applied == (".gitignore", "claimed.log")
    assert not (checkout.root / "other.log").exists()


def test_what_was_changed_here_meanwhile_is_left_alone(trip: Trip, checkout: Checkout) -> None:
    for name in ("a.md", "b.md", "specs/TODO.md", "new.md", "same.md"):
        (trip.clone / name).write_text("by the agent\n")
    checkout.put("a.md", "by somebody else\n")
    checkout.put("new.md", "by somebody else\n")
    checkout.put("same.md", "by the agent\n")
    (checkout.root / "b.md").unlink()
    _, arrived = come_back(trip)
    assert arrived == AppliedChanges(("same.md", "specs/TODO.md"), ("a.md", "b.md", "new.md"))
    assert (checkout.root / "a.md").read_text() == "by somebody else\n"
    assert not (checkout.root / "b.md").exists()


def test_bringing_in_again_finds_all_of_it_done(trip: Trip, checkout: Checkout) -> None:
    (trip.clone / "a.md").write_text("two\n")
    (trip.clone / "b.md").unlink()
    (trip.clone / "new.md").write_text("new\n")
    made, arrived = come_back(trip)
    (checkout.root / "new.md").unlink()  # as if it had been ended before this one
    assert apply_agent_changes(trip.root, trip.base, made) == arrived
    assert apply_agent_changes(trip.root, trip.base, made) == arrived == AppliedChanges(("a.md", "b.md", "new.md"), ())
    assert (checkout.root / "new.md").read_text() == "new\n"


def test_what_was_checked_is_written_without_git(trip: Trip, monkeypatch: pytest.MonkeyPatch) -> None:
    (trip.clone / "a.md").write_text("two\n")
    (trip.clone / "new.md").write_text("new\n")
    made = collect(str(trip.clone), trip.base)
    fetched = fetch(trip.root, trip.base, made, bundle=pack(str(trip.clone), made.commit, without=trip.base.commit))
    monkeypatch.setenv("PATH", "")
    with pytest.raises(StorageError, match="git"):
        apply_agent_changes(trip.root, trip.base, made)
    assert apply_agent_changes(trip.root, trip.base, made, fetched=fetched) == AppliedChanges(("a.md", "new.md"), ())
    assert Path(trip.root, "new.md").read_text() == "new\n"


def test_a_file_may_become_a_folder_and_the_other_way_round(trip: Trip, checkout: Checkout) -> None:
    (trip.clone / "a.md").unlink()
    (trip.clone / "a.md").mkdir()
    (trip.clone / "a.md/inner").write_text("x\n")
    (trip.clone / "specs/TODO.md").unlink()
    (trip.clone / "specs").rmdir()
    (trip.clone / "specs").write_text("a file now\n")
    made, arrived = come_back(trip)
    assert not arrived.conflicts
    assert list_files(checkout.root) == list_files(trip.clone)
    assert apply_agent_changes(trip.root, trip.base, made) == arrived


def test_collecting_many_times_gives_what_is_there_now(trip: Trip) -> None:
    (trip.clone / "a.md").write_text("two\n")
    first = collect(str(trip.clone), trip.base)
    assert collect(str(trip.clone), trip.base) == first
    (trip.clone / "more.md").write_text("more\n")
    assert [file.path for file in collect(str(trip.clone), trip.base).files] == ["a.md", "more.md"]
    (trip.clone / "more.md").unlink()
    assert collect(str(trip.clone), trip.base) == first


def test_an_agent_on_a_worker_sends_its_own_checkout_on(trip: Trip, checkout: Checkout, tmp_path: Path) -> None:
    """From the clone to another worker, back into the clone, and with it to the caller."""
    (trip.clone / "a.md").write_text("by the parent\n")
    inner = send(str(trip.clone), tmp_path / "other", "s2")
    assert (inner.clone / "a.md").read_text() == "by the parent\n"
    (inner.clone / "b.md").write_text("by the child\n")
    assert come_back(inner)[1] == AppliedChanges(("b.md",), ())
    assert come_back(trip)[1] == AppliedChanges(("a.md", "b.md"), ())
    assert (checkout.root / "b.md").read_text() == "by the child\n"


def test_saving_and_sending_on_do_not_disturb_each_other(checkout: Checkout, tmp_path: Path) -> None:
    """Both look at the clone: the worker for what was made of its base, the agent for a base of its own."""
    trip = send(str(checkout.root / "specs"), tmp_path / "worker")
    root = str(trip.clone)
    first = snapshot_tree(root, with_history=False)
    (trip.clone / "TODO.md").write_text("two\n")
    (trip.clone / "../a.md").write_text("beyond the workspace\n")
    made = collect(root, trip.base)
    second = snapshot_tree(root, with_history=False)
    assert second.tree not in (first.tree, made.tree)
    assert collect(root, trip.base) == made
    assert [file.path for file in made.files] == ["TODO.md"]
    assert snapshot_tree(root, with_history=False) == second
    (trip.clone / "TODO.md").write_text("specs/TODO.md one\n")
    assert collect(root, trip.base).files == ()
    (trip.clone / "../a.md").write_text("a.md one\n")
    assert snapshot_tree(root, with_history=False) == first


def test_a_repository_with_long_hashes_goes_the_same_way(tmp_path: Path) -> None:
    checkout = make_checkout(tmp_path / "long", "--object-format=sha256")
    trip = send(str(checkout.root), tmp_path / "worker")
    assert len(trip.base.commit) == 64
    (trip.clone / "a.md").write_text("two\n")
    (trip.clone / "b.md").unlink()
    made, arrived = come_back(trip)
    assert arrived == AppliedChanges(("a.md", "b.md"), ())
    assert keep_branch(trip.root, made, "remit/s1") == checkout.git("rev-parse", "remit/s1").strip()
    assert Checkout(trip.clone).git("status", "--porcelain") == " M a.md\n D b.md\n"


def test_a_workspace_that_becomes_a_repository_with_longer_hashes_starts_anew(tmp_path: Path) -> None:
    plain = Checkout(tmp_path / "plain")
    plain.put("a.md", "one\n")
    assert len(snapshot_tree(str(plain.root), with_history=False).commit) == 40
    plain.git("init", "-q", "--object-format=sha256")
    assert len(snapshot_tree(str(plain.root), with_history=False).commit) == 64


# --- clones ----------------------------------------------------------------------------------------------------------


def test_a_clone_that_is_there_is_taken_as_it_is(trip: Trip, tmp_path: Path) -> None:
    (trip.clone / "a.md").write_text("work of an hour\n")
    again = check_out(str(tmp_path / "worker/store"), str(tmp_path / "worker/s1"), trip.base)
    assert again == str(trip.clone)
    assert (trip.clone / "a.md").read_text() == "work of an hour\n"


def test_a_clone_left_half_made_is_made_anew(trip: Trip, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    place = tmp_path / "worker/s2"
    store = str(tmp_path / "worker/store")

    def stop(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(os, "rename", stop)
        with pytest.raises(KeyboardInterrupt):
            check_out(store, str(place), trip.base)
    assert not place.exists()
    assert len(list(tmp_path.glob("worker/s2.half-made-*"))) == 1
    folder = Path(check_out(store, str(place), trip.base))
    assert list_files(folder) == list_files(trip.clone)
    assert not list(tmp_path.glob("worker/s2.half-made-*"))
    remove(str(place))
    assert not place.exists()


def test_a_clone_of_another_base_gives_way(trip: Trip, checkout: Checkout, tmp_path: Path) -> None:
    checkout.put("a.md", "another base\n")
    other = send(trip.root, tmp_path / "worker")
    assert other.clone == trip.clone
    assert (other.clone / "a.md").read_text() == "another base\n"


def test_a_base_may_be_sent_as_what_is_new_since_an_earlier_one(checkout: Checkout, tmp_path: Path) -> None:
    for number in range(40):
        checkout.put(f"many/{number}", os.urandom(1000))
    root, store = str(checkout.root), str(tmp_path / "store")
    bases = [snapshot_tree(root, with_history=False)]
    bundles = [pack(root, bases[0].commit)]
    for number in range(3):
        checkout.put("a.md", f"{number}\n")
        bases.append(snapshot_tree(root, with_history=False))
        bundles.append(pack(root, bases[-1].commit, without=bases[-2].commit))
    assert len(bundles[0]) > 40_000
    assert max(map(len, bundles[1:])) < 2_000
    assert not has_base(store, bases[0].commit)
    with pytest.raises(StorageError, match="can't read a bundle"):
        check_out(store, str(tmp_path / "s0"), bases[3], bundles=bundles[1:])
    first = check_out(store, str(tmp_path / "s1"), bases[2], bundles=bundles[:3])
    assert Path(first, "a.md").read_text() == "1\n"
    assert [has_base(store, base.commit) for base in bases] == [True, True, True, False]
    last = check_out(store, str(tmp_path / "s2"), bases[3], bundles=bundles[3:])
    assert list_files(Path(last)) == list_files(checkout.root)


# --- what is not as it was told --------------------------------------------------------------------------------------


def test_what_arrives_is_held_against_what_was_told(trip: Trip) -> None:
    (trip.clone / "a.md").write_text("two\n")
    (trip.clone / "new.md").write_text("new\n")
    made = collect(str(trip.clone), trip.base)
    bundle = pack(str(trip.clone), made.commit, without=trip.base.commit)
    one, two = made.files
    false = [
        made._replace(tree=trip.base.tree),
        made._replace(files=(one,)),
        made._replace(files=(one, two, two)),
        made._replace(files=(one, two._replace(path="other.md"))),
        made._replace(files=(one, two._replace(sha256=one.sha256))),
        made._replace(files=(one, two._replace(mode="100755"))),
        made._replace(files=(one, two._replace(mode="000000", sha256=""))),
        made._replace(commit="1" * 40),
        made._replace(commit=trip.base.commit),
    ]
    for told in false:
        with pytest.raises(StorageError, match="the received"):
            fetch(trip.root, trip.base, told, bundle=bundle)
    with pytest.raises(StorageError, match=r"no longer in .remit"):
        fetch(trip.root, trip.base._replace(commit="2" * 40), made, bundle=bundle)
    fetch(trip.root, trip.base, made, bundle=bundle)


def test_a_damaged_parcel_is_refused(trip: Trip) -> None:
    (trip.clone / "a.md").write_text("two\n")
    made = collect(str(trip.clone), trip.base)
    whole = pack(str(trip.clone), made.commit, without=trip.base.commit)
    for at in (0, 20, 200, -30, -1):
        data = bytearray(whole)
        data[at] ^= 0x55
        with pytest.raises(StorageError):
            fetch(trip.root, trip.base, made, bundle=bytes(data))
    for part in (whole[:-10], whole[:100], b"x", None):
        with pytest.raises(StorageError):
            fetch(trip.root, trip.base, made, bundle=part)
    fetch(trip.root, trip.base, made, bundle=whole)
