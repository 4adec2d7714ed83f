"""Scripts of a scripted model: its turns, and the choice of the next turn.

The model is stateless: the last marker in the user texts names the script, and the number of answers since the marker
is the step. So retries, resumed sessions, subagents and messages of hooks get the right turn.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Literal, NamedTuple
from urllib.parse import quote, unquote

from remit.errors import UsageError
from remit.harnesses import codex
from remit.spelling import did_you_mean
from remit.testing.tools import Offer, translate_call

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

_MARKER = re.compile(r"\[\[play ([\w.-]+)((?: [\w.-]+=[^\s\[\]]*)*)\]\]")
_SLOT = re.compile(r"\$\{([\w.-]+)\}")
_NAME = re.compile(r"[\w.-]+")
_TITLE = re.compile(r"(?i)\btitle generator\b|\bgenerate [^.\n]{0,60}\btitle\b")

SESSION_ID = r"sess_\d+_[a-z0-9]{6}"
"""For `ScriptedTurn.grab`: the id that Remit gave the session, as it stands in the agent's first message."""


class ScriptedCall(NamedTuple):
    """One tool call, by the standard's name of the tool: read, write, edit, bash, grep, glob, task."""

    tool: str
    args: Mapping[str, Any]


class ScriptedTurn(NamedTuple):
    """One answer of the model. Made by `say`, `call`, `fail`, `hang` and `drop`."""

    text: str = ""
    calls: tuple[ScriptedCall, ...] = ()
    status: int = 0
    """An HTTP error instead of an answer; 0 for none."""
    kind: str = ""
    """The error's type, as the model's server would call it."""
    wait_s: float = 0
    ending: Literal["", "hang", "drop"] = ""
    grabs: tuple[tuple[str, str], ...] = ()

    def also(self, tool: str, **args: Any) -> ScriptedTurn:  # noqa: ANN401 - a tool takes anything
        """Return the turn with one more parallel call."""
        return self._replace(calls=(*self.calls, ScriptedCall(tool, args)))

    def after(self, seconds: float) -> ScriptedTurn:
        """Return the turn with a delay."""
        return self._replace(wait_s=seconds)

    def grab(self, **patterns: str) -> ScriptedTurn:
        """Return the turn with `${name}` filled from the conversation so far.

        The last match counts, or its first group if the pattern has one. Use it for results of tools or for the
        session's id: `say('{"session_id": "${id}"}').grab(id=SESSION_ID)`.
        """
        for pattern in patterns.values():
            re.compile(pattern)
        return self._replace(grabs=(*self.grabs, *patterns.items()))


def say(text: str) -> ScriptedTurn:
    """Return a turn with only text, which ends the agent's attempt unless it gets another message."""
    return ScriptedTurn(text)


def call(tool: str, **args: Any) -> ScriptedTurn:  # noqa: ANN401 - a tool takes anything
    """Return a turn that calls a tool.

    The standard's names become those that the harness offers: `call("write", path="a.md", content="…")`,
    `call("bash", command="…")`, `call("task", agent="…", prompt="…")`. Any other name is taken as it is, or for the
    end of an MCP tool's name.
    """
    return ScriptedTurn(calls=(ScriptedCall(tool, args),))


def fail(status: int, message: str = "scripted error", *, kind: str = "api_error") -> ScriptedTurn:
    """An HTTP error, given as often as the harness tries."""
    return ScriptedTurn(message, status=status, kind=kind)


def hang() -> ScriptedTurn:
    """Return a turn whose answer starts and never ends."""
    return ScriptedTurn(ending="hang")


def drop() -> ScriptedTurn:
    """Return a turn whose connection closes after the start of the answer."""
    return ScriptedTurn(ending="drop")


def check_scripts(scripts: Mapping[str, Iterable[ScriptedTurn]]) -> dict[str, tuple[ScriptedTurn, ...]]:
    """The scripts as they are kept. Raises `UsageError` for one that could never be played."""
    kept = {name: tuple(turns) for name, turns in scripts.items()}
    for name, turns in kept.items():
        if not _NAME.fullmatch(name):
            raise UsageError(f"a script cannot be called {name!r}", hint="use letters, digits, dots and dashes")
        if not turns:
            raise UsageError(f"the script {name} has no turn", hint='give it at least one, such as say("done")')
    return kept


def render_marker(name: str, known: Iterable[str], values: Mapping[str, object]) -> str:
    """What a prompt has to contain for a script to be played."""
    if name not in known:
        raise UsageError(f"there is no script {name}", hint=did_you_mean(name, [*known]))
    given = "".join(f" {key}={quote(str(value), safe='/:')}" for key, value in values.items())
    return f"[[play {name}{given}]]"


class Conversation(NamedTuple):
    """A request in any protocol: the messages so far, and the tools that the model may use."""

    messages: tuple[tuple[Literal["user", "assistant"], str], ...]
    everything: tuple[str, ...]
    """Every text in it, those of tools and of the system too."""
    tools: Mapping[str, Offer]
    model: str
    streams: bool
    refusal: str = ""
    """Why a model's server refuses the request; empty if it doesn't."""


class ReadyCall(NamedTuple):
    """A call as the harness knows the tool."""

    id: str
    args: Mapping[str, Any]
    offer: Offer

    @property
    def name(self) -> str:
        """What the harness calls the tool."""
        return self.offer.name


class Reply(NamedTuple):
    """What the model answers, with everything filled in."""

    script: str | None
    step: int
    turn: ScriptedTurn
    calls: tuple[ReadyCall, ...] = ()

    @property
    def text(self) -> str:
        """What it says."""
        return self.turn.text


def choose_reply(
    scripts: Mapping[str, tuple[ScriptedTurn, ...]], conversation: Conversation, ids: Iterator[str]
) -> Reply:
    """Return the next turn. After the end of a script, the last turn is repeated."""
    name, values, step = find_place(conversation)
    if conversation.refusal:
        return Reply(name, step, fail(400, conversation.refusal, kind="invalid_request_error"))
    if not conversation.tools and _asks_for_title(conversation):
        return Reply(name, step, say("Scripted title"))
    if conversation.messages and conversation.messages[-1][1].startswith(codex.TITLE_PROMPT):
        return Reply(None, step, say("Scripted title"))
    if name is None:
        return Reply(None, step, say("No script is named in the prompt: it has to contain the marker of one."))
    turns = scripts.get(name)
    if turns is None:
        return Reply(name, step, say(f"There is no script {name}: {did_you_mean(name, [*scripts])}"))
    turn = turns[min(step, len(turns) - 1)]
    filled = values | dict(_grab(turn, conversation))
    calls = []
    for tool, args in turn.calls:
        offer, given = translate_call(tool, _fill(args, filled), conversation.tools)
        calls.append(ReadyCall(next(ids), given, offer))
    return Reply(name, step, turn._replace(text=_fill(turn.text, filled)), tuple(calls))


def find_place(conversation: Conversation) -> tuple[str | None, dict[str, str], int]:
    """Which script is played, the values that its marker gives, and the number of answers since."""
    name, values, since = None, {}, 0
    for number, (role, text) in enumerate(conversation.messages):
        for match in _MARKER.finditer(text) if role == "user" else ():
            pairs = (pair.partition("=") for pair in match[2].split())
            name, values, since = match[1], {key: unquote(value) for key, _, value in pairs}, number
    return name, values, sum(role == "assistant" for role, _ in conversation.messages[since:])


def _asks_for_title(conversation: Conversation) -> bool:
    """Harnesses let the model name a conversation, beside it and without any tool."""
    return any(_TITLE.search(text[:500]) for text in conversation.everything)


def _grab(turn: ScriptedTurn, conversation: Conversation) -> Iterator[tuple[str, str]]:
    for name, pattern in turn.grabs:
        found = [match for text in conversation.everything for match in re.finditer(pattern, text)]
        if found:
            yield name, found[-1][1 if found[-1].re.groups else 0]


def _fill(value: Any, values: Mapping[str, str]) -> Any:  # noqa: ANN401 - any JSON
    if isinstance(value, str):
        return _SLOT.sub(lambda match: values.get(match[1], match[0]), value)
    if isinstance(value, list | tuple):
        return [_fill(item, values) for item in value]
    if isinstance(value, dict):
        return {key: _fill(item, values) for key, item in value.items()}
    return value
