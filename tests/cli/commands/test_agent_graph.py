"""`remit agent graph`: who may call whom, as a tree, Mermaid, DOT and JSON."""

import json

import pytest
from inline_snapshot import snapshot

from tests.support.agent_graphs import WORKSPACES, write_agent, write_claude
from tests.support.commands import Inside, Remit, put

TREE = """\
/plan
└─ planner (planning, 1800 s)
   └─ researcher (planning, depth 2, 600 s)

2 agents, 1 call, 0 cycles
"""


def make_tree(remit: Remit) -> None:
    files = write_agent("planner", "researcher", command="/plan", timeout=1800)
    for name, text in (files | write_agent("researcher", timeout=600)).items():
        put(remit, name, text)


def make_circle(remit: Remit) -> None:
    for name, text in WORKSPACES["GRF001"].bad.items():
        put(remit, name, text)


def test_a_tree_is_drawn(remit: Remit) -> None:
    make_tree(remit)
    ended = remit("agent", "graph")
    assert (ended.code, ended.text, ended.err) == (0, TREE, b"")
    assert remit("agent", "graph", "--output-format", "tree").text == TREE


def test_a_circle_is_red_and_1(remit: Remit) -> None:
    make_circle(remit)
    ended = remit("agent", "graph", env={"FORCE_COLOR": "1"})
    assert ended.code == 1
    assert "\x1b[1;31ma (planning, a cycle)\x1b[0m" in ended.text
    assert ended.text.endswith("3 agents, 3 calls, 1 cycle\n")
    assert "\x1b" not in remit("agent", "graph").text


def test_a_part_of_the_workspace_is_drawn_with_the_rest(inside: Inside) -> None:
    """Nobody can say who calls whom from a part of the files."""
    make_circle(inside)
    assert inside("agent", "graph", "agents/a.md") == inside("agent", "graph")


def test_an_empty_workspace_is_told(inside: Inside) -> None:
    ended = inside("agent", "graph")
    assert (ended.code, ended.text) == (0, snapshot("no agent files found; name a file or a folder\n"))
    assert json.loads(inside("agent", "graph", "--json").out)["agents"] == []


def test_json_is_the_graph(inside: Inside) -> None:
    make_circle(inside)
    ended = inside("agent", "graph", "--json")
    shape = json.loads(ended.out)
    assert ended.code == 1
    assert shape["cycles"] == [["a", "b", "c", "a"]]
    assert {agent["name"]: agent["depth"] for agent in shape["agents"]} == {"a": 1, "b": 2, "c": 3}
    assert shape["edges"][0] == {"from": "a", "to": "b", "cycle": True}


@pytest.mark.parametrize(("output_format", "opening"), [("mermaid", "flowchart TD\n"), ("dot", "digraph agents {\n")])
def test_other_programs_get_their_own_format(inside: Inside, output_format: str, opening: str) -> None:
    make_circle(inside)
    ended = inside("agent", "graph", "--output-format", output_format)
    assert ended.code == 1
    assert ended.text.startswith(opening)
    assert "red" in ended.text


@pytest.mark.parametrize("output_format", ["tree", "mermaid", "dot", "json"])
def test_no_name_reaches_the_terminal_raw(inside: Inside, output_format: str) -> None:
    text = write_claude("a", "Read")[".claude/agents/a.md"]
    put(inside, ".claude/agents/a.md", text.replace("name: a", r'name: "x\e[31m\u202e\r\ny"'))
    out = inside("agent", "graph", "--output-format", output_format).text
    assert not {"\x1b", "\u202e", "\r"} & set(out)


@pytest.mark.parametrize(
    ("args", "sentence"),
    [
        ("--output-format svg", "there is no output format 'svg'; available: tree, mermaid, dot, json"),
        ("missing", "'missing' can't be read: no such file or directory; check the path"),
    ],
)
def test_what_does_not_fit_is_2_and_one_line(inside: Inside, args: str, sentence: str) -> None:
    ended = inside("agent", "graph", *args.split())
    assert (ended.code, ended.complaint) == (2, sentence)
