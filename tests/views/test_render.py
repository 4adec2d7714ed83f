"""Findings, verdicts and errors as text for machines, and the table of exit codes."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from inline_snapshot import snapshot

from remit.errors import BusyError, ConfigError, InputError, RemitError, UsageError
from remit.model import Diagnostic, Fix, Severity, TextEdit, TextSpan, VerdictName
from remit.runs import check_message
from remit.terminal import Paint, is_visible
from remit.views import render
from remit.views.json_builders import build_checked_message, build_diagnostic, build_error
from tests.support.message_files import ESCAPING, GOOD, REPAIRED, UNSURE

PLAIN = Paint(on=False)


def make_finding(
    message: str = "the status is not known",
    *,
    severity: Severity = "error",
    pointer: str = "/status",
    place: TextSpan | None = None,
) -> Diagnostic:
    """A finding about a status."""
    return Diagnostic("RET022", severity, message, "Use one of: completed, failed.", pointer, place)


def refuse_constant(name: str) -> None:
    """NaN and the infinities are not JSON."""
    raise AssertionError(name)


# JSON


def test_a_finding_has_this_shape() -> None:
    assert build_diagnostic(make_finding(place=TextSpan(2, 13, 3, 4)), "a.md") == {
        "code": "RET022",
        "severity": "error",
        "message": "the status is not known",
        "hint": "Use one of: completed, failed.",
        "pointer": "/status",
        "filename": "a.md",
        "location": {"row": 2, "column": 13},
        "end_location": {"row": 3, "column": 4},
        "fix": None,
    }


def test_a_fix_has_this_shape() -> None:
    """The field names are those of other linters, so that their readers can read ours."""
    edits = (TextEdit(4, 6, "new", TextSpan(2, 1, 2, 3)), TextEdit(9, 9, "more"))
    shaped = build_diagnostic(make_finding()._replace(fix=Fix("unsafe", "Write it anew.", edits)), "a.md")
    assert shaped["fix"] == {
        "applicability": "unsafe",
        "message": "Write it anew.",
        "edits": [
            {"content": "new", "location": {"row": 2, "column": 1}, "end_location": {"row": 2, "column": 3}},
            {"content": "more", "location": None, "end_location": None},
        ],
    }


def test_a_finding_without_a_place_has_the_same_keys() -> None:
    without = build_diagnostic(make_finding(), "a.md")
    assert (without["location"], without["end_location"]) == (None, None)
    assert list(without) == list(build_diagnostic(make_finding(place=TextSpan(1, 1, 1, 1)), "a.md"))


def test_a_verdict_has_this_shape() -> None:
    verdict = check_message.check(REPAIRED)
    built: dict[str, Any] = {**build_checked_message(verdict, "a.md")}
    repairs = built.pop("repairs")
    assert built == {
        "filename": "a.md",
        "accepted": True,
        "verdict": "repaired",
        "format": "standard",
        "transport": "block",
        "status": "completed",
        "payload": verdict.payload,
        "diagnostics": [],
        "evidence": [],
    }
    assert [(repair["kind"], repair["location"]["row"]) for repair in repairs] == [("trailing_comma", 18)]
    assert list(repairs[0]) == ["kind", "message", "location", "end_location"]


def test_a_refused_return_has_no_status() -> None:
    shape = build_checked_message(check_message.check(ESCAPING), "a.md")
    assert shape["payload"]["status"] == "completed"
    assert (shape["accepted"], shape["status"]) == (False, None)
    assert [finding["code"] for finding in shape["diagnostics"]] == ["RET050"]


@pytest.mark.parametrize("number", [float("nan"), float("inf"), float("-inf")])
def test_a_number_that_json_does_not_have_is_null(number: float) -> None:
    text = render.render_json({"a": [number, {"b": number}], "c": (1.5, number)})
    assert json.loads(text, parse_constant=refuse_constant) == {"a": [None, {"b": None}], "c": [1.5, None]}


@pytest.mark.parametrize(
    ("value", "text"),
    [
        pytest.param("日本 é", '"日本 é"', id="other scripts"),
        pytest.param("a\x9bb", '"a\\u009bb"', id="a terminal sequence in one byte"),
        pytest.param("a\x1bb\x7f", '"a\\u001bb\\u007f"', id="controls"),
        pytest.param("a\u202eb", '"a\\u202eb"', id="writing turned around"),
        pytest.param("a\U000e0041b", '"a\\udb40\\udc41b"', id="a tag that nobody sees"),
        pytest.param("a\ud800b", '"a\ufffdb"', id="half a pair"),
        pytest.param("a\nb", '"a\\nb"', id="a line"),
    ],
)
def test_json_is_readable_and_safe(value: str, text: str) -> None:
    assert render.render_json(value) == text


def test_json_can_be_indented() -> None:
    assert render.render_json({"a": ["\x9b"]}, indent=2) == '{\n  "a": [\n    "\\u009b"\n  ]\n}'


JSON_VALUES: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)


@given(JSON_VALUES)
def test_json_says_what_was_meant(value: Any) -> None:  # noqa: ANN401 - any JSON value
    text = render.render_json(value)
    assert json.loads(text) == value
    assert all(map(is_visible, text))


@given(st.text(st.characters(codec=None)))
def test_json_is_always_text(value: str) -> None:
    assert isinstance(json.loads(render.render_json([value]).encode("utf-8")), list)


# GitHub


def test_an_annotation_names_file_lines_and_code() -> None:
    shown = render.render_github(make_finding(place=TextSpan(2, 13, 3, 4)), "docs/a.md")
    assert shown == snapshot(
        "::error file=docs/a.md,line=2,col=13,endLine=3,title=RET022"
        "::the status is not known%0AUse one of: completed, failed."
    )


@pytest.mark.parametrize(("severity", "command"), [("error", "error"), ("warning", "warning"), ("note", "notice")])
def test_each_severity_has_its_command(severity: Severity, command: str) -> None:
    assert render.render_github(make_finding(severity=severity), "a.md").startswith(f"::{command} file=a.md,title=")


def test_an_annotation_is_escaped_as_github_wants_it() -> None:
    finding = make_finding("100 %, a:b\r\n::error::no \x1b[31m", pointer="")
    assert render.render_github(finding, "a,b:c%\n.md") == snapshot(
        "::error file=a%2Cb%3Ac%25%0A.md,title=RET022"
        "::100 %25, a:b%0D%0A::error::no <U+001B>[31m%0AUse one of: completed, failed."
    )


def test_an_annotation_without_a_place_names_the_pointer() -> None:
    assert "::the status is not known (at /status)%0A" in render.render_github(make_finding(), "a.md")


def test_an_annotation_of_standard_input_has_no_file() -> None:
    shown = render.render_github(make_finding(place=TextSpan(2, 13, 3, 4)), None)
    assert shown.startswith("::error title=RET022::the status")


@given(st.text(st.characters(codec=None)), st.text(st.characters(codec=None)))
def test_an_annotation_is_one_line_whatever_is_in_it(message: str, filename: str) -> None:
    shown = render.render_github(make_finding(message, place=TextSpan(1, 1, 1, 2)), filename)
    assert all(map(is_visible, shown))
    properties = shown.removeprefix("::error ").split("::")[0].split(",")
    assert [each.split("=")[0] for each in properties] == ["file", "line", "col", "endLine", "title"]


# One line


@pytest.mark.parametrize(
    ("place", "pointer", "line"),
    [
        (TextSpan(2, 13, 3, 4), "/status", "a.md:2:13: RET022 error the status is not known"),
        (None, "/status", "a.md: RET022 error the status is not known (at /status)"),
        (None, "", "a.md: RET022 error the status is not known"),
    ],
)
def test_a_finding_on_one_line(place: TextSpan | None, pointer: str, line: str) -> None:
    assert render.render_line(make_finding(place=place, pointer=pointer), "a.md") == line


def test_a_line_stays_one_line() -> None:
    assert render.render_line(make_finding("a\nb", pointer=""), "a\n.md") == snapshot(
        "a<U+000A>.md: RET022 error a<U+000A>b"
    )


@pytest.mark.parametrize(
    ("message", "headline"),
    [
        (GOOD, "✓ a.md: accepted · standard · completed"),
        (REPAIRED, "✓ a.md: repaired · standard · completed"),
        (UNSURE, "✓ a.md: accepted · standard · completed · 1 warning"),
        (ESCAPING, "✗ a.md: invalid · standard · 1 error"),
        ("", "✗ a.md: missing · 1 error"),
    ],
)
def test_the_headline_of_a_message(message: str, headline: str) -> None:
    assert render.render_headline(check_message.check(message), "a.md", paint=PLAIN) == headline


@pytest.mark.parametrize(
    ("verdicts", "summary"),
    [
        (["accepted", "accepted"], "2 messages: 2 accepted"),
        (["accepted", "repaired", "missing"], "3 messages: 1 accepted, 1 repaired, 1 not accepted (1 missing)"),
        (["invalid", "missing", "invalid"], "3 messages: 3 not accepted (2 invalid, 1 missing)"),
        (["accepted", None], "2 messages: 1 accepted, 1 could not be read"),
    ],
)
def test_the_summary_of_several_messages(verdicts: list[VerdictName | None], summary: str) -> None:
    assert render.render_summary(verdicts) == summary


def test_advice_that_several_share_is_given_once() -> None:
    findings = [make_finding("one"), Diagnostic("CNV003", "warning", "two", "Give it."), make_finding("three")]
    assert render.render_losses(findings, paint=PLAIN) == snapshot(
        [
            "error[RET022]: one",
            "error[RET022]: three",
            "  = help: Use one of: completed, failed.",
            "warning[CNV003]: two",
            "  = help: Give it.",
        ]
    )


# Errors


def test_an_error_is_its_sentence_and_what_to_do() -> None:
    assert render.render_error(UsageError("there is no x", hint="did you mean 'y'?")) == (
        "there is no x",
        "did you mean 'y'?",
    )
    assert render.render_error(InputError("a\n\x1b can't be read")) == ("a<U+000A><U+001B> can't be read", "")


def test_a_bug_is_named_and_says_how_to_see_more() -> None:
    assert render.render_error(KeyError("x")) == (
        "this is a bug: KeyError: 'x'",
        "set REMIT_DEBUG=1 for the traceback",
    )


def test_an_error_for_programs_has_its_code_and_its_data() -> None:
    shaped = build_error(BusyError("it is held", hint="try again", by=("a", 1), seconds=2.5, file=Path("x")))
    assert json.loads(render.render_json(shaped)) == {
        "code": "BUSY",
        "message": "it is held",
        "hint": "try again",
        "recoverable": True,
        "data": {"by": ["a", 1], "seconds": 2.5, "file": "x"},
    }
    bug = build_error(KeyError("x"))
    assert (bug["code"], bug["message"]) == ("UNKNOWN_ERROR", "this is a bug: KeyError: 'x'")


def test_the_table_of_exit_codes() -> None:
    class NewError(RemitError):
        """One that the table does not name."""

    errors = [UsageError(""), InputError(""), ConfigError(""), RemitError(""), NewError(""), KeyError("")]
    assert [render.get_exit_code(error) for error in errors] == [2] * 6
    assert render.get_exit_code(KeyboardInterrupt()) == 130
