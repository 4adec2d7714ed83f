"""Every JSON object that leaves Remit, as types: the same for the command line, HTTP and MCP.

`remit.validation` makes the JSON Schema of OpenAPI, MCP and the reference from these types. The functions that build
the objects name them as their result, so mypy compares the two. Nothing imports this module at run time but
`remit.validation` and the interfaces that publish a schema: a command and a hook load none of it.
"""

from typing import Any, Generic, Literal, NotRequired, TypedDict, TypeVar

T = TypeVar("T")

SeverityName = Literal["error", "warning", "note"]
StatusName = Literal["completed", "partial", "failed", "blocked"]
StopReasonName = Literal["exited", "timeout", "cancelled", "crashed", "rejected", "orphaned", "budget"]
RunStateName = Literal["queued", "starting", "running", "waiting", "finishing", "ended", "abandoned", "finished"]
"""What a run does now. Only a finished run has a status.

`queued`: no slot or worker is free. `starting`: admitted, and its agent is about to start. `running`: its agent works.
`waiting`: its agent waits for nested runs. `finishing`: its agent has ended, and Remit checks the return and takes the
finish steps. `ended`: a worker has finished it, and no process here has fetched the result yet. `abandoned`: its
supervisor has died; `remit wait` takes over. `finished`: the result is final.
"""


class ListObject(TypedDict, Generic[T]):
    """A list: every list has its members in `items`. A list with pages has `next_cursor`, too."""

    items: list[T]
    total: int


# --- errors and diagnostics ------------------------------------------------------------------------------------------


class ErrorObject(TypedDict):
    """Why something could not be done."""

    code: str
    message: str
    hint: str
    recoverable: bool
    data: dict[str, Any]


class ErrorAnswer(TypedDict):
    """The answer of the command line and of MCP to what could not be done."""

    error: ErrorObject


class ProblemObject(TypedDict):
    """The answer of HTTP to what could not be done: RFC 9457, with the error as every interface has it."""

    type: str
    title: str
    status: int
    detail: str
    error: ErrorObject


class PositionObject(TypedDict):
    """A position in a text, from 1."""

    row: int
    column: int


class EditObject(TypedDict):
    """One edit of a fix."""

    content: str
    location: PositionObject | None
    end_location: PositionObject | None


class FixObject(TypedDict):
    """How a problem can be fixed."""

    applicability: str
    message: str
    edits: list[EditObject]


class DiagnosticObject(TypedDict):
    """A problem in a text."""

    code: str
    severity: SeverityName
    message: str
    hint: str
    pointer: str | None
    filename: str
    location: PositionObject | None
    end_location: PositionObject | None
    fix: FixObject | None


class RequestDiagnosticObject(TypedDict):
    """A problem in a request or a result, without a place."""

    code: str
    severity: SeverityName
    message: str


class RepairObject(TypedDict):
    """What was repaired before a return could be read."""

    kind: str
    message: str
    location: PositionObject | None
    end_location: PositionObject | None


# --- results ---------------------------------------------------------------------------------------------------------


class GradeObject(TypedDict):
    """A reported file, and what Remit observed of it."""

    path: str
    grade: str
    reason: NotRequired[str]
    sha256: NotRequired[str]
    size_bytes: NotRequired[int]


class UnclaimedObject(TypedDict):
    """Files that changed and weren't reported."""

    count: int
    paths: NotRequired[list[str]]


class FailedStepObject(TypedDict):
    """A finish step that failed."""

    step: str
    message: NotRequired[str]
    code: NotRequired[str]
    recommendation: NotRequired[str]


class UsageObject(TypedDict, total=False):
    """What a run used, as far as it is known."""

    tokens: int
    cost_usd: float
    turns: int
    seconds: float


CheckAnswerName = Literal["passed", "failed", "not run"]


class CheckDefinitionObject(TypedDict):
    """An acceptance check of the workspace, as `[checks.NAME]` defines it."""

    name: str
    run: str
    timeout_s: float
    when: list[str]
    cwd: str
    protect: list[str]
    baseline: bool
    junit: str
    weakened: Literal["warn", "partial"]


class CheckObject(TypedDict):
    """The answer of an acceptance check; or, of the kind `evidence`, what the working tree shows."""

    kind: Literal["check", "evidence"]
    name: str
    answer: CheckAnswerName
    files: NotRequired[int]
    """How many of the reported files were created or changed during the run."""
    reason: NotRequired[str]
    """How it failed, or why it was not run."""
    command: NotRequired[str]
    duration_ms: NotRequired[int]
    cached: NotRequired[bool]
    """True if it passed earlier on exactly this tree."""
    flaky: NotRequired[bool]
    needed: NotRequired[bool]
    """False if no file changed that the check is about."""
    before: NotRequired[Literal["passed", "failed", "unknown"]]
    """How a failed check ended on the tree before the run."""
    tests: NotRequired[int]
    skipped: NotRequired[int]
    output: NotRequired[str]
    """The last lines of its output."""


class CheckRunObject(ListObject[CheckDefinitionObject]):
    """The acceptance checks of the workspace and, of those that ran, the answers."""

    results: list[CheckObject]
    passed: bool | None
    """Whether all of them passed; null if none ran."""


class VerifiedObject(TypedDict):
    """What Remit adds to a return, under the key `remit`."""

    status: StatusName
    verdict: str
    stop_reason: StopReasonName
    session_id: str
    grades: list[GradeObject]
    verified_by: NotRequired[list[CheckObject]]
    diagnostics: NotRequired[list[RequestDiagnosticObject]]
    unclaimed: NotRequired[UnclaimedObject]
    failed_steps: NotRequired[list[FailedStepObject]]
    notes: NotRequired[list[str]]
    usage: NotRequired[UsageObject]
    attempts: NotRequired[int]
    answer: NotRequired[str]
    needs_user: NotRequired[bool]
    show: NotRequired[str]
    left_out: NotRequired[list[str]]
    tokens: NotRequired[int]
    estimated: NotRequired[bool]


class ResultObject(TypedDict):
    """A result: a return in the agent's format, and what Remit verified of it."""

    remit: VerifiedObject


# --- runs ------------------------------------------------------------------------------------------------------------


class MachineObject(TypedDict):
    """Where a run is done that another machine does."""

    state: str
    worker: str
    host: str
    fence: int
    queue: str
    waited_s: float | None
    lease_left_s: float | None


class RunSummaryObject(TypedDict):
    """The main facts of a run."""

    session_id: str
    agent: str
    state: RunStateName
    status: str | None
    created_ms: int


UnmetChecksName = Literal["failed", "not run", "weakened"]


class RunningCheckObject(TypedDict):
    """An acceptance check that is running."""

    name: str
    since_ms: int


class RunObject(RunSummaryObject):
    """A run, as every list has it."""

    verdict: str | None
    stop_reason: str | None
    depth: int
    path: list[str]
    parent_id: str | None
    root_id: str
    task_number: int | None
    task_id: str | None
    runner: str
    work: str
    summary: str
    started_ms: int | None
    deadline_ms: int | None
    ended_ms: int | None
    left_ms: int | None
    activity_ms: int | None
    activity: str | None
    idle_s: float | None
    tokens: int | None
    cost_usd: float | None
    turns: int | None
    children: int
    open_below: int
    tree_tokens: int | None
    tree_cost_usd: float | None
    supervised: bool
    supervisor_pid: int | None
    harness: str | None
    alive: bool
    waits_for: list[str]
    worker: str | None
    machine: MachineObject | None
    check: RunningCheckObject | None
    """The acceptance check that is running."""
    unmet_checks: UnmetChecksName | None
    """Why acceptance checks keep the run from being completed."""


class RunListObject(TypedDict):
    """Runs. `total` counts those that are left out, too."""

    items: list[RunObject]
    total: int


class RunPageObject(RunListObject):
    """A page of runs, newest first. `total` counts the runs of all pages."""

    next_cursor: str | None
    event: int
    agents: list[str]


class TreeRunObject(RunObject):
    """A run in its tree."""

    level: int


class TreeListObject(TypedDict):
    """The runs of one tree or several, each after the run that started it; `level` 0 begins a tree."""

    items: list[TreeRunObject]
    total: int


class TreeObject(TreeListObject):
    """All runs of a tree."""

    root_id: str
    truncated: bool
    event: int


class LimitsObject(TypedDict, total=False):
    """The limits of a run and of all runs below it."""

    max_seconds: float
    max_turns: int
    max_tokens: int
    max_usd: float
    max_delegations: int


class ContextFileObject(TypedDict):
    """A file that an agent was given to read."""

    path: str


class AskedObject(TypedDict):
    """What an agent was asked."""

    prompt: str
    characters: int
    words: str
    work: str
    context: list[dict[str, Any]]
    inputs: dict[str, str]


class AnswerSizeObject(TypedDict):
    """How long an answer is."""

    chars: int
    lines: int


class AttemptCheckObject(TypedDict):
    """How an acceptance check ended after an attempt."""

    name: str
    answer: CheckAnswerName
    reason: str
    duration_ms: int
    output: str
    """The last lines of its output."""
    repeated: bool
    """True for the repetition of a check that failed."""


class AttemptObject(TypedDict):
    """An attempt of a run."""

    number: int
    started_ms: int | None
    ended_ms: int | None
    stop_reason: str | None
    verdict: str | None
    diagnostics: list[DiagnosticObject]
    repairs: list[RepairObject]
    claims: list[dict[str, Any]]
    usage: dict[str, Any]
    answer: AnswerSizeObject | None
    checks: list[AttemptCheckObject]
    """How the acceptance checks ended after it, as far as that is kept."""


class StepObject(TypedDict):
    """A finish step of a run."""

    name: str
    state: str
    message: str
    at_ms: int


class ChangedFileObject(TypedDict):
    """A file that changed during a run."""

    path: str
    kind: str


class PossibleObject(TypedDict):
    """What can be done with a run, and why the rest can't."""

    cancel: bool
    retry: bool
    resume: bool
    why: dict[str, str]


class RunDetailsObject(TypedDict):
    """All that is known of one run."""

    run: RunObject
    config: dict[str, Any]
    asked: AskedObject
    attempts: list[AttemptObject]
    checks: list[CheckObject]
    """The answers of the acceptance checks, with the end of their output."""
    result: ResultObject | None
    steps: list[StepObject]
    unclaimed: list[ChangedFileObject]
    children: list[str]
    folder: str | None
    files: list[str]
    imported: dict[str, Any] | None
    can: PossibleObject
    event: int
    texts: NotRequired[dict[str, str]]


class StartedRunObject(RunObject):
    """A run that was started."""

    request_diagnostics: list[RequestDiagnosticObject]


class CancelledObject(TypedDict):
    """The runs that were cancelled."""

    cancelled: list[str]
    note: str


class RunAnswerObject(TypedDict):
    """The result of a run, or the run if it isn't finished (`finished` is false)."""

    session_id: str
    finished: bool
    agent: NotRequired[str]
    result: NotRequired[ResultObject]
    run: NotRequired[RunObject]
    request_diagnostics: NotRequired[list[RequestDiagnosticObject]]
    harness: NotRequired[str]
    message: NotRequired[str]


class ResultAnswerObject(TypedDict):
    """The result of a run, the run if it isn't finished (`finished` is false), or a page of a text."""

    session_id: str
    finished: bool
    result: NotRequired[ResultObject]
    run: NotRequired[RunObject]
    part: NotRequired[str]
    text: NotRequired[str]
    page: NotRequired[int]
    pages: NotRequired[int]
    characters: NotRequired[int]


class TextPageObject(TypedDict):
    """A page of a long text."""

    text: str
    page: int
    pages: int
    characters: int


class AnswerPageObject(TextPageObject):
    """A page of an attempt's answer."""

    number: int


class DiffLineObject(TypedDict):
    """A line of a comparison: added (`+`), removed (`-`) or unchanged (a space)."""

    kind: str
    text: str


class HunkObject(TypedDict):
    """Neighboring lines of a comparison."""

    header: str
    lines: list[DiffLineObject]


class DiffObject(TypedDict):
    """What changed in a file since a run began."""

    path: str
    base: str | None
    state: str
    note: str
    hunks: list[HunkObject]
    truncated: bool


class LogLineObject(TypedDict):
    """A line that an agent printed."""

    number: int
    attempt: int
    kind: str
    text: str


class LogObject(TypedDict):
    """Lines that an agent printed. `next` is the value of `after` for the lines that follow."""

    items: list[LogLineObject]
    finished: bool
    next: int


class EventObject(TypedDict):
    """Something that happened to a run."""

    number: int
    at_ms: int
    session_id: str | None
    root_id: str | None
    kind: str
    details: dict[str, Any]


class EventPageObject(TypedDict):
    """Events after a number. `next` is the value of `after` for the events that follow."""

    items: list[EventObject]
    next: int
    last: int
    reset: bool


# --- returns and agent files -----------------------------------------------------------------------------------------


class CheckedFileObject(TypedDict):
    """A file that a message names, as it is on disk."""

    path: str
    state: str
    size_bytes: int | None


class CheckedMessageObject(TypedDict):
    """The verdict on a final message."""

    filename: str
    accepted: bool
    verdict: str
    format: str | None
    transport: str | None
    status: str | None
    payload: Any
    repairs: list[RepairObject]
    diagnostics: list[DiagnosticObject]
    evidence: list[CheckedFileObject]


class GradedFileObject(TypedDict):
    """A file that a return names, and its grade."""

    path: str
    grade: str
    reason: str


class CheckedReturnObject(TypedDict):
    """The verdict on an agent's own return."""

    accepted: bool
    verdict: str
    format: str | None
    status: str | None
    session_id: str | None
    artifacts: list[GradedFileObject]
    repairs: list[str]
    diagnostics: list[DiagnosticObject]
    more_diagnostics: NotRequired[int]


class SubmittedReturnObject(CheckedReturnObject):
    """The verdict on a return that was submitted."""

    submitted: bool


class LintCountsObject(TypedDict):
    """How many diagnostics there are, by severity."""

    files: int
    error: int
    warning: int
    note: int


class AgentSummaryObject(TypedDict):
    """What an agent file defines. A file without an agent has no name."""

    path: str
    name: str | None
    description: str
    profile: str | None
    kind: str | None


class AgentObject(AgentSummaryObject):
    """An agent file with its diagnostics."""

    diagnostics: list[DiagnosticObject]


class AgentsObject(TypedDict):
    """The agent files of a workspace, and which agent may call which."""

    items: list[AgentObject]
    total: int
    graph: dict[str, Any]
    counts: LintCountsObject
    runners: list[str]


class LintObject(TypedDict):
    """The diagnostics of agent files; of very many, the most severe. `known` counts those that a baseline hides."""

    items: list[DiagnosticObject]
    total: int
    counts: LintCountsObject
    failed: bool
    known: int


class ComplianceCountsObject(TypedDict):
    """How many runs ended in which way; each finished run counts once."""

    total: int
    at_once: int
    repaired: int
    reasked: int
    unproven: int
    rejected: int
    timed_out: int
    false_claim: int
    cancelled: int
    other: int


class ComplianceTotalObject(ComplianceCountsObject):
    """How many runs ended in which way, and what they used."""

    median_ms: int | None
    tokens: int | None
    cost_usd: float | None
    kept_out_tokens: int


class AgentComplianceObject(ComplianceTotalObject):
    """The compliance of an agent."""

    agent: str


class DayComplianceObject(ComplianceCountsObject):
    """The compliance of a day."""

    day: str


class CompliancePageObject(TypedDict):
    """How many runs kept to the contract, by agent and by day."""

    agents: list[AgentComplianceObject]
    days: list[DayComplianceObject]
    total: ComplianceTotalObject
    kept_out_estimated: bool


# --- tasks, findings, errors -----------------------------------------------------------------------------------------


class RunCountObject(TypedDict):
    """How many runs a task or a workspace has."""

    open: int
    total: int


class TaskObject(TypedDict):
    """A task, as every list has it."""

    number: int
    title: str
    marker: str | None
    closed: bool
    priority: str | None
    phase: int | str | None
    reason: str | None
    linkedResearch: list[str]
    runs: RunCountObject


class PhaseObject(TypedDict):
    """A phase of a plan."""

    number: str
    name: str
    marker: str | None


class PlanObject(TypedDict):
    """The plan of a task."""

    path: str
    phases: list[PhaseObject]
    resume: str | None


class TaskDetailsObject(TaskObject):
    """A task with all that belongs to it."""

    fields: dict[str, Any]
    section: str
    plan: PlanObject | None
    moves: list[str]
    focused: bool
    latest_runs: list[RunSummaryObject]


class OutsideTaskObject(TypedDict):
    """A task of an outside system, as that prints it."""

    task: str
    section: str
    truncated: bool
    latest_runs: list[RunSummaryObject]


class TaskBoardObject(TypedDict):
    """All tasks, and where their files disagree."""

    items: list[TaskObject]
    total: int
    markers: list[str]
    drift: list[DiagnosticObject]
    focus: int | None
    folder: str | None
    outside: list[str]


class InterruptedChangeObject(TypedDict):
    """A change that a crash had interrupted."""

    kind: str
    finished: bool
    left_alone: list[str]


class MovedTaskObject(TypedDict):
    """A task that was given another marker."""

    number: int
    before: str | None
    after: str | None
    files: list[str]
    absorbed: list[str]
    diagnostics: list[DiagnosticObject]
    interrupted: list[InterruptedChangeObject]


class FindingObject(TypedDict):
    """A finding: an entry of the manifest. It may have more keys, as its author wrote them."""

    line: int
    pending: bool
    id: str
    title: str
    file: str
    date: str
    status: str
    topics: list[str]
    key_findings: list[str]
    needs_followup: list[str]
    linked_tasks: list[str]


class FindingDetailsObject(FindingObject):
    """A finding with all that belongs to it."""

    tasks: list[int]
    same_id: list[int]
    findings_file: str | None
    trouble: str | None


class TopicCountObject(TypedDict):
    """How many findings a topic has."""

    topic: str
    count: int


class FindingPageObject(TypedDict):
    """A page of findings, newest first. `total` is unknown (null) if not all findings were asked for."""

    items: list[FindingObject]
    next_cursor: str | None
    total: int | None
    manifest: str | None
    bad_lines: int
    topics: NotRequired[list[TopicCountObject]]


class AddedFindingObject(TypedDict):
    """A finding that was added, or why it wasn't."""

    added: bool
    id: str
    manifest: str
    entry: dict[str, Any]
    findings_file: str | None
    diagnostics: list[DiagnosticObject]
    more_diagnostics: NotRequired[int]


class ErrorRecordObject(TypedDict):
    """An error of the error log."""

    id: str
    at_ms: int | None
    timestamp: str | None
    code: str
    type: str
    severity: str | None
    message: str
    details: str | None
    session_id: str | None
    command: str | None
    task_number: int | str | None
    phase: int | str | None
    delegation_path: list[str]
    failed_at_depth: int | None
    suggested_action: str | None
    auto_recoverable: bool | None
    fix_status: str
    fix_status_word: str | None
    closed: str | None
    note: str | None


class ErrorGroupObject(TypedDict):
    """The errors of one cause."""

    id: str
    code: str
    cause: str
    message: str
    count: int
    open: bool
    fix_status: str
    recurred: bool
    recurrences: int
    first: str | None
    last: str | None
    last_ms: int | None
    tasks: list[str]
    sessions: list[str]
    records: list[ErrorRecordObject]


class ErrorGroupsObject(TypedDict):
    """The errors of a workspace by cause, the newest first. `errors` counts all errors of the file."""

    items: list[ErrorGroupObject]
    total: int
    errors: int
    file: str
    diagnostics: list[DiagnosticObject]


class ErrorRecordsObject(TypedDict):
    """The errors of a workspace, one by one, the newest first. `errors` counts all errors of the file."""

    items: list[ErrorRecordObject]
    total: int
    errors: int
    file: str
    diagnostics: list[DiagnosticObject]


# --- the workspace and its machines ----------------------------------------------------------------------------------


class WorkerObject(TypedDict):
    """A worker of the cluster."""

    worker_id: str
    host: str
    pid: int
    version: str
    protocol: int
    concurrency: int
    agents: list[str]
    lease_s: float
    state: str
    started_ms: int
    beat_ago_s: float
    live: bool
    running: int


class LeaseObject(TypedDict):
    """A run that a worker has."""

    session_id: str
    agent: str
    depth: int
    worker: str | None
    host: str | None
    fence: int
    lease_left_s: float | None
    queue: str
    waited_s: float
    cancelled: bool
    here: bool


class QueueObject(TypedDict):
    """A queue of the cluster."""

    queue: str
    waiting: int
    running: int
    oldest_s: float | None


class ClusterObject(TypedDict):
    """The machines that work for a workspace; only `backend` if it is this one alone."""

    backend: Literal["local", "postgresql"]
    database: NotRequired[str]
    trouble: NotRequired[str | None]
    workers: NotRequired[list[WorkerObject]]
    queues: NotRequired[list[QueueObject]]
    lag_s: NotRequired[float | None]
    has_active_worker: NotRequired[bool]
    leases: NotRequired[list[LeaseObject]]


class ExplanationObject(TypedDict):
    """The explanation of a code."""

    code: str
    name: str
    severity: SeverityName
    verdict: str | None
    fix: str | None
    documentation: str


class WorkspaceRunCountObject(RunCountObject):
    """How many runs a workspace has."""

    finished: int


class WorkspaceStatusObject(TypedDict):
    """The workspace at a glance."""

    version: str
    root: str
    branch: str | None
    event: int
    runs: WorkspaceRunCountObject
    backend: str


class LoginObject(TypedDict):
    """An address that opens one session in a browser."""

    url: str
    expires_ms: int


# --- commands of the command line only -------------------------------------------------------------------------------


class HealthCheckObject(TypedDict):
    """A check of the installation or the workspace."""

    name: str
    state: Literal["ok", "warning", "problem"]
    message: str
    hint: str


class DoctorObject(TypedDict):
    """The checks of `remit doctor`."""

    root: str
    well: bool
    checks: list[HealthCheckObject]


class GcObject(TypedDict):
    """What `remit gc` removed, or would remove in a dry run."""

    root: str
    runs: int
    events: int
    spills: int
    recovered: list[str]
    half_written: list[str]
    worktrees: list[str]
    scratch: list[str]
    folders: int
    supervisors: int
    trees: int
    freed_bytes: int
    failures: list[str]
    kept: dict[str, list[str]]
    """Worktrees with changes that are on no branch, and the paths of these changes."""
    dry_run: bool


class SettingsEditObject(TypedDict):
    """A file that is written for a harness."""

    path: str
    action: Literal["create", "change", "remove"]


class HarnessHooksObject(TypedDict):
    """The hooks of one harness."""

    name: str
    files: list[SettingsEditObject]
    events: list[str]
    notes: list[str]
    undone: list[str]


class InstalledHooksObject(TypedDict):
    """What `remit hooks install` or `remit hooks uninstall` writes."""

    root: str
    harnesses: list[HarnessHooksObject]
    written: bool


class AgentFolderObject(TypedDict):
    """A folder with agent files."""

    folder: str
    count: int


class ProjectSurveyObject(TypedDict):
    """The parts of a workspace that exist before `remit init`."""

    branch: str | None
    agents: list[AgentFolderObject]
    tasks: str | None
    manifest: str
    has_manifest: bool
    settings: str | None
    has_cleo: bool
    spec_root: str


class PlannedFileObject(TypedDict):
    """A file that `remit init` writes, and the text that it adds."""

    path: str
    action: Literal["create", "change"]
    added: str


class InitObject(TypedDict):
    """What `remit init` found and writes."""

    root: str
    found: ProjectSurveyObject
    writes: list[PlannedFileObject]
    notes: list[str]
    undone: list[str]
    written: bool


class LeftProblemObject(TypedDict):
    """A problem that a migration leaves to the user."""

    code: str | None
    message: str
    hint: str
    location: PositionObject | None


class MigratedAgentObject(TypedDict):
    """An agent file that `remit agent upgrade` changed or left unchanged."""

    filename: str
    done: list[str]
    left: list[LeftProblemObject]
    passed_over: str | None


class CompiledAgentObject(TypedDict):
    """An agent file and the file that was compiled from it."""

    source: str
    path: str
    state: str
    diagnostics: list[DiagnosticObject]


class OverviewTaskObject(TypedDict):
    """A task that is in progress or blocked."""

    number: int
    title: str
    status: str | None


class TaskOverviewObject(TypedDict):
    """The tasks of a workspace in numbers."""

    folder: str
    counts: dict[str, int]
    working: list[OverviewTaskObject]
    blocked: list[OverviewTaskObject]
    focus: int | None
    differences: int


class RunOverviewObject(TypedDict):
    """The open runs, and the runs that finished last."""

    open: list[RunObject]
    finished: list[RunObject]


class ManifestOverviewObject(TypedDict):
    """The manifest in numbers."""

    path: str
    entries: int
    pending: int
    bad_lines: int
    doubled_ids: int
    is_whole: bool


class ErrorCountsObject(TypedDict):
    """The open errors of the error log and their causes."""

    open: int
    causes: int


class UnreadablePartObject(TypedDict):
    """A part of the status that couldn't be read, and why."""

    part: str
    message: str


class OverviewObject(TypedDict):
    """The status of a workspace, as `remit status` prints it."""

    root: str
    branch: str | None
    tasks: TaskOverviewObject | None
    outside: list[str]
    """The commands of an outside task system."""
    runs: RunOverviewObject
    manifest: ManifestOverviewObject | None
    errors: ErrorCountsObject
    ledger_bytes: int | None
    unreadable: list[UnreadablePartObject]


class UnfinishedRunObject(TypedDict):
    """A run that `remit wait` or `remit cancel` didn't see finish."""

    session_id: str
    status: None
    finished: Literal[False]
    harness: NotRequired[str]
    """The harness, if only the harness can end the agent."""
    message: NotRequired[str]
    error: NotRequired[ErrorObject]
