"""Tried: of each attempt is kept what it claims, what was found of it, and which line of it was wrong."""

from __future__ import annotations

import asyncio
import os
import shlex
import subprocess
from typing import TYPE_CHECKING

import pytest

from remit.ledger.runs import list_attempts, load_run
from remit.runs.admission.run_config import read_run_config
from remit.runs.workspace import Workspace
from tests.support.ledger_rows import answer

if TYPE_CHECKING:
    from pathlib import Path

    from remit.ledger.runs import AttemptRow


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ("REMIT_TICKET", "REMIT_SESSION_ID", "REMIT_ROOT"):
        monkeypatch.delenv(name, raising=False)
    git(tmp_path, "init", "-q")
    (tmp_path / "there.md").write_text("old\n")
    git(tmp_path, "add", "there.md")
    git(tmp_path, "commit", "-q", "-m", "one")
    return tmp_path


def git(folder: Path, *args: str) -> str:
    identity = ["-c", "user.name=a", "-c", "user.email=a@example.com"]
    return subprocess.run(["git", *identity, *args], cwd=folder, check=True, capture_output=True, text=True).stdout


def run(root: Path, script: str) -> tuple[AttemptRow, str]:
    """The last attempt of an agent, and the commit that it was begun on."""

    async def play() -> tuple[AttemptRow, str]:
        async with Workspace.open(root, environ={**os.environ}) as ws:
            result = await ws.delegate(None, "go", command=f"sh -c {shlex.quote(script)}", timeout_s=60)
            row = load_run(ws.home.ledger, result.session_id)
            assert row is not None
            return list_attempts(ws.home.ledger, result.session_id)[-1], read_run_config(row.details).commit

    return asyncio.run(play())


def test_each_claim_is_kept_with_what_was_found_of_it(root: Path) -> None:
    attempt, _ = run(root, f"echo new > made.md; {answer('made.md', 'there.md', 'nowhere.md')}")
    claims = {claim["path"]: claim for claim in attempt.claims}
    assert attempt.verdict == "fabricated"
    assert {path: (claim["state"], claim["grade"]) for path, claim in claims.items()} == {
        "made.md": ("file", "changed"),
        "there.md": ("file", "unchanged"),
        "nowhere.md": ("missing", "missing"),
    }
    assert claims["made.md"]["size_bytes"] == 4
    assert len(claims["made.md"]["sha256"]) == 64
    assert claims["there.md"]["reason"]


def test_a_finding_names_the_line_of_the_answer_that_it_is_about(root: Path) -> None:
    attempt, _ = run(root, answer("nowhere.md"))
    places = [finding["place"] for finding in attempt.diagnostics if finding.get("place")]
    printed = answer("nowhere.md").split("\n")
    assert places
    assert all(1 <= line <= len(printed) for line, *_ in places)
    assert all(finding["hint"] for finding in attempt.diagnostics)


def test_what_was_repaired_is_kept(root: Path) -> None:
    attempt, _ = run(root, f"echo new > made.md; {answer('made.md', end=',}')}")
    assert attempt.verdict == "repaired"
    assert [(repair["kind"], len(repair["place"])) for repair in attempt.repairs] == [("trailing_comma", 4)]


def test_the_commit_that_was_checked_out_is_remembered(root: Path) -> None:
    before = git(root, "rev-parse", "HEAD").strip()
    _, commit = run(root, "git -c user.name=a -c user.email=a@b commit -q --allow-empty -m two; echo no return")
    assert commit == before
    assert git(root, "rev-parse", "HEAD").strip() != before
