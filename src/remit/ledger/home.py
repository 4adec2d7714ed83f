"""The folder `.remit` of a workspace: its subfolders, its locks, and the ledger."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from remit.errors import StorageError
from remit.storage.files import make_private_folder, storage_error

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from remit.ledger import Ledger

FOLDER = ".remit"
TAKING, FINISHING, TASKS, MANIFEST, ERRORS = "taking", "finishing", "tasks", "manifest", "errors"
"""The locks. A process that needs several takes them in this order."""


class Home:
    """The root of a workspace and its folder `.remit`, which is created only when something is stored."""

    def __init__(self, root: str) -> None:
        self.root = root
        self.folder = f"{root}/{FOLDER}"
        self._ledger: Ledger | None = None
        self._lock_folder = ""

    def __repr__(self) -> str:
        return f"Home({self.root!r})"

    @property
    def is_made(self) -> bool:
        """True if the folder exists."""
        return os.path.isdir(self.folder)

    @property
    def ledger_file(self) -> str:
        """The path of the ledger."""
        return f"{self.folder}/ledger.db"

    @property
    def ledger(self) -> Ledger:
        """The ledger; opened or created on first use."""
        if self._ledger is None:
            from remit.ledger import Ledger  # noqa: PLC0415 - SQLite costs 4 ms

            self.make_folder()
            self._ledger = Ledger(self.ledger_file)
        return self._ledger

    def make_folder(self, name: str = "") -> str:
        """Create a subfolder of `.remit` if it is missing; return its path."""
        folder = f"{self.folder}/{name}" if name else self.folder
        for place in {self.folder, folder}:
            if os.path.islink(place):  # a repository could redirect every write with it
                raise StorageError(f"'{place}' is a symbolic link, but has to be a folder", hint="remove the link")
        try:
            make_private_folder(folder)
        except OSError as error:
            raise storage_error(folder, error) from error
        return folder

    def lock(self, name: str) -> AbstractContextManager[None]:
        """Lock one of the workspace's locks."""
        from remit.storage.locks import hold_lock  # noqa: PLC0415 - only if something is written

        if not self._lock_folder:
            self._lock_folder = self.make_folder("locks")
        return hold_lock(f"{self._lock_folder}/{name}.lock", make_folder=self._make_lock_folder)

    def _make_lock_folder(self) -> None:
        """Create the folder of the locks again if it was removed; to check each time would cost as much as the lock."""
        self.make_folder("locks")

    def close(self) -> None:
        """Close the ledger if it is open."""
        if self._ledger is not None:
            self._ledger.close()
            self._ledger = None
