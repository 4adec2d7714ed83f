"""Comparisons: what happened to a tree is told exactly, and what cannot be known is called doubtful."""

import hashlib
import os
import tempfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from remit.errors import InputError, UsageError
from remit.workspace.evidence.comparison import Change, Comparison, compare
from remit.workspace.evidence.snapshot import take_snapshot
from remit.workspace.evidence.stored import parse_snapshot, render_snapshot
from remit.workspace.evidence.values import Limits
from tests.amounts import choose
from tests.workspace.evidence.trees import open_tree, unprivileged, write_tree

TREE = {"a.md": "one", "docs/b.md": "two", "docs/deep/c.md": "three"}


def digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def list_paths(changes: tuple[Change, ...]) -> list[str]:
    return [change.path for change in changes]


def test_what_was_created_changed_and_deleted_is_told_with_hashes(tmp_path: Path) -> None:
    before = take_snapshot(write_tree(tmp_path, TREE))
    write_tree(tmp_path, {"docs/new/d.md": "four", "a.md": "one more", "b.md": "five"})
    (tmp_path / "docs/b.md").unlink()
    assert compare(before, take_snapshot(tmp_path)) == Comparison(
        created=(
            Change("b.md", "created", 4, digest("five")),
            Change("docs/new/d.md", "created", 4, digest("four")),
        ),
        changed=(Change("a.md", "changed", 8, digest("one more")),),
        deleted=(Change("docs/b.md", "deleted"),),
    )


def test_only_what_differs_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = take_snapshot(write_tree(tmp_path, TREE))
    write_tree(tmp_path, {"docs/b.md": "two more"})
    after = take_snapshot(tmp_path)
    read, actual = [], os.open

    def watch(path: str, how: int, *rest: int, dir_fd: int | None = None) -> int:
        if not how & os.O_DIRECTORY:
            read.append(path)
        return actual(path, how, *rest, dir_fd=dir_fd)

    monkeypatch.setattr(os, "open", watch)
    assert not any(compare(before, before))
    assert not read
    assert list_paths(compare(before, after).changed) == ["docs/b.md"]
    assert read == ["b.md"]


def rewrite(file: Path, text: str) -> None:
    file.write_text(text)


def rewrite_and_set_back(file: Path, text: str) -> None:
    found = file.stat()
    file.write_text(text)
    os.utime(file, ns=(found.st_atime_ns, found.st_mtime_ns))


def replace(file: Path, text: str) -> None:
    new = file.with_name("new")
    new.write_text(text)
    new.replace(file)


@pytest.mark.parametrize("act", [rewrite, rewrite_and_set_back, replace])
def test_content_decides_where_it_was_known(tmp_path: Path, act: object) -> None:
    """The same size and the same modification time hide no change, and a touch is none."""
    assert callable(act)
    before = take_snapshot(write_tree(tmp_path, TREE), hash_paths=["."])
    act(tmp_path / "a.md", "six")
    act(tmp_path / "docs/b.md", "two")
    compared = compare(before, take_snapshot(tmp_path))
    assert compared == Comparison(
        changed=(Change("a.md", "changed", 3, digest("six")),),
        touched=(Change("docs/b.md", "touched", 3, digest("two")),),
    )


@pytest.mark.parametrize("act", [rewrite, rewrite_and_set_back, replace])
def test_without_a_hash_from_before_the_same_size_is_doubtful(tmp_path: Path, act: object) -> None:
    assert callable(act)
    before = take_snapshot(write_tree(tmp_path, TREE))
    act(tmp_path / "a.md", "six")
    reason = "its times moved, its size did not, and its content before is not known"
    assert compare(before, take_snapshot(tmp_path)) == Comparison(
        doubtful=(Change("a.md", "doubtful", 3, digest("six"), reason),)
    )


def test_other_rights_and_another_name_are_a_touch(tmp_path: Path) -> None:
    before = take_snapshot(write_tree(tmp_path, {**TREE, "empty": ""}), hash_paths=["."])
    (tmp_path / "a.md").chmod(0o755)
    (tmp_path / "docs/b.md").rename(tmp_path / "x")
    (tmp_path / "x").rename(tmp_path / "docs/b.md")
    os.utime(tmp_path / "empty")
    compared = compare(before, take_snapshot(tmp_path))
    assert compared._replace(touched=()) == Comparison()
    assert {"a.md", "empty"} <= {*list_paths(compared.touched)}


def test_what_is_no_file_is_told_by_its_kind(tmp_path: Path) -> None:
    write_tree(tmp_path, {"file": "x", "folder/a": "x"})
    os.mkfifo(tmp_path / "pipe")
    for name in ("link", "same"):
        (tmp_path / name).symlink_to("file")
    before = take_snapshot(tmp_path, hash_paths=["."])
    for name in ("file", "pipe", "link", "same", "folder/a"):
        (tmp_path / name).unlink()
    (tmp_path / "folder").rmdir()
    write_tree(tmp_path, {"pipe": "now a file", "folder": "too"})
    (tmp_path / "same").symlink_to("file")
    (tmp_path / "link").symlink_to("elsewhere")
    (tmp_path / "file").symlink_to("elsewhere")
    os.mkfifo(tmp_path / "other")
    compared = compare(before, take_snapshot(tmp_path))
    assert list_paths(compared.created) == ["folder", "other"]
    assert list_paths(compared.changed) == ["file", "link", "pipe"]
    assert list_paths(compared.deleted) == ["folder/a"]
    assert list_paths(compared.touched) == ["same"]
    assert compared.changed[0].sha256 is None
    assert compared.changed[2].sha256 == digest("now a file")


def test_what_could_not_be_looked_at_is_neither_created_nor_deleted() -> None:
    with open_tree() as root:
        write_tree(root, {"closed/in/a.md": "x", "open/b.md": "x"})
        seeing = take_snapshot(root)
        (root / "closed").chmod(0)
        with unprivileged():
            blind = take_snapshot(root)
        (root / "closed").chmod(0o755)
        reason = "it cannot be read: permission denied"
        only = Comparison(doubtful=(Change("closed", "doubtful", reason=reason),))
        assert compare(seeing, blind) == compare(blind, seeing) == compare(blind, blind) == only
        stopped = take_snapshot(root, limits=Limits(max_entries=0))
    assert list_paths(compare(seeing, stopped).doubtful) == ["."]
    assert not compare(stopped, seeing).created


def test_a_file_that_is_not_hashed_says_why(tmp_path: Path) -> None:
    before = take_snapshot(write_tree(tmp_path, {"same": "x" * 30}), hash_paths=["."])
    write_tree(tmp_path, {"large": "x" * 100, "small": "x", "same": "y" * 30})
    with (tmp_path / "sparse").open("wb") as file:
        file.truncate(1 << 40)
    after = take_snapshot(tmp_path)
    compared = compare(before, after, limits=Limits(max_file_bytes=10))
    large, small, sparse = compared.created
    assert (large.sha256, large.reason) == (None, "it is larger than 10 bytes and was not hashed")
    assert (small.sha256, small.reason) == (digest("x"), "")
    assert (sparse.sha256, sparse.size_bytes) == (None, 1 << 40)
    assert "on disk" in sparse.reason
    assert list_paths(compared.doubtful) == ["same"]  # as large as before, and not to be read
    late = compare(before, after, limits=Limits(max_seconds=-1))
    assert {change.sha256 for change in (*late.created, *late.doubtful)} == {None}
    assert all("time" in change.reason for change in (late.created[0], late.doubtful[0]))


def test_a_file_that_changed_again_has_no_hash(tmp_path: Path) -> None:
    before = take_snapshot(tmp_path)
    write_tree(tmp_path, {"a.md": "one", "b.md": "two"})
    after = take_snapshot(tmp_path)
    (tmp_path / "a.md").write_text("six")
    (tmp_path / "b.md").unlink()
    first, second = compare(before, after).created
    assert (first.sha256, first.reason) == (None, "it changed again after the second snapshot")
    assert (second.sha256, second.reason) == (None, "it is not there")


def test_snapshots_of_two_roots_are_not_compared(tmp_path: Path) -> None:
    write_tree(tmp_path, {"a/x": "", "b/x": ""})
    with pytest.raises(UsageError, match="cannot be compared"):
        compare(take_snapshot(tmp_path / "a"), take_snapshot(tmp_path / "b"))


def test_a_root_that_is_gone_is_an_error(tmp_path: Path) -> None:
    root = write_tree(tmp_path / "root", {"a": "x"})
    before = take_snapshot(root)
    (root / "a").write_text("longer")
    after = take_snapshot(root)
    root.rename(tmp_path / "away")
    with pytest.raises(InputError, match="cannot be looked at"):
        compare(before, after)


def test_a_path_from_a_stored_snapshot_cannot_lead_up(tmp_path: Path) -> None:
    """Whoever may write the file can put any path into it."""
    root = write_tree(tmp_path / "root", {"docs/a": "x"})
    write_tree(tmp_path, {"a": "secret"})
    before = take_snapshot(root)
    for path in ("..", "docs/../..", "/", "docs//", "."):
        forged = before._replace(folders={**before.folders, path: before.folders["docs"]})
        (change,) = compare(before, parse_snapshot(render_snapshot(forged))).created
        assert (change.sha256, change.reason) == (None, "its path is not possible")


@pytest.mark.slow
@pytest.mark.thorough
def test_a_large_tree_is_kept_small_and_told_exactly(tmp_path: Path) -> None:
    """A snapshot of 20,000 files, stored and read back, finds the three that are not what they were."""
    for part in range(1000):
        folder = tmp_path / f"part{part // 25:02d}/module{part % 25:02d}"
        folder.mkdir(parents=True)
        for number in range(20):
            (folder / f"file{number:02d}.py").write_bytes(b"x = 1\n")
    data = render_snapshot(take_snapshot(tmp_path))
    assert len(data) < 20_000 * 60
    place = tmp_path / "part39/module24"
    (place / "file00.py").write_text("x = 1000\n")
    (place / "file01.py").unlink()
    write_tree(place, {"new/file.py": "y"})
    after = take_snapshot(tmp_path)
    assert (after.entries, after.complete) == (20_000, True)
    assert compare(parse_snapshot(data), after) == Comparison(
        created=(Change("part39/module24/new/file.py", "created", 1, digest("y")),),
        changed=(Change("part39/module24/file00.py", "changed", 9, digest("x = 1000\n")),),
        deleted=(Change("part39/module24/file01.py", "deleted"),),
    )


# Laws

PATHS = st.sampled_from(["a", "b", "d/a", "d/e/a", "d/e/b", "ü"])
TEXTS = st.sampled_from(["", "one", "two", "longer"])
STEPS = st.one_of(
    st.tuples(st.just("write"), PATHS, TEXTS),
    st.tuples(st.just("replace"), PATHS, TEXTS),
    st.tuples(st.sampled_from(["delete", "touch", "chmod"]), PATHS, st.just("")),
)


def act(root: Path, step: tuple[str, str, str], model: dict[str, str]) -> None:
    """Do a step to the tree and to the model of it."""
    verb, path, text = step
    file = root / path
    if verb == "write":
        write_tree(root, {path: text})
        model[path] = text
    elif path not in model:
        return
    elif verb == "replace":
        replace(file, text)
        model[path] = text
    elif verb == "delete":
        file.unlink()
        del model[path]
    elif verb == "touch":
        os.utime(file)
    else:
        file.chmod(0o600 ^ (file.stat().st_mode & 0o100))


@pytest.mark.slow
@settings(max_examples=choose(20, 60), deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.dictionaries(PATHS, TEXTS), st.lists(STEPS, max_size=12))
def test_histories_are_told_exactly(files: dict[str, str], steps: list[tuple[str, str, str]]) -> None:
    """With hashes from before nothing is doubtful; without them nothing is told wrong."""
    with tempfile.TemporaryDirectory() as name:
        root = write_tree(Path(name), files)
        before = take_snapshot(root, hash_paths=["."])
        model = dict(files)
        for step in steps:
            act(root, step, model)
        after = take_snapshot(root)
        told, bare = compare(before, after), compare(before._replace(hashes={}), after)
    assert not any(compare(before, before))
    assert not any(compare(after, after))
    changed = sorted(path for path in files.keys() & model.keys() if files[path] != model[path])
    for comparison in (told, bare):
        assert list_paths(comparison.created) == sorted(model.keys() - files.keys())
        assert list_paths(comparison.deleted) == sorted(files.keys() - model.keys())
        hashes = {change.path: change.sha256 for change in (*comparison.created, *comparison.changed)}
        assert hashes == {path: digest(model[path]) for path in hashes}
    assert list_paths(told.changed) == changed
    assert not told.doubtful
    assert {path for _, path, _ in steps} >= {*list_paths(told.touched)}
    assert {*list_paths(bare.changed)} <= {*changed} <= {*list_paths(bare.changed), *list_paths(bare.doubtful)}
    assert not {*list_paths(bare.touched)} & {*changed}
