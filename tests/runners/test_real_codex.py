"""Codex itself, as it is installed by `make agents`: everything that its runner takes for granted."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from remit.errors import RunnerError
from remit.runners.codex import CodexRunner
from remit.testing import ScriptedModel, call, drop, fail, say
from tests.support.real_runners import TELL_SESSION, Place, find_place

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = pytest.mark.slow

PATCH = "apply_patch <<'EOF'\n*** Begin Patch\n*** Add File: p.md\n+hello\n*** End Patch\nEOF"
SCRIPTS = {
    "work": [call("write", path="out/plan.md", content="# Plan"), say("All done."), say("Corrected.")],
    "patch": [call("bash", command=PATCH), say("Patched.")],
    "late": [call("write", path="half.md", content="half"), say("never").after(60)],
    "task": [call("task", prompt="[[play child]] go"), say("Parent done.")],
    "child": [say("Child done.")],
    "wrong": [call("bash", command="exit 3"), say("It failed.")],
    "outside": [call("bash", command="echo x > inside && echo x > ${file}"), say("Written.")],
    "api": [fail(400, "no such thing", kind="invalid_request_error")],
    "busy": [fail(529, "busy", kind="overloaded_error")],
    "drop": [drop()],
    "silent": [say("")],
    "prose": [say("Only words.")],
    "session": [call("bash", command=TELL_SESSION), say("Told.")],
}
FREE = {"args": ["--sandbox=danger-full-access"]}
"""Codex's own sandbox does not work everywhere; one test is about it."""


@pytest.fixture(name="place")
def make_place(tmp_path: Path) -> Iterator[Place]:
    with ScriptedModel(SCRIPTS) as model:
        yield find_place(CodexRunner(), tmp_path, model)


def test_a_session_is_begun_resumed_and_told(place: Place) -> None:
    first = place.start(place.model.mark("work"), settings=FREE)
    assert first.exit_code == 0
    heard = first.heard
    assert (heard.text, heard.cause, heard.trouble) == ("All done.", "", "")
    assert (place.root / "out" / "plan.md").read_text() == "# Plan"
    assert [(use.name, use.operation, use.failed) for use in heard.tools or ()] == [("command_execution", "run", False)]
    assert heard.usage.turns == 2
    assert (heard.usage.output_tokens or 0) > 2
    assert heard.usage.cost_usd is None
    assert any("Model metadata" in note for note in heard.notes)  # an item of type error, and no failure

    second = place.resume(heard.harness_id, "not yet", settings=FREE)
    assert second.heard.text == "Corrected."
    assert second.heard.harness_id == heard.harness_id
    assert place.model.requests[-1].step == 2
    assert CodexRunner.counts_thread
    assert (second.heard.usage.input_tokens or 0) > (heard.usage.input_tokens or 0)


def test_a_session_goes_on_after_it_was_killed(place: Place) -> None:
    killed = place.start(
        place.model.mark("late"), kill=lambda: place.wait_until_kept("late", 1, "half.md"), settings=FREE
    )
    assert killed.exit_code is None
    assert (killed.heard.text, killed.heard.cause) == (None, "no_answer")
    assert [use.operation for use in killed.heard.tools or ()] == ["run"]
    assert place.resume(killed.heard.harness_id, place.model.mark("work"), settings=FREE).heard.text == "All done."


def test_a_tool_runs_in_a_session_of_its_own(place: Place) -> None:
    """Whoever kills the process group of the program leaves it running."""
    ran = place.start(place.model.mark("session"), settings=FREE)
    assert ran.heard.text == "Told."
    assert int((place.root / "session").read_text()) != ran.pid


def test_a_schema_is_not_enforced(place: Place) -> None:
    """An answer that is only text ends with 0: whether it is a return is ours to judge."""
    schema = {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]}
    (place.home / "schema.json").write_text(json.dumps(schema | {"additionalProperties": False}))
    args = [*FREE["args"], f"--output-schema={place.home / 'schema.json'}"]
    ran = place.start(place.model.mark("prose"), settings={"args": args})
    assert '"required"' in json.dumps(place.model.requests[0].body["text"])  # the schema was taken
    assert (ran.exit_code, ran.heard.text) == (0, "Only words.")


def test_hooks_that_nobody_trusts_are_skipped_in_silence(place: Place) -> None:
    """So a hook alone guards nothing: what was done is judged afterwards."""
    marks = [place.root / name for name in ("seen-1", "seen-2")]
    order = place.order("x")  # makes its home
    for number, mark in enumerate(marks, start=1):
        hook = {"hooks": [{"type": "command", "command": f"touch {mark}"}]}
        hooks = {"hooks": {"SessionStart": [hook], "UserPromptSubmit": [hook], "Stop": [hook]}}
        Path(order.environ["CODEX_HOME"], "hooks.json").write_text(json.dumps(hooks))
        args = [*FREE["args"], *(["--dangerously-bypass-hook-trust"] if number > 1 else [])]
        ran = place.start(place.model.mark("prose"), number=number, settings={"args": args})
        assert (ran.exit_code, ran.heard.text, ran.heard.trouble) == (0, "Only words.", "")
    assert [mark.exists() for mark in marks] == [False, True]


@pytest.mark.thorough("2000]")
@pytest.mark.parametrize("length", [2_000, 200_000])
def test_a_prompt_and_instructions_of_any_length_arrive(place: Place, length: int) -> None:
    prompt = f"{'p' * 300_000} {place.model.mark('work')}"
    instructions = 'MARKED "quoted" \\u0041 \x01 ü\n' + "i" * length
    ran = place.start(prompt, agent="planner", instructions=instructions, settings=FREE)
    assert ran.heard.text == "All done."
    said = [(item.get("role"), str(item)) for item in place.model.requests[0].body["input"]]
    assert any(role == "user" and "p" * 300_000 in text for role, text in said)
    told = [role for role, text in said if "MARKED" in text]
    assert told == (["developer"] if length < 100_000 else ["user"])
    sent = place.model.requests[0].body["input"]
    assert any(instructions in part["text"] for item in sent for part in item["content"])


def test_an_agent_of_its_own_files_needs_its_text(place: Place) -> None:
    with pytest.raises(RunnerError, match="can't start as its agent 'planner'"):
        place.start(place.model.mark("work"), agent="planner", is_native=True)


def test_a_change_to_a_file_has_its_path(place: Place) -> None:
    ran = place.start(place.model.mark("patch"), settings=FREE)
    assert (place.root / "p.md").read_text() == "hello\n"
    assert [(use.operation, use.path) for use in ran.heard.tools or ()] == [("write", str(place.root / "p.md"))]


def test_its_sandbox_keeps_it_in_the_workspace(place: Place) -> None:
    """Codex sets its sandbox up in its home, and refuses to where that is below the folder for temporary files."""
    with tempfile.TemporaryDirectory(prefix="remit-codex-", dir="/var/tmp") as home:
        outside = Path(home) / "outside"
        ran = place._replace(home=Path(home)).start(place.model.mark("outside", file=outside))
        assert not outside.exists()
    if not (place.root / "inside").exists():
        pytest.skip("Codex's sandbox does not work on this machine")
    told = ran.heard.tools  # a command that was stopped half-way is sometimes left out; then nothing is known
    assert told is None or [(use.operation, use.failed) for use in told] == [("run", True)]
    read_only = place.order("x", tools=("read", "grep"))
    assert "--sandbox=read-only" in place.runner.start(read_only).argv


def test_a_command_that_fails_and_an_agent_that_is_called_are_told(place: Place) -> None:
    ran = place.start(place.model.mark("wrong"), settings=FREE)
    assert [(use.operation, use.failed) for use in ran.heard.tools or ()] == [("run", True)]
    ran = place.start(place.model.mark("task"), settings=FREE)
    assert [use.operation for use in ran.heard.tools or ()] == ["delegate"]


@pytest.mark.thorough("busy", "drop")
@pytest.mark.parametrize(
    ("script", "cause", "trouble"),
    [
        ("api", "api", "got no answer from its model: no such thing"),
        ("busy", "api", "529"),
        ("drop", "api", "stream"),
        ("silent", "no_answer", "without a final message"),
    ],
)
def test_what_goes_wrong_is_told_by_its_cause(place: Place, script: str, cause: str, trouble: str) -> None:
    ran = place.start(place.model.mark(script), settings=FREE)
    assert ran.heard.tools == ()
    assert (ran.heard.text, ran.heard.cause) == (None, cause)
    assert trouble in ran.heard.trouble


def test_a_session_that_is_not_there_is_refused(place: Place) -> None:
    ran = place.resume("01a1e2ab-e8ce-7773-84f4-8e1aad77695c", "go on", settings=FREE)
    assert (ran.heard.text, ran.heard.cause) == (None, "refused")
    assert "no rollout found" in ran.heard.trouble
