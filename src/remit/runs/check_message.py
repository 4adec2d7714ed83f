"""Final messages: check them, convert them, and render the instructions for them."""

from __future__ import annotations

import json
import os
from codecs import BOM_UTF16_BE, BOM_UTF16_LE
from sys import float_info
from typing import TYPE_CHECKING, Any, NamedTuple

from remit import returns
from remit.errors import UsageError
from remit.model import Expectation, Verdict
from remit.result import KEY
from remit.returns.formats import FORMATS, HYPER, MANIFEST, get_format, render_schema
from remit.returns.formats.manifest import SENTENCES
from remit.spelling import did_you_mean
from remit.storage.settings import load_settings

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from remit.data_schema import DataSchema
    from remit.model import Diagnostic

AGENT_FILE = "agent-file"
SCHEMAS = (*FORMATS, AGENT_FILE)
_NO_RETURN = "RET001"
_MAX_RESULT = 1024 * 1024
_LOOKED_AT = 8000
"""Like git, a zero byte in this part tells binary data from text."""


def check(
    text: str | bytes,
    *,
    format: str | None = None,
    session_id: str | None = None,
    agent: str | None = None,
    root: Path | None = None,
    manifest: Path | None = None,
    schema: Mapping[str, Any] | None = None,
) -> Verdict:
    """The verdict on the final message of an agent, or on a result of Remit; `root` has its artifacts checked on disk.

    `schema` is a JSON Schema for `data`; references to files in it are checked below `root`.
    A `manifest` result is an entry and not a sentence (D4): it is judged as the entry that the sentence speaks of.
    """
    is_manifest = format in (None, MANIFEST.name) and manifest is None and session_id is None
    entry = _read_manifest_result(text) if is_manifest else None
    if entry is not None:
        format, text = MANIFEST.name, SENTENCES[entry["status"]]
    tail = None if entry is None else json.dumps(entry)
    expectation = Expectation(session_id, agent, data=None if schema is None else _make_data_schema(schema, root))
    if root is None and manifest is None:
        verdict = returns.check(text, return_format=format, expectation=expectation, manifest_tail=tail)
        return _name_encoding(verdict, text)
    from remit.evidence.return_facts import find_facts, follow_to_file, load_findings  # noqa: PLC0415 - only here
    from remit.evidence.workspace_root import find_workspace_root  # noqa: PLC0415

    words = load_settings(root).returns.status_words if root is not None else {}
    roots = () if root is None else (os.path.abspath(root), os.path.realpath(root))
    expectation = expectation._replace(roots=roots)
    reading = returns.read_message(text, return_format=format, expectation=expectation, words=words)
    if reading.payload is None and root is not None:
        reading = follow_to_file(reading, root, format) or reading
    if reading.return_format is MANIFEST:
        manifest = _find_manifest(root, manifest)
        returns.attach_entry(reading, tail or _load_tail(manifest))
    is_hyper = root is not None and reading.return_format is HYPER
    workspace_root = find_workspace_root(os.fspath(root or ""), os.environ) if is_hyper else ""
    evidence = find_facts(reading, root, manifest, workspace_root)
    verdict = returns.judge(reading, evidence=evidence, findings_text=load_findings(evidence, root, manifest))
    return _name_encoding(verdict, text)


def _make_data_schema(schema: Mapping[str, Any], root: Path | None) -> DataSchema:
    from remit.data_schema import DataSchema, check_schema  # noqa: PLC0415 - only with a schema
    from remit.evidence.references import make_format_checks  # noqa: PLC0415

    formats = {} if root is None else make_format_checks(os.fspath(root))
    return DataSchema(check_schema(schema), formats=formats)


def _read_manifest_result(text: str | bytes) -> dict[str, Any] | None:
    """The entry of a `manifest` result that Remit printed; None if the text is anything else."""
    if text.lstrip()[:1] not in ("{", b"{") or len(text) > _MAX_RESULT:
        return None
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return None
    own = found.get(KEY) if isinstance(found, dict) else None
    is_result = isinstance(own, dict) and {"status", "verdict", "stop_reason", "session_id"} <= own.keys()
    return found if is_result and isinstance(found.get("id"), str) and found.get("status") in SENTENCES else None


def _name_encoding(verdict: Verdict, text: str | bytes) -> Verdict:
    """Add a diagnostic if a message without a return isn't text: a file may have been damaged."""
    if verdict.name != "missing" or isinstance(text, str):
        return verdict
    if not (text.startswith((BOM_UTF16_LE, BOM_UTF16_BE)) or b"\0" in text[:_LOOKED_AT]):
        return verdict
    told, hint = "the message has no return: it isn't UTF-8 text", "Save it as UTF-8, or name another file."
    found = tuple(
        each._replace(message=told, hint=hint) if each.code == _NO_RETURN else each for each in verdict.diagnostics
    )
    verdict.diagnostics = found
    return verdict


def load_message(source: str) -> bytes:
    """Read a message from a file, or from standard input for "-"."""
    from remit.storage.files import load_bytes, load_stdin  # noqa: PLC0415 - a caller with a text needs no files

    return load_stdin() if source == "-" else load_bytes(source)


class Conversion(NamedTuple):
    """A return in another format, and the changes that the conversion made."""

    text: str
    payload: dict[str, Any]
    diagnostics: tuple[Diagnostic, ...]
    accepted: bool
    verdict: Verdict


def convert(
    text: str | bytes,
    *,
    to: str,
    format: str | None = None,
    session_id: str | None = None,
    agent: str | None = None,
    depth: int | None = None,
    path: Sequence[str] | None = None,
    manifest: Path | None = None,
    today: str | None = None,
    duration_seconds: float | None = None,
    findings_file: str | None = None,
) -> Conversion:
    """Write a return in another format. A source that is not accepted is not converted: the verdict says why.

    What the target requires and the source does not say is filled in from the other arguments, `findings_file`
    for an entry of the manifest; what the source says is not overruled.
    """
    from remit.returns.conversion import KnownMetadata, convert_return, render_message  # noqa: PLC0415 - only for this

    target = get_format(to)
    verdict = check(text, format=format, manifest=manifest)
    if verdict.returned is None:
        return Conversion("", {}, verdict.diagnostics, accepted=False, verdict=verdict)
    duration_ms = None if duration_seconds is None else _to_ms(duration_seconds)
    known = KnownMetadata(
        session_id, agent, depth, None if path is None else tuple(path), today, duration_ms, findings_file
    )
    payload, diagnostics = convert_return(verdict.returned, target, known)
    message = render_message(payload, target)
    reply, tail = (SENTENCES.get(payload["status"], ""), message) if target is MANIFEST else (message, None)
    result = returns.check(reply, return_format=to, manifest_tail=tail)
    if not result.accepted and not any(diagnostic.severity == "error" for diagnostic in diagnostics):
        diagnostics += [
            diagnostic._replace(place=None) for diagnostic in result.diagnostics if diagnostic.severity == "error"
        ]
    return Conversion(message, payload, tuple(diagnostics), result.accepted, verdict)


def _to_ms(seconds: float) -> float:
    """Milliseconds, rounded; whole numbers without a fraction."""
    duration_ms = round(min(seconds * 1000, float_info.max), 3)
    return int(duration_ms) if duration_ms == duration_ms // 1 else duration_ms


def instructions(
    format: str,
    *,
    session_id: str | None = None,
    agent: str | None = None,
    depth: int | None = None,
    path: Sequence[str] | None = None,
    topic: str | None = None,
    date: str | None = None,
    task_id: str | None = None,
    output_dir: str | None = None,
) -> str:
    """The instructions on what an agent returns, with the known facts of its run."""
    from remit.returns.format_instructions import write_instructions  # noqa: PLC0415 - only for this

    return write_instructions(
        get_format(format),
        session_id=session_id,
        agent=agent,
        depth=depth,
        path=path,
        topic=topic,
        date=date,
        task_id=task_id,
        output_dir=output_dir,
    )


def schema(name: str) -> dict[str, Any]:
    """The JSON Schema of a format's object, or of an agent file's frontmatter."""
    if name not in SCHEMAS:
        raise UsageError(f"there is no schema '{name}'", hint=did_you_mean(name, SCHEMAS))
    if name == AGENT_FILE:
        from remit.agents.schema import render_agent_schema  # noqa: PLC0415 - only for this

        return render_agent_schema()
    return render_schema(get_format(name))


def _find_manifest(root: Path | None, manifest: Path | None) -> Path | None:
    if manifest is not None or root is None:
        return manifest
    from remit.manifest.manifest_file import PLACES  # noqa: PLC0415 - only where no folder is named

    return next((root / place for place in PLACES if (root / place).is_file()), None)


def _load_tail(manifest: Path | None) -> str | None:
    from remit.storage.files import load_tail  # noqa: PLC0415 - only with a manifest

    return None if manifest is None else load_tail(manifest)
