"""`remit findings list` and `remit findings show`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from remit.cli import options
from remit.cli.commands.findings_options import (
    FILTERS,
    count_entries,
    filters,
    manifest_file,
    pages,
    parse_count,
    tell_bad_lines,
)
from remit.cli.output import get_paint, name_file, say, say_json
from remit.errors import UsageError
from remit.terminal import count_columns, escape, quote
from remit.views.json_objects import build_finding, build_finding_details
from remit.views.render import ACCEPTED

if TYPE_CHECKING:
    from remit.manifest.entries import ManifestEntry
    from remit.manifest.search import EntryPage
    from remit.runs.workspace_findings import Shown
    from remit.terminal import Paint

_STYLES = {"complete": "good", "completed": "good", "partial": "warning", "blocked": "error"}
_STATUS_WIDTH = len("complete")
_ID_WIDTH = 40


@click.command(cls=options.Command)
@click.argument("entry_id", metavar="[ID]", required=False)
@click.option("--line", type=parse_count, metavar="N", help="Finding on this line, instead of by ID.")
@manifest_file
@options.output_format("full", "json")
def show(entry_id: str | None, *, line: int | None, manifest: str | None, output_format: str) -> int:
    """Show the finding ID: its key findings, its file, and the tasks linked from either side.

    Exit code 0: shown, 2: could not run.
    """
    from remit.runs.workspace_findings import Manifest

    opened = Manifest(manifest)
    if (entry_id is None) == (line is None):
        raise UsageError("an entry is shown by its id or by its line", hint="give ID or --line N")
    tell_bad_lines(opened)
    shown = opened.show(entry_id) if entry_id is not None else opened.show_line(line or 0)
    if output_format == "json":
        say_json(build_finding_details(shown, opened.root))
    else:
        _say_shown(shown)
    return ACCEPTED


@click.command(cls=options.Command)
@click.argument("words", metavar="[WORD…]", nargs=-1)
@click.option("--pending", is_flag=True, help="Only pending findings.")
@filters
@pages
@manifest_file
@options.output_format("full", "json")
def list_findings(words: tuple[str, ...], *, pending: bool, **asked: Any) -> int:  # noqa: ANN401 - the options
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
    found = opened.find(query, limit=asked["limit"], page=asked["page"])
    if asked["output_format"] == "json":
        entries = [build_finding(entry) for entry in found.entries]
        say_json(
            {"manifest": name_file(opened.file), "entries": entries, "page": asked["page"], "more": found.has_more}
        )
    else:
        paint, columns = get_paint(), count_columns()
        width = max((len(_name(entry)) for entry in found.entries), default=0)
        for entry in found.entries:
            say(_render_row(entry, min(width, _ID_WIDTH), paint, columns, followups=pending))
        say(_sum_up(found, asked["page"]))
    tell_bad_lines(opened)
    return ACCEPTED


def _sum_up(found: EntryPage, page: int) -> str:
    if not found.entries:
        return "no entries" if page == 1 else f"no entries on page {page}"
    more = f", more with --page {page + 1}" if found.has_more else ""
    return f"{count_entries(len(found.entries))}{more}"


def _name(entry: ManifestEntry) -> str:
    """What an entry is called: its id, else its line."""
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


def _say_shown(shown: Shown) -> None:
    entry, paint = shown.entry, get_paint()
    say(f"{paint('strong', _name(entry))}  {quote(entry.get_text('title'))}".rstrip())
    status = escape(entry.get_text("status")) or "no status"
    actionable = "actionable" if entry.fields.get("actionable") is True else "not actionable"
    day = escape(entry.get_text("date")) or "no date"
    say(f"{paint(_STYLES.get(status.lower(), 'strong'), status)}, {actionable}, {day}, line {entry.line}")
    for finding in entry.get_list("key_findings"):
        say(f"  - {quote(finding)}")
    file = quote(entry.get_text("file"))
    where = "" if shown.file is not None else " (not there)"
    rows = [
        ("file", f"{file}{where}" if file else ""),
        ("topics", ", ".join(quote(topic) for topic in entry.get_list("topics"))),
        ("follow-ups", ", ".join(quote(each) for each in entry.get_list("needs_followup"))),
        ("names tasks", ", ".join(quote(task) for task in entry.get_list("linked_tasks"))),
        ("linked from", ", ".join(f"task {number}" for number in shown.tasks)),
    ]
    for label, text in rows:
        if text:
            say(f"{label + ':':<12} {text}")
    if len(shown.lines) > 1:
        others = ", ".join(str(line) for line in shown.lines if line != entry.line)
        say(f"note: the same id is on line {others}, too; show --line shows it", stderr=True)
    if shown.trouble:
        say(f"note: the tasks could not be asked: {quote(shown.trouble)}", stderr=True)
