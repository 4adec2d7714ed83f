"""Downgrades a result whose files did not all arrive: it gets an agent error and is `partial` at best."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from remit.model import ERROR_CODES, AgentError
from remit.runs.results.build_return import write_return

if TYPE_CHECKING:
    from collections.abc import Sequence

    from remit.result import Result
    from remit.runs.judging.conclusion import Conclusion

_MAX_NAMED = 5
"""The most files that a message names."""


def name_files(paths: Sequence[str]) -> str:
    """Return files for a message: the first few, and the number of the others."""
    more = f" and {len(paths) - _MAX_NAMED} more" if len(paths) > _MAX_NAMED else ""
    return ", ".join(paths[:_MAX_NAMED]) + more


def downgrade_to_partial(
    report: Result, conclusion: Conclusion, message: str, advice: str
) -> tuple[Result, Conclusion]:
    """Return the result and conclusion with an agent error, and with `partial` instead of `completed`."""
    status: Any = "partial" if conclusion.status == "completed" else conclusion.status
    error = AgentError("execution", message, ERROR_CODES["execution"], recoverable=True, recommendation=advice)
    steps = (advice, *conclusion.next_steps)
    report = report._replace(status=status, errors=(error, *report.errors), next_steps=steps)
    conclusion = conclusion._replace(
        status=status, errors=(error, *conclusion.errors), next_steps=steps, made=(),
        lowered=conclusion.lowered or status != conclusion.status,
    )  # fmt: skip
    return write_return(report), conclusion
