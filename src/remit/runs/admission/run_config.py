"""The configuration of a run, fixed at its admission.

The ledger keeps it in the run's row. An agent that edits its definition, permissions or settings changes nothing for
its own run, and a supervisor that takes over has the same configuration.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from remit.errors import RunnerError
from remit.light_namedtuple import NamedTuple
from remit.model import NOTHING

if TYPE_CHECKING:
    from collections.abc import Mapping


GIVEN = "given"
"""The name of a schema of `data` that isn't in a file of the workspace."""
BUILT_IN = "built-in"
"""The runner of a utility agent that Remit answers itself."""
_IDLE_SHARE, _IDLE_MIN_S = 0.25, 60.0
_MOST_WORK = 120


def name_work(prompt: str) -> str:
    """Return the start of the prompt in one line, with an ellipsis if it is cut.

    The cut is after a word, because the redaction of secrets doesn't recognize half a key. Languages without spaces
    are cut after a character.
    """
    line = " ".join(prompt.split())
    if len(line) <= _MOST_WORK:
        return line
    head = line[: _MOST_WORK - 1]
    whole, _, rest = head.rpartition(" ")
    return f"{whole if whole and rest.isascii() else head}…"


class RunConfig(NamedTuple):
    """The configuration of a run, all of it plain JSON.

    The prompt and the instructions in the agent's file are texts of the ledger, `prompt` and `instructions`.
    """

    work: str = ""
    """The start of the caller's prompt, in one line."""
    format: str = "standard"
    """The format in the agent's instructions."""
    any_format: bool = False
    """Whether no format is declared: Remit judges the return in the format that the agent uses."""
    kind: str = ""
    timeout_s: float = 3600
    reasks: int = 2
    retry: str = "never"
    """`safe`: Remit may start the agent again from the beginning."""
    budget: Mapping[str, Any] = NOTHING
    may_call: tuple[str, ...] = ()
    max_depth: int | None = None
    timeout_default_s: float | None = None
    """The default time limit of the agents that it calls."""
    timeout_max_s: float | None = None
    """The longest time limit of the agents that it calls."""

    # The agent
    is_named: bool = True
    """Whether the request names the agent; if not, the return may name any agent."""
    is_native: bool = False
    description: str = ""
    model: str | None = None
    temperature: float | None = None
    max_output_tokens: int | None = None
    """The agent file's `max_tokens`: the most tokens of one answer of the model."""
    tools: tuple[str, ...] | None = None
    permissions: Mapping[str, Any] = NOTHING
    """The tools that its file switches on, and the patterns that allow and deny."""
    also: tuple[Mapping[str, Any], ...] = ()
    """The permissions of other files that define the same agent. Remit enforces them, too."""
    settings: Mapping[str, Any] = NOTHING
    """The workspace's settings of the runner."""
    base: str = ""
    """Remit's runner that a runner of the workspace is based on."""

    # Where and how
    root: str = ""
    """The folder that the agent works in: the workspace's root, or a worktree."""
    worktree: str = ""
    confine: bool = False
    unconfined: str = ""
    """The reason if an agent with permissions isn't confined; otherwise empty."""
    build_places: tuple[str, ...] = ()
    """Folders that a confined agent may write to, in addition to its permissions."""
    network: str = "all"
    """The network that a confined agent can reach: `none`, only the ports of the `model`, or `all`."""
    judges: bool = True
    """Whether Remit judges the programs that a confined agent starts, if the machine supports it."""
    boot_id: str = ""
    """The boot in which the run was admitted: a restart of the machine ends its processes."""
    remote: bool = False
    """Whether the run executes on another machine."""
    evidence: bool = True
    is_late: bool = False
    """Whether Remit first saw the agent after it had started to work."""
    workspace_root: str = ""
    """The folder that the paths of a `hyper` return are relative to; empty if there is none."""
    manifest: str = ""
    """The manifest that a `manifest` return appends to, and its size before the run."""
    manifest_bytes: int = 0
    manifest_sha256: str = ""
    """The hash of these bytes, which must not change."""
    topic: str = ""

    # Afterwards
    finishes: bool = True
    commits: bool = True
    checkout: str = ""
    """The identity of the repository for commits: an agent could replace the repository."""
    commit: str = ""
    """The commit that was checked out at admission: Remit shows changes relative to it."""
    must_commit: bool = False
    """Whether the request asks for a commit explicitly, so that Remit reports if there can't be one."""
    owner: str = "remit"
    command: str = ""
    artifact_path: str = ""
    """The path for its artifact, relative to the root."""
    phase: int | str | None = None
    working: str = ""
    """The marker of its task during the run."""
    outside: str = ""
    """The id of the task in an outside system."""
    result_tokens: int = 400
    result_format: str = ""
    """The format of the result; empty: the agent's own."""
    words: Mapping[str, str] = NOTHING
    """The workspace's own status words."""

    data_schema: str = ""
    """The file of the schema of `data`, or `given` if the request or the agent's file contains it; empty if there is
    none. The schema is a text of the ledger, `schema`."""

    # Acceptance checks
    checks: tuple[Mapping[str, Any], ...] = ()
    """The acceptance checks, as `AcceptanceCheck.as_details` has them."""
    check_seal: str = ""
    """A keyed hash of the environment that they were to run in; empty if another machine runs them."""
    check_refusal: str = ""
    """Why they may not run, for an agent that a harness starts all the same."""

    # Origin
    is_harness_run: bool = False
    """Whether a harness started the agent: Remit can neither end it nor start another attempt."""
    resume_of: str = ""
    harness_id: str = ""
    """The session of the harness that the run resumes."""
    task_path: str = ""
    """The path of the agent in Codex's multi-agent v2, which links its call and its events."""
    retry_of: str = ""
    batch: str = ""
    trace: str = ""
    """The caller's W3C trace context, in the first run of a tree."""

    @property
    def idle_s(self) -> float:
        """The time without output after which Remit reports the agent as idle. Only its time limit ends it."""
        return max(_IDLE_SHARE * self.timeout_s, _IDLE_MIN_S)

    @property
    def may_be_hyper(self) -> bool:
        """Whether its return may be in the format `hyper`."""
        return self.any_format or self.format == "hyper"

    def as_details(self) -> dict[str, Any]:
        """Return the values that differ from the defaults, for the ledger."""
        usual = RunConfig()
        return {
            name: value if not isinstance(value, tuple) else list(value)
            for name, value in self._asdict().items()
            if value != getattr(usual, name)
        }


def read_run_config(details: Mapping[str, Any]) -> RunConfig:
    """Return the configuration in a row's details. Unknown keys of another version of Remit are ignored."""
    known: dict[str, Any] = {
        name: tuple(value) if isinstance(value, list) else value
        for name, value in details.items()
        if name in RunConfig._fields
    }
    return RunConfig(**known)


VALUES, NAMES, SEAL = "env", "env_names", "env_seal"
_SALT_LETTERS = 32


def hide_values(settings: Mapping[str, Any], salt: str) -> dict[str, Any]:
    """Return a runner's settings for the ledger: its environment variables by name only, with a seal of the values.

    The random salt prevents guessing a value from its seal.
    """
    kept = {name: value for name, value in settings.items() if name != VALUES}
    values = settings.get(VALUES)
    return kept | {NAMES: sorted(values), SEAL: _seal(values, salt)} if values else kept


def fill_values(settings: Mapping[str, Any], now: Mapping[str, str], *, runner: str) -> dict[str, Any]:
    """Return a runner's settings with the current values of its environment variables.

    Raises if they differ from the values at admission: an agent that edits the settings changes nothing for itself.
    """
    names = settings.get(NAMES)
    if not names:
        return dict(settings)
    values = {name: now[name] for name in names if name in now}
    if _seal(values, str(settings.get(SEAL))[:_SALT_LETTERS]) != settings.get(SEAL):
        message = f"the environment that remit.toml sets for {runner} has changed since the request"
        raise RunnerError(message, hint="start the run again: remit retry")
    return {**settings, VALUES: values}


def _seal(values: Mapping[str, str], salt: str) -> str:
    import json  # noqa: PLC0415 - only if variables are set
    from hashlib import blake2b  # noqa: PLC0415

    text = json.dumps(values, sort_keys=True).encode("utf-8", "surrogatepass")
    return salt + blake2b(text, key=salt.encode(), digest_size=32).hexdigest()
