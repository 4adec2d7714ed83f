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
"""Folders for pages that people read."""
_STEERING = frozenset({
    "agents", "agent", "subagents", "commands", "command", "skills", "agents.md", "claude.md", "gemini.md", "todo.md",
    "skill.md",
})  # fmt: skip
"""Names that harnesses and Remit take for more than a page."""


def validate_manifest(file: str) -> Iterator[LineDiagnostic]:
    """Everything there is to say about a manifest, line by line; its findings files are looked up on disk."""
    from remit.returns.manifest_lines import MAX_LINE_BYTES, check_lines  # noqa: PLC0415 - only for this
    from remit.storage.files import load_lines  # noqa: PLC0415

    folder = os.path.dirname(os.path.abspath(file))
    root = find_root(folder)
    words = load_settings(root).returns.status_words
    return check_lines(load_lines(file, max_bytes=MAX_LINE_BYTES), look=_make_look(folder, root), words=words)


class JudgedPage(NamedTuple):
    """A findings file, and the diagnostics on its form."""

    file: str
    text: str
    findings: tuple[Diagnostic, ...]


def validate_findings_files(manifest: str) -> Iterator[JudgedPage]:
    """Every findings file that a manifest names and that is there, each of them once, with what is wrong with its form.

    That one is not there, the rules say of the line that names it.
    """
    from jiter import from_json  # noqa: PLC0415 - only for this

    from remit.manifest.findings_file import check_findings_file  # noqa: PLC0415
    from remit.returns.formats.manifest import read_aliases  # noqa: PLC0415
    from remit.returns.manifest_lines import MAX_LINE_BYTES  # noqa: PLC0415
    from remit.storage.files import load_lines  # noqa: PLC0415

    folder = os.path.dirname(os.path.abspath(manifest))
    find = _make_find(folder, find_root(folder))
    seen: set[int] = set()  # a million paths would be a hundred megabytes
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
            yield JudgedPage(file, text, tuple(check_findings_file(text)))


class Row(NamedTuple):
    """A diagnostic on a manifest or on a findings file, and the lines that it is about."""

    finding: Diagnostic
    file: str
    text: str
    first_line: int


class Validated:
    """The diagnostics of several manifests and their findings files, which a baseline can be subtracted from."""

    def __init__(self) -> None:
        self.rows: dict[str, list[Row]] = {}
        """By file; each file that was read is there, also without diagnostics."""

    def add(self, manifest: str, *, with_pages: bool) -> None:
        """Read a manifest, and with it the findings files that it names."""
        rows = [Row(told.finding, manifest, told.text, told.first_line) for told in validate_manifest(manifest)]
        self.rows[manifest] = rows
        for page in validate_findings_files(manifest) if with_pages else ():
            self.rows[page.file] = [Row(finding, page.file, page.text, 1) for finding in page.findings]

    def subtract(self, baseline: str) -> BaselineResult:
        """Leave out the diagnostics that the baseline has; it is created if there is none."""
        from remit.storage.baselines import subtract_baseline  # noqa: PLC0415 - only for this

        root = find_root()
        files = {os.path.relpath(file, root): file for file in self.rows}
        found = {path: tuple(row.finding for row in self.rows[file]) for path, file in files.items()}
        weighed = subtract_baseline(baseline, found, lambda path: _list_lines(self.rows[files[path]]), root=root)
        for path, file in files.items():
            new = {id(finding) for finding in weighed.diagnostics[path]}
            self.rows[file] = [row for row in self.rows[file] if id(row.finding) in new]
        return weighed


def _list_lines(rows: Sequence[Row]) -> list[str]:
    """The lines of a file that diagnostics are about, each at its place; those in between are empty."""
    lines: list[str] = []
    for row in rows:
        part = row.text.split("\n")
        lines += [""] * (row.first_line - 1 + len(part) - len(lines))
        lines[row.first_line - 1 : row.first_line - 1 + len(part)] = part
    return lines


def _load_page(file: str) -> str | None:
    """A findings file, as far as it is looked at; None where it can't be read."""
    from remit.storage.files import load_bytes  # noqa: PLC0415 - only for this

    try:
        return load_bytes(file, max_bytes=_MAX_FINDINGS_BYTES).decode("utf-8", "replace")
    except InputError:
        return None


class Shown(NamedTuple):
    """An entry with what belongs to it."""

    entry: ManifestEntry
    tasks: tuple[int, ...]
    """The tasks that are linked to it from their side."""
    lines: tuple[int, ...]
    """All lines with its id; more than one is one too many."""
    file: str | None
    """The findings file, where it is there."""
    is_pending: bool
    trouble: str = ""
    """Why the tasks could not be asked."""


_NO_FILE = "RET089"


def _explain_excluded(finding: Diagnostic, file: str) -> Diagnostic:
    """A finding about an entry that was not added: the rule speaks of one that the manifest has."""
    if finding.code != _NO_FILE:
        return finding
    hint = "Give --write-file (over MCP write_file), and it is made; or write it first."
    return finding._replace(message=f"the findings file '{file}' doesn't exist or is empty", hint=hint)


class Manifest:
    """One manifest, as a workspace keeps it: the one that is named, else the workspace's own."""

    def __init__(self, file: str | None = None, *, may_begin: bool = False) -> None:
        """`may_begin`: where there is none, it will be made; otherwise that is an error."""
        from remit.ledger.home import Home  # noqa: PLC0415 - only with a manifest
        from remit.manifest.index import ManifestIndex  # noqa: PLC0415

        found, begun = file or find_manifest(), ""
        if found is None and may_begin:
            begun = find_workspace()
            found = f"{begun}/{place_manifest(begun, load_settings(begun))}"
        if found is None:
            raise InputError("this workspace has no manifest", hint="remit findings add makes it with the first entry")
        self.file = os.path.abspath(found)
        self.folder = os.path.dirname(self.file)
        self.root = begun or find_root(self.folder)  # the folder of the first entry need not be there yet
        if file is None and not is_inside(self.file, self.root):
            raise InputError(f"'{self.file}' leads out of the workspace", hint="name it with --manifest if it is meant")
        self.settings = load_settings(self.root)
        self.home: Home = Home(begun or find_workspace(self.folder))
        self.index: ManifestIndex = ManifestIndex(self.home, self.file)

    # Adding

    def add(
        self, given: Mapping[str, Any], *, day: str, slug: str | None = None, page: FindingsPage | None = None
    ) -> AppendResult:
        """Add an entry that no rule has an error against; with `page` its findings file, too, where there is none."""
        from remit.manifest.append import ManifestAppender  # noqa: PLC0415 - only for this

        output = self.settings.manifest.output_dir
        beside = output is None or os.path.realpath(f"{self.root}/{output}") == os.path.realpath(self.folder)
        look, words = _make_look(self.folder, self.root), self.settings.returns.status_words
        appender = ManifestAppender(self.home, self.file, look=look, words=words, folder="" if beside else f"{output}/")
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
        """Look at the findings file of an entry that is about to be written; make it where it shall be made.

        One that is there already was made for something else, unless it says the same: then it was made by an attempt
        that was cut short.
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
                hint = "leave --write-file out if it belongs to this entry, else name another with --slug or --file"
                raise InputError(f"'{path}' is there already, and says something else", hint=hint)
            text = there
        elif page is None:
            return ()
        findings = check_findings_file(text)
        if file is None and not any(finding.severity == "error" for finding in findings):
            self._write_file(f"{self.root if '/' in path else self.folder}/{path}", text)
        return findings

    def _check_place(self, path: str) -> None:
        """Refuse to make a findings file where harnesses, git and Remit keep their settings and agents."""
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
            raise UsageError(f"'{path}' is no place for a findings file", hint=hint)

    def _write_file(self, target: str, text: str) -> None:
        """Make a findings file: in the workspace, or beside a manifest that was named and lies elsewhere."""
        from remit.storage.files import storage_error, write_text  # noqa: PLC0415 - only for this
        from remit.storage.safe_path import find_inside, replace_inside  # noqa: PLC0415

        is_own = find_inside(self.root, target) is not None
        is_beside = not is_inside(self.folder, self.root) and is_inside(target, self.folder)
        if not (is_own or is_beside) or os.path.lexists(target):
            raise InputError(f"'{target}' is no place for a findings file", hint="name another with --file")
        if not is_own:
            write_text(target, text, make_folders=True)
            return
        try:
            replace_inside(self.root, target, text.encode("utf-8", "surrogateescape"), before=None)
        except OSError as error:
            raise storage_error(target, error) from error

    def find_findings_file(self, path: str) -> str | None:
        """Where the file is that an entry names; None where it is not there, or not a file inside the workspace."""
        return _make_find(self.folder, self.root)(path)

    # Asking

    def get(self, entry_id: str) -> ManifestEntry:
        """The entry that has an id."""
        from remit.manifest.search import find_entry, list_ids  # noqa: PLC0415 - only for this

        entry = find_entry(self.index, entry_id)
        if entry is None:
            meant = find_similar(entry_id, list_ids(self.index, entry_id[:4]))
            hint = f"did you mean '{meant}'?" if meant else "remit findings list shows what there is"
            raise UsageError(f"there is no entry '{entry_id}'", hint=hint)
        return entry

    def show(self, entry_id: str) -> Shown:
        """An entry with all that belongs to it."""
        from remit.manifest.counts import find_duplicates  # noqa: PLC0415 - only for this

        return self._show(self.get(entry_id), find_duplicates(self.index, entry_id))

    def show_line(self, line: int) -> Shown:
        """The entry on a line: for those that have no id, or one that another has."""
        from remit.manifest.search import find_line  # noqa: PLC0415 - only for this

        entry = find_line(self.index, line)
        if entry is None:
            raise UsageError(f"there is no entry on line {line}", hint="remit findings validate tells of every line")
        return self._show(entry, (line,))

    def _show(self, entry: ManifestEntry, lines: tuple[int, ...]) -> Shown:
        from remit.manifest.entries import is_pending  # noqa: PLC0415 - with an entry

        tasks, trouble = self._find_linked_tasks(entry.id)
        file = self.find_findings_file(entry.get_text("file"))
        return Shown(entry, tasks, lines, file, is_pending(entry.fields), trouble)

    def _find_linked_tasks(self, entry_id: str) -> tuple[tuple[int, ...], str]:
        """The tasks that name the entry; where they can't be read, the entry can be shown all the same."""
        from remit.runs.tasks.workspace_tasks import Tasks  # noqa: PLC0415 - only for this

        try:
            tasks = Tasks(self.root)
            found = tasks.store.list_tasks() if tasks.is_begun and entry_id else []
        except RemitError as error:
            return (), error.message
        return tuple(task.number for task in found if entry_id in task.links), ""

    def find(self, query: EntryQuery, *, limit: int, page: int) -> EntryPage:
        """One page of the entries that fit, counted from 1."""
        from remit.manifest.search import find_entries  # noqa: PLC0415 - only for this

        return find_entries(self.index, query, limit=limit, skip=(page - 1) * limit)

    def walk(self, query: EntryQuery) -> Iterator[ManifestEntry]:
        """All entries that fit, one after the other."""
        from remit.manifest.search import walk_entries  # noqa: PLC0415 - only for this

        return walk_entries(self.index, query)

    def find_bad_lines(self, *, limit: int) -> tuple[BadLine, ...]:
        """The first lines that are no entries."""
        from remit.manifest.counts import find_bad_lines  # noqa: PLC0415 - only for this

        return find_bad_lines(self.index, limit=limit)

    def count(self) -> ManifestStatistics:
        """The manifest in numbers."""
        from remit.manifest.counts import count_entries  # noqa: PLC0415 - only for this

        return count_entries(self.index)

    def rebuild(self) -> RebuiltIndex:
        """Make the index anew."""
        return self.index.rebuild()

    def close(self) -> None:
        """Close what was opened."""
        self.home.close()


def make_query(*, words: tuple[str, ...] = (), pending: bool = False, **asked: Any) -> EntryQuery:  # noqa: ANN401 - its fields
    """What to look for: topic, task, status, since, until, actionable, each of them or None."""
    from remit.manifest.search import EntryQuery  # noqa: PLC0415 - only for this

    return EntryQuery(words, pending=pending, **asked)


def make_page(
    fields: Mapping[str, Any], *, summary: str, recommendations: Sequence[str], sources: Sequence[str]
) -> FindingsPage:
    """The findings file of an entry, as far as the entry and a few words more make it."""
    from remit.manifest.entries import read_texts  # noqa: PLC0415 - only for this
    from remit.manifest.findings_file import FindingsFile  # noqa: PLC0415

    findings, tasks = (read_texts(fields.get(name)) for name in ("key_findings", "linked_tasks"))
    categories = {"Key findings": findings} if findings else {}
    return FindingsFile(str(fields.get("title") or ""), summary, categories, recommendations, sources, tasks)


def check_entry_is_there(entry_id: str) -> None:
    """Whether the workspace's manifest has an entry; an error that says what was meant where it has not."""
    Manifest().get(entry_id)


def find_entries_of_task(home: Home, number: int) -> tuple[str, ...]:
    """The ids of the entries that name a task, the newest first; none where there is no manifest."""
    from remit.manifest.index import ManifestIndex  # noqa: PLC0415 - only with a manifest
    from remit.manifest.search import find_entries_of_task  # noqa: PLC0415

    try:
        file = find_manifest()
    except InputError:  # a link that leads elsewhere; whoever asks for the manifest is told
        file = None
    if file is None:
        return ()
    return tuple(entry.id for entry in find_entries_of_task(ManifestIndex(home, file), str(number)) if entry.id)


def load_entry(source: str) -> dict[str, Any]:
    """An entry from a file, or from standard input for "-"."""
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
        raise InputError(f"the entry is not JSON: {error}", hint="give one object") from error
    if type(entry) is not dict:
        raise InputError("the entry is not an object", hint="give one JSON object with the entry's fields")
    return entry


def _make_look(folder: str, root: str) -> Callable[[str], ArtifactFacts | None]:
    from pathlib import Path  # noqa: PLC0415 - 8 ms, only with a manifest

    from remit.evidence.artifacts import inspect_artifacts  # noqa: PLC0415

    bases = (Path(folder), Path(root))

    def look(path: str) -> ArtifactFacts | None:
        """What a findings file is on disk. Most are plain files beside the manifest, and told by one look."""
        if "/" not in path:
            try:
                found = os.lstat(f"{folder}/{path}")
            except (OSError, ValueError):  # a NUL, half a character
                found = None
            if found is not None and S_ISREG(found.st_mode):
                return ArtifactFacts(path, "file" if found.st_size else "empty", found.st_size)
        return inspect_artifacts((path,), root=bases[1], bases=bases)[path]

    return look


def _make_find(folder: str, root: str) -> Callable[[str], str | None]:
    look = _make_look(folder, root)

    def find(path: str) -> str | None:
        """Where the file is that an entry names; None where it is not there, or not a file inside the workspace."""
        facts = look(path) if path else None
        if facts is None or facts.state not in ("file", "empty"):
            return None
        return next((file for base in (folder, root) if os.path.isfile(file := f"{base}/{path}")), None)

    return find


def write_export(file: str, texts: Iterable[str]) -> None:
    """Write an export to a file, whole or not at all; only a part of it is in memory at a time."""
    from remit.storage.files import write_texts  # noqa: PLC0415 - only for this

    write_texts(file, (f"{text}\n" for text in texts))
