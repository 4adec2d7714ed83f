"""Definitions: what a file says of its agent, in one form for every harness, whatever its values are."""

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from remit.agents.definition import ANYONE, MAX_TARGETS, Definition, read_definition, split_claude_tools
from remit.agents.document import make_unreadable, parse_document
from tests.support.agent_samples import (
    CLAUDE,
    CLAUDE_PATH,
    CODEX,
    CODEX_PATH,
    OPENCODE,
    OPENCODE_PATH,
    STANDARD,
    STANDARD_PATH,
)
from tests.support.sample_sizes import choose


def read(text: str, path: str = STANDARD_PATH) -> Definition:
    found = read_definition(parse_document(path, text))
    assert found is not None
    return found


def read_head(head: str, path: str = "agents/a.md") -> Definition:
    return read(f'---\nname: a\nversion: "1.0.0"\nagent_type: review\n{head}\n---\n', path)


def test_a_standard_agent_says_all_of_it() -> None:
    """R1.1 to R1.6."""
    found = read(STANDARD)
    assert (found.name, found.profile, found.kind, found.mode) == ("planner", "standard", "planning", "subagent")
    assert (found.timeout_s, found.max_depth, found.command) == (1800, 3, "/plan")
    assert [target.name for target in found.targets] == ["status-sync-manager", "git-workflow-manager"]
    assert found.tools == ("read", "write", "edit", "bash", "grep", "glob")
    assert found.allow["bash"] == ("grep", "wc", "date")
    assert found.deny == {"bash": ("rm", "sudo"), "write": (".git/**/*",)}
    assert found.places["timeout"].line == 9


def test_every_harness_s_agent_has_the_same_form() -> None:
    claude, opencode, codex = read(CLAUDE, CLAUDE_PATH), read(OPENCODE, OPENCODE_PATH), read(CODEX, CODEX_PATH)
    assert {each.name for each in (claude, opencode, codex)} == {"code-reviewer"}
    assert claude.tools == ("read", "grep", "glob", "bash")
    assert (opencode.tools, opencode.mode) == (None, "subagent")
    assert (codex.tools, codex.description) == (None, "Reviews changed code for faults.")


def test_an_agent_without_a_name_is_called_after_its_file_and_in_opencode_its_folders() -> None:
    assert read("---\nname: other\ndescription: d\n---\n", ".opencode/agent/mine.md").name == "other"
    assert read("---\ndescription: d\n---\n", ".opencode/agent/mine.md").name == "mine"
    assert read("---\ndescription: d\n---\n", ".opencode/agent/sub/mine.md").name == "sub/mine"
    assert read("---\ndescription: d\n---\n", ".claude/agents/mine.md").name == "mine"


@pytest.mark.parametrize("text", ["", "# no frontmatter\n", "---\n---\n", "---\n- a\n---\n"])
def test_a_file_without_values_defines_no_agent(text: str) -> None:
    assert read_definition(parse_document("agents/a.md", text)) is None


def test_a_file_that_cannot_be_read_defines_no_agent() -> None:
    assert read_definition(make_unreadable("agents/a.md", "it is a pipe")) is None


@pytest.mark.parametrize(
    ("tools", "names"),
    [
        ("Read, Bash(git:*, ls), Agent(a, b)", ["Read", "Bash(git:*, ls)", "Agent(a, b)"]),
        (["Read", 3, " Grep "], ["Read", "Grep"]),
        ("", []),
        (None, []),
        ({"Read": True}, []),
    ],
)
def test_commas_in_parentheses_part_no_tools(tools: object, names: list[str]) -> None:
    assert split_claude_tools(tools) == names


@pytest.mark.parametrize(
    ("head", "tools"),
    [
        ("tools: {read: true, write: false, zzz: true}", ("read",)),
        ("tools: [Read, read, BASH, 3]", ("read", "bash")),
        ("tools: all", None),
        ("", None),
    ],
)
def test_tools_may_be_a_table_or_a_list(head: str, tools: tuple[str, ...] | None) -> None:
    """C12."""
    assert read_head(head).tools == tools


def test_permissions_may_be_rows_or_one_table() -> None:
    found = read_head("permissions: {allow: [{bash: ls}, {bash: [git, 3]}, 7], deny: {write: [x], 'a/b': y}}")
    assert found.allow == {"bash": ("ls", "git")}
    assert found.deny == {"write": ("x",), "a/b": ("y",)}


@pytest.mark.parametrize("given", ["Bash: [git push]", "BASH: git push", "shell: [git push]", '"Bash(git push:*)"',
                                   '"Bash(git push *)"'])  # fmt: skip
def test_a_tool_of_a_permission_is_known_by_any_of_its_names(given: str) -> None:
    found = read_head(f"permissions:\n  deny:\n    - {given}")
    assert (found.deny, found.unread) == ({"bash": ("git push",)}, None)


@pytest.mark.parametrize(("rule", "tool", "patterns"), [
    ("Read(.env)", "read", ("**/.env", "**/.env/**")),
    ("Read(./secrets/**)", "read", ("secrets/**", "secrets/**/**")),
    ("Edit(//etc/x)", "edit", ("/etc/x",)),
    ("Write(/docs)", "write", ("docs", "docs/**")),
    ("WebFetch", "webfetch", ("*",)),
    ("Bash", "bash", ("*",)),
    ("mcp__github__push", "mcp__github__push", ("*",)),
])  # fmt: skip
def test_rules_as_claude_code_has_them(rule: str, tool: str, patterns: tuple[str, ...]) -> None:
    assert read_head(f'permissions: {{deny: ["{rule}"]}}').deny == {tool: patterns}


@pytest.mark.parametrize(("permissions", "place"), [
    ("5", "/permissions"),
    ("{deny: 5}", "/permissions/deny"),
    ("{deny: Bash}", "/permissions/deny"),
    ("{denny: [{bash: rm}]}", "/permissions/denny"),
    ("{deny: [{bsh: [git push]}]}", "/permissions/deny/0/bsh"),
    ("{allow: {bahs: [git]}}", "/permissions/allow/bahs"),
    ("{deny: [{bash: [rm, 3]}]}", "/permissions/deny/0/bash"),
    ("{deny: [{bash: }]}", "/permissions/deny/0/bash"),
    ('{deny: ["Bsh(git push)"]}', "/permissions/deny/0"),
    ("{deny: [rm -rf]}", "/permissions/deny/0"),
    ("{deny: [7]}", "/permissions/deny/0"),
    ("{deny: [{bash: [rm]}], deny: []}", "/permissions/deny"),
    ("{deny: [{bash: [rm], bash: []}]}", "/permissions/deny/0/bash"),
    ("{deny: [{bash: 'rm, git push'}]}", "/permissions/deny/0/bash"),
    ("{deny: [{bash: [rm]}]}\npermissions: {}", "/permissions"),
])  # fmt: skip
def test_permissions_that_nobody_can_read_are_known_as_such(permissions: str, place: str) -> None:
    assert read_head(f"permissions: {permissions}").unread == place


@pytest.mark.parametrize("key", ["Permissions", "permissons", "perms"])
def test_permissions_under_another_key_are_not_overlooked(key: str) -> None:
    assert read_head(f"{key}: {{deny: [{{bash: [rm]}}]}}").unread == f"/{key}"
    text = f"---\nname: a\n{key}: {{deny: []}}\n---\nGo.\n"
    assert read(text, CLAUDE_PATH).unread == f"/{key}"
    assert read("---\nname: a\npermissionMode: plan\npermission: {bash: deny}\n---\nGo.\n", CLAUDE_PATH).unread is None


@pytest.mark.parametrize("permissions", ["", "{allow: , deny: []}", "{deny: [{bash: []}, {mcp__x: ['*']}, {jira: y}]}"])
def test_permissions_that_say_little_are_read(permissions: str) -> None:
    assert read_head(f"permissions: {permissions}").unread is None


def test_any_agent_is_a_target_of_its_own() -> None:
    assert [each.name for each in read("---\nname: a\ntools: Task\n---\n", CLAUDE_PATH).targets] == [ANYONE]
    for head in ("permission: {task: ask}", "tools: {task: true}"):
        assert [each.name for each in read(f"---\n{head}\n---\n", OPENCODE_PATH).targets] == [ANYONE]


def test_only_so_many_targets_are_read() -> None:
    many = ", ".join(f"a{number}" for number in range(1_000))
    assert len(read_head(f"delegation: {{can_delegate_to: [{many}]}}").targets) == MAX_TARGETS
    text = f"---\nname: a\ntools: [{', '.join(f'Agent(a{n})' for n in range(1_000))}]\n---\n"
    assert len(read(text, CLAUDE_PATH).targets) == MAX_TARGETS


def test_a_command_calls_whom_its_text_names() -> None:
    text = '---\nagent: one\nrouting: {default: two, lean: 3}\n---\nAsk @three, then delegate to "four-five".\n'
    found = read(text, ".claude/commands/go.md")
    assert (found.name, found.profile) == ("go", "command")
    assert found.calls == ("one", "two", "three", "four-five")


ODD = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**30), 10**30) | st.floats() | st.text("ab*/{}\"'\n,() ", max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text("ab/~*", max_size=3), inner, max_size=3),
    max_leaves=6,
)
KEYS = ("name", "description", "agent_type", "mode", "timeout", "tools", "permissions", "permission", "delegation",
        "lifecycle", "agent", "routing")  # fmt: skip


@pytest.mark.slow
@settings(max_examples=choose(60, 300), deadline=None)
@given(
    key=st.sampled_from(KEYS),
    value=ODD,
    path=st.sampled_from(["agents/a.md", CLAUDE_PATH, OPENCODE_PATH, ".claude/commands/a.md"]),
)
def test_no_value_is_too_odd(key: str, value: object, path: str) -> None:
    text = f"---\n{yaml.safe_dump({'version': '1', key: value})}---\n"
    found = read_definition(parse_document(path, text))
    assert found is None or all(isinstance(target.name, str) for target in found.targets)
