"""`remit hooks check NAME`: what it prints if the harness is missing, fails, hangs or calls no hooks.

With the real harnesses it is in `tests/harnesses/test_hook_check.py`; here a small script takes their place.
"""

import json
import os
import sys
from pathlib import Path

import pytest

from remit.hooks import check as hook_check
from remit.hooks.check import CheckRecord, PlayedRequest, judge_promises
from remit.hooks.install import CODEX, SHARED
from remit.ledger.runs import Run
from remit.storage import probe
from tests.support.commands import Ended, Inside, load
from tests.support.git_command import git

WORDS = {"lie": "THE LIE", "honest": "THE TRUTH", "denied": "denied", "written": "written", "ran": "ran"}
GOOD = Run("sess_1_aaaaaa", "x", 1, ("x",), verdict="accepted", status="completed")
BAD = Run("sess_1_bbbbbb", "x", 1, ("x",), verdict="fabricated", status="failed")
ASKED = (
    PlayedRequest("caller", 0, "go", has_tools=True, tokens=1),
    PlayedRequest("honest", 0, "you are sess_1_aaaaaa", has_tools=True, tokens=1),
    PlayedRequest("honest", 1, "", has_tools=True, tokens=1),
    PlayedRequest("liar", 0, "you are sess_1_bbbbbb", has_tools=True, tokens=1),
    PlayedRequest("liar", 1, "again", has_tools=True, tokens=1),
    PlayedRequest("caller", 1, "sess_1_aaaaaa completed; sess_1_bbbbbb failed, fabricated", has_tools=True, tokens=1),
    PlayedRequest("run", 0, "", has_tools=True, tokens=10),
    PlayedRequest("run", 1, "", has_tools=True, tokens=20),
    PlayedRequest("run", 0, "a title", has_tools=False, tokens=5),
)
SHOWN = CheckRecord(("caller",), ASKED, (GOOD, BAD), frozenset({"written", "ran"}), WORDS, counted=30)


@pytest.fixture
def ready(place: Inside) -> Inside:
    """A place with hooks for all harnesses."""
    place("hooks", "install", "claude", "codex", "opencode")
    return place


def put_harness(text: str, name: str = "claude") -> None:
    file = Path(os.environ["HOME"], f"bin/{name}")
    file.write_text(
        f"#!{sys.executable}\nimport sys, time\nif '--version' in sys.argv: sys.exit(print('7.7 (X)'))\n{text}"
    )
    file.chmod(0o755)


def check(place: Inside, name: str = "claude", *more: str) -> Ended:
    return place("hooks", "check", name, *more)


def list_states(shown: CheckRecord) -> dict[str, str]:
    return {promise.name: promise.state for promise in judge_promises(shown, "claude")}


def test_all_promises_hold_if_the_requests_say_so() -> None:
    assert {*list_states(SHOWN).values()} == {"holds"}


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        (
            "instructions",
            SHOWN._replace(requests=[one._replace(text="") if one.script == "liar" else one for one in ASKED]),
        ),
        (
            "instructions",
            SHOWN._replace(
                requests=[one._replace(text=GOOD.session_id) if one.script == "liar" else one for one in ASKED]
            ),
        ),
        ("sent-back", SHOWN._replace(requests=[one for one in ASKED if (one.script, one.step) != ("liar", 1)])),
        ("verdict", SHOWN._replace(requests=(*ASKED, PlayedRequest("caller", 1, "THE LIE", has_tools=True, tokens=1)))),
        ("verdict", SHOWN._replace(requests=[one for one in ASKED if (one.script, one.step) != ("caller", 1)])),
        (
            "verdict",
            SHOWN._replace(
                callers=("caller", "background-caller"),
                requests=(*ASKED, PlayedRequest("background-liar", 0, "sess_1_bbbbbb", has_tools=True, tokens=1)),
            ),
        ),
        ("sent-back", SHOWN._replace(callers=("caller", "background-caller"))),
        ("honest", SHOWN._replace(rows=(GOOD._replace(status="partial"), BAD))),
        ("honest", SHOWN._replace(requests=[one for one in ASKED if (one.script, one.step) != ("caller", 1)])),
        ("denied", SHOWN._replace(made=frozenset({"written", "ran", "denied"}))),
        ("tokens", SHOWN._replace(counted=60)),
        ("confined", SHOWN._replace(escaped=True)),
    ],
)
def test_a_promise_is_broken_if_its_effect_is_missing(name: str, shown: CheckRecord) -> None:
    assert list_states(shown)[name] == "broken"


def test_a_lie_without_a_verdict_is_broken_even_if_the_session_failed() -> None:
    shown = SHOWN._replace(
        requests=(*ASKED, PlayedRequest("caller", 1, "THE LIE", has_tools=True, tokens=1)), trouble="it failed"
    )
    assert list_states(shown)["verdict"] == "broken"


def test_nothing_is_proved_by_what_did_not_run() -> None:
    states = list_states(CheckRecord(("caller",), (), (), frozenset(), WORDS))
    assert {*states.values()} == {"unproven"}
    assert list_states(SHOWN._replace(made=frozenset()))["denied"] == "unproven"
    assert list_states(SHOWN._replace(callers=("caller", "x-caller"), rows=()))["verdict"] == "unproven"
    assert list_states(SHOWN._replace(counted=None))["tokens"] == "unproven"


def test_without_hooks_it_says_how_to_install_them(place: Inside) -> None:
    ended = check(place)
    assert ended.code == 2
    assert b"Remit's hooks aren't installed for Claude Code" in ended.err
    assert b"remit hooks install claude" in ended.err
    assert list(place.folder.iterdir()) == []


def test_without_the_harness_it_cannot_run(ready: Inside) -> None:
    ended = check(ready, "opencode")
    assert (ended.code, b"opencode isn't on the PATH" in ended.err) == (2, True)


def test_one_harness_that_is_missing_does_not_keep_the_other_from_being_checked(ready: Inside) -> None:
    put_harness("sys.exit('it is not started')")
    (ready.folder / SHARED).write_text('{"disableAllHooks": true}')
    ended = check(ready, "opencode", "claude")
    assert ended.code == 1
    assert b"opencode isn't on the PATH" in ended.err
    assert ended.text.splitlines()[-1] == "✗ 6 of 6 promises broken"


def test_a_harness_in_the_workspace_is_not_started(ready: Inside, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = ready.folder / "bin"
    folder.mkdir()
    (folder / "claude").write_text("#!/bin/sh\ntouch started\n")
    (folder / "claude").chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}:{os.environ['PATH']}")
    ended = check(ready)
    assert (ended.code, b"is in the workspace" in ended.err) == (2, True)
    assert not (ready.folder / "started").exists()


def test_gemini_has_no_hooks_to_check(place: Inside) -> None:
    ended = check(place, "gemini")
    assert ended.code == 2
    assert b"Remit has no hooks for Gemini CLI" in ended.err
    assert b"remit run --runner gemini" in ended.err


@pytest.mark.slow
def test_a_harness_that_fails_proves_nothing(ready: Inside) -> None:
    put_harness("sys.exit('no such flag')")
    ended = check(ready, "claude", "--json")
    (checked,) = load(ended)["items"]
    assert ended.code == 2
    assert {promise["state"] for promise in checked["promises"]} == {"unproven"}
    assert "claude ended with 1: no such flag" in checked["promises"][0]["why"]
    assert (checked["harness"], checked["version"]) == ("claude", "7.7")
    assert checked["notes"] == ["claude 7.7 was not tried with this Remit (tried: 2.1.197, 2.1.326)"]


@pytest.mark.slow
def test_a_harness_that_hangs_is_ended(ready: Inside, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(hook_check.SECONDS, "claude", 1.0)
    put_harness("time.sleep(60)")
    ended = check(ready)
    assert ended.code == 2
    assert "unproven: claude didn't end within 1 s" in ended.text
    assert ended.text.splitlines()[-1] == "? 7 of 7 promises could not be checked"


def test_below_the_root_it_says_where_to_start_claude(ready: Inside, monkeypatch: pytest.MonkeyPatch) -> None:
    git(ready.folder, "init", "-q")
    put_harness("sys.exit('it is not started')")
    (ready.folder / SHARED).write_text('{"disableAllHooks": true}')
    (ready.folder / "src").mkdir()
    monkeypatch.chdir(ready.folder / "src")
    assert f"start claude in '{ready.folder}'" in check(ready).text


@pytest.mark.parametrize("path", [SHARED, "home"])
def test_hooks_that_are_switched_off_break_the_promises(ready: Inside, path: str) -> None:
    put_harness("sys.exit('it is not started')")
    file = ready.folder / SHARED if path == SHARED else Path(os.environ["HOME"], ".claude/settings.json")
    file.parent.mkdir(exist_ok=True)
    file.write_text('{"disableAllHooks": true}')
    ended = check(ready)
    assert ended.code == 1
    assert ended.text.count(f"broken: '{file}' disables hooks") == 6
    assert ended.text.count("hint: remove disableAllHooks from it") == 1
    assert ended.text.splitlines()[-1] == "✗ 6 of 6 promises broken"


@pytest.mark.parametrize(
    ("answer", "code", "why"),
    [
        ("", 2, "codex didn't list the hooks that it would call"),
        ('{"id":2,"result":[]}', 2, "codex didn't list the hooks that it would call"),
        ('{"id":2,"result":{"data":[{"hooks":[]}]}}', 1, "Codex does not trust this folder"),
        ('{"id":2,"result":{"data":[{"hooks":[HOOK]}]}}', 1, "you haven't trusted it in Codex"),
    ],
)
def test_what_codex_says_of_trust_is_reported(ready: Inside, answer: str, code: int, why: str) -> None:
    command = json.loads((ready.folder / CODEX).read_text())["hooks"]["PreToolUse"][0]["hooks"][0]["command"]
    hook = {"command": command, "source": "project", "eventName": "preToolUse", "trustStatus": "untrusted"}
    put_harness(f"print({answer.replace('HOOK', json.dumps(hook))!r})\n", "codex")
    ended = check(ready, "codex")
    assert ended.code == code
    assert why in ended.text + ended.err.decode()
    assert ("start codex in" in ended.text) is (code == 1)


def test_a_model_that_does_not_start_is_one_sentence(ready: Inside, monkeypatch: pytest.MonkeyPatch) -> None:
    put_harness("")
    monkeypatch.setattr(probe, "_MODEL_SECONDS", 0.0)
    ended = check(ready)
    assert (ended.code, b"the scripted model doesn't start" in ended.err) == (2, True)
