"""A bad file for each rule on delegation."""

from tests.support.agent_samples import STANDARD, Sample, change

TARGETS = '  can_delegate_to:\n    - "status-sync-manager"\n    - "git-workflow-manager"\n'
LAST = '    - "git-workflow-manager"\n'

SAMPLES = {
    "AGT080": Sample(bad=change("max_depth: 3", "max_depth: 5  # enough"),
                     fixed=change("max_depth: 3", "max_depth: 3  # enough")),
    "AGT081": Sample(bad=change(TARGETS, "  can_delegate_to: status-sync-manager, git-workflow-manager\n"),
                     fixed=change(TARGETS, '  can_delegate_to: ["status-sync-manager", "git-workflow-manager"]\n')),
    "AGT082": Sample(bad=change(LAST, f'{LAST}    - "planner"\n'), fixed=STANDARD),
    "AGT083": Sample(bad=change(LAST, f"{LAST}    - git-workflow-manager\n"), fixed=STANDARD),
    "AGT084": Sample(bad=change("  timeout_max: 600\n", ""), fixed=STANDARD),
    "AGT085": Sample(bad=change("timeout_default: 300", "timeout_default: 900"),
                     fixed=change("timeout_default: 300", "timeout_default: 600")),
    "AGT086": Sample(bad=change("timeout_max: 600", "timeout_max: 1800")),
    "AGT087": Sample(bad=change(LAST, f'{LAST}    - "reviewer"\n')),
    "AGT088": Sample(bad=change(LAST, ""), fixed=STANDARD),
}  # fmt: skip
