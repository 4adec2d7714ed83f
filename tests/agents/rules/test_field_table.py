"""The tables of fields fit the harnesses, and every shape of a problem is found by the one checker."""

from __future__ import annotations

from string import Formatter
from typing import TYPE_CHECKING

import pytest

from remit.agents.document import parse_document
from remit.agents.profiles import KEYS
from remit.agents.rules import claude, codex, command, opencode, standard_fields
from remit.agents.rules.field_table import (
    FieldCheck,
    FieldProblem,
    FieldSpec,
    FieldTable,
    RuleRow,
    add_table,
    is_missing,
)
from remit.agents.rules.register import AGENT_RULES, AgentFileContext

if TYPE_CHECKING:
    from collections.abc import Iterator

TABLES = [module.TABLE for module in (standard_fields, claude, opencode, codex, command)]
WORDS = {
    "key", "value", "given", "state", "default", "meant", "choices", "least", "most", "stem", "unquoted", "keys",
    "table", "length", "size", "strategy", "budget", "kind", "limit", "reason", "problem",
}  # fmt: skip


def list_problems(table: FieldTable) -> Iterator[FieldProblem]:
    for spec in table.fields:
        found = (spec.missing, spec.wrong_type, spec.wrong, spec.wrong_item, *(each.problem for each in spec.checks))
        yield from (problem for problem in found if problem is not None)
    keys = (table.misspelled, table.unknown, table.misspelled_inside, table.unknown_inside)
    yield from (problem for problem in keys if problem is not None)


@pytest.mark.parametrize("table", TABLES, ids=lambda table: table.profile)
def test_a_table_fits_its_profile(table: FieldTable) -> None:
    assert {spec.path.partition("/")[0] for spec in table.fields} <= {*table.keys}
    assert {*KEYS[table.profile]} <= {*table.keys}
    for problem in list_problems(table):
        assert table.profile in AGENT_RULES[problem.code].profiles
        texts = (problem.message, problem.hint, problem.better, problem.fix_message)
        assert {name for text in texts for _, name, _, _ in Formatter().parse(text) if name is not None} <= WORDS


def test_a_code_without_a_rule_is_refused() -> None:
    table = FieldTable("command", (FieldSpec("agent", wrong=FieldProblem("AGT998", "wrong")),), ("agent",))
    with pytest.raises(ValueError, match="no rule has the codes AGT998"):
        add_table(table, ())


CODES = ("AGT991", "AGT992", "AGT993", "AGT994", "AGT995", "AGT996", "AGT997")
TABLE = FieldTable(
    "command",
    (
        FieldSpec(
            "agent",
            "text",
            missing=FieldProblem("AGT991", "{key} is {state}"),
            wrong_type=FieldProblem("AGT992", "{key} is {value}", "Write a text."),
        ),
        FieldSpec("mode", "text", ("fast", "slow"), wrong=FieldProblem("AGT993", "no mode {value}")),
        FieldSpec(
            "level", "number", least=1, most=3, wrong=FieldProblem("AGT994", "{key} is {value}", "{least}-{most}")
        ),
        FieldSpec(
            "names",
            "list",
            wrong_type=FieldProblem("AGT995", "{key} is {value}"),
            wrong_item=FieldProblem("AGT995", "{value} is no name"),
        ),
        FieldSpec(
            "title",
            "text",
            checks=(FieldCheck(FieldProblem("AGT996", "{value} is lower"), lambda _, text: text.islower()),),
        ),
    ),
    ("agent", "mode", "level", "names", "title"),
    misspelled=FieldProblem("AGT997", "no key {key}", "Did you mean {meant}?"),
    unknown=FieldProblem("AGT997", "no keys {keys}"),
    foreign=("modus",),
    ignores_extensions=True,
)


@pytest.fixture(autouse=True, scope="module")
def table_rules() -> Iterator[None]:
    add_table(TABLE, [RuleRow(code, f"shape-{code}") for code in CODES])
    yield
    for code in CODES:
        del AGENT_RULES[code]


@pytest.mark.parametrize(
    ("head", "messages"),
    [
        ("agent: planner", []),
        ("title: T", ["agent is missing"]),
        ("agent: ''", ["agent is empty"]),
        ("agnet: planner", ["no key 'agnet'"]),
        ("agent: [a]", ["agent is a list"]),
        ("agent: 5", []),  # rules on YAML report it
        ("agent: a\nmode: fsat", ["no mode 'fsat'"]),
        ("agent: a\nmode: slow", []),
        ("agent: a\nlevel: 4", ["level is 4"]),
        ("agent: a\nlevel: 3", []),
        ("agent: a\nnames: [b, 7, '']", ["7 is no name", "empty is no name"]),
        ("agent: a\ntitle: t", ["'t' is lower"]),
        ("agent: a\nnames: ''\ntitle: ''", ["names is ''"]),
        ("agent: a\nnames:\ntitle:", []),
        ("agent: a\nmodus: fast\nother: 1\nx-mode: 1", ["no keys modus, other"]),
        ("agent: a\nmdoe: fast\nmode: slow", ["no keys mdoe"]),
    ],
)
def test_each_shape_is_reported(head: str, messages: list[str]) -> None:
    document = parse_document(".claude/commands/plan.md", f"---\n{head}\n---\n")
    reports = [report for code in CODES for report in AGENT_RULES[code].check(AgentFileContext(document))]
    assert [report.message for report in reports] == messages


def test_a_field_is_missing_only_if_no_misspelled_key_means_it() -> None:
    for head, expected in (("title: T", True), ("agnet: a", False), ("agent: a", False), ("agent:", True)):
        document = parse_document("x.md", f"---\n{head}\n---\n")
        assert is_missing(document, TABLE, "agent") is expected
