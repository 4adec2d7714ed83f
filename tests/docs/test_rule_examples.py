"""What a rule's page shows as bad is found by that rule, and what it shows as good is not.

Examples that can be made of a good agent file, return or list of tasks are: see `rule_examples` for the words, and
`agent_edits`, `return_edits` and `task_edits` for the places. Others are for people, and only counted.
"""

import re
from collections.abc import Callable
from typing import NamedTuple

import pytest

from remit.model import Expectation
from remit.views.explanations import Explanation, explain_all
from tests.support.agent_rule_samples import SAMPLES as FILES
from tests.support.agent_samples import STANDARD, lint
from tests.support.docs import agent_edits, return_edits, task_edits
from tests.support.docs.rule_examples import Move, Shown, read_shown
from tests.support.return_rule_samples import PLAIN
from tests.support.return_rule_samples import SAMPLES as RETURNS
from tests.support.return_samples import ISSUED

LEAST = {"AGT Bad": 180, "AGT Good": 156, "RET Bad": 35, "RET Good": 25, "SYN Bad": 11, "SYN Good": 7}
"""How many rules show an example that is run. A rule that is new, or told better, raises it; none lowers it."""
SIZES = {"core/fromat.md": None, "core/format.md": 900}
"""Context files that examples name: one that is not there, and one that is."""
KNOWN = {
    "RET042": PLAIN,  # an id of another form is told of where none was issued
    "RET043": PLAIN.__class__(PLAIN.text, expectation=Expectation(ISSUED, "planner")),
}


class Run(NamedTuple):
    """An example that was run."""

    code: str
    word: str
    shown: Shown
    is_found: bool


def run_file(code: str, shown: Shown) -> bool | None:
    """Whether the rule finds the example in an agent's file; None where it cannot be made."""
    sample = FILES[code]
    text: str | None = sample.good
    for move in shown.moves:
        text = agent_edits.place(move, text) if text is not None else None
    if text is None:
        return None
    folder = sample.path.rpartition("/")[0]
    path = sample.path if not shown.path else shown.path if "/" in shown.path else f"{folder}/{shown.path}"
    return code in [finding.code for finding in lint(text, path, sizes={**sample.sizes, **SIZES})]


def run_return(code: str, shown: Shown) -> bool | None:
    """Whether the rule finds the example in a return; None where it cannot be made."""
    message = KNOWN.get(code, RETURNS[code].good)
    for move in shown.moves:
        changed = return_edits.place(move, message)
        if changed is None:
            return None
        message = changed
    return code in [finding.code for finding in message.judge().diagnostics]


def run_tasks(code: str, shown: Shown) -> bool | None:
    """Whether the rule finds the example in the tasks' files; None where it cannot be made."""
    pair = task_edits.Pair()
    for move in shown.moves:
        changed = task_edits.place(move, pair)
        if changed is None:
            return None
        pair = changed
    return code in pair.list_codes()


def run_all(told: Explanation) -> list[Run]:
    """Every example of a code that can be run."""
    run = RUNNERS[told.code[:3]]
    runs = []
    for word in ("Bad", "Good"):
        for shown in read_shown(told.documentation, word):
            found = run(told.code, shown)
            runs += [] if found is None else [Run(told.code, word, shown, found)]
    return runs


RUNNERS: dict[str, Callable[[str, Shown], bool | None]] = {"AGT": run_file, "RET": run_return, "SYN": run_tasks}


@pytest.fixture(scope="module")
def runs() -> list[Run]:
    """All of them."""
    return [each for told in explain_all() if told.code[:3] in RUNNERS for each in run_all(told)]


@pytest.mark.thorough
def test_what_is_shown_as_bad_is_found_and_what_is_shown_as_good_is_not(runs: list[Run]) -> None:
    wrong = [each for each in runs if each.is_found != (each.word == "Bad")]
    assert not wrong, "\n".join(map(str, wrong))


def test_no_fewer_examples_are_run_than_before(runs: list[Run]) -> None:
    counted = dict.fromkeys(LEAST, 0)
    for code, word in {(each.code, each.word) for each in runs}:
        counted[f"{code[:3]} {word}"] += 1
    assert counted == LEAST, "raise LEAST where there are more; tell an example so that it can be run where fewer"


def test_every_code_shows_something_bad_and_something_good() -> None:
    for told in explain_all():
        for word in ("Why", "Bad", "Good"):
            assert re.search(rf"^{word}: \S", told.documentation, re.MULTILINE), f"{told.code} does not say {word}"


def test_examples_are_read_as_they_are_told() -> None:
    told = "Bad: `a: 1` and `b: 2`, `c` under `d`, or no `e`, which is bad\n\nGood: a `<f>` without `<g>` in words `h`"
    assert read_shown(told, "Bad") == [
        Shown((Move("set", "a: 1"), Move("set", "b: 2"))),
        Shown((Move("set", "c", "d"),)),
        Shown((Move("drop", "e"),)),
    ]
    assert read_shown(told, "Good") == [Shown((Move("drop", "<g>", "<f>"),))]
    assert read_shown("Bad: a word before `this`", "Bad") == []
    assert read_shown("Bad: `name: a` in `b.md`", "Bad") == [Shown((Move("set", "name: a"),), "b.md")]


@pytest.mark.parametrize(
    ("move", "there", "gone"),
    [
        (Move("set", "timeout: 5"), "\ntimeout: 5\n", "timeout: 1800"),
        (Move("set", "agent-type: x"), "\nagent-type: x\n", "agent_type: "),
        (Move("set", "max_dept: 2", "delegation"), "\n  max_dept: 2\n", "max_depth"),
        (Move("set", 'bash: ["x"]', "deny"), '\n    - bash: ["x"]\n', '["rm", "sudo"]'),
        (Move("set", 'write: "false"'), '\n  write: "false"\n', "write: true"),
        (Move("add", "timeout: 5"), "\ntimeout: 5\n---", "never there"),
        (Move("drop", "timeout"), "max_tokens: 4000\ntools:", "timeout: 1800"),
        (Move("drop", "<role>"), "<task>", "<role>"),
        (Move("drop", "session_id", "<inputs_required>"), "task_number", '"session_id" type'),
        (Move("set", "<rolle>"), "</rolle>", "<role>"),
        (Move("set", '"status": "x|y"'), '"status": "x|y",', '"status": "completed"'),
    ],
)
def test_a_change_is_made_where_a_reader_would_make_it(move: Move, there: str, gone: str) -> None:
    text = agent_edits.place(move, STANDARD)
    assert text is not None
    assert there in text
    assert gone not in text
