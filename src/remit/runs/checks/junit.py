"""Count the tests in a JUnit XML report."""

from __future__ import annotations

import os
import stat

from remit.light_namedtuple import NamedTuple

MAX_BYTES = 64 * 1024 * 1024


class JUnitCounts(NamedTuple):
    """The numbers in a JUnit report; `problem` says why there are none."""

    tests: int | None = None
    skipped: int | None = None
    problem: str = ""


def count_tests(file: str, *, since_ns: int) -> JUnitCounts:
    """Return how many tests a report lists as run and as skipped. One that is older than `since_ns` doesn't count."""
    try:
        handle = os.open(file, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError as error:
        return JUnitCounts(problem=f"can't be read: {(error.strerror or str(error)).lower()}")
    with os.fdopen(handle, "rb") as stream:
        found = os.fstat(handle)
        if not stat.S_ISREG(found.st_mode):
            return JUnitCounts(problem="isn't a file")
        if found.st_mtime_ns < since_ns:
            return JUnitCounts(problem="wasn't written by this run of the check")
        if found.st_size > MAX_BYTES:
            return JUnitCounts(problem=f"is larger than {MAX_BYTES // 1024 // 1024} MB")
        data = stream.read(MAX_BYTES + 1)
    if b"<!" in data[:4096] and (b"<!DOCTYPE" in data or b"<!ENTITY" in data):  # nothing expands
        return JUnitCounts(problem="declares a document type")
    return _count(data)


def _count(data: bytes) -> JUnitCounts:
    from xml.parsers import expat  # noqa: PLC0415 - only for checks that write a report

    cases = skipped = 0

    def start(name: str, _: dict[str, str]) -> None:
        nonlocal cases, skipped
        cases += name == "testcase"
        skipped += name == "skipped"

    def refuse(*_: object) -> None:
        raise expat.ExpatError("a declaration")

    parser = expat.ParserCreate()
    parser.StartElementHandler = start
    parser.EntityDeclHandler = refuse
    try:
        parser.Parse(data, True)  # noqa: FBT003 - the last piece
    except expat.ExpatError as error:
        return JUnitCounts(problem=f"isn't XML: {error}")
    return JUnitCounts(cases - skipped, skipped)
