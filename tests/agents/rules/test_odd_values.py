"""No value that YAML can hold stops a rule, and no fix makes a frontmatter unreadable."""

import json

import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from remit.agents.document import parse_document
from remit.agents.edits import apply_fixes
from tests.support.agent_samples import STANDARD, STANDARD_PATH, lint
from tests.support.sample_sizes import choose

TABLES = ("tools", "permissions", "context_loading", "delegation")
HEAD = STANDARD[: STANDARD.index("tools:")]
TAIL = STANDARD[STANDARD.index("lifecycle:") :]

WORDS = st.sampled_from([
    "read", "write", "bash", "bahs", "", "*", "**/*", "!x", "/etc/**", "../..", "git", "rm -rf", "git push --force",
    "find", "docs/", "a/b", "true", "lazy", "planner", "~0/~1", "[", "{{TASK_ID}}", "-", "rm -", "rm --", "yes", "3",
])  # fmt: skip
KEYS = st.sampled_from([
    "allow", "deny", "alow", "read", "write", "edit", "bash", "task", "strategy", "index", "required", "optional",
    "max_context_size", "max_depth", "can_delegate_to", "timeout_default", "timeout_max", "a/b", "~", "*",
])  # fmt: skip
SCALARS = st.one_of(
    st.none(), st.booleans(), st.integers(-2, 10**6), st.just(10**300), st.sampled_from([0.5, -1.5, 1e300]), WORDS
)
VALUES = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(KEYS, inner, max_size=5), max_leaves=25
)


def write(tables: dict[str, object], *, block: bool = False) -> str:
    """An agent's file with these tables, each on one line or in a block."""
    lines = "".join(f"{key}: {json.dumps(value)}\n" for key, value in tables.items())
    return f"{HEAD}{yaml.safe_dump(tables) if block else lines}{TAIL}"


@pytest.mark.slow
@settings(max_examples=choose(24, 120), deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.fixed_dictionaries(dict.fromkeys(TABLES, VALUES)), st.booleans())
def test_any_value_can_be_judged_and_fixed(tables: dict[str, object], block: bool) -> None:  # noqa: FBT001 - hypothesis
    text = write(tables, block=block)
    findings = lint(text)
    assert all(finding.message and finding.hint and finding.place for finding in findings)
    fixed = apply_fixes(findings, text, unsafe=True).text
    document = parse_document(STANDARD_PATH, fixed)
    assert document.frontmatter is not None
    assert document.frontmatter.whole, fixed
    lint(fixed)


ODD: list[object] = [
    None, True, 0, -1, 10**300, 1e300, "", "x", [], {}, [None], [[]], [{}], [{"bash": None}], [{"bash": [1, None]}],
]  # fmt: skip


@pytest.mark.parametrize("table", TABLES)
@pytest.mark.parametrize("value", ODD, ids=repr)
def test_odd_values_are_findings_and_no_more(table: str, value: object) -> None:
    inner = dict.fromkeys(("allow", "deny", "required", "optional", "can_delegate_to", "read", "max_depth"), value)
    for each in (value, inner):
        lint(write({**{key: {"x": 1} for key in TABLES}, table: each}))
