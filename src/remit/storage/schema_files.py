"""Load the JSON Schema of a return's `data` from a file."""

from __future__ import annotations

from remit.data_schema import MAX_BYTES, check_schema, parse_schema
from remit.errors import InputError, RefusedError
from remit.storage.files import load_bytes
from remit.storage.safe_path import find_inside, open_target, read_target

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def load_schema(path: str) -> dict[str, Any]:
    """Return the schema in a file that a user names. Raise `InputError` if there is none."""
    return _parse(load_bytes(path, max_bytes=MAX_BYTES), path)


def load_schema_below(root: str, path: str) -> dict[str, Any]:
    """Return the schema in a file of the workspace. Raise `InputError` if there is none below the root."""
    below = find_inside(root, path) if path and not path.startswith(("/", "~")) else None
    if below is None:
        raise InputError(f"the schema '{path[:200]}' isn't below the workspace's root", hint="correct its path")
    try:
        with open_target(root, below) as target:
            content = read_target(target, max_bytes=MAX_BYTES)
    except OSError as error:
        raise InputError(f"the schema '{path[:200]}' can't be read", hint="correct its path or write it") from error
    if content is None:
        raise InputError(f"the schema '{path[:200]}' doesn't exist", hint="correct its path, or write the file")
    return _parse(content, path)


def load_agent_schema(root: str, agent: str, named: object) -> tuple[str, dict[str, Any]]:
    """Return the name and the schema that an agent's file or settings name: a path, or the schema itself.

    Raise `RefusedError` if there is none: the agent isn't started.
    """
    try:
        if isinstance(named, str):
            return named.strip(), load_schema_below(root, named.strip())
        return "given", check_schema(named)
    except InputError as error:
        message = f"{agent} was not started: its schema of data: {error.message}"
        raise RefusedError(message, code="VALIDATION_FAILED", hint=error.hint) from error


def _parse(content: bytes, path: str) -> dict[str, Any]:
    try:
        return check_schema(parse_schema(content.decode("utf-8-sig", "replace")))
    except InputError as error:
        raise InputError(f"'{path[:200]}': {error.message}", hint=error.hint) from error
