"""The agent of the plugin example, and what it writes."""

from __future__ import annotations

from typing import Any

AGENT = "hyper:repo-research-analyst"
DOCUMENT = "projects/sessions/resources/research/codebase-analysis.md"
NOTE = "---\ntype: resource\ncategory: research\ntitle: Codebase analysis\nproject: sessions\n---\n\n# Sessions\n"
VALUE: dict[str, Any] = {
    "meta": {"agent_name": "repo-research-analyst", "status": "complete", "execution_time_ms": 1520},
    "artifacts": [
        {
            "type": "document",
            "path": DOCUMENT,
            "summary": "How sessions expire.",
            "key_points": ["A session lasts an hour", "No token is renewed", "One doctest covers it"],
        }
    ],
    "next_steps": ["Plan the renewal of tokens"],
}
