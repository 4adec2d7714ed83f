"""Instructions for agents: the JSON object or sentence that a return has to be.

The text is short, because it is part of every prompt. Every value to fill in is a placeholder in angle brackets, so
that a return that only repeats the instructions is refused.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from remit.returns.formats import HYPER, STANDARD
from remit.returns.formats.hyper import END_MARKER, START_MARKER
from remit.returns.formats.manifest import SENTENCES

if TYPE_CHECKING:
    from collections.abc import Sequence

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
) -> str:
    """Return the instructions for a format. Values that aren't known stay placeholders for the agent."""
    if return_format is STANDARD:
        return _write_standard(session_id, agent, depth, path)
    if return_format is HYPER:
        return _write_hyper(agent)
    return _write_manifest(topic, date, task_id, output_dir)


def _write_standard(session_id: str | None, agent: str | None, depth: int | None, path: Sequence[str] | None) -> str:
    metadata = {
        "session_id": session_id or "<the session id you were given>",
        "duration_seconds": "<seconds>",
        "agent_type": agent or "<your agent name>",
        "delegation_depth": 1 if depth is None else depth,
        "delegation_path": list(path) if path else ["orchestrator", agent or "<your agent name>"],
    }
    return f"""\
Your final message must end with this JSON object in one ```json block, every <blank> replaced, and nothing after it:
```json
{{
  "status": "<{" or ".join(STANDARD.statuses)}>",
  "summary": "<the results: 2 to 5 plain sentences, under 100 tokens, at most 400 characters>",
  "artifacts": [{{"type": "<report or plan or implementation or summary or documentation>", \
"path": "<relative to the project root>", "summary": "<one sentence>"}}],
  "metadata": {_fill(metadata)},
  "errors": [],
  "next_steps": "<what the caller should do next, in 1 or 2 sentences>"
}}
```
- completed: the work is done, every artifact exists, and errors is [] or has only a failed commit.
- partial, failed or blocked: add at least one error {{"type": "<timeout, validation, execution, permission or \
tool_unavailable>", "message": "<…>", "recoverable": true or false, "recommendation": "<…>"}}.
- Write files before you list them; artifacts is [] if there are none. Copy session_id exactly.
"""


def _write_hyper(agent: str | None) -> str:
    agent = agent and agent.rpartition(":")[2]  # of an agent of a plugin, the name of its file
    return f"""\
End your final message with this block, every <blank> replaced, and nothing after it:
{START_MARKER}
```json
{{
  "meta": {{"agent_name": {json.dumps(agent or "<your agent file's name>")}, \
"status": "<{" or ".join(HYPER.statuses)}>", "execution_time_ms": "<a number>"}},
  "artifacts": [{{"type": "<document or code or data>", "path": "<relative to the workspace root>", \
"summary": "<one or two sentences>", "key_points": ["<3 to 5 points>"]}}],
  "next_steps": ["<an instruction that starts with a verb>"]
}}
```
{END_MARKER}
- Write files before you list them; artifacts is [] if there are none.
- partial: add to next_steps what is left. error: add "error": {{"code": "<IN_CAPITALS>", "message": "<…>"}}.
"""


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
