"""Every rule on a single file: loading this module registers them all."""

from __future__ import annotations

from remit.agents.rules import MODULES, load_rules
from remit.agents.rules.register import RULES, Case, Report, Rule, run_rules

__all__ = ["RULES", "Case", "Report", "Rule", "run_rules"]

for _profile in MODULES:
    load_rules(_profile)
