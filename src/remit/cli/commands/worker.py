"""`remit worker start`, `list` and `drain`: workers that run agents for other machines."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

import click

from remit.cli import options
from remit.cli.output import get_paint, print_json, print_lines
from remit.cli.run_options import parse_duration
from remit.errors import RemitError, UsageError
from remit.terminal import escape
from remit.views.render import ACCEPTED, NOT_ACCEPTED, count

if TYPE_CHECKING:
    from remit.cluster.run_worker import PreparedWorker, WorkerOptions
    from remit.cluster.worker.worker import WorkerEvent

_MOST = 1000
_SIGNS = {
    "ready": ("good", "✓", "ready"),
    "taken": ("note", "→", "taken"),
    "again": ("note", "→", "resumed"),
    "done": ("good", "✓", ""),
    "lost": ("warning", "✗", "was given to another worker; its agent was ended"),
    "unable": ("warning", "!", "left to other workers:"),
    "given": ("warning", "!", "returned to the queue: no output from"),
    "away": ("warning", "!", "the database doesn't respond, agents continue:"),
    "back": ("good", "✓", "the database responds again"),
    "draining": ("note", "·", "takes no more runs"),
    "ended": ("note", "·", "ended"),
}


def _parse_concurrency(value: str) -> int:
    if not (value.isascii() and value.isdigit() and len(value) <= options.MAX_DIGITS and 0 < int(value) <= _MOST):
        raise UsageError(f"'{value}' is not a number of agents", hint=f"give a whole number from 1 to {_MOST}")
    return int(value)


@click.command(cls=options.Command)
@click.option("--agents", type=options.parse_names, metavar="A,B", help="Agents to run, by name. Default: all.")
@click.option("--concurrency", type=_parse_concurrency, metavar="N", help="Runs at a time on each depth. Default: 8.")
@click.option("--name", metavar="NAME", help="Name of the worker. Default: the name of this machine.")
@click.option("--state", metavar="DIR", help="Folder for checkouts. Default: in the user's state folder.")
@options.output_format("full", "json")
def start(
    *, agents: tuple[str, ...] | None, concurrency: int | None, name: str | None, state: str | None, output_format: str
) -> int:
    """Start a worker that runs agents for other machines, until it is stopped.

    The database is `backend` in remit.toml, or REMIT_BACKEND. On Ctrl-C or SIGTERM the worker ends at once: its agents
    continue, and a worker started with the same name takes them over. Use remit worker drain to let it finish first.
    Exit code 0: ended, 2: could not run.
    """
    import asyncio

    from remit import __version__
    from remit.cluster.run_worker import WorkerOptions

    wanted = WorkerOptions(agents or (), concurrency, name or "", state or "", __version__)
    asyncio.run(_work(wanted, as_json=output_format == "json"))
    return ACCEPTED


async def _work(wanted: WorkerOptions, *, as_json: bool) -> None:
    import asyncio

    from remit.cli.interrupts import Interrupts
    from remit.cluster.run_worker import work

    with Interrupts(asyncio.get_running_loop()) as interrupts:

        def begin(ready: PreparedWorker) -> None:
            interrupts.set_handlers(first=ready.worker.end, again=ready.worker.end)
            _introduce(ready, as_json=as_json)

        await work(wanted, on_event=_print_json_event if as_json else _print_event, on_ready=begin)


def _introduce(ready: PreparedWorker, *, as_json: bool) -> None:
    if as_json:
        fields = ready._asdict()
        del fields["worker"]
        print_json({"event": "starting"} | fields | {"agents": [*ready.agents]}, pretty=False)
        return
    agents = ", ".join(map(escape, ready.agents)) or "all agents"
    print_lines(f"worker {escape(ready.worker_id)} at {escape(ready.place)}")
    print_lines(f"  {ready.concurrency} runs at a time per depth, {agents}; folder {escape(ready.folder)}")


def _print_event(event: WorkerEvent) -> None:
    style, sign, words = _SIGNS[event.kind]
    whom = " ".join(escape(each) for each in (event.session_id, event.agent) if each)
    more = f"{count(event.running, 'run')} active" if event.running else escape(event.text)
    with suppress(RemitError):  # a closed output is no reason to stop
        print_lines(f"{get_paint()(style, sign)} {' '.join(filter(None, (whom, words, more)))}")


def _print_json_event(event: WorkerEvent) -> None:
    fields = {name: value for name, value in event._asdict().items() if value and name != "kind"}
    with suppress(RemitError):
        print_json({"event": event.kind} | fields, pretty=False)


@click.command("list", cls=options.Command)
@options.output_format("full", "json")
def list_workers(*, output_format: str) -> int:
    """List the workers of this workspace and the runs that wait for one, as the shared database has them.

    Exit code 0: listed, 2: could not run, or the database does not answer.
    """
    from remit.cli.workers_output import render_cluster
    from remit.cluster.workers_status import load_status
    from remit.runs.agent_lookup import load_settings_or_usual
    from remit.views.json_builders import build_cluster
    from remit.views.run_snapshots import open_home

    home = open_home()
    try:
        _, trouble = load_settings_or_usual(home.root)
        if trouble is not None:  # the settings say which database to ask
            raise trouble
        cluster = load_status(home)
    finally:
        home.close()
    if cluster is not None and cluster.error is not None:
        raise cluster.error
    if output_format == "json":
        print_json(build_cluster(cluster))
    elif cluster is None:
        print_lines("all runs are on this machine: no backend is set")
    else:
        for line in render_cluster(cluster, paint=get_paint(), is_first=True, is_waited=False):
            print_lines(line)
    return ACCEPTED


@click.command(cls=options.Command)
@click.argument("names", nargs=-1, metavar="[WORKER]...")
@click.option("--all", "everyone", is_flag=True, help="Drain all workers.")
@click.option(
    "--timeout", type=parse_duration, metavar="TIME", help="Time limit for waiting: 90, 90s, 15m or 2h. Default: none."
)
@options.output_format("full", "json")
def drain(*, names: tuple[str, ...], everyone: bool, timeout: float | None, output_format: str) -> int:
    """Stop workers from taking new runs, wait for their current runs, then shut them down.

    Exit code 0: all have ended, 1: some are still running, 2: could not run.
    """
    import asyncio

    from remit.cluster.run_worker import drain as drain_workers

    if bool(names) == everyone:
        raise UsageError("WORKER is missing" if not names else "can't combine --all with worker names",
                         hint="name workers, or use --all")  # fmt: skip
    drained = asyncio.run(drain_workers(names, everyone=everyone, timeout_s=timeout))
    if output_format == "json":
        print_json({"drained": [*drained.asked], "left": [*drained.left]})
        return NOT_ACCEPTED if drained.left else ACCEPTED
    paint = get_paint()
    for worker_id in drained.asked:
        is_left = worker_id in drained.left
        mark = paint("warning", "!") if is_left else paint("good", "✓")
        print_lines(
            f"{mark} {escape(worker_id)} {'takes no more runs, and is still running' if is_left else 'has ended'}"
        )
    if not drained.asked:
        print_lines("no workers found")
    return NOT_ACCEPTED if drained.left else ACCEPTED
