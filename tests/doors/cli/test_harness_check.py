"""`remit init --harness NAME --check`: what it says where the harness is not there, or does not call its hooks.

With the real harnesses it is in `tests/harnesses`; here a program that notes its call stands in for the hook, and a
small shell script for a harness that calls some of its hooks and not others.
"""

import json
import os
import shlex
import sys
from pathlib import Path
from typing import Any

import pytest

from remit.app.harnesses import CODEX, LOCAL, PLUGIN
from remit.workspace import probing
from tests.doors.cli.test_harness import load, place
from tests.doors.conftest import SOURCE, Inside

__all__ = ["place"]

NOTING = f"""
import json, os, sys
sys.path.insert(0, {str(SOURCE)!r})
from remit.workspace.home import Home
from remit.workspace.ledger.probes import VARIABLE, Called, note_call
event = json.load(sys.stdin)
note_call(Home(os.environ["REMIT_ROOT"]), os.environ[VARIABLE], Called(event["hook_event_name"], "claude"))
"""
CALLING = """#!{python}
import json, os, subprocess, sys
if "--version" in sys.argv:
    print("7.7 (Sample)")
    raise SystemExit
assert "[[play" in sys.stdin.read()
assert os.environ["HOME"].endswith("/home") and "ANTHROPIC_API_KEY" in os.environ
assert "OWN_KEY" not in os.environ
for event, groups in json.load(open(".claude/settings.local.json"))["hooks"].items():
    if event not in {skipped!r}:
        given = json.dumps({{"hook_event_name": event}}).encode()
        for _ in range({times}):
            subprocess.run(["/bin/sh", "-c", groups[0]["hooks"][0]["command"]], input=given, check=True)
"""


@pytest.fixture
def noting(place: Inside) -> Inside:
    """A place whose hooks lead to a program that notes its call."""
    program = put_program(place, NOTING)
    place("init", "--harness", "claude", "--harness", "codex", "--harness", "opencode", "--yes")
    redirect(place, program)
    return place


def put_program(place: Inside, text: str) -> Path:
    file = place.folder.parent / f"{place.folder.name}-site/remit/doors/hook.py"
    file.parent.mkdir(parents=True)
    file.write_text(text)
    return file


def redirect(place: Inside, program: Path) -> None:
    real = str(SOURCE / "remit/doors/hook.py")
    for path in (LOCAL, CODEX, PLUGIN):
        file = place.folder / path
        assert real in file.read_text()
        file.write_text(file.read_text().replace(real, str(program)))


def put_harness(*, skipped: tuple[str, ...] = (), times: int = 1) -> None:
    file = Path(os.environ["HOME"], "bin/claude")
    file.write_text(CALLING.format(python=sys.executable, skipped=skipped, times=times))
    file.chmod(0o755)


def check(place: Inside, name: str = "claude") -> tuple[int, dict[str, Any]]:
    ended = place("init", "--harness", name, "--check", "--json")
    (probed,) = load(ended)
    return ended.code, probed


def test_where_nothing_is_installed_it_says_how(place: Inside) -> None:
    code, probed = check(place)
    assert (code, probed["events"]) == (1, [])
    assert probed["notes"] == ["nothing is installed for claude: remit init --harness claude"]
    assert list(place.folder.iterdir()) == []


@pytest.mark.slow
@pytest.mark.thorough("claude", "opencode")
@pytest.mark.parametrize("name", ["claude", "codex", "opencode"])
def test_without_the_harness_only_the_half_is_proved(noting: Inside, name: str) -> None:
    code, probed = check(noting, name)
    assert (code, probed["is_live"]) == (1, False)
    assert {(event["state"], event["why"]) for event in probed["events"]} == {
        ("not proved", "its command line answers as it should")
    }
    assert probed["notes"] == [f"{name} is not on the path, so nobody has seen it call them"]
    assert f"! 0 of {len(probed['events'])} events proved" in noting("init", "--harness", name, "--check").text


def test_a_command_line_that_fails_is_told_with_its_last_words(noting: Inside) -> None:
    put = noting.folder.parent / f"{noting.folder.name}-site/remit/doors/hook.py"
    put.write_text("raise SystemExit('it broke')")
    _, probed = check(noting)
    told = {event["name"]: (event["state"], event["why"]) for event in probed["events"]}
    assert told["PreToolUse"] == ("does not", "its command line ends with 2: it broke")
    assert told["Stop"] == ("does not", "its command line ends with 1: it broke")
    put.write_text("")
    _, probed = check(noting)
    assert {event["why"] for event in probed["events"]} == {
        "its command line ends well, but no hook of Remit's was reached"
    }


def test_a_harness_that_lies_in_the_workspace_is_not_started(noting: Inside, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = noting.folder / "bin"
    folder.mkdir()
    (folder / "claude").write_text("#!/bin/sh\ntouch started\n")
    (folder / "claude").chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}:{os.environ['PATH']}")
    _, probed = check(noting)
    assert not probed["is_live"]
    assert "lies in the workspace" in probed["notes"][0]
    assert not (noting.folder / "started").exists()


@pytest.mark.slow
def test_a_harness_that_calls_them_all_is_proved(noting: Inside, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OWN_KEY", "secret")
    put_harness()
    before = sorted(noting.folder.rglob("*"))
    code, probed = check(noting)
    assert (code, probed["is_live"], probed["version"], probed["notes"]) == (0, True, "7.7 (Sample)", [])
    assert {event["state"] for event in probed["events"]} == {"fires"}
    shown = noting("init", "--harness", "claude", "--check")
    assert (shown.code, shown.text.split("\n")[-2]) == (0, f"✓ all {len(probed['events'])} events are heard")
    assert sorted(noting.folder.rglob("*")) == before, "nothing of it lands in the workspace"


@pytest.mark.slow
@pytest.mark.thorough
def test_an_event_that_is_not_heard_is_named(noting: Inside) -> None:
    put_harness(skipped=("SubagentStop",))
    code, probed = check(noting)
    told = {event["name"]: event["state"] for event in probed["events"]}
    assert (code, told.pop("SubagentStop")) == (1, "does not")
    assert {*told.values()} == {"fires"}
    assert "✗ 1 event of 10 not heard" in noting("init", "--harness", "claude", "--check").text


@pytest.mark.slow
@pytest.mark.thorough
def test_hooks_that_are_called_twice_are_told(noting: Inside) -> None:
    put_harness(times=2)
    _, probed = check(noting)
    assert probed["notes"] == [
        "hooks are called more than once for each event: they are installed in more than one place"
    ]


@pytest.mark.slow
def test_hooks_that_the_person_has_switched_off_are_told(noting: Inside) -> None:
    put_harness()
    folder = Path(os.environ["HOME"], ".claude")
    folder.mkdir()
    (folder / "settings.json").write_text('{"disableAllHooks": true}')
    code, probed = check(noting)
    assert code == 1
    assert {event["why"] for event in probed["events"]} == {
        f"'{folder}/settings.json' switches hooks off: take disableAllHooks out of it"
    }


def test_a_harness_that_hangs_is_ended_and_told(noting: Inside, monkeypatch: pytest.MonkeyPatch) -> None:
    file = Path(os.environ["HOME"], "bin/claude")
    file.write_text(f"#!{sys.executable}\nimport sys, time\n'--version' in sys.argv or time.sleep(60)\n")
    file.chmod(0o755)
    monkeypatch.setattr("remit.app.harness_probes.LIVE_SECONDS", {"claude": 0.5})
    code, probed = check(noting)
    assert code == 1
    assert {(event["state"], event["why"]) for event in probed["events"]} == {
        ("not proved", "claude was not done within 0 s")
    }


def test_a_harness_that_fails_is_told_with_its_last_words(noting: Inside) -> None:
    file = Path(os.environ["HOME"], "bin/claude")
    file.write_text("#!/bin/sh\necho 'no such flag' >&2\nexit 9\n")
    file.chmod(0o755)
    _, probed = check(noting)
    assert {(event["state"], event["why"]) for event in probed["events"]} == {
        ("not proved", "claude ended with 9: no such flag")
    }


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        ("", "the run ended well, and its hook was not called"),
        ('{"id":2,"result":{"data":[{"hooks":[]}]}}', "Codex does not trust this folder"),
        ('{"id":2,"result":[]}', "the run ended well, and its hook was not called"),
        ('{"id":2,"result":{"data":[{"hooks":[HOOK]}]}}', "you have not trusted it in Codex"),
    ],
)
def test_what_codex_says_of_trust_is_told(noting: Inside, answer: str, why: str) -> None:
    command = json.loads((noting.folder / CODEX).read_text())["hooks"]["PreToolUse"][0]["hooks"][0]["command"]
    hook = {"command": command, "source": "project", "eventName": "preToolUse", "trustStatus": "untrusted"}
    file = Path(os.environ["HOME"], "bin/codex")
    said = shlex.quote(answer.replace("HOOK", json.dumps(hook)))
    file.write_text(f"#!/bin/sh\n[ \"$1\" = app-server ] && printf '%s\\n' {said}\nexit 0\n")
    file.chmod(0o755)
    _, probed = check(noting, "codex")
    told = {event["name"]: event["why"] for event in probed["events"]}
    assert told["PreToolUse"] == why
    assert any("start codex in" in note for note in probed["notes"]) is ("trust" in why)


def test_a_model_that_does_not_start_is_one_sentence(noting: Inside, monkeypatch: pytest.MonkeyPatch) -> None:
    put_harness()
    monkeypatch.setattr(probing, "_MODEL_SECONDS", 0.0)
    ended = noting("init", "--harness", "claude", "--check")
    assert (ended.code, b"the model that plays a part does not start" in ended.err) == (2, True)
