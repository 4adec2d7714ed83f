"""The parameters of each operation of the API: path, query and body, as types."""

from typing import Annotated, Literal, Required, TypedDict

from msgspec import Meta

from remit.request_fields import (
    MAX_TEXT,
    MAX_WORD,
    FormatName,
    Marker,
    Prompt,
    Reason,
    ResultFormat,
    RunId,
    Task,
    Text,
    Timeout,
    Word,
)
from remit.server.request_body import MAX_MESSAGE_BYTES

MAX_LIMIT, DEFAULT_LIMIT = 500, 100

_Limit = Annotated[int, Meta(ge=1, le=MAX_LIMIT, description="Items on a page.")]
_Cursor = Annotated[str, Meta(min_length=1, max_length=400, description="next_cursor of the page before.")]
_Page = Annotated[int, Meta(ge=1, le=1_000_000, description="Page of the text, from 1.")]
_After = Annotated[int, Meta(ge=0, le=10**15, description="Only items after this number.")]
_Number = Annotated[int, Meta(ge=1, le=10_000, description="Number of an attempt.")]
_Search = Annotated[str, Meta(max_length=MAX_WORD, description="Words that all have to occur.")]


class NoParameters(TypedDict):
    """No parameters."""


class RunPath(TypedDict):
    """A run."""

    id: RunId


class AttemptPath(RunPath):
    """An attempt of a run."""

    number: _Number


class TaskPath(TypedDict):
    """A task."""

    number: Task


class FindingPath(TypedDict):
    """A finding."""

    id: Annotated[Word, Meta(description="Id of a finding.")]


class RunsQuery(TypedDict, total=False):
    """Which runs to list."""

    state: Annotated[Literal["open", "finished", "all"], Meta(description="Open or finished runs. Default: all.")]
    agent: Annotated[Word, Meta(description="Only runs of this agent.")]
    verdict: Annotated[Word, Meta(description="Only runs with this verdict.")]
    status: Annotated[Word, Meta(description="Only runs with this status.")]
    stop_reason: Annotated[Word, Meta(description="Only runs with this stop reason.")]
    task: Task
    q: Annotated[str, Meta(max_length=MAX_WORD, description="Words in agent, work, session id or summary.")]
    roots: Annotated[bool, Meta(description="Only runs that no other run started.")]
    limit: _Limit
    cursor: _Cursor


class DetailsQuery(TypedDict, total=False):
    """How to show a run."""

    format: ResultFormat


class PageQuery(TypedDict, total=False):
    """Which page of a text."""

    page: _Page


class DiffQuery(TypedDict):
    """Which file to compare."""

    path: Annotated[str, Meta(min_length=1, max_length=1_000, description="File, relative to the project root.")]


class LogQuery(TypedDict, total=False):
    """Which lines of a log."""

    after: _After
    attempt: _Number
    limit: _Limit


class AfterQuery(TypedDict, total=False):
    """Where to continue."""

    after: _After


class EventsQuery(TypedDict, total=False):
    """Which events."""

    after: _After
    session: Annotated[Word, Meta(description="Only events of the tree that this run is in.")]
    limit: _Limit


class FindingsQuery(TypedDict, total=False):
    """Which findings to list."""

    q: _Search
    topic: Annotated[Word, Meta(description="Only findings with this topic.")]
    task: Annotated[Word, Meta(description="Only findings of this task.")]
    status: Annotated[Word, Meta(description="Only findings with this status.")]
    pending: Annotated[bool, Meta(description="Only findings that need a follow-up.")]
    limit: _Limit
    cursor: _Cursor


class ErrorsQuery(TypedDict, total=False):
    """Which errors to list."""

    open: Annotated[bool, Meta(description="Only errors that aren't fixed.")]


class ComplianceQuery(TypedDict, total=False):
    """Which runs to count."""

    days: Annotated[int, Meta(ge=1, le=366, description="Number of days.")]
    agent: Annotated[Word, Meta(description="Only runs of this agent.")]


class CancelBody(TypedDict, total=False):
    """How to cancel a run."""

    reason: Annotated[str, Meta(max_length=MAX_TEXT, description="Reason; the result has it.")]


class RetryBody(TypedDict, total=False):
    """How to retry a run."""

    timeout: Timeout


class ResumeBody(TypedDict):
    """How to resume a run."""

    prompt: Prompt


class CheckBody(TypedDict, total=False):
    """A final message to check."""

    text: Required[Annotated[str, Meta(max_length=MAX_MESSAGE_BYTES, description="The whole message.")]]
    format: Annotated[FormatName, Meta(description="Format of the return. Default: detected.")]
    session_id: Annotated[Word, Meta(description="Session id that was issued.")]


class LintBody(TypedDict, total=False):
    """Which agent files to lint."""

    paths: Annotated[
        list[Text], Meta(max_length=50, description="Files or folders of the workspace. Default: all agent files.")
    ]


class MoveBody(TypedDict, total=False):
    """Which marker to give a task."""

    marker: Required[Marker]
    reason: Reason
