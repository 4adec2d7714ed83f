"""The definition of acceptance checks: which files decide a command, and what names stand for."""

from __future__ import annotations

import pytest

from remit.agents.lint import matches_path
from remit.config.checks import CheckSettings, read_checks
from remit.errors import ConfigError, UsageError
from remit.runs.checks.definition import (
    AcceptanceCheck,
    check_seal,
    choose_checks,
    find_configuration,
    make_check_environment,
    read_check,
    seal_environment,
)

SETTINGS = {"tests": CheckSettings("pytest -q"), "lint": CheckSettings("ruff check", protect=("ruff.toml",))}


@pytest.mark.parametrize(
    ("command", "files"),
    [
        ("pytest -q", ("pytest.ini", ".pytest.ini", "tox.ini")),
        ("python -m pytest tests/unit", ("pytest.ini", ".pytest.ini", "tox.ini")),
        ("uv run --frozen pytest tests", ("pytest.ini", ".pytest.ini", "tox.ini")),
        ("make test", ("Makefile", "makefile", "GNUmakefile")),
        ("sh check.sh", ("/check.sh",)),
        ("./ci/check --fast", ("/ci/check",)),
        ("python3 tools/check.py src", ("/tools/check.py",)),
        ("bash -e check.sh", ("/check.sh",)),
        ("python3.12 -u check.py", ("/check.py",)),
        ("CI=1 sh check.sh", ("/check.sh",)),
        ("env CI=1 timeout 60 ./check.sh", ("/check.sh",)),
        ("true && ./a.sh; sh b.sh\nc/d.sh | tee log/all", ("/a.sh", "/b.sh", "/c/d.sh")),
        ("cd api && ./check.sh", ("**/check.sh",)),
        ("node -e 'process.exit(1)' x/y.js", ()),
        ("cat a/b.txt > c/d.txt", ()),
        ("grep -q complete report.md", ()),
        ("python -c 'print(1)'", ()),
        ("/usr/bin/true", ()),
        ("../check.sh", ()),
        ("sh 'unclosed", ("/'unclosed",)),
        ("", ()),
    ],
)
def test_the_files_that_decide_a_command(command: str, files: tuple[str, ...]) -> None:
    assert find_configuration(command) == files


def test_a_script_is_below_the_folder_of_the_check() -> None:
    """The pattern names this script only: one of the same name in another folder decides nothing."""
    assert find_configuration("sh tools/check.sh", "api") == ("/api/tools/check.sh",)
    (pattern,) = find_configuration("sh check.sh")
    assert matches_path(pattern, "check.sh")
    assert not matches_path(pattern, "samples/check.sh")
    (after_cd,) = find_configuration("cd api && ./check.sh")
    assert matches_path(after_cd, "api/check.sh")


def test_names_and_commands() -> None:
    chosen = choose_checks(["lint", "make test", "lint"], SETTINGS, may_be_commands=True)
    assert [(each.name, each.run) for each in chosen] == [("lint", "ruff check"), ("make test", "make test")]
    assert chosen[0].protect == ("ruff.toml", "/remit.toml")


def test_an_unknown_name_is_refused_with_what_is_meant() -> None:
    with pytest.raises(UsageError, match=r"the agent x names the check 'test', which isn't in remit\.toml") as caught:
        choose_checks(["test"], SETTINGS, may_be_commands=False, origin="the agent x")
    assert caught.value.hint == "did you mean 'tests'?"


@pytest.mark.parametrize("text", ["", "  ", "\n"])
def test_an_empty_check_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match="neither a name nor a command"):
        choose_checks([text], SETTINGS, may_be_commands=True)


@pytest.mark.parametrize("setting", ["when", "protect"])
@pytest.mark.parametrize("pattern", ["", " ", "/", "../src/**"])
def test_a_pattern_that_matches_nothing_is_refused(setting: str, pattern: str) -> None:
    """A check with such a `when` would never run, and so never speak against `completed`."""
    with pytest.raises(ConfigError, match="which matches no file below the root"):
        read_checks({"tests": {"run": "pytest", setting: [pattern]}})


def test_a_word_that_is_nearly_a_name_is_no_command() -> None:
    with pytest.raises(UsageError, match="the check 'test'") as caught:
        choose_checks(["test"], SETTINGS, may_be_commands=True)
    assert caught.value.hint == "did you mean 'tests'?"
    assert [each.run for each in choose_checks(["test -f x", "true"], SETTINGS, may_be_commands=True)] == [
        "test -f x", "true",
    ]  # fmt: skip


def test_too_many_checks_are_refused() -> None:
    with pytest.raises(UsageError, match="21 checks are too many"):
        choose_checks([f"echo {number}" for number in range(21)], {}, may_be_commands=True)


def test_details_say_the_same_again() -> None:
    check = AcceptanceCheck("tests", "pytest", 5, ("src/**",), "api", ("pytest.ini",), baseline=True, junit="r.xml")
    assert read_check(check.as_details()) == check
    assert AcceptanceCheck("a", "b").as_details() == {"name": "a", "run": "b"}


def test_the_environment_has_nothing_of_the_terminal_of_remit_and_of_harnesses() -> None:
    environ = {"PATH": "/bin", "TERM": "xterm", "REMIT_TICKET": "x", "CLAUDECODE": "1", "CODEX_HOME": "x"}
    assert make_check_environment(environ) == {"PATH": "/bin"}


def test_a_seal_fits_one_environment_only() -> None:
    seal = seal_environment({"PATH": "/bin"}, "0" * 32)
    assert check_seal(seal, {"PATH": "/bin", "TERM": "xterm"}) == ""
    assert "isn't the one" in check_seal(seal, {"PATH": "/usr/bin"})
    assert check_seal("", {}) == ""
    assert "/bin" not in seal
