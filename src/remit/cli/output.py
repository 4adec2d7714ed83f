"""Output of commands: results go to standard output; errors, warnings and notes go to standard error."""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from itertools import pairwise
from typing import TYPE_CHECKING

from remit.errors import RemitError
from remit.terminal import Paint, escape, wants_color, write, write_bytes
from remit.views.render import render_error, render_json

if TYPE_CHECKING:
    from collections.abc import Sequence


def get_paint(*, stderr: bool = False) -> Paint:
    """Return the colors for standard output or standard error."""
    return Paint(on=wants_color(sys.stderr if stderr else sys.stdout))


_quiet = [False]


def be_quiet() -> None:
    """Suppress notes and progress from now on (`-q`): only results and errors are printed."""
    _quiet[0] = True


def is_quiet() -> bool:
    """Return whether only results and errors are printed."""
    return _quiet[0]


def print_lines(text: str, *, stderr: bool = False) -> None:
    """Print lines of text that is already escaped. Notes go to standard error."""
    if stderr and is_quiet():
        return
    write(f"{text}\n", stream=sys.stderr if stderr else sys.stdout)


def print_json(value: object, *, pretty: bool | None = None) -> None:
    """Print a value as JSON, in UTF-8 for any locale: on one line for programs, indented on a terminal."""
    if pretty is None:
        pretty = sys.stdout is not None and sys.stdout.isatty()
    write_bytes(f"{render_json(value, indent=2 if pretty else None)}\n".encode(), stream=sys.stdout)


def print_verbatim(text: str) -> None:
    """Print text unchanged, in UTF-8 for any locale, because a file or a prompt is made from it."""
    write_bytes(f"{text}\n".encode("utf-8", "replace"), stream=sys.stdout)


def print_diff(name: str, before: str, after: str) -> None:
    """Print the changes to a file as a patch for `git apply`; on a terminal, in color and escaped."""
    from difflib import unified_diff
    from io import StringIO

    old, new = (StringIO(text, newline="\n").readlines() for text in (before, after))
    paint, styles = get_paint(), {"+": "good", "-": "error", "@": "frame"}
    is_raw = not paint.on and not (sys.stdout is not None and sys.stdout.isatty())
    name = escape(name)  # a line break in the name would start another line of the patch
    for line in unified_diff(old, new, f"a/{name}", f"b/{name}"):
        if is_raw:
            write_bytes(line.encode("utf-8", "surrogateescape"), stream=sys.stdout)
        else:
            shown = escape(line.rstrip("\n"), keep="\t")
            print_lines(paint(styles[line[0]], shown) if line[0] in styles else shown)
        if not line.endswith("\n"):
            print_lines(f"{chr(10) if is_raw else ''}\\ No newline at end of file")


def name_file(file: str) -> str:
    """Return the path of a file relative to the current folder, if the file is below it."""
    full = os.path.abspath(file)
    here = f"{os.getcwd().rstrip('/')}/"
    return full.removeprefix(here)


def report_error(error: BaseException, *, as_json: bool = False) -> None:
    """Print an error on standard error: message and hint on lines of their own, or one line of JSON."""
    if os.environ.get("REMIT_DEBUG") and not isinstance(error, RemitError):
        import traceback

        traceback.print_exception(error)
    paint = get_paint(stderr=True)
    with suppress(RemitError):  # if standard error is closed, the exit code still reports the failure
        if as_json:
            from remit.views.json_builders import build_error

            write_bytes(f"{render_json({'error': build_error(error)})}\n".encode(), stream=sys.stderr)
            return
        message, hint = render_error(error)
        lines = [f"{paint('error', 'error:')} {message}"]
        lines += [f"{paint('strong', 'hint:')} {hint}"] if hint else []
        write("\n".join((*lines, "")), stream=sys.stderr)


def report_note(text: str, *, as_json: bool = False) -> None:
    """Print a note on standard error, as text or as one line of JSON."""
    paint = get_paint(stderr=True)
    with suppress(RemitError):  # standard error is closed
        if as_json and not is_quiet():
            write_bytes(f"{render_json({'note': text})}\n".encode(), stream=sys.stderr)
        elif not as_json:
            print_lines(f"{paint('note', 'note:')} {escape(text)}", stderr=True)


def warn_about_settings(trouble: RemitError | None) -> None:
    """Print a warning if the workspace's settings are invalid and the command uses the default settings."""
    if trouble is not None:
        paint = get_paint(stderr=True)
        message, hint = render_error(trouble)
        text = f"{message}; the default settings apply until this is fixed"
        print_lines(f"{paint('warning', 'warning:')} {text}", stderr=True)
        if hint:
            print_lines(f"{paint('strong', 'hint:')} {hint}", stderr=True)


def asks_for_json(args: Sequence[str]) -> bool:
    """Return whether a command line asks for JSON, even if the command line is otherwise invalid."""
    options = args[: args.index("--")] if "--" in args else args
    named = {f"{before}={value}" for before, value in pairwise(options)}
    return not {"--json", "--output-format=json"}.isdisjoint({*options, *named})
