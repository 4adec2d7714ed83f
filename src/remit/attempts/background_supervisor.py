"""Start a supervisor process in the background, for runs that no process waits for.

It has its own session, so it outlives the terminal. Its output goes to `supervisor.log` in the session's folder.
"""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

from remit.attempts.folders import SESSIONS, find_folder
from remit.errors import RunnerError
from remit.storage.files import storage_error

if TYPE_CHECKING:
    from collections.abc import Mapping

    from remit.ledger.home import Home
    from remit.storage.supervisor_presence import Presence

LOG = "supervisor.log"


def start_supervisor(home: Home, session_id: str, presence: Presence, *, environ: Mapping[str, str]) -> int:
    """Start a process that drives a run; return its pid.

    The process inherits the open file of the supervisor that owns the run. So that supervisor counts as alive until
    both processes have ended, and no other process takes the run over before the new supervisor has claimed it.
    """
    if not sys.executable:
        raise RunnerError("can't find the Python interpreter", hint="start Remit with the remit command")
    from subprocess import DEVNULL, STDOUT, Popen  # noqa: PLC0415 - only to start a process

    handle = str(presence.handle)
    command = [sys.executable, "-P", "-m", "remit", "drive", session_id, "--held", handle]
    log = _open_log(home, session_id)
    try:
        process = Popen(  # noqa: S603 - Remit itself
            command,
            env={**environ, "REMIT_ROOT": home.root},
            stdin=DEVNULL,
            stdout=log,
            stderr=STDOUT,
            pass_fds=(presence.handle,),
            start_new_session=True,
        )
    except (OSError, ValueError) as error:
        raise RunnerError(f"can't start a supervisor: {error}", hint="run it without --detach") from error
    finally:
        os.close(log)
    process.returncode = 0  # no code waits for it; without a return code Python would warn
    return process.pid


def _open_log(home: Home, session_id: str) -> int:
    folder = os.path.dirname(find_folder(home, session_id, 1))
    home.make_folder(SESSIONS)
    try:
        os.makedirs(folder, mode=0o700, exist_ok=True)
        flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW | os.O_CLOEXEC
        return os.open(f"{folder}/{LOG}", flags, 0o600)
    except OSError as error:
        raise storage_error(folder, error) from error
