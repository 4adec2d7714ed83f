"""An agent whose file declares the hyper format."""

from __future__ import annotations

import json

PATH = "projects/auth/resources/analysis.md"


def make_block(*paths: str, status: str = "complete") -> str:
    """A return as hyper's agents send it."""
    points = ["One point.", "Another point.", "A third one."]
    value = {
        "meta": {"agent_name": "repo-research-analyst", "status": status, "execution_time_ms": 15230},
        "artifacts": [{"type": "document", "path": path, "summary": "It.", "key_points": points} for path in paths],
        "next_steps": ["Review the strategy"],
    }
    return f"<!-- AGENT_OUTPUT_START -->\n```json\n{json.dumps(value)}\n```\n<!-- AGENT_OUTPUT_END -->\n"
