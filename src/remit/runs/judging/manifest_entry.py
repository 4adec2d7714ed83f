"""The agent's own manifest entry: the line that is its return, and other lines that contradict it.

Older lines may have the same id, and other lines on the same work may have another status.
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
    """A line of the manifest, and what contradicts it."""

    line: str | None
    """None: no manifest is known. Empty: nothing was appended."""
    rival: str = ""
    """The different status of another entry that was appended for the same file or with the same id."""
    refused: Diagnostic | None = None
    """Why the entry doesn't count: its id is that of an older entry, or the manifest lies elsewhere."""


def find_entry(context: JudgingContext) -> AgentEntry:
    """The line that the agent appended: the last line on its topic or task, else the last line if it wrote alone."""
    if not context.manifest:
        return AgentEntry(None)
    if find_inside(context.root, context.manifest) is None:
        return AgentEntry("", refused=manifest_outside(name_below(context.root, context.manifest) or context.manifest))
    try:
        text = load_appended(context.manifest, context.manifest_bytes)
    except InputError:  # a folder or a pipe, so nothing was appended
        return AgentEntry("")
    lines = [line for line in text.split("\n") if line.strip()]
    entries = [_read(line) for line in lines]
    own = [at for at, entry in enumerate(entries) if _is_own(entry, context)]
    if not own and (not lines or (context.shared and len(lines) > 1)):
        return AgentEntry("")
    at = own[-1] if own else -1
    chosen = entries[at]
    rivals = [entry["status"] for entry in entries if _contradicts(entry, chosen)]
    return AgentEntry(lines[at], rivals[-1] if rivals else "", _find_taken(context.manifest, chosen))


def _read(line: str) -> dict[str, Any]:
    """The entry on a line, with aliases resolved; empty if the line isn't an entry."""
    try:
        entry = json.loads(line.lstrip("\ufeff"))
    except (ValueError, RecursionError):
        return {}
    return read_aliases(entry)[0] if isinstance(entry, dict) else {}


def _is_own(entry: dict[str, Any], context: JudgingContext) -> bool:
    tasks = entry.get("linked_tasks")
    of_task = (
        context.task_number is not None and isinstance(tasks, list) and str(context.task_number) in map(str, tasks)
    )
    return of_task or bool(context.topic and str(entry.get("id", "")).startswith(f"{context.topic}-"))


def _contradicts(entry: dict[str, Any], chosen: dict[str, Any]) -> bool:
    """Whether an entry is on the same work and has another status."""
    if not isinstance(entry.get("status"), str) or entry["status"] == chosen.get("status"):
        return False
    return any(_get_name(entry, field) == _get_name(chosen, field) != "" for field in ("id", "file"))


def _get_name(entry: dict[str, Any], field: str) -> str:
    """An id, or the name of a findings file without its folder, which has two possible bases."""
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
    except InputError:  # it was just removed; another check reports that
        return None
    if taken is None:
        return None
    hint = f"Call this one {taken.free[:80]}; if line {taken.line} is an earlier try of yours, remove that."
    return duplicate_id(str(entry["id"]), taken.line, taken.free, None)._replace(hint=hint)
