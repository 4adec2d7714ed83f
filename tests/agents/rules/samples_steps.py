"""A bad file for each rule on the steps of a standard agent."""

import re

from tests.agents.rules.samples_sections import only
from tests.support.agent_samples import STANDARD, Sample, change

FLOW = only("process_flow")
STAGES = STANDARD
for number in (0, 1, 2, 3, 4):
    STAGES = re.sub(rf"(</?)step_{number}\b|(</?)step_{number}_", rf"\1\2stage_{number + 1}", STAGES)
STAGES = re.sub(r"(stage_\d)(preflight|postflight|return)", r"\1_\2", STAGES)
LETTERS = STANDARD.replace("step_3_postflight", "step_N_postflight").replace("step_4_return", "step_N+1_return")
PREFLIGHT, POSTFLIGHT, RETURN = only("step_0_preflight"), only("step_3_postflight"), only("step_4_return")

SAMPLES = {
    "AGT140": Sample(bad=STANDARD.replace("<process_flow>\n", "").replace("</process_flow>\n", "")),
    "AGT141": Sample(bad=STANDARD.replace("process_flow>", "workflow_execution>"), fixed=STANDARD),
    "AGT142": Sample(bad=change("    <checkpoint>The plan is on disk</checkpoint>\n", "")),
    "AGT143": Sample(bad=STANDARD.replace("checkpoint>", "output>"), fixed=STANDARD),
    "AGT144": Sample(bad=STAGES, fixed=STANDARD),
    "AGT145": Sample(bad=change(PREFLIGHT + "\n", "")),
    "AGT146": Sample(bad=change(POSTFLIGHT + "\n", "")),
    "AGT147": Sample(bad=change("\n" + RETURN, "")),
    "AGT148": Sample(bad=STANDARD.replace("step_0_preflight", "step_1_preflight"), fixed=STANDARD),
    "AGT149": Sample(bad=STANDARD.replace("<step_2>", "<step_1>").replace("</step_2>", "</step_1>"), fixed=STANDARD),
    "AGT150": Sample(bad=LETTERS, fixed=STANDARD),
    "AGT151": Sample(bad=STANDARD.replace("step_1>", "step1>"), fixed=STANDARD),
    "AGT152": Sample(bad=STANDARD.replace("step_4_return>", "step_4>"), fixed=STANDARD),
    "AGT156": Sample(bad=change(
        "      1. Read the entry of the task.\n      2. Harvest the findings of its research reports, if there are any."
        "\n      3. List what is not known.\n", "      Do the thing.\n")),
    "AGT157": Sample(bad=change("<action>Read the task and its research</action>", "<action></action>")),
    "AGT158": Sample(bad=change(FLOW, "### Stage 1: Preflight\n\nLook.\n\n### Stage 2: Work\n\nWork.\n")),
}  # fmt: skip
