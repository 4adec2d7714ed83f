"""Output: what a command says, and where.

Owns the two streams of a command: answers go to standard output, complaints to standard error.
"""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from itertools import pairwise
from typing import TYPE_CHECKING

from remit.errors import RemitError
from remit.terminal import Paint, escape, wants_color, write, write_bytes
from remit.views.json_objects import build_error
from remit.views.render import render_error, render_json

if TYPE_CHECKING:
    from collections.abc import Sequence


def get_paint(*, stderr: bool = False) -> Paint:
    """Colour for standard output, or for standard error."""
    return Paint(on=wants_color(sys.stderr if stderr else sys.stdout))


_quiet = [False]


def be_quiet() -> None:
    """Print no notes and no progress from now on, as -q asks: only results and errors."""
    _quiet[0] = True


def is_quiet() -> bool:
    """Whether only results and errors are printed."""
    return _quiet[0]


def say(text: str, *, stderr: bool = False) -> None:
    """Send lines of text that is already escaped. Notes go to standard error."""
    if stderr and is_quiet():
        return
    write(f"{text}\n", stream=sys.stderr if stderr else sys.stdout)


def say_json(value: object, *, pretty: bool | None = None) -> None:
    """Send a value as JSON, in UTF-8 whatever the locale: on one line for programs, indented for people."""
    if pretty is None:
        pretty = sys.stdout is not None and sys.stdout.isatty()
    write_bytes(f"{render_json(value, indent=2 if pretty else None)}\n".encode(), stream=sys.stdout)


def hand_over(text: str) -> None:
    """Send text that is itself the product, for a file or a prompt: word for word, in UTF-8 whatever the locale."""
    write_bytes(f"{text}\n".encode("utf-8", "replace"), stream=sys.stdout)


def say_diff(name: str, before: str, after: str) -> None:
    """Send what changes in a file, as `git apply` takes it; on a terminal in colour and escaped."""
    from difflib import unified_diff
    from io import StringIO

    old, new = (StringIO(text, newline="\n").readlines() for text in (before, after))
    paint, styles = get_paint(), {"+": "good", "-": "error", "@": "frame"}
    is_raw = not paint.on and not (sys.stdout is not None and sys.stdout.isatty())
    name = escape(name)  # a line break in it would be a line of the patch
    for line in unified_diff(old, new, f"a/{name}", f"b/{name}"):
        if is_raw:
            write_bytes(line.encode("utf-8", "surrogateescape"), stream=sys.stdout)
        else:
            shown = escape(line.rstrip("\n"), keep="\t")
            say(paint(styles[line[0]], shown) if line[0] in styles else shown)
        if not line.endswith("\n"):
            say(f"{chr(10) if is_raw else ''}\\ No newline at end of file")


def name_file(file: str) -> str:
    """A file as seen from here."""
    full = os.path.abspath(file)
    here = f"{os.getcwd().rstrip('/')}/"
    return full.removeprefix(here)


def complain(error: BaseException, *, as_json: bool = False) -> None:
    """Print an error on standard error: message and hint on lines of their own, or one line of JSON."""
    if os.environ.get("REMIT_DEBUG") and not isinstance(error, RemitError):
        import traceback

        traceback.print_exception(error)
    paint = get_paint(stderr=True)
    with suppress(RemitError):  # where it cannot be told, the exit code still says it
        if as_json:
            write_bytes(f"{render_json({'error': build_error(error)})}\n".encode(), stream=sys.stderr)
            return
        message, hint = render_error(error)
        lines = [f"{paint('error', 'error:')} {message}"]
        lines += [f"{paint('strong', 'hint:')} {hint}"] if hint else []
        write("\n".join((*lines, "")), stream=sys.stderr)


def note(text: str, *, as_json: bool = False) -> None:
    """Say in one line on standard error what is no error of the command, to people or to a program."""
    paint = get_paint(stderr=True)
    with suppress(RemitError):  # nobody reads it
        if as_json and not is_quiet():
            write_bytes(f"{render_json({'note': text})}\n".encode(), stream=sys.stderr)
        elif not as_json:
            say(f"{paint('note', 'note:')} {escape(text)}", stderr=True)


def warn_of_settings(trouble: RemitError | None) -> None:
    """Say that the workspace's settings cannot be followed, where something is done all the same."""
    if trouble is not None:
        paint = get_paint(stderr=True)
        message, hint = render_error(trouble)
        told = f"{message}; the default settings apply until this is fixed"
        say(f"{paint('warning', 'warning:')} {told}", stderr=True)
        if hint:
            say(f"{paint('strong', 'hint:')} {hint}", stderr=True)


def asks_for_json(args: Sequence[str]) -> bool:
    """Whether a command line asks for JSON. It is looked at as it was typed: one that does not fit is answered, too."""
    options = args[: args.index("--")] if "--" in args else args
    named = {f"{before}={value}" for before, value in pairwise(options)}
    return not {"--json", "--output-format=json"}.isdisjoint({*options, *named})
