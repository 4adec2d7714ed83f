"""Files of the workspace and facts about the machine: the layer below all packages that write something.

- Files: `files.py` reads with a size cap and replaces atomically; `safe_path.py` never follows links out of the
  workspace; `locks.py` has the file locks; `json_edit.py` and `merge_conflicts.py` edit text and keep its layout.
- Workspace: `settings.py`, `spec_root.py` and `checkouts.py` find the root, the settings and the task folder;
  `trust.py` has the user's consent; `secrets.py` redacts secrets; `context_files.py` and `baselines.py` load files;
  `activity_frontmatter.py` records activity in files.
- Processes: `subprocesses.py` runs programs with limits, `probe.py` runs harnesses once; `supervisors.py`,
  `servers.py`, `peers.py`, `process_ancestry.py` and `machine.py` inspect processes, connections and the machine.
- Protection: `quarantine.py`, `protected_copies.py` and `hard_links.py` detect changes to protected files.
"""
