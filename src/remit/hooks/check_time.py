"""The time of acceptance checks in hooks: what the checks of a workspace need, and how long installed hooks wait."""

from __future__ import annotations

from typing import TYPE_CHECKING

from remit.errors import RemitError
from remit.harnesses import claude

if TYPE_CHECKING:
    from collections.abc import Iterable

    from remit.hooks.settings_files import Hook
    from remit.ledger.home import Home

CHECKING = {
    "claude": (claude.BEFORE_TOOL, claude.AFTER_TOOL, claude.AGENT_STOP, claude.STOP),
    "codex": (claude.AGENT_STOP, claude.STOP),
}
"""The events at which a return is judged, for each harness with hooks in JSON. A tool of Claude Code may return."""
STOP_SECONDS, TOOL_SECONDS = 60, 10
"""How much longer than usual the hooks of every installation may take: what the harness waits, less a margin."""
MOST_SECONDS = 3600
"""The longest time for all checks of an event: a harness that waits looks as if it hung."""
_MARGIN_SECONDS = 30


def find_default(harness: str, event: str) -> int:
    """Return how many seconds the checks of an event may take if the hooks were installed without time for checks."""
    is_stop = event in (claude.AGENT_STOP, claude.STOP)
    return STOP_SECONDS if is_stop and harness in CHECKING else TOOL_SECONDS


def count_needed(home: Home) -> int:
    """Return the seconds that the checks of a workspace may take, with a margin; 0 if no hook runs any.

    Without readable settings it is 0: another check reports these.
    """
    from remit.hooks.roster import compile_roster
    from remit.runs.checks.definition import read_check

    try:
        roster = compile_roster(home)
    except RemitError:
        return 0
    named = [entry.checks for agents in roster.agents.values() for entry in agents.values()]
    named += [table.get("checks") or () for table in roster.tables.values()]
    if not roster.checks or not (any(named) or roster.hooks["main"] == "checks"):
        return 0
    return _MARGIN_SECONDS + round(sum(read_check(each).timeout_s for each in roster.checks.values()))


def choose_seconds(home: Home) -> int:
    """Return the seconds for checks with which hooks are installed; 0 if they need none."""
    return min(count_needed(home), MOST_SECONDS)


def find_installed(harness: str, hooks: Iterable[Hook], plugin: bytes = b"") -> int | None:
    """Return the seconds for checks that installed hooks give an agent that stops; None if there is no such hook."""
    from remit.hooks.install import find_plugin_seconds
    from remit.hooks.settings_files import read_check_seconds

    if plugin:
        return find_plugin_seconds(plugin) or TOOL_SECONDS
    found = [read_check_seconds(hook.command) for hook in hooks if hook.event == claude.AGENT_STOP]
    default = find_default(harness, claude.AGENT_STOP)
    return min((default if each is None else each for each in found), default=None)


def describe_shortage(harness: str, needed: int, installed: int | None) -> tuple[str, str]:
    """Return a sentence and a hint if the checks of a workspace may take longer than installed hooks wait."""
    if installed is None or needed <= installed:
        return "", ""
    what = f"the acceptance checks may take {needed:,} s"
    if installed >= MOST_SECONDS:
        hint = "lower `timeout` in [checks.NAME]"
        return f"{what}, and hooks wait at most {MOST_SECONDS:,} s: a check that is late is not run", hint
    sentence = f"{what}, and the hooks of {harness} wait {installed:,} s: a check that is late is not run"
    return sentence, f"run remit hooks install {harness} again"
