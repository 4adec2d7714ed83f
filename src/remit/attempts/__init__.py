"""Sessions: the folder of each attempt that an agent makes, and everything that is done with it.

Owns `.remit/sessions/SESSION/NUMBER/`. The shim (`shim.py`) is the only other one that writes there. Here are
`folders` (who is alive), `starting`, `shims` (words to them), `results`, `output`, and `enclosing`: which agent a
process belongs to.

    order        what the shim is to do; no secrets, for the environment goes by the process itself
    stdin        what the agent reads
    out, err     what it printed, up to a cap; `out.tail`, `err.tail`: the end of what was longer
    started      made by the shim before the agent runs: whoever finds it there runs nothing, so nothing runs twice
    pids.json    which processes and which namespace these are
    result.json  how it ended; written once
    shim.err     what only a bug would print

`.remit/control/` has a pipe for each attempt, for words to its shim: it reaches across namespaces, and never a stranger
with a reused number. Confined processes see an empty folder there.

A living attempt is one whose folder is locked. The lock is taken before the shim is started and handed over to it, so
no attempt that was started ever looks dead; it is free when nothing of the attempt is alive. `.remit/living/` has a
name for each attempt that may be alive, so that nobody has to look into thousands of old folders.

An agent that isn't confined runs as the user and could write into any of these folders, as it could into the ledger.
Remit doesn't defend them against it: agents are careless, not hostile. `--confine` is for agents you don't trust.
"""
