"""A confined run from the request to the result: the work counts, and no planted file is left."""

from __future__ import annotations

import asyncio
import shlex
import shutil
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from remit.app.delegating.asking import Request
from remit.app.delegating.workspace import Workspace
from remit.confine import find_level
from remit.errors import UsageError
from remit.testing.agent import ScriptedAgent
from tests.doors.cli.test_lint import git

if TYPE_CHECKING:
    from collections.abc import Iterator

    from remit.schemas import Result

pytestmark = pytest.mark.skipif(not find_level().has_files, reason="the kernel confines nothing here")
PLANT = (
    "echo evil > remit.toml; echo evil > .mcp.json; mkdir -p .claude agents .codex; echo evil > .claude/settings.json; "
    "echo evil > agents/x.md; echo evil > .codex/config.toml; echo evil > .git/hooks/post-commit; "
    "git config core.fsmonitor evil; mv .git away; "
)


@pytest.fixture
def place() -> Iterator[Path]:
    """A folder outside of /tmp, which is empty for a confined agent."""
    folder = Path(tempfile.mkdtemp(prefix="remit-confined-", dir="/var/tmp"))
    yield folder
    shutil.rmtree(folder)


@pytest.fixture
def root(place: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ("REMIT_TICKET", "REMIT_SESSION_ID", "REMIT_ROOT"):
        monkeypatch.delenv(name, raising=False)
    (place / "root").mkdir()
    git(place / "root", "init", "-q", "-b", "main")
    return place / "root"


def run(root: Path, command: str, *, worktree: bool = False) -> Result:
    async def delegate() -> Result:
        async with Workspace.open(root) as ws:
            return await ws.run(Request(None, "Write it.", command=command, confine=True, worktree=worktree, reasks=0))

    return asyncio.run(delegate())


@pytest.mark.skipif(__file__.startswith("/tmp/"), reason="a confined agent sees /tmp empty, and this checkout is in it")  # noqa: S108
def test_the_work_counts_and_nothing_is_planted(root: Path) -> None:
    command = ScriptedAgent(root / "player").obeys({"report.md": "# Report"}).command
    before = {path.relative_to(root).as_posix() for path in root.rglob("*")}
    config = (root / ".git" / "config").read_text()
    told = run(root, f"sh -c {shlex.quote(PLANT + command)}")
    assert (told.status, told.verdict) == ("completed", "accepted"), told
    assert (root / "report.md").read_text() == "# Report"
    after = {path.relative_to(root).as_posix() for path in root.rglob("*")}
    assert {name for name in after - before if not name.startswith((".remit", "player/"))} == {"report.md"}
    assert (root / ".git" / "config").read_text() == config


RULES = """---
name: writer
description: Writes the guide.
permissions:
  allow:
    - write: ["docs/**", "notes/**"]
    - read: ["**/*"]
  deny:
    - write: ["docs/frozen/**", "**/*.lock"]
    - read: ["secret/**", ".remit/**"]
---

Write it.
"""
TRIED = (
    "docs/new.md", "docs/frozen/a.md", "docs/x.lock", "notes/a.md", "src.py", "agents/writer.md", "secret/key",
    ".git/hooks/pre-commit", ".git/index.lock",
)  # fmt: skip


def test_a_confined_agent_has_its_permissions_and_the_result_says_what_differs(root: Path) -> None:
    for name in ("docs/frozen/a.md", "docs/x.lock", "src.py", "secret/key"):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text("old\n")
    (root / "agents").mkdir()
    (root / "agents" / "writer.md").write_text(RULES)
    tries = "; ".join(f"(echo x > {name}) 2>/dev/null && echo {name} >> docs/written" for name in TRIED)
    (root / "agent.py").write_text(HANDS_IN.replace("prompt.txt", "docs/prompt.txt").replace('"command"', '"writer"'))
    script = f"{tries}; cat secret/key > docs/read; python3 agent.py"

    async def delegate() -> Result:
        async with Workspace.open(root) as ws:
            command = f"sh -c {shlex.quote(script)}"
            return await ws.run(Request("writer", "Write it.", command=command, confine=True, reasks=0))

    result = asyncio.run(delegate())
    assert (result.status, result.verdict) == ("completed", "accepted"), [result.summary, result.diagnostics]
    assert (root / "docs" / "written").read_text().split() == ["docs/new.md", "notes/a.md", ".git/index.lock"]
    assert (root / "docs" / "read").read_text() == ""
    assert [note for note in result.notes if note.startswith("confine: ")] == [
        'confine: deny write "**/*.lock": 1 that match stay read-only; a command can create others',
        "confine: deny read: the agent needs its files in '.remit', so what contains them isn't hidden",
    ], result


def test_a_function_is_not_confined(root: Path) -> None:
    async def delegate() -> None:
        async with Workspace.open(root) as ws:
            await ws.delegate("x", "Write it.", function=lambda _: "", confine=True)

    with pytest.raises(UsageError, match="a function can't be confined"):
        asyncio.run(delegate())


HANDS_IN = """
import json, os, sys
from pathlib import Path

Path("prompt.txt").write_text(sys.stdin.read())
metadata = {"session_id": os.environ["REMIT_SESSION_ID"], "agent_type": "command", "delegation_depth": 1,
            "delegation_path": ["orchestrator", "command"], "duration_seconds": 1}
value = {"status": "completed", "summary": "The notes are written.", "artifacts": [], "metadata": metadata,
         "errors": []}
Path(os.environ["REMIT_RETURN_FILE"]).write_text(json.dumps(value))
print("Done.")
"""


def test_a_confined_agent_is_offered_the_file_for_its_return_and_writes_it(root: Path) -> None:
    (root / "agent.py").write_text(HANDS_IN)
    result = run(root, "python3 agent.py")
    assert (result.status, result.verdict) == ("completed", "accepted"), result.diagnostics
    prompt = (root / "prompt.txt").read_text()
    assert "REMIT_RETURN_FILE" in prompt
    assert "remit return submit" not in prompt
