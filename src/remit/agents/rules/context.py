"""Rules on context loading: missing, duplicate and too large files, and paths outside of the workspace."""

from __future__ import annotations

from typing import TYPE_CHECKING

from remit.agents import edits
from remit.agents.context import find_context_files, is_absolute, is_folder, list_context_files
from remit.agents.rules.field_table import is_number, show
from remit.agents.rules.register import AgentFileContext, AgentViolation, agent_rule
from remit.agents.rules.standard_fields import get_budget
from remit.globs import is_pattern

if TYPE_CHECKING:
    from collections.abc import Iterator


_TABLE = "context_loading"
FOLDER = -1
"""The size that stands for a folder."""


@agent_rule("AGT074")
def context_file_missing(case: AgentFileContext) -> Iterator[AgentViolation]:
    """A context file doesn't exist.

    Why: the agent starts without the information that its author expected. Paths are relative to the index's
    folder, then to the workspace root. A missing required file is an error; a missing optional file or index is a
    warning.

    Bad: `required: ["core/fromat.md"]`

    Good: `required: ["core/format.md"]`
    """
    document = case.document
    reported: set[str] = set()
    for file in list_context_files(document) if case.sizes else ():
        if file.path in case.sizes and case.sizes[file.path] is None and file.path not in reported:
            reported.add(file.path)
            what = "the index" if file.part == "index" else f"the {file.part} file"
            yield AgentViolation(f"{what} {show(file.path)} doesn't exist", "Correct the path, or create the file.",
                                 document.span_of(file.pointer), file.pointer,
                                 severity="error" if file.part == "required" else "warning")  # fmt: skip


@agent_rule("AGT075", severity="warning")
def context_too_large(case: AgentFileContext) -> Iterator[AgentViolation]:
    """The context files together exceed the size limit.

    Why: a file is cut off or left out without a message. The total counts the current size of required files and,
    with the eager strategy, optional files. A file that is listed twice counts once.

    Bad: three required files of 20,000 bytes each and `max_context_size: 50000`

    Good: files that fit, or a long file that is optional in a lazy agent
    """
    document = case.document
    size, budget = document.get(_TABLE, "max_context_size"), get_budget(document)
    limit = size if is_number(size) and size > 0 else budget
    parts = ("required", "optional") if document.get(_TABLE, "strategy") == "eager" else ("required",)
    named = {file.path for file in list_context_files(document) if file.part in parts} if case.sizes else set()
    total = sum(max(0, case.sizes.get(path) or 0) for path in named)
    if limit is not None and total > limit:
        largest = max(named, key=lambda path: (case.sizes.get(path) or 0, path))
        yield AgentViolation(
            f"the {len(named)} files to load have {total:,} bytes, the maximum is {limit:,}",
            f"Shorten or remove some; the largest is {show(largest)} with {case.sizes[largest]:,} bytes.",
            document.span_of(f"/{_TABLE}/required"),
            f"/{_TABLE}/required",
        )


@agent_rule("AGT076", severity="warning", fix="safe")
def context_file_duplicate(case: AgentFileContext) -> Iterator[AgentViolation]:
    """A context file is listed twice.

    Why: it is loaded twice, or one of the two should be another file.

    Bad: `required: ["core/state.md", "core/state.md"]`

    Good: `required: ["core/state.md"]`

    Fix (safe): removes the second one.
    """
    document = case.document
    seen: dict[str, str] = {}
    for file in list_context_files(document):
        path = file.path.strip().removeprefix("./")
        if file.part != "index" and path in seen:
            again = "twice" if seen[path] == file.part else f"as {seen[path]} and as {file.part}"
            yield AgentViolation(
                f"{show(path)} is listed {again}",
                "Remove one of them.",
                document.span_of(file.pointer),
                file.pointer,
                edits=edits.remove_item(document, file.pointer),
                fix_message="Remove the second one",
            )
        elif file.part != "index":
            seen[path] = file.part


@agent_rule("AGT077")
def context_outside(case: AgentFileContext) -> Iterator[AgentViolation]:
    """A context file is outside of the workspace.

    Why: the path exists on one machine only, or reaches other people's files. Remit doesn't read it.

    Bad: `required: ["/home/me/notes.md", "../../secrets.md"]`

    Good: `required: ["docs/notes.md"]`
    """
    document = case.document
    for file in list_context_files(document):
        path = file.path.strip()
        climbing = ".." in path and not is_folder(path) and file.path not in find_context_files(document)
        if is_absolute(path) or (climbing and not is_pattern(path)):
            yield AgentViolation(f"{show(path)} is outside of the workspace",
                                 "Write a path relative to the workspace root.", document.span_of(file.pointer),
                                 file.pointer)  # fmt: skip


@agent_rule("AGT078", severity="warning")
def context_not_a_file(case: AgentFileContext) -> Iterator[AgentViolation]:
    """A context path is a folder or a pattern.

    Why: Remit loads single files. The content of a folder changes, and nothing would limit its size.

    Bad: `required: ["docs/context/", "core/**/*.md"]`

    Good: `required: ["docs/context/format.md"]`
    """
    document = case.document
    for file in list_context_files(document):
        path = file.path.strip()
        found_folder = case.sizes.get(file.path) == FOLDER
        if (is_folder(path) or is_pattern(path) or found_folder) and not is_absolute(path):
            what = "a pattern" if is_pattern(path) else "a folder"
            yield AgentViolation(
                f"{show(path)} is {what}, not a file", "List each file.", document.span_of(file.pointer), file.pointer
            )
