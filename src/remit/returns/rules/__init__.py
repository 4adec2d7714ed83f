"""The rules on returns, one module per subject. Each module registers its rules when it is imported."""

from __future__ import annotations

from remit.returns.rules import artifacts, data, fields, formats, identity, parsing  # noqa: F401 - importing them registers their rules
from remit.returns.rules.register import (
    RETURN_RULES,
    ParseIssue,
    ParseIssueKind,
    ReturnRule,
    ReturnViolation,
    name_verdict,
    run_return_rules,
)

__all__ = [
    "RETURN_RULES",
    "ParseIssue",
    "ParseIssueKind",
    "ReturnRule",
    "ReturnViolation",
    "name_verdict",
    "run_return_rules",
]
