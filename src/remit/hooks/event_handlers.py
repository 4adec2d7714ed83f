"""Event handlers: what happens on each event of a harness, one function per event.

Each returns the answer to the harness, empty for none, and imports only what its event needs, because the harness
waits: most events of the user's own session need nothing at all.
"""

from __future__ import annotations

import os

from remit.harnesses import claude, codex, opencode
from remit.hooks.events import is_judged_elsewhere, is_user_session

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from remit.hooks.events import HookEvent
    from remit.ledger.hook_runs import HookRun

_SIGNS = ("remit.toml", ".remit")
_AGENTS = (*claude.AGENT_FOLDERS, *opencode.AGENT_FOLDERS, *codex.AGENT_FOLDERS)
CHANGED = "settings have changed"
KEPT = "the session keeps the old settings. If you made the change, save it again when no agent is running"
_FINISHING_SECONDS = 10
"""Claude Code may report a change of its settings this much later."""


# --- the workspace of an event ---------------------------------------------------------------------------------------


def find_root(event: HookEvent, environ: Mapping[str, str]) -> str:
    """Return the workspace of an event; empty for none.

    A fresh checkout has no files of Remit's, so a project with agent files is a workspace, too. A home folder is not.
    """
    named = environ.get("REMIT_ROOT", "")
    if named:
        return os.path.abspath(named)
    project = ""
    for start in (environ.get(claude.PROJECT_VARIABLE, ""), event.cwd):
        folder = here = os.path.abspath(start) if start else ""
        while folder:
            if _has(folder, _SIGNS):
                return folder
            main = _find_main(folder) if os.path.isfile(f"{folder}/.git") else ""
            if main:  # a linked worktree: the workspace is the main checkout
                return main
            is_whole = folder == here or os.path.isdir(f"{folder}/.git")
            if not project and is_whole and folder != environ.get("HOME") and _has(folder, _AGENTS):
                project = folder
            above = os.path.dirname(folder)
            folder = "" if above == folder else above
    return project


def _has(folder: str, names: tuple[str, ...]) -> bool:
    return any(os.path.exists(f"{folder}/{name}") for name in names)


def _find_main(folder: str) -> str:
    from remit.storage.settings import find_workspace

    root = find_workspace(folder)
    return root if _has(root, (*_SIGNS, *_AGENTS)) else ""


def open_home(root: str) -> Any:  # noqa: ANN401 - the type would have to be imported
    """Open the workspace with its ledger."""
    from remit.ledger.home import Home

    return Home(root)


# --- tools -----------------------------------------------------------------------------------------------------------


def _before_tool(event: HookEvent, root: str, environ: Mapping[str, str]) -> dict[str, Any]:
    if event.is_delegating:
        from remit.hooks.start_subagent import admit_call

        return admit_call(event, open_home(root), environ)
    if event.is_returning:
        from remit.hooks.stop_subagent import check_return

        return check_return(event, open_home(root), environ)
    if is_user_session(event, environ):
        from remit.hooks.user_session import note_user_tool

        note_user_tool(event, root)
        if event.tool in (*claude.COMMAND_TOOLS, *opencode.COMMAND_TOOLS):
            from remit.hooks.shell_limits import free_command

            return free_command(event, root, environ)
        return _before_collaboration(event, root, environ, None) if event.collaboration else {}
    from remit.hooks.session_lookup import find_own
    from remit.hooks.tool_guard import guard_tool
    from remit.ledger.hook_runs import open_quickly

    db = open_quickly(f"{root}/.remit/ledger.db")
    own = None if db is None else find_own(db, event)
    if own is None and (event.agent_id or not environ.get("REMIT_TICKET")):
        from remit.hooks.start_subagent import adopt

        own = adopt(event, open_home(root), environ)
        if own is None:  # the user talks to this agent
            return {}
    answer = guard_tool(event, own, db or open_home(root).ledger.db, root, environ)
    return answer or (_before_collaboration(event, root, environ, own) if event.collaboration else {})


def _before_collaboration(
    event: HookEvent, root: str, environ: Mapping[str, str], own: HookRun | None
) -> dict[str, Any]:  # fmt: skip
    """Answer Codex before it gives an agent another task, or waits for its agents."""
    from remit.harnesses import codex
    from remit.ledger.hook_runs import open_quickly

    if event.collaboration == codex.FOLLOW_UP:
        from remit.hooks.start_subagent import admit_follow_up

        return admit_follow_up(event, open_home(root), environ)
    db = open_quickly(f"{root}/.remit/ledger.db") if event.is_waiting else None
    if db is not None:
        from remit.ledger.hook_runs import note_doing

        note_doing(db, event.session, None if own is None else own.session_id, "waiting")
    return {}


def _after_tool(event: HookEvent, root: str, environ: Mapping[str, str]) -> dict[str, Any]:
    if event.is_delegating:
        from remit.hooks.result_delivery import deliver_result

        return deliver_result(event, open_home(root), environ)
    if event.is_returning:
        from remit.hooks.stop_subagent import keep_return

        return keep_return(event, open_home(root), environ)
    from remit.harnesses.tool_names import get_operation
    from remit.hooks.tool_records import note_session_writes, record_tool_use

    own, notice = None, ""
    if not event.is_own:
        if event.tool_use_id and get_operation(event.tool) == "run":
            from remit.hooks.protected_changes import check_command

            notice = check_command(event, root)  # before the command's ticket is removed
        own = record_tool_use(event, root)
    else:
        from remit.hooks.user_session import note_user_tool

        note_user_tool(event, root)
        if event.kind == claude.AFTER_TOOL:
            note_session_writes(event, root, environ)
    if event.tool in (*claude.COMMAND_TOOLS, *opencode.COMMAND_TOOLS):
        from remit.hooks.shell_limits import end_free_command

        end_free_command(event, root)
    return _deliver_messages(event, root, own, notice)


def _after_failed_tool(event: HookEvent, root: str, environ: Mapping[str, str]) -> dict[str, Any]:
    if not event.is_delegating:
        return _after_tool(event, root, environ)
    from remit.hooks.stop_subagent import end_failed_call

    return end_failed_call(event, open_home(root))


# --- subagents and sessions ------------------------------------------------------------------------------------------


def _at_agent_start(event: HookEvent, root: str, environ: Mapping[str, str]) -> dict[str, Any]:
    """Answer when a subagent starts. If its previous run is finished, it gets a new run."""
    if not event.agent_id or not event.agent:
        return {}
    from remit.ledger.hook_runs import find_by_agent, is_over, open_quickly

    db = open_quickly(f"{root}/.remit/ledger.db")
    own = None if db is None else find_by_agent(db, event.session, event.agent_id)
    if db is not None and own is not None and not is_over(db, own.session_id):
        return {}
    from remit.hooks.session_lookup import find_agent_path, find_own
    from remit.hooks.start_subagent import admit_resumed, admit_start, give_instructions

    home = open_home(root)
    if db is not None and own is None and find_agent_path(event):
        called = find_own(db, event)
        if called is not None:
            return give_instructions(event, called, home)
    return admit_start(event, home, environ) if own is None else admit_resumed(event, own, home, environ)


def _at_stop(event: HookEvent, root: str, environ: Mapping[str, str]) -> dict[str, Any]:
    own = _find_own(event, root) if event.agent_id else None
    messages = _deliver_messages(event, root, own)
    if messages:  # the caller gets no other event before its turn ends
        return messages
    answer = _check_stop(event, root, environ)
    if event.harness == "codex" and "decision" not in answer and (own is not None or not event.agent_id):
        _note_idle(event, root, own)
    return answer


def _check_stop(event: HookEvent, root: str, environ: Mapping[str, str]) -> dict[str, Any]:
    if event.kind == claude.STOP and is_judged_elsewhere(event, environ):
        return {} if environ.get("REMIT_TICKET") else _at_user_stop(event, root, environ)
    from remit.hooks.stop_subagent import check_stop

    return check_stop(event, open_home(root), environ)


def _at_user_stop(event: HookEvent, root: str, environ: Mapping[str, str]) -> dict[str, Any]:
    """End the runs that the user's session waited for, because a session stops only after their agents.

    If the user wants it, acceptance checks run then.
    """
    from remit.ledger.hook_runs import list_awaited, open_quickly

    db = open_quickly(f"{root}/.remit/ledger.db")
    if db is not None and list_awaited(db, event.session, None):
        from remit.hooks.stop_subagent import end_lost_children

        end_lost_children(open_home(root), event.session, None)
    if not os.path.isdir(f"{root}/.remit/user-checks"):
        return {}
    from remit.hooks.session_checks import check_session

    return check_session(event, root, environ)


def _note_idle(event: HookEvent, root: str, own: HookRun | None) -> None:
    """Record that a caller's turn is over, so that Remit gets an event of the caller before its next request."""
    from remit.ledger.hook_runs import note_doing, open_quickly

    db = open_quickly(f"{root}/.remit/ledger.db")
    if db is not None:
        note_doing(db, event.session, None if own is None else own.session_id, "idle")


def delay_codex_stop(event: HookEvent, environ: Mapping[str, str]) -> dict[str, Any]:
    """Delay the end of a rejected agent in Codex until its caller is sure to get the verdict."""
    from remit.ledger.hook_runs import open_quickly

    root = find_root(event, environ)
    db = open_quickly(f"{root}/.remit/ledger.db") if root else None
    if db is None:
        return {}
    from remit.hooks.stop_subagent import delay_stop

    return delay_stop(event, db)


def _at_failed_stop(event: HookEvent, root: str, environ: Mapping[str, str]) -> dict[str, Any]:
    """End the run of an agent whose model failed. A waiting caller gets an event of its own."""
    if event.agent_id:
        from remit.hooks.stop_subagent import end_failed_agent

        end_failed_agent(event, open_home(root))
    return {}


def _at_prompt(event: HookEvent, root: str, environ: Mapping[str, str]) -> dict[str, Any]:
    """Answer when a session gets a prompt, or the answer of an agent in the background.

    Codex also reports the prompts of a subagent. The first one contains the session id, and a later one may follow
    after the agent has ended.
    """
    if event.is_notification:
        from remit.hooks.result_delivery import deliver_notifications

        return deliver_notifications(event, open_home(root))
    if not event.agent_id:
        from remit.hooks.user_session import note_command

        note_command(event, root)
        return _deliver_messages(event, root, None)
    from remit.hooks.session_lookup import find_own
    from remit.ledger.hook_runs import is_over, open_quickly

    db = open_quickly(f"{root}/.remit/ledger.db")
    own = None if db is None else find_own(db, event)
    if db is None or own is None or not is_over(db, own.session_id):
        return {}
    from remit.hooks.start_subagent import admit_resumed

    return admit_resumed(event, own, open_home(root), environ)


def _at_session_start(event: HookEvent, root: str, environ: Mapping[str, str]) -> dict[str, Any]:
    from remit.hooks.harness_sessions import begin_session

    home = open_home(root)
    answer = begin_session(event, home, environ)
    if not event.agent:
        return answer
    from remit.hooks.start_subagent import admit_main, has_user_or_supervisor

    # In a terminal, each answer to the user ends with a stop, so the session isn't judged.
    return answer if has_user_or_supervisor(environ) else admit_main(event, home, environ) or answer


def _at_session_end(event: HookEvent, root: str, environ: Mapping[str, str]) -> dict[str, Any]:
    from remit.hooks.harness_sessions import end_agents

    home = open_home(root)
    end_agents(event, home, "the session of its harness ended")
    if os.path.isdir(f"{root}/.remit/user-checks"):
        from remit.hooks.session_checks import end_checks

        end_checks(root, event.session)
    from remit.hooks.tool_records import find_hyper_root

    workspace_root = find_hyper_root(root, environ)
    if workspace_root:
        from contextlib import suppress

        from remit.errors import RemitError
        from remit.runs.finish.finish_steps import report_activity

        with suppress(RemitError):  # the activity stays in the ledger and is reported later
            report_activity(home, event.session, workspace_root=workspace_root)
    return {}


def _at_changed_settings(event: HookEvent, root: str, environ: Mapping[str, str]) -> dict[str, Any]:
    """Block Claude Code from loading changed settings if an agent may have changed them."""
    import time

    from remit.ledger.hook_runs import find_at_work, open_quickly

    db = open_quickly(f"{root}/.remit/ledger.db")
    agent = "" if is_user_session(event, environ) else event.agent or "an agent"
    if db is not None and not agent:
        recently_ms = (time.time_ns() - _FINISHING_SECONDS * 1_000_000_000) // 1_000_000
        agent = find_at_work(db, event.session, recently_ms, _find_changed_ms(event.payload.get(claude.CHANGED_FILE)))
    if not agent:
        return {}
    from remit.hooks import replies

    text = f"{CHANGED} while '{agent}' was running; {KEPT}"
    return {**replies.block(text), **replies.warn(text)}


def _find_changed_ms(file: object) -> int:
    """Return when a file last changed by its ctime, which no program can set; 0 if the file is gone."""
    try:
        return os.lstat(file).st_ctime_ns // 1_000_000 if isinstance(file, str) else 0
    except (OSError, ValueError):
        return 0


# --- messages for callers --------------------------------------------------------------------------------------------


def _deliver_messages(event: HookEvent, root: str, own: HookRun | None, more: str = "") -> dict[str, Any]:
    """Return the messages for a caller, such as the verdict on an answer that the caller got unchanged."""
    text = "\n".join(filter(None, (more, _take_messages(event, root, own))))
    if not text:
        return {}
    from remit.hooks import replies

    # After a caller has waited for an agent, Codex reads nothing but a block.
    is_block = event.kind in (claude.STOP, claude.AGENT_STOP) or event.is_waiting
    return replies.block(text) if is_block else replies.add_context(event.kind, text)


def _take_messages(event: HookEvent, root: str, own: HookRun | None) -> str:
    """Remove and return the messages for the agent of an event, or for the session itself."""
    from remit.ledger.hook_runs import open_quickly, take_messages

    db = open_quickly(f"{root}/.remit/ledger.db")
    if db is None or (event.agent_id and own is None):
        return ""
    session_id = own.session_id if event.agent_id and own is not None else None
    if event.harness != "codex":
        return take_messages(db, event.session, session_id)
    from remit.ledger.hook_runs import forget_doing, take_instructions

    forget_doing(db, event.session, session_id)  # first: no agent may end between this and reading the messages
    instructions = take_instructions(db, session_id) if session_id and event.kind == claude.AFTER_TOOL else ""
    return "\n".join(filter(None, (instructions, take_messages(db, event.session, session_id))))


def _find_own(event: HookEvent, root: str) -> HookRun | None:
    from remit.hooks.session_lookup import find_own
    from remit.ledger.hook_runs import open_quickly

    db = open_quickly(f"{root}/.remit/ledger.db")
    return None if db is None else find_own(db, event)


HANDLERS = {
    claude.BEFORE_TOOL: _before_tool,
    claude.AFTER_TOOL: _after_tool,
    claude.FAILED_TOOL: _after_failed_tool,
    claude.AGENT_START: _at_agent_start,
    claude.AGENT_STOP: _at_stop,
    claude.STOP: _at_stop,
    claude.FAILED_STOP: _at_failed_stop,
    claude.PROMPT: _at_prompt,
    claude.SESSION_START: _at_session_start,
    claude.NEW_SETTINGS: _at_changed_settings,
    claude.SESSION_END: _at_session_end,
}
