"""Acceptance checks of a run on every surface: while they run, in the record of the run, and in reports."""

from __future__ import annotations

import asyncio
import json
import shlex
import subprocess
import sys
import threading
from typing import TYPE_CHECKING, Any

import pytest

from remit.ledger.home import Home
from remit.runs.agent_lookup import load_settings_or_usual
from remit.runs.request import Request
from remit.runs.workspace import Workspace
from remit.views.checks import describe_event
from remit.views.logs import RunLog
from remit.views.report.html import render_html
from remit.views.report.markdown import render_markdown
from remit.views.report.record import load_run_report
from remit.views.run_details import load_record, load_run_details
from remit.views.run_list import list_runs
from remit.views.run_snapshots import list_snapshots
from tests.support.commands import Remit
from tests.support.waiting import wait_until

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from remit.result import Result

AGENT = """
import json, pathlib, re, sys
prompt = sys.stdin.read()
session = re.search(r"sess_\\d+_\\w+", prompt).group()
done = pathlib.Path("out.txt")
done.write_text((done.read_text() if done.exists() else "") + "x")
print(json.dumps({
    "status": "completed", "summary": "The file is written. It has one letter more.",
    "artifacts": [{"type": "implementation", "path": "out.txt", "summary": "The letters."}],
    "metadata": {"session_id": session, "duration_seconds": 1, "agent_type": "writer", "delegation_depth": 1,
                 "delegation_path": ["orchestrator", "writer"]},
}))
"""
FAILS = "printf 'one\\033[31mtwo <b>\\n'; exit 3"


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    place = tmp_path / "project"
    place.mkdir()
    monkeypatch.chdir(place)
    for name in ("REMIT_TICKET", "REMIT_SESSION_ID"):
        monkeypatch.delenv(name, raising=False)
    subprocess.run(["git", "init", "-q", str(place)], check=True)
    (place / "agent.py").write_text(AGENT)
    return place


@pytest.fixture
def home(root: Path) -> Iterator[Home]:
    opened = Home(str(root))
    yield opened
    opened.close()


def run(root: Path, *checks: str, **options: Any) -> Result:  # noqa: ANN401 - those of a request
    async def work() -> Result:
        async with Workspace.open(str(root)) as ws:
            command = f"{shlex.quote(sys.executable)} agent.py"
            request = Request(None, "Write.", command=command, checks=checks, **options)
            return await ws.run(request)

    return asyncio.run(work())


def test_a_failed_check_is_in_the_record_the_list_and_the_reports(root: Path, home: Home) -> None:
    result = run(root, FAILS, "true")
    assert (result.status, result.errors[0].code) == ("partial", "CHECK_FAILED")
    details = load_run_details(home, result.session_id)
    assert details["run"]["unmet_checks"] == "failed"
    assert details["run"]["check"] is None
    failed, passed = details["checks"]
    assert (failed["answer"], failed["reason"], failed["output"]) == ("failed", "exit code 3", "one\x1b[31mtwo <b>")
    assert passed["answer"] == "passed"
    executed = [(each["name"], each["answer"], each["repeated"]) for each in details["attempts"][0]["checks"]]
    assert executed == [(FAILS, "failed", False), (FAILS, "failed", True), ("true", "passed", False)]
    assert [each["unmet_checks"] for each in list_runs(home)["items"]] == ["failed"]
    report = load_run_report(home, result.session_id)
    page, text = render_html(report), render_markdown(report)
    for shown in (page, text):
        assert "exit code 3; unknown whether it failed before the run" in shown
        assert "one<U+001B>[31mtwo <b>" in shown.replace("&lt;", "<").replace("&gt;", ">")
        assert "\x1b" not in shown
    assert "two <b>" not in page


def test_the_checks_of_each_attempt_are_in_the_record(root: Path, home: Home) -> None:
    (root / ".claude/agents").mkdir(parents=True)
    (root / ".claude/agents/writer.md").write_text(
        "---\nname: writer\ndescription: Writes.\n---\n# Writer\nWrite.\n<output_format>standard</output_format>\n"
    )
    check = "printf 'found %s' $(cat out.txt); test $(cat out.txt) = xx"
    (root / "remit.toml").write_text('[agents.writer]\nretry = "safe"\n')

    async def work() -> Result:
        async with Workspace.open(str(root)) as ws:
            command = f"{shlex.quote(sys.executable)} agent.py"
            request = Request("writer", "Write.", command=command, checks=(check,), reasks=1)
            return await ws.run(request)

    result = asyncio.run(work())
    assert (result.status, result.attempts) == ("completed", 2), result.errors
    record = load_record(home, result.session_id)
    assert [[each.answer for each in checks] for checks in record.checks.values()] == [["failed", "failed"], ["passed"]]
    command = Remit(root)
    text = command("show", result.session_id).text
    assert f"  ✓ {check} passed in " in text
    assert f"     {check}: failed in " in text
    assert f"     {check}: failed when repeated in " in text
    assert "    found x" not in text
    assert "\n         found x\n" in command("show", result.session_id, "--full").text


def test_a_running_check_is_shown_wherever_the_run_is(root: Path, home: Home) -> None:
    until = root / ".until"
    found: list[Result] = []
    check = f"until test -e {shlex.quote(str(until))}; do sleep 0.05; done; echo done; exit 1"
    work = threading.Thread(target=lambda: found.append(run(root, check, "true")))
    work.start()
    try:

        def find_check() -> str:
            return next((each.seen.check.name for each in list_snapshots(home) if each.seen.check), "")

        wait_until(lambda: find_check() == check, "the check runs")
        (snapshot,) = list_snapshots(home)
        assert snapshot.seen.idle_s == 0
        assert list_runs(home)["items"][0]["check"] is not None
        settings, _ = load_settings_or_usual(home.root)
        log = RunLog(home, settings, snapshot.row.session_id)
        assert [line.text for line in log.read() if line.kind == "check"] == [f"running check {check}"]
    finally:
        until.touch()
        work.join()
    texts = [line.text for line in log.read() if line.kind == "check"]
    assert texts[0].startswith(f"check {check} failed in ")
    assert texts[1:] == ["running check true", "check true passed in 0.0 s"]
    again = [line.text for line in RunLog(home, settings, snapshot.row.session_id).read() if line.kind == "check"]
    assert again == [f"running check {check}", *texts]
    assert list_runs(home)["items"][0]["check"] is None


@pytest.mark.parametrize(
    ("event", "text"),
    [
        ({"state": "waiting"}, "waiting for another process that runs checks in this tree"),
        ({"check": "tests", "state": "started"}, "running check tests"),
        ({"check": "tests", "state": "passed", "duration_ms": 12_000}, "check tests passed in 12 s"),
        ({"check": "tests", "state": "failed", "duration_ms": 0, "reason": "exit code 1"},
         "check tests failed in 0.0 s: exit code 1"),
        ({"check": "tests", "state": "not run", "reason": "it hung"}, "check tests was not run: it hung"),
    ],
)  # fmt: skip
def test_the_words_of_an_event(event: dict[str, Any], text: str) -> None:
    assert describe_event(event) == text
    assert describe_event(json.loads(json.dumps(event))) == text
