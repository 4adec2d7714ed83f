"""Terms: what is asked of the policy, and what it answers.

Owns the values that go in and come out. They are plain: what the ledger keeps of an agent's permissions is read back
as it was written.
"""

from __future__ import annotations

from remit.light_namedtuple import NamedTuple

TYPE_CHECKING = False  # typing itself would cost 6 ms
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence


class Permissions(NamedTuple):
    """What one agent's file says of its tools; an agent is held to its own and to those of all its ancestors."""

    tools: Sequence[str] | None = None
    """The standard names of the tools that are switched on; None where the file says nothing."""
    allow: Mapping[str, Sequence[str]] = {}
    """Patterns by tool. A tool that has some may be used for nothing else."""
    deny: Mapping[str, Sequence[str]] = {}
    """Patterns by tool that win over whatever is allowed."""
    unread: str = ""
    """The file, where its permissions can't be read: nothing that they could be about is allowed then."""


class ToolCall(NamedTuple):
    """One use of a tool that an agent is about to make."""

    tool: str
    """A standard name (`read`, `write`, `edit`, `bash`, `grep`, `glob`, …) or `mcp__server__tool`."""
    paths: Sequence[str] = ()
    command: str = ""


class PathContext(NamedTuple):
    """Where a call is made: what paths are relative to, and how they are followed."""

    root: str
    cwd: str
    home: str
    resolve: Callable[[str], str]
    """Gives the path that a full path leads to, as `os.path.realpath` does."""
    protected: Sequence[str] = ()
    """Patterns of places that no agent writes to, whatever its file says."""
    second_names: Callable[[str], Sequence[str]] | None = None
    """Gives the other names of a file that has several, as hard links are; None where nobody looks for them."""
    is_judged: bool = False
    """Whether a judge at exec compares every program that a shell command starts with the rules for bash."""
    is_limited: bool = True
    """Whether the kernel limits which files a shell command writes."""


class Decision(NamedTuple):
    """Whether a call may happen, why, and which rule said so. Made by `deny` and `ask_user`."""

    answer: str
    """`allow`, `ask` or `deny`. `allow` means that no rule is against the call."""
    reason: str = ""
    """For the model: why its call is refused, and what to do instead. With `ask`, for a harness that can't ask."""
    rule: str = ""
    question: str = ""
    """For the user, with `ask`: what the agent wants, why Remit can't decide, and a question."""


ALLOWED = Decision("allow")
"""No rule is against the call."""
HAND_BACK = "continue without it, or return `partial` and say what is missing"
"""What an agent can do when it is refused."""
USE_LISTED = "use one of these, or return `partial` and say what is missing"


def deny(problem: str, rule: str, *, instead: str = HAND_BACK) -> Decision:
    """Return a denial, with its text for the model."""
    return Decision("deny", f"{problem}; {instead}", rule)


def ask_user(problem: str, rule: str, *, question: str, instead: str = HAND_BACK) -> Decision:
    """Return a decision that is the user's, with a text for each reader: the user's ends with a question."""
    return Decision("ask", f"{problem}; {instead}", rule, f"{question} Allow it?")


_RANKS = {"allow": 0, "ask": 1, "deny": 2}


def pick_stricter(one: Decision, other: Decision) -> Decision:
    """The stricter of two decisions; of equals the first."""
    return other if _RANKS[other.answer] > _RANKS[one.answer] else one


def shorten(text: str, most: int = 80) -> str:
    """A text as a reason quotes it: on one line, without odd characters, and not too long."""
    text = " ".join("".join(char if char.isprintable() else " " for char in text[: 2 * most]).split())
    return text if len(text) <= most else f"{text[: most - 1]}…"
