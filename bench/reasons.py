"""Why Remit is not ahead, or misses a goal, where that is so: written by hand, and shown beside the figures."""

from __future__ import annotations

from typing import Final, NamedTuple


class Reason(NamedTuple):
    """A reason for the rows of an area whose name has these words in it, and for one peer or for every one."""

    area: str
    words: str
    text: str
    than: str = ""


REASONS: Final = (
    Reason(
        "contract",
        "2 KB broken",
        "To pyjson5, written in C, comments, single quotes and trailing commas are not broken: they are JSON5. What is "
        "none it does not read at all. Remit repairs in Python, and says what it repaired and where.",
        than="last fence + pyjson5",
    ),
    Reason(
        "contract",
        "a message of",
        "They decode one fence and are done. Remit looks for everything that could be the return, refuses keys that "
        "contradict each other, and validates what it found; the peers' time has no validation in it.",
    ),
    Reason(
        "contract",
        "read wrong",
        "Whoever reads less can read less of it wrong: the row above has how much each reads right.",
    ),
    Reason(
        "contract",
        "the slowest",
        "Some readers give up at the first character that they do not expect, which is quick; the row above has "
        "how many each gets right.",
    ),
    Reason(
        "confine",
        "a shell command confined",
        "Remit's launcher is a Python program, and bubblewrap is written in C. Three quarters of what the launcher "
        "takes is the start of Python; no program has to be compiled for each machine.",
    ),
    Reason(
        "lint",
        "10 agent files",
        "More than half of it is loading modules, half of these click's and PyYAML's; a file of 250 lines takes 4 ms.",
        than="bare Python",
    ),
    Reason(
        "lint",
        "agent files",
        "A program of machine code against one that starts a Python; rumdl looks at the form of Markdown only, "
        "and not at what an agent file says.",
        than="rumdl",
    ),
    Reason(
        "lint",
        "agent files",
        "A program of machine code against one that starts a Python.",
        than="agnix",
    ),
    Reason(
        "mcp",
        "the first tool",
        "The library alone has one tool that adds two numbers. Remit loads the library as well, opens the "
        "ledger, and answers with the state of the workspace.",
    ),
    Reason(
        "evidence",
        "files",
        "git keeps an index of the tree from call to call and leaves ignored files alone. Remit looks at these "
        "too, and trusts nothing that an agent could have written.",
    ),
    Reason(
        "context",
        "",
        "These agents send a return and nothing else, which is shorter than any result: it has the grade and the "
        "hash of each artifact and a pointer to the whole answer. From about 200 tokens on an answer gains.",
    ),
    Reason(
        "manifest",
        "by its id",
        "The raw read gives a text that nobody has checked. Remit also checks that the file is the one that was read, "
        "and decodes the entry.",
    ),
    Reason(
        "manifest",
        "made anew",
        "Every line is checked and becomes part of a checksum, and what was known is taken out of the table; the bare "
        "loop begins with an empty one.",
    ),
    Reason(
        "manifest",
        "appended",
        "The lock, a look through the file whether another entry has the id, and the contract's rules come on top of "
        "the write.",
    ),
    Reason(
        "hook",
        "99 of 100",
        "One in a hundred waits for a core on a machine that does other things, too: see the load below, and the ratio "
        "to a bare Python above.",
    ),
    Reason(
        "functions",
        "",
        "Huey deletes a task's row when a worker takes it, so a worker that dies loses the task. Remit has a "
        "row before, while and after, and judges the answer.",
        than="Huey on SQLite, two workers",
    ),
    Reason(
        "functions",
        "",
        "A row before and a row after, both synced, and a verdict on the answer: where the disk is slow, syncs are the "
        "time of everybody.",
    ),
    Reason(
        "cluster",
        "agents of",
        "Remit also takes the tree as it is, holds the deadline in a namespace, judges the return, compares the "
        "tree and brings the file back: starts of git for the most part. All workers and the database share the "
        "cores of one machine here, so what the processor does shows in the time.",
        than="plain DBOS",
    ),
)


def find_reason(area: str, what: str, than: str) -> str:
    """The reason for a row and whom it is compared with; and that none is known, where nobody has written one."""
    return next(
        (
            reason.text
            for reason in REASONS
            if reason.area == area and reason.words in what and reason.than in ("", than)
        ),
        "No reason is known.",
    )
