"""The runner `gemini`: Gemini CLI without its terminal.

Facts that the documentation of the harness lacks:
- It reads the prompt from standard input, so the prompt may have any length.
- A session can't be one of an agent, so the agent's instructions precede the prompt. A resumed session still has them.
- The session's id is chosen before the start, and resumes the session in the same working folder.
- There is no user to answer permission prompts, so tools that need one aren't offered to the model. Edits in the
  workspace are approved, and all tools are if the agent file has a shell.
- The final message comes in pieces after the last tool use, and counts if the result reports success.
- Turns and costs aren't reported.
"""

from __future__ import annotations

import uuid
from typing import TYPE_CHECKING, Any, cast

from remit.errors import RunnerError
from remit.harnesses import gemini
from remit.runners.protocol import Launch, RunOutput, Usage
from remit.runners.streams import (
    StreamListener,
    encode,
    find_program,
    get_args,
    get_count,
    get_environ,
    get_map,
    get_model,
    get_text,
    has_option,
    show,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from remit.runners.protocol import AttemptOrder, Counted, Operation, ReportTime

_OPERATIONS = cast("dict[str, Operation]", gemini.OPERATIONS)
_IDS = uuid.UUID("0d0a3f5c-6a0e-5b52-8f57-0d8f0f3a9c11")


class GeminiRunner:
    """Gemini CLI."""

    name = "gemini"
    can_resume = True
    reports_tools = True
    counts_thread = False
    reports_usage: Mapping[Counted, ReportTime] = {"tokens": "end"}
    enforces: tuple[Counted, ...] = ()

    def start(self, order: AttemptOrder) -> Launch:
        """Return how to start a session, with an id that differs for each attempt in a new session."""
        number = order.folder.rstrip("/").rpartition("/")[2]
        session = str(uuid.uuid5(_IDS, f"{order.session_id}/{number}"))
        prompt = order.prompt
        if order.instructions.strip():
            prompt = f"{order.instructions}\n\n---\n\n{prompt}"
        return self._launch(order, prompt, f"{gemini.SESSION_OPTION}={session}")

    def resume(self, order: AttemptOrder, harness_id: str, message: str) -> Launch:
        """Return how to resume a session."""
        return self._launch(order, message, f"{gemini.RESUME_OPTION}={harness_id}")

    def listen(self, order: AttemptOrder) -> GeminiListener:
        """Return the listener for one run."""
        del order
        return GeminiListener()

    def _launch(self, order: AttemptOrder, prompt: str, session: str) -> Launch:
        if not prompt.strip():
            raise RunnerError("Gemini CLI doesn't start without a prompt", hint="describe the work")
        if order.agent and order.is_native and not order.instructions.strip():
            hint = "give the agent's instructions, or choose another runner"
            raise RunnerError(f"Gemini CLI can't start as its agent '{order.agent}'", hint=hint)
        args = get_args(order)
        argv = [find_program(order, "gemini", gemini.PACKAGE), gemini.STREAM_OPTION, session]
        if not has_option(args, gemini.MODE_OPTION, *gemini.FREE_OPTIONS):
            free = order.tools is not None and "bash" in order.tools
            argv.append(f"{gemini.MODE_OPTION}={gemini.FREE_MODE if free else gemini.EDITS_MODE}")
        model = get_model(order)
        argv += [f"{gemini.MODEL_OPTION}={model}"] if model else []
        return Launch((*argv, *args), encode(prompt), get_environ(order))


class GeminiListener(StreamListener):
    """Reads Gemini CLI's stream."""

    harness = "Gemini CLI"

    def __init__(self) -> None:
        super().__init__()
        self._pieces: list[str] = []
        self._error = ""
        self._result: Mapping[str, Any] | None = None

    def handle(self, record: Mapping[str, Any]) -> None:
        """Process one object of the stream."""
        kind = record.get("type")
        if kind == "init":
            self.set_id(record, gemini.SESSION_KEY)
        elif kind == "message":
            self._handle_message(record)
        elif kind == "tool_use":
            self._pieces = []  # it wasn't the final message
            name, given = get_text(record, gemini.TOOL_KEY), get_map(record, gemini.INPUT_KEY)
            path = next(filter(None, map(given.get, gemini.PATH_KEYS)), None)
            self.tools.begin(get_text(record, gemini.TOOL_ID), name, _OPERATIONS.get(name, "other"), path)
            self.activity = show(f"{name} {path or given.get(gemini.COMMAND_KEY) or ''}", 120)
        elif kind == "tool_result":
            self.tools.end(get_text(record, gemini.TOOL_ID), failed=record.get("status") != "success")
        elif kind == "error":
            self._error = get_text(record, "message")
        elif kind == "result":
            self._result = record

    def _handle_message(self, record: Mapping[str, Any]) -> None:
        if record.get("role") == "assistant":
            self._pieces.append(get_text(record, "content"))
            self.activity = show(self._pieces[-1], 120) or self.activity
        else:
            self._pieces = []

    def summarize(self) -> RunOutput:
        """Return the usage, which only the result contains."""
        if self._result is None:
            return RunOutput()
        stats = get_map(self._result, "stats")
        return RunOutput(usage=Usage(get_count(stats, "input_tokens"), get_count(stats, "output_tokens")))

    def conclude(self, errors: list[str], exit_code: int | None) -> RunOutput:
        """Return the output with the final message, if the result reports success."""
        if self._result is None:
            if exit_code and self.harness_id is None:
                why = next((line for line in errors if line.startswith("Error")), errors[-1] if errors else "")
                return self.fail("refused", f"Gemini CLI didn't start: {why or f'exit code {exit_code}'}")
            return self.report_crash(errors, exit_code)
        if self._result.get("status") != "success":
            reason = get_text(get_map(self._result, "error"), "message") or self._error or "no reason given"
            return self.fail("api", f"Gemini CLI got no answer from its model: {reason}")
        text = "".join(self._pieces)
        if exit_code or not text.strip():
            return self.report_crash(errors if exit_code else [], exit_code or 0)
        return self.summarize()._replace(text=text)
