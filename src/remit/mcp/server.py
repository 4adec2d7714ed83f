"""The server: the protocol's library, given our catalogue, our tools and our wire.

Owns everything that knows the library; nobody else imports it. It speaks every version of the protocol, tells progress
and passes cancellation on. A tool that fails answers with an error of ours, which a model can read; an error of the
protocol is for what the harness did wrong.
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
from remit.mcp.tools import Call, call
from remit.runs.hosted_runs import HostedRuns
from remit.spelling import did_you_mean
from remit.terminal import quote
from remit.views.json_objects import build_error
from remit.views.render import render_json

if TYPE_CHECKING:
    from collections.abc import Callable

    from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
    from mcp.server.context import ServerRequestContext

    from remit.mcp.handshake import Desk
    from remit.runs.hosted_runs import Tell
    from remit.runs.progress import RunProgress
    from remit.schemas import ErrorObject

    Context = ServerRequestContext[Any]
    Forget = Callable[[str | int | None], None]

NOT_FOUND = -32002
QUICK_S = 5.0
"""How long answers that do not take long are waited for once nothing more comes in."""
_HEARTBEAT_S = 10.0
"""Nobody waits longer without a word: some harnesses take silence for the end."""
_LOOK_S = 0.02
_WRITING_S = 1.0
_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
_LOG = logging.getLogger("remit.mcp")


async def serve(desk: Desk) -> None:
    """Serve what comes to the desk, until nothing more does or somebody asks for the end."""
    logging.basicConfig(stream=sys.stderr, level=logging.WARNING, format="remit mcp: %(message)s")
    serving = HostedRuns()
    link = _Link(desk)
    server = make_server(serving, desk.forget)
    running = asyncio.ensure_future(
        server.run(link.incoming, link.outgoing, server.create_initialization_options())  # ends with its input
    )
    writing = asyncio.ensure_future(link.write())
    await link.begin()
    over: asyncio.Task[bool] = asyncio.ensure_future(link.over.wait())
    await asyncio.wait({over, running}, return_when=asyncio.FIRST_COMPLETED)
    serving.is_ending = True  # from here on, whoever is told to stop is not told to end the work
    await link.close()
    try:
        await running
    except Exception:  # noqa: BLE001 - a bug: whatever it is, nothing that was handed on is lost by it
        _LOG.exception("the connection failed")
    for session_id in await serving.end():
        _LOG.warning("%s goes on by itself; its result: remit wait %s", session_id, session_id)
    await asyncio.wait({writing}, timeout=_WRITING_S)  # a harness that ends may read nothing more


class _Link:
    """The way between the desk, which has threads, and the library, which has streams."""

    def __init__(self, desk: Desk) -> None:
        self.desk = desk
        self.over = asyncio.Event()
        self.incoming: MemoryObjectReceiveStream[SessionMessage | Exception]
        self.outgoing: MemoryObjectSendStream[SessionMessage]
        self._send, self.incoming = anyio.create_memory_object_stream[SessionMessage | Exception](0)
        self.outgoing, self._sent = anyio.create_memory_object_stream[SessionMessage](0)
        self._loop = asyncio.get_running_loop()
        self._turn = asyncio.Lock()
        self._writer = ThreadPoolExecutor(1, "remit-mcp-write")  # of its own: a tool in the others may take long
        self._is_stopped = False

    async def begin(self) -> None:
        """Take over from the desk: first what it kept, then whatever comes."""
        for number in _SIGNALS:
            if signal.getsignal(number) is not signal.SIG_IGN:
                self._loop.add_signal_handler(number, self._stop)
        async with self._turn:
            kept, has_ended = self.desk.hand_over(self._deliver, self._end)
            for message in kept:
                await self._pass_on(message)
        if has_ended:
            self.over.set()

    def _stop(self) -> None:
        self._is_stopped = True
        self.over.set()

    def _end(self) -> None:
        """Called in the thread that reads, when there is nothing more to read."""
        with suppress(RuntimeError):  # the loop has ended
            self._loop.call_soon_threadsafe(self.over.set)

    def _deliver(self, message: dict[str, Any]) -> None:
        """Called in the thread that reads: it goes on when the library has taken the message."""
        with suppress(RuntimeError, asyncio.CancelledError):
            asyncio.run_coroutine_threadsafe(self._take(message), self._loop).result()

    async def _take(self, message: dict[str, Any]) -> None:
        async with self._turn:
            await self._pass_on(message)

    async def _pass_on(self, message: dict[str, Any]) -> None:
        try:
            parsed = types.jsonrpc_message_adapter.validate_python(message, by_name=False)
        except ValidationError:
            request_id, told = get_request_id(message), "this is no message of JSON-RPC 2.0"
            self.desk.forget(request_id)
            refuse = partial(self.desk.wire.refuse, INVALID_REQUEST, told, request_id=request_id)
            await self._loop.run_in_executor(self._writer, refuse)
            return
        with suppress(anyio.BrokenResourceError, anyio.ClosedResourceError):
            await self._send.send(SessionMessage(parsed))

    async def close(self) -> None:
        """Take in nothing more. What was asked and does not take long is answered first."""
        last = time.monotonic() + QUICK_S
        while self.desk.owes and not self._is_stopped and time.monotonic() < last:  # noqa: ASYNC110 - told nowhere
            await asyncio.sleep(_LOOK_S)
        await self._send.aclose()

    async def write(self) -> None:
        """Send what the library says, until it has no more to say."""
        async with self._sent:
            async for message in self._sent:
                sent = message.message
                request_id = sent.id if isinstance(sent, types.JSONRPCResponse | types.JSONRPCError) else None
                self.desk.forget(request_id)
                if request_id != REPLAYED:
                    await self._loop.run_in_executor(self._writer, self.desk.wire.write, _dump(sent))
                if self.desk.wire.is_broken:
                    self.over.set()


def _dump(message: types.JSONRPCMessage) -> str:
    try:
        return message.model_dump_json(by_alias=True, exclude_unset=True)
    except ValueError as error:  # a bug: what goes out was made clean
        _LOG.warning("an answer could not be sent: %s", error)
        request_id = getattr(message, "id", None)
        told = {"code": INTERNAL_ERROR, "message": "the answer could not be written as JSON"}
        return render_json({"jsonrpc": "2.0", "id": request_id, "error": told})


# --- what the library calls ------------------------------------------------------------------------------------------


def make_server(serving: HostedRuns, forget: Forget) -> Server[Any]:
    """The library's server with all that is offered here. `forget` is told of requests that only wait for an agent."""

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
        return await _call_tool(ctx, params, serving, partial(forget, ctx.request_id))

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
    server.middleware.clear()  # it would look for a telemetry that is not ours
    return server


async def _call_tool(
    ctx: Context, params: types.CallToolRequestParams, serving: HostedRuns, on_begun: Callable[[], None]
) -> types.CallToolResult:
    if params.name not in catalog.BY_NAME:
        known = did_you_mean(params.name[:80], tuple(catalog.BY_NAME))
        raise MCPError(types.INVALID_PARAMS, f"there is no tool '{params.name[:80]}'; {known}")
    try:
        told = await call(params.name, Call(params.arguments or {}, serving, _make_tell(ctx), on_begun))
    except Exception as error:  # noqa: BLE001 - whatever it is, the caller gets one sentence
        if not isinstance(error, RemitError):
            _LOG.exception("%s failed", params.name)
        return _fail(error)
    return types.CallToolResult.model_validate(
        {"content": [{"type": "text", "text": render_json(told)}], "structuredContent": _clean(told)}
    )


def _fail(error: Exception) -> types.CallToolResult:
    built = _clean(Bounds().fit(build_error(error, "mcp")))
    shaped, text = {"error": built}, Bounds().text(f"{built['code']}: {_describe(built)}")
    content = [{"type": "text", "text": _clean(text)}]
    return types.CallToolResult.model_validate({"content": content, "structuredContent": shaped, "isError": True})


def _describe(error: ErrorObject) -> str:
    """An error as one sentence with its hint."""
    return "; ".join(quote(each) for each in (error["message"], error["hint"]) if each)


def _clean(value: Any) -> Any:  # noqa: ANN401 - any JSON value
    """The same as every reader of JSON takes it: without halves of characters and numbers that JSON has not."""
    return json.loads(render_json(value))


def _make_tell(ctx: Context) -> Tell:
    """A function that tells the harness how it goes: at most once a second, and at least now and then."""
    began = told_at = time.monotonic()
    told = ""

    async def tell(seen: list[RunProgress]) -> None:
        nonlocal told, told_at
        now, line = time.monotonic(), render_progress(seen)
        if line == told and now - told_at < _HEARTBEAT_S:
            return
        told, told_at = line, now
        row = seen[0].row if seen else None
        total = None if row is None or row.deadline_ms is None else (row.deadline_ms - row.created_ms) / 1000
        await ctx.session.report_progress(round(now - began, 1), total, _clean(line))

    return tell


async def _read_resource(_: Context, params: types.ReadResourceRequestParams) -> types.ReadResourceResult:
    try:
        read = await asyncio.to_thread(read_resource, str(params.uri))
    except RemitError as error:
        code = NOT_FOUND if isinstance(error, UsageError) else INTERNAL_ERROR
        built = _clean(Bounds().fit(build_error(error, "mcp")))
        raise MCPError(code, Bounds().text(_describe(built)), {"error": built}) from None
    content = {"uri": read.uri, "mimeType": read.kind, "text": _clean(read.text)}
    return types.ReadResourceResult.model_validate({"contents": [content]})
