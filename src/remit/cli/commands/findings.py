"""`remit findings add`, `list`, `show`, `validate`, `stats` and `reindex`: manage the findings in a manifest."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from remit.cli import options
from remit.cli.diagnostics_output import DIAGNOSTIC_OUTPUTS
from remit.cli.output import get_paint, name_file, print_json, print_lines, report_error
from remit.errors import InputError, UsageError
from remit.manifest import parse_day, parse_slug
from remit.terminal import count_columns, escape, quote
from remit.views.json_builders import build_added_finding, build_finding_details
from remit.views.render import ACCEPTED, COULD_NOT_RUN, NOT_ACCEPTED, count, count_diagnostics, render_losses

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from remit.cli.diagnostics_output import DiagnosticOutput
    from remit.manifest.append import AppendResult
    from remit.manifest.counts import ManifestStatistics
    from remit.manifest.entries import ManifestEntry
    from remit.manifest.search import EntryPage
    from remit.runs.workspace_findings import Manifest, ShownEntry, ValidatedManifests
    from remit.terminal import Paint


MAX_LIMIT = 1000
_BAD_LINES_SHOWN = 3
FILTERS = ("topic", "task", "status", "since", "until", "actionable")
"""The names of the options that filter entries."""

manifest_file = click.option("--manifest", metavar="FILE", help="Manifest. Default: the workspace's.")


def parse_limit(value: str) -> int:
    """Parse the number of entries per page."""
    limit = options.parse_number(value)
    if limit > MAX_LIMIT:
        raise UsageError(
            f"{limit} entries per page are too many", hint=f"give at most {MAX_LIMIT}, or use: remit findings export"
        )
    return limit


def filters(function: Callable[..., int]) -> Callable[..., int]:
    """Add the options that filter entries to a command."""
    for option in reversed(
        (
            click.option("--topic", metavar="TAG", help="Only findings with this topic."),
            click.option(
                "--task", metavar="ID", help="Only findings of this task. 12, T12, #12 and task-12 are the same."
            ),
            click.option("--status", metavar="STATUS", help="Only findings with this status."),
            click.option("--since", type=parse_day, metavar="YYYY-MM-DD", help="Only findings since this day."),
            click.option("--until", type=parse_day, metavar="YYYY-MM-DD", help="Only findings until this day."),
            click.option(
                "--actionable/--no-actionable", default=None, help="Only findings that ask for action, or that don't."
            ),
        )
    ):
        function = option(function)
    return function


def pages(function: Callable[..., int]) -> Callable[..., int]:
    """Add the options for pages of entries to a command."""
    limit = click.option("--limit", type=parse_limit, default="20", metavar="N", help="Findings per page. Default: 20.")
    page = click.option("--page", type=options.parse_number, default="1", metavar="N", help="Page number. Default: 1.")
    return limit(page(function))


def count_entries(number: int) -> str:
    """Render a number of entries: `1 entry`, `3 entries`."""
    return f"{number:,} {'entry' if number == 1 else 'entries'}"


def report_bad_lines(opened: Manifest) -> None:
    """Report on standard error the lines of a manifest that aren't valid entries."""
    bad = opened.find_bad_lines(limit=_BAD_LINES_SHOWN + 1)
    if bad:
        lines = ", ".join(str(each.line) for each in bad[:_BAD_LINES_SHOWN])
        more = ", …" if len(bad) > _BAD_LINES_SHOWN else ""
        where = f"line {lines} isn't a valid entry" if len(bad) == 1 else f"lines {lines}{more} aren't valid entries"
        print_lines(f"note: {where}; for details, run: remit findings validate", stderr=True)


_STYLES = {"complete": "good", "completed": "good", "partial": "warning", "blocked": "error"}
_STATUS_WIDTH = len("complete")
_ID_WIDTH = 40


@click.command(cls=options.Command)
@click.argument("entry_id", metavar="[ID]", required=False)
@click.option("--line", type=options.parse_number, metavar="N", help="Finding on this line, instead of by ID.")
@manifest_file
@options.output_format("full", "json")
def show(entry_id: str | None, *, line: int | None, manifest: str | None, output_format: str) -> int:
    """Show the finding ID: its key findings, its file, and the tasks linked from either side.

    Exit code 0: shown, 2: could not run.
    """
    from remit.runs.workspace_findings import Manifest

    opened = Manifest(manifest)
    if (entry_id is None) == (line is None):
        raise UsageError("expected either ID or --line", hint="give one of the two")
    report_bad_lines(opened)
    shown = opened.show(entry_id) if entry_id is not None else opened.show_line(line or 0)
    if output_format == "json":
        print_json(build_finding_details(shown, opened.root))
    else:
        _print_shown(shown)
    return ACCEPTED


@click.command(cls=options.Command)
@click.argument("words", metavar="[WORD…]", nargs=-1)
@click.option("--pending", is_flag=True, help="Only pending findings.")
@filters
@pages
@manifest_file
@options.output_format("full", "json")
def list_findings(words: tuple[str, ...], *, pending: bool, **asked: Any) -> int:  # noqa: ANN401 - options
    """List findings, newest first; with WORDs, those that have every WORD in id, title, topics or key findings.

    Endings of English words don't matter. If nothing matches, the last word may be the beginning of a longer one, from
    4 letters on. Words in quotation marks of their own ('"rate limit"') must stand together.

    A finding is pending while it names a follow-up, or its status is partial or blocked; not once it is superseded,
    archived, rejected, deprecated or abandoned. Add --actionable for those that also ask for action.

    Exit code 0: listed, also if nothing matches, 2: could not run.
    """
    from remit.runs.workspace_findings import Manifest, make_query

    opened = Manifest(asked["manifest"])
    query = make_query(words=words, pending=pending, **{name: asked[name] for name in FILTERS})
    if asked["output_format"] == "json":
        from remit.views.findings import load_finding_page

        print_json(load_finding_page(opened, query, limit=asked["limit"], page=asked["page"]))
    else:
        found = opened.find(query, limit=asked["limit"], page=asked["page"])
        paint, columns = get_paint(), count_columns()
        width = max((len(_name(entry)) for entry in found.entries), default=0)
        for entry in found.entries:
            print_lines(_render_row(entry, min(width, _ID_WIDTH), paint, columns, followups=pending))
        print_lines(_sum_up(found, asked["page"]))
    report_bad_lines(opened)
    return ACCEPTED


def _sum_up(found: EntryPage, page: int) -> str:
    if not found.entries:
        return "no entries" if page == 1 else f"no entries on page {page}"
    more = f", more with --page {page + 1}" if found.has_more else ""
    return f"{count_entries(len(found.entries))}{more}"


def _name(entry: ManifestEntry) -> str:
    """Return the ID of an entry, else its line."""
    return escape(entry.id) or f"line {entry.line}"


def _render_row(entry: ManifestEntry, width: int, paint: Paint, columns: int, *, followups: bool) -> str:
    day = escape(entry.get_text("date")[:10]).ljust(10)
    status = escape(entry.get_text("status"))[:_STATUS_WIDTH]
    name = _cut(_name(entry), width)
    room = columns - 10 - _STATUS_WIDTH - width - 6
    rest = entry.get_text("title")
    if followups and entry.get_list("needs_followup"):
        rest = (
            f"{rest}: {', '.join(entry.get_list('needs_followup'))}"
            if rest
            else ", ".join(entry.get_list("needs_followup"))
        )
    painted = paint(_STYLES.get(status.lower(), "strong"), status.ljust(_STATUS_WIDTH))
    return f"{day}  {painted}  {name.ljust(width)}  {_cut(quote(rest), max(room, 20))}".rstrip()


def _cut(text: str, room: int) -> str:
    return text if len(text) <= room else f"{text[: room - 1]}…"


def _print_shown(shown: ShownEntry) -> None:
    entry, paint = shown.entry, get_paint()
    print_lines(f"{paint('strong', _name(entry))}  {quote(entry.get_text('title'))}".rstrip())
    status = escape(entry.get_text("status")) or "no status"
    actionable = "actionable" if entry.fields.get("actionable") is True else "not actionable"
    day = escape(entry.get_text("date")) or "no date"
    print_lines(f"{paint(_STYLES.get(status.lower(), 'strong'), status)}, {actionable}, {day}, line {entry.line}")
    for finding in entry.get_list("key_findings"):
        print_lines(f"  - {quote(finding)}")
    file = quote(entry.get_text("file"))
    where = "" if shown.file is not None else " (missing)"
    rows = [
        ("file", f"{file}{where}" if file else ""),
        ("topics", ", ".join(quote(topic) for topic in entry.get_list("topics"))),
        ("follow-ups", ", ".join(quote(each) for each in entry.get_list("needs_followup"))),
        ("tasks", ", ".join(quote(task) for task in entry.get_list("linked_tasks"))),
        ("linked from", ", ".join(f"task {number}" for number in shown.tasks)),
    ]
    for label, text in rows:
        if text:
            print_lines(f"{label + ':':<12} {text}")
    if len(shown.lines) > 1:
        others = ", ".join(str(line) for line in shown.lines if line != entry.line)
        print_lines(f"note: line {others} has the same ID; to see it, use: --line N", stderr=True)
    if shown.trouble:
        print_lines(f"note: the tasks could not be read: {quote(shown.trouble)}", stderr=True)


_LISTS = {"topics": "topics", "findings": "key_findings", "followups": "needs_followup", "tasks": "linked_tasks"}
"""Options that can be repeated, and the field that each sets."""
_FIRST = "give --title TEXT, --finding TEXT (3 to 7 of them) and --write-file, or --entry FILE"
_SINGLE = ("title", "status", "actionable", "file", "date")


@click.command(cls=options.Command)
@click.option("--title", metavar="TEXT", help="Title.")
@click.option("--topic", "topics", metavar="TAG", multiple=True, help="Topic to find it by. Can be repeated.")
@click.option(
    "--finding", "findings", metavar="TEXT", multiple=True, help="Key finding, in a sentence. Required 3 to 7 times."
)
@click.option("--status", metavar="STATUS", help="complete, partial or blocked. Default: complete.")
@click.option("--actionable/--no-actionable", default=None, help="Whether the finding asks for action. Default: yes.")
@click.option(
    "--followup",
    "followups",
    metavar="TASK|REASON",
    multiple=True,
    help="Follow-up: a task ID, or the reason for a block. Can be repeated.",
)
@click.option("--task", "tasks", metavar="ID", multiple=True, help="Task that it belongs to. Can be repeated.")
@click.option("--date", type=parse_day, metavar="YYYY-MM-DD", help="Day. Default: today.")
@click.option("--slug", type=parse_slug, metavar="TOPIC", help="Topic in ID and file name. Default: from the title.")
@click.option("--file", metavar="PATH", help="Findings file. Default: DATE_TOPIC.md beside the manifest.")
@click.option("--entry", "source", metavar="FILE|-", help="Entry as a JSON object. Options override its fields.")
@click.option("--write-file", is_flag=True, help="Create the findings file from the options. It must not exist yet.")
@click.option("--summary", metavar="TEXT", help="With --write-file: summary, in 2 or 3 sentences.")
@click.option(
    "--recommendation",
    "recommendations",
    metavar="TEXT",
    multiple=True,
    help="With --write-file: recommendation. Can be repeated.",
)
@click.option("--source", "sources", metavar="TEXT", multiple=True, help="With --write-file: source. Can be repeated.")
@manifest_file
@options.output_format("full", "json")
def add(
    *,
    manifest: str | None,
    source: str | None,
    slug: str | None,
    write_file: bool,
    output_format: str,
    **given: Any,  # noqa: ANN401 - options
) -> int:
    """Add a finding to the manifest, as one line, after its findings file was written.

    The ID is TOPIC-DATE, with a number if that is taken. The entry is checked first, by the rules of
    `remit findings validate`, and not added if it has an error. A follow-up that isn't a task ID is written as
    BLOCKED:reason. Exit code 0: added, 1: not added, 2: could not run.
    """
    from remit.runs.workspace_findings import Manifest, load_entry, make_page

    if source is None and given["title"] is None:
        raise UsageError("--title or --entry is missing", hint=_FIRST)
    fields = _choose_fields(given, {} if source is None else load_entry(source))
    opened = Manifest(manifest, may_begin=True)
    texts = {
        "summary": given["summary"] or "",
        "recommendations": given["recommendations"],
        "sources": given["sources"],
    }
    page = make_page(fields, **texts) if write_file else None
    added = opened.add(fields, day=_today(), slug=slug, page=page)
    if output_format == "json":
        file = opened.find_findings_file(str(added.fields.get("file")))
        print_json(build_added_finding(added, name_file(opened.file), None if file is None else name_file(file)))
    else:
        _show_added(opened, added)
    return ACCEPTED if added.accepted else NOT_ACCEPTED


def _today() -> str:
    from datetime import datetime

    return datetime.now().astimezone().date().isoformat()


def _choose_fields(given: dict[str, Any], entry: dict[str, Any]) -> dict[str, Any]:
    """Return the fields of an entry: from the options, else from the JSON, else the defaults."""
    fields = {"status": "complete", "actionable": True} | entry
    fields |= {name: given[name] for name in _SINGLE if given[name] is not None}
    return fields | {field: list(given[name]) for name, field in _LISTS.items() if given[name]}


def _show_added(opened: Manifest, added: AppendResult) -> None:
    paint = get_paint()
    for line in render_losses(added.diagnostics, paint=paint):
        print_lines(line)
    text = f": {count_diagnostics(added.diagnostics)}" if added.diagnostics else ""
    if added.accepted:
        print_lines(
            f"{paint('good', '✓')} {escape(added.fields['id'])} added to {escape(name_file(opened.file))}{text}"
        )
        return
    print_lines(f"{paint('error', '✗')} not added{text}")


@click.command(cls=options.Command)
@click.argument("files", nargs=-1, metavar="[FILE…]")
@click.option(
    "--files/--no-files", "with_pages", default=True, help="Whether findings files are checked, too. Default: yes."
)
@click.option(
    "--baseline",
    metavar="FILE",
    help="Ignore issues listed in FILE. Created on first use; later runs only remove entries.",
)
@options.output_format("full", "concise", "json", "github")
def validate(files: tuple[str, ...], *, with_pages: bool, baseline: str | None, output_format: str) -> int:
    """Check every line of each FILE, or of the workspace's manifest: JSON, fields, ID and findings file.

    Findings files are checked after the lines: title, sections, and blanks that were not filled in. With --baseline, an
    append-only manifest can be checked from now on: the first run records today's problems in FILE, and later runs
    report new ones. Exit code 0: no errors, 1: errors, 2: could not run.
    """
    from remit.manifest.manifest_file import find_manifest
    from remit.runs.workspace_findings import ValidatedManifests

    show = DIAGNOSTIC_OUTPUTS[output_format]()
    found = files or tuple(file for file in (find_manifest(here=True),) if file is not None)
    validated = None if baseline is None else ValidatedManifests()
    unreadable = 0
    for file in found:
        try:
            if validated is None:
                _validate(file, show, with_pages=with_pages)
            else:
                validated.add(file, with_pages=with_pages)
        except InputError as error:
            report_error(error, as_json=output_format == "json")
            unreadable += 1
    left_out = ""
    if baseline is not None and validated is not None and validated.rows:
        left_out = _subtract(validated, baseline, show)
    if not found:
        show.close("no manifest found; name a file")
    else:
        mark = show.paint("error", "✗") if show.failed or unreadable else show.paint("good", "✓")
        facts = [show.count(), f"{unreadable} could not be read" if unreadable else ""]
        text = ", ".join(fact for fact in facts if fact) or "no problems"
        show.close(f"{left_out}{mark} {count(len(found), 'manifest')}: {text}")
    return COULD_NOT_RUN if unreadable else NOT_ACCEPTED if show.failed else ACCEPTED


def _subtract(validated: ValidatedManifests, baseline: str, show: DiagnosticOutput) -> str:
    """Show the diagnostics that the baseline doesn't list, and return a sentence about those that it lists."""
    from remit.views.excerpt import ExcerptSpan

    weighed = validated.subtract(baseline)
    for rows in validated.rows.values():
        for finding, file, text, first_line in rows:
            show.add(finding, name_file(file), ExcerptSpan(text, first_line))
    if weighed.created or weighed.shorter:
        what = "was created with" if weighed.created else "now has"
        return f"{escape(name_file(baseline))} {what} {count(weighed.remaining, 'diagnostic')}.\n"
    return f"{count(weighed.known, 'diagnostic')} ignored: listed in the baseline.\n" if weighed.known else ""


def _validate(file: str, show: DiagnosticOutput, *, with_pages: bool) -> None:
    from remit.runs import workspace_findings
    from remit.runs.workspace_findings import validate_findings_files
    from remit.views.excerpt import ExcerptSpan

    name = name_file(file)
    for finding, text, first_line in workspace_findings.validate_manifest(file):
        show.add(finding, name, ExcerptSpan(text, first_line))
    for page in validate_findings_files(file) if with_pages else ():
        for finding in page.diagnostics:
            show.add(finding, name_file(page.file), ExcerptSpan(page.text, 1))


_MAX_DUPLICATES = 5


@click.command(cls=options.Command)
@manifest_file
@options.output_format("full", "json")
def reindex(*, manifest: str | None, output_format: str) -> int:
    """Rebuild the index of the manifest from its file. Findings can be added and read meanwhile.

    This is rarely needed: Remit compares the index with the file whenever something else has changed the file. Only a
    change within one tick of the system's clock after an entry was added could go unnoticed. Exit code 0: rebuilt,
    2: could not run.
    """
    from remit.runs.workspace_findings import Manifest

    opened = Manifest(manifest)
    done = opened.rebuild()
    if output_format == "json":
        print_json({"manifest": name_file(opened.file), **done._asdict()})
    else:
        bad = f", {count(done.bad_lines, 'line')} that can't be read" if done.bad_lines else ""
        print_lines(f"{get_paint()('good', '✓')} {escape(name_file(opened.file))}: {count_entries(done.entries)}{bad}")
    return ACCEPTED


@click.command(cls=options.Command)
@manifest_file
@options.output_format("full", "json")
def stats(*, manifest: str | None, output_format: str) -> int:
    """Count findings by status, topic and date, and problems of the file.

    Exit code 0: counted, 2: could not run.
    """
    from remit.runs.workspace_findings import Manifest

    opened = Manifest(manifest)
    counted = opened.count()
    if output_format == "json":
        print_json(
            {
                "manifest": name_file(opened.file),
                **counted._asdict(),
                "statuses": dict(counted.statuses),
                "topics": dict(counted.topics),
                "doubled_ids": dict(counted.doubled_ids),
            }
        )
    else:
        for label, text in _list_statistics(counted):
            print_lines(f"{label:<12} {text}")
    return ACCEPTED


def _list_statistics(counted: ManifestStatistics) -> Iterator[tuple[str, str]]:
    yield "entries", f"{counted.entries:,} on {counted.lines:,} line{'' if counted.lines == 1 else 's'}"
    if counted.first_day is not None:
        yield "from", f"{counted.first_day} to {counted.last_day}"
    yield "statuses", ", ".join(f"{number:,} {quote(word) or 'without one'}" for word, number in counted.statuses)
    yield "pending", f"{counted.pending:,}"
    yield "actionable", f"{counted.actionable:,}"
    if counted.topics:
        yield "topics", ", ".join(f"{quote(topic)} ({number:,})" for topic, number in counted.topics)
    if counted.without_id:
        yield "without id", f"{counted.without_id:,}, shown by line only"
    if counted.doubled_ids:
        shown = ", ".join(
            f"{quote(entry_id)} ({number:,} times)" for entry_id, number in counted.doubled_ids[:_MAX_DUPLICATES]
        )
        yield "duplicates", f"{shown}{', …' if len(counted.doubled_ids) > _MAX_DUPLICATES else ''}"
    if counted.bad_lines:
        yield "bad lines", f"{counted.bad_lines:,}; for details, run: remit findings validate"
    if counted.is_torn:
        yield "last line", "cut off; for details, run: remit findings validate"
