"""The policy's answers to spellings of denied commands, and to ordinary work, from their plain words.

It is the whole protection only on a machine without a judge at exec. `torture/plain_words.py` counts the same.
"""

from __future__ import annotations

from collections import Counter

import pytest

from remit.policy import Permissions, ToolCall, judge
from tests.support.ordinary_commands import DENIED, list_ordinary
from tests.support.policy_questions import GROUND, ask
from torture.denied_programs import MODULES, STUBS, load_spellings
from torture.sandbox import Box, find_trouble
from torture.stage import spread

ALLOWED_SHARE = 0.02
"""Of the spellings, without a judge at exec: files that tools find by themselves, programs that aren't known."""
ASKED_SHARE = 0.1
"""Of ordinary commands, without a judge at exec: nearly all of them run code of another language."""
ASKED_SHARE_JUDGED = 0.005
NARROW = ("ls", "ls *", "cat *", "git status", "git diff *", "pytest *")


def test_the_spellings_are_many_and_varied() -> None:
    spellings = load_spellings()
    assert len({each.script for each in spellings}) >= 1500
    assert len({each.kind for each in spellings}) >= 50
    assert {each.deny for each in spellings} > {*DENIED}


def test_few_spellings_of_a_denied_command_are_allowed() -> None:
    """R1.3: deny wins, however it is written, as far as the words of a command say it."""
    spellings = load_spellings()
    allowed = [each.name for each in spellings if ask(each.script, deny=(each.deny,)).answer == "allow"]
    assert len(allowed) <= ALLOWED_SHARE * len(spellings), allowed


def test_a_denied_command_that_stands_there_plainly_is_denied() -> None:
    """What is certain is not asked about: the rule has settled it."""
    plain = [each for each in load_spellings() if each.kind == "structure"]
    answers = Counter(ask(each.script, deny=(each.deny,)).answer for each in plain)
    assert answers["deny"] >= 0.8 * len(plain), answers
    assert not answers["allow"], answers


def test_no_spelling_is_allowed_where_only_a_few_commands_are() -> None:
    """R1.3: with a list of what is allowed, nothing else is."""
    spellings = spread(load_spellings(), 500)
    assert [each.name for each in spellings if ask(each.script, allow=NARROW).answer == "allow"] == []


@pytest.mark.thorough
def test_what_the_agent_above_may_not_do_the_one_below_may_not_do_either() -> None:
    own = Permissions(tools=None, allow={}, deny={})
    for each in spread(load_spellings(), 500):
        above = Permissions(tools=None, allow={}, deny={"bash": (each.deny,)})
        alone = judge(ToolCall("bash", command=each.script), [above], GROUND)
        assert judge(ToolCall("bash", command=each.script), [own, above], GROUND) == alone, each.name


@pytest.mark.thorough
def test_a_denied_command_is_found_behind_any_ordinary_one() -> None:
    """What stands before it, a here-document or a quote, does not hide it."""
    for number, each in enumerate(list_ordinary()):
        denied = DENIED[number % len(DENIED)]
        script = f"{each.command}\n{denied} x"
        assert ask(script, deny=(denied,)).answer != "allow", script


@pytest.mark.parametrize(("is_judged", "share"), [(False, ASKED_SHARE), (True, ASKED_SHARE_JUDGED)])
def test_ordinary_commands_are_let_alone(*, is_judged: bool, share: float) -> None:
    """None is denied; few are asked about if a judge at exec sees what code starts."""
    commands = list_ordinary()
    assert len(commands) >= 700
    ground = GROUND._replace(is_judged=is_judged)
    answers = {}
    for each in commands:
        layers = [Permissions(deny={"bash": each.deny})]
        answers[each.command] = judge(ToolCall("bash", command=each.command), layers, ground).answer
    assert [command for command, answer in answers.items() if answer == "deny"] == []
    asked = [command for command, answer in answers.items() if answer == "ask"]
    assert len(asked) <= share * len(commands), asked


def test_an_agent_without_rules_for_bash_is_asked_nothing() -> None:
    rules = Permissions(None, {"write": ("src/**",)}, {"write": (".git/**",)})
    for each in list_ordinary():
        assert judge(ToolCall("bash", command=each.command), [rules], GROUND).answer == "allow", each.command


@pytest.mark.slow
def test_the_box_marks_what_is_started_and_nothing_else(tmp_path_factory: pytest.TempPathFactory) -> None:
    """If it marked everything, or let the real program run, the others would prove nothing."""
    if trouble := find_trouble():
        pytest.skip(trouble)
    box = Box(tmp_path_factory.mktemp("box"), STUBS, MODULES)
    ran = box.run("rm -rf ~/project; ls; touch /usr/bin/x; cat package.json")
    assert ran.starts == (("rm", "-rf", "/home/agent/project"),)
    assert "notes.txt" in ran.said
    assert "Read-only file system" in ran.said
    assert box.run("echo rm -rf build; git status").starts == ()
    assert not box.run("git fetch origin").pushed
    assert box.run("git push origin HEAD").pushed
