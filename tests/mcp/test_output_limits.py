"""What goes out is bounded, and without secrets."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from remit.mcp.output_limits import MAX_CHARS, MAX_TOTAL_CHARS, Bounds, fit_diagnostics
from remit.model import Diagnostic
from remit.storage.secrets import MARK

SECRET = "ghp_" + "a1B2" * 9
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=50),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=20,
)


def measure(value: Any) -> int:  # noqa: ANN401 - any JSON value
    if isinstance(value, str):
        return len(value)
    if isinstance(value, dict):
        return sum(map(measure, value.values()))
    return sum(map(measure, value)) if isinstance(value, list) else 0


@given(JSON)
def test_what_is_small_stays_as_it_is(value: Any) -> None:  # noqa: ANN401 - any JSON value
    assert Bounds().fit(value) == value


@given(JSON, st.integers(0, 100))
def test_an_answer_has_at_most_so_many_characters(value: Any, total: int) -> None:  # noqa: ANN401 - any JSON value
    nodes = 100  # each text that is cut ends in a mark of its own
    assert measure(Bounds(total).fit([value] * 5)) <= total + nodes


def test_large_things_are_cut() -> None:
    fitted = Bounds().fit({"text": "x" * 10**6, "list": [*range(10**4)], "words": ["w"] * 1000, "deep": nest(50)})
    assert len(fitted["text"]) == MAX_CHARS + 1
    assert len(fitted["list"]) == 200
    assert fitted["words"][-1] == "…"
    assert len(str(fitted["deep"])) < 200
    assert measure(Bounds().fit([{"text": "x" * 5000}] * 1000)) <= MAX_TOTAL_CHARS + 1000


def nest(depth: int) -> Any:  # noqa: ANN401 - any JSON value
    value: Any = "inside"
    for _ in range(depth):
        value = {"a": [value]}
    return value


def test_no_secret_goes_out() -> None:
    fitted = str(Bounds().fit({"a": [f"see {SECRET}"], SECRET: "b", "long": "x" * (MAX_CHARS - 10) + SECRET}))
    assert SECRET[:12] not in fitted
    assert MARK in fitted


def test_findings_come_with_the_gravest_first() -> None:
    found = [Diagnostic(f"N{each}", "note", "n", "") for each in range(150)] + [Diagnostic("E1", "error", SECRET, "")]
    told = fit_diagnostics([(each, "a.md") for each in found])
    assert told["diagnostics"][0]["code"] == "E1"
    assert SECRET not in told["diagnostics"][0]["message"]
    assert (len(told["diagnostics"]), told["more_diagnostics"]) == (100, 51)
    assert "more_diagnostics" not in fit_diagnostics([])
