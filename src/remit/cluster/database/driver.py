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
STATEMENT_TIMEOUT_S = 5.0
"""How long a statement may take."""
IDLE_S = 30
"""How long a transaction may do nothing: whoever froze in it must not keep others out for longer."""

_KEEPALIVE = {"keepalives": 1, "keepalives_idle": 5, "keepalives_interval": 2, "keepalives_count": 3}
_SERVER_SETTINGS = {
    "statement_timeout": int(STATEMENT_TIMEOUT_S * 1000),
    "idle_in_transaction_session_timeout": IDLE_S * 1000,
    # the server forgets who was cut off, too, and with them the locks that they hold
    "tcp_keepalives_idle": 5,
    "tcp_keepalives_interval": 2,
    "tcp_keepalives_count": 3,
    "tcp_user_timeout": 2 * int(STATEMENT_TIMEOUT_S * 1000),
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
        raise make_permanent_error(
            "the address of the database can't be read", hint="write it as postgresql://USER:PASSWORD@HOST:PORT/NAME"
        ) from None
    ours = " ".join(f"-c {name}={value}" for name, value in _SERVER_SETTINGS.items())
    options = {"options": f"{ours} {wanted.pop('options', '') or ''}".strip()}
    usual = {"connect_timeout": CONNECT_S, "tcp_user_timeout": 2 * int(STATEMENT_TIMEOUT_S * 1000), **_KEEPALIVE}
    return {**usual, **wanted, **options}


# What is said where it does not work


class _ErrorKind(NamedTuple):
    """A kind of trouble: the classes of its code, what is said, and what helps."""

    codes: tuple[str, ...]
    sentence: str
    hint: str
    is_transient: bool


_ERROR_KINDS = (
    _ErrorKind(("57014",), "took too long to answer", "look what keeps it busy, and try again", is_transient=True),
    _ErrorKind(
        ("42501",),
        "does not allow it",
        "let its owner grant CREATE on the database, or all on the schema remit",
        is_transient=False,
    ),
    _ErrorKind(
        ("42P01", "42703", "3F000"),
        "lacks a table that Remit made there",
        "restart Remit: it makes those that are missing",
        is_transient=False,
    ),
    _ErrorKind(("25006",), "can only be read", "name the primary, not a standby", is_transient=True),
    _ErrorKind(("40", "55P03"), "was in the way of others", "try again", is_transient=True),
)
_BUG_CODES = ("22", "23", "42")
"""Codes of data, of rules and of syntax: a bug of ours, and no word about the database."""

_REFUSAL_TEXTS = ("authentication failed", "does not exist", "no pg_hba.conf entry", "no password supplied")
"""What a server says that answers and will go on to refuse; errors of connecting carry no code."""
_MIN_PASSWORD = 5


def make_error(error: Error, display: str, password: str | None) -> Exception:
    """The error to raise for one of psycopg's: a sentence, or itself where it is a bug of ours."""
    code = error.sqlstate or ""
    text = " ".join(str(error).strip().partition("\n")[0].split())
    if password and len(password) >= _MIN_PASSWORD:  # a word of one letter would make the sentence unreadable
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
    """An error that does not go away by trying again."""
    error = ClusterError(message, hint=hint)
    error.recoverable = False
    return error


def load_psycopg() -> ModuleType:
    """The driver, which comes with an extra."""
    try:
        import psycopg  # noqa: PLC0415 - 100 ms, and an extra
    except ImportError as error:
        raise make_permanent_error(
            "psycopg, which speaks to PostgreSQL, is not here", hint=how_to_install("postgres")
        ) from error
    return psycopg
