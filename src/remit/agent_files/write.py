"""Agent files: made, migrated and compiled."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Literal, NamedTuple

from remit.agent_files.discovery import find_agent_files, load_agent_file
from remit.errors import InputError, UsageError
from remit.storage.files import write_text
from remit.storage.settings import find_root, is_inside, load_settings
from remit.storage.spec_root import find_spec_root

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from remit.agent_files.discovery import AgentFile
    from remit.agents.compile import Compiled
    from remit.agents.document import AgentDocument
    from remit.agents.migrate import AgentMigration
    from remit.agents.profiles import Profile
    from remit.agents.scaffold import ContextFacts


def new(kind: str, name: str, *, profile: Profile | None = None, folder: str | None = None) -> list[str]:
    """Make a new agent where this workspace keeps its agents, with what else it needs; the files that are new.

    Without a `profile` it is of the kind that most agents of this workspace are.
    """
    from remit.agents.scaffold import check_request, choose_place, scaffold  # noqa: PLC0415 - only for this

    check_request(kind, name, profile or "standard")
    root = find_root()
    documents = list(_load(_find((), root)))
    _refuse_taken(name, documents)
    profile = profile or _find_profile(documents)
    if folder is not None:
        place = _place(folder, root, profile)
    else:
        place = choose_place([each.path for each in documents if _is_alike(each, profile)], profile)
    context = _find_context(documents, root)
    files = scaffold(kind, name, profile=profile, place=place, context=context, spec_root=_find_specs(root))
    fresh = [file for file in files if not os.path.lexists(f"{root}/{file.path}")]
    if files[0] not in fresh:
        raise UsageError(f"{files[0].path} is there already", hint="choose another name, or remove it")
    for file in reversed(fresh):  # the agent last: when one can't be written, it can be made again
        write_text(f"{root}/{file.path}", file.text, make_folders=True)
    return [f"{root}/{file.path}" for file in fresh]


def _is_alike(document: AgentDocument, profile: Profile) -> bool:
    """Whether a new agent may lie beside another: of its own profile; a standard one wherever its tools are not lost.

    Claude Code takes a table of tools for none at all, so no standard agent goes where it reads.
    """
    from remit.agents.scaffold import find_reader  # noqa: PLC0415 - only for this

    if profile != "standard":
        return document.profile == profile
    return find_reader(document.path.rpartition("/")[0]) != "claude"


def _find_profile(documents: Sequence[AgentDocument]) -> Profile:
    """What most agents of a workspace are; the standard, where there is one of its own or none at all."""
    from remit.agents.scaffold import PROFILES  # noqa: PLC0415 - only for this

    found = [document.profile for document in documents if document.profile in PROFILES and document.values]
    return "standard" if "standard" in found or not found else max(PROFILES, key=found.count)


def _refuse_taken(name: str, documents: Sequence[AgentDocument]) -> None:
    from remit.agents.definition import read_definition  # noqa: PLC0415 - only for this

    for document in documents:
        definition = read_definition(document)
        if document.profile != "command" and name in (document.stem, definition and definition.name):
            raise UsageError(f"there is an agent {name} already, in {document.path}", hint="choose another name")


def _place(folder: str, root: str, profile: Profile) -> str:
    """A folder that was named, below the root; one in which nobody would find the agent is refused."""
    from remit.agents.profiles import find_place  # noqa: PLC0415 - only for this

    full = os.path.abspath(folder)
    if full != root and not full.startswith(f"{root.rstrip('/')}/"):
        raise UsageError(f"'{folder}' lies outside the workspace {root}", hint="name a folder inside it")
    place = full[len(root) :].strip("/")
    reader = find_place(f"{place}/x")
    if reader == "command":
        raise UsageError(f"'{folder}' is a folder of commands", hint="name one of agents")
    if profile not in ("standard", reader):
        raise UsageError(
            f"{profile} reads no agents from '{folder}'", hint="leave --folder out, or name one that it reads"
        )
    return place


def _find_specs(root: str) -> str:
    return find_spec_root(root, load_settings(root).tasks.folder)


def _find(paths: Sequence[str], root: str) -> list[AgentFile]:
    return find_agent_files(paths, root=root, exclude=load_settings(root).lint.exclude)


def _load(sources: Sequence[AgentFile]) -> Iterator[AgentDocument]:
    from remit.agents.document import make_unreadable, parse_document  # noqa: PLC0415 - only for this

    for source in sources:
        content = load_agent_file(source.file)
        if isinstance(content, str):
            yield make_unreadable(source.path, content)
        else:
            yield parse_document(source.path, content)


def _find_context(documents: Sequence[AgentDocument], root: str) -> ContextFacts:
    """The context index that most agents of this workspace name, where it is there."""
    from remit.agents.context import find_places  # noqa: PLC0415 - only for this
    from remit.agents.scaffold import ContextFacts  # noqa: PLC0415

    named = [document.get("context_loading", "index") for document in documents]
    places = [place for index in named if isinstance(index, str) for place in find_places(index, "")]
    there = [place for place in places if os.path.isfile(f"{root}/{place}")]
    return ContextFacts(max(sorted(set(there)), key=there.count)) if there else ContextFacts()


# --- compiling -------------------------------------------------------------------------------------------------------

State = Literal["written", "up to date", "out of date", "refused", "left over"]


class CompiledFile(NamedTuple):
    """What became of one source, or of a compiled file that has none any more."""

    source: AgentFile
    compiled: Compiled
    file: str
    """The compiled file, wherever the root is."""
    state: State


def compile_agents(paths: Sequence[str], *, to: str, write: bool) -> list[CompiledFile]:
    """Write every standard agent as a harness wants it; without `write`, only see whether that was done.

    Nothing is written before it is known what becomes of every file.
    """
    from remit.agents.compile import check_target, compile_document  # noqa: PLC0415 - only for this

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
    _refuse_twins((source, compiled) for source, _, compiled in todo)
    run = {source.path: compiled.path for source, _, compiled in todo}
    done = [_judge(source, document, compiled, root, run, write=write) for source, document, compiled in todo]
    for each in done:
        if each.state == "written":
            write_text(each.file, each.compiled.text, make_folders=True)
    return [*done, *_find_left_over(others, root, run)]


def _refuse_twins(todo: Iterable[tuple[AgentFile, Compiled]]) -> None:
    """Two sources for one file: the second would silently take the place of the first."""
    first: dict[str, AgentFile] = {}
    for source, compiled in todo:
        other = source if compiled.refused else first.setdefault(compiled.path.casefold(), source)
        if other is not source:
            raise UsageError(f"{other.path} and {source.path} would both become {compiled.path}",
                             hint="give one of the agents another name")  # fmt: skip


def _judge(
    source: AgentFile, document: AgentDocument, compiled: Compiled, root: str, run: Mapping[str, str], *, write: bool
) -> CompiledFile:
    from remit.agents.compile import is_current, outdated, refused  # noqa: PLC0415 - only for this

    file = f"{root}/{compiled.path}"
    if compiled.refused:
        return CompiledFile(source, compiled, file, "refused")
    there = load_agent_file(file) if os.path.lexists(file) else None
    obstacle = None if there is None else _find_obstacle(there, source, root, run)
    if obstacle is not None:
        finding = refused(document, "", f"{compiled.path} {obstacle}", "Move it away, or give the agent another name.")
        return CompiledFile(source, compiled._replace(text="", findings=(finding,)), file, "refused")
    if is_current(compiled, _decode(there)):
        return CompiledFile(source, compiled, file, "up to date")
    if write:
        return CompiledFile(source, compiled, file, "written")
    finding = outdated(document, compiled.path, missing=there is None)
    return CompiledFile(source, compiled._replace(findings=(finding, *compiled.findings)), file, "out of date")


def _find_obstacle(there: bytes | str, source: AgentFile, root: str, run: Mapping[str, str]) -> str | None:
    """Why a file must not be written over: somebody wrote it by hand, or another source gives it."""
    from remit.agents.compile import find_origin  # noqa: PLC0415 - only for this

    if isinstance(there, str):
        return f"is in the way: {there}"
    origin = find_origin(there.decode("utf-8", "replace"))
    if origin is None:
        return "is there already, and was not made by `remit agent build`"
    if origin not in (source.path, *run) and os.path.lexists(os.path.join(root, origin)):
        return f"is there already, compiled from {origin}"
    return None


def _find_left_over(
    others: Iterable[tuple[AgentFile, AgentDocument]], root: str, run: Mapping[str, str]
) -> Iterator[CompiledFile]:
    """The compiled files that no source gives any more: the harness still loads them."""
    from remit.agents.compile import Compiled, find_origin, left_over  # noqa: PLC0415 - only for this

    written = set(run.values())
    for source, document in others:
        origin = find_origin(document.text)
        if origin is None or source.path in written:
            continue
        if origin in run or not os.path.lexists(os.path.join(root, origin)):
            gone = Compiled(source.path, "", (left_over(document, origin),))
            yield CompiledFile(source, gone, source.file, "left over")


def _decode(content: bytes | str | None) -> str | None:
    return content.decode("utf-8", "surrogateescape") if isinstance(content, bytes) else None


# --- migrating -------------------------------------------------------------------------------------------------------


class MigratedFile(NamedTuple):
    """What became of one file on its way to the standard."""

    source: AgentFile
    before: str
    migration: AgentMigration
    passed_over: str = ""
    """Why it was left as it is, where it was."""


def migrate_agents(paths: Sequence[str], *, kind: str | None, write: bool) -> list[MigratedFile]:
    """Bring agent files to the standard, as far as a program can; each migration says what is left for a person."""
    from remit.agents.migrate import check_kind  # noqa: PLC0415 - only for this

    check_kind(kind)
    root = find_root()
    sources = _find(paths, root)
    done = [_migrate(*each, root, kind) for each in zip(sources, _load(sources), strict=True)]
    for each in done if write else ():
        if each.migration.text != each.before:
            if _decode(load_agent_file(each.source.file)) != each.before:
                raise InputError(f"'{each.source.file}' was changed meanwhile", hint="run it again")
            write_text(each.source.file, each.migration.text)
    return done


def _migrate(source: AgentFile, document: AgentDocument, root: str, kind: str | None) -> MigratedFile:
    from remit.agents.migrate import AgentMigration, ManualStep, migrate  # noqa: PLC0415 - only for this

    same = AgentMigration(document.text, (), ())
    reason = _find_other_maker(source, document, root)
    if reason:
        return MigratedFile(source, document.text, same, reason)
    if document.unreadable is not None:
        rest = ManualStep(
            f"the file can't be migrated: {document.unreadable}", "Make it a text file in UTF-8 first.", None
        )
        return MigratedFile(source, document.text, same._replace(left=(rest,)))
    return MigratedFile(source, document.text, migrate(document, kind=kind, spec_root=_find_specs(root)))


def _find_other_maker(source: AgentFile, document: AgentDocument, root: str) -> str:
    """Why a file is none that could follow the standard; empty where it could."""
    from remit.agents.compile import find_origin  # noqa: PLC0415 - only for this

    if document.profile == "command":
        return "a command, not an agent"
    origin = find_origin(document.text)
    if origin is not None:
        return f"compiled from {origin}"
    if document.profile == "codex":
        return "an agent of Codex, which is TOML"
    outside = os.path.islink(source.file) and not is_inside(source.file, root)
    return "a link that leads out of the workspace" if outside else ""
