"""`remit init --harness NAME --check` with the real harnesses: whether hooks are called is seen, and why they are not.

Codex calls only what was trusted, so the test does what a person does there: it has Codex list the hooks, and writes
their hashes into Codex's settings.
"""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from remit.app.harness_probes import Played, Probed, judge_event, probe_harness
from remit.app.harnesses import (
    CODEX,
    LOCAL,
    PLUGIN,
    plan_installation,
    plan_uninstallation,
    write_installation,
)
from remit.testing import find_cli
from remit.workspace.home import Home
from remit.workspace.ledger.probes import Called
from remit.workspace.probing import converse

if TYPE_CHECKING:
    from remit.testing.clis import CliName

pytestmark = pytest.mark.slow

MINE = '{\n  "model": "x",\n  "hooks": {"Stop": [{"hooks": [{"type": "command", "command": "touch stopped"}]}]}\n}\n'


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder, a home, and a path with the harnesses that are installed."""
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
    program = find_cli(name, os.environ.get("REMIT_AGENTS") or str(Path(__file__).parents[2] / ".agents"))
    if program is None:
        pytest.skip(f"{name} is not installed: run `make agents`")
    (root.parent / "bin" / name).symlink_to(program)
    monkeypatch.setenv("PATH", f"{root.parent / 'bin'}:{os.environ['PATH']}")
    write_installation(plan_installation([name]))
    return program


def list_states(probed: Probed) -> dict[str, str]:
    return {event.name: event.state for event in probed.events}


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


def test_claude_code_calls_every_hook_and_a_persons_own(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (root / ".claude").mkdir()
    (root / LOCAL).write_text(MINE)
    put("claude", root, monkeypatch)
    probed = probe_harness("claude")
    assert probed.is_live
    assert {*list_states(probed).values()} == {"fires"}, probed
    assert {"PreToolUse", "PostToolUseFailure", "SubagentStop", "Stop", "SessionEnd"} <= {*list_states(probed)}
    assert (root / "stopped").exists()
    with Home(str(root)).ledger.reading() as db:
        assert db.execute("SELECT count(*) FROM delegations").fetchone() == (0,), "it went into another ledger"
    write_installation(plan_uninstallation())
    assert (root / LOCAL).read_text() == MINE


def test_a_change_of_settings_that_nobody_noticed_proves_nothing() -> None:
    played = Played([Called("Stop", "claude")], "", {})
    states = [judge_event(event, played, "").state for event in ("Stop", "ConfigChange", "PreToolUse")]
    assert states == ["fires", "not proved", "does not"]
    assert judge_event("ConfigChange", played, "hooks are switched off").state == "does not"


@pytest.mark.thorough
def test_hooks_that_the_folder_switches_off_are_seen(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (root / ".claude").mkdir()
    (root / ".claude/settings.json").write_text('{"disableAllHooks": true}')
    put("claude", root, monkeypatch)
    probed = probe_harness("claude")
    assert {*list_states(probed).values()} == {"does not"}
    assert all("take disableAllHooks out of it" in event.why for event in probed.events)


@pytest.mark.thorough
def test_codex_passes_over_hooks_until_they_are_trusted(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = put("codex", root, monkeypatch)
    probed = probe_harness("codex")
    assert {(event.state, event.why) for event in probed.events} == {("does not", "Codex does not trust this folder")}
    assert any("start codex in" in note for note in probed.notes)
    trust(program, root)
    probed = probe_harness("codex")
    assert {*list_states(probed).values()} == {"fires"}, probed
    file = root / CODEX
    file.write_text(file.read_text().replace('"timeout": 60', '"timeout": 61'))
    probed = probe_harness("codex")
    told = {event.name: (event.state, event.why) for event in probed.events}
    assert told["PreToolUse"] == ("does not", "it has changed since you trusted it in Codex")
    assert told["SubagentStop"][0] == "fires"


@pytest.mark.thorough
def test_opencode_calls_what_its_plugin_tells(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # What opencode would fetch for plugins is there: to wait for it in vain takes it more than a minute.
    (root / ".opencode/node_modules").mkdir(parents=True)
    lock = {"packages": {"": {"dependencies": {"@opencode-ai/plugin": "*"}}}}
    (root / ".opencode/package-lock.json").write_text(json.dumps(lock))
    put("opencode", root, monkeypatch)
    probed = probe_harness("opencode")
    assert {*list_states(probed).values()} == {"fires"}, probed
    assert not (root / ".opencode/.gitignore").exists(), "opencode makes one"
    (root / PLUGIN).write_text((root / PLUGIN).read_text().replace("doors/hook.py", "doors/nothing.py"))
    assert "fires" not in list_states(probe_harness("opencode")).values()


@pytest.mark.thorough
@pytest.mark.parametrize("is_worktree", [False, True], ids=["below", "worktree"])
def test_claude_code_is_tried_where_the_person_stands(
    root: Path, monkeypatch: pytest.MonkeyPatch, *, is_worktree: bool
) -> None:
    """It reads the settings of the folder that it is started in, and of no folder above."""
    monkeypatch.delenv("REMIT_ROOT")
    for words in (
        ["init", "-q"],
        ["-c", "user.name=x", "-c", "user.email=x@y", "commit", "--allow-empty", "-qmx"],
    ):
        subprocess.run(["git", *words], cwd=root, check=True)
    put("claude", root, monkeypatch)
    here = root.parent / "other" if is_worktree else root / "src"
    if is_worktree:
        subprocess.run(["git", "worktree", "add", "-q", str(here)], cwd=root, check=True)
    else:
        here.mkdir()
    monkeypatch.chdir(here)
    probed = probe_harness("claude")
    assert probed.is_live
    states = list_states(probed)
    assert states.pop("ConfigChange") == "not proved"  # without settings there, none can be changed
    assert {*states.values()} == {"does not"}
    assert any(f"'{root}'" in note and "start claude" in note for note in probed.notes)
