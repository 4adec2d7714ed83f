"""Grades: an artifact counts when it changed since dispatch, inside the root, by this agent, and never in doubt."""

import hashlib
import os
import shutil
import socket
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from remit.errors import UsageError
from remit.evidence import artifact_grades as grades_module
from remit.evidence.artifact_grades import ArtifactGrade, find_birth, grade_artifacts, list_unclaimed
from remit.evidence.take_tree import scan_again, take_tree
from remit.evidence.tree import WorkTree
from remit.evidence.tree_comparison import compare
from remit.ledger.home import Home
from remit.model import ArtifactFacts
from tests.support.evidence_projects import Project
from tests.support.file_trees import open_tree, unprivileged, write_tree

OUTSIDE = "not to be read"


def digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def hash_blob(text: str) -> str:
    return hashlib.sha1(f"blob {len(text)}\0{text}".encode()).hexdigest()  # noqa: S324 - git's name of it


def take(root: Path, *, expected: tuple[str, ...] = ()) -> WorkTree:
    return take_tree(Home(str(root.resolve())), str(root), expected=expected)


def grade_all(root: Path, before: WorkTree | None, paths: Iterable[str], **more: Any) -> dict[str, ArtifactGrade]:  # noqa: ANN401
    after = None if before is None else scan_again(before)
    return grade_artifacts(paths, before=before, after=after, root=root, **({"bases": (root,)} | more))


def grade(root: Path, before: WorkTree | None, path: str, ledger: dict[str, set[str]] | None = None) -> ArtifactGrade:
    return grade_all(root, before, [path], tool_ledger=ledger)[path]


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A project with files in it, and a neighbour outside."""
    write_tree(tmp_path, {"secret.txt": OUTSIDE})
    return write_tree(tmp_path / "project", {"old.md": "one", "docs/plan.md": "two"})


# The four grades


def test_what_was_made_since_is_changed(root: Path) -> None:
    before = take(root)
    write_tree(root, {"docs/new.md": "made", "old.md": "longer"})
    made = grade(root, before, "docs/new.md")
    assert made == ArtifactGrade(
        ArtifactFacts("docs/new.md", "file", 4),
        "changed",
        "",
        digest("made"),
        1,
        None,
        ("docs/new.md",),
        hash_blob("made"),
    )
    assert grade(root, before, "old.md").grade == "changed"


def test_a_stale_file_is_unchanged(root: Path) -> None:
    """The oldest lie: a file from yesterday as the result of today."""
    stale = grade(root, take(root), "docs/plan.md")
    assert (stale.grade, stale.sha256) == ("unchanged", digest("two"))
    assert stale.reason == "its content did not change since the run began"


def test_a_touch_makes_no_artifact(root: Path) -> None:
    before = take(root)
    os.utime(root / "old.md")
    (root / "old.md").chmod(0o755)
    touched = grade(root, before, "old.md")
    assert (touched.grade, touched.reason) == ("unchanged", "its content did not change since the run began")
    (root / "old.md").write_text("six")
    assert grade(root, before, "old.md").grade == "changed"


def test_a_write_in_the_tool_ledger_attributes(root: Path) -> None:
    before = take(root)
    write_tree(root, {"new.md": "made", "old.md": "six"})
    by = {"./new.md": {"write"}, "old.md": {"read", "write"}, "docs/plan.md": {"write"}}
    assert [grade(root, before, path, by).grade for path in by if path != "docs/plan.md"] == ["attributed"] * 2
    unchanged = grade(root, before, "docs/plan.md", by)
    assert (unchanged.grade, unchanged.by_session) == ("unchanged", True)
    for ledger, by_session in ((None, None), ({}, False), ({"new.md": {"read"}}, False)):
        graded = grade(root, before, "new.md", ledger)
        assert (graded.grade, graded.by_session) == ("changed", by_session)


def test_a_write_of_the_same_content_is_no_change(root: Path) -> None:
    before = take(root)
    (root / "old.md").write_text("one")
    assert grade(root, before, "old.md", {"old.md": {"write"}}).grade == "unchanged"


def test_without_a_tree_every_file_is_unknown(root: Path) -> None:
    graded = grade(root, None, "old.md", {"old.md": {"write"}})
    assert (graded.grade, graded.reason) == ("unknown", "Remit has no record of the tree before the run")


def test_a_link_is_graded_by_what_it_leads_to(root: Path) -> None:
    """A fresh link to a stale file is no fresh file."""
    before = take(root)
    (root / "link.md").symlink_to("docs/plan.md")
    (root / "folder").symlink_to("docs")
    assert [grade(root, before, path).grade for path in ("link.md", "folder/plan.md")] == ["unchanged"] * 2
    (root / "docs/plan.md").write_text("longer")
    linked = grade(root, before, "link.md", {"docs/plan.md": {"write"}})
    assert (linked.grade, linked.places) == ("attributed", ("docs/plan.md", "link.md"))
    assert grade(root, before, "folder/plan.md", {"folder/plan.md": {"write"}}).grade == "attributed"
    up = grade(root, before, "folder/../docs/plan.md", {"old.md": {"write"}})
    assert (up.grade, up.places) == ("changed", ("docs/plan.md",))


def test_a_link_that_leads_elsewhere_now_is_unknown(root: Path) -> None:
    """Its content was there before, and the agent did change the link."""
    (root / "current.md").symlink_to("old.md")
    before = take(root)
    (root / "current.md").unlink()
    (root / "current.md").symlink_to("docs/plan.md")
    assert grade(root, before, "current.md").grade == "unknown"


def test_a_file_that_was_moved_behind_a_link_of_its_name_is_unchanged(root: Path) -> None:
    before = take(root)
    (root / "old.md").rename(root / "moved.md")
    (root / "old.md").symlink_to("moved.md")
    assert grade(root, before, "old.md").grade == "unchanged"
    (root / "moved.md").write_text("other")
    assert grade(root, before, "old.md").grade == "changed"


def test_a_workspace_of_its_own_is_looked_up_first(root: Path) -> None:
    before = take(root)
    other = write_tree(root.parent / "other", {"plan.md": "elsewhere"})
    write_tree(root, {"inner/plan.md": "made", "plan.md": "made"})
    (graded,) = grade_all(root, before, ["plan.md"], bases=(root / "inner", root)).values()
    assert (graded.grade, graded.places) == ("changed", ("inner/plan.md",))
    (graded,) = grade_all(root, before, ["plan.md"], bases=(other, root)).values()
    assert graded.grade == "unknown"
    assert graded.reason == "it is in a folder that Remit did not read before"
    expected = take(root, expected=(str(other),))
    (graded,) = grade_all(root, expected, ["plan.md"], bases=(other, root)).values()
    assert graded.grade == "unchanged"
    write_tree(other, {"plan.md": "written"})
    (graded,) = grade_all(root, expected, ["plan.md"], bases=(other, root)).values()
    assert (graded.grade, graded.places) == ("changed", (f"{other}/plan.md",))


def test_a_root_by_another_name_is_the_same_root(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    alias = root.parent / "alias"
    alias.symlink_to(root)
    before = take(alias)
    write_tree(root, {"new.md": "made"})
    assert grade(alias, before, "new.md") == grade(root, before, "new.md")
    assert grade(alias, before, str(alias / "new.md")).places == ("new.md",)
    monkeypatch.chdir(root)
    assert grade(Path(), before, "new.md").grade == "changed"


def test_a_tree_of_another_root_grades_nothing(root: Path) -> None:
    with pytest.raises(UsageError, match="can't be graded"):
        grade(root / "docs", take(root), "plan.md")


# What is refused


def test_what_is_not_a_file_is_missing(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = take(root)
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
            "nowhere.md": "it isn't there",
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
            "~/x": "it isn't there",
            "a\0b": "it can't be read",
            "\ud800": "it can't be read",
            "n" * 300: "it can't be read",
            "/".join(["deep"] * 2000): "it can't be read",
            "old.md/x": "it isn't there",
            "": "it is a folder, not a file",
            "sparse": "it claims 1099511627776 bytes and has 0 of them on disk",
        }
        grades = grade_all(root, before, told, tool_ledger={})
    assert {path: graded.reason for path, graded in grades.items()} == told
    assert {graded.grade for path, graded in grades.items() if path != "sparse"} == {"missing"}
    assert grades["sparse"].grade == "unknown"
    assert {graded.sha256 for graded in grades.values()} == {None}
    assert grade(root, before, "loop").grade == "missing"


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can make a device")
def test_a_device_is_not_opened(root: Path) -> None:
    try:
        os.mknod(root / "zero", 0o20666, os.makedev(1, 5))
    except PermissionError:
        pytest.skip("no devices in this container")
    graded = grade(root, take(root), "zero")
    assert (graded.grade, graded.reason) == ("missing", "it is a device, not a file")


@pytest.mark.parametrize("path", [".git/notes.md", ".remit/x.md", "docs/.git/x.md", "docs/.GIT/x.md", ".Remit/x.md"])
def test_folders_of_git_and_remit_are_no_place_for_artifacts(root: Path, path: str) -> None:
    before = take(root)
    write_tree(root, {path: "hidden"})
    (root / "link.md").symlink_to(path)
    for name in (path, "link.md"):
        graded = grade(root, before, name)
        assert (graded.grade, graded.sha256) == ("missing", None)
        assert graded.reason == "it is in .remit or .git, where no artifact belongs"


def test_a_file_that_may_not_be_read_is_unknown() -> None:
    with open_tree() as root:
        write_tree(root, {"closed.md": "x", "folder/in.md": "x"})
        (root / "closed.md").chmod(0)
        (root / "folder").chmod(0)
        with unprivileged():
            grades = grade_all(root, None, ["closed.md", "folder/in.md"])
        (root / "folder").chmod(0o755)
    assert (grades["closed.md"].grade, grades["folder/in.md"].grade) == ("unknown", "missing")
    assert {graded.facts.state for graded in grades.values()} == {"unreadable"}
    assert grades["closed.md"].reason == "it can't be read: permission denied"


def test_a_second_name_of_a_file_is_told(root: Path) -> None:
    """Where the other name is cannot be seen: it may be outside, and older than the work."""
    before = take(root)
    (root / "hard.txt").hardlink_to(root.parent / "secret.txt")
    graded = grade(root, before, "hard.txt")
    assert (graded.grade, graded.links) == ("unknown", 2)
    assert "second name" in graded.reason


@pytest.mark.parametrize("ledger", [None, {"old.md": {"write"}}], ids=["untold", "written"])
def test_a_second_name_in_the_place_of_a_file_is_told_as_well(root: Path, ledger: dict[str, set[str]] | None) -> None:
    """`ln -f` gives a path another content without anybody having written a word."""
    write_tree(root, {"docs/older.md": "of last week"})
    before = take(root)
    (root / "old.md").unlink()
    (root / "old.md").hardlink_to(root / "docs/older.md")
    graded = grade(root, before, "old.md", ledger)
    assert (graded.grade, graded.links) == ("unknown", 2)
    assert "second name" in graded.reason


def test_a_file_that_had_two_names_before_can_be_written_to(root: Path) -> None:
    (root / "twin.md").hardlink_to(root / "old.md")
    before = take(root)
    with (root / "old.md").open("a") as file:
        file.write(" more")
    assert (grade(root, before, "old.md").grade, grade(root, before, "twin.md").grade) == ("changed", "changed")


def test_a_file_that_is_too_large_to_hash_is_graded_without(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(grades_module, "_MAX_HASHED_BYTES", 10)
    before = take(root)
    write_tree(root, {"large.md": "x" * 20, "small.md": "x"})
    grades = grade_all(root, before, ["large.md", "small.md"])
    assert [(each.grade, each.sha256) for each in grades.values()] == [("changed", None), ("changed", digest("x"))]
    assert grades["large.md"].reason == "it is larger than 10 bytes and was not hashed"


# Files that git ignores


@pytest.fixture
def ignoring(tmp_path: Path) -> Path:
    """A repository that ignores a folder with a file in it."""
    return Project(tmp_path / "ignoring", {".gitignore": "out/\n", "out/old.md": "one", "a.md": "a"}).root


def test_an_ignored_file_is_judged_by_its_times(ignoring: Path) -> None:
    before = take(ignoring)
    write_tree(ignoring, {"out/new.md": "made"})
    if find_birth(str(ignoring / "out/new.md"), (ignoring / "out/new.md").stat()) is None:
        pytest.skip("this disk does not keep when a file was created")
    assert grade(ignoring, before, "out/new.md").grade == "changed"
    assert grade(ignoring, before, "out/new.md", {"out/new.md": {"write"}}).grade == "attributed"
    stale = grade(ignoring, before, "out/old.md")
    assert (stale.grade, stale.reason) == ("unchanged", "it did not change since the run began")
    write_tree(ignoring, {"out/old.md": "two"})
    edited = grade(ignoring, before, "out/old.md")
    assert (edited.grade, edited.sha256) == ("unknown", digest("two"))
    assert edited.reason == "git ignores it, and its times don't show whether the run changed it"
    assert grade(ignoring, before, "out/old.md", {"out/old.md": {"write"}}).grade == "attributed"


def test_an_ignored_file_on_a_disk_without_birth_times_is_unknown(
    ignoring: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = take(ignoring)
    write_tree(ignoring, {"out/new.md": "made"})
    monkeypatch.setattr(grades_module, "find_birth", lambda _file, _found: None)
    assert grade(ignoring, before, "out/new.md").grade == "unknown"
    assert grade(ignoring, before, "out/old.md").grade == "unchanged"


def test_an_old_file_that_moves_to_an_ignored_place_is_unknown(ignoring: Path) -> None:
    before = take(ignoring)
    (ignoring / "a.md").rename(ignoring / "out/moved.md")
    (ignoring / "out/second.md").hardlink_to(ignoring / "out/old.md")
    assert grade(ignoring, before, "out/moved.md").grade == "unknown"
    assert grade(ignoring, before, "out/second.md").grade == "unknown"


def test_a_file_that_stops_being_ignored_was_there_before(ignoring: Path) -> None:
    before = take(ignoring)
    (ignoring / ".gitignore").unlink()
    take(ignoring)  # another run, which takes the rules as they are now
    stale = grade(ignoring, before, "out/old.md")
    assert (stale.grade, stale.reason) == ("unchanged", "it was there before the run")


def test_a_name_in_another_case_is_the_file_that_the_folder_has(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A disk that ignores case, by calls of the system that do."""
    before = take(root)

    def fold(path: object) -> object:
        begin = str(root)
        return f"{begin}{path[len(begin) :].lower()}" if isinstance(path, str) and path.startswith(begin) else path

    for name in ("stat", "lstat", "open"):
        call = getattr(os, name)
        monkeypatch.setattr(os, name, lambda path, *given, call=call, **more: call(fold(path), *given, **more))
    monkeypatch.setattr(os.path, "realpath", lambda path, **_: os.path.abspath(path))  # noqa: PTH100
    assert os.stat(f"{root}/OLD.md").st_size == 3  # noqa: PTH116 - the call that was replaced
    after = scan_again(before)
    graded = grade_artifacts(["OLD.md", "Docs/PLAN.md"], before=before, after=after, root=root, bases=(root,))
    assert {path: each.grade for path, each in graded.items()} == {"OLD.md": "unchanged", "Docs/PLAN.md": "unchanged"}
    assert graded["Docs/PLAN.md"].places == ("Docs/PLAN.md", "docs/plan.md")


# What nobody claimed


def test_what_changed_and_was_not_claimed_is_listed(root: Path) -> None:
    Project(root)
    before = take(root)
    write_tree(root, {"a.md": "made", "b.md": "made", ".git/hooks/pre-commit": "#!/bin/sh\n", "docs/plan.md": "six"})
    (root / "latest.md").symlink_to("b.md")
    (root / "old.md").unlink()
    comparison = compare(before, scan_again(before))
    grades = grade_all(root, before, ["./a.md", "latest.md"])
    unclaimed = [(change.path, change.kind) for change in list_unclaimed(comparison, grades.values())]
    assert unclaimed == [(".git/hooks/pre-commit", "created"), ("docs/plan.md", "changed"), ("old.md", "deleted")]
    assert len(list_unclaimed(comparison, [])) == 6


# What can't be compared


def test_a_claim_in_a_repository_that_is_gone_is_unknown_and_others_are_graded(tmp_path: Path) -> None:
    """A file that was there before isn't new because the record of its repository is gone."""
    project = Project(tmp_path / "project", {"a.md": "one"})
    sub = Project(project.root / "sub", {"f.md": "old"}).root
    before = project.take()
    shutil.rmtree(sub / ".git")
    project.write({"n.md": "new"})
    found = grade_all(project.root, before, ["n.md", "a.md", "sub/f.md"])
    assert {path: each.grade for path, each in found.items()} == {
        "n.md": "changed", "a.md": "unchanged", "sub/f.md": "unknown",
    }  # fmt: skip
    assert "git can't compare 'sub'" in found["sub/f.md"].reason


def test_trees_that_can_not_be_read_make_every_claim_unknown(tmp_path: Path) -> None:
    project = Project(tmp_path / "project", {"a.md": "one"})
    before, after = project.take(), project.take()
    shutil.rmtree(project.root / ".remit")
    found = grade_artifacts(["a.md"], before=before, after=after, root=project.root, bases=(project.root,))["a.md"]
    assert found.grade == "unknown"
    assert "can't be compared" in found.reason
