"""The options of a delegation: a type checker knows them, and so does Remit."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, assert_type

import pytest

from remit.errors import UsageError
from remit.result import Result
from remit.runs.admission.limits import Budget
from remit.runs.request import Request, RequestOptions
from remit.runs.workspace import Workspace

if TYPE_CHECKING:
    from collections.abc import Coroutine
    from pathlib import Path

OWN = {
    "agent", "prompt", "awaited", "task", "kind", "lifecycle", "artifact_path", "answers", "phase", "working", "outside", "handed",
    "topic", "resume_of", "harness_id", "retry_of", "batch",
}  # fmt: skip
"""The fields of a request that nobody gives as an option: its own words, and what Remit fills in itself."""


@pytest.fixture
def ws(tmp_path: Path) -> Workspace:
    """A workspace that is never written to."""
    (tmp_path / ".git").mkdir()
    return Workspace.open(tmp_path)


def test_every_field_of_a_request_is_an_option_or_its_own() -> None:
    options = RequestOptions.__annotations__.keys()
    assert not options & OWN
    assert options | OWN == {*Request._fields}


async def _check_types(ws: Workspace) -> None:
    """Nobody runs this: a mark below that is not needed is an error of the type checker, and so is one that lacks."""
    options: RequestOptions = {"inputs": {"topic": "caches"}, "timeout_s": 600, "budget": Budget(max_turns=3)}
    assert_type(await ws.delegate("writer", "Write.", **options), Result)
    await ws.delegate("writer", "Write.", function=str.upper, worktree=True, evidence=True, reasks=0)
    await ws.work("plan", 3, command="my-agent --json", commits=False)
    await ws.delegate("writer", "Write.", timeout_s="soon")  # type: ignore[arg-type]
    await ws.delegate("writer", "Write.", colour="red")  # type: ignore[call-arg]
    await ws.delegate("writer", "Write.", resume_of="sess_1_abcdef")  # type: ignore[call-arg]
    await ws.work("plan", 3, function="package:run")  # type: ignore[arg-type]


def test_what_is_no_option_is_refused_with_those_that_are(ws: Workspace) -> None:
    calls: list[Coroutine[object, object, object]] = [
        ws.delegate("writer", "Write.", resume_of="sess_1_abcdef"),  # type: ignore[call-arg]
        ws.work("plan", 3, resume_of="sess_1_abcdef"),  # type: ignore[call-arg]
    ]
    for call in calls:
        with pytest.raises(UsageError, match="there is no option resume_of") as caught:
            asyncio.run(call)
        assert "timeout_s" in caught.value.hint
        assert "harness_id" not in caught.value.hint
