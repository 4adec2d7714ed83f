"""Agents whose answers are as long as real ones: what reaches the caller is short all the same.

    remit run "Look into the cache" --command "python3 examples/answers.py research"

Each does what agents do: it writes its file, and then says all of it again in its final message. The kinds are
`short`, `research`, `review`, `log`, `many`, `flood`, `prose` and `nested`; the last hands on what it was asked to two
more agents of examples/workspace. `docs/context.md` tells how many tokens each is with Remit and without.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple

Facts = dict[str, Any]
"""What an agent was told of itself: its session, its name, its depth and its path."""

METADATA = re.compile(r'"metadata": (\{.*\})')
"""The instructions contain the metadata of the return, with the session id filled in."""
AGENT = re.compile(r"^You are ([\w-]+)\. Session ", re.MULTILINE)
FLOOD_BYTES = 1_000_000
BELOW = {"coordinator": "implementer", "implementer": "checker"}
PARTS = ("parser", "cache", "importer", "scheduler", "export", "settings", "session store", "search index")
FILES = tuple(f"src/{part.replace(' ', '_')}.py" for part in PARTS)
FAULTS = (
    ("an error is caught and dropped, so that the caller takes an empty list for a result", "let it through"),
    ("two writers may replace the file at once, and the first change is lost", "take the lock before reading"),
    ("the limit is checked after the whole file was read into memory", "check the size first"),
    ("a name from the request goes into the path unchanged", "refuse names with a slash or two dots in them"),
    ("the time is local, and the other side compares it with one in UTC", "keep UTC, and convert when it is shown"),
)
FACTS = (
    "It is read on every request and written when a background job has finished, at most once a minute.",
    "Nothing says how long an entry stays valid; in practice one lives until the process is restarted.",
    "The test covers the first write and no later one, so that a stale entry would not be noticed.",
    "The documentation describes a setting that was removed two releases ago, and nobody reads it any more.",
    "Under load the slowest tenth of the calls wait for the same lock, for 40 to 90 ms each.",
)


class Answer(NamedTuple):
    """What an agent leaves: the files, and its final message."""

    files: dict[str, str]
    message: str


def read_facts(prompt: str) -> Facts:
    """Return the metadata for the return of this agent, from its prompt."""
    metadata, agents = METADATA.findall(prompt), AGENT.findall(prompt)
    if not metadata:
        sys.exit("this is an agent: give it a prompt with `remit run`")
    named = {"agent_type": agents[-1]} if agents else {}
    return {**named, **json.loads(metadata[-1]), "duration_seconds": 90}


def render_return(facts: Facts, kind: str, path: str, summary: str, next_steps: str) -> str:
    """The return at the end of a message."""
    returned = {
        "status": "completed",
        "summary": summary,
        "artifacts": [{"type": kind, "path": path, "summary": summary.partition(". ")[0].rstrip(".") + "."}],
        "metadata": facts,
        "errors": [],
        "next_steps": next_steps,
    }
    return f"```json\n{json.dumps(returned, indent=2)}\n```\n"


def make_short(facts: Facts) -> Answer:
    """An agent that keeps to the contract and says nothing else."""
    summary = "The typo in the README is corrected. Nothing else was changed."
    return Answer({"fix.md": "# Fix\n\nteh → the\n"}, render_return(facts, "report", "fix.md", summary, "Merge it."))


def make_research(facts: Facts) -> Answer:
    """A report that is in the file, and once more in the message."""
    lines = ["# Research: where the time goes", "", "I looked at every part that a request passes through.", ""]
    for place, part in enumerate(PARTS):
        lines += [f"## {place + 1}. The {part}", ""]
        for turn in range(len(FACTS)):
            line = 17 * (place + 1) + 31 * turn
            lines += [f"{FACTS[(place + turn) % len(FACTS)]} See `{FILES[place]}:{line}`.", ""]
        lines += [f"**Recommendation**: measure the {part} alone before it is changed, and keep the figures.", ""]
    report = "\n".join(lines)
    summary = "A tenth of the calls wait for one lock in the cache. The other seven parts are not what is slow."
    returned = render_return(facts, "report", "research.md", summary, "Plan the change of the lock in the cache.")
    return Answer({"research.md": report}, f"{report}\nThe report is in research.md.\n\n{returned}")


def make_review(facts: Facts) -> Answer:
    """Forty findings, each with its place, its reason and its remedy."""
    lines = ["# Review", "", "40 findings, the gravest first.", ""]
    for number in range(40):
        what, remedy = FAULTS[number % len(FAULTS)]
        file, rank = FILES[number % len(FILES)], ("critical", "high", "medium", "low")[number // 10]
        lines += [
            f"### {number + 1}. {rank}: `{file}:{11 + 7 * number}`",
            f"In the {PARTS[number % len(PARTS)]} {what}. To put it right: {remedy}.",
            f"Seen by reading it, and by a trial: `pytest tests/test_{number % len(FILES)}.py -k case_{number}`.",
            "",
        ]
    report = "\n".join(lines)
    summary = "40 findings, 10 of them critical. Two writers may lose a change; five causes explain all of them."
    returned = render_return(facts, "report", "review.md", summary, "Correct the 10 critical ones before the release.")
    return Answer({"review.md": report}, f"{report}\n{returned}")


def make_log(facts: Facts) -> Answer:
    """An implementer that tells every step, with what its tools printed."""
    lines = ["I will carry out the plan phase by phase.", ""]
    for place, (part, file) in enumerate(zip(PARTS, FILES, strict=True)):
        lines += [f"## Phase {place + 1}: the {part}", "", f"First I read `{file}` and its tests.", "", "```diff"]
        lines += [f"--- a/{file}", f"+++ b/{file}", f"@@ -{20 + place},4 +{20 + place},5 @@ def load(name):"]
        lines += ["-    data = read(name)", "-    return data", "+    with lock:", "+        data = read(name)"]
        lines += ["+    return check(data)", "```", "", "$ python3 -m pytest -q"]
        lines += [f"tests/test_{place}.py::test_case_{case} PASSED [{case * 5:3d}%]" for case in range(1, 21)]
        lines += [f"20 passed in 1.{place}4s", "", "All of them pass, so I go on with the next phase.", ""]
    log = "\n".join(lines)
    summary = "All 8 phases are done, and 160 tests pass. Every part takes the lock before it reads."
    returned = render_return(facts, "summary", "log.md", summary, "Review the change.")
    return Answer({"log.md": log}, f"{log}\n{returned}")


def make_many(facts: Facts) -> Answer:
    """A return with more in it than a result has room for: files, errors, and steps to take."""
    names = [f"{part.replace(' ', '_')}_{number}.md" for part in PARTS for number in range(1, 5)]
    returned = {
        "status": "partial",
        "summary": "Notes on 8 parts are written, 4 for each. Of 3 parts the tests could not be run.",
        "artifacts": [{"type": "documentation", "path": name, "summary": f"Notes: {name[:-3]}."} for name in names],
        "metadata": facts,
        "errors": [
            {
                "type": "tool_unavailable",
                "message": f"the tests of the {part} need a database that is not there",
                "recoverable": True,
                "recommendation": f"Start the database, and have the {part} looked at again",
            }
            for part in PARTS[:3]
        ],
        "next_steps": [f"Read the notes on the {part}, and decide whether it is changed." for part in PARTS],
    }
    message = f"I wrote notes on every part.\n\n```json\n{json.dumps(returned, indent=2)}\n```\n"
    return Answer({name: f"# {name}\n\n{FACTS[place % len(FACTS)]}\n" for place, name in enumerate(names)}, message)


def make_flood(facts: Facts) -> Answer:
    """A megabyte of what a tool printed, and then the return."""
    line = "2026-01-05 10:12:{second:02d} DEBUG importer: row {row} of customers.csv was read, 14 columns, no change\n"
    rows = FLOOD_BYTES // len(line.format(second=0, row=10_000)) + 1
    flood = "".join(line.format(second=row % 60, row=10_000 + row) for row in range(rows))
    summary = "The import ran to its end. No row was changed."
    returned = render_return(facts, "report", "import.md", summary, "Look at the rows that have no customer.")
    return Answer({"import.md": "# Import\n\nNo row was changed.\n"}, f"{flood}\n{returned}")


def make_prose(facts: Facts) -> Answer:
    """A long answer without a return: nobody can say what came of it."""
    told = "\n\n".join(f"{fact} That is how it is in the {part} as well." for part in PARTS for fact in FACTS)
    return Answer(
        {"notes.md": told}, f"I am {facts.get('agent_type', 'an agent')}, and everything is done.\n\n{told}\n"
    )


KINDS = {
    "short": make_short,
    "research": make_research,
    "review": make_review,
    "log": make_log,
    "many": make_many,
    "flood": make_flood,
    "prose": make_prose,
    "nested": make_research,
}


def name_after(agent: str, answer: Answer) -> Answer:
    """The same answer with files that no other agent has."""
    message, files = answer.message, {}
    for path, text in answer.files.items():
        message, files[f"{agent}-{path}"] = message.replace(path, f"{agent}-{path}"), text
    return Answer(files, message)


def hand_on(agent: str) -> None:
    """Have the next agent look into it, too; its result is all that is read."""
    command = f"{sys.executable} {Path(__file__).resolve()} nested"
    words = ["remit", "run", BELOW[agent], "Look into it.", "--input", "task_number=1", "--command", command]
    done = subprocess.run([*words, "--json"], capture_output=True, encoding="utf-8", check=False)
    if done.returncode:
        sys.exit(done.stdout + done.stderr)


def main() -> None:
    """Do what the kind of agent does that the command line names."""
    kind = sys.argv[1] if len(sys.argv) > 1 else "short"
    facts = read_facts(sys.stdin.read())
    agent = str(facts.get("agent_type", ""))
    if kind == "nested" and agent in BELOW:
        hand_on(agent)
    answer = KINDS[kind](facts)
    if kind == "nested":
        answer = name_after(agent, answer)
    for path, text in answer.files.items():
        # The second time the same text would be nobody's work: the session makes each file one of its own.
        Path(path).write_text(f"{text}\nWritten in {facts['session_id']}.\n", encoding="utf-8")
    print(answer.message, end="")


if __name__ == "__main__":
    main()
