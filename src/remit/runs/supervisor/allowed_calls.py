"""Calls of a confined agent: the available commands, and the check that the agent made the call.

The admission of a nested run decides whether it may start.
"""

from __future__ import annotations

from contextlib import closing, suppress
from typing import TYPE_CHECKING

from remit.attempts.confined_calls import CallServer
from remit.attempts.process_owner import find_all_enclosing
from remit.errors import RefusedError
from remit.ledger.home import Home
from remit.runs.admission.run_tree import load_tree
from remit.runs.admission.tickets import RETURN_FILE, SESSION, SOCKET, TICKET, hash_ticket

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from remit.runs.admission.run_config import RunConfig
    from remit.runs.supervisor.supervisor import Supervisor

_OUTPUT = {"--json": False, "--output-format": True}
ALLOWED: Mapping[tuple[str, ...], Mapping[str, bool]] = {
    ("run",): {
        "--input": True, "--runner": True, "--timeout": True, "--return-format": True, "--format": True,
        "--max-seconds": True, "--max-turns": True, "--max-tokens": True, "--max-usd": True, "--max-delegations": True,
        "--confine": False, "--no-commit": False, "--worktree": False, "--task": True, **_OUTPUT,
    },
    ("return", "submit"): _OUTPUT,
    ("task", "new"): {"--priority": True, "--language": True, "--description": True, **_OUTPUT},
    ("task", "set-status"): {"--reason": True, "--phase": True, **_OUTPUT},
    ("task", "start"): _OUTPUT,
    ("task", "done"): _OUTPUT,
    ("task", "block"): {"--reason": True, **_OUTPUT},
    ("task", "link"): _OUTPUT,
    ("task", "archive"): _OUTPUT,
    ("findings", "add"): {
        "--title": True, "--topic": True, "--finding": True, "--status": True, "--actionable": False,
        "--no-actionable": False, "--followup": True, "--task": True, "--date": True, "--slug": True, "--file": True,
        "--summary": True, "--recommendation": True, "--source": True, **_OUTPUT,
    },
    ("findings", "link"): _OUTPUT,
}  # fmt: skip
"""The commands that a confined agent may ask for, with their options and whether each takes a value. None of them
writes a file that the agent names, or prints one: that would happen outside of its confinement."""
_HINT = f"an agent calls Remit with the {TICKET} that it was started with, in its own processes"


def open_calls(supervisor: Supervisor, session_id: str, config: RunConfig, folder: str) -> CallServer | None:
    """Execute the calls of a confined agent while its attempt runs; None if the agent can make none.

    If the socket can't be opened, each call ends with an error message.
    """
    if not config.confine or config.remote:
        return None
    root = supervisor.home.root

    def admit(words: Sequence[str], ticket: str, pid: int) -> None:
        check_caller(root, session_id, ticket, pid)
        check_words(words)

    dropped = (TICKET, SESSION, RETURN_FILE, SOCKET)
    environ = {name: value for name, value in supervisor.environ.items() if name not in dropped}
    environ |= {SESSION: session_id, "REMIT_ROOT": root}
    with suppress(OSError):
        return CallServer(folder, admit, root=root, environ=environ, ticket=TICKET)
    return None


def check_caller(root: str, session_id: str, ticket: str, pid: int) -> None:
    """Refuse a ticket of another run, and a process that, by the kernel's records, isn't the agent's."""
    with closing(Home(root)) as home:  # a thread needs a connection of its own
        tree = load_tree(home, ticket=hash_ticket(ticket)) if ticket else None
        sessions = find_all_enclosing(home, pid).sessions if pid > 0 else ()
    if tree is None or tree.own.session_id != session_id:
        raise RefusedError(f"the {TICKET} of this call isn't that of {session_id}", hint=_HINT)
    if sessions != (session_id,):
        raise RefusedError(f"the calling process doesn't belong to {session_id}", hint=_HINT)


def check_words(words: Sequence[str]) -> None:
    """Refuse a command line that isn't available to a confined agent."""
    command = next((each for each in ALLOWED if tuple(words[: len(each)]) == each), None)
    if command is None:
        named = ", ".join(f"'{' '.join(each)}'" for each in ALLOWED)
        told = f"'remit {' '.join(words[:2])[:80]}' isn't available to a confined agent"
        raise RefusedError(told, hint=f"available: {named}")
    shown, options = " ".join(command), ALLOWED[command]
    plain: list[str] = []
    left = [*words[len(command) :]]
    while left:
        word = left.pop(0)
        name, equals, value = word.partition("=")
        if word == "--":
            plain += left
            break
        if not word.startswith("-") or word == "-":
            plain.append(word)
            continue
        if name not in options:
            told = f"'remit {shown}' has no {name[:80]} for a confined agent"
            raise RefusedError(told, hint=f"available: {', '.join(sorted(options))}")
        if options[name] and not equals:
            value = left.pop(0) if left else ""
        if name == "--runner" and value == "python":
            raise RefusedError("a confined agent can't use the runner 'python'", hint="name another runner")
    if command == ("return", "submit") and plain not in ([], ["-"]):
        raise RefusedError("the return of a confined agent is read from standard input", hint="give it as -")
