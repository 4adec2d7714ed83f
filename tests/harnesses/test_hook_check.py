"""`remit hooks check NAME` with the real harnesses: it reports the promises that hold, and those that don't.

Codex calls only hooks that the user trusts, so the test does what a user does there: Codex lists the hooks, and their
hashes go into Codex's settings.
"""

from __future__ import annotations

import json
import os
import sys
from typing import TYPE_CHECKING, Any

import pytest

from remit.hooks.check import HookCheck, check_harness
from remit.hooks.install import CODEX, LOCAL, PLUGIN, TRIED, plan_installation, write_installation
from remit.ledger.home import Home
from remit.storage.probe import converse
from remit.testing import find_cli
from tests.support.paths import ROOT

if TYPE_CHECKING:
    from pathlib import Path

    from remit.testing.clis import CliName

pytestmark = pytest.mark.slow

ALL = {"instructions", "sent-back", "verdict", "honest", "denied", "confined", "tokens"}
DOUBLING = """#!{python}
import json, subprocess, sys
def double(value):
    if isinstance(value, dict):
        return {{key: double(each) for key, each in value.items()}}
    return value * 2 if isinstance(value, int) and not isinstance(value, bool) else value
ran = subprocess.run([{program!r}, *sys.argv[1:]], stdout=subprocess.PIPE, text=True)
for line in ran.stdout.splitlines():
    told = json.loads(line) if line.startswith("{{") else None
    print(json.dumps(double(told)) if told and told["type"] == "result" else line)
sys.exit(ran.returncode)
"""
"""A harness that reports twice what it used."""


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A workspace, a home, and a folder for programs."""
    for name in ("root", "home", "bin"):
        (tmp_path / name).mkdir()
    monkeypatch.chdir(tmp_path / "root")
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("REMIT_ROOT", str(tmp_path / "root"))
    for name in ("CLAUDE_CONFIG_DIR", "CODEX_HOME"):
        monkeypatch.delenv(name, raising=False)
    return tmp_path / "root"


def put(name: CliName, root: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """Put a harness on the path, and Remit's hooks into its settings."""
    program = find_cli(name, os.environ.get("REMIT_AGENTS") or str(ROOT / ".agents"))
    if program is None:
        pytest.skip(f"{name} is not installed: run `make agents`")
    (root.parent / "bin" / name).symlink_to(program)
    monkeypatch.setenv("PATH", f"{root.parent / 'bin'}:{os.environ['PATH']}")
    write_installation(plan_installation([name]))
    return program


def trust(program: str, root: Path) -> None:
    """Have Codex trust the folder and its hooks, as they are."""
    folder = root.parent / "home" / ".codex"
    folder.mkdir(exist_ok=True)
    settings = folder / "config.toml"
    settings.write_text(f'[projects."{root}"]\ntrust_level = "trusted"\n')
    asked: tuple[dict[str, Any], ...] = (
        {"id": 1, "method": "initialize", "params": {"clientInfo": {"name": "x", "version": "1"}}},
        {"method": "initialized"},
        {"id": 2, "method": "hooks/list", "params": {"cwds": [str(root)]}},
    )
    environ = {"PATH": os.environ["PATH"], "HOME": str(folder.parent), "HTTPS_PROXY": "http://127.0.0.1:9"}
    lines = [json.dumps({"jsonrpc": "2.0", **each}) for each in asked]
    answer: Any = json.loads(
        converse([program, "app-server"], environ=environ, lines=lines, until='"id":2', seconds=30)
    )
    hooks = [hook for each in answer["result"]["data"] for hook in each["hooks"]]
    assert hooks
    with settings.open("a") as file:
        for hook in hooks:
            file.write(f'[hooks.state."{hook["key"]}"]\ntrusted_hash = "{hook["currentHash"]}"\n')


def keep_hooks(root: Path, path: str, *, only: set[str] | None = None, without: set[str] = frozenset()) -> None:  # type: ignore[assignment]
    """Take hooks out of a settings file, by their events."""
    settings = json.loads((root / path).read_text())
    kept = {event for event in settings["hooks"] if (only is None or event in only) and event not in without}
    assert kept < {*settings["hooks"]}
    settings["hooks"] = {event: groups for event, groups in settings["hooks"].items() if event in kept}
    (root / path).write_text(json.dumps(settings))


def list_broken(checked: HookCheck) -> set[str]:
    """The names of the promises that are broken; every other one holds."""
    assert {promise.name for promise in checked.promises} == ALL
    assert "unproven" not in {promise.state for promise in checked.promises}, checked
    return {promise.name for promise in checked.promises if promise.state == "broken"}


def check(name: str) -> HookCheck:
    lines: list[str] = []
    checked = check_harness(name, lines.append)
    assert len(lines) >= 2, "a check that takes a while says what it does"
    return checked


def test_claude_code_keeps_its_promises(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    put("claude", root, monkeypatch)
    before = sorted(root.rglob("*"))
    checked = check("claude")
    assert list_broken(checked) == set(), checked
    assert (checked.version in TRIED["claude"]) is (not checked.notes)
    assert sorted(root.rglob("*")) == before, "nothing in the workspace changes"


@pytest.mark.thorough
def test_each_promise_is_reported_broken_in_claude_code_if_it_is(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Hooks that do nothing for subagents, and a harness that reports double its tokens."""
    program = put("claude", root, monkeypatch)
    keep_hooks(root, LOCAL, only={"SessionStart"})
    doubling = root.parent / "bin" / "claude"
    doubling.unlink()
    doubling.write_text(DOUBLING.format(python=sys.executable, program=program))
    doubling.chmod(0o755)
    checked = check("claude")
    assert list_broken(checked) == ALL
    assert all(promise.why and promise.hint for promise in checked.promises)


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("without", "broken"),
    [
        ({"PreToolUse", "SubagentStart"}, {"instructions", "honest", "denied"}),
        ({"SubagentStop"}, {"sent-back"}),
        ({"PostToolUse", "PostToolUseFailure", "UserPromptSubmit", "Stop"}, {"verdict"}),
    ],
    ids=["before tools", "at the end", "after tools"],
)
def test_a_hook_that_is_missing_in_claude_code_breaks_its_promise(
    root: Path, monkeypatch: pytest.MonkeyPatch, without: set[str], broken: set[str]
) -> None:
    put("claude", root, monkeypatch)
    keep_hooks(root, LOCAL, without=without)
    assert broken <= list_broken(check("claude"))


@pytest.mark.thorough
def test_a_shell_that_claude_code_does_not_start_is_reported(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    put("claude", root, monkeypatch)
    settings = json.loads((root / LOCAL).read_text())
    assert list(settings.pop("env")) == ["CLAUDE_CODE_SHELL"]
    (root / LOCAL).write_text(json.dumps(settings))
    assert list_broken(check("claude")) == {"confined"}


@pytest.mark.thorough
def test_opencode_keeps_its_promises(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    put("opencode", root, monkeypatch)
    before = sorted(root.rglob("*"))
    checked = check("opencode")
    assert list_broken(checked) == set(), checked
    assert sorted(root.rglob("*")) == before, "nothing in the workspace changes"


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("hook", "broken"),
    [
        ("tool.execute.before", {"instructions", "honest", "denied"}),
        ("tool.execute.after", {"sent-back", "verdict"}),
    ],
)
def test_a_hook_that_is_missing_in_opencode_breaks_its_promise(
    root: Path, monkeypatch: pytest.MonkeyPatch, hook: str, broken: set[str]
) -> None:
    put("opencode", root, monkeypatch)
    plugin = root / PLUGIN
    assert f'"{hook}"' in plugin.read_text()
    plugin.write_text(plugin.read_text().replace(f'"{hook}"', '"tool.execute.never"'))
    assert broken <= list_broken(check("opencode"))


@pytest.mark.thorough
def test_codex_skips_hooks_until_the_user_trusts_them(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = put("codex", root, monkeypatch)
    checked = check_harness("codex", print)
    assert {(promise.state, promise.why) for promise in checked.promises} == {
        ("broken", "Codex does not trust this folder")
    }
    assert all(f"start codex in {root}" in promise.hint for promise in checked.promises)
    trust(program, root)
    checked = check("codex")
    assert list_broken(checked) == set(), checked
    settings = json.loads((root / CODEX).read_text())
    settings["hooks"]["SubagentStop"][0]["hooks"][0]["timeout"] += 1
    (root / CODEX).write_text(json.dumps(settings))
    checked = check("codex")
    assert "sent-back" in list_broken(checked)
    assert "Codex skips the hook for SubagentStop: it has changed since you trusted it in Codex" in checked.notes
    with Home(str(root)).ledger.reading() as db:
        assert db.execute("SELECT count(*) FROM runs").fetchone() == (0,), "it went into another ledger"
