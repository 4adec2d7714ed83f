"""The tag scanner as a target: any body of an agent file; every rule runs over what was found."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from fuzz.frontmatter import PATHS, check_file, list_agents
from fuzz.target import Target, need_nothing, spell
from remit.agents.document import parse_document
from remit.agents.outline import make_outline
from remit.agents.tags import MAX_DEPTH, scan_body

if TYPE_CHECKING:
    from collections.abc import Iterator

HEAD: Final = "---\nname: planner\ndescription: Plans.\nagent_type: planning\n---\n"
WORDS: Final = (
    "<workflow_execution>\n", "</workflow_execution>\n", '<stage id="1" name="Read">\n', "</stage>\n", "<step_1>",
    "<step_N+1_return>", "</step_N+1_return>", "<action>", "</action>", "<process>\n", "</process>\n", "<validation>",
    "<role>", "</role>", "<task>", "<context>", "<inputs_required>\n", '<parameter name="a" type="array<string>">',
    "</parameter>", "<inputs_forbidden>", "<output_specification>", "<error_handling>", "<constraints>\n", "<must>",
    "<must_not>", "<example>", "<x/>", "<x a=b c='d' e>", "<", ">", "/>", "</", "<!--", "-->", "<!-- remit: ignore -->",
    "```\n", "````json\n", "~~~\n", "`", "``", "# ", "## Steps\n", "1. ", "- ", "> ", "\n", "\r\n", "\t", " ", "    ",
    "{", '"status": "completed"', "}", "[a](b.md)", "@docs/a.md", "$ARGUMENTS", "Task(", "delegate to `a`", "a" * 90,
    "x" * 300, "<a " + "b " * 200, "<a>" * 70, "é", "\u202e", "\x00", "\ud800", "timeout", "session_id", "MUST NOT ",
)  # fmt: skip


def check_laws(text: str, start: int) -> None:
    """Every tag lies in its parent and says its own name, in the order of the text; no depth is passed."""
    start = min(start, len(text))
    body = scan_body(text, start)
    last = -1
    for tag in body.walk():
        assert start <= tag.start < tag.inner_start <= tag.inner_end <= tag.end <= len(text)
        assert tag.parent is not None
        assert tag.parent.inner_start <= tag.start
        assert tag.end <= tag.parent.end
        assert text[slice(*tag.name_span)] == tag.name
        assert tag.start > last
        last = tag.start
    for first, end in (*body.strays, *body.fences, *body.comments, *(span for _, _, span in body.headings)):
        assert start <= first <= end <= len(text)
    assert _measure_depth(body.root) <= MAX_DEPTH + 1
    make_outline(text, body)


def _measure_depth(root: object) -> int:
    deepest, waiting = 0, [(root, 0)]
    while waiting:
        tag, depth = waiting.pop()
        deepest = max(deepest, depth)
        waiting += [(child, depth + 1) for child in tag.children]  # type: ignore[attr-defined]
    return deepest


def check_case(data: bytes) -> None:
    """Take the bytes apart, and try the laws."""
    if not data:
        return
    way, rest = data[0], data[1:]
    text = spell(rest, WORDS, expanded=bool(way & 8))
    check_laws(text, way >> 4)
    check_file(parse_document(PATHS[way & 3], HEAD + text))


def list_seeds() -> Iterator[bytes]:
    """Bodies of agent files, and each word by itself."""
    for text in list_agents():
        body = text.partition("\n---\n")[2][:6_000]
        for way in (0, 1, 2):
            yield bytes([way]) + body.encode("utf-8", "surrogateescape")
    for number in range(0x80, 0x100):
        yield bytes([8, number, number ^ 0x55, number])


TARGET = Target("tags", ("remit.agents",), WORDS, list_seeds, need_nothing(check_case), max_bytes=8192, asks=3)
