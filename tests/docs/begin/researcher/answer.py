"""A researcher that is a script: it writes what it found, and says so."""

import json
import os
import sys
from pathlib import Path

Path("cache.md").write_text("# The cache\n\nEntries leave it when their time is up.\n", "utf-8")
metadata = {
    "session_id": os.environ["REMIT_SESSION_ID"],
    "agent_type": "researcher",
    "delegation_depth": 1,
    "delegation_path": ["orchestrator", "researcher"],
    "duration_seconds": 1,
}
artifacts = [{"type": "research", "path": "cache.md", "summary": "How the cache is invalidated"}]
summary = "The cache is invalidated by time alone. The report says where."
sys.stdout.write(json.dumps({"status": "completed", "summary": summary, "artifacts": artifacts, "metadata": metadata}))
