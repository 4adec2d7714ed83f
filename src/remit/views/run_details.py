"""One run in full: its request, configuration, attempts, result, finish steps and texts.

Agents write into the ledger and into the folders of attempts, so secrets are removed from every text.
"""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any, NamedTuple

from remit.attempts.folders import SESSIONS
from remit.cluster.workers_status import is_remote
from remit.errors import RemitError, UsageError
from remit.ledger.events import load_last_event
from remit.ledger.history import list_steps
from remit.ledger.home import Home
from remit.ledger.queries import list_children, load_last_number
from remit.ledger.runs import list_attempts
from remit.ledger.texts import list_texts, load_text
from remit.model import NOTHING
from remit.runs.admission.run_config import NAMES, SEAL, VALUES, read_run_config
from remit.runs.request import read_request
from remit.runs.results.full_result import load_report
from remit.runs.text_pages import redact_once
from remit.storage.secrets import MARK, redact, redact_all
from remit.views.checks import list_attempt_checks
from remit.views.json_builders import build_attempt, build_check, build_runs, build_text_page
from remit.views.run_actions import describe_actions
from remit.views.run_snapshots import load_row, load_snapshots
from remit.views.run_tree import list_subtree
from remit.views.workers import load_recent_status

if TYPE_CHECKING:
    from collections.abc import Mapping

    from remit.cluster.workers_status import ClusterStatus
    from remit.ledger.history import StoredStep
    from remit.ledger.home import Home
    from remit.ledger.runs import AttemptRow, Run
    from remit.result import Result
    from remit.runs.admission.run_config import RunConfig
    from remit.schemas import (
        AnswerPageObject,
        AnswerSizeObject,
        AskedObject,
        ChangedFileObject,
        RunDetailsObject,
        TextPageObject,
    )
    from remit.views.checks import AttemptCheck
    from remit.views.run_snapshots import RunSnapshot


PAGE_CHARS = 60_000
_SHOWN_PROMPT = 20_000
_CONFIG = (
    "timeout_s", "kind", "format", "budget", "may_call", "max_depth", "model", "tools", "reasks", "retry", "root",
    "worktree", "commit", "artifact_path", "phase", "command", "confine", "evidence", "finishes", "commits",
    "result_tokens", "is_harness_run", "resume_of", "retry_of", "batch", "settings", "description",
)  # fmt: skip
"""The shown part of the configuration."""


def load_run_details(
    home: Home, word: str, *, result_format: str = "", full: bool = False, cluster: ClusterStatus | None = None
) -> RunDetailsObject:
    """Load one run in full, with its result in the agent's format or in another. `full` adds all texts."""
    row = load_row(home, word)
    event = load_last_number(home.ledger)
    (snapshot,) = load_snapshots(home, [row], cluster or load_recent_status(home, [row], row.root_id))
    (run,) = build_runs(home, [snapshot])
    config = redact_all(hide_environ(read_run_config(row.details)))
    report = redact_all(load_kept_report(home, row))
    folder = find_folder(home, row.session_id)
    attempts = list_attempts(home.ledger, row.session_id)
    checked = list_attempt_checks(home, row.session_id, read_run_config(row.details), attempts)
    details: RunDetailsObject = {
        "run": run,
        "config": _list_config(row, config),
        "asked": _load_asked(home, row, snapshot.work),
        "attempts": [
            build_attempt(each, _measure(home, row.session_id, f"answer-{each.number}"), checked.get(each.number, ()))
            for each in attempts
        ],
        "checks": [] if report is None else [build_check(each) for each in report.checks],
        "result": None if report is None else _write_result(report, result_format),
        "steps": [
            {"name": each.name, "state": each.state, "message": redact_all(each.message), "at_ms": each.at_ms}
            for each in list_steps(home.ledger, row.session_id)
        ],
        "unclaimed": [] if report is None else _list_unclaimed(home, row),
        "children": list_children(home.ledger, row.session_id),
        "folder": folder or None,
        "files": list_files(folder),
        "imported": dict(redact_all(load_imported(home, row))) or None,
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
    values = config._asdict()
    shown = {name: [*values[name]] if isinstance(values[name], tuple) else values[name] for name in _CONFIG}
    return shown | {
        "runner": row.runner, "budget": dict(config.budget), "settings": dict(config.settings),
        "worktree": config.worktree or None, "commit": config.commit or None, "path": [*row.path], "depth": row.depth,
    }  # fmt: skip


def _load_asked(home: Home, row: Run, work: str) -> AskedObject:
    """The first message of an agent, shortened, and the parts it was made of."""
    prompt = _load(home, row.session_id, "prompt") or ""
    kept = load_text(home, row.session_id, "request")
    words, inputs = "", {}
    if kept is not None:
        request, _ = read_request(kept.decode("utf-8", "replace"))
        words, inputs = redact_all(request.prompt)[:_SHOWN_PROMPT], redact_all(dict(request.inputs))
    return {
        "prompt": prompt[:_SHOWN_PROMPT],
        "characters": len(prompt),
        "words": words,
        "work": work,
        "context": _load_context(home, row.session_id),
        "inputs": inputs,
    }


def _load_context(home: Home, session_id: str) -> list[dict[str, Any]]:
    """The files that were included or named in an agent's first message."""
    kept = load_text(home, session_id, "context")
    found: Any = [] if kept is None else json.loads(kept)
    shown: list[dict[str, Any]] = redact_all(found)
    return shown


def _measure(home: Home, session_id: str, kind: str) -> AnswerSizeObject | None:
    """The length of a text before redaction, which would take long; None if the text isn't stored."""
    try:
        data = load_text(home, session_id, kind)
    except RemitError as error:  # shown instead of it
        data = str(error).encode()
    text = "" if data is None else data.decode("utf-8", "replace")
    return None if data is None else {"chars": len(text), "lines": text.count("\n") + 1}


def _list_unclaimed(home: Home, row: Run) -> list[ChangedFileObject]:
    """The changed files that the return doesn't name."""
    _, conclusion = load_report(home, row.session_id)
    return [{"path": redact_all(change.path), "kind": change.kind} for change in conclusion.unclaimed]


# --- the record that `remit show` prints ------------------------------------------------------------------------------


class RunRecord(NamedTuple):
    """One run with its configuration, attempts, result, steps and nested runs."""

    snapshot: RunSnapshot
    config: RunConfig
    attempts: tuple[AttemptRow, ...] = ()
    checks: Mapping[int, tuple[AttemptCheck, ...]] = {}
    """How the acceptance checks ended after each attempt, by its number, as far as that is kept."""
    report: Result | None = None
    """The whole result; None before the agent has ended."""
    steps: tuple[StoredStep, ...] = ()
    below: tuple[RunSnapshot, ...] = ()
    """Its nested runs."""
    folder: str = ""
    files: tuple[str, ...] = ()
    """The files with the agent's input and output."""
    texts: tuple[tuple[str, str], ...] = ()
    """The prompt and the answers without secrets; only with `full`."""
    imported: Mapping[str, Any] = NOTHING
    """How the files of another machine were imported here."""


def load_record(
    home: Home, session_id: str, *, full: bool = False, cluster: ClusterStatus | None = None
) -> RunRecord:  # fmt: skip
    """Load the record of a run; with `full`, all texts, too."""
    tree = list_subtree(home, session_id, cluster=cluster)
    row = tree[0].row
    folder = find_folder(home, session_id)
    config, attempts = read_run_config(row.details), list_attempts(home.ledger, session_id)
    return RunRecord(
        tree[0],
        redact_all(hide_environ(config)),
        tuple(redact_all(each) for each in attempts),
        list_attempt_checks(home, session_id, config, attempts),
        redact_all(load_kept_report(home, row)),
        tuple(redact_all(each) for each in list_steps(home.ledger, session_id)),
        tuple(tree[1:]),
        folder,
        tuple(list_files(folder)),
        tuple(load_texts(home, session_id)) if full else (),
        redact_all(load_imported(home, row)),
    )


def find_folder(home: Home, session_id: str) -> str:
    """The folder of a run's attempts; empty if there is none."""
    folder = f"{home.folder}/{SESSIONS}/{session_id}"
    return folder if os.path.isdir(folder) else ""


def load_imported(home: Home, row: Run) -> Mapping[str, Any]:
    """How the files of another machine were imported here."""
    event = load_last_event(home.ledger, row.session_id, "imported") if is_remote(row) else None
    return {} if event is None else event.details


def hide_environ(config: RunConfig) -> RunConfig:
    """The configuration with the values of the runner's environment variables hidden."""
    names = config.settings.get(NAMES) or config.settings.get(VALUES)
    if not isinstance(names, list | tuple | dict):
        return config
    shown = {name: value for name, value in config.settings.items() if name not in (NAMES, SEAL)}
    return config._replace(settings=shown | {VALUES: dict.fromkeys(names, f"{MARK}]")})


def load_kept_report(home: Home, row: Run) -> Result | None:
    """The whole result of a run, secrets included; None before its agent has ended or if it isn't stored."""
    return (
        load_report(home, row.session_id)[0] if row.state in ("finishing", "finished") and _is_kept(home, row) else None
    )


def _is_kept(home: Home, row: Run) -> bool:
    return "report" in list_texts(home, row.session_id)


_SHOWN_FILES = frozenset({"stdin", "out", "err", "out.tail", "err.tail", "shim.err"})


def list_files(folder: str) -> list[str]:
    """The paths of the files that the agent and the shim wrote; no file is opened."""
    found = []
    for number in sorted(filter(str.isdecimal, _list_names(folder)), key=int):
        names = [name for name in sorted(_list_names(f"{folder}/{number}")) if name in _SHOWN_FILES]
        found += [file for name in names if _is_filled(file := f"{folder}/{number}/{name}")]
    return found


def _is_filled(file: str) -> bool:
    try:
        return os.lstat(file).st_size > 0
    except OSError:  # it was removed meanwhile
        return False


def _list_names(folder: str) -> list[str]:
    try:
        return os.listdir(folder)
    except OSError:
        return []


# --- long texts -------------------------------------------------------------------------------------------------------


def load_texts(home: Home, session_id: str) -> list[tuple[str, str]]:
    """The prompt and the answers; an error message for a text whose file is missing or damaged."""
    found = []
    for kind in sorted(set(list_texts(home, session_id)) - {"report"}, key=_rank_text):
        try:
            data = load_text(home, session_id, kind) or b""
        except RemitError as error:
            data = f"({error})".encode()
        found.append((kind, redact(data.decode("utf-8", "replace"))))
    return found


def _rank_text(kind: str) -> tuple[int, int, str]:
    """The sort key of a text: the prompt first, then the answers by number."""
    number = kind.removeprefix("answer-")
    return (1, int(number), "") if number.isdecimal() else (0, 0, kind)


def load_answer_page(home: Home, word: str, number: int, *, page: int = 1) -> AnswerPageObject:
    """A page of an attempt's answer."""
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
    """A text without secrets; None if it isn't stored, the error message if its file is missing or damaged."""
    try:
        data = load_text(home, session_id, kind)
    except RemitError as error:
        return f"({error})"
    return None if data is None else redact_once(data)
