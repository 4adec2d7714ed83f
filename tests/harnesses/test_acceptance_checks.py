"""Real harnesses run the acceptance checks of their subagents: the programs themselves, and a scripted model."""

from __future__ import annotations

import json
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import pytest

from remit.confine import find_level
from remit.testing import call, say
from tests.support import codex_subagents
from tests.support.harness_hooks import (
    TRUSTING,
    ask,
    compile_agents,
    converse,
    find_results,
    get_report,
    hand,
    install,
    list_results,
    list_runs,
    set_up,
)

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from remit.testing import ScriptedTurn
    from remit.testing.clis import CliName
    from tests.support.harness_workspace import Stage

pytestmark = pytest.mark.slow

NAMES = ("claude", "codex", "opencode")
CHECK = '[checks.tests]\nrun = "echo looked for broken; test ! -e broken"\n'
SCRIBE = '[agents.scribe]\nchecks = ["tests"]\n'


def run(command: str) -> ScriptedTurn:
    """A turn with a shell command."""
    return call("bash", command=command)


WORK = {
    "honest": [run("echo '# One' > one.md"), hand("one.md")],
    "breaks": [
        run("echo '# Two' > two.md; echo no > broken"),
        hand("two.md"),
        run("rm broken"),
        hand("two.md"),
    ],
    "lies": [run("echo '# Three' > three.md; echo no > broken"), hand("three.md")],
}


def make_main(name: CliName, *scripts: str) -> list[ScriptedTurn]:
    """The turns of a caller that starts one subagent after another."""
    if name == "codex":
        turns = [turn for script in scripts for turn in (codex_subagents.ask(script), codex_subagents.WAIT)]
    else:
        turns = [ask(script) for script in scripts]
    return [*turns, say("All is done.")]


@contextmanager
def make(
    name: CliName, scripts: dict[str, list[ScriptedTurn]], settings: str, folder: Path, patch: pytest.MonkeyPatch,
    *, trusted: bool = True,
) -> Iterator[Stage]:  # fmt: skip
    """A stage with checks, and with hooks that were installed for them."""
    with set_up(name, scripts, folder, patch) as stage:
        if trusted:
            stage.configure(settings)
        else:
            (stage.root / "remit.toml").write_text(settings)
        install(stage)
        yield stage


def play(stage: Stage, script: str = "main") -> None:
    """Run a session from its first word to its last."""
    session = converse(stage, script, *((TRUSTING,) if stage.cli == "codex" else ()))
    assert session.exit_code == 0, session


def list_answers(stage: Stage) -> list[tuple[str | None, list[tuple[str, str]]]]:
    """The status of each run, and the answers of its checks, with why each was not run."""
    return [
        (row.status, [(each.answer, each.reason) for each in get_report(stage, row).checks]) for row in list_runs(stage)
    ]


@pytest.mark.parametrize("name", NAMES)
def test_the_honest_pass_a_mistake_is_corrected_and_a_liar_is_partial(
    name: CliName, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    scripts = {**WORK, "main": make_main(name, *WORK)}
    with make(name, scripts, SCRIBE + CHECK, tmp_path, monkeypatch) as stage:
        play(stage)
        assert list_answers(stage) == [
            ("completed", [("passed", "")]),
            ("completed", [("passed", "")]),
            ("partial", [("failed", "exit code 1")]),
        ]
        (corrected,) = stage.asked("breaks", 2)
        assert "looked for broken" in corrected
        assert [len(stage.asked("lies", step)) for step in (1, 2, 3, 4)] == [1, 1, 1, 0]
        check_caller(stage)


def check_caller(stage: Stage) -> None:
    """What the model of the caller receives: the results, or in Codex the verdict beside the liar's own words."""
    if stage.cli == "codex":
        (told,) = stage.asked("main", 6)
        assert "is partial, not completed: acceptance checks failed: tests: exit code 1" in told
        return
    honest, corrected, liar = [find_results(stage, "main", step)[0] for step in (1, 2, 3)]
    assert [each["status"] for each in (honest, corrected, liar)] == ["completed", "completed", "partial"]
    assert list_checks(honest) == list_checks(corrected) == [("tests", "passed")]
    assert list_checks(liar) == [("tests", "failed")]
    assert [error["code"] for error in liar["errors"]] == ["CHECK_FAILED"]
    if stage.cli == "claude":  # opencode itself says that the task is completed
        assert "completed" not in json.dumps(list_results(stage, "main", 3)).replace("not completed", "")


def list_checks(result: dict[str, Any]) -> list[tuple[str, str]]:
    return [(each["name"], each["answer"]) for each in result["remit"]["verified_by"] if each["kind"] == "check"]


@pytest.mark.thorough("opencode")
@pytest.mark.parametrize("name", NAMES)
def test_commands_that_the_user_does_not_trust_are_not_run(
    name: CliName, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = SCRIBE + '[checks.tests]\nrun = "echo yes > ran"\n'
    scripts = {**WORK, "main": make_main(name, "honest")}
    with make(name, scripts, settings, tmp_path, monkeypatch, trusted=False) as stage:
        play(stage)
        ((status, ((answer, reason),)),) = list_answers(stage)
        assert (status, answer) == ("partial", "not run")
        assert "remit config trust" in reason
        assert not (stage.root / "ran").exists()


@pytest.mark.thorough("opencode")
@pytest.mark.parametrize("name", NAMES)
def test_a_check_that_takes_too_long_is_not_run_and_the_harness_gets_its_answer(
    name: CliName, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = SCRIBE + '[checks.tests]\nrun = "sleep 600"\ntimeout = 2\n'
    scripts = {**WORK, "main": make_main(name, "honest")}
    with make(name, scripts, settings, tmp_path, monkeypatch) as stage:
        play(stage)
        assert list_answers(stage) == [("partial", [("not run", "it didn't finish within 2 s")])]


@pytest.mark.thorough("opencode")
@pytest.mark.parametrize("name", ["claude", "opencode"])
def test_of_two_at_once_only_the_last_is_checked(
    name: CliName, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    both = ask("quick").also("task", agent="scribe", prompt="[[play slow root=${root}]] Write the other.")
    scripts = {
        "main": [both, say("All is done.")],
        "quick": [call("write", path="${root}/one.md", content="# One\n"), hand("one.md")],
        "slow": [run("sleep 6"), run("echo '# Two' > two.md"), hand("two.md")],
    }
    with make(name, scripts, SCRIBE + CHECK, tmp_path, monkeypatch) as stage:
        play(stage)
        found = {get_report(stage, row).artifacts[0].path: row.status for row in list_runs(stage)}
        assert found == {"one.md": "partial", "two.md": "completed"}
        reasons = [reason for _, answers in list_answers(stage) for _, reason in answers if reason]
        assert len(reasons) == 1
        assert "is changing the tree" in reasons[0]


# --- the user's own session ------------------------------------------------------------------------------------------

MAIN = '[hooks]\nmain = "checks"\n'


@pytest.mark.parametrize("name", ["claude", "codex"])
def test_a_session_of_the_user_is_sent_back_twice_and_then_stops(
    name: CliName, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    scripts = {"main": [run("echo no > broken"), say("All is done.")]}
    with make(name, scripts, MAIN + CHECK, tmp_path, monkeypatch) as stage:
        play(stage)
        assert [len(stage.asked("main", step)) for step in (1, 2, 3, 4)] == [1, 1, 1, 0]
        for step in (2, 3):
            (told,) = stage.asked("main", step)
            assert "acceptance checks failed" in told
            assert "looked for broken" in told


@pytest.mark.parametrize("name", ["claude", "codex"])
def test_a_session_of_the_user_that_corrects_its_work_stops(
    name: CliName, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    scripts = {"main": [run("echo no > broken"), say("Done."), run("rm broken; echo x > new"), say("Done now.")]}
    with make(name, scripts, MAIN + CHECK, tmp_path, monkeypatch) as stage:
        play(stage)
        assert [len(stage.asked("main", step)) for step in (2, 3, 4)] == [1, 1, 0]


# --- confined agents -------------------------------------------------------------------------------------------------


@pytest.mark.thorough("opencode")
@pytest.mark.parametrize("name", NAMES)
def test_a_check_has_the_limits_of_the_agents_commands(
    name: CliName, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not find_level().has_files:
        pytest.skip("this kernel can't limit commands")
    check = "echo yes > made; echo no >> remit.toml && exit 3; test -e one.md"
    settings = f'{SCRIBE}[checks.tests]\nrun = "{check}"\n'
    scripts = {**WORK, "main": make_main(name, "honest")}
    with make(name, scripts, settings, tmp_path, monkeypatch) as stage:
        compile_agents(stage, scribe="nobody")
        play(stage)
        assert list_answers(stage) == [("completed", [("passed", "")])]
        assert (stage.root / "made").exists()
        assert (stage.root / "remit.toml").read_text() == settings
