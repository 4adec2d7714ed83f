"""Tasks: what state.json and TODO.md say of them, read as values, and where the two disagree.

Owns the reading of both files' dialects. Pure: texts come in, tasks and findings go out.
"""

from __future__ import annotations
