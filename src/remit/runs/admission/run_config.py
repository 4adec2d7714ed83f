"""The configuration of a run, fixed when it is admitted.

Owns what a row of the ledger remembers beside its columns. Definition, permissions and settings are taken as they are
at admission: an agent that edits them changes nothing for itself, and a supervisor that takes over knows all that the
first one knew.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from remit.errors import RunnerError
from remit.light_namedtuple import NamedTuple
from remit.model import NOTHING

if TYPE_CHECKING:
    from collections.abc import Mapping


BUILT_IN = "built-in"
"""The runner of a utility agent that Remit answers for itself."""
_IDLE_SHARE, _IDLE_MIN_S = 0.25, 60.0
_MOST_WORK = 120


def name_work(prompt: str) -> str:
    """What is asked for, as much of it as fits a line, and seen to be cut.

    It is cut after a word: of half a key nobody would know that it is one. Some languages have no spaces.
    """
    line = " ".join(prompt.split())
    if len(line) <= _MOST_WORK:
        return line
    head = line[: _MOST_WORK - 1]
    whole, _, rest = head.rpartition(" ")
    return f"{whole if whole and rest.isascii() else head}…"


class RunConfig(NamedTuple):
    """The terms of a delegation, all of it plain JSON.

    The first message and what the agent's file tells it are texts of the ledger, `prompt` and `instructions`.
    """

    work: str = ""
    """What was asked for, in the caller's own words, as much as fits a line."""
    format: str = "standard"
    """The format that the agent is instructed in."""
    any_format: bool = False
    """Whether nothing declares a format: the agent is judged by the one it uses."""
    kind: str = ""
    timeout_s: float = 3600
    reasks: int = 2
    retry: str = "never"
    """`safe`: the agent may be started again from the beginning."""
    budget: Mapping[str, Any] = NOTHING
    may_call: tuple[str, ...] = ()
    max_depth: int | None = None
    timeout_default_s: float | None = None
    """How long an agent that it calls may take where nothing else is said."""
    timeout_max_s: float | None = None
    """How long an agent that it calls may take at most."""

    # The agent
    is_named: bool = True
    """Whether it was asked for by name; if not, its return may name any agent."""
    is_native: bool = False
    description: str = ""
    model: str | None = None
    temperature: float | None = None
    max_output_tokens: int | None = None
    """The agent file's `max_tokens`: the most tokens of one answer of the model."""
    tools: tuple[str, ...] | None = None
    permissions: Mapping[str, Any] = NOTHING
    """Which tools its file switches on, and the patterns that allow and deny."""
    also: tuple[Mapping[str, Any], ...] = ()
    """The permissions of other files that define the same agent: they hold, too."""
    settings: Mapping[str, Any] = NOTHING
    """What the workspace has set for the runner."""
    base: str = ""
    """What a runner of the workspace's own is: one of Remit's."""

    # Where and how
    root: str = ""
    """The folder that the agent works in: the workspace's root, or a worktree."""
    worktree: str = ""
    confine: bool = False
    unconfined: str = ""
    """Why an agent with permissions isn't confined; empty if it is, or if nothing asks for it."""
    build_places: tuple[str, ...] = ()
    """Folders that a confined agent may write besides those of its permissions."""
    network: str = "all"
    """What a confined agent reaches: `none`, only the ports of the `model`, or `all`."""
    judges: bool = True
    """Whether the programs that a confined agent starts are judged, if the machine can do it."""
    boot_id: str = ""
    """Which run of the machine it was admitted in: what it had begun ended with that."""
    remote: bool = False
    """Whether the run executes on another machine."""
    evidence: bool = True
    is_late: bool = False
    """Whether Remit first saw the agent after its work had begun."""
    workspace_root: str = ""
    """The folder that the paths of a `hyper` return start at; empty if there is none."""
    manifest: str = ""
    """The manifest that a return of that format appends to, and how long it was before."""
    manifest_bytes: int = 0
    manifest_sha256: str = ""
    """The hash of those bytes: they stay as they are."""
    topic: str = ""

    # Afterwards
    finishes: bool = True
    commits: bool = True
    checkout: str = ""
    """What the repository is known by that is committed to: an agent could put another there."""
    commit: str = ""
    """What was checked out when it was admitted: what it changed is shown against that."""
    must_commit: bool = False
    """Whether somebody asked for a commit in so many words, and is told where there can be none."""
    owner: str = "remit"
    command: str = ""
    artifact_path: str = ""
    """Where its artifact belongs, below the root."""
    phase: int | str | None = None
    working: str = ""
    """The marker that its task has from when it begins."""
    outside: str = ""
    """The task, where an outside system keeps it."""
    result_tokens: int = 400
    result_format: str = ""
    """The format of the result; empty: the agent's own."""
    words: Mapping[str, str] = NOTHING
    """The workspace's own status words."""

    # Where it comes from
    is_harness_run: bool = False
    """Whether a harness has started the agent itself: nobody here could end it, or ask it again."""
    resume_of: str = ""
    harness_id: str = ""
    """The session of the harness that is taken up again."""
    task_path: str = ""
    """The path of the agent in Codex's multi-agent v2, by which its call and its events belong together."""
    retry_of: str = ""
    batch: str = ""
    trace: str = ""
    """The W3C trace context of whoever asked, for the first of a tree."""

    @property
    def idle_s(self) -> float:
        """After so long without a word from it an agent is worth a look; only its time ends it."""
        return max(_IDLE_SHARE * self.timeout_s, _IDLE_MIN_S)

    @property
    def may_be_hyper(self) -> bool:
        """Whether its return may be in the format `hyper`."""
        return self.any_format or self.format == "hyper"

    def as_details(self) -> dict[str, Any]:
        """What of it is not as it would be anyway."""
        usual = RunConfig()
        return {
            name: value if not isinstance(value, tuple) else list(value)
            for name, value in self._asdict().items()
            if value != getattr(usual, name)
        }


def read_run_config(details: Mapping[str, Any]) -> RunConfig:
    """The terms in a row of the ledger. What an older or newer Remit has written there besides is passed over."""
    known: dict[str, Any] = {
        name: tuple(value) if isinstance(value, list) else value
        for name, value in details.items()
        if name in RunConfig._fields
    }
    return RunConfig(**known)


VALUES, NAMES, SEAL = "env", "env_names", "env_seal"
_SALT_LETTERS = 32


def hide_values(settings: Mapping[str, Any], salt: str) -> dict[str, Any]:
    """What is set for a runner, as the ledger has it. The salt is of random letters, so that no seal tells a value."""
    kept = {name: value for name, value in settings.items() if name != VALUES}
    values = settings.get(VALUES)
    return kept | {NAMES: sorted(values), SEAL: _seal(values, salt)} if values else kept


def fill_values(settings: Mapping[str, Any], now: Mapping[str, str], *, runner: str) -> dict[str, Any]:
    """What is set for a runner, with the values as the workspace sets them now."""
    names = settings.get(NAMES)
    if not names:
        return dict(settings)
    values = {name: now[name] for name in names if name in now}
    if _seal(values, str(settings.get(SEAL))[:_SALT_LETTERS]) != settings.get(SEAL):
        message = f"the environment that remit.toml sets for {runner} has changed since this was asked for"
        raise RunnerError(message, hint="ask for it again: remit retry")
    return {**settings, VALUES: values}


def _seal(values: Mapping[str, str], salt: str) -> str:
    import json  # noqa: PLC0415 - only if variables are set
    from hashlib import blake2b  # noqa: PLC0415

    text = json.dumps(values, sort_keys=True).encode("utf-8", "surrogatepass")
    return salt + blake2b(text, key=salt.encode(), digest_size=32).hexdigest()
