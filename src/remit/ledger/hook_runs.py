"""Runs whose agent was started by a harness, the tools that they used, and notes that hooks leave for later hooks.

A hook reads these tables on every tool call of a subagent, in a short-lived process, so this imports only the clock.
"""

from __future__ import annotations

import os
import time

from remit.ledger import VERSION

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from sqlite3 import Connection
    from typing import Literal

    Doing = Literal["waiting", "idle"]

_MAX_MESSAGE = 4_000
_IDLE_MS = 5_000
"""After a caller's Stop hook the harness needs a moment to end its turn."""
MAIN = "@main"
"""The agent id of a harness session's main agent, which has no id of its own."""
HOOKS_OWNER = "hooks"
"""The owner of these rows: no supervisor drives them, only the harness."""
GRACE_MS = 10 * 60 * 1000
"""How long after its deadline an agent of a harness counts as lost: the harness itself has no deadlines."""
_COLUMNS = (
    "session_id, harness, harness_session, agent, tool_use_id, agent_id, parent_id, enforced, waited, blocks, "
    "deadline_ms, layers, process"
)


class HookRun:
    """One run: its session, the harness's names for it, and its limits."""

    __slots__ = (
        "agent", "agent_id", "blocks", "deadline_ms", "enforced", "harness", "harness_session", "layers", "parent_id",
        "process", "session_id", "tool_use_id", "waited",
    )  # fmt: skip

    def __init__(  # noqa: PLR0917 - in the order of the columns
        self,
        session_id: str,
        harness: str,
        harness_session: str,
        agent: str,
        tool_use_id: str = "",
        agent_id: str | None = None,
        parent_id: str | None = None,
        enforced: int = 0,
        waited: int = 1,
        blocks: int = 0,
        deadline_ms: int = 0,
        layers: str = "[]",
        process: str = "",
    ) -> None:
        self.session_id = session_id
        self.harness = harness
        self.harness_session = harness_session
        self.agent = agent
        self.tool_use_id = tool_use_id
        self.agent_id = agent_id
        self.parent_id = parent_id
        self.enforced = bool(enforced)
        """True if its return is checked."""
        self.waited = bool(waited)
        """True if its caller waits, so that the harness reports when the answer reaches it."""
        self.blocks = blocks
        self.deadline_ms = deadline_ms
        self.layers = layers
        """The permissions of it and of its callers, as JSON."""
        self.process = process
        """The process of its harness."""


_LAYERS = """
    WITH RECURSIVE line (session_id, parent_id, details) AS (
        SELECT session_id, parent_id, details FROM runs WHERE session_id = ?
        UNION
        SELECT above.session_id, above.parent_id, above.details
        FROM runs AS above JOIN line ON above.session_id = line.parent_id
    )
    SELECT json_extract(details, '$.permissions') FROM line
    UNION ALL
    SELECT value FROM line, json_each(details, '$.also')
"""


def add_hook_run(db: Connection, row: HookRun) -> None:
    """Add a run whose agent the harness is about to start."""
    marks = ", ".join("?" * 13)
    values = (
        row.session_id, row.harness, row.harness_session, row.agent, row.tool_use_id, row.agent_id, row.parent_id,
        int(row.enforced), int(row.waited), row.blocks, row.deadline_ms, row.layers,
        row.process,
    )  # fmt: skip
    db.execute(f"INSERT INTO hook_runs ({_COLUMNS}) VALUES ({marks})", values)  # noqa: S608 - fixed names


def find_by_agent(db: Connection, harness_session: str, agent_id: str) -> HookRun | None:
    """Return the last run with a harness's agent id; None if there is none."""
    return _find(db, "harness_session = ? AND agent_id = ?", (harness_session, agent_id))


def find_by_call(db: Connection, harness_session: str, tool_use_id: str) -> HookRun | None:
    """Return the run that a tool call requested; None if there is none."""
    return _find(db, "harness_session = ? AND tool_use_id = ?", (harness_session, tool_use_id)) if tool_use_id else None


def find_by_path(db: Connection, harness_session: str, path: str, *, is_bound: bool) -> HookRun | None:
    """Return the last agent at a path of Codex that has an agent id (`is_bound`) or has none yet."""
    having = "session_id IN (SELECT session_id FROM runs WHERE json_extract(details, '$.task_path') = ?)"
    known = f"agent_id IS {'NOT NULL' if is_bound else 'NULL'}"
    return _find(db, f"harness_session = ? AND {known} AND {having}", (harness_session, path)) if path else None


def find_by_session(db: Connection, session_id: str) -> HookRun | None:
    """Return the run of a session; None if there is none."""
    return _find(db, "session_id = ?", (session_id,))


def list_unbound(db: Connection, harness_session: str, agent: str) -> list[HookRun]:
    """Return the agents of a name that were requested and have sent no event yet, in the order of the requests."""
    query = f"""
        SELECT {_COLUMNS} FROM hook_runs
        WHERE harness_session = ? AND agent_id IS NULL AND agent = ?
          AND session_id IN (SELECT session_id FROM runs WHERE state <> 'finished')
        ORDER BY session_id
    """  # noqa: S608 - fixed names
    return [HookRun(*row) for row in db.execute(query, (harness_session, agent))]


def list_open(db: Connection, harness_session: str) -> list[HookRun]:
    """Return the unfinished runs of a harness session."""
    query = f"""
        SELECT {_COLUMNS} FROM hook_runs WHERE harness_session = ?
          AND session_id IN (SELECT session_id FROM runs WHERE state <> 'finished')
    """  # noqa: S608 - fixed names
    return [HookRun(*row) for row in db.execute(query, (harness_session,))]


def find_at_work(db: Connection, harness_session: str, since_ms: int, at_ms: int) -> str:
    """Return an agent of a harness session that is unfinished or ran at one of two times; empty if there is none.

    `since_ms`: it ran then or later. `at_ms`: it ran at exactly that time.
    """
    query = """
        SELECT hook_runs.agent FROM hook_runs JOIN runs USING (session_id)
        WHERE harness_session = :session
          AND (state <> 'finished' OR ended_ms >= :since OR (created_ms <= :at AND ended_ms >= :at))
        LIMIT 1
    """
    row = db.execute(query, {"session": harness_session, "since": since_ms, "at": at_ms}).fetchone()
    return "" if row is None else str(row[0])


def list_below(db: Connection, processes: list[str]) -> list[HookRun]:
    """Return the active agents of the nearest of some processes that has any."""
    query = f"""
        SELECT {_COLUMNS} FROM hook_runs WHERE process = ?
          AND session_id IN (SELECT session_id FROM runs WHERE state IN ('admitted', 'running'))
    """  # noqa: S608 - fixed names
    found = (db.execute(query, (each,)).fetchall() for each in processes)
    return [HookRun(*row) for row in next(filter(None, found), ())]


def list_awaited(db: Connection, harness_session: str, parent_id: str | None) -> list[HookRun]:
    """Return the runs that a caller has started and waits for."""
    return [each for each in list_open(db, harness_session) if each.waited and each.parent_id == parent_id]


def count_tokens_before(db: Connection, own: HookRun) -> int:
    """Return the tokens that the earlier runs of a resumed agent have used."""
    query = """
        SELECT total(tokens) FROM runs WHERE session_id IN
            (SELECT session_id FROM hook_runs WHERE harness_session = ? AND agent_id = ? AND session_id <> ?)
    """
    return int(db.execute(query, (own.harness_session, own.agent_id, own.session_id)).fetchone()[0])


def is_over(db: Connection, session_id: str) -> bool:
    """True if a run is finished or finishing."""
    row = db.execute("SELECT state FROM runs WHERE session_id = ?", (session_id,)).fetchone()
    return row is None or row[0] in ("finishing", "finished")


def bind(db: Connection, session_id: str, agent_id: str) -> None:
    """Store the harness's id of an agent."""
    statement = "UPDATE hook_runs SET agent_id = ? WHERE session_id = ? AND (agent_id IS NULL OR agent_id = ?)"
    db.execute(statement, (agent_id, session_id, agent_id))


def count_block(db: Connection, session_id: str, known: int) -> bool:
    """Count a return that was sent back; return False if another hook of the same event has counted it meanwhile."""
    statement = "UPDATE hook_runs SET blocks = blocks + 1 WHERE session_id = ? AND blocks = ?"
    return db.execute(statement, (session_id, known)).rowcount > 0


def extend_deadline(db: Connection, session_id: str, more_ms: int) -> None:
    """Give an agent more time, but not more than its caller has."""
    query = """
        SELECT min(own.deadline_ms + ?, coalesce(caller.deadline_ms, own.deadline_ms + ?))
        FROM runs AS own LEFT JOIN runs AS caller ON caller.session_id = own.parent_id WHERE own.session_id = ?
    """
    row = db.execute(query, (more_ms, more_ms, session_id)).fetchone()
    if row is not None and row[0] is not None:
        for table in ("runs", "hook_runs"):
            statement = f"UPDATE {table} SET deadline_ms = max(deadline_ms, ?) WHERE session_id = ?"  # noqa: S608 - fixed names
            db.execute(statement, (row[0], session_id))


def add_tool_use(db: Connection, session_id: str, tool: str, path: str | None, *, failed: bool) -> None:
    """Record that an agent used a tool."""
    db.execute(
        "INSERT INTO tool_uses (session_id, tool, path, failed, at_ms) VALUES (?, ?, ?, ?, ?)",
        (session_id, tool, path, int(failed), time.time_ns() // 1_000_000),
    )


def list_tool_uses(db: Connection, session_id: str) -> list[tuple[str, str | None, bool]]:
    """Return the tools that an agent used, in order: name, file, and whether it failed."""
    query = "SELECT tool, path, failed FROM tool_uses WHERE session_id = ? ORDER BY number"
    return [(tool, path, bool(failed)) for tool, path, failed in db.execute(query, (session_id,))]


def list_later_uses(db: Connection, session_id: str, number: int) -> list[tuple[int, str, str | None, bool, int]]:
    """Return the tools that an agent used after a number: number, name, file, whether it failed, and when."""
    query = (
        "SELECT number, tool, path, failed, at_ms FROM tool_uses WHERE session_id = ? AND number > ? ORDER BY number"
    )
    return [(each, tool, path, bool(failed), at_ms) for each, tool, path, failed, at_ms in
            db.execute(query, (session_id, number))]  # fmt: skip


def load_last_use(db: Connection, session_id: str) -> tuple[str, str | None, int] | None:
    """Return the tool that an agent used last: name, file, and when."""
    query = "SELECT tool, path, at_ms FROM tool_uses WHERE session_id = ? ORDER BY number DESC LIMIT 1"
    row: tuple[str, str | None, int] | None = db.execute(query, (session_id,)).fetchone()
    return row


def has_used_since(db: Connection, session_id: str, at_ms: int) -> bool:
    """True if an agent has used a tool since a time."""
    query = "SELECT 1 FROM tool_uses WHERE session_id = ? AND at_ms > ? LIMIT 1"
    return db.execute(query, (session_id, at_ms)).fetchone() is not None


def _find(db: Connection, where: str, values: tuple[str, ...]) -> HookRun | None:
    # By time: the ids of sessions that start within one second aren't ordered.
    query = f"""
        SELECT {_COLUMNS} FROM hook_runs WHERE {where}
        ORDER BY (SELECT created_ms FROM runs AS own WHERE own.session_id = hook_runs.session_id) DESC LIMIT 1
    """  # noqa: S608 - fixed texts
    row = db.execute(query, values).fetchone()
    return None if row is None else HookRun(*row)


# --- messages for a caller --------------------------------------------------------------------------------------------


def find_calling_agent(db: Connection, own: HookRun) -> str | None:
    """Return the session of the agent that called another one in the same harness session; None for the main agent."""
    above = find_by_session(db, own.parent_id) if own.parent_id else None
    is_agent = above is not None and above.agent_id != MAIN and above.harness_session == own.harness_session
    return own.parent_id if is_agent else None


def leave_message(db: Connection, own: HookRun, text: str) -> None:
    """Store a message for the caller of an agent, because the harness passes the answer on unchanged."""
    name = f"{_name_messages(own.harness_session)}{find_calling_agent(db, own) or ''} {own.session_id}"
    db.execute("INSERT OR REPLACE INTO notes (name, value) VALUES (?, ?)", (name, text[:_MAX_MESSAGE]))


def take_messages(db: Connection, harness_session: str, session_id: str | None) -> str:
    """Return and delete the messages for an agent, or for the harness session itself.

    The harness session also gets the messages for agents that are finished: their notifications go to it.
    """
    prefix = _name_messages(harness_session)
    rows = db.execute("SELECT name, value FROM notes WHERE name > ? AND name < ?", (prefix, f"{prefix}~")).fetchall()
    found = []
    for name, text in rows:
        caller = name[len(prefix) :].partition(" ")[0]
        if caller == (session_id or "") or (session_id is None and is_over(db, caller)):
            db.execute("DELETE FROM notes WHERE name = ?", (name,))
            found.append(str(text))
    return "\n".join(found)


def has_message(db: Connection, own: HookRun) -> bool:
    """Return whether there is a message about an agent that its caller hasn't got yet."""
    prefix = _name_messages(own.harness_session)
    query = "SELECT 1 FROM notes WHERE name > ? AND name < ? AND name LIKE ?"
    return db.execute(query, (prefix, f"{prefix}~", f"% {own.session_id}")).fetchone() is not None


def drop_message(db: Connection, own: HookRun) -> None:
    """Delete the message about an agent: its caller gets the whole result."""
    prefix = _name_messages(own.harness_session)
    query = "DELETE FROM notes WHERE name > ? AND name < ? AND name LIKE ?"
    db.execute(query, (prefix, f"{prefix}~", f"% {own.session_id}"))


def _name_messages(harness_session: str) -> str:
    return f"message {harness_session} "


# --- whether the caller of an agent waits for it or is idle ----------------------------------------------------------
#
# Codex delivers an agent's answer with the next request of its caller, whatever the caller does. So an agent whose
# return was rejected may end only if its caller gets the verdict with that request.


def note_doing(db: Connection, harness_session: str, session_id: str | None, doing: Doing) -> None:
    """Record that a caller waits for its agents, and so gets a verdict first, or that its turn has ended."""
    value = f"{doing} {time.time_ns() // 1_000_000}"
    db.execute(
        "INSERT OR REPLACE INTO notes (name, value) VALUES (?, ?)", (_name_doing(harness_session, session_id), value)
    )


def forget_doing(db: Connection, harness_session: str, session_id: str | None) -> None:
    """Record that a caller's model may be called at any moment."""
    db.execute("DELETE FROM notes WHERE name = ?", (_name_doing(harness_session, session_id),))


def will_receive(db: Connection, harness_session: str, session_id: str | None) -> bool:
    """Return whether the next request of a caller comes after an event that delivers its messages."""
    row = db.execute("SELECT value FROM notes WHERE name = ?", (_name_doing(harness_session, session_id),)).fetchone()
    doing, _, at_ms = ("", "", "0") if row is None else str(row[0]).partition(" ")
    return doing == "waiting" or (doing == "idle" and time.time_ns() // 1_000_000 - int(at_ms) >= _IDLE_MS)


def _name_doing(harness_session: str, session_id: str | None) -> str:
    return f"doing {harness_session} {session_id or ''}"


def leave_instructions(db: Connection, session_id: str, text: str) -> None:
    """Store the instructions of a run whose agent is already running, until its next event."""
    db.execute("INSERT OR REPLACE INTO notes (name, value) VALUES (?, ?)", (f"instructions {session_id}", text))


def take_instructions(db: Connection, session_id: str) -> str:
    """Return and delete these instructions; empty if there are none."""
    name = f"instructions {session_id}"
    row = db.execute("SELECT value FROM notes WHERE name = ?", (name,)).fetchone()
    if row is not None:
        db.execute("DELETE FROM notes WHERE name = ?", (name,))
    return "" if row is None else str(row[0])


# --- a connection for short-lived processes ---------------------------------------------------------------------------

_PATIENCE_S = 2.0
_MAX_LOG_BYTES = 1024 * 1024
"""Opening the ledger reads the whole log first if no other process has it open: one millisecond per megabyte."""


def open_quickly(file: str) -> Connection | None:
    """Open the ledger for a few rows, without what a longer use needs; return None if it has to be created first.

    Another process that locks it for long isn't waited for: a hook has to answer.
    """
    try:  # many events of a harness need no row
        from _sqlite3 import connect  # noqa: PLC0415 - without the date adapters, which take longer than the row
    except ImportError:
        from sqlite3 import connect  # noqa: PLC0415

    if not os.path.isfile(file):
        return None
    db: Connection = connect(file, timeout=_PATIENCE_S, isolation_level=None)
    db.execute("PRAGMA wal_autocheckpoint = 0")  # checkpoints are made by one process at a time
    return db if db.execute("PRAGMA user_version").fetchone()[0] == VERSION else None


def note_use(
    db: Connection,
    own: HookRun,
    tool: str,
    paths: Sequence[str | None],
    *,
    operation: str,
    failed: bool,
    is_known: bool = False,
    outside: Sequence[str] = (),
) -> None:
    """Record in one transaction that an agent used a tool, and what it did to files (R3.11).

    `paths`: the files that it wrote, or that changed while it ran; None among them means that others may have changed,
    too. `outside`: the files that it wrote in hyper's workspace root outside the project. `is_known`: the use is
    recorded already, and only the files are new.
    """
    db.execute("PRAGMA synchronous = NORMAL")
    db.execute("BEGIN IMMEDIATE")
    try:
        named = paths[:1] if is_known and paths and _name_file(db, own.session_id, tool, paths[0] or "") else ()
        for path in paths[len(named) :] or (() if named else (None,)):
            add_tool_use(db, own.session_id, tool, path, failed=failed)
        parent = own.parent_id or (own.harness_session if own.agent_id != MAIN else None)
        for path in () if failed or operation != "write" else (*paths, *outside):
            add_act(db, session_id=own.session_id, path=path, operation=operation, parent_id=parent)
        db.execute("COMMIT")
    except BaseException:
        if db.in_transaction:
            db.execute("ROLLBACK")
        raise
    _checkpoint_if_long(db)


def note_main_writes(db: Connection, harness_session: str, paths: Sequence[str], operation: str) -> None:
    """Record what the main agent of a harness session did to files."""
    for path in paths:
        add_act(db, session_id=harness_session, path=path, operation=operation)


def add_act(db: Connection, *, session_id: str, path: str | None, operation: str, parent_id: str | None = None) -> None:
    """Record an operation on a file (R3.11)."""
    db.execute(
        "INSERT INTO activity (session_id, parent_id, path, operation, at_ms) VALUES (?, ?, ?, ?, ?)",
        (session_id, parent_id, path, operation, time.time_ns() // 1_000_000),
    )


def load_workspace_root(db: Connection, session_id: str) -> str:
    """Return the folder at which the paths of a run's `hyper` return start; empty if there is none."""
    query = "SELECT json_extract(details, '$.workspace_root') FROM runs WHERE session_id = ?"
    row = db.execute(query, (session_id,)).fetchone()
    return row[0] if row is not None and row[0] else ""


def list_layers(db: Connection, session_id: str) -> list[str]:
    """Return the permissions of a run and of its callers, as they were fixed at admission, each as JSON."""
    return [layer for (layer,) in db.execute(_LAYERS, (session_id,)) if layer]


def begin_command(db: Connection, session_id: str, tool_use_id: str, ticket: str = "") -> None:
    """Record that an agent runs a command, with its ticket, whose writes are reported only when it has ended."""
    db.execute("PRAGMA synchronous = NORMAL")
    name = f"command {session_id} {tool_use_id}"
    db.execute("INSERT OR REPLACE INTO notes (name, value) VALUES (?, ?)", (name, ticket))


def find_command_ticket(db: Connection, session_id: str, tool_use_id: str) -> str:
    """Return the ticket of a command of an agent; "" if it has none."""
    row = db.execute("SELECT value FROM notes WHERE name = ?", (f"command {session_id} {tool_use_id}",)).fetchone()
    return "" if row is None else str(row[0])


def end_commands(db: Connection, session_id: str, tool_use_id: str = "") -> None:
    """Record that a command has ended; without its id, all commands of an agent."""
    prefix = f"command {session_id} {tool_use_id}"
    last = prefix if tool_use_id else f"{prefix}~"
    db.execute("DELETE FROM notes WHERE name >= ? AND name <= ?", (prefix, last))


def has_command(db: Connection, session_id: str) -> bool:
    """True if an agent runs a command."""
    prefix = f"command {session_id} "
    query = "SELECT 1 FROM notes WHERE name >= ? AND name <= ? LIMIT 1"
    return db.execute(query, (prefix, f"{prefix}~")).fetchone() is not None


def keep_names(db: Connection, session_id: str, tool_use_id: str, record: str) -> None:
    """Store what was at the protected names before a command, and before an agent's first command."""
    db.execute("PRAGMA synchronous = NORMAL")
    rows = ((f"names {session_id}", record), (f"names {session_id} {tool_use_id}", record))
    db.execute("INSERT OR IGNORE INTO notes (name, value) VALUES (?, ?), (?, ?)", (*rows[0], *rows[1]))


def take_names(db: Connection, session_id: str, tool_use_id: str) -> str:
    """Return and delete what was at the protected names before a command; empty if unknown."""
    row = db.execute(
        "DELETE FROM notes WHERE name = ? RETURNING value", (f"names {session_id} {tool_use_id}",)
    ).fetchone()  # fmt: skip
    return "" if row is None else str(row[0])


def take_all_names(db: Connection, session_id: str) -> list[str]:
    """Return and delete what was at the protected names before an agent's first command and its running commands."""
    prefix = f"names {session_id}"
    query = "DELETE FROM notes WHERE name >= ? AND name <= ? RETURNING name, value"
    return [value for _, value in sorted(db.execute(query, (prefix, f"{prefix} ~")).fetchall())]


def load_kept(db: Connection) -> str:
    """Return the last record of the protected files whose copies are stored; empty if there is none."""
    row = db.execute("SELECT value FROM notes WHERE name = 'kept '").fetchone()
    return "" if row is None else str(row[0])


def note_kept(db: Connection, name: str, record: str) -> None:
    """Store a record of the protected files: the last one, or that of a command, named by session and call."""
    db.execute("PRAGMA synchronous = NORMAL")
    db.execute("INSERT OR REPLACE INTO notes (name, value) VALUES (?, ?)", (f"kept {name}", record))


def list_open_kept(db: Connection) -> list[str]:
    """Return the records of commands that still run, of active runs."""
    query = """
        SELECT value FROM runs JOIN notes
            ON name > 'kept ' || session_id || ' ' AND name < 'kept ' || session_id || ' ~'
        WHERE state IN ('admitted', 'running')
    """
    return [str(value) for (value,) in db.execute(query)]


def take_kept(db: Connection, name: str, *, is_prefix: bool = False) -> list[str]:
    """Return and delete the record of a command, or those of all commands of a run."""
    last = f"kept {name}~" if is_prefix else f"kept {name}"
    query = "DELETE FROM notes WHERE name >= ? AND name <= ? RETURNING value"
    return [str(value) for (value,) in db.execute(query, (f"kept {name}", last)).fetchall()]


def note_user_tool(db: Connection, harness_session: str) -> None:
    """Record that a tool of the user's own session has ended while an enforced agent is running."""
    query = """
        INSERT OR REPLACE INTO notes (name, value) SELECT ?, ? WHERE EXISTS (
            SELECT 1 FROM hook_runs JOIN runs USING (session_id) WHERE enforced AND state <> 'finished')
    """
    db.execute(query, (f"user {harness_session}", str(time.time_ns())))


_OTHER_AUTHORS = """
    SELECT 'the user''s own session used a tool' FROM notes
        WHERE name > 'user ' AND name < 'user~' AND CAST(value AS INTEGER) >= :since
    UNION ALL
    SELECT 'an agent that Remit only observes used a tool' FROM hook_runs JOIN tool_uses USING (session_id)
        WHERE NOT enforced AND at_ms >= :since / 1000000
    UNION ALL
    SELECT 'an agent that Remit only observes runs a command' FROM hook_runs JOIN runs USING (session_id)
        WHERE NOT enforced AND state <> 'finished' AND EXISTS (
            SELECT 1 FROM notes WHERE name > 'command ' || session_id AND name < 'command ' || session_id || '~')
    UNION ALL
    SELECT 'another run is at work and isn''t confined' FROM runs LEFT JOIN hook_runs USING (session_id)
        WHERE runs.state = 'running' AND hook_runs.session_id IS NULL
            AND coalesce(json_extract(details, '$.confine'), 0) = 0
    LIMIT 1
"""


def find_other_author(db: Connection, since_ns: int) -> str:
    """Return what else may have written a protected file since a time, unlimited; empty if nothing is known."""
    row = db.execute(_OTHER_AUTHORS, {"since": since_ns}).fetchone()
    return "" if row is None else str(row[0])


def _name_file(db: Connection, session_id: str, tool: str, path: str) -> bool:
    """Set the file of a tool's last use whose file isn't known; return False if there is none."""
    last = "SELECT max(number) FROM tool_uses WHERE session_id = ? AND tool = ? AND path IS NULL"
    return db.execute(f"UPDATE tool_uses SET path = ? WHERE number = ({last})", (path, session_id, tool)).rowcount > 0  # noqa: S608 - fixed texts


def _checkpoint_if_long(db: Connection) -> None:
    file = db.execute("PRAGMA database_list").fetchone()[2]
    try:
        size = os.stat(f"{file}-wal").st_size
    except OSError:
        return
    if size > _MAX_LOG_BYTES:
        from remit.ledger.store import checkpoint_if_free  # noqa: PLC0415 - once in some dozens of uses

        checkpoint_if_free(db, file)
