"""Findings files: what is rendered passes the check, and what is missing is told with its place."""

import time

import pytest
from inline_snapshot import snapshot

from remit.manifest.findings_file import DIAGNOSTICS, MAX_CHARS, FindingsFile, check_findings_file, render_findings_file

PAGE = FindingsFile(
    "Upload limits",
    "Two providers cap uploads. The third does not.",
    {"Limits": ["5 GB at most.", "No limit."], "Costs": ["Twice as much."]},
    ["Ask the third for an offer."],
    ["The providers' pages."],
    ["T12"],
)
GOOD = render_findings_file(PAGE)


def list_codes(text: str) -> list[tuple[str, int]]:
    """The code and line of every finding."""
    return [(finding.code, finding.place.line if finding.place else 0) for finding in check_findings_file(text)]


def test_a_rendered_page_has_nothing_wrong_with_it() -> None:
    """R4.6."""
    assert check_findings_file(GOOD) == ()
    assert GOOD.startswith("# Upload limits\n\n## Summary\n\nTwo providers")
    headings = [line for line in GOOD.splitlines() if line.startswith("#")]
    assert headings == [
        "# Upload limits", "## Summary", "## Findings", "### Limits", "### Costs", "## Recommendations", "## Sources",
        "## Linked Tasks",
    ]  # fmt: skip
    assert GOOD.endswith("## Linked Tasks\n\n- Task: T12\n")


def test_a_page_without_content_says_what_belongs_there() -> None:
    text = render_findings_file(FindingsFile("Title"))
    assert list_codes(text) == [("MAN012", line) for line in (3, 7, 11, 15)]


def test_that_no_task_is_linked_is_an_answer() -> None:
    text = render_findings_file(PAGE._replace(linked_tasks=[" "]))
    assert check_findings_file(text) == ()
    assert text.endswith("## Linked Tasks\n\nNone.\n")


@pytest.mark.parametrize(
    ("old", "new", "codes"),
    [
        ("# Upload limits\n", "", [("MAN010", 1)]),
        ("## Sources\n", "", [("MAN011", 1)]),
        ("## Sources\n", "## SOURCES: ##\n", []),
        ("- The providers' pages.\n", "", [("MAN012", 22)]),
        ("- The providers' pages.\n", "<!-- none -->\n", [("MAN012", 22)]),
        ("Two providers cap uploads. The third does not.", "Done.", [("MAN013", 3)]),
        ("The third does not.", "One. Two. Three.", [("MAN013", 3)]),
        ("T12", "{{TASK_ID}}", [("MAN014", 28)]),
        ("5 GB at most.", "{{Details}}", [("MAN014", 11)]),
        ("### Limits\n", "", [("MAN015", 7)]),
    ],
)
@pytest.mark.conforms("004-06")
def test_what_is_missing_is_told(old: str, new: str, codes: list[tuple[str, int]]) -> None:
    text = GOOD.replace(old, new)
    text = text.replace("### Costs\n", "") if codes == [("MAN015", 7)] else text
    assert text != GOOD
    assert list_codes(text) == codes


def test_headings_and_blanks_in_a_fenced_block_are_an_example() -> None:
    fenced = "```md\n# Not a title\n## Sources\n{{X}}\n```\n~~~~\n## Sources\n~~~\n~~~~\n"
    assert list_codes(GOOD.replace("- 5 GB at most.\n", fenced)) == []
    assert ("MAN011", 1) in list_codes(GOOD.replace("## Sources", "```\n## Sources\n```"))


def test_foreign_text_makes_no_heading() -> None:
    page = PAGE._replace(
        title="a\n## Sources",
        summary="## Sources\n\n# b. Two.",
        findings={"c\n## Sources": ["d\n## Sources"]},
        sources=[" ", "\n"],
    )
    lines = render_findings_file(page).splitlines()
    assert [line for line in lines if line.startswith("## ")] == [
        "## Summary", "## Findings", "## Recommendations", "## Sources", "## Linked Tasks"
    ]  # fmt: skip
    assert lines[4] == snapshot("\\## Sources # b. Two.")


@pytest.mark.parametrize(
    "text",
    ["", "#" * MAX_CHARS, "<!--" * (MAX_CHARS // 4), "{{" * (MAX_CHARS // 2), "```\n" * (MAX_CHARS // 4),
     "## Summary\n" * (MAX_CHARS // 11), "\0" * MAX_CHARS, "# x\n## Summary\n" + "<!-- -->" * (MAX_CHARS // 8),
     "# x\n## Summary\n" + "e.g. " * (MAX_CHARS // 5)],
    ids=range(9),
)  # fmt: skip
@pytest.mark.thorough
def test_no_page_takes_long(text: str) -> None:
    started = time.process_time()
    check_findings_file(text)
    assert time.process_time() - started < 2


def test_every_finding_is_documented() -> None:
    for tell, _ in DIAGNOSTICS.values():
        assert all(f"{word}: " in (tell.__doc__ or "") for word in ("Why", "Bad", "Good"))
