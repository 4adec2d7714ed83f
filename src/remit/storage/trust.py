"""The workspaces whose settings may run programs, as the user has consented.

The list is in the user's own folder, never in a repository. Settings that name a program (task commands, runners,
hooks) come with a repository, so they need the user's consent once per workspace, and again when they change. A list
that can't be read or validated counts as no consent.
"""

from __future__ import annotations

import os
import stat
import time
from contextlib import suppress
from typing import TYPE_CHECKING, Any, NamedTuple

from remit.errors import InputError, StorageError
from remit.model import Diagnostic
from remit.storage.files import storage_error, write_bytes
from remit.storage.locks import hold_lock
from remit.storage.safe_path import name_below

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from remit.model import Severity

FILE = "trust.json"
MAX_BYTES = 4 * 1024 * 1024
_OTHERS_WRITE = stat.S_IWGRP | stat.S_IWOTH


class Trusted(NamedTuple):
    """A workspace with the settings that the user trusts, and when."""

    root: str
    digest: str
    time: str


class _Loaded(NamedTuple):
    """The list, and why it isn't reliable."""

    trusted: dict[str, Trusted]
    fault: str | None = None


# --- diagnostics ------------------------------------------------------------------------------------------------------


def not_trusted(root: str) -> Diagnostic:
    """A workspace's settings name programs or disable confinement, and you haven't trusted them.

    Why: the settings came with the repository, and so did the programs that they name.

    Bad: a fresh clone whose remit.toml says `show = "./tool show {id}"`.

    Good: `remit config trust`, after you have read the commands.
    """
    message = f"the settings of '{root}' name programs or loosen confinement, and you have not trusted them"
    return Diagnostic("TRU001", "error", message, "Read them, then run remit config trust.")


def trust_outdated(root: str) -> Diagnostic:
    """The settings that name programs have changed since you trusted them.

    Why: the change may come from somewhere else, such as a pull or an agent.

    Bad: another command in remit.toml, after `remit config trust`.

    Good: `remit config trust` again, after you have read the change.
    """
    message = f"the settings of '{root}' name other programs than when you trusted them"
    return Diagnostic("TRU002", "error", message, "Read what has changed, then run remit config trust again.")


def trust_unreadable(file: str, reason: str) -> Diagnostic:
    """The list of trusted workspaces can't be read or validated, so no workspace is trusted.

    Why: a list that is broken, or that others can write to, may say anything.

    Bad: a trust.json that every user of the machine may write.

    Good: a trust.json of your own that only you may write.
    """
    message = f"no workspace is trusted: '{file}' {reason}"
    return Diagnostic(
        "TRU003", "error", message, "Remove it, then run remit config trust in each workspace that needs it."
    )


DIAGNOSTICS: dict[str, tuple[Callable[..., Diagnostic], Severity]] = {
    "TRU001": (not_trusted, "error"),
    "TRU002": (trust_outdated, "error"),
    "TRU003": (trust_unreadable, "error"),
}


# --- queries ----------------------------------------------------------------------------------------------------------


def make_digest(settings: str) -> str:
    """Return a digest of settings that execute programs: any other text has another digest."""
    from hashlib import blake2b  # noqa: PLC0415 - only if settings execute programs

    return blake2b(settings.encode("utf-8", "surrogatepass"), digest_size=32).hexdigest()


def is_trusted(root: str, digest: str) -> bool:
    """Return whether the user trusts exactly these settings of a workspace."""
    return check_trust(root, digest) is None


def check_trust(root: str, digest: str) -> Diagnostic | None:
    """Return why a workspace's settings may not be executed; None if they may."""
    real = os.path.realpath(root)
    file = find_file()
    if _is_inside(file, real):
        return trust_unreadable(file, "is inside the workspace that it is about")
    loaded = _load(file)
    if loaded.fault is not None:
        return trust_unreadable(file, loaded.fault)
    known = loaded.trusted.get(real)
    if known is None:
        return not_trusted(real)
    return None if known.digest == digest else trust_outdated(real)


def list_trusted() -> tuple[Trusted, ...]:
    """Return every trusted workspace, by its root; none if the list isn't reliable."""
    return tuple(sorted(_load(find_file()).trusted.values()))


def find_file() -> str:
    """Return the path of the list: in the folder for the user's settings."""
    base = os.environ.get("XDG_CONFIG_HOME", "")
    if not os.path.isabs(base):  # the standard requires to ignore it then
        base = os.path.join(os.path.expanduser("~"), ".config")
    if not os.path.isabs(base):
        raise InputError("can't find your home folder", hint="set HOME, or XDG_CONFIG_HOME to a folder of your own")
    return os.path.join(base, "remit", FILE)


def _is_inside(file: str, root: str) -> bool:
    """Return whether the list, or the target of a link to it, is in the repository, which could bring its own."""
    return any(name_below(root, place) is not None for place in (file, os.path.realpath(file)))


# --- changes ----------------------------------------------------------------------------------------------------------


def trust(root: str, digest: str) -> Trusted:
    """Record that the user trusts settings of a workspace, replacing earlier ones."""
    real = os.path.realpath(root)
    file = find_file()
    if _is_inside(file, real):
        raise InputError(f"'{file}' is inside the workspace that it is about",
                         hint="set XDG_CONFIG_HOME to a folder outside of it")  # fmt: skip
    entry = Trusted(real, digest, time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()))
    _make_folder(file)
    with hold_lock(f"{file}.lock"):
        loaded = _load_to_change(file)
        if loaded.fault is not None:
            _put_aside(file)
        _write(file, {**loaded.trusted, real: entry})
    return entry


def revoke(root: str) -> bool:
    """Remove the trust in a workspace; return whether there was any."""
    real = os.path.realpath(root)
    file = find_file()
    if not os.path.lexists(file):
        return False
    with hold_lock(f"{file}.lock"):
        loaded = _load_to_change(file)
        if loaded.fault is not None:  # it must not become valid again when a user fixes the list
            _put_aside(file)
        if real not in loaded.trusted:
            return False
        _write(file, {key: entry for key, entry in loaded.trusted.items() if key != real})
    return True


def _make_folder(file: str) -> None:
    try:
        os.makedirs(os.path.dirname(file), mode=0o700, exist_ok=True)
    except OSError as error:
        raise _trust_error(file, error) from error


def _put_aside(file: str) -> None:
    """Rename an unreliable list, so that the user can examine it."""
    try:
        os.replace(file, f"{file}.bad")
    except OSError as error:
        raise _trust_error(file, error) from error


def _write(file: str, trusted: Mapping[str, Trusted]) -> None:
    import json  # noqa: PLC0415 - only if the list changes

    table = {key: {"digest": entry.digest, "time": entry.time} for key, entry in sorted(trusted.items())}
    data = json.dumps({"version": 1, "workspaces": table}, indent=2).encode() + b"\n"
    try:
        # Created empty first: a replaced file keeps its permissions, and these are for the user alone.
        os.close(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC | os.O_NONBLOCK, 0o600))
        write_bytes(file, data)
    except OSError as error:
        raise _trust_error(file, error) from error


def _trust_error(file: str, error: OSError) -> StorageError:
    failure = storage_error(file, error)
    return StorageError(failure.message, hint=f"{failure.hint}, or set XDG_CONFIG_HOME to a folder of your own")


# --- the file ---------------------------------------------------------------------------------------------------------


def _load(file: str) -> _Loaded:
    """Return the list for a query: an unreadable one trusts nothing."""
    try:
        return _load_list(file)
    except OSError as error:
        return _Loaded({}, f"can't be read ({(error.strerror or str(error)).lower()})")


def _load_to_change(file: str) -> _Loaded:
    """Return the list for a change: a temporary disk failure must not delete its entries."""
    try:
        return _load_list(file)
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        hint = "check the disk and the file's permissions, then try again"
        raise StorageError(f"'{file}' can't be read: {reason}", hint=hint) from error


def _load_list(file: str) -> _Loaded:
    """Return the list as it is on disk. Any invalid part makes the whole list invalid."""
    try:
        handle = os.open(file, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except FileNotFoundError:
        return _Loaded({})
    try:
        fault = _find_fault(os.fstat(handle))
        if fault is not None:
            return _Loaded({}, fault)
        with os.fdopen(os.dup(handle), "rb") as stream:
            data = stream.read(MAX_BYTES + 1)
    finally:
        with suppress(OSError):  # nothing was written through it
            os.close(handle)
    if len(data) > MAX_BYTES:
        return _Loaded({}, "is too large")
    return _parse(data) if data else _Loaded({})


def _find_fault(found: os.stat_result) -> str | None:
    if not stat.S_ISREG(found.st_mode):
        return "isn't a file"
    if found.st_uid != os.geteuid():
        return "belongs to another user"
    return "can be written by others" if found.st_mode & _OTHERS_WRITE else None


def _parse(data: bytes) -> _Loaded:
    import json  # noqa: PLC0415 - only if settings execute programs

    try:
        table = json.loads(data, object_pairs_hook=_refuse_twice)
        if table["version"] != 1:
            return _Loaded({}, "is of another version of Remit")
        entries = {root: _read(root, entry) for root, entry in table["workspaces"].items()}
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return _Loaded({}, "is broken")
    return _Loaded(entries)


def _refuse_twice(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    table = dict(pairs)
    if len(table) != len(pairs):
        raise ValueError("duplicate key")
    return table


def _read(root: str, entry: dict[str, Any]) -> Trusted:
    if entry.keys() != {"digest", "time"} or not os.path.isabs(root):
        raise ValueError("invalid entry")
    if type(entry["digest"]) is not str or type(entry["time"]) is not str:
        raise TypeError("invalid entry")
    return Trusted(root, entry["digest"], entry["time"])
