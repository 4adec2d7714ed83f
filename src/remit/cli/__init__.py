"""The command line: `remit`, its entry point and its outermost line.

Owns how a process ends: every way out is an exit code and, where something is wrong, one line on standard error: a
sentence, or JSON where JSON was asked for.
Nothing is imported before `main` runs, so that an interrupt during start-up is met here, too.
"""

from __future__ import annotations

import gc
import os
import sys

ENDPOINTS = (
    "OTEL_EXPORTER_OTLP_ENDPOINT",
    "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT",
    "OTEL_EXPORTER_OTLP_METRICS_ENDPOINT",
)
"""Where telemetry goes; where none is set, nothing of it is loaded."""


def main() -> None:
    """Run the command line that the process was started with, and end the process."""
    if sys.argv[1:2] == ["hook"] and not any(word.startswith("-") for word in sys.argv[2:]):  # on every tool call
        from remit.hooks.main import main as answer_hook

        answer_hook(sys.argv[2:])
    # The little that one command throws away is not worth looking for; the default looks every 700 objects.
    gc.set_threshold(50_000)
    code = run(sys.argv[1:])
    # Everything that can be written is written. To take every module down again would cost a tenth of the whole run,
    # and to flush a stream that nobody reads would fail once more.
    os._exit(code)


def run(args: list[str]) -> int:
    """Run one command line; the exit code."""
    try:
        if any(name in os.environ for name in ENDPOINTS):
            from remit.cli.output import asks_for_json, note
            from remit.telemetry.export import carry_out

            return carry_out(args, _run, lambda text: note(text, as_json=asks_for_json(args)))
        return _run(args)
    except KeyboardInterrupt:
        return 130


def _run(args: list[str]) -> int:
    try:
        _check_stdout()
        if args and args[0].startswith("-"):
            from remit.cli.root_options import apply_root_options

            args = apply_root_options(args)
        if "REMIT_SOCKET" in os.environ:  # inside of a confinement
            from remit.cli.confined_calls import forward, is_forwarded

            if is_forwarded(args):
                return forward(args)
        from remit.cli.group import invoke

        return invoke(args)
    except KeyboardInterrupt:
        return 130
    except Exception as error:  # noqa: BLE001 - the outermost line: whatever it is, the user gets one sentence
        from remit.cli.output import asks_for_json, complain
        from remit.views.render import get_exit_code

        complain(error, as_json=asks_for_json(args))
        return get_exit_code(error)
    finally:
        _tell_set_aside(args)


def _tell_set_aside(args: list[str]) -> None:
    """Say that the ledger of an older version was kept and a new one begun, if this process did that."""
    store = sys.modules.get("remit.ledger.store")
    while store is not None and store.SET_ASIDE:
        from remit.cli.output import asks_for_json, note

        kept = store.SET_ASIDE.pop()
        runs = f"; {kept.unfinished} of its runs weren't over" if kept.unfinished else ""
        told = f"the ledger of an older version is kept as '{kept.file}', and a new one was begun{runs}"
        note(told, as_json=asks_for_json(args))


def _check_stdout() -> None:
    """Refuse to do anything where nobody could be told what came of it."""
    if sys.stdout is None:
        from remit.errors import RemitError

        raise RemitError("standard output is closed", hint="send it to a file, or to /dev/null")
