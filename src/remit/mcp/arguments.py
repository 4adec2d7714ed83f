"""The arguments of each tool, as types."""

from typing import Annotated, Literal, Required, TypedDict

from msgspec import Meta

from remit.request_fields import (
    FormatName,
    Marker,
    Reason,
    RunId,
    RunRequest,
    Task,
    Text,
    Texts,
    Word,
    Words,
)

MAX_WAIT_S = 3600
MAX_MESSAGE = 2 * 1024 * 1024

_Caller = Annotated[Word, Meta(description="Only for a subagent of a harness: its own session id, as instructed.")]
_Page = Annotated[int, Meta(ge=1, description="Page, from 1. Default: 1.")]
_Message = Annotated[str, Meta(min_length=1, max_length=MAX_MESSAGE)]


class DelegateArguments(RunRequest, total=False):
    """A run, and how long to wait for it."""

    detach: Annotated[bool, Meta(description="Return at once; the run continues.")]
    wait_seconds: Annotated[
        float, Meta(ge=0, le=MAX_WAIT_S, description="Return after this time at the latest. Default: wait for the end.")
    ]
    caller: _Caller


class StatusArguments(TypedDict, total=False):
    """Which runs to list."""

    session_id: RunId
    all: Annotated[bool, Meta(description="List finished runs, too, newest first.")]


class ResultArguments(TypedDict, total=False):
    """Which result to get."""

    session_id: Required[RunId]
    part: Annotated[Literal["result", "report", "answer"], Meta(description="Default: result.")]
    page: _Page
    wait_seconds: Annotated[
        float, Meta(ge=0, le=MAX_WAIT_S, description="Time to wait for the end of the run. Default: don't wait.")
    ]


class CancelArguments(TypedDict, total=False):
    """Which run to cancel."""

    session_id: Required[RunId]
    reason: Annotated[Word, Meta(description="Reason; the result has it.")]
    caller: _Caller


class CheckReturnArguments(TypedDict, total=False):
    """A final message to check."""

    message: Required[Annotated[_Message, Meta(description="The whole final message.")]]
    format: Annotated[FormatName, Meta(description="Format of the return. Default: known or detected.")]
    session_id: Annotated[Word, Meta(description="Issued session id, if Remit can't know it.")]
    agent: Annotated[Word, Meta(description="Name of the agent, if Remit can't know it.")]
    caller: _Caller


class SubmitReturnArguments(TypedDict, total=False):
    """A return to submit."""

    message: Required[Annotated[_Message, Meta(description="The return: the JSON object that was asked for.")]]
    caller: _Caller


class FindFindingsArguments(TypedDict, total=False):
    """Which findings to list."""

    words: Annotated[
        Words, Meta(description="Words that all have to occur; words in quotation marks have to stand together.")
    ]
    topic: Annotated[Word, Meta(description="Only findings with this topic.")]
    task: Annotated[Word, Meta(description="Only findings of this task.")]
    status: Annotated[Word, Meta(description="Only findings with this status: complete, partial or blocked.")]
    since: Annotated[Word, Meta(description="Only from this day on, YYYY-MM-DD.")]
    until: Annotated[Word, Meta(description="Only up to this day, YYYY-MM-DD.")]
    actionable: Annotated[bool, Meta(description="Only findings that ask for action, or that don't.")]
    pending: Annotated[bool, Meta(description="Only findings that need a follow-up.")]
    limit: Annotated[int, Meta(ge=1, le=50, description="Findings on a page. Default: 10.")]
    cursor: Annotated[Word, Meta(description="next_cursor of the page before.")]


class AddFindingArguments(TypedDict, total=False):
    """A finding to add."""

    title: Required[Annotated[Text, Meta(description="Title, for users.")]]
    key_findings: Required[Annotated[Texts, Meta(description="3 to 7 findings, one sentence each.")]]
    topics: Annotated[Words, Meta(description="Tags to find it by.")]
    status: Annotated[Literal["complete", "partial", "blocked"], Meta(description="Default: complete.")]
    actionable: Annotated[bool, Meta(description="Whether the findings ask for action. Default: true.")]
    needs_followup: Annotated[Texts, Meta(description="Follow-up tasks, or what is missing.")]
    linked_tasks: Annotated[Words, Meta(description="Tasks that it was made for.")]
    date: Annotated[Word, Meta(description="Day, YYYY-MM-DD. Default: today.")]
    slug: Annotated[Word, Meta(description="Topic in id and file name. Default: made from the title.")]
    file: Annotated[Text, Meta(description="Findings file. Default: DATE_TOPIC.md beside the manifest.")]
    write_file: Annotated[bool, Meta(description="Create the findings file.")]
    summary: Annotated[Text, Meta(description="For write_file: the conclusion, in 2 or 3 sentences.")]
    recommendations: Annotated[Texts, Meta(description="For write_file: what to do now.")]
    sources: Annotated[Texts, Meta(description="For write_file: the sources.")]


class TaskShowArguments(TypedDict):
    """Which task to show."""

    task: Task


class TaskMoveArguments(TypedDict, total=False):
    """Which marker to give a task."""

    number: Required[Task]
    marker: Required[Marker]
    reason: Reason
    phase: Annotated[Word, Meta(description="A phase of the plan instead of the task.")]


class ChecksArguments(TypedDict, total=False):
    """Which acceptance checks to run."""

    names: Annotated[list[Word], Meta(max_length=20, description="Checks to run, by name. Default: all.")]
    only_list: Annotated[bool, Meta(description="List the checks, and run none.")]


class LintArguments(TypedDict, total=False):
    """Which agent files to lint."""

    paths: Annotated[Texts, Meta(description="Files or folders of the workspace. Default: all agent files.")]
    select: Annotated[Words, Meta(description="Rules to apply, by code. Default: all.")]
    ignore: Annotated[Words, Meta(description="Rules not to apply, by code.")]
    fail_on: Annotated[Literal["error", "warning", "note"], Meta(description="Lowest severity that counts as failed.")]
