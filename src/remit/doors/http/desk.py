"""The desk: what one server has at hand for everybody who asks."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    import asyncio
    from collections.abc import Callable

    from remit.doors.http.again import Kept
    from remit.doors.http.assets import Assets
    from remit.doors.http.security import Place
    from remit.doors.http.stream import Streams
    from remit.doors.http.tokens import Tokens


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
