"""Causes: which errors are the same error again.

Owns what is left of a message when everything that differs from one time to the next is taken out of it: numbers,
paths, names in quotes, ids, times. Errors with one code and one such message have one cause. A cause that was marked
fixed and has happened since came back: its fix did not hold.

Linear: a message is cut to a length, taken apart once, and each word looked at by itself.
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
_STANDS_FOR = {"quoted": "<name>", "url": "<url>", "thousands": "<n>"}
_LOOSE_ENDS = ".:,;=-"
_MEANT_NUMBERS = frozenset({"http", "status", "code", "errno", "exit", "signal"})
"""Words behind which a number is what happened, not which one it happened to."""
_PATH_SLASHES = 2
_SHOWN, _MAX_COMPARED = 4, 2000


class Cause(NamedTuple):
    """What errors have in common: a short key for commands, and the message without what differs."""

    key: str
    code: str
    text: str


class Group(NamedTuple):
    """The errors of one cause, oldest first."""

    cause: Cause
    records: tuple[ErrorRecord, ...]
    fix_status: FixStatus
    recurrences: int
    """How many happened after it was marked fixed."""

    @property
    def recurred(self) -> bool:
        """Whether it happened after it was marked fixed."""
        return self.recurrences > 0

    @property
    def is_open(self) -> bool:
        """Whether something is still to be done about it."""
        return self.fix_status in {"open", "investigating"}

    @property
    def newest(self) -> ErrorRecord:
        """The last one."""
        return self.records[-1]

    @property
    def first(self) -> str:
        """When it happened first, as far as that is known."""
        return next((record.time for record in self.records if record.time), "")

    @property
    def last(self) -> str:
        """When it happened last."""
        return self.newest.time

    @property
    def tasks(self) -> tuple[str, ...]:
        """The tasks that it happened to."""
        return tuple(dict.fromkeys(str(each.task_number) for each in self.records if each.task_number is not None))

    @property
    def sessions(self) -> tuple[str, ...]:
        """The sessions that it happened in."""
        return tuple(dict.fromkeys(each.session_id for each in self.records if each.session_id))


def find_cause(record: ErrorRecord) -> Cause:
    """What an error has in common with its like."""
    text = normalise(record.message)
    told = f"{record.code.upper()}\0{text}".encode("utf-8", "replace")
    return Cause(sha256(told).hexdigest()[:KEY_CHARS], record.code, text)


def normalise(message: str) -> str:
    """A message without what differs from one time to the next."""
    before = ""

    def replace(found: re.Match[str]) -> str:
        nonlocal before
        word = found["word"]
        if word is None:
            before = ""
            return _STANDS_FOR[found.lastgroup or ""]
        if word.isalpha():  # most are
            before = word.lower()
            return word
        core = word.rstrip(_LOOSE_ENDS)
        told = word if before in _MEANT_NUMBERS else f"{_name_variable(core)}{word[len(core) :]}"
        before = core.lower()
        return told

    text = " ".join(_PIECE.sub(replace, message[:MAX_CHARS]).lower().split())
    return text[:MAX_CAUSE_CHARS]


def _name_variable(word: str) -> str:
    """What stands for a word, or the word itself."""
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
    """Whether a word names a file or a folder: `and/or` and `os.path` do not."""
    slashes = word.count("/") + word.count("\\")
    if slashes >= _PATH_SLASHES or (slashes and word[0] in "/.~\\"):
        return True
    name, dot, extension = _LINE.sub("", word).rpartition(".")
    return bool(dot and name) and extension.lower() in _EXTENSIONS


# Groups


def group_errors(records: Iterable[ErrorRecord]) -> tuple[Group, ...]:
    """Errors by their causes; the cause that happened last comes first. The order of records is that of the file."""
    found: dict[str, list[ErrorRecord]] = {}
    causes: dict[str, Cause] = {}
    for record in records:
        cause = find_cause(record)
        causes.setdefault(cause.key, cause)
        found.setdefault(cause.key, []).append(record)
    groups = [_make_group(causes[key], each) for key, each in found.items()]
    groups.sort(key=lambda group: _order(group.newest), reverse=True)
    return tuple(groups)


def _order(record: ErrorRecord) -> float:
    return parse_time(record.time) or 0.0


def _make_group(cause: Cause, records: list[ErrorRecord]) -> Group:
    records.sort(key=_order)
    fixed = _find_moment(records, "fixed")
    recurrences = 0 if fixed is None else sum(_order(record) > fixed for record in records)
    return Group(cause, tuple(records), _find_status(records), recurrences)


def _find_moment(records: Sequence[ErrorRecord], status: FixStatus) -> float | None:
    """When a cause was first marked so; where nobody wrote that down, after the last one that is marked."""
    marked = [record for record in records if record.fix_status == status]
    told = [moment for record in marked if (moment := parse_time(record.closed)) is not None]
    return min(told) if told else _order(marked[-1]) if marked else None


def _find_status(records: Sequence[ErrorRecord]) -> FixStatus:
    """What became of a cause. One that was ignored as a whole stays so when it happens again."""
    waiting = [record for record in records if record.is_open]
    ignored = _find_moment(records, "ignored")
    if waiting and (ignored is None or any(_order(record) <= ignored for record in waiting)):
        return "investigating" if all(record.fix_status == "investigating" for record in waiting) else "open"
    if not waiting and any(record.fix_status == "fixed" for record in records):
        return "fixed"
    return "ignored"


# Finding one again


class Chosen(NamedTuple):
    """What a user meant: a whole group, or single errors of one id."""

    group: Group
    records: tuple[ErrorRecord, ...]
    whole: bool


def choose(records: Sequence[ErrorRecord], word: str) -> Chosen:
    """The error or the group that a word names: its id or key, or the beginning of one if no other begins so."""
    groups = group_errors(records)
    names = {group.cause.key: Chosen(group, group.records, whole=True) for group in groups}
    for group in groups:
        for record in group.records:
            first = names.setdefault(record.id, Chosen(group, (), whole=False))
            if not first.whole:
                names[record.id] = first._replace(records=(*first.records, record))
    names.pop("", None)
    found = [word] if word in names else [name for name in names if word and name.startswith(word)]
    if len(found) == 1:
        return names[found[0]]
    if found:
        some = f"{', '.join(sorted(found)[:_SHOWN])}{' …' if len(found) > _SHOWN else ''}"
        raise UsageError(f"'{word}' begins {len(found)} ids: {some}", hint="give more of it")
    meant = find_similar(word, names) if len(names) <= _MAX_COMPARED else None
    hint = f"did you mean '{meant}'?" if meant else "remit errors list --all shows their ids"
    raise UsageError(f"there is no error '{word}'", hint=hint)
