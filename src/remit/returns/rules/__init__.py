"""Rules: what Remit has to say about a return. A module per subject; each registers its rules when it is loaded."""

from __future__ import annotations

from remit.returns.rules import artifacts, errors, hyper, identity, manifest, parsing, shape, summary  # noqa: F401 - loading them registers their rules
from remit.returns.rules.register import (
    RETURN_RULES,
    ParseIssue,
    ParseIssueKind,
    ReturnContext,
    ReturnRule,
    name_verdict,
    run_return_rules,
)

__all__ = [
    "RETURN_RULES",
    "ParseIssue",
    "ParseIssueKind",
    "ReturnContext",
    "ReturnRule",
    "name_verdict",
    "run_return_rules",
]
