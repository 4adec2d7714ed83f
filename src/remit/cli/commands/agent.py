"""`remit agent new`, `list`, `graph`, `can`, `upgrade` and `build`: manage agent files."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from remit.cli import options
from remit.cli.commands import completion
from remit.cli.output import get_paint, name_file, print_json, print_lines, print_verbatim
from remit.terminal import count_columns, cut, escape, quote
from remit.views.json_builders import build_agent_summary, build_diagnostic, build_list
from remit.views.render import ACCEPTED, NOT_ACCEPTED, count, render_line

if TYPE_CHECKING:
    from remit.agent_files.authoring import CompiledFile, MigratedFile
    from remit.agents.definition import Definition
    from remit.agents.graph import Graph
    from remit.schemas import CompiledAgentObject, LeftProblemObject, MigratedAgentObject


_KINDS = options.offer("planning", "implementation", "research", "review", "utility")


@click.command(cls=options.Command)
@click.argument("kind", metavar="KIND", shell_complete=_KINDS)
@click.argument("name", metavar="NAME")
@click.option(
    "--profile",
    metavar="PROFILE",
    help="standard, claude, opencode or codex. Default: the profile of most agents here.",
    shell_complete=options.offer("standard", "claude", "opencode", "codex"),
)
@click.option("--folder", metavar="DIR", help="Folder for the file. Default: where this workspace keeps its agents.")
@options.output_format("full", "json")
def new(kind: str, name: str, *, output_format: str, **asked: Any) -> int:  # noqa: ANN401 - options
    """Create an agent file NAME of a KIND: planning, implementation, research, review or utility.

    The file is complete and has no lint problems; files that it needs are created, too. Exit code 0: created, 2: could
    not run.
    """
    from remit.agent_files import authoring
    from remit.terminal import escape

    paths = [name_file(path) for path in authoring.create_agent(kind, name, **asked)]
    if output_format == "json":
        print_json({"created": paths})
        return ACCEPTED
    for path in paths:
        print_lines(f"{get_paint()('good', '✓')} {escape(path)}")
    print_lines(f"Fill in the details of your agent, then run: remit lint {escape(paths[0])}")
    print_lines(f"To run it: {_describe_use(kind, escape(name))}")
    return ACCEPTED


def _describe_use(kind: str, name: str) -> str:
    """Return the command that runs an agent of this kind: with a prompt, or on a task."""
    from remit.runs.tasks.task_commands import COMMANDS

    command = next((each.name for each in COMMANDS.values() if each.kind == kind), None)
    task = "" if command is None else f"; on a task: remit task {command} N --agent {name}"
    return f"remit run {name} PROMPT{task}"


@click.command(cls=options.Command)
@click.argument("paths", nargs=-1, metavar="PATH…", required=True)
@click.option(
    "--kind",
    metavar="KIND",
    help="Kind of the agents. Default: their own agent_type, else utility.",
    shell_complete=_KINDS,
)
@click.option("--diff", is_flag=True, help="Show the changes without writing them.")
@options.output_format("full", "json")
def upgrade(paths: tuple[str, ...], *, output_format: str, diff: bool, kind: str | None) -> int:
    """Upgrade each agent file to the standard as far as possible, and list what you have to write yourself.

    Exit code 0: nothing left to write, 1: something left, 2: could not run. With --diff, the patch is on standard
    output and everything else on standard error.
    """
    from remit.agent_files import authoring

    done = authoring.migrate_agents(paths, kind=kind, write=not diff)
    if output_format == "json":
        print_json(build_list(_build_migrated(each) for each in done))
    else:
        for each in done:
            _show_migration(each, diff=diff)
        if not done:
            print_lines("no agent files found; name a file or a folder with agents", stderr=diff)
    return NOT_ACCEPTED if any(each.migration.left for each in done) else ACCEPTED


def _build_migrated(each: MigratedFile) -> MigratedAgentObject:
    left: list[LeftProblemObject] = [
        {
            "code": rest.code or None,
            "message": rest.message,
            "hint": rest.hint,
            "location": {"row": rest.place.line, "column": rest.place.column} if rest.place else None,
        }
        for rest in each.migration.left
    ]
    done = list(each.migration.done)
    return {
        "filename": name_file(each.source.file),
        "done": done,
        "left": left,
        "passed_over": each.skipped or None,
    }


def _show_migration(each: MigratedFile, *, diff: bool) -> None:
    from remit.cli.output import print_diff
    from remit.terminal import escape, quote

    name, paint = name_file(each.source.file), get_paint(stderr=diff)
    if diff:
        print_diff(name, each.before, each.migration.text)
    if each.skipped:
        print_lines(f"{paint('strong', escape(name))}: unchanged: {quote(each.skipped)}", stderr=diff)
        return
    state = "" if each.migration.done or each.migration.left else ": nothing to do"
    print_lines(f"{paint('strong', escape(name))}{state}", stderr=diff)
    for step in each.migration.done:
        print_lines(f"  {paint('good', '✓')} {quote(step)}", stderr=diff)
    for left in each.migration.left:
        mark = f"{paint('warning', 'to write')} (line {left.place.line}):" if left.place else paint("error", "✗")
        print_lines(f"  {mark} {quote(left.message)}", stderr=diff)


@click.command(cls=options.Command)
@click.argument("paths", nargs=-1, metavar="[PATH…]")
@click.option(
    "--to",
    required=True,
    metavar="HARNESS",
    help="Harness: claude, opencode or codex.",
    shell_complete=options.offer("claude", "opencode", "codex"),
)
@click.option("--check", is_flag=True, help="Check whether the built files are up to date, and write nothing.")
@options.output_format("full", "concise", "json", "github")
def build(paths: tuple[str, ...], *, to: str, check: bool, output_format: str) -> int:
    """Write each standard agent below PATH, or all of them, as the file of a harness, and list every loss.

    Keep the sources: Remit reads settings from them that the harness's file has no place for. A file that Remit did not
    write is not overwritten. Exit code 0: built or up to date, 1: something cannot be built or has lost its source, or
    with --check is out of date, 2: could not run.
    """
    from remit.agent_files import authoring

    done = authoring.compile_agents(paths, to=to, write=not check)
    if output_format == "json":
        print_json(build_list(_build_compiled(each) for each in done))
    else:
        for each in done:
            _show(each, output_format, check=check)
        if output_format != "github":
            print_lines(f"{count(len(done), 'agent')}: {_sum_up(done)}" if done else _NOTHING)
    failed = any(finding.severity == "error" for each in done for finding in each.compiled.diagnostics)
    return NOT_ACCEPTED if failed else ACCEPTED


_NOTHING = "no standard agents found; to create one, run: remit agent new; to convert one: remit agent upgrade"


def _build_compiled(each: CompiledFile) -> CompiledAgentObject:
    name, path = name_file(each.source.file), name_file(each.file)
    return {
        "source": name,
        "path": path,
        "state": each.state,
        "diagnostics": [build_diagnostic(diagnostic, name) for diagnostic in each.compiled.diagnostics],
    }


def _show(each: CompiledFile, output_format: str, *, check: bool) -> None:
    from remit.terminal import escape
    from remit.views.render import render_github

    name = name_file(each.source.file)
    for diagnostic in each.compiled.diagnostics:
        if diagnostic.severity == "error" or not check:  # losses were reported when the file was written
            print_lines(render_github(diagnostic, name) if output_format == "github" else render_line(diagnostic, name))
    if output_format == "full":
        good = each.state in ("written", "up to date")
        mark = get_paint()("good", "✓") if good else get_paint()("error", "✗")
        shown = name if each.state == "refused" else name_file(each.file)
        print_lines(f"{mark} {escape(shown)}: {_WORDS[each.state]}")


_WORDS = {
    "written": "written", "up to date": "up to date", "out of date": "out of date", "refused": "can't be built",
    "left over": "source is gone",
}  # fmt: skip


def _sum_up(done: list[CompiledFile]) -> str:
    states = [each.state for each in done]
    return ", ".join(f"{states.count(state)} {word}" for state, word in _WORDS.items() if state in states)


_MIN_DESCRIPTION = 20


@click.command("list", cls=options.Command)
@click.argument("paths", nargs=-1, metavar="[PATH…]")
@options.output_format("full", "json")
def list_agents(paths: tuple[str, ...], *, output_format: str) -> int:
    """List the agents that the files below each PATH, or all of the workspace, define: name, kind, file, description.

    Exit code 0: listed, 2: could not run.
    """
    from remit.agent_files.lint import load_graph

    found = sorted(load_graph(paths).agents.values(), key=lambda agent: agent.name)
    if output_format == "json":
        print_json(build_list(build_agent_summary(agent) for agent in found))
        return ACCEPTED
    widths = [max(map(len, column), default=0) for column in zip(*map(_list_cells, found), strict=True)]
    room = max(_MIN_DESCRIPTION, count_columns() - sum(widths) - 2 * len(widths))
    for agent in found:
        name, *cells = (cell.ljust(width) for cell, width in zip(_list_cells(agent), widths, strict=True))
        description = cut(quote(" ".join(agent.description.split())), room)
        print_lines("  ".join((get_paint()("strong", name), *cells, description)).rstrip())
    print_lines(count(len(found), "agent") if found else "no agent files found; to create one, run: remit agent new")
    return ACCEPTED


def _list_cells(agent: Definition) -> tuple[str, ...]:
    return escape(agent.name), escape(agent.kind or ""), escape(agent.path)


@click.command(cls=options.Command)
@click.argument("paths", nargs=-1, metavar="[PATH…]")
@options.output_format("tree", "mermaid", "dot", "json")
def graph(paths: tuple[str, ...], *, output_format: str) -> int:
    """Draw which agents may call which, how deep, and for how long. Cycles are red.

    Exit code 0: drawn, 1: drawn, and it has a cycle, 2: could not run.
    """
    from remit.agent_files import lint
    from remit.agents import graph_render

    found = lint.load_graph(paths)
    if output_format == "json":
        print_json(graph_render.shape_graph(found))
    elif output_format == "tree":
        _show_graph(found)
    else:
        print_verbatim(lint.render_graph(found, output_format))
    return NOT_ACCEPTED if found.cycles else ACCEPTED


def _show_graph(found: Graph) -> None:
    from remit.agents import graph_render
    from remit.terminal import escape

    paint = get_paint()
    if not found.agents:
        print_lines("no agent files found; name a file or a folder")
        return
    for line in graph_render.render_tree(found):
        text = escape(line.text)
        shown = paint("error", text) if line.is_problem else text if line.lead else paint("strong", text)
        print_lines(f"{paint('frame', line.lead)}{shown}")
    calls = sum(len(targets) for targets in found.edges.values())
    print_lines(f"\n{count(len(found.agents), 'agent')}, {count(calls, 'call')}, {count(len(found.cycles), 'cycle')}")


_ANSWER_STYLES = {"allow": ("good", "✓"), "ask": ("warning", "?"), "deny": ("error", "✗")}


@click.command(cls=options.Command)
@click.argument("agent", shell_complete=completion.complete_agents)
@click.argument("tool")
@click.argument("subject", required=False, default="")
@options.output_format("full", "json")
def can(*, agent: str, tool: str, subject: str, output_format: str) -> int:
    """Check whether AGENT may use TOOL on SUBJECT, a command or a file. Nothing is run.

    TOOL is bash, read, write, edit, grep, glob or mcp__SERVER__TOOL. The permissions of the agent's file apply, and the
    files that no agent may write. Of a command, the programs count: the kernel limits its files.

    remit agent can planner bash "rm -rf build"

    Exit code 0: allowed; 1: denied, or the user is asked; 2: could not run.
    """
    from remit.hooks.explain_permission import explain_call

    answer = explain_call(agent, tool, subject)
    decision = answer.decision
    if output_format == "json":
        print_json({**answer._asdict(), "decision": decision.answer, "reason": decision.reason, "rule": decision.rule})
    else:
        style, mark = _ANSWER_STYLES[decision.answer]
        reason = f": {escape(decision.reason)}" if decision.reason else ""
        print_lines(f"{get_paint()(style, f'{mark} {decision.answer}')}{reason}")
        if answer.note:
            print_lines(f"note: {answer.note}")
    return ACCEPTED if decision.answer == "allow" else NOT_ACCEPTED
