"""Handed on: what was accepted of an agent below need not be named again by whoever handed the work on."""

from __future__ import annotations

import asyncio
import subprocess
from typing import TYPE_CHECKING

import pytest

from remit.evidence.tree import TreeChange
from remit.ledger.hook_runs import add_act
from remit.runs.judging.other_runs import NestedArtifacts, load_nested_artifacts
from remit.runs.workspace import Workspace
from remit.testing import ScriptedAgent

if TYPE_CHECKING:
    from pathlib import Path

    from remit.result import Result


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty repository, and whoever runs the tests is nobody's agent."""
    for name in ("REMIT_TICKET", "REMIT_SESSION_ID", "REMIT_ROOT"):
        monkeypatch.delenv(name, raising=False)
    folder = tmp_path / "project"
    subprocess.run(["git", "init", "-q", str(folder)], check=True)
    return folder


def make(tmp_path: Path, name: str) -> ScriptedAgent:
    return ScriptedAgent(tmp_path / "agents", name)


def hand_on(root: Path, top: ScriptedAgent, *others: ScriptedAgent, accepted: bool = True) -> Result:
    """Run an agent that hands on to another process; each of them has really worked when this ends."""

    async def play() -> Result:
        async with Workspace.open(root) as ws:
            result = await ws.delegate(None, "Do all of it.", command=top.command, reasks=0)
            below = [row for row in ws.list(only_open=False) if row.depth > 1]
            assert len(below) == len(others)
            assert all((row.verdict in ("accepted", "repaired")) is accepted for row in below)
            return result

    result = asyncio.run(play())
    assert all(other.did("wrote") for other in others)
    return result


@pytest.mark.slow
def test_a_parent_need_not_name_what_was_accepted_of_those_below_it(root: Path, tmp_path: Path) -> None:
    """R2.14: with a child and a child's child, each a process with the ticket of the one above it."""
    last = make(tmp_path, "last").obeys({"docs/last.md": "# Last\n"})
    child = make(tmp_path, "child").recurses(None, command=last.command).writes("loose.txt", "left lying\n")
    child.obeys({"docs/child.md": "# Child\n"})
    top = make(tmp_path, "top").recurses(None, command=child.command).obeys({"docs/top.md": "# Top\n"})
    result = hand_on(root, top, child, last)
    assert (result.status, result.verdict) == ("completed", "accepted")
    assert [each.path for each in result.artifacts] == ["docs/top.md"]
    assert (result.unclaimed, result.unclaimed_count) == (("loose.txt",), 1)  # nobody has named it


@pytest.mark.slow
def test_what_a_parent_changes_afterwards_is_its_own_to_name(root: Path, tmp_path: Path) -> None:
    child = make(tmp_path, "child").obeys({"a.md": "# One\n", "b.md": "# Two\n"})
    top = make(tmp_path, "top").recurses(None, command=child.command).writes("b.md", "# Two, put right\n").obeys()
    assert hand_on(root, top, child).unclaimed == ("b.md",)


@pytest.mark.slow
def test_what_a_child_is_not_believed_is_nobodys(root: Path, tmp_path: Path) -> None:
    child = make(tmp_path, "child").writes("a.md", "# One\n").lies("a.md", "made-up.md")
    top = make(tmp_path, "top").recurses(None, command=child.command).obeys()
    assert hand_on(root, top, child, accepted=False).unclaimed == ("a.md",)


@pytest.mark.parametrize("text", ["", "# Half\n\n", "# Whole\n"], ids=["as it is", "with a blank line", "rewritten"])
def test_a_caller_does_not_pass_off_the_failed_work_of_a_nested_run(root: Path, tmp_path: Path, text: str) -> None:
    """Without records of the caller's tools, nothing shows how much of a file that changed again is its own."""
    child = make(tmp_path, "child").writes("c.md", "# Half\n").returns("c.md", status="failed")
    top = make(tmp_path, "top").recurses(None, command=child.command)
    top = top.writes("c.md", text) if text else top
    top.returns("c.md")

    async def play() -> tuple[Result, str]:
        async with Workspace.open(root) as ws:
            result = await ws.delegate(None, "Do all of it.", command=top.command, reasks=0)
            (below,) = (row for row in ws.list(only_open=False) if row.depth > 1)
            assert below.status == "failed"
            return result, below.session_id

    result, session_id = asyncio.run(play())
    assert (result.status, result.verdict) == ("partial", "unproven")
    assert result.diagnostics[0].code == "EVD009"
    assert session_id in result.diagnostics[0].message
    assert result.artifacts[0].grade == "unknown"


def play_below(root: Path, child: ScriptedAgent, *, note: str = "") -> tuple[Result, NestedArtifacts]:
    """A function that hands on to a command and names nothing itself; and what is known of those below it."""

    async def play() -> tuple[Result, NestedArtifacts]:
        async with Workspace.open(root) as ws:

            async def work(_: str) -> str:
                told = await ws.delegate(None, "Do a part of it.", command=child.command, finishes=False)
                with ws.home.ledger.transaction() as db:
                    if note:
                        add_act(db, session_id=told.session_id, path=note, operation="write", parent_id=None)
                return "I had it done."

            result = await ws.delegate(None, "Do all of it.", function=work, reasks=0, finishes=False)
            return result, load_nested_artifacts(ws.home, (result.session_id,), ws.home.root)

    found = asyncio.run(play())
    assert child.did("wrote")
    return found


def test_it_is_known_by_its_place_and_what_is_in_it(root: Path, tmp_path: Path) -> None:
    result, below = play_below(root, make(tmp_path, "child").writes("b.txt", "not named\n").obeys({"a.md": "# A\n"}))
    assert (result.status, result.unclaimed) == ("failed", ("b.txt",))
    ((place, digests),) = below.made.items()
    (digest,) = digests
    assert place == "a.md"
    assert below.has(TreeChange("a.md", "created", 4, digest), written=None)
    assert not below.has(TreeChange("a.md", "created", 4, "0" * 64), written=None)
    assert not below.has(TreeChange("a.md", "created", 4, "", "too large"), written=None)
    assert not below.has(TreeChange("a.md", "deleted"), written=None)
    assert not below.has(TreeChange("c.md", "created", 4, digest), written=None)


def test_a_link_is_named_and_what_it_leads_to_is_made(root: Path, tmp_path: Path) -> None:
    (root / "real").mkdir()
    (root / "docs").symlink_to("real")
    result, below = play_below(root, make(tmp_path, "child").obeys({"docs/a.md": "# A\n"}))
    assert below.made.keys() == {"docs/a.md", "real/a.md"}
    assert not result.unclaimed


def test_what_settling_adds_to_a_file_is_not_held_against_anybody(root: Path, tmp_path: Path) -> None:
    """R3.11: the activity in its frontmatter is Remit's, unless the one above wrote to the file itself."""
    _, below = play_below(root, make(tmp_path, "child").obeys({"a.md": "# A\n"}), note="a.md")
    later = TreeChange("a.md", "created", 40, "0" * 64)
    assert below.has(later, written=None)
    assert below.has(later, written=frozenset({"other.md"}))
    assert not below.has(later, written=frozenset({"a.md"}))
