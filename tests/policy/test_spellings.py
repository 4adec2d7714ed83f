"""Whoever spells a denied command in another way is not let through, and whoever does ordinary work is let alone.

`torture/bypasses.py` really runs all spellings; here a sample runs, and the policy is asked about all of them.
"""

from __future__ import annotations

from collections import Counter

import pytest

from remit.policy import Call, Permissions, judge
from tests.amounts import choose
from tests.policy.asking import GROUND, ask
from tests.policy.ordinary import list_ordinary
from tests.policy.spellings import DENIED, OPTIONS, STUBS, Spelling, list_spellings
from torture.bypasses import MODULES, try_all, try_chances
from torture.sandbox import Box, find_trouble
from torture.stage import spread

QUICK = choose(1200, 2000)
SAMPLE = choose(25, 60)
STARTED_SHARE = 0.8
"""Of the sample; the rest asks for programs that a machine may not have."""
ASKED_SHARE = 0.03
NARROW = ("ls", "ls *", "cat *", "git status", "git diff *", "pytest *")


@pytest.fixture(scope="module")
def box(tmp_path_factory: pytest.TempPathFactory) -> Box:
    if trouble := find_trouble():
        pytest.skip(trouble)
    return Box(tmp_path_factory.mktemp("box"), STUBS, MODULES)


def test_the_spellings_are_many_and_varied() -> None:
    spellings = list_spellings()
    assert len({each.script for each in spellings}) >= 1500
    assert len({each.way for each in spellings if each.kind != OPTIONS}) >= 300
    assert len(DENIED) >= 12
    assert {each.denied for each in spellings} > set(DENIED)


def find_allowed(spellings: list[Spelling]) -> list[str]:
    return [each.name for each in spellings if ask(each.script, deny=(each.denied.pattern,)).answer == "allow"]


@pytest.mark.thorough
def test_no_spelling_of_a_denied_command_is_allowed() -> None:
    """R1.3: deny wins, however it is written. Some of each batch."""
    assert find_allowed(spread(list_spellings(), QUICK)) == []


@pytest.mark.slow
@pytest.mark.thorough
def test_none_of_all_spellings_is_allowed() -> None:
    """Each way with one of the commands; `torture/bypasses.py` takes four of them."""
    assert find_allowed(list_spellings()) == []


def test_a_denied_command_that_stands_there_plainly_is_denied() -> None:
    """What is certain is not asked about: the person would be bothered with what the rule has settled."""
    plain = [each for each in list_spellings() if each.kind == "structure"]
    answers = Counter(ask(each.script, deny=(each.denied.pattern,)).answer for each in plain)
    assert answers["deny"] >= 0.9 * len(plain), answers


def test_no_spelling_is_allowed_where_only_a_few_commands_are() -> None:
    """R1.3: with a list of what is allowed, nothing else is."""
    spellings = spread(list_spellings(), 500)
    assert [each.name for each in spellings if ask(each.script, allow=NARROW).answer == "allow"] == []


@pytest.mark.thorough
def test_what_the_agent_above_may_not_do_the_one_below_may_not_do_either() -> None:
    own = Permissions(tools=None, allow={}, deny={})
    for each in spread(list_spellings(), 500):
        above = Permissions(tools=None, allow={}, deny={"bash": (each.denied.pattern,)})
        assert judge(Call("bash", command=each.script), [own, above], GROUND).answer != "allow", each.name


@pytest.mark.thorough
def test_a_denied_command_is_found_behind_any_ordinary_one() -> None:
    """What stands before it, a here-document or a quote, does not hide it."""
    for number, each in enumerate(list_ordinary()):
        denied = DENIED[number % len(DENIED)]
        script = f"{each.command}\n{denied.command}"
        assert ask(script, deny=(denied.pattern,)).answer != "allow", script


def test_ordinary_commands_are_let_alone() -> None:
    """None is denied, and at most three in a hundred are asked about."""
    commands = list_ordinary()
    assert len(commands) >= 700
    answers = {each.command: ask(each.command, deny=each.deny) for each in commands}
    assert [command for command, decision in answers.items() if decision.answer == "deny"] == []
    asked = [command for command, decision in answers.items() if decision.answer == "ask"]
    assert len(asked) <= ASKED_SHARE * len(commands), asked


@pytest.mark.slow
@pytest.mark.thorough
def test_the_spellings_really_start_what_is_denied(box: Box) -> None:
    """A sample of each class: its stub ran, and the policy would not have let it."""
    told = try_all(spread(list_spellings(), SAMPLE), box, jobs=2)
    started = [each for each in told if each.started]
    assert len(started) >= STARTED_SHARE * SAMPLE, [each.spelling.name for each in told if not each.started]
    assert [each.spelling.name for each in started if each.answer == "allow"] == []


@pytest.mark.slow
@pytest.mark.thorough
def test_what_bash_and_the_parser_read_differently_is_not_allowed(box: Box) -> None:
    """Random scripts, most of them not even well formed: whichever is allowed does not start it."""
    chances = try_chances(choose(1000, 3000), 1, box)
    assert chances.answers["allow"] > 10
    assert chances.through == []


@pytest.mark.slow
def test_the_box_marks_what_is_started_and_nothing_else(box: Box) -> None:
    """If it marked everything, or let the real program run, the others would prove nothing."""
    ran = box.run("rm -rf ~/project; ls; touch /usr/bin/x; cat package.json")
    assert ran.starts == (("rm", "-rf", "/home/agent/project"),)
    assert "notes.txt" in ran.said
    assert "Read-only file system" in ran.said
    assert box.run("echo rm -rf build; git status").starts == ()
    assert not box.run("git fetch origin").pushed
    assert box.run("git push origin HEAD").pushed
