"""The graph drawn: as a tree, as Mermaid, as DOT, as plain values; no name breaks out of its quotes."""

import json
import re
import time

import pytest
from inline_snapshot import snapshot

from remit.agents.definition import Definition, Target
from remit.agents.graph import Graph, build_graph
from remit.agents.graph_render import MAX_LINES, render_dot, render_mermaid, render_tree, shape_graph
from remit.model import TextSpan
from tests.support.agent_graphs import read_graph, write_agent, write_claude, write_opencode

WORKSPACE = (
    write_agent("planner", "researcher", "git-workflow-manager", "nobody", command="/plan", timeout=1800)
    | write_agent("researcher", "reader", command="/research", timeout=600)
    | write_agent("reader", "researcher")
    | write_agent("lonely")
    | write_claude("tester", "Read, Agent")
)


def draw(graph: Graph) -> list[str]:
    return [f"{'!' if line.is_problem else ' '}{line.lead}{line.text}" for line in render_tree(graph)]


def test_a_tree_shows_who_may_call_whom_with_kind_and_time() -> None:
    assert draw(read_graph(WORKSPACE)) == snapshot(
        [
            " /plan",
            " └─ planner (planning, 1800 s)",
            "    ├─ researcher (planning, depth 2, 600 s)",
            "    │  └─ reader (planning, depth 3)",
            "!   │     └─ researcher (planning, 600 s, a cycle)",
            "    ├─ git-workflow-manager (built in)",
            "!   └─ nobody (does not exist)",
            " /research",
            " └─ researcher (planning, 600 s, see above)",
            " Claude Code",
            " └─ tester",
            "    └─ any agent",
            " unreachable",
            " └─ lonely (planning)",
        ]
    )


def test_what_is_too_deep_is_a_fault() -> None:
    files = write_agent("a", "b", command="/a") | write_agent("b", "c") | write_agent("c", "d") | write_agent("d")
    assert draw(read_graph(files))[-1] == snapshot("!         └─ d (planning, depth 4, too deep)")


def test_other_entries_are_named_after_what_calls_them() -> None:
    files = {
        **write_agent("a"),
        ".opencode/command/go.md": "Ask @a.\n",
        **write_opencode("b", '{task: {"x-*": allow}}'),
        ".codex/agents/c.toml": 'name = "c"\ndescription = "d"\ndeveloper_instructions = "e"\n',
    }
    assert draw(read_graph(files)) == snapshot([
        " Codex", " └─ c", " called by a command", " └─ a (planning)", " opencode", " └─ b", "    └─ x-*",
    ])  # fmt: skip


def test_an_empty_workspace_draws_nothing() -> None:
    graph = Graph()
    assert render_tree(graph) == []
    assert render_mermaid(graph) == "flowchart TD"
    assert render_dot(graph).startswith("digraph agents {")
    assert shape_graph(graph) == {"agents": [], "edges": [], "built_in": [], "cycles": [], "max_depth": 3}


def test_mermaid_has_every_agent_every_call_and_circles_in_red() -> None:
    assert render_mermaid(read_graph(WORKSPACE)).split("\n") == snapshot(
        [
            "flowchart TD",
            '  n0["tester"]',
            '  n1["lonely"]',
            '  n2["planner, 1800 s"]',
            '  n3["reader, depth 3"]',
            '  n4["researcher, depth 2, 600 s"]',
            '  n5["any agent"]',
            '  n6["git-workflow-manager, built in"]',
            '  n7["nobody"]',
            '  c2(["/plan"]) --> n2',
            '  c4(["/research"]) --> n4',
            "  n0 --> n5",
            "  n2 --> n4",
            "  n2 --> n6",
            "  n2 --> n7",
            "  n3 --> n4",
            "  n4 --> n3",
            "  linkStyle 6,7 stroke:red,stroke-width:3px",
            "  classDef problem stroke:red,color:red",
            "  class n3,n4,n7 problem",
        ]
    )


def test_dot_has_every_agent_every_call_and_circles_in_red() -> None:
    lines = render_dot(read_graph(WORKSPACE)).split("\n")
    assert (lines[0], lines[-1]) == ("digraph agents {", "}")
    assert '  "planner" [label="planner\\n1800 s"];' in lines
    assert '  "*" [label="any agent"];' in lines
    assert '  "nobody" [label="nobody", color=red, fontcolor=red];' in lines
    assert '  "planner" -> "git-workflow-manager";' in lines
    assert '  "reader" -> "researcher" [color=red, penwidth=2];' in lines


def test_plain_values_say_it_all() -> None:
    shape = shape_graph(read_graph(WORKSPACE))
    assert json.loads(json.dumps(shape)) == shape
    agents = {agent["name"]: agent for agent in shape["agents"]}
    assert agents["planner"] == {
        "name": "planner", "path": "agents/planner.md", "profile": "standard", "kind": "planning",
        "command": "/plan", "timeout_seconds": 1800, "depth": 1, "caller": None, "entry": True,
    }  # fmt: skip
    assert (
        agents["reader"]["depth"],
        agents["reader"]["caller"],
        agents["reader"]["entry"],
    ) == (
        3,
        "researcher",
        False,
    )
    assert (agents["lonely"]["depth"], agents["lonely"]["caller"]) == (1, None)
    assert {"from": "reader", "to": "researcher", "cycle": True} in shape["edges"]
    assert {"from": "planner", "to": "nobody", "cycle": False} in shape["edges"]
    assert shape["cycles"] == [["reader", "researcher", "reader"]]


# Names come from files

HOSTILE = [
    'a"]; evil["b',
    "a\\",
    'a\\"; evil -> b; "',
    "a\nevil --> b",
    "a\r\n}\nevil",
    "<script>alert(1)</script>",
    "&lt;img src=x onerror=alert(1)&gt;",
    "`**markdown**`",
    "#quot;]; evil",
    "a\u2028evil",
    "a\x1b[31mred",
    "end",
    "]",
    "\udcff",
]


def build_hostile(name: str) -> Graph:
    place = TextSpan(1, 1, 1, 2)
    target = Target(name, (0, 1), place)
    twin = Target(f"{name}!", (0, 1), place)
    return build_graph([
        Definition(name, "agents/a.md", "standard", command=name, targets=(target, twin), timeout_s=1.5),
        Definition("plain", "agents/b.md", "standard", targets=(target,)),
    ])  # fmt: skip


_MERMAID_LINE = re.compile(
    r'flowchart TD|  n\d+\["[^"<>`\n]*"\]|  c\d+\(\["[^"<>`\n]*"\]\) --> n\d+|  n\d+ --> n\d+'
    r"|  linkStyle [\d,]+ stroke:red,stroke-width:3px|  classDef problem stroke:red,color:red|  class [n\d,]+ problem"
)
_TEXT = r'"(?:[^"\\\n]|\\["\\n])*"'
_DOT_LINE = re.compile(
    rf"digraph agents {{|  rankdir=LR;|  node \[shape=box, style=rounded\];|}}"
    rf"|  {_TEXT} \[label={_TEXT}(?:, color=red, fontcolor=red)?\];"
    rf"|  {_TEXT} -> {_TEXT}(?: \[color=red, penwidth=2\])?;"
)


@pytest.mark.parametrize("name", HOSTILE)
def test_no_name_breaks_out_of_its_quotes_in_mermaid(name: str) -> None:
    for line in render_mermaid(build_hostile(name)).splitlines():
        assert _MERMAID_LINE.fullmatch(line), line


@pytest.mark.parametrize("name", HOSTILE)
def test_no_name_breaks_out_of_its_quotes_in_dot(name: str) -> None:
    for line in render_dot(build_hostile(name)).splitlines():
        assert _DOT_LINE.fullmatch(line), line


@pytest.mark.parametrize("name", HOSTILE)
def test_any_name_is_drawn_in_a_tree(name: str) -> None:
    assert any(name in line.text for line in render_tree(build_hostile(name)))


def test_five_thousand_agents_are_drawn_in_no_time_and_the_tree_says_that_there_are_more() -> None:
    place = TextSpan(1, 1, 1, 2)
    definitions = [
        Definition(f"n{at}", f"agents/{at}.md", "standard", command="/x",
                   targets=(Target(f"n{at + 1}", (0, 1), place),))
        for at in range(5_000)
    ]  # fmt: skip
    graph = build_graph(definitions)
    before = time.process_time()
    lines = render_tree(graph)
    assert len(lines) == MAX_LINES + 1
    assert lines[-1].text.startswith("… and more")
    for draw_all in (render_mermaid, render_dot):
        assert draw_all(graph).count("\n") > 10_000
    assert len(shape_graph(graph)["agents"]) == 5_000
    assert time.process_time() - before < 2
