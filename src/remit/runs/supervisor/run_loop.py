"""The run loop: one run from its slot to the end of its last attempt.

Owns the walk: look at the tree, start the agent, watch it, judge what it says, send it back, and give it up. What has
happened is read from the session's folder and the ledger at every step, so that a supervisor that takes over after a
crash does the same as the one that began: there is no other way to recover.
"""

from __future__ import annotations

import asyncio
import os
from contextlib import suppress
from errno import ENOENT
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

from remit.attempts.folders import find_folder, load_return_file
from remit.attempts.output import measure_out, read_err_end
from remit.attempts.results import find_state, load_boot_id, load_result
from remit.errors import RemitError, RunnerError
from remit.ledger.events import read_clock_ms
from remit.ledger.hook_runs import add_act
from remit.ledger.runs import count_attempts, record_attempt
from remit.ledger.texts import load_text, store_texts
from remit.model import Expectation
from remit.runners import RunOutput, Usage
from remit.runs.admission.limits import Budget, check_held
from remit.runs.admission.run_config import find_retry, read_run_config
from remit.runs.instructions import render_handback, render_reask
from remit.runs.judging.attempt_record import describe_attempt
from remit.runs.judging.conclusion import AttemptEnd, WrittenFiles, conclude
from remit.runs.judging.concurrent_writers import ConcurrentRun, is_recorded, list_seen
from remit.runs.judging.judge import compare_trees, judge_answer, protected_name
from remit.runs.supervisor.attempt import (
    BUDGET,
    HANDBACK,
    OWN_END,
    AttemptResult,
    list_written,
    list_written_outside,
    listen_to,
    make_result,
    name_below_root,
    refuse,
)
from remit.runs.supervisor.judging_context import (
    find_nested_artifacts,
    list_earlier_tools,
    load_tree_before,
    make_context,
)
from remit.runs.supervisor.launch import CONFINED, make_order, start
from remit.runs.supervisor.output_reader import sum_usage
from remit.runs.supervisor.remaining_budget import RemainingBudget
from remit.runs.supervisor.watch import watch
from remit.storage.protected_files import list_new_protected
from remit.storage.secrets import redact

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from remit.attempts.start import Started
    from remit.evidence.tree import Comparison, TreeChange, WorkTree
    from remit.ledger.runs import Run
    from remit.ledger.store import Connection
    from remit.model import Diagnostic
    from remit.result import Result
    from remit.runners import Listener, Runner, ToolUse
    from remit.runs.admission.run_config import RunConfig
    from remit.runs.judging.conclusion import Conclusion
    from remit.runs.judging.judge import AttemptVerdict, JudgingContext
    from remit.runs.supervisor.function_call import FunctionCall
    from remit.runs.supervisor.supervisor import Supervisor

T = TypeVar("T")

_LEAST_LEFT_S = 1.0
"""With less time left nobody is asked again."""
_LONG_BYTES = 256 * 1024


class RunLoop:
    """One delegation that is running. It ends with a `Conclusion`; what follows from it is the supervisor's."""

    def __init__(self, supervisor: Supervisor, row: Run) -> None:
        self.supervisor = supervisor
        self.home = supervisor.home
        self.row = row
        self.config: RunConfig = read_run_config(row.details)
        self.runner: Runner = supervisor.get_runner(row.runner, self.config.base)
        self.attempts: list[AttemptResult] = []
        self.live = RunOutput()
        """What is heard of the attempt that runs now."""
        self.live_ms = 0
        """When its output was last read."""
        self.cancelling = ""
        self.started: Started | None = None
        self.calling: FunctionCall | None = None
        """A function of this process that runs."""
        self.report: Result | None = None
        """What is told of it, where another has said that already."""
        self.before: WorkTree | None = None
        """The tree before the run."""
        self.lost = ""
        """Why there is none."""
        self.earlier_tools: tuple[tuple[ToolUse, ...] | None, ...] = ()
        """What was used in the sessions that it goes on with."""
        self.remaining_budget = RemainingBudget(self.home, row.session_id, Budget(**self.config.budget))

    @property
    def usage(self) -> Usage:
        """What all attempts have used so far."""
        heards = (*(turn.heard for turn in self.attempts), self.live)
        return sum_usage(heards, counts_thread=self.runner.counts_thread)

    @property
    def answer(self) -> str | None:
        """The last thing that the agent said."""
        return next((turn.heard.text for turn in reversed(self.attempts) if turn.heard.text), None)

    @property
    def said(self) -> str:
        """The last words of the attempt that runs now."""
        return self.live.said

    @property
    def harness_id(self) -> str:
        """What the harness calls the agent's session; empty where it has none."""
        told = (turn.heard.harness_id for turn in reversed(self.attempts))
        return next((each for each in told if each), self.config.harness_id)

    def check_held(self) -> tuple[Diagnostic, ...]:
        """What there is to say of limits that its runner gives nobody the means to hold."""
        budget = Budget(**self.config.budget)
        return check_held(budget, self.runner, name=self.row.runner, hands_on=bool(self.config.may_call))

    @property
    def used(self) -> tuple[ToolUse, ...] | None:
        """The tools of all attempts so far; None if one of them doesn't report them."""
        heards = [*(turn.heard for turn in self.attempts), *([self.live] if self.live_ms else [])]
        told = [heard.tools for heard in heards]
        return None if not told or None in told else tuple(use for each in told for use in each or ())

    def describe(self) -> ConcurrentRun:
        """What its records show of the files that it wrote so far, for the runs beside it."""
        written, seen = (frozenset(each) for each in self._list_files(self.used))
        writes = WrittenFiles(None, seen, is_recorded(self.used))
        return ConcurrentRun(self.row.session_id, written=written, writes=writes,
                     recorded_ms=self.live_ms)  # fmt: skip

    def _list_files(self, tools: Sequence[ToolUse] | None) -> tuple[set[str], set[str]]:
        """The files below the root that tools wrote, and those that changed while commands ran."""
        root = self.config.root
        return list_written(RunOutput(tools=tuple(tools or ())), root), name_below_root(list_seen(tools), root)

    def load_text(self, kind: str) -> str:
        """A text that is kept of this delegation."""
        return (load_text(self.home, self.row.session_id, kind) or b"").decode("utf-8", "surrogatepass")

    def find_folder(self, number: int) -> str:
        """Where an attempt has its things."""
        return find_folder(self.home, self.row.session_id, number)

    def listen(self, number: int) -> Listener:
        """Whoever understands what an attempt prints."""
        return self.runner.listen(make_order(self, number, {}))

    def cancel(self, reason: str) -> None:
        """End it. What runs in a process of its own is ended by its shim."""
        self.cancelling = reason
        if self.calling is not None:
            self.calling.cancel()

    async def run(self) -> Conclusion:
        """Take the delegation to the end of its agent's work. It has its slot."""
        try:
            self.before, self.lost = await load_tree_before(self)
            self.earlier_tools = tuple(list_earlier_tools(self))
        except RemitError as error:
            if count_attempts(self.home.ledger, self.row.session_id):
                raise  # its agent has begun
            return await self._conclude(refuse(1, error))
        function = self.supervisor.functions.pop(self.row.session_id, None)  # it is called once
        if function is not None:
            turn = await self._call(function)
        elif self.config.settings.get("in_process"):  # its function went with the process that had it
            reason = "the process that ran it has ended, or could not write down what it said"
            turn = AttemptResult(1, "orphaned", RunOutput(), reason=reason)
        else:
            turn = await self._work()
        return await self._conclude(turn)

    # --- attempts -----------------------------------------------------------------------------------------------------

    async def _call(self, function: Any) -> AttemptResult:  # noqa: ANN401 - whatever can be called
        """The one attempt of a function."""
        from remit.runs.supervisor.function_runs import call  # noqa: PLC0415 - threads, and only for functions

        turn = await self._shorten(await call(self, function))
        self.attempts.append(turn)
        await self.supervisor.group_commit.write(partial(self._record, turn), durable=False)
        return turn

    async def _work(self) -> AttemptResult:
        """Attempt after attempt, from the last one that was begun."""
        number = count_attempts(self.home.ledger, self.row.session_id)
        if number > 1 and not self._was_begun(number):  # what the agent was to be told comes from the one before
            number -= 1
        for earlier in range(1, number):
            self.attempts.append(await self._examine(earlier))
        if number == 0 and self.config.boot_id != load_boot_id() and self.config.retry != "safe":
            return AttemptResult(1, "orphaned", RunOutput(), reason="the machine was started anew meanwhile")
        message, goes_on = None, False
        while True:
            if goes_on or number == 0 or not self._was_begun(number):
                number = max(number + goes_on, 1)
                refusal = self._start(number, message)
                if refusal is not None:
                    return refusal
            await watch(self, number)
            turn = await self._examine(number)
            self.attempts.append(turn)
            self.live, self.live_ms = RunOutput(), 0
            message = self._find_message(turn)
            goes_on = message is not None or self._may_run_again(turn)
            if not goes_on:
                turn = self.attempts[-1] = await self._shorten(turn)
            self._record(turn)
            if not goes_on:
                return turn

    def _was_begun(self, number: int) -> bool:
        """Whether an attempt that the ledger has was ever started. A folder that is gone was removed afterwards."""
        folder = self.find_folder(number)
        state = find_state(folder, boot_id=self.config.boot_id)
        return state != "none" or not os.path.isdir(folder)

    def _start(self, number: int, message: str | None) -> AttemptResult | None:
        """Start an attempt, with a message to an agent that has ended; what there is to say if that cannot be."""
        if self.cancelling or self.supervisor.is_cancelled(self.row.session_id):
            return AttemptResult(number, "cancelled", RunOutput(), reason=self.cancelling)
        is_used_up = message is None and self.remaining_budget.is_exhausted(self.usage, is_running=False)
        if is_used_up:  # by others, since it was admitted
            return AttemptResult(number, BUDGET, RunOutput(), reason=BUDGET)
        try:
            self.started = start(self, number, message)
        except RemitError as error:  # nothing of it runs, and so it must not be begun later by another
            return refuse(number, error)
        self.supervisor.note(self.row.session_id, "started", {"attempt": number})
        return None

    def _record(self, turn: AttemptResult, _: object = None) -> None:
        """Write the attempt down, and what its tools did to files."""
        usage = turn.heard.usage._asdict()
        attempt = describe_attempt(self.row, turn.number, turn.judgement, stop_reason=turn.stop_reason, usage=usage)
        with self.home.ledger.transaction() as db:
            record_attempt(db, self.row.session_id, attempt)
            self.remaining_budget.note_usage(db, self.usage)
            outside = list_written_outside(turn.heard, self.config.root, self.config.workspace_root)
            for path in sorted(list_written(turn.heard, self.config.root) | outside):
                add_act(db, session_id=self.row.session_id, path=path, operation="write", parent_id=self.row.parent_id)
            if self.harness_id:  # by which it can be taken up again
                store_texts(self.home, self.row.session_id, {"harness": self.harness_id.encode()}, db=db)

    # --- what came of one ---------------------------------------------------------------------------------------------

    async def _examine(self, number: int) -> AttemptResult:
        """What came of an attempt that is over, read from its folder."""
        folder = self.find_folder(number)
        result = load_result(folder)
        size = measure_out(folder) if result is None else result.out_kept
        heard = await _do_aside(size, partial(listen_to, folder, self.listen(number), result))
        if result is None:
            return self._examine_lost(number, heard)
        if result.errno is not None:  # the program could not be executed at all
            return refuse(number, self._make_missing_error(number, result.errno))
        turn = make_result(number, result, heard)
        if result.exit_code != 0:
            turn = turn._replace(trace=redact(read_err_end(folder, result).decode("utf-8", "replace")))
        # Before anyone interprets it. It is on disk with the result; until then the attempt's folder has it.
        self.keep_answer(turn.heard, number)
        if written := load_return_file(folder):
            store_texts(self.home, self.row.session_id, {f"return-file-{number}": written}, durable=False)
        if turn.heard.cause == "no_answer" and self._load_submitted(number):
            turn = turn._replace(heard=turn.heard._replace(cause="", trouble=""))  # it handed its return in
        # A summary that is too long is sent back once: later it is shortened.
        return turn._replace(judgement=await self.judge(turn.heard, number, shortens=bool(self.attempts)))

    def _examine_lost(self, number: int, heard: RunOutput) -> AttemptResult:
        """What ended an attempt that could not say it any more: its time, somebody's wish, or nobody knows what."""
        if read_clock_ms() >= (self.row.deadline_ms or 0):
            return AttemptResult(number, "timeout", heard)
        if self.supervisor.is_cancelled(self.row.session_id):
            return AttemptResult(number, "cancelled", heard, reason=self.supervisor.find_reason(self.row.session_id))
        return AttemptResult(number, "orphaned", heard, reason="its shim ended without a result")

    def _make_missing_error(self, number: int, code: int) -> RunnerError:
        """Why the program could not be executed."""
        try:
            program = f"'{self.runner.start(make_order(self, number, dict(self.supervisor.environ))).argv[0]}'"
        except RemitError:  # it can be found no more
            program = "the program"
        hint = "see whether it is on the path" if code == ENOENT else "see whether it is a program that may be run"
        return RunnerError(f"{program} cannot be started: {os.strerror(code).lower()}", hint=hint)

    def keep_answer(self, heard: RunOutput, number: int, db: Connection | None = None) -> None:
        """Keep what an agent said, word for word; `db` is the transaction of a group commit."""
        if (heard.text or "").strip():
            data = (heard.text or "").encode("utf-8", "surrogatepass")
            store_texts(self.home, self.row.session_id, {f"answer-{number}": data}, db=db, durable=False)

    async def _shorten(self, turn: AttemptResult) -> AttemptResult:
        """The last attempt, judged again if its return is used because it can't be sent back."""
        if turn.judgement is None or not turn.judgement.is_usable_at_last:
            return turn
        return turn._replace(judgement=await self.judge(turn.heard, turn.number, shortens=True))

    async def judge(self, heard: RunOutput, number: int = 1, *, shortens: bool = False) -> AttemptVerdict | None:
        """Judge what an agent returned in an attempt; None if it returned nothing."""
        text, submitted = heard.text or "", self._load_submitted(number)
        if not text.strip() and not submitted:
            return None
        agent = self.row.agent if self.config.is_named else None
        expectation = Expectation(
            self.row.session_id, agent, self.config.kind or None, self.row.depth, self.row.path, shortens=shortens
        )  # fmt: skip
        words: Any = self.config.words
        judge = partial(
            judge_answer, text, make_context(self, heard), format=self.config.format, any_format=self.config.any_format,
            expectation=expectation, words=words, submitted=submitted,
        )  # fmt: skip
        return await asyncio.to_thread(judge)  # it may hash gigabytes of claimed files

    def _load_submitted(self, number: int) -> tuple[str, ...]:
        """The returns that the agent handed in during an attempt: by command or tool, and in its file."""
        kept = (load_text(self.home, self.row.session_id, f"{kind}-{number}") for kind in ("submitted", "return-file"))
        return tuple(text for data in kept if (text := (data or b"").decode("utf-8", "replace")).strip())

    # --- what next ----------------------------------------------------------------------------------------------------

    def _find_message(self, turn: AttemptResult) -> str | None:
        """What the agent is told now; None where it is over."""
        seconds = ((self.row.deadline_ms or 0) - read_clock_ms()) / 1000
        can_resume = self.runner.can_resume and bool(self.harness_id)
        if seconds < _LEAST_LEFT_S or self.remaining_budget.is_exhausted(self.usage, is_running=False):
            return None
        if turn.stop_reason == HANDBACK:
            return render_handback(seconds, format=self.config.format) if can_resume else None
        if not self._may_ask_again(turn, can_resume=can_resume):
            return None
        findings = () if turn.judgement is None else turn.judgement.findings
        used = None if turn.judgement is None else turn.judgement.format
        return render_reask(findings, format=used or self.config.format, session_id=self.row.session_id)

    def _may_run_again(self, turn: AttemptResult) -> bool:
        """Whether an attempt that was lost is made once more: where its work may be done twice, and there is time."""
        seconds = ((self.row.deadline_ms or 0) - read_clock_ms()) / 1000
        is_left = seconds >= _LEAST_LEFT_S and len(self.attempts) <= self.config.reasks
        return turn.stop_reason == "orphaned" and self.config.retry == "safe" and is_left

    def _may_ask_again(self, turn: AttemptResult, *, can_resume: bool) -> bool:
        """Whether an answer that does not hold is sent back: an agent that could not answer is not asked again."""
        if turn.stop_reason not in OWN_END or (turn.judgement is not None and turn.judgement.is_final):
            return False
        asked = sum(earlier.stop_reason in OWN_END for earlier in self.attempts) - 1
        hopeless = turn.heard.cause in ("turns", "budget", "refused")
        answered = turn.judgement is not None or not turn.heard.cause
        safe = self.config.retry == "safe"
        return asked < self.config.reasks and not hopeless and ((can_resume and answered) or safe)

    # --- what became of it --------------------------------------------------------------------------------------------

    async def _conclude(self, turn: AttemptResult) -> Conclusion:
        scene = make_context(self, RunOutput(tools=()))
        written = None if scene.tools is None else frozenset(
            path for each in self.attempts for path in list_written(each.heard, self.config.root)
        )  # fmt: skip
        tools = None if any(each is None for each in self.earlier_tools) else self.used
        handed_on = find_nested_artifacts(self)
        comparison, unclaimed = await self._compare(scene, turn, partial(handed_on.has, written=written))
        handed_back = any(earlier.stop_reason == HANDBACK for earlier in self.attempts[:-1])
        stop_reason = "timeout" if turn.stop_reason == HANDBACK else turn.stop_reason
        concluded = conclude(
            AttemptEnd(
                stop_reason, self.row.agent, turn.heard, turn.judgement, comparison, unclaimed, turn.exit_code,
                self._find_reason(turn, stop_reason), written, scene.shared, handed_back, self._find_resume(),
                find_retry(self.row), frozenset(handed_on.made), self.row.session_id,
                frozenset(self._list_files(tools)[1]), is_recorded(tools), turn.code, turn.trace, self.config.format,
            )
        )  # fmt: skip
        differing = self.load_text(CONFINED).splitlines() if self.config.confine else []
        if self.config.unconfined:
            differing = [f"the agent's permissions weren't enforced by the kernel: {self.config.unconfined}"]
        created = [change.path for change in comparison.created] if comparison and self.config.confine else []
        new = [protected_name(each) for each in list_new_protected(created, self.config.root, agent=self.row.agent)]
        notes = (*concluded.notes, *(f"confine: {each}" for each in differing))
        return concluded._replace(notes=notes, findings=(*concluded.findings, *new))

    async def _compare(
        self, scene: JudgingContext, turn: AttemptResult, is_below: Callable[..., bool]
    ) -> tuple[Comparison | None, tuple[TreeChange, ...]]:
        """What has changed since before the work, and what of it nobody claims."""
        if scene.before is None:
            return None, ()
        grades = {} if turn.judgement is None else turn.judgement.grades
        after = None if turn.judgement is None else turn.judgement.after
        with suppress(RemitError):  # the folder is gone: there is nothing to report of it
            own = self.supervisor.list_own_files()
            return await asyncio.to_thread(compare_trees, scene, grades, own, is_below, after)
        return None, ()

    def _find_reason(self, turn: AttemptResult, stop_reason: str) -> str:
        """Why it ended so, where somebody has said it."""
        reason = turn.reason or (self.supervisor.find_reason(self.row.session_id) if stop_reason == "cancelled" else "")
        return (
            self.remaining_budget.describe_exhausted(self.usage)
            if stop_reason == BUDGET and reason == BUDGET
            else reason
        )

    def _find_resume(self) -> str:
        """The command that goes on with it, where its harness can."""
        return f"remit resume {self.row.session_id}" if self.runner.can_resume and self.harness_id else ""


async def _do_aside(size: int, work: Callable[[], T]) -> T:
    """Do something in a thread where there is much of it: all that this process supervises waits meanwhile."""
    return await asyncio.to_thread(work) if size > _LONG_BYTES else work()
