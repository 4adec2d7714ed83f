"""A batch file: one prompt per line, as a text or an object.

The file may come from anywhere, so it can't choose a program: agent, runner and command come from the command line.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, NamedTuple

from remit.errors import InputError, UsageError
from remit.spelling import did_you_mean
from remit.storage.files import MAX_BYTES

if TYPE_CHECKING:
    from collections.abc import Iterator

MAX_LINES = 10_000
_MAX_TASK = 200
_KEYS = ("prompt", "inputs", "timeout", "return_format", "task")
_MAX_TOLD = 5
_HINT = 'write each line as "PROMPT" or {"prompt": "…", "inputs": {"NAME": "VALUE"}}'


class BatchLine(NamedTuple):
    """The request on one line."""

    number: int
    """The number of the line, from 1."""
    prompt: str
    inputs: dict[str, str]
    timeout_s: float | None = None
    return_format: str | None = None
    task: int | str | None = None


class _BadLineError(Exception):
    """Why a line can't be read."""


def parse_each(data: bytes, name: str) -> list[BatchLine]:
    """Parse all lines of a file; raise with the invalid lines if there are any."""
    if len(data) > MAX_BYTES:
        raise InputError(f"'{name}' has more than {MAX_BYTES:,} bytes", hint="split it up")
    lines, bad = [], []
    for number, text in _split(data):
        try:
            lines.append(_parse(number, text))
        except _BadLineError as error:
            bad.append(f"line {number}: {error}")
    if bad:
        more = f"; {len(bad) - _MAX_TOLD} more" if len(bad) > _MAX_TOLD else ""
        raise UsageError(f"'{name}' can't be used: {'; '.join(bad[:_MAX_TOLD])}{more}", hint=_HINT)
    if not lines:
        raise UsageError(f"'{name}' has no prompt in it", hint=_HINT)
    if len(lines) > MAX_LINES:
        raise UsageError(f"'{name}' has more than {MAX_LINES:,} prompts", hint="split it up")
    return lines


def _split(data: bytes) -> Iterator[tuple[int, bytes]]:
    for number, text in enumerate(data.removeprefix(b"\xef\xbb\xbf").split(b"\n"), 1):
        if text.strip():
            yield number, text


def _parse(number: int, text: bytes) -> BatchLine:
    value = _parse_json(text)
    if isinstance(value, str):
        value = {"prompt": value}
    if not isinstance(value, dict):
        raise _BadLineError("it is neither a text nor an object")
    for key in value:
        if key not in _KEYS:
            raise _BadLineError(f"unknown key '{key[:80]}'; {did_you_mean(key[:80], _KEYS)}")
    prompt = value.get("prompt")
    if not isinstance(prompt, str) or not prompt.strip():
        raise _BadLineError("it has no prompt")
    return BatchLine(
        number, prompt, _read_inputs(value.get("inputs", {})), _read_timeout(value.get("timeout")),
        _read_format(value.get("return_format")), _read_task(value.get("task")),
    )  # fmt: skip


def _parse_json(text: bytes) -> Any:  # noqa: ANN401 - any JSON value
    def refuse_twice(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found = dict(pairs)
        if len(found) < len(pairs):
            raise _BadLineError("a key is duplicate")
        return found

    def refuse_constant(word: str) -> None:
        raise _BadLineError(f"{word} isn't valid JSON")

    try:
        return json.loads(text.decode("utf-8"), object_pairs_hook=refuse_twice, parse_constant=refuse_constant)
    except UnicodeDecodeError:
        raise _BadLineError("it isn't valid UTF-8") from None
    except (ValueError, RecursionError):
        raise _BadLineError("it isn't valid JSON") from None


def _read_inputs(value: object) -> dict[str, str]:
    if not isinstance(value, dict):
        raise _BadLineError("its inputs aren't an object")
    inputs = {}
    for name, given in value.items():
        if isinstance(given, bool):
            inputs[name] = "true" if given else "false"
        elif isinstance(given, str | int | float):
            inputs[name] = str(given)
        else:
            raise _BadLineError(f"the input '{name[:80]}' is neither a text nor a number")
    return inputs


def _read_timeout(value: object) -> float | None:
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float) or value <= 0:
        raise _BadLineError("its timeout isn't a positive number of seconds")
    return float(value)


def _read_format(value: object) -> str | None:
    if value is not None and not isinstance(value, str):
        raise _BadLineError("its return_format isn't a text")
    return value


def _read_task(value: object) -> int | str | None:
    if isinstance(value, str) and value.strip() and len(value) <= _MAX_TASK:
        return value.strip()
    if value is not None and (isinstance(value, bool) or not isinstance(value, int) or value < 0):
        raise _BadLineError("its task is neither a number nor the id of an outside system")
    return value
