"""Session lookup: finds the session id that Remit issued by the ids of a harness.

A harness gives its subagents ids of its own, and reports them only after the subagents have started. The harness's
files say which call an id belongs to; otherwise the subagent's first prompt contains the session id. Loaded on every
tool call of a subagent, so it imports little.
"""

from __future__ import annotations

from remit.harnesses import claude, codex
from remit.ledger.hook_runs import MAIN, bind, find_by_agent, find_by_call, find_by_path, list_unbound
from remit.light_json import parse_json
from remit.storage.transcripts import load_beginning

TYPE_CHECKING = False
if TYPE_CHECKING:
    from remit.hooks.events import HookEvent
    from remit.ledger.hook_runs import HookRun
    from remit.ledger.store import Connection

__all__ = ["MAIN", "find_agent_path", "find_own", "find_recipient", "find_transcript", "read_agent_id"]

_MAX_ID_CHARS = 300


def find_own(db: Connection, event: HookEvent) -> HookRun | None:
    """Return the run of the agent that an event comes from; None if Remit doesn't know the agent."""
    if event.is_own:
        return None
    agent_id = event.agent_id or MAIN
    if event.kind == claude.PROMPT and event.agent_id:  # a resumed agent gets another session
        return _bind(db, event) or find_by_agent(db, event.session, agent_id)
    return find_by_agent(db, event.session, agent_id) or (_bind(db, event) if event.agent_id else None)


def _bind(db: Connection, event: HookEvent) -> HookRun | None:
    """Find the run of the call that started an agent, and store the agent's id with it."""
    call, path = _find_call(event), find_agent_path(event)
    # An unknown call was made before the hooks were installed, so the agent belongs to no admitted run.
    if path:
        found = find_by_path(db, event.session, path, is_bound=False)
    else:
        found = find_by_call(db, event.session, call) if call else _find_by_prompt(db, event)
    if found is None or (found.agent_id is not None and found.agent_id != event.agent_id):
        return None
    if event.agent and _fold(found.agent) != _fold(event.agent):
        return None  # the note isn't about this agent
    bind(db, found.session_id, event.agent_id)
    found.agent_id = event.agent_id
    return found


def _fold(name: str) -> str:
    """Return a name without the parts that harnesses ignore: case, spaces and dashes."""
    return "".join(char for char in name.casefold() if char.isalnum())


def find_transcript(event: HookEvent, agent_id: str = "") -> str:
    """Return the transcript of the subagent that an event comes from, or is about."""
    named = event.payload.get(claude.AGENT_TRANSCRIPT_KEY)
    if isinstance(named, str) and named:
        return named
    if event.harness == "codex":
        return event.transcript
    return claude.get_transcript(event.transcript, agent_id or event.agent_id)


def find_agent_path(event: HookEvent) -> str:
    """Return the path of the agent that an event comes from, in Codex's multi-agent v2; empty for none."""
    if event.harness != "codex" or not event.agent_id:
        return ""
    return codex.read_agent_path(load_beginning(find_transcript(event), max_bytes=codex.HEAD_BYTES))


def find_recipient(db: Connection, event: HookEvent) -> tuple[HookRun | None, str]:
    """Return the run of the agent that a tool of Codex sends to, if Remit knows the agent, and the agent's path."""
    given = [event.tool_input[key] for key in codex.RECIPIENT_KEYS if isinstance(event.tool_input.get(key), str)]
    target = given[0][:_MAX_ID_CHARS] if given else ""
    if not target:
        return None, ""
    path = codex.resolve_path(target, find_agent_path(event))
    found = find_by_agent(db, event.session, target) or find_by_path(db, event.session, path, is_bound=True)
    return found, path


def _find_call(event: HookEvent) -> str:
    """Return the call that started an agent, from Claude Code's file beside the transcript; empty for none."""
    if event.harness != "claude" or not event.transcript or "/" in event.agent_id:
        return ""
    text = load_beginning(claude.get_note(find_transcript(event)))
    try:
        note = parse_json(text) if text else None
    except ValueError:
        return ""
    call = note.get(claude.NOTE_CALL) if isinstance(note, dict) else None
    return call if isinstance(call, str) else ""


def _find_by_prompt(db: Connection, event: HookEvent) -> HookRun | None:
    """Return the run whose session id is in the subagent's first prompt; if no prompt has an id, the only candidate."""
    waiting = list_unbound(db, event.session, event.agent)
    if not waiting:
        return None
    prompt = event.payload.get(claude.PROMPT_TEXT if event.kind == claude.PROMPT else claude.FIRST_PROMPT)
    text = prompt if isinstance(prompt, str) else ""
    text = text or load_beginning(find_transcript(event))
    named = [each for each in waiting if each.session_id in text]
    # An enforced agent has its session id in its prompt, so a prompt without an id isn't its prompt.
    left = named or [each for each in waiting if not (text and each.enforced)]
    return left[0] if len(left) == 1 else None


def read_agent_id(response: object) -> str:
    """Return the harness's id of the agent that it has started. In Codex the id is part of a text."""
    if isinstance(response, str):
        try:
            response = parse_json(response)
        except ValueError:
            return ""
    values = response if isinstance(response, dict) else {}
    keys = (claude.AGENT_ID_KEY, codex.AGENT_ID_KEY)
    found = next((values[key] for key in keys if isinstance(values.get(key), str)), "")
    return found[:_MAX_ID_CHARS]
