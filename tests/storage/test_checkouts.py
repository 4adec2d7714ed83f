"""Checkouts: the way to the main one, by pointers that are believed only where both ends agree."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from remit.storage.checkouts import find_main_checkout
from tests.support.git_checkout import Checkout, make_checkout
from tests.support.paths import SOURCE


@pytest.fixture
def side(checkout: Checkout, tmp_path: Path) -> Path:
    """A linked worktree."""
    checkout.git("worktree", "add", "-q", str(tmp_path / "side"))
    return tmp_path / "side"


def test_a_linked_worktree_leads_to_the_main_checkout(checkout: Checkout, side: Path) -> None:
    main = str(checkout.root.resolve())
    assert find_main_checkout(str(side)) == main
    assert find_main_checkout(str(side / "specs")) == f"{main}/specs"
    (side.parent / "link").symlink_to(side)
    assert find_main_checkout(str(side.parent / "link")) == main


def test_relative_pointers_are_followed(checkout: Checkout, side: Path) -> None:
    """As newer versions of git write them."""
    own = checkout.root / ".git/worktrees/side"
    (side / ".git").write_text("gitdir: ../project/.git/worktrees/side\n")
    (own / "gitdir").write_text("../../../../side/.git\n")
    assert find_main_checkout(str(side)) == str(checkout.root.resolve())


def test_what_is_no_linked_worktree_leads_nowhere(checkout: Checkout, tmp_path: Path) -> None:
    library = make_checkout(tmp_path / "library")
    checkout.git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(library.root), "sub")
    checkout.git("clone", "-q", "--bare", str(library.root), str(tmp_path / "bare.git"))
    Checkout(tmp_path / "bare.git").git("worktree", "add", "-q", str(tmp_path / "of-bare"))
    for folder in ("project", "project/specs", "project/sub", "bare.git", "of-bare", "nowhere", "."):
        assert find_main_checkout(str(tmp_path / folder)) is None
    assert find_main_checkout("/") is None
    assert find_main_checkout("a\0b" if sys.version_info < (3, 10) else str(tmp_path / ("n" * 5000))) is None


@pytest.mark.parametrize(
    "text",
    ["", "gitdir:", "gitdir: ", "gitdir: /", "gitdir: .", "gitdir: /proc/self/fd", "gitdir: /nowhere", "nonsense",
     "gitdir: a\0b", "gitdir: " + "x" * 5000, "gitdir: {own}\nmore", "gitdir: {own}/..", "gitdir: {own}/../.."],
)  # fmt: skip
def test_a_pointer_that_leads_elsewhere_is_not_followed(checkout: Checkout, side: Path, text: str) -> None:
    own = f"{checkout.root}/.git/worktrees/side"
    (side / ".git").write_text(text.replace("{own}", own))
    assert find_main_checkout(str(side)) is None


def test_a_worktree_that_the_repository_does_not_know_is_not_believed(checkout: Checkout, side: Path) -> None:
    """A folder from somewhere with the `.git` file of another worktree is not that worktree."""
    stranger = side.parent / "stranger"
    stranger.mkdir()
    (stranger / ".git").write_text((side / ".git").read_text())
    assert find_main_checkout(str(stranger)) is None
    (checkout.root / ".git/worktrees/side/gitdir").unlink()
    assert find_main_checkout(str(side)) is None


@pytest.mark.parametrize("name", ["side/.git", "own/commondir", "own/gitdir"])
@pytest.mark.parametrize("kind", ["pipe", "link", "folder", "huge"])
def test_a_pointer_that_is_no_small_file_is_not_read(checkout: Checkout, side: Path, name: str, kind: str) -> None:
    file = Path(name.replace("side", str(side)).replace("own", f"{checkout.root}/.git/worktrees/side"))
    text = file.read_text()
    file.unlink()
    if kind == "pipe":
        os.mkfifo(file)
    elif kind == "link":
        (side.parent / "text").write_text(text)
        file.symlink_to(side.parent / "text")
    elif kind == "folder":
        file.mkdir()
    else:
        file.write_text(text + " " * 5000)
    program = "import sys; from remit.storage.checkouts import find_main_checkout as f; print(f(sys.argv[1]))"
    command = [sys.executable, "-c", program, str(side)]
    assert subprocess.run(command, capture_output=True, text=True, check=True, timeout=20).stdout == "None\n"


def test_asking_starts_nothing_and_loads_nothing_heavy() -> None:
    """It is asked whenever Remit starts."""
    program = (
        "import sys; from remit.storage.checkouts import find_main_checkout as f; f('.'); "
        "print({'subprocess', 'selectors', 'tempfile', 'typing', 're'} & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-S", "-c", program], capture_output=True, text=True, check=True,
                          env={"PYTHONPATH": str(SOURCE)})  # fmt: skip
    assert done.stdout == "set()\n"
