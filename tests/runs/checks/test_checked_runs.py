"""Runs with acceptance checks: an agent's `completed` is believed only if the project's own commands pass."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
import time
from typing import TYPE_CHECKING, Any

import pytest

from remit.runs.request import Request
from remit.runs.resume_retry import make_retry
from remit.runs.workspace import Workspace
from tests.support.sample_sizes import choose

if TYPE_CHECKING:
    from pathlib import Path

    from remit.result import Result

AGENT = """\
import json, os, sys
prompt = sys.stdin.read()
number = len([each for each in os.listdir(os.environ["AGENT_LOG"])])
open(f"{os.environ['AGENT_LOG']}/{number}", "w").write(prompt)
changed = "src/app.py"
exec(open(os.environ["AGENT_WORK"]).read())
print(json.dumps({
    "status": "completed", "summary": "Changed the application. It works now.",
    "artifacts": [{"type": "implementation", "path": changed, "summary": "The application."}],
    "metadata": {"session_id": os.environ["REMIT_SESSION_ID"], "duration_seconds": 1, "agent_type": "agent",
                 "delegation_depth": 1, "delegation_path": ["agent"]},
    "errors": [], "next_steps": "Review the change.",
}))
"""
WORKS = "open('src/app.py', 'w').write(f'VALUE = {number + 2}\\n')\n"
BREAKS = "open('src/app.py', 'w').write('VALUE = None\\n')\n"
FIXES = "open('src/app.py', 'w').write('VALUE = 3\\n' if 'acceptance checks failed' in prompt else 'VALUE = None\\n')\n"
TEST = "import sys; sys.path.insert(0, 'src'); import app; print('VALUE is', app.VALUE); sys.exit(app.VALUE is None)"


class Project:
    """A project with a test, and an agent that does what a test tells it to."""

    def __init__(self, root: Path, log: Path, environ: dict[str, str]) -> None:
        self.root, self.log = root, log
        log.mkdir()
        self.agent = root.parent / f"{root.name}-agent.py"
        self.agent.write_text(AGENT)
        self.work = root.parent / f"{root.name}-work.py"
        self.environ = environ | {
            "AGENT_LOG": str(log), "AGENT_WORK": str(self.work), "PYTHONDONTWRITEBYTECODE": "1"
        }  # fmt: skip
        self.write("src/app.py", "VALUE = 1\n")
        self.write("tests/test_app.py", TEST)
        self.write("check.sh", f"{sys.executable} tests/test_app.py\n")
        self.settings('[checks.tests]\nrun = "sh check.sh"\n')

    def write(self, path: str, text: str) -> None:
        """Write a file, with its folder."""
        (self.root / path).parent.mkdir(parents=True, exist_ok=True)
        (self.root / path).write_text(text)

    def settings(self, text: str) -> None:
        """Set remit.toml, commit, and trust its commands."""
        self.write("remit.toml", f'{text}[runners.agent]\ncommand = "{sys.executable} {self.agent}"\nretry = "safe"\n')
        for command in (["init", "-q"], ["add", "-A"], ["commit", "-qm", "x", "--allow-empty"]):
            subprocess.run(["git", *command], cwd=self.root, check=True)
        self.remit("config", "trust", "--yes")

    def remit(self, *words: str, code: int = 0) -> str:
        """What a command prints."""
        done = subprocess.run(
            [sys.executable, "-m", "remit", *words], cwd=self.root, env=self.environ, capture_output=True, text=True,
            check=False,
        )  # fmt: skip
        assert done.returncode == code, done.stderr + done.stdout
        return done.stdout

    def run(self, work: str, **options: Any) -> Result:  # noqa: ANN401 - those of a request
        """A run of the agent."""
        self.work.write_text(work)

        async def run() -> Result:
            async with Workspace.open(self.root, environ=self.environ) as ws:
                request = Request(None, "Change the value.", runner="agent", **{"checks": ("tests",)} | options)
                return await ws.run(request)

        return asyncio.run(run())

    def retry(self, earlier: Result, work: str) -> Result:
        """A retry of a run."""
        self.work.write_text(work)

        async def run() -> Result:
            async with Workspace.open(self.root, environ=self.environ) as ws:
                return await ws.run(make_retry(ws, earlier.session_id, {"reasks": 0}))

        return asyncio.run(run())

    @property
    def prompts(self) -> list[str]:
        """What the agent was asked, attempt by attempt."""
        return [(self.log / name).read_text() for name in sorted((each.name for each in self.log.iterdir()), key=int)]


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Project:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    for name in ("REMIT_TICKET", "REMIT_SESSION_ID", "REMIT_ROOT"):
        monkeypatch.delenv(name, raising=False)
    root = tmp_path / "project"
    root.mkdir()
    return Project(root, tmp_path / "log", {**os.environ})


def list_answers(result: Result) -> list[tuple[str, str]]:
    return [(each.name, each.answer) for each in result.checks]


def list_codes(result: Result) -> list[str]:
    return [each.code for each in result.diagnostics if each.code.startswith("CHK")]


def test_an_honest_agent_is_completed_and_the_result_says_by_what(project: Project) -> None:
    result = project.run(WORKS)
    assert (result.status, result.verdict) == ("completed", "accepted")
    verified = result.to_dict()["remit"]["verified_by"]
    assert [(each["kind"], each["name"], each["answer"]) for each in verified] == [
        ("evidence", "tree", "passed"), ("check", "tests", "passed"),
    ]  # fmt: skip


def test_an_agent_that_breaks_a_test_is_partial_after_its_attempts(project: Project) -> None:
    result = project.run(BREAKS, reasks=1)
    assert (result.status, result.verdict, result.attempts) == ("partial", "accepted", 2)
    assert result.errors[0].code == "CHECK_FAILED"
    assert f"remit retry {result.session_id}" in result.errors[0].recommendation
    assert list_codes(result) == ["CHK001"]
    assert "VALUE is None" in project.prompts[1]
    assert project.remit("show", result.session_id, "--json")


def test_a_failed_check_goes_back_to_the_agent_which_fixes_it(project: Project) -> None:
    result = project.run(FIXES)
    assert (result.status, result.attempts, list_answers(result)) == ("completed", 2, [("tests", "passed")])


def test_a_check_that_was_red_before_does_not_go_back(project: Project) -> None:
    project.write("src/app.py", "VALUE = None\n")
    assert "✗ tests failed" in project.remit("checks", code=1)  # the result on the tree before the run
    result = project.run("open('src/other.py', 'w').write('x = 1\\n'); changed = 'src/other.py'\n")
    assert (result.status, result.attempts, result.checks[0].before) == ("partial", 1, "failed")
    assert "failed before the run, too" in result.errors[0].recommendation


def test_a_baseline_finds_out_what_was_red_before(project: Project) -> None:
    project.settings('[checks.tests]\nrun = "sh check.sh"\nbaseline = true\n')
    result = project.run(BREAKS, reasks=0)
    assert result.checks[0].before == "passed"
    assert [*(project.root / ".remit").glob("worktrees/*")] == []


@pytest.mark.parametrize(("weakened", "status"), [("warn", "completed"), ("partial", "partial")])
def test_an_agent_that_deletes_a_test(project: Project, weakened: str, status: str) -> None:
    project.settings(f'[checks.tests]\nrun = "true"\nweakened = "{weakened}"\n')
    result = project.run(WORKS + "os.unlink('tests/test_app.py')\n")
    assert (result.status, list_codes(result)) == (status, ["CHK004"])
    if status == "partial":
        assert result.errors[0].code == "CHECK_WEAKENED"


def test_an_agent_that_changes_what_decides_the_check_is_partial(project: Project) -> None:
    result = project.run(BREAKS + "open('check.sh', 'w').write('true\\n')\n")
    assert (result.status, list_answers(result), list_codes(result)) == (
        "partial", [("tests", "passed")], ["CHK005"],
    )  # fmt: skip
    assert result.errors[0].code == "CHECK_WEAKENED"


def test_an_agent_that_edits_the_settings_changes_nothing_for_itself(project: Project) -> None:
    edit = "open('remit.toml', 'w').write('[checks.tests]\\nrun = \"true\"\\n')\n"
    result = project.run(BREAKS + edit, reasks=0)
    assert result.status == "partial"
    assert list_answers(result) == [("tests", "failed")]


@pytest.mark.parametrize(
    ("command", "reason"),
    [
        ("no-such-program --all", "isn't installed"),
        ("kill -9 $$", "ended by SIGKILL"),
        ("sleep 600", "didn't finish within 0.5 s"),
    ],
)
def test_a_check_that_is_not_run_is_not_passed(project: Project, command: str, reason: str) -> None:
    project.settings(f'[checks.tests]\nrun = "{command}"\ntimeout = 0.5\n')
    result = project.run(WORKS)
    assert (result.status, result.attempts, list_answers(result)) == ("partial", 1, [("tests", "not run")])
    assert reason in result.errors[0].message
    assert result.errors[0].recommendation == "Run them: remit checks"


def test_a_check_on_the_command_line_needs_no_settings(project: Project) -> None:
    project.work.write_text(WORKS)
    printed = project.remit("run", "Change it.", "--runner", "agent", "--check", "sh check.sh", "--json")
    assert json.loads(printed)["remit"]["verified_by"][1] | {"duration_ms": 0} == {
        "kind": "check", "name": "sh check.sh", "answer": "passed", "duration_ms": 0,
    }  # fmt: skip


@pytest.mark.parametrize(("command", "advice"), [
    ("no-such-program", "Run them: no-such-program"),
    ("exit 3", "Fix it, then run exit 3; or run the agent again: remit retry "),
])  # fmt: skip
def test_the_next_command_for_a_typed_check_is_that_check(project: Project, command: str, advice: str) -> None:
    """`remit checks` doesn't know it: it isn't in the settings."""
    result = project.run(WORKS, checks=(command,), reasks=0)
    assert result.errors[0].recommendation.startswith(advice)


def test_a_check_of_the_settings_needs_trust(project: Project) -> None:
    project.write("remit.toml", (project.root / "remit.toml").read_text().replace("sh check.sh", "sh other.sh"))
    with pytest.raises(Exception, match="name other programs"):
        project.run(WORKS)


def test_an_unknown_check_of_an_agent_file_is_refused_with_what_is_meant(project: Project) -> None:
    project.write(".claude/agents/writer.md", "---\nname: writer\ndescription: Writes.\nchecks: [test]\n---\nWrite.\n")
    with pytest.raises(Exception, match="the agent writer names the check 'test'") as caught:
        asyncio.run(_run_agent(project, "writer"))
    assert "did you mean 'tests'" in str(getattr(caught.value, "hint", ""))


async def _run_agent(project: Project, agent: str) -> Result:
    async with Workspace.open(project.root, environ=project.environ) as ws:
        return await ws.run(Request(agent, "Change the value.", runner="agent"))


def test_the_checks_of_an_agent_file_run(project: Project) -> None:
    project.write(".claude/agents/writer.md", "---\nname: writer\ndescription: Writes.\nchecks: [tests]\n---\nWrite.\n")
    project.work.write_text(BREAKS.replace("None", "2"))
    assert list_answers(asyncio.run(_run_agent(project, "writer"))) == [("tests", "passed")]


def test_no_check_runs_for_work_that_is_not_completed(project: Project) -> None:
    project.settings('[checks.tests]\nrun = "touch ran"\n')
    partial = WORKS + "import builtins; say = print\ndef print(text): say(text.replace('completed', 'blocked'))\n"
    result = project.run(partial)
    assert result.checks == ()
    assert not (project.root / "ran").exists()


def test_files_that_a_check_makes_are_not_the_agents(project: Project) -> None:
    project.settings('[checks.tests]\nrun = "echo made > report.txt"\n')
    result = project.run(WORKS, worktree=True)
    assert result.status == "completed"
    assert "report.txt" not in result.unclaimed
    branch = f"remit/{result.session_id}"
    names = subprocess.run(
        ["git", "show", "--name-only", "--format=", branch],
        cwd=project.root,
        capture_output=True,
        text=True,
        check=True,
    ).stdout.split()
    assert names == ["src/app.py"]


def test_a_function_is_checked_as_well(project: Project) -> None:
    def agent(prompt: str) -> dict[str, object]:
        del prompt
        (project.root / "src/app.py").write_text("VALUE = None\n")
        return {
            "status": "completed", "summary": "Changed the application. It works now.",
            "artifacts": [{"type": "implementation", "path": "src/app.py", "summary": "The application."}],
            "metadata": {"session_id": session(), "duration_seconds": 1, "agent_type": "python",
                         "delegation_depth": 1, "delegation_path": ["python"]},
            "errors": [], "next_steps": "Review the change.",
        }  # fmt: skip

    def session() -> str:
        from remit.runs.admission.tickets import CARRIED, SESSION  # noqa: PLC0415

        return CARRIED.get()[SESSION]

    async def run() -> Result:
        async with Workspace.open(project.root, environ=project.environ) as ws:
            return await ws.run(Request(None, "Change the value.", function=agent, checks=("tests",)))

    result = asyncio.run(run())
    assert (result.status, list_answers(result)) == ("partial", [("tests", "failed")])


PART = "import time\nchanged = f'src/part{number}.py'\nopen(changed, 'w').write('x = 1\\n')\ntime.sleep(0.5 + number)\n"


@pytest.mark.parametrize(
    ("worktree", "statuses"), [(False, ["partial", "partial"]), (True, ["completed", "completed"])]
)
def test_two_agents_at_once(project: Project, *, worktree: bool, statuses: list[str]) -> None:
    """In one tree neither is `completed` by a tree that changes; in a worktree each is checked by itself."""
    project.work.write_text(PART)

    async def run() -> list[Result]:
        async with Workspace.open(project.root, environ=project.environ) as ws:
            request = Request(None, "Write a part.", runner="agent", checks=("tests",), worktree=worktree)
            return await ws.delegate_all([request, request])

    results = asyncio.run(run())
    assert [each.status for each in results] == statuses
    if worktree:
        assert [list_answers(each) for each in results] == [[("tests", "passed")]] * 2


def test_a_supervisor_that_is_killed_during_a_check_loses_nothing(project: Project) -> None:
    project.settings('[checks.tests]\nrun = "echo ran >> ../ran; sleep 2; exit 1"\n')
    project.work.write_text(WORKS)
    process = subprocess.Popen(
        [sys.executable, "-m", "remit", "run", "Change it.", "--runner", "command", "--command",
         f"{sys.executable} {project.agent}", "--check", "tests"],
        cwd=project.root, env=project.environ, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    ran = project.root.parent / "ran"
    last = time.monotonic() + 60
    while not ran.exists() and time.monotonic() < last:
        time.sleep(0.02)
    assert ran.exists()  # the check is running
    process.send_signal(signal.SIGKILL)
    assert process.wait() == -signal.SIGKILL
    assert process.stderr is not None
    with process.stderr as stream:
        session_id = stream.read().split(":")[0]
    result = json.loads(project.remit("wait", session_id, "--json", code=1))
    assert (result["remit"]["status"], result["remit"]["verified_by"][-1]["answer"]) == ("partial", "failed")
    assert ran.read_text().count("ran") == 2  # once, and once repeated; not again for the second supervisor
    assert len(project.prompts) == 1


def test_a_retry_checks_what_the_failed_run_has_left(project: Project) -> None:
    """The first run breaks `src`; its retry changes only a document, and its tree still has what is broken."""
    project.settings('[checks.tests]\nrun = "sh check.sh"\nwhen = "src/**"\n')
    broken = project.run(BREAKS, reasks=0)
    assert list_answers(broken) == [("tests", "failed")]
    document = "open('README.md', 'w').write(f'x {number}')\nchanged = 'README.md'\n"
    assert project.run(document).checks[0].is_needed is False  # a run of its own isn't about `src`
    retried = project.retry(broken, document)
    assert (retried.status, list_answers(retried)) == ("partial", [("tests", "failed")])
    fixed = project.retry(retried, WORKS)
    assert (fixed.status, list_answers(fixed)) == ("completed", [("tests", "passed")])
    again = project.retry(fixed, document)
    assert (again.status, again.checks[0].is_needed) == ("completed", False)


def test_a_check_that_runs_remit_checks_does_not_wait_for_itself(project: Project) -> None:
    result = project.run(WORKS, checks=(f"timeout 20 {sys.executable} -m remit checks tests",))
    assert (result.status, result.checks[0].answer, result.checks[0].is_flaky) == ("completed", "passed", False)


def test_a_supervisor_that_takes_over_judges_the_tree_that_was_checked(project: Project) -> None:
    """The check changes the tree and fails; a second supervisor doesn't take its changes for the agent's."""
    project.settings('[checks.tests]\nrun = "echo made > made.txt; echo ran >> ../ran; sleep 2; exit 1"\n')
    project.work.write_text(WORKS)
    process = subprocess.Popen(
        [sys.executable, "-m", "remit", "run", "Change it.", "--command", f"{sys.executable} {project.agent}",
         "--check", "tests"],
        cwd=project.root, env=project.environ, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    ran = project.root.parent / "ran"
    last = time.monotonic() + 60
    while not ran.exists() and time.monotonic() < last:
        time.sleep(0.02)
    assert ran.exists()  # the check is running, and has changed the tree
    process.send_signal(signal.SIGKILL)
    assert process.wait() == -signal.SIGKILL
    assert process.stderr is not None
    with process.stderr as stream:
        session_id = stream.read().split(":")[0]
    result = json.loads(project.remit("wait", session_id, "--json", code=1))
    assert result["remit"]["verified_by"][-1]["reason"] == "exit code 1, after it changed files"
    assert "made.txt" not in result["remit"].get("unclaimed", {}).get("paths", [])
    assert ran.read_text().count("ran") == 1


def test_the_time_of_checks_is_not_the_agents(project: Project) -> None:
    """A check takes longer than the run may: the agent still gets the time that it had left."""
    project.settings('[checks.tests]\nrun = "sleep 4; sh check.sh"\n')
    began = time.monotonic()
    result = project.run(FIXES, timeout_s=6.0)
    assert (result.status, result.attempts) == ("completed", 2)
    assert time.monotonic() - began > 8


@pytest.mark.slow
def test_a_check_adds_little_more_than_its_own_time(project: Project) -> None:
    """A 60 s check may cost at most 65 s: here a 6 s check, at most 5 s more."""
    project.settings('[checks.tests]\nrun = "sleep 6"\n')
    without = project.run(WORKS, checks=()).usage.seconds or 0
    seconds = project.run(WORKS).usage.seconds or 0
    assert 6 <= seconds <= without + 11


@pytest.mark.slow
def test_honest_runs_with_checks_are_never_lowered(project: Project) -> None:
    lowered = []
    for number in range(choose(8, 200)):
        result = project.run(f"open('src/app.py', 'w').write('VALUE = {number + 10}\\n')\n")
        if result.status != "completed":
            lowered.append((number, result.errors, result.checks))
    assert lowered == []
