"""Final messages for the tests of the doors: whole files, as agents leave them."""

SESSION = "sess_1767604210_k3v9qa"

_MESSAGE = """\
The report is written.

```json
{
  "status": "completed",
  "summary": "%(summary)s",
  "artifacts": [
    {"type": "report", "path": "%(path)s", "summary": "What was compared"}
  ],
  "metadata": {
    "session_id": "sess_1767604210_k3v9qa",
    "duration_seconds": 12,
    "agent_type": "researcher",
    "delegation_depth": 1,
    "delegation_path": ["orchestrator", "researcher"]%(more)s
  },
  "errors": []
}
```
"""


def write_message(
    *,
    summary: str = "Compared two queues. Recommends the first.",
    path: str = "specs/report.md",
    more: str = "",
) -> str:
    """A return in `standard`; the parts stand in the text as they are given."""
    return _MESSAGE % {"summary": summary, "path": path, "more": more}


GOOD = write_message()
"""Accepted, without a word."""

ESCAPING = write_message(path="../notes.md")
"""One error, at line 8, column 32, nine characters and two quotes long."""

REPAIRED = GOOD.replace('"errors": []\n', '"errors": [],\n')
"""Accepted once the comma in line 17 is left out."""

UNSURE = GOOD.replace(SESSION, "one")
"""Accepted, with a warning about the form of the session id."""

PROSE = "All done! Let me know if there is anything else.\n"
"""No return at all: one error, without a place."""
