"""A findings file and an entry for a project's manifest."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tests.support.conformance_project import Program, Project


FINDINGS = """\
# How fresh the search index is

## Summary

The index lags by five minutes. Nobody is alerted.

## Findings

### Lag

The queue is drained once in five minutes.

## Recommendations

- Alert on the lag.

## Sources

- docs/search.md

## Linked Tasks

- Epic: T300
- Task: T312
"""
RECORD = r"""
status = STATUS
day = time.strftime("%Y-%m-%d")
folder = (re.search(r"(\S+/agent-outputs)/", prompt) or ["", "claudedocs/agent-outputs"])[1].strip("`'\"(")
topic = (re.search(r"([a-z0-9-]+)-\d{4}-\d\d-\d\d", prompt) or ["", "uploads"])[1]
file = day + "_" + topic + ".md"
write(folder + "/" + file, FINDINGS)
line = {"id": topic + "-" + day, "file": file, "title": "Uploads", "date": day, "status": status, "topics": ["cache"],
        "key_findings": ["Cache the uploads.", "Drop guests.", "Keep names."], "actionable": True,
        "needs_followup": [] if status == "complete" else ["BLOCKED:no key"], "linked_tasks": ["T1234"]}
write(folder + "/MANIFEST.jsonl", json.dumps(line) + "\n", "a")
tail = {"complete": "summary", "partial": "details", "blocked": "blocker details"}[status]
print("Research " + status + ". See MANIFEST.jsonl for " + tail + ".")
"""


def record(project: Project, status: str) -> Program:
    """An agent that follows the protocol to the letter."""
    return project.program(RECORD.replace("STATUS", repr(status)).replace("FINDINGS", repr(FINDINGS)))
