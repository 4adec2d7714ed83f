"""`remit task research`, `plan`, `implement`, `revise`, `review`: a task is moved, worked on, moved on and committed."""

from __future__ import annotations

import json
import shutil
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from inline_snapshot import snapshot

from remit.ledger.home import Home
from remit.ledger.runs import list_runs
from remit.runs.finish.finish_run import finish_run
from remit.runs.results.full_result import load_report
from remit.tasks.store import TaskStore
from tests.support.commands import put
from tests.support.git_command import git
from tests.support.paths import SOURCE
from tests.support.screen_text import smooth

if TYPE_CHECKING:
    from tests.support.commands import Ended, Inside, Remit

WORKER = """
import json, os, re, sys, time
mode = sys.argv[1] if len(sys.argv) > 1 else "obey"
prompt = sys.stdin.read()
with open(__file__ + ".log", "a") as log:
    log.write(json.dumps({"mode": mode, "prompt": prompt, "tasks": open("specs/TODO.md").read()}) + "\\n")
path = re.search(r"Write your artifact to (\\S+)\\.\\n", prompt)[1]
kind = "plan" if "/plans/" in path else "report" if "/reports/" in path else "summary"
phase = re.search(r"Do phase (\\S+) of its plan", prompt)
if mode == "hang" or (mode == "hang-2" and phase and phase[1] == "2"):
    time.sleep(60)
if mode == "slow":
    time.sleep(1.5)
claimed = [(kind, path)]
if mode == "eat":
    os.remove("specs/1_cache_the_uploads/plans/implementation-001.md")
if mode == "tick":
    plan = "specs/1_cache_the_uploads/plans/implementation-001.md"
    text = open(plan).read().replace("Three [NOT STARTED]", "Three [COMPLETED]")
    open(plan, "w").write(text)
if mode != "lie":
    os.makedirs(os.path.dirname(path), exist_ok=True)
    text = "# A file\\n\\nThe cache is in cache.py.\\n\\n" + os.environ["REMIT_SESSION_ID"] + "\\n"
    if kind == "plan":
        text += "\\n- **Status**: [PLANNED]\\n\\n## Implementation Phases\\n\\n"
        text += "### Phase 1: One [NOT STARTED]\\n\\nDo one.\\n\\n### Phase 2: Two [NOT STARTED]\\n\\nDo two.\\n"
    with open(path, "w") as file:
        file.write(text)
    if phase:
        code = "code_" + phase[1] + ".py"
        open(code, "w").write("x = 1\\n")
        claimed.append(("implementation", code))
open("stray.txt", "a").write("nobody names this\\n")
status, errors = "completed", []
if mode == "block":
    status, claimed = "blocked", []
    errors = [{"type": "execution", "message": "The key of the service is missing.", "code": "TOOL_UNAVAILABLE",
               "recoverable": True, "recommendation": "Set the key."}]
session = os.environ["REMIT_SESSION_ID"]
depth_path = re.search(r"\\(orchestrator → (?:\\S+ → )?(\\S+)\\)", prompt)[1]
steps = ["Add tests for the cache. None are there.", "Write the docs"] if mode == "steps" else []
print("```json")
print(json.dumps({
    "status": status, "summary": "The work was done as asked. The file says what there is to say.",
    "artifacts": [{"type": kind, "path": path, "summary": "What was asked for."} for kind, path in claimed],
    "metadata": {"session_id": session, "duration_seconds": 1, "phase_count": 2, "estimated_hours": 1.5,
                 "agent_type": depth_path, "delegation_depth": 1,
                 "delegation_path": ["orchestrator", depth_path]},
    "errors": errors, "next_steps": steps,
}))
print("```")
"""
PLAN = """# Plan

- **Status**: [PLANNED]

## Implementation Phases

### Phase 1: One [COMPLETED]

Done before.

### Phase 2: Two [PARTIAL]

Do two.

### Phase 3: Three [NOT STARTED]

Do three.
"""
AGENT = "---\nname: {name}\ndescription: Does it.\nmode: subagent\nagent_type: {kind}\nversion: 1.0.0\n---\n# Do it\n"


class Worker:
    """An agent as a program, and what it was told."""

    def __init__(self, folder: Path) -> None:
        self.file = folder / "worker.py"
        self.file.write_text(WORKER, "utf-8")

    def __call__(self, mode: str = "obey") -> tuple[str, str]:
        """The options that have it do the work."""
        return "--command", f"{sys.executable} {self.file} {mode}"

    @property
    def runs(self) -> list[dict[str, str]]:
        """What it was told each time, and how the tasks stood then."""
        log = Path(f"{self.file}.log")
        return [json.loads(line) for line in log.read_text("utf-8").splitlines()] if log.exists() else []


@pytest.fixture
def worker(tmp_path_factory: pytest.TempPathFactory) -> Worker:
    """The agent's program is outside the workspace."""
    return Worker(tmp_path_factory.mktemp("worker"))


@pytest.fixture(autouse=True)
def _workspace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A workspace with one task, and no session of somebody else's around it."""
    for name in ("REMIT_TICKET", "REMIT_SESSION_ID"):
        monkeypatch.delenv(name, raising=False)
    git(tmp_path, "init", "-q", "-b", "main")
    git(tmp_path, "config", "user.name", "a")
    git(tmp_path, "config", "user.email", "a@example.com")
    home = Home(str(tmp_path))
    TaskStore(home, "specs").add("Cache the uploads", language="python", description="They are slow.")
    home.close()


def get_task(folder: Path, number: int = 1) -> dict[str, Any]:
    state = json.loads((folder / "specs/state.json").read_text("utf-8"))
    return next(task for task in state["active_projects"] if task["project_number"] == number)


def get_marker(folder: Path) -> str:
    """The status of the task, which both files agree on."""
    word = get_task(folder)["status"].upper().replace("_", " ")
    assert f"### 1. Cache the uploads\n- **Status**: [{word}]" in (folder / "specs/TODO.md").read_text("utf-8")
    return str(word)


def list_commits(folder: Path) -> list[tuple[str, set[str]]]:
    """Subject and files of each commit, the oldest first."""
    text = git(folder, "log", "--reverse", "--name-only", "--format=%x00%s")
    parts = (part.strip().splitlines() for part in text.split("\0")[1:])
    return [(lines[0], {line for line in lines[1:] if line}) for lines in parts]


def give_plan(remit: Remit, text: str = PLAN) -> None:
    put(remit, "specs/1_cache_the_uploads/plans/implementation-001.md", text)
    home = Home(str(remit.folder))
    store = TaskStore(home, "specs")
    store.move(1, "PLANNING")
    store.move(1, "PLANNED")
    home.close()


def read_plan(folder: Path) -> str:
    return (folder / "specs/1_cache_the_uploads/plans/implementation-001.md").read_text("utf-8")


def list_rows(folder: Path) -> list[Any]:
    home = Home(str(folder))
    try:
        return list_runs(home.ledger)
    finally:
        home.close()


def load(ended: Ended) -> dict[str, Any]:
    assert ended.err == b"", ended.err
    found: dict[str, Any] = json.loads(ended.out)
    return found


# From research to the end

OWN = {"specs/state.json", "specs/TODO.md"}
FOLDER = "specs/1_cache_the_uploads"


@pytest.mark.slow
def test_a_task_goes_from_research_to_its_end(inside: Inside, worker: Worker, tmp_path: Path) -> None:
    """R1.15, R1.16, R1.20, R1.30, S6: each step moves the task, hands on what it made, and commits exactly that."""
    before = (("research", "RESEARCHED"), ("plan", "PLANNED"), ("implement", "COMPLETED"))
    for command, marker in before:
        ended = inside(command, "1", "Mind", "the", "tests.", *worker())
        assert ended.code == 0, (ended.out, ended.err)
        assert get_marker(tmp_path) == marker
    runs = worker.runs
    markers = ("[RESEARCHING]", "[PLANNING]", "[IMPLEMENTING]", "[IMPLEMENTING]")
    assert all(marker in run["tasks"] for marker, run in zip(markers, runs, strict=True))
    assert all("Mind the tests." in run["prompt"] for run in runs)
    assert "The cache is in cache.py." in runs[1]["prompt"]
    assert "Do phase 1 of its plan now" in runs[2]["prompt"]
    assert "Do phase 2 of its plan now" in runs[3]["prompt"]
    assert "### Phase 1: One [COMPLETED]" in runs[3]["prompt"]
    assert f"{FOLDER}/reports/research-001.md (optional" in runs[2]["prompt"]
    plan = f"{FOLDER}/plans/implementation-001.md"
    made = [str(path.relative_to(tmp_path)) for path in sorted((tmp_path / FOLDER / "summaries").iterdir())]
    found = list_commits(tmp_path)
    assert all(": The work was done as asked." in subject for subject, _ in found)
    assert [(subject.partition(":")[0], files) for subject, files in found] == [
        ("task 1", OWN | {f"{FOLDER}/reports/research-001.md"}),
        ("task 1", OWN | {plan}),
        ("task 1 phase 1", OWN | {plan, "code_1.py", made[0]}),
        ("task 1 phase 2", OWN | {plan, "code_2.py", made[1]}),
    ]
    assert git(tmp_path, "status", "--short", "--untracked-files=all").split() == ["??", "stray.txt"]
    assert "### Phase 2: Two [COMPLETED]" in read_plan(tmp_path)
    assert get_task(tmp_path)["plan_path"] == plan


def test_a_second_research_is_a_new_version(inside: Inside, worker: Worker, tmp_path: Path) -> None:
    put(inside, f"{FOLDER}/reports/research-004.md", "# Earlier\n\nWhat was known.\n")
    assert inside("task", "research", "1", *worker()).code == 0
    assert (tmp_path / FOLDER / "reports/research-005.md").exists()
    assert "What was known." in worker.runs[0]["prompt"]


def test_json_has_the_task_and_the_phases(inside: Inside, worker: Worker) -> None:
    give_plan(inside)
    told = load(inside("task", "implement", "1", *worker(), "--json"))
    assert told["status"] == "completed"
    assert told["remit"]["task"] == {"number": 1, "before": "PLANNED", "after": "COMPLETED"}
    assert [(phase["phase"], phase["status"]) for phase in told["remit"]["phases"]] == [
        ("2", "completed"),
        ("3", "completed"),
    ]
    assert told["remit"]["session_id"] == told["remit"]["phases"][-1]["session_id"]


# Those that do not do it


def test_a_lie_moves_nothing_on(inside: Inside, worker: Worker, tmp_path: Path) -> None:
    """S3: failed leaves the working marker where it is."""
    ended = inside("task", "research", "1", *worker("lie"))
    assert ended.code == 1
    assert worker.runs[0]["mode"] == "lie"
    assert "✗ research: failed · fabricated" in ended.text
    assert "task 1 was NOT STARTED and is RESEARCHING" in ended.text
    assert get_marker(tmp_path) == "RESEARCHING"
    assert "artifacts" not in get_task(tmp_path)
    again = inside("task", "research", "1", *worker())
    assert again.code == 0
    assert b"note: task 1 was left RESEARCHING; this run resumes it\n" in again.err
    assert get_marker(tmp_path) == "RESEARCHED"


@pytest.mark.slow
@pytest.mark.parametrize(("command", "marker"), [("implement", "PARTIAL"), ("research", "RESEARCHING")])
def test_who_hangs_leaves_the_task_where_it_can_be_taken_up(
    inside: Inside, worker: Worker, tmp_path: Path, command: str, marker: str
) -> None:
    """R2.7, S3."""
    ended = inside(command, "1", *worker("hang"), "--timeout", "4s")
    assert ended.code == 1
    assert worker.runs[0]["mode"] == "hang"
    assert "partial · timeout" in ended.text
    assert get_marker(tmp_path) == marker


def test_what_blocks_is_named(inside: Inside, worker: Worker, tmp_path: Path) -> None:
    """R2.14."""
    ended = inside("task", "plan", "1", *worker("block"))
    assert ended.code == 1
    assert "task 1 was NOT STARTED and is BLOCKED: The key of the service is missing." in ended.text
    assert get_marker(tmp_path) == "BLOCKED"
    refused = inside("task", "revise", "1", *worker())
    assert refused.code == 2
    assert smooth(refused.complaint) == snapshot(
        "task 1: a task that is BLOCKED can't become REVISING (it is BLOCKED: The key of the service is missing.); from BLOCKED it can become: RESEARCHING, PLANNING, IMPLEMENTING, IN PROGRESS, ABANDONED, EXPANDED, ON HOLD"
    )
    again = inside("task", "plan", "1", *worker())
    assert again.code == 0
    assert b"note: task 1 was BLOCKED: The key of the service is missing.\n" in again.err


def test_work_on_a_task_is_begun_anew_with_its_own_command(inside: Inside, worker: Worker, tmp_path: Path) -> None:
    """A retry would move the task back without a word."""
    first = load(inside("task", "research", "1", *worker("block"), "--json"))["remit"]["session_id"]
    before = (tmp_path / "specs/state.json").read_bytes()
    told = f"{first} was a run of a task command, which starts from the current state of the task; start it again: remit task research 1"
    assert inside("retry", "-").complaint == told
    resumed = "the runner command can't resume a session; start it again: remit task research 1"
    assert inside("resume", "-").complaint == resumed
    assert (tmp_path / "specs/state.json").read_bytes() == before
    assert len(list_rows(tmp_path)) == 1


@pytest.mark.slow
@pytest.mark.thorough
def test_work_goes_on_at_the_first_open_phase_and_stops_where_one_is_not_done(
    inside: Inside, worker: Worker, tmp_path: Path
) -> None:
    """S4."""
    plan = PLAN.replace("[COMPLETED]", "[NOT STARTED]")
    give_plan(inside, plan)
    ended = inside("task", "implement", "1", *worker("hang-2"), "--timeout", "8s")
    assert ended.code == 1
    assert "phases: 1 completed, 2 partial; 2 left" in ended.text
    assert get_marker(tmp_path) == "PARTIAL"
    assert "### Phase 1: One [COMPLETED]" in read_plan(tmp_path)
    assert "### Phase 2: Two [PARTIAL]" in read_plan(tmp_path)
    assert "### Phase 3: Three [NOT STARTED]" in read_plan(tmp_path)
    again = inside("task", "implement", "1", *worker())
    assert again.code == 0
    assert "phases: 2 completed, 3 completed" in again.text
    assert get_marker(tmp_path) == "COMPLETED"


def test_a_plan_that_was_lost_leaves_the_task_open(inside: Inside, worker: Worker, tmp_path: Path) -> None:
    """Nobody knows what is left of it: nothing is called completed."""
    give_plan(inside)
    ended = inside("task", "implement", "1", *worker("eat"))
    assert worker.runs[0]["mode"] == "eat"
    assert ended.code == 1
    assert "error[STATUS_SYNC_FAILED]: the plan of task 1 is gone, so what is left of it is unknown" in ended.text
    assert get_marker(tmp_path) == "PARTIAL"


@pytest.mark.parametrize("marker", ["BLOCKED", "ON HOLD"])
def test_a_phase_that_is_set_aside_is_still_to_be_done(
    inside: Inside, worker: Worker, tmp_path: Path, marker: str
) -> None:
    """S4: it is passed over, and neither it nor the task is done."""
    give_plan(inside, PLAN.replace("Three [NOT STARTED]", f"Three [{marker}]"))
    told = load(inside("task", "implement", "1", *worker(), "--json"))
    assert (told["status"], told["remit"]["phases"][0]["status"]) == ("partial", "completed")
    assert told["remit"]["task"] == {
        "number": 1,
        "before": "PLANNED",
        "after": "PARTIAL",
        "left": [f"phase 3 is {marker}"],
    }
    assert get_marker(tmp_path) == "PARTIAL"
    ended = inside("task", "implement", "1", *worker())
    assert ended.code == 2
    assert f"task 1: phase 3 is {marker}, and no other phase is left" in ended.complaint
    assert len(worker.runs) == 1
    assert f"Plan: {FOLDER}/plans/implementation-001.md: phase 3 is {marker}\n" in inside("task", "show", "1").text
    assert inside("task", "phases", "1").text.endswith(f"work can't continue at any phase: phase 3 is {marker}\n")


def test_what_is_left_ends_the_command_with_1(inside: Inside, worker: Worker, tmp_path: Path) -> None:
    give_plan(inside, PLAN.replace("One [COMPLETED]", "One [BLOCKED]"))
    ended = inside("task", "implement", "1", *worker())
    assert ended.code == 1
    assert "✗ implement: partial" in ended.text
    assert "note: phases: task 1 isn't done: phase 1 is BLOCKED" in ended.text
    assert "phases: 2 completed, 3 completed; 1 left" in ended.text
    assert get_marker(tmp_path) == "PARTIAL"


def test_an_abandoned_phase_is_over(inside: Inside, worker: Worker, tmp_path: Path) -> None:
    give_plan(inside, PLAN.replace("Three [NOT STARTED]", "Three [ABANDONED]"))
    ended = inside("task", "implement", "1", *worker())
    assert ended.code == 0
    assert "phases: 2 completed\n" in ended.text
    assert get_marker(tmp_path) == "COMPLETED"


def test_a_phase_that_the_agent_of_another_ticked_off_is_done_all_the_same(
    inside: Inside, worker: Worker, tmp_path: Path
) -> None:
    give_plan(inside)
    ended = inside("task", "implement", "1", *worker("tick"))
    assert (ended.code, len(worker.runs)) == (0, 2)
    told = "note: phases: phase 3 became COMPLETED in the plan while implement worked on phase 2; it is NOT STARTED"
    assert f"{told} again\n" in ended.err.decode()
    assert "phases: 2 completed, 3 completed" in ended.text
    assert get_marker(tmp_path) == "COMPLETED"


CHEAT = """
import json, os, re, subprocess, sys
prompt, source, mode = sys.stdin.read(), sys.argv[1], sys.argv[2]
hidden = ("REMIT_TICKET", "REMIT_SESSION_ID") if mode == "hide" else ()
environ = {key: value for key, value in os.environ.items() if key not in hidden} | {"PYTHONPATH": source}
done = subprocess.run([sys.executable, "-m", "remit", "task", "done", "1"], env=environ, capture_output=True)
open(__file__ + ".log", "w").write(f"{done.returncode} {done.stderr.decode()}")
me = re.search(r"\\(orchestrator → (?:\\S+ → )?(\\S+)\\)", prompt)[1]
print(json.dumps({
    "status": "failed", "summary": "The work was not done. The key is missing.", "artifacts": [],
    "metadata": {"session_id": os.environ["REMIT_SESSION_ID"], "duration_seconds": 1, "agent_type": me,
                 "delegation_depth": 1, "delegation_path": ["orchestrator", me]},
    "errors": [{"type": "execution", "message": "The key is missing.", "code": "TOOL_UNAVAILABLE",
                "recoverable": True, "recommendation": "Set the key."}], "next_steps": []}))
"""


@pytest.mark.parametrize(
    ("mode", "told"),
    [
        ("show", "0 "),  # it may move its own task, and is not believed where its return says otherwise
        ("hide", "and has no ticket"),
    ],
)
def test_an_agent_that_failed_does_not_complete_its_task(
    inside: Inside, worker: Worker, tmp_path: Path, mode: str, told: str
) -> None:
    worker.file.write_text(CHEAT, "utf-8")
    ended = inside("task", "implement", "1", "--command", f"{sys.executable} {worker.file} {SOURCE} {mode}")
    assert ended.code == 1
    assert told in Path(f"{worker.file}.log").read_text("utf-8")
    assert get_marker(tmp_path) == "PARTIAL"


def test_who_cannot_be_started_leaves_the_task_as_it_was(inside: Inside, tmp_path: Path) -> None:
    give_plan(inside)
    ended = inside("task", "implement", "1", "--command", "no-such-program-anywhere")
    assert ended.code == 2
    assert "note: preflight: task 1 is PLANNED again" in ended.text
    assert get_marker(tmp_path) == "PLANNED"
    assert read_plan(tmp_path) == PLAN


def test_a_runner_that_is_not_known_moves_nothing(inside: Inside, tmp_path: Path) -> None:
    ended = inside("task", "research", "1", "--runner", "clade")
    assert ended.code == 2
    assert get_marker(tmp_path) == "NOT STARTED"
    assert list_rows(tmp_path) == []


@pytest.mark.parametrize("args", [("research", "1"), ("run", "Do it.", "--task", "1")])
def test_tasks_that_cannot_be_read_let_no_work_begin(
    inside: Inside, worker: Worker, tmp_path: Path, args: tuple[str, ...]
) -> None:
    state = tmp_path / "specs" / "state.json"
    state.write_text(state.read_text()[:-20])
    ended = inside(*args, *worker())
    assert ended.code == 2
    told = "state.json is truncated"
    assert (
        ended.complaint
        == f"{told}; restore it from git and TODO.md, and keep a copy of the file, with: remit task sync --repair"
    )
    ended = inside(*args, *worker(), "--json")
    assert (ended.code, ended.error["message"]) == (2, told)
    assert worker.runs == []


def test_a_move_that_may_not_be_is_refused_with_those_that_may(inside: Inside, worker: Worker, tmp_path: Path) -> None:
    ended = inside("task", "revise", "1", *worker())
    assert ended.code == 2
    assert ended.complaint == snapshot(
        "task 1: a task that is NOT STARTED can't become REVISING; from NOT STARTED it can become: RESEARCHING, "
        "PLANNING, IMPLEMENTING, IN PROGRESS, BLOCKED, EXPANDED, ON HOLD"
    )
    assert worker.runs == []
    assert list_rows(tmp_path) == []


def test_an_edit_by_hand_is_taken_in_before_anything_is_refused(inside: Inside, worker: Worker, tmp_path: Path) -> None:
    home = Home(str(tmp_path))
    TaskStore(home, "specs").move(1, "PLANNING")
    home.close()
    todo = tmp_path / "specs/TODO.md"
    todo.write_text(todo.read_text("utf-8").replace("[PLANNING]", "[PLANNED]"), "utf-8")
    assert inside("task", "revise", "1", *worker()).code == 0
    assert get_marker(tmp_path) == "REVISED"


@pytest.mark.parametrize(
    ("args", "sentence"),
    [
        (("research", "7"), "there is no task 7; list the tasks with: remit task list"),
        (("research", "one"), "'one' isn't the number of a task; remit task list shows them"),
        (("research", "1", "--worktree"), "there is no option --worktree"),
        (("task", "reserch", "1"), "there is no command 'task reserch'; did you mean 'remit task research'?"),
        (("research", "1", "--agent", "nobody", "--runner", "claude"), "'nobody'"),
    ],
)
def test_what_cannot_be_is_said_in_one_sentence(inside: Inside, args: tuple[str, ...], sentence: str) -> None:
    ended = inside(*args)
    assert ended.code == 2
    assert sentence in ended.complaint


@pytest.mark.parametrize("command", ["research", "plan", "revise", "implement", "review"])
def test_the_help_offers_no_option_that_is_refused(inside: Inside, command: str) -> None:
    """A command that works on a task links and commits where the task is; `remit run --task` can use a worktree."""
    assert "worktree" not in inside(command, "--help").text
    assert "--worktree" in inside("run", "--help").text


# A review


def test_a_review_makes_tasks_once(inside: Inside, worker: Worker, tmp_path: Path) -> None:
    """R1.30; settling a second time makes none."""
    ended = inside("task", "review", "1", *worker("steps"))
    assert ended.code == 0
    assert "note: follow-ups: 2 (Add tests for the cache), 3 (Write the docs)" in ended.text
    assert "task 1 is NOT STARTED" in ended.text
    (row,) = list_rows(tmp_path)
    made = get_task(tmp_path, 2)
    told = f"Add tests for the cache. None are there. Follow-up of task 1, review {row.session_id}."
    assert (made["title"], made["language"], made["description"]) == ("Add tests for the cache", "python", told)
    ((subject, files),) = list_commits(tmp_path)
    assert subject.startswith("task 1: ")
    assert files == OWN | {get_task(tmp_path)["artifacts"][0]["path"]}
    home = Home(str(tmp_path))
    assert finish_run(str(tmp_path), row) == load_report(home, row.session_id)[0], "each step was done"
    assert [task.number for task in TaskStore(home, "specs").list_tasks()] == [1, 2, 3]
    home.close()
    again = inside("task", "review", "1", *worker("steps"))
    assert "follow-ups" not in again.text
    assert len(list_commits(tmp_path)) == 2


@pytest.mark.slow
def test_a_review_that_is_cut_short_makes_no_tasks(inside: Inside, worker: Worker, tmp_path: Path) -> None:
    """What it is told to do next is how to go on with the review itself."""
    told = load(inside("task", "review", "1", *worker("hang"), "--timeout", "4s", "--json"))
    assert worker.runs[0]["mode"] == "hang"
    assert (told["status"], told["remit"]["stop_reason"]) == ("partial", "timeout")
    assert told["next_steps"]
    assert json.loads((tmp_path / "specs/state.json").read_text("utf-8"))["next_project_number"] == 2


# Who does it


def test_the_agent_of_the_kind_does_it(inside: Inside, worker: Worker, tmp_path: Path) -> None:
    put(inside, ".opencode/agent/finder.md", AGENT.format(name="finder", kind="research"))
    put(inside, ".opencode/agent/maker.md", AGENT.format(name="maker", kind="implementation"))
    assert inside("task", "research", "1", *worker()).code == 0
    (row,) = list_rows(tmp_path)
    assert row.agent == "finder"
    assert "Look into this workspace before" not in worker.runs[0]["prompt"]


def test_of_several_the_route_takes_one_by_language(inside: Inside, worker: Worker, tmp_path: Path) -> None:
    for name in ("a", "b"):
        put(inside, f".opencode/agent/{name}.md", AGENT.format(name=name, kind="research"))
    refused = inside("task", "research", "1", *worker())
    assert refused.code == 2
    assert smooth(refused.complaint) == snapshot(
        'several agents fit: a, b; choose one with --agent NAME, or in remit.toml: [route.research] default = "a"'
    )
    put(inside, "remit.toml", '[route.research]\ndefault = "a"\npython = "b"\n')
    assert inside("task", "research", "1", *worker()).code == 0
    assert list_rows(tmp_path)[0].agent == "b"
    assert inside("task", "research", "1", "--agent", "a", *worker()).code == 0
    assert list_rows(tmp_path)[0].agent == "a"


def test_a_route_to_nobody_is_named(inside: Inside) -> None:
    inside.write("remit.toml", '[route.research]\ndefault = "researcher"\n')
    told = "[route.research] names the agent 'researcher', and no file defines it; "
    assert inside("task", "research", "1").complaint == f"{told}create one with remit agent new, or remove the route"
    put(inside, "agents/research-agent.md", AGENT.format(name="research-agent", kind="research"))
    assert inside("task", "research", "1").complaint == f"{told}did you mean 'research-agent'?"


def test_a_route_of_no_command_is_told(inside: Inside, worker: Worker) -> None:
    put(inside, "remit.toml", '[route.reserch]\ndefault = "a"\n')
    ended = inside("task", "research", "1", *worker())
    assert ended.code == 2
    assert smooth(ended.complaint) == snapshot(
        "[route.reserch] isn't the route of a task command; did you mean 'research'?"
    )


def test_an_agent_without_a_file_is_told(inside: Inside, worker: Worker) -> None:
    told = load(inside("task", "research", "1", "--agent", "nosuch", *worker(), "--json"))
    assert [each["code"] for each in told["remit"]["diagnostics"]] == ["ASK001"]
    assert "request_diagnostics" not in load(inside("task", "plan", "1", *worker(), "--json"))


def test_without_an_agent_it_is_taught(inside: Inside, worker: Worker) -> None:
    assert inside("task", "research", "1", *worker()).code == 0
    assert "Look into this workspace before you look anywhere else." in worker.runs[0]["prompt"]


# Commands of a workspace


def test_a_workspace_adds_a_command(inside: Inside, worker: Worker, tmp_path: Path) -> None:
    put(
        inside,
        "remit.toml",
        '[task.audit]\nlike = "review"\nartifact = "reports/audit-{version:03d}.md"\nhelp = "Audit a task."\n',
    )
    ended = inside("task", "audit", "1", *worker("steps"))
    assert ended.code == 0, ended.err
    assert (tmp_path / FOLDER / "reports/audit-001.md").exists()
    assert "Do the audit of task 1." in worker.runs[0]["prompt"]
    assert get_task(tmp_path, 2)["title"] == "Add tests for the cache"
    assert list_rows(tmp_path)[0].details["command"] == "audit"
    assert "  audit       Audit a task.\n" in inside("task", "--help").text
    assert "Audit a task." in inside("task", "audit", "--help").text
    assert smooth(inside("task", "adit", "1").complaint) == snapshot(
        "there is no command 'task adit'; did you mean 'remit task audit'?"
    )


def test_help_works_beside_settings_that_do_not(inside: Inside) -> None:
    put(inside, "remit.toml", '[task.audit]\nlike = "nothing"\n')
    ended = inside("task", "--help")
    assert ended.code == 0
    assert "research" in ended.text
    assert smooth(inside("task", "audit", "1").complaint) == snapshot(
        "[task.audit] is like 'nothing'; available: research, plan, revise, implement, review"
    )


# By itself


@pytest.mark.slow
def test_it_goes_on_by_itself(remit: Remit, worker: Worker, tmp_path: Path) -> None:
    ended = remit("task", "research", "1", *worker(), "--detach")
    assert ended.code == 0, ended.err
    session = ended.text.strip()
    assert remit("wait", session).code == 0
    assert get_marker(tmp_path) == "RESEARCHED"


def test_phases_are_not_left_to_themselves(inside: Inside, worker: Worker, tmp_path: Path) -> None:
    give_plan(inside)
    ended = inside("task", "implement", "1", *worker(), "--detach")
    assert ended.code == 2
    assert smooth(ended.complaint) == snapshot(
        "2 phases are open, and each starts after the one before it; leave --detach out; to log off meanwhile, use tmux or screen"
    )
    assert get_marker(tmp_path) == "PLANNED"


@pytest.mark.slow
def test_no_two_work_on_one_task(remit: Remit, worker: Worker, tmp_path: Path) -> None:
    session = remit("task", "research", "1", *worker("hang"), "--detach").text.strip()
    ended = remit("task", "research", "1", *worker())
    assert ended.code == 2
    assert f"research works on task 1 already ({session})" in ended.complaint
    assert remit("cancel", session).code in (0, 1)
    assert remit("wait", session).code == 1
    assert get_marker(tmp_path) == "RESEARCHING"


@pytest.mark.slow
@pytest.mark.thorough
def test_who_is_killed_between_phases_loses_none(remit: Remit, worker: Worker, tmp_path: Path) -> None:
    """The phase that ran is taken up by whoever waits for it; the next call goes on behind it."""
    give_plan(remit)
    with remit.start("task", "implement", "1", *worker("slow")) as process:
        last = time.monotonic() + 20
        while not worker.runs:
            assert time.monotonic() < last, "the agent never began"
            time.sleep(0.02)
        process.kill()
    (row,) = list_rows(tmp_path)
    assert row.state == "running"
    assert remit("wait", row.session_id).code == 0
    assert get_marker(tmp_path) == "IMPLEMENTING"
    assert "### Phase 2: Two [COMPLETED]" in read_plan(tmp_path)
    ended = remit("task", "implement", "1", *worker())
    assert ended.code == 0, ended.err
    assert "note: task 1 was left IMPLEMENTING and is taken up again" in ended.err.decode()
    assert "phases: 3 completed" in ended.text
    assert get_marker(tmp_path) == "COMPLETED"
    assert [run["mode"] for run in worker.runs] == ["slow", "obey"]
    assert [subject.partition(":")[0] for subject, _ in list_commits(tmp_path)] == ["task 1 phase 2", "task 1 phase 3"]


# A task system of somebody else's

TOOL = """
import json, sys
with open(__file__ + ".log", "a") as log:
    log.write(json.dumps(sys.argv[1:]) + "\\n")
if sys.argv[1] == "show":
    print("T-7: Cache the uploads of guests")
"""
FINDER = r"""
import json, os, re, sys
prompt = sys.stdin.read()
with open(__file__ + ".log", "w") as log:
    log.write(prompt)
mode = sys.argv[1]
topic, day = re.search(r"([a-z0-9-]+)-(\d{4}-\d\d-\d\d)", prompt).groups()
folder = "claudedocs/agent-outputs"
os.makedirs(folder, exist_ok=True)
file = day + "_" + topic + ".md"
with open(folder + "/" + file, "w") as findings:
    findings.write("# Uploads\n\n## Summary\nThe uploads can be cached. It is simple.\n\n"
                   "## Findings\n\n### Cache\n- x\n\n"
                   "## Recommendations\n- y\n\n## Sources\n- z\n\n## Linked Tasks\n- T-7\n")
line = {"id": topic + "-" + day, "file": file, "title": "Uploads", "date": day, "status": mode, "topics": ["cache"],
        "key_findings": ["Cache uploads.", "Drop guests.", "Keep names."], "actionable": True,
        "needs_followup": [] if mode == "complete" else ["BLOCKED:no key"], "linked_tasks": ["T-7"]}
with open(folder + "/MANIFEST.jsonl", "a") as manifest:
    manifest.write(json.dumps(line) + "\n")
words = {"complete": "complete. See MANIFEST.jsonl for summary.", "partial": "partial. See MANIFEST.jsonl for details.",
         "blocked": "blocked. See MANIFEST.jsonl for blocker details."}
print("Research " + words[mode])
"""


@pytest.mark.slow
@pytest.mark.thorough("partial")
@pytest.mark.parametrize(
    ("mode", "code", "after"),
    [("complete", 0, ["show", "complete", "link"]), ("partial", 1, ["show", "complete", "link"]), ("blocked", 1, [])],
)
def test_a_task_of_an_outside_system_is_shown_focused_completed_and_linked(
    remit: Remit, tmp_path_factory: pytest.TempPathFactory, mode: str, code: int, after: list[str]
) -> None:
    """R4.8, R4.12, R4.13: what is partial completes the task there, what is blocked leaves it open."""
    folder = tmp_path_factory.mktemp("outside")
    remit.env["XDG_CONFIG_HOME"] = str(folder / "config")
    tool, finder = folder / "tool.py", folder / "finder.py"
    tool.write_text(TOOL, "utf-8")
    finder.write_text(FINDER, "utf-8")
    call = f"{sys.executable} {tool}"
    names = {"show": "", "focus": "", "complete": "", "link": " {research}"}
    rows = "".join(f'{name} = "{call} {name} {{id}}{rest}"\n' for name, rest in names.items())
    put(remit, "remit.toml", f"[tasks]\n{rows}")
    args = ("research", "T-7", "--return-format", "manifest", "--command", f"{sys.executable} {finder} {mode}")
    untrusted = remit(*args)
    assert untrusted.code == 2
    assert not Path(f"{tool}.log").exists()
    assert remit("config", "trust", "--yes").code == 0
    ended = remit(*args)
    assert ended.code == code, (ended.out, ended.err)
    assert "T-7: Cache the uploads of guests" in Path(f"{finder}.log").read_text("utf-8")
    calls = [json.loads(line) for line in Path(f"{tool}.log").read_text("utf-8").splitlines()]
    assert [call[:2] for call in calls] == [[name, "T-7"] for name in ("show", "focus", *after)]
    if after:
        assert calls[-1][2].startswith("t-7-research-")
        assert "note: outside: task T-7 is completed, linked to t-7-research-" in ended.err.decode()


# --- the format of the manifest -------------------------------------------------------------------------------------

RECORDER = """
import json, os, re, sys
prompt = sys.stdin.read()
with open(__file__ + ".log", "a") as log:
    log.write(json.dumps({"mode": "", "prompt": prompt, "tasks": open("specs/TODO.md").read()}) + "\\n")
status = sys.argv[1]
folder = "claudedocs/agent-outputs"
os.makedirs(folder, exist_ok=True)
text = "# Uploads\\n\\n## Summary\\n\\nSlow. They need a cache.\\n\\n## Findings\\n\\n### Speed\\n\\nSlow.\\n\\n"
text += "## Recommendations\\n\\n- Cache them.\\n\\n## Sources\\n\\n- here\\n\\n## Linked Tasks\\n\\n- 1\\n"
open(folder + "/2026-11-16_uploads.md", "w").write(text)
entry = {"id": "uploads-2026-11-16", "file": "2026-11-16_uploads.md", "title": "Uploads", "date": "2026-11-16",
         "status": status, "topics": ["uploads"], "key_findings": ["Use a cache.", "Limit it.", "Test it."],
         "actionable": True, "needs_followup": [] if status == "complete" else ["BLOCKED:no access"],
         "linked_tasks": ["1"]}
open(folder + "/MANIFEST.jsonl", "a").write(json.dumps(entry) + "\\n")
tail = {"complete": "summary", "partial": "details", "blocked": "blocker details"}[status]
print("Research " + status + ". See MANIFEST.jsonl for " + tail + ".")
"""
FINDINGS_FILE = "claudedocs/agent-outputs/2026-11-16_uploads.md"


@pytest.mark.parametrize(("passes", "marker"), [(False, "PARTIAL"), (True, "COMPLETED")])
def test_a_task_is_completed_only_if_its_checks_pass(
    inside: Inside, worker: Worker, tmp_path: Path, tmp_path_factory: pytest.TempPathFactory,
    monkeypatch: pytest.MonkeyPatch, *, passes: bool, marker: str,
) -> None:  # fmt: skip
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path_factory.mktemp("config")))
    command = "test -e specs/1_cache_the_uploads/summaries/implementation-summary.md -o -e stray.txt"
    put(inside, "remit.toml", f"""
[checks.tests]
run = "{command if passes else "echo wrong; exit 1"}"
[task.implement]
checks = ["tests"]
""")  # fmt: skip
    assert inside("config", "trust", "--yes").code == 0
    give_plan(inside)
    told = load(inside("task", "implement", "1", *worker(), "--json"))
    assert told["remit"]["status"] == marker.lower()
    assert {each["answer"] for each in told["remit"]["verified_by"] if each["kind"] == "check"} == {
        "passed" if passes else "failed"
    }
    assert get_marker(tmp_path) == marker
    if not passes:
        assert told["errors"][0]["code"] == "CHECK_FAILED"
        shown = inside("task", "show", "1").text
        assert "PARTIAL" in shown


@pytest.fixture
def recorder(tmp_path_factory: pytest.TempPathFactory) -> Worker:
    """An agent of the manifest protocol."""
    made = Worker(tmp_path_factory.mktemp("recorder"))
    made.file.write_text(RECORDER, "utf-8")
    return made


def test_what_the_manifest_names_is_handed_to_the_plan(
    inside: Inside, worker: Worker, recorder: Worker, tmp_path: Path
) -> None:
    """R0.6, R1.32: the entry's file starts at the manifest, everything else at the root."""
    ended = inside("task", "research", "1", "--return-format", "manifest", *recorder("complete"))
    assert ended.code == 0, (ended.text, ended.err)
    assert FINDINGS_FILE in ended.err.decode()
    assert "not named" not in ended.text
    assert get_task(tmp_path)["artifacts"][0]["path"] == FINDINGS_FILE
    committed = git(tmp_path, "show", "--name-only", "--format=", "HEAD").split()
    assert {FINDINGS_FILE, "claudedocs/agent-outputs/MANIFEST.jsonl"} <= set(committed)
    assert inside("task", "plan", "1", *worker()).code == 0
    assert "They need a cache." in worker.runs[-1]["prompt"]


def test_the_manifests_file_has_one_place_and_the_task_one_status(inside: Inside, recorder: Worker) -> None:
    """R4.1 rather than R1.20, and the marker that the task has once it is taken up."""
    assert inside("task", "research", "1", "--return-format", "manifest", *recorder("complete")).code == 0
    told = recorder.runs[0]["prompt"]
    assert "Write your artifact to" not in told
    assert "specs/1_cache_the_uploads" not in told
    assert "status: RESEARCHING" in told
    assert "NOT STARTED" not in told


def test_an_agent_that_writes_the_manifest_anew_loses_nobodys_entries_unseen(
    inside: Inside, recorder: Worker, tmp_path: Path
) -> None:
    """R4.7: the work is not completed, and what is wrong is said."""
    recorder.file.write_text(RECORDER.replace('MANIFEST.jsonl", "a")', 'MANIFEST.jsonl", "w")'), "utf-8")
    older = {"id": "cache-2026-11-15", "file": "2026-11-15_cache.md", "title": "Cache", "date": "2026-11-15"}
    put(inside, "claudedocs/agent-outputs/MANIFEST.jsonl", f"{json.dumps(older)}\n" * 20)
    ended = inside("task", "research", "1", "--return-format", "manifest", *recorder("complete"))
    assert ended.code == 1
    assert "doesn't start with its earlier content any more" in ended.text
    assert get_task(tmp_path)["status"] == "researching"


# --- what was made ---------------------------------------------------------------------------------------------------

CLUMSY = """
import json, os, re, sys
prompt = sys.stdin.read()
path = re.search(r"Write your artifact to (\\S+)\\.\\n", prompt)[1]
where = path if sys.argv[1] == "." else sys.argv[1]
os.makedirs(os.path.dirname(where) or ".", exist_ok=True)
open(where, "w").write("# Prose\\n\\n" + os.environ["REMIT_SESSION_ID"])
kind = "plan" if "/plans/" in path else "report" if "/reports/" in path else "implementation"
me = re.search(r"\\(orchestrator → (?:\\S+ → )?(\\S+)\\)", prompt)[1]
print(json.dumps({
    "status": "completed", "summary": "The work was done as asked. The file says what there is to say.",
    "artifacts": [{"type": kind, "path": where, "summary": "What was asked for."}],
    "metadata": {"session_id": os.environ["REMIT_SESSION_ID"], "duration_seconds": 1, "agent_type": me,
                 "delegation_depth": 1, "delegation_path": ["orchestrator", me]}, "errors": [], "next_steps": []}))
"""


@pytest.fixture
def clumsy(tmp_path_factory: pytest.TempPathFactory) -> Worker:
    """An agent that writes a file of prose, wherever it is said to."""
    made = Worker(tmp_path_factory.mktemp("clumsy"))
    made.file.write_text(CLUMSY, "utf-8")
    return made


def test_a_report_elsewhere_is_told(inside: Inside, clumsy: Worker, tmp_path: Path) -> None:
    """R1.20: it is linked where it is, and its place is named."""
    told = load(inside("task", "research", "1", *clumsy("notes.md"), "--json"))
    assert told["status"] == "completed"
    found = {each["code"]: each for each in told["remit"]["diagnostics"]}
    place = "specs/1_cache_the_uploads/reports/research-001.md"
    assert found["SET002"]["message"] == f"the artifact belongs to '{place}' and is at 'notes.md'"
    assert get_task(tmp_path)["artifacts"][0]["path"] == "notes.md"
    assert "SET002" not in {
        each["code"]
        for each in load(inside("task", "research", "1", *clumsy("."), "--json"))["remit"].get("diagnostics", [])
    }


def test_a_plan_without_phases_is_told_and_the_work_says_so(inside: Inside, clumsy: Worker) -> None:
    """R1.32."""
    told = load(inside("task", "plan", "1", *clumsy("."), "--json"))
    assert "SET003" in {each["code"] for each in told["remit"]["diagnostics"]}
    assert "implementation-001.md: no phases" in inside("task", "show", "1").text
    ended = inside("task", "implement", "1", *clumsy("code.py"))
    assert ended.code == 0, (ended.text, ended.err)
    assert "it has no phases, so one run does the whole task" in ended.text + ended.err.decode()
    assert "summary: there is none at specs/1_cache_the_uploads/summaries/implementation-summary-" in ended.text
    assert "SET00" not in ended.text


ASKING = """---
name: {name}
description: Does it.
mode: subagent
agent_type: {kind}
version: 1.0.0
timeout: 900
---
# Do it

<inputs_required>
  <parameter name="task_number" type="integer">The task.</parameter>
  <parameter name="language" type="string">Its language.</parameter>
  {inputs}
</inputs_required>
"""


@pytest.mark.conforms("002-05", "002-22", "002-45")
def test_what_the_task_answers_is_not_asked_for(inside: Inside, worker: Worker) -> None:
    """D14 and D15: the path has the command; inputs are filled by the names that agents give to them."""
    inputs = {
        "research": ("research_topic", "task_description", "acceptance_criteria"),
        "planning": ("title", "research_path", "plan_version", "revision_reason"),
        "implementation": ("plan_path", "resume_from_phase", "phase_description", "project_path"),
    }
    for kind, names in inputs.items():
        text = "".join(f'<parameter name="{name}" type="string">It.</parameter>' for name in names)
        put(inside, f"agents/{kind}er.md", ASKING.format(name=f"{kind}er", kind=kind, inputs=text))
    put(inside, "remit.toml", "[task.research]\ntimeout = 77\n")
    todo = (inside.folder / "specs/TODO.md").read_text()
    criteria = "- **Acceptance Criteria**:\n  - [ ] Fast\n  - [ ] Safe\n"
    put(inside, "specs/TODO.md", todo.replace("- **Language**", f"{criteria}- **Language**"))
    assert inside("task", "research", "1", *worker()).code == 0
    told = worker.runs[-1]["prompt"]
    assert "(orchestrator → research → researcher)" in told
    assert '- delegation_path: ["orchestrator", "research", "researcher"]' not in told  # it isn't named as an input
    assert "You have 1 minute 17 seconds" in told  # [task.research] timeout
    assert "- research_topic: Cache the uploads\n" in told
    assert "- task_description: They are slow.\n" in told
    assert "- language: python\n" in told
    assert ">\nFast\nSafe\n</data-" in told
    refused = inside("task", "plan", "1", *worker())
    assert refused.code == 2
    assert "the input 'revision_reason' is missing" in refused.err.decode()
    assert inside("task", "plan", "1", "It is too slow.", *worker()).code == 0
    told = worker.runs[-1]["prompt"]
    assert "- research_path: specs/1_cache_the_uploads/reports/research-001.md\n" in told
    assert "- plan_version: 1\n" in told
    assert "- revision_reason: It is too slow.\n" in told
    todo = (inside.folder / "specs/TODO.md").read_text()
    assert "- **Research**: [research-001.md](specs/1_cache_the_uploads/reports/research-001.md)\n" in todo
    assert "- **Plan**: [implementation-001.md](specs/1_cache_the_uploads/plans/implementation-001.md)\n" in todo
    assert inside("task", "implement", "1", *worker()).code == 0
    first = worker.runs[2]["prompt"]
    assert "- plan_path: specs/1_cache_the_uploads/plans/implementation-001.md\n" in first
    assert "- resume_from_phase: 1\n" in first
    assert "- phase_description: One\n" in first
    assert "- project_path: specs/1_cache_the_uploads\n" in first
    assert inside("task", "sync", "--check").code == 0
    task = get_task(inside.folder)
    assert (task["phase_count"], task["estimated_hours"]) == (2, 1.5)  # R0.8, D4


def test_an_agent_is_not_told_a_path_that_its_own_permissions_deny(inside: Inside) -> None:
    """D9: the path is left out, with a warning; in a fresh project tasks are where the agents may write."""
    allow = "permissions:\n  allow:\n    - write: ['.opencode/specs/**/*']\n  deny: []\n"
    text = AGENT.format(name="finder", kind="research").replace("version", f"{allow}version")
    put(inside, ".opencode/agent/finder.md", text)
    ended = inside("task", "research", "1", "--command", "cat")
    assert "'finder' may not write 'specs/1_cache_the_uploads/reports/research-001.md'" in ended.err.decode()
    assert "Write your artifact to" not in inside("logs", "-").text
    shutil.rmtree(inside.folder / "specs")
    inside("task", "new", "Cache the uploads")
    ended = inside("task", "research", "1", "--command", "cat")
    path = ".opencode/specs/1_cache_the_uploads/reports/research-001.md"
    assert f"Write your artifact to {path}." in inside("logs", "-").text
    assert "may not write" not in ended.err.decode()
    assert inside("agent", "can", "finder", "write", path).code == 0


LATE = """
import os, re, sys, time
path = re.search(r"Write your artifact to (\\S+)\\.\\n", sys.stdin.read())[1]
os.makedirs(os.path.dirname(path), exist_ok=True)
open(path, "w").write("# Half of a report\\n")
open("scratch.md", "w").write("# Anybody's\\n")
time.sleep(60)
"""


@pytest.mark.conforms("002-10")
@pytest.mark.slow
def test_what_a_timed_out_agent_left_is_linked_and_committed(inside: Inside, worker: Worker, tmp_path: Path) -> None:
    """D17: as partial work, of the kind that its place says; a file elsewhere may be the user's."""
    worker.file.write_text(LATE, "utf-8")
    told = load(inside("task", "research", "1", *worker(), "--timeout", "2s", "--json"))
    path = "specs/1_cache_the_uploads/reports/research-001.md"
    assert told["status"] == "partial"
    assert path in [artifact["path"] for artifact in told["artifacts"]]
    assert get_marker(tmp_path) == "RESEARCHING"
    assert [(each["path"], each["type"]) for each in get_task(tmp_path)["artifacts"]] == [(path, "report")]
    assert f"- **Research**: [research-001.md]({path})\n" in (tmp_path / "specs/TODO.md").read_text()
    assert list_commits(tmp_path)[-1][1] == {path, "specs/TODO.md", "specs/state.json", "specs/errors.json"}
    assert "?? scratch.md" in git(tmp_path, "status", "--porcelain")
