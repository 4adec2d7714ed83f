"""The backend: where runs execute. `local` is this machine, with ledger and shims.

Owns what every backend can do. A delegation is in the ledger before a backend hears of it, so a backend is told a
session and nothing else; `remit.testing.backends` checks that one keeps to this.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping, Sequence
    from contextlib import AbstractAsyncContextManager

    from remit.ledger.runs import Run
    from remit.result import Result

    Admit = Callable[[str], Awaitable[None]]
    """Told the session that was admitted, before anybody else may be."""


class Backend(Protocol):
    """Where delegations run."""

    @property
    def id(self) -> str:
        """Whoever drives: what stands as `owner` in the rows that are this backend's."""
        ...

    def admitting(self, environ: Mapping[str, str]) -> AbstractAsyncContextManager[Admit]:
        """Hold the tree that the caller in an environment belongs to, so that no sibling is admitted in between."""
        ...

    async def submit(self, session_id: str) -> None:
        """Begin to drive a delegation whose row is this backend's; it is driven once, however often this is called."""
        ...

    async def wait(self, session_id: str) -> Result:
        """Wait until a delegation is settled, whoever drives it; what became of it."""
        ...

    async def cancel(self, session_id: str, *, reason: str = "") -> Sequence[str]:
        """End a delegation and all below it; the sessions that were told. Returns when nothing of them is alive."""
        ...

    def list(self, *, only_open: bool = True) -> Sequence[Run]:
        """The delegations that there are, newest first."""
        ...

    async def recover(self) -> Sequence[str]:
        """Take over what backends have left that are no longer there; the sessions that are driven here now."""
        ...

    async def close(self) -> None:
        """Stop driving. Agents that run go on, and are taken over by whoever comes next."""
        ...
