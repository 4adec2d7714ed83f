"""The hook program: reads an event of a harness from standard input and writes the decision to standard output.

It never fails open: if anything goes wrong, a guarded event is refused and an observed one gets a warning. It answers
before the harness stops waiting, because a harness continues without a late hook. It runs on every tool call, so it
loads only what the event needs: `event_handlers` has one function per event.
"""

from __future__ import annotations

import gc
import os
import sys

from remit.harnesses import claude
from remit.hooks.events import is_judged_elsewhere, is_user_session

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Any

    from remit.hooks.events import HookEvent

MAX_BYTES = 32 * 1024 * 1024
_SECONDS = {claude.BEFORE_TOOL: 12, claude.AFTER_TOOL: 45, claude.AGENT_STOP: 45, claude.STOP: 45}
_SLOW_SECONDS = 45
"""Scanning a large tree and the finish steps take time."""
_USUAL_SECONDS = 14
_LAST_SECONDS = 1
"""Codex gives the end of a session three seconds."""
_LEEWAY_SECONDS = 2
"""Time for the answer that a signal starts, before another thread answers instead."""


class HookTimeout(BaseException):
    """The harness won't wait any longer. No `except Exception` on the way catches it."""


def main(args: Sequence[str]) -> None:
    """Answer the event on standard input, and end the process.

    The arguments are the name of the harness and, if the hooks were installed for acceptance checks, the seconds that
    the harness waits longer for checks.
    """
    gc.disable()  # the process ends before a collection would be worth its time
    try:
        check_seconds = int(args[1]) if len(args) > 1 and args[1].isdecimal() else None
        ended = _refuse_unnamed(args) or respond(sys.stdin.buffer, os.environ, args[0], _end, check_seconds)
    except BaseException as error:  # noqa: BLE001 - the process never ends without a message
        # Not 2: the command lines of guarding events turn 1 into 2, and the user's own session continues.
        ended = 1, "", f"Remit: no decision: {_describe(error)}"
    _end(*ended)


def _end(code: int, out: str, err: str) -> None:
    """Write the answer, and end the process."""
    try:
        if out:
            sys.stdout.write(out)
            sys.stdout.flush()
    except (OSError, ValueError, AttributeError):  # the disk is full, or the stream is closed
        code, err = 2, "Remit: the decision couldn't be written, so the call is refused."
    try:
        if err:
            sys.stderr.write(f"{err}\n")
            sys.stderr.flush()
    except (OSError, ValueError, AttributeError):
        code = 2
    # An ordinary end would unload every module, which costs as much as the answer.
    os._exit(code)


def _refuse_unnamed(args: Sequence[str]) -> tuple[int, str, str] | None:
    """Refuse an event whose harness isn't named: names and shapes of events differ between harnesses."""
    from remit.harnesses import HOOKED

    if args and args[0] in HOOKED and (len(args) == 1 or (len(args) == 2 and args[1].isdecimal())):  # noqa: PLR2004 - with the seconds for checks
        return None
    problem = f"the command line doesn't name a harness ({', '.join(HOOKED)}), so nothing was decided"
    return 2, "", f"Remit: {problem}; run `remit hooks install NAME` again"


def respond(
    stream: Any,  # noqa: ANN401 - a stream of bytes
    environ: Mapping[str, str],
    harness: str,
    on_late: Callable[[int, str, str], None] | None = None,
    check_seconds: int | None = None,
) -> tuple[int, str, str]:
    """Return exit code, standard output and standard error for the event in a stream.

    `on_late` gets them from another thread if this one hangs in a call that no signal interrupts, such as SQLite
    waiting for a lock. `check_seconds`: how much longer the harness waits for acceptance checks.
    """
    from remit.hooks.events import HookEvent
    from remit.light_json import parse_json

    payload: Any = None
    data = b""
    try:
        data = stream.read(MAX_BYTES + 1)
        payload = parse_json(data.decode("utf-8", "replace")) if len(data) <= MAX_BYTES else None
        trouble = "" if isinstance(payload, dict) else f"it isn't a JSON object of at most {MAX_BYTES:,} bytes"
    except (OSError, ValueError, MemoryError) as error:
        trouble = str(error)
    if trouble:
        from remit.hooks.fallback import answer_unreadable

        return answer_unreadable(data, stream, trouble, environ, max_bytes=MAX_BYTES)
    event = HookEvent(payload, harness, check_seconds)
    try:
        answer = _decide_in_time(event, environ, on_late)
        if not answer and event.harness == "codex" and event.kind == claude.AGENT_STOP:
            from remit.hooks.event_handlers import delay_codex_stop

            answer = delay_codex_stop(event, environ)
        return _render(answer)
    except (Exception, HookTimeout) as error:  # noqa: BLE001 - any failure becomes a decision
        return _render_failure(event, error, environ)


def _render(answer: dict[str, Any]) -> tuple[int, str, str]:
    from remit.light_json import render_json

    return 0, render_json(answer) if answer else "", ""


def _render_failure(event: HookEvent, error: BaseException, environ: Mapping[str, str]) -> tuple[int, str, str]:
    try:
        return _render(fail(event, error, environ))
    except ValueError:  # the harness's own values can't be written as JSON again
        why = f"Remit couldn't check this: {_describe(error)}. Don't treat it as completed."
        return _render({"decision": "block", "reason": why})


def _describe(error: BaseException) -> str:
    if isinstance(error, HookTimeout):
        return "it took too long"
    text = " ".join(str(error).split())[:300]
    return text or type(error).__name__


def _decide_in_time(
    event: HookEvent, environ: Mapping[str, str], on_late: Callable[[int, str, str], None] | None
) -> dict[str, Any]:
    """Decide, and raise HookTimeout before the harness stops waiting."""
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


def extend(event: HookEvent, seconds: float) -> None:
    """Answer an event later, because acceptance checks run, for which the harness waits longer."""
    import _signal

    event.extra_seconds += seconds
    left = _signal.getitimer(_signal.ITIMER_REAL)[0]
    if left:
        _signal.setitimer(_signal.ITIMER_REAL, left + seconds)


def find_seconds(event: HookEvent) -> tuple[float, float]:
    """Return after how many seconds a signal, and then another thread, answers an event."""
    if event.kind == claude.SESSION_END and event.harness == "codex":
        return _LAST_SECONDS, _LAST_SECONDS + min(_LEEWAY_SECONDS, _LAST_SECONDS)
    is_slow = event.kind in (claude.BEFORE_TOOL, claude.AFTER_TOOL) and (event.is_delegating or event.is_returning)
    is_slow = is_slow or event.is_notification
    seconds = _SLOW_SECONDS if is_slow else _SECONDS.get(event.kind, min(_USUAL_SECONDS, _SLOW_SECONDS))
    return seconds, seconds + _LEEWAY_SECONDS


def _watch(
    event: HookEvent, environ: Mapping[str, str], seconds: float, on_late: Callable[[int, str, str], None]
) -> Callable[[], None]:
    """Start a thread that answers if this one doesn't in time. Call what is returned when it has."""
    import _thread

    is_running, is_answered = _thread.allocate_lock(), _thread.allocate_lock()
    is_running.acquire()

    def watch() -> None:
        left, extended = seconds, 0.0
        while left > 0:
            if is_running.acquire(timeout=left):
                return
            left, extended = event.extra_seconds - extended, event.extra_seconds
        if is_answered.acquire(blocking=False):
            on_late(*_render_failure(event, HookTimeout(), environ))

    def done() -> None:
        is_answered.acquire()  # forever, if the other thread is about to end the process
        is_running.release()

    _thread.start_new_thread(watch, ())
    return done


def decide(event: HookEvent, environ: Mapping[str, str]) -> dict[str, Any]:
    """Return the answer to an event; empty for none."""
    from remit.hooks.event_handlers import HANDLERS, find_root

    handle = HANDLERS.get(event.kind)
    root = find_root(event, environ) if handle is not None else ""
    return handle(event, root, environ) if handle is not None and root else {}


# --- when Remit can't decide -----------------------------------------------------------------------------------------


def fail(event: HookEvent, error: BaseException, environ: Mapping[str, str]) -> dict[str, Any]:
    """Return the answer if Remit can't decide: a guarded event is refused, an observed one gets a warning."""
    from remit.hooks import replies

    why = _describe(error)
    is_refusal = type(error).__name__ == "RefusedError"  # to import it would take longer than most answers
    if event.kind == claude.BEFORE_TOOL and (event.is_delegating or not is_user_session(event, environ)):
        may_pass = event.is_delegating and is_user_session(event, environ) and not is_refusal
        if may_pass and not _may_need_check(event, error, environ):
            return replies.warn(f"'{event.target or 'an agent'}' isn't checked: {why}")
        instead = "continue without it, and ask the user to run `remit doctor`"
        return replies.deny(why if is_refusal else f"this call couldn't be checked: {why}; {instead}")
    if is_refusal:
        return replies.warn(f"'{event.agent or 'an agent'}' runs although Remit refused it: {why}")
    blocked = _explain_block(event, why, environ)
    if blocked:
        return replies.block(blocked)
    if event.kind == claude.AFTER_TOOL and event.is_delegating and isinstance(event.response, dict):
        text = f"[Remit couldn't check this answer: {why}. Don't treat it as completed.]"
        content = event.response.get("content")
        kept = content if isinstance(content, list) else []
        return replies.replace_output({**event.response, "content": [{"type": "text", "text": text}, *kept]})
    if event.is_notification:
        text = f"Remit couldn't check the answer in this notification: {why}. Don't treat it as completed."
        return replies.add_context(event.kind, text)
    return replies.warn(f"{event.kind or 'an event'} wasn't checked: {why}")


def _explain_block(event: HookEvent, why: str, environ: Mapping[str, str]) -> str:
    """Return why an event is blocked that Remit couldn't check; empty if it may pass with a warning."""
    if event.kind == claude.AFTER_TOOL and event.is_waiting:
        return f"Remit couldn't determine whether it accepted the returns of your agents: {why}. Don't rely on them."
    if event.kind == claude.NEW_SETTINGS:
        from remit.hooks.event_handlers import CHANGED, KEPT

        return f"{CHANGED}, and Remit couldn't determine whether an agent was running: {why}; {KEPT}"
    is_stop = event.kind in (claude.AGENT_STOP, claude.STOP) and not event.stop_active
    if is_stop and not is_judged_elsewhere(event, environ):
        return f"Your return couldn't be checked: {why}. Send it again, unchanged."
    return ""


def _may_need_check(event: HookEvent, error: BaseException, environ: Mapping[str, str]) -> bool:
    """Return whether a call may start an agent that Remit enforces; true if that isn't known."""
    try:
        from remit.hooks.event_handlers import find_root
        from remit.hooks.fallback import may_be_enforced

        # If the time is up because the ledger is locked, a query would take as long again.
        return may_be_enforced(find_root(event, environ), event, is_late=isinstance(error, HookTimeout))
    except Exception:  # noqa: BLE001 - whatever keeps this from being known
        return True
