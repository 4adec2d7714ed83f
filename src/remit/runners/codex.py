"""The runner `codex`: Codex without its terminal.

Owns what is known of it:
- The prompt is read from standard input, so it may be of any length.
- Codex begins a session as no agent of its own files: they are for agents that it calls itself. What the agent is told
  becomes developer instructions by an override on the command line or, where that would be too long for an argument,
  stands in front of the prompt. A resumed session still has them.
- Without being told, Codex lets its agent write nothing. It gets the sandbox that can write in the workspace, or the
  one that cannot where the agent may neither write nor run commands.
- A command that this sandbox stops half-way is sometimes left out of the stream, with all that it did before.
- An item of type `error` is a warning and an `error` in the stream may be followed by another try; `turn.failed` is
  the failure. Without `turn.completed` there is no final message.
- Usage is told once a turn is completed and counts the whole thread, earlier runs of it too. Costs are not told.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from remit.errors import RunnerError
from remit.harnesses import codex
from remit.runners.protocol import Launch, RunOutput, Usage
from remit.runners.streams import (
    MAX_ARGUMENT_BYTES,
    StreamListener,
    encode,
    find_program,
    get_args,
    get_count,
    get_environ,
    get_list,
    get_map,
    get_model,
    get_text,
    has_option,
    load_object,
    show,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from remit.runners.protocol import AttemptOrder, Counted, Operation, Telling

_OPERATIONS = cast("dict[str, Operation]", codex.OPERATIONS)
_UNTRUSTED = (
    "Codex does not trust this folder, so its hooks, agents and MCP servers there are off: start codex in it once and "
    f"agree, or add {codex.TRUST_OPTION} to `args` in [runners.codex]"
)


class CodexRunner:
    """Codex."""

    name = "codex"
    can_resume = True
    tells_tools = True
    counts_thread = True
    """Its usage counts the whole thread: of several runs in one thread the last one tells it all."""
    tells_usage: Mapping[Counted, Telling] = {"turns": "live", "tokens": "end"}
    holds: tuple[Counted, ...] = ()

    def start(self, order: AttemptOrder) -> Launch:
        """Begin a thread."""
        override = _render_override(order.instructions)
        prompt = order.prompt
        if order.instructions.strip() and override is None:
            prompt = f"{order.instructions}\n\n---\n\n{prompt}"
        return self._launch(order, prompt, override)

    def resume(self, order: AttemptOrder, harness_id: str, message: str) -> Launch:
        """Go on with a thread."""
        return self._launch(order, message, _render_override(order.instructions), codex.RESUME_COMMAND, harness_id)

    def listen(self, order: AttemptOrder) -> CodexListener:
        """Something that hears one run."""
        return CodexListener(is_free=_is_free(get_args(order)))

    def _launch(self, order: AttemptOrder, prompt: str, override: str | None, *session: str) -> Launch:
        if order.agent and order.is_native and not order.instructions.strip():
            hint = "give the agent's own text along, or choose another runner"
            raise RunnerError(f"Codex cannot begin as its agent '{order.agent}'", hint=hint)
        if not prompt.strip():
            raise RunnerError("Codex does not begin without a prompt", hint="say what is to be done")
        args = get_args(order)
        argv = [find_program(order, "codex", codex.PACKAGE), *codex.STREAM_OPTIONS]
        if not has_option(args, "-s", codex.SANDBOX_OPTION, codex.BYPASS_OPTION, codex.APPROVE_OPTION):
            argv.append(f"{codex.SANDBOX_OPTION}={_choose_sandbox(order)}")
        argv += ["-c", override] if override else []
        model = get_model(order)
        argv += [f"{codex.MODEL_OPTION}={model}"] if model else []
        return Launch((*argv, *args, *session, "-"), encode(prompt), get_environ(order))


def _render_override(instructions: str) -> str | None:
    """Return the instructions as a value of TOML on the command line; None where there are none, or too many."""
    if not instructions.strip():
        return None
    quoted = "".join(_ESCAPES.get(char) or (char if char >= " " and char != "\x7f" else f"\\u{ord(char):04X}")
                     for char in instructions)  # fmt: skip
    override = f'{codex.INSTRUCTIONS_KEY}="{quoted}"'
    return override if len(encode(override)) <= MAX_ARGUMENT_BYTES else None


_ESCAPES = {"\\": "\\\\", '"': '\\"', "\n": "\\n", "\t": "\\t", "\r": "\\r"}


def _choose_sandbox(order: AttemptOrder) -> str:
    only_reads = order.tools is not None and not {"write", "edit", "bash"} & {*order.tools}
    return codex.READ_ONLY if only_reads else codex.WORKSPACE_WRITE


def _is_free(args: tuple[str, ...]) -> bool:
    """Return whether the workspace lets Codex run without its sandbox."""
    return codex.BYPASS_OPTION in args or any(
        word.rpartition("=")[2].strip("\"'") == codex.FULL_ACCESS for word in args
    )


class CodexListener(StreamListener):
    """Hears Codex's stream."""

    harness = "Codex"

    def __init__(self, *, is_free: bool = False) -> None:
        super().__init__()
        self.hides_tools = not is_free
        self._text: str | None = None
        self._completed = False
        self._failure: str | None = None
        self._error = ""
        self._usage: Mapping[str, Any] | None = None
        self._turns = 0

    def hear(self, record: Mapping[str, Any]) -> None:
        """One object of the stream."""
        kind = get_text(record, "type")
        if kind == codex.THREAD_STARTED:
            self.keep_id(record, codex.THREAD_KEY)
        elif kind == codex.TURN_STARTED:
            self._text, self._completed, self._failure, self._error = None, False, None, ""
        elif kind.startswith(codex.ITEM_PREFIX):
            self._hear_item(kind, get_map(record, "item"))
        elif kind == codex.TURN_COMPLETED:
            self._completed, self._usage = True, get_map(record, "usage")
        elif kind == codex.TURN_FAILED:
            self._failure = _read_message(get_map(record, "error"))
        elif kind == "error":
            self._error = _read_message(record)

    def _hear_item(self, event: str, item: Mapping[str, Any]) -> None:
        kind = get_text(item, "type")
        if kind == codex.MESSAGE_ITEM and event == codex.ITEM_COMPLETED:
            self._error, self._text = "", get_text(item, "text")
            self._turns += 1
            self.said = show(self._text, 120) or self.said
        elif kind == "error":
            self.note(show(get_text(item, "message")))
        elif kind in _OPERATIONS:
            self._hear_tool(event, kind, item)

    def _hear_tool(self, event: str, kind: str, item: Mapping[str, Any]) -> None:
        self._text = None  # it was not the last word
        key = get_text(item, "id")
        name = ".".join(filter(None, (get_text(item, "server"), get_text(item, "tool")))) or kind
        uses = [(f"{key}/{at}", change.get("path")) for at, change in enumerate(get_list(item, "changes"))]
        before = self.tools.count
        for use, path in uses or [(key, None)]:
            self.tools.begin(use, name, _OPERATIONS[kind], path)
            if event == codex.ITEM_COMPLETED:
                status = get_text(item, "status")
                self.tools.end(use, failed=status in codex.FAILED, ran=isinstance(item.get("exit_code"), int))
        self._turns += self.tools.count > before
        what = get_text(item, "command") or get_text(item, "query") or (uses[0][1] if uses else "")
        self.said = show(f"{name} {what}", 120)

    def sum_up(self) -> RunOutput:
        """Tokens are known at the end of a turn only."""
        counts = self._usage
        turns = self._turns or None
        usage = Usage(turns=turns)
        if counts is not None:
            usage = Usage(get_count(counts, "input_tokens"), get_count(counts, "output_tokens"), turns)
        trouble = show(f"the model's server did not answer: {self._error}") if self._error else ""
        return RunOutput(usage=usage, trouble=trouble)

    def conclude(self, errors: list[str], exit_code: int | None) -> RunOutput:
        """Return the last message of a turn that was completed."""
        if self._turns:
            self.note("Codex does not count turns: each message and each use of a tool counts as one")
        if any(codex.UNTRUSTED in line for line in errors):
            self.note(_UNTRUSTED)
        errors = [line for line in errors if "WARNING" not in line]
        if self._failure is not None:
            return self.fail("api", f"Codex got no answer from its model: {self._failure or 'no reason given'}")
        if self._completed and not exit_code:
            if self._text and self._text.strip():
                return self.sum_up()._replace(text=self._text)
            return self.fail("no_answer", "Codex ended without a final message")
        if self._error:
            return self.fail("api", f"Codex was ended while its model's server did not answer: {self._error}")
        if exit_code and not self._turns and not self._completed:
            return self.fail("refused", f"Codex did not begin: {errors[-1] if errors else f'exit code {exit_code}'}")
        return self.tell_crash(errors, exit_code)


def _read_message(error: Mapping[str, Any]) -> str:
    """Return what an error says; some have the server's whole answer as their message."""
    text = get_text(error, "message")
    inner = load_object(text.encode("utf-8", "replace")) if text.startswith("{") else None
    return get_text(get_map(inner, "error"), "message") or text
