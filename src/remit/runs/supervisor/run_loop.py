"""The run loop: one run on this machine, from its slot to its conclusion.

Records the tree, then starts, watches and judges attempts, and sends bad returns back, until the run has ended. Each
step reads from the attempt's folder and the ledger what has already happened. So a supervisor that takes over after a
crash executes the same code as the first one: there is no other recovery.
"""

from __future__ import annotations

import asyncio
import os
from errno import ENOENT
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

from remit.attempts.folders import find_folder, has_session, load_return_file
from remit.attempts.output import measure_out, read_err_end
from remit.attempts.results import find_state, load_boot_id, load_result
from remit.errors import RemitError, RunnerError
from remit.evidence.tree import BEFORE, Before, list_expected, read_before, take_before
from remit.ledger.events import read_clock_ms
from remit.ledger.hook_runs import add_act
from remit.ledger.runs import count_attempts, load_run, record_attempt
from remit.ledger.texts import load_text, store_texts
from remit.model import Expectation
from remit.runners import RunOutput
from remit.runs.admission.limits import Budget, check_limits
from remit.runs.admission.run_config import RunConfig, read_run_config
from remit.runs.admission.tickets import CARRIED
from remit.runs.instructions import render_failed_checks, render_handback, render_reask
from remit.runs.judging.attempt import BUDGET, HANDBACK, OWN_END, Attempt, shape_attempt
from remit.runs.judging.conclusion import WrittenFiles, conclude
from remit.runs.judging.concurrent_writers import ConcurrentRun, is_recorded, list_seen
from remit.runs.judging.judge import gather_evidence, judge_answer, protected_name
from remit.runs.judging.judging_context import JudgingContext, list_resumed_runs, load_context
from remit.runs.judging.other_runs import NestedArtifacts, load_nested_artifacts
from remit.runs.results.full_result import make_report
from remit.runs.supervisor.attempt_output import (
    list_written,
    list_written_outside,
    make_attempt,
    make_refused,
    name_below_root,
    read_output,
)
from remit.runs.supervisor.launch import CONFINED, issue_ticket, make_confinement, make_order, start
from remit.runs.supervisor.usage import RemainingBudget, sum_usage
from remit.runs.supervisor.watcher import CHECK_EVERY_S, AttemptWatcher
from remit.storage.protected_files import list_new_protected
from remit.storage.secrets import redact

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from remit.attempts.start import Started
    from remit.ledger.runs import Run
    from remit.ledger.store import Connection
    from remit.result import Result
    from remit.runners import Listener, Runner, ToolUse, Usage
    from remit.runs.judging.conclusion import Conclusion
    from remit.runs.judging.judge import AttemptVerdict
    from remit.runs.supervisor.function_call import FunctionCall
    from remit.runs.supervisor.supervisor import Supervisor

T = TypeVar("T")

CHECKED = "checked"
"""The kind of the stored tree on which the checks of an attempt run, with the attempt's number."""
_MIN_LEFT_S = 1.0
"""With less time left, no attempt starts."""
_NOTICEABLE_MS = 200
_LONG_BYTES = 256 * 1024


class RunLoop:
    """One run that this process executes."""

    def __init__(self, supervisor: Supervisor, run: Run) -> None:
        self.supervisor = supervisor
        self.home = supervisor.home
        self.run = run
        self.config: RunConfig = read_run_config(run.details)
        self.runner: Runner = supervisor.get_runner(run.runner, self.config.base)
        self.budget = RemainingBudget(self.home, run.session_id, Budget(**self.config.budget))
        self.attempts: list[Attempt] = []
        self.watcher: AttemptWatcher | None = None
        """Watches the attempt that runs now; kept until the attempt has been judged."""
        self._before = Before()
        """The tree before the run."""
        self._earlier_tools: tuple[tuple[ToolUse, ...] | None, ...] = ()
        """The tools used in each attempt of the runs that this run resumes; None: unknown."""
        self._started: Started | None = None
        """The shim of the attempt that this process started last."""
        self._call: FunctionCall | None = None
        """The function of this process that is the agent."""
        self._cancel_reason = ""

    async def execute(self) -> Conclusion:
        """Record the tree, run the agent until it has ended, and conclude the run. The run has its slot."""
        try:
            self._before = await self._load_tree_before()
            self._earlier_tools = tuple(self._list_earlier_tools())
        except RemitError as error:
            if count_attempts(self.home.ledger, self.run.session_id):
                raise  # its agent has started
            return await self._conclude(make_refused(1, error))
        function = self.supervisor.functions.pop(self.run.session_id, None)  # it is called once
        if function is not None:
            last = await self._run_function(function)
        elif self.config.settings.get("in_process"):  # the process that had the function has ended
            reason = "the process that ran it has ended, or could not write down what it said"
            last = Attempt("orphaned", number=1, reason=reason)
        else:
            last = await self._run_attempts()
        return await self._conclude(last)

    async def _run_attempts(self) -> Attempt:
        """Run attempts until one of them is the last, beginning with the newest attempt that the ledger has."""
        number = count_attempts(self.home.ledger, self.run.session_id)
        if number > 1 and not self._has_started(number):  # its message comes from the attempt before it
            number -= 1
        for earlier in range(1, number):
            self.attempts.append(await self._examine(earlier))
        if number == 0 and self.config.boot_id != load_boot_id() and self.config.retry != "safe":
            return Attempt("orphaned", number=1, reason="the machine was restarted in the meantime")
        has_started, message = number > 0 and self._has_started(number), None
        number = max(number, 1)
        while True:
            if not has_started:
                refused = self._start(number, message)
                if refused is not None:
                    return refused
            await self._watch(number)
            attempt = await self._run_checks(await self._examine(number))
            self._give_back_time(attempt)
            self.attempts.append(attempt)
            self.watcher = None
            message = self._find_message(attempt)
            is_last = message is None and not self._may_run_again(attempt)
            if is_last:
                attempt = self.attempts[-1] = await self._run_checks(await self._accept_at_last(attempt))
            self._record(attempt)
            if is_last:
                return attempt
            number, has_started = number + 1, False

    def cancel(self, reason: str) -> None:
        """Cancel the run. The supervisor asks the shim to end the agent; a function is cancelled here."""
        self._cancel_reason = reason
        if self._call is not None:
            self._call.cancel()

    # --- start and watch ----------------------------------------------------------------------------------------------

    async def _load_tree_before(self) -> Before:
        """Record the tree before the run. If the run is resumed or was started before, return the recorded tree."""
        config, session_id = self.config, self.run.session_id
        if not config.evidence:
            return Before()
        if recorded := self._load_text(BEFORE):
            return read_before(recorded)
        resumed = load_text(self.home, config.resume_of, BEFORE) if config.resume_of else None
        if resumed:
            before = read_before(resumed.decode())
        elif count_attempts(self.home.ledger, session_id):
            return read_before("")
        else:
            began_ms = read_clock_ms()
            expected = list_expected(
                config.root, manifest=config.manifest, artifact_path=config.artifact_path,
                workspace_root=config.workspace_root,
            )  # fmt: skip
            before = await asyncio.to_thread(take_before, self.home, config.root, expected=expected)
            if read_clock_ms() - began_ms > _NOTICEABLE_MS:  # a large tree doesn't cost the agent time
                self.run = self.supervisor.restart_clock(self.run)
        with self.home.ledger.transaction(durable=True) as db:
            store_texts(self.home, session_id, {BEFORE: before.as_text().encode()}, db=db)
        return before

    def _list_earlier_tools(self) -> Iterator[tuple[ToolUse, ...] | None]:
        """The tools that each attempt of the resumed runs used; None if that is no longer known."""
        earlier, known = self.config.resume_of, {""}
        while earlier not in known:
            known.add(earlier)
            run = load_run(self.home.ledger, earlier)
            count = count_attempts(self.home.ledger, earlier)
            if run is None or not count or not has_session(self.home, earlier):
                yield None
                return
            for number in range(1, count + 1):
                folder = find_folder(self.home, earlier, number)
                yield read_output(folder, self._make_listener(number), load_result(folder)).tools
            earlier = read_run_config(run.details).resume_of

    def _has_started(self, number: int) -> bool:
        """Whether an attempt that the ledger has was started. If its folder is gone, it was removed afterwards."""
        folder = self._find_folder(number)
        return find_state(folder, boot_id=self.config.boot_id) != "none" or not os.path.isdir(folder)

    def _start(self, number: int, message: str | None) -> Attempt | None:
        """Start an attempt, with a message to an agent that has ended; return the refused attempt if it can't start."""
        if self._cancel_reason or self.supervisor.is_cancelled(self.run.session_id):
            return Attempt("cancelled", number=number, reason=self._cancel_reason)
        if message is None and self.budget.is_exhausted(self.usage, is_running=False):  # by other runs since admission
            return Attempt(BUDGET, number=number, reason=BUDGET)
        budget = self.budget.find_left(self.usage)
        try:
            self._started = start(
                self.supervisor, self.run, self.config, number=number, budget=budget, message=message,
                harness_id=self.harness_id,
            )  # fmt: skip
        except RemitError as error:  # nothing runs, so no supervisor may start it later
            return make_refused(number, error)
        self.supervisor.report(self.run.session_id, "started", {"attempt": number})
        return None

    async def _watch(self, number: int) -> None:
        """Wait until an attempt has ended; enforce limits and report progress meanwhile."""
        self.watcher = AttemptWatcher(
            self.supervisor, self.run, self.config, runner=self.runner, listener=self._make_listener(number),
            folder=self._find_folder(number), budget=self.budget, earlier=[each.output for each in self.attempts],
            hands_back=all(each.stop_reason != HANDBACK for each in self.attempts),
        )  # fmt: skip
        started, self._started = self._started, None
        await self.watcher.watch(started)

    # --- judge --------------------------------------------------------------------------------------------------------

    async def _examine(self, number: int) -> Attempt:
        """Read from its folder how an attempt ended, and judge its return."""
        folder = self._find_folder(number)
        result = load_result(folder)
        size = measure_out(folder) if result is None else result.out_kept
        read = partial(read_output, folder, self._make_listener(number), result)
        # A long output is read in a thread: all other runs of this process would wait.
        output = await asyncio.to_thread(read) if size > _LONG_BYTES else read()
        if result is None:
            return self._examine_lost(number, output)
        if result.errno is not None:  # the program could not be executed at all
            return make_refused(number, self._make_start_error(number, result.errno))
        attempt = make_attempt(number, result, output)
        if result.exit_code != 0:
            attempt = attempt._replace(trace=redact(read_err_end(folder, result).decode("utf-8", "replace")))
        # Stored before it is interpreted. It needn't be durable: until then, the attempt's folder has it.
        self._keep_answer(attempt)
        if written := load_return_file(folder):
            store_texts(self.home, self.run.session_id, {f"return-file-{number}": written}, durable=False)
        if output.cause == "no_answer" and self._load_submitted(number):  # it returned by command, tool or file
            attempt = attempt._replace(output=attempt.output._replace(cause="", trouble=""))
        # The first return with a summary that is too long is sent back; later the summary is shortened.
        return attempt._replace(verdict=await self._judge(attempt, shortens=number > 1))

    def _examine_lost(self, number: int, output: RunOutput) -> Attempt:
        """An attempt without a result of its shim: the time was up, the run was cancelled, or the shim was killed."""
        if read_clock_ms() >= (self.run.deadline_ms or 0):
            return Attempt("timeout", output, number=number)
        if self.supervisor.is_cancelled(self.run.session_id):
            reason = self.supervisor.find_cancel_reason(self.run.session_id)
            return Attempt("cancelled", output, number=number, reason=reason)
        return Attempt("orphaned", output, number=number, reason="its shim ended without a result")

    def _make_start_error(self, number: int, code: int) -> RunnerError:
        """Why the program could not be executed."""
        order = make_order(
            self.home, self.run, self.config, number=number, budget=self.budget.find_left(self.usage),
            environ=self.supervisor.environ,
        )  # fmt: skip
        try:
            program = f"'{self.runner.start(order).argv[0]}'"
        except RemitError:  # it was removed meanwhile
            program = "the program"
        hint = "see whether it is on the path" if code == ENOENT else "see whether it is a program that may be run"
        return RunnerError(f"{program} cannot be started: {os.strerror(code).lower()}", hint=hint)

    async def _judge(self, attempt: Attempt, *, shortens: bool = False) -> AttemptVerdict | None:
        """The verdict on what the agent returned in an attempt; None if it returned nothing."""
        text, submitted = attempt.output.text or "", self._load_submitted(attempt.number)
        if not text.strip() and not submitted:
            return None
        earlier = [each.output.tools for each in self.attempts if each.number < attempt.number]
        agent = self.run.agent if self.config.is_named else None
        expectation = Expectation(
            self.run.session_id, agent, self.config.kind or None, self.run.depth, self.run.path, shortens=shortens
        )  # fmt: skip
        words: Any = self.config.words
        judge = partial(
            judge_answer, text, self._load_context([*earlier, attempt.output.tools], until=attempt.number - 1),
            format=self.config.format, any_format=self.config.any_format, expectation=expectation, words=words,
            submitted=submitted,
        )  # fmt: skip
        return await asyncio.to_thread(judge)  # it may hash gigabytes of claimed files

    async def _accept_at_last(self, attempt: Attempt) -> Attempt:
        """The last attempt, judged again if its return counts because it can't be sent back any more."""
        if attempt.verdict is None or not attempt.verdict.is_usable_at_last:
            return attempt
        return attempt._replace(verdict=await self._judge(attempt, shortens=True))

    def _load_context(self, tools: Sequence[tuple[ToolUse, ...] | None], *, until: int) -> JudgingContext:
        """The context of judging, with the tools that each attempt used; unknown if one attempt didn't report them."""
        known = [*self._earlier_tools, *tools]
        used = None if any(each is None for each in known) else tuple(use for each in known for use in each or ())
        is_compared = self._before.tree is not None or bool(self.config.manifest)  # else changes prove nothing
        since = list_resumed_runs(self.home, self.run)
        shared_tree = self.supervisor.find_shared_tree(self.run, self.config.root, since=since) if is_compared else None
        return load_context(self.home, self.run, self._before, tools=used, shared_tree=shared_tree, until=until)

    def _load_submitted(self, number: int) -> tuple[str, ...]:
        """The returns that the agent submitted during an attempt: by command or tool, and in its file."""
        kept = (load_text(self.home, self.run.session_id, f"{kind}-{number}") for kind in ("submitted", "return-file"))
        return tuple(text for data in kept if (text := (data or b"").decode("utf-8", "replace")).strip())

    # --- acceptance checks --------------------------------------------------------------------------------------------

    async def _run_checks(self, attempt: Attempt) -> Attempt:
        """Run the acceptance checks in the agent's tree, if the result would otherwise be `completed`."""
        verdict = attempt.verdict
        if not self.config.checks or verdict is None or not attempt.is_completed or attempt.checks is not None:
            return attempt
        from remit.runs.checks.accept import CheckRound, check_out_before, scan_for_checks  # noqa: PLC0415 - as below
        from remit.runs.checks.definition import check_seal, make_check_environment, read_check  # noqa: PLC0415
        from remit.runs.checks.execute import CheckPlace  # noqa: PLC0415

        before, session_id, home = self._before.tree, self.run.session_id, self.home
        scanned = self._load_text(f"{CHECKED}-{attempt.number}")  # before a supervisor died; the checks may have run
        known = read_before(scanned).tree if scanned else verdict.after
        after, comparison = await asyncio.to_thread(scan_for_checks, home, self.config.root, before, known)
        if after is not None and not scanned:
            store_texts(home, session_id, {f"{CHECKED}-{attempt.number}": after.as_json().encode()}, durable=False)
        environ = make_check_environment(self.supervisor.environ)
        confinement = None
        if self.config.confine:
            confinement = make_confinement(home, self.run, self.config, self.runner, environ)
        place = CheckPlace(
            home, session_id, self.config.root, environ,
            lambda: bool(self._cancel_reason) or self.supervisor.is_cancelled(session_id), confinement,
        )  # fmt: skip
        round_ = CheckRound(
            place, attempt=attempt.number, after=after, before=before, comparison=comparison,
            find_writer=partial(self.supervisor.find_active_writer, self.run, self.config.root),
            baseline=partial(check_out_before, home.root, session_id, self.config.commit, before),
            report=partial(self.supervisor.report, session_id, "check"),
            limit_ms=self.supervisor.find_limit(self.run),
            refusal=check_seal(self.config.check_seal, self.supervisor.environ),
        )  # fmt: skip
        checked = await round_.run([read_check(each) for each in self.config.checks])
        # What the checks changed isn't the agent's, so the trees are compared as they were before.
        return attempt._replace(checks=checked, verdict=verdict._replace(after=after))

    def _give_back_time(self, attempt: Attempt) -> None:
        """Move the deadline by the time that the checks took: it is the agent's time only."""
        result = load_result(self._find_folder(attempt.number)) if attempt.checks is not None else None
        if result is not None and self.run.deadline_ms is not None:
            left_ms = self.run.deadline_ms - result.ended_ms
            self.run = self.supervisor.move_deadline(self.run, read_clock_ms() + max(left_ms, 0))

    # --- send back or end ---------------------------------------------------------------------------------------------

    def _find_message(self, attempt: Attempt) -> str | None:
        """The message that goes back to the agent; None if there is no further attempt in its session."""
        seconds = ((self.run.deadline_ms or 0) - read_clock_ms()) / 1000
        can_resume = self.runner.can_resume and bool(self.harness_id)
        if seconds < _MIN_LEFT_S or self.budget.is_exhausted(self.usage, is_running=False):
            return None
        if attempt.stop_reason == HANDBACK:
            return render_handback(seconds, format=self.config.format) if can_resume else None
        if not self._may_ask_again(attempt, can_resume=can_resume):
            return None
        used = None if attempt.verdict is None else attempt.verdict.format
        format, session_id, has_data = used or self.config.format, self.run.session_id, bool(self.config.data_schema)
        if attempt.checks is not None:
            return render_failed_checks(attempt.checks, format=format, session_id=session_id, has_data=has_data)
        diagnostics = () if attempt.verdict is None else attempt.verdict.diagnostics
        return render_reask(diagnostics, format=format, session_id=session_id, has_data=has_data)

    def _may_ask_again(self, attempt: Attempt, *, can_resume: bool) -> bool:
        """Whether a bad return goes back to the agent; an agent that could not answer isn't asked again."""
        if attempt.stop_reason not in OWN_END or attempt.is_final:
            return False
        asked = sum(earlier.stop_reason in OWN_END for earlier in self.attempts) - 1
        is_hopeless = attempt.output.cause in ("turns", "budget", "refused")
        has_answered = attempt.verdict is not None or not attempt.output.cause
        is_safe = self.config.retry == "safe"
        return asked < self.config.reasks and not is_hopeless and ((can_resume and has_answered) or is_safe)

    def _may_run_again(self, attempt: Attempt) -> bool:
        """Whether a lost attempt is repeated: its work may be done twice, and there is time."""
        seconds = ((self.run.deadline_ms or 0) - read_clock_ms()) / 1000
        is_left = seconds >= _MIN_LEFT_S and len(self.attempts) <= self.config.reasks
        return attempt.stop_reason == "orphaned" and self.config.retry == "safe" and is_left

    def _record(self, attempt: Attempt, _: object = None) -> None:
        """Write an attempt to the ledger, with the files that its tools wrote."""
        session_id = self.run.session_id
        with self.home.ledger.transaction() as db:
            record_attempt(db, session_id, shape_attempt(self.run, attempt))
            self.budget.write_usage(db, self.usage)
            outside = list_written_outside(attempt.output, self.config.root, self.config.workspace_root)
            for path in sorted(list_written(attempt.output, self.config.root) | outside):
                add_act(db, session_id=session_id, path=path, operation="write", parent_id=self.run.parent_id)
            if self.harness_id:  # a resumed run needs it
                store_texts(self.home, session_id, {"harness": self.harness_id.encode()}, db=db)

    # --- functions of this process ------------------------------------------------------------------------------------

    async def _run_function(self, function: Any) -> Attempt:  # noqa: ANN401 - any callable
        """The only attempt of a run whose agent is a function."""
        from remit.runners.command import join_prompt  # noqa: PLC0415 - only for functions
        from remit.runs.supervisor.function_call import FunctionCall  # noqa: PLC0415

        order = make_order(self.home, self.run, self.config, number=1, budget=self.budget.find_left(self.usage))
        ticket = await self.supervisor.group_commit.write(
            lambda _: issue_ticket(self.supervisor, self.run), durable=False
        )
        CARRIED.set(ticket)  # for this task and all that it awaits
        self._call = FunctionCall(function, join_prompt(order))
        try:
            attempt = await self._wait_for_function(self._call)
        finally:
            self._call.cancel()
        if attempt.exit_code == 0:
            await self.supervisor.group_commit.write(partial(self._keep_answer, attempt), durable=False)
            attempt = await self._accept_at_last(attempt._replace(verdict=await self._judge(attempt)))
            attempt = await self._run_checks(attempt)
        self.attempts.append(attempt)
        await self.supervisor.group_commit.write(partial(self._record, attempt), durable=False)
        return attempt

    async def _wait_for_function(self, call: FunctionCall) -> Attempt:
        """Wait until a function returns, the time is up, or the run is cancelled."""
        while not call.answer.done():
            seconds = ((self.run.deadline_ms or 0) - read_clock_ms()) / 1000
            if seconds <= 0:
                return Attempt("timeout", RunOutput(notes=call.notes), number=1)
            await asyncio.wait({call.answer}, timeout=min(seconds, CHECK_EVERY_S))
            if not call.answer.done() and self.supervisor.is_cancelled(self.run.session_id):
                return Attempt("cancelled", RunOutput(notes=call.notes), number=1, reason=self._cancel_reason)
        if call.answer.cancelled():
            return Attempt("cancelled", RunOutput(notes=call.notes), number=1, reason=self._cancel_reason)
        error = call.answer.exception()
        if error is None:
            return Attempt("exited", RunOutput(call.answer.result()), number=1, exit_code=0)
        if not isinstance(error, Exception):
            raise error
        from remit.runs.supervisor.function_call import render_trace  # noqa: PLC0415 - only for functions

        trace = render_trace(error)
        texts = {"trace": trace.encode("utf-8", "surrogatepass")}
        keep = partial(store_texts, self.home, self.run.session_id, texts, durable=False)
        await self.supervisor.group_commit.write(lambda db: keep(db=db), durable=False)
        output = RunOutput(cause="crash", trouble=f"{type(error).__name__}: {str(error)[:300]}")
        return Attempt("exited", output, number=1, trace=trace)

    # --- conclude -----------------------------------------------------------------------------------------------------

    async def _conclude(self, last: Attempt) -> Conclusion:
        """Compare the trees, and conclude the run by its last attempt, which may be one that could not start."""
        config, attempts = self.config, [each for each in self.attempts if each.number < last.number]
        context = self._load_context([each.output.tools for each in self.attempts], until=len(self.attempts))
        written = None if context.tools is None else frozenset(
            path for each in self.attempts for path in list_written(each.output, config.root)
        )  # fmt: skip
        tools = None if any(each is None for each in self._earlier_tools) else self._used_tools
        nested = NestedArtifacts()
        if self._before.tree is not None and not config.worktree:  # a worktree becomes the run's own commit as a whole
            sessions = (self.run.session_id, *list_resumed_runs(self.home, self.run))
            nested = load_nested_artifacts(self.home, sessions, config.root)
        seen = name_below_root(list_seen(tools), config.root)
        own_files = () if self._before.tree is None else self.supervisor.list_own_files()
        gather = partial(
            gather_evidence, context, last.verdict, written=written, seen=seen, is_recorded=is_recorded(tools),
            nested=nested, own_files=own_files,
        )  # fmt: skip
        evidence = await asyncio.to_thread(gather)
        attempts.append(last._replace(reason=self._find_reason(last)))
        can_resume = self.runner.can_resume and bool(self.harness_id)
        concluded = conclude(self.run, attempts, evidence, can_resume=can_resume)
        differing = self._load_text(CONFINED).splitlines() if config.confine else []
        if config.unconfined:
            differing = [f"the agent's permissions weren't enforced by the kernel: {config.unconfined}"]
        created = evidence.comparison.created if evidence.comparison is not None and config.confine else ()
        names = list_new_protected([change.path for change in created], config.root, agent=self.run.agent)
        return concluded._replace(
            notes=(*concluded.notes, *(f"confine: {each}" for each in differing)),
            diagnostics=(*concluded.diagnostics, *map(protected_name, names)),
        )

    def _find_reason(self, attempt: Attempt) -> str:
        """Why an attempt ended, if that is known."""
        if attempt.stop_reason == BUDGET and attempt.reason == BUDGET:
            return self.budget.describe_exhausted(self.usage)
        if attempt.stop_reason == "cancelled":
            return attempt.reason or self.supervisor.find_cancel_reason(self.run.session_id)
        return attempt.reason

    def make_report(self, conclusion: Conclusion, *, ended_ms: int) -> Result:
        """The whole result of the run, before its finish steps."""
        budget = Budget(**self.config.budget)
        limits = check_limits(budget, self.runner, name=self.run.runner, may_call=bool(self.config.may_call))
        answer = next((each.output.text for each in reversed(self.attempts) if each.output.text), None)
        return make_report(
            self.run, conclusion, ended_ms=ended_ms, usage=self.usage, answer=answer, attempts=len(self.attempts),
            diagnostics=limits,
        )  # fmt: skip

    # --- what is known of the run now ---------------------------------------------------------------------------------

    @property
    def usage(self) -> Usage:
        """The usage of all attempts so far."""
        outputs = [each.output for each in self.attempts]
        if self.watcher is not None:
            outputs.append(self.watcher.output)
        return sum_usage(outputs, counts_thread=self.runner.counts_thread)

    @property
    def harness_id(self) -> str:
        """The id of the agent's session in its harness; empty if there is none."""
        found = (each.output.harness_id for each in reversed(self.attempts))
        return next((each for each in found if each), self.config.harness_id)

    @property
    def activity(self) -> str:
        """The last line of activity of the attempt that runs now."""
        return "" if self.watcher is None else self.watcher.output.activity

    @property
    def _used_tools(self) -> tuple[ToolUse, ...] | None:
        """The tools of all attempts so far; None if an attempt doesn't report them."""
        known = [each.output.tools for each in self.attempts]
        if self.watcher is not None and self.watcher.read_ms:
            known.append(self.watcher.output.tools)
        return None if not known or None in known else tuple(use for each in known for use in each or ())

    def describe_writes(self) -> ConcurrentRun:
        """The files that the run has written so far by its records, for the runs in the same folder."""
        tools, root = self._used_tools, self.config.root
        written = frozenset(list_written(RunOutput(tools=tools or ()), root))
        writes = WrittenFiles(None, frozenset(name_below_root(list_seen(tools), root)), is_recorded(tools))
        read_ms = 0 if self.watcher is None else self.watcher.read_ms
        return ConcurrentRun(self.run.session_id, written=written, writes=writes, recorded_ms=read_ms)

    @property
    def is_calling(self) -> bool:
        """Whether a function of this process works as the agent now."""
        return self._call is not None and not self._call.answer.done()

    def _find_folder(self, number: int) -> str:
        return find_folder(self.home, self.run.session_id, number)

    def _make_listener(self, number: int) -> Listener:
        """The runner's parser for the output of an attempt."""
        budget = self.budget.find_left(self.usage)
        return self.runner.listen(make_order(self.home, self.run, self.config, number=number, budget=budget))

    def _load_text(self, kind: str) -> str:
        return (load_text(self.home, self.run.session_id, kind) or b"").decode("utf-8", "surrogatepass")

    def _keep_answer(self, attempt: Attempt, db: Connection | None = None) -> None:
        """Store the agent's final message unchanged; `db`: the transaction of a group commit."""
        text = attempt.output.text or ""
        if text.strip():
            texts = {f"answer-{attempt.number}": text.encode("utf-8", "surrogatepass")}
            store_texts(self.home, self.run.session_id, texts, db=db, durable=False)
