"""The matcher of glob patterns: `*`, `?`, `[a-z]`, `**` and `{a,b}` in names, paths and other patterns.

The linter compares patterns with each other and with files, the policy compares them with the paths of tool calls, and
settings name agents by them. `*` matches within one folder and `**` across folders. Matching doesn't backtrack over
more than one star, so no pattern takes exponential time.
"""

from __future__ import annotations

from functools import lru_cache

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

EVERYTHING = frozenset({"*", "**", "**/*", "**/**", "./**", "./**/*", "/**", "/**/*"})
"""The patterns that match every path."""
MAX_NAME = 4096
"""In characters. A longer name matches no pattern."""
MAX_CHOICES = 40
_STAR = "*"
_MAX_BRACES = 3


class LiteralName(str):
    """The name of a folder on disk as a part of a pattern: its characters aren't wildcards."""

    __slots__ = ()


def is_magic(text: str) -> bool:
    """Return whether a text without braces has a wildcard."""
    return ("*" in text or "?" in text or "[" in text) and type(text) is not LiteralName  # called for every pattern


def is_pattern(text: str) -> bool:
    """Return whether a text has a wildcard or braces."""
    return is_magic(text) or "{" in text


def expand_braces(pattern: str) -> list[str]:
    """Expand `*.{js,ts}` to `*.js` and `*.ts`. Nested braces, and more than three pairs, aren't expanded."""
    texts = [pattern]
    for _ in range(_MAX_BRACES):
        _, opened, tail = texts[0].partition("{")
        inner, closed, _ = tail.partition("}")
        if not opened or not closed or "{" in inner:
            break
        texts = [text.replace(f"{{{inner}}}", choice, 1) for text in texts for choice in inner.split(",")][:MAX_CHOICES]
    return texts


def matches_name(pattern: str, name: str) -> bool:
    """Return whether a pattern without braces matches a name in a folder."""
    if not is_magic(pattern):
        return pattern == name
    return len(name) <= MAX_NAME and match_tokens(tokenize(pattern), name, _stands_for)


def matches_stars(pattern: str, text: str) -> bool:
    """Return whether a pattern in which only `*` is special matches a text, which may be long."""
    first, *rest = pattern.split(_STAR)
    if not rest or not text.startswith(first):
        return not rest and text == first
    at, end = len(first), len(text) - len(rest[-1])
    if at > end or not text.endswith(rest[-1]):
        return False
    for part in rest[:-1]:
        found = text.find(part, at, end)
        if found < 0:
            return False
        at = found + len(part)
    return True


def match_segments(pattern: Sequence[str], parts: Sequence[str], fits: Callable[[str, str], bool]) -> set[int]:
    """How many of a path's parts a pattern can match: a set of counts, empty if it doesn't match their beginning."""
    reached = {0}
    for part in pattern:
        if part == "**":
            reached = set(range(min(reached), len(parts) + 1))
        else:
            reached = {at + 1 for at in reached if at < len(parts) and fits(part, parts[at])}
        if not reached:
            break
    return reached


def match_tokens(tokens: Sequence[str], text: Sequence[str], stands_for: Callable[[str, str], bool]) -> bool:
    """Return whether tokens match a whole text. It backtracks to the last star only: quadratic time."""
    here = there = 0
    star, resume = -1, 0
    while there < len(text):
        token = tokens[here] if here < len(tokens) else ""
        if token == _STAR:
            star, resume = here, there
            here += 1
        elif token and stands_for(token, text[there]):
            here, there = here + 1, there + 1
        elif star >= 0:
            resume += 1
            here, there = star + 1, resume
        else:
            return False
    return all(token == _STAR for token in tokens[here:])


@lru_cache(maxsize=1024)
def tokenize(pattern: str) -> tuple[str, ...]:
    """Split a pattern into characters, stars and classes (`[a-z]`)."""
    tokens, at = [], 0
    while at < len(pattern):
        closing = pattern.find("]", at + 2) if pattern[at] == "[" else -1
        end = closing + 1 if closing >= 0 else at + 1
        tokens.append(pattern[at:end])
        at = end
    return tuple(tokens)


def _stands_for(token: str, char: str) -> bool:
    if token in ("?", char):
        return True
    if len(token) < 3 or token[0] != "[":  # noqa: PLR2004 - brackets and something in them
        return False
    inner = token[1:-1]
    negated = inner[:1] in ("!", "^")
    inner = inner[1:] if negated else inner
    found, at = False, 0
    while at < len(inner):
        if inner[at + 1 : at + 2] == "-" and at + 2 < len(inner):
            found = found or inner[at] <= char <= inner[at + 2]
            at += 3
        else:
            found = found or inner[at] == char
            at += 1
    return found != negated
