"""The report of a run: its whole result, kept.

Owns how a result is made of a conclusion, and how both are kept until the finish steps and `remit show` read them. The
caller gets this result within its token budget.
"""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any

from remit.errors import StateError
from remit.ledger.texts import load_text
from remit.light_hash import take_sha256
from remit.model import ACCEPTABLE, DATA, AgentError, Artifact, Diagnostic
from remit.result import CheckResult, FailedStep, Result, ResultArtifact, ResultUsage
from remit.runs.admission.run_config import read_run_config
from remit.runs.judging.conclusion import Conclusion, WrittenFiles

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from remit.evidence.artifact_grades import ArtifactGrade
    from remit.evidence.tree import TreeChange
    from remit.ledger.home import Home
    from remit.ledger.runs import Run
    from remit.runners import Usage
    from remit.runs.admission.run_config import RunConfig
    from remit.runs.finish.finish_steps import FinishStep


_MOST_UNCLAIMED = 200
_NOTED = ("worktree", "preflight", "follow-ups", "outside", "pending", "phases", "status", "summary", "errors")
"""The finish steps that are reported to the caller even if they succeeded."""


def make_report(
    row: Run,
    conclusion: Conclusion,
    *,
    ended_ms: int,
    usage: Usage | None = None,
    answer: str | None = None,
    attempts: int = 0,
    diagnostics: Sequence[Diagnostic] = (),
) -> Result:
    """The whole result of a run, before the finish steps."""
    from remit.runs.results.build_return import write_return  # noqa: PLC0415 - loaded already if a return was judged

    config = read_run_config(row.details)
    format = conclusion.format or config.format or "standard"
    used = ResultUsage() if usage is None else ResultUsage(usage.tokens, usage.cost_usd, usage.turns)
    seconds = None if row.started_ms is None else (ended_ms - row.started_ms) / 1000
    result = Result(
        row.session_id,
        row.agent,
        conclusion.status,
        conclusion.summary,
        conclusion.verdict,
        conclusion.stop_reason,
        _name_paths(gather_artifacts(conclusion.artifacts, conclusion.grades), config, format),
        tuple(change.path for change in conclusion.unclaimed[:_MOST_UNCLAIMED]),
        len(conclusion.unclaimed),
        (*conclusion.diagnostics, *diagnostics),
        conclusion.errors,
        conclusion.next_steps,
        used._replace(seconds=seconds),
        max(1, attempts),
        row.depth,
        row.path,
        notes=conclusion.notes,
        answer="" if answer is None else take_sha256(answer.encode("utf-8", "surrogatepass")),
        needs_user=not all(agent_error.recoverable for agent_error in conclusion.errors),
        format=format,
        metadata=conclusion.metadata,
        extra=conclusion.extra,
        result_format=config.result_format,
        task_id=config.outside or str(row.task_number or ""),
        checks=conclusion.checks,
        data=conclusion.extra.get(DATA) if config.data_schema else None,
        has_schema=bool(config.data_schema),
    )
    return write_return(result)


def gather_artifacts(artifacts: Sequence[Artifact], grades: Mapping[str, ArtifactGrade]) -> tuple[ResultArtifact, ...]:
    """The artifacts of a return with the grade of each."""
    gathered = []
    for artifact in artifacts:
        grade = grades.get(artifact.path)
        reported = ResultArtifact(
            artifact.path, artifact.word or artifact.kind, artifact.summary or "", key_points=artifact.key_points,
            extra=artifact.extra, named=artifact.named,
        )  # fmt: skip
        if grade is not None:
            reported = reported._replace(
                grade=grade.grade, reason=grade.reason, sha256=grade.sha256 or "", size_bytes=grade.facts.size_bytes
            )
        gathered.append(reported)
    return tuple(gathered)


def _name_paths(artifacts: Sequence[ResultArtifact], config: RunConfig, format: str) -> tuple[ResultArtifact, ...]:
    """The artifacts with the path of each from the folder where paths of the format start, if the file is in there.

    An agent that was stopped has named none of its files.
    """
    start = {"hyper": config.workspace_root, "manifest": os.path.dirname(config.manifest)}.get(format)
    if not start or not config.root:
        return tuple(artifacts)
    base = os.path.join(config.root, start)
    named = []
    for each in artifacts:
        path = os.path.relpath(os.path.join(config.root, each.path), base)
        is_inside = not each.named and path.split("/")[0] != ".."
        named.append(each._replace(named=path) if is_inside else each)
    return tuple(named)


def add_steps(report: Result, steps: Sequence[FinishStep], *, root: str = "") -> Result:
    """The report of a run with its finish steps. A failed step is reported, but doesn't change the status.

    Sizes and hashes of artifacts that a step wrote into are those after it (D17).
    """
    edited = {os.path.realpath(os.path.join(root, file)) for step in steps if step.name != "git" for file in step.files}
    artifacts = tuple(_hash_again(each, os.path.join(root, each.path), edited) for each in report.artifacts)
    failed = [(step.name, step.error) for step in steps if step.state == "failed"]
    failed_steps = tuple(FailedStep(name, each.message, each.code, each.recommendation) for name, each in failed)
    reported = tuple(diagnostic for step in steps for diagnostic in step.diagnostics if diagnostic.severity != "note")
    noted = [step for step in steps if step.name in _NOTED and step.state == "done" and step.message]
    notes = tuple(f"{step.name}: {step.message}" for step in noted)
    return report._replace(
        artifacts=artifacts,
        failed_steps=(*report.failed_steps, *failed_steps),
        diagnostics=(*report.diagnostics, *reported),
        notes=(*notes, *report.notes),
    )


def _hash_again(artifact: ResultArtifact, file: str, edited: Collection[str]) -> ResultArtifact:
    """The artifact as it is now, if it is one of the files that were edited."""
    if not artifact.sha256 or os.path.realpath(file) not in edited:
        return artifact
    from remit.evidence.artifact_grades import hash_file  # noqa: PLC0415 - only for files that are there

    digest, _, found = hash_file(os.path.realpath(file))
    return artifact if found is None else artifact._replace(sha256=digest or "", size_bytes=found.st_size)


# --- kept ------------------------------------------------------------------------------------------------------------
def render_report(report: Result, conclusion: Conclusion) -> bytes:
    """The report as bytes, with the part of the conclusion that finish steps need."""
    kept: dict[str, Any] = {
        "result": {
            **report._asdict(),
            "artifacts": [each._asdict() | {"extra": dict(each.extra)} for each in report.artifacts],
            "diagnostics": [[*diagnostic[:5]] for diagnostic in report.diagnostics],
            "errors": [_dump_error(agent_error) for agent_error in report.errors],
            "usage": report.usage._asdict(),
            "checks": [each._asdict() for each in report.checks],
            "failed_steps": [each._asdict() for each in report.failed_steps],
            "metadata": dict(report.metadata),
            "extra": dict(report.extra),
            "data": None,
            "returned": dict(report.returned),
            "fitted": {},
        },
        "artifacts": [
            [artifact.kind, artifact.path, artifact.summary, artifact.word] for artifact in conclusion.artifacts
        ],
        "unclaimed": [[change.path, change.kind] for change in conclusion.unclaimed[:_MOST_UNCLAIMED]],
        "entry": conclusion.entry,
        "unsure": [*conclusion.unsure],
        "made": [*conclusion.made],
        "format": conclusion.format,
        "lowered": conclusion.lowered,
        "made_by_checks": [*conclusion.made_by_checks],
    }
    writes = conclusion.writes
    if writes is not None:
        kept["writes"] = [writes.changed, sorted(writes.seen), writes.is_recorded]
    return json.dumps(kept, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "surrogatepass")


def _dump_error(agent_error: AgentError) -> list[Any]:
    return [*agent_error[:6], sorted(agent_error.derived), dict(agent_error.extra)]


def load_report(home: Home, session_id: str) -> tuple[Result, Conclusion]:
    """The report and the conclusion of a concluded run."""
    kept = _load_kept(home, session_id)
    if kept is None:
        raise _make_missing_error(home, session_id)
    return read_report(kept)


def read_report(kept: dict[str, Any]) -> tuple[Result, Conclusion]:
    """A stored report, of this or another machine."""
    if "result" not in kept:
        raise StateError("another version of Remit recorded this run", hint="run it again")
    report = _read_result(kept["result"])
    artifacts = tuple(Artifact(kind, path, summary, word=word) for kind, path, summary, word in kept["artifacts"])
    unclaimed = _read_unclaimed(kept["unclaimed"]) if kept["unclaimed"] else ()
    status: Any = report.status
    conclusion = Conclusion(
        report.stop_reason, report.verdict, status, report.summary, artifacts, {}, unclaimed, report.errors,
        report.next_steps, report.diagnostics, report.notes, kept["entry"], tuple(kept.get("unsure", ())),
        _read_made(kept), _read_writes(kept) if "writes" in kept else None,
        report.extra, kept["format"], report.metadata, kept["lowered"], report.checks,
        tuple(kept["made_by_checks"]),
    )  # fmt: skip
    return report, conclusion


def _read_unclaimed(rows: list[Any]) -> tuple[TreeChange, ...]:
    from remit.evidence.tree import TreeChange  # noqa: PLC0415 - only where there are some

    return tuple(TreeChange(path, kind) for path, kind in rows)


def _make_missing_error(home: Home, session_id: str) -> StateError:
    from remit.ledger.runs import load_run  # noqa: PLC0415 - only to say why

    row = load_run(home.ledger, session_id)
    if row is not None and row.state == "finished":  # a harness's own agent
        message = f"the run {session_id} was only observed, so its answer isn't stored"
        return StateError(message, hint="see how it ended: remit ps --all")
    return StateError(f"the run {session_id} isn't finished", hint=f"wait for it: remit wait {session_id}")


def load_made(home: Home, session_id: str) -> tuple[tuple[str, str], ...]:
    """The accepted files of a run, with their git ids; empty if it isn't concluded or its report is removed."""
    kept = _load_kept(home, session_id)
    return () if kept is None else _read_made(kept)


def load_writes(home: Home, session_id: str) -> WrittenFiles:
    """The files that a concluded run wrote; unknown if that isn't stored."""
    return _read_writes(_load_kept(home, session_id) or {})


def _read_writes(kept: dict[str, Any]) -> WrittenFiles:
    changed, seen, is_recorded = kept.get("writes", (None, (), False))
    return WrittenFiles(changed, frozenset(seen), is_recorded)


def _load_kept(home: Home, session_id: str) -> Any:  # noqa: ANN401 - JSON
    data = load_text(home, session_id, "report")
    return None if data is None else json.loads(data.decode("utf-8", "surrogatepass"))


def _read_made(kept: dict[str, Any]) -> tuple[tuple[str, str], ...]:
    return tuple((place, digest) for place, digest in kept.get("made", ()))


def _read_result(values: dict[str, Any]) -> Result:
    known: dict[str, Any] = {name: tuple(value) if isinstance(value, list) else value for name, value in values.items()}
    known |= {
        "artifacts": tuple(_read_artifact(each) for each in values["artifacts"]),
        "diagnostics": tuple(Diagnostic(*each) for each in values["diagnostics"]),
        "errors": tuple(_read_error(each) for each in values["errors"]),
        "usage": ResultUsage(**values["usage"]),
        "checks": tuple(CheckResult(**each) for each in values["checks"]),
        "failed_steps": tuple(FailedStep(**each) for each in values["failed_steps"]),
    }
    result = Result(**known)
    return result._replace(data=result.extra.get(DATA)) if result.has_schema else result


def _read_artifact(values: dict[str, Any]) -> ResultArtifact:
    points = values["key_points"]
    return ResultArtifact(**values | {"key_points": None if points is None else tuple(points)})


def _read_error(values: list[Any]) -> AgentError:
    *known, details, derived, extra = values
    kind, message, code, recoverable, recommendation = known
    return AgentError(kind, message, code, recoverable, recommendation, details, frozenset(derived), extra)


_SENTENCES = {
    "completed": "Research complete. See MANIFEST.jsonl for summary.",
    "partial": "Research partial. See MANIFEST.jsonl for details.",
}
_BLOCKED = "Research blocked. See MANIFEST.jsonl for blocker details."


def render_sentence(result: Result) -> str:
    """The sentence of a `manifest` result, and a line of Remit's if Remit changed it; empty for other formats."""
    if (result.result_format or result.format) != "manifest":
        return ""
    sentence = _SENTENCES.get(result.status, _BLOCKED)
    if result.verdict in ACCEPTABLE and result.stop_reason == "exited" and not result.is_lowered_by_checks:
        return sentence
    why = next((f" {agent_error.code}: {agent_error.message}." for agent_error in result.errors), "")
    return f"{sentence}\nRemit: {result.status}, {result.verdict}.{why} {result.show} shows all of it."
