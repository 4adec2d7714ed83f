"""Counting tokens, offline, where a tokenizer is installed.

Owns the only import of the tokenizer (the extra `[tokens]`). It is loaded on first use: most summaries are so short
that nobody needs to count.
"""

from __future__ import annotations

from functools import cache
from typing import Any


def count_tokens(text: str) -> int | None:
    """How many tokens a text has (cl100k); None where no tokenizer is installed."""
    tokenizer = _load_tokenizer()
    return None if tokenizer is None else len(tokenizer.encode(text))


@cache
def _load_tokenizer() -> Any:  # noqa: ANN401 - the package ships no types
    try:
        from splintr import Tokenizer  # noqa: PLC0415 - an extra, 26 ms on first use
    except ImportError:
        return None
    return Tokenizer.from_pretrained("cl100k_base")
