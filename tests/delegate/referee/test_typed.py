"""What is typed into a program that runs: it is judged where a harness tells of it, and where none does, not begun."""

import os
from pathlib import Path

import pytest

from remit.delegate.referee.events import Event
from remit.delegate.referee.guarding import judge_event, make_ground
from remit.policy import Decision, Permissions
from remit.workspace.ledger.refereed import Refereed

RULES = Permissions(None, {}, {"bash": ("touch", "rm")})


def ask(root: Path, tool: str, *, rules: Permissions = RULES, **given: object) -> Decision:
    """What is said of a call of an agent in Codex."""
    payload = {
        "hook_event_name": "PreToolUse",
        "cwd": str(root),
        "tool_name": tool,
        "tool_input": given,
    }
    event = Event(payload, "codex")
    own = Refereed("sess_1_a", "codex", "s", "scribe")
    return judge_event(event, own, [rules], make_ground(str(root), str(root), str(root), os.environ))


@pytest.mark.parametrize(
    "chars",
    ["!touch x\n", "\n:!touch x\n\n", "touch x\r", "ls\ntouch x\n", "!echo a > remit.toml\n", ":!rm\n", "!r''m x\n"],
)
def test_each_line_that_is_typed_is_judged_as_a_command(tmp_path: Path, chars: str) -> None:
    assert ask(tmp_path, "write_stdin", session_id=1, chars=chars).answer == "deny"


@pytest.mark.parametrize("chars", ["!$x\n", "eval $y\n", "!touch \x01x\n", "a\n" * 300])
def test_what_cannot_be_read_of_it_is_asked_about(tmp_path: Path, chars: str) -> None:
    assert ask(tmp_path, "write_stdin", session_id=1, chars=chars).answer != "allow"


@pytest.mark.parametrize("chars", ["", "q", "y\n", "\x03", "\x1b", "n\r", "print(1)\n", "ls -l\n", "help\n"])
def test_answers_and_keys_that_end_a_program_are_let_through(tmp_path: Path, chars: str) -> None:
    assert ask(tmp_path, "write_stdin", session_id=1, chars=chars).answer == "allow"


@pytest.mark.parametrize(
    "command",
    [
        "less README.md", "git log | less", "more x", "vim x", "nano x", "view x", "bash", "sh -s", "bash -i",
        "env bash",
        "timeout 9 sh", "python3", "python3 -i x.py", "node", "psql", "sqlite3 x.db", "gdb ./a", "cat | sh",
        "read x; $x",
        "man -P less ls", "PAGER=less git log", "git -c core.pager=less log", "unset PAGER GIT_PAGER; git log", "ed x",
        "env -u GIT_PAGER git log", "unshare -r", "sudo -i", "script", "tmux new", "ssh host", "python3 -m pdb x.py",
    ],
)  # fmt: skip
def test_codex_begins_nothing_that_is_told_later_what_to_do(tmp_path: Path, command: str) -> None:
    """It calls no hook for what is sent to a program that runs, so that nobody could judge it."""
    decision = ask(tmp_path, "Bash", rules=Permissions(), command=command)
    assert decision.answer == "deny"
    assert "typed later" in decision.reason


@pytest.mark.parametrize(
    "command",
    [
        "git log", "man ls", "cat README.md", "python3 <<'E'\nprint(1)\nE", "timeout 5 python3 - <<< 'print(1)'",
        "bash build.sh", "bash -c 'ls'", "psql -c 'select 1'", "sqlite3 x.db 'select 1'", "ssh host ls",
        "cat <<E | sh\nls\nE",
        "while read l; do echo $l; done < f", "cat f | while read l; do echo $l; done", "ls | xargs wc -l",
        "sort f | tee g",
        "uv run python <<'E'\nprint(1)\nE", "GIT_PAGER=cat git log", "exec > >(tee run.log) 2>&1", "top -bn1",
    ],
)  # fmt: skip
def test_what_ends_by_itself_is_begun(tmp_path: Path, command: str) -> None:
    assert ask(tmp_path, "Bash", rules=Permissions(), command=command).answer == "allow"
