"""A report as HTML: a file that is read, and does nothing else."""

from __future__ import annotations

import base64
import hashlib
import re
from html.parser import HTMLParser
from typing import Any

import pytest

from remit.terminal import escape
from remit.views.report.html import render_html
from tests.support.report_samples import MARKDOWN, PAYLOADS, fill, make_report

TONES = {"good", "bad", "false_claim", "warn", "live", "wait", "off"}
CLASSES = TONES | {
    "tone", "soft", "note", "wide", "number", "name", "axis", "queue", "due", *(f"l{level}" for level in range(7)),
}  # fmt: skip
VALUES = {
    "class": re.compile(rf"({'|'.join(CLASSES)})( ({'|'.join(CLASSES)}))*"),
    "href": re.compile(r"#n\d+"),
    "id": re.compile(r"n\d+"),
    "viewbox": re.compile(r"0 0 \d+ \d+"),
    "role": re.compile("img"),
    "scope": re.compile("col"),
    "lang": re.compile("en"),
    "charset": re.compile("utf-8"),
    "http-equiv": re.compile("Content-Security-Policy"),
    "name": re.compile("viewport|referrer"),
    "content": re.compile(r"default-src 'none';.*|width=device-width, initial-scale=1|no-referrer"),
    "aria-label": re.compile(r"Timeline: \d+ runs over [\w. ]+"),
    **dict.fromkeys(("x", "y", "x1", "x2", "y1", "y2", "rx", "width", "height"), re.compile(r"\d+(\.\d+)?")),
}
"""Every attribute that there may be, and all that may be in it."""

SHOWN = (
    "/project", "/root_id", "/left_out/0", "/tree/0/agent", "/tree/0/work", "/tree/1/work", "/nodes/0/run/agent",
    "/nodes/0/run/path/0", "/nodes/0/config/kind", "/nodes/0/config/model", "/nodes/0/asked/text",
    "/nodes/0/asked/inputs/depth", "/nodes/0/asked/context/1/reason", "/nodes/0/asked/context/0/name",
    "/nodes/0/attempts/0/diagnostics/0/message", "/nodes/0/attempts/0/diagnostics/0/code",
    "/nodes/0/attempts/0/diagnostics/0/hint", "/nodes/0/attempts/0/diagnostics/0/pointer",
    "/nodes/0/attempts/0/repairs/0/message", "/nodes/0/attempts/0/claims/0/path",
    "/nodes/0/attempts/0/claims/0/reason", "/nodes/0/attempts/0/answer/text", "/nodes/0/result/summary",
    "/nodes/0/result/artifacts/0/path", "/nodes/0/result/errors/0/recommendation",
    "/nodes/0/result/next_steps", "/nodes/0/result/remit/notes/0", "/nodes/0/steps/0/message",
    "/nodes/0/unclaimed/0/path", "/nodes/1/run/activity", "/nodes/1/run/waits_for/0",
)  # fmt: skip
"""What agents and repositories write, by where it is in a report."""


class Reader(HTMLParser):
    """What a page is made of."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.shape: list[str] = []
        self.wrong: list[str] = []
        self.texts: list[str] = []
        self.attributes: list[tuple[str, str]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """An element, each attribute of which is to be one of ours."""
        self.shape.append(f"<{tag} {' '.join(name for name, _ in attrs)}>")
        for name, value in attrs:
            self.attributes.append((name, value or ""))
            if name not in VALUES or not VALUES[name].fullmatch(value or ""):
                self.wrong.append(f"{tag} {name}={value!r}")

    def handle_endtag(self, tag: str) -> None:
        """The end of one."""
        self.shape.append(f"</{tag}>")

    def handle_data(self, data: str) -> None:
        """Text."""
        self.texts.append(data)

    def handle_comment(self, data: str) -> None:
        """None is ours."""
        self.wrong.append(f"a comment: {data}")

    def handle_pi(self, data: str) -> None:
        """None is ours."""
        self.wrong.append(f"an instruction: {data}")

    def unknown_decl(self, data: str) -> None:
        """None is ours."""
        self.wrong.append(f"a declaration: {data}")


def read(page: str) -> Reader:
    reader = Reader()
    reader.feed(page)
    reader.close()
    return reader


def make_page(text: str) -> Reader:
    return read(render_html(fill(make_report(), text)))


def test_there_are_enough_hostile_texts() -> None:
    assert len({*PAYLOADS}) >= 100


@pytest.mark.parametrize("texts", [PAYLOADS, MARKDOWN], ids=["HTML", "Markdown"])
def test_hostile_text_in_every_field_is_text(texts: tuple[str, ...]) -> None:
    """The page has the same elements and attributes whatever is in its fields, and shows each text as it is."""
    plain = make_page("plain")
    assert not plain.wrong
    for text in texts:
        page = make_page(text)
        assert not page.wrong, text
        assert page.shape == plain.shape, text
        assert escape(text, keep="\n\t") in "".join(page.texts), text


def test_every_field_is_shown() -> None:
    """A field that is not in the page would prove nothing about hostile text in it."""

    def mark(value: Any, path: str) -> Any:  # noqa: ANN401 - JSON
        if isinstance(value, str):
            return f"«{path}»"
        if isinstance(value, list):
            return [mark(each, f"{path}/{at}") for at, each in enumerate(value)]
        if isinstance(value, dict):
            return {name: mark(each, f"{path}/{name}") for name, each in value.items()}
        return value

    page = render_html(mark(make_report(), ""))
    unseen = [path for path in SHOWN if f"«{path}»" not in page]
    assert not unseen


def test_nothing_runs_and_nothing_is_fetched() -> None:
    page = render_html(make_report())
    found = read(page)
    assert not [each for each in found.shape if re.match(r"<(script|link|img|iframe|object|embed|form|base)\b", each)]
    assert "http:" not in page
    assert "https:" not in page
    assert "url(" not in page
    assert "@import" not in page


def test_the_policy_lets_in_the_one_style_alone() -> None:
    page = render_html(make_report())
    (policy,) = [value for name, value in read(page).attributes if name == "content" and "default-src" in value]
    (style,) = re.findall(r"<style>(.*?)</style>", page, re.DOTALL)
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    assert policy == f"default-src 'none'; base-uri 'none'; form-action 'none'; style-src 'sha256-{digest}'"
    assert page.index("Content-Security-Policy") < page.index("<style>")
    assert " style=" not in page


def test_it_is_dark_where_the_reader_is() -> None:
    assert "@media (prefers-color-scheme: dark)" in render_html(make_report())


def test_a_run_that_is_open_is_told_as_of_when() -> None:
    report = make_report()
    assert "The run hasn't finished. This report is from 2026-11-16 10:54:40 UTC." in "".join(
        read(render_html(report)).texts
    )
    report["open"] = False
    assert "The run has finished. This report is from 2026-11-16 10:54:40 UTC." in "".join(
        read(render_html(report)).texts
    )


def test_claims_are_told_against_what_was_done() -> None:
    text = " ".join(read(render_html(make_report())).texts)
    assert "⚑ reported, missing" in text
    assert "✓ there, changed since dispatch" in text


def test_what_is_cut_is_said() -> None:
    text = "".join(read(render_html(make_report())).texts)
    assert "Cut: 22 of 90,000 characters of the answer." in text
    assert "Not everything is shown: 1 text was cut." in text


def test_the_timeline_has_a_bar_for_each_that_began() -> None:
    report = make_report()
    bars = [each for each in read(render_html(report)).shape if each.startswith("<rect") and "rx" in each]
    assert len(bars) == 2
    for row in report["tree"]:
        row["started_ms"] = None
    assert "<svg" not in render_html(report)


@pytest.mark.parametrize("span_ms", [0, 1, 999, 61_000, 86_400_000 * 40, 10**15])
def test_a_timeline_of_any_length_is_drawn(span_ms: int) -> None:
    report = make_report()
    report["tree"][0]["ended_ms"] = report["tree"][0]["started_ms"] + span_ms
    found = read(render_html(report))
    assert not found.wrong
    assert len([each for each in found.shape if each.startswith("<line")]) < 30
