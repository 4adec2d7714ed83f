"""Sessions: the folder of each attempt that an agent makes, and everything that is done with it.

Owns `.remit/sessions/SESSION/NUMBER/`. The shim (`delegate/shim.py`) is the only other one that writes there. Here are
`folders` (who is alive), `starting`, `shims` (words to them), `results`, `output`, and `enclosing`: which agent a
process belongs to.

    order        what the shim is to do; no secrets, for the environment goes by the process itself
    stdin        what the agent reads
    out, err     what it printed, up to a cap; `out.tail`, `err.tail`: the end of what was longer
    started      made by the shim before the agent runs: whoever finds it there runs nothing, so nothing runs twice
    pids.json    which processes and which namespace these are
    control      a pipe for words to the shim: it reaches across namespaces, and never a stranger with a reused number
    result.json  how it ended; written once
    shim.err     what only a bug would print

A living attempt is one whose folder is locked. The lock is taken before the shim is started and handed over to it, so
no attempt that was started ever looks dead; it is free when nothing of the attempt is alive. `.remit/living/` has a
name for each attempt that may be alive, so that nobody has to look into thousands of old folders.

An agent runs as the user and could write into any of these folders. A result is sealed with a key that only the ledger
and the shim have, for its attempt alone; so one that an agent made up, or copied, is no result. The result has the
hash of the output, so that nobody is judged by words that somebody else put there. That does not help against an agent
that reads the key in the ledger, and an agent can always destroy a result: then there is none.
"""
