"""Rules on context loading: how much an agent loads, and whether that is there."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from remit.agents import edits
from remit.agents.context import find_context_files, is_absolute, is_folder, list_context_files
from remit.agents.profiles import CONTEXT_BUDGETS
from remit.agents.rules.keys import is_lost_in
from remit.agents.rules.register import Case, Report, rule
from remit.agents.rules.tables import guess, is_number, show
from remit.globs import is_pattern

if TYPE_CHECKING:
    from collections.abc import Iterator

    from remit.agents.document import Document

_TABLE = "context_loading"
_DEFAULT_STRATEGY = "lazy"
FOLDER = -1
"""The size of what is on disk and is a folder."""


def _get_table(document: Document) -> dict[str, Any]:
    table = document.get_section(_TABLE)
    return table if isinstance(table, dict) else {}


def _get_budget(table: dict[str, Any]) -> int | None:
    """How many bytes the strategy may load; None where it is not known."""
    strategy = table.get("strategy")
    return CONTEXT_BUDGETS.get(strategy) if isinstance(strategy, str) else None


@rule("AGT070", "R1.4", fix="unsafe")
def context_strategy(case: Case) -> Iterator[Report]:
    """The strategy of loading context is missing, or is none of lazy, eager and minimal.

    Why: it decides what is loaded before the agent begins: what is required (lazy; the rest when asked), what is
    required and optional (eager), or what is required and nothing else (minimal).

    Bad: `strategy: lasy`

    Good: `strategy: lazy`

    Fix (unsafe): writes the strategy that was probably meant; lazy where there is none.
    """
    document = case.document
    table = document.get_section(_TABLE)
    if table is None:
        return
    if not isinstance(table, dict):
        yield Report("context_loading is not a table", "Write strategy, index and required below it.",
                     document.span_of(f"/{_TABLE}"), f"/{_TABLE}")  # fmt: skip
        return
    strategy, pointer = table.get("strategy"), f"/{_TABLE}/strategy"
    if is_lost_in(document, _TABLE, "strategy"):
        yield Report("context_loading has no strategy", "Write strategy: lazy, eager or minimal.",
                     document.key_span(f"/{_TABLE}"), pointer, fix_message=f"Load {_DEFAULT_STRATEGY}",
                     edits=edits.put_value(document, f"/{_TABLE}", "strategy", _DEFAULT_STRATEGY))  # fmt: skip
    elif "strategy" in table and strategy not in tuple(CONTEXT_BUDGETS):
        meant, hint = guess(strategy if isinstance(strategy, str) else "", tuple(CONTEXT_BUDGETS))
        yield Report(f"there is no strategy {show(strategy)}", hint, document.span_of(pointer), pointer,
                     edits=edits.replace_value(document, pointer, meant) if meant else (),
                     fix_message=f"Write {meant}")  # fmt: skip


@rule("AGT071", "R1.4", severity="warning")
def context_index(case: Case) -> Iterator[Report]:
    """There is no index of what can be loaded.

    Why: the index names the files that an agent can ask for while it works; without one it knows of none. With the
    strategy minimal nothing can be asked for, and none is needed.

    Bad: `context_loading: {strategy: lazy, required: []}`

    Good: `index: "docs/context/index.md"`
    """
    document = case.document
    table = _get_table(document)
    index = table.get("index")
    if table and "index" in table and index is not None and not isinstance(index, str):
        yield Report(f"the index is {show(index)}, not a path", "Write the path of one file.",
                     document.span_of(f"/{_TABLE}/index"), f"/{_TABLE}/index")  # fmt: skip
    elif table and table.get("strategy") != "minimal" and is_lost_in(document, _TABLE, "index"):
        yield Report("context_loading names no index", "Write the path of the file that says what can be loaded.",
                     document.key_span(f"/{_TABLE}"), f"/{_TABLE}/index")  # fmt: skip


@rule("AGT072", "R1.4", fix="safe")
def context_lists(case: Case) -> Iterator[Report]:
    """The files to load are not a list of paths, or it is not said which are required.

    Why: a single text is read letter by letter or not at all, and nothing is loaded.

    Bad: `required: "docs/format.md"`

    Good: `required: ["docs/format.md"]`

    Fix (safe): makes a list of a single text. With unsafe fixes, adds an empty list where there is none.
    """
    document = case.document
    table = _get_table(document)
    if table and is_lost_in(document, _TABLE, "required"):
        yield Report("context_loading does not say what is required", "Write required: with a list of paths, or [].",
                     document.key_span(f"/{_TABLE}"), f"/{_TABLE}/required", severity="warning",
                     edits=edits.put_value(document, f"/{_TABLE}", "required", "[]"),
                     fix_message="Require nothing", applicability="unsafe")  # fmt: skip
    for part in ("required", "optional"):
        value, pointer = table.get(part), f"/{_TABLE}/{part}"
        if isinstance(value, list):
            for at, path in enumerate(value):
                if not isinstance(path, str) or not path.strip():
                    yield Report(f"an item of {part} is {show(path) if path else 'empty'}, not a path",
                                 "Write a path, or remove it.", document.span_of(f"{pointer}/{at}"),
                                 f"{pointer}/{at}")  # fmt: skip
        elif value is not None and value != "":
            listed = f"[{edits.quote(value)}]" if isinstance(value, str) else ""
            yield Report(f"{part} is {show(value)}, not a list of paths", "Put it between brackets.",
                         document.span_of(pointer), pointer, fix_message="Make a list of it",
                         edits=edits.replace_value(document, pointer, listed) if listed else ())  # fmt: skip


@rule("AGT073", "R1.4", fix="unsafe")
def context_size(case: Case) -> Iterator[Report]:
    """It is not said how much context may be loaded, or more than the strategy may load.

    Why: what is loaded fills the agent's context before it begins. A lazy agent may load 50,000 bytes, an eager one
    100,000, a minimal one 10,000. More than that is a warning.

    Bad: `strategy: minimal` and `max_context_size: 50000`

    Good: `strategy: minimal` and `max_context_size: 10000`

    Fix (unsafe): writes what the strategy may load.
    """
    document = case.document
    table = _get_table(document)
    size, pointer = table.get("max_context_size"), f"/{_TABLE}/max_context_size"
    budget = _get_budget(table)
    fix = edits.put_value(document, f"/{_TABLE}", "max_context_size", str(budget)) if budget else ()
    hint = f"Write max_context_size: {budget}." if budget else "Write how many bytes may be loaded."
    if table and is_lost_in(document, _TABLE, "max_context_size"):
        yield Report("context_loading sets no max_context_size", hint, document.key_span(f"/{_TABLE}"), pointer,
                     severity="warning", edits=fix)  # fmt: skip
    elif size is not None and (not is_number(size) or size <= 0 or size != int(size)):
        yield Report(f"max_context_size is {show(size)}, not a number of bytes", hint, document.span_of(pointer),
                     pointer, edits=fix)  # fmt: skip
    elif size is not None and budget is not None and size > budget:
        yield Report(f"max_context_size is {size:,}, and the strategy {table['strategy']} may load {budget:,} bytes",
                     "Load less, or use a strategy that may load more.", document.span_of(pointer), pointer,
                     severity="warning", edits=fix, fix_message=f"Write {budget}")  # fmt: skip


@rule("AGT074", "R1.4")
def context_file_missing(case: Case) -> Iterator[Report]:
    """A context file does not exist.

    Why: the agent begins without what its author counted on, and says nothing of it. Paths are looked for below the
    folder of the index, then below the workspace's root. A required file that is missing is an error, an optional
    one or the index a warning.

    Bad: `required: ["core/fromat.md"]`

    Good: `required: ["core/format.md"]`
    """
    document = case.document
    told: set[str] = set()
    for file in list_context_files(document) if case.sizes else ():
        if file.path in case.sizes and case.sizes[file.path] is None and file.path not in told:
            told.add(file.path)
            what = "the index" if file.part == "index" else f"the {file.part} file"
            yield Report(f"{what} {show(file.path)} does not exist", "Correct the path, or write the file.",
                         document.span_of(file.pointer), file.pointer,
                         severity="error" if file.part == "required" else "warning")  # fmt: skip


@rule("AGT075", "R1.4", severity="warning")
def context_too_large(case: Case) -> Iterator[Report]:
    """The context files together are larger than what may be loaded.

    Why: something is cut off or left out, and nobody knows what. Counted is what is on disk now: what is required
    and, with the strategy eager, what is optional; a file that is named twice counts once.

    Bad: three required files of 20,000 bytes each and `max_context_size: 50000`

    Good: files that fit; a long one as an optional file of a lazy agent
    """
    document = case.document
    table = _get_table(document)
    size, budget = table.get("max_context_size"), _get_budget(table)
    limit = size if is_number(size) and size > 0 else budget
    parts = ("required", "optional") if table.get("strategy") == "eager" else ("required",)
    named = {file.path for file in list_context_files(document) if file.part in parts} if case.sizes else set()
    total = sum(max(0, case.sizes.get(path) or 0) for path in named)
    if limit is not None and total > limit:
        largest = max(named, key=lambda path: (case.sizes.get(path) or 0, path))
        yield Report(f"the {len(named)} files to load have {total:,} bytes together, at most {limit:,} may be loaded",
                     f"Shorten or leave out some; the largest is {show(largest)} with {case.sizes[largest]:,}.",
                     document.span_of(f"/{_TABLE}/required"), f"/{_TABLE}/required")  # fmt: skip


@rule("AGT076", "R1.4", severity="warning", fix="safe")
def context_file_twice(case: Case) -> Iterator[Report]:
    """A context file is named twice.

    Why: it is loaded twice, or the reader wonders which other file was meant.

    Bad: `required: ["core/state.md", "core/state.md"]`

    Good: `required: ["core/state.md"]`

    Fix (safe): removes the later one.
    """
    document = case.document
    seen: dict[str, str] = {}
    for file in list_context_files(document):
        path = file.path.strip().removeprefix("./")
        if file.part != "index" and path in seen:
            again = "twice" if seen[path] == file.part else f"as {seen[path]} and as {file.part}"
            yield Report(f"{show(path)} is named {again}", "Remove one of them.", document.span_of(file.pointer),
                         file.pointer, edits=edits.remove_item(document, file.pointer),
                         fix_message="Remove the later one")  # fmt: skip
        elif file.part != "index":
            seen[path] = file.part


@rule("AGT077", "R1.4")
def context_outside(case: Case) -> Iterator[Report]:
    """A context file lies outside of the workspace.

    Why: the path exists on one machine only, or reaches what belongs to others. Remit does not look there.

    Bad: `required: ["/home/me/notes.md", "../../secrets.md"]`

    Good: `required: ["docs/notes.md"]`
    """
    document = case.document
    for file in list_context_files(document):
        path = file.path.strip()
        climbing = ".." in path and not is_folder(path) and file.path not in find_context_files(document)
        if is_absolute(path) or (climbing and not is_pattern(path)):
            yield Report(f"{show(path)} lies outside of the workspace",
                         "Write a path below the workspace's root.", document.span_of(file.pointer),
                         file.pointer)  # fmt: skip


@rule("AGT078", "R1.4", severity="warning")
def context_not_a_file(case: Case) -> Iterator[Report]:
    """A context file is a folder or a pattern.

    Why: files are loaded, one by one. What a folder or a pattern holds changes, and nobody counts it.

    Bad: `required: ["docs/context/", "core/**/*.md"]`

    Good: `required: ["docs/context/format.md"]`
    """
    document = case.document
    for file in list_context_files(document):
        path = file.path.strip()
        found_folder = case.sizes.get(file.path) == FOLDER
        if (is_folder(path) or is_pattern(path) or found_folder) and not is_absolute(path):
            what = "a pattern" if is_pattern(path) else "a folder"
            yield Report(f"{show(path)} is {what}, not a file", "Name each file.", document.span_of(file.pointer),
                         file.pointer)  # fmt: skip
