"""The finer points of the rules on permissions: which finding, how many, and what the fix leaves."""

import pytest

from remit.agents.edits import apply_fixes
from remit.model import Diagnostic
from tests.support.agent_samples import STANDARD, change, fix_until_stable, lint

TOOLS = STANDARD[STANDARD.index("tools:") : STANDARD.index("permissions:")]
PERMISSIONS = STANDARD[STANDARD.index("permissions:") : STANDARD.index("context_loading:")]
ALLOWED_BASH = '    - bash: ["grep", "wc", "date"]\n'
ALLOWED_WRITE = '    - write: ["specs/**/*"]\n'
DENIED_BASH = '    - bash: ["rm", "sudo"]\n'
DENIED_WRITE = '    - write: [".git/**/*"]\n'
DENY = f"  deny:\n{DENIED_BASH}{DENIED_WRITE}"


def allow_bash(programs: str, denied: str = '"rm", "sudo"') -> str:
    """The good file with another list of programs for bash, and another list of denials."""
    return change(DENIED_BASH, f"    - bash: [{denied}]\n", base=change(ALLOWED_BASH, f"    - bash: [{programs}]\n"))


def find(text: str, *codes: str) -> list[Diagnostic]:
    return [finding for finding in lint(text) if finding.code in codes]


def fix(text: str, code: str) -> str:
    return apply_fixes(find(text, code), text, unsafe=True).text


# --- the form --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("before", "after"), [
    ("tools:\n  - read  # all\n  - Bash\n", "tools:\n  read: true  # all\n  bash: true\n"),
    ("tools:\n- read\n- grep\n", "tools:\n  read: true\n  grep: true\n"),
    ('tools: ["read", grep]\n', "tools: {read: true, grep: true}\n"),
    ("tools: Read, Grep\n", "tools: {read: true, grep: true}\n"),
    ("tools: [read, read]\n", "tools: [read, read]\n"),
    ("tools: [read, hammer]\n", "tools: [read, hammer]\n"),
    ("tools: [read, 7]\n", "tools: [read, 7]\n"),
])  # fmt: skip
def test_a_list_of_tools_becomes_a_table_where_that_is_clear(before: str, after: str) -> None:
    assert fix(change(TOOLS, before), "AGT050") == change(TOOLS, after)


def test_a_list_of_tools_is_an_accepted_alias() -> None:
    (finding,) = find(change(TOOLS, "tools: [read, bash]\n"), "AGT050")
    assert finding.severity == "note"


@pytest.mark.parametrize(("tool", "severity"), [
    ("gerp", "error"), ("Grep", "error"), ("hammer", "warning"), ("webfetch", "note"), ("WebFetch", "note"),
])  # fmt: skip
def test_an_unknown_tool(tool: str, severity: str) -> None:
    (finding,) = find(change("  grep: true\n", f"  {tool}: true\n"), "AGT051")
    assert finding.severity == severity
    assert bool(finding.fix) is (severity == "error")


@pytest.mark.parametrize("line", ["webfetch: false", '"notion_*": true', "mcp__x__y: true"])
def test_a_tool_of_a_harness_that_is_off_or_a_server_is_left_alone(line: str) -> None:
    assert not find(change("  grep: true\n", f"  {line}\n"), "AGT051")


def test_a_misspelt_tool_is_not_renamed_to_one_that_is_there() -> None:
    (finding,) = find(change("  grep: true\n", "  grep: true\n  gerp: true\n"), "AGT051")
    assert finding.fix is None


@pytest.mark.parametrize(("before", "after"), [
    ('  deny:\n    bash: ["rm"]\n', '  deny:\n    - bash: ["rm"]\n'),
    ("  deny:\n    bash:\n      - rm  # never\n    write:\n      - x\n",
     "  deny:\n    - bash:\n      - rm  # never\n    - write:\n      - x\n"),
    ("  deny:\n    bash:\n    - rm\n", "  deny:\n    bash:\n    - rm\n"),
    ('  deny: {bash: ["rm"]}\n', '  deny: [{bash: ["rm"]}]\n'),
    ("  deny:\n    - bash: rm\n", '  deny:\n    - bash: ["rm"]\n'),
    ("  deny:\n    - bash: [7]\n", '  deny:\n    - bash: ["7"]\n'),
])  # fmt: skip
def test_another_form_is_rewritten_where_that_is_safe(before: str, after: str) -> None:
    fixed = fix(change(DENY, before), "AGT054")
    assert fixed == change(DENY, after)
    assert not find(fixed, "AGT004")


@pytest.mark.parametrize("permissions", ["permissions: all\n", "permissions: {allow: read, deny: [bash]}\n"])
def test_what_cannot_be_rewritten_is_told(permissions: str) -> None:
    findings = find(change(PERMISSIONS, permissions), "AGT054")
    assert findings
    assert not any(finding.fix for finding in findings)


@pytest.mark.parametrize(("deny", "code", "severity"), [
    ('["Bash(git push:*)"]', "AGT054", "warning"),
    ('["Bsh(git push:*)"]', "AGT054", "error"),
    ("5", "AGT054", "error"),
    ("[{bsh: [rm]}]", "AGT055", "error"),
    ("[{Bash: [rm]}]", "", ""),
])  # fmt: skip
@pytest.mark.parametrize("path", ["agents/planner.md", ".claude/agents/planner.md"])
def test_what_remit_cannot_read_is_told_wherever_the_file_lies(deny: str, code: str, severity: str, path: str) -> None:
    text = f"---\nname: planner\ndescription: Plans.\npermissions: {{allow: [], deny: {deny}}}\n---\nPlan.\n"
    if not path.startswith("."):
        text = change(PERMISSIONS, f"permissions: {{allow: [], deny: {deny}}}\n")
    found = [finding for finding in lint(text, path) if finding.code in ("AGT054", "AGT055")]
    assert [(finding.code, finding.severity) for finding in found] == ([(code, severity)] if code else [])
    assert all(finding.place and finding.hint for finding in found)


def test_another_key_that_means_permissions_is_told() -> None:
    text = "---\nname: planner\ndescription: Plans.\npermissons: {deny: [{bash: [rm]}]}\n---\nPlan.\n"
    (finding,) = [each for each in lint(text, ".claude/agents/planner.md") if each.code == "AGT054"]
    assert finding.severity == "error"
    assert any("permissons" in each.message for each in lint(change("permissions:", "permissons:")))


def test_a_misspelt_side_is_told_in_a_harness_file_too() -> None:
    text = "---\nname: planner\ndescription: Plans.\npermissions: {denny: [{bash: [rm]}]}\n---\nPlan.\n"
    (finding,) = [each for each in lint(text, ".claude/agents/planner.md") if each.code == "AGT054"]
    assert finding.place is not None
    assert finding.place.line == 4


@pytest.mark.parametrize("more", ["", "tools: Read\n"])
def test_permissions_in_a_file_of_claude_code_hold_by_its_hooks(more: str) -> None:
    text = f"---\nname: p\ndescription: Plans.\n{more}permissions: {{allow: [], deny: [{{bash: [rm]}}]}}\n---\nPlan.\n"
    (finding,) = [each for each in lint(text, ".claude/agents/p.md") if each.code == "AGT205"]
    assert finding.severity == "warning"
    assert "enforced only if its hooks call Remit" in finding.message
    assert "remit hooks install claude" in (finding.hint or "")


def test_a_misspelt_side_is_one_finding() -> None:
    assert not find(change("  deny:\n", "  denny:\n"), "AGT053")


# --- what they say of each other -------------------------------------------------------------------------------------


def test_what_is_denied_twice_over_is_told_once() -> None:
    text = change(ALLOWED_WRITE, '    - write: ["specs/**/*", ".git/config"]\n')
    assert [finding.code for finding in find(text, "AGT057", "AGT058", "AGT059")] == ["AGT058"]


def test_of_two_patterns_that_mean_the_same_the_first_stays() -> None:
    text = change(ALLOWED_WRITE, '    - write: ["specs/**", "specs/**/*"]\n')
    assert fix(text, "AGT059") == change(ALLOWED_WRITE, '    - write: ["specs/**"]\n')


def test_a_bash_pattern_covers_by_words() -> None:
    assert find(allow_bash('"git", "git status"'), "AGT059")
    assert not find(allow_bash('"git", "gitk"'), "AGT059")


def test_a_denial_for_a_tool_that_is_off_is_no_mistake() -> None:
    text = change(ALLOWED_WRITE, "", base=change("  write: true\n", "  write: false\n"))
    assert not find(text, "AGT056")


# --- how far they reach ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("programs", ['"*"', '"grep", "**"'])
def test_a_list_that_allows_everything_is_none(programs: str) -> None:
    assert find(allow_bash(programs), "AGT061")


def test_bash_that_is_off_needs_no_list() -> None:
    text = change(ALLOWED_BASH, "", base=change("  bash: true\n", "  bash: false\n"))
    assert not find(text, "AGT061", "AGT064", "AGT065")


@pytest.mark.parametrize(("pattern", "places"), [
    ("**/*", "write can change .remit, remit.toml, .opencode/agent, opencode.json"),
    ("**/*.md", "write can change .opencode/agent"),
    ("*.json", "write can change opencode.json"),
    ("docs/**", ""),
])  # fmt: skip
def test_places_that_rule_the_agent(pattern: str, places: str) -> None:
    found = find(change(ALLOWED_WRITE, f'    - write: ["{pattern}"]\n'), "AGT062")
    assert [finding.message for finding in found] == ([places] if places else [])


def test_a_place_that_is_allowed_by_name_is_told_and_left_to_its_author() -> None:
    (finding,) = find(change(ALLOWED_WRITE, '    - write: [".opencode/agent/**/*"]\n'), "AGT062")
    assert finding.fix is None


@pytest.mark.parametrize("pattern", ["/etc/**", "../x", "~/.ssh/*", "docs/../../x", "C:\\\\x"])
def test_patterns_outside_of_the_workspace(pattern: str) -> None:
    assert find(change(ALLOWED_WRITE, f'    - write: ["{pattern}"]\n'), "AGT063")


def test_what_is_denied_outside_of_the_workspace_is_fine() -> None:
    assert not find(change(DENIED_BASH, '    - bash: ["rm"]\n    - read: ["/etc/**", "~/.ssh/**"]\n'), "AGT063")


# --- whether denials hold --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("allowed", "denied", "added"), [
    ('"git"', '"git push --force"', '"git push --force", "git push"'),
    ('"rm"', '"rm -rf"', '"rm -rf", "rm"'),
    ('"git push"', '"git push --force"', '"git push --force", "git push"'),
    ('"git"', '"git push"', ""),
    ('"make"', '"make deploy"', ""),
])  # fmt: skip
def test_a_denied_part_of_what_is_allowed(allowed: str, denied: str, added: str) -> None:
    text = allow_bash(allowed, denied)
    (finding,) = find(text, "AGT064")
    assert finding.message == f"{denied} is denied, but {allowed} can allow other spellings of it".replace('"', "'")
    assert fix(text, "AGT064") == (allow_bash(allowed, added) if added else text)


@pytest.mark.parametrize(("allowed", "denied"), [
    ('"grep", "wc"', '"rm -rf", "sudo", "curl"'),
    ('"git status"', '"git push --force"'),
    ('"git push"', '"git push *--force", "git push *-f", "git push --force"'),
    ('"rm"', '"rm"'),
    ('"rm"', '"rm -rf", "rm"'),
])  # fmt: skip
def test_what_cannot_be_run_or_is_denied_as_a_whole_has_no_other_spelling(allowed: str, denied: str) -> None:
    assert not find(allow_bash(allowed, denied), "AGT064", "AGT065")


def test_without_an_allow_list_one_finding_stands_for_all_denials() -> None:
    (finding,) = find(change(ALLOWED_BASH, ""), "AGT064")
    assert finding.message == "denying 'rm', one of 2 deny rules, has gaps: other spellings of it aren't denied"
    assert finding.fix is None


def test_a_program_that_runs_others_is_told_once_for_all_denials() -> None:
    text = allow_bash('"grep", "find", "python3", "uv run", "tar tf"', '"rm -rf", "sudo", "curl"')
    (finding,) = find(text, "AGT064", "AGT065")
    assert finding.message == "find, python3 and uv run can run any other program"


def test_a_program_whose_way_is_denied_runs_nothing() -> None:
    assert not find(allow_bash('"grep", "find"', '"rm", "find *-exec"'), "AGT065")
    assert not find(allow_bash('"python3 tools/check.py", "uv sync"', '"rm"'), "AGT065")


@pytest.mark.parametrize(("allowed", "denied"), [
    ('"git"', '"git push --force", "git reset --hard"'),
    ('"rm", "find", "env", "bash", "git"', '"rm -rf", "sudo"'),
    ('"chmod", "cp"', '"chmod -R", "chmod 777", "cp -rf"'),
])  # fmt: skip
def test_fixing_ends(allowed: str, denied: str) -> None:
    fixed = fix_until_stable(allow_bash(allowed, denied), lint, unsafe=True)
    assert not find(fixed.text, "AGT004", "AGT057", "AGT065")
    assert not any(finding.fix for finding in find(fixed.text, "AGT064"))
    assert fixed.text.partition("context_loading:")[2] == STANDARD.partition("context_loading:")[2]


# --- what the kernel makes of them -----------------------------------------------------------------------------------


@pytest.mark.parametrize(("rules", "told"), [
    ('write: ["docs/**/*.md"]', "the kernel can't enforce 'docs/**/*.md'; commands may write everything in 'docs'"),
    ('write: ["*.md"]', "the kernel can't enforce '*.md'; commands may write everything in the workspace"),
    ('write: ["docs/plan.md"]',
     "the kernel lets commands change 'docs/plan.md' in place; a program that replaces the file fails"),
    ('write: ["docs/**"]\n    - edit: ["docs/**", "src/**"]',
     "write and edit are allowed different patterns; commands may write what one of the two allows"),
    ('write: ["docs/**"]\n    - edit: ["docs/**"]', ""),
    ('write: ["docs/", "./src/**/*", "~/notes/**"]', ""),
])  # fmt: skip
def test_what_the_kernel_makes_of_what_is_allowed(rules: str, told: str) -> None:
    found = find(change(ALLOWED_WRITE, f"    - {rules}\n"), "AGT160")
    assert [finding.message for finding in found] == ([told] if told else [])
    assert {finding.severity for finding in found} <= {"note"}


@pytest.mark.parametrize(("rules", "told"), [
    ('write: ["**/*.env"]\n    - edit: ["**/*.env"]',
     "the kernel protects what matches '**/*.env' when the agent starts, not what is made later"),
    ('read: ["**/*.key"]', "the kernel hides what matches '**/*.key' when the agent starts, not what is made later"),
    ('read: ["secret/**", "conf"]', ""),
    ('write: [".git/**/*", ".claude/settings*.json", "opencode.json*"]', ""),
])  # fmt: skip
def test_what_the_kernel_makes_of_what_is_denied(rules: str, told: str) -> None:
    text = change('    - write: [".git/**/*"]\n', f"    - {rules}\n")
    assert [finding.message for finding in find(text, "AGT160")] == ([told] if told else [])


def test_what_may_be_read_is_not_limited_by_the_kernel() -> None:
    (found,) = find(change('    - read: ["**/*"]\n', '    - read: ["docs/**"]\n'), "AGT160")
    assert found.message == "the kernel doesn't limit commands to the files that read is allowed"


def test_an_agent_without_bash_runs_no_command_that_the_kernel_could_limit() -> None:
    text = change(ALLOWED_WRITE, '    - write: ["docs/**/*.md"]\n')
    assert find(text, "AGT160")
    assert not find(change("  bash: true\n", "  bash: false\n", base=text), "AGT160")
