"""Compiling: one agent file of the standard into each harness's own, with every loss named."""

from __future__ import annotations

import tomllib
from inspect import cleandoc
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st
from inline_snapshot import snapshot

from remit.agents.compile import DIAGNOSTICS, TARGETS, Compiled, compile_document, is_current
from remit.agents.compile.codex import quote_lines
from remit.agents.compile.opencode import translate_glob
from remit.agents.compile.source import make_name
from remit.agents.definition import read_definition
from remit.agents.document import parse_document
from remit.agents.edits import quote
from remit.agents.patterns import matches_path
from remit.agents.profiles import KINDS
from remit.agents.rules.standard_fields import FIELDS
from remit.agents.scaffold import scaffold
from remit.errors import UsageError
from remit.harnesses import claude, codex, opencode
from tests.support.agent_samples import CLAUDE, CLAUDE_PATH, STANDARD, change, lint

SOURCE = "agents/planner.md"
TARGET_LIST = '    - "status-sync-manager"\n    - "git-workflow-manager"\n'
CALLS_NONE = change(TARGET_LIST, "    []\n").replace("delegate_to", "delegate-to").replace("-manager", "-helper")
"""An agent whose lists, patterns and steps name no agent that exists."""
ALLOWED = '    - write: ["specs/**/*"]\n'
OWN_KEYS = {"claude": claude.FILE_KEYS, "opencode": opencode.FILE_KEYS, "codex": (*codex.FILE_KEYS, "features")}


def compile_text(text: str | bytes = STANDARD, to: str = "claude", path: str = SOURCE) -> Compiled:
    return compile_document(parse_document(path, text), to)


def read_head(compiled: Compiled) -> dict[str, Any]:
    """What the harness reads in a compiled file, by a parser that is not ours."""
    if compiled.path.endswith(".toml"):
        return tomllib.loads(compiled.text)
    head: dict[str, Any] = yaml.safe_load(compiled.text.split("\n---\n", 1)[0])
    return head


def read_body(compiled: Compiled) -> str:
    if compiled.path.endswith(".toml"):
        return str(read_head(compiled)["developer_instructions"])
    return compiled.text.split("\n---\n", 1)[1].removeprefix("\n")


def tell(compiled: Compiled, code: str | None = None) -> list[str]:
    return [finding.message for finding in compiled.diagnostics if code in (None, finding.code)]


def lines_of(compiled: Compiled, pointer: str) -> list[int]:
    return [finding.place.line for finding in compiled.diagnostics if finding.pointer == pointer and finding.place]


# --- each harness's file ---------------------------------------------------------------------------------------------


def test_a_file_for_claude() -> None:
    compiled = compile_text(change(TARGET_LIST, "    - writer\n    - checker\n"))
    assert compiled.path == ".claude/agents/planner.md"
    assert read_head(compiled) == {
        "name": "planner",
        "description": "Writes phased implementation plans from research findings.",
        "tools": "Read, Write, Edit, Bash, Grep, Glob, Agent(writer, checker, status-sync-manager, "
        "git-workflow-manager)",
    }


def test_a_file_for_opencode() -> None:
    compiled = compile_text(change(TARGET_LIST, "    - writer\n"), "opencode")
    assert compiled.path == ".opencode/agent/planner.md"
    assert read_head(compiled) == {
        "description": "Writes phased implementation plans from research findings.",
        "mode": "subagent",
        "temperature": 0.2,
        "permission": {
            "edit": {"*": "deny", "specs/*": "allow", ".git/*": "deny"},
            "bash": {"*": "deny", "grep *": "allow", "wc *": "allow", "date *": "allow", "rm *": "deny",
                     "sudo *": "deny"},
            "task": {"*": "deny", "writer": "allow", "status-sync-manager": "allow", "git-workflow-manager": "allow"},
        },
    }  # fmt: skip


def test_a_file_for_codex() -> None:
    compiled = compile_text(to="codex")
    assert compiled.path == ".codex/agents/planner.toml"
    head = read_head(compiled)
    assert list(head) == ["name", "description", "developer_instructions"]
    assert head["developer_instructions"].startswith("# Planner\n\n<context>")


@pytest.mark.parametrize("to", TARGETS)
def test_the_body_stays_as_it_is_and_the_header_is_no_part_of_it(to: str) -> None:
    compiled = compile_text(to=to)
    assert read_body(compiled) == STANDARD.split("---\n\n", 1)[1]
    assert "Generated from agents/planner.md by `remit agent build`" in compiled.text
    assert "Generated" not in read_body(compiled)
    assert "Generated" not in str(read_head(compiled))


@pytest.mark.parametrize("to", TARGETS)
@pytest.mark.parametrize("text", [STANDARD, CALLS_NONE.replace(": true\n", ": false\n")], ids=["some", "no tools"])
def test_a_compiled_file_lints_clean(text: str, to: str) -> None:
    compiled = compile_text(text, to)
    document = parse_document(compiled.path, compiled.text)
    assert (document.profile, document.unreadable) == (to, None)
    assert document.frontmatter is not None
    assert not document.frontmatter.problems
    definition = read_definition(document)
    assert definition is not None
    assert definition.name == "planner"
    assert set(document.values) <= set(OWN_KEYS[to])
    assert lint(compiled.text, compiled.path) == []


NEWER = {"permissions", "request", "system", "disabled"}
"""The keys of an agent's file that only opencode 2 knows: a file with keys of both versions is read by neither."""


@pytest.mark.parametrize("values", ["WHOLE", "BARE", "LISTED", "OPEN"])
def test_opencode_2_reads_the_file_as_one_of_opencode_1(values: str) -> None:
    head = read_head(compile_values(globals()[values], "opencode"))
    assert set(head) <= set(opencode.FILE_KEYS) - NEWER
    assert "permission" in head


@pytest.mark.parametrize("to", TARGETS)
@pytest.mark.parametrize("kind", KINDS)
def test_a_new_agent_of_every_kind_lints_clean_when_compiled(kind: str, to: str) -> None:
    new = scaffold(kind, "helper", place="agents")[0]
    compiled = compile_text(new.text, to, new.path)
    assert lint(compiled.text, compiled.path) == []


def test_a_harness_that_is_not_known_is_told() -> None:
    with pytest.raises(UsageError, match="did you mean 'claude'"):
        compile_text(to="claud")


# --- permissions -----------------------------------------------------------------------------------------------------


def permit(allow: str = "", deny: str = "", *, tools: str | None = None, to: str = "opencode") -> Compiled:
    """A planner with these permissions, in YAML."""
    head, _, rest = STANDARD.partition("tools:\n")
    tools = "{read: true, write: true, edit: true, bash: true, grep: true, glob: true}" if tools is None else tools
    tail = rest.partition("context_loading:\n")[2]
    permissions = f"permissions: {{allow: [{allow}], deny: [{deny}]}}\n"
    return compile_text(f"{head}tools: {tools}\n{permissions}context_loading:\n{tail}", to)


def test_denials_stand_last_even_where_they_repeat_what_is_allowed() -> None:
    """R1.3: opencode's last rule wins."""
    compiled = permit('{bash: ["git", "git push", "ls"]}', '{bash: ["git push"]}')
    rules = list(read_head(compiled)["permission"]["bash"].items())
    assert rules == [("*", "deny"), ("git *", "allow"), ("ls *", "allow"), ("git push *", "deny")]


def test_what_is_open_stays_as_the_workspace_has_it() -> None:
    permission = read_head(permit('{read: ["**/*"]}', '{bash: ["rm"]}'))["permission"]
    assert permission.keys() == {"bash", "task"}
    assert permission["bash"] == {"rm *": "deny"}


def test_a_tool_that_is_off_is_denied_or_left_out() -> None:
    """R1.2."""
    tools = "{read: true, write: false, bash: false, webfetch: true}"
    assert read_head(permit(tools=tools))["permission"] == {
        "edit": "deny", "bash": "deny", "grep": "deny", "glob": "deny",
        "task": {"*": "deny", "status-sync-manager": "allow", "git-workflow-manager": "allow"},
    }  # fmt: skip
    assert read_head(permit(tools=tools, to="claude"))["tools"].startswith("Read, WebFetch, Agent(")
    bare = "{read: false, write: true}"
    assert "features" not in read_head(permit(tools=tools, to="codex"))
    assert read_head(permit(tools=bare, to="codex"))["features"] == {"shell_tool": False}


@pytest.mark.parametrize("how", ["deny: '**/*'", "allow: nothing"])
def test_a_tool_of_which_all_is_denied_is_off(how: str) -> None:
    rows = {"deny": '{bash: ["**"]}'} if how.startswith("deny") else {"allow": "{bash: []}"}
    assert read_head(permit(**rows))["permission"]["bash"] == "deny"
    compiled = permit(**rows, to="claude")
    assert "Bash" not in read_head(compiled)["tools"]
    assert not [message for message in tell(compiled, "CMP003") if "bash" in message]


def test_an_agent_without_tools_has_none() -> None:
    bare = CALLS_NONE.replace(": true\n", ": false\n")
    assert read_head(compile_text(bare))["tools"] == []


def test_an_agent_that_says_nothing_of_tools_keeps_those_of_the_harness() -> None:
    head, _, rest = CALLS_NONE.partition("tools:\n")
    text = head + "permissions:\n" + rest.partition("permissions:\n")[2]
    assert read_head(compile_text(text)).keys() == {"name", "description", "disallowedTools"}
    assert read_head(compile_text(text))["disallowedTools"] == "Agent"


def test_writing_and_editing_are_one_permission_in_opencode() -> None:
    compiled = permit(tools="{write: true, edit: false}")
    assert "edit" not in read_head(compiled)["permission"]
    assert "edit is allowed where write is: opencode has one permission for both" in tell(compiled, "CMP002")


def test_all_that_is_denied_is_denied_where_nothing_is_said_of_tools() -> None:
    """R1.3."""
    compiled = permit(deny='{bash: ["*"]}, {webfetch: ["*"]}', tools="")
    assert (compiled.refused, tell(compiled, "CMP002")) == (False, [])
    assert read_head(compiled)["permission"] | {"task": ""} == {"bash": "deny", "webfetch": "deny", "task": ""}
    assert read_head(permit(deny='{bash: ["*"]}', tools="", to="claude"))["disallowedTools"] == "Bash"


def test_denying_all_writing_denies_editing_in_opencode() -> None:
    compiled = permit(deny='{write: ["**/*"]}, {edit: ["src/**/*"]}')
    assert read_head(compiled)["permission"]["edit"] == "deny"
    assert "write is: opencode has one permission for both" in " ".join(tell(compiled, "CMP002"))


def test_denials_of_a_tool_that_is_off_hold_for_its_twin() -> None:
    compiled = permit('{edit: ["a/**"]}', '{edit: ["src/**/*"]}', tools="{write: true}")
    assert read_head(compiled)["permission"]["edit"] == {"src/*": "deny"}


def test_exceptions_to_commands_and_to_denials() -> None:
    compiled = permit('{bash: ["git", "!git push"]}', '{read: ["**/*", "!docs/**/*"]}, {write: ["a/**", "!a/b/**"]}')
    permission = read_head(compiled)["permission"]
    assert permission["bash"] == {"*": "deny", "git *": "allow", "git push *": "deny"}
    assert permission["read"] == "deny"
    assert permission["edit"] == {"a/*": "deny"}
    assert len(tell(compiled, "CMP002")) == 2


def test_an_exception_in_what_is_allowed_is_denied() -> None:
    compiled = permit('{write: ["**/*", "!.git/**/*"]}')
    assert read_head(compiled)["permission"]["edit"] == {".git/*": "deny"}
    assert tell(permit('{write: ["**/*", "!.git/**/*"]}', to="claude"), "CMP003")


def test_a_denial_that_only_a_hook_can_enforce_is_named_at_its_place() -> None:
    compiled = compile_text()
    assert "Claude Code doesn't keep bash from rm, sudo" in tell(compiled, "CMP003")
    assert lines_of(compiled, "/permissions/deny/0/bash") == [23]
    assert not tell(compile_text(to="opencode"), "CMP003")


def test_a_path_outside_of_the_worktree_is_named() -> None:
    compiled = permit(deny='{read: ["~/.ssh/**", "/etc/**/*", "*.pem"]}')
    assert read_head(compiled)["permission"]["read"] == {"*.pem": "deny"}
    [message] = tell(compiled, "CMP003")
    assert "~/.ssh/**, /etc/**/*" in message


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        ("**/*", ["*"]),
        ("specs/**/*", ["specs/*"]),
        ("specs/**", ["specs/*"]),
        ("specs/", ["specs/*"]),
        ("**/*.md", ["*.md"]),
        ("**/x.md", ["x.md", "*/x.md"]),
        ("a/**/b/c.md", ["a/b/c.md", "a/*/b/c.md"]),
        ("./README.md", ["README.md"]),
        ("src/{a,b}.py", ["src/a.py", "src/b.py"]),
        ("/etc/passwd", []),
    ],
)
def test_a_pattern_that_means_the_same_in_opencode(pattern: str, expected: list[str]) -> None:
    assert translate_glob(pattern) == (expected, True)


@pytest.mark.parametrize("pattern", ["src/*", "specs/*/state.json", "a?b", "[ab].md", "specs/{n}/x", "7", "**/a*b*"])
def test_a_pattern_that_matches_more_in_opencode_is_told(pattern: str) -> None:
    assert not translate_glob(pattern).exact
    [found] = [each for each in permit(f'{{write: ["{pattern}"]}}').diagnostics if each.code == "CMP002"]
    assert found.severity == "warning"
    [found] = [each for each in permit(deny=f'{{write: ["{pattern}"]}}').diagnostics if each.code == "CMP002"]
    assert found.severity == "note"


def match_as_opencode(pattern: str, path: str) -> bool:
    """As opencode does it: a star is anything, a question mark one character."""
    if not pattern:
        return not path
    if pattern[0] == "*":
        return match_as_opencode(pattern[1:], path) or (bool(path) and match_as_opencode(pattern, path[1:]))
    return bool(path) and pattern[0] in ("?", path[0]) and match_as_opencode(pattern[1:], path[1:])


SEGMENTS = st.sampled_from(["**", "*", "a", "b", "*.md", "a*", "x.md", "**"])


@given(
    st.lists(SEGMENTS, min_size=1, max_size=5),
    st.lists(st.sampled_from(["a", "b", "ab", "x.md"]), min_size=1, max_size=5),
)
def test_a_translated_pattern_never_matches_less_and_no_more_where_it_is_exact(
    segments: list[str], parts: list[str]
) -> None:
    pattern, path = "/".join(segments), "/".join(parts)
    glob = translate_glob(pattern)
    as_meant = matches_path(pattern, path)
    in_opencode = any(match_as_opencode(each, path) for each in glob.patterns)
    assert in_opencode or not as_meant
    if glob.exact:
        assert in_opencode == as_meant


@pytest.mark.parametrize(
    "permissions", ["rm", "[bash]", "{allow: [rm]}", "{deny: {bash: 7}}", "{deny: [{bash: [[rm]]}]}", "{forbid: []}"]
)
def test_permissions_that_cannot_be_read_are_not_compiled(permissions: str) -> None:
    head, _, rest = STANDARD.partition("permissions:\n")
    tail = rest.partition("context_loading:\n")[2]
    compiled = compile_text(f"{head}permissions: {permissions}\ncontext_loading:\n{tail}")
    assert compiled.refused
    assert tell(compiled) == snapshot(["this part of the permissions can't be read"])


# --- losses ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("to", "keys"),
    [
        ("claude", "temperature max_tokens timeout context_loading delegation/max_depth"),
        ("opencode", "max_tokens timeout context_loading delegation/max_depth"),
        ("codex", "temperature max_tokens timeout context_loading delegation/max_depth"),
    ],
)
def test_every_setting_without_a_place_is_named_at_its_place(to: str, keys: str) -> None:
    compiled = compile_text(to=to)
    assert [each.pointer for each in compiled.diagnostics if each.code == "CMP001"] == [
        f"/{key}" for key in keys.split()
    ]
    assert lines_of(compiled, "/timeout") == [9]


def test_an_agent_that_calls_nobody_loses_no_depth() -> None:
    compiled = compile_text(CALLS_NONE)
    assert "/delegation/max_depth" not in {finding.pointer for finding in compiled.diagnostics}
    assert "Agent" not in read_head(compiled)["tools"]


def test_keys_for_remit_and_unknown_keys_are_named() -> None:
    compiled = compile_text(change("version: ", "colour: red\nversion: "), "opencode")
    assert tell(compiled, "CMP004") == snapshot(
        ["colour, version, agent_type, lifecycle are not in the file for opencode"]
    )


WHOLE: dict[str, Any] = {
    "name": "thinker",
    "version": "1.0.0",
    "description": "Plans.",
    "mode": "primary",
    "agent_type": "planning",
    "temperature": 0.2,
    "max_tokens": 4000,
    "timeout": 1800,
    "tools": {
        "read": True, "write": True, "edit": False, "bash": True, "grep": True, "glob": True, "webfetch": True,
        "codesearch": True, "skill": "ask",
    },
    "permissions": {
        "allow": [
            {"read": ["src/**/*"]}, {"write": ["specs/**/*"]}, {"bash": ["ls", "wc"]}, {"grep": ["src/**/*"]},
            {"glob": ["src/**/*"]}, {"webfetch": ["https://example.org/*"]}, {"task": ["helper"]},
        ],
        "deny": [
            {"write": [".git/**/*"]}, {"bash": ["rm"]}, {"read": ["~/.ssh/**/*"]}, {"webfetch": ["https://x.org/*"]},
        ],
    },
    "context_loading": {
        "strategy": "lazy", "index": "docs/index.md", "required": ["docs/a.md"], "optional": ["docs/b.md"],
        "max_context_size": 50_000,
    },
    "delegation": {
        "max_depth": 3, "can_delegate_to": ["writer", "status-sync-manager"], "timeout_default": 60,
        "timeout_max": 300, "retries": 2,
    },
    "lifecycle": {"stage": 4, "command": "/plan", "return_format": "subagent-return-format.md"},
    "owner": "agent",
    "retry": {"attempts": 2},
    "return": "standard",
    "checks": ["tests"],
    "data_schema": "schemas/plan.json",
    "model": "claude-opus-4-1",
    "colour": "red",
}  # fmt: skip
"""An agent with every key of the standard, in values that no harness takes for granted, and with unknown ones."""
BARE: dict[str, Any] = {**WHOLE, "context_loading": {"strategy": "minimal", "required": []}, "model": "gpt-5"} | {
    "tools": {"read": False, "write": True, "skill": True},
    "permissions": {"deny": [{"write": ["docs/**/*"]}]},
    "delegation": {"max_depth": 2, "timeout_max": 300},
}
LISTED: dict[str, Any] = {**WHOLE, "mode": "odd", "temperature": "warm", "model": 5} | {
    "tools": "Read, Bash(git diff:*), WebFetch, Glimpse, Agent(writer)",
    "delegation": {"can_delegate_to": ["*"], "max_depth": 3},
    "permissions": {"deny": [{"task": ["writer"]}, {"bash": ["rm"]}]},
}
OPEN: dict[str, Any] = {key: value for key, value in BARE.items() if key != "tools"} | {
    "permissions": {"deny": [{"bash": ["*"]}, {"edit": ["*"]}, {"list": ["*"]}, {"webfetch": ["*"]}]},
    "delegation": {"can_delegate_to": ["writer", "*-checker"]},
}


def list_paths(value: object, at: tuple[str | int, ...] = ()) -> list[tuple[str | int, ...]]:
    """The way to every key and item below the top."""
    keys: list[str | int] = list(value) if isinstance(value, dict) else []
    keys = list(range(len(value))) if isinstance(value, list) else keys
    inner = [path for key in keys for path in list_paths(value[key], (*at, key))]  # type: ignore[index]
    return [*([at] if at else []), *inner]


def change_at(value: Any, path: tuple[str | int, ...]) -> Any:  # noqa: ANN401 - any YAML value
    """A copy in which a switch at a path is the other way, or without anything else that is there."""
    first, *rest = path
    if rest or isinstance(value[first], bool):
        changed = change_at(value[first], tuple(rest)) if rest else not value[first]
        if isinstance(value, list):
            return [*value[: int(first)], changed, *value[int(first) + 1 :]]
        return {**value, first: changed}
    if isinstance(value, list):
        return [each for at, each in enumerate(value) if at != first]
    return {key: each for key, each in value.items() if key != first}


def compile_values(values: dict[str, Any], to: str) -> Compiled:
    return compile_text(f"---\n{yaml.safe_dump(values, sort_keys=False)}---\n\n# Planner\n\nWork.\n", to)


@pytest.mark.parametrize("to", TARGETS)
@pytest.mark.parametrize("values", [WHOLE, BARE, LISTED, OPEN], ids=["whole", "bare", "listed", "open"])
def test_every_setting_is_in_the_file_or_named_as_lost(values: dict[str, Any], to: str) -> None:
    """R1.1-R1.6: with another setting the file is another one, unless a diagnostic names the setting."""
    assert {spec.path for spec in FIELDS} <= {"/".join(map(str, path)) for path in list_paths(WHOLE)}
    whole = compile_values(values, to)
    assert not whole.refused, tell(whole)
    places = {finding.pointer for finding in whole.diagnostics if finding.pointer and finding.code != "CMP004"}
    aside = {each for message in tell(whole, "CMP004") for each in message.partition(" not in")[0].split(", ")}
    aside = {each.removesuffix(" are").removesuffix(" is") for each in aside}
    for path in list_paths(values):
        pointer = "".join(f"/{part}" for part in path)
        named = any(f"{pointer}/".startswith(f"{each}/") for each in places)
        if named or aside & {str(path[0]), ".".join(map(str, path[:2]))} or path == ("description",):
            continue
        other = compile_values(change_at(values, path), to)
        assert (other.path, other.text, tell(other)) != (whole.path, whole.text, tell(whole)), pointer


def test_codex_keeps_no_agent_from_calling_others() -> None:
    assert "Codex doesn't keep the agent from calling others" in tell(compile_text(CALLS_NONE, "codex"), "CMP003")
    assert not [each for each in tell(compile_text(CALLS_NONE), "CMP003") if "calling" in each]


@pytest.mark.parametrize(("to", "task"), [("claude", "Agent"), ("opencode", {"writer": "deny"})])
def test_who_may_call_all_but_one(to: str, task: object) -> None:
    """R1.5: opencode has a rule for it; for Claude Code the exception is named as lost."""
    head, _, rest = STANDARD.partition("permissions:\n")
    tail = rest.partition("context_loading:\n")[2]
    text = f"{head}permissions: {{deny: [{{task: [writer]}}]}}\ncontext_loading:\n{tail}"
    compiled = compile_text(text.replace(TARGET_LIST, '    - "*"\n'), to)
    values = read_head(compiled)
    assert (values["permission"]["task"] if to == "opencode" else values["tools"].rpartition(" ")[2]) == task
    assert any("from calling writer" in each for each in tell(compiled, "CMP003")) is (to == "claude")


def test_built_in_agents_are_no_agents_of_a_harness() -> None:
    assert tell(compile_text(to="codex"), "CMP005") == snapshot(
        ["Codex has no agent status-sync-manager, git-workflow-manager"]
    )


@pytest.mark.parametrize(
    ("to", "model", "expected"),
    [
        ("claude", "sonnet", "sonnet"),
        ("claude", "anthropic/claude-sonnet-4-5", "claude-sonnet-4-5"),
        ("claude", "gpt-5", None),
        ("opencode", "claude-sonnet-4-5", "anthropic/claude-sonnet-4-5"),
        ("opencode", "sonnet", None),
        ("codex", "openai/gpt-5", "gpt-5"),
        ("codex", "opus", None),
    ],
)
def test_a_model_has_another_name_in_every_harness(to: str, model: str, expected: str | None) -> None:
    compiled = compile_text(change("temperature: 0.2", f"temperature: 0.2\nmodel: {model}"), to)
    assert read_head(compiled).get("model") == expected
    assert [each.pointer for each in compiled.diagnostics if each.code == "CMP002"] == (
        [] if model == expected else ["/model"]
    )


def test_whoever_may_call_anyone_may() -> None:
    text = change(TARGET_LIST, '    - "*"\n')
    assert read_head(compile_text(text))["tools"].endswith(", Agent")
    assert "task" not in read_head(compile_text(text, "opencode"))["permission"]


def test_a_name_that_is_no_file_name_is_changed_for_the_agent_and_for_its_callers() -> None:
    compiled = compile_text(change('name: "planner"', 'name: "../../Big Planner"'))
    assert compiled.path == ".claude/agents/Big-Planner.md"
    assert "the name ../../Big Planner was changed to Big-Planner" in tell(compiled, "CMP002")
    assert "Agent(Big-Planner, " in compile_text(change(TARGET_LIST, '    - "../../Big Planner"\n')).text


@pytest.mark.parametrize("to", ["claude", "opencode"])
def test_a_source_that_the_harness_loads_too_is_told(to: str) -> None:
    folder = {"claude": ".claude/agents", "opencode": ".opencode/agent"}[to]
    assert tell(compile_text(to=to, path=f"{folder}/sources/planner.md"), "CMP006")
    assert not tell(compile_text(to=to, path="agents/planner.md"), "CMP006")


@pytest.mark.parametrize(
    ("text", "path", "message"),
    [
        (CLAUDE, CLAUDE_PATH, "only standard agent files can be compiled"),
        ("# Planner\n", SOURCE, "no frontmatter"),
        (change("timeout: 1800", "timeout: [1800"), SOURCE, "the frontmatter can't be read reliably"),
        (change("timeout: 1800", "timeout: 1800\ntimeout: 60"), SOURCE, "duplicate key"),
        (change("description: ", "description: ''\nsummary: "), SOURCE, "the description is missing"),
        (STANDARD.split("---\n\n", maxsplit=1)[0] + "---\n", SOURCE, "no instructions"),
        (change('name: "planner"', 'name: "…"'), SOURCE, "no letter or digit"),
        (STANDARD, ".claude/agents/planner.md", "overwrite its source"),
        (STANDARD.encode() + b"\xff", SOURCE, "isn't UTF-8"),
        (STANDARD.encode() + b"\0", SOURCE, "NUL"),
    ],
)
def test_what_cannot_be_compiled_for_certain_is_refused(text: str | bytes, path: str, message: str) -> None:
    compiled = compile_text(text, path=path)
    assert compiled.refused
    assert not compiled.text
    assert {(finding.code, finding.severity) for finding in compiled.diagnostics} == {("CMP007", "error")}
    assert any(message in told for told in tell(compiled))


@pytest.mark.parametrize("code", sorted(DIAGNOSTICS))
def test_every_code_is_documented(code: str) -> None:
    documentation = cleandoc(DIAGNOSTICS[code][0].__doc__ or "")
    for heading in ("\n\nWhy: ", "\n\nBad: ", "\n\nGood: "):
        assert heading in documentation


# --- texts of any kind -----------------------------------------------------------------------------------------------

AWKWARD = [
    'He said: "no", then\\left # not a comment',
    "two\nlines",
    "naïve — 日本語 🙂",
    '\'single\' and """triple"""',
    "yes",
    "- item",
    "{a: b}",
    "\x7f\x85\u2028 unseen",
]


@pytest.mark.parametrize("to", TARGETS)
@pytest.mark.parametrize("description", AWKWARD)
def test_a_description_comes_through_whatever_is_in_it(to: str, description: str) -> None:
    text = change('"Writes phased implementation plans from research findings."', quote(description))
    compiled = compile_text(text, to)
    assert read_head(compiled)["description"] == description
    assert parse_document(compiled.path, compiled.text).get("description") == description


@pytest.mark.parametrize("to", TARGETS)
@pytest.mark.parametrize("body", ["---\nrule\n---", '"""', "'''", '\'\'\'\\d+ """"', "a\tb\rc\x0bd", "x = 1\n[table]"])
def test_a_body_comes_through_whatever_is_in_it(to: str, body: str) -> None:
    head = STANDARD.split("---\n\n", maxsplit=1)[0]
    assert read_body(compile_text(f"{head}---\n\n{body}", to)) == f"{body}\n"


@pytest.mark.parametrize("to", TARGETS)
def test_line_breaks_of_windows_change_nothing(to: str) -> None:
    compiled, other = compile_text(to=to), compile_text(STANDARD.replace("\n", "\r\n"), to)
    assert other.text == compiled.text
    assert is_current(compiled, compiled.text.replace("\n", "\r\n"))


@pytest.mark.parametrize("to", TARGETS)
def test_comments_for_remit_stay_out(to: str) -> None:
    text = change("# Planner\n", "<!-- remit: ignore[AGT001] -->\n# Planner <!-- remit: ignore[AGT002] -->\n")
    text = text.replace("\nversion:", "\n# remit: ignore[AGT003]\nversion:")
    assert "remit: ignore" not in compile_text(text, to).text
    assert read_body(compile_text(text, to)).startswith("# Planner")


YAML_TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=60)


@given(YAML_TEXT, YAML_TEXT, st.sampled_from(TARGETS))
def test_any_text_comes_through(description: str, body: str, to: str) -> None:
    head = STANDARD.split("---\n\n", maxsplit=1)[0]
    head = head.replace('"Writes phased implementation plans from research findings."', quote(description))
    compiled = compile_text(f"{head}---\n\n{body}", to)
    assert compiled == compile_text(f"{head}---\n\n{body}", to)
    if compiled.refused:
        return
    assert read_head(compiled)["description"] == description.strip()
    lines = body.replace("\r\n", "\n").strip("\n").rstrip()
    got = compiled.text.split("\n---\n\n", 1)[1] if to != "codex" else read_body(compiled)
    assert got == f"{lines}\n"
    assert is_current(compiled, compiled.text)


@given(st.text(st.sampled_from("\"'\\\n\t\r\x00\x1f\x7fa[=#"), max_size=40))
def test_text_in_toml_is_read_as_it_was(text: str) -> None:
    text += "\n"
    assert tomllib.loads(f"a = 1\nx = {quote_lines(text)}\n")["x"] == text


JUNK = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.sampled_from(["*", "", "a/**", "bash", "write", "~"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["allow", "deny", "bash", "write", "task", "x y", "1"]), inner, max_size=3)
    ),
    max_leaves=8,
)
KEYS = ("tools", "permissions", "delegation", "context_loading", "model", "mode", "temperature", "lifecycle", "extra")


@given(st.dictionaries(st.sampled_from(KEYS), JUNK), st.sampled_from(TARGETS))
def test_no_value_breaks_the_compiler(values: dict[str, Any], to: str) -> None:
    head = {"name": "planner", "version": "1.0.0", "agent_type": "planning", "description": "Plans."} | values
    compiled = compile_text(f"---\n{yaml.safe_dump(head)}---\n\nWork.\n", to)
    if not compiled.refused:
        assert read_head(compiled)["description"] == "Plans."
        assert set(read_head(compiled)) <= set(OWN_KEYS[to])
    assert all(finding.place for finding in compiled.diagnostics)


@pytest.mark.slow
@given(st.text(max_size=30))
def test_a_name_never_leads_out_of_the_folder(name: str) -> None:
    made = make_name(name)
    assert "/" not in made
    assert not made.startswith((".", "-"))
    assert make_name(made) == made


# --- whether all is current ------------------------------------------------------------------------------------------


def test_a_file_that_is_missing_or_was_edited_is_not_current() -> None:
    compiled = compile_text()
    assert is_current(compiled, compiled.text)
    assert not is_current(compiled, None)
    assert not is_current(compiled, compiled.text + "\n")
    assert not is_current(compile_text(change("# Planner", "# Other")), compiled.text)
