"""What each tool gives besides the objects that every interface has, as types."""

from typing import NotRequired, TypedDict

from remit.schemas import (
    DiagnosticObject,
    FindingObject,
    RequestDiagnosticObject,
    ResultObject,
    RunObject,
)


class RunAnswer(TypedDict):
    """The result of a run, or the run if it isn't over."""

    session_id: str
    over: bool
    agent: NotRequired[str]
    result: NotRequired[ResultObject]
    run: NotRequired[RunObject]
    request_diagnostics: NotRequired[list[RequestDiagnosticObject]]
    harness: NotRequired[str]
    message: NotRequired[str]


class ResultAnswer(TypedDict):
    """The result of a run, the run if it isn't over, or a page of a text."""

    session_id: str
    over: bool
    result: NotRequired[ResultObject]
    run: NotRequired[RunObject]
    part: NotRequired[str]
    text: NotRequired[str]
    page: NotRequired[int]
    pages: NotRequired[int]
    characters: NotRequired[int]


class RunsAnswer(TypedDict):
    """Runs."""

    runs: list[RunObject]
    more: int


class FindingsAnswer(TypedDict):
    """A page of findings."""

    entries: list[FindingObject]
    page: int
    more: bool
    manifest: str | None


class LintAnswer(TypedDict):
    """The diagnostics of agent files."""

    failed: bool
    files: int
    counts: dict[str, int]
    known: int
    diagnostics: list[DiagnosticObject]
    more_diagnostics: NotRequired[int]
