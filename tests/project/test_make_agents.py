"""`make agents`: which releases of the harnesses are installed, and the report on the newest ones."""

import os
import re
import subprocess
from pathlib import Path

import pytest

from remit.hooks.install import TRIED
from tests.support.paths import ROOT

TOOLS = ROOT / "tools"
NPM = """#!/bin/sh
echo "$@" >>"$CALLS"
case $1 in
  view) [ -z "$OFFLINE" ] && echo 9.9.9 ;;
  install) [ -z "$OFFLINE" ] ;;
esac
"""
PINNED = {
    "claude": "@anthropic-ai/claude-code",
    "opencode": "opencode-ai",
    "codex": "@openai/codex",
    "gemini": "@google/gemini-cli",
}


@pytest.fixture
def npm(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A program in npm's place that writes down how it is called; the file it writes to."""
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin/npm").write_text(NPM)
    (tmp_path / "bin/npm").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:{os.environ['PATH']}")
    monkeypatch.setenv("CALLS", str(tmp_path / "calls"))
    return tmp_path / "calls"


def install(folder: Path, *more: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(["sh", TOOLS / "agents.sh", folder, *more], capture_output=True, text=True, check=True)


def list_installed(folder: Path) -> dict[str, str]:
    return {name: (folder / name / ".installed").read_text().strip() for name in PINNED}


def test_the_pinned_releases_were_tried(npm: Path, tmp_path: Path) -> None:
    install(tmp_path / "agents")
    assert "view" not in npm.read_text()
    for name, installed in list_installed(tmp_path / "agents").items():
        package, _, version = installed.rpartition("@")
        assert package == PINNED[name]
        assert version in TRIED[name]


def test_the_newest_releases_are_asked_for_and_installed_once(npm: Path, tmp_path: Path) -> None:
    install(tmp_path / "agents", "newest")
    assert list_installed(tmp_path / "agents") == {name: f"{package}@9.9.9" for name, package in PINNED.items()}
    install(tmp_path / "agents", "newest")
    assert len(re.findall("^install", npm.read_text(), re.MULTILINE)) == len(PINNED)


def test_without_a_network_the_missing_harnesses_are_named(
    npm: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OFFLINE", "1")
    ended = install(tmp_path / "agents", "newest")
    assert "NOT INSTALLED: claude opencode codex gemini." in ended.stderr
    assert "install" not in npm.read_text()


@pytest.mark.parametrize(("code", "says_so"), [(0, False), (1, True)])
def test_the_report_on_the_newest_releases_never_fails(tmp_path: Path, code: int, *, says_so: bool) -> None:
    (tmp_path / "agents/claude").mkdir(parents=True)
    (tmp_path / "agents/claude/.installed").write_text("@anthropic-ai/claude-code@9.9.9\n")
    command = ["sh", "-c", f'echo "$REMIT_AGENTS $*"; exit {code}', "sh", "tests/harnesses"]
    ran = subprocess.run(
        ["sh", TOOLS / "newest.sh", tmp_path / "agents", *command], capture_output=True, text=True, check=True
    )
    assert "  @anthropic-ai/claude-code@9.9.9" in ran.stdout.splitlines()
    assert f"{tmp_path / 'agents'} tests/harnesses --tb=no -rfE" in ran.stdout
    assert ("Some tests fail with the newest releases" in ran.stdout) is says_so
