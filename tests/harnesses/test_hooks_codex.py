"""Codex starts its own subagents, with Remit in its hooks: the real program, and a scripted model."""

from __future__ import annotations

import json
import select
import subprocess
import sys
import time
from typing import TYPE_CHECKING, Any

import pytest

from remit.runners.codex import CodexRunner
from remit.runners.protocol import AttemptOrder
from remit.testing import call, find_cli, say
from tests.support.codex_subagents import CHILD, WAIT, ask
from tests.support.harness_hooks import (
    STANDARD,
    TRUSTING,
    compile_agents,
    converse,
    get_report,
    hand,
    list_results,
    list_runs,
    register,
    set_up,
)
from tests.support.harness_workspace import WAIT_S, Stage

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


pytestmark = pytest.mark.slow

REPORT = call("bash", command="echo '# Report' > report.md")
PATCH = "apply_patch <<'END'\n*** Begin Patch\n*** Add File: remit.toml\n+[hooks]\n*** End Patch\nEND"


SCRIPTS = {
    "main": [ask("work"), WAIT, say("All is done.")],
    "work": [REPORT, say("It is all done."), hand()],
    "lying": [ask("lie"), WAIT, say("All is done.")],
    "lie": [call("bash", command="true"), hand("never.md")],
    "forbidden": [ask("reach"), WAIT, say("All is done.")],
    "reach": [
        call("bash", command="touch reached"),
        call("bash", command="x=touch; $x reached"),  # in doubt: Codex would let it happen if it were asked about
        call("bash", command=PATCH),
        REPORT,
        hand(),
    ],
    "again": [
        ask("more"),
        WAIT,
        call("send_input", target="${child}", message="Write the other, too.").grab(child=CHILD),
        WAIT,
        say("All is done."),
    ],
    "more": [
        call("bash", command="echo '# Left' > left.md"),
        hand("left.md"),
        call("bash", command="echo '# Right' > right.md"),
        hand("right.md"),
    ],
    "own": [call("bash", command="touch mine"), say("No return is owed.")],
    "strange": [ask("work", "nobody"), say("All is done.")],
}


@pytest.fixture(name="stage")
def make(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Stage]:
    with set_up("codex", SCRIPTS, tmp_path, monkeypatch) as stage:
        yield stage


def test_the_contract_goes_in_and_a_bad_return_is_blocked_and_corrected(stage: Stage) -> None:
    assert converse(stage, "main", TRUSTING).exit_code == 0
    (row,) = list_runs(stage)
    assert (row.agent, row.depth, row.runner) == ("scribe", 1, "codex")
    (first,) = stage.asked("work", 0)
    assert row.session_id in first
    assert "What to send back" in first
    (third,) = stage.asked("work", 2)
    assert "hook_prompt" in third
    assert (row.state, row.status, row.verdict) == ("finished", "completed", "accepted")
    assert [each.path for each in get_report(stage, row).artifacts] == ["report.md"]
    (told,) = stage.asked("main", 2)
    assert "What to send back" not in told  # the contract is in the subagent's context alone


@pytest.mark.thorough
def test_a_liar_is_rejected(stage: Stage) -> None:
    converse(stage, "lying", TRUSTING)
    (row,) = list_runs(stage)
    assert (row.status, row.verdict) == ("failed", "fabricated")
    assert [len(stage.asked("lie", step)) for step in (1, 2, 3, 4)] == [1, 1, 1, 0]


def test_what_is_denied_or_in_doubt_does_not_run(stage: Stage) -> None:
    compile_agents(stage, scribe="nobody")
    settings = (stage.root / "remit.toml").read_text()
    converse(stage, "forbidden", TRUSTING)
    assert not (stage.root / "reached").exists()
    assert (stage.root / "remit.toml").read_text() == settings
    assert (stage.root / "report.md").exists()  # the fault is not that nothing runs
    assert ["Remit" in told for told in list_results(stage, "reach", 4)] == [True, True, True, False]
    (row,) = list_runs(stage)
    assert row.status == "completed"


@pytest.mark.thorough
def test_one_that_goes_on_later_is_another_delegation(stage: Stage) -> None:
    converse(stage, "again", TRUSTING)
    rows = list_runs(stage)
    assert [row.status for row in rows] == ["completed", "completed"]
    assert [get_report(stage, row).artifacts[0].path for row in rows] == ["left.md", "right.md"]


@pytest.mark.thorough
def test_a_persons_own_session_is_in_nobodys_way(stage: Stage) -> None:
    converse(stage, "own", TRUSTING)
    assert (stage.root / "mine").exists()
    assert stage.asked("own", 2) == []
    assert list_runs(stage) == []


@pytest.mark.thorough
def test_a_killed_hook_blocks_by_its_command_line(stage: Stage) -> None:
    register(stage, ("sh", "-c", "kill -9 $$"))
    converse(stage, "own", TRUSTING)
    assert not (stage.root / "mine").exists()
    assert "Killed" in list_results(stage, "own", 1)[0]


def list_hooks(stage: Stage, environ: dict[str, str]) -> list[dict[str, Any]]:
    """What Codex itself says of the hooks that it sees."""
    program = find_cli("codex")
    assert program is not None
    opening = {"clientInfo": {"name": "test", "title": "test", "version": "1"}}
    asked = (
        {"id": 1, "method": "initialize", "params": opening},
        {"method": "initialized"},
        {"id": 2, "method": "hooks/list", "params": {"cwds": [str(stage.root)]}},
    )
    end = time.monotonic() + WAIT_S
    with subprocess.Popen(
        (program, "app-server"), cwd=stage.root, env=environ, text=True, bufsize=1,
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
    ) as server:  # fmt: skip
        assert server.stdin is not None
        assert server.stdout is not None
        for each in asked:
            server.stdin.write(f"{json.dumps(each)}\n")
        server.stdin.flush()
        try:
            while time.monotonic() < end and select.select([server.stdout], [], [], 1) is not None:
                line = json.loads(server.stdout.readline() or "{}")
                if line.get("id") == 2:
                    hooks: list[dict[str, Any]] = line["result"]["data"][0]["hooks"]
                    return hooks
        finally:
            server.kill()
    raise TimeoutError("Codex did not tell its hooks")


@pytest.mark.thorough
def test_without_trust_hooks_are_passed_over_in_silence_and_codex_tells_it_when_asked(stage: Stage) -> None:
    environ = stage.environ
    session = converse(stage, "main", environ=environ)
    assert list_runs(stage) == []
    assert "hook" not in session.output + session.errors  # the trap: nothing is said
    hooks = list_hooks(stage, environ)
    assert {hook["trustStatus"] for hook in hooks} == {"untrusted"}
    assert len(hooks) == 8
    with (stage.home / ".codex" / "config.toml").open("a") as config:
        for hook in hooks:
            config.write(f'\n[hooks.state."{hook["key"]}"]\ntrusted_hash = "{hook["currentHash"]}"\n')
    assert {hook["trustStatus"] for hook in list_hooks(stage, environ)} == {"trusted"}
    (stage.root / "report.md").unlink()  # else it would be there before the work began
    converse(stage, "main", environ=environ)
    (row,) = list_runs(stage)
    assert row.status == "completed"


@pytest.mark.thorough
def test_a_call_that_starts_nobody_is_closed_with_the_session(stage: Stage) -> None:
    stage.configure('[hooks]\nenforce = "all"\n')
    converse(stage, "strange", TRUSTING)
    (row,) = list_runs(stage)  # Codex says nothing of its own refusal
    assert (row.agent, row.state, row.status) == ("nobody", "finished", "partial")


def test_a_folder_that_codex_does_not_trust_is_reported(stage: Stage) -> None:
    """Since 0.169: older releases trust it without a word."""
    environ = stage.environ
    config = stage.home / ".codex" / "config.toml"
    config.write_text(config.read_text().partition(f'\n[projects."{stage.root}"]')[0])
    session = converse(stage, "own", environ=environ)
    order = AttemptOrder("sess_1_abcdef", "scribe", "Go.", str(stage.root), str(stage.root))
    notes = CodexRunner().listen(order).finish(errors=session.errors.encode(), exit_code=0).notes
    is_told = any("does not trust this folder" in note for note in notes)
    assert is_told == ("trust_level" not in config.read_text())


ADDING = """import json, sys
event = json.load(sys.stdin)
given = event.get("tool_input") or {}
if event["hook_event_name"] == "PreToolUse" and event["tool_name"].endswith("spawn_agent"):
    changed = {**given, "message": given["message"] + "\\n\\nMore."}
    said = {"hookEventName": "PreToolUse", "permissionDecision": "allow", "updatedInput": changed}
    print(json.dumps({"hookSpecificOutput": said}))
"""


def test_a_hook_that_adds_to_a_sealed_prompt_ends_the_agent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Why Remit leaves it as it is: the model's server can't decrypt what was changed."""
    spawn = call("spawn_agent", agent_type="scribe", task_name="report", message="[[play work]] Write.")
    scripts = {
        "main": [spawn, call("wait_agent", timeout_ms=30_000), say("All is done.")],
        "work": [REPORT, say("It is all done.")],
    }
    with set_up("codex", scripts, tmp_path, monkeypatch, codex_model="gpt-6.1-sol") as stage:
        (tmp_path / "adding.py").write_text(ADDING)
        register(stage, (sys.executable, str(tmp_path / "adding.py")))
        converse(stage, "main", TRUSTING)
        refused = [one for one in stage.model.requests if one.reply.turn.status == 400]
        assert refused
        assert "could not be decrypted" in refused[0].reply.text
        assert not (stage.root / "report.md").exists()
        (last,) = stage.asked("main", 2)
        assert "could not be decrypted" in last


@pytest.mark.thorough
def test_in_code_mode_what_is_denied_does_not_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With a model that Codex knows, tools are called by JavaScript, and patches are a tool of their own."""
    patch = "*** Begin Patch\n*** Add File: {}\n+[hooks]\n*** End Patch\n"
    spawn = call("spawn_agent", agent_type="scribe", task_name="report", message="[[play reach]] Write.")
    scripts = {
        "main": [spawn, call("wait_agent", timeout_ms=60_000), say("All is done.")],
        "reach": [
            call("bash", command="touch reached"),
            call("apply_patch", input=patch.format("private/key")),
            call("apply_patch", input=patch.format("report.md")),
            hand(),
        ],
    }
    with set_up("codex", scripts, tmp_path, monkeypatch, codex_model="gpt-6.1-sol") as stage:
        editing = STANDARD.replace("  write: true\n", "  write: true\n  edit: true\n").replace("- write:", "- edit:")
        compile_agents(stage, editing, scribe="nobody")
        converse(stage, "main", TRUSTING)
        assert not (stage.root / "reached").exists()
        assert not (stage.root / "private").exists()
        assert (stage.root / "report.md").exists()
        *denied, allowed = list_results(stage, "reach", 3)[-3:]
        assert ["Remit" in told for told in (*denied, allowed)] == [True, True, False]
        (row,) = list_runs(stage)
        assert (row.status, row.verdict) == ("completed", "accepted")
        assert [each.grade for each in get_report(stage, row).artifacts] == ["attributed"]
