"""The fields of requests that HTTP and MCP share, as types with their bounds. The names are those of the command line.

`remit.validation` checks requests against them and describes them as JSON Schema.
"""

from typing import Annotated, Any, Literal, Required, TypedDict

from msgspec import Meta

MAX_PROMPT = 4 * 1024 * 1024
MAX_WORD, MAX_TEXT = 200, 4_000
MAX_TIMEOUT_S = 7 * 86_400
MAX_COUNT = 10**15

Word = Annotated[str, Meta(min_length=1, max_length=MAX_WORD)]
Text = Annotated[str, Meta(min_length=1, max_length=MAX_TEXT)]
Words = Annotated[list[Word], Meta(max_length=50)]
Texts = Annotated[list[Text], Meta(max_length=50)]
FormatName = Literal["standard", "hyper", "manifest"]
ReturnFormat = Annotated[FormatName, Meta(description="Format that the agent returns. Default: the agent's own.")]
ResultFormat = Annotated[FormatName, Meta(description="Format of the result. Default: the agent's own.")]
RunId = Annotated[Word, Meta(description="Session id of a run: whole, its beginning or its end.")]
TaskNumber = Annotated[int, Meta(ge=1, le=10**9)]
TaskId = Annotated[str, Meta(min_length=1, max_length=MAX_WORD, pattern=r"^#?\w[\w.:/#@+-]{0,199}$")]
Task = Annotated[
    TaskNumber | TaskId, Meta(description="Task: its number, or its id in an outside system, such as T1234.")
]
Timeout = Annotated[float, Meta(ge=0, le=MAX_TIMEOUT_S, description="Time limit for the run, in seconds.")]
Prompt = Annotated[str, Meta(min_length=1, max_length=MAX_PROMPT, description="What the agent is to do.")]
Inputs = Annotated[
    dict[str, Annotated[str, Meta(max_length=MAX_PROMPT)]],
    Meta(max_length=100, description="Inputs that the agent's file asks for, by name."),
]
Marker = Annotated[Word, Meta(description="Marker, such as RESEARCHED or IN PROGRESS.")]
Reason = Annotated[Text, Meta(description="Reason; required for BLOCKED and ABANDONED.")]


class LimitFields(TypedDict, total=False):
    """The limits of a run. Except for `timeout`, they count all nested runs, too. Default: no limit."""

    timeout: Timeout
    max_seconds: Annotated[
        float, Meta(ge=0, le=MAX_TIMEOUT_S, description="Time limit for the run and all nested runs, in seconds.")
    ]
    max_turns: Annotated[int, Meta(ge=1, le=MAX_COUNT, description="Limit on model turns, nested runs included.")]
    max_tokens: Annotated[int, Meta(ge=1, le=MAX_COUNT, description="Limit on tokens, nested runs included.")]
    max_usd: Annotated[float, Meta(ge=0, le=MAX_COUNT, description="Spend limit in USD, nested runs included.")]
    max_delegations: Annotated[int, Meta(ge=0, le=MAX_COUNT, description="Limit on nested runs, at any depth.")]


class RunRequest(LimitFields, total=False):
    """A request for a run."""

    prompt: Required[Prompt]
    agent: Annotated[Word, Meta(description="Name of an agent file. Default: none, the harness works without one.")]
    inputs: Inputs
    task: Task
    runner: Annotated[
        Word, Meta(description="Harness: claude, opencode, codex, gemini, or a runner of the workspace's settings.")
    ]
    return_format: ReturnFormat
    format: ResultFormat
    worktree: Annotated[bool, Meta(description="Work in a git worktree of its own.")]
    confine: Annotated[bool, Meta(description="Limit writes to the workspace without protected files.")]
    checks: Annotated[
        list[Word], Meta(max_length=20, description="Acceptance checks of the workspace's settings, by name.")
    ]
    schema: Annotated[dict[str, Any], Meta(description="JSON Schema (2020-12) that `data` in the return has to fit.")]


LIMITS = ("max_seconds", "max_turns", "max_tokens", "max_usd", "max_delegations")
"""The limits that a request counts over nested runs, by the names of `Budget`."""
