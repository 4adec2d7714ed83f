"""psycopg: how it is found, what it is told to connect to, and what is said of its errors.

Owns the settings of a connection and the sentences. A password stands in none of them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from remit.errors import ClusterError, how_to_install

if TYPE_CHECKING:
    from types import ModuleType

    from psycopg import Error

CONNECT_S = 5
PATIENCE_S = 5.0
"""How long a statement may take."""
IDLE_S = 30
"""How long a transaction may do nothing: whoever froze in it must not keep others out for longer."""

_ALIVE = {"keepalives": 1, "keepalives_idle": 5, "keepalives_interval": 2, "keepalives_count": 3}
_SETTINGS = {
    "statement_timeout": int(PATIENCE_S * 1000),
    "idle_in_transaction_session_timeout": IDLE_S * 1000,
    # the server forgets who was cut off, too, and with them the locks that they hold
    "tcp_keepalives_idle": 5,
    "tcp_keepalives_interval": 2,
    "tcp_keepalives_count": 3,
    "tcp_user_timeout": 2 * int(PATIENCE_S * 1000),
}


def render_url(url: str) -> str:
    """A URL as it may be shown: who, where and which database, without the password and all settings but the host."""
    from urllib.parse import parse_qs, urlsplit  # noqa: PLC0415 - 5 ms, and only those with a cluster need it

    try:
        parts = urlsplit(url)
        host = parts.netloc.rpartition("@")[2] or ",".join(parse_qs(parts.query).get("host", []))
        user = parts.username
    except ValueError:
        return "PostgreSQL"
    if parts.scheme not in {"postgresql", "postgres"}:
        return "PostgreSQL"
    return f"postgresql://{f'{user}@' if user else ''}{host}{parts.path}"


def read_url(url: str) -> dict[str, Any]:
    """What a connection is made of: what the URL says, and else what lets a cut network be noticed."""
    psycopg = load_psycopg()
    try:
        wanted = psycopg.conninfo.conninfo_to_dict(url)
    except psycopg.Error:  # its words repeat the whole URL
        raise refuse(
            "the address of the database can't be read", hint="write it as postgresql://USER:PASSWORD@HOST:PORT/NAME"
        ) from None
    ours = " ".join(f"-c {name}={value}" for name, value in _SETTINGS.items())
    options = {"options": f"{ours} {wanted.pop('options', '') or ''}".strip()}
    usual = {"connect_timeout": CONNECT_S, "tcp_user_timeout": 2 * int(PATIENCE_S * 1000), **_ALIVE}
    return {**usual, **wanted, **options}


# What is said where it does not work


class _Kind(NamedTuple):
    """A kind of trouble: the classes of its code, what is said, and what helps."""

    codes: tuple[str, ...]
    words: str
    hint: str
    passes: bool


_KINDS = (
    _Kind(("57014",), "took too long to answer", "look what keeps it busy, and try again", passes=True),
    _Kind(
        ("42501",),
        "does not allow it",
        "let its owner grant CREATE on the database, or all on the schema remit",
        passes=False,
    ),
    _Kind(
        ("42P01", "42703", "3F000"),
        "lacks a table that Remit made there",
        "restart Remit: it makes those that are missing",
        passes=False,
    ),
    _Kind(("25006",), "can only be read", "name the primary, not a standby", passes=True),
    _Kind(("40", "55P03"), "was in the way of others", "try again", passes=True),
)
_BUGS = ("22", "23", "42")
"""Codes of data, of rules and of syntax: a bug of ours, and no word about the database."""

_REFUSALS = ("authentication failed", "does not exist", "no pg_hba.conf entry", "no password supplied")
"""What a server says that answers and will go on to refuse; errors of connecting carry no code."""
_LONG = 5


def explain(error: Error, display: str, password: str | None) -> Exception:
    """The error to raise for one of psycopg's: a sentence, or itself where it is a bug of ours."""
    code = error.sqlstate or ""
    text = " ".join(str(error).strip().partition("\n")[0].split())
    if password and len(password) >= _LONG:  # a word of one letter would make the sentence unreadable
        text = text.replace(password, "***")
    for kind in _KINDS:
        if code.startswith(kind.codes):
            told = ClusterError(f"{display} {kind.words}: {text}", hint=kind.hint)
            told.recoverable = kind.passes
            return told
    if code.startswith(_BUGS):
        return error
    if not code and any(sign in text for sign in _REFUSALS):
        hint = "check its user, its password and the name of the database"
        return refuse(f"{display} refuses the connection: {text}", hint=hint)
    return ClusterError(
        f"{display} does not answer: {text}", hint="check that PostgreSQL runs and can be reached from here"
    )


def refuse(message: str, *, hint: str) -> ClusterError:
    """An error that does not go away by trying again."""
    error = ClusterError(message, hint=hint)
    error.recoverable = False
    return error


def load_psycopg() -> ModuleType:
    """The driver, which comes with an extra."""
    try:
        import psycopg  # noqa: PLC0415 - 100 ms, and an extra
    except ImportError as error:
        raise refuse("psycopg, which speaks to PostgreSQL, is not here", hint=how_to_install("postgres")) from error
    return psycopg
