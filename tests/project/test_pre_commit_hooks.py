"""The hooks for pre-commit: each one runs as pre-commit would run it, in a real repository."""

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.support.manifest_entries import FINDINGS_FILE, make_line
from tests.support.paths import ROOT, SOURCE
from tests.support.task_files import STATE, TODO

HOOKS: list[dict[str, Any]] = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text("utf-8"))
IDS = [hook["id"] for hook in HOOKS]

GOOD = {
    "lint-agents": {".claude/agents/tidy.md": "---\nname: tidy\ndescription: Tidies up.\n---\n\nTidy up.\n"},
    "check-manifest": {"MANIFEST.jsonl": make_line(), FINDINGS_FILE: "# Sessions\n"},
    "check-sync": {"specs/state.json": STATE, "specs/TODO.md": TODO},
}
BAD = {
    "lint-agents": {".claude/agents/tidy.md": "---\nname: [tidy\n---\n\nTidy up.\n"},
    "check-manifest": {"docs/MANIFEST.jsonl": make_line() + "nonsense\n"},
    "check-sync": {"specs/TODO.md": TODO.replace("[PLANNED]", "[COMPLETED]")},
}


def run_hook(hook: dict[str, Any], repository: Path) -> subprocess.CompletedProcess[str] | None:
    """Run a hook over every file of a repository; None where none of them is its own."""
    listing = subprocess.run(["git", "ls-files"], cwd=repository, capture_output=True, text=True, check=True)
    names = [name for name in listing.stdout.splitlines() if re.search(hook["files"], name)]
    if not names:
        return None
    program, *words = shlex.split(hook["entry"])
    assert program == "remit"
    command = [sys.executable, "-m", "remit", *words, *(names if hook.get("pass_filenames", True) else ())]
    env = {**os.environ, "PYTHONPATH": str(SOURCE)}
    env.pop("REMIT_ROOT", None)
    return subprocess.run(command, cwd=repository, env=env, capture_output=True, encoding="utf-8", check=False)


def fill(repository: Path, files: dict[str, str]) -> None:
    """Put files into a repository and stage them."""
    for name, text in files.items():
        file = repository / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
    subprocess.run(["git", "add", "--all"], cwd=repository, check=True)


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    subprocess.run(["git", "init", "--quiet", str(tmp_path)], check=True)
    return tmp_path


def test_the_hooks_are_these() -> None:
    assert IDS == ["lint-agents", "check-manifest", "check-sync"]
    for hook in HOOKS:
        assert {"id", "name", "description", "entry", "language", "files"} <= hook.keys()
        assert hook["language"] == "python"
        re.compile(hook["files"])


@pytest.mark.parametrize("hook", HOOKS, ids=IDS)
def test_a_hook_passes_what_is_good_and_stops_what_is_not(hook: dict[str, Any], repository: Path) -> None:
    assert run_hook(hook, repository) is None
    fill(repository, GOOD[hook["id"]])
    passed = run_hook(hook, repository)
    assert passed is not None
    assert (passed.returncode, passed.stderr) == (0, ""), passed.stdout
    fill(repository, BAD[hook["id"]])
    stopped = run_hook(hook, repository)
    assert stopped is not None
    assert (stopped.returncode, stopped.stderr) == (1, ""), stopped.stdout


@pytest.mark.parametrize("hook", HOOKS, ids=IDS)
def test_a_hook_leaves_the_repository_as_it_was(hook: dict[str, Any], repository: Path) -> None:
    fill(repository, GOOD[hook["id"]] | BAD[hook["id"]])
    status = ["git", "status", "--porcelain"]
    before = subprocess.run(status, cwd=repository, capture_output=True, check=True).stdout
    assert run_hook(hook, repository) is not None
    assert subprocess.run(status, cwd=repository, capture_output=True, check=True).stdout == before


@pytest.mark.parametrize(
    ("name", "hook"),
    [
        (".claude/agents/sub/a.md", "lint-agents"),
        (".opencode/agent/a.md", "lint-agents"),
        (".codex/agents/a.toml", "lint-agents"),
        ("plugins/x/agents/a.md", "lint-agents"),
        ("claudedocs/agent-outputs/MANIFEST.jsonl", "check-manifest"),
        (".opencode/specs/state.json", "check-sync"),
        ("specs/TODO.md", "check-sync"),
        ("README.md", None),
        ("docs/TODO.md", None),
    ],
)
def test_a_file_belongs_to_its_hook(name: str, hook: str | None) -> None:
    assert [each["id"] for each in HOOKS if re.search(each["files"], name)] == ([hook] if hook else [])
