"""`remit init`: survey a project, plan the missing files, and write them."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, NamedTuple

from remit.agent_files.discovery import find_agent_files
from remit.config import Settings
from remit.errors import InputError, RemitError, StorageError
from remit.git.attributes import UNION, UNSPECIFIED, add_union, find_merge, load_attributes
from remit.git.head import find_branch
from remit.ledger.home import Home
from remit.manifest.manifest_file import CLEO_FOLDER, find_manifest, place_manifest
from remit.storage.files import storage_error
from remit.storage.safe_path import replace_inside
from remit.storage.settings import find_workspace, is_inside, load_settings
from remit.storage.spec_root import find_folder, find_spec_root
from remit.tasks.outside_system import CLEO

if TYPE_CHECKING:
    from collections.abc import Mapping

OWN, SETTINGS, ATTRIBUTES = ".remit/.gitignore", "remit.toml", ".gitattributes"
_LOCK = "setup"


class ProjectSurvey(NamedTuple):
    """The parts of a workspace that exist before Remit adds any."""

    branch: str | None
    """The current branch; None without git."""
    agents: Mapping[str, int]
    """The number of agent files by folder."""
    tasks: str | None
    manifest: str
    """The path of the manifest, or the path that it gets with its first entry."""
    has_manifest: bool
    settings: str | None
    """The file with the workspace's settings."""
    has_cleo: bool
    spec_root: str = ""
    """The folder of the tasks, or the folder that it gets with the first task."""


class PlannedFile(NamedTuple):
    """A file below the root with its present and its planned content."""

    path: str
    before: bytes | None
    after: bytes


class InitPlan(NamedTuple):
    """What exists, what is missing, and what stays unchanged."""

    root: str
    found: ProjectSurvey
    writes: tuple[PlannedFile, ...]
    notes: tuple[str, ...] = ()
    undone: tuple[RemitError, ...] = ()
    """Why a missing part can't be written now."""


def plan_setup() -> InitPlan:
    """Return what a workspace has and which files Remit would write. Nothing is changed."""
    root = find_workspace()
    _check_places(root)
    settings = load_settings(root)
    found = _survey_project(root, settings)
    writes: list[PlannedFile] = []
    notes: list[str] = []
    undone: list[RemitError] = []
    if not os.path.lexists(f"{root}/{OWN}"):
        writes.append(PlannedFile(OWN, None, b"*\n"))
    if found.settings is None:
        writes.append(PlannedFile(SETTINGS, None, render_settings(found).encode()))
    if found.branch is not None or _is_below_git(root):
        _plan_attributes(root, found, writes, notes, undone)
    return InitPlan(root, found, tuple(writes), tuple(notes), tuple(undone))


def write_setup(setup: InitPlan) -> None:
    """Write the planned files, unless one has changed since."""
    home = Home(setup.root)
    with home.lock(_LOCK):
        _check_places(setup.root)
        for each in setup.writes:
            if each.path == OWN:  # created together with the folder of the lock
                continue
            try:
                replace_inside(setup.root, each.path, each.after, before=each.before)
            except OSError as error:
                raise storage_error(f"{setup.root}/{each.path}", error) from error


def _check_places(root: str) -> None:
    """Raise an error if a link would make Remit write outside of the workspace."""
    for name in (".remit", OWN, SETTINGS, ATTRIBUTES):
        file = f"{root}/{name}"
        if os.path.islink(file) and (not is_inside(file, root) or not os.path.exists(file)):
            message = f"'{file}' is a link whose target is outside of the workspace or missing"
            raise InputError(message, hint="remove the link")
    folder = f"{root}/.remit"
    if os.path.lexists(folder) and not os.path.isdir(folder):
        raise InputError(f"'{folder}' isn't a folder", hint="move it away")


def _survey_project(root: str, settings: Settings) -> ProjectSurvey:
    if os.path.lexists(f"{root}/{SETTINGS}"):
        file: str | None = SETTINGS
    else:  # a new remit.toml would hide settings in pyproject.toml
        file = None if settings == Settings() else "pyproject.toml"
    agents = find_agent_files((), root=root, exclude=settings.lint.exclude)
    folders = [each.path.rpartition("/")[0] or "." for each in agents]
    return ProjectSurvey(
        branch=find_branch(root),
        agents={folder: folders.count(folder) for folder in sorted(set(folders))},
        tasks=find_folder(root, settings.tasks.folder),
        manifest=place_manifest(root, settings),
        has_manifest=find_manifest() is not None,
        settings=file,
        has_cleo=os.path.isdir(f"{root}/{CLEO_FOLDER}"),
        spec_root=find_spec_root(root, settings.tasks.folder),
    )


def render_settings(found: ProjectSurvey) -> str:
    """Return a remit.toml for a project; settings without a known value are comments."""
    is_theirs = found.has_cleo and found.tasks is None
    commands = [f'{"" if is_theirs else "# "}{name} = "{command}"' for name, command in CLEO.items()]
    return "\n".join([
        "# Settings of this workspace. Lines that are commented out show further settings.",
        "",
        "[tasks]",
        f'{"" if found.tasks else "# "}folder = "{found.spec_root}"',
        "# An outside task system. Its commands run only after `remit config trust`.",
        *commands,
        "",
        "[manifest]",
        f'{"" if found.has_manifest else "# "}path = "{found.manifest}"',
        "",
        "[retention]",
        "# days = 90",
        "# megabytes = 1024",
        "",
        "[lint]",
        '# exclude = ["vendor/**"]',
        "",
    ])  # fmt: skip


def _plan_attributes(
    root: str, found: ProjectSurvey, writes: list[PlannedFile], notes: list[str], undone: list[RemitError]
) -> None:
    """Plan a line in .gitattributes that makes git keep both sides of the manifest, unless git is set otherwise."""
    before = load_attributes(root)
    try:
        merge = find_merge(root, found.manifest)
    except RemitError as error:
        message = f"{ATTRIBUTES} is not written: git can't say how it merges {found.manifest}: {error.message}"
        undone.append(StorageError(message, hint=error.hint))
        return
    if merge == UNSPECIFIED:
        writes.append(PlannedFile(ATTRIBUTES, before, add_union(before, found.manifest)))
    elif merge is None:
        if found.branch is not None:  # without a branch and without an answer of git there is no repository
            message = f"{ATTRIBUTES} is not written: git finds no checkout here"
            undone.append(StorageError(message, hint="run git status to see why"))
    elif merge != UNION:
        notes.append(f"git merges {found.manifest} as '{merge}', not as 'union': {ATTRIBUTES} stays unchanged")


def _is_below_git(root: str) -> bool:
    """Whether there is a `.git` in the root or above, even if its branch can't be read."""
    steps = root.rstrip("/").split("/")
    return any(os.path.lexists(f"{'/'.join(steps[:depth])}/.git") for depth in range(len(steps), 0, -1))
