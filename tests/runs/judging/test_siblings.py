"""Lies beside siblings: two agents at once in one folder, one of which writes nothing and claims the other's file.

The liar is never `completed`, and the honest one is never `fabricated`, however the two are started.
"""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
import time
from typing import TYPE_CHECKING, Any

import pytest

from remit.runs.workspace import Workspace
from tests.support.commands import Remit
from tests.support.hook_session import Child, Stage, add_agent, make_workspace

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from remit.result import Result

    Act = Callable[[Child, str], None]

LIES = {
    "a file that the sibling made": "out.md",
    "a file that the sibling changed": "old.md",
    "a file that the sibling changed, of the same size": "same.md",
    "a file in a folder that the sibling made": "docs/new.md",
}
TEXTS = {"out.md": "# New\n", "old.md": "# A longer text\n", "same.md": "# B\n", "docs/new.md": "# New\n"}
AGENT = """
import json, os, re, sys, time
from pathlib import Path

path, text, signals = sys.argv[1], sys.argv[2], Path(sys.argv[3])
prompt = sys.stdin.read()
mine, other = ("HONEST", "LIAR") if "HONEST" in prompt else ("LIAR", "HONEST")

def signal(name):
    (signals / name).touch()

def wait(name):
    end = time.monotonic() + 60
    while not (signals / name).exists():
        if time.monotonic() > end:
            sys.exit(f"{mine} waited in vain for {name}")
        time.sleep(0.01)

signal(f"{mine} began")
wait(f"{other} began")
if mine == "HONEST":
    file = Path(path)
    file.parent.mkdir(exist_ok=True)
    file.write_text(text)
    signal("written")
else:
    wait("written")
session = os.environ["REMIT_SESSION_ID"]
print(json.dumps({
    "status": "completed", "summary": "The report was written. It says where the cache is.",
    "artifacts": [{"type": "report", "path": path, "summary": "The report."}],
    "metadata": {"session_id": session, "duration_seconds": 1, "agent_type": "command", "delegation_depth": 1,
                 "delegation_path": ["orchestrator", "command"]},
    "errors": [],
}))
"""
"""One program for both: the prompt says which it is. Each waits until the other has begun, so that they overlap."""


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ("REMIT_TICKET", "REMIT_SESSION_ID", "REMIT_ROOT"):
        monkeypatch.delenv(name, raising=False)
    root = tmp_path / "tree"
    root.mkdir()
    (root / "old.md").write_text("# Old\n")
    (root / "same.md").write_text("# A\n")
    for args in (["init", "-q"], ["add", "-A"], ["-c", "user.name=x", "-c", "user.email=x@x", "commit", "-qm", "x"]):
        subprocess.run(["git", *args], cwd=root, check=True)
    time.sleep(0.05)  # so that no file is as new as the snapshot
    return root


@pytest.fixture(params=[*LIES.values()], ids=[*LIES])
def command(request: pytest.FixtureRequest, tmp_path: Path) -> list[str]:
    """The program of both, for one of the lies."""
    (tmp_path / "signals").mkdir()
    (tmp_path / "agent.py").write_text(AGENT)
    return [sys.executable, f"{tmp_path}/agent.py", request.param, TEXTS[request.param], f"{tmp_path}/signals"]


def quote(command: list[str]) -> str:
    return " ".join(f"'{word}'" for word in command)


def check_pair(honest: dict[str, Any], liar: dict[str, Any]) -> None:
    assert (liar["status"], liar["remit"]["verdict"]) == ("partial", "unproven")
    assert (honest["status"], honest["remit"]["verdict"]) == ("partial", "unproven")
    for each in (honest, liar):
        assert [fault["code"] for fault in each["errors"]] == ["UNPROVEN"]
        assert "worktree" in each["errors"][0]["recommendation"]


def test_two_commands_at_once(tree: Path, command: list[str]) -> None:
    remit = Remit(tree)
    args = ("--command", quote(command), "--json", "--timeout", "90")
    honest = remit.start("run", "HONEST", *args)
    liar = remit("run", "LIAR", *args)
    out, _ = honest.communicate(timeout=90)
    assert (honest.returncode, liar.code) == (1, 1)
    check_pair(json.loads(out), json.loads(liar.out))


def test_each_line_of_a_batch(tree: Path, command: list[str]) -> None:
    remit = Remit(tree)
    args = ("run", "--each", "-", "--command", quote(command), "--timeout", "90")
    ended = remit(*args, "--json", text='"HONEST"\n"LIAR"\n')
    told = {each["remit"]["line"]: each for each in map(json.loads, ended.out.splitlines())}
    assert ended.code == 1
    check_pair(told[1], told[2])
    shown = remit(*args, text='"HONEST"\n"LIAR"\n').text.splitlines()  # picked up: the same results as text
    assert shown[0].startswith("1 ✗ agent: partial · unproven · ")
    assert any(line.startswith("2 ✗ agent: partial · unproven · ") for line in shown)
    assert shown[-2] == "2 runs: 2 partial (2 unproven, with 2 unproven claims)"
    assert shown[-1].startswith("hint: --worktree ")


def test_in_worktrees_the_honest_one_is_completed_and_the_liar_is_not(tree: Path, command: list[str]) -> None:
    ended = Remit(tree)(
        "run", "--each", "-", "--command", quote(command), "--timeout", "90", "--worktree", "--json",
        text='"HONEST"\n"LIAR"\n',
    )  # fmt: skip
    told = {each["remit"]["line"]: each for each in map(json.loads, ended.out.splitlines())}
    assert (told[1]["status"], told[1]["remit"]["verdict"]) == ("completed", "accepted")
    assert (told[2]["status"], told[2]["remit"]["verdict"]) == ("failed", "fabricated")


def test_functions_at_once(tree: Path, command: list[str]) -> None:
    def act(prompt: str) -> str:
        session = next(word for word in prompt.replace('"', " ").split() if word.startswith("sess_"))
        environ = {"REMIT_SESSION_ID": session.strip(".,`)"), "PATH": "/usr/bin:/bin"}
        ended = subprocess.run(command, input=prompt.encode(), cwd=tree, env=environ, capture_output=True, check=True)
        return ended.stdout.decode().replace('"command"', '"python"')

    async def play() -> list[Result]:
        async with Workspace.open(tree) as ws:
            prompts = ("HONEST", "LIAR")
            return await asyncio.gather(
                *(ws.delegate(None, each, function=act, timeout_s=90, reasks=0) for each in prompts)
            )

    honest, liar = asyncio.run(play())
    for told in (honest, liar):
        assert (told.status, told.verdict) == ("partial", "unproven"), told
        assert [fault.code for fault in told.errors] == ["UNPROVEN"]


# --- subagents of a harness -------------------------------------------------------------------------------------------


def shell(child: Child, path: str) -> None:
    """Change a file with a shell: the tool record names no file."""
    file = child.stage.root / path
    file.parent.mkdir(exist_ok=True)
    file.write_text(TEXTS[path])
    assert child.use("Bash", command="make") == {}


def write(child: Child, path: str) -> None:
    (child.stage.root / path).parent.mkdir(exist_ok=True)
    child.write(path, TEXTS[path])


def run_nothing(child: Child, path: str) -> None:
    del path
    assert child.use("Bash", command="true") == {}


def read_only(child: Child, path: str) -> None:
    del path
    assert child.use("Read", file_path=str(child.stage.root / "old.md")) == {}


ACTS: dict[str, tuple[Act, Act, str, str]] = {
    "both use a shell": (shell, run_nothing, "unproven", "unproven"),
    "the honest one writes with a tool": (write, run_nothing, "accepted", "unproven"),
    "the liar only reads": (shell, read_only, "unproven", "fabricated"),
}


@pytest.mark.parametrize("path", LIES.values(), ids=LIES.keys())
@pytest.mark.parametrize("acts", ACTS.values(), ids=ACTS.keys())
@pytest.mark.parametrize("waits", [True, False], ids=["foreground", "background"])
def test_subagents_of_a_harness(tmp_path: Path, path: str, acts: tuple[Act, Act, str, str], *, waits: bool) -> None:
    honest_act, liar_act, honest_is, liar_is = acts
    root = make_workspace(tmp_path / "project")
    (root / "old.md").write_text("# Old\n")
    (root / "same.md").write_text("# A\n")
    stage = Stage(root, quick=True)
    more: dict[str, Any] = {} if waits else {"run_in_background": True}
    honest, liar = stage.call("writer", **more), stage.call("tester", **more)
    honest.start(), liar.start()
    honest_act(honest, path)
    liar_act(liar, path)
    for child, verdict in ((honest, honest_is), (liar, liar_is)):
        said = child.stop(child.report(path))
        if verdict == "fabricated":
            assert said["decision"] == "block"
            continue
        assert said == {}  # it is let through, and not asked again
        if not waits:
            assert (child.row.status, child.row.verdict) == (
                ("completed", "accepted") if verdict == "accepted" else ("partial", "unproven")
            )
            continue
        told = child.hand_over(child.report(path))
        assert told["remit"]["verdict"] == verdict
        if verdict == "unproven":
            assert (told["status"], told["errors"][0]["code"]) == ("partial", "UNPROVEN")


def change(child: Child, path: str) -> None:
    (child.stage.root / path).write_text(TEXTS[path])


def test_a_command_s_own_record_proves_a_file_beside_an_agent_that_wrote_others(tmp_path: Path) -> None:
    stage = Stage(make_workspace(tmp_path / "project"), quick=True)
    honest, sibling = stage.call("writer"), stage.call("tester")
    honest.start(), sibling.start()
    change(honest, "out.md")
    assert honest.use("Bash", command="make", changed=["out.md"]) == {}
    sibling.write("other.md")
    assert honest.stop(honest.report("out.md")) == {}
    assert honest.hand_over(honest.report("out.md"))["remit"]["verdict"] == "accepted"


@pytest.mark.parametrize("is_over", [True, False])
def test_a_file_that_changes_while_a_liar_s_command_runs_proves_nothing(tmp_path: Path, *, is_over: bool) -> None:
    """The harness compares the tree before and after a command, so the record of the liar's names the file, too."""
    stage = Stage(make_workspace(tmp_path / "project"), quick=True)
    honest, liar = stage.call("writer"), stage.call("tester")
    honest.start(), liar.start()
    call = {"tool_name": "Bash", "tool_input": {"command": "make"}, "tool_use_id": "toolu_long"}
    assert stage.send(honest.event("PreToolUse", **call)) == {}
    change(honest, "out.md")
    assert liar.use("Bash", command="true", changed=["out.md"]) == {}
    if is_over:
        diff = {"files": [], "moreFiles": 0, "changedFiles": [f"{stage.root}/out.md"]}
        assert stage.send(honest.event("PostToolUse", **call, tool_response={"bashEditDiff": diff})) == {}
    for child in (liar, honest) if is_over else (liar,):
        assert child.stop(child.report("out.md")) == {}
        assert child.hand_over(child.report("out.md"))["remit"]["verdict"] == "unproven"


@pytest.mark.parametrize("more", ["tools:\n  read: true\n", 'permissions:\n  deny:\n    - write: ["*.md"]\n'])
def test_a_sibling_that_may_not_write_the_file_leaves_no_doubt(tmp_path: Path, more: str) -> None:
    root = make_workspace(tmp_path / "project")
    add_agent(root, "reader", more=more)
    stage = Stage(root, quick=True)
    honest, reader = stage.call("writer"), stage.call("reader")
    honest.start(), reader.start()
    shell(honest, "out.md")
    assert honest.stop(honest.report("out.md")) == {}
    assert honest.hand_over(honest.report("out.md"))["remit"]["verdict"] == "accepted"


def test_a_file_that_a_sibling_removes_is_unproven_in_a_harness(tmp_path: Path) -> None:
    stage = Stage(make_workspace(tmp_path / "project"), quick=True)
    honest, sibling = stage.call("writer"), stage.call("tester")
    honest.start(), sibling.start()
    honest.write("out.md")
    (stage.root / "out.md").unlink()
    assert sibling.use("Bash", command="make clean") == {}
    assert honest.stop(honest.report("out.md")) == {}
    told = honest.hand_over(honest.report("out.md"))
    assert (told["remit"]["verdict"], told["status"], told["remit"]["diagnostics"][0]["code"]) == (
        "unproven",
        "partial",
        "EVD010",
    )


@pytest.mark.parametrize(("rewrites", "verdict"), [(False, "unproven"), (True, "accepted")])
def test_a_subagent_does_not_pass_off_the_failed_work_of_its_own(
    tmp_path: Path, verdict: str, *, rewrites: bool
) -> None:
    stage = Stage(make_workspace(tmp_path / "project"), quick=True)
    parent = stage.call("writer")
    parent.start()
    child = stage.call("tester", by=parent)
    child.start()
    child.write("out.md", "# Half\n")
    assert child.stop(child.report("out.md", status="failed")) == {}
    child.respond(child.report("out.md", status="failed"))
    assert child.row.status == "failed"
    if rewrites:
        parent.write("out.md", "# Whole\n")
    else:
        assert parent.use("Bash", command="touch out.md") == {}
        (stage.root / "out.md").touch()
    assert parent.stop(parent.report("out.md")) == {}
    told = parent.hand_over(parent.report("out.md"))
    assert told["remit"]["verdict"] == verdict
    if not rewrites:
        assert told["remit"]["diagnostics"][0]["code"] == "EVD009"
        assert child.session_id in told["remit"]["diagnostics"][0]["message"]
