"""Every rule on a single file: loading this module registers them all."""

from __future__ import annotations

from remit.agents.rules import (  # noqa: F401 - loading them registers their rules
    claude,
    codex,
    command,
    context,
    delegation,
    failures,
    fields,
    inputs,
    keys,
    lifecycle,
    limits,
    opencode,
    outputs,
    permissions,
    reach,
    reading,
    scalars,
    sections,
    steps,
    tokens,
    work,
)
from remit.agents.rules.register import RULES, Case, Report, Rule, run_rules

__all__ = ["RULES", "Case", "Report", "Rule", "run_rules"]
