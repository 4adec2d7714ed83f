"""Remit's linter against agnix, a linter for agent files written in Rust.

Run as `python bench/lint.py`. Makes 500 agent files of about 250 lines, half of them in the standard's form and half in
Claude Code's own, and runs both programs on them as a user would, in turn, round after round: Remit without its cache
and with it. Prints a table and one line per goal; ends with 1 when a goal is missed. Wall time, because both use every
core; the machine is shared, so the ratio of a round counts, not its milliseconds.
"""

from __future__ import annotations

import argparse
import compileall
import json
import os
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Callable

_FILES: Final = 500
_SMALL: Final = 10
_GOALS: Final = {"cold": 1.0, "warm": 0.3}
_START_GOAL: Final = 8.0
_SOURCE: Final = Path(__file__).resolve().parents[1] / "src"
_SCRIPT: Final = "from remit.doors.cli import main; main()"
"""What the installed program `remit` does; here it is not installed."""
_REMIT: Final = (sys.executable, "-c", _SCRIPT, "lint", "--output-format", "concise")

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


@dataclass(frozen=True, slots=True)
class Contender:
    """A program, and what has to happen before each run of it."""

    name: str
    command: tuple[str, ...]
    prepare: Callable[[], None]


def compile_source() -> None:
    """Make the bytecode that an installed package has: nobody pays for that on every start."""
    assert compileall.compile_dir(_SOURCE, quiet=1)


def time_run(contender: Contender, root: Path) -> float:
    """Seconds of one run, from start to exit."""
    contender.prepare()
    environment = {**os.environ, "PYTHONPATH": str(_SOURCE)}
    start = time.perf_counter()
    done = subprocess.run(contender.command, cwd=root, env=environment, capture_output=True, check=False)  # noqa: S603
    seconds = time.perf_counter() - start
    assert done.returncode in (0, 1), done.stderr.decode()
    return seconds


def measure(contenders: list[Contender], root: Path, rounds: int) -> dict[str, list[float]]:
    """Every contender's seconds, round by round; the first round only warms the disk."""
    times: dict[str, list[float]] = {each.name: [] for each in contenders}
    for number in range(rounds + 1):
        for each in contenders:
            seconds = time_run(each, root)
            if number:
                times[each.name].append(seconds)
    return times


def tell(times: dict[str, list[float]], base: str, count: int) -> dict[str, float]:
    """Print a table; the median ratio to the base for each contender."""
    print(f"\n| {count} files | ms, median | ms a file | x {base} (lowest, highest round) |\n|---|---|---|---|")
    ratios = {}
    for name, own in times.items():
        rows = [seconds / other for seconds, other in zip(own, times[base], strict=True)]
        ratios[name] = statistics.median(rows)
        median = statistics.median(own) * 1000
        print(
            f"| {name} | {median:.0f} | {median / count:.2f} | {ratios[name]:.2f} ({min(rows):.2f}, {max(rows):.2f}) |"
        )
    return ratios


def find_agnix() -> str | None:
    """The program agnix, beside this interpreter or on the path."""
    beside = Path(sys.executable).parent / "agnix"
    return str(beside) if beside.exists() else shutil.which("agnix")


def main() -> int:
    """The command line."""
    parser = argparse.ArgumentParser(description="Measure Remit's linter against agnix.")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--json", type=Path, metavar="FILE", help="write everything measured to FILE")
    options = parser.parse_args()
    agnix = find_agnix()
    if agnix is None:
        print("agnix is not installed: `make bench` installs it", file=sys.stderr)
        return 2
    compile_source()
    with tempfile.TemporaryDirectory() as folder:
        many, few = Path(folder) / "many", Path(folder) / "few"
        write_files(many, _FILES)
        write_files(few, _SMALL)
        ratios = measure_many(many, agnix, options.rounds)
        start = measure_start(few, options.rounds)
    goals = [(f"{_FILES} files, {name}", ratios[f"Remit, {name}"], goal) for name, goal in _GOALS.items()]
    goals += [(f"{_SMALL} files, {name}", ratio, _START_GOAL) for name, ratio in start.items()]
    print()
    for name, ratio, goal in goals:
        print(f"{'kept  ' if ratio <= goal else 'MISSED'}  {name}: {ratio:.2f}x, goal {goal:g}x")
    if options.json:
        options.json.write_text(json.dumps({name: [ratio, goal] for name, ratio, goal in goals}), encoding="utf-8")
    return 0 if all(ratio <= goal for _, ratio, goal in goals) else 1


def measure_many(root: Path, agnix: str, rounds: int) -> dict[str, float]:
    """Cold and warm against agnix."""

    def forget() -> None:
        shutil.rmtree(root / ".remit", ignore_errors=True)

    def keep() -> None:
        assert (root / ".remit").exists() or not rounds, "the warm run has no cache"

    contenders = [
        Contender("agnix", (agnix, "."), lambda: None),
        Contender("Remit, cold", _REMIT, forget),
        Contender("Remit, warm", _REMIT, keep),
    ]
    seen = json.loads(run([agnix, "--format", "json", "."], root) or "{}")
    print(f"agnix looked at {seen.get('files_checked', 'an unknown number of')} files")
    return tell(measure(contenders, root, rounds), "agnix", _FILES)


def measure_start(root: Path, rounds: int) -> dict[str, float]:
    """A few files against a bare interpreter."""
    bare = Contender("bare Python", (sys.executable, "-I", "-c", "pass"), lambda: None)
    cold = Contender("cold", _REMIT, lambda: shutil.rmtree(root / ".remit", ignore_errors=True))
    warm = Contender("warm", _REMIT, lambda: None)
    ratios = tell(measure([bare, cold, warm], root, 3 * rounds), "bare Python", _SMALL)
    return {name: ratios[name] for name in ("cold", "warm")}


def run(command: list[str], root: Path) -> str:
    """What a command prints."""
    return subprocess.run(command, cwd=root, capture_output=True, check=False, text=True).stdout  # noqa: S603


if __name__ == "__main__":
    sys.exit(main())
