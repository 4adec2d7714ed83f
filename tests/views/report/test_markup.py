"""Markup: text gets into HTML in one way, also where no report puts any today."""

from __future__ import annotations

from html.parser import HTMLParser
from typing import TYPE_CHECKING

from remit.terminal import escape
from remit.views.report.markup import Markup, element, join
from tests.support.report_samples import PAYLOADS

if TYPE_CHECKING:
    import pytest


class Reader(HTMLParser):
    """The elements of a page with their attributes."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.found: list[tuple[str, list[tuple[str, str | None]]]] = []
        self.feed(page)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note it."""
        self.found.append((tag, attrs))


def test_an_attribute_is_one_whatever_is_in_it(subtests: pytest.Subtests) -> None:
    for text in PAYLOADS:
        with subtests.test(text=text):
            page = element("p", "a", title=text, aria_label=text)
            shown = escape(text, keep="\n\t")
            assert Reader(page).found == [("p", [("title", shown), ("aria-label", shown)])]
            assert "'" not in page


def test_children_are_text_unless_they_were_made_here() -> None:
    assert element("p", "<b>", element("i", "&"), 3, None, ["<", [">"]]) == "<p>&lt;b&gt;<i>&amp;</i>3&lt;&gt;</p>"
    assert join(f"{element('b', 'x')}") == "&lt;b&gt;x&lt;/b&gt;"  # what was put together by hand is text again
    assert isinstance(join("a"), Markup)


def test_names_of_attributes_are_spelled_as_html_does() -> None:
    assert element("rect", class_="bad", x=1.5, rx=None) == '<rect class="bad" x="1.5"/>'
    assert element("meta", http_equiv="a", name="b") == '<meta http-equiv="a" name="b">'
