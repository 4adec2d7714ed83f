"""Evidence: what is really on disk, before and after an agent worked there, and what that makes of its claims.

`take` looks at a work tree, with a private repository for each part of it (`area`) and ignore rules that are fixed for
a run (`rules`); a look is a `tree`. `comparison` lists the `changes` between two of them, `grades` says what they make
of a claimed file. `before` is what a session keeps. `artifacts` finds claimed paths, `ways` what a tool wrote, `facts`
fetches what the contract asks for.
"""

from __future__ import annotations

from remit.evidence.artifacts import inspect_artifacts

__all__ = ["inspect_artifacts"]
