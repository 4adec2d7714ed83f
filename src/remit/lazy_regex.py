"""Patterns that are compiled when they are first used.

Owns the delay. Compiling a regular expression takes longer than most runs would ever use it for: a hundred of them
cost as much as starting Python twice.
"""

from __future__ import annotations

TYPE_CHECKING = False  # typing itself would cost 6 ms
if TYPE_CHECKING:
    import re
    from typing import Any


class _LazyPattern:
    """A pattern that is not there yet; from its first use on its methods are the compiled pattern's own."""

    def __init__(self, pattern: str, flags: int) -> None:
        self._given = pattern, flags

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 - any method of a pattern
        import re  # noqa: PLC0415 - the module costs as much as many patterns

        compiled = re.compile(*self._given)
        for each in ("match", "fullmatch", "search", "finditer", "findall", "sub", "split", "pattern"):
            setattr(self, each, getattr(compiled, each))
        return getattr(compiled, name)


def lazy(pattern: str, flags: int = 0) -> re.Pattern[str]:
    """A pattern like any other, compiled when one of its methods is first asked for."""
    later: Any = _LazyPattern(pattern, flags)
    return later  # type: ignore[no-any-return] # it behaves like one
