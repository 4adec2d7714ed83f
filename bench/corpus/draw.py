"""Samples: a job, a format, a session id and the return that the agent means to send.

Owns the seeded randomness. Every category draws from a generator of its own, seeded with its name, so that a change
in one category leaves the messages of all others as they were.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Final, TypeAlias

from .case import Case, Payload
from .jobs import JOBS, File, Job

STANDARD: Final = "standard"
HYPER: Final = "hyper"
_HYPER_SHARE: Final = 0.3
_STANDARD_STATUSES: Final = ("completed",) * 6 + ("partial", "partial", "failed", "blocked")
_HYPER_STATUSES: Final = ("complete",) * 6 + ("partial", "partial", "error", "error")
_ID_LETTERS: Final = "abcdefghijklmnopqrstuvwxyz0123456789"
_SOURCE_KINDS: Final = {"md": "document", "mdx": "document", "json": "data", "yaml": "data", "csv": "data"}


@dataclass(frozen=True, slots=True)
class Sample:
    """What one agent was asked to do, and the return it means to send."""

    job: Job
    return_format: str
    session_id: str
    payload: Payload

    def having(self, payload: Payload) -> Sample:
        """The same work with another return."""
        return replace(self, payload=payload)

    def found(self, variant: str, text: str, *, also: Iterable[Payload] = (), may_refuse: bool = False) -> Draft:
        """A message in which this sample's return must be found."""
        return Draft(self, variant, text, self.payload, tuple(also), may_refuse)

    def refused(self, variant: str, text: str) -> Draft:
        """A message of which nothing may be accepted."""
        return Draft(self, variant, text, None)


@dataclass(frozen=True, slots=True)
class Draft:
    """A case before it has its number."""

    sample: Sample
    variant: str
    text: str
    expected: Payload | None
    also: tuple[Payload, ...] = ()
    may_refuse: bool = False

    def numbered(self, category: str, number: int) -> Case:
        """The case, once its place in the category is known."""
        return Case(
            name=f"{category}/{number:02d}-{self.variant}",
            category=category,
            text=self.text,
            return_format=self.sample.return_format,
            session_id=self.sample.session_id,
            expected=self.expected,
            also=self.also,
            may_refuse=self.may_refuse,
        )


class Draw:
    """The source of chance of one category."""

    def __init__(self, category: str) -> None:
        self.rng = random.Random(f"remit bench: {category}")  # noqa: S311 - repeatable, not secret

    def session_id(self) -> str:
        """A session id in the issued form."""
        tail = "".join(self.rng.choices(_ID_LETTERS, k=6))
        return f"sess_{self.rng.randint(1_760_000_000, 1_790_000_000)}_{tail}"

    def job(self) -> Job:
        """Any of the jobs."""
        return self.rng.choice(JOBS)

    def sample(self, return_format: str | None = None, *, status: str | None = None, job: Job | None = None) -> Sample:
        """A job and its return; about three in ten are of the hyper format."""
        picked = self.job() if job is None else job
        if return_format is None:
            return_format = HYPER if self.rng.random() < _HYPER_SHARE else STANDARD
        session_id = self.session_id()
        if return_format == HYPER:
            payload = hyper_return(picked, self.rng, status or self.rng.choice(_HYPER_STATUSES))
        else:
            payload = standard_return(picked, self.rng, status or self.rng.choice(_STANDARD_STATUSES), session_id)
        return Sample(picked, return_format, session_id, payload)

    def samples(self, count: int, return_format: str | None = None, *, status: str | None = None) -> Iterator[Sample]:
        """`count` samples one after the other."""
        return (self.sample(return_format, status=status) for _ in range(count))


Builder: TypeAlias = Callable[[Draw], Iterator[Draft]]


def build(category: str, builder: Builder) -> list[Case]:
    """The numbered cases of one category."""
    drafts = builder(Draw(category))
    return [draft.numbered(category, number) for number, draft in enumerate(drafts, start=1)]


def standard_return(job: Job, rng: random.Random, status: str, session_id: str) -> Payload:
    """A return in the `standard` format, its fields in the usual order."""
    payload: Payload = {
        "status": status,
        "summary": _summary(job, rng, status),
        "artifacts": [_standard_artifact(file) for file in _files(job, rng, status)],
        "metadata": _metadata(job, rng, session_id),
    }
    if status != "completed":
        payload["errors"] = [_error(job, rng, status)]
    elif rng.random() < 0.4:
        payload["errors"] = []
    if rng.random() < 0.8:
        payload["next_steps"] = rng.choice(job.steps)
    return payload


def hyper_return(job: Job, rng: random.Random, status: str) -> Payload:
    """A return in the `hyper` format, its fields in the usual order."""
    payload: Payload = {
        "meta": {"agent_name": job.worker, "status": status, "execution_time_ms": rng.randint(2_000, 900_000)},
        "artifacts": [_hyper_artifact(file) for file in _files(job, rng, status)],
        "next_steps": list(job.steps[: rng.randint(1, 3)]),
    }
    if status == "partial":
        payload["next_steps"].insert(0, job.trouble.recommendation)
    if status == "error":
        payload["error"] = {"code": job.trouble.code, "message": job.trouble.message}
        if rng.random() < 0.5:
            payload["error"]["details"] = f"Seen while working on {job.title.lower()}"
    return payload


def _summary(job: Job, rng: random.Random, status: str) -> str:
    if status == "completed":
        return " ".join(job.verdicts[: rng.randint(2, 3)])
    if status == "partial":
        return f"{job.verdicts[0]} Stopped before the end: {job.trouble.message}."
    if status == "blocked":
        return f"No work could be done on task {job.number}. {job.trouble.message}."
    return f"{job.title}: the work failed. {job.trouble.message}. Nothing usable was left."


def _files(job: Job, rng: random.Random, status: str) -> tuple[File, ...]:
    if status in {"completed", "complete"}:
        return job.files[: rng.randint(1, len(job.files))]
    return job.files[:1] if status == "partial" else ()


def _standard_artifact(file: File) -> Payload:
    return {"type": file.kind, "path": file.path, "summary": file.about}


def _hyper_artifact(file: File) -> Payload:
    kind = _SOURCE_KINDS.get(file.path.rpartition(".")[2], "code")
    return {"type": kind, "path": file.path, "summary": file.about, "key_points": list(file.points)}


def _metadata(job: Job, rng: random.Random, session_id: str) -> Payload:
    metadata: Payload = {
        "session_id": session_id,
        "duration_seconds": rng.randint(20, 7_000),
        "agent_type": job.agent,
        "delegation_depth": 1,
        "delegation_path": ["orchestrator", job.command, job.agent],
    }
    if rng.random() < 0.2:
        metadata["delegation_depth"] = 2
        metadata["delegation_path"].insert(2, "task-executor" if job.agent != "task-executor" else "team-lead")
    if job.command == "plan":
        metadata |= {"phase_count": rng.randint(2, 5), "estimated_hours": rng.choice((2.5, 8, 11, 14.5))}
    if job.command == "research":
        metadata["findings_count"] = rng.randint(2, 9)
    return metadata


def _error(job: Job, rng: random.Random, status: str) -> Payload:
    error: Payload = {
        "type": job.trouble.type,
        "message": job.trouble.message,
        "recoverable": status != "failed" or rng.random() < 0.5,
        "recommendation": job.trouble.recommendation,
    }
    if rng.random() < 0.5:
        error["code"] = job.trouble.code
    return error
