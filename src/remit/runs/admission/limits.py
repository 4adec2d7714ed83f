"""Limits of a run: its time, and how much it may use.

Owns budgets and the timeouts of each kind. A limit only gets smaller on the way down: what a child is given is the
least of what was asked for and of what everybody above it has left. A limit that a harness gives nobody the means to
hold is told (BUD…), in the docstring of the function that makes the finding.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from remit.agents.definition import MAX_SECONDS
from remit.agents.profiles import DEFAULT_TIMEOUT_S, TIMEOUTS_S
from remit.errors import UsageError
from remit.light_namedtuple import NamedTuple
from remit.model import Diagnostic

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from remit.model import Severity
    from remit.runners import Runner
    from remit.runners.protocol import Counted

MAX_COUNT = 10**15
"""More turns, tokens or dollars than anybody has: a number beyond it is a mistake."""
_DUST = 1e-9
"""The share of a budget that is only what adding up cents in binary has left of it."""


class Budget(NamedTuple):
    """What may be used; None: no limit. What is used below a delegation counts as used by it."""

    max_seconds: float | None = None
    """Held by the deadline: nothing is subtracted from it."""
    max_turns: int | None = None
    max_tokens: int | None = None
    max_usd: float | None = None
    max_delegations: int | None = None
    """How many may be made below it, at any depth. It does not count itself, so with 0 it works alone."""


class SpentBudget(NamedTuple):
    """What was used, as far as it is known."""

    tokens: int = 0
    usd: float = 0.0
    turns: int = 0
    runs: int = 0


_LEAST = {"max_turns": 1, "max_tokens": 1, "max_delegations": 0}
"""The limits that are whole numbers, and where they begin."""


def find_timeout(kind: str | None) -> float:
    """How long an agent of a kind may take where nobody says (R2.6)."""
    return 300 if kind == "simple" else TIMEOUTS_S.get(kind or "", DEFAULT_TIMEOUT_S)


def check_timeout(seconds: Any, *, name: str = "the timeout") -> float:  # noqa: ANN401 - whatever was given
    """The seconds, where they are a number and end some day: nothing runs without a limit (R2.6)."""
    if isinstance(seconds, bool) or not isinstance(seconds, int | float) or not 0 < seconds <= MAX_SECONDS:
        hint = f"give seconds, more than 0 and at most {MAX_SECONDS}: no agent runs without a limit"
        raise UsageError(f"{name} cannot be {_spell(seconds)}", hint=hint)
    return seconds


def check_budget(budget: Budget) -> Budget:
    """The budget, where each limit in it is a number that can be counted down from."""
    for name, limit in budget._asdict().items():
        if limit is None:
            continue
        if name == "max_seconds":
            check_timeout(limit, name=name)
        elif name == "max_usd":
            if isinstance(limit, bool) or not isinstance(limit, int | float) or not 0 < limit <= MAX_COUNT:
                raise UsageError(f"max_usd cannot be {_spell(limit)}", hint="give dollars, more than 0, such as 0.50")
        elif type(limit) is not int or not _LEAST[name] <= limit <= MAX_COUNT:
            hint = f"give a whole number from {_LEAST[name]} on, or leave it out for no limit"
            raise UsageError(f"{name} cannot be {_spell(limit)}", hint=hint)
    return budget


def read_budget(values: Mapping[str, Any]) -> Budget:
    """A budget as it was kept by name, checked; names that are no limits are not looked at."""
    return check_budget(Budget(*(values.get(name) for name in Budget._fields)))


def clamp(asked: Budget, *others: Budget) -> Budget:
    """The smaller of each limit."""
    columns = zip(asked, *others, strict=True)
    return Budget(*(min((limit for limit in column if limit is not None), default=None) for column in columns))


def left(budget: Budget, spent: SpentBudget) -> Budget:
    """What is left of a budget; never less than nothing."""
    return Budget(
        budget.max_seconds,
        _subtract(budget.max_turns, spent.turns),
        _subtract(budget.max_tokens, spent.tokens),
        _subtract_money(budget.max_usd, spent.usd),
        _subtract(budget.max_delegations, spent.runs),
    )


def find_exhausted(budget: Budget) -> str | None:
    """A sentence about the limit that is used up; None where something is left of each."""
    for name, limit in budget._asdict().items():
        if limit is not None and limit <= 0:
            return f"nothing is left of the budget: {name} is used up"
    return None


# --- what is told -----------------------------------------------------------------------------------------------------

_TELLING: dict[Counted, tuple[str, str]] = {
    "turns": ("max_turns", "how many turns it takes"),
    "tokens": ("max_tokens", "how many tokens it uses"),
    "usd": ("max_usd", "what it costs"),
}


def check_held(budget: Budget, runner: Runner, *, name: str, hands_on: bool) -> tuple[Diagnostic, ...]:
    """What there is to say of limits that a runner cannot be held to. `hands_on`: whether the agent may call others."""
    told = []
    for counted, (limit, what) in _TELLING.items():
        telling = runner.tells_usage.get(counted)
        if getattr(budget, limit) is None or telling == "live":
            continue
        if counted not in runner.holds:
            told.append(
                limit_not_enforced(limit, name, what) if telling is None else limit_enforced_late(limit, name, what)
            )
        elif hands_on:
            told.append(limit_per_run(limit, name, what))
    return tuple(told)


def limit_not_enforced(limit: str, runner: str, what: str) -> Diagnostic:
    """A limit was given, and the runner does not tell what the limit is counted by.

    Why: whoever says that no more than a dollar may be used, and hears nothing, counts on it. Some programs do not tell
    what they use: any command, a function in Python; Codex and Gemini CLI do not tell costs. What such an agent uses is
    not counted, neither for itself nor for those above it; the limit still holds for agents below it that do tell.

    Bad: `remit run PROMPT --command my-agent --max-usd 1`

    Good: `--max-seconds`, which holds for every runner; or the limit of the program itself, in its own options.
    """
    message = f"{limit} is not held: the runner '{runner[:80]}' does not tell {what}"
    return Diagnostic("BUD001", "warning", message, "Limit it by --max-seconds, or in its own options.")


def limit_enforced_late(limit: str, runner: str, what: str) -> Diagnostic:
    """A limit was given, and the runner tells what it is counted by only once it has ended.

    Why: nobody can end at a limit what is known only afterwards. Such an agent runs to its own end; if it used too
    much, it is not sent back to work, and nothing more is begun below whoever has the limit. Codex and Gemini CLI tell
    their tokens so.

    Bad: `remit run PROMPT --runner codex --max-tokens 10000`, and no other limit.

    Good: `--max-seconds` besides, or `--max-turns` where the runner tells its turns.
    """
    message = f"{limit} is held only afterwards: the runner '{runner[:80]}' tells {what} when it has ended"
    return Diagnostic("BUD002", "warning", message, "Limit it by --max-seconds too.")


def limit_per_run(limit: str, runner: str, what: str) -> Diagnostic:
    """A harness holds a limit by itself and tells what was used only once it has ended; its agent may call others.

    Why: while it runs nobody knows how much of the limit is left for those whom it calls. It is held to the limit, and
    so is each of them; all of them together may use more. Claude Code tells its costs so.

    Bad: `remit run planner PROMPT --runner claude --max-usd 1`, and the planner calls three others.

    Good: `--max-tokens`, which is counted while all of them run; or `--max-runs` besides.
    """
    message = (
        f"{limit} holds for each and not yet for all: the runner '{runner[:80]}' tells {what} when it has ended, "
        "and its agent may call others"
    )
    return Diagnostic("BUD003", "warning", message, "Limit them by --max-tokens or --max-delegations too.")


DIAGNOSTICS: dict[str, tuple[Callable[..., Diagnostic], Severity]] = {
    "BUD001": (limit_not_enforced, "warning"),
    "BUD002": (limit_enforced_late, "warning"),
    "BUD003": (limit_per_run, "warning"),
}


def _subtract(limit: int | None, used: int) -> int | None:
    return None if limit is None else min(limit, max(0, limit - used))


def _subtract_money(limit: float | None, used: float) -> float | None:
    if limit is None:
        return None
    rest = min(limit, limit - used)
    return rest if rest > limit * _DUST else 0.0


def _spell(value: object) -> str:
    """What was given, at a length that fits in a sentence; a number may have more digits than Python prints."""
    try:
        text = str(value).removesuffix(".0")  # whoever has said 0 has not said 0.0
    except ValueError:
        return "a number of thousands of digits"
    return text if len(text) <= 40 else f"{text[:40]}…"  # noqa: PLR2004 - fits in a sentence
