"""A bad file for each rule on opencode's agents."""

from tests.support.agent_samples import OPENCODE, OPENCODE_PATH, Sample, change

MODE = "mode: subagent\n"
RIGHTS = "permission:\n  edit: deny\n  bash: allow\n"
HEAD, BODY = OPENCODE[: OPENCODE.index("You review")], OPENCODE[OPENCODE.index("You review") :]


def opencode(old: str, new: str, *, fixed: str | None = None) -> Sample:
    """A file of opencode's with one change, and what its fix makes of the changed part."""
    made = None if fixed is None else change(old, fixed, base=OPENCODE)
    return Sample(bad=change(old, new, base=OPENCODE), good=OPENCODE, path=OPENCODE_PATH, fixed=made)


SAMPLES = {
    "AGT300": Sample(bad=f"---\n{MODE}---\n\n# Reviews code\n\n{BODY}", good=OPENCODE, path=OPENCODE_PATH,
                     fixed=f'---\n{MODE}description: "Reviews code"\n---\n\n# Reviews code\n\n{BODY}'),
    "AGT301": opencode(MODE, f"{MODE}variant:\n", fixed=MODE),
    "AGT302": opencode(MODE, "mode: Subagent # called\n", fixed="mode: subagent # called\n"),
    "AGT303": opencode("temperature: 0.1", 'temperature: "0.1" # low', fixed="temperature: 0.1 # low"),
    "AGT304": opencode(MODE, f"{MODE}steps: '20'\n", fixed=f"{MODE}steps: 20\n"),
    "AGT305": opencode(MODE, f"{MODE}maxSteps: 20\n", fixed=f"{MODE}steps: 20\n"),
    "AGT306": opencode(MODE, f"{MODE}hidden:\n", fixed=MODE),
    "AGT307": opencode(MODE, f"{MODE}color: '#f80'\n", fixed=f'{MODE}color: "#ff8800"\n'),
    "AGT308": opencode("model: anthropic/claude-sonnet-4-5", "model: claude-sonnet-4-5",
                       fixed="model: anthropic/claude-sonnet-4-5"),
    "AGT309": opencode(MODE, f"{MODE}name: reviewer\n"),
    "AGT310": opencode(MODE, f"{MODE}prompt: You review.\n", fixed=MODE),
    "AGT311": Sample(bad=HEAD, good=OPENCODE, path=OPENCODE_PATH),
    "AGT312": opencode("permission:\n", "permissions:\n", fixed="permission:\n"),
    "AGT313": opencode("temperature: 0.1", "temprature: 0.1", fixed="temperature: 0.1"),
    "AGT314": opencode(MODE, f"{MODE}maintainer: jo\nversion: 1.0.0\n"),
    "AGT320": opencode(RIGHTS, "permission:\n  edit: false\n  bash: {'git *': alow}\n",
                       fixed="permission:\n  edit: deny\n  bash: {'git *': allow}\n"),
    "AGT321": opencode("  edit: deny\n", "  write: deny\n", fixed="  edit: deny\n"),
    "AGT322": opencode("  bash: allow\n", "  Bash: deny\n", fixed="  bash: deny\n"),
    "AGT323": opencode("  bash: allow\n", "  bash:\n    'git push *': deny\n    '*': allow\n"),
    "AGT324": opencode("  bash: allow\n", "  bash:\n    'git push *': ask\n"),
    "AGT325": opencode(RIGHTS, "tools: Read, grep # both\n",
                       fixed='permission: {"*": deny, read: allow, grep: allow} # both\n'),
    "AGT326": opencode(RIGHTS, "tools:\n  write: false # never\n  bash: true\n  edit: false\n",
                       fixed="permission:\n  edit: deny # never\n  bash: allow\n"),
    "AGT327": opencode("  bash: allow\n", "  bash:\n    '*': allow\n    'rm -rf *': deny\n"),
}  # fmt: skip
