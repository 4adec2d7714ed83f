"""Rules on `data`: the payload of a return, which a schema of the user describes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from remit.model import DATA
from remit.returns.rules.register import ReturnViolation, return_rule

if TYPE_CHECKING:
    from collections.abc import Iterator

    from remit.returns.parsed_message import ParsedMessage


@return_rule("RET110")
def data_missing(parsed: ParsedMessage) -> Iterator[ReturnViolation]:
    """The work is completed, and the return has no `data`, which a schema asks for.

    Why: the caller uses `data` and reads no text. Work that isn't completed may have no data yet, so `partial`,
    `failed` and `blocked` returns may leave it out.

    Bad: `{"status": "completed", "summary": "Found 2 problems.", …}` from an agent with `data_schema: review.json`

    Good: `{"status": "completed", "data": {"verdict": "changes", "places": ["src/a.py:12"]}, …}`
    """
    payload = parsed.payload or {}
    if parsed.expectation.data is not None and DATA not in payload and parsed.status in ("completed", None):
        yield ReturnViolation(f"{DATA} is missing", f"Add {DATA}: a value that fits its schema.", f"/{DATA}")


@return_rule("RET111")
def data_breaks_schema(parsed: ParsedMessage) -> Iterator[ReturnViolation]:
    """A place in `data` breaks the schema that the agent was given.

    Why: a program reads `data`, so a value of another form is an error there. Remit converts nothing. The schema comes
    from the agent's file, `[agents.NAME] schema`, `--schema`, or the call.

    Bad: `"data": {"verdict": "looks fine"}`, with `{"properties": {"verdict": {"enum": ["approve", "changes"]}}}`

    Good: `"data": {"verdict": "approve"}`
    """
    payload, schema = parsed.payload or {}, parsed.expectation.data
    for problem in schema.find_problems(payload[DATA]) if schema is not None and DATA in payload else ():
        hint = "Change it to fit the schema."
        if parsed.status not in ("completed", None):
            hint = f"Change it to fit the schema, or leave {DATA} out."
        yield ReturnViolation(f"{problem.pointer[1:]} breaks its schema: {problem.message}", hint, problem.pointer)
