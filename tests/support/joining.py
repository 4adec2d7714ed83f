"""In a run of everything, the cases of a test that needs nothing else are one item.

There are thousands of them, and each takes longer to be announced, set up and reported than to be checked. Whoever runs
a file or a folder has every case by its name.
"""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING, Any

import pytest
from _pytest.python import DirectParamFixtureDef

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

MANY = 4000
"""Items that are more than anybody wants to see by their names."""
FEW = 3
MOST_TOLD = 20
TIMEOUT = "from pytest-timeout"
"""How the message of a timeout ends."""
_OWN = {"parametrize", "slow"}
"""What a test may be marked with that is joined."""
_OF_SNAPSHOTS = ("snapshot_check", "request")
"""Fixtures that inline-snapshot gives every test. They do nothing unless snapshots are rewritten."""


class Joined(pytest.Item):
    """All cases of one test."""

    def __init__(self, *, cases: list[pytest.Function], **given: Any) -> None:  # noqa: ANN401 - pytest's own
        super().__init__(**given)
        self.cases = cases
        for mark in cases[0].iter_markers("slow"):
            self.add_marker(mark.name)

    def runtest(self) -> None:
        """Check every case, and tell all that fail; one that is skipped skips no other."""
        skipped, wrong = [], []
        for case in self.cases:
            try:
                case.obj(**case.callspec.params)
            except pytest.skip.Exception as reason:
                skipped.append(f"{case.name}: {reason}")
            except (Exception, pytest.fail.Exception) as error:
                if TIMEOUT in str(error):  # the timer rings once an item: another case that hangs would hang forever
                    raise
                wrong.append(f"{case.name}: {error!r:.1000}")
        if wrong:
            pytest.fail("\n".join([f"{len(wrong)} of {len(self.cases)} cases fail", *wrong[:MOST_TOLD]]), pytrace=False)
        if skipped:
            pytest.skip("; ".join(skipped[:MOST_TOLD]))

    def reportinfo(self) -> tuple[Any, int | None, str]:
        """Where it stands."""
        return self.cases[0].reportinfo()


def join(items: list[pytest.Item]) -> list[pytest.Item]:
    """The items, with cases of one test as one wherever that can be."""
    return [*_join(items)] if len(items) > MANY else items


def _join(items: Iterable[pytest.Item]) -> Iterator[pytest.Item]:
    for _, group in groupby(items, key=_find_test):
        cases = [*group]
        if len(cases) >= FEW and all(map(_is_plain, cases)):
            first = cases[0]
            assert isinstance(first, pytest.Function)
            assert first.parent is not None
            yield Joined.from_parent(first.parent, name=f"{first.originalname}[all]", cases=cases)
        else:
            yield from cases


def _find_test(item: pytest.Item) -> object:
    return (item.parent, item.originalname) if isinstance(item, pytest.Function) else item


def _is_plain(item: pytest.Item) -> bool:
    """Whether a case is the values that it is given, and nothing that would have to be set up for it."""
    if not isinstance(item, pytest.Function) or not isinstance(item.parent, pytest.Module):
        return False
    if not hasattr(item, "callspec") or getattr(item.obj, "is_hypothesis_test", False):
        return False
    own, made = item._fixtureinfo.argnames, item._fixtureinfo.name2fixturedefs  # noqa: SLF001 - not public in pytest
    needed = [name for name in item.fixturenames if name in own or name not in _OF_SNAPSHOTS]
    is_given = all(name in made and isinstance(made[name][-1], DirectParamFixtureDef) for name in needed)
    return is_given and {mark.name for mark in item.iter_markers()} <= _OWN
