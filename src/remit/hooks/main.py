"""Answering: an event of a harness on standard input, the decision on standard output.

Owns how the process ends. It never fails open: whatever goes wrong, the answer is a decision with its reason: no, for
what is guarded; a warning, for what is only looked on. It holds a deadline of its own, because a harness whose hook is
late goes on as if there were none. It runs on every tool call, so it loads only what the event needs, often nothing.
"""

from __future__ import annotations

import gc
import os
import sys

from remit.harnesses import claude, codex, opencode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Any

    from remit.hooks.events import HookEvent
    from remit.ledger.hook_runs import HookRun

MAX_BYTES = 32 * 1024 * 1024
_SIGNS = ("remit.toml", ".remit")
_AGENTS = (*claude.AGENT_FOLDERS, *opencode.AGENT_FOLDERS, *codex.AGENT_FOLDERS)
_SECONDS = {claude.BEFORE_TOOL: 12, claude.AFTER_TOOL: 45, claude.AGENT_STOP: 45, claude.STOP: 45}
_SLOW_SECONDS = 45
"""To look at a large tree, or to settle, takes its time."""
_USUAL_SECONDS = 14
_LAST_SECONDS = 1
"""So long before the least that is registered: Codex gives the end of a session three seconds."""
_CHANGED = "settings have changed"
_KEPT = "the session goes on with the old ones. If it was you, save them again when no agent is at work"
_FINISHING_SECONDS = 10
"""So much later than a change of its settings Claude Code may tell of it."""
_LEEWAY_SECONDS = 2
"""For what a signal makes this do, before another thread does it."""


class HookTimeout(BaseException):
    """The harness will not wait any longer; not an error that anything on the way may pass over."""


def main(args: Sequence[str]) -> None:
    """Answer the event on standard input, and end the process. The one argument names the harness that asks."""
    gc.disable()  # what a process throws away that lives for a moment is not worth looking for
    try:
        ended = _refuse_unnamed(args) or respond(sys.stdin.buffer, os.environ, args[0], _end)
    except BaseException as error:  # noqa: BLE001 - nothing may end this without a word
        # Not 2: the command lines of guarding events make that of it, and a person's own session goes on.
        ended = 1, "", f"Remit: nothing was decided: {_describe(error)}"
    _end(*ended)


def _end(code: int, out: str, err: str) -> None:
    """Say it, and end the process."""
    try:
        if out:
            sys.stdout.write(out)
            sys.stdout.flush()
    except (OSError, ValueError, AttributeError):  # it is full, or closed
        code, err = 2, "Remit: the decision could not be told, so it is no."
    try:
        if err:
            sys.stderr.write(f"{err}\n")
            sys.stderr.flush()
    except (OSError, ValueError, AttributeError):
        code = 2
    # To take every module down again would cost as much as the answer.
    os._exit(code)


def _refuse_unnamed(args: Sequence[str]) -> tuple[int, str, str] | None:
    """Refuse an event whose harness isn't named: names and shapes of events differ between harnesses."""
    from remit.harnesses import HOOKED

    if len(args) == 1 and args[0] in HOOKED:
        return None
    told = f"the command line names no harness ({', '.join(HOOKED)}), so nothing was decided"
    return 2, "", f"Remit: {told}; run `remit hooks install NAME` again"


def respond(
    stream: Any,  # noqa: ANN401 - a stream of bytes
    environ: Mapping[str, str],
    harness: str,
    on_late: Callable[[int, str, str], None] | None = None,
) -> tuple[int, str, str]:
    """Exit code, standard output and standard error for the event that a stream holds.

    `on_late` is given them from another thread where this one hangs in what no signal interrupts, such as SQLite's own
    waiting for a lock.
    """
    from remit.hooks.events import HookEvent
    from remit.light_json import parse_json

    payload: Any = None
    data = b""
    try:
        data = stream.read(MAX_BYTES + 1)
        payload = parse_json(data.decode("utf-8", "replace")) if len(data) <= MAX_BYTES else None
        trouble = "" if isinstance(payload, dict) else f"it is no JSON object of at most {MAX_BYTES:,} bytes"
    except (OSError, ValueError, MemoryError) as error:
        trouble = str(error)
    if trouble:
        return _answer_unread(data, stream, trouble, environ)
    event = HookEvent(payload, harness)
    try:
        answer = _decide_in_time(event, environ, on_late)
        return _render(answer or _delay_stop(event, environ))
    except (Exception, HookTimeout) as error:  # noqa: BLE001 - the outermost line: whatever it is, there is a decision
        return _render_failure(event, error, environ)


def _answer_unread(
    data: bytes,
    stream: Any,  # noqa: ANN401 - a stream of bytes
    trouble: str,
    environ: Mapping[str, str],
) -> tuple[int, str, str]:
    """The answer to an event that cannot be read: no, unless nothing hangs on it, or it is a person's own."""
    from remit.hooks.events import GUARDING
    from remit.hooks.unreadable_event import find_doubt, is_observed_only

    told = f"Remit: the event of the hook cannot be read: {trouble}"
    if is_observed_only(data, [kind for kind in _HANDLERS if kind not in GUARDING]):
        return 0, "", f"{told}. Nothing hangs on it."
    doubt = find_doubt(data, stream, environ) if len(data) > MAX_BYTES else ""
    if len(data) > MAX_BYTES and not doubt:
        return 0, "", f"{told}. It is of a person's own session, which goes on."
    return 2, "", f"{told}{doubt and f', and {doubt}'}. Nothing was decided, so it is refused."


def _render(answer: dict[str, Any]) -> tuple[int, str, str]:
    from remit.light_json import render_json

    return 0, render_json(answer) if answer else "", ""


def _render_failure(event: HookEvent, error: BaseException, environ: Mapping[str, str]) -> tuple[int, str, str]:
    try:
        return _render(fail(event, error, environ))
    except ValueError:  # what the harness gave cannot be given back to it: then without that
        why = f"Remit could not check this: {_describe(error)}. Do not count it as completed."
        return _render({"decision": "block", "reason": why})


def _describe(error: BaseException) -> str:
    if isinstance(error, HookTimeout):
        return "it took too long"
    text = " ".join(str(error).split())[:300]
    return text or type(error).__name__


def _decide_in_time(
    event: HookEvent, environ: Mapping[str, str], on_late: Callable[[int, str, str], None] | None
) -> dict[str, Any]:
    """Decide before the harness stops waiting."""
    import _signal  # type: ignore[import-not-found] # `signal` without its enumerations

    def stop(*_: object) -> None:
        raise HookTimeout

    seconds, late_seconds = find_seconds(event)
    _signal.signal(_signal.SIGALRM, stop)
    _signal.setitimer(_signal.ITIMER_REAL, seconds)
    done = None if on_late is None else _watch(event, environ, late_seconds, on_late)
    try:
        return decide(event, environ)
    finally:
        _signal.setitimer(_signal.ITIMER_REAL, 0)
        if done is not None:
            done()


def _delay_stop(event: HookEvent, environ: Mapping[str, str]) -> dict[str, Any]:
    """Let an agent of Codex end only when its caller is sure to get the verdict on a return that was rejected."""
    if event.harness != "codex" or event.kind != claude.AGENT_STOP:
        return {}
    from remit.ledger.hook_runs import open_quickly

    root = find_root(event, environ)
    db = open_quickly(f"{root}/.remit/ledger.db") if root else None
    if db is None:
        return {}
    from remit.hooks.delay_stop import delay_stop

    return delay_stop(event, db)


def find_seconds(event: HookEvent) -> tuple[float, float]:
    """After how long an event is answered anyhow, by a signal and by another thread: before its harness gives up."""
    if event.kind == claude.SESSION_END and event.harness == "codex":
        return _LAST_SECONDS, _LAST_SECONDS + min(_LEEWAY_SECONDS, _LAST_SECONDS)
    is_slow = event.kind in (claude.BEFORE_TOOL, claude.AFTER_TOOL) and (event.is_delegating or event.is_returning)
    is_slow = is_slow or event.is_notice
    seconds = _SLOW_SECONDS if is_slow else _SECONDS.get(event.kind, min(_USUAL_SECONDS, _SLOW_SECONDS))
    return seconds, seconds + _LEEWAY_SECONDS


def _watch(
    event: HookEvent, environ: Mapping[str, str], seconds: float, on_late: Callable[[int, str, str], None]
) -> Callable[[], None]:
    """Answer from another thread where this one does not; what is called when it has."""
    import _thread

    is_running, is_told = _thread.allocate_lock(), _thread.allocate_lock()
    is_running.acquire()

    def watch() -> None:
        if not is_running.acquire(timeout=seconds) and is_told.acquire(blocking=False):
            on_late(*_render_failure(event, HookTimeout(), environ))

    def done() -> None:
        is_told.acquire()  # for ever, where the other one is about to end the process
        is_running.release()

    _thread.start_new_thread(watch, ())
    return done


# --- which event needs what ------------------------------------------------------------------------------------------


def decide(event: HookEvent, environ: Mapping[str, str]) -> dict[str, Any]:
    """What is to be said to an event; nothing, where nothing is."""
    handle = _HANDLERS.get(event.kind)
    root = find_root(event, environ) if handle is not None else ""
    return handle(event, root, environ) if handle is not None and root else {}


def find_root(event: HookEvent, environ: Mapping[str, str]) -> str:
    """The workspace that an event belongs to: as elsewhere, or a project with agents; empty where it is none.

    A checkout has its agents' files and not what Remit keeps. A home folder has agents, too, and is no project.
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
            if main:  # a worktree: what counts is in the main checkout
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


def _is_person(event: HookEvent, environ: Mapping[str, str]) -> bool:
    """Whether a session is a person's own: no agent's, or that of one who talks to an agent in a terminal."""
    if event.agent_id or environ.get("REMIT_TICKET"):
        return False
    return event.is_own or claude.is_terminal(environ)


def _is_attended(event: HookEvent, environ: Mapping[str, str]) -> bool:
    """Whether the whole session is a supervisor's to judge, or a person's own."""
    return not event.agent_id and (_is_person(event, environ) or bool(environ.get("REMIT_TICKET")))


def _before_tool(event: HookEvent, root: str, environ: Mapping[str, str]) -> dict[str, Any]:
    if event.is_delegating:
        from remit.hooks.start_subagent import admit_call

        return admit_call(event, _open_home(root), environ)
    if event.is_returning:
        from remit.hooks.stop_subagent import check_return

        return check_return(event, _open_home(root), environ)
    if _is_person(event, environ):
        _note_user_tool(event, root)
        if event.tool in (*claude.COMMAND_TOOLS, *opencode.COMMAND_TOOLS):
            from remit.hooks.shell_limits import free_command

            return free_command(event, root, environ)
        return _before_collaboration(event, root, environ, None) if event.collaboration else {}
    from remit.hooks.guard import guard_tool
    from remit.hooks.session_lookup import find_own
    from remit.ledger.hook_runs import open_quickly

    db = open_quickly(f"{root}/.remit/ledger.db")
    own = None if db is None else find_own(db, event)
    if own is None and (event.agent_id or not environ.get("REMIT_TICKET")):
        from remit.hooks.start_subagent import adopt

        own = adopt(event, _open_home(root), environ)
        if own is None:  # a person talks to this agent
            return {}
    answer = guard_tool(event, own, db or _open_home(root).ledger.db, root, environ)
    return answer or (_before_collaboration(event, root, environ, own) if event.collaboration else {})


def _before_collaboration(
    event: HookEvent, root: str, environ: Mapping[str, str], own: HookRun | None
) -> dict[str, Any]:  # fmt: skip
    """Codex is about to give an agent another task, or to wait for its agents."""
    from remit.harnesses import codex
    from remit.ledger.hook_runs import open_quickly

    if event.collaboration == codex.FOLLOW_UP:
        from remit.hooks.start_subagent import admit_follow_up

        return admit_follow_up(event, _open_home(root), environ)
    db = open_quickly(f"{root}/.remit/ledger.db") if event.is_waiting else None
    if db is not None:
        from remit.ledger.callers import note_doing

        note_doing(db, event.session, None if own is None else own.session_id, "waiting")
    return {}


def _after_tool(event: HookEvent, root: str, environ: Mapping[str, str]) -> dict[str, Any]:
    if event.is_delegating:
        from remit.hooks.hand_over_result import hand_over

        return hand_over(event, _open_home(root))
    if event.is_returning:
        from remit.hooks.stop_subagent import keep_return

        return keep_return(event, _open_home(root), environ)
    own, told = None, ""
    if not event.is_own:
        told = _check_names(event, root)  # first: then what the command's ticket says is still there
        own = _observe(event, root)
    else:
        _note_user_tool(event, root)
        if event.kind == claude.AFTER_TOOL:
            _note_main_writes(event, root, environ)
    if event.tool in (*claude.COMMAND_TOOLS, *opencode.COMMAND_TOOLS):
        from remit.hooks.shell_limits import end_free_command

        end_free_command(event, root)
    return _pass_on(event, root, own, told)


def _note_user_tool(event: HookEvent, root: str) -> None:
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
        note_user_tool(db, event.session)  # first: at no moment neither of the two says so
    end_user_tool(root, name)


def _check_names(event: HookEvent, root: str) -> str:
    """What an enforced agent is told of protected names that appeared while its command ran."""
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
    more = "Protected names decide what agents may do; go on without them."
    return f"{'; '.join(sentences)}. {more}" if sentences else ""


def _pass_on(event: HookEvent, root: str, own: HookRun | None, more: str = "") -> dict[str, Any]:
    """Give a caller what is kept for it: that an answer which reached it as it was is not accepted."""
    told = "\n".join(filter(None, (more, _take_words(event, root, own))))
    if not told:
        return {}
    from remit.hooks import replies

    # Codex heeds only a block where an agent was waited for.
    is_block = event.kind in (claude.STOP, claude.AGENT_STOP) or event.is_waiting
    return replies.block(told) if is_block else replies.add_context(event.kind, told)


def _take_words(event: HookEvent, root: str, own: HookRun | None) -> str:
    """What is kept for the agent that an event comes from, or for the session itself."""
    from remit.ledger.hook_runs import open_quickly, take_messages

    db = open_quickly(f"{root}/.remit/ledger.db")
    if db is None or (event.agent_id and own is None):
        return ""
    session_id = own.session_id if event.agent_id and own is not None else None
    if event.harness != "codex":
        return take_messages(db, event.session, session_id)
    from remit.ledger.callers import forget_doing, take_instructions

    forget_doing(db, event.session, session_id)  # first, so that no agent ends between this and what is taken
    given = take_instructions(db, session_id) if session_id and event.kind == claude.AFTER_TOOL else ""
    return "\n".join(filter(None, (given, take_messages(db, event.session, session_id))))


def _find_own(event: HookEvent, root: str) -> HookRun | None:
    from remit.hooks.session_lookup import find_own
    from remit.ledger.hook_runs import open_quickly

    db = open_quickly(f"{root}/.remit/ledger.db")
    return None if db is None else find_own(db, event)


def _observe(event: HookEvent, root: str) -> HookRun | None:
    """Write down that an agent used a tool."""
    from remit.harnesses.tool_names import get_operation
    from remit.hooks.session_lookup import find_own
    from remit.hooks.tool_calls import find_changed, find_outside, find_seen, find_written
    from remit.ledger.hook_runs import end_commands, find_command_ticket, load_last_use, note_use, open_quickly

    db = open_quickly(f"{root}/.remit/ledger.db") or _open_home(root).ledger.db
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
        if is_known:  # the use is noted already, and that a patch failed is not told
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


def _note_main_writes(event: HookEvent, root: str, environ: Mapping[str, str]) -> None:
    """Write down what the session of a user wrote in hyper's workspace root (R3.11): only there it is recorded."""
    workspace_root = _find_workspace_root(root, environ)
    if not workspace_root:
        return
    from remit.hooks.tool_calls import find_outside, find_written
    from remit.ledger.hook_runs import note_main_writes, open_quickly

    real = os.path.realpath(root)
    written = [*(f"{real}/{path}" for path in find_written(event, root)), *find_outside(event, root)]
    inside = _keep_inside(written, workspace_root)
    if inside:
        db = open_quickly(f"{root}/.remit/ledger.db") or _open_home(root).ledger.db
        note_main_writes(db, event.session, inside, "write")


def _find_workspace_root(root: str, environ: Mapping[str, str]) -> str:
    """Hyper's workspace root. Most projects have none, which is found out without reading a file."""
    folders = [f"{environ.get('HOME') or os.path.expanduser('~')}/.hyper", f"{root}/.hyper"]
    folders += [f"{environ['XDG_DATA_HOME']}/hyper"] if environ.get("XDG_DATA_HOME") else []
    if not environ.get("HYPER_WORKSPACE_ROOT") and not any(map(os.path.isdir, folders)):
        return ""
    from remit.evidence.workspace_root import find_workspace_root

    return find_workspace_root(root, environ)


def _keep_inside(paths: list[str], folder: str) -> list[str]:
    inside = f"{os.path.realpath(folder)}/"
    return [path for path in paths if folder and path.startswith(inside)]


def _at_failed_tool(event: HookEvent, root: str, environ: Mapping[str, str]) -> dict[str, Any]:
    if not event.is_delegating:
        return _after_tool(event, root, environ)
    from remit.hooks.stop_subagent import end_failed_call

    return end_failed_call(event, _open_home(root))


def _at_stop(event: HookEvent, root: str, environ: Mapping[str, str]) -> dict[str, Any]:
    own = _find_own(event, root) if event.agent_id else None
    told = _pass_on(event, root, own)
    if told:  # what a caller was given no other way, it is given before it ends its turn
        return told
    answer = _check_stop(event, root, environ)
    if event.harness == "codex" and not answer and (own is not None or not event.agent_id):
        _note_idle(event, root, own)
    return answer


def _note_idle(event: HookEvent, root: str, own: HookRun | None) -> None:
    """Note that the turn of a caller is over, so that its next request comes after an event of its own."""
    from remit.ledger.callers import note_doing
    from remit.ledger.hook_runs import open_quickly

    db = open_quickly(f"{root}/.remit/ledger.db")
    if db is not None:
        note_doing(db, event.session, None if own is None else own.session_id, "idle")


def _check_stop(event: HookEvent, root: str, environ: Mapping[str, str]) -> dict[str, Any]:
    if event.kind == claude.STOP and _is_attended(event, environ):
        return {} if environ.get("REMIT_TICKET") else _clear_awaited(event, root)
    from remit.hooks.stop_subagent import check_stop

    return check_stop(event, _open_home(root), environ)


def _at_broken_stop(event: HookEvent, root: str, environ: Mapping[str, str]) -> dict[str, Any]:
    """The model of an agent failed. Where its caller waits for it, the caller's side hears of that, too."""
    if event.agent_id:
        from remit.hooks.stop_subagent import end_failed_agent

        end_failed_agent(event, _open_home(root))
    return {}


def _clear_awaited(event: HookEvent, root: str) -> dict[str, Any]:
    """Nobody whom a person's session waited for is at work when it stops."""
    from remit.ledger.hook_runs import list_awaited, open_quickly

    db = open_quickly(f"{root}/.remit/ledger.db")
    if db is not None and list_awaited(db, event.session, None):
        from remit.hooks.stop_subagent import end_lost_children

        end_lost_children(_open_home(root), event.session, None)
    return {}


def _at_start(event: HookEvent, root: str, environ: Mapping[str, str]) -> dict[str, Any]:
    """A subagent begins. One that was over before is given another message: that is a delegation of its own."""
    if not event.agent_id or not event.agent:
        return {}
    from remit.ledger.hook_runs import find_by_agent, is_over, open_quickly

    db = open_quickly(f"{root}/.remit/ledger.db")
    own = None if db is None else find_by_agent(db, event.session, event.agent_id)
    if db is not None and own is not None and not is_over(db, own.session_id):
        return {}
    from remit.hooks.session_lookup import find_agent_path, find_own
    from remit.hooks.start_subagent import admit_again, admit_start, give_instructions

    home = _open_home(root)
    if db is not None and own is None and find_agent_path(event):
        called = find_own(db, event)
        if called is not None:
            return give_instructions(event, called, home)
    return admit_start(event, home, environ) if own is None else admit_again(event, own, home, environ)


def _at_prompt(event: HookEvent, root: str, environ: Mapping[str, str]) -> dict[str, Any]:
    """A session is given a prompt, or the answer of an agent in the background.

    Codex tells the prompts of a subagent, too: in the first stands its session, and after its end another may come.
    """
    if event.is_notice:
        from remit.hooks.background_results import report_notices

        return report_notices(event, _open_home(root))
    if not event.agent_id:
        from remit.hooks.user_commands import note_command

        note_command(event, root)
        return _pass_on(event, root, None)
    from remit.hooks.session_lookup import find_own
    from remit.ledger.hook_runs import is_over, open_quickly

    db = open_quickly(f"{root}/.remit/ledger.db")
    own = None if db is None else find_own(db, event)
    if db is None or own is None or not is_over(db, own.session_id):
        return {}
    from remit.hooks.start_subagent import admit_again

    return admit_again(event, own, _open_home(root), environ)


def _at_session(event: HookEvent, root: str, environ: Mapping[str, str]) -> dict[str, Any]:
    from remit.hooks.harness_sessions import begin_session

    home = _open_home(root)
    told = begin_session(event, home)
    if not event.agent:
        return told
    from remit.hooks.start_subagent import admit_main, is_attended

    # In a terminal every answer to the person who talks to the agent ends in a stop.
    return told if is_attended(environ) else admit_main(event, home, environ) or told


def _at_session_end(event: HookEvent, root: str, environ: Mapping[str, str]) -> dict[str, Any]:
    from remit.hooks.harness_sessions import end_agents

    home = _open_home(root)
    end_agents(event, home, "the session of its harness ended")
    workspace_root = _find_workspace_root(root, environ)
    if workspace_root:
        from contextlib import suppress

        from remit.errors import RemitError
        from remit.runs.finish.steps import report_activity

        with suppress(RemitError):  # it stays in the ledger
            report_activity(home, event.session, workspace_root=workspace_root)
    return {}


def _at_changed_settings(event: HookEvent, root: str, environ: Mapping[str, str]) -> dict[str, Any]:
    """Claude Code is about to take over settings that were changed on disk: not where an agent may have done it."""
    import time

    from remit.ledger.hook_runs import find_at_work, open_quickly

    db = open_quickly(f"{root}/.remit/ledger.db")
    agent = "" if _is_person(event, environ) else event.agent or "an agent"
    if db is not None and not agent:
        recently_ms = (time.time_ns() - _FINISHING_SECONDS * 1_000_000_000) // 1_000_000
        agent = find_at_work(db, event.session, recently_ms, _find_changed_ms(event.payload.get(claude.CHANGED_FILE)))
    if not agent:
        return {}
    from remit.hooks import replies

    told = f"{_CHANGED} while '{agent}' was at work; {_KEPT}"
    return {**replies.block(told), **replies.warn(told)}


def _find_changed_ms(file: object) -> int:
    """When a file changed, which nobody can set; 0 where it is gone."""
    try:
        return os.lstat(file).st_ctime_ns // 1_000_000 if isinstance(file, str) else 0
    except (OSError, ValueError):
        return 0


def _open_home(root: str) -> Any:  # noqa: ANN401 - the type would have to be imported
    from remit.ledger.home import Home

    return Home(root)


_HANDLERS = {
    claude.BEFORE_TOOL: _before_tool,
    claude.AFTER_TOOL: _after_tool,
    claude.FAILED_TOOL: _at_failed_tool,
    claude.AGENT_START: _at_start,
    claude.AGENT_STOP: _at_stop,
    claude.STOP: _at_stop,
    claude.FAILED_STOP: _at_broken_stop,
    claude.PROMPT: _at_prompt,
    claude.SESSION_START: _at_session,
    claude.NEW_SETTINGS: _at_changed_settings,
    claude.SESSION_END: _at_session_end,
}


# --- when it cannot be decided ---------------------------------------------------------------------------------------


def fail(event: HookEvent, error: BaseException, environ: Mapping[str, str]) -> dict[str, Any]:
    """The decision where there is none: what is guarded is refused, what is looked on goes on with a warning."""
    from remit.hooks import replies

    why = _describe(error)
    is_refusal = type(error).__name__ == "RefusedError"  # to import it would take longer than most answers
    told = why if is_refusal else f"this could not be decided: {why}. `remit doctor` looks what is wrong"
    is_person = _is_person(event, environ)
    is_asked = event.kind == claude.BEFORE_TOOL and event.is_delegating
    if is_asked and is_person and not is_refusal and not _may_be_held(event, error, environ):
        return replies.warn(f"'{event.target or 'an agent'}' was not looked at: {why}")
    if is_asked or (event.kind == claude.BEFORE_TOOL and not is_person):
        return replies.deny(told)
    if is_refusal:
        return replies.warn(f"'{event.agent or 'an agent'}' is not one that may be at work: {why}")
    kept_back = _keep_back(event, why, environ)
    if kept_back:
        return replies.block(kept_back)
    if event.kind == claude.AFTER_TOOL and event.is_delegating and isinstance(event.response, dict):
        text = f"[Remit could not check this answer: {why}. Do not count it as completed.]"
        content = event.response.get("content")
        kept = content if isinstance(content, list) else []
        return replies.replace_output({**event.response, "content": [{"type": "text", "text": text}, *kept]})
    told = f"Remit could not check the answer of this notification: {why}. Do not count it as completed."
    warning = replies.warn(f"{event.kind or 'an event'} was not looked at: {why}")
    return replies.add_context(event.kind, told) if event.is_notice else warning


def _keep_back(event: HookEvent, why: str, environ: Mapping[str, str]) -> str:
    """What is said where something must not go on unseen."""
    if event.kind == claude.AFTER_TOOL and event.is_waiting:
        return f"Remit could not say whether what your agents returned was accepted: {why}. Do not count on it."
    if event.kind == claude.NEW_SETTINGS:
        return f"{_CHANGED}, and whether an agent was at work is not known: {why}; {_KEPT}"
    if event.kind in (claude.AGENT_STOP, claude.STOP) and not event.stop_active and not _is_attended(event, environ):
        return f"Your return could not be checked: {why}. Send it once more, unchanged."
    return ""


def _may_be_held(event: HookEvent, error: BaseException, environ: Mapping[str, str]) -> bool:
    """Whether somebody is asked for whose return would be checked, or who can tell."""
    try:
        from remit.hooks.fallback import may_be_enforced

        # Where time is up because the ledger is held, to ask it would take as long again.
        return may_be_enforced(find_root(event, environ), event, is_late=isinstance(error, HookTimeout))
    except Exception:  # noqa: BLE001 - whatever keeps this from being known
        return True
