"""Files with several names: they are found by what they are, and only those pay for the search."""

import os
from collections.abc import Iterator
from pathlib import Path
from time import process_time

import pytest

from remit.policy import PROTECTED, Permissions, ToolCall, judge
from remit.storage import hard_links
from remit.storage.hard_links import make_search
from remit.storage.protected_files import make_path_context


@pytest.fixture
def root(tmp_path: Path) -> Path:
    for name in ("remit.toml", ".mcp.json", ".claude/settings.json", "locked/deep/a", "agents/x/a.md", "plain"):
        file = tmp_path / "project" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("x", encoding="utf-8")
    (tmp_path / "home" / ".claude").mkdir(parents=True)
    (tmp_path / "home" / ".claude.json").write_text("{}", encoding="utf-8")
    (tmp_path / "home" / ".claude" / "settings.json").write_text("{}", encoding="utf-8")
    return tmp_path / "project"


def answer(root: Path, call: ToolCall, rules: Permissions) -> str:
    return judge(call, [rules], make_path_context(str(root), str(root), str(root.parent / "home"), {})).answer


@pytest.mark.parametrize(
    "name",
    ["remit.toml", ".mcp.json", ".claude/settings.json", "agents/x/a.md", "../home/.claude.json",
     "../home/.claude/settings.json"],
)  # fmt: skip
def test_a_hard_link_to_a_protected_file_is_not_written(root: Path, name: str) -> None:
    os.link(root / name, root / "other")
    assert (root / "other").stat().st_nlink == 2
    assert answer(root, ToolCall("write", ("other",)), Permissions()) == "deny"
    assert answer(root, ToolCall("read", ("other",)), Permissions()) == "allow"
    assert answer(root, ToolCall("write", ("plain",)), Permissions()) == "allow"


def test_a_hard_link_to_a_denied_file_is_not_written_either(root: Path) -> None:
    os.link(root / "locked/deep/a", root / "other")
    rules = Permissions(None, {}, {"write": ("locked/**",)})
    assert answer(root, ToolCall("edit", ("other",)), rules) == "deny"
    assert answer(root, ToolCall("edit", ("other",)), Permissions()) == "allow"


def test_a_link_whose_names_are_all_free_is_written(root: Path) -> None:
    os.link(root / "plain", root / "other")
    assert answer(root, ToolCall("write", ("other",)), Permissions()) == "allow"


def test_only_a_file_with_several_names_is_searched_for(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    looked: list[str] = []
    scan = hard_links._scan  # noqa: SLF001 - what costs time

    def look(folder: str) -> Iterator[os.DirEntry[str]]:
        looked.append(folder)
        return scan(folder)

    monkeypatch.setattr(hard_links, "_scan", look)
    search = make_search(str(root), str(root.parent / "home"), PROTECTED)
    assert search(str(root / "plain")) == search(str(root / "none")) == search("a\0b") == search(str(root)) == []
    assert looked == []
    os.link(root / "plain", root / "other")
    assert sorted(search(str(root / "other"))) == [str(root / "other"), str(root / "plain")]
    assert looked


def test_a_large_workspace_is_not_gone_through_without_end(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hard_links, "MAX_ENTRIES", 500)
    for number in range(2000):
        (root / f"f{number}").touch()
    os.link(root / "remit.toml", root.parent / "outside")
    os.link(root / "plain", root.parent / "elsewhere")
    search = make_search(str(root), str(root.parent / "home"), PROTECTED)
    start = process_time()
    assert search(str(root.parent / "elsewhere")) in ([], [str(root / "plain")])
    assert process_time() - start < 1
