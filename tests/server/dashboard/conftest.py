"""One browser for all tests of this folder; without one they are skipped, and that is said where nobody can miss it.

Its driver keeps an event loop running in the thread of the tests: others, which run loops of their own, come only
after it has ended. So the folder is a package: what is made for it ends with its last test.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.support.dashboard import find_chromium, list_flags

if TYPE_CHECKING:
    from collections.abc import Iterator

    from playwright.sync_api import Browser

MISSING = "there is no chromium on this machine, so the dashboard was seen in no browser (make browser installs it)"


@pytest.fixture(scope="package")
def browser() -> Iterator[Browser]:
    """A browser that runs."""
    chromium = find_chromium()
    if chromium is None:
        pytest.skip(MISSING)
    from playwright.sync_api import sync_playwright  # noqa: PLC0415 - it is slow to import, and most tests need none

    with sync_playwright() as driver:
        opened = driver.chromium.launch(executable_path=chromium, args=list_flags())
        try:
            yield opened
        finally:
            opened.close()
