"""Rules of the `hyper` format alone: markers, key points, captions, what is left of partial work."""

from __future__ import annotations

from typing import TYPE_CHECKING

from remit.returns.formats.hyper import END_MARKER, START_MARKER
from remit.returns.rules.register import ReturnContext, ReturnViolation, return_rule
from remit.sentences import count_sentences

if TYPE_CHECKING:
    from collections.abc import Iterator

KEY_POINTS = (3, 5)


@return_rule("RET070", severity="warning")
def markers_missing(case: ReturnContext) -> Iterator[ReturnViolation]:
    """The return isn't between the output markers.

    Why: the markers distinguish the return from other JSON in the message.

    Bad: a bare fenced block.

    Good: `<!-- AGENT_OUTPUT_START -->`, the fenced block, `<!-- AGENT_OUTPUT_END -->`
    """
    if case.has_format("hyper") and not case.marked:
        yield ReturnViolation("the return isn't between the output markers",
                              f"Write {START_MARKER} before it and {END_MARKER} after it.")  # fmt: skip


@return_rule("RET071", severity="warning")
def key_point_count(case: ReturnContext) -> Iterator[ReturnViolation]:
    """An artifact doesn't have three to five key points.

    Why: the orchestrator reads the key points instead of the file.

    Bad: `"key_points": ["It works"]`

    Good: three specific points.
    """
    if not case.has_format("hyper"):
        return
    for index, item in enumerate(case.items_at("artifacts")):
        points = item.get("key_points") if isinstance(item, dict) else None
        if isinstance(points, list) and not KEY_POINTS[0] <= len(points) <= KEY_POINTS[1]:
            yield ReturnViolation(
                f"the artifact has {len(points)} key points, expected 3 to 5",
                "Give 3 to 5 key points.",
                f"/artifacts/{index}/key_points",
            )


@return_rule("RET073", severity="warning")
def artifact_summary_too_long(case: ReturnContext) -> Iterator[ReturnViolation]:
    """An artifact's summary has more than two sentences.

    Why: it is a caption; the key points and the file have the details.

    Bad: a paragraph.

    Good: `"summary": "Analysis of how sessions are stored"`
    """
    if not case.has_format("hyper"):
        return
    for index, item in enumerate(case.items_at("artifacts")):
        summary = item.get("summary") if isinstance(item, dict) else None
        if isinstance(summary, str) and count_sentences(summary) > 2:  # noqa: PLR2004 - the rule itself
            yield ReturnViolation("the artifact's summary has more than two sentences", "Use one or two sentences.",
                                  f"/artifacts/{index}/summary")  # fmt: skip


@return_rule("RET074")
def partial_without_next_steps(case: ReturnContext) -> Iterator[ReturnViolation]:
    """The status is partial, and the next steps don't say what is left.

    Why: this format has no other field for it.

    Bad: `"status": "partial"` and `"next_steps": []`

    Good: `"next_steps": ["Rerun the mobile tests once the login page is fixed"]`
    """
    if case.has_format("hyper") and case.status == "partial" and not case.get("next_steps"):
        yield ReturnViolation(
            "the status is partial, but next_steps is empty", "Add to next_steps what is left and why.", "/next_steps"
        )
