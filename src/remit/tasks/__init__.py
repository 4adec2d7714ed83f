"""Tasks of a workspace: state.json, TODO.md and the plans of tasks, and how they stay consistent.

This package alone writes these files. state.json is the source of truth, and TODO.md is its rendering for users.

- `store.py` has the operations on tasks, `transaction.py` writes all files of a change or none, and `check_files.py`
  absorbs manual edits before each change.
- `state.py`, `todo.py` and `plan.py` parse the files; `state_edits.py`, `todo_edits.py` and `plan.py` edit their text.
- `drift.py` reports differences (SYN…); `sync.py` repairs them with `repair.py`, `duplicates.py`, `merge_sides.py` and
  `recover.py`.
"""
