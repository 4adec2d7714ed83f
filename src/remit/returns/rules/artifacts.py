"""Rules on the files that a return claims: where they may be, and whether they are there."""

from __future__ import annotations

from typing import TYPE_CHECKING

from remit.model import DATA
from remit.returns.rules.register import ReturnViolation, return_rule
from remit.returns.shapes import find_escape

if TYPE_CHECKING:
    from collections.abc import Iterator

    from remit.model import FileState, Severity
    from remit.returns.parsed_message import ParsedMessage

_FITTING = {"md": "document", "mdx": "document"} | dict.fromkeys(
    ("json", "jsonl", "yaml", "yml", "csv", "toml"), "data"
)
"""What a file is by its ending; every other ending is code."""
_WRITE = "Write the file before you claim it, correct its path, or return partial."
"""Not to leave it out: who was asked for it has not completed the work without it."""
_SEPARATE = "Use / between folders: a backslash is part of a name here."


def _claimed(parsed: ParsedMessage) -> list[tuple[str, str]]:
    return parsed.return_format.paths(parsed.payload) if parsed.return_format and parsed.payload is not None else []


@return_rule("RET050")
def path_outside_project(parsed: ParsedMessage) -> Iterator[ReturnViolation]:
    r"""A path is outside the project, or isn't a plain relative path.

    Why: later steps (link, commit, show) use the path as it is.

    Bad: `"path": "/etc/passwd"`, `"path": "../notes.md"`, `"path": "~/notes.md"`, `"path": "C:/notes.md"`, `"path":
    "file:///notes.md"`

    Good: `"path": "docs/notes.md"`
    """
    for problem in parsed.problems:
        if problem.kind == "escape":
            yield ReturnViolation(problem.message, problem.hint, problem.pointer)


def _on_disk(parsed: ParsedMessage, *states: FileState) -> Iterator[tuple[str, str, Severity]]:
    """Claimed files found in one of these states, and how grave that is."""
    for pointer, path in _claimed(parsed):
        facts = parsed.evidence.get(path)
        if facts is not None and facts.state in states and find_escape(path) is None:
            yield pointer, path, parsed.missing_severity


@return_rule("RET051")
def artifact_missing(parsed: ParsedMessage) -> Iterator[ReturnViolation]:
    """A claimed file doesn't exist.

    Why: agents often report files that they didn't write. For other statuses than completed, this is a warning.

    Bad: a completed return that names `specs/7_x/plans/implementation-001.md`, which doesn't exist.

    Good: write the file first, then claim it.
    """
    for pointer, path, severity in _on_disk(parsed, "missing", "unreadable"):
        yield ReturnViolation(f"{path} doesn't exist", _SEPARATE if "\\" in path else _WRITE, pointer, severity)


@return_rule("RET052")
def artifact_link_outside(parsed: ParsedMessage) -> Iterator[ReturnViolation]:
    """A claimed file is a link to a file outside the project.

    Why: a link inside the project can point anywhere.

    Bad: `docs/notes.md`, a link to `/tmp/notes.md`.

    Good: a file of the project.
    """
    for pointer, path, _ in _on_disk(parsed, "outside"):
        yield ReturnViolation(
            f"{path} is a link to a file outside the project", "Claim a file inside the project.", pointer
        )


@return_rule("RET053")
def artifact_not_a_file(parsed: ParsedMessage) -> Iterator[ReturnViolation]:
    """A claimed file is a folder, a device or a pipe.

    Why: an artifact is a file that others can read.

    Bad: `docs/`

    Good: `docs/notes.md`
    """
    for pointer, path, severity in _on_disk(parsed, "special"):
        yield ReturnViolation(f"{path} isn't a regular file", "Claim the file itself.", pointer, severity)


@return_rule("RET054")
def artifact_empty(parsed: ParsedMessage) -> Iterator[ReturnViolation]:
    """A claimed file is empty.

    Why: an empty file passes a check for its existence.

    Bad: a report of 0 bytes.

    Good: a report with content.
    """
    for pointer, path, severity in _on_disk(parsed, "empty"):
        yield ReturnViolation(f"{path} is empty", _WRITE, pointer, severity)


@return_rule("RET055")
def completed_without_artifacts(parsed: ParsedMessage) -> Iterator[ReturnViolation]:
    """The status is completed, and no file is claimed.

    Why: planning, research and implementation produce files. For utility agents, for agents of unknown type, and for
    a review or research that hands back the `data` that its schema asks for, this is a warning.

    Bad: `{"status": "completed", "artifacts": [], …}` from a planner.

    Good: the plan as an artifact.
    """
    if parsed.has_format("standard") and parsed.status == "completed" and parsed.get("artifacts") == []:
        known = parsed.expectation.kind not in (None, "utility")
        if parsed.expectation.data is not None and DATA in (parsed.payload or {}):
            known = known and parsed.expectation.kind not in ("review", "research")
        yield ReturnViolation(
            "the status is completed, but no file is claimed",
            "List the files that you created in artifacts.",
            "/artifacts",
            "error" if known else "warning",
        )


@return_rule("RET056", severity="warning")
def artifacts_without_success(parsed: ParsedMessage) -> Iterator[ReturnViolation]:
    """The status is failed or blocked, and files are claimed.

    Why: failed means that the work produced nothing usable. If it did, the status is `partial`, and the run can be
    resumed.

    Bad: `{"status": "failed", "artifacts": [{…}], …}`

    Good: `{"status": "partial", "artifacts": [{…}], …}`
    """
    if parsed.has_format("standard") and parsed.status in ("failed", "blocked") and parsed.items_at("artifacts"):
        message = f"the status is {parsed.status}, but files are claimed"
        yield ReturnViolation(message, "Use status partial if the files are usable.", "/artifacts")


@return_rule("RET057", severity="warning")
def artifact_duplicate(parsed: ParsedMessage) -> Iterator[ReturnViolation]:
    """A file is claimed twice.

    Why: it would be counted, linked and committed twice, or the second path should be another.

    Bad: `"artifacts": [{"type": "plan", "path": "docs/a.md"}, {"type": "plan", "path": "./docs/a.md"}]`

    Good: each file once.
    """
    seen: set[str] = set()
    for pointer, path in _claimed(parsed):
        plain = "/".join(part for part in path.split("/") if part not in ("", "."))
        if plain in seen:
            yield ReturnViolation(f"{path} is claimed twice", "Claim each file once.", pointer)
        seen.add(plain)


@return_rule("RET058", severity="warning")
def artifact_type_mismatch(parsed: ParsedMessage) -> Iterator[ReturnViolation]:
    """An artifact's type doesn't match its file name (`hyper`).

    Why: Markdown is a document, JSON and YAML are data, source files are code.

    Bad: `"type": "code"` and `"path": "docs/findings.md"`

    Good: `"type": "document"` and `"path": "docs/findings.md"`
    """
    if not parsed.has_format("hyper"):
        return
    for index, item in enumerate(parsed.items_at("artifacts")):
        path = item.get("path") if isinstance(item, dict) else None
        if not isinstance(path, str) or "." not in path.rpartition("/")[2]:
            continue
        fitting = _FITTING.get(path.rpartition(".")[2].lower(), "code")
        if item.get("type") in ("document", "code", "data") and item["type"] != fitting:
            yield ReturnViolation(
                f"{path} is {fitting}, not {item['type']}", f"Use {fitting}.", f"/artifacts/{index}/type"
            )
