"""`remit wait` for several: one that cannot be waited for is told, and the others are shown."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from remit.ledger.home import Home
from remit.testing.agent import ScriptedAgent
from tests.support.commands import load

if TYPE_CHECKING:
    from pathlib import Path

    from tests.support.commands import Inside, Remit

pytestmark = pytest.mark.usefixtures("repository")


@pytest.fixture
def remit(inside: Inside) -> Inside:
    """Nothing here is about how a process begins or ends."""
    return inside


@pytest.mark.slow
def test_one_whose_report_is_gone_costs_no_other_its_result(
    remit: Remit, tmp_path: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    agent = ScriptedAgent(tmp_path_factory.mktemp("agents")).obeys()
    run = ("run", "Write a report.", "--command", agent.command, "--json")
    good, bad = (load(remit(*run))["remit"]["session_id"] for _ in range(2))
    home = Home(str(tmp_path))
    with home.ledger.transaction() as db:
        removed = db.execute("DELETE FROM texts WHERE session_id = ? AND kind = 'report'", (bad,))
        assert removed.rowcount == 1
    home.close()
    shown = remit("wait", good, bad)
    assert shown.code > 0
    assert b"completed" in shown.out
    assert bad in shown.err.decode()
    told = remit("wait", bad, good, "--json")
    first, second = json.loads(told.out)["items"]
    assert (first["session_id"], first["status"], first["finished"]) == (bad, None, False)
    assert bad in first["error"]["message"]
    assert second["status"] == "completed"
    alone = remit("wait", bad)
    assert (alone.code, alone.out, bad in alone.err.decode()) == (shown.code, b"", True)


def test_a_run_that_had_finished_before_is_reported_as_such(
    remit: Remit, tmp_path_factory: pytest.TempPathFactory
) -> None:
    agent = ScriptedAgent(tmp_path_factory.mktemp("agents")).obeys()
    session = load(remit("run", "Write a report.", "--command", agent.command, "--json"))["remit"]["session_id"]
    waited = remit("wait", "-")
    assert waited.err.decode() == f"{session} had already finished\n"
    assert b"completed" in waited.out
    cancelled = remit("cancel", "-")
    assert cancelled.err.decode() == f"nothing was cancelled: {session} had already finished\n"
