"""A pair of files that agree."""

import json
from typing import Any

PROJECTS: list[dict[str, Any]] = [
    {"project_number": 12, "project_name": "export_button", "status": "planned", "priority": "high"},
    {"project_number": 13, "project_name": "login_page", "status": "not_started", "priority": "low"},
]
COMPLETED: list[dict[str, Any]] = [{"project_number": 7, "project_name": "parser", "completed": "2026-01-02"}]


def make_state(**changes: Any) -> str:  # noqa: ANN401 - any JSON value
    """A state.json, changed."""
    value = {"next_project_number": 14, "active_projects": PROJECTS, "completed_projects": COMPLETED, **changes}
    return json.dumps(value, indent=2) + "\n"


STATE = make_state()
TODO = """\
---
next_project_number: 14
---

# TODO

## High Priority

### 12. Export button
- **Effort**: 2 hours
- **Status**: [PLANNED]

**Description**: A button.

---

## Low Priority

### 13. Login page
- **Status**: [NOT STARTED]
"""
