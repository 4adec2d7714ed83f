"""A real repository to try things on, with whatever a hostile one could bring."""

import atexit
import os
import shutil
import subprocess
import tempfile
from functools import cache
from pathlib import Path

ENVIRONMENT = {
    "PATH": os.environ["PATH"],
    "HOME": "/nonexistent",
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_GLOBAL": "/dev/null",
    "LC_ALL": "C",
}

TEMPORARY = tempfile.gettempdir()
"""Not that of a test, which looks at what is in its own."""


class Checkout:
    """A folder under git; `git` is the plain program, as a user would call it."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def git(self, *arguments: str, check: bool = True) -> str:
        """Call the plain program here, with nothing switched off."""
        done = subprocess.run(
            ["git", *arguments], cwd=self.root, env=ENVIRONMENT, capture_output=True, text=True, check=False
        )
        assert not check or done.returncode == 0, done.stderr
        return done.stdout

    def put(self, name: str, text: str | bytes) -> Path:
        """Write a file."""
        file = self.root / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(text.encode() if isinstance(text, str) else text)
        return file

    def read(self, name: str, commit: str = "HEAD") -> bytes:
        """What a commit has at a path."""
        command = ["git", "cat-file", "blob", f"{commit}:{name}"]
        return subprocess.run(command, cwd=self.root, env=ENVIRONMENT, capture_output=True, check=True).stdout

    def tell_changes(self, commit: str = "HEAD") -> list[str]:
        """The paths that a commit changed."""
        out = self.git("diff-tree", "--root", "--no-commit-id", "--name-status", "-r", "-z", commit)
        fields = out.split("\0")
        return [f"{status} {path}" for status, path in zip(fields[::2], fields[1::2], strict=False)]


def make_checkout(root: Path, *options: str) -> Checkout:
    """A repository with one commit, of three files."""
    shutil.copytree(_make_template(options), root, symlinks=True, dirs_exist_ok=True)
    checkout = Checkout(root)
    checkout.git("update-index", "--refresh")  # the files are others than those that the index has seen
    return checkout


@cache
def _make_template(options: tuple[str, ...]) -> Path:
    """The repository that others are copies of: to copy is ten times as quick as to commit."""
    root = Path(tempfile.mkdtemp(prefix="remit-template-", dir=TEMPORARY))
    atexit.register(shutil.rmtree, root, ignore_errors=True)
    checkout = Checkout(root)
    checkout.git("init", "-q", "-b", "main", *options)
    checkout.git("config", "user.name", "Ada")
    checkout.git("config", "user.email", "ada@example.org")
    for name in ("a.md", "b.md", "specs/TODO.md"):
        checkout.put(name, f"{name} one\n")
    checkout.git("add", ".")
    checkout.git("commit", "-q", "-m", "first")
    return root
