"""Record who worked on a file in the list `activity` of its frontmatter (R3.11).

Only records are added: the body and other keys keep their bytes. The result is parsed again before it is written, so an
unusual frontmatter is left alone instead of damaged. The ledger has all records, also for files without frontmatter.
"""

from __future__ import annotations

import errno
import os
import stat
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from remit.errors import EditedError
from remit.light_namedtuple import NamedTuple
from remit.model import Diagnostic
from remit.positions import LineIndex
from remit.storage.safe_path import find_inside, open_target, replace_inside

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from remit.agents.document import AgentDocument
    from remit.agents.frontmatter import Frontmatter
    from remit.model import Severity
    from remit.storage.safe_path import FileTarget

KEY = "activity"
_FENCE = "---"
MAX_BYTES = 64 * 1024 * 1024
MAX_RECORDS = 500
MAX_ADDED_CHARS = 64 * 1024
_MAX_VALUE_CHARS = 1000
_ATTEMPTS = 3


class FileActivity(NamedTuple):
    """One operation on a file, by one session."""

    session: str
    parent_session: str | None
    operation: str
    time: str
    path: str | None = None


class Edited(NamedTuple):
    """A text with the records in it, or as it was, and why."""

    text: str
    finding: Diagnostic | None = None


class Noted(NamedTuple):
    """Whether a file has changed, and what hindered it."""

    changed: bool
    finding: Diagnostic | None = None


# --- what is said ----------------------------------------------------------------------------------------------------


def frontmatter_unreadable(reason: str, text: str, start: int, end: int) -> Diagnostic:
    """A file's frontmatter is not YAML, so the activity on it is kept in the ledger only.

    Why: what can't be read cannot be added to without a guess.

    Bad: `title: one: two`

    Good: `title: "one: two"`
    """
    hint = "Put the YAML right; the ledger has the records."
    place = LineIndex(text).locate(start, end)
    return Diagnostic("ACT001", "warning", f"the frontmatter can't be read: {reason}", hint, place=place)


def activity_left_alone(reason: str) -> Diagnostic:
    """A file's frontmatter has no room for a list `activity`, so the activity on it is kept in the ledger only.

    Why: the key may be somebody's own, with another meaning; and a list without an end would outgrow its file.

    Bad: `activity: hiking`

    Good: `activity: []`
    """
    hint = "Make it a list, or shorten it; the ledger has the records."
    return Diagnostic("ACT002", "note", f"no activity was added: {reason}", hint, f"/{KEY}")


def file_left_alone(path: str, reason: str) -> Diagnostic:
    """A file could not be changed, so the activity on it is kept in the ledger only.

    Why: a path that leads out of the workspace is not the workspace's to write to; a pipe is no file; a disk can be
    full.

    Bad: `notes.md`, a link to a file in somebody's home.

    Good: `notes.md`, a file that can be written.
    """
    shown = "".join(char if char.isprintable() else "?" for char in path[:200])
    return Diagnostic("ACT003", "warning", f"no activity was added to '{shown}': {reason}",
                      "See what is there; the ledger has the records.")  # fmt: skip


DIAGNOSTICS: dict[str, tuple[Callable[..., Diagnostic], Severity]] = {
    "ACT001": (frontmatter_unreadable, "warning"),
    "ACT002": (activity_left_alone, "note"),
    "ACT003": (file_left_alone, "warning"),
}


# --- the text --------------------------------------------------------------------------------------------------------


def add_activity(text: str, records: Iterable[FileActivity]) -> Edited:
    """Put records into the list `activity` of a file's frontmatter; those that are there already are not put twice."""
    if not text.removeprefix("\ufeff").startswith(_FENCE):
        return Edited(text)
    from remit.agents.frontmatter import find_frontmatter, parse_frontmatter  # noqa: PLC0415 - YAML costs 20 ms

    place = find_frontmatter(text)
    if place is None or place[1] >= place[2]:  # none, or a line of dashes that nothing closes
        return Edited(text)
    found = parse_frontmatter(text, place[0], place[1])
    finding = _check(found, text)
    present = found.values.get(KEY) or []
    missing = [] if finding else _find_missing(present, records)
    if not missing:
        return Edited(text, finding)
    if len(present) + len(missing) > MAX_RECORDS:
        return Edited(text, activity_left_alone(f"the list would have more than {MAX_RECORDS} records"))
    after = _insert(text, found, [_render(record) for record in missing])
    if after is None or not _holds(after, text[place[1] :], {**found.values, KEY: [*present, *missing]}):
        return Edited(text, activity_left_alone("the frontmatter is written in a way that cannot be added to"))
    return Edited(after)


def _check(found: Frontmatter, text: str) -> Diagnostic | None:
    """Why nothing can be added to a frontmatter."""
    if not found.whole or any(problem.kind == "limit" for problem in found.problems):
        problem = found.problems[0]
        return frontmatter_unreadable(problem.message, text, problem.start, problem.end)
    twice = any(problem.pointer == f"/{KEY}" for problem in found.problems)
    if twice or not isinstance(found.values.get(KEY), list | None):
        return activity_left_alone("the key is there, and not as one list")
    return None


def _find_missing(present: Sequence[Any], records: Iterable[FileActivity]) -> list[dict[str, str]]:
    """The records that are not in the list, as tables, each once. What is not known is left out of a table."""
    missing: list[dict[str, str]] = []
    for record in records:
        values = {key: _clean(value) for key, value in record._asdict().items() if value is not None}
        if values not in missing and not any(_is_same(each, values) for each in present):
            missing.append(values)
    return missing


def _clean(value: str) -> str:
    """A value that YAML can hold: no half characters, no end."""
    return value[:_MAX_VALUE_CHARS].encode("utf-8", "replace").decode()


def _is_same(present: Any, values: dict[str, str]) -> bool:  # noqa: ANN401 - any YAML value
    """Whether an item of the list is this record: whatever else a person has added to it."""
    return isinstance(present, dict) and all(present.get(key) == values.get(key) for key in FileActivity._fields)


def _render(values: dict[str, str]) -> str:
    from remit.agents.edits import quote, render_scalar  # noqa: PLC0415 - with the YAML

    # A time is one in YAML only while nobody quotes it, and then each reader makes something else of it.
    pairs = (f"{key}: {quote(value) if key == 'time' else render_scalar(value)}" for key, value in values.items())
    return f"{{{', '.join(pairs)}}}"


def _insert(text: str, found: Frontmatter, items: list[str]) -> str | None:
    """The text with the items: in the list that is there, or in a new one at the end of the frontmatter."""
    if sum(map(len, items)) > MAX_ADDED_CHARS:
        return None
    if f"/{KEY}" not in found.keys:
        return None if KEY in found.values else _append_list(text, found, items)
    from remit.agents.edits import add_item, replace_value  # noqa: PLC0415 - with the YAML

    document = _make_document(text, found)
    pointer = f"/{KEY}"
    if found.values[KEY] is None:
        changes = replace_value(document, pointer, f"[{', '.join(items)}]")
    elif pointer in found.flow:
        changes = add_item(document, pointer, ", ".join(items))
    else:
        changes = tuple(change for item in items for change in add_item(document, pointer, item))
    for start, end, content in reversed(sorted(changes, key=lambda change: change[:2])):  # noqa: C413 - equal ones too
        text = text[:start] + content + text[end:]
    return text if changes else None


def _append_list(text: str, found: Frontmatter, items: list[str]) -> str | None:
    """A new list right before the closing fence, where no text that is kept to its last blank line is cut short."""
    head = text[found.start : found.end]
    if head.lstrip().startswith("{"):
        return None
    newline = "\r\n" if text[: found.start].endswith("\r\n") else "\n"
    first = next(iter(found.keys.values()), (found.start, 0))[0]
    line = text[text.rfind("\n", 0, first) + 1 : first]
    indent = line if not line.strip(" ") else ""
    lines = [f"{indent}{KEY}:", *(f"{indent}  - {item}" for item in items)]
    return text[: found.end] + "".join(f"{line}{newline}" for line in lines) + text[found.end :]


def _make_document(text: str, found: Frontmatter) -> AgentDocument:
    """What the edits of agent files work on, of any file."""
    from remit.agents.document import make_unreadable  # noqa: PLC0415 - with the YAML

    document = make_unreadable("", "")
    document.text, document.unreadable, document.frontmatter = text, None, found
    return document


def _holds(after: str, rest: str, expected: dict[str, Any]) -> bool:
    """Whether a text, read again, has the values it should have, and ends as it did."""
    from remit.agents.frontmatter import find_frontmatter, parse_frontmatter  # noqa: PLC0415 - with the YAML

    place = find_frontmatter(after)
    if place is None or after[place[1] :] != rest:
        return False
    found = parse_frontmatter(after, place[0], place[1])
    # As texts, for a value that is no number equals nothing, not even itself.
    return found.whole and repr(sorted(found.values.items())) == repr(sorted(expected.items()))


# --- the file --------------------------------------------------------------------------------------------------------


def write_activity(root: str, path: str, records: Iterable[FileActivity]) -> Noted:
    """Put records into a file of the workspace. A file that is gone, or has no frontmatter, is left as it is."""
    try:
        return _write(root, path, tuple(records))
    except (FileNotFoundError, NotADirectoryError):
        return Noted(changed=False)
    except (OSError, ValueError) as error:
        reason = (getattr(error, "strerror", None) or str(error)).lower()
        return Noted(changed=False, finding=file_left_alone(path, reason))


def _write(root: str, path: str, records: tuple[FileActivity, ...]) -> Noted:
    below = find_inside(root, path)
    if below is None:
        return Noted(changed=False, finding=file_left_alone(path, "it lies outside the workspace"))
    for _ in range(_ATTEMPTS):
        with open_target(root, below) as spot:
            data = _load(spot)
        edited = add_activity(data.decode("utf-8", "surrogateescape"), records)
        after = edited.text.encode("utf-8", "surrogateescape")
        if after == data:
            return Noted(changed=False, finding=edited.finding)
        with suppress(EditedError):
            replace_inside(root, below, after, before=data)
            return Noted(changed=True)
    return Noted(changed=False, finding=file_left_alone(path, "it changes all the time"))


def _load(spot: FileTarget) -> bytes:
    """The content of a file that opens with a fence, else its first bytes."""
    handle = os.open(spot.name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=spot.folder)
    with os.fdopen(handle, "rb") as stream:
        found = os.fstat(handle)
        if not stat.S_ISREG(found.st_mode):
            raise OSError(errno.EINVAL, "it isn't a file")
        data = stream.read(8)
        if data.removeprefix(b"\xef\xbb\xbf").startswith(_FENCE.encode()):
            if found.st_size > MAX_BYTES:
                raise OSError(errno.EFBIG, f"it is larger than {MAX_BYTES // 1024 // 1024} MiB")
            data += stream.read(MAX_BYTES)
        return data
