"""The protected files and folders, which decide what agents may do. No agent may write to them.

The policy compares tool calls with the patterns in `PROTECTED`; a confined run mounts the same paths read-only
(`list_places`). An agent's own file can't allow a write to any of them.
"""

from __future__ import annotations

from remit.harnesses import claude, codex, gemini, opencode
from remit.light_namedtuple import NamedTuple

TYPE_CHECKING = False  # typing itself would cost 6 ms
if TYPE_CHECKING:
    from collections.abc import Mapping


class ProtectedPath(NamedTuple):
    """A protected file or folder."""

    path: str
    is_folder: bool = False
    blank: str = ""
    """The neutral content for a file that doesn't exist: it changes nothing for the program that reads it."""


class HarnessHome(NamedTuple):
    """The folder of a harness's settings in the user's home, and the protected paths in it."""

    home: str
    variable: str
    """The environment variable that names another folder; empty if there is none."""
    folders: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    private: tuple[str, ...] = ()
    """Folders that the harness writes while it runs. Changes of a confined run in them must be discarded."""
    state: tuple[str, ...] = ()
    """Patterns that no tool may write, but that the harness itself has to write while it runs."""


_JSON = "{}\n"
_WORKSPACE = (
    # Remit's own
    ProtectedPath("remit.toml"),
    ProtectedPath(".remit", is_folder=True),
    ProtectedPath("agents", is_folder=True),
    # the harnesses'
    *(
        ProtectedPath(path, is_folder=True)
        for harness in (claude, opencode, codex, gemini)
        for path in harness.PROTECTED_FOLDERS
    ),
    *(
        ProtectedPath(path, blank=blank)
        for files in (claude.PROTECTED_FILES, opencode.PROTECTED_FILES, gemini.PROTECTED_FILES)
        for path, blank in files.items()
    ),
)
"""Relative to the root of the workspace. The folders of git are found on disk: `GIT_PLACES`."""

GIT_PLACES = (
    ProtectedPath("hooks", is_folder=True),
    ProtectedPath("info", is_folder=True),
    ProtectedPath("config"),
    ProtectedPath("config.worktree"),
    ProtectedPath("commondir", blank=".\n"),
)
"""Hooks and settings of git in each git folder: of a repository, a submodule or a worktree."""
_GIT = (
    *(f".git/{place.path}{'/**' if place.is_folder else ''}" for place in GIT_PLACES),
    "**/.git/hooks/**",
    "**/.git/config",
    "**/.git/modules/**/hooks/**",
    "**/.git/modules/**/config",
    "**/.git/worktrees/*/config.worktree",
    "**/.git/worktrees/*/commondir",
)
_ANYWHERE = (
    "**/.remit",
    "**/.remit/**",
    *(
        f"**/{folder}/**"
        for folder in (
            *claude.AGENT_FOLDERS,
            *claude.COMMAND_FOLDERS,
            *opencode.AGENT_FOLDERS,
            *opencode.COMMAND_FOLDERS,
            *codex.AGENT_FOLDERS,
        )
    ),
)
"""Agent files of a harness, and Remit's own folder, below any folder of the workspace."""

HARNESSES = {
    "claude": HarnessHome(
        claude.HOME, claude.FOLDER_VARIABLE, claude.HOME_FOLDERS, claude.HOME_FILES, claude.HOME_PRIVATE,
        claude.HOME_STATE,
    ),
    "codex": HarnessHome(
        codex.HOME, codex.FOLDER_VARIABLE, codex.HOME_FOLDERS, codex.HOME_FILES, state=codex.HOME_STATE,
    ),
    "opencode": HarnessHome(
        opencode.HOME, opencode.FOLDER_VARIABLE, opencode.HOME_FOLDERS, private=opencode.HOME_PRIVATE
    ),
    "gemini": HarnessHome(gemini.HOME, "", gemini.HOME_FOLDERS, gemini.HOME_FILES, state=gemini.HOME_STATE),
}  # fmt: skip


def _list_patterns() -> tuple[str, ...]:
    """Return every protected path as a pattern, without those that another pattern covers."""
    found = [f"{place.path}/**" if place.is_folder else place.path for place in _WORKSPACE]
    found[found.index("agents/**")] = "agents/**/*.md"  # a folder of that name may contain a program
    found += [claude.SETTINGS_PATTERN, f"{gemini.FOLDER}/**", *_ANYWHERE, *_GIT, "~/.config/remit/**"]
    for harness in HARNESSES.values():
        folders = dict.fromkeys((*harness.folders, *harness.private))
        found += [f"{harness.home}/{name}/**".replace("//", "/") for name in folders]
        found += [*(f"{harness.home}/{name}" for name in harness.files), *harness.state]
    wide = tuple(each.removesuffix("**") for each in found if each.endswith("/**"))
    return tuple(
        each for each in found
        if f"**/{each}" not in found and not any(each.startswith(one) and each != f"{one}**" for one in wide)
    )  # fmt: skip


PROTECTED = _list_patterns()
"""Patterns of paths, relative to the root or to the home folder."""

SECRET = ("**/.remit/server.json", "**/.remit/confine/tickets/**")
"""Files that no agent may read either: the server's token, and the tickets of commands."""


def list_names(*, has_git: bool) -> list[str]:
    """Return the protected paths of a workspace, relative to its root, including those that don't exist."""
    names = [place.path if place.path != "agents" else "agents/**/*.md" for place in _WORKSPACE]
    return [*names, *((f".git/{place.path}" for place in GIT_PLACES) if has_git else (".git",))]


def list_places(
    root: str, home: str, harness: str, environ: Mapping[str, str]
) -> tuple[list[ProtectedPath], list[str]]:
    """Return the full paths that a confined run mounts read-only, and the folders whose changes are discarded.

    `harness`: the one whose settings are in folders that the run may write. All other settings are read-only anyway.
    """
    places = [place._replace(path=f"{root.rstrip('/')}/{place.path}") for place in _WORKSPACE]
    settings = HARNESSES.get(harness)
    if settings is None:
        return places, []
    folders = [settings.home.replace("~", home, 1)]
    named = environ.get(settings.variable, "") if settings.variable else ""
    folders += [named.rstrip("/")] if named.startswith("/") else []
    for folder in folders:
        places += [ProtectedPath(f"{folder}/{name}".rstrip("/"), is_folder=True) for name in settings.folders]
        blanks = [_JSON if name.endswith(".json") else "" for name in settings.files]
        places += [
            ProtectedPath(f"{folder}/{name}", blank=blank) for name, blank in zip(settings.files, blanks, strict=True)
        ]
    return places, [f"{folder}/{name}".rstrip("/") for folder in folders for name in settings.private]
