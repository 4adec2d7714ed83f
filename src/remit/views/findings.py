"""The findings of a workspace's manifest, in pages."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from remit.errors import UsageError
from remit.manifest.manifest_file import find_manifest
from remit.runs.workspace_findings import Manifest, make_query
from remit.storage.secrets import redact_all
from remit.views.json_builders import (
    build_finding,
    build_finding_details,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from remit.manifest.search import EntryQuery
    from remit.schemas import (
        FindingDetailsObject,
        FindingPageObject,
    )


MOST, USUAL = 500, 100
_MOST_QUERY = 500
_MOST_PAGES = 10_000


@contextmanager
def _open_manifest() -> Iterator[Manifest]:
    manifest = Manifest()
    try:
        yield manifest
    finally:
        manifest.close()


def find_entries(
    *,
    q: str = "",
    topic: str | None = None,
    task: str | None = None,
    status: str | None = None,
    pending: bool = False,
    limit: int = USUAL,
    cursor: str = "",
) -> FindingPageObject:
    """One page of the matching findings, newest first, with the topics of all findings."""
    if not 1 <= limit <= MOST:
        raise UsageError(f"a page has no {limit} entries", hint=f"ask for 1 to {MOST}")
    page = parse_page_cursor(cursor)
    if find_manifest() is None:
        return {**NO_FINDINGS, "topics": []}
    words = (q[:_MOST_QUERY],) if any(map(str.isalnum, q[:_MOST_QUERY])) else ()
    with _open_manifest() as manifest:
        query = make_query(words=words, pending=pending, topic=topic, task=task, status=status)
        found = load_finding_page(manifest, query, limit=limit, page=page)
        topics = manifest.count().topics
    return {**found, "topics": [{"topic": redact_all(name), "count": count} for name, count in topics]}


NO_FINDINGS: FindingPageObject = {"items": [], "next_cursor": None, "total": 0, "manifest": None, "bad_lines": 0}
"""The page of a workspace without a manifest."""


def parse_page_cursor(cursor: str) -> int:
    """The number of the page that a cursor of `load_finding_page` stands for; 1 for the first page."""
    page = int(cursor) if cursor.isascii() and cursor.isdecimal() and len(cursor) < len(str(_MOST_PAGES)) else 1
    if cursor and (str(page) != cursor or not page):
        raise UsageError("this is not a cursor of this list", hint="give next_cursor of the page before, unchanged")
    return page


def load_finding_page(manifest: Manifest, query: EntryQuery, *, limit: int, page: int) -> FindingPageObject:
    """One page of the findings that match a query, newest first. The cursor is the number of the next page."""
    found = manifest.find(query, limit=limit, page=page)
    counted = manifest.count()
    return {
        "items": [build_finding(each) for each in found.entries],
        "next_cursor": str(page + 1) if found.has_more and page + 1 < _MOST_PAGES else None,
        "total": counted.entries if query == make_query() else None,
        "manifest": manifest.file.removeprefix(f"{manifest.root}/"),
        "bad_lines": counted.bad_lines,
    }


def load_entry(entry_id: str) -> FindingDetailsObject:
    """One entry with all that belongs to it."""
    with _open_manifest() as manifest:
        shown = manifest.show(entry_id)
        root = manifest.root
    return build_finding_details(shown, root)
