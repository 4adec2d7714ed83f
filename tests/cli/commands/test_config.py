"""`remit config trust`, shown in full and agreed to once, and `remit config show`, with the source of each setting."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from inline_snapshot import snapshot

from remit.errors import ConfigError
from remit.runs.workspace_trust import check_trust
from remit.storage.settings import load_settings
from tests.support.commands import Ended, Inside, Remit
from tests.support.terminals import talk

SETTINGS = '[tasks]\nshow = "tool show {id}"\ncomplete = "tool done {id}"\n'


@pytest.fixture
def workspace(inside: Inside, monkeypatch: pytest.MonkeyPatch) -> Inside:
    """A folder whose settings run programs, and a user who has agreed to nothing."""
    keep_elsewhere(inside, monkeypatch)
    (inside.folder / ".git").mkdir()
    inside.write("remit.toml", SETTINGS)
    return inside


def keep_elsewhere(remit: Remit, monkeypatch: pytest.MonkeyPatch) -> None:
    """The list of what was agreed to lies in the user's folder, which in a test is another."""
    folder = remit.folder.parent / f"{remit.folder.name}-home"
    folder.mkdir()
    monkeypatch.setenv("XDG_CONFIG_HOME", str(folder))
    remit.env["XDG_CONFIG_HOME"] = str(folder)


def load(ended: Ended) -> Any:  # noqa: ANN401 - any JSON value
    return json.loads(ended.out)


def check(folder: Path) -> None:
    check_trust(str(folder), load_settings(folder))


def test_without_a_terminal_it_shows_every_command_and_agrees_to_nothing(workspace: Inside) -> None:
    ended = workspace("config", "trust")
    assert (ended.code, ended.err) == (1, b"")
    assert "\n  tasks.show      tool show {id}\n  tasks.complete  tool done {id}\n" in ended.text
    assert ended.text.endswith("\nNothing was trusted; to trust these programs, run: remit config trust --yes\n")
    with pytest.raises(ConfigError) as caught:
        check(workspace.folder)
    assert (
        "name programs or loosen confinement, and you have not trusted them; read them, then run remit config trust"
        in str(caught.value)
    )


def test_yes_agrees_until_something_changes(workspace: Inside) -> None:
    ended = workspace("config", "trust", "--yes")
    assert (ended.code, ended.text.split("\n")[-2]) == (0, snapshot("✓ trusted until one of them changes"))
    check(workspace.folder)
    assert workspace("config", "trust").code == 0
    workspace.write("remit.toml", f"# a comment, another order\n[retention]\ndays = 3\n\n{SETTINGS}")
    check(workspace.folder)
    workspace.write("remit.toml", SETTINGS.replace("tool done", "tool gone"))
    with pytest.raises(ConfigError, match="other programs than when you trusted them"):
        check(workspace.folder)
    assert workspace("config", "trust").code == 1


def test_it_is_taken_back(workspace: Inside) -> None:
    assert "was not trusted" in workspace("config", "trust", "--revoke").text
    workspace("config", "trust", "--yes")
    assert load(workspace("config", "trust", "--revoke", "--json")) == {"root": str(workspace.folder), "revoked": True}
    with pytest.raises(ConfigError):
        check(workspace.folder)


def test_all_that_was_agreed_to_is_listed(workspace: Inside) -> None:
    assert workspace("config", "trust", "--list").text == snapshot("no workspace is trusted\n")
    workspace("config", "trust", "--yes")
    assert workspace("config", "trust", "--list").text.rstrip().endswith(f"  {workspace.folder}")
    assert [each["root"] for each in load(workspace("config", "trust", "--list", "--json"))["items"]] == [
        str(workspace.folder)
    ]


def test_show_never_agrees(workspace: Inside) -> None:
    assert workspace("config", "trust", "--show").code == 1
    assert load(workspace("config", "trust", "--json"))["trusted"] is False
    workspace("config", "trust", "--yes", "--json")
    assert workspace("config", "trust", "--show").code == 0
    assert load(workspace("config", "trust", "--json")) == {
        "root": str(workspace.folder),
        "needed": True,
        "trusted": True,
        "commands": [
            {"setting": "tasks.show", "command": "tool show {id}"},
            {"setting": "tasks.complete", "command": "tool done {id}"},
        ],
    }


def test_where_nothing_runs_there_is_nothing_to_agree_to(workspace: Inside) -> None:
    workspace.write("remit.toml", "[retention]\ndays = 3\n")
    ended = workspace("config", "trust", "--yes")
    assert (ended.code, ended.text) == (0, f"✓ {workspace.folder}: no setting runs a program\n")
    check(workspace.folder)
    assert workspace("config", "trust", "--list").text == snapshot("no workspace is trusted\n")


def test_a_folder_that_calls_for_an_outside_system_needs_it_too(workspace: Inside) -> None:
    workspace.write("remit.toml", "")
    (workspace.folder / ".cleo").mkdir()
    with pytest.raises(ConfigError):
        check(workspace.folder)
    assert "cleo show {id}" in workspace("config", "trust", "--yes").text
    check(workspace.folder)


def test_nothing_of_a_command_is_hidden(workspace: Inside) -> None:
    long = "x" * 3000
    workspace.write("remit.toml", f'[tasks]\nshow = "tool {long} {{id}} \\u001b[2K\\u202eevil\\r\\n  second"\n')
    text = workspace("config", "trust").text
    assert long in text
    assert "<U+001B>[2K<U+202E>evil<U+000D><U+000A>  second" in text


@pytest.mark.parametrize(("answer", "code"), [(b"y\n", 0), (b"\n", 1), (b"no\n", 1), (b"\x04", 1)])
def test_on_a_terminal_it_asks_once(remit: Remit, answer: bytes, code: int, monkeypatch: pytest.MonkeyPatch) -> None:
    keep_elsewhere(remit, monkeypatch)
    remit.write("remit.toml", SETTINGS)
    told = talk(remit, "config", "trust", answer=answer)
    assert (told.code, told.questions) == (code, 1)
    assert "Let Remit run these? [y/N] " in told.screen
    assert remit("config", "trust", "--show").code == code


def test_what_is_agreed_to_is_what_was_shown(workspace: Inside) -> None:
    """The file is not read a second time: what it says since then is not agreed to."""
    from remit.runs import workspace_trust  # noqa: PLC0415 - only here

    shown = workspace_trust.get_trust()
    workspace.write("remit.toml", SETTINGS.replace("tool show", "evil show"))
    workspace_trust.grant_trust(shown)
    with pytest.raises(ConfigError):
        check(workspace.folder)


def test_options_that_exclude_each_other_are_refused(workspace: Inside) -> None:
    ended = workspace("config", "trust", "--yes", "--revoke")
    assert (ended.code, "can't combine" in ended.complaint) == (2, True)


def test_a_list_that_others_may_write_is_no_agreement(workspace: Inside) -> None:
    workspace("config", "trust", "--yes")
    (file,) = (workspace.folder.parent / f"{workspace.folder.name}-home").rglob("trust.json")
    file.chmod(0o666)
    ended = workspace("config", "trust", "--show")
    assert (ended.code, "can be written by others" in ended.text) == (1, True)


# config show


def list_settings(ended: Ended) -> dict[str, tuple[Any, str]]:
    assert (ended.code, ended.err) == (0, b"")
    return {row["name"]: (row["value"], row["source"]) for row in load(ended)["items"]}


def test_every_setting_is_shown_with_its_source(inside: Inside) -> None:
    (inside.folder / ".git").mkdir()
    inside.write("remit.toml", '[limits]\nper-agent = 2\n[agents.planner]\ntimeout = 90\n[route]\nplan = "planner"\n')
    found = list_settings(inside("config", "show", "--json"))
    assert found["limits.per_agent"] == (2, "remit.toml")
    assert found["limits.running"] == (32, "default")
    assert found["agents.planner.timeout"] == (90, "remit.toml")
    assert found["agents.planner.runner"] == (None, "default")
    assert found["route"] == ({"plan": {"default": "planner"}}, "remit.toml")
    assert found["backend"] == ("local", "default")
    shown = inside("config", "show").text
    assert re.search(r"^  limits\.per_agent +2  \(remit\.toml\)$", shown, re.MULTILINE)
    assert re.search(r"^  delegate\.runner +not set  \(default\)$", shown, re.MULTILINE)


def test_settings_of_pyproject_and_of_the_environment_are_named(
    inside: Inside, monkeypatch: pytest.MonkeyPatch
) -> None:
    (inside.folder / ".git").mkdir()
    inside.write("pyproject.toml", '[tool.remit.lint]\nignore = ["AGT122"]\n')
    monkeypatch.setenv("REMIT_BACKEND", "postgresql://me:very-secret@127.0.0.1/work")
    found = list_settings(inside("config", "show", "--json"))
    assert found["lint.ignore"] == (["AGT122"], "pyproject.toml")
    assert found["lint.fail_on"] == ("warning", "default")
    value, source = found["backend"]
    assert (source, "very-secret" in value, "127.0.0.1/work" in value) == ("REMIT_BACKEND", False, True)


def test_secrets_in_settings_are_not_shown(inside: Inside) -> None:
    (inside.folder / ".git").mkdir()
    inside.write("remit.toml", '[runners.mine]\ncommand = "x"\nenv = {API_KEY = "very-secret-7", LANG = "C"}\n')
    for options in ((), ("--json",)):
        ended = inside("config", "show", *options)
        assert b"very-secret-7" not in ended.out
        assert b'"LANG":"C"' in ended.out.replace(b": ", b":")


def test_wrong_settings_are_reported(inside: Inside) -> None:
    (inside.folder / ".git").mkdir()
    inside.write("remit.toml", "[limits]\nruning = 1\n")
    ended = inside("config", "show")
    assert ended.code == 2
    assert "did you mean 'running'?" in ended.complaint
