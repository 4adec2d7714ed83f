"""The agent file (001): what lint says of a file, and what the file brings about when its agent runs."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from tests.support.agent_samples import STANDARD, change, lint, only, without
from tests.support.conformance_agents import DONE, prepare
from tests.support.conformance_project import codes, judge
from tests.support.return_samples import standard
from tests.support.standard_examples import list_examples

if TYPE_CHECKING:
    from tests.support.conformance_project import Project

conforms = pytest.mark.conforms


def without_part(part: str) -> str:
    """The good file without one part of a section."""
    return change(only(part), "")


def list_codes(text: str) -> set[str]:
    return {each.code for each in lint(text, "agents/planner.md")}


def check(code: str, *bad: str) -> None:
    """Lint names the problem in each of these files and not in the good one."""
    assert code not in list_codes(STANDARD)
    for text in bad:
        assert text != STANDARD
        assert code in list_codes(text), sorted(list_codes(text))


SHORT = STANDARD
for section in ("error_handling", "delegation_patterns", "artifact_creation", "inputs_required", "return_format"):
    SHORT = without(section, base=SHORT)


@pytest.mark.parametrize(
    ("code", "bad"),
    [
        pytest.param("AGT020", [change('name: "planner"\n', "")], marks=conforms("001-01")),
        pytest.param("AGT027", [change('name: "planner"', 'name: "other"')], marks=conforms("001-01")),
        pytest.param(
            "AGT030", [change('"1.0.0"', f'"{bad}"') for bad in ("1.0", "one", "v1")], marks=conforms("001-03")
        ),
        pytest.param(
            "AGT031",
            [change("from research findings.", "from research. It asks. It is careful.")],
            marks=conforms("001-04"),
        ),
        pytest.param("AGT020", [change("mode: subagent\n", "")], marks=conforms("001-05")),
        pytest.param("AGT032", [change("mode: subagent", "mode: primary")], marks=conforms("001-05")),
        pytest.param(
            "AGT033",
            [change("agent_type: planning", f"agent_type: {kind}") for kind in ("planner", "lead")],
            marks=conforms("001-06"),
        ),
        pytest.param("AGT037", [change("timeout: 1800", "timeout: 0")], marks=conforms("001-09")),
        pytest.param("AGT051", [change("  grep: true", "  fly: true")], marks=conforms("001-10")),
        pytest.param("AGT052", [change("  grep: true", "  grep: maybe")], marks=conforms("001-10")),
        pytest.param(
            "AGT053",
            [
                change('  deny:\n    - bash: ["rm", "sudo"]\n    - write: [".git/**/*"]\n', ""),
                change(
                    '  allow:\n    - read: ["**/*"]\n    - write: ["specs/**/*"]\n    - bash: ["grep", "wc", "date"]\n',
                    "",
                ),
            ],
            marks=conforms("001-11"),
        ),
        pytest.param("AGT070", [change("strategy: lazy", "strategy: greedy")], marks=conforms("001-12")),
        pytest.param("AGT071", [change('  index: "docs/context/index.md"\n', "")], marks=conforms("001-13")),
        pytest.param(
            "AGT073",
            [
                change("max_context_size: 50000", "max_context_size: 60000"),
                change("strategy: lazy", "strategy: minimal"),
                change("max_context_size: 50000", "max_context_size: 100001").replace(
                    "strategy: lazy", "strategy: eager"
                ),
            ],
            marks=conforms("001-14"),
        ),
        pytest.param(
            "AGT080", [change("max_depth: 3", f"max_depth: {depth}") for depth in (0, 4)], marks=conforms("001-15")
        ),
        pytest.param("AGT047", [change('  command: "/plan"\n', "")], marks=conforms("001-19")),
        pytest.param("AGT048", [change('"/plan"', '"plan"')], marks=conforms("001-19")),
        pytest.param("AGT046", [change("stage: 4", "stage: four")], marks=conforms("001-19")),
        pytest.param(
            "AGT049", [change('  return_format: "subagent-return-format.md"\n', "")], marks=conforms("001-19")
        ),
        pytest.param("AGT101", [change("# Planner\n\n", "")], marks=conforms("001-20")),
        pytest.param(
            "AGT106",
            [*map(without_part, ("specialist_domain", "task_scope", "lifecycle_integration"))],
            marks=conforms("001-21"),
        ),
        pytest.param("AGT107", [without("role")], marks=conforms("001-23")),
        pytest.param("AGT108", [without("task")], marks=conforms("001-23")),
        pytest.param(
            "AGT109",
            [
                change("Write the plan, move the status and return the result.", "One. Two. Three. Four. Five."),
                change("A planner who turns", "It plans. It asks. A planner who turns"),
            ],
            marks=conforms("001-23"),
        ),
        pytest.param("AGT110", [without("inputs_required")], marks=conforms("001-24")),
        pytest.param(
            "AGT112", [change(' type="integer">The task to plan.', ">The task to plan.")], marks=conforms("001-24")
        ),
        pytest.param(
            "AGT111",
            [change('  <parameter name="session_id" type="string">The session that was issued.</parameter>\n', "")],
            marks=conforms("001-25"),
        ),
        pytest.param("AGT115", [without("inputs_forbidden")], marks=conforms("001-26")),
        pytest.param(
            "AGT116", [change("  <forbidden>unstructured_context</forbidden>\n", "")], marks=conforms("001-26")
        ),
        pytest.param("AGT141", [STANDARD.replace("process_flow>", "workflow_execution>")], marks=conforms("001-27")),
        pytest.param(
            "AGT142",
            [
                change("    <checkpoint>The plan is on disk</checkpoint>\n", ""),
                change("    <action>Read the task and its research</action>\n", ""),
            ],
            marks=conforms("001-28"),
        ),
        pytest.param(
            "AGT149",
            [STANDARD.replace("step_2>", "step_1>"), STANDARD.replace("step_2>", "step_5>")],
            marks=conforms("001-29"),
        ),
        pytest.param("AGT144", [STANDARD.replace("step_0_preflight", "stage_1_preflight")], marks=conforms("001-30")),
        pytest.param("AGT148", [STANDARD.replace("step_0_preflight", "step_1_preflight")], marks=conforms("001-30")),
        pytest.param("AGT146", [change(only("step_3_postflight") + "\n", "")], marks=conforms("001-31")),
        pytest.param("AGT147", [change("\n" + only("step_4_return"), "")], marks=conforms("001-31")),
        pytest.param("AGT118", [without("delegation_patterns")], marks=conforms("001-35")),
        pytest.param(
            "AGT119",
            [change("    <integration>Stop if it did not move.</integration>\n", "")],
            marks=conforms("001-35"),
        ),
        pytest.param("AGT120", [without("artifact_creation")], marks=conforms("001-37")),
        pytest.param("AGT122", [change('<artifact type="plan">', '<artifact type="poem">')], marks=conforms("001-37")),
        pytest.param(
            "AGT121",
            [change("    <validation>The file is there and not empty.</validation>\n", "")],
            marks=conforms("001-37"),
        ),
        pytest.param("AGT124", [without("return_format")], marks=conforms("001-40")),
        pytest.param("AGT126", [change(only("structure"), "  One object.\n")], marks=conforms("001-40")),
        pytest.param("AGT128", [change('"status": "completed"', '"status": "success"')], marks=conforms("001-40")),
        pytest.param("AGT130", [without("quality_standards")], marks=conforms("001-42")),
        pytest.param("AGT131", [without("error_handling")], marks=conforms("001-43")),
        pytest.param("AGT134", [change("    <recovery>Commit by hand.</recovery>\n", "")], marks=conforms("001-43")),
        pytest.param("AGT137", [STANDARD + "\n" * 300, SHORT], marks=conforms("001-45")),
    ],
)
def test_lint_names_what_the_standard_asks_for(code: str, bad: list[str]) -> None:
    check(code, *bad)


@conforms("001-62")
def test_the_three_ways_to_load_context_are_read(subtests: pytest.Subtests) -> None:
    """Only the blanks are named."""
    for title in ("Lazy Loading (Most Common)", "Eager Loading", "Minimal Loading"):
        with subtests.test(title=title):
            (block,) = (each.text for each in list_examples("agent part") if each.title == title)
            first, last = STANDARD.index("context_loading:"), STANDARD.index("delegation:\n")
            found = lint(f"{STANDARD[:first]}{block.rstrip()}\n{STANDARD[last:]}", "agents/planner.md", sizes={})
            assert [each.message for each in found if "'{" not in each.message] == []


# --- when the agent runs ----------------------------------------------------------------------------------------------

CONTEXT = """\
context_loading:
  strategy: {strategy}
  index: "docs/index.md"
  required: ["docs/rules.md"]
  optional: ["docs/more.md"]
  max_context_size: {size}
"""


@conforms("001-09")
def test_the_files_timeout_ends_the_agent(project: Project) -> None:
    project.add_agent("researcher", more="timeout: 1\n")
    result = project.run(project.program("time.sleep(60)\n"), agent="researcher")
    assert (result["status"], result["errors"][0]["code"]) == ("partial", "TIMEOUT")


@conforms("001-10", "001-11")
@pytest.mark.parametrize(
    ("tool", "subject", "decision"),
    [
        ("read", "src/a.py", "allow"),
        ("edit", "src/a.py", "deny"),
        ("write", "specs/1_x/reports/research-001.md", "allow"),
        ("write", "src/a.py", "deny"),
        ("write", "specs/state.json", "deny"),
        ("bash", "grep x src/a.py", "allow"),
        ("bash", "rm -rf src", "deny"),
        ("bash", "ls | sudo tee x", "deny"),
    ],
)
def test_tools_and_permissions_decide_on_a_call(project: Project, tool: str, subject: str, decision: str) -> None:
    rules = """\
tools: {read: true, write: true, edit: false, bash: true, grep: true, glob: true}
permissions:
  allow:
    - read: ["**/*"]
    - write: ["specs/**/*"]
    - bash: ["grep", "ls"]
  deny:
    - bash: ["rm", "sudo"]
    - write: ["specs/state.json"]
"""
    project.add_agent("researcher", more=rules)
    assert project.json("agent", "can", "researcher", tool, subject)["decision"] == decision


@conforms("001-12", "001-13")
@pytest.mark.parametrize(("strategy", "loaded"), [("lazy", False), ("eager", True), ("minimal", False)])
def test_the_strategy_says_which_context_files_are_given(project: Project, strategy: str, *, loaded: bool) -> None:
    project.put("docs/index.md", "# Index\n")
    project.put("docs/rules.md", "Rule one holds.\n")
    project.put("docs/more.md", "More about it.\n")
    project.add_agent("researcher", more=CONTEXT.format(strategy=strategy, size=10000))
    program = project.program(DONE)
    assert project.run(program, agent="researcher")["status"] == "completed"
    (prompt,) = program.prompts
    assert "Rule one holds." in prompt
    assert ("More about it." in prompt) is loaded
    assert ("docs/more.md" in prompt) is (strategy != "minimal")


@conforms("001-14")
def test_context_over_its_size_is_left_out_and_named(project: Project) -> None:
    project.put("docs/index.md", "# Index\n")
    project.put("docs/rules.md", "Rule one holds.\n" * 20)
    project.add_agent("researcher", more=CONTEXT.format(strategy="lazy", size=100))
    program = project.program(DONE)
    ended = project("run", "researcher", "Do it.", "--command", program.command)
    assert "docs/rules.md" in ended.err.decode()
    assert "Rule one holds." not in program.prompts[0]


INPUTS = """
<inputs_required>
  <parameter name="repository" type="string">Where to look.</parameter>
  <parameter name="depth" type="integer" optional="true">How deep.</parameter>
</inputs_required>
<inputs_forbidden>
  <forbidden>conversation_history</forbidden>
</inputs_forbidden>
"""


@conforms("001-24", "001-26")
@pytest.mark.parametrize(
    ("given", "code"),
    [
        (["repository=uploads"], 0),
        (["repository=uploads", "depth=2"], 0),
        ([], 2),
        (["repository=uploads", "depth=two"], 2),
        (["repository=uploads", "conversation_history=all of it"], 2),
    ],
)
def test_inputs_are_checked_before_the_agent_starts(project: Project, given: list[str], code: int) -> None:
    project.add_agent("researcher")
    project.put("agents/researcher.md", (project.root / "agents/researcher.md").read_text() + INPUTS)
    program = project.program(DONE)
    options = [word for each in given for word in ("--input", each)]
    ended = project("run", "researcher", "Do it.", "--command", program.command, *options)
    assert ended.code == code, ended
    assert len(program.prompts) == (code == 0)


PHASES = "# Plan\\n\\n- **Status**: [PLANNED]\\n\\n## Implementation Phases\\n\\n"
PLAN = f"answer(write(artifact, '{PHASES}### Phase 1: One [NOT STARTED]\\n\\n### Phase 2: Two [NOT STARTED]\\n'))\n"


@conforms("001-46", "001-47")
def test_a_task_goes_through_research_plan_and_phases(project: Project) -> None:
    """R1.30: each kind ends in its own marker; a phase is a run and a commit of its own."""
    prepare(project)
    assert project.work("research", "1", project.program(DONE))["status"] == "completed"
    assert project.get_task()["status"] == "researched"
    assert project.work("plan", "1", project.program(PLAN))["status"] == "completed"
    assert project.get_task()["status"] == "planned"
    plan = next(project.root.rglob("implementation-001.md"))
    plan.write_text(plan.read_text().replace("One [NOT STARTED]", "One [COMPLETED]"))
    worker = project.program(DONE)
    assert project("task", "implement", "1", "--command", worker.command).code == 0
    assert project.get_task()["status"] == "completed"
    assert ["phase 2" in prompt for prompt in worker.prompts] == [True]
    log = project.git("log", "--format=%s").splitlines()
    assert [each.partition(":")[0] for each in log] == ["task 1 phase 2", "task 1", "task 1"]


@conforms("001-47")
def test_without_a_plan_the_task_is_implemented_directly(project: Project) -> None:
    prepare(project)
    worker = project.program(DONE)
    assert project.work("implement", "1", worker)["status"] == "completed"
    assert len(worker.prompts) == 1
    assert project.get_task()["status"] == "completed"


@conforms("001-48")
def test_a_review_reports_updates_registries_and_makes_follow_up_tasks(project: Project) -> None:
    """R1.32: a registry is a file of the project that the reviewer edits and reports."""
    prepare(project)
    project.put("docs/FEATURES.md", "# Features\n")
    project.git("add", "docs")
    project.git("commit", "-qm", "features")
    body = "registry = write('docs/FEATURES.md', '# Features\\n\\n- Cache: reviewed\\n')\n"
    steps = "answer(write(artifact, session), registry, next_steps=['Add tests for the cache.', 'Write the docs.'])\n"
    result = project.work("review", "1", project.program(body + steps))
    assert result["status"] == "completed"
    assert [each["path"] for each in result["artifacts"]][1] == "docs/FEATURES.md"
    assert len(project.load("specs/state.json")["active_projects"]) == 3
    assert project.get_task()["artifacts"]
    assert "docs/FEATURES.md" in project.git("show", "--name-only", "--format=")


@conforms("001-50")
def test_the_command_relays_what_the_agent_returned(project: Project) -> None:
    prepare(project)
    said = "Compared two caches in depth. The second is faster."
    result = project.work("research", "1", project.program(f"answer(write(artifact, session), summary={said!r})\n"))
    assert (result["status"], result["summary"]) == ("completed", said)
    assert "completed" not in project.work("research", "1", project.program("print('All done.')"))["status"]


@conforms("001-16")
def test_an_agent_calls_only_those_that_its_file_names(project: Project) -> None:
    project.add_agent("researcher", more="delegation: {max_depth: 3, can_delegate_to: [searcher]}\n")
    project.add_agent("searcher")
    project.add_agent("writer")
    child = project.program("answer(write('found.md', session))\n")
    words = f"'Do it.', '--command', {child.command!r}, '--json'"
    body = f"remit('run', 'searcher', {words})\nremit('run', 'writer', {words})\n"
    parent = project.program(body + "answer(write('report.md', session))\n")
    assert project.run(parent, agent="researcher")["status"] == "completed"
    assert [code for _, code, _, _ in parent.calls] == [0, 2]
    assert "searcher" in parent.calls[1][3]


@conforms("001-60")
def test_after_a_timeout_the_same_command_resumes(project: Project) -> None:
    prepare(project)
    late = project.program("write(artifact, 'half')\ntime.sleep(60)\n")
    result = project.work("research", "1", late, "--timeout", "1")
    assert (result["status"], project.get_task()["status"]) == ("partial", "researching")
    assert project.work("research", "1", project.program(DONE))["status"] == "completed"
    assert project.get_task()["status"] == "researched"


OLD = """\
---
description: Researches topics and writes reports
mode: subagent
temperature: 0.3
---

You are a research agent. Search the web and the documentation for the topic. Write a report with your findings to
.opencode/specs. Update TODO.md when you are done, then create a git commit.
"""


@conforms("001-61")
def test_an_old_file_is_brought_to_the_standard(project: Project) -> None:
    """R1.31: what a program can write is written, and what is left to the user is listed."""
    project.put("agents/scout.md", OLD)
    before = json.loads(project("lint", "agents", "--json").out)["items"]
    ended = project("agent", "upgrade", "agents/scout.md", "--kind", "research", "--json")
    assert ended.code in (0, 1)
    text = (project.root / "agents/scout.md").read_text()
    for part in ("agent_type: research", "<context>", "<process_flow>", "<return_format>", "<error_handling>",
                 "<step_0_preflight>", "_postflight>", "_return>"):  # fmt: skip
        assert part in text
    assert before != json.loads(project("lint", "agents", "--json").out)["items"]
    assert json.loads(ended.out)


@conforms("001-39")
def test_a_long_summary_is_named_and_never_the_reason_that_work_fails(project: Project) -> None:
    """C4: the result carries a shortened one."""
    long = "Compared the caches of both queues in depth. " * 20
    assert "RET031" in codes(judge(standard({"/summary": long[:450]})), "warning")
    assert "RET030" in codes(judge(standard({"/summary": long})), "error")
    project.add_agent("researcher")
    result = project.run(
        project.program(f"answer(write('report.md', session), summary={long!r})\n"), agent="researcher"
    )
    assert result["status"] == "completed"
    assert 0 < len(result["summary"]) <= 500
