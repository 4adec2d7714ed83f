"""Seals: message authentication codes for orders, results and tickets, made with the cluster's key.

Someone who can write to the database but doesn't have the key can delay runs, but can neither start one nor forge a
result. A seal covers the kind of the message, too, so a result can't be passed off as an order.
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
    """A message wasn't sealed with this cluster's key, or was changed."""

    recoverable = False


# --- bodies -----------------------------------------------------------------------------------------------------------


def seal(key: bytes, kind: str, body: Mapping[str, Any]) -> bytes:
    """Return a message as sealed bytes."""
    text = json.dumps(body, ensure_ascii=False, separators=(",", ":"), default=dict)  # mappings become objects
    data = text.encode("utf-8", "surrogatepass")
    return _sign(key, kind, data) + data


def unseal(key: bytes, kind: str, data: bytes, *, limit: int = MAX_BODY_BYTES) -> dict[str, Any]:
    """Return the body of a sealed message; raise `SealError` if it is too large or its seal is invalid."""
    if len(data) > limit:
        hint = "shorten the request, or put the text into a file"
        raise SealError(f"the {kind} has more than {limit:,} bytes", hint=hint)
    mac, body = data[:_MAC_BYTES], data[_MAC_BYTES:]
    if not compare_digest(mac, _sign(key, kind, body)):
        hint = f"use the same key on all machines of the cluster: {KEY}, or the file {KEY_FILE}"
        raise SealError(f"the {kind} wasn't sealed with this machine's key", hint=hint)
    read: dict[str, Any] = json.loads(body.decode("utf-8", "surrogatepass"))
    return read


def _sign(key: bytes, kind: str, data: bytes) -> bytes:
    return make_mac(key, f"remit {kind}\0".encode() + data, "sha256")


# --- tickets ----------------------------------------------------------------------------------------------------------


class TicketClaims(NamedTuple):
    """The claims of a ticket of an agent on a worker."""

    session_id: str
    root_id: str
    agent: str
    depth: int
    path: tuple[str, ...]
    fence: int
    """The fencing token of the lease that the agent was started under: without that lease, it can't call agents."""


def sign_ticket(key: bytes, signed: TicketClaims, random_bytes: bytes) -> str:
    """Return a ticket that identifies an agent on all machines of the cluster and can't be guessed."""
    body = json.dumps([*signed, random_bytes.hex()], ensure_ascii=True, separators=(",", ":")).encode()
    return f"remit2_{_encode(body)}.{_encode(_sign(key, 'ticket', body))}"


def read_ticket(key: bytes, token: str) -> TicketClaims:
    """Return the claims of a ticket; raise `RefusedError` if this cluster hasn't signed it."""
    if _TOKEN.fullmatch(token):
        body, mac = (_decode(part) for part in token.removeprefix("remit2_").split("."))
        if compare_digest(mac, _sign(key, "ticket", body)):
            session_id, root_id, agent, depth, path, fence, _ = json.loads(body)
            return TicketClaims(session_id, root_id, agent, depth, tuple(path), fence)
    hint = "call Remit with the ticket in the agent's environment"
    raise RefusedError("the ticket wasn't signed by this cluster", hint=hint)


def _encode(data: bytes) -> str:
    return urlsafe_b64encode(data).rstrip(b"=").decode("ascii")


def _decode(text: str) -> bytes:
    return urlsafe_b64decode(text + "=" * (-len(text) % 4))
