"""The use cases: one function for each thing that a user can ask for.

Owns the joining of rooms: it reads from disk what the pure rooms want as values, and hands it to them. Doors call
this; only the hook, which pays for every module, and what shows the ledger's rows ask the rooms below themselves.
A module per matter; its names are resolved when they are first used.
"""

from __future__ import annotations

TYPE_CHECKING = False  # typing itself would cost 6 ms
if TYPE_CHECKING:
    from remit.agents.drawing import draw_tree, shape_graph
    from remit.app.agent_files import (
        Asked,
        Change,
        Linted,
        draw_graph,
        fix,
        lint,
        load_agent_text,
        load_graph,
        take_agent_stamps,
    )
    from remit.app.explanations import Codes, Explanation, explain, explain_all, find_codes
    from remit.app.health import Check, Health, check_health
    from remit.app.making import CompiledFile, Migrated, compile_agents, migrate_agents, new
    from remit.app.manifests import find_manifest, validate_manifest
    from remit.app.messages import SCHEMAS, Conversion, check, convert, instructions, load_message, schema
    from remit.app.overview import Overview, TaskOverview, look_over
    from remit.app.setup import PlannedFile, Setup, Survey, plan_setup, write_setup
    from remit.app.tasks import CheckedTasks, check_sync
    from remit.app.trusting import Executing, Trust, check_trust, get_executing, get_trust, give_trust, revoke_trust
    from remit.app.upkeep import Cleared, clear_up
    from remit.workspace.trust import list_trusted

_HOMES = {
    "remit.agents.drawing": ("draw_tree", "shape_graph"),
    "remit.app.agent_files": ("Asked", "Change", "Linted", "draw_graph", "fix", "lint", "load_agent_text", "load_graph",
                              "take_agent_stamps"),
    "remit.app.explanations": ("Codes", "Explanation", "explain", "explain_all", "find_codes"),
    "remit.app.health": ("Check", "Health", "check_health"),
    "remit.app.making": ("CompiledFile", "Migrated", "compile_agents", "migrate_agents", "new"),
    "remit.app.manifests": ("find_manifest", "validate_manifest"),
    "remit.app.messages": ("SCHEMAS", "Conversion", "check", "convert", "instructions", "load_message", "schema"),
    "remit.app.overview": ("Overview", "TaskOverview", "look_over"),
    "remit.app.setup": ("PlannedFile", "Setup", "Survey", "plan_setup", "write_setup"),
    "remit.app.tasks": ("CheckedTasks", "check_sync"),
    "remit.app.trusting": ("Executing", "Trust", "check_trust", "get_executing", "get_trust", "give_trust",
                           "revoke_trust"),
    "remit.app.upkeep": ("Cleared", "clear_up"),
    "remit.workspace.trust": ("list_trusted",),
}  # fmt: skip

__all__ = [
    "SCHEMAS",
    "Asked",
    "Change",
    "Check",
    "CheckedTasks",
    "Cleared",
    "Codes",
    "CompiledFile",
    "Conversion",
    "Executing",
    "Explanation",
    "Health",
    "Linted",
    "Migrated",
    "Overview",
    "PlannedFile",
    "Setup",
    "Survey",
    "TaskOverview",
    "Trust",
    "check",
    "check_health",
    "check_sync",
    "check_trust",
    "clear_up",
    "compile_agents",
    "convert",
    "draw_graph",
    "draw_tree",
    "explain",
    "explain_all",
    "find_codes",
    "find_manifest",
    "fix",
    "get_executing",
    "get_trust",
    "give_trust",
    "instructions",
    "lint",
    "list_trusted",
    "load_agent_text",
    "load_graph",
    "load_message",
    "look_over",
    "migrate_agents",
    "new",
    "plan_setup",
    "revoke_trust",
    "schema",
    "shape_graph",
    "take_agent_stamps",
    "validate_manifest",
    "write_setup",
]


def __getattr__(name: str) -> object:
    from importlib import import_module  # noqa: PLC0415 - only once a name is used

    home = next((home for home, names in _HOMES.items() if name in names), None)
    if home is None:
        raise AttributeError(f"module 'remit.app' has no attribute {name!r}")
    return getattr(import_module(home), name)
