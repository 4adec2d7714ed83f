"""Linting: a file by itself, all of them together, and what somebody chose not to hear (C17)."""

from collections.abc import Mapping

import pytest

from remit.agents.document import parse_document
from remit.agents.lint import (
    CheckedFile,
    CodeSelection,
    check_document,
    lint,
    matches_path,
    select_diagnostics,
    sort_diagnostics,
)
from remit.model import Diagnostic, Severity, TextSpan
from tests.support.agent_graphs import WORKSPACES
from tests.support.agent_samples import CLAUDE, CLAUDE_PATH, CODEX, CODEX_PATH


def make(code: str, line: int = 1, column: int = 1) -> Diagnostic:
    return Diagnostic(code, "error", "it is wrong", "Change it.", place=TextSpan(line, column, line, column + 1))


def check(files: Mapping[str, str]) -> list[CheckedFile]:
    return [check_document(parse_document(path, text)) for path, text in files.items()]


def select(code: str, **choice: tuple[str, ...]) -> bool:
    return bool(select_diagnostics([make(code)], "a.md", CodeSelection(**choice)))  # type: ignore[arg-type] # codes only


# Which codes


@pytest.mark.parametrize(
    ("chosen", "ignored", "is_heard"),
    [
        (("ALL",), (), True),
        (("AGT",), (), True),
        (("AGT1",), (), True),
        (("AGT122",), (), True),
        (("GRF",), (), False),
        ((), (), False),
        (("ALL",), ("AGT122",), False),
        (("ALL",), ("AGT",), False),
        (("ALL",), ("ALL",), False),
        (("AGT",), ("ALL",), True),
        (("AGT1",), ("AGT",), True),
        (("AGT",), ("AGT1",), False),
        (("AGT122",), ("AGT1",), True),
        (("AGT122",), ("AGT122",), False),
        (("AGT", "GRF"), ("AGT13",), True),
    ],
)
def test_the_longest_beginning_decides_and_of_two_alike_the_ignore(
    chosen: tuple[str, ...], ignored: tuple[str, ...], *, is_heard: bool
) -> None:
    assert select("AGT122", select=chosen, ignore=ignored) is is_heard


def test_codes_can_be_unwanted_in_some_files() -> None:
    choice = CodeSelection(per_file={"docs/**": ("AGT",), "*.toml": ("ALL",)})
    assert select_diagnostics([make("AGT001"), make("GRF001")], "docs/a.md", choice) == [make("GRF001")]
    assert select_diagnostics([make("AGT001"), make("GRF001")], "x/a.toml", choice) == []
    assert len(select_diagnostics([make("AGT001"), make("GRF001")], "a.md", choice)) == 2


def test_codes_can_have_another_severity_and_the_longest_beginning_decides() -> None:
    given: dict[str, Severity] = {"AGT": "note", "AGT001": "warning"}
    heard = select_diagnostics(
        [make("AGT001"), make("AGT002"), make("GRF001")], "a.md", CodeSelection(severities=given)
    )
    assert [finding.severity for finding in heard] == ["warning", "note", "error"]


@pytest.mark.parametrize(
    ("pattern", "path", "is_meant"),
    [
        ("a.md", "a.md", True),
        ("a.md", "x/y/a.md", True),
        ("*.md", "x/y/a.md", True),
        ("vendor", "vendor/agents/a.md", True),
        ("vendor/", "x/vendor/agents/a.md", True),
        ("vendor", "vendored/a.md", False),
        ("docs/**", "docs/x/a.md", True),
        ("docs/**", "x/docs/a.md", False),
        ("docs/*", "docs/a.md", True),
        ("docs/x", "docs/x/y/a.md", True),
        ("./docs/x", "docs/x/a.md", True),
        ("/docs", "docs/a.md", True),
        ("/docs", "x/docs/a.md", False),
        ("**/old/*.md", "x/y/old/a.md", True),
        ("**/old/*.md", "old/a.md", True),
        ("**/old/**", "x/old/y/a.md", True),
        ("**", "x/a.md", True),
        ("", "a.md", False),
        ("A.md", "a.md", False),
        ("[ab].md", "b.md", True),
        ("/outside/**", "/outside/a.md", True),
        ("a/*/c.md", "a/b/c.md", True),
        ("a/*/c.md", "a/x/y/c.md", False),
        ("a/**/c.md", "a/c.md", True),
        ("a/**/c.md", "a/x/y/c.md", True),
        ("*.{md,toml}", "x/a.toml", True),
        ("*a" * 3000, "a" * 4000, False),
    ],
)
def test_a_pattern_means_a_file_or_a_folder_above_it(pattern: str, path: str, *, is_meant: bool) -> None:
    assert matches_path(pattern, path) is is_meant


# All together


def test_findings_on_the_graph_stand_with_those_of_their_file_in_the_order_of_the_text() -> None:
    found, graph = lint(check(WORKSPACES["GRF001"].bad), CodeSelection())
    assert graph.cycles
    codes = [finding.code for finding in found["agents/a.md"]]
    assert "GRF001" in codes
    assert {code[:3] for code in codes} == {"AGT", "GRF"}
    assert list(found["agents/a.md"]) == sort_diagnostics(found["agents/a.md"])


def test_a_file_without_findings_is_in_the_result_too() -> None:
    found, _ = lint([CheckedFile("a.md", ())], CodeSelection())
    assert found == {"a.md": ()}


def test_every_profile_is_linted_by_its_own_rules() -> None:
    found, graph = lint(check({CLAUDE_PATH: CLAUDE, CODEX_PATH: CODEX}), CodeSelection())
    assert found == {CLAUDE_PATH: (), CODEX_PATH: ()}
    assert list(graph.agents) == ["code-reviewer"]


def ignore_first_target(code: str) -> dict[str, str]:
    files = dict(WORKSPACES["GRF001"].bad)
    files["agents/a.md"] = files["agents/a.md"].replace("    - b", f"    - b # remit: ignore[{code}]")
    return files


def test_a_finding_on_the_graph_can_be_ignored_where_it_stands() -> None:
    found, _ = lint(check(ignore_first_target("GRF001")), CodeSelection(select=("GRF", "IGN")))
    assert found["agents/a.md"] == ()


def test_whether_an_ignore_is_needed_does_not_depend_on_what_is_selected() -> None:
    """Linting for one rule must not call the ignores of all others unused, let alone remove them."""
    files = ignore_first_target("GRF001")
    assert lint(check(files), CodeSelection(select=("IGN",)))[0]["agents/a.md"] == ()
    assert lint(check(files), CodeSelection(ignore=("GRF001",), select=("IGN",)))[0]["agents/a.md"] == ()


def test_what_is_said_of_ignores_can_be_chosen_like_everything_else() -> None:
    files = check(ignore_first_target("GRF008"))

    def codes(choice: CodeSelection) -> list[tuple[str, str]]:
        return [(each.code, each.severity) for each in lint(files, choice)[0]["agents/a.md"] if each.code == "IGN001"]

    assert codes(CodeSelection()) == [("IGN001", "warning")]
    assert codes(CodeSelection(ignore=("IGN001",))) == []
    assert codes(CodeSelection(per_file={"agents/*": ("IGN",)})) == []
    assert codes(CodeSelection(severities={"IGN001": "error"})) == [("IGN001", "error")]


def test_findings_without_a_place_come_first() -> None:
    nowhere = Diagnostic("AGT001", "error", "it is wrong", "Change it.")
    assert sort_diagnostics([make("B", 2), make("A", 2), make("C", 1, 9), nowhere]) == [
        nowhere, make("C", 1, 9), make("A", 2), make("B", 2),
    ]  # fmt: skip
