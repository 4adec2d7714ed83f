"""Reporting: a whole run as one value, of bounded size and without secrets."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from remit.errors import UsageError
from remit.views.report import record
from remit.views.report.html import render_html
from remit.views.report.markdown import render_markdown
from remit.views.report.record import ROOM, load_run_report, weigh
from tests.support.ledger_rows import Kept, answer, insert, make_repository, name, opened, run
from tests.support.report_samples import REPORT

if TYPE_CHECKING:
    from pathlib import Path

SECRET = "ghp_" + "a1B2" * 9


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return make_repository(tmp_path, **{"there.md": "old\n"})


def load(root: Path, word: str | None = None) -> dict[str, Any]:
    with opened(root) as home:
        return load_run_report(home, word)


def keep_answers(root: Path, numbers: range, text: str) -> None:
    """The answers of rows that were only put into the ledger."""
    with opened(root) as home, home.ledger.transaction() as db:
        rows = [(name(number), text.encode()) for number in numbers]
        db.executemany("INSERT INTO texts VALUES (?, 'answer-1', ?, 1)", rows)


# --- what is in it ---------------------------------------------------------------------------------------------------


def test_an_agent_that_lied_is_told_with_what_it_claimed(root: Path) -> None:
    made = run(root, answer("not-there.md"), "Look at the cache.", reasks=0)
    report = load(root, made.session_id)
    (node,) = report["nodes"]
    assert (report["root_id"], report["open"], report["project"]) == (made.session_id, False, root.name)
    assert node["asked"]["text"] == "Look at the cache."
    assert [each["verdict"] for each in node["attempts"]] == ["fabricated"]
    assert [(each["path"], each["state"]) for each in node["attempts"][0]["claims"]] == [("not-there.md", "missing")]
    assert any("not-there.md" in each["message"] for each in node["attempts"][0]["diagnostics"])
    assert "not-there.md" in node["attempts"][0]["answer"]["text"]
    assert node["result"]["status"] == "failed"
    page = render_html(report)
    assert "reported, missing" in page
    assert "reported, missing" in render_markdown(report)


def test_the_sample_has_the_names_of_a_report(root: Path) -> None:
    """What is proved with the sample is proved of reports: none of its names is made up, and none is missing."""
    made = run(root, answer("there.md", end=",}"), reasks=0)
    report = load(root, made.session_id)
    assert report.keys() == REPORT.keys()
    assert report["totals"].keys() == REPORT["totals"].keys()
    assert report["tree"][0].keys() == REPORT["tree"][0].keys()
    node, sample = report["nodes"][0], REPORT["nodes"][0]
    assert node.keys() == sample.keys()
    assert all(node[part].keys() == sample[part].keys() for part in ("run", "config", "asked"))
    assert node["result"].keys() <= sample["result"].keys(), "what a return may leave out is in the sample"
    assert node["result"]["remit"].keys() <= sample["result"]["remit"].keys()
    assert node["attempts"][0].keys() == sample["attempts"][0].keys()
    assert node["attempts"][0]["answer"].keys() == sample["attempts"][0]["answer"].keys()


def test_it_is_the_run_that_a_delegation_is_in(root: Path) -> None:
    with opened(root) as home:
        insert(home, Kept(0), Kept(1, parent=0, root=0), Kept(2, parent=1, root=0), Kept(3))
    report = load(root, name(2))
    assert [(row["session_id"], row["level"]) for row in report["tree"]] == [(name(0), 0), (name(1), 1), (name(2), 2)]
    assert [node["session_id"] for node in report["nodes"]] == [name(0), name(1), name(2)]
    assert report["totals"]["states"] == {"completed": 3}
    assert (report["totals"]["tokens"], report["totals"]["cost_usd"]) == (300, 1.5)
    assert load(root)["root_id"] == name(3)  # the last one


def test_a_run_that_is_open_is_told_as_it_stands(root: Path) -> None:
    with opened(root) as home:
        insert(home, Kept(0, state="running"), Kept(1, parent=0, root=0))
    report = load(root, name(0))
    assert report["open"]
    assert report["totals"]["ended_ms"] is None
    assert report["nodes"][0]["result"] is None
    assert "This report is from" in render_html(report)
    assert "This report is from" in render_markdown(report)


def test_one_that_is_not_there_is_said(root: Path) -> None:
    with pytest.raises(UsageError, match="has no runs yet"):
        load(root)
    with opened(root) as home:
        insert(home, Kept(0))
    with pytest.raises(UsageError, match="no run matches"):
        load(root, "sess_9999999999_zzzzzz")


# --- what is not -----------------------------------------------------------------------------------------------------


def test_secrets_and_the_machine_stay_out(root: Path) -> None:
    script = f"{answer('there.md', summary=f'The key is {SECRET}. It was used.')}; echo {SECRET}"
    made = run(root, script, f"Use {SECRET}.", inputs={"key": SECRET}, reasks=0)
    report = load(root, made.session_id)
    for text in (json.dumps(report), render_html(report), render_markdown(report)):
        assert "a1B2a1B2" not in text
        assert "[redacted github]" in text.replace("\\", "")
        assert str(root) not in text


def test_rows_have_no_secrets_either(root: Path) -> None:
    with opened(root) as home:
        insert(home, Kept(0, work=f"Use {SECRET}", agent=SECRET))
    assert "a1B2a1B2" not in json.dumps(load(root))


# --- how large it gets -----------------------------------------------------------------------------------------------


def test_a_long_answer_is_cut_and_said_to_be(root: Path) -> None:
    with opened(root) as home:
        insert(home, Kept(0, attempts=("accepted",)))
    keep_answers(root, range(1), "word " * 50_000)
    report = load(root)
    (node,) = report["nodes"]
    told = node["attempts"][0]["answer"]
    assert (len(told["text"]), told["characters"], told["cut"]) == (8_000, 250_000, True)
    assert node["left_out"] == ["1 text was cut"]
    assert report["left_out"] == ["1 of them is shortened; remit show ID --full shows everything."]
    assert "Cut: 8,000 of 250,000 characters of the answer." in render_html(report)


def test_a_large_run_is_told_in_part_the_failures_first(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(record, "MOST_FULL", 4)
    monkeypatch.setattr(record, "MOST_ROWS", 20)
    failed = {7: "invalid", 9: "fabricated"}
    rows = [
        Kept(at, parent=0, root=0, verdict=failed.get(at, "accepted"), status="failed" if at in failed else "completed")
        for at in range(1, 30)
    ]
    with opened(root) as home:
        insert(home, Kept(0), *rows)
    report = load(root, name(0))
    assert len(report["tree"]) == 20
    assert [node["session_id"] for node in report["nodes"]] == [name(0), name(1), name(7), name(9)]
    assert report["totals"]["runs"] == 30
    assert report["left_out"] == [
        "The tree has 30 runs; this report lists 20.",
        "4 of 20 runs are shown in full; remit show ID shows the others.",
    ]


def test_where_room_is_short_each_is_cut_shorter_before_any_is_left_out(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with opened(root) as home:
        insert(home, Kept(0), *(Kept(at, parent=0, root=0, attempts=("accepted",)) for at in range(1, 5)))
    keep_answers(root, range(1, 4), "word " * 50)
    keep_answers(root, range(4, 5), "word " * 5_000)
    monkeypatch.setattr(record, "ROOM", 16_000)
    report = load(root, name(0))
    shown = [len(attempt["answer"]["text"]) for node in report["nodes"] for attempt in node["attempts"]]
    assert shown == [250, 250, 250, 1_000]
    assert len(report["nodes"]) == 5
    assert sum(map(weigh, report["nodes"])) <= 16_000


@pytest.mark.parametrize("char", ["<", "\u202e", "\x00", "é", "&", "`", "\U0001f600"])
@pytest.mark.thorough
def test_the_file_is_bounded_whatever_is_written(root: Path, monkeypatch: pytest.MonkeyPatch, char: str) -> None:
    room = 120_000
    monkeypatch.setattr(record, "ROOM", room)
    with opened(root) as home:
        insert(home, Kept(0), *(Kept(at, parent=0, root=0, attempts=("accepted",)) for at in range(1, 25)))
    keep_answers(root, range(1, 25), char * 10_000)
    report = load(root, name(0))
    bare = len(render_html({**report, "nodes": []}).encode())
    assert len(render_html(report).encode()) - bare < 2 * room
    assert len(render_markdown(report).encode()) < 2 * room
    assert ROOM == 3_000_000


@pytest.mark.slow
@pytest.mark.thorough
def test_a_run_of_a_thousand_is_one_file_of_a_few_megabytes(root: Path) -> None:
    with opened(root) as home:
        insert(home, Kept(0), *(Kept(at, parent=at // 3, root=0, attempts=("accepted",)) for at in range(1, 1_000)))
    keep_answers(root, range(1_000), "<b>word</b> " * 1_500)
    report = load(root, name(0))
    assert len(report["tree"]) == 1_000
    assert len(report["nodes"]) == record.MOST_FULL
    assert len(render_html(report).encode()) < 6_000_000
