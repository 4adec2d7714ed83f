"""Manual edits of state.json and TODO.md: whatever a user writes there, no command loses a word of it."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest

from remit.cli import run
from remit.ledger.home import Home
from remit.tasks.task import MARKERS

if TYPE_CHECKING:
    from pathlib import Path

COMMANDS = {
    "move": ("task", "set-status", "1", "researching"),
    "sync": ("task", "sync"),
    "repair": ("task", "sync", "--repair"),
    "archive": ("task", "archive"),
}
STATE: dict[str, Any] = {
    "_schema_version": "1.1",
    "next_project_number": 5,
    "active_projects": [
        {"project_number": 1, "project_name": "pay_invoices", "title": "Pay invoices", "status": "not_started",
         "priority": "high", "created": "2026-01-01T00:00:00Z", "last_updated": "2026-01-01T00:00:00Z"},
        {"project_number": 2, "project_name": "export_button", "title": "Export button", "status": "planned",
         "created": "2026-01-02T00:00:00Z", "owner": "ada", "artifacts": [{"path": "specs/002_x/sketch.txt"}]},
        {"project_number": 3, "project_name": "login_page", "title": "Login page", "status": "completed",
         "created": "2026-01-03T00:00:00Z", "description": "With a picture."},
        {"project_number": 4, "project_name": "search_box", "title": "Search box", "status": "blocked",
         "created": "2026-01-04T00:00:00Z", "blocked_reason": "waiting for design"},
    ],
    "completed_projects": [{"project_number": 0, "project_name": "parser", "completed": "2025-12-02"}],
}  # fmt: skip
TODO = """\
---
next_project_number: 5
---

# TODO

## High Priority

### 1. Pay invoices
- **Status**: [NOT STARTED]
- **Priority**: High

## Medium Priority

### 2. Export button
- **Status**: [PLANNED]

**Description**: A button for tables.

### 3. Login page
- **Status**: [COMPLETED]

### 4. Search box
- **Status**: [BLOCKED]
- **Blocked Reason**: waiting for design
"""
GOOD = json.dumps(STATE, indent=2) + "\n"
NEW_TASK = '{"project_number": 5, "project_name": "dark_mode", "status": "not_started", "wanted": "by everyone"}'
SAME_NUMBER = '{"project_number": 2, "project_name": "dark_mode", "status": "not_started", "wanted": "by everyone"}'
CONFLICT = "<<<<<<< HEAD\n{ours}=======\n{theirs}>>>>>>> branch\n"


class Edit(NamedTuple):
    """What a user has made of the two files; None removes one."""

    state: str | bytes | None = GOOD
    todo: str | bytes | None = TODO


def in_state(old: str, new: str) -> Edit:
    """Replace some text in state.json, once."""
    assert old in GOOD
    return Edit(state=GOOD.replace(old, new, 1))


def in_todo(old: str, new: str) -> Edit:
    """Replace some text in TODO.md, once."""
    assert old in TODO
    return Edit(todo=TODO.replace(old, new, 1))


def below(number: int, lines: str) -> Edit:
    """Write lines below the status of a task."""
    at = TODO.index("\n", TODO.index("**Status**", TODO.index(f"### {number}."))) + 1
    return Edit(todo=TODO[:at] + lines + TODO[at:])


FIRST = '{\n      "project_number": 1,'
SECTION_2 = TODO[TODO.index("### 2.") : TODO.index("### 3.")]
BOTH_STATE = CONFLICT.format(ours='      "status": "planned",\n', theirs='      "status": "implementing",\n')
BOTH_TODO = CONFLICT.format(
    ours="### 5. Dark mode\n- **Status**: [NOT STARTED]\n", theirs="### 5. Light mode\n- **Status**: [PLANNED]\n"
)
EDITS = {
    "a note below a task": below(1, "\nRemember the discount of Mr. Miller.\n"),
    "a note as a field": below(2, "- **Remember**: call Rotterdam\n"),
    "a note between sections": in_todo("## Medium Priority", "Ask about Lisbon first.\n\n## Medium Priority"),
    "a note in the header": in_todo("next_project_number: 5", "next_project_number: 5\nowner: grace"),
    "a note at the end without a line break": Edit(todo=TODO + "\nThe last word: Hopper"),
    "another title in TODO.md": in_todo("Pay invoices", "Pay supplier invoices"),
    "another title in state.json": in_state('"Pay invoices"', '"Pay supplier invoices"'),
    "a title with odd characters": in_todo("Export button", "Export [button] — `für` *Zoë* <b>"),
    "no title": in_todo("### 4. Search box", "### 4."),
    "another status in TODO.md": in_todo("[NOT STARTED]", "[PLANNING]"),
    "an illegal status in TODO.md": in_todo("[NOT STARTED]", "[COMPLETED]"),
    "a status that is no marker": in_todo("[NOT STARTED]", "[almost finished]"),
    "another status in state.json": in_state('"planned"', '"implementing"'),
    "another priority": in_todo("**Priority**: High", "**Priority**: Low"),
    "a new task in TODO.md": Edit(todo=TODO + "\n### 5. Dark mode\n- **Status**: [NOT STARTED]\n- **Wish**: black\n"),
    "a new task in state.json": in_state(FIRST, f"{NEW_TASK},\n    {FIRST}"),
    "a task copied in TODO.md": Edit(todo=TODO + "\n" + SECTION_2),
    "a copy with a note": Edit(todo=TODO + "\n" + SECTION_2 + "Only in the copy: Bergen.\n"),
    "a number given twice in TODO.md": Edit(todo=TODO + "\n### 2. Dark mode\n- **Status**: [NOT STARTED]\n"),
    "a number given twice in state.json": in_state(FIRST, f"{SAME_NUMBER},\n    {FIRST}"),
    "a number given twice in both": Edit(
        GOOD.replace(FIRST, f"{SAME_NUMBER},\n    {FIRST}", 1),
        TODO + "\n### 2. Dark mode\n- **Status**: [NOT STARTED]\n- **Wish**: black\n",
    ),
    "a task in two versions of state.json": in_state(
        FIRST,
        '{"project_number": 2, "project_name": "export_button", "status": "blocked", "mine": "kept"},\n    ' + FIRST,
    ),
    "two versions with other words": in_state(
        FIRST, '{"project_number": 2, "project_name": "export_button", "owner": "grace"},\n    ' + FIRST
    ),
    "a task removed from TODO.md": Edit(todo=TODO.replace(SECTION_2, "")),
    "a task removed from state.json": Edit(
        json.dumps({**STATE, "active_projects": [*STATE["active_projects"]][1:]}, indent=2)
    ),
    "lines that end as on Windows": Edit(GOOD.replace("\n", "\r\n"), TODO.replace("\n", "\r\n")),
    "a byte order mark": Edit("\ufeff" + GOOD, "\ufeff" + TODO),
    "latin-1": Edit(GOOD.replace("ada", "José").encode("latin-1"), TODO.replace("tables", "Müller").encode("latin-1")),
    "extra keys": in_state('"_schema_version": "1.1"', '"_schema_version": "1.1", "mine": {"deep": [1, "kept"]}'),
    "big numbers": in_state('"owner": "ada"', f'"owner": "ada", "size": {"7" * 60}, "ratio": 0.1234567890123456789'),
    "another layout": Edit(json.dumps(STATE, indent="\t", ensure_ascii=False).replace(": ", " : ")),
    "a key given twice": in_state('"owner": "ada"', '"owner": "ada", "owner": "grace"'),
    "a torn state.json": Edit(GOOD[: len(GOOD) // 2]),
    "an empty state.json": Edit(""),
    "a binary state.json": Edit(bytes(range(256)) * 8),
    "a trailing comma": in_state('"owner": "ada",', '"owner": "ada", ,'),
    "a comment in state.json": in_state('"owner": "ada",', '"owner": "ada", // until May\n'),
    "merge marks in state.json": in_state('      "status": "planned",\n', BOTH_STATE),
    "merge marks in TODO.md": Edit(todo=TODO + "\n" + BOTH_TODO),
    "an example in a fence": Edit(todo=TODO + "\n```\n### 1. Example\n- **Status**: [BLOCKED]\n<<<<<<< HEAD\n```\n"),
    "a table": below(2, "\n| who | when |\n|---|---|\n| Turing | Tuesday |\n"),
    "no TODO.md": Edit(todo=None),
    "no state.json": Edit(state=None),
}
REWRITTEN = {word.lower() for marker in MARKERS for word in marker.split()}
_WORD = re.compile(rb"[^\W\d_]{3,}|\d{6,}|[\x80-\xff]{1,}")


@pytest.fixture(scope="module", params=["plain", "git"])
def template(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A workspace with four tasks in which both files agree; with git, their first version is committed."""
    folder = tmp_path_factory.mktemp(request.param)
    (folder / "specs").mkdir()
    (folder / "specs" / "state.json").write_text(GOOD)
    (folder / "specs" / "TODO.md").write_text(TODO)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        assert run(["task", "sync"]) == 0
    Home(str(folder)).close()
    if request.param == "git":
        identity = ["-c", "user.name=a", "-c", "user.email=a@example.com"]
        for words in (["init", "-q"], ["add", "specs"], [*identity, "commit", "-qm", "tasks"]):
            subprocess.run(["git", *words], cwd=folder, check=True)
    return folder


def list_words(data: bytes) -> set[bytes]:
    """The words of a file, without those that a command may replace: statuses."""
    words = {word.lower() for word in _WORD.findall(data)}
    return {word for word in words if word.decode("latin-1") not in REWRITTEN}


def collect_files(folder: Path) -> dict[str, bytes]:
    """The files of the tasks, and the originals that Remit kept."""
    found = [*(folder / "specs").rglob("*"), *(folder / ".remit" / "recovered").rglob("*")]
    return {str(file.relative_to(folder)): file.read_bytes() for file in found if file.is_file()}


@pytest.mark.parametrize("name", EDITS)
def test_no_manual_edit_is_lost(
    name: str, template: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Each command ends with an answer, and afterwards every word of both files is still in one of the files."""
    for command, words in COMMANDS.items():
        folder = tmp_path / command
        shutil.copytree(template, folder)
        given = {
            file: text.encode() if isinstance(text, str) else text
            for file, text in zip(("state.json", "TODO.md"), EDITS[name], strict=True)
            if text is not None
        }
        for file in ("state.json", "TODO.md"):
            (folder / "specs" / file).unlink()
        for file, data in given.items():
            (folder / "specs" / file).write_bytes(data)
        monkeypatch.chdir(folder)
        code = run([*words])
        complaint = capsys.readouterr().err
        assert code in (0, 1, 2), command
        assert "Traceback" not in complaint, command
        left = collect_files(folder)
        kept = set().union(*map(list_words, left.values()))
        missing = {word for data in given.values() for word in list_words(data)} - kept
        assert not missing, command
        if not is_json(given.get("state.json", b"{}")):
            assert given["state.json"] in left.values(), command
    assert sorted(each.name for each in tmp_path.iterdir()) == sorted(COMMANDS)


def is_json(data: bytes) -> bool:
    """Whether a state.json can be read; one that cannot has to be kept byte for byte."""
    try:
        json.loads(data.decode("utf-8", "surrogateescape").removeprefix("\ufeff"))
    except ValueError:
        return False
    return True
