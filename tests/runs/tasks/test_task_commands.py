"""The lifecycle: what each command does, who does it, what is told, and where the artifact belongs."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from inline_snapshot import snapshot

from remit.config import parse_settings
from remit.errors import ConfigError, UsageError
from remit.runs.tasks.task_commands import (
    COMMANDS,
    MAX_FOLLOW_UPS,
    Candidate,
    choose_agent,
    fill_path,
    find_version,
    follow_phase,
    make_commands,
    read_follow_ups,
    render_work,
)
from remit.tasks.task import OWN_COMMAND, follow_status

RESEARCH, PLAN = COMMANDS["research"], COMMANDS["plan"]


# What they are


@pytest.mark.parametrize(
    ("name", "working", "after"),
    [
        ("research", "RESEARCHING", "RESEARCHED"),
        ("plan", "PLANNING", "PLANNED"),
        ("revise", "REVISING", "REVISED"),
        ("implement", "IMPLEMENTING", "COMPLETED"),
        ("review", "", None),
    ],
)
def test_a_command_ends_where_its_kind_says(name: str, working: str, after: str | None) -> None:
    """R1.30."""
    command = COMMANDS[name]
    assert command.working == working
    assert follow_status(working, "completed", kind=command.kind) == after
    assert not working or OWN_COMMAND[working] == name


def test_only_a_review_makes_tasks_and_only_an_implementation_has_phases() -> None:
    assert [name for name, command in COMMANDS.items() if command.makes_tasks] == ["review"]
    assert [name for name, command in COMMANDS.items() if command.is_phased] == ["implement"]


def load(text: str) -> dict[str, object]:
    return dict(make_commands(parse_settings(text).runs.task))


def test_a_workspace_adds_commands_of_its_own() -> None:
    found = make_commands(
        parse_settings(
            '[task.audit]\nlike = "review"\nartifact = "reports/audit-{version:03d}.md"\nhelp = "Audit it."\n'
            '[task.spike]\nworking = "in progress"\nkind = "utility"\n'
        ).runs.task
    )
    assert [*found] == [*COMMANDS, "audit", "spike"]
    audit, spike = found["audit"], found["spike"]
    assert (audit.kind, audit.working, audit.help, audit.makes_tasks) == ("review", "", "Audit it.", True)
    assert audit.asks.startswith("Do the audit of task {number}.")
    assert (spike.kind, spike.working, spike.like) == ("utility", "IN PROGRESS", "research")
    assert spike.artifact == RESEARCH.artifact


def test_a_command_of_the_standards_can_be_set_differently() -> None:
    found = make_commands(parse_settings('[task.research]\nartifact = "notes/{number}-{version}.md"\n').runs.task)
    assert [*found] == [*COMMANDS]
    assert found["research"] == RESEARCH._replace(
        artifact="notes/{number}-{version}.md", names=("research", *RESEARCH.names)
    )


def test_working_can_be_none() -> None:
    found = make_commands(parse_settings('[task.look]\nworking = "none"\n').runs.task)
    assert found["look"].working == ""


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ('[task.audit]\nlike = "reviev"', "did you mean 'review'"),
        ('[task.audit]\nworking = "RESERCHING"', "did you mean 'RESEARCHING'"),
        ('[task.audit]\nworking = "COMPLETED"', "works as 'COMPLETED'"),
        ('[task.audit]\nkind = "research "', "use one of research"),
        ('[task.audit]\nartifact = "../{version}.md"', "n't a file below"),
        ('[task.audit]\nartifact = "/etc/x"', "n't a file below"),
        ('[task.audit]\nartifact = "reports/"', "n't a file below"),
        ('[task.audit]\nartifact = "{version.__class__}.md"', "unknown placeholder"),
        ('[task.audit]\nartifact = "{verson}.md"', "has the unknown placeholder 'verson'"),
        ('[task.Audit]\nlike = "review"', "can't be the name of a command"),
        ('[task."a b"]\nlike = "review"', "can't be the name of a command"),
        ('[task."--help"]\nlike = "review"', "can't be the name of a command"),
    ],
)
def test_what_cannot_be_is_refused_in_a_sentence(text: str, sentence: str) -> None:
    with pytest.raises(ConfigError) as caught:
        load(text)
    assert sentence in f"{caught.value.message}; {caught.value.hint}"


# Who does it


def test_the_route_decides_by_language_then_by_default() -> None:
    routes = {"research": {"default": "researcher", "lean": "lean-research-agent"}}
    assert choose_agent(RESEARCH, (), routes, language="lean") == "lean-research-agent"
    assert choose_agent(RESEARCH, (), routes, language="python") == "researcher"
    assert choose_agent(RESEARCH, (), routes) == "researcher"


def test_a_command_of_ones_own_takes_the_route_of_the_one_it_is_like() -> None:
    audit = COMMANDS["review"]._replace(name="audit")
    assert choose_agent(audit, (), {"review": {"default": "reviewer"}}) == "reviewer"
    assert choose_agent(audit, (), {"audit": {"default": "auditor"}, "review": {"default": "reviewer"}}) == "auditor"


def test_whoever_serves_the_command_comes_before_whoever_is_of_the_kind() -> None:
    agents = (Candidate("deep", "planning", "/revise"), Candidate("planner", "planning", "/plan"))
    assert choose_agent(PLAN, agents, {}) == "planner"
    assert choose_agent(COMMANDS["revise"], agents, {}) == "deep"


def test_the_one_of_the_kind_is_taken_then_the_usual_name() -> None:
    assert choose_agent(RESEARCH, (Candidate("finder", "research"), Candidate("x", "review")), {}) == "finder"
    assert choose_agent(RESEARCH, (Candidate("researcher"), Candidate("other")), {}) == "researcher"
    assert choose_agent(RESEARCH, (Candidate("other"),), {}) == ""


def test_of_several_the_one_with_the_name_of_the_standard_is_taken() -> None:
    agents = (Candidate("lean-implementation-agent", "implementation"), Candidate("implementer", "implementation"))
    assert choose_agent(COMMANDS["implement"], agents, {}) == "implementer"
    serving = (Candidate("researcher", "x", "/research"), Candidate("scout", "x", "/research"))
    assert choose_agent(RESEARCH, serving, {}) == "researcher"


def test_of_several_nobody_is_guessed() -> None:
    agents = (Candidate("b", "research"), Candidate("a", "research"))
    with pytest.raises(UsageError) as caught:
        choose_agent(RESEARCH, agents, {})
    assert caught.value.message == snapshot("several agents fit: a, b")
    assert '[route.research] default = "a"' in caught.value.hint


# What is told


def test_the_work_is_told_with_what_the_caller_adds() -> None:
    told = render_work(RESEARCH, 12, "  Look at the cache. ")
    assert told.startswith("Find out what has to be known before task 12 can be planned")
    assert told.endswith("\n\nLook at the cache.")


def test_who_has_no_agent_file_is_taught() -> None:
    for command in COMMANDS.values():
        assert command.teaches not in render_work(command, 1)
        assert render_work(command, 1, taught=True).endswith(command.teaches)
    assert "### Phase 1: Name [NOT STARTED]" in render_work(PLAN, 1, taught=True)


def test_a_phase_is_told_by_its_number() -> None:
    assert "Do phase 2.5 of its plan now" in render_work(COMMANDS["implement"], 3, phase="2.5")


# Where the artifact belongs


@pytest.mark.parametrize(
    ("names", "version"),
    [
        ((), 1),
        (("research-001.md", "research-002.md"), 3),
        (("research-007.md", "research-x.md", "research-.md", "notes.md", "research-09.txt"), 8),
        (("research-1000.md",), 1001),
        (("research-٣.md",), 1),
    ],
)
def test_the_next_version_is_above_all_that_are_there(names: tuple[str, ...], version: int) -> None:
    """R1.20."""
    assert find_version(RESEARCH.artifact, names) == version


def test_a_path_is_filled() -> None:
    assert fill_path(RESEARCH.artifact, version=7) == "reports/research-007.md"
    assert fill_path("{number}-{slug}-{date}.md", number=4, slug="a_b", date="20260101") == "4-a_b-20260101.md"
    assert fill_path("phase-{phase}.md", phase="2.5") == "phase-2.5.md"


def test_a_version_behind_other_places_is_found() -> None:
    template = "notes/{number}-{version:02d}.md"
    assert find_version(template, ("12-03.md", "13-09.md"), number=12) == 4


# What follows


@pytest.mark.parametrize(
    ("status", "marker"),
    [
        ("completed", "COMPLETED"),
        ("partial", "PARTIAL"),
        ("timeout", "PARTIAL"),
        ("failed", None),
        ("blocked", None),
    ],
)
def test_a_phase_that_is_not_done_is_taken_up_again(status: str, marker: str | None) -> None:
    """S4."""
    assert follow_phase(status) == marker


def test_next_steps_become_tasks_one_each() -> None:
    """R1.30."""
    found = read_follow_ups(("Add tests. They are missing.", "- fix the parser\n- fix the docs", " ", "add tests."))
    assert [each.title for each in found] == ["Add tests", "fix the parser", "fix the docs"]
    assert found[0].text == snapshot("Add tests. They are missing.")


def test_a_long_step_gets_a_short_title() -> None:
    (found,) = read_follow_ups(("word " * 100,))
    assert len(found.title) <= 120
    assert found.title.endswith("word…")


@given(st.lists(st.text(max_size=300), max_size=60))
def test_any_next_steps_give_titles_on_one_line(steps: list[str]) -> None:
    found = read_follow_ups(tuple(steps))
    assert len(found) <= MAX_FOLLOW_UPS
    assert len({each.title.casefold() for each in found}) == len(found)
    assert all(each.title.strip() for each in found)
