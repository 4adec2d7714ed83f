"""Checks of files that users and agents write: settings that run programs, agents, tasks, manifest, error log."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from remit.maintenance.doctor import HealthCheck

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from remit.agent_files.discovery import AgentFile
    from remit.maintenance.doctor import DoctorContext

_MANIFEST_BYTES = 32 * 1024 * 1024
_MAX_FOLDERS = 3


def _check_trust(context: DoctorContext) -> Iterator[HealthCheck]:
    """Report whether the user has trusted the programs that the settings run."""
    from remit.errors import ConfigError
    from remit.runs.workspace_trust import check_trust, get_executing

    executing = get_executing(context.settings, root=context.root)
    try:
        check_trust(context.root, context.settings)
    except ConfigError as error:
        yield HealthCheck("trust", "warning", error.message, error.hint)
        return
    message = "you have trusted the programs of the settings" if executing.commands else "no setting runs a program"
    yield HealthCheck("trust", "ok", message)


def _check_agents(context: DoctorContext) -> Iterator[HealthCheck]:
    """Report how many agent files there are, folders that can't be read, and agents that a harness half understands."""
    from remit.agent_files.discovery import search_agent_files

    found, unread, plain = search_agent_files((), root=context.root, exclude=context.settings.lint.exclude)
    folders = sorted({each.path.rpartition("/")[0] or "." for each in found})
    if plain and not found:
        yield HealthCheck("agents", "ok", f"none: '{plain[0]}' has no frontmatter, so it isn't one; see remit lint")
    elif not found:
        yield HealthCheck("agents", "ok", "none yet; remit agent new creates one")
    else:
        more = f" and {len(folders) - _MAX_FOLDERS} more" if len(folders) > _MAX_FOLDERS else ""
        yield HealthCheck("agents", "ok", f"{len(found)} in {', '.join(folders[:_MAX_FOLDERS])}{more}")
    for folder in unread:
        hint = "make it readable, or name it in lint.exclude of remit.toml"
        yield HealthCheck("agents", "warning", f"'{folder}' can't be read, so its agents are missing", hint)
    yield from _check_standard_agents(found)


def _check_standard_agents(found: Sequence[AgentFile]) -> Iterator[HealthCheck]:
    """Yield a row for each harness that reads agents of the standard, whose keys it doesn't know."""
    from remit.agent_files.discovery import load_agent_file
    from remit.agents.document import parse_document
    from remit.agents.scaffold import find_reader

    tools: dict[str, list[object]] = {"opencode": [], "claude": []}
    for source in found:
        reader = find_reader(source.path.rpartition("/")[0])
        content = load_agent_file(source.file) if reader in tools else ""
        document = parse_document(source.path, content) if isinstance(content, bytes) else None
        if reader is not None and document is not None and document.profile == "standard":
            tools[reader].append(document.get("tools"))
    if tools["opencode"]:
        message = (
            "for opencode, which ignores the keys it doesn't know and sends them to the model provider; to avoid that, "
            "keep the files in agents/ and run remit agent build --to opencode"
        )
        yield HealthCheck("agents", "ok", f"{_count_agents(tools['opencode'])} {message}")
    tables = [value for value in tools["claude"] if isinstance(value, dict)]
    if tables:
        message = "for Claude Code with a table of tools, from which Claude Code reads no tools"
        hint = "keep the files in agents/, and run: remit agent build --to claude"
        yield HealthCheck("agents", "warning", f"{_count_agents(tables)} {message}", hint)
    elif tools["claude"]:
        message = "for Claude Code, which ignores the keys it doesn't know"
        yield HealthCheck("agents", "ok", f"{_count_agents(tools['claude'])} {message}")


def _count_agents(found: Sequence[object]) -> str:
    return f"{len(found)} {'agent' if len(found) == 1 else 'agents'} of the standard"


def _check_formats(context: DoctorContext) -> Iterator[HealthCheck]:
    """Report the format of each agent, and where it is declared (D3)."""
    from remit.runs.agent_lookup import list_agents
    from remit.runs.declared_format import list_formats

    agents = list_agents(context.root, exclude=context.settings.lint.exclude)
    for name, declared in list_formats(agents, context.settings, root=context.root).items():
        format = declared.format or "any, instructed as standard"
        yield HealthCheck("format", "ok", f"{name}: {format} ({declared.why})")


def _check_tasks(context: DoctorContext) -> Iterator[HealthCheck]:
    """Report whether state.json and TODO.md agree."""
    from remit.runs.tasks.workspace_tasks import Tasks, check_sync

    tasks = Tasks(context.root)
    try:
        checked = check_sync(tasks)
    finally:
        tasks.home.close()  # in this thread: SQLite doesn't let another thread close it
    if checked is None:
        yield HealthCheck("tasks", "ok", "none yet; remit task new creates the first")
    elif checked.differences:
        differences = f"{checked.differences} {'difference' if checked.differences == 1 else 'differences'}"
        hint = "list them with remit task sync --check, fix them with remit task sync --repair"
        yield HealthCheck("tasks", "problem", f"state.json and TODO.md do not agree: {differences}", hint)
    else:
        yield HealthCheck("tasks", "ok", f"{checked.tasks} in {checked.folder}, state.json and TODO.md agree")


def _check_manifest(context: DoctorContext) -> Iterator[HealthCheck]:
    """Report invalid lines and duplicate ids of the manifest, of a large one only in its first part."""
    from remit.ledger.home import Home
    from remit.manifest.counts import count_quickly
    from remit.manifest.manifest_file import place_manifest
    from remit.storage.settings import check_open

    path = place_manifest(context.root, context.settings)
    check_open(f"{context.root}/{path}")
    if not os.path.lexists(f"{context.root}/{path}"):
        add = "remit findings add --title TEXT --finding TEXT --write-file"
        yield HealthCheck("manifest", "ok", f"none yet; create it with: {add}")
        return
    home = Home(context.root)
    try:
        counts = count_quickly(home, f"{context.root}/{path}", max_bytes=_MANIFEST_BYTES)
    finally:
        home.close()
    part = "" if counts.is_whole else f" in the first {_MANIFEST_BYTES // 1024 // 1024} MB, which were checked"
    if counts.bad_lines:
        lines = "1 line isn't an entry" if counts.bad_lines == 1 else f"{counts.bad_lines:,} lines aren't entries"
        yield HealthCheck("manifest", "problem", f"{lines}{part}", "list them with: remit findings validate")
    if counts.doubled_ids:
        ids = "1 id is" if counts.doubled_ids == 1 else f"{counts.doubled_ids:,} ids are"
        message = f"{ids} on several lines, so only the first line is found by its id{part}"
        hint = "list them with: remit findings validate, and give each entry a different id"
        yield HealthCheck("manifest", "problem", message, hint)
    if not (counts.bad_lines or counts.doubled_ids):
        entries = f"{counts.entries:,} {'entry' if counts.entries == 1 else 'entries'}"
        yield HealthCheck("manifest", "ok", f"{entries} in {path}{part}")


def _check_errors(context: DoctorContext) -> Iterator[HealthCheck]:
    """Report a corrupt error log, and open errors."""
    from remit.errorlog.workspace_errors import load_errors

    del context
    found = load_errors(only_open=True)
    if found.diagnostics:
        hint = "run remit errors list; the next recorded error repairs the file and keeps the original"
        yield HealthCheck("errors", "problem", found.diagnostics[0].message, hint)
    if found.records:
        causes = f"{len(found.groups)} {'cause' if len(found.groups) == 1 else 'causes'}"
        message = f"{len(found.records)} open, with {causes}"
        yield HealthCheck("errors", "warning", message, "list them with: remit errors list")
    elif not found.diagnostics:
        yield HealthCheck("errors", "ok", "none open")


CHECKS = (
    ("trust", _check_trust),
    ("agents", _check_agents),
    ("format", _check_formats),
    ("tasks", _check_tasks),
    ("manifest", _check_manifest),
    ("errors", _check_errors),
)
