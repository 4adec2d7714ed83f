"""A bad file for each rule on the fields of a standard agent."""

from tests.support.agent_samples import STANDARD, Sample, change

HOME = "prompts/planner.md"
"""A folder that no harness reads."""
RETURN = '  return_format: "subagent-return-format.md"\n'

SAMPLES = {
    "AGT020": Sample(bad=change("mode: subagent\n", ""),
                     fixed=change("mode: subagent\n", "").replace(f"{RETURN}---", f"{RETURN}mode: subagent\n---")),
    "AGT021": Sample(bad=change("timeout: 1800\n", "timeout:\n"), fixed=STANDARD),
    "AGT022": Sample(bad=change(f'lifecycle:\n  stage: 4\n  command: "/plan"\n{RETURN}', ""),
                     fixed=change('  command: "/plan"\n', "")),
    "AGT023": Sample(bad=change("agent_type: planning\n", "agent-type: planning  # what for\n"), path=HOME,
                     fixed=change("agent_type: planning\n", "agent_type: planning  # what for\n")),
    "AGT024": Sample(bad=change("  max_depth: 3\n", "  max_dept: 3\n"), fixed=STANDARD),
    "AGT027": Sample(bad=change('name: "planner"', 'name: "planer"'), fixed=STANDARD),
    "AGT028": Sample(bad=change('name: "planner"', 'name: "Plan_Writer"'), path="prompts/Plan_Writer.md"),
    "AGT029": Sample(bad=change("agent_type: planning\n", "agent_type: [planning, review]\n")),
    "AGT030": Sample(bad=change('"1.0.0"', "'v1.0'"), fixed=change('"1.0.0"', "'1.0.0'")),
    "AGT031": Sample(bad=change("from research findings.", "from findings. It is careful. It asks first.")),
    "AGT032": Sample(bad=change("mode: subagent\n", "mode: primary\n"), fixed=STANDARD),
    "AGT033": Sample(bad=change("agent_type: planning\n", "agent_type: planing\n"), fixed=STANDARD),
    "AGT034": Sample(bad=change("temperature: 0.2\n", 'temperature: "0.2"\n'), fixed=STANDARD),
    "AGT035": Sample(bad=change("max_tokens: 4000\n", 'max_tokens: "4,000"  # enough\n'),
                     fixed=change("max_tokens: 4000\n", "max_tokens: 4000  # enough\n")),
    "AGT036": Sample(bad=change("timeout: 1800\n", "timeout: 30m\n"), fixed=STANDARD),
    "AGT037": Sample(bad=change("timeout: 1800\n", "timeout: 0\n"), fixed=STANDARD),
    "AGT038": Sample(bad=change("timeout: 1800\n", "timeout: 1800000\n"), fixed=STANDARD),
    "AGT046": Sample(bad=change("  stage: 4\n", '  stage: "4"\n'), fixed=STANDARD),
    "AGT047": Sample(bad=change('  command: "/plan"\n', "")),
    "AGT048": Sample(bad=change('"/plan"', '"plan"'), fixed=STANDARD),
    "AGT067": Sample(bad=change(RETURN, '  return_format: "my-format.md"\n'),
                     good=change(RETURN, '  return_format: "core/standards/subagent-return-format.md"\n')),
    "AGT069": Sample(bad=STANDARD, path=".claude/agents/planner.md", good=change("temperature: 0.2\n", "")),
    "AGT049": Sample(bad=change(RETURN, ""), fixed=STANDARD),
}  # fmt: skip
