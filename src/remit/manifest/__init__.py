"""The manifest of a workspace: MANIFEST.jsonl, its index in the ledger, and the findings files next to it.

This package alone writes the manifest. The file is the source of truth and append-only; the index tables of the ledger
are derived from it.

- `append.py` adds entries under the lock; `entries.py` and `lines.py` convert between lines and values.
- `index.py` keeps the index up to date; `search.py` and `counts.py` query it; `ids.py` reads ids from the file itself.
- `findings_file.py` renders and checks findings files; `tokens.py` fills the tokens of templates; `prefix_check.py`
  detects entries that were removed or changed.
"""
