"""Commands: the five stages of a delegation, and a timeout."""

import re

import pytest

from tests.support.agent_samples import COMMAND, COMMAND_PATH, change, lint

STAGES = {
    "prepare": """\
<stage id="N" name="PrepareDelegation">
  <action>Prepare delegation context</action>
  <process>
    1. Generate unique session_id
    2. Get current delegation_depth from context (default 0)
    3. Get current delegation_path from context (default [])
    4. Increment depth: new_depth = depth + 1
    5. Check depth limit: if new_depth >= 3: return error
    6. Append self to path: new_path = path + [self_name]
    7. Check for cycles: if target in new_path: return error
    8. Determine timeout based on operation type
    9. Store session_id for later validation
  </process>
  <delegation_context>
    {
      "session_id": "sess_20251226_abc123",
      "delegation_depth": 1,
      "delegation_path": ["orchestrator", "implement"],
      "timeout": 3600
    }
  </delegation_context>
</stage>
""",
    "invoke": """\
<stage id="N+1" name="InvokeSubagent">
  <action>Invoke subagent with delegation context</action>
  <process>
    1. Route to appropriate subagent
    2. Pass delegation context
    3. Pass task-specific parameters
    4. Set timeout from delegation context
    5. Begin monitoring (if orchestrator)
  </process>
  <invocation>
    task_tool(
      subagent_type="researcher",
      prompt="Research topic: {topic}",
      session_id=delegation_context["session_id"],
      delegation_depth=delegation_context["delegation_depth"],
      delegation_path=delegation_context["delegation_path"],
      timeout=delegation_context["timeout"]
    )
  </invocation>
</stage>
""",
    "receive": """\
<stage id="N+2" name="ReceiveResults">
  <action>Wait for and receive subagent results</action>
  <process>
    1. Poll for completion (max timeout seconds)
    2. Receive return object from subagent
    3. Handle timeout if no response
    4. Handle exceptions if invocation failed
  </process>
  <timeout_handling>
    If timeout (no response after {timeout}s):
      1. Log timeout error with session_id
      2. Check for partial artifacts on disk
      3. Return partial status with artifacts found
      4. Provide recovery message
      5. Do NOT mark task as failed
  </timeout_handling>
  <exception_handling>
    If exception during invocation:
      1. Log exception with stack trace
      2. Return failed status
      3. Provide actionable error message
      4. Recommend troubleshooting steps
  </exception_handling>
</stage>
""",
    "validate": """\
<stage id="N+3" name="ValidateReturn">
  <action>Validate return against standard format</action>
  <process>
    1. Validate JSON structure
    2. Validate against Part 2 schema (Standard Return Format)
    3. Check session_id matches expected
    4. Validate all required fields present
    5. Validate status is valid enum
    6. Validate summary within length limits
    7. Validate artifacts have valid paths
  </process>
  <validation_failure>
    If validation fails:
      1. Log validation error with details
      2. Return failed status
      3. Include original return for debugging
      4. Recommend subagent fix
  </validation_failure>
</stage>
""",
    "process": """\
<stage id="N+4" name="ProcessResults">
  <action>Extract and process validated results</action>
  <process>
    1. Extract status from return
    2. Extract summary for user/caller
    3. Extract artifacts for linking
    4. Extract errors if status != completed
    5. Extract next_steps if present
    6. Prepare for next stage (postflight/return)
  </process>
  <status_handling>
    If status == "completed":
      - All work finished successfully
      - Proceed to postflight with artifacts
    If status == "partial":
      - Some work completed
      - Keep task IN PROGRESS
      - Save partial results
    If status == "failed":
      - No usable results
      - Handle errors
      - Provide recovery steps
    If status == "blocked":
      - Cannot proceed
      - Identify blocker
      - Request user intervention
  </status_handling>
</stage>
""",
}
"""The five stages of the standard on delegation, word for word."""
HEAD = "---\ndescription: Research a task\n---\n\n# Research\n\n"
HEADINGS = ("Prepare Delegation", "Invoke Subagent", "Receive Results", "Validate Return", "Process Results")


def tell(body: str) -> list[tuple[str, str]]:
    return [(each.code, each.message) for each in lint(HEAD + body, COMMAND_PATH)]


def write_tags(stages: list[str], wrapper: str) -> str:
    body = "\n".join(STAGES[name] for name in stages)
    return f"<{wrapper}>\n{body}</{wrapper}>\n" if wrapper else body


def write_headings(titles: list[str]) -> str:
    return "Each call has a timeout.\n\n" + "\n".join(
        f"### Stage {number}: {title}\n\nPrepare, invoke, receive, validate and process.\n"
        for number, title in enumerate(titles, 1)
    )


@pytest.mark.conforms("002-30")
@pytest.mark.parametrize("wrapper", ["workflow_execution", ""])
@pytest.mark.parametrize("lost", [*STAGES, None])
def test_each_of_the_five_stages_is_missed(lost: str | None, wrapper: str) -> None:
    """R2.11: the standard's own stages are clean; without one of them, that one is named and no other."""
    stages = [name for name in STAGES if name != lost]
    expected = [("AGT500", f"the workflow has no stage for: {lost}")] if lost else []
    assert tell(write_tags(stages, wrapper)) == expected


@pytest.mark.parametrize("lost", [*HEADINGS, None])
def test_stages_may_be_headings(lost: str | None) -> None:
    """R2.11: headings are structure; the sentences below them don't count as stages."""
    body = write_headings([title for title in HEADINGS if title != lost])
    expected = [("AGT500", f"the workflow has no stage for: {lost.split()[0].lower()}")] if lost else []
    assert tell(body) == tell(f"<workflow_execution>\n\n{body}\n</workflow_execution>\n") == expected


def test_words_in_actions_and_processes_are_no_stages() -> None:
    """R1.33: an action counts only for a stage that has no name, and then by its first word."""
    one = '<stage_1 name="Prepare"><action>Prepare, invoke, receive, validate, process</action></stage_1>'
    lost = "invoke, receive, validate, process"
    body = f"<workflow_execution>\n{one}\n</workflow_execution>\n\nA timeout of 60 s.\n"
    assert tell(body) == [("AGT500", f"the workflow has no stage for: {lost}")]
    unnamed = change("Call the planner", "Invoke the planner", base=re.sub(r' name="\w+"', "", COMMAND))
    assert [each.message for each in lint(unnamed, COMMAND_PATH)] == [
        "the workflow has no stage for: prepare, validate, process"
    ]


def test_other_names_of_stages_are_understood() -> None:
    """R1.33: one stage for each name, whatever else the name says."""
    names = ("1_preflight", "2_delegate", "3_await_return", "4_verify_return", "5_relay_result")
    body = "\n".join(f"<stage_{name}>Work.</stage_{name}>" for name in names)
    assert tell(f"<workflow_execution>\n{body}\n</workflow_execution>\n\nWithin the time limit.\n") == []


def test_a_command_that_delegates_to_nobody_needs_no_stages() -> None:
    """R1.33: a light lint; stages and steps of other commands are their own."""
    assert tell("## Step 1: Validate the tag\n\nLook at it.\n\n## Step 2: Process the log\n\nSort it.\n") == []
    assert tell("## Stage 1: Build\n\nRun make.\n\n## Stage 2: Validate\n\nRun the tests.\n") == []


@pytest.mark.parametrize("wrapper", ["workflow_execution", ""])
def test_a_command_without_any_timeout_is_named(wrapper: str) -> None:
    """R2.6: a delegation always has a timeout."""
    body = write_tags(list(STAGES), wrapper)
    none = re.sub(r"timeout", "patience", body)
    assert [code for code, _ in tell(none)] == ["AGT504"]
    with_key = HEAD.replace("description", "timeout: 3600\ndescription") + none
    assert lint(with_key, COMMAND_PATH) == []
