"""A bad file for each rule on the sections of a standard agent: inputs, outputs and failures among them."""

import re

from tests.support.agent_samples import STANDARD, Sample, change


def without(section: str, *, base: str = STANDARD) -> str:
    """A good file without one of its sections."""
    text, count = re.subn(rf"<{section}>\n.*?</{section}>\n\n?", "", base, flags=re.DOTALL)
    assert count == 1
    return text


def only(part: str) -> str:
    """The part of the good file that begins with a tag, up to its end."""
    found = re.search(rf"[ ]*<{part}[ >].*?</{part}>\n", STANDARD, flags=re.DOTALL)
    assert found
    return found[0]


BODY = STANDARD.index("# Planner")
TIMEOUT, *OTHER_ERRORS = re.findall(r"  <error_type .*?</error_type>\n", STANDARD, flags=re.DOTALL)
AGAIN = '  <parameter name="session_id" type="string">Again.</parameter>\n'
PATH = "specs/{number}_{slug}/plans/implementation-{version:03d}.md"

SAMPLES = {
    "AGT100": Sample(bad=STANDARD[:BODY] + "# Planner\n\nYou plan things.\n"),
    "AGT101": Sample(bad=change("# Planner\n\n", ""), fixed=STANDARD),
    "AGT102": Sample(bad=change("# Planner\n\n" + only("context") + "\n", only("context") + "\n# Planner\n\n"),
                     fixed=STANDARD),
    "AGT103": Sample(bad=STANDARD.replace("return_format>", "return_fromat>"), fixed=STANDARD),
    "AGT104": Sample(bad=STANDARD + "\n" + only("role"), fixed=STANDARD + "\n"),
    "AGT105": Sample(bad=change("A planner who turns a task and what is known about it into a phased plan.",
                                "{Detailed role description}")),
    "AGT106": Sample(bad=change(only("lifecycle_integration"), ""),
                     fixed=change(only("lifecycle_integration"),
                                  "  <lifecycle_integration>Owns postflight and return. The command validates the "
                                  "return and relays it.</lifecycle_integration>\n")),
    "AGT107": Sample(bad=without("role"),
                     fixed=change("A planner who turns a task and what is known about it into a phased plan.",
                                  "Writes phased implementation plans from research findings.")),
    "AGT108": Sample(bad=without("task")),
    "AGT109": Sample(bad=change("Read the task and its research. Split the work into phases that can be finished one by"
                                " one. Estimate the effort of\n  each phase. Write the plan, move the status and return"
                                " the result.", "Plan things.")),
    "AGT110": Sample(bad=without("inputs_required")),
    "AGT111": Sample(bad=change('  <parameter name="session_id" type="string">The session that was issued.</parameter>'
                                "\n", "")),
    "AGT112": Sample(bad=change(' type="integer">The task to plan.', ">The task to plan."), fixed=STANDARD),
    "AGT113": Sample(bad=change('type="integer">The task to plan.', 'type="int">The task to plan.'), fixed=STANDARD),
    "AGT114": Sample(bad=change("</inputs_required>", f"{AGAIN}</inputs_required>"), fixed=STANDARD),
    "AGT115": Sample(bad=without("inputs_forbidden"), fixed=STANDARD),
    "AGT116": Sample(bad=change("  <forbidden>unstructured_context</forbidden>\n", ""), fixed=STANDARD),
    "AGT117": Sample(bad=change('<parameter name="session_id"', '<parameter name="full_system_state"')),
    "AGT118": Sample(bad=without("delegation_patterns")),
    "AGT119": Sample(bad=change("    <integration>Stop if it did not move.</integration>\n", "")),
    "AGT120": Sample(bad=without("artifact_creation")),
    "AGT121": Sample(bad=change("    <validation>The file is there and not empty.</validation>\n", "")),
    "AGT122": Sample(bad=change('<artifact type="plan">', '<artifact type="plann">'), fixed=STANDARD),
    "AGT123": Sample(bad=change(PATH, "docs/plan.md"), fixed=STANDARD),
    "AGT124": Sample(bad=without("return_format")),
    "AGT125": Sample(bad=STANDARD.replace("return_format>", "output_specification>").replace("structure>", "format>"),
                     fixed=STANDARD),
    "AGT126": Sample(bad=change(only("structure"), "  One object.\n")),
    "AGT127": Sample(bad=change('      "summary": "Wrote a plan in 3 phases. It needs 6 hours.",\n', "").replace(
        '"summary": "The plan"', '"title": "The plan"')),
    "AGT128": Sample(bad=change('"status": "completed"', '"status": "success|error"'),
                     fixed=change('"status": "completed"', '"status": "completed|failed"')),
    "AGT129": Sample(bad=change(
        "  <validation>\n    The summary has fewer than 100 tokens, the session id is the one that was issued, every "
        "artifact is on disk.\n  </validation>\n", "")),
    "AGT130": Sample(bad=without("quality_standards")),
    "AGT131": Sample(bad=without("error_handling")),
    "AGT132": Sample(bad=change(TIMEOUT, "")),
    "AGT133": Sample(bad=change("".join(OTHER_ERRORS), "")),
    "AGT134": Sample(bad=change("    <recovery>Commit by hand.</recovery>\n", "")),
    "AGT135": Sample(bad=change('<error_type name="timeout">', "<error_type>")),
    "AGT136": Sample(bad=re.sub(r'<error_type name="(timeout)">(.*?)</error_type>', r"<\1>\2</\1>", STANDARD, count=1,
                                flags=re.DOTALL), fixed=STANDARD),
    "AGT137": Sample(bad=STANDARD + "\n" * 300),
    "AGT138": Sample(bad=STANDARD.replace("[PLANNED]", "[DONE]")),
    "AGT139": Sample(bad=change("<return_format>\n", "```json\n<return_format>\n")),
}  # fmt: skip
