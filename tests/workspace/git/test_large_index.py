"""A repository whose list of files is longer than git may usually print can be sent to a worker."""

from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING

from remit.workspace.git.bases import _look_up
from remit.workspace.git.process import MAX_OUTPUT_BYTES
from remit.workspace.git.repository import find_repository

if TYPE_CHECKING:
    from pathlib import Path


def test_an_index_of_any_length_is_read(tmp_path: Path) -> None:
    def git(*words: str, given: str = "") -> bytes:
        done = subprocess.run(["git", *words], cwd=tmp_path, input=given.encode(), capture_output=True, check=True)
        return done.stdout

    git("init", "-q")
    blob, long = git("hash-object", "-w", "--stdin").decode().strip(), "x" * 200
    lines = "".join(f"100644 {blob}\t{long}/{number:06}\n" for number in range(70_000))
    git("update-index", "--index-info", given=f"{lines}160000 {blob}\tsubmodule\n")
    assert len(git("ls-files", "-s", "-z")) > MAX_OUTPUT_BYTES
    tracked = _look_up(find_repository(str(tmp_path)), {})
    assert tracked.linked == {"submodule": blob}
