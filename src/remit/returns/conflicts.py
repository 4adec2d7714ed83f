"""Conflicts inside one object: a key in two spellings, and fields that deny a completed status.

Only the names of keys and plain values count: a boolean, an exit code, an error. Sentences are never read.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from remit.positions import escape_key
from remit.returns.rules import ParseIssue

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from remit.model import Status
    from remit.returns.formats import Format

_MAX_CHARS = 40
"""No known key is longer."""
_MAX_READ = 400
_LOOK_ALIKES = str.maketrans(
    "\u0430\u0251\u03b1\u0435\u03b5\u043e\u03bf\u0585\u0440\u03c1\u0441\u03f2\u0445\u0443\u0455\ua731\u0456\u03b9"
    "\u0131\u0442\u03c4\u03c5\u057d\u028b\u0433\u043a\u03ba\u0501\u04cf\u0192\u043c\u057c\u0578\u04bb",
    "aaaeeoooppccxyssiiittuuurkkdlfmnnh",
)
"""Letters of other alphabets that look like ASCII letters."""


def normalize_key(key: str) -> str:
    """Return a key in lower case, with letters, digits and underscores only, and without look-alike letters."""
    key = "".join(char for char in key[:_MAX_READ] if char.isalnum() or char == "_")
    if len(key) > _MAX_CHARS or key.isascii():
        return key.lower()
    from unicodedata import normalize  # noqa: PLC0415 - few keys need it

    bare = "".join(char for char in normalize("NFKD", key) if char.isalnum() or char == "_")
    return bare.casefold().translate(_LOOK_ALIKES)


def find_odd_keys(holder: Mapping[str, object], names: frozenset[str]) -> Iterator[tuple[str, str]]:
    """Yield each key that is another spelling of one of `names`, with that name."""
    for key in holder:
        if key not in names and (name := normalize_key(key)) in names:
            yield key, name


ESCAPED = "\\u00"
"""A text without this has no ASCII letter as a Unicode escape."""


def match_escaped_name(name: str) -> str:
    """Return a pattern for a name whose letters may be Unicode escapes, also inside a JSON string in JSON."""
    return "".join(rf"(?:{re.escape(letter)}|\\{{1,8}}(?i:u{ord(letter):04x}))" for letter in name)


_DENIED_BY_ANYTHING = frozenset({"partial", "blocked"})
_DENIED_BY_TRUE = frozenset({"failed", "errored", "is_error", "iserror"})
_DENIED_BY_FALSE = frozenset({"success", "ok", "succeeded"})
_EXIT_CODES = frozenset({"exit_code", "exitcode", "returncode", "return_code"})
_MEMBERS = _DENIED_BY_ANYTHING | _DENIED_BY_TRUE | _DENIED_BY_FALSE | _EXIT_CODES | {"error"}
_TRUE = (True, "true")
_NO_ERROR = ("", "none", "null", "false")
_FALSE = (None, False, *_NO_ERROR, "no", "failed", "0")
"""An empty value for success isn't a success."""
_NOTHING = (*_NO_ERROR, "no", "n/a", "0")
"""Literals as texts."""


def find_denials(value: Mapping[str, Any]) -> Iterator[str]:
    """Yield the top-level keys of an object that deny that its work was completed."""
    for key, inner in value.items():
        name = normalize_key(key)
        if name not in _MEMBERS:
            continue
        said = inner.strip().lower() if isinstance(inner, str) else inner
        if name == "error":
            denies = said not in _NO_ERROR if isinstance(said, str) else bool(said)
        elif name in _EXIT_CODES:
            denies = isinstance(said, int) and said != 0
        elif name in _DENIED_BY_ANYTHING:  # a reason, a list of them or a number
            denies = said not in _NOTHING if isinstance(said, str) else bool(said)
        elif name == "success" and isinstance(said, int):
            denies = not said
        elif said is None or isinstance(said, bool | str):
            denies = said in (_FALSE if name in _DENIED_BY_FALSE else _TRUE)
        else:  # a number is a count, and a list or an object has no plain meaning
            denies = False
        if denies:
            yield key


def find_second_spellings(value: Mapping[str, Any], known: Mapping[str, object]) -> Iterator[str]:
    """Yield keys that are another spelling of a known key (`STATUS`, a look-alike letter) with another value."""
    for key, name in find_odd_keys(value, frozenset(known)):
        if name in value and value[key] != value[name]:
            yield key


def find_conflicts(payload: dict[str, Any], return_format: Format, own: Mapping[str, Status]) -> Iterator[ParseIssue]:
    """Yield an issue for each top-level field that denies a completed status, and for each key in two spellings.

    `own` are the workspace's status words. The format's own `error` and `errors` have rules of their own.
    """
    known = return_format.shape.known
    word = str(return_format.word(payload))
    is_completed = (return_format.statuses.get(word) or own.get(word)) == "completed"
    for key in find_denials(payload) if is_completed else ():
        if key not in ("error", "errors") or key not in known:
            message = f"the status is completed, but {key} contradicts it"
            yield ParseIssue("conflict", message, "State once how the work ended.", pointer=f"/{escape_key(key)}")
    holders: list[tuple[str, Any, Mapping[str, object]]] = [("", payload, known)]
    holders += [
        (f"/{name}", payload.get(name), getattr(known[name], "known", {}))
        for name in ("metadata", "meta")
        if name in known
    ]
    for prefix, holder, names in holders:
        for key in find_second_spellings(holder, names) if isinstance(holder, dict) else ():
            message = f"{key} is another spelling of a known key, with a different value"
            yield ParseIssue("conflict", message, "Write each key once.", pointer=f"{prefix}/{escape_key(key)}")
