"""Supervisors are killed, and histories are random: nothing is lost and nothing is done twice. `make torture` does more."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

import pytest

from tests.support.paths import ROOT
from tests.support.sample_sizes import choose


def torture(script: str, *options: str) -> Any:  # noqa: ANN401 - what the script says, as JSON
    command = [sys.executable, str(ROOT / "torture" / script), "--json", *options]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.stdout, done.stderr
    return json.loads(done.stdout)


@pytest.mark.slow
@pytest.mark.thorough("1")
@pytest.mark.parametrize("recoverers", [1, 2])
def test_no_agent_is_lost_or_run_twice_where_its_broker_is_killed(recoverers: int) -> None:
    (report,) = torture(
        "supervisors.py", "--agents", "8", "--kills", "1", "--slowest", "1", "--recoverers", str(recoverers)
    )
    assert report["complaints"] == []
    assert (report["lost"], report["doubled"]) == (0, 0)
    assert report["living"] == 8
    assert report["kills"][1] >= 1
    assert report["took_over"] >= 8


@pytest.mark.slow
@pytest.mark.thorough
def test_every_random_history_ends_as_the_model_says() -> None:
    total = choose(24, 200)
    report = torture("histories.py", "--histories", str(total))
    assert report["complaints"] == []
    assert report["histories"] == total
    assert report["delegations"] > 2.5 * total
    assert report["pairs"] > total // 4
    endings = {"exited completed", "cancelled failed", "orphaned partial", "timeout partial", "crashed failed"}
    assert endings <= report["endings"].keys()


@pytest.mark.slow
@pytest.mark.thorough
def test_a_broken_recovery_is_found_out() -> None:
    """If it were not, the test above would prove nothing."""
    assert torture("histories.py", "--histories", "20", "--control")["complaints"]
