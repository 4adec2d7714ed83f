"""The source: what of a page can only be found by reading the code, not by importing it.

Owns how the code is searched: as text, since to parse all of it would take longer than all pages together.
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

ROOT = Path(__file__).resolve().parents[2]
SOURCE = ROOT / "src" / "remit"


@cache
def _load_all() -> str:
    """All modules in a row. The kit for tests is none of Remit's own work."""
    files = sorted(path for path in SOURCE.rglob("*.py") if path.relative_to(SOURCE).parts[0] != "testing")
    return "\n".join(path.read_text(encoding="utf-8") for path in files)


def search(pattern: str) -> set[Any]:
    """What a pattern finds, wherever it stands: the text of its one group, or a tuple of several."""
    return set(re.findall(pattern, _load_all(), re.MULTILINE))


def find_comment(owner: str, field: str) -> str:
    """The comment below a field of a class, wherever the class is."""
    [found] = search(rf'^class {owner}\(.*\):\n(?:.*\n)*?    {field}: .*\n    """(.*)"""$')
    return str(found)


def match(told: Mapping[str, str], names: Iterable[str], what: str) -> dict[str, str]:
    """What is told of each name, in the order of the code. Nothing is left out, and nothing is told that is not."""
    order = [*names]
    if set(told) != set(order):
        raise LookupError(f"{what}: {sorted(set(told) ^ set(order))} is told or is so, and not both")
    return {name: told[name] for name in order}
