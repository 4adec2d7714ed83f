"""The bombs: files and texts that are made to hang, crash or fill a reader, each with the command that meets it.

Owns the list. A bomb is written when its turn comes, piece by piece, so that who writes it stays small.
"""

from __future__ import annotations

import json
import os
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

MEGA = 1_000_000
TERA = 1 << 40
SESSION = "sess_1763200000_k3x9qz"
AGENT = "---\nname: planner\ndescription: Plans.\nagent_type: planning\n---\n# Planner\n"
EVENT = {"session_id": "s", "cwd": ".", "hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_use_id": "t",
         "agent_id": "a1", "agent_type": "planner", "transcript_path": "/nowhere.jsonl"}  # fmt: skip
ENTRY = {"id": "a-2026-01-19", "file": "a.md", "title": "A", "date": "2026-01-19", "status": "complete",
         "topics": ["a"], "key_findings": ["A.", "B.", "C."], "actionable": True, "needs_followup": [],
         "linked_tasks": []}  # fmt: skip


class Bomb(NamedTuple):
    """What is laid where, and the command that meets it."""

    subject: str
    name: str
    command: tuple[str, ...]
    lay: Callable[[Path], None]
    """Write it into a workspace."""
    stdin: str = ""
    """The file that is given on standard input."""


# --- what bombs are made of -------------------------------------------------------------------------------------------


def repeat(file: Path, piece: str | bytes, times: int, *, before: str | bytes = b"", after: str | bytes = b"") -> None:
    """A file of one piece again and again."""
    piece, before, after = (text.encode() if isinstance(text, str) else text for text in (piece, before, after))
    at_once = max(1, min(times, MEGA // max(1, len(piece))))
    with file.open("wb") as stream:
        stream.write(before)
        for _ in range(times // at_once):
            stream.write(piece * at_once)
        stream.write(piece * (times % at_once) + after)


def laugh(file: Path) -> None:
    """Ten aliases of ten aliases of ten …: a few lines that are a billion values."""
    rows = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    rows += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 12)]
    file.write_text("---\nname: a\n" + "\n".join(rows) + "\n---\n# A\n")


def merge(file: Path) -> None:
    """Tables that are merged from two that are merged from two …."""
    rows = ["a0: &a0 {x0: 1, y0: 2}"] + [f"a{n}: &a{n} {{<<: [*a{n - 1}, *a{n - 1}], x{n}: 1}}" for n in range(1, 200)]
    file.write_text("---\nname: a\n" + "\n".join(rows) + "\n---\n# A\n")


def indent(file: Path) -> None:
    """Tables in tables, a blank deeper on every line."""
    rows = "".join(f"{' ' * depth}a:\n" for depth in range(390))
    file.write_text(f"---\nname: a\n{rows}---\n# A\n")


def be_pipe(file: Path) -> None:
    """A pipe that nobody writes to: whoever opens it waits for ever."""
    os.mkfifo(file)


def be_endless(file: Path) -> None:
    """A file that does not end."""
    file.symlink_to("/dev/zero")


def be_memory(file: Path) -> None:
    """The memory of whoever reads it."""
    file.symlink_to("/proc/self/mem")


def be_sparse(file: Path) -> None:
    """A terabyte of nothing."""
    with file.open("wb") as stream:
        stream.truncate(TERA)


def be_loop(file: Path) -> None:
    """A link to itself."""
    file.symlink_to(file.name)


def be_folder(file: Path) -> None:
    """A folder in a file's place."""
    file.mkdir()


ODD_FILES: dict[str, Callable[[Path], None]] = {
    "a pipe": be_pipe, "an endless device": be_endless, "its own memory": be_memory, "a sparse terabyte": be_sparse,
    "a loop of links": be_loop, "a folder": be_folder,
}  # fmt: skip
TEXTS: dict[str, Callable[[Path], None]] = {
    "a line of 100 MB": partial(repeat, piece="x", times=100 * MEGA),
    "100 MB of brackets": partial(repeat, piece="[", times=100 * MEGA),
    "10 MB of NUL": partial(repeat, piece=b"\0", times=10 * MEGA),
    "halves of characters": partial(repeat, piece=b"\xed\xa0\x80", times=MEGA // 3),
    "letters that turn the line round": partial(repeat, piece="\u202e\u2066a\u2069", times=MEGA // 10),
    "a million quotes": partial(repeat, piece='"', times=MEGA),
    "a million backslashes": partial(repeat, piece="\\", times=MEGA),
    "a million blank lines": partial(repeat, piece="\n", times=MEGA),
}
MESSAGES: dict[str, Callable[[Path], None]] = {
    "lists in lists": partial(repeat, piece="[", times=MEGA, before='{"status": "completed", "artifacts": '),
    "objects in objects": partial(repeat, piece='{"a":', times=MEGA // 5, before='{"status": "completed", "x": '),
    "a million opening tags": partial(repeat, piece="<think>", times=MEGA),
    "markers that are never closed": partial(repeat, piece="<!-- AGENT_OUTPUT_START -->", times=MEGA // 10),
    "a million fences": partial(repeat, piece="```json\n", times=MEGA),
    "a million small objects": partial(repeat, piece='{"status":"x"}', times=MEGA),
    "returns without number": partial(repeat, piece='{"status": "completed", "summary": "x"}\n', times=MEGA // 10),
    "a number of a million digits": partial(repeat, piece="9", times=MEGA, before='{"status": ', after="}"),
    "keys given again and again": partial(
        repeat, piece='"status": "failed", ', times=MEGA // 10, before="{", after='"status": "completed"}'
    ),
    "files without number": partial(
        repeat, piece='{"type": "plan", "path": "a.md"}, ', times=MEGA // 10,
        before='{"status": "completed", "summary": "x", "artifacts": [', after="{}]}",
    ),
    "escapes in escapes": partial(repeat, piece="\\\\", times=MEGA // 2, before='{"status": "', after='"}'),
    "quotations in quotations": partial(repeat, piece="> ", times=MEGA // 2, after='{"status": "completed"}'),
    "comments that are never closed": partial(repeat, piece="/* ", times=MEGA // 3, before='{"status": '),
}  # fmt: skip
HEADS: dict[str, Callable[[Path], None]] = {
    "aliases of aliases": laugh,
    "tables merged from tables": merge,
    "tables in tables by blanks": indent,
    "an object of Python": partial(
        repeat, piece="x", times=1, before="---\nname: !!python/object/apply:os.system ['", after="']\n---\n"
    ),
    "lists in lists": partial(repeat, piece="[", times=30_000, before="---\nname: a\ntools: ", after="\n---\n"),
    "tables in tables": partial(repeat, piece="{a: ", times=20_000, before="---\nname: a\nx: ", after="\n---\n"),
    "lists in lists by dashes": partial(
        repeat, piece="- ", times=30_000, before="---\nname: a\nx:\n  ", after="\n---\n"
    ),
    "lists in lists behind an odd line break": partial(
        repeat, piece="- ", times=30_000, before="---\nname: a\nx:\u2028  ", after="\n---\n"
    ),
    "anchors without number": partial(repeat, piece="- &a x\n", times=15_000, before="---\nx:\n", after="---\n"),
    "a head of 100 MB": partial(repeat, piece="a: b\n", times=20 * MEGA, before="---\n"),
    "a head that is never closed": partial(repeat, piece="- ---x\n", times=MEGA, before="---\nx:\n"),
    "a number of a million digits": partial(repeat, piece="9", times=MEGA, before="---\nversion: ", after="\n---\n"),
    "patterns of stars": partial(
        repeat,
        piece="*a",
        times=30_000,
        before='---\nname: a\npermissions:\n  allow:\n    - bash: ["',
        after='"]\n---\n',
    ),
    "patterns of braces": partial(
        repeat,
        piece="{a,b}",
        times=5_000,
        before='---\nname: a\npermissions:\n  allow:\n    - write: ["',
        after='"]\n---\n',
    ),
    "steps of sixty": partial(repeat, piece="59:", times=20_000, before="---\nname: a\ntimeout: ", after="59\n---\n"),
}
BODIES: dict[str, Callable[[Path], None]] = {
    "a million tags": partial(repeat, piece="<a>", times=MEGA // 4, before=AGENT),
    "a million closing tags": partial(repeat, piece="</a>", times=MEGA // 5, before=AGENT),
    "tags with attributes that never end": partial(repeat, piece="<a b=", times=MEGA // 6, before=AGENT),
    "headings without number": partial(repeat, piece="# a\n", times=MEGA // 5, before=AGENT),
    "fences without number": partial(repeat, piece="```\n", times=MEGA // 5, before=AGENT),
    "comments that are never closed": partial(repeat, piece="<!-- ", times=MEGA // 6, before=AGENT),
    "ignores without number": partial(repeat, piece="<!-- remit: ignore -->\n", times=MEGA // 25, before=AGENT),
    "ticks without number": partial(repeat, piece="`a", times=MEGA // 3, before=AGENT),
    "steps without number": partial(repeat, piece="<step_1>\n</step_1>\n", times=MEGA // 20, before=AGENT),
}
LINES: dict[str, Callable[[Path], None]] = {
    "lists in lists": partial(repeat, piece="[", times=MEGA, before='{"id": '),
    "objects in objects": partial(repeat, piece='{"a":', times=MEGA // 5),
    "an entry on 100,000 lines": partial(repeat, piece='  "a": 1,\n', times=MEGA // 10, before="{\n", after="}\n"),
    "marks of a merge": partial(repeat, piece="<<<<<<< HEAD\n=======\n", times=3_000),
    "keys given again and again": partial(
        repeat, piece='"id": "a", ', times=MEGA // 20, before="{", after='"id": "b"}\n'
    ),
    "entries of one id": partial(repeat, piece=json.dumps(ENTRY) + "\n", times=3_000),
    "topics without number": partial(
        repeat, piece='"a", ', times=MEGA // 10, before=json.dumps(ENTRY)[:-1] + ', "topics": [', after='"b"]}\n'
    ),
    "numbers that are none": partial(repeat, piece='{"id": NaN, "date": 1e999}\n', times=3_000),
}
SETTINGS: dict[str, Callable[[Path], None]] = {
    "lists in lists": partial(repeat, piece="[", times=MEGA, before="x = "),
    "tables in tables": partial(repeat, piece="{a=", times=MEGA // 5, before="x = "),
    "names of a million parts": partial(repeat, piece="a.", times=MEGA // 2, after="a = 1\n"),
    "tables without number": partial(repeat, piece="[[lint]]\n", times=MEGA // 10),
    "a number of a million digits": partial(repeat, piece="9", times=MEGA, before="x = ", after="\n"),
    "patterns of stars": partial(repeat, piece="*a", times=MEGA // 10, before='[lint]\nexclude = ["', after='"]\n'),
}
TASKS: dict[str, Callable[[Path], None]] = {
    "lists in lists": partial(repeat, piece="[", times=MEGA, before='{"active_projects": '),
    "objects in objects": partial(repeat, piece='{"a":', times=MEGA // 5, before='{"next_project_number": 1, "x": '),
    "a number of a million digits": partial(
        repeat, piece="9", times=MEGA, before='{"next_project_number": ', after="}"
    ),
}


# --- the list ---------------------------------------------------------------------------------------------------------


def list_bombs() -> Iterator[Bomb]:
    """Every bomb."""
    yield from _in("check", ("check", "bomb.md"), "bomb.md", ODD_FILES | TEXTS | MESSAGES)
    yield from _claim()
    yield from _in("lint", ("lint", "--no-cache"), "agents/bomb.md", ODD_FILES | TEXTS | HEADS | BODIES)
    yield from _in("lint, Codex", ("lint", "--no-cache"), ".codex/agents/bomb.toml", SETTINGS)
    yield from _knot()
    yield from _in("manifest", ("findings", "validate", "MANIFEST.jsonl"), "MANIFEST.jsonl", ODD_FILES | TEXTS | LINES)
    yield from _in("settings", ("lint",), "remit.toml", ODD_FILES | TEXTS | SETTINGS)
    yield from _in("tasks", ("task", "list"), "specs/state.json", ODD_FILES | TEXTS | TASKS)
    yield from _in("tasks, TODO.md", ("task", "sync", "--check"), "specs/TODO.md", ODD_FILES | TEXTS)
    yield from _hook()
    yield from _run()


def _in(subject: str, command: tuple[str, ...], file: str, kinds: dict[str, Callable[[Path], None]]) -> Iterator[Bomb]:
    """Bombs that lie where a command looks by itself."""
    for name, write in kinds.items():

        def lay(root: Path, write: Callable[[Path], None] = write) -> None:
            target = root / file
            target.parent.mkdir(parents=True, exist_ok=True)
            target.unlink(missing_ok=True)
            write(target)

        yield Bomb(subject, name, command, lay)


def _claim() -> Iterator[Bomb]:
    """Files that an honest-looking return claims: they are looked at, and not read."""
    for name, write in ODD_FILES.items():

        def lay(root: Path, write: Callable[[Path], None] = write) -> None:
            write(root / "plan.md")
            (root / "message.md").write_text(make_return("plan.md"))

        yield Bomb("claimed", name, ("check", "message.md", "--root", "."), lay)


def _knot() -> Iterator[Bomb]:
    """Agents that may all call each other."""

    def lay(root: Path) -> None:
        names = [f"a{number}" for number in range(150)]
        listed = "".join(f"    - {name}\n" for name in names)
        (root / "agents").mkdir()
        for name in names:
            text = f"---\nname: {name}\ndescription: D.\ndelegation:\n  can_delegate_to:\n{listed}---\n# A\n"
            (root / "agents" / f"{name}.md").write_text(text)

    yield Bomb("lint", "150 agents that all call each other", ("lint", "--no-cache"), lay)


def _hook() -> Iterator[Bomb]:
    """Events as a harness sends them, with what an agent can put in."""
    head = json.dumps(EVENT)[:-1]
    command = head + ', "tool_input": {"command": "'
    kinds: dict[str, Callable[[Path], None]] = {
        "an event of 100 MB": partial(repeat, piece="x", times=100 * MEGA, before=command, after='"}}'),
        "lists in lists": partial(repeat, piece="[", times=MEGA, before=head + ', "tool_input": '),
        "objects in objects": partial(repeat, piece='{"a":', times=MEGA // 5, before=head + ', "tool_input": '),
        "a command of 10 MB": partial(repeat, piece="echo a; ", times=MEGA, before=command, after='"}}'),
        "substitutions in substitutions": partial(repeat, piece="$(", times=20_000, before=command, after='"}}'),
        "10,000 pipes": partial(repeat, piece="cat | ", times=10_000, before=command, after='cat"}}'),
        "braces in braces": partial(repeat, piece="{a,b}", times=10_000, before=command + "echo ", after='"}}'),
        "documents that are never closed": partial(
            repeat, piece="cat <<E\\n", times=5_000, before=command, after='"}}'
        ),
        "shells in shells": partial(repeat, piece="bash -c ", times=8_000, before=command, after='"}}'),
        "a million steps up": partial(
            repeat,
            piece="../",
            times=MEGA,
            after='x"}}',
            before=head.replace('"Bash"', '"Write"') + ', "tool_input": {"file_path": "',
        ),
    } | TEXTS
    for name, write in kinds.items():

        def lay(root: Path, write: Callable[[Path], None] = write) -> None:
            (root / ".claude" / "agents").mkdir(parents=True)
            (root / ".claude" / "agents" / "planner.md").write_text(AGENT)
            write(root / "event.json")

        yield Bomb("hook", name, ("hook", "claude"), lay, "event.json")


def _run() -> Iterator[Bomb]:
    """What an agent leaves in the tree and claims, through the whole walk."""
    kinds = ODD_FILES | {name: TEXTS[name] for name in ("a line of 100 MB", "10 MB of NUL")}
    for name, write in kinds.items():

        def lay(root: Path, write: Callable[[Path], None] = write) -> None:
            (root / "agents").mkdir()
            (root / "agents" / "planner.md").write_text(AGENT)
            write(root / "laid")

        yield Bomb("run", name, ("run", "planner", "Plan it."), lay)


def make_return(path: str, session_id: str = SESSION) -> str:
    """A return that says that it wrote a file."""
    metadata = {"session_id": session_id, "duration_seconds": 1, "agent_type": "planner", "delegation_depth": 1,
                "delegation_path": ["orchestrator", "planner"]}  # fmt: skip
    artifacts = [{"type": "plan", "path": path, "summary": "The plan"}]
    return json.dumps({"status": "completed", "summary": "Wrote the plan. It is short.", "artifacts": artifacts,
                       "metadata": metadata, "errors": []})  # fmt: skip
