"""The runner protocol: the interface between the supervisor and a harness, with its values.

A new harness is a new `Runner`; no other code depends on the harness.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, Protocol

from remit.light_namedtuple import NamedTuple
from remit.model import NOTHING

if TYPE_CHECKING:
    from collections.abc import Mapping

Operation = Literal["read", "write", "run", "delegate", "other"]
Cause = Literal["", "crash", "api", "turns", "budget", "refused", "no_answer", "cut"]
"""Why there is no usable final message: the program failed, its model's server failed, a limit of turns or budget was
reached, the harness refused to start, it ended without an answer, or omitted output may contain another return."""

Counted = Literal["turns", "tokens", "usd"]
ReportTime = Literal["live", "end"]
"""When usage is reported: during a run, so that a limit ends it; or after it, so that a limit affects later runs."""


class AttemptOrder(NamedTuple):
    """The input of a runner for one attempt."""

    session_id: str
    agent: str
    """The agent's name; empty to run the harness without an agent."""
    prompt: str
    """The whole first message: the work, its context and the instructions."""
    root: str
    """The working folder."""
    folder: str
    """The attempt's own folder, which gets the files of a `Launch`."""
    instructions: str = ""
    """The instructions in the agent file, for a harness that can't read the file."""
    is_native: bool = False
    """Whether the harness finds the agent by its name in its own files."""
    description: str = ""
    model: str | None = None
    tools: tuple[str, ...] | None = None
    """The standard's names of the tools that the agent may use; None for the harness's default."""
    max_turns: int | None = None
    max_usd: float | None = None
    environ: Mapping[str, str] = NOTHING
    """The environment of the caller, which has the program and its settings."""
    settings: Mapping[str, Any] = NOTHING
    """The workspace's settings for this runner: `[runners.NAME]`."""
    status_words: tuple[str, ...] = ()
    """The workspace's own words for a status, which a return may use."""
    temperature: float | None = None
    max_output_tokens: int | None = None
    """The agent file's `max_tokens`: the maximum number of tokens of one answer of the model."""


class Launch(NamedTuple):
    """The command line, input, environment and files of a program."""

    argv: tuple[str, ...]
    stdin: bytes = b""
    environ: Mapping[str, str] = NOTHING
    """Variables to add to the caller's environment."""
    files: Mapping[str, bytes] = NOTHING
    """Files to write into the attempt's folder before the start, by name."""


class ToolUse(NamedTuple):
    """One tool that the agent used, as its stream reports it."""

    name: str
    operation: Operation
    path: str | None = None
    """The file, as the agent named it. For a command, a file that changed while the command ran, as the harness reports
    it; another agent may have changed it. Empty: no file changed. None: unknown."""
    failed: bool = False
    """Whether it was denied or ended with an error, so that its changes prove nothing."""
    ran: bool = False
    """Whether the stream shows that a failed tool ran; otherwise it may have been denied."""


class Usage(NamedTuple):
    """The usage of an agent; None for values that the harness doesn't report."""

    input_tokens: int | None = None
    output_tokens: int | None = None
    turns: int | None = None
    cost_usd: float | None = None

    @property
    def tokens(self) -> int | None:
        """The sum of input and output tokens."""
        known = [count for count in (self.input_tokens, self.output_tokens) if count is not None]
        return sum(known) if known else None


class RunOutput(NamedTuple):
    """The output of one run of a harness."""

    text: str | None = None
    """The unchanged final message; None if there is none."""
    harness_id: str | None = None
    """The harness's session id, with which the session can be resumed."""
    usage: Usage = Usage()
    tools: tuple[ToolUse, ...] | None = None
    """The tools in order of use; None if the harness doesn't report them, which differs from no tools."""
    cause: Cause = ""
    trouble: str = ""
    """The problem in one sentence; empty for none."""
    notes: tuple[str, ...] = ()
    """Notes for the user that don't affect the verdict, such as another agent than the named one."""
    activity: str = ""
    """The last line of activity, for users who watch the run."""
    counts_session: bool = False
    """Whether `usage` counts the whole session so far, as with `Runner.counts_thread`, but in this run only."""
    is_waiting: bool = False
    """Whether the final message is complete and the program only waits for commands in the background."""


class Listener(Protocol):
    """Reads the output of one run, in pieces of any size, and reports its state at any time."""

    def feed(self, data: bytes) -> None:
        """Add new output."""
        ...

    def report(self) -> RunOutput:
        """Return the state so far, for users who watch the run and for budgets."""
        ...

    def finish(self, *, errors: bytes, exit_code: int | None) -> RunOutput:
        """Return the output after the program has ended. `exit_code`: None if Remit ended the program."""
        ...


class Runner(Protocol):
    """A harness."""

    name: str
    can_resume: bool
    """Whether an ended session can get another message."""
    reports_tools: bool
    """Whether the stream reports the tools that were used."""
    counts_thread: bool
    """Whether the reported usage counts the whole session so far, and not only the last run."""
    reports_usage: Mapping[Counted, ReportTime]
    """The usage that the harness reports, and when. Limits on other usage can't be enforced."""
    enforces: tuple[Counted, ...]
    """The limits of an `AttemptOrder` that the harness itself enforces."""

    def start(self, order: AttemptOrder) -> Launch:
        """Return how to start the agent. Raise `RunnerError` with a hint if it can't start."""
        ...

    def resume(self, order: AttemptOrder, harness_id: str, message: str) -> Launch:
        """Return how to send an ended session another message."""
        ...

    def listen(self, order: AttemptOrder) -> Listener:
        """Return the listener for one run."""
        ...
