"""The exception tree: an operation that cannot proceed.

    RemitError
    ├── UsageError      the caller asked for something that does not exist or does not fit
    ├── InputError      a file that was named can't be read
    ├── ConfigError     remit.toml says something that cannot be followed
    ├── StorageError    the workspace's own files can't be read or written
    ├── BusyError       another process holds what is needed, for too long
    │   └── EditedError a user edited a file while Remit was writing it; the edit is kept
    ├── StateError      the tasks or the manifest are not as they would have to be
    ├── RefusedError    a delegation is not admitted: depth, cycle, allow-list, budget, ticket
    ├── RunnerError     an agent cannot be started: no such program, no such runner
    └── ClusterError    the database that machines share does not answer, or may not be used as it is

Wrong content is never raised: it is a `Diagnostic`. A bug propagates as what it is.
"""

from __future__ import annotations

TYPE_CHECKING = False  # typing itself would cost 6 ms


class RemitError(Exception):
    """An operation cannot proceed: one sentence, what to do next, and a code for machines."""

    code = "UNKNOWN_ERROR"
    recoverable = False

    def __init__(self, message: str, *, hint: str = "", **data: object) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
        self.data = data

    def __str__(self) -> str:
        return f"{self.message}; {self.hint}" if self.hint else self.message


class UsageError(RemitError):
    """The caller asked for something that does not exist or does not fit."""

    code = "USAGE"


class InputError(RemitError):
    """A file or folder that was named can't be read."""

    code = "INPUT_UNREADABLE"


class ConfigError(RemitError):
    """The workspace's configuration cannot be followed."""

    code = "CONFIG_INVALID"


class StorageError(RemitError):
    """The workspace's own files or its ledger can't be read or written: a full disk, a broken one, no permission."""

    code = "STORAGE_FAILED"


class BusyError(RemitError):
    """Another process holds a lock for longer than it is worth waiting."""

    code = "BUSY"
    recoverable = True


class EditedError(BusyError):
    """A user edited a file between Remit's reading and writing it. Nothing was overwritten."""

    def __init__(self, path: str) -> None:
        super().__init__(f"'{path}' was edited while Remit was writing it: the edit is kept", hint="run it again")


class StateError(RemitError):
    """What the workspace keeps is not as it would have to be: drifted, corrupt, or an illegal move was asked for."""

    code = "STATE_CONFLICT"


class RefusedError(RemitError):
    """A delegation is not admitted. The code says by which rule (R2.16)."""

    code = "REFUSED"

    def __init__(self, message: str, *, code: str = "REFUSED", hint: str = "", **data: object) -> None:
        super().__init__(message, hint=hint, **data)
        self.code = code


class RunnerError(RemitError):
    """An agent cannot be started: its program is not there, or nobody knows its runner."""

    code = "TOOL_UNAVAILABLE"


class ClusterError(RemitError):
    """The database that machines share does not answer, or may not be used as it is."""

    code = "CLUSTER_UNAVAILABLE"
    recoverable = True


def how_to_install(extra: str) -> str:
    """How to get what an extra brings, as the tail of a sentence: from Remit's folder, or from a wheel."""
    return f"install Remit again with its extra: pip install '.[{extra}]', or from a wheel 'remit-….whl[{extra}]'"
