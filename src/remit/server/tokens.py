"""Tokens and sessions of clients.

There are the token of the API, tokens for one login, and the sessions that browsers get for those. Only their hashes
are stored, and they are compared in constant time. The clock is passed in.
"""

from __future__ import annotations

import hmac
import os
import time
from base64 import urlsafe_b64encode
from hashlib import sha256
from typing import TYPE_CHECKING, Literal, NamedTuple

from remit.model import NOTHING

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

LOGIN_S = 60.0
SESSION_S = 12 * 3600.0
RANDOM_BYTES = 32
LEAST_CHARS, MOST_CHARS = 32, 512
"""The length of a token that the user has chosen."""
_MOST_LOGINS, _MOST_SESSIONS = 32, 64
_FAILURES, _FAILURES_S = 10, 60.0


class Guest(NamedTuple):
    """A client with a valid token."""

    kind: Literal["bearer", "cookie"]
    id: str
    """Identifies the client; not a secret."""


class Tokens:
    """The tokens of one server, from its start to its end."""

    def __init__(
        self, api_token: str, *, sessions: Mapping[str, float] = NOTHING, clock: Callable[[], float] = time.monotonic
    ) -> None:
        """`sessions`: the sessions of the previous server, as returned by `list_sessions`."""
        self._api = hash_token(api_token)
        self._clock = clock
        self._logins: dict[str, float] = {}
        longest = sorted(sessions.items(), key=lambda each: each[1])[-_MOST_SESSIONS:]
        self._sessions = {name: clock() + min(left_s, SESSION_S) for name, left_s in longest}
        self._failures: list[float] = []

    def issue_login(self) -> str:
        """Return a token that can start one session, within a minute."""
        return self._issue(self._logins, LOGIN_S, most=_MOST_LOGINS)

    def redeem(self, login: str) -> str | None:
        """Return the token of a new session for a login token; None if that is wrong, used or expired."""
        found = self._find(self._logins, login)
        if found is None:
            return None
        del self._logins[found]
        return self._issue(self._sessions, SESSION_S, most=_MOST_SESSIONS)

    def find_bearer(self, token: str) -> Guest | None:
        """Return the client that has the API's token; None for another token."""
        return Guest("bearer", "api") if hmac.compare_digest(hash_token(token), self._api) else None

    def find_session(self, token: str) -> Guest | None:
        """Return the client that has the token of a session; None for another token."""
        found = self._find(self._sessions, token)
        return None if found is None else Guest("cookie", found)

    def is_good(self, guest: Guest) -> bool:
        """Whether the session of a client is still valid."""
        return guest.kind == "bearer" or self._sessions.get(guest.id, 0.0) > self._clock()

    def end_session(self, guest: Guest) -> None:
        """End a session."""
        self._sessions.pop(guest.id, None)

    def list_sessions(self) -> dict[str, float]:
        """Return the hashes of the valid sessions with their remaining seconds."""
        now = self._clock()
        return {each: until - now for each, until in self._sessions.items() if until > now}

    def count_failure(self) -> float:
        """Count a wrong token; return for how many seconds further ones are refused, or 0.

        The limit doesn't apply to a right token. Otherwise, a client that guesses could lock the user out.
        """
        now = self._clock()
        self._failures = [at for at in self._failures if at > now - _FAILURES_S]
        if len(self._failures) >= _FAILURES:
            return self._failures[0] + _FAILURES_S - now
        self._failures.append(now)
        return 0.0

    def _issue(self, kept: dict[str, float], seconds: float, *, most: int) -> str:
        now = self._clock()
        for each in [each for each, until in kept.items() if until <= now]:
            del kept[each]
        while len(kept) >= most:
            del kept[min(kept, key=lambda each: kept[each])]
        token = make_token()
        kept[hash_token(token)] = now + seconds
        return token

    def _find(self, kept: dict[str, float], token: str) -> str | None:
        """Return the stored hash of a valid token. Every stored hash is compared, so the time says nothing."""
        shown = hash_token(token)
        found = [each for each in kept if hmac.compare_digest(each, shown)]
        return found[0] if found and kept[found[0]] > self._clock() else None


def make_token() -> str:
    """A random token."""
    return urlsafe_b64encode(os.urandom(RANDOM_BYTES)).rstrip(b"=").decode("ascii")


def hash_token(token: str) -> str:
    """What is kept of a token."""
    return sha256(token.encode("utf-8", "surrogateescape")).hexdigest()
