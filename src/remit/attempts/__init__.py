"""Attempts: the folder, the shim, the output and the result of each attempt of an agent.

Only this package and the shim (`shim.py`) write `.remit/sessions/SESSION/NUMBER/`. `folders.py` has the folders, the
control pipes, and whether an attempt is alive; `start.py` starts shims, and `background_supervisor.py` a supervisor in
the background; `results.py` and `output.py` read what a shim wrote; `process_owner.py` finds the attempt of a process;
`confine.py`, `confined_calls.py` and `model_ports.py` confine agents and carry out their calls.

    order        the shim's orders, without secrets: the environment is passed by the process itself
    stdin        the agent's input
    out, err     the agent's output, up to a cap; `out.tail`, `err.tail` have the end of longer output
    started      created by the shim before the agent runs; if it exists, no agent is started again
    pids.json    the processes and their namespaces
    result.json  how the attempt ended; written once
    shim.err     empty unless the shim has a bug

`.remit/control/` has a pipe to the shim of each attempt. A pipe works across namespaces, and never reaches another
process with a reused pid. Confined processes see an empty folder there.

An attempt is alive if its folder is locked. The lock is taken before the shim starts and is passed to it, so a started
attempt never looks dead; it is released when all its processes have ended. `.remit/living/` has a file for each attempt
that may be alive, so that old folders don't have to be checked.

An agent that isn't confined runs as the user and could write into any of these folders, as it could into the ledger.
Remit doesn't defend them against it: agents are careless, not hostile. `--confine` is for agents you don't trust.
"""
