"""Rules of the `manifest` format alone: the sentence, the line, the findings file."""

from __future__ import annotations

from datetime import date
from typing import TYPE_CHECKING

from remit.lazy_regex import lazy
from remit.returns.formats.manifest import REASON_MARK
from remit.returns.rules.register import ReturnContext, ReturnViolation, return_rule
from remit.sentences import count_sentences

if TYPE_CHECKING:
    from collections.abc import Iterator

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
def extra_text_in_reply(case: ReturnContext) -> Iterator[ReturnViolation]:
    """Anti-pattern "returning full content": the reply has several lines beside its one sentence.

    Why: the reply goes into the orchestrator's context; the findings belong into the file. One line of prose is
    tolerated.

    Bad: a reply with the findings in three paragraphs, and then the sentence.

    Good: `Research complete. See MANIFEST.jsonl for summary.`
    """
    yield from case.tell("reply")


@return_rule("RET081", verdict="missing", on_reading=True)
def entry_missing(case: ReturnContext) -> Iterator[ReturnViolation]:
    """Anti-pattern "missing manifest entry": the sentence points to a manifest that has no entry, or to none.

    Why: without the line nobody finds the work; and a sentence alone proves nothing.

    Bad: the sentence, and a manifest that does not exist.

    Good: append the line first, then reply.
    """
    yield from case.tell("no_entry")


@return_rule("RET082", verdict="malformed", on_reading=True)
def line_not_json(case: ReturnContext) -> Iterator[ReturnViolation]:
    """Anti-pattern "pretty-printed JSON": a line of the manifest is not one JSON object.

    Why: a manifest is read line by line. An object over several lines is several broken entries.

    Bad: an object printed with indentation.

    Good: `{"id":"auth-2026-01-19","file":"2026-01-19_auth.md",…}` on one line.
    """
    yield from case.tell("bad_line")


@return_rule("RET083", verdict="ambiguous")
def status_mismatch(case: ReturnContext) -> Iterator[ReturnViolation]:
    """The sentence says one status, the manifest's entry another.

    Why: either the entry is somebody else's, or one of the two is not true. The same holds where the work has two
    entries, whichever of them comes last; a reply that says less than complete is then only told so.

    Bad: `Research complete. …` and an entry with `"status": "blocked"`.

    Good: one entry, and the same word in both.
    """
    for report in case.tell("rival"):
        yield report._replace(severity=None if case.status == "completed" else "warning")
    if case.reply_status is not None and isinstance(case.word, str) and case.word != case.reply_status:
        yield ReturnViolation(f"the reply says {case.reply_status}, the manifest's last entry says {case.word}",
                              "Make the entry and the reply say the same.", "/status")  # fmt: skip


@return_rule("RET084", severity="warning")
def entry_id_format(case: ReturnContext) -> Iterator[ReturnViolation]:
    """The entry's id is not `{topic-slug}-{date}`.

    Why: the id is how the entry is looked up, and what a task links to.

    Bad: `"id": "Auth research"`

    Good: `"id": "auth-research-2026-01-19"` and `"date": "2026-01-19"`; a second one on that day ends in `-2`.
    """
    if not case.is_dialect("manifest"):
        return
    entry_id, day = case.text_at("id"), case.text_at("date")
    if entry_id and not _is_id(entry_id, day):
        yield ReturnViolation(
            "the id is not made of the topic and the date", f"Write it like topic-slug-{day or 'YYYY-MM-DD'}.", "/id"
        )


@return_rule("RET085")
def entry_date_invalid(case: ReturnContext) -> Iterator[ReturnViolation]:
    """The entry's date is not a day of the calendar, written YYYY-MM-DD.

    Why: entries are found by date, and other spellings do not sort.

    Bad: `"date": "19.1.2026"`, `"date": "2026-02-31"`

    Good: `"date": "2026-01-19"`
    """
    day = case.text_at("date") if case.is_dialect("manifest") else ""
    if day and not _is_date(day):
        yield ReturnViolation("the date is not a day written YYYY-MM-DD", "Write the day as YYYY-MM-DD.", "/date")


@return_rule("RET086", severity="warning")
def key_findings_count(case: ReturnContext) -> Iterator[ReturnViolation]:
    """The key findings are not three to seven single sentences.

    Why: agents that decide what to do next read them instead of the file.

    Bad: `"key_findings": ["Sessions are stored twice. The second store is never read."]`

    Good: three findings, each one like `"Use server-side sessions for the admin pages."`
    """
    findings = case.items_at("key_findings") if case.is_dialect("manifest") else []
    given = case.is_dialect("manifest") and isinstance(case.get("key_findings"), list)
    if given and not KEY_FINDINGS[0] <= len(findings) <= KEY_FINDINGS[1]:
        yield ReturnViolation(
            f"there are {len(findings)} key findings, 3 to 7 are wanted", "Give 3 to 7 findings.", "/key_findings"
        )
    for index, finding in enumerate(findings):
        if isinstance(finding, str) and count_sentences(finding) > 1:
            yield ReturnViolation("the finding has more than one sentence", "Say it in one.", f"/key_findings/{index}")


@return_rule("RET087", severity="warning")
def findings_file_name(case: ReturnContext) -> Iterator[ReturnViolation]:
    """The findings file is not named `{date}_{topic-slug}.md`.

    Why: people look for it by day and topic.

    Bad: `"file": "notes.md"`

    Good: `"file": "2026-01-19_auth-research.md"`
    """
    name = case.text_at("file").rpartition("/")[2] if case.is_dialect("manifest") else ""
    if name and not _is_file_name(name):
        yield ReturnViolation("the file is not named by date and topic", "Name it YYYY-MM-DD_topic-slug.md.", "/file")


@return_rule("RET088")
def reason_missing(case: ReturnContext) -> Iterator[ReturnViolation]:
    """Partial or blocked work has no reason in needs_followup, or complete work names a blocker there.

    Why: it is the only place where this format can say it.

    Bad: `{"status": "blocked", "needs_followup": [], …}`, `{"status": "complete", "needs_followup": ["BLOCKED:…"], …}`

    Good: `{"status": "blocked", "needs_followup": ["BLOCKED:no access to the staging database"], …}`
    """
    if case.is_dialect("manifest") and case.status in ("partial", "blocked") and not case.get("needs_followup"):
        yield ReturnViolation(
            f"the work is {case.word}, but needs_followup is empty", "Write BLOCKED: and the reason.", "/needs_followup"
        )
    reasons = case.items_at("needs_followup") if case.is_dialect("manifest") and case.status == "completed" else []
    if any(isinstance(reason, str) and reason.strip().startswith(REASON_MARK) for reason in reasons):
        message = "the work is complete, but needs_followup names a blocker"
        yield ReturnViolation(message, "Write blocked, or remove the blocker.", "/needs_followup")


@return_rule("RET089")
def findings_file_missing(case: ReturnContext) -> Iterator[ReturnViolation]:
    """Anti-pattern "incomplete checklist": the entry is there, the findings file is not.

    Why: the checklist before the reply exists because the file is what gets forgotten. For partial and blocked work it
    is a warning, as every missing file is.

    Bad: an entry whose `file` nobody wrote.

    Good: write the file, then the line, then reply.
    """
    facts = case.evidence.get(case.text_at("file")) if case.is_dialect("manifest") else None
    if facts is not None and facts.state in ("missing", "empty", "unreadable"):
        yield ReturnViolation(
            "the manifest has the entry, but the findings file is not written",
            "Go through the checklist: file, line, task, reply.",
            "/file",
            case.missing_severity,
        )


@return_rule("RET090", severity="warning")
def findings_file_incomplete(case: ReturnContext) -> Iterator[ReturnViolation]:
    """The findings file lacks a title or one of its sections.

    Why: agents that come later read it by section.

    Bad: a page of notes.

    Good: `# Title`, then Summary, Findings, Recommendations, Sources, Linked Tasks.
    """
    if case.findings_text is None or not case.is_dialect("manifest"):
        return
    lines = [line.strip() for line in case.findings_text.splitlines()]
    absent = [name for name in SECTIONS if f"## {name}" not in lines]
    if not any(line.startswith("# ") for line in lines):
        absent.insert(0, "a title")
    if absent:
        yield ReturnViolation(f"the findings file lacks {', '.join(absent)}", "Add what is missing.", "/file")
