"""Write docs/conformance.md: every item of the five standards, with the test that shows it or the page that decides it.

The items are in tests/conformance/items.toml; a test names those that it shows with `@pytest.mark.conforms`.
"""

from __future__ import annotations

import ast
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
ITEMS = ROOT / "tests" / "conformance" / "items.toml"
PAGE = ROOT / "docs" / "conformance.md"
HEAD = """\
# Conformance

Every item of the five standards that Remit implements. *Works* names a test that fails if Remit stops doing it;
*decided* names the page that says why Remit does otherwise. `make conformance` writes this page.
"""


def load_marked(root: Path = ROOT) -> dict[str, list[str]]:
    """The tests that show each item, as `path::name`."""
    marked: dict[str, list[str]] = {}
    for file in sorted((root / "tests").rglob("test_*.py")):
        text = file.read_text("utf-8")
        if "conforms(" not in text:
            continue
        for test in ast.walk(ast.parse(text)):
            if isinstance(test, ast.FunctionDef) and test.name.startswith("test_"):
                for item in _list_items(test):
                    marked.setdefault(item, []).append(f"{file.relative_to(root)}::{test.name}")
    return marked


def _list_items(test: ast.FunctionDef) -> list[str]:
    """The items that a test's decorators name: `pytest.mark.conforms(…)` or `conforms(…)`, also of one case."""
    calls = [node for mark in test.decorator_list for node in ast.walk(mark) if isinstance(node, ast.Call)]
    named = [call for call in calls if getattr(call.func, "attr", getattr(call.func, "id", "")) == "conforms"]
    return [str(value.value) for call in named for value in call.args if isinstance(value, ast.Constant)]


def find_problems(marked: dict[str, list[str]], table: dict[str, dict[str, str]]) -> list[str]:
    """What is wrong with the list: an item without test or decision, an unknown item, a page that is not there."""
    items, decided = table["items"], table["decided"]
    problems = [f"{item} has neither a test nor a decision" for item in items if item not in marked | decided]
    problems += [f"{item} of {marked[item][0]} isn't in items.toml" for item in marked if item not in items]
    for item, page in decided.items():
        if item not in items:
            problems.append(f"{item} of `decided` isn't in `items`")
        elif not (ROOT / page).is_file():
            problems.append(f"{item}: {page} doesn't exist")
        elif item not in (ROOT / page).read_text("utf-8"):
            problems.append(f"{item}: {page} doesn't name the item")
    return problems


def format_page(marked: dict[str, list[str]], table: dict[str, dict[str, str]]) -> str:
    """The page, with a section for each standard."""
    items, decided = table["items"], table["decided"]
    works = sum(item not in decided for item in items)
    parts = [HEAD, f"{len(items)} items: {works} work, {len(items) - works} are decided.\n"]
    for standard, title in table["standards"].items():
        rows = [_format_row(item, items, decided, marked) for item in items if item.startswith(f"{standard}-")]
        parts.append(
            "\n".join([f"## {standard} · {title}\n", "| item | | | shown by |", "|---|---|---|---|", *rows, ""])
        )
    return "\n".join(parts)


def _format_row(item: str, items: dict[str, str], decided: dict[str, str], marked: dict[str, list[str]]) -> str:
    if item in decided:
        page = decided[item].removeprefix("docs/")
        return f"| {item} | {items[item]} | decided | [{Path(page).stem}]({page}) |"
    tests = [each.partition("::") for each in marked[item]]
    links = "<br>".join(f"[{name}](../{path})" for path, _, name in tests)
    return f"| {item} | {items[item]} | works | {links} |"


def load_table() -> dict[str, dict[str, str]]:
    """The standards, the items and the decisions, as items.toml has them."""
    table: dict[str, dict[str, str]] = tomllib.loads(ITEMS.read_text("utf-8"))
    return table


def main() -> None:
    """Write the page; an item with neither test nor decision ends it."""
    marked, table = load_marked(), load_table()
    if problems := find_problems(marked, table):
        raise SystemExit("\n".join(problems))
    PAGE.write_text(format_page(marked, table), "utf-8")


if __name__ == "__main__":
    main()
