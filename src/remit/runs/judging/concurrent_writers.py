"""Concurrent writers: the other agents that could have written a file, or undone the work on it.

Another agent in the same tree makes a claim doubtful only if it was running when the file changed,
its permissions allow the path, and no record shows who did it. Records are of two kinds. A tool that writes files names
the file that it wrote. A command of Claude Code names the files that changed while it ran, and another agent may have
changed those; so such a record counts only if the records of every other agent rule that out.
"""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING, Any

from remit.harnesses.tool_names import get_operation
from remit.light_namedtuple import NamedTuple
from remit.model import NOTHING
from remit.policy import PROTECTED, PathContext, Permissions
from remit.policy.judge_call import check_switched_on, judge_path
from remit.runs.judging.conclusion import WrittenFiles

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

    from remit.evidence.artifact_grades import ArtifactGrade
    from remit.runners import ToolUse

_TICK_MS = 50
"""How far the clock of files may lag behind the clock of the ledger."""
_WHOLE_SECOND_MS = 2_000
"""The same on a disk that keeps whole seconds."""
UNTIL_NOW = 1 << 62
"""The time until which records are complete that are written as things happen."""
_WRITING = ("write", "edit", "bash")
"""The tools that can write a file."""


class ConcurrentRun(NamedTuple):
    """Another agent that worked in the same tree at the same time."""

    session_id: str
    started_ms: int = 0
    ended_ms: int | None = None
    """None: it is still running."""
    layers: tuple[Mapping[str, Any], ...] = ()
    """Its permissions and those of its callers, fixed at admission."""
    is_confined: bool = False
    written: frozenset[str] = frozenset()
    """The files that its tools wrote, by record."""
    writes: WrittenFiles = WrittenFiles()
    recorded_ms: int | None = None
    """Until when its records are complete, if it is still running."""


class NestedRun(NamedTuple):
    """A run that the agent started, directly or by another, and whose work was not accepted."""

    agent: str
    run: ConcurrentRun
    is_awaited: bool = False
    """Whether its caller did nothing but wait for it."""
    is_here: bool = True
    """Whether it worked in the same folder as the agent, and not in a worktree of its own."""


class EarlierRun(NamedTuple):
    """An earlier run that made a file."""

    session_id: str
    is_same_task: bool = False


class SharedTree(NamedTuple):
    """Where and since when the agent worked whose claims are judged, and who else did."""

    root: str = ""
    since_ms: int = 0
    others: tuple[ConcurrentRun, ...] = ()
    nested: tuple[NestedRun, ...] = ()
    made_below: Mapping[str, frozenset[str]] = NOTHING
    """The files that were accepted of nested runs, with their hashes."""
    accepted_ms: Mapping[str, int] = NOTHING
    """When the last nested run ended that was accepted, for each of these files."""
    find_made: Callable[[], Mapping[str, EarlierRun]] | None = None
    """Finds the files that earlier runs in the same folder made."""


def read_tool_uses(rows: list[tuple[str, str | None, bool]]) -> list[ToolUse]:
    """The tools that an agent used, as the ledger has them: name, file, and whether it failed."""
    from remit.runners.protocol import ToolUse  # noqa: PLC0415 - only for the ledger's records

    found: list[ToolUse] = []
    for tool, path, failed in rows:
        operation: Any = get_operation(tool)
        found.append(ToolUse(tool, operation, path, failed, ran=failed))
    return found


def list_seen(tools: Iterable[ToolUse] | None) -> list[str]:
    """The files that changed while a command ran, as the harness names them."""
    return [use.path for use in tools or () if use.operation == "run" and use.path]


def is_recorded(tools: Sequence[ToolUse] | None) -> bool:
    """Whether the records of some tools name every file that they can have written. A failed command may have."""
    return tools is not None and all(
        use.operation == "read" or use.path is not None or (use.failed and use.operation == "write") for use in tools
    )


def find_writers(grade: ArtifactGrade, tree: SharedTree, own_seen: Collection[str] = ()) -> list[ConcurrentRun]:
    """The other agents that could have written a file that changed.

    `own_seen`: the files that changed while a command of the agent itself ran.
    """
    changed_ms = _find_changed_ms(grade.places, tree)
    found = [
        other
        for other in tree.others
        if other.started_ms <= changed_ms and not _had_other_content(other, grade) and _may_write(other, grade, tree)
    ]
    if found and not {*grade.places}.isdisjoint(own_seen):
        found = [other for other in found if not _is_ruled_out(other, grade, changed_ms)]
    return found


def find_undoers(grade: ArtifactGrade, tree: SharedTree) -> list[ConcurrentRun]:
    """The other agents that could have removed a file, or restored what it was before.

    None, if nothing happened at that place since the agent began: then there was nothing to undo.
    """
    changed_ms = _find_undone_ms(grade.places, tree)
    if changed_ms is None:
        return []
    return [
        other
        for other in tree.others
        if other.started_ms <= changed_ms
        and not _left_changed(other, grade)
        and not _is_ruled_out(other, grade, changed_ms)
        and _may_write(other, grade, tree)
    ]


def find_origin(grade: ArtifactGrade, tree: SharedTree, *, is_written: bool) -> NestedRun | None:
    """The nested run that was not accepted and that a file comes from; None if the agent rewrote it since.

    A file that changed again since may still have most of that run's work in it. Only a record that a tool of the agent
    itself wrote the file (`is_written`), or a nested run that was accepted since, shows otherwise.
    """
    if any(grade.content in tree.made_below.get(place, ()) for place in grade.places):
        return None
    for nested in tree.nested:
        is_parallel = is_written and not nested.is_awaited
        is_left = not is_parallel and _has_left(nested.run, grade, tree)
        is_edited = not is_written and nested.is_here and _has_changed(nested.run, grade, tree)
        if (is_left or is_edited) and _may_write(nested.run, grade, tree):
            return nested
    return None


def _has_changed(run: ConcurrentRun, grade: ArtifactGrade, tree: SharedTree) -> bool:
    """Whether a run that has ended changed a file, and no nested run made it that was accepted then or since."""
    if _is_unrecorded(run, grade):
        return False
    changed = run.writes.changed or NOTHING
    left = {place: changed[place] for place in grade.places if place in changed}
    return any(
        content not in tree.made_below.get(place, ()) and tree.accepted_ms.get(place, 0) <= (run.ended_ms or 0)
        for place, content in left.items()
    )


def _is_unrecorded(run: ConcurrentRun, grade: ArtifactGrade) -> bool:
    """Whether the records of a run are complete and show no write to a file."""
    return run.writes.is_recorded and (run.written | run.writes.seen).isdisjoint(grade.places)


def _has_left(run: ConcurrentRun, grade: ArtifactGrade, tree: SharedTree) -> bool:
    """Whether a run that has ended left a file as it is now, by its tree; if that isn't kept, by the file's time."""
    if _is_unrecorded(run, grade):
        return False
    hashes: list[str | None] = [None]
    is_known = any(place in (run.writes.changed or ()) for place in grade.places)
    if run.writes.changed is not None and (grade.blob or is_known):  # its tree has no file that git ignores
        hashes = [run.writes.changed[place] for place in grade.places if place in run.writes.changed]
    if None in hashes or grade.content is None:
        changed_ms = _find_changed_ms(grade.places, tree)
        return bool(hashes) and run.started_ms <= changed_ms <= (run.ended_ms or 0) + 2 * _TICK_MS
    return grade.content in hashes


def has_written(other: ConcurrentRun, grade: ArtifactGrade) -> bool:
    """Whether a tool of another agent wrote a file, by record."""
    return not other.written.isdisjoint(grade.places)


def _find_changed_ms(places: Sequence[str], tree: SharedTree) -> int:
    """The latest time at which a file can have got what it contains.

    Its time of change is no earlier than that, also if the file was touched later. A file that didn't change since the
    agent began came with its folder, and nothing shows when.
    """
    changed_ms = max((_read_time_ms(f"{tree.root}/{place}") or 0 for place in places), default=0)
    return changed_ms if changed_ms >= tree.since_ms else time.time_ns() // 1_000_000


def _find_undone_ms(places: Sequence[str], tree: SharedTree) -> int | None:
    """The time of the last change at a place, if that is since the agent began: of the file, else of its folder."""
    found = None
    for place in places:
        path = f"{tree.root}/{place}"
        changed_ms = _read_time_ms(path)
        while changed_ms is None and len(path) > len(tree.root):
            path = os.path.dirname(path)
            changed_ms = _read_time_ms(path)
        if changed_ms is not None and changed_ms >= tree.since_ms:
            found = max(found or 0, changed_ms)
    return found


def _read_time_ms(path: str) -> int | None:
    """The time of change of a file, of the link that leads to it as well, on the clock of the ledger at the latest."""
    found = None
    for read in (os.stat, os.lstat):
        try:
            changed_ns = read(path).st_ctime_ns
        except (OSError, ValueError):
            continue
        slack_ms = _TICK_MS if changed_ns % 1_000_000_000 else _WHOLE_SECOND_MS
        found = max(found or 0, changed_ns // 1_000_000 + slack_ms)
    return found


def _had_other_content(other: ConcurrentRun, grade: ArtifactGrade) -> bool:
    """Whether the file had not changed, or not to what it contains now, when another agent ended."""
    changed = other.writes.changed
    if other.ended_ms is None or changed is None:
        return False
    hashes = [changed[place] for place in grade.places if place in changed]
    if not hashes:
        return bool(grade.blob)  # what git ignores is in no tree, so nothing shows when it changed
    return all(each is not None and grade.content is not None and each != grade.content for each in hashes)


def _left_changed(other: ConcurrentRun, grade: ArtifactGrade) -> bool:
    """Whether the work on a file was still there when another agent ended."""
    changed = other.writes.changed
    return other.ended_ms is not None and changed is not None and any(place in changed for place in grade.places)


def _is_ruled_out(other: ConcurrentRun, grade: ArtifactGrade, changed_ms: int) -> bool:
    """Whether the records of another agent show that it didn't write a file."""
    if not other.writes.is_recorded or not (other.written | other.writes.seen).isdisjoint(grade.places):
        return False
    return other.ended_ms is not None or changed_ms <= (other.recorded_ms or 0)


def _may_write(other: ConcurrentRun, grade: ArtifactGrade, tree: SharedTree) -> bool:
    """Whether another agent's permissions and confinement let it write one of a file's places."""
    layers = [Permissions(each.get("tools"), each.get("allow", {}), each.get("deny", {})) for each in other.layers]
    if not any(all(check_switched_on(tool, layer) is None for layer in layers) for tool in _WRITING):
        return False
    protected = PROTECTED if other.is_confined else ()
    ground = PathContext(tree.root, tree.root, os.path.expanduser("~"), os.path.realpath, protected)
    return any(judge_path(place, "write", layers, ground).answer != "deny" for place in grade.places or ("",))
