"""The runner protocol: the values that a runner takes and returns, and the methods that it has.

Owns the protocol between the supervisor and the knowledge of a harness. A new harness is a new `Runner`; nothing else
in Remit knows one from another.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, Protocol

from remit.light_namedtuple import NamedTuple
from remit.model import NOTHING

if TYPE_CHECKING:
    from collections.abc import Mapping

Operation = Literal["read", "write", "run", "delegate", "other"]
Cause = Literal["", "crash", "api", "turns", "budget", "refused", "no_answer", "cut"]
"""Why there is no usable final message: the program failed, its model's server did, a limit was reached, the harness
would not begin, it ended without a word, or it said so much that what was left out may say otherwise."""

Counted = Literal["turns", "tokens", "usd"]
Telling = Literal["live", "end"]
"""While it runs, so that a limit ends it; or once it has ended, so that a limit is held for whatever comes next."""


class AttemptOrder(NamedTuple):
    """What is to be done, as a runner sees it."""

    session_id: str
    agent: str
    """The agent's name; empty where there is none and the harness works as it is."""
    prompt: str
    """The whole first message: the work, its context and the contract."""
    root: str
    """The folder to work in."""
    folder: str
    """The attempt's own folder, where the files of a `Launch` are put."""
    instructions: str = ""
    """What the agent's file tells the agent, for a harness that does not know the file."""
    is_native: bool = False
    """Whether the harness finds the agent under its name in its own files."""
    description: str = ""
    model: str | None = None
    tools: tuple[str, ...] | None = None
    """The standard's names of the tools it may use; None: whatever the harness gives."""
    max_turns: int | None = None
    max_usd: float | None = None
    environ: Mapping[str, str] = NOTHING
    """The environment of the caller: where the program and its settings are looked up."""
    settings: Mapping[str, Any] = NOTHING
    """What the workspace has set for this runner: `[runners.NAME]`."""
    status_words: tuple[str, ...] = ()
    """The workspace's own words for a status, which a return may use."""
    temperature: float | None = None
    max_output_tokens: int | None = None
    """The agent file's `max_tokens`: the most tokens of one answer of the model."""


class Launch(NamedTuple):
    """How a program is started."""

    argv: tuple[str, ...]
    stdin: bytes = b""
    environ: Mapping[str, str] = NOTHING
    """Set in addition to the caller's environment."""
    files: Mapping[str, bytes] = NOTHING
    """Written into the attempt's folder first, by name."""


class ToolUse(NamedTuple):
    """One tool that the agent used, as far as its stream tells."""

    name: str
    operation: Operation
    path: str | None = None
    """The file that it was about, as the agent wrote it. Of a command, a file that changed while it ran, as the harness
    reports it: another agent may have changed it. Empty: none did. None: unknown."""
    failed: bool = False
    """Denied, or ended with an error: it changed nothing that anybody may count on."""
    ran: bool = False
    """It failed, and the stream shows that it ran before: else it may have been denied."""


class Usage(NamedTuple):
    """What an agent has used; None where the harness does not say."""

    input_tokens: int | None = None
    output_tokens: int | None = None
    turns: int | None = None
    cost_usd: float | None = None

    @property
    def tokens(self) -> int | None:
        """Both directions together."""
        known = [count for count in (self.input_tokens, self.output_tokens) if count is not None]
        return sum(known) if known else None


class RunOutput(NamedTuple):
    """What came of one run of a harness."""

    text: str | None = None
    """The final message, word for word; None where there is none."""
    harness_id: str | None = None
    """What the harness calls its session: by it the agent can be sent back to work."""
    usage: Usage = Usage()
    tools: tuple[ToolUse, ...] | None = None
    """In their order; None where the harness does not tell. Unknown is not none."""
    cause: Cause = ""
    trouble: str = ""
    """What went wrong, in one sentence, where something did."""
    notes: tuple[str, ...] = ()
    """What a person should know and what changes nothing, such as another agent than the one that was named."""
    said: str = ""
    """The last line of activity, for people who watch."""
    counts_session: bool = False
    """Whether `usage` is that of the whole session so far, as with `Runner.counts_thread`, but in this run only."""
    is_waiting: bool = False
    """Whether the final message is there, and the program only waits for commands that it left in the background."""


class Listener(Protocol):
    """Hears one run. It is fed as the output comes, in pieces of any size, and asked at any time."""

    def feed(self, data: bytes) -> None:
        """Take in what was printed since."""
        ...

    def tell(self) -> RunOutput:
        """Return what is known so far, for people who watch and for budgets."""
        ...

    def finish(self, *, errors: bytes, exit_code: int | None) -> RunOutput:
        """Return what came of it, once the program has ended. No exit code: it was ended from outside."""
        ...


class Runner(Protocol):
    """A harness."""

    name: str
    can_resume: bool
    """Whether a session that has ended can be given another message."""
    tells_tools: bool
    """Whether the stream says which tools were used."""
    counts_thread: bool
    """Whether what it tells of usage is that of the whole session so far, and not of one run of it."""
    tells_usage: Mapping[Counted, Telling]
    """What of its usage it tells, and when. What is not in it is never told, so a limit on it is not held."""
    holds: tuple[Counted, ...]
    """The limits of an `AttemptOrder` that the harness holds by itself."""

    def start(self, order: AttemptOrder) -> Launch:
        """Return how the agent is started. Raises `RunnerError` where it cannot be, with what to do."""
        ...

    def resume(self, order: AttemptOrder, harness_id: str, message: str) -> Launch:
        """Return how a session that has ended is given another message."""
        ...

    def listen(self, order: AttemptOrder) -> Listener:
        """Something that hears one run."""
        ...
