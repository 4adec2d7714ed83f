"""The runner `gemini`: Gemini CLI without its terminal.

Owns what is known of it:
- The prompt is read from standard input, so it may be of any length.
- It begins a session as no agent: what the agent is told stands in front of the prompt. A resumed session still has it.
- The session's id is chosen before the start, and by it the session is resumed, in the same working folder.
- Nobody is there to be asked, so a tool that would have to be asked for is not even offered. Edits in the workspace
  are approved; everything is where the agent's own file gives it a shell.
- The final message comes in pieces after the last use of a tool, and counts once a result says that all went well.
- Turns and costs are not told.
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

    from remit.runners.protocol import AttemptOrder, Counted, Operation, Telling

_OPERATIONS = cast("dict[str, Operation]", gemini.OPERATIONS)
_IDS = uuid.UUID("0d0a3f5c-6a0e-5b52-8f57-0d8f0f3a9c11")


class GeminiRunner:
    """Gemini CLI."""

    name = "gemini"
    can_resume = True
    tells_tools = True
    counts_thread = False
    tells_usage: Mapping[Counted, Telling] = {"tokens": "end"}
    holds: tuple[Counted, ...] = ()

    def start(self, order: AttemptOrder) -> Launch:
        """Begin a session under an id of ours; another one for each attempt that begins anew."""
        number = order.folder.rstrip("/").rpartition("/")[2]
        session = str(uuid.uuid5(_IDS, f"{order.session_id}/{number}"))
        prompt = order.prompt
        if order.instructions.strip():
            prompt = f"{order.instructions}\n\n---\n\n{prompt}"
        return self._launch(order, prompt, f"{gemini.SESSION_OPTION}={session}")

    def resume(self, order: AttemptOrder, harness_id: str, message: str) -> Launch:
        """Go on with a session."""
        return self._launch(order, message, f"{gemini.RESUME_OPTION}={harness_id}")

    def listen(self, order: AttemptOrder) -> GeminiListener:
        """Something that hears one run."""
        del order
        return GeminiListener()

    def _launch(self, order: AttemptOrder, prompt: str, session: str) -> Launch:
        if not prompt.strip():
            raise RunnerError("Gemini CLI does not begin without a prompt", hint="say what is to be done")
        if order.agent and order.is_native and not order.instructions.strip():
            hint = "give the agent's own text along, or choose another runner"
            raise RunnerError(f"Gemini CLI cannot begin as its agent '{order.agent}'", hint=hint)
        args = get_args(order)
        argv = [find_program(order, "gemini", gemini.PACKAGE), gemini.STREAM_OPTION, session]
        if not has_option(args, gemini.MODE_OPTION, *gemini.FREE_OPTIONS):
            free = order.tools is not None and "bash" in order.tools
            argv.append(f"{gemini.MODE_OPTION}={gemini.FREE_MODE if free else gemini.EDITS_MODE}")
        model = get_model(order)
        argv += [f"{gemini.MODEL_OPTION}={model}"] if model else []
        return Launch((*argv, *args), encode(prompt), get_environ(order))


class GeminiListener(StreamListener):
    """Hears Gemini CLI's stream."""

    harness = "Gemini CLI"

    def __init__(self) -> None:
        super().__init__()
        self._pieces: list[str] = []
        self._error = ""
        self._result: Mapping[str, Any] | None = None

    def hear(self, record: Mapping[str, Any]) -> None:
        """One object of the stream."""
        kind = record.get("type")
        if kind == "init":
            self.keep_id(record, gemini.SESSION_KEY)
        elif kind == "message":
            self._hear_message(record)
        elif kind == "tool_use":
            self._pieces = []  # it was not the last word
            name, given = get_text(record, gemini.TOOL_KEY), get_map(record, gemini.INPUT_KEY)
            path = next(filter(None, map(given.get, gemini.PATH_KEYS)), None)
            self.tools.begin(get_text(record, gemini.TOOL_ID), name, _OPERATIONS.get(name, "other"), path)
            self.said = show(f"{name} {path or given.get(gemini.COMMAND_KEY) or ''}", 120)
        elif kind == "tool_result":
            self.tools.end(get_text(record, gemini.TOOL_ID), failed=record.get("status") != "success")
        elif kind == "error":
            self._error = get_text(record, "message")
        elif kind == "result":
            self._result = record

    def _hear_message(self, record: Mapping[str, Any]) -> None:
        if record.get("role") == "assistant":
            self._pieces.append(get_text(record, "content"))
            self.said = show(self._pieces[-1], 120) or self.said
        else:
            self._pieces = []

    def sum_up(self) -> RunOutput:
        """Tokens are told with the result only."""
        if self._result is None:
            return RunOutput()
        stats = get_map(self._result, "stats")
        return RunOutput(usage=Usage(get_count(stats, "input_tokens"), get_count(stats, "output_tokens")))

    def conclude(self, errors: list[str], exit_code: int | None) -> RunOutput:
        """Return the last message, where the result says that all went well."""
        if self._result is None:
            if exit_code and self.harness_id is None:
                why = next((line for line in errors if line.startswith("Error")), errors[-1] if errors else "")
                return self.fail("refused", f"Gemini CLI did not begin: {why or f'exit code {exit_code}'}")
            return self.tell_crash(errors, exit_code)
        if self._result.get("status") != "success":
            said = get_text(get_map(self._result, "error"), "message") or self._error or "no reason given"
            return self.fail("api", f"Gemini CLI got no answer from its model: {said}")
        text = "".join(self._pieces)
        if exit_code or not text.strip():
            return self.tell_crash(errors if exit_code else [], exit_code or 0)
        return self.sum_up()._replace(text=text)
