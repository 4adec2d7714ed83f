"""The command line that runs a command under the launcher."""

from __future__ import annotations

import sys

TYPE_CHECKING = False  # typing itself would cost 6 ms
if TYPE_CHECKING:
    from collections.abc import Sequence

_START = "import sys; sys.path.append(sys.argv[1]); import launcher; launcher.main(sys.argv[2:])"
"""Imports the launcher, so that its compiled form is used; a script would be compiled at each start."""
_FOLDER = __file__.rpartition("/")[0]


def make_command(profile: str | int, command: Sequence[str], *, python: str = "") -> list[str]:
    """Return the words that run a command under a profile: a file's path, or an inherited descriptor's number."""
    place = f"fd:{profile}" if isinstance(profile, int) else profile
    return [python or sys.executable, "-I", "-S", "-c", _START, _FOLDER, place, "--", *command]
