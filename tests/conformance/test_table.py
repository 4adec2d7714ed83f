"""docs/conformance.md: every item has a test or a decision, and the page says which."""

import pytest

from tools.conformance import PAGE, find_problems, format_page, load_marked, load_table

COUNTS = {"000": 30, "001": 62, "002": 46, "003": 26, "004": 30}


def test_every_item_works_or_is_decided_and_the_page_says_so() -> None:
    """D18: run `make conformance` after a change of a test's marker, an item or a decision."""
    marked, table = load_marked(), load_table()
    assert find_problems(marked, table) == []
    assert {each: sum(item.startswith(each) for item in table["items"]) for each in table["standards"]} == COUNTS
    assert PAGE.read_text("utf-8") == format_page(marked, table)


@pytest.mark.parametrize(
    ("marked", "decided", "problem"),
    [
        ({}, {}, "000-01 has neither a test nor a decision"),
        ({"000-01": ["x"], "000-99": ["tests/x.py::test_x"]}, {}, "000-99 of tests/x.py::test_x isn't in items.toml"),
        ({}, {"000-01": "docs/decisions/none.md"}, "000-01: docs/decisions/none.md doesn't exist"),
        ({}, {"000-01": "README.md"}, "000-01: README.md doesn't name the item"),
        ({"000-01": ["x"]}, {"009-01": "README.md"}, "009-01 of `decided` isn't in `items`"),
    ],
)
def test_an_item_without_a_test_or_a_page_is_a_problem(
    marked: dict[str, list[str]], decided: dict[str, str], problem: str
) -> None:
    assert find_problems(marked, {"items": {"000-01": "One"}, "decided": decided}) == [problem]
