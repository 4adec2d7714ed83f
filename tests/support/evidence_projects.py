"""Projects with real repositories to look at."""

import os
import subprocess
from pathlib import Path

from remit.evidence.take_tree import scan_again, take_tree
from remit.evidence.tree import Comparison, WorkTree
from remit.evidence.tree_comparison import compare
from remit.ledger.home import Home

_ENVIRONMENT = {
    "GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_GLOBAL": "/dev/null", "GIT_AUTHOR_NAME": "a", "GIT_AUTHOR_EMAIL": "a@example.com",
    "GIT_COMMITTER_NAME": "a", "GIT_COMMITTER_EMAIL": "a@example.com",
}  # fmt: skip


def git(folder: Path, *arguments: str) -> str:
    """Run git as a user would, without the settings of this machine."""
    command = ["git", "-c", "protocol.file.allow=always", *arguments]
    done = subprocess.run(
        command, cwd=folder, env=os.environ | _ENVIRONMENT, check=True, capture_output=True, text=True
    )
    return done.stdout


class Project:
    """A folder, with a repository unless `plain`, and its workspace."""

    def __init__(self, root: Path, files: dict[str, str] | None = None, *, plain: bool = False) -> None:
        self.root = root.resolve()
        self.root.mkdir(parents=True, exist_ok=True)
        self.home = Home(str(self.root))
        self.write(files or {})
        if not plain:
            git(self.root, "init", "-q", "-b", "main")
            git(self.root, "add", "-A")
            git(self.root, "commit", "-q", "--allow-empty", "-m", "first")

    def write(self, files: dict[str, str]) -> None:
        """Write files with their folders."""
        for name, text in files.items():
            file = self.root / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(text.encode())

    def take(self, *, expected: tuple[str, ...] = (), like: WorkTree | None = None) -> WorkTree:
        """Look at the project."""
        return take_tree(self.home, str(self.root), expected=expected) if like is None else scan_again(like)

    def compare(self, before: WorkTree) -> Comparison:
        """What changed since."""
        return compare(before, self.take(like=before))

    def show(self, before: WorkTree) -> dict[str, str]:
        """The paths that changed since, each with what became of it."""
        found = self.compare(before)
        changes = (*found.created, *found.changed, *found.deleted, *found.doubtful)
        return {change.path: change.kind for change in changes}
