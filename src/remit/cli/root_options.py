"""Options before the command: the folder, color and quiet."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from remit.errors import InputError, UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence


def apply_root_options(words: Sequence[str]) -> list[str]:
    """Apply the options before the command, and return the rest of the command line."""
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
            _choose_color(value) if option == "--color" else _change_folder(value)
        else:
            break
        del rest[0]
    return rest


def _choose_color(when: str) -> None:
    from remit.terminal import COLOR_CHOICES, choose_color

    if when not in COLOR_CHOICES:
        raise UsageError(f"there is no color choice '{when}'", hint=f"available: {', '.join(COLOR_CHOICES)}")
    choose_color(when)


def _change_folder(folder: str) -> None:
    try:
        os.chdir(folder)
    except (OSError, ValueError) as error:
        reason = error.strerror.lower() if isinstance(error, OSError) and error.strerror else "not a path"
        raise InputError(f"can't change to '{folder}': {reason}", hint="name a folder that exists") from None
