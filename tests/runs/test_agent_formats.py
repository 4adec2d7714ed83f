"""Formats and workspace roots in runs: an agent is judged by its format, and its files count where that has them."""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING, Any

import pytest

from remit.ledger.runs import load_run
from remit.runs.admission.run_config import read_run_config
from remit.runs.workspace import Workspace
from tests.support.hyper_format import PATH, make_block

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from remit.result import Result


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ("REMIT_TICKET", "REMIT_SESSION_ID", "REMIT_ROOT", "HYPER_WORKSPACE_ROOT", "XDG_DATA_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    (tmp_path / "project" / ".git").mkdir(parents=True)
    return tmp_path / "project"


def run(root: Path, function: Callable[[str], str], **options: Any) -> tuple[Result, dict[str, Any]]:  # noqa: ANN401
    """Run a function as an agent; its result, and what was decided when it was admitted."""

    async def delegate() -> tuple[Result, dict[str, Any]]:
        async with Workspace.open(root) as ws:
            result = await ws.delegate(None, "Look into it.", function=function, reasks=0, **options)
            row = load_run(ws.home.ledger, result.session_id)
            assert row is not None
            return result, read_run_config(row.details)._asdict()

    return asyncio.run(delegate())


def write(folder: Path, text: str = "# Analysis\n") -> None:
    (folder / PATH).parent.mkdir(parents=True, exist_ok=True)
    (folder / PATH).write_text(text)


def test_an_undeclared_agent_is_judged_by_the_format_it_used(root: Path) -> None:
    """D3: it is instructed in the standard format, may use another, and a note says so."""
    told: list[str] = []

    def work(prompt: str) -> str:
        told.append(prompt)
        write(root)
        return make_block(PATH)

    result, config = run(root, work)
    assert (result.status, result.verdict) == ("completed", "accepted")
    assert [finding.code for finding in result.diagnostics if finding.severity == "note"] == ["RET014"]
    assert '"metadata"' in told[0]
    assert config["any_format"]


@pytest.mark.parametrize("settings", ['[returns]\nformat = "standard"\n', '[agents."*"]\nformat = "standard"\n'])
def test_a_declared_format_is_the_only_one(root: Path, settings: str) -> None:
    """D3: also for a function or a command, which has no agent file."""
    (root / "remit.toml").write_text(settings)
    result, config = run(root, lambda _: make_block())
    assert (result.status, result.verdict) == ("failed", "invalid")
    assert not config["any_format"]
    result, config = run(root, lambda _: make_block(), return_format="hyper")
    assert (result.status, config["format"]) == ("completed", "hyper")


def set_variable(monkeypatch: pytest.MonkeyPatch, root: Path, outer: Path) -> None:
    del root
    monkeypatch.setenv("HYPER_WORKSPACE_ROOT", str(outer))


def set_registry(monkeypatch: pytest.MonkeyPatch, root: Path, outer: Path) -> None:
    """Have hyper's own files say where the workspace of the project is."""
    del monkeypatch
    home = root.parent / "home" / ".hyper"
    folder = home / "accounts" / "acc_1" / "hyper"
    (folder / "workspaces").mkdir(parents=True)
    (home / "active-account.json").write_text('{"activeAccountId": "acc_1"}')
    rows = [{"id": "../../..", "localPath": "/elsewhere"}, {"id": "ws_1", "localPath": str(root)}]
    (folder / "workspaces.json").write_text(json.dumps({"workspaces": rows}))
    (folder / "workspaces" / "ws_1").symlink_to(outer)


@pytest.mark.conforms("003-08")
@pytest.mark.parametrize("format", ["hyper", None], ids=["declared", "any"])
@pytest.mark.parametrize("set_root", [set_variable, set_registry])
def test_files_in_a_workspace_root_outside_the_project_count(
    root: Path, monkeypatch: pytest.MonkeyPatch, set_root: Callable[..., None], format: str | None
) -> None:
    """D2: an honest return is accepted; one that claims a file that is not there, or did not change, is fabricated."""
    outer = root.parent / "outer"
    outer.mkdir()
    set_root(monkeypatch, root, outer)

    def work(_: str) -> str:
        write(outer)
        return make_block(PATH)

    result, _ = run(root, work, return_format=format)
    assert (result.status, result.verdict) == ("completed", "accepted"), result.diagnostics
    assert [artifact.grade for artifact in result.artifacts] == ["changed"]
    result, _ = run(root, lambda _: make_block(PATH), return_format=format)
    assert (result.status, result.verdict) == ("failed", "fabricated")
    (outer / PATH).unlink()
    result, _ = run(root, lambda _: make_block(PATH), return_format=format)
    assert (result.status, result.verdict) == ("failed", "fabricated")
