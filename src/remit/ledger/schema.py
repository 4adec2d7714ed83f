"""The tables of the ledger.

`VERSION` of the package counts their changes. Before the first release, a ledger with an older version is renamed and a
new one is created; later, a change of the schema has to migrate the rows.
"""

from __future__ import annotations

_RUNS = (
    # A run, from request to result. `parent_id` is the caller, `root_id` the first run of the tree. `owner` is the
    # supervisor that drives it. `awaited`: its caller waits for it and so has no slot. `ticket` is the hash of the
    # token that its agent carries. `summary` is the summary of its report, for searching.
    """
    CREATE TABLE runs (
        session_id TEXT PRIMARY KEY,
        parent_id TEXT REFERENCES runs,
        root_id TEXT NOT NULL,
        agent TEXT NOT NULL,
        depth INTEGER NOT NULL,
        path TEXT NOT NULL,
        task_number INTEGER,
        state TEXT NOT NULL CHECK (state IN ('admitted', 'running', 'finishing', 'finished')),
        created_ms INTEGER NOT NULL,
        started_ms INTEGER,
        deadline_ms INTEGER,
        ended_ms INTEGER,
        stop_reason TEXT,
        verdict TEXT,
        status TEXT,
        owner TEXT,
        awaited INTEGER NOT NULL DEFAULT 0,
        ticket TEXT,
        runner TEXT NOT NULL DEFAULT '',
        tokens INTEGER,
        cost_usd REAL,
        turns INTEGER,
        summary TEXT NOT NULL DEFAULT '',
        details TEXT NOT NULL DEFAULT '{}'
    ) STRICT, WITHOUT ROWID
    """,
    # For pages of runs with any filter, and their counts, without reading the rows.
    """
    CREATE INDEX runs_browsed ON runs (
        created_ms, session_id, parent_id, state, agent, verdict, status, stop_reason, task_number
    )
    """,
    "CREATE INDEX runs_by_agent ON runs (agent, created_ms)",
    "CREATE INDEX runs_by_parent ON runs (parent_id) WHERE parent_id IS NOT NULL",
    "CREATE INDEX runs_by_root ON runs (root_id)",
    "CREATE INDEX runs_open ON runs (state) WHERE state <> 'finished'",
    "CREATE INDEX runs_by_end ON runs (ended_ms)",
    "CREATE UNIQUE INDEX runs_by_ticket ON runs (ticket) WHERE ticket IS NOT NULL",
    # The attempts, each with the diagnostics of its answer and the files that the answer claims.
    """
    CREATE TABLE attempts (
        session_id TEXT NOT NULL REFERENCES runs ON DELETE CASCADE,
        number INTEGER NOT NULL,
        started_ms INTEGER NOT NULL,
        ended_ms INTEGER,
        stop_reason TEXT,
        verdict TEXT,
        answer TEXT,
        diagnostics TEXT NOT NULL DEFAULT '[]',
        usage TEXT NOT NULL DEFAULT '{}',
        repairs TEXT NOT NULL DEFAULT '[]',
        claims TEXT NOT NULL DEFAULT '[]',
        PRIMARY KEY (session_id, number)
    ) STRICT, WITHOUT ROWID
    """,
    # Numbers only grow, also after rows were deleted: a follower asks for the events above the last one it read.
    """
    CREATE TABLE events (
        number INTEGER PRIMARY KEY AUTOINCREMENT,
        at_ms INTEGER NOT NULL,
        session_id TEXT,
        kind TEXT NOT NULL,
        details TEXT NOT NULL DEFAULT '{}'
    ) STRICT
    """,
    "CREATE INDEX events_by_session ON events (session_id, number) WHERE session_id IS NOT NULL",
    # Prompts and answers, word for word. A long text is a file (spill), and its row has the file's hash.
    """
    CREATE TABLE texts (
        session_id TEXT NOT NULL,
        kind TEXT NOT NULL,
        content BLOB NOT NULL,
        created_ms INTEGER NOT NULL,
        PRIMARY KEY (session_id, kind)
    ) STRICT, WITHOUT ROWID
    """,
    """
    CREATE TRIGGER texts_summary AFTER INSERT ON texts
    WHEN new.kind = 'report' AND json_valid(CAST(new.content AS TEXT))  -- a long report is a file
    BEGIN
        UPDATE runs
        SET summary = substr(coalesce(json_extract(CAST(new.content AS TEXT), '$.result.summary'), ''), 1, 400)
        WHERE session_id = new.session_id;
    END
    """,
    # Texts that are too long for a row, stored as files that are named by their hash.
    """
    CREATE TABLE spills (
        hash TEXT NOT NULL,
        session_id TEXT NOT NULL,
        kind TEXT NOT NULL,
        size_bytes INTEGER NOT NULL,
        created_ms INTEGER NOT NULL,
        PRIMARY KEY (hash, session_id, kind)
    ) STRICT, WITHOUT ROWID
    """,
    # What agents did to files (R3.11). `written`: the file's own frontmatter has the record.
    """
    CREATE TABLE activity (
        number INTEGER PRIMARY KEY,
        session_id TEXT NOT NULL,
        parent_id TEXT,
        path TEXT NOT NULL,
        operation TEXT NOT NULL,
        at_ms INTEGER NOT NULL,
        written INTEGER NOT NULL DEFAULT 0
    ) STRICT
    """,
    "CREATE INDEX activity_by_session ON activity (session_id, path)",
    # The finish steps that were done: each is done once.
    """
    CREATE TABLE finish_steps (
        session_id TEXT NOT NULL,
        step TEXT NOT NULL,
        at_ms INTEGER NOT NULL,
        result TEXT NOT NULL DEFAULT '{}',
        PRIMARY KEY (session_id, step)
    ) STRICT, WITHOUT ROWID
    """,
    # How acceptance checks ended, by a hash of tree, command and environment.
    """
    CREATE TABLE check_results (
        key TEXT PRIMARY KEY,
        answer TEXT NOT NULL CHECK (answer IN ('passed', 'failed')),
        duration_ms INTEGER NOT NULL,
        tests INTEGER,
        skipped INTEGER,
        at_ms INTEGER NOT NULL
    ) STRICT, WITHOUT ROWID
    """,
    # Single facts, such as the task in focus.
    "CREATE TABLE notes (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID",
)

_HOOKS = (
    # Runs whose agent a harness started itself: the harness's names for it, and its limits. `agent_id` is known from
    # its first event on. `enforced`: its return is checked; otherwise it is only observed. `process` is the harness: a
    # process that is started below it while it waits for an agent belongs to that agent.
    """
    CREATE TABLE hook_runs (
        session_id TEXT PRIMARY KEY REFERENCES runs ON DELETE CASCADE,
        harness TEXT NOT NULL,
        harness_session TEXT NOT NULL,
        agent TEXT NOT NULL,
        tool_use_id TEXT NOT NULL DEFAULT '',
        agent_id TEXT,
        parent_id TEXT,
        enforced INTEGER NOT NULL,
        waited INTEGER NOT NULL,
        blocks INTEGER NOT NULL DEFAULT 0,
        deadline_ms INTEGER NOT NULL,
        layers TEXT NOT NULL DEFAULT '[]',
        process TEXT NOT NULL DEFAULT ''
    ) STRICT, WITHOUT ROWID
    """,
    "CREATE INDEX hook_runs_by_agent ON hook_runs (harness_session, agent_id)",
    "CREATE INDEX hook_runs_by_call ON hook_runs (harness_session, tool_use_id)",
    # The tools that a subagent used, one row for each use. Its return is compared with them.
    """
    CREATE TABLE tool_uses (
        number INTEGER PRIMARY KEY,
        session_id TEXT NOT NULL,
        tool TEXT NOT NULL,
        path TEXT,
        failed INTEGER NOT NULL,
        at_ms INTEGER NOT NULL
    ) STRICT
    """,
    "CREATE INDEX tool_uses_by_session ON tool_uses (session_id)",
)

JOURNAL = ("intents", "intended_files")
"""The tables of unfinished changes to files. They survive a new schema version, so their columns have to stay."""
_FILES = (
    # Atomic changes to several files: the intent is written here first, then carried out, then deleted.
    """
    CREATE TABLE IF NOT EXISTS intents (
        number INTEGER PRIMARY KEY AUTOINCREMENT,
        kind TEXT NOT NULL,
        details TEXT NOT NULL DEFAULT '{}',
        created_ms INTEGER NOT NULL
    ) STRICT
    """,
    """
    CREATE TABLE IF NOT EXISTS intended_files (
        intent INTEGER NOT NULL REFERENCES intents ON DELETE CASCADE,
        position INTEGER NOT NULL,
        path TEXT NOT NULL,
        before BLOB,  -- hashes; the new content waits in a file
        after BLOB NOT NULL,
        PRIMARY KEY (intent, position)
    ) STRICT
    """,
    # The hashes of the two task files when they last agreed, to find out which of them was edited since.
    "CREATE TABLE agreed (path TEXT PRIMARY KEY, hash BLOB NOT NULL) STRICT, WITHOUT ROWID",
    """
    CREATE TABLE agreed_markers (
        path TEXT NOT NULL,
        number INTEGER NOT NULL,
        marker TEXT NOT NULL,
        PRIMARY KEY (path, number)
    ) STRICT, WITHOUT ROWID
    """,
)

_MANIFEST = (
    # How far each manifest was read, and the file's identity then. No number is used twice.
    """
    CREATE TABLE manifests (
        number INTEGER PRIMARY KEY AUTOINCREMENT,
        path TEXT NOT NULL UNIQUE,
        device INTEGER NOT NULL DEFAULT 0,
        inode INTEGER NOT NULL DEFAULT 0,
        size_bytes INTEGER NOT NULL DEFAULT 0,
        changed_ns INTEGER NOT NULL DEFAULT 0,
        offset INTEGER NOT NULL DEFAULT 0,
        lines INTEGER NOT NULL DEFAULT 0,
        checksum INTEGER NOT NULL DEFAULT 0
    ) STRICT
    """,
    # An entry, or a bad line, which has a reason and no day. An entry without a date has the day "".
    """
    CREATE TABLE manifest_lines (
        number INTEGER PRIMARY KEY,
        manifest INTEGER NOT NULL,
        line INTEGER NOT NULL,
        day TEXT,
        id TEXT,
        status TEXT,
        actionable INTEGER,
        pending INTEGER,
        topics TEXT,
        tasks TEXT,
        reason TEXT,
        entry BLOB
    ) STRICT
    """,
    "CREATE INDEX manifest_lines_by_day ON manifest_lines (manifest, day, line)",
    "CREATE INDEX manifest_lines_by_id ON manifest_lines (manifest, id, line)",
    # The words of each entry, by its number; the texts themselves are in the manifest.
    """
    CREATE VIRTUAL TABLE manifest_words USING fts5 (
        id, title, topics, key_findings, content = '', columnsize = 0,
        tokenize = 'porter unicode61 remove_diacritics 2'
    )
    """,
)

TABLES = (*_RUNS, *_HOOKS, *_FILES, *_MANIFEST)
