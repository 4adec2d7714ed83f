"""Confine settings: stores `[confine]` where hooks read it on every shell command.

Commands in a workspace get tickets if `[confine]` isn't off, and an agent has permissions that the kernel has to
enforce. A mode or a place that only a trusted workspace may set counts only if the user has trusted it.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from remit.errors import RemitError
from remit.hooks import command_tickets

if TYPE_CHECKING:
    from remit.hooks.compiled_agents import Roster, RosterEntry
    from remit.ledger.home import Home


def keep_confine_rules(home: Home, roster: Roster) -> None:
    """Keep what hooks need of `[confine]` and of this machine, or that commands get no tickets.

    An agent that is at work keeps its limits when the last agent file with permissions is gone.
    """
    rules = _render_rules(home, roster)
    if rules:
        command_tickets.keep_rules(home.root, rules)
    elif rules is None or not command_tickets.has_open(home.root):
        command_tickets.stop(home.root)


def _render_rules(home: Home, roster: Roster) -> str | None:
    """Return the rules as JSON; "" if no agent needs them; None if `[confine]` is off."""
    confine = dict(roster.confine)
    if (confine["mode"] == "off" or confine["write"] or not confine["judge"]) and not _is_trusted(home):
        confine |= {"mode": "auto" if confine["mode"] == "off" else confine["mode"], "write": [], "judge": True}
    if confine["mode"] == "off":
        return None
    entries = [entry for agents in roster.agents.values() for entry in agents.values()]
    if confine["mode"] != "require" and not any(map(_has_permissions, entries)):
        return ""
    from remit.confine import find_level

    level = find_level()
    has_network = level.has_no_network or confine["network"] == "all"
    reason = "" if level.has_files and has_network else "; ".join(level.reasons)
    if reason and confine["mode"] == "auto":
        return ""
    rules = {name: confine[name] for name in ("mode", "write", "network")} | {"reason": reason}
    rules["judge"] = confine["judge"] and level.has_judge
    return json.dumps(rules, separators=(",", ":"))


def _has_permissions(entry: RosterEntry) -> bool:
    return any(layer.get("allow") or layer.get("deny") or layer.get("unread") for layer in entry.layers)


def _is_trusted(home: Home) -> bool:
    from remit.runs.workspace_trust import check_trust
    from remit.storage.settings import load_settings

    try:
        check_trust(home.root, load_settings(home.root))
    except RemitError:
        return False
    return True
