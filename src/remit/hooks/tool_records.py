"""Tool records: what the ledger and files note of a tool that was used, by an agent or by the user's own session.

Loaded on every event of a tool, so it imports next to nothing.
"""

from __future__ import annotations

import os

from remit.harnesses import claude

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from remit.hooks.events import HookEvent
    from remit.ledger.hook_runs import HookRun
    from remit.ledger.store import Connection


def note_user_tool(event: HookEvent, root: str) -> None:
    """Note when the user's own session uses a tool that may write: what changes meanwhile may be the user's."""
    from remit.harnesses.tool_names import get_operation
    from remit.hooks.user_tools import begin_user_tool, end_user_tool, has_begun

    if not event.tool_use_id or get_operation(event.tool) not in {"run", "write", "other"}:
        return
    name = f"{event.session}-{event.tool_use_id}"
    if event.kind == claude.BEFORE_TOOL:
        begin_user_tool(root, name)
        return
    if not has_begun(root, name):
        return
    from remit.ledger.hook_runs import note_user_tool, open_quickly

    db = open_quickly(f"{root}/.remit/ledger.db")
    if db is not None:
        note_user_tool(db, event.session)  # first, so that one of the two says so at any moment
    end_user_tool(root, name)


def check_protected(event: HookEvent, root: str) -> str:
    """Return what an enforced agent reads about protected names that appeared while its command ran; empty for none."""
    from remit.harnesses.tool_names import get_operation

    if not event.tool_use_id or get_operation(event.tool) != "run":
        return ""
    from remit.hooks.new_protected_names import check_names
    from remit.hooks.restore_protected import check_files
    from remit.hooks.session_lookup import find_own
    from remit.ledger.hook_runs import find_command_ticket, open_quickly

    db = open_quickly(f"{root}/.remit/ledger.db")
    own = None if db is None else find_own(db, event)
    if db is None or own is None or not own.enforced:
        return ""
    ticket = find_command_ticket(db, own.session_id, event.tool_use_id)
    sentences = check_names(db, own.session_id, event.tool_use_id, root, agent=own.agent, ticket=ticket)
    sentences += check_files(db, own.session_id, event.tool_use_id, root, agent=own.agent)
    more = "Protected names decide what agents may do; continue without them."
    return f"{'; '.join(sentences)}. {more}" if sentences else ""


def record_tool_use(event: HookEvent, root: str) -> HookRun | None:
    """Record that an agent used a tool, and return the agent; None if Remit doesn't know it."""
    from remit.harnesses.tool_names import get_operation
    from remit.hooks.session_lookup import find_own
    from remit.hooks.tool_calls import find_changed, find_outside, find_seen, find_written
    from remit.ledger.hook_runs import end_commands, find_command_ticket, load_last_use, note_use

    db = _open_ledger(root)
    own = find_own(db, event)
    if own is not None:
        failed = event.kind == claude.FAILED_TOOL
        paths = find_written(event, root)
        is_known = event.harness == "codex"
        seen = () if is_known or failed else find_seen(event, root)
        operation = get_operation(event.tool)
        if operation == "run" and event.tool_use_id:
            ticket = find_command_ticket(db, own.session_id, event.tool_use_id)
            end_commands(db, own.session_id, event.tool_use_id)
            if ticket:
                from remit.hooks.shell_limits import end_command

                end_command(event, ticket, root)
        if is_known:  # the use is recorded already, and Codex doesn't report that a patch failed
            paths = find_changed(root, paths, load_last_use(db, own.session_id))
            if not paths:
                return own
        outside = () if is_known else find_outside(event, root)
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
    from remit.hooks.tool_calls import find_outside, find_written
    from remit.ledger.hook_runs import note_main_writes

    real = os.path.realpath(root)
    written = [*(f"{real}/{path}" for path in find_written(event, root)), *find_outside(event, root)]
    inside = _keep_inside(written, workspace_root)
    if inside:
        db = _open_ledger(root)
        note_main_writes(db, event.session, inside, "write")


def find_hyper_root(root: str, environ: Mapping[str, str]) -> str:
    """Return hyper's workspace root; empty for none. Most projects have none, and that needs no file to be read."""
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
