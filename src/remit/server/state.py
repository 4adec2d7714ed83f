"""The context of a server, which all its handlers share."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    import asyncio
    from collections.abc import Callable

    from remit.server.assets import Assets
    from remit.server.event_stream import Streams
    from remit.server.idempotency import Kept
    from remit.server.security import Place
    from remit.server.tokens import Tokens


class ServerContext(NamedTuple):
    """The objects that live as long as the server."""

    place: Place
    tokens: Tokens
    streams: Streams
    assets: Assets
    kept: Kept
    keep: Callable[[dict[str, float]], None]
    """Stores the sessions and their remaining seconds."""
    keeping: asyncio.Lock
