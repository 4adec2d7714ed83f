"""The context of judging a return: the folder, the tree before the run, the agent's tools, and the other runs there."""

from __future__ import annotations

from typing import TYPE_CHECKING

from remit.ledger.runs import load_run
from remit.ledger.texts import SCHEMA, load_text
from remit.light_namedtuple import NamedTuple
from remit.runs.admission.run_config import read_run_config
from remit.runs.judging.attempt import EarlierClaims, load_earlier_claims
from remit.runs.judging.concurrent_writers import SharedTree
from remit.runs.judging.other_runs import list_open_nested

if TYPE_CHECKING:
    from remit.evidence.tree import Before, WorkTree
    from remit.ledger.home import Home
    from remit.ledger.runs import Run
    from remit.runners import ToolUse


class JudgingContext(NamedTuple):
    """Where the agent worked, and what is known about its work."""

    root: str
    before: WorkTree | None = None
    tools: tuple[ToolUse, ...] | None = None
    """The tools that it used; None: unknown."""
    shared_tree: SharedTree = SharedTree()
    """The other runs that worked in the same folder at the same time."""
    manifest: str = ""
    manifest_bytes: int = 0
    topic: str = ""
    task_number: int | None = None
    below: tuple[str, ...] = ()
    """The agents of its nested runs that have not ended."""
    is_lost: bool = False
    """Whether Remit should have a record of the tree before the run, and has none."""
    earlier: EarlierClaims = EarlierClaims()
    manifest_sha256: str = ""
    """The hash of the manifest's content before the run."""
    is_late: bool = False
    """Whether Remit first saw the agent, and the tree, after its work had begun."""
    lost: str = ""
    """Why there is no record of the tree before the run."""
    workspace_root: str = ""
    """The folder that the paths of a `hyper` return start at."""
    data_schema: str = ""
    """The schema of the return's `data`, as JSON; empty if there is none."""

    @property
    def shared(self) -> bool:
        """Whether others worked in the same folder at the same time."""
        return bool(self.shared_tree.others)


def load_context(
    home: Home,
    run: Run,
    before: Before,
    *,
    tools: tuple[ToolUse, ...] | None = None,
    shared_tree: SharedTree | None = None,
    until: int | None = None,
) -> JudgingContext:
    """Return the context of a run. `until`: the last attempt whose claims count as earlier ones."""
    config = read_run_config(run.details)
    return JudgingContext(
        config.root, before.tree, tools, shared_tree or SharedTree(config.root), config.manifest, config.manifest_bytes,
        config.topic, run.task_number, list_open_nested(home.ledger, run.session_id),
        config.evidence and before.tree is None, load_earlier_claims(home.ledger, run.session_id, until=until),
        config.manifest_sha256, config.is_late, before.lost, config.workspace_root,
        (load_text(home, run.session_id, SCHEMA) or b"").decode() if config.data_schema else "",
    )  # fmt: skip


def list_resumed_runs(home: Home, run: Run) -> dict[str, int]:
    """The earlier runs that a run resumes, and when each began: the tree is compared with the one before them."""
    found: dict[str, int] = {}
    earlier = read_run_config(run.details).resume_of
    while earlier and earlier not in found:
        row = load_run(home.ledger, earlier)
        found[earlier] = 0 if row is None else row.started_ms or row.created_ms
        earlier = "" if row is None else read_run_config(row.details).resume_of
    return found
