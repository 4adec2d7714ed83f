"""Where a context file may lie, and where nobody looks."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from remit.agents.context import MAX_FILES, find_context_files, find_places
from remit.agents.document import parse_document


def find(**context: object) -> dict[str, tuple[str, ...]]:
    lines = "".join(f"  {key}: {value}\n" for key, value in context.items())
    text = f"---\nname: planner\nversion: 1.0.0\nagent_type: planning\ncontext_loading:\n{lines}---\n"
    return find_context_files(parse_document(".opencode/agent/planner.md", text))


def test_a_file_is_looked_for_beside_the_index_and_then_below_the_root() -> None:
    found = find(index=".opencode/context/index.md", required="[core/format.md]", optional="[docs/x.md]")
    assert found == {
        ".opencode/context/index.md": (".opencode/context/index.md",),
        "core/format.md": (".opencode/context/core/format.md", "core/format.md"),
        "docs/x.md": (".opencode/context/docs/x.md", "docs/x.md"),
    }


def test_a_path_that_names_the_indexs_folder_is_meant_from_the_root() -> None:
    found = find(index="docs/context/index.md", required="[docs/context/a.md]")
    assert found["docs/context/a.md"] == ("docs/context/a.md", "docs/context/docs/context/a.md")


def test_without_an_index_only_the_root_counts() -> None:
    assert find(required='["./core/format.md"]') == {"./core/format.md": ("core/format.md",)}


def test_a_path_may_climb_as_long_as_it_stays_inside() -> None:
    assert find(index=".opencode/context/index.md", required="[../shared/a.md]")["../shared/a.md"] == (
        ".opencode/shared/a.md",
    )


@pytest.mark.parametrize("path", [
    "/etc/passwd", "~/notes.md", "../../../x.md", "C:\\\\x.md", "core/**/*.md", "https://example.org/x.md", "..", ".",
])  # fmt: skip
def test_what_lies_outside_or_is_no_file_is_not_looked_at(path: str) -> None:
    assert path not in find(index="docs/context/index.md", required=f'["{path}"]')


@pytest.mark.parametrize("value", ["null", "7", "a.md", "{a: b}", "[1, null, [x], {}, '']", "true"])
def test_odd_values_name_no_file(value: str) -> None:
    assert find(index="[x]", required=value, optional=value) == {}


def test_no_file_makes_anybody_look_at_thousands() -> None:
    assert len(find(required=f"[{', '.join(f'a{at}.md' for at in range(1_000))}]")) == MAX_FILES


@example("./~", "")
@example("./~/a", "b")
@given(st.text("ab./~\\*: ", max_size=30), st.text("ab./", max_size=12))
def test_no_place_is_outside(path: str, folder: str) -> None:
    for place in find_places(path, folder if not folder.startswith("/") else ""):
        assert place
        assert not place.startswith(("/", "~"))
        assert ".." not in place.split("/")
