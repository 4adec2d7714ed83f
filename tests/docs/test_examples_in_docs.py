"""Pages show what happens: every block of every page is run, or parsed, and what it shows is compared."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from tests.support.docs.blocks import Block, list_pages, list_scenes, load_blocks
from tests.support.docs.play_scene import Scene
from tests.support.paths import ROOT

if TYPE_CHECKING:
    from pathlib import Path

NOT_RUN_AT_MOST = 19
"""Blocks that nobody can run here. A new one wants a good reason."""
SCENES = [scene for page in list_pages() for scene in list_scenes(load_blocks(page))]


def _list_needs(scene: list[Block]) -> set[str]:
    return {name for block in scene for name in block.wishes.get("with", "").split()}


def _mark(scene: list[Block]) -> list[pytest.MarkDecorator]:
    """Harnesses and databases cost more than a daily run has."""
    if _list_needs(scene) - {"curl"}:
        return [pytest.mark.slow, pytest.mark.thorough]
    is_run = any(block.language in ("console", "python") and "not run" not in block.wishes for block in scene)
    return [pytest.mark.slow] if is_run else []


@pytest.mark.parametrize("scene", [pytest.param(scene, id=scene[0].place, marks=_mark(scene)) for scene in SCENES])
def test_what_a_page_shows_happens(scene: list[Block], tmp_path: Path, request: pytest.FixtureRequest) -> None:
    folder = tmp_path / "project"
    folder.mkdir()
    more: dict[str, str] = {}
    for name in sorted(_list_needs(scene)):
        more |= request.getfixturevalue(f"with_{name}")
    Scene(folder, tmp_path / "home", more).play(scene)


def test_what_nobody_can_run_says_why_and_is_little() -> None:
    left = [(block.place, block.wishes["not run"]) for scene in SCENES for block in scene if "not run" in block.wishes]
    assert all(len(reason) > 10 for _, reason in left), left
    assert len(left) <= NOT_RUN_AT_MOST, left


@pytest.mark.parametrize("page", [page for page in list_pages() if "extending" in page])
def test_what_is_to_be_touched_is_there(page: str) -> None:
    """Files that the tables of a page name, from the project's folder or the package's; capitals stand for a name."""
    rows = re.findall(r"^\| (`.*?`[^|]*) \|", (ROOT / page).read_text(encoding="utf-8"), re.MULTILINE)
    named = [path for row in rows for path in re.findall(r"`([a-z_/]+(?:/|\.\w+))`", row)]
    homes = (ROOT, ROOT / "src" / "remit")
    assert len(named) > 1
    assert [path for path in named if not any((home / path).exists() for home in homes)] == []
