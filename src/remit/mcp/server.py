"""The server: connects the MCP library with Remit's catalog, tools and transport.

This is the only module that imports the library, which supports all versions of the protocol. The server reports
progress and passes cancellation on. If a tool fails, its answer is an error that a model can read; errors of the
protocol are for invalid requests of the harness.
"""

from __future__ import annotations

import asyncio
import json
import logging
import signal
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any

import anyio
import mcp_types as types
from mcp.server.lowlevel import Server
from mcp.shared.exceptions import MCPError
from mcp.shared.message import SessionMessage
from pydantic import ValidationError

from remit.errors import RemitError, UsageError
from remit.mcp import catalog
from remit.mcp.handshake import REPLAYED
from remit.mcp.output_limits import Bounds
from remit.mcp.resources import list_resources, read_resource
from remit.mcp.run_tools import render_progress
from remit.mcp.stdio import INTERNAL_ERROR, INVALID_REQUEST, get_request_id
from remit.mcp.tools import Call, call_tool
from remit.runs.hosted_runs import HostedRuns
from remit.spelling import did_you_mean
from remit.terminal import quote
from remit.views.json_builders import build_error
from remit.views.render import render_json

if TYPE_CHECKING:
    from collections.abc import Callable

    from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
    from mcp.server.context import ServerRequestContext

    from remit.mcp.handshake import Dispatcher
    from remit.runs.hosted_runs import ReportProgress
    from remit.runs.progress import RunProgress
    from remit.schemas import ErrorObject

    Context = ServerRequestContext[Any]
    Release = Callable[[str | int | None], None]

NOT_FOUND = -32002
QUICK_S = 5.0
"""How long the server finishes pending answers after the input has ended."""
_HEARTBEAT_S = 10.0
"""The longest time between two progress reports: some harnesses give up a call that is silent for long."""
_POLL_S = 0.02
_WRITING_S = 1.0
_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
_LOG = logging.getLogger("remit.mcp")


async def serve(dispatcher: Dispatcher) -> None:
    """Serve the dispatcher's messages until the input ends or a signal arrives."""
    logging.basicConfig(stream=sys.stderr, level=logging.WARNING, format="remit mcp: %(message)s")
    hosted = HostedRuns()
    bridge = _Bridge(dispatcher)
    server = make_server(hosted, dispatcher.release)
    running = asyncio.ensure_future(
        server.run(bridge.incoming, bridge.outgoing, server.create_initialization_options())  # ends with its input
    )
    writing = asyncio.ensure_future(bridge.write())
    await bridge.begin()
    ending: asyncio.Task[bool] = asyncio.ensure_future(bridge.is_ending.wait())
    await asyncio.wait({ending, running}, return_when=asyncio.FIRST_COMPLETED)
    hosted.is_ending = True  # from here on, a cancelled request doesn't cancel its run
    await bridge.close()
    try:
        await running
    except Exception:  # noqa: BLE001 - a bug in the server must not end the runs
        _LOG.exception("the connection failed")
    for session_id in await hosted.end():
        _LOG.warning("%s continues; get its result with: remit wait %s", session_id, session_id)
    await asyncio.wait({writing}, timeout=_WRITING_S)  # a harness that is ending may not read any more


class _Bridge:
    """Passes messages between the dispatcher's thread and the library's streams."""

    def __init__(self, dispatcher: Dispatcher) -> None:
        self.dispatcher = dispatcher
        self.is_ending = asyncio.Event()
        self.incoming: MemoryObjectReceiveStream[SessionMessage | Exception]
        self.outgoing: MemoryObjectSendStream[SessionMessage]
        self._send, self.incoming = anyio.create_memory_object_stream[SessionMessage | Exception](0)
        self.outgoing, self._sent = anyio.create_memory_object_stream[SessionMessage](0)
        self._loop = asyncio.get_running_loop()
        self._lock = asyncio.Lock()
        self._writer = ThreadPoolExecutor(1, "remit-mcp-write")  # tools may occupy all threads of the usual pool
        self._is_stopped = False

    async def begin(self) -> None:
        """Pass on the messages that the dispatcher has queued, then all later ones."""
        for number in _SIGNALS:
            if signal.getsignal(number) is not signal.SIG_IGN:
                self._loop.add_signal_handler(number, self._stop)
        async with self._lock:
            queued, has_ended = self.dispatcher.attach(self._deliver, self._end)
            for message in queued:
                await self._pass_on(message)
        if has_ended:
            self.is_ending.set()

    def _stop(self) -> None:
        self._is_stopped = True
        self.is_ending.set()

    def _end(self) -> None:
        """End the server after the end of the input. Called in the thread that reads."""
        with suppress(RuntimeError):  # the loop has ended
            self._loop.call_soon_threadsafe(self.is_ending.set)

    def _deliver(self, message: dict[str, Any]) -> None:
        """Pass a message on and wait until the library has accepted it. Called in the thread that reads."""
        with suppress(RuntimeError, asyncio.CancelledError):
            asyncio.run_coroutine_threadsafe(self._pass_on_in_order(message), self._loop).result()

    async def _pass_on_in_order(self, message: dict[str, Any]) -> None:
        async with self._lock:
            await self._pass_on(message)

    async def _pass_on(self, message: dict[str, Any]) -> None:
        try:
            parsed = types.jsonrpc_message_adapter.validate_python(message, by_name=False)
        except ValidationError:
            request_id, problem = get_request_id(message), "this isn't a valid JSON-RPC 2.0 message"
            self.dispatcher.release(request_id)
            refuse = partial(self.dispatcher.transport.refuse, INVALID_REQUEST, problem, request_id=request_id)
            await self._loop.run_in_executor(self._writer, refuse)
            return
        with suppress(anyio.BrokenResourceError, anyio.ClosedResourceError):
            await self._send.send(SessionMessage(parsed))

    async def close(self) -> None:
        """Close the library's input, after answering the pending requests that don't take long."""
        last = time.monotonic() + QUICK_S
        while self.dispatcher.has_pending and not self._is_stopped and time.monotonic() < last:  # noqa: ASYNC110 - no event is set for it
            await asyncio.sleep(_POLL_S)
        await self._send.aclose()

    async def write(self) -> None:
        """Send the library's messages to the client until the library closes its stream."""
        async with self._sent:
            async for message in self._sent:
                sent = message.message
                request_id = sent.id if isinstance(sent, types.JSONRPCResponse | types.JSONRPCError) else None
                self.dispatcher.release(request_id)
                if request_id != REPLAYED:
                    await self._loop.run_in_executor(self._writer, self.dispatcher.transport.write, _dump(sent))
                if self.dispatcher.transport.is_broken:
                    self.is_ending.set()


def _dump(message: types.JSONRPCMessage) -> str:
    try:
        return message.model_dump_json(by_alias=True, exclude_unset=True)
    except ValueError as error:  # a bug: outgoing values are valid JSON
        _LOG.warning("an answer could not be sent: %s", error)
        request_id = getattr(message, "id", None)
        failure = {"code": INTERNAL_ERROR, "message": "the answer could not be written as JSON"}
        return render_json({"jsonrpc": "2.0", "id": request_id, "error": failure})


# --- handlers that the library calls ---------------------------------------------------------------------------------


def make_server(hosted: HostedRuns, release: Release) -> Server[Any]:
    """Return the library's server with Remit's tools and resources.

    `release` is called with each request that from now on only waits for a run.
    """

    async def list_tools(_: Context, __: types.PaginatedRequestParams | None) -> types.ListToolsResult:
        return types.ListToolsResult.model_validate({"tools": catalog.list_tools()})

    async def list_templates(
        _: Context, __: types.PaginatedRequestParams | None
    ) -> types.ListResourceTemplatesResult:  # fmt: skip
        return types.ListResourceTemplatesResult.model_validate({"resourceTemplates": catalog.TEMPLATES})

    async def list_all(_: Context, __: types.PaginatedRequestParams | None) -> types.ListResourcesResult:
        found = await asyncio.to_thread(list_resources)
        return types.ListResourcesResult.model_validate({"resources": _clean(found)})

    async def call_tool(ctx: Context, params: types.CallToolRequestParams) -> types.CallToolResult:
        return await _answer_call(ctx, params, hosted, partial(release, ctx.request_id))

    server: Server[Any] = Server(
        catalog.SERVER["name"],
        version=catalog.SERVER["version"],
        title=catalog.SERVER["title"],
        instructions=catalog.INSTRUCTIONS,
        on_list_tools=list_tools,
        on_call_tool=call_tool,
        on_list_resources=list_all,
        on_list_resource_templates=list_templates,
        on_read_resource=_read_resource,
    )
    server.middleware.clear()  # it would import OpenTelemetry and trace by itself
    return server


async def _answer_call(
    ctx: Context, params: types.CallToolRequestParams, hosted: HostedRuns, on_begun: Callable[[], None]
) -> types.CallToolResult:
    if params.name not in catalog.BY_NAME:
        known = did_you_mean(params.name[:80], tuple(catalog.BY_NAME))
        raise MCPError(types.INVALID_PARAMS, f"there is no tool '{params.name[:80]}'; {known}")
    try:
        answer = await call_tool(params.name, Call(params.arguments or {}, hosted, _make_reporter(ctx), on_begun))
    except Exception as error:  # noqa: BLE001 - for a bug, too, the caller gets one sentence
        if not isinstance(error, RemitError):
            _LOG.exception("%s failed", params.name)
        return _fail(error)
    return types.CallToolResult.model_validate(
        {"content": [{"type": "text", "text": render_json(answer)}], "structuredContent": _clean(answer)}
    )


def _fail(error: Exception) -> types.CallToolResult:
    built = _clean(Bounds().fit(build_error(error, "mcp")))
    text = _clean(Bounds().text(f"{built['code']}: {_describe(built)}"))
    return types.CallToolResult.model_validate(
        {"content": [{"type": "text", "text": text}], "structuredContent": {"error": built}, "isError": True}
    )


def _describe(error: ErrorObject) -> str:
    """Return the message and the hint of an error as one line."""
    return "; ".join(quote(each) for each in (error["message"], error["hint"]) if each)


def _clean(value: Any) -> Any:  # noqa: ANN401 - any JSON value
    """Return a value as strict JSON: without unpaired surrogates, NaN and infinity."""
    return json.loads(render_json(value))


def _make_reporter(ctx: Context) -> ReportProgress:
    """Return a function that reports progress to the harness if it has changed or after the heartbeat's time."""
    began = reported_at = time.monotonic()
    reported = ""

    async def report(seen: list[RunProgress]) -> None:
        nonlocal reported, reported_at
        now, line = time.monotonic(), render_progress(seen)
        if line == reported and now - reported_at < _HEARTBEAT_S:
            return
        reported, reported_at = line, now
        row = seen[0].row if seen else None
        total = None if row is None or row.deadline_ms is None else (row.deadline_ms - row.created_ms) / 1000
        await ctx.session.report_progress(round(now - began, 1), total, _clean(line))

    return report


async def _read_resource(_: Context, params: types.ReadResourceRequestParams) -> types.ReadResourceResult:
    try:
        read = await asyncio.to_thread(read_resource, str(params.uri))
    except RemitError as error:
        code = NOT_FOUND if isinstance(error, UsageError) else INTERNAL_ERROR
        built = _clean(Bounds().fit(build_error(error, "mcp")))
        raise MCPError(code, Bounds().text(_describe(built)), {"error": built}) from None
    content = {"uri": read.uri, "mimeType": read.kind, "text": _clean(read.text)}
    return types.ReadResourceResult.model_validate({"contents": [content]})
