"""Token counts by an optional tokenizer (the extra `[tokens]`), which is loaded on first use.

A module of its own, because nothing else may import the optional tokenizer.
"""

from __future__ import annotations

from functools import cache
from typing import Any


def count_tokens(text: str) -> int | None:
    """Count the tokens of a text (cl100k); None if no tokenizer is installed."""
    tokenizer = _load_tokenizer()
    return None if tokenizer is None else len(tokenizer.encode(text))


@cache
def _load_tokenizer() -> Any:  # noqa: ANN401 - the package ships no types
    try:
        from splintr import Tokenizer  # noqa: PLC0415 - an extra, 26 ms on first use
    except ImportError:
        return None
    return Tokenizer.from_pretrained("cl100k_base")
