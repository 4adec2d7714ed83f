"""The agent's own entry: which line of the manifest is its return, and what other lines have against it.

Owns that question. Lines above it may have its id; lines of the same work may say something else.
"""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any

from remit.errors import InputError
from remit.light_namedtuple import NamedTuple
from remit.model import Diagnostic
from remit.returns.formats.manifest import read_aliases
from remit.storage.files import load_appended
from remit.storage.safe_path import find_inside, name_below

if TYPE_CHECKING:
    from remit.runs.judging.judging_context import JudgingContext


class AgentEntry(NamedTuple):
    """A line of the manifest, and what stands against it."""

    line: str | None
    """None: no manifest is known. Empty: nothing was appended."""
    rival: str = ""
    """The status of another entry that was appended for the same file or under the same id, where it is another."""
    refused: Diagnostic | None = None
    """Why the entry doesn't count: its id is that of an older entry, or the manifest lies elsewhere."""


def find_entry(scene: JudgingContext) -> AgentEntry:
    """The line that this work appended: the last of its topic or task; else the last, where nobody else wrote."""
    if not scene.manifest:
        return AgentEntry(None)
    if find_inside(scene.root, scene.manifest) is None:
        return AgentEntry("", refused=manifest_outside(name_below(scene.root, scene.manifest) or scene.manifest))
    try:
        text = load_appended(scene.manifest, scene.manifest_bytes)
    except InputError:  # a folder, a pipe: whatever it is, nothing was appended to it
        return AgentEntry("")
    lines = [line for line in text.split("\n") if line.strip()]
    entries = [_read(line) for line in lines]
    own = [at for at, entry in enumerate(entries) if _is_own(entry, scene)]
    if not own and (not lines or (scene.shared and len(lines) > 1)):
        return AgentEntry("")
    at = own[-1] if own else -1
    chosen = entries[at]
    rivals = [entry["status"] for entry in entries if _contradicts(entry, chosen)]
    return AgentEntry(lines[at], rivals[-1] if rivals else "", _find_taken(scene.manifest, chosen))


def _read(line: str) -> dict[str, Any]:
    """The entry on a line, its fields under their own names; empty where there is none."""
    try:
        entry = json.loads(line.lstrip("\ufeff"))
    except (ValueError, RecursionError):
        return {}
    return read_aliases(entry)[0] if isinstance(entry, dict) else {}


def _is_own(entry: dict[str, Any], scene: JudgingContext) -> bool:
    tasks = entry.get("linked_tasks")
    of_task = scene.task_number is not None and isinstance(tasks, list) and str(scene.task_number) in map(str, tasks)
    return of_task or bool(scene.topic and str(entry.get("id", "")).startswith(f"{scene.topic}-"))


def _contradicts(entry: dict[str, Any], chosen: dict[str, Any]) -> bool:
    """Whether an entry is of the same work and says that it ended otherwise."""
    if not isinstance(entry.get("status"), str) or entry["status"] == chosen.get("status"):
        return False
    return any(_get_name(entry, field) == _get_name(chosen, field) != "" for field in ("id", "file"))


def _get_name(entry: dict[str, Any], field: str) -> str:
    """An id, or the name of a findings file: its folder is given from the manifest, or from the root."""
    value = entry.get(field)
    return os.path.basename(value) if isinstance(value, str) else ""


def manifest_outside(path: str) -> Diagnostic:
    """The manifest, or its folder, is a link that leads out of the workspace.

    Why: a file outside the workspace is not the workspace's manifest, and other people may write it. Remit neither
    reads nor writes a manifest through such a link.

    Bad: an agent moves the manifest elsewhere and leaves a link to it.

    Good: the manifest is a file of the workspace.
    """
    message = f"'{path[:200]}' leads out of the workspace through a link, so Remit doesn't read it"
    return Diagnostic("EVD012", "error", message, "Put the manifest back as a file, then append your entry.")


def _find_taken(manifest: str, entry: dict[str, Any]) -> Diagnostic | None:
    from remit.manifest.ids import find_taken  # noqa: PLC0415
    from remit.returns.manifest_lines import duplicate_id  # noqa: PLC0415 - not for the other formats

    try:
        taken = find_taken(manifest, entry)
    except InputError:  # gone in this moment; that it begins with what it held is asked besides
        return None
    if taken is None:
        return None
    hint = f"Call this one {taken.free[:80]}; if line {taken.line} is an earlier try of yours, remove that."
    return duplicate_id(str(entry["id"]), taken.line, taken.free, None)._replace(hint=hint)
