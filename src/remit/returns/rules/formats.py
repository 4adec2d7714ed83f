"""Rules of a single format: `hyper` (RET07x), and the reply, entry and findings file of `manifest` (RET08x, RET09x)."""

from __future__ import annotations

from datetime import date
from typing import TYPE_CHECKING

from remit.lazy_regex import lazy
from remit.returns.formats.hyper import END_MARKER, START_MARKER
from remit.returns.formats.manifest import REASON_MARK
from remit.returns.rules.register import ReturnViolation, return_rule
from remit.sentences import count_sentences

if TYPE_CHECKING:
    from collections.abc import Iterator

    from remit.returns.parsed_message import ParsedMessage


KEY_POINTS = (3, 5)


@return_rule("RET070", severity="warning")
def markers_missing(parsed: ParsedMessage) -> Iterator[ReturnViolation]:
    """The return isn't between the output markers.

    Why: the markers distinguish the return from other JSON in the message.

    Bad: a bare fenced block.

    Good: `<!-- AGENT_OUTPUT_START -->`, the fenced block, `<!-- AGENT_OUTPUT_END -->`
    """
    if parsed.has_format("hyper") and not parsed.marked:
        yield ReturnViolation("the return isn't between the output markers",
                              f"Write {START_MARKER} before it and {END_MARKER} after it.")  # fmt: skip


@return_rule("RET071", severity="warning")
def key_point_count(parsed: ParsedMessage) -> Iterator[ReturnViolation]:
    """An artifact doesn't have three to five key points.

    Why: the orchestrator reads the key points instead of the file.

    Bad: `"key_points": ["It works"]`

    Good: three specific points.
    """
    if not parsed.has_format("hyper"):
        return
    for index, item in enumerate(parsed.items_at("artifacts")):
        points = item.get("key_points") if isinstance(item, dict) else None
        if isinstance(points, list) and not KEY_POINTS[0] <= len(points) <= KEY_POINTS[1]:
            yield ReturnViolation(
                f"the artifact has {len(points)} key points, expected 3 to 5",
                "Give 3 to 5 key points.",
                f"/artifacts/{index}/key_points",
            )


@return_rule("RET073", severity="warning")
def artifact_summary_too_long(parsed: ParsedMessage) -> Iterator[ReturnViolation]:
    """An artifact's summary has more than two sentences.

    Why: it is a caption; the key points and the file have the details.

    Bad: a paragraph.

    Good: `"summary": "Analysis of how sessions are stored"`
    """
    if not parsed.has_format("hyper"):
        return
    for index, item in enumerate(parsed.items_at("artifacts")):
        summary = item.get("summary") if isinstance(item, dict) else None
        if isinstance(summary, str) and count_sentences(summary) > 2:  # noqa: PLR2004 - the rule itself
            yield ReturnViolation("the artifact's summary has more than two sentences", "Use one or two sentences.",
                                  f"/artifacts/{index}/summary")  # fmt: skip


@return_rule("RET074")
def partial_without_next_steps(parsed: ParsedMessage) -> Iterator[ReturnViolation]:
    """The status is partial, and the next steps don't say what is left.

    Why: this format has no other field for it.

    Bad: `"status": "partial"` and `"next_steps": []`

    Good: `"next_steps": ["Rerun the mobile tests once the login page is fixed"]`
    """
    if parsed.has_format("hyper") and parsed.status == "partial" and not parsed.get("next_steps"):
        yield ReturnViolation(
            "the status is partial, but next_steps is empty", "Add to next_steps what is left and why.", "/next_steps"
        )


KEY_FINDINGS = (3, 7)
SECTIONS = ("Summary", "Findings", "Recommendations", "Sources", "Linked Tasks")
_SLUG = lazy(r"[a-z0-9]+(?:-[a-z0-9]+)*\Z")


def _is_date(text: str) -> bool:
    """Whether it is a day of the calendar, written YYYY-MM-DD."""
    try:
        return len(text) == len("YYYY-MM-DD") and date.fromisoformat(text) is not None
    except ValueError:
        return False


def _is_id(entry_id: str, day: str) -> bool:
    slug, found, rest = entry_id.rpartition(f"-{day}")
    return bool(found and _SLUG.match(slug) and (not rest or rest[1:].isdigit()))


def _is_file_name(name: str) -> bool:
    day, _, rest = name.partition("_")
    return bool(_is_date(day) and rest.endswith(".md") and _SLUG.match(rest[:-3]))


@return_rule("RET080", on_reading=True)
def extra_text_in_reply(parsed: ParsedMessage) -> Iterator[ReturnViolation]:
    """The reply has several lines besides its one sentence.

    Why: the reply fills the orchestrator's context; the findings belong in the file. One extra line is accepted.

    Bad: a reply with three paragraphs of findings, then the sentence.

    Good: `Research complete. See MANIFEST.jsonl for summary.`
    """
    yield from parsed.list_issues("reply")


@return_rule("RET081", verdict="missing", on_reading=True)
def entry_missing(parsed: ParsedMessage) -> Iterator[ReturnViolation]:
    """The reply names a manifest that doesn't exist or lacks the entry.

    Why: without its entry the work isn't found, and the sentence alone proves nothing.

    Bad: the sentence, without a manifest.

    Good: append the line first, then reply.
    """
    yield from parsed.list_issues("no_entry")


@return_rule("RET082", verdict="malformed", on_reading=True)
def line_not_json(parsed: ParsedMessage) -> Iterator[ReturnViolation]:
    """A line of the manifest isn't one JSON object.

    Why: programs read a manifest line by line. A pretty-printed object is several broken entries.

    Bad: an object printed with indentation.

    Good: `{"id":"auth-2026-01-19","file":"2026-01-19_auth.md",…}` on one line.
    """
    yield from parsed.list_issues("bad_line")


@return_rule("RET083", verdict="ambiguous")
def status_mismatch(parsed: ParsedMessage) -> Iterator[ReturnViolation]:
    """The reply and the manifest's entry have different statuses.

    Why: the entry belongs to other work, or one of the two is wrong. The same applies to work with two entries. A
    reply that reports less than complete is only a warning.

    Bad: `Research complete. …` and an entry with `"status": "blocked"`.

    Good: one entry, and the same status in both.
    """
    for report in parsed.list_issues("rival"):
        yield report._replace(severity=None if parsed.status == "completed" else "warning")
    if parsed.reply_status is not None and isinstance(parsed.word, str) and parsed.word != parsed.reply_status:
        message = f"the reply's status is {parsed.reply_status}, the manifest's last entry has {parsed.word}"
        yield ReturnViolation(message, "Use the same status in the entry and in the reply.", "/status")


@return_rule("RET084", severity="warning")
def entry_id_format(parsed: ParsedMessage) -> Iterator[ReturnViolation]:
    """The entry's id isn't `{topic-slug}-{date}`.

    Why: tasks and searches refer to an entry by its id.

    Bad: `"id": "Auth research"`

    Good: `"id": "auth-research-2026-01-19"` and `"date": "2026-01-19"`; the second entry of that day ends in `-2`.
    """
    if not parsed.has_format("manifest"):
        return
    entry_id, day = parsed.text_at("id"), parsed.text_at("date")
    if entry_id and not _is_id(entry_id, day):
        yield ReturnViolation(
            "the id isn't the topic followed by the date", f"Write it like topic-slug-{day or 'YYYY-MM-DD'}.", "/id"
        )


@return_rule("RET085")
def entry_date_invalid(parsed: ParsedMessage) -> Iterator[ReturnViolation]:
    """The entry's date isn't a valid date in the form YYYY-MM-DD.

    Why: entries are found by date, and other forms don't sort.

    Bad: `"date": "19.1.2026"`, `"date": "2026-02-31"`

    Good: `"date": "2026-01-19"`
    """
    day = parsed.text_at("date") if parsed.has_format("manifest") else ""
    if day and not _is_date(day):
        yield ReturnViolation(
            "the date isn't a valid date in the form YYYY-MM-DD", "Write the date as YYYY-MM-DD.", "/date"
        )


@return_rule("RET086", severity="warning")
def key_findings_count(parsed: ParsedMessage) -> Iterator[ReturnViolation]:
    """The key findings aren't three to seven single sentences.

    Why: agents read them instead of the file to decide what to do next.

    Bad: `"key_findings": ["Sessions are stored twice. The second store is never read."]`

    Good: three findings, each one like `"Use server-side sessions for the admin pages."`
    """
    findings = parsed.items_at("key_findings") if parsed.has_format("manifest") else []
    given = parsed.has_format("manifest") and isinstance(parsed.get("key_findings"), list)
    if given and not KEY_FINDINGS[0] <= len(findings) <= KEY_FINDINGS[1]:
        yield ReturnViolation(
            f"there are {len(findings)} key findings, expected 3 to 7", "Give 3 to 7 findings.", "/key_findings"
        )
    for index, finding in enumerate(findings):
        if isinstance(finding, str) and count_sentences(finding) > 1:
            yield ReturnViolation(
                "the finding has more than one sentence", "Use one sentence.", f"/key_findings/{index}"
            )


@return_rule("RET087", severity="warning")
def findings_file_name(parsed: ParsedMessage) -> Iterator[ReturnViolation]:
    """The findings file isn't named `{date}_{topic-slug}.md`.

    Why: users look for the file by date and topic.

    Bad: `"file": "notes.md"`

    Good: `"file": "2026-01-19_auth-research.md"`
    """
    name = parsed.text_at("file").rpartition("/")[2] if parsed.has_format("manifest") else ""
    if name and not _is_file_name(name):
        yield ReturnViolation(
            "the file's name isn't the date and the topic", "Name it YYYY-MM-DD_topic-slug.md.", "/file"
        )


@return_rule("RET088")
def reason_missing(parsed: ParsedMessage) -> Iterator[ReturnViolation]:
    """A partial or blocked entry has no reason in needs_followup, or a complete entry has a blocker there.

    Why: this format has no other field for it.

    Bad: `{"status": "blocked", "needs_followup": [], …}`, `{"status": "complete", "needs_followup": ["BLOCKED:…"],
    …}`

    Good: `{"status": "blocked", "needs_followup": ["BLOCKED:no access to the staging database"], …}`
    """
    if parsed.has_format("manifest") and parsed.status in ("partial", "blocked") and not parsed.get("needs_followup"):
        yield ReturnViolation(
            f"the status is {parsed.word}, but needs_followup is empty",
            'Add "BLOCKED:" and the reason to needs_followup.',
            "/needs_followup",
        )
    reasons = (
        parsed.items_at("needs_followup") if parsed.has_format("manifest") and parsed.status == "completed" else []
    )
    if any(isinstance(reason, str) and reason.strip().startswith(REASON_MARK) for reason in reasons):
        message = "the status is complete, but needs_followup has a blocker"
        yield ReturnViolation(message, "Use status blocked, or remove the blocker.", "/needs_followup")


@return_rule("RET089")
def findings_file_missing(parsed: ParsedMessage) -> Iterator[ReturnViolation]:
    """The entry exists, but its findings file doesn't.

    Why: agents often append the entry and forget the file. For partial and blocked work, this is a warning, like
    every missing file.

    Bad: an entry whose `file` doesn't exist.

    Good: write the file, append the entry, then reply.
    """
    facts = parsed.evidence.get(parsed.text_at("file")) if parsed.has_format("manifest") else None
    if facts is not None and facts.state in ("missing", "empty", "unreadable"):
        yield ReturnViolation(
            "the manifest has the entry, but the findings file doesn't exist",
            "Write the findings file, then the entry, then reply.",
            "/file",
            parsed.missing_severity,
        )


@return_rule("RET090", severity="warning")
def findings_file_incomplete(parsed: ParsedMessage) -> Iterator[ReturnViolation]:
    """The findings file lacks a title or one of its sections.

    Why: later agents read single sections.

    Bad: a page of notes.

    Good: `# Title`, then Summary, Findings, Recommendations, Sources, Linked Tasks.
    """
    if parsed.findings_text is None or not parsed.has_format("manifest"):
        return
    lines = [line.strip() for line in parsed.findings_text.splitlines()]
    absent = [name for name in SECTIONS if f"## {name}" not in lines]
    if not any(line.startswith("# ") for line in lines):
        absent.insert(0, "a title")
    if absent:
        yield ReturnViolation(f"the findings file lacks {', '.join(absent)}", "Add the missing parts.", "/file")
