"""One cause is one finding, and no fix makes it worse: what rules leave to each other."""

import pytest

from remit.agents.edits import apply_fixes
from remit.model import Diagnostic
from tests.support.agent_rule_samples import SAMPLES
from tests.support.agent_samples import (
    CLAUDE,
    CLAUDE_PATH,
    OPENCODE,
    OPENCODE_PATH,
    SIZES,
    STANDARD,
    change,
    fix_until_stable,
    lint,
)

HOME = "team/planner.md"
"""A path outside of all harness folders, so that no other keys are accepted."""
LAST = '    - "git-workflow-manager"\n'
TARGETS = f'  can_delegate_to:\n    - "status-sync-manager"\n{LAST}'


def tell(text: str, path: str = HOME, sizes: dict[str, int | None] | None = None) -> list[str]:
    return [finding.code for finding in lint(text, path, sizes={**SIZES, **(sizes or {})})]


def find(text: str, code: str, path: str = HOME) -> list[Diagnostic]:
    return [finding for finding in lint(text, path) if finding.code == code]


# --- reading ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("before", ["\n", " ", "\r\n\r\n", "\t\n"])
@pytest.mark.parametrize("mark", ["", "\ufeff"])
def test_a_frontmatter_below_blanks_is_moved_up_and_kept(before: str, mark: str) -> None:
    text = f"{mark}{before}{CLAUDE}"
    (finding,) = find(text, "AGT002", CLAUDE_PATH)
    assert "first character" in finding.message
    assert apply_fixes([finding], text, unsafe=False).text == f"{mark}{CLAUDE}"


def test_a_line_below_a_blank_one_is_no_frontmatter() -> None:
    (finding,) = find("\n---\n\nYou review: all of it.\n", "AGT002", CLAUDE_PATH)
    assert finding.message.startswith("the file has no frontmatter")


def test_a_frontmatter_that_is_not_closed_is_one_finding() -> None:
    assert tell(change("\n---\n\n# Planner", "\n\n# Planner")) == ["AGT003"]


def test_merged_keys_are_keys_of_the_table() -> None:
    text = change("tools:\n  read: true\n", "x-base: &base\n  read: true\ntools:\n  <<: *base\n")
    assert tell(text) == []


# --- permissions -----------------------------------------------------------------------------------------------------


def test_a_misspelt_tool_is_not_switched_off() -> None:
    text = change("  read: true\n", "  Read: true\n")
    assert tell(text) == ["AGT051"]
    assert fix_until_stable(text, lint, unsafe=True).text == STANDARD


def test_permissions_that_cannot_be_read_are_not_called_missing() -> None:
    text = change('    - bash: ["rm", "sudo"]\n', '    - bash: ["rm", "sudo"\n')
    assert tell(text) == ["AGT004"]


@pytest.mark.parametrize(("rules", "told"), [
    ("{'*': allow, 'rm -rf *': deny}", True),
    ("{'*': allow, 'git push*': deny}", True),
    ("{'git push': deny}", True),
    ("{'*': deny, 'git *': allow, 'git push *': deny}", True),
    ("{'*': deny, 'find *': allow, 'rm *': deny}", True),
    ("{'*': deny, 'git diff*': allow, 'rm *': deny}", False),
    ("{'*': ask, 'rm *': deny}", False),
    ("{'rm -rf *': deny, '*': allow}", False),
    ("{'*': allow, '*rm*': deny}", False),
    ("{'*': 7, 'rm *': [deny]}", False),
])  # fmt: skip
def test_a_denial_of_opencode_that_is_not_complete(rules: str, told: bool) -> None:  # noqa: FBT001 - a column of the table
    found = find(change("bash: allow", f"bash: {rules}", base=OPENCODE), "AGT327", OPENCODE_PATH)
    assert ["other spellings of it are allowed" in finding.message for finding in found] == [True] * told


def test_a_denial_of_everything_holds_for_bash_too() -> None:
    text = change("  edit: deny\n  bash: allow\n", '  "*": deny\n  bash: {"rm *": deny}\n', base=OPENCODE)
    assert not find(text, "AGT327", OPENCODE_PATH)


# --- context ---------------------------------------------------------------------------------------------------------


def test_a_missing_file_that_is_named_twice_is_missing_once() -> None:
    path = "docs/context/plans.md"
    text = change('    - "docs/context/return-format.md"\n', f'    - "{path}"\n')
    assert tell(text, sizes={path: None}) == ["AGT074", "AGT076"]


def test_a_folder_is_there_and_is_no_file() -> None:
    assert tell(change("docs/context/plans.md", "docs/context"), sizes={"docs/context": -1}) == ["AGT078"]


# --- delegation ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("targets", "codes"), [
    ('  can_delegate_to: ["*"]\n', []),
    (f'{TARGETS}    - "planner"\n', ["AGT082"]),
    (TARGETS.replace("sync-manager", "snyc-manager"), []),
    (TARGETS.replace("sync-manager", "sync-manger"), []),
    (TARGETS.replace("status-sync-manager", "reviewer"), ["AGT087", "AGT088"]),
    ("  can_delegate_to: status-sync-manager, git-workflow-manager\n", ["AGT081"]),
])  # fmt: skip
def test_targets_and_patterns(targets: str, codes: list[str]) -> None:
    assert tell(change(TARGETS, targets)) == codes


def test_a_pattern_for_itself_is_not_added_to_the_targets() -> None:
    text = change('<delegate_to name="git-workflow-manager">', '<delegate_to name="planner">', base=change(LAST, ""))
    (finding,) = find(text, "AGT088")
    assert finding.fix is None


# --- the body --------------------------------------------------------------------------------------------------------


def test_stages_are_not_told_to_be_numbered_as_well() -> None:
    bad = SAMPLES["AGT144"].bad
    assert "AGT144" in tell(bad)
    assert "AGT149" not in tell(bad)


def test_a_preflight_of_another_number_is_one_finding() -> None:
    assert tell(STANDARD.replace("step_0_preflight", "step_1_preflight")) == ["AGT148"]


# --- words -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("written", "hint"), [("0,2", "Write 0.2."), ('"0.2"', "Write 0.2 without quotes.")])
def test_no_quotes_are_spoken_of_that_are_not_there(written: str, hint: str) -> None:
    (finding,) = find(change("temperature: 0.2", f"temperature: {written}"), "AGT034")
    assert finding.hint == hint


@pytest.mark.parametrize(("written", "codes"), [
    ("{{TASKID}}", ["AGT090"]), ("{{MANIFST_PATH}}", ["AGT090"]), ("{{ TASK_ID }}", ["AGT091"]),
    ("{{OUTPUT_DIR}", ["AGT091"]), ("{{TASK_ID", ["AGT092"]),
    ("{{TASK}}", []), ("{{TASK_IDS}}", []), ("{{ DATE }}", []), ("{{TITLE", []), ("{{task_id}}", []), ("{TASK_ID}", []),
    ("{{ TASK_ID }} of {{ user }}", []), ("{{OUTPUT}}", []), ("{{TASK_LIST_CMD}}", []), ("${{ TASK_ID }}", []),
])  # fmt: skip
def test_a_token_in_a_file_that_has_none_right(written: str, codes: list[str]) -> None:
    assert [code for code in tell(f"{CLAUDE}\nRead {written} first.\n", CLAUDE_PATH) if code < "AGT093"] == codes
