"""The short form of the cluster's torture: each scene once, and small. `make cluster` plays the whole."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

import pytest

from tests.support.paths import ROOT
from tests.support.sample_sizes import IS_WHOLE
from torture.cluster import NO_POSTGRESQL, render
from torture.cluster_stage import Report, Span, count_at_once

DAILY = {"forged": 1}
"""What others do not show already, each with its size."""
WHOLE = {
    "limits": 3, "kill": 6, "freeze": 4, "database": 8, "roll": 8, "callers": 6, "trees": 2, "tickets": 6, "crowd": 2,
    "deep": 1, "spent": 1, "network": 8,
}  # fmt: skip


def torture(scene: str, size: int) -> Any:  # noqa: ANN401 - what the script says, as JSON
    command = [sys.executable, str(ROOT / "torture/cluster.py"), "--json", "--scene", scene, "--times", "1"]
    done = subprocess.run([*command, "--size", str(size)], capture_output=True, text=True, check=False)
    if done.returncode == NO_POSTGRESQL:
        pytest.skip(done.stdout.strip())
    assert done.stdout, done.stderr
    (report,) = json.loads(done.stdout)
    return report


@pytest.mark.slow
@pytest.mark.parametrize(("scene", "size"), [*DAILY.items(), *(WHOLE.items() if IS_WHOLE else ())])
@pytest.mark.thorough
def test_whatever_happens_nothing_is_lost_or_doubled(scene: str, size: int) -> None:
    report = torture(scene, size)
    assert report["complaints"] == []
    faults = {"network": "felt", "forged": "forged", "kill": "agents", "freeze": "taken over", "tickets": "tickets"}
    assert report["counts"][faults[scene]] > 0 if scene in faults else report["counts"]


def test_who_runs_at_once_is_counted() -> None:
    spans = [Span("a", 1, "x", "m1", 1, 3), Span("b", 1, "x", "m1", 2, 4), Span("c", 1, "x", "m2", 3, None)]
    assert count_at_once(spans, {("c", 1): 9}, lambda span: span.machine) == {"m1": 2, "m2": 1}
    assert count_at_once(spans, {("c", 1): 9}, lambda _: "all") == {"all": 2}


def test_reports_are_added_up_and_times_are_not() -> None:
    reports = [Report("kill", at, {"sessions": 2, "seconds": at}, ["lost"] * at, 1.0) for at in range(2)]
    assert render(reports) == "kill: 2 played, 1 bad, 2 s · 4 sessions, 1 seconds"
