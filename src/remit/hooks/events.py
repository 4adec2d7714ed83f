"""Hook events: the payloads of all harnesses in one form.

Claude Code's form is the common one. Codex has nearly the same, and the plugin for opencode sends it. Texts that agents
wrote are never trusted: `session_lookup` finds the agent in the ledger by the harness's ids.

Loaded on every tool call, so it imports next to nothing.
"""

from __future__ import annotations

from remit.harnesses import claude, codex, opencode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

GUARDING = (claude.BEFORE_TOOL, claude.AGENT_STOP, claude.NEW_SETTINGS)
"""Events whose answer can't be corrected later."""
DELEGATING = (*claude.DELEGATING, codex.SPAWN, opencode.DELEGATING)
"""The tool that starts a subagent, by the names that harnesses give it."""
_MAX_ID = 300
_MAX_NAME = 200


class HookEvent:
    """One event of a harness. A text that the payload doesn't have is empty."""

    __slots__ = (
        "agent", "agent_id", "check_seconds", "cwd", "error", "extra_seconds", "harness", "kind", "message", "payload",
        "response", "session", "stop_active", "tool", "tool_input", "tool_use_id", "transcript",
    )  # fmt: skip

    def __init__(self, payload: Mapping[str, Any], harness: str, check_seconds: int | None = None) -> None:
        self.payload = payload
        self.kind = _get(payload, claude.EVENT_KEY)
        self.harness = harness
        """The harness, as the command line of its hooks names it."""
        self.check_seconds = check_seconds
        """How much longer the harness waits for acceptance checks, by the command line of its hooks; None: not said."""
        self.extra_seconds = 0.0
        """How much later the hook answers because of acceptance checks."""
        self.session = _get(payload, claude.SESSION_KEY)[:_MAX_ID]
        self.agent_id = _get(payload, claude.AGENT_ID)[:_MAX_ID]
        self.agent = _get(payload, claude.AGENT_TYPE)[:_MAX_NAME]
        """The agent that the event comes from. Without an `agent_id`, the whole session belongs to this agent."""
        self.cwd = _get(payload, claude.CWD_KEY)
        self.tool = _get(payload, claude.TOOL_KEY)
        given = payload.get(claude.INPUT_KEY)
        self.tool_input: Mapping[str, Any] = given if isinstance(given, dict) else {}
        self.tool_use_id = _get(payload, claude.CALL_KEY)[:_MAX_ID]
        self.response = payload.get(claude.RESPONSE_KEY)
        self.error = _get(payload, claude.ERROR_KEY)
        self.message = payload.get(claude.ANSWER_KEY)
        self.stop_active = payload.get(claude.STOP_ACTIVE_KEY) is True
        self.transcript = _get(payload, claude.TRANSCRIPT_KEY)

    @property
    def is_delegating(self) -> bool:
        """Whether the tool starts a subagent."""
        return self.tool in DELEGATING or codex.split_tool(self.tool)[1] == codex.SPAWN

    @property
    def collaboration(self) -> str:
        """The name of Codex's tool for subagents without its prefix; empty for any other tool."""
        return codex.split_tool(self.tool)[1] if self.harness == "codex" else ""

    @property
    def is_waiting(self) -> bool:
        """Whether a caller in Codex waits for its agents with this tool."""
        return self.collaboration == codex.WAIT

    @property
    def is_sealed(self) -> bool:
        """Whether Remit can neither read nor extend the prompt of the subagent that the tool starts."""
        return self.harness == "codex" and codex.is_sealed(self.tool)

    @property
    def is_returning(self) -> bool:
        """Whether the input of the tool is the return of the agent that uses it."""
        return self.harness == "claude" and bool(self.agent_id) and self.tool in claude.RETURNING

    @property
    def prompt(self) -> str:
        """The text that a session or an agent is about to get, at UserPromptSubmit."""
        return _get(self.payload, claude.PROMPT_TEXT)

    @property
    def is_notification(self) -> bool:
        """Whether the prompt is a notification of the harness with the answer of an agent, and not one of the user."""
        is_prompt = self.harness == "claude" and self.kind == claude.PROMPT and not self.agent_id
        return is_prompt and claude.is_notification(self.prompt)

    @property
    def is_own(self) -> bool:
        """Whether the event comes from a session of the user or of a program, and not from an agent."""
        return not self.agent_id and not self.agent

    @property
    def target(self) -> str:
        """The name of the agent that the call asks for, under the key that this harness reads."""
        found = self.tool_input.get(codex.AGENT_KEY if self.harness == "codex" else claude.AGENT_KEY)
        return _repair(found.strip()[:_MAX_NAME]) if isinstance(found, str) else ""

    @property
    def prompt_key(self) -> str:
        """The key under which this harness reads the subagent's prompt; empty if the call has no such text."""
        key = codex.PROMPT_KEY if self.harness == "codex" else claude.PROMPT_KEY
        return key if isinstance(self.tool_input.get(key), str) else ""

    @property
    def is_background(self) -> bool:
        """Whether the caller continues at once and gets the answer later, in another way."""
        return self.harness == "codex" or self.tool_input.get(claude.BACKGROUND_KEY) is True


def _get(payload: Mapping[str, Any], key: str) -> str:
    value = payload.get(key)
    return _repair(value) if isinstance(value, str) else ""


def _repair(text: str) -> str:
    """Return a text that can be stored: JSON can contain half of a surrogate pair, and UTF-8 can't."""
    try:
        text.encode()
    except UnicodeEncodeError:
        # A harness does the same outside JSON. Two halves that belong together become one character.
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text


def is_user_session(event: HookEvent, environ: Mapping[str, str]) -> bool:
    """Return whether an event comes from the user's own session, even if the user talks to an agent in it."""
    if event.agent_id or environ.get("REMIT_TICKET"):
        return False
    return event.is_own or claude.is_terminal(environ)


def is_judged_elsewhere(event: HookEvent, environ: Mapping[str, str]) -> bool:
    """Return whether hooks don't judge the whole session: its supervisor does, or the session is the user's own."""
    return not event.agent_id and (is_user_session(event, environ) or bool(environ.get("REMIT_TICKET")))
