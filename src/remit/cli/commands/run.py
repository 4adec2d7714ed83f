"""`remit run`: run an agent, show its progress, and print the verified result."""

from __future__ import annotations

import os
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import click

from remit.cli import options, run_options
from remit.cli.commands import completion
from remit.cli.output import get_paint, print_json, print_lines
from remit.cli.result_output import get_result_code, print_result
from remit.errors import RemitError, UsageError
from remit.terminal import escape, quote
from remit.views.json_builders import build_result
from remit.views.render import ACCEPTED, INTERRUPTED, render_title

if TYPE_CHECKING:
    from collections.abc import Sequence

    from remit.cli.interrupts import Interrupts
    from remit.cli.live import ProgressDisplay
    from remit.ledger.runs import Run
    from remit.model import Diagnostic
    from remit.result import Result
    from remit.runs.admission.admitted_run import AdmittedRun
    from remit.runs.request import Request
    from remit.runs.workspace import Workspace

_MAX_DIAGNOSTICS = 5


@click.command(cls=options.Command)
@click.argument("words", metavar="[AGENT] PROMPT", nargs=-1, shell_complete=completion.complete_agent_first)
@run_options.with_run_options
@run_options.worktree
@run_options.task
@click.option("--detach", is_flag=True, help="Start in the background and print the run ID.")
@click.option("--each", metavar="FILE", help="File with one prompt per line, as JSON; - for standard input.")
@click.option("--concurrency", type=run_options.parse_count, metavar="N", help="With --each: runs at a time.")
@click.option("--again", is_flag=True, help="With --each: run completed lines again.")
@options.output_format("full", "json")
def run(
    words: tuple[str, ...],
    *,
    worktree: bool,
    task_id: int | str | None,
    detach: bool,
    each: str | None,
    concurrency: int | None,
    again: bool,
    output_format: str,
    **given: Any,  # noqa: ANN401 - options
) -> int:
    """Run AGENT with PROMPT and verify its result.

    One argument is the prompt: remit run "Fix the typo in the README" --runner claude. With two, the first is the name
    of an agent file: remit run researcher "How is the cache invalidated?". If PROMPT is -, it is read from standard
    input. On a terminal, a live tree shows the runs; Ctrl-C cancels, a second one kills. --json prints the result. Exit
    code 0: completed, 1: partial, failed or blocked, 2: refused or could not run.

    With --each there is no PROMPT: the agent works on every line of FILE, a JSON text or {"prompt": …, "inputs": {…},
    "timeout": SECONDS, "return_format": …, "task": N}, several lines at a time. Completed lines are skipped on a
    re-run; --again runs them again. --json prints a line of JSON for each run as it ends, with its "line". Exit code 0:
    all were completed, 1: not all.
    """
    from remit.runs.request import Request
    from remit.runs.workspace import Workspace

    _check_together(each, detach=detach, only_each=concurrency is not None or again)
    agent, prompt = _split(words, with_prompt=each is None)
    text = read_prompt(prompt)
    fields = run_options.gather(given) | {"worktree": worktree}
    ws = Workspace.open()
    if each is None and agent is None:
        from remit.agents.profiles import UTILITY_AGENTS
        from remit.runs.agent_lookup import refuse_agent_as_prompt

        if text in UTILITY_AGENTS:  # its inputs can stand in for a prompt
            agent, text = text, ""
        else:
            refuse_agent_as_prompt(ws.root, text, ws.settings)
    if task_id is not None:
        from remit.runs.tasks.task_facts import find_task

        fields |= find_task(ws.home, ws.settings, task_id)
    request = Request(agent, text, **fields)
    if each is not None:
        from remit.cli.commands.run_each import run_each

        return run_each(ws, request, each, concurrency=concurrency, again=again, output_format=output_format)
    return _detach(ws, request, output_format) if detach else carry_out(ws, request, output_format=output_format)


def _check_together(each: str | None, *, detach: bool, only_each: bool) -> None:
    """Refuse options that can't be combined."""
    if each is not None and detach:
        raise UsageError("can't combine --each with --detach", hint="leave one of them out")
    if each is None and only_each:
        raise UsageError("--concurrency and --again need --each", hint="name a file of prompts with --each")


def _split(words: tuple[str, ...], *, with_prompt: bool) -> tuple[str | None, tuple[str, ...]]:
    """Return the agent, or None, and the prompt: the last argument, unless the prompts come from a file."""
    agents, prompt = (words[:-1], words[-1:]) if with_prompt else (words, ())
    if len(agents) > 1 and with_prompt:
        text = f"expected an agent and a prompt, got {len(words)} arguments"
        raise UsageError(text, hint='put the prompt in quotes: remit run AGENT "Fix the typo"')
    if len(agents) > 1:
        text = f"expected an agent and no prompt with --each, got {len(words)} arguments"
        raise UsageError(text, hint="leave the prompt out: remit run AGENT --each FILE")
    if with_prompt and not prompt:
        raise UsageError("there is no prompt", hint='say what to do: remit run "Fix the typo"')
    return (agents[0] if agents else None), prompt


def read_prompt(words: tuple[str, ...]) -> str:
    """Return the prompt: the arguments, or standard input if it is `-`."""
    if words != ("-",):
        return " ".join(words)
    from remit.storage.files import load_stdin

    return load_stdin().decode("utf-8", "surrogateescape")  # the request refuses invalid text


def _detach(ws: Workspace, request: Request, output_format: str) -> int:
    from remit.runs.run_control import detach

    prepared = detach(ws, request)
    ws.home.close()
    return report_detached(prepared, output_format)


def report_detached(prepared: AdmittedRun, output_format: str) -> int:
    """Print the run ID of a detached run, and return the exit code."""
    row = prepared.row
    if output_format == "json":
        from contextlib import closing

        from remit.views.json_builders import build_started_run
        from remit.views.run_snapshots import open_home

        with closing(open_home()) as home:
            print_json(build_started_run(home, row.session_id, prepared.diagnostics))
        return ACCEPTED
    report_request_diagnostics(prepared.diagnostics)
    print_lines(row.session_id)
    print_lines(
        f"{quote(row.agent)} runs in the background; to get its result, run: remit wait {escape(row.session_id)}",
        stderr=True,
    )
    return ACCEPTED


# --- waiting ---------------------------------------------------------------------------------------------------------


def carry_out(ws: Workspace, request: Request, *, output_format: str) -> int:
    """Run an agent, show its progress and its result, and return the exit code."""
    import asyncio

    prepared, result = asyncio.run(_carry_out(ws, request, output_format))
    if output_format == "json":
        print_json(build_result(result, prepared.diagnostics))
    else:
        print_result(result)
    return get_result_code(result)


async def _carry_out(ws: Workspace, request: Request, output_format: str) -> tuple[AdmittedRun, Result]:
    import asyncio

    from remit.cli.interrupts import Interrupts
    from remit.cli.live import make_display
    from remit.runs.progress import ProgressReader

    async with ws:
        with Interrupts(asyncio.get_running_loop()) as interrupts:
            prepared = await ws.start(request)
            session_id = prepared.row.session_id
            display = make_display(ProgressReader(ws.home, session_id), output_format=output_format)
            if output_format != "json":
                report_request_diagnostics(prepared.diagnostics)
            display.begin(_describe_start(prepared.row))
            return prepared, await follow(ws, session_id, display, interrupts)


def _describe_start(row: Run) -> str:
    """Return the first line of a log. Whether a worker of another machine takes the run at once isn't known yet."""
    from remit.cluster.workers_status import is_remote

    state = "is queued for a worker" if is_remote(row) else "is running"
    return f"{row.session_id}: {row.agent} {state}; follow it with: remit logs -f {row.session_id}"


async def follow(
    ws: Workspace, session_id: str, display: ProgressDisplay, interrupts: Interrupts | None = None
) -> Result:
    """Wait for a run and show its progress. Ctrl-C cancels the run; a second Ctrl-C kills it."""
    import asyncio

    if interrupts is None:
        from remit.cli.interrupts import Interrupts

        with Interrupts(asyncio.get_running_loop()) as own:
            return await follow(ws, session_id, display, own)
    cancelling: list[asyncio.Task[Sequence[str]]] = []

    def cancel() -> None:
        cancelling.append(asyncio.ensure_future(ws.cancel(session_id, reason="it was interrupted")))
        display.report("cancelling; Ctrl-C again kills the run")

    def kill() -> None:
        ws.supervisor.cancel(session_id, reason="it was interrupted")  # also nested runs that started since
        display.end()
        os._exit(INTERRUPTED)

    waiting = asyncio.ensure_future(ws.wait(session_id))
    interrupts.set_handlers(first=cancel, again=kill)
    while not (await asyncio.wait({waiting}, timeout=display.interval_s))[0]:
        with suppress(RemitError):  # an error of the display doesn't lose the result
            display.update()
    for cancellation in cancelling:
        for each in await cancellation:  # nested runs, whose supervisors may have ended with their agents
            await ws.wait(each)
    with suppress(RemitError):
        display.end()
    return waiting.result()


def report_request_diagnostics(findings: Sequence[Diagnostic]) -> None:
    """Print the diagnostics of a request on standard error."""
    paint = get_paint(stderr=True)
    for finding in findings[:_MAX_DIAGNOSTICS]:
        print_lines(render_title(finding, paint=paint), stderr=True)
    if len(findings) > _MAX_DIAGNOSTICS:
        print_lines(f"… and {len(findings) - _MAX_DIAGNOSTICS} more", stderr=True)
