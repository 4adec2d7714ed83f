"""The error log of a workspace: errors.json, grouped by cause.

This package alone writes the file. It reads entries of other tools, adds and marks entries without changing the rest of
the file, and recovers what it can from a broken file.

- `log.py` loads, adds and marks errors; `document.py` edits the JSON text; `records.py` has one error as a value.
- `causes.py` groups errors; `recovery.py` reads a broken file; `errors_command.py` serves the `remit errors` commands.
"""

from __future__ import annotations

FILE = "errors.json"
