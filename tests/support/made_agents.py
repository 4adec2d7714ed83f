"""What `remit agent new` writes for each harness."""

from __future__ import annotations

OPENCODE = "---\ndescription: Finds things out for others.\nmode: subagent\n---\n\nYou work.\n"
CODEX = 'name = "x"\ndescription = "Finds things out."\ndeveloper_instructions = "You work."\n'
