"""The findings of a workspace: find its manifest, add to it, search and validate it."""

from __future__ import annotations

import os
from stat import S_ISREG
from typing import TYPE_CHECKING, Any

from remit.errors import InputError, RemitError, UsageError
from remit.light_namedtuple import NamedTuple
from remit.manifest.manifest_file import find_manifest, place_manifest
from remit.model import ArtifactFacts
from remit.spelling import find_similar
from remit.storage.settings import find_root, find_workspace, is_inside, load_settings

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from remit.ledger.home import Home
    from remit.manifest.append import AppendResult
    from remit.manifest.counts import BadLine, ManifestStatistics
    from remit.manifest.entries import ManifestEntry
    from remit.manifest.findings_file import FindingsFile as FindingsPage
    from remit.manifest.index import ManifestIndex, RebuiltIndex
    from remit.manifest.search import EntryPage, EntryQuery
    from remit.model import Diagnostic
    from remit.returns.manifest_lines import LineDiagnostic
    from remit.storage.baselines import BaselineResult

_MAX_FINDINGS_BYTES = 1024 * 1024
_PAGES = ("docs", "doc", "research", "findings", "reports", "notes")
"""Folders for pages that users read."""
_STEERING = frozenset({
    "agents", "agent", "subagents", "commands", "command", "skills", "agents.md", "claude.md", "gemini.md", "todo.md",
    "skill.md",
})  # fmt: skip
"""Names with a meaning for harnesses or Remit."""


def validate_manifest(file: str) -> Iterator[LineDiagnostic]:
    """Yield the diagnostics on a manifest, line by line, including missing findings files."""
    from remit.returns.manifest_lines import MAX_LINE_BYTES, check_lines  # noqa: PLC0415 - only for this
    from remit.storage.files import load_lines  # noqa: PLC0415

    folder = os.path.dirname(os.path.abspath(file))
    root = find_root(folder)
    words = load_settings(root).returns.status_words
    return check_lines(load_lines(file, max_bytes=MAX_LINE_BYTES), inspect=_make_inspector(folder, root), words=words)


class CheckedFindingsFile(NamedTuple):
    """A findings file with the diagnostics on its form."""

    file: str
    text: str
    diagnostics: tuple[Diagnostic, ...]


def validate_findings_files(manifest: str) -> Iterator[CheckedFindingsFile]:
    """Yield each existing findings file of a manifest once, with the diagnostics on its form.

    The diagnostics on a line of the manifest report a missing file.
    """
    from jiter import from_json  # noqa: PLC0415 - only for this

    from remit.manifest.findings_file import check_findings_file  # noqa: PLC0415
    from remit.returns.formats.manifest import read_aliases  # noqa: PLC0415
    from remit.returns.manifest_lines import MAX_LINE_BYTES  # noqa: PLC0415
    from remit.storage.files import load_lines  # noqa: PLC0415

    folder = os.path.dirname(os.path.abspath(manifest))
    find = _make_find(folder, find_root(folder))
    seen: set[int] = set()  # a million paths would take a hundred megabytes
    for line, _ in load_lines(manifest, max_bytes=MAX_LINE_BYTES):
        try:
            entry = from_json(line) if len(line) <= MAX_LINE_BYTES else None
        except ValueError:
            continue
        path = read_aliases(entry)[0].get("file") if type(entry) is dict else None
        if not isinstance(path, str) or hash(path) in seen:
            continue
        seen.add(hash(path))
        file = find(path)
        text = _load_page(file) if file is not None else None
        if file is not None and text:
            yield CheckedFindingsFile(file, text, tuple(check_findings_file(text)))


class ManifestDiagnostic(NamedTuple):
    """A diagnostic on a manifest or a findings file, with the lines that it refers to."""

    finding: Diagnostic
    file: str
    text: str
    first_line: int


class ValidatedManifests:
    """The diagnostics on several manifests and their findings files, minus those of a baseline."""

    def __init__(self) -> None:
        self.rows: dict[str, list[ManifestDiagnostic]] = {}
        """By file, including files without diagnostics."""

    def add(self, manifest: str, *, with_pages: bool) -> None:
        """Validate a manifest and, with `with_pages`, its findings files."""
        rows = [
            ManifestDiagnostic(told.diagnostic, manifest, told.text, told.first_line)
            for told in validate_manifest(manifest)
        ]
        self.rows[manifest] = rows
        for page in validate_findings_files(manifest) if with_pages else ():
            self.rows[page.file] = [
                ManifestDiagnostic(finding, page.file, page.text, 1) for finding in page.diagnostics
            ]

    def subtract(self, baseline: str) -> BaselineResult:
        """Remove the diagnostics that are in the baseline; create the baseline if there is none."""
        from remit.storage.baselines import subtract_baseline  # noqa: PLC0415 - only for this

        root = find_root()
        files = {os.path.relpath(file, root): file for file in self.rows}
        found = {path: tuple(row.finding for row in self.rows[file]) for path, file in files.items()}
        weighed = subtract_baseline(baseline, found, lambda path: _list_lines(self.rows[files[path]]), root=root)
        for path, file in files.items():
            new = {id(finding) for finding in weighed.diagnostics[path]}
            self.rows[file] = [row for row in self.rows[file] if id(row.finding) in new]
        return weighed


def _list_lines(rows: Sequence[ManifestDiagnostic]) -> list[str]:
    """Return the lines of a file that diagnostics refer to, at their places; the other lines are empty."""
    lines: list[str] = []
    for row in rows:
        part = row.text.split("\n")
        lines += [""] * (row.first_line - 1 + len(part) - len(lines))
        lines[row.first_line - 1 : row.first_line - 1 + len(part)] = part
    return lines


def _load_page(file: str) -> str | None:
    """Load a findings file; None if it can't be read."""
    from remit.storage.files import load_bytes  # noqa: PLC0415 - only for this

    try:
        return load_bytes(file, max_bytes=_MAX_FINDINGS_BYTES).decode("utf-8", "replace")
    except InputError:
        return None


class ShownEntry(NamedTuple):
    """An entry with its tasks, lines and findings file."""

    entry: ManifestEntry
    tasks: tuple[int, ...]
    """The tasks that link the entry."""
    lines: tuple[int, ...]
    """All lines with its id; several are an error."""
    file: str | None
    """The path of the findings file, if it exists."""
    is_pending: bool
    trouble: str = ""
    """Why the tasks couldn't be read."""


_NO_FILE = "RET089"


def _explain_excluded(finding: Diagnostic, file: str) -> Diagnostic:
    """Return a diagnostic reworded for an entry that was not added: the rule's own message refers to an added one."""
    if finding.code != _NO_FILE:
        return finding
    hint = "Give --write-file (over MCP write_file), and it is made; or write it first."
    return finding._replace(message=f"the findings file '{file}' doesn't exist or is empty", hint=hint)


class Manifest:
    """A manifest: the named one, else the workspace's own."""

    def __init__(self, file: str | None = None, *, may_begin: bool = False) -> None:
        """Open the manifest. `may_begin`: a missing manifest isn't an error, because it will be created."""
        from remit.ledger.home import Home  # noqa: PLC0415 - only with a manifest
        from remit.manifest.index import ManifestIndex  # noqa: PLC0415

        found, begun = file or find_manifest(), ""
        if found is None and may_begin:
            begun = find_workspace()
            found = f"{begun}/{place_manifest(begun, load_settings(begun))}"
        if found is None:
            raise InputError(
                "this workspace has no manifest", hint="remit findings add creates it with the first entry"
            )
        self.file = os.path.abspath(found)
        self.folder = os.path.dirname(self.file)
        self.root = begun or find_root(self.folder)  # the folder of the first entry may not exist yet
        if file is None and not is_inside(self.file, self.root):
            raise InputError(f"'{self.file}' leads out of the workspace", hint="name it with --manifest if it is meant")
        self.settings = load_settings(self.root)
        self.home: Home = Home(begun or find_workspace(self.folder))
        self.index: ManifestIndex = ManifestIndex(self.home, self.file)

    # Adding

    def add(
        self, given: Mapping[str, Any], *, day: str, slug: str | None = None, page: FindingsPage | None = None
    ) -> AppendResult:
        """Add an entry if no rule reports an error; with `page`, also write its findings file if it's missing."""
        from remit.manifest.append import ManifestAppender  # noqa: PLC0415 - only for this

        output = self.settings.manifest.output_dir
        beside = output is None or os.path.realpath(f"{self.root}/{output}") == os.path.realpath(self.folder)
        inspect, words = _make_inspector(self.folder, self.root), self.settings.returns.status_words
        page_folder = "" if beside else f"{output}/"
        appender = ManifestAppender(self.home, self.file, inspect=inspect, words=words, folder=page_folder)
        added = appender.add(
            given,
            day=day,
            slug=slug,
            prepare=lambda fields: self._prepare_file(fields["file"], page),
            makes_file=page is not None,
        )
        if added.accepted:
            return added
        return added._replace(
            diagnostics=tuple(_explain_excluded(each, added.fields["file"]) for each in added.diagnostics)
        )

    def _prepare_file(self, path: str, page: FindingsPage | None) -> tuple[Diagnostic, ...]:
        """Check the findings file of an entry before the entry is written; write the file if `page` is given.

        An existing file with another text belongs to something else. One with the same text comes from an interrupted
        earlier call.
        """
        from remit.manifest.findings_file import check_findings_file, render_findings_file  # noqa: PLC0415
        from remit.storage.files import load_bytes  # noqa: PLC0415 - only for this

        if page is not None:
            self._check_place(path)
        file = self.find_findings_file(path)
        text = "" if page is None else render_findings_file(page)
        if file is not None:
            there = load_bytes(file, max_bytes=_MAX_FINDINGS_BYTES).decode("utf-8", "replace")
            if page is not None and there != text:
                hint = (
                    "leave --write-file out if it belongs to this entry, or choose another name with --slug or --file"
                )
                raise InputError(f"'{path}' already exists with another text", hint=hint)
            text = there
        elif page is None:
            return ()
        findings = check_findings_file(text)
        if file is None and not any(finding.severity == "error" for finding in findings):
            self._write_file(f"{self.root if '/' in path else self.folder}/{path}", text)
        return findings

    def _check_place(self, path: str) -> None:
        """Refuse a findings file in places of settings and agent files of harnesses, git and Remit."""
        from remit.policy import PROTECTED, PathContext, ToolCall, judge  # noqa: PLC0415 - only for this

        output = (self.settings.manifest.output_dir or "").strip("/")
        homes = [self.folder[len(self.root) + 1 :], output]
        home = next((f"{each}/" for each in homes if each and path.startswith(f"{each}/")), "")
        *folders, name = path.removeprefix(home).split("/")
        is_placed = bool(home) or not folders or folders[0].lower() in _PAGES
        steers = any(each.lower() in _STEERING or each.startswith((".", "~")) for each in (*folders, name))
        ground = PathContext(self.root, self.root, os.path.expanduser("~"), os.path.realpath, PROTECTED)
        is_allowed = judge(ToolCall("write", (path,)), [], ground).answer == "allow"
        if not is_placed or steers or not is_allowed or not name.endswith(".md"):
            hint = f"name a page of Markdown below {home or homes[0] or 'docs'}/ or docs/, or leave file out"
            raise UsageError(f"'{path}' isn't a valid path for a findings file", hint=hint)

    def _write_file(self, target: str, text: str) -> None:
        """Write a findings file in the workspace, or beside a named manifest outside of it."""
        from remit.storage.files import storage_error, write_text  # noqa: PLC0415 - only for this
        from remit.storage.safe_path import find_inside, replace_inside  # noqa: PLC0415

        is_own = find_inside(self.root, target) is not None
        is_beside = not is_inside(self.folder, self.root) and is_inside(target, self.folder)
        if not (is_own or is_beside) or os.path.lexists(target):
            raise InputError(f"'{target}' isn't a valid path for a findings file", hint="choose another with --file")
        if not is_own:
            write_text(target, text, make_folders=True)
            return
        try:
            replace_inside(self.root, target, text.encode("utf-8", "surrogateescape"), before=None)
        except OSError as error:
            raise storage_error(target, error) from error

    def find_findings_file(self, path: str) -> str | None:
        """Return the path of an entry's findings file; None if it isn't an existing file inside the workspace."""
        return _make_find(self.folder, self.root)(path)

    # Reading

    def get(self, entry_id: str) -> ManifestEntry:
        """Return the entry with an id; raise if there is none."""
        from remit.manifest.search import find_entry, list_ids  # noqa: PLC0415 - only for this

        entry = find_entry(self.index, entry_id)
        if entry is None:
            meant = find_similar(entry_id, list_ids(self.index, entry_id[:4]))
            hint = f"did you mean '{meant}'?" if meant else "remit findings list shows all entries"
            raise UsageError(f"there is no entry '{entry_id}'", hint=hint)
        return entry

    def show(self, entry_id: str) -> ShownEntry:
        """Return an entry with its tasks, lines and findings file."""
        from remit.manifest.counts import find_duplicates  # noqa: PLC0415 - only for this

        return self._show(self.get(entry_id), find_duplicates(self.index, entry_id))

    def show_line(self, line: int) -> ShownEntry:
        """Return the entry on a line, for entries without an id or with a duplicate one."""
        from remit.manifest.search import find_line  # noqa: PLC0415 - only for this

        entry = find_line(self.index, line)
        if entry is None:
            raise UsageError(f"there is no entry on line {line}", hint="remit findings validate checks every line")
        return self._show(entry, (line,))

    def _show(self, entry: ManifestEntry, lines: tuple[int, ...]) -> ShownEntry:
        from remit.manifest.entries import is_pending  # noqa: PLC0415 - with an entry

        tasks, trouble = self._find_linked_tasks(entry.id)
        file = self.find_findings_file(entry.get_text("file"))
        return ShownEntry(entry, tasks, lines, file, is_pending(entry.fields), trouble)

    def _find_linked_tasks(self, entry_id: str) -> tuple[tuple[int, ...], str]:
        """Return the tasks that link the entry, or the reason why they can't be read."""
        from remit.runs.tasks.workspace_tasks import Tasks  # noqa: PLC0415 - only for this

        try:
            tasks = Tasks(self.root)
            found = tasks.store.list_tasks() if tasks.is_begun and entry_id else []
        except RemitError as error:
            return (), error.message
        return tuple(task.number for task in found if entry_id in task.links), ""

    def find(self, query: EntryQuery, *, limit: int, page: int) -> EntryPage:
        """Return a page of matching entries; the first page is 1."""
        from remit.manifest.search import find_entries  # noqa: PLC0415 - only for this

        return find_entries(self.index, query, limit=limit, skip=(page - 1) * limit)

    def walk(self, query: EntryQuery) -> Iterator[ManifestEntry]:
        """Yield all matching entries."""
        from remit.manifest.search import walk_entries  # noqa: PLC0415 - only for this

        return walk_entries(self.index, query)

    def find_bad_lines(self, *, limit: int) -> tuple[BadLine, ...]:
        """Return the first lines that aren't entries."""
        from remit.manifest.counts import find_bad_lines  # noqa: PLC0415 - only for this

        return find_bad_lines(self.index, limit=limit)

    def count(self) -> ManifestStatistics:
        """Return statistics on the manifest."""
        from remit.manifest.counts import count_entries  # noqa: PLC0415 - only for this

        return count_entries(self.index)

    def rebuild(self) -> RebuiltIndex:
        """Rebuild the index."""
        return self.index.rebuild()

    def close(self) -> None:
        """Close the ledger."""
        self.home.close()


def make_query(*, words: tuple[str, ...] = (), pending: bool = False, **asked: Any) -> EntryQuery:  # noqa: ANN401 - its fields
    """Make a query. `asked`: topic, task, status, since, until, actionable; None matches all."""
    from remit.manifest.search import EntryQuery  # noqa: PLC0415 - only for this

    return EntryQuery(words, pending=pending, **asked)


def make_page(
    fields: Mapping[str, Any], *, summary: str, recommendations: Sequence[str], sources: Sequence[str]
) -> FindingsPage:
    """Make the findings file of an entry from its fields and a few additional texts."""
    from remit.manifest.entries import read_texts  # noqa: PLC0415 - only for this
    from remit.manifest.findings_file import FindingsFile  # noqa: PLC0415

    findings, tasks = (read_texts(fields.get(name)) for name in ("key_findings", "linked_tasks"))
    categories = {"Key findings": findings} if findings else {}
    return FindingsFile(str(fields.get("title") or ""), summary, categories, recommendations, sources, tasks)


def check_entry_is_there(entry_id: str) -> None:
    """Raise unless the workspace's manifest has an entry with this id."""
    Manifest().get(entry_id)


def find_entries_of_task(home: Home, number: int) -> tuple[str, ...]:
    """Return the ids of entries that link a task, newest first; none if there is no manifest."""
    from remit.manifest.index import ManifestIndex  # noqa: PLC0415 - only with a manifest
    from remit.manifest.search import find_entries_of_task  # noqa: PLC0415

    try:
        file = find_manifest()
    except InputError:  # a link out of the workspace; commands on the manifest report it
        file = None
    if file is None:
        return ()
    return tuple(entry.id for entry in find_entries_of_task(ManifestIndex(home, file), str(number)) if entry.id)


def load_entry(source: str) -> dict[str, Any]:
    """Load an entry from a file, or from standard input for "-"."""
    from jiter import from_json  # noqa: PLC0415 - only for this

    from remit.returns.manifest_lines import MAX_LINE_BYTES  # noqa: PLC0415
    from remit.runs.check_message import load_message  # noqa: PLC0415

    data = load_message(source)
    if len(data) > MAX_LINE_BYTES:
        raise InputError(
            f"the entry has more than {MAX_LINE_BYTES:,} bytes", hint="keep the content in a findings file"
        )
    try:
        entry = from_json(data, allow_inf_nan=False, catch_duplicate_keys=True)
    except ValueError as error:
        raise InputError(f"the entry isn't valid JSON: {error}", hint="give one object") from error
    if type(entry) is not dict:
        raise InputError("the entry isn't an object", hint="give one JSON object with the entry's fields")
    return entry


def _make_inspector(folder: str, root: str) -> Callable[[str], ArtifactFacts | None]:
    from pathlib import Path  # noqa: PLC0415 - 8 ms, only with a manifest

    from remit.evidence.artifacts import inspect_artifacts  # noqa: PLC0415

    bases = (Path(folder), Path(root))

    def inspect(path: str) -> ArtifactFacts | None:
        """Inspect a findings file on disk. Most are plain files beside the manifest, which one `lstat` identifies."""
        if "/" not in path:
            try:
                found = os.lstat(f"{folder}/{path}")
            except (OSError, ValueError):  # a NUL, half a character
                found = None
            if found is not None and S_ISREG(found.st_mode):
                return ArtifactFacts(path, "file" if found.st_size else "empty", found.st_size)
        return inspect_artifacts((path,), root=bases[1], bases=bases)[path]

    return inspect


def _make_find(folder: str, root: str) -> Callable[[str], str | None]:
    inspect = _make_inspector(folder, root)

    def find(path: str) -> str | None:
        """Return the path of an entry's findings file; None if it isn't an existing file inside the workspace."""
        facts = inspect(path) if path else None
        if facts is None or facts.state not in ("file", "empty"):
            return None
        return next((file for base in (folder, root) if os.path.isfile(file := f"{base}/{path}")), None)

    return find


def write_export(file: str, texts: Iterable[str]) -> None:
    """Write an export to a file atomically, with only a part of it in memory at a time."""
    from remit.storage.files import write_texts  # noqa: PLC0415 - only for this

    write_texts(file, (f"{text}\n" for text in texts))
