"""Command shell: installs the shell that a harness starts for each command instead of its own shell.

The files in `.remit/confine/` are `bash`, `zsh` and `sh`, which become that shell, and `codex`, which starts one of
them in Codex. They stay after the harness's settings no longer name them, because running sessions still use them.
"""

from __future__ import annotations

import os
import shlex
import shutil
from typing import TYPE_CHECKING

from remit.errors import StorageError
from remit.hooks.command_tickets import FOLDER, STARTER

if TYPE_CHECKING:
    from collections.abc import Mapping

    from remit.ledger.home import Home

KINDS = ("bash", "zsh")
_FILES = (*KINDS, "sh", STARTER)
"""opencode starts `sh` if the user has any other shell. In Codex, no setting can name a shell."""
_FOLDERS = ("/bin", "/usr/bin", "/usr/local/bin", "/opt/homebrew/bin")
_PACKAGED = f"{os.path.dirname(os.path.dirname(os.path.abspath(__file__)))}/harness_files/confine"


def choose_shell(root: str, environ: Mapping[str, str]) -> str:
    """Return the file that a harness has to start instead of the user's shell; "" if there is no bash or zsh."""
    named = environ.get("SHELL", "")
    order = KINDS if "bash" in named else tuple(reversed(KINDS))
    kinds = [kind for kind in order if kind in named.rpartition("/")[2]]
    kind = next((each for each in (*kinds, *order) if _find_real(each, environ)), "")
    return f"{root}/{FOLDER}/{kind}" if kind else ""


def install_shells(home: Home, environ: Mapping[str, str]) -> None:
    """Write the files of this version of Remit."""
    from remit.storage.files import storage_error, write_bytes

    home.make_folder("confine")
    for kind in _FILES:
        path = f"{home.root}/{FOLDER}/{kind}"
        if os.path.islink(path):
            raise StorageError(f"'{path}' is a link, and Remit doesn't write through links", hint="remove the link")
        try:
            write_bytes(path, render_shell(home.root, kind, environ).encode())
            os.chmod(path, 0o700)
        except OSError as error:
            raise storage_error(path, error) from error


def find_outdated(root: str, environ: Mapping[str, str]) -> str:
    """Return the first file that differs from this version of Remit; "" if none does."""
    for kind in _FILES:
        path = f"{root}/{FOLDER}/{kind}"
        try:
            with open(path, encoding="utf-8") as file:
                is_same = file.read() == render_shell(root, kind, environ)
        except (OSError, ValueError):
            return path
        if not is_same or not os.access(path, os.X_OK):
            return path
    return ""


def render_shell(root: str, kind: str, environ: Mapping[str, str]) -> str:
    """Return the text of a file of the command shell."""
    from remit.confine import make_command

    with open(f"{_PACKAGED}/{STARTER if kind == STARTER else 'shell'}", encoding="utf-8") as file:
        text = file.read()
    place = f"{root}/{FOLDER}"
    python, *words = make_command("PROFILE", [])
    launch = ['"$place/profiles/$name"' if word == "PROFILE" else shlex.quote(word) for word in (python, *words)]
    package = os.path.dirname(os.path.dirname(_PACKAGED))
    filled = {
        "@PLACE@": shlex.quote(place),
        "@REAL@": shlex.quote(_find_real(kind, environ) or f"/bin/{kind}"),
        "@KIND@": kind,
        "@PYTHON@": shlex.quote(python),
        "@LAUNCHER@": shlex.quote(f"{package}/confine/launcher.py"),
        "@LAUNCH@": " ".join(launch),
    }
    for mark, value in filled.items():
        text = text.replace(mark, value)
    return text


def _find_real(kind: str, environ: Mapping[str, str]) -> str:
    """Return the path of a shell that the user's harness would start; "" if there is none."""
    named = environ.get("SHELL", "")
    if named.rpartition("/")[2] == kind and f"/{FOLDER}/" not in named and os.access(named, os.X_OK):
        return named
    found = shutil.which(kind, path=environ.get("PATH"))
    places = [*([found] if found else []), *(f"{folder}/{kind}" for folder in _FOLDERS)]
    return next((each for each in places if os.path.isabs(each) and os.access(each, os.X_OK)), "")
