"""A bad file for each rule on Claude Code's agents."""

from tests.support.agent_samples import CLAUDE, CLAUDE_PATH, Sample, change

TOOLS = "tools: Read, Grep, Glob, Bash\n"
MODEL = "model: sonnet\n"
PLUGIN_PATH = "plugins/review/agents/code-reviewer.md"


def claude(old: str, new: str, *, fixed: str | None = None, path: str = CLAUDE_PATH) -> Sample:
    """A file of Claude Code's with one change, and what its fix makes of the changed part."""
    made = None if fixed is None else change(old, fixed, base=CLAUDE)
    return Sample(bad=change(old, new, base=CLAUDE), good=CLAUDE, path=path, fixed=made)


SAMPLES = {
    "AGT200": Sample(bad=change("name: code-reviewer\n", "", base=CLAUDE), good=CLAUDE, path=CLAUDE_PATH,
                     fixed=change("name: code-reviewer\n", "", base=CLAUDE)
                     .replace(MODEL, f"{MODEL}name: code-reviewer\n")),
    "AGT201": claude("name: code-reviewer", "name: Code Reviewer", fixed="name: code-reviewer"),
    "AGT202": Sample(bad="---\nname: code-reviewer\n---\n\n# Reviews code\n\nYou review.\n", good=CLAUDE,
                     path=CLAUDE_PATH,
                     fixed='---\nname: code-reviewer\ndescription: "Reviews code"\n---\n\n# Reviews code\n\n'
                     "You review.\n"),
    "AGT203": claude("Use after every change.", f"Use after every change. {'word ' * 300}"),
    "AGT204": Sample(bad=CLAUDE[: CLAUDE.index("You review")], good=CLAUDE, path=CLAUDE_PATH),
    "AGT205": claude(TOOLS, "allowed-tools: Read, Grep\n", fixed="tools: Read, Grep\n"),
    "AGT206": claude(MODEL, f"{MODEL}max-turns: 20 # enough\n", fixed=f"{MODEL}maxTurns: 20 # enough\n"),
    "AGT207": claude(MODEL, f"{MODEL}temperature: 0.2\nenv: x\n"),
    "AGT208": claude(MODEL, f"{MODEL}permissionMode: plan\n", path=PLUGIN_PATH),
    "AGT209": claude("name: code-reviewer", 'name: "reviewer" # short', fixed='name: "code-reviewer" # short'),
    "AGT210": claude(MODEL, f"{MODEL}hooks: []\n", fixed=MODEL),
    "AGT211": claude(MODEL, f"{MODEL}hooks:\n  preToolUse:\n    - hooks:\n        - type: command\n",
                     fixed=f"{MODEL}hooks:\n  PreToolUse:\n    - hooks:\n        - type: command\n"),
    "AGT212": claude(TOOLS, "tools:\n  read: true # all\n  bash: false\n  webfetch: true\n",
                     fixed="tools: Read, WebFetch\n"),
    "AGT213": claude(TOOLS, "tools:\n", fixed="tools: []\n"),
    "AGT214": claude(TOOLS, "tools: 'read, Grepp, mcp__github__*'\n", fixed="tools: 'Read, Grep, mcp__github__*'\n"),
    "AGT215": claude(TOOLS, f"{TOOLS}disallowedTools: Grep\n",
                     fixed="tools: Read, Glob, Bash\ndisallowedTools: Grep\n"),
    "AGT216": claude(TOOLS, "tools: Read, Bash(git diff:*), Agent(helper, other)\n"),
    "AGT217": claude(TOOLS, "tools: [Read, AskUserQuestion]\n"),
    "AGT220": claude("model: sonnet", "model: 'anthropic/claude-sonnet-4-5'", fixed="model: 'claude-sonnet-4-5'"),
    "AGT221": claude(MODEL, f"{MODEL}permissionMode: accept-edits\n", fixed=f"{MODEL}permissionMode: acceptEdits\n"),
    "AGT222": claude(MODEL, f"{MODEL}permissionMode: bypassPermissions\n"),
    "AGT223": claude(MODEL, f"{MODEL}maxTurns: 0\n"),
    "AGT224": claude(MODEL, f'{MODEL}isolation: "work-tree"\neffort: hihg\n',
                     fixed=f'{MODEL}isolation: "worktree"\neffort: high\n'),
    "AGT225": claude(MODEL, f"{MODEL}color: gren\n", fixed=f"{MODEL}color: green\n"),
    "AGT226": claude(MODEL, f"{MODEL}mcpServers:\n  github:\n    command: gh-mcp\n"),
    "AGT227": claude(MODEL, f"{MODEL}background: always\n"),
}  # fmt: skip
