"""The legal moves, against a second statement of S3."""

import itertools
from itertools import product

import pytest
from inline_snapshot import snapshot

from remit.tasks.task import MARKERS, check_move, follow_status, list_moves

LETTERS = {
    "ns": "NOT STARTED", "ip": "IN PROGRESS", "b": "BLOCKED", "a": "ABANDONED", "c": "COMPLETED", "rg": "RESEARCHING",
    "rd": "RESEARCHED", "pg": "PLANNING", "pd": "PLANNED", "vg": "REVISING", "vd": "REVISED", "ig": "IMPLEMENTING",
    "pt": "PARTIAL", "e": "EXPANDED", "h": "ON HOLD",
}  # fmt: skip
ARROWS = """
ns>rg ns>pg ns>ig ns>ip ns>b   rg>rd rg>b rg>a   rd>pg rd>ig   pg>pd pg>b pg>a   pd>vg pd>ig   vg>vd vg>b   vd>ig
ig>c ig>pt ig>b ig>a   pt>ig pt>a   ip>c ip>b ip>a   b>rg b>pg b>ig b>ip b>a   a>ns
rd>rg pd>pg
rg>ip pg>ip vg>ip ig>ip
"""
WORKING = {"RESEARCHING": "research", "PLANNING": "plan", "REVISING": "revise", "IMPLEMENTING": "implement"}


def _is_legal(source: str, target: str) -> bool:
    """S3 said again: a list of arrows, and two sentences."""
    arrows = {tuple(LETTERS[end] for end in arrow.split(">")) for arrow in ARROWS.split()}
    aside, over = {"EXPANDED", "ON HOLD"}, {"COMPLETED", "ABANDONED"}
    to_or_from = bool(aside & {source, target}) and not over & {source, target}
    return source != target and ((source, target) in arrows or to_or_from)


def test_every_move_is_legal_or_refused(subtests: pytest.Subtests) -> None:
    """S3."""
    for source, target in product(MARKERS, MARKERS):
        with subtests.test(source=source, target=target):
            refusal = check_move(source, target, reason="because")
            assert (refusal is None) == _is_legal(source, target)
            assert (target in list_moves(source)) == _is_legal(source, target)
            if refusal is not None:
                assert all(marker in refusal.hint for marker in list_moves(source))
                assert refusal.hint.endswith(".")


@pytest.mark.parametrize(("source", "target"), list(itertools.product(MARKERS, ("BLOCKED", "ABANDONED"))))
def test_a_stop_needs_a_reason(source: str, target: str) -> None:
    if _is_legal(source, target):
        refusal = check_move(source, target, reason=" \n")
        assert refusal is not None
        assert "reason" in refusal.message
        assert "--reason" in refusal.hint


def test_only_its_own_command_enters_a_working_marker_again() -> None:
    for marker, command in itertools.product(MARKERS, (*WORKING.values(), "focus", None)):
        own = command is not None and {**WORKING, "IN PROGRESS": "focus"}.get(marker) == command
        assert (check_move(marker, marker, command=command) is None) == own


def test_markers_are_taken_in_any_spelling() -> None:
    for source, target in (
        ("not_started", "[Researching]"),
        ("[Not-Started]", "in_progress"),
        ("planned", " PLANNING "),
    ):
        assert check_move(source, target) is None
    refusal = check_move("planned", "Implmenting")
    assert refusal is not None
    assert refusal.hint == snapshot("Did you mean 'IMPLEMENTING'?")


@pytest.mark.parametrize(
    ("word", "meant"),
    [
        ("DONE", "COMPLETED"),
        ("finished", "COMPLETED"),
        ("[Complete]", "COMPLETED"),
        ("TODO", "NOT STARTED"),
        ("to-do", "NOT STARTED"),
        ("open", "NOT STARTED"),
        ("New", "NOT STARTED"),
    ],
)
def test_words_of_other_lists_name_the_marker_that_is_meant(word: str, meant: str) -> None:
    refusal = check_move("IMPLEMENTING", word)
    assert refusal is not None
    assert refusal.hint == f"Did you mean '{meant}'?"


@pytest.mark.parametrize("word", [None, "", "done"])
def test_from_what_is_no_marker_there_is_no_way(word: str | None) -> None:
    refusal = check_move(word, "PLANNING")
    assert refusal is not None
    assert "remit task sync" in refusal.hint


@pytest.mark.parametrize(
    ("marker", "completed"),
    [("RESEARCHING", "RESEARCHED"), ("PLANNING", "PLANNED"), ("REVISING", "REVISED"), ("IMPLEMENTING", "COMPLETED")],
)
def test_a_return_moves_a_task_on(marker: str, completed: str) -> None:
    """C9."""
    rest = "PARTIAL" if marker == "IMPLEMENTING" else None
    assert follow_status(marker, "completed") == completed
    assert follow_status(marker, "blocked") == "BLOCKED"
    assert {follow_status(marker, status) for status in ("partial", "failed", "timeout")} == {rest}
    assert follow_status(marker, "completed", kind="review") is None
    assert follow_status(marker, "partial", "manifest") == completed
    assert follow_status(marker, "timeout", "manifest") == rest


def test_in_progress_is_completed_only_by_what_does_the_work() -> None:
    assert follow_status("in_progress", "completed", "manifest") == "COMPLETED"
    assert follow_status("in_progress", "partial", "manifest") == "COMPLETED"
    assert follow_status("in_progress", "completed", kind="implementation") == "COMPLETED"
    assert follow_status("in_progress", "completed", kind="research") is None
    assert follow_status("in_progress", "timeout", "manifest") is None


def test_every_marker_that_a_return_gives_is_a_legal_move() -> None:
    statuses = ("completed", "partial", "failed", "blocked", "timeout", "nonsense")
    kinds = ("research", "planning", "implementation", "review", "utility", "")
    for marker, status, kind in itertools.product(MARKERS, statuses, kinds):
        for target in (follow_status(marker, status, "standard", kind=kind), follow_status(marker, status, "manifest")):
            assert target is None or check_move(marker, target, reason="because") is None
