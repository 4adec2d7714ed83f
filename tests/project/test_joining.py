"""Cases that are joined fail, are skipped and are counted as they would be by themselves."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from tests.support.cases import for_each
from tests.support.paths import ROOT

if TYPE_CHECKING:
    from pathlib import Path

TESTS = """
import pytest
tried = []

@pytest.fixture
def place(tmp_path):
    return tmp_path

@pytest.mark.parametrize("number", range(5))
def test_alone(number):
    tried.append(number)
    if number == 1:
        pytest.skip("not here")
    if number == 4:
        pytest.fail("at the end")
    assert number != 2

def test_all_were_tried():
    assert tried == [0, 1, 2, 3, 4]

@pytest.mark.parametrize("number", range(3))
def test_in_its_place(place, number):
    assert place.exists()

@pytest.mark.parametrize("number", range(3))
@pytest.mark.skipif(True, reason="never")
def test_never(number):
    raise AssertionError
"""
JOIN = """
from tests import joining
joining.MANY = {many}
def pytest_collection_modifyitems(items):
    items[:] = joining.join(items)
"""


@pytest.mark.parametrize(
    ("many", "told"), [(1, "1 failed, 4 passed, 3 skipped"), (1000, "2 failed, 6 passed, 4 skipped")]
)
@pytest.mark.thorough
def test_cases_are_told_whether_they_are_joined_or_not(tmp_path: Path, many: int, told: str) -> None:
    (tmp_path / "test_it.py").write_text(TESTS)
    (tmp_path / "conftest.py").write_text(JOIN.format(many=many))
    environ = {**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "PYTHONPATH": str(ROOT)}
    words = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "--rootdir", str(tmp_path), str(tmp_path)]
    ran = subprocess.run(words, cwd=tmp_path, env=environ, capture_output=True, text=True, check=False)
    assert told in ran.stdout, ran.stdout
    if many == 1:
        assert re.search(
            r"2 of 5 cases fail\ntest_alone\[2\]: .*assert 2 != 2.*\ntest_alone\[4\]: .*at the end", ran.stdout
        )


def test_every_combination_is_checked_and_all_that_fail_are_told() -> None:
    tried = []

    @for_each([1, 2], "ab")
    def check(number: int, letter: str) -> None:
        tried.append((number, letter))
        assert number == 1

    with pytest.raises(AssertionError, match=r"(?s)2 of 4 fail\n\(2, 'a'\).*\(2, 'b'\)"):
        check()
    assert tried == [(1, "a"), (1, "b"), (2, "a"), (2, "b")]
