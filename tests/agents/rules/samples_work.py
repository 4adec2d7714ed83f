"""A bad file for each rule on the work itself."""

from tests.agents.samples import Sample, change

HANDED_ON = "The files, the message, session_id, depth, path and timeout."

SAMPLES = {
    "AGT089": Sample(bad=change(HANDED_ON, "The files and the message.")),
    "AGT159": Sample(bad=change("agent_type: planning\n", "agent_type: review\n")),
}
