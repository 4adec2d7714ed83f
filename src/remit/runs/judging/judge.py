"""Judge a return: compare what the agent reports with what it did.

The format's rules decide whether the message is a return; the tree before and after decides whether it is true. A
`completed` return is `fabricated` if the tree contradicts one of its claims, and `unproven` if Remit cannot decide one.
The documentation of each diagnostic (EVD…) is the docstring of the function that makes it.
"""

from __future__ import annotations

import os
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING

from remit import returns
from remit.errors import RemitError
from remit.evidence.artifact_grades import CONTRADICTED, PROVED, WRITE, grade_artifacts, list_unclaimed
from remit.evidence.artifacts import find_written_path, inspect_artifacts
from remit.evidence.return_facts import find_bases, find_facts, follow_to_file, load_findings
from remit.light_namedtuple import NamedTuple
from remit.manifest.manifest_file import ManifestPrefix, has_prefix
from remit.model import ACCEPTABLE, NOTHING, Diagnostic
from remit.returns.formats import MANIFEST
from remit.runs.judging.conclusion import RunEvidence
from remit.runs.judging.concurrent_writers import (
    find_origin,
    find_undoers,
    find_writers,
    has_written,
    list_seen,
)
from remit.runs.judging.manifest_entry import AgentEntry, find_entry, manifest_outside
from remit.storage.safe_path import find_inside, name_below

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

    from remit.data_schema import DataSchema
    from remit.evidence.artifact_grades import ArtifactGrade
    from remit.evidence.tree import Comparison, TreeChange, WorkTree
    from remit.model import Expectation, Return, Severity, Status, Verdict, VerdictName
    from remit.runners import ToolUse
    from remit.runs.judging.concurrent_writers import EarlierRun
    from remit.runs.judging.judging_context import JudgingContext
    from remit.runs.judging.other_runs import NestedArtifacts

_TOO_LONG = "RET030"
_MADE_EARLIER = "EVD011"
_EMPTY = "RET054"
_NOT_THERE = frozenset({"RET051", _EMPTY, "RET089"})
"""The diagnostics on claimed files that are missing or empty."""


class AttemptVerdict(NamedTuple):
    """The verdict on what an agent returned, with the evidence."""

    name: VerdictName
    diagnostics: tuple[Diagnostic, ...] = ()
    returned: Return | None = None
    """The canonical return, if the verdict lets the caller use it. An `unproven` return is `partial`."""
    claimed: Return | None = None
    """What the agent claims, also if it isn't verified."""
    grades: Mapping[str, ArtifactGrade] = {}
    unclaimed: tuple[TreeChange, ...] = ()
    verdict: Verdict | None = None
    unproven: tuple[str, ...] = ()
    """The claimed files of an `unproven` return that Remit could not verify."""
    doubts: tuple[Diagnostic, ...] = ()
    """The diagnostics that make it `unproven`."""
    after: WorkTree | None = None
    """The tree that the claims were compared with."""

    @property
    def format(self) -> str | None:
        """The format that the agent used; None if there is no return."""
        return None if self.verdict is None else self.verdict.format

    @property
    def accepted(self) -> bool:
        """Whether Remit accepts the return, whatever its status says."""
        return self.name in ACCEPTABLE

    @property
    def is_usable_at_last(self) -> bool:
        """Whether the agent can correct all that is wrong, and the return is used if it can't be sent back again."""
        codes = {diagnostic.code for diagnostic in self.diagnostics if diagnostic.severity == "error"}
        return bool(codes) and codes <= {_TOO_LONG, _MADE_EARLIER}

    @property
    def is_final(self) -> bool:
        """Whether the return goes to the caller instead of back to the agent."""
        return self.returned is not None


def judge_answer(
    text: str,
    context: JudgingContext,
    *,
    format: str,
    any_format: bool = False,
    expectation: Expectation,
    words: Mapping[str, Status],
    submitted: Sequence[str] = (),
) -> AttemptVerdict:
    """Judge a final message by the tree that it was to change.

    `format` is the one that the agent was instructed in; with `any_format` it may have used another. `submitted` are
    the returns that the agent handed in, which count. If the final message has one too, all must agree.
    """
    root, manifest = context.root, context.manifest or None
    expectation = expectation._replace(
        roots=(root, os.path.realpath(root)), instructed=format if any_format else None, fills=True,
        data=_make_data_schema(context),
    )  # fmt: skip
    handed_in = () if format == MANIFEST.name else submitted
    wanted = None if any_format else format
    read = partial(returns.read_message, return_format=wanted, words=words)
    by_ticket = expectation._replace(by_ticket=True)
    handed = [read(each, expectation=by_ticket) for each in handed_in]
    reading = returns.choose_message([*handed, read(text, expectation=expectation)])
    if reading.payload is None:
        reading = follow_to_file(reading, root, wanted) or reading
    entry = find_entry(context) if reading.return_format is MANIFEST else AgentEntry(None)
    returns.attach_entry(reading, entry.line, rival=entry.rival)
    facts = find_facts(reading, root, manifest, context.workspace_root)
    bases = find_bases(reading, root, manifest, context.workspace_root)
    after, failure = _take_tree_again(context.before) if facts and context.before is not None else (None, "")
    grades = grade_artifacts(
        facts, before=context.before, after=after, root=context.root, bases=bases, tool_ledger=_list_writes(context),
        failure=failure,
    )  # fmt: skip
    seen = _name_below_root(list_seen(context.tools), context)
    grades = {path: _attribute(grade, context, seen) for path, grade in grades.items()}
    undone = {path for path, grade in grades.items() if _may_be_undone(grade, context)}
    shown = facts | {path: facts[path]._replace(state="file", size_bytes=1) for path in undone}
    verdict = returns.judge(reading, evidence=shown, findings_text=load_findings(facts, root, manifest))
    withdrawn = _list_withdrawn(grades, context, bases)
    judged = _weigh(verdict, grades, context, withdrawn, undone, is_last=expectation.shortens)._replace(after=after)
    if entry.refused is not None:
        judged = _refuse(judged, entry.refused)
    return _name_from_root(judged) if len(bases) > 1 else judged


def _make_data_schema(context: JudgingContext) -> DataSchema | None:
    """The schema of `data`, which checks references to files in the agent's folder."""
    if not context.data_schema:
        return None
    import json  # noqa: PLC0415 - only with a schema

    from remit.data_schema import DataSchema  # noqa: PLC0415
    from remit.evidence.references import make_format_checks  # noqa: PLC0415

    return DataSchema(json.loads(context.data_schema), formats=make_format_checks(context.root))


def _take_tree_again(before: WorkTree) -> tuple[WorkTree | None, str]:
    """The tree now, or why it can't be read."""
    from remit.evidence.take_tree import scan_again  # noqa: PLC0415 - starts git, which a return without claims doesn't need

    try:
        return scan_again(before), ""
    except RemitError as error:
        return None, error.message


def _name_from_root(judged: AttemptVerdict) -> AttemptVerdict:
    """The verdict with all artifact paths relative to the root (R0.6), whatever the format's base folder."""
    names = {path: _find_place(path, grade.places) for path, grade in judged.grades.items()}

    def rename(returned: Return | None) -> Return | None:
        if returned is None:
            return None
        artifacts = (
            each._replace(path=names.get(each.path, each.path), named=each.path) for each in returned.artifacts
        )
        return returned._replace(artifacts=tuple(artifacts))

    grades = {names[path]: grade for path, grade in judged.grades.items()}
    return judged._replace(
        returned=rename(judged.returned), claimed=rename(judged.claimed), grades=grades,
        unproven=tuple(names.get(path, path) for path in judged.unproven),
    )  # fmt: skip


def _find_place(path: str, places: Sequence[str]) -> str:
    """The path of a file below the root: as the agent named it, not the target of a link."""
    return next((place for place in places if f"/{place}".endswith(f"/{path}")), places[0] if places else path)


def compare_trees(
    context: JudgingContext,
    grades: Mapping[str, ArtifactGrade],
    own: Sequence[str] = (),
    is_below: Callable[[TreeChange], bool] | None = None,
    after: WorkTree | None = None,
) -> tuple[Comparison | None, tuple[TreeChange, ...]]:
    """The changes since the run began, and those of them that the agent didn't claim.

    Without Remit's own files, and without the manifest if the agent has an entry in it. `is_below` says what was
    accepted of a nested run: its caller need not name that too. `after` is the tree now, if it was just taken.
    """
    from remit.evidence.take_tree import scan_again  # noqa: PLC0415 - starts git, which a return without claims doesn't need
    from remit.evidence.tree_comparison import compare  # noqa: PLC0415 - starts git

    if context.before is None:
        return None, ()
    manifest = name_below(context.root, context.manifest) if context.manifest and grades else None
    own = (*own, manifest) if manifest else own
    comparison = compare(context.before, after or scan_again(context.before))
    comparison = comparison._replace(
        created=tuple(change for change in comparison.created if change.path not in own),
        changed=tuple(change for change in comparison.changed if change.path not in own),
    )
    unclaimed = list_unclaimed(comparison, grades.values())
    return comparison, tuple(change for change in unclaimed if is_below is None or not is_below(change))


def gather_evidence(
    context: JudgingContext,
    verdict: AttemptVerdict | None,
    *,
    written: frozenset[str] | None,
    seen: Iterable[str],
    is_recorded: bool,
    nested: NestedArtifacts,
    own_files: Sequence[str],
) -> RunEvidence:
    """Compare the trees at the end of a run. `own_files`: the files that Remit itself changes during a run."""
    comparison: Comparison | None = None
    unclaimed: tuple[TreeChange, ...] = ()
    with suppress(RemitError):  # the folder is gone, so there is nothing to compare
        comparison, unclaimed = compare_trees(
            context, {} if verdict is None else verdict.grades, own_files, partial(nested.has, written=written),
            None if verdict is None else verdict.after,
        )  # fmt: skip
    return RunEvidence(
        comparison, unclaimed, written, frozenset(seen), is_recorded, context.shared, frozenset(nested.made)
    )


def _list_withdrawn(grades: Mapping[str, ArtifactGrade], context: JudgingContext, bases: Sequence[str]) -> list[str]:
    """The files that were claimed before, are still missing, and weren't replaced by other claims.

    An agent that named a wrong path may name another one, one for one: a verified file counts, whatever its path.
    """
    if not context.earlier.missed:
        return []
    found = inspect_artifacts(context.earlier.missed, root=context.root, bases=bases)
    missed = [path for path, facts in found.items() if facts.state != "file"]
    enough = ("unknown", *PROVED)  # an unknown one makes the return unproven
    known = context.earlier.known
    fresh = [] if known is None else [grades[path] for path in grades if known.isdisjoint((path, *grades[path].places))]
    return missed if len(missed) > sum(each.grade in enough for each in fresh) else []


def _weigh(
    verdict: Verdict,
    grades: Mapping[str, ArtifactGrade],
    context: JudgingContext,
    withdrawn: Sequence[str],
    undone: Collection[str],
    *,
    is_last: bool,
) -> AttemptVerdict:
    errors = [diagnostic for diagnostic in verdict.diagnostics if diagnostic.severity == "error"]
    if not verdict.accepted:
        codes = {diagnostic.code for diagnostic in errors}
        absent = bool(codes) and codes <= _NOT_THERE and codes != {_EMPTY}  # the agent may have written an empty file
        name: VerdictName = "fabricated" if absent else verdict.name
        diagnostics = (*_find_loss(context, "warning" if context.shared else "error"), *verdict.diagnostics)
        return AttemptVerdict(name, diagnostics, grades=grades, verdict=verdict)
    returned = verdict.returned
    is_done = returned is not None and returned.status == "completed"
    earlier = _find_earlier(grades, context)
    standing = {path: grade for path, grade in grades.items() if path not in undone and path not in earlier}
    contradictions = _find_contradictions(standing, context, "error" if is_done else "warning")
    if withdrawn and is_done:  # any other status admits it
        contradictions.append(claim_withdrawn(withdrawn))
    doubts, reasons = _find_doubts(standing, context)
    if undone and not (context.is_lost and grades):
        doubts.append(possibly_undone(sorted(undone)))
        reasons |= dict.fromkeys(sorted(undone), "another run in this folder may have undone it")
    foreign = {path: run for path, run in earlier.items() if not run.is_same_task}
    severity: Severity = "error" if is_done and not is_last else "warning"
    doubts += [made_by_earlier_run(path, run.session_id, severity) for path, run in foreign.items()]
    reasons |= {path: f"{run.session_id} made it" for path, run in foreign.items()}
    listed = [
        made_by_earlier_run(path, run.session_id, "warning") for path, run in earlier.items() if path not in foreign
    ]
    diagnostics = (*contradictions, *doubts, *listed, *verdict.diagnostics)
    if any(diagnostic.severity == "error" for diagnostic in contradictions):
        return AttemptVerdict("fabricated", diagnostics, claimed=returned, grades=grades, verdict=verdict)
    if foreign and severity == "error":  # the agent can leave them out
        return AttemptVerdict("invalid", diagnostics, claimed=returned, grades=grades, verdict=verdict)
    for path, reason in reasons.items():
        grades = {**grades, path: grades[path]._replace(grade="unknown", reason=reason)}
    if doubts and is_done and returned is not None:
        lowered = returned._replace(status="partial")
        return AttemptVerdict(
            "unproven", diagnostics, lowered, returned, grades, verdict=verdict, unproven=tuple(reasons),
            doubts=tuple(doubts),
        )  # fmt: skip
    return AttemptVerdict(verdict.name, diagnostics, returned, returned, grades, verdict=verdict)


def _refuse(judged: AttemptVerdict, diagnostic: Diagnostic) -> AttemptVerdict:
    """The verdict with one more error."""
    diagnostics = (diagnostic, *judged.diagnostics)
    name: VerdictName = "invalid" if judged.is_final else judged.name
    return judged._replace(name=name, diagnostics=diagnostics, returned=None, unproven=())


def _find_contradictions(
    grades: Mapping[str, ArtifactGrade], context: JudgingContext, severity: Severity
) -> list[Diagnostic]:  # fmt: skip
    """The diagnostics on claims that the evidence contradicts."""
    diagnostics = [
        unchanged(path, grade.reason, severity)
        for path, grade in grades.items()
        if grade.grade in CONTRADICTED and not _may_predate(grade, context)
    ]
    if context.tools is not None:
        own = [use for use in context.tools if _may_have_written(use)]
        if grades and not own:
            diagnostics.append(no_writing_tool_used(len(grades), severity))
        taken = [path for path, grade in grades.items() if _is_taken(grade, context)]
        diagnostics += [unchanged(path, "another agent wrote it", severity) for path in taken]
    diagnostics += [] if context.shared else _find_loss(context, severity)
    return [*diagnostics, *([nested_run_unfinished(context.below, severity)] if context.below else [])]


def _find_doubts(
    grades: Mapping[str, ArtifactGrade], context: JudgingContext
) -> tuple[list[Diagnostic], dict[str, str]]:
    """The diagnostics on claims that Remit can't decide, and the affected files, each with the reason."""
    lost = _find_loss(context, "warning") if context.shared else []  # it is unknown which agent did it
    if context.is_lost and grades:
        return [starting_tree_lost(context.lost), *lost], dict.fromkeys(
            grades, "Remit has no record of the tree before the run"
        )
    reasons = {path: grade.reason for path, grade in grades.items() if grade.grade == "unknown"}
    late = "Remit first saw this agent after its work had begun"
    reasons |= {path: late for path, grade in grades.items() if _may_predate(grade, context)}
    doubts = [change_unknown(path, reason) for path, reason in reasons.items()]
    changed = {path: grade for path, grade in grades.items() if grade.grade == "changed"}
    unsure = [path for path, grade in changed.items() if find_writers(grade, context.shared_tree)]
    if unsure:
        doubts.append(author_unknown(unsure))
        reasons |= dict.fromkeys(unsure, "another run in this folder could have written it")
    for path, grade in grades.items():
        is_written = grade.grade == "attributed"
        origin = find_origin(grade, context.shared_tree, is_written=is_written) if grade.grade in PROVED else None
        if origin is not None:
            doubts.append(made_by_nested(path, origin.agent, origin.run.session_id))
            reasons[path] = f"it comes from {origin.run.session_id}, whose work was not accepted"
    return [*doubts, *lost], reasons


def _find_earlier(grades: Mapping[str, ArtifactGrade], context: JudgingContext) -> dict[str, EarlierRun]:
    """The files that did not change and that an earlier run made, if the agent made another file that it claims.

    A later phase of a task may list what the phases before it made.
    """
    if context.shared_tree.find_made is None or not any(grade.grade in PROVED for grade in grades.values()):
        return {}
    listed = {path: grade for path, grade in grades.items() if grade.grade == "unchanged"}
    made = context.shared_tree.find_made() if listed else NOTHING
    return {path: made[place] for path, grade in listed.items() for place in grade.places if place in made}


def _attribute(grade: ArtifactGrade, context: JudgingContext, seen: set[str]) -> ArtifactGrade:
    """The grade of a file that changed while a command of the agent ran: its own work, if records rule others out."""
    is_seen = grade.grade == "changed" and not seen.isdisjoint(grade.places)
    return (
        grade._replace(grade="attributed") if is_seen and not find_writers(grade, context.shared_tree, seen) else grade
    )


def _may_predate(grade: ArtifactGrade, context: JudgingContext) -> bool:
    """Whether a file that seems unchanged may be work that the agent did before Remit saw it."""
    return context.is_late and grade.grade == "unchanged"


def _is_taken(grade: ArtifactGrade, context: JudgingContext) -> bool:
    """Whether another agent wrote a file that changed, and the records show that this one did not."""
    is_known = grade.grade == "changed" and _is_unwritten(grade, context)
    return is_known and any(has_written(other, grade) for other in context.shared_tree.others)


def _may_be_undone(grade: ArtifactGrade, context: JudgingContext) -> bool:
    """Whether the tree contradicts a claim only because another agent may have undone the work since."""
    is_contradicted = grade.grade in CONTRADICTED and grade.facts.state in ("file", "missing", "empty")
    return is_contradicted and not _is_unwritten(grade, context) and bool(find_undoers(grade, context.shared_tree))


def _is_unwritten(grade: ArtifactGrade, context: JudgingContext) -> bool:
    """Whether the records of the agent's own tools show that it didn't write a file."""
    own = None if context.tools is None else [use for use in context.tools if _may_have_written(use)]
    if own is None or any(use.path is None or use.operation not in ("write", "run") for use in own):
        return False
    named = _name_below_root([use.path for use in own if use.path], context)
    return {*grade.places}.isdisjoint(named)


def _name_below_root(paths: Sequence[str], context: JudgingContext) -> set[str]:
    """The files that tools named, relative to the root."""
    taken_ns = 0 if context.before is None else context.before.taken_ns
    found = (find_written_path(context.root, path, taken_ns) for path in paths)
    return {path for path in found if path}


def _find_loss(context: JudgingContext, severity: Severity) -> list[Diagnostic]:
    """Report a manifest that lost older entries: it isn't a claimed file, so it has no grade."""
    if not context.manifest or find_inside(context.root, context.manifest) is None:
        return []
    if has_prefix(context.manifest, ManifestPrefix(context.manifest_bytes, context.manifest_sha256)):
        return []
    return [manifest_rewritten(name_below(context.root, context.manifest) or context.manifest, severity)]


def _may_have_written(use: ToolUse) -> bool:
    """Whether a tool may have written a file: of the failed ones, only a command that is known to have run."""
    return use.operation != "read" and (not use.failed or (use.operation == "run" and use.ran))


def _list_writes(context: JudgingContext) -> dict[str, tuple[str, ...]] | None:
    """The files that the agent's own tools wrote, as they are called below the root."""
    if context.tools is None:
        return None
    paths = [use.path for use in context.tools if use.operation == "write" and use.path and not use.failed]
    if not context.shared:  # then no other run can have changed a file while its command ran
        paths += list_seen(context.tools)
    return dict.fromkeys(_name_below_root(paths, context), (WRITE,))


# --- diagnostics ------------------------------------------------------------------------------------------------------


def unchanged(path: str, reason: str, severity: Severity) -> Diagnostic:
    """A file that the agent claims didn't change during the run.

    Why: a file that existed before isn't this agent's work. Agents report planned files as often as written ones.

    Bad: `completed` with a report that another agent wrote last week.

    Good: artifacts that this run created or changed. Don't claim files that were only read.
    """
    message = f"'{path[:200]}' is reported, but the working tree contradicts that: {reason}"
    return Diagnostic("EVD001", severity, message, "Write the file, or do not claim it.", pointer="/artifacts")


def no_writing_tool_used(count: int, severity: Severity) -> Diagnostic:
    """The agent claims files, and its harness reports no tool call that could have written them.

    Why: an agent that calls no writing tool writes no file, so another process wrote the files.

    Bad: an answer without tool calls, with a list of files.

    Good: write the files with the harness's tools, then claim them.
    """
    what = "a file" if count == 1 else f"{count} files"
    message = f"the agent claims {what} and used no tool that could have made any"
    return Diagnostic("EVD002", severity, message, "Do the work, then report it.", pointer="/artifacts")


def author_unknown(paths: list[str]) -> Diagnostic:
    """A claimed file changed while another agent ran that could have written it, and no tool record shows who did.

    Why: with several agents in one folder, a change alone proves nothing about any one of them. Another agent counts
    only if it ran before the file's last change and its permissions allow the path. The verdict is `unproven`: Remit
    neither accepts the claim nor calls it false.

    Bad: two agents at once in one folder, whose harness does not report which files they write.

    Good: a worktree for each of them (`--worktree`), or a harness that reports its tools.
    """
    more = f" and {len(paths) - 1} more" if len(paths) > 1 else ""
    message = f"'{paths[0][:200]}'{more} changed while another run was active in this folder; nothing shows who did it"
    return Diagnostic("EVD003", "warning", message, "Give each agent its own worktree: --worktree.")


def nested_run_unfinished(agents: Sequence[str], severity: Severity) -> Diagnostic:
    """The agent returns `completed` before its nested runs have ended.

    Why: nested runs end with their caller. A caller that doesn't wait can't know their results.

    Bad: `completed` while a nested run is still running.

    Good: wait for all nested runs, check their results, then return.
    """
    more = f" and {len(agents) - 1} more" if len(agents) > 1 else ""
    message = f"{agents[0][:200]}{more} was handed work and is not back"
    return Diagnostic("EVD004", severity, message, "Wait for the agents that you called.", pointer="/status")


def starting_tree_lost(reason: str = "") -> Diagnostic:
    """Files are claimed, and Remit has no usable record of the tree before the run.

    Why: without the record, Remit cannot distinguish a file from last week from one that was just made. The verdict is
    `unproven`, so an agent that removes the record gains nothing.

    Bad: git isn't installed, or something deletes `.remit` while an agent works.

    Good: `git --version` answers, and only Remit writes below `.remit`.
    """
    why = f": {reason}" if reason else ""
    message = f"Remit has no record of the tree before the run, so it cannot verify any claimed file{why}"
    return Diagnostic("EVD005", "warning", message, "Check the claimed files yourself.", pointer="/artifacts")


def claim_withdrawn(paths: Sequence[str]) -> Diagnostic:
    """The agent claimed a missing file, was sent back, and now returns `completed` without it.

    Why: removing the claim doesn't create the file. Agents that are sent back often choose this way out.

    Bad: `completed` with `report.md`, which doesn't exist; then `completed` without artifacts.

    Good: write the file and claim it, correct its path, or return `partial` or `failed`.
    """
    more = f" and {len(paths) - 1} more" if len(paths) > 1 else ""
    message = f"'{paths[0][:200]}'{more} was claimed before, is still not there, and nothing is claimed in its place"
    return Diagnostic(
        "EVD006", "error", message, "Write the file, name the one that is meant, or say partial.",
        pointer="/artifacts",
    )  # fmt: skip


def manifest_rewritten(path: str, severity: Severity) -> Diagnostic:
    """The manifest no longer begins with its content from before the run.

    Why: a manifest is append-only. An agent that rewrites it can lose entries of other agents.

    Bad: a manifest with only the agent's own entry, or with its older lines sorted or cleaned up.

    Good: restore the older lines and append the entry below them, as `remit findings add` does.
    """
    message = f"'{path[:200]}' doesn't start with its earlier content any more: entries were removed or changed"
    hint = "Restore the earlier content byte for byte, and only append your entry."
    return Diagnostic("EVD007", severity, message, hint)


def change_unknown(path: str, reason: str) -> Diagnostic:
    """A claimed file is there, and Remit cannot decide whether the run changed it.

    Why: git ignores the file and its times don't show who changed it, the file can't be read, or Remit saw the agent
    too late. The verdict is `unproven`: Remit neither accepts the claim nor calls it false.

    Bad: an edit to an existing file that git ignores, outside the folders where artifacts are expected.

    Good: artifacts are in folders that git doesn't ignore, or where Remit expects them.
    """
    message = f"Remit cannot verify '{path[:200]}': {reason}"
    return Diagnostic("EVD008", "warning", message, "Check the file yourself.", pointer="/artifacts")


def made_by_nested(path: str, agent: str, session_id: str) -> Diagnostic:
    """A claimed file comes from a nested run whose work was not accepted.

    Why: work that failed, or that Remit could not verify, does not become good work because the caller claims it or
    adds a line to it. The verdict is `unproven`. If a record of the caller's tools shows that the caller wrote the file
    afterwards, it is the caller's work.

    Bad: a nested run returns `failed` with `report.md`, and its caller claims `report.md` as `completed`.

    Good: the caller repairs the file with its harness's tools, runs the agent again, or returns `partial` and says what
    is missing.
    """
    message = f"'{path[:200]}' comes from {agent[:100]} ({session_id}), whose work was not accepted"
    hint = f"See remit show {session_id}; write the file with a tool that is recorded, or run the agent again."
    return Diagnostic("EVD009", "warning", message, hint, pointer="/artifacts")


def possibly_undone(paths: Sequence[str]) -> Diagnostic:
    """A claimed file is missing or unchanged, and another agent that ran meanwhile may have undone the work on it.

    Why: with several agents in one folder, one may delete or restore what another wrote. The verdict is `unproven`:
    Remit neither accepts the claim nor calls it false.

    Bad: two agents at once in one folder, and one of them runs `git checkout .` or `git clean`.

    Good: a worktree for each of them (`--worktree`).
    """
    more = f" and {len(paths) - 1} more" if len(paths) > 1 else ""
    message = f"'{paths[0][:200]}'{more} is not there or not changed; another run in this folder may have undone it"
    return Diagnostic("EVD010", "warning", message, "Give each agent its own worktree: --worktree.",
                      pointer="/artifacts")  # fmt: skip


def made_by_earlier_run(path: str, session_id: str, severity: Severity) -> Diagnostic:
    """A claimed file did not change in this run; an earlier run whose work was accepted made it.

    Why: a later phase of a task may list what the earlier phases made, and that isn't a false claim. If the earlier run
    worked on the same task, the claim counts. Otherwise the return is sent back; if that isn't possible, the verdict is
    `unproven`.

    Bad: an agent lists a file of another task among its own.

    Good: an agent claims the files that it made or changed.
    """
    message = f"'{path[:200]}' did not change in this run; {session_id} made it"
    return Diagnostic("EVD011", severity, message, "Claim only what you made or changed.", pointer="/artifacts")


def protected_name(sentence: str) -> Diagnostic:
    """A file or folder appeared at a protected name while the agent worked, or a protected file was changed.

    Why: such a name controls what agents can do or what a program starts: settings of a harness, agent files, git
    hooks. The kernel protects files that exist. Remit detects a new file after the command or at the return. If no
    other known process can have created it, Remit moves it to `.remit/quarantine`; otherwise, it only reports the
    file. If the kernel didn't limit the command, Remit also compares existing files with their saved content and
    restores them. Nothing is deleted.

    Bad: a command of the agent writes `.mcp.json`, or changes `remit.toml`.

    Good: the agent says in its return which setting it needs, and the user makes it. If a file in
    `.remit/quarantine` is yours, move it back.
    """
    return Diagnostic("EVD013", "warning", sentence, "Check it before you start a harness or git there.")


DIAGNOSTICS: dict[str, tuple[Callable[..., Diagnostic], Severity]] = {
    "EVD001": (unchanged, "error"),
    "EVD002": (no_writing_tool_used, "error"),
    "EVD003": (author_unknown, "warning"),
    "EVD004": (nested_run_unfinished, "error"),
    "EVD005": (starting_tree_lost, "warning"),
    "EVD006": (claim_withdrawn, "error"),
    "EVD007": (manifest_rewritten, "error"),
    "EVD008": (change_unknown, "warning"),
    "EVD009": (made_by_nested, "warning"),
    "EVD010": (possibly_undone, "warning"),
    "EVD011": (made_by_earlier_run, "error"),
    "EVD012": (manifest_outside, "error"),
    "EVD013": (protected_name, "warning"),
}
