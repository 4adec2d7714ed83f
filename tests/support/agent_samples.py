"""A complete agent of each profile, and changes to it: every sample is one change away from a good file."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from remit.agents.document import parse_document
from remit.agents.edits import MAX_ROUNDS, FixedText, apply_fixes
from remit.agents.rules.register import AgentFileContext, run_agent_rules

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from remit.model import Diagnostic

STANDARD = """\
---
name: "planner"
version: "1.0.0"
description: "Writes phased implementation plans from research findings."
mode: subagent
agent_type: planning
temperature: 0.2
max_tokens: 4000
timeout: 1800
tools:
  read: true
  write: true
  edit: true
  bash: true
  grep: true
  glob: true
permissions:
  allow:
    - read: ["**/*"]
    - write: ["specs/**/*"]
    - bash: ["grep", "wc", "date"]
  deny:
    - bash: ["rm", "sudo"]
    - write: [".git/**/*"]
context_loading:
  strategy: lazy
  index: "docs/context/index.md"
  required:
    - "docs/context/return-format.md"
  optional:
    - "docs/context/plans.md"
  max_context_size: 50000
delegation:
  max_depth: 3
  can_delegate_to:
    - "status-sync-manager"
    - "git-workflow-manager"
  timeout_default: 300
  timeout_max: 600
lifecycle:
  stage: 4
  command: "/plan"
  return_format: "subagent-return-format.md"
---

# Planner

<context>
  <specialist_domain>Implementation planning with phases and estimates.</specialist_domain>
  <task_scope>Plans for one task at a time, from its description and its research.</task_scope>
  <integration>Called by the command /plan; services move the status and commit.</integration>
  <lifecycle_integration>
    Owns postflight and return. The command validates the return and relays it.
  </lifecycle_integration>
</context>

<role>
  A planner who turns a task and what is known about it into a phased plan.
</role>

<task>
  Read the task and its research. Split the work into phases that can be finished one by one. Estimate the effort of
  each phase. Write the plan, move the status and return the result.
</task>

<inputs_required>
  <parameter name="task_number" type="integer">The task to plan.</parameter>
  <parameter name="session_id" type="string">The session that was issued.</parameter>
  <parameter name="delegation_depth" type="integer">How deep this delegation is.</parameter>
  <parameter name="delegation_path" type="array">Who delegated to whom.</parameter>
  <parameter name="language" type="string" optional="true">The language of the code.</parameter>
  <parameter name="timeout" type="integer" optional="true">Seconds for this delegation.</parameter>
</inputs_required>

<inputs_forbidden>
  <forbidden>conversation_history</forbidden>
  <forbidden>full_system_state</forbidden>
  <forbidden>unstructured_context</forbidden>
</inputs_forbidden>

<process_flow>
  <step_0_preflight>
    <action>Preflight: validate the inputs and move the status to [PLANNING]</action>
    <process>
      1. Validate task_number, session_id, delegation_depth and delegation_path.
      2. Ask status-sync-manager to update the status to [PLANNING].
      3. Verify that the status was updated.
    </process>
    <checkpoint>Inputs are valid, the status is [PLANNING]</checkpoint>
  </step_0_preflight>

  <step_1>
    <action>Read the task and its research</action>
    <process>
      1. Read the entry of the task.
      2. Harvest the findings of its research reports, if there are any.
      3. List what is not known.
    </process>
    <checkpoint>Requirements and research are known</checkpoint>
  </step_1>

  <step_2>
    <action>Split the work into phases and estimate them</action>
    <process>
      1. Find the parts that can be finished one by one.
      2. Order them by what they need.
      3. Estimate hours for each phase.
      4. Write the plan to its file.
    </process>
    <checkpoint>The plan is on disk</checkpoint>
  </step_2>

  <step_3_postflight>
    <action>Postflight: move the status to [PLANNED] and commit</action>
    <process>
      1. Ask status-sync-manager to update the status to [PLANNED].
      2. Ask git-workflow-manager to create a commit.
      3. Verify both.
    </process>
    <checkpoint>The status is [PLANNED], the plan is committed</checkpoint>
  </step_3_postflight>

  <step_4_return>
    <action>Return: format and validate the result</action>
    <process>
      1. Format the return as return_format says.
      2. Validate it against return_format.
      3. Return it and nothing else.
    </process>
    <checkpoint>The return is valid</checkpoint>
  </step_4_return>
</process_flow>

<delegation_patterns>
  <delegate_to name="status-sync-manager">
    <when>The status moves, at preflight and at postflight.</when>
    <context>task_number, the new status, session_id, depth, path and timeout.</context>
    <expected_return>The status that is now on disk.</expected_return>
    <integration>Stop if it did not move.</integration>
  </delegate_to>
  <delegate_to name="git-workflow-manager">
    <when>The plan is on disk.</when>
    <context>The files, the message, session_id, depth, path and timeout.</context>
    <expected_return>The commit's hash.</expected_return>
    <integration>A failure is reported and does not fail the plan.</integration>
  </delegate_to>
</delegation_patterns>

<artifact_creation>
  <artifact type="plan">
    <path>specs/{number}_{slug}/plans/implementation-{version:03d}.md</path>
    <content>Phases with estimates, dependencies and what done means.</content>
    <validation>The file is there and not empty.</validation>
    <token_limit>No limit for the plan, 100 tokens for its summary.</token_limit>
  </artifact>
</artifact_creation>

<return_format>
  <structure>
    {
      "status": "completed",
      "summary": "Wrote a plan in 3 phases. It needs 6 hours.",
      "artifacts": [
        {"type": "plan", "path": "specs/7_search/plans/implementation-001.md", "summary": "The plan"}
      ],
      "metadata": {
        "session_id": "sess_1763200000_k3x9qz",
        "agent_type": "planner",
        "delegation_depth": 1,
        "delegation_path": ["orchestrator", "plan", "planner"],
        "duration_seconds": 120
      },
      "errors": []
    }
  </structure>
  <validation>
    The summary has fewer than 100 tokens, the session id is the one that was issued, every artifact is on disk.
  </validation>
</return_format>

<quality_standards>
  <small_phases>Each phase can be finished and checked by itself.</small_phases>
  <honest_estimates>An estimate says what it rests on.</honest_estimates>
</quality_standards>

<error_handling>
  <error_type name="timeout">
    <detection>Nine tenths of the time are used.</detection>
    <handling>Save what there is and return partial.</handling>
    <recovery>Run the command again to resume.</recovery>
    <logging>Log the timeout with the session id.</logging>
  </error_type>
  <error_type name="validation_failure">
    <detection>An input is missing or wrong.</detection>
    <handling>Return failed before anything is written.</handling>
    <recovery>Correct the input.</recovery>
    <logging>Log which input it was.</logging>
  </error_type>
  <error_type name="file_operation_failure">
    <detection>A file can't be read or written.</detection>
    <handling>Try once more, then return failed.</handling>
    <recovery>Check the path and its permissions.</recovery>
    <logging>Log the path and the reason.</logging>
  </error_type>
  <error_type name="delegation_failure">
    <detection>A service returns failed, or nothing.</detection>
    <handling>Return partial with the plan.</handling>
    <recovery>Move the status by hand.</recovery>
    <logging>Log the service and its answer.</logging>
  </error_type>
  <error_type name="git_failure">
    <detection>The commit is refused.</detection>
    <handling>Go on; the plan is on disk.</handling>
    <recovery>Commit by hand.</recovery>
    <logging>Log what git said.</logging>
  </error_type>
</error_handling>
"""
STANDARD_PATH = ".opencode/agent/subagents/planner.md"
SIZES = {"docs/context/index.md": 900, "docs/context/return-format.md": 4_000, "docs/context/plans.md": 2_000}

CLAUDE = """\
---
name: code-reviewer
description: Reviews changed code for faults. Use after every change.
tools: Read, Grep, Glob, Bash
model: sonnet
---

You review code. Read the diff, then the files around it, and name faults with file and line.
"""
CLAUDE_PATH = ".claude/agents/code-reviewer.md"

OPENCODE = """\
---
description: Reviews changed code for faults
mode: subagent
model: anthropic/claude-sonnet-4-5
temperature: 0.1
permission:
  edit: deny
  bash: allow
---

You review code. Read the diff, then the files around it, and name faults with file and line.
"""
OPENCODE_PATH = ".opencode/agent/code-reviewer.md"

CODEX = '''\
name = "code-reviewer"
description = "Reviews changed code for faults."
developer_instructions = """
You review code. Read the diff, then the files around it, and name faults with file and line.
"""
'''
CODEX_PATH = ".codex/agents/code-reviewer.toml"

PATHS = {STANDARD: STANDARD_PATH, CLAUDE: CLAUDE_PATH, OPENCODE: OPENCODE_PATH, CODEX: CODEX_PATH}


class Sample(NamedTuple):
    """A file that a rule finds fault with, and one that it does not."""

    bad: str
    good: str = STANDARD
    path: str = STANDARD_PATH
    sizes: Mapping[str, int | None] = SIZES
    """What the context files weigh, for both."""
    fixed: str | None = None
    """What the fix makes of the bad file, where that is worth spelling out."""


def change(old: str, new: str, *, base: str = STANDARD) -> str:
    """A good file with one change; the old text must stand in it exactly once."""
    assert base.count(old) == 1, f"{old!r} stands in the sample {base.count(old)} times"
    return base.replace(old, new)


def lint(
    text: str | bytes, path: str = STANDARD_PATH, *, sizes: Mapping[str, int | None] | None = None
) -> list[Diagnostic]:
    """Every finding on one file, by itself."""
    return run_agent_rules(AgentFileContext(parse_document(path, text), SIZES if sizes is None else sizes))


def fix_until_stable(text: str, check: Callable[[str], Iterable[Diagnostic]], *, unsafe: bool) -> FixedText:
    """Fix, look again, and go on until nothing is left to fix; a text that comes back is left as it was then."""
    applied: list[Diagnostic] = []
    seen = {text}
    for _ in range(MAX_ROUNDS):
        fixed = apply_fixes(check(text), text, unsafe=unsafe)
        if not fixed.applied or fixed.text in seen:
            break
        seen.add(fixed.text)
        text = fixed.text
        applied.extend(fixed.applied)
    return FixedText(text, tuple(applied))
