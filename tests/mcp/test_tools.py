"""What each tool does with its arguments, in this process: every answer is as its schema says."""

from __future__ import annotations

import asyncio
import json
import subprocess
from typing import TYPE_CHECKING, Any

import pytest
from inline_snapshot import snapshot

from remit.cli import run
from remit.errors import RemitError, StateError, UsageError
from remit.ledger.events import read_clock_ms
from remit.ledger.home import Home
from remit.ledger.runs import Run, add_run, load_run
from remit.mcp.catalog import BY_NAME
from remit.mcp.resources import list_resources, read_resource
from remit.mcp.tools import Call, call_tool
from remit.runs.hosted_runs import HostedRuns
from remit.runs.tasks.workspace_tasks import Tasks
from remit.runs.workspace_trust import TrustRequest, get_executing, grant_trust
from remit.storage.settings import load_settings

if TYPE_CHECKING:
    from pathlib import Path

SECRET = "ghp_" + "a1B2" * 9
AGENT = """---
name: scribe
description: "Writes reports."
agent_type: utility
version: 1.0.0
---
# Scribe

Write it down.
"""
FINDINGS = ["The cache is never cleared.", "Two writers share one lock.", "The limit is 5 MB."]


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    root = tmp_path / "root"
    subprocess.run(["git", "init", "-q", str(root)], check=True)
    for name in ("REMIT_TICKET", "REMIT_SESSION_ID", "REMIT_ROOT", "CI"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.chdir(root)
    return root


def use(tool: str, **given: Any) -> dict[str, Any]:  # noqa: ANN401 - any JSON value
    """Call a tool as the server does; what it gives."""
    told = asyncio.run(call_tool(tool, Call(given, HostedRuns())))
    from jsonschema import Draft202012Validator  # noqa: PLC0415 - takes long, and many only collect the tests

    Draft202012Validator(BY_NAME[tool].describe()["outputSchema"]).validate(json.loads(json.dumps(told)))
    return told


def refuse(tool: str, **given: Any) -> RemitError:  # noqa: ANN401 - any JSON value
    with pytest.raises(RemitError) as refused:
        use(tool, **given)
    return refused.value


# --- findings --------------------------------------------------------------------------------------------------------


def add(**more: Any) -> dict[str, Any]:  # noqa: ANN401 - of the tool
    given: dict[str, Any] = {
        "title": "How uploads are limited", "key_findings": FINDINGS, "topics": ["uploads"], "write_file": True,
        "summary": "Uploads are limited twice. The lower limit wins.", "recommendations": ["Clear the cache."],
        "sources": ["src/upload.py"], "date": "2026-11-16",
    }  # fmt: skip
    return use("add_finding", **given | more)


def test_a_finding_is_added_and_found(root: Path) -> None:
    assert use("find_findings") == {
        "items": [], "next_cursor": None, "total": 0, "manifest": None, "bad_lines": 0,
    }  # fmt: skip
    told = add(linked_tasks=["12"])
    assert told["added"], told
    assert told["id"] == "how-uploads-are-limited-2026-11-16"
    assert (root / told["findings_file"]).read_text().startswith("# How uploads are limited")
    found = use("find_findings", words=["uploads"], topic="uploads", task="12", since="2026-11-01")
    assert [entry["id"] for entry in found["items"]] == [told["id"]]
    assert found["manifest"] == told["manifest"] == "claudedocs/agent-outputs/MANIFEST.jsonl"
    assert use("find_findings", until="2026-11-01")["items"] == []
    assert use("find_findings", pending=True)["items"] == []


def test_a_finding_that_breaks_a_rule_is_not_added(root: Path) -> None:
    told = add(write_file=False)
    assert told["added"] is False
    assert [each["code"] for each in told["diagnostics"] if each["severity"] == "error"] == ["RET089"]
    assert all(each["hint"] for each in told["diagnostics"])
    assert not (root / "claudedocs" / "agent-outputs" / "MANIFEST.jsonl").exists()


@pytest.mark.parametrize(
    "file",
    [
        "../outside.md", "/etc/outside.md", "~/outside.md", ".git/hooks/x.md", ".claude/agents/x.md", "a/.remit/x.md",
        ".opencode/agent/x.md", "remit.toml", "claudedocs/agent-outputs/../../.claude/agents/x.md", "x/../../y.md",
        "agents/evil.md", "specs/TODO.md", "specs/x.md", "x.md/../agents/x.md", "docs/agents/x.md", "docs/TODO.md",
        "AGENTS.md", "claudedocs/agent-outputs/CLAUDE.md", "src/x.md",
    ],
)  # fmt: skip
def test_a_findings_file_is_made_in_an_ordinary_place_of_the_workspace(root: Path, file: str) -> None:
    before = {path for path in root.parent.rglob("*") if path.is_file()}
    try:
        assert add(file=file)["added"] is False
    except RemitError as error:
        assert error.hint  # noqa: PT017 - either way nothing is written
    after = {path for path in root.parent.rglob("*") if path.is_file()}
    assert [path for path in after - before if path.parent not in (root / ".remit", root / ".remit" / "locks")] == []


@pytest.mark.parametrize("file", ["uploads.md", "docs/uploads.md", "claudedocs/agent-outputs/deep/uploads.md"])
def test_a_findings_file_may_be_named(root: Path, file: str) -> None:
    told = add(file=file)
    assert told["added"], told
    assert (root / told["findings_file"]).is_file()


def test_a_findings_file_may_have_another_name(root: Path) -> None:
    assert add(file="docs/uploads.md")["findings_file"] == "docs/uploads.md"
    assert (root / "docs" / "uploads.md").is_file()


@pytest.mark.parametrize("given", [{"date": "yesterday"}, {"slug": "Not A Slug"}, {"status": "done"}])
def test_what_does_not_fit_an_entry_is_told(root: Path, given: dict[str, str]) -> None:
    del root
    with pytest.raises(UsageError):
        add(**given)


def test_entries_come_in_pages_bounded_and_without_secrets(root: Path) -> None:
    folder = root / "claudedocs" / "agent-outputs"
    folder.mkdir(parents=True)
    long = {"id": "a-2026-01-01", "title": "x" * 50_000, "date": "2026-01-01", "token": f"see {SECRET}"}
    lines = [json.dumps(long | {"id": f"e{number}-2026-01-{number:02}"}) for number in range(1, 29)]
    (folder / "MANIFEST.jsonl").write_text("\n".join(lines) + "\n")
    first = use("find_findings", limit=20)
    assert (len(first["items"]), first["next_cursor"]) == (20, "2")
    text = json.dumps(first)
    assert SECRET not in text
    assert len(text) < 100_000
    second = use("find_findings", limit=20, cursor="2")
    assert (len(second["items"]), second["next_cursor"]) == (8, None)


# --- tasks -----------------------------------------------------------------------------------------------------------


def test_a_task_is_shown_and_moved(root: Path) -> None:
    assert run(["task", "new", "Clear", "the", "cache"]) == 0
    shown = use("task_show", task="1")
    assert (shown["number"], shown["title"], shown["marker"]) == (1, "Clear the cache", "NOT STARTED")
    assert "Clear the cache" in shown["section"]
    moved = use("task_move", number=1, marker="researching")
    assert (moved["before"], moved["after"]) == ("NOT STARTED", "RESEARCHING")
    assert "specs/TODO.md" in moved["files"]
    assert "[RESEARCHING]" in (root / "specs" / "TODO.md").read_text()
    refusal = refuse("task_move", number=1, marker="COMPLETED")
    assert isinstance(refusal, StateError)
    assert "RESEARCHED" in refusal.hint
    assert "reason" in str(refuse("task_move", number=1, marker="BLOCKED"))
    assert use("task_move", number=1, marker="BLOCKED", reason="no access")["after"] == "BLOCKED"
    assert refuse("task_show", task="99").hint
    assert refuse("task_show", task="x; rm -rf /").hint


def test_a_long_task_is_cut(root: Path) -> None:
    assert run(["task", "new", "Long", "--description", f"{SECRET} {'word ' * 20_000}"]) == 0
    text = json.dumps(use("task_show", task="1"))
    assert SECRET not in text
    assert len(text) < 70_000
    del root


def test_an_outside_system_is_asked_only_where_the_user_agreed_to_it(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(root.parent / f"{root.name}-config"))
    (root / "remit.toml").write_text('[tasks]\nshow = "touch {id}"\n')
    assert "remit config trust" in refuse("task_show", task="T-1").hint
    assert not (root / "T-1").exists()
    grant_trust(TrustRequest(str(root), get_executing(load_settings(str(root)), root=str(root))))
    assert use("task_show", task="T-1") == {"task": "T-1", "section": "", "truncated": False, "latest_runs": []}
    assert (root / "T-1").exists()


@pytest.mark.parametrize("text", ["not toml [", "[runners.x]\n", "[delegate]\ntimeout = -1\n"])
def test_settings_that_cannot_be_followed_are_told(root: Path, text: str) -> None:
    write_agent(root)
    (root / "remit.toml").write_text(text)
    error = refuse("delegate", agent="scribe", prompt="Go.", runner="claude")
    assert error.hint
    assert use("status", all=True)["items"] == []


# --- agent files -----------------------------------------------------------------------------------------------------


def write_agent(root: Path, name: str = "scribe", text: str = AGENT) -> None:
    folder = root / ".claude" / "agents"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{name}.md").write_text(text)


def test_agent_files_are_linted(root: Path) -> None:
    assert use("lint") == {
        "items": [], "total": 0, "counts": {"files": 0, "error": 0, "warning": 0, "note": 0}, "failed": False,
        "known": 0,
    }  # fmt: skip
    write_agent(root, text=AGENT.replace("name: scribe", "name: other"))
    told = use("lint", paths=[".claude/agents"])
    assert told["failed"]
    assert told["counts"]["files"] == 1
    assert told["items"][0]["filename"] == ".claude/agents/scribe.md"
    assert sum(told["counts"].values()) - 1 == len(told["items"]) == told["total"]
    codes = {each["code"] for each in told["items"]}
    fewer = use("lint", select=[min(codes)])
    assert {each["code"] for each in fewer["items"]} == {min(codes)}
    assert isinstance(refuse("lint", select=["XYZ1"]), UsageError)


@pytest.mark.parametrize("path", ["..", "/etc", "../../etc/passwd", "link", "a\0b"])
def test_nothing_outside_of_the_workspace_is_linted(root: Path, path: str) -> None:
    (root / "link").symlink_to("/etc")
    assert refuse("lint", paths=[path]).hint == snapshot("name files and folders inside it")


# --- returns ---------------------------------------------------------------------------------------------------------


def make_message(**changes: Any) -> str:  # noqa: ANN401 - any JSON value
    returned = {
        "status": "completed",
        "summary": "The report is written. Nothing else was changed.",
        "artifacts": [{"type": "report", "path": "report.md", "summary": "What was found"}],
        "metadata": {"session_id": "sess_1735460684_a1b2c3", "agent_type": "scribe", "delegation_depth": 1,
                     "delegation_path": ["orchestrator", "scribe"], "duration_seconds": 1},
        "errors": [],
    }  # fmt: skip
    return f"Done.\n\n```json\n{json.dumps(returned | changes)}\n```"


def test_a_return_is_checked_before_it_is_sent(root: Path) -> None:
    """R2.15."""
    refused = use("check_return", message=make_message(), session_id="sess_1735460684_a1b2c3")
    assert refused["accepted"] is False
    assert "report.md" in json.dumps(refused["diagnostics"])
    (root / "report.md").write_text("# Report\n")
    told = use("check_return", message=make_message(), session_id="sess_1735460684_a1b2c3", agent="scribe")
    assert (told["accepted"], told["verdict"], told["status"]) == (True, "accepted", "completed")
    other = use("check_return", message=make_message(), session_id="sess_1735460684_zzzzzz")
    assert other["accepted"] is False
    assert use("check_return", message="All done, everything works.")["verdict"] == "missing"
    assert use("check_return", message=make_message(status="success"))["accepted"] is False


def test_a_message_that_is_empty_is_none(root: Path) -> None:
    del root
    assert refuse("check_return", message="  \n").hint


def test_who_shows_a_ticket_that_is_none_is_not_judged(root: Path) -> None:
    del root
    serving = HostedRuns({"REMIT_TICKET": "remit1_" + "A" * 43})
    with pytest.raises(RemitError, match="doesn't have this ticket"):
        asyncio.run(call_tool("check_return", Call({"message": "x"}, serving)))


def test_only_inside_a_run_is_a_return_handed_in(root: Path) -> None:
    del root
    assert "only an agent inside a run" in refuse("submit_return", message=make_message()).message


# --- delegations -----------------------------------------------------------------------------------------------------


def test_where_nothing_was_delegated_nothing_is_made(root: Path) -> None:
    assert use("status", all=True) == {"items": [], "total": 0}
    for tool in ("result", "cancel", "status"):
        assert "this workspace has no runs yet" in refuse(tool, session_id="sess_1").message
    assert not (root / ".remit").exists()


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"agent": "nobody"}, "there is no agent 'nobody'"),
        ({"agent": "scribe", "runner": "nowhere"}, "nowhere"),
        ({"agent": "scribe", "timeout": 0}, "the timeout cannot be 0"),
        ({"agent": "scribe", "max_usd": 0}, "max_usd cannot be 0"),
        ({"agent": "scribe", "task": 9}, "no task"),
        ({"agent": "../../etc/passwd"}, "there is no agent"),
        ({"agent": "scribe", "detach": True, "wait_seconds": 3}, "detach doesn't wait"),
    ],
)
def test_what_may_not_be_delegated_is_refused_with_a_reason(root: Path, given: dict[str, Any], sentence: str) -> None:
    write_agent(root)
    error = refuse("delegate", **{"prompt": "Go.", "runner": "claude"} | given)
    assert sentence in error.message
    assert error.hint


def test_a_utility_agent_is_called_like_any_other(root: Path) -> None:
    """D1: Remit answers for an agent of the standard that the project has no file of."""
    tasks = Tasks(str(root))
    tasks.add("Cache the uploads")
    tasks.home.close()
    told = use("delegate", agent="atomic-task-numberer", prompt="Next.")
    assert told["finished"]
    assert '"task_number": 2' in json.dumps(told)


def enter(folder: Path, depth: int, **details: Any) -> str:  # noqa: ANN401 - of its terms
    """A subagent that its harness has started, as the ledger has it; its session."""
    home = Home(str(folder))
    session_id = f"sess_1794800000_refer{depth}"
    path = ("orchestrator", *(f"agent-{number}" for number in range(1, depth + 1)))
    now_ms = read_clock_ms()
    row = Run(session_id, path[-1], depth, path, state="running", started_ms=now_ms, runner="claude",
                     deadline_ms=now_ms + 60_000, owner="harness", details={"is_harness_run": True, **details})  # fmt: skip
    add_run(home.ledger, row)
    home.close()
    return session_id


def test_a_subagent_of_a_harness_is_guarded_as_the_session_that_it_names(root: Path) -> None:
    """Its server belongs to the person's session, which may do more than it."""
    write_agent(root)
    given = {"agent": "scribe", "prompt": "Go.", "runner": "claude"}
    deep = refuse("delegate", **given, caller=enter(root, 3, may_call=["*"]))
    assert deep.code == "MAX_DEPTH_EXCEEDED"
    alone = refuse("delegate", **given, caller=enter(root, 1, may_call=["other"]))
    assert "may not call 'scribe'" in alone.message
    spent = refuse("delegate", **given, caller=enter(root, 2, may_call=["*"], budget={"max_delegations": 0}))
    assert spent.code == "BUDGET_EXCEEDED"
    other = refuse("cancel", session_id="sess_1794800000_refer1", caller="sess_1794800000_refer2")
    assert other.hint == snapshot("an agent can cancel only its own nested runs")
    for detached in ({"detach": True}, {}):
        assert refuse("delegate", **given, **detached, caller="sess_1794800000_refer3").code == "MAX_DEPTH_EXCEEDED"


def test_nobody_names_a_session_that_is_not_a_subagents_own(root: Path) -> None:
    write_agent(root)
    session_id = enter(root, 1, is_harness_run=False)
    for caller in (session_id, "sess_1_nobody", "-"):
        for tool, given in {
            "delegate": {"agent": "scribe", "prompt": "Go."},
            "cancel": {"session_id": session_id},
            "check_return": {"message": "x"},
            "submit_return": {"message": "x"},
        }.items():
            assert "isn't a session that may call this server" in refuse(tool, **given, caller=caller).message
    home = Home(str(root))
    row = load_run(home.ledger, session_id)
    assert row is not None
    assert row.ticket is None
    home.close()


def test_a_subagent_of_a_harness_checks_its_own_return(root: Path) -> None:
    session_id = enter(root, 1, root=str(root), evidence=False)
    told = use("check_return", message=make_message(), caller=session_id)
    assert (told["accepted"], told["session_id"]) == (False, session_id)


# --- resources -------------------------------------------------------------------------------------------------------


def test_agents_and_findings_can_be_read(root: Path) -> None:
    assert list_resources() == []
    write_agent(root, text=f"{AGENT}\ntoken: {SECRET}\n")
    entry = add()["id"]
    found = {each["uri"]: each for each in list_resources()}
    assert [*found] == ["remit://agents/scribe", f"remit://findings/{entry}"]
    assert found["remit://agents/scribe"]["description"] == "Writes reports."
    agent = read_resource("remit://agents/scribe")
    assert agent.text.startswith(AGENT)
    assert SECRET not in agent.text
    assert json.loads(read_resource(f"remit://findings/{entry}").text)["key_findings"] == FINDINGS
    assert read_resource(f"remit://findings/{entry}/file").text.startswith("# How uploads")


def test_a_long_file_comes_in_pages(root: Path) -> None:
    write_agent(root, text=AGENT + "line\n" * 10_000)
    first = read_resource("remit://agents/scribe")
    assert first.text.endswith("[page 1 of 3; the next: ?page=2]")
    last = read_resource("remit://agents/scribe?page=3")
    assert last.text.endswith("line\n")
    assert len(first.text) < 20_100


@pytest.mark.parametrize(
    "uri",
    [
        "remit://agents/nobody", "remit://agents/", "remit://agents", "remit://", "", "file:///etc/passwd",
        "remit://agents/..%2F..%2Fetc%2Fpasswd", "remit://agents/scribe/x", "remit://agents/scribe?page=9",
        "remit://agents/scribe?page=-1", "remit://agents/scribe?page=1e9", "remit://agents/scribe?x=1",
        "remit://findings/none", "remit://findings/..%2f/file", "remit://runs/sess_1/result", "remit://runs/%00/result",
        "remit://runs/sess_1/answer", "remit://nothing/x", "remit://agents/%ff%fe",
    ],
)  # fmt: skip
def test_an_address_of_nothing_is_told(root: Path, uri: str) -> None:
    write_agent(root)
    with pytest.raises(RemitError) as refused:
        read_resource(uri)
    assert refused.value.hint
