"""Diffs: how a run changed a file, against the commit that was checked out when it began.

Only files that a run reported or changed are shown, so this can't be used to read other files. Secrets are redacted on
both sides before the comparison.
"""

from __future__ import annotations

import os
from hashlib import sha256
from typing import TYPE_CHECKING, Literal, NamedTuple

from remit.errors import InputError, UsageError
from remit.git.file_history import compare_texts, load_file_at
from remit.ledger.runs import list_attempts
from remit.runs.admission.run_config import read_run_config
from remit.runs.results.full_result import load_report
from remit.storage.safe_path import find_inside, open_target, read_target
from remit.storage.secrets import redact
from remit.views.run_details import load_kept_report
from remit.views.run_snapshots import load_row

if TYPE_CHECKING:
    from collections.abc import Iterator

    from remit.ledger.home import Home
    from remit.ledger.runs import Run
    from remit.schemas import DiffObject, HunkObject

State = Literal["diff", "new", "same", "gone", "binary", "unknown"]
MAX_BYTES = 1024 * 1024
MAX_LINES = 4_000
_MAX_LINE = 2_000
_NO_FILE = "It isn't a regular file of the workspace."


class DiffSide(NamedTuple):
    """A file on one side of a comparison."""

    state: str
    """file, none, large, link, other."""
    data: bytes = b""

    @property
    def is_there(self) -> bool:
        """Whether the path exists."""
        return self.state != "none"

    @property
    def is_binary(self) -> bool:
        """Whether the content isn't text."""
        return b"\0" in self.data


def load_diff(home: Home, word: str, path: str) -> DiffObject:
    """Compare a file with its content when the run began."""
    row = load_row(home, word)
    claims = _list_claims(home, row)
    if path not in claims:
        hint = "the run's attempts and `unclaimed` list its files"
        raise UsageError(f"{row.session_id} neither names nor changed '{path[:200]}'", hint=hint)
    config = read_run_config(row.details)
    # A worktree is removed once its work is in the main one.
    root = config.root if config.root and os.path.isdir(config.root) else home.root
    below = find_inside(root, path)
    now = DiffSide("other") if below is None else _load_now(root, below)
    earlier = load_file_at(home.root, config.commit, below, max_bytes=MAX_BYTES) if config.commit and below else None
    before = None if earlier is None else DiffSide(earlier.state, earlier.data)
    state, note, text = _compare(home.root, before, now)
    notes = (note, _describe_later_change(claims[path], now))
    hunks, is_cut = _read_hunks(text)
    return {
        "path": path,
        "base": config.commit or None if before is not None else None,
        "state": state,
        "note": " ".join(filter(None, notes)),
        "hunks": hunks,
        "truncated": is_cut or "large" in (now.state, "" if before is None else before.state),
    }


def _list_claims(home: Home, row: Run) -> dict[str, str]:
    """The files that a run reported or changed, each with its hash at the last check."""
    found: dict[str, str | None] = {}
    if load_kept_report(home, row) is not None:
        report, conclusion = load_report(home, row.session_id)
        found |= dict.fromkeys(change.path for change in conclusion.unclaimed)
        found |= {each.path: each.sha256 or "" for each in report.artifacts}
    for attempt in list_attempts(home.ledger, row.session_id):
        found |= {str(each["path"]): str(each.get("sha256") or "") for each in attempt.claims if isinstance(each, dict)}
    return {path: digest or "" for path, digest in found.items()}


def _load_now(root: str, path: str) -> DiffSide:
    """The present content of a file, by a path without links."""
    try:
        with open_target(root, path) as spot:
            data = read_target(spot, max_bytes=MAX_BYTES + 1)
    except FileNotFoundError:
        return DiffSide("none")
    except (OSError, InputError):
        return DiffSide("other")
    if data is None:
        return DiffSide("none")
    return DiffSide("large") if len(data) > MAX_BYTES else DiffSide("file", data)


def _compare(root: str, before: DiffSide | None, now: DiffSide) -> tuple[State, str, str]:
    """The state of a file, a note, and the lines of the comparison."""
    if before is None and now.state == "other":
        return "unknown", _NO_FILE, ""
    if before is None:
        unknown = "Its earlier content is unknown: there is no commit to compare with."
        return ("unknown", unknown, _put(" ", now)) if now.is_there else ("gone", f"It doesn't exist. {unknown}", "")
    unavailable = _find_unavailable(before, now)
    if unavailable is not None:
        return (*unavailable, "")
    if not now.is_there:
        return "gone", "It no longer exists.", _put("-", before)
    return _differ(root, before, now) if before.is_there else ("new", "", _put("+", now))


def _find_unavailable(before: DiffSide, now: DiffSide) -> tuple[State, str] | None:
    """The state and the reason if no lines can be shown, else None."""
    states = {before.state, now.state}
    reasons: tuple[tuple[bool, State, str], ...] = (
        (bool(states & {"other", "link"}), "unknown", _NO_FILE),
        (states == {"none"}, "gone", "It doesn't exist and didn't exist before."),
        ("large" in states, "diff", f"It is larger than {MAX_BYTES // 1024:,} kB, the limit for comparisons."),
        (before.is_binary or now.is_binary, "binary", "It isn't text."),
        (before == now, "same", "It is unchanged since that commit."),
    )
    return next(((state, note) for holds, state, note in reasons if holds), None)


def _differ(root: str, before: DiffSide, now: DiffSide) -> tuple[State, str, str]:
    old, new = _clean(before), _clean(now)
    if old == new:
        return "diff", "Only secrets differ, which are not shown.", ""
    found = compare_texts(root, old.encode(), new.encode())
    if found is None:
        return "unknown", "It differs, but git couldn't compare it.", ""
    return "diff", "", found.decode("utf-8", "replace")


def _clean(side: DiffSide) -> str:
    return redact(side.data.decode("utf-8", "replace"))


def _put(mark: str, side: DiffSide) -> str:
    """A whole file as one hunk."""
    if side.state == "large" or side.is_binary or not side.data:
        return ""
    lines = _clean(side).removesuffix("\n").split("\n")
    spans = {"+": f"-0,0 +1,{len(lines)}", "-": f"-1,{len(lines)} +0,0"}
    head = f"@@ {spans.get(mark, f'-1,{len(lines)} +1,{len(lines)}')} @@"
    return "\n".join([head, *(f"{mark}{line}" for line in lines)])


def _describe_later_change(digest: str, now: DiffSide) -> str:
    """A note if the file changed after its check."""
    if not digest or now.state != "file" or sha256(now.data).hexdigest() == digest:
        return ""
    return "It changed after the agent ended."


def _read_hunks(text: str) -> tuple[list[HunkObject], bool]:
    """The hunks of a diff, and whether they are truncated."""
    hunks: list[HunkObject] = []
    for number, line in enumerate(_split(text)):
        if number >= MAX_LINES:
            return hunks, True
        if line.startswith("@@ "):
            hunks.append({"header": line[:_MAX_LINE], "lines": []})
        elif hunks and line[:1] in (" ", "+", "-"):
            hunks[-1]["lines"].append({"kind": line[0], "text": line[1:_MAX_LINE]})
    return hunks, False


def _split(text: str) -> Iterator[str]:
    """The lines of a diff. In a hunk every line begins with a mark, so file content can't look like a header."""
    at = 0
    while at < len(text):
        end = text.find("\n", at)
        end = len(text) if end < 0 else end
        yield text[at:end]
        at = end + 1
