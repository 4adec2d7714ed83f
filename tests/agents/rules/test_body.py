"""What the rules on the body accept, what they take for one cause, and that no body stops them."""

import re
from time import process_time

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from remit.agents.edits import apply_fixes
from remit.agents.outline import SECTIONS
from remit.model import Diagnostic
from tests.support.agent_rule_samples import SAMPLES
from tests.support.agent_samples import STANDARD, change, fix_until_stable, lint, only, without
from tests.support.sample_sizes import choose

OWN = {code: sample for code, sample in SAMPLES.items() if "AGT100" <= code < "AGT160"}
OTHER_ERRORS = re.findall(r"  <error_type .*?</error_type>\n", STANDARD, flags=re.DOTALL)[1:]
PATH = "specs/{number}_{slug}/plans/implementation-{version:03d}.md"
LETTERS = STANDARD.replace("step_3_postflight", "step_N_postflight").replace("step_4_return", "step_N+1_return")
PREFLIGHT, POSTFLIGHT, RETURN = only("step_0_preflight"), only("step_3_postflight"), only("step_4_return")
BODY = STANDARD.index("# Planner")


def find(text: str) -> dict[str, Diagnostic]:
    """The findings of the rules on the body, by code; of several, the first."""
    found: dict[str, Diagnostic] = {}
    for finding in lint(text):
        if "AGT100" <= finding.code <= "AGT159" or finding.code in ("AGT010", "AGT011"):
            found.setdefault(finding.code, finding)
    return found


def fix(text: str, *, unsafe: bool = True) -> str:
    return fix_until_stable(text, lint, unsafe=unsafe).text


# What is good


def test_a_complete_agent_has_nothing_to_hear() -> None:
    assert not find(STANDARD)


def test_what_is_only_usual_is_a_note() -> None:
    """R1.23: of the error types only timeout is required; a return format may do without its validation."""
    text = change("".join(OTHER_ERRORS), "")
    text = re.sub(r"  <validation>\n    The summary.*?</validation>\n", "", text, flags=re.DOTALL)
    assert {finding.severity for finding in find(text).values()} == {"note"}


GOOD_STEP = """\
  <step_1>
    <action>Load task and determine mode</action>
    <process>
      1. Read task from TODO.md using grep:
         ```bash
         grep -A 50 "^### ${task_number}\\." TODO.md
         ```
      2. Check for existing plan link in task entry
      3. If plan link exists:
         - Load plan file
         - Parse phase status markers
         - Determine resume point (first [NOT STARTED] or [IN PROGRESS])
         - Set mode = "phased"
      4. If no plan link:
         - Set mode = "direct"
      5. Extract language, description, acceptance criteria
    </process>
    <checkpoint>Task loaded and mode determined</checkpoint>
  </step_1>
"""
GOOD_RETURN = """\
<return_format>
  <structure>
    {
      "status": "completed",
      "summary": "Plan created with 4 phases, 6 hours estimated",
      "artifacts": [
        {
          "type": "plan",
          "path": ".opencode/specs/195_lean_tools/plans/implementation-001.md",
          "summary": "4-phase implementation plan"
        }
      ],
      "metadata": {
        "task_number": 195,
        "phase_count": 4,
        "estimated_hours": 6
      },
      "session_id": "sess_20251229_abc123"
    }
  </structure>
</return_format>
"""
GOOD_ERRORS = """\
<error_handling>
  <error_type name="timeout">
    <detection>Operation exceeds timeout limit</detection>
    <handling>
      1. Save current progress
      2. Update status to [IN PROGRESS]
      3. Return partial status with resume instructions
    </handling>
    <recovery>Resume with same command: /{command} {task_number}</recovery>
    <logging>Log timeout event to errors.json with session_id</logging>
  </error_type>
</error_handling>
"""
MINIMAL_FLOW = """\
<process_flow>
  <step_1>
    <action>Execute operation</action>
    <process>
      1. Do the thing
      2. Return result
    </process>
  </step_1>
</process_flow>
"""


@pytest.mark.conforms("001-57", "001-58")
@pytest.mark.parametrize(
    ("old", "good"),
    [
        (re.findall(r"  <step_1>.*?</step_1>\n", STANDARD, flags=re.DOTALL)[0], GOOD_STEP),
        (only("return_format"), GOOD_RETURN),
        (only("error_handling"), GOOD_ERRORS),
    ],
    ids=["process flow", "return format", "error handling"],
)
def test_what_the_standard_shows_as_good_gives_no_warning(old: str, good: str) -> None:
    """D11, R1.21, R1.23: each ✅ example of the standard, in a complete file."""
    assert [each for each in lint(change(old, good)) if each.severity != "note"] == []


@pytest.mark.conforms("001-56")
@pytest.mark.parametrize(
    ("bad", "codes"),
    [
        (change(only("process_flow"), MINIMAL_FLOW), {"AGT138", "AGT142", "AGT145", "AGT146", "AGT147", "AGT156"}),
        (without("return_format"), {"AGT124"}),
        (without("error_handling"), {"AGT131"}),
    ],
    ids=["minimal flow", "no return format", "no error handling"],
)
def test_what_the_standard_shows_as_bad_is_named(bad: str, codes: set[str]) -> None:
    """R1.29: each ❌ example of the standard, in a file that is complete otherwise."""
    assert {each.code for each in lint(bad) if each.severity != "note"} == codes


def test_error_handling_in_another_section_is_not_missing() -> None:
    """R1.23: real agents have it in the format of the return; the outermost counts, a step's own does not hide it."""
    inner = f"{only('error_handling')}</return_format>\n"
    text = change("</return_format>\n", inner, base=without("error_handling"))
    assert not find(text)
    step = "    <error_handling>Try once more.</error_handling>\n  </step_2>\n"
    assert not find(change("  </step_2>\n", step, base=text))
    assert set(find(change("  </step_2>\n", step, base=without("error_handling")))) == {"AGT132"}


@pytest.mark.parametrize(
    ("old", "new", "codes"),
    [
        ('"timeout"', '"research_timeout"', []),
        ('"timeout"', '"Time-Out"', []),
        ('"timeout"', '"out_of_time"', ["AGT132"]),
        ('"git_failure"', '"git_commit_failed"', []),
        ('"git_failure"', '"commit_refused"', ["AGT133"]),
        ('"file_operation_failure"', '"profile_missing"', ["AGT133"]),
    ],
)
def test_the_names_of_errors_are_compared_and_not_understood(old: str, new: str, codes: list[str]) -> None:
    """R1.23."""
    assert list(find(change(f"<error_type name={old}>", f"<error_type name={new}>"))) == codes


def test_artifacts_are_not_what_else_the_section_names() -> None:
    text = change(only("artifact"), "  <summary_artifact>The plan.</summary_artifact>\n")
    assert find(text)["AGT120"].message == "<artifact_creation> has no <artifact>"


def test_whatever_stands_in_the_error_handling_is_a_type_of_error() -> None:
    text = change('<error_type name="timeout">', "<detached_head>").replace("</error_type>", "</detached_head>", 1)
    assert set(find(text)) == {"AGT132", "AGT136"}
    assert '<error_type name="detached_head">' in fix(text, unsafe=False)


@pytest.mark.parametrize(
    ("kind", "old", "new", "told"),
    [
        ("planning", "[PLANNED]", "planned", False),
        ("planning", "[PLANNED]", "[DONE]", True),
        ("research", "[PLANNED]", "[RESEARCHED]", False),
        ("implementation", "[PLANNED]", "[COMPLETED]", False),
        ("implementation", "[PLANNED]", "completed", True),
        ("review", "[PLANNED]", "[DONE]", False),
    ],
)
def test_the_final_status_is_the_standards_word(kind: str, old: str, new: str, *, told: bool) -> None:
    """R1.30."""
    text = STANDARD.replace("agent_type: planning", f"agent_type: {kind}").replace(old, new)
    assert ("AGT138" in find(text)) is told


def test_a_preflight_without_a_number_is_named_beside_letters() -> None:
    """R1.14: one letter for a number elsewhere in the flow excuses nothing."""
    text = LETTERS.replace("step_0_preflight>", "preflight>")
    assert {code: each.severity for code, each in find(text).items()} == {"AGT150": "note", "AGT151": "warning"}
    assert fix(text) == STANDARD


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        (
            "Writes phased implementation plans from research findings.",
            "{detailed description}",
            "description has the placeholder {detailed description}",
        ),
        ('"specs/**/*"', '"{patterns}"', "permissions has the placeholder {patterns}"),
    ],
)
def test_a_blank_in_the_frontmatter_is_named(old: str, new: str, told: str) -> None:
    """R1.31: a blank of the standard's template; `{src,tests}` is a pattern."""
    assert find(change(old, new))["AGT105"].message == told
    assert "AGT105" not in find(change('"specs/**/*"', '"{specs,docs}"'))


def test_a_template_of_steps_is_accepted_with_notes() -> None:
    """C12, R1.14: letters in the place of numbers, `output` in the place of `checkpoint`."""
    text = LETTERS.replace("checkpoint>", "output>")
    assert {code: finding.severity for code, finding in find(text).items()} == {"AGT143": "note", "AGT150": "note"}
    assert fix(text, unsafe=False) == STANDARD


@pytest.mark.parametrize(
    "path",
    [
        "specs/{number}_{slug}/plans/implementation-{version:03d}.md",
        ".opencode/specs/{task_number}_{topic_slug}/plans/implementation-001.md",
        ".claude/specs/{number}_{slug}/plans/implementation-{NNN}.md",
        "`specs/{number}_{slug}/plans/implementation-{version}.md`",
        "{project_path}/plans/implementation-001.md",
        "the file that the task names",
    ],
)
def test_paths_of_plans(path: str) -> None:
    """R1.20."""
    assert "AGT123" not in find(change(PATH, path))


@pytest.mark.parametrize(
    ("path", "severity"),
    [
        ("docs/plan.md", "warning"),
        ("specs/plans/implementation-001.md", "warning"),
        ("specs/{number}_{slug}/plan.md", "warning"),
        ("specs/{number}_{slug}/summaries/plan-summary.md", "warning"),
    ],
)
def test_other_paths_of_plans(path: str, severity: str) -> None:
    assert find(change(PATH, path))["AGT123"].severity == severity


@pytest.mark.parametrize(
    ("path", "severity"),
    [
        ("specs/{number}_{slug}/summaries/plan-summary-{YYYYMMDD}.md", None),
        ("specs/{number}_{slug}/summaries/implementation-summary-20260101.md", None),
        ("specs/{number}_{slug}/summaries/plan-summary.md", "note"),
        ("specs/{number}_{slug}/notes.md", "warning"),
    ],
)
def test_paths_of_summaries(path: str, severity: str | None) -> None:
    """R1.20: an undated summary is a note."""
    text = change('<artifact type="plan">', '<artifact type="summary">').replace(PATH, path)
    found = find(text).get("AGT123")
    assert (found.severity if found else None) == severity


@pytest.mark.parametrize("type_", ["string", "array[string]", "array<string>", "string[]", "string|integer", "any"])
def test_types_of_inputs(type_: str) -> None:
    text = change('type="integer">The task to plan.', f'type="{type_}">The task to plan.')
    assert not find(text)


def test_a_type_that_says_nothing_of_a_value_has_no_fix() -> None:
    assert find(change('type="integer">The task to plan.', 'type="json">The task to plan.'))["AGT113"].fix is None


@pytest.mark.parametrize(
    ("written", "meant"),
    [("int", "integer"), ("list[str]", "array[str]"), ("String", "string"), ("strng", "string"), ("bool", "boolean")],
)
def test_types_of_other_languages(written: str, meant: str) -> None:
    text = change('type="integer">The task to plan.', f'type="{written}">The task to plan.')
    assert f'type="{meant}">The task to plan.' in fix(text, unsafe=False)


@pytest.mark.parametrize(
    "status",
    ['"completed"', '"completed|partial|failed|blocked"', '"completed" | "failed"', '"{status}"', '"<status>"',
     '"completed (or partial if time ran out)"', '"completed", "summary": "Done"', "completed or failed  # or blocked"],
)  # fmt: skip
def test_words_for_the_status(status: str) -> None:
    assert "AGT128" not in find(change('"status": "completed"', f'"status": {status}'))


@pytest.mark.parametrize("status", ['"success"', '"Completed"', '"completed|done"', '"complete"', "success | error"])
def test_other_words_for_the_status(status: str) -> None:
    """R0.3, R2.9: four words, in lower case."""
    assert find(change('"status": "completed"', f'"status": {status}'))["AGT128"].severity == "error"


@pytest.mark.parametrize(
    "blank",
    [
        "Writes {number}_{slug} and {version:03d}.",
        "Resume with /plan {task_number}",
        "Log {what failed} to errors.json",
    ],
)
def test_blanks_for_the_agent_stay(blank: str) -> None:
    assert "AGT105" not in find(change("Run the command again to resume.", blank))


@pytest.mark.parametrize("blank", ["{How to recover}", "{describe the recovery}", "...", "TODO", "1. {One}\n2. {Two}"])
def test_blanks_for_the_author_are_told(blank: str) -> None:
    assert find(change("Run the command again to resume.", blank))["AGT105"].severity == "warning"


# One cause, one finding


@pytest.mark.parametrize("section", SECTIONS)
def test_a_misspelt_section_is_not_missing_as_well(section: str) -> None:
    wrong = section[:2] + section[3:] if len(section) > 4 else section + "s"
    text = re.sub(rf"^(</?){section}>", rf"\1{wrong}>", STANDARD, flags=re.MULTILINE)
    found = find(text)
    assert list(found) == ["AGT103"], found
    assert fix(text, unsafe=False) == STANDARD


@pytest.mark.parametrize(
    "part", ["specialist_domain", "action", "process", "checkpoint", "detection", "logging", "when"]
)
def test_a_misspelt_part_is_not_missing_as_well(part: str) -> None:
    wrong = part[:1] + part[2:]
    text = STANDARD.replace(f"<{part}>", f"<{wrong}>", 1).replace(f"</{part}>", f"</{wrong}>", 1)
    assert list(find(text)) == ["AGT103"]
    assert fix(text, unsafe=False) == STANDARD


@pytest.mark.parametrize("section", SECTIONS)
def test_a_section_that_is_not_closed_is_one_finding(section: str) -> None:
    text = re.sub(rf"^</{section}>\n", "", STANDARD, flags=re.MULTILINE)
    assert list(find(text)) == ["AGT010"]
    assert fix(text) == STANDARD


def test_a_closing_tag_that_is_misspelt_is_one_finding() -> None:
    text = change("</role>", "</rolle>")
    assert list(find(text)) == ["AGT103"]
    assert fix(text, unsafe=False) == STANDARD


def test_a_step_closed_under_the_number_of_another() -> None:
    text = change("</step_1>", "</step_2>")
    assert list(find(text)) == ["AGT103"]
    assert fix(text, unsafe=False) == STANDARD


def test_a_fence_that_is_never_closed_is_one_finding() -> None:
    text = change("<return_format>\n", "```\n<return_format>\n")
    assert list(find(text)) == ["AGT139"]


def test_a_body_without_sections_is_one_finding() -> None:
    assert list(find(STANDARD[:BODY] + "You plan.\n")) == ["AGT100"]


def test_sections_in_a_wrapper_are_found() -> None:
    text = STANDARD[:BODY] + "# Planner\n\n<agent>\n" + STANDARD[BODY + len("# Planner\n") :] + "</agent>\n"
    assert not find(text)


def test_sections_in_code_do_not_count() -> None:
    text = change(only("role"), f"```xml\n{only('role')}```\n")
    assert list(find(text)) == ["AGT107"]


# Steps


def test_stages_of_a_command_become_steps() -> None:
    steps = re.findall(r"<(step_\d\w*)>", STANDARD)
    text = STANDARD.replace("process_flow>", "workflow_execution>")
    for index, step in enumerate(steps):
        name = step.rpartition("_")[2].title() + "Things"
        text = text.replace(f"<{step}>", f'<stage id="{index + 1}" name="{name}">').replace(f"</{step}>", "</stage>")
    found = find(text)
    assert set(found) == {"AGT141", "AGT144"}
    assert re.findall(r"<(step_\d\w*)\b", fix(text)) == steps


def test_a_preflight_called_stage_1_among_steps() -> None:
    """R1.14: the most costly naming mistake on record."""
    text = STANDARD.replace("step_0_preflight", "stage_1_preflight")
    assert find(text)["AGT144"].severity == "error"
    assert fix(text, unsafe=False) == STANDARD


def test_flows_of_several_operations_are_counted_by_themselves() -> None:
    flow = only("process_flow")
    inner = flow.replace("<process_flow>\n", "").replace("</process_flow>\n", "")
    text = change(flow, f"<process_flow>\n<create_flow>\n{inner}</create_flow>\n<remove_flow>\n{inner}</remove_flow>\n"
                  "</process_flow>\n")  # fmt: skip
    assert not find(text)


def test_all_three_steps_are_added_in_their_places() -> None:
    text = STANDARD
    for step in (PREFLIGHT, POSTFLIGHT, RETURN):
        text = change(step, "", base=text)
    assert {"AGT145", "AGT146", "AGT147"} <= set(find(text))
    names = re.findall(r"<(step_\d\w*)>", fix(text))
    assert names == ["step_0_preflight", "step_1", "step_2", "step_3_postflight", "step_4_return"]
    assert not find(fix(text))


@pytest.mark.parametrize(("kind", "severity"), [("utility", "warning"), ("planning", "error")])
def test_a_utility_may_do_without_a_preflight(kind: str, severity: str) -> None:
    text = change(PREFLIGHT + "\n", "").replace("agent_type: planning", f"agent_type: {kind}")
    assert find(text)["AGT145"].severity == severity


def test_remit_may_own_the_status() -> None:
    """C19: with `owner: remit` nobody expects a preflight or a postflight."""
    text = change(PREFLIGHT + "\n", "").replace("mode: subagent", "mode: subagent\nowner: remit")
    assert "AGT145" not in find(text)


def test_a_missing_section_is_added_where_the_standard_has_it() -> None:
    for section in ("inputs_required", "inputs_forbidden", "artifact_creation", "return_format", "error_handling"):
        order = re.findall(r"^<(\w+)>", fix(without(section)), flags=re.MULTILINE)
        assert order == list(SECTIONS), section


@pytest.mark.parametrize("section", ["role", "inputs_required", "inputs_forbidden", "return_format", "error_handling"])
def test_an_empty_section_is_filled(section: str) -> None:
    for empty in (f"<{section}/>", f"<{section} />", f"<{section}></{section}>", f"<{section}>\n\n</{section}>"):
        text = without(section) + f"\n{empty}\n"
        assert not [finding for finding in find(fix(text)).values() if finding.severity == "error"], empty


# Whatever the body is


@pytest.mark.parametrize("code", sorted(OWN))
def test_lines_that_end_with_cr_lf(code: str) -> None:
    plain, sample = OWN[code].bad, OWN[code].bad.replace("\n", "\r\n")
    assert set(find(sample)) == set(find(plain))
    fixed = apply_fixes([finding for finding in lint(sample) if finding.code == code], sample, unsafe=True).text
    assert fixed.count("\n") == fixed.count("\r\n")


@pytest.mark.parametrize(
    "values",
    ["agent_type: [planning]", "agent_type: {a: b}", "name: [1]", "owner: [remit]", "lifecycle: 3", "description: {}",
     "lifecycle: {command: [x]}", "delegation: {can_delegate_to: [[], {}, 1, null, '']}", "delegation: text"],
)  # fmt: skip
@pytest.mark.parametrize("body", ["", STANDARD[BODY:], without("role")[BODY:]])
def test_odd_values_stop_no_rule(values: str, body: str) -> None:
    text = f"---\nversion: 1\nagent_type: planning\n{values}\n---\n{body}"
    fix_until_stable(text, lint, unsafe=True)


PIECES = st.sampled_from(
    [*re.findall(r"</?[a-z_0-9]+[^<>\n]*>", STANDARD), "<step_N+1_return>", "<stage id='1'>", "<step>", "<return>",
     "<rolle>", "</rolle>", "```\n", "<!--", "-->", "{x}", "# T\n", "### Stage 1\n", "text. ", "\n", "\r\n", "...",
     '<parameter name="" type="">', "<parameter type='int' name=x>", "<error_type>", "<timeout>", '"status": "ok"',
     "<artifact type=plann>", "<path>a/b.md</path>", "<forbidden>", "<return_format/>",
     "<inputs_required />", "\udcff", "\u2028"]
)  # fmt: skip


@pytest.mark.slow
@settings(max_examples=choose(30, 150), deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(st.tuples(st.integers(0, 9000), st.integers(0, 60), PIECES), max_size=8))
def test_no_body_stops_a_rule(changes: list[tuple[int, int, str]]) -> None:
    text = STANDARD
    for at, length, piece in changes:
        at = BODY + at % (len(text) - BODY)  # noqa: PLW2901 - a place in the body
        text = text[:at] + piece + text[at + length :]
    lines = text.split("\n")
    for finding in lint(text):
        assert finding.place is not None
        assert 1 <= finding.place.line <= len(lines)
        assert 1 <= finding.place.column <= len(lines[finding.place.line - 1]) + 1
    fixed = fix_until_stable(text, lint, unsafe=True)
    assert not apply_fixes(lint(fixed.text), fixed.text, unsafe=True).applied, text


@pytest.mark.parametrize(
    "body",
    [
        "<inputs_required>\n" + '<parameter name="a" type="int">\n' * 10_000,
        "<process_flow>\n" + "".join(f"<step_{n}></step_{n}>\n" for n in range(9_000)) + "</process_flow>\n",
        "<process_flow>\n" + "".join(f"<setp_{n}>\n" for n in range(9_000)),
        "<error_handling>\n" + "<error_tipe></error_tipe>\n" * 9_000 + "</error_handling>\n",
        "<artifact_creation><artifact type='plan'><path>" + "a" * 500_000 + "</path></artifact></artifact_creation>",
        "<role>" + "{a} " * 100_000 + "</role>",
        "<role>" + "{a}" + " " * 500_000 + "x</role>",
        "<task>" + "- a\n" * 100_000 + "</task>",
        "<return_format><structure>" + '"status": ' * 50_000 + "</structure></return_format>",
        "<context>" + "<contxt></contxt>" * 9_000 + "</context>",
        "<role>\n" * 10_000 + "</rolle>\n" * 9_000,
        "# t\n" * 100_000 + "<role></role>",
    ],
    ids=lambda body: repr(body[:30]),
)
@pytest.mark.thorough
def test_a_hostile_body_takes_no_time(body: str) -> None:
    text = STANDARD[:BODY] + body
    lint(text)
    start = process_time()
    lint(text)
    assert process_time() - start < 2
