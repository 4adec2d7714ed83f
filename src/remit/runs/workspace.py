"""The workspace: what a Python program opens to start runs.

    async with Workspace.open(path) as ws:
        result = await ws.delegate("researcher", "Find out how the cache is invalidated.")

The state is on disk at every moment: if a program is killed, the next one that opens the workspace takes its runs over.
"""

from __future__ import annotations

import asyncio
import os
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Self, Unpack

from remit.config import fill_backend
from remit.errors import ConfigError, RefusedError, RemitError, UsageError
from remit.ledger.home import Home
from remit.ledger.runs import load_run
from remit.ledger.slots import Slots
from remit.runs.admission.admitted_run import (
    AdmittedRun,
    admit_draft,
    check_out_worktree,
    discard_draft,
    record_refusal,
)
from remit.runs.admission.draft import AdmissionContext, Draft, make_draft
from remit.runs.admission.tickets import CARRIED, TICKET
from remit.runs.agent_lookup import list_own_runners, load_settings_or_usual
from remit.runs.backend import LocalBackend
from remit.runs.request import Request, RequestOptions
from remit.runs.results.fit_budget import fit_result
from remit.runs.supervisor.supervisor import Supervisor
from remit.storage.machine import check_sockets
from remit.storage.settings import find_workspace

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from remit.ledger.runs import Run
    from remit.result import Result
    from remit.runs.admission.guard import Caller
    from remit.runs.backend import Backend
    from remit.runs.tasks.task_runs import FinishedTaskRun


class Workspace:
    """A workspace, opened to start runs. Use it as `async with Workspace.open(path) as ws`."""

    def __init__(self, root: str, *, environ: Mapping[str, str] | None = None, lenient: bool = False) -> None:
        self.root = root
        self.settings, self.trouble = load_settings_or_usual(root)
        """The settings, and the error if they are invalid and the defaults apply instead."""
        if self.trouble is not None and not lenient:
            raise self.trouble
        self.home = Home(root)
        self.environ = dict(os.environ if environ is None else environ)
        own = list_own_runners(self.settings)
        slots = Slots(*self.settings.runs.limits)
        self.supervisor = Supervisor(self.home, self.settings, slots=slots, own_runners=own, environ=self.environ)
        self.supervisor.variables = {name: table.env for name, table in self.settings.runs.runners.items()}
        self.backend: Backend = LocalBackend(self.supervisor)
        try:
            self.backend = self._find_backend()
        except ConfigError as error:
            if not lenient:
                raise
            self.trouble = self.trouble or error
        self.keeps_data = TICKET not in self.environ
        """Whether results have `data` whole: a user's program reads it, and an agent pays for every token."""
        self._own_runners = own
        self._starting: set[asyncio.Future[AdmittedRun]] = set()

    def _find_backend(self) -> Backend:
        """The backend: this machine, unless the workspace or the environment names a database."""
        url = fill_backend(self.settings.backend, self.environ)
        if not url:
            return self.backend
        from remit.cluster.caller.client import ClusterClient  # noqa: PLC0415
        from remit.cluster.caller.cluster_backend import ClusterBackend  # noqa: PLC0415
        from remit.runs.workspace_trust import check_trust, get_executing  # noqa: PLC0415 - only with other machines

        executing = get_executing(self.settings, root=self.root)
        trusted = ""
        if executing.commands:
            check_trust(self.root, self.settings)
            trusted = executing.digest
        return ClusterBackend(
            self.supervisor, ClusterClient(self.home, url, self.settings.cluster, self.environ, trusted=trusted)
        )

    @classmethod
    def open(
        cls,
        path: str | os.PathLike[str] | None = None,
        *,
        environ: Mapping[str, str] | None = None,
        lenient: bool = False,
    ) -> Self:
        """Open the workspace of a folder. Default: the current folder.

        `lenient`: if its settings are invalid, use the defaults, so that running agents can still be ended.
        """
        check_sockets()
        return cls(find_workspace(None if path is None else os.fspath(path)), environ=environ, lenient=lenient)

    async def __aenter__(self) -> Self:
        """Take over the runs of an earlier process. An agent doesn't: its nested runs end with it."""
        if self.home.is_made and TICKET not in self.environ:
            await self.backend.recover()
        return self

    async def __aexit__(self, *_: object) -> None:
        """Close the workspace. Agents continue, and the next process that opens the workspace takes their runs over."""
        await self.close()

    async def close(self) -> None:
        """Stop supervising, and close the ledger."""
        if self._starting:  # runs that are being admitted are still this supervisor's
            await asyncio.wait(self._starting)
        await self.backend.close()
        self.home.close()

    # --- runs ---------------------------------------------------------------------------------------------------------

    async def delegate(self, agent: str | None, prompt: str, **options: Unpack[RequestOptions]) -> Result:
        """Run an agent, wait for its return, and return the result within its token budget.

        `agent` is the name of an agent file; with None the harness or the command works without one.
        The options are those of `RequestOptions`: inputs, runner, command, function, timeout_s, return_format, budget,
        worktree, confine … Raises `RefusedError` if the run isn't permitted, and `RunnerError` if it can't be started.
        """
        self._check_options(options)
        return await self.run(Request(agent, prompt, **options))

    @staticmethod
    def _check_options(options: Mapping[str, Any]) -> None:
        known = RequestOptions.__annotations__.keys()
        unknown = options.keys() - known
        if unknown:
            raise UsageError(f"there is no option {min(unknown)}", hint=f"available: {', '.join(sorted(known))}")

    async def run(self, request: Request) -> Result:
        """Run an agent, and wait for its result."""
        prepared = await self.start(request)
        return self.convert_data(request, await self.wait(prepared.row.session_id))

    @staticmethod
    def convert_data(request: Request, result: Result) -> Result:
        """The result with `data` as an instance of the type in `returns`, if the request has one."""
        if request.returns is None:
            return result
        from remit.runs.data_models import convert_data  # noqa: PLC0415 - only for a type

        return convert_data(result, request.returns)

    async def delegate_all(
        self,
        requests: Sequence[Request],
        *,
        concurrency: int | None = None,
        on_done: Callable[[int, Result], None] | None = None,
        batch: str = "",
        again: bool = False,
    ) -> list[Result]:
        """Run many requests at once; return their results in order. A refused or failed run doesn't affect the others.

        `on_done` is called with the index and the result of each run as it ends. `batch` is a name that makes the call
        idempotent: after a crash, the same call returns finished runs and continues open ones. `again` repeats all.
        """
        from remit.runs.batch import RunBatch  # noqa: PLC0415 - only for many

        runs = RunBatch(self, requests, concurrency=concurrency, on_done=on_done, batch=batch, again=again)
        return await runs.run()

    async def work(
        self, command: str, /, task: int, prompt: str = "", *, agent: str = "", **options: Unpack[RequestOptions]
    ) -> list[FinishedTaskRun]:
        """Run a task command: research, plan, revise, implement, review, or one of the workspace's own.

        The marker of the task is set before and after the run. If its plan has phases, each phase is a run, up to the
        first one that isn't completed. The last run in the list has the final status, which is partial if phases are
        left that can't be continued.
        """
        from remit.runs.tasks.task_runs import TaskRequest, run_task  # noqa: PLC0415 - only for tasks

        self._check_options(options)
        return await run_task(self, TaskRequest(command, task, prompt, agent, options))

    async def start(self, request: Request) -> AdmittedRun:
        """Start a run without waiting for it."""
        setting = self._get_setting()
        # An admitted run is executed even if the caller stops waiting.
        starting = asyncio.ensure_future(self._start(make_draft(request, setting), setting))
        self._starting.add(starting)
        starting.add_done_callback(self._forget)
        return await asyncio.shield(starting)

    def _forget(self, starting: asyncio.Future[AdmittedRun]) -> None:
        self._starting.discard(starting)
        if not starting.cancelled():
            starting.exception()  # the caller got it

    async def _start(self, read: Draft, setting: AdmissionContext) -> AdmittedRun:
        read, prepared = await self._check_out(read), None
        try:
            async with self.backend.admitting(self.caller_environ) as announce:
                prepared = await self.supervisor.group_commit.write(lambda _: self._enter(read, setting))
                await announce(prepared.row.session_id)
        except BaseException as error:
            if prepared is None:
                await self.drop(read)
            else:
                await self.withdraw(prepared.row.session_id)
            if isinstance(error, RefusedError):
                record_refusal(self.home, error)
            raise
        await self.backend.submit(prepared.row.session_id)
        return prepared

    async def withdraw(self, session_id: str) -> None:
        """Cancel an admitted run that could not be announced to the other machines."""
        self.supervisor.cancel(session_id, reason="the run could not be announced to the other machines")
        with suppress(RemitError):  # the next supervisor ends it
            await self.backend.submit(session_id)

    @property
    def caller_environ(self) -> dict[str, str]:
        """The environment of the caller: a function of this process has a ticket of its own."""
        return {**self.environ, **CARRIED.get()}

    def prepare(
        self,
        request: Request,
        *,
        owner: str | None = None,
        find_caller: Callable[[int], Caller | None] | None = None,
    ) -> AdmittedRun:
        """Admit a request without executing it yet. `find_caller` as in `AdmissionContext`."""
        setting = self._get_setting(owner)._replace(find_caller=find_caller)
        read = check_out_worktree(make_draft(request, setting), self.root)
        try:
            return self._enter(read, setting)
        except BaseException as error:
            discard_draft(read, self.root)
            if isinstance(error, RefusedError):
                record_refusal(self.home, error)
            raise

    async def draft(self, request: Request) -> Draft:
        """Do the slow part of an admission: read all files, and check out the worktree."""
        return await self._check_out(make_draft(request, self._get_setting()))

    def enter(self, read: Draft) -> AdmittedRun:
        """Admit a draft in the current transaction, without executing it yet."""
        return self._enter(read, self._get_setting())

    async def drop(self, read: Draft) -> None:
        """Remove the worktree of a draft that isn't admitted."""
        if read.worktree:
            await asyncio.to_thread(discard_draft, read, self.root)

    async def _check_out(self, read: Draft) -> Draft:
        if not read.request.worktree:
            return read
        return await asyncio.to_thread(check_out_worktree, read, self.root)

    def _get_setting(self, owner: str | None = None) -> AdmissionContext:
        is_remote = self.supervisor.cluster is not None
        return AdmissionContext(
            self.home, self.settings, self._own_runners, self.environ, owner or self.backend.id, is_remote
        )

    def _enter(self, read: Draft, setting: AdmissionContext) -> AdmittedRun:
        prepared, request = admit_draft(read, setting), read.request
        if request.function is not None:
            self.supervisor.functions[prepared.row.session_id] = request.function
        return prepared

    async def wait(self, session_id: str) -> Result:
        """Wait for a run, whichever process supervises it, and return the result within its token budget."""
        result = await self.backend.wait(session_id)
        keeps_data = self.keeps_data and TICKET not in CARRIED.get()
        return fit_result(result, max_tokens=self.get_tokens(session_id), keeps_data=keeps_data)

    def get_tokens(self, session_id: str) -> int:
        """The token budget of the result of a run."""
        usual, row = self.settings.runs.delegate.result_tokens, None
        with suppress(RemitError):  # the result doesn't depend on a ledger that can't be read now
            row = load_run(self.home.ledger, session_id)
        return usual if row is None else int(row.details.get("result_tokens", usual)) or usual

    async def cancel(self, session_id: str, *, reason: str = "") -> Sequence[str]:
        """Cancel a run and all nested runs; return the cancelled sessions."""
        return await self.backend.cancel(session_id, reason=reason)

    def list(self, *, only_open: bool = True) -> Sequence[Run]:
        """The runs, newest first."""
        return self.backend.list(only_open=only_open)
