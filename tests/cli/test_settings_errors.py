"""Settings that cannot be followed: whatever is at work can still be seen, waited for and ended."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING

import pytest

from tests.support.commands import load
from tests.support.program_runs import detach

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from remit.testing.agent import ScriptedAgent
    from tests.support.commands import Inside, Remit

pytestmark = pytest.mark.usefixtures("repository")

BROKEN = {
    "this is not TOML\n": "remit.toml",
    "[runners.mine]\nmodel = 'large'\n": "[runners.mine] has neither command nor entry",
    "[limits]\nrunning = 'many'\n": "remit.toml",
}


@pytest.mark.slow
@pytest.mark.thorough("limits", "mine")
@pytest.mark.parametrize(("settings", "told"), BROKEN.items())
def test_work_can_be_seen_and_ended(
    remit: Remit, agent: ScriptedAgent, tmp_path: Path, settings: str, told: str
) -> None:
    session = detach(remit, agent.says("I am here.\n").hangs(), until="hung")
    (tmp_path / "remit.toml").write_text(settings)
    assert remit("run", "More.", "--command", "true").code == 2
    assert load(remit("show", session, "--json"))
    listed, drawn = remit("ps", "--json"), remit("ps", "--tree", session, "--json")
    assert json.loads(listed.out)
    assert json.loads(drawn.out)
    shown = remit("logs", session)
    assert (shown.code, "I am here." in shown.text) == (0, True)
    waited = remit("wait", session, "--timeout", "0.1")
    assert (waited.code, "isn't finished" in waited.text) == (1, True)
    cancelled = remit("cancel", session)
    assert cancelled.code == 0
    for ended in (listed, drawn, shown, waited, cancelled):
        warning = ended.err.decode()
        assert warning.startswith("warning: ")
        assert told in warning
        assert "; the default settings apply until this is fixed\nhint: " in warning
        assert warning.count("\n") == 2
    assert remit("ps", "--json").out == b'{"items":[],"total":0}\n'
    assert agent.list_living() == []


@pytest.mark.parametrize("make", [os.mkfifo, os.mkdir, lambda path: path.symlink_to("nowhere")])
def test_settings_that_are_no_file_are_not_left_out_in_silence(inside: Inside, make: Callable[[Path], None]) -> None:
    make(inside.folder / "remit.toml")
    for words in (("run", "Do it", "--command", "true"), ("status",), ("lint",)):
        ended = inside(*words)
        assert ended.code == 2
        assert ended.complaint.endswith("/remit.toml isn't a file; move it away, or put the settings there")
