"""Acceptance checks at the end of the user's own session, which the user has to ask for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from remit.config import parse_settings
from remit.errors import ConfigError
from remit.runs.workspace_trust import TrustRequest, get_executing, grant_trust
from remit.storage.settings import load_settings
from tests.support.hook_session import Stage, make_workspace

if TYPE_CHECKING:
    from pathlib import Path

SETTINGS = '[hooks]\nmain = "checks"\n[checks.tests]\nrun = "echo ran >> .git/ran; echo see here; test ! -e broken"\n'


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    return tmp_path


def begin(folder: Path, settings: str = SETTINGS, *, trusted: bool = True, harness: str = "claude") -> Stage:
    """A session of the user that has just started."""
    root = make_workspace(folder / "project", settings)
    if trusted:
        grant_trust(TrustRequest(str(root), get_executing(load_settings(str(root)), root=str(root))))
    stage = Stage(root, harness, quick=True)
    assert stage.send(stage.event("SessionStart", source="startup")) == {}
    return stage


def stop(stage: Stage, *, again: bool = False, **more: Any) -> dict[str, Any]:  # noqa: ANN401 - of the program
    event = stage.event("Stop", stop_hook_active=again, last_assistant_message="All is done.")
    return stage.send(event, **more)


def count_runs(stage: Stage) -> int:
    file = stage.root / ".git" / "ran"
    return len(file.read_text().splitlines()) if file.exists() else 0


def break_it(stage: Stage) -> None:
    (stage.root / "broken").write_text("")


@pytest.mark.parametrize("harness", ["claude", "codex"])
def test_a_failed_check_goes_back_twice_and_then_the_user_is_told(folder: Path, harness: str) -> None:
    stage = begin(folder, harness=harness)
    break_it(stage)
    for again in (False, True):
        said = stop(stage, again=again)
        assert said["decision"] == "block"
        assert "    see here" in said["reason"]
        assert "return" not in said["reason"]
    told = stop(stage, again=True)
    assert told == {
        "systemMessage": "Remit: the check 'tests' failed (exit code 1). To run the checks yourself: remit checks"
    }
    assert stop(stage)["decision"] == "block"  # the next answer is another stop


def test_a_correction_lets_the_session_stop(folder: Path) -> None:
    stage = begin(folder)
    break_it(stage)
    assert stop(stage)["decision"] == "block"
    (stage.root / "broken").unlink()
    (stage.root / "fixed").write_text("")
    assert stop(stage, again=True) == {}


def test_nothing_runs_if_no_file_changed(folder: Path) -> None:
    stage = begin(folder)
    assert stop(stage) == {}
    assert count_runs(stage) == 0
    (stage.root / "new.md").write_text("new\n")
    assert stop(stage) == stop(stage) == {}
    assert count_runs(stage) == 1  # the same tree, so its answer is known


def test_a_check_about_other_files_does_not_run(folder: Path) -> None:
    stage = begin(folder, f'{SETTINGS}when = "src/**"\n')
    break_it(stage)
    assert stop(stage) == {}
    assert count_runs(stage) == 0


@pytest.mark.parametrize("settings", [SETTINGS.replace("checks", "off", 1), SETTINGS.partition("[checks")[0]])
def test_without_the_setting_or_without_checks_nothing_happens(folder: Path, settings: str) -> None:
    stage = begin(folder, settings)
    break_it(stage)
    assert stop(stage) == {}
    assert not (stage.root / ".remit" / "user-checks").exists()


def test_commands_that_the_user_does_not_trust_keep_nobody(folder: Path) -> None:
    stage = begin(folder, trusted=False)
    break_it(stage)
    assert "was not run: the user hasn't trusted the commands" in stop(stage)["systemMessage"]
    root = str(stage.root)
    grant_trust(TrustRequest(root, get_executing(load_settings(root), root=root)))
    assert stop(stage)["decision"] == "block"


def test_a_check_that_cannot_run_keeps_nobody(folder: Path) -> None:
    stage = begin(folder, SETTINGS.replace("test ! -e broken", "no-such-program"))
    break_it(stage)
    assert "a program isn't installed" in stop(stage)["systemMessage"]


def test_too_little_time_keeps_nobody(folder: Path) -> None:
    stage = begin(folder, SETTINGS.replace("test ! -e broken", "sleep 60"))
    break_it(stage)
    assert "it didn't finish within" in stop(stage, check_seconds=1)["systemMessage"]


def test_a_record_that_is_damaged_keeps_nobody(folder: Path) -> None:
    stage = begin(folder)
    (file,) = (stage.root / ".remit" / "user-checks").iterdir()
    file.write_text("{")
    assert "the acceptance checks were not run" in stop(stage)["systemMessage"]


def test_an_agent_that_still_works_keeps_the_checks_from_running(folder: Path) -> None:
    stage = begin(folder)
    child = stage.call("planner", run_in_background=True)
    stage.send(child.make_call("PostToolUse", tool_response={"isAsync": True, "agentId": child.agent_id}))
    child.start()
    child.write("broken")
    assert f"planner ({child.session_id}) is changing the tree" in stop(stage)["systemMessage"]


def test_the_settings_of_the_beginning_count(folder: Path) -> None:
    stage = begin(folder)
    (stage.root / "remit.toml").write_text(SETTINGS.replace("test ! -e broken", "true"))
    break_it(stage)
    assert stop(stage)["decision"] == "block"


def test_the_end_of_the_session_removes_its_record(folder: Path) -> None:
    stage = begin(folder)
    stage.send(stage.event("SessionEnd", reason="other"))
    assert not (stage.root / ".remit" / "user-checks").exists()


def test_an_unknown_word_names_the_one_that_was_meant() -> None:
    with pytest.raises(ConfigError) as caught:
        parse_settings('[hooks]\nmain = "check"\n')
    assert "checks" in caught.value.hint
