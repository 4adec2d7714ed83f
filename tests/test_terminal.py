"""What may reach a terminal."""

import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from remit import terminal
from remit.terminal import Paint, escape, is_visible, measure, quote, wants_color


class Screen(io.StringIO):
    """A stream that is a terminal."""

    def isatty(self) -> bool:
        """Yes."""
        return True


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        pytest.param("plain", "plain", id="plain"),
        pytest.param("日本 é ñ", "日本 é ñ", id="other scripts"),
        pytest.param("a\x1b[31mb", "a<U+001B>[31mb", id="a terminal sequence"),
        pytest.param("a\x9b2Jb", "a<U+009B>2Jb", id="a sequence in one byte"),
        pytest.param("a\u202eb", "a<U+202E>b", id="writing turned around"),
        pytest.param("a\u200bb", "a<U+200B>b", id="without width"),
        pytest.param("a\ud800b", "a<U+D800>b", id="half a pair"),
        pytest.param("a\U000e0041b", "a<U+E0041>b", id="a tag that nobody sees"),
        pytest.param("a\r\nb\0", "a<U+000D><U+000A>b<U+0000>", id="lines and zeros"),
        pytest.param("a\u2028b", "a<U+2028>b", id="a line separator"),
        pytest.param("a\xa0b\u3000c", "a\xa0b\u3000c", id="spaces of other widths"),
        pytest.param(r"a\u001bb", r"a\u001bb", id="an escape of JSON"),
    ],
)
def test_what_is_not_visible_is_escaped(text: str, shown: str) -> None:
    assert escape(text) == shown


@given(st.text(st.characters(codec=None)))
def test_nothing_invisible_gets_through(text: str) -> None:
    assert all(map(is_visible, escape(text)))
    assert "\x1b" not in escape(text)


def test_a_long_quotation_keeps_its_ends() -> None:
    shown = quote("a" * 1_000_000 + "z")
    assert len(shown) < 500
    assert shown.startswith("aaa")
    assert " … " in shown
    assert shown.endswith("z")


@pytest.mark.parametrize(
    ("piece", "width"), [("a", 1), ("日", 2), ("é", 1), ("e\u0301", 1), ("\uff71", 1), ("\uff21", 2), ("<U+001B>", 8)]
)
def test_the_width_of_a_piece(piece: str, width: int) -> None:
    assert measure([piece]) == [width]


@pytest.mark.parametrize(
    ("env", "screen", "file"),
    [
        pytest.param({}, True, False, id="nothing said"),
        pytest.param({"NO_COLOR": "1"}, False, False, id="NO_COLOR"),
        pytest.param({"NO_COLOR": ""}, True, False, id="NO_COLOR, empty"),
        pytest.param({"FORCE_COLOR": "1"}, True, True, id="FORCE_COLOR"),
        pytest.param({"FORCE_COLOR": "0"}, True, False, id="FORCE_COLOR=0"),
        pytest.param({"FORCE_COLOR": "1", "NO_COLOR": "1"}, False, False, id="both: no"),
        pytest.param({"TERM": "dumb"}, False, False, id="a dumb terminal"),
        pytest.param({"TERM": "dumb", "FORCE_COLOR": "1"}, True, True, id="dumb, but forced"),
    ],
)
def test_who_gets_colour(
    env: dict[str, str],
    screen: bool,  # noqa: FBT001 - a column of the table
    file: bool,  # noqa: FBT001 - a column of the table
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name in ("NO_COLOR", "FORCE_COLOR", "TERM"):
        monkeypatch.delenv(name, raising=False)
    for name, value in env.items():
        monkeypatch.setenv(name, value)
    assert wants_color(Screen()) is screen
    assert wants_color(io.StringIO()) is file
    assert wants_color(None) is file


def test_paint_adds_colour_and_nothing_else() -> None:
    assert Paint(on=True)("error", "no") == "\x1b[1;31mno\x1b[0m"
    assert Paint(on=True)("error", "") == ""
    assert Paint(on=False)("error", "no") == "no"


@pytest.mark.parametrize(
    ("columns", "counted"),
    [("72", 72), ("7", 40), ("9" * 5000, 999_999), ("0", 100), ("-5", 100), ("wide", 100), ("²", 100)],
)
def test_the_width_is_what_columns_says(columns: str, counted: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", columns)
    monkeypatch.setattr("sys.__stdout__", None)
    assert terminal.count_columns() == counted


@pytest.mark.parametrize(
    ("encoding", "written"),
    [
        ("utf-8", "✓ a · b…\n".encode()),
        ("ascii", b"+ a - b~\n"),
        ("latin-1", b"+ a - b~\n"),
    ],
)
def test_signs_are_chosen_by_what_the_stream_can_write(encoding: str, written: bytes) -> None:
    stream = io.TextIOWrapper(raw := io.BytesIO(), encoding=encoding)
    terminal.write("✓ a · b…\n", stream=stream)
    assert raw.getvalue() == written


def test_what_an_encoding_lacks_is_spelled_out() -> None:
    stream = io.TextIOWrapper(raw := io.BytesIO(), encoding="ascii")
    terminal.write("日\n", stream=stream)
    assert raw.getvalue() == b"\\u65e5\n"


def test_a_stream_that_is_closed_takes_everything() -> None:
    terminal.write("text", stream=None)
    terminal.write_bytes(b"text", stream=None)
