"""The error log of a workspace: errors.json, grouped by cause.

Only this package writes the file. It reads entries of other tools, adds and marks entries without changing the rest of
the file, and recovers the entries of a broken file.
"""

from __future__ import annotations

FILE = "errors.json"
