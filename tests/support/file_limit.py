"""A process that may open only a few more files: how a machine fails that has run out of them."""

from __future__ import annotations

import os
import resource
from contextlib import contextmanager
from itertools import islice
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

_LOOKED_AT = 4096


def _is_open(handle: int) -> bool:
    try:
        os.fstat(handle)
    except OSError:
        return False
    return True


@contextmanager
def few_files(number: int) -> Iterator[None]:
    """Let this process open no more than so many files beyond those that are open; its children neither."""
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    taken = {handle for handle in range(_LOOKED_AT) if _is_open(handle)}
    free = (handle for handle in range(_LOOKED_AT) if handle not in taken)
    limit = next(islice(free, number, None))  # the first that may not be had any more
    resource.setrlimit(resource.RLIMIT_NOFILE, (limit, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, before)
