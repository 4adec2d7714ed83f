"""What the tests of confined subagents share: agents that may write to one folder, and scripts that try others."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from remit.confine import find_level
from remit.hooks.command_tickets import FOLDER

if TYPE_CHECKING:
    from tests.support.harness_workspace import Stage

LIMITED = """\
---
name: {name}
version: 1.0.0
description: "Does its part"
mode: subagent
agent_type: implementation
temperature: 0.2
tools:
  read: true
  write: true
  bash: true
permissions:
  allow:
    - write: ["{target}/**"]
---

# {name}

These are the instructions of {name}.
"""
"""An agent that may write to one folder."""
EVIL = ("remit.toml", ".codex/config.toml", ".opencode/x.json", ".git/hooks/post-commit", "agents/new.md", "new")


def check_kernel() -> None:
    """Skip where the kernel can't limit commands."""
    level = find_level()
    if not level.has_files:
        pytest.skip(f"the kernel confines nothing here: {'; '.join(level.reasons)}")


def write_scripts(stage: Stage) -> None:
    """Scripts that are there before an agent begins: the policy can't know what is in them."""
    for folder in ("docs", "src"):
        (stage.root / folder).mkdir()
    both = 'echo "$1" > "docs/$1-docs"; echo "$1" > "src/$1-src"; true\n'
    (stage.root / "both.sh").write_text(both)
    (stage.root / "evil.sh").write_text("".join(f"echo evil > {path}\n" for path in EVIL))
    lines = (f"try: open({path!r}, 'w').write('evil')\nexcept OSError as error: print(error)\n" for path in EVIL)
    (stage.root / "evil.py").write_text("".join(lines))


def list_made(stage: Stage, folder: str) -> set[str]:
    """The names in a folder; none if it isn't there."""
    place = stage.root / folder
    return {path.name for path in place.iterdir()} if place.is_dir() else set()


def find_tickets(stage: Stage) -> list[str]:
    """The tickets that are left."""
    return sorted(list_made(stage, f"{FOLDER}/tickets"))
