"""A plugin with output contracts: its agents have no file in the project, and write outside of it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from remit import check
from tests.support.hook_session import Stage
from tests.support.hyper_plugin import AGENT, DOCUMENT, NOTE, VALUE
from tests.support.return_samples import marked

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.support.conformance_project import Project
    from tests.support.hook_session import Child


@pytest.fixture
def outside(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The plugin's workspace root, as its own script finds it."""
    folder = tmp_path_factory.mktemp("hyper")
    monkeypatch.setenv("HYPER_WORKSPACE_ROOT", str(folder))
    return folder


@pytest.fixture
def plugin(place: Callable[[str], Project], outside: Path) -> Project:
    assert outside.is_dir()
    return place("hyper-plugin")


def test_doctor_says_which_format_each_agent_has(plugin: Project) -> None:
    """D3."""
    told = plugin("doctor").text
    assert f"{AGENT}: hyper" in told
    assert "hyper:testing:session-tester: hyper" in told
    assert "output-contracts.md" in told


def test_remit_runs_an_agent_of_the_plugin(plugin: Project, outside: Path) -> None:
    """D2 D3 D4: it is instructed, judged and reported in its own format, without a setting."""
    body = f"write({str(outside / DOCUMENT)!r}, {NOTE!r})\nprint({marked(VALUE)!r})\n"
    program = plugin.program(body)
    result = plugin.run(program, agent=AGENT)
    assert "AGENT_OUTPUT_START" in program.prompts[0]
    assert (result["meta"]["status"], result["meta"]["agent_name"]) == ("complete", "repo-research-analyst")
    assert result["artifacts"] == VALUE["artifacts"]
    assert check(json.dumps(result), format="hyper").accepted
    assert "diagnostics" not in result["remit"]
    assert plugin.git("status", "--porcelain") == ""


def call(plugin: Project, outside: Path) -> Child:
    assert plugin("hooks", "install", "claude").code == 0
    stage = Stage(plugin.root, quick=True)
    stage.env["HYPER_WORKSPACE_ROOT"] = str(outside)
    child = stage.call(AGENT, "How do sessions expire? The slug is sessions.")
    child.start()
    return child


def test_the_harness_starts_an_agent_of_the_plugin(plugin: Project, outside: Path) -> None:
    """D2 D3 D4 by hook events: the caller gets JSON of the contract, and the document its activity."""
    child = call(plugin, outside)
    assert "AGENT_OUTPUT_START" in child.told
    file = outside / DOCUMENT
    file.parent.mkdir(parents=True)
    assert child.use("Write", file_path=str(file), content=NOTE) == {}
    answer = marked(VALUE)
    assert child.stop(answer) == {}
    text = child.respond(answer)["hookSpecificOutput"]["updatedToolOutput"]["content"][0]["text"]
    assert check(text, format="hyper").accepted
    assert child.row.verdict == "accepted"
    head = file.read_text().split("---")[1]
    assert child.row.session_id in head
    assert DOCUMENT in head
    assert plugin.git("diff", "--name-only") == ""


def test_a_document_that_is_not_there_is_not_complete(plugin: Project, outside: Path) -> None:
    """D2: evidence covers the workspace root, so a lie there is one."""
    child = call(plugin, outside)
    assert child.stop(marked(VALUE))["decision"] == "block"
