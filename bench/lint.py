"""Remit's linter against agnix, a linter for agent files written in Rust, and rumdl, one for Markdown.

Run as `python bench/all.py lint`. Makes 500 agent files of about 250 lines, half of them in the standard's form and
half in Claude Code's own, and runs all programs on them as a user would, in turn, round after round: Remit without its
cache and with it. Wall time, because all use every core; the machine is shared, so the ratio of a round counts, not its
milliseconds. rumdl looks at the form of Markdown only, and keeps no cache here.
"""

from __future__ import annotations

import json
import random
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from bench.clock import BARE, clock, compile_source, make_environ
from bench.rows import choose, finish, make_row

if TYPE_CHECKING:
    from collections.abc import Callable

    from bench.rows import Row

_FILES: Final = 500
_SMALL: Final = 10
_ROUNDS: Final = choose(3, 9)
_GOALS: Final = {"cold": 1.0, "warm": 0.3}
_START_GOAL: Final = 8.0
_SCRIPT: Final = "from remit.cli import main; main()"
"""What the installed program `remit` does; here it is not installed."""
_REMIT: Final = (sys.executable, "-c", _SCRIPT, "lint", "--output-format", "concise")
_PEERS: Final = {"agnix": ("agnix", "."), "rumdl": ("rumdl", "check", "--no-cache", "--quiet", ".claude/agents")}

_FRONTMATTER: Final = """\
---
name: {name}
version: "1.2.0"
description: "Writes the {topic} part of a plan, and says what it rests on."
mode: subagent
agent_type: planning
temperature: 0.2
max_tokens: 4000
timeout: 1200
tools:
  read: true
  write: true
  bash: true
  grep: true
  glob: true
permissions:
  allow:
    - read: ["**/*"]
    - write: ["specs/**/*"]
    - bash: ["grep", "wc", "date"]
  deny:
    - bash: ["sudo"]
    - write: [".git/**/*"]
context_loading:
  strategy: lazy
  required:
    - "docs/{topic}.md"
  max_context_size: 50000
delegation:
  max_depth: 3
  can_delegate_to:
    - "status-sync-manager"
{targets}  timeout_default: 300
  timeout_max: 600
lifecycle:
  stage: 4
  command: "/plan"
  return_format: "subagent-return-format.md"
---
"""
_CLAUDE: Final = """\
---
name: {name}
description: Reviews {topic} code for faults. Use after every change to it.
tools: Read, Grep, Glob, Bash
model: sonnet
---
"""
_TOPICS: Final = ("search", "billing", "import", "export", "login", "cache", "queue", "mail", "report", "upload")


def write_files(root: Path, count: int) -> None:
    """Make the agent files; the same ones every time."""
    draw = random.Random(7)  # noqa: S311 - a fixed choice, not a secret
    folder = root / ".claude" / "agents"
    folder.mkdir(parents=True)
    (root / "docs").mkdir()
    for topic in _TOPICS:
        (root / "docs" / f"{topic}.md").write_text(f"# {topic}\n", encoding="utf-8")
    for number in range(count):
        name, topic = f"agent-{number:03d}", draw.choice(_TOPICS)
        target = f'    - "agent-{number + 2:03d}"\n' if number % 6 == 0 and number + 2 < count else ""
        head = (_CLAUDE if number % 2 else _FRONTMATTER).format(name=name, topic=topic, targets=target)
        body = _write_body(name, topic, draw) if number % 2 == 0 else _write_prose(name, topic, draw)
        (folder / f"{name}.md").write_text(f"{head}\n{body}", encoding="utf-8")


def _write_body(name: str, topic: str, draw: random.Random) -> str:
    steps = "\n".join(_write_step(number, topic, draw) for number in range(14))
    return f"""\
# {name}

<context>
  <specialist_domain>Plans for {topic}.</specialist_domain>
  <task_scope>One task at a time.</task_scope>
  <integration>Called by /plan.</integration>
  <lifecycle_integration>Owns postflight and return.</lifecycle_integration>
</context>

<role>
  A planner for {topic}.
</role>

<task>
  Read the task. Split it. Estimate it. Write the plan down.
</task>

<process_flow>
{steps}
</process_flow>

<return_format>
  <structure>
    {{"status": "completed", "summary": "Done.", "artifacts": [], "metadata": {{"session_id": "x"}}}}
  </structure>
  <validation>It is short.</validation>
</return_format>

<error_handling>
  <error_type name="timeout">
    <detection>The time is nearly over.</detection>
    <handling>Return partial.</handling>
    <recovery>Run it again.</recovery>
    <logging>Log it.</logging>
  </error_type>
</error_handling>
"""


def _write_step(number: int, topic: str, draw: random.Random) -> str:
    lines = "\n".join(
        f"      {index}. Look at the {topic} module, part {draw.randrange(90)}, and note what it needs."
        for index in range(1, 8)
    )
    return (
        f"  <step_{number}>\n    <action>Work on part {number}</action>\n    <process>\n{lines}\n    </process>\n"
        f"    <checkpoint>Part {number} is known</checkpoint>\n  </step_{number}>\n"
    )


def _write_prose(name: str, topic: str, draw: random.Random) -> str:
    parts = [f"# {name}\n\nYou review {topic} code.\n"]
    for number in range(30):
        lines = "\n".join(f"- Check that case {draw.randrange(900)} of {topic} is handled." for _ in range(5))
        parts.append(f"## Part {number}\n\n{lines}\n")
    return "\n".join(parts)


class Contender(NamedTuple):
    """A program, and what has to happen before each run of it."""

    command: tuple[str, ...]
    prepare: Callable[[], object] = lambda: None


def time_run(contender: Contender, root: Path) -> float:
    """Milliseconds of one run, from start to exit."""
    contender.prepare()
    taken, done = clock(
        lambda: subprocess.run(contender.command, cwd=root, env=make_environ(), capture_output=True, check=False)  # noqa: S603 - programs that are named here
    )
    assert done.returncode in (0, 1), done.stderr.decode()
    return taken


def measure(contenders: dict[str, Contender], root: Path, rounds: int) -> dict[str, list[float]]:
    """Every contender's milliseconds, round by round; the first round only warms the disk."""
    taken: dict[str, list[float]] = {name: [] for name in contenders}
    for number in range(rounds + 1):
        for name, each in contenders.items():
            milliseconds = time_run(each, root)
            if number:
                taken[name].append(milliseconds)
    return taken


def find_peers() -> dict[str, Contender]:
    """The linters that are there, beside this interpreter or on the path."""
    found = {}
    for name, words in _PEERS.items():
        beside = Path(sys.executable).parent / name
        program = str(beside) if beside.exists() else shutil.which(name)
        if program is None:
            print(f"{name} is not installed: `make bench` installs it", file=sys.stderr)
        else:
            found[name] = Contender((program, *words[1:]))
    return found


def measure_many(root: Path) -> list[Row]:
    """Cold and warm against other linters."""

    def forget() -> None:
        shutil.rmtree(root / ".remit", ignore_errors=True)

    def keep() -> None:
        assert (root / ".remit").exists(), "the warm run has no cache"

    peers = find_peers()
    taken = measure({**peers, "cold": Contender(_REMIT, forget), "warm": Contender(_REMIT, keep)}, root, _ROUNDS)
    note = f"agnix says that it looked at {count_files(peers['agnix'], root)} files." if "agnix" in peers else ""
    beside = {name: taken[name] for name in peers}
    return [
        make_row(
            "lint", f"{_FILES} agent files, {name}", "ms", taken[name], peers=beside, goals={"agnix": goal}, note=note
        )
        for name, goal in _GOALS.items()
    ]


def count_files(agnix: Contender, root: Path) -> int:
    """How many files agnix says that it looked at."""
    command = [agnix.command[0], "--format", "json", "."]
    told = subprocess.run(command, cwd=root, capture_output=True, check=False, text=True).stdout  # noqa: S603 - as above
    return int(json.loads(told)["files_checked"])


def measure_start(root: Path) -> list[Row]:
    """A few files against a bare interpreter."""
    contenders = {
        BARE: Contender((sys.executable, "-I", "-c", "pass")),
        "cold": Contender(_REMIT, lambda: shutil.rmtree(root / ".remit", ignore_errors=True)),
        "warm": Contender(_REMIT),
    }
    taken = measure(contenders, root, 3 * _ROUNDS)
    return [
        make_row("lint", f"{_SMALL} agent files, {name}", "ms", taken[name], floors={BARE: taken[BARE]},
                 goals={BARE: _START_GOAL})
        for name in ("cold", "warm")
    ]  # fmt: skip


def main() -> int:
    """Print what was measured; 1 when a goal is missed."""
    compile_source()
    with tempfile.TemporaryDirectory() as folder:
        many, few = Path(folder) / "many", Path(folder) / "few"
        write_files(many, _FILES)
        write_files(few, _SMALL)
        return finish([*measure_many(many), *measure_start(few)])


if __name__ == "__main__":
    sys.exit(main())
