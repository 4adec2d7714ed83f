"""Seals: what machines tell each other, so that nobody else can have said it.

Owns what is sealed with the key of a cluster: orders, outcomes and tickets. Whoever may write to the database, and has
no key, can hold work up; he cannot have any done, nor say that it was. Signed is what is in a body and what kind it is,
so that an outcome is no order. Pure.
"""

from __future__ import annotations

import json
from base64 import urlsafe_b64decode, urlsafe_b64encode
from hmac import compare_digest
from hmac import digest as make_mac
from typing import TYPE_CHECKING, Any, NamedTuple

from remit.cluster.keys import KEY, KEY_FILE
from remit.errors import ClusterError, RefusedError
from remit.lazy_regex import lazy

if TYPE_CHECKING:
    from collections.abc import Mapping

MAX_BODY_BYTES = 64 * 1024 * 1024
_MAC_BYTES = 32
_TOKEN = lazy(r"remit2_[A-Za-z0-9_-]{20,4000}\.[A-Za-z0-9_-]{43}")


class SealError(ClusterError):
    """What was sent was not sealed with the key of this cluster, or was changed on its way."""

    recoverable = False


# --- bodies ----------------------------------------------------------------------------------------------------------


def seal(key: bytes, kind: str, body: Mapping[str, Any]) -> bytes:
    """A body as bytes, signed."""
    text = json.dumps(body, ensure_ascii=False, separators=(",", ":"), default=dict)  # a mapping is a table as well
    data = text.encode("utf-8", "surrogatepass")
    return _sign(key, kind, data) + data


def unseal(key: bytes, kind: str, data: bytes, *, limit: int = MAX_BODY_BYTES) -> dict[str, Any]:
    """The body of what another machine has sealed. Raises where it is too large, or was not sealed with this key."""
    if len(data) > limit:
        raise SealError(f"the {kind} has more than {limit:,} bytes", hint="ask for less, or say it in a file")
    mac, body = data[:_MAC_BYTES], data[_MAC_BYTES:]
    if not compare_digest(mac, _sign(key, kind, body)):
        hint = f"all machines of a cluster have one key: see {KEY}, or the file {KEY_FILE}"
        raise SealError(f"the {kind} was not sealed with this machine's key", hint=hint)
    read: dict[str, Any] = json.loads(body.decode("utf-8", "surrogatepass"))
    return read


def _sign(key: bytes, kind: str, data: bytes) -> bytes:
    return make_mac(key, f"remit {kind}\0".encode() + data, "sha256")


# --- tickets ---------------------------------------------------------------------------------------------------------


class TicketClaims(NamedTuple):
    """What a ticket says that was signed for an agent on a worker."""

    session_id: str
    root_id: str
    agent: str
    depth: int
    path: tuple[str, ...]
    fence: int
    """Which owner's agent it is: one that was given up has no children."""


def sign_ticket(key: bytes, signed: TicketClaims, random_bytes: bytes) -> str:
    """The token for an agent: who it is, for all machines of the cluster, and for nobody to guess."""
    body = json.dumps([*signed, random_bytes.hex()], ensure_ascii=True, separators=(",", ":")).encode()
    return f"remit2_{_encode(body)}.{_encode(_sign(key, 'ticket', body))}"


def read_ticket(key: bytes, token: str) -> TicketClaims:
    """What a token says. Raises where this cluster has not signed it."""
    if _TOKEN.fullmatch(token):
        body, mac = (_decode(part) for part in token.removeprefix("remit2_").split("."))
        if compare_digest(mac, _sign(key, "ticket", body)):
            session_id, root_id, agent, depth, path, fence, _ = json.loads(body)
            return TicketClaims(session_id, root_id, agent, depth, tuple(path), fence)
    raise RefusedError("the ticket was not signed by this cluster", hint="an agent calls Remit with the ticket it has")


def _encode(data: bytes) -> str:
    return urlsafe_b64encode(data).rstrip(b"=").decode("ascii")


def _decode(text: str) -> bytes:
    return urlsafe_b64decode(text + "=" * (-len(text) % 4))
