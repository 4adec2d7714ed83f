"""A bad file for each rule on what YAML makes of a value."""

from tests.support.agent_samples import CLAUDE, CLAUDE_PATH, OPENCODE, OPENCODE_PATH, STANDARD, Sample, change

SAMPLES = {
    "AGT039": Sample(bad=change("model: sonnet\n", "model: sonnet\ncolor: #ff8800\n", base=CLAUDE), good=CLAUDE,
                     path=CLAUDE_PATH,
                     fixed=change("model: sonnet\n", 'model: sonnet\ncolor: "#ff8800"\n', base=CLAUDE)),
    "AGT040": Sample(bad=change('"1.0.0"', "1.10  # the tenth"), fixed=change('"1.0.0"', '"1.10"  # the tenth')),
    "AGT041": Sample(bad=change("timeout: 1800\n", "timeout: 1:30\n"),
                     fixed=change("timeout: 1800\n", "timeout: 90\n")),
    "AGT042": Sample(bad=change('"1.0.0"', "2025-12-29"), fixed=change('"1.0.0"', '"2025-12-29"')),
    "AGT043": Sample(bad=change('    - "status-sync-manager"\n', "    - no\n"),
                     fixed=change('    - "status-sync-manager"\n', '    - "no"\n')),
    "AGT044": Sample(bad=change("  bash: allow\n", "  bash: allow\nhidden: 'no'\n", base=OPENCODE), good=OPENCODE,
                     path=OPENCODE_PATH,
                     fixed=change("  bash: allow\n", "  bash: allow\nhidden: false\n", base=OPENCODE)),
    "AGT045": Sample(bad=change("max_tokens: 4000\n", "max_tokens: 4_000\n"), fixed=STANDARD),
}  # fmt: skip
