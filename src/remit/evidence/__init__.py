"""Evidence: what Remit observed in the working tree before and after a run, and a grade for each reported file.

- `tree.py` has the values: a tree, the changes between two trees, and the record that is stored with a session.
- `take_tree.py` scans a work tree into git trees; `work_tree.py` has the private repository of each folder, and
  `ignore_rules.py` the ignore rules that are fixed for a run.
- `tree_comparison.py` lists the changes between two trees, and `artifact_grades.py` grades reported files by them.
- `artifacts.py` finds reported paths and the files that tools wrote; `return_facts.py` loads all facts that checking a
  return needs; `workspace_root.py` finds the root of `hyper` paths.
- `references.py` checks files that a return refers to; `cleanup.py` removes unused repositories and trees.
"""
