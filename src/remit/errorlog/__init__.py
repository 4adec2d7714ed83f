"""The error log: errors.json, what went wrong in a workspace, grouped by cause.

Owns the file: it is read whoever wrote it, added to and marked without a change to the rest of it, and recovered where
it is broken.
"""

from __future__ import annotations

FILE = "errors.json"
