"""A workspace after `remit init`, and a disk that is full."""

from __future__ import annotations

MANIFEST = "claudedocs/agent-outputs/MANIFEST.jsonl"
FULL_DISK = "import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0)); from remit.cli import main; main()"
