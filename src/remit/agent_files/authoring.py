"""Create agent files, compile them for a harness, and migrate them to the standard."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Literal, NamedTuple

from remit.agent_files.discovery import find_agent_files, load_agent_file
from remit.agents.compile import (
    Compiled,
    check_target,
    compile_document,
    find_origin,
    is_current,
    left_over,
    outdated,
    refused,
)
from remit.agents.context import find_places
from remit.agents.definition import read_definition
from remit.agents.document import make_unreadable, parse_document
from remit.agents.migrate import AgentMigration, ManualStep, check_kind, migrate
from remit.agents.profiles import find_place
from remit.agents.scaffold import PROFILES, ContextFacts, check_request, choose_place, find_reader, scaffold
from remit.errors import InputError, UsageError
from remit.storage.files import write_text
from remit.storage.settings import find_root, is_inside, load_settings
from remit.storage.spec_root import find_spec_root

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from remit.agent_files.discovery import AgentFile
    from remit.agents.document import AgentDocument
    from remit.agents.profiles import Profile


def create_agent(kind: str, name: str, *, profile: Profile | None = None, folder: str | None = None) -> list[str]:
    """Create an agent next to the other agents of the workspace, with the files that it needs; return the new files.

    Default for `profile`: that of most agents of the workspace.
    """
    check_request(kind, name, profile or "standard")
    root = find_root()
    documents = list(_load(_find((), root)))
    for document in documents:
        definition = read_definition(document)
        if document.profile != "command" and name in (document.stem, definition and definition.name):
            raise UsageError(f"there is already an agent {name}, in {document.path}", hint="choose another name")
    profile = profile or _find_profile(documents)
    if folder is not None:
        place = _check_folder(folder, root, profile)
    else:
        place = choose_place([each.path for each in documents if _may_be_beside(each, profile)], profile)
    context = _find_context(documents, root)
    files = scaffold(kind, name, profile=profile, place=place, context=context, spec_root=_find_specs(root))
    fresh = [file for file in files if not os.path.lexists(f"{root}/{file.path}")]
    if files[0] not in fresh:
        raise UsageError(f"{files[0].path} already exists", hint="choose another name, or remove it")
    for file in reversed(fresh):  # the agent last: if a write fails, the command can be run again
        write_text(f"{root}/{file.path}", file.text, make_folders=True)
    return [f"{root}/{file.path}" for file in fresh]


def _may_be_beside(document: AgentDocument, profile: Profile) -> bool:
    """Whether a new agent can be put beside another: it has the same profile, or it is a standard agent.

    No standard agent goes into a folder of Claude Code, which reads no tools from a table of tools.
    """
    if profile != "standard":
        return document.profile == profile
    return find_reader(document.path.rpartition("/")[0]) != "claude"


def _find_profile(documents: Sequence[AgentDocument]) -> Profile:
    """Return the profile of most agents of a workspace; "standard" if there is such an agent or none at all."""
    found = [document.profile for document in documents if document.profile in PROFILES and document.values]
    return "standard" if "standard" in found or not found else max(PROFILES, key=found.count)


def _check_folder(folder: str, root: str, profile: Profile) -> str:
    """Return a given folder relative to the root. Raise `UsageError` if no harness of the profile reads it."""
    full = os.path.abspath(folder)
    if full != root and not full.startswith(f"{root.rstrip('/')}/"):
        raise UsageError(f"'{folder}' is outside of the workspace {root}", hint="give a folder inside it")
    place = full[len(root) :].strip("/")
    reader = find_place(f"{place}/x")
    if reader == "command":
        raise UsageError(f"'{folder}' is a folder for commands", hint="give one for agents")
    if profile not in ("standard", reader):
        raise UsageError(
            f"{profile} reads no agents from '{folder}'", hint=f"omit --folder, or give one that {profile} reads"
        )
    return place


def _find_specs(root: str) -> str:
    return find_spec_root(root, load_settings(root).tasks.folder)


def _find(paths: Sequence[str], root: str) -> list[AgentFile]:
    return find_agent_files(paths, root=root, exclude=load_settings(root).lint.exclude)


def _load(sources: Sequence[AgentFile]) -> Iterator[AgentDocument]:

    for source in sources:
        content = load_agent_file(source.file)
        if isinstance(content, str):
            yield make_unreadable(source.path, content)
        else:
            yield parse_document(source.path, content)


def _find_context(documents: Sequence[AgentDocument], root: str) -> ContextFacts:
    """Return the context index that most agents of the workspace name, if it exists."""
    named = [document.get("context_loading", "index") for document in documents]
    places = [place for index in named if isinstance(index, str) for place in find_places(index, "")]
    existing = [place for place in places if os.path.isfile(f"{root}/{place}")]
    return ContextFacts(max(sorted(set(existing)), key=existing.count)) if existing else ContextFacts()


# --- compiling -------------------------------------------------------------------------------------------------------

CompileState = Literal["written", "up to date", "out of date", "refused", "left over"]


class CompiledFile(NamedTuple):
    """The result for one source, or for a compiled file whose source is gone."""

    source: AgentFile
    compiled: Compiled
    file: str
    """The absolute path of the compiled file."""
    state: CompileState


def compile_agents(paths: Sequence[str], *, to: str, write: bool) -> list[CompiledFile]:
    """Write every standard agent in the form of a harness; with `write` false, only report what is out of date.

    All results are computed before the first file is written.
    """
    check_target(to)
    root = find_root()
    sources = _find(paths, root)
    named = {os.path.abspath(path) for path in paths}
    todo, others = [], []
    for source, document in zip(sources, _load(sources), strict=True):
        if document.profile == "standard" or os.path.abspath(source.file) in named:
            todo.append((source, document, compile_document(document, to)))
        elif document.profile == to and not paths:
            others.append((source, document))
    _check_unique((source, compiled) for source, _, compiled in todo)
    targets = {source.path: compiled.path for source, _, compiled in todo}
    done = [_compile_one(source, document, compiled, root, targets, write=write) for source, document, compiled in todo]
    for each in done:
        if each.state == "written":
            write_text(each.file, each.compiled.text, make_folders=True)
    return [*done, *_find_left_over(others, root, targets)]


def _check_unique(todo: Iterable[tuple[AgentFile, Compiled]]) -> None:
    """Raise `UsageError` if two sources have one target: the second would silently overwrite the first."""
    first: dict[str, AgentFile] = {}
    for source, compiled in todo:
        other = source if compiled.refused else first.setdefault(compiled.path.casefold(), source)
        if other is not source:
            raise UsageError(f"{other.path} and {source.path} both compile to {compiled.path}",
                             hint="give one of the agents another name")  # fmt: skip


def _compile_one(
    source: AgentFile,
    document: AgentDocument,
    compiled: Compiled,
    root: str,
    targets: Mapping[str, str],
    *,
    write: bool,
) -> CompiledFile:

    file = f"{root}/{compiled.path}"
    if compiled.refused:
        return CompiledFile(source, compiled, file, "refused")
    existing = load_agent_file(file) if os.path.lexists(file) else None
    obstacle = None if existing is None else _find_obstacle(existing, source, root, targets)
    if obstacle is not None:
        diagnostic = refused(
            document, "", f"{compiled.path} {obstacle}", "Move it away, or give the agent another name."
        )
        return CompiledFile(source, compiled._replace(text="", diagnostics=(diagnostic,)), file, "refused")
    if is_current(compiled, _decode(existing)):
        return CompiledFile(source, compiled, file, "up to date")
    if write:
        return CompiledFile(source, compiled, file, "written")
    diagnostic = outdated(document, compiled.path, missing=existing is None)
    return CompiledFile(source, compiled._replace(diagnostics=(diagnostic, *compiled.diagnostics)), file, "out of date")


def _find_obstacle(existing: bytes | str, source: AgentFile, root: str, targets: Mapping[str, str]) -> str | None:
    """Return why a file can't be overwritten: it was written by hand, or has another source."""
    if isinstance(existing, str):
        return f"is in the way: {existing}"
    origin = find_origin(existing.decode("utf-8", "replace"))
    if origin is None:
        return "already exists and wasn't created by `remit agent build`"
    if origin not in (source.path, *targets) and os.path.lexists(os.path.join(root, origin)):
        return f"already exists, compiled from {origin}"
    return None


def _find_left_over(
    others: Iterable[tuple[AgentFile, AgentDocument]], root: str, targets: Mapping[str, str]
) -> Iterator[CompiledFile]:
    """Yield the compiled files whose source is gone: the harness still loads them."""
    written = set(targets.values())
    for source, document in others:
        origin = find_origin(document.text)
        if origin is None or source.path in written:
            continue
        if origin in targets or not os.path.lexists(os.path.join(root, origin)):
            gone = Compiled(source.path, "", (left_over(document, origin),))
            yield CompiledFile(source, gone, source.file, "left over")


def _decode(content: bytes | str | None) -> str | None:
    return content.decode("utf-8", "surrogateescape") if isinstance(content, bytes) else None


# --- migrating -------------------------------------------------------------------------------------------------------


class MigratedFile(NamedTuple):
    """The result of migrating one file to the standard."""

    source: AgentFile
    before: str
    migration: AgentMigration
    skipped: str = ""
    """Why it stays unchanged; "" if it was migrated."""


def migrate_agents(paths: Sequence[str], *, kind: str | None, write: bool) -> list[MigratedFile]:
    """Migrate agent files to the standard; each result lists the steps that the user has to do."""
    check_kind(kind)
    root = find_root()
    sources = _find(paths, root)
    done = [_migrate(*each, root, kind) for each in zip(sources, _load(sources), strict=True)]
    for each in done if write else ():
        if each.migration.text != each.before:
            if _decode(load_agent_file(each.source.file)) != each.before:
                raise InputError(f"'{each.source.file}' was changed meanwhile", hint="run the command again")
            write_text(each.source.file, each.migration.text)
    return done


def _migrate(source: AgentFile, document: AgentDocument, root: str, kind: str | None) -> MigratedFile:

    same = AgentMigration(document.text, (), ())
    reason = _find_skip_reason(source, document, root)
    if reason:
        return MigratedFile(source, document.text, same, reason)
    if document.unreadable is not None:
        rest = ManualStep(
            f"the file can't be migrated: {document.unreadable}", "Make it a text file in UTF-8 first.", None
        )
        return MigratedFile(source, document.text, same._replace(left=(rest,)))
    return MigratedFile(source, document.text, migrate(document, kind=kind, spec_root=_find_specs(root)))


def _find_skip_reason(source: AgentFile, document: AgentDocument, root: str) -> str:
    """Return why a file can't follow the standard; "" if it can."""
    if document.profile == "command":
        return "a command, not an agent"
    origin = find_origin(document.text)
    if origin is not None:
        return f"compiled from {origin}"
    if document.profile == "codex":
        return "an agent of Codex, which is TOML"
    outside = os.path.islink(source.file) and not is_inside(source.file, root)
    return "a link that leads out of the workspace" if outside else ""
