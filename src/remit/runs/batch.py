"""A batch: many runs with a limit on concurrency.

Each run gets a result, independent of the others. An interrupted batch resumes: a finished run isn't repeated as long
as its files are unchanged. Runs are identified by a key, which is a hash of the whole request.
"""

from __future__ import annotations

import asyncio
import json
import os
from typing import TYPE_CHECKING, Any

from remit.errors import RefusedError, RemitError, StateError, UsageError
from remit.evidence.artifacts import inspect_accepted
from remit.ledger.events import list_acts, read_clock_ms
from remit.ledger.history import find_member, list_members
from remit.ledger.runs import load_run
from remit.light_namedtuple import NamedTuple
from remit.model import AgentError
from remit.result import Result
from remit.returns.formats import FORMATS, STANDARD
from remit.runs.admission.admitted_run import record_refusal
from remit.runs.admission.run_config import read_run_config
from remit.runs.results.build_return import write_return
from remit.runs.results.fit_budget import fit_result
from remit.runs.results.full_result import load_report

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from remit.ledger.history import BatchRun
    from remit.ledger.home import Home
    from remit.result import ResultArtifact
    from remit.runs.request import Request
    from remit.runs.workspace import Workspace

    OnDone = Callable[[int, Result], None]
    Contents = Mapping[str, set[tuple[int | None, str]]]


class ReportedFiles(NamedTuple):
    """The artifacts of a finished run, as they were judged."""

    root: str = ""
    artifacts: tuple[ResultArtifact, ...] = ()
    noted: frozenset[str] = frozenset()
    """Files that Remit itself may have changed since."""
    workspace_root: str = ""
    """The folder that the paths of a `hyper` return are relative to."""


def load_reported_files(home: Home, session_id: str) -> ReportedFiles:
    """Load the artifacts of a finished run; none if they aren't in this folder."""
    row = load_run(home.ledger, session_id)
    if row is None:
        return ReportedFiles()
    try:
        report = load_report(home, session_id)[0]
    except StateError:  # waiting for the run reports the error
        return ReportedFiles()
    config = read_run_config(row.details)
    if config.worktree or (config.remote and report.status != "completed"):  # the files are on a branch
        return ReportedFiles()
    artifacts = tuple(each for each in report.artifacts if each.grade not in ("", "missing"))
    moved = (
        {each.path for each in artifacts} if row.task_number is not None else set()
    )  # the plan's status changes with its task
    noted = {act.path for act in list_acts(home.ledger, session_id)} | moved
    return ReportedFiles(config.root, artifacts, frozenset(noted), config.workspace_root)


def list_contents(lefts: Iterable[ReportedFiles]) -> Contents:
    """Return size and hash of each file at the end of some runs, by path. Several runs may have changed a file."""
    contents: dict[str, set[tuple[int | None, str]]] = {}
    for left in lefts:
        for each in left.artifacts:
            contents.setdefault(each.path, set()).add((each.size_bytes, each.sha256))
    return contents


def is_intact(left: ReportedFiles, contents: Contents) -> bool:
    """Whether all artifacts exist with known contents. Sizes are compared first, which avoids hashing."""
    if not left.artifacts:
        return True
    found = inspect_accepted([each.path for each in left.artifacts], left.root, left.workspace_root)
    if any(facts.state != "file" for facts in found.values()):
        return False
    same = [each.path for each in left.artifacts if each.sha256 and each.path not in left.noted]
    if any(found[path].size_bytes not in {size for size, _ in contents[path]} for path in same):
        return False
    from remit.evidence.artifact_grades import hash_file  # noqa: PLC0415 - only for existing files

    for path in same:
        digest, _, _ = hash_file(os.path.realpath(os.path.join(left.root, path)))
        if digest is not None and digest not in {known for _, known in contents[path]}:
            return False
    return True


_NO_WORK = ("cancelled", "rejected")
"""Stop reasons after which a batch repeats the run."""
_CLOCK_SLACK_MS = 60_000


class RunBatch:
    """Carries out many requests concurrently.

    With a `batch`, a name for the whole, it reuses results of finished runs and waits for open ones; `again` repeats
    all runs.
    """

    def __init__(
        self,
        ws: Workspace,
        requests: Sequence[Request],
        *,
        concurrency: int | None = None,
        on_done: OnDone | None = None,
        batch: str = "",
        again: bool = False,
    ) -> None:
        if concurrency is not None and concurrency < 1:
            raise UsageError(f"concurrency is {concurrency}", hint="give 1 or more")
        limits = ws.settings.runs.limits
        self.ws = ws
        self.requests = list(requests)
        self.concurrency = concurrency or min(limits.running, limits.per_agent or limits.running)
        self.running: dict[int, str] = {}
        """The sessions of running runs, by the index of their request."""
        self.picked_up: set[int] = set()
        """The indexes of requests whose run had finished before."""
        self._on_done = on_done
        self._keys = make_keys(self.requests, batch) if batch else []
        self._again = again
        self._began_ms = 0
        self._members: dict[str, BatchRun] = {}
        self._contents: Contents | None = None
        """The artifacts of all runs that had finished before."""
        self._lost: set[str] = set()
        """Finished sessions whose files have changed or are missing."""
        self._stopped = ""
        self._waiting = iter(range(len(self.requests)))
        self._results: dict[int, Result] = {}
        self._bugs: list[Exception] = []

    async def run(self) -> list[Result]:
        """Carry out all requests and return their results, in the order of the requests."""
        self._began_ms = read_clock_ms() - _CLOCK_SLACK_MS
        if self._keys and not self._again and self.ws.home.is_made:
            self._members = list_members(self.ws.home.ledger)
        workers = min(self.concurrency, len(self.requests))
        await asyncio.gather(*(self._work() for _ in range(workers)))
        if self._bugs:
            raise self._bugs[0]
        return [self._results[index] for index in range(len(self.requests))]

    async def cancel(self, *, reason: str = "") -> None:
        """Start no more runs, and cancel the running ones. Returns when all their processes have ended."""
        self._stopped = reason or "the others were cancelled"
        await asyncio.gather(*(self.ws.cancel(session_id, reason=reason) for session_id in self.running.values()))

    def kill(self, *, reason: str = "") -> None:
        """Cancel all runs without waiting."""
        self._stopped = reason or "the others were cancelled"
        for session_id in self.running.values():
            self.ws.supervisor.cancel(session_id, reason=reason)

    async def _work(self) -> None:
        """Carry out requests one after another until none is left."""
        for index in self._waiting:
            try:
                result = self._results[index] = await self._do(index)
                if self._on_done is not None:
                    self._on_done(index, result)
            except Exception as error:  # noqa: BLE001 - a bug, raised after the others have their results
                self._bugs.append(error)

    async def _do(self, index: int) -> Result:
        request = self.requests[index]
        if self._stopped:
            error = RefusedError(f"the run was not started: {self._stopped}", code="CANCELLED", hint="start it again")
            return make_refused_result(request, error, stop_reason="cancelled")
        try:
            self.running[index] = await self._begin(index)
            return self.ws.convert_data(request, await self.ws.wait(self.running[index]))
        except RemitError as error:
            return make_refused_result(request, error, session_id=self.running.get(index, ""))
        finally:
            self.running.pop(index, None)

    async def _begin(self, index: int) -> str:
        """Return the session of a request: an existing one, or a new one."""
        request = self.requests[index]
        if not self._keys:
            return (await self.ws.start(request)).row.session_id
        await self._check_files(index)
        found = self._find(index)
        if found is not None:
            return found
        read, entered = await self.ws.draft(request._replace(batch=self._keys[index])), ""
        try:
            async with self.ws.backend.admitting(self.ws.caller_environ) as tell:
                with self.ws.home.ledger.transaction(durable=True):  # two equal requests at the same time start one run
                    found = self._find(index)
                    if found is None:
                        entered = self.ws.enter(read).row.session_id
                if entered:
                    await tell(entered)
        except BaseException as error:
            if entered:
                await self.ws.withdraw(entered)
            if isinstance(error, RefusedError):
                record_refusal(self.ws.home, error)
            raise
        finally:
            if not entered:
                await self.ws.drop(read)
        if found is not None:
            return found
        await self.ws.backend.submit(entered)
        return entered

    async def _check_files(self, index: int) -> None:
        """Check whether the files of an earlier result are unchanged."""
        found = self._members.get(self._keys[index])
        if found is None or not _is_done(found):
            return
        left = load_reported_files(self.ws.home, found.session_id)
        if await asyncio.to_thread(is_intact, left, list_contents([left])):
            return
        if self._contents is None:  # another run of the batch may have changed the same file later
            finished = [each.session_id for each in map(self._members.get, self._keys) if each and _is_done(each)]
            self._contents = list_contents(load_reported_files(self.ws.home, session_id) for session_id in finished)
        if not await asyncio.to_thread(is_intact, left, self._contents):
            self._lost.add(found.session_id)

    def _find(self, index: int) -> str | None:
        """Return the existing session of a request; None if it needs a new run."""
        if self._again:
            return None
        key = self._keys[index]
        found = find_member(self.ws.home.ledger, key, since_ms=self._began_ms) or self._members.get(key)
        if found is None or found.stop_reason in _NO_WORK or found.session_id in self._lost:
            return None
        self.picked_up |= {index} if found.state == "finished" else set()
        return found.session_id


def _is_done(member: BatchRun) -> bool:
    return member.state == "finished" and member.stop_reason not in _NO_WORK


def make_keys(requests: Sequence[Request], batch: str) -> list[str]:
    """Return a key for each request, a hash of all its fields. Equal requests get different keys by their position."""
    from hashlib import sha256  # noqa: PLC0415 - only for a batch

    seen: dict[str, int] = {}
    keys = []
    for request in requests:
        text = json.dumps([batch, _shape(request)], sort_keys=True, default=str)
        seen[text] = seen.get(text, 0) + 1
        keys.append(sha256(f"{text}{seen[text]}".encode("utf-8", "surrogatepass")).hexdigest()[:32])
    return keys


def _shape(request: Request) -> dict[str, Any]:
    """Return the fields of a request for its key: of a task only the number, because other facts change."""
    asked: dict[str, Any] = {name: value for name, value in request._asdict().items() if name != "batch"}
    asked["inputs"] = dict(request.inputs)
    asked["task"] = None if request.task is None else request.task.number or request.task.id
    asked["function"] = getattr(request.function, "__qualname__", None)
    asked["returns"] = getattr(request.returns, "__qualname__", None)
    return asked


def make_refused_result(
    request: Request, error: RemitError, *, session_id: str = "", stop_reason: str = "rejected"
) -> Result:
    """Return the result of a run that was refused, or that Remit couldn't wait for."""
    advice = error.hint or "Fix the request, then run it again"
    agent_error = AgentError("refused", error.message, error.code, error.recoverable, advice)
    result = Result(
        session_id,
        request.agent or "agent",
        "failed",
        error.message,
        "missing",
        "orphaned" if session_id else stop_reason,
        errors=(agent_error,),
        next_steps=(advice,),
        # An unknown format may be the reason for the refusal.
        format=FORMATS.get(request.return_format or "", STANDARD).name,
        result_format=(request.format or "") if request.format in FORMATS else "",
    )
    return fit_result(write_return(result))
