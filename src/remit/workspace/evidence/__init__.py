"""Evidence: what is really on disk, before and after an agent worked there, and what that makes of its claims.

`artifacts` looks at claimed paths, `snapshot` at the whole tree, `stored` keeps a snapshot in bytes, `comparison` tells
two of them apart, `grades` says how far a claim is borne out. `content` is the only one of them that opens a file.
"""

from __future__ import annotations

from remit.workspace.evidence.artifacts import inspect_artifacts

__all__ = ["inspect_artifacts"]
