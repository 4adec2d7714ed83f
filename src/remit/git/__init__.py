"""Git operations on the workspace's repository and on Remit's private repositories.

- `process.py` is the only module that runs git; `git_errors.py` has the diagnostics (GIT…).
- `commits.py` commits exactly the named paths; `repository.py` finds the checkout; `worktrees.py` creates worktrees;
  `file_history.py` reads earlier versions.
- Trees move between machines: `tree_snapshot.py` takes a workspace's tree, `bundles.py` sends it, `clones.py` checks
  it out for an agent and collects its changes, `apply_changes.py` verifies and applies them, `branches.py` stores
  them. `private_repo.py` and `blobs.py` have the repository and the objects for that.

Remit trusts the program `git` in PATH and the user's settings outside the repository. It doesn't trust anything in the
repository, including `.git/config` and hooks, because an agent can write them. So Remit never runs a hook, file system
monitor, filter, signing program or external diff, and contacts no remote except the one that a cluster configures. From
`.git/config` it takes only what git needs to read the repository, the author's identity, and line-end settings.
"""
