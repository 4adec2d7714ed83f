"""Baselines: they only shrink, and a finding stays known while its line is the same (C17)."""

import json

import pytest

from remit.agents.baseline import count_known, fingerprint, make_baseline, parse_baseline, render_baseline, subtract
from remit.errors import ConfigError
from remit.model import Diagnostic, TextSpan

TEXT = ["name: a", "timeout: 5", "timeout: 5", "mode: x"]


def make(line: int, code: str = "AGT101", pointer: str = "") -> Diagnostic:
    return Diagnostic(code, "error", "it is wrong", "Change it.", pointer, TextSpan(line, 1, line, 2))


def load(path: str) -> list[str]:
    assert path == "a.md", "only files with findings are read"
    return TEXT


STOCK = make_baseline({"a.md": (make(1), make(2)), "b.md": ()}, load)


def test_what_is_known_is_not_new() -> None:
    new, rest = subtract({"a.md": (make(1), make(2))}, STOCK, load)
    assert new == {"a.md": ()}
    assert rest == STOCK
    assert count_known(STOCK) == 2


def test_a_finding_stays_known_when_lines_above_it_come_and_go() -> None:
    moved = ["# new", "", *TEXT]
    new, rest = subtract({"a.md": (make(3), make(4))}, STOCK, lambda _: moved)
    assert (new, rest) == ({"a.md": ()}, STOCK)


def test_a_finding_on_a_line_that_changed_is_new() -> None:
    changed = ["name: b", *TEXT[1:]]
    new, rest = subtract({"a.md": (make(1), make(2))}, STOCK, lambda _: changed)
    assert new == {"a.md": (make(1),)}
    assert count_known(rest) == 1


def test_a_second_finding_of_the_same_kind_is_new() -> None:
    new, rest = subtract({"a.md": (make(2), make(3))}, STOCK, load)
    assert new == {"a.md": (make(3),)}
    assert count_known(rest) == 1, "what is gone is gone"


def test_another_code_or_another_value_on_the_same_line_is_new() -> None:
    new, _ = subtract({"a.md": (make(1, "AGT102"), make(1, pointer="/name"))}, STOCK, load)
    assert len(new["a.md"]) == 2


def test_it_only_shrinks() -> None:
    """What is gone and comes back is new: the baseline has forgotten it."""
    _, rest = subtract({"a.md": (make(1),)}, STOCK, load)
    assert count_known(rest) == 1
    new, again = subtract({"a.md": (make(1), make(2), make(4))}, rest, load)
    assert new == {"a.md": (make(2), make(4))}
    assert again == rest


def test_files_that_were_not_looked_at_keep_theirs_and_clean_ones_go() -> None:
    stock = {**STOCK, "b.md": {"AGT101:000000000000": 2}}
    _, rest = subtract({"a.md": (make(1), make(2))}, stock, load)
    assert rest == stock
    _, rest = subtract({"b.md": ()}, stock, load)
    assert rest == STOCK


def test_codes_that_were_not_asked_for_keep_theirs() -> None:
    stock = make_baseline({"a.md": (make(1), make(1, "GRF001"))}, load)
    new, rest = subtract({"a.md": ()}, stock, load, is_asked=lambda _, code: code.startswith("GRF"))
    assert new == {"a.md": ()}
    assert [name[:6] for name in rest["a.md"]] == ["AGT101"]


def test_a_finding_without_a_place_or_behind_the_end_is_known_by_its_code() -> None:
    nowhere = Diagnostic("GRF004", "warning", "it is wrong", "Change it.")
    assert fingerprint(nowhere, TEXT) == fingerprint(nowhere, [])
    assert fingerprint(make(99), TEXT).startswith("AGT101:")


def test_a_line_that_is_no_unicode_has_a_fingerprint() -> None:
    assert fingerprint(make(1), ["\udcff"]) != fingerprint(make(1), ["\udcfe"])


# The file


def test_the_file_is_sorted_and_comes_back_as_it_was() -> None:
    stock = {"b.md": {"B:1": 1, "A:1": 2}, "a.md": {"A:1": 1}, "c.md": {}}
    text = render_baseline(stock)
    assert text.index('"a.md"') < text.index('"b.md"')
    assert text.index('"A:1": 2') < text.index('"B:1"')
    assert text.endswith("\n")
    assert parse_baseline(text, "x") == {"a.md": {"A:1": 1}, "b.md": {"A:1": 2, "B:1": 1}}
    assert render_baseline(parse_baseline(text, "x")) == text


@pytest.mark.parametrize(
    "text",
    [
        "",
        "nonsense",
        "[]",
        "null",
        "{}",
        '{"remit_baseline": 1}',
        '{"remit_baseline": 2, "files": {}}',
        '{"remit_baseline": 1, "files": []}',
        '{"remit_baseline": 1, "files": {"a": 3}}',
        '{"remit_baseline": 1, "files": {"a": {"x": "y"}}}',
        '{"remit_baseline": 1, "files": {"a": {"x": true}}}',
        '{"remit_baseline": 1, "files": {"a": {"x": -1}}}',
        "[" * 100_000,
        json.dumps({"remit_baseline": 1, "files": {"a": [1]}}),
    ],
)
def test_what_is_no_baseline_is_told_and_not_taken_for_an_empty_one(text: str) -> None:
    with pytest.raises(ConfigError, match=r"known\.json isn't a baseline") as caught:
        parse_baseline(text, "known.json")
    assert "--baseline" in caught.value.hint
