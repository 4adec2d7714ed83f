"""Evidence: what is said of a claimed path is what is on disk, wherever its links lead."""

import os
import socket
from pathlib import Path

import pytest

from remit.evidence.artifacts import inspect_artifacts
from remit.model import ArtifactFacts


def look(path: str, root: Path, *bases: Path) -> ArtifactFacts:
    return inspect_artifacts([path], root=root, bases=bases or (root,))[path]


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A project with a file in it, and a neighbour outside."""
    project = tmp_path / "project"
    (project / "docs").mkdir(parents=True)
    (project / "docs" / "notes.md").write_text("# Notes\n")
    (tmp_path / "secret.txt").write_text("outside")
    return project


def test_a_file_with_something_in_it_is_a_file(root: Path) -> None:
    """R0.12: a regular file, inside the root, not empty."""
    assert look("docs/notes.md", root) == ArtifactFacts("docs/notes.md", "file", 8)
    assert look("./docs//notes.md", root).state == "file"


@pytest.mark.parametrize("path", ["docs/other.md", "nowhere/a.md", "docs/notes.md/deeper"])
def test_what_is_not_there_is_missing(root: Path, path: str) -> None:
    """R0.12: also below a folder that is not there, or below a file."""
    assert look(path, root) == ArtifactFacts(path, "missing")


@pytest.mark.parametrize("path", ["docs/notes.md/", "docs/notes.md//", "docs/notes.md/.", "link.md/"])
def test_a_file_that_is_named_as_a_folder_is_missing(root: Path, path: str) -> None:
    """R0.12: with a slash behind it nobody can open it, and a task would be linked to it."""
    (root / "link.md").symlink_to("docs/notes.md")
    assert look(path, root) == ArtifactFacts(path, "missing")


def test_a_file_without_content_is_empty(root: Path) -> None:
    (root / "empty.md").touch()
    assert look("empty.md", root) == ArtifactFacts("empty.md", "empty", 0)


def test_a_folder_a_pipe_and_a_socket_are_special(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """R0.12: an artifact is a file that somebody can read; a pipe is not opened to find out."""
    os.mkfifo(root / "pipe")
    monkeypatch.chdir(root)  # a socket's name must be short
    with socket.socket(socket.AF_UNIX) as server:
        server.bind("socket")
        assert [look(name, root).state for name in ("docs", "docs/", "pipe", "socket", ".")] == ["special"] * 5


def test_a_link_that_ends_inside_is_followed(root: Path) -> None:
    (root / "link.md").symlink_to("docs/notes.md")
    (root / "folder").symlink_to(root / "docs")
    (root / "chain.md").symlink_to("link.md")
    assert [look(name, root).state for name in ("link.md", "folder/notes.md", "chain.md")] == ["file"] * 3


def test_a_link_that_ends_outside_is_outside(root: Path) -> None:
    """R0.6: a link inside the project can point anywhere."""
    (root / "link.txt").symlink_to("../secret.txt")
    (root / "up").symlink_to(root.parent)
    (root / "gone.txt").symlink_to("/no/such/place.txt")
    for name in ("link.txt", "up/secret.txt", "up", "gone.txt", "up/project/../secret.txt"):
        assert look(name, root).state == "outside"


def test_a_link_out_and_back_in_is_inside(root: Path) -> None:
    (root / "round").symlink_to("../project/docs")
    assert look("round/notes.md", root).state == "file"


def test_a_loop_of_links_is_no_file(root: Path) -> None:
    (root / "a").symlink_to("b")
    (root / "b").symlink_to("a")
    (root / "self").symlink_to("self")
    assert {look(name, root).state for name in ("a", "b", "self", "a/notes.md")} <= {"special", "unreadable", "missing"}


def test_a_dangling_link_is_missing(root: Path) -> None:
    (root / "dangling.md").symlink_to("docs/never.md")
    assert look("dangling.md", root).state == "missing"


@pytest.mark.skipif(not Path("/proc/self/root").exists(), reason="this system has no /proc")
def test_links_through_proc_are_followed_to_where_they_end(root: Path) -> None:
    """R0.6: /proc/self/root and its like lead to the same files under other names."""
    (root / "all").symlink_to("/proc/self/root")
    assert look(f"all{root}/docs/notes.md", root).state == "file"
    assert look(f"all{root.parent}/secret.txt", root).state == "outside"
    assert look("all/etc/passwd", root).state == "outside"
    with (root.parent / "secret.txt").open() as secret:
        (root / "open").symlink_to(f"/proc/self/fd/{secret.fileno()}")
        assert look("open", root).state == "outside"


@pytest.mark.parametrize("path", ["/etc/passwd", "../secret.txt", "docs/../../secret.txt"])
def test_a_path_that_leaves_by_its_spelling_is_outside(root: Path, path: str) -> None:
    """R0.6: the contract refuses these before anybody looks; whoever looks sees it too."""
    assert look(path, root).state == "outside"


def test_a_neighbour_with_a_longer_name_is_outside(root: Path) -> None:
    other = root.parent / "project-2"
    other.mkdir()
    (other / "a.md").write_text("x")
    (root / "link").symlink_to(other)
    assert look("link/a.md", root).state == "outside"


@pytest.mark.parametrize(
    "path",
    ["a" * 300, "/".join(["deep"] * 2000), "a\x00b", "\ud800.md"],
    ids=["long name", "long path", "nul", "surrogate"],
)
def test_a_path_that_no_system_takes_is_unreadable(root: Path, path: str) -> None:
    assert look(path, root).state == "unreadable"


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_file_behind_a_closed_folder_is_unreadable(root: Path) -> None:
    closed = root / "closed"
    closed.mkdir()
    (closed / "a.md").write_text("x")
    closed.chmod(0)
    try:
        assert look("closed/a.md", root).state == "unreadable"
    finally:
        closed.chmod(0o700)


def test_the_first_base_that_has_the_file_counts(root: Path) -> None:
    """R3.3: a workspace of its own comes before the root."""
    inner = root / "hyper"
    inner.mkdir()
    (inner / "notes.md").write_text("inner text")
    (root / "notes.md").write_text("outer")
    assert look("notes.md", root, inner, root).size_bytes == 10
    assert look("notes.md", root, root, inner).size_bytes == 5
    assert look("docs/notes.md", root, inner, root).state == "file"
    assert look("other.md", root, inner, root).state == "missing"


@pytest.fixture
def other(root: Path) -> Path:
    """A workspace of its own beside the root, with a file in it."""
    folder = root.parent / "other"
    folder.mkdir()
    (folder / "a.md").write_text("other")
    return folder


def test_a_base_beside_the_root_is_an_area_of_its_own(root: Path, other: Path) -> None:
    """R3.3: what is looked up in a workspace may end in that workspace or in the root."""
    (other / "in.md").symlink_to(root / "docs" / "notes.md")
    for name in ("a.md", "in.md", "docs/notes.md"):
        assert look(name, root, other, root).state == "file"
    assert look("a.md", root, root).state == "missing"


def test_a_link_out_of_root_and_base_is_outside(root: Path, other: Path) -> None:
    """R0.6: two places to end in are two, not any; the base that has the path decides, not the next one."""
    (other / "out.md").symlink_to("../secret.txt")
    (root / "out.md").write_text("another file of that name")
    assert look("out.md", root, other, root).state == "outside"
    (root / "to-other.md").symlink_to(other / "a.md")
    assert look("to-other.md", root, other, root).state == "outside"  # looked up in the root, which is all it may use


@pytest.mark.parametrize("inner", ["ws", "deep/ws"])
def test_a_base_below_the_root_opens_nothing_outside(root: Path, other: Path, inner: str) -> None:
    """R0.6: an agent can put a link where the workspace was."""
    (root / "deep").symlink_to(other)
    (other / "ws").symlink_to(root.parent)
    (root / "ws").symlink_to(root.parent)
    assert look("secret.txt", root, root / inner, root).state == "outside"
    alias = root.parent / "alias"
    alias.symlink_to(root)
    assert look("secret.txt", root, alias / inner, root).state == "outside"


def test_a_base_that_is_not_there_or_no_folder_has_nothing(root: Path) -> None:
    for base in (root.parent / "nowhere", root.parent / "secret.txt", root / "nowhere"):
        assert look("docs/notes.md", root, base, root).state == "file"
        assert look("other.md", root, base, root).state == "missing"


def test_a_root_that_is_a_link_is_the_folder_it_leads_to(root: Path) -> None:
    alias = root.parent / "alias"
    alias.symlink_to(root)
    assert look("docs/notes.md", alias).state == "file"


def test_every_path_is_looked_at_once(root: Path) -> None:
    facts = inspect_artifacts(["docs/notes.md", "b", "docs/notes.md"], root=root, bases=(root,))
    assert {path: each.state for path, each in facts.items()} == {"docs/notes.md": "file", "b": "missing"}
