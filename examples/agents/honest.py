"""An agent of one file: any program that reads a prompt and prints a return can be one.

remit run "Write a report on the cache" --command "python3 examples/agents/honest.py"
"""

import json
import os
import sys
from pathlib import Path

prompt, session = sys.stdin.read(), os.environ["REMIT_SESSION_ID"]
# What a file has from before is nobody's work: the session makes each report one of its own.
report = f"# Report\n\nAsked for in {len(prompt):,} characters, written by an agent in {session}.\n"
Path("report.md").write_text(report, "utf-8")

answer = {
    "status": "completed",
    "summary": "Wrote a report on the cache. It is short.",
    "artifacts": [{"type": "report", "path": "report.md", "summary": "What there is to say."}],
    "metadata": {
        "session_id": session,
        "agent_type": "honest",
        "delegation_depth": 1,
        "delegation_path": ["orchestrator", "honest"],
        "duration_seconds": 1,
    },
    "errors": [],
}
print(json.dumps(answer))
