"""psycopg: loading it, its connection settings, and error messages for its exceptions.

No message contains a password.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from remit.errors import ClusterError, how_to_install

if TYPE_CHECKING:
    from types import ModuleType

    from psycopg import Error

CONNECT_S = 5
STATEMENT_TIMEOUT_S = 5.0
"""Time limit of a statement."""
IDLE_S = 30
"""Time limit of an idle transaction: a frozen process must not keep its locks for longer."""

_KEEPALIVE = {"keepalives": 1, "keepalives_idle": 5, "keepalives_interval": 2, "keepalives_count": 3}
_SERVER_SETTINGS = {
    "statement_timeout": int(STATEMENT_TIMEOUT_S * 1000),
    "idle_in_transaction_session_timeout": IDLE_S * 1000,
    # the server drops clients whose network was cut, too, and releases their locks
    "tcp_keepalives_idle": 5,
    "tcp_keepalives_interval": 2,
    "tcp_keepalives_count": 3,
    "tcp_user_timeout": 2 * int(STATEMENT_TIMEOUT_S * 1000),
}


def render_url(url: str) -> str:
    """Return the URL as it may be shown: user, host and database, without the password and other settings."""
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
    """Return the connection parameters: those of the URL, and defaults that detect a cut network."""
    psycopg = load_psycopg()
    try:
        wanted = psycopg.conninfo.conninfo_to_dict(url)
    except psycopg.Error:  # its message repeats the whole URL
        raise make_permanent_error(
            "the address of the database can't be read", hint="write it as postgresql://USER:PASSWORD@HOST:PORT/NAME"
        ) from None
    ours = " ".join(f"-c {name}={value}" for name, value in _SERVER_SETTINGS.items())
    options = {"options": f"{ours} {wanted.pop('options', '') or ''}".strip()}
    usual = {"connect_timeout": CONNECT_S, "tcp_user_timeout": 2 * int(STATEMENT_TIMEOUT_S * 1000), **_KEEPALIVE}
    return {**usual, **wanted, **options}


# Error messages


class _ErrorKind(NamedTuple):
    """A kind of error: the prefixes of its SQLSTATE codes, its message and hint, and whether a retry can help."""

    codes: tuple[str, ...]
    sentence: str
    hint: str
    is_transient: bool


_ERROR_KINDS = (
    _ErrorKind(("57014",), "took too long to answer", "check what keeps it busy, and try again", is_transient=True),
    _ErrorKind(
        ("42501",),
        "does not allow it",
        "have its owner grant CREATE on the database, or all rights on the schema remit",
        is_transient=False,
    ),
    _ErrorKind(
        ("42P01", "42703", "3F000"),
        "lacks a table of Remit",
        "restart Remit: it creates missing tables",
        is_transient=False,
    ),
    _ErrorKind(("25006",), "is read-only", "use the URL of the primary, not of a standby", is_transient=True),
    _ErrorKind(("40", "55P03"), "ended a transaction that conflicted with another one", "try again", is_transient=True),
)
_BUG_CODES = ("22", "23", "42")
"""SQLSTATE classes of data, constraint and syntax errors: bugs of Remit, not problems of the database."""

_REFUSAL_TEXTS = ("authentication failed", "does not exist", "no pg_hba.conf entry", "no password supplied")
"""Messages of a server that will refuse each retry; connection errors have no SQLSTATE code."""
_MIN_PASSWORD = 5


def make_error(error: Error, display: str, password: str | None) -> Exception:
    """Return the error to raise for one of psycopg: a `ClusterError`, or the error itself if it is a bug of Remit."""
    code = error.sqlstate or ""
    text = " ".join(str(error).strip().partition("\n")[0].split())
    if password and len(password) >= _MIN_PASSWORD:  # replacing a single letter would make the message unreadable
        text = text.replace(password, "***")
    for kind in _ERROR_KINDS:
        if code.startswith(kind.codes):
            raised = ClusterError(f"{display} {kind.sentence}: {text}", hint=kind.hint)
            raised.recoverable = kind.is_transient
            return raised
    if code.startswith(_BUG_CODES):
        return error
    if not code and any(sign in text for sign in _REFUSAL_TEXTS):
        hint = "check its user, its password and the name of the database"
        return make_permanent_error(f"{display} refuses the connection: {text}", hint=hint)
    return ClusterError(
        f"{display} does not answer: {text}", hint="check that PostgreSQL runs and can be reached from here"
    )


def make_permanent_error(message: str, *, hint: str) -> ClusterError:
    """Return an error that a retry can't fix."""
    error = ClusterError(message, hint=hint)
    error.recoverable = False
    return error


def load_psycopg() -> ModuleType:
    """Return psycopg, which the extra `postgres` installs."""
    try:
        import psycopg  # noqa: PLC0415 - 100 ms, and an extra
    except ImportError as error:
        raise make_permanent_error(
            "psycopg, the PostgreSQL driver, isn't installed", hint=how_to_install("postgres")
        ) from error
    return psycopg
