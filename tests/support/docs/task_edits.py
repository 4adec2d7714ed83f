"""Changes to a pair of state.json and TODO.md, made where whoever reads an example would make them."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, NamedTuple

from remit.tasks.drift import check_drift
from remit.tasks.state import parse_state
from remit.tasks.todo import parse_todo

if TYPE_CHECKING:
    from tests.support.docs.rule_examples import Move


class Pair(NamedTuple):
    """Both files, which say the same of one task."""

    state: str = json.dumps({
        "next_project_number": 15,
        "active_projects": [
            {"project_number": 12, "project_name": "export_button", "status": "implementing", "priority": "high"}
        ],
    })  # fmt: skip
    todo: str = (
        "---\nnext_project_number: 15\n---\n# TODO\n\n### 12. Export button\n- **Status**: [IMPLEMENTING]\n"
        "- **Priority**: High\n"
    )

    def list_codes(self) -> list[str]:
        """What is told of them."""
        drift = check_drift(parse_state(self.state), parse_todo(self.todo))
        return [finding.code for finding in (*drift.in_state, *drift.in_todo)]


def place(move: Move, pair: Pair) -> Pair | None:
    """The files with a change in one of them; None where nobody could tell where to make it."""
    span = move.text
    if span.startswith("### "):
        return pair._replace(todo=_place_heading(move, pair.todo))
    if span.startswith("- **"):
        field = re.escape(span.partition(":")[0])
        return pair._replace(todo=re.sub(rf"^{field}: .*$", span, pair.todo, flags=re.MULTILINE))
    if span.startswith('"') and ":" in span:
        values = json.loads(pair.state)
        for key, value in json.loads(f"{{{span}}}").items():
            (values if key in values else values["active_projects"][0])[key] = value
        return pair._replace(state=json.dumps(values))
    if span.startswith("{"):
        return pair._replace(state=f'{{"next_project_number": 15, "active_projects": [{span}]}}')
    return None


def _place_heading(move: Move, todo: str) -> str:
    if move.verb == "drop":
        return todo.partition(move.text)[0]
    if move.verb == "add":
        return f"{todo}\n{move.text}\n- **Status**: [IMPLEMENTING]\n"
    return re.sub(r"^### .*$", move.text, todo, flags=re.MULTILINE)
