"""Claude Code in a terminal, where every subagent is in the background: the interactive program in a pseudo-terminal."""

from __future__ import annotations

import fcntl
import json
import os
import pty
import select
import signal
import struct
import subprocess
import termios
import time
from typing import TYPE_CHECKING

import pytest

from remit.testing import call, find_cli, say
from tests.support.harness_hooks import ask, get_report, hand, list_runs, set_up
from tests.support.harness_workspace import WAIT_S

if TYPE_CHECKING:
    from pathlib import Path

    from tests.support.harness_workspace import Stage

pytestmark = pytest.mark.slow

SCRIPTS = {
    "main": [
        ask("lie"),
        say("The scribe works."),
        ask("work"),
        say("The scribe works again."),
        say("All is done."),
    ],
    "lie": [call("bash", command="true"), hand("never.md")],
    "work": [call("write", path="notes.md", content="# Notes\n"), hand("notes.md")],
}
ROWS, COLUMNS = 50, 160
ANSWERS = {b"\x1b[6n": b"\x1b[1;1R", b"\x1b[c": b"\x1b[?1;2c"}
"""What a terminal answers when a program asks where its cursor is, and what it can do."""


def open_at_prompt(stage: Stage) -> None:
    """Answer beforehand whatever Claude Code asks a user at its first start."""
    folder = stage.home / ".claude"
    folder.mkdir(exist_ok=True)
    trusted = {"hasTrustDialogAccepted": True, "hasCompletedProjectOnboarding": True}
    known = {
        "hasCompletedOnboarding": True,
        "theme": "dark",
        "customApiKeyResponses": {"approved": ["scripted"], "rejected": []},
        "bypassPermissionsModeAccepted": True,
        "projects": {str(stage.root): trusted},
    }
    (folder / ".claude.json").write_text(json.dumps(known))
    (folder / "settings.json").write_text(json.dumps({"skipDangerousModePermissionPrompt": True}))


def talk(stage: Stage, script: str, last: int) -> str:
    """Let the program play a script in a terminal until its model was asked for the last turn; what it has shown."""
    program = find_cli("claude")
    assert program is not None
    words = [program, "--permission-mode=bypassPermissions", f"{stage.mark(script)} Do it."]
    environ = stage.environ | {"IS_SANDBOX": "1", "TERM": "xterm-256color"}
    terminal, theirs = pty.openpty()
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))
    shown = b""
    with subprocess.Popen(
        words, cwd=stage.root, env=environ, stdin=theirs, stdout=theirs, stderr=theirs, start_new_session=True
    ) as process:
        try:
            until = time.monotonic() + WAIT_S
            while time.monotonic() < until and not stage.asked(script, last):
                if not select.select([terminal], [], [], 0.1)[0]:
                    continue
                piece = os.read(terminal, 65536)
                shown += piece
                for question, answer in ANSWERS.items():
                    if question in piece:
                        os.write(terminal, answer)
        finally:
            os.killpg(process.pid, signal.SIGKILL)
    os.close(theirs)
    os.close(terminal)
    return shown.decode(errors="replace")


def test_in_a_terminal_a_lie_comes_with_its_verdict_and_an_honest_return_with_its_result(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with set_up("claude", SCRIPTS, tmp_path, monkeypatch) as stage:
        open_at_prompt(stage)
        shown = talk(stage, "main", 4)
        lie, work = list_runs(stage)
        assert (lie.status, lie.verdict, work.status, work.verdict) == ("failed", "fabricated", "completed", "accepted")
        assert [get_report(stage, run).attempts for run in (lie, work)] == [3, 1]
        assert "async" in json.dumps(stage.asked("main", 1)).lower(), "the agent was not in the background"
        verdict = f"the return of scribe ({lie.session_id}) was not accepted: failed, fabricated"
        requests = [request for step in range(5) for request in stage.asked("main", step)]
        assert [step for step in range(5) if verdict in stage.asked("main", step)[0]] == [2, 3, 4], shown
        assert [request for request in requests if "never.md" in request and verdict not in request] == []
        assert f"Remit checked the return of scribe ({work.session_id}): completed" in stage.asked("main", 4)[0]
        for run in (lie, work):
            assert (run.tokens or 0) > 0
