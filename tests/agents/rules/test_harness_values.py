"""No value in a harness's file stops a rule, and no fix makes a file unreadable or gives a key twice."""

import json

import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from remit.agents.document import parse_document
from remit.model import Diagnostic
from tests.support.agent_samples import (
    CLAUDE,
    CLAUDE_PATH,
    CODEX_PATH,
    COMMAND_PATH,
    OPENCODE_PATH,
    change,
    fix_until_stable,
    lint,
)
from tests.support.sample_sizes import choose

NAMES = [
    "name", "nmae", "description", "descripton", "tools", "tool", "allowed-tools", "allowedTools", "disallowedTools",
    "permission", "permissions", "permision", "permissionMode", "hooks", "model", "Model", "mode", "maxTurns",
    "max_turns", "steps", "maxSteps", "stepps", "memory", "isolation", "effort", "background", "color", "hidden",
    "disable", "skills", "mcpServers", "temperature", "top_p", "prompt", "agent", "sandbox_mode", "reasoning_effort",
    "nickname_candidates", "developer_instructions", "a/b", "x~y", "timeout", "variant",
]  # fmt: skip
WORDS = [
    "", " ", "Read, Grep", "read Bash(git:*)", "Task(a, b)", "mcp__a__b", "*", "sonnet", "haiku-4.5", "x/y", "allow",
    "ask", "denied", "Subagent", "plan", "#f00", "red", "yes", "true", "3", "0.5", "@planner", "-x", "Über", "~", "[",
    "worktre", "None", "bypassPermissions", "{{X}}", "inherit", "claude-x",
]  # fmt: skip
TOOLS = [
    "read",
    "Read",
    "bash",
    "Bash",
    "write",
    "edit",
    "patch",
    "*",
    "git *",
    "PreToolUse",
    "preToolUse",
    "hooks",
    "type",
]
SCALARS = st.one_of(
    st.none(), st.booleans(), st.integers(-2, 99), st.just(10**300), st.sampled_from([0.5, -1.5, 1e300, float("nan")]),
    st.sampled_from(WORDS),
)  # fmt: skip
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from(TOOLS), inner, max_size=5),
    max_leaves=12,
)
HEADS = st.dictionaries(st.sampled_from(NAMES), VALUES, max_size=9)
PATHS = st.sampled_from([CLAUDE_PATH, OPENCODE_PATH, COMMAND_PATH, "agents/x.md", ".opencode/agents/a/b.md"])


@pytest.mark.slow
@settings(max_examples=choose(50, 250), deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(HEADS, PATHS, st.booleans(), st.booleans())
def test_any_value_can_be_judged_and_fixed(
    head: dict[str, object],
    path: str,
    block: bool,  # noqa: FBT001 - hypothesis
    crlf: bool,  # noqa: FBT001 - hypothesis
) -> None:
    lines = "".join(f"{json.dumps(key)}: {json.dumps(value)}\n" for key, value in head.items())
    text = f"---\n{yaml.safe_dump(head, sort_keys=False) if block else lines}---\n\n# Title\n\nYou review.\n"
    check_fixes(text.replace("\n", "\r\n") if crlf else text, path)


def check_fixes(text: str, path: str) -> None:
    """Fix all there is, and read the file again."""

    def check(text: str) -> list[Diagnostic]:
        return lint(text, path)

    findings = check(text)
    assert all(finding.message and finding.hint and finding.place for finding in findings)
    before = parse_document(path, text)
    fixed = fix_until_stable(text, check, unsafe=True).text
    after = parse_document(path, fixed)
    assert before.frontmatter is not None
    assert after.frontmatter is not None, fixed
    if not before.frontmatter.problems:
        assert not after.frontmatter.problems, fixed
    assert fixed.count("\r\n") == fixed.count("\n") or "\r\n" not in text, fixed


@pytest.mark.slow
@settings(max_examples=choose(30, 150), deadline=None)
@given(
    st.dictionaries(st.sampled_from(NAMES), st.sampled_from([5, True, [], ["a", 1], {}, {"a": 1}, "", "x"]), max_size=8)
)
def test_any_value_of_codex_too(values: dict[str, object]) -> None:
    text = "".join(f"{json.dumps(key)} = {render(value)}\n" for key, value in values.items())
    check_fixes(text, CODEX_PATH)


def render(value: object) -> str:
    """A value as TOML."""
    return "{ a = 1 }" if isinstance(value, dict) and value else json.dumps(value)


CASES = {
    ".claude/agents/a.md": {
        "name: a\ndescription: x\nhooks: {}": [],
        "name: a\ndescription: x\ntools: []": [],
        "name: a\ndescription: x\ntools: '*'": [],
        "name: a\ndescription: x\ntools: Agent(b, c) Read": [],
        "name: a\ndescription: x\nmodel: claude-opus-4-1-20250805": [],
        "name: a\ndescription: x\nmodel: opus[1m]": [],
        "name: a\ndescription: x\neffort: High": [],
        "name: a\ndescription: x\nmaxTurns: '20'": [],
        "name: -a\ndescription: x": ["AGT201"],
        "name: 5\ndescription: x": ["AGT040"],
        "Name: a\ndescription: x": ["AGT206"],
        "name: a\ndescription: x\ndisallowedTools: Bash(rm:*)": ["AGT216"],
        "name: a\ndescription: x\nhooks: {Stop: [{hooks: [{command: ls}]}]}": ["AGT211"],
        "name: a\ndescription: x\ntools: Read, Bash\ndisallowedTools: [Bash, Read]": ["AGT215", "AGT215"],
    },
    "plugin/agents/a.md": {
        "description: x": [],
        "name: a\ndescription: x\nhooks: {PreToolUse: []}": ["AGT208"],
    },
    ".opencode/agent/a.md": {
        "mode: primary": [],
        "description: x\npermission: deny": [],
        "description: x\npermission: {bash: {'*': deny, 'git diff *': allow}}": [],
        "description: x\npermission: {my_mcp_*: allow, custom: deny}": [],
        "description: x\nhidden: yes": ["AGT044"],
        "description: x\nname: a": [],
        "description:": ["AGT301"],
        "description: x\npermission: {webfetch: {'*': deny}}": ["AGT320"],
        "description: x\npermission: {read: allow, '*': deny}": ["AGT323"],
        "description: x\ncolor: #ff0000": ["AGT039"],
        "description: x\ntools: {write: false, edit: true}": ["AGT326"],
    },
}


@pytest.mark.parametrize(("path", "head"), [(path, head) for path, heads in CASES.items() for head in heads])
def test_what_a_harness_reads_is_no_finding(path: str, head: str) -> None:
    codes = [finding.code for finding in lint(f"---\n{head}\n---\n\nYou review.\n", path)]
    assert codes == CASES[path][head]


def test_opencode_does_not_start_with_a_truth_that_is_none() -> None:
    severities = {
        finding.code: finding.severity for finding in lint("---\ndescription: 5\nhidden: yes\n---\nx\n", OPENCODE_PATH)
    }
    assert severities == {"AGT040": "error", "AGT044": "error"}


def test_two_tools_of_which_the_last_wins_are_not_translated() -> None:
    findings = lint("---\ndescription: x\ntools: {write: false, edit: true}\n---\nx\n", OPENCODE_PATH)
    assert [finding.fix for finding in findings] == [None]


def test_a_workflow_of_an_agent_is_no_command() -> None:
    body = "<workflow_execution>\n<stage_1>x</stage_1>\n</workflow_execution>\n"
    assert not lint(f"---\nmode: subagent\ndescription: x\n---\n{body}", "docs/x.md")
    assert [each.code for each in lint(f"---\ndescription: x\n---\n{body}", "docs/x.md")] == ["AGT500", "AGT504"]


@pytest.mark.parametrize(
    "line",
    [
        "permissionMode: manual",
        "omitClaudeMd: true",
        "autoCompactWindow: 50000",
        "observer: reviewer",
        "observerMessage: Watch it.",
        "observeSubagents: false",
    ],
)
def test_what_claude_code_reads_today_is_no_finding(line: str) -> None:
    text = change("model: sonnet\n", f"model: sonnet\n{line}\n", base=CLAUDE)
    assert not lint(CLAUDE, path=CLAUDE_PATH)
    assert not lint(text, path=CLAUDE_PATH)
