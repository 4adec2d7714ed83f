"""Find Hyper's workspace root, the folder at which the paths of a `hyper` return start (R3.3, D2).

In the order of the plugin: the variable as the harness sets it for its agents; else the folder that the user's own
`~/.hyper` has for the project; else the project's `.hyper`.
"""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any

from remit.errors import RemitError
from remit.harnesses import claude
from remit.storage.files import load_bytes

if TYPE_CHECKING:
    from collections.abc import Mapping

HYPER_VARIABLE = "HYPER_WORKSPACE_ROOT"
"""The environment variable with the folder at which `hyper` paths start (R3.3)."""
_LOCAL = ".hyper"
_MAX_BYTES = 1024 * 1024


def find_workspace_root(root: str, environ: Mapping[str, str], *, runner: str = "") -> str:
    """Return Hyper's workspace root of a project, as an absolute path; empty if it has none."""
    own = (_load_claude_variable(root, environ) if runner == "claude" else "") or environ.get(HYPER_VARIABLE)
    if own:
        return os.path.join(root, own)  # a relative path starts at the root, not at this process's folder
    user = environ.get("HOME") or os.path.expanduser("~")
    home = f"{environ.get('XDG_DATA_HOME') or ''}/hyper"
    home = home if home.startswith("/") and home != "/hyper" and os.path.isdir(home) else f"{user}/{_LOCAL}"
    account = _load_json(f"{home}/active-account.json").get("activeAccountId", "local")
    local = _load_json(f"{root}/{_LOCAL}/workspace.json")
    if _is_name(account):
        folder = f"{home}/accounts/{account}/hyper"
        listed = _load_json(f"{folder}/workspaces.json").get("workspaces")
        real = os.path.realpath(root)
        rows = [each for each in listed if isinstance(each, dict)] if isinstance(listed, list) else []
        name = next((each.get("id") for each in rows if each.get("localPath") == real), None)
        name = name or local.get("workspaceId") or local.get("id")
        if _is_name(name) and os.path.isdir(f"{folder}/workspaces/{name}"):
            return f"{folder}/workspaces/{name}"
    return os.path.join(root, _LOCAL) if local else ""


def _load_claude_variable(root: str, environ: Mapping[str, str]) -> str:
    """Return the variable from Claude Code's settings, which apply to all its processes; the nearest settings first."""
    home = environ.get(claude.FOLDER_VARIABLE) or os.path.expanduser(claude.HOME)
    files = (f"{root}/{claude.LOCAL_SETTINGS}", f"{root}/{claude.SHARED_SETTINGS}", f"{home}/{claude.HOME_SETTINGS}")
    for file in files:
        variables = _load_json(file).get("env")
        own = variables.get(HYPER_VARIABLE) if isinstance(variables, dict) else None
        if isinstance(own, str) and own:
            return own
    return ""


def _is_name(value: object) -> bool:
    """Return whether a value is the name of a single folder."""
    return isinstance(value, str) and value not in ("", ".", "..") and "/" not in value and "\0" not in value


def _load_json(file: str) -> dict[str, Any]:
    """Return the object in a file; an empty one if it can't be read."""
    try:
        value = json.loads(load_bytes(file, max_bytes=_MAX_BYTES))
    except (RemitError, ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}
