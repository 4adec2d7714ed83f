"""`remit run [AGENT] --each FILE`: run one agent on many prompts concurrently."""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING

from remit.cli.input import name_source
from remit.cli.live import REPORT_INTERVAL_S, Screen, render_clock
from remit.cli.output import get_paint, print_json, print_lines
from remit.cli.result_output import render_remarks, render_result_line
from remit.terminal import escape, quote
from remit.views.json_builders import build_result
from remit.views.render import ACCEPTED, INTERRUPTED, NOT_ACCEPTED, count

if TYPE_CHECKING:
    from collections.abc import Sequence

    from remit.result import Result
    from remit.runs.batch import OnDone
    from remit.runs.batch_file import BatchLine
    from remit.runs.request import Request
    from remit.runs.workspace import Workspace

_BAR = 24
_DRAW_INTERVAL_S = 0.25
_BATCH = "remit run --each"
_SHARED = ("EVD003", "EVD010")
"""The diagnostics that a worktree for each agent prevents."""


def run_each(
    ws: Workspace, request: Request, file: str, *, concurrency: int | None, again: bool, output_format: str
) -> int:
    """Run an agent on each line of a file, and return exit code 0 if all runs are completed."""
    import asyncio

    lines = _load(file)
    requests = make_requests(ws, request, lines)
    progress = Progress(len(lines), output_format)

    def report(index: int, result: Result) -> None:
        if output_format == "json":
            print_json(build_result(result, line=lines[index].number), pretty=False)
        progress.add(result)

    results = asyncio.run(_run_batch(ws, requests, progress, report, concurrency=concurrency, again=again))
    if output_format != "json":
        _show(lines, results)
    return ACCEPTED if all(each.status == "completed" for each in results) else NOT_ACCEPTED


def _load(file: str) -> list[BatchLine]:
    from remit.runs.batch_file import parse_each
    from remit.storage.files import load_bytes, load_stdin

    return parse_each(load_stdin() if file == "-" else load_bytes(file), name_source(file))


def make_requests(ws: Workspace, request: Request, lines: Sequence[BatchLine]) -> list[Request]:
    """Return a request for each line: the command line's request with the line's values."""
    from remit.runs.tasks.task_facts import find_task

    named = dict.fromkeys(line.task for line in lines if line.task is not None)
    tasks = {each: find_task(ws.home, ws.settings, each) for each in named}
    return [
        request._replace(
            prompt=line.prompt,
            inputs={**request.inputs, **line.inputs},
            timeout_s=request.timeout_s if line.timeout_s is None else line.timeout_s,
            return_format=line.return_format or request.return_format,
            **({} if line.task is None else tasks[line.task]),
        )
        for line in lines
    ]


async def _run_batch(
    ws: Workspace, requests: list[Request], progress: Progress, report: OnDone, *, concurrency: int | None, again: bool
) -> list[Result]:
    """Run all requests. Ctrl-C cancels active and queued runs; a second Ctrl-C kills them."""
    import asyncio

    from remit.cli.interrupts import Interrupts
    from remit.runs.batch import RunBatch

    cancelling: list[asyncio.Future[None]] = []
    async with ws:
        batch = RunBatch(ws, requests, concurrency=concurrency, on_done=report, batch=_BATCH, again=again)

        def cancel() -> None:
            cancelling.append(asyncio.ensure_future(batch.cancel(reason="it was interrupted")))
            progress.report("cancelling; Ctrl-C again kills the runs")

        def kill() -> None:
            batch.kill(reason="it was interrupted")
            progress.end()
            os._exit(INTERRUPTED)

        with Interrupts(asyncio.get_running_loop()) as interrupts:
            interrupts.set_handlers(first=cancel, again=kill)
            working = asyncio.ensure_future(batch.run())
            while not (await asyncio.wait({working}, timeout=_DRAW_INTERVAL_S))[0]:
                progress.update(len(batch.running))
            await asyncio.gather(*cancelling)
    progress.end()
    if batch.picked_up:
        progress.print_line(
            f"{len(batch.picked_up)} of {len(requests)} were already completed; --again runs them again"
        )
    return working.result()


class Progress:
    """Shows how many runs have ended: a bar on a terminal, a line at intervals in a log, and nothing for JSON."""

    def __init__(self, total: int, output_format: str) -> None:
        self.total = total
        self.done = self.failed = 0
        self.cost_usd: float | None = None
        self._is_silent = output_format == "json"
        self._screen = Screen() if Screen.is_available() and not self._is_silent else None
        self._began_s = self._reported_s = time.monotonic()
        self._message = ""
        if self._screen is None and not self._is_silent:
            print_lines(f"{count(total, 'run')}; follow them with: remit ps", stderr=True)

    def add(self, result: Result) -> None:
        """Count a run that has ended."""
        self.done += 1
        self.failed += result.status != "completed"
        if result.usage.cost_usd is not None:
            self.cost_usd = (self.cost_usd or 0.0) + result.usage.cost_usd

    def update(self, running: int) -> None:
        """Show the current state."""
        if self._screen is not None:
            filled = _BAR * self.done // self.total
            bar = f"[{'#' * filled}{'-' * (_BAR - filled)}] {self._render(running)}"
            self._screen.draw([bar[: self._screen.get_size()[0] - 1], *([self._message] if self._message else [])])
        elif not self._is_silent and time.monotonic() - self._reported_s >= REPORT_INTERVAL_S:
            self._reported_s = time.monotonic()
            print_lines(self._render(running), stderr=True)

    def report(self, sentence: str) -> None:
        """Show a message below the bar."""
        self._message = sentence
        if self._screen is None:
            self.print_line(sentence)

    def print_line(self, sentence: str) -> None:
        """Print a message on a separate line, unless the output is JSON."""
        if not self._is_silent:
            print_lines(sentence, stderr=True)

    def end(self) -> None:
        """Remove the bar; the results follow."""
        if self._screen is not None:
            self._screen.draw([])

    def _render(self, running: int) -> str:
        facts = [f"{self.done} of {self.total}", f"{running} running"]
        facts += [f"{self.failed} not completed"] if self.failed else []
        facts += [render_clock(time.monotonic() - self._began_s)]
        facts += [] if self.cost_usd is None else [f"${self.cost_usd:.2f}"]
        return "  ".join(facts)


def _show(lines: Sequence[BatchLine], results: Sequence[Result]) -> None:
    """Print each result in the order of the file, and a summary."""
    paint = get_paint()
    width = len(str(lines[-1].number))
    for line, result in zip(lines, results, strict=True):
        print_lines(f"{line.number:>{width}} {render_result_line(result, paint=paint)}")
        if result.status != "completed":
            error = next((f"{error.code}: {error.message}" for error in result.errors), result.summary)
            print_lines(f"{' ' * width}   {quote(error)}")
        for remark in render_remarks(result, paint):
            print_lines(f"{' ' * width}   {remark}")
        if result.session_id:
            print_lines(f"{' ' * width}   see: {escape(result.show)}")
    statuses = [result.status for result in results]
    text = ", ".join(f"{statuses.count(status)} {escape(status)}" for status in dict.fromkeys(statuses))
    unproven = [result for result in results if result.verdict == "unproven"]
    claims = sum(artifact.grade == "unknown" for result in unproven for artifact in result.artifacts)
    doubt = f" ({len(unproven)} unproven, with {count(claims, 'unproven claim')})" if unproven else ""
    print_lines(f"{count(len(results), 'run')}: {text}{doubt}")
    if any(diagnostic.code in _SHARED for result in results for diagnostic in result.diagnostics):
        print_lines("hint: --worktree gives each agent its own worktree, where Remit can attribute its changes")
