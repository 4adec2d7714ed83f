"""`remit errors list`, `show` and `resolve`: the logged errors of a workspace, by cause."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from remit.cli import options
from remit.cli.output import get_paint, name_file, print_json, print_lines
from remit.errors import UsageError
from remit.terminal import count_columns, escape, quote
from remit.views.json_builders import build_error_group, build_error_groups, build_error_record, build_error_records
from remit.views.render import ACCEPTED, NOT_ACCEPTED, count

if TYPE_CHECKING:
    from collections.abc import Iterable

    from remit.errorlog.causes import ErrorGroup
    from remit.errorlog.records import ErrorRecord, FixStatus
    from remit.errorlog.workspace_errors import ErrorSelection
    from remit.terminal import Paint

_STYLES = {"open": "error", "investigating": "warning", "fixed": "good", "ignored": "frame"}
_STATUS_WIDTH = len("investigating")
_NAMES_SHOWN = 6


@click.command(cls=options.Command)
@click.option("--all", "singly", is_flag=True, help="List each error separately.")
@click.option("--task", metavar="N", help="Only errors of this task.")
@click.option("--session", "session_id", metavar="ID", help="Only errors of this session.")
@click.option("--code", metavar="CODE", help="Only errors with this code.")
@click.option("--open", "only_open", is_flag=True, help="Only errors that are neither fixed nor ignored.")
@options.output_format("full", "json")
def list_errors(*, singly: bool, output_format: str, **asked: Any) -> int:  # noqa: ANN401 - as the app has it
    """List the errors of the workspace by cause, newest first. ErrorSelection that recurred after a fix are marked.

    Exit code 0: listed, 1: listed as far as errors.json can be read, 2: could not run.
    """
    from remit.errorlog.workspace_errors import load_errors

    found = load_errors(**asked)
    broken = any(finding.severity == "error" for finding in found.diagnostics)
    if output_format == "json":
        from remit.storage.settings import find_workspace

        print_json((build_error_records if singly else build_error_groups)(found, find_workspace()))
    else:
        _show_list(found, singly=singly)
    return NOT_ACCEPTED if broken else ACCEPTED


@click.command(cls=options.Command)
@click.argument("word", metavar="ID")
@options.output_format("full", "json")
def show(word: str, *, output_format: str) -> int:
    """Show the error or cause ID. The beginning of an ID is enough if it's unique.

    Exit code 0: shown, 2: could not run.
    """
    from remit.errorlog.workspace_errors import show_errors

    shown = show_errors(word)
    group, records = shown.chosen.group, shown.chosen.records
    if output_format == "json":
        text = {"group": build_error_group(group), "records": [build_error_record(record) for record in records]}
        print_json({"filename": name_file(shown.file), "archived": shown.archived, **text})
        return ACCEPTED
    paint = get_paint()
    print_lines("\n".join(_render_row(group, paint)))
    print_lines(f"          cause: {quote(group.cause.text)}")
    for record in reversed(records):
        print_lines("\n" + "\n".join(_render_record(record, paint)))
    if shown.archived:
        print_lines("\nit was moved from errors.json to the archive")
    return ACCEPTED


@click.command(cls=options.Command)
@click.argument("word", metavar="ID")
@click.option("--fixed", "status", flag_value="fixed", help="Mark as fixed. Remit reports it if the error recurs.")
@click.option("--ignored", "status", flag_value="ignored", help="Mark as ignored, also if the error recurs.")
@click.option("--open", "status", flag_value="open", help="Mark as open.")
@click.option("--note", metavar="TEXT", help="What was done, or why nothing was.")
@options.output_format("full", "json")
def resolve(word: str, *, status: FixStatus | None, note: str | None, output_format: str) -> int:
    """Mark the error ID, or all errors of the cause ID, as fixed, ignored or open.

    Exit code 0: marked, 2: could not run.
    """
    from remit.errorlog.workspace_errors import mark_errors

    if status is None:
        raise UsageError("a status is missing", hint="add --fixed, --ignored or --open")
    marked = mark_errors(word, status, note=note)
    records = marked.chosen.records
    if output_format == "json":
        text = {"fix_status": status, "changed": marked.changed, "original": marked.original}
        print_json({"filename": name_file(marked.file), "records": [record.id for record in records], **text})
        return ACCEPTED
    print_lines(
        f"{get_paint()('good', '✓')} {count(len(records), 'error')} marked {status}: {_cut(records[-1].message, 40)}"
    )
    if not marked.changed:
        print_lines("  nothing to change")
    if marked.original:
        print_lines(f"  errors.json was broken; the original was kept as {escape(name_file(marked.original))}")
    return ACCEPTED


def _show_list(found: ErrorSelection, *, singly: bool) -> None:
    _show_findings(found)
    paint = get_paint()
    rows = (
        (_render_single(each, paint) for each in found.records)
        if singly
        else (_render_row(each, paint) for each in found.groups)
    )
    for row in rows:
        print_lines("\n".join(row))
    if not found.total:
        print_lines(f"no errors in {escape(name_file(found.file))}")
        return
    every = [record for group in found.groups for record in group.records]
    still = {record for group in found.groups if group.is_open for record in group.records if record.is_open}
    listed = found.records if singly else every
    shown = len(listed)
    facts = [
        f"{count(shown, 'error')} of {count(len(found.groups), 'cause')}",
        f"{sum(record in still for record in listed)} open",  # the number of errors, not of causes
        f"{back} recurred after a fix" if (back := sum(group.recurred for group in found.groups)) else "",
        f"{found.total - shown} not listed" if found.total > shown else "",
    ]
    print_lines(f"{escape(name_file(found.file))}: {' · '.join(fact for fact in facts if fact)}")


def _show_findings(found: ErrorSelection) -> None:
    """Print the diagnostics of the file, on standard output like all diagnostics."""
    from remit.cli.diagnostics_output import DIAGNOSTIC_OUTPUTS
    from remit.views.excerpt import SourceText

    if found.diagnostics:
        show = DIAGNOSTIC_OUTPUTS["full"]()
        for finding in found.diagnostics:
            show.add(finding, name_file(found.file), SourceText(found.data))
        show.flush()


def _render_row(group: ErrorGroup, paint: Paint) -> Iterable[str]:
    newest, key = group.newest, group.cause.key
    status = paint(_STYLES[group.fix_status], group.fix_status.ljust(_STATUS_WIDTH))
    lead = f"{len(group.records):>4}x  {quote(newest.code)}: "
    yield f"{paint('strong', key)}  {status}{lead}{_cut(newest.message, len(key) + 2 + _STATUS_WIDTH + len(lead))}"
    facts = [
        f"last {escape(group.last[:19].replace('T', ' '))}" if group.last else "",
        _render_names("task", group.tasks),
        paint("error", f"recurred after a fix ({group.recurrences}x)") if group.recurred else "",
    ]
    text = " · ".join(fact for fact in facts if fact)
    if text:
        yield f"          {text}"


def _render_names(noun: str, names: tuple[str, ...]) -> str:
    if not names:
        return ""
    shown = ", ".join(quote(name) for name in names[:_NAMES_SHOWN])
    return f"{noun}{'' if len(names) == 1 else 's'} {shown}{' …' if len(names) > _NAMES_SHOWN else ''}"


def _render_single(record: ErrorRecord, paint: Paint) -> Iterable[str]:
    status = paint(_STYLES[record.fix_status], record.fix_status.ljust(_STATUS_WIDTH))
    task = f" task {quote(str(record.task_number))}:" if record.task_number is not None else ""
    head = f"{quote(record.id)}  {quote(record.time)[:19]}"
    yield f"{paint('strong', head)}  {status}  {quote(record.code)}:{task} {_cut(record.message, 70)}"


def _render_record(record: ErrorRecord, paint: Paint) -> Iterable[str]:
    yield paint("strong", quote(record.id) or "an error without an id")
    for name, value in build_error_record(record).items():
        text = " → ".join(map(str, value)) if isinstance(value, list) else str(value)
        if name == "details" and value:
            yield from ("  details:", *(f"    {escape(line)}" for line in str(value).splitlines()))
        elif name not in ("id", "at_ms") and value not in (None, "", [], False):
            yield f"  {name}: {quote(text)}"


def _cut(text: str, used: int) -> str:
    """Cut a text to the rest of a line."""
    shown, room = escape(" ".join(text.split())), max(30, count_columns() - used)
    return shown if len(shown) <= room else f"{shown[: room - 1]}…"
