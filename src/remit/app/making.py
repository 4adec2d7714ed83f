"""Agent files: made, migrated and compiled."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, NamedTuple

from remit.app.settings import find_root, load_settings
from remit.errors import UsageError
from remit.workspace.agent_files import find_agent_files, load_agent_file
from remit.workspace.files import write_text

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from remit.agents.compile import Compiled
    from remit.agents.document import Document
    from remit.agents.migrate import Migration
    from remit.agents.profiles import Profile
    from remit.agents.scaffold import ContextFacts
    from remit.workspace.agent_files import Source

SPEC_ROOTS = (".opencode/specs", ".claude/specs", "specs")


def new(kind: str, name: str, *, profile: Profile = "standard", folder: str | None = None) -> list[str]:
    """Make a new agent where this workspace keeps its agents, with what else it needs; the paths of the new files."""
    from remit.agents.scaffold import choose_place, scaffold  # noqa: PLC0415 - only for this

    root = find_root()
    sources = _find((), root)
    documents = list(_load(sources))
    alike = [document.path for document in documents if profile in ("standard", document.profile)]
    place = choose_place(alike, profile) if folder is None else _place(folder, root)
    spec_root = next((each for each in SPEC_ROOTS if os.path.isdir(f"{root}/{each}")), SPEC_ROOTS[-1])  # noqa: PTH112
    files = scaffold(
        kind, name, profile=profile, place=place, context=_find_context(documents, root), spec_root=spec_root
    )
    taken = next((source for source in sources if source.path.rpartition("/")[2].rpartition(".")[0] == name), None)
    if taken is not None:
        raise UsageError(f"there is an agent {name} already, in {taken.path}", hint="choose another name")
    fresh = [file for file in files if not os.path.lexists(f"{root}/{file.path}")]
    if files[0] not in fresh:
        raise UsageError(f"{files[0].path} is there already", hint="choose another name, or remove it")
    for file in fresh:
        write_text(f"{root}/{file.path}", file.text, make_folders=True)
    return [file.path for file in fresh]


def _place(folder: str, root: str) -> str:
    full = os.path.abspath(folder)  # noqa: PTH100 - links are not followed
    if full != root and not full.startswith(f"{root.rstrip('/')}/"):
        raise UsageError(f"'{folder}' lies outside the workspace {root}", hint="name a folder inside it")
    return full[len(root) :].strip("/")


def _find(paths: Sequence[str], root: str) -> list[Source]:
    return find_agent_files(paths, root=root, exclude=load_settings(root).lint.exclude)


def _load(sources: Sequence[Source]) -> Iterator[Document]:
    from remit.agents.document import make_unreadable, parse_document  # noqa: PLC0415 - only for this

    for source in sources:
        content = load_agent_file(source.file)
        if isinstance(content, str):
            yield make_unreadable(source.path, content)
        else:
            yield parse_document(source.path, content)


def _find_context(documents: Sequence[Document], root: str) -> ContextFacts:
    """The context index that most agents of this workspace name, where it is there."""
    from remit.agents.scaffold import ContextFacts  # noqa: PLC0415 - only for this

    named = [document.get("context_loading", "index") for document in documents]
    there = [index for index in named if isinstance(index, str) and os.path.isfile(f"{root}/{index}")]  # noqa: PTH113
    return ContextFacts(max(sorted(set(there)), key=there.count)) if there else ContextFacts()


# --- compiling -------------------------------------------------------------------------------------------------------


class CompiledFile(NamedTuple):
    """What became of one source: written, up to date, or not as it should be."""

    source: Source
    compiled: Compiled
    current: bool
    """Whether what is on disk is what would be written."""


def compile_agents(paths: Sequence[str], *, to: str, write: bool) -> list[CompiledFile]:
    """Write every standard agent as a harness wants it; without `write`, only see whether that was done."""
    from remit.agents.compile import compile_document, is_current  # noqa: PLC0415 - only for this

    root = find_root()
    sources = _find(paths, root)
    done = []
    for source, document in zip(sources, _load(sources), strict=True):
        if document.profile != "standard" and not paths:
            continue  # the harness's own, and what was compiled before
        compiled = compile_document(document, to)
        current = is_current(
            compiled, _load_text(f"{root}/{compiled.path}"), _load_text(f"{root}/{compiled.sidecar_path}")
        )
        if write and not current and not compiled.refused:
            _refuse_foreign(root, compiled)
            write_text(f"{root}/{compiled.path}", compiled.text, make_folders=True)
            write_text(f"{root}/{compiled.sidecar_path}", compiled.sidecar)
        done.append(CompiledFile(source, compiled, current))
    return done


def _refuse_foreign(root: str, compiled: Compiled) -> None:
    """A file that somebody wrote by hand is not written over."""
    text = _load_text(f"{root}/{compiled.path}")
    if text is not None and "by `remit compile`" not in text:
        raise UsageError(f"{compiled.path} was not made by `remit compile`", hint="move it away first")


def _load_text(file: str) -> str | None:
    if not os.path.lexists(file):
        return None
    content = load_agent_file(file)
    return content.decode("utf-8", "surrogateescape") if isinstance(content, bytes) else None


# --- migrating -------------------------------------------------------------------------------------------------------


class Migrated(NamedTuple):
    """What became of one file on its way to the standard."""

    source: Source
    before: str
    migration: Migration


def migrate_agents(paths: Sequence[str], *, kind: str | None, write: bool) -> list[Migrated]:
    """Bring agent files to the standard, as far as a program can; each migration says what is left for a person."""
    from remit.agents.migrate import migrate  # noqa: PLC0415 - only for this

    root = find_root()
    sources = _find(paths, root)
    done = []
    for source, document in zip(sources, _load(sources), strict=True):
        if document.profile in ("codex", "command"):
            continue
        migration = migrate(document, kind=kind)
        if write and migration.text != document.text:
            write_text(source.file, migration.text)
        done.append(Migrated(source, document.text, migration))
    return done
