"""Tool records: the files that a used tool wrote, as the ledger records them for agents and the user's session.

Loaded after every tool call, so it imports next to nothing.
"""

from __future__ import annotations

import os

from remit.harnesses import claude

_CLOCK_MS = 20
"""A file's timestamp may be this much behind the clock."""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from remit.hooks.events import HookEvent
    from remit.ledger.hook_runs import HookRun
    from remit.ledger.store import Connection


def record_tool_use(event: HookEvent, root: str) -> HookRun | None:
    """Record that an agent used a tool, and return the agent; None if Remit doesn't know it."""
    from remit.harnesses.tool_names import get_operation
    from remit.hooks.session_lookup import find_own
    from remit.ledger.hook_runs import end_commands, find_command_ticket, load_last_use, note_use

    db = _open_ledger(root)
    own = find_own(db, event)
    if own is not None:
        failed = event.kind == claude.FAILED_TOOL
        paths = find_written(event, root)
        is_known = event.harness == "codex"
        seen = () if is_known or failed else _find_seen(event, root)
        operation = get_operation(event.tool)
        if operation == "run" and event.tool_use_id:
            ticket = find_command_ticket(db, own.session_id, event.tool_use_id)
            end_commands(db, own.session_id, event.tool_use_id)
            if ticket:
                from remit.hooks.shell_limits import end_command

                end_command(event, ticket, root)
        if is_known:  # the use is recorded already, and Codex doesn't report that a patch failed
            paths = _find_changed(root, paths, load_last_use(db, own.session_id))
            if not paths:
                return own
        outside = () if is_known else _find_outside(event, root)
        if outside:
            from remit.ledger.hook_runs import load_workspace_root

            outside = _keep_inside(outside, load_workspace_root(db, own.session_id))
        note_use(
            db, own, event.tool, [*paths, *seen], operation=operation, failed=failed, is_known=is_known,
            outside=outside,
        )  # fmt: skip
    return own


def note_session_writes(event: HookEvent, root: str, environ: Mapping[str, str]) -> None:
    """Record what the user's session wrote in hyper's workspace root (R3.11), and only there."""
    workspace_root = find_hyper_root(root, environ)
    if not workspace_root:
        return
    from remit.ledger.hook_runs import note_main_writes

    real = os.path.realpath(root)
    written = [*(f"{real}/{path}" for path in find_written(event, root)), *_find_outside(event, root)]
    inside = _keep_inside(written, workspace_root)
    if inside:
        db = _open_ledger(root)
        note_main_writes(db, event.session, inside, "write")


def find_hyper_root(root: str, environ: Mapping[str, str]) -> str:
    """Return hyper's workspace root; empty for none. For projects without hyper, this reads no file."""
    folders = [f"{environ.get('HOME') or os.path.expanduser('~')}/.hyper", f"{root}/.hyper"]
    folders += [f"{environ['XDG_DATA_HOME']}/hyper"] if environ.get("XDG_DATA_HOME") else []
    if not environ.get("HYPER_WORKSPACE_ROOT") and not any(map(os.path.isdir, folders)):
        return ""
    from remit.evidence.workspace_root import find_workspace_root

    return find_workspace_root(root, environ)


def _keep_inside(paths: list[str], folder: str) -> list[str]:
    inside = f"{os.path.realpath(folder)}/"
    return [path for path in paths if folder and path.startswith(inside)]


def _open_ledger(root: str) -> Connection:
    from remit.ledger.hook_runs import open_quickly

    db = open_quickly(f"{root}/.remit/ledger.db")
    if db is not None:
        return db
    from remit.ledger.home import Home

    return Home(root).ledger.db


# --- the files that a call wrote -------------------------------------------------------------------------------------


def find_written(event: HookEvent, root: str) -> list[str]:
    """Return the files below the root that a call wrote, relative to the root."""
    return _name_below(event, root, _list_named(event))


def _find_outside(event: HookEvent, root: str) -> list[str]:
    """Return the files outside the root that a call wrote, as absolute paths."""
    real = os.path.realpath(root)
    whole = [os.path.realpath(os.path.join(event.cwd or real, name)) for name in _list_named(event)]
    return [path for path in whole if not path.startswith(f"{real}/")]


def _find_seen(event: HookEvent, root: str) -> list[str | None]:
    """Return the files below the root that changed while a command ran; empty if the harness doesn't report them.

    An empty name means that no file changed, and None that other files may have changed, too.
    """
    from remit.harnesses.tool_names import get_name

    changed = claude.read_changed_files(event.response) if get_name(event.tool) == "bash" else None
    if changed is None:
        return []
    paths, is_whole = changed
    named = _name_below(event, root, [path for path in paths if "\0" not in path]) or [""]
    return [*named, *([] if is_whole else [None])]


def _name_below(event: HookEvent, root: str, names: list[str]) -> list[str]:
    real = os.path.realpath(root)
    whole = [os.path.realpath(os.path.join(event.cwd or real, name)) for name in names]
    return [path[len(real) + 1 :] for path in whole if path.startswith(f"{real}/")]


def _find_changed(root: str, paths: list[str], used: tuple[str, str | None, int] | None) -> list[str]:
    """Return the named files that changed after the recorded start of the call."""
    found = []
    for path in paths if used is not None else ():
        try:
            changed_ms = os.stat(f"{root}/{path}").st_mtime_ns // 1_000_000
        except OSError:  # it was not created, or is gone
            continue
        if used is not None and changed_ms + _CLOCK_MS >= used[2]:
            found.append(path)
    return found


def _list_named(event: HookEvent) -> list[str]:
    """Return the files that a writing call names."""
    from remit.harnesses.tool_names import get_name
    from remit.hooks.tool_calls import WRITING, list_files

    named = list_files(event.tool, event.tool_input) if get_name(event.tool) in WRITING else []
    return [name for name in named if "\0" not in name]
