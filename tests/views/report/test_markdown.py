"""A report as Markdown: read back by a parser, what agents wrote is text."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from markdown_it import MarkdownIt

from remit.terminal import escape
from remit.views.report.markdown import code, fence, quote, render_markdown
from tests.support.report_samples import MARKDOWN, PAYLOADS, fill, make_report

if TYPE_CHECKING:
    from collections.abc import Iterator

    from markdown_it.token import Token

PARSER = MarkdownIt("gfm-like", {"linkify": False, "html": True})
"""With HTML, tables and strikethrough, as forges have them."""


def walk(text: str) -> Iterator[Token]:
    for token in PARSER.parse(text):
        yield token
        yield from token.children or ()


def shape(text: str) -> list[str]:
    """What a document is made of, without its words: how many pieces a line of text is in does not matter."""
    return [f"{token.type} {token.tag}" for token in walk(text) if token.type not in {"text", "text_special"}]


def words(text: str) -> str:
    return " ".join(
        "".join(token.content for token in each.children or ()) if each.type == "inline" else each.content
        for each in PARSER.parse(text)
        if each.type in {"inline", "fence"}
    )


@pytest.mark.parametrize(
    "texts", [pytest.param(PAYLOADS, id="HTML", marks=pytest.mark.slow), pytest.param(MARKDOWN, id="Markdown")]
)
@pytest.mark.thorough("HTML")
def test_hostile_text_in_every_field_is_text(texts: tuple[str, ...]) -> None:
    plain = shape(render_markdown(fill(make_report(), "plain")))
    assert {"fence code", "heading_open h3", "bullet_list_open ul"} <= {*plain}
    for text in texts:
        page = render_markdown(fill(make_report(), text))
        assert shape(page) == plain, text
        assert " ".join(escape(text, keep="\n\t").split()) in words(page), text


@pytest.mark.parametrize("text", MARKDOWN)
def test_a_quoted_line_means_what_it_says(text: str) -> None:
    for line in (quote(text), f"- {quote(text)}", f"# {quote(text)}", f"a {quote(text)} b"):
        kinds = {token.type for token in walk(line)}
        assert kinds <= {
            "inline", "text", "text_special", "paragraph_open", "paragraph_close", "heading_open", "heading_close",
            "bullet_list_open", "bullet_list_close", "list_item_open", "list_item_close",
        }, line  # fmt: skip
        assert " ".join(escape(text, keep="\n\t").split()) in words(line)


@pytest.mark.parametrize("text", [*MARKDOWN, "`" * 50, "a\n" + "`" * 9 + "\nb", "", "~" * 20])
def test_a_fence_ends_where_its_text_ends(text: str) -> None:
    tokens = PARSER.parse("\n".join([*fence(text), "after"]))
    assert [token.type for token in tokens] == ["fence", "paragraph_open", "inline", "paragraph_close"]
    assert tokens[0].content == f"{escape(text, keep=chr(10) + chr(9))}\n"


@pytest.mark.parametrize("text", ["a", "`", "``", "a`b", "`a`", " a ", "\\", "a\nb", "<b>", "*a*"])
def test_code_is_letter_by_letter(text: str) -> None:
    (inline,) = [token for token in PARSER.parse(f"x {code(text)} y") if token.type == "inline"]
    (found,) = [token for token in inline.children or () if token.type == "code_inline"]
    assert found.content == " ".join(text.split())


def test_plain_words_stay_plain() -> None:
    for text in ("specs/1_greet/plan-001.md doesn't exist", "2026-11-16 10:54:31 UTC", "1.2 s, $", "What (then)?"):
        assert quote(text).replace("\\$", "$") == text


def test_addresses_are_no_links() -> None:
    text = "see https://192.0.2.1/x, www.example.com and a@example.com"
    assert quote(text) == "see https\\://192.0.2.1/x, www\\.example.com and a\\@example.com"
