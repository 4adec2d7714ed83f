"""`remit init`: survey a project, plan the files, and write them."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, NamedTuple

from remit.config import Settings
from remit.errors import InputError, RemitError, StorageError
from remit.manifest.places import CLEO_FOLDER, find_manifest, place_manifest
from remit.storage.settings import find_workspace, is_inside, load_settings

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

OWN, SETTINGS, ATTRIBUTES = ".remit/.gitignore", "remit.toml", ".gitattributes"
_LOCK = "setup"


class ProjectSurvey(NamedTuple):
    """What a workspace has before Remit adds anything."""

    branch: str | None
    """What is checked out; None where there is no git."""
    agents: Mapping[str, int]
    """How many agent files each folder has."""
    tasks: str | None
    manifest: str
    """Where the manifest is, or will be with its first entry."""
    has_manifest: bool
    settings: str | None
    """The file with the workspace's settings."""
    has_cleo: bool
    spec_root: str = ""
    """Where tasks are, or would be with the first one."""


class PlannedFile(NamedTuple):
    """A file below the root, as it is and as it shall be."""

    path: str
    before: bytes | None
    after: bytes


class InitPlan(NamedTuple):
    """What there is, what is missing, and what is left as it is."""

    root: str
    found: ProjectSurvey
    writes: tuple[PlannedFile, ...]
    notes: tuple[str, ...] = ()
    undone: tuple[RemitError, ...] = ()
    """What is missing and can't be written now."""


def plan_setup() -> InitPlan:
    """Find out what a workspace has, and what Remit would write; nothing is changed."""
    root = find_workspace()
    _check_places(root)
    settings = load_settings(root)
    found = _survey_project(root, settings)
    notes: list[str] = []
    undone: list[RemitError] = []
    writes = [*_plan_folder(root), *_plan_settings(found), *_plan_attributes(root, found, notes, undone)]
    return InitPlan(root, found, tuple(writes), tuple(notes), tuple(undone))


def write_setup(setup: InitPlan) -> None:
    """Write what was planned, unless something has changed since."""
    from remit.ledger.home import Home
    from remit.storage.files import storage_error
    from remit.storage.safe_path import replace_inside

    home = Home(setup.root)
    with home.lock(_LOCK):
        _check_places(setup.root)
        for each in setup.writes:
            file = f"{setup.root}/{each.path}"
            if each.path == OWN:  # made together with the lock's folder
                continue
            try:
                replace_inside(setup.root, each.path, each.after, before=each.before)
            except OSError as error:
                raise storage_error(file, error) from error


def _check_places(root: str) -> None:
    """Refuse a link that would have Remit write somewhere else."""
    for name in (".remit", OWN, SETTINGS, ATTRIBUTES):
        file = f"{root}/{name}"
        if os.path.islink(file) and (not is_inside(file, root) or not os.path.exists(file)):
            raise InputError(f"'{file}' is a link that leads out of the workspace or nowhere", hint="remove the link")
    folder = f"{root}/.remit"
    if os.path.lexists(folder) and not os.path.isdir(folder):
        raise InputError(f"'{folder}' isn't a folder", hint="move it away")


# --- what is there ---------------------------------------------------------------------------------------------------


def _survey_project(root: str, settings: Settings) -> ProjectSurvey:
    from remit.git.head import find_branch
    from remit.storage.spec_root import find_folder, find_spec_root

    return ProjectSurvey(
        branch=find_branch(root),
        agents=_count_agents(root, settings),
        tasks=find_folder(root, settings.tasks.folder),
        manifest=place_manifest(root, settings),
        has_manifest=find_manifest() is not None,
        settings=_find_settings(root, settings),
        has_cleo=os.path.isdir(f"{root}/{CLEO_FOLDER}"),
        spec_root=find_spec_root(root, settings.tasks.folder),
    )


def _find_settings(root: str, settings: Settings) -> str | None:
    """The file that the settings come from. One beside it would hide what pyproject.toml says."""
    if os.path.lexists(f"{root}/{SETTINGS}"):
        return SETTINGS
    return None if settings == Settings() else "pyproject.toml"


def _count_agents(root: str, settings: Settings) -> dict[str, int]:
    from remit.agent_files.discovery import find_agent_files

    folders = [
        each.path.rpartition("/")[0] or "." for each in find_agent_files((), root=root, exclude=settings.lint.exclude)
    ]
    return {folder: folders.count(folder) for folder in sorted(set(folders))}


# --- what is missing -------------------------------------------------------------------------------------------------


def _plan_folder(root: str) -> Iterator[PlannedFile]:
    if not os.path.lexists(f"{root}/{OWN}"):
        yield PlannedFile(OWN, None, b"*\n")


def _plan_settings(found: ProjectSurvey) -> Iterator[PlannedFile]:
    if found.settings is None:
        yield PlannedFile(SETTINGS, None, render_settings(found).encode())


def render_settings(found: ProjectSurvey) -> str:
    """A remit.toml for what was found; what is not known stands in it as a comment."""
    from remit.tasks.outside_system import CLEO

    is_theirs = found.has_cleo and found.tasks is None
    commands = [f'{"" if is_theirs else "# "}{name} = "{command}"' for name, command in CLEO.items()]
    return "\n".join([
        "# What this workspace has set for Remit. A line that is commented out shows what can be set.",
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
    root: str, found: ProjectSurvey, notes: list[str], undone: list[RemitError]
) -> Iterator[PlannedFile]:
    """Have git keep both sides of the manifest, unless somebody has decided otherwise."""
    if found.branch is None and not _is_below_git(root):
        return
    from remit.git.attributes import UNION, UNSPECIFIED, add_union, find_merge, load_attributes

    before = load_attributes(root)
    try:
        merge = find_merge(root, found.manifest)
    except RemitError as error:
        told = f"{ATTRIBUTES} is not written, for git does not say how it merges {found.manifest}: {error.message}"
        undone.append(StorageError(told, hint=error.hint))
        return
    if merge == UNSPECIFIED:
        yield PlannedFile(ATTRIBUTES, before, add_union(before, found.manifest))
    elif merge is None:
        if found.branch is not None:  # with neither a branch nor git's word for it, there is no repository
            told = f"{ATTRIBUTES} is not written, for git knows no checkout here"
            undone.append(StorageError(told, hint="see what git status says"))
    elif merge != UNION:
        notes.append(f"git merges {found.manifest} as '{merge}', not as 'union': {ATTRIBUTES} stays as it is")


def _is_below_git(root: str) -> bool:
    """Whether there is something for git, though its branch can't be read."""
    steps = root.rstrip("/").split("/")
    return any(os.path.lexists(f"{'/'.join(steps[:depth])}/.git") for depth in range(len(steps), 0, -1))


def _load(file: str) -> bytes | None:
    from remit.storage.files import load_bytes

    return load_bytes(file) if os.path.lexists(file) else None
