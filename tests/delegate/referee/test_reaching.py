"""Remit's own code: agents ask at its doors, and do not get at its modules or its ledger."""

import os
from pathlib import Path

import pytest

from remit.delegate.referee.events import Event
from remit.delegate.referee.guarding import judge_event, make_ground
from remit.policy import Decision, Permissions
from remit.workspace.ledger.refereed import Refereed


def ask(root: Path, command: str) -> Decision:
    """What is said of a command of an agent whose file denies nothing."""
    given = {"command": command}
    event = Event(
        {"hook_event_name": "PreToolUse", "cwd": str(root), "tool_name": "Bash", "tool_input": given}, "claude"
    )
    own = Refereed("sess_1_a", "claude", "s", "scribe")
    return judge_event(event, own, [Permissions()], make_ground(str(root), str(root), str(root), os.environ))


@pytest.mark.parametrize(
    "command",
    [
        "python3 -c 'import remit'", "python3 -c 'from remit.workspace.ledger import Ledger'",
        "python3 -c 'import json, remit.app as a'", "python3 <<'E'\nimport remit\nremit.Workspace()\nE",
        "python3 - <<< 'from remit import Workspace'", "echo 'import remit' > x.py; python3 x.py",
        "cat > x.py <<'E'\nimport remit.doors.cli\nE\npython3 x.py", "uv run python -c 'import remit'",
        "timeout 9 python3 -c 'import remit'", "python3 -c '__import__(\"remit\")'",
        "python3 -c 'import importlib; importlib.import_module(\"rem\" + \"it\")'",
        "python3 -c 'import importlib as i; i.import_module(\"timer\"[::-1])'",
        "python3 -c 'import runpy; runpy.run_module(\"remit.doors.cli\")'",
        "python3 -c 'exec(open(\"/x/site-packages/remit/doors/hook.py\").read())'",
        "python3 -c 'import sys; sys.path.insert(0, \"/x/remit/doors\"); import hook'",
        "python3 -m remit.doors.cli run x", "python3 -mremit.doors.cli run x", "python3 -m cProfile -m remit.doors.cli",
        "python3 /x/site-packages/remit/doors/hook.py", "python3 -m runpy remit.doors.cli", "python3 -m remit run x",
        "python3 -m remit trust", "bash -c 'python3 -c \"import remit\"'",
    ],
)  # fmt: skip
def test_no_code_of_an_agents_gets_at_remits_own(tmp_path: Path, command: str) -> None:
    decision = ask(tmp_path, command)
    assert decision.answer == "deny"
    assert "who asks" in decision.reason


@pytest.mark.parametrize(
    "command",
    [
        "python3 -m remit check x.json", "python3 -m remit status",
        "python3 -c 'import json; print(json.load(open(\"remit.json\")))'", "pip show remit", "grep -rn remit src",
        "python3 -c 'import importlib; importlib.import_module(\"app.views\")'", "cat src/remit.py",
        "python3 -c 'print(\"remit\")'",
    ],
)  # fmt: skip
def test_what_only_names_it_is_let_alone(tmp_path: Path, command: str) -> None:
    assert ask(tmp_path, command).answer == "allow"


@pytest.mark.parametrize(
    "command",
    [
        "sqlite3 .remit/ledger.db 'delete from events'", "sqlite3 .remit/ledger.db <<< 'delete from events'",
        "python3 -c 'import sqlite3; sqlite3.connect(\".remit/ledger.db\").execute(\"delete from events\")'",
        "python3 -c 'import sqlite3 as s; p = \".remit/ledger.db\"; s.connect(p)'",
        "python3 -c 'from sqlite3 import connect; connect(\".remit/ledger.db\")'",
        "python3 -c 'import sqlite3; sqlite3.connect(\"file:.remit/ledger.db?mode=rw\", uri=True)'",
        "cd .remit && sqlite3 ledger.db .dump", "python3 -c 'import io; io.open(\"remit.toml\", \"w\")'",
        "python3 -c 'import zipfile; zipfile.ZipFile(\"remit.toml\", \"w\")'",
        "python3 -c 'import logging; logging.FileHandler(\".mcp.json\")'",
        "python3 -c 'import xml.etree.ElementTree as e; e.ElementTree(e.Element(\"a\")).write(\".mcp.json\")'",
        "python3 -c 'import pandas as p; p.DataFrame().to_feather(\"remit.toml\")'",
    ],
)  # fmt: skip
def test_nor_is_its_ledger_opened_by_other_programs(tmp_path: Path, command: str) -> None:
    assert ask(tmp_path, command).answer != "allow"
