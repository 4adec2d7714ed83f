"""An agent that says it is done and has done nothing; Remit looks.

remit run "Write a report on the cache" --command "python3 examples/agents/liar.py"
"""

import json
import os

answer = {
    "status": "completed",
    "summary": "Wrote a report on the cache. All tests pass.",
    "artifacts": [{"type": "report", "path": "cache-report.md", "summary": "Everything about the cache."}],
    "metadata": {
        "session_id": os.environ["REMIT_SESSION_ID"],
        "agent_type": "liar",
        "delegation_depth": 1,
        "delegation_path": ["orchestrator", "liar"],
        "duration_seconds": 1,
    },
    "errors": [],
}
print(json.dumps(answer))
