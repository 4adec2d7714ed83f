"""`remit show`: a run in detail, or a report about a run as one file."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import click

from remit.cli import options
from remit.cli.commands import completion
from remit.cli.commands.ps import list_warnings, name_supervisor, report_cluster_error
from remit.cli.output import get_paint, name_file, print_json, print_lines, print_verbatim
from remit.cli.result_output import render_check, render_result
from remit.errors import UsageError
from remit.sentences import format_duration
from remit.spelling import did_you_mean
from remit.terminal import escape, quote
from remit.views.checks import COVERED, describe_execution
from remit.views.render import ACCEPTED, count, render_json

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from remit.ledger.runs import AttemptRow
    from remit.terminal import Paint
    from remit.views.run_details import RunRecord
    from remit.views.run_snapshots import RunSnapshot

_NAME = 10
_MAX_CODES = 8
_MAX_DIAGNOSTICS = 50
_MAX_OUTPUT = 10
_STEP_STYLES = {"done": "good", "there": "good", "failed": "error"}


_FORMS = ("html", "md", "json")
_FILE_ENDS = {".html": "html", ".htm": "html", ".md": "md", ".markdown": "md", ".json": "json"}


def _parse_form(value: str) -> str:
    if value not in _FORMS:
        raise UsageError(f"there is no report format '{value}'", hint=did_you_mean(value, _FORMS))
    return value


@click.command(cls=options.Command)
@click.argument("session", metavar="[ID]", required=False, shell_complete=completion.complete_sessions)
@click.option("--full", is_flag=True, help="Also prompt, instructions, unabridged answers and limits.")
@click.option(
    "--format",
    "form",
    type=_parse_form,
    metavar="FORMAT",
    help="Report of the whole run: html, md or json. Default: by FILE's ending, else md.",
    shell_complete=options.offer(*_FORMS),
)
@click.option("-o", "--output", metavar="FILE", help="File for the report. Default: standard output.")
@options.output_format("full", "json")
def show(session: str | None, *, full: bool, form: str | None, output: str | None, output_format: str) -> int:
    """Show a run: the request, its attempts, reported and actual changes, and finish steps.

    ID can be cut short at either end; without one, or with -, it is the last run. With --format or -o, write a report
    of the run and its nested runs as one file that needs no other files. Text of agents can't control the terminal, and
    secrets are removed.

    Exit code 0: shown or written, 2: could not run.
    """
    if form is not None or output is not None:
        if full or output_format == "json":
            raise UsageError(
                "can't combine --full or --json with a report", hint="use --format json for a report as JSON"
            )
        return _report(session, form, output)
    from remit.cluster.workers_status import load_status
    from remit.views.run_details import load_record, load_run_details
    from remit.views.run_snapshots import find_session, open_home

    home = open_home()
    try:
        chosen = find_session(home, session)
        cluster = load_status(home, chosen)
        if output_format == "json":
            print_json(load_run_details(home, chosen, full=full, cluster=cluster))
        else:
            record = load_record(home, chosen, full=full, cluster=cluster)
            for line in _render(record, full=full, paint=get_paint()):
                print_lines(line)
    finally:
        home.close()
    report_cluster_error(cluster)
    return ACCEPTED


def _report(session: str | None, form: str | None, output: str | None) -> int:
    """Write a report about a run to a file or to standard output."""
    from remit.views.report.record import load_run_report, write_report
    from remit.views.run_snapshots import open_home

    ends = [each for end, each in _FILE_ENDS.items() if output is not None and output.lower().endswith(end)]
    home = open_home()
    try:
        report = load_run_report(home, session)
    finally:
        home.close()
    text = render_report(report, form or (ends[0] if ends else "md"))
    if output is None:
        print_verbatim(text.removesuffix("\n"))
    else:
        write_report(output, text)
        print_lines(f"{get_paint()('good', '✓')} {escape(name_file(output))} written")
    return ACCEPTED


def render_report(report: Mapping[str, Any], form: str) -> str:
    """Render a report in one of its formats."""
    if form == "json":
        from remit import __version__

        return f"{render_json({'remit_version': __version__, **report}, indent=2)}\n"
    if form == "html":
        from remit.views.report.html import render_html

        return render_html(report)
    from remit.views.report.markdown import render_markdown

    return render_markdown(report)


# --- text ------------------------------------------------------------------------------------------------------------


def _render(record: RunRecord, *, full: bool, paint: Paint) -> Iterator[str]:
    yield from _render_result(record, full=full, paint=paint)
    for title, lines in (
        ("checks", _render_checks(record, full=full, paint=paint)),
        ("request", _render_request(record)),
        ("worker", _render_place(record)),
        ("attempts", (_render_attempt(record, each, full=full, paint=paint) for each in record.attempts)),
        ("finish steps", _render_steps(record, paint)),
        ("nested", (_render_nested(each) for each in record.below)),
        ("files", (escape(name_file(file)) for file in record.files) if full or not record.report else ()),
        ("config", _render_config(record) if full else ()),
    ):
        shown = [line for each in lines for line in each.split("\n")]
        if shown:
            yield f"\n{paint('strong', title)}"
            yield from (f"  {line}" for line in shown)
    for kind, text in record.texts:
        yield f"\n{paint('strong', escape(kind))}"
        yield from (f"  {escape(line, keep=chr(9))}" for line in text.split("\n"))


def _render_result(record: RunRecord, *, full: bool, paint: Paint) -> Iterator[str]:
    """Render the result, or the state of an open run."""
    if record.report is not None:
        rest = [each for each in record.report.diagnostics if not record.report.checks or each.code not in COVERED]
        report = record.report._replace(diagnostics=tuple(rest[:_MAX_DIAGNOSTICS]), checks=())
        lines = render_result(report, paint=paint).split("\n")
        yield from lines[:-1] if full else lines
        return
    snapshot = record.snapshot
    yield f"{paint('warning', '·')} {paint('strong', escape(snapshot.row.agent))}: {escape(snapshot.word)}"
    if snapshot.seen.check is not None:
        yield f"  {quote(snapshot.seen.check.describe(snapshot.now_ms))}"
    elif snapshot.seen.activity:
        yield f"  {quote(snapshot.seen.activity)}"
    for warning in list_warnings(snapshot):
        yield f"  {paint('warning', '!')} {warning}"


def _render_request(record: RunRecord) -> Iterator[str]:
    row, config = record.snapshot.row, record.config
    yield f"{'session':<{_NAME}}{escape(row.session_id)}"
    yield f"{'prompt':<{_NAME}}{quote(record.snapshot.work)}"
    yield f"{'path':<{_NAME}}{quote(' → '.join(row.path))}, depth {row.depth}"
    if row.parent_id is not None:
        yield f"{'caller':<{_NAME}}{escape(row.parent_id)}"
    if row.task_number is not None:
        phase = f", phase {config.phase}" if config.phase is not None else ""
        yield f"{'task':<{_NAME}}{row.task_number}{phase}"
    command = config.settings.get("command")
    yield f"{'runner':<{_NAME}}{escape(row.runner)}{f': {quote(str(command))}' if command else ''}"
    yield f"{'time':<{_NAME}}{_render_times(record.snapshot)}, of {format_duration(config.timeout_s)}"
    if config.budget:
        limits = ", ".join(f"{name} {value}" for name, value in config.budget.items())
        yield f"{'budget':<{_NAME}}{quote(limits)}"
    if config.worktree:
        yield f"{'worktree':<{_NAME}}{quote(config.root)}"
    for name, session_id in (("resumes", config.resume_of), ("retries", config.retry_of)):
        if session_id:
            yield f"{name:<{_NAME}}{escape(session_id)}"
    if record.snapshot.is_open:
        yield f"{'run by':<{_NAME}}{name_supervisor(record.snapshot)}"


def _render_place(record: RunRecord) -> Iterator[str]:
    """Render the worker, the time in the queue, and how its changes were imported."""
    place, imported = record.snapshot.place, record.imported
    if place is None:
        return
    host = f", on {escape(place.host)}" if place.host not in ("", place.worker) else ""
    fence = f", fence {place.fence}" if place.fence else ""
    if place.worker:
        yield f"{'worker':<{_NAME}}{escape(place.worker)}{host}{fence}"
    if place.is_late:
        yield f"{'lease':<{_NAME}}{-(place.lease_left_s or 0):.0f} s over"
    elif place.lease_left_s is not None:
        yield f"{'lease':<{_NAME}}{place.lease_left_s:.0f} s left"
    waited_s = imported.get("waited_s") if place.waited_s is None else place.waited_s
    if isinstance(waited_s, int | float):
        queue = f", in {escape(place.queue)}" if place.queue else ""
        yield f"{'waited':<{_NAME}}{format_duration(waited_s)}{queue}"
    if imported:
        way = f"branch {imported['branch']}" if imported.get("branch") else "a bundle" if imported.get("bundle") else ""
        files = imported.get("files")
        parts = [count(files, "file")] if isinstance(files, int) else []
        yield f"{'imported':<{_NAME}}{quote(', by '.join([*parts, *filter(None, (way,))]))}"


def _render_times(snapshot: RunSnapshot) -> str:
    row = snapshot.row
    if row.started_ms is None:
        return f"admitted {_show_time(row.created_ms)}, not started"
    until = "" if row.ended_ms is None else f", {format_duration((row.ended_ms - row.started_ms) / 1000)}"
    return f"started {_show_time(row.started_ms)}{until}"


def _show_time(at_ms: int) -> str:
    return time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(at_ms / 1000))


def _render_checks(record: RunRecord, *, full: bool, paint: Paint) -> Iterator[str]:
    """Render the answer of each acceptance check with its command and, if it didn't pass or in full, its output."""
    for check in () if record.report is None else record.report.checks:
        line, *output = render_check(check, paint, most_lines=None if full else _MAX_OUTPUT, in_full=full)
        yield line
        if check.command not in ("", check.name):
            yield f"    $ {quote(check.command)}"
        yield from output


def _render_attempt(record: RunRecord, attempt: AttemptRow, *, full: bool, paint: Paint) -> str:
    """`1  exited, invalid: RET011, RET020`; in full, every diagnostic below it.

    How the acceptance checks ended after the last attempt is shown with the result.
    """
    codes = [str(each.get("code", "")) for each in attempt.diagnostics if isinstance(each, dict)]
    shown = list(dict.fromkeys(codes))
    more = f" and {len(shown) - _MAX_CODES} more" if len(shown) > _MAX_CODES else ""
    text = f": {escape(', '.join(shown[:_MAX_CODES]))}{more}" if shown else ""
    words = ", ".join(escape(word) for word in (attempt.stop_reason or "started", attempt.verdict) if word)
    lines = [f"{attempt.number}  {words}{text}{_render_usage(attempt.usage)}"]
    if attempt is not record.attempts[-1] or record.report is None:
        for check in record.checks.get(attempt.number, ()):
            lines.append(f"   {quote(check.name)}: {quote(describe_execution(check))}")
            lines += [f"       {quote(line)}" for line in (check.output.splitlines() if full else ())]
    if full:
        lines += [f"   {_render_diagnostic(each, paint)}" for each in attempt.diagnostics if isinstance(each, dict)]
        repairs = (each.get("message", "") for each in attempt.repairs if isinstance(each, dict))
        lines += [f"   repaired: {quote(str(message))}" for message in repairs]
        lines += [f"   {_render_claim(each)}" for each in attempt.claims if isinstance(each, dict)]
    return "\n".join(lines)


def _render_claim(claim: Mapping[str, Any]) -> str:
    """`claims report.md: missing, claimed (nothing is there)`."""
    found = ", ".join(escape(str(claim[name])) for name in ("state", "grade") if claim.get(name))
    reason = claim.get("reason")
    return f"claims {quote(str(claim.get('path', '')))}: {found}{f' ({quote(str(reason))})' if reason else ''}"


def _render_diagnostic(finding: Mapping[str, Any], paint: Paint) -> str:
    severity = finding.get("severity")
    style = severity if severity in ("error", "warning", "note") else "note"
    label = paint(style, f"{style}[{escape(str(finding.get('code', '')))}]")
    return f"{label}: {quote(str(finding.get('message', '')))}"


def _render_usage(usage: Mapping[str, Any]) -> str:
    known = [usage.get(name) for name in ("input_tokens", "output_tokens")]
    tokens = [each for each in known if isinstance(each, int)]
    return f"  ({sum(tokens):,} tokens)" if sum(tokens) else ""


def _render_steps(record: RunRecord, paint: Paint) -> Iterator[str]:
    for step in record.steps:
        if step.state != "nothing":
            state = paint(_STEP_STYLES.get(step.state, "note"), escape(step.state))
            yield f"{escape(step.name):<{_NAME}}{state}{f': {quote(step.message)}' if step.message else ''}"


def _render_nested(each: RunSnapshot) -> str:
    indent = "  " * (each.seen.level - 1)
    return f"{indent}{quote(each.row.agent)}  {escape(each.word)}  {escape(each.row.session_id)}"


def _render_config(record: RunRecord) -> Iterator[str]:
    for name, value in record.config.as_details().items():
        yield f"{name:<16}{escape(render_json(value))}"
    if record.report is not None and record.report.answer:
        yield f"{'answer':<16}{escape(record.report.answer)}"
    yield f"{'attempts':<16}{count(len(record.attempts), 'attempt')}"
