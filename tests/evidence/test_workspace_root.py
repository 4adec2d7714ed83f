"""Hyper's workspace root: found as its plugin finds it."""

import json
from pathlib import Path

import pytest

from remit.evidence.workspace_root import find_workspace_root


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "project").mkdir()
    return tmp_path / "project"


def write(file: Path, value: object) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps(value))


def test_the_nearest_place_that_names_it_counts(root: Path) -> None:
    """D2: the project's own folder, the user's `~/.hyper`, the variable, Claude Code's settings for what it starts."""
    home = root.parent / "home"
    environ = {"HOME": str(home), "CLAUDE_CONFIG_DIR": str(home / ".claude")}
    (root / ".hyper").mkdir()
    assert find_workspace_root(str(root), environ) == ""
    write(root / ".hyper" / "workspace.json", {"id": "ws_2"})
    assert find_workspace_root(str(root), environ) == str(root / ".hyper")
    folder = home / ".hyper" / "accounts" / "local" / "hyper"
    (folder / "workspaces" / "ws_2").mkdir(parents=True)
    assert find_workspace_root(str(root), environ) == str(folder / "workspaces" / "ws_2")
    (folder / "workspaces" / "ws_1").mkdir()
    write(folder / "workspaces.json", {"workspaces": [{"id": "ws_1", "localPath": str(root)}]})
    assert find_workspace_root(str(root), environ) == str(folder / "workspaces" / "ws_1")
    environ["HYPER_WORKSPACE_ROOT"] = "../outer"
    assert find_workspace_root(str(root), environ) == f"{root}/../outer"
    for file, place in (
        (home / ".claude" / "settings.json", "/user"),
        (root / ".claude" / "settings.json", "/project"),
        (root / ".claude" / "settings.local.json", "/local"),
    ):
        write(file, {"env": {"HYPER_WORKSPACE_ROOT": place}})
        assert find_workspace_root(str(root), environ, runner="claude") == place
    assert find_workspace_root(str(root), environ, runner="codex") == f"{root}/../outer"


@pytest.mark.parametrize("name", ["../../../../../etc", "..", "", 3, None])
def test_a_name_that_leads_elsewhere_is_none(root: Path, name: object) -> None:
    """D2: only a folder in the user's own `~/.hyper` counts."""
    home = root.parent / "home"
    folder = home / ".hyper" / "accounts" / "local" / "hyper"
    (folder / "workspaces").mkdir(parents=True)
    write(folder / "workspaces.json", {"workspaces": [{"id": name, "localPath": str(root)}]})
    assert find_workspace_root(str(root), {"HOME": str(home)}) == ""
    write(home / ".hyper" / "active-account.json", {"activeAccountId": name})
    assert find_workspace_root(str(root), {"HOME": str(home)}) == ""
