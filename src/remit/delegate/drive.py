"""Drive: one delegation, from wherever it stands to the end of its agent's work.

Owns the walk: wait for a slot, look at the tree, start the agent, watch it, judge what it says, send it back, and give
it up. What has happened is read from the session's folder and the ledger at every step, so that a broker that takes
over after a crash does the same as the one that began: there is no other way to recover.
"""

from __future__ import annotations

import asyncio
import os
from contextlib import suppress
from errno import ENOENT
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from remit.delegate.briefing import render_handback, render_reask
from remit.delegate.calling import Call
from remit.delegate.endings import Ended, conclude
from remit.delegate.handed_on import HandedOn, load_handed_on
from remit.delegate.hearing import PIECE_BYTES, Hearing, sum_usage
from remit.delegate.judgement import Scene, judge_answer, look_around
from remit.delegate.limits import Budget, Spent, check_held, find_exhausted, left
from remit.delegate.lineage import is_limited, load_tree
from remit.delegate.terms import read_terms
from remit.delegate.ticket import CARRIED, RANDOM_BYTES, SESSION, TICKET, mint
from remit.delegate.variables import fill_values
from remit.errors import RefusedError, RemitError, RunnerError
from remit.model import NOTHING, Expectation
from remit.runners import Heard, Order, Usage
from remit.runners.command import join_prompt
from remit.runners.registry import STATE_PLACES
from remit.workspace import sessions
from remit.workspace.evidence.kept import BEFORE_LIMITS, TREE, keep_before, load_before, take_before
from remit.workspace.ledger.activity import add_act
from remit.workspace.ledger.delegations import (
    Attempt,
    begin_attempt,
    count_attempts,
    load_delegation,
    record_attempt,
    set_usage,
)
from remit.workspace.ledger.events import read_clock_ms
from remit.workspace.ledger.notes import get_note, set_note
from remit.workspace.ledger.slots import set_ticket
from remit.workspace.ledger.texts import keep_texts, load_text
from remit.workspace.secrets import redact

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from remit.delegate.broker import Broker
    from remit.delegate.endings import Conclusion
    from remit.delegate.judgement import Judgement
    from remit.delegate.lineage import Tree
    from remit.delegate.terms import Terms
    from remit.model import Finding
    from remit.runners import Launch, Listener, Runner, ToolUse
    from remit.workspace.evidence.comparison import Comparison
    from remit.workspace.evidence.kept import Before
    from remit.workspace.evidence.values import Snapshot
    from remit.workspace.ledger.delegations import Delegation
    from remit.workspace.ledger.store import Connection

T = TypeVar("T")

HANDBACK_SHARE, HANDBACK_MAX_S, HANDBACK_MIN_S = 0.1, 60.0, 3.0
"""How long before its end an agent is asked to hand back what it has; under the least there is no time for it."""
_NOTICED_MS = 200
_LATE_MS = 1000
_LOOK_EVERY_S = 0.25
_TELL_EVERY_S = 1.0
_TREE_EVERY_MS = 1000
_GRACE_MS = 4000
"""So long an agent whose budget is used up is let be, while somebody whom it handed work to ends for the same."""
_LEAST_LEFT_S = 1.0
"""With less time left nobody is asked again."""
_SAID = 200
"""How much of what an agent says is shown."""
_HANDBACK, _BUDGET = "handback", "budget"
_LONG_BYTES = 256 * 1024
_OVERWRITTEN = "its output was changed by somebody else after it was printed, so nobody knows what it answered"
_OWN_END = ("exited", "crashed")
"""The endings that nobody asked for."""
_MOST_FRAMES, _MOST_TRACE_CHARS = -100, 100_000
"""Of an exception's trace: the innermost frames."""


class Turn(NamedTuple):
    """One attempt that is over."""

    number: int
    ending: str
    """exited, crashed, timeout, cancelled, handback, budget, orphaned or refused."""
    heard: Heard
    exit_code: int | None = None
    reason: str = ""
    judgement: Judgement | None = None


class Drive:
    """One delegation that is running. It ends with a `Conclusion`; what follows from it is the broker's."""

    def __init__(self, broker: Broker, row: Delegation) -> None:
        self.broker = broker
        self.home = broker.home
        self.row = row
        self.terms: Terms = read_terms(row.details)
        self.runner: Runner = broker.get_runner(row.runner, self.terms.base)
        self.turns: list[Turn] = []
        self.live = Heard()
        """What is heard of the attempt that runs now."""
        self.cancelling = ""
        self.asked = ""
        """What its shim was told to end the agent for: handback or budget."""
        self.key = _load(self, "key")
        """What the results of its attempts are sealed with."""
        self.started: sessions.Started | None = None
        self.calling: Call | None = None
        """A function of this process that runs."""
        self.before: Snapshot | None = None
        self._earlier_tools: list[tuple[ToolUse, ...] | None] = []
        self._tree: Tree | None = None
        self._tree_ms = 0

    @property
    def usage(self) -> Usage:
        """What all attempts have used so far."""
        heards = (*(turn.heard for turn in self.turns), self.live)
        return sum_usage(heards, counts_thread=self.runner.counts_thread)

    @property
    def answer(self) -> str | None:
        """The last thing that the agent said."""
        return next((turn.heard.text for turn in reversed(self.turns) if turn.heard.text), None)

    async def run(self) -> Conclusion:
        """Take the delegation to the end of its agent's work. It has its slot."""
        try:
            self.before = await self._look_before()
            self._earlier_tools = list(self._hear_earlier())
        except RemitError as error:
            if count_attempts(self.home.ledger, self.row.session_id):
                raise  # its agent has begun
            return await self._conclude(_refuse(1, error))
        function = self.broker.functions.pop(self.row.session_id, None)  # it is called once
        if function is not None:
            turn = await self._call(function)
        elif self.terms.settings.get("in_process"):  # its function went with the process that had it
            reason = "the process that ran it has ended, or could not write down what it said"
            turn = Turn(1, "orphaned", Heard(), reason=reason)
        else:
            turn = await self._work()
        return await self._conclude(turn)

    # --- attempts -----------------------------------------------------------------------------------------------------

    async def _work(self) -> Turn:
        """Attempt after attempt, from the last one that was begun."""
        number = count_attempts(self.home.ledger, self.row.session_id)
        if number > 1 and not self._was_begun(number):  # what the agent was to be told comes from the one before
            number -= 1
        for earlier in range(1, number):
            self.turns.append(await self._examine(earlier))
        if number == 0 and self.terms.boot_id != sessions.load_boot_id() and self.terms.retry != "safe":
            return Turn(1, "orphaned", Heard(), reason="the machine was started anew meanwhile")
        message, goes_on = None, False
        while True:
            if goes_on or number == 0 or not self._was_begun(number):
                number = max(number + goes_on, 1)
                refusal = self._start(number, message)
                if refusal is not None:
                    return refusal
            await self._watch(number)
            turn = await self._examine(number)
            self.turns.append(turn)
            self.live, self.asked = Heard(), ""
            self._record(turn)
            message = self._find_message(turn)
            goes_on = message is not None or self._may_run_again(turn)
            if not goes_on:
                return turn

    def _was_begun(self, number: int) -> bool:
        """Whether an attempt that the ledger has was ever started. A folder that is gone was removed afterwards."""
        folder = self._find_folder(number)
        state = sessions.find_state(folder, key=self.key, boot_id=self.terms.boot_id)
        return state != "none" or not os.path.isdir(folder)

    def _find_folder(self, number: int) -> str:
        return sessions.find_folder(self.home, self.row.session_id, number)

    def _start(self, number: int, message: str | None) -> Turn | None:
        """Start an attempt, with a message to an agent that has ended; what there is to say if that cannot be."""
        if self.cancelling or self.broker.is_cancelled(self.row.session_id):
            return Turn(number, "cancelled", Heard(), reason=self.cancelling)
        if message is None and self._find_exhausted(is_running=False):  # by others, since it was admitted
            return Turn(number, _BUDGET, Heard(), reason=_BUDGET)
        try:
            environ = self.broker.environ | self._mint()
            environ |= {"REMIT_ROOT": self.home.root, "TRACEPARENT": make_traceparent(self.broker.environ, self.row)}
            order = self._make_order(number, environ)._replace(settings=self._fill_settings())
            launch = self._make_launch(order, message)
            attempt = sessions.make_attempt(self.home, self.row.session_id, number)
            # Between its folder and its shim: one that is begun and has no folder has lost it.
            begin_attempt(self.home.ledger, self.row.session_id, number)
            self.started = sessions.start_shim(self.home, attempt, self._make_shim_order(launch, environ), key=self.key)
        except RemitError as error:  # nothing of it runs, and so it must not be begun later by another
            return _refuse(number, error)
        self.broker.note(self.row.session_id, "started", {"attempt": number})
        return None

    def _mint(self, _: object = None) -> dict[str, str]:
        """A new ticket for the agent; one that an earlier attempt had is no longer good."""
        ticket = mint(os.urandom(RANDOM_BYTES))
        set_ticket(self.home.ledger, self.row.session_id, ticket.hash)
        return {TICKET: ticket.token, SESSION: self.row.session_id}

    def _make_shim_order(self, launch: Launch, environ: dict[str, str]) -> sessions.ShimOrder:
        sandbox = None
        if self.terms.sandbox:
            places = STATE_PLACES.get(self.runner.name, ())
            sandbox = sessions.Sandbox(
                self.terms.root, tuple(filter(None, (_expand(each, environ) for each in places)))
            )
        return sessions.ShimOrder(
            launch.argv, self.terms.root, self.row.deadline_ms or 0, environ | dict(launch.environ), launch.stdin,
            launch.files, sandbox=sandbox,
        )  # fmt: skip

    def _make_order(self, number: int, environ: dict[str, str]) -> Order:
        budget = self._find_left()
        return Order(
            self.row.session_id, self.row.agent, _load(self, "prompt"), self.terms.root, self._find_folder(number),
            _load(self, "instructions"), self.terms.is_native, self.terms.description, self.terms.model,
            self.terms.tools, budget.max_turns, budget.max_usd, environ, self.terms.settings,
        )  # fmt: skip

    def _fill_settings(self) -> dict[str, Any]:
        """What is set for the runner, with the variables that it is started with."""
        now = self.broker.variables.get(self.row.runner, NOTHING)
        return fill_values(self.terms.settings, now, runner=self.row.runner)

    def _make_launch(self, order: Order, message: str | None) -> Launch:
        harness_id = self._find_harness_id()
        if message is None:
            is_resumed = bool(self.terms.harness_id)
            return self.runner.resume(order, harness_id, order.prompt) if is_resumed else self.runner.start(order)
        if self.runner.can_resume and harness_id:
            return self.runner.resume(order, harness_id, message)
        return self.runner.start(order._replace(prompt=f"{order.prompt}\n\n{message}"))

    def _find_harness_id(self) -> str:
        told = (turn.heard.harness_id for turn in reversed(self.turns))
        return next((each for each in told if each), self.terms.harness_id)

    def check_held(self) -> tuple[Finding, ...]:
        """What there is to say of limits that its runner gives nobody the means to hold."""
        budget = Budget(**self.terms.budget)
        return check_held(budget, self.runner, name=self.row.runner, hands_on=bool(self.terms.may_call))

    def _find_exhausted(self, *, is_running: bool) -> bool:
        """Whether its budget is used up, or that of one above it. Who is at its last turn may finish that one."""
        if not is_limited(Budget(**self.terms.budget)):  # those above it have no limit either
            return False
        rest = self._find_left(spare_turns=1 if is_running else 0, is_running=is_running)
        return find_exhausted(rest._replace(max_delegations=None)) is not None

    def _find_left(self, *, spare_turns: int = 0, is_running: bool = False) -> Budget:
        """What it may still use: the least that is left of its own budget and of those above it."""
        budget = Budget(**self.terms.budget)
        if not is_limited(budget):
            return budget
        tree = self._look_at_tree(every_ms=_TREE_EVERY_MS if is_running else 0)
        if tree is None:
            return left(budget, Spent(self.usage.tokens or 0, self.usage.cost_usd or 0.0, self.usage.turns or 0))
        return tree.find_left(self._hear_itself(), spare_turns=spare_turns)

    def _tell_exhausted(self) -> str:
        """Whose limit ended it; nothing where that is not known any more."""
        tree = self._look_at_tree()
        return "" if tree is None else tree.tell_exhausted(self._hear_itself())

    def _look_at_tree(self, *, every_ms: int = 0) -> Tree | None:
        """What all of its tree have used, as the ledger has it; while it runs, not asked for at every look."""
        now_ms = read_clock_ms()
        if not 0 <= now_ms - self._tree_ms < every_ms:
            self._tree, self._tree_ms = None, now_ms
            with suppress(RefusedError):  # a tree with a gap: what is known of itself counts
                self._tree = load_tree(self.home, session_id=self.row.session_id)
        return self._tree

    def _has_open_below(self) -> bool:
        return self._tree is not None and self._tree.has_open_below()

    def _hear_itself(self) -> dict[str, Usage]:
        return {self.row.session_id: self.usage}

    def _note_usage(self, db: Connection) -> None:
        """Let the ledger know what it has used by now: those below it and above it are held to that."""
        usage = self.usage
        if usage != Usage():
            session_id = self.row.session_id
            set_usage(db, session_id, tokens=usage.tokens, cost_usd=usage.cost_usd, turns=usage.turns)

    # --- watching -----------------------------------------------------------------------------------------------------

    async def _watch(self, number: int) -> None:
        """Wait until an attempt is over. Meanwhile: listen, hold the budget, ask to hand back in time."""
        folder = self._find_folder(number)
        started, self.started = self.started, None
        waiter = asyncio.ensure_future(sessions.wait_result(folder, key=self.key, started=started))
        watcher = _Watcher(self, folder)
        try:
            while not (await asyncio.wait({waiter}, timeout=_LOOK_EVERY_S))[0]:
                with suppress(RemitError):  # the ledger is busy: the agent goes on, and is looked at again
                    watcher.look()
            waiter.result()
        finally:
            waiter.cancel()

    async def _examine(self, number: int) -> Turn:
        """What came of an attempt that is over, read from its folder."""
        folder = self._find_folder(number)
        result = sessions.load_result(folder, key=self.key)
        listener = self.runner.listen(self._make_order(number, {}))
        heard = await _do_aside(_measure(folder, result), partial(_listen_to, folder, listener, result))
        if result is None:
            return self._examine_lost(number, heard)
        if result.errno is not None:  # the program could not be executed at all
            return _refuse(number, self._tell_missing(number, result.errno))
        reason = self._find_stop(result)
        turn = Turn(number, _name_ending(result, reason), heard, result.exit_code, reason)
        if result.ending == "crashed":
            heard = _tell_signal(heard, result.signal)
            turn = turn._replace(heard=heard, exit_code=None if result.signal is None else 128 + result.signal)
        # Before anyone interprets it. It is on disk with the result; until then the attempt's folder has it.
        self._keep_answer(heard, number)
        return turn._replace(judgement=await self._judge(heard))

    def _tell_missing(self, number: int, code: int) -> RunnerError:
        """Why the program could not be executed."""
        try:
            program = f"'{self.runner.start(self._make_order(number, dict(self.broker.environ))).argv[0]}'"
        except RemitError:  # it can be found no more
            program = "the program"
        hint = "see whether it is on the path" if code == ENOENT else "see whether it is a program that may be run"
        return RunnerError(f"{program} cannot be started: {os.strerror(code).lower()}", hint=hint)

    def _find_stop(self, result: sessions.Result) -> str:
        """Why it was stopped. A shim that was told by a signal does not know it."""
        is_known = bool(self.asked) or self.broker.is_cancelled(self.row.session_id)
        return self.asked if result.reason == "signal" and is_known else result.reason

    def _examine_lost(self, number: int, heard: Heard) -> Turn:
        """What ended an attempt that could not say it any more: its time, somebody's wish, or nobody knows what."""
        if read_clock_ms() >= (self.row.deadline_ms or 0):
            return Turn(number, "timeout", heard)
        if self.broker.is_cancelled(self.row.session_id):
            return Turn(number, "cancelled", heard, reason=self.broker.find_reason(self.row.session_id))
        return Turn(number, "orphaned", heard, reason="its shim ended without a result")

    def _keep_answer(self, heard: Heard, number: int, db: Connection | None = None) -> None:
        if (heard.text or "").strip():
            data = (heard.text or "").encode("utf-8", "surrogatepass")
            keep_texts(self.home, self.row.session_id, {f"answer-{number}": data}, db=db, durable=False)

    async def _judge(self, heard: Heard) -> Judgement | None:
        if not (heard.text or "").strip():
            return None
        expectation = Expectation(
            self.row.session_id, self.row.agent or None, self.terms.kind or None, self.row.depth, self.row.path
        )
        words: Any = self.terms.words
        judge = partial(
            judge_answer, heard.text or "", self._make_scene(heard), dialect=self.terms.dialect,
            expectation=expectation, words=words,
        )  # fmt: skip
        return await _do_aside(len(heard.text or ""), judge)

    def _make_scene(self, heard: Heard) -> Scene:
        """What is known of the agent's work: the tools of all its attempts, unless one of them did not tell."""
        told = [*self._earlier_tools, *(turn.heard.tools for turn in self.turns), heard.tools]
        tools = None if any(each is None for each in told) else tuple(use for each in told for use in each or ())
        is_asked = self.before is not None or bool(self.terms.manifest)  # else nothing is told by what changed
        shared = is_asked and self.broker.is_shared(self.row, self.terms.root, since=self._list_resumed())
        return Scene(
            self.terms.root, self.before, tools, shared, self.terms.manifest,
            self.terms.manifest_bytes, self.terms.topic, self.row.task_number,
            self.broker.list_below(self.row.session_id), self.terms.evidence and self.before is None,
        )  # fmt: skip

    def _list_resumed(self) -> dict[str, int]:
        """The delegations that this one goes on with, and when each began: the tree is compared with before them."""
        found: dict[str, int] = {}
        earlier = self.terms.resume_of
        while earlier and earlier not in found:
            row = load_delegation(self.home.ledger, earlier)
            found[earlier] = 0 if row is None else row.started_ms or row.created_ms
            earlier = "" if row is None else read_terms(row.details).resume_of
        return found

    def _hear_earlier(self) -> Iterator[tuple[ToolUse, ...] | None]:
        """The tools that were used in what this goes on with; None where nobody can tell any more."""
        earlier, known = self.terms.resume_of, {""}
        while earlier not in known:
            known.add(earlier)
            row = load_delegation(self.home.ledger, earlier)
            count = count_attempts(self.home.ledger, earlier)
            if row is None or not count or not sessions.has_session(self.home, earlier):
                yield None
                return
            key = (load_text(self.home, earlier, "key") or b"").decode()
            for number in range(1, count + 1):
                folder = sessions.find_folder(self.home, earlier, number)
                listener = self.runner.listen(self._make_order(number, {}))
                yield _listen_to(folder, listener, sessions.load_result(folder, key=key)).tools
            earlier = read_terms(row.details).resume_of

    # --- what next ----------------------------------------------------------------------------------------------------

    def _find_message(self, turn: Turn) -> str | None:
        """What the agent is told now; None where it is over."""
        seconds = ((self.row.deadline_ms or 0) - read_clock_ms()) / 1000
        can_resume = self.runner.can_resume and bool(self._find_harness_id())
        if seconds < _LEAST_LEFT_S or self._find_exhausted(is_running=False):
            return None
        if turn.ending == _HANDBACK:
            return render_handback(seconds, dialect=self.terms.dialect) if can_resume else None
        if not self._may_ask_again(turn, can_resume=can_resume):
            return None
        findings = () if turn.judgement is None else turn.judgement.findings
        return render_reask(findings, dialect=self.terms.dialect, session_id=self.row.session_id)

    def _may_run_again(self, turn: Turn) -> bool:
        """Whether an attempt that was lost is made once more: where its work may be done twice, and there is time."""
        seconds = ((self.row.deadline_ms or 0) - read_clock_ms()) / 1000
        is_left = seconds >= _LEAST_LEFT_S and len(self.turns) <= self.terms.reasks
        return turn.ending == "orphaned" and self.terms.retry == "safe" and is_left

    def _may_ask_again(self, turn: Turn, *, can_resume: bool) -> bool:
        """Whether an answer that does not hold is sent back: an agent that could not answer is not asked again."""
        if turn.ending not in _OWN_END or (turn.judgement is not None and turn.judgement.accepted):
            return False
        asked = sum(earlier.ending in _OWN_END for earlier in self.turns) - 1
        hopeless = turn.heard.cause in ("turns", "budget", "refused")
        answered = turn.judgement is not None or not turn.heard.cause
        safe = self.terms.retry == "safe"
        return asked < self.terms.reasks and not hopeless and ((can_resume and answered) or safe)

    def _record(self, turn: Turn, _: object = None) -> None:
        """Write the attempt down, and what its tools did to files."""
        findings = () if turn.judgement is None else turn.judgement.findings
        attempt = Attempt(
            turn.number, self.row.started_ms or 0, read_clock_ms(), turn.ending,
            None if turn.judgement is None else turn.judgement.outcome, f"answer-{turn.number}",
            [{"code": each.code, "severity": each.severity, "message": each.message} for each in findings[:50]],
            turn.heard.usage._asdict(),
        )  # fmt: skip
        with self.home.ledger.transaction() as db:
            record_attempt(db, self.row.session_id, attempt)
            self._note_usage(db)
            for path in sorted(_list_written(turn.heard, self.terms.root)):
                add_act(db, session_id=self.row.session_id, path=path, operation="write", parent_id=self.row.parent_id)
            harness_id = self._find_harness_id()
            if harness_id:  # by which it can be taken up again
                keep_texts(self.home, self.row.session_id, {"harness": harness_id.encode()}, db=db)

    # --- a function in this process -----------------------------------------------------------------------------------

    async def _call(self, function: Any) -> Turn:  # noqa: ANN401 - whatever can be called
        """Call a function with the order."""
        order = self._make_order(1, {})
        ticket = await self.broker.together.write(self._mint, durable=False)
        CARRIED.set(ticket)  # for this task and what it awaits
        self.calling = Call(function, join_prompt(order))
        try:
            turn = await self._attend(self.calling)
        finally:
            self.calling.cancel()
        self.turns.append(turn)
        await self.broker.together.write(partial(self._record, turn), durable=False)
        return turn

    async def _attend(self, calling: Call) -> Turn:
        """Wait for a function, as long as it may take and nobody has cancelled it."""
        answer = calling.answer
        while not answer.done():
            seconds = ((self.row.deadline_ms or 0) - read_clock_ms()) / 1000
            if seconds <= 0:
                return Turn(1, "timeout", Heard(notes=calling.notes))
            await asyncio.wait({answer}, timeout=min(seconds, _LOOK_EVERY_S))
            if not answer.done() and self.broker.is_cancelled(self.row.session_id):
                return Turn(1, "cancelled", Heard(notes=calling.notes), reason=self.cancelling)
        if answer.cancelled():
            return Turn(1, "cancelled", Heard(notes=calling.notes), reason=self.cancelling)
        error = answer.exception()
        if error is not None and not isinstance(error, Exception):
            raise error
        if error is not None:
            await self.broker.together.write(partial(self._keep_trace, error), durable=False)
            return Turn(1, "exited", Heard(cause="crash", trouble=f"{type(error).__name__}: {str(error)[:300]}"))
        heard = Heard(answer.result())
        await self.broker.together.write(partial(self._keep_answer, heard, 1), durable=False)
        return Turn(1, "exited", heard, 0, judgement=await self._judge(heard))

    def _keep_trace(self, error: Exception, db: Connection) -> None:
        """Where an exception came from (R2.12): a function has no standard error that would tell."""
        from traceback import format_exception  # noqa: PLC0415 - only where one was raised

        trace = redact("".join(format_exception(error, limit=_MOST_FRAMES))[:_MOST_TRACE_CHARS])
        texts = {"trace": trace.encode("utf-8", "surrogatepass")}
        keep_texts(self.home, self.row.session_id, texts, db=db, durable=False)

    def cancel(self, reason: str) -> None:
        """End it. What runs in a process of its own is ended by its shim."""
        self.cancelling = reason
        if self.calling is not None:
            self.calling.cancel()

    # --- before and after ---------------------------------------------------------------------------------------------

    async def _look_before(self) -> Snapshot | None:
        """The tree before the work; of one that was begun by another broker, or is taken up again, as it was then."""
        if not self.terms.evidence:
            return None
        kept = load_before(self.home, self.row.session_id, _load(self, "before"))
        if kept is None and self.terms.resume_of:
            digest = (load_text(self.home, self.terms.resume_of, "before") or b"").decode()
            earlier = load_before(self.home, self.terms.resume_of, digest)
            if earlier is not None:
                kept = self._note_before(keep_before(self.home, self.row.session_id, earlier))
        if kept is not None or self._is_begun():
            return kept
        began_ms = read_clock_ms()
        latest = get_note(self.home.ledger, TREE) or ""
        taken = await asyncio.to_thread(
            take_before, self.home, self.row.session_id, self.terms.root, BEFORE_LIMITS, latest=latest
        )
        if read_clock_ms() - began_ms > _NOTICED_MS:  # a large tree is not the agent's fault
            self.row = self.broker.restart_clock(self.row)
        return self._note_before(taken)

    def _note_before(self, taken: Before) -> Snapshot:
        """Remember what the tree's file is known by: the agent could write another."""
        with self.home.ledger.transaction(durable=True) as db:
            keep_texts(self.home, self.row.session_id, {"before": taken.digest.encode()}, db=db)
            if taken.latest:
                set_note(self.home.ledger, TREE, taken.latest)
        return taken.snapshot

    def _is_begun(self) -> bool:
        return bool(count_attempts(self.home.ledger, self.row.session_id))

    async def _conclude(self, turn: Turn) -> Conclusion:
        comparison: Comparison | None = None
        unclaimed: tuple[Any, ...] = ()
        scene = self._make_scene(Heard(tools=()))
        written = None if scene.tools is None else frozenset(
            path for each in self.turns for path in _list_written(each.heard, self.terms.root)
        )  # fmt: skip
        handed_on = HandedOn()
        if self.before is not None:
            handed_on = self._load_handed_on()
            grades = {} if turn.judgement is None else turn.judgement.grades
            is_below = partial(handed_on.has, written=written)
            with suppress(RemitError):  # the folder is gone: there is nothing to tell of it
                comparison, unclaimed = await asyncio.to_thread(
                    look_around, scene, grades, self.broker.list_own_files(), is_below
                )
        handed_back = any(earlier.ending == _HANDBACK for earlier in self.turns[:-1])
        ending = "timeout" if turn.ending == _HANDBACK else turn.ending
        reason = turn.reason or (self.broker.find_reason(self.row.session_id) if ending == "cancelled" else "")
        if ending == _BUDGET and reason == _BUDGET:
            reason = self._tell_exhausted()
        return conclude(
            Ended(
                ending, self.row.agent, turn.heard, turn.judgement, comparison, unclaimed, turn.exit_code, reason,
                written, scene.shared, handed_back, self._find_resume(), find_retry(self.row),
                frozenset(handed_on.made),
            )
        )  # fmt: skip

    def _load_handed_on(self) -> HandedOn:
        """What was accepted of those below it. All that is in a worktree of its own becomes its commit, and is its."""
        if self.terms.worktree:
            return HandedOn()
        return load_handed_on(self.home, (self.row.session_id, *self._list_resumed()), self.terms.root)

    def _find_resume(self) -> str:
        """The command that goes on with it, where its harness can."""
        can_resume = self.runner.can_resume and self._find_harness_id()
        return f"remit resume {self.row.session_id}" if can_resume else ""


class _Watcher:
    """Looks at an attempt now and then while it runs."""

    def __init__(self, drive: Drive, folder: str) -> None:
        self.drive = drive
        self.folder = folder
        self.hearing = Hearing(folder, drive.runner.listen(drive._make_order(1, {})))  # noqa: SLF001 - a part of it
        self.heard_ms = self.told_ms = read_clock_ms()
        self.told = ""
        self.stopped, self.stopped_ms = False, 0
        self.idle = False
        self.exhausted_ms: int | None = None

    def look(self) -> None:
        """Take in what was printed since, and act on it."""
        now_ms = read_clock_ms()
        if self.hearing.go_on():
            self.drive.live = self.hearing.listener.tell()
            self.heard_ms, self.idle = now_ms, False
        if not self.stopped and self.drive.broker.is_cancelled(self.drive.row.session_id):
            self._stop("cancel")  # whoever asked was too early for the shim
        if not self.stopped:
            self._hold_limits(now_ms)
        elif now_ms - self.stopped_ms > sessions.DEAF_SECONDS * 1000:
            sessions.end_shim(self.folder)
        if now_ms > (self.drive.row.deadline_ms or now_ms) + _LATE_MS:  # it is the shim's to hold, unless it is held
            sessions.end_shim(self.folder)
        self._tell(now_ms)

    def _stop(self, word: str) -> None:
        """Have the agent ended, and remember why: a shim that is told by a signal does not know it."""
        self.stopped, self.stopped_ms = sessions.send_control(self.folder, word), read_clock_ms()
        self.drive.asked = word.removeprefix("stop ") if word != "cancel" else ""

    def _hold_limits(self, now_ms: int) -> None:
        drive = self.drive
        if drive._find_exhausted(is_running=True):  # noqa: SLF001
            self.exhausted_ms = now_ms if self.exhausted_ms is None else self.exhausted_ms
            if drive._has_open_below() and now_ms - self.exhausted_ms < _GRACE_MS:  # noqa: SLF001
                return  # they are held to the same, and shall write down first what became of them
            self._stop(f"stop {_BUDGET}")
        elif drive.runner.can_resume and self._is_time_to_hand_back(now_ms):
            self._stop(f"stop {_HANDBACK}")

    def _is_time_to_hand_back(self, now_ms: int) -> bool:
        drive = self.drive
        window_s = min(HANDBACK_SHARE * drive.terms.timeout_s, HANDBACK_MAX_S)
        asked = any(turn.ending == _HANDBACK for turn in drive.turns)
        known = bool(drive.live.harness_id or drive._find_harness_id())  # noqa: SLF001
        is_time = now_ms >= (drive.row.deadline_ms or 0) - window_s * 1000
        return window_s >= HANDBACK_MIN_S and not asked and known and is_time

    def _tell(self, now_ms: int) -> None:
        """Tell those who follow, not too often; and once when nothing was heard for long."""
        drive, live = self.drive, self.drive.live
        if not self.idle and now_ms - self.heard_ms > drive.terms.idle_s * 1000:
            self.idle = True
            drive.broker.note(drive.row.session_id, "idle", {"seconds": (now_ms - self.heard_ms) // 1000})
        told = f"{live.said}{live.usage}"
        if told != self.told and now_ms - self.told_ms >= _TELL_EVERY_S * 1000:
            self.told, self.told_ms = told, now_ms
            usage = drive.usage
            said = redact(live.said)[:_SAID]  # in this order: of half a key nobody can tell that it is one
            details = {"said": said, "tokens": usage.tokens, "cost_usd": usage.cost_usd}
            with drive.home.ledger.transaction() as db:
                drive._note_usage(db)  # noqa: SLF001
                drive.broker.note(drive.row.session_id, "progress", details)


def _refuse(number: int, error: RemitError) -> Turn:
    return Turn(number, "refused", Heard(cause="refused", trouble=error.message), reason=str(error))


def _name_ending(result: sessions.Result, reason: str) -> str:
    """What ended an attempt."""
    if result.ending == "stopped":
        return reason if reason in (_HANDBACK, _BUDGET) else "cancelled"
    return result.ending


def _tell_signal(heard: Heard, number: int | None) -> Heard:
    """What was heard of a program that a signal ended: the signal, and what there is to say besides."""
    from signal import Signals  # noqa: PLC0415 - only where one did

    told = "the program was ended with the process that kept it"  # and that would have told by what
    if number is not None:
        name = Signals(number).name if number in {*Signals} else f"signal {number}"
        told = f"the program was ended by {name}"
    trouble = f"{told}; {heard.trouble}" if heard.trouble else told
    return heard._replace(cause=heard.cause or "crash", trouble=trouble)


def _expand(place: str, environ: dict[str, str]) -> str:
    """A place in the user's home, or one that a variable names."""
    if place.startswith("$"):
        return environ.get(place[1:], "")
    return place.replace("~", environ.get("HOME", "~"), 1)


def _load(drive: Drive, kind: str) -> str:
    return (load_text(drive.home, drive.row.session_id, kind) or b"").decode("utf-8", "surrogatepass")


async def _do_aside(size: int, work: Callable[[], T]) -> T:
    """Do something in a thread where there is much of it: all that this process drives waits meanwhile."""
    return await asyncio.to_thread(work) if size > _LONG_BYTES else work()


def _measure(folder: str, result: sessions.Result | None) -> int:
    return sessions.measure_out(folder) if result is None else result.out_kept


def _listen_to(folder: str, listener: Listener, result: sessions.Result | None) -> Heard:
    """Hear an attempt from its beginning. What somebody else has written over its output is no answer of its."""
    is_own, offset = True, 0
    if result is not None:
        is_own = sessions.hear_out(folder, result, listener.feed)
    else:
        while data := sessions.read_out(folder, offset, min(PIECE_BYTES, sessions.OUT_CAP_BYTES - offset)):
            offset += len(data)
            listener.feed(data)
    errors = sessions.read_out(folder, 0, PIECE_BYTES, stream="err")
    heard = listener.finish(errors=errors, exit_code=None if result is None else result.exit_code)
    return heard if is_own else Heard(usage=heard.usage, tools=(), cause="no_answer", trouble=_OVERWRITTEN)


def _list_written(heard: Heard, root: str) -> set[str]:
    """The files below the root that the agent's own tools wrote."""
    uses = [use.path for use in heard.tools or () if use.operation == "write" and use.path and not use.failed]
    real = os.path.realpath(root)
    below = {os.path.relpath(os.path.realpath(os.path.join(real, path)), real) for path in uses if "\0" not in path}
    return {path for path in below if not path.startswith("..")}


def find_retry(row: Delegation) -> str:
    """The command that asks for the same anew; a function of a program is called by that program only."""
    return "" if read_terms(row.details).settings.get("in_process") else f"remit retry {row.session_id}"


def make_traceparent(environ: dict[str, str], row: Delegation) -> str:
    """The W3C trace context for a child: the trace of its caller, or one that belongs to its tree."""
    from hashlib import sha256  # noqa: PLC0415 - only where something is started

    given = environ.get("TRACEPARENT", "").split("-")
    fits = len(given) == 4 and len(given[1]) == 32 and set(given[1]) <= set("0123456789abcdef")  # noqa: PLR2004 - W3C
    trace = given[1] if fits and given[1].strip("0") else sha256(row.root_id.encode()).hexdigest()[:32]
    return f"00-{trace}-{sha256(row.session_id.encode()).hexdigest()[:16]}-01"
