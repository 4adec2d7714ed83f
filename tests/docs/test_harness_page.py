"""The page on harnesses names the releases that were tried and every row of the tests of caller effects."""

import re

from remit.hooks.install import TRIED
from tests.support import caller_effects_claude as claude
from tests.support import caller_effects_codex as codex
from tests.support.paths import ROOT

PAGE = (ROOT / "docs" / "harnesses.md").read_text()


def test_each_row_of_the_tests_is_a_row_of_the_page_and_the_other_way_round() -> None:
    shown = re.findall(r"\| `([^`|]+)` \|$", PAGE, re.MULTILINE)
    files = [row for row in shown if row.endswith(".py")]
    assert sorted({*shown} - {*files}) == sorted([*claude.ROWS, *codex.LIARS])
    assert {*codex.HONEST} <= {*codex.LIARS}


def test_each_test_that_the_page_names_exists() -> None:
    folder = ROOT / "tests" / "harnesses"
    named = {*re.findall(r"\btest_\w+\.py", PAGE)}
    assert len(named) >= 6
    assert [name for name in sorted(named) if not (folder / name).is_file()] == []


def test_the_page_has_the_tried_releases() -> None:
    shown = dict(re.findall(r"^\| ([\w ]+) \| ([\d., ]+) \|", PAGE, re.MULTILINE))
    names = {"claude": "Claude Code", "codex": "Codex", "opencode": "opencode", "gemini": "Gemini CLI"}
    assert {name: tuple(shown[title].split(", ")) for name, title in names.items()} == TRIED
