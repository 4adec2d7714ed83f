"""What people and agents wrote into the workspace: settings that run something, agents, tasks, manifest, errors."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from remit.maintenance.doctor.report import HealthCheck

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from remit.agent_files.discovery import AgentFile
    from remit.maintenance.doctor.report import DoctorContext

_MANIFEST_BYTES = 32 * 1024 * 1024


def _check_trust(patient: DoctorContext) -> Iterator[HealthCheck]:
    from remit.errors import ConfigError
    from remit.runs.workspace_trust import check_trust, get_executing

    executing = get_executing(patient.settings, root=patient.root)
    try:
        check_trust(patient.root, patient.settings)
    except ConfigError as error:
        yield HealthCheck("trust", "warning", error.message, error.hint)
        return
    told = "you have trusted the programs of the settings" if executing.commands else "no setting runs a program"
    yield HealthCheck("trust", "ok", told)


def _check_agents(patient: DoctorContext) -> Iterator[HealthCheck]:
    from remit.agent_files.discovery import search_agent_files

    found, unread, plain = search_agent_files((), root=patient.root, exclude=patient.settings.lint.exclude)
    folders = sorted({each.path.rpartition("/")[0] or "." for each in found})
    if plain and not found:
        yield HealthCheck("agents", "ok", f"none: '{plain[0]}' has no frontmatter, so it is not one; see remit lint")
    elif not found:
        yield HealthCheck("agents", "ok", "none yet; remit agent new makes one")
    else:
        more = f" and {len(folders) - 3} more" if len(folders) > 3 else ""  # noqa: PLR2004 - as many as fit on a line
        yield HealthCheck("agents", "ok", f"{len(found)} in {', '.join(folders[:3])}{more}")
    for folder in unread:
        hint = "make it readable, or name it in lint.exclude of remit.toml"
        yield HealthCheck("agents", "warning", f"'{folder}' can't be read, and agents in it are not seen", hint)
    yield from _check_standard_agents(found)


def _check_standard_agents(found: Sequence[AgentFile]) -> Iterator[HealthCheck]:
    """One row for each harness that reads agents of the standard, whose keys it doesn't know."""
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
        told = (
            "for opencode, which ignores the keys it doesn't know and sends them to the model provider; to avoid that, "
            "keep the files in agents/ and run remit agent build --to opencode"
        )
        yield HealthCheck("agents", "ok", f"{_count_agents(tools['opencode'])} {told}")
    tables = [value for value in tools["claude"] if isinstance(value, dict)]
    if tables:
        told = "for Claude Code with a table of tools, from which Claude Code reads no tools"
        hint = "keep the files in agents/, and run: remit agent build --to claude"
        yield HealthCheck("agents", "warning", f"{_count_agents(tables)} {told}", hint)
    elif tools["claude"]:
        told = "for Claude Code, which ignores the keys it doesn't know"
        yield HealthCheck("agents", "ok", f"{_count_agents(tools['claude'])} {told}")


def _count_agents(found: Sequence[object]) -> str:
    return f"{len(found)} {'agent' if len(found) == 1 else 'agents'} of the standard"


def _check_formats(patient: DoctorContext) -> Iterator[HealthCheck]:
    """The format of each agent, and what declares it (D3)."""
    from remit.runs.agent_lookup import list_agents
    from remit.runs.declared_format import list_formats

    agents = list_agents(patient.root, exclude=patient.settings.lint.exclude)
    for name, declared in list_formats(agents, patient.settings, root=patient.root).items():
        format = declared.format or "any, instructed as standard"
        yield HealthCheck("format", "ok", f"{name}: {format} ({declared.why})")


def _check_tasks(patient: DoctorContext) -> Iterator[HealthCheck]:
    from remit.runs.tasks.workspace_tasks import Tasks, check_sync

    tasks = Tasks(patient.root)
    try:
        checked = check_sync(tasks)
    finally:
        tasks.home.close()  # here: SQLite lets nobody close it in another thread
    if checked is None:
        yield HealthCheck("tasks", "ok", "none yet; remit task new makes the first")
        return
    if checked.differences:
        counted = f"{checked.differences} {'difference' if checked.differences == 1 else 'differences'}"
        told = f"state.json and TODO.md do not agree: {counted}"
        yield HealthCheck(
            "tasks", "problem", told, "see them with remit task sync --check, end them with remit task sync --repair"
        )
    else:
        yield HealthCheck("tasks", "ok", f"{checked.tasks} in {checked.folder}, state.json and TODO.md agree")


def _check_manifest(patient: DoctorContext) -> Iterator[HealthCheck]:
    from remit.ledger.home import Home
    from remit.manifest.counts import count_quickly
    from remit.manifest.places import place_manifest
    from remit.storage.settings import check_open

    path = place_manifest(patient.root, patient.settings)
    check_open(f"{patient.root}/{path}")
    if not os.path.lexists(f"{patient.root}/{path}"):
        yield HealthCheck(
            "manifest", "ok", "none yet; it begins with: remit findings add --title TEXT --finding TEXT --write-file"
        )
        return
    home = Home(patient.root)
    try:
        seen = count_quickly(home, f"{patient.root}/{path}", max_bytes=_MANIFEST_BYTES)
    finally:
        home.close()
    part = "" if seen.is_whole else f" in the first {_MANIFEST_BYTES // 1024 // 1024} MB, which is what was looked at"
    if seen.bad_lines:
        lines = "1 line is" if seen.bad_lines == 1 else f"{seen.bad_lines:,} lines are"
        yield HealthCheck("manifest", "problem", f"{lines} no entry{part}", "see them with: remit findings validate")
    if seen.doubled_ids:
        ids = "1 id is" if seen.doubled_ids == 1 else f"{seen.doubled_ids:,} ids are"
        hint = "see them with: remit findings validate, and give each entry an id of its own"
        yield HealthCheck(
            "manifest", "problem", f"{ids} on several lines, and only the first is found by it{part}", hint
        )
    if not (seen.bad_lines or seen.doubled_ids):
        yield HealthCheck(
            "manifest", "ok", f"{seen.entries:,} {'entry' if seen.entries == 1 else 'entries'} in {path}{part}"
        )


def _check_errors(patient: DoctorContext) -> Iterator[HealthCheck]:
    from remit.errorlog.errors_command import load_errors

    del patient
    found = load_errors(only_open=True)
    if found.findings:
        hint = "see it with remit errors list; the next error that is recorded puts it right, and keeps the original"
        yield HealthCheck("errors", "problem", found.findings[0].message, hint)
    if found.records:
        causes = f"{len(found.groups)} {'cause' if len(found.groups) == 1 else 'causes'}"
        yield HealthCheck(
            "errors", "warning", f"{len(found.records)} open, of {causes}", "see them with: remit errors list"
        )
    elif not found.findings:
        yield HealthCheck("errors", "ok", "none open")


LOOKS = (
    ("trust", _check_trust),
    ("agents", _check_agents),
    ("format", _check_formats),
    ("tasks", _check_tasks),
    ("manifest", _check_manifest),
    ("errors", _check_errors),
)
