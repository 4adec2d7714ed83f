"""A bad file for each rule on permissions."""

from tests.support.agent_samples import STANDARD, Sample, change

TOOLS = STANDARD[STANDARD.index("tools:") : STANDARD.index("permissions:")]
PERMISSIONS = STANDARD[STANDARD.index("permissions:") : STANDARD.index("context_loading:")]
ALLOWED_BASH = '    - bash: ["grep", "wc", "date"]\n'
ALLOWED_WRITE = '    - write: ["specs/**/*"]\n'
DENIED_BASH = '    - bash: ["rm", "sudo"]\n'
DENIED_WRITE = '    - write: [".git/**/*"]\n'
DENY = f"  deny:\n{DENIED_BASH}{DENIED_WRITE}"


def allow_bash(programs: str, denied: str = '"rm", "sudo"') -> str:
    """The good file with another list of programs for bash, and another list of denials."""
    return change(DENIED_BASH, f"    - bash: [{denied}]\n", base=change(ALLOWED_BASH, f"    - bash: [{programs}]\n"))


SAMPLES = {
    "AGT050": Sample(bad=change(TOOLS, "tools: [read, write, edit, bash, grep, glob]  # all\n"),
                     fixed=change(TOOLS, "tools: {read: true, write: true, edit: true, bash: true, grep: true, "
                                         "glob: true}  # all\n")),
    "AGT051": Sample(bad=change("  grep: true\n", "  gerp: true  # to search\n"),
                     fixed=change("  grep: true\n", "  grep: true  # to search\n")),
    "AGT052": Sample(bad=change("  grep: true\n", '  grep: "true"\n'), fixed=STANDARD),
    "AGT053": Sample(bad=change(DENY, "")),
    "AGT054": Sample(bad=change(DENIED_BASH, '    - bash: "rm"\n'),
                     fixed=change(DENIED_BASH, '    - bash: ["rm"]\n')),
    "AGT055": Sample(bad=change(DENIED_BASH, '    - bahs: ["rm", "sudo"]\n'), fixed=STANDARD),
    "AGT056": Sample(bad=change("  write: true\n", "  write: false\n"),
                     good=change("  glob: true\n", "  glob: false\n")),
    "AGT057": Sample(bad=allow_bash('"grep", "wc", "date", "rm"'), fixed=STANDARD),
    "AGT058": Sample(bad=change(ALLOWED_WRITE, '    - write: ["specs/**/*", ".git/hooks/x"]\n'), fixed=STANDARD),
    "AGT059": Sample(bad=change(ALLOWED_WRITE, '    - write: ["specs/**/*", "specs/TODO.md"]\n'), fixed=STANDARD),
    "AGT060": Sample(bad=allow_bash('"grep", "wc", "date"', '"rm", "rm", "sudo"'), fixed=STANDARD),
    "AGT061": Sample(bad=change(ALLOWED_BASH, "")),
    "AGT062": Sample(bad=change(ALLOWED_WRITE, '    - write: ["**/*"]\n'),
                     fixed=change(DENIED_WRITE, '    - write: [".git/**/*", ".remit/**/*", "remit.toml", '
                                  '".opencode/agent/**/*", "opencode.json"]\n',
                                  base=change(ALLOWED_WRITE, '    - write: ["**/*"]\n'))),
    "AGT063": Sample(bad=change(ALLOWED_WRITE, '    - write: ["../other/**"]\n')),
    "AGT064": Sample(bad=allow_bash('"grep", "rm"', '"rm -rf"'), good=allow_bash('"grep", "ls"', '"rm -rf"'),
                     fixed=allow_bash('"grep", "rm"', '"rm -rf", "rm"')),
    "AGT065": Sample(bad=allow_bash('"grep", "wc", "date", "python3"'), fixed=STANDARD),
    "AGT066": Sample(bad=change(ALLOWED_WRITE, '    - write: ["specs/**/*", "!specs/TODO.md"]\n'),
                     fixed=change(DENIED_WRITE, '    - write: [".git/**/*", "specs/TODO.md"]\n')),
    "AGT160": Sample(bad=change(ALLOWED_WRITE, '    - write: ["specs/**/*.md"]\n')),
}  # fmt: skip
