"""Workspaces to torture: a small one with everything in it, and how one looks from outside.

Owns the sample and the comparison of two workspaces. A look is everything that people or programs would find, without
what differs from one run to the next: times, and what SQLite keeps for itself.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import sqlite3
import subprocess
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from pathlib import Path

STATE: Final = "specs/state.json"
TODO: Final = "specs/TODO.md"
PLAN: Final = "specs/12_export_button/plans/implementation-001.md"
MANIFEST: Final = "claudedocs/agent-outputs/MANIFEST.jsonl"
COMMITS: Final = "(commits)"
"""In a look: each commit, with its files."""
ERRORS: Final = "specs/errors.json"

_TIMES = re.compile(
    rb"\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:?\d\d)?)?|(?<!\d)1[78]\d{8}(?:\d{3})?(?!\d)"
)
_CHANCE = re.compile(rb"(err_\(time\))_[0-9a-f]{6}")
_TABLES = ("runs", "attempts", "events", "spills", "activity", "notes")
_LASTING = re.compile(r"\.remit(/\.gitignore|/ledger\.db(-wal|-shm|\.lock|\.checkpoint)?|/locks/\w+\.lock|/lint/.*)?")

_TASKS = [
    {
        "project_number": 12,
        "project_name": "export_button",
        "status": "planned",
        "priority": "high",
        "language": "general",
        "created": "2026-01-05T10:00:00Z",
        "plan_path": PLAN,
    },
    {"project_number": 13, "project_name": "login_page", "status": "not_started", "priority": "low", "own": [1, {}]},
    {"project_number": 9, "project_name": "old_parser", "status": "completed", "priority": "low"},
]
_ERROR = {
    "id": "err_1",
    "timestamp": "2026-01-05T10:00:00Z",
    "type": "execution",
    "severity": "high",
    "message": "the build failed",
    "fix_status": "not_addressed",
}
_TODO_TEXT = """\
---
next_project_number: 14
---

# TODO

## High Priority

### 12. Export button
- **Effort**: 2 hours
- **Status**: [PLANNED]
- **Plan**: [implementation-001.md](12_export_button/plans/implementation-001.md)

**Description**: A button.

---

## Low Priority

### 13. Login page
- **Status**: [NOT STARTED]

---

### 9. Old parser
- **Status**: [COMPLETED]
"""
_PLAN_TEXT = """\
# Implementation Plan: Export button
- **Task**: 12
- **Status**: [PLANNED]

## Implementation Phases

### Phase 1: Draw it [COMPLETED]
- Do it.

### Phase 2: Wire it up [NOT STARTED]
- Do that, too.
"""
_FINDINGS_TEXT = """\
# A topic

## Summary

It works. It is small.

## Findings

### All

- Use one button.

## Recommendations

- Do it.

## Sources

- A book.

## Linked Tasks

- 12
"""


def make_entry(number: int, **changes: object) -> dict[str, object]:
    """An entry of the manifest that no rule has anything against."""
    return {
        "id": f"topic-{number}-2026-01-05",
        "file": f"2026-01-05_topic-{number}.md",
        "title": f"Topic {number}",
        "date": "2026-01-05",
        "status": "complete",
        "topics": ["export", f"topic-{number}"],
        "key_findings": ["Use one button for all formats.", "Keep the menu short.", "Name files by their date."],
        "actionable": True,
        "needs_followup": [],
        "linked_tasks": ["12"],
        **changes,
    }


def make_workspace(root: Path) -> None:
    """Tasks with a plan, a manifest with three entries, an error, and git."""
    state = {"next_project_number": 14, "active_projects": _TASKS, "completed_projects": []}
    entries = [json.dumps(make_entry(number)) for number in range(3)]
    contents = {
        STATE: json.dumps(state, indent=2) + "\n",
        TODO: _TODO_TEXT,
        PLAN: _PLAN_TEXT,
        MANIFEST: "".join(f"{line}\n" for line in entries),
        ERRORS: json.dumps({"_schema_version": "1.0.0", "errors": [_ERROR]}, indent=2) + "\n",
        "claudedocs/agent-outputs/2026-01-05_topic-0.md": _FINDINGS_TEXT,
        "claudedocs/agent-outputs/2026-01-06_added-1.md": _FINDINGS_TEXT,
        "claudedocs/agent-outputs/2026-01-06_added-2.md": _FINDINGS_TEXT,
        "remit.toml": "",
    }
    for name, text in contents.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text, encoding="utf-8")
    run_git(root, "init", "--quiet", "--initial-branch=main", "--template=")
    run_git(root, "config", "user.name", "A Person")
    run_git(root, "config", "user.email", "person@example.invalid")
    run_git(root, "add", "--all")
    run_git(root, "commit", "--quiet", "--message=Begin")
    (root / ".git" / "begun").write_bytes(_read_git(root))


def run_git(root: Path, *arguments: str) -> str:
    """What git says, without anybody's own settings."""
    quiet = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull, "LC_ALL": "C"}
    done = subprocess.run(
        ["git", "-C", str(root), *arguments],
        env={**os.environ, **quiet},
        check=True,
        capture_output=True,
        text=True,
    )
    return done.stdout


def copy_workspace(root: Path, target: Path) -> None:
    """A copy to torture."""
    if target.exists():
        shutil.rmtree(target)
    shutil.copytree(root, target, symlinks=True)


def look_at(root: Path) -> dict[str, bytes]:
    """Every file that is people's, the rows of the ledger, and git's commits; times and their like made equal."""
    seen = {
        str(file.relative_to(root)): _make_equal(file.read_bytes(), root)
        for file in sorted(root.rglob("*"))
        if file.is_file() and not _is_own(file.relative_to(root))
    }
    seen["(ledger)"] = _make_equal(_read_ledger(root / ".remit" / "ledger.db"), root)
    if _read_git(root) != (root / ".git" / "begun").read_bytes():  # to ask git takes longer than all the rest
        seen[COMMITS] = run_git(root, "log", "--format=%s", "--name-status").encode()
        first = run_git(root, "rev-list", "--max-parents=0", "HEAD").strip()
        seen["(committed)"] = run_git(root, "diff", "--name-status", first, "HEAD").encode()
        seen["(staged)"] = run_git(root, "diff", "--cached", "--name-status").encode()
    return seen


def _read_git(root: Path) -> bytes:
    """What changes when something is committed or staged."""
    return (root / ".git/refs/heads/main").read_bytes() + (root / ".git/index").read_bytes()


def _is_own(name: Path) -> bool:
    return name.parts[0] in {".remit", ".git"} or name.suffix == ".lock" or is_litter(str(name))


def is_litter(name: str) -> bool:
    """Whether a name is one that a file has only while it is written."""
    base = name.rpartition("/")[2]
    return base.startswith(".remit-")


def _make_equal(data: bytes, root: Path) -> bytes:
    return _CHANCE.sub(rb"\1", _TIMES.sub(b"(time)", data.replace(bytes(root), b"(root)")))


def _read_ledger(file: Path) -> bytes:
    if not file.exists():
        return b""
    db = sqlite3.connect(file)
    try:
        there = {row[0] for row in db.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")}
        rows = [(table, db.execute(f"SELECT * FROM {table}").fetchall()) for table in _TABLES if table in there]  # noqa: S608 - names from this file
    finally:
        db.close()
    # Which steps a settlement did and which it found done differs where an earlier one was cut short.
    # So does the number of an event that comes after one that was not kept.
    shown = [
        f"{table}: {row[table == 'events' :]}" for table, found in rows for row in found if "finish_steps" not in row
    ]
    return "\n".join(shown).encode()


def find_damage(root: Path) -> list[str]:
    """What is wrong with a workspace whatever happened in it: the ledger's file, changes that nobody finished."""
    file = root / ".remit" / "ledger.db"
    if not file.exists():
        return []
    db = sqlite3.connect(file)
    try:
        damage = [row[0] for row in db.execute("PRAGMA integrity_check") if row[0] != "ok"]
        damage += [f"a reference leads nowhere: {row}" for row in db.execute("PRAGMA foreign_key_check")]
        if db.execute("SELECT 1 FROM sqlite_schema WHERE name = 'intents'").fetchone():
            damage += [f"unfinished: {row}" for row in db.execute("SELECT kind FROM intents")]
    except sqlite3.DatabaseError as error:
        damage = [str(error)]
    finally:
        db.close()
    return damage


def list_litter(root: Path) -> list[str]:
    """Files that nobody will look for again."""
    names = [str(file.relative_to(root)) for file in sorted(root.rglob("*")) if file.is_file()]
    own = [name for name in names if name.startswith(".remit/")]
    return [name for name in names if is_litter(name)] + [
        name for name in own if not _LASTING.fullmatch(name) and not is_litter(name)
    ]


def tell_difference(seen: dict[str, bytes], wanted: dict[str, bytes]) -> list[str]:
    """What differs between two looks, the first difference of each file."""
    return [
        f"{name}: {_show(seen.get(name), wanted.get(name))} instead of {_show(wanted.get(name), seen.get(name))}"
        for name in sorted(seen.keys() | wanted.keys())
        if seen.get(name) != wanted.get(name)
    ]


def _show(data: bytes | None, other: bytes | None) -> str:
    """The part of a file where it begins to differ from another."""
    if data is None:
        return "nothing"
    same = next((place for place, (a, b) in enumerate(zip(data, other or b"", strict=False)) if a != b), len(data))
    return repr(data[max(0, same - 40) : same + 120])
