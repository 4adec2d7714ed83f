"""The resources: agents, findings and results of runs, each with a URI.

Long texts have pages: `?page=2` after the URI. The contents are data of the repository and of agents: limited in size,
and without secrets.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import quote, unquote

from remit.errors import RemitError, UsageError
from remit.mcp.catalog import JSON, MARKDOWN, PAGE_CHARS, PLAIN
from remit.mcp.output_limits import Bounds
from remit.spelling import did_you_mean
from remit.storage.secrets import redact
from remit.views.render import render_json

if TYPE_CHECKING:
    from collections.abc import Iterator

    from remit.runs.text_pages import TextPage

SCHEME = "remit://"
_MAX_AGENTS, _MAX_NEWEST = 100, 20
_MAX_DIGITS = 9


class Resource(NamedTuple):
    """The content of a resource."""

    uri: str
    kind: str
    text: str


# --- lists -----------------------------------------------------------------------------------------------------------


def list_resources() -> list[dict[str, Any]]:
    """The agents of the workspace, and the newest findings and results; tools find the others."""
    found: list[dict[str, Any]] = []
    for listing in (_list_agents, _list_entries, _list_results):
        try:
            found += listing()
        except RemitError:  # the tool for it reports the error
            continue
    return found


def _list_agents() -> Iterator[dict[str, Any]]:
    from remit.runs.agent_lookup import list_agents
    from remit.storage.settings import find_workspace, load_settings

    root = find_workspace()
    for agent in list_agents(root, exclude=load_settings(root).lint.exclude)[:_MAX_AGENTS]:
        about = agent.definition.description if agent.definition is not None else ""
        yield _describe(f"agents/{quote(agent.name, safe='')}", agent.name, about, MARKDOWN)


def _list_entries() -> Iterator[dict[str, Any]]:
    from remit.manifest.manifest_file import find_manifest
    from remit.runs.workspace_findings import Manifest, make_query

    if find_manifest() is None:
        return
    opened = Manifest()
    try:
        entries = opened.find(make_query(), limit=_MAX_NEWEST, page=1).entries
    finally:
        opened.close()
    for entry in entries:
        if entry.id:
            yield _describe(f"findings/{quote(entry.id, safe='')}", entry.id, entry.get_text("title"), JSON)


def _list_results() -> Iterator[dict[str, Any]]:
    from remit.views.run_snapshots import list_snapshots, open_home

    home = open_home()
    try:
        found = list_snapshots(home, everything=True, limit=_MAX_NEWEST)
    finally:
        home.close()
    for each in found:
        session_id = each.row.session_id
        about = f"{each.row.agent}, {each.word}: {each.work}"
        yield _describe(f"runs/{quote(session_id, safe='')}/result", session_id, about, JSON)


def _describe(place: str, name: str, about: str, kind: str) -> dict[str, Any]:
    bounds = Bounds()
    described = {"uri": f"{SCHEME}{place}", "name": bounds.text(name, 200), "mimeType": kind}
    return described | ({"description": " ".join(bounds.text(about, 300).split())} if about.strip() else {})


# --- contents --------------------------------------------------------------------------------------------------------


def read_resource(uri: str) -> Resource:
    """Read a resource by its URI. Raises if it doesn't exist."""
    address, _, query = uri.partition("?")
    place, _, rest = address.removeprefix(SCHEME).partition("/")
    name, _, part = rest.partition("/")
    read = _READERS.get((place, part))
    if not address.startswith(SCHEME) or read is None or not name:
        raise UsageError(f"there is no resource '{uri[:200]}'", hint="resources/templates/list lists the templates")
    kind, text = read(unquote(name), _read_page(query))
    return Resource(uri, kind, text)


def _read_page(query: str) -> int:
    if not query:
        return 1
    name, _, value = query.partition("=")
    if name != "page" or not (value.isascii() and value.isdigit() and len(value) < _MAX_DIGITS):
        raise UsageError(f"'{query[:80]}' isn't a valid page", hint="write it as ?page=2")
    return int(value)


def _read_agent(name: str, page: int) -> tuple[str, str]:
    from remit.agent_files import lint
    from remit.runs.agent_lookup import list_agents
    from remit.storage.settings import find_workspace, load_settings

    root = find_workspace()
    known = {agent.name: agent for agent in list_agents(root, exclude=load_settings(root).lint.exclude)}
    agent = known.get(name)
    if agent is None or agent.document is None:
        raise UsageError(f"there is no agent '{name[:80]}'", hint=did_you_mean(name[:80], tuple(known)))
    text = lint.load_agent_text(f"{root}/{agent.document.path}").decode("utf-8", "replace")
    return MARKDOWN, _show(_cut(redact(text), page))


def _read_entry(entry_id: str, page: int) -> tuple[str, str]:
    from remit.runs.workspace_findings import Manifest
    from remit.views.json_builders import build_finding_details

    _check_single(page)
    opened = Manifest()
    try:
        shown = opened.show(entry_id)
    finally:
        opened.close()
    return JSON, render_json(Bounds().fit(build_finding_details(shown, opened.root)), indent=1)


def _read_findings_file(entry_id: str, page: int) -> tuple[str, str]:
    from remit.runs.workspace_findings import Manifest
    from remit.storage.files import load_bytes

    opened = Manifest()
    try:
        shown = opened.show(entry_id)
    finally:
        opened.close()
    if shown.file is None:
        raise UsageError(
            f"the findings file of '{entry_id[:80]}' doesn't exist", hint="read the finding itself, without /file"
        )
    return MARKDOWN, _show(_cut(redact(load_bytes(shown.file).decode("utf-8", "replace")), page))


def _read_result(session_id: str, page: int) -> tuple[str, str]:
    from remit.mcp.run_tools import load_result

    _check_single(page)
    return JSON, render_json(load_result(session_id), indent=1)


def _read_answer(session_id: str, page: int) -> tuple[str, str]:
    from remit.runs.text_pages import load_answer
    from remit.views.run_snapshots import find_session, open_home

    home = open_home()
    try:
        text = load_answer(home, find_session(home, session_id))
    finally:
        home.close()
    return PLAIN, _show(_cut(text, page))


def _check_single(page: int) -> None:
    if page != 1:
        raise UsageError(f"there is no page {page}", hint="this resource has 1 page")


def _cut(text: str, page: int) -> TextPage:
    from remit.runs.text_pages import cut_page

    return cut_page(text, page, size=PAGE_CHARS)


def _show(page: TextPage) -> str:
    """A page of a text, with a note about the next page."""
    if page.page == page.pages:
        return page.text
    return f"{page.text}\n\n[page {page.page} of {page.pages}; the next: ?page={page.page + 1}]"


_READERS = {
    ("agents", ""): _read_agent,
    ("findings", ""): _read_entry,
    ("findings", "file"): _read_findings_file,
    ("runs", "result"): _read_result,
    ("runs", "answer"): _read_answer,
}
