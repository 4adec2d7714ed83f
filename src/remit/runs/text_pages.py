"""The pages of long texts of a run.

Secrets are redacted in the whole text first, so that none is missed at the end of a page.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from remit.errors import StateError, UsageError
from remit.ledger.texts import list_texts, load_text
from remit.storage.secrets import redact

if TYPE_CHECKING:
    from remit.ledger.home import Home

_MAX_CHARS = 8 * 1024 * 1024
_ANSWER = "answer-"


class TextPage(NamedTuple):
    """One page of a text."""

    text: str
    page: int
    pages: int
    characters: int
    """The length of the whole text."""


def cut_page(text: str, page: int, *, size: int) -> TextPage:
    """One page of a text, counted from 1; an empty text has one, too."""
    pages = max(1, -(-len(text) // size))
    if not 1 <= page <= pages:
        raise UsageError(f"there is no page {page}", hint=f"it has {pages} page{'' if pages == 1 else 's'}")
    return TextPage(text[(page - 1) * size : page * size], page, pages, len(text))


def load_answer(home: Home, session_id: str) -> str:
    """The last final message of an agent, with its secrets redacted."""
    kinds = [kind for kind in list_texts(home, session_id) if kind.removeprefix(_ANSWER).isdecimal()]
    last = max((int(kind.removeprefix(_ANSWER)) for kind in kinds), default=0)
    data = load_text(home, session_id, f"{_ANSWER}{last}") if last else None
    if data is None:
        hint = "status shows how it stands; what is old is not kept"
        raise StateError(f"no answer of {session_id} is kept", hint=hint)
    return redact_once(data)


def redact_once(data: bytes) -> str:
    """A stored text with its secrets redacted, up to the longest text that is shown."""
    return _redact_once(data[: 4 * _MAX_CHARS].decode("utf-8", "replace")[:_MAX_CHARS])


@lru_cache(maxsize=2)
def _redact_once(text: str) -> str:
    """Redact a text; cached, because its pages are requested one after the other."""
    return redact(text)
