"""The delegation path that a return gives, beside the one that the ledger has."""

import json

import pytest

from remit.model import Expectation
from remit.returns import check


@pytest.mark.parametrize(
    ("known", "given", "is_told"),
    [
        (("orchestrator", "research", "researcher"), ["orchestrator", "research", "researcher"], False),
        (("orchestrator", "research", "researcher"), ["orchestrator", "research-command", "researcher"], False),
        (("orchestrator", "research", "researcher"), ["orchestrator", "/research", "researcher"], False),
        (("orchestrator", "research", "researcher"), ["orchestrator", "researcher"], False),
        (("orchestrator", "researcher"), ["orchestrator", "research", "researcher"], False),
        (("orchestrator", "research", "researcher"), ["orchestrator", "plan", "researcher"], True),
        (("orchestrator", "research", "researcher"), ["orchestrator", "research", "planner"], True),
        (("orchestrator", "researcher"), ["orchestrator", "a", "b", "researcher"], True),
        (("orchestrator", "researcher"), ["researcher"], True),
        (("orchestrator", "researcher"), [], True),
    ],
)
def test_the_command_is_accepted_in_the_forms_of_the_standards(
    known: tuple[str, ...], given: list[str], *, is_told: bool
) -> None:
    """D14."""
    expectation = Expectation(session_id="sess_1_abcdef", agent=known[-1], depth=1, path=known)
    metadata = {"session_id": "sess_1_abcdef", "duration_seconds": 1, "agent_type": known[-1], "delegation_depth": 1,
                "delegation_path": given}  # fmt: skip
    sent = {"status": "completed", "summary": "It is done. It was checked.", "artifacts": [], "metadata": metadata}
    verdict = check(json.dumps(sent), expectation=expectation)
    assert ("RET044" in [each.code for each in verdict.diagnostics]) is is_told
