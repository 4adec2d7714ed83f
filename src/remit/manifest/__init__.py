"""The manifest: entries appended to MANIFEST.jsonl, an index that follows the file, and the findings files beside it.

Owns MANIFEST.jsonl, which is the truth and only ever grows, the tables of the ledger that are made from it, and the
form of a findings file.
"""

from __future__ import annotations
