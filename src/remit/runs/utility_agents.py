"""The utility agents of the standard that Remit answers itself (R1.18, D1).

`status-sync-manager` moves a task's status, `git-workflow-manager` commits named files, `atomic-task-numberer`
allocates a task number. No model reads the prompt: Remit parses inputs from it. All operations are idempotent.
"""

from __future__ import annotations

import json
import os
import shlex
from typing import TYPE_CHECKING, Any

from remit.agents.profiles import GIT_WORKFLOW, STATUS_SYNC, TASK_NUMBERER
from remit.errors import RemitError, UsageError
from remit.evidence.artifacts import inspect_artifacts
from remit.git.commits import MAX_SUBJECT_CHARS, commit_paths, find_last_commit, render_message
from remit.lazy_regex import lazy
from remit.ledger.home import Home
from remit.ledger.runs import load_run
from remit.ledger.texts import load_text
from remit.light_namedtuple import NamedTuple
from remit.model import ERROR_CODES, AgentError, Artifact
from remit.returns.formats.standard import KINDS
from remit.runs.admission.run_config import read_run_config
from remit.runs.finish.finish_run import read_counts
from remit.runs.judging.conclusion import Conclusion
from remit.runs.request import read_request
from remit.runs.tasks.outside_tasks import list_outside
from remit.runs.tasks.task_holders import find_holder_above
from remit.runs.tasks.task_status import open_store
from remit.runs.tasks.workspace_tasks import parse_marker
from remit.storage.spec_root import STATE, TODO
from remit.tasks.outside_system import fill
from remit.tasks.task import NEED_REASON, OWN_COMMAND, check_move

if TYPE_CHECKING:
    from collections.abc import Mapping

    from remit.config import Settings
    from remit.ledger.runs import Run
    from remit.tasks.store import TaskStore

_CONTEXT = frozenset({"session_id", "delegation_depth", "delegation_path", "timeout", "timestamp"})
"""Inputs of every call that Remit ignores, because the ledger has the correct values."""
_MAX_LINES = 2_000
_MAX_TRIES = 20
"""How many braces may come before the object of the inputs."""
_LINE = lazy(
    r"[ \t]{0,8}(?:[-*][ \t]{1,4})?[\"'`*]{0,3}([a-z][a-z_]{0,40})[\"'`*]{0,3}[ \t]{0,4}[:=][ \t]{0,4}(.{0,20000})"
)
_ITEM = lazy(r"[ \t]{0,12}[-*][ \t]{1,4}(\S.{0,4000})")
_BLANK = lazy(r"\{([a-z_]{1,40})\}")


class _UtilityCall(NamedTuple):
    """One call of a built-in agent."""

    home: Home
    settings: Settings
    row: Run
    inputs: Mapping[str, Any]


class _CallFailed(Exception):  # noqa: N818 - a failed call, not an error of the program
    """The call fails: the kind of error, the reason, and what to do."""

    def __init__(self, kind: str, message: str, advice: str) -> None:
        super().__init__(message)
        self.agent_error = AgentError(kind, message, ERROR_CODES[kind], recoverable=True, recommendation=advice)


def answer(root: str, settings: Settings, row: Run) -> Conclusion:
    """Carry out a call of a utility agent and return its conclusion, `failed` if the inputs or files don't allow it."""
    home = Home(root)
    try:
        text = load_text(home, row.session_id, "request") or b"{}"
        request, _ = read_request(text.decode("utf-8", "surrogatepass"))
        given = {name: _read_value(value) for name, value in request.inputs.items()}
        call = _UtilityCall(home, settings, row, parse_inputs(request.prompt) | given)
        return _ANSWERS[row.agent](call)
    except _CallFailed as failed:
        agent_error = failed.agent_error
    except RemitError as error:
        kind = "git" if row.agent == GIT_WORKFLOW else "status_sync"
        advice = (error.hint or "try again").rstrip(".")
        is_command = advice.startswith("remit ")
        agent_error = _CallFailed(
            kind, error.message, advice if is_command else f"{advice[:1].upper()}{advice[1:]}"
        ).agent_error
    finally:
        home.close()
    nothing = {"files_updated": [], "rollback_performed": False} if row.agent == STATUS_SYNC else {}
    summary = f"{row.agent} failed: {agent_error.message}. {agent_error.recommendation}."
    return Conclusion(
        "exited", "accepted", "failed", summary[:400], errors=(agent_error,), next_steps=(agent_error.recommendation,),
        extra=nothing,
    )  # fmt: skip


def _complete(summary: str, extra: Mapping[str, Any]) -> Conclusion:
    return Conclusion("exited", "accepted", "completed", summary, extra=extra)


# --- inputs -----------------------------------------------------------------------------------------------------------


def parse_inputs(prompt: str) -> dict[str, Any]:
    """Parse the inputs in a prompt: its first JSON object, or its lines of the form `key: value`."""
    at = prompt.find("{")
    for _ in range(_MAX_TRIES):
        if at < 0 or _LINE.fullmatch(prompt[prompt.rfind("\n", 0, at) + 1 : at]) is not None:
            break  # an object behind a key is the value of one input
        try:
            found, _ = json.JSONDecoder().raw_decode(prompt, at)
        except (ValueError, RecursionError):
            found = None
        if isinstance(found, dict) and found:
            return found
        at = prompt.find("{", at + 1)
    inputs: dict[str, Any] = {}
    name = ""
    for line in prompt.splitlines()[:_MAX_LINES]:
        item, pair = _ITEM.fullmatch(line), _LINE.fullmatch(line)
        if pair is not None:
            name = pair[1]
            inputs[name] = _read_value(pair[2].strip())
        elif item is not None and name and (inputs[name] == "" or isinstance(inputs[name], list)):
            inputs[name] = [*inputs[name], _read_value(item[1].strip())]
    return inputs


def _read_value(text: object) -> Any:  # noqa: ANN401 - any JSON value
    """Parse a list, an object or a quoted text as JSON; return any other text as it is."""
    if isinstance(text, str) and text[:1] in ("[", "{", '"'):
        try:
            return json.loads(text)
        except (ValueError, RecursionError):
            return text
    return text


def _need(call: _UtilityCall, *names: str) -> list[Any]:
    """Return the values of required inputs; raise if one is missing."""
    missing = [name for name in names if call.inputs.get(name) in (None, "", [])]
    if missing:
        raise _refuse_inputs(call.row.agent, f"missing inputs: {', '.join(missing)}")
    return [call.inputs[name] for name in names]


def _refuse_inputs(agent: str, why: str) -> _CallFailed:
    return _CallFailed("validation", why, f"Call it again with {_NEEDS[agent]}")


_NEEDS = {
    STATUS_SYNC: "these inputs as JSON or as `key: value` lines: operation (update_status), task_number, new_status; "
    "for blocked and abandoned, reason; optional: validated_artifacts, phase_statuses, plan_metadata",
    GIT_WORKFLOW: "these inputs as JSON or as `key: value` lines: scope_files (a list of files), and message, or "
    "message_template with task_context",
    TASK_NUMBERER: "no inputs",
}


def _read_list(call: _UtilityCall, name: str) -> list[Any]:
    """Return an input that is a list; a text counts as a list separated by commas."""
    value = call.inputs.get(name) or []
    if isinstance(value, str):
        return [part.strip() for part in value.split(",") if part.strip()]
    if not isinstance(value, list):
        raise _refuse_inputs(call.row.agent, f"{name} isn't a list")
    return value


def _read_number(call: _UtilityCall, value: object) -> int:
    text = str(value).strip()
    if not (text.isascii() and text.isdigit() and len(text) < 10):  # noqa: PLR2004 - digits of a task number
        _refuse_outside(call, text)
        raise _refuse_inputs(call.row.agent, f"'{text[:40]}' isn't the number of a task")
    return int(text)


def _refuse_outside(call: _UtilityCall, task_id: str) -> None:
    """Refuse to change a task of an outside system, and name the command that completes it."""
    template = list_outside(call.home.root, call.settings).get("complete")
    if template is None or call.row.agent != STATUS_SYNC:
        return
    words = fill(template, "complete", task_id=task_id)
    why = f"{words[0]} keeps the task {task_id}, not Remit"
    raise _CallFailed("status_sync", why, f"To complete it, run `{shlex.join(words)}`")


def _name_unused(call: _UtilityCall, *used: str) -> str:
    """Return a sentence on inputs without effect; empty if there are none."""
    unused = sorted(call.inputs.keys() - _CONTEXT - set(used))
    return f" Not used: {', '.join(name[:40] for name in unused[:5])}." if unused else ""


# --- status-sync-manager ----------------------------------------------------------------------------------------------


def _sync_status(call: _UtilityCall) -> Conclusion:
    """Change the marker of a task and of phases of its plan, and link artifacts."""
    operation = str(call.inputs.get("operation") or "update_status")
    if operation != "update_status":
        commands = {"create_task": "remit task new TITLE", "archive_tasks": "remit task archive NUMBER"}
        other = commands.get(operation)
        why = f"the operation '{operation[:40]}' isn't available" + (f"; run `{other}` for that" if other else "")
        raise _refuse_inputs(STATUS_SYNC, why)
    task_number, word = _need(call, "task_number", "new_status")
    number, wanted = _read_number(call, task_number), _read_marker(str(word))
    artifacts = _read_artifacts(call)
    phases = [_read_phase(each) for each in _read_list(call, "phase_statuses")]
    store = open_store(call.home, call.settings)
    if store is None:
        raise _CallFailed("status_sync", "this workspace keeps no tasks", "Create the first one: remit task new TITLE")
    reason = next((str(call.inputs[name]) for name in _REASONS if call.inputs.get(name)), "")
    if wanted in NEED_REASON and not reason.strip():
        raise _refuse_inputs(STATUS_SYNC, f"the status '{word}' needs a reason")
    before = store.get(number).marker
    own = OWN_COMMAND.get(wanted)
    if before != wanted:
        refusal = check_move(before, wanted, reason=reason, command=own)
        if refusal is not None:
            raise _CallFailed("status_sync", f"task {number}: {refusal.message}", refusal.hint.rstrip("."))
    by = find_holder_above(call.home, number, call.row.parent_id)
    counts = read_counts(call.inputs)
    linked = store.conclude(number, lambda _: None, artifacts=artifacts, counts=counts) if artifacts or counts else None
    changed = [*linked.files] if linked is not None else []
    for phase, marker in phases:
        changed += store.move_phase(number, phase, marker, by=by).files
    if before != wanted:
        changed += store.move(number, wanted, reason=reason, command=own, by=by).files
    used = (*counts, "plan_metadata") if counts else ()
    return _report_status(call, store, number, f"[{before}]", bool(changed), used)


_REASONS = ("reason", "blocking_reason", "abandonment_reason")


def _report_status(  # noqa: PLR0917 - what the summary says
    call: _UtilityCall, store: TaskStore, number: int, before: str, changed: bool, counts: tuple[str, ...]  # noqa: FBT001
) -> Conclusion:  # fmt: skip
    after = f"[{store.get(number).marker}]"
    files = [f"{store.folder}/{TODO}", f"{store.folder}/{STATE}"]
    used = (
        "operation",
        "task_number",
        "new_status",
        "validated_artifacts",
        "artifact_links",
        "phase_statuses",
        *counts,
    )
    if after != before:
        summary = f"Task {number} moved from {before} to {after}. {' and '.join(files)} agree."
    elif changed:
        summary = f"Task {number} is still {after}. Its artifacts and phases are up to date in {' and '.join(files)}."
    else:
        summary = f"Nothing was changed: task {number} is {after} already. {' and '.join(files)} agree."
    summary += _name_unused(call, *used, *_REASONS)
    extra = {"files_updated": files, "rollback_performed": False, "task_number": number}
    return _complete(summary, extra)


def _read_artifacts(call: _UtilityCall) -> tuple[Artifact, ...]:
    """Return the artifacts to link; raise if one isn't a file with content."""
    listed = [*_read_list(call, "validated_artifacts"), *_read_list(call, "artifact_links")]
    artifacts = []
    for each in listed:
        entry = each if isinstance(each, dict) else {"path": each}
        path, word = str(entry.get("path") or ""), str(entry.get("type") or _name_kind(str(entry.get("path") or "")))
        facts = inspect_artifacts((path,), root=call.home.root, bases=(call.home.root,))[path] if path else None
        if facts is None or facts.state != "file" or not facts.size_bytes:
            advice = "Write the file before you link it, and give its path from the project's root"
            raise _CallFailed("file_not_found", f"the artifact '{path[:200]}' is missing or empty", advice)
        artifacts.append(Artifact(KINDS.get(word, word), path, str(entry.get("summary") or ""), word=word))
    return tuple(artifacts)


def _name_kind(path: str) -> str:
    """Return the type of an artifact by its folder (R1.20)."""
    folder = os.path.basename(os.path.dirname(path))
    return {"reports": "research", "plans": "plan", "summaries": "summary"}.get(folder, "implementation")


def _read_marker(word: str) -> str:
    try:
        return parse_marker(word)
    except UsageError as error:
        raise _refuse_inputs(STATUS_SYNC, f"'{word[:40]}' isn't a status: {error.hint.rstrip('.')}") from error


def _read_phase(value: object) -> tuple[str, str]:
    entry = value if isinstance(value, dict) else {}
    number, word = entry.get("phase_number"), entry.get("status")
    if number is None or not word:
        raise _refuse_inputs(STATUS_SYNC, "an entry of phase_statuses has no phase_number or no status")
    return str(number), _read_marker(str(word))


# --- git-workflow-manager ---------------------------------------------------------------------------------------------


def _commit(call: _UtilityCall) -> Conclusion:
    """Commit the named files in the tree in which the caller works."""
    _need(call, "scope_files")
    paths = [str(each) for each in _read_list(call, "scope_files")]
    message = _write_message(call)
    parent = load_run(call.home.ledger, call.row.parent_id) if call.row.parent_id else None
    root = (read_run_config(parent.details).root if parent is not None else "") or call.home.root
    paths = [os.path.relpath(path, root) if path.startswith("/") else path for path in paths]
    for path in paths:
        if not os.path.lexists(f"{root}/{path}") and find_last_commit(root, [path]) is None:
            raise _CallFailed("file_not_found", f"'{path[:200]}' doesn't exist and no commit has it",
                          "Name files by their path from the project's root")  # fmt: skip
    committed = commit_paths(root, paths, message)
    trouble = next((each for each in committed.diagnostics if each.code != "GIT006"), None)
    left = [path for path in paths if path not in committed.ignored]
    if trouble is not None or not left:
        why = trouble.message if trouble is not None else "git ignores every named file"
        advice = trouble.hint if trouble is not None else "Name files that git doesn't ignore"
        raise _CallFailed("git", why, advice.rstrip("."))
    commit = committed.commit or find_last_commit(root, left) or ""
    subject = message.partition("\n")[0]
    if committed.commit:
        summary = f"Committed {len(committed.paths)} files as {commit[:12]}: {subject}."
    else:
        summary = f"Nothing was committed: {commit[:12]} and earlier commits have the named files as they are."
    summary += f" Git ignores {', '.join(committed.ignored[:3])}." if committed.ignored else ""
    summary += _name_unused(call, "operation", "scope_files", "message", "message_template", "task_context")
    info = {"commit_hash": commit, "hash": commit, "files_committed": [*committed.paths]}
    info |= {"message": subject} if committed.commit else {}
    return _complete(summary, {"commit_hash": commit, "commit_info": info})


def _write_message(call: _UtilityCall) -> str:
    """Return the commit message: the input, the filled template, or one from the task and its description (S6)."""
    context = call.inputs.get("task_context")
    values = {**call.inputs, **(context if isinstance(context, dict) else {})}
    number, text = values.get("task_number") or values.get("number"), values.get("description")
    template = call.inputs.get("message") or call.inputs.get("message_template")
    if not template:
        if not number or not text:
            raise _refuse_inputs(GIT_WORKFLOW, "there is no message")
        return render_message(_read_number(call, number), str(text))
    if call.inputs.get("message"):
        return _shorten_subject(str(template))
    known = {name: str(value) for name, value in {"number": number, **values}.items() if isinstance(value, str | int)}
    unknown = sorted({found[1] for found in _BLANK.finditer(str(template))} - known.keys())
    if unknown:
        raise _refuse_inputs(GIT_WORKFLOW, f"task_context has no {', '.join(unknown)} for the message_template")
    return _shorten_subject(_BLANK.sub(lambda found: known[found[1]], str(template)))


def _shorten_subject(message: str) -> str:
    subject, separator, body = message.strip().partition("\n")
    if len(subject) > MAX_SUBJECT_CHARS:
        subject = f"{subject[: MAX_SUBJECT_CHARS - 1].rstrip()}…"
    return f"{subject}{separator}{body}"


# --- atomic-task-numberer ---------------------------------------------------------------------------------------------


def _allocate(call: _UtilityCall) -> Conclusion:
    """Allocate the next task number."""
    store = open_store(call.home, call.settings)
    if store is None:
        raise _CallFailed(
            "file_not_found", "this workspace keeps no tasks", "Create the first one: remit task new TITLE"
        )
    number = store.allocate().number
    summary = f"The next task number is {number}. It is allocated to this call and isn't given out again."
    return _complete(summary, {"task_number": number})


_ANSWERS = {STATUS_SYNC: _sync_status, GIT_WORKFLOW: _commit, TASK_NUMBERER: _allocate}
