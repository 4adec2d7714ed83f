"""Rules on the work itself: what a call hands on, and whether an agent does what its kind is for.

Both go by words, and generously: a text that speaks of the matter at all is taken to mean it.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from remit.agents.outline import find_part, unfold
from remit.agents.rules.register import Case, Report, rule
from remit.agents.rules.sections import find_kind, is_empty, shorten
from remit.lazy import lazy

if TYPE_CHECKING:
    from collections.abc import Iterator

MAX_CHARS = 20_000
"""Of what a pattern says that is looked at."""

_HANDED_ON = {
    "the session id": lazy(r"session", re.IGNORECASE),
    "the depth": lazy(r"depth|level", re.IGNORECASE),
    "the path": lazy(r"delegation.?path|\bpath\b|chain|ancestors", re.IGNORECASE),
    "the timeout": lazy(r"time.?out|time limit|deadline|seconds|minutes", re.IGNORECASE),
}
_ALL_AT_ONCE = lazy(r"delegation[ _-](?:context|metadata|fields|info)|\{", re.IGNORECASE)
"""What stands for all of them, or is a blank that somebody fills in."""


@rule("AGT089", "R1.26", severity="warning")
def delegation_context(case: Case) -> Iterator[Report]:
    """A delegation pattern does not hand on what every delegation needs.

    Why: without the session id a return cannot be told from another's, without depth and path nobody notices a circle,
    and without a timeout a call can hang for good. Where only some of the four are missing it is a note.

    Bad: `<context>The files and the message.</context>` in a `<delegate_to>`

    Good: `<context>The files, the message, session_id, depth + 1, the path with the target, and a timeout.</context>`
    """
    document = case.document
    section = document.outline.get("delegation_patterns")
    for tag in unfold(section) if section else ():
        context = find_part(tag, "context") if tag.name == "delegate_to" else None
        if context is None or is_empty(document, context):
            continue  # that it is missing is told elsewhere
        text = document.text_of(context)[:MAX_CHARS]
        missing = [name for name, words in _HANDED_ON.items() if not words.search(text)]
        if missing and not _ALL_AT_ONCE.search(text):
            name = shorten((tag.get("name") or "").strip()) or "nobody"
            some = len(missing) < len(_HANDED_ON)
            yield Report(f"the delegation to {name} does not hand on {', '.join(missing)}",
                         "Hand on session_id, depth + 1, the path with the target, and a timeout.", context.name_span,
                         severity="note" if some else None)  # fmt: skip


_WORK: dict[str, dict[str, tuple[str, ...]]] = {
    "planning": {
        "phases": ("phase", "milestone", "stage", "increment", "iteration", "subtask", "sub-task"),
        "estimates": ("estimat", "effort", "hour", "days", "story points", "complexity", "sizing"),
    },
    "implementation": {"a plan, phases or working directly without one": ("plan", "phase", "direct")},
    "research": {"a report": ("report", "findings", "summar", "write-up", "writeup")},
    "review": {
        "registries": (
            "regist", "catalog", "inventor", "ledger", "index", "todo", "state.json", "roadmap", "backlog",
        ),
    },
}  # fmt: skip
"""What each kind of agent has to speak of, in whatever words."""


@rule("AGT159", "R1.32", severity="note")
def work_of_kind(case: Case) -> Iterator[Report]:
    """The body never speaks of what an agent of its kind is for.

    Why: planning splits the work into phases and estimates them; implementation follows a plan, phase by phase, or
    works directly where there is none; research ends with a report; review brings registries up to date (that it makes
    follow-up tasks is a rule of its own). An agent that is not told so does something else.

    Bad: a planning agent with not a word of phases

    Good: `Split the work into phases. Estimate the hours of each.`
    """
    document = case.document
    kind = find_kind(document)
    if kind not in _WORK or document.outline.is_bare or document.unclosed_frontmatter:
        return
    missing = [what for what, words in _WORK[kind].items() if not any(word in document.lowered for word in words)]
    if missing:
        yield Report(f"a {kind} agent is expected to speak of {' and '.join(missing)}, and this one never does",
                     "Say in a step how it does that, or give it another agent_type.",
                     document.span_of("/agent_type"), "/agent_type")  # fmt: skip
