"""Ways: what a tool wrote, by links that were there before and by no other."""

import time
from pathlib import Path

import pytest

from remit.evidence.artifacts import find_written_path
from tests.support.file_trees import write_tree


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A project with a file behind a link, one in a folder behind a link, and another name for all of it."""
    made = write_tree(tmp_path / "project", {"docs/plan.md": "one", "big.bin": "two"})
    (made / "link.md").symlink_to("docs/plan.md")
    (made / "papers").symlink_to(made / "docs")
    (made / "docs" / "up").symlink_to("../link.md")
    (made / "out").symlink_to("..")
    (tmp_path / "alias").symlink_to("project")
    time.sleep(0.02)
    return made


@pytest.mark.parametrize(
    ("path", "found"),
    [
        ("docs/plan.md", "docs/plan.md"), ("docs/../docs/./plan.md", "docs/plan.md"), ("new/made.md", "new/made.md"),
        ("link.md", "docs/plan.md"), ("papers/plan.md", "docs/plan.md"), ("papers/up", "docs/plan.md"),
        ("../secret.md", None), ("out/secret.md", None), ("a\0b", None), ("/etc/passwd", None),
    ],
)  # fmt: skip
def test_links_that_were_there_before_are_followed(root: Path, path: str, found: str | None) -> None:
    taken_ns = time.time_ns()
    time.sleep(0.02)
    assert find_written_path(str(root), path, taken_ns) == found
    if found is not None:
        for base in (root, root.parent / "alias"):
            assert find_written_path(str(root), f"{base}/{path}", taken_ns) == found
            assert find_written_path(str(base), f"{base}/{path}", taken_ns) == found


@pytest.mark.parametrize("path", ["t.md", "link.md", "docs/plan.md", "papers/plan.md", "docs/up"])
def test_a_link_that_was_put_there_since_proves_nothing(root: Path, path: str) -> None:
    taken_ns = time.time_ns()
    time.sleep(0.02)
    changed = root / ("docs" if path == "docs/plan.md" else path.partition("/")[0] if "papers" in path else path)
    if changed.is_symlink():
        changed.unlink()
    elif changed.exists():
        changed.rename(root / "away")
    changed.symlink_to("away" if path == "docs/plan.md" else "big.bin")
    assert find_written_path(str(root), path, taken_ns) is None


def test_another_name_of_the_root_that_is_new_proves_nothing(root: Path) -> None:
    taken_ns = time.time_ns()
    time.sleep(0.02)
    time.sleep(0.02)
    (root.parent / "fresh").symlink_to("project")
    assert find_written_path(str(root), f"{root.parent}/fresh/big.bin", taken_ns) is None


def test_links_in_a_circle_lead_nowhere(root: Path) -> None:
    (root / "a").symlink_to("b")
    (root / "b").symlink_to("a")
    assert find_written_path(str(root), "a", time.time_ns()) is None


def test_where_a_file_was_taken_away_its_path_still_says_what_was_written(root: Path) -> None:
    taken_ns = time.time_ns()
    time.sleep(0.02)
    (root / "docs/plan.md").unlink()
    assert find_written_path(str(root), "docs/plan.md", taken_ns) == "docs/plan.md"
