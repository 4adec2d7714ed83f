"""The rules on fields and values: what odd values do to them, and what they take for the same."""

from itertools import product
from time import process_time

import pytest

from remit.agents.document import parse_document
from remit.model import Diagnostic
from tests.support.agent_samples import CLAUDE, CLAUDE_PATH, STANDARD, change, fix_until_stable, lint
from tests.support.sample_sizes import choose

HOME = "prompts/planner.md"
FIELDS = {
    "name": '"planner"', "version": '"1.0.0"', "mode": "subagent", "agent_type": "planning", "temperature": "0.2",
    "max_tokens": "4000", "timeout": "1800",
}  # fmt: skip
ODD = (
    "", "~", "null", "''", '"   "', "[]", "{}", "[a, [b]]", "{a: {b: c}}", "true", "no", "'true'", "-1", "0", "1e999",
    ".inf", "-.inf", ".nan", "0777", "0x1f", "0b11", "1_0", "1:30", "1:30.5", "2025-01-01", "9" * 390, "-" + "9" * 390,
    "0." + "9" * 300, "|\n  a\n  b", ">-\n  30m", "&x 1.10", "!!str 5", "!!int x", "!x y", "é", "'30 m'", "1h30", "v1",
    "1.2.3.4", "# gone", "'it''s'", '"\\u0000"', "Sub-Agent", "a" * 3000, "1 " * 1000, "x" * 200,
    "\u0664\u0660", "'\u0660.\u0662'", "'\u0661.0'",
)  # fmt: skip


def tell(text: str, path: str = HOME) -> list[tuple[str, str]]:
    """Codes and severities of the findings on fields and values."""
    return [(each.code, each.severity) for each in lint(text, path) if "AGT020" <= each.code <= "AGT049"]


def put(key: str, value: str) -> str:
    return change(f"\n{key}: {FIELDS[key]}\n", f"\n{key}: {value}\n")


def fix(text: str, path: str = HOME, *, unsafe: bool = False) -> str:
    def check(text: str) -> list[Diagnostic]:
        return [each for each in lint(text, path) if "AGT020" <= each.code <= "AGT049"]

    return fix_until_stable(text, check, unsafe=unsafe).text


def test_a_good_file_has_none() -> None:
    assert tell(STANDARD) == []
    assert tell(STANDARD, "agents/planner.md") == []


def test_no_value_breaks_a_rule_or_a_fix(subtests: pytest.Subtests) -> None:
    for key, value in product(FIELDS, ODD[:: choose(2, 1)]):
        with subtests.test(key=key, value=value):
            fixed = fix(put(key, value), unsafe=True)
            read = parse_document(HOME, fixed).frontmatter
            assert read is not None
            assert read.whole
            assert read.values["description"] == "Writes phased implementation plans from research findings."
            assert fix(fixed, unsafe=True) == fixed


def test_no_value_of_a_table_breaks_a_rule(subtests: pytest.Subtests) -> None:
    for key, value in product(
        ["tools", "permissions", "context_loading", "delegation", "lifecycle", "description", "color"], ODD
    ):
        with subtests.test(key=key, value=value):
            text = f"---\nname: planner\nversion: 1.0.0\nagent_type: planning\n{key}: {value}\n---\n"
            for path in (HOME, CLAUDE_PATH, ".opencode/agent/planner.md", ".claude/commands/planner.md"):
                assert isinstance(fix(text, path, unsafe=True), str)


def test_no_value_of_the_lifecycle_breaks_a_rule(subtests: pytest.Subtests) -> None:
    for key, value in product(["stage", "command", "return_format", "stages"], ODD[:: choose(2, 1)]):
        with subtests.test(key=key, value=value):
            text = change("lifecycle:\n", f"lifecycle:\n  {key}: {value}\n".replace("\n  a\n  b", "\n    a\n    b"))
            assert isinstance(fix(text, unsafe=True), str)


@pytest.mark.parametrize(
    ("written", "seconds"),
    [
        ("30m", "1800"), ("'30 minutes'", "1800"), ("0.5h", "1800"), ("1 hour", "3600"), ("1h30m", "5400"),
        ("90s", "90"), ('"1800"', "1800"), ("1h 5m 10s", "3910"), ("1800000ms", "1800"), ("2 hrs, 1 min", "7260"),
    ],
)  # fmt: skip
def test_a_duration_becomes_seconds(written: str, seconds: str) -> None:
    """R2.6: seconds, however they are written."""
    text = put("timeout", written)
    assert ("AGT036", "error") in tell(text)
    assert fix(text) == put("timeout", seconds)


@pytest.mark.parametrize("written", ["soon", "1h30", "-5", "true", "[300]", ".nan", "'1:30'"])
def test_what_is_no_duration_is_left_to_a_person(written: str) -> None:
    text = put("timeout", written)
    assert ("AGT036", "error") in tell(text)
    assert fix(text, unsafe=True) == text


@pytest.mark.parametrize("written", ["0", "-1", "none", "unlimited", "no", "false", ".inf", "'0'", "0s"])
def test_no_timeout_is_without_limit(written: str) -> None:
    """R2.6: never unlimited."""
    text = put("timeout", written)
    assert ("AGT037", "error") in tell(text)
    assert fix(text) == text
    assert fix(text, unsafe=True) == STANDARD


@pytest.mark.parametrize(
    ("kind", "most"),
    [("research", 3600), ("planning", 1800), ("implementation", 7200), ("review", 3600), ("utility", 300)],
)
def test_a_timeout_is_measured_by_its_kind(kind: str, most: int) -> None:
    """R2.6: 3600 for research, 1800 for planning, 7200 for implementation, 300 for what is simple."""
    base = put("agent_type", kind)
    assert tell(change("timeout: 1800\n", f"timeout: {most}\n", base=base)) == []
    assert tell(change("timeout: 1800\n", f"timeout: {most + 1}\n", base=base)) == [("AGT038", "warning")]


@pytest.mark.parametrize(
    ("written", "fixed"),
    [
        ("'1.0'", "'1.0.0'"), ("v1.2.3", '"1.2.3"'), ('"2"', '"2.0.0"'), ("1.2-beta", '"1.2.0-beta"'),
        ("1.10", '"1.10.0"'), ("1", '"1.0.0"'), ("01.2.3", '"1.2.3"'),
    ],
)  # fmt: skip
def test_a_version_gets_its_three_numbers(written: str, fixed: str) -> None:
    """R1.1: a semantic version; a last zero is not lost on the way."""
    assert fix(put("version", written)) == put("version", fixed)


@pytest.mark.parametrize("version", ["1.0.0", "'0.1.0-rc.1+build.5'", '"10.20.30"'])
def test_a_semantic_version_is_fine(version: str) -> None:
    assert tell(put("version", version)) == []


@pytest.mark.parametrize("version", ["latest", "1.2.3.4", "'1.x'"])
def test_no_version_is_made_up(version: str) -> None:
    text = put("version", version)
    assert tell(text) == [("AGT030", "error")]
    assert fix(text, unsafe=True) == text


def test_a_misspelt_key_is_one_finding_not_two() -> None:
    """What is misspelt is not missing as well, and no fix gives a key twice."""
    text = change("max_tokens: 4000\n", "maxTokens: 4000\n", base=change("agent_type: planning\n", "type: planning\n"))
    assert tell(text) == [("AGT023", "warning"), ("AGT023", "warning")]
    assert fix(text, unsafe=True) == STANDARD
    twice = change("agent_type: planning\n", "type: planning\nkind: planning\n")
    assert tell(twice) == [("AGT023", "warning"), ("AGT023", "note")]


def test_a_key_of_the_place_is_known_there() -> None:
    text = change("mode: subagent\n", "mode: subagent\ntop_p: 0.9\n")
    assert ("AGT023", "note") in tell(text)
    assert tell(text, ".opencode/agent/planner.md") == []
    assert tell(change("mode: subagent\n", "mode: subagent\nx-team: core\n")) == []


def test_delegation_is_missed_only_where_it_delegates() -> None:
    """R1.5, R1.18: an agent that calls nobody needs no such table."""
    start, end = STANDARD.index("delegation:\n"), STANDARD.index("lifecycle:\n")
    without = STANDARD[:start] + STANDARD[end:]
    assert tell(without) == [("AGT022", "warning")]
    read = parse_document(HOME, fix(without, unsafe=True))
    assert read.get("delegation", "can_delegate_to") == ["status-sync-manager", "git-workflow-manager"]
    start, end = without.index("<delegation_patterns>"), without.index("<artifact_creation>")
    assert tell(without[:start] + without[end:]) == []


def test_a_utility_needs_no_command() -> None:
    """R1.6: a service is called by agents, not by people."""
    text = change('  command: "/plan"\n', "")
    assert tell(text) == [("AGT047", "warning")]
    utility = text.replace("agent_type: planning", "agent_type: utility").replace("timeout: 1800", "timeout: 300")
    assert tell(utility) == [("AGT047", "note")]


def test_a_file_that_cannot_be_read_misses_nothing() -> None:
    for text in (
        "---\nname: planner\n\n# Planner\n",
        "# Planner\n",
        "---\n- a\n- b\n---\n",
        f"---\na: {'[' * 9999}\n---\n",
    ):
        assert tell(text) == []


def test_line_breaks_and_indents_stay() -> None:
    text = "---\r\n  name: planner\r\n  version: 1.0.0\r\n  agent_type: planning\r\n---\r\n"
    fixed = fix(text, unsafe=True)
    assert "\n" not in fixed.replace("\r\n", "")
    read = parse_document(HOME, fixed)
    assert read.frontmatter is not None
    assert read.frontmatter.whole
    assert read.get("mode") == "subagent"
    assert read.get("lifecycle", "stage") == 4


@pytest.mark.parametrize(
    ("line", "code", "fixed"),
    [
        ("language: no", "AGT043", 'language: "no"'),
        ("version: 1.10", "AGT040", 'version: "1.10"'),
        ("model: 2025-01-01", "AGT042", 'model: "2025-01-01"'),
        ("background: yes", "AGT044", "background: true"),
        ("background: 'False'", "AGT044", "background: false"),
        ("maxTurns: 1_0", "AGT045", "maxTurns: 10"),
        ("color: #FF8800", "AGT039", 'color: "#FF8800"'),
        ("skills: [on, tests]", "AGT043", 'skills: ["on", tests]'),
    ],
)
def test_traps_are_told_in_every_profile(line: str, code: str, fixed: str) -> None:
    text = CLAUDE.replace("model: sonnet\n", f"{line}  # why\n")
    found = [each for each in lint(text, CLAUDE_PATH) if each.code == code]
    assert len(found) == 1
    assert found[0].fix is not None
    assert found[0].fix.applicability == "safe"
    assert fix(text, CLAUDE_PATH) == CLAUDE.replace("model: sonnet\n", f"{fixed}  # why\n")


@pytest.mark.parametrize(
    "line",
    ["version: 1", "created: 2025-01-01", "background: true", "maxTurns: 10", "color: blue # calm", "tools: [Read]"],
)
def test_what_is_no_trap_is_not_told(line: str) -> None:
    assert tell(CLAUDE.replace("tools: Read, Grep, Glob, Bash\n", f"{line}\n"), CLAUDE_PATH) == []


def test_what_only_a_person_knows_is_not_safe() -> None:
    for value in ("1:30", "0600"):
        text = put("timeout", value)
        assert fix(text) == text
    assert fix(put("timeout", "1:30"), unsafe=True) == put("timeout", "90")
    assert fix(put("timeout", "0600"), unsafe=True) == put("timeout", "600")
    assert fix(put("max_tokens", "4k")) == put("max_tokens", "4k")
    assert fix(put("max_tokens", "4k"), unsafe=True) == STANDARD


def test_a_description_cut_short_is_told() -> None:
    text = CLAUDE.replace("description: Reviews", "description: Closes #12. Reviews")
    found = [each for each in lint(text, CLAUDE_PATH) if each.code == "AGT039"]
    assert len(found) == 1
    fixed = fix(text, CLAUDE_PATH, unsafe=True)
    assert parse_document(CLAUDE_PATH, fixed).get("description").startswith("Closes #12. Reviews changed code")


def test_a_file_of_many_strange_keys_costs_little() -> None:
    """Each strange key is compared with every known one: only so many are."""
    table = "".join(f"  max_deptt{number}: 1\n" for number in range(3_000))
    keys = "".join(f"tymeout{number}: 0{number}\n" for number in range(3_000))
    text = f"---\n{keys}delegation:\n{table}---\n"
    before = process_time()
    assert lint(text, HOME)
    assert process_time() - before < 2
