"""Lint and fix the agent files of a workspace."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from remit.agent_files.discovery import (
    AgentFile,
    check_file,
    check_files,
    count_jobs,
    find_agent_files,
    load_agent_file,
    search_agent_files,
)
from remit.agents.lint import SEVERITIES, CodeSelection, make_code_filter
from remit.agents.lint import lint as lint_files
from remit.errors import ConfigError, InputError, UsageError
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
    findings: Mapping[str, tuple[Diagnostic, ...]]
    graph: Graph
    fail_on: Severity
    known: int = 0
    """How many findings are left out because the baseline has them."""
    baseline: str | None = None
    """The baseline's file, where it was made or made shorter."""
    made: bool = False
    """Whether there was no such file before."""
    held: int = 0
    """How many findings the baseline holds now, other files' included."""
    unread: tuple[str, ...] = ()
    """Folders that were passed over, since they can't be read."""
    plain: tuple[str, ...] = ()
    """Files of plain `agents` folders that hold no agent: none of them begins with a frontmatter."""

    @property
    def failed(self) -> bool:
        """Whether anything is at least as grave as what makes linting fail."""
        least = SEVERITIES.index(self.fail_on)
        return any(SEVERITIES.index(each.severity) >= least for found in self.findings.values() for each in found)


class FileFix(NamedTuple):
    """One file before and after its fixes."""

    source: AgentFile
    before: str
    after: str
    applied: tuple[Diagnostic, ...]


EVERYTHING = LintRequest()


def lint(asked: LintRequest = EVERYTHING) -> LintReport:
    """Lint the agent files in some paths. Default: the whole workspace."""
    job = _Job(asked)
    return job.apply_baseline(job.lint(), job.load_lines)


def lint_all(asked: LintRequest = EVERYTHING) -> LintReport:
    """Return all diagnostics, including those in a baseline. Writes only the cache."""
    return _Job(asked).lint()


def fix(
    asked: LintRequest = EVERYTHING, *, unsafe: bool = False, write: bool = True
) -> tuple[list[FileFix], LintReport]:
    """Put right what can be; what a fix brings to light is fixed too, until nothing is left.

    Without `write` nothing is changed on disk: the changes say what would be.
    """
    from remit.agents.edits import MAX_ROUNDS, apply_fixes  # noqa: PLC0415 - only for this

    job = _Job(asked)
    linted = job.lint()
    texts: dict[str, list[str]] = {}
    """What each file with a fix was, and what it has been since."""
    applied: dict[str, list[Diagnostic]] = {}
    for _ in range(MAX_ROUNDS):
        new = [path for path in linted.findings if path not in texts and job.may_fix(path, linted.findings[path])]
        if new:  # judged by the very text that will be changed: on disk it may have changed since
            texts |= {path: [job.load_text(path)] for path in new}
            job.replace({path: texts[path][0] for path in new})
            linted = job.lint()
        touched = []
        for path, history in texts.items():
            fixed = apply_fixes(linted.findings[path], history[-1], unsafe=unsafe)
            if fixed.text not in history:  # one that comes back would go round for ever
                history.append(fixed.text)
                applied.setdefault(path, []).extend(fixed.applied)
                touched.append(path)
        if not touched:
            break
        job.replace({path: texts[path][-1] for path in touched})
        linted = job.lint()
    changes = [FileFix(job.sources[path], texts[path][0], texts[path][-1], tuple(applied[path])) for path in applied]
    if not write:
        return changes, linted
    for change in changes:
        if job.load_text(change.source.path) != change.before:
            raise InputError(f"'{change.source.file}' was changed meanwhile", hint="run it again")
        write_text(change.source.file, change.after)
    return changes, job.apply_baseline(linted, job.load_lines)


def load_agent_text(file: str) -> bytes:
    """What an agent file holds, for showing it; nothing where it can't be read."""
    content = load_agent_file(file)
    return content if isinstance(content, bytes) else b""


def read_agent_stamps(paths: Sequence[str]) -> dict[str, tuple[int, int]]:
    """The time and size of every agent file, and of what the workspace has set, to see when one changes."""
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
    return _Job(LintRequest(paths=tuple(paths))).lint().graph


def render_graph(graph: Graph, form: str) -> str:
    """A graph as Mermaid or DOT."""
    from remit.agents.graph_render import render_dot, render_mermaid  # noqa: PLC0415 - only for this

    return {"mermaid": render_mermaid, "dot": render_dot}[form](graph)


class _Job:
    """One linting: which files, by which rules, and what is known of each so far."""

    def __init__(self, asked: LintRequest) -> None:
        self.root = find_root_of(asked.paths)
        self.settings = load_settings(self.root).lint
        self.asked = asked
        self.choice = _choose(self.settings, asked)
        self.search = self._search(asked.paths)
        self.sources = {each.path: each for each in self.search.sources}
        self.checked = self._check(list(self.sources.values()))
        self.rest = self._check_rest()

    def _search(self, paths: Sequence[str]) -> AgentFileSearch:
        return search_agent_files(paths, root=self.root, exclude=self.settings.exclude)

    def _check(self, sources: list[AgentFile]) -> dict[str, CheckedFile]:
        cache = f"{self.root}/{_CACHE}" if self.asked.cache else None
        return {each.path: each for each in check_files(sources, root=self.root, cache=cache, jobs=count_jobs())}

    def _check_rest(self) -> dict[str, CheckedFile]:
        """The other agent files of the workspace: nobody can say who calls whom from a part of them."""
        inside = any(not path.startswith("/") for path in self.sources)
        if not self.asked.paths or not inside:
            return {}
        return self._check([each for each in self._search(()).sources if each.path not in self.sources])

    def replace(self, texts: Mapping[str, str]) -> None:
        """Judge some files by other texts than are on disk."""
        for path, text in texts.items():
            content = text.encode("utf-8", "surrogateescape")
            self.checked[path] = check_file(self.sources[path], content, self.root).checked

    def lint(self) -> LintReport:
        """What there is to say of the files as they are known."""
        found, graph = lint_files([*self.checked.values(), *self.rest.values()], self.choice)
        wanted = {path: found[path] for path in self.sources}
        fail_on = self.asked.fail_on or self.settings.fail_on
        return LintReport(
            self.root, self.sources, wanted, graph, fail_on, unread=self.search.unread, plain=self.search.plain
        )

    def load_text(self, path: str) -> str:
        """The text of a file, every byte of it kept."""
        content = load_agent_file(self.sources[path].file)
        return content.decode("utf-8", "surrogateescape") if isinstance(content, bytes) else ""

    def load_lines(self, path: str) -> list[str]:
        """The lines of a file."""
        return self.load_text(path).split("\n")

    def may_fix(self, path: str, findings: Sequence[Diagnostic]) -> bool:
        """Whether a file can be put right: not one that a link of the workspace leads out to."""
        if not any(each.fix for each in findings):
            return False
        file = self.sources[path].file
        return not os.path.islink(file) or is_inside(file, self.root)

    def apply_baseline(self, linted: LintReport, load_lines: Callable[[str], list[str]]) -> LintReport:
        """Remove diagnostics that the baseline has. Create a missing baseline; an existing one never grows."""
        file = self._find_baseline()
        if file is None:
            return linted
        from remit.storage.baselines import subtract_baseline  # noqa: PLC0415 - rare

        sieves = {path: make_code_filter(path, self.choice) for path in self.sources}
        weighed = subtract_baseline(
            file, linted.findings, load_lines, root=self.root, is_asked=lambda path, code: sieves[path](code)
        )
        return linted._replace(
            findings=weighed.findings,
            known=weighed.known,
            baseline=file if weighed.made or weighed.shorter else None,
            made=weighed.made,
            held=weighed.held,
        )

    def _find_baseline(self) -> str | None:
        """The baseline's file: from here, where it was asked for; below the root, where the workspace has set it."""
        if self.asked.baseline is not None or self.settings.baseline is None:
            return self.asked.baseline
        file = os.path.join(self.root, self.settings.baseline)
        if not is_inside(file, self.root):
            raise ConfigError(f"lint.baseline is '{self.settings.baseline}', which lies outside of the workspace",
                              hint="name a file inside it")  # fmt: skip
        return file


def _choose(settings: LintSettings, asked: LintRequest) -> CodeSelection:
    """What the command line asks for goes before what the workspace has set."""
    base = settings.select if asked.select is None else asked.select
    chosen = (*base, *settings.extend_select, *asked.extend_select)
    unwanted = (*asked.ignore, *(settings.ignore if asked.select is None else ()))
    per_file = settings.per_file_ignores
    _check_codes((*chosen, *unwanted, *settings.severity, *(code for codes in per_file.values() for code in codes)))
    upper = {pattern: tuple(map(str.upper, codes)) for pattern, codes in per_file.items()}
    return CodeSelection(tuple(map(str.upper, chosen)), tuple(map(str.upper, unwanted)), settings.severity, upper)


def _check_codes(codes: Iterable[str]) -> None:
    """Refuse a code that no rule has: it would select or silence nothing."""
    unsure = [code for code in codes if code.upper() not in ("ALL", *_FAMILIES)]
    if not unsure:
        return
    from remit.agents.lint import load_codes  # noqa: PLC0415 - only if codes are chosen

    known = sorted(code for code in load_codes() if code.startswith(_FAMILIES))
    for code in unsure:
        if not code or not any(each.startswith(code.upper()) for each in known):
            meant = find_similar(code.upper(), known)
            hint = "remit explain lists them all" if meant is None else f"did you mean '{meant}'?"
            raise UsageError(f"there is no rule '{code}'", hint=hint)
