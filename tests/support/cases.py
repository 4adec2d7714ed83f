"""Cases by the hundred that are one test: what each costs by itself is more than what it takes to check it."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

MOST_TOLD = 20


def for_each(*values: Iterable[Any]) -> Callable[[Callable[..., None]], Callable[[], None]]:
    """Have a test check every combination of values for its arguments, and tell all for which it fails."""
    cases = [*product(*values)]

    def join(check: Callable[..., None]) -> Callable[[], None]:
        def check_all() -> None:
            assert cases
            wrong = [told for case in cases if (told := _try(check, case))]
            assert not wrong, "\n".join([f"{len(wrong)} of {len(cases)} fail", *wrong[:MOST_TOLD]])

        check_all.__name__ = check.__name__
        check_all.__doc__ = check.__doc__
        return check_all

    return join


def _try(check: Callable[..., None], case: tuple[Any, ...]) -> str:
    """Why a case fails, or nothing."""
    try:
        check(*case)
    except (Exception, pytest.fail.Exception) as error:  # noqa: BLE001 - whatever it is, the others are checked too
        return f"{case!r:.300}: {error!r:.1000}"
    return ""
