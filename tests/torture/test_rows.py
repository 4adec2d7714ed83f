"""The table of all tortures, and the short form of those that need no strace: graphs, bombs, escapes, fuzz."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from fuzz import count
from fuzz.target import (
    TARGETS,
    SlowError,
    Target,
    draw_case,
    end_hangs,
    list_words,
    load_target,
    need_nothing,
    try_case,
)  # fmt: skip
from tests.support.paths import ROOT
from tests.support.sample_sizes import IS_WHOLE, choose
from torture import cluster_stage, everything, stage
from torture.bomb_kinds import list_bombs
from torture.bombs import NAIVE, lay_and_run
from torture.escapes import list_naive_races, list_races, run_races, try_spellings
from torture.everything import BEGIN, END, PAGE, judge, load_results, render, write_page
from torture.graphs import KINDS, is_found_out, walk_graphs, walk_randomly
from torture.leaks import FORMS, Text, find_leaks
from torture.rows import FUZZED, ROWS, Row
from torture.suites import SUITES
from torture.tally import VARIABLE

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


# --- the table --------------------------------------------------------------------------------------------------------


def test_every_row_has_its_own_name_and_a_script_that_is_there() -> None:
    assert len({row.name for row in ROWS}) == len(ROWS) >= 28
    for row in ROWS:
        assert (ROOT / row.command[0]).is_file(), row.name
        assert row.again.partition(" ")[0] in (row.command[0], "-m"), row.name
        assert row.least > 0


def test_every_target_of_the_fuzzer_is_a_row_and_a_million_cases() -> None:
    assert tuple(FUZZED) == TARGETS
    assert {row.least for row in ROWS if row.name.startswith("fuzz ")} == {1_000_000}
    assert f"FUZZERS      := {' '.join(TARGETS)}\n" in (ROOT / "Makefile").read_text(encoding="utf-8")


@pytest.mark.parametrize("file", [file for files in SUITES.values() for file in files])
def test_the_tests_that_are_a_torture_are_there(file: str) -> None:
    assert (ROOT / file).is_file()


def test_a_row_is_good_only_if_enough_was_done_and_none_was_bad() -> None:
    row = next(row for row in ROWS if row.name == "escapes")
    enough = {"done": 12_000, "bad": 0, "more": {"spellings": 200, "races": 11_800}}
    assert judge(row, enough, 0, 1).is_good
    assert not judge(row, enough | {"bad": 1}, 1, 1).is_good
    assert judge(row, None, 1, 1).trouble == "it ended with 1 and counted nothing"
    assert judge(row, enough, 1, 1).trouble == "it ended with 1"
    few = judge(row, enough | {"more": {"spellings": 200, "races": 5}}, 0, 1)
    assert few.trouble == "too few: 5 races of 10,000"
    table = render([judge(row, enough, 0, 1), few])
    assert table.endswith("1 of 2 rows are good")
    assert f"again: python {row.again}" in table


@pytest.mark.parametrize("clean", [stage.clean_environment, cluster_stage.clean_environment])
def test_a_torture_that_cleans_its_environment_still_knows_whom_to_tell(
    clean: Callable[[], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "environ", {VARIABLE: "here", "REMIT_ROOT": "/elsewhere"})
    clean()
    assert os.environ[VARIABLE] == "here"
    assert "REMIT_ROOT" not in os.environ


def test_a_row_that_is_run_again_leaves_the_others_as_they_are(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    says = "from torture.tally import tell; tell({}, 0)"
    rows = [Row(name, "counting", 1, "cases", ("-c", says.format(done)), "-") for done, name in enumerate("abc", 5)]
    monkeypatch.setattr(everything, "ROWS", rows)
    for words in ([], ["--row", "a"]):
        monkeypatch.setattr("sys.argv", ["everything.py", "--folder", str(tmp_path / "kept"), *words])
        assert everything.main() == 0
    kept = load_results(tmp_path / "kept" / "results.json")["rows"]
    assert [(each["name"], each["done"]) for each in kept] == [("a", 5), ("b", 6), ("c", 7)]
    assert capfd.readouterr().out.endswith("3 of 3 rows are good\n")


def test_the_page_shows_every_row_in_its_order() -> None:
    page = PAGE.read_text(encoding="utf-8")
    table = page.partition(BEGIN)[2].partition(END)[0].splitlines()[2:]
    assert [line.split(" | ")[:3] for line in table] == [
        [f"| {row.name}", row.what, f"{row.least:,} {row.unit}"] for row in ROWS
    ]


def test_the_table_is_put_between_its_marks(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(f"before\n{BEGIN}old\n{END}after\n")
    write_page(page, [{"name": "kills", "done": 14_552, "bad": 0, "source": "abc1234"}])
    text = page.read_text()
    assert text.startswith(f"before\n{BEGIN}| row |")
    assert text.endswith(f"{END}after\n")
    assert "| 1,500 kills | 14,552 | 0 | `abc1234` |" in text
    assert "old" not in text


# --- graphs -----------------------------------------------------------------------------------------------------------


def test_in_every_graph_three_are_admitted_and_a_fourth_or_a_circle_is_not() -> None:
    most = choose(3, 4)
    kinds, graphs, complaints = walk_graphs(most)
    assert complaints == []
    assert kinds == {size: KINDS[size] for size in range(1, most + 1)}
    assert graphs == choose(1 + 4 + 64, 1 + 4 + 64 + 4096)
    assert walk_randomly(choose(300, 3_000), 1) == []


def test_a_guard_that_forgets_circles_is_found_out() -> None:
    assert is_found_out()


# --- bombs ------------------------------------------------------------------------------------------------------------

DAILY = {
    "check: an endless device", "check: lists in lists", "claimed: a pipe", "lint: aliases of aliases",
    "lint: lists in lists by dashes", "manifest: a sparse terabyte", "settings: names of a million parts",
    "hook: lists in lists",
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.thorough
def test_bombs_are_met_in_time_and_space() -> None:
    chosen = DAILY | {"manifest: a million blank lines", "check: a line of 100 MB"} if IS_WHOLE else DAILY
    bombs = [bomb for bomb in list_bombs() if f"{bomb.subject}: {bomb.name}" in chosen]
    assert len(bombs) == len(chosen)
    assert [each for each in map(lay_and_run, bombs) if each.complaints] == []


def test_there_are_enough_bombs_and_no_two_of_one_name() -> None:
    names = [(bomb.subject, bomb.name) for bomb in list_bombs()]
    assert len(set(names)) == len(names) >= 150


def test_a_reader_that_does_not_guard_itself_is_found_out() -> None:
    bomb = next(bomb for bomb in list_bombs() if (bomb.subject, bomb.name) == ("check", "lists in lists"))
    (complaint, *_) = lay_and_run(bomb, (sys.executable, "-c", NAIVE, "bomb.md")).complaints
    assert complaint.startswith("a traceback")


# --- escapes ----------------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_no_spelling_of_a_path_leads_out(tmp_path: Path) -> None:
    trials = try_spellings(tmp_path)
    assert len(trials) >= 500
    assert [trial for trial in trials if trial.complaints] == []


@pytest.mark.slow
def test_no_swap_between_check_and_use_leads_out(tmp_path: Path) -> None:
    points = list_races(tmp_path, choose(150, 3_000))
    races = run_races(tmp_path, points)
    assert sum(race.fired for race in races) == len(set(points)) == choose(150, 3_000)
    assert [race for race in races if race.complaints] == []


@pytest.mark.slow
def test_who_looks_first_and_opens_then_is_led_out(tmp_path: Path) -> None:
    races = run_races(tmp_path, list_naive_races())
    assert {race.point.split(":")[1] for race in races if race.complaints} >= {"folder", "file"}


# --- secrets ----------------------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.thorough
def test_no_secret_that_an_agent_says_is_written_down_or_shown() -> None:
    command = [sys.executable, str(ROOT / "torture" / "leaks.py"), "--json", "--most", str(choose(3, 0))]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.stdout, done.stderr
    told = json.loads(done.stdout)
    assert told["forms"] >= choose(3, 90)
    assert told["texts"] > 16 * told["forms"]
    assert (told["leaks"], told["unseen"]) == ([], [])


def test_a_secret_is_looked_for_in_what_belongs_to_its_form() -> None:
    secret = FORMS["jwt"][1]
    texts = [Text("logs", f"it is {secret}", "jwt"), Text("show", f"it is {secret}", "rsa"), Text("git log", secret)]
    assert [leak.place for leak in find_leaks(["jwt", "rsa"], texts)] == ["logs", "git log"]


# --- fuzz -------------------------------------------------------------------------------------------------------------


@pytest.fixture
def _hangs() -> Iterator[None]:
    kept = signal.getsignal(signal.SIGPROF)
    end_hangs()
    yield
    signal.signal(signal.SIGPROF, kept)


@pytest.mark.usefixtures("_hangs")
@pytest.mark.slow
@pytest.mark.parametrize("name", TARGETS)
def test_the_laws_of_a_target_hold(name: str) -> None:
    target = load_target(name)
    seeds, words = sorted(set(target.seeds())), list_words(target)
    assert len(seeds) > 50
    with target.open() as check:
        for number in range(choose(150, 3_000)):
            data = draw_case(target, seeds, words, random.Random(f"test:{number}"))  # noqa: S311 - the same each time
            try:
                try_case(check, data)
            except Exception as error:
                error.add_note(f"case {number}: {data!r}")
                raise


@pytest.mark.usefixtures("_hangs")
def test_a_case_that_is_slow_twice_is_told() -> None:
    calls: list[bytes] = []
    with pytest.raises(SlowError, match="it took"):
        try_case(calls.append, b"x", max_seconds=0.0)
    assert calls == [b"x", b"x"]


def make_faulty() -> Target:
    """A target that raises on some cases, and takes too long on others."""

    def check(data: bytes) -> None:
        if data[:1] < b"\x20":
            raise ValueError("a small byte")
        if data[:1] > b"\xe0":
            raise SlowError("a large byte")

    return Target("faulty", (), ("x",), lambda: [bytes([each]) * 3 for each in range(256)], need_nothing(check))


@pytest.mark.usefixtures("_hangs")
def test_what_breaks_a_law_is_counted_kept_and_had_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    target = make_faulty()
    monkeypatch.setattr(count, "prepare", lambda _: (target, list(target.seeds()), list_words(target)))
    monkeypatch.setattr(count, "load_target", lambda _: target)
    told = count.count_share(count.Share("faulty", range(60), 3, tmp_path))
    assert told.raised > 0 < told.slow
    assert told.raised + told.slow == len(told.bad) == len(list(tmp_path.iterdir()))
    assert told.cases == 60
    assert count.replay("faulty", Path(told.bad[0].partition(": ")[0])) == 1
    good = tmp_path / "good"
    good.write_bytes(b"xxx")
    assert count.replay("faulty", good) == 0
    assert capsys.readouterr().out == "no law breaks\n"


def test_cases_are_the_same_for_the_same_seed_and_differ_else() -> None:
    target = load_target("tags")
    seeds, words = sorted(set(target.seeds())), list_words(target)
    draws = [[draw_case(target, seeds, words, random.Random(f"{seed}:{n}")) for n in range(50)] for seed in (1, 1, 2)]  # noqa: S311 - no secrets
    assert draws[0] == draws[1] != draws[2]
    assert all(len(data) <= target.max_bytes for data in draws[0])
