"""`remit agent list`: the agents of a workspace, for people and for programs."""

import json

import pytest

from tests.support.commands import Inside


def test_agents_are_listed_by_name_with_their_file(inside: Inside, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    for kind, name in (("research", "scout"), ("planning", "planner")):
        assert inside("agent", "new", kind, name).code == 0
    ended = inside("agent", "list")
    assert (ended.code, ended.err) == (0, b"")
    first, second, last = ended.text.splitlines()
    assert first.split()[:3] == ["planner", "planning", "agents/planner.md"]
    assert second.split()[:3] == ["scout", "research", "agents/scout.md"]
    assert last == "2 agents"
    assert all(len(line) <= 80 for line in (first, second))


def test_a_program_gets_each_agent_with_its_description(inside: Inside) -> None:
    assert inside("agent", "new", "review", "critic", "--profile", "claude").code == 0
    (found,) = json.loads(inside("agent", "list", "--json").out)["items"]
    assert (found["name"], found["kind"], found["profile"]) == ("critic", None, "claude")
    assert found["path"] == ".claude/agents/critic.md"
    assert found["description"]
    assert json.loads(inside("agent", "list", ".claude", "--json").out)["items"] == [found]


def test_without_agents_it_says_how_to_create_one(inside: Inside) -> None:
    assert inside("agent", "list").text == "no agent files found; to create one, run: remit agent new\n"
    assert json.loads(inside("agent", "list", "--json").out)["items"] == []


def test_text_of_an_agent_file_does_not_steer_the_terminal(inside: Inside) -> None:
    (inside.folder / ".claude/agents").mkdir(parents=True)
    text = '---\nname: a\ndescription: "red \\e[31m text\\nnext line"\n---\nDo it.\n'
    inside.write(".claude/agents/a.md", text)
    ended = inside("agent", "list")
    assert b"\x1b" not in ended.out
    assert len(ended.text.splitlines()) == 2
