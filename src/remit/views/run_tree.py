"""The tree of a run, and one run in full.

Owns what is shown of each: what was asked, every try with its findings, repairs and claims, what became of it, and what
can be done about it. Long texts are shown a page at a time.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from remit.errors import RemitError, UsageError
from remit.ledger.history import list_steps
from remit.ledger.queries import list_children, list_tree, load_last_number
from remit.ledger.runs import list_attempts, load_run
from remit.ledger.texts import load_text
from remit.runs.admission.run_config import read_run_config
from remit.runs.request import read_request
from remit.runs.results.full_result import load_report
from remit.runs.text_pages import redact_once
from remit.views.json_objects import build_attempt, build_list, build_runs, build_text_page
from remit.views.run_actions import describe_actions
from remit.views.run_details import (
    clean,
    find_folder,
    find_session,
    has_ledger,
    hide_environ,
    list_files,
    load_arrived,
    load_kept_report,
    load_standings,
    load_texts,
)
from remit.views.workers import load_recent_status

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from remit.cluster.workers_status import ClusterStatus
    from remit.ledger.home import Home
    from remit.ledger.runs import Run
    from remit.result import Result
    from remit.runs.admission.run_config import RunConfig
    from remit.schemas import (
        AnswerPageObject,
        AnswerSizeObject,
        AskedObject,
        ChangedFileObject,
        RunDetailsObject,
        TextPageObject,
        TreeObject,
        TreeRunObject,
    )

MOST_NODES = 5_000
PAGE_CHARS = 60_000
_SHOWN_PROMPT = 20_000
_CONFIG = (
    "timeout_s", "kind", "format", "budget", "may_call", "max_depth", "model", "tools", "reasks", "retry", "root",
    "worktree", "commit", "artifact_path", "phase", "command", "confine", "evidence", "finishes", "commits",
    "result_tokens", "is_harness_run", "resume_of", "retry_of", "batch", "settings", "description",
)  # fmt: skip
"""What of the terms is worth a look."""


# --- the tree --------------------------------------------------------------------------------------------------------


def load_tree(home: Home, word: str) -> TreeObject:
    """All delegations of the run that one is in, each behind the one that handed it on."""
    own = load_row(home, word)
    event = load_last_number(home.ledger)
    rows = list_tree(home.ledger, own.root_id, limit=MOST_NODES + 1)
    is_cut = len(rows) > MOST_NODES
    ordered = [*_arrange(rows[:MOST_NODES])]
    standings = load_standings(home, [row for row, _ in ordered], load_recent_status(home, rows, own.root_id))
    runs = build_runs(home, standings)
    items: list[TreeRunObject] = [{**run, "level": level} for run, (_, level) in zip(runs, ordered, strict=True)]
    return {**build_list(items), "root_id": own.root_id, "truncated": is_cut, "event": event}


def _arrange(rows: Sequence[Run]) -> Iterator[tuple[Run, int]]:
    """Each row before those below it, and how far down it is; one whose caller is forgotten stands by itself."""
    known = {row.session_id for row in rows}
    below: dict[str | None, list[Run]] = {}
    for row in rows:
        below.setdefault(row.parent_id if row.parent_id in known else None, []).append(row)
    waiting = [(row, 0) for row in reversed(below.pop(None, []))]
    while waiting:
        row, level = waiting.pop()
        yield row, level
        waiting += [(child, level + 1) for child in reversed(below.pop(row.session_id, []))]


def load_row(home: Home, word: str) -> Run:
    """The delegation that a person means, by its id or a part of it."""
    row = load_run(home.ledger, word) if has_ledger(home) else None
    if row is None:
        session_id = find_session(home, word)  # before the ledger is asked for, which would make one
        row = load_run(home.ledger, session_id)
    if row is None:  # it was forgotten just now
        raise UsageError(f"there is no delegation '{word}'", hint="remit ps --all shows what there is")
    return row


# --- one of them -----------------------------------------------------------------------------------------------------


def load_run_details(
    home: Home, word: str, *, result_format: str = "", full: bool = False, cluster: ClusterStatus | None = None
) -> RunDetailsObject:
    """All that is known of one run; its result in the agent's format, or in another. `full` adds every text."""
    row = load_row(home, word)
    event = load_last_number(home.ledger)
    (standing,) = load_standings(home, [row], cluster or load_recent_status(home, [row], row.root_id))
    (run,) = build_runs(home, [standing])
    config = clean(hide_environ(read_run_config(row.details)))
    report = clean(load_kept_report(home, row))
    folder = find_folder(home, row.session_id)
    details: RunDetailsObject = {
        "run": run,
        "config": _list_config(row, config),
        "asked": _load_asked(home, row, standing.work),
        "attempts": [
            build_attempt(each, _measure(home, row.session_id, f"answer-{each.number}"))
            for each in list_attempts(home.ledger, row.session_id)
        ],
        "result": None if report is None else _write_result(report, result_format),
        "steps": [
            {"name": each.name, "state": each.state, "message": clean(each.message), "at_ms": each.at_ms}
            for each in list_steps(home.ledger, row.session_id)
        ],
        "unclaimed": [] if report is None else _list_unclaimed(home, row),
        "children": list_children(home.ledger, row.session_id),
        "folder": folder or None,
        "files": list_files(folder),
        "arrived": dict(clean(load_arrived(home, row))) or None,
        "can": describe_actions(home, row),
        "event": event,
    }
    if full:
        details["texts"] = dict(load_texts(home, row.session_id))
    return details


def _write_result(report: Result, result_format: str) -> Any:  # noqa: ANN401 - JSON
    if not result_format:
        return report.to_dict()
    from remit.runs.results.build_return import write_return

    return write_return(report._replace(result_format=result_format)).to_dict()


def _list_config(row: Run, config: RunConfig) -> dict[str, Any]:
    told = config._asdict()
    shaped = {name: [*told[name]] if isinstance(told[name], tuple) else told[name] for name in _CONFIG}
    return shaped | {
        "runner": row.runner, "budget": dict(config.budget), "settings": dict(config.settings),
        "worktree": config.worktree or None, "commit": config.commit or None, "path": [*row.path], "depth": row.depth,
    }  # fmt: skip


def _load_asked(home: Home, row: Run, work: str) -> AskedObject:
    """What an agent was told: its first message, as much as is read at once, and what that was made of."""
    prompt = _load(home, row.session_id, "prompt") or ""
    kept = load_text(home, row.session_id, "request")
    words, inputs = "", {}
    if kept is not None:
        request, _ = read_request(kept.decode("utf-8", "replace"))
        words, inputs = clean(request.prompt)[:_SHOWN_PROMPT], clean(dict(request.inputs))
    return {
        "prompt": prompt[:_SHOWN_PROMPT],
        "characters": len(prompt),
        "words": words,
        "work": work,
        "context": _load_context(home, row.session_id),
        "inputs": inputs,
    }


def _load_context(home: Home, session_id: str) -> list[dict[str, Any]]:
    """The files that an agent was given to read, or was told of."""
    kept = load_text(home, session_id, "context")
    found: Any = [] if kept is None else json.loads(kept)
    shown: list[dict[str, Any]] = clean(found)
    return shown


def _measure(home: Home, session_id: str, kind: str) -> AnswerSizeObject | None:
    """How long a text is; None where none is kept. To take secrets out of it only for this would take long."""
    try:
        data = load_text(home, session_id, kind)
    except RemitError as error:  # shown instead of it
        data = str(error).encode()
    text = "" if data is None else data.decode("utf-8", "replace")
    return None if data is None else {"chars": len(text), "lines": text.count("\n") + 1}


def _list_unclaimed(home: Home, row: Run) -> list[ChangedFileObject]:
    """What changed on disk and is not named by the return."""
    _, conclusion = load_report(home, row.session_id)
    return [{"path": clean(change.path), "kind": change.kind} for change in conclusion.unclaimed]


# --- long texts ------------------------------------------------------------------------------------------------------


def load_answer_page(home: Home, word: str, number: int, *, page: int = 1) -> AnswerPageObject:
    """A page of what an agent answered in one of its tries."""
    row = load_row(home, word)
    return {"number": number, **_load_page(home, row, f"answer-{number}", f"no answer {number}", page)}


def load_prompt_page(home: Home, word: str, *, page: int = 1) -> TextPageObject:
    """A page of an agent's first message."""
    return _load_page(home, load_row(home, word), "prompt", "no prompt", page)


def _load_page(home: Home, row: Run, kind: str, none: str, page: int) -> TextPageObject:
    text = _load(home, row.session_id, kind)
    if text is None:
        raise UsageError(f"{none} of {row.session_id} is kept", hint="its attempts say which there are")
    return build_text_page(text, page, size=PAGE_CHARS)


def _load(home: Home, session_id: str, kind: str) -> str | None:
    """A text without its secrets; None where none is kept. One whose file is gone or damaged says so."""
    try:
        data = load_text(home, session_id, kind)
    except RemitError as error:
        return f"({error})"
    return None if data is None else redact_once(data)
