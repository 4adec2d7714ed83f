"""`remit mcp`: the MCP server with Remit's tools."""

from __future__ import annotations

import sys

import click

from remit.cli import options
from remit.cli.output import print_lines, report_error
from remit.errors import RemitError, how_to_install
from remit.views.render import ACCEPTED, COULD_NOT_RUN


@click.command(cls=options.Command)
def mcp() -> int:
    """Start the MCP server on standard input and output, until the input ends.

    A harness starts it: claude mcp add remit -- remit mcp. Its tools run agents, fetch results, check returns, and
    manage findings, tasks and agent files. Runs continue after the input ends. Exit code 0: the input ended, 2: could
    not run.
    """
    from importlib.util import find_spec

    if find_spec("mcp") is None:
        raise RemitError("the package mcp is not installed", hint=how_to_install("mcp"))
    if sys.stdin is not None and sys.stdin.isatty():
        print_lines("a harness is supposed to start this command and send it JSON; press Ctrl-D to end it", stderr=True)
    return _serve()


def _serve() -> int:
    from threading import Thread

    from remit.mcp.handshake import Dispatcher
    from remit.mcp.stdio import Transport

    dispatcher = Dispatcher(Transport.claim())
    Thread(target=dispatcher.run, name="remit-mcp-read", daemon=True).start()
    dispatcher.needs_library.wait()
    if dispatcher.is_done:  # most sessions never use a tool, and skip the time to load the library
        return ACCEPTED
    try:
        import asyncio

        from remit.mcp.server import serve  # loading takes long; meanwhile, the dispatcher answers
    except ImportError as error:
        report_error(RemitError(f"the package mcp does not work: {error}", hint=how_to_install("mcp")))
        dispatcher.refuse_all(f"Remit's server cannot run: {error}")
        return COULD_NOT_RUN
    loop = asyncio.new_event_loop()
    loop.run_until_complete(serve(dispatcher))  # `asyncio.run` would wait for threads whose answers no client reads
    return ACCEPTED
