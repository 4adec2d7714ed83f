"""Lint and fix the agent files of a workspace."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from remit.agent_files.discovery import AgentFile, find_agent_files, load_agent_file, search_agent_files
from remit.agent_files.lint_cache import FileCheck, LintCache, hash_content, measure_files
from remit.agents.lint import SEVERITIES, CodeSelection, make_code_filter
from remit.agents.lint import lint as lint_files
from remit.errors import ConfigError, InputError, RemitError, UsageError
from remit.light_namedtuple import NamedTuple
from remit.spelling import find_similar
from remit.storage.files import write_text
from remit.storage.settings import find_root_of, is_inside, load_settings

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from remit.agent_files.discovery import AgentFileSearch
    from remit.agents.graph import Graph
    from remit.agents.lint import CheckedFile
    from remit.config import LintSettings
    from remit.model import Diagnostic, Severity

_CACHE = ".remit/cache/lint.json"
_FAMILIES = ("AGT", "GRF", "IGN")
POOL_FROM = 40
"""The number of files to check from which several processes are faster."""


class LintRequest(NamedTuple):
    """The files to lint, and options. None means the setting of the workspace."""

    paths: tuple[str, ...] = ()
    select: tuple[str, ...] | None = None
    ignore: tuple[str, ...] = ()
    extend_select: tuple[str, ...] = ()
    fail_on: Severity | None = None
    baseline: str | None = None
    cache: bool = True


class LintReport(NamedTuple):
    """The diagnostics of each file, by its path relative to the root."""

    root: str
    sources: Mapping[str, AgentFile]
    diagnostics: Mapping[str, tuple[Diagnostic, ...]]
    graph: Graph
    fail_on: Severity
    known: int = 0
    """The number of diagnostics that are left out because the baseline has them."""
    baseline: str | None = None
    """The file of the baseline if it was created or shortened."""
    created: bool = False
    """Whether the baseline was created."""
    remaining: int = 0
    """The number of diagnostics in the baseline now, including those of other files."""
    unread: tuple[str, ...] = ()
    """Folders that were left out because they can't be read."""
    plain: tuple[str, ...] = ()
    """Files of plain `agents` folders without any file that starts with a frontmatter."""

    @property
    def failed(self) -> bool:
        """Whether a diagnostic has at least the severity `fail_on`."""
        least = SEVERITIES.index(self.fail_on)
        return any(SEVERITIES.index(each.severity) >= least for found in self.diagnostics.values() for each in found)


class FileFix(NamedTuple):
    """One file before and after its fixes."""

    source: AgentFile
    before: str
    after: str
    applied: tuple[Diagnostic, ...]


EVERYTHING = LintRequest()


def lint(request: LintRequest = EVERYTHING) -> LintReport:
    """Lint the agent files in some paths. Default: the whole workspace."""
    linter = _Linter(request)
    return linter.apply_baseline(linter.lint(), linter.load_lines)


def lint_all(request: LintRequest = EVERYTHING) -> LintReport:
    """Return all diagnostics, including those in a baseline. Writes only the cache."""
    return _Linter(request).lint()


def fix(
    request: LintRequest = EVERYTHING, *, unsafe: bool = False, write: bool = True
) -> tuple[list[FileFix], LintReport]:
    """Apply fixes until no diagnostic has one; return the changed files and the remaining diagnostics.

    With `write` false, the files on disk stay unchanged.
    """
    from remit.agents.edits import MAX_ROUNDS, apply_fixes  # noqa: PLC0415 - only for this

    linter = _Linter(request)
    linted = linter.lint()
    texts: dict[str, list[str]] = {}
    """The text of each file with a fix: first the original, then one after each round."""
    applied: dict[str, list[Diagnostic]] = {}
    for _ in range(MAX_ROUNDS):
        new = [
            path for path in linted.diagnostics if path not in texts and linter.may_fix(path, linted.diagnostics[path])
        ]
        if new:  # check the text that will be changed: the file on disk may have changed since
            texts |= {path: [linter.load_text(path)] for path in new}
            linter.replace({path: texts[path][0] for path in new})
            linted = linter.lint()
        touched = []
        for path, history in texts.items():
            fixed = apply_fixes(linted.diagnostics[path], history[-1], unsafe=unsafe)
            if fixed.text not in history:  # fixes that undo each other would never end
                history.append(fixed.text)
                applied.setdefault(path, []).extend(fixed.applied)
                touched.append(path)
        if not touched:
            break
        linter.replace({path: texts[path][-1] for path in touched})
        linted = linter.lint()
    changes = [FileFix(linter.sources[path], texts[path][0], texts[path][-1], tuple(applied[path])) for path in applied]
    if not write:
        return changes, linted
    for change in changes:
        if linter.load_text(change.source.path) != change.before:
            raise InputError(f"'{change.source.file}' was changed meanwhile", hint="run it again")
        write_text(change.source.file, change.after)
    return changes, linter.apply_baseline(linted, linter.load_lines)


def load_agent_text(file: str) -> bytes:
    """Return the content of an agent file for display; empty if it can't be read."""
    content = load_agent_file(file)
    return content if isinstance(content, bytes) else b""


def read_agent_stamps(paths: Sequence[str]) -> dict[str, tuple[int, int]]:
    """Return the time and size of every agent file and of the settings, to detect changes."""
    root = find_root_of(paths)
    sources = find_agent_files(paths, root=root, exclude=load_settings(root).lint.exclude)
    stamps = {}
    for file in (*(source.file for source in sources), f"{root}/remit.toml", f"{root}/pyproject.toml"):
        try:
            found = os.stat(file)
        except OSError:
            continue
        stamps[file] = (found.st_mtime_ns, found.st_size)
    return stamps


def load_graph(paths: Sequence[str] = ()) -> Graph:
    """Return the call graph of the agents in some paths. Default: the whole workspace."""
    return _Linter(LintRequest(paths=tuple(paths))).lint().graph


def render_graph(graph: Graph, form: str) -> str:
    """Return a graph as Mermaid or DOT."""
    from remit.agents.graph_render import render_dot, render_mermaid  # noqa: PLC0415 - only for this

    return {"mermaid": render_mermaid, "dot": render_dot}[form](graph)


def check_file(source: AgentFile, content: bytes | str, root: str) -> FileCheck:
    """Check the content of one file, which is text if it can't be read."""
    from remit.agents.context import find_context_files, find_schema_file  # noqa: PLC0415 - an unchanged file needs none of this
    from remit.agents.document import make_unreadable, parse_document  # noqa: PLC0415
    from remit.agents.lint import check_document  # noqa: PLC0415

    if isinstance(content, str):
        return FileCheck(check_document(make_unreadable(source.path, content)), None, {}, {})
    document = parse_document(source.path, content)
    wanted = find_context_files(document) | find_schema_file(document)
    sizes = measure_files(wanted, root)
    return FileCheck(check_document(document, sizes), hash_content(content), wanted, sizes)


def check_files(sources: Sequence[AgentFile], *, root: str, cache: str | None, jobs: int) -> list[CheckedFile]:
    """Check every file. A file is taken from the cache if it and its context files haven't changed."""
    lint_cache = LintCache(cache, root)
    found = {source: lint_cache.get(source) for source in sources}
    changed = [source for source in sources if found[source] is None]
    if len(changed) >= POOL_FROM and jobs > 1:
        results = _check_in_pool(changed, root, jobs)
    else:
        results = [_check_source((source, root)) for source in changed]
    for source, check in zip(changed, results, strict=True):
        found[source] = check.checked
        lint_cache.put(source, check)
    lint_cache.close()
    return [checked for checked in found.values() if checked is not None]


def _check_in_pool(sources: Sequence[AgentFile], root: str, jobs: int) -> list[FileCheck]:
    """Check files in several processes. Each process reads its files itself, so only paths are sent."""
    from concurrent.futures.process import BrokenProcessPool, ProcessPoolExecutor  # noqa: PLC0415 - only for many files
    from multiprocessing import get_all_start_methods, get_context  # noqa: PLC0415
    from signal import SIG_BLOCK, SIG_SETMASK, SIGINT, pthread_sigmask  # noqa: PLC0415

    from remit.agents.rules.register import load_all_rules  # noqa: PLC0415

    load_all_rules()  # once, before the fork
    method = "fork" if "fork" in get_all_start_methods() else None
    size = max(1, min(32, len(sources) // (jobs * 4)))
    pool = ProcessPoolExecutor(min(jobs, len(sources)), mp_context=get_context(method))
    try:
        # Only the parent process handles Ctrl-C: it ends the others and reports it once. The signal is blocked before
        # the fork, because a process that ignored it later could receive it before.
        before = pthread_sigmask(SIG_BLOCK, {SIGINT})
        try:
            results = pool.map(_check_source, [(source, root) for source in sources], chunksize=size)
        finally:
            pthread_sigmask(SIG_SETMASK, before)
        return list(results)
    except BrokenProcessPool as error:  # a process was killed, perhaps because memory ran out
        raise RemitError("a process that checked agent files was killed", hint="run it again") from error
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


def _check_source(job: tuple[AgentFile, str]) -> FileCheck:
    source, root = job
    return check_file(source, load_agent_file(source.file), root)


def count_jobs() -> int:
    """Return the number of CPUs that this process may use."""
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:
        return os.cpu_count() or 1


class _Linter:
    """One call of the linter: its files, its rules, and the results so far."""

    def __init__(self, request: LintRequest) -> None:
        self.root = find_root_of(request.paths)
        self.settings = load_settings(self.root).lint
        self.request = request
        self.choice = _choose(self.settings, request)
        self.search = self._search(request.paths)
        self.sources = {each.path: each for each in self.search.sources}
        self.checked = self._check(list(self.sources.values()))
        self.rest = self._check_rest()

    def _search(self, paths: Sequence[str]) -> AgentFileSearch:
        return search_agent_files(paths, root=self.root, exclude=self.settings.exclude)

    def _check(self, sources: list[AgentFile]) -> dict[str, CheckedFile]:
        cache = f"{self.root}/{_CACHE}" if self.request.cache else None
        return {each.path: each for each in check_files(sources, root=self.root, cache=cache, jobs=count_jobs())}

    def _check_rest(self) -> dict[str, CheckedFile]:
        """Check the other agent files of the workspace: the call graph needs all of them."""
        inside = any(not path.startswith("/") for path in self.sources)
        if not self.request.paths or not inside:
            return {}
        return self._check([each for each in self._search(()).sources if each.path not in self.sources])

    def replace(self, texts: Mapping[str, str]) -> None:
        """Check some files with other texts than those on disk."""
        for path, text in texts.items():
            content = text.encode("utf-8", "surrogateescape")
            self.checked[path] = check_file(self.sources[path], content, self.root).checked

    def lint(self) -> LintReport:
        """Return the diagnostics of the files."""
        found, graph = lint_files([*self.checked.values(), *self.rest.values()], self.choice)
        wanted = {path: found[path] for path in self.sources}
        fail_on = self.request.fail_on or self.settings.fail_on
        return LintReport(
            self.root, self.sources, wanted, graph, fail_on, unread=self.search.unread, plain=self.search.plain
        )

    def load_text(self, path: str) -> str:
        """Return the text of a file, with bytes that aren't UTF-8 escaped."""
        content = load_agent_file(self.sources[path].file)
        return content.decode("utf-8", "surrogateescape") if isinstance(content, bytes) else ""

    def load_lines(self, path: str) -> list[str]:
        """Return the lines of a file."""
        return self.load_text(path).split("\n")

    def may_fix(self, path: str, diagnostics: Sequence[Diagnostic]) -> bool:
        """Whether a file has a fix and isn't a link that leads out of the workspace."""
        if not any(each.fix for each in diagnostics):
            return False
        file = self.sources[path].file
        return not os.path.islink(file) or is_inside(file, self.root)

    def apply_baseline(self, linted: LintReport, load_lines: Callable[[str], list[str]]) -> LintReport:
        """Remove diagnostics that the baseline has. Create a missing baseline; an existing one never grows."""
        file = self._find_baseline()
        if file is None:
            return linted
        from remit.storage.baselines import subtract_baseline  # noqa: PLC0415 - rare

        filters = {path: make_code_filter(path, self.choice) for path in self.sources}
        compared = subtract_baseline(
            file, linted.diagnostics, load_lines, root=self.root, is_asked=lambda path, code: filters[path](code)
        )
        return linted._replace(
            diagnostics=compared.diagnostics,
            known=compared.known,
            baseline=file if compared.created or compared.shorter else None,
            created=compared.created,
            remaining=compared.remaining,
        )

    def _find_baseline(self) -> str | None:
        """Return the baseline's file: as given, from the current folder, else as set, from the root."""
        if self.request.baseline is not None or self.settings.baseline is None:
            return self.request.baseline
        file = os.path.join(self.root, self.settings.baseline)
        if not is_inside(file, self.root):
            raise ConfigError(f"lint.baseline is '{self.settings.baseline}', which is outside of the workspace",
                              hint="give a file inside it")  # fmt: skip
        return file


def _choose(settings: LintSettings, request: LintRequest) -> CodeSelection:
    """Return the chosen codes; the command line has precedence over the settings."""
    base = settings.select if request.select is None else request.select
    chosen = (*base, *settings.extend_select, *request.extend_select)
    unwanted = (*request.ignore, *(settings.ignore if request.select is None else ()))
    per_file = settings.per_file_ignores
    _check_codes((*chosen, *unwanted, *settings.severity, *(code for codes in per_file.values() for code in codes)))
    upper = {pattern: tuple(map(str.upper, codes)) for pattern, codes in per_file.items()}
    return CodeSelection(tuple(map(str.upper, chosen)), tuple(map(str.upper, unwanted)), settings.severity, upper)


def _check_codes(codes: Iterable[str]) -> None:
    """Raise `UsageError` for a code without a rule: it would select or ignore nothing."""
    unsure = [code for code in codes if code.upper() not in ("ALL", *_FAMILIES)]
    if not unsure:
        return
    from remit.agents.lint import load_codes  # noqa: PLC0415 - only if codes are chosen

    known = sorted(code for code in load_codes() if code.startswith(_FAMILIES))
    for code in unsure:
        if not code or not any(each.startswith(code.upper()) for each in known):
            similar = find_similar(code.upper(), known)
            hint = "remit explain lists them all" if similar is None else f"did you mean '{similar}'?"
            raise UsageError(f"there is no rule '{code}'", hint=hint)
