"""Rules on a standard agent's limits: how long it may take, and a temperature that no harness takes."""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING, Any, Literal

from remit.agents import edits
from remit.agents.profiles import TIMEOUTS_S, is_read_by_claude
from remit.agents.rules.field_lookup import is_absent, is_number, show
from remit.agents.rules.register import AgentFileContext, AgentViolation, agent_rule
from remit.agents.rules.standard_fields import get_kind, get_limit_s
from remit.lazy_regex import lazy
from remit.light_namedtuple import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator


@agent_rule("AGT069", severity="note")
def temperature_unsupported(case: AgentFileContext) -> Iterator[AgentViolation]:
    """The agent sets a temperature, and its harness has no such setting.

    Why: Claude Code has no option for the temperature and uses its own. Remit passes `max_tokens` to Claude Code
    and opencode, and `temperature` to opencode. Codex and Gemini CLI have no option for either.

    Bad: `temperature: 0.2` in `.claude/agents/planner.md`, and the results vary more than expected

    Good: the same in `.opencode/agent/subagents/planner.md`
    """
    document = case.document
    if is_absent(case.get("temperature")) or not is_read_by_claude(document.path):
        return
    yield AgentViolation("Claude Code has no setting for the temperature: it isn't passed on",
                         "Run the agent with opencode if the temperature matters.", document.span_of("/temperature"),
                         "/temperature")  # fmt: skip


# --- the timeout -----------------------------------------------------------------------------------------------------

_DURATION = lazy(
    r"(?:(?P<hours>\d{1,6}(?:\.\d{1,3})?)\s{0,3}(?:hours|hour|hrs|hr|h)\b)?,?\s{0,3}"
    r"(?:(?P<minutes>\d{1,6}(?:\.\d{1,3})?)\s{0,3}(?:minutes|minute|mins|min|m)\b)?,?\s{0,3}"
    r"(?:(?P<seconds>\d{1,9}(?:\.\d{1,3})?)\s{0,3}(?P<unit>seconds|second|secs|sec|s)?)?\Z",
    re.ASCII,
)
_MILLISECONDS = lazy(r"(?P<number>\d{1,12})\s{0,3}(?:milliseconds|millis|ms)\Z", re.ASCII)
_ENDLESS = frozenset({
    "none", "unlimited", "never", "infinite", "infinity", "inf", "no", "off", "false", "disabled", "no limit",
    "endless",
})  # fmt: skip


class _Timeout(NamedTuple):
    """What a timeout says."""

    state: Literal["missing", "number", "text", "endless", "odd"]
    seconds: float = 0


def _read_timeout(value: Any) -> _Timeout:  # noqa: ANN401 - any YAML value
    if is_absent(value):
        return _Timeout("missing")
    if isinstance(value, str):
        text = value.strip().lower()
        seconds = _read_duration(text)
        if text in _ENDLESS or seconds == 0:
            return _Timeout("endless")
        return _Timeout("text", seconds) if seconds else _Timeout("odd")
    if value in (False, 0, -1, math.inf):
        return _Timeout("endless")
    return _Timeout("number", value) if is_number(value) and value > 0 else _Timeout("odd")


def _read_duration(text: str) -> float | None:
    """Seconds of a text such as 90, 30m, 1h30m or 2 hours; None where it is no such text."""
    if found := _MILLISECONDS.match(text):
        return _tidy(int(found["number"]) / 1000)
    text = re.sub(r"(?<=[hms])(?=\d)", " ", text[:60])  # 1h30m has no end of a word after its h
    found = _DURATION.match(text)
    if found is None or not any(found.groups()):
        return None
    if found["seconds"] and not found["unit"] and (found["hours"] or found["minutes"]):
        return None  # 1h30 says thirty of what?
    parts = (float(found[unit] or 0) * size for unit, size in (("hours", 3600), ("minutes", 60), ("seconds", 1)))
    return _tidy(sum(parts))


def _tidy(seconds: float) -> float:
    return int(seconds) if seconds == int(seconds) else round(seconds, 3)


@agent_rule("AGT036", fix="safe")
def timeout_invalid(case: AgentFileContext) -> Iterator[AgentViolation]:
    """The timeout isn't a number of seconds.

    Why: a timeout that can't be parsed has no effect.

    Bad: `timeout: 30m`

    Good: `timeout: 1800`

    Fix (safe): writes 30m, 1h or "1800" as seconds.
    """
    document, value = case.document, case.get("timeout")
    found = _read_timeout(value)
    if found.state not in ("text", "odd"):
        return
    seconds = repr(found.seconds) if found.seconds else ""
    yield AgentViolation(f"the timeout is {show(value)}, expected a number of seconds",
                         f"Write {seconds or 'seconds, such as 1800'}.", document.span_of("/timeout"), "/timeout",
                         edits=edits.replace_value(document, "/timeout", seconds) if seconds else ())  # fmt: skip


@agent_rule("AGT037", fix="unsafe")
def timeout_unlimited(case: AgentFileContext) -> Iterator[AgentViolation]:
    """The timeout sets no limit.

    Why: an agent that hangs blocks all its callers, and they can't tell whether it still works.

    Bad: `timeout: 0`, `timeout: none`

    Good: `timeout: 3600`

    Fix (unsafe): writes the default for the agent's type: 3600 seconds for research and review, 1800 for planning,
    7200 for implementation, 300 for a utility.
    """
    document, value = case.document, case.get("timeout")
    if _read_timeout(value).state == "endless":
        limit = get_limit_s(document)
        yield AgentViolation(f"the timeout {show(value)} sets no limit", f"Write seconds, such as {limit}.",
                             document.span_of("/timeout"), "/timeout",
                             edits=edits.replace_value(document, "/timeout", str(limit)))  # fmt: skip


@agent_rule("AGT038", severity="warning", fix="unsafe")
def timeout_too_long(case: AgentFileContext) -> Iterator[AgentViolation]:
    """The timeout is longer than the default for agents of this type.

    Why: an agent that hangs is noticed later, and its callers may have timed out before. Defaults are 3600 seconds
    for research and review, 1800 for planning, 7200 for implementation, 300 for a utility.

    Bad: `timeout: 7200` with `agent_type: planning`

    Good: `timeout: 1800`

    Fix (unsafe): writes the default, or a thousandth of the value if it was probably meant as milliseconds.
    """
    document = case.document
    kind, found = get_kind(document), _read_timeout(case.get("timeout"))
    if kind is None or found.state != "number" or found.seconds <= TIMEOUTS_S[kind]:
        return
    limit = TIMEOUTS_S[kind]
    is_milliseconds = found.seconds % 1000 == 0 and 10 <= found.seconds // 1000 <= limit  # noqa: PLR2004 - seconds
    better = int(found.seconds // 1000) if is_milliseconds and found.seconds >= 10 * limit else limit
    told = "It looks like milliseconds" if better != limit else f"The default is {limit}"
    yield AgentViolation(f"the timeout of {show(found.seconds)} seconds is longer than the {limit} of {kind} agents",
                         f"{told}: write {better}, or ignore this diagnostic if the agent needs longer.",
                         document.span_of("/timeout"), "/timeout",
                         edits=edits.replace_value(document, "/timeout", str(better)))  # fmt: skip
