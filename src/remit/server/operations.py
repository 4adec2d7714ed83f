"""The table of operations: all that the API takes and gives.

Owns the one list that the routes are made from and that is told as OpenAPI: what is not in it is not there, and what is
in it is described. It is data; which function answers an operation is found by the operation's name.
"""

from __future__ import annotations

from typing import NamedTuple

from remit.mcp import schemas as s
from remit.mcp.schemas import BOOL, OBJECT, OBJECT_OR_NONE, TEXT, TEXT_OR_NONE, WHOLE, many
from remit.server.request_body import MAX_BYTES, MAX_MESSAGE_BYTES
from remit.server.response_schemas import page, refer, shape

BASE = "/api/v1"
MOST, USUAL = 500, 100
_HOMES = "remit.server."
_MAX_EVENT = 10**15


class Operation(NamedTuple):
    """Something that can be asked for."""

    method: str
    path: str
    """Below the base."""
    name: str
    """Of the function that answers it."""
    tag: str
    about: str
    gives: s.Schema | None
    home: str
    takes: s.Schema = s.takes()
    """The query."""
    names: s.Schema = s.takes()
    """What stands in the path."""
    body: s.Schema | None = None
    status: int = 200
    max_bytes: int = MAX_BYTES
    streams: s.Schema | None = None
    """What each event of a stream carries, where it is one."""
    once: bool = False
    """Whether it is carried out once however often it is sent with one Idempotency-Key."""
    changes: bool = False
    """Whether it may be refused for what the workspace is or because an agent asks."""


_ID = {"id": s.text("The session of a delegation: its whole id, its beginning or its end.")}
_OF = s.takes(("id",), **_ID)
_NUMBERED = s.takes(("id", "number"), **_ID, number=s.count("Which attempt.", least=1, most=10_000))
_LIMIT = s.count("How many to a page.", least=1, most=MOST)
_CURSOR = s.text("next_cursor of the page before.", most=400)
_PAGE = s.count("Which page of the text, from 1.", least=1, most=1_000_000)
_AFTER = s.count("Only what comes after this number.", most=_MAX_EVENT)
_TIMEOUT = s.seconds("How long it may take.", most=86_400 * 7)
_BUDGET = {
    "type": "object",
    "description": "What it may use at most, with all that it hands on.",
    "properties": {
        "tokens": s.count("How many tokens.", least=1, most=10**12),
        "cost_usd": s.seconds("How many dollars.", most=10**9),
        "turns": s.count("How many turns of its model.", least=1, most=10**6),
    },
    "additionalProperties": False,
}
_INPUTS = {
    "type": "object",
    "description": "What the agent's file asks for, by name.",
    "additionalProperties": s.text(most=s.MAX_PROMPT, least=0),
    "maxProperties": 100,
}
_FORMAT = s.choice("Format of the return.", "standard", "hyper", "manifest")
_RESULT_FORMAT = s.choice("The format of the result. Default: the agent's own.", "standard", "hyper", "manifest")
_STARTED = {"allOf": [refer("Standing")]}
_LINES = shape(lines=many(refer("Line")), over=BOOL, next=WHOLE)

OPERATIONS: tuple[Operation, ...] = (
    Operation(
        "GET", "/delegations", "list_delegations", "delegations", "List delegations, newest first.",
        page(refer("Run"), total=WHOLE, event=WHOLE, agents=many(TEXT)), f"{_HOMES}run_routes",
        s.takes(
            state=s.choice("Those that are open, or over; all when left out.", "open", "finished", "all"),
            agent=s.text("Of this agent."),
            verdict=s.text("With this outcome."),
            status=s.text("With this status."),
            stop_reason=s.text("That ended so."),
            task=s.task("Of this task."),
            q=s.text("Words that are in agent, work, session or summary.", least=0),
            roots=s.flag("Only those that a person asked for."),
            limit=_LIMIT,
            cursor=_CURSOR,
        ),
    ),
    Operation(
        "POST", "/delegations", "delegate", "delegations",
        "Hand work to an agent; it goes on in a process of its own.",
        _STARTED, f"{_HOMES}run_routes",
        body=s.takes(
            ("prompt",),
            agent=s.text("The name of an agent file. Default: none, the harness works without one."),
            prompt=s.text("What is to be done.", most=s.MAX_PROMPT),
            task=s.task("The task that it works on."),
            inputs=_INPUTS,
            timeout_seconds=_TIMEOUT,
            runner=s.text("Which harness runs it."),
            return_format=_FORMAT,
            format=_RESULT_FORMAT,
            worktree=s.flag("Work in a git worktree of its own."),
            confine=s.flag("Limit writes to the workspace without protected files."),
            budget=_BUDGET,
        ),
        status=201, once=True, changes=True,
    ),
    Operation(
        "GET", "/delegations/{id}", "get_delegation", "delegations", "All that is known of one run.",
        refer("Node"), f"{_HOMES}run_routes",
        s.takes(format=_RESULT_FORMAT),
        names=_OF,
    ),
    Operation(
        "GET", "/delegations/{id}/tree", "get_tree", "delegations", "The whole run that a delegation is in.",
        shape(root_id=TEXT, items=many(refer("Standing")), truncated=BOOL, event=WHOLE), f"{_HOMES}run_routes",
        names=_OF,
    ),
    Operation(
        "GET", "/delegations/{id}/prompt", "get_prompt", "delegations", "The first message that an agent was given.",
        refer("Text"), f"{_HOMES}run_routes", s.takes(page=_PAGE), names=_OF,
    ),
    Operation(
        "GET", "/delegations/{id}/answers/{number}", "get_answer", "delegations", "What an agent answered.",
        refer("Text"), f"{_HOMES}run_routes", s.takes(page=_PAGE), names=_NUMBERED,
    ),
    Operation(
        "GET", "/delegations/{id}/diff", "get_diff", "delegations",
        "What became of a file since the work began.",
        shape(path=TEXT, base=TEXT_OR_NONE, state=TEXT, note=TEXT_OR_NONE, hunks=many(OBJECT), truncated=BOOL),
        f"{_HOMES}run_routes", s.takes(("path",), path=s.text("The file, below the root.", most=1_000)), names=_OF,
    ),
    Operation(
        "GET", "/delegations/{id}/log", "get_log", "delegations", "What an agent has printed, as lines.",
        _LINES, f"{_HOMES}run_routes",
        s.takes(after=_AFTER, attempt=s.count("Only of this attempt.", least=1, most=10_000), limit=_LIMIT), names=_OF,
    ),
    Operation(
        "GET", "/delegations/{id}/log/stream", "stream_log", "delegations", "What an agent prints, as it comes.",
        None, f"{_HOMES}stream_routes", s.takes(after=_AFTER), names=_OF, streams=refer("Line"),
    ),
    Operation(
        "POST", "/delegations/{id}/cancel", "cancel_delegation", "delegations", "End a delegation and all below it.",
        shape(cancelled=many(TEXT), note=TEXT), f"{_HOMES}run_routes", names=_OF,
        body=s.takes(reason=s.text("Why; it is told with the result.", most=s.MAX_TEXT, least=0)), changes=True,
    ),
    Operation(
        "POST", "/delegations/{id}/retry", "retry_delegation", "delegations",
        "Hand the same work to the same agent again.",
        _STARTED, f"{_HOMES}run_routes", names=_OF, body=s.takes(timeout_seconds=_TIMEOUT),
        status=201, once=True, changes=True,
    ),
    Operation(
        "POST", "/delegations/{id}/resume", "resume_delegation", "delegations",
        "Go on in the session of an agent that has ended.",
        _STARTED, f"{_HOMES}run_routes", names=_OF,
        body=s.takes(("prompt",), prompt=s.text("What is to be done now.", most=s.MAX_PROMPT)),
        status=201, once=True, changes=True,
    ),
    Operation(
        "GET", "/events", "get_events", "events",
        "What happens, as it happens: a stream of server-sent events, or with Accept: application/json a page of them.",
        shape(items=many(refer("Change")), next=WHOLE, last=WHOLE, reset=BOOL), f"{_HOMES}stream_routes",
        s.takes(after=_AFTER, session=s.text("Only what happens in the run that this session is in."), limit=_LIMIT),
        streams=refer("Change"),
    ),
    Operation(
        "POST", "/check", "check_message", "returns", "Judge an agent's final message.",
        refer("Verdict"), f"{_HOMES}check_routes",
        body=s.takes(
            ("text",),
            text=s.text("The message, whole.", most=MAX_MESSAGE_BYTES, least=0),
            format=_FORMAT,
            session_id=s.text("The session that was issued."),
        ),
        max_bytes=MAX_MESSAGE_BYTES,
    ),
    Operation(
        "POST", "/lint", "lint_agents", "agents", "Judge the agent files of the workspace.",
        shape(files=many(OBJECT), counts=OBJECT), f"{_HOMES}check_routes",
        body=s.takes(paths=s.texts("Files or folders of the workspace; all of it when left out.", each=s.MAX_TEXT)),
        max_bytes=MAX_MESSAGE_BYTES, changes=True,
    ),
    Operation(
        "GET", "/agents", "list_agents", "agents", "The agent files, what is wrong with them, and who calls whom.",
        shape(files=many(OBJECT), graph=OBJECT_OR_NONE, counts=OBJECT, runners=many(TEXT)), f"{_HOMES}workspace_routes",
    ),
    Operation(
        "GET", "/tasks", "list_tasks", "work", "The tasks, and where their files disagree.",
        shape(markers=many(TEXT), tasks=many(OBJECT), drift=many(OBJECT)), f"{_HOMES}workspace_routes",
    ),
    Operation(
        "GET", "/tasks/{number}", "get_task", "work", "One task.",
        OBJECT, f"{_HOMES}workspace_routes",
        names=s.takes(("number",), number=s.task("The task.")),
    ),
    Operation(
        "POST", "/tasks/{number}/move", "move_task", "work", "Give a task another marker.",
        OBJECT, f"{_HOMES}workspace_routes",
        names=s.takes(("number",), number=s.task("The task. An outside system moves its tasks itself.")),
        body=s.takes(
            ("marker",), marker=s.text("Such as RESEARCHED or IN PROGRESS."),
            reason=s.text("Why; needed for BLOCKED and ABANDONED.", most=s.MAX_TEXT),
        ),
        changes=True,
    ),
    Operation(
        "GET", "/manifest", "list_entries", "work", "Entries of the manifest, newest first.",
        page(OBJECT), f"{_HOMES}workspace_routes",
        s.takes(
            q=s.text("Words that all have to occur.", least=0),
            topic=s.text("With this topic."),
            task=s.text("Of this task."),
            status=s.text("With this status."),
            pending=s.flag("Only those about which somebody still has to do something."),
            limit=_LIMIT,
            cursor=_CURSOR,
        ),
    ),
    Operation(
        "GET", "/manifest/{id}", "get_entry", "work", "One entry of the manifest.", OBJECT, f"{_HOMES}workspace_routes",
        names=s.takes(("id",), id=s.text("The id of an entry.")),
    ),
    Operation(
        "GET", "/errors", "list_errors", "work", "The errors that were logged, by cause.",
        shape(groups=many(OBJECT), file=TEXT_OR_NONE, findings=many(OBJECT)), f"{_HOMES}workspace_routes",
        s.takes(open=s.flag("Only those that are not fixed.")),
    ),
    Operation(
        "GET", "/compliance", "get_compliance", "agents", "How often agents kept to their contract.",
        shape(agents=many(OBJECT), days=many(OBJECT), kept_out_estimated=BOOL), f"{_HOMES}workspace_routes",
        s.takes(days=s.count("Of how many days.", least=1, most=366), agent=s.text("Only of this agent.")),
    ),
    Operation(
        "GET", "/cluster", "get_cluster", "server",
        "The machines that work for this workspace, and what waits for them; only `backend` where it is this one.",
        refer("Cluster"), f"{_HOMES}workspace_routes",
    ),
    Operation(
        "GET", "/status", "get_status", "server", "The workspace at a glance.",
        shape(version=TEXT, root=TEXT, branch=TEXT_OR_NONE, event=WHOLE, runs=OBJECT, backend=TEXT),
        f"{_HOMES}workspace_routes",
    ),
    Operation(
        "GET", "/openapi.json", "get_description", "server", "This description.", OBJECT, f"{_HOMES}openapi",
    ),
    Operation(
        "POST", "/login-tokens", "make_login", "server",
        "An address that opens one session in a browser, within a minute. Only with the API's own token.",
        shape(url=TEXT, expires_ms=WHOLE), f"{_HOMES}login", status=201, body=s.takes(), changes=True,
    ),
    Operation(
        "DELETE", "/session", "log_out", "server", "Log out.", None, f"{_HOMES}login", status=204,
    ),
)  # fmt: skip
