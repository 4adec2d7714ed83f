"""The command line, HTTP and MCP give the same JSON for the same thing, and the same errors."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest

from remit.request_fields import LimitFields, RunRequest
from remit.runs.admission.limits import Budget
from remit.validation import list_fields
from remit.views.hints import fit_hint
from tests.support.commands import Remit, load
from tests.support.http_server import Served, run_server
from tests.support.ledger_rows import answer, make_repository
from tests.support.mcp_peer import Peer
from tests.support.paths import SOURCE

if TYPE_CHECKING:
    from collections.abc import Iterator

NESTED = f"PYTHONPATH={SOURCE} {sys.executable} -m remit run 'Look deeper.' --command 'sh inner.sh' --json > /dev/null"
AGENT = "---\nname: Bad Name\ntols: Read\n---\n\nRead.\n"
CHECKS = '[checks.tests]\nrun = "echo wrong; exit 1"\n[checks.lint]\nrun = "true"\nwhen = "docs/**"\n'
FINDING: dict[str, Any] = {
    "id": "cache-2026-01-19", "file": "2026-01-19_cache.md", "title": "The cache", "date": "2026-01-19",
    "status": "partial", "topics": ["cache"], "key_findings": ["It is slow.", "It is large.", "It is old."],
    "actionable": True, "needs_followup": ["T2"], "linked_tasks": ["1"], "extra": {"kept": [1]},
}  # fmt: skip


class Interfaces(NamedTuple):
    """One workspace, by each of its interfaces."""

    cli: Remit
    http: Served
    mcp: Peer

    def find_session(self, **wanted: object) -> str:
        """The run that has these values."""
        runs = self.http.get("/runs").value["items"]
        (found,) = [each for each in runs if all(each[name] == value for name, value in wanted.items())]
        session_id: str = found["session_id"]
        return session_id


@pytest.fixture(scope="module")
def same(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Interfaces]:
    """A workspace with runs (good, failed, nested), tasks, findings, errors and agents."""
    root = make_repository(tmp_path_factory.mktemp("work"))
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(root)
        patch.setenv("XDG_CONFIG_HOME", str(tmp_path_factory.mktemp("config")))
        for name in ("REMIT_TICKET", "REMIT_SESSION_ID", "REMIT_ROOT"):
            patch.delenv(name, raising=False)
        cli = Remit(root)
        (root / "good.sh").write_text(f"echo new > report.md\n{answer('report.md')}\n")
        (root / "lies.sh").write_text(f"{answer('nowhere.md')}\n")
        (root / "inner.sh").write_text(f"echo new > deep.md\n{answer('deep.md')}\n")
        (root / "outer.sh").write_text(f"{NESTED}\necho new > top.md\n{answer('top.md')}\n")
        (root / ".claude" / "agents").mkdir(parents=True)
        (root / ".claude" / "agents" / "bad.md").write_text(AGENT)
        (root / "remit.toml").write_text(CHECKS)
        assert cli("config", "trust", "--yes").code == 0
        assert cli("task", "new", "Make the cache fast").code == 0
        assert cli("task", "new", "Make it small").code == 0
        assert cli("task", "block", "2", "--reason", "The key is missing.").code == 0
        (root / "claudedocs" / "agent-outputs").mkdir(parents=True)
        (root / "claudedocs" / "agent-outputs" / "MANIFEST.jsonl").write_text(json.dumps(FINDING) + "\n")
        for script in ("good.sh", "lies.sh", "outer.sh"):
            cli("run", f"Look at {script}.", "--command", f"sh {script}", "--json")
        with run_server(root) as http, Peer(root) as mcp:
            yield Interfaces(cli, http, mcp)


def sort(runs: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return sorted(runs, key=lambda run: str(run["session_id"]))


@pytest.mark.slow
def test_lists_of_runs_are_the_same(same: Interfaces) -> None:
    runs = sort(same.http.get("/runs").value["items"])
    assert [each["depth"] for each in runs].count(2) == 1
    assert {each["status"] for each in runs} == {"completed", "failed"}
    assert sort(load(same.cli("ps", "--all", "--json"))["items"]) == runs
    assert sort(same.mcp.call("status", all=True)["items"]) == runs
    root_id = same.find_session(children=1)
    tree = same.http.get(f"/runs/{root_id}/tree").value["items"]
    assert load(same.cli("ps", "--tree", root_id, "--json"))["items"] == tree
    assert [each["level"] for each in tree] == [0, 1]


@pytest.mark.slow
@pytest.mark.parametrize("wanted", [{"status": "failed"}, {"children": 1}, {"depth": 2}])
def test_the_details_of_a_run_are_the_same(same: Interfaces, wanted: dict[str, object]) -> None:
    session_id = same.find_session(**wanted)
    details = same.http.get(f"/runs/{session_id}").value
    assert load(same.cli("show", session_id, "--json")) == details
    report = same.mcp.call("result", session_id=session_id, part="report")
    assert json.loads(report["text"]) == details["result"]
    assert load(same.cli("wait", session_id, "--json"))["remit"]["verdict"] == details["run"]["verdict"]
    for attempt in details["attempts"]:
        assert {*attempt} >= {"number", "verdict", "stop_reason", "diagnostics", "claims", "usage"}


@pytest.mark.slow
def test_tasks_are_the_same(same: Interfaces) -> None:
    tasks = same.http.get("/tasks").value["items"]
    assert load(same.cli("task", "list", "--json"))["items"] == tasks
    assert [each["reason"] for each in tasks] == [None, "The key is missing."]
    for number in (1, 2):
        details = same.http.get(f"/tasks/{number}").value
        assert load(same.cli("task", "show", str(number), "--json")) == details
        assert same.mcp.call("task_show", task=number) == details


@pytest.mark.slow
def test_findings_are_the_same(same: Interfaces) -> None:
    page = same.http.get("/manifest").value
    findings = page["items"]
    assert [each["id"] for each in findings] == [FINDING["id"]]
    assert findings[0]["extra"] == {"kept": [1]}
    assert page.pop("topics") == [{"topic": "cache", "count": 1}]
    assert load(same.cli("findings", "list", "--json")) == same.mcp.call("find_findings") == page
    details = same.http.get(f"/manifest/{FINDING['id']}").value
    assert load(same.cli("findings", "show", FINDING["id"], "--json")) == details
    (read,) = same.mcp.ask("resources/read", uri=f"remit://findings/{FINDING['id']}")["result"]["contents"]
    assert json.loads(read["text"]) == details


@pytest.mark.slow
def test_errors_of_the_log_are_the_same(same: Interfaces) -> None:
    groups = same.http.get("/errors").value
    assert load(same.cli("errors", "list", "--json")) == groups
    assert "FABRICATED" in {each["code"] for each in groups["items"]}
    group = groups["items"][0]
    shown = load(same.cli("errors", "show", group["id"], "--json"))
    assert (shown["group"], shown["records"][::-1]) == (group, group["records"])


@pytest.mark.slow
def test_diagnostics_of_agents_are_the_same(same: Interfaces) -> None:
    (agent,) = same.http.get("/agents").value["items"]
    linted = same.http.post("/lint", {}).value
    assert linted["items"] == agent.pop("diagnostics") != []
    assert load(same.cli("lint", "--json")) == same.mcp.call("lint") == linted
    assert load(same.cli("agent", "list", "--json"))["items"] in ([agent], [])
    assert load(same.cli("agent", "graph", "--json"))["agents"] == same.http.get("/agents").value["graph"]["agents"]


@pytest.mark.slow
def test_acceptance_checks_are_the_same(same: Interfaces) -> None:
    listed = load(same.cli("checks", "--list", "--json"))
    assert [each["name"] for each in listed["items"]] == ["tests", "lint"]
    assert same.http.get("/checks").value == listed
    shown = same.mcp.call("checks", only_list=True)
    assert {name: shown[name] for name in listed} == listed
    assert (shown["results"], shown["passed"]) == ([], None)
    (by_cli,) = load(same.cli("checks", "tests", "--json"))["items"]
    ran = same.mcp.call("checks", names=["tests"])
    (by_mcp,) = ran["results"]
    assert (by_mcp["answer"], by_mcp["output"], ran["passed"]) == ("failed", "wrong", False)
    timeless = [{name: value for name, value in each.items() if name != "duration_ms"} for each in (by_cli, by_mcp)]
    assert timeless[0] == timeless[1]
    assert same.mcp.call("checks", names=["lint"])["passed"] is True
    for call in (
        lambda: same.http.post("/runs", {"prompt": "Go.", "checks": ["make test"]}).value,
        lambda: same.mcp.fail("delegate", prompt="Go.", checks=["make test"]),
    ):
        assert "the check 'make test' isn't in remit.toml" in json.dumps(call())


# --- errors ----------------------------------------------------------------------------------------------------------


class Failure(NamedTuple):
    """What can't be done, by each interface."""

    cli: tuple[str, ...]
    http: tuple[str, dict[str, Any] | None]
    mcp: tuple[str, dict[str, Any]]


FAILURES = {
    "no such run": Failure(("show", "zzz"), ("/runs/zzz", None), ("result", {"session_id": "zzz"})),
    "more than one run": Failure(("show", "sess_"), ("/runs/sess_", None), ("result", {"session_id": "sess_"})),
    "no such task": Failure(("task", "show", "99"), ("/tasks/99", None), ("task_show", {"task": 99})),
    "an illegal move": Failure(
        ("task", "set-status", "2", "COMPLETED"), ("/tasks/2/move", {"marker": "COMPLETED"}),
        ("task_move", {"number": 2, "marker": "COMPLETED"}),
    ),
    "no such agent": Failure(
        ("run", "nobody", "Go."), ("/runs", {"agent": "nobody", "prompt": "Go."}),
        ("delegate", {"agent": "nobody", "prompt": "Go."}),
    ),
    "no budget": Failure(
        ("run", "Go.", "--command", "true", "--max-usd", "0"), ("/runs", {"prompt": "Go.", "max_usd": 0}),
        ("delegate", {"prompt": "Go.", "max_usd": 0}),
    ),
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("failure", FAILURES)
def test_an_error_is_the_same_and_its_hint_fits_the_interface(same: Interfaces, failure: str) -> None:
    cli, (path, body), (tool, arguments) = FAILURES[failure]
    by_command = same.cli(*cli, "--json").error
    reply = same.http.get(path) if body is None else same.http.post(path, body)
    by_http = json.loads(reply.body)["error"]
    by_tool = same.mcp.fail(tool, **arguments)
    hints = [each.pop("hint") for each in (by_command, by_http, by_tool)]
    assert by_command == by_http == by_tool
    for hint in hints[1:]:
        assert "remit " not in hint
        assert "--" not in hint


def test_a_hint_names_an_operation_or_a_tool_instead_of_a_command() -> None:
    command = "remit ps --all shows what there is"
    assert fit_hint(command, "cli") == command
    assert fit_hint(command, "http") == "GET /api/v1/runs lists all runs"
    assert fit_hint(command, "mcp") == "the tool status lists all runs with all: true"
    assert fit_hint("run: remit gc", "mcp") == "ask the user to fix this on the command line"
    assert fit_hint("give more with --max-usd", "http") == "set the field max_usd"
    assert fit_hint("give more of the id", "mcp") == "give more of the id"


# --- limits ----------------------------------------------------------------------------------------------------------


def test_limits_have_the_same_names_everywhere() -> None:
    from remit.cli.commands.run import run  # noqa: PLC0415 - click, and all of its options

    assert {*list_fields(LimitFields)} == {"timeout", *Budget._fields}
    options = {option.removeprefix("--").replace("-", "_") for param in run.params for option in param.opts}
    fields = {*list_fields(RunRequest)} - {"prompt", "agent", "inputs", "checks"}
    assert fields <= options
    assert "confine" in fields
