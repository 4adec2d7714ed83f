"""What is shown of delegations while they run: read from the ledger, short, and nothing of an agent's that steers."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from inline_snapshot import snapshot

from remit.cli import live
from remit.cli.live import Lines, Screen, Silent, Tree, make_display, render_clock, render_state
from remit.ledger.events import add_event
from remit.ledger.home import Home
from remit.ledger.runs import Run, add_run, advance
from remit.runs.progress import ProgressReader

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


NOW_MS = 1_800_000_000_000


@pytest.fixture(autouse=True)
def _clock(monkeypatch: pytest.MonkeyPatch) -> None:
    """Time that does not go on while a test is waited for."""
    monkeypatch.setattr("remit.cli.live.time.time", lambda: NOW_MS / 1000)


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Home]:
    home = Home(str(tmp_path))
    yield home
    home.close()


def begin(home: Home, name: str, *, parent: str | None = None, root: str = "one", created_ms: int = 0) -> None:
    row = Run(
        name, f"agent-{name}", 1, ("orchestrator",), parent_id=parent, root_id=root, created_ms=created_ms or NOW_MS
    )
    add_run(home.ledger, row)
    with home.ledger.transaction() as db:
        advance(db, name, "running", started_ms=NOW_MS - 65_000, deadline_ms=NOW_MS + 235_000)


def note(home: Home, name: str, kind: str, **details: object) -> None:
    with home.ledger.transaction() as db:
        add_event(db, kind, details, session_id=name)


def test_each_stands_under_the_one_that_called_it(home: Home) -> None:
    for at, (name, parent) in enumerate([("one", None), ("two", "one"), ("three", "two"), ("four", "one")], 1):
        begin(home, name, parent=parent, created_ms=at)
    begin(home, "other", root="other")
    seen = ProgressReader(home, "one").read()
    assert [(each.row.session_id, each.level) for each in seen] == [("one", 0), ("two", 1), ("three", 2), ("four", 1)]
    assert [each.row.session_id for each in ProgressReader(home, "two").read()] == ["two", "three"]
    assert ProgressReader(home, "nobody").read() == []


def test_the_last_that_was_heard_is_told(home: Home) -> None:
    begin(home, "one")
    following = ProgressReader(home, "one")
    assert render_state(following.read()[0]) == snapshot("running  1:05 of 5:00")
    note(home, "one", "progress", activity="reading\x1b[2J\n the  tests", tokens=1200, cost_usd=0.031)
    assert render_state(following.read()[0]) == snapshot(
        "running  1:05 of 5:00  1,200 tokens  $0.03  reading<U+001B>[2J<U+000A> the tests"
    )
    note(home, "one", "idle", seconds=61)
    assert "no output for 1:01" in render_state(following.read()[0])
    note(home, "one", "progress", activity="writing", tokens=None, cost_usd=None)
    assert render_state(following.read()[0]) == snapshot("running  1:05 of 5:00  writing")


def test_a_running_check_is_named_with_its_time(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    begin(home, "one")
    following = ProgressReader(home, "one")
    note(home, "one", "progress", activity="writing", tokens=None, cost_usd=None)
    monkeypatch.setattr("remit.ledger.events.read_clock_ms", lambda: NOW_MS - 12_000)
    note(home, "one", "check", check="tests\x1b[2J", state="started", attempt=1)
    assert render_state(following.read()[0]) == snapshot("running  1:05 of 5:00  running check tests<U+001B>[2J (12 s)")
    note(home, "one", "check", check="tests", state="failed", attempt=1, duration_ms=12_000)
    assert render_state(following.read()[0]) == snapshot("running  1:05 of 5:00  writing")
    note(home, "one", "check", check="lint", state="started", attempt=1)
    with home.ledger.transaction() as db:
        advance(db, "one", "finished", ended_ms=NOW_MS, status="completed", stop_reason="exited")
    assert render_state(following.read()[0]) == snapshot("completed  1:05")


def test_what_is_over_says_how(home: Home) -> None:
    begin(home, "one")
    with home.ledger.transaction() as db:
        advance(db, "one", "finished", ended_ms=NOW_MS, status="completed", stop_reason="exited", tokens=7)
    assert render_state(ProgressReader(home, "one").read()[0]) == snapshot("completed  1:05  7 tokens")


def test_a_log_gets_a_line_now_and_then(
    home: Home, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    begin(home, "one")
    begin(home, "two", parent="one")
    watch = Lines(ProgressReader(home, "one"))
    watch.update()
    assert capsys.readouterr().err == ""
    monkeypatch.setattr(live, "REPORT_INTERVAL_S", 0.0)
    watch.update()
    out, err = capsys.readouterr()
    assert (out, err) == ("", "two: agent-two  running  1:05 of 5:00\n")


def test_a_log_hears_once_and_at_once_why_it_does_not_begin(home: Home, capsys: pytest.CaptureFixture[str]) -> None:
    add_run(home.ledger, Run("one", "planner", 1, ("orchestrator",), root_id="one", created_ms=NOW_MS))
    watch = Lines(ProgressReader(home, "one"))
    watch.update()
    assert capsys.readouterr().err == ""
    for _ in range(2):
        note(home, "one", "progress", activity="no workers found: start one with `remit worker start`")
        watch.update()
    assert capsys.readouterr().err == snapshot(
        "one: planner is queued; no workers found: start one with `remit worker start`\n"
    )


def test_no_line_is_wider_and_no_tree_higher_than_the_terminal(
    home: Home, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    begin(home, "one")
    for number in range(20):
        begin(home, f"child-{number}", parent="one")
    note(home, "one", "progress", activity="looking at a great many things " * 9, tokens=1, cost_usd=1)
    monkeypatch.setattr(Screen, "get_size", staticmethod(lambda: (50, 10)))
    Tree(ProgressReader(home, "one")).update()
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 8
    assert lines[-1] == snapshot("  … and 14 more: remit ps --tree")
    assert max(map(len, lines)) < 50


def test_who_watches_decides_what_is_shown(home: Home) -> None:
    following = ProgressReader(home, "one")
    assert isinstance(make_display(following, output_format="json"), Silent)
    assert isinstance(make_display(following, output_format="full"), Lines)  # no terminal here


@pytest.mark.parametrize(
    ("seconds", "text"), [(-1, "0:00"), (9.9, "0:09"), (75, "1:15"), (3600, "1:00:00"), (86399, "23:59:59")]
)
def test_a_clock(seconds: float, text: str) -> None:
    assert render_clock(seconds) == text
