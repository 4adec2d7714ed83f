"""The files below the root of a workspace that Remit itself changes while agents work.

Loaded when a hook judges a return, so it takes what is set as plain values and imports little.
"""

from __future__ import annotations

from remit.errorlog import FILE as ERROR_LOG
from remit.light_namedtuple import NamedTuple
from remit.manifest.manifest_file import find_place
from remit.storage.spec_root import ARCHIVE, ARCHIVED_TEXTS, FOLDERS, STATE, TODO, find_folder

TYPE_CHECKING = False
if TYPE_CHECKING:
    from remit.config import Settings


class FilePlaces(NamedTuple):
    """The places that a workspace has set; None: the default."""

    tasks: str | None = None
    manifest: str | None = None
    outputs: str | None = None


def get_file_places(settings: Settings) -> FilePlaces:
    """The places in the settings."""
    return FilePlaces(settings.tasks.folder, settings.manifest.path, settings.manifest.output_dir)


def list_own_files(root: str, kept: FilePlaces) -> tuple[str, ...]:
    """Tasks, errors and the manifest, below the root."""
    folder = kept.tasks or find_folder(root)
    names = (STATE, TODO, ARCHIVE, ARCHIVED_TEXTS, ERROR_LOG)
    places = FOLDERS if folder is None else (folder,)  # before the first task, each of them may become the folder
    return (*(f"{place}/{name}" for place in places for name in names), find_place(root, kept.manifest, kept.outputs))
