"""Settings that change while Claude Code runs: a change that an agent may have made isn't loaded."""

from __future__ import annotations

import os
import sqlite3
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from pathlib import Path

    from tests.support.hook_session import Stage


@pytest.fixture
def settings(root: Path) -> Path:
    file = root / ".claude" / "settings.json"
    file.parent.mkdir()
    file.write_text("{}")
    return file


def tell(stage: Stage, file: Path, env: dict[str, str] | None = None, **more: object) -> dict[str, Any]:
    """Claude Code tells that a file of settings has changed; what Remit says to that."""
    return stage.send(stage.event("ConfigChange", source="project_settings", file_path=str(file), **more), env)


def is_kept(said: dict[str, Any]) -> bool:
    """Whether the session goes on with the settings that it had."""
    return said.get("decision") == "block"


def test_a_persons_own_change_is_taken_over(stage: Stage, settings: Path) -> None:
    assert tell(stage, settings) == {}


@pytest.mark.parametrize("agent", ["writer", "Explore"])
def test_while_an_agent_is_at_work_none_is(stage: Stage, settings: Path, agent: str) -> None:
    child = stage.call(agent)
    child.start()
    said = tell(stage, settings)
    assert is_kept(said)
    assert agent in said["reason"]
    assert said["systemMessage"].endswith(said["reason"])  # the person hears it, too


def test_nor_is_what_was_changed_just_before_its_end(stage: Stage, settings: Path) -> None:
    child = stage.call("writer")
    child.start()
    child.write("one.md")
    settings.write_text('{"disableAllHooks": true}')
    child.stop(child.report("one.md"))
    child.hand_over(child.report("one.md"))
    assert child.row.state == "finished"
    assert is_kept(tell(stage, settings))
    stage.change("UPDATE runs SET ended_ms = ended_ms - 60000, created_ms = created_ms - 60000")
    os.utime(settings)
    assert tell(stage, settings) == {}  # a minute later it is a person's


def test_when_it_changed_counts_however_late_it_is_told(stage: Stage, settings: Path) -> None:
    child = stage.call("writer")
    child.start()
    child.stop(child.report(status="partial"))
    child.hand_over(child.report(status="partial"))
    changed_ms = settings.stat().st_ctime_ns // 1_000_000
    span = (changed_ms - 60_000, changed_ms - 20_000)
    stage.change("UPDATE runs SET created_ms = ?, ended_ms = ?", *span)
    assert tell(stage, settings) == {}
    stage.change("UPDATE runs SET created_ms = ?, ended_ms = ?", changed_ms, changed_ms)
    assert is_kept(tell(stage, settings))


def test_agents_of_other_sessions_are_in_nobodys_way(stage: Stage, settings: Path) -> None:
    stage.call("writer").start()
    assert tell(stage, settings, session_id="00000000-0000-4000-8000-000000000002") == {}


def test_a_session_that_is_an_agents_takes_none_over(stage: Stage, settings: Path) -> None:
    assert is_kept(tell(stage, settings, agent_type="writer"))
    assert is_kept(tell(stage, settings, {"REMIT_TICKET": "x"}))
    assert tell(stage, settings, {"CLAUDE_CODE_ENTRYPOINT": "cli"}, agent_type="writer") == {}


def test_a_file_that_is_gone_or_nonsense_is_a_change_too(stage: Stage, settings: Path) -> None:
    settings.unlink()
    assert tell(stage, settings) == {}
    stage.call("writer").start()
    for name in (str(settings), "a\0b", 7, None):
        assert is_kept(stage.send(stage.event("ConfigChange", file_path=name)))


def test_where_nobody_can_tell_the_old_ones_are_kept(stage: Stage, settings: Path) -> None:
    stage.call("writer").start()
    (db,) = [sqlite3.connect(stage.root / ".remit" / "ledger.db")]
    db.execute("ALTER TABLE hook_runs RENAME TO lost")
    db.close()
    said = tell(stage, settings)
    assert is_kept(said)
    assert "couldn't determine" in said["reason"]
