"""What benchmarks of delegations have in common: an agent that does nothing, and repositories that it works in."""

from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

RETURN = (
    '{"status": "completed", "summary": "Nothing was to be done, and nothing was done.", "artifacts": [],'
    ' "metadata": {"session_id": "%s", "agent_type": "noop", "delegation_depth": 1,'
    ' "delegation_path": ["orchestrator", "noop"]}, "errors": []}'
)
"""A return as the standard has it, for any session."""
_FILES, _FILE_BYTES = 300, 10_000


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


def write_project(root: Path) -> None:
    """A project of 300 files and 3 MB in folders of ten, in git."""
    for number in range(_FILES):
        folder = root / "src" / f"part{number // 10:02d}"
        folder.mkdir(parents=True, exist_ok=True)
        line = f"value_{number} = {number}\n"
        (folder / f"module{number % 10}.py").write_text(line * (_FILE_BYTES // len(line)))
    make_repository(root)
