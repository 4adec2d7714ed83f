"""`make snapshots` rewrites what tests compare, and nothing else of them."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.paths import ROOT

TEST = """\
from inline_snapshot import snapshot


def test_a_screen():
    code, text = 2, "a new sentence\\non two lines\\n"
    assert (code, text) == (2, snapshot("an old sentence\\n"))
"""


def run_pytest(folder: Path, *options: str) -> subprocess.CompletedProcess[str]:
    """Run the tests of a folder with the project's configuration."""
    command = [sys.executable, "-m", "pytest", "-c", str(ROOT / "pyproject.toml"), "-p", "no:cacheprovider"]
    command += ["--rootdir", str(folder), *options, str(folder)]
    environ = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_XDIST")}
    return subprocess.run(
        command, capture_output=True, encoding="utf-8", check=False, cwd=folder, env=environ, timeout=100
    )


@pytest.mark.slow
@pytest.mark.thorough
def test_a_screen_that_changed_fails_and_one_option_rewrites_it(tmp_path: Path) -> None:
    file = tmp_path / "test_screen.py"
    file.write_text(TEST, encoding="utf-8")
    failed = run_pytest(tmp_path)
    assert "1 failed" in failed.stdout
    assert "a new sentence" in failed.stdout
    assert file.read_text(encoding="utf-8") == TEST, "nothing is rewritten unasked"
    [line] = [
        each for each in (ROOT / "Makefile").read_text(encoding="utf-8").splitlines() if "--inline-snapshot" in each
    ]
    option = next(word for word in line.split() if word.startswith("--inline-snapshot"))
    run_pytest(tmp_path, option)
    assert '(2, snapshot("""\\\na new sentence\non two lines\n"""))' in file.read_text(encoding="utf-8")
    assert "1 passed" in run_pytest(tmp_path).stdout
