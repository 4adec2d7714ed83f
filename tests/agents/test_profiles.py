"""By which rules a file is judged: by its folder, its keys and its sections."""

import re

import pytest

from remit.agents.document import parse_document
from tests.support.agent_samples import CLAUDE, OPENCODE, STANDARD, change, lint

PLACES = (
    ".opencode/agent/subagents/planner.md",
    ".opencode/agent/planner.md",
    ".opencode/agents/planner.md",
    ".claude/agents/planner.md",
    "agents/planner.md",
    "prompts/planner.md",
)
"""The standard's own folder, the folders of harnesses, and one that no harness reads."""
VERSION = 'version: "1.0.0"\n'
KIND = "agent_type: planning\n"


def drop(*keys: str, base: str = STANDARD) -> str:
    """A file without some keys of its frontmatter and what stands below them."""
    for key in keys:
        base, times = re.subn(rf"^{key}:.*\n(?:  .*\n)*", "", base, flags=re.MULTILINE)
        assert times == 1
    return base


def judge(text: str, path: str) -> str:
    return parse_document(path, text).profile


@pytest.mark.parametrize("path", PLACES)
def test_a_conforming_file_lints_clean_wherever_it_lies(path: str) -> None:
    """D11: also at the standard's own path, where a harness reads it, too."""
    told = lint(STANDARD, path)
    assert [(each.code, each.severity) for each in told] == [("AGT069", "note")] * path.startswith(".claude/")


@pytest.mark.conforms("001-02")
@pytest.mark.parametrize("path", PLACES)
@pytest.mark.parametrize(
    ("lost", "named"),
    [
        (VERSION, ["version is missing"]),
        (KIND, ["agent_type is missing"]),
        (VERSION + KIND, ["version is missing", "agent_type is missing"]),
    ],
)
def test_a_missing_version_or_type_is_named(path: str, lost: str, named: list[str]) -> None:
    """D11: such a file is judged by the standard, not by the rules of the harness in whose folder it lies."""
    text = STANDARD
    for line in lost.splitlines(keepends=True):
        text = change(line, "", base=text)
    assert judge(text, path) == "standard"
    found = lint(text, path)
    assert [each.message for each in found if each.code == "AGT020"] == named
    assert {each.code for each in found} - {"AGT069"} == {"AGT020"}


def test_two_keys_of_the_standard_or_one_with_two_sections_show_it() -> None:
    """D11: the structure decides; a version, a timeout or permissions of another form belong to others, too."""
    path = ".claude/agents/planner.md"
    rest = drop("version", "agent_type", "permissions", "context_loading", "delegation")
    assert judge(rest, path) == "standard"
    assert judge(rest.replace("<", "&lt;"), path) == "claude"
    assert judge(drop("lifecycle", base=rest), path) == "claude"
    two = (
        "---\nname: planner\ndescription: Plans.\nlifecycle: {stage: 4}\ndelegation: {max_depth: 3}\n---\n\nPlan it.\n"
    )
    assert judge(two, path) == "standard"
    others = "---\nname: planner\nversion: 1.0.0\ntimeout: 60\npermissions: {bash: {'*': ask}}\n---\n"
    assert judge(others, path) == "claude"


def test_in_the_standards_own_folder_one_sign_is_enough() -> None:
    """D11: the folder says which project it is; its name alone says nothing about a file."""
    own, other = ".opencode/agent/subagents/planner.md", ".opencode/agent/planner.md"
    one = "---\nname: planner\ndescription: Plans.\nmode: subagent\nagent_type: planning\n---\n\nPlan it.\n"
    bare = drop("version", "agent_type", "permissions", "context_loading", "delegation", "lifecycle")
    for text in (one, bare):
        assert (judge(text, own), judge(text, other)) == ("standard", "opencode")
    assert judge(OPENCODE, own) == "opencode"


def test_files_of_others_stay_with_their_harness() -> None:
    assert judge(CLAUDE, ".claude/agents/code-reviewer.md") == "claude"
    primary = "---\ndescription: Routes.\nmode: primary\ndelegation: {max_depth: 3}\nlifecycle: {stage: 1}\n---\n"
    assert judge(primary, ".opencode/agent/orchestrator.md") == "opencode"
    command = "---\ndescription: Plan\ndelegation: {max_depth: 3}\ncontext_loading: {strategy: lazy}\n---\n"
    workflow = f"{command}\n<workflow_execution>\n</workflow_execution>\n"
    assert judge(workflow, ".opencode/command/plan.md") == "command"
    assert judge(workflow, "prompts/plan.md") == "command"
    assert judge(workflow.replace("description", "mode: subagent\ndescription"), "prompts/plan.md") == "standard"
