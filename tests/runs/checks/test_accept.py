"""Acceptance checks on a tree: what each answer means, what is cached, and what makes checks prove less."""

from __future__ import annotations

import asyncio
import os
import subprocess
import time
from contextlib import nullcontext
from typing import TYPE_CHECKING, Any, Literal

import pytest

from remit.evidence.take_tree import scan_again, take_tree
from remit.evidence.tree_comparison import compare
from remit.ledger.home import Home
from remit.runs.checks.accept import CheckedTree, CheckRound
from remit.runs.checks.definition import AcceptanceCheck, make_check_environment
from remit.runs.checks.execute import CheckPlace

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
