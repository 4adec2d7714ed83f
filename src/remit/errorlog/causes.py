"""Error groups: errors with the same code and the same normalized message have one cause.

A normalized message has placeholders for everything that varies: numbers, paths, quoted names, ids, times. A cause
that was marked fixed and occurs again has recurred.

Linear: a message is truncated and split once, and each word is checked by itself.
"""

from __future__ import annotations

from hashlib import sha256
from typing import TYPE_CHECKING, NamedTuple

from remit.errorlog.records import parse_time
from remit.errors import UsageError
from remit.lazy_regex import lazy
from remit.spelling import find_similar

if TYPE_CHECKING:
    import re
    from collections.abc import Iterable, Sequence

    from remit.errorlog.records import ErrorRecord, FixStatus

MAX_CHARS = 2000
MAX_CAUSE_CHARS = 200
KEY_CHARS = 8

_PIECE = lazy(
    r"""(?P<quoted>"[^"\n]{1,200}+"|`[^`\n]{1,200}+`|“[^”\n]{1,200}+”|(?<!\w)'[^'\n]{1,200}+'(?!\w))"""
    r"""|(?P<url>[A-Za-z]{2,12}+://[^\s"'<>]++)|(?P<thousands>[0-9]{1,3}+(?:,[0-9]{3}){1,20}+(?!\w))"""
    r"|(?P<word>[\w./~@:+#%=\\-]++)"
)
_TIME = lazy(
    r"[0-9]{4}-[0-9]{2}-[0-9]{2}(?:T[0-9:.+Z-]{4,20}+)?+|[0-9]{1,2}:[0-9]{2}(?::[0-9]{2}(?:\.[0-9]{1,9})?)?+Z?"
)
_ID = lazy(
    r"(?:sess?|session|err|error|run|req|request|msg|toolu?|call|agent|task|job)[_-](?=[A-Za-z_-]{0,40}[0-9])[\w-]{4,80}+"
)
_HEX = lazy(r"(?:0x)?(?=[a-fA-F]{0,80}[0-9])[0-9a-fA-F-]{7,80}+")
_CODE = lazy(r"[A-Z]{1,6}[0-9]{2,5}")
_NUMBER = lazy(r"[0-9]++(?:[.,][0-9]++)*+")
_LINE = lazy(r"(?::[0-9]{1,7}){1,2}+\Z")
_EXTENSIONS = frozenset({
    "bib", "c", "cc", "cfg", "conf", "cpp", "cs", "css", "csv", "db", "env", "ex", "exs", "gif", "go", "gz", "h", "hpp",
    "hs", "html", "ini", "ipynb", "java", "jpg", "js", "json", "jsonl", "jsx", "kt", "lean", "lock", "log", "lua", "md",
    "mdx", "ml", "o", "pdf", "php", "png", "proto", "py", "pyi", "rb", "rs", "rst", "sh", "sql", "svelte", "svg",
    "swift", "tar", "tex", "tf", "toml", "ts", "tsx", "txt", "vue", "whl", "xml", "yaml", "yml", "zip",
})  # fmt: skip
_PLACEHOLDERS = {"quoted": "<name>", "url": "<url>", "thousands": "<n>"}
_PUNCTUATION = ".:,;=-"
_KEPT_BEFORE = frozenset({"http", "status", "code", "errno", "exit", "signal"})
"""A number after one of these words belongs to the cause and stays in the message."""
_PATH_SLASHES = 2
_SHOWN, _MAX_COMPARED = 4, 2000


class ErrorCause(NamedTuple):
    """The cause of a group of errors: a short key for commands, and the normalized message."""

    key: str
    code: str
    text: str


class ErrorGroup(NamedTuple):
    """The errors of one cause, oldest first."""

    cause: ErrorCause
    records: tuple[ErrorRecord, ...]
    fix_status: FixStatus
    recurrences: int
    """The number of errors after the cause was marked fixed."""

    @property
    def recurred(self) -> bool:
        """True if the cause occurred again after it was marked fixed."""
        return self.recurrences > 0

    @property
    def is_open(self) -> bool:
        """True if the cause isn't fixed or ignored."""
        return self.fix_status in {"open", "investigating"}

    @property
    def newest(self) -> ErrorRecord:
        """The latest error."""
        return self.records[-1]

    @property
    def first(self) -> str:
        """The time of the first error with a known time."""
        return next((record.time for record in self.records if record.time), "")

    @property
    def last(self) -> str:
        """The time of the latest error."""
        return self.newest.time

    @property
    def tasks(self) -> tuple[str, ...]:
        """The tasks with this error."""
        return tuple(dict.fromkeys(str(each.task_number) for each in self.records if each.task_number is not None))

    @property
    def sessions(self) -> tuple[str, ...]:
        """The sessions with this error."""
        return tuple(dict.fromkeys(each.session_id for each in self.records if each.session_id))


def find_cause(record: ErrorRecord) -> ErrorCause:
    """Return the cause of an error."""
    text = normalize(record.message)
    identity = f"{record.code.upper()}\0{text}".encode("utf-8", "replace")
    return ErrorCause(sha256(identity).hexdigest()[:KEY_CHARS], record.code, text)


def normalize(message: str) -> str:
    """Return a message with placeholders for everything that varies between errors of one cause."""
    before = ""

    def replace(found: re.Match[str]) -> str:
        nonlocal before
        word = found["word"]
        if word is None:
            before = ""
            return _PLACEHOLDERS[found.lastgroup or ""]
        if word.isalpha():  # most words are
            before = word.lower()
            return word
        core = word.rstrip(_PUNCTUATION)
        new = word if before in _KEPT_BEFORE else f"{_name_variable(core)}{word[len(core) :]}"
        before = core.lower()
        return new

    text = " ".join(_PIECE.sub(replace, message[:MAX_CHARS]).lower().split())
    return text[:MAX_CAUSE_CHARS]


def _name_variable(word: str) -> str:
    """Return the placeholder for a word, or the word itself."""
    if _is_path(word):
        return "<path>"
    if any(char.isdigit() for char in word):
        if _TIME.fullmatch(word):
            return "<time>"
        if _ID.fullmatch(word) or _HEX.fullmatch(word):
            return "<id>"
        if not _CODE.fullmatch(word):
            return _NUMBER.sub("<n>", word)
    return word


def _is_path(word: str) -> bool:
    """True if a word names a file or a folder; `and/or` and `os.path` don't."""
    slashes = word.count("/") + word.count("\\")
    if slashes >= _PATH_SLASHES or (slashes and word[0] in "/.~\\"):
        return True
    name, dot, extension = _LINE.sub("", word).rpartition(".")
    return bool(dot and name) and extension.lower() in _EXTENSIONS


# Groups


def group_errors(records: Iterable[ErrorRecord]) -> tuple[ErrorGroup, ...]:
    """Group errors by cause, the latest cause first. `records` are in the order of the file."""
    found: dict[str, list[ErrorRecord]] = {}
    causes: dict[str, ErrorCause] = {}
    for record in records:
        cause = find_cause(record)
        causes.setdefault(cause.key, cause)
        found.setdefault(cause.key, []).append(record)
    groups = [_make_group(causes[key], each) for key, each in found.items()]
    groups.sort(key=lambda group: _order(group.newest), reverse=True)
    return tuple(groups)


def _order(record: ErrorRecord) -> float:
    return parse_time(record.time) or 0.0


def _make_group(cause: ErrorCause, records: list[ErrorRecord]) -> ErrorGroup:
    records.sort(key=_order)
    fixed = _find_moment(records, "fixed")
    recurrences = 0 if fixed is None else sum(_order(record) > fixed for record in records)
    return ErrorGroup(cause, tuple(records), _find_status(records), recurrences)


def _find_moment(records: Sequence[ErrorRecord], status: FixStatus) -> float | None:
    """Return when a cause was first marked with a status; without a date, the time of the last marked error."""
    marked = [record for record in records if record.fix_status == status]
    dates = [moment for record in marked if (moment := parse_time(record.closed)) is not None]
    return min(dates) if dates else _order(marked[-1]) if marked else None


def _find_status(records: Sequence[ErrorRecord]) -> FixStatus:
    """Return the status of a cause. A cause that was ignored stays ignored if it occurs again."""
    waiting = [record for record in records if record.is_open]
    ignored = _find_moment(records, "ignored")
    if waiting and (ignored is None or any(_order(record) <= ignored for record in waiting)):
        return "investigating" if all(record.fix_status == "investigating" for record in waiting) else "open"
    if not waiting and any(record.fix_status == "fixed" for record in records):
        return "fixed"
    return "ignored"


# Finding an error by its id or key


class ErrorChoice(NamedTuple):
    """The errors that a user named: a whole group, or single errors with one id."""

    group: ErrorGroup
    records: tuple[ErrorRecord, ...]
    whole: bool


def choose(records: Sequence[ErrorRecord], word: str) -> ErrorChoice:
    """Return the error or group with an id or key, or with its unique prefix. Raise `UsageError` if there is none."""
    groups = group_errors(records)
    names = {group.cause.key: ErrorChoice(group, group.records, whole=True) for group in groups}
    for group in groups:
        for record in group.records:
            first = names.setdefault(record.id, ErrorChoice(group, (), whole=False))
            if not first.whole:
                names[record.id] = first._replace(records=(*first.records, record))
    names.pop("", None)
    found = [word] if word in names else [name for name in names if word and name.startswith(word)]
    if len(found) == 1:
        return names[found[0]]
    if found:
        some = f"{', '.join(sorted(found)[:_SHOWN])}{' …' if len(found) > _SHOWN else ''}"
        raise UsageError(f"'{word}' is ambiguous: {len(found)} ids start with it ({some})", hint="give more of the id")
    similar = find_similar(word, names) if len(names) <= _MAX_COMPARED else None
    hint = f"did you mean '{similar}'?" if similar else "list the ids with: remit errors list --all"
    raise UsageError(f"there is no error '{word}'", hint=hint)
