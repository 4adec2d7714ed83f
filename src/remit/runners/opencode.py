"""The runner `opencode`: opencode without its terminal.

Facts that the documentation of the harness lacks:
- It reads the prompt from standard input, so the prompt may have any length.
- An agent is defined by settings in the environment, which override those in files. They name a file with the agent's
  instructions, because `{env:…}` and `{file:…}` are replaced in settings but not in that file, and because the length
  of a variable is limited.
- A session can only start with an agent of mode `all` or `primary`, but the standard's agents have mode `subagent`.
  With such an agent, or an unknown one, opencode runs its default agent and prints a warning: Remit treats that as a
  refusal, whatever the default agent answered.
- Permission prompts are rejected, and the run ends with exit code 0 and without a message.
- There is no final record. The final message is the text of the last step, if the step ended normally.
- opencode silently retries a missing or failing server for a minute or longer. Only the log has the reason, so errors
  are logged to standard error. A limit on steps is only advice to the model.
- The stream doesn't contain what subagents do and use.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, cast

from remit.errors import RunnerError
from remit.harnesses import opencode
from remit.lazy_regex import lazy
from remit.runners.protocol import Launch, RunOutput, Usage
from remit.runners.streams import (
    StreamListener,
    encode,
    find_program,
    get_args,
    get_cost,
    get_count,
    get_environ,
    get_map,
    get_model,
    get_text,
    load_object,
    show,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from remit.runners.protocol import AttemptOrder, Counted, Operation, ReportTime

_INSTRUCTIONS = "instructions.md"
_OPERATIONS = cast("dict[str, Operation]", opencode.OPERATIONS)
_FALLBACK = lazy(opencode.FALLBACK)
_UNANSWERED = lazy(opencode.UNANSWERED)
_REJECTED = lazy(opencode.REJECTED)


class OpencodeRunner:
    """opencode."""

    name = "opencode"
    can_resume = True
    reports_tools = True
    counts_thread = False
    reports_usage: Mapping[Counted, ReportTime] = {"turns": "live", "tokens": "live", "usd": "live"}
    enforces: tuple[Counted, ...] = ()

    def start(self, order: AttemptOrder) -> Launch:
        """Return how to start a session."""
        return self._launch(order, order.prompt)

    def resume(self, order: AttemptOrder, harness_id: str, message: str) -> Launch:
        """Return how to resume a session."""
        return self._launch(order, message, f"{opencode.SESSION_OPTION}={harness_id}")

    def listen(self, order: AttemptOrder) -> OpencodeListener:
        """Return the listener for one run."""
        del order
        return OpencodeListener()

    def _launch(self, order: AttemptOrder, prompt: str, *session: str) -> Launch:
        if not prompt.strip():
            raise RunnerError("opencode doesn't start without a prompt", hint="describe the work")
        argv = [find_program(order, "opencode", opencode.PACKAGE), *opencode.STREAM_OPTIONS, *session]
        most = order.max_output_tokens if opencode.OUTPUT_VARIABLE not in order.environ else None
        limits = {opencode.OUTPUT_VARIABLE: str(most)} if most else {}
        environ = opencode.QUIET | opencode.LOGS | limits | get_environ(order)
        files = {}
        name = _name_agent(order)
        if name:
            argv.append(f"{opencode.AGENT_OPTION}={name}")
        if order.instructions.strip():
            files[_INSTRUCTIONS] = encode(order.instructions)
            variable = opencode.CONFIG_VARIABLE
            given = environ.get(variable) or order.environ.get(variable) or "{}"
            environ[variable] = _add_agent(given, name, _describe_agent(order))
        model = get_model(order)
        argv += [f"{opencode.MODEL_OPTION}={model}"] if model else []
        return Launch((*argv, *get_args(order)), encode(prompt), environ, files)


def _name_agent(order: AttemptOrder) -> str:
    """Return the agent's name; an agent that opencode doesn't know gets a name that none of opencode's agents has."""
    if order.agent and order.is_native:
        return order.agent
    return f"remit-{order.agent or 'agent'}" if order.instructions.strip() else ""


def _describe_agent(order: AttemptOrder) -> dict[str, Any]:
    agent: dict[str, Any] = {"mode": "all", "prompt": f"{{file:{order.folder}/{_INSTRUCTIONS}}}"}
    if order.is_native:  # its file has the other fields
        return agent
    if order.temperature is not None:
        agent["temperature"] = order.temperature
    agent["description"] = order.description or "An agent that Remit has started"
    if order.tools is not None:
        allowed = [opencode.PERMISSIONS[tool] for tool in order.tools if tool in opencode.PERMISSIONS]
        agent["permission"] = {"*": "deny"} | dict.fromkeys(allowed, "allow")
    if order.max_turns is not None:
        agent["steps"] = max(1, order.max_turns)
    return agent


def _add_agent(content: str, name: str, agent: dict[str, Any]) -> str:
    """Return settings with one more agent. Their own fields of that agent stay unless they are replaced."""
    config = load_object(content.encode("utf-8", "replace"))
    if config is None:
        hint = "opencode expects JSON there; Remit can add its agent if there are no comments"
        raise RunnerError(f"the variable {opencode.CONFIG_VARIABLE} doesn't contain a JSON object", hint=hint)
    agents = get_map(config, "agent")
    return json.dumps(config | {"agent": agents | {name: get_map(agents, name) | agent}})


class OpencodeListener(StreamListener):
    """Reads opencode's stream."""

    harness = "opencode"

    def __init__(self) -> None:
        super().__init__()
        self._texts: list[str] = []
        self._reason = ""
        self._error: tuple[str, str] | None = None
        self._inputs = self._outputs = self._begun = self._turns = 0
        self._cost: float | None = None

    def handle(self, record: Mapping[str, Any]) -> None:
        """Process one object of the stream."""
        self.set_id(record, opencode.SESSION_KEY)
        kind, part = record.get("type"), get_map(record, "part")
        if kind == opencode.STEP_START:
            self._texts, self._reason = [], ""
            self._begun += 1
        elif kind == "text":
            self._texts.append(get_text(part, "text"))
            self.activity = show(self._texts[-1], 120) or self.activity
        elif kind == "tool_use":
            self._handle_tool(part)
        elif kind == opencode.STEP_FINISH:
            self._reason = get_text(part, "reason")
            self._count(part)
        elif kind == "error":
            error = get_map(record, "error")
            name = get_text(error, "name")
            self._error = name, get_text(get_map(error, "data"), "message") or name

    def _handle_tool(self, part: Mapping[str, Any]) -> None:
        state = get_map(part, "state")
        given, name, key = get_map(state, "input"), get_text(part, "tool"), get_text(part, opencode.CALL_KEY)
        ran = get_count(get_map(state, "metadata"), "exit") > 0
        failed = state.get("status") == "error" or ran
        if name == "invalid":  # a missing tool, or one that the agent may not use
            name, failed = get_text(given, "tool") or name, True
        path = next(filter(None, map(given.get, (*opencode.PATH_KEYS, "path"))), None)
        self.tools.begin(key, name, _OPERATIONS.get(name, "other"), path)
        if state.get("status") in {"completed", "error"}:
            self.tools.end(key, failed=failed, ran=ran)
        if name == opencode.DELEGATING:
            self.note("opencode doesn't report what its subagents did and used")
        self.activity = show(f"{name} {path or given.get(opencode.COMMAND_KEY) or given.get('description') or ''}", 120)

    def _count(self, part: Mapping[str, Any]) -> None:
        tokens = get_map(part, "tokens")
        self._turns += 1
        self._inputs += get_count(tokens, "input") + get_count(get_map(tokens, "cache"), "read", "write")
        self._outputs += get_count(tokens, "output", "reasoning")
        cost = get_cost(part, "cost")
        if cost is not None:
            self._cost = (self._cost or 0.0) + cost

    def summarize(self) -> RunOutput:
        """Return the sum of all steps. Of an unfinished step, only its start is known."""
        turns = max(self._begun, self._turns)
        if not turns:
            return RunOutput()
        return RunOutput(usage=Usage(self._inputs, self._outputs, turns, self._cost))

    def conclude(self, errors: list[str], exit_code: int | None) -> RunOutput:
        """Return the output with the text of the last step, unless another agent ran or the step was incomplete."""
        fallback = next((line for line in errors if _FALLBACK.search(line)), None)
        if fallback is not None:
            return self.fail("refused", f"opencode did not run the agent: {fallback.lstrip('! ')}")
        if self._error is not None:
            return self._conclude_error(*self._error)
        text = "\n".join(self._texts)
        ended = self._reason not in {"", "tool-calls", "unknown"}
        if ended and text.strip() and not exit_code:
            return self.summarize()._replace(text=text)
        return self._conclude_without(errors, exit_code)

    def _conclude_without(self, errors: list[str], exit_code: int | None) -> RunOutput:
        rejected = next((match[1] for line in errors if (match := _REJECTED.search(line))), None)
        if rejected is not None and not exit_code:
            why = f"opencode rejected what it could not ask for: {rejected}"
            return self.fail("no_answer", f"{why}. Allow it or deny it in opencode's configuration")
        if exit_code and not self._turns:
            return self.fail("refused", f"opencode didn't start: {errors[-1] if errors else f'exit code {exit_code}'}")
        if exit_code is None and self._reason == "unknown":
            return self.fail("api", "opencode was ended while its model's server broke off its answers")
        unanswered = next((match[1] for line in reversed(errors) if (match := _UNANSWERED.search(line))), None)
        if exit_code is None and unanswered is not None:
            return self.fail("api", f"opencode was ended while its model's server didn't answer: {unanswered}")
        return self.report_crash(errors, exit_code)

    def _conclude_error(self, name: str, message: str) -> RunOutput:
        if name == "APIError":
            return self.fail("api", f"opencode got no answer from its model: {message}")
        return self.fail("crash", f"opencode failed: {message}")
