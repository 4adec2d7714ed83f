"""What the parts of `bench/delegate.py` have in common: an agent that does nothing, and a row of a table."""

from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from pathlib import Path

RETURN = (
    '{"status": "completed", "summary": "Nothing was to be done, and nothing was done.", "artifacts": [],'
    ' "metadata": {"session_id": "%s", "agent_type": "noop", "delegation_depth": 1,'
    ' "delegation_path": ["orchestrator", "noop"]}, "errors": []}'
)
"""A return as the standard has it, for any session."""


class Row(NamedTuple):
    """One thing that was measured."""

    what: str
    value: float
    unit: str
    goal: float | None = None
    is_least: bool = False
    """Whether the goal is to be reached, rather than kept below."""
    remark: str = ""

    @property
    def is_missed(self) -> bool:
        """Whether there was a goal and it was not reached."""
        if self.goal is None:
            return False
        return self.value < self.goal if self.is_least else self.value > self.goal


def print_rows(rows: list[Row]) -> int:
    """Print a table; 1 when a goal is missed."""
    for row in rows:
        sign = "≥" if row.is_least else "≤"
        goal = "" if row.goal is None else f"  goal {sign} {row.goal:g}{' MISSED' if row.is_missed else ''}"
        remark = f"  {row.remark}" if row.remark else ""
        print(f"{row.what:<58} {row.value:9.2f} {row.unit:<3}{goal}{remark}", flush=True)
    return int(any(row.is_missed for row in rows))


def write_agent(folder: Path, *, seconds: float = 0, writes: str = "") -> str:
    """A program that does nothing, or sleeps and writes a file, and says so; the command line that runs it."""
    file = folder / f"agent-{seconds:g}.sh"
    lines = [f"sleep {seconds:g}"] * bool(seconds) + [f"echo done > {writes}"] * bool(writes)
    told = RETURN.replace('"artifacts": []', f'"artifacts": [{_claim(writes)}]')
    lines.append(f"printf '```json\\n{told}\\n```\\n' \"$REMIT_SESSION_ID\"")
    file.write_text("\n".join(lines) + "\n")
    return f"/bin/sh {file}"


def _claim(path: str) -> str:
    return f'{{"type": "report", "path": "{path}", "summary": "What was written."}}' if path else ""


def make_repository(folder: Path) -> None:
    """A repository with all that is in a folder."""
    for words in (["init", "-q"], ["add", "-A"], ["commit", "-q", "--allow-empty", "-m", "All"]):
        command = ["git", "-c", "user.name=Bench", "-c", "user.email=bench@localhost", *words]
        subprocess.run(command, cwd=folder, check=True)  # noqa: S603 - fixed words
