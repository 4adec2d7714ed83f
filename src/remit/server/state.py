"""The desk: what one server has at hand for everybody who asks."""

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


class Desk(NamedTuple):
    """What a server has from its start to its end."""

    place: Place
    tokens: Tokens
    streams: Streams
    assets: Assets
    kept: Kept
    keep: Callable[[dict[str, float]], None]
    """Writes down who is logged in, and for how many seconds."""
    keeping: asyncio.Lock
