"""The input and output values of the policy. They are plain data, because the ledger stores them."""

from __future__ import annotations

from remit.light_namedtuple import NamedTuple

TYPE_CHECKING = False  # typing itself would cost 6 ms
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence


class Permissions(NamedTuple):
    """The permissions in one agent file. An agent is bound by its own and by those of all its ancestors."""

    tools: Sequence[str] | None = None
    """The standard names of the enabled tools; None if the file doesn't list tools."""
    allow: Mapping[str, Sequence[str]] = {}
    """Patterns by tool. A tool with patterns may be used only for matching paths or commands."""
    deny: Mapping[str, Sequence[str]] = {}
    """Patterns by tool, which take precedence over `allow`."""
    unread: str = ""
    """The file, if its permissions can't be read. Then every tool that permissions can name is denied."""


class ToolCall(NamedTuple):
    """One tool call that an agent is about to make."""

    tool: str
    """A standard name (`read`, `write`, `edit`, `bash`, `grep`, `glob`, …) or `mcp__server__tool`."""
    paths: Sequence[str] = ()
    command: str = ""


class PathContext(NamedTuple):
    """The folders that paths of a call are relative to, and the functions that resolve paths."""

    root: str
    cwd: str
    home: str
    resolve: Callable[[str], str]
    """Returns the real path of an absolute path, like `os.path.realpath`."""
    protected: Sequence[str] = ()
    """Patterns of paths that no agent may write, regardless of its file."""
    second_names: Callable[[str], Sequence[str]] | None = None
    """Returns the other hard links of a file; None if hard links aren't checked."""
    is_judged: bool = False
    """Whether the exec judge compares every program that a shell command starts with the rules for bash."""
    is_limited: bool = True
    """Whether the kernel limits which files a shell command writes."""


class Decision(NamedTuple):
    """Whether a call may proceed, why, and by which rule. Created by `deny` and `ask_user`."""

    answer: str
    """`allow`, `ask` or `deny`. `allow` means that no rule forbids the call."""
    reason: str = ""
    """For the model: why its call is refused, and what to do instead. With `ask`, for a harness that can't ask."""
    rule: str = ""
    question: str = ""
    """For the user, with `ask`: what the agent wants, why Remit can't decide, and a question."""


ALLOWED = Decision("allow")
"""No rule forbids the call."""
HAND_BACK = "continue without it, or return `partial` and say what is missing"
"""What an agent can do after a denial."""
USE_LISTED = "use one of these, or return `partial` and say what is missing"


def deny(problem: str, rule: str, *, instead: str = HAND_BACK) -> Decision:
    """Return a denial, with its text for the model."""
    return Decision("deny", f"{problem}; {instead}", rule)


def ask_user(problem: str, rule: str, *, question: str, instead: str = HAND_BACK) -> Decision:
    """Return a decision that the user has to make, with a text for the model and a question for the user."""
    return Decision("ask", f"{problem}; {instead}", rule, f"{question} Allow it?")


_RANKS = {"allow": 0, "ask": 1, "deny": 2}


def pick_stricter(one: Decision, other: Decision) -> Decision:
    """Return the stricter of two decisions, or the first if they are equal."""
    return other if _RANKS[other.answer] > _RANKS[one.answer] else one


def shorten(text: str, most: int = 80) -> str:
    """Return a text for a reason: on one line, without unprintable characters, and cut to `most` characters."""
    text = " ".join("".join(char if char.isprintable() else " " for char in text[: 2 * most]).split())
    return text if len(text) <= most else f"{text[: most - 1]}…"
