"""The entry point of the command line: root options, exit codes, and the outermost error handler.

Every way out is an exit code and, if something is wrong, an error on standard error: text, or JSON if `--json` was
given. Nothing is imported before `main` runs, so that an interrupt during start-up is handled here, too.
"""

from __future__ import annotations

import gc
import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

ENDPOINTS = (
    "OTEL_EXPORTER_OTLP_ENDPOINT",
    "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT",
    "OTEL_EXPORTER_OTLP_METRICS_ENDPOINT",
)
"""Variables with the address of a telemetry receiver. If none is set, no telemetry module is loaded."""
SOCKET = "REMIT_SOCKET"
"""The variable with the socket by which a confined command reaches the process that supervises its run."""


def main() -> None:
    """Run the command line that the process was started with, and end the process."""
    if sys.argv[1:2] == ["hook"] and not any(word.startswith("-") for word in sys.argv[2:]):  # on every tool call
        from remit.hooks.main import main as answer_hook

        answer_hook(sys.argv[2:])
    # One command creates little garbage. By default, Python would collect after every 700 new objects.
    gc.set_threshold(50_000)
    code = run(sys.argv[1:])
    # All output is flushed. Unloading the modules would take a tenth of the run time, and flushing a stream whose
    # reader is gone would fail once more.
    os._exit(code)


def run(args: list[str]) -> int:
    """Run one command line and return its exit code."""
    try:
        if any(name in os.environ for name in ENDPOINTS):
            from remit.cli.output import asks_for_json, report_note
            from remit.telemetry.export import run_and_send

            return run_and_send(args, _run, lambda text: report_note(text, as_json=asks_for_json(args)))
        return _run(args)
    except KeyboardInterrupt:
        return 130


def _run(args: list[str]) -> int:
    try:
        _check_stdout()
        if args and args[0].startswith("-"):
            args = _apply_root_options(args)
        if SOCKET in os.environ:  # set inside a confinement
            from remit.commands import find_command

            entry = find_command(args)
            if entry is not None and entry.is_forwarded and {"-h", "--help"}.isdisjoint(args):
                return _forward(args)
        from remit.cli.group import invoke

        return invoke(args)
    except KeyboardInterrupt:
        return 130
    except Exception as error:  # noqa: BLE001 - the outermost function: the user gets a message for any error
        from remit.cli.output import asks_for_json, report_error
        from remit.views.render import get_exit_code

        report_error(error, as_json=asks_for_json(args))
        return get_exit_code(error)
    finally:
        _report_replaced_ledger(args)


def _check_stdout() -> None:
    """Refuse to run a command if its output would be lost."""
    if sys.stdout is None:
        from remit.errors import RemitError

        raise RemitError("standard output is closed", hint="send it to a file, or to /dev/null")


def _apply_root_options(words: Sequence[str]) -> list[str]:
    """Apply the options before the command, and return the rest of the command line."""
    from remit.errors import InputError, UsageError

    rest = [*words]
    while rest:
        option, equals, value = rest[0].partition("=")
        if option in ("-q", "--quiet") and not equals:
            from remit.cli.output import be_quiet

            be_quiet()
        elif option == "--color" or rest[0] == "-C":
            if not equals:
                if len(rest) == 1:
                    raise UsageError(f"{option} needs a value", hint="see 'remit --help'")
                value = rest.pop(1)
            if option == "--color":
                from remit.terminal import COLOR_CHOICES, choose_color

                if value not in COLOR_CHOICES:
                    hint = f"available: {', '.join(COLOR_CHOICES)}"
                    raise UsageError(f"there is no color choice '{value}'", hint=hint)
                choose_color(value)
            else:
                try:
                    os.chdir(value)
                except (OSError, ValueError) as error:
                    reason = error.strerror.lower() if isinstance(error, OSError) and error.strerror else "not a path"
                    raise InputError(f"can't change to '{value}': {reason}", hint="name a folder that exists") from None
        else:
            break
        del rest[0]
    return rest


def _forward(words: Sequence[str]) -> int:
    """Have the supervisor of a confined agent's run execute a command, and return its exit code.

    A file that the command reads is opened here, inside the confinement.
    """
    from remit.attempts.confined_calls import send_call

    at = next((at for at, word in enumerate(words) if at > 1 and not word.startswith("-")), 0)
    file = words[at] if [*words[:2]] == ["return", "submit"] and at and words[at - 1] != "--output-format" else ""
    if file:
        words = [*words[:at], "-", *words[at + 1 :]]
    return send_call(os.environ[SOCKET], words, os.environ.get("REMIT_TICKET", ""), file=file)


def _report_replaced_ledger(args: list[str]) -> None:
    """Report on standard error that this process kept the ledger of an older version and created a new one."""
    store = sys.modules.get("remit.ledger.store")
    while store is not None and store.SET_ASIDE:
        from remit.cli.output import asks_for_json, report_note

        kept = store.SET_ASIDE.pop()
        runs = f"; {kept.unfinished} of its runs had not finished" if kept.unfinished else ""
        text = f"the ledger of an older version was kept as '{kept.file}', and a new one was created{runs}"
        report_note(text, as_json=asks_for_json(args))
