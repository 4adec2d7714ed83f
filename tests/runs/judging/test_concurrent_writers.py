"""Others: which other agents could have written a claimed file, or undone the work on it."""

from __future__ import annotations

import json
import shutil
import time
from hashlib import sha1
from typing import TYPE_CHECKING, Any

import pytest

from remit.evidence.take_tree import take_tree
from remit.ledger.home import Home
from remit.model import Expectation
from remit.runners import ToolUse
from remit.runs.judging.conclusion import WrittenFiles
from remit.runs.judging.concurrent_writers import ConcurrentRun, NestedRun, SharedTree
from remit.runs.judging.judge import AttemptVerdict, judge_answer
from remit.runs.judging.judging_context import JudgingContext

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

SESSION, OTHER = "sess_1794805361_qbq98k", "sess_1794805361_other1"
TEXT = "# New\n"


def hash_blob(text: str) -> str:
    return sha1(f"blob {len(text)}\0{text}".encode()).hexdigest()  # noqa: S324 - git's name of it


HASH = hash_blob(TEXT)
HOUR_MS = 3_600_000
BASH = ToolUse("Bash", "run")
READING = {"tools": ["read", "grep"]}


def make_answer(*paths: str) -> str:
    return json.dumps({
        "status": "completed", "summary": "Looked at it. Wrote it down.",
        "artifacts": [{"type": "report", "path": path, "summary": "What was found."} for path in paths],
        "metadata": {"session_id": SESSION, "agent_type": "scribe", "delegation_depth": 1, "duration_seconds": 1,
                     "delegation_path": ["orchestrator", "scribe"]},
        "errors": [],
    })  # fmt: skip


class Run:
    """A run in a folder, with others beside it."""

    def __init__(self, root: Path) -> None:
        self.root = root
        (root / "docs").mkdir()
        (root / "old.md").write_text("# Old\n")
        time.sleep(0.06)  # so that the clock of files can't hide that these are older
        self.before = take_tree(Home(str(root)), str(root))
        self.began_ms = time.time_ns() // 1_000_000

    def make_other(self, *, started: int = 0, ended: int | None = None, **more: Any) -> ConcurrentRun:  # noqa: ANN401 - fields
        """Another agent; its times count from the beginning of the run, in milliseconds."""
        return ConcurrentRun(OTHER, self.began_ms + started, None if ended is None else self.began_ms + ended, **more)

    def judge(self, path: str, *others: ConcurrentRun, **more: Any) -> AttemptVerdict:  # noqa: ANN401 - fields of Scene
        """Judge a return that claims one file."""
        nested = more.pop("nested", ())
        site = SharedTree(
            str(self.root), self.began_ms, others, nested, more.pop("made", {}), more.pop("accepted_ms", {})
        )
        scene = JudgingContext(str(self.root), self.before, shared_tree=site, **more)
        return judge_answer(make_answer(path), scene, format="standard", words={},
                            expectation=Expectation(SESSION, "scribe"))  # fmt: skip


@pytest.fixture
def run(tmp_path: Path) -> Run:
    return Run(tmp_path)


LEFT = WrittenFiles({"new.md": HASH})
UNCERTAIN: dict[str, dict[str, Any]] = {
    "still running": {},
    "ended, and nothing is known of its tree": {"ended": 5},
    "ended, and left the file as it is": {"ended": 5, "writes": LEFT},
    "ended, and the content that it left is unknown": {"ended": 5, "writes": WrittenFiles({"new.md": None})},
    "may write": {"layers": ({"tools": ["read", "write"]},)},
    "may run commands": {"layers": ({"tools": ["read", "bash"]},)},
    "may not write elsewhere": {"layers": ({"deny": {"write": ["secret/**"]}},)},
    "may write only there": {"layers": ({"allow": {"write": ["*.md"]}},)},
    "confined": {"is_confined": True},
}
IMPOSSIBLE: dict[str, dict[str, Any]] = {
    "started after the change": {"started": HOUR_MS},
    "ended before the file was there": {"ended": 5, "writes": WrittenFiles({})},
    "ended, and left something else there": {"ended": 5, "writes": WrittenFiles({"new.md": hash_blob("other")})},
    "has no tool that writes": {"layers": (READING,)},
    "its caller has none": {"layers": ({"tools": ["write"]}, READING)},
    "may not write there": {"layers": ({"deny": {"write": ["new.*"]}},)},
    "may not edit there, and edits count as writes": {"layers": ({"deny": {"write": ["**"]}},)},
    "may write only elsewhere": {"layers": ({"allow": {"write": ["src/**"]}},)},
}


@pytest.mark.parametrize("more", UNCERTAIN.values(), ids=UNCERTAIN)
def test_another_agent_that_could_have_written_a_file_makes_the_claim_unproven(run: Run, more: dict[str, Any]) -> None:
    (run.root / "new.md").write_text(TEXT)
    judgement = run.judge("new.md", run.make_other(**more))
    assert (judgement.name, [each.code for each in judgement.doubts]) == ("unproven", ["EVD003"])


@pytest.mark.parametrize("more", IMPOSSIBLE.values(), ids=IMPOSSIBLE)
def test_another_agent_that_could_not_does_not(run: Run, more: dict[str, Any]) -> None:
    (run.root / "new.md").write_text(TEXT)
    assert run.judge("new.md", run.make_other(**more)).name == "accepted"


def test_touching_a_file_after_the_other_agent_ended_proves_nothing(run: Run) -> None:
    """The time of change is the liar's own then; the content is what the other one left."""
    (run.root / "new.md").write_text(TEXT)
    other = run.make_other(ended=(time.time_ns() // 1_000_000) - run.began_ms, writes=LEFT)
    time.sleep(0.06)
    shutil.copy(run.root / "new.md", run.root / "copy")
    (run.root / "copy").rename(run.root / "new.md")
    assert run.judge("new.md", other).name == "unproven"


def test_a_file_that_came_with_its_folder_may_be_anyone_s(run: Run) -> None:
    """To move a folder changes no time of the files in it, so that they seem older than every agent."""
    shutil.move(run.root / "docs", run.root / "moved")
    (run.root / "aside").mkdir()
    (run.root / "aside" / "a.md").write_text(TEXT)
    late = Run.__new__(Run)
    late.root, late.before = run.root, run.before
    late.began_ms = run.began_ms + HOUR_MS
    (run.root / "aside").rename(run.root / "docs")
    other = ConcurrentRun(OTHER, time.time_ns() // 1_000_000)
    assert late.judge("docs/a.md", other).name == "unproven"


SEEN = (ToolUse("Bash", "run", "new.md"),)
RECORDS: dict[str, tuple[str, dict[str, Any]]] = {
    "ended, and its records name other files": ("accepted", {"ended": 5, "writes": WrittenFiles(None, frozenset({"x"}), is_recorded=True)}),
    "running, and its records are newer than the file": ("accepted", {"writes": WrittenFiles(None, is_recorded=True), "recorded_ms": 1 << 60}),
    "running, and its records are older than the file": ("unproven", {"writes": WrittenFiles(None, is_recorded=True), "recorded_ms": 1}),
    "its records have gaps": ("unproven", {"ended": 5}),
    "the file changed while its command ran, too": ("unproven", {"ended": 5, "writes": WrittenFiles(None, frozenset({"new.md"}), is_recorded=True)}),
    "its tool wrote the file": ("unproven", {"ended": 5, "written": frozenset({"new.md"}), "writes": WrittenFiles(None, is_recorded=True)}),
}  # fmt: skip


@pytest.mark.parametrize(("verdict", "more"), RECORDS.values(), ids=RECORDS)
def test_a_file_that_changed_during_a_command_is_proved_if_records_rule_others_out(
    run: Run, verdict: str, more: dict[str, Any]
) -> None:
    (run.root / "new.md").write_text(TEXT)
    assert run.judge("new.md", run.make_other(**more), tools=(*SEEN, BASH)).name == verdict


def test_without_others_a_file_that_changed_during_a_command_is_attributed(run: Run) -> None:
    (run.root / "new.md").write_text(TEXT)
    assert run.judge("new.md", tools=SEEN).grades["new.md"].grade == "attributed"


# --- work that was undone ---------------------------------------------------------------------------------------------


def remove(root: Path) -> str:
    (root / "docs" / "new.md").write_text(TEXT)
    (root / "docs" / "new.md").unlink()
    return "docs/new.md"


def remove_folder(root: Path) -> str:
    remove(root)
    (root / "docs").rmdir()
    return "docs/new.md"


def empty(root: Path) -> str:
    (root / "new.md").write_text("")
    return "new.md"


def revert(root: Path) -> str:
    (root / "old.md").write_text(TEXT)
    (root / "old.md").write_text("# Old\n")
    return "old.md"


UNDONE = {"removed": remove, "removed with its folder": remove_folder, "emptied": empty, "reverted": revert}


@pytest.mark.parametrize("undo", UNDONE.values(), ids=UNDONE)
def test_work_that_another_agent_may_have_undone_is_unproven(run: Run, undo: Callable[[Path], str]) -> None:
    path = undo(run.root)
    judgement = run.judge(path, run.make_other())
    assert (judgement.name, judgement.unproven) == ("unproven", (path,))
    assert [each.code for each in judgement.doubts] == ["EVD010"]
    assert judgement.returned is not None
    assert judgement.returned.status == "partial"
    wrote = run.judge(path, run.make_other(), tools=(ToolUse("Write", "write", path), BASH))
    assert wrote.name == "unproven"
    recorded = run.make_other(ended=5, writes=WrittenFiles(seen=frozenset({path}), is_recorded=True))
    assert run.judge(path, recorded).name == "unproven"


@pytest.mark.parametrize("undo", UNDONE.values(), ids=UNDONE)
def test_work_that_no_other_agent_can_have_undone_is_fabricated(run: Run, undo: Callable[[Path], str]) -> None:
    path = undo(run.root)
    late, reading = run.make_other(started=HOUR_MS), run.make_other(layers=(READING,))
    kept = run.make_other(ended=5, writes=WrittenFiles({path: HASH}))
    recorded = run.make_other(ended=5, writes=WrittenFiles(is_recorded=True))
    verdict = "invalid" if undo is empty else "fabricated"  # the agent may have made an empty file
    for others in ((), (late,), (reading,), (kept,), (recorded,)):
        assert run.judge(path, *others).name == verdict
    elsewhere = (ToolUse("Write", "write", "other.md"),)
    assert run.judge(path, run.make_other(), tools=elsewhere).name == verdict


@pytest.mark.parametrize("path", ["old.md", "docs/never.md", "docs/no/never.md"])
def test_where_nothing_happened_nothing_was_undone(run: Run, path: str) -> None:
    (run.root / "elsewhere.md").write_text(TEXT)
    assert run.judge(path, run.make_other()).name == "fabricated"


# --- nested runs ------------------------------------------------------------------------------------------------------


OTHER_TEXT = WrittenFiles({"new.md": hash_blob("before"), "more.md": HASH})


def nest(run: Run, *, is_awaited: bool = True, is_here: bool = True, **more: Any) -> NestedRun:  # noqa: ANN401 - of Other
    fields: dict[str, Any] = {"ended": HOUR_MS, "writes": LEFT} | more
    return NestedRun("reader", run.make_other(**fields), is_awaited, is_here)


def test_a_file_as_a_nested_run_left_it_that_was_not_accepted_is_unproven(run: Run) -> None:
    (run.root / "new.md").write_text(TEXT)
    wrote = (ToolUse("Write", "write", "new.md"),)
    for nested, tools in (
        (nest(run), None),
        (nest(run, writes=WrittenFiles()), None),
        (nest(run), wrote),  # it wrote a draft, and the nested run what is there now
        (nest(run, writes=OTHER_TEXT), None),  # it changed again, and most may still be of the nested run
        (nest(run, writes=OTHER_TEXT, is_awaited=False), None),
        (nest(run, writes=OTHER_TEXT, written=frozenset({"new.md"})), (BASH,)),
    ):
        judgement = run.judge("new.md", nested=(nested,), tools=tools)
        assert (judgement.name, judgement.unproven) == ("unproven", ("new.md",))
        (doubt,) = judgement.doubts
        assert doubt.code == "EVD009"
        assert f"'new.md' comes from reader ({OTHER})" in doubt.message


def test_a_file_that_the_caller_rewrote_or_another_nested_run_made_counts(run: Run) -> None:
    (run.root / "new.md").write_text(TEXT)
    wrote = (ToolUse("Write", "write", "new.md"),)
    seen = (ToolUse("Bash", "run", "new.md", ran=True),)
    later = {"new.md": run.began_ms + 2 * HOUR_MS}
    for nested, more in (
        (nest(run, writes=OTHER_TEXT), {"tools": wrote}),
        (nest(run, writes=OTHER_TEXT), {"tools": seen}),
        (nest(run, writes=OTHER_TEXT, is_here=False), {}),
        (nest(run, writes=OTHER_TEXT), {"made": {"new.md": frozenset({hash_blob("before")})}}),
        (nest(run, writes=OTHER_TEXT), {"made": {"new.md": frozenset({hash_blob("later")})}, "accepted_ms": later}),
        (nest(run, writes=WrittenFiles(OTHER_TEXT.changed, is_recorded=True)), {}),
        (nest(run, writes=WrittenFiles({})), {}),
        (nest(run, ended=-HOUR_MS, writes=WrittenFiles()), {}),
        (nest(run, writes=WrittenFiles(LEFT.changed, is_recorded=True)), {}),
        (nest(run, layers=(READING,)), {}),
        (nest(run, is_awaited=False), {"tools": wrote}),
        (nest(run), {"made": {"new.md": frozenset({HASH})}}),
    ):
        assert run.judge("new.md", nested=(nested,), **more).name == "accepted"


def test_a_link_counts_by_its_own_time_and_that_of_its_file(run: Run) -> None:
    (run.root / "way").symlink_to("docs")
    (run.root / "docs" / "a.md").write_text(TEXT)
    late = run.make_other(started=HOUR_MS)
    assert run.judge("way/a.md", late).name == "accepted"
    assert run.judge("way/a.md", run.make_other()).name == "unproven"
