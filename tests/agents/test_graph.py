"""The graph over all files: every rule on it, and the laws of depth, reach and cycles."""

import time
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from inline_snapshot import snapshot

from remit.agents.definition import Definition, Target
from remit.agents.edits import apply_fixes
from remit.agents.graph import build_graph, find_components, is_cycle_edge, render_path
from remit.agents.rules.graph import GRAPH_RULES, check_graph
from remit.model import Diagnostic, TextSpan
from tests.support.agent_graphs import WORKSPACES, Files, read_graph, write_agent, write_claude, write_opencode
from tests.support.sample_sizes import choose


def find(files: Files, code: str) -> list[tuple[str, Diagnostic]]:
    return [(path, finding) for path, finding in check_graph(read_graph(files)) if finding.code == code]


# Every rule


def test_every_rule_on_the_graph_has_a_bad_and_a_good_workspace() -> None:
    assert sorted(WORKSPACES) == sorted(GRAPH_RULES)


@pytest.mark.parametrize("code", sorted(WORKSPACES))
def test_the_bad_workspace_is_reported_at_a_line_of_its_file(code: str) -> None:
    bad = WORKSPACES[code].bad
    found = find(bad, code)
    assert found
    for path, finding in found:
        lines = bad[path].split("\n")
        assert finding.place is not None
        assert 1 <= finding.place.line <= len(lines)
        assert 1 <= finding.place.column <= len(lines[finding.place.line - 1]) + 1
        assert finding.severity == GRAPH_RULES[code].severity
        assert finding.message
        assert finding.hint[0].isupper()
        assert finding.hint.endswith((".", "?"))


@pytest.mark.parametrize("code", sorted(WORKSPACES))
def test_the_good_workspace_is_not(code: str) -> None:
    assert not find(WORKSPACES[code].good, code)


@pytest.mark.parametrize("code", sorted(GRAPH_RULES))
def test_a_rule_on_the_graph_is_documented(code: str) -> None:
    each = GRAPH_RULES[code]
    paragraphs = [part.strip() for part in each.documentation.split("\n\n")]
    assert paragraphs[0].endswith(".")
    for word in ("Why: ", "Bad: ", "Good: "):
        assert any(part.startswith(word) for part in paragraphs), f"{code} does not say {word}"
    assert bool(each.fix) == any(part.startswith("Fix (") for part in paragraphs)


@pytest.mark.parametrize("code", sorted(code for code, each in WORKSPACES.items() if each.fixed))
def test_a_fix_on_the_graph_puts_it_right(code: str) -> None:
    assert GRAPH_RULES[code].fix
    fixed = dict(WORKSPACES[code].bad)
    for path, finding in find(fixed, code):
        fixed[path] = apply_fixes([finding], fixed[path], unsafe=True).text
    assert fixed == WORKSPACES[code].fixed
    assert not find(fixed, code)


def test_a_rule_that_promises_a_fix_has_a_sample_of_it() -> None:
    assert {code for code, each in GRAPH_RULES.items() if each.fix} == {
        code for code, each in WORKSPACES.items() if each.fixed
    }


# Cycles


def test_a_circle_is_told_once_with_its_path() -> None:
    """R1.27 R2.5: from the first name in the alphabet back to it, at the call that closes it."""
    files = write_agent("c", "a") | write_agent("b", "c") | write_agent("a", "b", command="/a")
    [(path, finding)] = find(files, "GRF001")
    assert path == "agents/a.md"
    assert finding.message.endswith(": a → b → c → a")
    assert finding.place is not None
    assert files[path].split("\n")[finding.place.line - 1].strip() == "- b"


def test_two_circles_that_share_no_agent_are_two_findings() -> None:
    files = write_agent("a", "b") | write_agent("b", "a") | write_agent("x", "y", "a") | write_agent("y", "x")
    assert [path for path, _ in find(files, "GRF001")] == ["agents/a.md", "agents/x.md"]


def test_a_call_to_itself_does_not_hide_the_circle_around_it() -> None:
    graph = read_graph(write_agent("a", "a", "b", command="/a") | write_agent("b", "a"))
    assert graph.cycles == [("a", "a"), ("a", "b", "a")]
    assert [finding.message for _, finding in check_graph(graph) if finding.code == "GRF001"] == [
        "agents can call each other in a cycle: a → b → a"
    ]


def test_an_agent_that_calls_itself_is_a_cycle_and_told_by_a_rule_on_its_file() -> None:
    files = write_agent("a", "a", command="/a")
    graph = read_graph(files)
    assert graph.cycles == [("a", "a")]
    assert graph.in_cycle == {"a"}
    assert not find(files, "GRF001")


def test_every_agent_of_a_knot_is_in_a_cycle_not_only_those_of_the_shortest() -> None:
    files = write_agent("a", "b", "c") | write_agent("b", "a") | write_agent("c", "d") | write_agent("d", "a")
    graph = read_graph(files)
    assert graph.cycles == [("a", "b", "a"), ("a", "c", "d", "a")]
    assert graph.in_cycle == {"a", "b", "c", "d"}


def test_a_circle_inside_a_larger_one_is_told_too() -> None:
    files = write_agent("a", "b") | write_agent("b", "c") | write_agent("c", "a", "b")
    graph = read_graph(files)
    assert graph.cycles == [("a", "b", "c", "a"), ("b", "c", "b")]
    assert all(is_cycle_edge(graph, caller, target) for caller, target in ("ab", "bc", "ca", "cb"))
    assert not is_cycle_edge(read_graph(write_agent("a", "b") | write_agent("b")), "a", "b")


def test_a_long_path_is_shortened_in_a_sentence() -> None:
    names = [f"n{number}" for number in range(5_000)]
    assert render_path(names).startswith("n0 → n1 → ")
    assert render_path(names).endswith(" → n4998 → n4999")
    assert len(render_path(names)) < 200
    assert render_path(names[:3]) == "n0 → n1 → n2"


# Depth


def test_three_levels_below_a_command_are_allowed_and_the_fourth_is_not() -> None:
    """R1.28 R2.3 C7: 1 to 3 allowed, 4 refused; told where the call is made that goes too far."""
    files = WORKSPACES["GRF002"].bad
    graph = read_graph(files)
    assert graph.depths == {"a": 1, "b": 2, "c": 3, "d": 4}
    assert graph.find_chain("d") == ("a", "b", "c", "d")
    [(path, finding)] = find(files, "GRF002")
    assert path == "agents/c.md"
    assert finding.message.endswith("depth 4, the maximum is 3: a → b → c → d")


def test_what_is_deeper_still_is_not_told_again() -> None:
    files = WORKSPACES["GRF002"].bad | write_agent("d", "e") | write_agent("e", "f") | write_agent("f")
    assert len(find(files, "GRF002")) == 1


def test_a_built_in_agent_is_a_level() -> None:
    """D1: lint agrees with what is enforced."""
    files = write_agent("a", "b", command="/a") | write_agent("b", "status-sync-manager")
    assert not find(files, "GRF002")
    files |= write_agent("b", "c") | write_agent("c", "status-sync-manager")
    [(path, finding)] = find(files, "GRF002")
    assert (path, finding.message.rpartition(": ")[2]) == ("agents/c.md", "a → b → c → status-sync-manager")
    assert read_graph(files).edges["c"] == ()


def test_a_circle_is_not_told_as_a_depth_too() -> None:
    names = "abcdef"
    files: Files = {}
    for name, target in zip(names, names[1:] + names[0], strict=True):
        files |= write_agent(name, target, command="/a" if name == "a" else "")
    assert find(files, "GRF001")
    assert not find(files, "GRF002")


def test_an_entry_that_is_called_has_the_depth_of_the_longest_chain() -> None:
    files = write_agent("a", "b", command="/a") | write_agent("b", command="/b")
    graph = read_graph(files)
    assert (graph.depths, graph.find_chain("b")) == ({"a": 1, "b": 2}, ("a", "b"))


def test_a_chain_that_no_command_begins_is_too_deep_as_well() -> None:
    """R1.28: a user can run its first agent by name, and the fourth level is refused then, too."""
    files = write_agent("a", "b") | write_agent("b", "c") | write_agent("c", "d") | write_agent("d")
    [(path, finding)] = find(files, "GRF002")
    assert path == "agents/c.md"
    assert finding.message.endswith("depth 4, the maximum is 3: a → b → c → d")
    assert [path for path, _ in find(files, "GRF004")] == [f"agents/{name}.md" for name in "abcd"]


def test_a_chain_may_lead_into_agents_that_a_command_reaches() -> None:
    """R1.28: the longest chain counts, wherever it begins; reached by the command is only what follows it."""
    files = write_agent("c", "d", command="/c") | write_agent("d")
    assert not find(files, "GRF002")
    files |= write_agent("a", "b") | write_agent("b", "c")
    [(path, finding)] = find(files, "GRF002")
    assert (path, finding.message[-13:]) == ("agents/c.md", "a → b → c → d")
    assert [path for path, _ in find(files, "GRF004")] == ["agents/a.md", "agents/b.md"]


# Reach


def test_an_agent_that_nobody_can_reach_is_told_at_its_name() -> None:
    """R1.6: a lifecycle.command is an entry."""
    [(path, finding)] = find(WORKSPACES["GRF004"].bad, "GRF004")
    assert path == "agents/child.md"
    assert finding.place == TextSpan(2, 7, 2, 12)


def test_agents_that_only_call_each_other_are_reached_by_nobody() -> None:
    files = write_agent("a", command="/a") | write_agent("x", "y") | write_agent("y", "x")
    assert [path for path, _ in find(files, "GRF004")] == ["agents/x.md", "agents/y.md"]


@pytest.mark.parametrize(
    "command",
    [
        "---\nagent: child\n---\n\nGo.\n",
        "---\nrouting: {default: child}\n---\n\nGo.\n",
        "Ask @child to do it.\n",
        'Call Task(subagent_type="child").\n',
        "Delegate to `child` now.\n",
    ],
)
def test_a_command_file_is_an_entry(command: str) -> None:
    files = {**write_agent("child"), ".opencode/command/go.md": command}
    assert not find(files, "GRF004")
    assert read_graph(files).entries == ("child",)


def test_a_mode_of_primary_and_a_harness_of_its_own_are_entries() -> None:
    files = write_agent("a", more="mode: primary") | write_claude("b", "Read") | write_opencode("c", "{edit: deny}")
    assert set(read_graph(files).entries) == {"a", "b", "c"}
    assert not find(files, "GRF004")


def test_a_utility_agent_with_a_file_is_an_agent_that_may_do_more_than_its_caller() -> None:
    """R1.18, D1: a project's own file is an ordinary agent, and it exists to do what its callers may not."""
    service = write_agent("status-sync-manager", more="tools: {read: true, write: true}")
    assert find(write_agent("a", command="/a") | service, "GRF004")
    caller = write_agent("a", "status-sync-manager", command="/a", more="tools: {read: true}")
    assert not find(caller | service, "GRF005")


# Targets


def test_utility_agents_are_valid_targets_without_a_file() -> None:
    """R1.18."""
    services = ("status-sync-manager", "git-workflow-manager", "atomic-task-numberer")
    assert not find(write_agent("a", *services, command="/a"), "GRF003")


def test_an_unknown_target_is_told_with_the_name_that_was_meant() -> None:
    """R1.5."""
    [(_, finding)] = find(WORKSPACES["GRF003"].bad, "GRF003")
    assert (finding.message, finding.hint) == (
        snapshot("the agent reseacher doesn't exist"),
        snapshot("Did you mean researcher?"),
    )
    [(_, finding)] = find(write_agent("a", "zzz", command="/a"), "GRF003")
    assert finding.hint == snapshot("Create the agent's file, or remove the name.")
    assert finding.fix is None


@pytest.mark.parametrize(
    ("written", "fixed"),
    [
        ("    - reseacher # why", "    - researcher # why"),
        ("    - 'reseacher'", "    - 'researcher'"),
        ('    - "reseacher"', '    - "researcher"'),
    ],
)
def test_the_name_that_was_meant_is_written_in_the_same_quotes(written: str, fixed: str) -> None:
    files = WORKSPACES["GRF003"].bad
    text = files["agents/a.md"].replace("    - reseacher", written)
    [(_, finding)] = find({**files, "agents/a.md": text}, "GRF003")
    assert apply_fixes([finding], text, unsafe=True).text == text.replace(written, fixed)
    assert not apply_fixes([finding], text, unsafe=False).applied


def test_a_target_of_a_pattern_is_told_and_fixed_at_its_attribute() -> None:
    """R1.18: `<delegate_to name=…>` names a target too."""
    files = write_agent("a", command="/a") | write_agent("researcher", command="/r")
    section = '<delegation_patterns>\n  <delegate_to name="reseacher"></delegate_to>\n</delegation_patterns>\n'
    text = files["agents/a.md"] + section
    [(_, finding)] = find({**files, "agents/a.md": text}, "GRF003")
    fixed = apply_fixes([finding], text, unsafe=True).text
    assert fixed == text.replace("reseacher", "researcher")
    assert not find({**files, "agents/a.md": fixed}, "GRF003")


@pytest.mark.parametrize("name", ['"res: earcher"', "'#researcher'", '"1researcher"', '"re\\nsearcher"'])
def test_a_name_that_would_need_quotes_is_not_written_by_a_fix(name: str) -> None:
    named = write_agent("x", command="/x")["agents/x.md"].replace("name: x", f"name: {name}")
    files = {**write_agent("a", "reseacher", command="/a"), "agents/x.md": named}
    assert all(finding.fix is None for _, finding in find(files, "GRF003"))


def test_a_target_behind_an_anchor_is_not_edited() -> None:
    text = write_agent("a", "&one reseacher", "*one", command="/a")
    files = text | write_agent("researcher", command="/r")
    found = find(files, "GRF003")
    assert len(found) == 2
    assert all(finding.fix is None for _, finding in found)


def test_claude_and_opencode_name_targets_in_their_own_way() -> None:
    files = write_claude("a", "Read, Agent(b, nobody)") | write_claude("b", "Read")
    graph = read_graph(files)
    assert graph.edges["a"] == ("b",)
    assert [target.name for _, target in graph.unknown] == ["nobody"]
    files = write_opencode("a", '{task: {"*": deny, b: allow, c: ask, "x-*": allow}}') | write_opencode("b", "{}")
    graph = read_graph(files)
    assert graph.edges["a"] == ("b",)
    assert [target.name for _, target in graph.unknown] == ["c"]


def test_only_so_many_unknown_names_are_guessed_at() -> None:
    """5,000 agents and as many unknown names: nobody compares each with each."""
    agents = [Definition(f"agent-{number}", f"agents/{number}.md", "standard", command="/x") for number in range(3_000)]
    targets = tuple(Target(f"agend-{number}", (0, 1), TextSpan(1, 1, 1, 2)) for number in range(3_000))
    caller = Definition("caller", "agents/caller.md", "standard", command="/c", targets=targets)
    before = time.process_time()
    found = [finding for _, finding in check_graph(build_graph([*agents, caller])) if finding.code == "GRF003"]
    assert len(found) == 3_000
    assert time.process_time() - before < 2


# Parents and children


def test_a_child_with_a_tool_that_its_caller_lacks_is_told() -> None:
    [(path, finding)] = find(WORKSPACES["GRF005"].bad, "GRF005")
    assert path == "agents/a.md"
    assert finding.message == snapshot("child may use write, but a may not")


def test_a_child_with_a_wider_pattern_is_told() -> None:
    caller = write_agent(
        "a", "child", command="/a", more='tools: {write: true}\npermissions: {allow: [{write: ["specs/**"]}]}'
    )
    wide = write_agent("child", more='tools: {write: true}\npermissions: {allow: [{write: ["src/**"]}]}')
    narrow = write_agent("child", more='tools: {write: true}\npermissions: {allow: [{write: ["specs/a/**"]}]}')
    [(_, finding)] = find(caller | wide, "GRF005")
    assert finding.message == snapshot("child may write src/**, but a may not")
    assert not find(caller | narrow, "GRF005")


def test_where_tools_are_not_said_nothing_is_compared() -> None:
    assert not find(write_agent("a", "child", command="/a") | write_agent("child", more=_ALL_TOOLS), "GRF005")
    assert not find(write_agent("a", "child", command="/a", more=_ALL_TOOLS) | write_agent("child"), "GRF005")


_ALL_TOOLS = "tools: {read: true, write: true, edit: true, bash: true}"


def test_a_child_that_takes_as_long_as_its_caller_is_told() -> None:
    """R1.27 R2.6."""
    [(path, finding)] = find(WORKSPACES["GRF006"].bad, "GRF006")
    assert path == "agents/a.md"
    assert finding.message == snapshot("child may take 300 s, but a has only 300 s")


@pytest.mark.parametrize("timeout", [".inf", ".nan", "-1", "true", '"300"', "9" * 400, "1e400"])
def test_a_timeout_that_is_none_is_not_compared(timeout: str) -> None:
    child = write_agent("child", more=f"timeout: {timeout}")
    graph = read_graph(write_agent("a", "child", command="/a", timeout=300) | child)
    assert graph.agents["child"].timeout_s is None
    assert not [finding for _, finding in check_graph(graph) if finding.code == "GRF006"]


# Anyone


@pytest.mark.parametrize(
    ("files", "is_told"),
    [
        (write_claude("a", "Read, Task"), True),
        (write_claude("a", "Agent"), True),
        (write_claude("a", "Agent()"), True),
        (write_claude("a", "Agent(a)"), True),
        (write_claude("a", "Agent(b)"), False),
        (write_claude("a", "Read, TaskOutput"), False),
        (write_opencode("a", "{task: allow}"), True),
        (write_opencode("a", '{task: {"*": ask}}'), True),
        (write_opencode("a", "{task: {a: allow}}"), True),
        (write_opencode("a", '{task: {"*": deny, b: allow}}'), False),
        (write_opencode("a", "{task: deny}"), False),
    ],
)
def test_an_agent_that_can_start_itself_is_told(files: Files, *, is_told: bool) -> None:
    """R1.27: with a tool that starts anyone, or its own name in the list."""
    assert bool(find(files, "GRF007")) is is_told


def test_whoever_may_call_anyone_is_in_no_circle_for_that() -> None:
    graph = read_graph(write_claude("a", "Agent") | write_claude("b", "Agent(a)"))
    assert graph.edges == {"a": (), "b": ("a",)}
    assert not graph.cycles
    assert not graph.unknown


# Twins


def test_two_files_of_one_harness_with_one_name_are_told_at_the_second() -> None:
    """R1.1."""
    [(path, finding)] = find(WORKSPACES["GRF008"].bad, "GRF008")
    assert path == "agents/other/child.md"
    assert finding.message == snapshot("the name child is already used by agents/child.md")


def test_of_the_same_agent_in_two_harnesses_the_standard_one_counts() -> None:
    files = write_claude("child", "Read") | write_agent("child", "x") | write_opencode("child", "{task: allow}")
    graph = read_graph(files)
    assert graph.agents["child"].profile == "standard"
    assert not graph.duplicates


# Laws

NAMES = [f"n{number:02}" for number in range(60)]


@st.composite
def edges(draw: st.DrawFn) -> dict[str, tuple[str, ...]]:
    names = NAMES[: draw(st.integers(1, 60))]
    pairs = draw(st.lists(st.tuples(st.sampled_from(names), st.sampled_from(names)), max_size=90))
    return {name: tuple(dict.fromkeys(target for source, target in pairs if source == name)) for name in names}


def build(table: dict[str, tuple[str, ...]], entry: str | None = None) -> list[Definition]:
    place = TextSpan(1, 1, 1, 2)
    return [
        Definition(
            name,
            f"agents/{name}.md",
            "standard",
            targets=tuple(Target(target, (0, 1), place) for target in targets),
            command="/x" if name == entry else None,
            places={"name": place},
        )
        for name, targets in table.items()
    ]


def find_reach(table: dict[str, tuple[str, ...]], start: str) -> set[str]:
    """Everything that can be reached from a name by at least one call."""
    reached: set[str] = set()
    waiting = [start]
    while waiting:
        for target in table[waiting.pop()]:
            if target not in reached:
                reached.add(target)
                waiting.append(target)
    return reached


@settings(max_examples=choose(30, 150), deadline=None)
@given(table=edges())
def test_cycles_are_found_exactly_where_there_are_any(table: dict[str, tuple[str, ...]]) -> None:
    graph = build_graph(build(table))
    reach = {name: find_reach(table, name) for name in table}
    assert graph.in_cycle == {name for name in table if name in reach[name]}
    for cycle in graph.cycles:
        assert cycle[0] == cycle[-1]
        assert len(set(cycle[:-1])) == len(cycle) - 1
        assert all(target in table[name] for name, target in pairwise(cycle))
    assert bool(graph.cycles) == any(name in reach[name] for name in table)
    knots = {frozenset(component) for component in find_components(table)}
    assert knots == {
        frozenset({name} | {other for other in reach[name] if name in reach[other]}) for name in table
    }  # fmt: skip


@settings(max_examples=choose(30, 150), deadline=None)
@given(table=edges())
def test_without_cycles_depths_are_the_longest_chains(table: dict[str, tuple[str, ...]]) -> None:
    forward = {name: tuple(target for target in targets if target > name) for name, targets in table.items()}
    longest = dict.fromkeys(forward, 1)
    for name in sorted(forward):  # every call goes forward in the alphabet
        for target in forward[name]:
            longest[target] = max(longest[target], longest[name] + 1)
    graph = build_graph(build(forward, min(forward)))
    assert not graph.cycles
    assert graph.depths == longest
    for name, depth in longest.items():
        chain = graph.find_chain(name)
        assert (longest[chain[0]], chain[-1], len(chain)) == (1, name, depth)
        assert all(target in forward[caller] for caller, target in pairwise(chain))


@settings(max_examples=choose(20, 100), deadline=None)
@given(table=edges())
def test_whatever_the_graph_reach_is_reach_and_checking_ends(table: dict[str, tuple[str, ...]]) -> None:
    entry = min(table)
    graph = build_graph(build(table, entry))
    assert graph.reached == {entry} | find_reach(table, entry)
    assert graph.depths.keys() == table.keys()
    assert all(graph.find_chain(name)[-1] == name for name in graph.depths)
    list(check_graph(graph))


@pytest.mark.parametrize("closed", [False, True])
def test_five_thousand_agents_in_a_chain_take_no_time_and_no_stack(*, closed: bool) -> None:
    names = [f"n{number}" for number in range(5_000)]
    table: dict[str, tuple[str, ...]] = {name: (target,) for name, target in pairwise(names)}
    table[names[-1]] = (names[0],) if closed else ()
    definitions = build(table, names[0])
    before = time.process_time()
    graph = build_graph(definitions)
    found = list(check_graph(graph))
    assert time.process_time() - before < 1
    assert graph.depths[names[-1]] == 5_000
    assert [finding.code for _, finding in found] == ["GRF001" if closed else "GRF002"]
