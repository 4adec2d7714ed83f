"""A scaffolded agent is complete, has its name in the right places, and lints clean where it lies."""

import re
import tomllib

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import remit
from remit.agents.definition import read_definition
from remit.agents.document import AgentDocument, parse_document
from remit.agents.lint import CodeSelection, check_document, lint
from remit.agents.profiles import KINDS, TIMEOUTS_S, TOOLS, UTILITY_AGENTS, Profile
from remit.agents.scaffold import PROFILES, ContextFacts, NewFile, check_name, choose_place, scaffold
from remit.errors import UsageError
from remit.harnesses import claude, codex, opencode
from remit.model import Diagnostic
from tests.support.sample_sizes import choose

FINAL = {"planning": "[PLANNED]", "implementation": "[COMPLETED]", "research": "[RESEARCHED]"}
SECTIONS = [
    "context", "role", "task", "inputs_required", "inputs_forbidden", "process_flow", "artifact_creation",
    "return_format", "quality_standards", "error_handling",
]  # fmt: skip
NAMES = st.from_regex(r"[a-z0-9]{1,12}(-[a-z0-9]{1,12}){0,3}", fullmatch=True)
KIND_NAMES, PROFILE_NAMES = st.sampled_from(KINDS), st.sampled_from(PROFILES)
PLACES = {
    "standard": "agents", "claude": ".claude/agents", "opencode": ".opencode/agent", "codex": ".codex/agents",
}  # fmt: skip


def make(kind: str, name: str = "api-helper", *, profile: Profile = "standard", place: str = "") -> AgentDocument:
    new = scaffold(kind, name, profile=profile, place=place or PLACES[profile])[0]
    return parse_document(new.path, new.text)


def check(files: tuple[NewFile, ...], sizes: dict[str, int | None] | None = None) -> tuple[Diagnostic, ...]:
    """Every finding on the agent among these files, the graph's included; a context file not made is missing."""
    document = parse_document(files[0].path, files[0].text)
    named = document.get("context_loading") or {}
    paths = [named.get("index"), *named.get("required", ()), *named.get("optional", ())]
    made = {file.path: len(file.text.encode()) for file in files}
    weights = {path: (sizes or {}).get(path, made.get(path)) for path in paths if path}
    return lint([check_document(document, weights)], CodeSelection())[0][document.path]


@pytest.mark.parametrize("profile", PROFILES)
@pytest.mark.parametrize("kind", KINDS)
@settings(deadline=None, max_examples=20)
@given(name=NAMES)
def test_a_scaffolded_agent_lints_clean(kind: str, profile: Profile, name: str) -> None:
    """R1.1-R1.32: not an error, not a warning, not a note."""
    files = scaffold(kind, name, profile=profile, place=PLACES[profile])
    assert parse_document(files[0].path, files[0].text).profile == profile
    assert not check(files)


@pytest.mark.parametrize("place", [".opencode/agent/subagents", ".claude/agents", "agents", "", "."])
@pytest.mark.parametrize("kind", KINDS)
def test_it_lints_clean_wherever_it_lies(kind: str, place: str) -> None:
    """D11: also in the standard's own folder, with and without a context index, and without an ignore."""
    indexed = ContextFacts("docs/index.md", ("docs/return.md",))
    for context in (ContextFacts(), ContextFacts("docs/index.md"), indexed):
        for spec_root in ("specs", ".opencode/specs"):
            files = scaffold(kind, "api-helper", place=place, context=context, spec_root=spec_root)
            assert files[0].path.endswith("api-helper.md")
            assert not files[0].path.startswith(("/", ".")) or files[0].path.startswith(place)
            assert "remit: ignore" not in files[0].text
            taken = "AGT069" if place == ".claude/agents" else ""  # Claude Code takes no temperature: a note says so
            found = check(files, {"docs/index.md": 900, "docs/return.md": 2_000})
            assert [each.code for each in found if each.code != taken] == []


@pytest.mark.parametrize("profile", PROFILES)
@pytest.mark.parametrize("kind", KINDS)
def test_the_example_of_its_return_is_no_return(kind: str, profile: Profile) -> None:
    """An agent that repeats the example has not done its work."""
    text = make(kind, profile=profile).text
    example = re.search(r'\{\n\s+"status".*?\n\s*\}\n(?=\s*(</structure>|```))', text, re.DOTALL)
    assert example is not None
    assert remit.check(example[0]).name == "degenerate"


def test_an_agent_that_writes_everywhere_writes_no_agents_and_no_settings() -> None:
    """R1.3: neither its own folder, nor the agents and settings of any harness."""
    document = make("implementation", place="tools/agents")
    rows = {tool: patterns for row in document.get("permissions", "deny") for tool, patterns in row.items()}
    folders = (*claude.AGENT_FOLDERS, *opencode.AGENT_FOLDERS, codex.FOLDER, ".git", ".remit", "tools/agents")
    files = {claude.SETTINGS_PATTERN, opencode.SETTINGS_PATTERN, "remit.toml"}
    assert set(rows["write"]) == set(rows["edit"]) == {*(f"{folder}/**/*" for folder in folders), *files}


@pytest.mark.parametrize("kind", KINDS)
def test_it_is_complete(kind: str) -> None:
    """R1.7-R1.23."""
    document = make(kind)
    assert [level for level, _, _ in document.body.headings if level == 1] == [1]
    names = [tag.name for tag in document.body.root.children]
    assert [name for name in names if name != "delegation_patterns"] == SECTIONS
    assert ("delegation_patterns" in names) is bool(document.get("delegation", "can_delegate_to"))
    assert not document.body.unclosed
    assert not document.body.strays
    handling = document.body.find("error_handling")
    assert handling is not None
    assert [tag.get("name") for tag in handling.children] == [
        "timeout", "validation_failure", "file_operation_failure", "delegation_failure", "git_failure",
    ]  # fmt: skip


@pytest.mark.parametrize("kind", KINDS)
def test_it_has_the_right_size(kind: str) -> None:
    """R1.24."""
    assert 200 <= make(kind).lines <= 300


@pytest.mark.parametrize("kind", KINDS)
def test_steps_are_numbered_from_preflight_to_return(kind: str) -> None:
    """R1.13, R1.14."""
    flow = make(kind).body.find("process_flow")
    assert flow is not None
    names = [tag.name for tag in flow.children]
    last = len(names) - 1
    assert names == [
        "step_0_preflight",
        *(f"step_{number}" for number in range(1, last - 1)),
        f"step_{last - 1}_postflight",
        f"step_{last}_return",
    ]
    for step in flow.children:
        assert [tag.name for tag in step.children] == ["action", "process", "checkpoint"]


@pytest.mark.parametrize("kind", KINDS)
def test_it_ends_where_its_kind_ends(kind: str) -> None:
    """R1.30: a marker by kind; a review makes follow-up tasks and moves nothing."""
    document = make(kind)
    flow = document.body.find("process_flow")
    assert flow is not None
    postflight = document.text_of(flow.children[-2])
    for other, marker in FINAL.items():
        assert (marker in postflight) is (kind == other)
    assert ("follow-up task" in document.text) is (kind == "review")


@pytest.mark.parametrize("kind", KINDS)
def test_timeouts_and_targets(kind: str) -> None:
    """R1.18, R2.6."""
    definition = read_definition(make(kind))
    assert definition is not None
    assert definition.kind == kind
    assert definition.timeout_s == TIMEOUTS_S[kind]
    assert {target.name for target in definition.targets} <= UTILITY_AGENTS
    assert set(definition.tools or ()) <= set(TOOLS)


@settings(deadline=None, max_examples=choose(20, 50))
@given(name=NAMES, kind=KIND_NAMES, profile=PROFILE_NAMES)
def test_the_name_stands_where_it_belongs(name: str, kind: str, profile: Profile) -> None:
    document = make(kind, name, profile=profile)
    definition = read_definition(document)
    assert definition is not None
    assert definition.name == document.stem == name
    assert f'"agent_type": "{name}"' in document.text
    assert "$" not in document.text


@pytest.mark.parametrize("kind", KINDS)
def test_paths_are_below_the_spec_root(kind: str) -> None:
    """R1.20."""
    text = scaffold(kind, "helper", place="agents", spec_root=".claude/specs/")[0].text
    assert ".claude/specs/TODO.md" in text
    assert " specs/" not in text
    assert '"specs/' not in text


def test_an_index_is_made_where_there_is_none() -> None:
    """R1.4: what the agent names is there."""
    agent, index, returned = scaffold("planning", "planner", place=".opencode/agent/subagents")
    assert index.path == ".opencode/context/index.md"
    assert returned.path == ".opencode/context/subagent-return-format.md"
    assert returned.path.rpartition("/")[2] in index.text
    assert index.path in agent.text
    assert scaffold("planning", "planner", place="agents")[1].path == "docs/context/index.md"


def test_an_index_that_is_there_is_used() -> None:
    facts = ContextFacts(".opencode/context/index.md", (".opencode/context/core/return.md",))
    files = scaffold("planning", "planner", place="agents", context=facts)
    assert len(files) == 1
    document = parse_document(files[0].path, files[0].text)
    assert document.get("context_loading", "index") == facts.index
    assert document.get("context_loading", "required") == list(facts.required)
    assert not check(files, {facts.index or "": 900, facts.required[0]: 2_000})


def test_an_index_without_a_file_that_everybody_loads() -> None:
    files = scaffold("utility", "counter", place="agents", context=ContextFacts("docs/index.md"))
    assert parse_document(files[0].path, files[0].text).get("context_loading", "required") == []
    assert not check(files, {"docs/index.md": 100})


@pytest.mark.parametrize("profile", ["claude", "opencode", "codex"])
@pytest.mark.parametrize("kind", KINDS)
def test_a_harness_gets_its_own_form(kind: str, profile: Profile) -> None:
    files = scaffold(kind, "helper", profile=profile, place=PLACES[profile])
    assert len(files) == 1
    assert files[0].text.count("\n") < 100
    assert "status-sync-manager" not in files[0].text
    assert "atomic-task-numberer" not in files[0].text


def test_codex_gets_toml() -> None:
    new = scaffold("review", "reviewer", profile="codex", place=".codex/agents")[0]
    assert new.path == ".codex/agents/reviewer.toml"
    assert set(tomllib.loads(new.text)) == {"name", "description", "developer_instructions"}


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("Api Planner", "'api-planner'"),
        ("api_planner", "'api-planner'"),
        ("../etc/passwd", "'etc-passwd'"),
        ("a--b", "'a-b'"),
        ("-", "'api-planner'"),
        ("", "'api-planner'"),
        ("a\n", "'a'"),
        ("x" * 65, "x" * 64),
    ],
)
def test_a_bad_name_is_refused_with_a_better_one(name: str, hint: str) -> None:
    with pytest.raises(UsageError) as caught:
        scaffold("planning", name, place="agents")
    assert hint in caught.value.hint


@given(name=st.text(max_size=80))
def test_a_hint_names_a_name_that_is_taken(name: str) -> None:
    try:
        check_name(name)
    except UsageError as refused:
        better = refused.hint.split("'")
    else:
        better = ["", name, ""]
    if len(better) == 3:
        check_name(better[1])


def test_an_unknown_kind_or_profile_is_refused() -> None:
    with pytest.raises(UsageError, match="did you mean 'planning'"):
        scaffold("plannning", "x", place="agents")
    with pytest.raises(UsageError, match="no agent can be made for command"):
        scaffold("planning", "x", profile="command", place="agents")


@pytest.mark.parametrize(
    ("existing", "profile", "place"),
    [
        ([], "standard", "agents"),
        ([], "claude", ".claude/agents"),
        ([], "opencode", ".opencode/agent"),
        ([], "codex", ".codex/agents"),
        ([".opencode/agent/subagents/a.md", ".opencode/agent/subagents/b.md", ".opencode/agent/c.md"],
         "standard", ".opencode/agent/subagents"),
        ([".opencode/agent/subagents/x/a.md", ".opencode/agent/b.md"], "opencode", ".opencode/agent"),
        ([".opencode/agents/a.md"], "opencode", ".opencode/agents"),
        ([".claude/agents/a.md"], "standard", ".claude/agents"),
        ([".claude/agents/a.md", ".claude/agents/b.md", "agents/a.md"], "standard", "agents"),
        ([".claude/agents/a.md"], "opencode", ".opencode/agent"),
        (["plugins/tools/agents/a.md"], "claude", "plugins/tools/agents"),
        ([".codex/agents/a.toml"], "standard", "agents"),
        ([".codex/agents/a.toml", ".codex/agents/README.md"], "codex", ".codex/agents"),
        ([".claude/commands/a.md", ".claude/commands/b.md"], "standard", "agents"),
        (["planner.md"], "standard", "agents"),
    ],
)  # fmt: skip
def test_where_a_new_agent_goes(existing: list[str], profile: Profile, place: str) -> None:
    assert choose_place(existing, profile) == place
