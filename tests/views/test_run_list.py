"""Runs: a page of all delegations, narrowed, searched, and gone on with, at one cost."""

from __future__ import annotations

import json
import time
from typing import TYPE_CHECKING

import pytest

from remit.errors import UsageError
from remit.ledger.queries import RunFilter, count_matching
from remit.views.run_list import RunQuery, list_runs
from tests.support.ledger_rows import Kept, answer, dump, insert, make_repository, name, opened, run

if TYPE_CHECKING:
    from pathlib import Path

    from remit.ledger.home import Home
    from remit.schemas import RunPageObject


def ids(page: RunPageObject) -> list[str]:
    return [item["session_id"] for item in page["items"]]


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return tmp_path


def walk(home: Home, asked: RunQuery, *, limit: int) -> list[str]:
    """All pages, one after the other."""
    found: list[str] = []
    cursor = ""
    while True:
        page = list_runs(home, asked, limit=limit, cursor=cursor)
        found += ids(page)
        if page["next_cursor"] is None:
            return found
        assert len(page["items"]) == limit
        cursor = page["next_cursor"]


def test_where_nothing_was_delegated_there_is_an_empty_page_and_no_ledger(root: Path) -> None:
    with opened(root) as home:
        assert list_runs(home) == {"items": [], "next_cursor": None, "total": 0, "event": 0, "agents": []}
        assert not home.is_made


def test_pages_have_every_delegation_once_the_newest_first(root: Path) -> None:
    with opened(root) as home:
        insert(home, *(Kept(number, created_ms=1_700_000_000_000 + number // 4) for number in range(50)))
        for limit in (1, 7, 49, 50, 51):
            assert walk(home, RunQuery(), limit=limit) == [name(number) for number in reversed(range(50))]


def test_what_is_added_meanwhile_moves_no_page(root: Path) -> None:
    with opened(root) as home:
        insert(home, *(Kept(number) for number in range(10)))
        first = list_runs(home, limit=5)
        insert(home, *(Kept(number) for number in range(10, 20)))
        assert ids(list_runs(home, limit=5, cursor=first["next_cursor"] or "")) == [
            name(each) for each in (4, 3, 2, 1, 0)
        ]


@pytest.mark.parametrize(
    ("asked", "expected"),
    [
        (RunQuery(), [4, 3, 2, 1, 0]),
        (RunQuery(state="open"), [4]),
        (RunQuery(state="finished"), [3, 2, 1, 0]),
        (RunQuery(agent="planner"), [1]),
        (RunQuery(verdict="fabricated"), [2]),
        (RunQuery(status="failed"), [2]),
        (RunQuery(stop_reason="timeout"), [3]),
        (RunQuery(task=7), [1, 0]),
        (RunQuery(roots=True), [4, 3, 2, 0]),
        (RunQuery(task=7, agent="researcher"), [0]),
        (RunQuery(q="BILLING"), [2]),
        (RunQuery(q="planner"), [1]),
        (RunQuery(q=name(3)[:14].upper()), [4, 3, 2, 1, 0]),
        (RunQuery(q=name(3)), [3]),
        (RunQuery(q="nine lives"), [0]),
        (RunQuery(q='the "quoted" part'), [3]),
        (RunQuery(q="Ünder"), [2]),
        (RunQuery(q="timeout_s"), []),
        (RunQuery(q="%"), []),
        (RunQuery(q="cache lives"), [0]),
    ],
)
def test_a_list_is_narrowed(root: Path, asked: RunQuery, expected: list[int]) -> None:
    with opened(root) as home:
        insert(
            home,
            Kept(0, task_number=7, summary="A cat has nine lives."),
            Kept(1, parent=0, root=0, agent="planner", task_number=7),
            Kept(2, verdict="fabricated", status="failed", work="Look into Billing Ünder load."),
            Kept(3, stop_reason="timeout", status="partial", verdict=None, work='Read the "quoted" part.'),
            Kept(4, state="running"),
        )
        page = list_runs(home, asked)
        assert ids(page) == [name(number) for number in expected]
        assert page["total"] == len(expected)
        assert page["agents"] == ["planner", "researcher"]


@pytest.mark.parametrize(
    "details",
    [
        dump({"work": 'say "x","kind" \\ now', "kind": "secretly"}),
        dump({"work": 'say "x","kind" \\ now'}),
        dump({"format": "secretly", "work": 'say "x","kind" \\ now'}),
        json.dumps({"work": 'say "x","kind" \\ now', "kind": "secretly"}),
    ],
)
def test_the_work_is_searched_and_nothing_beside_it(root: Path, details: str) -> None:
    with opened(root) as home:
        insert(home, Kept(0, details=details))
        for word in ("say", "SAY", '"x"', '"x","kind"', "kind", "\\", "now", 'say "x","kind"'):
            assert list_runs(home, RunQuery(q=word))["total"] == 1, word
        for word in ("secretly", "work", "format", '{"', 'now"', "x'", "sayx"):
            assert list_runs(home, RunQuery(q=word))["total"] == 0, word


def test_a_row_tells_what_is_below_it(root: Path) -> None:
    with opened(root) as home:
        insert(
            home,
            Kept(0),
            Kept(1, parent=0, root=0),
            Kept(2, parent=1, root=0, state="running"),
            Kept(3, parent=1, root=0),
            Kept(4),
        )
        rows = {item["session_id"]: item for item in list_runs(home)["items"]}
    told = {number: (rows[name(number)]["children"], rows[name(number)]["open_below"]) for number in range(5)}
    assert told == {0: (3, 1), 1: (2, 1), 2: (0, 0), 3: (0, 0), 4: (0, 0)}
    assert rows[name(0)]["tree_tokens"] == 400
    assert rows[name(1)]["tree_cost_usd"] == 1.5
    assert rows[name(2)]["state"] == "abandoned"


@pytest.mark.parametrize("cursor", ["x", "12", "-1.sess_1", "12.", "9" * 30 + ".sess_1", "1e3.sess", "\u0661.sess_1"])
def test_a_cursor_that_is_none_is_refused(root: Path, cursor: str) -> None:
    with opened(root) as home, pytest.raises(UsageError, match="cursor"):
        list_runs(home, cursor=cursor)


@pytest.mark.parametrize("limit", [0, -1, 501])
def test_a_page_has_bounds(root: Path, limit: int) -> None:
    with opened(root) as home, pytest.raises(UsageError, match="rows"):
        list_runs(home, limit=limit)


@pytest.mark.parametrize(
    "asked", [RunQuery(task=2**70), RunQuery(task=-(2**70)), RunQuery(q="\ud800"), RunQuery(agent="\udcff")]
)
def test_what_no_row_can_have_is_refused_in_a_sentence(root: Path, asked: RunQuery) -> None:
    with opened(root) as home:
        insert(home, Kept(0))
        with pytest.raises(UsageError):
            list_runs(home, asked)


def test_an_unknown_state_is_refused(root: Path) -> None:
    with opened(root) as home, pytest.raises(UsageError, match="state"):
        list_runs(home, RunQuery(state="lost"))


def test_secrets_are_taken_out_of_a_row(root: Path) -> None:
    secret = "ghp_" + "a1B2" * 9
    with opened(root) as home:
        insert(home, Kept(0, work=f"Use {secret} for it.", summary=f"It was {secret}."))
        page = list_runs(home, RunQuery(q="use"))
    assert len(page["items"]) == 1
    assert secret not in str(page)
    assert "[redacted" in page["items"][0]["work"]
    assert "[redacted" in page["items"][0]["summary"]


def test_an_agent_that_has_run_is_found_by_its_summary(root: Path) -> None:
    make_repository(root)
    run(root, f"echo new > made.md; {answer('made.md', summary='The walrus was counted twice.')}")
    with opened(root) as home:
        page = list_runs(home, RunQuery(q="walrus"))
        (row,) = page["items"]
        assert (row["status"], row["verdict"], row["summary"]) == (
            "completed",
            "accepted",
            "The walrus was counted twice.",
        )
        assert page["event"] > 0


def test_a_summary_that_is_no_text_keeps_nobody_from_looking(root: Path) -> None:
    with opened(root) as home:
        insert(home, Kept(0), Kept(1))
        with home.ledger.transaction() as db:
            broken = b'{"result":{"summary":"half \xed\xa0\xbd a pair"}}'
            db.execute("INSERT INTO texts VALUES (?, 'report', ?, 1)", (name(0), broken))
            db.execute("INSERT INTO texts VALUES (?, 'report', ?, 1)", (name(1), b"\0spill:abc"))
        rows = list_runs(home)["items"]
        assert rows[0]["summary"] == ""
        assert rows[1]["summary"].startswith("half ")


@pytest.mark.slow
def test_the_first_page_of_many_comes_at_once(root: Path) -> None:
    """In a tenth of what is promised it takes no scan of all rows; a busy machine gets a few tries."""
    with opened(root) as home:
        insert(home, *(Kept(number, parent=number - number % 10 or None, root=number - number % 10)
                       for number in range(10_000)))  # fmt: skip
        assert count_matching(home.ledger, RunFilter()) == 10_000
        took = []
        for _ in range(5):
            begun = time.process_time()
            page = list_runs(home)
            took.append(time.process_time() - begun)
        assert page["total"] == 10_000
        assert min(took) < 0.1
        plan = [*home.ledger.db.execute(
            "EXPLAIN QUERY PLAN SELECT count(*) FROM runs WHERE state = 'finished' AND agent = 'x'"
        )]  # fmt: skip
        assert "COVERING INDEX" in str(plan) or "runs_by_agent" in str(plan)
