"""Rules: what Remit has to say about a return. A module per subject; each registers its rules when it is loaded."""

from __future__ import annotations

from remit.contract.rules import (  # noqa: F401 - loading them registers their rules
    artifacts,
    faults,
    hyper,
    identity,
    manifest,
    reading,
    shape,
    summary,
)
from remit.contract.rules.register import RULES, Case, Rule, Trouble, TroubleKind, judge_outcome, run_rules

__all__ = ["RULES", "Case", "Rule", "Trouble", "TroubleKind", "judge_outcome", "run_rules"]
