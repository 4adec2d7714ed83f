"""Tags are found in one pass: not in code, not in comments, whatever is left open, however many there are."""

from time import process_time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from remit.agents.tags import MAX_DEPTH, MAX_TAGS, Body, Tag, scan_body
from tests.support.sample_sizes import choose


def scan(text: str) -> Body:
    return scan_body(text, 0)


def names(body: Body) -> list[str]:
    return [tag.name for tag in body.walk()]


def shape(tag: Tag) -> list[object]:
    """The names below a tag, nested as they are."""
    return [[child.name, *shape(child)] for child in tag.children]


# What is a tag


@pytest.mark.parametrize(
    "text",
    [
        "```xml\n<role>\n</role>\n```\n",
        "~~~\n<role></role>\n~~~\n",
        "````\n```\n<role></role>\n```\n````\n",
        "  - ```\n    <role></role>\n    ```\n",
        "Write `<role>` first.\n",
        "Write ``<role> ` </role>`` first.\n",
        "<!-- <role></role> -->\n",
        "<!--\n<role>\n</role>\n-->\n",
        "a < b and b > c\n",
        "<https://example.org> <me@example.org>\n",
        "if x <5> y\n",
    ],
)
def test_what_is_no_tag(text: str) -> None:
    assert names(scan(text)) == []
    assert not scan(text).strays


@pytest.mark.parametrize("name", ["role", "step_0_preflight", "step_N+1_return", "step_N", "a.b", "x-y", "Étape"[1:]])
def test_a_name_need_not_be_one_of_xml(name: str) -> None:
    """C12: `step_N+1_return` is no XML name, and still a step."""
    text = f"<{name}>\n  inner\n</{name}>\n"
    (tag,) = scan(text).root.children
    assert tag.name == name
    assert tag.closed
    assert text[slice(*tag.name_span)] == name
    assert tag.closing_name_span is not None
    assert text[slice(*tag.closing_name_span)] == name
    assert text[tag.inner_start : tag.inner_end] == "\n  inner\n"


def test_tags_after_code_and_comments_count() -> None:
    body = scan("```\n<a>\n```\n<b></b> `<c>` <d></d>\n<!-- <e> --><f></f>\n")
    assert names(body) == ["b", "d", "f"]


def test_a_lone_backtick_hides_nothing() -> None:
    assert names(scan("it's 5` <role></role>\n")) == ["role"]
    assert names(scan("5` long\n<role></role> and ` again\n")) == ["role"]


# What is left open


def test_a_tag_that_is_not_closed_ends_where_its_parent_does() -> None:
    text = "<a>\n<b>\ntext\n</a>\n<c></c>\n"
    body = scan(text)
    assert shape(body.root) == [["a", ["b"]], ["c"]]
    (open_tag,) = body.unclosed
    assert (open_tag.name, open_tag.closed, open_tag.closing_name_span) == ("b", False, None)
    assert open_tag.end == text.index("</a>")


def test_a_word_in_a_line_that_looks_like_a_tag_holds_nothing() -> None:
    body = scan("<a>\nUse <name> here\n<b></b>\n</a>\n")
    assert shape(body.root) == [["a", ["name"], ["b"]]]
    assert [tag.end - tag.inner_start for tag in body.unclosed] == [0]


def test_a_closing_tag_without_an_opening_one_is_a_stray() -> None:
    text = "<a></a></b>\n</a>\n"
    assert [text[start:end] for start, end in scan(text).strays] == ["</b>", "</a>"]


def test_crossed_tags() -> None:
    body = scan("<a>\n<b>\n</a>\n</b>\n")
    assert shape(body.root) == [["a", ["b"]]]
    assert [tag.name for tag in body.unclosed] == ["b"]
    assert len(body.strays) == 1


def test_an_empty_tag_closes_itself() -> None:
    body = scan('<a/><b name="x"/><c name=x /><d></d>')
    assert shape(body.root) == [["a"], ["b"], ["c"], ["d"]]
    assert all(tag.closed for tag in body.walk())
    assert [tag.closing_name_span is None for tag in body.walk()] == [True, True, True, False]
    assert body.root.children[1].get("name") == "x"


@pytest.mark.parametrize("opening", ["```\n", "~~~text\n", "<!-- \n"])
def test_a_fence_or_comment_without_end_hides_the_rest_and_is_told(opening: str) -> None:
    text = f"<a></a>\n{opening}<b></b>\n"
    body = scan(text)
    assert names(body) == ["a"]
    assert body.hidden == (8, len(text))
    assert scan("<a></a>\n```\n```\n<!-- -->\n").hidden is None


# Attributes


@pytest.mark.parametrize(
    ("written", "value"),
    [
        ('type="array"', "array"),
        ("type='array'", "array"),
        ("type=array", "array"),
        ('type = "array"', "array"),
        ('type=""', ""),
        ("type", ""),
        ('name="type" type="array"', "array"),
        ('name="x type=y" type="array"', "array"),
        ('type="array<string>"', "array<string>"),
        ('name="x" type="a > b" optional="true"', "a > b"),
        ('\n  name="x"\n  type="array"\n', "array"),
        ('data-type="y"', None),
        ("", None),
    ],
)
def test_attributes(written: str, value: str | None) -> None:
    text = f"<parameter {written}>What it is.</parameter>"
    (tag,) = scan(text).root.children
    assert tag.get("type") == value
    found = tag.find_value("type")
    assert value == "" or (text[slice(*found)] if found else None) == value


def test_attributes_are_no_quotation_of_the_text_around() -> None:
    assert names(scan('<a "b> c "d>\n</a>\n')) == ["a"]


# Lines


def test_headings_are_those_outside_of_fences() -> None:
    body = scan("# One\n```\n# Two\n```\n## Three ##\n#Four\n")
    assert [(level, title) for level, title, _ in body.headings] == [(1, "One"), (2, "Three ##")]


def test_lines_that_end_with_cr_lf() -> None:
    text = "# Title\r\n\r\n```\r\n<a>\r\n```\r\n<b>\r\n  <c>x</c>\r\n</b>\r\n"
    body = scan(text)
    assert names(body) == ["b", "c"]
    assert not any(tag.inline for tag in body.walk())
    assert [(title, text[slice(*span)]) for _, title, span in body.headings] == [("Title", "# Title")]


def test_only_what_follows_the_offset_is_read() -> None:
    text = "---\na: <b>\n---\n<c></c>\n"
    body = scan_body(text, text.index("<c>"))
    assert names(body) == ["c"]


# However many


def test_deep_nesting() -> None:
    depth = MAX_DEPTH + 40
    body = scan("<a>\n" * depth + "</a>\n" * depth + "<b></b>\n")
    assert [tag.name for tag in body.root.children] == ["a", "b"]
    assert not body.strays
    assert not body.unclosed


def test_deep_nesting_of_different_names() -> None:
    text = "".join(f"<a{n}>\n" for n in range(200)) + "".join(f"</a{n}>\n" for n in reversed(range(200)))
    body = scan(text)
    assert len(names(body)) == 200
    assert not body.strays
    assert not body.unclosed


def test_more_tags_than_anybody_reads() -> None:
    body = scan("<a>\n" + "<b></b>\n" * (MAX_TAGS + 10) + "</a>\n")
    assert body.overflow
    assert len(names(body)) <= MAX_TAGS
    assert not body.unclosed


@pytest.mark.parametrize(
    "text",
    [
        "<a>" * 350_000,
        "</a>" * 260_000,
        "<a b=" * 200_000,
        '<a b="' * 170_000,
        '<a b="<a b=" ' * 80_000,
        "<a " * 350_000,
        "<!--" * 260_000,
        "`" * 1_000_000,
        "".join("`" * n + " " for n in range(1400)),
        "x <a></a>" * 100_000,
        "```\n" * 250_000,
        "# x\n" * 250_000,
        "- " * 500_000,
        " " * 1_000_000,
        "<" * 1_000_000,
        "<" + "a" * 1_000_000,
        "".join(f"<a{n}> " for n in range(19_000)) * 4,
    ],
    ids=lambda text: repr(text[:12]),
)
@pytest.mark.thorough
def test_a_hostile_file_takes_no_time(text: str) -> None:
    start = process_time()
    scan(text)
    assert process_time() - start < 2


PIECES = st.sampled_from(
    ["<a>", "</a>", "<b x='1'>", "</b>", "<c/>", "<step_N+1_return>", "```", "~~~", "`", "``", "<!--", "-->", "\n",
     "\r\n", "# t", "- ", "text", "<", ">", '"', "\u2028", "\udcff", "é"]
)  # fmt: skip


@settings(deadline=None, derandomize=True, max_examples=choose(60, 300))
@given(st.lists(PIECES | st.text(max_size=5), max_size=60).map("".join), st.integers(0, 20))
def test_scanning_never_raises_and_every_span_is_in_the_text(text: str, start: int) -> None:
    start = min(start, len(text))
    body = scan_body(text, start)
    for tag in body.walk():
        assert start <= tag.start < tag.inner_start <= tag.inner_end <= tag.end <= len(text)
        assert text[slice(*tag.name_span)] == tag.name
        if tag.closing_name_span is not None:
            assert text[slice(*tag.closing_name_span)] == tag.name
        assert tag.parent is not None
        assert tag in tag.parent.children
    spans = [*body.strays, *body.fences, *body.comments, *(span for _, _, span in body.headings)]
    assert all(start <= first <= last <= len(text) for first, last in spans)
    starts = [tag.start for tag in body.walk()]
    assert starts == sorted(starts)
