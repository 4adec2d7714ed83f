"""Company: in a folder that several runs share, a change without a tool record proves nothing about one of them."""

from __future__ import annotations

import asyncio
import json
import os
import re
import time
from contextlib import closing
from typing import TYPE_CHECKING

import pytest

from remit.ledger.home import Home
from remit.ledger.runs import Run, add_run
from remit.runs.judging.other_runs import find_shared_tree
from remit.runs.workspace import Workspace

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from remit.result import Result
    from remit.testing.agent import ScriptedAgent

USED = {"type": "tool_use", "id": "t1", "name": "Write", "input": {"file_path": "report.md"}}
STREAM = [
    {"type": "system", "subtype": "init", "session_id": "x"},
    {"type": "assistant", "session_id": "x", "parent_tool_use_id": None, "message": {"id": "m1", "content": [USED]}},
    {"type": "user", "session_id": "x", "message": {"content": [{"type": "tool_result", "tool_use_id": "t1"}]}},
]
WRITER = """#!/bin/sh
echo "# By the writer" > report.md
cat <<'END'
%s
END
touch wrote
until [ -e go ]; do sleep 0.02; done
exit 1
"""
"""A harness that tells what it writes, and comes to nothing afterwards."""


async def until(holds: Callable[[], object]) -> None:
    last = time.monotonic() + 30
    while not holds():
        assert time.monotonic() < last
        await asyncio.sleep(0.02)


def work_beside(root: Path, folder: Path, agent: ScriptedAgent, *, is_over: bool) -> Result:
    """What becomes of an agent beside another that has written report.md, and is over by then or not."""
    program = folder / "claude"
    program.write_text(WRITER % "\n".join(map(json.dumps, STREAM)))
    program.chmod(0o755)

    async def play() -> Result:
        environ = {**os.environ, "PATH": f"{folder}:{os.environ['PATH']}"}
        async with Workspace.open(root, environ=environ) as ws:
            second = asyncio.ensure_future(ws.delegate(None, "Report.", command=agent.command, reasks=0, timeout_s=60))
            await until(lambda: agent.did("began"))
            first = asyncio.ensure_future(ws.delegate(None, "Write.", runner="claude", reasks=0, timeout_s=60))
            await until((root / "wrote").exists)
            if is_over:
                (root / "go").touch()
                await first
            else:
                await asyncio.sleep(1)  # what is printed is heard a moment later
            (root / "on").touch()
            told = await second
            (root / "go").touch()
            await first
            return told

    return asyncio.run(play())


@pytest.mark.parametrize("is_over", [True, False])
@pytest.mark.parametrize("own", [False, True])
def test_beside_a_sibling_a_change_without_a_tool_record_is_unproven(
    root: Path, agent: ScriptedAgent, tmp_path_factory: pytest.TempPathFactory, *, is_over: bool, own: bool
) -> None:
    agent.waits_for("on")
    told = work_beside(
        root,
        tmp_path_factory.mktemp("bin"),
        agent.obeys({"own.md": "# Own\n"}) if own else agent.lies("report.md"),
        is_over=is_over,
    )
    if own and is_over:  # the sibling had ended, and its tree shows that it didn't write the file
        assert (told.status, told.verdict) == ("completed", "accepted")
        return
    assert (told.status, told.verdict, told.attempts) == ("partial", "unproven", 1), told
    assert (told.diagnostics[0].code, told.errors[0].code) == ("EVD003", "UNPROVEN")
    assert ("own.md" if own else "report.md") in told.errors[0].message


@pytest.mark.parametrize(("second", "verdict"), [("made", "unproven"), ("nothing", "fabricated")])
def test_a_later_run_that_lists_the_files_of_an_earlier_one_is_not_false(root: Path, second: str, verdict: str) -> None:
    """If it made something itself: to list only what was there is no work."""

    def act(prompt: str) -> str:
        session = re.findall(r"Session (sess_\w+)", prompt)[-1]
        paths = ["one.md", "two.md"] if "SECOND" in prompt and second == "made" else ["one.md"]
        if paths[-1:] != ["one.md"] or "FIRST" in prompt:
            (root / paths[-1]).write_text("# New\n")
        return json.dumps({
            "status": "completed", "summary": "The part is done. It is written down.",
            "artifacts": [{"type": "report", "path": path, "summary": "A part"} for path in paths],
            "metadata": {"session_id": session, "duration_seconds": 1, "agent_type": "python", "delegation_depth": 1,
                         "delegation_path": ["orchestrator", "python"]},
            "errors": [],
        })  # fmt: skip

    async def play() -> list[Result]:
        async with Workspace.open(root) as ws:
            return [await ws.delegate(None, each, function=act, reasks=0) for each in ("FIRST", "SECOND")]

    first, later = asyncio.run(play())
    assert (first.status, first.verdict) == ("completed", "accepted")
    assert later.verdict == verdict
    if verdict == "unproven":
        assert (later.diagnostics[0].code, later.status) == ("EVD011", "partial")
        assert first.session_id in later.diagnostics[0].message


def test_another_agent_has_the_permissions_of_all_its_files_and_of_its_callers(tmp_path: Path) -> None:
    reading, denied, above = {"tools": ["read"]}, {"deny": {"write": ["src/**"]}}, {"deny": {"bash": ["rm *"]}}
    root = str(tmp_path)
    own = Run("sess_1_own000", "reporter", 1, ("o", "reporter"), state="running", started_ms=1,
                     details={"root": root})  # fmt: skip
    caller = own._replace(session_id="sess_1_caller", details={"root": f"{root}/elsewhere", "permissions": above})
    other = own._replace(session_id="sess_1_other0", parent_id=caller.session_id,
                         details={"root": root, "permissions": reading, "also": [denied]})  # fmt: skip
    with closing(Home(root)) as home:
        for row in (own, caller, other):
            add_run(home.ledger, row)
        [found] = find_shared_tree(home, own, root, since={}).others
    assert sorted(map(json.dumps, found.layers)) == sorted(map(json.dumps, (reading, denied, above)))
