"""The limits of a run: its time and its budget, and diagnostics on limits that a runner can't enforce (BUD…).

A nested run never gets more than its request asks for and each of its ancestors has left. The docstring of the
function that makes a diagnostic is its page.
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
"""A larger number of turns, tokens or dollars is a mistake."""
_DUST = 1e-9
"""A smaller share of a budget is a rounding error of binary fractions."""


class Budget(NamedTuple):
    """What a run and all its nested runs may use together; None: no limit."""

    max_seconds: float | None = None
    """Enforced by the deadline: nothing is subtracted from it."""
    max_turns: int | None = None
    max_tokens: int | None = None
    max_usd: float | None = None
    max_delegations: int | None = None
    """The number of nested runs, at any depth; with 0, the agent works alone."""


class SpentBudget(NamedTuple):
    """What was used, as far as Remit knows."""

    tokens: int = 0
    usd: float = 0.0
    turns: int = 0
    runs: int = 0


_LEAST = {"max_turns": 1, "max_tokens": 1, "max_delegations": 0}
"""The limits that are whole numbers, with their minimum."""


def find_timeout(kind: str | None) -> float:
    """Return the default time limit of an agent of a kind (R2.6)."""
    return 300 if kind == "simple" else TIMEOUTS_S.get(kind or "", DEFAULT_TIMEOUT_S)


def check_timeout(seconds: Any, *, name: str = "the timeout") -> float:  # noqa: ANN401 - any value
    """Return the seconds if they are a finite positive number; raise otherwise. No run is without a limit (R2.6)."""
    if isinstance(seconds, bool) or not isinstance(seconds, int | float) or not 0 < seconds <= MAX_SECONDS:
        hint = f"give seconds, more than 0 and at most {MAX_SECONDS}: no agent runs without a limit"
        raise UsageError(f"{name} cannot be {_spell(seconds)}", hint=hint)
    return seconds


def check_budget(budget: Budget) -> Budget:
    """Return the budget if each limit in it is a valid number; raise otherwise."""
    for name, limit in budget._asdict().items():
        if limit is None:
            continue
        if name == "max_seconds":
            check_timeout(limit, name=name)
        elif name == "max_usd":
            if isinstance(limit, bool) or not isinstance(limit, int | float) or not 0 < limit <= MAX_COUNT:
                raise UsageError(f"max_usd cannot be {_spell(limit)}", hint="give dollars, more than 0, such as 0.50")
        elif type(limit) is not int or not _LEAST[name] <= limit <= MAX_COUNT:
            hint = f"give a whole number of at least {_LEAST[name]}, or leave it out for no limit"
            raise UsageError(f"{name} cannot be {_spell(limit)}", hint=hint)
    return budget


def read_budget(values: Mapping[str, Any]) -> Budget:
    """Return a checked budget from values by name; other names are ignored."""
    return check_budget(Budget(*(values.get(name) for name in Budget._fields)))


def clamp(budget: Budget, *others: Budget) -> Budget:
    """Return a budget with the smallest value of each limit."""
    columns = zip(budget, *others, strict=True)
    return Budget(*(min((limit for limit in column if limit is not None), default=None) for column in columns))


def left(budget: Budget, spent: SpentBudget) -> Budget:
    """Return what is left of a budget, at least 0 of each limit."""
    return Budget(
        budget.max_seconds,
        _subtract(budget.max_turns, spent.turns),
        _subtract(budget.max_tokens, spent.tokens),
        _subtract_money(budget.max_usd, spent.usd),
        _subtract(budget.max_delegations, spent.runs),
    )


def find_exhausted(budget: Budget) -> str | None:
    """Return a sentence on a limit that is used up; None if something is left of each."""
    for name, limit in budget._asdict().items():
        if limit is not None and limit <= 0:
            return f"nothing is left of the budget: {name} is used up"
    return None


# --- diagnostics ------------------------------------------------------------------------------------------------------

_COUNTED: dict[Counted, tuple[str, str]] = {
    "turns": ("max_turns", "its turns"),
    "tokens": ("max_tokens", "its tokens"),
    "usd": ("max_usd", "its costs"),
}


def check_limits(budget: Budget, runner: Runner, *, name: str, may_call: bool) -> tuple[Diagnostic, ...]:
    """Return diagnostics on limits that a runner can't enforce. `may_call`: whether the agent may call others."""
    diagnostics = []
    for counted, (limit, what) in _COUNTED.items():
        reported = runner.reports_usage.get(counted)
        if getattr(budget, limit) is None or reported == "live":
            continue
        if counted not in runner.enforces:
            make = limit_not_enforced if reported is None else limit_enforced_late
            diagnostics.append(make(limit, name, what))
        elif may_call:
            diagnostics.append(limit_per_run(limit, name, what))
    return tuple(diagnostics)


def limit_not_enforced(limit: str, runner: str, what: str) -> Diagnostic:
    """A limit isn't enforced, because the runner doesn't report the usage that it limits.

    Why: without this diagnostic, you would rely on the limit. Some programs don't report their usage: any command, a
    Python function; Codex and Gemini CLI don't report costs. The usage of such an agent isn't counted, neither for
    the agent nor for its ancestors. The limit is still enforced for its nested runs whose runners report usage.

    Bad: `remit run PROMPT --command my-agent --max-usd 1`

    Good: `--max-seconds`, which Remit enforces for every runner; or the program's own limit, in its options.
    """
    message = f"{limit} isn't enforced: the runner '{runner[:80]}' doesn't report {what}"
    return Diagnostic("BUD001", "warning", message, "Set --max-seconds, or a limit in the program's own options.")


def limit_enforced_late(limit: str, runner: str, what: str) -> Diagnostic:
    """A limit is enforced late, because the runner reports the usage only at the end of an attempt.

    Why: Remit can't stop an attempt at a limit if the usage is known only afterwards. The attempt runs to its own end.
    If it exceeded the limit, there is no other attempt, and no nested run of the agent with the limit starts. Codex
    and Gemini CLI report their tokens at the end.

    Bad: `remit run PROMPT --runner codex --max-tokens 10000`, and no other limit.

    Good: `--max-seconds` too, or `--max-turns` if the runner reports its turns.
    """
    message = f"{limit} is enforced late: the runner '{runner[:80]}' reports {what} only at the end"
    return Diagnostic("BUD002", "warning", message, "Set --max-seconds too.")


def limit_per_run(limit: str, runner: str, what: str) -> Diagnostic:
    """A limit is enforced for each run, but not for an agent and its nested runs together.

    Why: the harness enforces the limit itself and reports the usage only at the end. While the agent runs, Remit
    doesn't know how much is left for the agents that it calls. Each of them stays within the limit; together they may
    use more. Claude Code reports its costs at the end.

    Bad: `remit run planner PROMPT --runner claude --max-usd 1`, and the planner calls three others.

    Good: `--max-tokens`, which Remit counts while the agents run; or `--max-runs` too.
    """
    message = (
        f"{limit} is enforced for each run, not for all together: the runner '{runner[:80]}' reports {what} "
        "only at the end, and its agent may call others"
    )
    return Diagnostic("BUD003", "warning", message, "Set --max-tokens or --max-runs too.")


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
    """Return a value, short enough for a message; a number may have more digits than Python prints."""
    try:
        text = str(value).removesuffix(".0")  # the user wrote 0, not 0.0
    except ValueError:
        return "a number of thousands of digits"
    return text if len(text) <= 40 else f"{text[:40]}…"  # noqa: PLR2004 - fits in a sentence
