"""`remit findings add`: one more entry, from options or from JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from remit.cli import options
from remit.cli.commands.findings_options import manifest_file
from remit.cli.output import get_paint, name_file, say, say_json
from remit.errors import UsageError
from remit.manifest.field_values import parse_day, parse_slug
from remit.terminal import escape
from remit.views.json_objects import build_added_finding
from remit.views.render import ACCEPTED, NOT_ACCEPTED, count_findings, render_losses

if TYPE_CHECKING:
    from remit.manifest.append import Added
    from remit.runs.workspace_findings import Manifest

_LISTS = {"topics": "topics", "findings": "key_findings", "followups": "needs_followup", "tasks": "linked_tasks"}
"""Options that can be given several times, and the field that each is."""
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
    **given: Any,  # noqa: ANN401 - the options
) -> int:
    """Add a finding to the manifest, as one line, after its findings file was written.

    The ID is TOPIC-DATE, with a number if that is taken. The entry is checked first, by the rules of
    `remit findings validate`, and not added if it has an error. A follow-up that isn't a task ID is written as
    BLOCKED:reason. Exit code 0: added, 1: not added, 2: could not run.
    """
    from remit.runs.workspace_findings import Manifest, load_entry, make_page

    if source is None and given["title"] is None:
        raise UsageError("there is nothing to add", hint=_FIRST)
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
        say_json(build_added_finding(added, name_file(opened.file), None if file is None else name_file(file)))
    else:
        _show(opened, added)
    return ACCEPTED if added.accepted else NOT_ACCEPTED


def _today() -> str:
    from datetime import datetime

    return datetime.now().astimezone().date().isoformat()


def _choose_fields(given: dict[str, Any], entry: dict[str, Any]) -> dict[str, Any]:
    """The fields of an entry: what the options say, else what the JSON says, else what is usual."""
    fields = {"status": "complete", "actionable": True} | entry
    fields |= {name: given[name] for name in _SINGLE if given[name] is not None}
    return fields | {field: list(given[name]) for name, field in _LISTS.items() if given[name]}


def _show(opened: Manifest, added: Added) -> None:
    paint = get_paint()
    for line in render_losses(added.findings, paint=paint):
        say(line)
    told = f": {count_findings(added.findings)}" if added.findings else ""
    if added.accepted:
        say(f"{paint('good', '✓')} {escape(added.fields['id'])} added to {escape(name_file(opened.file))}{told}")
        return
    say(f"{paint('error', '✗')} not added{told}")
