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
    """A text with the records, or unchanged with the reason."""

    text: str
    diagnostic: Diagnostic | None = None


class Noted(NamedTuple):
    """Whether a file has changed, and the reason if it couldn't be."""

    changed: bool
    diagnostic: Diagnostic | None = None


# --- diagnostics ------------------------------------------------------------------------------------------------------


def frontmatter_unreadable(reason: str, text: str, start: int, end: int) -> Diagnostic:
    """A file's frontmatter isn't valid YAML, so the activity on it is stored in the ledger only.

    Why: without parsing the frontmatter, Remit could only guess where a record belongs.

    Bad: `title: one: two`

    Good: `title: "one: two"`
    """
    hint = "Fix the YAML; the ledger has the records."
    place = LineIndex(text).locate(start, end)
    return Diagnostic("ACT001", "warning", f"the frontmatter can't be read: {reason}", hint, place=place)


def activity_left_alone(reason: str) -> Diagnostic:
    """A file's frontmatter has no usable list `activity`, so the activity on it is stored in the ledger only.

    Why: the key may have another meaning in this file, and a list without a limit would outgrow its file.

    Bad: `activity: hiking`

    Good: `activity: []`
    """
    hint = "Make it a list, or shorten it; the ledger has the records."
    return Diagnostic("ACT002", "note", f"no activity was added: {reason}", hint, f"/{KEY}")


def file_left_alone(path: str, reason: str) -> Diagnostic:
    """A file couldn't be changed, so the activity on it is stored in the ledger only.

    Why: Remit doesn't write through links that lead out of the workspace or into pipes, and a disk can be full.

    Bad: `notes.md`, a link to a file in your home folder.

    Good: `notes.md`, a file that can be written.
    """
    shown = "".join(char if char.isprintable() else "?" for char in path[:200])
    return Diagnostic("ACT003", "warning", f"no activity was added to '{shown}': {reason}",
                      "Check the path; the ledger has the records.")  # fmt: skip


DIAGNOSTICS: dict[str, tuple[Callable[..., Diagnostic], Severity]] = {
    "ACT001": (frontmatter_unreadable, "warning"),
    "ACT002": (activity_left_alone, "note"),
    "ACT003": (file_left_alone, "warning"),
}


# --- the text ---------------------------------------------------------------------------------------------------------


def add_activity(text: str, records: Iterable[FileActivity]) -> Edited:
    """Add records to the list `activity` of a file's frontmatter; existing records aren't added again."""
    if not text.removeprefix("\ufeff").startswith(_FENCE):
        return Edited(text)
    from remit.agents.frontmatter import find_frontmatter, parse_frontmatter  # noqa: PLC0415 - YAML costs 20 ms

    place = find_frontmatter(text)
    if place is None or place[1] >= place[2]:  # none, or an unclosed fence
        return Edited(text)
    found = parse_frontmatter(text, place[0], place[1])
    diagnostic = _check(found, text)
    present = found.values.get(KEY) or []
    missing = [] if diagnostic else _find_missing(present, records)
    if not missing:
        return Edited(text, diagnostic)
    if len(present) + len(missing) > MAX_RECORDS:
        return Edited(text, activity_left_alone(f"the list would have more than {MAX_RECORDS} records"))
    after = _insert(text, found, [_render(record) for record in missing])
    if after is None or not _holds(after, text[place[1] :], {**found.values, KEY: [*present, *missing]}):
        return Edited(text, activity_left_alone("the layout of the frontmatter doesn't allow an addition"))
    return Edited(after)


def _check(found: Frontmatter, text: str) -> Diagnostic | None:
    """Return why a frontmatter can't be extended; None if it can."""
    if not found.whole or any(problem.kind == "limit" for problem in found.problems):
        problem = found.problems[0]
        return frontmatter_unreadable(problem.message, text, problem.start, problem.end)
    twice = any(problem.pointer == f"/{KEY}" for problem in found.problems)
    if twice or not isinstance(found.values.get(KEY), list | None):
        return activity_left_alone("the key exists, but isn't a single list")
    return None


def _find_missing(present: Sequence[Any], records: Iterable[FileActivity]) -> list[dict[str, str]]:
    """Return the records that aren't in the list, as tables without unknown values, each once."""
    missing: list[dict[str, str]] = []
    for record in records:
        values = {key: _clean(value) for key, value in record._asdict().items() if value is not None}
        if values not in missing and not any(_is_same(each, values) for each in present):
            missing.append(values)
    return missing


def _clean(value: str) -> str:
    """Return a value that YAML can contain: limited, and without lone surrogates."""
    return value[:_MAX_VALUE_CHARS].encode("utf-8", "replace").decode()


def _is_same(present: Any, values: dict[str, str]) -> bool:  # noqa: ANN401 - any YAML value
    """Return whether an item of the list is this record, also if a user has added keys to it."""
    return isinstance(present, dict) and all(present.get(key) == values.get(key) for key in FileActivity._fields)


def _render(values: dict[str, str]) -> str:
    from remit.agents.edits import quote, render_scalar  # noqa: PLC0415 - with the YAML

    # Quoted: YAML parsers disagree on unquoted times.
    pairs = (f"{key}: {quote(value) if key == 'time' else render_scalar(value)}" for key, value in values.items())
    return f"{{{', '.join(pairs)}}}"


def _insert(text: str, found: Frontmatter, items: list[str]) -> str | None:
    """Return the text with the items in the existing list, or in a new one at the end of the frontmatter."""
    if sum(map(len, items)) > MAX_ADDED_CHARS:
        return None
    if f"/{KEY}" not in found.keys:
        return None if KEY in found.values else _append_list(text, found, items)
    from remit.agents.document import make_unreadable  # noqa: PLC0415 - with the YAML
    from remit.agents.edits import add_item, replace_value  # noqa: PLC0415

    document = make_unreadable("", "")  # the edit functions of agent files work on any file
    document.text, document.unreadable, document.frontmatter = text, None, found
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
    """Return the text with a new list right before the closing fence, so that the last value keeps its blank lines."""
    head = text[found.start : found.end]
    if head.lstrip().startswith("{"):
        return None
    newline = "\r\n" if text[: found.start].endswith("\r\n") else "\n"
    first = next(iter(found.keys.values()), (found.start, 0))[0]
    line = text[text.rfind("\n", 0, first) + 1 : first]
    indent = line if not line.strip(" ") else ""
    lines = [f"{indent}{KEY}:", *(f"{indent}  - {item}" for item in items)]
    return text[: found.end] + "".join(f"{line}{newline}" for line in lines) + text[found.end :]


def _holds(after: str, rest: str, expected: dict[str, Any]) -> bool:
    """Return whether the new text parses to the expected values and has the same body."""
    from remit.agents.frontmatter import find_frontmatter, parse_frontmatter  # noqa: PLC0415 - with the YAML

    place = find_frontmatter(after)
    if place is None or after[place[1] :] != rest:
        return False
    found = parse_frontmatter(after, place[0], place[1])
    # As texts, because NaN isn't equal to itself.
    return found.whole and repr(sorted(found.values.items())) == repr(sorted(expected.items()))


# --- the file ---------------------------------------------------------------------------------------------------------


def write_activity(root: str, path: str, records: Iterable[FileActivity]) -> Noted:
    """Add records to a file of the workspace. A missing file, or one without frontmatter, stays as it is."""
    try:
        return _write(root, path, tuple(records))
    except (FileNotFoundError, NotADirectoryError):
        return Noted(changed=False)
    except (OSError, ValueError) as error:
        reason = (getattr(error, "strerror", None) or str(error)).lower()
        return Noted(changed=False, diagnostic=file_left_alone(path, reason))


def _write(root: str, path: str, records: tuple[FileActivity, ...]) -> Noted:
    below = find_inside(root, path)
    if below is None:
        return Noted(changed=False, diagnostic=file_left_alone(path, "it is outside the workspace"))
    for _ in range(_ATTEMPTS):
        with open_target(root, below) as target:
            data = _load(target)
        edited = add_activity(data.decode("utf-8", "surrogateescape"), records)
        after = edited.text.encode("utf-8", "surrogateescape")
        if after == data:
            return Noted(changed=False, diagnostic=edited.diagnostic)
        with suppress(EditedError):
            replace_inside(root, below, after, before=data)
            return Noted(changed=True)
    return Noted(changed=False, diagnostic=file_left_alone(path, "it keeps changing"))


def _load(target: FileTarget) -> bytes:
    """Return the content of a file that starts with a fence, else only its first bytes."""
    handle = os.open(target.name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=target.folder)
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
