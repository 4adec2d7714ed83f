"""Snapshots: everything below the root is looked at, nothing is opened, and what was not looked at is told."""

import hashlib
import os
import socket
import subprocess
import time
from pathlib import Path

import pytest

from remit.errors import InputError
from remit.workspace.evidence.comparison import compare
from remit.workspace.evidence.snapshot import take_snapshot
from remit.workspace.evidence.values import Limits, Lookup, Snapshot, join_path, unpack_folder
from tests.workspace.evidence.trees import Swapper, open_tree, unprivileged, write_tree

TREE = {"a.md": "one", "docs/b.md": "two", "docs/deep/c.md": "three"}


def list_paths(snapshot: Snapshot) -> list[str]:
    return sorted(join_path(path, name) for path in snapshot.folders for name in unpack_folder(snapshot.folders[path]))


def count_handles() -> int:
    return len(os.listdir("/dev/fd"))  # noqa: PTH208 - names are all that is wanted


def test_facts_are_what_the_system_says(tmp_path: Path) -> None:
    snapshot = take_snapshot(write_tree(tmp_path, TREE))
    assert list_paths(snapshot) == sorted(TREE)
    assert (snapshot.root, snapshot.entries, snapshot.complete) == (str(tmp_path.resolve()), 3, True)
    found, facts = (tmp_path / "docs/b.md").stat(), Lookup(snapshot).find("docs/b.md")
    assert facts == (found.st_size, found.st_mtime_ns, found.st_ctime_ns, found.st_ino, found.st_mode)
    assert Lookup(snapshot).find("docs") is Lookup(snapshot).find("nowhere/x") is None


def test_files_that_git_ignores_are_looked_at(tmp_path: Path) -> None:
    write_tree(tmp_path, {".gitignore": "*.log\nout/\n", "x.log": "1", "out/y.bin": "2"})
    subprocess.run(["git", "init", "-q"], cwd=tmp_path, check=True)
    assert {"x.log", "out/y.bin"} <= {*list_paths(take_snapshot(tmp_path))}


def test_of_git_only_what_it_obeys_and_of_remit_nothing(tmp_path: Path) -> None:
    """A hook that an agent leaves is seen; the index and the ledger change with every command."""
    git = ["config", "hooks/pre-commit", "info/attributes", "info/refs", "index", "objects/aa/bb", "refs/heads/main"]
    files = {f"{above}.git/{name}": "" for above in ("", "inner/") for name in git}
    write_tree(tmp_path, {**files, ".remit/ledger.db": "", "inner/.remit/hidden.md": "", "worktree/.git": "gitdir: x"})
    seen = [".git/config", ".git/hooks/pre-commit", ".git/info/attributes"]
    assert list_paths(take_snapshot(tmp_path)) == [
        *seen, "inner/.git/config", "inner/.git/hooks/pre-commit", "inner/.git/info/attributes",
        "inner/.remit/hidden.md", "worktree/.git",
    ]  # fmt: skip


def test_nothing_is_opened_but_folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_tree(tmp_path, TREE)
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "null").symlink_to("/dev/null")
    monkeypatch.chdir(tmp_path)  # a socket's name must be short
    flags, actual = [], os.open

    def watch(path: str, how: int, *rest: int, dir_fd: int | None = None) -> int:
        flags.append(how)
        return actual(path, how, *rest, dir_fd=dir_fd)

    with socket.socket(socket.AF_UNIX) as server:
        server.bind("socket")
        monkeypatch.setattr(os, "open", watch)
        first = take_snapshot(tmp_path)
        compared = compare(first, take_snapshot(tmp_path))
    assert len(flags) == 6  # three folders, twice
    assert all(how & os.O_DIRECTORY for how in flags)
    assert {"pipe", "null", "socket"} <= {*list_paths(first)}
    assert not any(compared)


def test_links_are_kept_by_their_target_and_not_followed(tmp_path: Path) -> None:
    write_tree(tmp_path / "root", TREE)
    write_tree(tmp_path, {"outside/secret.md": "x"})
    links = {"up": "../outside", "round": ".", "self": "self", "docs/gone": "/no/such", "docs/file": "b.md"}
    for name, target in links.items():
        (tmp_path / "root" / name).symlink_to(target)
    snapshot = take_snapshot(tmp_path / "root")
    assert snapshot.links == links
    assert list_paths(snapshot) == sorted([*TREE, *links])


def test_names_that_are_no_text_are_kept(tmp_path: Path) -> None:
    names = [b"\xff\xfe.md", "ü".encode(), b"a\nb", b" ", b"-rf", "\u202e".encode()]
    for name in names:
        Path(os.fsdecode(os.path.join(os.fsencode(tmp_path), name))).write_text("x")  # noqa: PTH118 - bytes
    assert list_paths(take_snapshot(tmp_path)) == sorted(map(os.fsdecode, names))


def test_times_beyond_64_bits_are_kept_apart(tmp_path: Path) -> None:
    write_tree(tmp_path, {"far.md": "x", "old.md": "x"})
    os.utime(tmp_path / "old.md", ns=(0, -(10**18)))
    before = take_snapshot(tmp_path)
    os.utime(tmp_path / "far.md", (20_000_000_000, 20_000_000_000))  # the year 2603, where the disk takes it
    after = take_snapshot(tmp_path)
    assert (facts := Lookup(before).find("old.md"))
    assert facts.mtime_ns < 0
    assert [change.path for change in compare(before, after).doubtful] == ["far.md"]


def test_a_root_that_is_no_folder_is_an_error(tmp_path: Path) -> None:
    write_tree(tmp_path, {"file": "x"})
    for name in ("file", "nowhere"):
        with pytest.raises(InputError, match="cannot be looked at") as caught:
            take_snapshot(tmp_path / name)
        assert caught.value.hint


# Limits


def test_a_tree_with_too_many_entries_says_where_it_stopped(tmp_path: Path) -> None:
    write_tree(tmp_path, {**TREE, **{f"many/{number}.md": "" for number in range(20)}, "z/last.md": ""})
    snapshot = take_snapshot(tmp_path, limits=Limits(max_entries=10))
    assert not snapshot.complete
    assert snapshot.gaps == {
        "many": "the limit of 10 entries was reached in it",
        "z": "the limit of 10 entries was reached before it",
    }
    assert list_paths(snapshot) == sorted(TREE)
    assert snapshot.find_gap("many/3.md") == "many"
    assert snapshot.find_gap("docs/3.md") is None
    assert take_snapshot(tmp_path, limits=Limits(max_entries=28)).complete  # 24 files, four folders
    assert not take_snapshot(tmp_path, limits=Limits(max_entries=27)).complete


def test_a_tree_that_is_too_deep_says_so(tmp_path: Path) -> None:
    write_tree(tmp_path, {"a/b/c/d.md": "", "a/x.md": ""})
    snapshot = take_snapshot(tmp_path, limits=Limits(max_depth=2))
    assert snapshot.gaps == {"a/b/c": "it is more than 2 folders deep"}
    assert take_snapshot(tmp_path, limits=Limits(max_depth=3)).complete


def test_a_very_deep_tree_takes_no_stack_and_leaves_no_handle(tmp_path: Path) -> None:
    home = Path.cwd()
    try:
        os.chdir(tmp_path)
        for _ in range(600):  # deeper than a path may be long
            os.mkdir("folder-name")  # noqa: PTH102 - in the working folder, which has no path any more
            os.chdir("folder-name")
    finally:
        os.chdir(home)
    handles = count_handles()
    snapshot = take_snapshot(tmp_path)
    assert list(snapshot.gaps.values()) == ["it is more than 128 folders deep"]
    assert take_snapshot(tmp_path, limits=Limits(max_depth=700)).complete
    assert count_handles() == handles
    subprocess.run(["rm", "-rf", str(tmp_path / "folder-name")], check=True)


def test_time_that_is_over_is_told(tmp_path: Path) -> None:
    snapshot = take_snapshot(write_tree(tmp_path, TREE), limits=Limits(max_seconds=-1))
    assert snapshot.gaps == {"docs": "the limit of -1 seconds was reached before it"}


def test_a_closed_folder_is_a_gap() -> None:
    with open_tree() as root:
        write_tree(root, {**TREE, "closed/x.md": "x", "listed/y.md": "y"})
        (root / "closed").chmod(0)
        (root / "listed").chmod(0o744)  # names can be read, and nothing else
        with unprivileged():
            snapshot = take_snapshot(root)
        for name in ("closed", "listed"):
            (root / name).chmod(0o755)
    assert snapshot.gaps["closed"] == "it cannot be read: permission denied"
    assert "listed" in snapshot.gaps or os.geteuid()
    assert list_paths(snapshot)[:3] == sorted(TREE)


# Hashes, and files that could change unseen


def test_only_what_was_asked_for_is_hashed(tmp_path: Path) -> None:
    write_tree(tmp_path, {**TREE, "docs-2/d.md": "four"})
    wanted = {
        (".",): {*TREE, "docs-2/d.md"},
        ("docs/",): {"docs/b.md", "docs/deep/c.md"},
        ("./a.md", "nowhere"): {"a.md"},
        ("docs/deep", "../x", "/etc"): {"docs/deep/c.md"},
        (): set(),
    }
    for paths, files in wanted.items():
        assert take_snapshot(tmp_path, hash_paths=paths).hashes.keys() == files
    digest = hashlib.sha256(b"two").hexdigest()
    assert take_snapshot(tmp_path, hash_paths=["docs/b.md"]).hashes == {"docs/b.md": digest}


def test_a_hash_from_before_is_used_while_the_facts_hold(tmp_path: Path) -> None:
    write_tree(tmp_path, TREE)
    first = take_snapshot(tmp_path, hash_paths=["."])
    marked = first._replace(hashes=dict.fromkeys(first.hashes, "0" * 64))
    (tmp_path / "a.md").write_text("six")
    second = take_snapshot(tmp_path, hash_paths=["."], earlier=marked)
    assert second.hashes["a.md"] == hashlib.sha256(b"six").hexdigest()
    assert second.hashes["docs/b.md"] == "0" * 64
    doubted = take_snapshot(tmp_path, hash_paths=["."], earlier=marked._replace(racy=frozenset({"docs/b.md"})))
    assert doubted.hashes["docs/b.md"] == hashlib.sha256(b"two").hexdigest()


def test_what_is_too_large_is_not_hashed(tmp_path: Path) -> None:
    write_tree(tmp_path, {"a": "x" * 10, "b": "x" * 11, "c": "x" * 9})
    each = take_snapshot(tmp_path, hash_paths=["."], limits=Limits(max_file_bytes=10))
    assert each.hashes.keys() == {"a", "c"}
    together = take_snapshot(tmp_path, hash_paths=["."], limits=Limits(max_hashed_bytes=20))
    assert together.hashes.keys() == {"a", "c"}
    assert not take_snapshot(tmp_path, hash_paths=["."], limits=Limits(max_seconds=-1)).hashes


def test_a_snapshot_ends_after_the_tick_of_the_newest_file(tmp_path: Path) -> None:
    """Else a second write in the same tick, at the same size, would leave no trace."""
    for number in range(3):
        (tmp_path / "a.md").write_text(str(number))
        snapshot = take_snapshot(tmp_path)
        assert not snapshot.racy
        assert time.time_ns() - (tmp_path / "a.md").stat().st_ctime_ns >= 20_000_000
        (tmp_path / "a.md").write_text(str(number + 1))
        assert [change.path for change in compare(snapshot, take_snapshot(tmp_path)).doubtful] == ["a.md"]


def test_a_file_from_the_future_is_hashed_each_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A clock that was set back comes to the same time again."""
    write_tree(tmp_path, TREE)
    actual = time.time_ns
    monkeypatch.setattr(time, "time_ns", lambda: actual() - 3_600_000_000_000)
    before = take_snapshot(tmp_path)
    assert before.racy == before.hashes.keys() == {*TREE}
    after = take_snapshot(tmp_path, earlier=before)
    assert not any(compare(before, after))
    unseen = after._replace(hashes={**after.hashes, "a.md": hashlib.sha256(b"six").hexdigest()})
    assert [change.path for change in compare(before, unseen).changed] == ["a.md"]
    unknown = compare(before._replace(hashes={}), after)
    assert {change.path for change in unknown.doubtful} == {*TREE}
    assert "future" in unknown.doubtful[0].reason


# Exchanged while it is looked at


@pytest.mark.slow
def test_a_walk_never_leaves_the_root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = write_tree(tmp_path / "root", {"docs/b.md": "two"})
    write_tree(tmp_path, {"outside/secret.md": "x"})
    docs, away = root / "docs", tmp_path / "away"
    calls = [("rename", docs, away), ("symlink", tmp_path / "outside", docs), ("unlink", docs), ("rename", away, docs)]
    monkeypatch.setattr(time, "sleep", lambda _: None)  # so that there are a thousand walks, which then hash as well
    seen: set[str] = set()
    digests: set[str] = set()
    with Swapper(*calls) as swapper:
        while swapper.count < 2000:
            snapshot = take_snapshot(root)
            seen |= {*list_paths(snapshot)}
            digests |= {*snapshot.hashes.values()}
    assert seen <= {"docs", "docs/b.md"}
    assert digests <= {hashlib.sha256(b"two").hexdigest()}


def test_a_folder_that_becomes_a_link_at_the_last_moment_is_a_gap(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After it was listed, before it is opened: the call in between does it every time."""
    root = write_tree(tmp_path / "root", {"docs/b.md": "two"})
    write_tree(tmp_path, {"outside/secret.md": "x"})
    actual = os.open
    exchanged: list[str] = []

    def exchange(path: str, how: int, *, dir_fd: int | None = None) -> int:
        if path == "docs":
            (root / "docs").rename(tmp_path / "away")
            (root / "docs").symlink_to(tmp_path / "outside")
            exchanged.append(path)
        return actual(path, how, dir_fd=dir_fd)

    monkeypatch.setattr(os, "open", exchange)
    snapshot = take_snapshot(root)
    assert exchanged == ["docs"]
    assert snapshot.gaps.keys() == {"docs"}
    assert not snapshot.entries


def test_files_that_come_and_go_do_no_harm(tmp_path: Path) -> None:
    write_tree(tmp_path, TREE)
    other = tmp_path / "other.md"
    with Swapper(("mknod", other), ("unlink", other)) as swapper:
        while swapper.count < 1000:
            assert {*TREE} <= {*list_paths(take_snapshot(tmp_path))} <= {*TREE, "other.md"}
