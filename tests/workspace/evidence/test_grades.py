"""Grades: an artifact counts when it changed since dispatch, inside the root, by this agent, and never in doubt."""

import hashlib
import os
import socket
from pathlib import Path

import pytest

from remit.errors import UsageError
from remit.model import ArtifactFacts
from remit.workspace.evidence.comparison import compare
from remit.workspace.evidence.grades import ArtifactGrade, grade_artifacts, list_unclaimed
from remit.workspace.evidence.snapshot import take_snapshot
from remit.workspace.evidence.values import Limits, Snapshot
from tests.workspace.evidence.trees import Swapper, open_tree, unprivileged, write_tree

OUTSIDE = "not to be read"


def digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def grade(root: Path, before: Snapshot | None, path: str, ledger: dict[str, set[str]] | None = None) -> ArtifactGrade:
    return grade_artifacts([path], before=before, root=root, bases=(root,), tool_ledger=ledger)[path]


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A project with files in it, and a neighbour outside."""
    write_tree(tmp_path, {"secret.txt": OUTSIDE})
    return write_tree(tmp_path / "project", {"old.md": "one", "docs/plan.md": "two"})


# The four grades


def test_what_was_made_since_is_changed(root: Path) -> None:
    before = take_snapshot(root)
    write_tree(root, {"docs/new.md": "made", "old.md": "longer"})
    made = grade(root, before, "docs/new.md")
    assert made == ArtifactGrade(
        ArtifactFacts("docs/new.md", "file", 4), "changed", "", digest("made"), 1, None, ("docs/new.md",)
    )
    assert grade(root, before, "old.md").grade == "changed"


def test_a_stale_file_is_unchanged(root: Path) -> None:
    """The oldest lie: a file from yesterday as the result of today."""
    stale = grade(root, take_snapshot(root), "docs/plan.md")
    assert (stale.grade, stale.sha256) == ("unchanged", digest("two"))
    assert stale.reason == "it did not change since the delegation began"


def test_a_touch_makes_no_artifact(root: Path) -> None:
    known, unknown = take_snapshot(root, hash_paths=["."]), take_snapshot(root)
    os.utime(root / "old.md")
    touched = grade(root, known, "old.md")
    assert (touched.grade, touched.reason) == ("unchanged", "its content did not change since the delegation began")
    doubtful = grade(root, unknown, "old.md")
    assert (doubtful.grade, doubtful.sha256) == ("unknown", digest("one"))
    assert "its content before is not known" in doubtful.reason
    (root / "old.md").write_text("six")
    assert grade(root, known, "old.md").grade == "changed"
    assert grade(root, unknown, "old.md").grade == "unknown"


def test_a_write_in_the_tool_ledger_attributes(root: Path) -> None:
    before = take_snapshot(root)
    write_tree(root, {"new.md": "made", "old.md": "six"})
    by = {"./new.md": {"write"}, "old.md": {"read", "write"}, "docs/plan.md": {"write"}}
    assert [grade(root, before, path, by).grade for path in by if path != "docs/plan.md"] == ["attributed"] * 2
    unchanged = grade(root, before, "docs/plan.md", by)
    assert (unchanged.grade, unchanged.by_session) == ("unchanged", True)
    for ledger, by_session in ((None, None), ({}, False), ({"new.md": {"read"}}, False)):
        graded = grade(root, before, "new.md", ledger)
        assert (graded.grade, graded.by_session) == ("changed", by_session)


def test_a_write_of_the_same_content_is_no_change(root: Path) -> None:
    before = take_snapshot(root, hash_paths=["old.md"])
    (root / "old.md").write_text("one")
    assert grade(root, before, "old.md", {"old.md": {"write"}}).grade == "unchanged"


def test_without_a_snapshot_every_file_is_unknown(root: Path) -> None:
    graded = grade(root, None, "old.md", {"old.md": {"write"}})
    assert (graded.grade, graded.reason) == ("unknown", "Remit has no snapshot from before the run")


def test_a_gap_in_the_snapshot_is_a_doubt(root: Path) -> None:
    before = take_snapshot(root, limits=Limits(max_entries=2))
    write_tree(root, {"docs/new.md": "made"})
    graded = grade(root, before, "docs/new.md")
    assert (graded.grade, graded.reason) == ("unknown", "Remit could not read 'docs' before the run")
    assert grade(root, before, "docs/new.md", {"docs/new.md": {"write"}}).grade == "attributed"
    nothing = grade(root, take_snapshot(root, limits=Limits(max_entries=0)), "docs/new.md")
    assert nothing.reason == "Remit could not read '.' before the run"


def test_a_file_that_could_change_unseen_is_judged_by_its_content(root: Path) -> None:
    before = take_snapshot(root, hash_paths=["."])._replace(racy=frozenset({"old.md"}))
    assert grade(root, before, "old.md").grade == "unchanged"
    assert grade(root, before._replace(hashes={"old.md": digest("six")}), "old.md").grade == "changed"
    assert "future" in grade(root, before._replace(hashes={}), "old.md", {"old.md": {"write"}}).reason


def test_a_link_is_graded_by_what_it_leads_to(root: Path) -> None:
    """A fresh link to a stale file is no fresh file."""
    before = take_snapshot(root)
    (root / "link.md").symlink_to("docs/plan.md")
    (root / "folder").symlink_to("docs")
    assert [grade(root, before, path).grade for path in ("link.md", "folder/plan.md")] == ["unchanged"] * 2
    (root / "docs/plan.md").write_text("longer")
    linked = grade(root, before, "link.md", {"docs/plan.md": {"write"}})
    assert (linked.grade, linked.places) == ("attributed", ("docs/plan.md", "link.md"))
    assert grade(root, before, "folder/plan.md", {"folder/plan.md": {"write"}}).grade == "attributed"
    up = grade(root, before, "folder/../docs/plan.md", {"old.md": {"write"}})
    assert (up.grade, up.places) == ("changed", ("docs/plan.md",))


def test_a_workspace_of_its_own_is_looked_up_first(root: Path) -> None:
    before = take_snapshot(root)
    other = write_tree(root.parent / "other", {"plan.md": "elsewhere"})
    write_tree(root, {"inner/plan.md": "made", "plan.md": "made"})
    (graded,) = grade_artifacts(["plan.md"], before=before, root=root, bases=(root / "inner", root)).values()
    assert (graded.grade, graded.places) == ("changed", ("inner/plan.md",))
    (graded,) = grade_artifacts(["plan.md"], before=before, root=root, bases=(other, root)).values()
    assert (graded.grade, graded.places) == ("unknown", ())
    assert graded.reason == "it is in a folder that the snapshot does not cover"


def test_a_root_by_another_name_is_the_same_root(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    alias = root.parent / "alias"
    alias.symlink_to(root)
    before = take_snapshot(alias)
    write_tree(root, {"new.md": "made"})
    assert grade(alias, before, "new.md") == grade(root, before, "new.md")
    assert grade(alias, before, str(alias / "new.md")).places == ("new.md",)
    monkeypatch.chdir(root)
    assert grade(Path(), before, "new.md").grade == "changed"


def test_a_snapshot_of_another_root_grades_nothing(root: Path) -> None:
    with pytest.raises(UsageError, match="cannot be graded"):
        grade(root / "docs", take_snapshot(root), "plan.md")


# What is refused


def test_what_is_no_file_is_only_claimed(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = take_snapshot(root)
    os.mkfifo(root / "pipe")
    (root / "empty").touch()
    with (root / "sparse").open("wb") as file:
        file.truncate(1 << 40)
    for name, target in {"null": "/dev/null", "out": "../secret.txt", "loop": "loop", "pipe-link": "pipe"}.items():
        (root / name).symlink_to(target)
    monkeypatch.chdir(root)  # a socket's name must be short
    with socket.socket(socket.AF_UNIX) as server:
        server.bind("socket")
        told = {
            "nowhere.md": "it is not there",
            "docs": "it is a folder, not a file",
            "pipe": "it is a pipe, not a file",
            "pipe-link": "it is a pipe, not a file",
            "socket": "it is a socket, not a file",
            "empty": "it is empty",
            "null": "it is outside the root",
            "out": "it is outside the root",
            "../secret.txt": "it is outside the root",
            "/etc/passwd": "it is outside the root",
            "/proc/self/root/etc/passwd": "it is outside the root",
            "docs/../../secret.txt": "it is outside the root",
            "~/x": "it is not there",
            "a\0b": "it cannot be looked at",
            "\ud800": "it cannot be looked at",
            "n" * 300: "it cannot be looked at",
            "/".join(["deep"] * 2000): "it cannot be looked at",
            "old.md/x": "it is not there",
            "": "it is a folder, not a file",
            "sparse": "it claims 1099511627776 bytes and has 0 of them on disk",
        }
        grades = grade_artifacts(told, before=before, root=root, bases=(root,), tool_ledger={})
    assert {path: graded.reason for path, graded in grades.items()} == told
    assert {graded.grade for path, graded in grades.items() if path != "sparse"} == {"claimed"}
    assert grades["sparse"].grade == "unknown"
    assert {graded.sha256 for graded in grades.values()} == {None}
    assert grades["sparse"].facts.state == "special"
    assert grade(root, before, "loop").grade == "claimed"


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can make a device")
def test_a_device_is_not_opened(root: Path) -> None:
    try:
        os.mknod(root / "zero", 0o20666, os.makedev(1, 5))
    except PermissionError:
        pytest.skip("no devices in this container")
    graded = grade(root, take_snapshot(root), "zero")
    assert (graded.grade, graded.reason) == ("claimed", "it is a device, not a file")


@pytest.mark.parametrize("path", [".git/notes.md", ".remit/x.md", "docs/.git/x.md", "docs/.GIT/x.md", ".Remit/x.md"])
def test_where_no_snapshot_looks_is_no_place_for_artifacts(root: Path, path: str) -> None:
    before = take_snapshot(root)
    write_tree(root, {path: "hidden"})
    (root / "link.md").symlink_to(path)
    for name in (path, "link.md"):
        graded = grade(root, before, name)
        assert (graded.grade, graded.sha256) == ("claimed", None)
        assert graded.reason == "it lies in .remit or .git, where no artifact belongs"


def test_a_file_that_may_not_be_read_is_unknown() -> None:
    with open_tree() as root:
        write_tree(root, {"closed.md": "x", "folder/in.md": "x"})
        (root / "closed.md").chmod(0)
        (root / "folder").chmod(0)
        with unprivileged():
            grades = grade_artifacts(["closed.md", "folder/in.md"], before=None, root=root, bases=(root,))
        (root / "folder").chmod(0o755)
    assert (grades["closed.md"].grade, grades["folder/in.md"].grade) == ("unknown", "claimed")
    assert {graded.facts.state for graded in grades.values()} == {"unreadable"}
    assert grades["closed.md"].reason == "it cannot be read: permission denied"


def test_a_second_name_of_a_file_is_told(root: Path) -> None:
    """Where the other name is cannot be seen: it may be outside, and older than the work."""
    before = take_snapshot(root)
    (root / "hard.txt").hardlink_to(root.parent / "secret.txt")
    graded = grade(root, before, "hard.txt")
    assert (graded.grade, graded.links) == ("unknown", 2)
    assert "second name" in graded.reason


@pytest.mark.parametrize("ledger", [None, {"old.md": {"write"}}], ids=["untold", "written"])
def test_a_second_name_in_the_place_of_a_file_is_told_as_well(root: Path, ledger: dict[str, set[str]] | None) -> None:
    """`ln -f` gives a path another content without anybody having written a word."""
    write_tree(root, {"docs/older.md": "of last week"})
    before = take_snapshot(root, hash_paths=["."])
    (root / "old.md").unlink()
    (root / "old.md").hardlink_to(root / "docs/older.md")
    graded = grade(root, before, "old.md", ledger)
    assert (graded.grade, graded.links) == ("unknown", 2)
    assert "second name" in graded.reason


def test_a_file_that_had_two_names_before_can_be_written_to(root: Path) -> None:
    (root / "twin.md").hardlink_to(root / "old.md")
    before = take_snapshot(root, hash_paths=["."])
    with (root / "old.md").open("a") as file:
        file.write(" more")
    assert (grade(root, before, "old.md").grade, grade(root, before, "twin.md").grade) == ("changed", "changed")


def test_a_file_that_is_too_large_to_hash_is_graded_without(root: Path) -> None:
    before = take_snapshot(root)
    write_tree(root, {"large.md": "x" * 20, "small.md": "x"})
    grades = grade_artifacts(["large.md", "small.md"], before=before, root=root, bases=(root,),
                             limits=Limits(max_file_bytes=10))  # fmt: skip
    assert [(each.grade, each.sha256) for each in grades.values()] == [("changed", None), ("changed", digest("x"))]
    assert grades["large.md"].reason == "it is larger than 10 bytes and was not hashed"


# Exchanged between looking and reading


@pytest.mark.slow
@pytest.mark.parametrize("what", ["file", "folder", "pipe"])
def test_no_exchange_gets_an_outside_file_graded(root: Path, what: str) -> None:
    """Whatever is read was below the root, however often something else is put in its place."""
    before = take_snapshot(root)
    outside = write_tree(root.parent / "outside", {"plan.md": OUTSIDE})
    docs, away = root / "docs", root.parent / "away"
    plan = docs / "plan.md"
    calls: dict[str, list[tuple[str | Path, ...]]] = {
        "file": [("rename", plan, away), ("symlink", outside / "plan.md", plan), ("rename", away, plan)],
        "folder": [("rename", docs, away), ("symlink", outside, docs), ("unlink", docs), ("rename", away, docs)],
        "pipe": [("rename", plan, away), ("mkfifo", plan), ("unlink", plan), ("rename", away, plan)],
    }
    seen: set[str] = set()
    with Swapper(*calls[what]) as swapper:
        while swapper.count < 3000 or not seen & {"outside", "special"} or "file" not in seen:
            graded = grade(root, before, "docs/plan.md")
            assert graded.sha256 in {digest("two"), None}
            seen.add(graded.facts.state)


@pytest.mark.parametrize("what", ["link", "pipe", "folder"])
def test_an_exchange_at_the_last_moment_is_noticed(root: Path, what: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """After the last look, before the opening: the call in between does it every time."""
    plan = root / "docs/plan.md"
    actual = os.stat
    exchanged: list[str] = []

    def exchange(path: str, *, dir_fd: int | None = None, follow_symlinks: bool = True) -> os.stat_result:
        found = actual(path, dir_fd=dir_fd, follow_symlinks=follow_symlinks)
        if path == "plan.md" and not exchanged:
            plan.unlink()
            if what == "link":
                plan.symlink_to("../../secret.txt")
            elif what == "pipe":
                os.mkfifo(plan)
            else:
                plan.mkdir()
            exchanged.append(path)
        return found

    monkeypatch.setattr(os, "stat", exchange)
    graded = grade(root, None, "docs/plan.md")
    assert exchanged
    assert (graded.grade, graded.sha256) == ("claimed", None)


def test_a_file_that_grows_while_it_is_read_has_no_hash(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = take_snapshot(root)
    actual = os.read
    grown: list[bytes] = []

    def read(handle: int, size: int) -> bytes:
        data = actual(handle, size)
        if data and not grown:
            with (root / "old.md").open("a") as file:
                file.write("more")
            grown.append(data)
        return data

    monkeypatch.setattr(os, "read", read)
    graded = grade(root, before, "old.md")
    assert grown
    assert (graded.grade, graded.sha256, graded.reason) == ("changed", None, "it changed while it was read")


# What nobody claimed


def test_what_changed_and_was_not_claimed_is_listed(root: Path) -> None:
    before = take_snapshot(root)
    write_tree(root, {"a.md": "made", "b.md": "made", ".git/hooks/pre-commit": "#!/bin/sh\n", "docs/plan.md": "six"})
    (root / "latest.md").symlink_to("b.md")
    (root / "old.md").unlink()
    comparison = compare(before, take_snapshot(root))
    grades = grade_artifacts(["./a.md", "latest.md"], before=before, root=root, bases=(root,))
    unclaimed = [(change.path, change.kind) for change in list_unclaimed(comparison, grades.values())]
    assert unclaimed == [(".git/hooks/pre-commit", "created"), ("docs/plan.md", "doubtful"), ("old.md", "deleted")]
    assert len(list_unclaimed(comparison, [])) == 6
