"""Git: what the workspace asks of it and has it keep.

`commits` commits exactly the paths that it is told, `worktrees` gives a delegation a tree of its own, `checkouts` finds
the way from such a tree back to the main one, `repository` finds out what is there, `process` is the only caller of the
program, `told` is what is said when something fails.

Trees travel between machines by `bases` (a workspace as it is now), `parcels` (how it is sent), `clones` (where an
agent works on it, and what it made), `arrivals` (how that is checked and brought in) and `branches` (how it is kept),
on `stores`, git folders of Remit's own, and `blobs`, what is in them.

What is trusted: the program `git` on the path, and the user's own settings outside the repository. What is not:
whatever lies in the repository, its `.git/config` and its hooks too, for an agent can write them. So no hook, no file
system monitor, no filter, no signing program, no other diff program and no remote is ever called, whoever set it up;
but for the remote of a cluster, which the caller of `parcels` names.
From `.git/config` is taken what git needs in order to find its way, who commits, and how lines end.
"""
