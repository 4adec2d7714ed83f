"""`remit task research`, `plan`, `revise`, `implement`, `review` and the workspace's own ones: run agents on tasks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from remit.cli import options, run_options
from remit.cli.commands import completion
from remit.cli.output import get_paint, print_json, print_lines
from remit.cli.result_output import get_result_code, print_result, render_result_line
from remit.runs.tasks.task_commands import COMMANDS
from remit.runs.tasks.task_numbers import parse_task
from remit.terminal import escape, quote
from remit.views.json_builders import build_result

if TYPE_CHECKING:
    from remit.cli.interrupts import Interrupts
    from remit.model import Diagnostic
    from remit.result import Result
    from remit.runs.admission.admitted_run import AdmittedRun
    from remit.runs.tasks.task_runs import FinishedTaskRun, TaskRequest, TaskRun
    from remit.runs.workspace import Workspace
    from remit.terminal import Paint

_HELP = """{text}

TASK is its number. PROMPT adds to the request; - reads it from standard input. Remit sets the task's status before the
agent starts and after it verified the return, and commits its files. The agent is the one that [route.{name}] in
remit.toml names for the task's language, else the one whose file is for this; without any, the harness follows short
built-in instructions. Exit code 0: completed, 1: partial, failed or blocked, 2: refused or could not run."""


def make_command(name: str, text: str) -> click.Command:
    """Return a command that runs an agent on a task."""

    @click.command(name, cls=options.Command, short_help=text, help=_HELP.format(name=name, text=text))
    @click.argument("number", metavar="TASK", type=parse_task, shell_complete=completion.complete_tasks)
    @click.argument("prompt", metavar="[PROMPT]…", nargs=-1)
    @click.option("--agent", metavar="NAME", help="Agent to run. Default: by [route] in remit.toml, else by its kind.")
    @run_options.with_run_options
    @click.option("--detach", is_flag=True, help="Start in the background and print the run ID.")
    @options.output_format("full", "json")
    def command(
        number: int | str,
        prompt: tuple[str, ...],
        *,
        agent: str | None,
        detach: bool,
        output_format: str,
        **given: Any,  # noqa: ANN401 - options
    ) -> int:
        from remit.cli.commands.run import read_prompt
        from remit.runs.tasks.task_runs import TaskRequest
        from remit.runs.workspace import Workspace

        fields = run_options.gather(given)
        wish = TaskRequest(name, number, read_prompt(prompt), agent or "", fields)
        ws = Workspace.open()
        return _detach(ws, wish, output_format) if detach else _carry_out(ws, wish, output_format)

    return command


research, plan, revise, implement, review = (
    make_command(name, COMMANDS[name].help) for name in ("research", "plan", "revise", "implement", "review")
)


def _detach(ws: Workspace, wish: TaskRequest, output_format: str) -> int:
    from remit.cli.commands.run import report_detached
    from remit.runs.tasks.task_runs import detach_task_run, prepare_task_run

    ready = prepare_task_run(ws, wish)
    prepared = detach_task_run(ws, ready)
    ws.home.close()
    if output_format != "json":
        _print_notes(ready)
    return report_detached(prepared, output_format)


def _carry_out(ws: Workspace, wish: TaskRequest, output_format: str) -> int:
    """Run the task command, show its progress and its result, and return the exit code."""
    import asyncio

    parts, diagnostics, after = asyncio.run(_work(ws, wish, output_format))
    result = parts[-1].result
    if output_format == "json":
        print_json(build_result(result, diagnostics, **_build_task_part(parts, after)))
    else:
        print_result(result, *_render_task(parts, after, get_paint()))
    return get_result_code(result)


async def _work(
    ws: Workspace, wish: TaskRequest, output_format: str
) -> tuple[list[FinishedTaskRun], tuple[Diagnostic, ...], tuple[str, str]]:
    """Run the command phase by phase; return the finished runs, the diagnostics of requests, and the task's state."""
    import asyncio

    from remit.cli.interrupts import Interrupts
    from remit.runs.tasks.task_runs import (
        FinishedTaskRun,
        conclude_task,
        get_state,
        prepare_task_run,
        start_next_phase,
        start_task_run,
    )

    parts: list[FinishedTaskRun] = []
    diagnostics: tuple[Diagnostic, ...] = ()
    async with ws:
        with Interrupts(asyncio.get_running_loop()) as interrupts:
            ready = prepare_task_run(ws, wish)
            taken: tuple[TaskRun, AdmittedRun] | None = (ready, start_task_run(ws, ready))
            while taken is not None:
                ready, prepared = taken
                diagnostics += prepared.diagnostics
                parts.append(FinishedTaskRun(ready, await _work_on(ws, ready, prepared, output_format, interrupts)))
                taken = start_next_phase(ws, parts)
                if taken is not None and output_format != "json":
                    _print_phase(parts[-1])
        return conclude_task(ws, parts), diagnostics, get_state(ws, parts[0].ready)


async def _work_on(
    ws: Workspace, ready: TaskRun, prepared: AdmittedRun, output_format: str, interrupts: Interrupts
) -> Result:
    """Wait for the run of one phase, and show its progress."""
    from remit.cli.commands.run import follow, report_request_diagnostics
    from remit.cli.live import make_display
    from remit.runs.progress import ProgressReader

    session_id = prepared.row.session_id
    await ws.backend.submit(session_id)
    if output_format != "json":
        _print_notes(ready)
        report_request_diagnostics(prepared.diagnostics)
    display = make_display(ProgressReader(ws.home, session_id), output_format=output_format)
    task = f"task {ready.wish.number}"
    what = task if ready.phase is None else f"phase {ready.phase.number} of {task}"
    display.begin(
        f"{session_id}: {prepared.row.agent} is working on {what}; follow it with: remit logs -f {session_id}"
    )
    return await follow(ws, session_id, display, interrupts)


def _print_notes(ready: TaskRun) -> None:
    paint = get_paint(stderr=True)
    for note in ready.notes:
        print_lines(f"{paint('note', 'note')}: {quote(note)}", stderr=True)


def _print_phase(part: FinishedTaskRun) -> None:
    """Print the result of a phase before the next one starts."""
    phase = part.ready.phase
    if phase is not None:
        paint = get_paint(stderr=True)
        print_lines(f"phase {quote(phase.number)}: {render_result_line(part.result, paint=paint)}", stderr=True)
        for note in part.result.notes:
            print_lines(f"{paint('note', 'note')}: {quote(note)}", stderr=True)


def _render_task(parts: list[FinishedTaskRun], after: tuple[str, str], paint: Paint) -> list[str]:
    """Render the results of the phases and the change of the task's status."""
    phases = [(part.ready.phase, part.status) for part in parts if part.ready.phase is not None]
    styles = {"completed": "good", "failed": "error"}
    shown = [
        f"{quote(phase.number)} {paint(styles.get(status, 'warning'), escape(status))}" for phase, status in phases
    ]
    lines = []
    if shown:
        left = max(len(parts[-1].left), parts[-1].ready.left - (parts[-1].status == "completed"))
        lines.append(f"  phases: {', '.join(shown)}{f'; {left} left' if left else ''}")
    (before, number), (marker, reason) = (parts[0].ready.before, parts[0].ready.wish.number), after
    moved = f"is {marker}" if before == marker else f"was {before} and is {marker}"
    if marker:
        lines.append(f"  task {number} {quote(moved)}{f': {quote(reason)}' if reason else ''}")
    return lines


def _build_task_part(parts: list[FinishedTaskRun], after: tuple[str, str]) -> dict[str, Any]:
    first = parts[0].ready
    task: dict[str, Any] = {"number": first.wish.number}
    task |= {"before": first.before, "after": after[0]} if after[0] else {}
    task |= {"reason": after[1]} if after[1] else {}
    task |= {"left": list(parts[-1].left)} if parts[-1].left else {}
    built: dict[str, Any] = {"task": task}
    phases = [
        {"phase": part.ready.phase.number, "status": part.status, "session_id": part.result.session_id}
        for part in parts
        if part.ready.phase is not None
    ]
    built |= {"phases": phases} if phases else {}
    return built | ({"task_notes": list(first.notes)} if first.notes else {})
