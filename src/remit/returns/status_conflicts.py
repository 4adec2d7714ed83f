"""Denials: one object that says two things about how the work ended.

Decides by the names of members at the top of the object and by plain values: a boolean, an exit code, an error that is
given. Sentences are never read.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from remit.returns.key_names import find_odd_keys, normalize_key

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

_DENIED_BY_ANYTHING = frozenset({"partial", "blocked"})
_DENIED_BY_TRUE = frozenset({"failed", "errored", "is_error", "iserror"})
_DENIED_BY_FALSE = frozenset({"success", "ok", "succeeded"})
_EXIT_CODES = frozenset({"exit_code", "exitcode", "returncode", "return_code"})
_MEMBERS = _DENIED_BY_ANYTHING | _DENIED_BY_TRUE | _DENIED_BY_FALSE | _EXIT_CODES | {"error"}
_TRUE = (True, "true")
_NO_ERROR = ("", "none", "null", "false")
_FALSE = (None, False, *_NO_ERROR, "no", "failed", "0")
"""A success that is left empty isn't one."""
_NOTHING = (*_NO_ERROR, "no", "n/a", "0")
"""Literals that were written as a text."""


def find_denials(value: Mapping[str, Any]) -> Iterator[str]:
    """The keys at the top of an object that deny that its work was completed."""
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
        else:  # a number counts something, and a list or an object says nothing by itself
            denies = False
        if denies:
            yield key


def find_second_spellings(value: Mapping[str, Any], known: Mapping[str, object]) -> Iterator[str]:
    """Keys that are a known key in another spelling (`STATUS`, a letter of another alphabet) and say something else."""
    for key, name in find_odd_keys(value, frozenset(known)):
        if name in value and value[key] != value[name]:
            yield key
