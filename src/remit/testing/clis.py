"""Real harnesses for tests, and an environment in which they reach only one model.

`make agents` installs the programs into a separate folder. A test that needs a program calls `find_cli`, and is skipped
if there is none.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Literal

from remit.harnesses import claude, codex, gemini, opencode
from remit.storage import files

CliName = Literal["claude", "opencode", "codex", "gemini"]

SCRIPTED = "scripted"
"""The default name of the model."""
FOLDER = ".agents"
"""The folder of `make agents` in the project; the variable REMIT_AGENTS names another one."""

_SYSTEM = f"{sys.platform}-{({'x86_64': 'x64', 'aarch64': 'arm64'}).get(os.uname().machine, os.uname().machine)}"
_MODULES = {"claude": claude, "opencode": opencode, "codex": codex, "gemini": gemini}
_NOWHERE = "http://127.0.0.1:9"  # the discard port, which is closed: requests to a proxy there fail at once


def find_cli(name: CliName, folder: str | None = None) -> str | None:
    """Return the program of a harness as `make agents` installs it; None if it isn't installed.

    Without a folder, `$REMIT_AGENTS` is looked into, or else the first `.agents` from the working folder upwards.
    """
    base = folder or os.environ.get("REMIT_AGENTS") or _find_upwards(Path.cwd())
    if base is None:
        return None
    found = sorted(Path(base, name, "node_modules").resolve().glob(_MODULES[name].find_program(_SYSTEM)))
    return next((str(path) for path in found if os.access(path, os.X_OK)), None)


def _find_upwards(folder: Path) -> Path | None:
    return next((place / FOLDER for place in (folder, *folder.parents) if (place / FOLDER).is_dir()), None)


def make_environ(cli: CliName, home: str | os.PathLike[str], url: str, model: str = SCRIPTED) -> dict[str, str]:
    """A whole environment for a harness, with a home of its own and one model; see `ScriptedModel.environ`."""
    home = Path(home).absolute()
    # Codex refuses a home below the folder for temporary files, and that is where tests have theirs.
    files.make_private_folder(str(home / "tmp"))
    special, written = _MODULES[cli].set_up(str(home), url, model)
    for file, text in written.items():
        files.write_text(file, text, make_folders=True)
    proxies = {
        name: _NOWHERE for proxy in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY") for name in (proxy, proxy.lower())
    }
    own = {"NO_PROXY": "127.0.0.1,localhost", "no_proxy": "127.0.0.1,localhost"}
    return {
        "PATH": os.environ.get("PATH", os.defpath),
        "HOME": str(home),
        "TMPDIR": str(home / "tmp"),
        "LANG": "C.UTF-8",
        "TERM": "dumb",
        "NO_COLOR": "1",
        "DO_NOT_TRACK": "1",
        "XDG_CONFIG_HOME": str(home / ".config"),
        "XDG_DATA_HOME": str(home / ".local" / "share"),
        "XDG_STATE_HOME": str(home / ".local" / "state"),
        "XDG_CACHE_HOME": str(home / ".cache"),
        **proxies,
        **own,
        **special,
    }
