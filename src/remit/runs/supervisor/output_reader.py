"""Read the usage of agents from their output so far.

Owns how the usage of several attempts is added up, and how one process knows what the agent of another has used: it
listens to the same output. So whoever hands work on is counted at that moment, not as of the ledger's last second.
"""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from remit.attempts.folders import find_folder
from remit.attempts.output import OUT_CAP_BYTES, read_out
from remit.errors import RefusedError, RunnerError
from remit.ledger.runs import count_attempts
from remit.runners import AttemptOrder, Usage
from remit.runners.registry import get_runner
from remit.runs.admission.run_config import read_run_config
from remit.runs.admission.run_tree import load_tree
from remit.runs.admission.tickets import TICKET, hash_ticket
from remit.runs.judging.conclusion import add_usage

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from remit.ledger.home import Home
    from remit.runners import Listener, Runner, RunOutput

PIECE_BYTES = 1024 * 1024


class OutputReader:
    """One attempt that is listened to, from its beginning and as it goes on."""

    def __init__(self, folder: str, listener: Listener) -> None:
        self.folder = folder
        self.listener = listener
        self.offset = 0

    def read_more(self) -> bool:
        """Take in a piece of what was printed since; whether there was any. No more than a shim keeps is read."""
        limit = min(PIECE_BYTES, OUT_CAP_BYTES - self.offset)
        data = read_out(self.folder, self.offset, limit)
        if data:
            self.offset += len(data)
            self.listener.feed(data)
        return bool(data)


def sum_usage(heards: Iterable[RunOutput], *, counts_thread: bool) -> Usage:
    """What all attempts have used. Where one counts its whole session, that stands for the earlier ones, too."""
    by_session: dict[str | None, list[Usage]] = {}
    for heard in heards:
        usages = by_session.setdefault(heard.harness_id, [])
        if (counts_thread or heard.counts_session) and heard.usage.tokens is not None:
            usages[:] = [Usage(turns=usage.turns) for usage in usages]  # turns are those that were heard
        usages.append(heard.usage)
    total = Usage()
    for usage in (usage for usages in by_session.values() for usage in usages):
        total = add_usage(total, usage)
    return total


def read_callers_usage(home: Home, environ: Mapping[str, str], own_runners: Mapping[str, str]) -> dict[str, Usage]:
    """What the session that an environment belongs to and those above it have used by now.

    Nothing is listened to where nobody has a limit. Whether they may call at all is another question.
    """
    token = environ.get(TICKET, "")
    tree = None
    with suppress(RefusedError):  # is told when the ledger is asked who calls
        tree = load_tree(home, ticket=hash_ticket(token)) if token else None
    if tree is None or not tree.is_limited():
        return {}
    heard = {}
    for session_id, row in tree.line.items():
        with suppress(RunnerError):  # one that the workspace does not have any more
            base = read_run_config(tree.config[session_id]).base
            runner = get_runner(row.runner, {**own_runners, row.runner: base} if base else own_runners)
            if row.state == "running" and runner.tells_usage:
                heard[session_id] = _read_attempts_usage(home, session_id, runner, tree.config[session_id])
    return heard


def _read_attempts_usage(home: Home, session_id: str, runner: Runner, details: Mapping[str, object]) -> Usage:
    settings = read_run_config(details).settings
    heards = []
    for number in range(1, count_attempts(home.ledger, session_id) + 1):
        folder = find_folder(home, session_id, number)
        listener = runner.listen(AttemptOrder(session_id, "", "", home.root, folder, settings=settings))
        hearing = OutputReader(folder, listener)
        while hearing.read_more():
            pass
        heards.append(listener.tell())
    return sum_usage(heards, counts_thread=runner.counts_thread)
