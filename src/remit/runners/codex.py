"""The runner `codex`: Codex without its terminal.

Facts that the documentation of the harness lacks:
- It reads the prompt from standard input, so the prompt may have any length.
- A session can't be one of an agent in Codex's own files, which only its own subagents use. So the agent's instructions
  become developer instructions by an override on the command line or, if they are too long for an argument, precede the
  prompt. A resumed session still has them.
- By default, the agent can't write. Remit chooses the sandbox that can write in the workspace, or the read-only one if
  the agent may neither write nor run commands.
- If this sandbox stops a command, the stream sometimes omits the command and everything that it did before.
- An item of type `error` is a warning, and Codex may retry after an `error` in the stream; only `turn.failed` is a
  failure. Without `turn.completed` there is no final message.
- Usage is reported when a turn is completed, and counts the whole thread with its earlier runs. Costs aren't reported.
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

    from remit.runners.protocol import AttemptOrder, Counted, Operation, ReportTime

_OPERATIONS = cast("dict[str, Operation]", codex.OPERATIONS)
_UNTRUSTED = (
    "Codex does not trust this folder, so its hooks, agents and MCP servers there are off: start codex in it once and "
    f"agree, or add {codex.TRUST_OPTION} to `args` in [runners.codex]"
)


class CodexRunner:
    """Codex."""

    name = "codex"
    can_resume = True
    reports_tools = True
    counts_thread = True
    """Its usage counts the whole thread, so the last of several runs in one thread has the total."""
    reports_usage: Mapping[Counted, ReportTime] = {"turns": "live", "tokens": "end"}
    enforces: tuple[Counted, ...] = ()

    def start(self, order: AttemptOrder) -> Launch:
        """Return how to start a thread."""
        override = _render_override(order.instructions)
        prompt = order.prompt
        if order.instructions.strip() and override is None:
            prompt = f"{order.instructions}\n\n---\n\n{prompt}"
        return self._launch(order, prompt, override)

    def resume(self, order: AttemptOrder, harness_id: str, message: str) -> Launch:
        """Return how to resume a thread."""
        return self._launch(order, message, _render_override(order.instructions), codex.RESUME_COMMAND, harness_id)

    def listen(self, order: AttemptOrder) -> CodexListener:
        """Return the listener for one run."""
        return CodexListener(is_free=_is_free(get_args(order)))

    def _launch(self, order: AttemptOrder, prompt: str, override: str | None, *session: str) -> Launch:
        if order.agent and order.is_native and not order.instructions.strip():
            hint = "give the agent's instructions, or choose another runner"
            raise RunnerError(f"Codex can't start as its agent '{order.agent}'", hint=hint)
        if not prompt.strip():
            raise RunnerError("Codex doesn't start without a prompt", hint="describe the work")
        args = get_args(order)
        argv = [find_program(order, "codex", codex.PACKAGE), *codex.STREAM_OPTIONS]
        if not has_option(args, "-s", codex.SANDBOX_OPTION, codex.BYPASS_OPTION, codex.APPROVE_OPTION):
            argv.append(f"{codex.SANDBOX_OPTION}={_choose_sandbox(order)}")
        argv += ["-c", override] if override else []
        model = get_model(order)
        argv += [f"{codex.MODEL_OPTION}={model}"] if model else []
        return Launch((*argv, *args, *session, "-"), encode(prompt), get_environ(order))


def _render_override(instructions: str) -> str | None:
    """Return the instructions as a TOML value for the command line; None if they are empty or too long."""
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
    """Return whether the workspace's settings let Codex run without its sandbox."""
    return codex.BYPASS_OPTION in args or any(
        word.rpartition("=")[2].strip("\"'") == codex.FULL_ACCESS for word in args
    )


class CodexListener(StreamListener):
    """Reads Codex's stream."""

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

    def handle(self, record: Mapping[str, Any]) -> None:
        """Process one object of the stream."""
        kind = get_text(record, "type")
        if kind == codex.THREAD_STARTED:
            self.set_id(record, codex.THREAD_KEY)
        elif kind == codex.TURN_STARTED:
            self._text, self._completed, self._failure, self._error = None, False, None, ""
        elif kind.startswith(codex.ITEM_PREFIX):
            self._handle_item(kind, get_map(record, "item"))
        elif kind == codex.TURN_COMPLETED:
            self._completed, self._usage = True, get_map(record, "usage")
        elif kind == codex.TURN_FAILED:
            self._failure = _read_message(get_map(record, "error"))
        elif kind == "error":
            self._error = _read_message(record)

    def _handle_item(self, event: str, item: Mapping[str, Any]) -> None:
        kind = get_text(item, "type")
        if kind == codex.MESSAGE_ITEM and event == codex.ITEM_COMPLETED:
            self._error, self._text = "", get_text(item, "text")
            self._turns += 1
            self.activity = show(self._text, 120) or self.activity
        elif kind == "error":
            self.note(show(get_text(item, "message")))
        elif kind in _OPERATIONS:
            self._handle_tool(event, kind, item)

    def _handle_tool(self, event: str, kind: str, item: Mapping[str, Any]) -> None:
        self._text = None  # it wasn't the final message
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
        self.activity = show(f"{name} {what}", 120)

    def summarize(self) -> RunOutput:
        """Return the usage; tokens are only known at the end of a turn."""
        counts = self._usage
        turns = self._turns or None
        usage = Usage(turns=turns)
        if counts is not None:
            usage = Usage(get_count(counts, "input_tokens"), get_count(counts, "output_tokens"), turns)
        trouble = show(f"the model's server didn't answer: {self._error}") if self._error else ""
        return RunOutput(usage=usage, trouble=trouble)

    def conclude(self, errors: list[str], exit_code: int | None) -> RunOutput:
        """Return the output with the last message of a completed turn."""
        if self._turns:
            self.note("Codex does not count turns: each message and each use of a tool counts as one")
        if any(codex.UNTRUSTED in line for line in errors):
            self.note(_UNTRUSTED)
        errors = [line for line in errors if "WARNING" not in line]
        if self._failure is not None:
            return self.fail("api", f"Codex got no answer from its model: {self._failure or 'no reason given'}")
        if self._completed and not exit_code:
            if self._text and self._text.strip():
                return self.summarize()._replace(text=self._text)
            return self.fail("no_answer", "Codex ended without a final message")
        if self._error:
            return self.fail("api", f"Codex was ended while its model's server didn't answer: {self._error}")
        if exit_code and not self._turns and not self._completed:
            return self.fail("refused", f"Codex didn't start: {errors[-1] if errors else f'exit code {exit_code}'}")
        return self.report_crash(errors, exit_code)


def _read_message(error: Mapping[str, Any]) -> str:
    """Return the message of an error. Some messages contain the server's whole response as JSON."""
    text = get_text(error, "message")
    inner = load_object(text.encode("utf-8", "replace")) if text.startswith("{") else None
    return get_text(get_map(inner, "error"), "message") or text
