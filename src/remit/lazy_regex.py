"""Regular expressions that are compiled on first use.

Compiling a hundred regular expressions takes as long as starting Python twice, and most processes use only a few.
"""

from __future__ import annotations

TYPE_CHECKING = False  # typing itself would cost 6 ms
if TYPE_CHECKING:
    import re
    from typing import Any


class _LazyPattern:
    """A pattern that isn't compiled yet. After the first use, its methods are those of the compiled pattern."""

    def __init__(self, pattern: str, flags: int) -> None:
        self._given = pattern, flags

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 - any method of a pattern
        import re  # noqa: PLC0415 - the module costs as much as many patterns

        compiled = re.compile(*self._given)
        for each in ("match", "fullmatch", "search", "finditer", "findall", "sub", "split", "pattern"):
            setattr(self, each, getattr(compiled, each))
        return getattr(compiled, name)


def lazy(pattern: str, flags: int = 0) -> re.Pattern[str]:
    """Return a pattern that is compiled when one of its methods is first used."""
    later: Any = _LazyPattern(pattern, flags)
    return later  # type: ignore[no-any-return] # it behaves like one
