"""Ignores: what they silence, and what is said of those that silence nothing (C17)."""

import time

import pytest

from remit.agents.document import MAX_IGNORES, parse_document
from remit.agents.edits import apply_fixes
from remit.agents.lint import DIAGNOSTICS, apply_ignores
from remit.model import Diagnostic, TextSpan
from tests.support.agent_samples import CLAUDE, CLAUDE_PATH

HEAD = "---\nname: a\ntimeout: 5\n---\n\n"


def make(line: int, code: str = "AGT101") -> Diagnostic:
    return Diagnostic(code, "error", "it is wrong", "Change it.", place=TextSpan(line, 1, line, 2))


def judge(text: str, *findings: Diagnostic) -> list[tuple[str, int | None]]:
    """Code and line of what is left, and of what is said of the ignores."""
    heard = apply_ignores(findings, parse_document(CLAUDE_PATH, text).ignores)
    return [(finding.code, finding.place.line if finding.place else None) for finding in heard]


def test_without_ignores_everything_is_heard() -> None:
    assert judge(CLAUDE, make(2), make(3, "AGT102")) == [("AGT101", 2), ("AGT102", 3)]


def test_a_comment_alone_on_its_line_silences_the_next_line() -> None:
    """C17: per-line ignores."""
    text = f"{HEAD}<!-- remit: ignore[AGT101] -->\nnext\n"
    assert judge(text, make(7)) == []
    assert judge(text, make(8)) == [("AGT101", 8), ("IGN001", 6)]


def test_a_comment_behind_something_silences_its_own_line() -> None:
    text = f"{HEAD}some text <!-- remit: ignore[AGT101] -->\nnext\n"
    assert judge(text, make(6)) == []
    assert judge(text, make(7)) == [("AGT101", 7), ("IGN001", 6)]


def test_a_comment_in_the_frontmatter_is_yamls_own() -> None:
    assert judge("---\nname: a\ntimeout: 5 # remit: ignore[AGT101]\n---\n", make(3)) == []
    assert judge("---\n# remit: ignore[AGT101]\nname: a\n---\n", make(3)) == []


def test_a_whole_file_can_be_silenced_also_where_a_finding_has_no_place() -> None:
    text = f"{HEAD}<!-- remit: ignore-file[AGT101, GRF] -->\n"
    nowhere = Diagnostic("GRF004", "warning", "it is wrong", "Change it.")
    assert judge(text, make(1), make(99), nowhere) == []
    assert judge(text, make(1)) == [("IGN001", 6)]


@pytest.mark.parametrize("codes", ["AGT101", "agt101", "AGT1", "AGT", "GRF004, AGT101", "AGT101,AGT102"])
def test_codes_are_whole_or_a_beginning_in_any_case(codes: str) -> None:
    text = f"{HEAD}<!-- remit: ignore[{codes}] -->\nnext\n"
    assert ("AGT101", 7) not in judge(text, make(7))


def test_only_the_codes_that_silence_nothing_are_named() -> None:
    text = f"{HEAD}<!-- remit: ignore[AGT101, AGT102, ZZZ] -->\nnext\n"
    [told] = apply_ignores([make(7)], parse_document(CLAUDE_PATH, text).ignores)
    assert (told.code, told.message) == (
        "IGN001",
        "the ignore comment doesn't hide AGT102 and names ZZZ, which isn't a rule",
    )
    assert told.fix is None, "one of its codes is needed"


@pytest.mark.parametrize("code", ["AGT999", "NOPE1"])
def test_a_code_that_no_rule_has_is_told(code: str) -> None:
    text = f"{HEAD}<!-- remit: ignore[{code}] -->\nnext\n"
    [told] = apply_ignores([], parse_document(CLAUDE_PATH, text).ignores)
    assert told.message == f"the ignore comment names {code}, which isn't a rule"
    assert told.fix is not None


def test_a_retired_code_is_no_mistake_but_not_needed() -> None:
    text = f"{HEAD}<!-- remit: ignore[AGT153] -->\nnext\n"
    [told] = apply_ignores([], parse_document(CLAUDE_PATH, text).ignores)
    assert told.message == "the ignore comment doesn't hide AGT153"
    assert told.fix is not None


@pytest.mark.parametrize(
    ("text", "fixed"),
    [
        (f"{HEAD}<!-- remit: ignore[AGT101] -->\nnext\n", f"{HEAD}next\n"),
        (f"{HEAD}text <!-- remit: ignore[AGT101] -->\nnext\n", f"{HEAD}text \nnext\n"),
        ("---\n# remit: ignore[AGT101]\nname: a\n---\n", "---\nname: a\n---\n"),
        (f"{HEAD}<!-- remit: ignore -->\nnext\n", f"{HEAD}next\n"),
    ],
)
def test_an_ignore_that_silences_nothing_can_safely_be_removed(text: str, fixed: str) -> None:
    told = apply_ignores([], parse_document(CLAUDE_PATH, text).ignores)
    assert [finding.code for finding in told] == ["IGN001"]
    assert apply_fixes(told, text, unsafe=False).text == fixed


def test_an_ignore_without_codes_silences_all_and_is_told() -> None:
    text = f"{HEAD}<!-- remit: ignore -->\nnext\n"
    assert judge(text, make(7), make(7, "GRF001"), make(8)) == [("AGT101", 8), ("IGN002", 6)]


@pytest.mark.parametrize(
    "text",
    [
        f"{HEAD}```\n<!-- remit: ignore[AGT101] -->\n```\n",
        f"{HEAD}`<!-- remit: ignore[AGT101] -->`\n",
        f"{HEAD}# remit: ignore[AGT101]\n",
        "---\n<!-- remit: ignore[AGT101] -->\nname: a\n---\n",
        f"{HEAD}<!-- remit ignore[AGT101] -->\n",
    ],
)
def test_in_code_and_in_the_wrong_kind_of_comment_it_is_none(text: str) -> None:
    assert parse_document(CLAUDE_PATH, text).ignores == []


def test_codex_files_have_them_in_comments_of_toml() -> None:
    text = '# remit: ignore[AGT101]\nname = "a"\n'
    ignores = parse_document(".codex/agents/a.toml", text).ignores
    assert apply_ignores([make(2)], ignores) == []


def test_a_million_bytes_of_ignores_keep_nobody_busy() -> None:
    text = HEAD + "<!-- remit: ignore[A] -->\n" * 38_000
    before = time.process_time()
    ignores = parse_document(CLAUDE_PATH, text).ignores
    told = apply_ignores([make(line) for line in range(8_000)], ignores)
    assert time.process_time() - before < 2
    assert len(ignores) == MAX_IGNORES
    assert len(told) >= MAX_IGNORES


@pytest.mark.parametrize("code", sorted(DIAGNOSTICS))
def test_what_is_said_of_ignores_is_documented(code: str) -> None:
    make, severity = DIAGNOSTICS[code]
    documentation = make.__doc__ or ""
    assert severity == "warning"
    for word in ("Why: ", "Bad: ", "Good: "):
        assert word in documentation
    assert ("Fix (safe): " in documentation) == (code == "IGN001")
