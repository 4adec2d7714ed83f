"""Folders that may not be looked into: no command takes what it cannot see for nothing."""

import ctypes
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.commands import Ended, Remit

AGENT = "---\nname: a\ndescription: Looks things up.\n---\n\nLook it up.\n"
DROP, READ_ANYTHING = 24, (1, 2)
"""What Linux calls PR_CAPBSET_DROP, CAP_DAC_OVERRIDE and CAP_DAC_READ_SEARCH."""


def obey_permissions() -> None:
    """Have a process that is about to begin be bound by permissions, also where root starts it."""
    for each in READ_ANYTHING if os.geteuid() == 0 else ():
        assert ctypes.CDLL(None).prctl(DROP, each, 0, 0, 0) == 0


class Closed(Remit):
    """Remit in a workspace of which a folder is closed."""

    def close(self, name: str, mode: int = 0) -> None:
        """Close a folder, which is made if there is none."""
        folder = self.folder / name
        folder.mkdir(parents=True, exist_ok=True)
        folder.chmod(mode)
        shown = self(prelude=("-c", f"import os; os.stat({str(folder / 'x')!r})"))
        assert b"Permission denied" in shown.err, "it is closed"

    def __call__(self, *args: str, text: str | bytes | None = None, **options: Any) -> Ended:  # noqa: ANN401
        """Run a command as somebody whom permissions bind."""
        return super().__call__(*args, text=text, preexec_fn=obey_permissions, **options)


@pytest.fixture
def workspace(tmp_path: Path, repository: None) -> Iterator[Closed]:
    del repository
    yield Closed(tmp_path)
    for name in (".", ".claude/agents", "data", "specs"):
        if (tmp_path / name).exists():
            (tmp_path / name).chmod(0o755)


JUDGED = "can't be read, so its agents aren't checked; make it readable, or add it to lint.exclude"
SENTENCE = "'.claude/agents' can't be read: permission denied"


@pytest.mark.parametrize("command", ["lint", "agent graph", "lint --fix", "agent build --to claude", "run a Do"])
def test_agents_that_cannot_be_seen_are_not_none(workspace: Closed, command: str) -> None:
    workspace.close(".claude/agents")
    ended = workspace(*command.split())
    assert (ended.code, ended.text) == (2, "")
    assert ended.complaint.startswith(SENTENCE)


def test_the_doctor_has_a_problem_with_them(workspace: Closed) -> None:
    workspace.close(".claude/agents")
    ended = workspace("doctor")
    assert ended.code == 1
    assert f"✗ agents       {SENTENCE}" in ended.text


def test_remit_alone_does_not_suggest_to_make_a_first_one(workspace: Closed) -> None:
    workspace.close(".claude/agents")
    text = workspace().text
    assert f"check what is wrong here: {SENTENCE}" in text
    assert "first agent" not in text


def test_lint_says_which_other_folders_it_could_not_look_into(workspace: Closed) -> None:
    workspace.close("data")
    ended = workspace("lint")
    assert (ended.code, ended.err.decode()) == (
        0,
        f"note: 'data' {JUDGED}\n",
    )
    assert "'data' can't be read" in workspace("doctor").text
    workspace.write("remit.toml", '[lint]\nexclude = ["data"]\n')
    assert workspace("lint").err == b""


@pytest.mark.parametrize("command", ["status", "lint", "doctor", "task list", "ps", ""])
def test_a_workspace_that_cannot_be_seen_is_not_an_empty_one(workspace: Closed, command: str) -> None:
    workspace.close(".")
    ended = workspace(*command.split())
    assert (ended.code, ended.text) == (2, "")
    assert ended.complaint.startswith(f"'{workspace.folder}' can't be read: permission denied")
    elsewhere = workspace(*command.split(), cwd="/", env={"REMIT_ROOT": str(workspace.folder)})
    assert elsewhere.code == 2


def test_the_status_tells_which_part_cannot_be_seen(workspace: Closed) -> None:
    workspace("task", "new", "A task")
    workspace.close("specs")
    ended = workspace("status")
    assert ended.code == 1
    assert " ".join(ended.text.split()).count("specs' can't be read: permission") == 2, "tasks and errors"
    assert workspace("errors", "list").code == 2
