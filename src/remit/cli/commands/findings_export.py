"""`remit findings export`: the matching findings as JSON, CSV or Markdown."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from remit.cli import options
from remit.cli.commands.findings import FILTERS, filters, manifest_file, report_bad_lines
from remit.cli.output import get_paint, name_file, print_lines, print_verbatim
from remit.errors import UsageError
from remit.spelling import did_you_mean
from remit.terminal import escape
from remit.views.render import ACCEPTED, escape_json

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from remit.manifest.entries import ManifestEntry

_COLUMNS = (
    "id", "date", "status", "title", "file", "topics", "key_findings", "actionable", "needs_followup", "linked_tasks",
)  # fmt: skip
_BATCH = 500


@click.command(cls=options.Command)
@click.option("--format", "form", metavar="FORMAT", default="json", help="json, csv or md. Default: json.")
@click.option("-o", "--output", metavar="FILE", help="Output file. Default: standard output.")
@click.option("--json", "as_json", is_flag=True, help="Same as --format json.")
@filters
@manifest_file
def export(*, form: str, output: str | None, as_json: bool, manifest: str | None, **asked: Any) -> int:  # noqa: ANN401 - the options
    """Export the matching findings, newest first.

    In CSV, items of a list are on separate lines, and a text that a spreadsheet would take for a formula starts with an
    apostrophe. Exit code 0: written, 2: could not run.
    """
    from remit.runs.workspace_findings import Manifest, make_query, write_export

    form = "json" if as_json else form
    if form not in FORMS:
        raise UsageError(f"there is no format '{form}'", hint=did_you_mean(form, tuple(FORMS)))
    opened = Manifest(manifest)
    texts = FORMS[form](opened.walk(make_query(**{name: asked[name] for name in FILTERS})))
    if output is None:
        for text in texts:
            print_verbatim(text)
    else:
        write_export(output, texts)
        print_lines(f"{get_paint()('good', '✓')} {escape(name_file(output))} written")
    report_bad_lines(opened)
    return ACCEPTED


def _gather(lines: Iterable[str]) -> Iterator[str]:
    """Yield several lines at a time, because printing each line separately is slow."""
    batch: list[str] = []
    for line in lines:
        batch.append(line)
        if len(batch) >= _BATCH:
            yield "\n".join(batch)
            batch = []
    if batch:
        yield "\n".join(batch)


def _write_json(entries: Iterable[ManifestEntry]) -> Iterator[str]:
    import json

    def lines() -> Iterator[str]:
        opening = "["
        for entry in entries:
            yield opening + escape_json(json.dumps({"line": entry.line, **entry.fields}, ensure_ascii=False))
            opening = ","
        yield "[]" if opening == "[" else "]"

    return _gather(lines())


def _write_csv(entries: Iterable[ManifestEntry]) -> Iterator[str]:
    import csv
    import io

    def lines() -> Iterator[str]:
        yield ",".join(_COLUMNS)
        for entry in entries:
            row = io.StringIO()
            texts = [_disarm(_flatten(entry.fields.get(name))) for name in _COLUMNS]
            csv.writer(row, lineterminator="\n").writerow(texts)
            yield row.getvalue().removesuffix("\n")

    return _gather(lines())


def _flatten(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, list):
        return "\n".join(str(item) for item in value)
    return "" if value is None else str(value)


def _disarm(text: str) -> str:
    """Return a text that neither a spreadsheet nor a terminal interprets."""
    plain = escape(text, keep="\n")
    return f"'{plain}" if plain.startswith(("=", "+", "-", "@")) else plain


def _write_markdown(entries: Iterable[ManifestEntry]) -> Iterator[str]:
    def lines() -> Iterator[str]:
        yield "| date | status | id | title | key findings |\n|---|---|---|---|---|"
        for entry in entries:
            texts = (entry.get_text("date"), entry.get_text("status"), entry.id, entry.get_text("title"))
            findings = "<br>".join(_escape_cell(each) for each in entry.get_list("key_findings"))
            yield f"| {' | '.join(_escape_cell(text) for text in texts)} | {findings} |"

    return _gather(lines())


def _escape_cell(text: str) -> str:
    """Escape a text so that it stays in its table cell and contains no markup."""
    plain = escape(" ".join(text.split()))
    return "".join(f"\\{char}" if char in "\\|<>[]`*_" else char for char in plain)


FORMS: dict[str, Callable[[Iterable[ManifestEntry]], Iterator[str]]] = {
    "json": _write_json,
    "csv": _write_csv,
    "md": _write_markdown,
}
