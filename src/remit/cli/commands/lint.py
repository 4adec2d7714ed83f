"""`remit lint`: check agent files, fix them, and watch them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from remit.cli import options
from remit.cli.output import get_paint, name_file, print_diff, print_json, print_lines, report_error, report_note
from remit.errors import RemitError, UsageError
from remit.harnesses import claude, codex, opencode
from remit.spelling import did_you_mean
from remit.terminal import escape
from remit.views.render import ACCEPTED, NOT_ACCEPTED, count, count_diagnostics, render_line

if TYPE_CHECKING:
    from collections.abc import Sequence

    from remit.agent_files.lint import FileFix, LintReport, LintRequest
    from remit.model import Diagnostic
    from remit.views.explanations import Explanation

WATCH_SECONDS = 0.5
_LEVELS = ("error", "warning", "note")
_PLACES = (claude.AGENT_FOLDERS[0], opencode.AGENT_FOLDERS[0], codex.AGENT_FOLDERS[0], "agents")
_NOTHING = f"no agent files found in {', '.join(_PLACES)}; name a file or a folder"


def _parse_codes(value: str) -> tuple[str, ...]:
    codes = tuple(code.strip() for code in value.split(","))
    if not all(codes):
        raise UsageError(f"'{value}' has an empty code in it", hint="write it like AGT122,GRF")
    return codes


def _parse_level(value: str) -> str:
    if value not in _LEVELS:
        raise UsageError(f"there is no severity '{value}'", hint=did_you_mean(value, _LEVELS))
    return value


@click.command(cls=options.Command)
@click.argument("paths", nargs=-1, metavar="[PATH…]")
@click.option("--select", type=_parse_codes, metavar="CODES", help="Rules to apply, by code or prefix. Default: all.")
@click.option("--extend-select", type=_parse_codes, metavar="CODES", help="Additional rules to apply.")
@click.option("--ignore", type=_parse_codes, metavar="CODES", help="Rules to skip, such as AGT122,GRF.")
@click.option(
    "--baseline",
    metavar="FILE",
    help="Ignore issues listed in FILE. Created on first use; later runs only remove entries.",
)
@click.option(
    "--fail-on",
    type=_parse_level,
    metavar="SEVERITY",
    help="Lowest severity that fails: error, warning or note. Default: warning.",
)
@click.option("--no-cache", is_flag=True, help="Check every file again.")
@click.option("--statistics", is_flag=True, help="Count diagnostics by code instead of showing them.")
@options.output_format("full", "concise", "json", "github", "sarif")
@click.option("--fix", "fixing", is_flag=True, help="Fix issues, as far as fixes are safe.")
@click.option("--unsafe-fixes", is_flag=True, help="With --fix or --diff: also fixes that may change a file's meaning.")
@click.option("--diff", is_flag=True, help="Show the changes of --fix without writing them.")
@click.option("--watch", is_flag=True, help="Check again whenever a file changes.")
def lint(*, fixing: bool, unsafe_fixes: bool, diff: bool, watch: bool, **asked: Any) -> int:  # noqa: ANN401 - as the app has it
    """Check the agent files below each PATH, or all of the workspace, one by one and as a call graph.

    Exit code 0: no problems, 1: problems, 2: could not run.
    """
    if unsafe_fixes and not (fixing or diff):
        raise UsageError("--unsafe-fixes needs --fix or --diff", hint="add one of them")
    if watch:
        if fixing or diff:
            raise UsageError("can't combine --watch with --fix or --diff", hint="leave one of them out")
        return _watch(**asked)
    if fixing or diff:
        return _fix(unsafe=unsafe_fixes, diff=diff, **asked)
    return _lint(**asked)


def _ask(paths: tuple[str, ...], *, no_cache: bool, **asked: Any) -> LintRequest:  # noqa: ANN401 - as the app has it
    from remit.agent_files.lint import LintRequest

    given = {key: value for key, value in asked.items() if value is not None}
    return LintRequest(paths=paths, cache=not no_cache, **given)


def _lint(*, output_format: str, statistics: bool, **asked: Any) -> int:  # noqa: ANN401
    from remit.agent_files import lint

    linted = lint.lint(_ask(**asked))
    _show(linted, output_format, statistics=statistics)
    return NOT_ACCEPTED if linted.failed else ACCEPTED


def _fix(*, unsafe: bool, diff: bool, output_format: str, statistics: bool, **asked: Any) -> int:  # noqa: ANN401
    from remit.agent_files import lint

    changes, linted = lint.fix(_ask(**asked), unsafe=unsafe, write=not diff)
    if diff:
        for change in changes:
            print_diff(name_file(change.source.file), change.before, change.after)
        fixed = sum(len(change.applied) for change in changes)
        more = "" if unsafe else _count_unsafe_fixes(_list_diagnostics(linted))
        print_lines(f"{count(fixed, 'diagnostic')} in {count(len(changes), 'file')} would be fixed{more}.", stderr=True)
        return NOT_ACCEPTED if changes else ACCEPTED
    _show(linted, output_format, statistics=statistics, changes=changes)
    return NOT_ACCEPTED if linted.failed else ACCEPTED


# --- showing ---------------------------------------------------------------------------------------------------------


def _show(linted: LintReport, output_format: str, *, statistics: bool, changes: Sequence[FileFix] = ()) -> None:
    named = {name_file(linted.sources[path].file): found for path, found in linted.diagnostics.items()}
    if not linted.sources and (statistics or output_format not in ("full", "concise")):
        report_note(
            _describe_no_agents(linted), as_json=output_format == "json"
        )  # otherwise a program would read it as success
    for folder in linted.unread:
        todo = "make it readable, or add it to lint.exclude"
        report_note(f"'{folder}' can't be read, so its agents aren't checked; {todo}", as_json=output_format == "json")
    if statistics:
        _show_statistics(named, output_format)
    elif output_format == "json":
        from remit.views.json_builders import build_lint

        print_json(build_lint(linted, {path: name_file(source.file) for path, source in linted.sources.items()}))
    elif output_format == "sarif":
        _show_sarif(named)
    elif output_format == "github":
        _show_github(named)
    else:
        _show_text(linted, named, output_format, changes)


def _describe_no_agents(linted: LintReport) -> str:
    """Return a message that there are no agent files; it names files that may have lost their frontmatter."""
    if not linted.plain:
        return _NOTHING
    first, *others = linted.plain
    files = f"'{first}' and {count(len(others), 'other')} have" if others else f"'{first}' has"
    todo = "start it with name and description between two lines of ---, or name it here"
    return f"no agent files found: {files} no frontmatter, which an agent file in an agents folder needs; {todo}"


def _show_text(
    linted: LintReport, named: dict[str, tuple[Diagnostic, ...]], output_format: str, changes: Sequence[FileFix]
) -> None:
    files = {name_file(source.file): source.file for source in linted.sources.values()}
    for name, found in named.items():
        if found and output_format == "full":
            from remit.agent_files.lint import load_agent_text
            from remit.views.excerpt import render_diagnostics

            print_lines(f"{render_diagnostics(found, name, load_agent_text(files[name]), paint=get_paint())}\n")
        elif found:
            print_lines(
                "\n".join(f"{render_line(diagnostic, name)}{' [*]' if diagnostic.fix else ''}" for diagnostic in found)
            )
    print_lines("\n".join(_sum_up(linted, changes)))


def _sum_up(linted: LintReport, changes: Sequence[FileFix]) -> list[str]:
    every = _list_diagnostics(linted)
    paint = get_paint()
    lines = []
    if changes:
        fixed = sum(len(change.applied) for change in changes)
        lines.append(f"{count(fixed, 'diagnostic')} fixed in {count(len(changes), 'file')}.")
    if linted.baseline is not None:
        what = "was created with" if linted.created else "now has"
        lines.append(f"{escape(name_file(linted.baseline))} {what} {count(linted.remaining, 'diagnostic')}.")
    elif linted.known:
        lines.append(f"{count(linted.known, 'diagnostic')} ignored: listed in the baseline.")
    if not linted.sources:
        return [*lines, escape(_describe_no_agents(linted))]
    files = count(len(linted.sources), "file")
    if not every:
        return [*lines, f"{paint('good', '✓')} {files}: no problems"]
    mark = paint("error", "✗") if linted.failed else paint("good", "✓")
    lines.append(f"{mark} {files}: {count_diagnostics(every)}")
    safe = sum(each.fix is not None and each.fix.applicability == "safe" for each in every)
    unsafe = _count_unsafe(every)
    if safe:
        lines.append(f"{safe} can be fixed with `remit lint --fix`{_count_unsafe_fixes(every)}.")
    elif unsafe:
        lines.append(f"{unsafe} can be fixed with `remit lint --fix --unsafe-fixes`.")
    return lines


def _list_diagnostics(linted: LintReport) -> list[Diagnostic]:
    return [diagnostic for found in linted.diagnostics.values() for diagnostic in found]


def _count_unsafe(diagnostics: Sequence[Diagnostic]) -> int:
    return sum(each.fix is not None and each.fix.applicability == "unsafe" for each in diagnostics)


def _count_unsafe_fixes(diagnostics: Sequence[Diagnostic]) -> str:
    """Return the number of unsafe fixes, as the end of a sentence."""
    unsafe = _count_unsafe(diagnostics)
    return f", {unsafe} more with --unsafe-fixes" if unsafe else ""


def _explain(named: dict[str, tuple[Diagnostic, ...]]) -> dict[str, Explanation]:
    """Return the explanation of each code. Drop unknown codes, which only a forged cache can contain."""
    from remit.views import explanations

    known = {each.code: each for each in explanations.explain_all()}
    for name, found in named.items():
        named[name] = tuple(diagnostic for diagnostic in found if diagnostic.code in known)
    return known


def _show_statistics(named: dict[str, tuple[Diagnostic, ...]], output_format: str) -> None:
    names = _explain(named)
    totals: dict[str, int] = {}
    for found in named.values():
        for diagnostic in found:
            totals[diagnostic.code] = totals.get(diagnostic.code, 0) + 1
    rows = sorted(totals.items(), key=lambda row: (-row[1], row[0]))
    if output_format == "json":
        from remit.views.json_builders import build_list

        print_json(
            build_list(
                {"code": code, "name": names[code].name, "count": total, "fix": names[code].fix} for code, total in rows
            )
        )
        return
    width = max((len(str(total)) for _, total in rows), default=0)
    for code, total in rows:
        print_lines(f"{total:>{width}}  {code}  {'[*]' if names[code].fix else '[ ]'}  {names[code].name}")


def _show_sarif(named: dict[str, tuple[Diagnostic, ...]]) -> None:
    from remit import __version__
    from remit.views.sarif import MAX_RESULTS, shape_sarif

    print_json(shape_sarif(named, version=__version__, explain=_explain(named)))
    total = sum(map(len, named.values()))
    if total > MAX_RESULTS:
        report_note(f"the log contains only the most severe diagnostics: {MAX_RESULTS} of {total}")


def _show_github(named: dict[str, tuple[Diagnostic, ...]]) -> None:
    from remit.views.render import render_github

    for name, found in named.items():
        for diagnostic in found:
            print_lines(render_github(diagnostic, name))


# --- watching --------------------------------------------------------------------------------------------------------


def _watch(*, paths: tuple[str, ...], output_format: str, statistics: bool, **asked: Any) -> int:  # noqa: ANN401
    """Lint again whenever a file is added, changed or removed, until Ctrl-C."""
    import sys
    import time

    from remit.agent_files import lint

    def check() -> None:
        if sys.stdout is not None and sys.stdout.isatty():
            print_lines("\x1b[2J\x1b[H")
        linted = lint.lint(_ask(paths, **asked))
        _show(linted, output_format, statistics=statistics)
        print_lines(f"watching {count(len(linted.sources), 'file')}; press Ctrl-C to stop", stderr=True)

    seen, reported = lint.read_agent_stamps(paths), ""
    check()
    while True:
        time.sleep(WATCH_SECONDS)
        try:
            now = lint.read_agent_stamps(paths)
            if now != seen:
                seen, reported = now, ""
                check()
        except RemitError as error:  # an edit may be unfinished: report the error once, and continue
            if str(error) != reported:
                report_error(error, as_json=output_format == "json")
            reported = str(error)
