"""The runner `claude`: Claude Code without its terminal.

Facts that the documentation of the harness lacks:
- It reads the prompt from standard input, so the prompt may have any length. A prompt that begins with a slash would be
  a command; a line break in front of it prevents that.
- There is no user to answer permission prompts, so these are denied. Edits in the working folder are accepted, and a
  shell is allowed if the agent file has one. Allowing `Write` by name would allow it everywhere.
- The instructions of an agent that Claude Code doesn't know are appended to its system prompt, from a file.
- The session's id is chosen before the start. A session is bound to its working folder, can be resumed after the
  program was killed, and can't be started twice. It is stored with a short delay: if the program is killed right after
  its first output, there is nothing to resume.
- The result of a command names the files that changed while it ran, if a variable turns that on.
- The program retries a failing server ten times, which takes minutes, even if the key is wrong. Five retries take about
  20 seconds; the caller's own number takes precedence.
- The exit code alone says nothing. An API error has `subtype: success` with `is_error`; if a limit is reached, there is
  no result; a denied tool changes nothing; and a terminated program may exit with 0. Only a result line counts.
- `usage` of the result doesn't include subagents, and is empty once the budget is used up; `modelUsage` is complete.
- A run with background tasks prints several results. Their usage since the previous result is added up. The final
  message is the last one that names the session, so that a message about a command that ended later doesn't replace a
  return; if none names the session, it is the last one.
- The program waits up to ten minutes for commands that the agent left in the background. If there is a result and no
  other task is left, `RunOutput.is_waiting` is true, and Remit ends the program.
"""

from __future__ import annotations

import uuid
from typing import TYPE_CHECKING, Any

from remit.errors import RunnerError
from remit.harnesses import claude as names
from remit.runners.protocol import Launch, RunOutput, Usage
from remit.runners.streams import (
    StreamListener,
    encode,
    find_program,
    get_args,
    get_cost,
    get_count,
    get_environ,
    get_list,
    get_map,
    get_model,
    get_text,
    has_option,
    show,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from remit.runners.protocol import AttemptOrder, Counted, ReportTime

_OPERATIONS: Mapping[str, Any] = names.OPERATIONS
_INSTRUCTIONS = "instructions.md"
_IDS = uuid.UUID("5bba9ef8-2ea4-5bd0-a2c2-6c1b5dbb8d54")
_LIMITS: Mapping[str, Any] = names.RESULT_LIMITS
_MAX_MESSAGES = 100_000
_MAX_RESULTS = 1000
_UNLESS_SET = {names.RETRIES_VARIABLE: "5", names.DIFF_VARIABLE: "1"}


class ClaudeRunner:
    """Claude Code."""

    name = "claude"
    can_resume = True
    reports_tools = True
    counts_thread = False
    reports_usage: Mapping[Counted, ReportTime] = {"turns": "live", "tokens": "live", "usd": "end"}
    enforces: tuple[Counted, ...] = ("turns", "usd")

    def start(self, order: AttemptOrder) -> Launch:
        """Return how to start a session with an id that Remit chooses."""
        return self._launch(order, order.prompt, names.SESSION_OPTION, make_session_uuid(order))

    def resume(self, order: AttemptOrder, harness_id: str, message: str) -> Launch:
        """Return how to resume a session. The session doesn't contain the instructions, so they are passed again."""
        return self._launch(order, message, names.RESUME_OPTION, harness_id)

    def listen(self, order: AttemptOrder) -> ClaudeListener:
        """Return the listener for one run."""
        return ClaudeListener(order.session_id)

    def _launch(self, order: AttemptOrder, prompt: str, *session: str) -> Launch:
        if not prompt.strip():
            raise RunnerError("Claude Code doesn't start without a prompt", hint="describe the work")
        args = get_args(order)
        argv = [find_program(order, "claude", names.PACKAGE), *names.STREAM_OPTIONS, *session]
        if not has_option(args, names.MODE_OPTION, names.FREE_OPTION):
            argv.append(f"{names.MODE_OPTION}={names.EDITS_MODE}")
        if order.tools is not None:
            tools = [names.NAMES[tool] for tool in order.tools if tool in names.NAMES]
            argv.append(f"{names.TOOLS_OPTION}={','.join(tools)}")
            argv += [f"{names.ALLOWED_OPTION}={names.NAMES['bash']}"] if "bash" in order.tools else []
        files = {}
        if order.agent and order.is_native:
            argv.append(f"{names.AGENT_OPTION}={order.agent}")
        elif order.instructions.strip():
            files[_INSTRUCTIONS] = encode(order.instructions)
            argv.append(f"{names.INSTRUCTIONS_OPTION}={order.folder}/{_INSTRUCTIONS}")
        model = get_model(order)
        argv += [f"{names.MODEL_OPTION}={model}"] if model else []
        argv += [f"{names.TURNS_OPTION}={order.max_turns}"] if order.max_turns is not None else []
        argv += [f"{names.BUDGET_OPTION}={max(order.max_usd, 0.000001):.6f}"] if order.max_usd is not None else []
        stdin = encode(f"\n{prompt}" if prompt.startswith("/") else prompt)
        wanted = dict(_UNLESS_SET)
        if order.max_output_tokens:
            wanted[names.OUTPUT_VARIABLE] = str(order.max_output_tokens)
        environ = {name: value for name, value in wanted.items() if name not in order.environ}
        return Launch((*argv, *args), stdin, {names.UPDATES_VARIABLE: "1"} | environ | get_environ(order), files)


def make_session_uuid(order: AttemptOrder) -> str:
    """Return Claude Code's id of a session, which differs for each attempt in a new session."""
    number = order.folder.rstrip("/").rpartition("/")[2]
    return str(uuid.uuid5(_IDS, order.session_id if number == "1" else f"{order.session_id}/{number}"))


class ClaudeListener(StreamListener):
    """Reads Claude Code's stream."""

    harness = "Claude Code"

    def __init__(self, session_id: str) -> None:
        super().__init__()
        self._session_id = session_id
        self._results: list[Mapping[str, Any]] = []
        self._version = ""
        self._tasks: list[str] = []
        """The types of the tasks that run in the background."""
        self._is_idle = False
        """Whether the last line of the agent was a result."""
        self._messages: dict[str, tuple[int, int]] = {}
        self._turns = 0
        self._retrying = ""

    def handle(self, record: Mapping[str, Any]) -> None:
        """Process one object of the stream."""
        kind = record.get("type")
        self.set_id(record, names.SESSION_KEY)
        if kind == "assistant":
            self._is_idle = False
            self._handle_assistant(record)
        elif kind == "user":
            blocks = get_list(get_map(record, "message"), "content")
            ended = [block for block in blocks if block.get("type") == "tool_result"]
            for block in ended:
                self.tools.end(get_text(block, names.CALL_KEY), failed=block.get(names.IS_ERROR) is True)
            changed = names.read_changed_files(record.get(names.TOOL_RESPONSE)) if len(ended) == 1 else None
            if changed is not None:
                self.tools.name_files(get_text(ended[0], names.CALL_KEY), *changed)
        elif kind == "result":
            self._is_idle = True
            if len(self._results) < _MAX_RESULTS:
                self._results.append(record)
        elif kind == "system":
            self._handle_system(record)

    def _handle_system(self, record: Mapping[str, Any]) -> None:
        subtype = record.get("subtype")
        if subtype == names.INIT:
            self._is_idle = False
            self._version = get_text(record, names.VERSION_KEY)
        elif subtype == names.TASKS_CHANGED:
            self._tasks = names.list_task_types(record)
        elif subtype == names.API_RETRY:
            status, what = record.get(names.RETRY_STATUS), get_text(record, names.RETRY_ERROR)
            what = f"{status} {what}" if status else what
            attempt, limit = record.get(names.RETRY_ATTEMPT), record.get(names.RETRY_LIMIT)
            self._retrying = f"{what.strip()}, try {attempt} of {limit}"

    def _handle_assistant(self, record: Mapping[str, Any]) -> None:
        message = get_map(record, "message")
        if message.get("model") != names.SYNTHETIC_MODEL:  # a message that the program wrote itself
            self._retrying = ""
            self._count(get_text(message, "id"), message, is_main=record.get(names.PARENT_CALL) is None)
        for block in get_list(message, "content"):
            if block.get("type") == "tool_use":
                name, given = get_text(block, "name"), get_map(block, "input")
                path = next(filter(None, map(given.get, (*names.PATH_KEYS, "path"))), None)
                self.tools.begin(get_text(block, "id"), name, _OPERATIONS.get(name, "other"), path)
                self.activity = show(
                    f"{name} {path or given.get(names.COMMAND_KEY) or given.get('description') or ''}", 120
                )
            elif block.get("type") == "text":
                self.activity = show(get_text(block, "text"), 120) or self.activity

    def _count(self, key: str, message: Mapping[str, Any], *, is_main: bool) -> None:
        """Count the usage of a message once: the stream repeats it with each block of the message."""
        if key in self._messages or len(self._messages) >= _MAX_MESSAGES:
            return
        usage = get_map(message, "usage")
        self._messages[key] = get_count(usage, *names.LIVE_INPUT), get_count(usage, *names.LIVE_OUTPUT)
        self._turns += is_main

    def summarize(self) -> RunOutput:
        """Return the usage of the results; before the first one, of the messages, which omit part of the output."""
        trouble = show(f"the model's server didn't answer: {self._retrying}") if self._retrying else ""
        if not self._results:
            return RunOutput(usage=self._count_messages(self._turns), trouble=trouble)
        is_waiting = self._is_idle and {*self._tasks} == {names.SHELL_TASK}
        return self._count_results()._replace(is_waiting=is_waiting)

    def _count_messages(self, turns: int) -> Usage:
        inputs, outputs = (sum(counts) for counts in zip((0, 0), *self._messages.values(), strict=True))
        return Usage(inputs, outputs, turns)

    def _count_results(self) -> RunOutput:
        """Return the usage in the results, each token once."""
        last = self._results[-1]
        turns = sum(get_count(result, names.TURNS_KEY) for result in self._results)
        cost = get_cost(last, names.COST_KEY)
        since = [get_map(result, names.SINCE_LAST) for result in self._results if names.SINCE_LAST in result]
        models = [get_map(model) for each in since or [get_map(last, names.MODELS_KEY)] for model in each.values()]
        if since or models:
            inputs, outputs = (
                sum(get_count(model, *keys) for model in models) for keys in (names.RESULT_INPUT, names.RESULT_OUTPUT)
            )
            if since:
                cost = sum(get_cost(model, names.RESULT_COST) or 0.0 for model in models)
            is_whole = not since and names.counts_earlier_runs(self._version)
            return RunOutput(usage=Usage(inputs, outputs, turns, cost), counts_session=is_whole)
        usage = get_map(last, "usage")
        if any(key in usage for key in (*names.LIVE_INPUT, *names.LIVE_OUTPUT)):
            inputs, outputs = (get_count(usage, *keys) for keys in (names.LIVE_INPUT, names.LIVE_OUTPUT))
            return RunOutput(usage=Usage(inputs, outputs, turns, cost))
        if get_text(last, "subtype") == "success":
            self.note(f"{self.harness} reports its usage in an unknown form: tokens are those of the messages seen")
        return RunOutput(usage=self._count_messages(turns)._replace(cost_usd=cost))

    def _choose_result(self) -> Mapping[str, Any] | None:
        """Return the last result that names the session; if there is none, the last result."""
        named = (each for each in reversed(self._results) if self._session_id in get_text(each, names.ANSWER))
        return next(named, self._results[-1] if self._results else None)

    def conclude(self, errors: list[str], exit_code: int | None) -> RunOutput:
        """Return the output by the result line. Without one, there is no final message, whatever the exit code."""
        result = self._choose_result()
        if result is None:
            return self._conclude_without(errors, exit_code)
        denials = get_list(result, names.DENIALS_KEY)
        denied = [get_text(denial, names.TOOL_KEY) for denial in denials]
        for denial in denials:
            self.tools.end(get_text(denial, names.CALL_KEY), failed=True)
        subtype, text = get_text(result, "subtype"), get_text(result, names.ANSWER)
        if subtype in _LIMITS:
            return self.fail(_LIMITS[subtype], f"{self.harness} reached the limit of its {_LIMITS[subtype]}")
        if result.get(names.IS_ERROR) is not False or subtype != "success":
            return self._conclude_error(result, errors)
        if exit_code and result is self._results[-1]:
            return self.report_crash(errors, exit_code)
        trouble = f"{self.harness} denied it {show(', '.join(dict.fromkeys(denied)))}" if denied else ""
        if not text.strip():
            why = f": {trouble}" if trouble else ""
            return self.fail("no_answer", f"{self.harness} ended without a final message{why}")
        return self.summarize()._replace(text=text, trouble=trouble)

    def _conclude_error(self, result: Mapping[str, Any], errors: list[str]) -> RunOutput:
        values = result.get("errors")
        reasons = [text for text in values if isinstance(text, str)] if isinstance(values, list) else []
        text = get_text(result, names.ANSWER) or "; ".join(reasons) or (errors[-1] if errors else "no reason given")
        if get_text(result, "subtype") == "success":
            return self.fail("api", f"{self.harness} got no answer from its model: {text}")
        if any(names.UNKNOWN_SESSION in line for line in (*reasons, *errors)):
            return self.fail("refused", f"{self.harness} can't resume: {text}")
        return self.fail("crash", f"{self.harness} failed: {text}")

    def _conclude_without(self, errors: list[str], exit_code: int | None) -> RunOutput:
        if self._retrying:
            return self.fail(
                "api", f"{self.harness} was ended while its model's server didn't answer: {self._retrying}"
            )
        if exit_code and self.harness_id is None:  # no output at all: it rejects an option, an agent or a session
            why = errors[-1] if errors else f"exit code {exit_code}"
            return self.fail("refused", f"{self.harness} didn't start: {why}")
        return self.report_crash(errors, exit_code)
