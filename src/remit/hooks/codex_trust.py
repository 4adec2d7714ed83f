"""Codex trust: the folders and hooks of a workspace that the user trusts in Codex.

Codex calls the hooks of a repository only if the user trusts the folder and each unchanged hook. Remit never writes
trust into the user's settings, because it is the user's consent.
"""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any, NamedTuple

from remit.errors import RemitError, RunnerError
from remit.harnesses import codex
from remit.hooks.install import CODEX

if TYPE_CHECKING:
    from collections.abc import Mapping

_ASK_SECONDS = 20.0
_MAX_BYTES = 4 * 1024 * 1024


class CodexTrust(NamedTuple):
    """The trusted folders that contain a workspace, and the hashes of its trusted hooks."""

    folders: tuple[str, ...] = ()
    hooks: tuple[tuple[str, str], ...] = ()

    def covers(self, event: str, root: str) -> bool:
        """Return whether a hook of an event was trusted; only Codex knows whether the hook has changed since."""
        start = f"{root}/{CODEX}:{codex.TRUSTED_EVENTS.get(event, event)}:"
        return any(key.startswith(start) for key, _ in self.hooks)


def load_trust(root: str) -> CodexTrust:
    """Return what the user trusts of a workspace in Codex; nothing if the user's settings can't be read."""
    import tomllib

    from remit.storage.files import load_bytes

    folder = os.environ.get(codex.FOLDER_VARIABLE) or os.path.expanduser(codex.HOME)
    try:
        table: dict[str, Any] = tomllib.loads(
            load_bytes(f"{folder}/{codex.HOME_SETTINGS}", max_bytes=_MAX_BYTES).decode()
        )
    except (RemitError, ValueError, RecursionError):
        return CodexTrust()
    projects, hooks = _get(table, "projects"), _get(_get(table, "hooks"), "state")
    folders = [name for name in projects if _get(projects, name).get("trust_level") == "trusted"]
    keys = {key: _get(hooks, key).get(codex.HASH_KEY) for key in hooks if key.startswith(f"{root}/{CODEX}:")}
    return CodexTrust(
        tuple(name for name in folders if name == root or root.startswith(f"{name.rstrip('/')}/")),
        tuple((key, value) for key, value in keys.items() if isinstance(value, str)),
    )


def _get(table: dict[str, Any], key: str) -> dict[str, Any]:
    value = table.get(key)
    return value if isinstance(value, dict) else {}


def copy_trust(root: str, folder: str, program: str, environ: Mapping[str, str]) -> dict[str, str]:
    """Copy the user's trust in Remit's hooks of the workspace to a temporary folder with its own settings.

    Return why Codex skips each of the workspace's hooks, by event; empty for a hook that it calls. Without hooks in the
    result, Codex doesn't trust the folder.
    """
    from remit.storage.probe import append_text

    settings, trust = f"{environ[codex.FOLDER_VARIABLE]}/{codex.HOME_SETTINGS}", load_trust(root)
    for name in (*trust.folders, folder):
        append_text(settings, f'\n[projects.{json.dumps(name)}]\ntrust_level = "trusted"\n')
    for key, value in trust.hooks:
        append_text(settings, f"\n[hooks.state.{json.dumps(key)}]\n{codex.HASH_KEY} = {json.dumps(value)}\n")
    own = _list_own(root, program, environ)
    called = {(hook["eventName"], hook["command"]) for hook in own if not _explain_skipped(hook)}
    for hook in _list_own(folder, program, environ) if called else ():
        if (hook["eventName"], hook["command"]) in called:
            key, value = json.dumps(hook["key"]), json.dumps(hook["currentHash"])
            append_text(settings, f"\n[hooks.state.{key}]\n{codex.HASH_KEY} = {value}\n")
    return {hook["eventName"][:1].upper() + hook["eventName"][1:]: _explain_skipped(hook) for hook in own}


def _list_own(folder: str, program: str, environ: Mapping[str, str]) -> list[dict[str, Any]]:
    """Remit's hooks in a folder, as Codex itself lists them; none if it does not trust the folder."""
    from remit.hooks.settings_files import is_own_command
    from remit.storage.probe import converse

    opening = {"id": 1, "method": "initialize", "params": {"clientInfo": {"name": "remit", "version": "1"}}}
    asking = {"id": 2, "method": codex.LIST_HOOKS, "params": {"cwds": [folder]}}
    lines = [json.dumps({"jsonrpc": "2.0", **each}) for each in (opening, {"method": "initialized"}, asking)]
    answer = converse(
        [program, codex.SERVER_COMMAND], environ=environ, lines=lines, until='"id":2', seconds=_ASK_SECONDS
    )
    try:
        hooks: list[dict[str, Any]] = [hook for each in json.loads(answer)["result"]["data"] for hook in each["hooks"]]
        return [hook for hook in hooks if is_own_command(hook["command"]) and hook["source"] == "project"]
    except (ValueError, KeyError, TypeError, RecursionError):
        hint = f"check whether `codex {codex.SERVER_COMMAND}` starts"
        raise RunnerError("codex didn't list the hooks that it would call", hint=hint) from None


def _explain_skipped(hook: Mapping[str, Any]) -> str:
    if hook.get("trustStatus") == "untrusted":
        return "you haven't trusted it in Codex"
    if hook.get("trustStatus") == "modified":
        return "it has changed since you trusted it in Codex"
    return "" if hook.get("enabled") is not False else "it is disabled in Codex: see /hooks"
