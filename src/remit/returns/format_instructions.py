"""Instructions for agents: the JSON object or sentence that a return has to be.

The text is short, because it is part of every prompt. Every value to fill in is a placeholder in angle brackets, so
that a return that only repeats the instructions is refused.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from remit.returns.formats import HYPER, STANDARD
from remit.returns.formats.hyper import END_MARKER, START_MARKER
from remit.returns.formats.manifest import SENTENCES

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from remit.returns.formats import Format


def write_instructions(
    return_format: Format,
    *,
    session_id: str | None = None,
    agent: str | None = None,
    depth: int | None = None,
    path: Sequence[str] | None = None,
    topic: str | None = None,
    date: str | None = None,
    task_id: str | None = None,
    output_dir: str | None = None,
    is_run: bool = False,
    schema: Mapping[str, Any] | None = None,
    schema_name: str = "",
) -> str:
    """Return the instructions for a format. Values that aren't known stay placeholders for the agent.

    `is_run`: Remit fills in what it knows of the run, so the agent need not write it. `schema` describes `data`;
    `schema_name` says where it comes from.
    """
    data = None if schema is None else _describe_schema(schema, schema_name)
    if return_format is STANDARD:
        return _write_standard(session_id, agent, depth, path, is_run=is_run, data=data)
    if return_format is HYPER:
        return _write_hyper(agent, is_run=is_run, data=data)
    return _write_manifest(topic, date, task_id, output_dir)


def _write_standard(
    session_id: str | None,
    agent: str | None,
    depth: int | None,
    path: Sequence[str] | None,
    *,
    is_run: bool,
    data: str | None,
) -> str:
    metadata: dict[str, object] = {"session_id": session_id or "<the session id you were given>"}
    known: dict[str, object] = {
        "duration_seconds": "<seconds>",
        "agent_type": agent or "<your agent name>",
        "delegation_depth": 1 if depth is None else depth,
        "delegation_path": list(path) if path else ["orchestrator", agent or "<your agent name>"],
    }
    metadata |= {} if is_run else known
    return f"""\
Your final message must end with this JSON object in one ```json block, every <blank> replaced, and nothing after it:
```json
{{
  "status": "<{" or ".join(STANDARD.statuses)}>",
  "summary": "<the results: 2 to 5 plain sentences, under 100 tokens, at most 400 characters>",
  "artifacts": [{{"type": "<report or plan or implementation or summary or documentation>", \
"path": "<relative to the project root>", "summary": "<one sentence>"}}],{_write_data_key(data)}
  "metadata": {_fill(metadata)},
  "errors": [],
  "next_steps": "<what the caller should do next, in 1 or 2 sentences>"
}}
```
- completed: the work is done, every artifact exists, and errors is [] or has only a failed commit.
- partial, failed or blocked: add at least one error {{"type": "<timeout, validation, execution, permission or \
tool_unavailable>", "message": "<…>", "recoverable": true or false, "recommendation": "<…>"}}.
- Write files before you list them; artifacts is [] if there are none. Copy session_id exactly.
{data or ""}"""


_MAX_SCHEMA_CHARS = 12_000
"""A longer schema isn't shown whole: it would be a large part of the prompt."""
_MAX_KEYS = 40


def _write_data_key(data: str | None) -> str:
    return "" if data is None else '\n  "data": "<a value that fits the schema of data below>",'


def _describe_schema(schema: Mapping[str, Any], name: str) -> str:
    """Return the instructions for `data`. The schema is escaped, so that it can't end its block."""
    text = json.dumps(schema, ensure_ascii=False, separators=(",", ":"))
    needed = "- data: required if completed; leave it out if there is none yet. It has to fit"
    if len(text) <= _MAX_SCHEMA_CHARS:
        safe = text.replace("`", "\\u0060").replace("<", "\\u003c")
        return f"{needed} this JSON Schema:\n```json\n{safe}\n```\n"
    where = f" of {name}: read it before you write data" if name else ""
    properties, required = schema.get("properties"), schema.get("required")
    keys = [str(key)[:80] for key in properties][:_MAX_KEYS] if isinstance(properties, dict) else []
    must = {str(key)[:80] for key in required} if isinstance(required, list) else set()
    shown = ", ".join(f"{key} (required)" if key in must else key for key in keys)
    listed = f". Its keys: {shown}" if shown else ""
    return f"{needed} the JSON Schema{where}. It is too long to be shown here{listed}.\n"


def _write_hyper(agent: str | None, *, is_run: bool, data: str | None) -> str:
    agent = agent and agent.rpartition(":")[2]  # of an agent of a plugin, the name of its file
    shown = json.dumps(agent or "<your agent file's name>")
    name = "" if is_run else f'"agent_name": {shown}, '
    time = "" if is_run else ', "execution_time_ms": "<a number>"'
    return f"""\
End your final message with this block, every <blank> replaced, and nothing after it:
{START_MARKER}
```json
{{
  "meta": {{{name}"status": "<{" or ".join(HYPER.statuses)}>"{time}}},{_write_data_key(data)}
  "artifacts": [{{"type": "<document or code or data>", "path": "<relative to the workspace root>", \
"summary": "<one or two sentences>", "key_points": ["<3 to 5 points>"]}}],
  "next_steps": ["<an instruction that starts with a verb>"]
}}
```
{END_MARKER}
- Write files before you list them; artifacts is [] if there are none.
- partial: add to next_steps what is left. error: add "error": {{"code": "<IN_CAPITALS>", "message": "<…>"}}.
{data or ""}"""


def _write_manifest(topic: str | None, date: str | None, task_id: str | None, output_dir: str | None) -> str:
    folder, day, slug = output_dir or "claudedocs/agent-outputs", date or "<YYYY-MM-DD>", topic or "<topic-slug>"
    entry = {
        "id": f"{slug}-{day}", "file": f"{day}_{slug}.md", "title": "<title>", "date": day,
        "status": "<complete or partial or blocked>", "topics": ["<tag>"],
        "key_findings": ["<3 to 7 findings, one sentence each, that say what to do, without implementation detail>"],
        "actionable": True, "needs_followup": [],
        "linked_tasks": [task_id] if task_id else [],
    }  # fmt: skip
    return f"""\
1. Write your findings to {folder}/{day}_{slug}.md with the sections: # title, ## Summary, ## Findings, \
## Recommendations, ## Sources, ## Linked Tasks.
2. Append one line, every <blank> replaced, to {folder}/MANIFEST.jsonl:
{json.dumps(entry, ensure_ascii=False, separators=(",", ":"))}
   If another line has that id, add -2 to yours, or the next number.
   Partial or blocked: add "BLOCKED:" and the reason to needs_followup.
3. Reply with this sentence only: "{SENTENCES["complete"]}" (partial: "{SENTENCES["partial"]}"; blocked: \
"{SENTENCES["blocked"]}")
"""


def _fill(metadata: dict[str, object]) -> str:
    return json.dumps(metadata, ensure_ascii=False)
