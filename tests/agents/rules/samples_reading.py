"""A bad file for each rule on reading."""

from tests.support.agent_samples import CLAUDE, CLAUDE_PATH, STANDARD, Sample, change

SAMPLES = {
    "AGT001": Sample(bad="---\nname: planner\n---\n\udcff\n"),
    "AGT002": Sample(bad="# Reviewer\n\nYou review.\n", good=CLAUDE, path=CLAUDE_PATH,
                     fixed='---\nname: code-reviewer\ndescription: "Reviewer"\n---\n\n# Reviewer\n\nYou review.\n'),
    "AGT003": Sample(bad="---\nname: planner\n\n# Planner\n", fixed="---\nname: planner\n\n---\n\n# Planner\n"),
    "AGT004": Sample(bad="---\nname: a\ndescription: Use it when: it fails\n---\n", good=CLAUDE, path=CLAUDE_PATH,
                     fixed='---\nname: a\ndescription: "Use it when: it fails"\n---\n'),
    "AGT005": Sample(bad=change("timeout: 1800\n", "timeout: 1800\ntimeout: 1800\n"), fixed=STANDARD),
    "AGT006": Sample(bad=change("mode: subagent\n", f"mode: {'[' * 60}{']' * 60}\n")),
    "AGT007": Sample(bad=change("mode: subagent\n", "mode: !!python/name:os.system subagent\n")),
    "AGT010": Sample(bad=change("</role>\n", "")),
    "AGT011": Sample(bad=change("<role>\n", "<rolle>\n")),
    "AGT012": Sample(bad=STANDARD + "<a></a>\n" * 12_000),
}  # fmt: skip
