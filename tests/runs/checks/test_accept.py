"""Acceptance checks on a tree: what each answer means, what is cached, and what makes checks prove less."""

from __future__ import annotations

import asyncio
import os
import subprocess
import time
from contextlib import contextmanager, nullcontext
from typing import TYPE_CHECKING, Any, Literal

import pytest

from remit.attempts.folders import find_folder
from remit.attempts.results import load_result
from remit.evidence.take_tree import scan_again, take_tree
from remit.evidence.tree_comparison import compare
from remit.ledger.check_results import find_result
from remit.ledger.home import Home
from remit.runs.checks.accept import CheckedTree, CheckRound, make_key
from remit.runs.checks.definition import AcceptanceCheck, make_check_environment
from remit.runs.checks.execute import CheckPlace
from remit.runs.checks.weakened import find_weakening

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from remit.evidence.tree import WorkTree
    from remit.result import CheckResult

JUNIT = "printf '<testsuites><testsuite>%s</testsuite></testsuites>' '{}' > report.xml"


class Project:
    """A git repository with a tree before and after the work."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.home = Home(str(root))
        subprocess.run(["git", "init", "-q", str(root)], check=True)
        self.write("src/app.py", "x = 1\n")
        self.write("tests/test_app.py", "def test(): pass\n")
        self.write(".gitignore", "report.xml\n")
        self.before: WorkTree = take_tree(self.home, str(root))
        self.rounds = 0

    def write(self, path: str, text: str) -> None:
        """Write a file, with its folder."""
        (self.root / path).parent.mkdir(parents=True, exist_ok=True)
        (self.root / path).write_text(text)

    def check(self, *checks: AcceptanceCheck, **options: Any) -> CheckedTree:  # noqa: ANN401 - those of a round
        """Run checks on the tree as it is now, as a run of its own."""
        self.rounds += 1
        after = scan_again(self.before)
        place = CheckPlace(
            self.home, f"sess_{self.rounds}", str(self.root), make_check_environment(os.environ),
            options.pop("is_cancelled", bool), contain="subreaper",
        )  # fmt: skip
        round_ = CheckRound(
            place, attempt=1, after=after, before=self.before, comparison=compare(self.before, after), **options
        )
        return asyncio.run(round_.run(checks))

    def answer(self, command: str, **fields: Any) -> CheckResult:  # noqa: ANN401 - those of a check
        """The answer of one check."""
        return self.check(AcceptanceCheck("tests", command, **fields)).results[0]


@pytest.fixture
def project(tmp_path: Path) -> Iterator[Project]:
    made = Project(tmp_path)
    yield made
    made.home.close()


@pytest.mark.parametrize(
    ("command", "answer", "reason"),
    [
        ("true", "passed", ""),
        ("exit 3", "failed", "exit code 3"),
        ("no-such-program-anywhere", "not run", "a program isn't installed (exit code 127)"),
        ("./src/app.py", "not run", "a program can't be executed (exit code 126)"),
        ("kill -9 $$", "not run", "ended by SIGKILL"),
        ("kill -SEGV $$", "failed", "ended by SIGSEGV"),
        ("yes | head -c 30000000; exit 1", "failed", "exit code 1"),
    ],
)
def test_each_end_of_a_command_has_one_answer(project: Project, command: str, answer: str, reason: str) -> None:
    result = project.answer(command)
    assert (result.answer, result.reason) == (answer, reason)


def test_a_check_that_hangs_is_not_run_and_leaves_no_process(project: Project) -> None:
    result = project.answer("(setsid sleep 987654 &) ; sleep 987654", timeout_s=0.5)
    assert (result.answer, result.reason) == ("not run", "it didn't finish within 0.5 s")
    processes = subprocess.run(["ps", "-eo", "args"], capture_output=True, text=True, check=True).stdout
    assert "sleep 987654" not in processes


def test_the_last_lines_of_a_flood_are_kept(project: Project) -> None:
    result = project.answer("seq 1 2000000; echo the last line >&2; exit 1")
    assert result.output.endswith("2000000\nthe last line")
    assert len(result.output) <= 3000


def test_secrets_in_the_output_are_redacted(project: Project) -> None:
    result = project.answer("echo AWS_SECRET_ACCESS_KEY=wJalrXUtnFEMIK7MDENGbPxRfiCYEXAMPLEKEY; exit 1")
    assert "wJalrXUtnFEMI" not in result.output
    assert "redacted" in result.output


def test_a_missing_folder_is_not_run(project: Project) -> None:
    assert project.answer("true", cwd="nowhere").reason == "the folder 'nowhere' doesn't exist"
    assert project.answer("test -f app.py", cwd="src").answer == "passed"


def test_cancelling_ends_a_check(project: Project) -> None:
    began = time.monotonic()
    found = project.check(AcceptanceCheck("slow", "sleep 60"), is_cancelled=lambda: time.monotonic() > began + 0.5)
    assert found.results[0].reason == "it was cancelled"
    assert time.monotonic() - began < 30


# --- the cache -------------------------------------------------------------------------------------------------------


def count_runs(project: Project) -> int:
    """How often the check in `counted` ran."""
    file = project.root / "report.xml"
    return len(file.read_text().splitlines()) if file.exists() else 0


COUNTED = "echo run >> report.xml"  # a file that git ignores


def test_a_check_that_passed_does_not_run_again_on_the_same_tree(project: Project) -> None:
    first, second = project.answer(COUNTED), project.answer(COUNTED)
    assert (first.is_cached, second.is_cached, second.answer) == (False, True, "passed")
    assert count_runs(project) == 1


@pytest.mark.parametrize("change", ["tree", "command", "environment"])
def test_another_tree_command_or_environment_runs_it_again(
    project: Project, change: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    project.answer(COUNTED)
    command = COUNTED
    if change == "tree":
        project.write("src/app.py", "x = 2\n")
    elif change == "command":
        command = f"{COUNTED} ;"
    else:
        monkeypatch.setenv("FEATURE", "on")
    assert not project.answer(command).is_cached
    assert count_runs(project) == 2


def test_a_failed_check_runs_again_on_the_same_tree(project: Project) -> None:
    command = f"{COUNTED}; exit 1"
    project.answer(command)
    project.answer(command)
    assert count_runs(project) == 4  # each is repeated once, in case it is flaky


def test_a_check_that_changes_the_tree_is_not_cached_and_its_files_are_named(project: Project) -> None:
    check = AcceptanceCheck("build", "echo made > made.txt")
    found = project.check(check)
    assert found.made == {"made.txt"}
    (project.root / "made.txt").unlink()
    assert not project.check(check).results[0].is_cached


def test_a_cached_check_takes_less_than_50_ms(project: Project) -> None:
    project.answer("true")
    place_seconds = []
    after = scan_again(project.before)
    place = CheckPlace(project.home, "sess_t", str(project.root), make_check_environment(os.environ), bool)
    for _ in range(5):
        began = time.perf_counter()
        round_ = CheckRound(place, attempt=1, after=after, before=project.before)
        result = asyncio.run(round_.run([AcceptanceCheck("tests", "true")])).results[0]
        place_seconds.append(time.perf_counter() - began)
        assert result.is_cached
    assert min(place_seconds) < 0.05


# --- before the run --------------------------------------------------------------------------------------------------


def test_what_failed_before_the_run_is_known_from_the_cache(project: Project) -> None:
    check = AcceptanceCheck("tests", "exit 1")
    assert project.check(check).results[0].before == "unknown"  # the first time: on the tree before the run
    project.write("src/app.py", "x = 2\n")
    found = project.check(check)
    assert found.results[0].before == "failed"
    assert not found.is_correctable
    assert "it failed before the run, too" in found.diagnostics[0].message


def test_a_baseline_runs_the_check_on_the_tree_before(
    project: Project, tmp_path_factory: pytest.TempPathFactory
) -> None:
    clean = tmp_path_factory.mktemp("clean")
    (clean / "ok").touch()
    check = AcceptanceCheck("tests", "test -f ok", baseline=True)
    found = project.check(check, baseline=lambda: nullcontext(str(clean)))
    assert found.results[0].before == "passed"
    assert found.is_correctable


def test_a_flaky_check_passes_and_says_so(project: Project) -> None:
    result = project.check(AcceptanceCheck("tests", "test -f report.xml || { touch report.xml; exit 1; }"))
    assert (result.results[0].answer, result.results[0].is_flaky) == ("passed", True)
    assert [each.code for each in result.diagnostics] == ["CHK003"]
    assert result.is_passed


@pytest.mark.parametrize("change", ["touch formatted", "echo 'x = 2' > src/app.py"])
def test_a_check_that_passes_after_it_repaired_the_tree_has_failed(project: Project, change: str) -> None:
    """As a formatter does: the agent's tree isn't the one that passes, and a worktree is committed without the repair."""
    command = f"test -f .git/repaired || {{ touch .git/repaired; {change}; exit 1; }}"
    result = project.check(AcceptanceCheck("format", command))
    assert (result.results[0].answer, result.results[0].is_flaky) == ("failed", False)
    assert result.results[0].reason == "exit code 1, after it changed files"


def test_a_baseline_that_a_dead_supervisor_started_is_waited_for(
    project: Project, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Its worktree is in use: it is removed only after the check, and the check doesn't run again."""
    clean = tmp_path_factory.mktemp("clean")
    ran, checkouts = clean / "ran", []
    check = AcceptanceCheck("tests", f"test -f ok || exit 1; echo x >> {ran}; sleep 1; test -f ok", baseline=True)
    (clean / "ok").touch()
    place = CheckPlace(project.home, "sess_base", str(project.root), make_check_environment(os.environ), bool)

    @contextmanager
    def check_out() -> Iterator[str]:
        checkouts.append(ran.exists() and load_result(find_folder(project.home, "sess_base", 1003)) is not None)
        yield str(clean)

    async def run() -> CheckedTree:
        after = scan_again(project.before)
        return await CheckRound(place, attempt=1, after=after, baseline=check_out).run([check])

    async def run_until_killed() -> None:
        task = asyncio.ensure_future(run())
        while not ran.exists():  # noqa: ASYNC110 - another process makes it
            await asyncio.sleep(0.02)
        task.cancel()
        await asyncio.wait({task})

    asyncio.run(run_until_killed())
    assert asyncio.run(run()).results[0].before == "passed"
    assert checkouts == [False, True]
    assert ran.read_text() == "x\n"


# --- when a check is needed ------------------------------------------------------------------------------------------


def test_a_check_runs_only_if_its_files_changed(project: Project) -> None:
    project.write("docs/a.md", "text\n")
    found = project.check(AcceptanceCheck("tests", "exit 1", when=("src/**",)))
    assert found.results[0].reason == "no file that src/** matches has changed"
    assert found.is_passed
    project.write("src/app.py", "x = 2\n")
    assert not project.check(AcceptanceCheck("tests", "exit 1", when=("src/**",))).is_passed


def test_nothing_is_checked_while_another_agent_changes_the_tree(project: Project) -> None:
    found = project.check(AcceptanceCheck("tests", "true"), find_writer=lambda: "builder (sess_2)")
    assert found.results[0].answer == "not run"
    assert "builder (sess_2) is changing the tree" in found.results[0].reason
    assert not found.is_passed


def test_an_agent_that_begins_during_a_check_makes_it_worthless(project: Project) -> None:
    writers = iter(["", "builder (sess_2)"])
    found = project.check(AcceptanceCheck("tests", COUNTED), find_writer=lambda: next(writers))
    assert count_runs(project) == 1
    assert found.results[0].answer == "not run"
    assert not project.answer(COUNTED).is_cached


def test_a_cancelled_run_starts_no_check(project: Project) -> None:
    found = project.check(AcceptanceCheck("tests", COUNTED), is_cancelled=lambda: True)
    assert (found.results[0].reason, count_runs(project)) == ("it was cancelled", 0)


# --- weakened checks -------------------------------------------------------------------------------------------------


def list_codes(found: CheckedTree) -> list[str]:
    return [each.code for each in found.diagnostics]


@pytest.mark.parametrize(("weakened", "passes"), [("warn", True), ("partial", False)])
def test_deleted_tests_are_reported(project: Project, *, weakened: Literal["warn", "partial"], passes: bool) -> None:
    (project.root / "tests/test_app.py").unlink()
    found = project.check(AcceptanceCheck("tests", "true", weakened=weakened))
    assert list_codes(found) == ["CHK004"]
    assert found.is_passed == passes


def test_a_moved_test_is_not_a_deleted_one(project: Project) -> None:
    (project.root / "tests/test_app.py").unlink()
    project.write("tests/unit/test_app.py", "def test(): pass\n")
    assert list_codes(project.check(AcceptanceCheck("tests", "true"))) == []


def test_a_change_of_what_decides_the_check_lowers_the_result(project: Project) -> None:
    project.write("pytest.ini", "[pytest]\naddopts = --ignore=tests/test_app.py\n")
    found = project.check(AcceptanceCheck("tests", "true", protect=("pytest.ini",)))
    assert list_codes(found) == ["CHK005"]
    assert found.is_weakened
    assert not found.is_passed


def test_a_change_of_what_decides_the_check_is_seen_beside_a_part_that_cannot_be_compared(project: Project) -> None:
    project.write("pytest.ini", "[pytest]\n")
    comparison = compare(project.before, scan_again(project.before))._replace(unclear={"nested/": "it is gone"})
    found = find_weakening([AcceptanceCheck("tests", "true", protect=("pytest.ini",))], comparison, {}, {})
    assert [each.code for each in found.diagnostics] == ["CHK005"]
    assert found.is_lowering


CASES: tuple[tuple[str, str, list[str]], ...] = (
    ("<testcase/><testcase/>", "<testcase/>", ["CHK006"]),
    ("<testcase/><testcase/>", "<testcase/><testcase><skipped/></testcase>", ["CHK006", "CHK007"]),
    ("<testcase/>", "<testcase/><testcase><skipped/></testcase>", ["CHK007"]),
    ("<testcase/>", "<testcase/><testcase/>", []),
)


@pytest.mark.parametrize(("before", "after", "codes"), CASES)
def test_the_numbers_of_tests_are_compared(project: Project, before: str, after: str, codes: list[str]) -> None:
    project.write("suite.xml", f"<testsuites><testsuite>{before}</testsuite></testsuites>")
    project.before = take_tree(project.home, str(project.root))
    check = AcceptanceCheck("tests", "cp suite.xml report.xml", junit="report.xml")
    assert list_codes(project.check(check)) == []
    project.write("suite.xml", f"<testsuites><testsuite>{after}</testsuite></testsuites>")
    assert list_codes(project.check(check)) == codes


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "isn't XML"),
        ("not xml", "isn't XML"),
        ('<!DOCTYPE x [<!ENTITY a "aaaa">]><x>&a;</x>', "declares a document type"),
    ],
)
def test_a_report_that_cannot_be_read_is_a_note(project: Project, text: str, reason: str) -> None:
    project.write("suite.xml", text)
    check = AcceptanceCheck("tests", "cp suite.xml report.xml", junit="report.xml")
    found = project.check(check)
    assert list_codes(found) == ["CHK008"]
    assert reason in found.diagnostics[0].message
    assert found.is_passed


def test_a_known_result_without_a_report_has_no_second_note(project: Project) -> None:
    check = AcceptanceCheck("tests", "true", junit="report.xml")
    assert list_codes(project.check(check)) == ["CHK008"]
    again = project.check(check)
    assert (again.results[0].is_cached, list_codes(again)) == (True, [])


def test_a_check_that_no_longer_writes_its_report_proves_no_test(project: Project) -> None:
    project.write("suite.xml", "<testsuites><testcase/></testsuites>")
    project.before = take_tree(project.home, str(project.root))
    check = AcceptanceCheck(
        "tests", "rm -f report.xml; cp suite.xml report.xml || true", junit="report.xml", weakened="partial"
    )
    assert project.check(check).is_passed
    (project.root / "suite.xml").unlink()
    found = project.check(check)
    assert list_codes(found) == ["CHK008", "CHK006"]
    assert not found.is_passed


def test_an_old_report_does_not_count(project: Project) -> None:
    project.write("report.xml", "<testsuites><testcase/></testsuites>")
    os.utime(project.root / "report.xml", (1, 1))
    found = project.check(AcceptanceCheck("tests", "true", junit="report.xml"))
    assert "wasn't written by this run of the check" in found.diagnostics[0].message


# --- two at once -----------------------------------------------------------------------------------------------------


def test_two_checks_of_one_tree_run_one_after_the_other(project: Project) -> None:
    command = "mkdir report.xml && sleep 0.3 && rmdir report.xml"  # fails if another one is inside
    after = scan_again(project.before)

    async def run_both() -> list[CheckedTree]:
        rounds = [
            CheckRound(
                CheckPlace(
                    project.home, f"sess_both_{name}", str(project.root), make_check_environment(os.environ), bool
                ),
                attempt=1, after=after,
            )
            for name in "ab"
        ]  # fmt: skip
        return await asyncio.gather(
            *(round_.run([AcceptanceCheck(f"tests-{at}", f"{command} # {at}")]) for at, round_ in enumerate(rounds))
        )

    assert [each.results[0].answer for each in asyncio.run(run_both())] == ["passed", "passed"]


def test_an_execution_is_found_again_after_its_supervisor_died(project: Project) -> None:
    """The same folder is read again: the command runs once."""
    after = scan_again(project.before)
    place = CheckPlace(project.home, "sess_again", str(project.root), make_check_environment(os.environ), bool)
    checks = [AcceptanceCheck("tests", f"{COUNTED}; exit 1")]

    def run() -> CheckedTree:
        return asyncio.run(CheckRound(place, attempt=2, after=after).run(checks))

    first, second = run(), run()
    assert first.results == second.results
    assert count_runs(project) == 2  # once, and once repeated; not again for the second supervisor


@pytest.mark.parametrize("command", ["true", "false"])
def test_a_result_from_before_a_crash_says_nothing_about_the_tree_of_today(project: Project, command: str) -> None:
    """The user has edited files since: the answer counts for the run, but isn't kept for the tree with the edits."""
    place = CheckPlace(project.home, "sess_edit", str(project.root), make_check_environment(os.environ), bool)

    def run() -> CheckedTree:
        round_ = CheckRound(place, attempt=1, after=scan_again(project.before))
        return asyncio.run(round_.run([AcceptanceCheck("tests", command)]))

    first = run()
    project.write("src/app.py", "broken\n")
    second = run()
    assert [each.answer for each in second.results] == [each.answer for each in first.results]
    key = make_key(AcceptanceCheck("tests", command), scan_again(project.before), place)
    assert key
    assert find_result(project.home.ledger, key) is None


def test_another_environment_than_that_of_admission_takes_what_has_run(project: Project) -> None:
    """A supervisor in another shell takes over: it starts nothing, but reads the results that are there."""
    place = CheckPlace(project.home, "sess_shell", str(project.root), make_check_environment(os.environ), bool)
    checks = [AcceptanceCheck("tests", f"{COUNTED}; exit 1"), AcceptanceCheck("lint", f"{COUNTED}; true")]

    def run(count: int, refusal: str) -> list[tuple[str, str]]:
        round_ = CheckRound(place, attempt=1, after=scan_again(project.before), refusal=refusal, uses_cache=False)
        return [(each.answer, each.reason) for each in asyncio.run(round_.run(checks[:count])).results]

    run(1, "")
    assert run(2, "another environment") == [("failed", "exit code 1"), ("not run", "another environment")]
    assert count_runs(project) == 2
