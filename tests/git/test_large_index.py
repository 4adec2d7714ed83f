"""A repository whose list of files is longer than git may usually print travels to a worker and back."""

from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING

import pytest

from remit.git.process import MAX_OUTPUT_BYTES
from remit.git.repository import find_repository
from remit.git.tree_snapshot import _load_tracked
from tests.support.git_bundles import come_back, send

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize("is_tracked", [True, False])
@pytest.mark.slow
@pytest.mark.thorough("False")
def test_a_tree_with_a_long_list_of_files_travels(tmp_path: Path, *, is_tracked: bool) -> None:
    root = tmp_path / "root"
    folder = root.joinpath(*["x" * 240] * 14)
    folder.mkdir(parents=True)
    for number in range(5_200):
        (folder / f"{number:04}").write_text("a\n")

    def git(*words: str) -> bytes:
        return subprocess.run(["git", *words], cwd=root, check=True, capture_output=True).stdout

    git("init", "-q")
    if is_tracked:
        git("add", "-A")
        assert len(git("ls-files", "-s", "-z")) > MAX_OUTPUT_BYTES
    trip = send(str(root), tmp_path / "worker")
    (trip.clone / "new.md").write_text("new\n")
    come_back(trip)
    assert (root / "new.md").read_text() == "new\n"


def test_an_index_of_any_length_is_read(tmp_path: Path) -> None:
    def git(*words: str, given: str = "") -> bytes:
        done = subprocess.run(["git", *words], cwd=tmp_path, input=given.encode(), capture_output=True, check=True)
        return done.stdout

    git("init", "-q")
    blob, long = git("hash-object", "-w", "--stdin").decode().strip(), "x" * 200
    lines = "".join(f"100644 {blob}\t{long}/{number:06}\n" for number in range(70_000))
    git("update-index", "--index-info", given=f"{lines}160000 {blob}\tsubmodule\n")
    assert len(git("ls-files", "-s", "-z")) > MAX_OUTPUT_BYTES
    tracked = _load_tracked(find_repository(str(tmp_path)), {})
    assert tracked.linked == {"submodule": blob}
