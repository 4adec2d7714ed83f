"""Agent files: linted and fixed."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, NamedTuple

from remit.agents.lint import SEVERITIES, Choice
from remit.agents.lint import lint as lint_files
from remit.app.settings import find_root, load_settings
from remit.errors import InputError, UsageError, did_you_mean
from remit.workspace.agent_files import Source, check_file, check_files, count_jobs, find_agent_files, load_agent_file

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from remit.agents.graph import Graph
    from remit.agents.lint import Checked
    from remit.config import LintSettings
    from remit.model import Finding, Severity

_CACHE = ".remit/cache/lint.json"
_FAMILIES = ("AGT", "GRF", "IGN")
MAX_ROUNDS = 12


class Asked(NamedTuple):
    """What somebody wants linted, and how; what is None is as the workspace has set it."""

    paths: tuple[str, ...] = ()
    select: tuple[str, ...] | None = None
    ignore: tuple[str, ...] = ()
    extend_select: tuple[str, ...] = ()
    fail_on: Severity | None = None
    baseline: str | None = None
    cache: bool = True


class Linted(NamedTuple):
    """What linting found: the findings of each file, by its path below the root."""

    root: str
    sources: Mapping[str, Source]
    findings: Mapping[str, tuple[Finding, ...]]
    graph: Graph
    fail_on: Severity
    known: int = 0
    """How many findings the baseline already had."""
    baseline: str | None = None
    """The baseline's file, where it was made or made shorter."""

    @property
    def failed(self) -> bool:
        """Whether anything is at least as grave as what makes linting fail."""
        least = SEVERITIES.index(self.fail_on)
        return any(SEVERITIES.index(each.severity) >= least for found in self.findings.values() for each in found)


class Change(NamedTuple):
    """What fixing makes of one file."""

    source: Source
    before: str
    after: str
    applied: tuple[Finding, ...]


EVERYTHING = Asked()


def lint(asked: Asked = EVERYTHING) -> Linted:
    """Lint the agent files below some paths, or all of the workspace."""
    job = _Job(asked)
    return job.weigh(job.lint(), job.load_lines)


def fix(asked: Asked = EVERYTHING, *, unsafe: bool = False, write: bool = True) -> tuple[list[Change], Linted]:
    """Put right what can be; what a fix brings to light is fixed too, until nothing is left.

    Without `write` nothing is changed on disk: the changes say what would be.
    """
    from remit.agents.fixes import apply_fixes  # noqa: PLC0415 - only for this

    job = _Job(asked)
    linted = job.lint()
    before: dict[str, str] = {}
    after: dict[str, str] = {}
    applied: dict[str, tuple[Finding, ...]] = {}
    for _ in range(MAX_ROUNDS):
        touched = []
        for path, findings in linted.findings.items():
            if not any(each.fix for each in findings) or not job.may_write(path):
                continue
            text = after[path] if path in after else before.setdefault(path, job.load_text(path))
            fixed = apply_fixes(findings, text, unsafe=unsafe)
            if fixed.text != text:
                after[path] = fixed.text
                applied[path] = (*applied.get(path, ()), *fixed.applied)
                touched.append(path)
        if not touched:
            break
        job.replace({path: after[path] for path in touched})
        linted = job.lint()
    changes = [Change(job.sources[path], before[path], after[path], applied[path]) for path in after]
    for change in changes if write else ():
        _write(change.source.file, change.after)
    return changes, job.weigh(linted, lambda path: after[path].split("\n") if path in after else job.load_lines(path))


def load_agent_text(file: str) -> bytes:
    """What an agent file holds, for showing it; nothing where it cannot be read."""
    content = load_agent_file(file)
    return content if isinstance(content, bytes) else b""


def take_agent_stamps(paths: Sequence[str]) -> dict[str, tuple[int, int]]:
    """The time and size of every agent file, to see when one changes."""
    root = find_root()
    stamps = {}
    for source in find_agent_files(paths, root=root, exclude=load_settings(root).lint.exclude):
        try:
            found = os.stat(source.file)  # noqa: PTH116 - pathlib costs 8 ms at start-up
        except OSError:
            continue
        stamps[source.file] = (found.st_mtime_ns, found.st_size)
    return stamps


def load_graph(paths: Sequence[str] = ()) -> Graph:
    """Who may call whom among the agents below some paths, or in all of the workspace."""
    return _Job(Asked(paths=tuple(paths))).lint().graph


def draw_graph(graph: Graph, form: str) -> str:
    """A graph as Mermaid or DOT."""
    from remit.agents.drawing import draw_dot, draw_mermaid  # noqa: PLC0415 - only for this

    return {"mermaid": draw_mermaid, "dot": draw_dot}[form](graph)


class _Job:
    """One linting: which files, by which rules, and what is known of each so far."""

    def __init__(self, asked: Asked) -> None:
        self.root = find_root()
        self.settings = load_settings(self.root).lint
        self.asked = asked
        self.choice = _choose(self.settings, asked)
        self.sources = {each.path: each for each in self._find(asked.paths)}
        self.checked = self._check(list(self.sources.values()))
        self.rest = self._check_rest()

    def _find(self, paths: Sequence[str]) -> list[Source]:
        return find_agent_files(paths, root=self.root, exclude=self.settings.exclude)

    def _check(self, sources: list[Source]) -> dict[str, Checked]:
        cache = f"{self.root}/{_CACHE}" if self.asked.cache else None
        return {each.path: each for each in check_files(sources, root=self.root, cache=cache, jobs=count_jobs())}

    def _check_rest(self) -> dict[str, Checked]:
        """The other agent files of the workspace: nobody can say who calls whom from a part of them."""
        inside = any(not path.startswith("/") for path in self.sources)
        if not self.asked.paths or not inside:
            return {}
        return self._check([each for each in self._find(()) if each.path not in self.sources])

    def replace(self, texts: Mapping[str, str]) -> None:
        """Judge some files by other texts than are on disk."""
        for path, text in texts.items():
            content = text.encode("utf-8", "surrogateescape")
            self.checked[path], _ = check_file(self.sources[path], content, self.root)

    def lint(self) -> Linted:
        """What there is to say of the files as they are known."""
        found, graph = lint_files([*self.checked.values(), *self.rest.values()], self.choice)
        wanted = {path: found[path] for path in self.sources}
        return Linted(self.root, self.sources, wanted, graph, self.asked.fail_on or self.settings.fail_on)

    def load_text(self, path: str) -> str:
        """The text of a file, every byte of it kept."""
        content = load_agent_file(self.sources[path].file)
        return content.decode("utf-8", "surrogateescape") if isinstance(content, bytes) else ""

    def load_lines(self, path: str) -> list[str]:
        """The lines of a file."""
        return self.load_text(path).split("\n")

    def may_write(self, path: str) -> bool:
        """Whether a file may be changed: not one that a link of the workspace leads out to."""
        real = os.path.realpath(self.sources[path].file)
        return not os.path.islink(self.sources[path].file) or real.startswith(f"{os.path.realpath(self.root)}/")  # noqa: PTH114

    def weigh(self, linted: Linted, load_lines: Callable[[str], list[str]]) -> Linted:
        """Leave out what the baseline has. Where there is none yet, it is made; it never grows by itself."""
        file = self.asked.baseline or self.settings.baseline
        if file is None:
            return linted
        from remit.agents.baseline import parse_baseline, render_baseline, subtract, take_stock  # noqa: PLC0415 - rare
        from remit.workspace.files import load_bytes  # noqa: PLC0415

        total = sum(len(found) for found in linted.findings.values())
        if not os.path.exists(file):  # noqa: PTH110 - pathlib costs 8 ms at start-up
            _write(file, render_baseline(take_stock(linted.findings, load_lines)))
            return linted._replace(findings=dict.fromkeys(linted.findings, ()), known=total, baseline=file)
        old = parse_baseline(load_bytes(file).decode("utf-8", "replace"), file)
        gone = [path for path in old if path not in self.sources and not os.path.lexists(f"{self.root}/{path}")]
        new, rest = subtract({**linted.findings, **dict.fromkeys(gone, ())}, old, load_lines)
        findings = {path: new[path] for path in self.sources}
        shorter = render_baseline(rest) != render_baseline(old)
        if shorter:
            _write(file, render_baseline(rest))
        known = total - sum(len(found) for found in findings.values())
        return linted._replace(findings=findings, known=known, baseline=file if shorter else None)


def _choose(settings: LintSettings, asked: Asked) -> Choice:
    """What the command line asks for goes before what the workspace has set."""
    base = settings.select if asked.select is None else asked.select
    chosen = (*base, *settings.extend_select, *asked.extend_select)
    unwanted = (*asked.ignore, *(settings.ignore if asked.select is None else ()))
    per_file = settings.per_file_ignores
    _check_codes((*chosen, *unwanted, *settings.severity, *(code for codes in per_file.values() for code in codes)))
    upper = {pattern: tuple(map(str.upper, codes)) for pattern, codes in per_file.items()}
    return Choice(tuple(map(str.upper, chosen)), tuple(map(str.upper, unwanted)), settings.severity, upper)


def _check_codes(codes: Iterable[str]) -> None:
    """Refuse a code that no rule has: it would select or silence nothing."""
    unsure = [code for code in codes if code.upper() not in ("ALL", *_FAMILIES)]
    if not unsure:
        return
    from remit.app.explanations import explain_all  # noqa: PLC0415 - only where somebody chooses

    known = [each.code for each in explain_all() if each.code.startswith(_FAMILIES)]
    for code in unsure:
        if not any(each.startswith(code.upper()) for each in known):
            raise UsageError(f"there is no rule '{code}'", hint=did_you_mean(code.upper(), tuple(known)))


def _write(file: str, text: str) -> None:
    from remit.workspace.files import write_bytes  # noqa: PLC0415 - only where something is written

    try:
        write_bytes(file, text.encode("utf-8", "surrogateescape"))
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise InputError(
            f"'{file}' cannot be written: {reason}", hint="check the folder and its permissions"
        ) from error
