"""Rules on the schema of an agent's `data`, which the files of several harnesses name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from remit.agents.context import NO_SCHEMA, SCHEMA
from remit.agents.rules.field_table import show
from remit.agents.rules.register import AgentFileContext, AgentViolation, agent_rule
from remit.data_schema import check_schema
from remit.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterator

FOLDER = -1
"""The size that stands for a folder."""


@agent_rule("AGT161", profiles=("standard", "claude"))
def data_schema_invalid(case: AgentFileContext) -> Iterator[AgentViolation]:
    """The schema of the agent's `data` is missing, or isn't a JSON Schema.

    Why: Remit doesn't start an agent whose return it can't check. The schema is one JSON file below the workspace's
    root, or a table in the agent file, in draft 2020-12.

    Bad: `data_schema: schemas/reveiw.json`

    Good: `data_schema: schemas/review.json`
    """
    value, pointer = case.get("data_schema"), "/data_schema"
    if value is None:
        return
    place = case.document.span_of(pointer)
    if not isinstance(value, str):
        try:
            check_schema(value)
        except InputError as error:
            hint = f"{error.hint[:1].upper()}{error.hint[1:]}."
            yield AgentViolation(f"data_schema: {error.message}", hint, place, pointer)
        return
    size = case.sizes.get(SCHEMA, 0)
    if size is None or size == FOLDER:
        yield AgentViolation(f"the schema {show(value)} isn't a file below the workspace's root",
                             "Correct the path, or write the file.", place, pointer)  # fmt: skip
    elif size == NO_SCHEMA:
        yield AgentViolation(f"{show(value)} isn't a JSON Schema that Remit can check",
                             "Write it in draft 2020-12, with all its parts in one file.", place, pointer)  # fmt: skip
