"""Streams: reading JSON lines, tracking tools, and building command lines, for the runners of harnesses.

A harness may print lines of any length, partial lines or garbage, depending on its agent. Memory is limited to the
maximum length of a line, and no output raises an error.
"""

from __future__ import annotations

import json
import os
import stat
from typing import TYPE_CHECKING, Any

from remit.errors import RunnerError
from remit.lazy_regex import lazy
from remit.runners.protocol import RunOutput, ToolUse

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from remit.runners.protocol import AttemptOrder, Cause, Operation

MAX_LINE_BYTES = 2 * 1024 * 1024
"""Parsing a line takes up to forty times its size in memory, and nearly a second."""
MAX_TOOLS = 10_000
MAX_NOTES = 20
MAX_ARGUMENT_BYTES = 100_000
"""The kernel limits one argument or variable to 131,072 bytes."""
_SHOWN = 300
_ERRORS_BYTES = 64 * 1024

_ID = lazy(r"[A-Za-z0-9][A-Za-z0-9_-]{0,127}")
_COLORS = lazy(r"\x1b\[[0-9;]{0,20}m")


class LineBuffer:
    """Splits pieces of output into lines, and skips lines that are too long."""

    def __init__(self, max_bytes: int = MAX_LINE_BYTES) -> None:
        self._max = max_bytes
        self._pieces: list[bytes] = []
        self._size = 0
        self.skipped = 0

    def feed(self, data: bytes) -> Iterator[bytes]:
        """Yield the lines that are complete now."""
        first, *others = data.split(b"\n")
        self._add(first)
        for piece in others:
            yield from self.end()
            self._add(piece)

    def end(self) -> Iterator[bytes]:
        """Yield the unfinished last line, if there is one."""
        if self._size > self._max:
            self.skipped += 1
        elif self._size:
            yield b"".join(self._pieces)
        self._pieces, self._size = [], 0

    def _add(self, piece: bytes) -> None:
        if not piece:
            return
        self._size += len(piece)
        if self._size > self._max:
            self._pieces = []
        else:
            self._pieces.append(piece)


class ToolLog:
    """The tools that an agent used, in order, by the harness's id of each use."""

    def __init__(self) -> None:
        self._uses: dict[str, ToolUse] = {}
        self._open: set[str] = set()
        self.count = 0

    def begin(self, key: str, name: str, operation: Operation, path: object = None) -> None:
        """Record the start of a tool use."""
        if key in self._uses:
            return
        self.count += 1
        if len(self._uses) < MAX_TOOLS:
            self._uses[key] = ToolUse(name[:_SHOWN], operation, path[:4096] if isinstance(path, str) else None)
            self._open.add(key)

    def end(self, key: str, *, failed: bool, ran: bool = False) -> None:
        """Record the end or the denial of a tool use."""
        self._open.discard(key)
        if failed and key in self._uses:
            self._uses[key] = self._uses[key]._replace(failed=True, ran=ran)

    def name_files(self, key: str, paths: list[str], is_whole: bool) -> None:  # noqa: FBT001 - as a harness reports it
        """Record the files that changed while a command ran. `is_whole`: no other files changed."""
        use = self._uses.get(key)
        if use is None or use.operation != "run":
            return
        named = [path[:4096] for path in paths[:MAX_TOOLS]] or [""]
        for number, path in enumerate([*named, *([] if is_whole else [None])]):
            self._uses[f"{key}/{number}" if number else key] = use._replace(path=path)

    def list(self, *, is_over: bool) -> tuple[ToolUse, ...]:
        """Return all uses. After the run, a use without an end counts as failed."""
        if not is_over:
            return tuple(self._uses.values())
        return tuple(use._replace(failed=use.failed or key in self._open) for key, use in self._uses.items())


class StreamListener:
    """Reads a stream of JSON objects, one per line. The subclass of each harness interprets them."""

    harness = ""
    """The name of the harness in messages."""
    hides_tools = False
    """Whether the stream omits some tool uses, so that an empty list doesn't mean that no tool was used."""

    def __init__(self) -> None:
        self._lines = LineBuffer()
        self.tools = ToolLog()
        self.notes: list[str] = []
        self.activity = ""
        self.harness_id: str | None = None
        self._strays = 0

    def feed(self, data: bytes) -> None:
        """Add new output."""
        for line in self._lines.feed(data):
            self._read(line)

    def report(self) -> RunOutput:
        """Return the state so far."""
        return self._complete(self.summarize(), is_over=False)

    def finish(self, *, errors: bytes, exit_code: int | None) -> RunOutput:
        """Return the output after the run. An unfinished last line is read, too: it may lack only its newline."""
        for line in self._lines.end():
            self._read(line)
        return self._complete(self.conclude(read_errors(errors), exit_code), is_over=True)

    def handle(self, record: Mapping[str, Any]) -> None:
        """Process one object of the stream."""
        raise NotImplementedError

    def summarize(self) -> RunOutput:
        """Return the usage and the problem so far."""
        raise NotImplementedError

    def conclude(self, errors: list[str], exit_code: int | None) -> RunOutput:
        """Return text, usage, cause and problem after the end of the stream."""
        raise NotImplementedError

    def note(self, text: str) -> None:
        """Add a note for the user, once."""
        if text not in self.notes and len(self.notes) < MAX_NOTES:
            self.notes.append(text)

    def set_id(self, record: Mapping[str, Any], key: str) -> None:
        """Store the harness's session id if it is valid, because it becomes a word of a command line."""
        found = get_text(record, key)
        if _ID.fullmatch(found):
            self.harness_id = found

    def fail(self, cause: Cause, trouble: str) -> RunOutput:
        """Return the output of a run without a usable final message."""
        return self.summarize()._replace(text=None, cause=cause, trouble=show(trouble))

    def report_crash(self, errors: list[str], exit_code: int | None) -> RunOutput:
        """Return the output of a program that ended, or that Remit ended, before its final message."""
        if exit_code is None:
            return self.fail("no_answer", f"{self.harness} was ended before its final message")
        reason = f": {show(errors[-1])}" if errors else ""
        if exit_code:
            return self.fail("crash", f"{self.harness} ended with exit code {exit_code}{reason}")
        return self.fail("no_answer", f"{self.harness} ended without a final message{reason}")

    def _read(self, line: bytes) -> None:
        record = load_object(line)
        if record is not None:
            self.handle(record)
        elif line.strip():
            self._strays += 1

    def _complete(self, output: RunOutput, *, is_over: bool) -> RunOutput:
        notes = list(self.notes)
        if self._lines.skipped:
            notes.append(f"{self._lines.skipped} lines of more than {MAX_LINE_BYTES:,} bytes were skipped")
        if self._strays:
            notes.append(f"{self._strays} lines of the stream aren't JSON objects")
        if self.tools.count > MAX_TOOLS:
            notes.append(f"{self.tools.count:,} tools were used; the first {MAX_TOOLS:,} are listed")
        tools = self.tools.list(is_over=is_over) if self.tools.count or not self.hides_tools else None
        return output._replace(harness_id=self.harness_id, tools=tools, notes=tuple(notes), activity=self.activity)


def load_object(line: bytes) -> dict[str, Any] | None:
    """Return the JSON object of a line; None for any other line."""
    if not line.lstrip().startswith(b"{"):
        return None
    try:
        value = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def get_map(record: object, *keys: str) -> dict[str, Any]:
    """Return the object under a path of keys; empty if there is none."""
    for key in keys:
        record = record.get(key) if isinstance(record, dict) else None
    return record if isinstance(record, dict) else {}


def get_list(record: Mapping[str, Any], key: str) -> list[dict[str, Any]]:
    """Return the objects of a list under a key."""
    value = record.get(key)
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def get_text(record: Mapping[str, Any], key: str) -> str:
    """Return the text under a key; empty if there is none."""
    value = record.get(key)
    return value if isinstance(value, str) else ""


def get_count(record: Mapping[str, Any], *keys: str) -> int:
    """Return the sum of the counts under some keys."""
    values = [record.get(key) for key in keys]
    return sum(value for value in values if isinstance(value, int) and not isinstance(value, bool) and value > 0)


def get_cost(record: Mapping[str, Any], key: str) -> float | None:
    """Return the amount under a key; None if there is none."""
    value = record.get(key)
    is_amount = isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < float("inf")
    return float(value) if is_amount and value is not None else None


def show(text: str, limit: int = _SHOWN) -> str:
    """Return a text as one printable line."""
    line = " ".join(_COLORS.sub("", text[: limit * 8]).split())
    line = "".join(char for char in line if char.isprintable())
    return line if len(line) <= limit else f"{line[: limit - 1]}…"


def read_errors(errors: bytes) -> list[str]:
    """Return the non-empty lines of standard error, of a long one those of its beginning and its end."""
    if len(errors) > 2 * _ERRORS_BYTES:
        errors = errors[:_ERRORS_BYTES] + b"\n" + errors[-_ERRORS_BYTES:]
    lines = _COLORS.sub("", errors.decode("utf-8", "replace")).splitlines()
    return [line.strip() for line in lines if line.strip()]


# --- starting a harness ----------------------------------------------------------------------------------------------


def find_program(order: AttemptOrder, name: str, package: str) -> str:
    """Return the path of the harness's program, from the settings or the PATH. Raise `RunnerError` if it is missing."""
    given = order.settings.get("program")
    word = given if isinstance(given, str) and given else name
    if "/" in word:
        places = [word if word.startswith("/") else f"{order.root}/{word}"]
    else:
        path = order.environ.get("PATH", os.defpath).split(":")
        places = [f"{folder}/{word}" for folder in path if folder.startswith("/")]  # never the working folder
    for place in places:
        if _is_program(place):
            return place
    hint = f"install it (npm install -g {package}), or name it as program under [runners.{name}] in remit.toml"
    raise RunnerError(f"there is no program '{word}'", hint=hint)


def _is_program(place: str) -> bool:
    try:
        mode = os.stat(place).st_mode
    except (OSError, ValueError):
        return False
    return stat.S_ISREG(mode) and os.access(place, os.X_OK)


def get_args(order: AttemptOrder) -> tuple[str, ...]:
    """Return the workspace's additional words of the command line."""
    given = order.settings.get("args")
    return tuple(str(word) for word in given) if isinstance(given, list | tuple) else ()


def get_environ(order: AttemptOrder) -> dict[str, str]:
    """Return the workspace's additional environment variables."""
    given: Mapping[str, Any] = order.settings.get("env") or {}
    return {str(name): str(value) for name, value in given.items()}


def get_model(order: AttemptOrder) -> str | None:
    """Return the agent's model; otherwise the model in the workspace's settings."""
    given = order.model or order.settings.get("model")
    return given if isinstance(given, str) and given else None


def has_option(args: tuple[str, ...], *names: str) -> bool:
    """Return whether a command line has one of the options."""
    return any(word == name or word.startswith(f"{name}=") for word in args for name in names)


def encode(text: str) -> bytes:
    """Return a text as bytes. Invalid characters become question marks, because harnesses reject them."""
    return text.encode("utf-8", "replace")
