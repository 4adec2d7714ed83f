"""Formats and workspace roots in hooks: agents of a plugin, without a file in the project."""

from __future__ import annotations

import json
from hashlib import sha256
from typing import TYPE_CHECKING

import pytest
import yaml

from remit.ledger.home import Home
from remit.runs.results.full_result import load_report
from tests.support.hook_session import Stage, make_workspace
from tests.support.hyper_format import PATH, make_block

if TYPE_CHECKING:
    from pathlib import Path

AGENT = "hyper:repo-research-analyst"


@pytest.fixture
def stage(tmp_path: Path) -> Stage:
    return Stage(make_workspace(tmp_path / "project"), quick=True)


def install(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    """Have Claude Code know the plugin, with its output contracts."""
    folder = stage.home / ".claude" / "plugins"
    plugin = folder / "cache" / "hyper"
    (plugin / "skills" / "craft").mkdir(parents=True)
    (plugin / "skills" / "craft" / "output-contracts.md").write_text("# Contracts\n")
    known = {"version": 2, "plugins": {"hyper@market": [{"scope": "user", "installPath": str(plugin)}]}}
    (folder / "installed_plugins.json").write_text(json.dumps(known))
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(stage.home / ".claude"))  # as this process answers


@pytest.mark.conforms("003-01", "003-02")
@pytest.mark.parametrize(
    "settings",
    ["", '[hooks]\nalso_enforce = ["hyper:*"]\n[agents."hyper:*"]\nformat = "hyper"\n'],
    ids=["plugin", "pattern"],
)
def test_agents_of_a_plugin_are_instructed_and_judged_in_their_format(
    stage: Stage, monkeypatch: pytest.MonkeyPatch, settings: str
) -> None:
    """D3: by the plugin's output contracts, or by a pattern."""
    if settings:
        (stage.root / "remit.toml").write_text(settings)
    else:
        install(stage, monkeypatch)
    child = stage.call(AGENT)
    child.start()
    assert '"meta": {"status": "<complete' in child.told
    child.write("analysis.md")
    assert child.stop(child.report("analysis.md"))["decision"] == "block"
    assert child.stop(make_block("analysis.md")) == {}
    assert stage.row(child.row.session_id).state == "finishing"


def test_an_agent_without_a_declared_format_may_use_any(stage: Stage) -> None:
    """D3: also in hooks; it is instructed in the standard format."""
    child = stage.call("writer")
    child.start()
    assert '"metadata"' in child.told
    child.write("notes.md")
    block = make_block("notes.md").replace("repo-research-analyst", "writer")
    assert child.stop(block) == {}
    assert child.hand_over(block)["meta"]["status"] == "complete"


@pytest.mark.conforms("003-08")
@pytest.mark.parametrize("is_written", [True, False])
def test_files_in_an_outside_workspace_root_count(stage: Stage, *, is_written: bool) -> None:
    """D2: the variable is in the hook's environment, as the harness sets it for all that it starts."""
    outer = stage.root.parent / "outer"
    (outer / PATH).parent.mkdir(parents=True)
    (stage.root / "remit.toml").write_text(
        '[hooks]\nalso_enforce = ["hyper:*"]\n[agents."hyper:*"]\nformat = "hyper"\n'
    )
    stage.env["HYPER_WORKSPACE_ROOT"] = str(outer)
    child = stage.call(AGENT)
    child.start()
    if is_written:
        assert child.use("Write", file_path=str(outer / PATH), content="---\ntitle: It\n---\n# Analysis\n") == {}
    answer = child.stop(make_block(PATH))
    assert answer.get("decision") == (None if is_written else "block")
    if is_written:
        child.hand_over(make_block(PATH))
        assert child.row.verdict == "accepted"
        report = load_report(Home(str(stage.root)), child.row.session_id)[0]
        assert report.failed_steps == ()


# Activity


def load_activity(file: Path) -> list[dict[str, str]]:
    """The records in a file's frontmatter."""
    found: list[dict[str, str]] = yaml.safe_load(file.read_text().split("---\n")[1])["activity"]
    return found


@pytest.mark.conforms("003-22", "003-23")
def test_activity_has_the_parent_session_and_the_path(stage: Stage) -> None:
    """R3.11: session, parent session, file path, operation and time; of a direct subagent, also outside the project."""
    outer = stage.root.parent / "outer"
    (outer / PATH).parent.mkdir(parents=True)
    stage.env["HYPER_WORKSPACE_ROOT"] = str(outer)
    text = "---\ntitle: It\n---\n# Analysis\n"
    child = stage.call("planner")
    child.start()
    inner = stage.call("writer", by=child)
    inner.start()
    inner.write("inner.md", text)
    inner.stop(inner.report("inner.md"))
    inner.hand_over(inner.report("inner.md"))
    child.write("plan.md", text)
    assert child.use("Write", file_path=str(outer / PATH), content=text) == {}
    message = make_block(PATH, str(stage.root / "plan.md"), "inner.md").replace("repo-research-analyst", "planner")
    assert child.stop(message) == {}
    child.hand_over(message)
    for file, name, run, parent in (
        (stage.root / "plan.md", "plan.md", child, stage.session),
        (outer / PATH, PATH, child, stage.session),
        (stage.root / "inner.md", "inner.md", inner, child.row.session_id),
    ):
        [record] = load_activity(file)
        assert record.pop("time").endswith("Z")
        assert record == {
            "session": run.row.session_id, "parent_session": parent, "operation": "write", "path": name,
        }  # fmt: skip


def test_sizes_and_hashes_are_those_after_the_record_was_added(stage: Stage) -> None:
    """D17: the result describes the file that is on disk."""
    child = stage.call("planner")
    child.start()
    child.write("plan.md", "---\ntitle: It\n---\n# Plan\n")
    child.stop(child.report("plan.md"))
    child.hand_over(child.report("plan.md"))
    content = (stage.root / "plan.md").read_bytes()
    assert b"activity" in content
    [artifact] = load_report(Home(str(stage.root)), child.row.session_id)[0].artifacts
    assert (artifact.size_bytes, artifact.sha256) == (len(content), sha256(content).hexdigest())


@pytest.mark.conforms("003-24")
def test_what_the_main_session_writes_in_the_workspace_root_is_recorded_when_it_ends(stage: Stage) -> None:
    """R3.11: there alone; a file that changes while its author works makes the next edit fail."""
    outer = stage.root.parent / "outer"
    outer.mkdir()
    stage.env["HYPER_WORKSPACE_ROOT"] = str(outer)
    files = (outer / "task.md", stage.root / "post.md")
    for file in files:
        file.write_text("---\ntitle: It\n---\n# It\n")
        call = {"tool_name": "Write", "tool_input": {"file_path": str(file), "content": "x"}, "tool_use_id": "toolu_9"}
        stage.send(stage.event("PostToolUse", **call, tool_response={"type": "text"}))
    assert "activity" not in files[0].read_text()
    stage.send(stage.event("SessionEnd", reason="exit"))
    [record] = load_activity(files[0])
    assert (record["session"], record["path"], record["operation"]) == (stage.session, "task.md", "write")
    assert "activity" not in files[1].read_text()
