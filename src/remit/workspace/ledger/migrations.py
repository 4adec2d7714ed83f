"""The ledger's tables, as the named steps that made them.

Owns the schema. A step that was released is never changed; a later one changes what it made.
"""

from __future__ import annotations

from remit.quick_tuple import NamedTuple


class Migration(NamedTuple):
    """One step: its name, kept in the ledger, and what it does."""

    name: str
    statements: tuple[str, ...]


_DELEGATIONS = Migration(
    "delegations",
    (
        "CREATE TABLE migrations (name TEXT PRIMARY KEY, at TEXT NOT NULL DEFAULT CURRENT_TIMESTAMP) STRICT",
        # What was asked, and what became of it. `parent_id` is the session that asked, `root_id` the first of its tree.
        """
        CREATE TABLE delegations (
            session_id TEXT PRIMARY KEY,
            parent_id TEXT REFERENCES delegations,
            root_id TEXT NOT NULL,
            agent TEXT NOT NULL,
            depth INTEGER NOT NULL,
            path TEXT NOT NULL,
            task_number INTEGER,
            state TEXT NOT NULL CHECK (state IN ('admitted', 'running', 'settling', 'settled')),
            created_ms INTEGER NOT NULL,
            started_ms INTEGER,
            deadline_ms INTEGER,
            ended_ms INTEGER,
            ending TEXT,
            outcome TEXT,
            status TEXT,
            details TEXT NOT NULL DEFAULT '{}'
        ) STRICT, WITHOUT ROWID
        """,
        "CREATE INDEX delegations_by_time ON delegations (created_ms)",
        "CREATE INDEX delegations_by_parent ON delegations (parent_id) WHERE parent_id IS NOT NULL",
        "CREATE INDEX delegations_by_root ON delegations (root_id)",
        "CREATE INDEX delegations_open ON delegations (state) WHERE state <> 'settled'",
        # Each time that the agent answered, or was asked to and did not.
        """
        CREATE TABLE attempts (
            session_id TEXT NOT NULL REFERENCES delegations ON DELETE CASCADE,
            number INTEGER NOT NULL,
            started_ms INTEGER NOT NULL,
            ended_ms INTEGER,
            ending TEXT,
            outcome TEXT,
            answer TEXT,
            findings TEXT NOT NULL DEFAULT '[]',
            usage TEXT NOT NULL DEFAULT '{}',
            PRIMARY KEY (session_id, number)
        ) STRICT, WITHOUT ROWID
        """,
        # Numbers only grow, also after rows were removed: whoever follows asks for what is above the last it saw.
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
        # Texts that are too long for a row, kept as files under the name of their hash.
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
        # What an agent did to which file (R3.11); `written` once it stands in the file's own frontmatter.
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
    ),
)

_INTENTS = Migration(
    "intents",
    (
        # A change to several files that happens as a whole: written here first, then done, then crossed out.
        """
        CREATE TABLE intents (
            number INTEGER PRIMARY KEY AUTOINCREMENT,
            kind TEXT NOT NULL,
            details TEXT NOT NULL DEFAULT '{}',
            created_ms INTEGER NOT NULL
        ) STRICT
        """,
        """
        CREATE TABLE intended_files (
            intent INTEGER NOT NULL REFERENCES intents ON DELETE CASCADE,
            position INTEGER NOT NULL,
            path TEXT NOT NULL,
            before BLOB,  -- hashes; the new content waits in a file
            after BLOB NOT NULL,
            PRIMARY KEY (intent, position)
        ) STRICT
        """,
        # What the two files of tasks said when they last agreed, to tell which of them was edited since.
        """
        CREATE TABLE agreed (path TEXT PRIMARY KEY, hash BLOB NOT NULL) STRICT, WITHOUT ROWID
        """,
        """
        CREATE TABLE agreed_markers (
            path TEXT NOT NULL,
            number INTEGER NOT NULL,
            marker TEXT NOT NULL,
            PRIMARY KEY (path, number)
        ) STRICT, WITHOUT ROWID
        """,
        # Single facts, such as the task that is in focus.
        "CREATE TABLE notes (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID",
        # Steps of a settlement that were done, so that none is done twice.
        """
        CREATE TABLE settled_steps (
            session_id TEXT NOT NULL,
            step TEXT NOT NULL,
            at_ms INTEGER NOT NULL,
            result TEXT NOT NULL DEFAULT '{}',
            PRIMARY KEY (session_id, step)
        ) STRICT, WITHOUT ROWID
        """,
    ),
)

MANIFEST_INDEXES = {
    "manifest_entries_by_id": "CREATE INDEX manifest_entries_by_id ON manifest_entries (id) WHERE id IS NOT NULL",
    "manifest_entries_by_status": "CREATE INDEX manifest_entries_by_status ON manifest_entries (status)",
    "manifest_entries_pending": "CREATE INDEX manifest_entries_pending ON manifest_entries (number) WHERE pending",
}
"""What a large manifest is read without, and gets at its end: to sort once is quicker than to keep sorted."""

_MANIFEST = Migration(
    "manifest",
    (
        # A manifest that was indexed, and how far. Without a path it is forgotten: what is in the tables below under
        # its number is never found again, and goes when everything is made anew.
        """
        CREATE TABLE manifests (
            number INTEGER PRIMARY KEY,
            path TEXT UNIQUE,
            device INTEGER NOT NULL DEFAULT 0,
            inode INTEGER NOT NULL DEFAULT 0,
            size_bytes INTEGER NOT NULL DEFAULT 0,
            changed_ns INTEGER NOT NULL DEFAULT 0,
            offset INTEGER NOT NULL DEFAULT 0,
            lines INTEGER NOT NULL DEFAULT 0,
            checksum INTEGER NOT NULL DEFAULT 0,
            last_checksum INTEGER NOT NULL DEFAULT 0
        ) STRICT
        """,
        # `number` is made of the manifest's number, the day and the line: by number is by date.
        """
        CREATE TABLE manifest_entries (
            number INTEGER PRIMARY KEY,
            id TEXT,
            status TEXT NOT NULL,
            actionable INTEGER NOT NULL,
            pending INTEGER NOT NULL,
            offset INTEGER NOT NULL,
            length INTEGER NOT NULL
        ) STRICT
        """,
        *MANIFEST_INDEXES.values(),
        """
        CREATE TABLE manifest_topics (
            topic TEXT NOT NULL,
            entry INTEGER NOT NULL,
            PRIMARY KEY (topic, entry)
        ) STRICT, WITHOUT ROWID
        """,
        """
        CREATE TABLE manifest_tasks (
            task TEXT NOT NULL,
            entry INTEGER NOT NULL,
            PRIMARY KEY (task, entry)
        ) STRICT, WITHOUT ROWID
        """,
        """
        CREATE TABLE manifest_bad_lines (
            manifest INTEGER NOT NULL,
            line INTEGER NOT NULL,
            reason TEXT NOT NULL,
            PRIMARY KEY (manifest, line)
        ) STRICT, WITHOUT ROWID
        """,
        # Only where words stand: the words themselves are in the manifest.
        """
        CREATE VIRTUAL TABLE manifest_words USING fts5 (
            id, title, topics, key_findings, content = '', columnsize = 0,
            tokenize = 'porter unicode61 remove_diacritics 2'
        )
        """,
        # Bytes of words that are kept in memory before they are written out: the default is a quarter of it.
        "INSERT INTO manifest_words (manifest_words, rank) VALUES ('hashsize', 4194304)",
    ),
)

_RUNNING = Migration(
    "running",
    (
        # The broker that drives it, and whether its caller waits for it: a caller that waits holds no slot.
        "ALTER TABLE delegations ADD COLUMN owner TEXT",
        "ALTER TABLE delegations ADD COLUMN awaited INTEGER NOT NULL DEFAULT 0",
        # The hash of the token that its agent carries.
        "ALTER TABLE delegations ADD COLUMN ticket TEXT",
        "ALTER TABLE delegations ADD COLUMN runner TEXT NOT NULL DEFAULT ''",
        # What it used, as far as its harness tells: budgets are held against these.
        "ALTER TABLE delegations ADD COLUMN tokens INTEGER",
        "ALTER TABLE delegations ADD COLUMN cost_usd REAL",
        "ALTER TABLE delegations ADD COLUMN turns INTEGER",
        "CREATE UNIQUE INDEX delegations_by_ticket ON delegations (ticket) WHERE ticket IS NOT NULL",
        # What was said, word for word, where it is short: a row costs a tenth of a file.
        """
        CREATE TABLE texts (
            session_id TEXT NOT NULL,
            kind TEXT NOT NULL,
            content BLOB NOT NULL,
            created_ms INTEGER NOT NULL,
            PRIMARY KEY (session_id, kind)
        ) STRICT, WITHOUT ROWID
        """,
    ),
)

_ENDINGS = Migration(
    "endings",
    # Who else was at work meanwhile: those that have not ended, or ended since.
    ("CREATE INDEX delegations_by_end ON delegations (ended_ms)",),
)

_REFEREED = Migration(
    "refereed",
    (
        # Delegations whose agent a harness has started itself: what the harness calls it, and what holds for it.
        # `agent_id` is known from its first event on. `held`: its return is checked; else it is only looked on.
        """
        CREATE TABLE refereed (
            session_id TEXT PRIMARY KEY REFERENCES delegations ON DELETE CASCADE,
            harness TEXT NOT NULL,
            harness_session TEXT NOT NULL,
            agent TEXT NOT NULL,
            tool_use_id TEXT NOT NULL DEFAULT '',
            agent_id TEXT,
            parent_id TEXT,
            held INTEGER NOT NULL,
            waited INTEGER NOT NULL,
            blocks INTEGER NOT NULL DEFAULT 0,
            deadline_ms INTEGER NOT NULL,
            layers TEXT NOT NULL DEFAULT '[]'
        ) STRICT, WITHOUT ROWID
        """,
        "CREATE INDEX refereed_by_agent ON refereed (harness_session, agent_id)",
        "CREATE INDEX refereed_by_call ON refereed (harness_session, tool_use_id)",
        # What a subagent used of tools, one row each: by it a return is held against what was done.
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
    ),
)

_PROCESSES = Migration(
    "processes",
    # Which process the harness is: whoever is started below it while it waits for an agent is that agent's.
    ("ALTER TABLE refereed ADD COLUMN process TEXT NOT NULL DEFAULT ''",),
)

_CLAIMS = Migration(
    "claims",
    (
        # What a try claims against what is there, and what had to be repaired to read it: for whoever looks later.
        "ALTER TABLE attempts ADD COLUMN repairs TEXT NOT NULL DEFAULT '[]'",
        "ALTER TABLE attempts ADD COLUMN claims TEXT NOT NULL DEFAULT '[]'",
    ),
)

_KEPT_SUMMARY = """
    substr(coalesce(json_extract(CAST(content AS TEXT), '$.envelope.summary'), ''), 1, 400)
"""
_BROWSED = Migration(
    "browsed",
    (
        # What people look for is the summary of a report, which is kept as one text: it is set whoever keeps that.
        "ALTER TABLE delegations ADD COLUMN summary TEXT NOT NULL DEFAULT ''",
        f"""
        UPDATE delegations SET summary = (
            SELECT {_KEPT_SUMMARY} FROM texts WHERE texts.session_id = delegations.session_id AND kind = 'report'
        ) WHERE EXISTS (
            SELECT 1 FROM texts WHERE texts.session_id = delegations.session_id AND kind = 'report'
               AND json_valid(CAST(content AS TEXT))
        )
        """,  # noqa: S608 - fixed
        f"""
        CREATE TRIGGER texts_summary AFTER INSERT ON texts
        WHEN new.kind = 'report' AND json_valid(CAST(new.content AS TEXT))  -- a long one is a file
        BEGIN
            UPDATE delegations SET summary = {_KEPT_SUMMARY.replace("content", "new.content")}
            WHERE session_id = new.session_id;
        END
        """,  # noqa: S608 - fixed
        # A page of all delegations, whatever it is narrowed to, and how many there are, without reading their rows.
        "DROP INDEX delegations_by_time",
        """
        CREATE INDEX delegations_browsed ON delegations (
            created_ms, session_id, parent_id, state, agent, outcome, status, ending, task_number
        )
        """,
        "CREATE INDEX delegations_by_agent ON delegations (agent, created_ms)",
    ),
)

_RESULTS = Migration(
    "results",
    (
        # The report keeps a result where it kept an envelope, and a run that was not admitted was rejected.
        "DROP TRIGGER texts_summary",
        """
        CREATE TRIGGER texts_summary AFTER INSERT ON texts
        WHEN new.kind = 'report' AND json_valid(CAST(new.content AS TEXT))  -- a long one is a file
        BEGIN
            UPDATE delegations
            SET summary = substr(coalesce(json_extract(CAST(new.content AS TEXT), '$.result.summary'), ''), 1, 400)
            WHERE session_id = new.session_id;
        END
        """,
        "UPDATE delegations SET ending = 'rejected' WHERE ending = 'refused'",
        "UPDATE attempts SET ending = 'rejected' WHERE ending = 'refused'",
    ),
)

MIGRATIONS: tuple[Migration, ...] = (
    _DELEGATIONS, _INTENTS, _MANIFEST, _RUNNING, _ENDINGS, _REFEREED, _PROCESSES, _CLAIMS, _BROWSED, _RESULTS,
)  # fmt: skip
