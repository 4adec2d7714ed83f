"""A bad file for each rule on command files."""

from tests.support.agent_samples import Sample, change

COMMAND = """\
---
description: Plan a task
agent: planner
---

# Plan

<workflow_execution>
  <stage_1 name="Prepare">
    <action>Read the task and issue a session id</action>
  </stage_1>
  <stage_2 name="Invoke">
    <action>Call the planner with a timeout</action>
  </stage_2>
  <stage_3 name="Receive">
    <action>Wait for what it sends back</action>
  </stage_3>
  <stage_4 name="Validate">
    <action>Compare it with the return format</action>
  </stage_4>
  <stage_5 name="Process">
    <action>Tell the user what came of it</action>
  </stage_5>
</workflow_execution>
"""
COMMAND_PATH = ".opencode/command/plan.md"
RECEIVE = """\
  <stage_3 name="Receive">
    <action>Wait for what it sends back</action>
  </stage_3>
"""


def command(old: str, new: str, *, fixed: str | None = None) -> Sample:
    """A command with one change, and what its fix makes of the changed part."""
    made = None if fixed is None else change(old, fixed, base=COMMAND)
    return Sample(bad=change(old, new, base=COMMAND), good=COMMAND, path=COMMAND_PATH, fixed=made)


SAMPLES = {
    "AGT500": command(RECEIVE, ""),
    "AGT501": Sample(bad="# Plan\n\n<workflow_execution>\n  Call the planner.\n</workflow_execution>\n", good=COMMAND,
                     path=COMMAND_PATH),
    "AGT502": Sample(bad=change("description: Plan a task\n", "", base=COMMAND), good=COMMAND, path=COMMAND_PATH,
                     fixed=change("description: Plan a task\nagent: planner\n",
                                  'agent: planner\ndescription: "Plan"\n', base=COMMAND)),
    "AGT504": command(" with a timeout", ""),
    "AGT503": command("agent: planner", 'agent: "@planner"', fixed='agent: "planner"'),
}  # fmt: skip
