"""The workspace: what a Python program opens to start runs.

    async with Workspace.open(path) as ws:
        result = await ws.delegate("researcher", "Find out how the cache is invalidated.")

Everything is kept on disk as it happens: a program that is killed loses nothing, and the next one that opens the
workspace takes up what it had begun.
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
    """A workspace, opened to delegate. Use it as `async with Workspace.open(path) as ws`."""

    def __init__(self, root: str, *, environ: Mapping[str, str] | None = None, lenient: bool = False) -> None:
        self.root = root
        self.settings, self.trouble = load_settings_or_usual(root)
        """What is set; and why that cannot be followed, where the usual holds instead."""
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
        self._own_runners = own
        self._starting: set[asyncio.Future[AdmittedRun]] = set()

    def _find_backend(self) -> Backend:
        """Where delegations run: here, unless the workspace or the environment names a database."""
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
        """The workspace that a folder belongs to; without a path, that of the current folder.

        `lenient`: also where its settings cannot be followed, with the usual ones: what is at work must be endable.
        """
        check_sockets()
        return cls(find_workspace(None if path is None else os.fspath(path)), environ=environ, lenient=lenient)

    async def __aenter__(self) -> Self:
        """Take up what an earlier process left. An agent does not: what it starts ends with it."""
        if self.home.is_made and TICKET not in self.environ:
            await self.backend.recover()
        return self

    async def __aexit__(self, *_: object) -> None:
        """Close it. Agents that still run go on, and whoever opens the workspace next takes them up."""
        await self.close()

    async def close(self) -> None:
        """Stop driving, and let go of the ledger."""
        if self._starting:  # what is being written down is still this supervisor's
            await asyncio.wait(self._starting)
        await self.backend.close()
        self.home.close()

    # --- delegating ---------------------------------------------------------------------------------------------------

    async def delegate(self, agent: str | None, prompt: str, **options: Unpack[RequestOptions]) -> Result:
        """Hand work to an agent and wait for its return; what came of it, within its budget of tokens.

        `agent` is the name of an agent file; with None the harness or the command works without one.
        The options are those of `RequestOptions`: inputs, runner, command, function, timeout_s, return_format, budget,
        worktree, confine … Raises `RefusedError` where it may not be, and `RunnerError` where it cannot be started.
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
        """Hand work to an agent and wait for its return."""
        prepared = await self.start(request)
        return await self.wait(prepared.row.session_id)

    async def delegate_all(
        self,
        requests: Sequence[Request],
        *,
        concurrency: int | None = None,
        on_done: Callable[[int, Result], None] | None = None,
        batch: str = "",
        again: bool = False,
    ) -> list[Result]:
        """Hand on many at once; what came of each, in their order, and one that is refused or fails costs no other.

        `on_done` is called with the place and the result of each as it ends. With a `batch`, a name for all of it,
        those that are settled already are picked up and those that are open are driven on, so that it can be asked for
        again after a crash; `again` does all of it anew.
        """
        from remit.runs.batch import RunBatch  # noqa: PLC0415 - only for many

        fanout = RunBatch(self, requests, concurrency=concurrency, on_done=on_done, batch=batch, again=again)
        return await fanout.run()

    async def work(
        self, command: str, /, task: int, prompt: str = "", *, agent: str = "", **options: Unpack[RequestOptions]
    ) -> list[FinishedTaskRun]:
        """Do a lifecycle command on a task: research, plan, revise, implement, review, or one of the workspace's own.

        The task is moved before and after. Where its plan has phases, each is a delegation, up to the first that does
        not complete; the last part says how it ended: partial, too, where phases are left that nobody can go on with.
        """
        from remit.runs.tasks.task_runs import TaskRequest, run_task  # noqa: PLC0415 - only for tasks

        self._check_options(options)
        return await run_task(self, TaskRequest(command, task, prompt, agent, options))

    async def start(self, request: Request) -> AdmittedRun:
        """Hand work to an agent, and go on."""
        setting = self._get_setting()
        # Whoever is written down is driven, also where nobody waits for it any more.
        starting = asyncio.ensure_future(self._start(make_draft(request, setting), setting))
        self._starting.add(starting)
        starting.add_done_callback(self._forget)
        return await asyncio.shield(starting)

    def _forget(self, starting: asyncio.Future[AdmittedRun]) -> None:
        self._starting.discard(starting)
        if not starting.cancelled():
            starting.exception()  # whoever waited for it has heard of it

    async def _start(self, read: Draft, setting: AdmissionContext) -> AdmittedRun:
        read, prepared = await self._check_out(read), None
        try:
            async with self.backend.admitting(self.caller_environ) as tell:
                prepared = await self.supervisor.group_commit.write(lambda _: self._enter(read, setting))
                await tell(prepared.row.session_id)
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
        """End one that was written down and that the other machines could not be told of: nobody is to run it later."""
        self.supervisor.cancel(session_id, reason="the other machines could not be told of it")
        with suppress(RemitError):  # whoever drives it next finds that it is to end
            await self.backend.submit(session_id)

    @property
    def caller_environ(self) -> dict[str, str]:
        """The environment of whoever asks: a function that runs here carries its own ticket."""
        return {**self.environ, **CARRIED.get()}

    def prepare(
        self,
        request: Request,
        *,
        owner: str | None = None,
        find_caller: Callable[[int], Caller | None] | None = None,
    ) -> AdmittedRun:
        """Admit a request and write it down; nothing drives it yet. `find_caller` as in `AdmissionContext`."""
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
        """Do for a request what takes long: read what there is to read, and check out what it works in."""
        return await self._check_out(make_draft(request, self._get_setting()))

    def enter(self, read: Draft) -> AdmittedRun:
        """Admit a draft and write it down, in the transaction that there is; nobody drives it yet."""
        return self._enter(read, self._get_setting())

    async def drop(self, read: Draft) -> None:
        """Undo what was done for a draft that is not to be admitted."""
        if read.worktree:
            await asyncio.to_thread(discard_draft, read, self.root)

    async def _check_out(self, read: Draft) -> Draft:
        if not read.request.worktree:
            return read
        return await asyncio.to_thread(check_out_worktree, read, self.root)

    def _get_setting(self, owner: str | None = None) -> AdmissionContext:
        is_afar = self.supervisor.cluster is not None
        return AdmissionContext(
            self.home, self.settings, self._own_runners, self.environ, owner or self.backend.id, is_afar
        )

    def _enter(self, read: Draft, setting: AdmissionContext) -> AdmittedRun:
        prepared, request = admit_draft(read, setting), read.request
        if request.function is not None:
            self.supervisor.functions[prepared.row.session_id] = request.function
        return prepared

    async def wait(self, session_id: str) -> Result:
        """Wait for a delegation, whoever drives it; what came of it, within its budget of tokens."""
        result = await self.backend.wait(session_id)
        return fit_result(result, max_tokens=self.get_tokens(session_id))

    def get_tokens(self, session_id: str) -> int:
        """The token budget of the result of a run."""
        usual, row = self.settings.runs.delegate.result_tokens, None
        with suppress(RemitError):  # a ledger that can't be read now costs nobody the result
            row = load_run(self.home.ledger, session_id)
        return usual if row is None else int(row.details.get("result_tokens", usual)) or usual

    async def cancel(self, session_id: str, *, reason: str = "") -> Sequence[str]:
        """End a delegation and all below it; the sessions that were told."""
        return await self.backend.cancel(session_id, reason=reason)

    def list(self, *, only_open: bool = True) -> Sequence[Run]:
        """The delegations that there are, newest first."""
        return self.backend.list(only_open=only_open)
