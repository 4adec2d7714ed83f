"""The words around a return: how agents open, report and close their final messages.

Owns prose only; it never writes a return, and nothing it writes looks like one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    import random

    from .jobs import Job

_OPENINGS: Final = (
    "Done. Here is what I found and changed for task {number}.",
    "I've finished the work on *{title}*.",
    "## {title}",
    "# Task {number}: {title}\n\nThe work is finished; the details are below.",
    "Perfect! Everything for task {number} is in place now.",
    "All steps of `/{command} {number}` ran. Short report:",
    "Okay, that was more work than it looked. Report for {project}:",
    "### Report\n\nTask: {title} ({project})",
    "Let me put the result together.",
    "I now have everything I need. Final report for task {number} follows.",
)
_RETURN_LEADS: Final = (
    "Here is the return:",
    "### Return",
    "## Structured Output",
    "Returning the structured result:",
    "The return for the orchestrator:",
    "**Return object**",
    "As requested, the JSON return:",
    "Now returning the standardized result.",
    "Final return (session and path as delegated):",
    "```\n$ git status --short\n```\n\nTree is clean. Return:",
)
_CLOSINGS: Final = (
    "Let me know if you want me to go on with the next step.",
    "That's all from my side.",
    "The next step would be: {step}.",
    "I left no temporary files behind.",
    "---\n\n*{agent}, {project}*",
    "If anything in here looks wrong, the report has the commands to check it.",
    "Note: I didn't push anything.",
    "> Reminder: the flag is still off by default.",
)
_CHECKS: Final = (
    "| check | result |\n|---|---|\n| build | ok |\n| unit tests | 214 passed |\n| lint | clean |",
    "- [x] inputs validated\n- [x] work done\n- [x] files written\n- [ ] pushed (not asked for)",
    "```\n$ make test\n....................................................\n52 passed in 3.41s\n```",
    "✅ build\n✅ tests\n⚠️ one warning about an unused import",
    "1. Read the task and the earlier notes\n2. Did the work\n3. Checked the result twice",
)


def opening(job: Job, rng: random.Random) -> str:
    """The first line or two of a message."""
    return rng.choice(_OPENINGS).format(number=job.number, title=job.title, command=job.command, project=job.project)


def report(job: Job, rng: random.Random) -> str:
    """A few paragraphs about the work, with bullets, checks or code among them."""
    parts = list(job.prose[: rng.randint(1, len(job.prose))])
    if rng.random() < 0.6:
        parts.append("\n".join(f"- {bullet}" for bullet in job.bullets))
    if rng.random() < 0.4:
        parts.append(rng.choice(_CHECKS))
    if rng.random() < 0.3:
        parts.append(snippet(job))
    return "\n\n".join(parts)


def lead(rng: random.Random) -> str:
    """The line right before the return."""
    return rng.choice(_RETURN_LEADS)


def closing(job: Job, rng: random.Random) -> str:
    """The last words after the return."""
    return rng.choice(_CLOSINGS).format(step=rng.choice(job.steps), agent=job.agent, project=job.project)


def snippet(job: Job) -> str:
    """The job's code in a fence of its own language."""
    return f"```{job.language}\n{job.code}\n```"


def before(job: Job, rng: random.Random) -> str:
    """Everything up to the return, ending in an empty line."""
    return f"{opening(job, rng)}\n\n{report(job, rng)}\n\n{lead(rng)}\n\n"


def filler(job: Job, rng: random.Random, size: int) -> str:
    """At least `size` characters of report, for messages that ramble."""
    parts: list[str] = []
    length = 0
    while length < size:
        part = rng.choice((*job.prose, rng.choice(_CHECKS), snippet(job), f"### Notes on {job.project}, {len(parts)}"))
        parts.append(part)
        length += len(part) + 2
    return "\n\n".join(parts)


def plain_filler(job: Job, rng: random.Random, size: int) -> str:
    """Exactly `size` characters of paragraphs and bullets, with no block among them; the last sentence is ended."""
    parts: list[str] = []
    length = 0
    while length < size:
        part = rng.choice((*job.prose, "\n".join(f"- {bullet}" for bullet in job.bullets)))
        parts.append(part)
        length += len(part) + 2
    return "\n\n".join(parts)[: size - 1] + "."
