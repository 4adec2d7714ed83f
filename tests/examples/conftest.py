"""The example projects of the standards, each in a git repository of its own."""

import os
import shutil
from collections.abc import Callable

import pytest

from tests.support.conformance_project import Project
from tests.support.paths import EXAMPLES


@pytest.fixture
def place(
    project: Project, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> Callable[[str], Project]:
    """Makes a copy of an example project; a user's settings are outside of it, and its own programs are on the path."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path_factory.mktemp("config")))
    monkeypatch.setenv("PATH", f"{project.root}/bin:{os.environ['PATH']}")

    def copy(name: str) -> Project:
        shutil.copytree(EXAMPLES / name, project.root, dirs_exist_ok=True, ignore=shutil.ignore_patterns(".remit"))
        project.git("add", "--all")
        project.git("commit", "-qm", "begin")
        return project

    return copy
