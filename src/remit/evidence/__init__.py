"""Evidence: what Remit observed in the working tree before and after a run, and a grade for each reported file.

- `take_tree.py` scans a work tree into git trees (`area.py` has the private repositories, `ignore_rules.py` the
  ignore rules that are fixed for a run); `tree.py` is the result, and `saved_tree.py` stores it with a session.
- `comparison.py` lists the changes between two trees (`changes.py`), and `grades.py` grades reported files by them.
- `artifacts.py` finds reported paths, `written_path.py` the file that a tool wrote, `facts.py` all facts that checking
  a return needs, and `workspace_root.py` the root of `hyper` paths. `upkeep.py` removes unused repositories.
"""

from __future__ import annotations

from remit.evidence.artifacts import inspect_artifacts

__all__ = ["inspect_artifacts"]
