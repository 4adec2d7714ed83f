"""`remit run [AGENT] --each FILE`: the same agent for many prompts, several at a time."""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING

from remit.cli.input import name_source
from remit.cli.live import TELL_EVERY_S, Screen, render_clock
from remit.cli.output import get_paint, say, say_json
from remit.cli.result_output import render_remarks, render_result_line
from remit.terminal import escape, quote
from remit.views.json_objects import build_result
from remit.views.render import ACCEPTED, INTERRUPTED, NOT_ACCEPTED, count

if TYPE_CHECKING:
    from collections.abc import Sequence

    from remit.result import Result
    from remit.runs.batch import OnDone
    from remit.runs.batch_file import BatchLine
    from remit.runs.request import Request
    from remit.runs.workspace import Workspace

_BAR = 24
_DRAW_EVERY_S = 0.25
_BATCH = "remit run --each"
_SHARED = ("EVD003", "EVD010")
"""The findings that a worktree for each agent would have prevented."""


def run_each(
    ws: Workspace, request: Request, file: str, *, concurrency: int | None, again: bool, output_format: str
) -> int:
    """Have an agent work on each line of a file; 0 where all of it was completed."""
    import asyncio

    lines = _load(file)
    requests = make_requests(ws, request, lines)
    progress = Progress(len(lines), output_format)

    def tell(index: int, result: Result) -> None:
        if output_format == "json":
            say_json(build_result(result, line=lines[index].number), pretty=False)
        progress.add(result)

    results = asyncio.run(_fan_out(ws, requests, progress, tell, concurrency=concurrency, again=again))
    if output_format != "json":
        _show(lines, results)
    return ACCEPTED if all(each.status == "completed" for each in results) else NOT_ACCEPTED


def _load(file: str) -> list[BatchLine]:
    from remit.runs.batch_file import parse_each
    from remit.storage.files import load_bytes, load_stdin

    return parse_each(load_stdin() if file == "-" else load_bytes(file), name_source(file))


def make_requests(ws: Workspace, request: Request, lines: Sequence[BatchLine]) -> list[Request]:
    """A request for each line: what the command line says, with what the line says."""
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


async def _fan_out(
    ws: Workspace, requests: list[Request], progress: Progress, tell: OnDone, *, concurrency: int | None, again: bool
) -> list[Result]:
    """Have it done. Who interrupts cancels what runs and what waits; who does so again does not wait."""
    import asyncio

    from remit.cli.interrupts import Interrupts
    from remit.runs.batch import RunBatch

    cancelling: list[asyncio.Future[None]] = []
    async with ws:
        fanout = RunBatch(ws, requests, concurrency=concurrency, on_done=tell, batch=_BATCH, again=again)

        def cancel() -> None:
            cancelling.append(asyncio.ensure_future(fanout.cancel(reason="it was interrupted")))
            progress.tell("cancelling; once more does not wait for it")

        def kill() -> None:
            fanout.kill(reason="it was interrupted")
            progress.end()
            os._exit(INTERRUPTED)

        with Interrupts(asyncio.get_running_loop()) as interrupts:
            interrupts.answer(first=cancel, again=kill)
            working = asyncio.ensure_future(fanout.run())
            while not (await asyncio.wait({working}, timeout=_DRAW_EVERY_S))[0]:
                progress.look(len(fanout.running))
            await asyncio.gather(*cancelling)
    progress.end()
    if fanout.picked_up:
        progress.say(f"{len(fanout.picked_up)} of {len(requests)} were done before; --again does them anew")
    return working.result()


class Progress:
    """How many are done: a bar on a terminal, a line now and then elsewhere, and nothing for a program."""

    def __init__(self, total: int, output_format: str) -> None:
        self.total = total
        self.done = self.failed = 0
        self.cost_usd: float | None = None
        self._is_silent = output_format == "json"
        self._screen = Screen() if Screen.is_there() and not self._is_silent else None
        self._began_s = self._told_s = time.monotonic()
        self._said = ""
        if self._screen is None and not self._is_silent:
            say(f"{count(total, 'delegation')}; follow them with: remit ps", stderr=True)

    def add(self, result: Result) -> None:
        """One more is done."""
        self.done += 1
        self.failed += result.status != "completed"
        if result.usage.cost_usd is not None:
            self.cost_usd = (self.cost_usd or 0.0) + result.usage.cost_usd

    def look(self, running: int) -> None:
        """Show how it stands."""
        if self._screen is not None:
            filled = _BAR * self.done // self.total
            bar = f"[{'#' * filled}{'-' * (_BAR - filled)}] {self._render(running)}"
            self._screen.draw([bar[: self._screen.get_size()[0] - 1], *([self._said] if self._said else [])])
        elif not self._is_silent and time.monotonic() - self._told_s >= TELL_EVERY_S:
            self._told_s = time.monotonic()
            say(self._render(running), stderr=True)

    def tell(self, sentence: str) -> None:
        """Say something besides."""
        self._said = sentence
        if self._screen is None:
            self.say(sentence)

    def say(self, sentence: str) -> None:
        """Say something on a line of its own, unless a program reads."""
        if not self._is_silent:
            say(sentence, stderr=True)

    def end(self) -> None:
        """Make room for the results."""
        if self._screen is not None:
            self._screen.draw([])

    def _render(self, running: int) -> str:
        facts = [f"{self.done} of {self.total}", f"{running} at work"]
        facts += [f"{self.failed} not completed"] if self.failed else []
        facts += [render_clock(time.monotonic() - self._began_s)]
        facts += [] if self.cost_usd is None else [f"${self.cost_usd:.2f}"]
        return "  ".join(facts)


def _show(lines: Sequence[BatchLine], results: Sequence[Result]) -> None:
    """What came of each, in the order of the file, and of all."""
    paint = get_paint()
    width = len(str(lines[-1].number))
    for line, result in zip(lines, results, strict=True):
        say(f"{line.number:>{width}} {render_result_line(result, paint=paint)}")
        if result.status != "completed":
            error = next((f"{fault.code}: {fault.message}" for fault in result.errors), result.summary)
            say(f"{' ' * width}   {quote(error)}")
        for remark in render_remarks(result, paint):
            say(f"{' ' * width}   {remark}")
        if result.session_id:
            say(f"{' ' * width}   see: {escape(result.show)}")
    statuses = [result.status for result in results]
    told = ", ".join(f"{statuses.count(status)} {escape(status)}" for status in dict.fromkeys(statuses))
    unproven = [result for result in results if result.verdict == "unproven"]
    claims = sum(artifact.grade == "unknown" for result in unproven for artifact in result.artifacts)
    doubt = f" ({len(unproven)} unproven, with {count(claims, 'unproven claim')})" if unproven else ""
    say(f"{count(len(results), 'delegation')}: {told}{doubt}")
    if any(finding.code in _SHARED for result in results for finding in result.diagnostics):
        say("hint: --worktree gives each agent its own worktree, where Remit can verify what it made")
