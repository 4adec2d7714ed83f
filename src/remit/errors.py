"""Exceptions for operations that can't proceed.

    RemitError
    ├── UsageError      the caller requested something that doesn't exist or isn't valid
    ├── InputError      a named file can't be read
    ├── ConfigError     the settings are invalid
    ├── StorageError    the workspace's own files can't be read or written
    ├── BusyError       another process has held a lock for too long
    │   └── EditedError a user edited a file while Remit was writing it; the edit is kept
    ├── StateError      the tasks or the manifest are inconsistent
    ├── RefusedError    a run isn't admitted: depth, cycle, allow-list, budget, ticket
    ├── RunnerError     an agent can't be started: the program or runner doesn't exist
    └── ClusterError    the shared database doesn't respond or can't be used

Invalid content is a `Diagnostic`, never an exception. Bugs propagate as ordinary exceptions.
"""

from __future__ import annotations

TYPE_CHECKING = False  # typing itself would cost 6 ms


class RemitError(Exception):
    """An operation can't proceed. It has one sentence, a hint, and a code for programs."""

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
    """The caller requested something that doesn't exist or isn't valid."""

    code = "USAGE"


class InputError(RemitError):
    """A named file or folder can't be read."""

    code = "INPUT_UNREADABLE"


class ConfigError(RemitError):
    """The settings of the workspace are invalid."""

    code = "CONFIG_INVALID"


class StorageError(RemitError):
    """The workspace's files or its ledger can't be read or written, for example because the disk is full."""

    code = "STORAGE_FAILED"


class BusyError(RemitError):
    """Another process has held a lock for longer than Remit waits."""

    code = "BUSY"
    recoverable = True


class EditedError(BusyError):
    """A user edited a file between Remit's reading and writing it. Nothing was overwritten."""

    def __init__(self, path: str) -> None:
        super().__init__(f"'{path}' was edited while Remit was writing it: the edit is kept", hint="run it again")


class StateError(RemitError):
    """The state of the workspace is inconsistent or corrupt, or doesn't allow the requested change."""

    code = "STATE_CONFLICT"


class RefusedError(RemitError):
    """A run isn't admitted. The code names the rule (R2.16)."""

    code = "REFUSED"

    def __init__(self, message: str, *, code: str = "REFUSED", hint: str = "", **data: object) -> None:
        super().__init__(message, hint=hint, **data)
        self.code = code


class RunnerError(RemitError):
    """An agent can't be started: its program or its runner doesn't exist."""

    code = "TOOL_UNAVAILABLE"


class ClusterError(RemitError):
    """The shared database doesn't respond or can't be used."""

    code = "CLUSTER_UNAVAILABLE"
    recoverable = True


def how_to_install(extra: str) -> str:
    """Return a hint that says how to install an extra, from Remit's folder or from a wheel."""
    return f"install Remit again with its extra: pip install '.[{extra}]', or from a wheel 'remit-….whl[{extra}]'"
