"""Error logs as they are found: Remit's own, and those of other tools."""

from __future__ import annotations

import json
from typing import Any

from remit.errorlog.records import ErrorRecord

NOW_MS = 1_786_349_061_492
NOW = "2026-08-10T08:04:21.492Z"

TIMEOUT = ErrorRecord(
    "timeout",
    "no answer from planner for task 17 after 1800 s",
    "TIMEOUT",
    session_id="sess_1786342011_a1b2c3",
    command="/plan",
    task_number=17,
    phase=2,
    path=("orchestrator", "plan", "planner"),
    depth=2,
    suggested_action="Run /plan 17 again.",
    auto_recoverable=True,
)

FOREIGN = """{
  "_schema_version": "1.0.0",
  "_last_updated": "2026-01-15T18:35:00Z",
  "_comment": "kept by hand, too",
  "errors": [
    {
      "id": "err_1736969700000",
      "timestamp": "2026-01-15T18:35:00Z",
      "type": "git_commit_failure",
      "message": "nothing to commit",
      "weight": 1.50e1, "context": {"task": 510, "checkpoint": "COMMIT"},
      "fix_status": "unfixed"
    }
  ],
  "aggregations": {"by_type": {}}
}
"""
"""Another tool's: its own keys, its own layout, its own spelling of numbers."""


def make_entry(number: int, **changes: Any) -> dict[str, Any]:  # noqa: ANN401 - any JSON value
    """An entry of another tool."""
    return {
        "id": f"err_{number}",
        "timestamp": f"2026-01-{number % 28 + 1:02}T00:00:00Z",
        "type": "execution",
        "message": f"step {number} went wrong",
        "fix_status": "unfixed",
    } | changes


def make_log(count: int) -> str:
    """A log with so many entries of different causes."""
    entries = [
        make_entry(number, message=f"cause {chr(97 + number % 26)}{'x' * (number // 26)}") for number in range(count)
    ]
    return json.dumps({"errors": entries}, indent=2) + "\n"
