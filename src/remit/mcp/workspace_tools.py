"""The tools on findings, tasks and agent files."""

from __future__ import annotations

from typing import TYPE_CHECKING

from remit.errors import UsageError
from remit.mcp.catalog import PAGE_CHARS
from remit.mcp.output_limits import MAX_DIAGNOSTICS, Bounds

if TYPE_CHECKING:
    from remit.mcp.tools import Call
    from remit.schemas import (
        AddedFindingObject,
        CheckRunObject,
        FindingPageObject,
        LintObject,
        MovedTaskObject,
        OutsideTaskObject,
        TaskDetailsObject,
    )

_DEFAULT_LIMIT = 10
_LISTS = ("topics", "key_findings", "needs_followup", "linked_tasks")
_SINGLE = ("title", "status", "actionable", "file", "date")


def find_findings(call: Call) -> FindingPageObject:
    """Find findings of the manifest."""
    from remit.manifest import parse_day
    from remit.manifest.manifest_file import find_manifest
    from remit.runs.workspace_findings import Manifest, make_query
    from remit.views.findings import NO_FINDINGS, load_finding_page, parse_page_cursor

    given, page = call.given, parse_page_cursor(call.given.get("cursor", ""))
    chosen = {name: given.get(name) for name in ("topic", "task", "status", "actionable")}
    days = {name: parse_day(given[name]) if name in given else None for name in ("since", "until")}
    if find_manifest() is None:  # the workspace has no manifest yet
        return NO_FINDINGS
    opened = Manifest()
    try:
        query = make_query(words=tuple(given.get("words", ())), pending=given.get("pending", False), **chosen, **days)
        found = load_finding_page(opened, query, limit=given.get("limit", _DEFAULT_LIMIT), page=page)
        return {**found, "items": Bounds().fit_each(found["items"])}
    finally:
        opened.close()


def add_finding(call: Call) -> AddedFindingObject:
    """Add a finding to the manifest."""
    from datetime import datetime

    from remit.manifest import parse_day, parse_slug
    from remit.runs.workspace_findings import Manifest, make_page
    from remit.views.json_builders import build_added_finding

    given = dict(call.given)
    if "date" in given:
        given["date"] = parse_day(given["date"])
    slug = parse_slug(given["slug"]) if "slug" in given else None
    fields = {"status": "complete", "actionable": True}
    fields |= {name: given[name] for name in (*_SINGLE, *_LISTS) if name in given}
    opened = Manifest(may_begin=True)
    try:
        page = None
        if given.get("write_file"):
            more = {name: tuple(given.get(name, ())) for name in ("recommendations", "sources")}
            page = make_page(fields, summary=given.get("summary", ""), **more)
        added = opened.add(fields, day=datetime.now().astimezone().date().isoformat(), slug=slug, page=page)
        file = opened.find_findings_file(str(added.fields.get("file")))
        page_name = None if file is None else _name_below(file, opened.root)
        built: AddedFindingObject = Bounds().fit(
            build_added_finding(added, _name_below(opened.file, opened.root), page_name)
        )
        return built
    finally:
        opened.close()


def _name_below(file: str, root: str) -> str:
    return file.removeprefix(f"{root.rstrip('/')}/")


# --- tasks and agent files -------------------------------------------------------------------------------------------


def task_show(call: Call) -> TaskDetailsObject | OutsideTaskObject:
    """Show a task."""
    from remit.runs.tasks.task_numbers import parse_number
    from remit.views.tasks import load_outside_task, load_task

    task_id = str(call.given["task"])
    shown = load_outside_task(task_id) or load_task(parse_number(task_id))
    bounds = Bounds()
    section = bounds.text(shown["section"], PAGE_CHARS)
    fitted: TaskDetailsObject | OutsideTaskObject = bounds.fit(shown)
    fitted["section"] = section
    return fitted


def task_move(call: Call) -> MovedTaskObject:
    """Set the marker of a task."""
    from remit.runs.tasks.task_numbers import parse_number
    from remit.runs.tasks.workspace_tasks import Tasks
    from remit.views.json_builders import build_moved_task

    given = call.given
    number, tasks = parse_number(str(given["number"])), Tasks()
    try:
        reason, phase = given.get("reason", ""), given.get("phase")
        environ = call.hosted.environ
        moved = tasks.move(number, given["marker"], reason=reason, phase=phase, environ=environ)
    finally:
        tasks.home.close()
    fitted: MovedTaskObject = Bounds().fit(build_moved_task(moved))
    return fitted


async def checks(call: Call) -> CheckRunObject:
    """List the acceptance checks of the workspace, and run them on the tree of this server."""
    from remit.ledger.home import Home
    from remit.runs.checks.workspace_checks import check_workspace, find_checkout
    from remit.storage.settings import find_workspace, load_settings
    from remit.views.checks import list_definitions
    from remit.views.json_builders import build_check

    listed = list_definitions()
    shown: CheckRunObject = {
        "items": Bounds().fit_each(listed["items"]), "total": listed["total"], "results": [], "passed": None,
    }  # fmt: skip
    if call.given.get("only_list"):
        return shown
    home = Home(find_workspace())
    if call.on_begun is not None:
        call.on_begun()
    try:
        found = await check_workspace(
            home,
            load_settings(home.root),
            call.given.get("names", ()),
            root=find_checkout(home.root),
            environ=call.hosted.environ,
        )
    finally:
        home.close()
    return {
        **shown,
        "results": Bounds().fit_each([build_check(each) for each in found.results]),
        "passed": found.is_passed,
    }


def lint(call: Call) -> LintObject:
    """Lint agent files."""
    from remit.agent_files import lint
    from remit.storage.settings import find_root, is_inside
    from remit.views.json_builders import build_lint

    root, given = find_root(), call.given
    paths = tuple(path if path.startswith("/") else f"{root}/{path}" for path in given.get("paths", ()))
    for path, named in zip(paths, given.get("paths", ()), strict=True):
        if "\0" in path or not (path.rstrip("/") == root or is_inside(path, root)):
            raise UsageError(f"'{named}' is outside of the workspace", hint="name files and folders inside it")
    select = tuple(given["select"]) if "select" in given else None
    ignore = tuple(given.get("ignore", ()))
    linted = lint.lint(lint.LintRequest(paths=paths, select=select, ignore=ignore, fail_on=given.get("fail_on")))
    built = build_lint(linted, most=MAX_DIAGNOSTICS)
    return {**built, "items": Bounds().fit(built["items"])}
